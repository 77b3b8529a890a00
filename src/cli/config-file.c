/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libyaml events of one flat mapping, with the position of everything that is refused. What values
 * mean is not known here (settings.c).
 */
#include "config-file.h"

#include "base/fd.h"
#include "base/msg.h"
#include "base/str.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

struct reading {
    const char *path;
    const char *const *known;
    size_t known_count;
    struct arena *arena;
    struct config_entry *entries; /* known_count of them: each key once */
    size_t count;
    yaml_parser_t parser;
};

static void event_delete(yaml_event_t *event) {
    yaml_event_delete(event);
}
#define AUTO_EVENT __attribute__((cleanup(event_delete)))

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

static int refuse(const struct reading *reading, const yaml_mark_t *mark, const char *what,
                  struct err *err) {
    return err_set(err, -EINVAL, "config-syntax", "%s:%zu:%zu: %s", reading->path, mark->line + 1,
                   mark->column + 1, what);
}

static int next_event(struct reading *reading, yaml_event_t *ret_event, struct err *err) {
    if (yaml_parser_parse(&reading->parser, ret_event)) {
        return 0;
    }
    yaml_mark_t mark = reading->parser.problem_mark;
    const char *problem = reading->parser.problem != NULL ? reading->parser.problem : "not YAML";
    return refuse(reading, &mark, problem, err);
}

/* Only a scalar without anchor and tag is a key or a value. */
static int check_scalar(const struct reading *reading, const yaml_event_t *event, struct err *err) {
    const char *what = NULL;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        if (event->data.scalar.anchor != NULL) {
            what = _("anchors are not allowed here");
        } else if (event->data.scalar.tag != NULL) {
            what = _("tags are not allowed here");
        } else if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length) {
            what = _("a zero byte is not allowed here");
        }
        break;
    case YAML_ALIAS_EVENT:
        what = _("aliases are not allowed here");
        break;
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        what = _("only lines 'key: value' are allowed, nothing nested");
        break;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        what = _("a value is missing");
        break;
    }
    return what == NULL ? 0 : refuse(reading, &event->start_mark, what, err);
}

static int check_key(const struct reading *reading, const yaml_event_t *event, const char **ret_key,
                     struct err *err) {
    const char *key = (const char *)event->data.scalar.value;
    size_t line = event->start_mark.line + 1, column = event->start_mark.column + 1;
    for (size_t i = 0; i < reading->count; i++) {
        if (strcmp(reading->entries[i].key, key) == 0) {
            return err_set(err, -EINVAL, "config-syntax",
                           "%s:%zu:%zu: '%s' stands in line %zu already", reading->path, line,
                           column, key, reading->entries[i].line);
        }
    }
    for (size_t i = 0; i < reading->known_count; i++) {
        if (strcmp(reading->known[i], key) == 0) {
            *ret_key = reading->known[i];
            return 0;
        }
    }
    const char *near = str_nearest(key, reading->known, reading->known_count);
    if (near != NULL) {
        return err_set(err, -EINVAL, "config-unknown-key",
                       "%s:%zu:%zu: unknown key '%s'; did you mean '%s'?", reading->path, line,
                       column, key, near);
    }
    AUTO_STRBUF struct strbuf keys = STRBUF_INIT;
    for (size_t i = 0; i < reading->known_count; i++)
        strbuf_printf(&keys, "%s%s", i > 0 ? ", " : "", reading->known[i]);
    return err_set(err, -EINVAL, "config-unknown-key",
                   "%s:%zu:%zu: unknown key '%s'; the keys are %s", reading->path, line, column,
                   key, strbuf_str(&keys));
}

static int read_pair(struct reading *reading, const yaml_event_t *key_event, struct err *err) {
    const char *key = NULL;
    int rc = check_scalar(reading, key_event, err);
    if (rc == 0) {
        rc = check_key(reading, key_event, &key, err);
    }
    if (rc < 0) {
        return rc;
    }
    AUTO_EVENT yaml_event_t event = {0};
    rc = next_event(reading, &event, err);
    if (rc == 0) {
        rc = check_scalar(reading, &event, err);
    }
    if (rc < 0) {
        return rc;
    }
    const char *value = (const char *)event.data.scalar.value;
    bool plain = event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (*value == '\0' || (plain && (strcmp(value, "~") == 0 || strcmp(value, "null") == 0))) {
        return err_set(err, -EINVAL, "config-syntax",
                       "%s:%zu:%zu: '%s' has no value; remove the line to use what is built in",
                       reading->path, key_event->start_mark.line + 1,
                       key_event->start_mark.column + 1, key);
    }
    assert(reading->count < reading->known_count);
    reading->entries[reading->count++] = (struct config_entry){
        .key = key,
        .value = arena_strdup(reading->arena, value),
        .line = key_event->start_mark.line + 1,
        .column = event.start_mark.column + 1,
    };
    return 0;
}

static int read_mapping(struct reading *reading, const yaml_event_t *start, struct err *err) {
    if (start->data.mapping_start.anchor != NULL) {
        return refuse(reading, &start->start_mark, _("anchors are not allowed here"), err);
    }
    if (start->data.mapping_start.tag != NULL) {
        return refuse(reading, &start->start_mark, _("tags are not allowed here"), err);
    }
    for (;;) {
        AUTO_EVENT yaml_event_t event = {0};
        int rc = next_event(reading, &event, err);
        if (rc < 0 || event.type == YAML_MAPPING_END_EVENT) {
            return rc;
        }
        rc = read_pair(reading, &event, err);
        if (rc < 0) {
            return rc;
        }
    }
}

/* The content of the one document. A document of comments only is one empty plain scalar. */
static int read_root(struct reading *reading, struct err *err) {
    AUTO_EVENT yaml_event_t event = {0};
    int rc = next_event(reading, &event, err);
    if (rc < 0) {
        return rc;
    }
    if (event.type == YAML_MAPPING_START_EVENT) {
        return read_mapping(reading, &event, err);
    }
    if (event.type == YAML_SCALAR_EVENT && event.data.scalar.length == 0 &&
        event.data.scalar.anchor == NULL && event.data.scalar.tag == NULL) {
        return 0;
    }
    return refuse(reading, &event.start_mark, _("expected lines 'key: value'"), err);
}

static int read_stream(struct reading *reading, struct err *err) {
    bool seen_document = false;
    for (;;) {
        AUTO_EVENT yaml_event_t event = {0};
        int rc = next_event(reading, &event, err);
        if (rc < 0 || event.type == YAML_STREAM_END_EVENT) {
            return rc;
        }
        if (event.type != YAML_DOCUMENT_START_EVENT) {
            continue; /* stream start, document end */
        }
        if (seen_document) {
            return refuse(reading, &event.start_mark, _("a second document is not allowed here"),
                          err);
        }
        seen_document = true;
        rc = read_root(reading, err);
        if (rc < 0) {
            return rc;
        }
    }
}

int config_file_read(const char *path, const char *const *known, size_t known_count,
                     struct arena *arena, struct config_entry **ret_entries, size_t *ret_count,
                     struct err *err) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    int rc = read_file(path, &text, err);
    if (rc == -ENOENT) {
        *ret_entries = NULL;
        *ret_count = 0;
        return 0;
    }
    if (rc < 0) {
        return rc;
    }
    struct reading reading = {
        .path = path, .known = known, .known_count = known_count, .arena = arena};
    reading.entries = arena_alloc(arena, known_count * sizeof(*reading.entries));
    if (!yaml_parser_initialize(&reading.parser)) {
        return err_set(err, -ENOMEM, "config-unreadable", "no memory to read '%s'", path);
    }
    yaml_parser_set_input_string(&reading.parser, (const unsigned char *)strbuf_str(&text),
                                 text.length);
    rc = read_stream(&reading, err);
    yaml_parser_delete(&reading.parser);
    if (rc < 0) {
        return rc;
    }
    *ret_entries = reading.entries;
    *ret_count = reading.count;
    return 0;
}
