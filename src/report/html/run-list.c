/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of the index on a page (html.h). */
#include "report/html/html.h"

#include "base/msg.h"
#include "base/uuid.h"
#include "report/run-text.h"
#include "report/words.h"

#include <string.h>

static void add_titles(struct strbuf *out) {
    const char *const titles[] = {_("run"), _("started (UTC)"), _("how it ended"), _("wall time"),
                                  _("command")};
    strbuf_add_str(out, "<div class=\"wide\"><table>\n<thead>\n<tr>");
    for (size_t i = 0; i < ARRAY_LENGTH(titles); i++) {
        strbuf_add_str(out, "<th scope=\"col\">");
        html_add_text(out, titles[i]);
        strbuf_add_str(out, "</th>");
    }
    strbuf_add_str(out, "</tr>\n</thead>\n<tbody>\n");
}

static void add_row(const struct store_entry *entry, struct strbuf *out) {
    AUTO_STRBUF struct strbuf date = STRBUF_INIT, wall = STRBUF_INIT;
    struct quantity q = report_entry_wall(entry);
    run_text_add_date(&date, entry->started_utc_ns);
    quantity_format(&q, (struct quantity_style){.mark = true}, &wall);
    strbuf_add_str(out, "<tr><td><a href=\"/runs/");
    html_add_text(out, entry->run);
    strbuf_add_str(out, "\">");
    html_add_text(out, uuid_tail(entry->run));
    strbuf_add_str(out, "</a></td><td>");
    html_add_text(out, strbuf_str(&date));
    strbuf_add_str(out, "</td><td>");
    html_add_text(out, entry->outcome ? words_shown(entry->outcome) : "");
    strbuf_add_str(out, "</td><td>");
    html_add_marked(out, strbuf_str(&wall));
    strbuf_add_str(out, "</td><td><code>");
    html_add_text_most(out, entry->command, 200);
    strbuf_add_str(out, "</code></td></tr>\n");
}

void html_add_run_list(const struct store_entry *entries, size_t count, struct strbuf *out) {
    add_titles(out);
    for (size_t i = 0; i < count; i++)
        add_row(&entries[i], out);
    strbuf_add_str(out, "</tbody>\n</table></div>\n");
}
