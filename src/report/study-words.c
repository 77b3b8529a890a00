/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words and small figures of a study (study-words.h). Names for machines come from the enums'
 * own files; here stands only what people read.
 */
#include "report/study-words.h"

#include "base/msg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *study_words_component(enum component component) {
    switch (component) {
    case COMPONENT_PREPARE:
        return _("preparation");
    case COMPONENT_DATA:
        return _("data");
    case COMPONENT_TRANSFER:
        return _("transfer");
    case COMPONENT_RUNS:
        return _("runs");
    case COMPONENT_RETRIES:
        return _("retries");
    case COMPONENT_FIXING:
        return _("fixing");
    case COMPONENT_CHECKING:
        return _("checking");
    case COMPONENT_TEARDOWN:
        return _("clean-up");
    case COMPONENT_IDLE:
        return _("idle");
    case COMPONENT_COUNT_:
        break;
    }
    return "";
}

const char *study_words_state(enum study_state state) {
    switch (state) {
    case STUDY_PLANNED:
        return _("planned");
    case STUDY_TRIED:
        return _("tried");
    case STUDY_UNDERWAY:
        return _("underway");
    case STUDY_DONE:
        return _("done");
    case STUDY_STATE_COUNT_:
        break;
    }
    return "";
}

const char *study_words_level(enum evidence_level level) {
    switch (level) {
    case EVIDENCE_NONE:
        return _("none");
    case EVIDENCE_FUNCTION_TEST:
        return _("function test");
    case EVIDENCE_MEASURED:
        return _("measured");
    case EVIDENCE_LEVEL_COUNT_:
        break;
    }
    return "";
}

const char *study_words_verdict(enum study_verdict verdict) {
    switch (verdict) {
    case STUDY_OPEN:
        return _("open");
    case STUDY_REPRODUCED:
        return _("reproduced");
    case STUDY_NOT_REPRODUCED:
        return _("not reproduced");
    case STUDY_VERDICT_COUNT_:
        break;
    }
    return "";
}

const char *study_words_included(enum plan_answer answer) {
    switch (answer) {
    case PLAN_YES:
        return _("included");
    case PLAN_NO:
        return _("left out");
    case PLAN_UNSAID:
        break;
    }
    return _("open");
}

const char *study_words_fact(enum plan_fact_state state) {
    switch (state) {
    case PLAN_FACT_OPEN:
        return _("open");
    case PLAN_FACT_KNOWN:
        return _("known");
    case PLAN_FACT_NOT_APPLICABLE:
        return _("not applicable");
    }
    return "";
}

const char *study_words_backing(enum plan_backing backing) {
    switch (backing) {
    case PLAN_UNDETERMINED:
        return _("undetermined");
    case PLAN_CHOSEN:
        return _("chosen by the team");
    case PLAN_CONFIRMED:
        return _("confirmed by the protocol");
    }
    return "";
}

const char *study_words_environment(enum plan_environment_kind kind) {
    switch (kind) {
    case PLAN_ENVIRONMENT_UNSAID:
        return _("not said");
    case PLAN_RENTED:
        return _("rented");
    case PLAN_OWN:
        return _("own machine");
    case PLAN_INSTITUTE:
        return _("machine of the institute");
    case PLAN_MACOS:
        return "macOS";
    }
    return "";
}

void study_words_add_item(struct strbuf *out, const char *name) {
    const char step[] = "step ";
    if (strcmp(name, "sessions") == 0)
        strbuf_add_str(out, _("sessions"));
    else if (strncmp(name, step, strlen(step)) == 0)
        strbuf_printf(out, _("step %s"), name + strlen(step));
    else
        strbuf_add_str(out, name);
}

const char *study_words_subtotal(const char *name) {
    static const struct {
        const char *name, *words;
    } known[] = {
        {"validation", N_("validation")}, {"full", N_("full")},         {"one-off", N_("one-off")},
        {"recurring", N_("recurring")},   {"not said", N_("not said")},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (name && strcmp(name, known[i].name) == 0)
            return msg_get(known[i].words);
    return name ? name : "";
}

enum layout_color study_words_state_color(enum study_state state) {
    switch (state) {
    case STUDY_PLANNED:
    case STUDY_UNDERWAY:
    case STUDY_STATE_COUNT_:
        return LAYOUT_PLAIN;
    case STUDY_TRIED:
        return LAYOUT_WARN;
    case STUDY_DONE:
        return LAYOUT_GOOD;
    }
    return LAYOUT_PLAIN;
}

enum layout_color study_words_level_color(enum evidence_level level) {
    switch (level) {
    case EVIDENCE_NONE:
        return LAYOUT_BAD;
    case EVIDENCE_FUNCTION_TEST:
        return LAYOUT_WARN;
    case EVIDENCE_MEASURED:
        return LAYOUT_GOOD;
    case EVIDENCE_LEVEL_COUNT_:
        break;
    }
    return LAYOUT_PLAIN;
}

void study_words_add_nature(struct strbuf *out, const struct plan_block *block) {
    const char *const words[] = {plan_kind_name(block->kind), plan_extent_name(block->extent),
                                 plan_recurrence_name(block->recurrence)};
    size_t begin = out->length;
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (words[i] && *words[i])
            strbuf_printf(out, "%s%s", out->length > begin ? ", " : "", words[i]);
}

void study_words_add_count(struct strbuf *out, bool known, uint64_t count) {
    if (known)
        strbuf_printf(out, "%llu", (unsigned long long)count);
    else
        strbuf_add_str(out, _("open"));
}

void study_words_add_pairs(struct strbuf *out, const struct plan_pairs *pairs) {
    for (size_t i = 0; pairs && i < pairs->count; i++)
        strbuf_printf(out, "%s%s=%s", i > 0 ? ", " : "", pairs->items[i].name,
                      pairs->items[i].value);
}

void study_words_add_threshold(struct strbuf *out, const struct plan_threshold *threshold) {
    static const char *const signs[] = {
        [PLAN_LESS] = "<", [PLAN_AT_MOST] = "<=", [PLAN_AT_LEAST] = ">=", [PLAN_GREATER] = ">"};
    char value[MSG_DECIMAL_SIZE];
    strbuf_printf(out, "%s %s", signs[threshold->relation],
                  msg_decimal(value, "%.15g", threshold->value));
}

const struct study_claim *study_words_claim(const struct study *study, const char *id) {
    for (size_t i = 0; i < study->claim_count; i++)
        if (strcmp(study->claims[i].claim->id, id) == 0)
            return &study->claims[i];
    return NULL;
}

const struct plan_assumption *study_words_assumption(const struct plan *plan,
                                                     const struct estimate_setting *setting) {
    for (size_t i = 0; i < plan->assumption_count && !setting->is_set; i++) {
        const struct plan_assumption *assumption = &plan->assumptions[i];
        AUTO_FREE char *source = mem_printf("%s:%u", plan->name, assumption->at.line);
        if (setting->source && strcmp(setting->source, source) == 0 &&
            strcmp(setting->key, assumption->key) == 0)
            return assumption;
    }
    return NULL;
}

void study_words_add_setting(struct strbuf *out, const struct plan *plan,
                             const struct estimate_setting *setting) {
    const struct plan_assumption *assumption = study_words_assumption(plan, setting);
    char when[MSG_DATE_SIZE];
    strbuf_printf(out, "%s = [a] %s", setting->key, setting->value);
    if (setting->who)
        strbuf_printf(out, _(", by %s"), setting->who);
    if (assumption && assumption->when.given)
        strbuf_printf(out, ", %s", msg_date(when, assumption->when.text));
    if (setting->why)
        strbuf_printf(out, ": %s", setting->why);
    if (setting->source)
        strbuf_printf(out, " (%s)", setting->source);
}

void study_words_add_no_effect(struct strbuf *out, const struct estimate_setting *setting) {
    AUTO_FREE char *value = mem_printf("[a] %s", setting->value);
    strbuf_printf(out, _("%s = %s has no effect: %s (%s)"), setting->key, value,
                  setting->no_effect ? setting->no_effect : "?",
                  setting->source ? setting->source : "?");
}

bool study_words_is_assumed(const struct plan_task *task) {
    return task->time.given && task->done != PLAN_YES;
}

void study_words_add_task(struct strbuf *out, const struct plan *plan,
                          const struct plan_task *task) {
    char when[MSG_DATE_SIZE];
    strbuf_printf(out, _("task %s = "), task->id ? task->id : "?");
    strbuf_add_str(out, "[a] ");
    quantity_format_value((double)task->time.ns / 1e9, UNIT_SECOND, out);
    if (task->who)
        strbuf_printf(out, _(", by %s"), task->who);
    if (task->when.given && task->when.text)
        strbuf_printf(out, ", %s", msg_date(when, task->when.text));
    if (task->why)
        strbuf_printf(out, ": %s", task->why);
    strbuf_printf(out, " (%s:%u)", plan->name,
                  task->time.at.line > 0 ? task->time.at.line : task->at.line);
}

static bool is_partial(const struct estimate_figures *figures) {
    struct study_figure all[STUDY_FIGURES];
    study_words_figures(figures, all);
    for (size_t i = 0; i < STUDY_FIGURES; i++)
        if (quantity_is_known(all[i].quantity) && all[i].quantity->has_interval &&
            all[i].quantity->bound == QUANTITY_AT_LEAST)
            return true;
    return false;
}

bool study_words_has_partial_interval(const struct estimate *estimate) {
    bool has = is_partial(&estimate->total);
    for (size_t i = 0; i < estimate->block_count; i++) {
        const struct estimate_block *block = &estimate->blocks[i];
        has = has || is_partial(&block->figures);
        for (int c = 0; c < COMPONENT_COUNT_; c++)
            has = has || (block->components[c].time.has_interval &&
                          block->components[c].time.bound == QUANTITY_AT_LEAST);
    }
    return has;
}

bool study_words_is_of_several(const struct study *study) {
    bool somewhere = quantity_is_known(&study->spent) && !study_words_is_nothing(&study->spent);
    for (size_t i = 0; somewhere && i < study->run_count; i++)
        if (study->runs[i].environment != study->input->environment)
            return true;
    return false;
}

void study_words_add_rests(struct strbuf *out, const struct quantity *q) {
    size_t begin = out->length;
    bool is_borrowed = q->basis && strcmp(q->basis, "borrowed-spread") == 0;
    bool of_sessions = q->basis && strcmp(q->basis, ESTIMATE_BASIS_SESSIONS) == 0;
    if (quantity_is_known(q) && q->n > 0)
        strbuf_printf(
            out,
            of_sessions ? msg_plural((unsigned long)q->n, "from %llu session", "from %llu sessions")
                        : msg_plural((unsigned long)q->n, "from %llu run", "from %llu runs"),
            (unsigned long long)q->n);
    if (is_borrowed)
        strbuf_printf(out, "%s%s", out->length > begin ? ", " : "", _("spread borrowed"));
    if (!q->basis && q->method && strcmp(q->method, ESTIMATE_METHOD) != 0) {
        strbuf_add_str(out, out->length > begin ? ", " : "");
        quantity_add_method(out, q->method);
    }
}

bool study_words_is_nothing(const struct quantity *q) {
    return q->state == QUANTITY_MEASURED && !(q->value > 0) && q->n == 0;
}

struct quantity study_words_alone(const struct quantity *q) {
    struct quantity alone = *q;
    alone.parts = NULL;
    alone.part_count = 0;
    return alone;
}

#define FEWEST_HOURS 0.01

struct quantity study_words_hours(const struct quantity *seconds, bool of_gpus) {
    struct quantity hours = study_words_alone(seconds);
    hours.has_interval = false; /* it stands with the seconds */
    hours.unit = of_gpus ? "GPU-hours" : "wall hours";
    hours.value /= 3600;
    if (!quantity_is_known(seconds) || hours.value >= FEWEST_HOURS) {
        hours.value = round(hours.value * 100) / 100;
        return hours;
    }
    hours.value = seconds->value;
    hours.unit = seconds->unit;
    return hours;
}

void study_words_figures(const struct estimate_figures *figures,
                         struct study_figure ret_figures[STUDY_FIGURES]) {
    const struct study_figure all[STUDY_FIGURES] = {
        {"computing", _("computing"), UNIT_SECOND, &figures->computing},
        {"reserved", _("reserved (paid)"), UNIT_SECOND, &figures->reserved},
        {"calendar", _("calendar"), UNIT_SECOND, &figures->calendar},
        {"effort", _("effort"), UNIT_SECOND, &figures->effort},
        {"gpu", _("GPU time"), UNIT_SECOND, &figures->gpu},
    };
    memcpy(ret_figures, all, sizeof(all));
}
