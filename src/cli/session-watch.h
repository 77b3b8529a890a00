/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `session watch`: looks at the runs from time to time and speaks up when a reserved machine idles.
 * Stops nothing by itself. */
#pragma once

#include "base/err.h"
#include "base/mem.h"

#include <stdint.h>

struct session_watch {
    int64_t after_ns, every_ns;
    const char *command; /* for /bin/sh -c, once for each idle stretch; NULL: none */
};

/* Until SIGINT or SIGTERM comes, or the session is over: then 0. "session-none". */
int session_watch(const struct session_watch *watch, struct err *err);
