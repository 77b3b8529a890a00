/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What renderers for people say of a run's GPUs and weights. Internal to report/. */
#pragma once

#include "model/run.h"
#include "report/layout.h"
#include "report/report.h"

#include <stdbool.h>

void run_text_gpus(struct strbuf *out, struct report_style style, const struct run *run);
/* Cold or warm and where from; nothing where no file of weights is known. */
void run_text_weights(struct strbuf *out, struct report_style style, const struct run *run);
/* The first GPU in one sentence; false: there is nothing to say. */
bool run_text_add_gpu_line(struct strbuf *out, struct report_style style, const struct run *run);
