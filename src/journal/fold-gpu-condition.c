/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The condition of a GPU during a run: errors of its memory, and what held its clocks down. Must
 * not call a clock held where the driver only says that nothing was to do. Rules:
 * docs/measurement.md, "GPU memory".
 */
#include "journal/fold-gpu.h"

#include "base/mem.h"
#include "model/gpu-series.h"

#include <math.h>

#define NOTICEABLE 0.1 /* share of the samples */

/* Bits of nvmlDeviceGetCurrentClocksEventReasons that mean a limit. An idle device, clocks that
 * somebody has set and boards that keep step (0x1, 0x2, 0x10, 0x100) are no limit. */
static const struct {
    uint64_t bits;
    const char *name;
} limits[RUN_GPU_HELD_MAX] = {
    {0x4, "power-cap"},            /* SW power cap */
    {0x8, "hardware"},             /* HW slowdown: one of the two below, or the power was cut */
    {0x20, "thermal"},             /* SW thermal slowdown */
    {0x40, "hardware-thermal"},    /* HW thermal slowdown */
    {0x80, "hardware-power-brake"} /* HW power brake */
};

static void find_held(const struct fold_curve *curve, struct run_gpu *gpu) {
    size_t samples = 0, held[RUN_GPU_HELD_MAX] = {0};
    for (size_t i = 0; curve != NULL && i < curve->count; i++) {
        double value = curve->value[i];
        if (isnan(value) || value < 0 || value >= 0x1p53) {
            continue;
        }
        samples++;
        for (size_t l = 0; l < RUN_GPU_HELD_MAX; l++) {
            held[l] += ((uint64_t)value & limits[l].bits) != 0;
        }
    }
    for (size_t l = 0; l < RUN_GPU_HELD_MAX; l++) {
        double share = samples > 0 ? (double)held[l] / (double)samples : 0;
        if (held[l] == 0 || share < NOTICEABLE) {
            continue;
        }
        struct run_gpu_held *entry = &gpu->held[gpu->held_count++];
        entry->name = limits[l].name;
        entry->share = quantity_measured(UNIT_RATIO, share,
                                         "driver, clock event reasons, share of the samples");
        entry->share.n = samples;
    }
}

/* The counter begins anew when the driver is loaded anew: what came before is not lost. */
static struct quantity ecc(const struct gpu_fold *gpus, const json_t *device,
                           const struct fold_curve *curve) {
    double sum = 0, last = NAN;
    size_t samples = 0;
    for (size_t i = 0; curve != NULL && i < curve->count; i++) {
        double value = curve->value[i];
        if (isnan(value) || value < 0) {
            continue;
        }
        sum += samples > 0 ? (value >= last ? value - last : value) : 0;
        last = value;
        samples++;
    }
    if (samples == 0) {
        return fold_gpu_open(gpus, device, "ecc", UNIT_COUNT);
    }
    if (samples == 1) {
        return quantity_open(UNIT_COUNT, QUANTITY_NOT_SAMPLED, NULL);
    }
    struct quantity q =
        quantity_bounded(UNIT_COUNT, sum, QUANTITY_AT_LEAST,
                         "difference of the driver's counter of uncorrected ECC errors");
    q.n = samples;
    return q;
}

void fold_gpu_condition(const struct gpu_fold *gpus, const json_t *device, const char *key,
                        struct run_gpu *gpu) {
    gpu->ecc = ecc(gpus, device, fold_gpu_curve(gpus, GPU_SERIES_ECC, key));
    find_held(fold_gpu_curve(gpus, GPU_SERIES_EVENTS, key), gpu);
}
