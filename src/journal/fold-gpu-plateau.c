/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that a program takes at once and keeps, whatever it needs (JAX, TensorFlow, serving
 * engines): an allowance and no need. "Not known" where the curve tells neither. Rules:
 * docs/measurement.md, "GPU memory".
 */
#include "journal/fold-gpu.h"

#include "base/mem.h"
#include "model/gpu-series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHARE_MIN     0.70 /* of the device: less is never called an allowance */
#define BAND          0.97 /* of the peak: what a plateau keeps to */
#define JUMP_MIN      0.60 /* of the device, within JUMP_S: nothing that is needed comes so fast */
#define JUMP_S        1.0
#define PLATEAU_MIN_S 3.0

/* A serving engine that is known to take a share of the device for its cache. */
static bool is_serving(const struct gpu_fold *gpus) {
    static const char *const names[] = {"vllm", "sglang"};
    const json_t *command = json_get_array(gpus->fold->run->start, "command");
    const json_t *marks = gpus->fold->marks;
    for (size_t n = 0; n < ARRAY_LENGTH(names); n++) {
        for (size_t i = 0; i < json_array_size(command); i++) {
            const char *word = json_string_value(json_array_get(command, i));
            const char *slash = word != NULL ? strrchr(word, '/') : NULL;
            word = slash != NULL ? slash + 1 : word;
            if (word != NULL && strncmp(word, names[n], strlen(names[n])) == 0) {
                return true;
            }
        }
        for (size_t i = 0; i < json_array_size(marks); i++) {
            const json_t *data = json_get_object(json_array_get(marks, i), "data");
            if (strncmp(json_get_text(data, "what", ""), names[n], strlen(names[n])) == 0) {
                return true;
            }
        }
    }
    return false;
}

struct point {
    double time_s, value;
};

/* All samples, and of the seconds behind the tenth minute the least and the most. */
struct points {
    struct point *items;
    size_t count;
};

static void points_done(struct points *points) {
    mem_free_ptr(&points->items);
}
#define AUTO_POINTS __attribute__((cleanup(points_done)))

static int by_time(const void *a, const void *b) {
    const struct point *x = a, *y = b;
    return x->time_s < y->time_s ? -1 : x->time_s > y->time_s;
}

static void add_points(struct points *points, const struct fold_curve *curve) {
    if (curve == NULL) {
        return;
    }
    points->items = mem_realloc(points->items, points->count + curve->count, sizeof *points->items);
    for (size_t i = 0; i < curve->count; i++) {
        if (!isnan(curve->value[i])) {
            points->items[points->count++] = (struct point){curve->time_s[i], curve->value[i]};
        }
    }
}

struct plateau {
    double top, from_s, to_s; /* the first and last sample that lie in the band */
    double jump;              /* the largest rise within JUMP_S that ends in the band's first */
    bool leaves;              /* a sample between them lies below the band */
};

static bool find_plateau(const struct points *points, struct plateau *ret) {
    double top = 0;
    *ret = (struct plateau){.from_s = NAN, .to_s = NAN};
    for (size_t i = 0; i < points->count; i++) {
        top = fmax(top, points->items[i].value);
    }
    size_t first = points->count;
    for (size_t i = 0; i < points->count; i++) {
        if (points->items[i].value >= BAND * top) {
            first = first == points->count ? i : first;
            ret->to_s = points->items[i].time_s;
        }
    }
    if (!(top > 0) || first == points->count) {
        return false;
    }
    ret->top = top;
    ret->from_s = points->items[first].time_s;
    for (size_t i = first; i < points->count && points->items[i].time_s < ret->to_s; i++) {
        ret->leaves = ret->leaves || points->items[i].value < BAND * top;
    }
    for (size_t i = first; i-- > 0 && points->items[i].time_s >= ret->from_s - JUMP_S;) {
        ret->jump = fmax(ret->jump, points->items[first].value - points->items[i].value);
    }
    return true;
}

void fold_gpu_plateau(const struct gpu_fold *gpus, const char *key, struct run_gpu *gpu) {
    static const char *const names[] = {GPU_SERIES_USED, GPU_SERIES_USED_MIN, GPU_SERIES_USED_MAX};
    AUTO_POINTS struct points points = {0};
    struct plateau plateau;
    if (!quantity_is_known(&gpu->total) || gpu->others == RUN_YES) {
        return;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        add_points(&points, fold_gpu_curve(gpus, names[i], key));
    }
    if (points.count == 0) {
        return;
    }
    qsort(points.items, points.count, sizeof *points.items, by_time);
    if (!find_plateau(&points, &plateau)) {
        return;
    }
    double total = gpu->total.value;
    if (plateau.top < SHARE_MIN * total || plateau.leaves) {
        gpu->preallocated = RUN_NO;
        return;
    }
    if (plateau.to_s - plateau.from_s < PLATEAU_MIN_S) {
        return;
    }
    if (plateau.jump >= JUMP_MIN * total || is_serving(gpus)) {
        gpu->preallocated = RUN_YES;
    }
}
