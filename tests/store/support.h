/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the store's tests share: a folder that goes away, made-up entries and journals. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka.h needs the four above */
#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "store/store-sqlite.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UTC_BASE INT64_C(1764500000000000000)

struct folder {
    char path[512];
    char url[600];    /* sqlite:<path>/ledger.db */
    char ledger[600]; /* <path>/ledger.db */
};

static inline int folder_setup(void **state) {
    const char *tmp = getenv("TMPDIR");
    struct folder *folder = mem_alloc(sizeof(*folder));
    snprintf(folder->path, sizeof(folder->path), "%s/probelauf-store-XXXXXX",
             tmp && tmp[0] == '/' ? tmp : "/tmp");
    if (!mkdtemp(folder->path))
        return -1;
    snprintf(folder->url, sizeof(folder->url), "sqlite:%s/ledger.db", folder->path);
    snprintf(folder->ledger, sizeof(folder->ledger), "%s/ledger.db", folder->path);
    *state = folder;
    return 0;
}

static inline int remove_one(const char *path, const struct stat *status, int type,
                             struct FTW *walk) {
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

static inline int folder_teardown(void **state) {
    struct folder *folder = *state;
    nftw(folder->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(folder);
    return 0;
}

#define FOLDER_TEST(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)

/* A run id that sorts and ends with its number. */
static inline const char *id_of(unsigned n, char ret_id[UUID_TEXT_SIZE]) {
    snprintf(ret_id, UUID_TEXT_SIZE, "0192%04x-%04x-7000-8000-%012x", (n >> 16) & 0xffff,
             n & 0xffff, n);
    return ret_id;
}

struct made {
    char run[UUID_TEXT_SIZE];
    struct store_entry entry;
    char journal[200];
    size_t length;
};

static inline void make_run(unsigned n, struct made *ret_made) {
    id_of(n, ret_made->run);
    ret_made->entry = (struct store_entry){
        .run = ret_made->run,
        .part = "p1",
        .type = "run",
        .started_utc_ns = UTC_BASE + n * NS_PER_S,
        .ended_utc_ns = UTC_BASE + n * NS_PER_S + 5,
        .outcome = "ok",
        .purpose = "trial",
        .command = "python3 train.py",
        .group_key = "g1",
        .has_wall = true,
        .wall_s = 0.1 + n,
        .wall_bound = "exact",
    };
    int length = snprintf(ret_made->journal, sizeof(ret_made->journal),
                          "PLJOURN1 made up for run %u, with aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa "
                          "and bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
                          n);
    ret_made->length = (size_t)length;
}

static inline void must(int rc, const struct err *err) {
    if (rc < 0)
        fail_msg("%d: %s: %s", rc, err->id, err->text);
}

static inline struct store *must_open(const char *url) {
    struct err err = ERR_INIT;
    struct store *store;
    must(store_open(url, STORE_READ_WRITE, &store, &err), &err);
    return store;
}

static inline void must_put(struct store *store, const struct made *made) {
    struct err err = ERR_INIT;
    bool changed = false;
    must(store_put(store, &made->entry, made->journal, made->length, &changed, &err), &err);
    assert_true(changed);
}

static inline void count_problem(const char *run, const char *part, const char *what,
                                 void *context) {
    (void)run;
    (void)part;
    if (context)
        snprintf(context, 500, "%s", what);
}

/* The last problem's text is left in `ret_what` (500 bytes) where given. */
static inline size_t problems_of(struct store *store, char *ret_what) {
    struct err err = ERR_INIT;
    size_t problems = 999;
    must(store_check(store, count_problem, NULL, ret_what, &problems, &err), &err);
    return problems;
}

/* Runs SQL on the file behind the store's back. */
static inline void raw_sql(const char *path, const char *sql) {
    sqlite3 *db;
    char *why = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s", why);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}
