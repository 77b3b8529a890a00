/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules about what was shown: does it work there at all (E1), is what would be booked settled (E8),
 * did a representative run work and was its peak measured (E2). A function test, a figure of others
 * and a fact are no evidence.
 */
#include "rules/decide-parts.h"

#include "base/msg.h"
#include "base/uuid.h"
#include "plan/fit.h"

#include <assert.h>
#include <string.h>

/* ---- E1 ---- */

/* Its own block, or one that validates the technical base. */
static bool shows_base(const struct ruling *ruling, const struct study_block *block) {
    return block == ruling->block || block->block->kind == PLAN_VALIDATE;
}

static const struct study_run *shown(const struct ruling *ruling, bool checked) {
    const struct study_run *own =
        ruling->block != NULL ? ruling_counting(ruling->block, checked) : NULL;
    for (size_t i = 0; own == NULL && i < ruling->study->block_count; i++)
        if (shows_base(ruling, &ruling->study->blocks[i]))
            own = ruling_counting(&ruling->study->blocks[i], checked);
    return own;
}

/* Why there is no run that counts: the weakest word that the study has for it. */
static void why_unshown(struct ruling *ruling) {
    const struct study *study = ruling->study;
    if (study->block_count == 0) {
        ruling_ground(ruling, NULL, _("the plan has no blocks, so no run can count"));
        return;
    }
    for (size_t i = 0; i < study->block_count; i++) {
        const struct study_block *block = &study->blocks[i];
        if (!shows_base(ruling, block))
            continue;
        const char *source = ruling_source(ruling, block->block->at);
        if (block->level == EVIDENCE_FUNCTION_TEST)
            ruling_ground(ruling, source, _("block '%s': only a function test was made: %s"),
                          block->block->id, block->why != NULL ? block->why : _("open"));
        else
            ruling_ground(ruling, source, _("block '%s': no run counts: %s"), block->block->id,
                          block->why != NULL ? block->why : _("open"));
    }
}

/* An open stack is no mismatch, but nothing that was shown either. */
static void open_stack(struct ruling *ruling) {
    struct fit_part *parts = NULL;
    size_t open = 0;
    if (ruling->environment == NULL)
        return;
    size_t count = plan_fit(ruling->plan, ruling->environment, ruling->arena, &parts);
    for (size_t i = 0; i < count; i++)
        open += parts[i].answer == FIT_OPEN;
    if (open > 0)
        ruling_open(ruling, ruling_source(ruling, ruling->environment->at), "probelauf doctor",
                    _("whether '%s' has what the code needs (code.requires, stack)"),
                    ruling->environment->id);
}

static size_t open_base_facts(struct ruling *ruling) {
    size_t count = 0;
    for (size_t i = 0; i < ruling->study->open_fact_count; i++) {
        const struct plan_fact *fact = ruling->study->open_facts[i];
        bool is_environment = fact->about != NULL && strcmp(fact->about, "environment") == 0;
        if (!ruling_is_base(fact) || !ruling_is_here(ruling, fact) ||
            (is_environment && !ruling_stops(ruling, fact)))
            continue;
        if (is_environment) /* the estimate does not say it */
            ruling_ground(ruling, ruling_source(ruling, fact->at),
                          _("what the code needs of the environment is open: %s"), fact->id);
        ruling_fact(ruling, fact);
        count++;
    }
    return count;
}

static void say_then(struct ruling *ruling) {
    bool rented = decide_is_rented(ruling->environment);
    if (ruling->estimate->provisional)
        ruling->rule->then =
            rented ? _("software validation first: rent only to clear up what is open here, with a "
                       "cap, a stop condition and a result to be shown, all set by the team; it is "
                       "no estimate, and no full block is planned before")
                   : _("software validation there first, only to clear up what is open here, with "
                       "a cap, a stop condition and a result to be shown, all set by the team; it "
                       "is no estimate, and no full block is planned before");
    else if (!rented)
        ruling->rule->then =
            _("software validation there first, with a cap, a stop condition and a result to be "
              "shown, all set by the team; it is no estimate");
}

/* What keeps the answer open comes first, then what was shown all the same. Returns how many facts
 * about the base are open. */
static size_t e1_grounds(struct ruling *ruling, const struct study_run *checked,
                         const struct study_run *any) {
    if (checked == NULL && any == NULL)
        why_unshown(ruling);
    for (size_t i = 0; i < ruling->estimate->provisional_count; i++)
        ruling_ground(ruling, NULL, _("the estimate is provisional: %s"),
                      ruling->estimate->provisional_reasons[i]);
    size_t facts = open_base_facts(ruling);
    if (checked != NULL)
        ruling_figure(ruling, checked->run->id, "wall", &checked->run->wall,
                      _("a run that counts worked and its result was checked: %s"),
                      ruling_quantity(&checked->run->wall, ruling->arena));
    else if (any != NULL)
        ruling_figure(ruling, any->run->id, "wall", &any->run->wall,
                      _("a run ended well (%s), but nobody checked its result"),
                      ruling_quantity(&any->run->wall, ruling->arena));
    return facts;
}

void decide_e1(struct ruling *ruling) {
    const struct study_run *checked = shown(ruling, true), *any = shown(ruling, false);
    ruling->rule->command = ruling_run_command(ruling);
    say_then(ruling);
    size_t facts = e1_grounds(ruling, checked, any);
    if (any == NULL) {
        open_stack(ruling);
        if (ruling->rule->command != NULL)
            ruling_open(ruling, NULL, ruling->rule->command,
                        _("a run that counts and whose result is checked"));
        else {
            ruling_open(ruling, NULL, "probelauf check", _("a block with its first command"));
            ruling_key(ruling, "command", "blocks", NULL);
        }
        ruling->rule->change =
            _("a run in the target environment that counts and whose result is checked");
        ruling_answer(ruling, DECIDE_YES, true, DECIDE_VALIDATE_FIRST);
        return;
    }
    if (checked == NULL) {
        ruling_open(ruling, any->run->id,
                    arena_printf(ruling->arena, "probelauf annotate %s --valid --why '…'",
                                 uuid_tail(any->run->id)),
                    _("the result of the run, checked: declare it valid, or add 'expect' to the "
                      "block and run it again"));
        ruling->rule->change = _("a check of the run's result");
    } else if (facts > 0) {
        ruling->rule->change = _("answers to the open facts, with source and date");
    } else if (ruling->estimate->provisional) {
        ruling_open(ruling, NULL, "probelauf estimate",
                    _("what makes the estimate provisional, cleared up"));
        ruling->rule->change = _("what makes the estimate provisional, cleared up");
    } else {
        ruling->rule->command = NULL;
        ruling_answer(ruling, DECIDE_NO, false, DECIDE_NONE);
        return;
    }
    ruling_answer(ruling, DECIDE_CANNOT_TELL, true, DECIDE_VALIDATE_FIRST);
}

/* ---- E8 ---- */

static void unsettled_environment(struct ruling *ruling) {
    const struct plan_environment *environment = ruling->environment;
    if (environment == NULL) {
        ruling_ground(ruling, NULL, _("the plan names no environment"));
        ruling_open(ruling, NULL, "probelauf check", _("an environment in the plan"));
        ruling_key(ruling, "id, kind, gpus", "environments", NULL);
        return;
    }
    const char *source = ruling_source(ruling, environment->at);
    if (!environment->gpus.given) {
        ruling_ground(ruling, source, _("how many GPUs '%s' has is open"), environment->id);
        ruling_open(ruling, source, "probelauf check", _("the number of GPUs of '%s' (gpus)"),
                    environment->id);
        ruling_key(ruling, "gpus", "environments", environment->id);
    } else if (environment->gpus.value > 0 && environment->gpu == NULL) {
        ruling_ground(ruling, source, _("which GPU '%s' has is open"), environment->id);
        ruling_open(ruling, source, "probelauf check", _("the GPU's model of '%s' (gpu)"),
                    environment->id);
        ruling_key(ruling, "gpu", "environments", environment->id);
    }
}

static void unsettled_work(struct ruling *ruling) {
    if (ruling->block == NULL) {
        ruling_ground(ruling, NULL, _("the plan has no blocks"));
        ruling_open(ruling, NULL, "probelauf check", _("the first block, with its command"));
        ruling_key(ruling, "command", "blocks", NULL);
        return;
    }
    const struct plan_block *block = ruling->block->block;
    const char *source = ruling_source(ruling, block->at);
    size_t undetermined = 0;
    for (size_t i = 0; i < block->condition_count; i++)
        undetermined +=
            block->conditions[i].axis_count > 0 && block->conditions[i].state == PLAN_UNDETERMINED;
    if (!block->runs.given) {
        ruling_ground(ruling, source, _("how many runs each condition of '%s' has is open"),
                      block->id);
        ruling_open(ruling, source, "probelauf check", _("the number of runs of block '%s' (runs)"),
                    block->id);
        ruling_key(ruling, "runs", "blocks", block->id);
    }
    if (undetermined > 0) {
        ruling_ground(ruling, source,
                      msg_plural((unsigned long)undetermined,
                                 "%zu condition of '%s' is neither confirmed nor chosen",
                                 "%zu conditions of '%s' are neither confirmed nor chosen"),
                      undetermined, block->id);
        ruling_open(ruling, source, "probelauf check",
                    _("the values of block '%s' that are undetermined (state)"), block->id);
        ruling_key(ruling, "state", "blocks", block->id);
    } else if (block->state == PLAN_UNDETERMINED) {
        ruling_ground(ruling, source, _("block '%s' as a whole is undetermined"), block->id);
        ruling_open(ruling, source, "probelauf check",
                    _("whether block '%s' is confirmed or chosen (state)"), block->id);
        ruling_key(ruling, "state", "blocks", block->id);
    }
}

/* Of a machine without GPUs the host's, else the GPU's. */
static const struct estimate_memory *deciding_memory(const struct ruling *ruling) {
    const struct estimate_block *left = ruling->left;
    if (left == NULL)
        return NULL;
    bool none = !quantity_is_known(&left->gpu_memory.need) &&
                left->gpu_memory.need.reason == QUANTITY_NOT_APPLICABLE;
    return none ? &left->host_memory : &left->gpu_memory;
}

static const char *memory_name(const struct ruling *ruling, const struct estimate_memory *memory) {
    return memory == &ruling->left->host_memory ? "host_memory" : "gpu_memory";
}

static void unsettled_memory(struct ruling *ruling) {
    const struct estimate_memory *memory = deciding_memory(ruling);
    if (memory == NULL || quantity_is_known(&memory->need))
        return;
    const char *id = ruling->block->block->id;
    ruling_figure(ruling, NULL, memory_name(ruling, memory), &memory->need,
                  _("the memory peak of '%s' is not measured: %s"), id,
                  memory->need.detail != NULL ? memory->need.detail : _("open"));
    ruling_open(ruling, NULL, ruling_run_command(ruling), _("the memory peak of block '%s'"), id);
}

static void open_facts(struct ruling *ruling) {
    const struct plan_privacy *privacy = &ruling->plan->privacy;
    bool is_sensitive =
        privacy->data_class == NULL || strcmp(privacy->data_class, "none") != 0; /* E5 has it */
    size_t count = 0;
    for (size_t i = 0; i < ruling->study->open_fact_count; i++) {
        const struct plan_fact *fact = ruling->study->open_facts[i];
        if (ruling_is_base(fact) || (ruling_is_privacy(fact) && is_sensitive) ||
            !ruling_stops(ruling, fact))
            continue;
        ruling_fact(ruling, fact);
        count++;
    }
    if (count > 0)
        ruling_ground(ruling, NULL,
                      msg_plural((unsigned long)count,
                                 "%zu open fact stands in the way of booking or of the block",
                                 "%zu open facts stand in the way of booking or of the block"),
                      count);
}

void decide_e8(struct ruling *ruling) {
    unsettled_environment(ruling);
    unsettled_work(ruling);
    unsettled_memory(ruling);
    size_t unsettled = ruling->rule->ground_count;
    open_facts(ruling);
    if (ruling->rule->ground_count == 0) {
        const struct estimate_memory *memory = deciding_memory(ruling);
        assert(ruling->environment != NULL && memory != NULL); /* else it would be unsettled */
        ruling_ground(ruling, ruling_source(ruling, ruling->environment->at),
                      _("the environment '%s' is entered"), ruling->environment->id);
        if (ruling->left->has_remaining)
            ruling_ground(ruling, ruling_source(ruling, ruling->block->block->at),
                          msg_plural((unsigned long)ruling->left->remaining,
                                     "%llu run is left in '%s'", "%llu runs are left in '%s'"),
                          (unsigned long long)ruling->left->remaining, ruling->block->block->id);
        ruling_figure(ruling, NULL, memory_name(ruling, memory), &memory->need,
                      _("the memory peak is measured: %s, %s"), memory->quantity_name,
                      ruling_quantity(&memory->need, ruling->arena));
        ruling_answer(ruling, DECIDE_NO, false, DECIDE_NONE);
        return;
    }
    ruling->rule->change = _("what is not settled, entered in the plan or measured by a trial run");
    ruling->rule->command = ruling->rule->opens[0].command;
    ruling_answer(ruling, unsettled > 0 ? DECIDE_YES : DECIDE_CANNOT_TELL, true,
                  DECIDE_VALIDATE_FIRST);
}

/* ---- E2 ---- */

void decide_e2(struct ruling *ruling) {
    const struct study_run *run =
        ruling->block != NULL ? ruling_counting(ruling->block, true) : NULL;
    const struct study_run *unchecked =
        ruling->block != NULL ? ruling_counting(ruling->block, false) : NULL;
    const struct estimate_memory *memory = deciding_memory(ruling);
    bool has_peak = memory != NULL && memory->need.state == QUANTITY_MEASURED;
    if (!decide_is_rented(ruling->environment))
        ruling->rule->then =
            _("go on there by blocks that match the planned experiments; nothing has to be rented");
    if (run == NULL) {
        if (unchecked != NULL)
            ruling_ground(ruling, unchecked->run->id,
                          _("a run ended well, but nobody checked its result"));
        else
            ruling_ground(ruling, NULL, _("no representative run of it was made there"));
        ruling->rule->change = _("a representative run there whose result is checked");
        ruling->rule->command = ruling_run_command(ruling);
        ruling_answer(ruling, unchecked != NULL ? DECIDE_CANNOT_TELL : DECIDE_NO, false,
                      DECIDE_NONE);
        return;
    }
    assert(memory != NULL); /* there is a block: it has an estimate */
    ruling_figure(ruling, run->run->id, "wall", &run->run->wall,
                  _("a representative run worked: %s, took %s"), run->condition->label,
                  ruling_quantity(&run->run->wall, ruling->arena));
    if (!has_peak) {
        ruling_figure(ruling, NULL, memory_name(ruling, memory), &memory->need,
                      _("its memory peak is not measured: %s"),
                      memory->need.detail != NULL ? memory->need.detail : _("open"));
        ruling->rule->change = _("a run whose memory peak is measured");
        ruling->rule->command = ruling_run_command(ruling);
        ruling_answer(ruling, DECIDE_CANNOT_TELL, false, DECIDE_NONE);
        return;
    }
    ruling_figure(ruling, memory->need.source_count > 0 ? memory->need.sources[0] : NULL,
                  memory_name(ruling, memory), &memory->need, _("its memory peak: %s, %s"),
                  memory->quantity_name, ruling_quantity(&memory->need, ruling->arena));
    ruling_answer(ruling, DECIDE_YES, true, DECIDE_RENT_BLOCKS);
}
