/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs and weights of a run as JSON (schema probelauf.run/1). Nothing here is translated: sentences
 * of the fold stay out, their reasons and figures are in. */
#include "report/run-json.h"

#include "report/facts.h"

static json_t *known_json(enum run_known known) {
    switch (known) {
    case RUN_NOT_KNOWN:
        return json_null();
    case RUN_YES:
        return json_true();
    case RUN_NO:
        return json_false();
    }
    return json_null();
}

static void put_memory(json_t *json, const struct gpu_memory *memory) {
    run_json_put_quantity(json, "device_used", &memory->device_used);
    run_json_put_quantity(json, "process_used", &memory->process_used);
    run_json_put_quantity(json, "allocated", &memory->allocated);
    run_json_put_quantity(json, "reserved", &memory->reserved);
}

static json_t *memory_json(const struct run_gpu *gpu) {
    struct gpu_memory whole = {gpu->device_used, gpu->process_used, gpu->allocated, gpu->reserved};
    json_t *json = json_object(), *phases = json_object();
    put_memory(json, &whole);
    for (int i = 0; i < PHASE_COUNT_; i++) {
        if (!gpu->by_phase[i].entered)
            continue;
        json_t *phase = json_object();
        put_memory(phase, &gpu->by_phase[i].memory);
        json_put(phases, phase_name((enum phase)i), phase);
    }
    json_put(json, "by_phase", phases);
    return json;
}

/* Without idle time there are no causes of it. */
static json_t *causes_json(const struct quantity *idle, const struct quantity *idle_by) {
    json_t *json = json_object();
    for (int i = 0; i < GPU_IDLE_COUNT_ && quantity_is_known(idle); i++)
        run_json_put_quantity(json, gpu_idle_name((enum gpu_idle)i), &idle_by[i]);
    return json;
}

static json_t *use_by_phase_json(const struct run_gpu *gpu) {
    json_t *json = json_object();
    for (int i = 0; i < PHASE_COUNT_; i++) {
        const struct run_gpu_phase *by = &gpu->by_phase[i];
        if (!by->entered)
            continue;
        json_t *phase = json_object();
        run_json_put_quantity(phase, "busy", &by->busy);
        run_json_put_quantity(phase, "idle", &by->idle);
        json_put(phase, "idle_causes", causes_json(&by->idle, by->idle_by));
        json_put(json, phase_name((enum phase)i), phase);
    }
    return json;
}

static json_t *held_json(const struct run_gpu *gpu) {
    json_t *json = json_object();
    for (size_t i = 0; i < gpu->held_count; i++)
        run_json_put_quantity(json, gpu->held[i].name, &gpu->held[i].share);
    return json;
}

/* What only a device has; an entry without one says why there is none. */
static void put_device(json_t *json, const struct run_gpu *gpu) {
    json_put_text(json, "kind", gpu->kind);
    json_put_text(json, "bus_id", gpu->bus_id);
    json_put_text(json, "parent", gpu->parent);
    json_put_bool(json, "stand_in", gpu->stand_in);
    json_put_text(json, "mine", gpu->mine == RUN_YES ? "yes" : "unknown");
    json_put_text(json, "mine_by", gpu->mine_by);
    run_json_put_quantity(json, "baseline", &gpu->baseline);
    run_json_put_quantity(json, "left", &gpu->left);
    run_json_put_quantity(json, "unseen", &gpu->unseen);
    json_put(json, "unified", known_json(gpu->unified));
    json_put_text(json, "virtual", gpu->virtual_mode);
    json_put(json, "clocks_held", held_json(gpu));
    struct quantity ecc = gpu->ecc;
    ecc.unit = UNIT_COUNT;
    run_json_put_quantity(json, "ecc_uncorrected", &ecc);
    json_put(json, "use_by_phase", use_by_phase_json(gpu));
}

static json_t *gpu_json(const struct run_gpu *gpu) {
    json_t *json = json_object();
    bool is_device = gpu->kind != NULL;
    json_put_text(json, "uuid", gpu->uuid);
    /* an entry without a device has no index: 0 would name one */
    json_put(json, "index",
             (gpu->uuid || is_device) && gpu->index >= 0 ? json_integer(gpu->index) : json_null());
    json_put_text(json, "name", gpu->name);
    run_json_put_quantity(json, "total", &gpu->total);
    json_put(json, "memory", memory_json(gpu));
    json_put(json, "preallocated", known_json(gpu->preallocated));
    run_json_put_quantity(json, "busy", &gpu->busy);
    run_json_put_quantity(json, "idle", &gpu->idle);
    json_put(json, "idle_causes", causes_json(&gpu->idle, gpu->idle_by));
    run_json_put_quantity(json, "energy", &gpu->energy);
    json_put(json, "others_present", known_json(gpu->others));
    if (is_device)
        put_device(json, gpu);
    return json;
}

static json_t *run_json_gpus(const struct run *run) {
    json_t *list = json_array();
    for (size_t i = 0; i < run->gpu_count; i++)
        json_array_append_new(list, gpu_json(&run->gpus[i]));
    return list;
}

static json_t *names_json(const char *const *names, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_text(names[i]));
    return list;
}

/* The GPUs that are not listed, and names of --gpu that nothing is listed for. */
void run_json_put_gpus(json_t *json, const struct run *run) {
    json_put(json, "gpus", run_json_gpus(run));
    if (run->gpu_others > 0)
        json_put_int(json, "gpus_of_others", (json_int_t)run->gpu_others);
    if (run->gpu_not_found_count == 0 && run->gpu_ambiguous_count == 0)
        return;
    json_t *option = json_object();
    json_put(option, "not_found", names_json(run->gpu_not_found, run->gpu_not_found_count));
    json_put(option, "ambiguous", names_json(run->gpu_ambiguous, run->gpu_ambiguous_count));
    json_put(json, "gpu_option", option);
}

/* A run that nobody folded has open ones without a unit. */
static void put_bytes(json_t *json, const char *key, struct quantity q) {
    q.unit = UNIT_BYTE;
    run_json_put_quantity(json, key, &q);
}

json_t *run_json_cache(const struct run *run) {
    const struct run_cache *cache = &run->cache;
    json_t *json = json_object(), *files = json_array();
    json_put_text(json, "weights", facts_weights_name(cache->weights));
    json_put_text(json, "storage", cache->storage);
    put_bytes(json, "bytes", cache->bytes);
    put_bytes(json, "loaded", cache->loaded);
    for (size_t i = 0; i < cache->file_count; i++) {
        const struct run_weight_file *file = &cache->files[i];
        json_t *entry = json_object();
        json_put_text(entry, "path", file->path);
        json_put(entry, "bytes",
                 file->bytes < 0 ? json_null() : json_integer((json_int_t)file->bytes));
        json_put_text(entry, "storage", file->storage);
        json_put_text(entry, "source", file->source);
        json_array_append_new(files, entry);
    }
    json_put(json, "files", files);
    return json;
}
