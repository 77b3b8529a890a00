/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf next: which trial to run next, and what it would buy. The status is 0 whatever it
 * advises: the verdict is in the first line and in the JSON. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/view-study.h"

#include "base/msg.h"
#include "base/str.h"
#include "forecast/predict.h"
#include "report/next.h"
#include "work/next.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_TEXT 10 /* trials listed where nobody says how many; JSON has all */

static const char *opt_env, *opt_within;
static int64_t opt_seed = (int64_t)PREDICT_SEED;
static int64_t opt_limit = -1;

static const struct opt_spec next_options[] = {
    {.name = "env",
     .type = OPT_TEXT,
     .target = &opt_env,
     .argument = N_("ID"),
     .help = N_("The environment of the plan that is advised for (without it the first).")},
    {.name = "within",
     .type = OPT_TEXT,
     .target = &opt_within,
     .argument = N_("PERCENT"),
     .help = N_("How wide the 90 % interval of what is left may be, as a share of its median; "
                "then no further trial is advised (without it 20%).")},
    {.name = "limit",
     .type = OPT_COUNT,
     .target = &opt_limit,
     .argument = N_("N"),
     .max = INT64_MAX,
     .help = N_("List at most so many trials (0: all; without it 10, in JSON all).")},
    {.name = "seed",
     .type = OPT_COUNT,
     .target = &opt_seed,
     .argument = N_("N"),
     .max = INT64_MAX,
     .help = N_("Seed of the simulation; the same seed gives the same figures.")},
    {.name = NULL},
};

/* "20%", "20 %" or "20"; without the option *ret stays. */
static int read_within(double *ret, struct err *err) {
    if (opt_within == NULL) {
        return 0;
    }
    size_t length = strlen(opt_within);
    if (length > 0 && opt_within[length - 1] == '%') {
        length--;
    }
    while (length > 0 && opt_within[length - 1] == ' ') {
        length--;
    }
    AUTO_FREE char *number = mem_strndup(opt_within, length);
    double percent;
    if (str_to_double(number, &percent) < 0 || !(percent > 0.0) || percent > 1000.0) {
        return err_set(err, -EINVAL, "usage-bad-value",
                       "option '--within' takes a percentage above 0 and up to 1000, such as 20%%, "
                       "not '%s'",
                       opt_within);
    }
    *ret = percent / 100.0;
    return 0;
}

static int advise(double within, struct err *err) {
    AUTO_VIEW_STUDY struct view_study view = {0};
    struct next_advice advice;
    const struct work_study_options options = {
        .environment = opt_env, .look_at_code = true, .look_at_past = true};
    const struct next_options how = {.within = within, .seed = (uint64_t)opt_seed};
    if (opt_common.json) {
        (void)msg_set_language("en"); /* the reasons are part of the document */
    }
    int rc = view_study_open(&options, &view, err);
    rc = rc < 0 ? rc : work_next_make(&view.work, &how, view.arena, &advice, err);
    if (rc < 0) {
        return rc;
    }
    if (opt_common.json) {
        cli_print_json(report_next_json(&advice, opt_limit > 0 ? (size_t)opt_limit : 0));
        return 0;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_next_text(&advice, opt_limit < 0 ? LIMIT_TEXT : (size_t)opt_limit,
                     cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
    return 0;
}

static int next_main(int argc, char **argv) {
    (void)argc;
    (void)argv;
    struct err err = ERR_INIT;
    double within = NEXT_WITHIN;
    if (read_within(&within, &err) < 0) {
        return cli_usage_error("next", &err);
    }
    return advise(within, &err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

const struct command command_next = {
    .name = "next",
    .summary = N_("Say which trial to run next, and what it would buy."),
    .details = N_(
        "Of every run that could be made now: how much narrower the 90 % interval of what is left "
        "is expected to become by it, a GPU-minute (a minute where there is no GPU). What was "
        "never run comes first. What gates, support or failures forbid is listed with its reason. "
        "It also says when the interval is narrow enough, and when no trial is worth its time; "
        "the status is 0 in every case."),
    .usage = N_("[--env ID] [--within PERCENT] [--limit N] [options]"),
    .examples = N_("probelauf next  # the best trial, then the others in their order\n"
                   "probelauf next -v  # with the reason and the command of each\n"
                   "probelauf next --within 10%  # go on until the interval is a tenth wide\n"
                   "probelauf next --env rented-a --json  # for programs\n"),
    .options = next_options,
    .min_args = 0,
    .max_args = 0,
    .operand = "",
    .traits = COMMAND_LEDGER | COMMAND_JSON | COMMAND_PLAN,
    .run = next_main,
};
