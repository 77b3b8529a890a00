/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Journals with GPUs made in memory: devices and curves. */
#pragma once

#include "fold-support.h"

#include "journal/chunk.h"
#include "model/gpu-series.h"

#define U0     "GPU-00000000-0000-0000-0000-00000000000a"
#define U1     "GPU-00000000-0000-0000-0000-00000000000b"
#define GIB(n) ((int64_t)(n) * (INT64_C(1) << 30))
#define ABSENT CHUNK_ABSENT

/* One device that is the run's; more: further keys with a leading comma, which may hold `mine`. */
static inline void add_device(struct strbuf *bytes, int number, const char *uuid,
                              const char *more) {
    AUTO_FREE char *json = mem_printf(
        "{'device':%d,'t_ns':1,'kind':'gpu','uuid':'%s','index':%d,'bus_id':'00000000:0%d:00.0',"
        "'name':'Test H200','total_bytes':107374182400,'baseline_bytes':1073741824,"
        "'memory_method':'v2'%s}",
        number, uuid, number, number + 1, more);
    add(bytes, JOURNAL_DEVICE, json);
}

#define MINE ",'mine':'yes','mine_by':'only one'"

/* A series and its only chunk: values at from_ms, from_ms + step_ms, … */
static inline void add_curve(struct strbuf *bytes, uint32_t id, const char *name,
                             const char *device, const char *kind, int64_t per_unit,
                             int64_t from_ms, int64_t step_ms, const int64_t *values,
                             size_t count) {
    AUTO_FREE char *of = device == NULL ? mem_strdup("") : mem_printf(",'device':'%s'", device);
    AUTO_FREE char *json =
        mem_printf("{'id':%u,'name':'%s','unit':'x','kind':'%s','interval_ns':%lld,'per_unit':%lld,"
                   "'method':'the %s curve'%s}",
                   id, name, kind, (long long)step_ms * 1000000, (long long)per_unit, name, of);
    add(bytes, JOURNAL_SERIES, json);
    AUTO_FREE int64_t *times = mem_alloc((count + 1) * sizeof *times);
    AUTO_FREE int64_t *copy = mem_alloc((count + 1) * sizeof *copy);
    for (size_t i = 0; i < count; i++) {
        times[i] = (from_ms + (int64_t)i * step_ms) * 1000000;
        copy[i] = values[i];
    }
    struct chunk chunk = {
        .series = &id, .series_count = 1, .time_ns = times, .tick_count = count, .value = copy};
    AUTO_STRBUF struct strbuf payload = STRBUF_INIT;
    chunk_encode(&chunk, &payload);
    add_bytes(bytes, JOURNAL_CHUNK, payload.data, payload.length);
}

#define CURVE(bytes, id, name, device, kind, per_unit, from_ms, step_ms, ...) \
    add_curve(bytes, id, name, device, kind, per_unit, from_ms, step_ms,      \
              (const int64_t[]){__VA_ARGS__},                                 \
              sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* load [0, 4), compute [4, 9), END at 10 s. */
static inline void add_phases_and_end(struct strbuf *bytes) {
    add(bytes, JOURNAL_MARK, "{'t_ns':0,'verb':'phase','name':'load','file_offset':1}");
    add(bytes, JOURNAL_MARK, "{'t_ns':4000000000,'verb':'phase','name':'compute','file_offset':2}");
    add(bytes, JOURNAL_MARK, "{'t_ns':9000000000,'verb':'end','file_offset':3}");
    add(bytes, JOURNAL_END, "{'t_ns':10000000000,'command_t_ns':10000000000,'exit_code':0}");
}
