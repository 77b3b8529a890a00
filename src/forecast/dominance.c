/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares of the variance of a sum (dominance.h). */
#include "forecast/dominance.h"

#include <math.h>

double dominance_share(const float *part, const double *sum, size_t count, double low,
                       double high) {
    double mean_part = 0.0;
    double mean_sum = 0.0;
    double together = 0.0; /* n x covariance */
    double alone = 0.0;    /* n x variance of the sum */
    double n = 0.0;

    for (size_t i = 0; i < count; i++) { /* Welford (1962), for two variables */
        if (sum[i] < low || sum[i] > high)
            continue;
        n += 1.0;
        double of_part = (double)part[i] - mean_part;
        double of_sum = sum[i] - mean_sum;
        mean_part += of_part / n;
        mean_sum += of_sum / n;
        together += of_part * (sum[i] - mean_sum);
        alone += of_sum * (sum[i] - mean_sum);
    }
    return alone > 0.0 ? together / alone : NAN;
}
