/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a plan from end to end, and the list of complaints. What is complained of is known in
 * read.c, matrix.c and check.c; here only that all of it comes in the order of the file.
 */
#include "plan/plan.h"

#include "base/msg.h"
#include "base/str.h"
#include "plan/reading.h"
#include "plan/schema.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define QUOTE_BYTES_MAX 60u

const char *plan_quote(struct plan_reading *reading, const char *text) {
    size_t length = strlen(text), cut = length;
    if (length > QUOTE_BYTES_MAX) {
        cut = QUOTE_BYTES_MAX;
        while (cut > 0 && ((unsigned char)text[cut] & 0xC0) == 0x80)
            cut--; /* not within a character */
    }
    AUTO_STRBUF struct strbuf quoted = STRBUF_INIT;
    str_add_printable(&quoted, text, cut);
    if (cut < length)
        strbuf_add_str(&quoted, "…");
    return arena_strdup(reading->plan->arena, strbuf_str(&quoted));
}

/* ---- complaints ---- */

static void add_complaint(struct plan_reading *reading, struct plan_at at, bool warning,
                          const char *id, const char *text) {
    if (reading->complaint_count == reading->complaint_room) {
        reading->complaint_room = reading->complaint_room > 0 ? reading->complaint_room * 2 : 16;
        reading->complaints =
            mem_realloc(reading->complaints, reading->complaint_room, sizeof *reading->complaints);
    }
    /* what others said of an expression may quote a line end of the plan */
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    str_add_printable(&line, text, strlen(text));
    reading->complaints[reading->complaint_count++] =
        (struct plan_complaint){.at = at,
                                .warning = warning,
                                .id = id,
                                .text = arena_strdup(reading->plan->arena, strbuf_str(&line))};
}

/* The last place of the list is for saying that there are more. Warnings have a limit of their own,
 * so that no number of them can hide an error: a plan must not become good by being full of them.
 */
__attribute__((format(printf, 5, 0))) static void complain(struct plan_reading *reading,
                                                           struct plan_at at, bool warning,
                                                           const char *id, const char *fmt,
                                                           va_list args) {
    if (reading->complaint_count >= PLAN_COMPLAINTS_MAX ||
        (warning && reading->warning_count >= PLAN_WARNINGS_MAX))
        return;
    reading->warning_count += warning;
    if (reading->complaint_count == PLAN_COMPLAINTS_MAX - 1 ||
        (warning && reading->warning_count == PLAN_WARNINGS_MAX)) {
        add_complaint(reading, (struct plan_at){0}, warning, "plan-more",
                      warning ? _("there is more to warn of")
                              : _("there is more to complain of; correct these first"));
        return;
    }
    char *text AUTO_FREE = mem_vprintf(fmt, args);
    add_complaint(reading, at, warning, id, text);
}

void plan_complain(struct plan_reading *reading, struct plan_at at, const char *id, const char *fmt,
                   ...) {
    va_list args;
    va_start(args, fmt);
    complain(reading, at, false, id, msg_get(fmt), args);
    va_end(args);
}

void plan_warn(struct plan_reading *reading, struct plan_at at, const char *id, const char *fmt,
               ...) {
    va_list args;
    va_start(args, fmt);
    complain(reading, at, true, id, msg_get(fmt), args);
    va_end(args);
}

/* Of the file as a whole (line 0) at the end. */
static bool comes_before(const struct plan_complaint *a, const struct plan_complaint *b) {
    uint32_t left = a->at.line - 1, right = b->at.line - 1; /* 0 becomes the largest */
    return left != right ? left < right : a->at.column < b->at.column;
}

/* By insertion: stable, and there are few. */
static void sort_complaints(struct plan_complaint *items, size_t count) {
    for (size_t i = 1; i < count; i++) {
        struct plan_complaint moving = items[i];
        size_t to = i;
        for (; to > 0 && comes_before(&moving, &items[to - 1]); to--)
            items[to] = items[to - 1];
        items[to] = moving;
    }
}

static void hand_over(struct plan_reading *reading, struct plan_complaints *ret_complaints) {
    struct plan_complaints complaints = {.count = reading->complaint_count};
    complaints.items =
        arena_alloc(reading->plan->arena, complaints.count * sizeof *complaints.items);
    if (complaints.count > 0)
        memcpy(complaints.items, reading->complaints, complaints.count * sizeof *complaints.items);
    sort_complaints(complaints.items, complaints.count);
    for (size_t i = 0; i < complaints.count; i++)
        complaints.errors += !complaints.items[i].warning;
    free(reading->complaints);
    *ret_complaints = complaints;
}

/* ---- the file ---- */

static int set_place(struct plan *plan, const char *path, struct err *err) {
    const char *slash = strrchr(path, '/');
    plan->path = arena_strdup(plan->arena, path);
    plan->name = arena_strdup(plan->arena, slash != NULL ? slash + 1 : path);
    const char *folder = slash == NULL   ? "."
                         : slash == path ? "/"
                                         : arena_strndup(plan->arena, path, (size_t)(slash - path));
    char *absolute AUTO_FREE = realpath(folder, NULL);
    if (absolute == NULL)
        return err_set(err, -errno, "plan-unreadable", "cannot read the plan '%s': %s", path,
                       strerror(errno));
    plan->folder = arena_strdup(plan->arena, absolute);
    return 0;
}

/* Everything else in a plan of another format may mean something else. */
static bool is_of_this_format(struct plan_reading *reading, const struct yaml_node *root) {
    if (root == NULL) {
        const struct plan_at top = {1, 1};
        plan_complain(reading, top, "plan-empty",
                      "the plan is empty; 'probelauf init' writes one to begin with");
        return false;
    }
    struct plan_at at = {root->line, root->column};
    if (root->kind != YAML_MAP) {
        plan_complain(reading, at, "plan-type",
                      "a plan is a mapping (lines 'key: value') that begins with 'probelauf: 1'");
        return false;
    }
    const struct yaml_node *version = yaml_get(root, "probelauf");
    int64_t number;
    if (version == NULL || version->kind != YAML_SCALAR ||
        str_to_i64(version->text, &number) == -EINVAL || *version->text == '-')
        return true; /* the table complains */
    if (str_to_i64(version->text, &number) == 0 && number <= PLAN_FORMAT)
        return true;
    at = (struct plan_at){version->line, version->column};
    plan_complain(reading, at, "plan-version",
                  "this plan has format %s, and this probelauf reads format %d; use a newer one",
                  plan_quote(reading, version->text), PLAN_FORMAT);
    return false;
}

static int read_tree(struct plan_reading *reading, const char *path, struct err *err) {
    struct plan *plan = reading->plan;
    struct yaml_node *root = NULL;
    struct yaml_problem problem = {0};
    const char *bytes = "";
    size_t length = 0;
    int rc = yaml_read(path, plan->arena, &root, &bytes, &length, &problem, err);
    if (rc == -EINVAL) {
        const struct plan_at at = {problem.line, problem.column};
        plan_complain(reading, at, "plan-yaml", "%s", problem.text);
        return 0;
    }
    if (rc < 0) {
        struct err cause = *err;
        return err_set(err, rc, "plan-unreadable", "the plan: %s", cause.text);
    }
    digest_sha256(bytes, length, plan->digest);
    if (is_of_this_format(reading, root)) {
        plan_fill_from(reading, root);
        plan_expand(reading);
        plan_check(reading);
    }
    return 0;
}

static int first_error(const struct plan *plan, const struct plan_complaints *complaints,
                       struct err *err) {
    for (size_t i = 0; i < complaints->count; i++) {
        const struct plan_complaint *complaint = &complaints->items[i];
        if (complaint->warning)
            continue;
        if (complaint->at.line == 0)
            return err_set(err, -EINVAL, complaint->id, "%s: %s", plan->path, complaint->text);
        return err_set(err, -EINVAL, complaint->id, "%s:%u:%u: %s", plan->path, complaint->at.line,
                       complaint->at.column, complaint->text);
    }
    return 0;
}

int plan_read(const char *path, struct plan **ret_plan, struct plan_complaints *ret_complaints,
              struct err *err) {
    struct arena *arena = arena_new();
    struct plan *plan = arena_alloc(arena, sizeof *plan);
    plan->arena = arena;
    struct plan_reading reading = {.plan = plan};
    int rc = set_place(plan, path, err);
    if (rc == 0)
        rc = read_tree(&reading, path, err);
    struct plan_complaints complaints = {0};
    hand_over(&reading, &complaints);
    if (rc < 0) {
        plan_free(plan);
        *ret_plan = NULL;
        *ret_complaints = (struct plan_complaints){0};
        return rc;
    }
    *ret_plan = plan;
    *ret_complaints = complaints;
    return first_error(plan, &complaints, err);
}

struct plan *plan_free(struct plan *plan) {
    if (plan != NULL)
        arena_free(plan->arena);
    return NULL;
}

void plan_free_ptr(struct plan **plan) {
    *plan = plan_free(*plan);
}
