/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables as JSON (schema/help.schema.json): man pages are made of it at build time, and tests
 * walk it. What a table does not hold but every reader of a manual wants, exit codes and variables,
 * is a table here.
 */
#include "cli/help.h"

#include "cli/settings.h"

#include "base/msg.h"
#include "base/str.h"

#include <string.h>

/* codes of src/cli/exit-codes.h; commands: those that can end so, NULL: all but `run`. */
#define EXIT_CODE_OTHER (-1)

static const struct {
    int code;
    const char *commands, *meaning;
} exit_codes[] = {
    {EXIT_CODE_DONE, NULL, N_("Done.")},
    {EXIT_CODE_ERROR, NULL,
     N_("An error, also a plan or a file that is broken; the line on standard error begins with "
        "its id.")},
    {EXIT_CODE_USAGE, NULL, N_("The command line is wrong; nothing was done.")},
    {EXIT_CODE_OPEN_FACTS, "check block",
     N_("Open facts, or an answer that a gate waits for, stand in the way.")},
    {EXIT_CODE_NOT_YET, "decide", N_("Nothing beyond validation may be booked yet.")},
    {EXIT_CODE_BUDGET, "run", N_("Stopped by --max-time or --max-cost.")},
    {EXIT_CODE_OWN_FAILURE, "run",
     N_("Our own failure before the command was started, or a wrong command line.")},
    {EXIT_CODE_NOT_EXECUTABLE, "run", N_("The command cannot be executed.")},
    {EXIT_CODE_NOT_FOUND, "run", N_("The command was not found.")},
    {EXIT_CODE_OTHER, "run", N_("The command's own status; 128+N where signal N ended it.")},
};

/* Beside those of the settings. commands: NULL: all. */
static const struct {
    const char *name, *commands, *meaning;
} variables[] = {
    {"XDG_DATA_HOME", NULL, N_("The ledger is below it (without it ~/.local/share).")},
    {"XDG_STATE_HOME", NULL,
     N_("Records that have no other place are kept below it (without it ~/.local/state).")},
    {"XDG_CONFIG_HOME", NULL, N_("The file of settings is below it (without it ~/.config).")},
    {"NO_COLOR", NULL, N_("No colour, unless --color asks for it.")},
    {"CLICOLOR_FORCE", NULL, N_("Other than 0: colour without a terminal, too.")},
    {"COLUMNS", NULL, N_("Width of texts where no terminal tells it.")},
    {"PROBELAUF_PYTHON", "run", N_("0: without the Python hook.")},
    {"PROBELAUF_NVTX", "run", N_("0: without the receiver of NVTX ranges.")},
    {"PROBELAUF_PATTERNS", "run", N_("0: lines of known programs tell no phases.")},
    {"PROBELAUF", "run", N_("Set for the command: the path of this program.")},
    {"PROBELAUF_RUN", "run", N_("Set for the command: the id of the run.")},
    {"PROBELAUF_MARKS", "run mark",
     N_("Set for the command: the file that marks are appended to.")},
};

static void set_text(json_t *object, const char *key, const char *text) {
    (void)json_object_set_new(object, key, text != NULL ? json_string(_(text)) : json_null());
}

/* Blank-separated names as an array. */
static void set_names(json_t *object, const char *key, const char *list) {
    json_t *names = json_array();
    for (const char *at = list != NULL ? list : ""; *at != '\0';) {
        size_t span = strcspn(at, " ");
        (void)json_array_append_new(names, json_stringn(at, span));
        at += span;
        at += strspn(at, " ");
    }
    (void)json_object_set_new(object, key, names);
}

static const char *type_name(enum opt_type type) {
    switch (type) {
    case OPT_FLAG:
        return "flag";
    case OPT_TEXT:
    case OPT_LIST:
        return "text";
    case OPT_COUNT:
        return "count";
    case OPT_DURATION:
        return "duration";
    case OPT_CHOICE:
        return "choice";
    case OPT_PATH:
    case OPT_PATH_LIST:
        return "path";
    }
    return "";
}

static json_t *option_json(const struct opt_spec *spec, bool common) {
    json_t *option = json_object();
    set_text(option, "name", spec->name);
    (void)json_object_set_new(
        option, "short", spec->short_name != 0 ? json_stringn(&spec->short_name, 1) : json_null());
    (void)json_object_set_new(option, "type", json_string(type_name(spec->type)));
    set_text(option, "argument", spec->argument);
    set_text(option, "help", spec->help);
    (void)json_object_set_new(option, "repeatable",
                              json_boolean(spec->type == OPT_LIST || spec->type == OPT_PATH_LIST));
    (void)json_object_set_new(option, "common", json_boolean(common));
    json_t *choices = json_array();
    const char *word;
    for (size_t i = 0; (word = opt_choice(spec, i)) != NULL; i++) {
        (void)json_array_append_new(choices, json_string(word));
    }
    (void)json_object_set_new(option, "choices", choices);
    set_names(option, "conflicts", spec->conflicts);
    set_names(option, "needs", spec->needs);
    set_names(option, "verbs", spec->verbs);
    return option;
}

static json_t *options_json(const struct command *command) {
    json_t *options = json_array();
    const struct opt_spec *spec;
    for (size_t i = 0; (spec = opt_own_spec(command, i)) != NULL; i++) {
        (void)json_array_append_new(options, option_json(spec, false));
    }
    for (size_t i = 0; (spec = opt_common_spec(command, i)) != NULL; i++) {
        (void)json_array_append_new(options, option_json(spec, true));
    }
    return options;
}

static json_t *verbs_json(const struct command *command) {
    json_t *verbs = json_array();
    for (const struct command_verb *verb = command->verbs; verb != NULL && verb->name != NULL;
         verb++) {
        json_t *entry = json_object();
        set_text(entry, "name", verb->name);
        set_text(entry, "summary", verb->summary);
        set_text(entry, "usage", *verb->usage != '\0' ? verb->usage : NULL);
        (void)json_object_set_new(entry, "json", json_boolean(verb->json));
        (void)json_array_append_new(verbs, entry);
    }
    return verbs;
}

static json_t *examples_json(const char *examples) {
    json_t *list = json_array();
    for (const char *line = examples; *line != '\0';) {
        struct help_example example;
        line = help_next_example(line, &example);
        json_t *entry = json_object();
        (void)json_object_set_new(entry, "command", json_string(example.command));
        (void)json_object_set_new(entry, "text", json_string(example.text));
        (void)json_array_append_new(list, entry);
        help_example_done(&example);
    }
    return list;
}

static json_t *exits_json(const struct command *command) {
    bool is_run = (command->traits & COMMAND_RUNS) != 0;
    json_t *exits = json_array();
    for (size_t i = 0; i < ARRAY_LENGTH(exit_codes); i++) {
        const char *only = exit_codes[i].commands;
        if (only == NULL ? is_run : !opt_names_has(only, command->name)) {
            continue;
        }
        json_t *entry = json_object();
        (void)json_object_set_new(entry, "code",
                                  exit_codes[i].code >= 0 ? json_integer(exit_codes[i].code)
                                                          : json_null());
        set_text(entry, "meaning", exit_codes[i].meaning);
        (void)json_array_append_new(exits, entry);
    }
    return exits;
}

static bool setting_applies(const struct command *command, enum setting setting) {
    const char *key = setting_key(setting);
    switch (setting) {
    case SETTING_LEDGER:
    case SETTING_JOURNAL_DIR:
        return (command->traits & COMMAND_LEDGER) != 0;
    case SETTING_LANG:
        return true;
    case SETTING_COLOR:
        return (command->traits & COMMAND_TINY) == 0;
    case SETTING_PLAN:
    case SETTING_ENV:
        return (command->traits & COMMAND_PLAN) != 0;
    case SETTING_LINGER:
    case SETTING_GRACE:
    case SETTING_RECORD_WAIT:
    case SETTING_TEE:
        return (command->traits & COMMAND_RUNS) != 0;
    case SETTING_COUNT_:
        break;
    }
    return *key == '\0';
}

static void add_variable(json_t *list, const char *name, const char *setting, const char *meaning) {
    json_t *entry = json_object();
    set_text(entry, "name", name);
    (void)json_object_set_new(entry, "setting",
                              setting != NULL ? json_string(setting) : json_null());
    set_text(entry, "meaning", meaning);
    (void)json_array_append_new(list, entry);
}

static json_t *variables_json(const struct command *command) {
    json_t *list = json_array();
    for (int i = 0; i < SETTING_COUNT_; i++) {
        enum setting setting = (enum setting)i;
        if (setting_applies(command, setting)) {
            add_variable(list, setting_variable(setting), setting_key(setting), NULL);
        }
    }
    for (size_t i = 0; i < ARRAY_LENGTH(variables); i++) {
        bool plain = (command->traits & COMMAND_TINY) == 0 && variables[i].commands == NULL;
        if (plain || opt_names_has(variables[i].commands, command->name)) {
            add_variable(list, variables[i].name, NULL, variables[i].meaning);
        }
    }
    return list;
}

static json_t *command_json(const struct command *command) {
    json_t *entry = json_object();
    set_text(entry, "name", command->name);
    (void)json_object_set_new(entry, "group", json_string(_(help_group_of(command))));
    set_text(entry, "summary", command->summary);
    set_text(entry, "details", command->details);
    set_text(entry, "usage",
             command->usage != NULL && *command->usage != '\0' ? command->usage : NULL);
    (void)json_object_set_new(entry, "examples", examples_json(_(command->examples)));
    (void)json_object_set_new(entry, "verbs", verbs_json(command));
    (void)json_object_set_new(entry, "options", options_json(command));
    (void)json_object_set_new(entry, "exit_codes", exits_json(command));
    (void)json_object_set_new(entry, "variables", variables_json(command));
    return entry;
}

json_t *help_json(void) {
    json_t *help = json_object(), *commands = json_array();
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        (void)json_array_append_new(commands, command_json(cli_commands[i]));
    }
    (void)json_object_set_new(help, "schema", json_string("probelauf.help/1"));
    (void)json_object_set_new(help, "version", json_string(PROBELAUF_VERSION));
    (void)json_object_set_new(help, "examples", examples_json(_(help_first_examples)));
    (void)json_object_set_new(help, "commands", commands);
    return help;
}
