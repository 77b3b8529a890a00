/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading the index: lists by any filter, newest first, and the figures of `ledger info`. Never
 * reads a journal's bytes; each filter has an index (schema: store-sqlite-schema.c), so that a page
 * costs the same with a million runs.
 */
#include "store/store-sqlite.h"

#include "base/msg.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* The filters; the order is the numbering of the parameters. */
enum filter {
    FILTER_TYPE = 1,
    FILTER_ABOUT,
    FILTER_TAIL_FROM,
    FILTER_TAIL_BELOW,
    FILTER_STUDY,
    FILTER_OUTCOME,
    FILTER_PURPOSE,
    FILTER_GROUP,
    FILTER_TEXT,
    FILTER_SINCE,
    FILTER_UNTIL,
    FILTER_AFTER_UTC,
    FILTER_AFTER_RUN,
    FILTER_AFTER_PART,
    FILTER_LIMIT,
};

void sqlite_list_sql(const struct store_query *query, struct strbuf *out) {
    strbuf_add_str(out, "SELECT run, part, type, about, study, started_utc_ns, ended_utc_ns,"
                        " outcome, purpose, command, group_key, wall_s, wall_bound"
                        " FROM entry WHERE TRUE");
    const struct {
        bool wanted;
        const char *sql;
    } filters[] = {
        {query->type != NULL, " AND type = ?1"},
        {query->about != NULL, " AND about = ?2"},
        {query->id_tail != NULL, " AND tail >= ?3 AND tail < ?4"},
        {query->study != NULL, " AND study = ?5"},
        {query->outcome != NULL, " AND outcome = ?6"},
        {query->purpose != NULL, " AND purpose = ?7"},
        {query->group_key != NULL, " AND group_key = ?8"},
        {query->text != NULL, " AND instr(command, ?9) > 0"},
        {query->since_utc_ns != 0, " AND started_utc_ns >= ?10"},
        {query->until_utc_ns != 0, " AND started_utc_ns < ?11"},
        {query->after && !query->after_part, " AND (started_utc_ns, run) < (?12, ?13)"},
        {query->after && query->after_part, " AND (started_utc_ns, run, part) < (?12, ?13, ?14)"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(filters); i++)
        if (filters[i].wanted)
            strbuf_add_str(out, filters[i].sql);
    strbuf_add_str(out, " ORDER BY started_utc_ns DESC, run DESC, part DESC");
    if (query->limit != 0)
        strbuf_add_str(out, " LIMIT ?15");
}

static bool has_parameter(sqlite3_stmt *statement, int index) {
    return index <= sqlite3_bind_parameter_count(statement);
}

static void bind_filters(sqlite3_stmt *statement, const struct store_query *query,
                         const char *tail_from, const char *tail_below, int64_t after_utc_ns) {
    const struct {
        enum filter index;
        const char *text;
    } texts[] = {
        {FILTER_TYPE, query->type},
        {FILTER_ABOUT, query->about},
        {FILTER_TAIL_FROM, tail_from},
        {FILTER_TAIL_BELOW, tail_below},
        {FILTER_STUDY, query->study},
        {FILTER_OUTCOME, query->outcome},
        {FILTER_PURPOSE, query->purpose},
        {FILTER_GROUP, query->group_key},
        {FILTER_TEXT, query->text},
        {FILTER_AFTER_RUN, query->after},
        {FILTER_AFTER_PART, query->after_part},
    };
    /* Numbered parameters: all up to the largest number in use exist, those without a filter are
     * simply not asked. */
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        if (has_parameter(statement, (int)texts[i].index))
            sql_bind_text(statement, (int)texts[i].index, texts[i].text);
    const struct {
        enum filter index;
        int64_t value;
    } numbers[] = {
        {FILTER_SINCE, query->since_utc_ns},
        {FILTER_UNTIL, query->until_utc_ns},
        {FILTER_AFTER_UTC, after_utc_ns},
        {FILTER_LIMIT, query->limit > INT64_MAX ? INT64_MAX : (int64_t)query->limit},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++)
        if (has_parameter(statement, (int)numbers[i].index))
            sql_bind_int(statement, (int)numbers[i].index, numbers[i].value);
}

static const char *copy_text(sqlite3_stmt *row, int column, struct arena *arena) {
    const char *text = sql_text(row, column);
    return text ? arena_strdup(arena, text) : NULL;
}

static void read_entry(sqlite3_stmt *row, struct arena *arena, struct store_entry *ret_entry) {
    *ret_entry = (struct store_entry){
        .run = copy_text(row, 0, arena),
        .part = copy_text(row, 1, arena),
        .type = copy_text(row, 2, arena),
        .about = copy_text(row, 3, arena),
        .study = copy_text(row, 4, arena),
        .started_utc_ns = sqlite3_column_int64(row, 5),
        .ended_utc_ns = sqlite3_column_int64(row, 6), /* NULL reads as 0: not known */
        .outcome = copy_text(row, 7, arena),
        .purpose = copy_text(row, 8, arena),
        .command = copy_text(row, 9, arena),
        .group_key = copy_text(row, 10, arena),
        .has_wall = sqlite3_column_type(row, 11) != SQLITE_NULL,
        .wall_s = sqlite3_column_double(row, 11),
        .wall_bound = copy_text(row, 12, arena),
    };
}

static int start_of(struct sqlite_store *store, const char *run, int64_t *ret_utc_ns,
                    struct err *err) {
    AUTO_STMT sqlite3_stmt *row = NULL;
    /* The oldest part: behind it are none of this run. */
    int rc = sql_prepare(store, "SELECT min(started_utc_ns) FROM entry WHERE run = ?1", &row, err);
    if (rc < 0)
        return rc;
    sql_bind_text(row, 1, run);
    rc = sql_next(store, row, err);
    if (rc < 0)
        return rc;
    if (rc == 0 || sqlite3_column_type(row, 0) == SQLITE_NULL)
        return err_set(err, -ENOENT, "run-not-found", "the ledger holds no run '%s'", run);
    *ret_utc_ns = sqlite3_column_int64(row, 0);
    return 0;
}

static char *reverse(const char *text, const char *behind) {
    size_t length = strlen(text);
    AUTO_FREE char *backwards = mem_alloc(length + 1);
    for (size_t i = 0; i < length; i++)
        backwards[i] = text[length - 1 - i];
    return mem_printf("%s%s", backwards, behind);
}

int sqlite_list(struct store *store, const struct store_query *query, struct arena *arena,
                struct store_entry **ret_entries, size_t *ret_count, struct err *err) {
    struct sqlite_store *self = sqlite_of(store);
    int64_t after_utc_ns = query->after_utc_ns;
    if (query->after && after_utc_ns == 0) {
        int rc = start_of(self, query->after, &after_utc_ns, err);
        if (rc < 0)
            return rc;
    }
    AUTO_STRBUF struct strbuf sql = STRBUF_INIT;
    sqlite_list_sql(query, &sql);
    AUTO_FREE char *tail_from = query->id_tail ? reverse(query->id_tail, "") : NULL;
    /* Ids are hexadecimal digits and dashes, all below '~'. */
    AUTO_FREE char *tail_below = query->id_tail ? reverse(query->id_tail, "~") : NULL;
    AUTO_STMT sqlite3_stmt *row = NULL;
    int rc = sql_prepare(self, strbuf_str(&sql), &row, err);
    if (rc < 0)
        return rc;
    bind_filters(row, query, tail_from, tail_below, after_utc_ns);

    AUTO_FREE struct store_entry *entries = NULL;
    size_t count = 0, room = 0;
    while ((rc = sql_next(self, row, err)) > 0) {
        if (count == room) {
            room = room ? room * 2 : 64;
            entries = mem_realloc(entries, room, sizeof(*entries));
        }
        read_entry(row, arena, &entries[count++]);
    }
    if (rc < 0)
        return rc;
    *ret_entries = arena_alloc(arena, (count ? count : 1) * sizeof(*entries));
    if (count > 0)
        memcpy(*ret_entries, entries, count * sizeof(*entries));
    *ret_count = count;
    return 0;
}

/* ---- info ---- */

static uint64_t size_of(const char *path, const char *suffix) {
    AUTO_FREE char *name = mem_printf("%s%s", path, suffix);
    struct stat status;
    return stat(name, &status) == 0 ? (uint64_t)status.st_size : 0;
}

static int count_entries(struct sqlite_store *store, struct store_info *info, struct err *err) {
    AUTO_STMT sqlite3_stmt *row = NULL;
    int rc = sql_prepare(store,
                         "SELECT count(*), count(*) FILTER (WHERE type = 'event') FROM entry"
                         " INDEXED BY entry_by_time",
                         &row, err);
    if (rc < 0)
        return rc;
    rc = sql_next(store, row, err);
    if (rc < 0)
        return rc;
    info->events = (uint64_t)sqlite3_column_int64(row, 1);
    info->runs = (uint64_t)sqlite3_column_int64(row, 0) - info->events;
    return 0;
}

int sqlite_info(struct store *store, struct arena *arena, struct store_info *ret_info,
                struct err *err) {
    struct sqlite_store *self = sqlite_of(store);
    struct store_info info = {
        .backend = "sqlite",
        .place = arena_strdup(arena, self->path),
        .journal_mode = self->journal_mode,
        .network_file_system = self->network,
        /* -shm is shared memory of the open connections, not data */
        .file_bytes = size_of(self->path, "") + size_of(self->path, "-wal"),
    };
    int64_t bytes = 0;
    int rc = sqlite_read_version(self, &info.schema_version, err);
    if (rc == 0)
        rc = count_entries(self, &info, err);
    if (rc == 0)
        rc = sql_get_int(self, "SELECT coalesce(sum(length), 0) FROM journal", &bytes, err);
    if (rc < 0)
        return rc;
    info.journal_bytes = (uint64_t)bytes;
    rc = sql_get_int(self, "SELECT coalesce(sum(stored_length), 0) FROM journal", &bytes, err);
    if (rc < 0)
        return rc;
    info.stored_bytes = (uint64_t)bytes;
    *ret_info = info;
    return 0;
}
