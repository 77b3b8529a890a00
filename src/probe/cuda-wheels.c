/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which installed Python packages bring CUDA code, and for which architectures (cuda-archs.h). By
 * the installers' own lists of files, so no list of names of ours grows old. Starts no Python. */
#include "probe/cuda-archs.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "probe/lines.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_LIMIT (16u << 20)
#define OBJECTS_MAX  4000u
#define ENTRIES_MAX  400u
#define SMALLEST     65536 /* bytes: smaller ones hold no kernels worth a look */
#define OBJECT_NS    (500 * NS_PER_MS)

struct search {
    const struct root *root;
    const struct python *python;
    int64_t deadline_ns;
    size_t objects;
    bool ended;
    json_t *found;
};

/* "torch-2.5.1+cu124.dist-info" → "torch", "2.5.1+cu124". */
static bool split_name(const char *folder, char ret_name[256], char ret_version[256]) {
    static const char suffix[] = ".dist-info";
    if (!str_ends_with(folder, suffix))
        return false;
    size_t length = strlen(folder) - strlen(suffix);
    const char *dash = memchr(folder, '-', length);
    if (dash == NULL || dash == folder || length >= 256)
        return false;
    size_t name = (size_t)(dash - folder);
    memcpy(ret_name, folder, name);
    ret_name[name] = '\0';
    memcpy(ret_version, dash + 1, length - name - 1);
    ret_version[length - name - 1] = '\0';
    return true;
}

/* A line of RECORD (PEP 376): path,hash,size; a path with a comma stands in quotes. Cuts the path
 * out in place; NULL: no shared object, or a small one. */
static char *shared_object(char *line) {
    char *path = line, *rest;
    if (*line == '"') {
        path = line + 1;
        rest = strchr(path, '"');
    } else {
        rest = strchr(path, ',');
    }
    if (rest == NULL)
        return NULL;
    char *size = strrchr(rest, ',');
    long long bytes = size != NULL && size[1] != '\0' ? strtoll(size + 1, NULL, 10) : SMALLEST;
    *rest = '\0';
    bool is_object = str_ends_with(path, ".so") || strstr(path, ".so.") != NULL;
    return is_object && bytes >= SMALLEST ? path : NULL;
}

static json_t *numbers(const unsigned *list, size_t count) {
    json_t *json = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(json, json_integer(list[i]));
    return json;
}

static void look_at(struct search *search, const char *package, const char *version,
                    const char *path) {
    struct cuda_archs archs;
    if (++search->objects > OBJECTS_MAX || json_array_size(search->found) >= ENTRIES_MAX ||
        clock_mono_ns() > search->deadline_ns) {
        search->ended = true;
        return;
    }
    int rc = cuda_archs_read(search->root, path, OBJECT_NS, &archs);
    if (rc == -ENODATA || rc == -ENOEXEC)
        return; /* no CUDA code */
    json_t *entry = json_object();
    json_put_text(entry, "package", package);
    json_put_text(entry, "version", version);
    json_put_text(entry, "interpreter", search->python->prefix);
    json_put_text(entry, "file", path);
    json_put(entry, "machine", numbers(archs.machine, archs.machine_count));
    json_put(entry, "ptx", numbers(archs.ptx, archs.ptx_count));
    json_put_bool(entry, "complete", archs.complete);
    json_array_append_new(search->found, entry);
}

static void read_record(struct search *search, const char *folder, const char *info) {
    char name[256], version[256], path[PATH_MAX], object[PATH_MAX];
    if (!split_name(info, name, version))
        return;
    AUTO_FREE char *record = mem_printf("%s/RECORD", info);
    struct lines lines AUTO_LINES;
    if (!path_join(path, folder, record) ||
        lines_open(search->root, path, RECORD_LIMIT, &lines) < 0)
        return;
    char *line;
    while (!search->ended && lines_next(&lines, &line) == 1) {
        const char *file = shared_object(line);
        if (file != NULL && file[0] != '/' && path_join(object, folder, file))
            look_at(search, name, version, object);
    }
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of names: what is found does not depend on the file system. */
static void search_folder(struct search *search, const char *folder) {
    DIR *directory = path_open_folder(search->root, folder);
    if (directory == NULL)
        return;
    char **names = NULL;
    size_t count = 0;
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL && count < OBJECTS_MAX) {
        if (!str_ends_with(entry->d_name, ".dist-info"))
            continue;
        names = mem_room(names, count, sizeof *names);
        names[count++] = mem_strdup(entry->d_name);
    }
    (void)closedir(directory);
    if (count > 0)
        qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        if (!search->ended)
            read_record(search, folder, names[i]);
        mem_free_ptr(&names[i]);
    }
    mem_free_ptr(&names);
}

json_t *cuda_wheels(const struct root *root, const struct python *python,
                    const struct variables *variables, int64_t budget_ns, bool *ret_complete) {
    struct search search = {.root = root,
                            .python = python,
                            .deadline_ns = clock_mono_ns() + budget_ns,
                            .found = json_array()};
    struct python_folders folders;
    python_folders(root, python, variables, &folders);
    for (size_t i = 0; i < folders.count && !search.ended; i++)
        search_folder(&search, folders.path[i]);
    python_folders_done(&folders);
    *ret_complete = !search.ended;
    return search.found;
}
