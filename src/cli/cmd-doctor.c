/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf doctor: what this machine and a clone of the code are, and what of them will not work,
 * before hours are paid. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/settings.h"
#include "cli/view.h"

#include "base/msg.h"
#include "plan/plan.h"
#include "plan/value.h"
#include "report/doctor.h"
#include "work/doctor.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char *opt_weights, *opt_env, *opt_repo, *opt_only;
static bool opt_snippet;

static const struct opt_spec doctor_options[] = {
    {.name = "env",
     .type = OPT_TEXT,
     .target = &opt_env,
     .argument = N_("ID"),
     .help = N_("The environment of the plan that this machine should be (without it the first).")},
    {.name = "repo",
     .type = OPT_TEXT,
     .target = &opt_repo,
     .argument = N_("DIR"),
     .help = N_("The clone of the code to look at (without it the plan's folder).")},
    {.name = "only",
     .type = OPT_TEXT,
     .target = &opt_only,
     .argument = N_("PART"),
     .help = N_("Look at 'repo' or at 'machine' alone.")},
    {.name = "weights",
     .type = OPT_TEXT,
     .target = &opt_weights,
     .argument = N_("SIZE"),
     .help = N_("What must fit beside what is there: 16GB, 140 GiB.")},
    {.name = "snippet",
     .type = OPT_FLAG,
     .target = &opt_snippet,
     .conflicts = "json",
     .help = N_("Print only what may be pasted into the plan.")},
    {.name = NULL},
};

static int read_weights(struct doctor_wishes *wishes, struct err *err) {
    uint64_t bytes;
    if (opt_weights == NULL)
        return 0;
    if (value_bytes(opt_weights, &bytes) < 0 || bytes == 0)
        return err_set(err, -EINVAL, "usage-value",
                       "'%s' is no size; write it like 16GB or 140 GiB", opt_weights);
    wishes->has_weights = true;
    wishes->weights_bytes = (double)bytes;
    return 0;
}

static int read_only(struct doctor_wishes *wishes, struct err *err) {
    if (opt_only == NULL)
        return 0;
    wishes->without_machine = strcmp(opt_only, "repo") == 0;
    wishes->without_repository = strcmp(opt_only, "machine") == 0;
    if (!wishes->without_machine && !wishes->without_repository)
        return err_set(err, -EINVAL, "usage-value",
                       "'%s' is no part to look at; --only takes 'repo' or 'machine'", opt_only);
    if (wishes->without_repository && opt_repo != NULL)
        return err_set(err, -EINVAL, "usage-value",
                       "--repo names a clone, but --only machine looks at none; leave one out");
    return 0;
}

/* A plan is looked at where there is one; a broken one has said so by then and is left aside. */
static struct plan *find_plan(struct arena *arena, struct err *err) {
    struct plan *plan = NULL;
    if (view_plan(arena, false, &plan, NULL, err) < 0)
        (void)cli_error(err);
    return plan;
}

static int doctor_run(int argc, char **argv) {
    (void)argc;
    (void)argv;
    AUTO_ARENA struct arena *arena = arena_new();
    struct doctor_wishes wishes = {.environment =
                                       opt_env != NULL ? opt_env : settings_get(SETTING_ENV).text};
    struct doctor_findings findings;
    struct place place;
    struct err err = ERR_INIT;
    if (read_weights(&wishes, &err) < 0 || read_only(&wishes, &err) < 0)
        return cli_usage_error("doctor", &err);
    if (opt_common.json || opt_snippet)
        (void)msg_set_language("en"); /* findings are part of the document */
    if (cli_place(arena, &place, &err) < 0)
        return cli_error(&err);
    AUTO_PLAN struct plan *plan = find_plan(arena, &err);
    err_clear(&err);
    wishes.plan = plan;
    wishes.repository = opt_repo;
    wishes.place = &place;
    if (work_doctor(&wishes, arena, &findings, &err) < 0)
        return cli_error(&err);
    if (opt_common.json) {
        cli_print_json(report_doctor_json(&findings));
        return EXIT_CODE_DONE;
    }
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    if (opt_snippet)
        strbuf_add_str(&out, findings.snippet);
    else
        report_doctor_text(&findings, opt_common.verbose, cli_style(STDOUT_FILENO), &out);
    cli_print(&out);
    return EXIT_CODE_DONE;
}

const struct command command_doctor = {
    .name = "doctor",
    .summary = N_("Look at this machine and the code: what is known, open, what will not work."),
    .details =
        N_("Looks at the GPU driver and devices, at the CUDA code of the installed Python "
           "packages against these devices, at room for weights, at the folders that runs "
           "write to, at limits and the clock, at what of a run can be watched here, and "
           "holds the machine against the plan's environment. Then reads a clone of the code, of "
           "which nothing is run: licence, commands and files that are named but absent, "
           "requirements that contradict each other, what it needs of a GPU, absolute paths, "
           "models and seeds, and the plan's settings against the options of the code; with "
           "--snippet as facts for the plan, each with file and line. Changes nothing; the status "
           "is 0 whatever is found. Marks: [m] seen, [?] open, [!] warning, [X] will not work."),
    .usage = N_("[options]"),
    .examples = N_("probelauf doctor  # before the first run on a rented machine\n"
                   "probelauf doctor --weights 140GB  # do they fit?\n"
                   "probelauf doctor --env rented-a  # held against that environment of the plan\n"
                   "probelauf doctor --repo ../FastKVzip --only repo -v  # the paper's code alone\n"
                   "probelauf doctor --snippet >> notes.txt  # what may be pasted into the plan\n"),
    .options = doctor_options,
    .min_args = 0,
    .max_args = 0,
    .operand = "",
    .traits = COMMAND_PLAN | COMMAND_LEDGER | COMMAND_JSON,
    .run = doctor_run,
};
