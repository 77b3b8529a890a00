/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `doctor` found, for people and for programs. */
#pragma once

#include "doctor/doctor.h"
#include "report/report.h"

json_t *report_doctor_json(const struct doctor_findings *findings); /* probelauf.doctor/1 */
/* Problems and warnings first, then what is open; what is known in one line each. Without `all` at
 * most a few of each on the clone, what is known of it only counted, and no snippet where a clone
 * was looked at. */
void report_doctor_text(const struct doctor_findings *findings, bool all, struct report_style style,
                        struct strbuf *out);
