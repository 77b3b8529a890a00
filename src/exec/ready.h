/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * run --ready: until when a server loads. Either a line of its output tells (a regular expression),
 * or an http:// address that answers; that one is asked by a helper of its own, since nobody knows
 * how long an answer takes. Becomes PHASE records of source "ready" and END's `ready`.
 */
#pragma once

#include "base/json.h"
#include "exec/exec.h"
#include "exec/shared.h"

#include <stdbool.h>
#include <stdint.h>

struct recorder;
struct ready;

bool ready_is_address(const char *text);

/* Recorder, before the command starts: an address that answers already is not the command's. Waits
 * a moment for its first answer. NULL: nothing is waited for. */
struct ready *ready_start(struct recorder *recorder);
/* START is written: loading begins. */
void ready_begin(struct recorder *recorder, struct ready *ready);
/* Now and then, and once more at the end. */
void ready_tick(struct recorder *recorder, struct ready *ready);
/* A line of output that is waited for. Accepts NULL. */
bool ready_is_line(const struct recorder *recorder, const struct ready *ready, const char *line);
void ready_take_line(struct recorder *recorder, struct ready *ready, const char *line,
                     int64_t t_ns);
/* END's `ready`; NULL: nothing was waited for. Ends the helper. */
json_t *ready_finish(struct recorder *recorder, struct ready *ready);
struct ready *ready_free(struct ready *ready); /* accepts NULL */

/* ready-address.c: asks again and again until a 2xx answer comes; writes into `shared`. */
struct ready_context {
    struct shared *shared;
    const char *address;
    bool is_attached;
};
int ready_address_check(const char *address, struct err *err);
int ready_address_main(void *context); /* a helper's main */
