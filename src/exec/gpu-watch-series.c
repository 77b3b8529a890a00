/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the helper tells becomes series: rounds over the devices are ticks of a table, tables become
 * CHUNKs. Memory at 10 Hz for ten minutes, then the least, mean and most of each second. Must not
 * fill a hole: a device without an answer in a round has no value there.
 */
#include "exec/gpu-watch-parts.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/msg.h"
#include "model/gpu-series.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FULL_NS (600 * NS_PER_S)

static_assert(GPU_ITEMS_ <= RECORDER_GPU_IDS, "ids of a device");
static_assert(RECORDER_GPU_ID + RECORDER_GPU_IDS * GPU_DEVICES_MAX <= CHUNK_SERIES_MAX,
              "ids of all devices");

/* ---- what a series is ---- */

static const struct {
    const char *name, *unit, *kind, *method;
    int64_t interval_ns, per_unit;
} items[GPU_ITEMS_] = {
    [GPU_USED] = {GPU_SERIES_USED, "byte", "gauge", NULL, NS_PER_S / 10, 1},
    [GPU_USED_MIN] = {GPU_SERIES_USED_MIN, "byte", "gauge", NULL, NS_PER_S, 1},
    [GPU_USED_MEAN] = {GPU_SERIES_USED_MEAN, "byte", "gauge", NULL, NS_PER_S, 1},
    [GPU_USED_MAX] = {GPU_SERIES_USED_MAX, "byte", "gauge", NULL, NS_PER_S, 1},
    [GPU_POWER] = {GPU_SERIES_POWER, "W", "gauge", "nvmlDeviceGetPowerUsage", NS_PER_S, 1000},
    [GPU_ENERGY] = {GPU_SERIES_ENERGY, "J", "counter", "nvmlDeviceGetTotalEnergyConsumption",
                    NS_PER_S, 1000},
    [GPU_CLOCK_SM] = {GPU_SERIES_CLOCK_SM, "MHz", "gauge", "nvmlDeviceGetClockInfo", NS_PER_S, 1},
    [GPU_CLOCK_MEMORY] = {GPU_SERIES_CLOCK_MEMORY, "MHz", "gauge", "nvmlDeviceGetClockInfo",
                          NS_PER_S, 1},
    [GPU_EVENTS] = {GPU_SERIES_EVENTS, "1", "gauge", "nvmlDeviceGetCurrentClocksEventReasons",
                    NS_PER_S, 1},
    [GPU_ECC] = {GPU_SERIES_ECC, "count", "counter", "nvmlDeviceGetTotalEccErrors", NS_PER_S, 1},
    [GPU_PROCESS_USED] = {GPU_SERIES_PROCESS_USED, "byte", "gauge", NULL, NS_PER_S, 1},
    [GPU_OTHERS_USED] = {GPU_SERIES_OTHERS_USED, "byte", "gauge", NULL, NS_PER_S, 1},
    [GPU_BUSY] = {GPU_SERIES_BUSY, "1", "gauge", NULL, NS_PER_S, 100},
};

static const struct {
    enum gpu_item first;
    size_t columns;
    int64_t round_ns; /* answers so near to one another are one tick */
} tables[GPU_TABLES_] = {
    [GPU_TABLE_USED] = {GPU_USED, 1, 50 * NS_PER_MS},
    [GPU_TABLE_REDUCED] = {GPU_USED_MIN, 3, 500 * NS_PER_MS},
};

static const struct {
    enum gpu_item first;
    size_t columns;
} rows_of[GPU_ROWS_] = {
    [GPU_ROWS_SECOND] = {GPU_POWER, 6},
    [GPU_ROWS_PROCESSES] = {GPU_PROCESS_USED, 2},
};

static uint32_t id_of(size_t slot, enum gpu_item item) {
    return RECORDER_GPU_ID + (uint32_t)slot * RECORDER_GPU_IDS + (uint32_t)item;
}

static const char *method_of(const struct gpu_device *device, enum gpu_item item, char text[64]) {
    if (items[item].method != NULL)
        return items[item].method;
    /* A buffer can run dry later, or fill: the name is given once and says both. */
    if (item == GPU_BUSY)
        return device->from_rates
                   ? "nvmlDeviceGetUtilizationRates where nvmlDeviceGetSamples has nothing"
                   : "nvmlDeviceGetSamples, nvmlDeviceGetUtilizationRates while it has nothing";
    if (item == GPU_PROCESS_USED || item == GPU_OTHERS_USED)
        snprintf(text, 64, "nvmlDeviceGetComputeRunningProcesses%s",
                 device->api >= 3   ? "_v3"
                 : device->api == 2 ? "_v2"
                                    : "");
    else
        snprintf(text, 64, "nvmlDeviceGetMemoryInfo%s",
                 device->message.memory_api >= 2 ? "_v2" : "");
    return text;
}

/* A series is named when the first of its values is about to be written. */
static bool define(struct gpu_watch *watch, size_t slot, enum gpu_item item) {
    uint32_t *defined = &watch->recorder->past.gpu_series[slot];
    char device[24], method[64];
    if ((*defined & (1u << item)) != 0)
        return true;
    json_t *json = json_object();
    json_put_int(json, "id", id_of(slot, item));
    json_put_text(json, "name", items[item].name);
    json_put_text(json, "unit", items[item].unit);
    json_put_text(json, "device", gpu_device_name(watch, slot, device));
    json_put_text(json, "kind", items[item].kind);
    json_put_int(json, "interval_ns", items[item].interval_ns);
    json_put_text(json, "method", method_of(&watch->device[slot], item, method));
    if (items[item].per_unit != 1)
        json_put_int(json, "per_unit", items[item].per_unit);
    if (!recorder_write(watch->recorder, JOURNAL_SERIES, json, false))
        return false;
    *defined |= 1u << item;
    return true;
}

/* ---- tables ---- */

static int64_t *cell(struct gpu_table *table, size_t columns, size_t tick, size_t slot) {
    return &table->value[(tick * GPU_DEVICES_MAX + slot) * columns];
}

static void lost(struct gpu_watch *watch, int64_t from_t_ns, int64_t to_t_ns) {
    recorder_write_gap(watch->recorder, "gpu", from_t_ns, to_t_ns,
                       N_("the samples could not be written"), 0);
}

/* Columns without any value are left out. */
static bool add_column(struct gpu_watch *watch, struct chunk *chunk, size_t slot,
                       enum gpu_item item, const int64_t *first, size_t stride) {
    int64_t *values = &chunk->value[chunk->series_count * chunk->tick_count];
    bool any = false;
    for (size_t t = 0; t < chunk->tick_count; t++) {
        values[t] = first[t * stride];
        any = any || values[t] != CHUNK_ABSENT;
    }
    if (!any)
        return true;
    if (!define(watch, slot, item))
        return false;
    chunk->series[chunk->series_count++] = id_of(slot, item);
    return true;
}

static void write_table(struct gpu_watch *watch, enum gpu_table_name name) {
    struct gpu_table *table = &watch->table[name];
    size_t columns = tables[name].columns;
    size_t slots = atomic_load(&watch->shared->gpu_count);
    if (table->ticks == 0)
        return;
    struct chunk chunk = {.time_ns = table->time_ns, .tick_count = table->ticks};
    AUTO_FREE uint32_t *series = mem_alloc((slots * columns + 1) * sizeof *series);
    AUTO_FREE int64_t *values = mem_alloc((slots * columns + 1) * table->ticks * sizeof *values);
    chunk.series = series;
    chunk.value = values;
    bool written = true;
    for (size_t s = 0; s < slots; s++)
        for (size_t c = 0; c < columns; c++)
            written = add_column(watch, &chunk, s, (enum gpu_item)(tables[name].first + c),
                                 cell(table, columns, 0, s) + c, GPU_DEVICES_MAX * columns) &&
                      written;
    if (chunk.series_count > 0)
        written = recorder_write_chunk(watch->recorder, &chunk) && written;
    int64_t from_t_ns = table->time_ns[0], to_t_ns = table->time_ns[table->ticks - 1];
    table->ticks = 0;
    if (written && name == GPU_TABLE_USED)
        watch->shared->gpu_recorded_t_ns = to_t_ns;
    if (!written)
        lost(watch, from_t_ns, to_t_ns);
}

static void add_tick(struct gpu_watch *watch, enum gpu_table_name name, int64_t t_ns) {
    struct gpu_table *table = &watch->table[name];
    size_t columns = tables[name].columns;
    if (table->value == NULL)
        table->value = mem_alloc(GPU_TICKS_MAX * GPU_DEVICES_MAX * columns * sizeof(int64_t));
    if (table->ticks == GPU_TICKS_MAX)
        write_table(watch, name);
    int64_t *values = cell(table, columns, table->ticks, 0);
    for (size_t i = 0; i < GPU_DEVICES_MAX * columns; i++)
        values[i] = CHUNK_ABSENT;
    memset(table->told, 0, sizeof table->told);
    table->time_ns[table->ticks++] = t_ns;
}

static void add_to_table(struct gpu_watch *watch, enum gpu_table_name name, size_t slot,
                         int64_t t_ns, const int64_t *values) {
    struct gpu_table *table = &watch->table[name];
    size_t columns = tables[name].columns;
    int64_t last_ns = table->ticks > 0 ? table->time_ns[table->ticks - 1] : INT64_MIN;
    if (table->ticks == 0 || table->told[slot] || t_ns - last_ns > tables[name].round_ns)
        add_tick(watch, name, t_ns > last_ns ? t_ns : last_ns);
    memcpy(cell(table, columns, table->ticks - 1, slot), values, columns * sizeof *values);
    table->told[slot] = true;
}

/* ---- rows of one device ---- */

static void write_rows(struct gpu_watch *watch, enum gpu_rows_name name, size_t slot) {
    struct gpu_rows *rows = &watch->device[slot].rows[name];
    if (rows->ticks == 0)
        return;
    uint32_t series[GPU_ROW_COLUMNS];
    int64_t values[GPU_ROW_COLUMNS * GPU_ROWS_MAX];
    struct chunk chunk = {
        .series = series, .time_ns = rows->time_ns, .tick_count = rows->ticks, .value = values};
    bool written = true;
    for (size_t c = 0; c < rows_of[name].columns; c++)
        written = add_column(watch, &chunk, slot, (enum gpu_item)(rows_of[name].first + c),
                             rows->value[c], 1) &&
                  written;
    if (chunk.series_count > 0)
        written = recorder_write_chunk(watch->recorder, &chunk) && written;
    size_t last = rows->ticks - 1;
    rows->ticks = 0;
    if (!written)
        lost(watch, rows->time_ns[0], rows->time_ns[last]);
}

void gpu_rows_add(struct gpu_watch *watch, enum gpu_rows_name name, size_t slot, int64_t t_ns,
                  const int64_t *values) {
    struct gpu_rows *rows = &watch->device[slot].rows[name];
    bool any = false;
    for (size_t c = 0; c < rows_of[name].columns; c++)
        any = any || values[c] != CHUNK_ABSENT;
    if (!any || (rows->ticks > 0 && t_ns < rows->time_ns[rows->ticks - 1]))
        return;
    if (rows->ticks == GPU_ROWS_MAX)
        write_rows(watch, name, slot);
    rows->time_ns[rows->ticks] = t_ns;
    for (size_t c = 0; c < rows_of[name].columns; c++)
        rows->value[c][rows->ticks] = values[c];
    rows->ticks++;
}

/* ---- memory ---- */

static void end_second(struct gpu_watch *watch, size_t slot) {
    struct gpu_device *device = &watch->device[slot];
    if (device->count == 0)
        return;
    int64_t values[] = {device->min_bytes, device->sum_bytes / device->count, device->max_bytes};
    add_to_table(watch, GPU_TABLE_REDUCED, slot, device->second_time_ns, values);
    device->count = 0;
}

void gpu_series_used(struct gpu_watch *watch, size_t slot, int64_t t_ns, int64_t bytes) {
    struct gpu_device *device = &watch->device[slot];
    if (t_ns < FULL_NS) {
        add_to_table(watch, GPU_TABLE_USED, slot, t_ns, &bytes);
        return;
    }
    int64_t second = t_ns / NS_PER_S;
    if (second != device->second)
        end_second(watch, slot);
    if (device->count == 0) {
        device->second = second;
        device->min_bytes = device->max_bytes = bytes;
        device->sum_bytes = 0;
    }
    device->min_bytes = bytes < device->min_bytes ? bytes : device->min_bytes;
    device->max_bytes = bytes > device->max_bytes ? bytes : device->max_bytes;
    device->sum_bytes += bytes;
    device->second_time_ns = t_ns;
    device->count++;
}

/* ---- windows of use ---- */

static void write_windows(struct gpu_watch *watch, size_t slot) {
    struct gpu_device *device = &watch->device[slot];
    uint32_t id = id_of(slot, GPU_BUSY);
    if (device->windows == 0)
        return;
    struct chunk chunk = {.series = &id,
                          .series_count = 1,
                          .time_ns = device->window_t_ns,
                          .tick_count = device->windows,
                          .value = device->window_percent};
    int64_t from_t_ns = device->window_t_ns[0], to_t_ns = device->window_t_ns[device->windows - 1];
    if (!define(watch, slot, GPU_BUSY) || !recorder_write_chunk(watch->recorder, &chunk))
        lost(watch, from_t_ns, to_t_ns);
    device->windows = 0;
}

/* The driver's buffer is read with overlap: each window counts once. */
void gpu_series_windows(struct gpu_watch *watch, size_t slot,
                        const struct gpu_windows_message *message) {
    struct gpu_device *device = &watch->device[slot];
    const struct shared *shared = watch->shared;
    device->from_rates = message->from_rates != 0;
    for (uint32_t i = 0; i < message->count; i++) {
        int64_t t_ns = message->window[i].end_ns - shared->start.mono_ns;
        int32_t percent = message->window[i].percent;
        if (t_ns <= device->window_last_t_ns || percent < 0 || percent > 100 ||
            (atomic_load(&shared->ended) && t_ns > shared->end.t_ns))
            continue;
        if (device->windows == GPU_WINDOWS_KEPT)
            write_windows(watch, slot);
        device->window_t_ns[device->windows] = device->window_last_t_ns = t_ns;
        device->window_percent[device->windows++] = percent;
    }
}

/* ---- all ---- */

void gpu_series_write(struct gpu_watch *watch, bool all) {
    size_t slots = atomic_load(&watch->shared->gpu_count);
    for (size_t s = 0; s < slots && all; s++)
        end_second(watch, s);
    for (size_t t = 0; t < GPU_TABLES_; t++)
        write_table(watch, (enum gpu_table_name)t);
    for (size_t s = 0; s < slots; s++) {
        for (size_t r = 0; r < GPU_ROWS_; r++)
            write_rows(watch, (enum gpu_rows_name)r, s);
        write_windows(watch, s);
    }
}

void gpu_series_done(struct gpu_watch *watch) {
    for (size_t t = 0; t < GPU_TABLES_; t++)
        mem_free_ptr(&watch->table[t].value);
}
