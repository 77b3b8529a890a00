/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens a study for a command. Decides nothing about it. */
#include "cli/view-study.h"

#include "base/msg.h"
#include "cli/cli.h"
#include "cli/view.h"

void view_study_done(struct view_study *study) {
    work_study_done(&study->work);
    study->runs = runs_close(study->runs);
    study->arena = arena_free(study->arena);
}

int view_study_open(const struct work_study_options *options, struct view_study *ret,
                    struct err *err) {
    AUTO_PLAN struct plan *plan = NULL;
    *ret = (struct view_study){.arena = arena_new()};
    int rc = view_plan(ret->arena, true, &plan, NULL, err);
    rc = rc < 0 ? rc : cli_place(ret->arena, &ret->place, err);
    rc = rc < 0 ? rc : view_open(ret->arena, &ret->runs, err);
    rc = rc < 0 ? rc : work_study_open(steal(plan), options, ret->runs, &ret->work, err);
    if (rc < 0) {
        return rc;
    }
    cli_warning(ret->work.unreadable);
    if (ret->work.more) {
        AUTO_FREE char *text = mem_printf(_("only the %u newest runs of the study were looked at"),
                                          WORK_STUDY_RUNS_MAX);
        cli_warning(text);
    }
    return 0;
}

int view_study_open_again(const struct work_study_options *options, struct view_study *ret,
                          struct err *err) {
    (void)msg_set_language("en");
    cli_hush(true);
    int rc = view_study_open(options, ret, err);
    cli_hush(false);
    return rc;
}
