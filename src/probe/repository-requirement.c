/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requirements as pip takes them: one line (PEP 508), a file of lines with its options
 * ("Requirements File Format" in pip's manual), the words of an install command. Says what is
 * written; whether it can be installed is not asked here.
 */
#include "probe/repository-parts.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define NAME_SIZE 128u

static bool is_name_char(char c) {
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

static const char *skip_blanks(const char *at) {
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* Without blanks at both ends and inside. */
static void add_packed(struct strbuf *out, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '(' && text[i] != ')')
            strbuf_add_char(out, text[i]);
}

/* A comment begins with "#" at the start or behind a blank. */
static size_t without_comment(const char *text) {
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '#' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t'))
            length = i;
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    return length;
}

struct requirement {
    char name[NAME_SIZE];
    const char *specifier, *marker, *url; /* in buffers below; NULL: none */
    struct strbuf specifier_text, marker_text, url_text;
};

static void requirement_done(struct requirement *requirement) {
    strbuf_done(&requirement->specifier_text);
    strbuf_done(&requirement->marker_text);
    strbuf_done(&requirement->url_text);
}
#define AUTO_REQUIREMENT __attribute__((cleanup(requirement_done)))

/* "https://host/name-1.0-py3-none-any.whl", "git+https://host/owner/name.git@v1" */
static bool name_of_url(const char *url, char ret_name[NAME_SIZE]) {
    const char *egg = strstr(url, "#egg=");
    const char *begin = egg != NULL ? egg + 5 : url;
    size_t length = egg != NULL ? strcspn(begin, "&[") : strcspn(begin, "#?");
    if (egg == NULL) {
        for (size_t i = length; i > 0; i--)
            if (begin[i - 1] == '/') {
                begin += i;
                length -= i;
                break;
            }
        for (size_t i = 0; i < length; i++)
            if (begin[i] == '@')
                length = i;
        bool is_wheel = length > 4 && strncmp(begin + length - 4, ".whl", 4) == 0;
        if (length > 4 && strncmp(begin + length - 4, ".git", 4) == 0)
            length -= 4;
        if (is_wheel) /* PEP 427: no "-" within a wheel's name */
            length = strcspn(begin, "-");
    }
    if (length == 0 || length >= NAME_SIZE)
        return false;
    memcpy(ret_name, begin, length);
    ret_name[length] = '\0';
    for (size_t i = 0; i < length; i++)
        if (!is_name_char(ret_name[i]))
            return false;
    return true;
}

static bool is_url(const char *text) {
    return strstr(text, "://") != NULL;
}

/* "; python_version < '3.9'": begins behind a blank where it follows a URL. */
static size_t marker_begin(const char *text, size_t length, bool behind_url) {
    for (size_t i = 0; i < length; i++)
        if (text[i] == ';' && (!behind_url || (i > 0 && (text[i - 1] == ' '))))
            return i;
    return length;
}

/* "--hash=…", "--global-option" behind a requirement of a file. */
static size_t options_begin(const char *text, size_t length) {
    for (size_t i = 1; i + 1 < length; i++)
        if (text[i] == '-' && text[i + 1] == '-' && (text[i - 1] == ' ' || text[i - 1] == '\t'))
            return i;
    return length;
}

static bool is_specifier(const char *text) {
    static const char allowed[] = "=!<>~,.*+-_";
    for (const char *at = text; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && strchr(allowed, *at) == NULL)
            return false;
    return text[0] == '\0' || strchr("=!<>~", text[0]) != NULL;
}

static bool parse_requirement(const char *text, struct requirement *ret) {
    text = skip_blanks(text);
    size_t length = options_begin(text, without_comment(text));
    size_t name_length = 0;
    while (name_length < length && is_name_char(text[name_length]))
        name_length++;
    AUTO_FREE char *line = mem_strndup(text, length);
    bool only_url = is_url(line) && strstr(line, " @ ") == NULL && line[name_length] != '@';
    size_t marker = marker_begin(line, length, is_url(line));
    if (marker < length)
        strbuf_add_str(&ret->marker_text, skip_blanks(line + marker + 1));
    while (marker > 0 && (line[marker - 1] == ' ' || line[marker - 1] == '\t'))
        marker--;
    line[marker] = '\0';
    if (only_url) {
        strbuf_add_str(&ret->url_text, line);
        return name_of_url(line, ret->name);
    }
    if (name_length == 0 || name_length >= NAME_SIZE || !isalnum((unsigned char)line[0]))
        return false;
    memcpy(ret->name, line, name_length);
    ret->name[name_length] = '\0';
    const char *rest = skip_blanks(line + name_length);
    if (*rest == '[') {
        rest += strcspn(rest, "]");
        if (*rest != ']')
            return false;
        rest = skip_blanks(rest + 1);
    }
    if (*rest == '@') {
        strbuf_add_str(&ret->url_text, skip_blanks(rest + 1));
        return ret->url_text.length > 0;
    }
    add_packed(&ret->specifier_text, rest, strlen(rest));
    return is_specifier(strbuf_str(&ret->specifier_text));
}

static const char *or_null(const struct strbuf *text) {
    return text->length > 0 ? strbuf_str(text) : NULL;
}

void repository_add_pin(const struct repository_file *file, unsigned line, const char *name,
                        const char *specifier, const char *kind, const char *group) {
    json_t *fact = repository_fact(file, "requirements", line);
    if (fact == NULL)
        return;
    json_put_text(fact, "name", name);
    json_put_text(fact, "specifier", specifier);
    json_put_text(fact, "marker", NULL);
    json_put_text(fact, "url", NULL);
    json_put_text(fact, "file", file->path);
    json_put_text(fact, "kind", kind);
    json_put_text(fact, "group", group);
}

bool repository_add_requirement(const struct repository_file *file, unsigned line, const char *text,
                                const char *kind, const char *group) {
    AUTO_REQUIREMENT struct requirement requirement = {.name = ""};
    if (!parse_requirement(text, &requirement))
        return false;
    json_t *fact = repository_fact(file, "requirements", line);
    if (fact == NULL)
        return true;
    json_put_text(fact, "name", requirement.name);
    json_put_text(fact, "specifier", strbuf_str(&requirement.specifier_text));
    json_put_text(fact, "marker", or_null(&requirement.marker_text));
    if (requirement.url_text.length > 0)
        repository_put_masked(fact, "url", strbuf_str(&requirement.url_text));
    else
        json_put_text(fact, "url", NULL);
    json_put_text(fact, "file", file->path);
    json_put_text(fact, "kind", kind);
    json_put_text(fact, "group", group);
    return true;
}

/* ---- a file of requirements ---- */

static void add_include(const struct repository_file *file, unsigned line, const char *path) {
    struct repository *repository = file->repository;
    json_t *fact = repository_fact(file, "includes", line);
    if (fact == NULL)
        return;
    const char *folder = repository_folder_of(repository, file->path);
    const char *there = repository_normal(repository, folder, path);
    const struct repository_entry *entry =
        there != NULL && there[0] != '\0' ? repository_find(repository, there) : NULL;
    bool is_folder =
        there != NULL && (there[0] == '\0' || (entry != NULL && entry->kind == REPOSITORY_FOLDER));
    json_put_text(fact, "file", file->path);
    json_put_text(fact, "path", there == NULL ? path : there[0] == '\0' ? "." : there);
    json_put_bool(fact, "found", entry != NULL && !is_folder);
    json_put_bool(fact, "outside", there == NULL); /* nobody looks there */
    json_put_bool(fact, "folder", is_folder);
}

/* The value of "-r x", "-rx", "--requirement x", "--requirement=x"; NULL: another option. */
static const char *option_value(const char *text, char letter, const char *name) {
    size_t length = strlen(name);
    if (text[0] == '-' && text[1] == letter && text[1] != '-')
        return skip_blanks(text + 2);
    if (strncmp(text, name, length) == 0 && (text[length] == ' ' || text[length] == '='))
        return skip_blanks(text + length + 1);
    return NULL;
}

static void add_index(const struct repository_file *file, unsigned line, const char *url) {
    json_t *fact = repository_fact(file, "indexes", line);
    if (fact != NULL) {
        json_put_text(fact, "file", file->path);
        repository_put_masked(fact, "url", url);
    }
}

static void read_option(const struct repository_file *file, unsigned line, const char *text) {
    static const struct {
        char letter;
        const char *name;
        char kind;
    } options[] = {{'r', "--requirement", 'r'},     {'c', "--constraint", 'r'},
                   {'i', "--index-url", 'i'},       {'f', "--find-links", 'i'},
                   {'-', "--extra-index-url", 'i'}, {'e', "--editable", 'e'}};
    for (size_t i = 0; i < ARRAY_LENGTH(options); i++) {
        const char *value = option_value(text, options[i].letter, options[i].name);
        if (value == NULL || *value == '\0')
            continue;
        if (options[i].kind == 'r')
            add_include(file, line, value);
        else if (options[i].kind == 'i')
            add_index(file, line, value);
        else if (is_url(value))
            (void)repository_add_requirement(file, line, value, "requirements", NULL);
        return;
    }
}

void repository_read_requirements(const struct repository_file *file) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    AUTO_STRBUF struct strbuf joined = STRBUF_INIT;
    unsigned number = 0, begin = 0;
    const char *at = file->text;
    if (str_starts_with(at, "\xEF\xBB\xBF"))
        at += 3;
    while (repository_next_line(&at, &line)) {
        number++;
        if (joined.length == 0)
            begin = number;
        const char *text = strbuf_str(&line);
        bool goes_on = str_ends_with(text, "\\") && joined.length < REPOSITORY_LINE_MAX;
        strbuf_add(&joined, text, line.length - (goes_on ? 1 : 0));
        if (goes_on && *at != '\0')
            continue;
        AUTO_FREE char *whole = strbuf_take(&joined);
        const char *words = skip_blanks(whole);
        whole[(size_t)(words - whole) + without_comment(words)] = '\0';
        if (words[0] == '-')
            read_option(file, begin, words);
        else if (words[0] != '\0')
            (void)repository_add_requirement(file, begin, words, "requirements", NULL);
    }
}

/* ---- an install command ---- */

/* Options of pip install that take a word of their own. */
static bool takes_a_word(const char *option) {
    static const char *const options[] = {"-t",          "--target",       "--python-version",
                                          "--platform",  "--cache-dir",    "--prefix",
                                          "--timeout",   "--trusted-host", "--config-settings",
                                          "--no-binary", "--only-binary",  "--python",
                                          "-p",          "--retries"};
    for (size_t i = 0; i < ARRAY_LENGTH(options); i++)
        if (strcmp(option, options[i]) == 0)
            return true;
    return false;
}

void repository_read_install(const struct repository_file *file, unsigned line,
                             const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char *word = words[i], *next = i + 1 < count ? words[i + 1] : "";
        bool index = strcmp(word, "--index-url") == 0 || strcmp(word, "-i") == 0 ||
                     strcmp(word, "--extra-index-url") == 0 || strcmp(word, "-f") == 0 ||
                     strcmp(word, "--find-links") == 0;
        if (index && *next != '\0') {
            add_index(file, line, next);
            i++;
        } else if (str_starts_with(word, "--index-url=") ||
                   str_starts_with(word, "--extra-index-url=") ||
                   str_starts_with(word, "--find-links="))
            add_index(file, line, strchr(word, '=') + 1);
        else if (strcmp(word, "-r") == 0 || strcmp(word, "--requirement") == 0 ||
                 strcmp(word, "-c") == 0 || strcmp(word, "-e") == 0)
            i++; /* a path: looked at as a command's */
        else if (takes_a_word(word))
            i++;
        else if (word[0] != '-' && word[0] != '.' && strpbrk(word, "${/") == NULL)
            (void)repository_add_requirement(file, line, word, "command", NULL);
        else if (is_url(word) && strpbrk(word, "$*<{") == NULL)
            (void)repository_add_requirement(file, line, word, "command", NULL);
    }
}
