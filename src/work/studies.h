/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The use case of `probelauf estimate --studies`: the newest kept estimate of every study in the
 * ledger, added up (rules/studies.h). */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "rules/studies.h"
#include "work/runs.h"
#include "work/study.h"

#include <stddef.h>

struct work_studies {
    struct arena *arena;
    json_t *events;    /* owned: what `studies` was read from */
    size_t without;    /* studies that have records, but no kept estimate */
    size_t unreadable; /* events that could not be read */
    struct studies studies;
};

/* at_hand: the study whose plan is here, so that it can be said whether its estimate still holds;
 * NULL: none is. Call work_studies_done also after a failure. */
int work_studies_open(struct runs *runs, const struct work_study *at_hand, struct work_studies *ret,
                      struct err *err);
void work_studies_done(struct work_studies *studies);
#define AUTO_WORK_STUDIES __attribute__((cleanup(work_studies_done)))
