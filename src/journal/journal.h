/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Journal files: append-only records of one run (or one event), the only truth the program keeps.
 * Format: docs/journal-format.md. Layout of a file:
 *
 *   magic "PLJOURN1" (8 bytes), then records, each
 *     u32 kind, u16 version, u16 flags (0), u32 length, u32 crc32c(first 12 bytes + payload),
 * payload little-endian; the first record is HEADER. Unknown kinds are kept and copied.
 *
 * Every payload but CHUNK is one JSON object (compact, UTF-8); keys per kind:
 * docs/journal-format.md.
 */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum journal_kind {
    JOURNAL_HEADER = 1,
    JOURNAL_START = 2,
    JOURNAL_ENVIRONMENT = 3,
    JOURNAL_DEVICE = 4,
    JOURNAL_SERIES = 5,
    JOURNAL_CHUNK = 6,
    JOURNAL_MARK = 7,
    JOURNAL_PHASE = 8,
    JOURNAL_TEXT = 9,
    JOURNAL_INCIDENT = 10,
    JOURNAL_GAP = 11,
    JOURNAL_CHILD = 12,
    JOURNAL_COUNTERS = 13,
    JOURNAL_END = 14,
    JOURNAL_EVENT = 15,
    JOURNAL_DIFF = 16, /* the last record; stays on this machine */
};
const char *journal_kind_name(uint32_t kind); /* "START", …; "UNKNOWN" */

#define JOURNAL_MAGIC       "PLJOURN1"
#define JOURNAL_RECORD_HEAD 16u
#define JOURNAL_PAYLOAD_MAX (16u << 20) /* larger lengths are damage */
#define JOURNAL_RESERVE \
    (64u << 10) /* preallocated beyond the end, so that the last records always fit */
#define JOURNAL_SUFFIX ".journal"
#define JOURNAL_MARKS_SUFFIX                                             \
    ".marks" /* $PROBELAUF_MARKS, beside the journal: <run>-<part>.marks \
              */
#define JOURNAL_NEW_SUFFIX \
    ".new" /* behind .journal: a file that has no HEADER yet; of no use to readers */
#define JOURNAL_BAD_SUFFIX \
    ".damaged" /* behind .journal: bytes that were cut off and may be more than a torn write */
#define JOURNAL_VERSION 1u /* of every kind that this program knows */

/* ---- writing ---- */

struct journal_writer {
    int fd; /* -1: closed. The open file carries an exclusive OFD lock as long as somebody writes */
    uint64_t end;      /* bytes of whole records */
    uint64_t reserved; /* bytes the file system has promised (0 where it cannot) */
    bool locked; /* false: the file system refuses locks; HEADER's pid alone says who is alive */
    bool can_reserve;
    char path[4096];
};
#define JOURNAL_WRITER_INIT ((struct journal_writer){.fd = -1})

/* Creates <dir>/<name>.journal (0600), locks it, preallocates, writes magic and the HEADER record;
 * the file has its name only once all that is done, so no reader ever sees one without HEADER. The
 * folder must exist. An existing file of the same name is opened as by journal_open_append. -ENOSPC
 * ("journal-full") when not even the reserve fits. */
int journal_create(const char *dir, const char *name, const json_t *header,
                   struct journal_writer *ret_writer, struct err *err);

/* Opens an existing journal for more records: locks (-EWOULDBLOCK, "journal-locked", when a writer
 * is alive; whoever is the rightful next writer tries again, a reader may be looking), cuts a torn
 * last record; other bytes that are not readable are first copied to <path>.damaged. -EBADMSG when
 * there is no sound HEADER. */
int journal_open_append(const char *path, struct journal_writer *ret_writer, struct err *err);

/* Appends one record with one write(). Ordinary records keep JOURNAL_RESERVE free (-ENOSPC when the
 * disk is full; nothing half-written stays); `last` ones may use the reserve (END, final COUNTERS,
 * INCIDENT, GAP). */
int journal_append(struct journal_writer *writer, enum journal_kind kind, uint16_t version,
                   const void *payload, size_t length, bool last, struct err *err);
int journal_append_json(struct journal_writer *writer, enum journal_kind kind,
                        const json_t *payload, bool last, struct err *err);
int journal_sync(struct journal_writer *writer, struct err *err); /* fdatasync */
void journal_close(
    struct journal_writer *writer); /* releases lock and reserve; accepts a closed one */
void journal_forget(struct journal_writer
                        *writer); /* in a forked helper: closes the copy, does not touch the file */

/* ---- reading ---- */

#define JOURNAL_FILE_MAX (UINT64_C(960) << 20) /* larger files are not ours */

/* The whole file behind fd. What does not begin as a journal is read as far as that takes to see (a
 * sparse file of terabytes with a journal's name costs nothing); -EFBIG beyond JOURNAL_FILE_MAX. */
int journal_read_fd(int fd, struct strbuf *out);

struct journal_record {
    uint32_t kind;
    uint16_t version, flags;
    const uint8_t *payload; /* borrowed from the bytes */
    uint32_t length;
    uint64_t offset; /* of the record head in the file */
};

struct journal_reader {
    const uint8_t *bytes;
    size_t length, position;
    char
        damage[160]; /* "" or what is wrong with the rest ("checksum of the record at byte 4711") */
    bool torn; /* the rest looks like one unfinished write (cut off, or zeros): nothing sound can
                  follow */
    uint64_t good; /* bytes of magic and whole, sound records */
};

/* -EBADMSG when the bytes are no journal. */
int journal_reader_init(struct journal_reader *reader, const void *bytes, size_t length,
                        struct err *err);
/* 1: *ret is the next record; 0: end (reader->damage tells whether clean). Never fails. */
int journal_reader_next(struct journal_reader *reader, struct journal_record *ret_record);
/* Payload as JSON object, or NULL (CHUNK, damaged, a version or flags that this program does not
 * know). Caller decrefs. */
json_t *journal_record_json(const struct journal_record *record);

/* Is somebody writing it? True if the OFD lock is held; or if it is a run without END, HEADER's
 * boot id is this boot and its pid with that start time lives (a monitor whose recorder just died,
 * or a file system without locks). */
bool journal_is_live(const char *path);

/* How much of a journal may leave this machine: all but a DIFF at its end. What is left is a
 * prefix, so a journal that comes back is known. */
size_t journal_portable_length(const void *bytes, size_t length);

/* ---- text view (export journal --text, docs/journal-format.md) ---- */
int journal_to_text(const void *bytes, size_t length, struct strbuf *out, struct err *err);
