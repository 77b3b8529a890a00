/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of `block run` share; internal to work/. */
#pragma once

#include "work/block-lanes.h"
#include "work/block-run.h"

#include <sys/types.h>

/* What goes on now, looked at before the records are read: what ends in between counts as going on
 * once more, never as not begun. */
struct block_look {
    struct lane_locked *lanes;
    size_t lane_count;
    const char **open_records; /* ids of runs whose journal is still written */
    size_t open_record_count;
    const char *signature; /* a word and a blank for each of them */
};
int block_look(const struct block_run_options *options, const struct lane_folder *folder,
               struct arena *arena, struct block_look *ret, struct err *err);
/* Is something over that was going on when the signature was made? What has only begun changes
 * nothing that is not read before the next start anyway. */
bool block_look_lacks(const struct block_look *look, const char *signature);
/* The run is over and recorded, and only what it left behind still holds the lock of its lane. */
bool block_is_only_left_over(const struct study *study, const struct lane_content *content);
/* Ended well, is meant as evidence, and is none for another reason than that a check of its result
 * was not met: its repeat would not count either. */
bool block_run_is_in_vain(const struct study_run *run);
int block_plan_make(struct work_study *study, const struct block_run_options *options,
                    const struct block_look *look, struct arena *arena, struct block_run_plan *ret,
                    struct err *err);

/* A lane as the runner sees it. */
struct lane {
    bool own;      /* runs a child of ours */
    bool occupied; /* locked by what a killed runner started */
    bool waits;    /* its condition goes on once the step before it is judged */
    bool is_step;
    char *runs; /* id of the condition, or name of the step; owned */
    pid_t pid;
    char *what, *output; /* owned */
    int64_t since_utc_ns;
    char *condition; /* id, owned: it is next, after its steps */
    size_t next_step;
};

struct awaited { /* a child that has ended: its record is looked for */
    pid_t pid;
    int64_t since_utc_ns, ended_mono_ns;
    char *what, *output, *runs; /* owned */
    bool is_step;
    bool is_doubtful; /* ended as one does that could not be started: a record tells otherwise */
};

/* block-gpus.c: sets lanes and lane_gpus. */
int block_lanes_share(const struct block_run_options *options, const struct plan_block *block,
                      struct arena *arena, struct block_run_plan *ret, struct err *err);
/* Do two settings of CUDA_VISIBLE_DEVICES name one device? NULL names none. */
bool block_gpus_overlap(const char *a, const char *b);

/* block-child.c */
/* The folder of the output files. */
const char *block_output_folder(const struct lane_folder *folder, struct arena *arena);
/* Is there too little space left for the output of one more run? In which folder, how many bytes.
 */
bool block_disk_is_full(const struct lane_folder *folder, struct arena *arena,
                        const char **ret_folder, uint64_t *ret_free);
struct block_child {
    const struct block_run_options *options;
    const struct plan_block *block;
    const struct plan_step *step;           /* NULL: the condition */
    const struct plan_condition *condition; /* with a step: the one that comes after it */
    const char *gpus;                       /* NULL: nothing is set */
    uint64_t retry;
    int64_t max_time_ns; /* 0: none */
};
/* The words of the command line behind the program, NULL-terminated. */
const char *const *block_child_argv(const struct block_child *child, struct arena *arena);
/* Starts it in the lane, in a process group of its own, its output in a new file (*ret_output, in
 * arena). Returns its pid or a negative errno with err. */
pid_t block_child_start(const struct block_child *child, const struct lane_folder *folder,
                        size_t lane, struct arena *arena, const char **ret_output, struct err *err);
