/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * schema/plan.schema.json and docs/plan-format.md are src/plan/schema.c in other words. This test
 * writes both anew and compares; with PROBELAUF_WRITE_DOC=FILE in its environment it replaces the
 * one of that name instead. The document's example is a plan without a complaint.
 */
#include "../base/testing.h"

#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"
#include "plan/plan.h"
#include "plan/schema.h"

static const char *const schema_file = "schema/plan.schema.json";
static const char *const document_file = "docs/plan-format.md";

static void write_schema(struct strbuf *out) {
    AUTO_JSON json_t *schema = plan_json_schema();
    json_add_pretty(out, schema);
}

static void compare(const char *name, void (*write)(struct strbuf *)) {
    AUTO_STRBUF struct strbuf expected = STRBUF_INIT, found = STRBUF_INIT;
    struct err err = ERR_INIT;
    const char *to = getenv("PROBELAUF_WRITE_DOC"), *fixtures = getenv("PROBELAUF_TEST_FIXTURES");
    write(&expected);
    if (to != NULL) {
        if (str_ends_with(to, name))
            assert_int_equal(file_write_atomic(to, expected.data, expected.length, 0644, &err), 0);
        return;
    }
    if (fixtures == NULL)
        skip();
    AUTO_FREE char *path = mem_printf("%s/../../%s", fixtures, name);
    assert_int_equal(file_read(path, 4 << 20, &found), 0);
    if (strcmp(strbuf_str(&expected), strbuf_str(&found)) != 0)
        fail_msg("%s is not what the table says; renew it as this test's head tells", path);
}

static void test_schema_is_up_to_date(void **state) {
    (void)state;
    compare(schema_file, write_schema);
}

static void test_document_is_up_to_date(void **state) {
    (void)state;
    compare(document_file, plan_format_document);
}

static void test_example_is_a_plan(void **state) {
    const char *folder = *state;
    AUTO_STRBUF struct strbuf document = STRBUF_INIT;
    plan_format_document(&document);
    const char *begin = strstr(strbuf_str(&document), "```yaml\n");
    assert_non_null(begin);
    begin += strlen("```yaml\n");
    const char *end = strstr(begin, "```\n");
    assert_non_null(end);
    AUTO_FREE char *path = mem_printf("%s/probelauf.yaml", folder);
    struct err err = ERR_INIT;
    assert_int_equal(file_write_atomic(path, begin, (size_t)(end - begin), 0644, &err), 0);
    AUTO_PLAN struct plan *plan = NULL;
    struct plan_complaints complaints;
    plan_read(path, &plan, &complaints, &err);
    for (size_t i = 0; i < complaints.count; i++)
        print_error("%u:%u: %s\n", complaints.items[i].at.line, complaints.items[i].at.column,
                    complaints.items[i].text);
    assert_int_equal(complaints.count, 0);
    assert_int_equal(plan->block_count, 2);
}

/* Each key's example stands in the document and is what people copy. */
static void test_rows_are_whole(void **state) {
    (void)state;
    const struct schema_part *part;
    for (size_t i = 0; (part = schema_part_at(i)) != NULL; i++) {
        assert_true(part->name != NULL && part->help != NULL && part->key_count > 0);
        for (size_t k = 0; k < part->key_count; k++) {
            const struct schema_key *key = &part->keys[k];
            assert_non_null(key->help);
            assert_false(str_ends_with(key->help, "."));
            if (key->example != NULL) {
                AUTO_FREE char *start = mem_printf("%s: ", key->name);
                assert_true(str_starts_with(key->example, start));
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema_is_up_to_date),
        cmocka_unit_test(test_document_is_up_to_date),
        cmocka_unit_test_setup_teardown(test_example_is_a_plan, folder_setup, folder_teardown),
        cmocka_unit_test(test_rows_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
