/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Markdown (CommonMark with GitHub's tables) out of texts that nobody can trust: what came from
 * outside can neither end a cell nor become markup, HTML, a link or a control character. Internal
 * to report/. Knows nothing about studies.
 */
#pragma once

#include "base/strbuf.h"
#include "model/quantity.h"

#include <stddef.h>

/* Foreign text as it reads, on one line, anywhere but at the start of a line. NULL adds nothing. */
void markdown_add(struct strbuf *out, const char *text);
/* The same as code: `probelauf run`. table: within a table's cell, where a text with a bar in it
 * stands as plain text. */
void markdown_add_code(struct strbuf *out, const char *text, bool table);
/* "[m] ≥ 1.36 GiB", without interval and names of open parts where `brief`. */
void markdown_add_quantity(struct strbuf *out, const struct quantity *q, bool brief);

/* "## Heading" with an empty line before and after it. Translated text of ours. */
void markdown_heading(struct strbuf *out, unsigned level, const char *text);
/* A paragraph of foreign or own text, with an empty line after it. */
void markdown_paragraph(struct strbuf *out, const char *text);
/* "- **label:** text", both escaped; nothing without text. */
void markdown_item(struct strbuf *out, const char *label, const char *text);
void markdown_bullet(struct strbuf *out, const char *text);

/* A table: its titles, then cell by cell, each row ended, an empty line after the last. */
void markdown_table(struct strbuf *out, const char *const *titles, size_t count);
void markdown_cell(struct strbuf *out, const char *text); /* escaped; NULL and "": empty */
void markdown_cell_quantity(struct strbuf *out, const struct quantity *q, bool brief);
void markdown_cell_count(struct strbuf *out, bool known, unsigned long long count);
void markdown_end_row(struct strbuf *out);

/* Takes empty lines beyond one away: each part brings its own before and after it. */
void markdown_finish(const struct strbuf *raw, struct strbuf *out);
