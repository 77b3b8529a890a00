/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A journal as text for people and grep (export journal --text). Shows what is stored, record by
 * record, and interprets nothing; must not let a stored byte reach a terminal as a control
 * character.
 */
#include "journal/journal.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"
#include "journal/chunk.h"

#include <inttypes.h>
#include <string.h>

#define TEXT_BUDGET ((size_t)256 << 20)

/* Names of the series seen so far, for the rows of chunks. */
struct names {
    struct series_name {
        uint32_t id;
        char *name;
    } * items;
    size_t count;
};

static void names_add(struct names *names, const json_t *series) {
    int64_t id = json_get_int(series, "id", -1);
    const char *name = json_get_text(series, "name", NULL);
    if (id < 0 || id > UINT32_MAX || name == NULL || names->count == CHUNK_SERIES_MAX) {
        return;
    }
    names->items = mem_room(names->items, names->count, sizeof *names->items);
    names->items[names->count++] = (struct series_name){(uint32_t)id, mem_strdup(name)};
}

static void names_done(struct names *names) {
    for (size_t i = 0; i < names->count; i++) {
        mem_free_ptr(&names->items[i].name);
    }
    mem_free_ptr(&names->items);
}

static void add_name(struct strbuf *out, const struct names *names, uint32_t id) {
    for (size_t i = 0; i < names->count; i++) {
        if (names->items[i].id == id) {
            str_add_printable(out, names->items[i].name, strlen(names->items[i].name));
            return;
        }
    }
    strbuf_printf(out, "#%" PRIu32, id);
}

/* JSON escapes control characters below 0x20 itself; the others (DEL, C1, those that turn the
 * direction of writing) can only stand in its strings, so they may be written as \u there. */
static void add_json(struct strbuf *out, const json_t *json) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    AUTO_STRBUF struct strbuf shown = STRBUF_INIT;
    json_add_compact(&text, json);
    for (size_t at = 0; at < text.length;) {
        uint32_t code = 0;
        size_t size = str_decode_utf8(text.data + at, text.length - at, &code);
        if (size == 0) {
            break; /* jansson writes UTF-8 only */
        }
        strbuf_clear(&shown);
        str_add_printable(&shown, text.data + at, size);
        if (size == shown.length) {
            strbuf_add(out, text.data + at, size);
        } else {
            strbuf_printf(out, "\\u%04" PRIX32, code);
        }
        at += size;
    }
}

static void add_chunk(struct strbuf *out, const struct journal_record *record,
                      struct chunk_coder *coder, const struct names *names) {
    struct chunk chunk = {0};
    struct err err = ERR_INIT;
    if (record->version != JOURNAL_VERSION || record->flags != 0 ||
        chunk_decode_next(coder, record->payload, record->length, &chunk, &err) < 0) {
        strbuf_printf(out, "(%s)\n", err.code < 0 ? err.text : _("of a newer version"));
        return;
    }
    strbuf_printf(out, "{\"series\":%zu,\"ticks\":%zu,\"bytes\":%" PRIu32 "}\n", chunk.series_count,
                  chunk.tick_count, record->length);
    for (size_t tick = 0; tick < chunk.tick_count; tick++) {
        int64_t ms = chunk.time_ns[tick] / 1000000;
        strbuf_printf(out, "    t=%s%" PRId64 ".%03" PRId64, ms < 0 ? "-" : "",
                      ms < 0 ? -(ms / 1000) : ms / 1000, ms < 0 ? -(ms % 1000) : ms % 1000);
        for (size_t s = 0; s < chunk.series_count; s++) {
            int64_t value = chunk.value[s * chunk.tick_count + tick];
            if (value == CHUNK_ABSENT) {
                continue; /* open: not shown, never 0 */
            }
            strbuf_add_char(out, ' ');
            add_name(out, names, chunk.series[s]);
            strbuf_printf(out, "=%" PRId64, value);
        }
        strbuf_add_char(out, '\n');
    }
    chunk_done(&chunk);
}

int journal_to_text(const void *bytes, size_t length, struct strbuf *out, struct err *err) {
    struct journal_reader reader;
    int rc = journal_reader_init(&reader, bytes, length, err);
    if (rc < 0) {
        return rc;
    }
    struct names names = {0};
    struct chunk_coder coder = {0};
    struct journal_record record;
    /* A hostile file can hold chunks of a few bytes that become thousands of rows. */
    size_t budget = out->length + TEXT_BUDGET + length * 64;
    while (journal_reader_next(&reader, &record)) {
        if (out->length > budget) {
            strbuf_printf(out, "# %s\n",
                          _("the text is larger than such a file can need; the rest is not shown"));
            break;
        }
        strbuf_printf(out, "%" PRIu64 " %s", record.offset, journal_kind_name(record.kind));
        if (record.version != JOURNAL_VERSION || record.flags != 0) {
            strbuf_printf(out, " version=%u flags=%u", record.version, record.flags);
        }
        strbuf_add_char(out, ' ');
        if (record.kind == JOURNAL_CHUNK) {
            add_chunk(out, &record, &coder, &names);
            continue;
        }
        char why[160];
        AUTO_JSON json_t *json = json_parse(record.payload, record.length, why);
        if (json != NULL) {
            add_json(out, json);
        } else {
            str_add_printable(out, record.payload, record.length);
        }
        strbuf_add_char(out, '\n');
        if (record.kind == JOURNAL_SERIES) {
            names_add(&names, json);
        }
    }
    names_done(&names);
    chunk_coder_done(&coder);
    if (reader.damage[0] != '\0') {
        strbuf_printf(out, "# %s\n", reader.damage);
    }
    return 0;
}
