/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of probelauf.run/1 that come from the records as they are. Internal to report/. */
#pragma once

#include "base/json.h"
#include "model/run.h"

/* Each returns a new reference. */
json_t *run_json_files(const struct run *run, bool inputs);
json_t *run_json_expectations(const struct run *run);
json_t *run_json_work(const struct run *run);
json_t *run_json_results(const struct run *run);
json_t *run_json_code(const struct run *run);
json_t *run_json_environment(const struct run *run);
void run_json_put_gpus(json_t *json, const struct run *run);
json_t *run_json_cache(const struct run *run);
json_t *run_json_monitor(const struct run *run);
/* `attached` and `ready`, where the run was so. */
void run_json_put_target(json_t *json, const struct run *run);

/* Glue that both files need. Types are checked: what is of another type is null (or left out of a
 * list). */
void run_json_put_quantity(json_t *object, const char *key, const struct quantity *q);
void run_json_put_utc(json_t *object, const char *key, int64_t utc_ns); /* null for 0 */
json_t *run_json_plain_text(const json_t *object, const char *key);
json_t *run_json_plain_int(const json_t *object, const char *key);
json_t *run_json_plain_bool(const json_t *object, const char *key);
json_t *run_json_texts(const json_t *array);        /* the texts among its members */
json_t *run_json_text_object(const json_t *object); /* the keys whose value is a text */
json_t *run_json_copy_object(const json_t *object); /* deep; {} when it is none */
