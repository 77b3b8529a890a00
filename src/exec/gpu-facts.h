/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages of the GPU helper as keys of DEVICE records. */
#pragma once

#include "base/json.h"
#include "gpu/wire.h"

#include <stdbool.h>
#include <stdint.h>

const char *gpu_why_reason(int32_t why);    /* "not-supported", …; NULL: it was read */
const char *gpu_facts_state(int32_t state); /* enum gpu_library: "ready", "absent", … */
/* Identity and facts of a device. parent: UUID of a slice's board, "" without; baseline_bytes:
 * GPU_ABSENT where it was not read. */
void gpu_facts_device(json_t *json, const struct gpu_device_message *message, const char *parent,
                      int64_t baseline_bytes);
/* `reasons`, if there are any: those of the device, and of what was asked later (NULL: nothing). */
void gpu_facts_reasons(json_t *json, const int32_t why[GPU_ITEM_COUNT_],
                       const int32_t later[GPU_ITEM_COUNT_]);
/* none_shown: the kernel shows no device either, so an absent library means a count of 0. */
void gpu_facts_library(json_t *json, const struct gpu_library_message *library, bool none_shown);
