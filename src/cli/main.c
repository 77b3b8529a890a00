/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of commands, finding the one that is meant, and the exit status. Nothing else exits. */
#include "cli/cli.h"

#include "base/fd.h"
#include "base/msg.h"
#include "base/str.h"
#include "cli/commands.h"
#include "cli/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct command *const cli_commands[] = {
    &command_init,     &command_doctor, &command_check,      &command_run,      &command_mark,
    &command_log,      &command_show,   &command_compare,    &command_annotate, &command_explain,
    &command_estimate, &command_next,   &command_decide,     &command_block,    &command_session,
    &command_report,   &command_serve,  &command_review,     &command_import,   &command_export,
    &command_ledger,   &command_config, &command_completion, &command_help,     NULL,
};

const struct command *cli_command(const char *name) {
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        if (strcmp(cli_commands[i]->name, name) == 0) {
            return cli_commands[i];
        }
    }
    return NULL;
}

/* A closed descriptor 0, 1 or 2 must not become the number of a file we open: it would get our
 * output. Reading from and writing to these fails as it would on the closed one. */
static void keep_standard_fds(void) {
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            (void)open("/dev/null",
                       fd == 0 ? O_WRONLY : O_RDONLY); /* takes the lowest number: fd */
        }
    }
}

static int finish_output(int code) {
    struct err err = ERR_INIT;
    if (stdout_finish(cli_print_errno(), &err) < 0 && code == EXIT_CODE_DONE) {
        return cli_error(&err);
    }
    return code;
}

static int print_overview(int fd) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    help_overview(cli_style(fd).width, &text);
    if (fd == STDERR_FILENO) {
        cli_say(&text);
        return EXIT_CODE_USAGE;
    }
    cli_print(&text);
    return EXIT_CODE_DONE;
}

static int print_version(int argc, char **argv) {
    if (argc == 1) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        version_text(&text);
        cli_print(&text);
        return EXIT_CODE_DONE;
    }
    if (argc == 2 && strcmp(argv[1], "--json") == 0) {
        cli_print_json(version_json());
        return EXIT_CODE_DONE;
    }
    struct err err = ERR_INIT;
    (void)err_set(&err, -EINVAL, "usage-operands",
                  "'--version' takes nothing but '--json', not '%s'", argv[1]);
    return cli_usage_error(NULL, &err);
}

int cli_no_command(const char *word) {
    struct err err = ERR_INIT;
    if (word[0] == '-') {
        (void)err_set(&err, -EINVAL, "usage-no-command",
                      "'%s' stands where a command is expected; options follow the command", word);
        return cli_usage_error(NULL, &err);
    }
    const char *names[64];
    size_t count = 0;
    while (count < ARRAY_LENGTH(names) && cli_commands[count] != NULL) {
        names[count] = cli_commands[count]->name;
        count++;
    }
    const char *near = str_nearest(word, names, count);
    if (near != NULL) {
        (void)err_set(&err, -EINVAL, "usage-no-command",
                      "there is no command '%s'; did you mean '%s'?", word, near);
    } else {
        (void)err_set(&err, -EINVAL, "usage-no-command", "there is no command '%s'", word);
    }
    return cli_usage_error(NULL, &err);
}

static int run_command(const struct command *command, int argc, char **argv) {
    struct err err = ERR_INIT;
    struct opt_operands operands;
    if (opt_parse(command, argc, argv, &operands, &err) < 0) {
        return cli_usage_error(command->name, &err);
    }
    if (opt_common.help) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        help_command(command, cli_style(STDOUT_FILENO).width, &text);
        cli_print(&text);
        return finish_output(EXIT_CODE_DONE);
    }
    if ((command->traits & COMMAND_TINY) == 0 && settings_load(&err) < 0) {
        (void)cli_error(&err);
        return (command->traits & COMMAND_RUNS) != 0 ? EXIT_CODE_OWN_FAILURE : EXIT_CODE_ERROR;
    }
    int (*run)(int, char **) = operands.verb != NULL ? operands.verb->run : command->run;
    int code = run(operands.argc, operands.argv);
    /* What `run` says stands on standard error; its standard output belongs to the measured
     * command. */
    return (command->traits & COMMAND_RUNS) != 0 ? code : finish_output(code);
}

int main(int argc, char **argv) {
    cli_start();
    settings_language_early();
    if (argc < 2) {
        return print_overview(STDERR_FILENO);
    }
    const struct command *command = cli_command(argv[1]);
    if (command == NULL || (command->traits & COMMAND_RUNS) == 0) {
        keep_standard_fds();
    }
    if (command != NULL) {
        return run_command(command, argc - 2, argv + 2);
    }
    if (strcmp(argv[1], "--version") == 0) {
        return finish_output(print_version(argc - 1, argv + 1));
    }
    if ((strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) && argc == 2) {
        return finish_output(print_overview(STDOUT_FILENO));
    }
    return cli_no_command(argv[1]);
}
