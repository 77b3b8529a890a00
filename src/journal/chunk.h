/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CHUNK payloads: ticks of several series that were read at the same moments. Times once per tick,
 * values per series; differences as zig-zag varints, scaled by a common divisor per series.
 * Lossless for what goes in: integers (bytes, nanoseconds, counts) and absent values. Layout:
 * docs/journal-format.md, "CHUNK".
 */
#pragma once

#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

#define CHUNK_ABSENT     INT64_MIN /* this series has no value at this tick: open, never 0 */
#define CHUNK_SERIES_MAX 4096u
#define CHUNK_TICKS_MAX  65536u
#define CHUNK_VALUES_MAX \
    65536u /* series times ticks: a few bytes may decode to so many and no more */

struct chunk {
    uint32_t *series; /* ids of SERIES records, `series_count` of them */
    size_t series_count;
    int64_t *time_ns; /* CLOCK_MONOTONIC minus the run's start, rounded down to 1 ms, `tick_count`
                         of them */
    size_t tick_count;
    int64_t *
        value; /* [series * tick_count + tick], integers in the unit that the SERIES record names */
};

/* Adds the payload to out. The three limits above are the caller's to keep (asserted). */
void chunk_encode(const struct chunk *chunk, struct strbuf *out);

/* Owned arrays (chunk_done). -EBADMSG for anything that is not the layout, whole and with nothing
 * behind it; ret_chunk is then untouched. Never takes more memory than CHUNK_VALUES_MAX values
 * need. */
int chunk_decode(const void *bytes, size_t length, struct chunk *ret_chunk, struct err *err);
void chunk_done(struct chunk *chunk); /* accepts an empty one; leaves an empty one */
