/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One option table per command drives parsing, --help, completion and the check of the documents.
 * Conflicts, needs, ranges and the sub-verbs an option belongs to are data, not code. Command-line
 * values live in static opt_ variables of the command's file. Parsing prints nothing and never
 * exits.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_type {
    OPT_FLAG,      /* bool *: set to true */
    OPT_TEXT,      /* const char ** */
    OPT_LIST,      /* struct opt_list *: repeatable */
    OPT_COUNT,     /* int64_t * */
    OPT_DURATION,  /* int64_t *, ns */
    OPT_CHOICE,    /* const char ** */
    OPT_PATH,      /* const char **: completed as a file */
    OPT_PATH_LIST, /* struct opt_list *: repeatable, completed as files */
};

struct opt_list {
    const char **items; /* NULL-terminated once something was given; NULL before */
    size_t count;
};

/* Words that another layer owns, one after the other; NULL behind the last. */
typedef const char *(*opt_words_fn)(size_t index);

struct opt_spec {
    char short_name;  /* 0: none */
    const char *name; /* without dashes */
    enum opt_type type;
    void *target;               /* see enum opt_type */
    const char *argument;       /* "KEY=VALUE"; NULL for flags */
    const char *help;           /* one translatable sentence */
    const char *const *choices; /* for OPT_CHOICE, NULL-terminated */
    opt_words_fn words;         /* instead of choices */
    int64_t min, max;           /* for OPT_COUNT and OPT_DURATION (ns); both 0: any */
    const char *conflicts; /* names of options that must not be given together, blank between */
    const char *needs;     /* names of options, one of which must be given with this one */
    const char *verbs;     /* the sub-verbs it belongs to, blank between; NULL: all */
};

/* A second word that selects what a command does: "ledger check". */
struct command_verb {
    const char *name;
    const char *summary;    /* one translatable sentence */
    const char *usage;      /* "[--all | RUN...] [-o FILE]": its operands and options */
    int min_args, max_args; /* operands behind the verb; max -1: any */
    bool json;              /* takes --json, where the command has it */
    const char *operand;    /* as in struct command */
    int (*run)(int argc, char **argv);
};

enum command_trait {
    COMMAND_LEDGER = 1 << 0, /* reads or writes records: --ledger, --journal-dir */
    COMMAND_JSON = 1 << 1,   /* reads: --json */
    COMMAND_TINY = 1 << 2,   /* must start at once: no configuration file, only --lang, -q, -h */
    COMMAND_RUNS = 1 << 3,   /* `run`: standard streams belong to the measured command */
    COMMAND_PLAN = 1 << 4,   /* reads a plan: --plan */
};

struct command {
    const char *name;     /* "run" */
    const char *summary;  /* one translatable sentence */
    const char *details;  /* what `help` adds to the summary, translatable; NULL: nothing */
    const char *usage;    /* "[options] -- COMMAND [ARG...]" */
    const char *examples; /* lines of "command  # what it does", translatable */
    const struct opt_spec
        *options; /* ends with name NULL, or NULL; common options are added by the parser */
    const struct command_verb *verbs; /* ends with name NULL, or NULL */
    int min_args, max_args;           /* operands; max -1: any */
    bool stops_at_operand;            /* run: the first operand or "--" ends our options */
    const char *operand; /* what completes operands ("run", "file", "command", "phase", "block",
                            "session", "answer"; "": nothing), one after the other, the last for all
                            that follow; "run|file": either */
    unsigned traits;     /* enum command_trait */
    int (*run)(int argc, char **argv); /* operands; returns an exit code */
};

/* Options that every command has (those without a ledger or something to read have fewer of them).
 */
struct opt_common {
    const char *ledger, *journal_dir, *plan, *lang, *color;
    bool json, quiet, verbose, help;
};
extern struct opt_common opt_common;

/* The index-th common option that `command` takes; NULL behind the last. */
const struct opt_spec *opt_common_spec(const struct command *command, size_t index);

/* The index-th own option; NULL behind the last. */
const struct opt_spec *opt_own_spec(const struct command *command, size_t index);

/* The index-th word an OPT_CHOICE option accepts; NULL behind the last. */
const char *opt_choice(const struct opt_spec *spec, size_t index);

struct opt_operands {
    const struct command_verb *verb; /* NULL for commands without verbs */
    int argc;                        /* operands, the verb not among them */
    char **argv;                     /* NULL-terminated; points into the argv that was parsed */
};

/*
 * argv: what stands behind the command's name, NULL-terminated; reordered, so that operands come
 * first. Fills the targets. `-h` among the options ends parsing with opt_common.help set and no
 * complaint. Errors: "usage-unknown-option", "usage-missing-value", "usage-bad-value",
 * "usage-conflict", "usage-needs", "usage-operands", "usage-verb".
 */
int opt_parse(const struct command *command, int argc, char **argv,
              struct opt_operands *ret_operands, struct err *err);

/* Puts a text at the end of the list; the list keeps the pointer, not a copy. */
void opt_list_add(struct opt_list *list, const char *text);

/* The language that may have been meant ("German": "de"); NULL: none is near. */
const char *opt_language_meant(const char *text);

/* True if `word` is among the blank-separated words of `list` (NULL: an empty list). */
bool opt_names_has(const char *list, const char *word);

/* Splits "key=value" at the first '='; false if there is none or the key is empty. *ret_key is
 * owned. */
bool opt_split(const char *text, char **ret_key, const char **ret_value);
