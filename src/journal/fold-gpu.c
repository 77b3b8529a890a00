/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The GPUs of a run from DEVICE, COUNTERS and the series: which devices are the run's, and the
 * driver's figures of each. Must not make a number of what a driver did not tell: it is open with
 * the driver's reason. Rules: docs/measurement.md, "GPU memory".
 */
#include "journal/fold-gpu.h"

#include "base/mem.h"
#include "base/msg.h"
#include "model/gpu-series.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- curves ---- */

bool fold_gpu_wants(const char *name) {
    static const char *const names[] = {
        GPU_SERIES_USED, GPU_SERIES_USED_MIN, GPU_SERIES_USED_MAX, GPU_SERIES_PROCESS_USED,
        GPU_SERIES_BUSY, GPU_SERIES_POWER,    GPU_SERIES_ENERGY,   NET_SERIES_RECEIVED,
        NET_SERIES_SENT, "tree.cpu",          "tree.disk_sleep",   "tree.disk_wait",
        "io.read",       GPU_SERIES_EVENTS,   GPU_SERIES_ECC,
    };
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

struct point {
    double time_s, value;
};

static int by_time(const void *a, const void *b) {
    const struct point *x = a, *y = b;
    return x->time_s < y->time_s ? -1 : x->time_s > y->time_s;
}

/* A journal that somebody joined or that was written late is no reason to read it backwards. */
static void sort_curve(struct fold_curve *curve) {
    bool is_sorted = true;
    for (size_t i = 1; i < curve->count; i++) {
        is_sorted = is_sorted && curve->time_s[i - 1] <= curve->time_s[i];
    }
    if (is_sorted) {
        return;
    }
    AUTO_FREE struct point *points = mem_alloc(curve->count * sizeof *points);
    for (size_t i = 0; i < curve->count; i++) {
        points[i] = (struct point){curve->time_s[i], curve->value[i]};
    }
    qsort(points, curve->count, sizeof *points, by_time);
    for (size_t i = 0; i < curve->count; i++) {
        curve->time_s[i] = points[i].time_s;
        curve->value[i] = points[i].value;
    }
}

struct fold_curve *fold_gpu_curve(const struct gpu_fold *gpus, const char *name,
                                  const char *device) {
    for (size_t i = 0; i < gpus->curves.count; i++) {
        struct fold_curve *curve = &gpus->curves.items[i];
        bool same_device = device == NULL ? curve->device == NULL
                                          : curve->device && strcmp(curve->device, device) == 0;
        if (same_device && strcmp(curve->name, name) == 0 && curve->count > 0) {
            return curve;
        }
    }
    return NULL;
}

void fold_each_phase(const struct run *run, double from_s, double to_s, fold_part_fn each,
                     void *context) {
    size_t low = 0, high = run->phase_count; /* the first stretch that ends behind from_s */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run->phases[middle].end_s <= from_s) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < run->phase_count && run->phases[low].start_s < to_s; low++) {
        const struct run_phase *phase = &run->phases[low];
        each(phase->phase, fmax(from_s, phase->start_s), fmin(to_s, phase->end_s), context);
    }
}

/* ---- why something is open ---- */

/* The reason as the writer gave it: a name of the schema, or a sentence. */
static bool told_reason(const json_t *reasons, const char *item, const char *unit,
                        const struct gpu_fold *gpus, struct quantity *ret_open) {
    const char *text = json_get_text(reasons, item, NULL);
    enum quantity_reason reason;
    if (text == NULL || text[0] == '\0') {
        return false;
    }
    if (quantity_reason_from_name(text, &reason) && reason != QUANTITY_NO_REASON) {
        *ret_open = quantity_open(unit, reason, NULL);
    } else {
        *ret_open = quantity_open(unit, QUANTITY_NOT_SUPPORTED,
                                  arena_strdup(gpus->fold->run->arena, msg_get(text)));
    }
    return true;
}

struct quantity fold_gpu_open(const struct gpu_fold *gpus, const json_t *device, const char *item,
                              const char *unit) {
    struct quantity open;
    if (told_reason(json_get_object(device, "reasons"), item, unit, gpus, &open)) {
        if (json_get_bool(device, "unified", false) == 1 && strcmp(item, "memory") == 0) {
            open.detail = _("the GPU has no memory of its own: it shares the host's");
        }
        return open;
    }
    if (json_get_bool(device, "lost", false) == 1) {
        return quantity_open(unit, QUANTITY_FAILED, _("the device was lost"));
    }
    enum quantity_reason reason = fold_absence(gpus->fold);
    if (reason == QUANTITY_NOT_IN_RECORD) {
        return quantity_open(unit, QUANTITY_NOT_SAMPLED,
                             _("the run ended before the driver was read"));
    }
    return quantity_open(unit, reason, NULL);
}

/* ---- memory as the driver counts it ---- */

struct figures { /* of one device */
    struct gpu_fold *gpus;
    const json_t *device, *counters; /* counters: its part of COUNTERS, NULL: none */
    const char *key;                 /* of its series */
    struct run_gpu *gpu;
};

static const char *method(const struct figures *f, const char *english) {
    const char *name = json_get_text(f->device, "memory_method", NULL);
    return name == NULL ? english
                        : arena_printf(f->gpus->fold->run->arena, "%s (%s)", english, name);
}

struct peak {
    double value;
    uint64_t samples;
    bool known;
};

struct peaks {
    const struct run *run;
    struct peak whole, phase[PHASE_COUNT_];
};

static void raise_peak(struct peak *peak, double value) {
    peak->value = peak->known ? fmax(peak->value, value) : value;
    peak->samples++;
    peak->known = true;
}

/* A sample belongs to the phase that holds when it was taken; the largest of a second, where one
 * phase holds all through it. span_s: the time before the tick that it speaks of. */
static void find_peaks(struct peaks *peaks, const struct fold_curve *curve, double span_s) {
    const struct run *run = peaks->run;
    size_t at = 0;
    for (size_t i = 0; curve != NULL && i < curve->count; i++) {
        double value = curve->value[i], time_s = curve->time_s[i];
        if (isnan(value) || value < 0) {
            continue;
        }
        raise_peak(&peaks->whole, value);
        while (at < run->phase_count && run->phases[at].end_s <= time_s) {
            at++;
        }
        if (at < run->phase_count && time_s - span_s >= run->phases[at].start_s) {
            raise_peak(&peaks->phase[run->phases[at].phase], value);
        }
    }
}

static struct quantity from_peak(const struct peak *peak, const char *how) {
    struct quantity q = quantity_bounded(UNIT_BYTE, peak->value, QUANTITY_AT_LEAST, how);
    q.n = peak->samples;
    return q;
}

/* The peak that COUNTERS hold and that of the series: both are samples, and the larger holds. */
static struct quantity memory(struct figures *f, const char *series, const char *peak_key,
                              const char *samples_key, const char *item, const char *how,
                              size_t offset) {
    struct peaks peaks = {.run = f->gpus->fold->run};
    struct quantity open = fold_gpu_open(f->gpus, f->device, item, UNIT_BYTE);
    told_reason(json_get_object(f->counters, "reasons"), peak_key, UNIT_BYTE, f->gpus, &open);
    find_peaks(&peaks, fold_gpu_curve(f->gpus, series, f->key), 0);
    if (strcmp(series, GPU_SERIES_USED) == 0) {
        find_peaks(&peaks, fold_gpu_curve(f->gpus, GPU_SERIES_USED_MAX, f->key), 1);
    }
    for (enum phase phase = 0; phase < PHASE_COUNT_; phase++) {
        struct run_gpu_phase *by = &f->gpu->by_phase[phase];
        struct quantity *q = (struct quantity *)(void *)((char *)&by->memory + offset);
        if (!by->entered) {
            continue;
        }
        *q = peaks.phase[phase].known ? from_peak(&peaks.phase[phase], how)
             : peaks.whole.known      ? quantity_open(UNIT_BYTE, QUANTITY_NOT_SAMPLED,
                                                      _("no sample fell into this phase"))
                                      : open;
    }
    int64_t bytes = 0, samples = 0;
    fold_get_i64(f->counters, samples_key, &samples);
    if (fold_get_i64(f->counters, peak_key, &bytes)) {
        uint64_t before = peaks.whole.samples;
        raise_peak(&peaks.whole, (double)bytes);
        peaks.whole.samples = (uint64_t)samples > before ? (uint64_t)samples : before;
    }
    return peaks.whole.known ? from_peak(&peaks.whole, how) : open;
}

static void driver_memory(struct figures *f) {
    struct run_gpu *gpu = f->gpu;
    gpu->device_used = memory(f, GPU_SERIES_USED, "used_peak_bytes", "used_samples", "memory",
                              method(f, "driver, all processes, sampled"),
                              offsetof(struct gpu_memory, device_used));
    gpu->process_used = memory(f, GPU_SERIES_PROCESS_USED, "process_peak_bytes", "process_samples",
                               "processes", "driver, sum over the run's processes, sampled",
                               offsetof(struct gpu_memory, process_used));
    if (json_get_bool(f->counters, "list_cut", false) == 1) {
        gpu->process_used.detail = _("the driver listed more processes than were read");
    }
    int64_t bytes;
    if (fold_get_i64(f->counters, "accounted_peak_bytes", &bytes) &&
        (!quantity_is_known(&gpu->process_used) || gpu->process_used.value < (double)bytes)) {
        gpu->process_used = quantity_bounded(UNIT_BYTE, (double)bytes, QUANTITY_AT_LEAST,
                                             "driver, accounting, largest of the run's processes");
    }
    gpu->total = fold_get_i64(f->device, "total_bytes", &bytes)
                     ? quantity_measured(UNIT_BYTE, (double)bytes, method(f, "driver"))
                     : fold_gpu_open(f->gpus, f->device, "memory", UNIT_BYTE);
    gpu->baseline =
        fold_get_i64(f->device, "baseline_bytes", &bytes)
            ? quantity_measured(UNIT_BYTE, (double)bytes, method(f, "driver, before the command"))
            : fold_gpu_open(f->gpus, f->device, "memory", UNIT_BYTE);
    if (fold_get_i64(f->counters, "left_bytes", &bytes)) {
        gpu->left = quantity_measured(UNIT_BYTE, (double)bytes, "driver, after the command's end");
    } else {
        gpu->left = quantity_open(UNIT_BYTE,
                                  fold_absence(f->gpus->fold) == QUANTITY_NOT_IN_RECORD
                                      ? QUANTITY_NOT_SAMPLED
                                      : fold_absence(f->gpus->fold),
                                  NULL);
        told_reason(json_get_object(f->counters, "reasons"), "left_bytes", UNIT_BYTE, f->gpus,
                    &gpu->left);
    }
}

/* ---- energy ---- */

#define POWER_HOLE_S 3.0    /* readings that lie farther apart leave a hole */
#define COVERED_S    0.0015 /* times are whole milliseconds */

static struct quantity energy_by_power(const struct figures *f) {
    const struct fold_curve *curve = fold_gpu_curve(f->gpus, GPU_SERIES_POWER, f->key);
    double sum = 0, covered_s = 0, last_s = NAN, last = NAN;
    uint64_t samples = 0;
    for (size_t i = 0; curve != NULL && i < curve->count; i++) {
        if (isnan(curve->value[i])) {
            continue;
        }
        double step_s = curve->time_s[i] - last_s;
        if (step_s > 0 && step_s <= POWER_HOLE_S) { /* false for the first */
            sum += step_s * (curve->value[i] + last) / 2;
            covered_s += step_s;
        }
        last_s = curve->time_s[i];
        last = curve->value[i];
        samples++;
    }
    if (!(covered_s > 0)) {
        struct quantity open = fold_gpu_open(f->gpus, f->device, "energy", UNIT_JOULE);
        told_reason(json_get_object(f->counters, "reasons"), "energy_j", UNIT_JOULE, f->gpus,
                    &open);
        return open;
    }
    /* What lies before the first reading, behind the last and in holes was used as well. */
    bool has_holes = fold_seconds(f->gpus->fold->horizon_ns) - covered_s > COVERED_S;
    struct quantity q =
        quantity_bounded(UNIT_JOULE, sum, has_holes ? QUANTITY_AT_LEAST : QUANTITY_EXACT,
                         "integral of the driver's power readings, whole device");
    q.n = samples;
    q.detail = _("each reading is an average over a time that the driver does not tell");
    return q;
}

/* What lies between two readings within the run was used within the run: at least. A board that
 * answers uses energy: a counter that stands still is broken, and 0 J is no figure. */
static struct quantity energy(const struct figures *f) {
    static const char how[] = "difference of the driver's energy counter, whole device";
    const json_t *value = json_object_get(f->counters, "energy_j");
    double joule = json_is_number(value) ? json_number_value(value) : -1;
    if (isfinite(joule) && joule > 0) {
        return quantity_bounded(UNIT_JOULE, joule, QUANTITY_AT_LEAST, how);
    }
    bool stands_still = joule >= 0;
    const struct fold_curve *curve = fold_gpu_curve(f->gpus, GPU_SERIES_ENERGY, f->key);
    double last = NAN;
    joule = 0;
    for (size_t i = 0; curve != NULL && i < curve->count; i++) {
        if (isnan(curve->value[i])) {
            continue;
        }
        if (curve->value[i] >= last) { /* false for the first, and where the counter began anew */
            joule += curve->value[i] - last;
            stands_still = true;
        }
        last = curve->value[i];
    }
    if (joule > 0) {
        return quantity_bounded(UNIT_JOULE, joule, QUANTITY_AT_LEAST, how);
    }
    struct quantity q = energy_by_power(f);
    if (!quantity_is_known(&q) && stands_still) {
        return quantity_open(UNIT_JOULE, QUANTITY_FAILED,
                             _("the driver's energy counter did not move"));
    }
    return q;
}

/* ---- devices ---- */

static const json_t *counters_of(const struct fold *fold, int64_t number) {
    const json_t *list = json_get_array(fold->counters, "gpu");
    int64_t other;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        if (fold_get_i64(entry, "device", &other) && other == number) {
            return entry;
        }
    }
    return NULL;
}

static enum run_known known(const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    return json_is_true(value) ? RUN_YES : json_is_false(value) ? RUN_NO : RUN_NOT_KNOWN;
}

static bool says_stand_in(const json_t *device) {
    const char *name = json_get_text(device, "name", "");
    return json_get_bool(device, "stand_in", false) == 1 || strcasestr(name, "stand-in") != NULL;
}

static void enter_phases(const struct gpu_fold *gpus, struct run_gpu *gpu) {
    const struct run *run = gpus->fold->run;
    for (size_t i = 0; i < run->phase_count && gpus->has_phases; i++) {
        gpu->by_phase[run->phases[i].phase].entered = true;
    }
}

/* Its series bear it: of two devices with one UUID the second is known by its number. */
static bool has_own_uuid(const struct fold *fold, const json_t *device) {
    const char *uuid = json_get_text(device, "uuid", "");
    for (size_t i = 0; i < json_array_size(fold->devices); i++) {
        const json_t *other = json_array_get(fold->devices, i);
        if (other == device) {
            return uuid[0] != '\0';
        }
        if (strcmp(json_get_text(other, "uuid", ""), uuid) == 0) {
            return false;
        }
    }
    return uuid[0] != '\0';
}

static void fold_device(struct gpu_fold *gpus, const json_t *device, struct run_gpu *gpu) {
    struct fold *fold = gpus->fold;
    int64_t number = 0, index;
    fold_get_i64(device, "device", &number);
    *gpu = (struct run_gpu){
        .uuid = fold_text(fold, device, "uuid"),
        .name = fold_text(fold, device, "name"),
        .index = fold_get_i64(device, "index", &index) && index < 4096 ? (int)index : -1,
        .kind = strcmp(json_get_text(device, "kind", ""), "mig") == 0 ? "mig" : "gpu",
        .bus_id = fold_text(fold, device, "bus_id"),
        .parent = fold_text(fold, device, "parent"),
        .mine_by = fold_text(fold, device, "mine_by"),
        .mine = strcmp(json_get_text(device, "mine", ""), "yes") == 0 ? RUN_YES : RUN_NOT_KNOWN,
        .stand_in = says_stand_in(device),
        .unified = known(device, "unified"),
        .virtual_mode = fold_text(fold, device, "virtual"),
    };
    struct figures f = {
        .gpus = gpus,
        .device = device,
        .counters = counters_of(fold, number),
        .key = has_own_uuid(fold, device) ? gpu->uuid
                                          : arena_printf(fold->run->arena, "%" PRId64, number),
        .gpu = gpu,
    };
    gpu->others = known(f.counters, "others");
    enter_phases(gpus, gpu);
    driver_memory(&f);
    gpu->energy = energy(&f);
    fold_gpu_condition(gpus, device, f.key, gpu);
    fold_gpu_busy(gpus, device, f.key, gpu);
    fold_gpu_plateau(gpus, f.key, gpu);
}

/* ---- without a device ---- */

static void set_all_open(struct run_gpu *gpu, enum quantity_reason reason, const char *why) {
    struct quantity bytes = quantity_open(UNIT_BYTE, reason, why);
    struct quantity seconds = quantity_open(UNIT_SECOND, reason, why);
    *gpu = (struct run_gpu){
        .index = -1,
        .total = bytes,
        .device_used = bytes,
        .process_used = bytes,
        .allocated = bytes,
        .reserved = bytes,
        .busy = quantity_open(UNIT_RATIO, reason, why),
        .idle = seconds,
        .energy = quantity_open(UNIT_JOULE, reason, why),
        .baseline = bytes,
        .left = bytes,
        .unseen = seconds,
        .ecc = quantity_open(UNIT_COUNT, reason, why),
    };
    for (enum gpu_idle cause = 0; cause < GPU_IDLE_COUNT_; cause++) {
        gpu->idle_by[cause] = seconds;
    }
}

struct why_none {
    enum quantity_reason reason;
    const char *why;
};

/* What the kernel's drivers show (ENVIRONMENT): none. A driver that is not loaded, that may not be
 * used or that hangs shows none either, so this alone says nothing where there is a library. */
static bool has_really_none(const struct fold *fold) {
    const json_t *gpu = json_get_object(fold->run->environment, "gpu");
    int64_t count = -1;
    return fold_get_i64(gpu, "count", &count) && count == 0;
}

static bool shows_some(const struct fold *fold) {
    const json_t *gpu = json_get_object(fold->run->environment, "gpu");
    int64_t count = -1;
    return fold_get_i64(gpu, "count", &count) && count > 0;
}

static struct why_none why_no_library(const struct fold *fold, const char *state) {
    static const struct {
        const char *state;
        struct why_none none;
    } states[] = {
        {"absent",
         {QUANTITY_NOT_SUPPORTED, N_("the driver's library (libnvidia-ml.so.1) was not found")}},
        {"no-driver",
         {QUANTITY_NOT_VISIBLE,
          N_("the GPU driver is not loaded, or cannot be reached from here")}},
        {"mismatch",
         {QUANTITY_FAILED, N_("the GPU driver's library and its kernel module are of different "
                              "versions: the driver was exchanged")}},
        {"no-permission",
         {QUANTITY_NOT_PERMITTED, N_("the GPU's device files may not be opened here")}},
        {"unusable", {QUANTITY_FAILED, N_("the GPU driver's library could not be used")}},
    };
    if (strcmp(state, "absent") == 0 && has_really_none(fold)) {
        return (struct why_none){QUANTITY_NOT_APPLICABLE, _("no GPU was found on this machine")};
    }
    for (size_t i = 0; i < ARRAY_LENGTH(states); i++) {
        if (strcmp(states[i].state, state) == 0) {
            return (struct why_none){states[i].none.reason, msg_get(states[i].none.why)};
        }
    }
    return (struct why_none){QUANTITY_NOT_SUPPORTED, _("the GPUs could not be looked at")};
}

/* Some may be more than can be watched, or were not told of. */
static bool was_all_watched(const struct fold *fold) {
    int64_t count = 0, unwatched = 0, boards = 0;
    fold_get_i64(fold->probe, "count", &count);
    fold_get_i64(fold->probe, "unwatched", &unwatched);
    for (size_t i = 0; i < json_array_size(fold->devices); i++) {
        const json_t *device = json_array_get(fold->devices, i);
        boards += strcmp(json_get_text(device, "kind", "gpu"), "mig") != 0;
    }
    return unwatched == 0 && boards >= count;
}

static struct why_none why_none(const struct fold *fold) {
    struct run *run = fold->run;
    const char *detail = json_get_text(fold->probe, "detail", "");
    int64_t count;
    if (json_array_size(fold->devices) > 0 && !was_all_watched(fold)) {
        return (struct why_none){QUANTITY_NOT_SAMPLED,
                                 _("the run used none of the GPUs that were watched, but not all "
                                   "of this machine's were")};
    }
    if (json_array_size(fold->devices) > 0) {
        return (struct why_none){QUANTITY_NOT_APPLICABLE,
                                 _("the run used none of the GPUs of this machine")};
    }
    if (fold->probe == NULL && json_object_get(run->start, "agents") == NULL) {
        return (struct why_none){QUANTITY_NOT_IN_RECORD,
                                 _("the version that wrote the record did not look at GPUs")};
    }
    if (fold->probe == NULL) {
        enum quantity_reason reason = fold_absence(fold);
        return (struct why_none){reason == QUANTITY_NOT_IN_RECORD ? QUANTITY_NOT_SAMPLED : reason,
                                 _("the record says nothing of GPUs")};
    }
    const char *state = json_get_text(fold->probe, "state", "");
    enum quantity_reason reason;
    bool answered = strcmp(state, "ready") == 0;
    if (fold_get_i64(fold->probe, "count", &count) && count == 0 &&
        (answered || strcmp(state, "absent") == 0)) {
        return answered && shows_some(fold)
                   ? (struct why_none){QUANTITY_NOT_VISIBLE,
                                       _("the GPU driver shows none of the machine's GPUs here")}
                   : (struct why_none){QUANTITY_NOT_APPLICABLE,
                                       _("no GPU was found on this machine")};
    }
    if (quantity_reason_from_name(json_get_text(fold->probe, "reason", ""), &reason)) {
        return (struct why_none){reason, arena_strdup(run->arena, msg_get(detail))};
    }
    if (answered) {
        return (struct why_none){QUANTITY_NOT_SAMPLED,
                                 _("the run ended before the driver was read")};
    }
    struct why_none none = why_no_library(fold, state);
    if (detail[0] != '\0' && none.reason != QUANTITY_NOT_APPLICABLE) {
        none.why = arena_printf(run->arena, "%s (%s)", none.why, msg_get(detail));
    }
    return none;
}

/* ---- names of --gpu ---- */

static const char *const *texts(struct run *run, const json_t *list, size_t *ret_count) {
    size_t count = json_array_size(list);
    const char **items = arena_alloc(run->arena, (count + 1) * sizeof *items);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (text != NULL) {
            items[(*ret_count)++] = arena_strdup(run->arena, text);
        }
    }
    return items;
}

static void add_names(struct strbuf *out, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        strbuf_printf(out, "%s%s", i > 0 ? ", " : "", names[i]);
    }
}

#define SHOWN_DEVICES 16u

/* "0, 1, 2": what a person could have named. */
static void add_devices(struct strbuf *out, const json_t *devices) {
    size_t count = json_array_size(devices), shown = 0;
    for (size_t i = 0; i < count && shown < SHOWN_DEVICES; i++) {
        const json_t *device = json_array_get(devices, i);
        bool is_slice = strcmp(json_get_text(device, "kind", ""), "mig") == 0;
        const char *uuid = json_get_text(device, "uuid", NULL);
        int64_t index;
        const char *separator = shown++ > 0 ? ", " : "";
        if (!is_slice && fold_get_i64(device, "index", &index)) {
            strbuf_printf(out, "%s%" PRId64, separator, index);
        } else {
            strbuf_printf(out, "%s%s", separator, uuid != NULL ? uuid : "?");
        }
    }
    if (count > shown) {
        strbuf_add_str(out, ", …");
    }
}

static void fold_names(struct fold *fold) {
    struct run *run = fold->run;
    AUTO_STRBUF struct strbuf why = STRBUF_INIT, there = STRBUF_INIT, names = STRBUF_INIT;
    run->gpu_not_found =
        texts(run, json_get_array(fold->probe, "not_found"), &run->gpu_not_found_count);
    run->gpu_ambiguous =
        texts(run, json_get_array(fold->probe, "ambiguous"), &run->gpu_ambiguous_count);
    add_devices(&there, fold->devices);
    if (run->gpu_not_found_count > 0) {
        add_names(&names, run->gpu_not_found, run->gpu_not_found_count);
        strbuf_printf(&why, _("--gpu %s names no GPU; there are: %s"), strbuf_str(&names),
                      there.length > 0 ? strbuf_str(&there) : _("none"));
    }
    if (run->gpu_ambiguous_count > 0) {
        strbuf_clear(&names);
        add_names(&names, run->gpu_ambiguous, run->gpu_ambiguous_count);
        strbuf_printf(&why, _("%s--gpu %s names several of the GPUs; there are: %s"),
                      why.length > 0 ? "; " : "", strbuf_str(&names), strbuf_str(&there));
    }
    if (why.length > 0) {
        run->gpu_names_why = arena_strdup(run->arena, strbuf_str(&why));
    }
}

static bool is_not_mine(const json_t *device) {
    return strcmp(json_get_text(device, "mine", ""), "no") == 0;
}

void fold_gpus(struct fold *fold, const void *bytes, size_t length) {
    struct run *run = fold->run;
    struct gpu_fold gpus = {.fold = fold};
    size_t count = json_array_size(fold->devices), mine = 0;
    fold_names(fold);
    for (size_t i = 0; i < count; i++) {
        bool is_others = is_not_mine(json_array_get(fold->devices, i));
        run->gpu_others += is_others;
        mine += !is_others;
    }
    run->gpus = arena_alloc(run->arena, (mine + 1) * sizeof *run->gpus);
    if (mine == 0) {
        struct why_none none = why_none(fold);
        set_all_open(&run->gpus[0], none.reason, none.why);
        run->gpu_count = 1;
        return;
    }
    for (size_t i = 0; i < run->phase_count; i++) {
        gpus.has_phases = gpus.has_phases || run->phases[i].phase != PHASE_UNATTRIBUTED;
    }
    fold_curves_read(fold, bytes, length, fold_gpu_wants, &gpus.curves);
    for (size_t i = 0; i < gpus.curves.count; i++) {
        sort_curve(&gpus.curves.items[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *device = json_array_get(fold->devices, i);
        if (!is_not_mine(device)) {
            fold_device(&gpus, device, &run->gpus[run->gpu_count++]);
        }
    }
    fold_gpu_agents(&gpus);
    fold_curves_done(&gpus.curves);
}
