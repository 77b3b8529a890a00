/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probelauf completion bash: the completion script, generated from the option tables.
 * completions/probelauf.bash is this output; a test compares them.
 */
#include "cli/cli.h"
#include "cli/commands.h"

#include "base/msg.h"
#include "cli/words.h"

#include <string.h>

static void add_word(struct strbuf *out, const char *word) {
    if (out->length > 0) {
        strbuf_add_char(out, ' ');
    }
    strbuf_add_str(out, word);
}

typedef const struct opt_spec *(*spec_fn)(const struct command *command, size_t index);
static const spec_fn sources[] = {opt_own_spec, opt_common_spec};

/* What the value of an option is completed with; "" where any text may stand. */
static char *value_action(const struct opt_spec *spec) {
    AUTO_STRBUF struct strbuf words = STRBUF_INIT;
    const char *word;
    for (size_t i = 0; (word = opt_choice(spec, i)) != NULL; i++) {
        add_word(&words, word);
    }
    if (spec->type == OPT_PATH || spec->type == OPT_PATH_LIST) {
        return mem_strdup("_probelauf_files \"$cur\"");
    }
    return words.length > 0 ? mem_printf("_probelauf_words \"%s\" \"$cur\"", strbuf_str(&words))
                            : mem_strdup("");
}

static void add_pattern(struct strbuf *out, const char *prefix, const struct opt_spec *spec) {
    strbuf_printf(out, "%s%s:--%s", out->length > 0 ? "|" : "", prefix, spec->name);
    if (spec->short_name != 0) {
        strbuf_printf(out, "|%s:-%c", prefix, spec->short_name);
    }
}

/* "command:--name) what completes its value; return ;;" for each option with a value; those that
 * take any text share one line. prefix: the command, or "*" for the common options. */
static void add_value_cases(struct strbuf *out, const struct command *command, spec_fn spec_at,
                            const char *prefix) {
    AUTO_STRBUF struct strbuf free_text = STRBUF_INIT;
    const struct opt_spec *spec;
    for (size_t i = 0; (spec = spec_at(command, i)) != NULL; i++) {
        if (spec->type == OPT_FLAG) {
            continue;
        }
        AUTO_FREE char *action = value_action(spec);
        if (*action == '\0') {
            add_pattern(&free_text, prefix, spec);
            continue;
        }
        AUTO_STRBUF struct strbuf pattern = STRBUF_INIT;
        add_pattern(&pattern, prefix, spec);
        strbuf_printf(out, "    %s) %s; return ;;\n", strbuf_str(&pattern), action);
    }
    if (free_text.length > 0) {
        strbuf_printf(out, "    %s) return ;;\n", strbuf_str(&free_text));
    }
}

static char *option_words(const struct command *command) {
    AUTO_STRBUF struct strbuf words = STRBUF_INIT;
    for (size_t s = 0; s < ARRAY_LENGTH(sources); s++) {
        const struct opt_spec *spec;
        for (size_t i = 0; (spec = sources[s](command, i)) != NULL; i++) {
            AUTO_FREE char *name = mem_printf("--%s", spec->name);
            add_word(&words, name);
        }
    }
    return strbuf_take(&words);
}

static void add_command_names(struct strbuf *out) {
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        add_word(out, cli_commands[i]->name);
    }
}

/* The words an operand may be; NULL: files. */
static char *operand_words(const char *operand) {
    AUTO_STRBUF struct strbuf words = STRBUF_INIT;
    if (strcmp(operand, "file") == 0) {
        return NULL;
    }
    if (strcmp(operand, "run") == 0) {
        strbuf_add_str(&words, "@1 @2 @3 @4 @5");
    } else if (strcmp(operand, "command") == 0) {
        add_command_names(&words);
    } else if (strcmp(operand, "shell") == 0) {
        strbuf_add_str(&words, "bash");
    } else if (strcmp(operand, "phase") == 0) {
        const char *phase;
        for (size_t i = 0; (phase = words_phase(i)) != NULL; i++) {
            add_word(&words, phase);
        }
    }
    return strbuf_take(&words);
}

static void add_operand_call(struct strbuf *out, const char *operand) {
    AUTO_FREE char *words = operand_words(operand);
    if (words == NULL) {
        strbuf_add_str(out, "_probelauf_files \"$cur\"");
    } else {
        strbuf_printf(out, "_probelauf_words \"%s\" \"$cur\"", words);
    }
}

static void add_operand_cases(struct strbuf *out, const struct command *command) {
    if (command->verbs == NULL) {
        strbuf_printf(out, "    %s:*) ", command->name);
        add_operand_call(out, command->operand);
        strbuf_add_str(out, " ;;\n");
        return;
    }
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    for (const struct command_verb *verb = command->verbs; verb->name != NULL; verb++) {
        strbuf_printf(out, "    %s:%s) ", command->name, verb->name);
        add_operand_call(out, verb->operand);
        strbuf_add_str(out, " ;;\n");
        add_word(&names, verb->name);
    }
    strbuf_printf(out, "    %s:*) _probelauf_words \"%s\" \"$cur\" ;;\n", command->name,
                  strbuf_str(&names));
}

static const char script_head[] =
    "# bash completion for probelauf; written by 'probelauf completion bash'. Do not edit.\n"
    "# shellcheck shell=bash\n"
    "\n"
    "_probelauf_words() {\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\")\n"
    "}\n"
    "\n"
    "_probelauf_files() {\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -f -- \"$1\")\n"
    "}\n"
    "\n"
    "# Behind `run` and its options stands somebody else's command: complete as that one.\n"
    "_probelauf_other_command() {\n"
    "    if declare -F _command_offset >/dev/null; then\n"
    "        _command_offset \"$1\"\n"
    "    elif [ \"$COMP_CWORD\" -eq \"$1\" ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -c -- \"$2\")\n"
    "    else\n"
    "        mapfile -t COMPREPLY < <(compgen -f -- \"$2\")\n"
    "    fi\n"
    "}\n"
    "\n";

static void add_takes_value(struct strbuf *out) {
    strbuf_add_str(out, "_probelauf_takes_value() {\n    case $1 in\n");
    for (size_t c = 0; cli_commands[c] != NULL; c++) {
        const struct command *command = cli_commands[c];
        if (!command->stops_at_operand) {
            continue;
        }
        AUTO_STRBUF struct strbuf names = STRBUF_INIT;
        for (size_t s = 0; s < ARRAY_LENGTH(sources); s++) {
            const struct opt_spec *spec;
            for (size_t i = 0; (spec = sources[s](command, i)) != NULL; i++) {
                if (spec->type == OPT_FLAG) {
                    continue;
                }
                strbuf_printf(&names, "%s--%s", names.length > 0 ? "|" : "", spec->name);
                if (spec->short_name != 0) {
                    strbuf_printf(&names, "|-%c", spec->short_name);
                }
            }
        }
        strbuf_printf(out, "    %s) return 0 ;;\n", strbuf_str(&names));
    }
    strbuf_add_str(out, "    esac\n    return 1\n}\n\n");
}

/* Where does the command of `run` begin? Skip our options and their values. */
static const char script_function[] =
    "_probelauf() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local command=${COMP_WORDS[1]} verb=${COMP_WORDS[2]} at\n"
    "    COMPREPLY=()\n"
    "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
    "        _probelauf_words \"$_probelauf_commands --version --help\" \"$cur\"\n"
    "        return\n"
    "    fi\n"
    "    if [ \"$command\" = run ]; then\n"
    "        for ((at = 2; at < COMP_CWORD; at++)); do\n"
    "            case ${COMP_WORDS[at]} in\n"
    "            --)\n"
    "                _probelauf_other_command $((at + 1)) \"$cur\"\n"
    "                return\n"
    "                ;;\n"
    "            -*)\n"
    "                if _probelauf_takes_value \"${COMP_WORDS[at]}\"; then\n"
    "                    at=$((at + 1))\n"
    "                    if [ \"${COMP_WORDS[at]}\" = '=' ]; then at=$((at + 1)); fi\n"
    "                fi\n"
    "                ;;\n"
    "            *)\n"
    "                _probelauf_other_command \"$at\" \"$cur\"\n"
    "                return\n"
    "                ;;\n"
    "            esac\n"
    "        done\n"
    "    fi\n"
    "    # bash splits --name=value at '='\n"
    "    if [ \"$cur\" = '=' ]; then\n"
    "        cur=''\n"
    "    elif [ \"$prev\" = '=' ]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    case $command:$prev in\n";

/* Has every common option. */
static const struct command everything = {.name = "", .traits = COMMAND_LEDGER | COMMAND_JSON};

static int print_bash(int argc, char **argv) {
    (void)argc;
    (void)argv;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT, names = STRBUF_INIT;
    add_command_names(&names);
    strbuf_add_str(&out, script_head);
    strbuf_printf(&out, "_probelauf_commands='%s'\n\n", strbuf_str(&names));
    add_takes_value(&out);
    strbuf_add_str(&out, script_function);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        add_value_cases(&out, cli_commands[i], opt_own_spec, cli_commands[i]->name);
    }
    add_value_cases(&out, &everything, opt_common_spec, "*");
    strbuf_add_str(&out, "    esac\n"
                         "    if [[ $cur == -* ]]; then\n"
                         "        case $command in\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        AUTO_FREE char *words = option_words(cli_commands[i]);
        strbuf_printf(&out, "        %s) _probelauf_words \"%s\" \"$cur\" ;;\n",
                      cli_commands[i]->name, words);
    }
    strbuf_add_str(&out, "        esac\n"
                         "        return\n"
                         "    fi\n"
                         "    [ \"$COMP_CWORD\" -gt 2 ] || verb=''\n"
                         "    case $command:$verb in\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        if (cli_commands[i]->stops_at_operand) {
            strbuf_printf(&out,
                          "        %s:*) _probelauf_other_command \"$COMP_CWORD\" \"$cur\" ;;\n",
                          cli_commands[i]->name);
        } else {
            add_operand_cases(&out, cli_commands[i]);
        }
    }
    strbuf_add_str(&out, "    esac\n}\n\ncomplete -F _probelauf probelauf\n");
    cli_print(&out);
    return EXIT_CODE_DONE;
}

static const struct command_verb completion_verbs[] = {
    {.name = "bash",
     .summary = N_("The completion script for bash."),
     .usage = "",
     .operand = "",
     .run = print_bash},
    {.name = NULL},
};

const struct command command_completion = {
    .name = "completion",
    .summary = N_("Print a script that completes commands and options in your shell."),
    .usage = "bash",
    .examples =
        N_("source <(probelauf completion bash)  # for this shell\n"
           "probelauf completion bash > ~/.local/share/bash-completion/completions/probelauf"
           "  # for every new shell\n"),
    .verbs = completion_verbs,
    .operand = "shell",
    .traits = COMMAND_TINY,
};
