/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The code as a plan names it: paths relative to the plan's folder decide what the digest covers.
 */
#include "probe/probe.h"

#include "tree.h"

#define BUDGET_NS INT64_C(120000000000) /* a busy test machine must not end the reading */

static json_t *code_in(const char *folder, const char *const *paths, const char *except) {
    struct probe_context context = {.root = &root_real,
                                    .cwd = "/",
                                    .code_folder = folder,
                                    .code_paths = paths,
                                    .code_except = except,
                                    .budget_ns = BUDGET_NS};
    return probe_code(&context);
}

static const char *digest(const json_t *code) {
    const char *text = json_get_text(code, "digest", NULL);
    if (text == NULL) {
        fail_msg("%s", json_get_text(code, "reason", "no digest and no reason"));
    }
    return text;
}

/* study/ holds the plan; code lies there and beside it. */
static char *repository(char **ret_study) {
    char *base = tree_new();
    GIT(base, "init", "-q", "-b", "main");
    tree_write(base, "/study/probelauf.yaml", "probelauf: 1\n");
    tree_write(base, "/study/run.py", "1\n");
    tree_write(base, "/study/lib/a.py", "1\n");
    tree_write(base, "/study/lib/notes.md", "1\n");
    tree_write(base, "/common/b.py", "1\n");
    tree_write(base, "/other.py", "1\n");
    GIT(base, "add", ".");
    GIT(base, "commit", "-q", "-m", "first");
    *ret_study = mem_printf("%s/study", base);
    return base;
}

static void only_what_lies_under_the_paths_counts(void **state) {
    (void)state;
    static const char *const paths[] = {"run.py", "lib", "../common", NULL};
    static const struct {
        const char *file;
        bool counts;
    } changes[] = {{"/study/run.py", true},   {"/study/lib/a.py", true},
                   {"/common/b.py", true},    {"/study/lib/notes.md", true},
                   {"/other.py", false},      {"/study/probelauf.yaml", false},
                   {"/study/new.txt", false}, {"/study/lib/untracked.py", false}};
    AUTO_FREE char *study = NULL;
    AUTO_TREE char *base = repository(&study);
    AUTO_JSON json_t *before = code_in(study, paths, "probelauf.yaml");
    assert_int_equal(json_array_size(json_get_array(before, "paths")), 3);
    assert_string_equal(json_string_value(json_array_get(json_get_array(before, "paths"), 2)),
                        "../common");
    assert_false(json_get_bool(before, "dirty", 1));
    for (size_t i = 0; i < ARRAY_LENGTH(changes); i++) {
        tree_write(base, changes[i].file, "2\n");
        AUTO_JSON json_t *after = code_in(study, paths, "probelauf.yaml");
        bool same = strcmp(digest(after), digest(before)) == 0;
        if (same == changes[i].counts) {
            fail_msg("%s", changes[i].file);
        }
        assert_int_equal(json_get_bool(after, "dirty", -1), changes[i].counts);
        assert_int_equal(json_object_get(after, "diff_digest") != NULL, changes[i].counts);
        tree_write(base, changes[i].file, "1\n");
        GIT(base, "checkout", "-q", ".");
    }
    AUTO_JSON json_t *end = code_in(study, paths, "probelauf.yaml");
    assert_string_equal(digest(end), digest(before));
    assert_int_equal(json_get_int(end, "untracked", -1), 1); /* lib/untracked.py alone */
}

static void committed_or_not_is_the_same(void **state) {
    (void)state;
    static const char *const paths[] = {"lib", NULL};
    AUTO_FREE char *study = NULL;
    AUTO_TREE char *base = repository(&study);
    tree_write(base, "/study/lib/a.py", "2\n");
    AUTO_JSON json_t *dirty = code_in(study, paths, NULL);
    GIT(base, "commit", "-q", "-a", "-m", "second");
    AUTO_JSON json_t *clean = code_in(study, paths, NULL);
    assert_true(json_get_bool(dirty, "dirty", 0) && !json_get_bool(clean, "dirty", 1));
    assert_string_equal(digest(clean), digest(dirty));
}

/* Magic of path specs is git's: excluded ones, those of the top. */
static void path_specs_may_exclude(void **state) {
    (void)state;
    static const char *const paths[] = {"lib", ":(exclude)lib/*.md", ":/other.py", NULL};
    AUTO_FREE char *study = NULL;
    AUTO_TREE char *base = repository(&study);
    AUTO_JSON json_t *before = code_in(study, paths, NULL);
    tree_write(base, "/study/lib/notes.md", "2\n");
    AUTO_JSON json_t *notes = code_in(study, paths, NULL);
    tree_write(base, "/other.py", "2\n");
    AUTO_JSON json_t *other = code_in(study, paths, NULL);
    assert_string_equal(digest(notes), digest(before));
    assert_string_not_equal(digest(other), digest(before));
}

static void paths_that_lead_nowhere_give_no_digest(void **state) {
    (void)state;
    static const struct {
        const char *paths[2], *says;
    } wrong[] = {{{"lib/b.py", NULL}, "no tracked file"},
                 {{"../../outside", NULL}, "does not take"},
                 {{":(nonsense)x", NULL}, "does not take"},
                 {{"", NULL}, "does not take"}};
    AUTO_FREE char *study = NULL;
    AUTO_TREE char *base = repository(&study);
    for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
        AUTO_JSON json_t *code = code_in(study, wrong[i].paths, NULL);
        assert_null(json_object_get(code, "digest"));
        assert_null(json_object_get(code, "dirty"));
        const char *reason = json_get_text(code, "reason", "");
        if (strstr(reason, wrong[i].says) == NULL || strstr(reason, "code.paths") == NULL) {
            fail_msg("'%s' does not say '%s'", reason, wrong[i].says);
        }
        assert_non_null(json_get_text(code, "commit", NULL)); /* what is known stays */
    }
    assert_non_null(base);
}

/* Without paths: all but what does not run, and the plan is no code wherever it lies. */
static void a_plan_without_paths(void **state) {
    (void)state;
    static const char *const none[] = {NULL};
    AUTO_FREE char *study = NULL;
    AUTO_TREE char *base = repository(&study);
    AUTO_JSON json_t *before = code_in(study, none, "probelauf.yaml");
    assert_null(json_object_get(before, "paths"));
    tree_write(base, "/study/probelauf.yaml", "probelauf: 1 # edited\n");
    tree_write(base, "/study/lib/notes.md", "2\n");
    AUTO_JSON json_t *plan = code_in(study, NULL, "probelauf.yaml");
    tree_write(base, "/other.py", "2\n");
    AUTO_JSON json_t *other = code_in(study, NULL, "probelauf.yaml");
    assert_string_equal(digest(plan), digest(before));
    assert_string_not_equal(digest(other), digest(before));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_lies_under_the_paths_counts),
        cmocka_unit_test(committed_or_not_is_the_same),
        cmocka_unit_test(path_specs_may_exclude),
        cmocka_unit_test(paths_that_lead_nowhere_give_no_digest),
        cmocka_unit_test(a_plan_without_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
