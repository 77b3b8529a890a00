/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What renderers need from the JSON that a run's records hold: plain facts with their types
 * checked, and quantities that follow from them. Internal to report/. Never trusts a record: a
 * value of another type than docs/journal-format.md names is an absent one. A number is passed on
 * only if the record holds it.
 */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "model/run.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why something that only the end of a run tells is open: running, monitor-lost, or not-in-record.
 */
enum quantity_reason facts_open_reason(const struct run *run);

/* The number behind `key`, measured; open with the reason where there is none or it is no number ≥
 * 0. */
struct quantity facts_number(const json_t *object, const char *key, const char *unit,
                             const char *method, enum quantity_reason reason);
/* A quantity as a record holds it: a quantity object, or a plain number in the unit given. Text is
 * borrowed from json. */
struct quantity facts_quantity(const json_t *json, const char *unit, const char *method,
                               enum quantity_reason reason, const char *detail);

/* Seconds from the start as far as anything is known: the wall time, the last sample, the last
 * phase. 0: nothing is. */
double facts_duration(const struct run *run);
/* Time in which the machine was suspended (CLOCK_BOOTTIME went on, CLOCK_MONOTONIC did not), whole
 * milliseconds. */
struct quantity facts_suspended(const struct run *run);
/* Time in job-control stop; it is part of wall. */
struct quantity facts_stopped(const struct run *run);
/* Bytes of "stdout" or "stderr" that went through us. */
struct quantity facts_stream_bytes(const struct run *run, const char *stream, const char *key);

/*
 * Limits and totals of the machine, from the record's `limits` and `totals`. The figures that every
 * record should have
 * ("memory", "swap", "cpu", …) come first, open where it lacks them; then whatever else it holds as
 * a quantity.
 */
enum facts_machine { FACTS_LIMITS = 0, FACTS_TOTALS };
struct facts_figure {
    const char *name;
    struct quantity quantity;
};
size_t facts_machine(const struct run *run, enum facts_machine which, struct arena *arena,
                     struct facts_figure **ret_figures);
struct quantity facts_machine_figure(const struct run *run, enum facts_machine which,
                                     const char *name);

struct facts_file {
    const char *path, *kind; /* kind: "file", "folder", "absent" or NULL */
    const char *identity;    /* NULL: not known */
    struct quantity bytes, items;
};
/* Files named by --input, --output. Texts live in the run or in arena. */
size_t facts_inputs(const struct run *run, struct arena *arena, struct facts_file **ret_files);
size_t facts_outputs(const struct run *run, struct arena *arena, struct facts_file **ret_files);

struct facts_expectation {
    const char *what, *met, *detail; /* met: "yes", "no", "not-checked" */
};
size_t facts_expectations(const struct run *run, struct arena *arena,
                          struct facts_expectation **ret_expectations);

/* How many of the checks were not met; *ret_count: how many there are. */
size_t facts_unmet(const struct run *run, size_t *ret_count);

/* Why a part of the environment ("code", "limits", …) is open, translated, or NULL. */
const char *facts_environment_reason(const struct run *run, const char *part);

/* The GPUs that the machine showed: "8 NVIDIA H100", "none", models of a mixed machine with
 * semicolons; NULL: not known. In arena. */
const char *facts_gpus(const struct run *run, struct arena *arena);
const char *facts_gpu_driver(const struct run *run); /* version, or NULL */

/* The command on one line, arguments with blanks in quotes, as one would type it. May hold
 * anything: print it plain. */
void facts_command_line(const struct run *run, struct strbuf *out);

const char *facts_weights_name(enum run_weights weights);    /* "cold", "warm", "unknown" */
const char *facts_validity_name(enum run_validity validity); /* "unchecked", "valid", "invalid" */

/* What a class means where no incident explains it, one translated sentence; NULL where the class
 * says it all. */
const char *facts_outcome_meaning(enum outcome_class outcome);
/* The same of a run: of output that nobody read it says that, not that it shows no cause. */
const char *facts_run_meaning(const struct run *run);

/* "exit code 1", "signal 9 (SIGKILL)", "status not known": how the command ended, translated. */
void facts_ending(const struct run *run, struct strbuf *out);
/* It ran before (--attach). */
bool facts_is_attached(const struct run *run);
/* Only the watching of it ended: nothing can be said of the process's own end. */
bool facts_goes_on(const struct run *run);
/* Seconds until what --ready waits for; only where START has it. */
struct quantity facts_ready_after(const struct run *run);
/* Why what --ready waits for was never seen, translated; false: it was, or nothing was waited for.
 */
bool facts_why_not_ready(const struct run *run, struct strbuf *out);
/* It may have come, or come before, where nobody looked. */
bool facts_ready_is_unseen(const struct run *run);
/* The address of --ready answered before the command started. */
bool facts_address_taken(const struct run *run);
