/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Quantities: making, checking, adding, and their JSON. The text for people is in
 * quantity-format.c. Must not make a number out of anything open: whatever is open prints and adds
 * as open.
 */
#include "model/quantity.h"

#include "base/clock.h"
#include "base/msg.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const char *const state_names[QUANTITY_STATE_COUNT_] = {
    [QUANTITY_OPEN] = "open",
    [QUANTITY_ASSUMED] = "assumed",
    [QUANTITY_ESTIMATED] = "estimated",
    [QUANTITY_MEASURED] = "measured",
};

static const char *const bound_names[QUANTITY_BOUND_COUNT_] = {
    [QUANTITY_EXACT] = "exact",
    [QUANTITY_AT_LEAST] = "at-least",
    [QUANTITY_AT_MOST] = "at-most",
};

static const char *const reason_names[QUANTITY_REASON_COUNT_] = {
    /* zeroed memory: nobody looked */
    [QUANTITY_NO_REASON] = "not-sampled",
    [QUANTITY_NOT_SUPPORTED] = "not-supported",
    [QUANTITY_NOT_PERMITTED] = "not-permitted",
    [QUANTITY_NOT_VISIBLE] = "not-visible",
    [QUANTITY_NOT_SAMPLED] = "not-sampled",
    [QUANTITY_NOT_SEPARATED] = "not-separated",
    [QUANTITY_STALE] = "stale",
    [QUANTITY_FAILED] = "failed",
    [QUANTITY_MONITOR_LOST] = "monitor-lost",
    [QUANTITY_RUNNING] = "running",
    [QUANTITY_NOT_ENTERED] = "not-entered",
    [QUANTITY_NOT_IN_RECORD] = "not-in-record",
    [QUANTITY_NO_OFFER] = "no-offer",
    [QUANTITY_NO_EVIDENCE] = "no-evidence",
    [QUANTITY_TOO_FEW_RUNS] = "too-few-runs",
    [QUANTITY_NOT_APPLICABLE] = "not-applicable",
};

const char *quantity_state_name(enum quantity_state state) {
    assert(state < QUANTITY_STATE_COUNT_);
    return state_names[state];
}

const char *quantity_bound_name(enum quantity_bound bound) {
    assert(bound < QUANTITY_BOUND_COUNT_);
    return bound_names[bound];
}

const char *quantity_reason_name(enum quantity_reason reason) {
    assert(reason < QUANTITY_REASON_COUNT_);
    return reason_names[reason];
}

bool quantity_reason_from_name(const char *name, enum quantity_reason *ret_reason) {
    for (enum quantity_reason i = QUANTITY_NO_REASON + 1; i < QUANTITY_REASON_COUNT_; i++) {
        if (strcmp(reason_names[i], name) == 0) {
            *ret_reason = i;
            return true;
        }
    }
    return false;
}

struct quantity quantity_open(const char *unit, enum quantity_reason reason, const char *detail) {
    return (struct quantity){.unit = unit, .reason = reason, .detail = detail};
}

struct quantity quantity_bounded(const char *unit, double value, enum quantity_bound bound,
                                 const char *method) {
    assert(isfinite(value));
    return (struct quantity){
        .state = QUANTITY_MEASURED, .bound = bound, .value = value, .unit = unit, .method = method};
}

struct quantity quantity_measured(const char *unit, double value, const char *method) {
    return quantity_bounded(unit, value, QUANTITY_EXACT, method);
}

bool quantity_is_known(const struct quantity *q) {
    return q->state != QUANTITY_OPEN;
}

static bool has_valid_interval(const struct quantity *q) {
    return (q->state == QUANTITY_ESTIMATED || q->state == QUANTITY_ASSUMED) && q->level > 0 &&
           q->level < 1 && isfinite(q->p05) && isfinite(q->p95) && q->p05 <= q->value &&
           q->value <= q->p95;
}

bool quantity_is_valid(const struct quantity *q) {
    if (q->state >= QUANTITY_STATE_COUNT_ || q->bound >= QUANTITY_BOUND_COUNT_ ||
        q->reason >= QUANTITY_REASON_COUNT_)
        return false;
    if ((q->source_count > 0 && q->sources == NULL) || (q->part_count > 0 && q->parts == NULL) ||
        (q->open_part_count > 0 && q->open_parts == NULL))
        return false;
    if (q->state == QUANTITY_OPEN)
        return q->bound == QUANTITY_EXACT && !q->has_interval && q->basis == NULL;
    if (q->reason != QUANTITY_NO_REASON || !isfinite(q->value))
        return false;
    if (q->basis != NULL && q->state != QUANTITY_ESTIMATED && q->state != QUANTITY_ASSUMED)
        return false;
    return !q->has_interval || has_valid_interval(q);
}

/* ---- what a value lacks ---- */

/* Without names: how many they are. */
static size_t take_open_parts(const struct quantity *q, const char *before, const char **names,
                              struct arena *arena) {
    size_t count = 0;
    for (size_t i = 0; i < q->open_part_count; i++, count++)
        if (names)
            names[count] = arena_printf(arena, "%s%s", before, q->open_parts[i]);
    if (q->open_parts)
        return count;
    for (size_t i = 0; i < q->part_count; i++) {
        const struct quantity_part *part = &q->parts[i];
        bool is_known = quantity_is_known(&part->quantity);
        if (is_known && part->quantity.bound == QUANTITY_EXACT)
            continue; /* it lacks nothing, even where its own split is open */
        AUTO_FREE char *path = names ? mem_printf("%s%s/", before, part->name) : NULL;
        size_t below = take_open_parts(&part->quantity, path, names ? names + count : NULL, arena);
        if (below == 0 && !is_known) {
            if (names)
                names[count] = arena_printf(arena, "%s%s", before, part->name);
            below = 1;
        }
        count += below;
    }
    return count;
}

void quantity_name_open_parts(struct quantity *q, struct arena *arena) {
    q->open_parts = NULL;
    q->open_part_count = 0;
    size_t count = take_open_parts(q, NULL, NULL, NULL);
    const char **names = arena_alloc(arena, (count + 1) * sizeof *names);
    take_open_parts(q, "", names, arena);
    q->open_parts = names;
    q->open_part_count = count;
}

/* ---- sums ---- */

static bool has_text(const char *text) {
    return text != NULL && text[0] != '\0';
}

static const char *unit_of(const struct quantity *q) {
    return has_text(q->unit) ? q->unit : UNIT_RATIO;
}

static bool is_among(const char *const *texts, size_t count, const char *text) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(texts[i], text) == 0)
            return true;
    return false;
}

/* The sources of all parts, each once, in order of appearance. */
static void unite_sources(struct arena *arena, struct quantity *sum) {
    size_t most = 0;
    for (size_t i = 0; i < sum->part_count; i++)
        most += sum->parts[i].quantity.source_count;
    if (most == 0)
        return;
    const char **united = arena_alloc(arena, most * sizeof *united);
    size_t count = 0;
    for (size_t i = 0; i < sum->part_count; i++) {
        const struct quantity *part = &sum->parts[i].quantity;
        for (size_t k = 0; k < part->source_count; k++)
            if (!is_among(united, count, part->sources[k]))
                united[count++] = part->sources[k];
    }
    sum->sources = united;
    sum->source_count = count;
}

struct part_summary {
    size_t known, open, at_least, at_most, intervals;
    enum quantity_state weakest; /* of the known ones */
    double value;
};

static struct part_summary summarize(const char *unit, const struct quantity_part *parts,
                                     size_t count) {
    struct part_summary summary = {.weakest = QUANTITY_MEASURED};
    for (size_t i = 0; i < count; i++) {
        const struct quantity *part = &parts[i].quantity;
        assert(quantity_is_valid(part));
        assert(strcmp(unit_of(part), unit) == 0);
        if (!quantity_is_known(part)) {
            summary.open++;
            continue;
        }
        summary.known++;
        summary.at_least += part->bound == QUANTITY_AT_LEAST;
        summary.at_most += part->bound == QUANTITY_AT_MOST;
        summary.intervals += part->has_interval;
        if (part->state < summary.weakest)
            summary.weakest = part->state;
        summary.value += part->value;
    }
    return summary;
}

struct quantity quantity_sum(struct arena *arena, const char *unit,
                             const struct quantity_part *parts, size_t count) {
    struct part_summary summary = summarize(has_text(unit) ? unit : UNIT_RATIO, parts, count);
    struct quantity sum = {.unit = unit};
    if (count > 0) {
        struct quantity_part *own = arena_alloc(arena, count * sizeof *own);
        memcpy(own, parts, count * sizeof *own);
        sum.parts = own;
        sum.part_count = count;
        unite_sources(arena, &sum);
    }
    bool from_below = summary.at_least > 0 || summary.open > 0;
    if (summary.known == 0) {
        sum.reason = count > 0 ? parts[0].quantity.reason : QUANTITY_NO_EVIDENCE;
    } else if (!isfinite(summary.value)) {
        sum.reason = QUANTITY_FAILED;
        sum.detail = _("the sum is beyond what a number holds");
    } else if (from_below && summary.at_most > 0) {
        sum.reason = QUANTITY_NOT_SEPARATED;
        sum.detail = _("its parts are bounded on different sides");
    } else {
        sum.state = summary.weakest;
        sum.value = summary.value;
        sum.bound = from_below            ? QUANTITY_AT_LEAST
                    : summary.at_most > 0 ? QUANTITY_AT_MOST
                                          : QUANTITY_EXACT;
        sum.method = "sum of parts";
        if (summary.intervals > 0)
            sum.detail = _("medians of parts do not add up to the median of the total");
    }
    if (count > 0)
        quantity_name_open_parts(&sum, arena);
    return sum;
}

/* ---- JSON ---- */

/* Bytes and counts are integers where they are whole; doubles hold every integer up to 2^53. */
static json_t *number_to_json(double value, const char *unit) {
    bool counts = strcmp(unit, UNIT_BYTE) == 0 || strcmp(unit, UNIT_COUNT) == 0;
    if (counts && fabs(value) <= 9007199254740992.0 && trunc(value) == value)
        return json_integer((json_int_t)value);
    return json_real(value);
}

static void put_sources(json_t *object, const struct quantity *q) {
    if (q->source_count == 0)
        return;
    json_t *sources = json_array();
    for (size_t i = 0; i < q->source_count; i++)
        json_array_append_new(sources, json_text(q->sources[i]));
    json_put(object, "sources", sources);
}

static void put_parts(json_t *object, const struct quantity *q) {
    if (q->part_count == 0 && q->open_part_count == 0)
        return;
    AUTO_ARENA struct arena *arena = arena_new();
    struct quantity named = *q;
    json_t *parts = json_array(), *open_parts = json_array();
    for (size_t i = 0; i < q->part_count; i++) {
        const struct quantity_part *part = &q->parts[i];
        json_t *item = json_object();
        json_put_text(item, "name", part->name);
        json_put(item, "quantity", quantity_to_json(&part->quantity));
        json_array_append_new(parts, item);
    }
    if (q->part_count > 0)
        json_put(object, "parts", parts);
    else
        json_decref(parts);
    if (!q->open_parts)
        quantity_name_open_parts(&named, arena);
    for (size_t i = 0; i < named.open_part_count; i++)
        json_array_append_new(open_parts, json_text(named.open_parts[i]));
    json_put(object, "open_parts", open_parts);
}

static void put_estimate(json_t *object, const struct quantity *q) {
    if (q->has_interval) {
        json_put_real(object, "level", q->level);
        json_put(object, "p05", number_to_json(q->p05, unit_of(q)));
        json_put(object, "p50", number_to_json(q->value, unit_of(q)));
        json_put(object, "p95", number_to_json(q->p95, unit_of(q)));
    }
    if (has_text(q->basis))
        json_put_text(object, "basis", q->basis);
}

json_t *quantity_to_json(const struct quantity *q) {
    assert(quantity_is_valid(q));
    json_t *object = json_object();
    bool known = quantity_is_known(q);
    json_put_text(object, "state", quantity_state_name(q->state));
    json_put(object, "value", known ? number_to_json(q->value, unit_of(q)) : json_null());
    json_put_text(object, "unit", unit_of(q));
    if (!known)
        json_put_text(object, "reason", quantity_reason_name(q->reason));
    if (q->bound != QUANTITY_EXACT)
        json_put_text(object, "bound", quantity_bound_name(q->bound));
    put_estimate(object, q);
    if (has_text(q->method))
        json_put_text(object, "method", q->method);
    if (known && q->n > 0)
        json_put_int(object, "n", q->n <= INT64_MAX ? (int64_t)q->n : INT64_MAX);
    if (q->at_utc_ns != 0) {
        AUTO_STRBUF struct strbuf at = STRBUF_INIT;
        clock_format_utc(q->at_utc_ns, &at);
        json_put_text(object, "at_utc", strbuf_str(&at));
    }
    put_sources(object, q);
    put_parts(object, q);
    return object;
}
