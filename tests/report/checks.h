/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of report/ share: golden files, and JSON against schema/. Both fail the test that
 * calls them. */
#pragma once

#include "base/json.h"
#include "base/strbuf.h"

#include <stdbool.h>

/* tests/report/golden/NAME. PROBELAUF_GOLDEN_WRITE=1 writes it anew: read the difference before it
 * is committed. */
void check_golden(const char *name, const struct strbuf *text);

/* Is there a Python with jsonschema? If not, a test exits with 77. */
bool schema_can_check(void);
/* Collects a document (at most 64); its "schema" key names the schema. A name that begins with
 * "bad-" must be refused. */
void schema_put(const char *name, json_t *take_json);
/* Checks and forgets what was collected; 0: all as expected. */
int schema_check(void);
