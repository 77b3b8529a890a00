/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text on a terminal of a given width (layout.h). Must not know what a run is, and must let nothing
 * through that a terminal could take for a command.
 */
#include "report/layout.h"

#include "base/msg.h"
#include "base/str.h"

#include <assert.h>
#include <string.h>

#define WIDTH_DEFAULT 80
#define WIDTH_MIN     20
#define WIDTH_MAX     1000
#define NARROW        64 /* below this a note stands on lines of its own */

size_t layout_columns(struct report_style style) {
    if (style.width <= 0)
        return WIDTH_DEFAULT;
    if (style.width < WIDTH_MIN)
        return WIDTH_MIN;
    return style.width > WIDTH_MAX ? WIDTH_MAX : (size_t)style.width;
}

/* Bytes of the character that begins here; the text is sound UTF-8 (str_add_printable saw to that).
 */
static size_t character_length(const char *text) {
    unsigned char lead = (unsigned char)*text;
    size_t length = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < length; i++)
        if (text[i] == '\0')
            return i;
    return length;
}

static size_t character_width(const char *text, size_t length) {
    char one[5] = {0};
    memcpy(one, text, length < 5 ? length : 4);
    return str_width(one);
}

void layout_add_plain(struct strbuf *out, const char *text, bool ascii) {
    if (!text)
        return;
    AUTO_STRBUF struct strbuf printable = STRBUF_INIT;
    str_add_printable(&printable, text, strlen(text));
    if (!ascii) {
        strbuf_add(out, strbuf_str(&printable), printable.length);
        return;
    }
    for (const char *p = strbuf_str(&printable); *p;) {
        size_t length = character_length(p);
        if (length == 1 && (unsigned char)*p < 0x80)
            strbuf_add_char(out, *p);
        else if (strncmp(p, "…", length) == 0) /* of our own sentences mostly: wider, but said */
            strbuf_add_str(out, "...");
        else /* as many as it takes columns, so that what stands below keeps its place */
            for (size_t w = character_width(p, length); w > 0; w--)
                strbuf_add_char(out, '?');
        p += length;
    }
}

/* Adds characters of a printable text as long as they fit; returns where it stopped. */
static const char *add_fitting(struct strbuf *out, const char *text, size_t columns) {
    size_t used = 0;
    while (*text) {
        size_t length = character_length(text);
        size_t width = character_width(text, length);
        if (used + width > columns)
            break;
        strbuf_add(out, text, length);
        used += width;
        text += length;
    }
    return text;
}

void layout_cut(struct strbuf *out, const char *text, size_t columns, bool ascii) {
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    layout_add_plain(&plain, text, ascii);
    if (str_width(strbuf_str(&plain)) <= columns) {
        strbuf_add(out, strbuf_str(&plain), plain.length);
        return;
    }
    const char *dots = ascii ? "..." : "…";
    size_t dots_width = ascii ? 3 : 1;
    if (columns <= dots_width) {
        (void)add_fitting(out, strbuf_str(&plain), columns);
        return;
    }
    (void)add_fitting(out, strbuf_str(&plain), columns - dots_width);
    strbuf_add_str(out, dots);
}

static const char *color_code(enum layout_color color) {
    switch (color) {
    case LAYOUT_PLAIN:
    case LAYOUT_COLOR_COUNT_:
        return NULL;
    case LAYOUT_BOLD:
        return "\033[1m";
    case LAYOUT_DIM:
        return "\033[2m";
    case LAYOUT_GOOD:
        return "\033[32m";
    case LAYOUT_WARN:
        return "\033[33m";
    case LAYOUT_BAD:
        return "\033[31m";
    }
    return NULL;
}

void layout_add_colored(struct strbuf *out, struct report_style style, enum layout_color color,
                        const char *text) {
    const char *code = style.color ? color_code(color) : NULL;
    if (code)
        strbuf_add_str(out, code);
    strbuf_add_str(out, text);
    if (code)
        strbuf_add_str(out, "\033[0m");
}

void layout_add_blanks(struct strbuf *out, size_t count) {
    while (count-- > 0)
        strbuf_add_char(out, ' ');
}

void layout_trim(struct strbuf *out) {
    while (out->length > 0 && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
}

static void new_line(struct strbuf *out, size_t indent) {
    strbuf_add_char(out, '\n');
    layout_add_blanks(out, indent);
}

static bool is_glued(const char *word, size_t length, const char *next) {
    char last = word[length - 1];
    if (last >= '0' && last <= '9') /* "12 min": a number and its unit */
        return (*next >= 'a' && *next <= 'z') || (*next >= 'A' && *next <= 'Z') || *next == '%';
    if (length == 3 && word[0] == '[' && last == ']') /* the mark of a state */
        return true;
    return length == strlen("≥") &&
           (memcmp(word, "≥", length) == 0 || memcmp(word, "≤", length) == 0);
}

/* Bytes up to the next blank at which a line may end. */
static size_t word_length(const char *text) {
    size_t length = strcspn(text, " "), begin = 0;
    while (length > begin && text[length] == ' ' && text[length + 1] != ' ' &&
           is_glued(text + begin, length - begin, text + length + 1)) {
        begin = length + 1;
        length = begin + strcspn(text + begin, " ");
    }
    return length;
}

void layout_wrap(struct strbuf *out, const char *text, size_t column, size_t indent,
                 size_t columns) {
    /* a line must take at least one wide character, or a long word would never end */
    if (columns < indent + 2)
        columns = indent + 2;
    bool first = true;
    while (*text) {
        size_t blank = first ? 0 : strspn(text, " ");
        text += strspn(text, " ");
        size_t length = word_length(text);
        if (length == 0)
            break;
        AUTO_FREE char *word = mem_strndup(text, length);
        size_t width = str_width(word);
        text += length;
        if (column + blank + width > columns && column > indent) {
            new_line(out, indent);
            column = indent;
            blank = 0;
        }
        layout_add_blanks(out, blank);
        column += blank;
        first = false;
        const char *rest = word;
        while (column + str_width(rest) > columns) {
            size_t room = columns > column ? columns - column : 0;
            rest = add_fitting(out, rest, room);
            new_line(out, indent);
            column = indent;
        }
        strbuf_add_str(out, rest);
        column += str_width(rest);
    }
}

void layout_heading(struct strbuf *out, struct report_style style, const char *heading) {
    strbuf_add_char(out, '\n');
    layout_add_colored(out, style, LAYOUT_BOLD, heading);
    strbuf_add_char(out, '\n');
}

void layout_row(struct strbuf *out, struct report_style style, const char *label, const char *value,
                enum layout_color color, const char *note) {
    size_t columns = layout_columns(style);
    bool narrow = columns < NARROW;
    size_t value_column = narrow ? 16 : 20;
    size_t note_column = narrow ? 4 : 40;
    strbuf_add_str(out, "  ");
    strbuf_add_str(out, label);
    size_t column = 2 + str_width(label);
    if (column < value_column || narrow) {
        size_t blanks = column < value_column ? value_column - column : 1;
        layout_add_blanks(out, blanks);
        column += blanks;
    } else { /* a line of its own, so that the values stand below each other */
        new_line(out, value_column);
        column = value_column;
    }
    if (style.color && color_code(color) && column + str_width(value) <= columns) {
        layout_add_colored(out, style, color, value);
    } else {
        layout_wrap(out, value, column, value_column, columns);
    }
    column += str_width(value);
    if (note && *note) {
        if (!narrow && column + 1 < note_column) {
            layout_add_blanks(out, note_column - column);
            column = note_column;
        } else if (!narrow && column + 2 + str_width(note) <= columns) {
            layout_add_blanks(out, 2);
            column += 2;
        } else {
            size_t indent = narrow ? note_column : value_column + 4;
            new_line(out, indent);
            column = note_column = indent;
        }
        layout_wrap(out, note, column, note_column, columns);
    }
    strbuf_add_char(out, '\n');
}

void layout_paragraph(struct strbuf *out, struct report_style style, const char *text) {
    strbuf_add_str(out, "  ");
    layout_wrap(out, text, 2, 2, layout_columns(style));
    strbuf_add_char(out, '\n');
}

void layout_line(struct strbuf *out, struct report_style style, size_t indent, const char *text) {
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    layout_add_plain(&plain, text, style.ascii);
    layout_add_blanks(out, indent);
    layout_wrap(out, strbuf_str(&plain), indent, indent + 2, layout_columns(style));
    strbuf_add_char(out, '\n');
}

void layout_bullet(struct strbuf *out, struct report_style style, const char *text) {
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    layout_add_plain(&plain, text, style.ascii);
    strbuf_add_str(out, "  - ");
    layout_wrap(out, strbuf_str(&plain), 4, 4, layout_columns(style));
    strbuf_add_char(out, '\n');
}

enum layout_color layout_state_color(enum quantity_state state) {
    switch (state) {
    case QUANTITY_OPEN:
        return LAYOUT_BAD;
    case QUANTITY_ASSUMED:
    case QUANTITY_ESTIMATED:
        return LAYOUT_WARN;
    case QUANTITY_MEASURED:
    case QUANTITY_STATE_COUNT_:
        return LAYOUT_PLAIN;
    }
    return LAYOUT_PLAIN;
}

static void add_piece(struct strbuf *out, const char *text, bool ascii) {
    if (!text || !*text)
        return;
    if (out->length > 0)
        strbuf_add_str(out, "; ");
    layout_add_plain(out, text, ascii);
}

void layout_quantity_note(struct strbuf *out, const struct quantity *q, bool ascii) {
    AUTO_STRBUF struct strbuf note = STRBUF_INIT;
    AUTO_STRBUF struct strbuf basis = STRBUF_INIT;
    if (q->basis)
        quantity_add_basis(&basis, q->basis);
    add_piece(&note, strbuf_str(&basis), ascii);
    AUTO_STRBUF struct strbuf method = STRBUF_INIT;
    if (q->method)
        quantity_add_method(&method, q->method);
    add_piece(&note, strbuf_str(&method), ascii);
    add_piece(&note, q->detail, ascii);
    strbuf_add(out, strbuf_str(&note), note.length);
}

void layout_add_quantity(struct strbuf *out, const struct quantity *q, bool ascii, bool mark) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    quantity_format(q, (struct quantity_style){.ascii = ascii, .mark = mark}, &text);
    layout_add_plain(out, strbuf_str(&text), ascii); /* a unit may come from a mark */
}

void layout_quantity(struct strbuf *out, struct report_style style, const char *label,
                     const struct quantity *q) {
    AUTO_STRBUF struct strbuf value = STRBUF_INIT;
    AUTO_STRBUF struct strbuf note = STRBUF_INIT;
    layout_add_quantity(&value, q, style.ascii, true);
    layout_quantity_note(&note, q, style.ascii);
    layout_row(out, style, label, strbuf_str(&value), layout_state_color(q->state),
               strbuf_str(&note));
}

void layout_legend(struct strbuf *out, struct report_style style) {
    strbuf_add_char(out, '\n');
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    strbuf_add_str(&line, _("[m] measured   [e] estimated   [a] assumed   [?] open"));
    strbuf_add_str(&line, style.ascii ? "" : _("   ≥ at least   ≤ at most"));
    layout_wrap(out, strbuf_str(&line), 0, 0, layout_columns(style));
    strbuf_add_char(out, '\n');
}

/* ---- tables ---- */

struct layout_cell {
    char *text; /* owned, printable */
    enum layout_color color;
};

struct layout_table {
    struct report_style style;
    const struct layout_column *columns;
    size_t column_count;
    struct layout_cell *cells;
    size_t count, capacity;
};

struct layout_table *layout_table_new(struct report_style style,
                                      const struct layout_column *columns, size_t count) {
    struct layout_table *table = mem_alloc(sizeof(*table));
    *table = (struct layout_table){.style = style, .columns = columns, .column_count = count};
    return table;
}

struct layout_table *layout_table_free(struct layout_table *table) {
    if (!table)
        return NULL;
    for (size_t i = 0; i < table->count; i++)
        mem_free_ptr(&table->cells[i].text);
    mem_free_ptr(&table->cells);
    mem_free_ptr(&table);
    return NULL;
}

void layout_table_free_ptr(struct layout_table **table) {
    *table = layout_table_free(*table);
}

void layout_table_cell(struct layout_table *table, const char *text, enum layout_color color) {
    if (table->count == table->capacity) {
        table->capacity = table->capacity ? table->capacity * 2 : 64;
        table->cells = mem_realloc(table->cells, table->capacity, sizeof(*table->cells));
    }
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    layout_add_plain(&plain, text, table->style.ascii);
    table->cells[table->count++] =
        (struct layout_cell){.text = strbuf_take(&plain), .color = color};
}

static bool column_shown(const struct layout_table *table, size_t column) {
    size_t needs = table->columns[column].optional;
    return needs == 0 || layout_columns(table->style) >= needs;
}

/* Natural widths; the elastic column gets what the others leave, its least width. False: the
 * page is too narrow. */
static bool measure_columns(const struct layout_table *table, size_t indent, size_t *ret_widths) {
    size_t total = indent, elastic = SIZE_MAX;
    for (size_t c = 0; c < table->column_count; c++) {
        ret_widths[c] = 0;
        if (!column_shown(table, c))
            continue;
        ret_widths[c] = str_width(table->columns[c].title);
        for (size_t i = c; i < table->count; i += table->column_count) {
            size_t width = str_width(table->cells[i].text);
            if (width > ret_widths[c])
                ret_widths[c] = width;
        }
        total += ret_widths[c] + (total > indent ? 2 : 0);
        if (table->columns[c].elastic > 0)
            elastic = c;
    }
    size_t columns = layout_columns(table->style);
    if (total <= columns)
        return true;
    size_t excess = total - columns;
    if (elastic == SIZE_MAX || ret_widths[elastic] < excess + table->columns[elastic].elastic)
        return false;
    ret_widths[elastic] -= excess;
    return true;
}

static bool is_last_shown(const struct layout_table *table, size_t column) {
    for (size_t c = column + 1; c < table->column_count; c++)
        if (column_shown(table, c))
            return false;
    return true;
}

static bool wraps_here(const struct layout_table *table, const size_t *widths, size_t column,
                       const char *text) {
    return table->columns[column].wraps && is_last_shown(table, column) &&
           str_width(text) > widths[column];
}

/* start: where the column begins. */
static void print_cell(const struct layout_table *table, const size_t *widths, size_t column,
                       size_t start, const char *text, enum layout_color color,
                       struct strbuf *out) {
    if (wraps_here(table, widths, column, text)) {
        layout_wrap(out, text, start, start, start + widths[column]);
        return;
    }
    AUTO_STRBUF struct strbuf fitted = STRBUF_INIT;
    layout_cut(&fitted, text, widths[column], table->style.ascii);
    size_t used = str_width(strbuf_str(&fitted));
    size_t blanks = widths[column] > used ? widths[column] - used : 0;
    if (table->columns[column].right)
        layout_add_blanks(out, blanks);
    layout_add_colored(out, table->style, color, strbuf_str(&fitted));
    if (is_last_shown(table, column))
        return; /* no blanks at the end of a line */
    if (!table->columns[column].right)
        layout_add_blanks(out, blanks);
    layout_add_blanks(out, 2);
}

/* One cell below the other: for pages that are too narrow for the table. */
static void print_stacked(const struct layout_table *table, size_t indent, struct strbuf *out) {
    size_t columns = layout_columns(table->style);
    for (size_t i = 0; i < table->count; i++) {
        size_t c = i % table->column_count;
        const struct layout_cell *cell = &table->cells[i];
        if (*cell->text == '\0' || !column_shown(table, c))
            continue;
        size_t column = indent + (c > 0 ? 2 : 0);
        layout_add_blanks(out, column);
        const char *title = table->columns[c].title;
        if (c > 0 && *title) {
            strbuf_printf(out, "%s  ", title);
            column += str_width(title) + 2;
        }
        if (column + str_width(cell->text) <= columns)
            layout_add_colored(out, table->style, cell->color, cell->text);
        else
            layout_wrap(out, cell->text, column, indent + 4, columns);
        strbuf_add_char(out, '\n');
    }
}

/* row: index of its first cell; SIZE_MAX: the titles. */
static void print_row(const struct layout_table *table, const size_t *widths, size_t indent,
                      size_t row, struct strbuf *out) {
    size_t start = indent;
    layout_add_blanks(out, indent);
    for (size_t c = 0; c < table->column_count; c++) {
        if (!column_shown(table, c))
            continue;
        if (row == SIZE_MAX)
            print_cell(table, widths, c, start, table->columns[c].title, LAYOUT_BOLD, out);
        else
            print_cell(table, widths, c, start, table->cells[row + c].text,
                       table->cells[row + c].color, out);
        start += widths[c] + 2;
    }
    layout_trim(out);
    strbuf_add_char(out, '\n');
}

static void print_table(const struct layout_table *table, const size_t *widths, size_t indent,
                        struct strbuf *out) {
    print_row(table, widths, indent, SIZE_MAX, out);
    for (size_t row = 0; row < table->count; row += table->column_count)
        print_row(table, widths, indent, row, out);
}

void layout_table_print(const struct layout_table *table, size_t indent, struct strbuf *out) {
    assert(table->count % table->column_count == 0);
    AUTO_FREE size_t *widths = mem_realloc(NULL, table->column_count, sizeof(*widths));
    if (measure_columns(table, indent, widths))
        print_table(table, widths, indent, out);
    else
        print_stacked(table, indent, out);
}
