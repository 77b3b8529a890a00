/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See meminfo.h. */
#include "probe/meminfo.h"

#include "probe/lines.h"

int meminfo_read(const struct root *root, struct meminfo *ret) {
    *ret = (struct meminfo){0};
    struct lines lines AUTO_LINES;
    int rc = lines_open(root, "/proc/meminfo", 65536, &lines);
    if (rc < 0) {
        return rc;
    }
    struct meminfo out = {0};
    char *line;
    while ((rc = lines_next(&lines, &line)) == 1) {
        if (line_value(line, "MemTotal:", &out.total_bytes)) {
            out.has_total = true;
        } else if (line_value(line, "MemAvailable:", &out.available_bytes)) {
            out.has_available = true;
        } else if (line_value(line, "SwapTotal:", &out.swap_total_bytes)) {
            out.has_swap_total = true;
        }
    }
    if (rc == 0) {
        *ret = out;
    }
    return rc;
}
