/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Marks: lines that the measured program appends to $PROBELAUF_MARKS (docs/journal-format.md,
 * "Marks"). Reading never fails over what stands in a line; texts are masked (text/secret.h) before
 * anybody sees them.
 */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/strbuf.h"

#include <stdint.h>
#include <sys/types.h>

#define MARKS_LINE_MAX 4096

/* Reads the complete lines of a marks file from byte `from` on; calls back with a MARK payload each
 * ({"mono_ns"?, "verb", "name"?, "value"?, "text"?, "unit"?, "pid"?, "file_offset"} or {"bad",
 * "line"?, "text"?, "file_offset"}). Returns the offset to read from next time, or a negative
 * errno. Bounded memory. */
typedef void (*marks_fn)(json_t *take_mark, void *context);
long marks_read(int fd, long from, marks_fn each, void *context);

/* The same, and a last line without line feed becomes a bad mark: for when nobody writes any more.
 */
long marks_read_rest(int fd, long from, marks_fn each, void *context);

/* Turns the payload into a MARK record's: "mono_ns" becomes "t_ns". A mark without time, or from
 * before the start or after now, gets `now` and "clock": "reading"; with now_mono_ns -1 (nobody was
 * there to read it) it gets no time. Bad marks are left as they are. */
void marks_place(json_t *mark, int64_t start_mono_ns, int64_t now_mono_ns);

/* Adds one whole line to out, as a sender writes it: mono_ns -1 for "-", pid 0 for none, NULL for
 * absent fields (the TEXT of shape and note is `name`). -EINVAL ("mark-invalid") says what is wrong
 * with the mark; out is then untouched. */
int marks_add_line(struct strbuf *out, int64_t mono_ns, pid_t pid, const char *verb,
                   const char *name, const char *value, const char *unit, struct err *err);
