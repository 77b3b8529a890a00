/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output patterns: what is accepted, what is refused and why, and which one matches first. */
#include "base/mem.h"
#include "text/pattern.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void assert_refused(const char *phase, const char *event, const char *regex,
                           const char *why) {
    struct pattern_set *set = pattern_set_new();
    struct err err = ERR_INIT;
    const char *got_phase = NULL;
    const char *got_event = NULL;
    assert_int_equal(pattern_set_add(set, phase, event, regex, &err), -EINVAL);
    assert_string_equal(err.id, "pattern-invalid");
    if (!strstr(err.text, why))
        fail_msg("'%s' does not say '%s'", err.text, why);
    assert_false(pattern_set_match(set, regex, &got_phase, &got_event));
    pattern_set_free(set);
}

static void test_refused(void **state) {
    char longest[1200];
    (void)state;
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_refused("loading", "begin", "x", "'loading'");
    assert_refused("unattributed", "begin", "x", "unattributed");
    assert_refused("load", "start", "x", "'start'");
    assert_refused("load", "begin", "(x", "(x");
    assert_refused("load", "begin", "[[:nothing:]]", "[[:nothing:]]");
    assert_refused("load", "begin", "", "empty");
    assert_refused("load", "begin", longest, "1 KiB");
    assert_refused("load", "begin", "(a+)\\1", "back-reference");
    assert_refused("load", "begin", "((a{1,100}){1,100}){1,100}", "1000");
    assert_refused("load", "begin", "a{5000}", "1000");
    assert_refused("load", "begin", "a{99999999999999999999}", "1000");
}

static void test_match(void **state) {
    struct pattern_set *set = pattern_set_new();
    struct err err = ERR_INIT;
    const char *phase = NULL;
    const char *event = NULL;

    (void)state;
    assert_int_equal(pattern_set_add(set, "load", "begin", "^Loading checkpoint shards: +0%", &err),
                     0);
    assert_int_equal(pattern_set_add(set, "load", "end", "^Loading checkpoint shards: +100%", &err),
                     0);
    assert_int_equal(
        pattern_set_add(set, "compute/decode", "begin", "decod(e|ing) [0-9]{1,3} token", &err), 0);
    assert_int_equal(pattern_set_add(set, "compute", "begin", "decod", &err), 0);
    assert_int_equal(pattern_set_add(set, "write", "begin",
                                     "^\xc3\xa9"
                                     "crit",
                                     &err),
                     0);
    assert_int_equal(pattern_set_add(set, "setup", "begin", "a\\{2\\{", &err),
                     0); /* literal braces */

    assert_true(pattern_set_match(set, "Loading checkpoint shards:   0%|   | 0/4", &phase, &event));
    assert_string_equal(phase, "load");
    assert_string_equal(event, "begin");
    assert_true(pattern_set_match(set, "Loading checkpoint shards: 100%|###| 4/4", &phase, &event));
    assert_string_equal(event, "end");
    assert_true(pattern_set_match(set, "decoding 12 tokens", &phase, &event));
    assert_string_equal(phase, "compute/decode"); /* the first that matches */
    assert_true(pattern_set_match(set, "decoder", &phase, &event));
    assert_string_equal(phase, "compute");
    assert_true(pattern_set_match(set,
                                  "\xc3\xa9"
                                  "crit",
                                  &phase, &event));
    assert_string_equal(phase, "write");
    assert_true(pattern_set_match(set, "xa{2{", &phase, &event));
    assert_false(pattern_set_match(set, "Loading checkpoint shards: 25%", &phase, &event));
    assert_false(pattern_set_match(set, "", &phase, &event));
    assert_false(pattern_set_match(set, "\xff\xfe", &phase, &event));
    assert_null(pattern_set_free(set));
    assert_null(pattern_set_free(NULL));
}

static void test_many(void **state) {
    struct pattern_set *set = pattern_set_new();
    struct err err = ERR_INIT;
    int rc = 0;
    int added = 0;
    (void)state;
    for (; rc == 0 && added < 10000; added++)
        rc = pattern_set_add(set, "load", "begin", "x", &err);
    assert_int_equal(rc, -EINVAL); /* bounded */
    pattern_set_free(set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_match),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
