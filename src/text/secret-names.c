/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a name says about its value. Names are taken apart into words, so that "max_tokens",
 * "tokenizer", "key_frames", "num_key_value_heads" and "sort_key" stay what they are in the texts
 * of machine learning programs.
 */
#include "text/secret-parts.h"

#include "base/mem.h"
#include "text/secret.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define WORDS_MAX     12u
#define WORD_SIZE     24u
#define NAME_MAX_SIZE 128u

struct words {
    char word[WORDS_MAX][WORD_SIZE]; /* lower case, longer ones cut at the front: endings decide */
    size_t count;
};

static void add_word(struct words *words, const char *text, size_t length) {
    while (length > 1 && isdigit((unsigned char)text[length - 1])) /* TOKEN2 */
        length--;
    if (length == 0 || (length == 1 && isdigit((unsigned char)*text)) || words->count == WORDS_MAX)
        return;
    if (length >= WORD_SIZE) {
        text += length - (WORD_SIZE - 1);
        length = WORD_SIZE - 1;
    }
    char *to = words->word[words->count++];
    for (size_t i = 0; i < length; i++)
        to[i] = (char)tolower((unsigned char)text[i]);
    to[length] = '\0';
}

static void split_words(const char *name, size_t length, struct words *words) {
    size_t from = 0;

    for (size_t i = 0; i <= length; i++) {
        bool is_end = i == length || !isalnum((unsigned char)name[i]);
        bool is_camel = !is_end && i > from && isupper((unsigned char)name[i]) &&
                        (islower((unsigned char)name[i - 1]) ||
                         (i + 1 < length && islower((unsigned char)name[i + 1]) &&
                          isupper((unsigned char)name[i - 1])));
        if (!is_end && !is_camel)
            continue;
        add_word(words, name + from, i - from);
        from = is_end ? i + 1 : i;
    }
}

static bool is_one_of(const char *word, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}
#define IS_ONE_OF(word, list) is_one_of((word), (list), ARRAY_LENGTH(list))

static bool ends_with(const char *word, const char *ending) {
    size_t length = strlen(word);
    size_t ending_length = strlen(ending);
    return length >= ending_length && strcmp(word + length - ending_length, ending) == 0;
}

static bool is_strong_word(const char *word) {
    static const char *const exact[] = {
        "secret",      "secrets",       "password", "passwords",  "passwd",
        "passphrase",  "passcode",      "apikey",   "apikeys",    "credential",
        "credentials", "creds",         "jwt",      "sshpass",    "userpwd",
        "htpasswd",    "authorization", "passwort", "motdepasse",
    };
    static const char *const endings[] = {
        "password",    "passwd",       "passphrase",  "apikey",      "secretkey",
        "privatekey",  "accesskey",    "authtoken",   "accesstoken", "apitoken",
        "bearertoken", "refreshtoken", "credentials",
    };
    if (IS_ONE_OF(word, exact))
        return true;
    for (size_t i = 0; i < ARRAY_LENGTH(endings); i++)
        if (ends_with(word, endings[i]))
            return true;
    return false;
}

/* "api key", "access token": which words make the next one a credential. */
static bool is_credential_owner(const char *word) {
    static const char *const owners[] = {
        "api",        "access",  "private",     "secret",   "auth",     "ssh",
        "encryption", "signing", "account",     "master",   "deploy",   "storage",
        "license",    "service", "app",         "consumer", "client",   "bot",
        "bearer",     "refresh", "oauth",       "session",  "personal", "subscription",
        "admin",      "webhook", "application", "rsa",      "gpg",      "id",
    };
    return IS_ONE_OF(word, owners);
}

/* "pad token", "per token": words of language models, not credentials. */
static bool is_model_word(const char *word) {
    static const char *const words[] = {
        "pad",        "eos",       "bos",      "unk",    "mask",     "sep",       "cls",
        "image",      "img",       "audio",    "video",  "per",      "output",    "input",
        "new",        "next",      "last",     "first",  "special",  "stop",      "start",
        "begin",      "end",       "num",      "max",    "min",      "total",     "prompt",
        "completion", "generated", "cached",   "draft",  "accepted", "target",    "current",
        "cur",        "prev",      "previous", "single", "each",     "text",      "word",
        "subword",    "byte",      "bpe",      "vocab",  "query",    "key",       "value",
        "kv",         "time",      "ms",       "avg",    "mean",     "cost",      "flops",
        "bytes",      "class",     "register", "prefix", "suffix",   "middle",    "fim",
        "reserved",   "added",     "extra",    "by",     "of",       "reasoning", "think",
        "thinking",   "vision",    "visual",   "patch",  "sink",     "decode",    "prefill",
        "reward",     "latent",    "motion",   "eot",    "eom",      "lf",        "nl",
        "answer",     "label",     "pred",     "n",
    };
    return IS_ONE_OF(word, words);
}

static bool is_weak_word(const char *word) {
    static const char *const words[] = {
        "key",       "keys", "auth", "pass",   "pwd",    "pat",     "pin",   "sig",
        "signature", "sas",  "dsn",  "cookie", "bearer", "webhook", "netrc", "connstr",
    };
    return IS_ONE_OF(word, words);
}

static bool is_exact(const char *name, size_t length, const char *other) {
    return strlen(other) == length && strncasecmp(name, other, length) == 0;
}

bool secret_name_is_header(const char *name, size_t length) {
    static const char *const headers[] = {"Authorization", "Proxy-Authorization", "Cookie",
                                          "Set-Cookie"};
    for (size_t i = 0; i < ARRAY_LENGTH(headers); i++)
        if (is_exact(name, length, headers[i]))
            return true;
    return false;
}

static bool is_never(const char *name, size_t length) {
    static const char *const never[] = {"PWD", "OLDPWD", "TOKEN_COUNT", "KEY_COUNT"};
    for (size_t i = 0; i < ARRAY_LENGTH(never); i++)
        if (is_exact(name, length, never[i]))
            return true;
    return false;
}

/* "password_file", "token_type": the value is about the secret, not the secret. */
static bool is_about_word(const char *word) {
    static const char *const words[] = {
        "stdin",  "file", "files",  "path",   "paths",   "dir",   "prompt",
        "length", "len",  "policy", "type",   "manager", "field", "store",
        "helper", "env",  "count",  "expiry", "expires",
    };
    return IS_ONE_OF(word, words);
}

enum secret_name secret_name_class(const char *name, size_t length) {
    static const char *const exact[] = {
        "_auth",
        "x-amz-signature",
        "x-amz-credential",
        "x-goog-signature",
        "x-goog-credential",
        "connectionstring",
        "awsaccesskeyid",
        "sharedaccesssignature",
    };
    if (length == 0 || length > NAME_MAX_SIZE || is_never(name, length))
        return SECRET_NAME_NO;
    if (secret_name_is_header(name, length))
        return SECRET_NAME_STRONG;
    for (size_t i = 0; i < ARRAY_LENGTH(exact); i++)
        if (is_exact(name, length, exact[i]))
            return SECRET_NAME_STRONG;

    struct words words = {0};
    split_words(name, length, &words);
    if (words.count > 1 && is_about_word(words.word[words.count - 1]))
        return SECRET_NAME_NO;
    enum secret_name found = SECRET_NAME_NO;
    for (size_t i = 0; i < words.count; i++) {
        const char *word = words.word[i];
        const char *before = i > 0 ? words.word[i - 1] : "";
        bool is_last = i + 1 == words.count;
        if (is_strong_word(word))
            return SECRET_NAME_STRONG;
        if ((strcmp(word, "key") == 0 && is_credential_owner(before)) ||
            (strcmp(word, "string") == 0 && strcmp(before, "connection") == 0))
            return SECRET_NAME_STRONG;
        bool is_token = strcmp(word, "token") == 0 || (is_last && ends_with(word, "token"));
        if ((is_token || strcmp(word, "tokens") == 0) && is_credential_owner(before) && is_last)
            return SECRET_NAME_STRONG;
        if (is_token && is_last && !is_model_word(before))
            found = SECRET_NAME_TOKEN;
        else if (is_last && found == SECRET_NAME_NO &&
                 (is_weak_word(word) ||
                  (strcmp(word, "tokens") == 0 && *before && !is_model_word(before))))
            found = SECRET_NAME_WEAK;
    }
    return found;
}

bool secret_is_named(const char *name) {
    return secret_name_class(name, strlen(name)) != SECRET_NAME_NO;
}
