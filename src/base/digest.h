/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SHA-256 (libmd) as lower-case hex, and CRC32C (RFC 3720) for journal records. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHA256_HEX_SIZE 65

void digest_sha256(const void *bytes, size_t length, char ret_hex[SHA256_HEX_SIZE]);
uint32_t digest_crc32c(uint32_t seed, const void *bytes,
                       size_t length); /* seed 0 for the first piece */
