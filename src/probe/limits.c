/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the run may use (`limits`) beside what the machine has (`totals`), each a quantity: on a
 * rented slice the totals alone mislead. Reads what the calling process is bound by, which is what
 * the command inherits, or a process that is named.
 */
#include "probe/probe.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"
#include "probe/cgroup.h"
#include "probe/file-systems.h"
#include "probe/host-text.h"
#include "probe/lines.h"
#include "probe/meminfo.h"
#include "probe/reason.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- ulimits ---- */

static const struct ulimit {
    const char *key, *name, *unit;
} ulimits[] = {
    {"address_space", "Max address space", UNIT_BYTE},
    {"data", "Max data size", UNIT_BYTE},
    {"stack", "Max stack size", UNIT_BYTE},
    {"locked_memory", "Max locked memory", UNIT_BYTE},
    {"file_size", "Max file size", UNIT_BYTE},
    {"core_file", "Max core file size", UNIT_BYTE},
    {"open_files", "Max open files", UNIT_COUNT},
    {"processes", "Max processes", UNIT_COUNT},
    {"cpu_time", "Max cpu time", UNIT_CORE_SECOND},
};

/* "Max open files            1024                 1048576              files": the soft limit is
 * the one that binds. */
static bool ulimit_line(const char *line, const struct ulimit *limit, const char *method,
                        struct quantity *ret) {
    size_t length = strlen(limit->name);
    if (strncmp(line, limit->name, length) != 0 || line[length] != ' ') {
        return false;
    }
    const char *at = line + length + strspn(line + length, " ");
    uint64_t value;
    if (str_starts_with(at, "unlimited ")) {
        *ret = quantity_open(limit->unit, QUANTITY_NOT_APPLICABLE, N_("unlimited"));
        return true;
    }
    if (!field_u64(&at, &value) || *at != ' ') {
        return false;
    }
    *ret = quantity_measured(limit->unit, (double)value, method);
    return true;
}

/* The file of a process, 0: of ours. */
static int open_of(const struct root *root, pid_t process, const char *name, struct lines *lines) {
    char path[64];
    if (process == 0) {
        (void)snprintf(path, sizeof path, "/proc/self/%s", name);
    } else {
        (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)process, name);
    }
    return lines_open(root, path, (size_t)1 << 20, lines);
}

static void put_ulimits(const struct root *root, pid_t process, json_t *limits) {
    const char *method =
        process == 0 ? "/proc/self/limits, soft limit" : "/proc/PID/limits, soft limit";
    struct quantity found[ARRAY_LENGTH(ulimits)];
    struct lines lines AUTO_LINES;
    int rc = open_of(root, process, "limits", &lines);
    for (size_t i = 0; i < ARRAY_LENGTH(ulimits); i++) {
        found[i] = quantity_open(
            ulimits[i].unit, rc == -EACCES ? QUANTITY_NOT_PERMITTED : QUANTITY_NOT_VISIBLE, NULL);
    }
    char *line;
    while (rc == 0 && lines_next(&lines, &line) == 1) {
        for (size_t i = 0; i < ARRAY_LENGTH(ulimits); i++) {
            (void)ulimit_line(line, &ulimits[i], method, &found[i]);
        }
    }
    for (size_t i = 0; i < ARRAY_LENGTH(ulimits); i++) {
        quantity_put(limits, ulimits[i].key, found[i]);
    }
}

/* ---- processors ---- */

/* The allowed list may name processors that are not there (the kernel's possible ones): only online
 * ones count. */
static struct quantity allowed_cpus(const struct root *root, pid_t process,
                                    const struct cpu_list *online) {
    struct lines lines AUTO_LINES;
    int rc = open_of(root, process, "status", &lines);
    char *line;
    struct cpu_list allowed;
    while (rc == 0 && lines_next(&lines, &line) == 1) {
        if (!str_starts_with(line, "Cpus_allowed_list:")) {
            continue;
        }
        if (!cpu_list_parse(line + strlen("Cpus_allowed_list:"), &allowed)) {
            return quantity_open(UNIT_CORE, QUANTITY_FAILED, NULL);
        }
        if (online == NULL) {
            return quantity_bounded(UNIT_CORE, (double)cpu_list_count(&allowed), QUANTITY_AT_MOST,
                                    process == 0 ? "/proc/self/status Cpus_allowed_list"
                                                 : "/proc/PID/status Cpus_allowed_list");
        }
        cpu_list_intersect(&allowed, online);
        return quantity_measured(UNIT_CORE, (double)cpu_list_count(&allowed),
                                 process == 0 ? "/proc/self/status Cpus_allowed_list, online ones"
                                              : "/proc/PID/status Cpus_allowed_list, online ones");
    }
    return quantity_open(UNIT_CORE, QUANTITY_NOT_VISIBLE, NULL);
}

/* ---- totals ---- */

static struct quantity number_of(const struct root *root, const char *path, const char *unit) {
    uint64_t value;
    int rc = file_value(root, path, &value);
    if (rc == 0 && value != UINT64_MAX) {
        return quantity_measured(unit, (double)value, path);
    }
    return quantity_open(unit,
                         rc == -EACCES   ? QUANTITY_NOT_PERMITTED
                         : rc == -ENOENT ? QUANTITY_NOT_VISIBLE
                                         : QUANTITY_FAILED,
                         NULL);
}

static struct quantity memory_figure(bool has, uint64_t bytes, const char *method) {
    return has ? quantity_measured(UNIT_BYTE, (double)bytes, method)
               : quantity_open(UNIT_BYTE, QUANTITY_NOT_VISIBLE, NULL);
}

static void put_totals(const struct root *root, const struct cpu_list *online, const char *method,
                       json_t *totals) {
    struct meminfo info;
    (void)meminfo_read(root, &info);
    quantity_put(totals, "memory",
                 memory_figure(info.has_total, info.total_bytes, "/proc/meminfo MemTotal"));
    quantity_put(totals, "memory_available",
                 memory_figure(info.has_available, info.available_bytes,
                               "/proc/meminfo MemAvailable, once"));
    quantity_put(
        totals, "swap",
        memory_figure(info.has_swap_total, info.swap_total_bytes, "/proc/meminfo SwapTotal"));
    quantity_put(totals, "cpu",
                 online != NULL
                     ? quantity_measured(UNIT_CORE, (double)cpu_list_count(online), method)
                     : quantity_open(UNIT_CORE, QUANTITY_NOT_VISIBLE, NULL));
    quantity_put(totals, "pids", number_of(root, "/proc/sys/kernel/pid_max", UNIT_COUNT));
    quantity_put(totals, "processes", number_of(root, "/proc/sys/kernel/threads-max", UNIT_COUNT));
    quantity_put(totals, "open_files", number_of(root, "/proc/sys/fs/file-max", UNIT_COUNT));
}

/* The record's quantities hold no sentence; an open limit that is not simply absent says why among
 * the reasons. */
static void limit_put(json_t *limits, json_t *reasons, const char *key, struct quantity q) {
    quantity_put(limits, key, q);
    if (q.state == QUANTITY_OPEN && q.reason != QUANTITY_NOT_APPLICABLE && q.detail != NULL) {
        AUTO_FREE char *name = mem_printf("limits.%s", key);
        reason_put(reasons, name, q.detail);
    }
}

static int collect(const struct probe_context *context, json_t *environment, json_t *reasons,
                   struct err *err) {
    (void)err;
    const struct root *root = context->root;
    json_t *limits = json_object(), *totals = json_object();
    json_put(environment, "limits", limits);
    json_put(environment, "totals", totals);
    struct cgroup_limits groups;
    cgroup_limits(root, context->process, &groups);
    limit_put(limits, reasons, "memory", groups.memory_limit);
    limit_put(limits, reasons, "swap", groups.swap_limit);
    limit_put(limits, reasons, "memory_and_swap", groups.memory_and_swap_limit);
    limit_put(limits, reasons, "cpu", groups.cpu_limit);
    limit_put(limits, reasons, "pids", groups.pids_limit);
    struct cpu_list list;
    const char *method = NULL;
    const struct cpu_list *online = host_cpus_online(root, &list, &method) ? &list : NULL;
    quantity_put(limits, "cpu_affinity", allowed_cpus(root, context->process, online));
    struct file_system shm;
    file_system_read(root, "/dev/shm", &shm);
    limit_put(limits, reasons, "shm", shm.size);
    put_ulimits(root, context->process, limits);
    put_totals(root, online, method, totals);
    return 0;
}

const struct probe_ops probe_limits = {"limits", collect};
