/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The measured launcher: starts one command, watches it and its descendants, keeps a journal. The
 * monitor never harms the run: killed, out of disk, out of memory, ledger gone: the command goes on
 * with its streams.
 *
 * Processes: monitor (this one: fork, wait, timers, stat/status reads, socket writes), recorder
 * (journal, text, environment and PSS through children of its own), copier (bytes of a piped or
 * terminal stream). docs/architecture.md has the picture.
 */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/uuid.h"
#include "text/extract.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum exec_tee { EXEC_TEE_AUTO = 0, EXEC_TEE_NONE };

struct exec_pattern {
    const char *phase, *regex;
};

/* A result that the command writes into a file; read when it has ended. */
struct exec_output_result {
    const char *name, *unit; /* unit NULL: none said */
    const char *file;
    const char *label; /* the file as methods name it (equal for all runs of a plan); NULL: file */
    struct extract_spec spec;
};

/* What counts as the code of the run, where a plan says so; see struct probe_context. */
struct exec_code {
    const char *folder, *except;
    const char *const *paths;
};

/* A range name of NVTX and the phase that it stands for (phases.nvtx of the plan). */
struct exec_nvtx {
    const char *range, *phase;
};

/* An existing process that is to be watched. Opening it refuses what cannot be: attach-no-process,
 * attach-ended, attach-not-permitted, attach-thread, attach-kernel-thread, attach-init,
 * attach-ancestor. Nothing is changed in it. */
struct exec_process;
int exec_process_open(pid_t pid, struct exec_process **ret_process, struct err *err);
const char *const *exec_process_argv(const struct exec_process *process); /* NULL-terminated */
const char *exec_process_cwd(const struct exec_process *process);         /* NULL: not readable */
struct exec_process *exec_process_free(struct exec_process *process);     /* accepts NULL */

/* Can --ready take it? "pattern-invalid", "ready-address", "ready-scheme", "ready-credentials". */
int exec_check_ready(const char *text, struct err *err);
/* An address; else a regular expression on lines of output. */
bool exec_ready_is_address(const char *text);

struct exec_options {
    const char *const *argv; /* NULL-terminated; with attach: what is attached to, for the record */
    pid_t attach;            /* --attach: an existing process that is watched instead; 0: none */
    const struct exec_process *process; /* with attach: that process, opened; else NULL */
    const char *ready;       /* --ready: a regular expression on output, or an http:// URL; NULL */
    const char *const *gpus; /* --gpu: NULL-terminated UUIDs, indices, "all" or "none"; NULL: found
                                out (docs/measurement.md, "Which GPUs are mine") */
    const char *const
        *journal_dirs; /* tried in order, NULL-terminated; the first writable one is used */
    char run[UUID_TEXT_SIZE], part[UUID_TEXT_SIZE];
    const char *study;   /* NULL: none */
    json_t *start_extra; /* keys that only the caller knows, merged into START: purpose, condition,
                            note, changes, step, attempt, … (borrowed) */
    const char *phase;   /* --phase or NULL */
    const struct exec_pattern *patterns;
    size_t pattern_count;
    const struct exec_nvtx *nvtx;
    size_t nvtx_count;
    const char *const *inputs, *const *outputs; /* NULL-terminated lists or NULL */
    const char *const *input_names; /* as inputs: what the record calls them, so that runs from
                                       other folders have the same names; NULL: as they are */
    const char *const *expect;      /* "marker=…", "file=…", "count=…" */
    const struct exec_output_result *results;
    size_t result_count;
    struct exec_code code;
    int64_t max_time_ns;    /* 0: none */
    int64_t grace_ns;       /* default 30 s */
    int64_t linger_ns;      /* default 10 s */
    int64_t record_wait_ns; /* after the end for the record to be on disk, then it follows; default
                               5 s */
    enum exec_tee tee;
    pid_t earlier_recorder; /* of an attempt before this one, if it is still there; 0: none */
    /* Called in the recorder process after the monitor has left, with the finished journal
     * (intake). May take long. */
    void (*recorded)(const char *journal_path, void *context);
    void *context;
};

struct exec_result {
    int status; /* what `run` must exit with: the command's, 128+N, 124, 126, 127; 125 own failure
                   before the start */
    int raise_signal;        /* SIGINT: re-raise on ourselves so that shell loops stop; 0: none */
    bool recorded;           /* the end record is on disk (acknowledged by the recorder) */
    char journal_path[4096]; /* "" when no place was writable */
    char warning[512]; /* "" or the one line that the user must see (not started, not recorded,
                          late, …), translated */
    int release_fd;    /* the recorder keeps the journal until this is closed; see exec_release() */
    pid_t recorder_pid; /* 0: none */
};

/* 0 unless nothing was started for a reason of our own (then status 125 and err). A command that
 * cannot be executed is a result (126/127), with its record. */
int exec_run(const struct exec_options *options, struct exec_result *ret_result, struct err *err);

/* Lets the recorder hand the finished journal on (intake, which takes the file away). To be called
 * once the caller has read what it wants of the journal; the end of the process does it, too. */
void exec_release(struct exec_result *result);
/* exec_release(), and waits (bounded) until the recorder is gone: what it does then is not charged
 * to what is run next. The pid of one that takes longer, for earlier_recorder; 0: it is gone. */
pid_t exec_release_and_wait(struct exec_result *result);

/* The environment variable that holds the marks file of the run around us, and writing to it
 * (probelauf mark). */
#define EXEC_MARKS_VARIABLE "PROBELAUF_MARKS"
#define EXEC_RUN_VARIABLE   "PROBELAUF_RUN"
/* The file that `block run` made for the output of this run. Where its disk is full at the end the
 * record has an incident disk_full with this in figures.kind: no fault of the command. */
#define EXEC_LANE_OUTPUT_VARIABLE "PROBELAUF_LANE_OUTPUT"
#define EXEC_LANE_OUTPUT_KIND     "lane-output"
#define EXEC_PROGRAM_VARIABLE \
    "PROBELAUF" /* this program's path, for `"$PROBELAUF" mark load` in the command */
/* Appends one line with one write(); -ENXIO when not inside a run. verb and the rest as in
 * docs/journal-format.md; value of a result: "41.5 token/s", "41.5" or a text. */
int exec_mark(const char *verb, const char *name, const char *value, struct err *err);
