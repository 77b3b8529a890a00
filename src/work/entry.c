/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Journal → index row. A row says nothing that its journal does not say, so that every row can be
 * derived again at any time; it must not depend on this machine, on the moment, or on annotations.
 */
#include "work/intake.h"

#include "base/json.h"
#include "base/msg.h"
#include "base/str.h"
#include "base/uuid.h"
#include "journal/fold.h"
#include "journal/journal.h"
#include "rules/comparable.h"

#include <errno.h>
#include <string.h>

/* The index shows and searches a command; who needs a longer one reads the journal. */
#define COMMAND_MAX 4096

/* Arguments as typed, near enough to recognise and to search: blanks put an argument in quotes. */
static const char *command_line(const json_t *start, struct arena *arena) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    const json_t *command = json_get_array(start, "command");
    for (size_t i = 0; i < json_array_size(command) && line.length <= COMMAND_MAX; i++) {
        const json_t *argument = json_array_get(command, i);
        const char *text = json_string_value(argument);
        if (!text)
            continue;
        bool quoted = !*text || strpbrk(text, " \t\n") != NULL;
        if (i > 0)
            strbuf_add_char(&line, ' ');
        if (quoted)
            strbuf_add_char(&line, '\'');
        str_add_printable(&line, text, json_string_length(argument));
        if (quoted)
            strbuf_add_char(&line, '\'');
    }
    size_t length = line.length;
    if (length > COMMAND_MAX) {
        length = COMMAND_MAX;
        while (length > 0 && ((unsigned char)line.data[length] & 0xc0) == 0x80)
            length--; /* not in the middle of a character */
    }
    return arena_strndup(arena, strbuf_str(&line), length);
}

static const char *copy(struct arena *arena, const char *text) {
    return text ? arena_strdup(arena, text) : NULL;
}

static int run_entry(const void *bytes, size_t length, bool live, struct arena *arena,
                     struct store_entry *entry, struct err *err) {
    struct fold_input input = {.bytes = bytes, .length = length, .live = live};
    AUTO_RUN struct run *run = NULL;
    int rc = fold_run(&input, false, &run, err);
    if (rc < 0)
        return rc;
    char group[SHA256_HEX_SIZE];
    comparable_group_key(run, group);
    entry->study = copy(arena, run->study);
    entry->started_utc_ns = run->started_utc_ns;
    entry->ended_utc_ns = run->ended_utc_ns;
    entry->outcome = outcome_name(run->outcome);
    entry->purpose = copy(arena, json_get_text(run->start, "purpose", NULL));
    entry->command = command_line(run->start, arena);
    entry->group_key = arena_strdup(arena, group);
    if (quantity_is_known(&run->wall)) {
        entry->has_wall = true;
        entry->wall_s = run->wall.value;
        entry->wall_bound = quantity_bound_name(run->wall.bound);
    }
    return 0;
}

/* The first EVENT record: an event's journal has one. */
static int event_entry(struct journal_reader *reader, const json_t *header, struct arena *arena,
                       struct store_entry *entry) {
    struct journal_record record;
    entry->study = copy(arena, json_get_text(header, "study", NULL));
    entry->started_utc_ns = json_get_int(header, "utc_ns", 0);
    while (journal_reader_next(reader, &record) > 0) {
        if (record.kind != JOURNAL_EVENT)
            continue;
        AUTO_JSON json_t *event = journal_record_json(&record);
        entry->about = copy(arena, json_get_text(event, "about", NULL));
        entry->purpose = copy(arena, json_get_text(event, "type", NULL));
        entry->started_utc_ns = json_get_int(event, "utc_ns", entry->started_utc_ns);
        break;
    }
    return 0;
}

static size_t sound_length(const void *bytes, size_t length) {
    struct journal_reader reader;
    struct journal_record record;
    struct err ignored = ERR_INIT;
    if (journal_reader_init(&reader, bytes, length, &ignored) < 0)
        return 0;
    while (journal_reader_next(&reader, &record) > 0)
        continue;
    return (size_t)reader.good;
}

static int no_header(struct err *err) {
    return err_set(err, -EBADMSG, "journal-damaged", "the journal has no header that can be used");
}

int intake_entry(const void *bytes, size_t length, bool live, struct arena *arena,
                 struct store_entry *ret_entry, size_t *ret_sound_length, struct err *err) {
    struct journal_reader reader;
    struct journal_record record;
    int rc = journal_reader_init(&reader, bytes, length, err);
    if (rc < 0)
        return rc;
    if (journal_reader_next(&reader, &record) <= 0 || record.kind != JOURNAL_HEADER)
        return no_header(err);
    AUTO_JSON json_t *header = journal_record_json(&record);
    if (header && json_get_int(header, "format", 0) > 1)
        return err_set(err, -EBADMSG, "journal-newer",
                       "the journal was written by a newer version; update probelauf");
    const char *run = json_get_text(header, "run", ""), *part = json_get_text(header, "part", "");
    const char *type = json_get_text(header, "type", "");
    bool is_run = strcmp(type, "run") == 0;
    if (!uuid_is_valid(run) || !uuid_is_valid(part) || (!is_run && strcmp(type, "event") != 0))
        return no_header(err);
    struct store_entry entry = {
        .run = arena_strdup(arena, run),
        .part = arena_strdup(arena, part),
        .type = is_run ? "run" : "event",
    };
    rc = is_run ? run_entry(bytes, length, live, arena, &entry, err)
                : event_entry(&reader, header, arena, &entry);
    if (rc < 0)
        return rc;
    *ret_entry = entry;
    if (ret_sound_length)
        *ret_sound_length = sound_length(bytes, length);
    return 0;
}
