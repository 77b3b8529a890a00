/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When a GPU had work and when not, and what the host did meanwhile. Only what a window of the
 * driver covers counts: what nobody saw is neither busy nor idle. Rules: docs/measurement.md,
 * "Busy and idle".
 */
#include "journal/fold-gpu.h"

#include "base/mem.h"
#include "base/msg.h"
#include "model/gpu-series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_MAX_S  1.25 /* the driver's windows are 1/6 to 1 s; beyond that some are missing */
#define UNSEEN_MIN_S  0.25 /* less than that is the rest of a window, and no gap */
#define UNSEEN_SHARE  0.1  /* more of the time unseen: the rest does not stand for all of it */
#define HOST_STEP_S   0.5  /* looks at the host that lie closer are taken together */
#define HOST_STEP_MAX 5.0  /* farther apart they say nothing of what lay between */
#define BUSY_CORES    0.5
#define NETWORK_RATE  131072.0 /* bytes a second */
#define TOUCH_S       0.0015   /* times are whole milliseconds */

struct window {
    double from_s, to_s, share;
};

/* What the host did between two looks. */
struct host_step {
    double from_s, to_s;
    enum gpu_idle cause; /* GPU_IDLE_UNKNOWN: none that a rule knows */
};

struct sums {
    double seen_s, busy_s, idle_s, idle_by_s[GPU_IDLE_COUNT_];
};

struct busy {
    const struct gpu_fold *gpus;
    struct run_gpu *gpu;
    struct window *windows;
    size_t window_count;
    struct host_step *steps;
    size_t step_count;
    double horizon_s, first_use_s, last_use_s; /* middle of the first and last window with work */
    struct sums whole, phase[PHASE_COUNT_];
    double phase_s[PHASE_COUNT_];
    enum gpu_idle cause; /* of the piece that is being split */
};

/* ---- windows ---- */

static int by_value(const void *a, const void *b) {
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* The usual distance of two windows: how long one is that has none before it. */
static double usual_window(const struct fold_curve *curve) {
    AUTO_FREE double *steps = mem_alloc((curve->count + 1) * sizeof *steps);
    size_t count = 0;
    for (size_t i = 1; i < curve->count; i++) {
        double step_s = curve->time_s[i] - curve->time_s[i - 1];
        if (step_s > TOUCH_S && step_s <= WINDOW_MAX_S) {
            steps[count++] = step_s;
        }
    }
    if (count == 0) {
        return curve->interval_s > 0 && curve->interval_s <= WINDOW_MAX_S ? curve->interval_s : 0;
    }
    qsort(steps, count, sizeof *steps, by_value);
    return steps[count / 2];
}

static void find_windows(struct busy *busy, const struct fold_curve *curve) {
    double usual_s = usual_window(curve), last_s = NAN;
    busy->windows = mem_alloc((curve->count + 1) * sizeof *busy->windows);
    for (size_t i = 0; i < curve->count; i++) {
        double end_s = curve->time_s[i], share = curve->value[i];
        double step_s = end_s - last_s;
        last_s = step_s <= 0 ? last_s : end_s;
        if (isnan(share) || share < 0 || share > 1 || step_s <= 0) {
            continue; /* the same moment twice, or nothing that is a share */
        }
        double length_s = step_s <= WINDOW_MAX_S ? step_s : usual_s; /* NaN: the first */
        struct window window = {fmax(end_s - length_s, 0), fmin(end_s, busy->horizon_s), share};
        if (window.to_s > window.from_s) {
            busy->windows[busy->window_count++] = window;
        }
    }
    busy->first_use_s = busy->last_use_s = NAN;
    for (size_t i = 0; i < busy->window_count; i++) {
        const struct window *window = &busy->windows[i];
        if (window->share > 0) {
            busy->last_use_s = (window->from_s + window->to_s) / 2;
            busy->first_use_s = isnan(busy->first_use_s) ? busy->last_use_s : busy->first_use_s;
        }
    }
}

/* ---- the host meanwhile ---- */

/* Growth of a counter between two moments, from the ticks at or before each (without one before:
 * from the first between them on); NaN: not told. */
static double growth(const struct fold_curve *curve, double from_s, double to_s) {
    double first = NAN, last = NAN;
    for (size_t i = 0; curve != NULL && i < curve->count && curve->time_s[i] <= to_s + TOUCH_S;
         i++) {
        if (isnan(curve->value[i])) {
            continue;
        }
        if (curve->time_s[i] <= from_s + TOUCH_S || isnan(first)) {
            first = curve->value[i];
        } else {
            last = curve->value[i];
        }
    }
    return last - first;
}

struct host {
    const struct fold_curve *cpu, *disk_sleep, *disk_wait, *read, *received, *sent;
};

/* The part of a curve that lies around [from_s, to_s], so that a step costs what it holds. */
static struct fold_curve part_of(const struct fold_curve *curve, double from_s, double to_s) {
    struct fold_curve part = {0};
    if (curve == NULL) {
        return part;
    }
    size_t low = 0, high = curve->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (curve->time_s[middle] < from_s - HOST_STEP_MAX) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    part = *curve;
    part.time_s = curve->time_s + low;
    part.value = curve->value + low;
    for (part.count = 0;
         low + part.count < curve->count && part.time_s[part.count] <= to_s + TOUCH_S;) {
        part.count++;
    }
    return part;
}

static double grown(const struct fold_curve *curve, double from_s, double to_s) {
    struct fold_curve part = part_of(curve, from_s, to_s);
    return growth(&part, from_s, to_s);
}

static bool slept_on_disk(const struct host *host, double from_s, double to_s) {
    if (grown(host->disk_wait, from_s, to_s) > 0) {
        return true;
    }
    struct fold_curve part = part_of(host->disk_sleep, from_s, to_s);
    for (size_t i = 0; i < part.count; i++) {
        if (part.time_s[i] >= from_s - TOUCH_S && part.value[i] > 0) {
            return true;
        }
    }
    return false;
}

static enum gpu_idle host_cause(const struct host *host, double from_s, double to_s) {
    double cores = grown(host->cpu, from_s, to_s) / (to_s - from_s);
    if (cores >= BUSY_CORES) { /* false where it is not known */
        return GPU_IDLE_HOST_BUSY;
    }
    if (grown(host->read, from_s, to_s) > 0 && slept_on_disk(host, from_s, to_s)) {
        return GPU_IDLE_DISK_WAIT;
    }
    double received = grown(host->received, from_s, to_s), sent = grown(host->sent, from_s, to_s);
    double bytes = (isnan(received) ? 0 : received) + (isnan(sent) ? 0 : sent);
    bool is_quiet = cores < BUSY_CORES;
    return is_quiet && bytes / (to_s - from_s) >= NETWORK_RATE ? GPU_IDLE_NETWORK
                                                               : GPU_IDLE_UNKNOWN;
}

static void find_steps(struct busy *busy) {
    const struct host host = {
        .cpu = fold_gpu_curve(busy->gpus, "tree.cpu", NULL),
        .disk_sleep = fold_gpu_curve(busy->gpus, "tree.disk_sleep", NULL),
        .disk_wait = fold_gpu_curve(busy->gpus, "tree.disk_wait", NULL),
        .read = fold_gpu_curve(busy->gpus, "io.read", NULL),
        .received = fold_gpu_curve(busy->gpus, NET_SERIES_RECEIVED, NULL),
        .sent = fold_gpu_curve(busy->gpus, NET_SERIES_SENT, NULL),
    };
    size_t count = host.cpu != NULL ? host.cpu->count : 0;
    busy->steps = mem_alloc((count + 1) * sizeof *busy->steps);
    double from_s = 0;
    for (size_t i = 0; i < count; i++) {
        double to_s = host.cpu->time_s[i];
        if (to_s - from_s < HOST_STEP_S && i + 1 < count) {
            continue;
        }
        if (to_s - from_s > TOUCH_S && to_s - from_s <= HOST_STEP_MAX) {
            busy->steps[busy->step_count++] =
                (struct host_step){from_s, to_s, host_cause(&host, from_s, to_s)};
        }
        from_s = to_s;
    }
}

/* ---- sums ---- */

static void add_idle(enum phase phase, double from_s, double to_s, void *context) {
    struct busy *busy = context;
    busy->phase[phase].idle_s += to_s - from_s;
    busy->phase[phase].idle_by_s[busy->cause] += to_s - from_s;
}

static void add_piece(struct busy *busy, double from_s, double to_s, enum gpu_idle cause) {
    if (!(to_s > from_s)) {
        return;
    }
    double middle_s = (from_s + to_s) / 2;
    if (cause == GPU_IDLE_UNKNOWN && !(middle_s >= busy->first_use_s)) { /* never used: as well */
        /* what ran before may have used it before it was attached to */
        cause = busy->gpus->fold->is_attached ? cause : GPU_IDLE_BEFORE_FIRST_USE;
    } else if (cause == GPU_IDLE_UNKNOWN && middle_s > busy->last_use_s) {
        cause = GPU_IDLE_AFTER_LAST_USE;
    }
    busy->whole.idle_s += to_s - from_s;
    busy->whole.idle_by_s[cause] += to_s - from_s;
    busy->cause = cause;
    fold_each_phase(busy->gpus->fold->run, from_s, to_s, add_idle, busy);
}

/* A stretch without work, cut where the host's looks lie. */
static void add_stretch(struct busy *busy, double from_s, double to_s) {
    size_t low = 0, high = busy->step_count; /* the first step that ends behind from_s */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (busy->steps[middle].to_s <= from_s) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (; low < busy->step_count && busy->steps[low].from_s < to_s; low++) {
        const struct host_step *step = &busy->steps[low];
        add_piece(busy, from_s, fmin(to_s, step->from_s), GPU_IDLE_UNKNOWN);
        double begin_s = fmax(from_s, step->from_s);
        from_s = fmin(to_s, step->to_s);
        add_piece(busy, begin_s, from_s, step->cause);
    }
    add_piece(busy, from_s, to_s, GPU_IDLE_UNKNOWN);
}

static const struct window *neighbour(const struct busy *busy, size_t i, bool before) {
    if (before ? i == 0 : i + 1 >= busy->window_count) {
        return NULL;
    }
    const struct window *window = &busy->windows[i], *other = window + (before ? -1 : 1);
    double gap_s = before ? window->from_s - other->to_s : other->from_s - window->to_s;
    return gap_s <= TOUCH_S ? other : NULL;
}

/*
 * Work begins and ends within a window: of one beside a stretch without work, the part is idle that
 * its share lacks to that of the next window on its other side (to all of it, where there is none
 * with more work).
 */
static void add_edges(struct busy *busy, size_t i) {
    const struct window *window = &busy->windows[i];
    const struct window *before = neighbour(busy, i, true), *after = neighbour(busy, i, false);
    bool idle_before = before != NULL && !(before->share > 0);
    bool idle_after = after != NULL && !(after->share > 0);
    if (!idle_before && !idle_after) {
        return;
    }
    const struct window *other = idle_before ? after : before;
    double full = idle_before && idle_after ? 1 : other != NULL ? other->share : 1;
    double lacks_s =
        full > window->share ? (1 - window->share / full) * (window->to_s - window->from_s) : 0;
    if (idle_before && idle_after) {
        lacks_s /= 2;
    }
    if (idle_before) {
        add_stretch(busy, window->from_s, window->from_s + lacks_s);
    }
    if (idle_after) {
        add_stretch(busy, window->to_s - lacks_s, window->to_s);
    }
}

struct share {
    struct busy *busy;
    double value;
};

static void add_seen(enum phase phase, double from_s, double to_s, void *context) {
    struct share *share = context;
    share->busy->phase[phase].seen_s += to_s - from_s;
    share->busy->phase[phase].busy_s += share->value * (to_s - from_s);
}

static void add_windows(struct busy *busy) {
    for (size_t i = 0; i < busy->window_count; i++) {
        const struct window *window = &busy->windows[i];
        struct share share = {busy, window->share};
        busy->whole.seen_s += window->to_s - window->from_s;
        busy->whole.busy_s += window->share * (window->to_s - window->from_s);
        fold_each_phase(busy->gpus->fold->run, window->from_s, window->to_s, add_seen, &share);
        if (window->share > 0) {
            add_edges(busy, i);
        } else {
            add_stretch(busy, window->from_s, window->to_s);
        }
    }
}

/* ---- quantities ---- */

struct target {
    struct quantity *busy, *idle, *idle_by;
};

/* What others did is in the driver's share as well: the run's own work is at most that, and its
 * idle time at least. Where a noticeable part was not seen, it may have been all work or none. */
static struct quantity busy_of(const struct sums *sums, double length_s, bool others,
                               const char *method) {
    double unseen_s = length_s - sums->seen_s;
    enum quantity_bound bound = others ? QUANTITY_AT_MOST : QUANTITY_EXACT;
    double share = sums->busy_s / sums->seen_s;
    if (unseen_s >= UNSEEN_MIN_S && unseen_s > UNSEEN_SHARE * length_s) {
        share = (sums->busy_s + (others ? unseen_s : 0)) / length_s;
        bound = others ? QUANTITY_AT_MOST : QUANTITY_AT_LEAST;
    }
    return quantity_bounded(UNIT_RATIO, fmin(share, 1), bound, method);
}

static void set_known(const struct busy *busy, const struct sums *sums, double length_s,
                      const char *method, struct target target) {
    double unseen_s = length_s - sums->seen_s;
    bool others = busy->gpu->others == RUN_YES, partly = unseen_s >= UNSEEN_MIN_S;
    *target.busy = busy_of(sums, length_s, others, method);
    enum quantity_bound bound =
        others || partly || busy->gpus->fold->run->running ? QUANTITY_AT_LEAST : QUANTITY_EXACT;
    *target.idle = quantity_bounded(UNIT_SECOND, sums->idle_s, bound, method);
    if (partly) {
        struct arena *arena = busy->gpus->fold->run->arena;
        char unseen[MSG_DECIMAL_SIZE], length[MSG_DECIMAL_SIZE];
        target.busy->detail = target.idle->detail = arena_printf(
            arena, _("%s s of %s s were not seen"), msg_decimal(unseen, "%.1f", unseen_s),
            msg_decimal(length, "%.1f", length_s));
    } else if (others) {
        target.busy->detail = target.idle->detail = _("others used the device as well");
    }
    for (enum gpu_idle cause = 0; cause < GPU_IDLE_COUNT_; cause++) {
        target.idle_by[cause] =
            quantity_bounded(UNIT_SECOND, sums->idle_by_s[cause], bound,
                             "windows without work, by what the host did meanwhile");
    }
}

static void set_open(struct target target, const struct quantity *why) {
    *target.busy = quantity_open(UNIT_RATIO, why->reason, why->detail);
    *target.idle = quantity_open(UNIT_SECOND, why->reason, why->detail);
    for (enum gpu_idle cause = 0; cause < GPU_IDLE_COUNT_; cause++) {
        target.idle_by[cause] = *target.idle;
    }
}

static void set(const struct busy *busy, const struct sums *sums, double length_s,
                const char *method, const struct quantity *why, struct target target) {
    if (sums->seen_s > 0) {
        set_known(busy, sums, length_s, method, target);
    } else {
        set_open(target, why);
    }
}

static struct quantity why_open(const struct gpu_fold *gpus, const json_t *device) {
    struct quantity why = fold_gpu_open(gpus, device, "utilization", UNIT_RATIO);
    if (why.detail == NULL && strcmp(json_get_text(device, "kind", ""), "mig") == 0 &&
        why.reason == QUANTITY_NOT_SUPPORTED) {
        why.detail = _("the driver tells no utilization of a MIG slice");
    }
    return why;
}

void fold_gpu_busy(struct gpu_fold *gpus, const json_t *device, const char *key,
                   struct run_gpu *gpu) {
    struct run *run = gpus->fold->run;
    struct busy busy = {
        .gpus = gpus, .gpu = gpu, .horizon_s = fold_seconds(gpus->fold->horizon_ns)};
    const struct fold_curve *curve = fold_gpu_curve(gpus, GPU_SERIES_BUSY, key);
    struct quantity why = why_open(gpus, device);
    const char *method = curve != NULL && curve->method != NULL
                             ? arena_printf(run->arena, "%s, whole device", curve->method)
                             : "utilization windows of the driver, whole device";
    if (curve != NULL) {
        find_windows(&busy, curve);
        find_steps(&busy);
        add_windows(&busy);
    }
    set(&busy, &busy.whole, busy.horizon_s, method, &why,
        (struct target){&gpu->busy, &gpu->idle, gpu->idle_by});
    if (quantity_is_known(&gpu->busy)) {
        gpu->busy.n = busy.window_count;
        gpu->unseen = quantity_measured(UNIT_SECOND, fmax(busy.horizon_s - busy.whole.seen_s, 0),
                                        "wall time that no window of the driver covers");
    } else {
        gpu->unseen = quantity_open(UNIT_SECOND, why.reason, why.detail);
    }
    for (size_t i = 0; i < run->phase_count; i++) {
        busy.phase_s[run->phases[i].phase] += run->phases[i].end_s - run->phases[i].start_s;
    }
    struct quantity no_window =
        quantity_open(UNIT_RATIO, QUANTITY_NOT_SAMPLED, _("no window of the driver lies in it"));
    for (enum phase phase = 0; phase < PHASE_COUNT_; phase++) {
        struct run_gpu_phase *by = &gpu->by_phase[phase];
        if (by->entered) {
            set(&busy, &busy.phase[phase], busy.phase_s[phase], method,
                quantity_is_known(&gpu->busy) ? &no_window : &why,
                (struct target){&by->busy, &by->idle, by->idle_by});
        }
    }
    mem_free_ptr(&busy.windows);
    mem_free_ptr(&busy.steps);
}
