/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf show [RUN]: one run in full, for people with a timeline, for programs as
 * probelauf.run/1. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/view.h"

#include "base/msg.h"
#include "work/session.h"

#include <unistd.h>

static int show(const char *ref, struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_RUN struct run *run = NULL;
    int rc = view_open(arena, &runs, err);
    if (rc == 0) {
        rc = runs_load(runs, ref, true, &run, err);
    }
    if (rc < 0) {
        return rc;
    }
    work_session_tell_run(runs, run);
    if (opt_common.json) {
        cli_print_json(report_run_json(run));
        return 0;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_run_text(run, cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
    return 0;
}

static int show_run(int argc, char **argv) {
    struct err err = ERR_INIT;
    return show(argc > 0 ? argv[0] : "@1", &err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

const struct command command_show = {
    .name = "show",
    .summary = N_("Show one run in full: what it took, when, and what is open."),
    .usage = N_("[RUN]"),
    .examples = N_("probelauf show  # the latest run\n"
                   "probelauf show @2  # the one before it\n"
                   "probelauf show 4f7a --json  # the run whose id ends so, for programs\n"),
    .min_args = 0,
    .max_args = 1,
    .operand = "run",
    .traits = COMMAND_LEDGER | COMMAND_JSON,
    .run = show_run,
};
