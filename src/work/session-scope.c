/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which records of sessions have to be read for a question about now, about one session, or about
 * one run: by the index alone, so that the sessions of years cost nothing. Reads too much rather
 * than too little: a record that the index does not know the type of is always read.
 */
#include "work/session-parts.h"

#include <stdlib.h>
#include <string.h>

/* Of two records of one machine the later one may bear a UTC that is a little earlier. */
#define MARGIN_NS (10 * NS_PER_S)

struct known { /* a session, as far as the index tells */
    const char *id;
    int64_t start_utc_ns, stop_utc_ns; /* stop INT64_MAX: none */
    bool is_wanted;
};

struct index {
    const struct store_entry *entries; /* newest first */
    size_t entry_count;
    struct known *known; /* by id */
    size_t known_count;
};

static bool is_type(const struct store_entry *entry, const char *type) {
    return entry->purpose && strcmp(entry->purpose, type) == 0;
}

static int by_id(const void *a, const void *b) {
    const struct known *x = a, *y = b;
    return strcmp(x->id, y->id);
}

static struct known *find_known(const struct index *index, const char *id) {
    const struct known key = {.id = id};
    return id && index->known_count > 0
               ? bsearch(&key, index->known, index->known_count, sizeof(key), by_id)
               : NULL;
}

static int read_index(struct runs *runs, struct arena *arena, struct index *index,
                      struct err *err) {
    struct store_entry *entries = NULL;
    int rc = runs_list(runs, &(struct store_query){.type = "event"}, arena, &entries,
                       &index->entry_count, err);
    if (rc < 0)
        return rc;
    index->entries = entries;
    index->known = arena_alloc(arena, (index->entry_count + 1) * sizeof(*index->known));
    for (size_t i = 0; i < index->entry_count; i++)
        if (is_type(&entries[i], "session-start"))
            index->known[index->known_count++] =
                (struct known){entries[i].run, entries[i].started_utc_ns, INT64_MAX, false};
    if (index->known_count > 1)
        qsort(index->known, index->known_count, sizeof(*index->known), by_id);
    for (size_t i = 0; i < index->entry_count; i++) {
        struct known *known =
            is_type(&entries[i], "session-stop") ? find_known(index, entries[i].about) : NULL;
        if (known &&
            (known->stop_utc_ns == INT64_MAX || known->stop_utc_ns < entries[i].started_utc_ns))
            known->stop_utc_ns = entries[i].started_utc_ns;
    }
    return 0;
}

static int load(struct runs *runs, const struct index *index, struct arena *arena,
                json_t **ret_events, struct err *err) {
    const struct store_entry **wanted =
        arena_alloc(arena, (index->entry_count + 1) * sizeof(*wanted));
    size_t count = 0;
    for (size_t i = index->entry_count; i > 0; i--) {
        const struct store_entry *entry = &index->entries[i - 1];
        bool is_start = is_type(entry, "session-start");
        const struct known *known = find_known(index, is_start ? entry->run : entry->about);
        bool of_session =
            is_start || is_type(entry, "session-stop") || is_type(entry, "session-note");
        if (!entry->purpose || (of_session && known && known->is_wanted))
            wanted[count++] = entry;
    }
    return runs_load_events(runs, wanted, count, ret_events, err);
}

/* An index may hold anything. */
static int64_t earlier(int64_t utc_ns) {
    return utc_ns > MARGIN_NS ? utc_ns - MARGIN_NS : 0;
}

static int64_t later(int64_t utc_ns) {
    return utc_ns < INT64_MAX - MARGIN_NS ? utc_ns + MARGIN_NS : INT64_MAX;
}

static void want(struct index *index, int64_t from_utc_ns, int64_t to_utc_ns) {
    for (size_t i = 0; i < index->known_count; i++) {
        struct known *known = &index->known[i];
        known->is_wanted |= known->stop_utc_ns == INT64_MAX ||
                            (known->stop_utc_ns >= from_utc_ns && known->start_utc_ns <= to_utc_ns);
    }
}

/* What runs here began then, if that is earlier. */
static int64_t find_began(const json_t *events, int64_t since_utc_ns,
                          const struct session_moment *now) {
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        int64_t began = json_get_int(event, "began_utc_ns", 0);
        struct session_moment moment;
        if (strcmp(json_get_text(event, "type", ""), "session-start") != 0 ||
            !session_moment_of_event(event, &moment) || !session_is_here(&moment, now))
            continue;
        if (began <= 0 || began > moment.utc_ns)
            began = moment.utc_ns;
        since_utc_ns = began < since_utc_ns ? began : since_utc_ns;
    }
    return since_utc_ns;
}

int work_session_events_since(struct runs *runs, int64_t since_utc_ns, json_t **ret_events,
                              struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_JSON json_t *unstopped = NULL;
    struct index index = {0};
    const struct session_moment now = work_session_now(arena);
    int rc = read_index(runs, arena, &index, err);
    want(&index, INT64_MAX, INT64_MAX);
    rc = rc < 0 ? rc : load(runs, &index, arena, &unstopped, err);
    if (rc < 0)
        return rc;
    want(&index, earlier(find_began(unstopped, since_utc_ns, &now)), INT64_MAX);
    return load(runs, &index, arena, ret_events, err);
}

int work_session_events_of(struct runs *runs, const char *id, json_t **ret_events,
                           struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct index index = {0};
    int rc = read_index(runs, arena, &index, err);
    if (rc < 0)
        return rc;
    struct known *known = find_known(&index, id);
    if (known) {
        known->is_wanted = true;
        want(&index, earlier(known->start_utc_ns), later(known->stop_utc_ns));
    }
    return load(runs, &index, arena, ret_events, err);
}
