/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Forecasts as forecast-replay writes them, of groups or of matrices, checked against the target
 * they are of: each names a group (a matrix) that is scored at its k, and none twice. Missing ones
 * are the caller's to count.
 */
#pragma once

#include "forecast-baselines.h"
#include "forecast-data.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FORECAST_PREDICTIONS_HEADER "source,group,k,pred,lo,hi"
#define FORECAST_MATRICES_HEADER    "source,matrix,k,conditions,pred,lo,hi"

struct forecast_predictions;

int forecast_predictions_read(const char *path, const struct forecast_data *target,
                              struct forecast_predictions **ret_predictions, struct err *err);
/* The names of the matrices must have one seed, and `conditions` be what that seed makes. */
int forecast_predictions_read_matrices(const char *path, const struct forecast_data *target,
                                       struct forecast_predictions **ret_predictions,
                                       struct err *err);
struct forecast_predictions *forecast_predictions_free(struct forecast_predictions *predictions);

/* All NAN: there is none. */
struct forecast_answer forecast_predictions_find(const struct forecast_predictions *predictions,
                                                 const char *source, const char *name, size_t k);
/* The seed of the matrices' names; fallback where there is no row. */
uint64_t forecast_predictions_seed(const struct forecast_predictions *predictions,
                                   uint64_t fallback);

/* One line of such a file, pred known; reads back as the same numbers. */
void forecast_predictions_write(FILE *out, const struct forecast_group *group, size_t k,
                                struct forecast_answer answer);
void forecast_predictions_write_matrix(FILE *out, const struct forecast_matrix *matrix,
                                       struct forecast_answer answer);
