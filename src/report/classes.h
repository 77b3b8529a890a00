/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reference classes for people and machines: the list of them (probelauf.classes/1), and what an
 * estimate would be with one. That is shown beside the estimate, always as assumed, and says which
 * class it is. Internal to report/, but for the list.
 */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "report/report.h"
#include "rules/estimate-class.h"

/* ---- the list: estimate --assume-class list ---- */
void report_classes_text(struct report_style style, struct strbuf *out);
json_t *report_classes_json(void);

/* ---- beside an estimate; nothing, and null, where no class was asked for ---- */
void report_by_class_text(const struct estimate *estimate, struct report_style style,
                          struct strbuf *out);
json_t *report_by_class_json(const struct estimate *estimate);
