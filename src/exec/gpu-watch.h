/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recorder's side of the GPU helper (gpu/wire.h): starts it, takes its messages, and makes
 * DEVICE, SERIES, CHUNK, INCIDENT and GAP records and the `gpu` part of COUNTERS out of them. Never
 * waits for the helper: what comes late, or never, is a gap with a reason. Names and units of the
 * SERIES: model/gpu-series.h. All accept NULL.
 */
#pragma once

#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct recorder;
struct gpu_watch;

/* Before the command starts, once the monitor need not wait any more. The helper is not started
 * where there is certainly nothing to watch (--gpu none; no device and no library): then there is
 * only the record that says so. Never NULL. */
struct gpu_watch *gpu_watch_start(struct recorder *recorder);
/* Once a second: takes what has come, and looks after the helper (late, ended: a new one, a few
 * times). The pipe holds more than a second's messages, so nothing wakes us in between. */
void gpu_watch_tick(struct gpu_watch *watch);
/* A child of the recorder has ended. True: it was the helper. */
bool gpu_watch_ended(struct gpu_watch *watch, pid_t pid, int status, int64_t cpu_ns);
/* COUNTERS' `gpu`: one object a device; NULL: nothing known. */
json_t *gpu_watch_counters(const struct gpu_watch *watch);
/* The run has ended: the helper is asked for a last round, so that the last second is seen. */
void gpu_watch_hurry(struct gpu_watch *watch);
/* The run is over: all that is left is written, and the helper is killed, not waited for: one that
 * answers has a moment for its last round, one that hangs none. Only where a process of the run
 * that used a GPU is still there, the next list of the driver's is waited for, a second at most:
 * that is memory which is left behind. */
void gpu_watch_finish(struct gpu_watch *watch);
struct gpu_watch *gpu_watch_free(struct gpu_watch *watch); /* accepts NULL */
