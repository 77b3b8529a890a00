/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * See cgroup.h. A process's place is what /proc/PID/cgroup says, translated by the mount it is seen
 * through: in a container a mount shows a part of the hierarchy (mountinfo's root field) or a
 * namespace cuts the path off.
 */
#include "probe/cgroup.h"

#include "base/msg.h"
#include "base/str.h"
#include "probe/lines.h"
#include "probe/meminfo.h"
#include "probe/mounts.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CGROUP_LIMIT ((size_t)256 << 10)
#define STAT_LIMIT   ((size_t)64 << 10)
#define FILE_SIZE    (sizeof((struct cgroup_place *)0)->path + 64)

/* ---- where a process is ---- */

struct membership {
    bool v1, v2;
    char v1_path[1024], v2_path[1024];
};

/* "4:memory:/a/b", "3:cpu,cpuacct:/", "0::/user.slice". The path may contain colons. */
static void membership_line(char *line, const char *controller, struct membership *out) {
    char *first = strchr(line, ':');
    char *second = first != NULL ? strchr(first + 1, ':') : NULL;
    if (second == NULL || second[1] != '/') {
        return;
    }
    *first = *second = '\0';
    const char *controllers = first + 1, *path = second + 1;
    size_t length = strlen(path);
    if (length >= sizeof out->v1_path) {
        return;
    }
    if (strcmp(line, "0") == 0 && *controllers == '\0') {
        memcpy(out->v2_path, path, length + 1);
        out->v2 = true;
    } else if (mount_has_option(controllers, controller)) {
        memcpy(out->v1_path, path, length + 1);
        out->v1 = true;
    }
}

static int membership_read(const struct root *root, pid_t pid, const char *controller,
                           struct membership *ret) {
    char path[64];
    if (pid == 0) {
        (void)snprintf(path, sizeof path, "/proc/self/cgroup");
    } else {
        (void)snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
    }
    ret->v1 = ret->v2 = false;
    struct lines lines AUTO_LINES;
    int rc = lines_open(root, path, CGROUP_LIMIT, &lines);
    if (rc < 0) {
        return rc;
    }
    char *line;
    while ((rc = lines_next(&lines, &line)) == 1) {
        membership_line(line, controller, ret);
    }
    return rc;
}

static bool join(char *out, size_t size, const char *folder, const char *name) {
    const char *slash = folder[0] == '/' && folder[1] == '\0' ? "" : folder;
    int length = snprintf(out, size, "%s%s", slash, name);
    return length >= 0 && (size_t)length < size;
}

static bool has_file(const struct root *root, const char *folder, const char *name) {
    char path[FILE_SIZE];
    return join(path, sizeof path, folder, name) && root_exists(root, path);
}

/* "/../x": the process lives outside the part that our namespace can name. */
static bool leaves_namespace(const char *path) {
    return strncmp(path, "/..", 3) == 0 && (path[3] == '/' || path[3] == '\0');
}

/* Takes this mount when the group is visible through it. Of several, the one that shows most of the
 * hierarchy above. */
static void consider(const struct root *root, const struct mount *mount, int version,
                     const char *path, size_t *best_root, struct cgroup_place *ret) {
    const char *rest = path_below(path, mount->root);
    size_t root_length = strlen(mount->root);
    if (rest == NULL || leaves_namespace(rest) || root_length >= *best_root ||
        strlen(mount->point) >= sizeof ret->mount) {
        return;
    }
    char folder[sizeof ret->path];
    if (!join(folder, sizeof folder, mount->point, strcmp(rest, "/") == 0 ? "" : rest) ||
        !has_file(root, folder, "/cgroup.procs")) {
        return;
    }
    memcpy(ret->path, folder, sizeof folder);
    (void)snprintf(ret->mount, sizeof ret->mount, "%s", mount->point);
    ret->version = version;
    *best_root = root_length;
}

static int find_mount(const struct root *root, const char *controller,
                      const struct membership *where, struct cgroup_place *ret) {
    struct mounts mounts AUTO_MOUNTS;
    int rc = mounts_open(root, &mounts);
    size_t best_root = SIZE_MAX;
    struct mount mount;
    while (rc == 0 && (rc = mounts_next(&mounts, &mount)) == 1) {
        rc = 0;
        if (where->v1 && strcmp(mount.type, "cgroup") == 0 &&
            mount_has_option(mount.super, controller)) {
            consider(root, &mount, 1, where->v1_path, &best_root, ret);
        } else if (!where->v1 && where->v2 && strcmp(mount.type, "cgroup2") == 0) {
            consider(root, &mount, 2, where->v2_path, &best_root, ret);
        }
    }
    return rc;
}

/* Goes one group up; false at the mount point. */
static bool go_up(char *folder, const char *mount) {
    const char *rest = path_below(folder, mount);
    char *slash = strrchr(folder, '/');
    if (rest == NULL || *rest == '\0' || slash == NULL) {
        return false;
    }
    *slash = '\0';
    if (folder[0] == '\0') {
        memcpy(folder, "/", 2);
    }
    return true;
}

/* v2: does this group account for the controller? cgroup.controllers lists what its parent enabled
 * for it. */
static bool controller_is_on(const struct root *root, const char *folder, const char *controller) {
    char path[FILE_SIZE], text[512];
    if (!join(path, sizeof path, folder, "/cgroup.controllers") ||
        root_read_buf(root, path, text, sizeof text) < 0) {
        return false;
    }
    char *rest = NULL;
    for (char *word = strtok_r(text, " \n", &rest); word != NULL;
         word = strtok_r(NULL, " \n", &rest)) {
        if (strcmp(word, controller) == 0) {
            return true;
        }
    }
    return false;
}

static int find(const struct root *root, pid_t pid, const char *controller,
                struct cgroup_place *ret) {
    *ret = (struct cgroup_place){.reason = QUANTITY_NOT_SUPPORTED};
    struct membership where;
    int rc = membership_read(root, pid, controller, &where);
    if (rc == 0) {
        rc = find_mount(root, controller, &where, ret);
    }
    if (rc < 0) {
        ret->version = 0;
        ret->reason = rc == -EACCES || rc == -EPERM ? QUANTITY_NOT_PERMITTED : QUANTITY_NOT_VISIBLE;
        return rc;
    }
    if (ret->version == 0) {
        /* A v1 membership whose hierarchy is not mounted here, or a folder that a container hides.
         */
        ret->reason = where.v1 || where.v2 ? QUANTITY_NOT_VISIBLE : QUANTITY_NOT_SUPPORTED;
        return 0;
    }
    if (ret->version == 2) {
        while (!controller_is_on(root, ret->path, controller)) {
            if (!go_up(ret->path, ret->mount)) {
                *ret = (struct cgroup_place){.reason = QUANTITY_NOT_SUPPORTED};
                return 0;
            }
        }
    }
    /* Only the true root of a v1 hierarchy has release_agent; only the true root of v2 has no
     * cgroup.events. */
    ret->is_top = ret->version == 1 ? has_file(root, ret->mount, "/release_agent")
                                    : !has_file(root, ret->mount, "/cgroup.events");
    return 0;
}

int cgroup_find_memory(const struct root *root, pid_t pid, struct cgroup_place *ret) {
    return find(root, pid, "memory", ret);
}

int cgroup_find_cpu(const struct root *root, pid_t pid, struct cgroup_place *ret) {
    return find(root, pid, "cpu", ret);
}

int cgroup_find_pids(const struct root *root, pid_t pid, struct cgroup_place *ret) {
    return find(root, pid, "pids", ret);
}

int cgroup_find_devices(const struct root *root, pid_t pid, struct cgroup_place *ret) {
    return find(root, pid, "devices", ret);
}

/* ---- limits ---- */

/* One figure of one group: 1 with a value, 0 without (no limit, no such file), negative errno. */
typedef int (*limit_fn)(const struct root *root, const char *folder, const char *name,
                        double *ret_value);

static int limit_number(const struct root *root, const char *folder, const char *name,
                        double *ret_value) {
    char path[FILE_SIZE];
    uint64_t value;
    if (!join(path, sizeof path, folder, name)) {
        return -ENAMETOOLONG;
    }
    int rc = file_value(root, path, &value);
    if (rc < 0) {
        return rc == -ENOENT ? 0 : rc;
    }
    *ret_value = (double)value;
    return value != UINT64_MAX;
}

/* v2 cpu.max: "max 100000" or "150000 100000" (microseconds of quota and period). */
static int limit_cpu_max(const struct root *root, const char *folder, const char *name,
                         double *ret_value) {
    char path[FILE_SIZE], text[64];
    if (!join(path, sizeof path, folder, name)) {
        return -ENAMETOOLONG;
    }
    ssize_t length = root_read_buf(root, path, text, sizeof text);
    if (length < 0) {
        return length == -ENOENT ? 0 : (int)length;
    }
    if (str_starts_with(text, "max ")) {
        return 0;
    }
    const char *at = text;
    uint64_t quota, period;
    if (!field_u64(&at, &quota) || *at != ' ' || !field_u64(&at, &period) || period == 0) {
        return -EBADMSG;
    }
    *ret_value = (double)quota / (double)period;
    return 1;
}

/* v1: cpu.cfs_quota_us (-1: none) over cpu.cfs_period_us. */
static int limit_cfs(const struct root *root, const char *folder, const char *name,
                     double *ret_value) {
    char path[FILE_SIZE], text[64];
    if (!join(path, sizeof path, folder, name)) {
        return -ENAMETOOLONG;
    }
    ssize_t length = root_read_buf(root, path, text, sizeof text);
    if (length < 0) {
        return length == -ENOENT ? 0 : (int)length;
    }
    if (text[0] == '-') {
        return 0;
    }
    double period_us;
    int rc = limit_number(root, folder, "/cpu.cfs_period_us", &period_us);
    const char *at = text;
    uint64_t quota_us;
    if (rc != 1 || period_us <= 0 || !field_u64(&at, &quota_us)) {
        return rc < 0 ? rc : -EBADMSG;
    }
    *ret_value = (double)quota_us / period_us;
    return 1;
}

#define NO_TOTAL 9.0e18 /* v1's "no limit" is above it: LONG_MAX rounded down to a page */

struct limit_rule {
    const char *unit;
    const char *name; /* file, with its slash */
    const char *method;
    limit_fn read;
    double total; /* a limit at or above it cannot bind; NO_TOTAL where there is none */
};

static struct quantity no_limit(const struct cgroup_place *place, const char *unit) {
    return place->is_top ? quantity_open(unit, QUANTITY_NOT_APPLICABLE, N_("no limit is set"))
                         : quantity_open(unit, QUANTITY_NOT_VISIBLE,
                                         N_("no limit is set in the groups that are visible from "
                                            "here; groups above them may have one"));
}

static struct quantity smallest(const struct root *root, const struct cgroup_place *place,
                                const struct limit_rule *rule) {
    char folder[sizeof place->path];
    memcpy(folder, place->path, sizeof folder);
    double best = rule->total;
    bool found = false;
    do {
        double value;
        int rc = rule->read(root, folder, rule->name, &value);
        if (rc < 0) {
            return quantity_open(
                rule->unit,
                rc == -EACCES || rc == -EPERM ? QUANTITY_NOT_PERMITTED : QUANTITY_FAILED, NULL);
        }
        if (rc == 1 && value < best) {
            best = value;
            found = true;
        }
    } while (go_up(folder, place->mount));
    return found ? quantity_measured(rule->unit, best, rule->method) : no_limit(place, rule->unit);
}

/* v1's memory.stat knows the smallest limit up to the true root, also above what a container shows.
 */
static bool hierarchical(const struct root *root, const struct cgroup_place *place, const char *key,
                         double *ret_value) {
    char path[FILE_SIZE];
    struct lines lines AUTO_LINES;
    lines.fd = -1;
    if (!join(path, sizeof path, place->path, "/memory.stat") ||
        lines_open(root, path, STAT_LIMIT, &lines) < 0) {
        return false;
    }
    char *line;
    uint64_t value;
    while (lines_next(&lines, &line) == 1) {
        if (line_value(line, key, &value)) {
            *ret_value = (double)value;
            return true;
        }
    }
    return false;
}

static struct quantity v1_memory_limit(const struct root *root, const struct cgroup_place *place,
                                       const char *key, const struct limit_rule *rule) {
    double value;
    if (!hierarchical(root, place, key, &value)) {
        return smallest(root, place, rule);
    }
    return value < rule->total
               ? quantity_measured(rule->unit, value, rule->method)
               : quantity_open(rule->unit, QUANTITY_NOT_APPLICABLE, N_("no limit is set"));
}

static struct quantity v2_swap_limit(const struct root *root, const struct cgroup_place *place,
                                     const struct meminfo *info) {
    if (info->has_swap_total && info->swap_total_bytes == 0) {
        return quantity_open(UNIT_BYTE, QUANTITY_NOT_APPLICABLE, N_("the machine has no swap"));
    }
    const struct limit_rule rule = {
        UNIT_BYTE, "/memory.swap.max", "cgroup v2 memory.swap.max, smallest of the path",
        limit_number, info->has_swap_total ? (double)info->swap_total_bytes : NO_TOTAL};
    return smallest(root, place, &rule);
}

static void memory_limits(const struct root *root, pid_t pid, struct cgroup_limits *ret) {
    struct cgroup_place place;
    (void)cgroup_find_memory(root, pid, &place); /* a failure is place.reason */
    struct meminfo info;
    (void)meminfo_read(root, &info);
    double memory = info.has_total ? (double)info.total_bytes : NO_TOTAL;
    double both =
        info.has_total && info.has_swap_total ? memory + (double)info.swap_total_bytes : NO_TOTAL;
    if (place.version == 0) {
        ret->memory_limit = ret->swap_limit = ret->memory_and_swap_limit =
            quantity_open(UNIT_BYTE, place.reason, N_("no memory control group is visible"));
    } else if (place.version == 1) {
        ret->memory_limit =
            v1_memory_limit(root, &place, "hierarchical_memory_limit",
                            &(struct limit_rule){UNIT_BYTE, "/memory.limit_in_bytes",
                                                 "cgroup v1 memory.limit_in_bytes, smallest of "
                                                 "the path",
                                                 limit_number, memory});
        ret->memory_and_swap_limit = v1_memory_limit(
            root, &place, "hierarchical_memsw_limit",
            &(struct limit_rule){UNIT_BYTE, "/memory.memsw.limit_in_bytes",
                                 "cgroup v1 memory.memsw.limit_in_bytes, smallest of the path",
                                 limit_number, both});
        ret->swap_limit = quantity_open(UNIT_BYTE, QUANTITY_NOT_SEPARATED,
                                        N_("cgroup v1 limits memory and swap together"));
    } else {
        ret->memory_limit =
            smallest(root, &place,
                     &(struct limit_rule){UNIT_BYTE, "/memory.max",
                                          "cgroup v2 memory.max, smallest of the path",
                                          limit_number, memory});
        ret->swap_limit = v2_swap_limit(root, &place, &info);
        ret->memory_and_swap_limit = quantity_open(UNIT_BYTE, QUANTITY_NOT_APPLICABLE,
                                                   N_("cgroup v2 limits memory and swap apart"));
    }
}

void cgroup_limits(const struct root *root, pid_t pid, struct cgroup_limits *ret) {
    memory_limits(root, pid, ret);
    struct cgroup_place place;
    (void)cgroup_find_cpu(root, pid, &place);
    if (place.version == 0) {
        ret->cpu_limit =
            quantity_open(UNIT_CORE, place.reason, N_("no CPU control group is visible"));
    } else if (place.version == 1) {
        ret->cpu_limit =
            smallest(root, &place,
                     &(struct limit_rule){UNIT_CORE, "/cpu.cfs_quota_us",
                                          "cgroup v1 cpu.cfs_quota_us over cpu.cfs_period_us, "
                                          "smallest of the path",
                                          limit_cfs, NO_TOTAL});
    } else {
        ret->cpu_limit = smallest(root, &place,
                                  &(struct limit_rule){UNIT_CORE, "/cpu.max",
                                                       "cgroup v2 cpu.max, smallest of the path",
                                                       limit_cpu_max, NO_TOTAL});
    }
    (void)cgroup_find_pids(root, pid, &place);
    ret->pids_limit =
        place.version == 0
            ? quantity_open(UNIT_COUNT, place.reason, N_("no pids control group is visible"))
            : smallest(root, &place,
                       &(struct limit_rule){UNIT_COUNT, "/pids.max",
                                            place.version == 1
                                                ? "cgroup v1 pids.max, smallest of the path"
                                                : "cgroup v2 pids.max, smallest of the path",
                                            limit_number, NO_TOTAL});
}

/* ---- counters ---- */

static bool read_number(const struct root *root, const char *folder, const char *name,
                        uint64_t *ret_value) {
    char path[FILE_SIZE];
    return join(path, sizeof path, folder, name) && file_value(root, path, ret_value) == 0;
}

/* Reads the lines "key value" of a file; each key fills one figure. */
struct wanted {
    const char *key;
    bool *has;
    uint64_t *value;
};

static void read_keys(const struct root *root, const char *folder, const char *name,
                      const struct wanted *wanted, size_t count) {
    char path[FILE_SIZE];
    struct lines lines AUTO_LINES;
    lines.fd = -1;
    if (!join(path, sizeof path, folder, name) || lines_open(root, path, STAT_LIMIT, &lines) < 0) {
        return;
    }
    char *line;
    while (lines_next(&lines, &line) == 1) {
        for (size_t i = 0; i < count; i++) {
            if (line_value(line, wanted[i].key, wanted[i].value)) {
                *wanted[i].has = true;
            }
        }
    }
}

static void read_v1(const struct root *root, const char *folder, struct cgroup_memory *out) {
    out->has_peak = read_number(root, folder, "/memory.max_usage_in_bytes", &out->peak_bytes);
    out->has_current = read_number(root, folder, "/memory.usage_in_bytes", &out->current_bytes);
    out->has_failcnt = read_number(root, folder, "/memory.failcnt", &out->failcnt);
    /* oom_kill is there since Linux 4.13. */
    read_keys(root, folder, "/memory.oom_control",
              (struct wanted[]){{"oom_kill", &out->has_oom_kill, &out->oom_kill}}, 1);
    /* total_: with the groups below, as v2 counts. */
    read_keys(root, folder, "/memory.stat",
              (struct wanted[]){{"total_cache", &out->has_file, &out->file_bytes},
                                {"total_rss", &out->has_anon, &out->anon_bytes},
                                {"total_shmem", &out->has_shmem, &out->shmem_bytes}},
              3);
}

static void read_v2(const struct root *root, const char *folder, struct cgroup_memory *out) {
    /* memory.peak is there since Linux 5.19; without it the peak is not known: no substitute. */
    out->has_peak = read_number(root, folder, "/memory.peak", &out->peak_bytes);
    out->has_current = read_number(root, folder, "/memory.current", &out->current_bytes);
    read_keys(root, folder, "/memory.events",
              (struct wanted[]){{"oom_kill", &out->has_oom_kill, &out->oom_kill},
                                {"oom", &out->has_oom, &out->oom}},
              2);
    read_keys(root, folder, "/memory.stat",
              (struct wanted[]){{"file", &out->has_file, &out->file_bytes},
                                {"anon", &out->has_anon, &out->anon_bytes},
                                {"shmem", &out->has_shmem, &out->shmem_bytes}},
              3);
}

int cgroup_memory_read(const struct root *root, const struct cgroup_place *place,
                       struct cgroup_memory *ret) {
    if (place->version == 0 || !has_file(root, place->path, "/cgroup.procs")) {
        return -ENOENT;
    }
    struct cgroup_memory out = {0};
    if (place->version == 1) {
        read_v1(root, place->path, &out);
    } else {
        read_v2(root, place->path, &out);
    }
    *ret = out;
    return 0;
}

/* ---- a group of our own ---- */

static bool name_is_plain(const char *name) {
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
    return length > 0 && length <= 64 && name[length] == '\0';
}

/* Would a group below the parent be bound by the parent's limits and have counters of its own? */
static bool parent_is_fit(const struct cgroup_place *parent) {
    if (parent->version == 1) {
        uint64_t hierarchy;
        bool known = read_number(&root_real, parent->path, "/memory.use_hierarchy", &hierarchy);
        return !known || hierarchy == 1 ||
               (parent->is_top && strcmp(parent->path, parent->mount) == 0);
    }
    char path[FILE_SIZE], text[512];
    if (parent->version != 2 || !join(path, sizeof path, parent->path, "/cgroup.subtree_control") ||
        root_read_buf(&root_real, path, text, sizeof text) < 0) {
        return false;
    }
    char *rest = NULL;
    for (const char *word = strtok_r(text, " \n", &rest); word != NULL;
         word = strtok_r(NULL, " \n", &rest)) {
        if (strcmp(word, "memory") == 0) {
            return true;
        }
    }
    return false;
}

int cgroup_make_own(const struct cgroup_place *parent, const char *name, struct cgroup_place *ret,
                    struct err *err) {
    assert(name_is_plain(name));
    if (parent->version == 0 || !parent_is_fit(parent)) {
        return err_set(err, -ENOTSUP, "cgroup-not-delegated",
                       "no memory control group can be made below '%s'", parent->path);
    }
    struct cgroup_place own = *parent;
    int length = snprintf(own.path, sizeof own.path, "%s/probelauf-%s", parent->path, name);
    if (length < 0 || (size_t)length >= sizeof own.path) {
        return err_set(err, -ENAMETOOLONG, "cgroup-name",
                       "the path of control group '%s' is too long", parent->path);
    }
    if (mkdir(own.path, 0755) < 0) {
        int code = errno;
        return err_set(err, -code, "cgroup-not-delegated", "cannot make control group '%s': %s",
                       own.path, strerror(code));
    }
    char procs[FILE_SIZE];
    const char *usage = own.version == 1 ? "/memory.usage_in_bytes" : "/memory.current";
    if (!has_file(&root_real, own.path, usage) ||
        !join(procs, sizeof procs, own.path, "/cgroup.procs") || access(procs, W_OK) < 0) {
        (void)rmdir(own.path);
        return err_set(err, -ENOTSUP, "cgroup-not-delegated",
                       "control group '%s' does not account for memory", own.path);
    }
    *ret = own;
    return 0;
}

int cgroup_join_fd(int procs_fd) {
    /* "0" means the writer (kernel Documentation/admin-guide/cgroup-v2.rst, "Processes"). */
    ssize_t done;
    do {
        done = write(procs_fd, "0", 1);
    } while (done < 0 && errno == EINTR);
    return done == 1 ? 0 : done < 0 ? -errno : -EIO;
}

int cgroup_remove(const struct cgroup_place *own) {
    return rmdir(own->path) < 0 ? -errno : 0;
}
