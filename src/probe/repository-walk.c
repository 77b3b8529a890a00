/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of a clone's files and the text of each. Links are not followed, only regular files are
 * opened (an open of a FIFO would wait, one of a device may act), and what is beyond a limit is
 * named, not read.
 */
#include "probe/repository-parts.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/msg.h"
#include "base/str.h"
#include "text/secret.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 32u
#define NAMED_MAX 50u /* examples of what was left out */

void repository_note_limit(struct repository *repository, const char *what) {
    json_t *limits = json_get_array(repository->json, "limits");
    repository->complete = false;
    for (size_t i = 0; i < json_array_size(limits); i++)
        if (strcmp(json_string_value(json_array_get(limits, i)), what) == 0)
            return;
    json_array_append_new(limits, json_text(what));
}

static void leave_out(struct repository *repository, const char *key, const char *path) {
    json_t *list = json_get_array(json_get_object(repository->json, "left_out"), key);
    if (json_array_size(list) < NAMED_MAX)
        json_array_append_new(list, json_text(path));
}

/* ---- the list ---- */

static void add_entry(struct repository *repository, const char *path,
                      enum repository_entry_kind kind, uint64_t size) {
    if (repository->count == repository->room) {
        repository->room = 2 * repository->room + 256;
        repository->entries =
            mem_realloc(repository->entries, repository->room, sizeof *repository->entries);
    }
    repository->entries[repository->count++] =
        (struct repository_entry){.path = path, .kind = kind, .size = size};
}

/* Installed or made on this machine, not the repository's own. */
static bool is_foreign_folder(int parent, const char *name) {
    static const char *const names[] = {"node_modules", "site-packages", "wandb", "__pycache__"};
    if (name[0] == '.')
        return true;
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    AUTO_FREE char *mark = mem_printf("%s/pyvenv.cfg", name);
    struct stat status;
    return fstatat(parent, mark, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Lexically: a link whose target names a place outside. */
static bool leads_out(struct repository *repository, int parent, const char *name,
                      const char *folder) {
    char target[PATH_MAX];
    ssize_t length = readlinkat(parent, name, target, sizeof target - 1);
    if (length < 0)
        return true;
    target[length] = '\0';
    return repository_normal(repository, folder, target) == NULL;
}

static bool walk_folder(struct repository *repository, int fd, const char *path, unsigned depth);

static int open_folder(int parent, const char *name) {
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

static void look_at_entry(struct repository *repository, int parent, const char *folder,
                          const char *name, unsigned depth) {
    const char *path = folder[0] == '\0' ? arena_strdup(repository->arena, name)
                                         : arena_printf(repository->arena, "%s/%s", folder, name);
    struct stat status;
    if (fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (S_ISLNK(status.st_mode)) {
        if (leads_out(repository, parent, name, folder))
            leave_out(repository, "links_outside", path);
        add_entry(repository, path, REPOSITORY_LINK, 0);
    } else if (S_ISDIR(status.st_mode)) {
        if (is_foreign_folder(parent, name)) {
            if (strcmp(name, ".git") != 0)
                leave_out(repository, "folders", path);
            return;
        }
        add_entry(repository, path, REPOSITORY_FOLDER, 0);
        if (depth == DEPTH_MAX)
            repository_note_limit(repository, N_("depth of folders"));
        else if (!walk_folder(repository, open_folder(parent, name), path, depth + 1))
            repository_note_limit(repository, N_("a folder that cannot be read"));
    } else if (S_ISREG(status.st_mode)) {
        add_entry(repository, path, REPOSITORY_FILE, (uint64_t)status.st_size);
    } else {
        leave_out(repository, "special", path);
        add_entry(repository, path, REPOSITORY_SPECIAL, 0);
    }
}

static int by_name(const void *a, const void *b) {
    char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

/* The names in a folder, sorted, so that what is found does not hang on the file system. */
static size_t read_names(struct repository *repository, DIR *folder, char ***ret_names) {
    size_t count = 0, room = 0;
    char **names = NULL;
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (repository->count + count >= repository->limits.entries) {
            repository_note_limit(repository, N_("number of files"));
            break;
        }
        if (count == room) {
            room = 2 * room + 64;
            names = mem_realloc(names, room, sizeof *names);
        }
        names[count++] = arena_strdup(repository->arena, entry->d_name);
    }
    if (count > 0)
        qsort(names, count, sizeof *names, by_name);
    *ret_names = names;
    return count;
}

/* Takes fd over; -1: it could not be opened. */
static bool walk_folder(struct repository *repository, int fd, const char *path, unsigned depth) {
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder == NULL) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    AUTO_FREE char **names = NULL;
    size_t count = read_names(repository, folder, &names);
    for (size_t i = 0; i < count; i++) {
        if (repository->count >= repository->limits.entries) {
            repository_note_limit(repository, N_("number of files"));
            break;
        }
        if (clock_mono_ns() > repository->deadline_mono_ns) {
            repository_note_limit(repository, N_("time"));
            break;
        }
        look_at_entry(repository, dirfd(folder), path, names[i], depth);
    }
    closedir(folder);
    return true;
}

static int by_path(const void *a, const void *b) {
    const struct repository_entry *x = a, *y = b;
    return strcmp(x->path, y->path);
}

int repository_walk(struct repository *repository) {
    if (!walk_folder(repository, open_folder(repository->fd, "."), "", 0))
        return -EIO;
    if (repository->count > 0)
        qsort(repository->entries, repository->count, sizeof *repository->entries, by_path);
    return 0;
}

const struct repository_entry *repository_find(const struct repository *repository,
                                               const char *path) {
    const struct repository_entry wanted = {.path = path};
    if (repository->count == 0)
        return NULL;
    return bsearch(&wanted, repository->entries, repository->count, sizeof wanted, by_path);
}

/* ---- one file ---- */

static bool is_text(const struct strbuf *text) {
    return text->length == 0 || memchr(text->data, '\0', text->length) == NULL;
}

bool repository_open_file(struct repository *repository, const struct repository_entry *entry,
                          struct repository_file *ret_file) {
    struct stat status;
    strbuf_clear(&repository->text);
    if (entry->size > repository->limits.file_bytes) {
        leave_out(repository, "large", entry->path);
        repository_note_limit(repository, N_("size of a file"));
        return false;
    }
    if (repository->read_bytes + entry->size > repository->limits.bytes) {
        repository_note_limit(repository, N_("bytes in all"));
        return false;
    }
    if (clock_mono_ns() > repository->deadline_mono_ns) {
        repository_note_limit(repository, N_("time"));
        return false;
    }
    /* between list and opening it may have become something else */
    AUTO_CLOSE int fd = openat(repository->fd, entry->path,
                               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
        fd_read_all(fd, repository->limits.file_bytes, &repository->text) < 0) {
        repository_note_limit(repository, N_("a file that cannot be read"));
        return false;
    }
    repository->read_bytes += repository->text.length;
    if (!is_text(&repository->text)) {
        json_t *left = json_get_object(repository->json, "left_out");
        json_put_int(left, "binary", json_get_int(left, "binary", 0) + 1);
        return false;
    }
    const char *slash = strrchr(entry->path, '/');
    *ret_file = (struct repository_file){.repository = repository,
                                         .path = entry->path,
                                         .name = slash != NULL ? slash + 1 : entry->path,
                                         .text = strbuf_str(&repository->text),
                                         .length = repository->text.length};
    return true;
}

/* ---- paths ---- */

const char *repository_folder_of(struct repository *repository, const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? "" : arena_strndup(repository->arena, path, (size_t)(slash - path));
}

const char *repository_normal(struct repository *repository, const char *folder, const char *path) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    if (path[0] == '/')
        return NULL;
    AUTO_FREE char *joined = mem_printf("%s/%s", folder, path);
    for (const char *at = joined; *at != '\0';) {
        size_t length = strcspn(at, "/");
        if (length == 2 && at[0] == '.' && at[1] == '.') {
            if (out.length == 0)
                return NULL;
            while (out.length > 0 && out.data[--out.length] != '/')
                ;
            out.data[out.length] = '\0';
        } else if (length > 0 && !(length == 1 && at[0] == '.')) {
            if (out.length > 0)
                strbuf_add_char(&out, '/');
            strbuf_add(&out, at, length);
        }
        at += length + (at[length] == '/');
    }
    return arena_strdup(repository->arena, strbuf_str(&out));
}

/* ---- facts ---- */

json_t *repository_fact(const struct repository_file *file, const char *key, unsigned line) {
    struct repository *repository = file->repository;
    json_t *list = json_get_array(repository->json, key);
    if (json_array_size(list) >= REPOSITORY_FACTS_MAX) {
        repository_note_limit(repository, N_("number of findings of one kind"));
        return NULL;
    }
    json_t *fact = json_object();
    json_array_append_new(list, fact);
    AUTO_FREE char *at = line > 0 ? mem_printf("%s:%u", file->path, line) : mem_strdup(file->path);
    json_put_text(fact, "at", at);
    return fact;
}

void repository_put_masked(json_t *fact, const char *key, const char *text) {
    AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
    secret_mask(text, strlen(text), &masked);
    json_put(fact, key, json_text_n(strbuf_str(&masked), masked.length));
}

bool repository_next_line(const char **at, struct strbuf *line) {
    strbuf_clear(line);
    if (**at == '\0')
        return false;
    size_t length = strcspn(*at, "\n"), kept = length;
    while (kept > 0 && (*at)[kept - 1] == '\r')
        kept--;
    strbuf_add(line, *at, kept < REPOSITORY_LINE_MAX ? kept : REPOSITORY_LINE_MAX);
    *at += length + ((*at)[length] == '\n');
    return true;
}

bool repository_is_named(const struct repository_file *file, const char *const *patterns,
                         size_t count) {
    for (size_t i = 0; i < count; i++)
        if (fnmatch(patterns[i], file->name, FNM_CASEFOLD) == 0)
            return true;
    return false;
}
