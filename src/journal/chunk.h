/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CHUNK payloads: ticks of several series that were read at the same moments. Times once per tick, values per
 * series; differences as zig-zag varints, scaled by a common divisor per series. Lossless for what goes in:
 * integers (bytes, nanoseconds, counts) and absent values.
 */
#pragma once

#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

#define CHUNK_ABSENT INT64_MIN /* this series has no value at this tick: open, never 0 */
#define CHUNK_SERIES_MAX 4096u
#define CHUNK_TICKS_MAX  65536u

struct chunk {
    uint32_t *series;  /* ids of SERIES records, `series_count` of them */
    size_t series_count;
    int64_t *time_ns;  /* CLOCK_MONOTONIC minus the run's start, rounded down to 1 ms, `tick_count` of them */
    size_t tick_count;
    int64_t *value;    /* [series * tick_count + tick], integers in the unit that the SERIES record names */
};

void chunk_encode(const struct chunk *chunk, struct strbuf *out);
/* Owned arrays; -EBADMSG for anything that chunk_encode did not write. */
int chunk_decode(const void *bytes, size_t length, struct chunk *ret_chunk, struct err *err);
void chunk_done(struct chunk *chunk);
