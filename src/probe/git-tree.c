/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See git-tree.h. Two lists from git (index, changes) and the object ids of what was changed. */
#include "probe/git-tree.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "probe/git-files.h"

#include <errno.h>
#include <limits.h>
#include <sha1.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST_LIMIT  ((size_t)64 << 20)
#define BATCH_FILES 400
#define BATCH_BYTES (64 * 1024)

struct entry {
    const char *path; /* borrowed from the list */
    char mode[7];
    char oid[GIT_COMMIT_SIZE];
    char index_oid[GIT_COMMIT_SIZE];
    bool changed; /* the working tree may differ: hash it */
    bool hidden;  /* by an index flag (assume-unchanged, skip-worktree): git does not look, so we do
                   */
    bool deleted;
};

struct entries {
    struct entry *items;
    size_t count, capacity;
};

static void entries_done(struct entries *entries) {
    mem_free_ptr(&entries->items);
}
#define AUTO_ENTRIES __attribute__((cleanup(entries_done)))

static const char *next_field(const char *list, size_t length, size_t *at) {
    if (*at >= length) {
        return NULL;
    }
    const char *field = list + *at;
    *at += strlen(field) + 1; /* strbuf ends with NUL, so this ends inside */
    return field;
}

/* ---- the index: "H 100644 <oid> 0\tpath" ---- */

static bool parse_index_entry(const char *line, struct entry *ret) {
    char tag, stage;
    int path_at = 0;
    struct entry out = {0};
    if (sscanf(line, "%c %6[0-7] %64[0-9a-f] %c%n", &tag, out.mode, out.oid, &stage, &path_at) !=
            4 ||
        line[path_at] != '\t' || line[path_at + 1] == '\0' || !git_is_commit(out.oid)) {
        return false;
    }
    out.path = line + path_at + 1;
    memcpy(out.index_oid, out.oid, sizeof out.oid);
    /* lower case: assume-unchanged; S: skip-worktree (git-ls-files(1), -v) */
    out.hidden = (tag >= 'a' && tag <= 'z') || tag == 'S';
    *ret = out;
    return true;
}

static int read_index(const struct strbuf *list, struct entries *entries) {
    const char *line;
    for (size_t at = 0; (line = next_field(list->data, list->length, &at)) != NULL;) {
        struct entry entry;
        if (!parse_index_entry(line, &entry)) {
            return -EPROTO;
        }
        if (entries->count > 0 &&
            strcmp(entries->items[entries->count - 1].path, entry.path) == 0) {
            continue; /* further stages of a conflict; git status names it, and what is on disk
                         counts */
        }
        if (entries->count == entries->capacity) {
            entries->capacity = entries->capacity == 0 ? 256 : entries->capacity * 2;
            entries->items = mem_realloc(entries->items, entries->capacity, sizeof *entries->items);
        }
        entries->items[entries->count++] = entry;
    }
    return 0;
}

static int compare_paths(const void *left, const void *right) {
    const struct entry *a = left, *b = right;
    return strcmp(a->path, b->path);
}

static struct entry *find(const struct entries *entries, const char *path) {
    struct entry key = {.path = path};
    return entries->count == 0 ? NULL
                               : bsearch(&key, entries->items, entries->count,
                                         sizeof *entries->items, compare_paths);
}

/* ---- changes: git status --porcelain=v2 -z ---- */

static const char *skip_words(const char *line, int words) {
    for (; words > 0; words--) {
        line = strchr(line, ' ');
        if (line == NULL) {
            return NULL;
        }
        line++;
    }
    return line;
}

/* "1 XY sub mH mI mW hH hI path", "u XY sub m1 m2 m3 mW h1 h2 h3 path" (git-status(1)). */
static int apply_change(const char *line, struct entries *entries) {
    bool unmerged = line[0] == 'u';
    const char *path = skip_words(line, unmerged ? 10 : 8);
    const char *mode = skip_words(line, unmerged ? 6 : 5);
    if (path == NULL || mode == NULL || strlen(line) < 4) {
        return -EPROTO;
    }
    struct entry *entry = find(entries, path);
    if (entry == NULL || (line[3] == '.' && !unmerged)) {
        return 0; /* removed from the index, or changed only there */
    }
    entry->deleted = strncmp(mode, "000000 ", 7) == 0;
    entry->changed = true;
    if (!entry->deleted) {
        (void)snprintf(entry->mode, sizeof entry->mode, "%.6s", mode);
    }
    return 0;
}

static bool counts(const struct git_scope *scope, const char *path) {
    if (scope->except != NULL && strcmp(path, scope->except) == 0) {
        return false;
    }
    return scope->paths != NULL || git_path_is_code(path);
}

static int read_changes(const struct strbuf *list, const struct git_scope *scope,
                        struct entries *entries, struct git_tree *ret) {
    const char *line;
    for (size_t at = 0; (line = next_field(list->data, list->length, &at)) != NULL;) {
        if (line[0] == '#') {
            continue;
        }
        if (line[0] != '1' && line[0] != 'u') {
            return -EPROTO; /* renames are switched off */
        }
        const char *path = skip_words(line, line[0] == 'u' ? 10 : 8);
        ret->dirty = true;
        ret->code_dirty = ret->code_dirty || path == NULL || counts(scope, path);
        int rc = apply_change(line, entries);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

/* ---- object ids of what is on disk ---- */

/* A blob is hashed with a head "blob LENGTH\0"; SHA-1 or SHA-256 by the repository's format. */
static void blob_oid(const char *bytes, size_t length, size_t oid_length,
                     char ret_oid[GIT_COMMIT_SIZE]) {
    AUTO_STRBUF struct strbuf blob = STRBUF_INIT;
    strbuf_printf(&blob, "blob %zu", length);
    strbuf_add_char(&blob, '\0');
    strbuf_add(&blob, bytes, length);
    if (oid_length == 64) {
        digest_sha256(blob.data, blob.length, ret_oid);
    } else {
        (void)SHA1Data((const uint8_t *)blob.data, blob.length, ret_oid);
    }
}

/* A link's content is its target. git hash-object would follow it. */
static int hash_link(const char *top, struct entry *entry) {
    AUTO_FREE char *path = mem_printf("%s/%s", top, entry->path);
    char target[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof target);
    if (length < 0) {
        return -EIO;
    }
    blob_oid(target, (size_t)length, strlen(entry->oid), entry->oid);
    return 0;
}

static int take_oids(const struct strbuf *out, struct entry *const batch[], size_t count) {
    const char *at = strbuf_str(out);
    for (size_t i = 0; i < count; i++) {
        const char *end = strchr(at, '\n');
        size_t length = end != NULL ? (size_t)(end - at) : 0;
        if (length != strlen(batch[i]->oid)) {
            return -EPROTO;
        }
        memcpy(batch[i]->oid, at, length);
        if (!git_is_commit(batch[i]->oid)) {
            return -EPROTO;
        }
        at = end + 1;
    }
    return *at == '\0' ? 0 : -EPROTO;
}

static int hash_batch(struct git_run *git, struct entry *const batch[], size_t count) {
    if (count == 0) {
        return 0;
    }
    const char *args[BATCH_FILES + 3] = {"hash-object", "--"};
    for (size_t i = 0; i < count; i++) {
        args[2 + i] = batch[i]->path;
    }
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    int rc = git_run(git, args, LIST_LIMIT, &out);
    if (rc < 0) {
        return rc;
    }
    return git->status != 0 ? -EIO : take_oids(&out, batch, count);
}

static int hash_changed(struct git_run *git, const struct git_scope *scope,
                        struct entries *entries) {
    struct entry *batch[BATCH_FILES];
    size_t count = 0, bytes = 0;
    for (size_t i = 0; i < entries->count; i++) {
        struct entry *entry = &entries->items[i];
        if (!entry->changed || entry->deleted || !counts(scope, entry->path)) {
            continue;
        }
        int rc = 0;
        if (strcmp(entry->mode, "120000") == 0) {
            rc = hash_link(git->folder, entry);
        } else if (strncmp(entry->mode, "100", 3) == 0) {
            batch[count++] = entry;
            bytes += strlen(entry->path) + 1;
        }
        if (rc == 0 && (count == BATCH_FILES || bytes > BATCH_BYTES)) {
            rc = hash_batch(git, batch, count);
            count = bytes = 0;
        }
        if (rc < 0) {
            return rc;
        }
    }
    return hash_batch(git, batch, count);
}

/* Files that the index tells git not to look at. Absent ones (sparse checkouts) stay as the index
 * names them. */
static void look_behind_flags(const char *top, struct entries *entries) {
    for (size_t i = 0; i < entries->count; i++) {
        struct entry *entry = &entries->items[i];
        if (!entry->hidden || entry->changed) {
            continue;
        }
        AUTO_FREE char *path = mem_printf("%s/%s", top, entry->path);
        struct stat info;
        if (lstat(path, &info) < 0) {
            continue;
        }
        bool is_link = S_ISLNK(info.st_mode);
        if (is_link == (strcmp(entry->mode, "120000") == 0) && (is_link || S_ISREG(info.st_mode))) {
            entry->changed = true;
        }
    }
}

/* ---- the digest ---- */

bool git_path_is_code(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return !str_ends_with(name, ".md") && !str_starts_with(name, "LICENSE") &&
           !str_starts_with(path, "docs/") && strcmp(path, "probelauf.yaml") != 0;
}

static void make_digest(const struct entries *entries, const struct git_scope *scope,
                        struct git_tree *ret) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < entries->count; i++) {
        const struct entry *entry = &entries->items[i];
        if (strcmp(entry->mode, "160000") == 0) {
            ret->submodule_count++;
        }
        /* what the index hides from git status is a change all the same */
        bool hidden = entry->hidden && strcmp(entry->oid, entry->index_oid) != 0;
        ret->dirty = ret->dirty || hidden;
        ret->code_dirty = ret->code_dirty || (hidden && counts(scope, entry->path));
        if (!entry->deleted && counts(scope, entry->path)) {
            strbuf_printf(&text, "%s %s\t%s", entry->mode, entry->oid, entry->path);
            strbuf_add_char(&text, '\0');
        }
    }
    digest_sha256(strbuf_str(&text), text.length, ret->digest);
    ret->file_count = entries->count;
}

int git_scope_run(struct git_run *git, const struct git_scope *scope, const char *const args[],
                  size_t limit, struct strbuf *out) {
    if (scope->paths == NULL) {
        return git_run(git, args, limit, out);
    }
    size_t count = 0, paths = 0;
    while (args[count] != NULL) {
        count++;
    }
    while (scope->paths[paths] != NULL) {
        paths++;
    }
    AUTO_FREE const char **all = mem_alloc((count + paths + 2) * sizeof *all);
    memcpy(all, args, count * sizeof *all);
    all[count] = "--";
    memcpy(all + count + 1, scope->paths, paths * sizeof *all);
    const char *top = git->folder;
    git->folder = scope->folder != NULL ? scope->folder : top;
    int rc = git_run(git, all, limit, out);
    git->folder = top;
    return rc;
}

/* The list tells first whether the paths are any; --full-name: below the top, wherever git runs. */
static int read_list(struct git_run *git, const struct git_scope *scope, struct strbuf *index,
                     struct entries *entries) {
    static const char *const list[] = {"ls-files", "-s", "-v", "-z", "--full-name", NULL};
    int rc = git_scope_run(git, scope, list, LIST_LIMIT, index);
    if (rc < 0) {
        return rc;
    }
    if (git->status != 0) {
        return scope->paths != NULL ? -EINVAL : -EPROTO;
    }
    rc = read_index(index, entries);
    return rc == 0 && entries->count == 0 && scope->paths != NULL ? -ENODATA : rc;
}

int git_tree_read(struct git_run *git, const struct git_scope *scope, struct git_tree *ret) {
    static const char *const status[] = {"status", "--porcelain=v2",          "-z",
                                         "-uno",   "--ignore-submodules=all", NULL};
    AUTO_STRBUF struct strbuf index = STRBUF_INIT, changes = STRBUF_INIT;
    struct entries entries AUTO_ENTRIES = {0};
    struct git_tree out = {0};
    int rc = read_list(git, scope, &index, &entries);
    if (rc == 0) {
        rc = git_scope_run(git, scope, status, LIST_LIMIT, &changes);
    }
    if (rc == 0) {
        rc = git->status != 0 ? -EPROTO : read_changes(&changes, scope, &entries, &out);
    }
    if (rc < 0) {
        return rc;
    }
    look_behind_flags(git->folder, &entries);
    rc = hash_changed(git, scope, &entries);
    if (rc < 0) {
        return rc;
    }
    make_digest(&entries, scope, &out);
    *ret = out;
    return 0;
}
