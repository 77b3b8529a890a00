/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Assumptions and --set: which keys there are, what their values mean, and which of several holds.
 * Must not let an assumption pass for a measurement: whatever rests on one says so, with who and
 * why.
 */
#include "rules/estimate-parts.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"
#include "plan/value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MAX UINT64_C(1000000000)
#define LANES_MAX UINT64_C(1000000)

enum value_kind { VALUE_DURATION, VALUE_COUNT, VALUE_LANES, VALUE_SHARE };

/* The words behind BLOCK. that name no component. */
static const struct {
    const char *name;
    enum estimate_what what;
    enum value_kind kind;
} words[] = {
    {"run-time", ESTIMATE_RUN_TIME, VALUE_DURATION},
    {"runs", ESTIMATE_RUNS, VALUE_COUNT},
    {"failure-rate", ESTIMATE_FAILURE_RATE, VALUE_SHARE},
    {"lost-time", ESTIMATE_LOST_TIME, VALUE_DURATION},
    {"retry-max", ESTIMATE_RETRY_MAX, VALUE_COUNT},
    {"lanes", ESTIMATE_LANES, VALUE_LANES},
};

static const char *did_you_mean(const char *word, const char *const *names, size_t count,
                                struct arena *arena) {
    const char *nearest = str_nearest(word, names, count);
    return nearest ? arena_printf(arena, _(", did you mean '%s'?"), nearest) : "";
}

static const char *why_no_block(const struct plan *plan, const char *id, struct arena *arena) {
    const char **ids = arena_alloc(arena, (plan->block_count + 1) * sizeof *ids);
    for (size_t i = 0; i < plan->block_count; i++)
        ids[i] = plan->blocks[i].id;
    return arena_printf(arena, _("the plan has no block '%s'%s"), id,
                        did_you_mean(id, ids, plan->block_count, arena));
}

static const char *why_no_step(const struct plan *plan, const char *name, struct arena *arena) {
    const char **names = arena_alloc(arena, (plan->step_count + 1) * sizeof *names);
    for (size_t i = 0; i < plan->step_count; i++)
        names[i] = plan->steps[i].name;
    return arena_printf(arena, _("the plan has no step '%s'%s"), name,
                        did_you_mean(name, names, plan->step_count, arena));
}

static const char *why_no_word(const char *word, struct arena *arena) {
    const char *names[ARRAY_LENGTH(words) + COMPONENT_COUNT_];
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        names[count++] = words[i].name;
    for (enum component k = COMPONENT_PREPARE; k < COMPONENT_COUNT_; k++)
        if (k != COMPONENT_RUNS)
            names[count++] = component_name(k);
    return arena_printf(arena, _("'%s' is nothing that can be assumed of a block%s"), word,
                        did_you_mean(word, names, count, arena));
}

/* ---- reading one ---- */

static const char *read_key(const struct plan *plan, const char *key, struct estimate_rule *rule,
                            enum value_kind *ret_kind, struct arena *arena) {
    const char *dot = strrchr(key, '.');

    *ret_kind = VALUE_DURATION;
    if (!dot || dot == key || !dot[1])
        return arena_printf(arena,
                            _("'%s' is no key: BLOCK.COMPONENT, BLOCK.run-time, BLOCK.runs, "
                              "BLOCK.failure-rate, BLOCK.lost-time, BLOCK.retry-max, BLOCK.lanes "
                              "or step.NAME"),
                            key);
    char *block = arena_strndup(arena, key, (size_t)(dot - key));
    if (str_starts_with(key, "step.") && !plan_block_find(plan, block)) {
        rule->what = ESTIMATE_STEP;
        rule->step = arena_strdup(arena, key + strlen("step."));
        return plan_step_find(plan, rule->step) ? NULL : why_no_step(plan, rule->step, arena);
    }
    rule->block = block;
    if (strcmp(block, "*") != 0 && !plan_block_find(plan, block))
        return why_no_block(plan, block, arena);
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (strcmp(dot + 1, words[i].name) == 0) {
            rule->what = words[i].what;
            *ret_kind = words[i].kind;
            return NULL;
        }
    rule->what = ESTIMATE_COMPONENT;
    return component_from_name(dot + 1, &rule->component) ? NULL : why_no_word(dot + 1, arena);
}

static const char *read_count(const char *value, uint64_t least, uint64_t most, double *ret_number,
                              struct arena *arena) {
    uint64_t count = 0;
    if (str_to_u64(value, &count) < 0 || count < least || count > most)
        return arena_printf(arena, _("'%s' is no whole number from %llu to %llu"), value,
                            (unsigned long long)least, (unsigned long long)most);
    *ret_number = (double)count;
    return NULL;
}

static const char *read_value(const char *value, enum value_kind kind, double *ret_number,
                              struct arena *arena) {
    int64_t ns = 0;

    switch (kind) {
    case VALUE_DURATION:
        if (value_duration_ns(value, &ns) < 0)
            return arena_printf(arena, _("'%s' is no duration like 90s, 10 min, 1.5h or 1d 4h"),
                                value);
        *ret_number = (double)ns / (double)NS_PER_S;
        return NULL;
    case VALUE_COUNT:
        return read_count(value, 0, COUNT_MAX, ret_number, arena);
    case VALUE_LANES:
        return read_count(value, 1, LANES_MAX, ret_number, arena);
    case VALUE_SHARE:
        if (str_to_double(value, ret_number) < 0 || !(*ret_number >= 0.0 && *ret_number <= 1.0))
            return arena_printf(arena, _("'%s' is no share from 0 to 1"), value);
        return NULL;
    }
    return NULL;
}

static const char *rule_read(const struct plan *plan, const struct estimate_setting *setting,
                             struct arena *arena, struct estimate_rule *ret_rule) {
    enum value_kind kind = VALUE_DURATION;

    *ret_rule = (struct estimate_rule){.setting = *setting};
    if (!setting->key || !setting->value)
        return _("it needs a key and a value");
    const char *why = read_key(plan, setting->key, ret_rule, &kind, arena);
    return why ? why : read_value(setting->value, kind, &ret_rule->number, arena);
}

bool estimate_setting_check(const struct plan *plan, const char *key, const char *value,
                            struct arena *arena, const char **ret_why) {
    struct estimate_rule rule;
    const struct estimate_setting setting = {.key = key, .value = value};
    *ret_why = rule_read(plan, &setting, arena, &rule);
    return *ret_why == NULL;
}

/* ---- all of them ---- */

static const char *date_text(struct plan_date date, struct arena *arena) {
    return date.given && date.text ? arena_printf(arena, "%s", date.text) : NULL;
}

int estimate_rules_read(struct estimate_maker *maker, const struct estimate_options *options,
                        struct err *err) {
    const struct plan *plan = maker->plan;
    size_t all = options->setting_count + plan->assumption_count;

    maker->rules = arena_alloc(maker->arena, (all + 1) * sizeof *maker->rules);
    for (size_t i = 0; i < all; i++) {
        struct estimate_setting setting;
        if (i < options->setting_count) {
            setting = options->settings[options->setting_count - 1 - i];
            setting.is_set = true;
            setting.source = "--set";
        } else {
            const struct plan_assumption *a = &plan->assumptions[i - options->setting_count];
            setting = (struct estimate_setting){
                .key = a->key,
                .value = a->value,
                .who = a->who,
                .why = a->why,
                .when = date_text(a->when, maker->arena),
                .source = plan_source(plan, a->at, maker->arena),
            };
        }
        const char *why = rule_read(plan, &setting, maker->arena, &maker->rules[i]);
        if (why && setting.is_set)
            return err_set(err, -EINVAL, "estimate-setting", "--set %s=%s: %s",
                           setting.key ? setting.key : "", setting.value ? setting.value : "", why);
        if (why)
            return err_set(err, -EINVAL, "plan-assumption", "%s: assumption %s: %s", setting.source,
                           setting.key ? setting.key : "", why);
    }
    maker->rule_count = all;
    return 0;
}

struct estimate_rule *estimate_rule_find(struct estimate_maker *maker, const char *block,
                                         enum estimate_what what, enum component component,
                                         bool only_set) {
    struct estimate_rule *everywhere[2] = {NULL, NULL}; /* "*" of the plan and of --set */

    for (size_t i = 0; i < maker->rule_count; i++) {
        struct estimate_rule *rule = &maker->rules[i];
        if (!rule->block || rule->what != what || (only_set && !rule->setting.is_set) ||
            (what == ESTIMATE_COMPONENT && rule->component != component))
            continue;
        if (!rule->setting.is_set && everywhere[1])
            break; /* --set of every block goes before the plan's assumption for this one */
        if (strcmp(rule->block, block) == 0)
            return rule;
        if (strcmp(rule->block, "*") == 0 && !everywhere[rule->setting.is_set])
            everywhere[rule->setting.is_set] = rule;
    }
    return everywhere[1] ? everywhere[1] : everywhere[0];
}

struct estimate_rule *estimate_rule_step(struct estimate_maker *maker, const char *step,
                                         bool only_set) {
    for (size_t i = 0; i < maker->rule_count; i++) {
        struct estimate_rule *rule = &maker->rules[i];
        if (rule->what == ESTIMATE_STEP && (rule->setting.is_set || !only_set) &&
            strcmp(rule->step, step) == 0)
            return rule;
    }
    return NULL;
}

static const char *assumed_detail(const struct estimate_setting *setting, struct arena *arena) {
    if (setting->is_set)
        return arena_printf(arena, _("set on the command line: %s=%s"), setting->key,
                            setting->value);
    return arena_printf(arena, _("assumed %s=%s by %s on %s: %s"), setting->key, setting->value,
                        setting->who ? setting->who : _("nobody named"),
                        setting->when ? setting->when : _("no date"),
                        setting->why ? setting->why : _("no reason given"));
}

struct quantity estimate_rule_quantity(struct estimate_maker *maker, struct estimate_rule *rule,
                                       const char *unit, double value) {
    struct quantity q = {.state = QUANTITY_ASSUMED,
                         .value = value,
                         .unit = unit,
                         .method = "assumption",
                         .detail = assumed_detail(&rule->setting, maker->arena)};
    if (!rule->setting.is_set) /* a --set is in no file */
        piece_add_sources(&q, &rule->setting.source, 1, maker->arena);
    return q;
}

struct piece estimate_rule_piece(struct estimate_maker *maker, struct estimate_rule *rule,
                                 double seconds) {
    return (struct piece){.quantity = estimate_rule_quantity(maker, rule, UNIT_SECOND, seconds),
                          .futures = simulate_fixed(seconds)};
}

void estimate_rule_note(struct estimate_rule *rule, bool took_effect, const char *why_not) {
    if (!rule)
        return;
    rule->took_effect |= took_effect;
    if (!took_effect && !rule->why_not)
        rule->why_not = why_not;
}

/* ---- which took effect, and why others did not ---- */

/* Does it say the same thing of (some of) the same blocks, or of the whole component? */
static bool is_in_place_of(const struct estimate_maker *maker, const struct estimate_rule *other,
                           const struct estimate_rule *rule) {
    bool of_retries = rule->what == ESTIMATE_FAILURE_RATE || rule->what == ESTIMATE_LOST_TIME ||
                      rule->what == ESTIMATE_RETRY_MAX;
    if (!other->took_effect || other == rule)
        return false;
    if (rule->what == ESTIMATE_STEP) {
        const struct plan_step *step = plan_step_find(maker->plan, rule->step);
        return other->what == ESTIMATE_STEP
                   ? strcmp(other->step, rule->step) == 0
                   : other->what == ESTIMATE_COMPONENT && other->setting.is_set && step &&
                         other->component == step->component;
    }
    if (!other->block || (strcmp(other->block, rule->block) != 0 &&
                          strcmp(other->block, "*") != 0 && strcmp(rule->block, "*") != 0))
        return false;
    if (of_retries && other->what == ESTIMATE_COMPONENT)
        return other->component == COMPONENT_RETRIES;
    return other->what == rule->what &&
           (rule->what != ESTIMATE_COMPONENT || other->component == rule->component);
}

static bool is_of_block(const struct estimate_rule *rule, const struct plan_block *block) {
    if (rule->what != ESTIMATE_STEP)
        return strcmp(rule->block, "*") == 0 || strcmp(rule->block, block->id) == 0;
    for (size_t i = 0; i < block->steps.count; i++)
        if (strcmp(block->steps.items[i].text, rule->step) == 0)
            return true;
    return false;
}

/* Is something left to do of what the rule is about? */
static bool is_left(const struct estimate_maker *maker, const struct estimate_rule *rule) {
    const struct estimate *ret = maker->ret;
    for (size_t i = 0; i < ret->block_count; i++)
        if (is_of_block(rule, ret->blocks[i].block->block) &&
            !(ret->blocks[i].has_remaining && ret->blocks[i].remaining == 0))
            return true;
    return false;
}

/* What goes before an assumption of the plan. */
static const char *what_goes_before(enum estimate_what what) {
    switch (what) {
    case ESTIMATE_COMPONENT:
        return _("what was seen of it in runs and steps goes before an assumption");
    case ESTIMATE_RUN_TIME:
        return _("runs that count go before an assumption");
    case ESTIMATE_RUNS:
        return _("the plan itself says how many runs");
    case ESTIMATE_FAILURE_RATE:
        return _("the attempts that were seen go before an assumption");
    case ESTIMATE_LOST_TIME:
        return _("the failed attempts that were seen go before an assumption");
    case ESTIMATE_RETRY_MAX:
        return _("the plan itself says how often a run is repeated");
    case ESTIMATE_LANES:
        return _("the plan itself says how many lanes");
    case ESTIMATE_STEP:
        return _("the runs of the step that were seen go before an assumption");
    }
    return NULL;
}

static const char *why_no_effect(const struct estimate_maker *maker,
                                 const struct estimate_rule *rule) {
    for (size_t i = 0; i < maker->rule_count; i++)
        if (is_in_place_of(maker, &maker->rules[i], rule))
            return arena_printf(maker->arena, _("%s=%s goes before it"),
                                maker->rules[i].setting.key, maker->rules[i].setting.value);
    if (!is_left(maker, rule))
        return rule->what == ESTIMATE_STEP ? _("no block that has something left needs the step")
                                           : _("nothing is left to do there");
    return rule->why_not ? rule->why_not : what_goes_before(rule->what);
}

void estimate_rules_list(struct estimate_maker *maker) {
    struct estimate *ret = maker->ret;
    size_t size = (maker->rule_count + 1) * sizeof *ret->assumed;
    ret->assumed = arena_alloc(maker->arena, size);
    ret->without_effect = arena_alloc(maker->arena, size);
    for (size_t i = 0; i < maker->rule_count; i++) {
        struct estimate_setting setting = maker->rules[i].setting;
        if (maker->rules[i].took_effect) {
            ret->assumed[ret->assumed_count++] = setting;
            continue;
        }
        setting.no_effect = why_no_effect(maker, &maker->rules[i]);
        ret->without_effect[ret->without_effect_count++] = setting;
    }
}
