/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Chosen journals for the way out, and waiting for those that are nearly there. Prints nothing. */
#include "work/hand-out.h"

#include "base/clock.h"
#include "journal/journal.h"
#include "model/outcome.h"
#include "work/intake.h"
#include "work/stream.h"
#include "work/waiting.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SETTLE_NS      (3 * NS_PER_S) /* git alone may take two */
#define SETTLE_STEP_NS (10 * NS_PER_MS)
#define ORPHAN_STEPS   20 /* nobody holds it for so long: nobody is going to take it in */

/* The run has ended, and yet its journal was not taken in: its recorder is still at work. */
static bool has_ended(const char *path) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    struct store_entry entry;
    struct err ignored = ERR_INIT; /* gone in between, or damaged: nothing to wait for */
    return intake_read_file(path, &bytes, &ignored) == 0 &&
           intake_entry(strbuf_str(&bytes), bytes.length, true, arena, &entry, NULL, &ignored) ==
               0 &&
           entry.outcome != NULL && strcmp(entry.outcome, outcome_name(OUTCOME_RUNNING)) != 0;
}

static void wait_for(const char *path, int64_t deadline_ns) {
    const struct timespec step = {.tv_nsec = SETTLE_STEP_NS};
    int orphaned = 0;
    while (clock_mono_ns() < deadline_ns && access(path, F_OK) == 0) {
        orphaned = journal_is_live(path) ? 0 : orphaned + 1;
        if (orphaned > ORPHAN_STEPS)
            return;
        (void)nanosleep(&step, NULL);
    }
}

/* True if there was something to wait for. */
static bool settle(const struct place *place) {
    AUTO_WAITING struct waiting waiting;
    waiting_find(place, &waiting);
    int64_t deadline_ns = clock_mono_ns() + SETTLE_NS;
    bool waited = false;
    for (size_t i = 0; i < waiting.count; i++) {
        if (has_ended(waiting.paths[i])) {
            wait_for(waiting.paths[i], deadline_ns);
            waited = true;
        }
    }
    return waited;
}

int hand_out_open(const struct place *place, struct runs **ret_runs, struct err *err) {
    AUTO_RUNS struct runs *runs = NULL;
    int rc = runs_open(place, &runs, err);
    if (rc < 0)
        return rc;
    /* With a ledger in trouble the journals stay where they are: nothing to wait for. */
    bool works = runs_store(runs) != NULL && *runs_warning(runs) == '\0';
    if (works && settle(place)) {
        runs = runs_close(runs);
        rc = runs_open(place, &runs, err);
        if (rc < 0)
            return rc;
    }
    *ret_runs = steal(runs);
    return 0;
}

int hand_out_text(const void *journal, size_t length, struct strbuf *out, struct err *err) {
    return journal_to_text(journal, journal_portable_length(journal, length), out, err);
}

/* ---- chosen runs ---- */

struct handing {
    struct runs *runs;
    int fd;
    size_t count;
};

static int add_stored(struct handing *handing, const struct store_entry *entry, struct err *err) {
    AUTO_FREE void *bytes = NULL;
    size_t length = 0;
    int rc = store_get(runs_store(handing->runs), entry->run, entry->part, &bytes, &length, err);
    rc = rc < 0 ? rc : stream_add(handing->fd, bytes, length, err);
    handing->count += rc == 0;
    return rc;
}

/* Events follow the run that they are about. */
static int add_events(struct handing *handing, const char *run, struct err *err) {
    if (runs_store(handing->runs) == NULL)
        return 0;
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_query query = {.type = "event", .about = run};
    struct store_entry *entries = NULL;
    size_t count = 0;
    int rc = store_list(runs_store(handing->runs), &query, arena, &entries, &count, err);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = add_stored(handing, &entries[i], err);
    return rc;
}

static int add_run(struct handing *handing, const char *ref, struct err *err) {
    AUTO_FREE void *bytes = NULL;
    AUTO_RUN struct run *run = NULL;
    size_t length = 0;
    int rc = runs_load(handing->runs, ref, false, &run, err);
    rc = rc < 0 ? rc : runs_journal(handing->runs, run->id, &bytes, &length, err);
    rc = rc < 0 ? rc : stream_add(handing->fd, bytes, length, err);
    if (rc < 0)
        return rc;
    handing->count++;
    return add_events(handing, run->id, err);
}

int hand_out_runs(struct runs *runs, const char *const *refs, size_t count, int fd,
                  size_t *ret_journals, struct err *err) {
    struct handing handing = {.runs = runs, .fd = fd};
    int rc = stream_begin(fd, err);
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = add_run(&handing, refs[i], err);
    rc = rc < 0 ? rc : stream_end(fd, handing.count, err);
    if (rc == 0)
        *ret_journals = handing.count;
    return rc;
}
