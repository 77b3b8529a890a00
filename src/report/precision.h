/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How well the total of an estimate is known: the simulation error of its intervals, and the item
 * that makes up most of its uncertainty. Internal to report/.
 */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "report/report.h"
#include "rules/estimate.h"

/* "the ends of the interval are known to ±0.4 %", of the reserved total, else of computing; NULL:
 * neither has an interval. In the arena. */
const char *report_precision_words(const struct estimate *estimate, bool ascii,
                                   struct arena *arena);
/* "condition a=1 of block 'x' makes up 70 % of the uncertainty of the total"; NULL: none does. */
const char *report_dominating_words(const struct estimate *estimate, struct arena *arena);
/* One line per figure that has an interval, for -v; returns how many. */
size_t report_precision_lines(const struct estimate *estimate, bool ascii, struct arena *arena,
                              const char *const **ret_lines);

json_t *report_precision_json(const struct estimate *estimate);  /* simulation_error */
json_t *report_dominating_json(const struct estimate *estimate); /* null: none */
