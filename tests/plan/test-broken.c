/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Broken plans: each broken/NAME.yaml gives exactly the complaints of broken/NAME.expected, a line
 * each. With PROBELAUF_WRITE_EXPECTED=yes in its environment this test writes those files instead;
 * read them before they are committed. What is too large for a file of its own is made here.
 */
#include "with-plan.h"

#include "base/str.h"
#include "base/yaml.h"

#include <dirent.h>

static struct with_plan read_plan(const char *path) {
    struct with_plan with = {0};
    with.rc = plan_read(path, &with.plan, &with.complaints, &with.err);
    assert_non_null(with.plan);
    return with;
}

static void check_one(const char *folder, const char *name) {
    AUTO_FREE char *path = mem_printf("%s/%s", folder, name);
    AUTO_FREE char *expected_path =
        mem_printf("%s/%.*s.expected", folder, (int)(strlen(name) - strlen(".yaml")), name);
    AUTO_WITH_PLAN struct with_plan with = read_plan(path);
    AUTO_FREE char *got = complaints_text(&with);
    if (getenv("PROBELAUF_WRITE_EXPECTED") != NULL) {
        struct err err = ERR_INIT;
        assert_int_equal(file_write_atomic(expected_path, got, strlen(got), 0644, &err), 0);
        return;
    }
    AUTO_STRBUF struct strbuf expected = STRBUF_INIT;
    if (file_read(expected_path, 1 << 20, &expected) < 0 || strcmp(strbuf_str(&expected), got) != 0)
        fail_msg("%s gives\n%sbut should give\n%s", name, got, strbuf_str(&expected));
    assert_int_equal(with.rc, -EINVAL);
    assert_true(with.complaints.errors > 0);
    /* the error that is handed up is the first, with its place */
    for (size_t i = 0; i < with.complaints.count; i++) {
        const struct plan_complaint *one = &with.complaints.items[i];
        if (one->warning)
            continue;
        assert_string_equal(with.err.id, one->id);
        AUTO_FREE char *place = one->at.line > 0
                                    ? mem_printf("%s:%u:%u: ", path, one->at.line, one->at.column)
                                    : mem_printf("%s: ", path);
        assert_true(str_starts_with(with.err.text, place));
        assert_true(str_ends_with(with.err.text, one->text));
        break;
    }
}

static void test_files(void **state) {
    (void)state;
    const char *fixtures = getenv("PROBELAUF_TEST_FIXTURES");
    if (fixtures == NULL)
        skip();
    AUTO_FREE char *folder = mem_printf("%s/../plan/broken", fixtures);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    size_t count = 0;
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL)
        if (str_ends_with(entry->d_name, ".yaml")) {
            check_one(folder, entry->d_name);
            count++;
        }
    closedir(dir);
    assert_true(count >= 100);
}

/* One complaint of a text that is made here. */
static void assert_refused(void **state, const struct strbuf *text, const char *expected) {
    AUTO_FREE char *path = mem_printf("%s/probelauf.yaml", (const char *)*state);
    struct err err = ERR_INIT;
    assert_int_equal(file_write_atomic(path, text->data, text->length, 0600, &err), 0);
    AUTO_WITH_PLAN struct with_plan with = read_plan(path);
    AUTO_FREE char *got = complaints_text(&with);
    assert_string_equal(got, expected);
}

static void add_many(struct strbuf *text, const char *piece, size_t count) {
    for (size_t i = 0; i < count; i++)
        strbuf_add_str(text, piece);
}

static void test_a_line_of_ten_megabytes(void **state) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, HEAD "code: {repo: ");
    add_many(&text, "0123456789", 1000000);
    strbuf_add_str(&text, "}\n");
    assert_refused(
        state, &text,
        "3:4194242 error[plan-yaml] the file is larger than 4 MiB; nobody writes that by hand\n");
}

/* Just not too large: brackets, keys, entries, complaints. */
static void test_many_levels(void **state) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, HEAD "code: ");
    add_many(&text, "[", 4000000);
    assert_refused(state, &text,
                   "3:70 error[plan-yaml] more than 64 levels are not allowed here\n");
    strbuf_clear(&text);
    strbuf_add_str(&text, HEAD "code: ");
    add_many(&text, "{a: ", 1000000);
    assert_refused(state, &text,
                   "3:259 error[plan-yaml] more than 64 levels are not allowed here\n");
    strbuf_clear(&text);
    strbuf_add_str(&text, HEAD "code:\n");
    for (size_t i = 1; i < 100; i++)
        strbuf_printf(&text, "%*sa:\n", (int)i, "");
    assert_refused(state, &text,
                   "67:65 error[plan-yaml] more than 64 levels are not allowed here\n");
}

static void test_many_keys(void **state) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, HEAD "slurm:\n");
    for (size_t i = 0; i < 200000; i++)
        strbuf_printf(&text, "  k%zu: 1\n", i);
    assert_refused(state, &text, "4:3 error[plan-range] 'slurm' has more than 10000 entries\n");
    strbuf_add_str(&text, "  k100000: 2\n");
    assert_refused(
        state, &text,
        "200004:3 error[plan-yaml] 'k100000' stands in line 100004 already; keep one of them\n");
}

static void test_many_entries(void **state) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, HEAD "blocks: [");
    add_many(&text, "{}, ", 1000000);
    strbuf_add_str(&text, "{}]\n");
    assert_refused(state, &text, "3:9 error[plan-range] 'blocks' has more than 10000 entries\n");
}

static void test_many_complaints(void **state) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, HEAD);
    for (size_t i = 0; i < 1000; i++)
        strbuf_printf(&text, "key%zu: 1\n", i);
    AUTO_WITH_PLAN struct with_plan with = plan_of(state, strbuf_str(&text));
    assert_int_equal(with.complaints.count, 200);
    assert_int_equal(with.complaints.errors, 200);
    assert_int_equal(with.complaints.items[0].at.line, 3);
    assert_int_equal(with.complaints.items[198].at.line, 201);
    assert_string_equal(with.complaints.items[199].id, "plan-more");
    assert_int_equal(with.complaints.items[199].at.line, 0);
}

/* Facts without a question are warnings; an error behind three hundred of them is still one. */
static void test_an_error_behind_many_warnings(void **state) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, HEAD "facts:\n");
    for (size_t i = 0; i < 300; i++)
        strbuf_printf(&text, "  - {id: a%zu, state: open}\n", i);
    AUTO_WITH_PLAN struct with_plan warned = plan_of(state, strbuf_str(&text));
    assert_int_equal(warned.complaints.count, 100);
    assert_int_equal(warned.complaints.errors, 0);
    assert_int_equal(warned.rc, 0);
    assert_string_equal(warned.complaints.items[99].id, "plan-more");
    strbuf_add_str(&text, "calendar:\n  nowhere: {start: 2027-01-11}\n");
    AUTO_WITH_PLAN struct with_plan with = plan_of(state, strbuf_str(&text));
    assert_int_equal(with.complaints.count, 101);
    assert_int_equal(with.complaints.errors, 1);
    assert_int_equal(with.rc, -EINVAL);
}

/* What is quoted in a complaint is one printable line, and cut within no character. */
static void test_quotes(void **state) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, HEAD "study2: x\ndemand: {lasts: \"a\\n");
    add_many(&text, "결", 100);
    strbuf_add_str(&text, "\"}\n");
    AUTO_WITH_PLAN struct with_plan with = plan_of(state, strbuf_str(&text));
    assert_int_equal(with.complaints.count, 2);
    const char *said = with.complaints.items[1].text;
    assert_null(strchr(said, '\n'));
    assert_non_null(strstr(said, "a\\n결"));
    assert_non_null(strstr(said, "결…'"));
    assert_true(str_is_utf8(said, strlen(said)));
}

static void test_unreadable(void **state) {
    struct plan *plan = NULL;
    struct plan_complaints complaints;
    struct err err = ERR_INIT;
    const char *folder = *state;
    AUTO_FREE char *absent = mem_printf("%s/none.yaml", folder);
    assert_int_equal(plan_read(absent, &plan, &complaints, &err), -ENOENT);
    assert_null(plan);
    assert_string_equal(err.id, "plan-unreadable");
    assert_non_null(strstr(err.text, "none.yaml"));
    assert_true(plan_read(folder, &plan, &complaints, &err) < 0);
    assert_null(plan);
    assert_string_equal(err.id, "plan-unreadable");
    AUTO_FREE char *deep = mem_printf("%s/no/such/probelauf.yaml", folder);
    assert_int_equal(plan_read(deep, &plan, &complaints, &err), -ENOENT);
    assert_null(plan);
    assert_string_equal(err.id, "plan-unreadable");
    plan_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test_setup_teardown(test_a_line_of_ten_megabytes, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(test_many_levels, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(test_many_keys, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(test_many_entries, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(test_many_complaints, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(test_an_error_behind_many_warnings, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(test_quotes, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(test_unreadable, folder_setup, folder_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
