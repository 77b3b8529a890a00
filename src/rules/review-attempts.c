/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the experiment log (F5) says of each attempt beyond its own record: planned and deviation,
 * what was waited before it, time to the first success. Judges nothing.
 */
#include "rules/review-parts.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/msg.h"

#include <string.h>

struct chosen { /* of each block, found once */
    struct kept_block kept;
    bool is_there;
};

static const struct chosen *chosen_of(const struct study *study, const struct chosen *chosen,
                                      const struct plan_block *block) {
    for (size_t i = 0; block && i < study->block_count; i++)
        if (study->blocks[i].block == block)
            return chosen[i].is_there ? &chosen[i] : NULL;
    return NULL;
}

/* Under the name that the estimate gives the condition or the step. */
static struct quantity planned_of(const struct review_attempt *attempt,
                                  const struct chosen *chosen) {
    const struct study_run *seen = attempt->run;
    enum component k = seen->step ? seen->step->component : COMPONENT_RUNS;
    const char *label = seen->condition ? seen->condition->label : NULL;
    AUTO_FREE char *name =
        seen->step ? mem_printf("step %s", seen->step->name) : mem_printf("%s", label ? label : "");
    if (!chosen)
        return quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE,
                             _("no estimate of it was kept before"));
    if (seen->run->started_utc_ns < chosen->kept.kept->utc_ns)
        return quantity_open(UNIT_SECOND, QUANTITY_NOT_APPLICABLE,
                             _("it was made before the estimate was kept"));
    for (size_t i = 0; i < chosen->kept.components[k].item_count; i++)
        if (strcmp(chosen->kept.components[k].items[i].name, name) == 0)
            return chosen->kept.components[k].items[i].unit;
    return quantity_open(UNIT_SECOND, QUANTITY_NOT_IN_RECORD,
                         _("the kept estimate does not have it"));
}

/* What was planned for the runs alone is held against that part of the run. */
static struct quantity own_part(const struct study_run *seen) {
    struct quantity part = seen->run->wall;
    static const enum phase others[] = {PHASE_SETUP,    PHASE_TRANSFER, PHASE_DATA,
                                        PHASE_EVALUATE, PHASE_FIX,      PHASE_TEARDOWN};
    if (seen->step || !quantity_is_known(&part))
        return part;
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
        if (quantity_is_known(&seen->run->phase[others[i]]))
            part.value -= seen->run->phase[others[i]].value;
    return part;
}

/* Notes may have split the time before it: the reason is that of the longest piece. */
static void find_waited(const struct study *study, struct review_attempt *attempt) {
    const char *id = attempt->run->run->id;
    double longest = -1.0;
    attempt->waited = quantity_open(UNIT_SECOND, QUANTITY_NOT_SAMPLED,
                                    _("no session ran, or another run ended just before it"));
    for (size_t i = 0; id && i < study->input->session_count; i++) {
        const struct session *session = &study->input->sessions[i];
        for (size_t g = 0; !session->superseded_by && g < session->gap_count; g++) {
            const struct session_gap *gap = &session->gaps[g];
            const char *before = review_gap_before(session, g);
            if (!before || strcmp(before, id) != 0 || !quantity_is_known(&gap->length))
                continue;
            double sum = quantity_is_known(&attempt->waited) ? attempt->waited.value : 0.0;
            if (gap->length.value > longest) {
                attempt->waited_for = gap->reason;
                longest = gap->length.value;
            }
            attempt->waited = gap->length;
            attempt->waited.value += sum;
        }
    }
}

/* Runs stand newest first. */
static void find_first_success(const struct study *study, struct review_attempt *attempt) {
    const struct study_run *seen = attempt->run;
    const struct run *first = seen->run;
    attempt->first_success = quantity_open(UNIT_SECOND, QUANTITY_NOT_APPLICABLE,
                                           _("it is not the first of its condition that counts"));
    if (!seen->condition || seen->evidence.level != EVIDENCE_MEASURED ||
        seen->run->ended_utc_ns == 0)
        return;
    for (size_t i = 0; i < study->run_count; i++) {
        const struct study_run *other = &study->runs[i];
        if (other->condition != seen->condition ||
            other->run->started_utc_ns >= seen->run->started_utc_ns)
            continue;
        if (other->evidence.level == EVIDENCE_MEASURED)
            return;
        if (other->run->started_utc_ns < first->started_utc_ns)
            first = other->run;
    }
    attempt->first_success = quantity_measured(
        UNIT_SECOND, (double)(seen->run->ended_utc_ns - first->started_utc_ns) / (double)NS_PER_S,
        "UTC, start of its condition's first attempt to its end");
}

static bool is_shown(const struct review_input *input, const struct plan_block *block) {
    return !input->block || (block && strcmp(block->id, input->block) == 0);
}

void review_attempts(const struct review_input *input, struct arena *arena, struct review *ret) {
    const struct study *study = input->study;
    struct chosen *chosen = arena_alloc(arena, (study->block_count + 1) * sizeof *chosen);
    const char *why;
    for (size_t i = 0; i < study->block_count; i++)
        chosen[i].is_there = review_choose(input, &study->blocks[i], arena, &chosen[i].kept, &why);
    ret->attempts = arena_alloc(arena, (study->run_count + 1) * sizeof *ret->attempts);
    for (size_t i = study->run_count; i-- > 0;) {
        const struct plan_block *block = review_block_of(study, i);
        if (!is_shown(input, block))
            continue;
        struct review_attempt *attempt = &ret->attempts[ret->attempt_count++];
        *attempt = (struct review_attempt){.run = &study->runs[i], .block = block};
        attempt->planned = planned_of(attempt, chosen_of(study, chosen, block));
        struct quantity actual = own_part(attempt->run);
        attempt->deviation = review_difference(&attempt->planned, &actual);
        find_waited(study, attempt);
        find_first_success(study, attempt);
    }
}
