/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What export hands out of the view on all runs: the journals of chosen runs with what was said
 * about them, as a stream or as text; and the moment's patience that keeps a run which has just
 * ended from being missed.
 */
#pragma once

#include "base/err.h"
#include "base/strbuf.h"
#include "work/place.h"
#include "work/runs.h"

#include <stddef.h>

/* runs_open(), complete: a run whose command has ended is still being completed by its recorder
 * (code state, packages, intake); what is nearly there is waited for, at most three seconds. */
int hand_out_open(const struct place *place, struct runs **ret_runs, struct err *err);

/* The journals of these runs and the events about them as one stream to fd. */
int hand_out_runs(struct runs *runs, const char *const *refs, size_t count, int fd,
                  size_t *ret_journals, struct err *err);

/* One journal as lines of text (docs/journal-format.md, "The text view"). */
int hand_out_text(const void *journal, size_t length, struct strbuf *out, struct err *err);
