/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a machine and a clone of the code tell before anything is run: what is known, what is open,
 * what will not work. Judges facts that others have read (work hands them in); reads nothing
 * itself, has no clock. Findings stand in the order of topics; each says what was seen, and where
 * something is to be done, what.
 */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "model/plan.h"
#include "model/quantity.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum doctor_state {
    DOCTOR_KNOWN = 0, /* seen, and nothing against it */
    DOCTOR_OPEN,      /* could not be seen, with the reason */
    DOCTOR_WARNING,   /* may cost time or a run */
    DOCTOR_PROBLEM,   /* will not work like this, or contradicts the plan */
    DOCTOR_STATE_COUNT_
};
const char *doctor_state_name(enum doctor_state state); /* "known", "open", "warning", "problem" */

enum doctor_topic {
    DOCTOR_MACHINE = 0,
    DOCTOR_GPU,
    DOCTOR_CUDA,
    DOCTOR_DISK,
    DOCTOR_PLACES,
    DOCTOR_LIMITS,
    DOCTOR_CLOCK,
    DOCTOR_VISIBILITY, /* what of /proc can be seen */
    DOCTOR_PLAN,
    DOCTOR_REPOSITORY, /* the clone itself: commit, what of it was read */
    DOCTOR_LICENCE,
    DOCTOR_COMMANDS, /* that documents and scripts name */
    DOCTOR_REQUIREMENTS,
    DOCTOR_STACK, /* what it needs of a machine, against each environment of the plan */
    DOCTOR_FILES, /* paths of other machines, files that are named but absent */
    DOCTOR_MODELS,
    DOCTOR_SEEDS,
    DOCTOR_SETTINGS, /* of the plan, against the options of the code */
    DOCTOR_TOPIC_COUNT_
};
const char *doctor_topic_name(enum doctor_topic topic); /* "machine", "gpu", … */

struct doctor_finding {
    enum doctor_topic topic;
    const char *id; /* stable: "cuda-no-kernels" */
    enum doctor_state state;
    const char *text;   /* one sentence, translated */
    const char *advice; /* what to do; NULL */
    const char *place;  /* "the home folder (/root)" of place-writable; NULL */
    bool has_quantity;
    struct quantity quantity; /* the figure behind it */
    const char **sources;     /* "file:line" within the clone; of a finding on it */
    size_t source_count;
    const char *environment; /* id in the plan that it speaks of; NULL: none */
};

/* What a clone suggests to write into the plan's facts; never what the plan knows already. */
struct doctor_fact {
    const char *id; /* none of the plan's */
    const char *about;
    bool known;
    const char *value;    /* of a known one; English, as it goes into the plan */
    const char *source;   /* "LICENSE:1 (7d78b34)" */
    const char *question; /* of an open one */
    const char *stops;    /* "validate, booking"; NULL: nothing */
    const char *answers;  /* "probelauf.yaml:31": an open fact there that it answers; NULL */
};

/* A folder that a run is likely to write to. */
struct doctor_place {
    const char
        *role; /* "weights", "working-folder", "temporary", "shared-memory", "home", "records" */
    const char *path, *tried; /* tried: the nearest folder that exists */
    const char *variable;     /* that names it; NULL: by default */
    bool exists, no_exec, is_network;
    int write_error; /* errno; 0: writable */
    const char *mount, *type;
    struct quantity size, free, inodes_free;
};

struct doctor_clock {
    int64_t utc_ns;       /* now */
    int64_t build_ns;     /* a time before which it cannot be; 0: not known */
    int synchronized;     /* 1, 0; -1: not told by the kernel */
    int64_t suspended_ns; /* boot time minus monotonic time */
};

struct doctor_sight {     /* of /proc */
    bool hides_processes; /* hidepid, or processes of others are not shown */
    bool is_namespace;    /* process 1 is not the machine's first */
    bool has_io;          /* /proc/self/io */
    bool has_smaps;       /* /proc/self/smaps_rollup */
    bool has_kernel_log;  /* may be read */
    const char *cgroup;   /* "v2", "v1", "none" */
    bool cgroup_memory;   /* its memory controller is there */
    bool cgroup_own;      /* a group of one's own can be made */
};

struct doctor_input {
    json_t *environment;       /* as in the ENVIRONMENT record (docs/journal-format.md) */
    json_t *library;           /* DEVICE record of the library as a whole; NULL: not asked */
    json_t *devices;           /* array of DEVICE records */
    const char *no_gpu_answer; /* why there is none of them; NULL: there was one */
    json_t *wheels; /* array of {package, version, interpreter, file, machine, ptx, complete} */
    bool wheels_complete;
    const struct doctor_place *places;
    size_t place_count;
    struct doctor_clock clock;
    struct doctor_sight sight;
    const struct plan *plan;               /* NULL: none */
    const struct plan_environment *target; /* of the plan; NULL: none named */
    bool has_weights;
    double weights_bytes;     /* what must fit; with has_weights */
    bool without_machine;     /* only the clone is looked at */
    const json_t *repository; /* as probe/repository.h gives it; NULL: none */
};

struct doctor_findings {
    struct doctor_finding *items;
    size_t count;
    const struct doctor_fact *facts;
    size_t fact_count;
    const char *snippet; /* for the plan: the environment as it was seen, facts, what the code
                            requires; YAML; "" for none */
};
/* Texts and items live in the arena. */
void doctor_judge(const struct doctor_input *input, struct arena *arena,
                  struct doctor_findings *ret_findings);
