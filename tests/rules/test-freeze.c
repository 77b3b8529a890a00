/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which freeze of a block is in force, and what makes it outdated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "rules/study.h"

#include "build-records.h"

#define TOKENS "tokens=96"

/* Dates come from clocks that may be wrong; what a freeze names as there before it is older. */
static void test_freeze_in_force(void **state) {
    struct build_study *s = *state;
    const int64_t day = INT64_C(86400) * 1000000000, now = 1000 * day;
    AUTO_JSON json_t *the_others = json_array();
    AUTO_JSON json_t *fresh_one = json_array();
    json_array_append_new(the_others, json_text("wrong"));
    json_array_append_new(the_others, json_text("old"));
    json_array_append_new(fresh_one, json_text("fresh"));
    build_block(s, "compare", 1, TOKENS);
    struct evidence_freeze freezes[] = {
        {.id = "wrong", .block = "compare", .utc_ns = now + day},
        {.id = "fresh", .block = "compare", .utc_ns = now},
        {.id = "old", .block = "compare", .utc_ns = now - day},
        {.id = "else", .block = "other", .utc_ns = now - day, .replaces = fresh_one},
    };
    s->input.now_utc_ns = now;
    s->input.freezes = &freezes[0];
    s->input.freeze_count = ARRAY_LENGTH(freezes);
    const struct study *study = build_derive(s);
    assert_string_equal(study->blocks[0].freeze->id, "fresh");
    assert_string_equal(study->blocks[0].freeze_ignored->id, "wrong");
    freezes[1].replaces = the_others;
    study = build_derive(s);
    assert_string_equal(study->blocks[0].freeze->id, "fresh");
    assert_null(study->blocks[0].freeze_ignored);
    s->input.now_utc_ns = now + 2 * day; /* when its time has come it is still the older one */
    study = build_derive(s);
    assert_string_equal(study->blocks[0].freeze->id, "fresh");
    assert_null(study->blocks[0].freeze_ignored);
    freezes[0].replaces = fresh_one; /* both of each other: the date has to do */
    assert_string_equal(build_derive(s)->blocks[0].freeze->id, "wrong");
    s->input.freeze_count = 1;
    s->input.now_utc_ns = now;
    study = build_derive(s);
    assert_null(study->blocks[0].freeze);
    assert_string_equal(study->blocks[0].freeze_ignored->id, "wrong");
    s->input.now_utc_ns = 0; /* not known */
    assert_string_equal(build_derive(s)->blocks[0].freeze->id, "wrong");
}

static void test_freeze_outdated(void **state) {
    struct build_study *s = *state;
    struct plan_block *block = build_block(s, "compare", 1, TOKENS);
    struct plan_condition *one = build_condition(s, block, "keep=1");
    struct plan_condition *half = build_condition(s, block, "keep=0.5");
    AUTO_JSON json_t *ids = json_array();
    struct evidence_freeze freeze = {.block = "compare", .code_digest = "d1", .conditions = ids};

    json_array_append_new(ids, json_text(half->id));
    json_array_append_new(ids, json_text(one->id));
    s->input.freezes = &freeze;
    s->input.freeze_count = 1;
    assert_null(build_derive(s)->blocks[0].freeze_outdated);
    s->input.code_digest = "d2";
    assert_says(build_derive(s)->blocks[0].freeze_outdated, "the code is not the frozen one");
    s->input.code_digest = NULL; /* not known: nothing to say */
    assert_null(build_derive(s)->blocks[0].freeze_outdated);
    json_array_remove(ids, 0);
    assert_string_equal(build_derive(s)->blocks[0].freeze_outdated,
                        "1 condition of the plan is not among the frozen ones");
    json_array_append_new(ids, json_text("gone"));
    json_array_append_new(ids, json_integer(7));
    assert_says(build_derive(s)->blocks[0].freeze_outdated,
                "1 condition of the plan is not among the frozen ones; 2 frozen conditions are no "
                "longer in the plan");
    freeze.conditions = NULL;
    assert_null(build_derive(s)->blocks[0].freeze_outdated);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_freeze_in_force, build_study_begin, build_study_done),
        cmocka_unit_test_setup_teardown(test_freeze_outdated, build_study_begin, build_study_done),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
