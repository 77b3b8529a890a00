/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPU time as the kernel tells it, in nanoseconds. */
#pragma once

#include <stdint.h>
#include <sys/resource.h>

int64_t cpu_time_thread_ns(void); /* of the calling thread: what a piece of work costs */
int64_t cpu_time_user_ns(const struct rusage *usage);
int64_t cpu_time_system_ns(const struct rusage *usage);
int64_t cpu_time_usage_ns(const struct rusage *usage); /* both */
