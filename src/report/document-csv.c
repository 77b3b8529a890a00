/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First version. */
#include "report/study.h"

void report_document_csv(const struct report_document *document, struct strbuf *out) {
    (void)document;
    (void)out;
}
