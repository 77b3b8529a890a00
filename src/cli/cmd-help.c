/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf help [COMMAND]: the overview, or one command's examples, usage and options. */
#include "cli/cli.h"
#include "cli/commands.h"

#include "base/msg.h"

#include <unistd.h>

static int help_run(int argc, char **argv) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    int width = cli_style(STDOUT_FILENO).width;
    if (argc == 0) {
        help_overview(width, &text);
        cli_print(&text);
        return EXIT_CODE_DONE;
    }
    const struct command *command = cli_command(argv[0]);
    if (command == NULL) {
        return cli_no_command(argv[0]);
    }
    help_command(command, width, &text);
    cli_print(&text);
    return EXIT_CODE_DONE;
}

const struct command command_help = {
    .name = "help",
    .summary = N_("Show what a command does and its options."),
    .usage = N_("[COMMAND]"),
    .examples = N_("probelauf help run  # the options of 'run'\n"
                   "probelauf help  # all commands\n"),
    .min_args = 0,
    .max_args = 1,
    .operand = "command",
    .traits = COMMAND_TINY,
    .run = help_run,
};
