/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which files hold weights, by their names and sizes alone: nothing is opened. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* bytes below 0: not known (then names that other files bear as well are no sign). */
bool weights_is_file(const char *path, int64_t bytes);
