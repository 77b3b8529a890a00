/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output patterns: POSIX extended regular expressions on lines of output that begin or end a phase.
 * Pure mechanism. */
#pragma once

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LINE_MAX_BYTES 4096u /* what lies behind it in a line is dropped */

struct pattern_set;
struct pattern_set *pattern_set_new(void);
/* event: "begin" or "end"; phase as in model/run.h ("load", "compute/decode"). -EINVAL names what
 * is wrong with the regex ("pattern-invalid"). Matched byte by byte, whatever the locale. Refused
 * as well, since one line must never cost seconds: back-references, more than 1 KiB, counted
 * repetitions that multiply to more than 1000. */
int pattern_set_add(struct pattern_set *set, const char *phase, const char *event,
                    const char *regex, struct err *err);
struct pattern_set *pattern_set_free(struct pattern_set *set);
/* Why a regular expression would not be taken (N_), NULL: it would. For others that match texts of
 * users with expressions of users. */
const char *pattern_why_refused(const char *regex);

/* Splits a stream into lines: \n and \r end one (progress bars), empty ones are left out. ANSI
 * sequences (CSI, OSC and other strings) and control characters but the tab are removed, even when
 * cut across feeds; the text may end anywhere. Constant memory: 4 KiB a line. `line` is
 * NUL-terminated and holds no other NUL; offset is that of the line's first byte in the stream. */
struct line_splitter;
typedef void (*line_fn)(const char *line, size_t length, uint64_t offset, void *context);
struct line_splitter *line_splitter_new(line_fn each, void *context);
void line_splitter_feed(struct line_splitter *splitter, const void *bytes, size_t length);
void line_splitter_skip(struct line_splitter *splitter,
                        uint64_t bytes); /* a hole in the stream: what is left of the lines on both
                                            its sides is dropped */
void line_splitter_finish(
    struct line_splitter *splitter); /* calls back for a last line without an end */
bool line_splitter_has_cut(
    const struct line_splitter *splitter); /* some line was longer than LINE_MAX_BYTES */
struct line_splitter *line_splitter_free(struct line_splitter *splitter);

/* The phase and event of the first pattern that the line matches; false if none. Borrowed texts. */
bool pattern_set_match(const struct pattern_set *set, const char *line, const char **ret_phase,
                       const char **ret_event);
