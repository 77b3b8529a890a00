/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantiles by selection (quantiles.h): the middle first, then each end within its own half. */
#include "forecast/quantiles.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

/* What is known: the ranks from `from` to before `to` lie there, in any order. */
static double select_rank(double *values, size_t from, size_t to, size_t rank) {
    return gsl_stats_select(values + from, 1, to - from, rank - from);
}

static size_t rank_within(double rank, size_t from, size_t to) {
    if (!(rank > (double)from))
        return from;
    return rank < (double)(to - 1) ? (size_t)rank : to - 1;
}

/* *ret_low, *ret_high: everything before and behind these ranks is on its side of them. */
static struct quantile find_one(double *values, size_t count, size_t from, size_t to, double p,
                                size_t *ret_low, size_t *ret_high) {
    double at = p * (double)(count - 1);
    double deviation = sqrt((double)count * p * (1.0 - p)); /* of the rank */
    size_t rank = rank_within(floor(at), from, to);
    size_t low = rank_within(floor(at - deviation), from, to);
    size_t high = rank_within(ceil(at + deviation), from, to);
    struct quantile quantile;

    double below = select_rank(values, from, to, low);
    double above = high > low ? select_rank(values, low + 1, to, high) : below;
    if (high > low)
        quantile.error = (above - below) / (double)(high - low) * deviation;
    else
        quantile.error = 0.0;
    double here = rank == low    ? below
                  : rank == high ? above
                                 : select_rank(values, low + 1, high, rank);
    double next = above;
    for (size_t i = rank + 1; i < high; i++)
        next = fmin(next, values[i]);
    quantile.value = here + (at - (double)rank) * (next - here);
    *ret_low = low;
    *ret_high = high;
    return quantile;
}

void quantiles_find(double *values, size_t count, struct quantiles *ret) {
    double last = (double)(count - 1);
    size_t low, high, unused, unused_too;
    ret->p50 = find_one(values, count, 0, count, 0.50, &low, &high);
    size_t to = ceil(0.05 * last) < (double)low ? low + 1 : count; /* few values: all of them */
    ret->p05 = find_one(values, count, 0, to, 0.05, &unused, &unused_too);
    size_t from = floor(0.95 * last) > (double)high && to < count ? high : 0;
    ret->p95 = find_one(values, count, from, count, 0.95, &unused, &unused_too);
}
