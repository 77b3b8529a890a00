/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes what people say about a run as an EVENT journal of its own, then lets the intake take it
 * in like any other. Never touches the run's record; secrets are masked before anything is written.
 */
#include "work/annotate.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/msg.h"
#include "journal/journal.h"
#include "text/secret.h"
#include "work/intake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put_masked(json_t *event, const char *key, const char *text) {
    if (!text)
        return;
    AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
    secret_mask(text, strlen(text), &masked);
    json_put(event, key, json_text_n(strbuf_str(&masked), masked.length));
}

/* Who is speaking, by the session's own word: there is no user database in a static program. */
static void put_who(json_t *event) {
    const char *name = getenv("USER");
    if (!name || !*name)
        name = getenv("LOGNAME");
    AUTO_FREE char *uid = mem_printf("uid %lu", (unsigned long)getuid());
    put_masked(event, "who", name && *name ? name : uid);
}

static json_t *make_event(const char *run, const struct annotation *annotation, int64_t utc_ns) {
    json_t *event = json_object();
    json_put_text(event, "type", "annotate");
    json_put_text(event, "about", run);
    json_put_int(event, "utc_ns", utc_ns);
    put_who(event);
    if (annotation->invalid || annotation->valid)
        json_put_bool(event, "invalid", annotation->invalid);
    put_masked(event, "why", annotation->why);
    put_masked(event, "change", annotation->change);
    put_masked(event, "disposition", annotation->disposition);
    put_masked(event, "note", annotation->note);
    return event;
}

static json_t *make_header(const char *id, int64_t utc_ns) {
    json_t *header = json_object();
    char boot_id[CLOCK_BOOT_ID_SIZE];
    json_put_int(header, "format", 1);
    json_put_text(header, "type", "event");
    json_put_text(header, "run", id);
    json_put_text(header, "part", id);
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

static bool is_said(const char *text) {
    return text && *text;
}

int annotate_run(const struct place *place, struct store *store, const char *run,
                 const struct annotation *annotation, char ret_event[UUID_TEXT_SIZE],
                 struct err *err) {
    if (annotation->invalid && annotation->valid)
        return err_set(err, -EINVAL, "annotation-contradiction",
                       "a run is declared either valid or invalid, not both");
    if (!annotation->invalid && !annotation->valid && !is_said(annotation->why) &&
        !is_said(annotation->change) && !is_said(annotation->disposition) &&
        !is_said(annotation->note))
        return err_set(err, -EINVAL, "annotation-empty",
                       "nothing to say about the run: give --invalid, --valid, --change, "
                       "--disposition or --note");
    int64_t utc_ns = clock_utc_ns();
    char id[UUID_TEXT_SIZE];
    uuid_new(utc_ns, id);
    AUTO_JSON json_t *header = make_header(id, utc_ns);
    AUTO_JSON json_t *event = make_event(run, annotation, utc_ns);
    AUTO_FREE char *path = NULL;
    int rc = write_somewhere(place, id, header, event, &path, err);
    if (rc < 0)
        return rc;
    memcpy(ret_event, id, UUID_TEXT_SIZE);
    struct err later = ERR_INIT;
    if (store) {
        store_set_patience(store, INTAKE_PATIENCE_NS);
        (void)intake_file(store, path, &later); /* durable already; the next command takes it in */
    }
    return 0;
}
