/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Commands whose work leaves the tree that we measure: recognised by name, with the form that
 * measures inside. */
#pragma once

#include "base/json.h"

/* Array of {id, text}; English texts, looked up when shown. */
json_t *blind_spots_find(const char *const *argv);
