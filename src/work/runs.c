/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one view on all runs: the ledger's index plus the journals that are not in it yet (running
 * ones, or all of them when the ledger cannot be had). Takes in first what waits; a ledger in
 * trouble is a warning, never a reason to show nothing.
 */
#include "work/runs.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/msg.h"
#include "base/str.h"
#include "journal/fold.h"
#include "journal/journal.h"
#include "work/intake.h"
#include "work/ledger.h"
#include "work/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A reader is not kept waiting by what others left behind: the rest is taken in by the next
 * command. */
#define INTAKE_LIMIT_NS   (5 * NS_PER_S)
#define USUAL_PATIENCE_NS (10 * NS_PER_S)

/* A journal file that is not in the ledger. */
struct loose {
    const char *path;
    struct store_entry entry;
    bool live;
};

struct runs {
    struct arena *arena; /* owns all below but the store */
    struct store *store;
    struct err unavailable; /* why there is no store */
    struct strbuf warning;
    struct loose *loose;
    size_t loose_count;
    struct fold_shared shared;
};

const char *runs_warning(const struct runs *runs) {
    return strbuf_str(&runs->warning);
}

struct store *runs_store(struct runs *runs) {
    return runs->store;
}

int runs_need_ledger(const struct runs *runs, struct err *err) {
    if (runs->unavailable.code != 0)
        *err = runs->unavailable;
    return runs->unavailable.code;
}

struct runs *runs_close(struct runs *runs) {
    if (!runs)
        return NULL;
    runs->store = store_close(runs->store);
    strbuf_done(&runs->warning);
    fold_shared_done(&runs->shared);
    arena_free(runs->arena);
    free(runs);
    return NULL;
}

void runs_close_ptr(struct runs **runs) {
    *runs = runs_close(*runs);
}

/* ---- opening ---- */

static void warn(struct runs *runs, const char *text) {
    if (runs->warning.length > 0)
        strbuf_add_str(&runs->warning, "; ");
    strbuf_add_str(&runs->warning, text);
}

static bool is_usage_error(const struct err *err) {
    return strcmp(err->id, "ledger-url") == 0 || strcmp(err->id, "ledger-unsupported") == 0;
}

static int open_store(struct runs *runs, const char *url, bool *ret_writable, struct err *err) {
    *ret_writable = false;
    int rc = store_open(url, STORE_READ_WRITE, &runs->store, err);
    if (rc == 0) {
        *ret_writable = true;
        return 0;
    }
    if (is_usage_error(err))
        return rc;
    struct err second = ERR_INIT;
    /* One that stayed locked would only be waited for a second time. */
    if (rc != -EAGAIN && store_open(url, STORE_READ_ONLY, &runs->store, &second) == 0)
        warn(runs, _("the ledger can only be read: new records wait in the journal folder"));
    else {
        warn(runs, err->text);
        if (strcmp(second.id, "ledger-missing") != 0)
            runs->unavailable = *err;
    }
    err_clear(err);
    return 0;
}

static void take_in(struct runs *runs, const struct place *place) {
    struct intake_count count = {0};
    struct err first = ERR_INIT;
    store_set_patience(runs->store, INTAKE_PATIENCE_NS);
    intake_all(runs->store, place, INTAKE_LIMIT_NS, &count, &first);
    store_set_patience(runs->store, USUAL_PATIENCE_NS);
    if (first.code != 0)
        warn(runs, first.text);
    if (count.left > 0) {
        AUTO_FREE char *text =
            mem_printf(msg_plural(count.left, "%zu record waits for the next command",
                                  "%zu records wait for the next command"),
                       count.left);
        warn(runs, text);
    }
}

/* Ledgers of this size are derived anew in a second or two when their rows are of another version.
 */
#define REBUILD_AT_ONCE 1000

static void bring_up_to_date(struct runs *runs) {
    int derivation;
    struct store_info info;
    size_t journals;
    struct err err = ERR_INIT;
    if (store_get_derivation(runs->store, &derivation, &err) < 0 ||
        derivation >= STORE_DERIVATION || store_info(runs->store, runs->arena, &info, &err) < 0)
        return; /* what is wrong shows itself in what comes next */
    if (info.runs + info.events > REBUILD_AT_ONCE)
        warn(runs, _("the index of the ledger was written by an older version: 'probelauf ledger "
                     "rebuild' brings it up to date"));
    else if (ledger_rebuild_rows(runs->store, &journals, &err) < 0)
        warn(runs, err.text);
}

/* What is still in the journal folders after the intake. */
static void find_loose(struct runs *runs, const struct place *place) {
    AUTO_WAITING struct waiting waiting;
    waiting_find(place, &waiting);
    runs->loose = arena_alloc(runs->arena, (waiting.count + 1) * sizeof(*runs->loose));
    for (size_t i = 0; i < waiting.count; i++) {
        const char *path = arena_strdup(runs->arena, waiting.paths[i]);
        struct loose *loose = &runs->loose[runs->loose_count];
        struct err ignored = ERR_INIT; /* the intake has told */
        AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
        *loose = (struct loose){.path = path, .live = journal_is_live(path)};
        if (intake_read_file(path, &bytes, &ignored) == 0 &&
            intake_entry(strbuf_str(&bytes), bytes.length, loose->live, runs->arena, &loose->entry,
                         NULL, &ignored) == 0)
            runs->loose_count++;
    }
}

int runs_open(const struct place *place, struct runs **ret_runs, struct err *err) {
    AUTO_RUNS struct runs *runs = mem_alloc(sizeof(*runs));
    bool writable;
    runs->arena = arena_new();
    int rc = open_store(runs, place->ledger_url, &writable, err);
    if (rc < 0)
        return rc;
    if (writable) {
        bring_up_to_date(runs);
        take_in(runs, place);
    }
    find_loose(runs, place);
    *ret_runs = steal(runs);
    return 0;
}

/* ---- lists ---- */

/* Newest first, as store_list orders. */
static int by_time(const struct store_entry *a, const struct store_entry *b) {
    if (a->started_utc_ns != b->started_utc_ns)
        return a->started_utc_ns > b->started_utc_ns ? -1 : 1;
    int order = strcmp(b->run, a->run);
    return order ? order : strcmp(b->part, a->part);
}

static int by_time_void(const void *a, const void *b) {
    return by_time(a, b);
}

static bool is_same(const struct store_entry *a, const struct store_entry *b) {
    return strcmp(a->run, b->run) == 0 && strcmp(a->part, b->part) == 0;
}

static bool text_matches(const char *wanted, const char *text) {
    return !wanted || (text && strcmp(wanted, text) == 0);
}

/* Behind the place that query->after names, in the order of by_time. */
static bool is_after(const struct store_query *query, const struct store_entry *entry) {
    if (!query->after)
        return true;
    if (entry->started_utc_ns != query->after_utc_ns)
        return entry->started_utc_ns < query->after_utc_ns;
    int order = strcmp(entry->run, query->after);
    if (order != 0)
        return order < 0;
    return query->after_part && strcmp(entry->part, query->after_part) < 0;
}

/* The same conditions that store_list has as SQL. */
static bool entry_matches(const struct store_query *query, const struct store_entry *entry) {
    return text_matches(query->type, entry->type) && text_matches(query->about, entry->about) &&
           text_matches(query->study, entry->study) &&
           text_matches(query->outcome, entry->outcome) &&
           text_matches(query->purpose, entry->purpose) &&
           text_matches(query->group_key, entry->group_key) &&
           (!query->id_tail || str_ends_with(entry->run, query->id_tail)) &&
           (!query->text || (entry->command && strstr(entry->command, query->text))) &&
           (query->since_utc_ns == 0 || entry->started_utc_ns >= query->since_utc_ns) &&
           (query->until_utc_ns == 0 || entry->started_utc_ns < query->until_utc_ns) &&
           is_after(query, entry);
}

/* Start of the oldest part of a run; 0: not known here. */
static int start_of(struct runs *runs, const char *run, int64_t *ret_utc_ns, struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries = NULL;
    size_t count = 0;
    int64_t oldest = INT64_MAX;
    struct store_query query = {.id_tail = run};
    int rc = runs->store ? store_list(runs->store, &query, arena, &entries, &count, err) : 0;
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < count; i++)
        if (entries[i].started_utc_ns < oldest)
            oldest = entries[i].started_utc_ns;
    for (size_t i = 0; i < runs->loose_count; i++) {
        const struct store_entry *entry = &runs->loose[i].entry;
        if (strcmp(entry->run, run) == 0 && entry->started_utc_ns < oldest)
            oldest = entry->started_utc_ns;
    }
    if (oldest == INT64_MAX)
        return err_set(err, -ENOENT, "run-not-found", "there is no run '%s'", run);
    *ret_utc_ns = oldest;
    return 0;
}

static bool is_running(const struct store_entry *entry) {
    return entry->outcome && strcmp(entry->outcome, outcome_name(OUTCOME_RUNNING)) == 0;
}

/* query with `after` already a full id with its time. */
static int merge(struct runs *runs, const struct store_query *query, struct arena *arena,
                 struct store_entry **ret_entries, size_t *ret_count, struct err *err) {
    struct store_entry *stored = NULL;
    size_t stored_count = 0, count = 0;
    int rc = runs->store ? store_list(runs->store, query, arena, &stored, &stored_count, err) : 0;
    if (rc < 0)
        return rc;
    size_t room = stored_count + runs->loose_count + 1;
    struct store_entry *all = arena_alloc(arena, room * sizeof(*all));
    for (size_t i = 0; i < runs->loose_count; i++)
        if (entry_matches(query, &runs->loose[i].entry))
            all[count++] = runs->loose[i].entry;
    /* In both: taken in since we looked, then the ledger's row has its end; or taken in while its
     * writer was thought dead. */
    size_t loose = count;
    for (size_t i = 0; i < stored_count; i++) {
        size_t k = 0;
        while (k < loose && !is_same(&all[k], &stored[i]))
            k++;
        if (k == loose)
            all[count++] = stored[i];
        else if (!is_running(&all[k]))
            all[k] = stored[i];
    }
    if (count > 1)
        qsort(all, count, sizeof(*all), by_time_void);
    *ret_entries = all;
    *ret_count = query->limit != 0 && count > query->limit ? query->limit : count;
    return 0;
}

static int resolve(struct runs *runs, const char *ref, struct arena *arena, const char **ret_run,
                   struct err *err);

int runs_list(struct runs *runs, const struct store_query *query, struct arena *arena,
              struct store_entry **ret_entries, size_t *ret_count, struct err *err) {
    struct store_query full = *query;
    if (query->after) {
        int rc = resolve(runs, query->after, arena, &full.after, err);
        if (rc == 0 && full.after_utc_ns == 0)
            rc = start_of(runs, full.after, &full.after_utc_ns, err);
        if (rc < 0)
            return rc;
    }
    return merge(runs, &full, arena, ret_entries, ret_count, err);
}

/* ---- references ---- */

/* The n-th distinct run, newest first. Parts of one run may stand between others, so rows are asked
 * for until it is sure. */
static int resolve_number(struct runs *runs, const char *ref, struct arena *arena,
                          const char **ret_run, struct err *err) {
    uint64_t wanted = 0;
    if (str_to_u64(ref + 1, &wanted) < 0 || wanted == 0 || wanted > 1000000000)
        return err_set(err, -EINVAL, "run-not-found",
                       "'%s' names no run: write @1 for the latest, @2 for the one before", ref);
    for (size_t limit = (size_t)wanted;; limit *= 2) {
        struct store_query query = {.type = "run", .limit = limit};
        struct store_entry *entries;
        size_t count, distinct = 0;
        int rc = merge(runs, &query, arena, &entries, &count, err);
        if (rc < 0)
            return rc;
        for (size_t i = 0; i < count; i++) {
            size_t k = 0;
            while (k < i && strcmp(entries[k].run, entries[i].run) != 0)
                k++;
            if (k == i && ++distinct == wanted) {
                *ret_run = entries[i].run;
                return 0;
            }
        }
        if (count < limit && distinct == 0)
            return err_set(err, -ENOENT, "run-not-found",
                           "no run is recorded here yet: 'probelauf run -- COMMAND' makes one");
        if (count < limit)
            return err_set(err, -ENOENT, "run-not-found",
                           "there are only %zu runs, so no run '%s': 'probelauf log' lists them",
                           distinct, ref);
    }
}

static int resolve_tail(struct runs *runs, const char *ref, struct arena *arena,
                        const char **ret_run, struct err *err) {
    AUTO_FREE char *tail = mem_strdup(ref);
    for (char *c = tail; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'F' ? *c - 'A' + 'a' : *c);
    if (!*tail || strlen(tail) > 36 || tail[strspn(tail, "0123456789abcdef-")])
        return err_set(err, -EINVAL, "run-not-found",
                       "'%s' is no run: write an id, its last characters, or @1 for the latest",
                       ref);
    struct store_query query = {.type = "run", .id_tail = tail, .limit = 200};
    struct store_entry *entries;
    size_t count, distinct = 0;
    int rc = merge(runs, &query, arena, &entries, &count, err);
    if (rc < 0)
        return rc;
    const char *found[2] = {NULL, NULL};
    for (size_t i = 0; i < count && distinct < 2; i++)
        if (distinct == 0 || strcmp(found[0], entries[i].run) != 0)
            found[distinct++] = entries[i].run;
    if (distinct == 0)
        return err_set(err, -ENOENT, "run-not-found",
                       "there is no run that ends with '%s': 'probelauf log' lists them", ref);
    if (distinct > 1)
        return err_set(err, -EEXIST, "run-ambiguous",
                       "several runs end with '%s', among them %s and %s: write more characters",
                       ref, found[0], found[1]);
    *ret_run = found[0];
    return 0;
}

static int resolve(struct runs *runs, const char *ref, struct arena *arena, const char **ret_run,
                   struct err *err) {
    return ref[0] == '@' ? resolve_number(runs, ref, arena, ret_run, err)
                         : resolve_tail(runs, ref, arena, ret_run, err);
}

int runs_resolve(struct runs *runs, const char *ref, struct arena *arena,
                 struct store_entry *ret_entry, struct err *err) {
    const char *run = NULL;
    int rc = resolve(runs, ref, arena, &run, err);
    if (rc < 0)
        return rc;
    struct store_query query = {.type = "run", .id_tail = run};
    struct store_entry *entries;
    size_t count;
    rc = merge(runs, &query, arena, &entries, &count, err);
    if (rc < 0)
        return rc;
    if (count == 0) /* purged by another process meanwhile */
        return err_set(err, -ENOENT, "run-not-found", "there is no run '%s' any more", ref);
    *ret_entry = entries[count - 1]; /* of several parts the one that began first */
    return 0;
}

/* ---- loading ---- */

static const struct loose *find_loose_entry(const struct runs *runs,
                                            const struct store_entry *entry) {
    for (size_t i = 0; i < runs->loose_count; i++)
        if (is_same(&runs->loose[i].entry, entry))
            return &runs->loose[i];
    return NULL;
}

/* From the ledger if it is there, else from its file; the other way round while it is being
 * written. */
static int load_bytes(struct runs *runs, const struct store_entry *entry, void **ret_bytes,
                      size_t *ret_length, bool *ret_live, struct err *err) {
    const struct loose *loose = find_loose_entry(runs, entry);
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    bool live = loose && journal_is_live(loose->path);
    if (loose && intake_read_file(loose->path, &bytes, err) == 0) {
        *ret_live = live;
        *ret_length = bytes.length;
        *ret_bytes = strbuf_take(&bytes);
        return 0;
    }
    err_clear(err); /* gone: taken in by its recorder since we looked */
    *ret_live = false;
    if (runs->store)
        return store_get(runs->store, entry->run, entry->part, ret_bytes, ret_length, err);
    return err_set(err, -ENOENT, "run-not-found",
                   "the journal of run %s is gone and the ledger cannot be read", entry->run);
}

/* The EVENT record of an event's journal; NULL when it has none. */
static json_t *read_event(const void *bytes, size_t length) {
    struct journal_reader reader;
    struct journal_record record;
    struct err ignored = ERR_INIT;
    if (journal_reader_init(&reader, bytes, length, &ignored) < 0)
        return NULL;
    while (journal_reader_next(&reader, &record) > 0)
        if (record.kind == JOURNAL_EVENT)
            return journal_record_json(&record);
    return NULL;
}

int runs_load_events(struct runs *runs, const struct store_entry *const *entries, size_t count,
                     json_t **ret_events, struct err *err) {
    AUTO_JSON json_t *events = json_array();
    for (size_t i = 0; i < count; i++) {
        AUTO_FREE void *bytes = NULL;
        size_t length = 0;
        bool live;
        int rc = load_bytes(runs, entries[i], &bytes, &length, &live, err);
        if (rc < 0)
            return rc;
        json_t *event = read_event(bytes, length);
        if (event) {
            json_put_text(event, "id", entries[i]->run);
            json_array_append_new(events, event);
        }
    }
    *ret_events = steal(events);
    return 0;
}

int runs_events(struct runs *runs, const struct store_query *query, json_t **ret_events,
                struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_query full = *query;
    struct store_entry *entries;
    size_t count;
    full.type = "event";
    int rc = merge(runs, &full, arena, &entries, &count, err);
    if (rc < 0)
        return rc;
    const struct store_entry **oldest_first =
        arena_alloc(arena, (count + 1) * sizeof(*oldest_first));
    for (size_t i = 0; i < count; i++)
        oldest_first[i] = &entries[count - 1 - i];
    return runs_load_events(runs, oldest_first, count, ret_events, err);
}

int runs_load_entry(struct runs *runs, const struct store_entry *entry, bool with_series,
                    struct run **ret_run, struct err *err) {
    AUTO_FREE void *bytes = NULL;
    AUTO_JSON json_t *events = NULL;
    struct fold_input input = {.shared = &runs->shared};
    int rc = load_bytes(runs, entry, &bytes, &input.length, &input.live, err);
    if (rc == 0)
        rc = runs_events(runs, &(struct store_query){.about = entry->run}, &events, err);
    if (rc < 0)
        return rc;
    AUTO_FREE struct fold_event *said = mem_alloc((json_array_size(events) + 1) * sizeof(*said));
    for (size_t i = 0; i < json_array_size(events); i++)
        said[i].payload = json_array_get(events, i);
    input.bytes = bytes;
    input.events = said;
    input.event_count = json_array_size(events);
    rc = fold_run(&input, with_series, ret_run, err);
    return rc < 0 ? err_add(err, rc, "reading run %s", entry->run) : 0;
}

int runs_load(struct runs *runs, const char *ref, bool with_series, struct run **ret_run,
              struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry entry;
    int rc = runs_resolve(runs, ref, arena, &entry, err);
    return rc < 0 ? rc : runs_load_entry(runs, &entry, with_series, ret_run, err);
}

int runs_journal(struct runs *runs, const char *ref, void **ret_bytes, size_t *ret_length,
                 struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry entry;
    bool live;
    int rc = runs_resolve(runs, ref, arena, &entry, err);
    return rc < 0 ? rc : load_bytes(runs, &entry, ret_bytes, ret_length, &live, err);
}
