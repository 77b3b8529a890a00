/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What other conditions did: the runs of each in their order, and which of them may behave alike.
 * Only how runs of one condition differ from each other is ever taken from here, never how long
 * they took. Borrowed views: nothing here owns anything.
 */
#pragma once

#include <stddef.h>

struct history_condition {
    const char *name;      /* unique in the history */
    const char *label;     /* for people; NULL: the name */
    const char *family;    /* conditions that may behave alike: a block of a study; never NULL */
    const double *seconds; /* wall times of the good runs, in order; finite, > 0 */
    size_t count;          /* with fewer than 2 it shows nothing and is passed over */
};

struct history {
    const struct history_condition *conditions;
    size_t count;
};
