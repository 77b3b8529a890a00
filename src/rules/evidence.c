/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which run is evidence for a condition (DESIGN section 6, docs/evidence.md): does it belong to it,
 * did it end well, what was it made for, and are code, inputs and environment the target's. The
 * first thing that does not fit is the reason. Must not repair a record or guess what it does not
 * say.
 */
#include "rules/evidence.h"
#include "rules/comparable-parts.h"
#include "rules/evidence-parts.h"

#include "base/msg.h"
#include "base/str.h"
#include "plan/plan.h"
#include "text/secret.h"

#include <assert.h>
#include <string.h>

#define SHOWN_BYTES 80u

const char *evidence_level_name(enum evidence_level level) {
    static const char *const names[EVIDENCE_LEVEL_COUNT_] = {
        [EVIDENCE_NONE] = "none",
        [EVIDENCE_FUNCTION_TEST] = "function-test",
        [EVIDENCE_MEASURED] = "measured",
    };

    assert(level < EVIDENCE_LEVEL_COUNT_);
    return names[level];
}

const char *evidence_shown(const char *text, struct arena *arena) {
    size_t length = text ? strlen(text) : 0;
    bool cut = length > SHOWN_BYTES;
    AUTO_STRBUF struct strbuf shown = STRBUF_INIT;

    if (cut) {
        length = SHOWN_BYTES;
        while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
            length--; /* not within a character */
    }
    if (length > 0)
        str_add_printable(&shown, text, length);
    if (cut)
        strbuf_add_str(&shown, "...");
    return arena_strdup(arena, strbuf_str(&shown));
}

const char *evidence_joined(const char *a, const char *b, struct arena *arena) {
    return a && b ? arena_printf(arena, "%s; %s", a, b) : a ? a : b;
}

const char *evidence_pairs_text(const struct plan_pairs *pairs, struct arena *arena) {
    const char *text = "";

    for (size_t i = 0; i < pairs->count; i++)
        text = arena_printf(arena, "%s%s%s=%s", text, i > 0 ? " " : "",
                            evidence_shown(pairs->items[i].name, arena),
                            evidence_shown(pairs->items[i].value, arena));
    return text;
}

/* ---- does it belong to the condition ---- */

static const char *why_other_study(const struct run *run, const struct plan *plan,
                                   struct arena *arena) {
    const char *study = run->study ? run->study : json_get_text(run->start, "study", NULL);

    if (!study || !plan->study.id)
        return NULL; /* whoever gathered the runs knew */
    return strcmp(study, plan->study.id) == 0
               ? NULL
               : arena_printf(arena, _("it belongs to another study (%s)"),
                              evidence_shown(study, arena));
}

/* The record's texts are masked, so the plan's are masked in the same way. */
static bool is_recorded_as(const char *planned, const char *recorded) {
    AUTO_STRBUF struct strbuf masked = STRBUF_INIT;

    secret_mask(planned, strlen(planned), &masked);
    return strcmp(strbuf_str(&masked), recorded) == 0;
}

bool evidence_is_recorded_value(const char *name, const char *planned, const char *recorded) {
    AUTO_STRBUF struct strbuf masked = STRBUF_INIT;

    if (!strstr(recorded, SECRET_MASK))
        return strcmp(planned, recorded) == 0;
    secret_mask_value(name, planned, &masked);
    return strcmp(strbuf_str(&masked), recorded) == 0 ||
           is_recorded_as(planned, recorded); /* older records know shapes only */
}

/* Results of different versions of a paper are never mixed (A1). */
static const char *why_other_paper(const struct run *run, const struct plan *plan,
                                   struct arena *arena) {
    const char *run_version = json_get_text(run->start, "paper_version", NULL);
    const char *plan_version = plan->study.paper_version;

    if (!run_version && !plan_version)
        return NULL;
    if (!run_version)
        return arena_printf(arena,
                            _("the paper version was not said when it ran, the plan says "
                              "'%s': results of different versions are never mixed"),
                            evidence_shown(plan_version, arena));
    if (plan_version && is_recorded_as(plan_version, run_version))
        return NULL;
    return arena_printf(arena,
                        _("the paper version was '%s', the plan says '%s': results of different "
                          "versions are never mixed"),
                        evidence_shown(run_version, arena), evidence_shown(plan_version, arena));
}

static const char *parameter_of(const struct plan_condition *condition, const char *name) {
    for (size_t i = 0; i < condition->parameter_count; i++)
        if (strcmp(condition->parameters[i].name, name) == 0)
            return condition->parameters[i].value;
    return NULL;
}

static const char *why_other_parameter(const struct run *run,
                                       const struct plan_condition *condition,
                                       struct arena *arena) {
    json_t *parameters = json_get_object(run->start, "parameters");
    const char *name;
    json_t *value;

    if (!parameters)
        return NULL;
    for (size_t i = 0; i < condition->parameter_count; i++) {
        const struct plan_pair *pair = &condition->parameters[i];
        const char *was = json_get_text(parameters, pair->name, NULL);
        if (!was)
            return arena_printf(arena, _("%s was not set, the plan says %s"),
                                evidence_shown(pair->name, arena),
                                evidence_shown(pair->value, arena));
        if (!evidence_is_recorded_value(pair->name, pair->value, was))
            return arena_printf(arena, _("%s was %s, the plan says %s"),
                                evidence_shown(pair->name, arena), evidence_shown(was, arena),
                                evidence_shown(pair->value, arena));
    }
    json_object_foreach (parameters, name, value) {
        if (!parameter_of(condition, name))
            return arena_printf(arena, _("%s was %s, the plan does not have it any more"),
                                evidence_shown(name, arena),
                                evidence_shown(json_string_value(value), arena));
    }
    return NULL;
}

/* The record's command is masked, so the plan's is masked in the same way. */
static const char *why_other_command(const struct run *run, const struct plan_condition *condition,
                                     struct arena *arena) {
    const char *const *argv = plan_command(condition, arena);
    const json_t *command = json_get_array(run->start, "command");
    size_t count = 0;

    if (!argv)
        return NULL;
    while (argv[count])
        count++;
    AUTO_JSON json_t *planned = secret_mask_argv(argv, count);
    size_t recorded = json_array_size(command);
    for (size_t i = 0; i < count || i < recorded; i++) {
        const char *was = json_string_value(json_array_get(command, i));
        const char *is = json_string_value(json_array_get(planned, i));
        if (i >= recorded)
            return arena_printf(arena,
                                _("its command differs from the plan's: it ends before '%s'"),
                                evidence_shown(is, arena));
        if (i >= count)
            return arena_printf(arena,
                                _("its command differs from the plan's: it goes on with "
                                  "'%s'"),
                                evidence_shown(was, arena));
        if (!was || !is || strcmp(was, is) != 0)
            return arena_printf(arena,
                                _("its command differs from the plan's: '%s' instead of '%s'"),
                                evidence_shown(was, arena), evidence_shown(is, arena));
    }
    return json_object_get(run->start, "command_base64")
               ? _("its command differs from the plan's: an argument is no UTF-8")
               : NULL;
}

/* The same words are another command where they find other files. */
static const char *why_other_folder(const struct run *run, const struct plan *plan,
                                    const struct plan_condition *condition, bool is_same,
                                    struct arena *arena) {
    const char *wanted = plan_folder_text(plan, condition->block->folder, arena);
    const char *was = json_get_text(run->start, "plan_folder", NULL);
    const char *cwd = json_get_text(run->start, "cwd", NULL);

    if (condition->block->command.count == 0)
        return NULL; /* whoever starts it by hand knows where */
    if (was)
        return is_recorded_as(wanted, was)
                   ? NULL
                   : arena_printf(arena, _("it ran in folder '%s', the plan says '%s'"),
                                  evidence_shown(was, arena), evidence_shown(wanted, arena));
    /* A record from before that was kept: only the very folder is known to be the plan's. */
    if (!is_same)
        return NULL;
    if (cwd && strcmp(wanted, wanted[0] == '/' ? cwd : plan_folder_of(plan, cwd, arena)) == 0)
        return NULL;
    return _("where it ran beside its plan is not known (its record does not say)");
}

const char *evidence_why_other_condition(const struct run *run, const struct plan *plan,
                                         const struct plan_condition *condition,
                                         struct arena *arena) {
    const char *id = json_get_text(run->start, "condition_id", NULL);
    bool is_same = id && strcmp(id, condition->id) == 0;
    const char *why = why_other_study(run, plan, arena);

    why = why ? why : why_other_paper(run, plan, arena);
    if (!why && !is_same)
        why = why_other_parameter(run, condition, arena);
    why = why ? why : why_other_command(run, condition, arena);
    why = why ? why : why_other_folder(run, plan, condition, is_same, arena);
    if (why || is_same)
        return why;
    return id ? _("it was started with another command template than the plan has now")
              : _("it was started without a condition of the plan");
}

/* ---- code ---- */

/* The path specs that a digest covers; NULL for the usual ones. */
static const json_t *paths_or_null(const json_t *paths) {
    return json_array_size(paths) > 0 ? paths : NULL;
}

static const json_t *code_paths_of(const struct run *run) {
    return paths_or_null(json_get_array(json_get_object(run->environment, "code"), "paths"));
}

static const char *const paths_changed =
    N_("the plan's code.paths changed, so the code states cannot be compared");

static const char *why_not_reference_code(const struct run *run, const struct run *reference) {
    if (!reference || reference == run)
        return NULL;
    switch (comparable_code(run, reference)) {
    case COMPARABLE_SAME:
        return NULL;
    case COMPARABLE_DIFFERENT:
        return comparable_values(code_paths_of(run), code_paths_of(reference)) == COMPARABLE_SAME
                   ? _("its code differs from that of the newest run that fits")
                   : _(paths_changed);
    case COMPARABLE_ONE_UNKNOWN:
        return _("the code state of only one of them, it and the newest run that fits, is known");
    }
    return NULL;
}

/* Equal digests are equal content, whatever the paths were called. */
static const char *why_other_code(const struct run *run, const struct evidence_target *target,
                                  struct arena *arena) {
    bool frozen = target->freeze && target->freeze->code_digest;
    const char *want = frozen ? target->freeze->code_digest : target->code_digest;
    const char *digest = json_get_text(json_get_object(run->environment, "code"), "digest", NULL);

    if (!want && target->plan->code.paths.count > 0)
        return _("the code under code.paths is not known now (a path that names no tracked file, "
                 "or no git there)");
    if (!want)
        return why_not_reference_code(run, target->reference);
    if (!digest || !*digest)
        return _("its code state is not known");
    if (strcmp(digest, want) == 0)
        return NULL;
    if (comparable_values(code_paths_of(run), paths_or_null(target->code_paths)) != COMPARABLE_SAME)
        return _(paths_changed);
    if (frozen)
        return arena_printf(arena, _("its code is not the one that was frozen for block '%s'"),
                            evidence_shown(target->freeze->block, arena));
    return target->plan->code.paths.count > 0
               ? _("the code under code.paths changed since")
               : _("the code changed since (any tracked file but the plan, *.md, docs/, LICENSE*)");
}

/* ---- inputs ---- */

static const json_t *input_find(const json_t *inputs, const char *path) {
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *input = json_array_get(inputs, i);
        if (strcmp(json_get_text(input, "path", ""), path) == 0)
            return input;
    }
    return NULL;
}

static const json_t *input_find_planned(const json_t *inputs, const char *path) {
    AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
    const json_t *found = input_find(inputs, path); /* older records do not mask it */

    secret_mask(path, strlen(path), &masked);
    return found ? found : input_find(inputs, strbuf_str(&masked));
}

static const char *number_of(const json_t *input, const char *key, struct arena *arena) {
    const json_t *number = json_object_get(input, key);
    return json_is_integer(number)
               ? arena_printf(arena, "%lld", (long long)json_integer_value(number))
               : _("not known");
}

/* `was` is the run's entry, `is` the target's. */
static const char *why_input_differs(const json_t *was, const json_t *is,
                                     enum comparable_input part, struct arena *arena) {
    const char *path = evidence_shown(json_get_text(was, "path", ""), arena);

    switch (part) {
    case COMPARABLE_INPUT_SAME:
    case COMPARABLE_INPUT_PATH:
        break;
    case COMPARABLE_INPUT_KIND:
        return arena_printf(arena, _("an input changed: %s (was: %s, is: %s)"), path,
                            evidence_shown(json_get_text(was, "kind", "?"), arena),
                            evidence_shown(json_get_text(is, "kind", "?"), arena));
    case COMPARABLE_INPUT_BYTES:
        return arena_printf(arena, _("an input changed: %s (size in bytes was %s, is %s)"), path,
                            number_of(was, "bytes", arena), number_of(is, "bytes", arena));
    case COMPARABLE_INPUT_ITEMS:
        return arena_printf(arena, _("an input changed: %s (number of files was %s, is %s)"), path,
                            number_of(was, "items", arena), number_of(is, "items", arena));
    case COMPARABLE_INPUT_IDENTITY:
        return arena_printf(arena, _("an input changed: %s (same size, other content)"), path);
    case COMPARABLE_INPUT_IDENTITY_OF_ONE:
        return arena_printf(
            arena, _("an input changed: %s (the digest of its content is known of one only)"),
            path);
    case COMPARABLE_INPUT_MTIME:
        return arena_printf(arena, _("an input changed: %s (same size, written at another time)"),
                            path);
    }
    return arena_printf(arena, _("an input changed: %s"), path);
}

static bool is_smaller(const json_t *was, const json_t *is) {
    int64_t bytes = json_get_int(was, "bytes", -1);
    return bytes >= 0 && bytes < json_get_int(is, "bytes", -1);
}

/* NULL: all that the plan names for the condition are in the record. */
static const char *why_input_missing(const json_t *inputs, const struct plan_condition *condition,
                                     struct arena *arena) {
    const struct plan_texts *names = &condition->block->inputs;

    for (size_t i = 0; i < names->count; i++) {
        const char *path = plan_fill(condition, names->items[i].text, arena);
        if (!input_find_planned(inputs, path))
            return arena_printf(arena, _("its inputs do not include %s, which the plan names"),
                                evidence_shown(path, arena));
    }
    return NULL;
}

/*
 * The run's inputs beside the frozen ones (of all conditions of the block, so that the run needs
 * not have all) or those of the reference. *ret_smaller: all that differ are smaller than the
 * target's, which makes it a function test (B9).
 */
static const char *why_other_inputs(const struct run *run, const struct evidence_target *target,
                                    struct arena *arena, bool *ret_smaller) {
    bool frozen = target->freeze && json_array_size(target->freeze->inputs) > 0;
    const json_t *inputs = json_get_array(run->start, "inputs");
    const char *why = NULL;

    *ret_smaller = false;
    if (!frozen && (!target->reference || target->reference == run))
        return NULL;
    const json_t *wanted =
        frozen ? target->freeze->inputs : json_get_array(target->reference->start, "inputs");
    if (frozen && json_array_size(inputs) == 0)
        return _("its inputs are not recorded, those of the block are frozen");
    for (size_t i = 0; !frozen && i < json_array_size(wanted); i++) {
        const char *path = json_get_text(json_array_get(wanted, i), "path", "");
        if (!input_find(inputs, path))
            return arena_printf(arena,
                                _("its inputs do not include %s, which the newest run that fits "
                                  "has"),
                                evidence_shown(path, arena));
    }
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *was = json_array_get(inputs, i);
        const char *path = json_get_text(was, "path", "");
        const json_t *is = input_find(wanted, path);
        if (!is) {
            *ret_smaller = false;
            return arena_printf(arena,
                                frozen ? _("its input %s is not among those that were frozen")
                                       : _("it has the input %s, which the newest run that fits "
                                           "does not have"),
                                evidence_shown(path, arena));
        }
        enum comparable_input part = comparable_input(was, is);
        /* A frozen content was read, a run's is not: size and time have to do. */
        if (frozen && part == COMPARABLE_INPUT_IDENTITY_OF_ONE)
            part = comparable_input_mtime_is_same(was, is) ? COMPARABLE_INPUT_SAME
                                                           : COMPARABLE_INPUT_MTIME;
        if (part == COMPARABLE_INPUT_SAME)
            continue;
        bool smaller = part == COMPARABLE_INPUT_BYTES && is_smaller(was, is);
        *ret_smaller = smaller && (!why || *ret_smaller);
        why = why ? why : why_input_differs(was, is, part, arena);
    }
    return why;
}

/* ---- environment ---- */

static const char *why_other_environment(const struct run *run,
                                         const struct evidence_target *target,
                                         struct arena *arena) {
    const char *why;

    if (!target->environment) {
        if (!target->reference || target->reference == run)
            return NULL;
        switch (comparable_environment(run, target->reference)) {
        case COMPARABLE_SAME:
            return NULL;
        case COMPARABLE_DIFFERENT:
            return _(comparable_why_environment(run, target->reference));
        case COMPARABLE_ONE_UNKNOWN:
            return _("the environment of only one of them, it and the newest run that fits, is "
                     "known");
        }
    }
    const struct plan_environment *made_in = evidence_environment(target->plan, run, arena, &why);
    if (!made_in)
        return why;
    if (made_in != target->environment)
        return arena_printf(arena, _("it was measured in environment '%s', not in '%s'"),
                            evidence_shown(made_in->id, arena),
                            evidence_shown(target->environment->id, arena));
    return evidence_why_not_environment(run, target->environment, target->reference, true, arena);
}

/* ---- the judgement ---- */

static const char *why_unusable(const struct run *run, struct arena *arena) {
    const char *why = comparable_why_unusable(run, false);

    if (why && run->outcome == OUTCOME_OK && run->validity == RUN_INVALID && run->validity_why)
        return arena_printf(arena, "%s (%s)", _(why), evidence_shown(run->validity_why, arena));
    return why ? _(why) : NULL;
}

/* Files stand in the record with the folder where the run looked for them. */
static bool is_same_check(const char *recorded, const char *planned) {
    static const char file[] = "file=";

    if (is_recorded_as(planned, recorded))
        return true;
    if (!str_starts_with(planned, file) || !str_starts_with(recorded, file))
        return false;
    planned += strlen(file);
    while (str_starts_with(planned, "./"))
        planned += 2;
    size_t length = strlen(recorded), tail = strlen(planned);
    return planned[0] != '/' && length > tail && recorded[length - tail - 1] == '/' &&
           is_recorded_as(planned, recorded + length - tail);
}

static bool was_expected(const json_t *expect, const char *planned) {
    for (size_t i = 0; i < json_array_size(expect); i++)
        if (is_same_check(json_get_text(json_array_get(expect, i), "text", ""), planned))
            return true;
    return false;
}

/* All that the plan expects now was looked at and met, or somebody has said that it is right. */
static bool is_verified(const struct run *run, const struct plan_condition *condition,
                        struct arena *arena) {
    const json_t *expect = json_get_array(run->start, "expect");
    const struct plan_texts *planned = &condition->block->expect;

    if (run->validity == RUN_VALID)
        return true;
    for (size_t i = 0; i < planned->count; i++)
        if (!was_expected(expect, plan_fill(condition, planned->items[i].text, arena)))
            return false;
    return run->verified && strcmp(run->verified, "yes") == 0;
}

static struct evidence judged(bool verified, enum evidence_level level, const char *why) {
    return (struct evidence){.level = level, .why = why, .verified = verified};
}

void evidence_judge(const struct run *run, const struct plan_condition *condition,
                    const struct evidence_target *target, struct arena *arena,
                    struct evidence *ret_evidence) {
    const char *why = evidence_why_other_condition(run, target->plan, condition, arena);
    bool verified = is_verified(run, condition, arena);
    bool smaller;

    if (!why) {
        why = why_unusable(run, arena);
    }
    if (why) {
        *ret_evidence = judged(verified, EVIDENCE_NONE, why);
        return;
    }
    const char *code = why_other_code(run, target, arena);
    if (comparable_is_function_test(run)) {
        /* Its inputs and its environment may be what they like, but it is a test of this code. */
        why = _("it is a function test, never the base of an estimate");
        *ret_evidence =
            code ? judged(verified, EVIDENCE_NONE, arena_printf(arena, "%s; %s", why, code))
                 : judged(verified, EVIDENCE_FUNCTION_TEST, why);
        return;
    }
    const char *purpose = json_get_text(run->start, "purpose", "trial");
    if (strcmp(purpose, "trial") != 0 && strcmp(purpose, "work") != 0)
        why = arena_printf(arena, _("its purpose is '%s', neither trial nor work"),
                           evidence_shown(purpose, arena));
    why = why ? why : code;
    if (why) {
        *ret_evidence = judged(verified, EVIDENCE_NONE, why);
        return;
    }
    why = why_input_missing(json_get_array(run->start, "inputs"), condition, arena);
    smaller = false;
    why = why ? why : why_other_inputs(run, target, arena, &smaller);
    if (why) {
        *ret_evidence = judged(verified, smaller ? EVIDENCE_FUNCTION_TEST : EVIDENCE_NONE, why);
        return;
    }
    why = why_other_environment(run, target, arena);
    *ret_evidence = judged(verified, why ? EVIDENCE_FUNCTION_TEST : EVIDENCE_MEASURED, why);
}
