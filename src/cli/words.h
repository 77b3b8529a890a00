/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words of lower layers as options want them: choices, complaints with a did-you-mean, points in
 * time. */
#pragma once

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

const char *words_phase(size_t index);   /* "setup", …; NULL behind the last */
const char *words_outcome(size_t index); /* "running", "ok", … */

/* "there is no phase 'x'; did you mean 'y'?" ("usage-phase") */
int words_complain_phase(const char *word, struct err *err);

/* "2h", "3d": that long before now_utc_ns; "2026-11-30"; "2026-11-30T12:00:00Z". "usage-bad-value"
 * otherwise. */
int words_to_moment(const char *option, const char *text, int64_t now_utc_ns, int64_t *ret_utc_ns,
                    struct err *err);
