/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The frame of every page, and how texts get into it (html.h). Must not let a text from outside
 * become markup, nor the page ask for anything.
 */
#include "report/html/html.h"

#include "base/msg.h"
#include "base/str.h"
#include "report/html/assets.h"
#include "report/layout.h"

#include <string.h>

#define TITLE_MOST 200u
#define LINE_MOST  2000u /* characters of a text that nobody wrote to be read in full */

/* ---- texts ---- */

static const char *entity(char c) {
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static void add_escaped(struct strbuf *out, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        const char *replaced = entity(text[i]);
        if (replaced)
            strbuf_add_str(out, replaced);
        else
            strbuf_add_char(out, text[i]);
    }
}

/* The bytes of the first `most` characters of UTF-8. */
static size_t bytes_of(const char *text, size_t most) {
    size_t at = 0;
    for (size_t seen = 0; text[at] != '\0'; at++)
        if (((unsigned char)text[at] & 0xC0) != 0x80 && seen++ == most)
            break;
    return at;
}

static size_t characters_of(const char *text) {
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

/* "… (12 characters more)" where something was cut off. */
static void add_rest(struct strbuf *out, const char *rest) {
    size_t missing = characters_of(rest);
    if (missing == 0)
        return;
    AUTO_FREE char *text = mem_printf(
        msg_plural((unsigned long)missing, " … (%zu character more)", " … (%zu characters more)"),
        missing);
    strbuf_add_str(out, text);
}

void html_add_text_most(struct strbuf *out, const char *text, size_t most) {
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    layout_add_plain(&plain, text, false);
    const char *begin = strbuf_str(&plain);
    size_t shown = bytes_of(begin, most);
    add_escaped(out, begin, shown);
    add_rest(out, begin + shown);
}

void html_add_text(struct strbuf *out, const char *text) {
    html_add_text_most(out, text, LINE_MOST);
}

static const char *mark_name(char mark) {
    switch (mark) {
    case 'm':
        return "measured";
    case 'e':
        return "estimated";
    case 'a':
        return "assumed";
    case '?':
        return "open";
    default:
        return NULL;
    }
}

static const char *mark_at(const char *at) {
    return at[0] == '[' && at[1] != '\0' && at[2] == ']' ? mark_name(at[1]) : NULL;
}

void html_add_marked(struct strbuf *out, const char *text) {
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    layout_add_plain(&plain, text, false);
    const char *at = strbuf_str(&plain), *begin = at, *end = at + bytes_of(at, LINE_MOST);
    for (; at < end; at++) {
        const char *name = mark_at(at);
        if (!name)
            continue;
        add_escaped(out, begin, (size_t)(at - begin));
        strbuf_printf(out, "<span class=\"mark %s\">%.3s</span>", name, at);
        at += 2;
        begin = at + 1;
    }
    if (begin < end)
        add_escaped(out, begin, (size_t)(end - begin));
    add_rest(out, begin < end ? end : begin);
}

void html_add_json(struct strbuf *out, const json_t *json) {
    AUTO_FREE char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(9));
    for (const char *at = text ? text : "null"; *at; at++) {
        if (strchr("<>&", *at))
            strbuf_printf(out, "\\u%04x", (unsigned)*at);
        else
            strbuf_add_char(out, *at);
    }
}

/* ---- the table of contents ---- */

struct html_heading {
    unsigned level;
    const char *id, *text;
};
struct html_contents {
    struct arena *arena;
    struct html_heading items[256]; /* beyond, a heading is in no list */
    size_t count;
    unsigned long made;
};

struct html_contents *html_contents_new(struct arena *arena) {
    struct html_contents *contents = arena_alloc(arena, sizeof *contents);
    contents->arena = arena;
    return contents;
}

const char *html_contents_add(struct html_contents *contents, unsigned level, const char *text) {
    const char *id = arena_printf(contents->arena, "part-%lu", ++contents->made);
    if (contents->count < ARRAY_LENGTH(contents->items))
        contents->items[contents->count++] =
            (struct html_heading){level, id, arena_strdup(contents->arena, text)};
    return id;
}

static void add_contents(const struct html_contents *contents, struct strbuf *out) {
    strbuf_add_str(out, "<nav class=\"contents\" aria-label=\"");
    html_add_text(out, _("Contents"));
    strbuf_add_str(out, "\">\n<ul>\n");
    for (size_t i = 0; i < contents->count; i++) {
        const struct html_heading *heading = &contents->items[i];
        if (heading->level > 2)
            continue;
        strbuf_printf(out, "<li><a href=\"#%s\">", heading->id);
        html_add_text(out, heading->text);
        strbuf_add_str(out, "</a></li>\n");
    }
    strbuf_add_str(out, "</ul>\n</nav>\n");
}

/* ---- the frame ---- */

static void add_policy(const struct web_asset *style, const struct web_asset *script, bool served,
                       struct strbuf *out) {
    strbuf_printf(out,
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "base-uri 'none'; form-action %s; img-src data:",
                  served ? "'self'" : "'none'");
    if (style)
        strbuf_printf(out, "; style-src 'sha256-%s'", style->sha256);
    if (script)
        strbuf_printf(out, "; script-src 'sha256-%s'", script->sha256);
    strbuf_add_str(out, "\">\n");
}

static void add_places(struct strbuf *out) {
    strbuf_add_str(out, "<nav class=\"places\" aria-label=\"probelauf\">\n<a href=\"/\">");
    html_add_text(out, _("Report"));
    strbuf_add_str(out, "</a> <a href=\"/runs\">");
    html_add_text(out, _("Runs"));
    strbuf_add_str(out, "</a>\n</nav>\n");
}

static void add_head(const char *title, const struct html_frame *frame, struct strbuf *out) {
    const struct web_asset *style = web_asset("style.css");
    add_policy(style, web_asset("app.js"), frame->served, out);
    if (frame->again_s > 0)
        strbuf_printf(out, "<meta http-equiv=\"refresh\" content=\"%u\">\n", frame->again_s);
    strbuf_add_str(out, "<meta name=\"viewport\" content=\"width=device-width, "
                        "initial-scale=1\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"
                        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    html_add_text_most(out, title, TITLE_MOST);
    strbuf_add_str(out, "</title>\n");
    if (style)
        strbuf_printf(out, "<style>%s</style>\n", style->text);
}

void html_begin_page(const char *title, const struct html_frame *frame, struct strbuf *out) {
    static const struct html_frame alone = {0};
    frame = frame ? frame : &alone;
    strbuf_printf(out, "<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n",
                  msg_language());
    add_head(title, frame, out);
    strbuf_add_str(out, "</head>\n<body>\n<a class=\"skip\" href=\"#main\">");
    html_add_text(out, _("To the content"));
    strbuf_add_str(out, "</a>\n");
    if (frame->served)
        add_places(out);
    if (frame->contents)
        add_contents(frame->contents, out);
    strbuf_add_str(out, "<main id=\"main\">\n");
}

void html_end_page(struct strbuf *out) {
    const struct web_asset *script = web_asset("app.js");
    strbuf_add_str(out, "</main>\n");
    if (script)
        strbuf_printf(out, "<script>%s</script>\n", script->text);
    strbuf_add_str(out, "</body>\n</html>\n");
}
