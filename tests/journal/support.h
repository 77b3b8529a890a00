/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the journal's tests share: journals made in memory, JSON written with single quotes. */
#pragma once

#include "../base/testing.h"

#include "base/clock.h"
#include "base/fd.h"
#include "journal/journal.h"
#include "journal/record.h"

#include <errno.h>
#include <sys/stat.h>

#define must(call, err)                                 \
    do {                                                \
        if ((call) < 0) {                               \
            fail_msg("%s: %s", (err)->id, (err)->text); \
        }                                               \
    } while (0)

#define RUN_ID  "0192a000-0000-7000-8000-000000000001"
#define PART_ID "0192a000-0000-7000-8000-000000000002"

/* {'a':1} → {"a":1} */
static inline json_t *parse(const char *single_quoted) {
    AUTO_FREE char *text = mem_strdup(single_quoted);
    for (char *at = text; *at != '\0'; at++) {
        *at = *at == '\'' ? '"' : *at;
    }
    char why[160];
    json_t *json = json_parse(text, strlen(text), why);
    if (json == NULL) {
        fail_msg("%s in %s", why, text);
    }
    return json;
}

static inline void add_bytes(struct strbuf *journal, uint32_t kind, const void *payload,
                             size_t length) {
    uint8_t head[JOURNAL_RECORD_HEAD];
    record_head_put(head, kind, JOURNAL_VERSION, payload, length);
    strbuf_add(journal, head, sizeof head);
    strbuf_add(journal, payload, length);
}

static inline void add_json(struct strbuf *journal, uint32_t kind, const json_t *json) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_add_compact(&text, json);
    add_bytes(journal, kind, strbuf_str(&text), text.length);
}

static inline void add(struct strbuf *journal, uint32_t kind, const char *single_quoted) {
    AUTO_JSON json_t *json = parse(single_quoted);
    add_json(journal, kind, json);
}

/* Magic, HEADER and a START with what is common. start_more: further keys with a leading comma, or
 * "". */
static inline void begin(struct strbuf *journal, const char *start_more) {
    strbuf_add_str(journal, JOURNAL_MAGIC);
    add(journal, JOURNAL_HEADER,
        "{'format':1,'type':'run','run':'" RUN_ID "','part':'" PART_ID
        "','boot_id':'00000000-0000-0000-0000-000000000000','pid':1,'pid_start':1,"
        "'utc_ns':1764500000000000000,'program':'0.1.0'}");
    AUTO_FREE char *start =
        mem_printf("{'command':['true'],'cwd':'/','purpose':'trial','attempt':1,"
                   "'clock':{'start_mono_ns':1000000000,'start_utc_ns':1764500000500000000},"
                   "'rss_floor_bytes':2097152%s}",
                   start_more);
    add(journal, JOURNAL_START, start);
}

/* Field 22 of /proc/PID/stat: 19 fields behind the state, which follows the name. */
static inline int64_t start_ticks(pid_t pid) {
    char path[64], stat[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = read(fd, stat, sizeof stat - 1);
    assert_true(length > 0);
    stat[length] = '\0';
    char *at = strrchr(stat, ')') + 2;
    for (int field = 3; field < 22; field++) {
        at = strchr(at, ' ') + 1;
    }
    return strtoll(at, NULL, 10);
}

static inline void assert_json(const json_t *json, const char *single_quoted) {
    AUTO_JSON json_t *expected = parse(single_quoted);
    AUTO_STRBUF struct strbuf got = STRBUF_INIT;
    AUTO_STRBUF struct strbuf want = STRBUF_INIT;
    json_add_compact(&got, json);
    json_add_compact(&want, expected);
    assert_string_equal(strbuf_str(&got), strbuf_str(&want));
}
