/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Kept outcomes beside an estimate (calibration.h): the corrected interval of its figures, and how
 * closed blocks came out against what was planned. Must not change what the estimate states.
 */
#include "rules/calibration.h"

#include "base/msg.h"
#include "forecast/conformal.h"
#include "forecast/predict.h"

#include <math.h>
#include <string.h>

struct teaching {
    const struct calibration *calibration;
    const struct study *study;
    struct arena *arena;
    double *two_sided, *below, *above; /* scores, room for one a record */
    double *ratios;
};

/* ---- which outcomes ---- */

/* Of a block of this study that has runs to do again: what was kept of it is about to change. */
static bool is_under_way(const struct study *study, const struct calibration_record *record) {
    const struct study_input *input = study->input;
    const struct calibration_record here = {
        .study = input->plan->study.id,
        .block = record->block,
        .environment = input->environment ? input->environment->id : NULL,
        .version = input->plan->study.paper_version,
    };
    if (!calibration_is_same(&here, record))
        return false;
    for (size_t i = 0; i < study->block_count; i++)
        if (strcmp(study->blocks[i].block->id, record->block) == 0)
            return study->blocks[i].state != STUDY_DONE;
    return false;
}

static const struct calibration_part *find_part(const struct teaching *t, size_t index,
                                                const char *name) {
    const struct calibration_record *record = &t->calibration->records[index];
    if (record->reviewed_utc_ns >= t->study->input->now_utc_ns || is_under_way(t->study, record))
        return NULL;
    for (size_t i = 0; i < record->part_count; i++)
        if (strcmp(record->parts[i].part, name) == 0)
            return &record->parts[i];
    return NULL;
}

/* Another method's intervals miss in another way. */
static bool is_of_method(const struct calibration_record *record) {
    return record->method && strcmp(record->method, ESTIMATE_METHOD) == 0;
}

/* An actual that was cut off lies at least so far out: nobody knows how far. */
static size_t add_score(const struct calibration_part *part, struct teaching *t, size_t count) {
    struct conformal_score score;
    if (!part->has_interval || part->state != QUANTITY_ESTIMATED ||
        fabs(part->level - PREDICT_LEVEL) >= 1e-9 ||
        !conformal_score(part->p05, part->p95, part->actual, &score))
        return count;
    if (part->bound != QUANTITY_EXACT)
        score = (struct conformal_score){INFINITY, INFINITY, INFINITY};
    t->two_sided[count] = score.two_sided;
    t->below[count] = score.below;
    t->above[count] = score.above;
    return count + 1;
}

static size_t find_scores(struct teaching *t, const char *part) {
    size_t count = 0;
    for (size_t i = 0; i < t->calibration->count; i++) {
        const struct calibration_part *found = find_part(t, i, part);
        if (found && is_of_method(&t->calibration->records[i]))
            count = add_score(found, t, count);
    }
    return count;
}

/* ---- the outside view ---- */

static struct calibrated_ratio find_ratio(const struct teaching *t, const char *part) {
    struct calibrated_ratio ratio = {0};
    for (size_t i = 0; i < t->calibration->count; i++) {
        const struct calibration_part *found = find_part(t, i, part);
        if (found && found->bound == QUANTITY_EXACT && found->planned > 0.0)
            t->ratios[ratio.count++] = found->actual / found->planned;
    }
    ratio.is_told = ratio.count >= CALIBRATION_RATIO_LEAST;
    if (!ratio.is_told)
        return ratio;
    ratio.median = predict_median(t->ratios, ratio.count);
    ratio.least = ratio.most = t->ratios[0];
    for (size_t i = 1; i < ratio.count; i++) {
        ratio.least = fmin(ratio.least, t->ratios[i]);
        ratio.most = fmax(ratio.most, t->ratios[i]);
    }
    return ratio;
}

/* ---- one figure ---- */

static const char *why_not(const struct quantity *stated, size_t outcomes, struct arena *arena) {
    if (outcomes < CONFORMAL_TWO_SIDED_LEAST)
        return arena_printf(arena,
                            msg_plural((unsigned long)outcomes,
                                       "%zu reviewed block so far, and it takes %u",
                                       "%zu reviewed blocks so far, and it takes %u"),
                            outcomes, CONFORMAL_TWO_SIDED_LEAST);
    if (!quantity_is_known(stated) || !stated->has_interval)
        return _("no interval is stated");
    if (stated->state != QUANTITY_ESTIMATED)
        return _("it holds assumptions, and no outcome says how wrong those are");
    return NULL;
}

static void add_bounds(const struct teaching *t, const struct quantity *stated,
                       struct calibrated_figure *ret) {
    double below, above, unused;
    ret->has_bounds = conformal_quantile(t->below, ret->outcomes, CONFORMAL_ONE_SIDED, &below) &&
                      conformal_quantile(t->above, ret->outcomes, CONFORMAL_ONE_SIDED, &above) &&
                      conformal_widen(stated->p05, stated->p95, below, &ret->low, &unused) &&
                      conformal_widen(stated->p05, stated->p95, above, &unused, &ret->high);
}

static void correct(struct teaching *t, const struct quantity *stated, const char *part,
                    struct calibrated_figure *ret) {
    double score;
    *ret = (struct calibrated_figure){.outcomes = find_scores(t, part)};
    ret->ratio = find_ratio(t, part);
    ret->why = why_not(stated, ret->outcomes, t->arena);
    if (ret->why)
        return;
    if (!conformal_quantile(t->two_sided, ret->outcomes, CONFORMAL_TWO_SIDED, &score) ||
        !conformal_widen(stated->p05, stated->p95, score, &ret->p05, &ret->p95)) {
        ret->why = _("too many reviewed blocks were cut off, or the interval has no width");
        return;
    }
    ret->factor = 1.0 + score;
    add_bounds(t, stated, ret);
}

static const struct calibrated *calibrate(struct teaching *t,
                                          const struct estimate_figures *figures) {
    struct calibrated *ret = arena_alloc(t->arena, sizeof *ret);
    correct(t, &figures->computing, component_name(COMPONENT_RUNS), &ret->computing);
    correct(t, &figures->reserved, "reserved", &ret->reserved);
    return ret;
}

void calibration_apply(const struct calibration *calibration, struct estimate *estimate,
                       struct arena *arena) {
    size_t room = calibration->count + 1;
    struct teaching t = {
        .calibration = calibration,
        .study = estimate->study,
        .arena = arena,
        .two_sided = arena_alloc(arena, room * sizeof(double)),
        .below = arena_alloc(arena, room * sizeof(double)),
        .above = arena_alloc(arena, room * sizeof(double)),
        .ratios = arena_alloc(arena, room * sizeof(double)),
    };
    estimate->calibrated = calibrate(&t, &estimate->total);
    for (size_t i = 0; i < estimate->block_count; i++)
        estimate->blocks[i].calibrated = calibrate(&t, &estimate->blocks[i].figures);
}
