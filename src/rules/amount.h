/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an offer must say before an amount of money can be given (REQUIREMENTS D5). */
#pragma once

#include <stddef.h>

/* Translated, one line each; at index 0 … amount_need_count() - 1. */
size_t amount_need_count(void);
const char *amount_need(size_t index);
