/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where things are, and opening the view on all runs, for every command that reads. */
#include "cli/view.h"

#include "cli/cli.h"
#include "cli/settings.h"
#include "work/hand-out.h"

int cli_place(struct arena *arena, struct place *ret_place, struct err *err) {
    int rc = settings_load(err);
    if (rc < 0) {
        return rc;
    }
    place_resolve(opt_common.ledger, opt_common.journal_dir, settings_from_file(SETTING_LEDGER),
                  settings_from_file(SETTING_JOURNAL_DIR), arena, ret_place);
    return 0;
}

int view_open(struct arena *arena, struct runs **ret_runs, struct err *err) {
    struct place place;
    int rc = cli_place(arena, &place, err);
    rc = rc < 0 ? rc : hand_out_open(&place, ret_runs, err);
    if (rc == 0) {
        cli_warning(runs_warning(*ret_runs));
    }
    return rc;
}
