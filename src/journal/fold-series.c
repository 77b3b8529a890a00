/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CHUNKs → curves. Ticks that were not read stay holes (NaN). Bounded: a file of a few bytes must
 * not fill the memory. */
#include "journal/fold-parts.h"

#include "base/mem.h"
#include "base/msg.h"
#include "journal/chunk.h"

#include <math.h>
#include <string.h>

#define POINTS_MAX (UINT64_C(1) << 26) /* of all series: a month of 20 series at 1 Hz */

void fold_curves_done(struct fold_curves *curves) {
    for (size_t i = 0; i < curves->count; i++) {
        mem_free_ptr(&curves->items[i].time_s);
        mem_free_ptr(&curves->items[i].value);
    }
    mem_free_ptr(&curves->items);
}

static struct fold_curve *find_curve(const struct fold_curves *curves, uint32_t id) {
    for (size_t i = 0; i < curves->count; i++) {
        if (curves->items[i].id == id) {
            return &curves->items[i];
        }
    }
    return NULL;
}

static void define(struct fold_curves *curves, struct fold *fold, const json_t *series,
                   fold_wanted_fn wanted) {
    int64_t id, per_unit = 1, interval_ns = 0;
    const char *name = json_get_text(series, "name", NULL);
    if (name == NULL || (wanted != NULL && !wanted(name)) || !fold_get_i64(series, "id", &id) ||
        id > UINT32_MAX || curves->count == CHUNK_SERIES_MAX ||
        find_curve(curves, (uint32_t)id) != NULL) {
        return;
    }
    fold_get_i64(series, "per_unit", &per_unit);
    fold_get_i64(series, "interval_ns", &interval_ns);
    const char *unit = fold_text(fold, series, "unit");
    curves->items = mem_room(curves->items, curves->count, sizeof *curves->items);
    curves->items[curves->count++] = (struct fold_curve){
        .id = (uint32_t)id,
        .name = arena_strdup(fold->run->arena, name),
        .unit = unit != NULL ? unit : UNIT_RATIO,
        .device = fold_text(fold, series, "device"),
        .method = fold_text(fold, series, "method"),
        .interval_s = fold_seconds(interval_ns),
        .is_counter = strcmp(json_get_text(series, "kind", ""), "counter") == 0,
        .per_unit = per_unit > 0 ? (double)per_unit : 1,
    };
}

static void add_points(struct fold_curve *curve, const int64_t *time_ns, const int64_t *value,
                       size_t count) {
    if (curve->count + count > curve->capacity) {
        curve->capacity = 2 * curve->capacity + count;
        curve->time_s = mem_realloc(curve->time_s, curve->capacity, sizeof *curve->time_s);
        curve->value = mem_realloc(curve->value, curve->capacity, sizeof *curve->value);
    }
    for (size_t i = 0; i < count; i++) {
        curve->time_s[curve->count] = fold_seconds(time_ns[i]);
        curve->value[curve->count++] =
            value[i] == CHUNK_ABSENT ? (double)NAN : (double)value[i] / curve->per_unit;
    }
}

static void add_chunk(struct fold_curves *curves, const struct chunk *chunk) {
    for (size_t s = 0; s < chunk->series_count; s++) {
        struct fold_curve *curve = find_curve(curves, chunk->series[s]);
        if (curve == NULL) {
            continue; /* no SERIES record: a number without a name is no fact; or not wanted */
        }
        curves->points += chunk->tick_count;
        if (curves->points > POINTS_MAX) {
            curves->is_full = true;
            return;
        }
        add_points(curve, chunk->time_ns, chunk->value + s * chunk->tick_count, chunk->tick_count);
    }
}

/* Calls back if the record is a CHUNK that can be read. */
typedef void (*chunk_fn)(const struct chunk *chunk, void *context);

static void each_chunk(struct chunk_coder *coder, const struct journal_record *record,
                       chunk_fn each, void *context) {
    struct chunk chunk = {0};
    struct err err = ERR_INIT;
    if (record->kind != JOURNAL_CHUNK || record->version != JOURNAL_VERSION || record->flags != 0 ||
        chunk_decode_next(coder, record->payload, record->length, &chunk, &err) < 0) {
        return;
    }
    each(&chunk, context);
    chunk_done(&chunk);
}

static void chunk_to_curves(const struct chunk *chunk, void *context) {
    add_chunk(context, chunk);
}

static const double *moved(struct arena *arena, const double *values, size_t count) {
    double *copy = arena_alloc(arena, (count + 1) * sizeof *copy);
    if (count > 0) {
        memcpy(copy, values, count * sizeof *copy);
    }
    return copy;
}

void fold_curves_read(struct fold *fold, const void *bytes, size_t length, fold_wanted_fn wanted,
                      struct fold_curves *ret_curves) {
    struct chunk_coder coder = {0};
    struct journal_reader reader;
    struct journal_record record;
    struct err err = ERR_INIT;
    if (journal_reader_init(&reader, bytes, length, &err) < 0) {
        return;
    }
    while (!ret_curves->is_full && journal_reader_next(&reader, &record)) {
        if (record.kind == JOURNAL_SERIES) {
            AUTO_JSON json_t *json = journal_record_json(&record);
            define(ret_curves, fold, json, wanted);
        }
        each_chunk(&coder, &record, chunk_to_curves, ret_curves);
    }
    chunk_coder_done(&coder);
}

void fold_series(struct fold *fold, const void *bytes, size_t length) {
    AUTO_CURVES struct fold_curves curves = {0};
    fold_curves_read(fold, bytes, length, NULL, &curves);
    if (curves.is_full) {
        fold_add_gap(fold, "samples", _("there are more samples than this program reads"), 0,
                     fold->horizon_ns);
    }
    struct run *run = fold->run;
    run->series = arena_alloc(run->arena, (curves.count + 1) * sizeof *run->series);
    run->series_count = curves.count;
    for (size_t i = 0; i < curves.count; i++) {
        const struct fold_curve *curve = &curves.items[i];
        run->series[i] = (struct run_series){
            .name = curve->name,
            .unit = curve->unit,
            .device = curve->device,
            .is_counter = curve->is_counter,
            .time_s = moved(run->arena, curve->time_s, curve->count),
            .value = moved(run->arena, curve->value, curve->count),
            .count = curve->count,
        };
    }
}

static void chunk_to_last(const struct chunk *chunk, void *context) {
    int64_t *last_ns = context;
    for (size_t i = 0; i < chunk->tick_count; i++) {
        if (chunk->time_ns[i] > *last_ns && chunk->time_ns[i] <= FOLD_T_LIMIT_NS) {
            *last_ns = chunk->time_ns[i];
        }
    }
}

int64_t fold_last_tick(const void *bytes, size_t length) {
    int64_t last_ns = -1;
    struct chunk_coder coder = {0};
    struct journal_reader reader;
    struct journal_record record;
    struct err err = ERR_INIT;
    if (journal_reader_init(&reader, bytes, length, &err) < 0) {
        return -1;
    }
    while (journal_reader_next(&reader, &record)) {
        each_chunk(&coder, &record, chunk_to_last, &last_ns);
    }
    chunk_coder_done(&coder);
    return last_ns;
}
