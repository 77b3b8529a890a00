/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The notes of a report: one table of rules in the order of their weight, of which the first five
 * that apply are shown. A note stands only on what the model holds, names it, and says what to do.
 */
#include "report/document-parts.h"

#include "base/msg.h"
#include "base/uuid.h"
#include "report/estimate-open.h"
#include "report/facts.h"
#include "report/study-words.h"

#include <string.h>

#define NEAR_CAPACITY   0.9 /* share of the memory from which a need is called near to it */
#define LARGE_UNPLANNED 0.2 /* share of the time spent */

/* Does the rule apply? Adds its evidence. */
typedef bool (*rule_applies)(const struct report_document *document, struct strbuf *evidence);
/* Adds the command of a rule that applies, where it is about something with a name. */
typedef void (*rule_command)(const struct report_document *document, struct strbuf *out);

static void add_quantity(struct strbuf *out, const struct quantity *q) {
    struct quantity alone = study_words_alone(q);
    alone.has_interval = false;
    quantity_format(&alone, (struct quantity_style){.mark = true}, out);
}

static bool is_provisional(const struct report_document *document, struct strbuf *evidence) {
    if (!document->estimate || !document->estimate->provisional)
        return false;
    AUTO_ARENA struct arena *arena = arena_new();
    strbuf_add_str(evidence, open_provisional(document->estimate, arena));
    return true;
}

/* The open fact that stops the most blocks; of equals the first. */
static bool open_fact(const struct report_document *document, struct strbuf *evidence) {
    const struct study *study = document->study;
    const struct plan_fact *worst = NULL;
    size_t most = 0;
    for (size_t i = 0; study && i < study->open_fact_count; i++) {
        size_t stopped = 0;
        for (size_t b = 0; b < study->block_count; b++)
            for (size_t k = 0; k < study->blocks[b].stopped_by_count; k++)
                stopped += study->blocks[b].stopped_by[k] == study->open_facts[i];
        if (!worst || stopped > most) {
            worst = study->open_facts[i];
            most = stopped;
        }
    }
    if (!worst)
        return false;
    strbuf_printf(evidence, "%s: %s", worst->id, worst->question ? worst->question : _("open"));
    if (worst->stops != 0) {
        strbuf_add_str(evidence, _("; it stops "));
        plan_stops_text(worst->stops, evidence);
    }
    if (study->open_fact_count > 1)
        strbuf_printf(evidence,
                      msg_plural((unsigned long)study->open_fact_count - 1, "; %zu more is open",
                                 "; %zu more are open"),
                      study->open_fact_count - 1);
    return true;
}

static bool claim_failed(const struct report_document *document, struct strbuf *evidence) {
    const struct study *study = document->study;
    for (size_t i = 0; study && i < study->claim_count; i++) {
        const struct study_claim *claim = &study->claims[i];
        if (claim->verdict != STUDY_NOT_REPRODUCED)
            continue;
        strbuf_add_str(evidence, claim->claim->id);
        if (claim->why)
            strbuf_printf(evidence, ": %s", claim->why);
        return true;
    }
    return false;
}

static bool repeat_failed(const struct report_document *document, struct strbuf *evidence) {
    const struct study *study = document->study;
    for (size_t i = 0; study && i < study->repeat_check_count; i++) {
        const struct study_repeat_check *check = &study->repeat_checks[i];
        if (check->verdict != STUDY_NOT_REPRODUCED)
            continue;
        strbuf_printf(evidence, "%s, %s", check->block->id, check->condition->label);
        if (check->why)
            strbuf_printf(evidence, ": %s", check->why);
        return true;
    }
    return false;
}

static bool is_near(const struct estimate_memory *memory) {
    return quantity_is_known(&memory->need) && quantity_is_known(&memory->capacity) &&
           memory->need.value >= NEAR_CAPACITY * memory->capacity.value;
}

static bool memory_near(const struct report_document *document, struct strbuf *evidence) {
    const struct estimate *estimate = document->estimate;
    for (size_t i = 0; estimate && i < estimate->block_count; i++) {
        const struct estimate_block *block = &estimate->blocks[i];
        const struct estimate_memory *memory = is_near(&block->gpu_memory)    ? &block->gpu_memory
                                               : is_near(&block->host_memory) ? &block->host_memory
                                                                              : NULL;
        if (!memory)
            continue;
        strbuf_printf(evidence, "%s: %s ", block->block->block->id,
                      memory->quantity_name ? memory->quantity_name : _("memory"));
        add_quantity(evidence, &memory->need);
        strbuf_add_str(evidence, _(" of "));
        add_quantity(evidence, &memory->capacity);
        return true;
    }
    return false;
}

static bool no_evidence(const struct report_document *document, struct strbuf *evidence) {
    const struct study *study = document->study;
    size_t count = 0;
    for (size_t i = 0; study && i < study->block_count; i++) {
        const struct study_block *block = &study->blocks[i];
        if (block->level == EVIDENCE_MEASURED)
            continue;
        if (count == 0)
            strbuf_printf(evidence, "%s%s%s", block->block->id, block->why ? ": " : "",
                          block->why ? block->why : "");
        count++;
    }
    if (count > 1)
        strbuf_printf(evidence,
                      msg_plural((unsigned long)count - 1, "; %zu more block", "; %zu more blocks"),
                      count - 1);
    return count > 0;
}

/* The newest run that failed from a cause from which others did; *ret_count (may be NULL): how many
 * in all. */
static const struct run *repeated_failure(const struct report_document *document,
                                          size_t *ret_count) {
    for (size_t i = 0; i < document->run_count; i++) {
        const struct run *run = document->runs[i];
        size_t count = 1;
        if (!document_is_failure(run) || outcome_is_stopped(run->outcome))
            continue; /* what was stopped has no cause to remove */
        for (size_t k = i + 1; k < document->run_count; k++)
            count += document_is_failure(document->runs[k]) &&
                     strcmp(document_cause_name(run), document_cause_name(document->runs[k])) == 0;
        if (count < 2)
            continue;
        if (ret_count)
            *ret_count = count;
        return run;
    }
    return NULL;
}

static bool same_failure(const struct report_document *document, struct strbuf *evidence) {
    size_t count = 0;
    const struct run *run = repeated_failure(document, &count);
    if (!run)
        return false;
    strbuf_printf(evidence, _("%zu times "), count);
    document_add_cause(evidence, run);
    return true;
}

static bool single_run(const struct report_document *document, struct strbuf *evidence) {
    const struct estimate *estimate = document->estimate;
    for (size_t i = 0; estimate && i < estimate->block_count; i++) {
        const struct estimate_block *block = &estimate->blocks[i];
        const struct quantity *runs = &block->components[COMPONENT_RUNS].time;
        bool single =
            block->remaining > 0 && runs->state == QUANTITY_ESTIMATED && !runs->has_interval;
        if (block->block->level != EVIDENCE_MEASURED || (!block->weakness && !single))
            continue; /* without evidence there is another note */
        strbuf_printf(evidence, "%s: %s", block->block->block->id,
                      block->weakness ? block->weakness : _("its runs have no interval"));
        return true;
    }
    return false;
}

static bool freeze_outdated(const struct report_document *document, struct strbuf *evidence) {
    const struct study *study = document->study;
    for (size_t i = 0; study && i < study->block_count; i++)
        if (study->blocks[i].freeze && study->blocks[i].freeze_outdated) {
            strbuf_printf(evidence, "%s: %s", study->blocks[i].block->id,
                          study->blocks[i].freeze_outdated);
            return true;
        }
    return false;
}

static bool unplanned_large(const struct report_document *document, struct strbuf *evidence) {
    const struct study *study = document->study;
    if (!study || !quantity_is_known(&study->unplanned_time) || !quantity_is_known(&study->spent) ||
        study->unplanned_time.value <= 0 ||
        study->unplanned_time.value < LARGE_UNPLANNED * study->spent.value)
        return false;
    add_quantity(evidence, &study->unplanned_time);
    strbuf_add_str(evidence, _(" of "));
    add_quantity(evidence, &study->spent);
    return true;
}

static bool estimate_outdated(const struct report_document *document, struct strbuf *evidence) {
    for (size_t i = 0; i < document->frozen_count; i++)
        if (document->frozen[i].outdated) {
            strbuf_printf(evidence, "%s: %s", document->frozen[i].name,
                          document->frozen[i].outdated);
            return true;
        }
    return false;
}

static bool plan_warned(const struct report_document *document, struct strbuf *evidence) {
    const struct plan_complaints *complaints = document->complaints;
    for (size_t i = 0; complaints && document->study && i < complaints->count; i++)
        if (complaints->items[i].warning) {
            strbuf_printf(evidence, "%s:%u: %s", document->study->input->plan->name,
                          complaints->items[i].at.line, complaints->items[i].text);
            return true;
        }
    return false;
}

static bool no_offer(const struct report_document *document, struct strbuf *evidence) {
    const struct cost *cost = document->cost;
    if (!cost || cost->chosen)
        return false;
    if (cost->missing_count > 0)
        strbuf_printf(evidence, "%s", cost->missing[0]);
    if (cost->missing_count > 1)
        strbuf_printf(evidence, _("; %zu more"), cost->missing_count - 1);
    return true;
}

/* Of the validation that comes first. */
static bool validation_open(const struct report_document *document, struct strbuf *evidence) {
    const struct decision *decision = document->decision;
    if (!decision || decision->verdict != DECIDE_VALIDATE_FIRST ||
        decision->validation_lack_count == 0)
        return false;
    for (size_t i = 0; i < decision->validation_lack_count; i++)
        strbuf_add_next(evidence, "; ", decision->validation_lacks[i]);
    return true;
}

static bool before_booking(const struct report_document *document, struct strbuf *evidence) {
    const struct decision *decision = document->decision;
    if (!decision || decision->before_booking_count == 0)
        return false;
    strbuf_add_str(evidence, decision->before_booking[0]);
    if (decision->before_booking_count > 1)
        strbuf_printf(evidence, _("; %zu more"), decision->before_booking_count - 1);
    return true;
}

static bool no_plan(const struct report_document *document, struct strbuf *evidence) {
    (void)evidence;
    return document->study == NULL;
}

static bool no_run(const struct report_document *document, struct strbuf *evidence) {
    (void)evidence;
    return document->run_count == 0 && document->study == NULL;
}

static bool no_run_of_plan(const struct report_document *document, struct strbuf *evidence) {
    (void)evidence;
    return document->run_count == 0 && document->study != NULL;
}

/* ---- commands about what the rule found ---- */

static void add_run_command(const struct study *study, const struct plan_condition *condition,
                            struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    const char *command = estimate_condition_command(condition->block, condition, arena);
    strbuf_add_str(out, estimate_command_in(study, command, arena));
}

/* The first condition without a measured run. */
static void run_what_lacks(const struct report_document *document, struct strbuf *out) {
    const struct study *study = document->study;
    for (size_t i = 0; study && i < study->block_count; i++)
        for (size_t k = 0; k < study->blocks[i].condition_count; k++)
            if (study->blocks[i].conditions[k].level != EVIDENCE_MEASURED) {
                add_run_command(study, study->blocks[i].conditions[k].condition, out);
                return;
            }
}

/* The newest run of the block's condition that counts; other: of any other block. */
static const struct run *counting_run(const struct study *study,
                                      const struct study_repeat_check *check, bool other) {
    for (size_t i = 0; i < study->run_count; i++) {
        const struct study_run *run = &study->runs[i];
        if (run->condition && run->evidence.level == EVIDENCE_MEASURED &&
            strcmp(run->condition->id, check->condition->id) == 0 &&
            (run->block == check->block) != other)
            return run->run;
    }
    return NULL;
}

static void compare_repeat(const struct report_document *document, struct strbuf *out) {
    const struct study *study = document->study;
    for (size_t i = 0; i < study->repeat_check_count; i++) {
        const struct study_repeat_check *check = &study->repeat_checks[i];
        if (check->verdict != STUDY_NOT_REPRODUCED)
            continue;
        const struct run *first = counting_run(study, check, true);
        const struct run *repeat = counting_run(study, check, false);
        if (first && repeat)
            strbuf_printf(out, "probelauf compare %s %s", uuid_tail(first->id),
                          uuid_tail(repeat->id));
        return;
    }
}

static void explain_failure(const struct report_document *document, struct strbuf *out) {
    const struct run *run = repeated_failure(document, NULL);
    if (run)
        strbuf_printf(out, "probelauf explain %s", uuid_tail(run->id));
}

static void freeze_again(const struct report_document *document, struct strbuf *out) {
    const struct study *study = document->study;
    for (size_t i = 0; i < study->block_count; i++)
        if (study->blocks[i].freeze && study->blocks[i].freeze_outdated) {
            strbuf_printf(out, "probelauf block freeze %s", study->blocks[i].block->id);
            return;
        }
}

static const struct {
    rule_applies applies;
    const char *finding, *todo;
    const char *command; /* where command_of adds none */
    rule_command command_of;
} rules[] = {
    {is_provisional, N_("the whole estimate is provisional"),
     N_("rent only to clear this up, and book no full block"), "probelauf check", NULL},
    {no_plan, N_("there is no plan"),
     N_("write one, so that runs count for something and an estimate can be made of all of it"),
     "probelauf init", NULL},
    {no_run, N_("nothing was measured yet"), N_("measure one representative run"),
     "probelauf run -- COMMAND", NULL},
    {no_run_of_plan, N_("nothing was measured yet"),
     N_("begin with one representative run of the first block"), NULL, run_what_lacks},
    {open_fact, N_("an open fact stands in the way"),
     N_("answer it in the plan, with source and date"), "probelauf check", NULL},
    {claim_failed, N_("a claim is not reproduced"),
     N_("look at its runs before anything else is booked"), "probelauf block list", NULL},
    {repeat_failed, N_("a repetition gave another result"),
     N_("find what differs between the runs"), "probelauf block list", compare_repeat},
    {memory_near, N_("a memory peak is near the capacity, or above it"),
     N_("narrow the block or choose another environment before it is booked"),
     "probelauf estimate -v", NULL},
    {no_evidence, N_("not every block has evidence"),
     N_("measure a representative run of each of its conditions"), "probelauf block list",
     run_what_lacks},
    {same_failure, N_("runs failed again from the same cause"),
     N_("remove the cause before the next attempt"), "probelauf log", explain_failure},
    {single_run, N_("a figure rests on too little"),
     N_("repeat its run, so that there is a spread"), "probelauf estimate -v", NULL},
    {freeze_outdated, N_("something changed since a block was frozen"),
     N_("freeze it again, or go back to what was frozen"), "probelauf block list", freeze_again},
    {unplanned_large, N_("much of the time went into runs that nobody planned"),
     N_("add them to the plan, or leave them"), "probelauf block list -v", NULL},
    {estimate_outdated, N_("a frozen estimate is outdated"), N_("freeze a new one"),
     "probelauf estimate --freeze NAME", NULL},
    {plan_warned, N_("the plan has a warning"), N_("look at it"), "probelauf check", NULL},
    {validation_open, N_("the validation that comes first is not wholly set"),
     N_("set what is missing under 'validation:' of the plan, as a team"), "probelauf decide",
     NULL},
    {before_booking, N_("something can be done before a machine is booked"),
     N_("do what needs no rented machine first"), "probelauf check", NULL},
    {no_offer, N_("no amount of money can be named"),
     N_("enter an offer in the plan, with source, date and term"), NULL, NULL},
};

size_t report_document_notes(const struct report_document *document, struct arena *arena,
                             struct report_note ret_notes[REPORT_NOTES_MAX]) {
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(rules) && count < REPORT_NOTES_MAX; i++) {
        AUTO_STRBUF struct strbuf evidence = STRBUF_INIT;
        AUTO_STRBUF struct strbuf command = STRBUF_INIT;
        if (!rules[i].applies(document, &evidence))
            continue;
        if (rules[i].command_of)
            rules[i].command_of(document, &command);
        ret_notes[count++] = (struct report_note){
            .finding = msg_get(rules[i].finding),
            .evidence = evidence.length > 0 ? arena_strdup(arena, strbuf_str(&evidence)) : NULL,
            .todo = msg_get(rules[i].todo),
            .command =
                command.length > 0 ? arena_strdup(arena, strbuf_str(&command)) : rules[i].command};
    }
    return count;
}
