/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Masking: one pass over the text, deciding at every word by its form (secret-shapes.c), by the
 * name before it (secret-names.c) and by the command it belongs to (secret-commands.c). It must
 * stay linear, whatever the text, and must rather mask too much than too little.
 */
#include "text/secret.h"

#include "base/mem.h"
#include "text/secret-parts.h"

#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_BYTES 128u
#define PENDING_MAX    32u
#define COMMAND_WORDS  64u
#define COMMAND_BYTES  4096u /* of a command line that are looked at */
#define URL_BYTES      2048u /* of an address in which its '@' is looked for */

struct range {
    size_t from, to;
};

struct masker {
    const char *text;
    size_t length;
    size_t done; /* everything before is in out */
    size_t at;
    size_t line_start;
    char quote;                        /* the quote we are in on this line, 0: none */
    bool line_has_login;               /* "machine" or "login" stood on this line (netrc) */
    bool no_pem_end;                   /* no "-----END " behind here: not searched for again */
    struct range pending[PENDING_MAX]; /* found ahead of `at`, ascending */
    size_t pending_count;
    struct strbuf *out;
};

static bool is_quote(char c) {
    return c == '"' || c == '\'' || c == '`';
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static bool is_line_end(char c) {
    return c == '\n' || c == '\r';
}

static bool is_name_char(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

static char char_at(const struct masker *m, size_t at) {
    return at < m->length ? m->text[at] : '\0';
}

/* What stands before a place in the masked text: behind a mask its bracket, so that masking twice
 * is masking once. */
static char char_before(const struct masker *m, size_t at) {
    if (at == 0)
        return '\0';
    return at == m->done ? ']' : m->text[at - 1];
}

static bool has_at(const struct masker *m, size_t at, const char *word) {
    size_t length = strlen(word);
    return at <= m->length && m->length - at >= length && strncmp(m->text + at, word, length) == 0;
}

static size_t skip_blanks(const struct masker *m, size_t at) {
    while (at < m->length && is_blank(m->text[at]))
        at++;
    return at;
}

static size_t find(const struct masker *m, size_t from, const char *word) {
    const char *found = memmem(m->text + from, m->length - from, word, strlen(word));
    return found ? (size_t)(found - m->text) : SIZE_MAX;
}

/* Replaces [from, to) and goes on behind it. */
static void mask(struct masker *m, size_t from, size_t to) {
    assert(from >= m->done && to <= m->length && from < to);
    strbuf_add(m->out, m->text + m->done, from - m->done);
    strbuf_add_str(m->out, SECRET_MASK);
    m->done = to;
    m->at = to;
}

static void add_pending(struct masker *m, size_t from, size_t to) {
    if (from >= to || m->pending_count == PENDING_MAX)
        return;
    size_t i = m->pending_count++;
    for (; i > 0 && m->pending[i - 1].from > from; i--)
        m->pending[i] = m->pending[i - 1];
    m->pending[i] = (struct range){from, to};
}

static bool mask_pending(struct masker *m) {
    while (m->pending_count > 0 && m->pending[0].from < m->at) { /* masked by something else */
        struct range first = m->pending[0];
        memmove(m->pending, m->pending + 1, --m->pending_count * sizeof *m->pending);
        if (first.to > m->at) /* only its beginning was */
            add_pending(m, m->at, first.to);
    }
    if (m->pending_count == 0 || m->pending[0].from != m->at)
        return false;
    size_t to = m->pending[0].to;
    memmove(m->pending, m->pending + 1, --m->pending_count * sizeof *m->pending);
    mask(m, m->at, to);
    return true;
}

/* ---- PEM blocks ---- */

static bool is_pem_body(char c) {
    return isalnum((unsigned char)c) || (c && strchr("+/=\\\r\n", c));
}

/* "-----BEGIN … PRIVATE KEY…-----": length of the marker at `at`, 0 if none. */
static size_t pem_marker(const struct masker *m, size_t at, const char *begin) {
    if (!has_at(m, at, begin))
        return 0;
    size_t end = at + strlen(begin);
    bool is_private = false;
    for (; end < m->length && end - at < 80 && !is_line_end(m->text[end]); end++) {
        is_private |= has_at(m, end, "PRIVATE KEY");
        if (has_at(m, end, "-----"))
            return is_private ? end + 5 - at : 0;
    }
    return is_private ? end - at : 0; /* cut off inside the marker */
}

static bool mask_pem(struct masker *m) {
    size_t marker = pem_marker(m, m->at, "-----BEGIN ");
    if (!marker)
        return false;
    size_t end = m->no_pem_end ? SIZE_MAX : find(m, m->at + marker, "-----END ");
    if (end != SIZE_MAX) {
        size_t close = pem_marker(m, end, "-----END ");
        mask(m, m->at, close ? end + close : end);
        return true;
    }
    m->no_pem_end = true;
    end = m->at + marker;
    while (end < m->length && is_pem_body(m->text[end]))
        end++;
    mask(m, m->at, end);
    return true;
}

/* The end of a block whose beginning was cut off: the body before it is secret too. It is not in
 * `out` yet. */
static bool mask_headless_pem(struct masker *m) {
    size_t marker = pem_marker(m, m->at, "-----END ");
    if (!marker)
        return false;
    size_t from = m->at;
    while (from > m->done && is_pem_body(m->text[from - 1]))
        from--;
    mask(m, from, m->at + marker);
    return true;
}

/* ---- user and password in a URL ---- */

static size_t url_authority_end(const struct masker *m, size_t from, const char *stops) {
    size_t end = from;
    while (end < m->length && end - from < URL_BYTES && (unsigned char)m->text[end] > ' ' &&
           !is_quote(m->text[end]) && !strchr(stops, m->text[end]))
        end++;
    return end;
}

static size_t last_at_sign(const struct masker *m, size_t from, size_t to) {
    size_t found = SIZE_MAX;
    for (size_t i = from; i < to; i++)
        if (m->text[i] == '@')
            found = i;
    return found;
}

static bool is_web_scheme(const struct masker *m, size_t colon) {
    size_t from = colon;
    while (from > 0 && colon - from < 16 &&
           (isalnum((unsigned char)m->text[from - 1]) || strchr("+.-", m->text[from - 1])))
        from--;
    return has_at(m, from, "http") || has_at(m, from, "git") || has_at(m, from, "ftp") ||
           has_at(m, from, "pip+http") || has_at(m, from, "hg+http");
}

/* At "://". The user's name of a database stays, a web address may carry its token in either half.
 */
static bool mask_url_user(struct masker *m) {
    size_t from = m->at + 3;
    size_t end = url_authority_end(m, from, "/?#<>");
    size_t at_sign = last_at_sign(m, from, end);
    const char *colon = memchr(m->text + from, ':', end - from);

    if (at_sign == SIZE_MAX && colon) {
        /* "u:pa/ss@host": what stands behind the colon is no port, so the password holds the slash.
         */
        size_t port = (size_t)(colon - m->text) + 1;
        size_t digits = port;
        while (digits < end && isdigit((unsigned char)m->text[digits]))
            digits++;
        if (digits < end || digits == port)
            at_sign = last_at_sign(m, end, url_authority_end(m, end, "<>"));
    }
    if (at_sign == SIZE_MAX || at_sign == from)
        return false;
    colon = memchr(m->text + from, ':', at_sign - from);
    if (!colon) {
        bool has_digit = false;
        for (size_t i = from; i < at_sign; i++)
            has_digit |= isdigit((unsigned char)m->text[i]) != 0;
        if (!is_web_scheme(m, m->at) || (!has_digit && at_sign - from < 16))
            return false; /* "ssh://git@host", "https://user@host" */
        mask(m, from, at_sign);
        return true;
    }
    size_t password = (size_t)(colon - m->text) + 1;
    if (is_web_scheme(m, m->at))
        password = from;
    if (password == at_sign)
        return false;
    mask(m, password, at_sign);
    return true;
}

/* ---- values behind a name ---- */

enum separator {
    SEPARATOR_NONE = 0,
    SEPARATOR_ASSIGN,  /* name=value without blanks */
    SEPARATOR_SPACED,  /* name = value, name: value, name => value */
    SEPARATOR_COMPARE, /* == and !=: only a quoted value */
    SEPARATOR_COMMA,   /* "name", "value" */
    SEPARATOR_TAG,     /* <name>value */
    SEPARATOR_BLANK,   /* --name value */
};

struct name_site {
    size_t from, to; /* of the name */
    char before;     /* what stands before it and its dashes */
    char key_quote;  /* the quote directly around the name; 0: none */
    char enclosing;  /* the quote that an unquoted value ends at; 0: none */
    bool is_option;  /* one or two dashes before it */
    bool is_in_url;  /* ? or & before it */
    enum secret_name class;
    enum separator separator;
    size_t value; /* where the value begins */
};

/* Behind the name, its quote and blanks: which separator, and where the value begins. */
static void find_separator(const struct masker *m, struct name_site *site) {
    size_t at = site->to;
    char before = site->before;
    bool quoted = false;

    site->enclosing = m->quote;
    if (is_quote(before)) {
        size_t escape = char_at(m, at) == '\\' ? 1 : 0;
        if (char_at(m, at + escape) == before) {
            site->key_quote = before;
            quoted = true;
            at += escape + 1;
            if (m->quote == before && !escape)
                site->enclosing = '\0';
        }
    }
    if (quoted && (char_at(m, at) == ']' || char_at(m, at) == ')'))
        at++;
    size_t behind = skip_blanks(m, at);
    char c = char_at(m, behind);
    char next = char_at(m, behind + 1);
    if (before == '<' && c == '>') {
        site->separator = SEPARATOR_TAG;
        behind += 1;
    } else if ((c == '=' || c == '!') && next == '=') {
        site->separator = SEPARATOR_COMPARE;
        behind += 2;
    } else if ((c == '=' && next == '>') || (c == ':' && next == '=')) {
        site->separator = SEPARATOR_SPACED;
        behind += 2;
    } else if (c == '=') {
        bool is_tight = behind == at && !is_blank(next);
        site->separator = is_tight ? SEPARATOR_ASSIGN : SEPARATOR_SPACED;
        behind += 1;
    } else if (c == ':' && next != ':' && !(next == '/' && char_at(m, behind + 2) == '/')) {
        site->separator = SEPARATOR_SPACED;
        behind += 1;
    } else if (c == ',' && quoted) {
        site->separator = SEPARATOR_COMMA;
        behind += 1;
    } else if (behind > at) {
        site->separator = SEPARATOR_BLANK;
    }
    site->value = skip_blanks(m, behind);
}

/* End of a quoted value that begins behind its quote; `width` 2: the quotes are escaped themselves.
 */
static size_t quoted_end(const struct masker *m, size_t from, char quote, size_t width) {
    size_t at = from;
    while (at < m->length && !is_line_end(m->text[at])) {
        if (width == 2 && m->text[at] == '\\' && char_at(m, at + 1) == quote)
            return at;
        if (width == 1 && m->text[at] == quote)
            return at;
        at += m->text[at] == '\\' && width == 1 && at + 1 < m->length ? 2 : 1;
    }
    return at < m->length ? at : m->length;
}

static size_t line_end(const struct masker *m, size_t from, char enclosing) {
    size_t at = from;
    while (at < m->length && !is_line_end(m->text[at]) && (!enclosing || m->text[at] != enclosing))
        at++;
    while (at > from && is_blank(m->text[at - 1]))
        at--;
    return at;
}

static size_t word_end(const struct masker *m, size_t from, char enclosing, const char *stops) {
    size_t at = from;
    while (at < m->length && !is_blank(m->text[at]) && !is_line_end(m->text[at]) &&
           (!enclosing || m->text[at] != enclosing) && !strchr(stops, m->text[at]))
        at++;
    return at;
}

/* The value's extent without its quotes; false where there is none. */
static bool find_value(const struct masker *m, const struct name_site *site, struct range *ret) {
    size_t from = site->value;
    if (strchr("bBrRfFuU", char_at(m, from)) && char_at(m, from) && is_quote(char_at(m, from + 1)))
        from++; /* Python's b"…" */
    char c = char_at(m, from);
    bool opens_quote = is_quote(c) && c != site->enclosing;
    bool opens_escaped = c == '\\' && is_quote(char_at(m, from + 1));

    if (opens_quote && char_at(m, from + 1) == c && char_at(m, from + 2) == c) {
        const char triple[] = {c, c, c, '\0'};
        size_t end = find(m, from + 3, triple);
        *ret = (struct range){from + 3, end == SIZE_MAX ? m->length : end};
    } else if (opens_quote) {
        *ret = (struct range){from + 1, quoted_end(m, from + 1, c, 1)};
    } else if (opens_escaped) {
        *ret = (struct range){from + 2, quoted_end(m, from + 2, char_at(m, from + 1), 2)};
    } else if (site->separator == SEPARATOR_COMPARE || site->separator == SEPARATOR_COMMA) {
        return false;
    } else if (site->is_in_url) {
        *ret = (struct range){from, word_end(m, from, site->enclosing, "&#\"'<>")};
    } else if (site->separator == SEPARATOR_TAG) {
        *ret = (struct range){from, word_end(m, from, site->enclosing, "<")};
    } else if (site->separator == SEPARATOR_SPACED) {
        *ret = (struct range){from, line_end(m, from, site->enclosing)};
    } else {
        *ret = (struct range){from, word_end(m, from, site->enclosing, "")};
    }
    return ret->from < ret->to && ret->to <= m->length;
}

static bool is_value(const struct masker *m, struct range value, const char *word) {
    return value.to - value.from == strlen(word) &&
           strncasecmp(m->text + value.from, word, value.to - value.from) == 0;
}

static bool is_plain_word(const struct masker *m, struct range value) {
    static const char *const words[] = {"none",  "null", "nil", "true",
                                        "false", "yes",  "no",  SECRET_MASK};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (is_value(m, value, words[i]) ||
            (value.to > value.from && m->text[value.to - 1] == ',' &&
             is_value(m, (struct range){value.from, value.to - 1}, words[i])))
            return true;
    return false;
}

/* "token: 512", "token = 2 '</s>'", "token: 3.4 ms", "token: <pad>": a model's, not a person's.
 * Looks at its beginning only. */
static bool is_model_value(const struct masker *m, size_t from) {
    size_t at = from;
    if (is_quote(char_at(m, at)))
        at = ++from;
    if (char_at(m, at) == '<' || (char_at(m, at) == '[' && !has_at(m, at, SECRET_MASK)))
        return true;
    while (isdigit((unsigned char)char_at(m, at)) || char_at(m, at) == '.')
        at++;
    size_t digits = at - from;
    while (isalpha((unsigned char)char_at(m, at)))
        at++;
    size_t unit = at - from - digits;
    char c = char_at(m, at);
    bool ends = c == '\0' || is_blank(c) || is_line_end(c) || is_quote(c) || strchr(",;)]}/%|", c);
    return digits > 0 && digits <= 9 && unit <= 3 && ends;
}

/* At least 16 characters of a token with a digit, up to a quote, a blank or the end. */
static bool is_opaque_value(const struct masker *m, size_t from) {
    bool digit = false;
    size_t at = is_quote(char_at(m, from)) ? from + 1 : from;
    size_t first = at;
    while (at < m->length && (secret_is_random_char(m->text[at]) || strchr("=.:", m->text[at]))) {
        digit |= isdigit((unsigned char)m->text[at]) != 0;
        at++;
    }
    char c = char_at(m, at);
    bool ends = c == '\0' || is_blank(c) || is_line_end(c) || is_quote(c) || strchr(",;)\\", c);
    return digit && ends && at - first >= 16;
}

static bool is_upper_name(const struct masker *m, const struct name_site *site) {
    for (size_t i = site->from; i < site->to; i++)
        if (islower((unsigned char)m->text[i]) || m->text[i] == '-' || m->text[i] == '.')
            return false;
    return true;
}

static bool is_name(const struct masker *m, const struct name_site *site, const char *name) {
    return site->to - site->from == strlen(name) &&
           strncasecmp(m->text + site->from, name, site->to - site->from) == 0;
}

/* "--auth X", "--pass X": as options these words are clear; "--key X" is more often a column or a
 * file. */
static bool is_weak_option(const struct masker *m, const struct name_site *site) {
    static const char *const names[] = {"auth", "pass", "pwd", "pat", "cookie", "bearer", "pin"};
    for (size_t i = 0; site->is_option && i < ARRAY_LENGTH(names); i++)
        if (is_name(m, site, names[i]))
            return true;
    return false;
}

static bool weak_name_counts(const struct masker *m, const struct name_site *site) {
    if (site->is_in_url || is_weak_option(m, site))
        return true;
    if (site->separator == SEPARATOR_ASSIGN && is_upper_name(m, site))
        return !is_model_value(m, site->value);
    return site->key_quote && site->separator == SEPARATOR_SPACED &&
           is_opaque_value(m, site->value);
}

/* A blank is a separator only behind an option, in a netrc file and behind names that cannot be
 * prose. */
static bool blank_counts(const struct masker *m, const struct name_site *site) {
    if (site->is_option)
        return !has_at(m, site->value, "--");
    if (is_name(m, site, "password") || is_name(m, site, "passwd")) {
        if (m->line_has_login)
            return true;
        size_t end = word_end(m, site->value, 0, "");
        return skip_blanks(m, m->line_start) == site->from && line_end(m, end, 0) == end;
    }
    size_t parts = 1;
    for (size_t i = site->from; i < site->to; i++)
        parts += m->text[i] == '_' || m->text[i] == '-';
    return parts >= 3 && is_opaque_value(m, site->value);
}

/* Whether what stands behind the name is a secret; looks no further than it must. */
static bool value_counts(const struct masker *m, const struct name_site *site) {
    if (site->separator == SEPARATOR_NONE ||
        (site->separator == SEPARATOR_BLANK && !blank_counts(m, site)))
        return false;
    switch (site->class) {
    case SECRET_NAME_NO:
        return false;
    case SECRET_NAME_WEAK:
        return weak_name_counts(m, site);
    case SECRET_NAME_TOKEN:
        return site->is_option || !is_model_value(m, site->value);
    case SECRET_NAME_STRONG:
        return true;
    }
    return false;
}

/* "Bearer X", "Basic X", "token X": the scheme stays. */
static size_t skip_scheme(const struct masker *m, struct range value) {
    static const char *const schemes[] = {"Bearer ", "Basic ",  "Token ",    "Digest ",
                                          "Bot ",    "ApiKey ", "Negotiate "};
    for (size_t i = 0; i < ARRAY_LENGTH(schemes); i++) {
        size_t length = strlen(schemes[i]);
        if (value.to - value.from > length &&
            strncasecmp(m->text + value.from, schemes[i], length) == 0)
            return skip_blanks(m, value.from + length);
    }
    return value.from;
}

static bool mask_named(struct masker *m, size_t from, size_t to, size_t dashes) {
    struct name_site site = {.from = from, .to = to, .is_option = dashes == 1 || dashes == 2};
    char before = char_before(m, from - dashes);

    site.before = before;
    site.is_in_url =
        before == '?' || before == '&' || (before == ';' && from > 4 && has_at(m, from - 4, "amp"));
    site.class = secret_name_class(m->text + from, to - from);
    if (site.class == SECRET_NAME_NO && site.is_in_url &&
        (is_name(m, &site, "code") || is_name(m, &site, "X-Amz-Security-Token")))
        site.class = SECRET_NAME_WEAK;
    if (site.class == SECRET_NAME_NO)
        return false;
    find_separator(m, &site);
    struct range value;
    if (!value_counts(m, &site) || !find_value(m, &site, &value) || is_plain_word(m, value))
        return false;
    size_t first = skip_scheme(m, value);
    if (first < value.to)
        value.from = first;
    mask(m, value.from, value.to);
    return true;
}

/* ---- words of known commands ---- */

static void find_command_secrets(struct masker *m, size_t from, size_t to) {
    struct secret_word words[COMMAND_WORDS] = {{m->text + from, to - from, SIZE_MAX}};
    size_t count = 1;
    size_t at = to;
    size_t limit = m->length - from > COMMAND_BYTES ? from + COMMAND_BYTES : m->length;

    while (count < COMMAND_WORDS) {
        at = skip_blanks(m, at);
        if (at >= limit || is_line_end(m->text[at]) || (m->quote && m->text[at] == m->quote))
            break;
        size_t first = at;
        char quote = '\0';
        for (; at < limit && !is_line_end(m->text[at]); at++) {
            char c = m->text[at];
            if (quote ? c == quote : is_quote(c) && c != m->quote)
                quote = quote ? '\0' : c;
            else if (!quote && (is_blank(c) || (m->quote && c == m->quote)))
                break;
        }
        bool is_quoted =
            at - first >= 2 && is_quote(m->text[first]) && m->text[at - 1] == m->text[first];
        words[count++] = (struct secret_word){m->text + first + is_quoted,
                                              at - first - 2u * is_quoted, SIZE_MAX};
    }
    secret_command_words(words, count);
    for (size_t i = 1; i < count; i++) {
        size_t start = (size_t)(words[i].text - m->text);
        if (words[i].mask_from != SIZE_MAX)
            add_pending(m, start + words[i].mask_from, start + words[i].length);
    }
}

/* ---- the pass ---- */

/* A name begins here: behind dashes only where these begin a word. */
static bool name_begins(const struct masker *m, size_t *ret_dashes) {
    size_t at = m->at;
    if (!isalnum((unsigned char)m->text[at]) && m->text[at] != '_')
        return false;
    size_t dashes = 0;
    while (dashes < 3 && char_before(m, at - dashes) == '-')
        dashes++;
    *ret_dashes = dashes;
    return !is_name_char(char_before(m, at - dashes));
}

static bool mask_name_or_command(struct masker *m) {
    size_t dashes = 0;
    if (!name_begins(m, &dashes))
        return false;
    size_t end = m->at;
    while (end < m->length && end - m->at <= NAME_MAX_BYTES && is_name_char(m->text[end]))
        end++;
    if (end - m->at > NAME_MAX_BYTES)
        return false;
    while (end > m->at + 1 && (m->text[end - 1] == '.' || m->text[end - 1] == '-'))
        end--;
    if (is_blank(char_at(m, end)) && secret_is_command(m->text + m->at, end - m->at))
        find_command_secrets(m, m->at, end);

    m->line_has_login |=
        is_blank(char_at(m, end)) && (has_at(m, m->at, "login ") || has_at(m, m->at, "machine "));
    bool is_bearer = (end - m->at == 6 && strncasecmp(m->text + m->at, "bearer", 6) == 0) ||
                     (end - m->at == 5 && strncasecmp(m->text + m->at, "basic", 5) == 0);
    if (is_bearer && char_at(m, end) == ' ') {
        struct range value = {end + 1, word_end(m, end + 1, m->quote, "\"',;")};
        if (value.to > value.from && is_opaque_value(m, value.from)) {
            mask(m, value.from, value.to);
            return true;
        }
    }
    return mask_named(m, m->at, end, dashes);
}

static bool mask_random(struct masker *m) {
    if (!secret_is_random_char(m->text[m->at]) || secret_is_random_char(char_before(m, m->at)))
        return false;
    size_t end = m->at;
    while (end < m->length && secret_is_random_char(m->text[end]))
        end++;
    if (secret_is_public_run(m->text + m->at, end - m->at))
        return false;
    if (secret_is_random(m->text + m->at, end - m->at)) {
        while (end < m->length && m->text[end] == '=')
            end++;
        mask(m, m->at, end);
        return true;
    }
    /* A long path may hide a random part from the ratio over all of it. */
    for (size_t from = m->at; from < end;) {
        const char *slash = memchr(m->text + from, '/', end - from);
        size_t to = slash ? (size_t)(slash - m->text) : end;
        if (secret_is_random(m->text + from, to - from))
            add_pending(m, from, to);
        from = to + 1;
    }
    return false;
}

static bool mask_here(struct masker *m) {
    bool word_begins = !isalnum((unsigned char)char_before(m, m->at));

    if (m->text[m->at] == '-' && (mask_pem(m) || mask_headless_pem(m)))
        return true;
    if (mask_pending(m))
        return true;
    if (m->text[m->at] == ':' && has_at(m, m->at, "://") && mask_url_user(m))
        return true;
    if (!word_begins)
        return false;
    size_t shape = secret_shape_at(m->text + m->at, m->length - m->at);
    if (shape) {
        mask(m, m->at, m->at + shape);
        return true;
    }
    return mask_name_or_command(m) || mask_random(m);
}

void secret_mask(const char *text, size_t length, struct strbuf *out) {
    struct masker m = {.text = text, .length = length, .out = out};

    while (m.at < m.length) {
        if (mask_here(&m))
            continue;
        char c = m.text[m.at];
        if (c == '\n') {
            m.quote = '\0';
            m.line_has_login = false;
            m.line_start = m.at + 1;
        } else if (is_quote(c) && (m.at == 0 || m.text[m.at - 1] != '\\')) {
            if (m.quote == c)
                m.quote = '\0';
            else if (!m.quote)
                m.quote = c;
        }
        m.at++;
    }
    strbuf_add(out, text + m.done, length - m.done);
}

/* ---- parameters ---- */

/* "0", "2", "true": a switch or a count. */
static bool is_switch(const struct masker *m) {
    return (m->length <= 3 && strspn(m->text, "0123456789") == m->length) ||
           is_plain_word(m, (struct range){0, m->length});
}

/* "bos", "last", "sep_token": few letters, and nothing else. */
static bool is_short_word(const struct masker *m) {
    for (size_t i = 0; i < m->length; i++)
        if (!isalpha((unsigned char)m->text[i]) && m->text[i] != '_')
            return false;
    return m->length <= 9;
}

void secret_mask_value(const char *name, const char *value, struct strbuf *out) {
    struct masker m = {.text = value, .length = strlen(value)};
    bool is_secret = false;

    switch (secret_name_class(name, strlen(name))) {
    case SECRET_NAME_NO:
    case SECRET_NAME_WEAK:
        break;
    case SECRET_NAME_TOKEN:
        is_secret = !is_switch(&m) && !is_short_word(&m) && !is_model_value(&m, 0);
        break;
    case SECRET_NAME_STRONG:
        is_secret = !is_switch(&m);
        break;
    }
    if (is_secret && m.length > 0)
        strbuf_add_str(out, SECRET_MASK);
    else
        secret_mask(value, m.length, out);
}

/* ---- argv ---- */

/* "--token" whose value is the next argument. */
static bool takes_secret(const char *argument) {
    size_t dashes = strspn(argument, "-");
    if (dashes < 1 || dashes > 2 || strchr(argument, '='))
        return false;
    struct masker m = {.text = argument, .length = strlen(argument)};
    struct name_site site = {.from = dashes, .to = m.length, .is_option = true};
    switch (secret_name_class(argument + dashes, m.length - dashes)) {
    case SECRET_NAME_NO:
        return false;
    case SECRET_NAME_WEAK:
        return is_weak_option(&m, &site);
    case SECRET_NAME_TOKEN:
    case SECRET_NAME_STRONG:
        return true;
    }
    return false;
}

json_t *secret_mask_argv(const char *const *argv, size_t count) {
    AUTO_FREE struct secret_word *words = mem_alloc((count + 1) * sizeof *words);
    json_t *masked = json_array();

    for (size_t i = 0; i < count; i++)
        words[i] = (struct secret_word){argv[i], strlen(argv[i]), SIZE_MAX};
    for (size_t i = 0; i < count; i++) /* the command may stand behind sudo, env, ssh host … */
        secret_command_words(words + i, count - i);
    for (size_t i = 0; i < count; i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        if (i > 0 && takes_secret(argv[i - 1]) && words[i].length > 0) {
            strbuf_add_str(&text, SECRET_MASK);
        } else if (words[i].mask_from != SIZE_MAX) {
            strbuf_add(&text, argv[i], words[i].mask_from);
            strbuf_add_str(&text, SECRET_MASK);
        } else {
            secret_mask(argv[i], words[i].length, &text);
        }
        json_array_append_new(masked, json_text_n(strbuf_str(&text), text.length));
    }
    return masked;
}
