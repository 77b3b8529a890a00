/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A decision for machines: every rule of every block with answer, grounds and what would change it.
 * Texts are English whatever the language, which the caller sees to. */
#include "report/decide.h"

#include "report/study-json.h"

#include <string.h>

static json_t *word_or_null(const char *text) {
    return text != NULL ? json_text(text) : json_null();
}

static json_t *changes_json(const struct decide_change *changes, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *json = json_object(), *rules = json_array();
        const char *at = changes[i].rules;
        while (*at != '\0') { /* "E1, E8" */
            size_t length = strcspn(at, ",");
            json_array_append_new(rules, json_text_n(at, length));
            at += length;
            at += strspn(at, ", ");
        }
        json_put_text(json, "what", changes[i].what);
        json_put(json, "rules", rules);
        json_put_text(json, "source", changes[i].source);
        json_put_text(json, "command", changes[i].command);
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *rule_json(const struct decide_rule *rule) {
    json_t *json = json_object(), *grounds = json_array();
    for (size_t i = 0; i < rule->ground_count; i++) {
        const struct decide_ground *ground = &rule->grounds[i];
        json_t *one = json_object();
        json_put_text(one, "text", ground->text);
        json_put_text(one, "source", ground->source);
        if (ground->name != NULL) {
            json_put_text(one, "name", ground->name);
            json_put(one, "figure", quantity_to_json(&ground->figure));
        }
        json_array_append_new(grounds, one);
    }
    json_put_text(json, "id", decide_id_name(rule->id));
    json_put_text(json, "answer", decide_answer_name(rule->answer));
    json_put_bool(json, "fires", rule->fires);
    json_put_text(json, "verdict", decide_verdict_name(rule->verdict));
    json_put_bool(json, "compare_owning", rule->compare_owning);
    json_put_text(json, "when", rule->when);
    json_put_text(json, "then", rule->then);
    json_put(json, "grounds", grounds);
    json_put(json, "opens", changes_json(rule->opens, rule->open_count));
    json_put_text(json, "change", rule->change);
    json_put_text(json, "command", rule->command);
    return json;
}

/* verdict, by, nothing_left, compare_owning */
static void put_verdict(json_t *json, enum decide_verdict verdict, const struct decide_rule *by,
                        bool nothing_left, bool compare_owning) {
    json_put_text(json, "verdict", decide_verdict_name(verdict));
    json_put_text(json, "by", by != NULL ? decide_id_name(by->id) : NULL);
    json_put_bool(json, "nothing_left", nothing_left);
    json_put_bool(json, "compare_owning", compare_owning);
}

static json_t *environment_json(const struct decide_environment *environment) {
    json_t *json = json_object(), *blocks = json_array();
    json_put(json, "id",
             word_or_null(environment->environment != NULL ? environment->environment->id : NULL));
    put_verdict(json, environment->verdict, environment->by, environment->nothing_left,
                environment->compare_owning);
    json_put_text(json, "option", environment->option);
    json_put_bool(json, "provisional", environment->estimate->provisional);
    for (size_t i = 0; i < environment->block_count; i++) {
        const struct decide_block *block = &environment->blocks[i];
        json_t *one = json_object(), *rules = json_array();
        json_put(one, "id", word_or_null(block->block != NULL ? block->block->block->id : NULL));
        put_verdict(one, block->verdict, block->by, block->nothing_left, block->compare_owning);
        for (enum decide_id id = DECIDE_E5; id < DECIDE_ID_COUNT_; id++)
            json_array_append_new(rules, rule_json(&block->rules[id]));
        json_put(one, "rules", rules);
        json_array_append_new(blocks, one);
    }
    json_put(json, "blocks", blocks);
    return json;
}

static json_t *validation_json(const struct decision *decision, const struct plan *plan) {
    const struct plan_validation *validation = decision->validation;
    json_t *json = json_object();
    AUTO_ARENA struct arena *arena = arena_new();
    const char *source = plan_source(plan, validation->at, arena);
    const char *const sources[] = {source};
    struct quantity time = quantity_open(UNIT_SECOND, QUANTITY_NOT_ENTERED, NULL);
    struct amount cost = amount_open(QUANTITY_NOT_ENTERED, NULL);
    if (validation->max_time.given) {
        time = (struct quantity){.state = QUANTITY_ASSUMED,
                                 .value = (double)validation->max_time.ns / 1e9,
                                 .unit = UNIT_SECOND,
                                 .method = "cap set by the team",
                                 .sources = sources,
                                 .source_count = 1};
    }
    if (validation->max_cost.given && validation->currency != NULL) {
        cost = (struct amount){.state = QUANTITY_ASSUMED,
                               .micros = validation->max_cost.micros,
                               .currency = validation->currency,
                               .sources = sources,
                               .source_count = 1};
    }
    json_put(json, "max_time", quantity_to_json(&time));
    json_put(json, "max_cost", amount_to_json(&cost));
    json_put_text(json, "stop_condition", validation->stop_condition);
    json_put_text(json, "result", validation->result);
    json_put(json, "lacks",
             study_json_texts(decision->validation_lacks, decision->validation_lack_count));
    json_put_text(json, "source", validation->at.line > 0 ? source : NULL);
    return json;
}

json_t *report_decide_json(const struct decision *decision) {
    const struct decide_environment *best = decision->best;
    const struct plan *plan = best->study->input->plan;
    json_t *json = json_object(), *study = json_object(), *environments = json_array();
    json_put_text(json, "schema", "probelauf.decide/1");
    json_put_text(study, "id", plan->study.id);
    json_put_text(study, "title", plan->study.title);
    json_put_text(study, "plan_digest", plan->digest);
    json_put(json, "study", study);
    put_verdict(json, decision->verdict, best->by, best->nothing_left, decision->compare_owning);
    json_put_bool(json, "not_yet", decide_is_not_yet(decision));
    json_put(json, "environment",
             word_or_null(best->environment != NULL ? best->environment->id : NULL));
    json_put(json, "changes", changes_json(decision->changes, decision->change_count));
    json_put(json, "validation", validation_json(decision, plan));
    json_put(json, "before_booking",
             study_json_texts(decision->before_booking, decision->before_booking_count));
    for (size_t i = 0; i < decision->environment_count; i++)
        json_array_append_new(environments, environment_json(&decision->environments[i]));
    json_put(json, "environments", environments);
    return json;
}
