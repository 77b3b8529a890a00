/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf report: what one hands over, in one piece. Of the plan's study; without a plan of the
 * newest runs in the ledger. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/view-study.h"
#include "cli/view.h"

#include "base/clock.h"
#include "base/msg.h"
#include "forecast/predict.h"
#include "report/study.h"
#include "work/calibration.h"
#include "work/decide.h"
#include "work/review.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define RUNS_SHOWN 50

static const char *opt_format, *opt_file, *opt_env, *opt_for;
static int64_t opt_limit = RUNS_SHOWN;

static const char *const formats[] = {"markdown", "json", "csv", NULL};

static const struct opt_spec report_options[] = {
    {.name = "format",
     .type = OPT_CHOICE,
     .target = &opt_format,
     .argument = N_("FORMAT"),
     .choices = formats,
     .help = N_("markdown (the report itself), json (all of it) or csv (one line per figure).")},
    {.name = "for",
     .type = OPT_CHOICE,
     .target = &opt_for,
     .argument = N_("WHOM"),
     .words = report_for_name,
     .help =
         N_("Write for those who decide about machines: a justification of the resources "
            "(generic, nairr, access, cscs, genci, nhr), a rental brief (rental), the answer to "
            "a checklist (neurips). Needs a plan.")},
    {.short_name = 'o',
     .name = "output",
     .type = OPT_PATH,
     .target = &opt_file,
     .argument = N_("FILE"),
     .help = N_("Write to this file instead of standard output; it appears when it is whole.")},
    {.name = "env",
     .type = OPT_TEXT,
     .target = &opt_env,
     .argument = N_("ID"),
     .help = N_("The environment of the plan that it is about (without it the first).")},
    {.name = "limit",
     .type = OPT_COUNT,
     .target = &opt_limit,
     .argument = N_("N"),
     .max = INT64_C(1000000000),
     .help = N_("At most the N newest runs (50), 0: all. With a plan JSON and CSV hold all runs "
                "of its study; every form says which are in.")},
    {.name = NULL},
};

/* Everything that a document borrows from. */
struct material {
    struct arena *arena;
    struct runs *runs;
    struct work_study work;            /* with a plan */
    struct plan_complaints complaints; /* in the arena of the plan that `work` has */
    struct run **loaded;               /* without a plan; owned */
    size_t loaded_count;
    struct estimate estimate;
    struct cost cost;
    struct decision decision;
    struct review review;
    struct report_document document;
};

static void material_done(struct material *material) {
    work_study_done(&material->work);
    for (size_t i = 0; i < material->loaded_count; i++) {
        material->loaded[i] = run_free(material->loaded[i]);
    }
    mem_free_ptr(&material->loaded);
    material->runs = runs_close(material->runs);
    material->arena = arena_free(material->arena);
}
#define AUTO_MATERIAL __attribute__((cleanup(material_done)))

static int take_study(struct material *material, struct plan *take_plan, struct err *err) {
    const struct work_study_options options = {
        .environment = opt_env, .look_at_code = true, .look_at_past = true};
    const struct estimate_options how = {.seed = PREDICT_SEED};
    int rc = work_study_open(take_plan, &options, material->runs, &material->work, err);
    rc = rc < 0 ? rc
                : estimate_make(&material->work.study, &how, material->arena, &material->estimate,
                                err);
    rc = rc < 0 ? rc
                : work_review_make(&material->work, &material->estimate,
                                   &(struct work_review_options){.name = NULL}, material->arena,
                                   &material->review, err);
    rc = rc < 0 ? rc
                : work_decide_make(&material->work, opt_env != NULL, material->arena,
                                   &material->decision, err);
    if (rc < 0) {
        return rc;
    }
    work_calibration_of_review(material->runs, &material->work, material->arena, &material->review);
    work_calibration_of_estimate(material->runs, &material->work, material->arena,
                                 &material->estimate);
    cli_warning(material->work.unreadable);
    struct report_frozen *frozen = NULL;
    struct report_document *document = &material->document;
    document->frozen_count = view_study_frozen(&material->work, material->arena, &frozen);
    document->frozen = frozen;
    document->study = &material->work.study;
    document->estimate = &material->estimate;
    cost_make(&material->estimate, NULL, material->arena, &material->cost);
    document->cost = &material->cost;
    document->decision = &material->decision;
    document->review = &material->review;
    document->complaints = &material->complaints;
    document->runs = material->work.input.runs;
    document->run_count = material->work.input.run_count;
    return 0;
}

/* The newest runs of the ledger. One that cannot be read is left out with a warning. */
static int take_runs(struct material *material, struct err *err) {
    struct store_query query = {.type = "run"}; /* all: the report says how many there are */
    struct store_entry *entries = NULL;
    size_t count = 0;
    int rc = runs_need_ledger(material->runs, err);
    rc = rc < 0 ? rc : runs_list(material->runs, &query, material->arena, &entries, &count, err);
    if (rc < 0) {
        return rc;
    }
    material->document.run_total = count;
    if (opt_limit > 0 && count > (size_t)opt_limit) {
        count = (size_t)opt_limit;
    }
    material->loaded = mem_realloc(NULL, count + 1, sizeof(struct run *));
    for (size_t i = 0; i < count; i++) {
        struct err unreadable = ERR_INIT;
        struct run *run = NULL;
        if (runs_load_entry(material->runs, &entries[i], false, &run, &unreadable) < 0) {
            AUTO_FREE char *text =
                mem_printf(_("skipping run %s: %s"), entries[i].run, unreadable.text);
            cli_warning(text);
            err_clear(&unreadable);
            continue;
        }
        material->loaded[material->loaded_count++] = run;
    }
    material->document.runs = (const struct run *const *)material->loaded;
    material->document.run_count = material->loaded_count;
    return 0;
}

static int gather(struct material *material, struct err *err) {
    struct plan *plan = NULL;
    material->arena = arena_new();
    material->document.now_utc_ns = clock_utc_ns();
    material->document.program = "probelauf " PROBELAUF_VERSION;
    material->document.runs_shown = opt_limit > 0 ? (size_t)opt_limit : SIZE_MAX;
    int rc = view_plan(material->arena, opt_env != NULL || opt_for != NULL, &plan,
                       &material->complaints, err);
    if (rc < 0) {
        plan_free_ptr(&plan);
        return rc;
    }
    rc = view_open(material->arena, &material->runs, err);
    if (rc < 0) {
        plan_free_ptr(&plan);
        return rc;
    }
    return plan != NULL ? take_study(material, plan, err) : take_runs(material, err);
}

static void render(const struct report_document *document, struct strbuf *out) {
    const char *format = opt_format != NULL ? opt_format : opt_common.json ? "json" : "markdown";
    if (strcmp(format, "json") == 0) {
        AUTO_JSON json_t *json =
            opt_for != NULL ? report_for_json(document, opt_for) : report_document_json(document);
        json_add_pretty(out, json);
    } else if (strcmp(format, "csv") == 0) {
        report_document_csv(document, out);
    } else if (opt_for != NULL) {
        report_for_markdown(document, opt_for, out);
    } else {
        report_document_markdown(document, out);
    }
}

static int report(struct err *err) {
    AUTO_MATERIAL struct material material = {0};
    AUTO_OUTPUT struct output output = {.fd = -1};
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    int rc = gather(&material, err);
    if (rc < 0) {
        return rc;
    }
    render(&material.document, &text);
    rc = output_open(opt_file, false, 0666, &output, err);
    rc = rc < 0 ? rc : output_write(&output, strbuf_str(&text), text.length, err);
    return rc < 0 ? rc : output_commit(&output, err);
}

static int report_main(int argc, char **argv) {
    (void)argc;
    (void)argv;
    struct err err = ERR_INIT;
    if (opt_common.json && opt_format != NULL && strcmp(opt_format, "json") != 0) {
        (void)err_set(&err, -EINVAL, "usage-conflict",
                      "'--json' and '--format %s' cannot be given together", opt_format);
        return cli_usage_error("report", &err);
    }
    if (opt_for != NULL && opt_format != NULL && strcmp(opt_format, "csv") == 0) {
        (void)err_set(&err, -EINVAL, "usage-conflict",
                      "'--for %s' is written as markdown or json, not as csv", opt_for);
        return cli_usage_error("report", &err);
    }
    if (opt_format != NULL && strcmp(opt_format, "markdown") != 0) {
        (void)msg_set_language("en"); /* for programs: the same in every language */
    }
    return report(&err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

const struct command command_report = {
    .name = "report",
    .summary = N_("Write the report: what is known, measured, estimated and open, in one piece."),
    .details = N_("With a plan about its study: facts, scope, blocks, runs, estimate, method. "
                  "Without one about the newest runs. Every figure carries the mark of how it is "
                  "known."),
    .usage = N_("[--format markdown|json|csv] [--for WHOM] [-o FILE] [options]"),
    .examples = N_("probelauf report -o report.md  # to hand over\n"
                   "probelauf report --format csv -o figures.csv  # for a spreadsheet\n"
                   "probelauf report --for generic -o request.md  # to ask for machines\n"
                   "probelauf report --json  # for programs\n"),
    .options = report_options,
    .min_args = 0,
    .max_args = 0,
    .operand = "",
    .traits = COMMAND_LEDGER | COMMAND_JSON | COMMAND_PLAN,
    .run = report_main,
};
