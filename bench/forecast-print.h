/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result of a scoring as tables for people, or as one JSON document (absent numbers: null). */
#pragma once

#include "base/strbuf.h"
#include "forecast-verdict.h"

void forecast_print_text(const struct forecast_result *result, struct strbuf *out);
void forecast_print_json(const struct forecast_result *result, struct strbuf *out);
