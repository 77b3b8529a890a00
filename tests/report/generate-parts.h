/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two halves of generate-study.h share. Not for tests. */
#pragma once

#include "generate-study.h"

uint64_t generate_next(struct generated *g);
size_t generate_below(struct generated *g, size_t bound);
bool generate_chance(struct generated *g, unsigned percent);
const char *generate_of(struct generated *g, const char *const *words, size_t count);
const char *generate_text(struct generated *g);

extern const char *const generate_gpus[GENERATED_ENVIRONMENTS]; /* NULL: it has none */

/* Runs, freezes and sessions of the plan that was read. */
void generate_records(struct generated *g);
