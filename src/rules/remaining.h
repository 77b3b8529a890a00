/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is left to run of a block, in the order in which it is run, told from records alone: so that
 * whoever is killed and begins again comes to the same. Pure. docs/block-run.md.
 */
#pragma once

#include "base/mem.h"
#include "model/quantity.h"
#include "rules/study.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A lane that runs something, maybe without a record yet. */
struct remaining_lane {
    const char *condition; /* id; NULL: a step of the block */
    const char *step;      /* with a condition: before it */
    int64_t pid;           /* of the `probelauf run`; 0: not known */
};

struct remaining_input {
    const struct study *study;
    const struct study_block *block;
    uint64_t retry; /* repeats of a failed attempt at most */
    const struct remaining_lane *lanes;
    size_t lane_count;
    const char *const *open_records; /* ids of runs whose record is still being written */
    size_t open_record_count;
    const char *session; /* that runs on this machine; NULL: none is known */
    const char *host;    /* this machine's name, as records hold it; NULL: not known */
};

enum remaining_part {
    REMAINING_BEFORE = 0, /* a step that the runs need, once */
    REMAINING_RUN,        /* a condition */
    REMAINING_PER_RUN,    /* a step after each run */
    REMAINING_AFTER,      /* a step once all runs are there */
};

struct remaining_item {
    enum remaining_part part;
    const struct plan_step *step; /* NULL: a condition */
    const struct study_condition *condition;
    uint64_t left;    /* still to be started */
    uint64_t running; /* in progress */
    uint64_t failed;  /* attempts that failed since the last that counts, with the code as it is */
    struct quantity each; /* expected time of one */
    bool is_failed;       /* nothing more of it is started: it failed beyond what a repeat cures */
    const char
        *note; /* translated: why it is not run, or need not be again; NULL: nothing to say */
};

struct remaining {
    struct remaining_item *items; /* in the order in which they are started */
    size_t count;
    uint64_t planned, valid, failed_conditions; /* runs of the block; conditions */
};

void remaining_of_block(const struct remaining_input *input, struct arena *arena,
                        struct remaining *ret);
/* Steps that come before each run of a condition. */
bool remaining_is_before_each(const struct plan_step *step);
/* Did it fail, or was a result missed, since the disk of our own output file was full? */
bool remaining_is_for_full_output(const struct run *run);
/* Is the run's record still being written, or the run going on? */
bool remaining_is_going_on(const struct remaining_input *input, const struct run *run);
