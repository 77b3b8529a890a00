/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * libyaml's events as a tree. The bytes are looked at before libyaml sees them, so that what is no
 * text is named where it stands; nesting is a stack of our own and never the C stack. Must not
 * know what a document is about, and must not let anything through that reads as something else
 * than it looks like.
 */
#include "base/yaml.h"

#include "base/fd.h"
#include "base/msg.h"
#include "base/str.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

struct frame {
    struct yaml_node *node; /* a map or a list that is still open */
    size_t first;           /* of its parts in parsing->pending */
};

struct parsing {
    struct arena *arena;
    const char *bytes;
    size_t length;
    yaml_parser_t parser;
    struct frame frames[YAML_DEPTH_MAX];
    size_t depth;
    /* parts of open maps (key, value, key, ...) and lists, those of inner ones behind */
    struct yaml_node **pending; /* owned */
    size_t pending_count, pending_room;
    struct yaml_node *root;
    struct yaml_problem *problem;
};

static void event_delete(yaml_event_t *event) {
    yaml_event_delete(event);
}
#define AUTO_EVENT __attribute__((cleanup(event_delete)))

static int refuse(struct yaml_problem *problem, struct arena *arena, size_t line, size_t column,
                  const char *text) {
    *problem = (struct yaml_problem){
        .line = (uint32_t)line, .column = (uint32_t)column, .text = arena_strdup(arena, text)};
    return -EINVAL;
}

static int refuse_at(struct parsing *parsing, const yaml_mark_t *mark, const char *text) {
    return refuse(parsing->problem, parsing->arena, mark->line + 1, mark->column + 1, text);
}

/* ---- the bytes ---- */

static const char *encoding_of_mark(const char *bytes, size_t length) {
    static const struct {
        const char *mark, *name;
        size_t length;
    } marks[] = {
        /* UTF-32 first: its mark begins with that of UTF-16 */
        {"\xFF\xFE\0\0", "UTF-32", 4},
        {"\0\0\xFE\xFF", "UTF-32", 4},
        {"\xFF\xFE", "UTF-16", 2},
        {"\xFE\xFF", "UTF-16", 2},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(marks); i++)
        if (length >= marks[i].length && memcmp(bytes, marks[i].mark, marks[i].length) == 0)
            return marks[i].name;
    return NULL;
}

/* What must not stand in a file, not even in a comment; NULL: it may. libyaml takes U+0085, U+2028
 * and U+2029 for line ends, which hardly any editor shows as such. */
static const char *why_not_character(uint32_t code) {
    if (code == 0)
        return N_("a zero byte is not allowed here; save the file as text");
    if (code == '\t' || code == '\n' || code == '\r')
        return NULL;
    if (code < 0x20 || (code >= 0x7F && code < 0xA0))
        return N_("a control character is not allowed here; remove it");
    if (code == 0x2028 || code == 0x2029 || code == 0xFEFF)
        return N_("an invisible character (a line separator or byte order mark) is not allowed "
                  "here; remove it");
    return NULL;
}

/* The place is that of the first byte too many. */
static int refuse_size(struct parsing *parsing) {
    size_t line = 1, column = 1;
    for (size_t at = 0; at < YAML_FILE_MAX; at++) {
        unsigned char byte = (unsigned char)parsing->bytes[at];
        if (byte == '\n') {
            line++;
            column = 1;
        } else if ((byte & 0xC0) != 0x80) { /* no further byte of a character */
            column++;
        }
    }
    return refuse(parsing->problem, parsing->arena, line, column,
                  _("the file is larger than 4 MiB; nobody writes that by hand"));
}

static int check_bytes(struct parsing *parsing) {
    struct arena *arena = parsing->arena;
    if (parsing->length > YAML_FILE_MAX)
        return refuse_size(parsing);
    const char *encoding = encoding_of_mark(parsing->bytes, parsing->length);
    if (encoding != NULL)
        return refuse(parsing->problem, arena, 1, 1,
                      arena_printf(arena, _("the file is %s; save it as UTF-8"), encoding));
    if (parsing->length >= 3 && memcmp(parsing->bytes, "\xEF\xBB\xBF", 3) == 0) {
        parsing->bytes += 3;
        parsing->length -= 3;
    }
    size_t line = 1, column = 1;
    for (size_t at = 0; at < parsing->length;) {
        uint32_t code = 0;
        const char *byte = parsing->bytes + at;
        size_t size = str_decode_utf8(byte, parsing->length - at, &code);
        if (size == 0)
            return refuse(parsing->problem, arena, line, column,
                          arena_printf(arena,
                                       _("the byte 0x%02X is no UTF-8; save the file as UTF-8"),
                                       (unsigned)(unsigned char)*byte));
        const char *why = why_not_character(code);
        if (why != NULL)
            return refuse(parsing->problem, arena, line, column, _(why));
        bool breaks =
            code == '\n' || (code == '\r' && !(size < parsing->length - at && byte[1] == '\n'));
        line += breaks;
        column = breaks ? 1 : column + 1;
        at += size;
    }
    return 0;
}

/* ---- what libyaml says ---- */

/* Its sentences are for people who know its grammar. */
static const struct {
    const char *problem;
    bool at_context; /* the place to look at is where the construct began */
    const char *text;
} explanations[] = {
    {"mapping values are not allowed in this context", false,
     N_("a ': ' does not belong here; put the value in quotes, or check the indentation")},
    {"did not find expected key", false,
     N_("this does not fit what stands above; check indentation, quotes and commas")},
    {"did not find expected '-' indicator", false,
     N_("this does not fit the list above; check the indentation, and the '- ' of each entry")},
    {"could not find expected ':'", false,
     N_("a key without ': ' and a value; check this line and the one above")},
    {"found unexpected end of stream", true, N_("the quote that opens here is never closed")},
    {"found unexpected document indicator", true, N_("the quote that opens here is never closed")},
    {"did not find expected ',' or ']'", true,
     N_("the '[' that opens here is not closed, a ',' is missing in it, or a value in it needs "
        "quotes")},
    {"did not find expected ',' or '}'", true,
     N_("the '{' that opens here is not closed, a ',' is missing in it, or a value in it needs "
        "quotes")},
    {"found unknown escape character", false,
     N_("an unknown '\\' in double quotes; use single quotes, or write '\\\\'")},
    {"did not find expected hexdecimal number", false,
     N_("an unknown '\\' in double quotes; use single quotes, or write '\\\\'")},
    {"found invalid Unicode character escape code", false,
     N_("an unknown '\\' in double quotes; use single quotes, or write '\\\\'")},
    {"did not find expected alphabetic or numeric character", false,
     N_("a value that begins with '*' or '&' needs quotes")},
    {"block sequence entries are not allowed in this context", false,
     N_("a list entry '- ' does not belong here; begin it on a line of its own")},
    {"did not find expected node content", false, N_("a value is missing here")},
    {"did not find expected <document start>", false,
     N_("this does not fit what stands above; check the indentation")},
    {"found incompatible YAML document", false, N_("a %YAML line is not needed here; remove it")},
    {"found unknown directive name", false,
     N_("a line that begins with '%' is not allowed here; remove it")},
    {"could not find expected directive name", true,
     N_("a line that begins with '%' is not allowed here; remove it")},
    {"did not find expected whitespace or line break", true,
     N_("tags are not allowed here; put a text that begins with '!' in quotes")},
    {"did not find expected tag URI", true,
     N_("tags are not allowed here; put a text that begins with '!' in quotes")},
    {"found undefined tag handle", true,
     N_("tags are not allowed here; put a text that begins with '!' in quotes")},
    {"did not find expected comment or line break", false,
     N_("nothing may follow '|' or '>' on its line; put a text that begins with it in quotes")},
};

/* The tab in front of a line's text, as a column; 0: there is none. libyaml calls it a character
 * that cannot start any token, if anything. */
static size_t tab_of_line(const struct parsing *parsing, size_t line) {
    const char *at = parsing->bytes, *end = parsing->bytes + parsing->length;
    for (size_t passed = 0; passed < line && at < end; at++)
        passed += *at == '\n' || (*at == '\r' && !(at + 1 < end && at[1] == '\n'));
    for (size_t column = 1; at < end && (*at == ' ' || *at == '\t' || *at == '-'); at++, column++)
        if (*at == '\t')
            return column;
    return 0;
}

static int refuse_syntax(struct parsing *parsing) {
    const yaml_parser_t *parser = &parsing->parser;
    const char *problem = parser->problem != NULL ? parser->problem : "";
    const yaml_mark_t *mark = &parser->problem_mark;
    size_t tab = tab_of_line(parsing, mark->line);
    if (tab > 0)
        return refuse(parsing->problem, parsing->arena, mark->line + 1, tab,
                      _("a tab is not allowed as indentation; use blanks"));
    if (strcmp(problem, "found character that cannot start any token") == 0)
        return refuse_at(parsing, mark,
                         _("a value cannot begin with this character; put the value in quotes"));
    for (size_t i = 0; i < ARRAY_LENGTH(explanations); i++)
        if (strcmp(explanations[i].problem, problem) == 0)
            return refuse_at(parsing,
                             explanations[i].at_context && parser->context != NULL
                                 ? &parser->context_mark
                                 : mark,
                             _(explanations[i].text));
    return refuse_at(parsing, mark,
                     arena_printf(parsing->arena, _("this is no YAML: %s"), problem));
}

static int next_event(struct parsing *parsing, yaml_event_t *ret_event) {
    return yaml_parser_parse(&parsing->parser, ret_event) ? 0 : refuse_syntax(parsing);
}

/* ---- the tree ---- */

/* The node that is being filled; NULL: the document itself. */
static const struct frame *innermost(const struct parsing *parsing) {
    return parsing->depth > 0 ? &parsing->frames[parsing->depth - 1] : NULL;
}

static bool expects_key(const struct parsing *parsing) {
    const struct frame *frame = innermost(parsing);
    return frame != NULL && frame->node->kind == YAML_MAP &&
           (parsing->pending_count - frame->first) % 2 == 0;
}

static void add_node(struct parsing *parsing, struct yaml_node *node) {
    if (parsing->depth == 0) {
        parsing->root = node;
        return;
    }
    if (parsing->pending_count == parsing->pending_room) {
        parsing->pending_room = parsing->pending_room > 0 ? parsing->pending_room * 2 : 64;
        parsing->pending =
            mem_realloc(parsing->pending, parsing->pending_room, sizeof(struct yaml_node *));
    }
    parsing->pending[parsing->pending_count++] = node;
}

static struct yaml_node *new_node(struct parsing *parsing, enum yaml_kind kind,
                                  const yaml_mark_t *mark) {
    struct yaml_node *node = arena_alloc(parsing->arena, sizeof *node);
    *node = (struct yaml_node){
        .kind = kind, .line = (uint32_t)(mark->line + 1), .column = (uint32_t)(mark->column + 1)};
    return node;
}

static int check_properties(struct parsing *parsing, const yaml_event_t *event,
                            const yaml_char_t *anchor, const yaml_char_t *tag) {
    if (anchor != NULL)
        return refuse_at(parsing, &event->start_mark,
                         _("anchors are not allowed here; write the value out where it is used, or "
                           "put a text that begins with '&' in quotes"));
    if (tag != NULL)
        return refuse_at(parsing, &event->start_mark,
                         _("tags are not allowed here; put a text that begins with '!' in quotes"));
    return 0;
}

/* An escape in double quotes can name what the bytes of the file may not hold. */
static int check_characters(struct parsing *parsing, const yaml_event_t *event) {
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    while (length > 0) {
        uint32_t code = 0xFEFF;
        size_t size = str_decode_utf8(text, length, &code);
        const char *why =
            code == 0 ? N_("a zero byte is not allowed here") : why_not_character(code);
        if (size == 0 || why != NULL)
            return refuse_at(parsing, &event->start_mark,
                             why != NULL ? _(why) : _("this is no text"));
        text += size;
        length -= size;
    }
    return 0;
}

static int add_scalar(struct parsing *parsing, const yaml_event_t *event) {
    int rc = check_properties(parsing, event, event->data.scalar.anchor, event->data.scalar.tag);
    if (rc == 0)
        rc = check_characters(parsing, event);
    if (rc < 0)
        return rc;
    struct yaml_node *node = new_node(parsing, YAML_SCALAR, &event->start_mark);
    node->text = arena_strndup(parsing->arena, (const char *)event->data.scalar.value,
                               event->data.scalar.length);
    node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (node->plain && expects_key(parsing) && strcmp(node->text, "<<") == 0)
        return refuse_at(parsing, &event->start_mark,
                         _("merge keys ('<<') are not allowed here; write the keys out"));
    add_node(parsing, node);
    return 0;
}

static int open_node(struct parsing *parsing, const yaml_event_t *event, enum yaml_kind kind,
                     const yaml_char_t *anchor, const yaml_char_t *tag) {
    int rc = check_properties(parsing, event, anchor, tag);
    if (rc < 0)
        return rc;
    if (expects_key(parsing))
        return refuse_at(parsing, &event->start_mark,
                         _("a key must be a text; put it in quotes if it begins with '{' or '['"));
    if (parsing->depth == YAML_DEPTH_MAX)
        return refuse_at(parsing, &event->start_mark,
                         arena_printf(parsing->arena, _("more than %u levels are not allowed here"),
                                      YAML_DEPTH_MAX));
    struct yaml_node *node = new_node(parsing, kind, &event->start_mark);
    add_node(parsing, node);
    parsing->frames[parsing->depth++] =
        (struct frame){.node = node, .first = parsing->pending_count};
    return 0;
}

static int order_of_places(const struct yaml_node *a, const struct yaml_node *b) {
    return a->line != b->line ? (a->line < b->line ? -1 : 1)
                              : (a->column > b->column) - (a->column < b->column);
}

static int order_of_keys(const void *a, const void *b) {
    const struct yaml_node *left = *(struct yaml_node *const *)a;
    const struct yaml_node *right = *(struct yaml_node *const *)b;
    int order = strcmp(left->text, right->text);
    return order != 0 ? order : order_of_places(left, right);
}

/* By sorting: comparing each with each would take minutes for a file of keys. */
static int check_repeated_keys(struct parsing *parsing, const struct yaml_node *map) {
    if (map->count < 2)
        return 0;
    struct yaml_node **keys AUTO_FREE = mem_realloc(NULL, map->count, sizeof *keys);
    for (size_t i = 0; i < map->count; i++)
        keys[i] = map->entries[i].key;
    qsort(keys, map->count, sizeof(struct yaml_node *), order_of_keys);
    const struct yaml_node *first = NULL, *repeated = NULL;
    for (size_t i = 1; i < map->count; i++)
        if (strcmp(keys[i - 1]->text, keys[i]->text) == 0 &&
            (repeated == NULL || order_of_places(keys[i], repeated) < 0)) {
            first = keys[i - 1];
            repeated = keys[i];
        }
    if (repeated == NULL)
        return 0;
    AUTO_STRBUF struct strbuf name = STRBUF_INIT;
    str_add_printable(&name, repeated->text, strnlen(repeated->text, 64));
    return refuse(parsing->problem, parsing->arena, repeated->line, repeated->column,
                  arena_printf(parsing->arena,
                               _("'%s' stands in line %u already; keep one of them"),
                               strbuf_str(&name), first->line));
}

static int close_node(struct parsing *parsing) {
    const struct frame *frame = &parsing->frames[--parsing->depth];
    struct yaml_node *node = frame->node;
    size_t count = parsing->pending_count - frame->first;
    if (count == 0) /* nothing may be pending at all yet */
        return 0;
    struct yaml_node **parts = &parsing->pending[frame->first];
    parsing->pending_count = frame->first;
    if (node->kind == YAML_LIST) {
        node->count = count;
        node->items = arena_alloc(parsing->arena, count * sizeof(struct yaml_node *));
        memcpy(node->items, parts, count * sizeof(struct yaml_node *));
        return 0;
    }
    assert(count % 2 == 0);
    node->count = count / 2;
    node->entries = arena_alloc(parsing->arena, node->count * sizeof *node->entries);
    for (size_t i = 0; i < node->count; i++)
        node->entries[i] = (struct yaml_entry){.key = parts[2 * i], .value = parts[2 * i + 1]};
    return check_repeated_keys(parsing, node);
}

static int begin_document(struct parsing *parsing, const yaml_event_t *event, bool *seen) {
    if (*seen)
        return refuse_at(parsing, &event->start_mark,
                         _("a second document is not allowed here; keep one, and remove '---'"));
    *seen = true;
    if (event->data.document_start.tag_directives.start !=
        event->data.document_start.tag_directives.end)
        return refuse_at(parsing, &event->start_mark,
                         _("a %TAG line is not allowed here; remove it"));
    return 0;
}

static int take_event(struct parsing *parsing, const yaml_event_t *event, bool *seen_document) {
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return begin_document(parsing, event, seen_document);
    case YAML_SCALAR_EVENT:
        return add_scalar(parsing, event);
    case YAML_ALIAS_EVENT:
        return refuse_at(parsing, &event->start_mark,
                         _("aliases are not allowed here; write the value out, or put a text that "
                           "begins with '*' in quotes"));
    case YAML_MAPPING_START_EVENT:
        return open_node(parsing, event, YAML_MAP, event->data.mapping_start.anchor,
                         event->data.mapping_start.tag);
    case YAML_SEQUENCE_START_EVENT:
        return open_node(parsing, event, YAML_LIST, event->data.sequence_start.anchor,
                         event->data.sequence_start.tag);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        return close_node(parsing);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_STREAM_END_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        return 0;
    }
    return 0;
}

static int parse_events(struct parsing *parsing) {
    bool seen_document = false;
    for (;;) {
        AUTO_EVENT yaml_event_t event = {0};
        int rc = next_event(parsing, &event);
        if (rc == 0)
            rc = take_event(parsing, &event, &seen_document);
        if (rc < 0 || event.type == YAML_STREAM_END_EVENT)
            return rc;
    }
}

int yaml_parse(const char *bytes, size_t length, struct arena *arena, struct yaml_node **ret_root,
               struct yaml_problem *ret_problem) {
    struct parsing parsing = {
        .arena = arena, .bytes = bytes, .length = length, .problem = ret_problem};
    int rc = check_bytes(&parsing);
    if (rc < 0)
        return rc;
    if (!yaml_parser_initialize(&parsing.parser))
        return refuse(ret_problem, arena, 0, 0, _("no memory to read the file"));
    yaml_parser_set_encoding(&parsing.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parsing.parser, (const unsigned char *)parsing.bytes,
                                 parsing.length);
    rc = parse_events(&parsing);
    yaml_parser_delete(&parsing.parser);
    free(parsing.pending);
    if (rc < 0)
        return rc;
    /* a document of comments only is one empty plain scalar */
    struct yaml_node *root = parsing.root;
    bool empty = root != NULL && root->kind == YAML_SCALAR && root->plain && *root->text == '\0';
    *ret_root = empty ? NULL : root;
    return 0;
}

/* A FIFO must not hold us up and a folder must not pass for an empty file. */
static int read_file(const char *path, struct strbuf *out, struct err *err) {
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return err_set(err, -errno, "file-unreadable", "cannot read '%s': %s", path,
                       strerror(errno));
    struct stat status;
    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
        return err_set(err, -EBADF, "file-unreadable", "'%s' is not a regular file", path);
    int rc = fd_read_all(fd, YAML_FILE_MAX + 1, out);
    if (rc == -EFBIG)
        return 0; /* one byte too much is all that yaml_parse needs to refuse it */
    if (rc < 0)
        return err_set(err, rc == -EINVAL ? -EIO : rc, "file-unreadable", "cannot read '%s': %s",
                       path, strerror(-rc));
    return 0;
}

int yaml_read(const char *path, struct arena *arena, struct yaml_node **ret_root,
              const char **ret_bytes, size_t *ret_length, struct yaml_problem *ret_problem,
              struct err *err) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    int rc = read_file(path, &text, err);
    if (rc < 0)
        return rc;
    rc = yaml_parse(strbuf_str(&text), text.length, arena, ret_root, ret_problem);
    if (rc < 0)
        return rc;
    if (ret_bytes != NULL)
        *ret_bytes = arena_strndup(arena, strbuf_str(&text), text.length);
    if (ret_length != NULL)
        *ret_length = text.length;
    return 0;
}

const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key) {
    if (map == NULL || map->kind != YAML_MAP)
        return NULL;
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->entries[i].key->text, key) == 0)
            return map->entries[i].value;
    return NULL;
}

bool yaml_is_unsaid(const struct yaml_node *node) {
    if (node == NULL)
        return true;
    if (node->kind != YAML_SCALAR)
        return false;
    return *node->text == '\0' ||
           (node->plain && (strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0));
}
