/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requirements that stand in tables and trees: pyproject.toml, Pipfile, lock files, setup.cfg,
 * environments of conda. Their own ways of writing a version become pip's where they mean the same.
 */
#include "probe/repository-parts.h"

#include "base/str.h"
#include "base/yaml.h"
#include "probe/repository-toml.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PARTS_MAX 3u

/* ---- versions of poetry, pipenv and conda ---- */

/* "1.2.3" up to the next number of the part that may not change: "<2", "<1.3". */
static void add_next(struct strbuf *out, const char *version, size_t kept) {
    unsigned long parts[PARTS_MAX] = {0};
    size_t count = 0;
    const char *at = version;
    while (count < PARTS_MAX && *at >= '0' && *at <= '9') {
        char *end;
        parts[count++] = strtoul(at, &end, 10);
        at = *end == '.' ? end + 1 : "";
    }
    kept = kept < count ? kept : count;
    for (size_t i = 0; i < kept; i++)
        strbuf_printf(out, "%s%lu", i > 0 ? "." : "", parts[i] + (i + 1 == kept));
}

/* The caret keeps the first number that is not zero. */
static size_t kept_by_caret(const char *version) {
    size_t kept = 1;
    while (version[0] == '0' && version[1] == '.' && kept < PARTS_MAX) {
        version += 2;
        kept++;
    }
    return kept;
}

static void add_poetry(struct strbuf *out, const char *text) {
    if (text[0] == '^') {
        strbuf_printf(out, ">=%s,<", text + 1);
        add_next(out, text + 1, kept_by_caret(text + 1));
    } else if (text[0] == '~' && text[1] != '=') {
        strbuf_printf(out, ">=%s,<", text + 1);
        add_next(out, text + 1, strchr(text, '.') != NULL ? 2 : 1);
    } else if (text[0] >= '0' && text[0] <= '9')
        strbuf_printf(out, "==%s", text);
    else if (strcmp(text, "*") != 0)
        for (; *text != '\0'; text++)
            if (*text != ' ')
                strbuf_add_char(out, *text);
}

/* conda: "=1.26" is 1.26 and what begins so; a third part names the build. */
static void add_conda(struct strbuf *out, const char *text) {
    AUTO_FREE char *version = mem_strdup(text);
    char *build = strchr(version + strspn(version, "=<>!~"), '=');
    if (build != NULL)
        *build = '\0';
    bool is_prefix = version[0] == '=' && version[1] != '=';
    const char *number = version + strspn(version, "=");
    if (!is_prefix)
        strbuf_add_str(out, version);
    else if (build != NULL || str_ends_with(number, "*"))
        strbuf_printf(out, "==%s", number);
    else
        strbuf_printf(out, "==%s.*", number);
}

/* ---- TOML ---- */

struct toml_file {
    const struct repository_file *file;
    bool is_lock, is_pipfile;
    char *name; /* of the package that a lock file tells of */
    unsigned began;
};

static void add_python(const struct repository_file *file, unsigned line, const char *specifier) {
    json_t *fact = repository_fact(file, "pythons", line);
    if (fact != NULL)
        json_put_text(fact, "specifier", specifier);
}

static void visit_lock(struct toml_file *toml, const char *path, const char *text, unsigned line,
                       unsigned began) {
    if (strcmp(path, "package.name") == 0) {
        mem_free_ptr(&toml->name);
        toml->name = mem_strdup(text);
        toml->began = began;
    } else if (strcmp(path, "package.version") == 0 && toml->name != NULL && toml->began == began) {
        AUTO_FREE char *specifier = mem_printf("==%s", text);
        repository_add_pin(toml->file, line, toml->name, specifier, "lock", NULL);
    }
}

/* "NAME" or "NAME.version" below a table of packages. */
static void add_table_entry(struct toml_file *toml, const char *entry, const char *text,
                            unsigned line, const char *group) {
    AUTO_STRBUF struct strbuf specifier = STRBUF_INIT;
    AUTO_FREE char *name = mem_strdup(entry);
    char *key = strrchr(name, '.');
    bool is_version = key != NULL && strcmp(key, ".version") == 0;
    if (key != NULL && !is_version)
        return;
    if (is_version)
        *key = '\0';
    add_poetry(&specifier, text);
    if (strcasecmp(name, "python") == 0)
        add_python(toml->file, line, strbuf_str(&specifier));
    else
        repository_add_pin(toml->file, line, name, strbuf_str(&specifier),
                           toml->is_pipfile ? "pipfile" : "pyproject", group);
}

static void visit_pyproject(struct toml_file *toml, const char *path, const char *text,
                            unsigned line) {
    static const struct {
        const char *table, *group; /* group "*": the last part of the path */
    } lists[] = {{"project.dependencies", NULL}, {"build-system.requires", "build"}};
    static const char poetry[] = "tool.poetry.dependencies.", groups[] = "tool.poetry.group.";
    static const char optional[] = "project.optional-dependencies.", named[] = "dependency-groups.";
    for (size_t i = 0; i < ARRAY_LENGTH(lists); i++)
        if (strcmp(path, lists[i].table) == 0)
            (void)repository_add_requirement(toml->file, line, text, "pyproject", lists[i].group);
    if (strcmp(path, "project.requires-python") == 0)
        add_python(toml->file, line, text);
    else if (str_starts_with(path, optional))
        (void)repository_add_requirement(toml->file, line, text, "pyproject",
                                         path + strlen(optional));
    else if (str_starts_with(path, named) && strchr(path + strlen(named), '.') == NULL)
        (void)repository_add_requirement(toml->file, line, text, "pyproject", path + strlen(named));
    else if (str_starts_with(path, poetry))
        add_table_entry(toml, path + strlen(poetry), text, line, NULL);
    else if (str_starts_with(path, "tool.poetry.dev-dependencies."))
        add_table_entry(toml, path + strlen("tool.poetry.dev-dependencies."), text, line, "dev");
    else if (str_starts_with(path, groups)) {
        AUTO_FREE char *group = mem_strdup(path + strlen(groups));
        char *rest = strstr(group, ".dependencies.");
        if (rest == NULL)
            return;
        *rest = '\0';
        add_table_entry(toml, rest + strlen(".dependencies."), text, line, group);
    } else if (strcmp(path, "tool.uv.index.url") == 0 ||
               strcmp(path, "tool.poetry.source.url") == 0) {
        json_t *fact = repository_fact(toml->file, "indexes", line);
        if (fact != NULL) {
            json_put_text(fact, "file", toml->file->path);
            repository_put_masked(fact, "url", text);
        }
    }
}

static void visit(void *context, const char *path, const char *text, unsigned line,
                  unsigned began) {
    struct toml_file *toml = context;
    if (toml->is_lock)
        visit_lock(toml, path, text, line, began);
    else if (!toml->is_pipfile)
        visit_pyproject(toml, path, text, line);
    else if (str_starts_with(path, "packages."))
        add_table_entry(toml, path + strlen("packages."), text, line, NULL);
    else if (str_starts_with(path, "dev-packages."))
        add_table_entry(toml, path + strlen("dev-packages."), text, line, "dev");
    else if (strcmp(path, "requires.python_version") == 0) {
        AUTO_FREE char *specifier = mem_printf("==%s.*", text);
        add_python(toml->file, line, specifier);
    }
}

void repository_read_toml(const struct repository_file *file) {
    struct toml_file toml = {.file = file,
                             .is_lock = str_ends_with(file->name, ".lock"),
                             .is_pipfile = strcmp(file->name, "Pipfile") == 0};
    toml_read(file->text, visit, &toml);
    mem_free_ptr(&toml.name);
}

/* ---- conda ---- */

static void add_conda_entry(const struct repository_file *file, const struct yaml_node *node) {
    AUTO_STRBUF struct strbuf specifier = STRBUF_INIT;
    const char *text = strstr(node->text, "::"); /* channel::package */
    text = text != NULL ? text + 2 : node->text;
    size_t length = strcspn(text, " =<>!~[");
    if (length == 0)
        return;
    AUTO_FREE char *name = mem_strndup(text, length);
    text += length;
    if (*text != '[')
        add_conda(&specifier, text + strspn(text, " "));
    if (strcmp(name, "python") == 0)
        add_python(file, node->line, strbuf_str(&specifier));
    else
        repository_add_pin(file, node->line, name, strbuf_str(&specifier), "conda", NULL);
}

void repository_read_environment(const struct repository_file *file) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct yaml_node *root = NULL;
    struct yaml_problem problem;
    if (yaml_parse(file->text, file->length, arena, &root, &problem) < 0 || root == NULL ||
        root->kind != YAML_MAP)
        return;
    const struct yaml_node *list = yaml_get(root, "dependencies");
    for (size_t i = 0; list != NULL && list->kind == YAML_LIST && i < list->count; i++) {
        const struct yaml_node *item = list->items[i];
        if (item->kind == YAML_SCALAR)
            add_conda_entry(file, item);
        const struct yaml_node *pip = item->kind == YAML_MAP ? yaml_get(item, "pip") : NULL;
        for (size_t k = 0; pip != NULL && pip->kind == YAML_LIST && k < pip->count; k++)
            if (pip->items[k]->kind == YAML_SCALAR)
                (void)repository_add_requirement(file, pip->items[k]->line, pip->items[k]->text,
                                                 "conda", NULL);
    }
}

/* ---- setup.cfg ---- */

void repository_read_setup(const struct repository_file *file) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    AUTO_FREE char *key = mem_strdup("");
    bool in_options = false, in_extras = false;
    const char *at = file->text;
    for (unsigned number = 1; repository_next_line(&at, &line); number++) {
        const char *text = strbuf_str(&line);
        const char *value = text;
        if (text[0] == '[') {
            in_options = str_starts_with(text, "[options]");
            in_extras = str_starts_with(text, "[options.extras_require]");
            continue;
        }
        if (text[0] == '#' || text[0] == ';' || text[0] == '\0')
            continue;
        if (text[0] != ' ' && text[0] != '\t') {
            size_t length = strcspn(text, " \t=");
            mem_free_ptr(&key);
            key = mem_strndup(text, length);
            value = strchr(text, '=');
            value = value != NULL ? value + 1 : "";
        }
        value += strspn(value, " \t");
        if (*value == '\0')
            continue;
        if (in_options && strcmp(key, "python_requires") == 0)
            add_python(file, number, value);
        else if (in_options && strcmp(key, "install_requires") == 0)
            (void)repository_add_requirement(file, number, value, "setup", NULL);
        else if (in_extras)
            (void)repository_add_requirement(file, number, value, "setup", key);
    }
}
