/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much of the uncertainty of a sum comes from one part of it: the covariance of the part with
 * the sum over the variance of the sum. The shares of all parts add up to 1, whatever they have in
 * common. With few runs the variance of a sum need not be finite, so that only futures within its
 * interval are looked at. Pure.
 */
#pragma once

#include <stddef.h>

/* More futures than these add nothing to a share that is shown in percent. */
#define DOMINANCE_DRAWS 2000u

/* part, sum: of the same futures. Of those where low <= sum <= high; NAN where the sum does not
 * vary there. */
double dominance_share(const float *part, const double *sum, size_t count, double low, double high);
