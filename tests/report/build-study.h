/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Studies and estimates built by hand for the tests of report/: what rules/ may hand over, at its
 * extremes. */
#pragma once

#include "report/study.h"

enum build_study {
    BUILD_STUDY_EMPTY = 0, /* a plan in which nothing is said */
    BUILD_STUDY_FOUR,      /* four blocks, one done, one under way, one tried, one planned */
    BUILD_STUDY_HOSTILE,   /* the same with texts that are markup, escapes, wide, formulas */
    BUILD_STUDY_TEN,       /* ten blocks, one with 30 conditions; a GPU; nothing open but idle */
    BUILD_STUDY_COUNT_
};
extern const char *const build_study_names[BUILD_STUDY_COUNT_];

struct built_study {
    struct arena *arena; /* owns everything but the runs */
    struct run *runs[4]; /* owned */
    size_t run_count;
    const struct run *run_list[4];
    struct plan plan;
    struct study_input input;
    struct study study;
    struct estimate estimate;
    struct cost cost;
    struct decision decision;
    struct report_frozen frozen[2];
    struct plan_complaints complaints;
    struct plan_complaint complaint;
    struct report_document document;
};

void build_study(enum build_study kind, struct built_study *ret);
void built_study_done(struct built_study *built);
#define AUTO_BUILT_STUDY __attribute__((cleanup(built_study_done)))
