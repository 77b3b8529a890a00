/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which runs count as observations of the same condition when there is no plan: same command, condition, working folder,
 * code state, purpose, environment fingerprint. Pure.
 */
#pragma once

#include "model/run.h"
#include "base/digest.h"

#include <stdbool.h>

/* Digest of (command, condition, cwd, step): finds candidates in the ledger. */
void comparable_group_key(const struct run *run, char ret_hex[SHA256_HEX_SIZE]);

/* Does `run` count beside `reference`? If not, *ret_reason is a static, translated sentence ("the code changed", "failed: …"). */
bool comparable_counts(const struct run *run, const struct run *reference, const char **ret_reason);
