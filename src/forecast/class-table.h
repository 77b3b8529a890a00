/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table behind the reference classes, made by tools/derive-classes; internal to forecast/ and
 * its tests. Everything else goes through classes.h.
 */
#pragma once

#include "forecast/classes.h"

#define CLASS_RUNS_MOST 6u

enum class_kind {
    CLASS_TRAINING_STEPS = 0,
    CLASS_TRAINING_GOAL,
    CLASS_INFERENCE,
    CLASS_COMMAND,
    CLASS_KIND_COUNT_
};

struct class_condition {
    size_t source; /* in class_sources */
    enum class_kind kind;
    const char *family, *name; /* as its source has them */
    size_t count;              /* 2 to CLASS_RUNS_MOST */
    double seconds[CLASS_RUNS_MOST];
};

struct forecast_class {
    const char *name;
    unsigned kinds; /* bits 1u << enum class_kind */
    struct class_failures failures;
};

extern const struct class_source class_sources[];
extern const size_t class_source_count;
extern const struct class_condition class_conditions[];
extern const size_t class_condition_count;
extern const struct forecast_class class_table[];
extern const size_t class_table_count;
