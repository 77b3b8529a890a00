/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Host figures of a run from COUNTERS, CHILD and START: CPU time, memory, I/O, processes, our own
 * CPU time. Exact before sampled, and never more exact than the way it was read:
 * docs/measurement.md, "Host".
 */
#include "journal/fold-parts.h"

#include "base/mem.h"
#include "base/msg.h"

#include <string.h>

/* How far the last COUNTERS can be trusted. */
struct trust {
    bool complete; /* every process that belongs to the run was accounted when they were read */
    enum quantity_bound sums; /* of counters that only grow */
};

static struct trust find_trust(const struct fold *fold) {
    int64_t command_ns = 0, child_ns = 0, last_ns = 0;
    fold_get_i64(fold->run->end, "command_t_ns", &command_ns);
    for (size_t i = 0; i < json_array_size(fold->children); i++) {
        if (fold_get_i64(json_array_get(fold->children, i), "t_ns", &child_ns) &&
            child_ns > last_ns) {
            last_ns = child_ns;
        }
    }
    bool complete = fold->ended && !fold->unreaped && !fold_has_survivors(fold) &&
                    fold->counters_t_ns >= command_ns && fold->counters_t_ns >= last_ns;
    return (struct trust){complete, complete ? QUANTITY_EXACT : QUANTITY_AT_LEAST};
}

/* A key that only an earlier checkpoint has (its file could not be read any more) is no final
 * value. */
static enum quantity_bound bound_of(const struct fold *fold, const struct trust *trust,
                                    const char *key) {
    bool is_last = json_object_get(fold->last_counters, key) != NULL;
    return is_last ? trust->sums : QUANTITY_AT_LEAST;
}

/* The reason that the writer gave for a key (or, for io.read, for io), else what the state of the
 * record says. */
static struct quantity absent(const struct fold *fold, const char *key, const char *unit) {
    enum quantity_reason reason;
    const char *name = json_get_text(json_get_object(fold->counters, "reasons"), key, "");
    if (quantity_reason_from_name(name, &reason) && reason != QUANTITY_NO_REASON) {
        return quantity_open(unit, reason, NULL);
    }
    return quantity_open(unit, fold_absence(fold), NULL);
}

static struct quantity counter_ns(const struct fold *fold, const struct trust *trust) {
    int64_t ns;
    if (!fold_get_i64(fold->counters, "cpu_ns", &ns)) {
        return absent(fold, "cpu_ns", UNIT_CORE_SECOND);
    }
    return quantity_bounded(UNIT_CORE_SECOND, fold_seconds(ns), bound_of(fold, trust, "cpu_ns"),
                            "CPU time of all processes: wait4 and /proc/PID/stat");
}

static struct quantity counter_io(const struct fold *fold, const struct trust *trust,
                                  const char *key, const char *method) {
    int64_t bytes;
    if (!fold_get_i64(json_get_object(fold->counters, "io"), key, &bytes)) {
        return absent(fold, "io", UNIT_BYTE);
    }
    return quantity_bounded(UNIT_BYTE, (double)bytes, bound_of(fold, trust, "io"), method);
}

/* ---- memory ---- */

#define HWM_SLACK                                                                   \
    (INT64_C(1) << 20) /* bytes by which VmHWM and ru_maxrss of one peak may differ \
                        */

static bool largest_maxrss(const struct fold *fold, int64_t *ret_bytes) {
    int64_t bytes;
    bool any = fold_get_i64(fold->counters, "maxrss_bytes", ret_bytes);
    for (size_t i = 0; i < json_array_size(fold->children); i++) {
        if (fold_get_i64(json_array_get(fold->children, i), "maxrss_bytes", &bytes) &&
            (!any || bytes > *ret_bytes)) {
            *ret_bytes = bytes;
            any = true;
        }
    }
    return any;
}

/*
 * ru_maxrss is exact, but a process inherits the mark of the one that forked it (kernel mm: exec
 * keeps signal->maxrss), so it says something only above our own size at fork, and below that no
 * more than "at most". VmHWM is read while the process lives, so it may still have grown: at least.
 */
static struct quantity largest_process(const struct fold *fold, const struct trust *trust) {
    static const char by_wait[] = "wait4 ru_maxrss";
    /* One name for both, so that two runs of one machine can be compared. */
    static const char by_both[] = "larger of wait4 ru_maxrss and VmHWM";
    static const char by_status[] = "/proc/PID/status VmHWM, sampled";
    int64_t maxrss = 0, hwm = 0, floor_bytes = 0;
    bool has_maxrss = largest_maxrss(fold, &maxrss);
    bool has_hwm = fold_get_i64(fold->counters, "vmhwm_bytes", &hwm);
    bool has_floor = fold_get_i64(fold->run->start, "rss_floor_bytes", &floor_bytes);
    bool above_floor = has_maxrss && has_floor && maxrss > floor_bytes;
    if (above_floor && (!has_hwm || maxrss >= hwm)) {
        return quantity_bounded(UNIT_BYTE, (double)maxrss, trust->sums, by_both);
    }
    /* Since Linux 6.2 resident pages are counted per CPU and added up in batches
     * (lib/percpu_counter.c), so the two may differ a little although both saw the peak. */
    int64_t slack = maxrss / 100 > HWM_SLACK ? maxrss / 100 : HWM_SLACK;
    if (above_floor && has_hwm && hwm - maxrss <= slack) {
        return quantity_bounded(UNIT_BYTE, (double)hwm, trust->sums, by_both);
    }
    if (has_hwm) {
        struct quantity q = quantity_bounded(UNIT_BYTE, (double)hwm, QUANTITY_AT_LEAST, by_status);
        if (json_object_get(fold->run->start, "attach") != NULL)
            q.detail = _("the peak may be from before it was attached to");
        return q;
    }
    if (has_maxrss && trust->complete) {
        struct quantity q = quantity_bounded(UNIT_BYTE, (double)maxrss, QUANTITY_AT_MOST, by_wait);
        q.detail =
            _("the figure is inherited from the measuring process; the command took no more");
        return q;
    }
    if (has_maxrss) {
        return quantity_open(UNIT_BYTE, QUANTITY_NOT_VISIBLE,
                             _("a process ended unseen and the others stayed below our own size"));
    }
    return absent(fold, "maxrss_bytes", UNIT_BYTE);
}

#define FEW_SAMPLES 10 /* below, the peak of the tree may lie below that of its largest process */

static struct quantity tree_pss(const struct fold *fold) {
    int64_t bytes, samples = 0;
    fold_get_i64(fold->counters, "pss_samples", &samples);
    if (fold_get_i64(fold->counters, "pss_peak_bytes", &bytes)) {
        struct quantity q = quantity_bounded(UNIT_BYTE, (double)bytes, QUANTITY_AT_LEAST,
                                             "sum of /proc/PID/smaps_rollup Pss, sampled");
        q.n = (uint64_t)samples;
        if (samples > 0 && samples < FEW_SAMPLES) {
            q.detail = arena_printf(
                fold->run->arena,
                msg_plural((unsigned long)samples, "%lld sample only", "%lld samples only"),
                (long long)samples);
        }
        return q;
    }
    struct quantity q = absent(fold, "pss_peak_bytes", UNIT_BYTE);
    if (q.reason == QUANTITY_NOT_IN_RECORD) {
        return quantity_open(UNIT_BYTE, QUANTITY_NOT_SAMPLED,
                             _("the run ended before the memory of its processes was sampled"));
    }
    return q;
}

/*
 * A group of our own holds the run and nothing else. The group around us holds others too: its peak
 * bounds the run's share from above, and only if it rose during the run and was read after the
 * run's end.
 */
static struct quantity cgroup_charged(struct fold *fold, const struct trust *trust) {
    const json_t *place = json_get_object(fold->run->start, "cgroup");
    const json_t *now = json_get_object(fold->counters, "cgroup");
    const char *memory = json_get_text(place, "memory", "");
    enum quantity_reason reason;
    int64_t peak;
    if (strcmp(memory, "own") != 0 && strcmp(memory, "enclosing") != 0) {
        if (!quantity_reason_from_name(json_get_text(place, "reason", ""), &reason) ||
            reason == QUANTITY_NO_REASON) {
            reason = strcmp(memory, "none") == 0 ? QUANTITY_NOT_SUPPORTED : QUANTITY_NOT_IN_RECORD;
        }
        return quantity_open(UNIT_BYTE, reason, NULL);
    }
    if (!fold_get_i64(now, "peak_bytes", &peak)) {
        return absent(fold, "cgroup", UNIT_BYTE);
    }
    if (strcmp(memory, "own") == 0) {
        struct quantity q =
            quantity_bounded(UNIT_BYTE, (double)peak, bound_of(fold, trust, "cgroup"),
                             "peak of the run's own control group");
        q.detail = _("includes file cache");
        return q;
    }
    const char *path = json_get_text(place, "path", "?");
    if (json_get_bool(now, "peak_rose", false) != 1) {
        return quantity_open(
            UNIT_BYTE, QUANTITY_NOT_SEPARATED,
            arena_printf(fold->run->arena,
                         _("the peak of the control group '%s' is from before the run"), path));
    }
    if (!trust->complete) {
        return quantity_open(UNIT_BYTE, fold->ended ? QUANTITY_NOT_SEPARATED : fold_absence(fold),
                             NULL);
    }
    struct quantity q = quantity_bounded(UNIT_BYTE, (double)peak, QUANTITY_AT_MOST,
                                         "peak of the control group around the run");
    q.detail =
        arena_printf(fold->run->arena,
                     _("includes file cache and everything else in the control group '%s'"), path);
    return q;
}

/* ---- the rest ---- */

static struct quantity processes(const struct fold *fold) {
    int64_t count;
    if (!fold_get_i64(fold->counters, "processes_seen", &count)) {
        return absent(fold, "processes_seen", UNIT_COUNT);
    }
    return quantity_bounded(UNIT_COUNT, (double)count, QUANTITY_AT_LEAST,
                            "processes reaped or seen in /proc");
}

static struct quantity monitor_cpu(const struct fold *fold, const struct trust *trust) {
    static const char *const roles[] = {"monitor", "recorder", "copier", "slow_reader"};
    const json_t *by_role = json_get_object(fold->counters, "monitor_cpu_ns");
    int64_t sum = 0, ns;
    bool any = false;
    for (size_t i = 0; i < ARRAY_LENGTH(roles); i++) {
        if (fold_get_i64(by_role, roles[i], &ns) && !__builtin_add_overflow(sum, ns, &sum)) {
            any = true;
        }
    }
    if (!any) {
        return absent(fold, "monitor_cpu_ns", UNIT_CORE_SECOND);
    }
    /* The recorder writes this and goes on for a moment: its last milliseconds are not in. */
    return quantity_bounded(UNIT_CORE_SECOND, fold_seconds(sum), QUANTITY_AT_LEAST,
                            trust->complete ? "CPU time of our own processes"
                                            : "CPU time of our own processes, last checkpoint");
}

void fold_host(struct fold *fold) {
    struct run *run = fold->run;
    struct trust trust = find_trust(fold);
    run->cpu = counter_ns(fold, &trust);
    run->largest_process_rss = largest_process(fold, &trust);
    run->tree_pss = tree_pss(fold);
    run->cgroup_charged = cgroup_charged(fold, &trust);
    run->io_read = counter_io(fold, &trust, "read", "/proc/PID/io read_bytes");
    run->io_written = counter_io(fold, &trust, "written", "/proc/PID/io write_bytes");
    run->io_read_chars = counter_io(fold, &trust, "read_chars", "/proc/PID/io rchar");
    run->io_written_chars = counter_io(fold, &trust, "written_chars", "/proc/PID/io wchar");
    run->processes = processes(fold);
    run->monitor_cpu = monitor_cpu(fold, &trust);
}
