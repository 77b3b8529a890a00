/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See paths.h. */
#include "probe/paths.h"

#include "base/fd.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define LINKS_MAX 40

bool path_join(char ret_path[PATH_MAX], const char *folder, const char *name) {
    bool absolute = name[0] == '/';
    const char *base = absolute || strcmp(folder, "/") == 0 ? "" : folder;
    char out[PATH_MAX]; /* ret_path may be one of the two */
    int length = snprintf(out, sizeof out, "%s%s%s", base, absolute ? "" : "/", name);
    if (length <= 0 || length >= PATH_MAX) {
        return false;
    }
    memcpy(ret_path, out, (size_t)length + 1);
    return true;
}

void path_parent(const char *path, char ret_path[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
    memmove(ret_path, path, length);
    ret_path[length] = '\0';
}

const char *path_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Takes "//", "/./" and "/x/.." away. Wrong where x is a link to a folder elsewhere; interpreters'
 * links are not. */
static void normalize(char *path) {
    char *out = path;
    for (const char *at = path; *at != '\0';) {
        const char *end = strchr(at + 1, '/');
        size_t length = end != NULL ? (size_t)(end - at) : strlen(at);
        if (length == 1 || (length == 2 && at[1] == '.')) {
            /* nothing between two slashes */
        } else if (length == 3 && at[1] == '.' && at[2] == '.') {
            while (out > path && *--out != '/') {
            }
        } else {
            memmove(out, at, length);
            out += length;
        }
        at += length;
    }
    if (out == path) {
        *out++ = '/';
    }
    *out = '\0';
}

bool path_follow(const struct root *root, const char *path, char ret_path[PATH_MAX]) {
    char target[PATH_MAX];
    if (path[0] != '/' || strlen(path) >= PATH_MAX) {
        return false;
    }
    memmove(ret_path, path, strlen(path) + 1);
    for (int links = 0; links < LINKS_MAX; links++) {
        normalize(ret_path);
        ssize_t length = root_readlink(root, ret_path, target, sizeof target);
        if (length <= 0) {
            return root_exists(root, ret_path); /* no link: this is it */
        }
        char folder[PATH_MAX];
        path_parent(ret_path, folder);
        if (!path_join(ret_path, folder, target)) {
            return false;
        }
    }
    return false;
}

DIR *path_open_folder(const struct root *root, const char *path) {
    AUTO_CLOSE int fd = root_open(root, path, O_RDONLY | O_DIRECTORY);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder != NULL) {
        fd = -1; /* the stream's now */
    }
    return folder;
}

bool path_is_folder(const struct root *root, const char *path) {
    AUTO_CLOSE int fd = root_open(root, path, O_PATH | O_DIRECTORY);
    return fd >= 0;
}

/* Links are followed by ourselves, so that those of a recorded machine stay below its prefix. */
static bool is_file(const struct root *root, const char *path) {
    char real[PATH_MAX];
    return path_follow(root, path, real) && !path_is_folder(root, real);
}

bool path_find_program(const struct root *root, const char *name, const char *path_variable,
                       const char *cwd, char ret_path[PATH_MAX]) {
    if (name[0] == '\0') {
        return false;
    }
    if (strchr(name, '/') != NULL) {
        return (name[0] == '/' || cwd != NULL) && path_join(ret_path, cwd, name) &&
               is_file(root, ret_path);
    }
    for (const char *at = path_variable; at != NULL;) {
        size_t length = strcspn(at, ":");
        char folder[PATH_MAX];
        int wrote = snprintf(folder, sizeof folder, "%.*s", (int)length, length > 0 ? at : ".");
        at = at[length] == ':' ? at + length + 1 : NULL;
        if (wrote < 0 || wrote >= PATH_MAX) {
            continue;
        }
        if (length == 0 ||
            folder[0] != '/') { /* an empty or relative part means the working folder */
            if (cwd == NULL || !path_join(folder, cwd, length > 0 ? folder : ".")) {
                continue;
            }
        }
        if (path_join(ret_path, folder, name) && is_file(root, ret_path)) {
            return true;
        }
    }
    return false;
}

static const char *value_if(const char *entry, const char *name, size_t length) {
    return strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1 : NULL;
}

const char *variable_get(const struct variables *variables, const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; variables->list != NULL && variables->list[i] != NULL; i++) {
        const char *value = value_if(variables->list[i], name, length);
        if (value != NULL) {
            return value;
        }
    }
    for (size_t at = 0; variables->list == NULL && at < variables->block_length;) {
        const char *value = value_if(variables->block + at, name, length);
        if (value != NULL) {
            return value;
        }
        at += strlen(variables->block + at) + 1;
    }
    return NULL;
}
