/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Order statistics of past misses (conformal.h). Must not know what was forecast, or when. */
#include "forecast/conformal.h"

#include "base/mem.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <string.h>

static bool is_positive(double value) {
    return isfinite(value) && value > 0.0;
}

/* Half the width of the interval's logarithm; 0: it has none. */
static double half_width(double p05, double p95) {
    if (!is_positive(p05) || !is_positive(p95) || p95 <= p05)
        return 0.0;
    return (log(p95) - log(p05)) / 2.0;
}

bool conformal_score(double p05, double p95, double actual, struct conformal_score *ret) {
    double half = half_width(p05, p95);
    if (half <= 0.0 || !is_positive(actual))
        return false;
    ret->below = (log(p05) - log(actual)) / half;
    ret->above = (log(actual) - log(p95)) / half;
    ret->two_sided = fmax(ret->below, ret->above);
    return true;
}

size_t conformal_rank(size_t n, unsigned percent) {
    size_t rank = ((n + 1) * percent + 99) / 100;
    return rank <= n ? rank : 0;
}

bool conformal_quantile(const double *scores, size_t n, unsigned percent, double *ret) {
    size_t rank = conformal_rank(n, percent);
    for (size_t i = 0; i < n; i++)
        if (isnan(scores[i]))
            return false;
    if (rank == 0)
        return false;
    AUTO_FREE double *sorted = mem_alloc(n * sizeof *sorted);
    memcpy(sorted, scores, n * sizeof *sorted);
    gsl_sort(sorted, 1, n);
    *ret = sorted[rank - 1];
    return true;
}

bool conformal_widen(double p05, double p95, double score, double *ret_p05, double *ret_p95) {
    double half = half_width(p05, p95);
    if (half <= 0.0 || !isfinite(score))
        return false;
    double low = exp(log(p05) - score * half), high = exp(log(p95) + score * half);
    if (!is_positive(low) || !is_positive(high))
        return false;
    *ret_p05 = low;
    *ret_p95 = high;
    return true;
}

bool conformal_share(size_t held, size_t count, double level, double *ret_low, double *ret_high) {
    if (count == 0 || held > count || !(level > 0.0 && level < 1.0))
        return false;
    double a = (double)held + 0.5, b = (double)(count - held) + 0.5, tail = (1.0 - level) / 2.0;
    *ret_low = held == 0 ? 0.0 : gsl_cdf_beta_Pinv(tail, a, b);
    *ret_high = held == count ? 1.0 : gsl_cdf_beta_Qinv(tail, a, b);
    return true;
}
