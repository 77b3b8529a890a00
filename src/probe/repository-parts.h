/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the readers of a clone share: the list of its files, the text of one, adding facts. Internal
 * to probe/repository*.c. */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "probe/repository.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPOSITORY_LINE_MAX  4096u /* of a line, what is behind is not looked at */
#define REPOSITORY_FACTS_MAX 1000u /* of one kind */

struct repository_entry {
    const char *path; /* relative, in the arena */
    enum repository_entry_kind {
        REPOSITORY_FILE = 0,
        REPOSITORY_FOLDER,
        REPOSITORY_LINK, /* counts as being there; is never followed */
        REPOSITORY_SPECIAL,
    } kind;
    uint64_t size;
};

struct repository {
    int fd; /* of the folder */
    const char *folder;
    struct repository_limits limits;
    int64_t deadline_mono_ns;
    struct arena *arena;
    struct repository_entry *entries; /* sorted by path once the walk is over */
    size_t count, room;
    uint64_t read_bytes;
    bool complete;
    json_t *json;
    struct strbuf text; /* of the file that is being read */
};

/* One file while it is read. */
struct repository_file {
    struct repository *repository;
    const char *path, *name; /* name: behind the last slash */
    const char *text;        /* NUL-terminated, no NUL inside */
    size_t length;
};

/* repository-walk.c */
int repository_walk(struct repository *repository);
/* *ret_file points into repository->text until the next call. False: not readable, no text, or a
 * limit; that is noted. */
bool repository_open_file(struct repository *repository, const struct repository_entry *entry,
                          struct repository_file *ret_file);
const struct repository_entry *repository_find(const struct repository *repository,
                                               const char *path);
/* what: marked for translation, kept in English. */
void repository_note_limit(struct repository *repository, const char *what);
/* "a/b/../c" without its dots; "" is the folder itself. NULL: it leads out, or is absolute. */
const char *repository_normal(struct repository *repository, const char *folder, const char *path);
/* The folder of a path, "" for the top. */
const char *repository_folder_of(struct repository *repository, const char *path);
/* The last rule of the .gitignore files that takes the path in, "file:line"; NULL: none. */
const char *repository_ignored_by(struct repository *repository, const char *path);

/* A new object of the array `key`, with "at" of the line (0: none); NULL once there are too many.
 * Borrowed. */
json_t *repository_fact(const struct repository_file *file, const char *key, unsigned line);
/* A text that may hold somebody's credentials (the address of an index): masked. */
void repository_put_masked(json_t *fact, const char *key, const char *text);
/* The line that follows at *at, cut at REPOSITORY_LINE_MAX and without its end; false at the end.
 */
bool repository_next_line(const char **at, struct strbuf *line);
/* Does the file's name match one of these patterns of fnmatch(3)? */
bool repository_is_named(const struct repository_file *file, const char *const *patterns,
                         size_t count);

/* ---- readers, each of one kind of file or text ---- */

void repository_read_licence(const struct repository_file *file);

/* repository-requirement.c: one requirement as pip writes it ("a[b]==1; marker", "a @ url"); kind:
 * "requirements", "command", …; group: of optional ones; NULL. False: it is none. */
bool repository_add_requirement(const struct repository_file *file, unsigned line, const char *text,
                                const char *kind, const char *group);
void repository_add_pin(const struct repository_file *file, unsigned line, const char *name,
                        const char *specifier, const char *kind, const char *group);
void repository_read_requirements(const struct repository_file *file);
/* Words of "pip install …" and the like behind the program's own words. */
void repository_read_install(const struct repository_file *file, unsigned line,
                             const char *const *words, size_t count);
/* repository-pins.c */
void repository_read_toml(const struct repository_file *file);
void repository_read_environment(const struct repository_file *file);
void repository_read_setup(const struct repository_file *file); /* setup.cfg */

/* repository-shell.c: scripts, Dockerfiles, code in documents */
void repository_read_shell(const struct repository_file *file);
void repository_read_document(const struct repository_file *file);
void repository_read_docker(const struct repository_file *file);
/* A name of a hub's model or data set: "owner/name". */
bool repository_is_model_id(const char *text);

/* repository-python.c */
void repository_read_python(const struct repository_file *file);

/* repository-build.c: architectures, compilers, paths of one person's machine */
void repository_read_build(const struct repository_file *file);
void repository_read_paths(const struct repository_file *file);

/* repository-data.c: a file that code names to read it (its words may hold "*" for what is filled
 * in at run time); absent ones are kept. */
void repository_add_data(const struct repository_file *file, unsigned line, const char *path,
                         bool writes);
void repository_settle_data(struct repository *repository);
bool repository_is_data_name(const char *path);
