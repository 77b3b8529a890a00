/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of the NVTX receiver. It lives in somebody else's process: no allocation, no lock, no
 * signal, no output but lines of the marks file, nothing left open, errno as it was. All state is
 * in fixed tables of atomics, since callbacks come from any thread, and from children of fork.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NVTX_NAME_BYTES  128u /* longer names are never mapped */
#define NVTX_SHOWN_BYTES 80u  /* of a name in a report */
#define NVTX_MAPPINGS    64u
#define NVTX_PHASE_BYTES 64u
#define NVTX_NAMES       32u /* that no rule maps and that are reported */

/* ---- nvtx-names.c: which range stands for what ---- */

struct nvtx_mapping {
    char name[NVTX_NAME_BYTES];
    size_t length;
    unsigned phase; /* place in the list of phases */
};

struct nvtx_text {
    const char *bytes;
    size_t length;
};

/* "NAME=PHASE;NAME=PHASE", percent-encoded (exec/agents.c writes it). Returns how many were taken.
 */
size_t nvtx_names_init(const char *map);
const struct nvtx_mapping *nvtx_mapping_at(size_t index);
const char *nvtx_phase_name(unsigned phase);
unsigned nvtx_phase_count(void);
/* Place of the mapping for a range of that name, in that domain ("" in the default one); -1: none.
 */
int nvtx_find_mapping(struct nvtx_text domain, struct nvtx_text name);
/* A range that no rule maps was seen. True: its name is new, and `*ret_count` are known now. */
bool nvtx_note_name(struct nvtx_text name, unsigned *ret_count);
/* The name at that place; "" where it is not written yet. */
const char *nvtx_noted_name(unsigned index);

/* ---- nvtx-report.c: lines ---- */

/* False: there is nowhere to report to. */
bool nvtx_report_init(void);
void nvtx_report_hello(void);
/* False: this process only borrows the memory of the one whose state this is (vfork). To be asked
 * before anything of a mapped range is changed; a child of fork begins anew with it. */
bool nvtx_report_is_here(void);
/* A range of that mapping begins and ends; of ranges of one phase that overlap the outermost
 * counts. */
void nvtx_report_begin(int mapping);
void nvtx_report_end(int mapping);
void nvtx_report_mark(int mapping); /* a phase begins, and has no end of its own */
void nvtx_report_ranges(uint64_t seen);
void nvtx_report_trouble(const char *reason);
void nvtx_report_finish(uint64_t seen); /* what is still to be said, at the end of the process */
