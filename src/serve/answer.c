/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which part answers which path (answer.h). */
#include "serve/answer.h"

#include "base/msg.h"
#include "base/str.h"
#include "report/html/html.h"

#include <string.h>

const char *serve_parameter(const struct serve_request *request, const char *name) {
    for (size_t i = 0; i < request->parameter_count; i++)
        if (strcmp(request->parameters[i].name, name) == 0)
            return *request->parameters[i].value != '\0' ? request->parameters[i].value : NULL;
    return NULL;
}

void serve_complain(int status, const char *text, struct serve_answer *ret) {
    const struct html_frame frame = {.served = true};
    strbuf_clear(&ret->body);
    ret->status = status;
    ret->type = SERVE_HTML;
    html_begin_page("probelauf", &frame, &ret->body);
    strbuf_add_str(&ret->body, "<h1>probelauf</h1>\n<p>");
    html_add_text(&ret->body, text);
    strbuf_add_str(&ret->body, "</p>\n");
    html_end_page(&ret->body);
}

void serve_answer(const struct serve_options *options, const struct serve_request *request,
                  struct serve_answer *ret) {
    *ret = (struct serve_answer){.status = 200, .type = SERVE_HTML, .body = STRBUF_INIT};
    if (str_starts_with(request->path, "/api/"))
        serve_api(options, request, ret);
    else if (strcmp(request->path, "/metrics") == 0)
        serve_metrics(options, ret);
    else if (strcmp(request->path, "/") == 0 || strcmp(request->path, "/runs") == 0 ||
             str_starts_with(request->path, "/runs/"))
        serve_page(options, request, ret);
    else
        serve_complain(404, _("There is no such page."), ret);
}
