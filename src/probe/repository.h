/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a local clone of somebody's code says of itself: licences, requirements, commands, builds,
 * paths, data, models, options, seeds. Facts with file and line; nothing is judged, nothing is
 * executed but the git program with all that a repository can name switched off (git-run.h), and no
 * network is used. The clone may be hostile: it is read within limits of files, bytes, lines and
 * time, links are not followed, and only regular files are opened.
 *
 * All paths are relative to the folder. "at" is "file:line".
 */
#pragma once

#include "base/err.h"
#include "base/json.h"

#include <stdint.h>

struct repository_limits { /* 0: the usual ones */
    uint64_t entries;      /* files and folders that are listed */
    uint64_t bytes;        /* that are read in all */
    uint64_t file_bytes;   /* of one file; larger ones are left out */
    int64_t budget_ns;     /* of CLOCK_MONOTONIC, for the reading */
};

/*
 * {folder, code{…as in the ENVIRONMENT record}, files, bytes, complete, limits[text],
 *  left_out{links_outside[], special[], binary, large[], folders[]},
 *  licences[{file, licence, top}], above: the same of the repository that the folder lies in
 *  requirements[{name, specifier, marker, url, at, file, kind, group}],
 *  includes[{path, at, found}], indexes[{url, at}], pythons[{specifier, at}], images[{image, at}],
 *  commands[{kind, path, at, found}], architectures[{arch, ptx, at}], compilers[{what, at}],
 *  paths[{path, at}], data[{path, at, ignored}], models[{id, call, revision, dataset, at}],
 *  python[{file, imports[], modules[{module, name, at}], keywords[{name, at}], main,
 *          options[{flags[], choices[], at}], open_options, seeds[{what, at}], works[{what, at}],
 *          cuda[{what, at}]}]}
 * -ENOENT, -ENOTDIR, -EACCES ("repository-unreadable"): the folder itself cannot be read.
 */
int repository_read(const char *folder, const struct repository_limits *limits,
                    json_t **ret_repository, struct err *err);
