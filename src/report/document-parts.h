/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the forms of a report share, and the parts of its Markdown. Internal to report/. */
#pragma once

#include "report/study.h"

#include <stdbool.h>
#include <stddef.h>

#define DOCUMENT_RUNS_SHOWN       50u
#define DOCUMENT_CONDITIONS_SHOWN 100u /* per block */

/* The run as the study sees it, or NULL. */
const struct study_run *document_study_run(const struct report_document *document,
                                           const struct run *run);
/* Ended, and not well; Ctrl-C and the budget included. */
bool document_is_failure(const struct run *run);
/* "disk_full: No space left on device", "killed: ended by a signal …". May hold anything. */
void document_add_cause(struct strbuf *out, const struct run *run);
/* The name of the incident that stands for it, else of the class. */
const char *document_cause_name(const struct run *run);
/* "evidence", "not evidence: …", "unplanned: …"; NULL without a plan. */
const char *document_standing(const struct report_document *document, const struct run *run,
                              struct arena *arena);
/* What changed before this attempt, joined by "; ". */
void document_add_changes(struct strbuf *out, const struct run *run);
/* "validate: policy=full", "step install", or the condition given with -c. */
void document_add_place(struct strbuf *out, const struct report_document *document,
                        const struct run *run);

void document_markdown_study(const struct report_document *document, struct strbuf *out);
void document_markdown_blocks(const struct report_document *document, struct strbuf *out);
void document_markdown_runs(const struct report_document *document, struct strbuf *out);
void document_markdown_estimate(const struct report_document *document, struct strbuf *out);
void document_markdown_method(const struct report_document *document, struct strbuf *out);
