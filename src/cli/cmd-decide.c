/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf decide: what may be booked now, by the branches of docs/decide.md. The status is 4
 * while nothing beyond a validation may be. Never writes to the plan. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/view-study.h"

#include "base/msg.h"
#include "base/str.h"
#include "report/decide.h"
#include "work/decide.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char *opt_env, *opt_keep;

static const struct opt_spec decide_options[] = {
    {.name = "env",
     .type = OPT_TEXT,
     .target = &opt_env,
     .argument = N_("ID"),
     .help = N_("Only this environment of the plan (without it all of them, side by side).")},
    {.name = "keep",
     .type = OPT_TEXT,
     .target = &opt_keep,
     .argument = N_("NAME"),
     .help = N_("Keep the decision under a name, as a record with its date and all its grounds.")},
    {.name = NULL},
};

static int make(const struct view_study *view, struct decision *ret, struct err *err) {
    return work_decide_make(&view->work, opt_env != NULL, view->arena, ret, err);
}

static void print(const struct view_study *view, const struct decision *decision) {
    struct work_kept_decision *kept;
    size_t count = work_decide_kept(&view->work, &kept);
    struct report_kept_decision *lines = arena_alloc(view->arena, (count + 1) * sizeof(*lines));
    for (size_t i = 0; i < count; i++) {
        lines[i] = (struct report_kept_decision){
            .name = kept[i].name, .verdict = kept[i].verdict, .utc_ns = kept[i].utc_ns};
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_decide_text(decision, lines, count, opt_env != NULL, cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
}

/* A record is in English whatever the language, so the decision is made once more for it. */
static int keep(const struct work_study_options *options, struct err *err) {
    AUTO_VIEW_STUDY struct view_study view = {0};
    AUTO_FREE char *note = mem_printf(_("kept as '%s'"), opt_keep);
    struct decision decision;
    int rc = view_study_open_again(options, &view, err);
    rc = rc < 0 ? rc : make(&view, &decision, err);
    if (rc < 0) {
        return rc;
    }
    AUTO_JSON json_t *document = report_decide_json(&decision);
    rc = work_decide_keep(&view.work, &view.place, view.runs, opt_keep, document, err);
    if (rc == 0) {
        cli_note(note);
    }
    return rc;
}

static int decide(int *ret_code, struct err *err) {
    AUTO_VIEW_STUDY struct view_study view = {0};
    struct decision decision;
    const struct work_study_options options = {
        .environment = opt_env, .look_at_code = true, .look_at_past = true};
    if (opt_common.json) {
        (void)msg_set_language("en"); /* the grounds are part of the document */
    }
    int rc = view_study_open(&options, &view, err);
    rc = rc < 0 ? rc : make(&view, &decision, err);
    if (rc < 0) {
        return rc;
    }
    if (opt_common.json) {
        cli_print_json(report_decide_json(&decision));
    } else {
        print(&view, &decision);
    }
    *ret_code = decide_is_not_yet(&decision) ? EXIT_CODE_NOT_YET : EXIT_CODE_DONE;
    return opt_keep != NULL ? keep(&options, err) : 0;
}

static int decide_main(int argc, char **argv) {
    (void)argc;
    (void)argv;
    struct err err = ERR_INIT;
    int code = EXIT_CODE_ERROR;
    if (opt_keep != NULL && !work_is_name(opt_keep)) {
        (void)err_set(&err, -EINVAL, "decision-name",
                      "'%s' cannot be the name of a decision: use up to %u letters, digits, '.', "
                      "'_' and '-'",
                      opt_keep, WORK_FROZEN_NAME_MAX);
        return cli_usage_error("decide", &err);
    }
    return decide(&code, &err) < 0 ? cli_error(&err) : code;
}

const struct command command_decide = {
    .name = "decide",
    .summary = N_("Decide what may be booked now: validate first, in stages, by blocks, not yet."),
    .details =
        N_("The branches are asked in a fixed order for each candidate environment and each "
           "block; the most cautious one that applies stands, with all that it rests on and what "
           "would change it. Of an open question the cautious side holds. The status is 4 while "
           "nothing beyond a validation may be booked."),
    .usage = N_("[--env ID] [--keep NAME] [options]"),
    .examples =
        N_("probelauf decide  # every environment, side by side\n"
           "probelauf decide --env rented-a  # one, block by block; -v: every rule in full\n"
           "probelauf decide --keep meeting-1  # keep it as a record\n"
           "probelauf decide --json  # for programs\n"),
    .options = decide_options,
    .min_args = 0,
    .max_args = 0,
    .operand = "",
    .traits = COMMAND_LEDGER | COMMAND_JSON | COMMAND_PLAN,
    .run = decide_main,
};
