/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See git-files.h. Everything read here may be hostile: no path is followed that a ref name makes
 * up. */
#include "probe/git-files.h"

#include "base/str.h"
#include "probe/host-text.h"
#include "probe/lines.h"
#include "probe/paths.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define REF_DEPTH         5
#define PACKED_REFS_LIMIT ((size_t)64 << 20)

bool git_is_commit(const char *text) {
    size_t length = strspn(text, "0123456789abcdef");
    return text[length] == '\0' && (length == 40 || length == 64);
}

/* A file of a folder inside the repository: first line. */
static bool read_line(const struct root *root, const char *folder, const char *name,
                      char ret_text[PATH_MAX]) {
    char path[PATH_MAX];
    return path_join(path, folder, name) && host_first_line(root, path, ret_text, PATH_MAX);
}

static bool is_git_dir(const struct root *root, const char *folder) {
    char path[PATH_MAX];
    return path_join(path, folder, "HEAD") && root_exists(root, path);
}

/* .git is a folder, or a file "gitdir: PATH" (linked working trees, submodules). */
static bool open_git_dir(const struct root *root, const char *top, char ret_dir[PATH_MAX]) {
    char dot_git[PATH_MAX], line[PATH_MAX];
    if (!path_join(dot_git, top, ".git") || !root_exists(root, dot_git)) {
        return false;
    }
    if (is_git_dir(root, dot_git)) {
        memcpy(ret_dir, dot_git, PATH_MAX);
        return true;
    }
    if (!host_first_line(root, dot_git, line, sizeof line) || !str_starts_with(line, "gitdir: ")) {
        return false;
    }
    return path_join(ret_dir, top, line + strlen("gitdir: ")) && is_git_dir(root, ret_dir);
}

bool git_files_find(const struct root *root, const char *cwd, struct git_files *ret) {
    if (cwd[0] != '/' || strlen(cwd) >= sizeof ret->top) {
        return false;
    }
    (void)snprintf(ret->top, sizeof ret->top, "%s", cwd);
    for (;;) {
        if (open_git_dir(root, ret->top, ret->git_dir)) {
            char line[PATH_MAX];
            if (!read_line(root, ret->git_dir, "commondir", line) ||
                !path_join(ret->common, ret->git_dir, line)) {
                memcpy(ret->common, ret->git_dir, sizeof ret->common);
            }
            return true;
        }
        char *slash = strrchr(ret->top, '/');
        if (ret->top[1] == '\0') {
            return false;
        }
        slash[slash == ret->top ? 1 : 0] = '\0';
    }
}

/* refs/heads/x, and nothing that climbs out of the repository (git-check-ref-format(1) forbids
 * ".."). */
static bool ref_is_safe(const char *ref) {
    return str_starts_with(ref, "refs/") && strstr(ref, "..") == NULL;
}

/* "<hex> <ref>" lines, comments '#', peeled tags '^'. */
static bool packed_ref(const struct root *root, const char *common, const char *ref,
                       char ret_commit[GIT_COMMIT_SIZE]) {
    char path[PATH_MAX];
    struct lines lines AUTO_LINES;
    lines.fd = -1;
    if (!path_join(path, common, "packed-refs") ||
        lines_open(root, path, PACKED_REFS_LIMIT, &lines) < 0) {
        return false;
    }
    char *line;
    while (lines_next(&lines, &line) == 1) {
        char *blank = strchr(line, ' ');
        if (blank == NULL || strcmp(blank + 1, ref) != 0) {
            continue;
        }
        *blank = '\0';
        if (git_is_commit(line)) {
            memcpy(ret_commit, line, strlen(line) + 1);
            return true;
        }
    }
    return false;
}

bool git_files_head(const struct root *root, const struct git_files *files,
                    char ret_commit[GIT_COMMIT_SIZE], char ret_branch[GIT_BRANCH_SIZE]) {
    char text[PATH_MAX], ref[PATH_MAX];
    ret_branch[0] = '\0';
    if (!read_line(root, files->git_dir, "HEAD", text)) {
        return false;
    }
    for (int depth = 0; depth < REF_DEPTH; depth++) {
        if (git_is_commit(text)) {
            memcpy(ret_commit, text, strlen(text) + 1);
            return true;
        }
        if (!str_starts_with(text, "ref: ") || !ref_is_safe(text + 5)) {
            return false;
        }
        memmove(ref, text + 5, strlen(text + 5) + 1);
        if (depth == 0 && str_starts_with(ref, "refs/heads/") &&
            strlen(ref) - strlen("refs/heads/") < GIT_BRANCH_SIZE) {
            (void)snprintf(ret_branch, GIT_BRANCH_SIZE, "%.*s", GIT_BRANCH_SIZE - 1,
                           ref + strlen("refs/heads/"));
        }
        if (!read_line(root, files->git_dir, ref, text) &&
            !read_line(root, files->common, ref, text)) {
            return packed_ref(root, files->common, ref, ret_commit);
        }
    }
    return false;
}

/* [remote "origin"] … url = VALUE. Includes and quoting beyond surrounding quotes are git's
 * business. */
bool git_files_remote(const struct root *root, const struct git_files *files,
                      struct strbuf *ret_url) {
    char path[PATH_MAX];
    struct lines lines AUTO_LINES;
    lines.fd = -1;
    if (!path_join(path, files->common, "config") || lines_open(root, path, 1 << 20, &lines) < 0) {
        return false;
    }
    char *line;
    bool in_remote = false, in_origin = false, found = false;
    while (lines_next(&lines, &line) == 1) {
        const char *at = line + strspn(line, " \t");
        if (*at == '[') {
            in_remote = str_starts_with(at, "[remote ");
            in_origin = str_starts_with(at, "[remote \"origin\"]");
            continue;
        }
        if (!in_remote || (found && !in_origin) || strncasecmp(at, "url", 3) != 0) {
            continue;
        }
        at += 3 + strspn(at + 3, " \t");
        if (*at != '=') {
            continue;
        }
        at++;
        at += strspn(at, " \t\"");
        size_t length = strcspn(at, "\"\r");
        while (length > 0 && isspace((unsigned char)at[length - 1])) {
            length--;
        }
        strbuf_clear(ret_url);
        strbuf_add(ret_url, at, length);
        found = length > 0;
        if (found && in_origin) {
            return true;
        }
    }
    return found;
}
