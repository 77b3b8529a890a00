/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `block run` would run and what it has come to, and the question at the gate of a block.
 * Decides nothing: order and reasons come from rules/remaining.h, figures from rules/estimate.h.
 */
#include "report/block-run.h"

#include "base/msg.h"
#include "report/layout.h"
#include "report/run-json.h"
#include "report/run-text.h"
#include "report/study-json.h"
#include "report/study-words.h"

#include <string.h>

#define LINES_SHOWN 40u

static const char *name_of(const struct remaining_item *item) {
    return item->step ? item->step->name : item->condition->condition->label;
}

/* ---- what would be run ---- */

static void add_items(const struct block_run_plan *plan, struct report_style style,
                      struct strbuf *out) {
    const struct layout_column columns[] = {
        {.title = _("left"), .right = true},
        {.title = _("running"), .right = true},
        {.title = _("each"), .right = true},
        {.title = _("what"), .elastic = 20, .wraps = true},
    };
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    size_t shown = 0, hidden = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const struct remaining_item *item = &plan->items[i].of;
        AUTO_STRBUF struct strbuf left = STRBUF_INIT;
        AUTO_STRBUF struct strbuf running = STRBUF_INIT;
        AUTO_STRBUF struct strbuf each = STRBUF_INIT;
        AUTO_STRBUF struct strbuf what = STRBUF_INIT;
        if (item->left == 0 && item->running == 0 && !item->note)
            continue;
        if (shown == LINES_SHOWN && !style.verbose) {
            hidden++;
            continue;
        }
        strbuf_printf(&left, "%llu", (unsigned long long)item->left);
        strbuf_printf(&running, "%llu", (unsigned long long)item->running);
        layout_add_quantity(&each, &item->each, style.ascii, true);
        layout_table_cell(table, strbuf_str(&left), LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&running), LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&each), layout_state_color(item->each.state));
        strbuf_add_str(&what, name_of(item));
        if (item->note)
            strbuf_printf(&what, ": %s", item->note);
        layout_table_cell(table, strbuf_str(&what), item->is_failed ? LAYOUT_BAD : LAYOUT_PLAIN);
        shown++;
    }
    if (shown > 0)
        layout_table_print(table, 2, out);
    if (hidden == 0)
        return;
    AUTO_STRBUF struct strbuf rest = STRBUF_INIT;
    strbuf_printf(&rest,
                  msg_plural((unsigned long)hidden, "%zu more is not shown; -v shows all",
                             "%zu more are not shown; -v shows all"),
                  hidden);
    layout_paragraph(out, style, strbuf_str(&rest));
}

/* What is started first, or with -v all of it, as one would type it. */
static void add_commands(const struct block_run_plan *plan, struct report_style style,
                         struct strbuf *out) {
    bool is_first = true;
    for (size_t i = 0; i < plan->count && (is_first || style.verbose); i++) {
        if (plan->items[i].of.left == 0)
            continue;
        if (is_first)
            layout_heading(out, style, style.verbose ? _("Commands") : _("First command"));
        AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
        layout_add_plain(&plain, plan->items[i].command, style.ascii);
        layout_paragraph(out, style, strbuf_str(&plain));
        is_first = false;
    }
}

static void add_lanes(const struct block_run_plan *plan, struct report_style style,
                      struct strbuf *out) {
    AUTO_STRBUF struct strbuf lanes = STRBUF_INIT;
    AUTO_STRBUF struct strbuf gpus = STRBUF_INIT;
    strbuf_printf(&lanes, "%zu", plan->lanes);
    for (size_t i = 0; plan->lane_gpus && i < plan->lanes; i++)
        strbuf_printf(&gpus, "%s%zu: %s", i > 0 ? "; " : "", i + 1, plan->lane_gpus[i]);
    layout_row(out, style, _("lanes"), strbuf_str(&lanes), LAYOUT_PLAIN,
               plan->lane_gpus ? strbuf_str(&gpus) : _("CUDA_VISIBLE_DEVICES stays as it is"));
}

static void add_count_row(struct strbuf *out, struct report_style style, const char *label,
                          bool known, uint64_t done, uint64_t planned) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text, "%llu/", (unsigned long long)done);
    study_words_add_count(&text, known, planned);
    layout_row(out, style, label, strbuf_str(&text), LAYOUT_PLAIN, NULL);
}

/* Of what failed nothing is started: that is not nothing left. */
static void add_left_out(const struct block_run_plan *plan, struct report_style style,
                         struct strbuf *out) {
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    AUTO_STRBUF struct strbuf value = STRBUF_INIT;
    uint64_t coming = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const struct remaining_item *item = &plan->items[i].of;
        if (item->condition)
            coming += item->left + item->running;
        if (item->is_failed)
            strbuf_add_next(&names, "; ", name_of(item));
    }
    if (names.length == 0)
        return;
    if (plan->block->has_planned && plan->planned > plan->valid + coming)
        strbuf_printf(&value, "%llu", (unsigned long long)(plan->planned - plan->valid - coming));
    else
        strbuf_add_str(&value, _("open"));
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    AUTO_STRBUF struct strbuf note = STRBUF_INIT;
    layout_add_plain(&plain, strbuf_str(&names), style.ascii);
    strbuf_printf(&note, _("not in it, for the reason below: %s"), strbuf_str(&plain));
    layout_row(out, style, _("runs left out"), strbuf_str(&value), LAYOUT_BAD, strbuf_str(&note));
}

void report_block_plan_text(const struct block_run_plan *plan, struct report_style style,
                            struct strbuf *out) {
    AUTO_STRBUF struct strbuf heading = STRBUF_INIT;
    strbuf_printf(&heading, _("Block %s"), plan->block->block->id);
    layout_heading(out, style, strbuf_str(&heading));
    add_count_row(out, style, _("valid runs"), plan->block->has_planned, plan->valid,
                  plan->planned);
    add_lanes(plan, style, out);
    layout_quantity(out, style, _("left, over the lanes"), &plan->left);
    add_left_out(plan, style, out);
    strbuf_add_char(out, '\n');
    add_items(plan, style, out);
    if (plan->stopped_count > 0)
        strbuf_add_char(out, '\n');
    for (size_t i = 0; i < plan->stopped_count; i++) {
        AUTO_STRBUF struct strbuf line = STRBUF_INIT;
        AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
        layout_add_plain(&plain, plan->stopped_by[i], style.ascii);
        strbuf_printf(&line, _("in the way: %s"), strbuf_str(&plain));
        layout_paragraph(out, style, strbuf_str(&line));
    }
    add_commands(plan, style, out);
    layout_legend(out, style);
}

/* ---- gates ---- */

bool report_gate_line(const struct study *study, const struct plan_block *block,
                      struct strbuf *out) {
    const struct gate *gate = gate_of(study->input->gates, study->input->gate_count, block->id);
    if (!gate)
        return false;
    strbuf_printf(out, "%s, ", gate_answer_name(gate->answer));
    run_text_add_date(out, gate->utc_ns);
    strbuf_printf(out, " UTC (%s), ", gate->who ? gate->who : "");
    strbuf_printf(out, "%llu/", (unsigned long long)gate->done);
    study_words_add_count(out, gate->has_planned, gate->planned);
    strbuf_printf(out, ": %s", gate->why ? gate->why : "");
    return true;
}

static void add_claims(const struct study *study, const struct plan_block *block,
                       struct report_style style, struct strbuf *out) {
    for (size_t i = 0; i < block->claims.count; i++) {
        const struct study_claim *claim = study_words_claim(study, block->claims.items[i].text);
        AUTO_STRBUF struct strbuf id = STRBUF_INIT;
        AUTO_STRBUF struct strbuf why = STRBUF_INIT;
        if (!claim)
            continue;
        layout_add_plain(&id, claim->claim->id, style.ascii);
        layout_add_plain(&why, claim->why, style.ascii);
        layout_row(out, style, strbuf_str(&id), study_words_verdict(claim->verdict), LAYOUT_PLAIN,
                   strbuf_str(&why));
    }
}

static void add_left(const struct estimate *estimate, struct report_style style,
                     struct strbuf *out) {
    struct study_figure figures[STUDY_FIGURES];
    layout_heading(out, style, _("Left of the whole plan"));
    study_words_figures(&estimate->total, figures);
    for (size_t i = 0; i < STUDY_FIGURES; i++) {
        struct quantity alone = study_words_alone(figures[i].quantity);
        layout_quantity(out, style, figures[i].label, &alone);
    }
    AUTO_STRBUF struct strbuf open = STRBUF_INIT;
    if (estimate->open_count > 0)
        strbuf_printf(&open,
                      msg_plural((unsigned long)estimate->open_count,
                                 "%zu part is open and not in these figures",
                                 "%zu parts are open and not in these figures"),
                      estimate->open_count);
    else
        strbuf_add_str(&open, _("no part is open"));
    if (estimate->assumed_count > 0)
        strbuf_printf(&open,
                      msg_plural((unsigned long)estimate->assumed_count,
                                 "; %zu assumption is in them", "; %zu assumptions are in them"),
                      estimate->assumed_count);
    strbuf_add_str(&open, _("; 'probelauf estimate' shows all of it"));
    layout_paragraph(out, style, strbuf_str(&open));
    layout_legend(out, style);
}

static void add_question(const struct study *study, const struct plan_block *block,
                         struct report_style style, struct strbuf *out) {
    AUTO_STRBUF struct strbuf answer = STRBUF_INIT;
    AUTO_STRBUF struct strbuf criteria = STRBUF_INIT;
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    layout_heading(out, style, _("Gate"));
    if (report_gate_line(study, block, &answer)) {
        AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
        layout_add_plain(&plain, strbuf_str(&answer), style.ascii);
        strbuf_printf(&line, _("the last answer: %s"), strbuf_str(&plain));
        layout_paragraph(out, style, strbuf_str(&line));
        strbuf_clear(&line);
    }
    layout_add_plain(&criteria, block->gate, style.ascii);
    if (block->gate)
        strbuf_printf(&line, _("one goes on if: %s"), strbuf_str(&criteria));
    else
        strbuf_add_str(&line, _("the plan names no criteria ('gate:' of the block); one goes on "
                                "only if the result is reproducible and the code stable"));
    layout_paragraph(out, style, strbuf_str(&line));
    strbuf_clear(&line);
    strbuf_printf(&line,
                  _("Go on, change the environment, or limit the reproduction? Answer with "
                    "'probelauf block gate %s go-on|change-environment|limit --why TEXT'"),
                  block->id);
    layout_paragraph(out, style, strbuf_str(&line));
}

void report_gate_text(const struct study *study, const struct study_block *block,
                      const struct estimate *estimate, struct report_style style,
                      struct strbuf *out) {
    AUTO_STRBUF struct strbuf heading = STRBUF_INIT;
    strbuf_printf(&heading, _("Block %s"), block->block->id);
    layout_heading(out, style, strbuf_str(&heading));
    add_count_row(out, style, _("done and verified"), block->has_planned, block->done,
                  block->planned);
    if (block->valid > block->done && (!block->has_planned || block->done < block->planned))
        layout_paragraph(
            out, style,
            _("results of valid runs were not checked: look at them and say 'probelauf "
              "annotate RUN --valid', or add 'expect' to the block, which checks the "
              "next ones"));
    add_count_row(out, style, _("valid runs"), block->has_planned, block->valid, block->planned);
    add_claims(study, block->block, style, out);
    if (estimate)
        add_left(estimate, style, out);
    add_question(study, block->block, style, out);
}

/* ---- for programs ---- */

static json_t *gate_json(const struct gate *gate) {
    json_t *json = json_object();
    json_put_text(json, "event", gate->id);
    json_put_text(json, "answer", gate_answer_name(gate->answer));
    run_json_put_utc(json, "utc", gate->utc_ns);
    json_put_text(json, "who", gate->who);
    json_put_text(json, "why", gate->why);
    json_put_text(json, "criteria", gate->criteria);
    json_put(json, "done", study_json_count(true, gate->done));
    json_put(json, "planned", study_json_count(gate->has_planned, gate->planned));
    return json;
}

json_t *report_gate_answer_json(const struct study *study, const struct plan_block *block) {
    const struct gate *gate = gate_of(study->input->gates, study->input->gate_count, block->id);
    return gate ? gate_json(gate) : json_null();
}

static json_t *figures_json(const struct estimate *estimate) {
    if (!estimate)
        return json_null();
    json_t *json = study_json_figures(&estimate->total);
    json_put_int(json, "open_count", (int64_t)estimate->open_count);
    json_put_int(json, "assumed_count", (int64_t)estimate->assumed_count);
    return json;
}

static void put_gate(json_t *json, const struct study *study, const struct study_block *block,
                     const struct estimate *estimate) {
    json_t *answers = json_array();
    json_put_text(json, "block", block->block->id);
    json_put_text(json, "criteria", block->block->gate);
    json_put(json, "done", study_json_count(true, block->done));
    json_put(json, "valid", study_json_count(true, block->valid));
    json_put(json, "planned", study_json_count(block->has_planned, block->planned));
    for (size_t i = 0; i < study->input->gate_count; i++)
        if (strcmp(study->input->gates[i].block, block->block->id) == 0)
            json_array_append_new(answers, gate_json(&study->input->gates[i]));
    json_put(json, "answers", answers);
    json_put(json, "left", figures_json(estimate));
}

json_t *report_gate_json(const struct study *study, const struct study_block *block,
                         const struct estimate *estimate) {
    json_t *json = json_object();
    json_put_text(json, "schema", "probelauf.gate/1");
    put_gate(json, study, block, estimate);
    return json;
}

static json_t *item_json(const struct block_run_item *item) {
    static const char *const parts[] = {"before", "run", "per-run", "after"};
    json_t *json = json_object();
    json_put_text(json, "part", parts[item->of.part]);
    json_put_text(json, "step", item->of.step ? item->of.step->name : NULL);
    json_put_text(json, "condition", item->of.condition ? item->of.condition->condition->id : NULL);
    json_put_text(json, "label", name_of(&item->of));
    json_put_int(json, "left", (int64_t)item->of.left);
    json_put_int(json, "running", (int64_t)item->of.running);
    json_put_bool(json, "failed", item->of.is_failed);
    run_json_put_quantity(json, "each", &item->of.each);
    json_put_text(json, "command", item->command);
    json_put_text(json, "note", item->of.note);
    return json;
}

static json_t *result_json(const struct block_run_result *result) {
    if (!result)
        return json_null();
    json_t *json = json_object();
    json_put_text(json, "why", block_run_why_name(result->why));
    json_put_int(json, "started", (int64_t)result->started);
    json_put_int(json, "failed_conditions", (int64_t)result->failed);
    json_put(json, "lines", study_json_texts(result->lines, result->line_count));
    return json;
}

json_t *report_block_run_json(const struct study *study, const struct block_run_plan *plan,
                              const struct block_run_result *result,
                              const struct estimate *estimate) {
    json_t *json = json_object();
    json_t *items = json_array(), *gate = json_object();
    json_put_text(json, "schema", "probelauf.block-run/1");
    json_put_text(json, "block", plan->block->block->id);
    json_put(json, "planned", study_json_count(plan->block->has_planned, plan->planned));
    json_put(json, "valid", study_json_count(true, plan->valid));
    json_put_int(json, "lanes", (int64_t)plan->lanes);
    json_put(json, "gpus",
             plan->lane_gpus ? study_json_texts(plan->lane_gpus, plan->lanes) : json_null());
    json_put_int(json, "retry_max", (int64_t)plan->retry);
    run_json_put_quantity(json, "left", &plan->left);
    for (size_t i = 0; i < plan->count; i++)
        json_array_append_new(items, item_json(&plan->items[i]));
    json_put(json, "items", items);
    json_put(json, "stopped_by", study_json_texts(plan->stopped_by, plan->stopped_count));
    json_put(json, "result", result_json(result));
    put_gate(gate, study, plan->block, estimate);
    json_put(json, "gate", gate);
    return json;
}
