/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of the reading: the list of files, git, then each file by the readers of its kind. See
 * repository.h. */
#include "probe/repository.h"

#include "base/clock.h"
#include "base/fd.h"
#include "probe/git-files.h"
#include "probe/probe.h"
#include "probe/repository-parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define ENTRIES_MAX    20000u
#define BYTES_MAX      ((uint64_t)64 << 20)
#define FILE_BYTES_MAX ((uint64_t)4 << 20)
#define BUDGET_NS      (20 * NS_PER_S)

static const char *const lock_files[] = {"poetry.lock", "uv.lock"};

/* Readers and the names they are for; a file may have several. */
static void read_file(const struct repository_file *file) {
    static const char *const requirements[] = {"requirement*.txt", "requirement*.in",
                                               "constraint*.txt", "*requirements.txt",
                                               "*-requirements*.txt"};
    static const char *const tables[] = {"pyproject.toml", "Pipfile", "poetry.lock", "uv.lock"};
    static const char *const conda[] = {"environment*.yml", "environment*.yaml", "conda*.yml",
                                        "conda*.yaml",      "env.yml",           "env.yaml"};
    static const char *const shell[] = {"*.sh",     "*.bash", "*.slurm", "*.sbatch",
                                        "makefile", "*.mk",   "justfile"};
    static const char *const docker[] = {"dockerfile*", "*.dockerfile", "containerfile"};
    static const char *const documents[] = {"*.md", "*.rst", "readme", "readme.txt", "install*"};
    static const char *const python[] = {"*.py"};
    static const char *const builds[] = {"*.py",           "*.sh",    "makefile",   "*.mk",
                                         "cmakelists.txt", "*.cmake", "*.toml",     "*.cfg",
                                         "dockerfile*",    "*.cu",    "meson.build"};
    static const char *const paths[] = {"*.py",    "*.sh",     "*.yaml",   "*.yml",
                                        "*.json",  "*.cfg",    "*.toml",   "*.ini",
                                        "*.slurm", "*.sbatch", "makefile", "*.bash"};
#define IS(list) repository_is_named(file, list, ARRAY_LENGTH(list))
    repository_read_licence(file);
    bool in_requirements = strstr(file->path, "requirements/") != NULL &&
                           strcmp(file->name + strcspn(file->name, "."), ".txt") == 0;
    if (IS(requirements) || in_requirements)
        repository_read_requirements(file);
    if (IS(tables))
        repository_read_toml(file);
    if (IS(conda))
        repository_read_environment(file);
    if (strcmp(file->name, "setup.cfg") == 0)
        repository_read_setup(file);
    if (IS(shell))
        repository_read_shell(file);
    if (IS(docker))
        repository_read_docker(file);
    if (IS(documents))
        repository_read_document(file);
    if (IS(python))
        repository_read_python(file);
    if (IS(builds))
        repository_read_build(file);
    if (IS(paths))
        repository_read_paths(file);
#undef IS
}

static bool is_lock(const char *path) {
    const char *slash = strrchr(path, '/');
    for (size_t i = 0; i < ARRAY_LENGTH(lock_files); i++)
        if (strcmp(slash != NULL ? slash + 1 : path, lock_files[i]) == 0)
            return true;
    return false;
}

/* Names whose text nobody asks for are not opened. */
static bool is_of_interest(const char *path) {
    static const char *const endings[] = {"py",   "txt",   "in",        "md",    "rst",   "sh",
                                          "bash", "toml",  "yml",       "yaml",  "cfg",   "lock",
                                          "json", "ini",   "cu",        "cmake", "slurm", "sbatch",
                                          "mk",   "build", "dockerfile"};
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    static const char *const plain[] = {"makefile", "dockerfile", "containerfile", "readme",
                                        "license",  "licence",    "copying",       "unlicense",
                                        "pipfile",  "install",    "justfile"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot == NULL && i < ARRAY_LENGTH(plain); i++)
        if (strcasecmp(name, plain[i]) == 0)
            return true;
    if (dot == NULL)
        return strncasecmp(name, "licen", 5) == 0;
    for (size_t i = 0; i < ARRAY_LENGTH(endings); i++)
        if (strcasecmp(dot + 1, endings[i]) == 0)
            return true;
    return strncasecmp(name, "licen", 5) == 0 || strncasecmp(name, "copying", 7) == 0 ||
           strncasecmp(name, "dockerfile", 10) == 0;
}

/* Lock files last: they are long, and what is asked for comes before what was resolved. A table of
 * results is data: big JSON and text is left out without a word. */
static void read_files(struct repository *repository) {
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < repository->count; i++) {
            const struct repository_entry *entry = &repository->entries[i];
            struct repository_file file;
            bool is_data = repository_is_data_name(entry->path) && entry->size > (64u << 10) &&
                           strstr(entry->path, "requirement") == NULL;
            if (entry->kind == REPOSITORY_FILE && is_lock(entry->path) == (pass == 1) &&
                is_of_interest(entry->path) && !is_data &&
                repository_open_file(repository, entry, &file))
                read_file(&file);
        }
}

/* The licence of the repository that the folder is a part of. */
static void read_above(struct repository *repository) {
    struct git_files git;
    static const char *const names[] = {"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE",
                                        "COPYING"};
    if (!git_files_find(&root_real, repository->folder, &git) ||
        strcmp(git.top, repository->folder) == 0)
        return;
    AUTO_CLOSE int top = open(git.top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct repository above = {.fd = top,
                               .folder = git.top,
                               .limits = repository->limits,
                               .deadline_mono_ns = repository->deadline_mono_ns,
                               .arena = repository->arena,
                               .json =
                                   json_pack("{s:[],s:[],s:{}}", "licences", "limits", "left_out")};
    for (size_t i = 0; top >= 0 && i < ARRAY_LENGTH(names); i++) {
        const struct repository_entry entry = {.path = names[i]};
        struct repository_file file;
        if (faccessat(top, names[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
            repository_open_file(&above, &entry, &file))
            repository_read_licence(&file);
    }
    json_put(repository->json, "above", json_incref(json_get_array(above.json, "licences")));
    json_put_text(repository->json, "top", git.top);
    json_decref(above.json);
    strbuf_done(&above.text);
}

static json_t *new_json(const char *folder) {
    static const char *const lists[] = {"limits",   "licences",      "above",     "requirements",
                                        "includes", "indexes",       "pythons",   "images",
                                        "commands", "architectures", "compilers", "paths",
                                        "data",     "written",       "models",    "python"};
    static const char *const left[] = {"links_outside", "special", "large", "folders"};
    json_t *json = json_object(), *left_out = json_object();
    json_put_text(json, "folder", folder);
    for (size_t i = 0; i < ARRAY_LENGTH(lists); i++)
        json_put(json, lists[i], json_array());
    for (size_t i = 0; i < ARRAY_LENGTH(left); i++)
        json_put(left_out, left[i], json_array());
    json_put_int(left_out, "binary", 0);
    json_put(json, "left_out", left_out);
    return json;
}

static json_t *read_code(const char *folder) {
    const struct probe_context context = {
        .root = &root_real, .cwd = folder, .environment = environ};
    return probe_code(&context);
}

static int unreadable(const char *folder, int code, struct err *err) {
    return err_set(err, code, "repository-unreadable", "the folder '%s' cannot be read: %s", folder,
                   strerror(-code));
}

int repository_read(const char *folder, const struct repository_limits *limits,
                    json_t **ret_repository, struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    char real[PATH_MAX];
    if (realpath(folder, real) == NULL)
        return unreadable(folder, -errno, err);
    AUTO_CLOSE int fd = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return unreadable(folder, -errno, err);
    struct repository repository = {
        .fd = fd, .folder = real, .arena = arena, .complete = true, .json = new_json(real)};
    if (limits != NULL)
        repository.limits = *limits;
    struct repository_limits *in_force = &repository.limits;
    in_force->entries = in_force->entries > 0 ? in_force->entries : ENTRIES_MAX;
    in_force->bytes = in_force->bytes > 0 ? in_force->bytes : BYTES_MAX;
    in_force->file_bytes = in_force->file_bytes > 0 ? in_force->file_bytes : FILE_BYTES_MAX;
    in_force->budget_ns = in_force->budget_ns > 0 ? in_force->budget_ns : BUDGET_NS;
    repository.deadline_mono_ns = clock_mono_ns() + in_force->budget_ns;
    int rc = repository_walk(&repository);
    if (rc == 0) {
        json_put(repository.json, "code", read_code(real));
        read_files(&repository);
        repository_settle_data(&repository);
        read_above(&repository);
        json_put_int(repository.json, "files", (int64_t)repository.count);
        json_put_int(repository.json, "bytes", (int64_t)repository.read_bytes);
        json_put_bool(repository.json, "complete", repository.complete);
        *ret_repository = repository.json;
    } else {
        json_decref(repository.json);
        rc = unreadable(folder, rc, err);
    }
    mem_free_ptr(&repository.entries);
    strbuf_done(&repository.text);
    return rc;
}
