/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probelauf block run: what is left of a block, run in lanes; what goes on is shown on standard
 * error, what it has come to on standard output. What is run and when is decided in work/ and
 * rules/, never here.
 */
#include "cli/block-verbs.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/settings.h"
#include "cli/view-study.h"
#include "cli/view.h"

#include "base/clock.h"
#include "base/msg.h"
#include "base/str.h"
#include "forecast/predict.h"
#include "report/block-run.h"
#include "work/block-run.h"
#include "work/cost-limit.h"
#include "work/session-here.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_NS (10 * NS_PER_S) /* of a runner, at most: a scheduler does not wait longer */

struct running {
    struct view_study view;
    const char *environment; /* NULL: the plan's first */
    bool opened;
    bool is_last; /* opened for the result: an estimate is made */
    bool is_terminal;
    size_t lines; /* of the overview that stand on the terminal */
    struct report_style style;
};

/* ---- reading anew ---- */

/* The first time with all that is to be said about plan and records, later without. */
static int reopen(void *context, struct work_study **ret_study, struct err *err) {
    struct running *running = context;
    struct view_study *view = &running->view;
    const struct work_study_options options = {.environment = running->environment,
                                               .look_at_code = true,
                                               .look_at_past = running->is_last};
    view_study_done(view);
    *view = (struct view_study){0};
    *ret_study = &view->work;
    if (!running->opened) {
        running->opened = true;
        return view_study_open(&options, view, err);
    }
    AUTO_PLAN struct plan *plan = NULL;
    view->arena = arena_new();
    int rc = view_plan_quietly(view->arena, &plan, err);
    rc = rc < 0 ? rc : cli_place(view->arena, &view->place, err);
    rc = rc < 0 ? rc : runs_open(&view->place, &view->runs, err);
    return rc < 0 ? rc : work_study_open(steal(plan), &options, view->runs, &view->work, err);
}

/* ---- showing ---- */

static void add_since(struct strbuf *out, int64_t since_utc_ns) {
    int64_t ns = clock_utc_ns() - since_utc_ns;
    quantity_format_value((double)(ns > 0 ? ns / NS_PER_S : 0), UNIT_SECOND, out);
}

static void add_cut(struct strbuf *out, const struct running *running, const char *text) {
    size_t width = running->style.width > 0 ? (size_t)running->style.width : 80;
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    str_add_printable(&plain, text, strlen(text));
    const char *all = strbuf_str(&plain);
    size_t length = plain.length;
    AUTO_FREE char *cut = mem_strdup(all);
    while (length > 0 && str_width(cut) >= width) {
        do {
            length--;
        } while (length > 0 && ((unsigned char)cut[length] & 0xc0) == 0x80);
        cut[length] = '\0';
    }
    strbuf_printf(out, "%s\n", cut);
}

static void wipe(struct running *running, struct strbuf *out) {
    if (running->lines > 0)
        strbuf_printf(out, "\033[%zuA\033[J", running->lines);
    running->lines = 0;
}

/* A line for the block and one for each lane that runs something. */
static void draw(struct running *running, const struct block_run_view *view, struct strbuf *out) {
    const struct block_run_plan *plan = view->plan;
    AUTO_STRBUF struct strbuf left = STRBUF_INIT;
    if (!plan->block)
        return;
    quantity_format(&plan->left, (struct quantity_style){running->style.ascii, true}, &left);
    AUTO_FREE char *head = mem_printf(
        _("block %s: valid %llu of %llu, lanes busy %zu of %zu, left: %s"), plan->block->block->id,
        (unsigned long long)plan->valid, (unsigned long long)plan->planned, view->lane_count,
        plan->lanes, strbuf_str(&left));
    add_cut(out, running, head);
    running->lines = 1;
    for (size_t i = 0; i < view->lane_count; i++) {
        const struct block_run_lane *lane = &view->lanes[i];
        AUTO_STRBUF struct strbuf since = STRBUF_INIT;
        add_since(&since, lane->since_utc_ns);
        AUTO_FREE char *line =
            lane->inherited
                ? mem_printf(_("  lane %zu: %s, for %s, started by an earlier block run"),
                             lane->number, lane->what, strbuf_str(&since))
                : mem_printf(_("  lane %zu: %s, for %s"), lane->number, lane->what,
                             strbuf_str(&since));
        add_cut(out, running, line);
        running->lines++;
    }
}

static char *ended_text(const struct block_run_lane *lane, int status) {
    AUTO_STRBUF struct strbuf since = STRBUF_INIT;
    add_since(&since, lane->since_utc_ns);
    if (lane->inherited)
        return mem_printf(_("lane %zu: %s is over"), lane->number, lane->what);
    if (WIFSIGNALED(status))
        return mem_printf(_("lane %zu: %s ended by signal %d after %s; its output: %s"),
                          lane->number, lane->what, WTERMSIG(status), strbuf_str(&since),
                          lane->output ? lane->output : "");
    if (WEXITSTATUS(status) != 0)
        return mem_printf(_("lane %zu: %s ended with status %d after %s; its output: %s"),
                          lane->number, lane->what, WEXITSTATUS(status), strbuf_str(&since),
                          lane->output ? lane->output : "");
    return mem_printf(_("lane %zu: %s ended well after %s"), lane->number, lane->what,
                      strbuf_str(&since));
}

static char *news_text(const struct block_run_view *view) {
    const struct block_run_lane *lane = view->lane;
    switch (view->news) {
    case BLOCK_RUN_TICK:
        break;
    case BLOCK_RUN_STARTED:
        return mem_printf(_("lane %zu: %s starts; its output: %s"), lane->number, lane->what,
                          lane->output);
    case BLOCK_RUN_ENDED:
        return ended_text(lane, view->status);
    case BLOCK_RUN_FOUND:
        return mem_printf(_("lane %zu: %s goes on, started by an earlier block run"), lane->number,
                          lane->what);
    case BLOCK_RUN_NOTE:
        return mem_strdup(view->text);
    }
    return NULL;
}

static void show(const struct block_run_view *view, void *context) {
    struct running *running = context;
    AUTO_FREE char *text = news_text(view);
    AUTO_STRBUF struct strbuf screen = STRBUF_INIT;
    if (running->is_terminal) {
        wipe(running, &screen);
        if (screen.length > 0)
            cli_say(&screen);
        strbuf_clear(&screen);
    }
    /* On a terminal the overview says what starts and goes on. */
    bool is_shown = view->news == BLOCK_RUN_STARTED && running->is_terminal;
    if (text != NULL && !is_shown)
        cli_note(text);
    if (running->is_terminal) {
        draw(running, view, &screen);
        cli_say(&screen);
    }
}

/* ---- the command ---- */

/* What every child must know to find the same plan and the same records. */
static size_t pass_options(const char **pass) {
    const struct {
        const char *name, *value;
    } options[] = {
        {"--ledger", opt_common.ledger},
        {"--journal-dir", opt_common.journal_dir},
        {"--plan", opt_common.plan},
        {"--env", block_opts.env},
    };
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(options); i++)
        if (options[i].value != NULL) {
            pass[count++] = options[i].name;
            pass[count++] = options[i].value;
        }
    return count;
}
#define PASS_MAX 8u

/* The environment: what was said, else that of the session that runs here, if the plan has it. */
static const char *find_environment(const struct plan *plan, const struct session_here *here) {
    const char *said = block_opts.env ? block_opts.env : settings_get(SETTING_ENV).text;
    if (said != NULL && *said != '\0')
        return said;
    bool has = plan != NULL && here->environment != NULL &&
               plan_environment_find(plan, here->environment) != NULL;
    return has ? here->environment : NULL;
}

/* --max-cost becomes a time, the shorter one of both; it is said at once what it is. */
static int limit_cost(const struct plan *plan, const struct session_here *here,
                      const char *environment, struct arena *arena,
                      struct block_run_options *options, struct err *err) {
    struct cost_limit limit = {0};
    const struct cost_limit_request request = {
        .plan = plan,
        .amount = block_opts.max_cost,
        .offer = block_opts.offer,
        .session_offer = here->offer,
        .environment = environment != NULL                           ? environment
                       : plan != NULL && plan->environment_count > 0 ? plan->environments[0].id
                                                                     : NULL,
        .grace_ns = settings_grace_ns(),
        .now_utc_ns = clock_utc_ns(),
    };
    int rc = work_cost_limit_check(block_opts.max_cost, err);
    rc = rc < 0 ? rc : work_cost_limit(&request, arena, &limit, err);
    if (rc < 0)
        return rc;
    if (options->max_time_ns == 0 || limit.max_time_ns < options->max_time_ns) {
        options->max_time_ns = limit.max_time_ns;
        options->max_time_why = limit.text;
    }
    AUTO_STRBUF struct strbuf time = STRBUF_INIT;
    quantity_format_value((double)limit.max_time_ns / 1e9, UNIT_SECOND, &time);
    AUTO_FREE char *note =
        mem_printf(_("%s: the block is stopped after %s; counted are rate, increment, terms, "
                     "set-up fee and taxes of a rental of its own, not storage and transfer"),
                   limit.text, strbuf_str(&time));
    cli_note(note);
    return 0;
}

/* A value that the command does not take ends with the status of its kind. */
static int error(const struct err *err) {
    return str_starts_with(err->id, "usage-") ? cli_usage_error("block", err) : cli_error(err);
}

static int dry_run(struct running *running, const struct block_run_options *options,
                   struct arena *arena) {
    struct work_study *study;
    struct block_run_plan plan;
    struct err err = ERR_INIT;
    if (reopen(running, &study, &err) < 0 ||
        work_block_plan(study, options, arena, &plan, &err) < 0) {
        return error(&err);
    }
    if (opt_common.json) {
        cli_print_json(report_block_run_json(&study->study, &plan, NULL, NULL));
    } else {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        report_block_plan_text(&plan, cli_style(STDOUT_FILENO), &text);
        cli_print(&text);
    }
    return plan.stopped_count > 0 ? EXIT_CODE_OPEN_FACTS : EXIT_CODE_DONE;
}

/* What it has come to, with the question that comes next. */
static int print_result(struct running *running, const struct block_run_options *options,
                        const struct block_run_result *result, struct arena *arena) {
    struct work_study *study;
    struct block_run_plan plan;
    struct estimate estimate;
    struct err err = ERR_INIT;
    const struct estimate_options usual = {.seed = PREDICT_SEED};
    running->is_last = true;
    if (reopen(running, &study, &err) < 0 ||
        work_block_plan(study, options, arena, &plan, &err) < 0 ||
        estimate_make(&study->study, &usual, arena, &estimate, &err) < 0) {
        return cli_error(&err);
    }
    if (opt_common.json) {
        cli_print_json(report_block_run_json(&study->study, &plan, result, &estimate));
        return EXIT_CODE_DONE;
    }
    if (result->why == BLOCK_RUN_STOPPED)
        return EXIT_CODE_DONE; /* the reasons were said */
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_gate_text(&study->study, plan.block, &estimate, cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
    return EXIT_CODE_DONE;
}

/* The one line of an error for what did not come to its end. */
static int exit_code(const struct block_run_options *options,
                     const struct block_run_result *result) {
    struct err err = ERR_INIT;
    switch (result->why) {
    case BLOCK_RUN_DONE:
    case BLOCK_RUN_WHY_COUNT_:
        return EXIT_CODE_DONE;
    case BLOCK_RUN_STOPPED:
        (void)err_set(&err, -EBUSY, "block-stopped",
                      "block '%s' may not be run yet: what stands in the way is said above",
                      options->block);
        (void)cli_error(&err);
        return EXIT_CODE_OPEN_FACTS;
    case BLOCK_RUN_FAILED:
        (void)err_set(&err, -EIO, "block-failed",
                      "block '%s' is not complete: what failed is said above; the same command "
                      "goes on once that is settled",
                      options->block);
        break;
    case BLOCK_RUN_BUDGET:
        (void)err_set(&err, -ETIME, "block-budget",
                      "block '%s' is not complete, and the budget is used up: the same command "
                      "goes on with it",
                      options->block);
        break;
    case BLOCK_RUN_DISK:
        (void)err_set(&err, -ENOSPC, "block-disk",
                      "block '%s' is not complete, and a disk is full, as said above: the same "
                      "command goes on once there is room",
                      options->block);
        break;
    case BLOCK_RUN_INTERRUPTED:
        (void)err_set(&err, -EINTR, "block-interrupted",
                      "block '%s' was interrupted: the same command goes on with it",
                      options->block);
        break;
    }
    return cli_error(&err);
}

static void die_of(int number) {
    sigset_t set;
    (void)signal(number, SIG_DFL);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, number);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    (void)kill(getpid(), number);
}

static int run_all(struct running *running, const struct block_run_options *options,
                   struct arena *arena) {
    struct block_run_result result;
    struct err err = ERR_INIT;
    int rc = work_block_run(options, reopen, show, running, arena, &result, &err);
    AUTO_STRBUF struct strbuf screen = STRBUF_INIT;
    wipe(running, &screen);
    cli_say(&screen);
    if (rc < 0) {
        return error(&err);
    }
    int printed = print_result(running, options, &result, arena);
    int code = exit_code(options, &result);
    if (result.why == BLOCK_RUN_INTERRUPTED) {
        die_of(result.signal);
    }
    return printed != EXIT_CODE_DONE ? printed : code;
}

/* A record that names no environment is no evidence for any of several: its run would be made again
 * and again. A look at what would run needs no such answer. */
static int need_environment(const struct plan *plan, const struct running *running,
                            struct err *err) {
    if (plan == NULL || plan->environment_count < 2 || running->environment != NULL ||
        block_opts.dry_run) {
        return 0;
    }
    return err_set(err, -EINVAL, "usage-needs",
                   "the plan has %zu environments: say by --env which of them this machine is; the "
                   "first one is '%s'",
                   plan->environment_count, plan->environments[0].id);
}

int block_run(int argc, char **argv) {
    (void)argc;
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_PLAN struct plan *plan = NULL; /* as far as it is needed before the block's own reading */
    struct running running = {.style = cli_style(STDERR_FILENO)};
    struct err err = ERR_INIT, later = ERR_INIT;
    struct place place;
    struct session_here here;
    const char *pass[PASS_MAX];
    if (cli_place(arena, &place, &err) < 0) {
        return cli_error(&err);
    }
    (void)session_here_find(&place, arena, &here);
    (void)view_plan_quietly(arena, &plan, &later);
    running.environment = find_environment(plan, &here);
    running.is_terminal = isatty(STDERR_FILENO) == 1 && !opt_common.quiet;
    struct block_run_options options = {
        .block = argv[0],
        .place = &place,
        .session = here.id,
        .lanes = (size_t)block_opts.lanes,
        .gpus = block_opts.gpus,
        .max_time_ns = block_opts.max_time_ns,
        .grace_ns = settings_grace_ns() < GRACE_NS ? settings_grace_ns() : GRACE_NS,
        .has_retry = block_opts.retry >= 0,
        .retry = block_opts.retry >= 0 ? (uint64_t)block_opts.retry : 0,
        .program = "/proc/self/exe",
        .pass = pass,
        .pass_count = pass_options(pass),
    };
    if (need_environment(plan, &running, &err) < 0) {
        return cli_usage_error("block", &err);
    }
    if (block_opts.max_cost != NULL &&
        limit_cost(plan, &here, running.environment, arena, &options, &err) < 0) {
        return error(&err);
    }
    int code = block_opts.dry_run ? dry_run(&running, &options, arena)
                                  : run_all(&running, &options, arena);
    view_study_done(&running.view);
    return code;
}
