/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf help [COMMAND|FILE]: the overview; one command's examples, usage and options; the
 * essentials of a file. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/help.h"

#include "base/msg.h"

#include <string.h>
#include <unistd.h>

static const char *opt_format;
static const char *const format_choices[] = {"text", "json", NULL};

static const struct opt_spec help_options[] = {
    {.name = "format",
     .type = OPT_CHOICE,
     .target = &opt_format,
     .argument = N_("FORMAT"),
     .choices = format_choices,
     .help = N_("json: every command with all its options, for programs.")},
    {.name = NULL},
};

static int help_run(int argc, char **argv) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    int width = cli_style(STDOUT_FILENO).width;
    if (opt_format != NULL && strcmp(opt_format, "json") == 0) {
        cli_print_json(help_json());
        return EXIT_CODE_DONE;
    }
    if (argc == 0) {
        help_overview(width, &text);
        cli_print(&text);
        return EXIT_CODE_DONE;
    }
    const struct command *command = cli_command(argv[0]);
    if (command != NULL) {
        help_command(command, width, &text);
    } else if (!help_topic(argv[0], help_text_width(width), &text)) {
        return cli_no_command(argv[0]);
    }
    cli_print(&text);
    return EXIT_CODE_DONE;
}

const struct command command_help = {
    .name = "help",
    .summary = N_("Show what a command does and its options, or what is in a file."),
    .usage = N_("[COMMAND|plan|journal|ledger|config]"),
    .examples = N_("probelauf help run  # the options of 'run'\n"
                   "probelauf help  # all commands\n"
                   "probelauf help plan  # what stands in a plan\n"
                   "probelauf help --format json  # all tables, for programs\n"),
    .options = help_options,
    .min_args = 0,
    .max_args = 1,
    .operand = "command",
    .traits = COMMAND_TINY,
    .run = help_run,
};
