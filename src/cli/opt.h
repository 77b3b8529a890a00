/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One option table per command drives parsing, --help, completion and the check of the documents. Command-line values live in
 * static opt_ variables of the command's file.
 */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum opt_type { OPT_FLAG, OPT_TEXT, OPT_LIST, OPT_COUNT, OPT_DURATION, OPT_CHOICE, OPT_PATH, OPT_PATH_LIST };

struct opt_list { /* NULL-terminated */
    const char **items;
    size_t count;
};

struct opt_spec {
    char short_name;             /* 0: none */
    const char *name;            /* without dashes */
    enum opt_type type;
    void *target;                /* bool* / const char** / struct opt_list* / int64_t* / int64_t* (ns) / const char** */
    const char *argument;        /* "KEY=VALUE"; NULL for flags */
    const char *help;            /* one translatable sentence */
    const char *const *choices;  /* for OPT_CHOICE, NULL-terminated */
    int64_t min, max;            /* for OPT_COUNT; both 0: any */
    const char *conflicts;       /* name of an option that must not be given together */
};

struct command {
    const char *name;            /* "run" */
    const char *summary;         /* one translatable sentence */
    const char *usage;           /* "[options] -- COMMAND [ARG…]" */
    const char *examples;        /* lines of "command    # what it does", translatable */
    const struct opt_spec *options; /* ends with name NULL; common options are added by the parser */
    const char *const *verbs;    /* sub-verbs ("info", "check") or NULL; NULL-terminated */
    int min_args, max_args;      /* operands; max -1: any */
    bool stops_at_operand;       /* run: the first operand or "--" ends our options */
    const char *operand;         /* what completes operands: "run", "file", "command", "" */
    int (*run)(int argc, char **argv); /* operands; returns an exit code */
};
