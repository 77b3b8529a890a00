/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is done with a journal whose writer died: torn tail cut, marks file read in, END(lost) never invented. */
#pragma once

#include "base/err.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads the complete lines of a marks file from byte `from` on; calls back with a MARK payload each
 * ({"mono_ns","verb","name","value","pid","file_offset"} or {"bad":…,"line":…}). Returns the offset behind the
 * last complete line, or a negative errno. Format of a line: docs/journal-format.md, "Marks". */
typedef void (*marks_fn)(json_t *take_mark, void *context);
long marks_read(int fd, long from, marks_fn each, void *context);

/* Brings a dead writer's journal in order: appends the marks that are not yet in it, removes the marks file, closes. */
int journal_recover(const char *path, struct err *err);
