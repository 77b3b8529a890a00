/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf review: what was planned and what happened, block by block; and answers to what the
 * records cannot tell. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/view-study.h"

#include "base/msg.h"
#include "base/str.h"
#include "forecast/predict.h"
#include "report/review.h"
#include "work/calibration.h"
#include "work/review.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char *opt_estimate, *opt_env, *opt_part, *opt_cause, *opt_why, *opt_format, *opt_file;
static bool opt_log;

static const char *const formats[] = {"csv", "markdown", NULL};

static const struct opt_spec review_options[] = {
    {.name = "estimate",
     .type = OPT_TEXT,
     .target = &opt_estimate,
     .argument = N_("NAME"),
     .help = N_("The kept estimate that is meant (without it each block's own).")},
    {.name = "env",
     .type = OPT_TEXT,
     .target = &opt_env,
     .argument = N_("ID"),
     .help = N_("The environment of the plan that it is about (without it the first).")},
    {.name = "part",
     .type = OPT_TEXT,
     .target = &opt_part,
     .argument = N_("PART"),
     .needs = "cause",
     .conflicts = "log estimate",
     .help = N_("Answer a question: the part of the block, as --json names it.")},
    {.name = "cause",
     .type = OPT_TEXT,
     .target = &opt_cause,
     .argument = N_("CAUSE"),
     .needs = "part",
     .help = N_("Its cause.")},
    {.name = "why",
     .type = OPT_TEXT,
     .target = &opt_why,
     .argument = N_("TEXT"),
     .needs = "cause",
     .help = N_("What shows that cause.")},
    {.name = "log",
     .type = OPT_FLAG,
     .target = &opt_log,
     .help = N_("The experiment log instead: one line or section for each attempt.")},
    {.name = "format",
     .type = OPT_CHOICE,
     .target = &opt_format,
     .argument = N_("FORMAT"),
     .choices = formats,
     .needs = "log",
     .help = N_("The log as markdown (to read; without it this) or csv (for programs).")},
    {.short_name = 'o',
     .name = "output",
     .type = OPT_PATH,
     .target = &opt_file,
     .argument = N_("FILE"),
     .needs = "log",
     .help = N_("Write the log to this file; it appears when it is whole.")},
    {.name = NULL},
};

static int answer(struct view_study *view, const char *block, struct err *err) {
    const struct work_review_answer given = {
        .block = block, .part = opt_part, .cause = opt_cause, .why = opt_why};
    int rc = work_review_write(&view->work, &view->place, runs_store(view->runs), &given, err);
    if (rc == 0) {
        AUTO_FREE char *note =
            mem_printf(_("recorded: block '%s', %s: %s"), block, opt_part, opt_cause);
        cli_note(note);
    }
    return rc;
}

/* For programs, and only where it is asked for: it has a column for each figure. */
static bool is_csv(void) {
    return opt_format != NULL && strcmp(opt_format, "csv") == 0;
}

static int print_log(const struct review *review, struct err *err) {
    AUTO_OUTPUT struct output output = {.fd = -1};
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (is_csv()) {
        report_review_log_csv(review, &text);
    } else {
        report_review_log_markdown(review, &text);
    }
    int rc = output_open(opt_file, false, 0666, &output, err);
    rc = rc < 0 ? rc : output_write(&output, strbuf_str(&text), text.length, err);
    return rc < 0 ? rc : output_commit(&output, err);
}

static int print_review(const struct review *review, struct err *err) {
    if (opt_log) {
        return print_log(review, err);
    }
    if (opt_common.json) {
        cli_print_json(report_review_json(review));
        return 0;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_review_text(review, cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
    return 0;
}

/* What cannot be kept now is kept by the next review: it holds nothing back. */
static void keep(struct view_study *view, const struct review *made) {
    struct err err = ERR_INIT;
    if (work_calibration_keep(&view->work, &view->place, view->runs, made, &err) < 0) {
        AUTO_FREE char *text =
            mem_printf(_("what became of the planned intervals is not kept: %s"), err.text);
        cli_warning(text);
    }
}

static int review(const char *block, struct err *err) {
    AUTO_VIEW_STUDY struct view_study view = {0};
    struct estimate estimate;
    struct review made;
    const struct work_study_options options = {
        .environment = opt_env, .look_at_code = true, .look_at_past = true};
    const struct estimate_options how = {.seed = PREDICT_SEED};
    const struct work_review_options what = {.name = opt_estimate, .block = block};
    int rc = view_study_open(&options, &view, err);
    if (rc == 0 && opt_part != NULL) {
        return answer(&view, block, err);
    }
    rc = rc < 0 ? rc : estimate_make(&view.work.study, &how, view.arena, &estimate, err);
    rc = rc < 0 ? rc : work_review_make(&view.work, &estimate, &what, view.arena, &made, err);
    if (rc < 0) {
        return rc;
    }
    keep(&view, &made);
    work_calibration_of_review(view.runs, &view.work, view.arena, &made);
    return print_review(&made, err);
}

static bool is_usage(const struct err *err) {
    return str_starts_with(err->id, "usage-") || strcmp(err->id, "review-part") == 0 ||
           strcmp(err->id, "review-cause") == 0 || strcmp(err->id, "review-why") == 0;
}

static int review_main(int argc, char **argv) {
    struct err err = ERR_INIT;
    if (opt_part != NULL && (argc == 0 || opt_why == NULL)) {
        (void)err_set(&err, -EINVAL, "usage-needs",
                      "an answer needs the block and '--why TEXT': probelauf review BLOCK --part "
                      "PART --cause CAUSE --why TEXT");
        return cli_usage_error("review", &err);
    }
    if (opt_common.json && opt_log) {
        (void)err_set(&err, -EINVAL, "usage-conflict",
                      "'--json' and '--log' cannot be given together");
        return cli_usage_error("review", &err);
    }
    if (opt_common.json || (opt_log && is_csv())) {
        (void)msg_set_language("en"); /* causes and reasons are part of the document */
    }
    if (review(argc > 0 ? argv[0] : NULL, &err) == 0) {
        return EXIT_CODE_DONE;
    }
    return is_usage(&err) ? cli_usage_error("review", &err) : cli_error(&err);
}

const struct command command_review = {
    .name = "review",
    .summary = N_("Hold a kept estimate against what happened, and say what follows for the next "
                  "block."),
    .details =
        N_("Each block is held against the estimate that was kept before its work began "
           "('probelauf estimate --freeze NAME'). A cause is named only where the records show it; "
           "that computing itself took longer only when data access, loading, storage and failures "
           "are excluded by data. What they cannot tell is asked, and --part, --cause and --why "
           "answer it.\n"
           "Causes: preparation, dependency, data-access, loading, storage, other-input, waiting, "
           "failures, computing, fewer-steps, none.\n"
           "Parts: prepare, data, transfer, runs, runs/load, runs/preprocess, runs/compute, "
           "runs/write, runs/unattributed, retries, retries/count, fixing, checking, teardown, "
           "idle, memory/host, memory/gpu."),
    .usage = N_("[BLOCK] [--estimate NAME] [--env ID] [options]"),
    .examples =
        N_("probelauf review  # every block with a kept estimate\n"
           "probelauf review compare --estimate first  # one block, one estimate\n"
           "probelauf review compare --part runs/compute --cause other-input --why 'longer prompts'"
           "  # answer a question\n"
           "probelauf review --log --format csv -o log.csv  # the experiment log\n"),
    .options = review_options,
    .min_args = 0,
    .max_args = 1,
    .operand = "block",
    .traits = COMMAND_LEDGER | COMMAND_JSON | COMMAND_PLAN,
    .run = review_main,
};
