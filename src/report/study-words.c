/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words and small figures of a study (study-words.h). Names for machines come from the enums'
 * own files; here stands only what people read.
 */
#include "report/study-words.h"

#include "base/msg.h"

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
        return _("under way");
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

enum layout_color study_words_verdict_color(enum study_verdict verdict) {
    switch (verdict) {
    case STUDY_OPEN:
        return LAYOUT_WARN;
    case STUDY_REPRODUCED:
        return LAYOUT_GOOD;
    case STUDY_NOT_REPRODUCED:
        return LAYOUT_BAD;
    case STUDY_VERDICT_COUNT_:
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
    strbuf_printf(out, "%s %.15g", signs[threshold->relation], threshold->value);
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
    strbuf_printf(out, "%s = %s", setting->key, setting->value);
    if (setting->who)
        strbuf_printf(out, _(", by %s"), setting->who);
    if (assumption && assumption->when.given)
        strbuf_printf(out, ", %s", assumption->when.text);
    if (setting->why)
        strbuf_printf(out, ": %s", setting->why);
    if (setting->source)
        strbuf_printf(out, " (%s)", setting->source);
}

const char *study_words_basis(const char *basis) {
    static const struct {
        const char *name, *words;
    } known[] = {
        {"own-runs", N_("own runs")},
        {"borrowed-spread", N_("spread borrowed from other conditions")},
        {"assumed-class", N_("spread assumed")},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(known); i++)
        if (basis && strcmp(basis, known[i].name) == 0)
            return msg_get(known[i].words);
    return basis;
}

const char *study_words_detail(const struct quantity *q) {
    /* of every sum; the table of blocks and the method say it once */
    const char *of_sums = _("medians of parts do not add up to the median of the total");
    return q->detail && strcmp(q->detail, of_sums) != 0 ? q->detail : NULL;
}

struct quantity study_words_alone(const struct quantity *q) {
    struct quantity alone = *q;
    alone.parts = NULL;
    alone.part_count = 0;
    return alone;
}

struct quantity study_words_hours(const struct quantity *seconds, bool of_gpus) {
    struct quantity hours = study_words_alone(seconds);
    hours.unit = of_gpus ? "GPU-hours" : "wall hours";
    hours.value /= 3600;
    hours.has_interval = false; /* it stands with the seconds */
    return hours;
}

void study_words_figures(const struct estimate_figures *figures,
                         struct study_figure ret_figures[STUDY_FIGURES]) {
    const struct study_figure all[STUDY_FIGURES] = {
        {"computing", _("computing"), UNIT_SECOND, &figures->computing},
        {"reserved", _("reserved (paid)"), UNIT_SECOND, &figures->reserved},
        {"calendar", _("calendar"), UNIT_SECOND, &figures->calendar},
        {"effort", _("effort"), UNIT_SECOND, &figures->effort},
        {"gpu", _("GPU-hours"), UNIT_SECOND, &figures->gpu},
    };
    memcpy(ret_figures, all, sizeof(all));
}

static bool is_in(const struct estimate_block *block, const char *text) {
    for (size_t i = 0; i < block->open_count; i++)
        if (strcmp(block->open[i], text) == 0)
            return true;
    return false;
}

static bool was_said(const struct estimate *estimate, size_t before, const char *text) {
    for (size_t i = 0; i < before; i++)
        if (is_in(&estimate->blocks[i], text))
            return true;
    return false;
}

static const char *blocks_of(const struct estimate *estimate, size_t first, const char *text,
                             struct arena *arena) {
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    size_t count = 0;
    for (size_t i = first; i < estimate->block_count; i++)
        if (is_in(&estimate->blocks[i], text))
            strbuf_printf(&names, "%s%s", count++ > 0 ? ", " : "",
                          estimate->blocks[i].block->block->id);
    if (count == estimate->block_count && count > 1)
        return _("all blocks");
    return arena_strdup(arena, strbuf_str(&names));
}

/* rules/ ends a line with what would close it, behind the last semicolon. */
static struct study_open split_line(const char *text, struct arena *arena) {
    const char *remedy = NULL;
    for (const char *at = strstr(text, "; "); at; at = strstr(at + 1, "; "))
        remedy = at;
    if (!remedy)
        return (struct study_open){.reason = text};
    return (struct study_open){
        .reason = arena_strndup(arena, text, (size_t)(remedy - text)),
        .remedy = remedy + 2,
    };
}

/* Puts a line behind the last one with the same remedy. */
static void insert_line(struct study_open *list, size_t *count, struct study_open line) {
    size_t at = *count;
    for (size_t i = 0; i < *count && line.remedy; i++)
        if (list[i].remedy && strcmp(list[i].remedy, line.remedy) == 0) {
            line.remedy = list[i].remedy;
            at = i + 1;
        }
    memmove(&list[at + 1], &list[at], (*count - at) * sizeof(*list));
    list[at] = line;
    (*count)++;
}

size_t study_words_open(const struct estimate *estimate, struct arena *arena,
                        struct study_open **ret_list) {
    size_t most = study_words_open_count(estimate), count = 0;
    *ret_list = arena_alloc(arena, (most + 1) * sizeof(**ret_list));
    for (size_t i = 0; i < estimate->block_count; i++)
        for (size_t j = 0; j < estimate->blocks[i].open_count; j++) {
            const char *text = estimate->blocks[i].open[j];
            if (was_said(estimate, i, text))
                continue;
            struct study_open line = split_line(text, arena);
            line.blocks = blocks_of(estimate, i, text, arena);
            insert_line(*ret_list, &count, line);
        }
    return count;
}

size_t study_words_open_count(const struct estimate *estimate) {
    size_t count = 0;
    for (size_t i = 0; i < estimate->block_count; i++)
        count += estimate->blocks[i].open_count;
    return count;
}

const char *study_words_provisional(const struct estimate *estimate, struct arena *arena) {
    const char *why = estimate->provisional_why;
    /* the sentence that rules/ makes of a reason, in the language that it was made in */
    const char *around = _("provisional: %s; rent only to clear this up; plan no full block");
    const char *place = strstr(around, "%s");
    if (!why || !place)
        return why ? why : _("a central question is open");
    size_t before = (size_t)(place - around), after = strlen(place + 2), length = strlen(why);
    if (length <= before + after || strncmp(why, around, before) != 0 ||
        strcmp(why + length - after, place + 2) != 0)
        return why;
    return arena_strndup(arena, why + before, length - before - after);
}
