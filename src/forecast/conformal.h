/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What past intervals teach about the next one, without a model (method "split-conformal/1"): how
 * far outside its stated interval each outcome fell, on the log scale and in units of the stated
 * half-width, so that studies of different size and certainty compare; then an order statistic of
 * these scores widens or narrows the new interval. With exchangeable outcomes the corrected
 * interval covers at least the level, however wrong the stated ones were (Vovk, Gammerman and
 * Shafer, Algorithmic Learning in a Random World, 2005; Lei et al., JASA 2018). And how sure a
 * share of hits is. Pure; docs/estimate.md, "Calibration".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define CONFORMAL_METHOD "split-conformal/1"
/* Percent that the corrected interval covers, and each one-sided bound; whole numbers, so that no
 * rank depends on how a fraction is rounded. */
#define CONFORMAL_TWO_SIDED 90u
#define CONFORMAL_ONE_SIDED 95u
/* The fewest outcomes of which that order statistic exists. */
#define CONFORMAL_TWO_SIDED_LEAST 9u
#define CONFORMAL_ONE_SIDED_LEAST 19u

/* How far an outcome lies outside, in half-widths of the logarithm; negative: inside. */
struct conformal_score {
    double two_sided; /* the larger of the following two; -1 in the middle, 0 on an end */
    double below;     /* under the lower end */
    double above;     /* over the upper end */
};
/* false: the interval has no width, or one of the three is not positive and finite: no score. */
bool conformal_score(double p05, double p95, double actual, struct conformal_score *ret);

/* ceil((n + 1) x percent / 100), counted from 1; 0: n are too few, no such rank exists. percent:
 * 1 ... 99. */
size_t conformal_rank(size_t n, unsigned percent);

/* The score at that rank from the smallest; infinity is allowed among the scores (an outcome that
 * was cut off) and may be what comes of it. false: too few, or one is no number. */
bool conformal_quantile(const double *scores, size_t n, unsigned percent, double *ret);

/* The stated interval moved outward by `score` half-widths at each end; score >= -1 keeps the ends
 * in order. false: as conformal_score, or the score is not finite, or an end would not be. */
bool conformal_widen(double p05, double p95, double score, double *ret_p05, double *ret_p95);

/* Jeffreys interval of a share (Brown, Cai and DasGupta, Statistical Science 2001): quantiles of
 * Beta(1/2 + held, 1/2 + count - held), equal tails; 0 is the lower end where none held, 1 the
 * upper one where all did. level: 0 < level < 1. false: no count, or more held than there are. */
bool conformal_share(size_t held, size_t count, double level, double *ret_low, double *ret_high);
