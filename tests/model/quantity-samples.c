/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes quantities of every kind as JSON, one a line, for check-quantity-schema.py. Tests nothing
 * itself. */
#include "model/quantity.h"

#include <stdio.h>

static void print(const struct quantity *q) {
    AUTO_JSON json_t *json = quantity_to_json(q);
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    json_add_compact(&out, json);
    puts(strbuf_str(&out));
}

static struct quantity estimate(double value, enum quantity_bound bound) {
    return (struct quantity){.state = QUANTITY_ESTIMATED,
                             .bound = bound,
                             .unit = UNIT_BYTE,
                             .value = value,
                             .has_interval = true,
                             .level = 0.9,
                             .p05 = value / 2,
                             .p95 = value * 2 + 0.5,
                             .basis = "own-runs",
                             .n = 3};
}

int main(void) {
    static const char *const units[] = {NULL, "", "s", "byte", "core.s", "token/s", "\xff"};
    static const char *const sources[] = {"0192", "plan:3", "\xff\x01"};
    AUTO_ARENA struct arena *arena = arena_new();
    size_t count = 0;
    struct quantity_part parts[512];
    for (size_t unit = 0; unit < ARRAY_LENGTH(units); unit++) {
        for (enum quantity_reason reason = 0; reason < QUANTITY_REASON_COUNT_; reason++) {
            struct quantity open = quantity_open(units[unit], reason, "detail");
            open.method = "sampled 1 Hz";
            print(&open);
            if (unit == 3)
                parts[count++] = (struct quantity_part){"open", open};
        }
        for (enum quantity_bound bound = 0; bound < QUANTITY_BOUND_COUNT_; bound++) {
            struct quantity q =
                quantity_bounded(units[unit], 0, bound, unit % 2 == 0 ? "" : "read");
            print(&q);
            q.state = QUANTITY_ASSUMED;
            q.value = -1.5e-7;
            q.sources = sources;
            q.source_count = ARRAY_LENGTH(sources);
            q.n = UINT64_MAX;
            q.at_utc_ns = INT64_C(1796042096789000000);
            print(&q);
            if (unit == 3)
                parts[count++] = (struct quantity_part){"assumed\xfe", q};
            q = estimate(4096, bound);
            q.state = QUANTITY_ASSUMED; /* a forecast with something assumed in it */
            print(&q);
            q = estimate(4096, bound);
            print(&q);
            if (unit == 3)
                parts[count++] = (struct quantity_part){"estimated", q};
            q.has_interval = false;
            print(&q);
        }
    }
    for (size_t from = 0; from < count; from++) {
        for (size_t length = 0; from + length <= count; length++) {
            struct quantity sum = quantity_sum(arena, UNIT_BYTE, parts + from, length);
            print(&sum);
            const struct quantity_part outer = {"sum", sum};
            sum = quantity_sum(arena, UNIT_BYTE, &outer, 1);
            print(&sum);
        }
    }
    return 0;
}
