/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The use case of `probelauf review`: the kept estimates of a study and what people answered,
 * handed to the rule (rules/review.h); and taking down such an answer.
 */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "rules/review.h"
#include "work/study.h"

struct work_review_options {
    const char *name;  /* of the kept estimate; NULL: of each block its own */
    const char *block; /* id; NULL: all */
};

/* estimate: of now, must live as long as the review. "block-unknown", "estimate-unknown",
 * "estimate-foreign". */
int work_review_make(struct work_study *study, const struct estimate *estimate,
                     const struct work_review_options *options, struct arena *arena,
                     struct review *ret, struct err *err);

/* The parts of a review that can be answered: names of lines, NULL behind the last. */
const char *work_review_part(size_t index);

/* Records what people say about a deviation (event "review-answer"). "block-unknown",
 * "review-part", "review-cause", "review-why". */
struct work_review_answer {
    const char *block, *part, *cause, *why;
};
int work_review_write(struct work_study *study, const struct place *place, struct store *store,
                      const struct work_review_answer *answer, struct err *err);
