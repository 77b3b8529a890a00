/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf check: what is wrong with the plan, what it is, and which open facts stop what. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/view.h"

#include "base/clock.h"
#include "base/msg.h"
#include "base/str.h"
#include "report/study.h"
#include "rules/estimate.h"
#include "work/find-plan.h"
#include "work/plan-data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what only layers above the plan know: which assumptions there can be, today, the repository
 * ---- */

struct list { /* of the complaints, with what is found here */
    struct plan *plan;
    struct plan_complaint *items; /* in the arena of the plan */
    size_t count, room;
    size_t errors; /* of those found here */
};

static void complain(struct list *list, struct plan_at at, bool warning, const char *id,
                     const char *text) {
    if (list->count == list->room) {
        size_t room = 2 * list->room + 16;
        struct plan_complaint *items = arena_alloc(list->plan->arena, room * sizeof *items);
        if (list->count > 0) {
            memcpy(items, list->items, list->count * sizeof *items);
        }
        list->items = items;
        list->room = room;
    }
    list->items[list->count++] = (struct plan_complaint){
        .at = at, .warning = warning, .id = id, .text = arena_strdup(list->plan->arena, text)};
    list->errors += !warning;
}

static void check_assumptions(struct list *list) {
    const struct plan *plan = list->plan;
    for (size_t i = 0; i < plan->assumption_count; i++) {
        const struct plan_assumption *assumption = &plan->assumptions[i];
        const char *why = NULL;
        if (!estimate_setting_check(plan, assumption->key, assumption->value, plan->arena, &why)) {
            complain(list, assumption->at, false, "plan-assumption", why);
        }
    }
}

/* Somewhere on earth it may be that day already. A clock may be wrong, so it is a warning. */
#define AHEAD_NS (14 * INT64_C(3600) * NS_PER_S)

static void check_date(struct list *list, const struct plan_date *date, int64_t now_utc_ns) {
    if (!date->given || date->utc_ns <= now_utc_ns + AHEAD_NS) {
        return;
    }
    AUTO_FREE char *text = mem_printf(
        _("%s is in the future: nothing can have been seen or assumed on that day"), date->text);
    complain(list, date->at, true, "plan-date", text);
}

static void check_dates(struct list *list, int64_t now_utc_ns) {
    const struct plan *plan = list->plan;
    const struct plan_owning *owning = &plan->owning;
    const struct plan_sourced *const sourced[] = {
        &owning->purchase,  &owning->lifetime,    &owning->residual,
        &owning->power,     &owning->electricity, &owning->administration,
        &owning->lead_time, &owning->utilisation, &plan->privacy.provider_statement};
    for (size_t i = 0; i < plan->fact_count; i++) {
        check_date(list, &plan->facts[i].seen, now_utc_ns);
    }
    for (size_t i = 0; i < plan->offer_count; i++) {
        check_date(list, &plan->offers[i].seen, now_utc_ns);
    }
    for (size_t i = 0; i < plan->task_count; i++) {
        check_date(list, &plan->tasks[i].when, now_utc_ns);
    }
    for (size_t i = 0; i < plan->assumption_count; i++) {
        check_date(list, &plan->assumptions[i].when, now_utc_ns);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(sourced); i++) {
        check_date(list, &sourced[i]->seen, now_utc_ns);
    }
}

static void check_data(struct list *list) {
    struct plan_data *data = NULL;
    size_t count = work_plan_data(list->plan, list->plan->arena, &data);
    for (size_t i = 0; i < count; i++) {
        AUTO_STRBUF struct strbuf path = STRBUF_INIT;
        str_add_printable(&path, data[i].path, strlen(data[i].path));
        AUTO_FREE char *text = mem_printf(
            data[i].is_output
                ? _("no code.paths: everything tracked counts as code, also %s, an output of block "
                    "'%s'; when it changes, no run counts any more")
                : _("no code.paths: everything tracked counts as code, also %s, an input of block "
                    "'%s'; when it changes, no run counts any more"),
            strbuf_str(&path), data[i].block->id);
        complain(list, data[i].at, true, "plan-code", text);
    }
}

static int compare_places(const void *a, const void *b) {
    const struct plan_complaint *left = a, *right = b;
    /* of the file as a whole (line 0) at the end, as plan_read has them */
    uint32_t left_line = left->at.line - 1, right_line = right->at.line - 1;
    if (left_line != right_line) {
        return left_line < right_line ? -1 : 1;
    }
    return left->at.column < right->at.column ? -1 : left->at.column > right->at.column;
}

/* The plan is otherwise sound: nothing in it is missing that this looks at. */
static void add_complaints(struct plan *plan, struct plan_complaints *complaints) {
    struct list list = {.plan = plan,
                        .items = complaints->items,
                        .count = complaints->count,
                        .room = complaints->count};
    check_assumptions(&list);
    check_dates(&list, clock_utc_ns());
    check_data(&list);
    if (list.count == complaints->count) {
        return;
    }
    qsort(list.items, list.count, sizeof *list.items, compare_places);
    complaints->items = list.items;
    complaints->count = list.count;
    complaints->errors += list.errors;
}

/* ---- the command ---- */

static int find(int argc, char **argv, struct arena *arena, const char **ret_path,
                struct err *err) {
    if (argc > 0) {
        *ret_path = argv[0];
        return 0;
    }
    int rc = work_find_plan(opt_common.plan, arena, ret_path, err);
    if (rc == 0 && *ret_path == NULL) {
        rc = err_set(err, -ENOENT, "plan-missing",
                     "there is no plan in this folder or above it; 'probelauf init' writes one, "
                     "'--plan FILE' names one");
    }
    return rc;
}

/* Of assumptions alone: only what makes an estimate reads them. */
static bool is_read_otherwise(const struct plan_complaints *complaints) {
    for (size_t i = 0; i < complaints->count; i++) {
        if (!complaints->items[i].warning &&
            strcmp(complaints->items[i].id, "plan-assumption") != 0) {
            return false;
        }
    }
    return true;
}

static void say(const struct plan *plan, const struct plan_complaints *complaints) {
    view_complain(plan->path, complaints, true);
    if (complaints->errors > 0) {
        unsigned long count = (unsigned long)complaints->errors;
        AUTO_FREE char *text = mem_printf(
            is_read_otherwise(complaints)
                ? msg_plural(count,
                             "the plan has %zu error; nothing is estimated from it until it is "
                             "corrected",
                             "the plan has %zu errors; nothing is estimated from it until they "
                             "are corrected")
                : msg_plural(count, "the plan has %zu error and is not used until it is corrected",
                             "the plan has %zu errors and is not used until they are corrected"),
            complaints->errors);
        cli_note(text);
        return;
    }
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    report_check_text(plan, complaints, cli_style(STDOUT_FILENO), &out);
    cli_print(&out);
}

static int check_run(int argc, char **argv) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_PLAN struct plan *plan = NULL;
    struct plan_complaints complaints = {0};
    struct err err = ERR_INIT;
    const char *path = NULL;
    if (argc > 0 && opt_common.plan != NULL) {
        (void)err_set(&err, -EINVAL, "usage-conflict",
                      "the plan is named twice: '--plan %s' and '%s'", opt_common.plan, argv[0]);
        return cli_usage_error("check", &err);
    }
    if (opt_common.json) {
        (void)msg_set_language("en"); /* complaints are part of the document */
    }
    if (find(argc, argv, arena, &path, &err) < 0) {
        return cli_error(&err);
    }
    (void)plan_read(path, &plan, &complaints, &err);
    if (plan == NULL) {
        return cli_error(&err);
    }
    if (complaints.errors == 0) {
        add_complaints(plan, &complaints);
    }
    if (opt_common.json) {
        cli_print_json(report_check_json(plan, &complaints));
    } else {
        say(plan, &complaints);
    }
    if (complaints.errors > 0) {
        return EXIT_CODE_ERROR;
    }
    return report_check_is_stopped(plan) ? EXIT_CODE_OPEN_FACTS : EXIT_CODE_DONE;
}

const struct command command_check = {
    .name = "check",
    .summary = N_("Check the plan; list open facts and what each stops."),
    .details = N_("Everything that is wrong is said in one pass, a line each with its place. The "
                  "status is 1 for a plan with errors, 3 if open facts stand in the way of "
                  "something, else 0."),
    .usage = N_("[options] [FILE]"),
    .examples = N_("probelauf check  # the plan of this folder or one above\n"
                   "probelauf check --json  # complaints and open facts for programs\n"),
    .options = NULL,
    .min_args = 0,
    .max_args = 1,
    .operand = "file",
    .traits = COMMAND_PLAN | COMMAND_JSON,
    .run = check_run,
};
