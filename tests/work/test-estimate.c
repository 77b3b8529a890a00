/* SPDX-License-Identifier: GPL-3.0-or-later */
/* estimate --repeat: which records it looks at, by group and by name. */
#include "support.h"

#include "work/estimate.h"

/* A finished trial: the command is the same for all with one `command`, its wall time is given. */
static void leave_trial(const struct home *home, unsigned n, const char *command, double wall_s,
                        int exit_code) {
    char run[ID_SIZE];
    char part[ID_SIZE];
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    long long start_utc = (long long)(UTC_BASE + n * NS_PER_S);
    long long wall_ns = (long long)(wall_s * 1e9);
    AUTO_FREE char *header =
        mem_printf("{'format':1,'type':'run','run':'%s','part':'%s','boot_id':'none','pid':1,"
                   "'pid_start':1,'utc_ns':%lld,'program':'0.1.0'}",
                   run_id(n, run), part_id(n, part), start_utc);
    AUTO_FREE char *start = mem_printf(
        "{'command':['%s'],'cwd':'/w','purpose':'trial','attempt':1,"
        "'clock':{'start_mono_ns':1000000000,'start_utc_ns':%lld},'rss_floor_bytes':2097152}",
        command, start_utc);
    AUTO_FREE char *end = mem_printf(
        "{'t_ns':%lld,'command_t_ns':%lld,'end_utc_ns':%lld,'exit_code':%d,'survivors':[],"
        "'wall_is_at_least':false}",
        wall_ns, wall_ns, start_utc + wall_ns, exit_code);
    strbuf_add_str(&out, JOURNAL_MAGIC);
    add(&out, JOURNAL_HEADER, header);
    add(&out, JOURNAL_START, start);
    add(&out, JOURNAL_END, end);
    AUTO_FREE char *path = mem_printf("%s/%s-%s.journal", home->dir, run, part);
    write_bytes_to(path, &out);
}

static int make(const struct home *home, const char *const *refs, size_t count, uint64_t repeats,
                struct work_estimate *ret, struct err *err) {
    AUTO_RUNS struct runs *runs = NULL;
    must(runs_open(&home->place, &runs, err), err);
    assert_string_equal(runs_warning(runs), "");
    return work_estimate_make(runs, refs, count, repeats, 7, ret, err);
}

static void nothing_recorded(void **state) {
    struct err err = ERR_INIT;
    AUTO_WORK_ESTIMATE struct work_estimate estimate;
    assert_int_equal(make(*state, NULL, 0, 10, &estimate, &err), -ENOENT);
    assert_string_equal(err.id, "run-not-found");
}

static void group_of_the_latest(void **state) {
    struct home *home = *state;
    struct err err = ERR_INIT;
    AUTO_WORK_ESTIMATE struct work_estimate estimate;
    leave_trial(home, 1, "a", 100.0, 0);
    leave_trial(home, 2, "b", 5.0, 0);
    leave_trial(home, 3, "a", 104.0, 0);
    leave_trial(home, 4, "a", 3.0, 1); /* the latest: it failed, its group is still the one meant */
    struct made live = {.n = 9, .unfinished = true}; /* a later one runs */
    AUTO_FREE char *path = leave_journal(home, &live);
    struct journal_writer writer = JOURNAL_WRITER_INIT;
    must(journal_open_append(path, &writer, &err), &err);
    must(make(home, NULL, 0, 10, &estimate, &err), &err);
    assert_int_equal(estimate.run_count, 3);
    assert_int_equal(estimate.repeat.used_count, 2);
    assert_true(estimate.repeat.used[0]->wall.value == 104.0); /* newest first */
    assert_int_equal(estimate.repeat.excluded_count, 1);
    assert_int_equal(estimate.repeat.attempts, 3);
    assert_int_equal(estimate.repeat.failures, 1);
    assert_true(estimate.repeat.total.has_interval);
    assert_false(estimate.older);
    assert_string_equal(estimate.unreadable, "");
    journal_close(&writer);
}

static void named_runs(void **state) {
    struct home *home = *state;
    struct err err = ERR_INIT;
    char first[ID_SIZE];
    leave_trial(home, 1, "a", 100.0, 0);
    leave_trial(home, 2, "a", 101.0, 0);
    leave_trial(home, 3, "a", 102.0, 0);
    leave_trial(home, 4, "b", 50.0, 0);
    AUTO_WORK_ESTIMATE struct work_estimate estimate;
    const char *const refs[] = {run_id(1, first), "@2", "@4", "@2"}; /* 1, 3, 1 again, 3 again */
    must(make(home, refs, 4, 10, &estimate, &err), &err);
    assert_int_equal(estimate.run_count, 2); /* one observation each, however often it is named */
    assert_true(estimate.repeat.used[0]->wall.value == 102.0);
    assert_true(estimate.repeat.used[1]->wall.value == 100.0);

    AUTO_WORK_ESTIMATE struct work_estimate mixed;
    const char *const two[] = {"@1", "@2"};
    must(make(home, two, 2, 10, &mixed, &err), &err);
    assert_int_equal(mixed.repeat.used_count, 1);
    assert_int_equal(mixed.repeat.excluded_count, 1);
    assert_non_null(strstr(mixed.repeat.excluded[0].reason, "command differs"));

    AUTO_WORK_ESTIMATE struct work_estimate none;
    const char *const wrong[] = {"@1", "@77"};
    assert_true(make(home, wrong, 2, 10, &none, &err) < 0);
    assert_string_equal(err.id, "run-not-found");
}

static void how_often(void **state) {
    struct home *home = *state;
    struct err err = ERR_INIT;
    leave_trial(home, 1, "a", 100.0, 0);
    const uint64_t bad[] = {0, REPEAT_MAX + 1, UINT64_MAX};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        AUTO_WORK_ESTIMATE struct work_estimate estimate;
        assert_int_equal(make(home, NULL, 0, bad[i], &estimate, &err), -EINVAL);
        assert_string_equal(err.id, "estimate-repeats");
    }
    AUTO_WORK_ESTIMATE struct work_estimate estimate;
    must(make(home, NULL, 0, REPEAT_MAX, &estimate, &err), &err);
    assert_true(estimate.repeat.total.value == 100.0 * (double)REPEAT_MAX);
}

static void large_group(void **state) {
    struct home *home = *state;
    struct err err = ERR_INIT;
    AUTO_WORK_ESTIMATE struct work_estimate estimate;
    for (unsigned n = 1; n <= WORK_ESTIMATE_RUNS_MAX + 5; n++)
        leave_trial(home, n, "a", 100.0 + n % 7, 0);
    must(make(home, NULL, 0, 10, &estimate, &err), &err);
    assert_int_equal(estimate.run_count, WORK_ESTIMATE_RUNS_MAX);
    assert_true(estimate.older);
    assert_true(estimate.repeat.used[0]->started_utc_ns > estimate.repeat.used[1]->started_utc_ns);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        HOME_TEST(nothing_recorded), HOME_TEST(group_of_the_latest), HOME_TEST(named_runs),
        HOME_TEST(how_often),        HOME_TEST(large_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
