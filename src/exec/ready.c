/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recorder's side of --ready, see ready.h. What has come lies in the shared memory, so that a
 * recorder that follows another one neither waits again nor tells it twice.
 */
#include "exec/ready.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/msg.h"
#include "exec/helper.h"
#include "exec/recorder-parts.h"
#include "text/pattern.h"
#include "text/secret.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define STARTS_MAX    5u
#define FIRST_WAIT_NS (250 * NS_PER_MS)
#define FIRST_LOOK_NS (2 * NS_PER_MS)

struct ready {
    const char *text;
    struct pattern_set *pattern; /* NULL: an address */
    pid_t helper;
    unsigned starts;
};

/* Anything that looks like an address is one: a pattern of that look can begin with '^'. */
bool ready_is_address(const char *text) {
    size_t scheme =
        strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    return scheme > 0 && strncmp(text + scheme, "://", 3) == 0;
}

bool exec_ready_is_address(const char *text) {
    return ready_is_address(text);
}

int exec_check_ready(const char *text, struct err *err) {
    if (ready_is_address(text))
        return ready_address_check(text, err);
    struct pattern_set *trial = pattern_set_new();
    int rc = pattern_set_add(trial, "compute", "begin", text, err);
    pattern_set_free(trial);
    return rc;
}

/* ---- the helper ---- */

static void start_helper(struct recorder *recorder, struct ready *ready) {
    struct ready_context context = {.shared = recorder->shared,
                                    .address = ready->text,
                                    .is_attached = recorder->options->attach != 0};
    struct helper_spec spec = {.name = "pl-ready",
                               .dies_with_parent = true,
                               .main = ready_address_main,
                               .context = &context};
    if (ready->starts > STARTS_MAX || ready->starts++ == STARTS_MAX)
        return; /* beyond that nobody asks any more */
    pid_t pid = helper_start(recorder->shared, &spec);
    ready->helper = pid > 0 ? pid : 0;
}

static bool is_settled(const struct shared *shared) {
    return atomic_load(&shared->ready_t_ns) != 0 || atomic_load(&shared->ready_before);
}

/* The recorder reaps it with its other children. */
static void keep_helper(struct recorder *recorder, struct ready *ready) {
    if (ready->pattern != NULL || is_settled(recorder->shared))
        return;
    if (ready->helper == 0 || (kill(ready->helper, 0) < 0 && errno == ESRCH))
        start_helper(recorder, ready);
}

struct ready *ready_start(struct recorder *recorder) {
    if (recorder->options->ready == NULL)
        return NULL;
    struct ready *ready = mem_alloc(sizeof *ready);
    ready->text = recorder->options->ready;
    if (!ready_is_address(ready->text)) {
        struct err err = ERR_INIT;
        ready->pattern = pattern_set_new();
        pattern_set_add(ready->pattern, "compute", "begin", ready->text, &err); /* was checked */
        return ready;
    }
    keep_helper(recorder, ready);
    int64_t deadline_ns = clock_mono_ns() + FIRST_WAIT_NS;
    while (!atomic_load(&recorder->shared->ready_asked) && clock_mono_ns() < deadline_ns)
        nanosleep(&(struct timespec){.tv_nsec = FIRST_LOOK_NS}, NULL);
    return ready;
}

/* ---- what was not seen ---- */

static bool is_unread(const struct recorder *recorder, size_t index) {
    const struct stream_facts *stream = &recorder->shared->streams[index + 1];
    bool is_in_other = index == 1 && stream->shared_with == 1 && recorder->channel[0] != NULL;
    return recorder->channel[index] == NULL && stream->was != STREAM_CLOSED && !is_in_other;
}

/* Where the line may be, or the answer may have come, without our knowing; NULL: nowhere. */
static const char *why_unseen(const struct recorder *recorder, const struct ready *ready,
                              bool last) {
    const struct shared *shared = recorder->shared;
    if (ready->pattern == NULL) {
        bool gave_up = ready->starts > STARTS_MAX && !is_settled(shared);
        if (!atomic_load(&shared->ready_asked))
            return N_("the address could not be asked");
        return gave_up ? N_("the address could not be asked to the end") : NULL;
    }
    if (is_unread(recorder, 0))
        return is_unread(recorder, 1) ? N_("the output was not read")
                                      : N_("standard output was not read");
    if (is_unread(recorder, 1))
        return N_("standard error was not read");
    for (size_t i = 0; i < SHARED_CHANNELS; i++)
        if (recorder->channel[i] != NULL && !text_channel_has_all(recorder->channel[i], last))
            return N_("no line matched of the output that could be looked at, and that was not "
                      "all of it");
    return NULL;
}

/* ---- records ---- */

static bool write_begin(struct recorder *recorder, const char *phase, const char *line,
                        int64_t t_ns, bool is_unseen) {
    json_t *record = json_object();
    json_put_int(record, "t_ns", t_ns < 0 ? 0 : t_ns);
    json_put_text(record, "event", "begin");
    json_put_text(record, "name", phase);
    json_put_text(record, "source", "ready");
    if (is_unseen)
        json_put_bool(record, "unseen", true);
    if (line != NULL) {
        AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
        secret_mask(line, strlen(line), &masked);
        json_put_text(record, "line", strbuf_str(&masked));
    }
    return recorder_write(recorder, JOURNAL_PHASE, record, false);
}

/* What ran already may have been ready already: its loading is seen only if it was not. Nor is it
 * seen while the line may have come where nobody looks: until the line comes. */
static void write_load(struct recorder *recorder, const struct ready *ready) {
    struct recorder_past *past = &recorder->past;
    bool was_before = atomic_load(&recorder->shared->ready_before);
    bool is_line = ready->pattern != NULL;
    bool came = atomic_load(&recorder->shared->ready_t_ns) != 0;
    bool knows =
        is_line ? came || why_unseen(recorder, ready, false) == NULL
                : recorder->options->attach == 0 || atomic_load(&recorder->shared->ready_asked);
    if (!past->has_ready_load && !was_before && knows)
        past->has_ready_load = write_begin(recorder, "load", NULL, 0, false);
}

static void write_compute(struct recorder *recorder, const char *line) {
    struct recorder_past *past = &recorder->past;
    const struct shared *shared = recorder->shared;
    int64_t t_ns = atomic_load(&shared->ready_t_ns);
    bool is_ready =
        t_ns != 0 || (atomic_load(&shared->ready_before) && recorder->options->attach != 0);
    if (!past->has_ready_compute && is_ready)
        past->has_ready_compute =
            write_begin(recorder, "compute", line, t_ns, atomic_load(&shared->ready_unseen));
}

void ready_begin(struct recorder *recorder, struct ready *ready) {
    if (ready == NULL)
        return;
    write_load(recorder, ready);
    write_compute(recorder, NULL);
}

void ready_tick(struct recorder *recorder, struct ready *ready) {
    if (ready == NULL)
        return;
    keep_helper(recorder, ready);
    write_load(recorder, ready);
    write_compute(recorder, NULL);
}

bool ready_is_line(const struct recorder *recorder, const struct ready *ready, const char *line) {
    const char *phase, *event;
    return ready != NULL && ready->pattern != NULL && !is_settled(recorder->shared) &&
           pattern_set_match(ready->pattern, line, &phase, &event);
}

void ready_take_line(struct recorder *recorder, struct ready *ready, const char *line,
                     int64_t t_ns) {
    bool is_unseen = why_unseen(recorder, ready, false) != NULL;
    atomic_store(&recorder->shared->ready_unseen, is_unseen);
    atomic_store(&recorder->shared->ready_t_ns, t_ns > 0 ? t_ns : 1);
    write_load(recorder, ready);
    write_compute(recorder, line);
}

/* ---- the end ---- */

static void put_why_unseen(json_t *json, const char *why) {
    json_put_text(json, "reason", why);
    json_put_bool(json, "unseen", true);
}

static void put_why_no_answer(json_t *json, const struct shared *shared) {
    int status = atomic_load(&shared->ready_status);
    if (atomic_load(&shared->ready_before)) {
        json_put_text(json, "reason", N_("the address answered before the command was started"));
        json_put_bool(json, "taken", true);
    } else if (status > 0) {
        json_put_text(json, "reason", N_("the address never answered with a 2xx status"));
        json_put_int(json, "status", status);
    } else if (status == -ETIMEDOUT) {
        json_put_text(json, "reason", N_("the address did not answer within 5 s"));
    } else if (status == -EPROTO) {
        json_put_text(json, "reason",
                      N_("what answered at the address was no HTTP, or the head of the answer is "
                         "longer than 1 MiB"));
    } else {
        json_put_text(json, "reason",
                      N_("no connection to the address, or one that was closed without an answer"));
    }
}

json_t *ready_finish(struct recorder *recorder, struct ready *ready) {
    if (ready == NULL)
        return NULL;
    write_load(recorder, ready);
    write_compute(recorder, NULL);
    if (ready->helper > 0 && kill(ready->helper, SIGKILL) == 0)
        recorder_reap(recorder); /* it may wait for an answer: it is not waited for */
    json_t *json = json_object();
    int64_t t_ns = atomic_load(&recorder->shared->ready_t_ns);
    const char *unseen = why_unseen(recorder, ready, true);
    if (t_ns != 0) {
        json_put_int(json, "t_ns", t_ns);
        if (atomic_load(&recorder->shared->ready_unseen))
            json_put_bool(json, "unseen", true);
    } else if (atomic_load(&recorder->shared->ready_before) && recorder->options->attach != 0) {
        json_put_bool(json, "before", true);
    } else if (unseen != NULL) {
        put_why_unseen(json, unseen);
    } else if (ready->pattern != NULL) {
        json_put_text(json, "reason", N_("no line of the output matched"));
    } else {
        put_why_no_answer(json, recorder->shared);
    }
    return json;
}

struct ready *ready_free(struct ready *ready) {
    if (ready != NULL)
        pattern_set_free(ready->pattern);
    mem_free_ptr(&ready);
    return NULL;
}
