/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf compare RUN RUN: two runs side by side. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/view.h"

#include "base/msg.h"

#include <unistd.h>

static int compare(const char *ref_a, const char *ref_b, struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_RUN struct run *a = NULL;
    AUTO_RUN struct run *b = NULL;
    int rc = view_open(arena, &runs, err);
    rc = rc < 0 ? rc : runs_load(runs, ref_a, false, &a, err);
    rc = rc < 0 ? rc : runs_load(runs, ref_b, false, &b, err);
    if (rc < 0) {
        return rc;
    }
    if (opt_common.json) {
        cli_print_json(report_compare_json(a, b));
        return 0;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_compare_text(a, b, cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
    return 0;
}

static int compare_run(int argc, char **argv) {
    (void)argc;
    struct err err = ERR_INIT;
    return compare(argv[0], argv[1], &err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

const struct command command_compare = {
    .name = "compare",
    .summary = N_("Show two runs side by side and what differs between them."),
    .usage = N_("RUN RUN"),
    .examples = N_("probelauf compare @2 @1  # the latest run beside the one before\n"
                   "probelauf compare @2 @1 --json  # for programs\n"),
    .min_args = 2,
    .max_args = 2,
    .operand = "run",
    .traits = COMMAND_LEDGER | COMMAND_JSON,
    .run = compare_run,
};
