/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What goes into the measured process: the NVTX receiver (a shared object that NVTX loads when
 * NVTX_INJECTION64_PATH names it) and the Python hook (a sitecustomize.py in front of PYTHONPATH).
 * Both are embedded in this program and unpacked, once per content, into a private folder beside
 * the journal. They report by lines of the marks file (`agent NAME {…}`, docs/journal-format.md)
 * and change nothing in the program. Without a place for the files, or switched off, the run is as
 * without them and the record says why.
 */
#pragma once

#include "base/json.h"
#include "exec/exec.h"
#include "exec/shared.h"

struct recorder;

/* Recorder, before the command starts: unpacks what is missing beside the journal; what can be
 * offered stands in `shared` (agent_folder) for the monitor. Never fails: a trouble is a reason. */
void agents_prepare(struct recorder *recorder);
/* START's `agents`: {"python-hook": {"on": true} or {"on": false, "reason": …}, "nvtx": …}. */
json_t *agents_to_start(const struct recorder *recorder);

/* Monitor: the variables that the command gets beside environ, NAME=VALUE, NULL-terminated; the
 * list and its texts are owned by the caller (agents_variables_free). Notes in `shared` what is
 * offered, for START. Never replaces a set
 * NVTX_INJECTION64_PATH; PYTHONPATH keeps what it held behind our folder. */
char **agents_variables(const struct exec_options *options, struct shared *shared,
                        char *const *environment);
void agents_variables_free(char **variables);

/* Recorder: a MARK payload of verb "agent" is about to be written; what it says of failures becomes
 * an INCIDENT (an out-of-memory that the program caught). */
void agents_take(struct recorder *recorder, const json_t *mark);
