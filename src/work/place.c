/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where ledger and journals are: flag, environment, configuration, XDG folders, in this order. Only
 * decides; creates nothing, and asks no user database (a static program has none to ask).
 */
#include "work/place.h"

#include "base/digest.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DIRS_MAX 6

/* Empty means not set, as in the XDG base directory specification. */
static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* "All paths set in these environment variables must be absolute. If [...] relative, the
 * application should [...] ignore it." */
static const char *absolute_variable(const char *name) {
    const char *value = variable(name);
    return value && value[0] == '/' ? value : NULL;
}

/* $XDG_…_HOME, or the folder below HOME; NULL without both. */
static const char *xdg_folder(const char *name, const char *below_home, struct arena *arena) {
    const char *folder = absolute_variable(name);
    if (folder)
        return folder;
    const char *home = absolute_variable("HOME");
    return home ? arena_printf(arena, "%s%s%s", home, str_ends_with(home, "/") ? "" : "/",
                               below_home)
                : NULL;
}

static const char *last_resort(struct arena *arena) {
    return arena_printf(arena, "/var/tmp/probelauf-%lu", (unsigned long)geteuid());
}

/* Paths from options and variables are meant from the current folder, whoever uses them later and
 * from where. */
static const char *absolute(const char *path, struct arena *arena) {
    AUTO_FREE char *folder = NULL;
    if (path[0] == '/')
        return arena_strdup(arena, path);
    folder = getcwd(NULL, 0);
    return folder ? arena_printf(arena, "%s/%s", folder, path) : arena_strdup(arena, path);
}

/* The path of a ledger in a file; NULL for another kind, or one that store_open will refuse anyway.
 */
static const char *ledger_path(const char *url) {
    if (url[0] == '/' || str_starts_with(url, "./") || str_starts_with(url, "../"))
        return url;
    if (!str_starts_with(url, "sqlite:"))
        return NULL;
    const char *path = url + strlen("sqlite:");
    bool usable = *path && path[0] != '~' && !(str_starts_with(path, "//") && path[2] != '/');
    return usable ? path : NULL;
}

static const char *default_ledger(struct arena *arena) {
    const char *data = xdg_folder("XDG_DATA_HOME", ".local/share", arena);
    if (data)
        return arena_printf(arena, "sqlite:%s/probelauf/ledger.db", data);
    return arena_printf(arena, "sqlite:%s/ledger.db", last_resort(arena));
}

static const char *resolve_ledger(const char *flag, const char *config, struct arena *arena) {
    const char *url = flag ? flag : variable("PROBELAUF_LEDGER");
    if (!url)
        url = config;
    if (!url)
        return default_ledger(arena);
    const char *path = ledger_path(url);
    return path ? arena_printf(arena, "sqlite:%s", absolute(path, arena))
                : arena_strdup(arena, url);
}

struct dirs {
    const char **items;
    size_t count;
};

static void add_dir(struct dirs *dirs, const char *dir) {
    for (size_t i = 0; i < dirs->count; i++)
        if (strcmp(dirs->items[i], dir) == 0)
            return;
    dirs->items[dirs->count++] = dir;
}

/* Several ledgers may lie in one folder: only one of them can be called ledger.db. */
static const char *beside(const char *url, struct arena *arena) {
    const char *path = ledger_path(url);
    if (!path)
        return NULL;
    const char *name = strrchr(path, '/');
    if (strcmp(name, "/ledger.db") != 0)
        return arena_printf(arena, "%s-journals", path);
    return arena_printf(arena, "%.*s/journals", (int)(name - path), path);
}

/* A part of a folder that several ledgers share: what waits for one ledger must not be taken into
 * another. */
static const char *own_part(const char *dir, const char *url, struct arena *arena) {
    char hex[SHA256_HEX_SIZE];
    digest_sha256(url, strlen(url), hex);
    return arena_printf(arena, "%s/%.16s", dir, hex);
}

/* Below HOME there is one ledger that nobody named, and the folder is its own. Where a variable
 * moves one of the two, different ledgers may meet there. */
static bool is_of_same_home(const char *url, struct arena *arena) {
    return absolute_variable("HOME") && !absolute_variable("XDG_DATA_HOME") &&
           !absolute_variable("XDG_STATE_HOME") && strcmp(url, default_ledger(arena)) == 0;
}

static const char *state_folder(const char *url, struct arena *arena) {
    const char *state = xdg_folder("XDG_STATE_HOME", ".local/state", arena);
    if (!state)
        return NULL;
    const char *dir = arena_printf(arena, "%s/probelauf/journals", state);
    return is_of_same_home(url, arena) ? dir : own_part(dir, url, arena);
}

/* One user may have several homes (containers, jobs), and all of them have this folder in common:
 * only the ledger that lies in it needs no part. */
static const char *last_folder(const char *url, struct arena *arena) {
    const char *dir = last_resort(arena);
    const char *own = arena_printf(arena, "sqlite:%s/ledger.db", dir);
    return strcmp(url, own) == 0 ? dir : own_part(dir, url, arena);
}

void place_resolve(const char *ledger_flag, const char *journal_dir_flag, const char *ledger_config,
                   const char *journal_dir_config, struct arena *arena, struct place *ret_place) {
    const char *url = resolve_ledger(ledger_flag, ledger_config, arena);
    struct dirs dirs = {.items = arena_alloc(arena, DIRS_MAX * sizeof(*dirs.items))};
    const char *chosen = journal_dir_flag ? journal_dir_flag : variable("PROBELAUF_JOURNAL_DIR");
    if (!chosen)
        chosen = journal_dir_config;
    if (chosen && *chosen)
        add_dir(&dirs, absolute(chosen, arena));
    const char *near = beside(url, arena);
    if (near)
        add_dir(&dirs, near);
    const char *state = state_folder(url, arena);
    if (state)
        add_dir(&dirs, state);
    add_dir(&dirs, last_folder(url, arena));
    *ret_place = (struct place){.ledger_url = url, .journal_dirs = dirs.items};
}
