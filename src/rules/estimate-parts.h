/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the estimate share; internal to rules/. A piece is a duration twice: as the
 * quantity that is shown and as the futures that it is added up by. A tally adds pieces: value and
 * interval of the sum come from the futures, everything else from the quantities.
 */
#pragma once

#include "forecast/simulate.h"
#include "rules/estimate.h"

/* ---- estimate-pieces.c ---- */

struct piece {
    struct quantity quantity; /* open exactly when the futures are */
    struct futures futures;   /* settled */
};

struct piece piece_open(enum quantity_reason reason, const char *detail);
/* 0, because nothing is left to do: a count that was read. source: NULL: none. */
struct piece piece_nothing(struct arena *arena, const char *source);
/* The piece times a factor; the quantity's texts and sources stay. */
struct piece piece_scale(const struct piece *piece, double factor, struct arena *scratch);
/* Puts value and interval of the futures into the quantity, whose state is set. What is assumed has
 * the interval of what is drawn in it. */
void piece_take_futures(struct piece *piece);
/* Texts of a, then of b, each once. */
void piece_add_sources(struct quantity *q, const char *const *sources, size_t count,
                       struct arena *arena);
const char *piece_join(struct arena *arena, const char *a, const char *b); /* "a; b"; NULL: none */

struct estimate_maker;
struct tally {
    struct futures sum;
    struct quantity_part *parts; /* growing, in the arena */
    size_t count, room;
};
void tally_add(struct tally *tally, const char *name, const struct piece *piece,
               struct arena *arena, struct arena *scratch);
/* Names the piece as a part of the sum, but adds nothing to its futures. */
void tally_add_named(struct tally *tally, const char *name, const struct piece *piece,
                     struct arena *arena);
/* The sum as a piece. Weakest state of the known parts; at-least with an open or an at-least part;
 * open with the reason of the first part when none is known, or with `empty` when there is none.
 * n counts the runs among its sources, or where all of it rests on sessions those. */
struct piece tally_piece(struct tally *tally, const struct piece *empty,
                         const struct estimate_maker *maker);

/* ---- estimate-settings.c ---- */

enum estimate_what {
    ESTIMATE_COMPONENT = 0,
    ESTIMATE_RUN_TIME,
    ESTIMATE_RUNS,
    ESTIMATE_FAILURE_RATE,
    ESTIMATE_LOST_TIME,
    ESTIMATE_RETRY_MAX,
    ESTIMATE_LANES,
    ESTIMATE_STEP,
};

struct estimate_rule { /* a setting, read */
    struct estimate_setting setting;
    enum estimate_what what;
    enum component component; /* only ESTIMATE_COMPONENT */
    const char *block;        /* "*": every block; NULL: a step */
    const char *step;
    double number; /* seconds, count or share */
    bool took_effect;
    const char *why_not; /* where it was looked at and could not be used; NULL: it was not */
};

struct estimate_retry_pool;
struct estimate_remembered;
struct estimate_maker {
    const struct study *study;
    const struct plan *plan;
    const struct plan_environment *environment; /* NULL: none */
    struct estimate *ret;
    struct arena *arena;
    uint64_t seed;
    size_t draws;
    struct simulate_common *common; /* to all conditions, of this seed and these draws */
    struct estimate_rule *rules;    /* --set first, the last of them first; then the plan's */
    size_t rule_count;
    const struct forecast_class *class; /* NULL: none is assumed */
    const struct condition_model *class_model;
    const struct estimate_retry_pool *retry_pool; /* of estimate-retries.c; NULL: not made yet */
    struct estimate_remembered *remembered;       /* of estimate-precision.c; NULL: nothing */
};

int estimate_rules_read(struct estimate_maker *maker, const struct estimate_options *options,
                        struct err *err);
/* The rule in force, or NULL; marks nothing. only_set: those of --set alone. */
struct estimate_rule *estimate_rule_find(struct estimate_maker *maker, const char *block,
                                         enum estimate_what what, enum component component,
                                         bool only_set);
struct estimate_rule *estimate_rule_step(struct estimate_maker *maker, const char *step,
                                         bool only_set);
/* Says in the quantity what was assumed, by whom and why. Whether it took effect is for who knows
 * whether a figure comes of it: */
void estimate_rule_note(struct estimate_rule *rule, bool took_effect, const char *why_not);
struct quantity estimate_rule_quantity(struct estimate_maker *maker, struct estimate_rule *rule,
                                       const char *unit, double value);
struct piece estimate_rule_piece(struct estimate_maker *maker, struct estimate_rule *rule,
                                 double seconds);
void estimate_rules_list(struct estimate_maker *maker); /* fills ret->assumed */

/* ---- estimate-items.c ---- */

/* The same items added up four ways. */
enum estimate_view {
    VIEW_ALL = 0,  /* the component */
    VIEW_MACHINE,  /* what needs the machine, or does not say */
    VIEW_EFFORT,   /* what needs none */
    VIEW_CALENDAR, /* runs and retries side by side */
    VIEW_COUNT_
};

struct condition_work {
    const struct study_condition *study;
    bool has_remaining;
    uint64_t remaining;
    bool is_unsupported;   /* the plan says so, and it never ran: no time of it is projected */
    struct quantity count; /* of remaining runs */
    double *walls;         /* of the runs that count, newest first */
    const struct run **runs;
    const char **sources;
    size_t count_used;
};

struct estimate_lanes;
struct block_work {
    struct estimate_maker *maker;
    const struct study_block *study;
    struct estimate_block *ret;
    struct arena *scratch; /* of the sums, while the block is made */
    struct arena *draws;   /* of one item's futures, which are dropped once they are added */
    struct condition_work *conditions;
    size_t condition_count;
    uint64_t lanes;
    struct estimate_rule *lanes_rule; /* NULL: the plan's own */
    bool replaced[COMPONENT_COUNT_];  /* by a --set: no item is added */
    size_t item_room[COMPONENT_COUNT_];
    struct tally tally[VIEW_COUNT_][COMPONENT_COUNT_];
    struct piece piece[VIEW_COUNT_][COMPONENT_COUNT_]; /* what came of them */
    bool empty[VIEW_COUNT_][COMPONENT_COUNT_];         /* no item, but maybe an open piece */
    struct futures per_rental, repeated;               /* of estimate_rented, in scratch */
    struct estimate_lanes *side_by_side; /* of estimate-lanes.c; NULL: nothing goes on lanes */
    bool lanes_at_least;                 /* more lanes than can be told: see lanes.h */
    bool nothing_left;
};

/* Finds what is left to do in a block: fills conditions and remaining. */
void estimate_block_begin(struct block_work *work);
/* Fills components and pieces. */
void estimate_block_items(struct block_work *work);
/* The runs of a condition that count in the target environment. */
size_t estimate_counting_runs(const struct study_condition *condition, struct arena *arena,
                              const struct run ***ret_runs, double **ret_walls);
/* What component an observed phase belongs to. */
enum component estimate_component_of(enum phase phase);
/* Does a run tell its phases apart? */
bool estimate_is_separated(const struct run *run);

/* Why the condition counts as open although something might be known, and where that stands. */
const char *estimate_why_unsupported(void);
const char *estimate_unsupported_at(const struct plan *plan, const struct plan_condition *condition,
                                    struct arena *arena);
const char *
estimate_condition_key(const struct plan_condition *condition); /* of its random stream */
const char *estimate_condition_name(const struct condition_work *c);
/* The plan's line, or the block's where that is in no file. */
const char *estimate_block_source(const struct block_work *work, struct plan_at at);
struct simulate_stream estimate_stream(const struct block_work *work, const char *shared,
                                       const char *own);
/* What there is to say of a forecast from so many runs; NULL: nothing. */
const char *estimate_runs_detail(size_t count, const struct futures *futures);
/* A piece made of `count` units rests on its sources, too; an assumed count makes it assumed. */
void estimate_take_count(const struct block_work *work, struct piece *piece,
                         const struct quantity *count);
/* Adds an item to a component and all views. side_by_side: it goes along with runs, on lanes. */
void estimate_work_add(struct block_work *work, enum component k, struct estimate_item item,
                       const struct piece *piece, bool side_by_side);

/* estimate-lanes.c: nothing but with several lanes */
bool estimate_lanes_several(const struct block_work *work);
/* In place of adding the piece to the calendar view: on lanes, beside the other items. */
void estimate_lanes_add(struct block_work *work, enum component k, const struct estimate_item *item,
                        const struct piece *piece);
/* How many runs of the condition share its failed attempts, per future. */
void estimate_lanes_hits(struct block_work *work, const struct condition_work *c,
                         const double *hit_runs);
/* Once every item is added: fills the calendar view. */
void estimate_lanes_finish(struct block_work *work);
/* Of a component in the calendar view: its items are not shortened, only their sum is, so that the
 * open ones alone are named. */
void estimate_lanes_keep_open(struct block_work *work, enum component k);

/* estimate-retries.c, estimate-steps.c */
bool estimate_is_incurable(const struct study_run *run); /* an attempt that a repeat of would only
                                                            fail again */
void estimate_add_retries(struct block_work *work, const struct condition_work *c);
void estimate_add_step(struct block_work *work, const struct plan_step *step);
/* estimate-idle.c: after everything else that needs the machine */
void estimate_add_idle(struct block_work *work);

void estimate_item_add(struct estimate_component *component, size_t *room,
                       const struct estimate_item *item, struct arena *arena);

/* ---- estimate-history.c ---- */

void estimate_history_begin(struct estimate_maker *maker); /* fills ret->history */
/* `repeats` runs of the condition with what it borrows. false: there is nothing to borrow, or its
 * runs have no logarithm; ret is as it was. */
bool estimate_history_project(const struct block_work *work, const struct condition_work *c,
                              uint64_t repeats, const char *own, struct piece *ret);

/* ---- estimate-class.c: nothing without a class ---- */

void estimate_class_begin(struct estimate_maker *maker, const struct forecast_class *class);
/* Gives a piece of `repeats` runs that are known, but without a spread, the interval of the class.
 */
void estimate_class_project(const struct block_work *work, const struct condition_work *c,
                            uint64_t repeats, const char *own, struct piece *piece);
/* Gives open retries the cost of the class, where no attempt of the study failed. */
void estimate_class_retries(const struct block_work *work, const struct condition_work *c,
                            int64_t retry_max, struct quantity *count, struct piece *piece);

/* ---- estimate-figures.c ---- */

struct figure_pieces {
    struct piece computing, reserved, calendar, effort;
};
struct figure_tallies {
    struct tally computing, reserved, calendar, effort;
};
void estimate_figures_of_block(struct block_work *work, struct figure_pieces *ret_pieces);
/* Keeps the futures that money is made of. */
void estimate_figures_keep(struct block_work *work, const struct figure_pieces *pieces);
void estimate_figures_of_pieces(struct estimate_maker *maker, const struct figure_pieces *pieces,
                                struct estimate_figures *ret_figures);
void estimate_figures_add(struct figure_tallies *tallies, const char *name,
                          const struct figure_pieces *pieces, struct arena *arena,
                          struct arena *scratch);
void estimate_figures_finish(struct estimate_maker *maker, struct figure_tallies *tallies,
                             struct estimate_figures *ret_figures);

/* ---- estimate-precision.c ---- */

/* Remembers the futures of an item that needs the machine, until the total is known. */
void estimate_precision_add(struct block_work *work, enum component k,
                            const struct estimate_item *item, const struct piece *piece);
/* Fills total_errors and dominating; forgets the items. */
void estimate_precision_find(struct estimate_maker *maker, const struct figure_tallies *total);

/* ---- estimate-memory.c ---- */

/* The quantities a driver or framework gives, the one nearest to the need of the run first. A kept
 * estimate names the one that it used: the review finds it here again. */
#define ESTIMATE_GPU_QUANTITIES 4u
const char *estimate_gpu_quantity_name(size_t index); /* English; translate it to show it */
const struct quantity *estimate_gpu_quantity(const struct run_gpu *gpu, size_t index);

void estimate_block_memory(struct block_work *work);
void estimate_block_volume(struct block_work *work);

/* ---- estimate-open.c ---- */

struct estimate_openings { /* growing, in the arena */
    struct estimate_open *items;
    size_t count, room;
};
void estimate_block_open(struct block_work *work); /* the list `open` of a block */
void estimate_task_open(struct estimate_maker *maker, struct estimate_openings *list,
                        const struct estimate_item *item);
/* The list `open` over all blocks; tasks: of the study's own tasks, as they are found. */
void estimate_open_all(struct estimate_maker *maker, const struct estimate_openings *tasks);
const char *estimate_step_command(const struct plan_step *step, struct arena *arena);

/* ---- estimate-text.c ---- */

void estimate_block_weakness(struct block_work *work); /* D4 */
void estimate_provisional(struct estimate_maker *maker);
