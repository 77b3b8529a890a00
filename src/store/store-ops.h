/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a ledger backend must bring. Only store.c and the backends include this. A backend embeds
 * struct store as the first member of its own; every hook is required, so that no caller asks
 * whether one is there.
 */
#pragma once

#include "store/store.h"

struct store_ops {
    const char *scheme; /* "sqlite": what stands before the first colon of the URL */
    /* place: the URL behind "scheme:". The backend sets (*ret_store)->ops. */
    int (*open)(const char *place, enum store_mode mode, struct store **ret_store, struct err *err);
    void (*close)(struct store *store);
    void (*set_patience)(struct store *store, int64_t patience_ns);
    int (*begin)(struct store *store, struct err *err);
    int (*commit)(struct store *store, struct err *err);
    void (*rollback)(struct store *store);
    int (*put)(struct store *store, const struct store_entry *entry, const void *journal,
               size_t length, bool *ret_changed, struct err *err);
    int (*get)(struct store *store, const char *run, const char *part, void **ret_bytes,
               size_t *ret_length, struct err *err);
    int (*list)(struct store *store, const struct store_query *query, struct arena *arena,
                struct store_entry **ret_entries, size_t *ret_count, struct err *err);
    int (*info)(struct store *store, struct arena *arena, struct store_info *ret_info,
                struct err *err);
    int (*check)(struct store *store, store_problem_fn each, store_journal_fn sound, void *context,
                 size_t *ret_problems, struct err *err);
    int (*each_journal)(struct store *store, store_journal_fn each, void *context, struct err *err);
    int (*get_derivation)(struct store *store, int *ret_derivation, struct err *err);
    int (*set_derivation)(struct store *store, struct err *err);
    int (*clear_entries)(struct store *store, struct err *err);
    int (*replace_entry)(struct store *store, const struct store_entry *entry, struct err *err);
    int (*purge)(struct store *store, const char *const *runs, size_t count, size_t *ret_deleted,
                 struct err *err);
    int (*salvage)(const char *place, store_journal_fn each, void *context, size_t *ret_unreadable,
                   struct err *err);
    int (*replace_file)(const char *place, const char *new_place, char **ret_aside,
                        struct err *err);
    int (*spare_place)(const char *place, char **ret_place, struct err *err);
    void (*discard_spare)(const char *spare_place);
};

struct store {
    const struct store_ops *ops;
};

extern const struct store_ops store_sqlite_ops;

/* All hooks are there and the scheme is a plain word. */
bool store_ops_are_complete(const struct store_ops *ops);
