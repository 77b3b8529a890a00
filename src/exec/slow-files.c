/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of weights in use, see slow-files.h. Bounded in processes, descriptors and lines; a process
 * that has gone or is not ours is passed over. */
#include "exec/slow-files.h"

#include "base/str.h"
#include "model/weights.h"
#include "probe/lines.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROCESSES_A_LOOK   32u
#define DESCRIPTORS_A_LOOK 1024u
#define MAPS_LIMIT         ((size_t)4 << 20)
#define MAPS_FIELDS        5 /* before the path: range, access, offset, device, inode */

struct look {
    struct slow_files *files;
    slow_file_fn each;
    void *context;
};

static bool may_be_weights(const char *path) {
    return path[0] == '/' && weights_is_file(path, INT64_MAX);
}

static bool was_told(const struct slow_files *files, const struct stat *info) {
    for (size_t i = 0; i < files->count; i++)
        if (files->device[i] == info->st_dev && files->inode[i] == info->st_ino)
            return true;
    return false;
}

static void tell(struct look *look, const char *path, const struct stat *info) {
    struct slow_files *files = look->files;
    struct slow_file file = {.bytes = info->st_size};
    if (!S_ISREG(info->st_mode) || !weights_is_file(path, info->st_size) ||
        files->count == SLOW_FILES_MAX || strlen(path) >= sizeof file.path || was_told(files, info))
        return;
    files->device[files->count] = info->st_dev;
    files->inode[files->count++] = info->st_ino;
    (void)snprintf(file.path, sizeof file.path, "%s", path);
    storage_name(&root_real, path, info->st_dev, file.storage);
    look->each(&file, look->context);
}

static void look_at_descriptors(struct look *look, pid_t pid) {
    char folder_path[64], target[PATH_MAX];
    struct dirent *entry;
    struct stat info;
    (void)snprintf(folder_path, sizeof folder_path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(folder_path);
    for (unsigned i = 0; folder && i < DESCRIPTORS_A_LOOK && (entry = readdir(folder)); i++) {
        ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
        if (length <= 0)
            continue;
        target[length] = '\0';
        if (may_be_weights(target) && fstatat(dirfd(folder), entry->d_name, &info, 0) == 0)
            tell(look, target, &info);
    }
    if (folder)
        closedir(folder);
}

static char *path_of_mapping(char *line) {
    for (int i = 0; i < MAPS_FIELDS; i++) {
        line += strcspn(line, " ");
        line += strspn(line, " ");
    }
    return line;
}

static void look_at_mappings(struct look *look, pid_t pid) {
    char path[64], last[PATH_MAX] = "", full[PATH_MAX + 64], *line;
    AUTO_LINES struct lines lines = {.fd = -1};
    struct stat info;
    (void)snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    if (lines_open(&root_real, path, MAPS_LIMIT, &lines) < 0)
        return;
    while (lines_next(&lines, &line) == 1) {
        const char *name = path_of_mapping(line);
        if (!may_be_weights(name) || strcmp(name, last) == 0 || strlen(name) >= sizeof last)
            continue;
        (void)snprintf(last, sizeof last, "%s", name);
        (void)snprintf(full, sizeof full, "/proc/%d/root%s", (int)pid, name);
        if (stat(full, &info) == 0)
            tell(look, name, &info);
    }
}

void slow_files_look(struct slow_files *files, const _Atomic int *pids, uint32_t pid_count,
                     slow_file_fn each, void *context) {
    struct look look = {files, each, context};
    for (uint32_t i = 0; i < PROCESSES_A_LOOK && i < pid_count; i++) {
        pid_t pid = atomic_load(&pids[files->next++ % pid_count]);
        if (files->count == SLOW_FILES_MAX)
            return;
        look_at_descriptors(&look, pid);
        look_at_mappings(&look, pid);
    }
}
