/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rule table behind text/incident.h, for the scanner and the generator of docs/incidents.md
 * only. A new cause is one more entry here and, if its name is new, one more in the list of names:
 * nothing else.
 */
#pragma once

#include "text/incident.h"

#include <stdbool.h>
#include <stddef.h>

#define INCIDENT_KEYS_MAX    4
#define INCIDENT_FIGURES_MAX 8

/* How a figure is read from the line. `at`: the text it stands behind (or before, or what it is).
 */
enum incident_figure_kind {
    INCIDENT_FIGURE_END_ = 0,
    INCIDENT_INTEGER,        /* decimal number behind `at` */
    INCIDENT_INTEGER_BEFORE, /* decimal number directly before `at` */
    INCIDENT_BYTES,          /* number and unit behind `at`; MB is 10^6, MiB 2^20, none is bytes */
    INCIDENT_BYTES_BINARY,   /* the same, MB and Mb are 2^20 (R) */
    INCIDENT_KIB,            /* number of kB as the kernel writes it: 1024 bytes */
    INCIDENT_WORD,           /* text behind `at` up to blank, comma, semicolon or colon */
    INCIDENT_NAME,           /* text behind `at` up to the end or ", name=" */
    INCIDENT_QUOTED,         /* quoted text behind `at` */
    INCIDENT_PARENTHESES,    /* text in the first parentheses behind `at` */
    INCIDENT_SEGMENT_BEFORE, /* text between the colon and blank before `at`, and `at` */
    INCIDENT_REPOSITORY,     /* owner/name behind `at` in a URL */
    INCIDENT_IS_TEXT,        /* always the text `at` */
    INCIDENT_IS_NUMBER,      /* always the number `at` */
};

struct incident_figure {
    const char *name; /* key in figures; the same name may stand twice: the first that can be read
                         is kept */
    enum incident_figure_kind kind;
    const char *at;
};

struct incident_rule {
    const char *name;
    const char *all[INCIDENT_KEYS_MAX];  /* each must be in the line; at least one */
    const char *none[INCIDENT_KEYS_MAX]; /* none of them may be */
    bool (*also)(const char *line);      /* what fixed words cannot say; NULL: nothing more */
    const char *also_text;               /* the same in words, for the document */
    struct incident_figure figures[INCIDENT_FIGURES_MAX];
};

size_t incident_rule_count(void);
const struct incident_rule *incident_rule_at(size_t index);

/* Reads the figures of a rule from a line into the object; keys that are there already stay. */
void incident_read_figures(const struct incident_rule *rule, const char *line, json_t *figures);

/* The line behind what containers, journald, kernel log levels, srun -l and torchrun put before it.
 */
const char *incident_skip_prefix(const char *line);
