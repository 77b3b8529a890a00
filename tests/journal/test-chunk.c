/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CHUNK codec: lossless for everything, refuses everything else, small enough. */
#include "support.h"

#include "journal/chunk.h"

#include <zstd.h>

/* ---- making and comparing chunks ---- */

static struct chunk new_chunk(size_t series, size_t ticks) {
    struct chunk chunk = {
        .series = mem_alloc((series + 1) * sizeof *chunk.series),
        .series_count = series,
        .time_ns = mem_alloc((ticks + 1) * sizeof *chunk.time_ns),
        .tick_count = ticks,
        .value = mem_alloc((series * ticks + 1) * sizeof *chunk.value),
    };
    for (size_t i = 0; i < series; i++) {
        chunk.series[i] = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < ticks; i++) {
        chunk.time_ns[i] = (int64_t)i * NS_PER_S;
    }
    return chunk;
}

static void assert_same(const struct chunk *a, const struct chunk *b) {
    assert_int_equal(a->series_count, b->series_count);
    assert_int_equal(a->tick_count, b->tick_count);
    for (size_t i = 0; i < a->series_count; i++) {
        assert_int_equal(a->series[i], b->series[i]);
    }
    for (size_t i = 0; i < a->tick_count; i++) {
        int64_t floored = a->time_ns[i] - ((a->time_ns[i] % NS_PER_MS) + NS_PER_MS) % NS_PER_MS;
        assert_int_equal(floored, b->time_ns[i]);
    }
    for (size_t i = 0; i < a->series_count * a->tick_count; i++) {
        assert_int_equal(a->value[i], b->value[i]);
    }
}

static void assert_round_trip(const struct chunk *chunk) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    struct chunk back;
    struct err err = ERR_INIT;
    chunk_encode(chunk, &bytes);
    must(chunk_decode(bytes.data, bytes.length, &back, &err), &err);
    assert_same(chunk, &back);
    chunk_done(&back);
}

/* One number of a kind that finds the corners: small, page-sized, huge, extreme. */
static int64_t random_number(uint64_t *state) {
    static const int64_t steps[] = {1, 7, 10, 4096, 10000000, 1000000000, 2097152};
    uint64_t r = next_random(state);
    int64_t step = steps[r % ARRAY_LENGTH(steps)];
    switch (r >> 8 & 7) {
    case 0:
        return INT64_MAX - (int64_t)(r >> 60);
    case 1:
        return INT64_MIN + 1 + (int64_t)(r >> 60);
    case 2:
        return (int64_t)(r >> 1) == CHUNK_ABSENT ? 0 : (int64_t)(r >> 1);
    case 3:
        return -(int64_t)(r >> 40) * step;
    default:
        return (int64_t)(r >> 40) * step;
    }
}

static void fill_column(uint64_t *state, int64_t *column, size_t ticks) {
    uint64_t r = next_random(state);
    int64_t value = random_number(state), step = random_number(state);
    for (size_t i = 0; i < ticks; i++) {
        switch (r & 7) {
        case 0: /* constant */
            break;
        case 1: /* a counter at a constant rate; wraps */
        case 2: /* with pauses */
            value = (r & 7) == 2 && next_random(state) % 3 == 0
                        ? value
                        : (int64_t)((uint64_t)value + (uint64_t)step);
            break;
        default:
            value = random_number(state);
        }
        bool absent = r >> 8 & 1 && next_random(state) % 4 == 0;
        bool never = (r >> 9 & 7) == 0;
        column[i] = absent || never ? CHUNK_ABSENT : value;
    }
}

static struct chunk random_chunk(uint64_t *state, size_t series) {
    struct chunk chunk = new_chunk(series, next_random(state) % 40);
    uint32_t id = (uint32_t)(next_random(state) % 5);
    int64_t time_ns = (int64_t)(next_random(state) >> 20);
    for (size_t s = 0; s < series; s++) {
        chunk.series[s] = id;
        id += next_random(state) % 3 != 0 ? 1 : (uint32_t)(next_random(state) >> 40);
        fill_column(state, chunk.value + s * chunk.tick_count, chunk.tick_count);
    }
    for (size_t i = 0; i < chunk.tick_count; i++) {
        time_ns += (int64_t)(next_random(state) % (2 * NS_PER_S)) - NS_PER_MS;
        chunk.time_ns[i] = time_ns;
    }
    return chunk;
}

/* ---- lossless ---- */

static void keeps_everything(void **unused) {
    (void)unused;
    uint64_t state = 1;
    for (int i = 0; i < 20000; i++) {
        struct chunk chunk = random_chunk(&state, next_random(&state) % 12);
        assert_round_trip(&chunk);
        chunk_done(&chunk);
    }
}

static void keeps_corners(void **unused) {
    (void)unused;
    struct chunk chunk = new_chunk(3, 4);
    const int64_t values[12] = {
        INT64_MAX,
        INT64_MIN + 1,
        INT64_MAX,
        INT64_MIN + 1, /* differences wrap */
        CHUNK_ABSENT,
        CHUNK_ABSENT,
        CHUNK_ABSENT,
        CHUNK_ABSENT,
        INT64_MIN + 1,
        INT64_MIN + 1 + 4096,
        -1,
        0, /* remainders that cannot be subtracted */
    };
    memcpy(chunk.value, values, sizeof values);
    chunk.time_ns[0] = -1; /* before the start: floor is -1 ms */
    chunk.series[2] = UINT32_MAX;
    assert_round_trip(&chunk);
    chunk_done(&chunk);
    chunk = new_chunk(0, 0);
    assert_round_trip(&chunk);
    chunk_done(&chunk);
    chunk = new_chunk(1, CHUNK_TICKS_MAX);
    assert_round_trip(&chunk);
    chunk_done(&chunk);
    chunk = new_chunk(CHUNK_SERIES_MAX, 16);
    assert_round_trip(&chunk);
    chunk_done(&chunk);
}

static void keeps_chains(void **unused) {
    (void)unused;
    uint64_t state = 5;
    struct chunk_coder writer = {0}, reader = {0};
    for (int i = 0; i < 3000; i++) {
        struct chunk chunk = random_chunk(&state, next_random(&state) % 8);
        AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
        struct chunk back;
        struct err err = ERR_INIT;
        chunk_encode_next(&writer, &chunk, &bytes);
        must(chunk_decode_next(&reader, bytes.data, bytes.length, &back, &err), &err);
        assert_same(&chunk, &back);
        chunk_done(&back);
        chunk_done(&chunk);
    }
    chunk_coder_done(&writer);
    chunk_coder_done(&reader);
}

/* A chunk that was lost must not shift what follows. */
static void notices_a_missing_chunk(void **unused) {
    (void)unused;
    struct chunk_coder writer = {0}, reader = {0};
    struct strbuf bytes[4] = {STRBUF_INIT, STRBUF_INIT, STRBUF_INIT, STRBUF_INIT};
    struct chunk chunk = new_chunk(2, 3);
    struct chunk back;
    struct err err = ERR_INIT;
    for (int i = 0; i < 3; i++) {
        chunk.value[0] = i * 1000;
        chunk_encode_next(&writer, &chunk, &bytes[i]);
    }
    chunk_coder_done(&writer); /* could not be written */
    chunk_encode_next(&writer, &chunk, &bytes[3]);

    must(chunk_decode_next(&reader, bytes[0].data, bytes[0].length, &back, &err), &err);
    chunk_done(&back);
    assert_int_equal(chunk_decode_next(&reader, bytes[2].data, bytes[2].length, &back, &err),
                     -EBADMSG);
    assert_int_equal(chunk_decode_next(&reader, bytes[1].data, bytes[1].length, &back, &err),
                     -EBADMSG);
    must(chunk_decode_next(&reader, bytes[3].data, bytes[3].length, &back, &err), &err);
    assert_same(&chunk, &back);
    chunk_done(&back);
    assert_int_equal(chunk_decode(bytes[1].data, bytes[1].length, &back, &err), -EBADMSG);
    for (int i = 0; i < 4; i++) {
        strbuf_done(&bytes[i]);
    }
    chunk_done(&chunk);
    chunk_coder_done(&writer);
    chunk_coder_done(&reader);
}

/* ---- the frozen layout ---- */

static void assert_bytes(struct chunk_coder *coder, const struct chunk *chunk,
                         const uint8_t *expected, size_t length) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    chunk_encode_next(coder, chunk, &bytes);
    assert_int_equal(bytes.length, length);
    assert_memory_equal(bytes.data, expected, length);
}

static void has_the_documented_bytes(void **unused) {
    (void)unused;
    uint32_t ids[6] = {1, 2, 9, 10, 11, 12};
    int64_t times[3] = {0, NS_PER_S, 2 * NS_PER_S};
    int64_t values[18] = {
        4096 * 3,
        4096 * 5,
        4096 * 4, /* pages */
        CHUNK_ABSENT,
        -1,
        CHUNK_ABSENT,
        7,
        7,
        7,
        0,
        0,
        0,
        1000,
        2001,
        3002, /* a constant rate */
        1,
        -64,
        63, /* noise around 0 */
    };
    const struct chunk chunk = {ids, 6, times, 3, values};
    static const uint8_t expected[] = {
        1,    6,    3,                   /* alone, series, ticks */
        0,    1,    12,   3,             /* ids 1-2; 9 = 2 + 1 + 6, to 12 */
        0x31, 0,    2,    2,             /* times: 0, +1000 ms, +1000: differences of 10^3 */
        0xB1, 6,    4,    1,             /* 3, +2, -1 pages of 4096 */
        0x04, 2,    1,                   /* constant, the second is present, -1 */
        0x00, 14,                        /* constant 7 */
        0x00, 0,                         /* constant 0: no divisor */
        0x02, 0xd0, 0x0f, 0xd2, 0x0f, 0, /* 1000, +1001, same again */
        0x03, 2,    127,  126,           /* plain 1, -64, 63 */
    };
    assert_bytes(NULL, &chunk, expected, sizeof expected);
}

static void chains_as_documented(void **unused) {
    (void)unused;
    struct chunk_coder coder = {0};
    uint32_t ids[2] = {4095, 4096};
    int64_t times[2] = {5 * NS_PER_MS, 8 * NS_PER_MS};
    int64_t values[4] = {100, CHUNK_ABSENT, 100, 100};
    struct chunk chunk = {ids, 2, times, 2, values};
    static const uint8_t alone[] = {1, 2, 2, 0xfc, 0x3f, 1, 0x01, 10, 6, 0x24, 1, 2, 0x20, 2};
    assert_bytes(&coder, &chunk, alone, sizeof alone);
    values[0] = CHUNK_ABSENT;
    values[1] = 103; /* 3 more than the last value that was there */
    times[0] += 10 * NS_PER_MS;
    times[1] += 10 * NS_PER_MS;
    static const uint8_t next[] = {2, 1, 2, 2, 0xfc, 0x3f, 1, 0x01, 14, 6, 0x04, 2, 6, 0x20, 2};
    assert_bytes(&coder, &chunk, next, sizeof next);
    chunk_coder_done(&coder);
}

/* ---- hostile input ---- */

static int try_decode(const void *bytes, size_t length) {
    struct chunk chunk = {0};
    struct err err = ERR_INIT;
    /* a copy of the exact size: reading beyond it is seen by the sanitizer */
    AUTO_FREE void *copy = mem_alloc(length + 1);
    copy = mem_realloc(copy, length > 0 ? length : 1, 1);
    if (length > 0) {
        memcpy(copy, bytes, length);
    }
    int rc = chunk_decode(copy, length, &chunk, &err);
    if (rc < 0) {
        assert_int_equal(rc, -EBADMSG);
        assert_null(chunk.value);
    }
    chunk_done(&chunk);
    return rc;
}

static void refuses_prefixes_and_tails(void **unused) {
    (void)unused;
    uint64_t state = 9;
    for (int i = 0; i < 200; i++) {
        struct chunk chunk = random_chunk(&state, 1 + next_random(&state) % 6);
        AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
        chunk_encode(&chunk, &bytes);
        for (size_t cut = 0; cut < bytes.length; cut++) {
            assert_int_equal(try_decode(bytes.data, cut), -EBADMSG);
        }
        strbuf_add_char(&bytes, '\0');
        assert_int_equal(try_decode(bytes.data, bytes.length), -EBADMSG);
        chunk_done(&chunk);
    }
}

static void survives_noise(void **unused) {
    (void)unused;
    uint64_t state = 11;
    for (int i = 0; i < 3000; i++) {
        struct chunk chunk = random_chunk(&state, next_random(&state) % 6);
        AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
        chunk_encode(&chunk, &bytes);
        for (int flips = 0; flips < 20; flips++) {
            bytes.data[next_random(&state) % bytes.length] ^= (char)(1 << next_random(&state) % 8);
            try_decode(bytes.data, bytes.length);
        }
        chunk_done(&chunk);
    }
    for (int i = 0; i < 200000; i++) {
        uint8_t bytes[24];
        for (size_t k = 0; k < sizeof bytes; k++) {
            bytes[k] = (uint8_t)(next_random(&state) >> 40);
        }
        bytes[0] = 1 + (i & 1);
        try_decode(bytes, next_random(&state) % sizeof bytes);
    }
}

static void refuses_what_was_never_written(void **unused) {
    (void)unused;
    static const struct {
        const char *what;
        uint8_t bytes[24];
        size_t length;
    } cases[] = {
        {"nothing", {0}, 0},
        {"an unknown layout", {3, 0, 0, 0}, 4},
        {"more series than there are bytes", {1, 0x80, 0x20, 1, 0, 0x80, 0x1f, 0, 0}, 9},
        {"too many series", {1, 0x81, 0x20, 0, 0, 0x80, 0x20, 0}, 8},
        {"too many ticks", {1, 0, 0x81, 0x80, 4, 0, 0}, 7},
        {"too many values", {1, 2, 0x81, 0x80, 2, 0, 1, 0, 0, 0, 0, 0, 0}, 13},
        {"a number longer than it need be", {1, 0, 0x81, 0x00, 0, 0}, 6},
        {"a number beyond 64 bits",
         {1, 0, 1, 3, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2},
         14},
        {"an id below 0", {1, 1, 1, 3, 0, 0, 0, 0, 0}, 9},
        {"an absent time", {1, 0, 1, 4, 0}, 5},
        {"a flag of absence where all is there", {1, 1, 1, 0, 0, 0, 0, 4, 1, 0}, 10},
        {"padding bits", {1, 1, 1, 0, 0, 0, 0, 4, 2}, 9},
        {"a value that means absent",
         {1, 1, 1, 0, 0, 0, 0, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
         18},
        {"a chunk that goes on from nothing", {2, 0, 0, 0, 0}, 5},
        {"a remainder of 0", {1, 1, 1, 0, 0, 0, 0, 8, 0, 0}, 10},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        if (try_decode(cases[i].bytes, cases[i].length) != -EBADMSG) {
            fail_msg("%s was read", cases[i].what);
        }
    }
    /* neighbours that are right */
    assert_int_equal(try_decode((const uint8_t[]){1, 1, 1, 0, 0, 0, 0, 4, 0}, 9), 0);
    assert_int_equal(try_decode((const uint8_t[]){1, 2, 0x80, 0x80, 2, 0, 1, 0, 0, 0, 0, 0, 0}, 13),
                     0);
    for (uint32_t count = CHUNK_SERIES_MAX; count <= CHUNK_SERIES_MAX + 1; count++) {
        AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
        const char head[] = {1, (char)(count % 128 | 128), (char)(count / 128), 0, 0};
        strbuf_add(&bytes, head, sizeof head);
        strbuf_add_char(&bytes, (char)((count - 1) % 128 | 128));
        strbuf_add_char(&bytes, (char)((count - 1) / 128));
        for (uint32_t i = 0; i < count + 1; i++) {
            strbuf_add_char(&bytes, 0); /* columns of no ticks */
        }
        assert_int_equal(try_decode(bytes.data, bytes.length),
                         count <= CHUNK_SERIES_MAX ? 0 : -EBADMSG);
    }
}

/* ---- size ---- */

#define HOUR   3600
#define SERIES 10
#define TICKS  10

/* What a one-hour PyTorch run looks like at 1 Hz: loading for a minute, then computing; gauges that
 * are noisy in pages, counters in clock ticks, sectors and bytes, memory of the tree every fifth
 * second. */
struct machine {
    uint64_t state;
    int64_t cpu, pss, read, written, read_chars, written_chars, charged, available, busy;
};

static int64_t between(struct machine *m, int64_t low, int64_t high) {
    return low + (int64_t)(next_random(&m->state) % (uint64_t)(high - low + 1));
}

static void tick(struct machine *m, int64_t second, int64_t values[SERIES]) {
    if (second < 60) {
        m->cpu += between(m, 30, 70);
        m->pss += between(m, 1000, 60000) * 1024;
        m->read += between(m, 100, 12000) * 4096;
        m->read_chars += between(m, 100, 12000) * 4096;
    } else {
        m->cpu += between(m, 99, 101);
        m->pss += between(m, 0, 1) * between(m, -300, 320) * 1024;
        m->read += second % 30 == 0 ? between(m, 0, 200) * 4096 : 0;
        m->read_chars += between(m, 0, 2) == 0 ? 8192 : 0;
        m->written += second % 10 == 0 ? between(m, 1, 20) * 4096 : 0;
        m->written_chars += between(m, 0, 2) * 61;
    }
    m->charged = m->pss + between(m, -40, 40) * 4096;
    m->available += between(m, -60, 60) * 4096;
    m->busy += between(m, 99, 125);
    const int64_t now[SERIES] = {
        m->cpu * 10000000,
        second % 5 == 0 ? m->pss : CHUNK_ABSENT,
        2,
        m->read,
        m->written,
        m->read_chars,
        m->written_chars,
        m->charged,
        m->available,
        m->busy * 10000000,
    };
    memcpy(values, now, sizeof now);
}

static double bytes_per_value(bool chained) {
    struct machine machine = {.state = 3, .pss = 40 << 20, .available = INT64_C(12) << 30};
    struct chunk_coder coder = {0};
    AUTO_STRBUF struct strbuf journal = STRBUF_INIT;
    struct chunk chunk = new_chunk(SERIES, TICKS);
    for (int64_t second = 0; second < HOUR; second++) {
        size_t i = (size_t)second % TICKS;
        int64_t values[SERIES];
        tick(&machine, second, values);
        chunk.time_ns[i] = second * NS_PER_S + between(&machine, 0, 1100000);
        for (size_t s = 0; s < SERIES; s++) {
            chunk.value[s * TICKS + i] = values[s];
        }
        if (i == TICKS - 1) {
            AUTO_STRBUF struct strbuf payload = STRBUF_INIT;
            chunk_encode_next(chained ? &coder : NULL, &chunk, &payload);
            add_bytes(&journal, JOURNAL_CHUNK, payload.data, payload.length);
        }
    }
    chunk_done(&chunk);
    chunk_coder_done(&coder);
    size_t capacity = ZSTD_compressBound(journal.length);
    AUTO_FREE void *packed = mem_alloc(capacity);
    size_t size = ZSTD_compress(packed, capacity, journal.data, journal.length, 3);
    assert_false(ZSTD_isError(size));
    return (double)size / (HOUR * SERIES);
}

static void is_small_after_intake(void **unused) {
    (void)unused;
    double chained = bytes_per_value(true), alone = bytes_per_value(false);
    print_message("bytes per (time, value) with record heads, zstd 3: %.3f chained, %.3f alone\n",
                  chained, alone);
    assert_true(chained <= 1.1);
    assert_true(alone <= 1.4);
}

/* Nothing changed: counts, ids, times and two bytes a series. */
static void costs_little_when_nothing_changes(void **unused) {
    (void)unused;
    struct chunk chunk = new_chunk(10, 10);
    for (size_t i = 0; i < 100; i++) {
        chunk.value[i] = INT64_C(123456789012345) + (int64_t)(i / 10);
    }
    struct chunk_coder coder = {0};
    AUTO_STRBUF struct strbuf first = STRBUF_INIT;
    AUTO_STRBUF struct strbuf second = STRBUF_INIT;
    chunk_encode_next(&coder, &chunk, &first);
    for (size_t i = 0; i < 10; i++) {
        chunk.time_ns[i] += 10 * NS_PER_S;
    }
    chunk_encode_next(&coder, &chunk, &second);
    assert_int_equal(second.length, 4 + 2 + (1 + 10) + 2 * 10);
    chunk_coder_done(&coder);
    chunk_done(&chunk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_everything),
        cmocka_unit_test(keeps_corners),
        cmocka_unit_test(keeps_chains),
        cmocka_unit_test(notices_a_missing_chunk),
        cmocka_unit_test(has_the_documented_bytes),
        cmocka_unit_test(chains_as_documented),
        cmocka_unit_test(refuses_prefixes_and_tails),
        cmocka_unit_test(survives_noise),
        cmocka_unit_test(refuses_what_was_never_written),
        cmocka_unit_test(is_small_after_intake),
        cmocka_unit_test(costs_little_when_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
