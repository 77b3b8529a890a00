/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of text/secret.h that only its own files share: what names say, and what shapes say. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum secret_name {
    SECRET_NAME_NO = 0,
    SECRET_NAME_WEAK,   /* "key", "auth", "pass": secret as a variable of the environment, not as a
                           word in a text */
    SECRET_NAME_TOKEN,  /* "token" and nothing else that says secret: a number or <pad> behind it is
                           none */
    SECRET_NAME_STRONG, /* "password", "api_key", "client-secret", "Authorization" */
};

/* What an identifier says about its value; components are told apart by _ - . and camelCase. */
enum secret_name secret_name_class(const char *name, size_t length);

/* A header whose value goes to the end of the line: Authorization, Cookie, X-Api-Key … */
bool secret_name_is_header(const char *name, size_t length);

/* Length of the secret that begins at text (a known prefix or form), 0 if none. The caller has
 * checked that a word begins. */
size_t secret_shape_at(const char *text, size_t length);

/* True for the characters a random token may consist of, and for a run of them that looks random:
 * long, mixed case and digits, changing class all the time. Hexadecimal digests, UUIDs, names and
 * paths do not. */
bool secret_is_random_char(char c);
bool secret_is_random(const char *text, size_t length);
/* "sha512-…" is a digest, "_ZN…" a name of C++, "GPU-…" the UUID of a device: such a run is left
 * alone. */
bool secret_is_public_run(const char *text, size_t length);

/* Which part of a command's words is secret: "mysql -pX", "sshpass -p X", "curl -u user:pw", "wandb
 * login X". */
struct secret_word {
    const char *text;
    size_t length;
    size_t mask_from; /* bytes kept in front of the mask; SIZE_MAX: nothing to mask */
};
bool secret_is_command(const char *name, size_t length);
/* words[0] is the command (a path is fine). */
void secret_command_words(struct secret_word *words, size_t count);
