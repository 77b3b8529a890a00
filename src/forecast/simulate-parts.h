/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files that draw futures share; internal to forecast/. */
#pragma once

#include "forecast/predict-parts.h"
#include "forecast/simulate.h"

/* The generator of a stream; own NULL: of what all parts of `shared` have in common. Free with
 * gsl_rng_free. */
gsl_rng *simulate_stream_new(uint64_t seed, const char *shared, const char *own);
/* DRAWN, its draws not set and nothing settled. */
struct futures simulate_drawn(size_t draws, struct arena *arena);
