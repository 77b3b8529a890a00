/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The answer of `estimate --repeat N`: verdict first, its parts, what it leaves out, why there is
 * no amount, method last. A total is never printed without what it rests on (D7).
 */
#include "report/report.h"

#include "base/msg.h"
#include "base/str.h"
#include "base/uuid.h"
#include "forecast/predict.h"
#include "report/facts.h"
#include "report/layout.h"
#include "report/run-json.h"
#include "report/run-text.h"

#include <string.h>

static json_t *texts_json(const char *const *texts, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_text(texts[i]));
    return list;
}

static bool is_outlier(const struct repeat_estimate *estimate, size_t index) {
    return estimate->outlier && estimate->outlier[index];
}

static json_t *used_json(const struct repeat_estimate *estimate) {
    json_t *list = json_array();
    for (size_t i = 0; i < estimate->used_count; i++) {
        json_t *json = json_object();
        json_put_text(json, "run", estimate->used[i]->id);
        json_put_bool(json, "outlier", is_outlier(estimate, i));
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *excluded_json(const struct repeat_estimate *estimate) {
    json_t *list = json_array();
    for (size_t i = 0; i < estimate->excluded_count; i++) {
        json_t *json = json_object();
        json_put_text(json, "run", estimate->excluded[i].run->id);
        json_put_text(json, "reason", estimate->excluded[i].reason);
        json_array_append_new(list, json);
    }
    return list;
}

static int64_t to_integer(uint64_t value) {
    return value > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)value;
}

json_t *report_repeat_json(const struct repeat_estimate *estimate) {
    json_t *json = json_object();
    json_put_text(json, "schema", "probelauf.estimate-repeat/1");
    json_put_int(json, "repeats", to_integer(estimate->repeats));
    run_json_put_quantity(json, "runs", &estimate->runs);
    run_json_put_quantity(json, "total", &estimate->total);
    run_json_put_quantity(json, "per_run", &estimate->per_run);
    run_json_put_quantity(json, "load", &estimate->load);
    run_json_put_quantity(json, "compute", &estimate->compute);
    run_json_put_quantity(json, "other", &estimate->other);
    run_json_put_quantity(json, "retries", &estimate->retries);
    run_json_put_quantity(json, "lost", &estimate->lost);
    json_put_int(json, "attempts", to_integer(estimate->attempts));
    json_put_int(json, "failures", to_integer(estimate->failures));
    run_json_put_quantity(json, "memory", &estimate->memory);
    run_json_put_quantity(json, "amount", &estimate->amount);
    json_put(json, "missing", texts_json(estimate->missing, estimate->missing_count));
    json_put(json, "open", texts_json(estimate->open, estimate->open_count));
    json_put(json, "used", used_json(estimate));
    json_put(json, "excluded", excluded_json(estimate));
    json_put_text(json, "method", PREDICT_METHOD);
    /* a seed is 64 bits without a sign, which JSON numbers do not carry safely */
    AUTO_FREE char *seed = mem_printf("%llu", (unsigned long long)estimate->seed);
    json_put_text(json, "seed", seed);
    return json;
}

/* ---- text ---- */

static void verdict(const struct repeat_estimate *estimate, struct report_style style,
                    struct strbuf *out) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text,
                  msg_plural((unsigned long)estimate->repeats, "%llu further run like ",
                             "%llu further runs like "),
                  (unsigned long long)estimate->repeats);
    const struct run *reference = estimate->used_count > 0 ? estimate->used[0] : NULL;
    if (reference) {
        AUTO_STRBUF struct strbuf command = STRBUF_INIT;
        facts_command_line(reference, &command);
        layout_cut(&text, strbuf_str(&command), 60, style.ascii);
        AUTO_STRBUF struct strbuf condition = STRBUF_INIT;
        run_text_add_condition(&condition, reference);
        if (condition.length > 0) {
            strbuf_add_str(&text, _(" with "));
            layout_cut(&text, strbuf_str(&condition), 60, style.ascii);
        }
    } else {
        strbuf_add_str(&text, _("these"));
    }
    strbuf_add_str(&text, ": ");
    layout_add_quantity(&text, &estimate->runs, style.ascii, true);
    if (estimate->open_count > 0)
        strbuf_printf(&text,
                      msg_plural((unsigned long)estimate->open_count,
                                 "; %zu part is open and not in it (below)",
                                 "; %zu parts are open and not in it (below)"),
                      estimate->open_count);
    layout_wrap(out, strbuf_str(&text), 0, 2, layout_columns(style));
    strbuf_add_char(out, '\n');
    if (estimate->runs.detail) {
        AUTO_STRBUF struct strbuf detail = STRBUF_INIT;
        layout_add_plain(&detail, estimate->runs.detail, style.ascii);
        layout_paragraph(out, style, strbuf_str(&detail));
    }
}

static bool is_same_text(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

static void parts(const struct repeat_estimate *estimate, struct report_style style,
                  struct strbuf *out) {
    const struct {
        const char *label;
        const struct quantity *quantity;
    } rows[] = {
        {_("one run"), &estimate->per_run},         {_("loading, all"), &estimate->load},
        {_("computing, all"), &estimate->compute},  {_("other, all"), &estimate->other},
        {_("lost to retries"), &estimate->retries}, {_("in all"), &estimate->total},
        {_("lost so far"), &estimate->lost},        {_("memory needed"), &estimate->memory},
        {_("amount"), &estimate->amount},
    };
    layout_heading(out, style, _("Parts"));
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) { /* a sentence is said once */
        struct quantity q = *rows[i].quantity;
        bool said = is_same_text(q.detail, estimate->runs.detail);
        for (size_t j = 0; j < i && !said; j++)
            said = is_same_text(q.detail, rows[j].quantity->detail);
        if (said)
            q.detail = NULL;
        layout_quantity(out, style, rows[i].label, &q);
    }
}

static void bullets(struct strbuf *out, struct report_style style, const char *heading,
                    const char *const *texts, size_t count) {
    if (count == 0)
        return;
    layout_heading(out, style, heading);
    for (size_t i = 0; i < count; i++)
        layout_bullet(out, style, texts[i]);
}

static void basis(const struct repeat_estimate *estimate, struct report_style style,
                  struct strbuf *out) {
    layout_heading(out, style, _("Rests on"));
    AUTO_STRBUF struct strbuf ids = STRBUF_INIT;
    for (size_t i = 0; i < estimate->used_count; i++) {
        strbuf_add_str(&ids, i > 0 ? ", " : "");
        layout_add_plain(&ids, uuid_tail(estimate->used[i]->id), style.ascii);
        if (is_outlier(estimate, i))
            strbuf_add_str(&ids, _(" (stands apart)"));
    }
    if (estimate->used_count == 0)
        strbuf_add_str(&ids, _("none counts"));
    AUTO_STRBUF struct strbuf count = STRBUF_INIT;
    strbuf_printf(&count, msg_plural((unsigned long)estimate->used_count, "%zu run", "%zu runs"),
                  estimate->used_count);
    layout_row(out, style, strbuf_str(&count), strbuf_str(&ids), LAYOUT_PLAIN, NULL);
    for (size_t i = 0; i < estimate->excluded_count; i++) {
        AUTO_STRBUF struct strbuf why = STRBUF_INIT;
        layout_add_plain(&why, uuid_tail(estimate->excluded[i].run->id), style.ascii);
        strbuf_add_str(&why, ": ");
        layout_add_plain(&why, estimate->excluded[i].reason, style.ascii);
        layout_row(out, style, _("not used"), strbuf_str(&why), LAYOUT_PLAIN, NULL);
    }
    AUTO_STRBUF struct strbuf attempts = STRBUF_INIT;
    strbuf_printf(&attempts, _("%llu, of which %llu failed"),
                  (unsigned long long)estimate->attempts, (unsigned long long)estimate->failures);
    layout_row(out, style, _("attempts seen"), strbuf_str(&attempts), LAYOUT_PLAIN, NULL);
}

void report_repeat_text(const struct repeat_estimate *estimate, struct report_style style,
                        struct strbuf *out) {
    verdict(estimate, style, out);
    parts(estimate, style, out);
    if (!quantity_is_known(&estimate->amount))
        bullets(out, style, _("No amount yet. Missing:"), estimate->missing,
                estimate->missing_count);
    bullets(out, style, _("Not in the total"), estimate->open, estimate->open_count);
    basis(estimate, style, out);
    AUTO_STRBUF struct strbuf method = STRBUF_INIT;
    AUTO_STRBUF struct strbuf name = STRBUF_INIT;
    quantity_add_method(&name, estimate->runs.method ? estimate->runs.method : PREDICT_METHOD);
    strbuf_printf(&method, _("method %s, seed %llu"), strbuf_str(&name),
                  (unsigned long long)estimate->seed);
    strbuf_add_char(out, '\n');
    layout_wrap(out, strbuf_str(&method), 0, 0, layout_columns(style));
    strbuf_add_char(out, '\n');
    layout_legend(out, style);
}
