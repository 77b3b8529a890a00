/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Answers at gates: written as events, read with the study (gate.h). What an answer means for
 * another block is decided in rules/gate.h, never here; none is ever changed, a later one takes its
 * place.
 */
#include "work/gate.h"

#include "base/clock.h"
#include "work/event.h"

#include <errno.h>
#include <string.h>

static json_t *claims_json(const struct work_study *study, const struct plan_block *block) {
    json_t *claims = json_array();
    for (size_t i = 0; i < study->study.claim_count; i++) {
        const struct study_claim *claim = &study->study.claims[i];
        for (size_t k = 0; k < block->claims.count; k++) {
            if (!claim->claim->id || strcmp(block->claims.items[k].text, claim->claim->id) != 0)
                continue;
            json_t *item = json_object();
            json_put_text(item, "id", claim->claim->id);
            json_put_text(item, "verdict", study_verdict_name(claim->verdict));
            json_array_append_new(claims, item);
            break;
        }
    }
    return claims;
}

static json_t *gate_event(const struct work_study *study, const struct study_block *block,
                          enum gate_answer answer, const char *why) {
    json_t *event = event_begin("gate", clock_utc_ns());
    json_put_text(event, "study", study->plan->study.id);
    json_put_text(event, "block", block->block->id);
    json_put_text(event, "answer", gate_answer_name(answer));
    if (block->block->gate)
        event_put_text(event, "criteria", block->block->gate);
    event_put_text(event, "why", why);
    if (study->input.environment && study->input.environment->id)
        json_put_text(event, "environment", study->input.environment->id);
    json_put_int(event, "done", (int64_t)block->done);
    if (block->has_planned)
        json_put_int(event, "planned", (int64_t)block->planned);
    json_put_text(event, "plan_digest", study->plan->digest);
    if (study->input.code_digest)
        json_put_text(event, "code_digest", study->input.code_digest);
    json_put(event, "claims", claims_json(study, block->block));
    return event;
}

static bool is_blank(const char *text) {
    return !text || text[strspn(text, " \t\r\n")] == '\0';
}

int work_gate_answer(struct work_study *study, const struct place *place, struct store *store,
                     const char *block, enum gate_answer answer, const char *why,
                     char ret_event[UUID_TEXT_SIZE], struct err *err) {
    const struct study_block *found = work_study_block(study, block, err);
    if (!found)
        return err->code;
    if (is_blank(why))
        return err_set(err, -EINVAL, "gate-why",
                       "an answer at a gate needs its reason: add '--why TEXT'");
    AUTO_JSON json_t *event = gate_event(study, found, answer, why);
    int rc = event_write(place, store, study->plan->study.id, event, ret_event, err);
    if (rc < 0)
        return rc;
    work_study_remember(study, event, ret_event);
    study->input.now_utc_ns = clock_utc_ns();
    work_study_derive(study);
    return 0;
}

size_t work_gates(const struct work_study *study, struct gate **ret_gates) {
    size_t count = json_array_size(study->events), found = 0;
    struct gate *gates = arena_alloc(study->arena, (count + 1) * sizeof *gates);
    for (size_t i = count; i > 0; i--) { /* events stand oldest first */
        const json_t *event = json_array_get(study->events, i - 1);
        struct gate *gate = &gates[found];
        enum gate_answer answer;
        int64_t done = json_get_int(event, "done", 0), planned = json_get_int(event, "planned", 0);
        if (strcmp(json_get_text(event, "type", ""), "gate") != 0 ||
            !json_get_text(event, "block", NULL) ||
            !gate_answer_from_name(json_get_text(event, "answer", NULL), &answer))
            continue;
        *gate = (struct gate){
            .id = json_get_text(event, "id", ""),
            .block = json_get_text(event, "block", NULL),
            .why = json_get_text(event, "why", ""),
            .who = json_get_text(event, "who", ""),
            .criteria = json_get_text(event, "criteria", NULL),
            .answer = answer,
            .utc_ns = json_get_int(event, "utc_ns", 0),
            .done = done > 0 ? (uint64_t)done : 0,
            .has_planned = json_get_int(event, "planned", -1) >= 0,
            .planned = planned > 0 ? (uint64_t)planned : 0,
        };
        found++;
    }
    *ret_gates = gates;
    return found;
}
