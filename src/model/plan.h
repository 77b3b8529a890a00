/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plan as people wrote it (probelauf.yaml), read and expanded. Written by people, never by the
 * program once it was created; what is not in it is absent (NULL, not given, the enum's 0), never a
 * default that nobody chose. Format, with the meaning of every key: docs/plan-format.md, generated
 * from the table that fills these structs (plan/schema.c).
 *
 * Everything lives in the arena of the struct plan. Texts are as written. `at` is the place in the
 * file, which makes a plan line a source: "probelauf.yaml:31".
 */
#pragma once

#include "base/digest.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLAN_FILE_NAME "probelauf.yaml"
/* Conditions of a whole plan; a larger matrix is refused, since nobody means it. */
#define PLAN_CONDITIONS_MAX 10000u

struct plan_at {
    uint32_t line, column; /* from 1; line 0: not in the file */
};

/* ---- values that may be absent ---- */

struct plan_whole {
    bool given;
    int64_t value;
    struct plan_at at;
};
struct plan_number {
    bool given;
    double value;
    const char *text; /* as written */
    struct plan_at at;
};
struct plan_duration {
    bool given;
    int64_t ns;
    struct plan_at at;
};
struct plan_bytes { /* "80 GiB" */
    bool given;
    uint64_t bytes;
    struct plan_at at;
};
struct plan_amount { /* money: integer micro-units, exact */
    bool given;
    int64_t micros;
    struct plan_at at;
};
struct plan_date {
    bool given;
    int64_t utc_ns; /* midnight UTC of the day */
    const char *text;
    struct plan_at at;
};
struct plan_tolerance { /* "0.02" or "2%" */
    bool given;
    double value; /* absolute, or relative as a share (0.02 for 2%) */
    bool relative;
    struct plan_at at;
};
struct plan_threshold { /* ">= 0.9" */
    bool given;
    enum plan_relation { PLAN_LESS = 0, PLAN_AT_MOST, PLAN_AT_LEAST, PLAN_GREATER } relation;
    double value;
    struct plan_at at;
};

struct plan_text_item {
    const char *text;
    struct plan_at at;
};
struct plan_texts {
    struct plan_text_item *items;
    size_t count;
};
struct plan_pair { /* name: value, the value's text as written */
    const char *name, *value;
    struct plan_at at;
};
struct plan_pairs {
    struct plan_pair *items;
    size_t count;
    struct plan_at at;
};

/* ---- closed words; 0 is always "not said" ---- */

enum plan_answer { PLAN_UNSAID = 0, PLAN_YES, PLAN_NO };
/* How a block, an axis or a value is backed (REQUIREMENTS C3). */
enum plan_backing { PLAN_UNDETERMINED = 0, PLAN_CHOSEN, PLAN_CONFIRMED };
enum plan_fact_state { PLAN_FACT_OPEN = 0, PLAN_FACT_KNOWN, PLAN_FACT_NOT_APPLICABLE };
enum plan_kind {
    PLAN_KIND_UNSAID = 0,
    PLAN_VALIDATE,
    PLAN_COMPARE,
    PLAN_SCALE,
    PLAN_VERIFY,
    PLAN_KIND_COUNT_
};
enum plan_extent { PLAN_EXTENT_UNSAID = 0, PLAN_VALIDATION, PLAN_FULL, PLAN_EXTENT_COUNT_ };
enum plan_recurrence {
    PLAN_RECURRENCE_UNSAID = 0,
    PLAN_ONE_OFF,
    PLAN_RECURRING,
    PLAN_RECURRENCE_COUNT_
};
enum plan_scope {
    PLAN_SCOPE_OPEN = 0,
    PLAN_SCOPE_FUNCTION_TEST,
    PLAN_SCOPE_MAIN_RESULT,
    PLAN_SCOPE_FULL_BENCHMARK
};
/* What an open fact stands in the way of: bits. */
enum plan_stop {
    PLAN_STOPS_VALIDATE = 1 << 0,
    PLAN_STOPS_COMPARE = 1 << 1,
    PLAN_STOPS_SCALE = 1 << 2,
    PLAN_STOPS_VERIFY = 1 << 3,
    PLAN_STOPS_BOOKING = 1 << 4,
};
enum plan_repeats { PLAN_REPEATS_UNSAID = 0, PLAN_ONCE, PLAN_PER_RENTAL, PLAN_PER_RUN };
enum plan_environment_kind {
    PLAN_ENVIRONMENT_UNSAID = 0,
    PLAN_RENTED,
    PLAN_OWN,
    PLAN_INSTITUTE,
    PLAN_MACOS
};
enum plan_better { PLAN_BETTER_UNSAID = 0, PLAN_HIGHER, PLAN_LOWER };

/* The nine components of an estimate (DESIGN section 7), in the order of every output. */
enum component {
    COMPONENT_PREPARE = 0,
    COMPONENT_DATA,
    COMPONENT_TRANSFER,
    COMPONENT_RUNS,
    COMPONENT_RETRIES,
    COMPONENT_FIXING,
    COMPONENT_CHECKING,
    COMPONENT_TEARDOWN,
    COMPONENT_IDLE,
    COMPONENT_COUNT_
};

const char *plan_kind_name(enum plan_kind kind);                   /* "validate"; "" for unsaid */
const char *plan_extent_name(enum plan_extent extent);             /* "validation", "full" */
const char *plan_recurrence_name(enum plan_recurrence recurrence); /* "one-off", "recurring" */
const char *plan_backing_name(enum plan_backing backing);          /* "confirmed", ... */
const char *plan_fact_state_name(enum plan_fact_state state);
const char *plan_answer_name(enum plan_answer answer); /* "yes", "no", "open" */
const char *plan_scope_name(enum plan_scope scope);
/* "rented", "own", "institute", "macos"; NULL: not said */
const char *plan_environment_kind_name(enum plan_environment_kind kind);
const char *component_name(enum component component); /* "prepare", ... */
bool component_from_name(const char *name, enum component *ret_component);

/* ---- the parts ---- */

struct plan_study {
    struct plan_at at;
    const char *id; /* UUID, written by init; ties records to the study */
    const char *title;
    const char *paper_title, *paper_version, *paper_url; /* study.paper{title, version, url} */
    enum plan_scope scope;
    const char *scope_note;
};

struct plan_claim {
    struct plan_at at;
    const char *id, *text;
    const char *result;      /* name of the result metric that decides it */
    struct plan_pairs where; /* the conditions it speaks of: those that have all these pairs */
    struct plan_number paper_value;
    struct plan_threshold threshold;
    struct plan_pairs *ordering; /* conditions, the one that should be best first */
    size_t ordering_count;
    enum plan_better better; /* needed by an ordering */
    struct plan_tolerance tolerance;
    const char *source;
};

struct plan_paper_part { /* matrix_of_paper[] */
    struct plan_at at;
    const char *part;
    const char *role; /* "central", "additional", "ablation", "scaling"; NULL: not said */
    enum plan_answer included;
    const char *why, *source;
};

struct plan_fact {
    struct plan_at at;
    const char *id;
    enum plan_fact_state state;
    const char *about;       /* "code", "weights", "resource", …; NULL: not said */
    const char *environment; /* id; NULL: holds everywhere */
    const char *value, *source, *source_kind;
    struct plan_date seen;
    const char *question;
    unsigned stops; /* enum plan_stop */
};

struct plan_environment {
    struct plan_at at;
    const char *id;
    enum plan_environment_kind kind;
    const char *accelerator;        /* "cuda", "rocm", "metal", "cpu"; NULL: told by kind and gpu
                                       (plan_accelerator) */
    const char *compute_capability; /* "9.0"; NULL: open */
    const char *gpu;                /* model as the vendor names it; NULL: open */
    struct plan_whole gpus;         /* 0: no GPU; not given: open */
    const char *driver;             /* "550.54.15" or "550"; its major number is compared */
    struct plan_pairs stack;        /* name: version */
    struct plan_texts match; /* packages that must equal the target's; "machine.KEY": a part of the
                                machine (cpu_model, cpus, memory, distribution, interpreter) */
    enum plan_answer physical_access;
    struct plan_bytes gpu_memory, host_memory; /* capacity{gpu_memory, host_memory, source} */
    const char *capacity_source;
};

struct plan_code {
    struct plan_at at;
    const char *repo;
    struct plan_texts paths; /* git path specs that the code digest covers; empty: all but the plan,
                              *.md, docs/, LICENSE* */
    /* requires{}: what the code needs of an environment (A6) */
    struct plan_texts accelerators;   /* one of them; empty: open */
    struct plan_texts architectures;  /* that it is built for, "9.0"; empty: not said */
    struct plan_pairs requires_stack; /* name: version as pip writes it, "2.7.0", ">=2.4,<3" */
    const char *requires_source;
};

struct plan_pattern {
    struct plan_at at;
    const char *phase, *regex;
};

struct plan_task { /* preparatory work by people */
    struct plan_at at;
    const char *id, *what;
    bool has_component;
    enum component component;
    enum plan_answer needs_machine, done;
    struct plan_duration time; /* assumed; needs who, when, why */
    const char *who, *why;
    struct plan_date when;
};

struct plan_step {
    struct plan_at at;
    const char *name;
    enum component component; /* prepare, data, transfer, fixing, checking, teardown */
    struct plan_texts run;    /* command, argv */
    bool shell;
    enum plan_answer needs_machine;
    enum plan_repeats repeats;
};

struct plan_value {
    struct plan_at at;
    const char *text;              /* as written */
    bool has_state, has_supported; /* written at the value; else they are its axis' */
    enum plan_backing state;
    const char *source;
    enum plan_answer supported;   /* by the code */
    const char *supported_source; /* file and line */
};

struct plan_axis {
    struct plan_at at;
    const char *name;
    struct plan_value *values;
    size_t value_count;
    enum plan_backing state;
    const char *source;
    enum plan_answer supported;
    const char *supported_source;
};

struct plan_result {
    struct plan_at at;
    const char *name, *unit;
    const char *file;  /* NULL: reported by `mark --result` */
    const char *json;  /* JSON pointer (RFC 6901) */
    const char *csv;   /* column name */
    const char *row;   /* "last" (default), "first" or a number from 1 */
    const char *regex; /* extended regular expression; first group, last match */
};

/* One point of a block's matrix. */
struct plan_condition {
    struct plan_at at; /* of the block's matrix, or of the include entry */
    char id[SHA256_HEX_SIZE];
    const struct plan_block *block;
    struct plan_pair *axes; /* what varies within the block, in the order of the matrix */
    size_t axis_count;
    struct plan_pair *parameters; /* all, with the block's fixed ones, sorted by name */
    size_t parameter_count;
    enum plan_backing state;    /* the weakest of its values' */
    enum plan_answer supported; /* no if any value is not; else open if any is open */
    const char *label;          /* "policy=evict keep=0.5"; the block's id without axes */
};

struct plan_block {
    struct plan_at at;
    const char *id, *title;
    enum plan_kind kind;
    enum plan_extent extent;
    enum plan_recurrence recurrence;
    enum plan_backing state;
    const char *source;
    const char *question;
    struct plan_texts claims; /* ids: what its runs answer */
    struct plan_texts needs;  /* ids of blocks before it */
    struct plan_texts steps;  /* names of the steps that this block needs */
    struct plan_pairs fixed;
    struct plan_axis *axes;
    size_t axis_count;
    struct plan_pairs *include, *exclude;
    size_t include_count, exclude_count;
    struct plan_whole runs;    /* per condition; not given: open */
    struct plan_texts command; /* argv with {name} places; shell: one text */
    bool shell;
    const char *template_id; /* given, else derived from the command */
    const char *folder;      /* where it runs, relative to the plan's folder; NULL: there */
    struct plan_texts inputs, outputs, expect; /* may hold {name} */
    const char *verify_of, *verify_result;     /* verify{of, result, tolerance}: compares repeats */
    struct plan_tolerance verify_tolerance;
    struct plan_result *results;
    size_t result_count;
    const char *gate;                   /* the criteria by which one goes on (C6) */
    struct plan_whole lanes, retry_max; /* retry{max} */
    struct plan_condition *conditions;  /* expanded */
    size_t condition_count;
};

struct plan_planned_date { /* calendar{BLOCK: {start, end}} */
    struct plan_at at;
    const char *block;
    struct plan_date start, end;
};

struct plan_offer {
    struct plan_at at;
    const char *id, *environment, *device, *provider;
    struct plan_whole gpus_per_unit;
    struct plan_amount rate;
    const char *currency; /* ISO 4217 */
    const char
        *service_unit; /* "NAIRR SU": takes the place of a currency; its rate is dated as any */
    const char *per;   /* "second", "minute", "hour", "day", "week", "month" */
    struct plan_duration increment, minimum, maximum, provisioning;
    struct plan_whole units_available;
    struct plan_amount setup_fee;
    struct plan_amount storage_running, storage_stopped; /* per GB and month */
    struct plan_amount transfer_in, transfer_out;        /* per GB */
    enum plan_answer interruptible;
    const char *interruption_terms, *taxes, *region, *data_terms, *availability;
    enum plan_answer tax_included;
    struct plan_amount tax_percent; /* micros of a percent: 19 % is 19000000 */
    const char *source;
    struct plan_date seen, valid_until;
    const char *replaces; /* id of the earlier offer that it is a new version of */
};

/* How machines are rented, where the plan knows it (D5, D6). */
struct plan_rental {
    struct plan_at at;
    struct plan_bytes storage; /* kept on the machine's disks; GB of offers are 10^9 bytes */
    const char *between;       /* what becomes of the machine between two rentals: "stopped",
                                  "deleted"; NULL: open */
    struct plan_duration wait_between; /* for people, between two blocks; needs who, when, why */
    const char *who, *why;
    struct plan_date when;
};

/* The software validation that comes before an estimate (E1): set by the team, never an estimate.
 */
struct plan_validation {
    struct plan_at at;
    struct plan_duration max_time;
    struct plan_amount max_cost;
    const char *currency;       /* of max_cost */
    const char *stop_condition; /* when it is given up */
    const char *result;         /* what it has to show */
};

struct plan_sourced { /* a figure of owning{}, with where it is from */
    struct plan_at at;
    const char *value, *source;
    struct plan_date seen;
};

struct plan_owning {
    struct plan_at at;
    const char *currency, *device;
    struct plan_whole gpus;
    struct plan_sourced purchase, lifetime, residual, power, electricity, administration, lead_time,
        utilisation, maintenance;
    enum plan_answer can_administer; /* can the team take administration and maintenance on? */
};

struct plan_demand {
    struct plan_at at;
    const char *pattern; /* "campaign", "peaks", "continuous"; NULL: open */
    struct plan_duration lasts;
    struct plan_texts needs; /* "local-interface", "attached-device", "full-control", … */
    const char *source;
    struct plan_sourced own;      /* what is there already: "2 GPUs of the group" */
    enum plan_answer exceeds_own; /* is that too little, for a limited time? */
};

struct plan_privacy {
    struct plan_at at;
    const char *data_class; /* "none", "personal", "sensitive"; NULL: open */
    enum plan_answer may_transfer;
    struct plan_sourced provider_statement;
    const char *assessment, *retention, *readers, *storage;
};

struct plan_assumption {
    struct plan_at at;
    const char *key, *value; /* keys: rules/estimate.h */
    const char *who, *why;
    struct plan_date when;
};

struct plan_deviation { /* differences between the described protocol and the own goal (A7) */
    struct plan_at at;
    const char *what, *why, *source;
};

struct plan {
    struct arena *arena;          /* owns everything */
    const char *path;             /* as given */
    const char *name;             /* for sources: the file's own name, "probelauf.yaml" */
    const char *folder;           /* absolute */
    char digest[SHA256_HEX_SIZE]; /* of the file's bytes */

    struct plan_study study;
    struct plan_claim *claims;
    size_t claim_count;
    struct plan_paper_part *paper_parts;
    size_t paper_part_count;
    struct plan_deviation *deviations;
    size_t deviation_count;
    struct plan_fact *facts;
    size_t fact_count;
    struct plan_environment *environments;
    size_t environment_count;
    struct plan_code code;
    struct plan_pairs nvtx; /* phases.nvtx: range name: phase */
    struct plan_pattern *patterns;
    size_t pattern_count;
    struct plan_task *tasks;
    size_t task_count;
    struct plan_step *steps;
    size_t step_count;
    struct plan_block *blocks;
    size_t block_count;
    struct plan_demand demand;
    struct plan_validation validation;
    struct plan_rental rental;
    struct plan_planned_date *calendar;
    size_t calendar_count;
    struct plan_offer *offers;
    size_t offer_count;
    struct plan_owning owning;
    struct plan_privacy privacy;
    struct plan_assumption *assumptions;
    size_t assumption_count;
    struct plan_pairs slurm; /* partition, account, … as Slurm names them */
};

const struct plan_block *plan_block_find(const struct plan *plan, const char *id);
const struct plan_environment *plan_environment_find(const struct plan *plan, const char *id);
const struct plan_step *plan_step_find(const struct plan *plan, const char *name);
/* "cuda", "rocm", "metal" or "cpu": as the plan says it, else by kind macos, gpus: 0, or the vendor
 * that the GPU's name begins with; NULL: open. Never by what is usual. */
const char *plan_accelerator(const struct plan_environment *environment);
const struct plan_offer *plan_offer_find(const struct plan *plan, const char *id);
/* "probelauf.yaml:31", in the arena: a source. */
const char *plan_source(const struct plan *plan, struct plan_at at, struct arena *arena);
/* Has the condition all these pairs, value texts equal as written? */
bool plan_condition_has(const struct plan_condition *condition, const struct plan_pairs *pairs);
