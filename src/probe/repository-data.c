/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files that code names in order to read them, held against what is there. A name may hold "*"
 * where something is filled in at run time. What the code itself writes is no missing file. Paths
 * are tried from the top, from the file's folder and from every folder between, since where a
 * script is started is not known.
 */
#include "probe/repository-parts.h"

#include "base/str.h"

#include <fnmatch.h>
#include <string.h>
#include <strings.h>

bool repository_is_data_name(const char *path) {
    static const char *const endings[] = {
        ".json", ".jsonl", ".csv",   ".tsv",      ".parquet", ".pt",          ".pth",
        ".bin",  ".npy",   ".npz",   ".pkl",      ".pickle",  ".safetensors", ".ckpt",
        ".gguf", ".h5",    ".arrow", ".jsonl.gz", ".txt",     ".bin.gz",      ".zst"};
    const char *name = strrchr(path, '/');
    name = name != NULL ? name + 1 : path;
    size_t letters = 0;
    for (const char *at = name; *at != '\0' && *at != '.'; at++)
        letters += *at != '*';
    bool has_folder = name != path && path[0] != '*';
    for (size_t i = 0; i < ARRAY_LENGTH(endings); i++)
        if (str_ends_with(path, endings[i]) && strlen(name) > strlen(endings[i]))
            return letters >= 2 || has_folder;
    return false;
}

void repository_add_data(const struct repository_file *file, unsigned line, const char *path,
                         bool writes) {
    if (path[0] == '/' || path[0] == '~' || strstr(path, "://") != NULL ||
        strpbrk(path, " \t\n\"'|;,()<>") != NULL)
        return;
    json_t *fact = repository_fact(file, writes ? "written" : "data", line);
    if (fact != NULL) {
        json_put_text(fact, "file", file->path);
        json_put_text(fact, "path", path);
    }
}

static bool is_there(struct repository *repository, const char *path) {
    if (strpbrk(path, "*?[") == NULL)
        return repository_find(repository, path) != NULL;
    for (size_t i = 0; i < repository->count; i++)
        if (repository->entries[i].kind != REPOSITORY_FOLDER &&
            fnmatch(path, repository->entries[i].path, FNM_PATHNAME) == 0)
            return true;
    return false;
}

/* In the file's folder or in any above it. *ret_place: where it would be, beside the file. */
static bool is_found(struct repository *repository, const char *file, const char *path,
                     const char **ret_place) {
    const char *folder = repository_folder_of(repository, file);
    *ret_place = NULL;
    for (;;) {
        const char *candidate = repository_normal(repository, folder, path);
        if (candidate != NULL && is_there(repository, candidate))
            return true;
        if (candidate != NULL && *ret_place == NULL)
            *ret_place = candidate;
        if (folder[0] == '\0')
            return false;
        folder = repository_folder_of(repository, folder);
    }
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool is_written(const json_t *written, const char *path) {
    for (size_t i = 0; i < json_array_size(written); i++) {
        const char *other = json_get_text(json_array_get(written, i), "path", "");
        if (strcmp(last_part(other), last_part(path)) == 0 ||
            (strpbrk(last_part(path), "[]") == NULL && strlen(last_part(other)) > 6 &&
             fnmatch(last_part(other), last_part(path), 0) == 0))
            return true;
    }
    return false;
}

/* The name is in the list already: its first line is enough. */
static bool is_known(const json_t *list, const char *path) {
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_get_text(json_array_get(list, i), "path", ""), path) == 0)
            return true;
    return false;
}

void repository_settle_data(struct repository *repository) {
    const json_t *named = json_get_array(repository->json, "data");
    const json_t *written = json_get_array(repository->json, "written");
    json_t *absent = json_array();
    for (size_t i = 0; i < json_array_size(named); i++) {
        json_t *fact = json_array_get(named, i);
        const char *path = json_get_text(fact, "path", ""), *place;
        if (is_found(repository, json_get_text(fact, "file", ""), path, &place) || place == NULL ||
            is_written(written, path) || is_known(absent, place))
            continue;
        json_put_text(fact, "path", place);
        json_put_text(fact, "ignored", repository_ignored_by(repository, place));
        json_array_append(absent, fact);
    }
    json_put(repository->json, "data", absent);
    json_object_del(repository->json, "written");
}
