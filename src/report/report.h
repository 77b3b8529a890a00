/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Renderers. They read the model and write text or JSON; they know neither files nor options. */
#pragma once

#include "base/json.h"
#include "base/strbuf.h"
#include "model/run.h"
#include "rules/repeat.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report_style {
    bool ascii; /* no character beyond ASCII */
    bool color;
    int width; /* columns; 0: 80 */
    bool verbose;
};

json_t *report_run_json(const struct run *run); /* schema probelauf.run/1; new reference */
json_t *report_log_json(const struct store_entry *entries, size_t count,
                        const char *next);                             /* probelauf.log/1 */
json_t *report_compare_json(const struct run *a, const struct run *b); /* probelauf.compare/1 */
json_t *
report_repeat_json(const struct repeat_estimate *estimate); /* probelauf.estimate-repeat/1 */

/* Why something failed: what a run's record, or any text, shows (probelauf.explain/1). All texts
 * borrowed and masked. */
struct report_explain_item {
    const char *name;     /* of text/incident.h */
    const char *text;     /* the line that shows it; may be NULL */
    uint64_t line_number; /* from 1; 0: not known */
    json_t *figures;      /* object or NULL */
    bool survived;
    uint64_t lines; /* that show it; 0: not known */
};
struct report_explain {
    const char *run; /* id; NULL for plain text */
    bool has_outcome;
    enum outcome_class outcome;
    const char *ending;  /* "exit code 1"; NULL: not known */
    bool is_unfinished;  /* only the watching ended: nothing of it has ended */
    bool is_empty;       /* a text without a byte */
    const char *meaning; /* of a run: what its class means where there is no incident; else NULL */
    const struct report_explain_item *items;
    size_t count;
    const char *const *tail; /* last lines of the output, shown where no rule knows the cause */
    size_t tail_count;
};
json_t *report_explain_json(const struct report_explain *explain);
void report_explain_text(const struct report_explain *explain, struct report_style style,
                         struct strbuf *out);
/* The same for a run. */
json_t *report_run_explain_json(const struct run *run);
void report_run_explain_text(const struct run *run, struct report_style style, struct strbuf *out);

void report_run_text(const struct run *run, struct report_style style,
                     struct strbuf *out); /* show: everything, with the timeline */
void report_run_summary(const struct run *run, struct report_style style,
                        struct strbuf *out); /* the paragraph after run */
void report_timeline(const struct run *run, struct report_style style,
                     struct strbuf *out); /* memory, CPU, phases */
/* The wall time that a row of the index tells. */
struct quantity report_entry_wall(const struct store_entry *entry);
void report_log_text(const struct store_entry *entries, size_t count, struct report_style style,
                     struct strbuf *out);
void report_compare_text(const struct run *a, const struct run *b, struct report_style style,
                         struct strbuf *out);
void report_repeat_text(const struct repeat_estimate *estimate, struct report_style style,
                        struct strbuf *out);
/* One line per run, header first; empty cell = open (the cell beside it holds the reason). */
void report_run_csv(const struct run *const *runs, size_t count, struct strbuf *out);
