/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sessions as they are recorded: a machine that was restarted, a ledger that cannot be had, records
 * that come to another ledger. What they mean is tested in tests/rules. */
#include "support.h"

#include "base/root.h"
#include "probe/machine-key.h"
#include "work/event.h"
#include "work/intake.h"
#include "work/session.h"

#include <math.h>
#include <unistd.h>

#define HOUR_NS (INT64_C(3600) * NS_PER_S)

/* A start of this machine, an hour ago, in a boot that is over. */
static json_t *start_before_the_restart(int64_t ago_ns) {
    char host[256] = "", key[MACHINE_KEY_SIZE];
    int64_t utc_ns = clock_utc_ns() - ago_ns;
    json_t *event = event_begin("session-start", utc_ns), *clock = json_object();
    assert_int_equal(gethostname(host, sizeof host - 1), 0);
    json_put_text(event, "host", host);
    if (machine_key(&root_real, key))
        json_put_text(event, "machine", key);
    json_put_text(clock, "boot_id", "00000000-dead-4000-8000-000000000000");
    json_put_int(clock, "boottime_ns", 1234 * NS_PER_S);
    json_put_int(clock, "utc_ns", utc_ns);
    json_put(event, "clock", clock);
    return event;
}

static void write_start(const struct home *home, int64_t ago_ns, char ret_id[UUID_TEXT_SIZE]) {
    struct err err = ERR_INIT;
    AUTO_JSON json_t *event = start_before_the_restart(ago_ns);
    must(event_write(&home->place, NULL, NULL, event, ret_id, &err), &err);
}

static struct runs *open_runs(const struct place *place) {
    struct runs *runs = NULL;
    struct err err = ERR_INIT;
    must(runs_open(place, &runs, &err), &err);
    return runs;
}

static void assert_id(int rc, const struct err *err, const char *id) {
    assert_true(rc < 0);
    assert_string_equal(err->id, id);
}

static void test_restart(void **state) {
    struct home *home = *state;
    char id[UUID_TEXT_SIZE], other[UUID_TEXT_SIZE];
    struct err err = ERR_INIT;
    write_start(home, HOUR_NS, id);
    AUTO_RUNS struct runs *runs = open_runs(&home->place);
    AUTO_WORK_SESSIONS struct work_sessions sessions = {0};
    must(work_sessions_open(runs, WORK_SESSIONS_RUNNING, NULL, &sessions, &err), &err);
    const struct session *session = session_running(&sessions.list);
    assert_non_null(session);
    assert_string_equal(session->id, id);
    assert_int_equal(session->restarts, 1);
    assert_true(session->reserved.value >= 3600 && session->reserved.value < 4200);
    assert_int_equal(session->gap_count, 1);
    assert_true(session->gaps[0].restarted && session->gaps[0].running);
    assert_int_equal(session->gaps[0].reason, SESSION_UNKNOWN);
    const struct work_session_start again = {0};
    assert_id(work_session_start(&home->place, runs, &again, other, &err), &err, "session-running");
    err_clear(&err);
    const struct work_session_note note = {.reason = SESSION_MANUAL_ACTION, .text = "power cut"};
    struct work_session_noted noted;
    must(work_session_note(&home->place, runs, &note, &noted, &err), &err);
    assert_string_equal(noted.session, id);
    must(work_session_stop(&home->place, runs, NULL, 0, false, other, &err), &err);
    assert_string_equal(other, id);
    assert_id(work_session_stop(&home->place, runs, id, 0, false, other, &err), &err,
              "session-stopped");
    err_clear(&err);
    AUTO_WORK_SESSIONS struct work_sessions after = {0};
    must(work_sessions_open(runs, WORK_SESSIONS_ALL, NULL, &after, &err), &err);
    assert_int_equal(after.list.items[0].state, SESSION_STOPPED);
    assert_int_equal(after.list.items[0].gaps[0].reason, SESSION_MANUAL_ACTION);
    assert_string_equal(after.list.items[0].gaps[0].text, "power cut");
    assert_true(fabs(after.list.items[0].idle.value - after.list.items[0].reserved.value) < 1e-6);
}

/* ---- without a ledger ---- */

static void test_without_a_ledger(void **state) {
    struct home *home = *state;
    char id[UUID_TEXT_SIZE], late[UUID_TEXT_SIZE];
    struct err err = ERR_INIT;
    AUTO_FREE char *broken = mem_printf("%s/broken.db", home->path);
    AUTO_FREE char *url = mem_printf("sqlite:%s", broken);
    must(file_write_atomic(broken, "no database at all, though it is long enough", 44, 0600, &err),
         &err);
    home->place.ledger_url = url;
    AUTO_RUNS struct runs *blind = open_runs(&home->place); /* sees none yet */
    assert_null(runs_store(blind));
    write_start(home, HOUR_NS, id); /* another process was quicker */
    const struct work_session_start start = {0};
    assert_id(work_session_start(&home->place, blind, &start, late, &err), &err, "ledger-damaged");
    err_clear(&err); /* what was not read may be a session that runs */
    AUTO_RUNS struct runs *runs = open_runs(&home->place);
    AUTO_WORK_SESSIONS struct work_sessions sessions = {0};
    assert_id(work_sessions_open(runs, WORK_SESSIONS_ALL, NULL, &sessions, &err), &err,
              "ledger-damaged");
    err_clear(&err);
    /* what waits beside the ledger is known: it runs, and it can be stopped */
    assert_id(work_session_start(&home->place, runs, &start, late, &err), &err, "session-running");
    err_clear(&err);
    must(work_session_stop(&home->place, runs, NULL, 0, false, late, &err), &err);
    assert_string_equal(late, id);
    AUTO_RUNS struct runs *after = open_runs(&home->place);
    assert_id(work_session_stop(&home->place, after, NULL, 0, false, late, &err), &err,
              "ledger-damaged");
    assert_id(work_session_start(&home->place, after, &start, late, &err), &err, "ledger-damaged");
}

/* ---- at home ---- */

static int take_in(const char *run, const char *part, const void *bytes, size_t length,
                   void *context, struct err *err) {
    bool changed;
    (void)run;
    (void)part;
    return intake_bytes(context, bytes, length, &changed, err);
}

static void test_another_ledger(void **state) {
    struct home *home = *state;
    char id[UUID_TEXT_SIZE], other[UUID_TEXT_SIZE];
    struct err err = ERR_INIT;
    write_start(home, HOUR_NS, id);
    AUTO_RUNS struct runs *runs = open_runs(&home->place);
    must(work_session_stop(&home->place, runs, NULL, 0, false, other, &err), &err);
    AUTO_FREE char *folder = mem_printf("%s/away", home->path);
    AUTO_FREE char *url = mem_printf("sqlite:%s/ledger.db", folder);
    const char *const dirs[] = {folder, NULL};
    const struct place away = {.ledger_url = url, .journal_dirs = dirs};
    AUTO_STORE struct store *store = NULL;
    must(store_open(url, STORE_READ_WRITE, &store, &err), &err);
    for (int twice = 0; twice < 2; twice++)
        must(store_each_journal(runs_store(runs), take_in, store, &err), &err);
    AUTO_RUNS struct runs *there = open_runs(&away);
    AUTO_WORK_SESSIONS struct work_sessions a = {0}, b = {0};
    must(work_sessions_open(runs, WORK_SESSIONS_ALL, NULL, &a, &err), &err);
    must(work_sessions_open(there, WORK_SESSIONS_ALL, NULL, &b, &err), &err);
    assert_int_equal(b.list.count, 1);
    assert_string_equal(b.list.items[0].id, a.list.items[0].id);
    assert_true(fabs(a.list.items[0].reserved.value - b.list.items[0].reserved.value) < 1e-9);
    const struct session *found = NULL;
    must(work_session_find(&b, "@1", &found, &err), &err);
    assert_id(work_session_find(&b, "@2", &found, &err), &err, "session-not-found");
}

/* ---- many ---- */

static void write_stop(const struct home *home, const char *id, int64_t ago_ns) {
    char ignored[UUID_TEXT_SIZE];
    struct err err = ERR_INIT;
    AUTO_JSON json_t *event = start_before_the_restart(ago_ns);
    json_put_text(event, "type", "session-stop");
    json_put_text(event, "about", id);
    must(event_write(&home->place, NULL, NULL, event, ignored, &err), &err);
}

/* The sessions of years are not read to know about now, nor to know about one. */
static void test_many(void **state) {
    struct home *home = *state;
    char id[UUID_TEXT_SIZE], first[UUID_TEXT_SIZE];
    struct err err = ERR_INIT;
    for (int i = 40; i > 0; i--) {
        write_start(home, i * HOUR_NS, i == 40 ? first : id);
        write_stop(home, i == 40 ? first : id, i * HOUR_NS - HOUR_NS / 2);
    }
    AUTO_RUNS struct runs *runs = open_runs(&home->place);
    const struct work_session_start start = {0};
    must(work_session_start(&home->place, runs, &start, id, &err), &err);
    AUTO_WORK_SESSIONS struct work_sessions running = {0}, one = {0}, all = {0};
    const struct session *session = NULL;
    must(work_sessions_open_ref(runs, NULL, &running, &session, &err), &err);
    assert_string_equal(session->id, id);
    assert_int_equal(json_array_size(running.events), 1);
    must(work_sessions_open_ref(runs, first, &one, &session, &err), &err);
    assert_string_equal(session->id, first);
    assert_int_equal(session->state, SESSION_STOPPED);
    assert_int_equal(json_array_size(one.events), 3); /* and what runs now */
    must(work_sessions_open(runs, WORK_SESSIONS_ALL, NULL, &all, &err), &err);
    assert_int_equal(all.list.count, 41);
    /* what began before a stop is still seen to overlap it */
    char other[UUID_TEXT_SIZE];
    must(work_session_stop(&home->place, runs, NULL, 0, false, other, &err), &err);
    const struct work_session_start before = {.began_utc_ns = clock_utc_ns() - 20 * HOUR_NS};
    assert_id(work_session_start(&home->place, runs, &before, other, &err), &err,
              "session-overlap");
    err_clear(&err);
    assert_id(work_session_stop(&home->place, runs, id, 0, false, other, &err), &err,
              "session-stopped");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        HOME_TEST(test_restart),
        HOME_TEST(test_without_a_ledger),
        HOME_TEST(test_another_ledger),
        HOME_TEST(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
