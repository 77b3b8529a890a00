/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The second half of probelauf.run/1: files, work, results, code, environment, cache, monitor.
 * Takes plain facts from the records without trusting their types; must never pass on the kept diff
 * (code.diff_zstd_base64).
 */
#include "report/run-json.h"

#include "report/facts.h"

#include <math.h>
#include <string.h>

json_t *run_json_files(const struct run *run, bool inputs) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct facts_file *files = NULL;
    size_t count = inputs ? facts_inputs(run, arena, &files) : facts_outputs(run, arena, &files);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *json = json_object();
        json_put_text(json, "path", files[i].path);
        run_json_put_quantity(json, "bytes", &files[i].bytes);
        run_json_put_quantity(json, "items", &files[i].items);
        json_put_text(json, "identity", files[i].identity);
        json_array_append_new(list, json);
    }
    return list;
}

json_t *run_json_expectations(const struct run *run) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct facts_expectation *expectations = NULL;
    size_t count = facts_expectations(run, arena, &expectations);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *json = json_object();
        json_put_text(json, "what", expectations[i].what);
        json_put_text(json, "met", expectations[i].met);
        json_put_text(json, "detail", expectations[i].detail);
        json_array_append_new(list, json);
    }
    return list;
}

json_t *run_json_work(const struct run *run) {
    json_t *json = json_object();
    run_json_put_quantity(json, "items", &run->work_items);
    run_json_put_quantity(json, "length", &run->work_length);
    run_json_put_quantity(json, "batch", &run->work_batch);
    json_put_text(json, "shape", run->work_shape);
    return json;
}

json_t *run_json_results(const struct run *run) {
    json_t *json = json_object();
    for (size_t i = 0; i < run->result_count; i++) /* the later one of a name holds */
        if (run->results[i].name)
            run_json_put_quantity(json, run->results[i].name, &run->results[i].quantity);
    return json;
}

json_t *run_json_code(const struct run *run) {
    const json_t *code = json_get_object(run->environment, "code");
    json_t *json = json_object();
    json_put(json, "repo", run_json_plain_text(code, "repo"));
    json_put(json, "commit", run_json_plain_text(code, "commit"));
    json_put(json, "dirty", run_json_plain_bool(code, "dirty"));
    json_put(json, "digest", run_json_plain_text(code, "digest"));
    json_put(json, "diff_digest", run_json_plain_text(code, "diff_digest"));
    return json;
}

static json_t *copy_array_of_objects(const json_t *array) {
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *entry = json_array_get(array, i);
        if (json_is_object(entry))
            json_array_append_new(list, json_deep_copy(entry));
    }
    return list;
}

static json_t *packages_json(const json_t *packages) {
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(packages); i++) {
        const json_t *entry = json_array_get(packages, i);
        if (!json_is_object(entry) || !json_get_text(entry, "name", NULL))
            continue;
        json_t *json = json_object();
        json_put(json, "name", run_json_plain_text(entry, "name"));
        json_put(json, "version", run_json_plain_text(entry, "version"));
        json_put(json, "interpreter", run_json_plain_text(entry, "interpreter"));
        json_array_append_new(list, json);
    }
    return list;
}

/* What the probes could not read, and why; the code state's own reason stands with them. */
static json_t *reasons_json(const struct run *run) {
    json_t *json = run_json_text_object(json_get_object(run->environment, "reasons"));
    const char *code = json_get_text(json_get_object(run->environment, "code"), "reason", NULL);
    if (code && !json_object_get(json, "code"))
        json_put_text(json, "code", code);
    return json;
}

static json_t *container_json(const struct run *run) {
    const json_t *container = json_object_get(run->environment, "container");
    return json_is_string(container) || json_is_object(container) ? json_deep_copy(container)
                                                                  : json_null();
}

/* The models of the devices that the machine showed, one text each; null: nobody could look. */
static json_t *gpu_names(const struct run *run) {
    const json_t *devices = json_get_array(json_get_object(run->environment, "gpu"), "devices");
    if (!devices)
        return json_null();
    json_t *names = json_array();
    for (size_t i = 0; i < json_array_size(devices); i++)
        json_array_append_new(names,
                              json_text(json_get_text(json_array_get(devices, i), "name", "?")));
    return names;
}

json_t *run_json_environment(const struct run *run) {
    const json_t *environment = run->environment;
    json_t *json = json_object();
    json_put(json, "fingerprint", run_json_plain_text(environment, "fingerprint"));
    json_put(json, "machine", run_json_copy_object(json_get_object(environment, "machine")));
    json_put(json, "container", container_json(run));
    json_put(json, "gpu", gpu_names(run));
    json_put_text(json, "driver", facts_gpu_driver(run));
    json_put(json, "cuda", run_json_plain_text(environment, "cuda"));
    json_put(json, "interpreters",
             copy_array_of_objects(json_get_array(environment, "interpreters")));
    json_put(json, "packages", packages_json(json_get_array(environment, "packages")));
    json_put(json, "variables", run_json_text_object(json_get_object(run->start, "variables")));
    json_put(json, "reasons", reasons_json(run));
    return json;
}

/* Whether weights came from memory or from storage is told by issue 3 of 8's probes; until then
 * nobody has looked. */
/* The interval that was really kept: the mean distance of the ticks of a series. */
static struct quantity series_interval(const struct run_series *series) {
    size_t count = series->count;
    double span = count > 1 ? series->time_s[count - 1] - series->time_s[0] : -1.0;
    if (!isfinite(span) || span <= 0.0)
        return quantity_open(UNIT_SECOND, QUANTITY_NOT_SAMPLED, NULL);
    struct quantity q =
        quantity_measured(UNIT_SECOND, span / (double)(count - 1), "mean distance of ticks");
    q.n = count;
    return q;
}

static json_t *intervals_json(const struct run *run) {
    json_t *json = json_object();
    for (size_t i = 0; i < run->series_count; i++) {
        const struct run_series *series = &run->series[i];
        if (!series->name)
            continue;
        struct quantity q = series_interval(series);
        run_json_put_quantity(json, series->name, &q);
    }
    return json;
}

static json_t *seconds_or_null(double seconds) {
    return isfinite(seconds) ? json_real(seconds) : json_null();
}

static json_t *gaps_json(const struct run *run) {
    json_t *list = json_array();
    for (size_t i = 0; i < run->gap_count; i++) {
        json_t *json = json_object();
        json_put_text(json, "what", run->gaps[i].what);
        json_put(json, "start_s", seconds_or_null(run->gaps[i].start_s));
        json_put(json, "end_s", seconds_or_null(run->gaps[i].end_s));
        json_put_text(json, "reason", run->gaps[i].reason);
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *blind_spots_json(const struct run *run) {
    const json_t *spots = json_get_array(run->start, "blind_spots");
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(spots); i++) {
        const json_t *spot = json_array_get(spots, i);
        if (!json_is_object(spot))
            continue;
        json_t *json = json_object();
        json_put(json, "id", run_json_plain_text(spot, "id"));
        json_put(json, "text", run_json_plain_text(spot, "text"));
        json_array_append_new(list, json);
    }
    return list;
}

json_t *run_json_monitor(const struct run *run) {
    json_t *json = json_object();
    json_put(json, "intervals", intervals_json(run));
    run_json_put_quantity(json, "cpu", &run->monitor_cpu);
    json_put(json, "gaps", gaps_json(run));
    json_put(json, "blind_spots", blind_spots_json(run));
    return json;
}
