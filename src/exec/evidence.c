/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Evidence that the kernel leaves: counters of the memory control group, lines of the kernel log,
 * wait statuses. "Killed" alone is no cause: a cause is named only where a counter or a line names
 * it. Sources: Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst,
 * Documentation/ABI/testing/dev-kmsg.
 */
#include "exec/recorder-parts.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "exec/helper.h"
#include "model/quantity.h"
#include "text/incident.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KERNEL_LINE_MAX 8192 /* PRINTKRB_RECORD_MAX and its prefix (include/linux/printk.h) */

/* ---- control group ---- */

/* Where the run's own group is, or would be. Parts of one run on one machine have monitors, and so
 * groups, of their own. */
static bool own_place(const struct recorder *recorder, const struct cgroup_place *around,
                      struct cgroup_place *ret) {
    *ret = *around;
    int length = snprintf(ret->path, sizeof ret->path, "%s/probelauf-%s", around->path,
                          recorder->options->part);
    return around->version != 0 && length > 0 && (size_t)length < sizeof ret->path;
}

/* The process whose groups are the run's: the command inherits ours. */
static pid_t group_process(const struct recorder *recorder) {
    return recorder->options->attach != 0 ? recorder->options->attach : recorder->context->monitor;
}

static void find_group(struct recorder *recorder) {
    struct shared *shared = recorder->shared;
    struct cgroup_place around, own;
    struct err err = ERR_INIT;
    if (cgroup_find_memory(&root_real, group_process(recorder), &around) < 0)
        around = (struct cgroup_place){.reason = QUANTITY_NOT_VISIBLE};
    recorder->group = around;
    bool before_start = !atomic_load(&shared->started);
    if (before_start && recorder->options->attach == 0 && own_place(recorder, &around, &own)) {
        cgroup_remove(&own); /* of a recorder that died just after it had made it */
        if (cgroup_make_own(&around, recorder->options->part, &own, &err) == 0) {
            recorder->has_own_group = true;
            recorder->group = own;
        }
    }
    if (!before_start ||
        cgroup_memory_read(&root_real, &recorder->group, &recorder->group_before) < 0)
        recorder->group_before = (struct cgroup_memory){0};
    shared->group_before = recorder->group_before;
    shared->group_place = recorder->group;
    atomic_store(&shared->own_group, recorder->has_own_group);
}

void evidence_begin(struct recorder *recorder, bool resumed) {
    struct shared *shared = recorder->shared;
    if (shared->group_place.version != 0) {
        recorder->group = shared->group_place;
        recorder->group_before = shared->group_before;
        recorder->has_own_group = atomic_load(&shared->own_group);
    } else {
        find_group(recorder);
    }
    recorder->kernel_log_fd = open("/dev/kmsg", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    /* A successor looks at the whole log; only lines that name a process of ours count in any case.
     */
    if (recorder->kernel_log_fd >= 0 && !resumed)
        lseek(recorder->kernel_log_fd, 0, SEEK_END);
}

json_t *evidence_cgroup_start(const struct recorder *recorder) {
    json_t *cgroup = json_object();
    if (recorder->group.version == 0) {
        json_put_text(cgroup, "memory", "none");
        json_put_text(cgroup, "reason",
                      quantity_reason_name(recorder->group.reason != QUANTITY_NO_REASON
                                               ? recorder->group.reason
                                               : QUANTITY_NOT_SUPPORTED));
        return cgroup;
    }
    json_put_text(cgroup, "memory", recorder->has_own_group ? "own" : "enclosing");
    json_put_int(cgroup, "version", recorder->group.version);
    json_put_text(cgroup, "path", recorder->group.path);
    if (recorder->group_before.has_peak)
        json_put_int(cgroup, "peak_before_bytes", (int64_t)recorder->group_before.peak_bytes);
    if (recorder->group_before.has_oom_kill)
        json_put_int(cgroup, "oom_kill_before", (int64_t)recorder->group_before.oom_kill);
    return cgroup;
}

static bool read_group(const struct recorder *recorder, struct cgroup_memory *ret) {
    if (recorder->has_group_end) {
        *ret = recorder->group_end;
        return true;
    }
    return recorder->group.version != 0 &&
           cgroup_memory_read(&root_real, &recorder->group, ret) == 0;
}

static uint64_t oom_kills(const struct recorder *recorder, const struct cgroup_memory *now) {
    const struct cgroup_memory *before = &recorder->group_before;
    if (!now->has_oom_kill || !before->has_oom_kill || now->oom_kill < before->oom_kill)
        return 0;
    return now->oom_kill - before->oom_kill;
}

void evidence_cgroup_now(const struct recorder *recorder, json_t *counters) {
    struct cgroup_memory now;
    if (!read_group(recorder, &now))
        return;
    json_t *cgroup = json_object();
    const struct cgroup_memory *before = &recorder->group_before;
    if (now.has_peak) {
        json_put_int(cgroup, "peak_bytes", (int64_t)now.peak_bytes);
        if (before->has_peak)
            json_put_bool(cgroup, "peak_rose", now.peak_bytes > before->peak_bytes);
    }
    if (now.has_current)
        json_put_int(cgroup, "current_bytes", (int64_t)now.current_bytes);
    if (now.has_oom_kill && before->has_oom_kill)
        json_put_int(cgroup, "oom_kill", (int64_t)oom_kills(recorder, &now));
    if (now.has_anon)
        json_put_int(cgroup, "anon_bytes", (int64_t)now.anon_bytes);
    if (now.has_file)
        json_put_int(cgroup, "file_bytes", (int64_t)now.file_bytes);
    if (now.has_shmem)
        json_put_int(cgroup, "shmem_bytes", (int64_t)now.shmem_bytes);
    json_put(counters, "cgroup", cgroup);
}

static json_t *group_figures(const struct recorder *recorder, const struct cgroup_memory *now,
                             uint64_t kills) {
    json_t *figures = json_object();
    json_put_text(figures, "scope", "cgroup");
    json_put_int(figures, "oom_kill", (int64_t)kills);
    if (now->has_peak)
        json_put_int(figures, "peak_bytes", (int64_t)now->peak_bytes);
    struct cgroup_limits limits;
    cgroup_limits(&root_real, group_process(recorder), &limits);
    if (quantity_is_known(&limits.memory_limit))
        json_put_int(figures, "limit_bytes", (int64_t)limits.memory_limit.value);
    return figures;
}

/* ---- kernel log ---- */

static bool is_ours(const struct shared *shared, pid_t pid) {
    if (pid <= 0)
        return false;
    if (pid == atomic_load(&shared->command_pid))
        return true;
    uint32_t count = atomic_load(&shared->seen_count);
    for (uint32_t i = 0; i < count && i < SHARED_PIDS; i++)
        if (atomic_load(&shared->seen[i]) == pid)
            return true;
    return false;
}

/* "Killed process 123 (name)" and, before Linux 4.19, "Kill process 123 (name)";
 * "task=name,pid=123". */
static pid_t victim_of(const char *line) {
    static const char *const before_pid[] = {"Killed process ", ",pid="};
    for (size_t i = 0; i < ARRAY_LENGTH(before_pid); i++) {
        const char *at = strstr(line, before_pid[i]);
        if (at != NULL)
            return (pid_t)strtol(at + strlen(before_pid[i]), NULL, 10);
    }
    return 0;
}

/* What the kernel said about processes of ours → incidents; the lines about one kill are one. True:
 * there was an out-of-memory kill. */
static bool write_kernel_incidents(struct recorder *recorder,
                                   const struct incident_scanner *scanner, bool ended_ok) {
    bool killed = false;
    for (size_t i = 0; i < incident_scanner_count(scanner); i++) {
        const struct incident *incident = incident_scanner_get(scanner, i);
        if (incident->outcome != OUTCOME_HOST_OOM)
            continue;
        killed = true;
        recorder_write_incident(
            recorder, incident->name, "kernel-log", incident->line,
            incident->figures != NULL ? json_deep_copy(incident->figures) : NULL, ended_ok);
    }
    return killed;
}

static bool read_kernel_log(struct recorder *recorder, bool ended_ok) {
    char record[KERNEL_LINE_MAX + 1];
    struct incident_scanner *scanner = NULL; /* only when a line is ours: it is large */
    while (recorder->kernel_log_fd >= 0) {
        /* One record a read; EPIPE: older ones were overwritten, go on with the oldest left. */
        ssize_t got = read(recorder->kernel_log_fd, record, KERNEL_LINE_MAX);
        if (got < 0 && (errno == EPIPE || errno == EINTR))
            continue;
        if (got <= 0)
            break;
        record[got] = '\0';
        const char *text = strchr(record, ';');
        if (text == NULL)
            continue;
        char *end = strchr(text, '\n');
        if (end != NULL)
            *end = '\0'; /* then follow key=value lines of the device */
        if (!is_ours(recorder->shared, victim_of(text + 1)))
            continue;
        if (scanner == NULL)
            scanner = incident_scanner_new();
        incident_scanner_feed(scanner, text + 1, strlen(text + 1));
        incident_scanner_feed(scanner, "\n", 1);
    }
    if (scanner == NULL)
        return false;
    incident_scanner_finish(scanner);
    bool killed = write_kernel_incidents(recorder, scanner, ended_ok);
    incident_scanner_free(scanner);
    return killed;
}

/* ---- wait status ---- */

static void write_status(struct recorder *recorder, const struct shared_end *end) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};
    if (end->signal == 0 || end->budget || end->interrupted)
        return;
    const char *name = end->signal == SIGKILL   ? "killed"
                       : end->signal == SIGTERM ? "terminated"
                                                : NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(faults); i++)
        if (faults[i] == end->signal)
            name = "crash";
    if (name == NULL)
        return;
    json_t *figures = json_object();
    json_put_int(figures, "signal", end->signal);
    recorder_write_incident(recorder, name, "wait", NULL, figures, false);
}

void evidence_finish(struct recorder *recorder) {
    const struct shared_end *end = &recorder->shared->end;
    bool ended_ok = end->has_exit_code && end->exit_code == 0;
    bool somebody_killed = recorder->killed > 0;
    struct cgroup_memory now;
    recorder->has_group_end = read_group(recorder, &recorder->group_end);
    now = recorder->group_end;
    uint64_t kills = recorder->has_group_end ? oom_kills(recorder, &now) : 0;
    bool by_kernel = false;
    /* The group around us holds others too: its counter says something about us only if one of ours
     * was killed. */
    if (kills > 0 &&
        (recorder->has_own_group || somebody_killed || end->exit_code == 128 + SIGKILL)) {
        recorder_write_incident(recorder, "host_oom", "cgroup", NULL,
                                group_figures(recorder, &now, kills), ended_ok);
        by_kernel = true;
    }
    if (kills > 0 || somebody_killed || !ended_ok)
        by_kernel = read_kernel_log(recorder, ended_ok) || by_kernel;
    if (recorder->killed_workers > 0 && !by_kernel && !end->budget) {
        json_t *figures = json_object();
        json_put_int(figures, "signal", SIGKILL);
        json_put_int(figures, "pid", recorder->killed_pid);
        recorder_write_incident(recorder, "host_oom_suspected", "wait", NULL, figures, ended_ok);
    }
    write_status(recorder, end);
}

/* Whoever is left in the run's own group goes to the group around it, and the folder with it. */
void evidence_done(struct recorder *recorder) {
    fd_close_ptr(&recorder->kernel_log_fd);
    struct cgroup_place own;
    if (!recorder->has_own_group) {
        if (own_place(recorder, &recorder->group, &own))
            cgroup_remove(&own); /* made by a recorder that died before it could say so */
        return;
    }
    if (cgroup_remove(&recorder->group) != -EBUSY)
        return;
    char parent[sizeof recorder->group.path + sizeof "/cgroup.procs"];
    snprintf(parent, sizeof parent, "%s", recorder->group.path);
    char *slash = strrchr(parent, '/');
    if (slash == NULL)
        return;
    snprintf(slash, (size_t)(parent + sizeof parent - slash), "/cgroup.procs");
    char procs[sizeof parent];
    snprintf(procs, sizeof procs, "%s/cgroup.procs", recorder->group.path);
    AUTO_CLOSE int from = open(procs, O_RDONLY | O_CLOEXEC);
    AUTO_CLOSE int to = open(parent, O_WRONLY | O_CLOEXEC);
    AUTO_STRBUF struct strbuf pids = STRBUF_INIT;
    if (from < 0 || to < 0 || fd_read_all(from, 1u << 20, &pids) < 0)
        return;
    char *at = pids.data, *line;
    while (at != NULL && (line = strsep(&at, "\n")) != NULL)
        if (line[0] != '\0' && write(to, line, strlen(line)) < 0)
            return;
    cgroup_remove(&recorder->group);
}
