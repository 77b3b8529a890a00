/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a Python interpreter keeps its libraries, told from files alone (as CPython's own getpath
 * does it: pyvenv.cfg beside the program or one folder up, before links are followed). Starts
 * nothing.
 */
#pragma once

#include "probe/paths.h"

#include <stdbool.h>
#include <stddef.h>

enum python_kind { PYTHON_SYSTEM = 0, PYTHON_VENV, PYTHON_CONDA };
const char *python_kind_name(enum python_kind kind); /* "system", "venv", "conda" */

struct python {
    char path[PATH_MAX];   /* the program as it was found */
    char prefix[PATH_MAX]; /* sys.prefix */
    char base[PATH_MAX];   /* sys.base_prefix */
    char library[32];      /* "python3.11", "pypy3.10"; "" when not found */
    char version[32];      /* "3.11.2", or only "3.11" where no file says more; "" when not found */
    enum python_kind kind;
    bool system_site; /* a venv that shows its base's packages */
};

bool python_name_is(const char *name); /* "python", "python3", "python3.11", "pypy3" … */

/* `program` is an absolute path. False when no library folder belongs to it. */
bool python_locate(const struct root *root, const char *program, struct python *ret);

/* The folders that hold packages, in the order of sys.path; existing ones only. Caller gives room
 * for PYTHON_FOLDERS. */
#define PYTHON_FOLDERS 32
struct python_folders {
    char *path[PYTHON_FOLDERS]; /* owned */
    size_t count;
};
void python_folders(const struct root *root, const struct python *python,
                    const struct variables *variables, struct python_folders *ret);
void python_folders_done(struct python_folders *folders);
