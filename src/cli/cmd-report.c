/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf report: what one hands over, in one piece. Of the plan's study; without a plan of the
 * newest runs in the ledger. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/view.h"

#include "base/msg.h"
#include "report/study.h"
#include "view/document.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define RUNS_SHOWN 50

static const char *opt_format, *opt_file, *opt_env, *opt_for;
static int64_t opt_limit = RUNS_SHOWN;

static const char *const formats[] = {"markdown", "html", "json", "csv", NULL};

static const struct opt_spec report_options[] = {
    {.name = "format",
     .type = OPT_CHOICE,
     .target = &opt_format,
     .argument = N_("FORMAT"),
     .choices = formats,
     .help =
         N_("markdown (the report itself), html (the same as one page with drawings), json (all "
            "of it) or csv (one line per figure).")},
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

/* What a report shows, and what it borrows from. */
struct material {
    struct arena *arena;
    struct runs *runs;
    struct plan_complaints complaints; /* in the arena of the plan that the document has */
    struct view_document document;
};

static void material_done(struct material *material) {
    view_document_done(&material->document);
    material->runs = runs_close(material->runs);
    material->arena = arena_free(material->arena);
}
#define AUTO_MATERIAL __attribute__((cleanup(material_done)))

static int gather(struct material *material, struct err *err) {
    AUTO_PLAN struct plan *plan = NULL;
    const struct view_document_options options = {.environment = opt_env,
                                                  .limit = (size_t)opt_limit};
    material->arena = arena_new();
    int rc = view_plan(material->arena, opt_env != NULL || opt_for != NULL, &plan,
                       &material->complaints, err);
    rc = rc < 0 ? rc : view_open(material->arena, &material->runs, err);
    rc = rc < 0 ? rc
                : view_document_gather(steal(plan), &material->complaints, &options, material->runs,
                                       &material->document, err);
    for (size_t i = 0; i < material->document.warning_count; i++) {
        cli_warning(material->document.warnings[i]);
    }
    return rc;
}

static void render(const struct material *material, struct strbuf *out) {
    const struct report_document *document = &material->document.report;
    const struct report_html_options page = {
        .series = view_run_series, .context = material->runs, .timelines = (size_t)opt_limit};
    const char *format = opt_format != NULL ? opt_format : opt_common.json ? "json" : "markdown";
    if (strcmp(format, "json") == 0) {
        AUTO_JSON json_t *json =
            opt_for != NULL ? report_for_json(document, opt_for) : report_document_json(document);
        json_add_pretty(out, json);
    } else if (strcmp(format, "csv") == 0) {
        report_document_csv(document, out);
    } else if (strcmp(format, "html") == 0 && opt_for != NULL) {
        report_for_html(document, opt_for, out);
    } else if (strcmp(format, "html") == 0) {
        report_document_html(document, &page, out);
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
    render(&material, &text);
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
                      "'--for %s' is written as markdown, html or json, not as csv", opt_for);
        return cli_usage_error("report", &err);
    }
    if (opt_format != NULL && strcmp(opt_format, "markdown") != 0 &&
        strcmp(opt_format, "html") != 0) {
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
    .usage = N_("[--format markdown|html|json|csv] [--for WHOM] [-o FILE] [options]"),
    .examples =
        N_("probelauf report -o report.md  # to hand over\n"
           "probelauf report --format html -o report.html  # one page with drawings, to show\n"
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
