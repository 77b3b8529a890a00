/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small texts of a machine: first lines, os-release values, lists of CPUs. No judgement. */
#pragma once

#include "base/root.h"

#include <stdbool.h>
#include <stddef.h>

/* First line of a small file without blanks at its ends. False when it cannot be read or is empty.
 */
bool host_first_line(const struct root *root, const char *path, char *ret_text, size_t size);

/* Value of KEY= in os-release(5) text, quotes and backslashes removed. False when absent or empty.
 */
bool os_release_value(const char *text, const char *key, char *ret_text, size_t size);

/* A set of CPU numbers as the kernel writes it: "0-3,8,10-11" ("" is the empty set). */
#define CPU_SET_MAX 8192
struct cpu_list {
    unsigned char bits[CPU_SET_MAX / 8];
};
bool cpu_list_parse(const char *text,
                    struct cpu_list *ret); /* false: no such list, or numbers beyond the maximum */
size_t cpu_list_count(const struct cpu_list *list);
void cpu_list_intersect(struct cpu_list *list, const struct cpu_list *other);

/* The CPUs that are online: /sys/devices/system/cpu/online, else the cpuN lines of /proc/stat. */
bool host_cpus_online(const struct root *root, struct cpu_list *ret, const char **ret_method);
