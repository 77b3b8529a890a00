/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report as a live local page: an HTTP server on the loopback address, for one user, read-only.
 * Whoever asks must have the token, which only the printed address holds; then a cookie. Each
 * request is answered by a process of its own, which may take long, or fail, without harm to the
 * others. docs/serve.md.
 */
#pragma once

#include "base/err.h"
#include "work/place.h"

#include <stdint.h>

struct serve_options {
    const struct place *place;
    const char *plan;        /* --plan; NULL: as usual */
    const char *environment; /* --env; NULL: the plan's first */
    uint16_t port;           /* 0: any that is free */
    /* Once it listens. url holds the token. */
    void (*ready)(const char *url, unsigned port);
};

/* Until SIGINT or SIGTERM. "serve-port": the port cannot be had; "serve-start". */
int serve_run(const struct serve_options *options, struct err *err);
