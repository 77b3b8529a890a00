/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --expect, --input and --output, and commands whose work leaves the tree. */
#include "../base/testing.h"

#include "base/clock.h"
#include "exec/blind-spots.h"
#include "exec/expect.h"
#include "exec/paths.h"

#include <errno.h>
#include <sys/stat.h>
#include <utime.h>

/* ---- expectations ---- */

static struct expectations *make(const char *const *list) {
    struct expectations *made;
    struct err err = ERR_INIT;
    if (expectations_new(list, &made, &err) < 0)
        fail_msg("%s", err.text);
    return made;
}

static void refused(const char *text) {
    const char *list[] = {text, NULL};
    struct expectations *made;
    struct err err = ERR_INIT;
    assert_int_equal(expectations_new(list, &made, &err), -EINVAL);
    assert_string_equal(err.id, "expect-invalid");
}

static void wrong_ones_are_refused(void **state) {
    (void)state;
    refused("marker=");
    refused("file");
    refused("count=three");
    refused("count=-1");
    refused("something=else");
    const char *many[EXPECT_MARKERS_MAX + 2] = {NULL};
    for (size_t i = 0; i <= EXPECT_MARKERS_MAX; i++)
        many[i] = "marker=x";
    struct expectations *made;
    struct err err = ERR_INIT;
    assert_int_equal(expectations_new(many, &made, &err), -EINVAL);
}

static void markers_are_texts_or_expressions(void **state) {
    (void)state;
    const char *list[] = {"marker=^loss: [0-9.]+$", "file=x", "marker=a(b", "marker=done", NULL};
    struct expectations *made = make(list);
    assert_true(expectations_has_markers(made));
    assert_int_equal(expectations_match(made, "loss: 0.25"), 1);
    assert_int_equal(expectations_match(made, "the loss: 0.25"), 0);
    assert_int_equal(expectations_match(made, "no expression: a(b, done"), 2 | 4);
    assert_int_equal(expectations_match(made, ""), 0);
    expectations_free(made);
    made = make(NULL);
    assert_false(expectations_has_markers(made));
    assert_int_equal(expectations_match(made, "x"), 0);
    expectations_free(made);
}

static const char *met(const json_t *list, size_t index) {
    return json_get_text(json_array_get(list, index), "met", "?");
}

static void answers(void **state) {
    const char *folder = *state;
    char full[256], empty[256], absent[256], old[256];
    snprintf(full, sizeof full, "file=%s/full", folder);
    snprintf(empty, sizeof empty, "file=%s/empty", folder);
    snprintf(absent, sizeof absent, "file=%s/absent/deep", folder);
    snprintf(old, sizeof old, "file=%s/old", folder);
    FILE *file = fopen(full + 5, "w");
    fputs("x", file);
    fclose(file);
    fclose(fopen(empty + 5, "w"));
    file = fopen(old + 5, "w");
    fputs("x", file);
    fclose(file);
    utime(old + 5, &(struct utimbuf){1000, 1000});
    const char *list[] = {"marker=a", "marker=b", full, empty, absent, old, "count=3", NULL};
    struct expectations *made = make(list);
    struct expect_facts facts = {.markers_seen = 1,
                                 .output_complete = true,
                                 .has_items = true,
                                 .items = 3,
                                 .start_utc_ns = clock_utc_ns()};
    static const char *const all_known[] = {"yes", "no", "yes", "no", "no", "no", "yes"};
    AUTO_JSON json_t *end = expectations_to_end(made, &facts);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(met(end, i), all_known[i]);
    /* What was not looked at is neither met nor unmet. */
    facts.output_complete = false;
    facts.has_items = false;
    AUTO_JSON json_t *partly = expectations_to_end(made, &facts);
    assert_string_equal(met(partly, 0), "yes");
    assert_string_equal(met(partly, 1), "not-checked");
    assert_string_equal(met(partly, 6), "not-checked");
    facts.no_output = "standard output was not read";
    facts.has_items = true;
    facts.items = 3.5;
    AUTO_JSON json_t *none = expectations_to_end(made, &facts);
    assert_string_equal(met(none, 1), "not-checked");
    assert_string_equal(met(none, 6), "no");
    expectations_free(made);
}

static void secrets_in_checks_are_masked(void **state) {
    (void)state;
    const char *list[] = {"marker=password=hunter2hunter2", NULL};
    struct expectations *made = make(list);
    AUTO_JSON json_t *start = expectations_to_start(made);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_add_compact(&text, start);
    assert_null(strstr(strbuf_str(&text), "hunter2"));
    expectations_free(made);
}

/* ---- paths ---- */

static void put(const char *folder, const char *name, size_t bytes) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < bytes; i++)
        fputc('x', file);
    fclose(file);
}

static void files_folders_and_nothing(void **state) {
    const char *folder = *state;
    char path[512], link_path[512];
    struct path_facts facts;
    snprintf(path, sizeof path, "%s/absent", folder);
    AUTO_JSON json_t *absent = path_describe(path, &facts);
    assert_false(facts.exists);
    assert_true(facts.complete);
    assert_string_equal(json_get_text(absent, "kind", ""), "absent");
    assert_null(json_object_get(absent, "bytes")); /* open, never 0 */

    snprintf(path, sizeof path, "%s/blobs", folder);
    mkdir(path, 0700);
    put(folder, "blobs/0123abcd", 100);
    put(folder, "blobs/4567", 50);
    AUTO_JSON json_t *whole = path_describe(path, &facts);
    assert_string_equal(json_get_text(whole, "kind", ""), "folder");
    assert_int_equal(json_get_int(whole, "bytes", -1), 150);
    assert_int_equal(json_get_int(whole, "items", -1), 2);
    assert_true(facts.newest_mtime_ns > 0);

    snprintf(link_path, sizeof link_path, "%s/weights", folder);
    assert_int_equal(symlink("blobs/0123abcd", link_path), 0);
    AUTO_JSON json_t *file = path_describe(link_path, &facts);
    assert_string_equal(json_get_text(file, "kind", ""), "file");
    assert_int_equal(json_get_int(file, "bytes", -1), 100);
    assert_string_equal(json_get_text(file, "identity", ""), "0123abcd");
}

static void a_folder_that_was_not_read_to_its_end_has_no_sum(void **state) {
    const char *folder = *state;
    char path[512];
    put(folder, "one", 10);
    snprintf(path, sizeof path, "%s/loop", folder);
    assert_int_equal(symlink(".", path), 0); /* leads back to itself: is not followed */
    struct path_facts facts;
    AUTO_JSON json_t *json = path_describe(folder, &facts);
    assert_false(facts.complete);
    assert_null(json_object_get(json, "bytes"));
    assert_non_null(json_object_get(json, "reason"));
}

static void a_device_has_no_size(void **state) {
    (void)state;
    struct path_facts facts;
    AUTO_JSON json_t *json = path_describe("/dev/null", &facts);
    assert_true(facts.exists);
    assert_null(json_object_get(json, "bytes"));
}

/* ---- blind spots ---- */

static void finds(const char *expected, const char *const *argv) {
    AUTO_JSON json_t *list = blind_spots_find(argv);
    AUTO_STRBUF struct strbuf ids = STRBUF_INIT;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *spot = json_array_get(list, i);
        strbuf_printf(&ids, "%s%s", i > 0 ? " " : "", json_get_text(spot, "id", "?"));
        assert_non_null(strstr(json_get_text(spot, "text", ""), "probelauf run"));
    }
    assert_string_equal(strbuf_str(&ids), expected);
}
#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})

static void programs_and_wrappers(void **state) {
    (void)state;
    finds("docker", ARGV("docker", "run", "image"));
    finds("srun", ARGV("/usr/bin/srun", "-n", "2", "./a.out"));
    finds("", ARGV("python3", "docker.py"));
    finds("", ARGV("./docker-compose-like"));
    finds("ssh", ARGV("env", "-i", "A=b", "nice", "-n", "5", "ssh", "host"));
    finds("sudo", ARGV("timeout", "-k", "5s", "1h", "sudo", "x"));
    finds("", ARGV("env"));
    finds("", ARGV("timeout", "5"));
}

static void shell_texts(void **state) {
    (void)state;
    finds("docker", ARGV("sh", "-c", "set -e; docker run x"));
    finds("tmux", ARGV("bash", "-lc", "cd /x && tmux new -d 'job' | cat"));
    finds("docker ssh", ARGV("sh", "-c", "if true; then docker pull x; else ssh h; fi"));
    finds("", ARGV("sh", "-c", "echo docker ssh"));
    finds("sudo", ARGV("sh", "-c", "A=1 exec sudo x"));
    finds("", ARGV("sh", "-c", ""));
    finds("", ARGV("sh", "-c"));
    finds("", ARGV("sh", "script.sh", "-c", "x"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_ones_are_refused),
        cmocka_unit_test(markers_are_texts_or_expressions),
        cmocka_unit_test_setup_teardown(answers, folder_setup, folder_teardown),
        cmocka_unit_test(secrets_in_checks_are_masked),
        cmocka_unit_test_setup_teardown(files_folders_and_nothing, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(a_folder_that_was_not_read_to_its_end_has_no_sum,
                                        folder_setup, folder_teardown),
        cmocka_unit_test(a_device_has_no_size),
        cmocka_unit_test(programs_and_wrappers),
        cmocka_unit_test(shell_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
