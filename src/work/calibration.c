/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads and writes events "review-outcome" (calibration.h). What they mean is decided in
 * rules/calibration.h. */
#include "work/calibration.h"

#include "base/clock.h"
#include "base/strbuf.h"
#include "work/event.h"

#include <errno.h>
#include <string.h>

#define EVENT_TYPE "review-outcome"

/* ---- reading ---- */

int work_calibration_read(struct runs *runs, struct arena *arena,
                          struct calibration_record **ret_records, size_t *ret_count,
                          struct err *err) {
    AUTO_JSON json_t *events = NULL;
    int rc = runs_events(runs, &(struct store_query){.purpose = EVENT_TYPE}, &events, err);
    if (rc < 0)
        return rc;
    size_t count = json_array_size(events), found = 0;
    struct calibration_record *records = arena_alloc(arena, (count + 1) * sizeof *records);
    for (size_t i = 0; i < count; i++)
        if (calibration_from_json(json_array_get(events, i), arena, &records[found]))
            found++;
    *ret_records = records;
    *ret_count = found;
    return 0;
}

/* now: what a review just said. */
static const struct calibration *make(struct runs *runs, const struct work_study *study,
                                      const struct calibration_record *now, size_t now_count,
                                      struct arena *arena) {
    struct calibration_record *records = NULL;
    struct err ignored = ERR_INIT; /* opening the ledger has told */
    size_t count = 0;
    if (runs_need_ledger(runs, &ignored) < 0 ||
        work_calibration_read(runs, arena, &records, &count, &ignored) < 0)
        return NULL;
    struct calibration *calibration = arena_alloc(arena, sizeof *calibration);
    calibration_make(records, count, now, now_count, study->plan->study.id, arena, calibration);
    return calibration;
}

void work_calibration_of_review(struct runs *runs, const struct work_study *study,
                                struct arena *arena, struct review *review) {
    review->calibration = make(runs, study, review->outcomes, review->outcome_count, arena);
}

void work_calibration_of_estimate(struct runs *runs, const struct work_study *study,
                                  struct arena *arena, struct estimate *estimate) {
    const struct calibration *calibration = make(runs, study, NULL, 0, arena);
    if (calibration)
        calibration_apply(calibration, estimate, arena);
}

/* ---- writing ---- */

static json_t *make_event(const struct calibration_record *record) {
    json_t *event = event_begin(EVENT_TYPE, clock_utc_ns());
    json_put_text(event, "study", record->study);
    json_put_text(event, "block", record->block);
    if (record->environment)
        json_put_text(event, "environment", record->environment);
    if (record->version)
        json_put_text(event, "paper_version", record->version);
    json_put(event, "outcome", calibration_to_json(record));
    return event;
}

static bool is_same_text(const json_t *a, const json_t *b, const char *key) {
    const char *x = json_get_text(a, key, ""), *y = json_get_text(b, key, "");
    return strcmp(x, y) == 0;
}

static bool is_about_same(const json_t *a, const json_t *b) {
    return is_same_text(a, b, "type") && is_same_text(a, b, "study") &&
           is_same_text(a, b, "block") && is_same_text(a, b, "environment") &&
           is_same_text(a, b, "paper_version");
}

/* As text: numbers are kept with as many digits as a record has. */
static bool says_same(const json_t *a, const json_t *b) {
    AUTO_STRBUF struct strbuf x = STRBUF_INIT, y = STRBUF_INIT;
    json_add_compact(&x, json_get_object(a, "outcome"));
    json_add_compact(&y, json_get_object(b, "outcome"));
    return strcmp(strbuf_str(&x), strbuf_str(&y)) == 0;
}

/* text: the event that is to be written. -EEXIST: there is nothing new in it. */
static int check_is_new(const json_t *events, const char *text, struct err *err) {
    char why[160];
    AUTO_JSON json_t *event = json_parse(text, strlen(text), why);
    const json_t *last = NULL;
    for (size_t i = 0; i < json_array_size(events); i++)
        if (is_about_same(json_array_get(events, i), event))
            last = json_array_get(events, i);
    const json_t *parts = json_get_array(json_get_object(event, "outcome"), "parts");
    if (last ? says_same(last, event) : json_array_size(parts) == 0)
        return err_set(err, -EEXIST, "outcome-kept", "the outcome is kept already");
    return 0;
}

static int keep_one(struct work_study *study, const struct place *place, struct runs *runs,
                    const struct calibration_record *record, struct err *err) {
    AUTO_JSON json_t *event = make_event(record);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_add_compact(&text, event);
    int rc = work_study_keep(study, place, runs, event, strbuf_str(&text), check_is_new, err);
    if (rc != -EEXIST)
        return rc;
    err_clear(err);
    return 0;
}

int work_calibration_keep(struct work_study *study, const struct place *place, struct runs *runs,
                          const struct review *review, struct err *err) {
    int rc = 0;
    for (size_t i = 0; i < review->outcome_count && rc == 0; i++)
        rc = keep_one(study, place, runs, &review->outcomes[i], err);
    return rc;
}
