/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the newest kept estimate of each study. Reads no plan but the one at hand. */
#include "work/studies.h"

#include "work/event.h"

#include <string.h>

void work_studies_done(struct work_studies *studies) {
    json_decref_ptr(&studies->events);
    studies->arena = arena_free(studies->arena);
    *studies = (struct work_studies){0};
}

static bool is_among(const char *const *ids, size_t count, const char *id) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(ids[i], id) == 0)
            return true;
    return false;
}

/* Ids of all studies that have records, each once. */
static int find_studies(struct runs *runs, struct arena *arena, const char *const **ret_ids,
                        size_t *ret_count, struct err *err) {
    struct store_entry *entries = NULL;
    size_t count = 0, found = 0;
    int rc = runs_list(runs, &(struct store_query){0}, arena, &entries, &count, err);
    if (rc < 0)
        return rc;
    const char **ids = arena_alloc(arena, (count + 1) * sizeof(*ids));
    for (size_t i = 0; i < count; i++)
        if (entries[i].study && !is_among(ids, found, entries[i].study))
            ids[found++] = entries[i].study;
    *ret_ids = (const char *const *)ids;
    *ret_count = found;
    return 0;
}

/* The newest kept estimate, a new reference; NULL: there is none. */
static int find_newest(struct runs *runs, const char *study, json_t **ret_event, struct err *err) {
    AUTO_JSON json_t *events = NULL;
    *ret_event = NULL;
    int rc = runs_events(runs, &(struct store_query){.study = study}, &events, err);
    if (rc < 0)
        return rc;
    for (size_t i = json_array_size(events); i > 0 && !*ret_event; i--) {
        json_t *event = json_array_get(events, i - 1);
        if (strcmp(json_get_text(event, "type", ""), "estimate") == 0 &&
            event_get_estimate(event, NULL))
            *ret_event = json_incref(event);
    }
    return 0;
}

static void check_at_hand(const struct work_study *at_hand, struct studies_input *input) {
    struct work_frozen *frozen;
    if (!at_hand || !at_hand->plan->study.id || strcmp(at_hand->plan->study.id, input->study) != 0)
        return;
    size_t count = work_estimate_frozen(at_hand, &frozen);
    for (size_t i = 0; i < count; i++)
        if (strcmp(frozen[i].event, input->event) == 0) {
            input->outdated = frozen[i].outdated;
            input->state = frozen[i].outdated ? STUDIES_OUTDATED : STUDIES_CURRENT;
        }
}

int work_studies_open(struct runs *runs, const struct work_study *at_hand, struct work_studies *ret,
                      struct err *err) {
    *ret = (struct work_studies){.arena = arena_new(), .events = json_array()};
    const char *const *ids = NULL;
    size_t count = 0, found = 0;
    int rc = runs_need_ledger(runs, err);
    if (rc == 0)
        rc = find_studies(runs, ret->arena, &ids, &count, err);
    if (rc < 0)
        return rc;
    struct studies_input *inputs = arena_alloc(ret->arena, (count + 1) * sizeof(*inputs));
    for (size_t i = 0; i < count; i++) {
        json_t *event = NULL;
        struct err one = ERR_INIT;
        ret->unreadable += find_newest(runs, ids[i], &event, &one) < 0;
        ret->without += event == NULL;
        if (!event)
            continue;
        json_array_append_new(ret->events, event);
        inputs[found] = (struct studies_input){
            .study = ids[i],
            .title = json_get_text(event, "title", NULL),
            .name = json_get_text(event, "name", ""),
            .event = json_get_text(event, "id", ""),
            .environment = json_get_text(event, "environment", NULL),
            .utc_ns = json_get_int(event, "utc_ns", 0),
            .estimate = json_get_object(event, "estimate"),
        };
        check_at_hand(at_hand, &inputs[found++]);
    }
    studies_sum(inputs, found, ret->arena, &ret->studies);
    return 0;
}
