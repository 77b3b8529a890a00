/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The installed packages of an interpreter, read from what installers leave behind (*.dist-info,
 * *.egg-info, *.egg,
 * *.egg-link, conda-meta). Starts no Python. Bounded in number and time.
 */
#pragma once

#include "base/digest.h"
#include "base/json.h"
#include "probe/python-layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct package_budget {
    size_t left; /* packages that may still be added */
    int64_t deadline_mono_ns;
    bool ended_by_count, ended_by_time;
};

/* Adds {name, version, interpreter: prefix, editable?, commit?, manager?} per package to
 * `packages`; the first folder of sys.path that has a package shadows later ones. *ret_count: how
 * many. ret_digest: SHA-256 over the sorted lines "normalized-name==version[@commit]\n"; "" when
 * the budget ended the list. */
void python_packages(const struct root *root, const struct python *python,
                     const struct variables *variables, struct package_budget *budget,
                     json_t *packages, size_t *ret_count, char ret_digest[SHA256_HEX_SIZE]);

/* PEP 503: lower case, runs of '-', '_', '.' become one '-'. Owned. */
char *package_normalize(const char *name);
