/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First version. */
#include "report/study.h"

json_t *report_document_json(const struct report_document *document) {
    (void)document;
    json_t *json = json_object();
    json_put_text(json, "schema", "probelauf.report/1");
    return json;
}
