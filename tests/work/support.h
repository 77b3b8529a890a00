/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the work layer's tests share: a home of their own and made-up journals in it. */
#pragma once

#include "../journal/support.h"

#include "store/store.h"
#include "work/place.h"

#define UTC_BASE INT64_C(1764500000000000000)

struct home {
    char path[400];
    char url[500];
    char dir[500]; /* the journal folder beside the ledger */
    struct arena *arena;
    struct place place;
};

static inline int home_setup(void **state) {
    void *folder = NULL;
    if (folder_setup(&folder) != 0)
        return -1;
    struct home *home = mem_alloc(sizeof(*home));
    snprintf(home->path, sizeof(home->path), "%s", (char *)folder);
    free(folder);
    snprintf(home->url, sizeof(home->url), "sqlite:%s/ledger.db", home->path);
    snprintf(home->dir, sizeof(home->dir), "%s/journals", home->path);
    setenv("HOME", home->path, 1);
    const char *const variables[] = {"PROBELAUF_LEDGER", "PROBELAUF_JOURNAL_DIR", "XDG_DATA_HOME",
                                     "XDG_STATE_HOME"};
    for (size_t i = 0; i < ARRAY_LENGTH(variables); i++)
        unsetenv(variables[i]);
    home->arena = arena_new();
    const char **dirs = arena_alloc(home->arena, 2 * sizeof(*dirs));
    dirs[0] = home->dir;
    home->place = (struct place){.ledger_url = home->url, .journal_dirs = dirs};
    *state = home;
    return mkdir(home->dir, 0700);
}

static inline int home_teardown(void **state) {
    struct home *home = *state;
    int rc = nftw(home->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    arena_free(home->arena);
    free(home);
    return rc;
}

#define HOME_TEST(name) cmocka_unit_test_setup_teardown(name, home_setup, home_teardown)

#define ID_SIZE 37

static inline const char *run_id(unsigned n, char ret_id[ID_SIZE]) {
    snprintf(ret_id, ID_SIZE, "0192%04x-0000-7000-8000-%012x", n & 0xffff, n);
    return ret_id;
}

static inline const char *part_id(unsigned n, char ret_id[ID_SIZE]) {
    snprintf(ret_id, ID_SIZE, "0192%04x-0000-7000-9000-%012x", n & 0xffff, n);
    return ret_id;
}

struct made {   /* zeroed: a run that ended well */
    unsigned n; /* its id and its start in seconds */
    const char *start_more, *end_more;
    bool unfinished; /* no END, no living writer */
    unsigned part;   /* 0: as n */
    const char *study;
};

static inline void make_journal(const struct made *made, struct strbuf *out) {
    char run[ID_SIZE], part[ID_SIZE];
    AUTO_FREE char *study = made->study ? mem_printf(",'study':'%s'", made->study) : NULL;
    AUTO_FREE char *header = mem_printf(
        "{'format':1,'type':'run','run':'%s','part':'%s','boot_id':'none','pid':1,'pid_start':1,"
        "'utc_ns':%lld,'program':'0.1.0'%s}",
        run_id(made->n, run), part_id(made->part ? made->part : made->n, part),
        (long long)(UTC_BASE + made->n * NS_PER_S), study ? study : "");
    AUTO_FREE char *start = mem_printf(
        "{'command':['python3','train.py','--seed','%u'],'cwd':'/w','purpose':'trial','attempt':1,"
        "'clock':{'start_mono_ns':1000000000,'start_utc_ns':%lld},'rss_floor_bytes':2097152%s}",
        made->n, (long long)(UTC_BASE + made->n * NS_PER_S),
        made->start_more ? made->start_more : "");
    AUTO_FREE char *end =
        mem_printf("{'t_ns':2500000000,'command_t_ns':2500000000,'end_utc_ns':%lld,'exit_code':0,"
                   "'survivors':[],'wall_is_at_least':false%s}",
                   (long long)(UTC_BASE + made->n * NS_PER_S + 2500000000),
                   made->end_more ? made->end_more : "");
    strbuf_add_str(out, JOURNAL_MAGIC);
    add(out, JOURNAL_HEADER, header);
    add(out, JOURNAL_START, start);
    if (!made->unfinished)
        add(out, JOURNAL_END, end);
}

static inline char *journal_path(const struct home *home, const struct made *made) {
    char run[ID_SIZE], part[ID_SIZE];
    return mem_printf("%s/%s-%s.journal", home->dir, run_id(made->n, run),
                      part_id(made->part ? made->part : made->n, part));
}

static inline void write_bytes_to(const char *path, const struct strbuf *bytes) {
    struct err err = ERR_INIT;
    must(file_write_atomic(path, strbuf_str(bytes), bytes->length, 0600, &err), &err);
}

/* Leaves a journal file waiting; returns its path. */
static inline char *leave_journal(const struct home *home, const struct made *made) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    make_journal(made, &bytes);
    char *path = journal_path(home, made);
    write_bytes_to(path, &bytes);
    return path;
}

static inline bool is_there(const char *path) {
    return access(path, F_OK) == 0;
}

static inline size_t count_files(const char *dir) {
    AUTO_FREE char *command = mem_printf("ls -A '%s' | wc -l", dir);
    FILE *pipe = popen(command, "r");
    unsigned count = 9999;
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%u", &count), 1);
    pclose(pipe);
    return count;
}

static inline struct store *open_ledger(const struct home *home) {
    struct err err = ERR_INIT;
    struct store *store = NULL;
    must(store_open(home->url, STORE_READ_WRITE, &store, &err), &err);
    return store;
}

static inline size_t list_all(struct store *store, struct arena *arena,
                              struct store_entry **ret_entries) {
    struct err err = ERR_INIT;
    size_t count = 0;
    must(store_list(store, &(struct store_query){0}, arena, ret_entries, &count, &err), &err);
    return count;
}

static inline size_t count_entries(struct store *store) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct store_entry *entries;
    return list_all(store, arena, &entries);
}
