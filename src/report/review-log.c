/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The experiment log (F5): one line (CSV) or section (Markdown) for each attempt, with all that
 * somebody needs who repeats it. The same table drives both. Every figure has its state beside it;
 * CSV knows no language and no locale.
 */
#include "report/review.h"

#include "base/msg.h"
#include "base/uuid.h"
#include "report/csv-cells.h"
#include "report/document-parts.h"
#include "report/facts.h"
#include "report/markdown.h"
#include "report/run-text.h"
#include "report/session.h"
#include "report/words.h"

#include <string.h>

struct entry {
    const struct review *review;
    const struct review_attempt *attempt;
    const struct run *run;
    struct arena *arena;
};

/* ---- texts ---- */

static const char *from(const json_t *object, const char *key) {
    return json_get_text(object, key, NULL);
}

static const char *text_run(const struct entry *e) {
    return e->run->id;
}
static const char *text_block(const struct entry *e) {
    return e->attempt->block ? e->attempt->block->id : NULL;
}
static const char *text_condition(const struct entry *e) {
    return e->attempt->run->condition ? e->attempt->run->condition->label : NULL;
}
static const char *text_step(const struct entry *e) {
    return from(e->run->start, "step");
}
static const char *text_paper(const struct entry *e) {
    return from(e->run->start, "paper_version");
}
static const char *text_purpose(const struct entry *e) {
    return from(e->run->start, "purpose");
}
static const char *text_attempt(const struct entry *e) {
    return arena_printf(e->arena, "%lld", (long long)json_get_int(e->run->start, "attempt", 1));
}
static const char *text_status(const struct entry *e) {
    return outcome_name(e->run->outcome);
}
static const char *text_validity(const struct entry *e) {
    return facts_validity_name(e->run->validity);
}
static const char *text_verified(const struct entry *e) {
    return e->run->verified;
}
static const char *text_evidence(const struct entry *e) {
    return evidence_level_name(e->attempt->run->evidence.level);
}
static const char *text_not_evidence(const struct entry *e) {
    const struct study_run *seen = e->attempt->run;
    return seen->unplanned_why ? seen->unplanned_why : seen->evidence.why;
}

static const json_t *code(const struct entry *e) {
    return json_get_object(e->run->environment, "code");
}
static const char *text_repo(const struct entry *e) {
    return from(code(e), "repo");
}
static const char *text_commit(const struct entry *e) {
    return from(code(e), "commit");
}
static const char *text_dirty(const struct entry *e) {
    int dirty = json_get_bool(code(e), "dirty", -1);
    return dirty < 0 ? NULL : dirty ? "yes" : "no";
}
static const char *text_digest(const struct entry *e) {
    return from(code(e), "digest");
}

static const char *text_command(const struct entry *e) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    facts_command_line(e->run, &text);
    return arena_strdup(e->arena, strbuf_str(&text));
}

static const char *text_parameters(const struct entry *e) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_t *object = json_get_object(e->run->start, "parameters");
    const char *name;
    json_t *value;
    if (!object)
        object = json_get_object(e->run->start, "condition");
    json_object_foreach (object, name, value)
        if (json_is_string(value))
            strbuf_printf(&text, "%s%s=%s", text.length > 0 ? " " : "", name,
                          json_string_value(value));
    return arena_strdup(e->arena, strbuf_str(&text));
}

static const char *text_changes(const struct entry *e) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    document_add_changes(&text, e->run);
    return arena_strdup(e->arena, strbuf_str(&text));
}

static const char *text_environment(const struct entry *e) {
    return e->attempt->run->environment ? e->attempt->run->environment->id : NULL;
}
static const char *text_host(const struct entry *e) {
    return from(e->run->start, "host");
}
static const char *text_cpu_model(const struct entry *e) {
    return from(json_get_object(e->run->environment, "machine"), "cpu_model");
}
static const char *text_gpus(const struct entry *e) {
    return facts_gpus(e->run, e->arena);
}
static const char *text_driver(const struct entry *e) {
    return facts_gpu_driver(e->run);
}
static const char *text_fingerprint(const struct entry *e) {
    return from(e->run->environment, "fingerprint");
}

static const char *text_cause(const struct entry *e) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (!document_is_failure(e->run))
        return NULL;
    document_add_cause(&text, e->run);
    return arena_strdup(e->arena, strbuf_str(&text));
}
static const char *text_disposition(const struct entry *e) {
    return e->run->disposition;
}
static const char *text_shape(const struct entry *e) {
    return e->run->work_shape;
}
static const char *text_waited_for(const struct entry *e) {
    return quantity_is_known(&e->attempt->waited) ? session_reason_name(e->attempt->waited_for)
                                                  : NULL;
}
static const char *text_cache(const struct entry *e) {
    return facts_weights_name(e->run->cache.weights);
}

/* For later blocks, from the review of its block; only of runs that were reviewed. */
static const char *text_consequence(const struct entry *e) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < e->review->block_count; i++) {
        const struct review_block *block = &e->review->blocks[i];
        if (block->block->block != e->attempt->block || !block->kept ||
            e->run->started_utc_ns < block->kept_utc_ns)
            continue;
        for (size_t k = 0; k < block->repeat_count; k++)
            if (block->repeats[k].run->run == e->run)
                strbuf_printf(&text, _("to be made again: %s; "), block->repeats[k].why);
        for (size_t k = 0; k < block->next_count; k++)
            if (block->next[k].changed)
                strbuf_printf(&text, "%s; ", report_review_next(&block->next[k], e->arena));
    }
    if (text.length < 2)
        return NULL;
    char *all = arena_strdup(e->arena, strbuf_str(&text));
    all[strlen(all) - 2] = '\0';
    return all;
}

/* ---- figures ---- */

static struct quantity files_bytes(const struct entry *e, bool inputs) {
    struct facts_file *files = NULL;
    size_t count =
        inputs ? facts_inputs(e->run, e->arena, &files) : facts_outputs(e->run, e->arena, &files);
    struct quantity_part *parts = arena_alloc(e->arena, (count + 1) * sizeof *parts);
    for (size_t i = 0; i < count; i++)
        parts[i] = (struct quantity_part){files[i].path, files[i].bytes};
    if (count == 0)
        return quantity_open(UNIT_BYTE, QUANTITY_NOT_ENTERED, NULL);
    struct quantity sum = quantity_sum(e->arena, UNIT_BYTE, parts, count);
    sum.parts = NULL;
    sum.part_count = 0;
    return sum;
}

static struct quantity figure_inputs(const struct entry *e) {
    return files_bytes(e, true);
}
static struct quantity figure_outputs(const struct entry *e) {
    return files_bytes(e, false);
}
static struct quantity figure_wall(const struct entry *e) {
    return e->run->wall;
}
static struct quantity figure_complete(const struct entry *e) {
    return e->run->result_complete;
}
static struct quantity figure_rss(const struct entry *e) {
    return e->run->largest_process_rss;
}
static struct quantity figure_cpu(const struct entry *e) {
    return e->run->cpu;
}
static struct quantity figure_memory_limit(const struct entry *e) {
    return facts_machine_figure(e->run, FACTS_LIMITS, "memory");
}
static struct quantity figure_memory_total(const struct entry *e) {
    return facts_machine_figure(e->run, FACTS_TOTALS, "memory");
}
static struct quantity figure_cpu_limit(const struct entry *e) {
    return facts_machine_figure(e->run, FACTS_LIMITS, "cpu");
}

/* The largest over the run's own devices. */
static struct quantity largest(const struct entry *e,
                               struct quantity (*get)(const struct run_gpu *gpu)) {
    struct quantity most = quantity_open(UNIT_BYTE, QUANTITY_NOT_SUPPORTED, NULL);
    for (size_t i = 0; i < e->run->gpu_count; i++) {
        struct quantity q = get(&e->run->gpus[i]);
        if (!run_gpu_counts(e->run, &e->run->gpus[i]))
            continue;
        if (!quantity_is_known(&most) || (quantity_is_known(&q) && q.value > most.value))
            most = q;
    }
    return most;
}
static struct quantity get_process(const struct run_gpu *gpu) {
    return gpu->process_used;
}
static struct quantity get_device(const struct run_gpu *gpu) {
    return gpu->device_used;
}
static struct quantity get_allocated(const struct run_gpu *gpu) {
    return gpu->allocated;
}
static struct quantity get_reserved(const struct run_gpu *gpu) {
    return gpu->reserved;
}
static struct quantity get_total(const struct run_gpu *gpu) {
    return gpu->total;
}
static struct quantity figure_process(const struct entry *e) {
    return largest(e, get_process);
}
static struct quantity figure_device(const struct entry *e) {
    return largest(e, get_device);
}
static struct quantity figure_allocated(const struct entry *e) {
    return largest(e, get_allocated);
}
static struct quantity figure_reserved(const struct entry *e) {
    return largest(e, get_reserved);
}
static struct quantity figure_gpu_total(const struct entry *e) {
    return largest(e, get_total);
}

static struct quantity figure_items(const struct entry *e) {
    return e->run->work_items;
}
static struct quantity figure_length(const struct entry *e) {
    return e->run->work_length;
}
static struct quantity figure_batch(const struct entry *e) {
    return e->run->work_batch;
}
static struct quantity figure_waited(const struct entry *e) {
    return e->attempt->waited;
}
static struct quantity figure_success(const struct entry *e) {
    return e->attempt->first_success;
}
static struct quantity figure_planned(const struct entry *e) {
    struct quantity q = e->attempt->planned;
    q.has_interval = false;
    return q;
}
static struct quantity figure_deviation(const struct entry *e) {
    return e->attempt->deviation;
}

/* ---- the table ---- */

struct column { /* text or figure; else a phase */
    const char *name, *label;
    const char *(*text)(const struct entry *e);
    struct quantity (*figure)(const struct entry *e);
    enum phase phase;
    bool is_word; /* a closed word, which people read in their language */
};

static const struct column columns[] = {
    {.name = "run", .label = N_("run"), .text = text_run},
    {.name = "block", .label = N_("block"), .text = text_block},
    {.name = "condition", .label = N_("condition"), .text = text_condition},
    {.name = "step", .label = N_("step"), .text = text_step},
    {.name = "paper_version", .label = N_("paper version"), .text = text_paper},
    {.name = "repository", .label = N_("repository"), .text = text_repo},
    {.name = "commit", .label = N_("commit"), .text = text_commit},
    {.name = "uncommitted_changes",
     .label = N_("uncommitted changes"),
     .text = text_dirty,
     .is_word = true},
    {.name = "code_digest", .label = N_("code digest"), .text = text_digest},
    {.name = "command", .label = N_("command"), .text = text_command},
    {.name = "parameters", .label = N_("parameters"), .text = text_parameters},
    {.name = "changes", .label = N_("changed before"), .text = text_changes},
    {.name = "purpose", .label = N_("purpose"), .text = text_purpose, .is_word = true},
    {.name = "attempt", .label = N_("attempt"), .text = text_attempt},
    {.name = "status", .label = N_("status"), .text = text_status, .is_word = true},
    {.name = "validity", .label = N_("validity"), .text = text_validity, .is_word = true},
    {.name = "verified", .label = N_("result checked"), .text = text_verified, .is_word = true},
    {.name = "evidence", .label = N_("evidence"), .text = text_evidence, .is_word = true},
    {.name = "not_evidence_because", .label = N_("does not count"), .text = text_not_evidence},
    {.name = "environment", .label = N_("environment"), .text = text_environment},
    {.name = "host", .label = N_("host"), .text = text_host},
    {.name = "cpu_model", .label = N_("processor"), .text = text_cpu_model},
    {.name = "cpu_limit", .label = N_("CPU limit"), .figure = figure_cpu_limit},
    {.name = "memory_limit_bytes", .label = N_("memory limit"), .figure = figure_memory_limit},
    {.name = "memory_total_bytes", .label = N_("machine has"), .figure = figure_memory_total},
    {.name = "gpus", .label = N_("GPUs"), .text = text_gpus},
    {.name = "gpu_total_bytes", .label = N_("GPU memory"), .figure = figure_gpu_total},
    {.name = "gpu_driver", .label = N_("GPU driver"), .text = text_driver},
    {.name = "environment_digest", .label = N_("environment digest"), .text = text_fingerprint},
    {.name = "wall_s", .label = N_("wall time"), .figure = figure_wall},
    {.name = "result_complete_s", .label = N_("result complete"), .figure = figure_complete},
    {.name = "setup_s", .label = N_("set-up"), .phase = PHASE_SETUP},
    {.name = "transfer_s", .label = N_("transfer"), .phase = PHASE_TRANSFER},
    {.name = "data_s", .label = N_("data"), .phase = PHASE_DATA},
    {.name = "load_s", .label = N_("loading"), .phase = PHASE_LOAD},
    {.name = "preprocess_s", .label = N_("preprocessing"), .phase = PHASE_PREPROCESS},
    {.name = "compute_s", .label = N_("computing"), .phase = PHASE_COMPUTE},
    {.name = "write_s", .label = N_("writing"), .phase = PHASE_WRITE},
    {.name = "evaluate_s", .label = N_("evaluation"), .phase = PHASE_EVALUATE},
    {.name = "fix_s", .label = N_("fixing"), .phase = PHASE_FIX},
    {.name = "teardown_s", .label = N_("clean-up"), .phase = PHASE_TEARDOWN},
    {.name = "unattributed_s", .label = N_("no phase known"), .phase = PHASE_UNATTRIBUTED},
    {.name = "cpu_core_s", .label = N_("CPU time"), .figure = figure_cpu},
    {.name = "weights_from",
     .label = N_("weights in memory before"),
     .text = text_cache,
     .is_word = true},
    {.name = "peak_largest_process_bytes",
     .label = N_("peak, largest process"),
     .figure = figure_rss},
    {.name = "peak_gpu_process_bytes",
     .label = N_("GPU peak, its processes"),
     .figure = figure_process},
    {.name = "peak_gpu_device_bytes",
     .label = N_("GPU peak, whole device"),
     .figure = figure_device},
    {.name = "peak_gpu_allocated_bytes",
     .label = N_("GPU peak, allocated"),
     .figure = figure_allocated},
    {.name = "peak_gpu_reserved_bytes",
     .label = N_("GPU peak, reserved"),
     .figure = figure_reserved},
    {.name = "input_bytes", .label = N_("inputs"), .figure = figure_inputs},
    {.name = "output_bytes", .label = N_("outputs"), .figure = figure_outputs},
    {.name = "items", .label = N_("items"), .figure = figure_items},
    {.name = "length", .label = N_("length"), .figure = figure_length},
    {.name = "batch", .label = N_("batch"), .figure = figure_batch},
    {.name = "shape", .label = N_("output shape"), .text = text_shape},
    {.name = "failure", .label = N_("failed because"), .text = text_cause},
    {.name = "disposition",
     .label = N_("what was done about it"),
     .text = text_disposition,
     .is_word = true},
    {.name = "waited_before_s", .label = N_("waited before it"), .figure = figure_waited},
    {.name = "waited_for", .label = N_("waited for"), .text = text_waited_for},
    {.name = "first_success_s", .label = N_("time to first success"), .figure = figure_success},
    {.name = "planned_s", .label = N_("planned"), .figure = figure_planned},
    {.name = "deviation_s", .label = N_("deviation"), .figure = figure_deviation},
    {.name = "consequence", .label = N_("consequence"), .text = text_consequence},
};

static struct quantity figure_of(const struct column *column, const struct entry *e) {
    return column->figure ? column->figure(e) : e->run->phase[column->phase];
}

/* ---- CSV ---- */

/* "measured", "measured at-least", "open not-separated". */
static void state_cell(struct strbuf *out, const struct quantity *q) {
    const char *more = NULL;
    if (!quantity_is_known(q))
        more = quantity_reason_name(q->reason == QUANTITY_NO_REASON ? QUANTITY_NOT_SAMPLED
                                                                    : q->reason);
    else if (q->bound != QUANTITY_EXACT)
        more = quantity_bound_name(q->bound);
    AUTO_FREE char *text =
        mem_printf("%s%s%s", quantity_state_name(q->state), more ? " " : "", more ? more : "");
    csv_add_text(out, text);
}

void report_review_log_csv(const struct review *review, struct strbuf *out) {
    csv_add_text(out, "started_utc");
    for (size_t c = 0; c < ARRAY_LENGTH(columns); c++) {
        AUTO_FREE char *state = mem_printf("%s_state", columns[c].name);
        csv_add_text(out, columns[c].name);
        if (!columns[c].text)
            csv_add_text(out, state);
    }
    csv_end_line(out);
    for (size_t i = 0; i < review->attempt_count; i++) {
        AUTO_ARENA struct arena *arena = arena_new();
        const struct review_attempt *attempt = &review->attempts[i];
        const struct entry e = {review, attempt, attempt->run->run, arena};
        csv_add_utc(out, e.run->started_utc_ns);
        for (size_t c = 0; c < ARRAY_LENGTH(columns); c++) {
            if (columns[c].text) {
                csv_add_text(out, columns[c].text(&e));
                continue;
            }
            struct quantity q = figure_of(&columns[c], &e);
            csv_add_number(out, quantity_is_known(&q), q.value);
            state_cell(out, &q);
        }
        csv_end_line(out);
    }
}

/* ---- Markdown ---- */

/* Without what is open because it does not apply or was never asked for: a reader would look for
 * what is not there. Everything else that is open is said. */
static bool is_worth_a_line(const struct quantity *q) {
    return quantity_is_known(q) ||
           (q->reason != QUANTITY_NOT_APPLICABLE && q->reason != QUANTITY_NOT_ENTERED &&
            q->reason != QUANTITY_NOT_SUPPORTED);
}

static void section(const struct entry *e, struct strbuf *out) {
    AUTO_STRBUF struct strbuf title = STRBUF_INIT;
    run_text_add_date(&title, e->run->started_utc_ns);
    strbuf_printf(&title, " UTC, %s", uuid_tail(e->run->id));
    markdown_heading(out, 2, strbuf_str(&title));
    for (size_t c = 0; c < ARRAY_LENGTH(columns); c++) {
        const char *label = msg_get(columns[c].label);
        if (columns[c].text) {
            const char *text = columns[c].text(e);
            if (columns[c].text == text_waited_for && text)
                text = report_session_reason(e->attempt->waited_for);
            else if (columns[c].is_word && text)
                text = words_shown(text);
            markdown_item(out, label, text && *text ? text : NULL);
            continue;
        }
        struct quantity q = figure_of(&columns[c], e);
        if (!is_worth_a_line(&q))
            continue;
        strbuf_add_str(out, "- **");
        markdown_add(out, label);
        strbuf_add_str(out, ":** ");
        markdown_add_quantity(out, &q, false);
        strbuf_add_char(out, '\n');
    }
}

void report_review_log_markdown(const struct review *review, struct strbuf *ret_out) {
    AUTO_STRBUF struct strbuf raw = STRBUF_INIT;
    const struct plan *plan = review->study->input->plan;
    strbuf_add_str(&raw, "# ");
    markdown_add(&raw, _("Experiment log"));
    if (plan->study.title) {
        strbuf_add_str(&raw, ": ");
        markdown_add(&raw, plan->study.title);
    }
    strbuf_add_str(&raw, "\n\n");
    markdown_paragraph(&raw,
                       _("Each attempt, oldest first. Every figure carries the mark of how it is "
                         "known: [m] measured, [e] estimated, [a] assumed, [?] open."));
    if (review->attempt_count == 0)
        markdown_paragraph(&raw, _("No attempt was recorded."));
    for (size_t i = 0; i < review->attempt_count; i++) {
        AUTO_ARENA struct arena *arena = arena_new();
        const struct review_attempt *attempt = &review->attempts[i];
        section(&(struct entry){review, attempt, attempt->run->run, arena}, &raw);
    }
    markdown_finish(&raw, ret_out);
}
