/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf estimate --repeat N [RUN…]: what N further runs like the measured ones would take. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/view.h"

#include "base/msg.h"
#include "forecast/predict.h"
#include "work/estimate.h"

#include <errno.h>
#include <unistd.h>

static int64_t opt_repeat;
static int64_t opt_seed = (int64_t)PREDICT_SEED;

static const struct opt_spec estimate_options[] = {
    {.name = "repeat",
     .type = OPT_COUNT,
     .target = &opt_repeat,
     .argument = N_("N"),
     .min = 1,
     .max = (int64_t)REPEAT_MAX,
     .help = N_("The number of further runs.")},
    {.name = "seed",
     .type = OPT_COUNT,
     .target = &opt_seed,
     .argument = N_("N"),
     .needs = "repeat",
     .max = INT64_MAX,
     .help = N_("Seed of the simulation; the same seed gives the same figures.")},
    {.name = NULL},
};

static void print(const struct work_estimate *estimate) {
    if (opt_common.json) {
        cli_print_json(report_repeat_json(&estimate->repeat));
        return;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_repeat_text(&estimate->repeat, cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
}

static int estimate(int argc, char **argv, struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_WORK_ESTIMATE struct work_estimate estimate = {0};
    int rc = view_open(arena, &runs, err);
    rc = rc < 0 ? rc
                : work_estimate_make(runs, (const char *const *)argv, (size_t)argc,
                                     (uint64_t)opt_repeat, (uint64_t)opt_seed, &estimate, err);
    if (rc < 0) {
        return rc;
    }
    cli_warning(estimate.unreadable);
    if (estimate.older) {
        AUTO_FREE char *note =
            mem_printf(_("only the %u newest runs were looked at; name RUNs to choose others"),
                       WORK_ESTIMATE_RUNS_MAX);
        cli_note(note);
    }
    print(&estimate);
    return 0;
}

static int estimate_main(int argc, char **argv) {
    struct err err = ERR_INIT;
    if (opt_repeat == 0) {
        (void)err_set(
            &err, -EINVAL, "usage-needs",
            "an estimate of a whole plan needs a plan, which this version cannot read yet; "
            "add '--repeat N' for N further runs like the measured ones");
        return cli_usage_error("estimate", &err);
    }
    return estimate(argc, argv, &err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

const struct command command_estimate = {
    .name = "estimate",
    .summary = N_("Estimate what further runs like the measured ones would take."),
    .details =
        N_("Without RUN the latest finished run is the base, and all runs of the same command "
           "with the same parameters. An amount of money needs an offer and stays open."),
    .usage = N_("--repeat N [RUN...] [options]"),
    .examples = N_("probelauf estimate --repeat 24  # 24 more runs like the latest one\n"
                   "probelauf estimate --repeat 24 @1 @2 @5  # from these runs alone\n"
                   "probelauf estimate --repeat 24 --json  # for programs\n"),
    .options = estimate_options,
    .min_args = 0,
    .max_args = -1,
    .operand = "run",
    .traits = COMMAND_LEDGER | COMMAND_JSON,
    .run = estimate_main,
};
