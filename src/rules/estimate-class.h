/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an estimate would be if the work varied as that of a reference class (forecast/classes.h):
 * only when somebody asks for it, and beside the estimate, never in it. Conditions with runs that
 * show no spread get an interval, and their failed attempts a cost; both `assumed`, basis
 * `assumed-class`. Nothing here enters a total that is used for deciding: that is made without a
 * class, and stays as it is.
 */
#pragma once

#include "forecast/classes.h"
#include "rules/estimate.h"

#define ESTIMATE_BASIS_CLASS "assumed-class"

struct estimate_class_part { /* what the class gives an interval, or a cost */
    const struct plan_block *block;
    enum component component;
    const char *name; /* of the item */
    struct quantity time;
};

struct estimate_class {
    const struct forecast_class *class;
    const char *sources; /* "llama_bench, Apache-2.0; …", in the arena */
    /* The same estimate, with what is assumed by the class in its figures. */
    const struct estimate *with;
    const struct estimate_class_part *parts;
    size_t part_count;
};

/* Makes the estimate anew with the class and puts what comes of it into estimate->by_class;
 * everything else of `estimate` stays. estimate: of the same study and options (whose class is
 * ignored). Errors as estimate_make. */
int estimate_class_make(const struct estimate_options *options, const struct forecast_class *class,
                        struct arena *arena, struct estimate *estimate, struct err *err);

/* "llama_bench, Apache-2.0; ripgrep_bench, Unlicense or MIT" */
const char *estimate_class_sources(const struct forecast_class *class, struct arena *arena);
