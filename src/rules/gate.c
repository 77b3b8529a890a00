/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Answers at gates and what stands in the way of running a block (gate.h). Says only what is not
 * settled; whether an answer was right is for people. Pure.
 */
#include "rules/gate.h"

#include "base/msg.h"
#include "base/strbuf.h"
#include "plan/plan.h"
#include "rules/study.h"

#include <assert.h>
#include <string.h>

const char *gate_answer_name(enum gate_answer answer) {
    static const char *const names[GATE_ANSWER_COUNT_] = {
        [GATE_NONE] = "",
        [GATE_GO_ON] = "go-on",
        [GATE_CHANGE_ENVIRONMENT] = "change-environment",
        [GATE_LIMIT] = "limit",
    };
    assert(answer < GATE_ANSWER_COUNT_);
    return names[answer];
}

bool gate_answer_from_name(const char *name, enum gate_answer *ret_answer) {
    for (enum gate_answer answer = GATE_GO_ON; name && answer < GATE_ANSWER_COUNT_; answer++)
        if (strcmp(gate_answer_name(answer), name) == 0) {
            *ret_answer = answer;
            return true;
        }
    return false;
}

const struct gate *gate_of(const struct gate *gates, size_t count, const char *block) {
    for (size_t i = 0; block && i < count; i++)
        if (gates[i].block && strcmp(gates[i].block, block) == 0)
            return &gates[i];
    return NULL;
}

/* ---- what stands in the way ---- */

struct obstacles {
    const struct study *study;
    const struct plan *plan;
    const struct plan_block *block;
    struct arena *arena;
    const char **lines;
    size_t count, room;
};

static void add(struct obstacles *o, const char *line) {
    if (o->count == o->room) {
        size_t room = o->room ? 2 * o->room : 8;
        const char **lines = arena_alloc(o->arena, room * sizeof *lines);
        if (o->count > 0)
            memcpy(lines, o->lines, o->count * sizeof *lines);
        o->lines = lines;
        o->room = room;
    }
    o->lines[o->count++] = line;
}

static const char *where(const struct obstacles *o, struct plan_at at) {
    return at.line > 0 ? plan_source(o->plan, at, o->arena) : o->plan->name ? o->plan->name : "";
}

static void add_open_facts(struct obstacles *o) {
    const struct study *study = o->study;
    for (size_t i = 0; i < study->block_count; i++) {
        const struct study_block *of = &study->blocks[i];
        if (of->block != o->block)
            continue;
        for (size_t k = 0; k < of->stopped_by_count; k++) {
            const struct plan_fact *fact = of->stopped_by[k];
            if (plan_fact_is_privacy(fact))
                continue; /* said below, whatever it stops */
            const char *id = fact->id ? fact->id : "";
            add(o, fact->question ? arena_printf(o->arena, _("%s: the fact '%s' is open: %s"),
                                                 where(o, fact->at), id, fact->question)
                                  : arena_printf(o->arena, _("%s: the fact '%s' is open"),
                                                 where(o, fact->at), id));
        }
    }
}

/* ---- data protection (A8, E5) ---- */

/* Data that stay on a machine of one's own are in no provider's hands. Where the plan does not say
 * whose the machine is, it may be anybody's. */
static bool stays_in_the_house(const struct plan_environment *environment) {
    return environment && (environment->kind == PLAN_OWN || environment->kind == PLAN_MACOS);
}

static bool is_rented(const struct plan_environment *environment) {
    return !environment || environment->kind == PLAN_RENTED ||
           environment->kind == PLAN_ENVIRONMENT_UNSAID;
}

static bool asks_for_provider(const struct plan_fact *fact) {
    static const char *const ids[] = {"privacy/may_transfer", "privacy/provider_statement",
                                      "privacy.transfer", "privacy.provider"};
    for (size_t i = 0; fact->id && i < ARRAY_LENGTH(ids); i++)
        if (strcmp(fact->id, ids[i]) == 0)
            return true;
    return false;
}

static bool is_of_target(const struct obstacles *o, const struct plan_fact *fact) {
    const struct plan_environment *target = o->study->input->environment;
    return !fact->environment || !target || !target->id ||
           strcmp(fact->environment, target->id) == 0;
}

static bool is_asked(const struct obstacles *o, const char *id) {
    for (size_t i = 0; i < o->study->open_fact_count; i++) {
        const struct plan_fact *fact = o->study->open_facts[i];
        if (fact->id && strcmp(fact->id, id) == 0 && plan_fact_is_privacy(fact) &&
            is_of_target(o, fact))
            return true;
    }
    return false;
}

/* An open fact of the plan may ask for what concerns the provider and for what does not in one; in
 * the house the latter is still to be said. */
static void add_own_questions(struct obstacles *o) {
    const struct plan_privacy *privacy = &o->plan->privacy;
    bool sensitive = privacy->data_class && strcmp(privacy->data_class, "none") != 0;
    const struct {
        bool open;
        const char *id, *question;
    } questions[] = {
        {!privacy->assessment, "privacy/assessment", N_("what is the team's own assessment?")},
        {sensitive && !privacy->readers, "privacy/readers", N_("who can read data and logs?")},
        {sensitive && !privacy->retention, "privacy/retention",
         N_("how long are data and logs kept?")},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(questions); i++)
        if (questions[i].open && !is_asked(o, questions[i].id))
            add(o, arena_printf(o->arena, _("%s: data protection is not settled (%s): %s"),
                                where(o, privacy->at), questions[i].id,
                                msg_get(questions[i].question)));
}

static void add_privacy(struct obstacles *o) {
    const struct plan_environment *target = o->study->input->environment;
    const struct plan_privacy *privacy = &o->plan->privacy;
    for (size_t i = 0; i < o->study->open_fact_count; i++) {
        const struct plan_fact *fact = o->study->open_facts[i];
        if (!plan_fact_is_privacy(fact) || !is_of_target(o, fact))
            continue;
        if (stays_in_the_house(target) && asks_for_provider(fact))
            continue;
        add(o, arena_printf(o->arena, _("%s: data protection is not settled (%s): %s"),
                            where(o, fact->at), fact->id ? fact->id : "",
                            fact->question ? fact->question : _("it is open")));
    }
    if (stays_in_the_house(target))
        add_own_questions(o);
    if (privacy->may_transfer == PLAN_NO && is_rented(target))
        add(o, arena_printf(o->arena,
                            _("%s: data and models may not be moved to a rented machine: choose "
                              "another environment"),
                            where(o, privacy->at)));
}

/* ---- blocks before it ---- */

static void add_needs(struct obstacles *o) {
    for (size_t i = 0; i < o->block->needs.count; i++) {
        const struct plan_text_item *need = &o->block->needs.items[i];
        const struct gate *gate =
            gate_of(o->study->input->gates, o->study->input->gate_count, need->text);
        if (!gate)
            add(o, arena_printf(o->arena,
                                _("%s: block '%s' comes first, and nobody has answered at its "
                                  "gate: look at what it has come to, then 'probelauf block gate "
                                  "%s go-on --why TEXT'"),
                                where(o, need->at), need->text, need->text));
        else if (gate->answer != GATE_GO_ON)
            add(o, arena_printf(o->arena,
                                _("%s: at the gate of block '%s' the answer is '%s' (%s): %s"),
                                where(o, need->at), need->text, gate_answer_name(gate->answer),
                                gate->who ? gate->who : "", gate->why ? gate->why : ""));
    }
}

size_t gate_obstacles(const struct study *study, const struct plan_block *block,
                      struct arena *arena, const char *const **ret_lines) {
    struct obstacles o = {
        .study = study, .plan = study->input->plan, .block = block, .arena = arena};
    add_open_facts(&o);
    add_privacy(&o);
    add_needs(&o);
    *ret_lines = o.lines;
    return o.count;
}
