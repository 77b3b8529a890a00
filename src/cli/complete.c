/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the words of a command line to what may stand next, by the tables that parse it. */
#include "cli/complete.h"

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/words.h"

#include "base/msg.h"
#include "base/str.h"
#include "rules/gate.h"

#include <string.h>

/* What the value of an option of this name is, beyond what its table says: things that people named
 * in their plan, or that were recorded. The same name means the same thing in every command. */
static const struct {
    const char *option, *kind;
} stored_values[] = {
    {"block", "block"}, {"part", "block"},      {"env", "env"},   {"step", "step"},
    {"offer", "offer"}, {"session", "session"}, {"after", "run"},
};

/* ---- candidates ---- */

void complete_add(const struct complete *complete, const char *word, const char *description) {
    if (word == NULL || *word == '\0' || !str_starts_with(word, complete->typed)) {
        return;
    }
    for (const char *at = word; *at != '\0'; at++) {
        if ((unsigned char)*at <= ' ' || *at == 0x7f) {
            return;
        }
    }
    strbuf_printf(complete->out, "%s%s", complete->lead, word);
    if (description != NULL && *description != '\0') {
        strbuf_add_char(complete->out, '\t');
        str_add_printable(complete->out, description, strlen(description));
    }
    strbuf_add_char(complete->out, '\n');
}

typedef const struct opt_spec *(*spec_fn)(const struct command *command, size_t index);
static const spec_fn sources[] = {opt_own_spec, opt_common_spec};

static const struct opt_spec *find_long(const struct command *command, const char *name,
                                        size_t length) {
    for (size_t s = 0; s < ARRAY_LENGTH(sources); s++) {
        const struct opt_spec *spec;
        for (size_t i = 0; (spec = sources[s](command, i)) != NULL; i++) {
            if (strlen(spec->name) == length && strncmp(spec->name, name, length) == 0) {
                return spec;
            }
        }
    }
    return NULL;
}

static const struct opt_spec *find_short(const struct command *command, char name) {
    for (size_t s = 0; s < ARRAY_LENGTH(sources); s++) {
        const struct opt_spec *spec;
        for (size_t i = 0; (spec = sources[s](command, i)) != NULL; i++) {
            if (spec->short_name == name) {
                return spec;
            }
        }
    }
    return NULL;
}

/* ---- the words before the one that is typed ---- */

#define GIVEN_MAX 64u

struct line {
    const struct command *command;
    const struct command_verb *verb;
    const struct opt_spec *wants_value; /* the option whose value is typed */
    const struct opt_spec *given[GIVEN_MAX];
    size_t given_count;
    int operands;
    bool only_operands; /* "--" stands before */
};

/* What says where plan and ledger are counts for the candidates as it does for the command. */
static void take_value(const struct opt_spec *spec, const char *value) {
    if (spec->target == &opt_common.ledger) {
        opt_common.ledger = value;
    } else if (spec->target == &opt_common.journal_dir) {
        opt_common.journal_dir = value;
    } else if (spec->target == &opt_common.plan) {
        opt_common.plan = value;
    }
}

static void note_given(struct line *line, const struct opt_spec *spec) {
    if (line->given_count < GIVEN_MAX) {
        line->given[line->given_count++] = spec;
    }
}

/* An option word; *ret_value: the value within it, else NULL. NULL for one that nobody knows. */
static const struct opt_spec *read_option(struct line *line, const char *word,
                                          const char **ret_value) {
    *ret_value = NULL;
    if (word[1] == '-') {
        size_t length = strcspn(word + 2, "=");
        const struct opt_spec *spec = find_long(line->command, word + 2, length);
        *ret_value = word[2 + length] == '=' ? word + 3 + length : NULL;
        if (spec != NULL) {
            note_given(line, spec);
        }
        return spec;
    }
    for (const char *at = word + 1; *at != '\0'; at++) {
        const struct opt_spec *spec = find_short(line->command, *at);
        if (spec == NULL) {
            return NULL;
        }
        note_given(line, spec);
        if (spec->type != OPT_FLAG) {
            *ret_value = at[1] != '\0' ? at + 1 : NULL;
            return spec;
        }
    }
    return NULL;
}

static void read_operand(struct line *line, const char *word) {
    if (line->command->verbs == NULL || line->verb != NULL) {
        line->operands++;
        return;
    }
    for (const struct command_verb *verb = line->command->verbs; verb->name != NULL; verb++) {
        if (strcmp(verb->name, word) == 0) {
            line->verb = verb;
            return;
        }
    }
    line->operands++; /* a verb that nobody knows: nothing fits behind it */
}

/* words[1] to the one before the last. SIZE_MAX, or where another program's command line begins. */
static size_t read_line(struct line *line, char **words, size_t count) {
    for (size_t i = 1; i + 1 < count; i++) {
        const char *word = words[i];
        bool is_option = !line->only_operands && word[0] == '-' && word[1] != '\0';
        if (is_option && strcmp(word, "--") == 0) {
            line->only_operands = true;
            if (line->command->stops_at_operand) {
                return i + 1;
            }
        } else if (is_option) {
            const char *value;
            const struct opt_spec *spec = read_option(line, word, &value);
            if (spec == NULL || spec->type == OPT_FLAG) {
                continue;
            }
            if (value == NULL && i + 2 == count) {
                line->wants_value = spec;
            } else {
                take_value(spec, value != NULL ? value : words[++i]);
            }
        } else if (line->command->stops_at_operand) {
            return i;
        } else {
            read_operand(line, word);
        }
    }
    return SIZE_MAX;
}

/* ---- what may stand next ---- */

static void add_commands(const struct complete *complete) {
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        complete_add(complete, cli_commands[i]->name, _(cli_commands[i]->summary));
    }
}

static bool belongs(const struct line *line, const struct opt_spec *spec) {
    if (line->verb == NULL) {
        return true;
    }
    if (spec->target == &opt_common.json && !line->verb->json) {
        return false;
    }
    return spec->verbs == NULL || opt_names_has(spec->verbs, line->verb->name);
}

/* Given already and not repeatable, or shut out by what is given. */
static bool excluded(const struct line *line, const struct opt_spec *spec) {
    bool repeats = spec->type == OPT_LIST || spec->type == OPT_PATH_LIST;
    for (size_t i = 0; i < line->given_count; i++) {
        const struct opt_spec *other = line->given[i];
        if ((other == spec && !repeats) || opt_names_has(other->conflicts, spec->name) ||
            opt_names_has(spec->conflicts, other->name)) {
            return true;
        }
    }
    return false;
}

static void add_options(const struct complete *complete, const struct line *line) {
    for (size_t s = 0; s < ARRAY_LENGTH(sources); s++) {
        const struct opt_spec *spec;
        for (size_t i = 0; (spec = sources[s](line->command, i)) != NULL; i++) {
            if (belongs(line, spec) && !excluded(line, spec)) {
                AUTO_FREE char *name = mem_printf("--%s", spec->name);
                complete_add(complete, name, _(spec->help));
            }
        }
    }
}

static void add_phases(const struct complete *complete) {
    const char *phase;
    for (size_t i = 0; (phase = words_phase(i)) != NULL; i++) {
        complete_add(complete, phase, NULL);
    }
}

static void add_answers(const struct complete *complete) {
    static const enum gate_answer answers[] = {GATE_GO_ON, GATE_CHANGE_ENVIRONMENT, GATE_LIMIT};
    for (size_t i = 0; i < ARRAY_LENGTH(answers); i++) {
        complete_add(complete, gate_answer_name(answers[i]), NULL);
    }
}

static void add_topics(const struct complete *complete) {
    const char *name, *summary;
    for (size_t i = 0; (name = help_topic_name(i, &summary)) != NULL; i++) {
        complete_add(complete, name, _(summary));
    }
}

/* What an operand of this kind may be; true: files, too. */
static bool add_operand(const struct complete *complete, const char *kind) {
    if (strcmp(kind, "file") == 0) {
        return true;
    }
    if (strcmp(kind, "command") == 0) {
        add_commands(complete);
        add_topics(complete);
    } else if (strcmp(kind, "phase") == 0) {
        add_phases(complete);
    } else if (strcmp(kind, "answer") == 0) {
        add_answers(complete);
    } else {
        complete_add_stored(complete, kind);
    }
    return false;
}

/* The kinds of a table's entry stand in the order of the operands; the last one holds for all that
 * follow. Several that may stand at one place are joined by '|'. */
static bool add_operands(const struct complete *complete, const struct line *line) {
    const char *kinds = line->verb != NULL ? line->verb->operand : line->command->operand;
    int most = line->verb != NULL ? line->verb->max_args : line->command->max_args;
    if (kinds == NULL || (most >= 0 && line->operands >= most)) {
        return false;
    }
    size_t span = strcspn(kinds, " ");
    for (int i = 0; i < line->operands && kinds[span] == ' '; i++) {
        kinds += span + 1;
        span = strcspn(kinds, " ");
    }
    bool files = false;
    for (const char *at = kinds; at < kinds + span;) {
        size_t length = strcspn(at, " |");
        AUTO_FREE char *kind = mem_strndup(at, length);
        files = add_operand(complete, kind) || files;
        at += length + (at[length] == '|');
    }
    return files;
}

/* True: files, too. */
static bool add_value(const struct complete *complete, const struct opt_spec *spec) {
    const char *word;
    if (spec->type == OPT_PATH || spec->type == OPT_PATH_LIST) {
        return true;
    }
    for (size_t i = 0; (word = opt_choice(spec, i)) != NULL; i++) {
        complete_add(complete, word, NULL);
    }
    for (size_t i = 0; spec->type != OPT_FLAG && i < ARRAY_LENGTH(stored_values); i++) {
        if (strcmp(stored_values[i].option, spec->name) == 0) {
            complete_add_stored(complete, stored_values[i].kind);
        }
    }
    return false;
}

/* "--option=VALUE", the value being typed. */
static bool add_joined_value(struct complete *complete, struct line *line) {
    const char *value;
    const char *word = complete->typed;
    const struct opt_spec *spec = read_option(line, word, &value);
    if (spec == NULL || spec->type == OPT_FLAG || value == NULL) {
        return false;
    }
    complete->lead = arena_strndup(complete->arena, word, (size_t)(value - word));
    complete->typed = value;
    return add_value(complete, spec);
}

static bool add_next(struct complete *complete, struct line *line) {
    if (line->wants_value != NULL) {
        return add_value(complete, line->wants_value);
    }
    if (complete->typed[0] == '-' && !line->only_operands) {
        if (complete->typed[1] == '-' && strchr(complete->typed, '=') != NULL) {
            return add_joined_value(complete, line);
        }
        add_options(complete, line);
        return false;
    }
    if (line->command->verbs != NULL && line->verb == NULL) {
        for (const struct command_verb *verb = line->command->verbs;
             line->operands == 0 && verb->name != NULL; verb++) {
            complete_add(complete, verb->name, _(verb->summary));
        }
        return false;
    }
    return add_operands(complete, line);
}

void complete_line(char **words, size_t count, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_STRBUF struct strbuf found = STRBUF_INIT;
    struct complete complete = {
        .arena = arena, .typed = count > 0 ? words[count - 1] : "", .lead = "", .out = &found};
    struct line line = {.command = count > 1 ? cli_command(words[0]) : NULL};
    bool files = false;
    if (count <= 1) {
        add_commands(&complete);
        complete_add(&complete, "--version", NULL);
        complete_add(&complete, "--help", NULL);
    } else if (line.command != NULL) {
        size_t foreign = read_line(&line, words, count);
        bool is_first = foreign == SIZE_MAX && line.command->stops_at_operand &&
                        line.wants_value == NULL && words[count - 1][0] != '-';
        if (foreign != SIZE_MAX || is_first) {
            strbuf_printf(out, "command %zu\n", is_first ? count - 1 : foreign);
            return;
        }
        files = add_next(&complete, &line);
    }
    strbuf_add_str(out, files ? "files\n" : "words\n");
    strbuf_add_str(out, strbuf_str(&found));
}
