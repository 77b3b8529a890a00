/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See python-packages.h. Sources: PEP 376, 427, 503, 610; setuptools' egg formats; conda's
 * conda-meta folder. */
#include "probe/python-packages.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "probe/lines.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define METADATA_LIMIT   65536
#define DIRECT_URL_LIMIT 65536
#define TEXT_MAX         256

struct package {
    char name[TEXT_MAX], version[TEXT_MAX];
    char commit[65];
    bool editable;
};

struct collector {
    const struct root *root;
    const char *prefix;
    struct package_budget *budget;
    json_t *packages;
    json_t *seen; /* normalized name → "version[@commit]" */
};

char *package_normalize(const char *name) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    bool dash = false;
    for (const char *at = name; *at != '\0'; at++) {
        if (*at == '-' || *at == '_' || *at == '.') {
            dash = true;
            continue;
        }
        if (dash) {
            strbuf_add_char(&out, '-');
            dash = false;
        }
        strbuf_add_char(&out, (char)tolower((unsigned char)*at));
    }
    return strbuf_take(&out);
}

/* False when the budget is used up. */
static bool may_go_on(struct package_budget *budget) {
    budget->ended_by_count = budget->ended_by_count || budget->left == 0;
    budget->ended_by_time = budget->ended_by_time || clock_mono_ns() > budget->deadline_mono_ns;
    return !budget->ended_by_count && !budget->ended_by_time;
}

static void add(struct collector *to, const struct package *package, const char *manager) {
    AUTO_FREE char *normal = package_normalize(package->name);
    AUTO_JSON json_t *key = json_text(normal); /* a key must be UTF-8, a file name need not */
    if (package->name[0] == '\0' || package->version[0] == '\0' ||
        json_object_get(to->seen, json_string_value(key)) != NULL || to->budget->left == 0) {
        return;
    }
    AUTO_FREE char *identity = package->commit[0] != '\0'
                                   ? mem_printf("%s@%s", package->version, package->commit)
                                   : mem_strdup(package->version);
    json_put_text(to->seen, json_string_value(key), identity);
    json_t *entry = json_object();
    json_put_text(entry, "name", package->name);
    json_put_text(entry, "version", package->version);
    json_put_text(entry, "interpreter", to->prefix);
    if (package->commit[0] != '\0') {
        json_put_text(entry, "commit", package->commit);
    }
    if (package->editable) {
        json_put_bool(entry, "editable", 1);
    }
    if (manager != NULL) {
        json_put_text(entry, "manager", manager);
    }
    json_array_append_new(to->packages, entry);
    to->budget->left--;
}

/* "Name: torch" of the header block, which ends with an empty line. */
static void header_value(const char *line, const char *key, char ret_text[TEXT_MAX]) {
    size_t length = strlen(key);
    if (ret_text[0] != '\0' || strncasecmp(line, key, length) != 0 || line[length] != ':') {
        return;
    }
    const char *value = line + length + 1 + strspn(line + length + 1, " \t");
    size_t end = strcspn(value, "\r");
    while (end > 0 && isspace((unsigned char)value[end - 1])) {
        end--;
    }
    if (end < TEXT_MAX) {
        memcpy(ret_text, value, end);
        ret_text[end] = '\0';
    }
}

static bool read_metadata(const struct root *root, const char *path, struct package *ret) {
    struct lines lines AUTO_LINES;
    if (lines_open(root, path, METADATA_LIMIT, &lines) < 0) {
        return false;
    }
    struct package out = {0};
    char *line;
    while (lines_next(&lines, &line) == 1 && line[0] != '\0' && line[0] != '\r') {
        header_value(line, "Name", out.name);
        header_value(line, "Version", out.version);
    }
    if (out.name[0] == '\0' || out.version[0] == '\0') {
        return false;
    }
    *ret = out;
    return true;
}

/* "name-version" of a folder name, up to `suffix`; egg names go on with "-py3.11". */
static bool parse_name(const char *entry, const char *suffix, struct package *ret) {
    size_t length = strlen(entry) - strlen(suffix);
    const char *dash = memchr(entry, '-', length);
    if (dash == NULL || dash == entry) {
        return false;
    }
    size_t name_length = (size_t)(dash - entry);
    size_t version_length = length - name_length - 1;
    const char *second = memchr(dash + 1, '-', version_length);
    if (second != NULL && strcmp(suffix, ".dist-info") != 0) {
        version_length = (size_t)(second - dash) - 1;
    }
    if (name_length >= TEXT_MAX || version_length >= TEXT_MAX || version_length == 0) {
        return false;
    }
    struct package out = {0};
    memcpy(out.name, entry, name_length);
    memcpy(out.version, dash + 1, version_length);
    *ret = out;
    return true;
}

/* PEP 610: where pip installed it from, when that was no index. */
static void read_origin(const struct root *root, const char *folder, struct package *package) {
    char path[PATH_MAX], why[160];
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (!path_join(path, folder, "direct_url.json") ||
        root_read(root, path, DIRECT_URL_LIMIT, &text) < 0) {
        return;
    }
    AUTO_JSON json_t *json = json_parse(strbuf_str(&text), text.length, why);
    package->editable = json_get_bool(json_get_object(json, "dir_info"), "editable", 0) != 0;
    const char *commit = json_get_text(json_get_object(json, "vcs_info"), "commit_id", "");
    if (strlen(commit) < sizeof package->commit) {
        memcpy(package->commit, commit, strlen(commit) + 1);
    }
}

static void take_dist_info(struct collector *to, const char *folder, const char *entry) {
    char path[PATH_MAX], file[PATH_MAX];
    struct package package;
    if (!path_join(path, folder, entry) || !path_join(file, path, "METADATA")) {
        return;
    }
    if (read_metadata(to->root, file, &package) || parse_name(entry, ".dist-info", &package)) {
        read_origin(to->root, path, &package);
        add(to, &package, NULL);
    }
}

/* A folder with PKG-INFO, or that file itself under this name. */
static void take_egg_info(struct collector *to, const char *folder, const char *entry,
                          const char *suffix, const char *inside, bool editable) {
    char path[PATH_MAX], file[PATH_MAX];
    struct package package;
    if (!path_join(path, folder, entry) || !path_join(file, path, inside)) {
        return;
    }
    if (read_metadata(to->root, file, &package) || read_metadata(to->root, path, &package) ||
        parse_name(entry, suffix, &package)) {
        package.editable = editable;
        add(to, &package, NULL);
    }
}

typedef void (*entry_fn)(struct collector *to, const char *folder, const char *entry);

static void each_entry(struct collector *to, const char *path, entry_fn take) {
    DIR *folder = path_open_folder(to->root, path);
    if (folder == NULL) {
        return;
    }
    const struct dirent *entry;
    while (may_go_on(to->budget) && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] != '~' &&
            entry->d_name[0] != '.') { /* '~': what pip failed to remove */
            take(to, path, entry->d_name);
        }
    }
    (void)closedir(folder);
}

static void take_source_egg(struct collector *to, const char *folder, const char *entry) {
    if (str_ends_with(entry, ".egg-info")) {
        take_egg_info(to, folder, entry, ".egg-info", "PKG-INFO", true);
    }
}

/* setuptools' old "develop" mode: the file holds the folder of the sources. */
static void take_egg_link(struct collector *to, const char *folder, const char *entry) {
    char path[PATH_MAX];
    struct lines lines AUTO_LINES;
    lines.fd = -1;
    char *line;
    if (path_join(path, folder, entry) && lines_open(to->root, path, PATH_MAX, &lines) == 0 &&
        lines_next(&lines, &line) == 1 && line[0] == '/' && strlen(line) < sizeof path) {
        memcpy(path, line, strlen(line) + 1);
        each_entry(to, path, take_source_egg);
    }
}

static void take_entry(struct collector *to, const char *folder, const char *entry) {
    if (str_ends_with(entry, ".dist-info")) {
        take_dist_info(to, folder, entry);
    } else if (str_ends_with(entry, ".egg-info")) {
        take_egg_info(to, folder, entry, ".egg-info", "PKG-INFO", false);
    } else if (str_ends_with(entry, ".egg")) {
        take_egg_info(to, folder, entry, ".egg", "EGG-INFO/PKG-INFO", false);
    } else if (str_ends_with(entry, ".egg-link")) {
        take_egg_link(to, folder, entry);
    }
}

/* name-version-build.json; neither version nor build holds a '-' (conda's package naming rules). */
static void take_conda(struct collector *to, const char *folder, const char *entry) {
    (void)folder;
    struct package package = {0};
    size_t length = strlen(entry);
    if (!str_ends_with(entry, ".json")) {
        return;
    }
    length -= strlen(".json");
    const char *build = memrchr(entry, '-', length);
    const char *version = build != NULL ? memrchr(entry, '-', (size_t)(build - entry)) : NULL;
    if (version == NULL || version == entry) {
        return;
    }
    size_t name_length = (size_t)(version - entry), version_length = (size_t)(build - version) - 1;
    if (name_length < TEXT_MAX && version_length < TEXT_MAX) {
        memcpy(package.name, entry, name_length);
        memcpy(package.version, version + 1, version_length);
        add(to, &package, "conda");
    }
}

static int compare_texts(const void *left, const void *right) {
    const char *const *a = left, *const *b = right;
    return strcmp(*a, *b);
}

static void make_digest(json_t *seen, char ret_digest[SHA256_HEX_SIZE]) {
    size_t count = json_object_size(seen), filled = 0;
    AUTO_FREE char **lines = mem_alloc((count + 1) * sizeof *lines);
    const char *name;
    json_t *identity;
    json_object_foreach (seen, name, identity) {
        lines[filled++] = mem_printf("%s==%s\n", name, json_string_value(identity));
    }
    qsort(lines, filled, sizeof *lines, compare_texts);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < filled; i++) {
        strbuf_add_str(&text, lines[i]);
        mem_free_ptr(&lines[i]);
    }
    digest_sha256(strbuf_str(&text), text.length, ret_digest);
}

void python_packages(const struct root *root, const struct python *python,
                     const struct variables *variables, struct package_budget *budget,
                     json_t *packages, size_t *ret_count, char ret_digest[SHA256_HEX_SIZE]) {
    AUTO_JSON json_t *seen = json_object();
    struct collector to = {.root = root,
                           .prefix = python->prefix,
                           .budget = budget,
                           .packages = packages,
                           .seen = seen};
    struct python_folders folders;
    python_folders(root, python, variables, &folders);
    for (size_t i = 0; i < folders.count; i++) {
        each_entry(&to, folders.path[i], take_entry);
    }
    python_folders_done(&folders);
    char meta[PATH_MAX];
    if (python->kind == PYTHON_CONDA && path_join(meta, python->prefix, "conda-meta")) {
        each_entry(&to, meta, take_conda);
    }
    *ret_count = json_object_size(seen);
    ret_digest[0] = '\0';
    if (!budget->ended_by_count && !budget->ended_by_time) {
        make_digest(seen, ret_digest);
    }
}
