/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Secrets that are known by their form: the prefixes that vendors give their tokens so that
 * scanners find them (each vendor documents its own), JSON web tokens, bot tokens, and runs that
 * look random. It must let commit hashes, digests, UUIDs, model names and paths pass: they are what
 * a record is for.
 */
#include "text/secret-parts.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum charset {
    CHARSET_ALNUM,  /* A-Z a-z 0-9 */
    CHARSET_UPPER,  /* A-Z 0-9 */
    CHARSET_HEX,    /* 0-9 a-f */
    CHARSET_WORD,   /* alnum _ - */
    CHARSET_DOTTED, /* alnum _ - . */
    CHARSET_BASE64, /* alnum + / = _ - */
    CHARSET_PATH,   /* a URL up to blank, quote, < or > */
};

#define RANDOM_LOOK 1u /* the tail must look random: looks_random() */

struct shape {
    const char *prefix;
    size_t least; /* characters behind the prefix */
    enum charset charset;
    unsigned flags;
};

static const struct shape shapes[] = {
    /* cloud */
    {"AKIA", 16, CHARSET_UPPER, 0},
    {"ASIA", 16, CHARSET_UPPER, 0},
    {"ABIA", 16, CHARSET_UPPER, 0},
    {"ACCA", 16, CHARSET_UPPER, 0},
    {"AIza", 30, CHARSET_WORD, 0},
    {"ya29.", 20, CHARSET_DOTTED, 0},
    {"GOCSPX-", 20, CHARSET_WORD, 0},
    {"1//0", 30, CHARSET_WORD, 0},
    {"dop_v1_", 32, CHARSET_HEX, 0},
    {"doo_v1_", 32, CHARSET_HEX, 0},
    {"dor_v1_", 32, CHARSET_HEX, 0},
    {"dapi", 32, CHARSET_HEX, 0},
    {"HRKU-", 30, CHARSET_WORD, 0},
    {"LTAI", 16, CHARSET_ALNUM, RANDOM_LOOK},
    {"pscale_", 20, CHARSET_DOTTED, RANDOM_LOOK},
    {"sbp_", 30, CHARSET_HEX, 0},
    {"FlyV1 fm", 20, CHARSET_BASE64, 0},
    {"fio-u-", 20, CHARSET_WORD, RANDOM_LOOK},
    /* code and packages */
    {"ghp_", 20, CHARSET_ALNUM, 0},
    {"gho_", 20, CHARSET_ALNUM, 0},
    {"ghu_", 20, CHARSET_ALNUM, 0},
    {"ghs_", 20, CHARSET_ALNUM, 0},
    {"ghr_", 20, CHARSET_ALNUM, 0},
    {"github_pat_", 20, CHARSET_WORD, 0},
    {"glpat-", 16, CHARSET_DOTTED, 0},
    {"gldt-", 16, CHARSET_DOTTED, RANDOM_LOOK},
    {"glrt-", 16, CHARSET_DOTTED, RANDOM_LOOK},
    {"glptt-", 16, CHARSET_DOTTED, RANDOM_LOOK},
    {"glcbt-", 16, CHARSET_DOTTED, RANDOM_LOOK},
    {"glsoat-", 16, CHARSET_DOTTED, RANDOM_LOOK},
    {"npm_", 30, CHARSET_ALNUM, 0},
    {"pypi-", 16, CHARSET_WORD, RANDOM_LOOK},
    {"rubygems_", 30, CHARSET_HEX, 0},
    {"dckr_pat_", 16, CHARSET_WORD, 0},
    {"dckr_oat_", 16, CHARSET_WORD, 0},
    {"AKCp", 40, CHARSET_ALNUM, 0},
    {"ATATT3", 40, CHARSET_BASE64, 0},
    {"ATCTT3", 40, CHARSET_BASE64, 0},
    {"CCIPAT_", 20, CHARSET_WORD, RANDOM_LOOK},
    {"bkua_", 20, CHARSET_HEX, 0},
    {"pul-", 40, CHARSET_HEX, 0},
    /* models and accelerators */
    {"hf_", 20, CHARSET_ALNUM, 0},
    {"api_org_", 20, CHARSET_ALNUM, 0},
    {"sk-", 20, CHARSET_WORD, RANDOM_LOOK},
    {"rpa_", 20, CHARSET_ALNUM, 0},
    {"r8_", 20, CHARSET_ALNUM, 0},
    {"gsk_", 20, CHARSET_ALNUM, 0},
    {"pplx-", 20, CHARSET_ALNUM, 0},
    {"nvapi-", 20, CHARSET_WORD, RANDOM_LOOK},
    {"xai-", 20, CHARSET_ALNUM, 0},
    {"fw_", 20, CHARSET_ALNUM, RANDOM_LOOK},
    {"tgp_v1_", 20, CHARSET_WORD, 0},
    {"lsv2_", 20, CHARSET_WORD, RANDOM_LOOK},
    {"e2b_", 20, CHARSET_HEX, 0},
    {"wandb_v1_", 20, CHARSET_WORD, 0},
    {"KGAT_", 20, CHARSET_ALNUM, 0},
    {"secret_", 20, CHARSET_DOTTED, RANDOM_LOOK},
    {"ak-", 20, CHARSET_ALNUM, RANDOM_LOOK},
    {"as-", 20, CHARSET_ALNUM, RANDOM_LOOK},
    /* chat, mail, payment, operations */
    {"xoxa-", 10, CHARSET_WORD, 0},
    {"xoxb-", 10, CHARSET_WORD, 0},
    {"xoxe-", 10, CHARSET_WORD, 0},
    {"xoxp-", 10, CHARSET_WORD, 0},
    {"xoxr-", 10, CHARSET_WORD, 0},
    {"xoxs-", 10, CHARSET_WORD, 0},
    {"xapp-", 10, CHARSET_WORD, 0},
    {"mfa.", 60, CHARSET_WORD, 0},
    {"sk_live_", 10, CHARSET_ALNUM, 0},
    {"sk_test_", 10, CHARSET_ALNUM, 0},
    {"rk_live_", 10, CHARSET_ALNUM, 0},
    {"rk_test_", 10, CHARSET_ALNUM, 0},
    {"whsec_", 10, CHARSET_BASE64, 0},
    {"sq0atp-", 20, CHARSET_WORD, 0},
    {"sq0csp-", 20, CHARSET_WORD, 0},
    {"shpat_", 20, CHARSET_HEX, 0},
    {"shpca_", 20, CHARSET_HEX, 0},
    {"shppa_", 20, CHARSET_HEX, 0},
    {"shpss_", 20, CHARSET_HEX, 0},
    {"SG.", 30, CHARSET_DOTTED, 0},
    {"SK", 32, CHARSET_HEX, 0},
    {"key-", 32, CHARSET_HEX, 0},
    {"hvs.", 16, CHARSET_WORD, 0},
    {"hvb.", 16, CHARSET_WORD, 0},
    {"hvr.", 16, CHARSET_WORD, 0},
    {"s.", 24, CHARSET_ALNUM, RANDOM_LOOK},
    {"AGE-SECRET-KEY-1", 20, CHARSET_UPPER, 0},
    {"dp.pt.", 16, CHARSET_ALNUM, 0},
    {"dp.st.", 16, CHARSET_DOTTED, 0},
    {"dp.ct.", 16, CHARSET_ALNUM, 0},
    {"dp.sa.", 16, CHARSET_ALNUM, 0},
    {"dp.scim.", 16, CHARSET_ALNUM, 0},
    {"lin_api_", 16, CHARSET_ALNUM, 0},
    {"lin_oauth_", 16, CHARSET_ALNUM, 0},
    {"ntn_", 20, CHARSET_ALNUM, 0},
    {"sntrys_", 20, CHARSET_BASE64, 0},
    {"sntryu_", 20, CHARSET_HEX, 0},
    {"glsa_", 20, CHARSET_WORD, 0},
    {"glc_eyJ", 20, CHARSET_BASE64, 0},
    {"NRAK-", 20, CHARSET_UPPER, 0},
    {"PMAK-", 20, CHARSET_WORD, 0},
    {"figd_", 20, CHARSET_WORD, 0},
    {"tskey-", 16, CHARSET_WORD, 0},
    {"ops_eyJ", 20, CHARSET_BASE64, 0},
    {"dt0c01.", 20, CHARSET_DOTTED, 0},
    /* folders of URLs that are secrets themselves */
    {"hooks.slack.com/", 12, CHARSET_PATH, 0},
    {"discord.com/api/webhooks/", 12, CHARSET_PATH, 0},
    {"discordapp.com/api/webhooks/", 12, CHARSET_PATH, 0},
    {"webhook.office.com/webhookb2/", 12, CHARSET_PATH, 0},
    {"hooks.zapier.com/hooks/", 12, CHARSET_PATH, 0},
    /* base64 of "machine " (a whole netrc) and of a PEM private key's first words */
    {"bWFjaGluZS", 16, CHARSET_BASE64, 0},
    {"LS0tLS1CRUdJTi", 16, CHARSET_BASE64, 0},
};

static bool is_in(enum charset charset, char c) {
    unsigned char u = (unsigned char)c;
    switch (charset) {
    case CHARSET_ALNUM:
        return isalnum(u);
    case CHARSET_UPPER:
        return isupper(u) || isdigit(u);
    case CHARSET_HEX:
        return isdigit(u) || (c >= 'a' && c <= 'f');
    case CHARSET_WORD:
        return isalnum(u) || c == '_' || c == '-';
    case CHARSET_DOTTED:
        return isalnum(u) || c == '_' || c == '-' || c == '.';
    case CHARSET_BASE64:
        return isalnum(u) || (c && strchr("+/=_-", c));
    case CHARSET_PATH:
        return u > ' ' && u != 0x7f && !strchr("\"'`<>", c);
    }
    return false;
}

static size_t span(enum charset charset, const char *text, size_t length) {
    size_t n = 0;
    while (n < length && is_in(charset, text[n]))
        n++;
    return n;
}

/* Digits in plenty, or digits and upper-case letters: "sk-learn-contrib-2" is a name. */
static bool looks_random(const char *text, size_t length) {
    size_t digits = 0;
    bool upper = false;

    for (size_t i = 0; i < length; i++) {
        digits += isdigit((unsigned char)text[i]) != 0;
        upper |= isupper((unsigned char)text[i]) != 0;
    }
    return digits > 0 && (upper || digits * 6 >= length);
}

/* header.payload.signature of RFC 7519, each base64url; the first two begin with '{"'. Also one
 * long base64 of JSON. */
static size_t json_web_token(const char *text, size_t length) {
    if (length < 20 || strncmp(text, "eyJ", 3) != 0)
        return 0;
    size_t n = span(CHARSET_BASE64, text, length);
    if (n < length && text[n] == '.') {
        size_t second = span(CHARSET_BASE64, text + n + 1, length - n - 1);
        if (n >= 10 && second >= 4)
            return n + 1 + span(CHARSET_DOTTED, text + n + 1, length - n - 1);
    }
    return n >= 40 ? n : 0;
}

static size_t telegram_token(const char *text, size_t length) {
    size_t digits = 0;
    while (digits < length && isdigit((unsigned char)text[digits]))
        digits++;
    if (digits < 8 || digits > 11 || digits == length || text[digits] != ':')
        return 0;
    size_t n = span(CHARSET_WORD, text + digits + 1, length - digits - 1);
    return n >= 30 && looks_random(text + digits + 1, n) ? digits + 1 + n : 0;
}

/* Discord: base64 of a number (begins with M, N or O), 6 characters of time, 27 or more of HMAC. */
static size_t discord_token(const char *text, size_t length) {
    if (*text < 'M' || *text > 'O')
        return 0;
    size_t first = span(CHARSET_ALNUM, text, length);
    if (first < 23 || first > 28 || first == length || text[first] != '.')
        return 0;
    size_t second = span(CHARSET_WORD, text + first + 1, length - first - 1);
    size_t at = first + 1 + second;
    if (second < 5 || second > 7 || at >= length || text[at] != '.')
        return 0;
    size_t third = span(CHARSET_WORD, text + at + 1, length - at - 1);
    return third >= 25 ? at + 1 + third : 0;
}

/* Terraform cloud: 14 characters, ".atlasv1.", 60 or more. Azure AD: three characters, a digit,
 * "Q~", 31 or more. */
static size_t infix_token(const char *text, size_t length) {
    static const char atlas[] = ".atlasv1.";
    static const size_t atlas_length = sizeof atlas - 1;

    if (length > 14 + atlas_length && strncmp(text + 14, atlas, atlas_length) == 0 &&
        span(CHARSET_ALNUM, text, 14) == 14)
        return 14 + atlas_length +
               span(CHARSET_WORD, text + 14 + atlas_length, length - 14 - atlas_length);
    if (length > 30 && span(CHARSET_ALNUM, text, 4) == 4 && isdigit((unsigned char)text[3]) &&
        text[4] == 'Q' && text[5] == '~') {
        size_t n = 6;
        while (n < length && (is_in(CHARSET_DOTTED, text[n]) || text[n] == '~'))
            n++;
        return n >= 30 ? n : 0;
    }
    return 0;
}

size_t secret_shape_at(const char *text, size_t length) {
    for (size_t i = 0; i < ARRAY_LENGTH(shapes); i++) {
        const struct shape *shape = &shapes[i];
        if (*text != *shape->prefix)
            continue;
        size_t prefix = strlen(shape->prefix);
        if (length < prefix + shape->least || strncmp(text, shape->prefix, prefix) != 0)
            continue;
        size_t n = span(shape->charset, text + prefix, length - prefix);
        if (n < shape->least || ((shape->flags & RANDOM_LOOK) && !looks_random(text + prefix, n)))
            continue;
        /* What follows directly belongs to it too: nobody ends a token in the middle of a word. */
        return prefix + n + span(CHARSET_WORD, text + prefix + n, length - prefix - n);
    }
    size_t n = json_web_token(text, length);
    n = n ? n : telegram_token(text, length);
    n = n ? n : discord_token(text, length);
    return n ? n : infix_token(text, length);
}

bool secret_is_random_char(char c) {
    return c != '=' && is_in(CHARSET_BASE64, c);
}

/* 8-4-4-4-12 hexadecimal digits at the end of the run. */
static bool ends_with_uuid(const char *text, size_t length) {
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    size_t form_length = sizeof form - 1;
    if (length < form_length)
        return false;
    for (size_t i = 0; i < form_length; i++) {
        char c = text[length - form_length + i];
        if (form[i] == '-' ? c != '-' : !is_in(CHARSET_HEX, c))
            return false;
    }
    return true;
}

bool secret_is_public_run(const char *text, size_t length) {
    return (length > 3 && (strncmp(text, "sha", 3) == 0 || strncmp(text, "_Z", 2) == 0)) ||
           (length <= 48 && ends_with_uuid(text, length));
}

bool secret_is_random(const char *text, size_t length) {
    size_t upper = 0;
    size_t lower = 0;
    size_t digit = 0;
    size_t changes = 0;
    int before = 0;

    if (length < 32)
        return false;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        int class = isupper(c) ? 1 : islower(c) ? 2 : isdigit(c) ? 3 : 0;
        upper += class == 1;
        lower += class == 2;
        digit += class == 3;
        changes += class && before && class != before;
        before = class ? class : before;
    }
    /* Random base62 changes its class at 62 % of its characters, names and paths at less than 30 %.
     */
    return upper >= 3 && lower >= 3 && digit >= 2 && changes * 5 >= (upper + lower + digit) * 2;
}
