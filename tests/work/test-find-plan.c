/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the plan is: which file of that name is taken, and what is not passed over silently. */
#include "support.h"

#include "work/find-plan.h"

/* A folder `study` below HOME with a file that is called as a plan; the test stands in it. */
static int plan_setup(void **state) {
    if (home_setup(state) != 0)
        return -1;
    const struct home *home = *state;
    AUTO_FREE char *folder = mem_printf("%s/study", home->path);
    struct err err = ERR_INIT;
    unsetenv("PROBELAUF_PLAN");
    return mkdir(folder, 0700) < 0 || chdir(folder) < 0 || mkdir("weights", 0700) < 0 ||
           mkdir("weights/part", 0700) < 0 ||
           file_write_atomic("probelauf.yaml", "probelauf: 1\n", 13, 0600, &err) < 0;
}

static int plan_teardown(void **state) {
    return chdir("/") != 0 || home_teardown(state) != 0;
}

static const char *find(const char *flag, struct arena *arena) {
    struct err err = ERR_INIT;
    const char *path = NULL;
    must(work_find_plan(flag, arena, &path, &err), &err);
    return path;
}

static void finds_the_plan_from_below(void **state) {
    const struct home *home = *state;
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_FREE char *expected = mem_printf("%s/study/probelauf.yaml", home->path);
    assert_string_equal(find(NULL, arena), "probelauf.yaml");
    assert_int_equal(chdir("weights/part"), 0);
    assert_string_equal(find(NULL, arena), expected);
}

static void the_search_ends_at_home(void **state) {
    const struct home *home = *state;
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_FREE char *above = mem_printf("%s/probelauf.yaml", home->path);
    assert_int_equal(rename("probelauf.yaml", above), 0);
    assert_string_equal(find(NULL, arena), above); /* HOME itself is looked at */
    AUTO_FREE char *nearer = mem_printf("%s/study", home->path);
    setenv("HOME", nearer, 1);
    assert_null(find(NULL, arena));
    setenv("HOME", "/nowhere", 1);
    assert_string_equal(find(NULL, arena), above);
}

static void a_named_plan_must_be_there(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    const char *path = NULL;
    struct err err = ERR_INIT;
    assert_string_equal(find("probelauf.yaml", arena), "probelauf.yaml");
    assert_int_equal(work_find_plan("no.yaml", arena, &path, &err), -ENOENT);
    assert_string_equal(err.id, "plan-unreadable");
    assert_non_null(strstr(err.text, "--plan"));
    err_clear(&err);
    setenv("PROBELAUF_PLAN", "weights", 1);
    assert_int_equal(work_find_plan(NULL, arena, &path, &err), -EISDIR);
    assert_non_null(strstr(err.text, "PROBELAUF_PLAN"));
    assert_string_equal(find("probelauf.yaml", arena), "probelauf.yaml"); /* the option first */
    assert_null(find("none", arena));                                     /* asked for: no plan */
    setenv("PROBELAUF_PLAN", "none", 1);
    assert_null(find(NULL, arena));
    setenv("PROBELAUF_PLAN", "", 1);
    assert_string_equal(find(NULL, arena), "probelauf.yaml");
}

/* A plan further up is not the one that is meant. */
static void what_is_no_file_hides_the_plans_above(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    const char *path = NULL;
    assert_int_equal(mkdir("below", 0755) || chdir("below"), 0);
    assert_non_null(find(NULL, arena));
    for (int i = 0; i < 4; i++) {
        static const char *const says[] = {"leads nowhere", "symbolic links", "a folder",
                                           "no file"};
        struct err err = ERR_INIT;
        int rc = i == 0   ? symlink("nowhere", "probelauf.yaml")
                 : i == 1 ? symlink("probelauf.yaml", "probelauf.yaml")
                 : i == 2 ? mkdir("probelauf.yaml", 0755)
                          : mkfifo("probelauf.yaml", 0600);
        assert_int_equal(rc, 0);
        assert_true(work_find_plan(NULL, arena, &path, &err) < 0);
        assert_string_equal(err.id, "plan-unreadable");
        assert_non_null(strstr(err.text, "/below/probelauf.yaml'"));
        assert_non_null(strstr(err.text, says[i]));
        assert_null(find("none", arena));
        assert_int_equal(remove("probelauf.yaml"), 0);
    }
    assert_int_equal(symlink("../probelauf.yaml", "probelauf.yaml"), 0);
    assert_string_equal(find(NULL, arena), "probelauf.yaml");
}

static void a_stranger_s_plan_in_an_open_folder_is_passed_over(void **state) {
    (void)state;
    if (geteuid() != 0)
        skip(); /* only root can give a file away */
    AUTO_ARENA struct arena *arena = arena_new();
    assert_int_equal(chown("probelauf.yaml", 12345, 12345), 0);
    assert_non_null(find(NULL, arena)); /* a colleague's, in a folder that is not open to all */
    assert_int_equal(chmod(".", 01777), 0);
    assert_null(find(NULL, arena));
    assert_int_equal(chown("probelauf.yaml", 0, 0), 0);
    assert_non_null(find(NULL, arena));
    assert_int_equal(remove("probelauf.yaml") || symlink("nowhere", "probelauf.yaml") ||
                         lchown("probelauf.yaml", 12345, 12345),
                     0);
    assert_null(find(NULL, arena)); /* nor does a stranger keep us from working */
}

#define PLAN_TEST(name) cmocka_unit_test_setup_teardown(name, plan_setup, plan_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        PLAN_TEST(finds_the_plan_from_below),
        PLAN_TEST(the_search_ends_at_home),
        PLAN_TEST(a_named_plan_must_be_there),
        PLAN_TEST(what_is_no_file_hides_the_plans_above),
        PLAN_TEST(a_stranger_s_plan_in_an_open_folder_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
