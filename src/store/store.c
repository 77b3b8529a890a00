/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chooses the ledger backend by URL and hands every call to it. Knows no SQL and no file; a URL
 * that no backend of this build serves is an error with what to do, never a silent default.
 */
#include "store/store.h"

#include "base/msg.h"
#include "base/str.h"
#include "store/store-ops.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

static const struct store_ops *const backends[] = {&store_sqlite_ops};

bool store_ops_are_complete(const struct store_ops *ops) {
    return ops->scheme && ops->scheme[0] && !strchr(ops->scheme, ':') && ops->open && ops->close &&
           ops->set_patience && ops->begin && ops->commit && ops->rollback && ops->put &&
           ops->get && ops->list && ops->info && ops->check && ops->each_journal &&
           ops->get_derivation && ops->set_derivation && ops->clear_entries && ops->replace_entry &&
           ops->purge && ops->salvage && ops->replace_file && ops->spare_place &&
           ops->discard_spare;
}

static const struct store_ops *backend_of(const char *url, size_t scheme_length) {
    for (size_t i = 0; i < ARRAY_LENGTH(backends); i++) {
        assert(store_ops_are_complete(backends[i]));
        if (strlen(backends[i]->scheme) == scheme_length &&
            memcmp(backends[i]->scheme, url, scheme_length) == 0)
            return backends[i];
    }
    return NULL;
}

/* Splits the URL. *ret_place is borrowed from it. */
static int parse_url(const char *url, const struct store_ops **ret_ops, const char **ret_place,
                     struct err *err) {
    if (url[0] == '/' || str_starts_with(url, "./") || str_starts_with(url, "../")) {
        *ret_ops = &store_sqlite_ops;
        *ret_place = url;
        return 0;
    }
    if (str_starts_with(url, "postgresql:") || str_starts_with(url, "postgres:"))
        return err_set(err, -ENOTSUP, "ledger-unsupported",
                       "this build keeps ledgers in SQLite files only: use --ledger sqlite:PATH");
    const char *colon = strchr(url, ':');
    const struct store_ops *ops = colon ? backend_of(url, (size_t)(colon - url)) : NULL;
    if (!ops)
        return err_set(err, -EINVAL, "ledger-url",
                       "'%s' names no ledger: write sqlite:PATH, for example sqlite:./ledger.db",
                       url);
    *ret_ops = ops;
    *ret_place = colon + 1;
    return 0;
}

int store_check_url(const char *url, struct err *err) {
    const struct store_ops *ops = NULL;
    const char *place = NULL;
    return parse_url(url, &ops, &place, err);
}

int store_open(const char *url, enum store_mode mode, struct store **ret_store, struct err *err) {
    const struct store_ops *ops = NULL;
    const char *place = NULL;
    int rc = parse_url(url, &ops, &place, err);
    if (!ops)
        return rc;
    return ops->open(place, mode, ret_store, err);
}

struct store *store_close(struct store *store) {
    if (store)
        store->ops->close(store);
    return NULL;
}

void store_close_ptr(struct store **store) {
    *store = store_close(*store);
}

void store_set_patience(struct store *store, int64_t patience_ns) {
    store->ops->set_patience(store, patience_ns);
}

int store_begin(struct store *store, struct err *err) {
    return store->ops->begin(store, err);
}

int store_commit(struct store *store, struct err *err) {
    return store->ops->commit(store, err);
}

void store_rollback(struct store *store) {
    store->ops->rollback(store);
}

int store_put(struct store *store, const struct store_entry *entry, const void *journal,
              size_t length, bool *ret_changed, struct err *err) {
    assert(entry->run && entry->part && entry->type && length > 0);
    return store->ops->put(store, entry, journal, length, ret_changed, err);
}

int store_get(struct store *store, const char *run, const char *part, void **ret_bytes,
              size_t *ret_length, struct err *err) {
    return store->ops->get(store, run, part, ret_bytes, ret_length, err);
}

int store_list(struct store *store, const struct store_query *query, struct arena *arena,
               struct store_entry **ret_entries, size_t *ret_count, struct err *err) {
    return store->ops->list(store, query, arena, ret_entries, ret_count, err);
}

int store_info(struct store *store, struct arena *arena, struct store_info *ret_info,
               struct err *err) {
    return store->ops->info(store, arena, ret_info, err);
}

int store_check(struct store *store, store_problem_fn each, store_journal_fn sound, void *context,
                size_t *ret_problems, struct err *err) {
    return store->ops->check(store, each, sound, context, ret_problems, err);
}

int store_each_journal(struct store *store, store_journal_fn each, void *context, struct err *err) {
    return store->ops->each_journal(store, each, context, err);
}

int store_get_derivation(struct store *store, int *ret_derivation, struct err *err) {
    return store->ops->get_derivation(store, ret_derivation, err);
}

int store_set_derivation(struct store *store, struct err *err) {
    return store->ops->set_derivation(store, err);
}

int store_clear_entries(struct store *store, struct err *err) {
    return store->ops->clear_entries(store, err);
}

int store_replace_entry(struct store *store, const struct store_entry *entry, struct err *err) {
    return store->ops->replace_entry(store, entry, err);
}

int store_purge(struct store *store, const char *const *runs, size_t count, size_t *ret_deleted,
                struct err *err) {
    return store->ops->purge(store, runs, count, ret_deleted, err);
}

int store_salvage(const char *url, store_journal_fn each, void *context, size_t *ret_unreadable,
                  struct err *err) {
    const struct store_ops *ops = NULL;
    const char *place = NULL;
    int rc = parse_url(url, &ops, &place, err);
    if (!ops)
        return rc;
    return ops->salvage(place, each, context, ret_unreadable, err);
}

int store_replace_file(const char *url, const char *new_url, char **ret_aside, struct err *err) {
    const struct store_ops *ops = NULL, *new_ops = NULL;
    const char *place = NULL, *new_place = NULL;
    int rc = parse_url(url, &ops, &place, err);
    if (!ops)
        return rc;
    rc = parse_url(new_url, &new_ops, &new_place, err);
    if (!new_ops)
        return rc;
    assert(ops == new_ops);
    return ops->replace_file(place, new_place, ret_aside, err);
}

void store_discard_spare(const char *spare_url) {
    const struct store_ops *ops = NULL;
    const char *place = NULL;
    struct err ignored = ERR_INIT;
    (void)parse_url(spare_url, &ops, &place, &ignored);
    if (ops)
        ops->discard_spare(place);
}

int store_spare_url(const char *url, char **ret_url, struct err *err) {
    const struct store_ops *ops = NULL;
    const char *place = NULL;
    int rc = parse_url(url, &ops, &place, err);
    if (!ops)
        return rc;
    AUTO_FREE char *spare = NULL;
    rc = ops->spare_place(place, &spare, err);
    if (rc < 0)
        return rc;
    *ret_url = mem_printf("%s:%s", ops->scheme, spare);
    return 0;
}
