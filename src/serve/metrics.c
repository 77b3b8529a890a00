/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "/metrics" in OpenMetrics (answer.h). What is not known has no line: it is never 0. */
#include "serve/answer.h"

#include "base/clock.h"
#include "base/mem.h"
#include "model/outcome.h"
#include "work/runs.h"

#include <errno.h>
#include <string.h>

#define RUNNING_MOST 100u

static void add_label(struct strbuf *out, const char *text) {
    for (; *text; text++) {
        if (*text == '\n')
            strbuf_add_str(out, "\\n");
        else if (*text == '"' || *text == '\\')
            strbuf_printf(out, "\\%c", *text);
        else
            strbuf_add_char(out, *text);
    }
}

static void begin(struct strbuf *out, const char *name, const char *type, const char *unit,
                  const char *help) {
    strbuf_printf(out, "# TYPE %s %s\n", name, type);
    if (unit)
        strbuf_printf(out, "# UNIT %s %s\n", name, unit);
    strbuf_printf(out, "# HELP %s %s\n", name, help);
}

static void add_outcomes(const struct store_entry *entries, size_t count, struct strbuf *out) {
    begin(out, "probelauf_runs", "gauge", NULL, "Runs in the ledger and those that go on.");
    for (int i = 0; i < OUTCOME_COUNT_; i++) {
        const char *name = outcome_name((enum outcome_class)i);
        size_t runs = 0;
        for (size_t k = 0; k < count; k++)
            runs += entries[k].outcome && strcmp(entries[k].outcome, name) == 0;
        strbuf_printf(out, "probelauf_runs{outcome=\"%s\"} %zu\n", name, runs);
    }
}

static void add_sample(struct strbuf *out, const char *name, const struct run *run, double value) {
    strbuf_printf(out, "%s{run=\"", name);
    add_label(out, run->id);
    strbuf_printf(out, "\"} %.17g\n", value);
}

/* The run as it is now; nothing of one that cannot be read. */
static void add_running(struct runs *runs, const struct store_entry *entries, size_t count,
                        struct strbuf *elapsed, struct strbuf *memory) {
    size_t shown = 0;
    for (size_t i = 0; i < count && shown < RUNNING_MOST; i++) {
        AUTO_RUN struct run *run = NULL;
        struct err err = ERR_INIT;
        if (!entries[i].outcome || strcmp(entries[i].outcome, outcome_name(OUTCOME_RUNNING)) != 0)
            continue;
        if (runs_load_entry(runs, &entries[i], false, &run, &err) < 0) {
            err_clear(&err);
            continue;
        }
        shown++;
        int64_t since_ns = clock_utc_ns() - run->started_utc_ns;
        if (run->started_utc_ns > 0 && since_ns >= 0)
            add_sample(elapsed, "probelauf_running_seconds", run, (double)since_ns / 1e9);
        if (quantity_is_known(&run->tree_pss))
            add_sample(memory, "probelauf_running_memory_bytes", run, run->tree_pss.value);
    }
}

void serve_metrics(const struct serve_options *options, struct serve_answer *ret) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_STRBUF struct strbuf elapsed = STRBUF_INIT, memory = STRBUF_INIT;
    struct err err = ERR_INIT;
    struct store_entry *entries = NULL;
    size_t count = 0;
    const struct store_query query = {.type = "run"};
    int rc = runs_open(options->place, &runs, &err);
    rc = rc < 0 ? rc : runs_need_ledger(runs, &err);
    rc = rc < 0 ? rc : runs_list(runs, &query, arena, &entries, &count, &err);
    if (rc < 0) {
        ret->status = 503;
        ret->type = SERVE_TEXT;
        strbuf_printf(&ret->body, "%s\n", err.text);
        err_clear(&err);
        return;
    }
    struct strbuf *out = &ret->body;
    ret->type = SERVE_OPENMETRICS;
    add_outcomes(entries, count, out);
    add_running(runs, entries, count, &elapsed, &memory);
    begin(out, "probelauf_running_seconds", "gauge", "seconds", "Time since the start of a run.");
    strbuf_add(out, strbuf_str(&elapsed), elapsed.length);
    begin(out, "probelauf_running_memory_bytes", "gauge", "bytes",
          "Largest memory of all processes of a run so far (PSS, sampled).");
    strbuf_add(out, strbuf_str(&memory), memory.length);
    strbuf_add_str(out, "# EOF\n");
}
