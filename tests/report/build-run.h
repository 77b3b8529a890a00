/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs built by hand for the tests of report/: one of each kind that a renderer must cope with. */
#pragma once

#include "model/run.h"

#include <stddef.h>

struct run *build_empty(void);   /* nothing was read: every quantity open, every record empty */
struct run *build_ok(void);      /* a finished run with phases by marks, series, results, files */
struct run *build_plain(void);   /* a finished run without phases: `true` under probelauf run */
struct run *build_failed(void);  /* disk full, with a hostile line and note */
struct run *build_lost(void);    /* the monitor died */
struct run *build_running(void); /* a writer is alive */
struct run *build_wide(void);    /* command and condition in German and Korean */

/* Gives the run a series; value NaN where value is NULL. Arrays are copied. */
void build_series(struct run *run, const char *name, const char *unit, bool is_counter,
                  const double *time_s, const double *value, size_t count);
json_t *build_json(const char *text); /* fails the test on bad JSON */
