/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conditions of other studies (past.h). The rows of the index tell which runs may be repeats of one
 * another, so that only those are read: a ledger without any costs one query. Which runs count is
 * decided in rules/comparable.h, not here.
 */
#include "work/past.h"

#include "base/msg.h"
#include "base/str.h"
#include "base/strbuf.h"
#include "rules/comparable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_ID 8u /* last characters of a study's id, as one would name a run */

/* A condition as it is found, its newest run first. */
struct found {
    const char *key;       /* of all that must be the same; in the arena */
    struct run *reference; /* the newest one; owned */
    size_t count;
};

struct observation {
    size_t condition; /* index into found */
    double seconds;
};

struct search {
    struct arena *arena;
    struct found *found;
    size_t found_count;
    struct observation *observed; /* of a condition newest first */
    size_t observed_count;
};

/* ---- the rows that may be repeats ---- */

static bool is_candidate(const struct store_entry *entry, const char *study) {
    return entry->study && (!study || strcmp(entry->study, study) != 0) && entry->group_key &&
           entry->has_wall && entry->wall_bound && strcmp(entry->wall_bound, "exact") == 0;
}

static int compare_groups(const struct store_entry *a, const struct store_entry *b) {
    int order = strcmp(a->study, b->study);
    return order != 0 ? order : strcmp(a->group_key, b->group_key);
}

/* Within a group as they stand in the list: newest first. */
static int compare_rows(const void *a, const void *b) {
    const struct store_entry *x = *(const struct store_entry *const *)a;
    const struct store_entry *y = *(const struct store_entry *const *)b;
    int order = compare_groups(x, y);
    return order != 0 ? order : (x > y) - (x < y);
}

struct group {                       /* rows of one command, condition and folder of a study */
    const struct store_entry **rows; /* newest first */
    size_t count;
};

/* That of the newest run first. */
static int compare_newest(const void *a, const void *b) {
    const struct group *x = a, *y = b;
    return (x->rows[0] > y->rows[0]) - (x->rows[0] < y->rows[0]);
}

/* Finds the groups of at least two among the rows, and sorts these by them. A long group has its
 * first runs: they tell what a first run does to the later ones. */
static size_t find_groups(const struct store_entry **rows, size_t count, struct group *ret) {
    size_t found = 0;
    qsort(rows, count, sizeof *rows, compare_rows);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count; end++)
            if (compare_groups(rows[begin], rows[end]) != 0)
                break;
        size_t size = end - begin;
        size_t taken = size > WORK_PAST_EACH_MAX ? WORK_PAST_EACH_MAX : size;
        if (size > 1)
            ret[found++] = (struct group){rows + end - taken, taken};
    }
    return found;
}

/* Rows that may be repeats of one another, those of a group together, newest first. At most
 * WORK_PAST_RUNS_MAX, whole groups. */
static size_t choose(const struct store_entry *entries, size_t count, const char *study,
                     struct arena *scratch, const struct store_entry ***ret_rows) {
    const struct store_entry **candidates = arena_alloc(scratch, (count + 1) * sizeof *candidates);
    struct group *groups = arena_alloc(scratch, (count + 1) * sizeof *groups);
    size_t candidate_count = 0, chosen = 0;
    for (size_t i = 0; i < count; i++)
        if (is_candidate(&entries[i], study))
            candidates[candidate_count++] = &entries[i];
    if (candidate_count == 0)
        return 0;
    size_t group_count = find_groups(candidates, candidate_count, groups);
    if (group_count > 1)
        qsort(groups, group_count, sizeof *groups, compare_newest);
    *ret_rows = arena_alloc(scratch, WORK_PAST_RUNS_MAX * sizeof **ret_rows);
    for (size_t i = 0; i < group_count && chosen + groups[i].count <= WORK_PAST_RUNS_MAX; i++)
        for (size_t k = 0; k < groups[i].count; k++)
            (*ret_rows)[chosen++] = groups[i].rows[k];
    return chosen;
}

/* ---- the runs ---- */

static const char *text_of(const struct run *run, const char *key) {
    return json_get_text(run->start, key, "");
}

/* NULL: the run belongs to no condition. Names have no line breaks that could be mistaken. */
static const char *key_of(const struct run *run, struct arena *arena) {
    if (!run->study || !*text_of(run, "block") || !*text_of(run, "condition_id"))
        return NULL;
    return arena_printf(arena, "%s\n%s\n%s\n%s\n%s", run->study, text_of(run, "block"),
                        text_of(run, "condition_id"), text_of(run, "environment_id"),
                        json_get_text(run->environment, "fingerprint", ""));
}

static void take_run(struct search *search, struct run **run) {
    const char *why;
    const char *key = key_of(*run, search->arena);
    size_t i = 0;
    if (!key || !comparable_is_usable(*run, &why) || !isfinite((*run)->wall.value))
        return;
    while (i < search->found_count && strcmp(search->found[i].key, key) != 0)
        i++;
    if (i < search->found_count && !comparable_counts(*run, search->found[i].reference, &why))
        return;
    search->observed[search->observed_count++] = (struct observation){i, (*run)->wall.value};
    if (i == search->found_count)
        search->found[search->found_count++] = (struct found){.key = key, .reference = steal(*run)};
    search->found[i].count++;
}

/* A record that cannot be read is passed over: 'ledger check' tells of it. */
static void read_runs(struct search *search, struct runs *runs,
                      const struct store_entry *const *rows, size_t count) {
    AUTO_JSON json_t *read = json_object(); /* ids: parts of one run are one observation */
    for (size_t i = 0; i < count; i++) {
        AUTO_RUN struct run *run = NULL;
        struct err one = ERR_INIT;
        if (json_object_get(read, rows[i]->run) ||
            runs_load_entry(runs, rows[i], false, &run, &one) < 0)
            continue;
        json_put(read, rows[i]->run, json_true());
        take_run(search, &run);
    }
}

static void search_done(struct search *search) {
    for (size_t i = 0; i < search->found_count; i++)
        search->found[i].reference = run_free(search->found[i].reference);
}

/* ---- what they are called ---- */

/* "size=2 policy=evict": as it was given; without that all its parameters, or the block. */
static const char *condition_text(const struct run *run, struct arena *arena) {
    json_t *pairs = json_get_object(run->start, "condition");
    if (json_object_size(pairs) == 0)
        pairs = json_get_object(run->start, "parameters");
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    const char *name;
    json_t *value;
    json_object_foreach (pairs, name, value) {
        const char *is = json_is_string(value) ? json_string_value(value) : "";
        if (text.length > 0)
            strbuf_add_char(&text, ' ');
        str_add_printable(&text, name, strlen(name));
        strbuf_add_char(&text, '=');
        str_add_printable(&text, is, strlen(is));
    }
    if (text.length == 0)
        str_add_printable(&text, text_of(run, "block"), strlen(text_of(run, "block")));
    return arena_strdup(arena, strbuf_str(&text));
}

/* Title at its newest kept estimate, the only record that has one; NULL: there is none. */
static const char *find_title(struct runs *runs, const char *study, struct arena *arena) {
    AUTO_JSON json_t *events = NULL;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    struct err ignored = ERR_INIT;
    const struct store_query query = {.study = study, .purpose = "estimate", .limit = 1};
    if (runs_events(runs, &query, &events, &ignored) < 0)
        return NULL;
    const char *title = json_get_text(json_array_get(events, 0), "title", "");
    str_add_printable(&text, title, strlen(title));
    return *title ? arena_strdup(arena, strbuf_str(&text)) : NULL;
}

struct names { /* of the studies, each looked up once */
    const char *study[WORK_PAST_TITLES], *name[WORK_PAST_TITLES];
    size_t count;
};

static const char *name_of(struct names *names, struct runs *runs, const char *study,
                           struct arena *arena) {
    size_t length = strlen(study);
    const char *name = study + (length > SHORT_ID ? length - SHORT_ID : 0);
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->study[i], study) == 0)
            return names->name[i];
    if (names->count == WORK_PAST_TITLES)
        return name;
    const char *title = find_title(runs, study, arena);
    names->study[names->count] = study;
    names->name[names->count++] = title ? title : name;
    return title ? title : name;
}

/* ---- all of it ---- */

/* Oldest first. */
static const double *seconds_of(const struct search *search, size_t condition) {
    size_t count = 0;
    double *seconds = arena_alloc(search->arena, search->found[condition].count * sizeof *seconds);
    for (size_t i = search->observed_count; i > 0; i--)
        if (search->observed[i - 1].condition == condition)
            seconds[count++] = search->observed[i - 1].seconds;
    return seconds;
}

static void describe(const struct search *search, struct runs *runs, struct work_past *ret) {
    struct arena *arena = search->arena;
    size_t room = search->found_count + 1;
    struct history_condition *conditions = arena_alloc(arena, room * sizeof *conditions);
    struct study_past *of = arena_alloc(arena, room * sizeof *of);
    struct names names = {.count = 0};
    size_t count = 0;
    for (size_t i = 0; i < search->found_count; i++) {
        const struct run *run = search->found[i].reference;
        if (search->found[i].count < 2)
            continue;
        const char *environment = text_of(run, "environment_id");
        of[count] = (struct study_past){
            .study = arena_strdup(arena, run->study),
            .block = arena_strdup(arena, text_of(run, "block")),
            .condition = condition_text(run, arena),
            .environment = *environment ? arena_strdup(arena, environment) : NULL,
        };
        conditions[count] = (struct history_condition){
            .name = search->found[i].key,
            .label =
                arena_printf(arena, _("study '%s': %s"),
                             name_of(&names, runs, of[count].study, arena), of[count].condition),
            .family = arena_printf(arena, "%s/%s", of[count].study, of[count].block),
            .seconds = seconds_of(search, i),
            .count = search->found[i].count,
        };
        count++;
    }
    *ret = (struct work_past){.conditions = conditions, .of = of, .count = count};
}

int work_past_find(struct runs *runs, const char *study, struct arena *arena, struct work_past *ret,
                   struct err *err) {
    AUTO_ARENA struct arena *scratch = arena_new();
    const struct store_query query = {
        .type = "run", .outcome = outcome_name(OUTCOME_OK), .limit = WORK_PAST_ROWS_MAX};
    struct store_entry *entries = NULL;
    size_t count = 0;
    *ret = (struct work_past){.count = 0};
    int rc = runs_list(runs, &query, scratch, &entries, &count, err);
    if (rc < 0)
        return rc;
    const struct store_entry **rows = NULL;
    size_t chosen = choose(entries, count, study, scratch, &rows);
    if (chosen == 0)
        return 0;
    struct search search = {
        .arena = arena,
        .found = arena_alloc(scratch, chosen * sizeof *search.found),
        .observed = arena_alloc(scratch, chosen * sizeof *search.observed),
    };
    read_runs(&search, runs, rows, chosen);
    describe(&search, runs, ret);
    search_done(&search);
    return 0;
}
