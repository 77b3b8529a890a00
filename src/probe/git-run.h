/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs the git program on a repository that may be hostile: nothing that its configuration names is
 * run (fsmonitor, hooks, external diff, textconv, filters, pager, transports), nothing is written
 * (no optional locks), and all calls together keep to one deadline. The user's and the system's
 * configuration stay in force: safe.directory and line-end rules are theirs.
 */
#pragma once

#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

struct git_run {
    const char *folder; /* where git runs; borrowed */
    int64_t deadline_mono_ns;
    char **overrides; /* owned "filter.x.clean=" texts, NULL-terminated; NULL: none */
    size_t override_count;
    int status; /* exit status of the last call that ended by itself */
};

void git_run_init(struct git_run *git, const char *folder, int64_t deadline_mono_ns);
void git_run_done(struct git_run *git);
#define AUTO_GIT_RUN __attribute__((cleanup(git_run_done)))

/* git ARGS, output appended to out. 0: it ended by itself, see status (an error of git's is no
 * error here). -ENOENT: no git program; -ETIME: the deadline; -EFBIG: more than limit bytes; other
 * negative errno: not started. */
int git_run(struct git_run *git, const char *const args[], size_t limit, struct strbuf *out);

/* Asks which filters are configured and switches them off for all later calls. -ENOTSUP: one cannot
 * be switched off (then files must not be compared). */
int git_run_disarm(struct git_run *git);
