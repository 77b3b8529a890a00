/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan read from a text, and what it complains of. */
#pragma once

#include "../base/testing.h"

#include "base/fd.h"
#include "plan/plan.h"

#include <errno.h>

/* What every plan needs; the text that follows begins in line 3. */
#define HEAD "probelauf: 1\nstudy: {id: 01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21}\n"

struct with_plan {
    struct plan *plan;
    struct plan_complaints complaints;
    struct err err;
    int rc;
};

/* *state: the folder of folder_setup. */
static inline struct with_plan plan_of(void **state, const char *text) {
    struct with_plan with = {0};
    AUTO_FREE char *path = mem_printf("%s/probelauf.yaml", (const char *)*state);
    struct err err = ERR_INIT;
    assert_int_equal(file_write_atomic(path, text, strlen(text), 0600, &err), 0);
    with.rc = plan_read(path, &with.plan, &with.complaints, &with.err);
    assert_non_null(with.plan);
    return with;
}

static inline void with_plan_done(struct with_plan *with) {
    with->plan = plan_free(with->plan);
}
#define AUTO_WITH_PLAN __attribute__((cleanup(with_plan_done)))

/* All complaints: "LINE:COLUMN error[ID] text" or "… warning[ID] …", a line each. */
static inline char *complaints_text(const struct with_plan *with) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    for (size_t i = 0; i < with->complaints.count; i++) {
        const struct plan_complaint *one = &with->complaints.items[i];
        strbuf_printf(&out, "%u:%u %s[%s] %s\n", one->at.line, one->at.column,
                      one->warning ? "warning" : "error", one->id, one->text);
    }
    return strbuf_take(&out);
}

/* The text below HEAD gives exactly these complaints. */
static inline void assert_complaints(void **state, const char *below, const char *expected) {
    AUTO_FREE char *text = mem_printf("%s%s", HEAD, below);
    AUTO_WITH_PLAN struct with_plan with = plan_of(state, text);
    AUTO_FREE char *got = complaints_text(&with);
    assert_string_equal(got, expected);
    size_t errors = 0;
    for (size_t i = 0; i < with.complaints.count; i++)
        errors += !with.complaints.items[i].warning;
    assert_int_equal(with.complaints.errors, errors);
    assert_int_equal(with.rc, errors > 0 ? -EINVAL : 0);
}

/* The text below HEAD is sound, but for warnings. */
static inline struct with_plan sound_plan(void **state, const char *below) {
    AUTO_FREE char *text = mem_printf("%s%s", HEAD, below);
    struct with_plan with = plan_of(state, text);
    if (with.complaints.errors > 0)
        fail_msg("%s", with.err.text);
    return with;
}
