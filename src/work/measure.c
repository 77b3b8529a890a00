/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probelauf run: attempt after attempt, each a record of its own. Whether a failure can be cured by
 * a repeat is decided from the record, never from a bare status. Nothing here may change what the
 * command did or what `run` returns.
 */
#include "work/measure.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "journal/fold.h"
#include "work/intake.h"

#include <string.h>

/* In the recorder, when nobody waits any more. A ledger that cannot be had leaves the journal where
 * it is: the next reading command takes it in. */
static void take_in(const char *journal_path, void *context) {
    const struct place *place = context;
    AUTO_STORE struct store *store = NULL;
    struct err err = ERR_INIT;
    if (store_open(place->ledger_url, STORE_READ_WRITE, &store, &err) == 0)
        intake_file(store, journal_path, &err);
}

static json_t *attempt_extra(const json_t *given, int64_t attempt, const char *first,
                             const char *previous) {
    json_t *extra = given != NULL ? json_deep_copy(given) : json_object();
    json_put_int(extra, "attempt", attempt);
    if (previous[0] != '\0') {
        json_put_text(extra, "retry_of", previous);
        json_put_text(extra, "retry_group", first);
    }
    return extra;
}

/* NULL where there is no complete record (yet). */
static struct run *load(const struct exec_result *result) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    struct err err = ERR_INIT;
    struct run *run = NULL;
    if (!result->recorded || intake_read_file(result->journal_path, &bytes, &err) < 0)
        return NULL;
    struct fold_input input = {.bytes = bytes.data, .length = bytes.length};
    return fold_run(&input, true, &run, &err) == 0 ? run : NULL;
}

int measure_run(const struct measure_options *options, const struct place *place,
                measure_fn attempt_done, void *context, struct exec_result *ret_result,
                struct err *err) {
    char first[UUID_TEXT_SIZE] = "", previous[UUID_TEXT_SIZE] = "";
    struct place own_place = *place;
    pid_t earlier_recorder = 0;
    for (int64_t attempt = 1;; attempt++) {
        struct exec_options exec = options->exec;
        uuid_new(clock_utc_ns(), exec.run);
        memcpy(exec.part, exec.run, sizeof exec.part); /* one node: one monitor */
        if (attempt == 1)
            memcpy(first, exec.run, sizeof first);
        AUTO_JSON json_t *extra =
            attempt_extra(options->exec.start_extra, attempt, first, previous);
        exec.start_extra = extra;
        exec.journal_dirs = place->journal_dirs;
        exec.recorded = take_in;
        exec.context = &own_place;
        exec.earlier_recorder = earlier_recorder;
        int rc = exec_run(&exec, ret_result, err);
        if (rc < 0)
            return rc;
        AUTO_RUN struct run *run = load(ret_result);
        bool again = run != NULL && attempt <= options->retries && ret_result->raise_signal == 0 &&
                     outcome_can_retry(run->outcome);
        attempt_done(run, ret_result, again, context);
        if (!again) {
            exec_release(ret_result);
            return 0;
        }
        earlier_recorder = exec_release_and_wait(ret_result);
        memcpy(previous, exec.run, sizeof previous);
    }
}
