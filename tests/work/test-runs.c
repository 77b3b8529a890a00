/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The one view on all runs: ledger and live journals merged, references, annotations, ledgers in
 * trouble. */
#include "support.h"

#include "base/uuid.h"
#include "work/annotate.h"
#include "work/intake.h"
#include "work/runs.h"

#include <sched.h>
#include <sys/mount.h>

static struct runs *open_runs(const struct home *home) {
    struct err err = ERR_INIT;
    struct runs *runs = NULL;
    must(runs_open(&home->place, &runs, &err), &err);
    return runs;
}

static size_t list(struct runs *runs, const struct store_query *query, struct arena *arena,
                   struct store_entry **ret_entries) {
    struct err err = ERR_INIT;
    size_t count = 0;
    must(runs_list(runs, query, arena, ret_entries, &count, &err), &err);
    return count;
}

static void leave(const struct home *home, unsigned n) {
    struct made made = {.n = n};
    AUTO_FREE char *path = leave_journal(home, &made);
    assert_true(is_there(path));
}

/* A journal that this process keeps open for writing, as a recorder does. */
static void leave_live(const struct home *home, unsigned n, struct journal_writer *ret_writer) {
    struct made made = {.n = n, .unfinished = true};
    AUTO_FREE char *path = leave_journal(home, &made);
    struct err err = ERR_INIT;
    *ret_writer = JOURNAL_WRITER_INIT;
    must(journal_open_append(path, ret_writer, &err), &err);
}

static void expect_order(const struct store_entry *entries, size_t count, const unsigned *order) {
    char run[ID_SIZE];
    for (size_t i = 0; i < count; i++)
        assert_string_equal(entries[i].run, run_id(order[i], run));
}

static void takes_in_and_lists(void **state) {
    struct home *home = *state;
    leave(home, 1);
    leave(home, 3);
    struct journal_writer writer;
    leave_live(home, 2, &writer);
    AUTO_RUNS struct runs *runs = open_runs(home);
    assert_string_equal(runs_warning(runs), "");
    assert_non_null(runs_store(runs));
    assert_int_equal(count_files(home->dir), 1);
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    assert_int_equal(list(runs, &(struct store_query){.type = "run"}, arena, &entries), 3);
    expect_order(entries, 3, (const unsigned[]){3, 2, 1});
    assert_string_equal(entries[0].outcome, "ok");
    assert_string_equal(entries[1].outcome, "running");
    assert_false(entries[1].has_wall); /* not 0: it is not over */
    journal_close(&writer);
}

static void live_runs_obey_filters(void **state) {
    struct home *home = *state;
    struct journal_writer writer;
    leave_live(home, 2, &writer);
    leave(home, 1);
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    int64_t second = UTC_BASE + 2 * NS_PER_S;
    const struct {
        struct store_query query;
        size_t count;
    } cases[] = {
        {{.outcome = "running"}, 1},
        {{.outcome = "ok"}, 1},
        {{.purpose = "trial"}, 2},
        {{.purpose = "work"}, 0},
        {{.text = "--seed 2"}, 1},
        {{.text = "nothing like it"}, 0},
        {{.type = "event"}, 0},
        {{.study = "s"}, 0},
        {{.id_tail = "2"}, 1},
        {{.since_utc_ns = second}, 1},
        {{.since_utc_ns = second + 1}, 0},
        {{.until_utc_ns = second}, 1},
        {{.until_utc_ns = second + 1}, 2},
        {{.limit = 1}, 1},
        {{.group_key = "no such digest"}, 0},
        {{.about = "x"}, 0},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        size_t count = list(runs, &cases[i].query, arena, &entries);
        if (count != cases[i].count)
            fail_msg("case %zu: %zu", i, count);
    }
    journal_close(&writer);
}

static void pages_meet_across_live_runs(void **state) {
    struct home *home = *state;
    struct journal_writer writers[3];
    for (unsigned n = 1; n <= 12; n++) {
        if (n % 4 == 0)
            leave_live(home, n, &writers[n / 4 - 1]);
        else
            leave(home, n);
    }
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *page;
    struct store_query query = {.type = "run", .limit = 4};
    unsigned expected = 12;
    for (size_t got; (got = list(runs, &query, arena, &page)) > 0;) {
        char run[ID_SIZE];
        for (size_t i = 0; i < got; i++)
            assert_string_equal(page[i].run, run_id(expected--, run));
        query.after = page[got - 1].run;
    }
    assert_int_equal(expected, 0);
    query = (struct store_query){.after = "@11", .limit = 0}; /* any reference will do */
    assert_int_equal(list(runs, &query, arena, &page), 1);
    size_t count;
    struct err err = ERR_INIT;
    query.after = "ffff";
    assert_true(runs_list(runs, &query, arena, &page, &count, &err) < 0);
    assert_string_equal(err.id, "run-not-found");
    for (size_t i = 0; i < 3; i++)
        journal_close(&writers[i]);
}

/* ---- references ---- */

static void references(void **state) {
    struct home *home = *state;
    for (unsigned n = 1; n <= 20; n++)
        leave(home, n);
    struct made second_part = {.n = 20, .part = 99, .start_more = ",'note':'the other part'"};
    AUTO_FREE char *path = leave_journal(home, &second_part);
    assert_true(is_there(path));
    struct journal_writer writer;
    leave_live(home, 21, &writer);
    AUTO_RUNS struct runs *runs = open_runs(home);
    char first[ID_SIZE];
    const struct {
        const char *ref;
        unsigned n; /* 0: not found */
        const char *id;
    } cases[] = {
        {"@1", 21, NULL},
        {"@2", 20, NULL},
        {"@3", 19, NULL}, /* two parts are one run */
        {"@21", 1, NULL},
        {"@22", 0, "run-not-found"},
        {"@0", 0, "run-not-found"},
        {"@-1", 0, "run-not-found"},
        {"@x", 0, "run-not-found"},
        {"@", 0, "run-not-found"},
        {run_id(1, first), 1, NULL},
        {"0000000d", 13, NULL},
        {"0000000D", 13, NULL},
        {"15", 21, NULL},
        {"1", 0, "run-ambiguous"},
        {"", 0, "run-not-found"},
        {"fff", 0, "run-not-found"},
        {"train.py", 0, "run-not-found"},
        {"'; DROP TABLE entry; --", 0, "run-not-found"},
        {"0192000d-0000-7000-8000-00000000000d-and-more", 0, "run-not-found"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_RUN struct run *run = NULL;
        struct err err = ERR_INIT;
        int rc = runs_load(runs, cases[i].ref, false, &run, &err);
        char id[ID_SIZE];
        if (cases[i].n == 0) {
            assert_true(rc < 0);
            assert_string_equal(err.id, cases[i].id);
            assert_null(strchr(err.text, '\n'));
        } else {
            must(rc, &err);
            assert_string_equal(run->id, run_id(cases[i].n, id));
            assert_int_equal(run->running, cases[i].n == 21);
        }
    }
    journal_close(&writer);
}

/* The recorder took it in after we looked: then the ledger has it. */
static void a_file_that_went_meanwhile(void **state) {
    struct home *home = *state;
    struct journal_writer writer;
    leave_live(home, 1, &writer);
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_FREE char *path = mem_strdup(writer.path);
    struct err err = ERR_INIT;
    AUTO_JSON json_t *end = parse("{'t_ns':5,'command_t_ns':5,'exit_code':3}");
    must(journal_append_json(&writer, JOURNAL_END, end, true, &err), &err);
    journal_close(&writer);
    {
        AUTO_STORE struct store *store = open_ledger(home);
        must(intake_file(store, path, &err), &err);
    }
    AUTO_RUN struct run *run = NULL;
    must(runs_load(runs, "@1", false, &run, &err), &err);
    assert_false(run->running);
    assert_int_equal(run->exit_code, 3);
    AUTO_FREE void *bytes = NULL;
    size_t length;
    must(runs_journal(runs, "@1", &bytes, &length, &err), &err);
    assert_memory_equal(bytes, JOURNAL_MAGIC, 8);
}

/* ---- annotations ---- */

static void annotate(const struct home *home, struct store *store, const char *run,
                     struct annotation annotation) {
    struct err err = ERR_INIT;
    char event[UUID_TEXT_SIZE];
    must(annotate_run(&home->place, store, run, &annotation, event, &err), &err);
    assert_true(uuid_is_valid(event));
}

static void annotations_are_folded_in(void **state) {
    struct home *home = *state;
    char id[ID_SIZE], other[ID_SIZE];
    leave(home, 1);
    leave(home, 2);
    setenv("USER", "ada", 1);
    AUTO_RUNS struct runs *runs = open_runs(home);
    struct store *store = runs_store(runs);
    run_id(1, id);
    annotate(
        home, store, id,
        (struct annotation){.invalid = true,
                            .why = "another job, token=hf_abcdefghijklmnopqrstuvwxyz01234567"});
    annotate(home, store, run_id(2, other), (struct annotation){.note = "not about 1"});
    annotate(home, store, id, (struct annotation){.change = "smaller batch"});
    annotate(home, store, id, (struct annotation){.disposition = "repeat"});
    assert_int_equal(count_files(home->dir), 0);
    AUTO_RUN struct run *run = NULL;
    struct err err = ERR_INIT;
    must(runs_load(runs, id, false, &run, &err), &err);
    assert_int_equal(run->validity, RUN_INVALID);
    assert_string_equal(run->validity_who, "ada");
    assert_non_null(strstr(run->validity_why, "another job"));
    assert_null(strstr(run->validity_why, "abcdefgh"));
    assert_string_equal(run->disposition, "repeat");
    assert_int_equal(json_array_size(run->changes), 1);
    assert_int_equal(run->outcome, OUTCOME_OK);
    /* a later word of the same kind holds */
    annotate(home, store, id, (struct annotation){.valid = true});
    AUTO_RUN struct run *again = NULL;
    must(runs_load(runs, id, false, &again, &err), &err);
    assert_int_equal(again->validity, RUN_VALID);
    /* lists of runs do not show events */
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    assert_int_equal(list(runs, &(struct store_query){.type = "run"}, arena, &entries), 2);
    assert_int_equal(list(runs, &(struct store_query){.about = id}, arena, &entries), 4);
}

static void annotations_that_say_nothing(void **state) {
    struct home *home = *state;
    struct err err = ERR_INIT;
    char event[UUID_TEXT_SIZE], id[ID_SIZE];
    struct annotation nothing = {.note = ""}, both = {.invalid = true, .valid = true};
    assert_true(annotate_run(&home->place, NULL, run_id(1, id), &nothing, event, &err) < 0);
    assert_string_equal(err.id, "annotation-empty");
    assert_true(annotate_run(&home->place, NULL, id, &both, event, &err) < 0);
    assert_string_equal(err.id, "annotation-contradiction");
    const char *const nowhere[] = {"/proc/none", NULL};
    struct place place = {.ledger_url = home->url, .journal_dirs = nowhere};
    struct annotation note = {.note = "x"};
    assert_true(annotate_run(&place, NULL, id, &note, event, &err) < 0);
    assert_string_equal(err.id, "journal-no-place");
    assert_int_equal(count_files(home->dir), 0);
}

/* Without a name in the environment, the number of the user is what is known. */
static void who_without_a_name(void **state) {
    struct home *home = *state;
    char id[ID_SIZE];
    leave(home, 1);
    unsetenv("USER");
    unsetenv("LOGNAME");
    annotate(home, NULL, run_id(1, id), (struct annotation){.invalid = true, .why = "x"});
    assert_int_equal(count_files(home->dir), 2); /* both wait */
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_RUN struct run *run = NULL;
    struct err err = ERR_INIT;
    must(runs_load(runs, id, false, &run, &err), &err);
    AUTO_FREE char *who = mem_printf("uid %lu", (unsigned long)getuid());
    assert_string_equal(run->validity_who, who);
}

/* ---- a ledger in trouble ---- */

static void reads_journals_alone(void **state) {
    struct home *home = *state;
    leave(home, 1);
    char id[ID_SIZE];
    annotate(home, NULL, run_id(1, id), (struct annotation){.invalid = true, .why = "x"});
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, "this is no database, and it is long enough to be looked at as one: "
                          "it has more than one hundred characters");
    AUTO_FREE char *ledger = mem_printf("%s/ledger.db", home->path);
    write_bytes_to(ledger, &text);
    AUTO_RUNS struct runs *runs = open_runs(home);
    assert_non_null(strstr(runs_warning(runs), "no ledger"));
    assert_null(strchr(runs_warning(runs), '\n'));
    assert_null(runs_store(runs));
    AUTO_RUN struct run *run = NULL;
    struct err err = ERR_INIT;
    must(runs_load(runs, "@1", false, &run, &err), &err);
    assert_int_equal(run->outcome, OUTCOME_OK);
    assert_int_equal(run->validity, RUN_INVALID);
    assert_int_equal(count_files(home->dir), 2);
}

static void tells_about_damaged_journals(void **state) {
    struct home *home = *state;
    struct made made = {.n = 1};
    AUTO_FREE char *path = journal_path(home, &made);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, "garbage");
    write_bytes_to(path, &text);
    leave(home, 2);
    AUTO_RUNS struct runs *runs = open_runs(home);
    assert_non_null(strstr(runs_warning(runs), path));
    AUTO_RUNS struct runs *later = open_runs(home);
    assert_string_equal(runs_warning(later), "");
}

static void wrong_urls_are_errors(void **state) {
    struct home *home = *state;
    struct place place = {.ledger_url = "postgresql://x", .journal_dirs = home->place.journal_dirs};
    struct runs *runs = NULL;
    struct err err = ERR_INIT;
    assert_true(runs_open(&place, &runs, &err) < 0);
    assert_string_equal(err.id, "ledger-unsupported");
}

static void read_only_in_child(const struct home *home) {
    leave(home, 1);
    runs_close(open_runs(home));
    leave(home, 2);
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount(home->path, home->path, NULL, MS_BIND, NULL) < 0 ||
        mount(NULL, home->path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) < 0)
        _exit(77);
    struct runs *runs = open_runs(home);
    struct err err = ERR_INIT;
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    struct run *run = NULL;
    size_t count = 0;
    bool good =
        strstr(runs_warning(runs), "only be read") && runs_store(runs) &&
        runs_list(runs, &(struct store_query){.type = "run"}, arena, &entries, &count, &err) == 0 &&
        count == 2 && runs_load(runs, "@1", false, &run, &err) == 0;
    if (!good)
        fprintf(stderr, "%zu runs, %s, %s\n", count, runs_warning(runs), err.text);
    _exit(good ? 0 : 1);
}

static void a_read_only_home(void **state) {
    if (geteuid() != 0)
        skip();
    pid_t child = fork();
    if (child == 0)
        read_only_in_child(*state);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        HOME_TEST(takes_in_and_lists),           HOME_TEST(live_runs_obey_filters),
        HOME_TEST(pages_meet_across_live_runs),  HOME_TEST(references),
        HOME_TEST(a_file_that_went_meanwhile),   HOME_TEST(annotations_are_folded_in),
        HOME_TEST(annotations_that_say_nothing), HOME_TEST(who_without_a_name),
        HOME_TEST(reads_journals_alone),         HOME_TEST(tells_about_damaged_journals),
        HOME_TEST(wrong_urls_are_errors),        HOME_TEST(a_read_only_home),
    };
    return cmocka_run_group_tests_name("runs", tests, NULL, NULL);
}
