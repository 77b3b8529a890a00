/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `block run` would run, in order, and what stands in its way; and the look at what goes on,
 * which comes before the records are read. Starts nothing, writes nothing.
 */
#include "work/block-parts.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/msg.h"
#include "base/uuid.h"
#include "journal/journal.h"
#include "work/session-parts.h"
#include "work/waiting.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- what goes on ---- */

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Records that somebody still writes; the name of a journal begins with the id of its run. */
static void find_open_records(const struct place *place, struct arena *arena,
                              struct block_look *ret) {
    AUTO_WAITING struct waiting waiting;
    waiting_find(place, &waiting);
    ret->open_records = arena_alloc(arena, (waiting.count + 1) * sizeof(char *));
    for (size_t i = 0; i < waiting.count; i++) {
        const char *slash = strrchr(waiting.paths[i], '/');
        const char *name = slash ? slash + 1 : waiting.paths[i];
        if (strlen(name) < UUID_TEXT_SIZE - 1 || !journal_is_live(waiting.paths[i]))
            continue;
        ret->open_records[ret->open_record_count++] =
            arena_strndup(arena, name, UUID_TEXT_SIZE - 1);
    }
    if (ret->open_record_count > 1)
        qsort(ret->open_records, ret->open_record_count, sizeof(char *), compare_texts);
}

int block_look(const struct block_run_options *options, const struct lane_folder *folder,
               struct arena *arena, struct block_look *ret, struct err *err) {
    AUTO_STRBUF struct strbuf signature = STRBUF_INIT;
    *ret = (struct block_look){0};
    int rc = lanes_find_locked(folder, arena, &ret->lanes, &ret->lane_count, err);
    if (rc < 0)
        return rc;
    find_open_records(options->place, arena, ret);
    for (size_t i = 0; i < ret->lane_count; i++)
        strbuf_printf(&signature, "%zu ", ret->lanes[i].number);
    for (size_t i = 0; i < ret->open_record_count; i++)
        strbuf_printf(&signature, "%s ", ret->open_records[i]);
    ret->signature = arena_strdup(arena, strbuf_str(&signature));
    return 0;
}

bool block_look_lacks(const struct block_look *look, const char *signature) {
    AUTO_FREE char *now = mem_printf(" %s", look->signature);
    for (const char *at = signature; *at;) {
        size_t length = strcspn(at, " ");
        AUTO_FREE char *word = mem_printf(" %.*s ", (int)length, at);
        if (!strstr(now, word))
            return true;
        at += length + (at[length] == ' ');
    }
    return false;
}

/* ---- what a record tells of a lane ---- */

static bool lives(int64_t pid) {
    return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM);
}

bool block_is_only_left_over(const struct study *study, const struct lane_content *content) {
    const struct run *newest = NULL;
    if (content->pid <= 0 || lives(content->pid))
        return false;
    for (size_t i = 0; i < study->run_count; i++) {
        const struct run *run = study->runs[i].run;
        if (json_get_int(run->header, "pid", 0) != content->pid ||
            run->started_utc_ns < content->utc_ns - NS_PER_S)
            continue;
        if (run->running)
            return false;
        if (!newest || run->started_utc_ns > newest->started_utc_ns)
            newest = run;
    }
    return newest && newest->outcome != OUTCOME_LOST;
}

bool block_run_is_in_vain(const struct study_run *run) {
    const struct run *of = run->run;
    return of->outcome == OUTCOME_OK && of->validity != RUN_INVALID &&
           run->evidence.level != EVIDENCE_MEASURED &&
           !(of->verified && strcmp(of->verified, "no") == 0);
}

/* ---- what is left ---- */

static struct quantity time_left(const struct block_run_plan *plan, struct arena *arena) {
    struct quantity_part *parts = arena_alloc(arena, (plan->count + 1) * sizeof *parts);
    size_t count = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const struct remaining_item *item = &plan->items[i].of;
        uint64_t runs = item->left + item->running;
        struct quantity time = item->each;
        if (runs == 0)
            continue;
        if (quantity_is_known(&time))
            time.value *= (double)runs;
        parts[count++] = (struct quantity_part){
            item->step ? item->step->name : item->condition->condition->label, time};
    }
    if (count == 0)
        return quantity_measured(UNIT_SECOND, 0.0, "nothing left to run");
    struct quantity sum = quantity_sum(arena, UNIT_SECOND, parts, count);
    if (quantity_is_known(&sum)) {
        sum.value /= (double)plan->lanes;
        sum.method = "medians of the runs that count, over the lanes";
        quantity_name_open_parts(&sum, arena);
        sum.parts = NULL; /* they are not divided */
        sum.part_count = 0;
    }
    return sum;
}

static void add_line(struct block_run_plan *ret, const char *line, struct arena *arena) {
    const char **lines = arena_alloc(arena, (ret->stopped_count + 1) * sizeof *lines);
    if (ret->stopped_count > 0)
        memcpy(lines, ret->stopped_by, ret->stopped_count * sizeof *lines);
    lines[ret->stopped_count++] = line;
    ret->stopped_by = lines;
}

static void find_obstacles(const struct work_study *study, struct block_run_plan *ret,
                           struct arena *arena) {
    const struct plan *plan = study->plan;
    const struct plan_block *block = ret->block->block;
    ret->stopped_count = gate_obstacles(&study->study, block, arena, &ret->stopped_by);
    if (!ret->block->has_planned)
        add_line(ret,
                 arena_printf(arena, _("%s: the plan does not say how many runs: add 'runs:'"),
                              plan_source(plan, block->at, arena)),
                 arena);
    if (block->command.count == 0)
        add_line(
            ret,
            arena_printf(arena,
                         _("%s: block '%s' has no command: add 'command:', or make its runs by "
                           "hand with 'probelauf run --block %s -- COMMAND'"),
                         plan_source(plan, block->at, arena), block->id, block->id),
            arena);
    for (size_t i = 0; i < ret->count; i++) {
        const struct plan_step *step = ret->items[i].of.step;
        bool needed = step && (ret->items[i].of.left > 0 || remaining_is_before_each(step));
        if (needed && step->run.count == 0)
            add_line(ret,
                     arena_printf(arena,
                                  _("%s: step '%s' has no command: do it by hand with 'probelauf "
                                    "run --step %s -- COMMAND'"),
                                  plan_source(plan, step->at, arena), step->name, step->name),
                     arena);
    }
}

static struct remaining_lane *busy_lanes(const struct block_look *look, struct arena *arena) {
    struct remaining_lane *lanes = arena_alloc(arena, (look->lane_count + 1) * sizeof *lanes);
    for (size_t i = 0; i < look->lane_count; i++) {
        const struct lane_content *content = &look->lanes[i].content;
        lanes[i] = (struct remaining_lane){
            .condition = content->condition, .step = content->step, .pid = content->pid};
    }
    return lanes;
}

static void take_items(const struct work_study *study, const struct block_run_options *options,
                       const struct block_look *look, struct arena *arena,
                       struct block_run_plan *ret) {
    struct remaining remaining;
    const struct remaining_input input = {
        .study = &study->study,
        .block = ret->block,
        .retry = ret->retry,
        .lanes = busy_lanes(look, arena),
        .lane_count = look->lane_count,
        .open_records = look->open_records,
        .open_record_count = look->open_record_count,
        .session = options->session,
        .host = work_session_now(arena).host,
    };
    remaining_of_block(&input, arena, &remaining);
    ret->items = arena_alloc(arena, (remaining.count + 1) * sizeof *ret->items);
    ret->count = remaining.count;
    ret->planned = remaining.planned;
    ret->valid = remaining.valid;
    ret->failed = remaining.failed_conditions;
    for (size_t i = 0; i < remaining.count; i++) {
        const struct remaining_item *item = &remaining.items[i];
        ret->items[i] = (struct block_run_item){
            .of = *item,
            .command = plan_command_in(
                item->step ? arena_printf(arena, "probelauf run --step %s", item->step->name)
                           : plan_run_line(item->condition->condition, arena),
                study->plan, study->study.input->environment, arena),
        };
    }
}

int block_plan_make(struct work_study *study, const struct block_run_options *options,
                    const struct block_look *look, struct arena *arena, struct block_run_plan *ret,
                    struct err *err) {
    *ret = (struct block_run_plan){.block = work_study_block(study, options->block, err)};
    if (!ret->block)
        return err->code;
    const struct plan_block *block = ret->block->block;
    int rc = block_lanes_share(options, block, arena, ret, err);
    if (rc < 0)
        return rc;
    ret->retry = options->has_retry ? options->retry
                 : block->retry_max.given && block->retry_max.value > 0
                     ? (uint64_t)block->retry_max.value
                     : 0;
    take_items(study, options, look, arena, ret);
    find_obstacles(study, ret, arena);
    ret->left = time_left(ret, arena);
    return 0;
}

int work_block_plan(struct work_study *study, const struct block_run_options *options,
                    struct arena *arena, struct block_run_plan *ret, struct err *err) {
    struct lane_folder folder = {0};
    struct block_look look;
    if (!work_study_block(study, options->block, err))
        return err->code;
    int rc = lane_folder_open(options->place, study->plan->study.id, options->block, &folder, err);
    rc = rc < 0 ? rc : block_look(options, &folder, arena, &look, err);
    rc = rc < 0 ? rc : block_plan_make(study, options, &look, arena, ret, err);
    lane_folder_done(&folder);
    return rc;
}
