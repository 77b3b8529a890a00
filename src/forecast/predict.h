/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Predictive distribution of the total of further runs of one condition. Durations are positive and skewed: log scale;
 * the unknown mean and spread are drawn once per simulated future and shared by its runs (method "lognormal-shared/1").
 * Pure and deterministic for a seed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define PREDICT_METHOD "lognormal-shared/1"
#define PREDICT_SEED   UINT64_C(20261130)
#define PREDICT_DRAWS  20000

struct predict_total {
    double p05, p50, p95; /* seconds; of the sum over `repeats` further runs */
};

/* values: observed durations > 0 (finite), count >= 2. repeats >= 1. Returns 0; -EINVAL for bad input;
 * -ERANGE when p95/p50 exceeds 10 (too few runs to say). */
int predict_total(const double *values, size_t count, uint64_t repeats, uint64_t seed, size_t draws, struct predict_total *ret);
