/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The word finder against the obvious way of finding words. */
#include "text/keys.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_words(void **state) {
    struct keys *keys = keys_new();
    struct keys_seen seen;
    (void)state;
    size_t he = keys_add(keys, "he");
    size_t she = keys_add(keys, "she");
    size_t his = keys_add(keys, "his");
    size_t hers = keys_add(keys, "hers");
    assert_int_equal(keys_add(keys, "she"), she); /* the same word, the same number */
    keys_build(keys);
    assert_true(keys_scan(keys, "ushers", 6, &seen));
    assert_true(keys_has(&seen, he) && keys_has(&seen, she) && keys_has(&seen, hers));
    assert_false(keys_has(&seen, his));
    assert_false(keys_scan(keys,
                           "sh\xff"
                           "e",
                           4, &seen));
    assert_false(keys_has(&seen, he));
    assert_false(keys_scan(keys, "", 0, &seen));
    assert_null(keys_free(keys));
    assert_null(keys_free(NULL));
}

/* Random words and lines over few letters, so that words overlap and contain one another. */
static void test_against_search(void **state) {
    uint64_t seed = 11;
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct keys *keys = keys_new();
        char words[40][8];
        size_t numbers[40];
        for (size_t w = 0; w < ARRAY_LENGTH(words); w++) {
            seed = seed * UINT64_C(6364136223846793005) + 1;
            size_t length = 1 + (seed >> 40) % 7;
            for (size_t i = 0; i < length; i++) {
                seed = seed * UINT64_C(6364136223846793005) + 1;
                words[w][i] = "abc"[(seed >> 40) % 3];
            }
            words[w][length] = '\0';
            numbers[w] = keys_add(keys, words[w]);
        }
        keys_build(keys);
        char line[24];
        for (size_t i = 0; i < sizeof line - 1; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1;
            line[i] = "abcd"[(seed >> 40) % 4];
        }
        line[sizeof line - 1] = '\0';
        struct keys_seen seen;
        keys_scan(keys, line, strlen(line), &seen);
        for (size_t w = 0; w < ARRAY_LENGTH(words); w++)
            assert_int_equal(keys_has(&seen, numbers[w]), strstr(line, words[w]) != NULL);
        keys_free(keys);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_against_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
