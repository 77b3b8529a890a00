/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the framework's allocator said of its memory (MARKs of the Python hook): allocated and
 * reserved of each device. The hook never resets a peak, so between two reports it is known exactly
 * only where it grew; processes are never added up. Must not guess which device a report is of.
 * Rules: docs/measurement.md, "GPU memory".
 */
#include "journal/fold-gpu.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define GAP_S 0.1 /* between a report and the begin of a phase: nothing was allocated in it */

#define BYTES_MOST 9007199254740992.0 /* 2^53: beyond it a double has no single bytes */

enum kind { KIND_ALLOCATED = 0, KIND_RESERVED, KIND_COUNT_ };
static const char *const now_keys[KIND_COUNT_] = {"allocated", "reserved"};
static const char *const peak_keys[KIND_COUNT_] = {"allocated_peak", "reserved_peak"};
static const char *const methods[KIND_COUNT_] = {
    "torch allocator, tensors, reported by the Python hook",
    "torch allocator, segments held, reported by the Python hook",
};
static const char *const sampled_methods[KIND_COUNT_] = {
    "torch allocator, tensors, last report of the Python hook",
    "torch allocator, segments held, last report of the Python hook",
};

struct report {
    int64_t pid, t_ns, torch_device;
    size_t order;
    struct run_gpu *gpu;
    bool is_reset, is_exit;
    bool is_unknown;                            /* the record knows no process of that number */
    double now[KIND_COUNT_], peak[KIND_COUNT_]; /* below 0: not told */
};

/* What is known of the peak of one process (or of several) in some stretch of time. */
struct range {
    double low, high; /* high: infinite where it is not known */
    bool any;
};

struct agents {
    struct gpu_fold *gpus;
    struct report *reports;
    size_t count, unmapped, refused;
    json_t *known; /* processes that said hello, by pid as text */
    bool has_hello;
};

/* ---- which device ---- */

static const char *bare_uuid(const char *uuid) {
    return str_starts_with(uuid, "GPU-") || str_starts_with(uuid, "MIG-") ? uuid + 4 : uuid;
}

/* "00000000:01:00.0" and "0000:01:00.0" are one place. */
static const char *bare_bus_id(const char *bus_id) {
    while (*bus_id == '0') {
        bus_id++;
    }
    return bus_id;
}

static bool is_same_bus_id(const char *a, const char *b) {
    /* Only a domain of zeros is left out: "1:01:00.0" keeps its own. */
    return strcasecmp(bare_bus_id(a), bare_bus_id(b)) == 0;
}

/* All devices of the record, also those that are not the run's: DEVICE payloads. */
static const json_t *device_at(const struct agents *agents, size_t i) {
    return json_array_get(agents->gpus->fold->devices, i);
}

static size_t device_count(const struct agents *agents) {
    return json_array_size(agents->gpus->fold->devices);
}

static const json_t *by_uuid(const struct agents *agents, const char *uuid, bool is_prefix) {
    const json_t *found = NULL;
    const char *bare = bare_uuid(uuid);
    for (size_t i = 0; i < device_count(agents); i++) {
        const char *other = json_get_text(device_at(agents, i), "uuid", NULL);
        if (other == NULL || bare[0] == '\0') {
            continue;
        }
        const char *own = bare_uuid(other);
        if (is_prefix ? strncasecmp(own, bare, strlen(bare)) != 0 : strcasecmp(own, bare) != 0) {
            continue;
        }
        if (found != NULL) {
            return NULL; /* of two nobody knows which */
        }
        found = device_at(agents, i);
    }
    return found;
}

static const json_t *by_bus_id(const struct agents *agents, const char *bus_id) {
    const json_t *found = NULL;
    for (size_t i = 0; i < device_count(agents); i++) {
        const char *other = json_get_text(device_at(agents, i), "bus_id", NULL);
        if (other == NULL || !is_same_bus_id(other, bus_id)) {
            continue;
        }
        if (found != NULL) {
            return NULL; /* a board and its slices */
        }
        found = device_at(agents, i);
    }
    return found;
}

/* CUDA numbers boards by speed unless CUDA_DEVICE_ORDER says by bus: of equal ones the order is the
 * bus's, else it is not known. */
static bool order_is_known(const struct agents *agents, const char *order) {
    if (order != NULL && strcmp(order, "PCI_BUS_ID") == 0) {
        return true;
    }
    const char *first = json_get_text(device_at(agents, 0), "name", NULL);
    for (size_t i = 0; i < device_count(agents); i++) {
        const char *name = json_get_text(device_at(agents, i), "name", NULL);
        if (first == NULL || name == NULL || strcmp(first, name) != 0) {
            return false;
        }
    }
    return true;
}

static const json_t *by_index(const struct agents *agents, int64_t index, const char *order) {
    if (!order_is_known(agents, order)) {
        return NULL;
    }
    for (size_t i = 0; i < device_count(agents); i++) {
        const json_t *device = device_at(agents, i);
        int64_t other;
        if (strcmp(json_get_text(device, "kind", ""), "mig") != 0 &&
            fold_get_i64(device, "index", &other) && other == index) {
            return device;
        }
    }
    return NULL;
}

/* The number-th entry of CUDA_VISIBLE_DEVICES; what stands behind a bad one is not visible. */
static const json_t *by_visible(const struct agents *agents, const char *visible, int64_t number,
                                const char *order) {
    AUTO_FREE char *list = mem_strdup(visible);
    char *rest = list, *entry;
    for (int64_t at = 0; (entry = strsep(&rest, ",")) != NULL; at++) {
        int64_t index;
        entry += strspn(entry, " ");
        entry[strcspn(entry, " ")] = '\0';
        bool is_uuid = str_starts_with(entry, "GPU-") || str_starts_with(entry, "MIG-");
        if (!is_uuid && (str_to_i64(entry, &index) < 0 || index < 0)) {
            return NULL;
        }
        if (at == number) {
            return is_uuid ? by_uuid(agents, entry, true) : by_index(agents, index, order);
        }
    }
    return NULL;
}

static const json_t *find_device(const struct agents *agents, const json_t *data, int64_t number) {
    const char *uuid = json_get_text(data, "uuid", ""), *bus_id = json_get_text(data, "bus_id", "");
    const char *visible = json_get_text(data, "visible", NULL);
    const char *order = json_get_text(data, "order", NULL);
    const json_t *device = uuid[0] != '\0' ? by_uuid(agents, uuid, false) : NULL;
    if (device == NULL && bus_id[0] != '\0') {
        device = by_bus_id(agents, bus_id);
    }
    if (device != NULL || uuid[0] != '\0') {
        return device;
    }
    if (visible != NULL) {
        return by_visible(agents, visible, number, order);
    }
    if (device_count(agents) == 1 && number == 0) {
        return device_at(agents, 0);
    }
    return by_index(agents, number, order);
}

/* The run's device of that DEVICE payload; NULL: it is not listed. */
static struct run_gpu *listed(const struct agents *agents, const json_t *device) {
    struct run *run = agents->gpus->fold->run;
    size_t at = 0; /* run->gpus are the devices that are not others', in the same order */
    for (size_t i = 0; i < device_count(agents); i++) {
        bool is_others = strcmp(json_get_text(device_at(agents, i), "mine", ""), "no") == 0;
        if (device_at(agents, i) == device) {
            return is_others || at >= run->gpu_count ? NULL : &run->gpus[at];
        }
        at += !is_others;
    }
    return NULL;
}

/* ---- reports ---- */

static double bytes_of(const json_t *data, const char *key) {
    int64_t bytes;
    return fold_get_i64(data, key, &bytes) ? (double)bytes : -1;
}

/* What no allocator can have counted: more than the device has (or than a number keeps its digits
 * of), less than nothing, a peak below what is held now. The whole report is then not believed. */
static bool is_possible(const struct report *report, const json_t *device) {
    int64_t total;
    double most =
        fold_get_i64(device, "total_bytes", &total) && total > 0 ? (double)total : BYTES_MOST;
    for (enum kind kind = 0; kind < KIND_COUNT_; kind++) {
        double now = report->now[kind], peak = report->peak[kind];
        if (now < -1 || peak < -1 || now > most || peak > most || (peak >= 0 && peak < now)) {
            return false;
        }
    }
    return true;
}

static void pid_as_key(int64_t pid, char key[24]) {
    (void)snprintf(key, 24, "%lld", (long long)pid);
}

/* Processes that were reaped by their own parent have no CHILD: their hook said hello. */
static bool is_known(const struct agents *agents, int64_t pid) {
    const json_t *children = agents->gpus->fold->children;
    char key[24];
    pid_as_key(pid, key);
    if (json_object_get(agents->known, key) != NULL) {
        return true;
    }
    for (size_t i = 0; i < json_array_size(children); i++) {
        if (json_get_int(json_array_get(children, i), "pid", -1) == pid) {
            return true;
        }
    }
    return false;
}

static void take(struct agents *agents, const json_t *mark, size_t order) {
    const json_t *data = json_get_object(mark, "data");
    const char *event = json_get_text(data, "event", "");
    struct report report = {.order = order};
    if (strcmp(json_get_text(mark, "verb", ""), "agent") != 0 ||
        strcmp(json_get_text(mark, "name", ""), "python-hook") != 0) {
        return;
    }
    if (strcmp(event, "hello") == 0) {
        agents->has_hello = true;
        if (fold_get_i64(mark, "pid", &report.pid)) {
            char key[24];
            pid_as_key(report.pid, key);
            json_put_bool(agents->known, key, true);
        }
        return;
    }
    if (strcmp(event, "memory") != 0 || !fold_get_i64(mark, "pid", &report.pid) ||
        !fold_get_i64(mark, "t_ns", &report.t_ns) ||
        !fold_get_i64(data, "device", &report.torch_device)) {
        return;
    }
    const json_t *device = find_device(agents, data, report.torch_device);
    report.gpu = listed(agents, device);
    if (report.gpu == NULL) {
        agents->unmapped++;
        return;
    }
    const char *moment = json_get_text(data, "moment", "");
    report.is_reset = strcmp(moment, "reset") == 0;
    report.is_exit = strcmp(moment, "exit") == 0;
    for (enum kind kind = 0; kind < KIND_COUNT_; kind++) {
        report.now[kind] = bytes_of(data, now_keys[kind]);
        report.peak[kind] = bytes_of(data, peak_keys[kind]);
    }
    if (!is_possible(&report, device)) {
        agents->refused++;
        return;
    }
    agents->reports[agents->count++] = report;
}

static int by_device_and_process(const void *a, const void *b) {
    const struct report *x = a, *y = b;
    if (x->gpu != y->gpu) {
        return x->gpu < y->gpu ? -1 : 1;
    }
    if (x->pid != y->pid) {
        return x->pid < y->pid ? -1 : 1;
    }
    if (x->torch_device != y->torch_device) { /* one process, one device, two numbers: no case */
        return x->torch_device < y->torch_device ? -1 : 1;
    }
    if (x->t_ns != y->t_ns) {
        return x->t_ns < y->t_ns ? -1 : 1;
    }
    return x->order < y->order ? -1 : 1;
}

/* ---- peaks between reports ---- */

static void widen(struct range *range, double low, double high) {
    if (!range->any) {
        *range = (struct range){low, high, true};
        return;
    }
    range->low = fmax(range->low, low);
    range->high = fmax(range->high, high);
}

struct process { /* one process's reports of one device, in the order of time */
    const struct report *reports;
    size_t count;
    enum kind kind;
    struct range whole, phase[PHASE_COUNT_];
    bool any;
};

/* How many different phases [from_s, to_s) touches, leaving out slivers at its ends. */
struct touched {
    enum phase phase[PHASE_COUNT_];
    bool is_in[PHASE_COUNT_];
    size_t count;
};

static void touch(enum phase phase, double from_s, double to_s, void *context) {
    struct touched *touched = context;
    if (to_s - from_s > GAP_S && !touched->is_in[phase]) {
        touched->is_in[phase] = true;
        touched->phase[touched->count++] = phase;
    }
}

/* Between two reports: the peak is at most what the second says; it is that where it grew, or where
 * the first was a reset. In which phase it was is known where there is only one. */
static void add_between(const struct run *run, struct process *process, const struct report *before,
                        const struct report *report) {
    enum kind kind = process->kind;
    double high = report->peak[kind], low = fmax(report->now[kind], 0);
    if (high < 0) {
        return;
    }
    process->any = true;
    bool grew =
        before == NULL || before->is_reset || before->peak[kind] < 0 || high > before->peak[kind];
    low = before != NULL ? fmax(low, fmin(before->now[kind], high)) : low;
    low = fmin(grew ? high : low, high);
    widen(&process->whole, low, high);
    double from_s = before != NULL ? fold_seconds(before->t_ns) : 0;
    double to_s = fold_seconds(report->t_ns);
    struct touched touched = {0};
    fold_each_phase(run, from_s, to_s, touch, &touched);
    if (touched.count == 0) { /* shorter than a sliver: of the phase that holds */
        fold_each_phase(run, to_s - GAP_S / 2, to_s, touch, &touched);
    }
    for (size_t i = 0; i < touched.count; i++) {
        widen(&process->phase[touched.phase[i]], touched.count == 1 ? low : 0, high);
    }
    if (touched.count > 1) { /* what it held at the end it held in the last of them */
        widen(&process->phase[touched.phase[touched.count - 1]], fmax(report->now[kind], 0), high);
    }
}

/* Behind the last report of a process that did not say that it ends nobody looked. */
static void leave_open(const struct fold *fold, struct process *process) {
    const struct report *last = &process->reports[process->count - 1];
    int64_t end_ns = fold->horizon_ns, t_ns;
    if (last->is_exit) {
        return;
    }
    for (size_t i = 0; i < json_array_size(fold->children); i++) {
        const json_t *child = json_array_get(fold->children, i);
        if (json_get_int(child, "pid", -1) == last->pid && fold_get_i64(child, "t_ns", &t_ns)) {
            end_ns = t_ns;
        }
    }
    double held = fmax(last->now[process->kind], 0);
    struct touched touched = {0};
    fold_each_phase(fold->run, fold_seconds(last->t_ns), fold_seconds(end_ns), touch, &touched);
    widen(&process->whole, 0, INFINITY);
    for (size_t i = 0; i < touched.count; i++) {
        widen(&process->phase[touched.phase[i]], i == 0 ? held : 0, INFINITY);
    }
}

/* ---- of several processes ---- */

struct several {
    struct range largest; /* of any one process that allocated on it */
    size_t processes, unknown;
    bool is_zero; /* one told that it allocated nothing */
};

struct device_peaks {
    struct several whole, phase[PHASE_COUNT_];
};

static void join(struct several *several, const struct range *range, bool is_unknown) {
    several->unknown += range->any && is_unknown;
    if (!range->any || !(range->high > 0)) {
        several->is_zero = several->is_zero || range->any;
        return;
    }
    widen(&several->largest, range->low, range->high);
    several->processes++;
}

static struct quantity to_quantity(const struct several *several, enum kind kind,
                                   struct arena *arena, const struct quantity *open) {
    const struct range *range = &several->largest;
    if (several->unknown > 0) {
        struct quantity q =
            quantity_bounded(UNIT_BYTE, range->low, QUANTITY_AT_LEAST, methods[kind]);
        q.detail = _("reported by a process that the record does not know");
        q.n = several->processes;
        return q;
    }
    if (!range->any) {
        return several->is_zero ? quantity_measured(UNIT_BYTE, 0, methods[kind]) : *open;
    }
    if (several->processes > 1) {
        struct quantity q =
            quantity_bounded(UNIT_BYTE, range->low, QUANTITY_AT_LEAST, methods[kind]);
        q.detail = arena_printf(arena,
                                _("the largest of %zu processes; their peaks may have come "
                                  "at different times and are not added up"),
                                several->processes);
        q.n = several->processes;
        return q;
    }
    if (range->low >= range->high) {
        return quantity_measured(UNIT_BYTE, range->high, methods[kind]);
    }
    if (isfinite(range->high)) {
        struct quantity q =
            quantity_bounded(UNIT_BYTE, range->high, QUANTITY_AT_MOST, methods[kind]);
        q.detail = _("an earlier peak was higher, and the allocator keeps only the highest");
        return q;
    }
    struct quantity q =
        quantity_bounded(UNIT_BYTE, range->low, QUANTITY_AT_LEAST, sampled_methods[kind]);
    q.detail = _("the process ended without a last report, or goes on");
    return q;
}

static void add_process(struct agents *agents, const struct report *reports, size_t count,
                        enum kind kind, struct device_peaks *peaks) {
    struct fold *fold = agents->gpus->fold;
    struct process process = {.reports = reports, .count = count, .kind = kind};
    for (size_t i = 0; i < count; i++) {
        add_between(fold->run, &process, i > 0 ? &reports[i - 1] : NULL, &reports[i]);
    }
    if (!process.any) {
        return;
    }
    leave_open(fold, &process);
    join(&peaks->whole, &process.whole, reports[0].is_unknown);
    for (enum phase phase = 0; phase < PHASE_COUNT_; phase++) {
        join(&peaks->phase[phase], &process.phase[phase], reports[0].is_unknown);
    }
}

static size_t same_process(const struct report *reports, size_t count) {
    size_t same = 1;
    while (same < count && reports[same].gpu == reports[0].gpu &&
           reports[same].pid == reports[0].pid &&
           reports[same].torch_device == reports[0].torch_device) {
        same++;
    }
    return same;
}

static struct quantity *field(struct run_gpu *gpu, enum kind kind) {
    return kind == KIND_ALLOCATED ? &gpu->allocated : &gpu->reserved;
}

static struct quantity *phase_field(struct run_gpu_phase *by, enum kind kind) {
    return kind == KIND_ALLOCATED ? &by->memory.allocated : &by->memory.reserved;
}

static void fold_kind(struct agents *agents, struct run_gpu *gpu, enum kind kind,
                      const struct quantity *open) {
    struct arena *arena = agents->gpus->fold->run->arena;
    struct device_peaks peaks = {0};
    for (size_t i = 0; i < agents->count;) {
        size_t count = same_process(&agents->reports[i], agents->count - i);
        if (agents->reports[i].gpu == gpu) {
            add_process(agents, &agents->reports[i], count, kind, &peaks);
        }
        i += count;
    }
    *field(gpu, kind) = to_quantity(&peaks.whole, kind, arena, open);
    struct quantity none = quantity_open(UNIT_BYTE, QUANTITY_NOT_SAMPLED,
                                         _("the Python hook said nothing of this phase"));
    for (enum phase phase = 0; phase < PHASE_COUNT_; phase++) {
        if (gpu->by_phase[phase].entered) {
            *phase_field(&gpu->by_phase[phase], kind) = to_quantity(
                &peaks.phase[phase], kind, arena, peaks.whole.processes > 0 ? &none : open);
        }
    }
}

/* Why the framework's figures are open. */
static struct quantity why_open(const struct agents *agents) {
    struct fold *fold = agents->gpus->fold;
    const json_t *hook =
        json_get_object(json_get_object(fold->run->start, "agents"), "python-hook");
    const char *reason = json_get_text(hook, "reason", NULL);
    if (fold->run->running) {
        return quantity_open(UNIT_BYTE, QUANTITY_RUNNING, NULL);
    }
    if (agents->refused > 0) {
        return quantity_open(UNIT_BYTE, QUANTITY_NOT_SEPARATED,
                             _("what was reported cannot be: more than the device has, or a peak "
                               "below what is held"));
    }
    if (agents->unmapped > 0) {
        return quantity_open(UNIT_BYTE, QUANTITY_NOT_SEPARATED,
                             _("which device the framework's numbers mean is not known"));
    }
    if (agents->has_hello) {
        return quantity_open(UNIT_BYTE, QUANTITY_NOT_SAMPLED,
                             _("the Python hook saw no memory of torch on it"));
    }
    if (reason != NULL) {
        return quantity_open(
            UNIT_BYTE, QUANTITY_NOT_SAMPLED,
            arena_printf(fold->run->arena, _("the Python hook was off: %s"), msg_get(reason)));
    }
    if (hook == NULL) {
        return quantity_open(UNIT_BYTE, QUANTITY_NOT_SAMPLED, NULL);
    }
    return quantity_open(UNIT_BYTE, QUANTITY_NOT_SAMPLED,
                         _("no Python process with the hook told of it"));
}

void fold_gpu_agents(struct gpu_fold *gpus) {
    struct run *run = gpus->fold->run;
    const json_t *marks = gpus->fold->marks;
    AUTO_JSON json_t *known = json_object();
    struct agents agents = {.gpus = gpus, .known = known};
    agents.reports = mem_alloc((json_array_size(marks) + 1) * sizeof *agents.reports);
    for (size_t i = 0; i < json_array_size(marks); i++) {
        take(&agents, json_array_get(marks, i), i);
    }
    for (size_t i = 0; i < agents.count; i++) {
        agents.reports[i].is_unknown = !is_known(&agents, agents.reports[i].pid);
    }
    if (agents.count > 0) {
        qsort(agents.reports, agents.count, sizeof *agents.reports, by_device_and_process);
    }
    struct quantity open = why_open(&agents);
    for (size_t i = 0; i < run->gpu_count; i++) {
        for (enum kind kind = 0; kind < KIND_COUNT_; kind++) {
            fold_kind(&agents, &run->gpus[i], kind, &open);
        }
    }
    mem_free_ptr(&agents.reports);
}
