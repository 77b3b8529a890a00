/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Renderers of a decision (rules/decide.h): text, JSON, and the sentence that a report begins with.
 * The verdict comes first, then what would change it; every rule with its grounds and their
 * sources. They decide nothing.
 */
#pragma once

#include "report/report.h"
#include "rules/decide.h"

struct report_kept_decision { /* as a line */
    const char *name;
    const char *verdict; /* as in JSON; NULL: its record does not tell */
    int64_t utc_ns;
};

json_t *report_decide_json(const struct decision *decision); /* probelauf.decide/1 */
/* What holds and what to do; block by block with the rules that fire in full, of the others the
 * answer, only with by_block; every rule in full with verbose. */
void report_decide_text(const struct decision *decision, const struct report_kept_decision *kept,
                        size_t kept_count, bool by_block, struct report_style style,
                        struct strbuf *out);

struct report_change { /* all that is settled by the same key of the plan, or by runs */
    const char *rules; /* "E1, E8" */
    const char *what;  /* translated, with its source */
    const char *todo;  /* the key to write, or a command; NULL: `what` says it */
};
/* In the order of the decision's. In arena. */
size_t report_decide_changes(const struct decision *decision, struct arena *arena,
                             struct report_change **ret_changes);
/* The key to write, else the command; NULL: none. In arena. */
const char *report_change_todo(const struct decide_change *change, struct arena *arena);

struct report_decide_row { /* blocks of an environment with the same verdict by the same rule */
    const struct decide_block *block; /* the first of them */
    const char *blocks;               /* "all 11 blocks", "validate, compare" */
};
/* with_why: and with the same first ground. In arena. */
size_t report_decide_rows(const struct decide_environment *environment, bool with_why,
                          struct arena *arena, struct report_decide_row **ret_rows);

/* "Validate first", translated. */
const char *report_verdict_text(enum decide_verdict verdict, bool nothing_left);
/* The same for one environment: on a machine of the team's own nothing is rented. */
const char *report_environment_verdict(const struct decide_environment *environment);
const char *report_answer_text(enum decide_answer answer); /* "cannot tell", translated */
/* Verdict, rule, what to do and why, in one translated sentence or two; in arena. */
const char *report_decide_sentence(const struct decision *decision, struct arena *arena);
/* The team's own cap of a validation: "4 h, 20 EUR"; NULL: none is set. In arena. */
const char *report_validation_cap(const struct plan_validation *validation, struct arena *arena);
