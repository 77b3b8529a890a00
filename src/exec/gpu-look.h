/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One look at the GPUs without a run: what the GPU helper tells in its first moments. */
#pragma once

#include "base/json.h"

#include <stdint.h>

/* *ret_library, *ret_devices: as DEVICE records hold them (docs/journal-format.md), new references;
 * an empty array without devices. Returns NULL, or why there is no answer (translated): the helper
 * could not be started, or the driver did not answer within the time; it is then left behind,
 * killed and not waited for. */
const char *gpu_look(int64_t timeout_ns, json_t **ret_library, json_t **ret_devices);
