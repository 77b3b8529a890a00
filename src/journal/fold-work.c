/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the command itself reported by marks: amounts of work, results; the results that were read
 * out of its files, and those that could not be; the lines of the marks file that were no marks.
 * Must not judge a result. Rules: docs/measurement.md, "Work and results".
 */
#include "journal/fold-parts.h"

#include "base/mem.h"
#include "base/msg.h"

#include <stdlib.h>
#include <string.h>

#define BAD_MARKS_SHOWN 20u

struct amount {
    int64_t pid;
    size_t order;
    double value;
};

static bool is_verb(const json_t *mark, const char *verb) {
    return strcmp(json_get_text(mark, "verb", ""), verb) == 0;
}

static int by_pid(const void *a, const void *b) {
    const struct amount *x = a, *y = b;
    if (x->pid != y->pid) {
        return x->pid < y->pid ? -1 : 1;
    }
    return x->order < y->order ? -1 : 1;
}

static struct quantity not_marked(const struct fold *fold) {
    return quantity_open(UNIT_COUNT, fold->run->running ? QUANTITY_RUNNING : QUANTITY_NOT_ENTERED,
                         NULL);
}

/* Each process reports what it has done so far: its last word counts, and the processes add up. */
static struct quantity items(const struct fold *fold) {
    size_t total = json_array_size(fold->marks), count = 0, processes = 0;
    AUTO_FREE struct amount *amounts = mem_alloc((total + 1) * sizeof *amounts);
    for (size_t i = 0; i < total; i++) {
        const json_t *mark = json_array_get(fold->marks, i);
        if (is_verb(mark, "items") && json_is_number(json_object_get(mark, "value"))) {
            amounts[count++] = (struct amount){
                .pid = json_get_int(mark, "pid", 0),
                .order = i,
                .value = json_get_real(mark, "value", 0),
            };
        }
    }
    if (count == 0) {
        return not_marked(fold);
    }
    double sum = 0;
    qsort(amounts, count, sizeof *amounts, by_pid);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 == count || amounts[i].pid != amounts[i + 1].pid) {
            sum += amounts[i].value;
            processes++;
        }
    }
    struct quantity q =
        quantity_bounded(UNIT_COUNT, sum, fold->ended ? QUANTITY_EXACT : QUANTITY_AT_LEAST, "mark");
    q.n = processes;
    return q;
}

/* The last mark of a verb, or NULL. */
static const json_t *last_mark(const struct fold *fold, const char *verb) {
    for (size_t i = json_array_size(fold->marks); i-- > 0;) {
        const json_t *mark = json_array_get(fold->marks, i);
        if (is_verb(mark, verb)) {
            return mark;
        }
    }
    return NULL;
}

static struct quantity last_amount(const struct fold *fold, const char *verb) {
    const json_t *mark = last_mark(fold, verb);
    if (mark == NULL || !json_is_number(json_object_get(mark, "value"))) {
        return not_marked(fold);
    }
    return quantity_measured(UNIT_COUNT, json_get_real(mark, "value", 0), "mark");
}

/* ---- results ---- */

static struct quantity result_of(struct fold *fold, const json_t *mark) {
    const char *unit = fold_text(fold, mark, "unit");
    const char *method = fold_text(fold, mark, "method"); /* of a result out of a file */
    const json_t *value = json_object_get(mark, "value");
    if (!json_is_number(value)) {
        const char *text = json_get_text(mark, "text", "?");
        struct quantity q = quantity_open(
            unit != NULL ? unit : UNIT_RATIO, QUANTITY_FAILED,
            method != NULL ? arena_printf(fold->run->arena, _("the file says '%s'"), text)
                           : arena_printf(fold->run->arena, _("the command reported '%s'"), text));
        q.method = method;
        return q;
    }
    return quantity_measured(unit != NULL ? unit : UNIT_RATIO, json_number_value(value),
                             method != NULL ? method : "mark");
}

/* What was to be read out of a file and was not there: open with its reason, unless the command
 * itself reported it. */
static void absent_results(struct fold *fold, const json_t *latest) {
    struct run *run = fold->run;
    const json_t *list = json_get_array(run->end, "results_absent");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const char *name = fold_text(fold, entry, "name");
        const char *unit = fold_text(fold, entry, "unit");
        const char *reason = json_get_text(entry, "reason", NULL);
        const char *detail = json_get_text(entry, "detail", NULL);
        if (name == NULL || reason == NULL || json_object_get(latest, name) != NULL) {
            continue;
        }
        run->results[run->result_count++] = (struct run_result){
            .name = name,
            .quantity = quantity_open(unit != NULL ? unit : UNIT_RATIO, QUANTITY_FAILED,
                                      arena_printf(run->arena, "%s%s%s", msg_get(reason),
                                                   detail != NULL ? ": " : "",
                                                   detail != NULL ? detail : "")),
        };
    }
}

/* The last report of a name holds; names stand in the order of their first report. */
static void results(struct fold *fold) {
    struct run *run = fold->run;
    AUTO_JSON json_t *latest = json_object();
    for (size_t i = 0; i < json_array_size(fold->marks); i++) {
        json_t *mark = json_array_get(fold->marks, i);
        const char *name = json_get_text(mark, "name", NULL);
        if (is_verb(mark, "result") && name != NULL) {
            json_object_set(latest, name, mark);
        }
    }
    size_t absent = json_array_size(json_get_array(run->end, "results_absent"));
    run->results =
        arena_alloc(run->arena, (json_object_size(latest) + absent + 1) * sizeof *run->results);
    const char *name;
    json_t *mark;
    json_object_foreach (latest, name, mark) {
        run->results[run->result_count++] = (struct run_result){
            .name = arena_strdup(run->arena, name),
            .quantity = result_of(fold, mark),
        };
    }
    absent_results(fold, latest);
}

/* ---- lines that were no marks ---- */

static void bad_marks(struct fold *fold) {
    size_t bad = 0;
    for (size_t i = 0; i < json_array_size(fold->marks); i++) {
        const json_t *mark = json_array_get(fold->marks, i);
        const char *what = json_get_text(mark, "bad", NULL);
        int64_t line;
        if (what == NULL || bad++ >= BAD_MARKS_SHOWN) {
            continue;
        }
        const char *reason =
            fold_get_i64(mark, "line", &line)
                ? arena_printf(fold->run->arena, _("line %lld of the marks file: %s"),
                               (long long)line, msg_get(what))
                : arena_printf(fold->run->arena, _("a line of the marks file: %s"), msg_get(what));
        fold_add_gap(fold, "marks", reason, 0, fold->horizon_ns);
    }
    if (bad > BAD_MARKS_SHOWN) {
        fold_add_gap(fold, "marks",
                     arena_printf(fold->run->arena,
                                  _("%zu more lines of the marks file are no marks"),
                                  bad - BAD_MARKS_SHOWN),
                     0, fold->horizon_ns);
    }
}

void fold_work(struct fold *fold) {
    struct run *run = fold->run;
    run->work_items = items(fold);
    run->work_length = last_amount(fold, "length");
    run->work_batch = last_amount(fold, "batch");
    const json_t *shape = last_mark(fold, "shape");
    run->work_shape = shape != NULL ? fold_text(fold, shape, "text") : NULL;
    results(fold);
    bad_marks(fold);
}
