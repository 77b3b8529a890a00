/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds figures without their mark in a Markdown document, in the language that is set. It knows
 * nothing of what the document should say: only what a figure looks like.
 *
 * A figure is a number with the unit of a duration, a size, energy, CPU time, a rate of results,
 * GPU-hours, wall hours or money. It must stand directly behind its mark ([m] [e] [a] [?], words of
 * a bound between them), in the same cell or sentence; a mark speaks for one figure, and for those
 * of the brackets right behind it (its interval). What is no figure, and what is none of ours,
 * stands in one list in scan-figures.c, with the reason.
 */
#pragma once

#include "base/strbuf.h"

#include <stddef.h>

struct scanned {
    size_t figures;
    size_t money; /* of them amounts behind [m], [e] or [a] */
};
/* What is wrong is added to out, a line each. */
struct scanned scan_figures(const char *markdown, struct strbuf *out);
