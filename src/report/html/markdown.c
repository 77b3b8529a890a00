/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Parts of a report, which are Markdown, as HTML: cmark-gfm reads, this writes. So both forms of a
 * report say the same in the same words. Must not let anything become a link or raw HTML.
 */
#include "report/html/html.h"

#include "base/mem.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <cmark-gfm.h>

#include <string.h>

struct writer {
    struct html_contents *contents;
    struct strbuf *out;
    const char *figure;  /* for the end of the first section; NULL: none, or it is there */
    const char *heading; /* id of the one that holds */
    bool in_section, in_body;
    bool in_head; /* of a table */
};

static bool is(cmark_node *node, const char *type) {
    return strcmp(cmark_node_get_type_string(node), type) == 0;
}

/* All text below a node. */
static void collect(cmark_node *node, struct strbuf *out) {
    const char *literal = cmark_node_get_literal(node);
    if (literal && !is(node, "html_inline"))
        strbuf_add_str(out, literal);
    for (cmark_node *child = cmark_node_first_child(node); child; child = cmark_node_next(child))
        collect(child, out);
}

static void end_section(struct writer *writer) {
    if (!writer->in_section)
        return;
    if (writer->figure)
        strbuf_add_str(writer->out, writer->figure);
    strbuf_add_str(writer->out, "</section>\n");
    writer->figure = NULL;
    writer->in_section = false;
}

static void heading(struct writer *writer, cmark_node *node, bool enters) {
    int level = cmark_node_get_heading_level(node);
    if (!enters) {
        strbuf_printf(writer->out, "</h%d>\n", level);
        return;
    }
    if (level == 2)
        end_section(writer);
    if (level == 1) {
        strbuf_add_str(writer->out, "<h1>");
        return;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    collect(node, &text);
    writer->heading = html_contents_add(writer->contents, (unsigned)level, strbuf_str(&text));
    if (level == 2) {
        strbuf_printf(writer->out, "<section aria-labelledby=\"%s\">\n", writer->heading);
        writer->in_section = true;
    }
    strbuf_printf(writer->out, "<h%d id=\"%s\">", level, writer->heading);
}

/* Items of a list without empty lines between them hold no paragraphs. */
static bool is_tight(cmark_node *paragraph) {
    cmark_node *item = cmark_node_parent(paragraph);
    cmark_node *list = item ? cmark_node_parent(item) : NULL;
    return list && is(list, "list") && cmark_node_get_list_tight(list);
}

static void element(struct strbuf *out, const char *name, bool enters, bool feed) {
    strbuf_printf(out, enters ? "<%s>" : "</%s>", name);
    if (feed)
        strbuf_add_char(out, '\n');
}

/* ---- tables ---- */

static void table(struct writer *writer, bool enters) {
    if (enters) {
        /* wider than a narrow page: scrolled by itself, by keyboard, too */
        strbuf_printf(writer->out, "<div class=\"wide\" role=\"region\" tabindex=\"0\"%s%s%s>\n",
                      writer->heading ? " aria-labelledby=\"" : "",
                      writer->heading ? writer->heading : "", writer->heading ? "\"" : "");
        strbuf_add_str(writer->out, "<table>\n");
        writer->in_body = false;
        return;
    }
    if (writer->in_body)
        strbuf_add_str(writer->out, "</tbody>\n");
    strbuf_add_str(writer->out, "</table>\n</div>\n");
}

static void row(struct writer *writer, bool is_head, bool enters) {
    if (enters && is_head)
        strbuf_add_str(writer->out, "<thead>\n");
    if (enters && !is_head && !writer->in_body) {
        strbuf_add_str(writer->out, "<tbody>\n");
        writer->in_body = true;
    }
    writer->in_head = enters && is_head;
    element(writer->out, "tr", enters, !enters);
    if (!enters && is_head)
        strbuf_add_str(writer->out, "</thead>\n");
}

static void cell(struct writer *writer, bool enters) {
    const char *name = writer->in_head ? "th" : "td";
    if (enters && writer->in_head)
        strbuf_add_str(writer->out, "<th scope=\"col\">");
    else
        element(writer->out, name, enters, false);
}

/* ---- the rest ---- */

static bool is_comment(const char *html) {
    return strncmp(html, "<!--", 4) == 0;
}

static void leaf(struct writer *writer, cmark_node *node) {
    struct strbuf *out = writer->out;
    const char *literal = cmark_node_get_literal(node);
    if (is(node, "softbreak"))
        strbuf_add_char(out, '\n');
    else if (is(node, "linebreak"))
        strbuf_add_str(out, "<br>\n");
    else if (is(node, "thematic_break"))
        strbuf_add_str(out, "<hr>\n");
    else if (is(node, "code")) {
        strbuf_add_str(out, "<code>");
        html_add_text(out, literal);
        strbuf_add_str(out, "</code>");
    } else if (is(node, "code_block")) {
        strbuf_add_str(out, "<pre><code>");
        html_add_text(out, literal);
        strbuf_add_str(out, "</code></pre>\n");
    } else if (literal && !is_comment(literal))
        html_add_marked(out, literal);
}

static void container(struct writer *writer, cmark_node *node, bool enters) {
    struct strbuf *out = writer->out;
    if (is(node, "heading"))
        heading(writer, node, enters);
    else if (is(node, "paragraph")) {
        if (!is_tight(node))
            element(out, "p", enters, !enters);
    } else if (is(node, "list"))
        element(out, cmark_node_get_list_type(node) == CMARK_ORDERED_LIST ? "ol" : "ul", enters,
                true);
    else if (is(node, "item"))
        element(out, "li", enters, !enters);
    else if (is(node, "strong"))
        element(out, "strong", enters, false);
    else if (is(node, "emph"))
        element(out, "em", enters, false);
    else if (is(node, "table"))
        table(writer, enters);
    else if (is(node, "table_header") || is(node, "table_row"))
        row(writer, is(node, "table_header"), enters);
    else if (is(node, "table_cell"))
        cell(writer, enters);
}

static cmark_node *parse(const char *markdown, size_t length) {
    cmark_gfm_core_extensions_ensure_registered();
    cmark_parser *parser = cmark_parser_new(CMARK_OPT_VALIDATE_UTF8);
    cmark_parser_attach_syntax_extension(parser, cmark_find_syntax_extension("table"));
    cmark_parser_feed(parser, markdown, length);
    cmark_node *root = cmark_parser_finish(parser);
    cmark_parser_free(parser);
    cmark_consolidate_text_nodes(root);
    return root;
}

void html_add_markdown(struct html_contents *contents, const char *markdown, size_t length,
                       const char *figure, struct strbuf *out) {
    struct writer writer = {.contents = contents, .figure = figure, .out = out};
    cmark_node *root = parse(markdown, length);
    cmark_iter *at = cmark_iter_new(root);
    for (cmark_event_type event; (event = cmark_iter_next(at)) != CMARK_EVENT_DONE;) {
        cmark_node *node = cmark_iter_get_node(at);
        /* leaves have one event; so has a container without children, which then closes at once */
        if (cmark_node_get_literal(node) || is(node, "softbreak") || is(node, "linebreak") ||
            is(node, "thematic_break"))
            leaf(&writer, node);
        else
            container(&writer, node, event == CMARK_EVENT_ENTER);
    }
    cmark_iter_free(at);
    cmark_node_free(root);
    end_section(&writer);
}
