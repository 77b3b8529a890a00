/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sections of an estimate for people. Internal to report/. */
#pragma once

#include "report/layout.h"
#include "rules/estimate.h"

/* A row: value and interval, as note what it rests on, then `more` (may be NULL). */
void estimate_text_quantity(const char *label, const struct quantity *q, const char *more,
                            struct report_style style, struct strbuf *out);
/* The known ones as rows, the open ones named in one; with -v all of them with their items. */
void estimate_text_components(const struct estimate_component components[COMPONENT_COUNT_],
                              struct report_style style, struct strbuf *out);
/* Need against capacity; nothing where it does not apply. is_named: with the quantity's name, which
 * the label does not give. */
void estimate_text_memory(const char *label, const struct estimate_memory *memory, bool is_named,
                          struct report_style style, struct strbuf *out);
void estimate_text_block(const struct estimate_block *block, struct report_style style,
                         struct strbuf *out);
