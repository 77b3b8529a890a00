/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Renderers of a review (rules/review.h) and of the experiment log (F5). Every figure keeps its
 * state mark; what is open says why; JSON and CSV know no language.
 */
#pragma once

#include "report/report.h"
#include "rules/review.h"

json_t *report_review_json(const struct review *review); /* probelauf.review/1 */
void report_review_text(const struct review *review, struct report_style style, struct strbuf *out);
/* "Planned and actual", a section of the report; nothing where nothing was kept. */
void report_review_markdown(const struct review *review, struct strbuf *out);

/* One line or section an attempt, oldest first, of the blocks that the review holds. */
void report_review_log_csv(const struct review *review, struct strbuf *out);
void report_review_log_markdown(const struct review *review, struct strbuf *out);

/* Words that the forms share, translated. */
const char *report_review_cause(enum review_cause cause);
const char *report_review_hit(enum review_hit hit);
/* "compare: 4 of 4 runs …": what was held against what. In arena. */
const char *report_review_lead(const struct review_block *block, struct arena *arena);
/* "3 of 4 planned intervals held …", in arena. */
const char *report_review_hits(const struct review *review, struct arena *arena);
/* "[e] +": mark of the state and sign, before the size of a difference. */
void report_review_add_sign(const struct quantity *difference, struct strbuf *out);
/* What the planned sum does not hold; NULL: nothing. In arena. */
const char *report_review_lacks(const struct review_block *block, struct arena *arena);
/* The consequence of one part for a later block. In arena. */
const char *report_review_next(const struct review_next *next, struct arena *arena);
/* Of a block with such a consequence: why the estimate may say otherwise; NULL: it has none. */
const char *report_review_next_note(const struct review_block *block);
