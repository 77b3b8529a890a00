/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The message lookup. Holds the one piece of program-wide state there is, the language of messages,
 * because a text is looked up everywhere; it is set once at the start. Must not read the
 * environment (cli does).
 */
#include "base/msg.h"

#include "base/msg-catalog.h"

#include <string.h>

static const struct msg_catalog *current = &msg_catalogs[0];

size_t msg_plural_form(enum msg_plural_rule rule, unsigned long n) {
    switch (rule) {
    case MSG_PLURAL_NOT_ONE:
        return n != 1;
    case MSG_PLURAL_ABOVE_ONE:
        return n > 1;
    case MSG_PLURAL_NONE:
        return 0;
    }
    return 0;
}

const struct msg_entry *msg_catalog_find(const struct msg_catalog *catalog, const char *english) {
    size_t low = 0, high = catalog->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(english, catalog->entries[middle].english);
        if (order == 0)
            return &catalog->entries[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

const struct msg_catalog *msg_catalog_of(const char *language) {
    for (size_t i = 0; i < msg_catalog_count; i++) {
        size_t length = strlen(msg_catalogs[i].language);
        /* "de" begins "de_DE.UTF-8", "de-AT", "de@euro", but not "den". */
        if (strncmp(language, msg_catalogs[i].language, length) == 0 &&
            (language[length] == '\0' || strchr("_-.@", language[length]) != NULL))
            return &msg_catalogs[i];
    }
    return NULL;
}

const char *msg_get(const char *english) {
    const struct msg_entry *entry = msg_catalog_find(current, english);
    return entry != NULL ? entry->forms[0] : english;
}

const char *msg_plural(unsigned long n, const char *one, const char *many) {
    const struct msg_entry *entry = msg_catalog_find(current, one);
    if (entry == NULL) /* an English text follows the English rule, whatever the language */
        return msg_plural_form(MSG_PLURAL_NOT_ONE, n) == 0 ? one : many;
    if (msg_plural_form(current->plural, n) == 0 || entry->forms[1] == NULL)
        return entry->forms[0];
    return entry->forms[1];
}

const char *msg_set_language(const char *language) {
    const struct msg_catalog *found = msg_catalog_of(language);
    current = found != NULL && found->count > 0 ? found : &msg_catalogs[0];
    return current->language;
}
