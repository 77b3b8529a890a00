/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probelauf completion SHELL: the script that a shell reads, as it stands in completions/; and what
 * these scripts ask: probelauf completion words.
 */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/complete.h"

#include "base/msg.h"

#include <sys/time.h>

/* Made by tools/embed of completions/probelauf.SHELL. */
extern const unsigned char completion_bash[], completion_zsh[], completion_fish[];

#define PATIENCE_US                                                               \
    400000 /* somebody waits with a finger on the key; a slow disk offers nothing \
            */

static int print_script(const unsigned char *script) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    strbuf_add_str(&out, (const char *)script);
    cli_print(&out);
    return EXIT_CODE_DONE;
}

static int print_bash(int argc, char **argv) {
    (void)argc;
    (void)argv;
    return print_script(completion_bash);
}

static int print_zsh(int argc, char **argv) {
    (void)argc;
    (void)argv;
    return print_script(completion_zsh);
}

static int print_fish(int argc, char **argv) {
    (void)argc;
    (void)argv;
    return print_script(completion_fish);
}

static int print_words(int argc, char **argv) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    const struct itimerval patience = {.it_value.tv_usec = PATIENCE_US};
    cli_hush(true);
    (void)setitimer(ITIMER_REAL, &patience, NULL);
    complete_line(argv, (size_t)argc, &out);
    cli_print(&out);
    return EXIT_CODE_DONE;
}

static const struct command_verb completion_verbs[] = {
    {.name = "bash",
     .summary = N_("The completion script for bash."),
     .usage = "",
     .operand = "",
     .run = print_bash},
    {.name = "zsh",
     .summary = N_("The completion script for zsh."),
     .usage = "",
     .operand = "",
     .run = print_zsh},
    {.name = "fish",
     .summary = N_("The completion script for fish."),
     .usage = "",
     .operand = "",
     .run = print_fish},
    {.name = "words",
     .summary = N_("What these scripts ask: how to go on, then what may stand next, a line each."),
     .usage = N_("-- WORD..."),
     .max_args = -1,
     .operand = "",
     .run = print_words},
    {.name = NULL},
};

const struct command command_completion = {
    .name = "completion",
    .summary = N_("Print a script that completes commands, options and names in your shell."),
    .details = N_("Names of blocks, environments, steps and offers come out of the plan, runs out "
                  "of the ledger. "
                  "Completing reads only: nothing is taken in or written."),
    .usage = "bash|zsh|fish",
    .examples =
        N_("source <(probelauf completion bash)  # for this shell\n"
           "probelauf completion bash > ~/.local/share/bash-completion/completions/probelauf"
           "  # for every new shell\n"
           "source <(probelauf completion zsh)  # in ~/.zshrc, behind compinit\n"
           "probelauf completion fish > ~/.config/fish/completions/probelauf.fish  # for every new "
           "shell\n"),
    .verbs = completion_verbs,
    .operand = "",
    .traits = COMMAND_TINY,
};
