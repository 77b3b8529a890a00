/* SPDX-License-Identifier: GPL-3.0-or-later */
/* UUIDv7 (RFC 9562): sortable by time of creation, random beyond it (getrandom). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define UUID_TEXT_SIZE 37

void uuid_new(int64_t utc_ns, char ret_text[UUID_TEXT_SIZE]);
/* The end of an id by which people name it ("a1b2c3d4"). Borrowed; "" for NULL. */
#define UUID_TAIL 8
const char *uuid_tail(const char *text);
bool uuid_is_valid(const char *text); /* 8-4-4-4-12 lower-case hex */
