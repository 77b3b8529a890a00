/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The quantiles that are shown of drawn futures, each with its simulation error: how far another
 * seed would move it. Internal to forecast/. Without a full sort.
 */
#pragma once

#include <stddef.h>

struct quantile {
    double value; /* interpolated between order statistics, as predict_quantile */
    /* Its standard error, from the order statistics that lie one binomial standard deviation of the
     * rank below and above; 0 with equal draws, and with too few to tell. */
    double error;
};
struct quantiles {
    struct quantile p05, p50, p95;
};
/* values: count >= 1, none NAN; left in another order. */
void quantiles_find(double *values, size_t count, struct quantiles *ret);
