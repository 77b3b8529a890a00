/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parsing of one command's arguments by its option table: long and short options, "--name=value",
 * grouped short flags, "--". Every complaint names what was given and, where one is near, what may
 * have been meant. Nothing is printed here.
 */
#include "opt.h"

#include "base/mem.h"
#include "base/msg-catalog.h"
#include "base/msg.h"
#include "base/str.h"
#include "base/strbuf.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

struct opt_common opt_common;

static const char *const color_choices[] = {"auto", "always", "never", NULL};

enum common_index {
    COMMON_LEDGER = 0,
    COMMON_JOURNAL_DIR,
    COMMON_PLAN,
    COMMON_JSON,
    COMMON_LANG,
    COMMON_COLOR,
    COMMON_QUIET,
    COMMON_VERBOSE,
    COMMON_HELP,
    COMMON_COUNT_
};

static const char *language_at(size_t index) {
    return index < msg_catalog_count ? msg_catalogs[index].language : NULL;
}

/* What people write for a language: its names, and the codes of ISO 639-2 and of countries. */
static const struct {
    const char *name, *language;
} language_names[] = {
    {"english", "en"}, {"eng", "en"}, {"en", "en"}, {"german", "de"}, {"deutsch", "de"},
    {"deu", "de"},     {"ger", "de"}, {"de", "de"}, {"french", "fr"}, {"français", "fr"},
    {"fra", "fr"},     {"fre", "fr"}, {"fr", "fr"}, {"korean", "ko"}, {"한국어", "ko"},
    {"kor", "ko"},     {"kr", "ko"},  {"ko", "ko"},
};

const char *opt_language_meant(const char *text) {
    char lower[32];
    size_t length = strlen(text);
    if (length >= sizeof lower) {
        return NULL;
    }
    for (size_t i = 0; i <= length; i++) { /* of ASCII letters only, whatever the locale */
        lower[i] = (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]);
    }
    const char *names[ARRAY_LENGTH(language_names)];
    for (size_t i = 0; i < ARRAY_LENGTH(language_names); i++) {
        names[i] = language_names[i].name;
    }
    const char *near = str_nearest(lower, names, ARRAY_LENGTH(names));
    for (size_t i = 0; near != NULL && i < ARRAY_LENGTH(language_names); i++) {
        if (strcmp(language_names[i].name, near) == 0) {
            return language_names[i].language;
        }
    }
    return NULL;
}

static const struct opt_spec common_specs[COMMON_COUNT_] = {
    [COMMON_LEDGER] = {.name = "ledger",
                       .type = OPT_TEXT,
                       .target = &opt_common.ledger,
                       .argument = N_("URL"),
                       .help = N_("Use this ledger, for example sqlite:/data/ledger.db.")},
    [COMMON_JOURNAL_DIR] = {.name = "journal-dir",
                            .type = OPT_PATH,
                            .target = &opt_common.journal_dir,
                            .argument = N_("DIR"),
                            .help = N_("Keep the records of runs in this folder until the ledger "
                                       "has taken them in.")},
    [COMMON_PLAN] = {.name = "plan",
                     .type = OPT_PATH,
                     .target = &opt_common.plan,
                     .argument = N_("FILE"),
                     .help = N_("Use this plan instead of the probelauf.yaml of this folder or one "
                                "above it.")},
    [COMMON_JSON] = {.name = "json",
                     .type = OPT_FLAG,
                     .target = &opt_common.json,
                     .help = N_("Print JSON for programs, the same in every language.")},
    [COMMON_LANG] = {.name = "lang",
                     .type = OPT_TEXT,
                     .target = &opt_common.lang,
                     .argument = N_("LANG"),
                     .words = language_at,
                     .help = N_("Language of texts for people.")},
    [COMMON_COLOR] = {.name = "color",
                      .type = OPT_CHOICE,
                      .target = &opt_common.color,
                      .argument = N_("WHEN"),
                      .help = N_("Use colour: auto, always or never."),
                      .choices = color_choices},
    [COMMON_QUIET] = {.short_name = 'q',
                      .name = "quiet",
                      .type = OPT_FLAG,
                      .target = &opt_common.quiet,
                      .help = N_("Say nothing but warnings and errors."),
                      .conflicts = "verbose"},
    [COMMON_VERBOSE] = {.short_name = 'v',
                        .name = "verbose",
                        .type = OPT_FLAG,
                        .target = &opt_common.verbose,
                        .help = N_("Show more detail.")},
    [COMMON_HELP] = {.short_name = 'h',
                     .name = "help",
                     .type = OPT_FLAG,
                     .target = &opt_common.help,
                     .help = N_("Show this help.")},
};

static bool common_applies(const struct command *command, size_t index) {
    if (index == COMMON_LEDGER || index == COMMON_JOURNAL_DIR) {
        return (command->traits & COMMAND_LEDGER) != 0;
    }
    if (index == COMMON_PLAN) {
        return (command->traits & COMMAND_PLAN) != 0;
    }
    if (index == COMMON_JSON) {
        return (command->traits & COMMAND_JSON) != 0;
    }
    if (index == COMMON_COLOR || index == COMMON_VERBOSE) {
        return (command->traits & COMMAND_TINY) == 0;
    }
    return true;
}

const struct opt_spec *opt_common_spec(const struct command *command, size_t index) {
    size_t seen = 0;
    for (size_t i = 0; i < COMMON_COUNT_; i++) {
        if (!common_applies(command, i)) {
            continue;
        }
        if (seen == index) {
            return &common_specs[i];
        }
        seen++;
    }
    return NULL;
}

const struct opt_spec *opt_own_spec(const struct command *command, size_t index) {
    if (command->options == NULL) {
        return NULL;
    }
    for (size_t i = 0; command->options[i].name != NULL; i++) {
        if (i == index) {
            return &command->options[i];
        }
    }
    return NULL;
}

/* Own options first, then the common ones. */
static const struct opt_spec *spec_at(const struct command *command, size_t index) {
    size_t own = 0;
    while (opt_own_spec(command, own) != NULL) {
        own++;
    }
    return index < own ? opt_own_spec(command, index) : opt_common_spec(command, index - own);
}

const char *opt_choice(const struct opt_spec *spec, size_t index) {
    if (spec->words != NULL) {
        return spec->words(index);
    }
    if (spec->choices == NULL) {
        return NULL;
    }
    for (size_t i = 0; spec->choices[i] != NULL; i++) {
        if (i == index) {
            return spec->choices[i];
        }
    }
    return NULL;
}

bool opt_names_has(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = list; at != NULL && *at != '\0';) {
        size_t span = strcspn(at, " ");
        if (span == length && strncmp(at, word, length) == 0) {
            return true;
        }
        at += span;
        at += strspn(at, " ");
    }
    return false;
}

bool opt_split(const char *text, char **ret_key, const char **ret_value) {
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        return false;
    }
    *ret_key = mem_strndup(text, (size_t)(equals - text));
    *ret_value = equals + 1;
    return true;
}

void opt_list_add(struct opt_list *list, const char *text) {
    list->items = mem_realloc(list->items, list->count + 2, sizeof(*list->items));
    list->items[list->count++] = text;
    list->items[list->count] = NULL;
}

/* ---- one parse ---- */

#define SPECS_MAX 64u

struct parse {
    const struct command *command;
    const struct opt_spec *specs[SPECS_MAX];
    bool given[SPECS_MAX];
    size_t count;
    char **operands; /* the front part of argv */
    int operand_count;
};

static void parse_init(struct parse *parse, const struct command *command, char **argv) {
    *parse = (struct parse){.command = command, .operands = argv};
    const struct opt_spec *spec;
    while ((spec = spec_at(command, parse->count)) != NULL) {
        assert(parse->count < SPECS_MAX);
        parse->specs[parse->count++] = spec;
    }
}

static const struct opt_spec *find_long(const struct parse *parse, const char *name, size_t length,
                                        size_t *ret_index) {
    for (size_t i = 0; i < parse->count; i++) {
        const char *known = parse->specs[i]->name;
        if (strlen(known) == length && strncmp(known, name, length) == 0) {
            *ret_index = i;
            return parse->specs[i];
        }
    }
    return NULL;
}

static const struct opt_spec *find_short(const struct parse *parse, char letter,
                                         size_t *ret_index) {
    for (size_t i = 0; i < parse->count; i++) {
        if (letter != '\0' && parse->specs[i]->short_name == letter) {
            *ret_index = i;
            return parse->specs[i];
        }
    }
    return NULL;
}

/* The one option that begins so, else the nearest by spelling; NULL where it would be a guess. */
static const char *suggest_long(const struct parse *parse, const char *name) {
    const char *names[SPECS_MAX], *begins = NULL;
    size_t beginning = 0;
    for (size_t i = 0; i < parse->count; i++) {
        names[i] = parse->specs[i]->name;
        if (*name != '\0' && str_starts_with(names[i], name)) {
            begins = names[i];
            beginning++;
        }
    }
    if (beginning == 1) {
        return begins;
    }
    return beginning > 1 ? NULL : str_nearest(name, names, parse->count);
}

static int complain_unknown_long(const struct parse *parse, const char *name, size_t length,
                                 struct err *err) {
    AUTO_FREE char *asked = mem_strndup(name, length);
    const char *near = suggest_long(parse, asked);
    if (near != NULL) {
        return err_set(err, -EINVAL, "usage-unknown-option",
                       "unknown option '--%s'; did you mean '--%s'?", asked, near);
    }
    return err_set(err, -EINVAL, "usage-unknown-option", "unknown option '--%s'", asked);
}

static int complain_unknown_short(const char *arg, char letter, struct err *err) {
    bool whole = arg[2] == '\0' || ((unsigned char)letter & 0x80u) != 0; /* no half characters */
    if (whole) {
        return err_set(err, -EINVAL, "usage-unknown-option", "unknown option '%s'", arg);
    }
    return err_set(err, -EINVAL, "usage-unknown-option", "unknown option '-%c' in '%s'", letter,
                   arg);
}

static int complain_choice(const struct opt_spec *spec, const char *value, struct err *err) {
    AUTO_STRBUF struct strbuf all = STRBUF_INIT;
    const char *words[SPECS_MAX], *word;
    size_t count = 0;
    while (count < SPECS_MAX && (word = opt_choice(spec, count)) != NULL) {
        strbuf_printf(&all, "%s%s", count > 0 ? ", " : "", word);
        words[count++] = word;
    }
    const char *near = str_nearest(value, words, count);
    if (near != NULL) {
        return err_set(err, -EINVAL, "usage-bad-value",
                       "option '--%s' does not take '%s'; did you mean '%s'?", spec->name, value,
                       near);
    }
    return err_set(err, -EINVAL, "usage-bad-value", "option '--%s' does not take '%s', but: %s",
                   spec->name, value, strbuf_str(&all));
}

static int take_count(const struct opt_spec *spec, const char *value, struct err *err) {
    int64_t number = 0;
    bool any = spec->min == 0 && spec->max == 0;
    int rc = str_to_i64(value, &number);
    if (rc == -EINVAL) {
        return err_set(err, -EINVAL, "usage-bad-value",
                       "option '--%s' takes a whole number, not '%s'", spec->name, value);
    }
    if (rc < 0 || (!any && (number < spec->min || number > spec->max))) {
        if (any) {
            return err_set(err, -ERANGE, "usage-bad-value",
                           "the number '%s' of option '--%s' is too large", value, spec->name);
        }
        return err_set(err, -ERANGE, "usage-bad-value",
                       "option '--%s' takes a number from %lld to %lld, not '%s'", spec->name,
                       (long long)spec->min, (long long)spec->max, value);
    }
    *(int64_t *)spec->target = number;
    return 0;
}

static int take_duration(const struct opt_spec *spec, const char *value, struct err *err) {
    int64_t duration_ns = 0;
    struct err why = ERR_INIT;
    if (str_to_duration_ns(value, &duration_ns, &why) < 0) {
        return err_set(err, -EINVAL, "usage-bad-value",
                       "option '--%s' takes a duration such as 90s, 1.5h or 2h30m, not '%s'",
                       spec->name, value);
    }
    if (duration_ns < spec->min) {
        return err_set(err, -ERANGE, "usage-bad-value",
                       "the duration '%s' of option '--%s' is too short", value, spec->name);
    }
    if (spec->max > 0 && duration_ns > spec->max) {
        return err_set(err, -ERANGE, "usage-bad-value",
                       "the duration '%s' of option '--%s' is too long", value, spec->name);
    }
    *(int64_t *)spec->target = duration_ns;
    return 0;
}

static int take_choice(const struct opt_spec *spec, const char *value, struct err *err) {
    const char *word;
    for (size_t i = 0; (word = opt_choice(spec, i)) != NULL; i++) {
        if (strcmp(word, value) == 0) {
            *(const char **)spec->target = word;
            return 0;
        }
    }
    return complain_choice(spec, value, err);
}

/* At once, so that the next complaint is in that language already. */
static int take_language(const struct opt_spec *spec, const char *value, struct err *err) {
    if (msg_catalog_of(value) != NULL) {
        (void)msg_set_language(value);
        return 0;
    }
    const char *near = opt_language_meant(value);
    if (near != NULL) {
        return err_set(err, -EINVAL, "usage-bad-value",
                       "option '--%s' does not take '%s'; did you mean '%s'?", spec->name, value,
                       near);
    }
    return complain_choice(spec, value, err);
}

static int take_value(struct parse *parse, size_t index, const char *value, struct err *err) {
    const struct opt_spec *spec = parse->specs[index];
    parse->given[index] = true;
    switch (spec->type) {
    case OPT_FLAG:
        *(bool *)spec->target = true;
        return 0;
    case OPT_TEXT:
        *(const char **)spec->target = value;
        return spec == &common_specs[COMMON_LANG] ? take_language(spec, value, err) : 0;
    case OPT_PATH:
        if (*value == '\0') {
            return err_set(err, -EINVAL, "usage-bad-value", "option '--%s' takes a path, not ''",
                           spec->name);
        }
        *(const char **)spec->target = value;
        return 0;
    case OPT_PATH_LIST:
        if (*value == '\0') {
            return err_set(err, -EINVAL, "usage-bad-value", "option '--%s' takes a path, not ''",
                           spec->name);
        }
        opt_list_add(spec->target, value);
        return 0;
    case OPT_LIST:
        opt_list_add(spec->target, value);
        return 0;
    case OPT_COUNT:
        return take_count(spec, value, err);
    case OPT_DURATION:
        return take_duration(spec, value, err);
    case OPT_CHOICE:
        return take_choice(spec, value, err);
    }
    assert(false); /* every type has returned */
    return -EINVAL;
}

/* argv[at] is "--name" or "--name=value". Returns how many arguments were used up, or a negative
 * errno. */
static int parse_long(struct parse *parse, char **argv, int at, struct err *err) {
    const char *name = argv[at] + 2;
    size_t length = strcspn(name, "="), index = 0;
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    const struct opt_spec *spec = find_long(parse, name, length, &index);
    if (spec == NULL) {
        return complain_unknown_long(parse, name, length, err);
    }
    int used = 1;
    if (spec->type == OPT_FLAG) {
        if (value != NULL) {
            return err_set(err, -EINVAL, "usage-bad-value", "option '--%s' takes no value",
                           spec->name);
        }
    } else if (value == NULL) {
        value = argv[at + 1];
        if (value == NULL) {
            return err_set(err, -EINVAL, "usage-missing-value", "option '--%s' needs a value (%s)",
                           spec->name, _(spec->argument));
        }
        used = 2;
    }
    int rc = take_value(parse, index, value, err);
    return rc < 0 ? rc : used;
}

/* argv[at] is "-x", "-xyz" or "-cVALUE". Returns how many arguments were used up, or a negative
 * errno. */
static int parse_short(struct parse *parse, char **argv, int at, struct err *err) {
    for (const char *letter = argv[at] + 1; *letter != '\0'; letter++) {
        size_t index = 0;
        const struct opt_spec *spec = find_short(parse, *letter, &index);
        if (spec == NULL) {
            return complain_unknown_short(argv[at], *letter, err);
        }
        const char *value = NULL;
        int used = 1;
        if (spec->type != OPT_FLAG) {
            value = letter[1] != '\0' ? letter + 1 : argv[at + 1];
            used = letter[1] != '\0' ? 1 : 2;
            if (value == NULL) {
                return err_set(err, -EINVAL, "usage-missing-value",
                               "option '-%c' needs a value (%s)", spec->short_name,
                               _(spec->argument));
            }
        }
        int rc = take_value(parse, index, value, err);
        if (rc < 0 || spec->type != OPT_FLAG) {
            return rc < 0 ? rc : used;
        }
    }
    return 1;
}

static bool is_any_given(const struct parse *parse, const char *names) {
    for (size_t i = 0; i < parse->count; i++) {
        if (parse->given[i] && opt_names_has(names, parse->specs[i]->name)) {
            return true;
        }
    }
    return false;
}

static int complain_needs(const struct opt_spec *spec, struct err *err) {
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    for (const char *at = spec->needs; *at != '\0';) {
        size_t span = strcspn(at, " ");
        strbuf_printf(&names, "%s'--%.*s'", names.length > 0 ? ", " : "", (int)span, at);
        at += span;
        at += strspn(at, " ");
    }
    if (strchr(spec->needs, ' ') != NULL) {
        return err_set(err, -EINVAL, "usage-needs", "option '--%s' needs one of: %s", spec->name,
                       strbuf_str(&names));
    }
    return err_set(err, -EINVAL, "usage-needs", "option '--%s' needs option %s", spec->name,
                   strbuf_str(&names));
}

static int check_together(const struct parse *parse, const struct command_verb *verb,
                          struct err *err) {
    for (size_t i = 0; i < parse->count; i++) {
        const struct opt_spec *spec = parse->specs[i];
        if (!parse->given[i]) {
            continue;
        }
        for (size_t j = 0; j < parse->count; j++) {
            if (parse->given[j] && opt_names_has(spec->conflicts, parse->specs[j]->name)) {
                return err_set(err, -EINVAL, "usage-conflict",
                               "options '--%s' and '--%s' exclude each other", spec->name,
                               parse->specs[j]->name);
            }
        }
        if (spec->needs != NULL && !is_any_given(parse, spec->needs)) {
            return complain_needs(spec, err);
        }
        bool foreign =
            verb != NULL && spec->verbs != NULL && !opt_names_has(spec->verbs, verb->name);
        foreign = foreign || (verb != NULL && !verb->json && spec == &common_specs[COMMON_JSON]);
        if (foreign) {
            return err_set(err, -EINVAL, "usage-conflict", "option '--%s' is not for '%s %s'",
                           spec->name, parse->command->name, verb->name);
        }
    }
    return 0;
}

static int find_verb(const struct parse *parse, const struct command_verb **ret_verb,
                     struct err *err) {
    const char *names[SPECS_MAX];
    const char *asked = parse->operand_count > 0 ? parse->operands[0] : NULL;
    AUTO_STRBUF struct strbuf all = STRBUF_INIT;
    size_t count = 0;
    for (; parse->command->verbs[count].name != NULL; count++) {
        assert(count < SPECS_MAX);
        names[count] = parse->command->verbs[count].name;
        strbuf_printf(&all, "%s%s", count > 0 ? ", " : "", names[count]);
        if (asked != NULL && strcmp(asked, names[count]) == 0) {
            *ret_verb = &parse->command->verbs[count];
            return 0;
        }
    }
    if (asked == NULL) {
        return err_set(err, -EINVAL, "usage-verb", "'%s' needs to know what to do: %s",
                       parse->command->name, strbuf_str(&all));
    }
    const char *near = str_nearest(asked, names, count);
    if (near != NULL) {
        return err_set(err, -EINVAL, "usage-verb", "'%s' does not know '%s'; did you mean '%s'?",
                       parse->command->name, asked, near);
    }
    return err_set(err, -EINVAL, "usage-verb", "'%s' does not know '%s', but: %s",
                   parse->command->name, asked, strbuf_str(&all));
}

static int check_operands(const struct command *command, const struct opt_operands *operands,
                          struct err *err) {
    const struct command_verb *verb = operands->verb;
    int min = verb != NULL ? verb->min_args : command->min_args;
    int max = verb != NULL ? verb->max_args : command->max_args;
    const char *blank = verb != NULL ? " " : "", *word = verb != NULL ? verb->name : "";
    if (operands->argc < min) {
        return err_set(err, -EINVAL, "usage-operands", "something is missing: probelauf %s%s%s %s",
                       command->name, blank, word, _(verb != NULL ? verb->usage : command->usage));
    }
    if (max >= 0 && operands->argc > max) {
        return err_set(err, -EINVAL, "usage-operands", "'%s' is one argument too many for '%s%s%s'",
                       operands->argv[max], command->name, blank, word);
    }
    return 0;
}

int opt_parse(const struct command *command, int argc, char **argv,
              struct opt_operands *ret_operands, struct err *err) {
    struct parse parse;
    parse_init(&parse, command, argv);
    bool options_ended = false;
    for (int at = 0; at < argc;) {
        char *arg = argv[at];
        if (options_ended || arg[0] != '-' || arg[1] == '\0') {
            options_ended = options_ended || command->stops_at_operand;
            parse.operands[parse.operand_count++] = arg;
            at++;
            continue;
        }
        if (strcmp(arg, "--") == 0) {
            options_ended = true;
            at++;
            continue;
        }
        int used =
            arg[1] == '-' ? parse_long(&parse, argv, at, err) : parse_short(&parse, argv, at, err);
        if (used < 0) {
            return used;
        }
        if (opt_common.help) {
            *ret_operands = (struct opt_operands){0};
            return 0;
        }
        at += used;
    }
    argv[parse.operand_count] = NULL;

    struct opt_operands operands = {.argc = parse.operand_count, .argv = argv};
    int rc = 0;
    if (command->verbs != NULL) {
        rc = find_verb(&parse, &operands.verb, err);
        if (rc < 0) {
            return rc;
        }
        operands.argc--;
        operands.argv++;
    }
    rc = check_together(&parse, operands.verb, err);
    if (rc == 0) {
        rc = check_operands(command, &operands, err);
    }
    if (rc < 0) {
        return rc;
    }
    *ret_operands = operands;
    return 0;
}
