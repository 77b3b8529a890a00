/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which GPUs a lane of `block run` gets (docs/block-run.md): what was said, else those that this
 * process sees, in equal shares. Two runs never share one unless that was said: what they measure
 * would not be what one of them takes.
 */
#include "work/block-parts.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/root.h"
#include "base/str.h"
#include "exec/gpu-look.h"
#include "probe/probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ANSWER_NS    (5 * NS_PER_S)
#define INDEX_DIGITS 4u
#define VARIABLE     "CUDA_VISIBLE_DEVICES"
#define BAD_VALUE    "usage-bad-value"

struct words {
    const char **items;
    size_t count;
};

/* Between separators, without blanks around; empty ones stay. */
static struct words split(const char *text, char separator, struct arena *arena) {
    struct words words = {.items = arena_alloc(arena, (strlen(text) + 2) * sizeof(char *))};
    for (const char *at = text;; at++) {
        const char *end = strchrnul(at, separator);
        const char *first = at + strspn(at, " ");
        const char *last = end;
        first = first < end ? first : end;
        while (last > first && last[-1] == ' ')
            last--;
        words.items[words.count++] = arena_strndup(arena, first, (size_t)(last - first));
        if (!*end)
            return words;
        at = end;
    }
}

bool block_gpus_overlap(const char *a, const char *b) {
    AUTO_ARENA struct arena *arena = arena_new();
    if (!a || !b)
        return false;
    struct words x = split(a, ',', arena), y = split(b, ',', arena);
    for (size_t i = 0; i < x.count; i++)
        for (size_t k = 0; k < y.count; k++)
            if (*x.items[i] && strcmp(x.items[i], y.items[k]) == 0)
                return true;
    return false;
}

/* An index as CUDA takes it, without zeros in front, or (the beginning of) a UUID. */
static bool is_device(const char *text) {
    size_t digits = strspn(text, "0123456789");
    if (digits > 0 && !text[digits])
        return digits <= INDEX_DIGITS && (text[0] != '0' || digits == 1);
    if (!str_starts_with(text, "GPU-") && !str_starts_with(text, "MIG-"))
        return false;
    const char *rest = text + strlen("GPU-");
    return *rest && !rest[strspn(rest, "0123456789abcdefABCDEF-/GPUMIG")];
}

/* where: '--gpus', or the variable. */
static int check_entries(const struct words *words, const char *where, const char *id,
                         struct err *err) {
    for (size_t i = 0; i < words->count; i++) {
        if (!is_device(words->items[i]))
            return err_set(err, -EINVAL, id,
                           "%s takes indices or UUIDs of GPUs with commas between them, and "
                           "semicolons between the sets of lanes, such as 0,1;2,3; '%s' is none",
                           where, words->items[i]);
        for (size_t k = 0; k < i; k++)
            if (strcasecmp(words->items[i], words->items[k]) == 0)
                return err_set(err, -EINVAL, id,
                               "%s names GPU '%s' twice: lanes that are to share one get sets of "
                               "their own, such as 0;0",
                               where, words->items[i]);
    }
    return 0;
}

static const char *joined(const char *const *items, size_t count, struct arena *arena) {
    const char *text = items[0];
    for (size_t i = 1; i < count; i++)
        text = arena_printf(arena, "%s,%s", text, items[i]);
    return text;
}

/* Equal shares; what is left over stays unused, since a lane with more would measure something
 * else. */
static int share(const struct words *gpus, const char *id, struct arena *arena,
                 struct block_run_plan *ret, struct err *err) {
    size_t each = gpus->count / ret->lanes;
    if (each == 0)
        return err_set(err, -EINVAL, id,
                       "%zu lanes and %zu GPUs: two runs on one GPU would slow each other down; "
                       "take fewer lanes (--lanes %zu), or say that they share ('--gpus' with a "
                       "semicolon between the sets)",
                       ret->lanes, gpus->count, gpus->count);
    const char **lanes = arena_alloc(arena, ret->lanes * sizeof *lanes);
    for (size_t i = 0; i < ret->lanes; i++)
        lanes[i] = joined(&gpus->items[i * each], each, arena);
    ret->lane_gpus = lanes;
    return 0;
}

/* ---- those that this process sees ---- */

static int add_devices(const json_t *devices, struct arena *arena, struct words *ret,
                       struct err *err) {
    size_t count = json_array_size(devices);
    ret->items = arena_alloc(arena, (count + 1) * sizeof(char *));
    for (size_t i = 0; i < count; i++) {
        const json_t *device = json_array_get(devices, i);
        const char *uuid = json_get_text(device, "uuid", NULL);
        if (strcmp(json_get_text(device, "kind", "gpu"), "mig") == 0 || !uuid)
            return err_set(err, -ENODATA, "block-lanes",
                           "which GPU is for which lane cannot be told here (slices of a GPU, or "
                           "one without a UUID): say it with '--gpus'");
        ret->items[ret->count++] = arena_strdup(arena, uuid);
    }
    return 0;
}

static int find_visible(struct arena *arena, struct words *ret, struct err *err) {
    const char *variable = getenv(VARIABLE);
    if (variable) {
        if (*variable && strcmp(variable, "-1") != 0)
            *ret = split(variable, ',', arena);
        return 0;
    }
    if (gpu_devices_look(&root_real) == GPU_DEVICES_NONE)
        return 0;
    AUTO_JSON json_t *library = NULL;
    AUTO_JSON json_t *devices = NULL;
    const char *why = gpu_look(ANSWER_NS, &library, &devices);
    if (why)
        return err_set(err, -ENODATA, "block-lanes",
                       "which GPUs there are cannot be told (%s): say with '--gpus' which are for "
                       "which lane",
                       why);
    return add_devices(devices, arena, ret, err);
}

int block_lanes_share(const struct block_run_options *options, const struct plan_block *block,
                      struct arena *arena, struct block_run_plan *ret, struct err *err) {
    struct words sets = {0};
    bool is_nothing = options->gpus && !*options->gpus; /* it was found out before */
    if (options->gpus && !is_nothing)
        sets = split(options->gpus, ';', arena);
    ret->lanes = options->lanes;
    if (ret->lanes == 0 && sets.count > 1)
        ret->lanes = sets.count;
    if (ret->lanes == 0 && block->lanes.given && block->lanes.value > 0)
        ret->lanes = (size_t)block->lanes.value;
    if (ret->lanes == 0)
        ret->lanes = 1;
    if (ret->lanes > BLOCK_LANES_MAX)
        return err_set(err, -EINVAL, "block-lanes", "%zu lanes are too many: at most %u",
                       ret->lanes, BLOCK_LANES_MAX);
    if (sets.count > 1 && sets.count != ret->lanes)
        return err_set(err, -EINVAL, BAD_VALUE,
                       "'--gpus' has %zu sets, and there are %zu lanes: a set for each", sets.count,
                       ret->lanes);
    for (size_t i = 0; i < sets.count; i++) {
        struct words entries = split(sets.items[i], ',', arena);
        int rc = check_entries(&entries, "'--gpus'", BAD_VALUE, err);
        if (rc < 0)
            return rc;
        if (sets.count == 1)
            return share(&entries, BAD_VALUE, arena, ret, err);
    }
    if (sets.count > 1) {
        ret->lane_gpus = sets.items;
        return 0;
    }
    struct words visible = {0};
    if (ret->lanes == 1 || is_nothing)
        return 0;
    int rc = find_visible(arena, &visible, err);
    rc = rc < 0 ? rc : check_entries(&visible, VARIABLE, "block-lanes", err);
    return rc < 0 || visible.count == 0 ? rc : share(&visible, "block-lanes", arena, ret, err);
}
