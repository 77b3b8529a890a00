/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See python-layout.h. Sources: CPython Modules/getpath.py and Lib/site.py as documented, PEP 405,
 * Debian's Python policy. */
#include "probe/python-layout.h"

#include "base/mem.h"
#include "base/str.h"
#include "probe/lines.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *python_kind_name(enum python_kind kind) {
    switch (kind) {
    case PYTHON_SYSTEM:
        return "system";
    case PYTHON_VENV:
        return "venv";
    case PYTHON_CONDA:
        return "conda";
    }
    return NULL;
}

bool python_name_is(const char *name) {
    size_t length = str_starts_with(name, "python") ? 6 : str_starts_with(name, "pypy") ? 4 : 0;
    if (length == 0) {
        return false;
    }
    const char *rest = name + length + strspn(name + length, "0123456789.");
    return *rest == '\0' || strcmp(rest, "t") == 0; /* t: the build without the global lock */
}

/* ---- pyvenv.cfg ---- */

struct venv_config {
    char home[PATH_MAX];
    char version[32];
    bool system_site;
};

/* "key = value"; case and blanks around do not matter (PEP 405). */
static const char *config_value(char *line, const char *key) {
    char *equals = strchr(line, '=');
    if (equals == NULL) {
        return NULL;
    }
    size_t length = (size_t)(equals - line);
    while (length > 0 && isspace((unsigned char)line[length - 1])) {
        length--;
    }
    if (length != strlen(key) || strncasecmp(line, key, length) != 0) {
        return NULL;
    }
    char *value = equals + 1 + strspn(equals + 1, " \t");
    size_t end = strlen(value);
    while (end > 0 && isspace((unsigned char)value[end - 1])) {
        value[--end] = '\0';
    }
    return value;
}

static bool read_venv(const struct root *root, const char *folder, struct venv_config *ret) {
    char path[PATH_MAX];
    struct lines lines AUTO_LINES;
    lines.fd = -1;
    if (!path_join(path, folder, "pyvenv.cfg") || lines_open(root, path, 65536, &lines) < 0) {
        return false;
    }
    struct venv_config out = {0};
    char *line;
    while (lines_next(&lines, &line) == 1) {
        const char *value;
        if ((value = config_value(line, "home")) != NULL && strlen(value) < sizeof out.home) {
            memcpy(out.home, value, strlen(value) + 1);
        } else if ((value = config_value(line, "include-system-site-packages")) != NULL) {
            out.system_site = strcasecmp(value, "true") == 0;
        } else if ((value = config_value(line, "version")) != NULL ||
                   (value = config_value(line, "version_info")) != NULL) {
            size_t length = strspn(value, "0123456789.");
            /* virtualenv writes "3.11.2.final.0" */
            while (length > 0 && value[length - 1] == '.') {
                length--;
            }
            (void)snprintf(out.version, sizeof out.version, "%.*s", (int)length, value);
        }
    }
    *ret = out;
    return true;
}

/* ---- the library folder ---- */

static bool has_library(const struct root *root, const char *prefix, const char *library) {
    char path[PATH_MAX];
    if (library[0] == '\0') {
        return false;
    }
    for (int i = 0; i < 2; i++) {
        if (path_join(path, prefix, i == 0 ? "lib" : "lib64") && path_join(path, path, library) &&
            path_is_folder(root, path)) {
            return true;
        }
    }
    return false;
}

static bool is_library_name(const char *name) {
    return python_name_is(name) && strchr(name, '.') != NULL;
}

/* Without a better clue: the newest library folder under prefix/lib. */
static bool search_library(const struct root *root, const char *prefix, char ret_library[32]) {
    char path[PATH_MAX];
    if (!path_join(path, prefix, "lib")) {
        return false;
    }
    DIR *folder = path_open_folder(root, path);
    if (folder == NULL) {
        return false;
    }
    ret_library[0] = '\0';
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        if (is_library_name(entry->d_name) && strlen(entry->d_name) < 32 &&
            strverscmp(entry->d_name, ret_library) > 0) {
            memcpy(ret_library, entry->d_name, strlen(entry->d_name) + 1);
        }
    }
    (void)closedir(folder);
    return ret_library[0] != '\0';
}

/* "3.11.2" → "python3.11" */
static void library_of_version(const char *version, char ret_library[32]) {
    const char *dot = strchr(version, '.');
    size_t minor = dot != NULL ? strspn(dot + 1, "0123456789") : 0;
    ret_library[0] = '\0';
    if (minor > 0) {
        (void)snprintf(ret_library, 32, "python%.*s", (int)((size_t)(dot - version) + 1 + minor),
                       version);
    }
}

static bool find_library(const struct root *root, struct python *python, const char *real_name) {
    char candidate[32];
    library_of_version(python->version, candidate);
    if (has_library(root, python->prefix, candidate)) {
        memcpy(python->library, candidate, sizeof candidate);
        return true;
    }
    if (is_library_name(real_name) && strlen(real_name) < sizeof python->library &&
        has_library(root, python->prefix, real_name)) {
        memcpy(python->library, real_name, strlen(real_name) + 1);
        return true;
    }
    return search_library(root, python->prefix, python->library);
}

/* conda keeps one file per package: conda-meta/python-3.11.5-h955ad1f_0.json */
static void conda_version(const struct root *root, const char *meta, char ret_version[32]) {
    DIR *folder = path_open_folder(root, meta);
    if (folder == NULL) {
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        if (str_starts_with(entry->d_name, "python-") && isdigit((unsigned char)entry->d_name[7])) {
            (void)snprintf(ret_version, 32, "%.*s", (int)strcspn(entry->d_name + 7, "-"),
                           entry->d_name + 7);
        }
    }
    (void)closedir(folder);
}

static bool locate_venv(const struct root *root, struct python *python) {
    struct venv_config config;
    char folder[PATH_MAX];
    path_parent(python->path, folder);
    if (!read_venv(root, folder, &config)) {
        path_parent(folder, folder);
        if (!read_venv(root, folder, &config)) {
            return false;
        }
    }
    memcpy(python->prefix, folder, sizeof folder);
    python->kind = PYTHON_VENV;
    python->system_site = config.system_site;
    memcpy(python->version, config.version, sizeof config.version);
    if (config.home[0] == '/') {
        path_parent(config.home, python->base); /* home is the base's bin folder */
    }
    return true;
}

/* Managers name their folders by the whole version: pyenv ".../3.11.7", uv
 * ".../cpython-3.11.7-linux-x86_64-gnu". */
static void version_of_folder(struct python *python) {
    const char *at = strstr(path_name(python->prefix), python->version);
    size_t length = strlen(python->version);
    if (length == 0 || at == NULL || at[length] != '.' || !isdigit((unsigned char)at[length + 1])) {
        return;
    }
    size_t whole = strspn(at, "0123456789.");
    if (whole < sizeof python->version) {
        (void)snprintf(python->version, sizeof python->version, "%.*s", (int)whole, at);
    }
}

bool python_locate(const struct root *root, const char *program, struct python *ret) {
    struct python out = {0};
    char real[PATH_MAX], meta[PATH_MAX];
    if (program[0] != '/' || strlen(program) >= sizeof out.path ||
        !path_follow(root, program, real)) {
        return false;
    }
    memcpy(out.path, program, strlen(program) + 1);
    if (!locate_venv(root, &out)) {
        path_parent(real, out.prefix);
        path_parent(out.prefix, out.prefix);
        memcpy(out.base, out.prefix, sizeof out.base);
        if (strcmp(out.prefix, "/") == 0 && path_is_folder(root, "/usr/lib")) {
            memcpy(out.prefix, "/usr", 5); /* /bin is a link to /usr/bin */
            memcpy(out.base, "/usr", 5);
        }
    }
    if (path_join(meta, out.prefix, "conda-meta") && path_is_folder(root, meta)) {
        out.kind = PYTHON_CONDA;
        conda_version(root, meta, out.version);
    }
    if (!find_library(root, &out, path_name(real))) {
        return false;
    }
    if (out.version[0] == '\0') {
        (void)snprintf(out.version, sizeof out.version, "%s",
                       out.library + strcspn(out.library, "0123456789"));
        version_of_folder(&out);
    }
    *ret = out;
    return true;
}

/* ---- sys.path ---- */

static void add_folder(const struct root *root, const char *path, struct python_folders *out) {
    if (out->count == PYTHON_FOLDERS || !path_is_folder(root, path)) {
        return;
    }
    for (size_t i = 0; i < out->count; i++) {
        if (strcmp(out->path[i], path) == 0) {
            return;
        }
    }
    out->path[out->count++] = mem_strdup(path);
}

static void add_site(const struct root *root, const char *prefix, const char *library,
                     struct python_folders *out) {
    static const char *const names[] = {"lib", "lib64"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        AUTO_FREE char *path = mem_printf("%s/%s/%s/site-packages", prefix, names[i], library);
        add_folder(root, path, out);
    }
    if (strcmp(prefix, "/usr") == 0) { /* Debian: what pip puts there, what apt puts there */
        AUTO_FREE char *local = mem_printf("/usr/local/lib/%s/dist-packages", library);
        AUTO_FREE char *own = mem_printf("/usr/lib/%s/dist-packages", library);
        add_folder(root, local, out);
        add_folder(root, "/usr/lib/python3/dist-packages", out);
        add_folder(root, own, out);
    }
}

static void add_user_site(const struct root *root, const char *library,
                          const struct variables *variables, struct python_folders *out) {
    const char *off = variable_get(variables, "PYTHONNOUSERSITE");
    const char *base = variable_get(variables, "PYTHONUSERBASE");
    const char *home = variable_get(variables, "HOME");
    if (off != NULL && off[0] != '\0') {
        return;
    }
    AUTO_FREE char *path = base != NULL && base[0] == '/'
                               ? mem_printf("%s/lib/%s/site-packages", base, library)
                           : home != NULL && home[0] == '/'
                               ? mem_printf("%s/.local/lib/%s/site-packages", home, library)
                               : NULL;
    if (path != NULL) {
        add_folder(root, path, out);
    }
}

void python_folders(const struct root *root, const struct python *python,
                    const struct variables *variables, struct python_folders *ret) {
    *ret = (struct python_folders){0};
    const char *extra = variable_get(variables, "PYTHONPATH");
    for (const char *at = extra; at != NULL;) {
        size_t length = strcspn(at, ":");
        AUTO_FREE char *path = mem_strndup(at, length);
        if (path[0] == '/') { /* relative parts hold sources, not installed packages */
            add_folder(root, path, ret);
        }
        at = at[length] == ':' ? at + length + 1 : NULL;
    }
    bool shows_system = python->kind != PYTHON_VENV || python->system_site;
    if (python->kind == PYTHON_VENV) {
        add_site(root, python->prefix, python->library, ret);
    }
    if (shows_system) {
        add_user_site(root, python->library, variables, ret);
        add_site(root, python->base[0] != '\0' ? python->base : python->prefix, python->library,
                 ret);
    }
}

void python_folders_done(struct python_folders *folders) {
    for (size_t i = 0; i < folders->count; i++) {
        mem_free_ptr(&folders->path[i]);
    }
    folders->count = 0;
}
