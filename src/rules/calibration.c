/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Outcomes of reviewed blocks: made out of a review, read back, counted, and turned into what
 * stands beside an estimate (calibration.h). Reads no ledger and writes none.
 */
#include "rules/calibration.h"

#include "base/msg.h"
#include "forecast/conformal.h"
#include "forecast/predict.h"

#include <math.h>
#include <string.h>

#define PART_RESERVED "reserved"

static bool is_equal(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool is_component(const char *part) {
    enum component k;
    return component_from_name(part, &k);
}

/* ---- out of a review ---- */

/* A phase or a count is part of a component, which is kept. */
static bool is_kept_line(const struct review_line *line) {
    const struct quantity *planned = &line->planned;
    return (is_component(line->name) || strcmp(line->name, PART_RESERVED) == 0) &&
           (planned->state == QUANTITY_ESTIMATED || planned->state == QUANTITY_ASSUMED) &&
           planned->bound == QUANTITY_EXACT && quantity_is_known(&line->actual) &&
           line->hit != REVIEW_CANNOT_TELL;
}

static struct calibration_part part_of(const struct review_line *line) {
    const struct quantity *planned = &line->planned;
    return (struct calibration_part){
        .part = line->name,
        .state = planned->state,
        .planned = planned->value,
        .has_interval = planned->has_interval,
        .level = planned->level,
        .p05 = planned->p05,
        .p95 = planned->p95,
        .basis = planned->basis,
        .n = planned->n,
        .actual = line->actual.value,
        .bound = line->actual.bound,
        .hit = line->hit,
    };
}

static const char *said(const char *name) {
    return name && *name ? name : NULL;
}

bool calibration_of_block(const struct study *study, const struct review_block *block,
                          const struct review_kept *kept, struct arena *arena,
                          struct calibration_record *ret) {
    const struct study_input *input = study->input;
    const struct plan_block *of = block->block->block;
    if (!kept || block->skipped || !input->plan->study.id)
        return false;
    struct calibration_part *parts = arena_alloc(arena, (block->line_count + 1) * sizeof *parts);
    *ret = (struct calibration_record){
        .study = input->plan->study.id,
        .block = of->id,
        .environment = input->environment ? input->environment->id : NULL,
        .version = input->plan->study.paper_version,
        .kind = said(plan_kind_name(of->kind)),
        .extent = said(plan_extent_name(of->extent)),
        .estimate = kept->name,
        .method = json_get_text(json_get_object(kept->estimate, "snapshot"), "method", NULL),
        .kept_utc_ns = kept->utc_ns,
        .reviewed_utc_ns = INT64_MAX,
        .conditions = block->block->condition_count,
        .made = block->made,
        .parts = parts,
    };
    for (size_t i = 0; i < block->line_count && block->finished; i++)
        if (is_kept_line(&block->lines[i]))
            parts[ret->part_count++] = part_of(&block->lines[i]);
    return true;
}

/* ---- to JSON and back ---- */

static json_t *part_to_json(const struct calibration_part *part) {
    json_t *json = json_object();
    json_put_text(json, "part", part->part);
    json_put_text(json, "state", quantity_state_name(part->state));
    json_put_real(json, "planned", part->planned);
    if (part->has_interval) {
        json_put_real(json, "level", part->level);
        json_put_real(json, "p05", part->p05);
        json_put_real(json, "p95", part->p95);
    }
    if (part->basis)
        json_put_text(json, "basis", part->basis);
    if (part->n > 0)
        json_put_int(json, "n", (int64_t)part->n);
    json_put_real(json, "actual", part->actual);
    if (part->bound != QUANTITY_EXACT)
        json_put_text(json, "bound", quantity_bound_name(part->bound));
    json_put_text(json, "interval", review_hit_name(part->hit));
    return json;
}

static void put_said(json_t *json, const char *key, const char *text) {
    if (text)
        json_put_text(json, key, text);
}

json_t *calibration_to_json(const struct calibration_record *record) {
    json_t *json = json_object(), *parts = json_array();
    json_put_text(json, "estimate", record->estimate);
    json_put_int(json, "kept_utc_ns", record->kept_utc_ns);
    put_said(json, "method", record->method);
    put_said(json, "kind", record->kind);
    put_said(json, "extent", record->extent);
    json_put_int(json, "conditions", (int64_t)record->conditions);
    json_put_int(json, "made", (int64_t)record->made);
    for (size_t i = 0; i < record->part_count; i++)
        json_array_append_new(parts, part_to_json(&record->parts[i]));
    json_put(json, "parts", parts);
    return json;
}

static const char *text_of(const json_t *json, const char *key, struct arena *arena) {
    const char *text = json_get_text(json, key, NULL);
    return text && *text ? arena_strdup(arena, text) : NULL;
}

static uint64_t count_of(const json_t *json, const char *key) {
    int64_t count = json_get_int(json, key, 0);
    return count > 0 ? (uint64_t)count : 0;
}

static bool is_amount(double value) {
    return isfinite(value) && value >= 0.0;
}

static bool bound_from_name(const char *name, enum quantity_bound *ret) {
    for (int i = 0; i < QUANTITY_BOUND_COUNT_; i++)
        if (strcmp(quantity_bound_name((enum quantity_bound)i), name) == 0) {
            *ret = (enum quantity_bound)i;
            return true;
        }
    return false;
}

/* As the review says it (rules/review-lines.c), from what is kept alone. */
static enum review_hit hit_of(const struct calibration_part *part) {
    if (!part->has_interval)
        return REVIEW_NO_INTERVAL;
    if (part->actual > part->p95)
        return part->bound != QUANTITY_AT_MOST ? REVIEW_MISS : REVIEW_CANNOT_TELL;
    if (part->actual < part->p05)
        return part->bound != QUANTITY_AT_LEAST ? REVIEW_MISS : REVIEW_CANNOT_TELL;
    return part->bound == QUANTITY_EXACT ? REVIEW_HIT : REVIEW_CANNOT_TELL;
}

static bool part_from_json(const json_t *json, struct arena *arena, struct calibration_part *ret) {
    const char *state = json_get_text(json, "state", "");
    *ret = (struct calibration_part){
        .part = text_of(json, "part", arena),
        .planned = json_get_real(json, "planned", NAN),
        .has_interval = json_object_get(json, "level") != NULL,
        .level = json_get_real(json, "level", NAN),
        .p05 = json_get_real(json, "p05", NAN),
        .p95 = json_get_real(json, "p95", NAN),
        .basis = text_of(json, "basis", arena),
        .n = count_of(json, "n"),
        .actual = json_get_real(json, "actual", NAN),
    };
    if (strcmp(state, quantity_state_name(QUANTITY_ESTIMATED)) == 0)
        ret->state = QUANTITY_ESTIMATED;
    else if (strcmp(state, quantity_state_name(QUANTITY_ASSUMED)) == 0)
        ret->state = QUANTITY_ASSUMED;
    else
        return false;
    if (!ret->part || (!is_component(ret->part) && strcmp(ret->part, PART_RESERVED) != 0) ||
        !is_amount(ret->planned) || !is_amount(ret->actual) ||
        !bound_from_name(json_get_text(json, "bound", quantity_bound_name(QUANTITY_EXACT)),
                         &ret->bound))
        return false;
    if (ret->has_interval && !(ret->level > 0.0 && ret->level < 1.0 && is_amount(ret->p05) &&
                               is_amount(ret->p95) && ret->p05 <= ret->p95))
        return false;
    ret->hit = hit_of(ret);
    return ret->hit != REVIEW_CANNOT_TELL &&
           strcmp(json_get_text(json, "interval", ""), review_hit_name(ret->hit)) == 0;
}

static bool has_part(const struct calibration_record *record, const char *part) {
    for (size_t i = 0; i < record->part_count; i++)
        if (strcmp(record->parts[i].part, part) == 0)
            return true;
    return false;
}

bool calibration_from_json(const json_t *event, struct arena *arena,
                           struct calibration_record *ret) {
    const json_t *outcome = json_get_object(event, "outcome");
    const json_t *list = json_get_array(outcome, "parts");
    *ret = (struct calibration_record){
        .study = text_of(event, "study", arena),
        .block = text_of(event, "block", arena),
        .environment = text_of(event, "environment", arena),
        .version = text_of(event, "paper_version", arena),
        .kind = text_of(outcome, "kind", arena),
        .extent = text_of(outcome, "extent", arena),
        .estimate = text_of(outcome, "estimate", arena),
        .method = text_of(outcome, "method", arena),
        .kept_utc_ns = json_get_int(outcome, "kept_utc_ns", 0),
        .reviewed_utc_ns = json_get_int(event, "utc_ns", 0),
        .conditions = count_of(outcome, "conditions"),
        .made = count_of(outcome, "made"),
    };
    if (!ret->study || !ret->block || !list)
        return false;
    struct calibration_part *parts =
        arena_alloc(arena, (json_array_size(list) + 1) * sizeof *parts);
    ret->parts = parts;
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct calibration_part part;
        if (part_from_json(json_array_get(list, i), arena, &part) && !has_part(ret, part.part))
            parts[ret->part_count++] = part;
    }
    return true;
}

bool calibration_is_same(const struct calibration_record *a, const struct calibration_record *b) {
    return is_equal(a->study, b->study) && is_equal(a->block, b->block) &&
           is_equal(a->environment, b->environment) && is_equal(a->version, b->version);
}

/* ---- counted ---- */

static void take(struct calibration *to, struct calibration_record *records,
                 const struct calibration_record *record) {
    size_t at = 0;
    while (at < to->count && !calibration_is_same(&records[at], record))
        at++;
    if (at == to->count)
        to->count++;
    records[at] = *record;
}

static size_t count_studies(const struct calibration *calibration) {
    size_t count = 0;
    for (size_t i = 0; i < calibration->count; i++) {
        bool is_first = calibration->records[i].part_count > 0;
        for (size_t k = 0; k < i && is_first; k++)
            is_first = calibration->records[k].part_count == 0 ||
                       strcmp(calibration->records[k].study, calibration->records[i].study) != 0;
        count += is_first;
    }
    return count;
}

/* The components alone: their sum would count the same time again. What people assumed is not what
 * an interval speaks of. */
static bool is_stated(const struct calibration_part *part) {
    return part->has_interval && part->state == QUANTITY_ESTIMATED && is_component(part->part) &&
           fabs(part->level - PREDICT_LEVEL) < 1e-9;
}

static void count_part(struct calibration_share *share, const struct calibration_part *part) {
    share->count++;
    share->held += part->hit == REVIEW_HIT;
}

static void count_basis(struct calibration_basis *bases, size_t *count,
                        const struct calibration_part *part) {
    const char *basis = part->basis ? part->basis : "";
    size_t at = 0;
    while (at < *count && strcmp(bases[at].basis, basis) != 0)
        at++;
    if (at == *count)
        bases[(*count)++] = (struct calibration_basis){.basis = basis};
    count_part(&bases[at].share, part);
}

static void settle_share(struct calibration_share *share) {
    share->is_told = share->count >= CALIBRATION_SHARE_LEAST &&
                     conformal_share(share->held, share->count, CALIBRATION_SHARE_LEVEL,
                                     &share->low, &share->high);
    share->share = share->is_told ? (double)share->held / (double)share->count : 0.0;
}

static size_t count_parts(const struct calibration *calibration) {
    size_t count = 0;
    for (size_t i = 0; i < calibration->count; i++)
        count += calibration->records[i].part_count;
    return count;
}

void calibration_make(const struct calibration_record *events, size_t event_count,
                      const struct calibration_record *now, size_t now_count, const char *study,
                      struct arena *arena, struct calibration *ret) {
    struct calibration_record *records =
        arena_alloc(arena, (event_count + now_count + 1) * sizeof *records);
    *ret = (struct calibration){.records = records};
    for (size_t i = 0; i < event_count; i++)
        take(ret, records, &events[i]);
    for (size_t i = 0; i < now_count; i++)
        take(ret, records, &now[i]);
    ret->studies = count_studies(ret);
    struct calibration_basis *bases = arena_alloc(arena, (count_parts(ret) + 1) * sizeof *bases);
    ret->bases = bases;
    for (size_t i = 0; i < ret->count; i++)
        for (size_t k = 0; k < records[i].part_count; k++) {
            const struct calibration_part *part = &records[i].parts[k];
            if (!is_stated(part))
                continue;
            count_part(&ret->ledger, part);
            count_basis(bases, &ret->basis_count, part);
            if (is_equal(records[i].study, study))
                count_part(&ret->study, part);
        }
    settle_share(&ret->study);
    settle_share(&ret->ledger);
    for (size_t i = 0; i < ret->basis_count; i++)
        settle_share(&bases[i].share);
}
