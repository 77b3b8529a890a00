/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a journal from memory. Every length is checked against what is there before it is used,
 * every record against its checksum before it is shown; what lies behind a bad one is never looked
 * at.
 */
#include "journal/journal.h"

#include "base/msg.h"
#include "journal/record.h"

#include <errno.h>
#include <stdio.h>

const char *journal_kind_name(uint32_t kind) {
    static const char *const names[] = {
        [JOURNAL_HEADER] = "HEADER",
        [JOURNAL_START] = "START",
        [JOURNAL_ENVIRONMENT] = "ENVIRONMENT",
        [JOURNAL_DEVICE] = "DEVICE",
        [JOURNAL_SERIES] = "SERIES",
        [JOURNAL_CHUNK] = "CHUNK",
        [JOURNAL_MARK] = "MARK",
        [JOURNAL_PHASE] = "PHASE",
        [JOURNAL_TEXT] = "TEXT",
        [JOURNAL_INCIDENT] = "INCIDENT",
        [JOURNAL_GAP] = "GAP",
        [JOURNAL_CHILD] = "CHILD",
        [JOURNAL_COUNTERS] = "COUNTERS",
        [JOURNAL_END] = "END",
        [JOURNAL_EVENT] = "EVENT",
        [JOURNAL_DIFF] = "DIFF",
    };
    return kind < sizeof names / sizeof names[0] && names[kind] != NULL ? names[kind] : "UNKNOWN";
}

int journal_reader_init(struct journal_reader *reader, const void *bytes, size_t length,
                        struct err *err) {
    if (length < JOURNAL_MAGIC_SIZE || memcmp(bytes, JOURNAL_MAGIC, JOURNAL_MAGIC_SIZE) != 0) {
        if (length >= JOURNAL_MAGIC_SIZE &&
            memcmp(bytes, JOURNAL_MAGIC, JOURNAL_MAGIC_SIZE - 1) == 0) {
            return err_set(err, -EBADMSG, "journal-newer",
                           "the journal was written by a newer version; update probelauf");
        }
        return err_set(err, -EBADMSG, "journal-foreign", "not a journal: it does not begin with %s",
                       JOURNAL_MAGIC);
    }
    *reader = (struct journal_reader){
        .bytes = bytes,
        .length = length,
        .position = JOURNAL_MAGIC_SIZE,
        .good = JOURNAL_MAGIC_SIZE,
    };
    return 0;
}

static bool is_all_zero(const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

/* Why nothing more can be read; translated formats take the offset of the record and one more
 * number. */
enum damage { DAMAGE_CUT, DAMAGE_ZEROS, DAMAGE_LENGTH, DAMAGE_CHECKSUM };

/* Notes it; position stays, so that further calls end here again. */
static int stop(struct journal_reader *reader, enum damage damage, bool torn, size_t detail) {
    char *text = reader->damage;
    size_t size = sizeof reader->damage;
    reader->torn = torn;
    switch (damage) {
    case DAMAGE_CUT:
        snprintf(text, size, _("the record at byte %zu is cut off after %zu bytes"),
                 reader->position, detail);
        break;
    case DAMAGE_ZEROS:
        snprintf(text, size, _("from byte %zu on there are only zeros, %zu of them"),
                 reader->position, detail);
        break;
    case DAMAGE_LENGTH:
        snprintf(text, size, _("the record at byte %zu claims the impossible length %zu"),
                 reader->position, detail);
        break;
    case DAMAGE_CHECKSUM:
        snprintf(text, size, _("the checksum of the record at byte %zu (length %zu) does not fit"),
                 reader->position, detail);
        break;
    }
    return 0;
}

int journal_reader_next(struct journal_reader *reader, struct journal_record *ret_record) {
    const uint8_t *at = reader->bytes + reader->position;
    size_t left = reader->length - reader->position;
    if (left == 0 || reader->damage[0] != '\0') {
        return 0;
    }
    if (left < JOURNAL_RECORD_HEAD) {
        return stop(reader, DAMAGE_CUT, true, left);
    }
    struct record_head head = record_head_get(at);
    if (head.kind == 0 && head.length == 0 && is_all_zero(at, left)) {
        return stop(reader, DAMAGE_ZEROS, true, left);
    }
    if (head.length > JOURNAL_PAYLOAD_MAX) {
        return stop(reader, DAMAGE_LENGTH, false, head.length);
    }
    if (head.length > left - JOURNAL_RECORD_HEAD) {
        return stop(reader, DAMAGE_CUT, true, left);
    }
    if (record_crc(at, at + JOURNAL_RECORD_HEAD, head.length) != head.crc) {
        bool is_last = head.length == left - JOURNAL_RECORD_HEAD;
        return stop(reader, DAMAGE_CHECKSUM, is_last, head.length);
    }
    *ret_record = (struct journal_record){
        .kind = head.kind,
        .version = head.version,
        .flags = head.flags,
        .payload = at + JOURNAL_RECORD_HEAD,
        .length = head.length,
        .offset = reader->position,
    };
    reader->position += JOURNAL_RECORD_HEAD + (size_t)head.length;
    reader->good = reader->position;
    return 1;
}

json_t *journal_record_json(const struct journal_record *record) {
    if (record->kind == JOURNAL_CHUNK || record->version != JOURNAL_VERSION || record->flags != 0) {
        return NULL;
    }
    char why[160];
    json_t *json = json_parse(record->payload, record->length, why);
    if (json != NULL && !json_is_object(json)) {
        json_decref(json);
        return NULL;
    }
    return json;
}

size_t journal_portable_length(const void *bytes, size_t length) {
    struct err ignored = ERR_INIT;
    struct journal_reader reader;
    struct journal_record record;
    if (journal_reader_init(&reader, bytes, length, &ignored) < 0) {
        return length;
    }
    while (journal_reader_next(&reader, &record)) {
        if (record.kind == JOURNAL_DIFF) {
            return (size_t)record.offset;
        }
    }
    return length;
}
