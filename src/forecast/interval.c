/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals out of the weights of a forecast (interval.h). */
#include "forecast/interval.h"

#include "base/mem.h"
#include "forecast/predict-parts.h"

#include <math.h>

#define LARGEST_LEAN_RATIO 3.0  /* of the logarithm: beyond, weights change no more */
#define DRAWN_TO           40.0 /* conditions: as much as the nominal half counts */
#define LEAST_HALF         0.40
#define MOST_HALF          0.495

static double lean_weight(const struct condition_forecast *forecast, size_t i, double lean) {
    double ratio = fmin(fmax(forecast->ratio[i], -LARGEST_LEAN_RATIO), LARGEST_LEAN_RATIO);
    return forecast->weight[i] * exp(-lean * ratio);
}

static double lean_sum(const struct condition_forecast *forecast, double lean) {
    double sum = 0.0;
    for (size_t i = 0; i < forecast->count; i++)
        sum += lean_weight(forecast, i, lean);
    return sum;
}

/* Ratio below which the share u of the leaned weight lies, interpolated between the middles of the
 * weights. */
static double lean_quantile(const struct condition_forecast *forecast, double lean, double sum,
                            double u) {
    double below = 0.0;
    double before = 0.0; /* middle of the weight before */
    for (size_t i = 0; i < forecast->count; i++) {
        double weight = lean_weight(forecast, i, lean) / sum;
        double middle = below + 0.5 * weight;
        if (u <= middle) {
            if (i == 0)
                return forecast->ratio[0];
            double part = (u - before) / (middle - before);
            return forecast->ratio[i - 1] + part * (forecast->ratio[i] - forecast->ratio[i - 1]);
        }
        before = middle;
        below += weight;
    }
    return forecast->ratio[forecast->count - 1];
}

void interval_of(const struct condition_forecast *forecast, double half, double lean,
                 struct interval *ret) {
    double sum = lean_sum(forecast, lean);
    double base = forecast->centre + log((double)forecast->repeats);
    ret->lo = base + lean_quantile(forecast, lean, sum, 0.5 - half);
    ret->hi = base + lean_quantile(forecast, lean, sum, 0.5 + half);
    ret->middle = condition_quantile(forecast, 0.5);
}

/* How far from the middle, by weight, an outcome lies: 0 to 0.5. */
static double distance_of(const struct condition_forecast *forecast, double lean, double ratio) {
    double below = 0.0;
    for (size_t i = 0; i < forecast->count && forecast->ratio[i] < ratio; i++)
        below += lean_weight(forecast, i, lean);
    return fabs(below / lean_sum(forecast, lean) - 0.5);
}

double interval_half(const struct condition_model *model, size_t k, double lean) {
    double nominal = INTERVAL_LEVEL / 2.0;
    if (!model || k < 1 || k > CONDITION_FIRST_MOST)
        return nominal;
    size_t count = condition_model_seen(model, k);
    if (count == 0)
        return nominal;
    AUTO_FREE double *distances = mem_alloc(count * sizeof *distances);
    AUTO_ARENA struct arena *arena = arena_new();
    for (size_t i = 0; i < count; i++) {
        struct condition_forecast forecast;
        double ratio = condition_model_look_back(model, k, i, arena, &forecast);
        distances[i] = distance_of(&forecast, lean, ratio);
    }
    predict_sort(distances, count);
    double level = fmin(1.0, INTERVAL_LEVEL * (double)(count + 1) / (double)count);
    double half = predict_quantile(distances, count, level);
    half = ((double)count * half + DRAWN_TO * nominal) / ((double)count + DRAWN_TO);
    return fmin(fmax(half, LEAST_HALF), MOST_HALF);
}
