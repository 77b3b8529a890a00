/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where things are: ledger URL, journal folders, configuration; each with its origin. */
#pragma once

#include "base/mem.h"

#include <stddef.h>

struct place {
    const char *ledger_url; /* "sqlite:/…/probelauf/ledger.db" */
    /* NULL-terminated, in order of preference: --journal-dir, beside the ledger, below
     * XDG_STATE_HOME, /var/tmp/probelauf-UID (docs/decisions/0007). Absolute; none is created here.
     */
    const char *const *journal_dirs;
};

/* ledger_flag, journal_dir_flag: from options (NULL: not given). Falls back to PROBELAUF_LEDGER,
 * PROBELAUF_JOURNAL_DIR, the config file's values, XDG. Never fails: a machine without HOME gets
 * /var/tmp/probelauf-UID. */
void place_resolve(const char *ledger_flag, const char *journal_dir_flag, const char *ledger_config,
                   const char *journal_dir_config, struct arena *arena, struct place *ret_place);
