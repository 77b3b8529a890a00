/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that take a secret in a way that no general rule sees: glued to a short option, as an
 * operand, or as "user:password". Each entry follows the program's own manual page.
 */
#include "text/secret-parts.h"

#include "base/mem.h"

#include <stdint.h>
#include <string.h>

struct command_secret {
    const char *command;
    const char *verb;   /* a word that must come first ("login"), or NULL */
    const char *option; /* "-p": its argument is secret; "": the operand behind the verb is */
    bool glued;       /* only as one word, "-pX" (mysql reads "-p X" as a prompt and a database) */
    bool after_colon; /* "user:password": only what stands behind the colon */
};

static const struct command_secret table[] = {
    {"mysql", NULL, "-p", true, false},
    {"mysqldump", NULL, "-p", true, false},
    {"mysqladmin", NULL, "-p", true, false},
    {"mysqlimport", NULL, "-p", true, false},
    {"mariadb", NULL, "-p", true, false},
    {"mariadb-dump", NULL, "-p", true, false},
    {"sshpass", NULL, "-p", false, false},
    {"docker", "login", "-p", false, false},
    {"podman", "login", "-p", false, false},
    {"skopeo", "login", "-p", false, false},
    {"helm", "login", "-p", false, false},
    {"oc", "login", "-p", false, false},
    {"redis-cli", NULL, "-a", false, false},
    {"mongo", NULL, "-p", false, false},
    {"mongosh", NULL, "-p", false, false},
    {"mongodump", NULL, "-p", false, false},
    {"mongorestore", NULL, "-p", false, false},
    {"ldapsearch", NULL, "-w", false, false},
    {"sqlcmd", NULL, "-P", false, false},
    {"bcp", NULL, "-P", false, false},
    {"zip", NULL, "-P", false, false},
    {"unzip", NULL, "-P", false, false},
    {"7z", NULL, "-p", true, false},
    {"az", "login", "-p", false, false},
    {"curl", NULL, "-u", false, true},
    {"curl", NULL, "--user", false, true},
    {"curl", NULL, "-U", false, true},
    {"curl", NULL, "--proxy-user", false, true},
    {"curl", NULL, "-b", false, false},
    {"curl", NULL, "--cookie", false, false},
    {"http", NULL, "-a", false, true},
    {"https", NULL, "-a", false, true},
    {"wandb", "login", "", false, false},
    {"vault", "login", "", false, false},
    {"openssl", NULL, "-passin", false, true},
    {"openssl", NULL, "-passout", false, true},
    {"openssl", NULL, "-k", false, false},
    {"smbclient", NULL, "-U", false, false},
};

bool secret_is_command(const char *name, size_t length) {
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++)
        if (strlen(table[i].command) == length && strncmp(table[i].command, name, length) == 0)
            return true;
    return false;
}

static bool is_word(const struct secret_word *word, const char *text) {
    return strlen(text) == word->length && strncmp(text, word->text, word->length) == 0;
}

static void mask_value(struct secret_word *word, size_t from, bool after_colon) {
    if (after_colon) {
        const char *colon = memchr(word->text + from, ':', word->length - from);
        if (colon)
            from = (size_t)(colon - word->text) + 1;
    }
    if (from < word->length && from < word->mask_from)
        word->mask_from = from;
}

static void apply(const struct command_secret *entry, struct secret_word *words, size_t count) {
    size_t option_length = strlen(entry->option);
    bool verb_seen = entry->verb == NULL;

    for (size_t i = 1; i < count; i++) {
        struct secret_word *word = &words[i];
        if (!verb_seen) {
            verb_seen = is_word(word, entry->verb);
            continue;
        }
        if (option_length == 0) { /* the operand */
            if (word->length > 0 && *word->text != '-')
                mask_value(word, 0, false);
            continue;
        }
        if (is_word(word, entry->option)) {
            if (!entry->glued && i + 1 < count)
                mask_value(&words[++i], 0, entry->after_colon);
        } else if (word->length > option_length &&
                   strncmp(word->text, entry->option, option_length) == 0) {
            bool is_long = entry->option[1] == '-' || option_length > 2;
            if (is_long && word->text[option_length] == '=')
                mask_value(word, option_length + 1, entry->after_colon);
            else if (!is_long)
                mask_value(word, option_length, entry->after_colon);
        }
    }
}

void secret_command_words(struct secret_word *words, size_t count) {
    if (count == 0)
        return;
    const char *name = words[0].text;
    size_t length = words[0].length;
    for (size_t i = 0; i < words[0].length; i++) {
        if (words[0].text[i] == '/') {
            name = words[0].text + i + 1;
            length = words[0].length - i - 1;
        }
    }
    for (size_t i = 0; i < ARRAY_LENGTH(table); i++)
        if (strlen(table[i].command) == length && strncmp(table[i].command, name, length) == 0)
            apply(&table[i], words, count);
}
