/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a plan: YAML tree, one table (plan/schema.c) that validates and fills model/plan.h,
 * checks across parts, expansion of the matrices. No complaint stops the reading: all of them are
 * found in one pass, but for a file that is no YAML at all. Pure but for reading the file.
 */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/strbuf.h"
#include "model/plan.h"

#include <stdbool.h>
#include <stddef.h>

struct plan_complaint {
    struct plan_at at;
    bool warning;     /* the plan can be used all the same */
    const char *id;   /* stable: "plan-unknown-key", "plan-type", "plan-missing", … */
    const char *text; /* one translated line without place: what, and what to do */
};

struct plan_complaints { /* in the order of the file; owned by the arena of plan_read's plan */
    struct plan_complaint *items;
    size_t count;
    size_t errors; /* how many are no warnings */
};

/*
 * *ret_plan is set also when there are complaints (free it: they live in its arena), but is then
 * good for nothing else if complaints->errors > 0, and the return is -EINVAL with err holding the
 * first of them as "FILE:LINE:COLUMN: text". NULL and another error when the file cannot be read
 * ("plan-unreadable").
 */
int plan_read(const char *path, struct plan **ret_plan, struct plan_complaints *ret_complaints,
              struct err *err);
struct plan *plan_free(struct plan *plan); /* accepts NULL, returns NULL */
void plan_free_ptr(struct plan **plan);
#define AUTO_PLAN __attribute__((cleanup(plan_free_ptr)))

/* ---- conditions ---- */

enum plan_match {
    PLAN_MATCH_NONE = 0, /* no condition has all these pairs */
    PLAN_MATCH_ONE,
    PLAN_MATCH_SEVERAL, /* of different ids: too little was said */
};
/*
 * The condition that name=value pairs of a command line mean: it has all of them, and they name all
 * of its axes that vary within the block (an axis with one value need not be named). block: id, or
 * NULL for any; a condition that several blocks share (same id) is one, of the first of them. On
 * NONE and SEVERAL *ret_why is a translated sentence that helps (in arena): which key or value is
 * unknown, which axis is missing, which conditions it could be.
 */
enum plan_match plan_match(const struct plan *plan, const char *block,
                           const struct plan_pair *given, size_t count, struct arena *arena,
                           const struct plan_condition **ret_condition, const char **ret_why);

/* A text of the block with its {name} places filled in from the condition; "{{" is "{". */
const char *plan_fill(const struct plan_condition *condition, const char *text,
                      struct arena *arena);
/* The command of the condition, NULL-terminated; {"sh", "-c", text} where the plan asks for a
 * shell. NULL: the block has none. */
const char *const *plan_command(const struct plan_condition *condition, struct arena *arena);

/* Where something runs, from the plan's folder, without "." and ".." that lead nowhere: ".", "sub",
 * "../other"; absolute only where the plan says so and it is not below the plan's folder. The same
 * in every checkout. */
const char *plan_folder_text(const struct plan *plan, const char *folder, struct arena *arena);
/* The same of an absolute path, never absolute. */
const char *plan_folder_of(const struct plan *plan, const char *path, struct arena *arena);

/* How people measure it: "probelauf run --block compare -c keep=0.5", with " -- COMMAND" where the
 * block has none; words quoted for the shell. May hold anything else: print it plain. */
const char *plan_run_line(const struct plan_condition *condition, struct arena *arena);
/* A command that begins with "probelauf run", with --env where the plan has several environments:
 * without it the record may fit more than one, and counts for none. environment NULL: as it is. */
const char *plan_command_in(const char *command, const struct plan *plan,
                            const struct plan_environment *environment, struct arena *arena);

/* ---- what an open fact stops ---- */

/* The stop that belongs to a kind of block. */
enum plan_stop plan_stop_of(enum plan_kind kind);
/* Bits as names: "validate, booking". */
void plan_stops_text(unsigned stops, struct strbuf *out);
/* The open facts in the order of the plan, then what its part `privacy` does not settle, as facts
 * of their own that stop booking ("privacy/class", …; at line 0 without that part), unless an open
 * fact asks the same. The array, and what is not the plan's, lives in the arena. */
size_t plan_open_facts(const struct plan *plan, struct arena *arena,
                       const struct plan_fact ***ret_facts);

/* About data protection: `block run` wants it settled whatever it is said to stop. */
bool plan_fact_is_privacy(const struct plan_fact *fact);

/* Preparatory tasks that need no rented machine and are not done, in the order of the plan: to be
 * done before anything is booked (A7). The array lives in the arena. */
size_t plan_before_booking(const struct plan *plan, struct arena *arena,
                           const struct plan_task ***ret_tasks);

/* ---- the table as documents ---- */

/* A commented plan with every fact open and a new study.id. title: NULL: none. */
void plan_starter(const char *study_id, const char *title, struct strbuf *out);
/* The worked plans (catalog/): the index-th name, and what it is about, translated; NULL behind the
 * last. */
const char *plan_catalog_name(size_t index);
const char *plan_catalog_about(size_t index);
/* That one with the new study.id, its comments kept, and the title where one is given; false: there
 * is none of this name. */
bool plan_catalog(const char *name, const char *study_id, const char *title, struct strbuf *out);
json_t *plan_json_schema(void);                /* schema/plan.schema.json */
void plan_format_document(struct strbuf *out); /* docs/plan-format.md */
