/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparing doubles; cmocka's own comparison is of floats. Needs cmocka.h before it. */
#pragma once

#include <math.h>

#define assert_near(value, expected, tolerance)                                      \
    do {                                                                             \
        double near_value_ = (value), near_expected_ = (expected);                   \
        if (!(fabs(near_value_ - near_expected_) <= (tolerance)))                    \
            fail_msg("%s is %.15g, not %.15g", #value, near_value_, near_expected_); \
    } while (0)
