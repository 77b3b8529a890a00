/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long a run took. A duration that something cut off is at least what was seen, never the
 * duration: docs/measurement.md, "Time".
 */
#include "journal/fold-parts.h"

#include "base/msg.h"

#include <signal.h>

/* Signals that somebody sends to end a process. A crash by its own fault (SIGSEGV, SIGABRT …) is an
 * end, not a cut. */
static bool cuts_off(int signal) {
    return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP ||
           signal == SIGQUIT || signal == SIGXCPU || signal == SIGALRM;
}

const char *const fold_since_attached = N_("since it was attached to: it had run before");

/* What is missing of the command's time at its end, translated, or NULL. */
static const char *end_cut_by(const struct fold *fold) {
    const json_t *end = fold->run->end;
    if (json_get_bool(end, "budget", false) == 1) {
        return _("cut off by the time limit");
    }
    if (json_get_bool(end, "interrupted", false) == 1) {
        return _("interrupted");
    }
    return cuts_off(fold->run->signal) ? _("cut off by a signal") : NULL;
}

/* The same of its beginning or end. */
static const char *cut_by(const struct fold *fold) {
    return fold->is_attached ? _(fold_since_attached) : end_cut_by(fold);
}

static void fold_wall(struct fold *fold) {
    struct run *run = fold->run;
    if (run->running) {
        run->wall = quantity_open(UNIT_SECOND, QUANTITY_RUNNING, NULL);
        fold->horizon_ns = fold->last_t_ns > 0 ? fold->last_t_ns : 0;
        return;
    }
    static const char by_last_process[] = "monotonic clock, start to end of the last process";
    static const char by_last_record[] = "monotonic clock, start to the last record";
    int64_t end_ns;
    const char *cut = cut_by(fold);
    if (fold->ended && fold_get_i64(run->end, "t_ns", &end_ns)) {
        bool survivors =
            fold_has_survivors(fold) || json_get_bool(run->end, "wall_is_at_least", false) == 1;
        fold->wall_is_at_least = survivors || cut != NULL;
        fold->end_is_at_least = survivors || end_cut_by(fold) != NULL;
        run->wall = quantity_bounded(UNIT_SECOND, fold_seconds(end_ns),
                                     fold->wall_is_at_least ? QUANTITY_AT_LEAST : QUANTITY_EXACT,
                                     by_last_process);
        run->wall.detail =
            survivors && !fold->is_attached ? _("processes of the run went on") : cut;
    } else if (fold->last_t_ns >= 0) {
        end_ns = fold->last_t_ns;
        fold->wall_is_at_least = fold->end_is_at_least = true;
        run->wall =
            quantity_bounded(UNIT_SECOND, fold_seconds(end_ns), QUANTITY_AT_LEAST, by_last_record);
        run->wall.detail = _("the measuring process was lost; the run may have gone on");
    } else {
        run->wall = quantity_open(UNIT_SECOND, fold_absence(fold), NULL);
        return;
    }
    fold->has_wall = true;
    fold->horizon_ns = end_ns;
}

static void fold_command(struct fold *fold) {
    struct run *run = fold->run;
    int64_t command_ns;
    if (json_object_get(run->end, "start_errno") != NULL) {
        run->command = quantity_open(UNIT_SECOND, QUANTITY_NOT_APPLICABLE,
                                     _("the command could not be started"));
        return;
    }
    if (!fold_get_i64(run->end, "command_t_ns", &command_ns) && fold->ended && !run->running &&
        json_object_get(run->end, "watching") != NULL &&
        fold_get_i64(run->end, "t_ns", &command_ns)) {
        run->command = quantity_bounded(UNIT_SECOND, fold_seconds(command_ns), QUANTITY_AT_LEAST,
                                        "monotonic clock, start to the end of the watching");
        run->command.detail = _("it went on when the watching ended");
        return;
    }
    if (!fold_get_i64(run->end, "command_t_ns", &command_ns)) {
        run->command = quantity_open(UNIT_SECOND, fold_absence(fold), NULL);
        return;
    }
    const char *cut = cut_by(fold);
    run->command = quantity_bounded(UNIT_SECOND, fold_seconds(command_ns),
                                    cut != NULL ? QUANTITY_AT_LEAST : QUANTITY_EXACT,
                                    "monotonic clock, start to end of the command");
    run->command.detail = cut;
}

void fold_time(struct fold *fold) {
    fold->is_attached = json_object_get(fold->run->start, "attach") != NULL;
    fold_wall(fold);
    fold_command(fold);
}
