/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The estimate of a whole plan: what is still to do, from what was measured (DESIGN section 7,
 * docs/estimate.md). Nine components per block, each a distribution or open; three figures
 * (computing, reserved, calendar), effort and paid time apart; subtotals; memory need. A total is
 * never without its open parts. Pure and deterministic for a seed; every part draws from a stream
 * of its own, so that changing one part changes no other.
 */
#pragma once

#include "base/err.h"
#include "forecast/simulate.h"
#include "model/plan.h"
#include "model/quantity.h"
#include "rules/study.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESTIMATE_METHOD "plan-simulation/1"
/* Basis of what rests on sessions (docs/sessions.md) in place of runs: n counts them. */
#define ESTIMATE_BASIS_SESSIONS "own-sessions"
/* Of what rests on failed attempts of other conditions, too: how often, or what share of a run. */
#define ESTIMATE_BASIS_FAILURES "borrowed-failures"

/*
 * Assumptions that people make on purpose: from `assumptions:` of the plan, or --set. Keys:
 *   BLOCK.COMPONENT          duration of that component of the block as a whole (not runs)
 *   BLOCK.run-time           duration of one run of each condition that has no evidence
 *   BLOCK.runs               runs per condition
 *   BLOCK.failure-rate       share of attempts that fail, 0 … 1
 *   BLOCK.lost-time          duration lost by one failed attempt
 *   BLOCK.retry-max, BLOCK.lanes
 *   step.NAME                duration of one execution of the step
 * where BLOCK may be "*": every block. A value from --set goes before the plan's assumption, an
 * assumption never before a measurement, but a --set does (it asks "what if"); both are marked.
 */
struct estimate_setting {
    const char *key, *value;      /* as written */
    const char *who, *why, *when; /* of an assumption; NULL for --set */
    const char *source;           /* "probelauf.yaml:80", or "--set" */
    bool is_set;                  /* from --set */
    const char *no_effect;        /* translated: why it changes no figure; NULL: it does */
};
/* Is the key one of the above, and the value of its kind? *ret_why (in arena): what is wrong. */
bool estimate_setting_check(const struct plan *plan, const char *key, const char *value,
                            struct arena *arena, const char **ret_why);

struct calibrated; /* what reviewed blocks teach of figures */
struct forecast_class;
struct estimate_class; /* rules/estimate-class.h */

struct estimate_options {
    const struct estimate_setting *settings; /* --set only; the plan's are read from it */
    size_t setting_count;
    uint64_t seed;
    size_t draws; /* 0: the usual number */
    /* NULL: none. With one, what lacks a spread is assumed to vary like it: never for a figure that
     * is used for deciding (rules/estimate-class.h). */
    const struct forecast_class *class;
};

/* What closes an open part; the words for it: estimate_remedy_text. */
enum estimate_remedy {
    ESTIMATE_MAKE_RUN = 0, /* of the condition */
    ESTIMATE_RUN_STEP,     /* of the plan, on its own */
    ESTIMATE_LET_SEE,      /* mark a phase, add a step, or assume */
    ESTIMATE_SEE_ATTEMPTS, /* that fail, or assume what is lost */
    ESTIMATE_LIMIT_REPEATS,
    ESTIMATE_ASSUME,         /* nothing else can close it */
    ESTIMATE_RECORD_SESSION, /* in the target environment, or assume */
    ESTIMATE_ONE_LANE,       /* which has no such bound */
    ESTIMATE_ENTER,          /* in the plan */
    ESTIMATE_SUPPORT, /* change the code, or the plan, which says that the code cannot do it */
    ESTIMATE_REMEDY_COUNT_
};

/* What a component is made of; traces every figure to runs and plan lines. */
struct estimate_item {
    const char *name; /* "policy=evict keep=0.5", "step install", "task weights" */
    /* what it is of; all NULL: an assumption of a whole component */
    const struct plan_condition *condition;
    const struct plan_step *step;
    const struct plan_task *task;
    const char *why; /* where its time is open: why, in a few words; NULL: the detail says it */
    enum estimate_remedy remedy; /* where its time is open or a lower bound */
    struct quantity count;       /* how many, unit "count"; open where the plan leaves it open */
    struct quantity unit;        /* one of them, seconds */
    struct quantity time;        /* all of them */
    enum plan_answer needs_machine;
};

struct estimate_component {
    enum component component;
    struct quantity time; /* of all items; open: never seen, with the reason */
    struct estimate_item *items;
    size_t item_count;
};

/* Nothing of this is left to do: its time is a 0 that was counted, not estimated. */
bool estimate_is_nothing_left(const struct estimate_component *component);

struct estimate_figures {
    struct quantity computing; /* the runs alone */
    struct quantity reserved;  /* everything that needs the machine: paid time */
    struct quantity
        calendar;           /* from start to end, lanes side by side, with what needs no machine */
    struct quantity effort; /* what needs no rented machine */
    struct quantity gpu;    /* reserved x reserved GPUs, seconds; not-applicable without a GPU */
};

/* Standard errors of the quantiles of a figure by the number of simulated futures, seconds: how far
 * another seed would move them. Only of a figure that has an interval. */
struct estimate_error {
    bool known;
    double p05, p50, p95;
};
struct estimate_errors {
    struct estimate_error computing, reserved, calendar, effort;
};

/* The item that makes up more than half of the variance of the reserved total. */
struct estimate_dominating {
    const char *item; /* as estimate_item.name; NULL: there is none */
    const struct plan_block *block;
    enum component component; /* RUNS also of phases that count elsewhere */
    double share;             /* above 0.5; of the variance within the 90 % interval */
};

struct estimate_memory {
    const char *quantity_name; /* "largest process, resident" … : which quantity it is */
    struct quantity need;      /* largest measured peak, at-least; open: unmeasured */
    struct quantity capacity;  /* of the environment, or the machine it was measured on; open */
    const char *verdict;       /* translated: fits, exceeds, cannot be told */
};

/* One part that is not in the figures, or not wholly. */
struct estimate_open {
    const struct plan_block *block; /* NULL: of none, a task */
    bool has_component;             /* else a figure, which `what` names */
    enum component component;
    const struct estimate_item **items; /* of the component; none: all of it */
    size_t item_count;
    enum estimate_remedy kind;
    /* with ESTIMATE_ENTER: what, "repeats of step 'clean'"; ESTIMATE_SUPPORT: which place */
    const char *enter;
    const char *what;   /* translated: why it is open, equal for what is open for the same reason */
    const char *remedy; /* translated: what closes this part alone, with the names of the plan */
};

/* What is rented for one block, kept future by future in the arena of the estimate, because a bill
 * is not proportional to time: what costs money is billed in every future. Future i of one block is
 * future i of every other. Only kind, value and draws are set; a sum of nothing is open. */
struct estimate_rented {
    struct futures reserved; /* as figures.reserved */
    struct futures
        per_rental;          /* of it: steps that each rental does again (`repeats: per-rental`) */
    struct futures repeated; /* of these: what an earlier block does, too */
};

struct estimate_block {
    const struct study_block *block;
    bool has_remaining;
    uint64_t remaining; /* runs still to do */
    struct estimate_component components[COMPONENT_COUNT_];
    struct estimate_figures figures;
    struct estimate_rented rented;
    struct estimate_memory host_memory, gpu_memory;
    struct quantity bytes_in, bytes_out; /* transferred volume seen per run x remaining runs */
    const struct estimate_open *open;    /* what is not in the figures */
    size_t open_count;
    const char *weakness;                /* why the base is not representative, or NULL (D4) */
    const struct calibrated *calibrated; /* rules/calibration.h; NULL: not looked at */
};

struct estimate_subtotal {
    const char *name; /* "validation", "full", "one-off", "recurring", "not said" */
    size_t block_count;
    struct estimate_figures figures;
};

struct estimate_history;
struct estimate {
    const struct study *study;
    const struct estimate_history *history; /* what its conditions borrow from */
    uint64_t seed;
    size_t draws;
    struct estimate_block *blocks; /* as study->blocks */
    size_t block_count;
    struct estimate_component components[COMPONENT_COUNT_]; /* over all blocks; items: the blocks */
    struct estimate_figures total;
    struct estimate_errors total_errors;
    struct estimate_dominating dominating;
    struct estimate_subtotal *by_extent, *by_recurrence;
    size_t by_extent_count, by_recurrence_count;
    const struct estimate_open *open; /* those of all blocks, then of the tasks */
    size_t open_count;
    /* an open fact about weights, data or code, or no condition that runs (A10) */
    bool provisional;
    const char *const *provisional_reasons; /* translated */
    size_t provisional_count;
    struct estimate_setting *assumed; /* the assumptions and --set values that took effect */
    size_t assumed_count;
    struct estimate_setting *without_effect; /* the others, each with no_effect */
    size_t without_effect_count;
    size_t reserved_gpus; /* per machine; only with has_gpus */
    bool has_gpus;
    const struct calibrated *calibrated;   /* of the total; as of a block */
    const struct estimate_class *by_class; /* NULL: no class was asked for */
};

/* For a key or value that estimate_setting_check refuses: "estimate-setting" in err where it is of
 * --set, "plan-assumption" where it is the plan's. */
int estimate_make(const struct study *study, const struct estimate_options *options,
                  struct arena *arena, struct estimate *ret_estimate, struct err *err);

/* The forecast of `repeats` (>= 1) runs of the condition with this key (id, else label) after
 * `count` runs, oldest first, with what the others lend it. false: there is nothing to borrow, or a
 * value has no logarithm. at_least: times of runs that were cut off. */
struct condition_forecast;
bool estimate_history_lends(
    const struct estimate_history *history); /* is there anything to borrow? */
bool estimate_history_forecast(const struct estimate_history *history, const char *key,
                               const char *family, const double *seconds, size_t count,
                               const double *at_least, size_t at_least_count, uint64_t repeats,
                               struct arena *arena, struct condition_forecast *ret);

/* "probelauf run --block compare -c policy=evict", as a shell takes it. */
const char *estimate_condition_command(const struct plan_block *block,
                                       const struct plan_condition *condition, struct arena *arena);

/* With --env of the study's target where its plan has several. */
const char *estimate_command_in(const struct study *study, const char *command,
                                struct arena *arena);

/* What closes these parts, all of the same kind, in one sentence without a full stop. Of many
 * commands the first is named; whole: of many keys all, not only the first ones. */
const char *estimate_remedy_text(const struct estimate *estimate,
                                 const struct estimate_open *const *parts, size_t count, bool whole,
                                 struct arena *arena);
/* Every command that closes one of these parts, each once. */
size_t estimate_remedy_commands(const struct estimate *estimate,
                                const struct estimate_open *const *parts, size_t count,
                                struct arena *arena, const char *const **ret_commands);
