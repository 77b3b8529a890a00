/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `check` on the places where the work may be done, and on what to do before one is booked. Knows
 * the plan alone: what runs have shown there is the matter of `decide`.
 */
#include "report/check-parts.h"

#include "base/msg.h"
#include "plan/fit.h"
#include "report/layout.h"
#include "report/study-json.h"
#include "report/study-words.h"

#include <string.h>

/* One thing that a plan may say of an environment. */
struct part {
    const char *name, *label; /* as in the plan; translated */
    const char *value;        /* NULL: open */
};
#define PARTS_MAX 10u

static const char *bytes_text(const struct plan_bytes *bytes, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (!bytes->given)
        return NULL;
    quantity_format_value((double)bytes->bytes, UNIT_BYTE, &text);
    return arena_strdup(arena, strbuf_str(&text));
}

static const char *stack_text(const struct plan_pairs *stack, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < stack->count; i++)
        strbuf_printf(&text, "%s%s %s", i > 0 ? ", " : "", stack->items[i].name,
                      stack->items[i].value);
    return text.length > 0 ? arena_strdup(arena, strbuf_str(&text)) : NULL;
}

/* Without a GPU nothing is asked about one. */
static size_t parts_of(const struct plan_environment *environment, struct arena *arena,
                       struct part ret_parts[PARTS_MAX]) {
    bool no_gpu = environment->gpus.given && environment->gpus.value == 0;
    const char *accelerator = plan_accelerator(environment);
    bool is_cuda = accelerator != NULL && strcmp(accelerator, "cuda") == 0;
    size_t count = 0;
    ret_parts[count++] =
        (struct part){"kind", _("whose it is"), plan_environment_kind_name(environment->kind)};
    ret_parts[count++] = (struct part){"accelerator", _("accelerator"), accelerator};
    ret_parts[count++] = (struct part){
        "gpus", _("number of GPUs"),
        environment->gpus.given ? arena_printf(arena, "%lld", (long long)environment->gpus.value)
                                : NULL};
    if (!no_gpu)
        ret_parts[count++] = (struct part){"gpu", _("GPU"), environment->gpu};
    if (is_cuda)
        ret_parts[count++] = (struct part){"compute_capability", _("compute capability"),
                                           environment->compute_capability};
    if (!no_gpu)
        ret_parts[count++] = (struct part){"driver", _("driver"), environment->driver};
    ret_parts[count++] =
        (struct part){"stack", _("packages"), stack_text(&environment->stack, arena)};
    if (!no_gpu)
        ret_parts[count++] = (struct part){"gpu_memory", _("memory of a GPU"),
                                           bytes_text(&environment->gpu_memory, arena)};
    ret_parts[count++] = (struct part){"host_memory", _("memory of the machine"),
                                       bytes_text(&environment->host_memory, arena)};
    return count;
}

static bool is_of(const char *environment, const struct plan_environment *of) {
    return environment != NULL && strcmp(environment, of->id) == 0;
}

/* ---- JSON ---- */

static json_t *fit_json(const struct plan *plan, const struct plan_environment *environment) {
    static const char *const whats[] = {[FIT_ACCELERATOR] = "accelerator",
                                        [FIT_ARCHITECTURE] = "architecture",
                                        [FIT_PACKAGE] = "package"};
    static const char *const answers[] = {[FIT_OPEN] = "open", [FIT_YES] = "yes", [FIT_NO] = "no"};
    AUTO_ARENA struct arena *arena = arena_new();
    struct fit_part *parts = NULL;
    size_t count = plan_fit(plan, environment, arena, &parts);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *json = json_object();
        json_put_text(json, "what", whats[parts[i].what]);
        json_put_text(json, "name", parts[i].name);
        json_put_text(json, "wanted", parts[i].wanted);
        json_put_text(json, "has", parts[i].has);
        json_put_text(json, "answer", answers[parts[i].answer]);
        json_put(json, "source", study_json_source(plan, parts[i].at));
        json_array_append_new(list, json);
    }
    return list;
}

json_t *check_environments_json(const struct plan *plan) {
    AUTO_ARENA struct arena *arena = arena_new();
    json_t *list = json_array();
    for (size_t i = 0; i < plan->environment_count; i++) {
        const struct plan_environment *environment = &plan->environments[i];
        struct part parts[PARTS_MAX];
        json_t *json = json_object(), *said = json_object(), *facts = json_array(),
               *offers = json_array();
        size_t count = parts_of(environment, arena, parts);
        for (size_t k = 0; k < count; k++)
            json_put_text(said, parts[k].name, parts[k].value);
        for (size_t k = 0; k < plan->fact_count; k++)
            if (plan->facts[k].state == PLAN_FACT_OPEN &&
                is_of(plan->facts[k].environment, environment))
                json_array_append_new(facts, json_text(plan->facts[k].id));
        for (size_t k = 0; k < plan->offer_count; k++)
            if (is_of(plan->offers[k].environment, environment))
                json_array_append_new(offers, json_text(plan->offers[k].id));
        json_put_text(json, "id", environment->id);
        json_put(json, "said", said);
        json_put(json, "fit", fit_json(plan, environment));
        json_put(json, "open_facts", facts);
        json_put(json, "offers", offers);
        json_put(json, "source", study_json_source(plan, environment->at));
        json_array_append_new(list, json);
    }
    return list;
}

json_t *check_before_booking_json(const struct plan *plan) {
    AUTO_ARENA struct arena *arena = arena_new();
    const struct plan_task **tasks = NULL;
    size_t count = plan_before_booking(plan, arena, &tasks);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *json = json_object();
        json_put_text(json, "id", tasks[i]->id);
        json_put_text(json, "what", tasks[i]->what);
        json_put(json, "source", study_json_source(plan, tasks[i]->at));
        json_array_append_new(list, json);
    }
    return list;
}

/* ---- text ---- */

static const char *fit_name(const struct fit_part *part) {
    return part->what == FIT_ACCELERATOR    ? _("accelerator")
           : part->what == FIT_ARCHITECTURE ? _("compute capability")
                                            : part->name;
}

static void add_said(const struct part *parts, size_t count, struct report_style style,
                     struct strbuf *out) {
    AUTO_STRBUF struct strbuf known = STRBUF_INIT;
    AUTO_STRBUF struct strbuf open = STRBUF_INIT;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].value == NULL) {
            strbuf_add_next(&open, ", ", parts[i].label);
            continue;
        }
        AUTO_FREE char *text = mem_printf("%s: %s", parts[i].label, parts[i].value);
        strbuf_add_next(&known, "; ", text);
    }
    if (known.length > 0)
        layout_line(out, style, 4, strbuf_str(&known));
    if (open.length == 0)
        return;
    AUTO_FREE char *text = mem_printf(_("open: %s"), strbuf_str(&open));
    layout_line(out, style, 4, text);
}

static void add_fit(const struct plan *plan, const struct plan_environment *environment,
                    struct report_style style, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_STRBUF struct strbuf open = STRBUF_INIT;
    struct fit_part *parts = NULL;
    size_t count = plan_fit(plan, environment, arena, &parts), wrong = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = fit_name(&parts[i]);
        if (parts[i].answer == FIT_OPEN)
            strbuf_add_next(&open, ", ", name);
        if (parts[i].answer != FIT_NO)
            continue;
        wrong++;
        AUTO_FREE char *text = mem_printf(_("the code does not fit: %s, needed %s, there is %s"),
                                          name, parts[i].wanted, parts[i].has);
        layout_line(out, style, 4, text);
    }
    if (wrong > 0)
        return;
    AUTO_FREE char *text =
        open.length > 0 ? mem_printf(_("whether the code fits is open: %s"), strbuf_str(&open))
                        : mem_strdup(_("the code fits, as far as its requirements say"));
    layout_line(out, style, 4, text);
}

static void add_belonging(const struct plan *plan, const struct plan_environment *environment,
                          struct report_style style, struct strbuf *out) {
    AUTO_STRBUF struct strbuf facts = STRBUF_INIT;
    AUTO_STRBUF struct strbuf offers = STRBUF_INIT;
    for (size_t i = 0; i < plan->fact_count; i++)
        if (plan->facts[i].state == PLAN_FACT_OPEN &&
            is_of(plan->facts[i].environment, environment))
            strbuf_add_next(&facts, ", ", plan->facts[i].id);
    for (size_t i = 0; i < plan->offer_count; i++)
        if (is_of(plan->offers[i].environment, environment))
            strbuf_add_next(&offers, ", ", plan->offers[i].id);
    if (facts.length > 0) {
        AUTO_FREE char *text = mem_printf(_("open facts about it: %s"), strbuf_str(&facts));
        layout_line(out, style, 4, text);
    }
    if (offers.length > 0) {
        AUTO_FREE char *text = mem_printf(_("offers: %s"), strbuf_str(&offers));
        layout_line(out, style, 4, text);
    }
}

/* The first thing that does not fit, else what is open of it. */
static const char *fit_text(const struct plan *plan, const struct plan_environment *environment,
                            struct arena *arena) {
    AUTO_STRBUF struct strbuf open = STRBUF_INIT;
    struct fit_part *parts = NULL;
    size_t count = plan_fit(plan, environment, arena, &parts);
    for (size_t i = 0; i < count; i++) {
        if (parts[i].answer == FIT_NO)
            return arena_printf(arena, _("the code does not fit: %s, needed %s, there is %s"),
                                fit_name(&parts[i]), parts[i].wanted, parts[i].has);
        if (parts[i].answer == FIT_OPEN)
            strbuf_add_next(&open, ", ", fit_name(&parts[i]));
    }
    return open.length > 0
               ? arena_printf(arena, _("whether the code fits is open: %s"), strbuf_str(&open))
               : _("the code fits, as far as its requirements say");
}

/* Two lines: does the code fit, and what is open. */
static void add_short(const struct plan *plan, const struct plan_environment *environment,
                      const struct part *parts, size_t count, struct report_style style,
                      struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_STRBUF struct strbuf open = STRBUF_INIT;
    layout_line(out, style, 2,
                arena_printf(arena, _("%s (line %u): %s"), environment->id,
                             (unsigned)environment->at.line, fit_text(plan, environment, arena)));
    for (size_t i = 0; i < count; i++)
        if (parts[i].value == NULL)
            strbuf_add_next(&open, ", ", parts[i].label);
    if (open.length > 0)
        layout_line(out, style, 4, arena_printf(arena, _("open: %s"), strbuf_str(&open)));
}

void check_add_environments(const struct plan *plan, struct report_style style,
                            struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    if (plan->environment_count == 0)
        return;
    layout_heading(out, style, _("Environments"));
    for (size_t i = 0; i < plan->environment_count; i++) {
        const struct plan_environment *environment = &plan->environments[i];
        struct part parts[PARTS_MAX];
        size_t count = parts_of(environment, arena, parts);
        if (environment->kind != PLAN_ENVIRONMENT_UNSAID)
            parts[0].value = study_words_environment(environment->kind);
        if (!style.verbose) {
            add_short(plan, environment, parts, count, style, out);
            continue;
        }
        AUTO_FREE char *head =
            mem_printf(_("%s (line %u)"), environment->id, (unsigned)environment->at.line);
        layout_line(out, style, 2, head);
        add_said(parts, count, style, out);
        add_fit(plan, environment, style, out);
        add_belonging(plan, environment, style, out);
    }
}

void check_add_before_booking(const struct plan *plan, struct report_style style,
                              struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    const struct plan_task **tasks = NULL;
    size_t count = plan_before_booking(plan, arena, &tasks);
    if (count == 0)
        return;
    layout_heading(out, style, _("To do before booking"));
    for (size_t i = 0; i < count; i++) {
        AUTO_FREE char *text =
            mem_printf(_("%s (line %u)"), tasks[i]->what, (unsigned)tasks[i]->at.line);
        layout_line(out, style, 2, text);
    }
}
