/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Help from the tables: examples first, then usage, then options. Prints nothing itself. English
 * texts are plain ASCII, so that they can be read on any terminal.
 */
#include "cli/help.h"

#include "base/msg.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH_DEFAULT 80
#define WIDTH_MAX     100
#define LEFT_MAX      36u /* a longer left column gets its text on the next line */

static void add_blanks(struct strbuf *out, size_t count) {
    for (size_t i = 0; i < count; i++) {
        strbuf_add_char(out, ' ');
    }
}

/* Words of `text` from column `start` on, where the cursor stands already; broken before `width`,
 * further lines from `indent` on. */
static void add_hanging(struct strbuf *out, const char *text, size_t start, size_t indent,
                        size_t width) {
    size_t column = start;
    bool first = true;
    for (const char *at = text; *at != '\0';) {
        size_t span = strcspn(at, " \n");
        AUTO_FREE char *word = mem_strndup(at, span);
        size_t wide = str_width(word);
        if (!first && column + 1 + wide > width) {
            strbuf_add_char(out, '\n');
            add_blanks(out, indent);
            column = indent;
        } else if (!first) {
            strbuf_add_char(out, ' ');
            column++;
        }
        strbuf_add_str(out, word);
        column += wide;
        first = false;
        at += span;
        at += strspn(at, " \n");
    }
    strbuf_add_char(out, '\n');
}

static void add_wrapped(struct strbuf *out, const char *text, size_t indent, size_t width) {
    add_hanging(out, text, indent, indent, width);
}

void help_add_lines(struct strbuf *out, const char *text, size_t width) {
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n"), blanks = strspn(line, " ");
        AUTO_FREE char *whole = mem_strndup(line + blanks, length - blanks);
        add_blanks(out, blanks);
        add_wrapped(out, whole, blanks > 0 ? blanks + 4 : 0, width);
        line += length;
        line += *line == '\n';
    }
}

void help_add_entry(struct strbuf *out, const char *left, const char *text, size_t left_width,
                    size_t width) {
    size_t indent = left_width + 4, wide = str_width(left);
    strbuf_printf(out, "  %s", left);
    if (*text == '\0') {
        strbuf_add_char(out, '\n');
        return;
    }
    if (wide > left_width) {
        strbuf_add_char(out, '\n');
        add_blanks(out, indent);
    } else {
        add_blanks(out, indent - 2 - wide);
    }
    add_wrapped(out, text, indent, width);
}

size_t help_text_width(int width) {
    if (width <= 0) {
        return WIDTH_DEFAULT;
    }
    return width < 40 ? 40 : width > WIDTH_MAX ? WIDTH_MAX : (size_t)width;
}

const char *help_next_example(const char *lines, struct help_example *ret_example) {
    size_t length = strcspn(lines, "\n");
    char *command = mem_strndup(lines, length);
    char *comment = strstr(command, "  # ");
    const char *text = "";
    if (comment != NULL) {
        text = comment + 4;
        while (comment > command && comment[-1] == ' ') {
            comment--;
        }
        *comment = '\0';
    }
    *ret_example = (struct help_example){.command = command, .text = mem_strdup(text)};
    return lines + length + (lines[length] == '\n');
}

void help_example_done(struct help_example *example) {
    free(example->command);
    free(example->text);
    *example = (struct help_example){0};
}

static void add_examples(struct strbuf *out, const char *examples, size_t width) {
    strbuf_printf(out, "%s\n", _("Examples:"));
    for (const char *line = examples; *line != '\0';) {
        struct help_example example;
        line = help_next_example(line, &example);
        strbuf_printf(out, "  %s\n", example.command);
        if (*example.text != '\0') {
            add_blanks(out, 6);
            add_wrapped(out, example.text, 6, width);
        }
        help_example_done(&example);
    }
}

/* "-c, --condition KEY=VALUE" */
static char *option_left(const struct opt_spec *spec) {
    AUTO_STRBUF struct strbuf left = STRBUF_INIT;
    if (spec->short_name != 0) {
        strbuf_printf(&left, "-%c, ", spec->short_name);
    } else {
        strbuf_add_str(&left, "    ");
    }
    strbuf_printf(&left, "--%s", spec->name);
    if (spec->argument != NULL) {
        strbuf_printf(&left, " %s", _(spec->argument));
    }
    return strbuf_take(&left);
}

/* The words that another layer owns: nobody else tells them. */
static void add_words(struct strbuf *help, const struct opt_spec *spec) {
    const char *word;
    for (size_t i = 0; spec->words != NULL && (word = spec->words(i)) != NULL; i++) {
        strbuf_printf(help, "%s%s", i == 0 ? _(" One of: ") : ", ", word);
    }
    if (spec->words != NULL) {
        strbuf_add_char(help, '.');
    }
}

/* --json, where not every verb has it. */
static void add_exceptions(struct strbuf *help, const struct command *command,
                           const struct opt_spec *spec) {
    size_t count = 0;
    if (command->verbs == NULL || strcmp(spec->name, "json") != 0) {
        return;
    }
    for (const struct command_verb *verb = command->verbs; verb->name != NULL; verb++) {
        if (!verb->json) {
            strbuf_printf(help, "%s%s", count++ == 0 ? _(" Not for: ") : ", ", verb->name);
        }
    }
    if (count > 0) {
        strbuf_add_char(help, '.');
    }
}

typedef const struct opt_spec *(*spec_fn)(const struct command *command, size_t index);

static void add_options(struct strbuf *out, const struct command *command, spec_fn spec_at,
                        const char *title, size_t left_width, size_t width) {
    const struct opt_spec *spec;
    for (size_t i = 0; (spec = spec_at(command, i)) != NULL; i++) {
        if (i == 0) {
            strbuf_printf(out, "\n%s\n", title);
        }
        AUTO_FREE char *left = option_left(spec);
        AUTO_STRBUF struct strbuf help = STRBUF_INIT;
        strbuf_add_str(&help, _(spec->help));
        add_words(&help, spec);
        add_exceptions(&help, command, spec);
        help_add_entry(out, left, strbuf_str(&help), left_width, width);
    }
}

static size_t options_left_width(const struct command *command) {
    size_t widest = 0;
    const spec_fn sources[] = {opt_own_spec, opt_common_spec};
    for (size_t s = 0; s < ARRAY_LENGTH(sources); s++) {
        const struct opt_spec *spec;
        for (size_t i = 0; (spec = sources[s](command, i)) != NULL; i++) {
            AUTO_FREE char *left = option_left(spec);
            size_t wide = str_width(left);
            if (wide > widest && wide <= LEFT_MAX) {
                widest = wide;
            }
        }
    }
    return widest;
}

static void add_usage(struct strbuf *out, const struct command *command, size_t width) {
    if (command->verbs == NULL) {
        AUTO_FREE char *line = mem_printf("%s probelauf %s%s%s", _("Usage:"), command->name,
                                          *command->usage != '\0' ? " " : "", _(command->usage));
        add_hanging(out, line, 0, 8, width);
    } else {
        strbuf_printf(out, "%s\n", _("Usage:"));
        for (const struct command_verb *verb = command->verbs; verb->name != NULL; verb++) {
            AUTO_FREE char *line = mem_printf("probelauf %s %s%s%s", command->name, verb->name,
                                              *verb->usage != '\0' ? " " : "", _(verb->usage));
            add_blanks(out, 2);
            add_hanging(out, line, 2, 10, width);
            add_blanks(out, 6);
            add_wrapped(out, _(verb->summary), 6, width);
        }
    }
    strbuf_add_char(out, '\n');
    add_wrapped(out, _(command->summary), 0, width);
    if (command->details != NULL) {
        strbuf_add_char(out, '\n');
        help_add_lines(out, _(command->details), width);
    }
}

void help_command(const struct command *command, int width, struct strbuf *out) {
    size_t columns = help_text_width(width);
    size_t left_width = options_left_width(command);
    add_examples(out, _(command->examples), columns);
    strbuf_add_char(out, '\n');
    add_usage(out, command, columns);
    add_options(out, command, opt_own_spec, _("Options:"), left_width, columns);
    add_options(out, command, opt_common_spec, _("Common options:"), left_width, columns);
    AUTO_STRBUF struct strbuf topic = STRBUF_INIT;
    if (help_topic(command->name, columns, &topic)) { /* the command and a file have one name */
        strbuf_printf(out, "\n%s", strbuf_str(&topic));
    }
}

/* The journey from a paper to a decision and its review. A name that is no command of this build is
 * passed over. */
static const struct {
    const char *title, *commands;
} groups[] = {
    {N_("Plan"), "init doctor check"},
    {N_("Measure"), "run mark session"},
    {N_("Look"), "log show compare explain annotate serve"},
    {N_("Estimate and decide"), "estimate next decide"},
    {N_("Run the blocks"), "block"},
    {N_("Review and report"), "review report"},
    {N_("Keep and exchange"), "ledger import export"},
    {N_("This program"), NULL}, /* all others */
};

const char *help_group_of(const struct command *command) {
    size_t i = 0;
    while (groups[i].commands != NULL && !opt_names_has(groups[i].commands, command->name)) {
        i++;
    }
    return groups[i].title;
}

const char *const help_first_examples =
    N_("probelauf run -- python3 train.py  # measure one trial run of your command\n"
       "probelauf show  # what the latest run took, and what is open\n"
       "probelauf estimate --repeat 24  # how long 24 more runs like it would take\n");

static void add_group(struct strbuf *out, const char *title, size_t left_width, size_t columns) {
    strbuf_printf(out, " %s\n", _(title));
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        if (help_group_of(cli_commands[i]) == title) {
            help_add_entry(out, cli_commands[i]->name, _(cli_commands[i]->summary), left_width + 1,
                           columns);
        }
    }
}

void help_overview(int width, struct strbuf *out) {
    size_t columns = help_text_width(width), left_width = 0;
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        size_t wide = strlen(cli_commands[i]->name);
        left_width = wide > left_width ? wide : left_width;
    }
    add_examples(out, _(help_first_examples), columns);
    strbuf_printf(out, "\n%s\n\n%s\n", _("Usage: probelauf COMMAND [options]"), _("Commands:"));
    for (size_t i = 0; i < ARRAY_LENGTH(groups); i++) {
        add_group(out, groups[i].title, left_width, columns);
    }
    strbuf_printf(out, "\n%s\n", _("'probelauf help COMMAND' shows a command's options."));
    add_wrapped(out,
                _("'probelauf help plan' (journal, ledger, config) shows what is in that file."), 0,
                columns);
    strbuf_printf(out, "%s\n",
                  _("'probelauf --version' shows the version, with --json also how it was built."));
}
