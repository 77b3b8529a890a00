/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The open parts of an estimate, so grouped that people read each reason once: what is open for the
 * same reason in several components and blocks is one line, and lines that the same kind of thing
 * closes stand together under it. Words only; no output form. Internal to report/.
 */
#pragma once

#include "base/mem.h"
#include "rules/estimate.h"

#include <stddef.h>

struct open_line {
    const char *text;   /* "all blocks: data, transfer: not seen" */
    const char *remedy; /* what closes it and its neighbours; the same pointer for all of them */
    const char *const *commands; /* with OPEN_ALL: all of which the remedy names the first */
    size_t command_count;
};
/* What of many is named, beside the first ones. */
enum open_detail {
    OPEN_BRIEF = 0,
    OPEN_ITEMS, /* every item */
    OPEN_ALL,   /* every command and key that closes something, too */
};
/* Texts live in arena. */
size_t open_lines(const struct estimate *estimate, enum open_detail detail, struct arena *arena,
                  struct open_line **ret_lines);
/* Why the estimate is provisional: its reasons in one sentence. */
const char *open_provisional(const struct estimate *estimate, struct arena *arena);
