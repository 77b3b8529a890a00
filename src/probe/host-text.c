/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See host-text.h. */
#include "probe/host-text.h"

#include "probe/lines.h"

#include <ctype.h>
#include <string.h>

bool host_first_line(const struct root *root, const char *path, char *ret_text, size_t size) {
    char text[1024];
    if (root_read_buf(root, path, text, sizeof text) <= 0) {
        return false;
    }
    text[strcspn(text, "\n")] = '\0';
    const char *start = text + strspn(text, " \t\r");
    size_t length = strlen(start);
    while (length > 0 && strchr(" \t\r", start[length - 1]) != NULL) {
        length--;
    }
    if (length == 0 || length >= size) {
        return false;
    }
    memcpy(ret_text, start, length);
    ret_text[length] = '\0';
    return true;
}

/* Shell-like quoting as os-release(5) allows it; no expansion, no concatenation. */
static bool unquote(const char *value, char *ret_text, size_t size) {
    char quote = *value == '"' || *value == '\'' ? *value : '\0';
    const char *at = quote != '\0' ? value + 1 : value;
    size_t length = 0;
    for (; *at != '\0' && *at != '\n' && *at != quote; at++) {
        if (*at == '\\' && quote != '\'' && at[1] != '\0' && at[1] != '\n') {
            at++;
        }
        if (length + 1 >= size) {
            return false;
        }
        ret_text[length++] = *at;
    }
    while (quote == '\0' && length > 0 && isspace((unsigned char)ret_text[length - 1])) {
        length--;
    }
    ret_text[length] = '\0';
    return length > 0;
}

bool os_release_value(const char *text, const char *key, char *ret_text, size_t size) {
    size_t length = strlen(key);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        if (*line == '\n') {
            line++;
        }
        if (strncmp(line, key, length) == 0 && line[length] == '=') {
            return unquote(line + length + 1, ret_text, size);
        }
    }
    return false;
}

bool cpu_list_parse(const char *text, struct cpu_list *ret) {
    struct cpu_list out = {0};
    const char *at = text + strspn(text, " \t");
    while (*at != '\0' && *at != '\n') {
        uint64_t first, last;
        if (!isdigit((unsigned char)*at) || !field_u64(&at, &first)) {
            return false;
        }
        last = first;
        if (*at == '-') {
            at++;
            if (!isdigit((unsigned char)*at) || !field_u64(&at, &last)) {
                return false;
            }
        }
        if (last < first || last >= CPU_SET_MAX) {
            return false;
        }
        for (uint64_t cpu = first; cpu <= last; cpu++) {
            out.bits[cpu / 8] |= (unsigned char)(1u << (cpu % 8));
        }
        if (*at == ',') {
            at++;
        } else if (*at != '\0' && *at != '\n') {
            return false;
        }
    }
    *ret = out;
    return true;
}

size_t cpu_list_count(const struct cpu_list *list) {
    size_t count = 0;
    for (size_t i = 0; i < sizeof list->bits; i++) {
        count += (size_t)__builtin_popcount(list->bits[i]);
    }
    return count;
}

void cpu_list_intersect(struct cpu_list *list, const struct cpu_list *other) {
    for (size_t i = 0; i < sizeof list->bits; i++) {
        list->bits[i] &= other->bits[i];
    }
}

static bool online_by_stat(const struct root *root, struct cpu_list *ret) {
    struct lines lines AUTO_LINES;
    struct cpu_list out = {0};
    char *line;
    if (lines_open(root, "/proc/stat", (size_t)4 << 20, &lines) < 0) {
        return false;
    }
    bool any = false;
    while (lines_next(&lines, &line) == 1) {
        const char *at = line + 3;
        uint64_t cpu;
        if (strncmp(line, "cpu", 3) == 0 && isdigit((unsigned char)*at) && field_u64(&at, &cpu) &&
            *at == ' ' && cpu < CPU_SET_MAX) {
            out.bits[cpu / 8] |= (unsigned char)(1u << (cpu % 8));
            any = true;
        }
    }
    if (any) {
        *ret = out;
    }
    return any;
}

bool host_cpus_online(const struct root *root, struct cpu_list *ret, const char **ret_method) {
    char text[1024];
    if (host_first_line(root, "/sys/devices/system/cpu/online", text, sizeof text) &&
        cpu_list_parse(text, ret) && cpu_list_count(ret) > 0) {
        *ret_method = "/sys/devices/system/cpu/online";
        return true;
    }
    *ret_method = "/proc/stat, cpuN lines";
    return online_by_stat(root, ret);
}
