/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Markdown out of texts that nobody can trust (markdown.h). */
#include "report/markdown.h"

#include "base/msg.h"
#include "report/layout.h"
#include "report/study-words.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

static bool is_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Each of these can begin markup; a backslash before it reads as the character itself. An
 * underscore within a word is none. */
static bool is_markup(const char *begin, const char *at) {
    if (*at == '_')
        return at == begin || !is_word(at[-1]) || !is_word(at[1]);
    return strchr("\\`*[]#|~$", *at) != NULL;
}

/* HTML is taken apart by entities, since not every reader of Markdown honours "\<". */
static const char *entity(char c) {
    if (c == '<')
        return "&lt;";
    return c == '&' ? "&amp;" : NULL;
}

/* At the start of a line or an item these would begin a list, a rule, a quotation. Returns how many
 * characters stand before the one that does it; SIZE_MAX: none. */
static size_t block_begin(const char *text) {
    if (*text != '\0' && strchr("-+=>", *text) != NULL)
        return 0;
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && (text[digits] == '.' || text[digits] == ')') ? digits : SIZE_MAX;
}

/* Bare addresses become links by themselves (GFM). A backslash keeps "://" and "www." from it; a
 * mail address is looked for in what is left of the text, so that only something between its parts
 * does: a comment, of which nobody sees anything. */
static bool add_unlinked(struct strbuf *out, const char *begin, const char *at) {
    if (*at == '@' && at > begin && (is_word(at[-1]) || strchr(".+-_", at[-1]) != NULL) &&
        is_word(at[1])) {
        strbuf_add_str(out, "@<!-- -->");
        return true;
    }
    if (*at == ':' && at[1] == '/' && at[2] == '/') {
        strbuf_add_str(out, "\\:");
        return true;
    }
    if (*at == '.' && at - begin >= 3 && strncasecmp(at - 3, "www", 3) == 0) {
        strbuf_add_str(out, "\\.");
        return true;
    }
    return false;
}

static void add_escaped(struct strbuf *out, const char *text, bool at_start) {
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    layout_add_plain(&plain, text, false);
    const char *begin = strbuf_str(&plain);
    size_t block = at_start ? block_begin(begin) : SIZE_MAX;
    for (const char *at = begin; *at; at++) {
        const char *replaced = entity(*at);
        if (replaced) {
            strbuf_add_str(out, replaced);
            continue;
        }
        if (add_unlinked(out, begin, at))
            continue;
        if (is_markup(begin, at) || (size_t)(at - begin) == block)
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, *at);
    }
}

void markdown_add(struct strbuf *out, const char *text) {
    add_escaped(out, text, false);
}

/* The longest run of backticks within the text. */
static size_t longest_ticks(const char *text) {
    size_t longest = 0;
    while (*text) {
        size_t run = strspn(text, "`");
        longest = run > longest ? run : longest;
        text += run > 0 ? run : 1;
    }
    return longest;
}

void markdown_add_code(struct strbuf *out, const char *text, bool table) {
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    layout_add_plain(&plain, text, false);
    const char *at = strbuf_str(&plain);
    if (*at == '\0')
        return;
    if (table && strchr(at, '|')) { /* tables are taken apart before code is: no escape is safe */
        markdown_add(out, text);
        return;
    }
    size_t ticks = longest_ticks(at) + 1;
    bool padded = *at == '`' || at[plain.length - 1] == '`';
    for (size_t i = 0; i < ticks; i++)
        strbuf_add_char(out, '`');
    if (padded)
        strbuf_add_char(out, ' ');
    strbuf_add_str(out, at);
    if (padded)
        strbuf_add_char(out, ' ');
    for (size_t i = 0; i < ticks; i++)
        strbuf_add_char(out, '`');
}

void markdown_add_quantity(struct strbuf *out, const struct quantity *q, bool brief) {
    struct quantity alone = brief ? study_words_alone(q) : *q;
    if (brief)
        alone.has_interval = false;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    quantity_format(&alone, (struct quantity_style){.mark = true}, &text);
    const size_t mark = strlen("[m] "); /* ours: no link is named so */
    strbuf_add(out, strbuf_str(&text), mark);
    markdown_add(out, strbuf_str(&text) + mark);
}

void markdown_heading(struct strbuf *out, unsigned level, const char *text) {
    strbuf_add_char(out, '\n');
    for (unsigned i = 0; i < level; i++)
        strbuf_add_char(out, '#');
    strbuf_add_char(out, ' ');
    markdown_add(out, text);
    strbuf_add_str(out, "\n\n");
}

void markdown_paragraph(struct strbuf *out, const char *text) {
    add_escaped(out, text, true);
    strbuf_add_str(out, "\n\n");
}

void markdown_bullet(struct strbuf *out, const char *text) {
    strbuf_add_str(out, "- ");
    add_escaped(out, text, true);
    strbuf_add_char(out, '\n');
}

void markdown_item(struct strbuf *out, const char *label, const char *text) {
    if (!text || !*text)
        return;
    strbuf_add_str(out, "- **");
    markdown_add(out, label);
    strbuf_add_str(out, ":** ");
    markdown_add(out, text);
    strbuf_add_char(out, '\n');
}

void markdown_table(struct strbuf *out, const char *const *titles, size_t count) {
    for (size_t i = 0; i < count; i++)
        markdown_cell(out, titles[i]);
    markdown_end_row(out);
    for (size_t i = 0; i < count; i++)
        strbuf_add_str(out, "|---");
    markdown_end_row(out);
}

void markdown_cell(struct strbuf *out, const char *text) {
    strbuf_add_str(out, "| ");
    markdown_add(out, text);
    if (text && *text)
        strbuf_add_char(out, ' ');
}

void markdown_cell_quantity(struct strbuf *out, const struct quantity *q, bool brief) {
    strbuf_add_str(out, "| ");
    markdown_add_quantity(out, q, brief);
    strbuf_add_char(out, ' ');
}

void markdown_cell_count(struct strbuf *out, bool known, unsigned long long count) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    study_words_add_count(&text, known, count);
    markdown_cell(out, strbuf_str(&text));
}

void markdown_end_row(struct strbuf *out) {
    strbuf_add_str(out, "|\n");
}

void markdown_finish(const struct strbuf *raw, struct strbuf *out) {
    size_t feeds = 2; /* none at the beginning */
    for (size_t i = 0; i < raw->length; i++) {
        feeds = raw->data[i] == '\n' ? feeds + 1 : 0;
        if (feeds <= 2)
            strbuf_add_char(out, raw->data[i]);
    }
}
