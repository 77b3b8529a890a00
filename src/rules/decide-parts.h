/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the rules of the decision share; internal to rules/. A rule is a function that looks at one
 * block in one environment and writes its answer with all that it rests on.
 */
#pragma once

#include "rules/decide.h"

/* One rule while it is answered. */
struct ruling {
    struct arena *arena;
    const struct plan *plan;
    const struct plan_environment *environment; /* NULL: the plan names none */
    const struct study *study;
    const struct estimate *estimate;
    const struct cost *cost;           /* NULL: not made */
    const struct study_block *block;   /* NULL: the plan has none */
    const struct estimate_block *left; /* of the block; NULL: the plan has none */
    struct decide_rule *rule;
    struct decide_ground *grounds; /* growing, in the arena */
    struct decide_change *opens;
    size_t ground_room, open_room;
};

/* What the answer rests on; the text is translated already. */
void ruling_ground(struct ruling *ruling, const char *source, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with a figure, which is printed behind the text: "its peak: [m] 40 GiB". */
void ruling_figure(struct ruling *ruling, const char *source, const char *name,
                   const struct quantity *figure, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* What is open, or has to be changed, for another answer. source, command: NULL: none. */
void ruling_open(struct ruling *ruling, const char *source, const char *command, const char *fmt,
                 ...) __attribute__((format(printf, 4, 5)));
/* What was named last is settled by writing that key in the plan: "runs", "blocks", "compare".
 * part, name: NULL: none. */
void ruling_key(struct ruling *ruling, const char *key, const char *part, const char *name);
/* An open fact of the plan. */
void ruling_fact(struct ruling *ruling, const struct plan_fact *fact);
void ruling_answer(struct ruling *ruling, enum decide_answer answer, bool fires,
                   enum decide_verdict verdict);
/* "probelauf.yaml:31" */
const char *ruling_source(const struct ruling *ruling, struct plan_at at);

/* ---- what several rules look at ---- */

/* Does the fact hold for the environment that is looked at? */
bool ruling_is_here(const struct ruling *ruling, const struct plan_fact *fact);
/* Open, here, and in the way of the block's kind or of booking. */
bool ruling_stops(const struct ruling *ruling, const struct plan_fact *fact);
/* About code, weights, data, or what code needs of a machine. */
bool ruling_is_base(const struct plan_fact *fact);
bool ruling_is_privacy(const struct plan_fact *fact);
/* The newest run that counts in the block; checked: whose result was checked. NULL: none. */
const struct study_run *ruling_counting(const struct study_block *block, bool checked);
/* "probelauf run --block …" of the first condition without a run that counts, else of the first;
 * NULL: none. */
const char *ruling_run_command(const struct ruling *ruling);
/* A text with the marks of the quantity's state, ASCII only. */
const char *ruling_quantity(const struct quantity *q, struct arena *arena);

/* ---- the rules, one after the other ---- */

void decide_e5(struct ruling *ruling);
void decide_e7(struct ruling *ruling);
void decide_e7b(struct ruling *ruling);
void decide_e1(struct ruling *ruling);
void decide_e8(struct ruling *ruling);
void decide_e10(struct ruling *ruling);
void decide_e6(struct ruling *ruling);
void decide_e2(struct ruling *ruling);
void decide_e3a(struct ruling *ruling);
void decide_e3b(struct ruling *ruling);
void decide_e3c(struct ruling *ruling);
void decide_e9(struct ruling *ruling);
void decide_e4(struct ruling *ruling);
void decide_e11(struct ruling *ruling);
