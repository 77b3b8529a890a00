/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a request is answered with. Internal to serve/; made in the process of the request. */
#pragma once

#include "base/strbuf.h"
#include "serve/serve.h"

#include <stddef.h>

#define SERVE_PARAMETERS_MAX 16u

struct serve_parameter {
    const char *name, *value;
};
struct serve_request {
    const char *path; /* decoded, without the query */
    struct serve_parameter parameters[SERVE_PARAMETERS_MAX];
    size_t parameter_count;
};
struct serve_answer {
    int status;       /* of HTTP */
    const char *type; /* of the body */
    struct strbuf body;
};

#define SERVE_HTML        "text/html; charset=utf-8"
#define SERVE_TEXT        "text/plain; charset=utf-8"
#define SERVE_JSON        "application/json"
#define SERVE_OPENMETRICS "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* The value of a parameter; NULL: not given, or empty. */
const char *serve_parameter(const struct serve_request *request, const char *name);

void serve_answer(const struct serve_options *options, const struct serve_request *request,
                  struct serve_answer *ret);
/* Pages: "/", "/runs", "/runs/ID". */
void serve_page(const struct serve_options *options, const struct serve_request *request,
                struct serve_answer *ret);
/* "/api/NAME.json": what `probelauf NAME --json` prints. */
void serve_api(const struct serve_options *options, const struct serve_request *request,
               struct serve_answer *ret);
/* "/metrics" */
void serve_metrics(const struct serve_options *options, struct serve_answer *ret);
/* A page that says what went wrong. */
void serve_complain(int status, const char *text, struct serve_answer *ret);
