/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Journals → ledger. One function for all ways in; importing twice changes nothing. */
#pragma once

#include "base/err.h"
#include "store/store.h"
#include "work/place.h"

#include <stdbool.h>
#include <stddef.h>

struct intake_count {
    size_t taken, unchanged, live, damaged;
};

/* Takes one finished journal file in and removes it after the durable commit. Live ones are left (-EBUSY). A damaged tail is
 * stored as far as it is sound; a file without any sound record is moved aside as NAME.damaged, never deleted. */
int intake_file(struct store *store, const char *path, struct err *err);
/* Journal bytes that stay where they are (import journal). */
int intake_bytes(struct store *store, const void *bytes, size_t length, bool *ret_changed, struct err *err);
/* Everything waiting in the journal folders. Problems with single files are counted, the first one is described in err_first. */
void intake_all(struct store *store, const struct place *place, struct intake_count *ret_count, struct err *err_first);
