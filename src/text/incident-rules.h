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
/* A rule that only adds figures looks for its incident so many lines before and behind. */
#define INCIDENT_BESIDE_LINES 12u

/* How a figure is read from the line. `at`: the text it stands behind (or before, or what it is).
 */
enum incident_figure_kind {
    INCIDENT_FIGURE_END_ = 0,
    INCIDENT_INTEGER,        /* decimal number behind `at` */
    INCIDENT_INTEGER_BEFORE, /* decimal number directly before `at` */
    INCIDENT_BYTES,          /* number and unit behind `at`; MB is 10^6, MiB 2^20, none is bytes */
    INCIDENT_BYTES_BINARY,   /* the same, MB and Mb are 2^20 (R) */
    INCIDENT_SIZE,           /* number and unit behind `at`, both needed; MB is 2^20 (R) */
    INCIDENT_SIZE_BEFORE,    /* the same, directly before `at` */
    INCIDENT_PAIR_FIRST,     /* "67.24/79.25 GiB" or "1GB / 2GB" behind `at`: its first number */
    INCIDENT_PAIR_SECOND,    /* … its second */
    INCIDENT_KIB,            /* number of kB as the kernel writes it: 1024 bytes */
    INCIDENT_HEX,            /* number with 0x behind `at` */
    INCIDENT_MILLISECONDS,   /* milliseconds behind `at`, as seconds */
    INCIDENT_TENSOR,         /* shape and type behind `at`, multiplied to bytes */
    INCIDENT_NEIGHBOURS,     /* torch: "Process N has X memory in use" */
    INCIDENT_BUS,            /* PCI address somewhere behind `at` */
    INCIDENT_PHRASE,         /* text behind `at` up to comma, parenthesis, or end of sentence */
    INCIDENT_WORD_WITH,      /* the word that begins with `at` */
    INCIDENT_WORD,           /* text behind `at` up to blank, comma, semicolon or colon */
    INCIDENT_NAME,           /* text behind `at` up to the end or ", name=" */
    INCIDENT_QUOTED,         /* quoted text behind `at` */
    INCIDENT_PARENTHESES,    /* text in the first parentheses behind `at` */
    INCIDENT_SEGMENT_BEFORE, /* text between the colon and blank before `at`, and `at` */
    INCIDENT_REPOSITORY,     /* owner/name behind `at` in a URL */
    INCIDENT_STATUS,         /* exit status that a line tells, if it is positive */
    INCIDENT_STATUS_SIGNAL,  /* … the signal, if it is negative (Python's way) */
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
    const char *all[INCIDENT_KEYS_MAX]; /* each must be in the line */
    const char *const *any; /* and one of these: the rule stands for as many, in their order; NULL:
                               `all` says everything */
    const char *none[INCIDENT_KEYS_MAX]; /* none of them may be */
    bool (*also)(const char *line);      /* what fixed words cannot say; NULL: nothing more */
    const char *also_text;               /* the same in words, for the document */
    struct incident_figure figures[INCIDENT_FIGURES_MAX];
    const struct incident_figure *more; /* further figures that several rules share, or NULL */
    bool wraps;  /* a long message: what is missing may stand on the next lines */
    bool beside; /* alone it is no incident: it adds its figures to one of its name nearby */
    bool warns;  /* the line itself says that the program goes on: it never ends a run */
};

/* What rules of several groups have in common. */
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define INTEGER(name, behind) \
    { name, INCIDENT_INTEGER, behind }
#define SIZE(name, behind) \
    { name, INCIDENT_SIZE, behind }
#define REQUESTED(behind) SIZE("requested_bytes", behind)
#define TEXT(name, text) \
    { name, INCIDENT_IS_TEXT, text }
#define NUMBER(name, number) \
    { name, INCIDENT_IS_NUMBER, number }
#define RANK           INTEGER("rank", "[rank")
#define SIGNAL(number) NUMBER("signal", number)
#define ERRNO(number)  NUMBER("errno", number)
#define BACKEND(name)  TEXT("backend", name)
#define SCOPE(what)    TEXT("scope", what)

/* One file per topic; the groups are asked in this order. */
struct incident_rules {
    const struct incident_rule *rules;
    size_t count;
};
extern const struct incident_rules incident_rules_memory; /* of GPUs */
extern const struct incident_rules incident_rules_device;
extern const struct incident_rules incident_rules_host;
extern const struct incident_rules incident_rules_access;
extern const struct incident_rules incident_rules_end;

size_t incident_rule_count(void);
const struct incident_rule *incident_rule_at(size_t index);

/* Reads the figures of a rule from a line into the object; keys that are there already stay. */
void incident_read_figures(const struct incident_rule *rule, const char *line, json_t *figures);
/* Of those, what the line counts in bytes to the last one, not in rounded units. */
void incident_read_exact(const struct incident_rule *rule, const char *line, json_t *figures);

/* Words that stand in a text about an error, or in the source line of a traceback, before it: then
 * the line quotes the message (its first key is at `at`) and nothing happened. */
bool incident_is_quoted(const char *line, const char *at);

/* ---- what fixed words cannot say, shared by the groups ---- */

/* The line begins with the (dotted) name of an exception of Python that has this ending. */
bool incident_begins_with(const char *line, const char *ending);
/* The line is the word alone, or the word glued to a progress bar ("… 13.82it/s]Killed"). */
bool incident_is_word(const char *line, const char *word);
/* Where the number of the next exit status begins that the line tells ("exit code 137",
 * "returncode: -9", "Exited (143)"); NULL: no further one. */
const char *incident_find_status(const char *line);
/* A row of a scheduler's table: a job's number first, the state (which may be cut), and the pair of
 * exit code and signal. */
bool incident_is_job_row(const char *line, const char *state);
/* A number stands behind the words. */
bool incident_has_number(const char *line, const char *behind);

/* The line behind what containers, journald, kernel log levels, srun -l and torchrun put before it.
 */
const char *incident_skip_prefix(const char *line);
