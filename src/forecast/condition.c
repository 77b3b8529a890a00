/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The forecast of condition.h, in two parts that are mixed by weight. Like conditions: what really
 * followed the first runs of conditions that resemble this one, in units of their own spread as
 * long as it is near, as it was where it lies far out (a rare slow run does not shrink with the
 * spread). And the base: a heavy-tailed curve for every spread that is possible here, which weighs
 * as much as BASE_WEIGHT like conditions and so decides where the history is small.
 */
#include "forecast/condition.h"

#include "base/mem.h"
#include "forecast/predict.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What makes conditions alike: distances in these units, squared and added. Chosen on the public
 * records, where half or double of each moves the score by up to 5 % (docs/estimate.md). */
#define UNIT_SPREAD     1.0  /* of the logarithm of the spread */
#define UNIT_SECONDS    1.25 /* of the logarithm of the seconds: short runs vary otherwise */
#define OTHER_FAMILY    5.0  /* added for a condition of another family */
#define LEAST_LIKES     12.0 /* the circle is drawn wider until so many lie in it, by weight, */
#define LEAST_SHARE     0.6  /* or this share of all */
#define WIDER           1.3
#define WIDER_MOST      40
#define NEGLIGIBLE      1e-6 /* a weight below this share of the largest one is dropped */
#define FAR_OUT         3.0  /* spreads: from there on a ratio is less and less rescaled */
#define ENOUGH_LIKES    10.0 /* conditions, before another centre than the mean is chosen */
#define CLEARLY         0.6  /* and its typical miss must be below this share of the mean's */
#define BASE_WEIGHT     12.0
#define BASE_FREEDOM    4.0 /* Student's t: a tight core and rare slow runs */
#define BASE_POINTS     25
#define BASE_NEGLIGIBLE 1e-3
/* A cut-off run may always have been one of the rare slow ones. */
#define SLOW_RUN    0.02
#define SLOW_AT_ALL 0.02 /* a first run slower than that by typical ratio is a cold start */
#define HALF        0.5

/* What of a condition's first runs stands for one run to come. Where conditions drift or start
 * cold, the last run tells more than the mean; the like conditions show which does. */
enum centre { CENTRE_MEAN = 0, CENTRE_LAST, CENTRE_MEDIAN, CENTRE_COUNT_ };

struct likeness {                 /* of a condition of the history after its first k runs */
    double centre[CENTRE_COUNT_]; /* logarithms */
    double later;                 /* logarithm of the mean of the runs that followed */
    double typical;               /* logarithm of the spread, as it would have been judged then */
    double later_count;
    size_t condition;
};
struct atom {
    double ratio, weight;
};
struct atoms {
    struct atom *items;
    size_t count;
};
/* Room to work in, made once: a forecast of many conditions is not to spend its time in the
 * allocator. What is in it means nothing between two calls. */
struct workspace {
    struct atom *items;  /* the history, and the base */
    struct atom *misses; /* the history */
    const struct likeness **likes;
    double *distances;
};
struct condition_model {
    const struct history *history;
    const struct spread_model *spread;
    struct likeness *after[CONDITION_FIRST_MOST]; /* k - 1 */
    size_t after_count[CONDITION_FIRST_MOST];
    double base_points[BASE_POINTS]; /* quantiles of the base's curve */
    struct workspace *work;
};

static double mean_log(const double *seconds, size_t count) {
    double mean = 0.0;
    for (size_t i = 0; i < count; i++)
        mean += log(seconds[i]) / (double)count;
    return mean;
}

/* Logarithm of the mean, whatever the size of the values. */
static double log_mean(const double *seconds, size_t count) {
    double largest = seconds[0];
    double sum = 0.0;
    for (size_t i = 1; i < count; i++)
        largest = fmax(largest, seconds[i]);
    for (size_t i = 0; i < count; i++)
        sum += seconds[i] / largest;
    return log(largest) + log(sum / (double)count);
}

static void find_centres(const double *seconds, size_t count, double ret[CENTRE_COUNT_]) {
    ret[CENTRE_MEAN] = mean_log(seconds, count);
    ret[CENTRE_LAST] = log(seconds[count - 1]);
    ret[CENTRE_MEDIAN] = log(predict_median(seconds, count));
}

/* ---- the history ---- */

static void look_at(struct condition_model *model, size_t c, size_t k) {
    const struct history_condition *condition = &model->history->conditions[c];
    if (condition->count <= k)
        return;
    struct spread_weights weights;
    spread_posterior(model->spread, spread_family_of(model->spread, c), c, condition->seconds, k,
                     &weights);
    struct likeness *like = &model->after[k - 1][model->after_count[k - 1]++];
    *like = (struct likeness){
        .later = log_mean(condition->seconds + k, condition->count - k),
        .typical = spread_typical_log(&weights),
        .later_count = (double)(condition->count - k),
        .condition = c,
    };
    find_centres(condition->seconds, k, like->centre);
}

static struct workspace *workspace_new(size_t count, struct arena *arena) {
    struct workspace *work = arena_alloc(arena, sizeof *work);
    size_t most = count + (size_t)SPREAD_GRID * BASE_POINTS;
    work->items = arena_alloc(arena, most * sizeof *work->items);
    work->misses = arena_alloc(arena, count * sizeof *work->misses);
    work->likes = arena_alloc(arena, count * sizeof *work->likes);
    work->distances = arena_alloc(arena, count * sizeof *work->distances);
    return work;
}

const struct condition_model *condition_model_new(const struct history *history,
                                                  struct arena *arena) {
    const struct spread_model *spread = spread_model_new(history, arena);
    if (!spread)
        return NULL;
    struct condition_model *model = arena_alloc(arena, sizeof *model);
    model->history = history;
    model->spread = spread;
    model->work = workspace_new(history->count, arena);
    for (size_t p = 0; p < BASE_POINTS; p++)
        model->base_points[p] = gsl_cdf_tdist_Pinv(((double)p + HALF) / BASE_POINTS, BASE_FREEDOM);
    for (size_t k = 1; k <= CONDITION_FIRST_MOST; k++) {
        model->after[k - 1] = arena_alloc(arena, history->count * sizeof *model->after[k - 1]);
        for (size_t c = 0; c < history->count; c++)
            look_at(model, c, k);
    }
    return model;
}

/* ---- weighted values ---- */

static int compare_atoms(const void *a, const void *b) {
    double x = ((const struct atom *)a)->ratio;
    double y = ((const struct atom *)b)->ratio;
    return (x > y) - (x < y);
}

/* Median of the weighted values; sorts them. count >= 1. */
static double median_of(struct atom *atoms, size_t count) {
    double sum = 0.0;
    double below = 0.0;
    qsort(atoms, count, sizeof *atoms, compare_atoms);
    for (size_t i = 0; i < count; i++)
        sum += atoms[i].weight;
    for (size_t i = 0; i < count; i++) {
        below += atoms[i].weight;
        if (below >= HALF * sum)
            return atoms[i].ratio;
    }
    return atoms[count - 1].ratio;
}

/* ---- like conditions ---- */

struct target {
    const struct condition_own *own;
    size_t family; /* SPREAD_NOBODY: unknown */
    double typical;
    double centres[CENTRE_COUNT_];
    enum centre centre;   /* the chosen one */
    double runs, repeats; /* own ones, and those to come */
};

/* How many runs stand behind a centre. */
static double runs_of(enum centre centre, double runs) {
    return centre == CENTRE_LAST ? 1.0 : runs;
}

/* Of a mean of `later` runs seen from the mean of `first` ones. */
static double unit_of(double typical, double first, double later) {
    return exp(typical) * sqrt(1.0 / first + 1.0 / later);
}

/* Squared distances become weights; the circle is wide enough for LEAST_LIKES. Returns how many
 * conditions the weights are worth. */
static double weigh(struct atom *atoms, const double *distances, size_t count) {
    double nearest = HUGE_VAL;
    double wanted = fmin(LEAST_LIKES, LEAST_SHARE * (double)count);
    double worth = 0.0;
    double total = 1.0;
    double width = 1.0;

    for (size_t i = 0; i < count; i++)
        nearest = fmin(nearest, distances[i]);
    for (size_t round = 0; round < WIDER_MOST; round++, width *= WIDER) {
        double sum = 0.0;
        double squares = 0.0;
        for (size_t i = 0; i < count; i++) {
            atoms[i].weight = exp(-0.5 * (distances[i] - nearest) / width);
            sum += atoms[i].weight;
            squares += atoms[i].weight * atoms[i].weight;
        }
        total = sum; /* >= 1: the nearest weighs 1 */
        worth = sum * sum / squares;
        if (worth >= wanted)
            break;
    }
    for (size_t i = 0; i < count; i++)
        atoms[i].weight *= worth / total;
    return worth;
}

/* What followed there, as it would be here: its distance from what typically follows is taken in
 * units of the spread there, unless it is far out. */
static double rescaled(const struct likeness *like, const struct target *target, double first,
                       double middle) {
    double distance = like->later - like->centre[target->centre] - middle;
    double there = unit_of(like->typical, runs_of(target->centre, first), like->later_count);
    double here = unit_of(target->typical, runs_of(target->centre, target->runs), target->repeats);
    double far = distance / there / FAR_OUT;
    return middle + distance * (1.0 + (here / there - 1.0) * exp(-far * far));
}

static size_t first_runs(const struct target *target) {
    return target->runs < CONDITION_FIRST_MOST ? (size_t)target->runs : CONDITION_FIRST_MOST;
}

/* The conditions that resemble the target, with their weights; their ratios are still open.
 * likes, atoms: room for all. Returns how many conditions the weights are worth. */
static double find_likes(const struct condition_model *model, const struct target *target,
                         const struct likeness **likes, struct atom *atoms, size_t *ret_count) {
    size_t k = first_runs(target);
    size_t seen = model->after_count[k - 1];
    double *distances = model->work->distances;
    size_t count = 0;

    for (size_t i = 0; i < seen; i++) {
        const struct likeness *like = &model->after[k - 1][i];
        if (like->condition == target->own->itself)
            continue;
        double spread = (like->typical - target->typical) / UNIT_SPREAD;
        double seconds = (like->centre[CENTRE_MEAN] - target->centres[CENTRE_MEAN]) / UNIT_SECONDS;
        bool same = spread_family_of(model->spread, like->condition) == target->family;
        distances[count] = spread * spread + seconds * seconds + (same ? 0.0 : OTHER_FAMILY);
        likes[count++] = like;
    }
    double worth = count > 0 ? weigh(atoms, distances, count) : 0.0;
    double largest = 0.0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, atoms[i].weight);
    *ret_count = 0;
    for (size_t i = 0; i < count; i++)
        if (atoms[i].weight >= NEGLIGIBLE * largest) {
            atoms[*ret_count].weight = atoms[i].weight;
            likes[(*ret_count)++] = likes[i];
        }
    return worth;
}

/* The centre from which the like conditions went on to differ least. The mean, unless another one
 * is clearly better in enough of them: after one run they are the same. misses: room for all. */
static enum centre best_centre(const struct likeness *const *likes, const struct atom *weights,
                               size_t count, double worth, const struct target *target,
                               struct atom *misses) {
    enum centre best = CENTRE_MEAN;
    double least = HUGE_VAL;
    if (worth < ENOUGH_LIKES || target->runs < 2.0 || target->runs > CONDITION_FIRST_MOST)
        return best;
    for (enum centre centre = CENTRE_MEAN; centre < CENTRE_COUNT_; centre++) {
        for (size_t i = 0; i < count; i++)
            misses[i] =
                (struct atom){fabs(likes[i]->later - likes[i]->centre[centre]), weights[i].weight};
        double miss = median_of(misses, count);
        if (miss < least * (best == CENTRE_MEAN ? CLEARLY : 1.0) || centre == CENTRE_MEAN) {
            best = centre;
            least = miss;
        }
    }
    return best;
}

/* Adds what followed the first runs of the like conditions; chooses the target's centre.
 * *ret_middle: the typical ratio of them, 0 without any. */
static double add_likes(const struct condition_model *model, struct target *target,
                        struct atoms *atoms, double *ret_middle) {
    const struct likeness **likes = model->work->likes;
    struct atom *added = atoms->items + atoms->count;
    size_t count = 0;
    double worth = find_likes(model, target, likes, added, &count);
    *ret_middle = 0.0;
    if (count == 0)
        return 0.0;
    target->centre = best_centre(likes, added, count, worth, target, model->work->misses);
    struct atom *ratios = model->work->misses; /* the choice is done with them */
    for (size_t i = 0; i < count; i++)
        ratios[i] =
            (struct atom){likes[i]->later - likes[i]->centre[target->centre], added[i].weight};
    *ret_middle = median_of(ratios, count);
    for (size_t i = 0; i < count; i++)
        added[i].ratio = rescaled(likes[i], target, (double)first_runs(target), *ret_middle);
    atoms->count += count;
    return worth;
}

/* ---- the base ---- */

/* Further own runs beyond the first few show their own tail: then the base counts for more. */
static double base_weight(const struct target *target) {
    return BASE_WEIGHT * (1.0 + fmax(0.0, target->runs - CONDITION_FIRST_MOST));
}

static void add_base(const struct condition_model *model, const struct spread_weights *spreads,
                     const struct target *target, double shift, struct atoms *atoms) {
    double sum = 0.0;
    for (size_t i = 0; i < SPREAD_GRID; i++)
        sum += spreads->of[i] >= BASE_NEGLIGIBLE ? spreads->of[i] : 0.0;
    for (size_t i = 0; i < SPREAD_GRID; i++) {
        if (spreads->of[i] < BASE_NEGLIGIBLE)
            continue;
        double typical = log(spread_at(i));
        double unit = unit_of(typical, runs_of(target->centre, target->runs), target->repeats);
        /* the mean of several lognormal values lies above their median */
        double above = 0.5 * fmin(exp(2.0 * typical), 1.0) * (1.0 - 1.0 / target->repeats);
        for (size_t p = 0; p < BASE_POINTS; p++)
            atoms->items[atoms->count++] =
                (struct atom){shift + above + unit * model->base_points[p],
                              base_weight(target) * spreads->of[i] / sum / BASE_POINTS};
    }
}

/* ---- putting together ---- */

/* A run that was not done after so long speaks against all that says it would have been. */
static void weigh_cut_off(const struct target *target, struct atoms *atoms) {
    for (size_t r = 0; r < target->own->at_least_count; r++)
        for (size_t i = 0; i < atoms->count; i++) {
            double z = (log(target->own->at_least[r]) - target->centres[target->centre] -
                        atoms->items[i].ratio) /
                       exp(target->typical);
            atoms->items[i].weight *= fmax(SLOW_RUN, gsl_cdf_ugaussian_Q(z));
        }
}

static void settle(struct atoms *atoms, struct arena *arena, struct condition_forecast *ret) {
    double sum = 0.0;
    double below = 0.0;

    qsort(atoms->items, atoms->count, sizeof *atoms->items, compare_atoms);
    for (size_t i = 0; i < atoms->count; i++)
        sum += atoms->items[i].weight;
    ret->count = atoms->count;
    ret->ratio = arena_alloc(arena, ret->count * sizeof *ret->ratio);
    ret->weight = arena_alloc(arena, ret->count * sizeof *ret->weight);
    ret->below = arena_alloc(arena, ret->count * sizeof *ret->below);
    for (size_t i = 0; i < ret->count; i++) {
        ret->ratio[i] = atoms->items[i].ratio;
        ret->weight[i] = atoms->items[i].weight / sum;
        ret->below[i] = below + HALF * ret->weight[i];
        below += ret->weight[i];
    }
}

/* First run over the later ones among like conditions, as a logarithm; NAN: none tells. */
static double typical_first(const struct condition_model *model, struct target target) {
    struct atoms atoms = {model->work->items, 0};
    double middle = 0.0;
    target.runs = 1.0;
    return add_likes(model, &target, &atoms, &middle) > 0.0 ? -middle : NAN;
}

static struct target target_of(const struct condition_model *model, const struct condition_own *own,
                               uint64_t repeats, size_t first, struct spread_weights *ret_spreads) {
    struct target target = {.own = own,
                            .family = spread_family(model->spread, own->family),
                            .runs = (double)(own->count - first),
                            .repeats = (double)repeats};
    find_centres(own->seconds + first, own->count - first, target.centres);
    spread_posterior(model->spread, target.family, own->itself, own->seconds + first,
                     own->count - first, ret_spreads);
    target.typical = spread_typical_log(ret_spreads);
    return target;
}

/* Did its own first run behave like theirs: slower than all others? Only with runs enough to do
 * without it; until then the ratios of the like conditions hold what a cold start does. */
static bool is_cold(const struct condition_own *own, double first_log) {
    if (own->count <= CONDITION_FIRST_MOST + 1 || !(first_log > SLOW_AT_ALL))
        return false;
    for (size_t i = 1; i < own->count; i++)
        if (own->seconds[i] >= own->seconds[0])
            return false;
    return true;
}

void condition_forecast_make(const struct condition_model *model, const struct condition_own *own,
                             uint64_t repeats, struct arena *arena,
                             struct condition_forecast *ret) {
    struct spread_weights spreads;
    struct target target = target_of(model, own, repeats, 0, &spreads);
    double first_log = typical_first(model, target);

    *ret = (struct condition_forecast){.repeats = repeats, .first_ratio = exp(first_log)};
    if (is_cold(own, first_log)) {
        ret->first_left_out = true;
        target = target_of(model, own, repeats, 1, &spreads);
    }
    ret->spread = exp(target.typical);

    struct atoms atoms = {model->work->items, 0};
    double middle = 0.0;
    ret->likes = add_likes(model, &target, &atoms, &middle);
    ret->centre = target.centres[target.centre];
    ret->shared = target.repeats / (runs_of(target.centre, target.runs) + target.repeats);
    /* the base follows what typically happened as far as enough conditions tell it */
    double told = ret->likes / (ret->likes + base_weight(&target));
    double shift = middle * told * told;
    add_base(model, &spreads, &target, shift, &atoms);
    weigh_cut_off(&target, &atoms);
    settle(&atoms, arena, ret);
}

double condition_quantile(const struct condition_forecast *forecast, double u) {
    const double *below = forecast->below;
    size_t low = 0;
    size_t high = forecast->count - 1;
    double base = forecast->centre + log((double)forecast->repeats);

    if (u <= below[low])
        return base + forecast->ratio[low];
    if (u >= below[high])
        return base + forecast->ratio[high];
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (below[middle] <= u)
            low = middle;
        else
            high = middle;
    }
    double part = (u - below[low]) / (below[high] - below[low]);
    return base + forecast->ratio[low] + part * (forecast->ratio[high] - forecast->ratio[low]);
}

size_t condition_model_seen(const struct condition_model *model, size_t k) {
    return model->after_count[k - 1];
}

double condition_model_look_back(const struct condition_model *model, size_t k, size_t i,
                                 struct arena *arena, struct condition_forecast *ret) {
    const struct likeness *like = &model->after[k - 1][i];
    const struct history_condition *condition = &model->history->conditions[like->condition];
    struct condition_own own = {.family = condition->family,
                                .itself = like->condition,
                                .seconds = condition->seconds,
                                .count = k};
    condition_forecast_make(model, &own, condition->count - k, arena, ret);
    return like->later - ret->centre;
}
