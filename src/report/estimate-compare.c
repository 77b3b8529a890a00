/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First version. */
#include "report/study.h"

json_t *report_estimate_compare_json(const json_t *before, const json_t *after) {
    (void)before;
    (void)after;
    json_t *json = json_object();
    json_put_text(json, "schema", "probelauf.estimate-compare/1");
    return json;
}

void report_estimate_compare_text(const json_t *compare, struct report_style style,
                                  struct strbuf *out) {
    (void)compare;
    (void)style;
    (void)out;
}
