/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads kept estimates and answers out of the study's events. What they mean is decided in
 * rules/review.h; nothing that was recorded is changed.
 */
#include "work/review.h"

#include "base/clock.h"
#include "base/msg.h"
#include "base/str.h"
#include "work/event.h"

#include <errno.h>
#include <string.h>

static const char *const parts[] = {
    "prepare",      "data",          "transfer",
    "runs",         "runs/load",     "runs/preprocess",
    "runs/compute", "runs/write",    "runs/unattributed",
    "retries",      "retries/count", "fixing",
    "checking",     "teardown",      "idle",
    "memory/host",  "memory/gpu",    NULL,
};

const char *work_review_part(size_t index) {
    return index < ARRAY_LENGTH(parts) ? parts[index] : NULL;
}

static int check_block(const struct plan *plan, const char *id, struct err *err) {
    if (plan_block_find(plan, id))
        return 0;
    AUTO_FREE const char **ids = mem_alloc((plan->block_count + 1) * sizeof *ids);
    for (size_t i = 0; i < plan->block_count; i++)
        ids[i] = plan->blocks[i].id;
    const char *near = str_nearest(id, ids, plan->block_count);
    return near ? err_set(err, -ENOENT, "block-unknown",
                          "the plan has no block '%s'; did you mean '%s'?", id, near)
                : err_set(err, -ENOENT, "block-unknown",
                          "the plan has no block '%s'; 'probelauf block list' lists them", id);
}

static int check_name(const struct work_frozen *frozen, size_t count, const char *name,
                      struct err *err) {
    AUTO_FREE const char **names = mem_alloc((count + 1) * sizeof *names);
    for (size_t i = 0; i < count; i++) {
        names[i] = frozen[i].name;
        if (strcmp(names[i], name) == 0 && !frozen[i].estimate)
            return err_set(err, -EPROTO, "estimate-foreign", "the frozen estimate '%s': %s", name,
                           frozen[i].outdated);
        if (strcmp(names[i], name) == 0)
            return 0;
    }
    const char *near = str_nearest(name, names, count);
    return near
               ? err_set(err, -ENOENT, "estimate-unknown",
                         "there is no frozen estimate '%s'; did you mean '%s'?", name, near)
               : err_set(err, -ENOENT, "estimate-unknown",
                         "there is no frozen estimate '%s'; 'probelauf estimate' lists them", name);
}

static size_t find_answers(const struct work_study *study, struct arena *arena,
                           struct review_answer **ret) {
    size_t count = json_array_size(study->events), found = 0;
    struct review_answer *answers = arena_alloc(arena, (count + 1) * sizeof *answers);
    for (size_t i = 0; i < count; i++) {
        const json_t *event = json_array_get(study->events, i);
        struct review_answer answer = {
            .block = json_get_text(event, "block", NULL),
            .part = json_get_text(event, "part", NULL),
            .why = json_get_text(event, "why", ""),
            .who = json_get_text(event, "who", ""),
            .utc_ns = json_get_int(event, "utc_ns", 0),
        };
        if (strcmp(json_get_text(event, "type", ""), "review-answer") == 0 && answer.block &&
            answer.part && review_cause_from_name(json_get_text(event, "cause", ""), &answer.cause))
            answers[found++] = answer;
    }
    *ret = answers;
    return found;
}

int work_review_make(struct work_study *study, const struct estimate *estimate,
                     const struct work_review_options *options, struct arena *arena,
                     struct review *ret, struct err *err) {
    struct work_frozen *frozen;
    struct review_answer *answers;
    size_t count = work_estimate_frozen(study, &frozen);
    int rc = options->block ? check_block(study->plan, options->block, err) : 0;
    rc = rc < 0 || !options->name ? rc : check_name(frozen, count, options->name, err);
    if (rc < 0)
        return rc;
    struct review_kept *kept = arena_alloc(arena, (count + 1) * sizeof *kept);
    for (size_t i = 0; i < count; i++) /* newest first */
        kept[count - 1 - i] = (struct review_kept){.name = frozen[i].name,
                                                   .utc_ns = frozen[i].utc_ns,
                                                   .estimate = frozen[i].estimate,
                                                   .outdated = frozen[i].outdated};
    struct review_input *input = arena_alloc(arena, sizeof *input);
    *input = (struct review_input){
        .study = &study->study,
        .estimate = estimate,
        .kept = kept,
        .kept_count = count,
        .name = options->name,
        .block = options->block,
        .answer_count = find_answers(study, arena, &answers),
    };
    input->answers = answers;
    review_make(input, arena, ret);
    return 0;
}

/* ---- answers ---- */

static int check_part(const char *part, struct err *err) {
    size_t count = ARRAY_LENGTH(parts) - 1;
    for (size_t i = 0; i < count; i++)
        if (strcmp(parts[i], part) == 0)
            return 0;
    const char *near = str_nearest(part, parts, count);
    return near ? err_set(err, -EINVAL, "review-part",
                          "a review has no part '%s'; did you mean '%s'?", part, near)
                : err_set(err, -EINVAL, "review-part",
                          "a review has no part '%s'; 'probelauf review --json' names them", part);
}

static int check_cause(const char *name, struct err *err) {
    enum review_cause cause;
    const char *names[REVIEW_CAUSE_COUNT_];
    if (review_cause_from_name(name, &cause) && cause != REVIEW_OPEN)
        return 0;
    for (int i = 0; i < REVIEW_CAUSE_COUNT_; i++)
        names[i] = review_cause_name((enum review_cause)i);
    const char *near = str_nearest(name, names, REVIEW_CAUSE_COUNT_);
    return near && strcmp(near, name) != 0
               ? err_set(err, -EINVAL, "review-cause", "'%s' is no cause; did you mean '%s'?", name,
                         near)
               : err_set(err, -EINVAL, "review-cause",
                         "'%s' is no cause that answers anything; 'probelauf help review' lists "
                         "them",
                         name);
}

int work_review_write(struct work_study *study, const struct place *place, struct store *store,
                      const struct work_review_answer *answer, struct err *err) {
    char id[UUID_TEXT_SIZE];
    int rc = check_block(study->plan, answer->block, err);
    rc = rc < 0 ? rc : check_part(answer->part, err);
    rc = rc < 0 ? rc : check_cause(answer->cause, err);
    if (rc == 0 && answer->why[strspn(answer->why, " \t\n")] == '\0')
        rc = err_set(err, -EINVAL, "review-why", "'--why' is empty: say what shows the cause");
    if (rc < 0)
        return rc;
    AUTO_JSON json_t *event = event_begin("review-answer", clock_utc_ns());
    json_put_text(event, "study", study->plan->study.id);
    json_put_text(event, "block", answer->block);
    json_put_text(event, "part", answer->part);
    json_put_text(event, "cause", answer->cause);
    event_put_text(event, "why", answer->why);
    return event_write(place, store, study->plan->study.id, event, id, err);
}
