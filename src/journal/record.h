/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The head of a record in bytes, for writer and reader only. No other file knows where its fields
 * lie. */
#pragma once

#include "base/digest.h"
#include "journal/journal.h"

#include <string.h>

struct record_head {
    uint32_t kind;
    uint16_t version, flags;
    uint32_t length, crc;
};

#define RECORD_CRC_COVERS  12u /* bytes of the head in front of the checksum */
#define JOURNAL_MAGIC_SIZE (sizeof JOURNAL_MAGIC - 1)

static inline void record_put_u32(uint8_t *at, uint32_t value) {
    for (unsigned i = 0; i < 4; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

static inline uint32_t record_get_u32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline struct record_head record_head_get(const uint8_t bytes[JOURNAL_RECORD_HEAD]) {
    uint32_t second = record_get_u32(bytes + 4);
    return (struct record_head){
        .kind = record_get_u32(bytes),
        .version = (uint16_t)(second & 0xffffu),
        .flags = (uint16_t)(second >> 16),
        .length = record_get_u32(bytes + 8),
        .crc = record_get_u32(bytes + 12),
    };
}

/* The checksum of a head (its first 12 bytes) and its payload. */
static inline uint32_t record_crc(const uint8_t *head, const void *payload, size_t length) {
    return digest_crc32c(digest_crc32c(0, head, RECORD_CRC_COVERS), payload, length);
}

static inline void record_head_put(uint8_t bytes[JOURNAL_RECORD_HEAD], uint32_t kind,
                                   uint16_t version, const void *payload, size_t length) {
    record_put_u32(bytes, kind);
    record_put_u32(bytes + 4, version); /* flags 0 */
    record_put_u32(bytes + 8, (uint32_t)length);
    record_put_u32(bytes + 12, record_crc(bytes, payload, length));
}
