/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For which GPU architectures a shared object holds CUDA code, read from its .nv_fatbin section
 * without any tool or driver of NVIDIA: containers (16 bytes of head: magic 0xBA55ED50, version 1,
 * head size, size of what follows), in them entries (kind 1 PTX or 2 machine code, head size,
 * payload size, and at byte 28 the architecture: 90 is sm_90). The layout is not documented by the
 * vendor; several public readers agree on it. Payloads are skipped, not read.
 */
#pragma once

#include "base/json.h"
#include "base/root.h"
#include "probe/python-layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUDA_ARCHS_MAX 32u

struct cuda_archs {
    unsigned machine[CUDA_ARCHS_MAX]; /* sm_NN, ascending: 75, 80, 90, 120 */
    size_t machine_count;
    unsigned ptx[CUDA_ARCHS_MAX]; /* compute_NN */
    size_t ptx_count;
    uint64_t containers; /* that were looked at */
    bool complete;       /* the whole section was looked at; else there may be more */
};

/* -ENOENT and the like: it cannot be opened; -ENODATA: no CUDA code in it (no such section);
 * -ENOEXEC: not an ELF file of this machine's kind; -EBADMSG: no regular file, or a section that we
 * cannot read. budget_ns: of CLOCK_MONOTONIC, then what was found so far is returned, not complete.
 */
int cuda_archs_read(const struct root *root, const char *path, int64_t budget_ns,
                    struct cuda_archs *ret_archs);

/*
 * All packages below the folders of a Python interpreter that bring CUDA code, as their installers
 * listed their files (RECORD of *.dist-info): array of {package, version, interpreter, file,
 * machine: [sm numbers], ptx: [numbers], complete}. One entry a shared object; one that cannot be
 * read has no numbers and is not complete. *ret_complete: false when time or number ended the
 * search. Never NULL.
 */
json_t *cuda_wheels(const struct root *root, const struct python *python,
                    const struct variables *variables, int64_t budget_ns, bool *ret_complete);
