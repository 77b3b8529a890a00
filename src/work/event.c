/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes an EVENT journal, then lets the intake take it in like any other. Never touches another
 * record; secrets are masked before anything is written.
 */
#include "work/event.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "journal/journal.h"
#include "text/secret.h"
#include "work/intake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

static json_t *masked_text(const char *text, size_t length) {
    AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
    secret_mask(text, length, &masked);
    return json_text_n(strbuf_str(&masked), masked.length);
}

void event_put_text(json_t *event, const char *key, const char *text) {
    if (text)
        json_put(event, key, masked_text(text, strlen(text)));
}

/* Digests hold no secret, and a long row of digits could look like one. */
static bool is_digest(const char *text) {
    size_t length = strlen(text);
    return (length == 40 || length == 64) && text[strspn(text, "0123456789abcdef")] == '\0';
}

json_t *event_masked_copy(const json_t *document) {
    if (json_is_object(document)) {
        json_t *copy = json_object();
        const char *key;
        json_t *value;
        json_object_foreach ((json_t *)(uintptr_t)document, key, value)
            json_put(copy, key, event_masked_copy(value));
        return copy;
    }
    if (json_is_array(document)) {
        json_t *copy = json_array();
        for (size_t i = 0; i < json_array_size(document); i++)
            json_array_append_new(copy, event_masked_copy(json_array_get(document, i)));
        return copy;
    }
    if (json_is_string(document) && !is_digest(json_string_value(document)))
        return masked_text(json_string_value(document), json_string_length(document));
    return json_copy((json_t *)(uintptr_t)document);
}

/* ---- documents ---- */

#define PLAIN_MAX    ((size_t)4 << 20)
#define UNPACKED_MAX ((size_t)256 << 20)
#define PACKED       "_zstd_base64"

void event_put_document(json_t *event, const char *key, const json_t *document) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_add_compact(&text, document);
    if (text.length <= PLAIN_MAX) {
        json_put(event, key, json_deep_copy(document));
        return;
    }
    AUTO_FREE char *packed_key = mem_printf("%s" PACKED, key);
    size_t bound = ZSTD_compressBound(text.length);
    AUTO_FREE char *packed = mem_alloc(bound);
    size_t length =
        ZSTD_compress(packed, bound, strbuf_str(&text), text.length, ZSTD_CLEVEL_DEFAULT);
    AUTO_STRBUF struct strbuf encoded = STRBUF_INIT;
    if (ZSTD_isError(length)) {
        json_put(event, key, json_deep_copy(document)); /* then it may be too large: said there */
        return;
    }
    str_add_base64(&encoded, packed, length);
    json_put_text(event, packed_key, strbuf_str(&encoded));
}

static json_t *unpack(const char *encoded) {
    AUTO_STRBUF struct strbuf packed = STRBUF_INIT;
    if (str_from_base64(encoded, strlen(encoded), &packed) < 0)
        return NULL;
    unsigned long long size = ZSTD_getFrameContentSize(strbuf_str(&packed), packed.length);
    if (size > UNPACKED_MAX) /* its two errors are larger than that */
        return NULL;
    AUTO_FREE char *text = mem_alloc((size_t)size + 1);
    size_t length = ZSTD_decompress(text, (size_t)size, strbuf_str(&packed), packed.length);
    char why[160];
    return ZSTD_isError(length) ? NULL : json_parse(text, length, why);
}

json_t *event_get_document(json_t *event, const char *key) {
    json_t *document = json_get_object(event, key);
    AUTO_FREE char *packed_key = mem_printf("%s" PACKED, key);
    const char *encoded = json_get_text(event, packed_key, NULL);
    if (document || !encoded)
        return document;
    document = unpack(encoded);
    if (!document)
        return NULL;
    json_put(event, key, document);
    return json_get_object(event, key);
}

json_t *event_get_estimate(json_t *event, const char **ret_schema) {
    json_t *estimate = event_get_document(event, "estimate");
    const char *schema = json_get_text(estimate, "schema", NULL);
    if (ret_schema)
        *ret_schema = schema;
    return schema && strcmp(schema, "probelauf.estimate/1") == 0 ? estimate : NULL;
}

/* ---- the record ---- */

/* Who is speaking, by the session's own word: there is no user database in a static program. */
static void put_who(json_t *event) {
    const char *name = getenv("USER");
    if (!name || !*name)
        name = getenv("LOGNAME");
    AUTO_FREE char *uid = mem_printf("uid %lu", (unsigned long)getuid());
    event_put_text(event, "who", name && *name ? name : uid);
}

json_t *event_begin(const char *type, int64_t utc_ns) {
    json_t *event = json_object();
    json_put_text(event, "type", type);
    json_put_int(event, "utc_ns", utc_ns);
    put_who(event);
    return event;
}

static json_t *make_header(const char *id, const char *study, int64_t utc_ns) {
    json_t *header = json_object();
    char boot_id[CLOCK_BOOT_ID_SIZE];
    json_put_int(header, "format", 1);
    json_put_text(header, "type", "event");
    json_put_text(header, "run", id);
    json_put_text(header, "part", id);
    if (study)
        json_put_text(header, "study", study);
    if (clock_boot_id(boot_id) == 0)
        json_put_text(header, "boot_id", boot_id);
    json_put_int(header, "pid", getpid());
    json_put_int(header, "utc_ns", utc_ns);
    json_put_text(header, "program", PROBELAUF_VERSION);
    return header;
}

static int write_in(const char *dir, const char *id, const json_t *header, const json_t *event,
                    char **ret_path, struct err *err) {
    struct journal_writer writer = JOURNAL_WRITER_INIT;
    int rc = dir_make_private(dir, err);
    if (rc == 0)
        rc = journal_create(dir, id, header, &writer, err);
    if (rc == 0)
        rc = journal_append_json(&writer, JOURNAL_EVENT, event, true, err);
    if (rc == 0)
        rc = journal_sync(&writer, err);
    if (rc == 0)
        *ret_path = mem_strdup(writer.path);
    else if (writer.path[0])
        unlink(writer.path); /* half of a statement is none */
    journal_close(&writer);
    return rc;
}

static int write_somewhere(const struct place *place, const char *id, const json_t *header,
                           const json_t *event, char **ret_path, struct err *err) {
    struct err first = ERR_INIT;
    for (const char *const *dir = place->journal_dirs; *dir; dir++) {
        struct err one = ERR_INIT;
        if (write_in(*dir, id, header, event, ret_path, &one) == 0)
            return 0;
        if (first.code == 0)
            first = one;
    }
    return err_set(err, first.code ? first.code : -ENOENT, "journal-no-place",
                   "no journal folder can be written (%s); name one with --journal-dir",
                   first.text);
}

static int check_size(const json_t *event, struct err *err) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_add_compact(&text, event);
    if (text.length <= JOURNAL_PAYLOAD_MAX)
        return 0;
    return err_set(err, -EFBIG, "event-too-large",
                   "what is to be kept takes %zu bytes; one record holds at most %u", text.length,
                   JOURNAL_PAYLOAD_MAX);
}

/* Durable when this returns 0. */
static int write_journal(const struct place *place, const char *study, const json_t *event,
                         char ret_id[UUID_TEXT_SIZE], char **ret_path, struct err *err) {
    int64_t utc_ns = json_get_int(event, "utc_ns", 0);
    char id[UUID_TEXT_SIZE];
    uuid_new(utc_ns, id);
    AUTO_JSON json_t *header = make_header(id, study, utc_ns);
    int rc = check_size(event, err);
    if (rc == 0)
        rc = write_somewhere(place, id, header, event, ret_path, err);
    if (rc == 0)
        memcpy(ret_id, id, UUID_TEXT_SIZE);
    return rc;
}

int event_write(const struct place *place, struct store *store, const char *study,
                const json_t *event, char ret_id[UUID_TEXT_SIZE], struct err *err) {
    AUTO_FREE char *path = NULL;
    int rc = write_journal(place, study, event, ret_id, &path, err);
    if (rc < 0)
        return rc;
    struct err later = ERR_INIT;
    if (store) {
        store_set_patience(store, INTAKE_PATIENCE_NS);
        (void)intake_file(store, path, &later); /* durable already; the next command takes it in */
    }
    return 0;
}

/* The record goes into the ledger before its lock is given up, or the next in line would not see
 * it. What fails here is made up for by the next command: the journal is durable already. */
static void take_in_locked(struct store *store, const char *path) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    struct err later = ERR_INIT;
    bool changed;
    if (intake_read_file(path, &bytes, &later) < 0 ||
        intake_bytes(store, strbuf_str(&bytes), bytes.length, &changed, &later) < 0 ||
        store_commit(store, &later) < 0)
        store_rollback(store);
    else
        (void)intake_file(store, path, &later); /* it is there: only the file goes */
}

int event_write_if(const struct place *place, struct store *store, const char *study,
                   const json_t *event, int (*may)(void *context, struct err *err), void *context,
                   char ret_id[UUID_TEXT_SIZE], struct err *err) {
    struct err locked = ERR_INIT;
    if (store)
        store_set_patience(store, INTAKE_PATIENCE_NS);
    if (!store || store_begin(store, &locked) < 0) {
        int rc = may(context, err);
        return rc < 0 ? rc : event_write(place, store, study, event, ret_id, err);
    }
    AUTO_FREE char *path = NULL;
    int rc = may(context, err);
    rc = rc < 0 ? rc : write_journal(place, study, event, ret_id, &path, err);
    if (rc < 0)
        store_rollback(store);
    else
        take_in_locked(store, path);
    return rc;
}
