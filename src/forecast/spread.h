/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much the runs of a condition differ: the standard deviation of the logarithms of their wall
 * times, never known exactly, so always a weight for each of a grid of values. Three levels: the
 * conditions of a family are spread around the family's typical value, the families around that of
 * the whole history (normal on the logarithm of the deviation). A condition without runs of its own
 * has the weights of its family, and its own runs change them by their likelihood. Pure;
 * docs/estimate.md.
 */
#pragma once

#include "forecast/history.h"

#include <stddef.h>

#define SPREAD_LEAST_LOG (-12.0) /* logarithm of the smallest deviation: 6e-6 */
#define SPREAD_STEP_LOG  0.25
#define SPREAD_GRID      61 /* up to e^3, a factor of e^20: no duration */

struct spread_weights {
    double of[SPREAD_GRID]; /* sum 1 */
};

struct arena;
struct spread_model;
#define SPREAD_NOBODY ((size_t)-1)

/* In the arena; keeps pointers into the history. NULL: no condition of it has two runs. */
const struct spread_model *spread_model_new(const struct history *history, struct arena *arena);
/* Family of a name as an index; SPREAD_NOBODY: the history does not have it. */
size_t spread_family(const struct spread_model *model, const char *family);
size_t spread_family_of(const struct spread_model *model, size_t condition);

/* The weights after `count` runs of a condition of this family (SPREAD_NOBODY: of none that is
 * known). itself: the condition of the history that it is, whose runs there are left out, or
 * SPREAD_NOBODY. */
void spread_posterior(const struct spread_model *model, size_t family, size_t itself,
                      const double *seconds, size_t count, struct spread_weights *ret);

double spread_at(size_t i);                                /* deviation of a grid point */
double spread_typical_log(const struct spread_weights *w); /* mean of its logarithm */
