/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Renderers of sessions: probelauf.session/1 for machines, pages and tables for people. */
#pragma once

#include "base/json.h"
#include "base/strbuf.h"
#include "report/report.h"
#include "rules/session.h"

#include <stdbool.h>
#include <stddef.h>

/* The session alone, as documents hold it; with runs, gaps and notes, or the sums only. */
json_t *report_session_object(const struct session *session, bool whole);
json_t *report_session_json(const struct session *session); /* session NULL: none runs */
/* Newest first. next: id to go on behind, or NULL. */
json_t *report_session_list_json(const struct session *const *sessions, size_t count,
                                 const char *next);

void report_session_text(const struct session *session, struct report_style style,
                         struct strbuf *out);
void report_session_list_text(const struct session *const *sessions, size_t count,
                              struct report_style style, struct strbuf *out);
void report_session_clock(int64_t utc_ns, struct strbuf *out);   /* "19:51:08" */
const char *report_session_reason(enum session_reason reason);   /* translated */
const char *report_session_state(const struct session *session); /* translated */
