/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recorder's side of the GPU helper (gpu/wire.h): starts it, takes its messages, and makes
 * DEVICE, SERIES, CHUNK, INCIDENT and GAP records and the `gpu` part of COUNTERS out of them. Never
 * waits for the helper: what comes late, or never, is a gap with a reason. Names and units of the
 * SERIES: model/gpu-series.h.
 */
#pragma once

#include "base/json.h"

#include <stdbool.h>

struct recorder;
struct gpu_watch;

/* Before the command starts, so that the baseline is seen; NULL when nothing is to be watched
 * (--gpu none). */
struct gpu_watch *gpu_watch_start(struct recorder *recorder);
int gpu_watch_fd(const struct gpu_watch *watch); /* to poll for reading; -1: none; accepts NULL */
/* Takes what has come. all: the run is over; what was gathered is written. */
void gpu_watch_read(struct recorder *recorder, struct gpu_watch *watch, bool all);
/* Once a second: late helper, ended helper (a new one, a few times), columns that are full. */
void gpu_watch_tick(struct recorder *recorder, struct gpu_watch *watch);
/* COUNTERS' `gpu`: one object a device; NULL: nothing known. */
json_t *gpu_watch_counters(const struct recorder *recorder, const struct gpu_watch *watch);
/* After the command: memory that is still held by processes of the tree that should be gone, within
 * a second; then the helper is killed, not waited for. */
void gpu_watch_finish(struct recorder *recorder, struct gpu_watch *watch);
struct gpu_watch *gpu_watch_free(struct gpu_watch *watch); /* accepts NULL */
