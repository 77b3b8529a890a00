/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a helper program (git) without a shell, captures its output, ends it at a deadline. */
#pragma once

#include "err.h"
#include "strbuf.h"

#include <stdint.h>

struct spawn_result {
    int status;    /* exit status; -1 when ended by a signal or the deadline */
    int timed_out; /* 1: ended by us at the deadline */
    int truncated; /* 1: output beyond the limit was dropped */
};

/* argv[0] is looked up in PATH. env_extra: NULL-terminated "K=V" list put over our own environment,
 * or NULL. stdin is /dev/null, stderr is dropped; stdout goes to out, at most limit bytes. cwd
 * NULL: ours. Fails (negative errno) only if nothing could be started: -ENOENT = program not
 * installed (a cwd that is missing gives -ENOTDIR). A child that cannot be killed (it hangs in the
 * kernel) is left behind half a second after the deadline. */
int spawn_capture(const char *const argv[], const char *const env_extra[], const char *cwd,
                  int64_t timeout_ns, size_t limit, struct strbuf *out,
                  struct spawn_result *ret_result, struct err *err);
