/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The strings and scalars of a TOML document as "table.key" with their line: enough to read the
 * tables of packages out of pyproject.toml, Pipfile and lock files. No validator: what it does not
 * understand it leaves out, and it never reads behind the text. (Debian has no C library for TOML.)
 */
#pragma once

#include "base/strbuf.h"

/* path: "project.dependencies"; an element of an array has its array's path. text: a string's
 * content or a scalar as written. began: how many [[…]] headers came before, so that keys of one
 * such table can be told from the next one's. */
typedef void toml_visit(void *context, const char *path, const char *text, unsigned line,
                        unsigned began);

void toml_read(const char *text, toml_visit *visit, void *context);
