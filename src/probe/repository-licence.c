/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which licence a licence file holds, by the words of the well-known texts. Says nothing of what
 * may be done under it, and nothing where the words are of no text that is known here.
 */
#include "probe/repository-parts.h"

#include <ctype.h>
#include <string.h>

/* All words must be there; of the rows that fit it is the one whose first words come first (the GPL
 * speaks of the AGPL, too), then the upper one. The words are compared without case and with every
 * run of blanks and line ends as one blank. */
static const struct {
    const char *licence; /* SPDX id */
    const char *words[4];
} licences[] = {
    {"AGPL-3.0", {"gnu affero general public license", "version 3"}},
    {"LGPL-3.0", {"gnu lesser general public license", "version 3"}},
    {"LGPL-2.1", {"gnu lesser general public license", "version 2.1"}},
    {"GPL-3.0", {"gnu general public license", "version 3"}},
    {"GPL-2.0", {"gnu general public license", "version 2"}},
    {"Apache-2.0", {"apache license", "version 2.0"}},
    {"MPL-2.0", {"mozilla public license", "2.0"}},
    {"CC-BY-NC-SA-4.0", {"attribution-noncommercial-sharealike 4.0"}},
    {"CC-BY-NC-4.0", {"attribution-noncommercial 4.0"}},
    {"CC-BY-SA-4.0", {"attribution-sharealike 4.0"}},
    {"CC-BY-4.0", {"attribution 4.0 international"}},
    {"CC0-1.0", {"cc0 1.0 universal"}},
    {"BSD-3-Clause",
     {"redistribution and use in source and binary forms", "neither the name", "endorse"}},
    {"BSD-2-Clause", {"redistribution and use in source and binary forms", "as is"}},
    {"MIT",
     {"permission is hereby granted, free of charge", "the software is provided \"as is\"",
      "shall be included in all copies"}},
    {"ISC", {"permission to use, copy, modify, and/or distribute this software"}},
    {"Unlicense", {"this is free and unencumbered software released into the public domain"}},
};

static void add_plain_words(const struct repository_file *file, struct strbuf *out) {
    bool blank = true;
    for (size_t i = 0; i < file->length && out->length < 65536; i++) {
        unsigned char c = (unsigned char)file->text[i];
        if (!isspace(c))
            strbuf_add_char(out, (char)tolower(c));
        else if (!blank)
            strbuf_add_char(out, ' ');
        blank = isspace(c) != 0;
    }
}

static const char *name_licence(const struct repository_file *file) {
    AUTO_STRBUF struct strbuf words = STRBUF_INIT;
    add_plain_words(file, &words);
    const char *licence = NULL, *first = NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(licences); i++) {
        const char *begin = strstr(strbuf_str(&words), licences[i].words[0]);
        bool fits = begin != NULL && (first == NULL || begin < first);
        for (size_t k = 0; k < ARRAY_LENGTH(licences[i].words); k++)
            fits = fits && (licences[i].words[k] == NULL ||
                            strstr(strbuf_str(&words), licences[i].words[k]) != NULL);
        if (fits) {
            licence = licences[i].licence;
            first = begin;
        }
    }
    return licence;
}

void repository_read_licence(const struct repository_file *file) {
    static const char *const patterns[] = {"licen[cs]e", "licen[cs]e.*", "licen[cs]e-*",
                                           "copying",    "copying.*",    "unlicense"};
    static const char *const code[] = {"*.py", "*.c", "*.h", "*.sh", "*.js", "*.json"};
    if (!repository_is_named(file, patterns, ARRAY_LENGTH(patterns)) ||
        repository_is_named(file, code, ARRAY_LENGTH(code)))
        return;
    json_t *fact = repository_fact(file, "licences", 1);
    if (fact == NULL)
        return;
    json_put_text(fact, "file", file->path);
    json_put_text(fact, "licence", name_licence(file));
    json_put_bool(fact, "top", strchr(file->path, '/') == NULL);
}
