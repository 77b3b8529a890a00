/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What reading commands begin with: the place and the open view on ledger and live journals. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "work/place.h"
#include "work/runs.h"

/* Ledger and journal folders by option, variable, configuration file, built-in. -EINVAL: broken
 * configuration. */
int cli_place(struct arena *arena, struct place *ret_place, struct err *err);

/* Opens and says the view's warning, if any, on standard error. */
int view_open(struct arena *arena, struct runs **ret_runs, struct err *err);
