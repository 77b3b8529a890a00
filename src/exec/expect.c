/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks that the caller asked for. A check that could not be made is "not-checked", never "yes"
 * and never "no". */
#include "exec/expect.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"
#include "text/pattern.h"
#include "text/secret.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct expectation {
    enum expect_kind kind;
    const char *text;  /* "marker=done", borrowed */
    const char *value; /* behind the '=' */
    uint64_t count;
    struct pattern_set *pattern; /* NULL: only the plain text */
};

struct expectations {
    size_t count, markers;
    struct expectation items[];
};

static int parse(const char *text, struct expectation *ret, struct err *err) {
    static const struct {
        const char *prefix;
        enum expect_kind kind;
    } kinds[] = {{"marker=", EXPECT_MARKER}, {"file=", EXPECT_FILE}, {"count=", EXPECT_COUNT}};
    *ret = (struct expectation){.text = text};
    for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
        size_t length = strlen(kinds[i].prefix);
        if (strncmp(text, kinds[i].prefix, length) != 0 || text[length] == '\0')
            continue;
        ret->kind = kinds[i].kind;
        ret->value = text + length;
        if (ret->kind == EXPECT_COUNT && str_to_u64(ret->value, &ret->count) < 0)
            return err_set(err, -EINVAL, "expect-invalid",
                           "'count=' takes a whole number, not '%s'", ret->value);
        return 0;
    }
    return err_set(err, -EINVAL, "expect-invalid", "'%s' is not marker=TEXT, file=PATH or count=N",
                   text);
}

/* A text that is no regular expression is looked for as it stands. */
static void compile(struct expectation *item) {
    struct err err = ERR_INIT;
    item->pattern = pattern_set_new();
    if (pattern_set_add(item->pattern, "compute", "begin", item->value, &err) < 0)
        item->pattern = pattern_set_free(item->pattern);
}

int expectations_new(const char *const *list, struct expectations **ret, struct err *err) {
    size_t count = 0;
    while (list != NULL && list[count] != NULL)
        count++;
    struct expectations *made = mem_alloc(sizeof *made + count * sizeof made->items[0]);
    for (size_t i = 0; i < count; i++) {
        struct expectation *item = &made->items[i];
        int rc = parse(list[i], item, err);
        if (rc == 0 && item->kind == EXPECT_MARKER && made->markers++ >= EXPECT_MARKERS_MAX)
            rc = err_set(err, -EINVAL, "expect-invalid", "more than %u markers are expected",
                         EXPECT_MARKERS_MAX);
        if (rc < 0) {
            expectations_free(made);
            return rc;
        }
        made->count++;
        if (item->kind == EXPECT_MARKER)
            compile(item);
    }
    *ret = made;
    return 0;
}

struct expectations *expectations_free(struct expectations *expectations) {
    for (size_t i = 0; expectations != NULL && i < expectations->count; i++)
        pattern_set_free(expectations->items[i].pattern);
    free(expectations);
    return NULL;
}

bool expectations_has_markers(const struct expectations *expectations) {
    return expectations->markers > 0;
}

uint64_t expectations_match(const struct expectations *expectations, const char *line) {
    uint64_t bits = 0, bit = 1;
    const char *phase, *event;
    for (size_t i = 0; i < expectations->count; i++) {
        const struct expectation *item = &expectations->items[i];
        if (item->kind != EXPECT_MARKER)
            continue;
        if (strstr(line, item->value) != NULL ||
            (item->pattern != NULL && pattern_set_match(item->pattern, line, &phase, &event)))
            bits |= bit;
        bit <<= 1;
    }
    return bits;
}

static json_t *masked(const char *text) {
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    secret_mask(text, strlen(text), &safe);
    return json_text(strbuf_str(&safe));
}

json_t *expectations_to_start(const struct expectations *expectations) {
    static const char *const keys[] = {"marker", "file", "count"};
    json_t *list = json_array();
    for (size_t i = 0; i < expectations->count; i++) {
        const struct expectation *item = &expectations->items[i];
        json_t *object = json_object();
        if (item->kind == EXPECT_COUNT)
            json_put_int(object, keys[item->kind], (int64_t)item->count);
        else
            json_put(object, keys[item->kind], masked(item->value));
        json_put(object, "text", masked(item->text));
        json_array_append_new(list, object);
    }
    return list;
}

/* ---- the answers ---- */

static void answer(json_t *object, const char *met, const char *detail) {
    json_put_text(object, "met", met);
    json_put_text(object, "detail", detail);
}

static void answer_marker(json_t *object, bool seen, const struct expect_facts *facts) {
    if (seen)
        answer(object, "yes", N_("seen in the output"));
    else if (facts->no_output != NULL)
        answer(object, "not-checked", facts->no_output);
    else if (!facts->output_complete)
        answer(object, "not-checked", N_("a part of the output was not looked at"));
    else
        answer(object, "no", N_("not seen in the output"));
}

static void answer_file(json_t *object, const char *path, const struct expect_facts *facts) {
    struct stat status;
    if (stat(path, &status) < 0) {
        bool absent = errno == ENOENT || errno == ENOTDIR;
        answer(object, absent ? "no" : "not-checked", strerrordesc_np(errno));
    } else if (!S_ISREG(status.st_mode)) {
        answer(object, "no", N_("it is no file"));
    } else if (status.st_size == 0) {
        answer(object, "no", N_("the file is empty"));
    } else if (status.st_mtim.tv_sec * NS_PER_S + status.st_mtim.tv_nsec <
               facts->start_utc_ns - EXPECT_COARSE_TIME_NS) {
        answer(object, "no", N_("the file is older than the run"));
    } else {
        char detail[64];
        snprintf(detail, sizeof detail, "%" PRIdMAX " bytes", (intmax_t)status.st_size);
        answer(object, "yes", detail);
    }
}

static void answer_count(json_t *object, uint64_t count, const struct expect_facts *facts) {
    if (!facts->has_items) {
        answer(object, "not-checked", N_("the command marked no items"));
        return;
    }
    char detail[64];
    snprintf(detail, sizeof detail, "%.15g items", facts->items);
    /* Whole numbers up to 2^53 are exact in a double, and more items than that nobody counts. */
    answer(object, facts->items - (double)count == 0.0 ? "yes" : "no", detail);
}

json_t *expectations_to_end(const struct expectations *expectations,
                            const struct expect_facts *facts) {
    json_t *list = json_array();
    uint64_t bit = 1;
    for (size_t i = 0; i < expectations->count; i++) {
        const struct expectation *item = &expectations->items[i];
        json_t *object = json_object();
        json_put(object, "what", masked(item->text));
        switch (item->kind) {
        case EXPECT_MARKER:
            answer_marker(object, (facts->markers_seen & bit) != 0, facts);
            bit <<= 1;
            break;
        case EXPECT_FILE:
            answer_file(object, item->value, facts);
            break;
        case EXPECT_COUNT:
            answer_count(object, item->count, facts);
            break;
        }
        json_array_append_new(list, object);
    }
    return list;
}
