/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several studies together, for people and for programs. */
#pragma once

#include "base/json.h"
#include "base/strbuf.h"
#include "report/report.h"
#include "rules/studies.h"

/* without: studies with records but without a kept estimate: named, never counted as 0. */
json_t *report_studies_json(const struct studies *studies, size_t without); /* estimate-studies/1 */
void report_studies_text(const struct studies *studies, size_t without, struct report_style style,
                         struct strbuf *out);
