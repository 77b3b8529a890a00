/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One channel of output as the recorder reads it: from the copier's ring, or in place from a
 * regular file. Looks for incidents, phase patterns and expected markers, keeps the tail. Never
 * holds the stream up: what it cannot look at in its share of CPU time is passed over and counted.
 */
#pragma once

#include "exec/recorder.h"
#include "exec/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct recorder;
struct text_channel;

/* NULL when nothing can be read of channel `index`. */
struct text_channel *text_channel_new(const struct recorder_context *context, size_t index,
                                      const struct expectations *expectations);
/* Looks at what is new; last: at the end, with patience for all that is still there. Writes PHASE
 * records. */
void text_channel_read(struct text_channel *channel, struct recorder *recorder, bool last);
/* Incidents, and the tail where it is wanted; after the last read. */
void text_channel_finish(struct text_channel *channel, struct recorder *recorder, bool ended_ok);
const char *text_channel_name(const struct text_channel *channel); /* "stdout", "stderr", "both" */
uint64_t text_channel_bytes(const struct text_channel *channel);   /* that the stream has carried */
uint64_t text_channel_unseen(const struct text_channel *channel);
/* Nothing was passed over or cut so far; last: and nothing waits to be looked at. */
bool text_channel_has_all(const struct text_channel *channel, bool last);

/* Some channel has used up its share: bells are not answered until the next second. */
bool text_channels_are_busy(struct text_channel *const *channels, size_t count);
/* How soon a file that phase patterns wait for should be looked at; -1: the next second will do. */
int text_channels_wait_ms(struct text_channel *const *channels, size_t count);
