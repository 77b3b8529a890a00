/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See mounts.h. A machine with thousands of mounts is read in full, but never more than the limit.
 */
#include "probe/mounts.h"

#include <string.h>

#define MOUNTINFO_LIMIT ((size_t)16 << 20)

int mounts_open(const struct root *root, struct mounts *ret) {
    return lines_open(root, "/proc/self/mountinfo", MOUNTINFO_LIMIT, &ret->lines);
}

void mounts_close(struct mounts *mounts) {
    lines_close(&mounts->lines);
}

/* Cuts the next word off; NULL when there is none. */
static char *next_word(char **cursor) {
    char *word = *cursor;
    if (word == NULL || *word == '\0') {
        return NULL;
    }
    char *blank = strchr(word, ' ');
    if (blank != NULL) {
        *blank = '\0';
    }
    *cursor = blank != NULL ? blank + 1 : NULL;
    return word;
}

/* Blank, tab, newline and backslash are written as three octal digits (proc(5)). In place: it only
 * gets shorter. */
static void unescape(char *text) {
    char *out = text;
    for (const char *at = text; *at != '\0'; at++) {
        if (at[0] == '\\' && at[1] >= '0' && at[1] <= '3' && at[2] >= '0' && at[2] <= '7' &&
            at[3] >= '0' && at[3] <= '7') {
            *out++ = (char)((at[1] - '0') << 6 | (at[2] - '0') << 3 | (at[3] - '0'));
            at += 3;
        } else {
            *out++ = *at;
        }
    }
    *out = '\0';
}

/* id parent major:minor root point options [optional...] - type source super */
static bool parse(char *line, struct mount *ret) {
    char *cursor = line;
    char *words[6];
    for (size_t i = 0; i < 6; i++) {
        words[i] = next_word(&cursor);
        if (words[i] == NULL) {
            return false;
        }
    }
    const char *word;
    do {
        word = next_word(&cursor);
    } while (word != NULL && strcmp(word, "-") != 0);
    char *type = next_word(&cursor);
    if (word == NULL || type == NULL || words[3][0] != '/' || words[4][0] != '/') {
        return false;
    }
    char *source = next_word(&cursor);
    const char *super = next_word(&cursor);
    unescape(words[3]);
    unescape(words[4]);
    if (source != NULL) {
        unescape(source);
    }
    *ret = (struct mount){.root = words[3],
                          .point = words[4],
                          .options = words[5],
                          .type = type,
                          .source = source != NULL ? source : "",
                          .super = super != NULL ? super : ""};
    return true;
}

int mounts_next(struct mounts *mounts, struct mount *ret) {
    char *line;
    int rc;
    while ((rc = lines_next(&mounts->lines, &line)) == 1) {
        if (parse(line, ret)) {
            return 1;
        }
    }
    return rc;
}

static const char *find_option(const char *options, const char *word, size_t length) {
    for (const char *at = options; at != NULL; at = strchr(at, ',')) {
        if (*at == ',') {
            at++;
        }
        if (strncmp(at, word, length) == 0) {
            return at + length;
        }
    }
    return NULL;
}

bool mount_has_option(const char *options, const char *word) {
    size_t length = strlen(word);
    for (const char *at = options; (at = find_option(at, word, length)) != NULL;) {
        if (*at == ',' || *at == '\0') {
            return true;
        }
        at = strchr(at, ',');
        if (at == NULL) {
            return false;
        }
    }
    return false;
}

const char *mount_option_value(const char *options, const char *key) {
    return find_option(options, key, strlen(key));
}

const char *path_below(const char *path, const char *base) {
    size_t length = strlen(base);
    while (length > 0 && base[length - 1] == '/') {
        length--; /* "/" is the empty prefix */
    }
    if (strncmp(path, base, length) != 0 || (path[length] != '\0' && path[length] != '/')) {
        return NULL;
    }
    return path + length;
}
