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

/*
 * What the CHUNKs before left behind: a chunk goes on from the last value of each of its series,
 * which saves the first ones. Zero-initialised; one per writer and one per reader of a file, which
 * hands it every CHUNK in order, whatever its series. After a record that could not be written the
 * writer calls chunk_coder_done: the next chunk then stands alone, as the first one of each writer
 * does. A reader notices a missing chunk (they are counted) and answers -EBADMSG until one stands
 * alone.
 */
struct chunk_coder {
    int64_t
        *last; /* by series id below CHUNK_SERIES_MAX; 0 while it had no value; NULL: none yet */
    int64_t last_ms;
    uint64_t index; /* chunks since one that stands alone, it included; 0: none yet */
};
void chunk_coder_done(
    struct chunk_coder *coder); /* forgets; accepts an empty one; leaves an empty one */

/* Adds the payload to out. coder NULL: the chunk stands alone. The limits above are the caller's to
 * keep (asserted). */
void chunk_encode_next(struct chunk_coder *coder, const struct chunk *chunk, struct strbuf *out);
void chunk_encode(const struct chunk *chunk, struct strbuf *out); /* alone */

/* Owned arrays (chunk_done). -EBADMSG for anything that is not the layout, whole and with nothing
 * behind it; ret_chunk is then untouched and coder empty. Never takes more memory than
 * CHUNK_VALUES_MAX values need. */
int chunk_decode_next(struct chunk_coder *coder, const void *bytes, size_t length,
                      struct chunk *ret_chunk, struct err *err);
int chunk_decode(const void *bytes, size_t length, struct chunk *ret_chunk,
                 struct err *err);    /* one that stands alone */
void chunk_done(struct chunk *chunk); /* accepts an empty one; leaves an empty one */
