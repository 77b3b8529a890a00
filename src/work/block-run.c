/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Running a block (block-run.h). One loop: look at what goes on, read the records, start what is
 * next in the lanes that are free, wait. Keeps nothing that a killed runner could take with it;
 * what is left is found anew in every round (rules/remaining.h).
 */
#include "work/block-run.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/msg.h"
#include "base/uuid.h"
#include "work/block-parts.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS        NS_PER_S
#define SETTLE_NS      (50 * NS_PER_MS)  /* a record is about to be closed */
#define OTHERS_NS      (200 * NS_PER_MS) /* only what others have started goes on */
#define SHORTEST_NS    NS_PER_S          /* a budget that is nearly used up starts nothing */
#define RECORD_WAIT_NS (10 * NS_PER_S)
#define DOUBT_NS       (2 * NS_PER_S) /* and of what has ended as if it could not be started */
#define READ_NS        NS_PER_S       /* while a record is awaited */
#define LINES_MAX      64u

struct runner {
    struct block_run_options options; /* lanes and gpus as they were found at the beginning */
    struct lane_folder folder;
    int block_fd;
    struct lane lanes[BLOCK_LANES_MAX];
    struct awaited awaited[BLOCK_LANES_MAX];
    size_t awaited_count;
    struct arena *look_arena, *round, *arena; /* of `look`, of `plan`, of the result */
    struct work_study *study;
    struct block_look look;
    struct block_run_plan plan;
    char *signature;      /* of the look that the plan was made with; owned; NULL: make it anew */
    int64_t read_mono_ns; /* the records */
    int64_t deadline_mono_ns; /* 0: none */
    bool no_more;             /* nothing more is started */
    enum block_run_why why;   /* with no_more */
    int interrupts;
    int64_t interrupt_mono_ns;
    bool ended_softly; /* SIGTERM was passed on after the grace */
    bool leaves;       /* runs go on without the runner, and are found again */
    const char *lines[LINES_MAX];
    struct block_run_result *ret;
    void (*show)(const struct block_run_view *view, void *context);
    int (*reopen)(void *context, struct work_study **ret_study, struct err *err);
    void *context;
};

/* ---- telling ---- */

static void tell(struct runner *r, enum block_run_news news, size_t lane, int status,
                 const char *text) {
    struct block_run_lane shown[BLOCK_LANES_MAX];
    struct block_run_lane about = {0};
    size_t count = 0;
    if (!r->show)
        return;
    for (size_t i = 0; i < BLOCK_LANES_MAX; i++) {
        const struct lane *of = &r->lanes[i];
        struct block_run_lane one = {.number = i + 1,
                                     .what = of->what ? of->what : "",
                                     .output = of->output,
                                     .since_utc_ns = of->since_utc_ns,
                                     .inherited = of->occupied};
        if (i + 1 == lane)
            about = one;
        if (of->own || of->occupied)
            shown[count++] = one;
    }
    const struct block_run_view view = {.news = news,
                                        .lane = lane > 0 ? &about : NULL,
                                        .status = status,
                                        .text = text,
                                        .plan = &r->plan,
                                        .lanes = shown,
                                        .lane_count = count};
    r->show(&view, r->context);
}

static void say(struct runner *r, const char *line) {
    if (r->ret->line_count < LINES_MAX)
        r->lines[r->ret->line_count++] = line;
    tell(r, BLOCK_RUN_NOTE, 0, 0, line);
}

static void stop(struct runner *r, enum block_run_why why) {
    if (!r->no_more)
        r->why = why;
    r->no_more = true;
}

static void lane_clear(struct lane *lane) {
    mem_free_ptr(&lane->what);
    mem_free_ptr(&lane->output);
    mem_free_ptr(&lane->condition);
    mem_free_ptr(&lane->runs);
    *lane = (struct lane){0};
}

/* ---- what lanes of a killed runner do ---- */

static void take_over(struct runner *r) {
    bool locked[BLOCK_LANES_MAX] = {false};
    for (size_t i = 0; i < r->look.lane_count; i++) {
        const struct lane_locked *of = &r->look.lanes[i];
        struct lane *lane = &r->lanes[of->number - 1];
        if (lane->own)
            continue;
        if (block_is_only_left_over(&r->study->study, &of->content)) {
            lane_drop(&r->folder, of->number);
            mem_free_ptr(&r->signature); /* it changes what is left */
            continue;
        }
        locked[of->number - 1] = true;
        if (lane->occupied)
            continue;
        lane->occupied = true;
        lane->pid = (pid_t)of->content.pid;
        lane->what = mem_strdup(of->content.what);
        lane->output = of->content.output ? mem_strdup(of->content.output) : NULL;
        lane->since_utc_ns = of->content.utc_ns;
        tell(r, BLOCK_RUN_FOUND, of->number, 0, NULL);
    }
    for (size_t i = 0; i < BLOCK_LANES_MAX; i++)
        if (r->lanes[i].occupied && !locked[i]) {
            tell(r, BLOCK_RUN_ENDED, i + 1, -1, NULL);
            lane_clear(&r->lanes[i]);
        }
}

/* ---- a round ---- */

static int look(struct runner *r, struct err *err) {
    r->look_arena = arena_free(r->look_arena);
    r->look_arena = arena_new();
    return block_look(&r->options, &r->folder, r->look_arena, &r->look, err);
}

/* First the look, then the records. */
static int read_records(struct runner *r, struct err *err) {
    r->plan = (struct block_run_plan){0}; /* it points into what is closed now */
    int rc = r->reopen(r->context, &r->study, err);
    if (rc < 0)
        return rc;
    mem_free_ptr(&r->signature);
    r->signature = mem_strdup(r->look.signature);
    r->read_mono_ns = clock_mono_ns();
    return 0;
}

/* A child whose record was not found yet is in progress like those in the lanes. */
static struct block_look with_awaited(struct runner *r) {
    struct block_look look = r->look;
    look.lanes =
        arena_alloc(r->round, (look.lane_count + r->awaited_count + 1) * sizeof *look.lanes);
    if (look.lane_count > 0)
        memcpy(look.lanes, r->look.lanes, look.lane_count * sizeof *look.lanes);
    for (size_t i = 0; i < r->awaited_count; i++) {
        const struct awaited *child = &r->awaited[i];
        look.lanes[look.lane_count++].content =
            (struct lane_content){.condition = child->is_step ? NULL : child->runs,
                                  .step = child->is_step ? child->runs : NULL,
                                  .what = child->what,
                                  .pid = child->pid};
    }
    return look;
}

static int make_plan(struct runner *r, struct err *err) {
    r->round = arena_free(r->round);
    r->round = arena_new();
    const struct block_look look = with_awaited(r);
    int rc = block_plan_make(r->study, &r->options, &look, r->round, &r->plan, err);
    if (rc < 0)
        return rc;
    r->ret->planned = r->plan.planned;
    r->ret->valid = r->plan.valid;
    r->ret->failed = r->plan.failed;
    take_over(r);
    return 0;
}

/* ---- did it count? ---- */

static bool is_open_record(const struct runner *r, const struct run *run) {
    for (size_t i = 0; i < r->look.open_record_count; i++)
        if (strcmp(r->look.open_records[i], run->id) == 0)
            return true;
    return run->running;
}

/* Newest first: the last attempt of the child. NULL: no record of it. */
static const struct study_run *run_of(const struct runner *r, const struct awaited *child) {
    for (size_t i = 0; i < r->study->study.run_count; i++) {
        const struct study_run *run = &r->study->study.runs[i];
        if (json_get_int(run->run->header, "pid", 0) == child->pid &&
            run->run->started_utc_ns >= child->since_utc_ns - NS_PER_S)
            return run;
    }
    return NULL;
}

/* The same without a record. */
static bool judge_without(struct runner *r, const struct awaited *child, int64_t age_ns) {
    if (age_ns <= (child->is_doubtful ? DOUBT_NS : RECORD_WAIT_NS))
        return false;
    stop(r, BLOCK_RUN_FAILED);
    if (child->is_doubtful)
        say(r, arena_printf(r->arena, _("'%s' could not be started: %s shows why"), child->what,
                            child->output));
    else
        say(r, arena_printf(r->arena,
                            _("'%s' has left no record, so nothing more is started: %s shows why"),
                            child->what, child->output));
    return true;
}

/* Its output file is ours: that it could not be written is no failure of the run. */
static void say_full(struct runner *r, const struct awaited *child, const struct run *run) {
    if (remaining_is_for_full_output(run))
        say(r, arena_printf(r->arena,
                            _("run %s (%s) could not write all of its output: the disk of '%s' was "
                              "full; it is made again, and is no failed attempt"),
                            uuid_tail(run->id), child->what, child->output));
}

/* true: nothing more is to be found out. */
static bool judge(struct runner *r, const struct awaited *child) {
    const struct study_run *run = run_of(r, child);
    int64_t age_ns = clock_mono_ns() - child->ended_mono_ns;
    bool is_late = age_ns > RECORD_WAIT_NS;
    if (!run)
        return judge_without(r, child, age_ns);
    if (is_open_record(r, run->run) && !is_late)
        return false;
    say_full(r, child, run->run);
    if (!child->is_step && block_run_is_in_vain(run)) {
        stop(r, BLOCK_RUN_FAILED);
        say(r, arena_printf(r->arena,
                            _("run %s (%s) ended well and does not count, so nothing more is "
                              "started: %s"),
                            uuid_tail(run->run->id), child->what,
                            run->evidence.why ? run->evidence.why : ""));
    }
    return true;
}

static void judge_awaited(struct runner *r) {
    size_t kept = 0;
    for (size_t i = 0; i < r->awaited_count; i++) {
        struct awaited *child = &r->awaited[i];
        if (judge(r, child)) {
            mem_free_ptr(&child->what);
            mem_free_ptr(&child->output);
            mem_free_ptr(&child->runs);
        } else {
            r->awaited[kept++] = *child;
        }
    }
    r->awaited_count = kept;
}

static void await_record(struct runner *r, const struct lane *lane, int status) {
    if (r->awaited_count == BLOCK_LANES_MAX)
        return;
    r->awaited[r->awaited_count++] = (struct awaited){
        .pid = lane->pid,
        .since_utc_ns = lane->since_utc_ns,
        .ended_mono_ns = clock_mono_ns(),
        .what = mem_strdup(lane->what),
        .output = mem_strdup(lane->output),
        .runs = mem_strdup(lane->runs),
        .is_step = lane->is_step,
        .is_doubtful = WIFEXITED(status) && WEXITSTATUS(status) == 125,
    };
}

/* ---- starting ---- */

static int64_t time_left_ns(const struct runner *r) {
    return r->deadline_mono_ns == 0 ? INT64_MAX : r->deadline_mono_ns - clock_mono_ns();
}

static bool fits_budget(const struct runner *r, const struct remaining_item *item) {
    int64_t left_ns = time_left_ns(r);
    if (left_ns < SHORTEST_NS)
        return false;
    return left_ns == INT64_MAX || !quantity_is_known(&item->each) ||
           item->each.value * 1e9 <= (double)left_ns;
}

/* The next step that comes before each run, from the given place on; NULL: the run itself. */
static const struct plan_step *step_before(const struct runner *r, size_t *at) {
    const struct plan_texts *steps = &r->plan.block->block->steps;
    for (; *at < steps->count; ++*at) {
        const struct plan_step *step = plan_step_find(r->study->plan, steps->items[*at].text);
        if (step && remaining_is_before_each(step))
            return step;
    }
    return NULL;
}

static int start(struct runner *r, size_t number, const struct plan_step *step,
                 const struct plan_condition *condition, uint64_t retry, struct err *err) {
    struct lane *lane = &r->lanes[number - 1];
    int64_t left_ns = time_left_ns(r);
    const struct block_child child = {
        .options = &r->options,
        .block = r->plan.block->block,
        .step = step,
        .condition = condition,
        .gpus = r->plan.lane_gpus && number <= r->plan.lanes ? r->plan.lane_gpus[number - 1] : NULL,
        .retry = retry,
        .max_time_ns = left_ns == INT64_MAX  ? 0
                       : left_ns > NS_PER_MS ? left_ns
                                             : NS_PER_MS,
    };
    const char *output;
    int64_t now_ns = clock_utc_ns();
    pid_t pid = block_child_start(&child, &r->folder, number, r->round, &output, err);
    if (pid < 0)
        return (int)pid;
    mem_free_ptr(&lane->what);
    mem_free_ptr(&lane->output);
    mem_free_ptr(&lane->runs);
    lane->own = true;
    lane->runs = mem_strdup(step ? step->name : condition->id);
    lane->is_step = step != NULL;
    lane->pid = pid;
    lane->what = mem_strdup(step ? step->name : condition->label);
    lane->output = mem_strdup(output);
    lane->since_utc_ns = now_ns;
    r->ret->started++;
    tell(r, BLOCK_RUN_STARTED, number, 0, NULL);
    return 0;
}

/* A condition begins with the steps before each run. */
static int start_condition(struct runner *r, size_t number, const struct plan_condition *condition,
                           uint64_t retry, struct err *err) {
    struct lane *lane = &r->lanes[number - 1];
    size_t at = lane->condition ? lane->next_step : 0;
    const struct plan_step *step = step_before(r, &at);
    if (!step) {
        mem_free_ptr(&lane->condition);
        return start(r, number, NULL, condition, retry, err);
    }
    if (!lane->condition)
        lane->condition = mem_strdup(condition->id);
    lane->next_step = at + 1;
    return start(r, number, step, condition, r->plan.retry, err);
}

static uint64_t retries_of(const struct runner *r, const struct remaining_item *item) {
    return r->plan.retry > item->failed ? r->plan.retry - item->failed : 0;
}

static int start_item(struct runner *r, size_t number, struct remaining_item *item,
                      struct err *err) {
    item->left--;
    item->running++;
    if (item->step)
        return start(r, number, item->step, NULL, retries_of(r, item), err);
    return start_condition(r, number, item->condition->condition, retries_of(r, item), err);
}

/* Parts come one after the other, and the steps of one part too, since one may need what another
 * made. NULL: nothing now. */
static struct remaining_item *next_item(struct runner *r) {
    bool waits = false;
    enum remaining_part part = REMAINING_BEFORE;
    for (size_t i = 0; i < r->plan.count; i++) {
        struct remaining_item *item = &r->plan.items[i].of;
        if (item->step && remaining_is_before_each(item->step))
            continue; /* a condition brings it along */
        bool is_alone = item->part == REMAINING_BEFORE || item->part == REMAINING_AFTER;
        if (item->part != part && is_alone && waits)
            return NULL;
        part = item->part;
        if (item->is_failed && item->step) {
            say(r, arena_printf(r->arena, _("step '%s': %s"), item->step->name, item->note));
            stop(r, BLOCK_RUN_FAILED);
            return NULL;
        }
        if (is_alone && item->running > 0)
            return NULL;
        waits |= item->running > 0 || item->is_failed || item->left > 0;
        if (item->left > 0)
            return item;
    }
    return NULL;
}

static bool is_free(const struct runner *r, size_t number) {
    const struct lane *lane = &r->lanes[number - 1];
    const char *gpus = r->plan.lane_gpus ? r->plan.lane_gpus[number - 1] : NULL;
    if (lane->own || lane->occupied || lane->waits)
        return false;
    for (size_t i = 0; i < r->look.lane_count; i++) {
        const struct lane_locked *of = &r->look.lanes[i];
        if (r->lanes[of->number - 1].occupied && block_gpus_overlap(gpus, of->content.gpus))
            return false;
    }
    return true;
}

static size_t busy_count(const struct runner *r) {
    size_t count = 0;
    for (size_t i = 0; i < BLOCK_LANES_MAX; i++)
        count += r->lanes[i].own || r->lanes[i].occupied || r->lanes[i].waits;
    return count;
}

static void budget_is_up(struct runner *r) {
    stop(r, BLOCK_RUN_BUDGET);
    say(r, r->options.max_time_why
               ? arena_printf(r->arena,
                              _("the budget is used up, or what is next would not fit: "
                                "%s"),
                              r->options.max_time_why)
               : arena_strdup(r->arena, _("the time given with --max-time is used up, or what is "
                                          "next would not fit into it")));
}

static bool disk_is_full(struct runner *r) {
    const char *folder;
    uint64_t left;
    if (!block_disk_is_full(&r->folder, r->round, &folder, &left))
        return false;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    quantity_format_value((double)left, UNIT_BYTE, &bytes);
    stop(r, BLOCK_RUN_DISK);
    say(r, arena_printf(r->arena,
                        _("the disk of '%s' is full (%s left), so nothing more is started: make "
                          "room there"),
                        folder, strbuf_str(&bytes)));
    return true;
}

static int start_more(struct runner *r, struct err *err) {
    for (size_t number = 1; number <= r->plan.lanes && !r->no_more; number++) {
        if (busy_count(r) >= r->plan.lanes || !is_free(r, number))
            continue;
        struct remaining_item *item = next_item(r);
        if (!item)
            return 0;
        if (!fits_budget(r, item)) {
            budget_is_up(r);
            return 0;
        }
        if (disk_is_full(r))
            return 0;
        int rc = start_item(r, number, item, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- children ---- */

/* A step is over that a condition waits for: it goes on once the record of the step is judged. */
static void step_ended(struct runner *r, size_t number, bool ended_well) {
    struct lane *lane = &r->lanes[number - 1];
    if (lane->condition && !ended_well && !r->no_more) {
        say(r, arena_printf(r->arena,
                            _("step '%s', which comes before each run, failed: %s shows why"),
                            lane->what, lane->output));
        stop(r, BLOCK_RUN_FAILED);
    }
    if (lane->condition && ended_well && !r->no_more)
        lane->waits = true;
    else
        lane_clear(lane);
}

static struct remaining_item *item_of(struct runner *r, const char *condition) {
    for (size_t i = 0; i < r->plan.count && !r->no_more; i++) {
        struct remaining_item *item = &r->plan.items[i].of;
        if (!item->step && item->left > 0 && strcmp(item->condition->condition->id, condition) == 0)
            return item;
    }
    return NULL;
}

/* What waited for its steps, where it is still wanted. */
static int go_on(struct runner *r, struct err *err) {
    int rc = 0;
    for (size_t i = 0; i < BLOCK_LANES_MAX && rc == 0; i++) {
        struct lane *lane = &r->lanes[i];
        struct remaining_item *item = lane->waits ? item_of(r, lane->condition) : NULL;
        if (item) {
            lane->waits = false;
            item->left--;
            item->running++;
            rc = start_condition(r, i + 1, item->condition->condition, retries_of(r, item), err);
        } else if (lane->waits) {
            lane_clear(lane);
        }
    }
    return rc;
}

static void child_ended(struct runner *r, size_t number, int status) {
    struct lane *lane = &r->lanes[number - 1];
    lane->own = false;
    mem_free_ptr(&r->signature);
    tell(r, BLOCK_RUN_ENDED, number, status, NULL);
    await_record(r, lane, status);
    if (WIFSIGNALED(status)) { /* the command may go on: then it still holds the lane */
        lane_clear(lane);
        return;
    }
    lane_drop(&r->folder, number);
    step_ended(r, number, WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void reap(struct runner *r) {
    for (size_t i = 0; i < BLOCK_LANES_MAX; i++) {
        int status;
        if (!r->lanes[i].own || waitpid(r->lanes[i].pid, &status, WNOHANG) != r->lanes[i].pid)
            continue;
        child_ended(r, i + 1, status);
    }
}

/* ---- signals ---- */

/* To the runs alone: they pass it on to their commands. Those of a killed runner too, where it is
 * sure that the process is the run's. */
static void pass_on(struct runner *r, int number) {
    for (size_t i = 0; i < BLOCK_LANES_MAX; i++) {
        const struct lane *lane = &r->lanes[i];
        bool is_sure = lane->own;
        for (size_t k = 0; lane->occupied && k < r->study->study.run_count && !is_sure; k++) {
            const struct run *run = r->study->study.runs[k].run;
            is_sure =
                run->running && lane->pid > 0 && json_get_int(run->header, "pid", 0) == lane->pid;
        }
        if (is_sure)
            (void)kill(lane->pid, number);
    }
}

/* SIGTERM reaches the commands as an interrupt at first: a run that we were told to end has not
 * failed. */
static void interrupted(struct runner *r, int number) {
    stop(r, BLOCK_RUN_INTERRUPTED);
    r->why = BLOCK_RUN_INTERRUPTED;
    if (r->interrupts++ == 0) {
        r->ret->signal = number;
        r->interrupt_mono_ns = clock_mono_ns();
    }
    r->leaves |= r->interrupts > 2; /* whoever wants to leave may */
    if (!r->leaves)
        pass_on(r, r->interrupts > 1 ? SIGTERM : SIGINT);
}

/* Those that are taken from the kernel here are blocked from the beginning. */
static sigset_t our_signals(void) {
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGINT);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGCHLD);
    return set;
}

/* false: none came within the time. */
static bool wait_signal(struct runner *r, int64_t timeout_ns) {
    const struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / NS_PER_S),
                                     .tv_nsec = (long)(timeout_ns % NS_PER_S)};
    const sigset_t set = our_signals();
    int number = sigtimedwait(&set, NULL, &timeout);
    if (number == SIGINT || number == SIGTERM)
        interrupted(r, number);
    return number > 0;
}

static void read_signals(struct runner *r) {
    while (wait_signal(r, 0))
        ;
    if (r->interrupts == 0 || r->ret->signal != SIGTERM ||
        clock_mono_ns() - r->interrupt_mono_ns <= r->options.grace_ns)
        return;
    r->interrupt_mono_ns = clock_mono_ns();
    if (r->ended_softly)
        r->leaves = true;
    else
        pass_on(r, SIGTERM);
    r->ended_softly = true;
}

/* ---- the loop ---- */

static bool own_child_lives(const struct runner *r) {
    for (size_t i = 0; i < BLOCK_LANES_MAX; i++)
        if (r->lanes[i].own)
            return true;
    return false;
}

static bool something_runs(const struct runner *r) {
    for (size_t i = 0; i < r->plan.count; i++)
        if (r->plan.items[i].of.running > 0)
            return true;
    return busy_count(r) > 0;
}

/* Is there nothing to wait for? Of what others run only as long as more is to be started. */
static bool is_over(const struct runner *r) {
    if (r->leaves)
        return true;
    if (own_child_lives(r) || !r->signature)
        return false;
    if (r->awaited_count > 0 && !r->interrupts)
        return false;
    return r->no_more || !something_runs(r);
}

static void wait_a_while(struct runner *r) {
    int64_t left_ns = time_left_ns(r);
    int64_t timeout_ns = TICK_NS; /* looking costs what is being measured */
    if (r->signature == NULL)
        timeout_ns = 0;
    else if (r->awaited_count > 0)
        timeout_ns = SETTLE_NS;
    else if (!own_child_lives(r) && something_runs(r))
        timeout_ns = OTHERS_NS;
    if (left_ns > 0 && left_ns < timeout_ns)
        timeout_ns = left_ns + NS_PER_MS;
    if (!wait_signal(r, timeout_ns))
        tell(r, BLOCK_RUN_TICK, 0, 0, NULL);
}

/* One round. What is over, or a record that is late, makes the records worth reading. */
static int go_round(struct runner *r, struct err *err) {
    read_signals(r);
    reap(r);
    int rc = look(r, err);
    if (rc < 0)
        return rc;
    bool is_late = r->awaited_count > 0 && clock_mono_ns() - r->read_mono_ns > READ_NS;
    if (r->signature && !block_look_lacks(&r->look, r->signature) && !is_late)
        return 0;
    rc = read_records(r, err);
    if (rc < 0)
        return rc;
    judge_awaited(r);
    rc = make_plan(r, err);
    /* Nothing is started on top of what is not judged yet: it may be what stops all others. */
    if (rc < 0 || r->awaited_count > 0)
        return rc;
    rc = go_on(r, err);
    return rc < 0 || r->no_more ? rc : start_more(r, err);
}

static void finish(struct runner *r) {
    struct block_run_result *ret = r->ret;
    ret->why = r->why;
    for (size_t i = 0; i < BLOCK_LANES_MAX && r->leaves; i++)
        if (r->lanes[i].own)
            say(r, arena_printf(r->arena,
                                _("lane %zu: %s did not end and goes on without the runner; the "
                                  "next 'probelauf block run' waits for it ('kill -KILL -- -%lld' "
                                  "ends it)"),
                                i + 1, r->lanes[i].what, (long long)r->lanes[i].pid));
    if (r->no_more)
        return;
    bool is_done = true;
    for (size_t i = 0; i < r->plan.count; i++) {
        const struct remaining_item *item = &r->plan.items[i].of;
        if (item->step || !item->note)
            continue;
        is_done &= !item->is_failed;
        say(r, arena_printf(r->arena, "%s: %s", item->condition->condition->label, item->note));
    }
    ret->why = is_done ? BLOCK_RUN_DONE : BLOCK_RUN_FAILED;
}

static int run_all(struct runner *r, struct err *err) {
    int failed = 0;
    struct err why = ERR_INIT;
    for (;;) {
        struct err one = ERR_INIT;
        int rc = go_round(r, &one);
        if (rc < 0 && failed == 0) { /* what runs is waited for all the same */
            failed = rc;
            why = one;
            stop(r, BLOCK_RUN_FAILED);
        }
        if (failed < 0 ? !own_child_lives(r) : is_over(r))
            break;
        if (failed < 0 && !r->signature)
            r->signature = mem_strdup("");
        wait_a_while(r);
    }
    if (failed < 0) {
        *err = why;
        return failed;
    }
    finish(r);
    return 0;
}

/* ---- begin and end ---- */

/* What stands in the way: nothing is started. */
static bool is_stopped(struct runner *r) {
    for (size_t i = 0; i < r->plan.stopped_count; i++)
        say(r, arena_strdup(r->arena, r->plan.stopped_by[i]));
    if (r->plan.stopped_count > 0)
        r->ret->why = BLOCK_RUN_STOPPED;
    return r->plan.stopped_count > 0;
}

/* The GPUs are not asked for again in every round. */
static void keep_lanes(struct runner *r) {
    AUTO_STRBUF struct strbuf sets = STRBUF_INIT;
    for (size_t i = 0; r->plan.lane_gpus && i < r->plan.lanes; i++)
        strbuf_printf(&sets, "%s%s", i > 0 ? ";" : "", r->plan.lane_gpus[i]);
    r->options.lanes = r->plan.lanes;
    r->options.gpus = arena_strdup(r->arena, strbuf_str(&sets));
}

static int begin(struct runner *r, struct err *err) {
    int rc = r->reopen(r->context, &r->study, err);
    if (rc < 0)
        return rc;
    if (!work_study_block(r->study, r->options.block, err))
        return err->code;
    rc = lane_folder_open(r->options.place, r->study->plan->study.id, r->options.block, &r->folder,
                          err);
    rc = rc < 0 ? rc : lanes_lock_block(&r->folder, &r->block_fd, err);
    rc = rc < 0 ? rc : look(r, err);
    rc = rc < 0 ? rc : read_records(r, err);
    rc = rc < 0 ? rc : make_plan(r, err);
    if (rc == 0)
        keep_lanes(r);
    return rc;
}

static void runner_done(struct runner *r) {
    for (size_t i = 0; i < BLOCK_LANES_MAX; i++)
        lane_clear(&r->lanes[i]);
    for (size_t i = 0; i < r->awaited_count; i++) {
        mem_free_ptr(&r->awaited[i].what);
        mem_free_ptr(&r->awaited[i].output);
        mem_free_ptr(&r->awaited[i].runs);
    }
    mem_free_ptr(&r->signature);
    fd_close_ptr(&r->block_fd);
    lane_folder_done(&r->folder);
    r->round = arena_free(r->round);
    r->look_arena = arena_free(r->look_arena);
}

int work_block_run(const struct block_run_options *options,
                   int (*reopen)(void *context, struct work_study **ret_study, struct err *err),
                   void (*show)(const struct block_run_view *view, void *context), void *context,
                   struct arena *arena, struct block_run_result *ret, struct err *err) {
    AUTO_FREE struct runner *r = mem_alloc(sizeof *r);
    sigset_t before;
    *ret = (struct block_run_result){0};
    r->options = *options;
    r->block_fd = -1;
    r->arena = arena;
    r->ret = ret;
    r->show = show;
    r->reopen = reopen;
    r->context = context;
    r->deadline_mono_ns = options->max_time_ns > 0 ? clock_mono_ns() + options->max_time_ns : 0;
    int rc = begin(r, err);
    if (rc == 0 && !is_stopped(r)) {
        const sigset_t set = our_signals();
        (void)signal(SIGCHLD, SIG_DFL); /* where it was ignored nobody could be waited for */
        (void)sigprocmask(SIG_BLOCK, &set, &before);
        mem_free_ptr(&r->signature);
        rc = run_all(r, err);
        (void)sigprocmask(SIG_SETMASK, &before, NULL);
    }
    const char **lines = arena_alloc(arena, (ret->line_count + 1) * sizeof *lines);
    memcpy(lines, r->lines, ret->line_count * sizeof *lines);
    ret->lines = lines;
    runner_done(r);
    return rc;
}
