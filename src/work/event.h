/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small records (EVENT journals) of what people said or settled: about a run, or about a study.
 * Each is a journal of its own; nothing that was recorded is ever changed. Types and keys:
 * docs/journal-format.md, "Events".
 */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/uuid.h"
#include "store/store.h"
#include "work/place.h"

#include <stdint.h>

/* {type, utc_ns, who}: the caller adds the keys of its type. */
json_t *event_begin(const char *type, int64_t utc_ns);

/* The text with its secrets masked; nothing for NULL. */
void event_put_text(json_t *event, const char *key, const char *text);
/* A copy of a document in which secrets of all texts are masked; ids and digests stay. */
json_t *event_masked_copy(const json_t *document);

/* Puts a document under the key: as it is, or packed where it is large. */
void event_put_document(json_t *event, const char *key, const json_t *document);
/* Such a document, unpacked in its place; borrowed from the event. NULL: none that can be read. */
json_t *event_get_document(json_t *event, const char *key);
/* The kept estimate of an "estimate" event, if it is a document that this program reads
 * (probelauf.estimate/1). NULL: none; *ret_schema (may be NULL): what it says it is, NULL if it
 * says nothing. */
json_t *event_get_estimate(json_t *event, const char **ret_schema);

/* study: id, kept in the header and so in the index; NULL: none. store: takes the record in at
 * once; NULL: it waits in the journal folder. The record is durable when this returns 0, even if
 * the ledger could not be had then. "journal-no-place", "event-too-large". */
int event_write(const struct place *place, struct store *store, const char *study,
                const json_t *event, char ret_id[UUID_TEXT_SIZE], struct err *err);

/* The same, if `may` allows it (its error is returned): it is asked while nobody else can write to
 * the ledger, and may read it through the same store. Without a ledger that can be locked it is
 * asked without. */
int event_write_if(const struct place *place, struct store *store, const char *study,
                   const json_t *event, int (*may)(void *context, struct err *err), void *context,
                   char ret_id[UUID_TEXT_SIZE], struct err *err);
