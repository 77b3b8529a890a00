/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What bounds a run here (control group, ulimits, clock), and what of it can be watched. */
#include "doctor/parts.h"

#include "base/clock.h"
#include "base/msg.h"

#include <string.h>

#define FEW_FILES \
    1024.0 /* shards of weights and workers' pipes: the usual soft limit is just that */
#define SUSPENDED_NS (60 * NS_PER_S)

static const char *const unit_core = "core";

/* What may be used of what the machine has; texts are NULL where it is not told. */
struct bound {
    const char *may, *all;
    bool is_less;
    struct quantity quantity;
};

static const char *amount(struct judging *judging, const struct quantity *quantity) {
    bool is_bytes = strcmp(quantity->unit, UNIT_BYTE) == 0;
    return is_bytes ? doctor_bytes(judging, quantity->value)
                    : arena_strdup(judging->arena, msg_decimal((char[MSG_DECIMAL_SIZE]){0}, "%.4g",
                                                               quantity->value));
}

static struct bound bound_of(struct judging *judging, const char *key, const char *unit) {
    const json_t *environment = judging->input->environment;
    struct quantity limit =
        doctor_quantity(judging, json_get_object(environment, "limits"), key, unit);
    struct quantity total =
        doctor_quantity(judging, json_get_object(environment, "totals"), key, unit);
    struct bound bound = {.quantity = total};
    if (quantity_is_known(&total))
        bound.all = amount(judging, &total);
    if (quantity_is_known(&limit)) {
        bound.may = amount(judging, &limit);
        bound.is_less = quantity_is_known(&total) && limit.value < total.value;
        bound.quantity = limit;
    }
    return bound;
}

static void add_bound(struct judging *judging, const char *id, const struct bound *bound,
                      const char *less, const char *whole, const char *open) {
    const char *text = bound->is_less ? less : bound->all != NULL ? whole : open;
    enum doctor_state state = bound->is_less       ? DOCTOR_WARNING
                              : bound->all != NULL ? DOCTOR_KNOWN
                                                   : DOCTOR_OPEN;
    doctor_add_quantity(doctor_add(judging, DOCTOR_LIMITS, id, state, text,
                                   bound->is_less
                                       ? _("plan with what may be used; programs that look at the "
                                           "machine see more")
                                       : NULL),
                        bound->quantity);
}

static void judge_memory_and_cores(struct judging *judging) {
    struct arena *arena = judging->arena;
    struct bound memory = bound_of(judging, "memory", UNIT_BYTE);
    add_bound(judging, "limit-memory", &memory,
              arena_printf(arena, _("%s of the machine's %s of memory may be used"),
                           memory.may != NULL ? memory.may : "",
                           memory.all != NULL ? memory.all : ""),
              arena_printf(arena, _("the whole memory of %s may be used"),
                           memory.all != NULL ? memory.all : ""),
              _("how much memory the machine has is not told"));
    struct bound cores = bound_of(judging, "cpu", unit_core);
    add_bound(
        judging, "limit-cpu", &cores,
        arena_printf(arena, _("%s of the machine's %s cores may be used"),
                     cores.may != NULL ? cores.may : "", cores.all != NULL ? cores.all : ""),
        arena_printf(arena, _("all %s cores may be used"), cores.all != NULL ? cores.all : ""),
        _("how many cores the machine has is not told"));
}

/* least 0: any limit is worth a word. NULL: there is none, or it is wide enough. */
static const char *narrow(struct judging *judging, const char *key, const char *unit, double least,
                          struct quantity *ret_limit) {
    *ret_limit =
        doctor_quantity(judging, json_get_object(judging->input->environment, "limits"), key, unit);
    if (!quantity_is_known(ret_limit) || (least > 0 && ret_limit->value > least))
        return NULL;
    return amount(judging, ret_limit);
}

static void add_narrow(struct judging *judging, const char *id, const char *text,
                       const char *advice, struct quantity limit) {
    doctor_add_quantity(doctor_add(judging, DOCTOR_LIMITS, id, DOCTOR_WARNING, text, advice),
                        limit);
}

static void judge_ulimits(struct judging *judging) {
    struct arena *arena = judging->arena;
    struct quantity limit;
    const char *value = narrow(judging, "open_files", UNIT_COUNT, FEW_FILES, &limit);
    if (value != NULL)
        add_narrow(judging, "limit-open-files",
                   arena_printf(arena,
                                _("only %s files may be open at once: data loaders and sharded "
                                  "weights need more"),
                                value),
                   _("raise it: ulimit -n 65536"), limit);
    value = narrow(judging, "address_space", UNIT_BYTE, 0, &limit);
    if (value != NULL)
        add_narrow(judging, "limit-address-space",
                   arena_printf(arena,
                                _("the address space is limited to %s: CUDA reserves far more than "
                                  "it uses"),
                                value),
                   _("lift it: ulimit -v unlimited"), limit);
    value = narrow(judging, "file_size", UNIT_BYTE, 0, &limit);
    if (value != NULL)
        add_narrow(judging, "limit-file-size",
                   arena_printf(arena, _("files may not grow beyond %s"), value),
                   _("lift it: ulimit -f unlimited"), limit);
    value = narrow(judging, "cpu_time", UNIT_CORE_SECOND, 0, &limit);
    if (value != NULL)
        add_narrow(judging, "limit-cpu-time",
                   arena_printf(arena, _("processes are ended after %s s of CPU time"), value),
                   _("lift it: ulimit -t unlimited"), limit);
}

static void judge_clock(struct judging *judging) {
    const struct doctor_clock *clock = &judging->input->clock;
    if (clock->build_ns > 0 && clock->utc_ns < clock->build_ns)
        (void)doctor_add(judging, DOCTOR_CLOCK, "clock-behind", DOCTOR_PROBLEM,
                         _("the clock is behind the day on which this program was built"),
                         _("set it: offers expire by it, and certificates are refused"));
    else if (clock->synchronized == 0)
        (void)doctor_add(
            judging, DOCTOR_CLOCK, "clock-not-synchronized", DOCTOR_WARNING,
            _("the kernel says that the clock is not synchronised"),
            _("durations are not touched by it; days and times of records may be off"));
    else if (clock->synchronized < 0)
        (void)doctor_add(judging, DOCTOR_CLOCK, "clock-open", DOCTOR_OPEN,
                         _("whether the clock is synchronised is not told"), NULL);
    else
        (void)doctor_add(judging, DOCTOR_CLOCK, "clock", DOCTOR_KNOWN,
                         _("the clock is synchronised"), NULL);
    if (clock->suspended_ns > SUSPENDED_NS) {
        struct quantity slept =
            quantity_measured(UNIT_SECOND, (double)clock->suspended_ns / (double)NS_PER_S,
                              "CLOCK_BOOTTIME minus CLOCK_MONOTONIC");
        doctor_add_quantity(doctor_add(judging, DOCTOR_CLOCK, "clock-suspended", DOCTOR_WARNING,
                                       _("this machine has been suspended since it started: a run "
                                         "that sleeps measures nothing"),
                                       NULL),
                            slept);
    }
}

void doctor_judge_limits(struct judging *judging) {
    judge_memory_and_cores(judging);
    judge_ulimits(judging);
    judge_clock(judging);
}

/* ---- what can be watched ---- */

static void add_sight(struct judging *judging, bool seen, const char *id, const char *known,
                      const char *missing, const char *advice) {
    (void)doctor_add(judging, DOCTOR_VISIBILITY, id, seen ? DOCTOR_KNOWN : DOCTOR_WARNING,
                     seen ? known : missing, seen ? NULL : advice);
}

void doctor_judge_sight(struct judging *judging) {
    const struct doctor_sight *sight = &judging->input->sight;
    add_sight(judging, sight->has_io, "proc-io", _("bytes read and written can be counted"),
              _("/proc/PID/io is missing: bytes read and written stay open"), NULL);
    add_sight(judging, sight->has_smaps, "proc-pss",
              _("memory of the whole process tree can be measured (PSS)"),
              _("/proc/PID/smaps_rollup is missing: memory of the whole tree stays open"), NULL);
    add_sight(judging, !sight->hides_processes, "proc-hidden",
              _("other users' processes can be seen"),
              _("processes of other users are hidden: who else computes here stays open"), NULL);
    if (sight->is_namespace)
        (void)doctor_add(judging, DOCTOR_VISIBILITY, "proc-namespace", DOCTOR_WARNING,
                         _("this is a PID namespace of its own: the GPU driver names processes by "
                           "other numbers, so GPU memory per process stays open"),
                         _("the whole device's memory is measured instead; with docker, --pid host "
                           "shows both"));
    if (sight->cgroup_memory)
        (void)doctor_add(
            judging, DOCTOR_VISIBILITY, "cgroup", DOCTOR_KNOWN,
            sight->cgroup_own
                ? arena_printf(judging->arena,
                               _("a memory control group can be made for each run (%s)"),
                               sight->cgroup)
                : arena_printf(judging->arena, _("the enclosing memory control group is read (%s)"),
                               sight->cgroup),
            NULL);
    else
        (void)doctor_add(
            judging, DOCTOR_VISIBILITY, "cgroup-none", DOCTOR_WARNING,
            _("no memory control group: kills by the kernel for want of memory are told "
              "from the kernel log only"),
            NULL);
    add_sight(judging, sight->has_kernel_log, "kernel-log", _("the kernel log can be read"),
              _("the kernel log cannot be read: the usual case on rented machines"), NULL);
}
