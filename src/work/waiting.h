/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The journal files in the journal folders: what intake takes in and what runs shows until then. */
#pragma once

#include "work/place.h"

#include <stddef.h>

struct waiting {
    char **paths; /* owned, oldest id first */
    size_t count, room;
};

/* Only files whose name begins with an id: other programs have .journal files too. Folders of other
 * users are left alone. */
void waiting_find(const struct place *place, struct waiting *ret_waiting);
void waiting_done(struct waiting *waiting);
#define AUTO_WAITING __attribute__((cleanup(waiting_done)))
