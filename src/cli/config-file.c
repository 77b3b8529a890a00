/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One flat mapping out of a YAML tree, with the position of everything that is refused. What values
 * mean is not known here (settings.c).
 */
#include "config-file.h"

#include "base/fd.h"
#include "base/msg.h"
#include "base/str.h"
#include "base/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct reading {
    const char *path;
    const char *const *known;
    size_t known_count;
};

/* A FIFO must not hold us up and a folder must not pass for an empty file. */
static int read_file(const char *path, struct strbuf *out, struct err *err) {
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        if (errno == ENOENT || errno == ENOTDIR) {
            return -ENOENT;
        }
        return err_set(err, -errno, "config-unreadable", "cannot read the configuration '%s': %s",
                       path, strerror(errno));
    }
    struct stat status;
    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
        return err_set(err, -EINVAL, "config-unreadable",
                       "the configuration '%s' is not a regular file", path);
    }
    int rc = fd_read_all(fd, CONFIG_FILE_MAX, out);
    if (rc == -EFBIG) {
        return err_set(err, -EFBIG, "config-unreadable",
                       "the configuration '%s' is larger than 64 KiB", path);
    }
    if (rc < 0) {
        return err_set(err, rc, "config-unreadable", "cannot read the configuration '%s': %s", path,
                       strerror(-rc));
    }
    return 0;
}

static int refuse(const struct reading *reading, uint32_t line, uint32_t column, const char *what,
                  struct err *err) {
    return err_set(err, -EINVAL, "config-syntax", "%s:%u:%u: %s", reading->path, line, column,
                   what);
}

static int check_key(const struct reading *reading, const struct yaml_node *node,
                     const char **ret_key, struct err *err) {
    for (size_t i = 0; i < reading->known_count; i++) {
        if (strcmp(reading->known[i], node->text) == 0) {
            *ret_key = reading->known[i];
            return 0;
        }
    }
    const char *near = str_nearest(node->text, reading->known, reading->known_count);
    if (near != NULL) {
        return err_set(err, -EINVAL, "config-unknown-key",
                       "%s:%u:%u: unknown key '%s'; did you mean '%s'?", reading->path, node->line,
                       node->column, node->text, near);
    }
    AUTO_STRBUF struct strbuf keys = STRBUF_INIT;
    for (size_t i = 0; i < reading->known_count; i++)
        strbuf_printf(&keys, "%s%s", i > 0 ? ", " : "", reading->known[i]);
    return err_set(err, -EINVAL, "config-unknown-key",
                   "%s:%u:%u: unknown key '%s'; the keys are %s", reading->path, node->line,
                   node->column, node->text, strbuf_str(&keys));
}

static int take_entry(const struct reading *reading, const struct yaml_entry *from,
                      struct config_entry *ret_entry, struct err *err) {
    const struct yaml_node *value = from->value;
    const char *key = NULL;
    int rc = check_key(reading, from->key, &key, err);
    if (rc < 0) {
        return rc;
    }
    if (value->kind != YAML_SCALAR) {
        return refuse(reading, value->line, value->column,
                      _("only lines 'key: value' are allowed, nothing nested"), err);
    }
    if (yaml_is_unsaid(value)) {
        return err_set(err, -EINVAL, "config-syntax",
                       "%s:%u:%u: '%s' has no value; remove the line to use what is built in",
                       reading->path, from->key->line, from->key->column, key);
    }
    *ret_entry = (struct config_entry){
        .key = key, .value = value->text, .line = from->key->line, .column = value->column};
    return 0;
}

int config_file_read(const char *path, const char *const *known, size_t known_count,
                     struct arena *arena, struct config_entry **ret_entries, size_t *ret_count,
                     struct err *err) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    struct yaml_node *root = NULL;
    struct yaml_problem problem;
    *ret_entries = NULL;
    *ret_count = 0;
    int rc = read_file(path, &text, err);
    if (rc < 0) {
        return rc == -ENOENT ? 0 : rc;
    }
    const struct reading reading = {.path = path, .known = known, .known_count = known_count};
    if (yaml_parse(strbuf_str(&text), text.length, arena, &root, &problem) < 0) {
        return refuse(&reading, problem.line, problem.column, problem.text, err);
    }
    if (root == NULL) {
        return 0;
    }
    if (root->kind != YAML_MAP) {
        return refuse(&reading, root->line, root->column, _("expected lines 'key: value'"), err);
    }
    struct config_entry *entries = arena_alloc(arena, root->count * sizeof *entries);
    for (size_t i = 0; i < root->count; i++) {
        rc = take_entry(&reading, &root->entries[i], &entries[i], err);
        if (rc < 0) {
            return rc;
        }
    }
    *ret_entries = entries;
    *ret_count = root->count;
    return 0;
}
