/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a person should know about a run beyond its figures: at most five notes, the gravest first,
 * each a finding with its evidence and a remedy, where there is one with the command to type.
 * Internal to report/.
 */
#pragma once

#include "base/strbuf.h"
#include "model/run.h"

#include <stddef.h>

#define NOTES_MAX 5

/* In the order of their weight. */
enum note_kind {
    NOTE_MONITOR_LOST = 0,
    NOTE_ATTACHED_LOST,
    NOTE_EXPECTATION,
    NOTE_RESULT_ABSENT,
    NOTE_ADDRESS_TAKEN,
    NOTE_NEVER_READY,
    NOTE_BLIND_SPOT,
    NOTE_SURVIVORS,
    NOTE_TERMINAL_MODES,
    NOTE_INCIDENT_SURVIVED,
    NOTE_STOPPED,
    NOTE_SUSPENDED,
    NOTE_UNACCOUNTED,
    NOTE_ATTACHED_END_UNSEEN,
    NOTE_BUFFERED,
    NOTE_NOT_SEPARATED,
    NOTE_ATTACHED_NOT_SEPARATED,
    NOTE_MOSTLY_UNATTRIBUTED,
    NOTE_GAPS,
    NOTE_FUNCTION_TEST,
    NOTE_CODE_DIRTY,
    NOTE_COUNT_
};

struct note {
    enum note_kind kind;
    char *evidence;      /* owned, printable, may be NULL */
    const char *finding; /* translated */
    const char *remedy;  /* translated, may be NULL */
    const char *command; /* as typed, may be NULL */
};

/* Fills at most NOTES_MAX; returns the number. Clear each with notes_clear. */
size_t notes_collect(const struct run *run, bool ascii, struct note ret_notes[NOTES_MAX]);
void notes_clear(struct note *notes, size_t count);
/* "finding (evidence); remedy: `command`" on one line. */
void notes_format(const struct note *note, struct strbuf *out);
