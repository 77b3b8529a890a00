/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which runs count as observations of the same condition when there is no plan: same command,
 * condition, working folder, code state, inputs, purpose, environment fingerprint. Pure.
 */
#pragma once

#include "base/digest.h"
#include "model/run.h"

#include <stdbool.h>

/* Digest of (command, condition, cwd, step): finds candidates in the ledger. Part of the stored
 * index: what goes into it may not change without `ledger rebuild`. */
void comparable_group_key(const struct run *run, char ret_hex[SHA256_HEX_SIZE]);

/* Is the run an observation at all, whatever it is compared with: finished, ok, not declared
 * invalid, no function test, with a wall time that is known and not cut off, no check of its result
 * unmet, not stopped by job control for more than 1 % of its time? If not, *ret_reason is
 * a static, translated sentence. */
bool comparable_is_usable(const struct run *run, const char **ret_reason);

/* Does `run` count beside `reference`? If not, *ret_reason is a static, translated sentence ("the
 * code changed", "it failed"). What neither of the two knows (no repository, no environment record)
 * does not keep them apart; what only one knows does. */
bool comparable_counts(const struct run *run, const struct run *reference, const char **ret_reason);

/* Is a part of the environment (machine, driver, interpreter, packages) known of both runs, and not
 * the same? *ret_reason is a static, translated sentence about `run`; NULL otherwise. */
bool comparable_environment_differs(const struct run *run, const struct run *reference,
                                    const char **ret_reason);

/* Same command, condition, working folder and step: attempts of one piece of work, however they
 * ended. */
bool comparable_same_group(const struct run *a, const struct run *b);
