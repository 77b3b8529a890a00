/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Journals → ledger. One function for all ways in; importing twice changes nothing. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "store/store.h"
#include "work/place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How long a command that somebody waits for lets a locked ledger delay it: what is not taken in
 * now waits in its folder. */
#define INTAKE_PATIENCE_NS (INT64_C(2) * 1000000000)

struct intake_count {
    size_t taken, unchanged, live, damaged;
    size_t left; /* not looked at: the time was up, or the ledger could not be had */
};

/* Takes one finished journal file in and removes it after the durable commit. Live ones are left
 * (-EBUSY), also those that another process is taking in at this moment. A damaged tail is stored
 * as far as it is sound; a file without a sound HEADER
 * (-EBADMSG), or one that contradicts the ledger (-EEXIST), is moved aside as NAME.damaged or
 * NAME.conflict, never deleted. */
int intake_file(struct store *store, const char *path, struct err *err);
/* Journal bytes that stay where they are (import journal). */
int intake_bytes(struct store *store, const void *bytes, size_t length, bool *ret_changed,
                 struct err *err);
/* Everything waiting in the journal folders, oldest first, until the time is up (0: no limit).
 * Problems with single files are counted, the first one is described in err_first. */
void intake_all(struct store *store, const struct place *place, int64_t limit_ns,
                struct intake_count *ret_count, struct err *err_first);

/* The index row of a journal, derived from nothing but its bytes. live: its writer is alive. Texts
 * live in arena. *ret_sound_length: bytes up to the last sound record. -EBADMSG without a HEADER
 * that can be used. */
int intake_entry(const void *bytes, size_t length, bool live, struct arena *arena,
                 struct store_entry *ret_entry, size_t *ret_sound_length, struct err *err);

/* The bytes of a journal file: a plain file, never through a link. */
int intake_read_file(const char *path, struct strbuf *out, struct err *err);
