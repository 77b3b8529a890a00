/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The line splitter of text/pattern.h: a byte at a time, so that it does not matter where a read
 * ended. What it removes: ECMA-48 control sequences (5th edition, sections 5.4 and 5.6) and the C0
 * controls but the tab. It must not grow with the input and must not lose a line to a control
 * string that nobody ended.
 */
#include "text/pattern.h"

#include "base/mem.h"

#include <string.h>

enum splitter_state {
    SPLITTER_TEXT = 0,
    SPLITTER_ESCAPE,        /* behind ESC */
    SPLITTER_ESCAPE_MIDDLE, /* ESC and an intermediate byte: ESC ( B */
    SPLITTER_CSI,           /* ESC [ … final byte */
    SPLITTER_STRING,        /* OSC, DCS, SOS, PM, APC: up to BEL or ESC \ */
    SPLITTER_STRING_ESCAPE,
};

struct line_splitter {
    line_fn each;
    void *context;
    enum splitter_state state;
    bool dropping; /* behind a hole: up to the next end of line */
    bool started;  /* start is set */
    bool has_cut;  /* some line went on behind LINE_MAX_BYTES */
    uint64_t position, start;
    size_t length;
    char line[LINE_MAX_BYTES + 1];
};

struct line_splitter *line_splitter_new(line_fn each, void *context) {
    struct line_splitter *splitter = mem_alloc(sizeof *splitter);
    splitter->each = each;
    splitter->context = context;
    return splitter;
}

struct line_splitter *line_splitter_free(struct line_splitter *splitter) {
    mem_free_ptr(&splitter);
    return NULL;
}

bool line_splitter_has_cut(const struct line_splitter *splitter) {
    return splitter->has_cut;
}

static void end_line(struct line_splitter *splitter) {
    if (splitter->length > 0 && !splitter->dropping) {
        splitter->line[splitter->length] = '\0';
        splitter->each(splitter->line, splitter->length, splitter->start, splitter->context);
    }
    splitter->state = SPLITTER_TEXT;
    splitter->dropping = false;
    splitter->started = false;
    splitter->length = 0;
}

/* A byte of text; position is still that of the byte. */
static void add_text(struct line_splitter *splitter, unsigned char byte) {
    bool is_control = (byte < 0x20 && byte != '\t') || byte == 0x7f;

    if (is_control)
        return;
    if (splitter->length < LINE_MAX_BYTES)
        splitter->line[splitter->length++] = (char)byte;
    else
        splitter->has_cut = true;
}

static void feed_text(struct line_splitter *splitter, unsigned char byte) {
    if (byte == 0x1b)
        splitter->state = SPLITTER_ESCAPE;
    else
        add_text(splitter, byte);
}

static void feed_escape(struct line_splitter *splitter, unsigned char byte) {
    if (byte == '[')
        splitter->state = SPLITTER_CSI;
    else if (byte == ']' || byte == 'P' || byte == 'X' || byte == '^' || byte == '_')
        splitter->state = SPLITTER_STRING;
    else if (byte >= 0x20 && byte <= 0x2f)
        splitter->state = SPLITTER_ESCAPE_MIDDLE;
    else if (byte != 0x1b)
        splitter->state = SPLITTER_TEXT; /* a two-byte sequence, or a stray ESC: both bytes go */
}

static void feed_byte(struct line_splitter *splitter, unsigned char byte) {
    if (byte == '\n' || byte == '\r') { /* ends an unfinished sequence as well */
        end_line(splitter);
        return;
    }
    if (!splitter->started) {
        splitter->started = true;
        splitter->start = splitter->position;
    }
    switch (splitter->state) {
    case SPLITTER_TEXT:
        feed_text(splitter, byte);
        break;
    case SPLITTER_ESCAPE:
        feed_escape(splitter, byte);
        break;
    case SPLITTER_ESCAPE_MIDDLE:
        if (byte < 0x20 || byte > 0x2f)
            splitter->state = byte == 0x1b ? SPLITTER_ESCAPE : SPLITTER_TEXT;
        break;
    case SPLITTER_CSI:
        if (byte == 0x1b) {
            splitter->state = SPLITTER_ESCAPE;
        } else if (byte < 0x20 || byte > 0x3f) {
            splitter->state = SPLITTER_TEXT;
            if (byte > 0x7e) /* no final byte: the sequence was broken off, this is text again */
                add_text(splitter, byte);
        }
        break;
    case SPLITTER_STRING:
        if (byte == 0x07 || byte == 0x18 || byte == 0x1a)
            splitter->state = SPLITTER_TEXT;
        else if (byte == 0x1b)
            splitter->state = SPLITTER_STRING_ESCAPE;
        break;
    case SPLITTER_STRING_ESCAPE:
        splitter->state = SPLITTER_TEXT;
        if (byte != '\\')
            feed_escape(splitter, byte); /* a new sequence broke the string off */
        break;
    }
}

void line_splitter_feed(struct line_splitter *splitter, const void *bytes, size_t length) {
    const unsigned char *from = bytes;
    size_t i = 0;

    while (i < length) {
        /* The common case at once: a run of printable text inside a line. */
        if (splitter->state == SPLITTER_TEXT && splitter->started) {
            size_t first = i;
            while (i < length && from[i] >= 0x20 && from[i] != 0x7f)
                i++;
            size_t run = i - first;
            size_t room = LINE_MAX_BYTES - splitter->length;
            size_t kept = run < room ? run : room;
            if (kept > 0)
                memcpy(splitter->line + splitter->length, from + first, kept);
            splitter->length += kept;
            splitter->has_cut = splitter->has_cut || kept < run;
            splitter->position += run;
            if (i == length)
                break;
        }
        feed_byte(splitter, from[i++]);
        splitter->position++;
    }
}

void line_splitter_skip(struct line_splitter *splitter, uint64_t bytes) {
    if (bytes == 0)
        return;
    splitter->length = 0;
    splitter->dropping = true;
    end_line(splitter);
    splitter->dropping = true;
    splitter->position += bytes;
}

void line_splitter_finish(struct line_splitter *splitter) {
    end_line(splitter);
}
