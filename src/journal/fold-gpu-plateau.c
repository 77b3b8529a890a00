/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that a program takes at once and keeps, whatever it needs (JAX, TensorFlow, serving
 * engines): an allowance and no need. "Not known" where the curve tells neither. Rules:
 * docs/measurement.md, "GPU memory".
 */
#include "journal/fold-gpu.h"

#include "model/gpu-series.h"

#include <math.h>
#include <string.h>

#define SHARE_MIN     0.60 /* of the device: less is never called an allowance */
#define BAND          0.97 /* of the peak: what a plateau keeps to */
#define JUMP_MIN      0.40 /* of the device, within JUMP_S: nothing that is needed comes so fast */
#define JUMP_S        1.0
#define PLATEAU_MIN_S 3.0

/* A serving engine that is known to take a share of the device for its cache. */
static bool is_serving(const struct gpu_fold *gpus) {
    static const char *const names[] = {"vllm", "sglang"};
    const json_t *command = json_get_array(gpus->fold->run->start, "command");
    const json_t *marks = gpus->fold->marks;
    for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
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

struct plateau {
    double top, from_s, to_s; /* the first and last sample that lie in the band */
    double jump;              /* the largest rise within JUMP_S that ends in the band's first */
    bool leaves;              /* a sample between them lies below the band */
};

static bool find_plateau(const struct fold_curve *curve, struct plateau *ret) {
    double top = 0;
    *ret = (struct plateau){.from_s = NAN, .to_s = NAN};
    for (size_t i = 0; i < curve->count; i++) {
        top = curve->value[i] > top ? curve->value[i] : top;
    }
    size_t first = curve->count;
    for (size_t i = 0; i < curve->count; i++) {
        if (curve->value[i] >= BAND * top) {
            first = first == curve->count ? i : first;
            ret->to_s = curve->time_s[i];
        }
    }
    if (!(top > 0) || first == curve->count) {
        return false;
    }
    ret->top = top;
    ret->from_s = curve->time_s[first];
    for (size_t i = first; i < curve->count && curve->time_s[i] <= ret->to_s; i++) {
        ret->leaves = ret->leaves || curve->value[i] < BAND * top;
    }
    for (size_t i = first; i-- > 0 && curve->time_s[i] >= ret->from_s - JUMP_S;) {
        double rise = curve->value[first] - curve->value[i];
        ret->jump = rise > ret->jump ? rise : ret->jump;
    }
    return true;
}

void fold_gpu_plateau(const struct gpu_fold *gpus, const char *key, struct run_gpu *gpu) {
    const struct fold_curve *curve = fold_gpu_curve(gpus, GPU_SERIES_USED, key);
    struct plateau plateau;
    if (curve == NULL || !quantity_is_known(&gpu->total) || gpu->others == RUN_YES ||
        !find_plateau(curve, &plateau)) {
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
