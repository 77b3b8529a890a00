/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading for doctor/: the probes of a run, the GPU library, folders, clock, /proc, and the clone.
 */
#include "work/doctor.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/msg.h"
#include "exec/gpu-look.h"
#include "probe/cgroup.h"
#include "probe/cuda-archs.h"
#include "probe/places.h"
#include "probe/probe.h"
#include "probe/repository.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <unistd.h>

#define PLACES_MAX   8u
#define GPU_NS       (10 * NS_PER_S)
#define WHEELS_NS    (5 * NS_PER_S)
#define EARLIEST_UTC INT64_C(1764547200) /* 2025-12-01: this program is younger */
/* The first PID namespace of a kernel (Linux include/linux/proc_ns.h, PROC_PID_INIT_INO). */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCu

/* ---- folders ---- */

struct folder {
    const char *role, *variable;
    const char *path;
};

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] == '/' ? value : NULL;
}

/* huggingface_hub's own order (its documentation, "Environment variables"). */
static struct folder weights_folder(struct arena *arena, const char *home) {
    static const char *const direct[] = {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"};
    for (size_t i = 0; i < ARRAY_LENGTH(direct); i++)
        if (variable(direct[i]) != NULL)
            return (struct folder){"weights", direct[i], variable(direct[i])};
    if (variable("HF_HOME") != NULL)
        return (struct folder){"weights", "HF_HOME",
                               arena_printf(arena, "%s/hub", variable("HF_HOME"))};
    if (variable("XDG_CACHE_HOME") != NULL)
        return (struct folder){
            "weights", "HF_HOME",
            arena_printf(arena, "%s/huggingface/hub", variable("XDG_CACHE_HOME"))};
    return (struct folder){"weights", "HF_HOME",
                           arena_printf(arena, "%s/.cache/huggingface/hub", home)};
}

static size_t list_folders(struct arena *arena, const struct place *place,
                           struct folder folders[PLACES_MAX]) {
    size_t count = 0;
    const char *home = variable("HOME");
    AUTO_FREE char *cwd = getcwd(NULL, 0);
    if (home != NULL || variable("HF_HOME") != NULL || variable("HF_HUB_CACHE") != NULL)
        folders[count++] = weights_folder(arena, home != NULL ? home : "/");
    if (cwd != NULL)
        folders[count++] = (struct folder){"working-folder", NULL, arena_strdup(arena, cwd)};
    folders[count++] = (struct folder){"temporary", "TMPDIR",
                                       variable("TMPDIR") != NULL ? variable("TMPDIR") : "/tmp"};
    folders[count++] = (struct folder){"shared-memory", NULL, "/dev/shm"};
    if (variable("TRITON_CACHE_DIR") != NULL)
        folders[count++] =
            (struct folder){"kernels", "TRITON_CACHE_DIR", variable("TRITON_CACHE_DIR")};
    if (home != NULL)
        folders[count++] = (struct folder){"home", "HOME", home};
    if (place->journal_dirs[0] != NULL)
        folders[count++] =
            (struct folder){"records", "PROBELAUF_JOURNAL_DIR", place->journal_dirs[0]};
    return count;
}

static void look_at_places(struct arena *arena, const struct place *place,
                           struct doctor_input *input) {
    struct folder folders[PLACES_MAX];
    size_t count = list_folders(arena, place, folders);
    struct doctor_place *places = arena_alloc(arena, count * sizeof *places);
    for (size_t i = 0; i < count; i++) {
        AUTO_FREE struct place_facts *facts = mem_alloc(sizeof *facts);
        place_look(&root_real, folders[i].path, facts);
        places[i] = (struct doctor_place){
            .role = folders[i].role,
            .path = folders[i].path,
            .tried = arena_strdup(arena, facts->tried),
            .variable = folders[i].variable,
            .exists = facts->exists,
            .no_exec = facts->no_exec,
            .is_network = facts->system.is_network,
            .write_error = facts->write_error,
            .mount = arena_strdup(arena, facts->system.point),
            .type = arena_strdup(arena, facts->system.type),
            .size = facts->system.size,
            .free = facts->system.free,
            .inodes_free = facts->system.inodes_free,
        };
    }
    input->places = places;
    input->place_count = count;
}

/* ---- environment, packages ---- */

/* As a run of `python3` here would see it: its packages are what most research code runs on. */
static json_t *look_at_environment(void) {
    static const char *const python[] = {"python3", NULL};
    AUTO_FREE char *cwd = getcwd(NULL, 0);
    const struct probe_context context = {.root = &root_real,
                                          .cwd = cwd != NULL ? cwd : "/",
                                          .argv = python,
                                          .argc = 1,
                                          .environment = environ};
    return probe_environment(&context);
}

static json_t *look_at_wheels(const json_t *environment, bool *ret_complete) {
    json_t *all = json_array();
    const json_t *interpreters = json_object_get(environment, "interpreters");
    const struct variables variables = {.list = environ};
    *ret_complete = true;
    for (size_t i = 0; i < json_array_size(interpreters); i++) {
        const char *path = json_get_text(json_array_get(interpreters, i), "path", NULL);
        struct python python;
        bool complete;
        if (path == NULL || !python_locate(&root_real, path, &python))
            continue;
        AUTO_JSON json_t *wheels =
            cuda_wheels(&root_real, &python, &variables, WHEELS_NS, &complete);
        json_array_extend(all, wheels);
        *ret_complete = *ret_complete && complete;
    }
    return all;
}

/* ---- clock and /proc ---- */

static struct doctor_clock look_at_clock(void) {
    struct timex state = {.modes = 0};
    int rc = adjtimex(&state);
    struct clock_stamp now = clock_now();
    return (struct doctor_clock){
        .utc_ns = now.utc_ns,
        .build_ns = EARLIEST_UTC * NS_PER_S,
        .synchronized = rc < 0                                            ? -1
                        : rc == TIME_ERROR || (state.status & STA_UNSYNC) ? 0
                                                                          : 1,
        .suspended_ns = now.boot_ns - now.mono_ns,
    };
}

static bool is_readable(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* A group is made as a run would, and taken away at once. */
static bool can_make_group(const struct cgroup_place *place) {
    struct cgroup_place own;
    struct err err = ERR_INIT;
    AUTO_FREE char *name = mem_printf("doctor-%d", (int)getpid());
    if (place->version == 0 || cgroup_make_own(place, name, &own, &err) < 0)
        return false;
    rmdir(own.path);
    return true;
}

static struct doctor_sight look_at_proc(const json_t *environment) {
    struct stat space;
    struct cgroup_place place = {0};
    (void)cgroup_find_memory(&root_real, 0, &place);
    return (struct doctor_sight){
        .hides_processes =
            json_get_text(json_get_object(environment, "machine"), "hidepid", NULL) != NULL,
        .is_namespace =
            stat("/proc/self/ns/pid", &space) == 0 && space.st_ino != FIRST_PID_NAMESPACE,
        .has_io = is_readable("/proc/self/io"),
        .has_smaps = is_readable("/proc/self/smaps_rollup"),
        .has_kernel_log = is_readable("/dev/kmsg"),
        .cgroup = place.version == 2   ? "v2"
                  : place.version == 1 ? "v1"
                                       : "none",
        .cgroup_memory = place.version != 0,
        .cgroup_own = can_make_group(&place),
    };
}

/* ---- all of it ---- */

static int unknown_environment(const struct plan *plan, const char *id, struct err *err) {
    AUTO_STRBUF struct strbuf known = STRBUF_INIT;
    for (size_t i = 0; i < plan->environment_count; i++)
        strbuf_printf(&known, "%s%s", i > 0 ? ", " : "", plan->environments[i].id);
    if (known.length == 0)
        return err_set(err, -ENOENT, "environment-unknown",
                       "the plan has no environment '%s', nor any other", id);
    return err_set(err, -ENOENT, "environment-unknown",
                   "the plan has no environment '%s'; it has: %s", id, strbuf_str(&known));
}

static int find_target(const struct doctor_wishes *wishes, const struct plan_environment **ret,
                       struct err *err) {
    const struct plan *plan = wishes->plan;
    *ret = NULL;
    if (wishes->environment != NULL && plan == NULL)
        return err_set(err, -ENOENT, "environment-unknown",
                       "there is no plan here that could know the environment '%s'; leave out "
                       "--env, or name the plan with --plan FILE",
                       wishes->environment);
    if (wishes->environment != NULL) {
        *ret = plan_environment_find(plan, wishes->environment);
        return *ret != NULL ? 0 : unknown_environment(plan, wishes->environment, err);
    }
    if (plan != NULL && plan->environment_count > 0)
        *ret = &plan->environments[0];
    return 0;
}

/* Into the input, whose JSON is the caller's to give back. */
struct looked {
    json_t *environment, *wheels, *library, *devices, *repository;
};

static void looked_done(struct looked *looked) {
    json_decref(looked->environment);
    json_decref(looked->wheels);
    json_decref(looked->library);
    json_decref(looked->devices);
    json_decref(looked->repository);
}
#define AUTO_LOOKED __attribute__((cleanup(looked_done)))

static void look_at_machine(const struct doctor_wishes *wishes, struct arena *arena,
                            struct looked *looked, struct doctor_input *input) {
    looked->environment = look_at_environment();
    looked->wheels = look_at_wheels(looked->environment, &input->wheels_complete);
    input->no_gpu_answer = gpu_look(GPU_NS, &looked->library, &looked->devices);
    input->environment = looked->environment;
    input->wheels = looked->wheels;
    input->library = looked->library;
    input->devices = looked->devices;
    look_at_places(arena, wishes->place, input);
    input->sight = look_at_proc(looked->environment);
}

/* Named, else where the plan lies; with --only repo, else here. */
static const char *find_repository(const struct doctor_wishes *wishes) {
    if (wishes->without_repository)
        return NULL;
    if (wishes->repository != NULL)
        return wishes->repository;
    if (wishes->plan != NULL)
        return wishes->plan->folder;
    return wishes->without_machine ? "." : NULL;
}

int work_doctor(const struct doctor_wishes *wishes, struct arena *arena,
                struct doctor_findings *ret_findings, struct err *err) {
    AUTO_LOOKED struct looked looked = {0};
    struct doctor_input input = {.plan = wishes->plan,
                                 .has_weights = wishes->has_weights,
                                 .weights_bytes = wishes->weights_bytes,
                                 .without_machine = wishes->without_machine};
    int rc = find_target(wishes, &input.target, err);
    const char *folder = find_repository(wishes);
    if (rc == 0 && folder != NULL)
        rc = repository_read(folder, NULL, &looked.repository, err);
    if (rc < 0)
        return rc;
    input.repository = looked.repository;
    input.clock = look_at_clock();
    if (!wishes->without_machine)
        look_at_machine(wishes, arena, &looked, &input);
    doctor_judge(&input, arena, ret_findings);
    return 0;
}
