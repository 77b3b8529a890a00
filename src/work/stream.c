/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Journals from one machine to another as one stream (docs/journal-format.md, "Streams of
 * journals"). Reads from any kind of descriptor without seeking, never trusts a length before the
 * bytes are there, and holds no lock while it waits for input.
 */
#include "work/stream.h"

#include "base/fd.h"
#include "base/msg.h"
#include "journal/journal.h"
#include "work/intake.h"
#include "work/ledger.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define STREAM_MAGIC      "PLSTREAM1\n"
#define STREAM_MAGIC_SIZE 10u
#define WORD              8u /* bytes of a number; both magics have at least as many */
#define PIECE             (1u << 20)

static void put_word(uint64_t value, uint8_t bytes[WORD]) {
    for (unsigned i = 0; i < WORD; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_word(const uint8_t bytes[WORD]) {
    uint64_t value = 0;
    for (unsigned i = 0; i < WORD; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

/* ---- export ---- */

struct exporting {
    int fd;
    uint64_t count;
};

static int write_bytes(int fd, const void *bytes, size_t length, struct err *err) {
    int rc = fd_write_full(fd, bytes, length);
    if (rc < 0)
        return err_set(err, rc, "stream-write", "writing the stream of journals failed: %s",
                       strerror(-rc));
    return 0;
}

int stream_begin(int fd, struct err *err) {
    return write_bytes(fd, STREAM_MAGIC, STREAM_MAGIC_SIZE, err);
}

int stream_add(int fd, const void *journal, size_t length, struct err *err) {
    length = journal_portable_length(journal, length);
    uint8_t head[WORD];
    put_word(length, head);
    int rc = write_bytes(fd, head, sizeof(head), err);
    return rc < 0 ? rc : write_bytes(fd, journal, length, err);
}

/* The end says how many there were, so that a cut between two journals is seen too. */
int stream_end(int fd, uint64_t journals, struct err *err) {
    uint8_t end[2 * WORD];
    put_word(0, end);
    put_word(journals, end + WORD);
    return write_bytes(fd, end, sizeof(end), err);
}

static int export_one(const char *run, const char *part, const void *bytes, size_t length,
                      void *context, struct err *err) {
    struct exporting *exporting = context;
    (void)run;
    (void)part;
    int rc = stream_add(exporting->fd, bytes, length, err);
    exporting->count += rc == 0;
    return rc;
}

int ledger_export(struct store *store, int fd, size_t *ret_journals, struct err *err) {
    struct exporting exporting = {.fd = fd};
    int rc = stream_begin(fd, err);
    if (rc == 0)
        rc = store_each_journal(store, export_one, &exporting, err);
    if (rc == 0)
        rc = stream_end(fd, exporting.count, err);
    if (rc == 0)
        *ret_journals = (size_t)exporting.count;
    return rc;
}

/* ---- import ---- */

/* Journals are read first and taken in together: one commit for many, and no lock while a slow
 * sender is waited for. */
#define BATCH_JOURNALS 256
#define BATCH_BYTES    (16u << 20)

struct importing {
    struct store *store;
    int fd;
    struct strbuf batch[BATCH_JOURNALS];
    size_t count, bytes;
    struct ledger_imported *imported;
};

static void drop_batch(struct importing *importing) {
    for (size_t i = 0; i < importing->count; i++)
        strbuf_done(&importing->batch[i]);
    importing->count = importing->bytes = 0;
}

static void note_problem(struct ledger_imported *imported, const struct err *why) {
    if (imported->damaged++ == 0)
        snprintf(imported->first_problem, sizeof(imported->first_problem), "%s", why->text);
}

static int take_batch(struct importing *importing, struct ledger_imported *now, struct err *err) {
    for (size_t i = 0; i < importing->count; i++) {
        const struct strbuf *journal = &importing->batch[i];
        struct err why = ERR_INIT;
        bool changed = false;
        int rc =
            intake_bytes(importing->store, strbuf_str(journal), journal->length, &changed, &why);
        if (rc < 0 && strncmp(why.id, "journal-", strlen("journal-")) != 0) {
            *err = why; /* the ledger's own trouble */
            return rc;
        }
        if (rc < 0)
            note_problem(now, &why);
        else if (changed)
            now->taken++;
        else
            now->unchanged++;
    }
    return 0;
}

/* Counts only what is durable. */
static int flush_batch(struct importing *importing, struct err *err) {
    if (importing->count == 0)
        return 0;
    struct ledger_imported now = *importing->imported;
    int rc = store_begin(importing->store, err);
    if (rc == 0)
        rc = take_batch(importing, &now, err);
    if (rc == 0)
        rc = store_commit(importing->store, err);
    if (rc < 0)
        store_rollback(importing->store);
    else
        *importing->imported = now;
    drop_batch(importing);
    return rc;
}

static int read_error(int rc, struct err *err) {
    return err_set(err, rc, "stream-read", "reading the journals failed: %s", strerror(-rc));
}

static int cut(struct err *err) {
    return err_set(err, -EPIPE, "stream-cut",
                   "the stream of journals is cut off; what came whole is taken in: export and "
                   "import again, nothing is taken in twice");
}

/* Exactly `length` bytes; memory grows with what has really come. */
static int read_journal(struct importing *importing, uint64_t length, struct err *err) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    AUTO_FREE char *piece = mem_alloc(length < PIECE ? (size_t)length : PIECE);
    while (bytes.length < length) {
        size_t want = length - bytes.length < PIECE ? (size_t)(length - bytes.length) : PIECE;
        ssize_t got = fd_read_full(importing->fd, piece, want);
        if (got < 0)
            return read_error((int)got, err);
        if ((size_t)got < want)
            return cut(err);
        strbuf_add(&bytes, piece, want);
    }
    importing->bytes += bytes.length;
    importing->batch[importing->count++] = bytes;
    bytes = STRBUF_INIT;
    if (importing->count == BATCH_JOURNALS || importing->bytes >= BATCH_BYTES)
        return flush_batch(importing, err);
    return 0;
}

/* All journals up to the end mark. */
static int read_stream(struct importing *importing, struct err *err) {
    for (uint64_t count = 0;; count++) {
        uint8_t word[WORD];
        ssize_t got = fd_read_full(importing->fd, word, sizeof(word));
        if (got < 0)
            return read_error((int)got, err);
        if (got < (ssize_t)sizeof(word))
            return cut(err);
        uint64_t length = get_word(word);
        if (length > STORE_JOURNAL_MAX)
            return err_set(err, -EBADMSG, "stream-damaged",
                           "the stream of journals is damaged behind journal %llu; what came "
                           "before is taken in",
                           (unsigned long long)count);
        if (length > 0) {
            int rc = read_journal(importing, length, err);
            if (rc < 0)
                return rc;
            continue;
        }
        got = fd_read_full(importing->fd, word, sizeof(word));
        if (got < 0)
            return read_error((int)got, err);
        return got == (ssize_t)sizeof(word) && get_word(word) == count ? 0 : cut(err);
    }
}

static int read_single(struct importing *importing, const uint8_t magic[WORD], struct err *err) {
    struct strbuf *bytes = &importing->batch[0];
    strbuf_add(bytes, magic, WORD);
    importing->count = 1;
    int rc = fd_read_all(importing->fd, STORE_JOURNAL_MAX, bytes);
    return rc < 0 ? read_error(rc, err) : flush_batch(importing, err);
}

static int not_a_journal(struct err *err) {
    return err_set(err, -EBADMSG, "not-a-journal",
                   "this is neither a journal nor a stream of 'probelauf export journal'");
}

/* One stream or journal; *ret_more: there may be another behind it. */
static int read_one(struct importing *importing, bool first, bool *ret_more, struct err *err) {
    uint8_t magic[STREAM_MAGIC_SIZE];
    *ret_more = false;
    ssize_t got = fd_read_full(importing->fd, magic, WORD);
    if (got < 0)
        return read_error((int)got, err);
    if (got == 0 && !first)
        return 0;
    if (got == 0)
        return err_set(err, -ENODATA, "not-a-journal", "there is nothing to import: no byte came");
    if (got == WORD && first && memcmp(magic, JOURNAL_MAGIC, WORD) == 0)
        return read_single(importing, magic, err);
    if (got == WORD && memcmp(magic, STREAM_MAGIC, WORD) == 0) {
        size_t rest = STREAM_MAGIC_SIZE - WORD;
        got = fd_read_full(importing->fd, magic + WORD, rest);
        if (got < 0)
            return read_error((int)got, err);
        if ((size_t)got < rest)
            return cut(err);
        if (memcmp(magic, STREAM_MAGIC, STREAM_MAGIC_SIZE) != 0)
            return err_set(err, -EBADMSG, "stream-newer",
                           "the stream was written by a newer version; update probelauf");
        *ret_more = true;
        return read_stream(importing, err);
    }
    return not_a_journal(err);
}

int ledger_import(struct store *store, int fd, struct ledger_imported *ret_imported,
                  struct err *err) {
    *ret_imported = (struct ledger_imported){0};
    struct importing importing = {.store = store, .fd = fd, .imported = ret_imported};
    bool more = true;
    int rc = 0;
    for (bool first = true; rc == 0 && more; first = false)
        rc = read_one(&importing, first, &more, err);
    /* What came whole before a failure of the input is taken in all the same. */
    struct err later = ERR_INIT;
    int flushed = flush_batch(&importing, &later);
    if (flushed < 0 && rc == 0) {
        *err = later;
        rc = flushed;
    }
    drop_batch(&importing);
    return rc;
}
