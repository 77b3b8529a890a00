/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which rule of a clone's .gitignore files keeps a path out of it (gitignore(5)): why a file that
 * scripts name is not there. Without the git program, so that an archive without .git tells it too.
 * The user's own excludes are no part of a clone and are not looked at.
 */
#include "probe/repository-parts.h"

#include "base/fd.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define IGNORE_LIMIT ((size_t)256 << 10)

/* One rule against a path relative to its file's folder; folders of the path count as well. */
static bool rule_takes(char *rule, const char *path) {
    size_t length = strlen(rule);
    bool only_folders = length > 1 && rule[length - 1] == '/';
    if (only_folders)
        rule[length - 1] = '\0';
    bool anchored = strchr(rule, '/') != NULL;
    const char *pattern = rule[0] == '/' ? rule + 1 : rule;
    if (strncmp(pattern, "**/", 3) == 0) {
        pattern += 3;
        anchored = strchr(pattern, '/') != NULL;
    }
    AUTO_FREE char *part = mem_strdup(path);
    for (char *end = part;;) {
        char *slash = strchr(end, '/');
        if (slash != NULL)
            *slash = '\0';
        const char *name = anchored ? part : end;
        if ((slash != NULL || !only_folders) &&
            fnmatch(pattern, name, anchored ? FNM_PATHNAME : 0) == 0)
            return true;
        if (slash == NULL)
            return false;
        *slash = '/';
        end = slash + 1;
    }
}

static void look_into(struct repository *repository, const char *folder, const char *path,
                      const char **ret) {
    const char *file =
        folder[0] == '\0' ? ".gitignore" : arena_printf(repository->arena, "%s/.gitignore", folder);
    const struct repository_entry *entry = repository_find(repository, file);
    if (entry == NULL || entry->kind != REPOSITORY_FILE || entry->size > IGNORE_LIMIT)
        return;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    struct stat status;
    AUTO_CLOSE int fd =
        openat(repository->fd, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
        fd_read_all(fd, IGNORE_LIMIT, &text) < 0)
        return;
    const char *at = strbuf_str(&text);
    for (unsigned number = 1; repository_next_line(&at, &line); number++) {
        while (line.length > 0 && line.data[line.length - 1] == ' ')
            line.data[--line.length] = '\0';
        bool negated = line.length > 0 && line.data[0] == '!';
        if (line.length == 0 || line.data[0] == '#')
            continue;
        if (rule_takes(line.data + negated, path + (folder[0] != '\0' ? strlen(folder) + 1 : 0)))
            *ret = negated ? NULL : arena_printf(repository->arena, "%s:%u", file, number);
    }
}

const char *repository_ignored_by(struct repository *repository, const char *path) {
    const char *rule = NULL;
    look_into(repository, "", path, &rule);
    for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/'))
        look_into(repository, arena_strndup(repository->arena, path, (size_t)(slash - path)), path,
                  &rule);
    return rule;
}
