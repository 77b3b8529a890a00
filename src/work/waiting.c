/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists the journal folders. Opens no journal and changes nothing. */
#include "work/waiting.h"

#include "base/str.h"
#include "base/uuid.h"
#include "journal/journal.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void waiting_done(struct waiting *waiting) {
    for (size_t i = 0; i < waiting->count; i++)
        free(waiting->paths[i]);
    free(waiting->paths);
    *waiting = (struct waiting){0};
}

static int by_name(const void *a, const void *b) {
    const char *path_a = *(const char *const *)a, *path_b = *(const char *const *)b;
    int order = strcmp(strrchr(path_a, '/'), strrchr(path_b, '/')); /* ids begin with their time */
    return order ? order : strcmp(path_a, path_b);
}

/* Ours or root's: in a folder of somebody else, files are not ours to take. */
static DIR *open_own_folder(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat status;
    if (fd < 0)
        return NULL;
    DIR *folder = NULL;
    if (fstat(fd, &status) == 0 && (status.st_uid == geteuid() || status.st_uid == 0))
        folder = fdopendir(fd);
    if (!folder)
        close(fd);
    return folder;
}

static bool is_journal_name(const char *name) {
    char id[UUID_TEXT_SIZE] = "";
    if (strlen(name) < UUID_TEXT_SIZE || !str_ends_with(name, JOURNAL_SUFFIX))
        return false;
    memcpy(id, name, UUID_TEXT_SIZE - 1);
    return uuid_is_valid(id);
}

static void find_in(const char *path, struct waiting *waiting) {
    DIR *folder = open_own_folder(path);
    if (!folder)
        return;
    for (struct dirent *item; (item = readdir(folder));) {
        if (!is_journal_name(item->d_name))
            continue;
        if (waiting->count == waiting->room) {
            waiting->room = waiting->room ? waiting->room * 2 : 32;
            waiting->paths = mem_realloc(waiting->paths, waiting->room, sizeof(*waiting->paths));
        }
        waiting->paths[waiting->count++] = mem_printf("%s/%s", path, item->d_name);
    }
    closedir(folder);
}

void waiting_find(const struct place *place, struct waiting *ret_waiting) {
    *ret_waiting = (struct waiting){0};
    for (const char *const *dir = place->journal_dirs; *dir; dir++)
        find_in(*dir, ret_waiting);
    if (ret_waiting->count > 0)
        qsort(ret_waiting->paths, ret_waiting->count, sizeof(*ret_waiting->paths), by_name);
}
