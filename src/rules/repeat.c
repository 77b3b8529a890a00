/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * N further runs like these: what the observed runs allow to say and what they do not. The total is
 * forecast from the wall times themselves; medians of parts are never added up. What no run showed
 * stays open, and what is not in the total is named.
 */
#include "rules/repeat.h"

#include "base/mem.h"
#include "base/msg.h"
#include "forecast/predict.h"
#include "rules/comparable-parts.h"
#include "rules/comparable.h"
#include "rules/cost.h"

#include <assert.h>
#include <errno.h>
#include <math.h>

#define BASIS_OWN_RUNS  "own-runs"
#define METHOD_OBSERVED "observed wall time"

struct estimator {
    struct repeat_estimate *ret;
    struct arena *arena;
    const char *const *sources; /* ids of the used runs */
    double *walls;
};

/* ---- which runs count ---- */

static void choose_runs(const struct run *const *runs, size_t count, struct estimator *e) {
    const struct run **used = arena_alloc(e->arena, (count + 1) * sizeof *used);
    struct repeat_excluded *excluded = arena_alloc(e->arena, (count + 1) * sizeof *excluded);
    const struct run *reference = NULL;
    const char *why;

    for (size_t i = 0; i < count && !reference; i++)
        if (comparable_is_usable(runs[i], &why))
            reference = runs[i];
    for (size_t i = 0; i < count; i++) {
        bool counts = reference ? comparable_counts(runs[i], reference, &why)
                                : comparable_is_usable(runs[i], &why);
        if (counts)
            used[e->ret->used_count++] = runs[i];
        else
            excluded[e->ret->excluded_count++] = (struct repeat_excluded){runs[i], why};
    }
    e->ret->used = used;
    e->ret->excluded = excluded;

    const char **sources = arena_alloc(e->arena, (count + 1) * sizeof *sources);
    e->walls = arena_alloc(e->arena, (count + 1) * sizeof *e->walls);
    for (size_t i = 0; i < e->ret->used_count; i++) {
        sources[i] = arena_strdup(e->arena, used[i]->id ? used[i]->id : "");
        e->walls[i] = used[i]->wall.value;
    }
    e->sources = sources;
}

/* ---- forecasts ---- */

static struct quantity estimated(const struct estimator *e, double value, const char *method) {
    return (struct quantity){
        .state = QUANTITY_ESTIMATED,
        .value = value,
        .unit = UNIT_SECOND,
        .method = method,
        .n = e->ret->used_count,
        .sources = e->sources,
        .source_count = e->ret->used_count,
        .basis = BASIS_OWN_RUNS,
    };
}

/* The sum of one duration over further runs, from its values in the used runs (one per run, none
 * negative). */
static struct quantity forecast(const struct estimator *e, const double *values, uint64_t repeats) {
    size_t count = e->ret->used_count;
    double middle = predict_median(values, count);

    if (count == 1) {
        struct quantity q = estimated(e, (double)repeats * middle, METHOD_OBSERVED);
        q.detail = _("one run is no promise: there is no interval; repeat once to get one");
        return q;
    }
    struct predict_total total;
    int rc = predict_total(values, count, repeats, e->ret->seed, PREDICT_DRAWS, &total);
    if (rc == -EINVAL) { /* a part that took no time in some run has no logarithm */
        struct quantity q = estimated(e, (double)repeats * middle, METHOD_OBSERVED);
        q.detail =
            _("in some of the runs it took no time that the clock shows: there is no interval");
        return q;
    }
    if (!isfinite(total.p50))
        return quantity_open(UNIT_SECOND, QUANTITY_TOO_FEW_RUNS,
                             _("the sum is beyond what a number holds"));
    struct quantity q = estimated(e, total.p50, PREDICT_METHOD);
    if (rc < 0) {
        q.detail = _("the interval is open (too-few-runs): these runs lie so far apart that its "
                     "upper end would "
                     "exceed ten times the median; a further run narrows it");
        return q;
    }
    q.has_interval = true;
    q.level = PREDICT_LEVEL;
    q.p05 = total.p05;
    q.p95 = total.p95;
    return q;
}

/* ---- phases ---- */

static const char *const how_to_separate = N_(
    "not every run used tells it apart from the rest; put 'probelauf mark load' and 'probelauf "
    "mark compute' into the command, or name the lines of output that begin them with 'probelauf "
    "run --pattern load=REGEX --pattern compute=REGEX', and repeat a run; --phase load or "
    "--phase compute is for a command that does nothing else");

/* The phase's seconds in every used run; false where one of them does not know them. */
static bool phase_values(const struct estimator *e, enum phase phase, double *values) {
    for (size_t i = 0; i < e->ret->used_count; i++) {
        const struct quantity *q = &e->ret->used[i]->phase[phase];
        if (q->state != QUANTITY_MEASURED || q->bound != QUANTITY_EXACT || !(q->value >= 0.0))
            return false;
        values[i] = q->value;
    }
    return e->ret->used_count > 0;
}

static void estimate_phases(struct estimator *e) {
    struct repeat_estimate *ret = e->ret;
    size_t count = ret->used_count;
    double *load = arena_alloc(e->arena, (count + 1) * sizeof *load);
    double *compute = arena_alloc(e->arena, (count + 1) * sizeof *compute);
    double *other = arena_alloc(e->arena, (count + 1) * sizeof *other);

    enum quantity_reason reason = count > 0 ? QUANTITY_NOT_SEPARATED : QUANTITY_NO_EVIDENCE;
    const char *detail = count > 0 ? _(how_to_separate) : _("no run counts");
    ret->load = ret->compute = ret->other = quantity_open(UNIT_SECOND, reason, detail);
    bool has_load = phase_values(e, PHASE_LOAD, load);
    bool has_compute = phase_values(e, PHASE_COMPUTE, compute);
    if (has_load)
        ret->load = forecast(e, load, ret->repeats);
    if (has_compute)
        ret->compute = forecast(e, compute, ret->repeats);
    if (!has_load || !has_compute)
        return;
    for (size_t i = 0; i < count; i++)
        other[i] = fmax(0.0, e->walls[i] - load[i] - compute[i]); /* rounding of the marks' clock */
    ret->other = forecast(e, other, ret->repeats);
}

/* ---- totals ---- */

static void estimate_totals(struct estimator *e) {
    struct repeat_estimate *ret = e->ret;

    if (ret->used_count == 0) {
        const char *detail = _("no run counts: make one that ends well, and repeat it once");
        ret->per_run = ret->runs = ret->total =
            quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, detail);
        return;
    }
    ret->per_run = forecast(e, e->walls, 1);
    ret->runs = forecast(e, e->walls, ret->repeats);
    if (quantity_is_known(&ret->other)) {
        struct quantity_part *parts = arena_alloc(e->arena, 3 * sizeof *parts);
        parts[0] = (struct quantity_part){"load", ret->load};
        parts[1] = (struct quantity_part){"compute", ret->compute};
        parts[2] = (struct quantity_part){"other", ret->other};
        ret->runs.parts = parts;
        ret->runs.part_count = 3;
    }
    if (!ret->runs.detail)
        ret->runs.detail =
            _("forecast from the wall times themselves; medians of parts do not add up to it");

    /* What is open makes the total a lower bound, with its parts named; the interval is that of the
     * runs. */
    struct quantity_part *parts = arena_alloc(e->arena, 2 * sizeof *parts);
    parts[0] = (struct quantity_part){"runs", ret->runs};
    parts[1] = (struct quantity_part){"retries", ret->retries};
    ret->total = ret->runs;
    if (!quantity_is_known(&ret->runs))
        return;
    ret->total.bound = QUANTITY_AT_LEAST;
    ret->total.parts = parts;
    ret->total.part_count = 2;
}

/* ---- attempts that failed ---- */

static void count_attempts(const struct run *const *runs, size_t count, struct estimator *e) {
    struct repeat_estimate *ret = e->ret;
    const struct run *reference = ret->used_count > 0 ? ret->used[0] : count > 0 ? runs[0] : NULL;
    struct quantity_part *failed = arena_alloc(e->arena, (count + 1) * sizeof *failed);

    for (size_t i = 0; i < count; i++) {
        if (!comparable_is_attempt(runs[i]) || !comparable_same_group(runs[i], reference))
            continue;
        ret->attempts++;
        if (runs[i]->outcome == OUTCOME_OK)
            continue;
        failed[ret->failures++] = (struct quantity_part){
            arena_strdup(e->arena, runs[i]->id ? runs[i]->id : ""), runs[i]->wall};
    }
    if (ret->failures == 0) {
        const char *detail =
            ret->attempts > 0
                ? arena_printf(
                      e->arena,
                      msg_plural(
                          (unsigned long)ret->attempts,
                          "%llu attempt was seen and none failed: that is no proof that none will",
                          "%llu attempts were seen and none failed: that is no proof that none "
                          "will"),
                      (unsigned long long)ret->attempts)
                : _("no attempt was seen");
        ret->retries = quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, detail);
        ret->lost =
            quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, _("no failed attempt was seen"));
        return;
    }
    ret->lost = quantity_sum(e->arena, UNIT_SECOND, failed, (size_t)ret->failures);
    ret->retries = quantity_open(
        UNIT_SECOND, QUANTITY_TOO_FEW_RUNS,
        arena_printf(
            e->arena,
            msg_plural(
                (unsigned long)ret->attempts,
                "%llu of %llu attempt failed; how often that will happen again is not extrapolated",
                "%llu of %llu attempts failed; how often that will happen again is not "
                "extrapolated"),
            (unsigned long long)ret->failures, (unsigned long long)ret->attempts));
}

/* ---- outliers, memory ---- */

static void mark_outliers(struct estimator *e) {
    bool *outlier = arena_alloc(e->arena, (e->ret->used_count + 1) * sizeof *outlier);
    predict_mark_outliers(e->walls, e->ret->used_count, outlier);
    e->ret->outlier = outlier;
}

static void find_memory(struct estimator *e) {
    const struct repeat_estimate *ret = e->ret;
    const struct run *largest = NULL;
    uint64_t known = 0;

    for (size_t i = 0; i < ret->used_count; i++) {
        const struct quantity *q = &ret->used[i]->largest_process_rss;
        if (q->state != QUANTITY_MEASURED)
            continue;
        known++;
        if (!largest || q->value > largest->largest_process_rss.value)
            largest = ret->used[i];
    }
    if (!largest) {
        e->ret->memory = ret->used_count > 0
                             ? ret->used[0]->largest_process_rss
                             : quantity_open(UNIT_BYTE, QUANTITY_NO_EVIDENCE, _("no run counts"));
        return;
    }
    struct quantity memory = largest->largest_process_rss;
    const char **source = arena_alloc(e->arena, sizeof *source);
    *source = arena_strdup(e->arena, largest->id ? largest->id : "");
    memory.sources = source;
    memory.source_count = 1;
    memory.n = known;
    memory.detail = _("largest process, the largest of the runs used; no margin is added");
    e->ret->memory = memory;
}

/* ---- what is not in it ---- */

static const char *const what_is_open[] = {
    N_("set-up: installing, resolving packages, fetching or converting weights"),
    N_("fetching and preparing data"),
    N_("transfer of inputs and results"),
    N_("retries of failed runs"),
    N_("fixing and work by hand"),
    N_("checking the results"),
    N_("clean-up"),
    N_("waiting and idle time between the runs"),
};

static const char *const code_is_unknown =
    N_("whether the code was the same in all runs: their code state is not known");
static const char *const environment_is_unknown =
    N_("whether the environment was the same in all runs: it was not recorded");
static const char *const setup_is_inside = N_("set-up, transfer or data phases inside the runs are "
                                              "counted in every run, as they were seen in each");

static bool has_text(const json_t *object, const char *key) {
    const char *text = json_get_text(object, key, NULL);
    return text && *text;
}

static void list_open(struct estimator *e) {
    const struct run *reference = e->ret->used_count > 0 ? e->ret->used[0] : NULL;
    const char **open = arena_alloc(e->arena, (ARRAY_LENGTH(what_is_open) + 3) * sizeof *open);
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_LENGTH(what_is_open); i++)
        open[count++] = _(what_is_open[i]);
    if (reference) {
        const json_t *code = json_get_object(reference->environment, "code");
        if (!has_text(code, "digest") && !has_text(code, "commit"))
            open[count++] = _(code_is_unknown);
        if (!has_text(reference->environment, "fingerprint"))
            open[count++] = _(environment_is_unknown);
        bool inside = false;
        for (enum phase phase = PHASE_SETUP; phase <= PHASE_DATA; phase++)
            inside |=
                quantity_is_known(&reference->phase[phase]) && reference->phase[phase].value > 0.0;
        if (inside)
            open[count++] = _(setup_is_inside);
    }
    e->ret->open = open;
    e->ret->open_count = count;

    size_t needs = cost_need_count();
    const char **missing = arena_alloc(e->arena, needs * sizeof *missing);
    for (size_t i = 0; i < needs; i++)
        missing[i] = cost_need(i);
    e->ret->missing = missing;
    e->ret->missing_count = needs;
    e->ret->amount = quantity_open(NULL, QUANTITY_NO_OFFER,
                                   _("no offer was entered; what one must say is listed"));
}

void repeat_estimate(const struct run *const *runs, size_t count, uint64_t repeats, uint64_t seed,
                     struct arena *arena, struct repeat_estimate *ret) {
    struct estimator e = {.ret = ret, .arena = arena};

    assert(repeats >= 1 && repeats <= REPEAT_MAX);
    *ret = (struct repeat_estimate){.repeats = repeats, .seed = seed};
    choose_runs(runs, count, &e);
    count_attempts(runs, count, &e);
    estimate_phases(&e);
    estimate_totals(&e);
    mark_outliers(&e);
    find_memory(&e);
    list_open(&e);
}
