/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * See session-here.h. One file for each session that was begun and not stopped yet, in a folder
 * beside the ledger; of several machines that share it each finds its own. Nothing in a file is
 * trusted, and nothing here can hang: only plain files of ours are opened, few and small ones.
 */
#include "work/session-here.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"
#include "base/uuid.h"
#include "work/session-parts.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER    "running-sessions"
#define SUFFIX    ".json"
#define FILES_MAX 64
#define FILE_MAX  ((size_t)8192)
#define WITHIN_NS (20 * NS_PER_MS)

/* NULL: the ledger is no file. */
static char *folder_of(const struct place *place) {
    const char *path = place->ledger_url;
    if (str_starts_with(path, "sqlite:"))
        path += strlen("sqlite:");
    const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;
    return slash ? mem_printf("%.*s/%s", (int)(slash - path), path, FOLDER) : NULL;
}

static bool read_name(const char *name, char ret_id[UUID_TEXT_SIZE]) {
    if (strlen(name) != UUID_TEXT_SIZE - 1 + strlen(SUFFIX) || !str_ends_with(name, SUFFIX))
        return false;
    memcpy(ret_id, name, UUID_TEXT_SIZE - 1);
    ret_id[UUID_TEXT_SIZE - 1] = '\0';
    return uuid_is_valid(ret_id);
}

static json_t *read_file(const char *folder, const char *name) {
    AUTO_FREE char *path = mem_printf("%s/%s", folder, name);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    struct stat status;
    if (lstat(path, &status) < 0 || !S_ISREG(status.st_mode) ||
        (status.st_uid != geteuid() && status.st_uid != 0) || file_read(path, FILE_MAX, &text) < 0)
        return NULL;
    char why[160];
    json_t *json = json_parse(strbuf_str(&text), text.length, why);
    if (json && !json_is_object(json)) {
        json_decref(json);
        return NULL;
    }
    return json;
}

/* The rule by which a session runs here: its name, or this boot. */
static bool is_here(const json_t *file, const struct session_moment *now) {
    const struct session_moment there = {.host = json_get_text(file, "host", NULL),
                                         .machine = json_get_text(file, "machine", NULL),
                                         .boot_id = json_get_text(file, "boot_id", NULL)};
    return session_is_here(&there, now);
}

static bool find_in(DIR *dir, const char *folder, struct arena *arena, struct session_here *ret) {
    const struct session_moment now = work_session_now(arena);
    int64_t until_ns = clock_mono_ns() + WITHIN_NS;
    size_t looked_at = 0, found = 0;
    char id[UUID_TEXT_SIZE];
    for (struct dirent *item; (item = readdir(dir));) {
        if (!read_name(item->d_name, id))
            continue;
        if (++looked_at > FILES_MAX || clock_mono_ns() > until_ns)
            return false;
        AUTO_JSON json_t *file = read_file(folder, item->d_name);
        if (!file || !is_here(file, &now))
            continue;
        const char *environment = json_get_text(file, "environment", NULL);
        const char *offer = json_get_text(file, "offer", NULL);
        found++;
        *ret = (struct session_here){
            .id = arena_strdup(arena, id),
            .environment = environment ? arena_strdup(arena, environment) : NULL,
            .offer = offer ? arena_strdup(arena, offer) : NULL,
        };
    }
    return found == 1;
}

bool session_here_find(const struct place *place, struct arena *arena, struct session_here *ret) {
    AUTO_FREE char *folder = folder_of(place);
    *ret = (struct session_here){0};
    DIR *dir = folder ? opendir(folder) : NULL;
    if (!dir)
        return false;
    bool found = find_in(dir, folder, arena, ret);
    closedir(dir);
    return found;
}

void session_here_put(const struct place *place, const struct session_here *session,
                      const struct session_moment *machine) {
    AUTO_FREE char *folder = folder_of(place);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    AUTO_JSON json_t *file = json_object();
    struct err ignored = ERR_INIT;
    if (!folder || dir_make_private(folder, &ignored) < 0)
        return;
    AUTO_FREE char *path = mem_printf("%s/%s%s", folder, session->id, SUFFIX);
    json_put_text(file, "environment", session->environment);
    json_put_text(file, "offer", session->offer);
    json_put_text(file, "host", machine->host);
    json_put_text(file, "machine", machine->machine);
    json_put_text(file, "boot_id", machine->boot_id);
    json_add_compact(&text, file);
    (void)file_write_atomic(path, strbuf_str(&text), text.length, 0600, &ignored);
}

void session_here_drop(const struct place *place, const char *id) {
    AUTO_FREE char *folder = folder_of(place);
    if (!folder)
        return;
    AUTO_FREE char *path = mem_printf("%s/%s%s", folder, id, SUFFIX);
    (void)unlink(path);
}

static bool is_open(const struct session_list *list, const char *id) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].id, id) == 0)
            return list->items[i].state != SESSION_STOPPED && !list->items[i].superseded_by;
    return false;
}

void session_here_tidy(const struct place *place, const struct session_list *list) {
    AUTO_FREE char *folder = folder_of(place);
    DIR *dir = folder ? opendir(folder) : NULL;
    char id[UUID_TEXT_SIZE];
    if (!dir)
        return;
    for (struct dirent *item; (item = readdir(dir));)
        if (read_name(item->d_name, id) && !is_open(list, id))
            session_here_drop(place, id);
    closedir(dir);
}
