/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words and JSON for what reviews taught (rules/calibration.h), for the review, the estimate and
 * the report. A share never stands without its interval, and a corrected interval never without
 * saying of how many outcomes it comes. Internal to report/.
 */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "rules/calibration.h"

#include <stddef.h>

/* "7 of 9 stated 90 % intervals held (78 %, 46 to 95 %)", or that they are too few. In arena. */
const char *report_calibration_share(const struct calibration_share *share, struct arena *arena);
/* Sentences beside that of this study: about all studies, by what intervals rest on, what the range
 * is. In arena. */
size_t report_calibration_lines(const struct calibration *calibration, struct arena *arena,
                                const char *const **ret_lines);
json_t *report_calibration_json(const struct calibration *calibration); /* null for NULL */

/* Sentences beside the figures of an estimate: corrected intervals, what lacks for one, and the
 * outside view. Where nothing was ever kept only with `verbose`. is_block: the corrections alone.
 * In arena; none for NULL. */
size_t report_calibrated_lines(const struct calibrated *calibrated, bool is_block, bool verbose,
                               struct arena *arena, const char *const **ret_lines);
json_t *report_calibrated_json(const struct calibrated *calibrated); /* null for NULL */
