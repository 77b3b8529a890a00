/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The CHUNK codec (docs/journal-format.md, "CHUNK"). Small without an entropy coder: the ledger
 * compresses whole journals, so what counts here is that equal things look equal and that unchanged
 * things cost one byte. Must not lose a bit, must not trust a byte: every count is checked against
 * what is left before it is believed.
 */
#include "journal/chunk.h"

#include "base/clock.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define LAYOUT_ALONE 1u
#define LAYOUT_NEXT  2u /* goes on from the chunks before: values minus their last ones */
#define VARINT_MAX   10u

enum column_mode {
    COLUMN_CONSTANT = 0,
    COLUMN_DIFFERENCE = 1,
    COLUMN_SECOND_DIFFERENCE = 2,
    COLUMN_PLAIN = 3,
};
#define TAG_MODE      0x03u
#define TAG_ABSENT    0x04u
#define TAG_REMAINDER 0x08u
#define TAG_DIVISOR   4u /* bits to shift */

/* Frozen with the format. What real counters are multiples of: decimal clock units (a scheduler
 * tick is 10^7 ns), sectors, pages, huge pages. A few canonical divisors instead of the exact one,
 * so that chance factors of a few values do not make the tags of one series differ from chunk to
 * chunk. */
static const int64_t divisors[16] = {
    1,          10,  100,  1000, 10000, 100000, 1000000, 10000000,
    1000000000, 512, 1024, 4096, 16384, 65536,  1048576, 2097152,
};

static uint64_t zigzag(int64_t value) {
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static int64_t unzigzag(uint64_t value) {
    return (int64_t)((value >> 1) ^ (value & 1 ? UINT64_MAX : 0));
}

/* a - b modulo 2^64: differences of any two values have an exact inverse. */
static int64_t wrap_sub(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t wrap_add(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static size_t varint_length(uint64_t value) {
    size_t length = 1;
    while (value >= 0x80) {
        value >>= 7;
        length++;
    }
    return length;
}

static void add_varint(struct strbuf *out, uint64_t value) {
    uint8_t bytes[VARINT_MAX];
    size_t length = 0;
    while (value >= 0x80) {
        bytes[length++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    bytes[length++] = (uint8_t)value;
    strbuf_add(out, bytes, length);
}

/* ---- encoding ---- */

/* The i-th number of a column in the given mode, from scaled values. */
static int64_t column_number(const int64_t *scaled, size_t i, enum column_mode mode) {
    switch (mode) {
    case COLUMN_CONSTANT:
    case COLUMN_PLAIN:
        return scaled[i];
    case COLUMN_DIFFERENCE:
        return i == 0 ? scaled[0] : wrap_sub(scaled[i], scaled[i - 1]);
    case COLUMN_SECOND_DIFFERENCE:
        if (i == 0) {
            return scaled[0];
        }
        if (i == 1) {
            return wrap_sub(scaled[1], scaled[0]);
        }
        return wrap_sub(wrap_sub(scaled[i], scaled[i - 1]), wrap_sub(scaled[i - 1], scaled[i - 2]));
    }
    assert(false);
    return 0;
}

static size_t column_size(const int64_t *scaled, size_t count, enum column_mode mode) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        size += varint_length(zigzag(column_number(scaled, i, mode)));
    }
    return size;
}

static enum column_mode choose_mode(const int64_t *scaled, size_t count) {
    bool constant = true;
    for (size_t i = 1; i < count && constant; i++) {
        constant = scaled[i] == scaled[0];
    }
    if (constant) {
        return COLUMN_CONSTANT;
    }
    /* Differences win a tie: they look alike from chunk to chunk where plain values do not. */
    enum column_mode best = COLUMN_DIFFERENCE;
    size_t best_size = column_size(scaled, count, best);
    const enum column_mode others[] = {COLUMN_SECOND_DIFFERENCE, COLUMN_PLAIN};
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++) {
        size_t size = column_size(scaled, count, others[i]);
        if (size < best_size) {
            best = others[i];
            best_size = size;
        }
    }
    return best;
}

/* True if every value is remainder (of the first, C sign) plus a multiple of the divisor, without
 * overflow. */
static bool divides_all(const int64_t *present, size_t count, int64_t divisor) {
    int64_t remainder = present[0] % divisor;
    for (size_t i = 0; i < count; i++) {
        int64_t shifted;
        if (__builtin_sub_overflow(present[i], remainder, &shifted) || shifted % divisor != 0) {
            return false;
        }
    }
    return true;
}

/* The code of the largest divisor that fits. Constants are only divided where nothing remains. */
static unsigned choose_divisor(const int64_t *present, size_t count) {
    unsigned best = 0;
    bool constant = true, zero = count == 0 || present[0] == 0;
    for (size_t i = 1; i < count && constant; i++) {
        constant = present[i] == present[0];
    }
    if (constant && zero) {
        return 0;
    }
    for (unsigned code = 1; code < ARRAY_LENGTH(divisors); code++) {
        bool clean = present[0] % divisors[code] == 0;
        if (divisors[code] > divisors[best] && (clean || !constant) &&
            divides_all(present, count, divisors[code])) {
            best = code;
        }
    }
    return best;
}

static void add_column(struct strbuf *out, const int64_t *values, size_t count, int64_t base,
                       int64_t *scratch) {
    size_t present = 0;
    for (size_t i = 0; i < count; i++) {
        if (values[i] != CHUNK_ABSENT) {
            scratch[present++] = wrap_sub(values[i], base);
        }
    }
    unsigned code = choose_divisor(scratch, present);
    int64_t remainder = present > 0 ? scratch[0] % divisors[code] : 0;
    for (size_t i = 0; i < present; i++) {
        scratch[i] = (scratch[i] - remainder) / divisors[code];
    }
    enum column_mode mode = choose_mode(scratch, present);
    unsigned tag = (unsigned)mode | (code << TAG_DIVISOR) | (present < count ? TAG_ABSENT : 0) |
                   (remainder != 0 ? TAG_REMAINDER : 0);
    strbuf_add_char(out, (char)tag);
    if (present < count) {
        for (size_t i = 0; i < count; i += 8) {
            unsigned bits = 0;
            for (size_t bit = 0; bit < 8 && i + bit < count; bit++) {
                bits |= (values[i + bit] != CHUNK_ABSENT ? 1u : 0u) << bit;
            }
            strbuf_add_char(out, (char)bits);
        }
    }
    if (remainder != 0) {
        add_varint(out, zigzag(remainder));
    }
    size_t numbers = mode == COLUMN_CONSTANT && present > 0 ? 1 : present;
    for (size_t i = 0; i < numbers; i++) {
        add_varint(out, zigzag(column_number(scratch, i, mode)));
    }
}

static void add_ids(struct strbuf *out, const uint32_t *ids, size_t count) {
    int64_t last = 0;
    for (size_t i = 0; i < count;) {
        size_t length = 1;
        while (i + length < count && ids[i + length] == (uint64_t)ids[i] + length) {
            length++;
        }
        add_varint(out, zigzag((int64_t)ids[i] - (last + 1)));
        add_varint(out, length - 1);
        last = (int64_t)ids[i + length - 1];
        i += length;
    }
}

static int64_t floor_ms(int64_t ns) {
    int64_t ms = ns / NS_PER_MS;
    return ns % NS_PER_MS < 0 ? ms - 1 : ms;
}

/* What the column of a series is stored as a difference from. */
static int64_t coder_base(const struct chunk_coder *coder, uint32_t id) {
    return coder != NULL && coder->last != NULL && id < CHUNK_SERIES_MAX ? coder->last[id] : 0;
}

/* What the next chunk may go on from. */
static void coder_keep(struct chunk_coder *coder, const struct chunk *chunk) {
    size_t ticks = chunk->tick_count;
    if (coder->last == NULL) {
        coder->last = mem_alloc(CHUNK_SERIES_MAX * sizeof *coder->last);
    }
    for (size_t s = 0; s < chunk->series_count; s++) {
        size_t i = ticks;
        while (i > 0 && chunk->value[s * ticks + i - 1] == CHUNK_ABSENT) {
            i--;
        }
        if (i > 0 && chunk->series[s] < CHUNK_SERIES_MAX) {
            coder->last[chunk->series[s]] = chunk->value[s * ticks + i - 1];
        }
    }
    coder->last_ms = ticks > 0 ? floor_ms(chunk->time_ns[ticks - 1]) : coder->last_ms;
    coder->index++;
}

void chunk_encode_next(struct chunk_coder *coder, const struct chunk *chunk, struct strbuf *out) {
    size_t ticks = chunk->tick_count;
    assert(chunk->series_count <= CHUNK_SERIES_MAX && ticks <= CHUNK_TICKS_MAX);
    assert(chunk->series_count * ticks <= CHUNK_VALUES_MAX);
    AUTO_FREE int64_t *scratch = mem_alloc((2 * ticks + 1) * sizeof *scratch);
    int64_t *milliseconds = scratch + ticks;
    bool is_next = coder != NULL && coder->index > 0;
    add_varint(out, is_next ? LAYOUT_NEXT : LAYOUT_ALONE);
    if (is_next) {
        add_varint(out, coder->index);
    }
    add_varint(out, chunk->series_count);
    add_varint(out, ticks);
    add_ids(out, chunk->series, chunk->series_count);
    for (size_t i = 0; i < ticks; i++) {
        milliseconds[i] = floor_ms(chunk->time_ns[i]);
    }
    add_column(out, milliseconds, ticks, coder != NULL ? coder->last_ms : 0, scratch);
    for (size_t s = 0; s < chunk->series_count; s++) {
        add_column(out, chunk->value + s * ticks, ticks, coder_base(coder, chunk->series[s]),
                   scratch);
    }
    if (coder != NULL) {
        coder_keep(coder, chunk);
    }
}

void chunk_encode(const struct chunk *chunk, struct strbuf *out) {
    chunk_encode_next(NULL, chunk, out);
}

/* ---- decoding ---- */

struct input {
    const uint8_t *at, *end;
};

static bool get_byte(struct input *in, uint8_t *ret) {
    if (in->at == in->end) {
        return false;
    }
    *ret = *in->at++;
    return true;
}

static bool get_varint(struct input *in, uint64_t *ret) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte;
        if (!get_byte(in, &byte) || (shift == 63 && byte > 1) || (shift > 0 && byte == 0)) {
            return false; /* cut off, beyond 64 bits, or longer than it need be */
        }
        value |= (uint64_t)(byte & 0x7fu) << shift;
        if (!(byte & 0x80)) {
            *ret = value;
            return true;
        }
    }
    return false;
}

static bool get_signed(struct input *in, int64_t *ret) {
    uint64_t value;
    if (!get_varint(in, &value)) {
        return false;
    }
    *ret = unzigzag(value);
    return true;
}

static bool get_ids(struct input *in, uint32_t *ids, size_t count) {
    int64_t last = 0;
    for (size_t i = 0; i < count;) {
        int64_t gap, first;
        uint64_t more;
        if (!get_signed(in, &gap) || !get_varint(in, &more) || more >= count - i ||
            __builtin_add_overflow(last + 1, gap, &first) || first < 0 ||
            first > (int64_t)UINT32_MAX - (int64_t)more) {
            return false;
        }
        for (uint64_t k = 0; k <= more; k++) {
            ids[i++] = (uint32_t)(first + (int64_t)k);
        }
        last = first + (int64_t)more;
    }
    return true;
}

/* Sets values to CHUNK_ABSENT or 0 (present) and counts the present ones. */
static bool get_presence(struct input *in, int64_t *values, size_t count, size_t *ret_present) {
    size_t present = 0;
    for (size_t i = 0; i < count; i += 8) {
        uint8_t bits;
        if (!get_byte(in, &bits) || (count - i < 8 && bits >> (count - i) != 0)) {
            return false;
        }
        for (size_t bit = 0; bit < 8 && i + bit < count; bit++) {
            bool is_present = bits >> bit & 1;
            values[i + bit] = is_present ? 0 : CHUNK_ABSENT;
            present += is_present;
        }
    }
    if (present == count) {
        return false; /* the flag says that something is absent */
    }
    *ret_present = present;
    return true;
}

struct column_state {
    enum column_mode mode;
    size_t done;
    int64_t last, step;
};

static bool next_scaled(struct input *in, struct column_state *state, int64_t *ret) {
    int64_t number = 0;
    if ((state->mode != COLUMN_CONSTANT || state->done == 0) && !get_signed(in, &number)) {
        return false;
    }
    switch (state->mode) {
    case COLUMN_CONSTANT:
        state->last = state->done == 0 ? number : state->last;
        break;
    case COLUMN_PLAIN:
        state->last = number;
        break;
    case COLUMN_DIFFERENCE:
        state->last = wrap_add(state->last, number); /* last starts at 0 */
        break;
    case COLUMN_SECOND_DIFFERENCE:
        if (state->done == 0) {
            state->last = number;
            break;
        }
        state->step = wrap_add(state->step, number); /* step starts at 0 */
        state->last = wrap_add(state->last, state->step);
        break;
    }
    state->done++;
    *ret = state->last;
    return true;
}

static bool get_column(struct input *in, int64_t *values, size_t count, int64_t base) {
    uint8_t tag;
    if (!get_byte(in, &tag)) {
        return false;
    }
    size_t present = count;
    memset(values, 0, count * sizeof *values);
    if ((tag & TAG_ABSENT) && !get_presence(in, values, count, &present)) {
        return false;
    }
    int64_t divisor = divisors[tag >> TAG_DIVISOR];
    int64_t remainder = 0;
    if ((tag & TAG_REMAINDER) && (!get_signed(in, &remainder) || remainder == 0)) {
        return false;
    }
    struct column_state state = {.mode = (enum column_mode)(tag & TAG_MODE)};
    for (size_t i = 0; i < count; i++) {
        int64_t value;
        if (values[i] == CHUNK_ABSENT) {
            continue;
        }
        if (!next_scaled(in, &state, &value) || __builtin_mul_overflow(value, divisor, &value) ||
            __builtin_add_overflow(value, remainder, &value)) {
            return false;
        }
        values[i] = wrap_add(value, base);
        if (values[i] == CHUNK_ABSENT) {
            return false;
        }
    }
    return true;
}

static bool get_times(struct input *in, int64_t *times, size_t count, int64_t base_ms) {
    if (!get_column(in, times, count, base_ms)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (__builtin_mul_overflow(times[i], NS_PER_MS, &times[i])) {
            return false; /* CHUNK_ABSENT too: there is no tick without its time */
        }
    }
    return true;
}

/* The numbers in front; a chunk that stands alone empties the coder. */
static bool get_counts(struct input *in, struct chunk_coder *coder, uint64_t *ret_series,
                       uint64_t *ret_ticks) {
    uint64_t layout, index;
    if (!get_varint(in, &layout)) {
        return false;
    }
    if (layout == LAYOUT_ALONE) {
        chunk_coder_done(coder);
    } else if (layout != LAYOUT_NEXT || !get_varint(in, &index) || coder->index == 0 ||
               index != coder->index) {
        return false; /* a chunk between is missing, or all that this goes on from */
    }
    /* One byte a column at least: what the counts promise cannot be much larger than what is there.
     */
    return get_varint(in, ret_series) && get_varint(in, ret_ticks) &&
           *ret_series <= CHUNK_SERIES_MAX && *ret_ticks <= CHUNK_TICKS_MAX &&
           *ret_series * *ret_ticks <= CHUNK_VALUES_MAX &&
           (size_t)(in->end - in->at) >= *ret_series + 1;
}

static bool get_chunk(struct input *in, struct chunk_coder *coder, struct chunk *chunk) {
    uint64_t series, ticks;
    if (!get_counts(in, coder, &series, &ticks)) {
        return false;
    }
    chunk->series_count = (size_t)series;
    chunk->tick_count = (size_t)ticks;
    chunk->series = mem_alloc((series + 1) * sizeof *chunk->series);
    chunk->time_ns = mem_alloc((ticks + 1) * sizeof *chunk->time_ns);
    chunk->value = mem_alloc((series * ticks + 1) * sizeof *chunk->value);
    if (!get_ids(in, chunk->series, chunk->series_count) ||
        !get_times(in, chunk->time_ns, chunk->tick_count, coder->last_ms)) {
        return false;
    }
    for (size_t s = 0; s < chunk->series_count; s++) {
        if (!get_column(in, chunk->value + s * chunk->tick_count, chunk->tick_count,
                        coder_base(coder, chunk->series[s]))) {
            return false;
        }
    }
    return in->at == in->end;
}

int chunk_decode_next(struct chunk_coder *coder, const void *bytes, size_t length,
                      struct chunk *ret_chunk, struct err *err) {
    struct input in = {.at = bytes, .end = (const uint8_t *)bytes + length};
    struct chunk chunk = {0};
    if (!get_chunk(&in, coder, &chunk)) {
        chunk_done(&chunk);
        chunk_coder_done(coder);
        return err_set(err, -EBADMSG, "journal-chunk", "the samples are not readable near byte %zu",
                       (size_t)(in.at - (const uint8_t *)bytes));
    }
    coder_keep(coder, &chunk);
    *ret_chunk = chunk;
    return 0;
}

int chunk_decode(const void *bytes, size_t length, struct chunk *ret_chunk, struct err *err) {
    struct chunk_coder coder = {0};
    int rc = chunk_decode_next(&coder, bytes, length, ret_chunk, err);
    chunk_coder_done(&coder);
    return rc;
}

void chunk_coder_done(struct chunk_coder *coder) {
    mem_free_ptr(&coder->last);
    *coder = (struct chunk_coder){0};
}

void chunk_done(struct chunk *chunk) {
    mem_free_ptr(&chunk->series);
    mem_free_ptr(&chunk->time_ns);
    mem_free_ptr(&chunk->value);
    *chunk = (struct chunk){0};
}
