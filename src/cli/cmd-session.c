/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf session start|stop|status|note|watch|list: the reservation clock, with reasons for the
 * time in which nothing ran. No process stays behind. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/session-watch.h"
#include "cli/view.h"
#include "cli/words.h"

#include "base/clock.h"
#include "base/msg.h"
#include "base/uuid.h"
#include "report/session.h"
#include "work/hand-out.h"
#include "work/session-here.h"
#include "work/session.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE 100

static const char *opt_offer, *opt_env, *opt_note, *opt_began, *opt_at, *opt_reason, *opt_from,
    *opt_to, *opt_session, *opt_exec, *opt_after_session;
static bool opt_again;
static int64_t opt_gpus = -1, opt_gap, opt_limit = PAGE;
static int64_t opt_idle_ns = 10 * 60 * NS_PER_S, opt_every_ns = 30 * NS_PER_S;

static const char *words_reason(size_t index) {
    return index < SESSION_REASON_COUNT_ ? session_reason_name((enum session_reason)index) : NULL;
}

static const struct opt_spec session_options[] = {
    {.name = "offer",
     .type = OPT_TEXT,
     .target = &opt_offer,
     .argument = N_("NAME"),
     .verbs = "start",
     .help = N_("The offer that is paid; with a plan one of its offers.")},
    {.name = "env",
     .type = OPT_TEXT,
     .target = &opt_env,
     .argument = N_("ID"),
     .verbs = "start",
     .help = N_("The environment; with a plan one of its environments.")},
    {.name = "gpus",
     .type = OPT_COUNT,
     .target = &opt_gpus,
     .argument = N_("N"),
     .max = 100000,
     .verbs = "start",
     .help = N_("Reserved GPUs, used or not (without it what the plan says).")},
    {.name = "note",
     .type = OPT_TEXT,
     .target = &opt_note,
     .argument = N_("TEXT"),
     .verbs = "start",
     .help = N_("A remark.")},
    {.name = "began",
     .type = OPT_TEXT,
     .target = &opt_began,
     .argument = N_("TIME"),
     .verbs = "start",
     .help = N_("When the reservation began: 20m (ago), or a time in UTC.")},
    {.name = "at",
     .type = OPT_TEXT,
     .target = &opt_at,
     .argument = N_("TIME"),
     .verbs = "stop",
     .help = N_("When the reservation ended: 20m (ago), or a time in UTC.")},
    {.name = "again",
     .type = OPT_FLAG,
     .target = &opt_again,
     .needs = "at",
     .verbs = "stop",
     .help = N_("Correct the time of a session that was stopped already: the later answer holds.")},
    {.name = "reason",
     .type = OPT_CHOICE,
     .target = &opt_reason,
     .argument = N_("REASON"),
     .words = words_reason,
     .verbs = "note",
     .help = N_("Why nothing ran; 'unknown' takes an answer back.")},
    {.name = "gap",
     .type = OPT_COUNT,
     .target = &opt_gap,
     .argument = N_("N"),
     .min = 1,
     .max = INT64_C(1000000000),
     .conflicts = "from to",
     .verbs = "note",
     .help = N_("The gap that it is about, as 'session status' numbers them (without it the one "
                "that goes on).")},
    {.name = "from",
     .type = OPT_TEXT,
     .target = &opt_from,
     .argument = N_("TIME"),
     .verbs = "note",
     .help = N_("Only about the idle time from then on: 20m (ago), or a time in UTC.")},
    {.name = "to",
     .type = OPT_TEXT,
     .target = &opt_to,
     .argument = N_("TIME"),
     .verbs = "note",
     .help = N_("Only about the idle time until then.")},
    {.name = "session",
     .type = OPT_TEXT,
     .target = &opt_session,
     .argument = N_("SESSION"),
     .verbs = "note",
     .help = N_("Another session than the running one.")},
    {.name = "after",
     .type = OPT_DURATION,
     .target = &opt_idle_ns,
     .argument = N_("TIME"),
     .min = 1,
     .max = INT64_MAX,
     .verbs = "watch",
     .help = N_("Speak up when nothing has run for so long (10m).")},
    {.name = "every",
     .type = OPT_DURATION,
     .target = &opt_every_ns,
     .argument = N_("TIME"),
     .min = NS_PER_S / 10,
     .max = 86400 * NS_PER_S,
     .verbs = "watch",
     .help = N_("How often to look (30s).")},
    {.name = "exec",
     .type = OPT_TEXT,
     .target = &opt_exec,
     .argument = N_("COMMAND"),
     .verbs = "watch",
     .help = N_("Run this by /bin/sh, once for each idle stretch; PROBELAUF_IDLE_SECONDS and "
                "PROBELAUF_SESSION are set.")},
    {.name = "limit",
     .type = OPT_COUNT,
     .target = &opt_limit,
     .argument = N_("N"),
     .max = INT64_C(1000000000),
     .verbs = "list",
     .help = N_("At most N sessions (100); 0: all.")},
    {.name = "behind",
     .type = OPT_TEXT,
     .target = &opt_after_session,
     .argument = N_("SESSION"),
     .verbs = "list",
     .help = N_("Go on behind this session: the \"next\" of the page before.")},
    {.name = NULL},
};

/* What every verb works with. */
struct scene {
    struct arena *arena;
    struct place place;
    struct runs *runs;
    struct work_sessions sessions;
    struct plan *plan;
};

static void scene_done(struct scene *scene) {
    work_sessions_done(&scene->sessions);
    scene->plan = plan_free(scene->plan);
    scene->runs = runs_close(scene->runs);
    scene->arena = arena_free(scene->arena);
}
#define AUTO_SCENE __attribute__((cleanup(scene_done)))

/* A ledger that cannot be read is said once, by the verb that needs it. */
static int open_runs(struct scene *scene, struct err *err) {
    struct err ignored = ERR_INIT;
    int rc = cli_place(scene->arena, &scene->place, err);
    rc = rc < 0 ? rc : hand_out_open(&scene->place, &scene->runs, err);
    if (rc == 0 && runs_need_ledger(scene->runs, &ignored) == 0) {
        cli_warning(runs_warning(scene->runs));
    }
    return rc;
}

static int scene_open(struct scene *ret, struct err *err) {
    *ret = (struct scene){.arena = arena_new()};
    return open_runs(ret, err);
}

static void warn_unreadable(const struct work_sessions *sessions) {
    if (sessions->unreadable > 0) {
        AUTO_FREE char *text = mem_printf(
            msg_plural((unsigned long)sessions->unreadable,
                       "%zu run cannot be read and counts as never made; see 'probelauf ledger "
                       "check'",
                       "%zu runs cannot be read and count as never made; see 'probelauf ledger "
                       "check'"),
            sessions->unreadable);
        cli_warning(text);
    }
}

/* What the plan at hand says of their offers. */
static void scene_was_read(struct scene *scene) {
    struct err ignored = ERR_INIT;
    session_here_tidy(&scene->place, &scene->sessions.list);
    warn_unreadable(&scene->sessions);
    if (scene->plan == NULL) {
        (void)view_plan_quietly(scene->arena, &scene->plan, &ignored);
    }
    session_find_paid(&scene->sessions.list, scene->plan, scene->sessions.arena);
}

static int scene_read(struct scene *scene, enum work_sessions_what what, struct err *err) {
    int rc = work_sessions_open(scene->runs, what, NULL, &scene->sessions, err);
    if (rc == 0) {
        scene_was_read(scene);
    }
    return rc;
}

static int scene_read_ref(struct scene *scene, const char *ref, const struct session **ret_session,
                          struct err *err) {
    int rc = work_sessions_open_ref(scene->runs, ref, &scene->sessions, ret_session, err);
    if (rc == 0) {
        scene_was_read(scene);
    }
    return rc;
}

/* What was recorded is durable: that it cannot be read back is no failure of it. */
static int read_back(struct scene *scene, const char *id, const struct session **ret_session,
                     struct err *err) {
    *ret_session = NULL;
    scene->runs = runs_close(scene->runs);
    int rc = open_runs(scene, err);
    rc = rc < 0 ? rc : work_sessions_open_one(scene->runs, id, &scene->sessions, err);
    rc = rc < 0 ? rc : work_session_find(&scene->sessions, id, ret_session, err);
    if (rc == 0) {
        scene_was_read(scene);
    }
    return rc;
}

static void print_one(const struct session *session) {
    if (opt_common.json) {
        cli_print_json(report_session_json(session));
        return;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_session_text(session, cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
}

/* After something was recorded: the session as it is now, for programs. */
static int tell(struct scene *scene, const char *id, const char *note, struct err *err) {
    const struct session *session = NULL;
    if (!opt_common.json) {
        cli_note(note);
        return 0;
    }
    int rc = read_back(scene, id, &session, err);
    if (rc == 0) {
        print_one(session);
    }
    return rc;
}

static int take_moment(const char *option, const char *text, int64_t *ret_utc_ns, struct err *err) {
    return text == NULL ? 0 : words_to_moment(option, text, clock_utc_ns(), ret_utc_ns, err);
}

/* ---- start ---- */

static int begin(struct scene *scene, int64_t began_utc_ns, struct err *err) {
    const char *variable = getenv("PROBELAUF_ENV");
    char id[UUID_TEXT_SIZE];
    struct work_session_start start = {
        .environment = opt_env,
        .offer = opt_offer,
        .note = opt_note,
        .has_gpus = opt_gpus >= 0,
        .gpus = opt_gpus,
        .began_utc_ns = began_utc_ns,
    };
    if (start.environment == NULL && variable != NULL && variable[0] != '\0') {
        start.environment = variable;
    }
    int rc = scene_open(scene, err);
    rc = rc < 0 ? rc : view_plan(scene->arena, false, &scene->plan, NULL, err);
    start.plan = scene->plan;
    rc = rc < 0 ? rc : work_session_start(&scene->place, scene->runs, &start, id, err);
    if (rc < 0) {
        return rc;
    }
    if (scene->plan != NULL && scene->plan->environment_count > 1 && start.environment == NULL &&
        start.offer == NULL) {
        cli_warning(_("no environment is named, and the plan has several: what this session idles "
                      "counts for none of them ('--env ID' names one)"));
    }
    AUTO_FREE char *note =
        mem_printf(_("session %s begins; 'probelauf session stop' ends it%s"), uuid_tail(id),
                   scene->plan == NULL ? _(" (no plan is here: it counts for no study)") : "");
    return tell(scene, id, note, err);
}

static int session_start(int argc, char **argv) {
    (void)argc;
    (void)argv;
    AUTO_SCENE struct scene scene = {0};
    struct err err = ERR_INIT;
    int64_t began_utc_ns = 0;
    if (take_moment("began", opt_began, &began_utc_ns, &err) < 0) {
        return cli_usage_error("session", &err);
    }
    return begin(&scene, began_utc_ns, &err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

/* ---- stop ---- */

static void warn_running(const struct session *session) {
    size_t running = 0;
    for (size_t i = 0; i < session->run_count; i++) {
        running += session->runs[i].running;
    }
    if (running > 0) {
        AUTO_FREE char *text =
            mem_printf(msg_plural((unsigned long)running, "%zu run still runs; it goes on",
                                  "%zu runs still run; they go on"),
                       running);
        cli_warning(text);
    }
}

/* What the session came to, in one line. */
static int say_stopped(struct scene *scene, const char *id, struct err *err) {
    const struct session *session = NULL;
    int rc = read_back(scene, id, &session, err);
    if (rc < 0 && !opt_common.json) {
        AUTO_FREE char *stopped =
            mem_printf(_("session %s is over; what it came to cannot be read now: %s"),
                       uuid_tail(id), err->text);
        cli_warning(stopped);
        return 0;
    }
    if (rc < 0) {
        return rc;
    }
    warn_running(session);
    if (opt_common.json) {
        print_one(session);
        return 0;
    }
    AUTO_STRBUF struct strbuf reserved = STRBUF_INIT;
    AUTO_STRBUF struct strbuf idle = STRBUF_INIT;
    const struct quantity_style style = {.ascii = cli_style(STDERR_FILENO).ascii};
    quantity_format(&session->reserved, style, &reserved);
    quantity_format(&session->idle, style, &idle);
    AUTO_FREE char *text =
        mem_printf(_("session %s is over: reserved %s, idle %s, runs: %zu ('probelauf session "
                     "status %s' shows more)"),
                   uuid_tail(session->id), strbuf_str(&reserved), strbuf_str(&idle),
                   session->run_count, uuid_tail(session->id));
    cli_note(text);
    return 0;
}

static int session_stop(int argc, char **argv) {
    AUTO_SCENE struct scene scene = {0};
    struct err err = ERR_INIT;
    char id[UUID_TEXT_SIZE] = "";
    int64_t at_utc_ns = 0;
    if (take_moment("at", opt_at, &at_utc_ns, &err) < 0) {
        return cli_usage_error("session", &err);
    }
    int rc = scene_open(&scene, &err);
    rc = rc < 0 ? rc
                : work_session_stop(&scene.place, scene.runs, argc > 0 ? argv[0] : NULL, at_utc_ns,
                                    opt_again, id, &err);
    rc = rc < 0 ? rc : say_stopped(&scene, id, &err);
    return rc < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

/* ---- status ---- */

static int show(struct scene *scene, const char *ref, struct err *err) {
    const struct session *session = NULL;
    int rc = scene_open(scene, err);
    if (rc == 0 && ref != NULL) {
        rc = scene_read_ref(scene, ref, &session, err);
    } else if (rc == 0) {
        rc = scene_read(scene, WORK_SESSIONS_RUNNING, err);
    }
    if (rc == 0 && ref == NULL && session_running(&scene->sessions.list) != NULL) {
        rc = work_session_find_running(&scene->sessions, &session, err);
    }
    if (rc < 0) {
        return rc;
    }
    if (session != NULL || opt_common.json) {
        print_one(session);
        return 0;
    }
    AUTO_STRBUF struct strbuf none = STRBUF_INIT;
    strbuf_printf(&none, "%s\n",
                  _("no session runs on this machine; 'probelauf session start' begins one, "
                    "'probelauf session list' shows those that are over"));
    cli_print(&none);
    return 0;
}

static int session_status(int argc, char **argv) {
    AUTO_SCENE struct scene scene = {0};
    struct err err = ERR_INIT;
    return show(&scene, argc > 0 ? argv[0] : NULL, &err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

/* ---- note ---- */

static int read_note(struct work_session_note *ret, struct err *err) {
    *ret = (struct work_session_note){.ref = opt_session, .gap = opt_gap};
    if (opt_reason == NULL) {
        return err_set(err, -EINVAL, "usage-needs", "a note needs '--reason REASON'");
    }
    (void)session_reason_from_name(opt_reason, &ret->reason);
    int rc = take_moment("from", opt_from, &ret->from_utc_ns, err);
    return rc < 0 ? rc : take_moment("to", opt_to, &ret->to_utc_ns, err);
}

/* The gaps that it is about now, by the numbers that `status` shows. */
static void find_noted(const struct session *session, const struct work_session_noted *noted,
                       const struct session_gap **ret_first, const struct session_gap **ret_last) {
    *ret_first = *ret_last = NULL;
    for (size_t i = 0; i < session->gap_count; i++) {
        const struct session_gap *gap = &session->gaps[i];
        if (fmin(gap->end_s, noted->to_s) - fmax(gap->start_s, noted->from_s) > 0.001) {
            *ret_first = *ret_first != NULL ? *ret_first : gap;
            *ret_last = gap;
        }
    }
}

static void add_noted(const struct session_gap *first, const struct session_gap *last,
                      struct strbuf *out) {
    AUTO_STRBUF struct strbuf from = STRBUF_INIT;
    AUTO_STRBUF struct strbuf to = STRBUF_INIT;
    report_session_clock(first->start_utc_ns, &from);
    report_session_clock(last->end_utc_ns, &to);
    if (first == last) {
        strbuf_printf(out, _("gap %u"), first->number);
    } else {
        strbuf_printf(out, _("gaps %u to %u"), first->number, last->number);
    }
    if (last->running) {
        strbuf_printf(out, _(" (from %s UTC, goes on)"), strbuf_str(&from));
    } else {
        strbuf_printf(out, _(" (from %s to %s UTC)"), strbuf_str(&from), strbuf_str(&to));
    }
}

static int say_noted(struct scene *scene, enum session_reason reason,
                     const struct work_session_noted *noted, struct err *err) {
    const struct session *session = NULL;
    const struct session_gap *first = NULL, *last = NULL;
    int rc = read_back(scene, noted->session, &session, err);
    if (opt_common.json) {
        if (rc == 0) {
            print_one(session);
        }
        return rc;
    }
    AUTO_STRBUF struct strbuf gaps = STRBUF_INIT;
    if (rc == 0) {
        find_noted(session, noted, &first, &last);
    }
    if (first != NULL) {
        add_noted(first, last, &gaps);
    } else {
        strbuf_printf(&gaps, _("session %s"), uuid_tail(noted->session));
    }
    AUTO_FREE char *said =
        reason == SESSION_UNKNOWN
            ? mem_printf(_("the reason of %s is taken back"), strbuf_str(&gaps))
            : mem_printf(_("noted for %s: %s"), strbuf_str(&gaps), report_session_reason(reason));
    cli_note(said);
    return 0;
}

static int session_note(int argc, char **argv) {
    AUTO_SCENE struct scene scene = {0};
    struct err err = ERR_INIT;
    struct work_session_note note;
    struct work_session_noted noted;
    if (read_note(&note, &err) < 0) {
        return cli_usage_error("session", &err);
    }
    note.text = argc > 0 ? argv[0] : NULL;
    int rc = scene_open(&scene, &err);
    rc = rc < 0 ? rc : work_session_note(&scene.place, scene.runs, &note, &noted, &err);
    rc = rc < 0 ? rc : say_noted(&scene, note.reason, &noted, &err);
    return rc < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

/* ---- watch ---- */

static int watch_run(int argc, char **argv) {
    (void)argc;
    (void)argv;
    struct err err = ERR_INIT;
    const struct session_watch watch = {
        .after_ns = opt_idle_ns, .every_ns = opt_every_ns, .command = opt_exec};
    return session_watch(&watch, &err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

/* ---- list ---- */

static int list(struct scene *scene, struct err *err) {
    const struct session *behind = NULL;
    int rc = scene_open(scene, err);
    rc = rc < 0 ? rc : scene_read(scene, WORK_SESSIONS_ALL, err);
    if (rc == 0 && opt_after_session != NULL) {
        rc = work_session_find(&scene->sessions, opt_after_session, &behind, err);
    }
    if (rc < 0) {
        return rc;
    }
    const struct session_list *all = &scene->sessions.list;
    size_t count = behind != NULL ? (size_t)(behind - all->items) : all->count;
    size_t page = opt_limit > 0 && (size_t)opt_limit < count ? (size_t)opt_limit : count;
    const struct session **newest = arena_alloc(scene->arena, (page + 1) * sizeof(*newest));
    for (size_t i = 0; i < page; i++) {
        newest[i] = &all->items[count - 1 - i];
    }
    const char *next = page < count && page > 0 ? newest[page - 1]->id : NULL;
    if (opt_common.json) {
        cli_print_json(report_session_list_json(newest, page, next));
        return 0;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_session_list_text(newest, page, cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
    if (next != NULL && !opt_common.quiet) {
        AUTO_FREE char *hint = mem_printf(
            _("there are older sessions: add '--behind %s', or '--limit 0' for all"), next);
        cli_note(hint);
    }
    return 0;
}

static int session_list(int argc, char **argv) {
    (void)argc;
    (void)argv;
    AUTO_SCENE struct scene scene = {0};
    struct err err = ERR_INIT;
    return list(&scene, &err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

static const struct command_verb session_verbs[] = {
    {.name = "start",
     .summary = N_("The machine is reserved from now on, or since --began."),
     .usage = N_("[--offer NAME] [--env ID] [--gpus N] [--began TIME] [--note TEXT]"),
     .json = true,
     .operand = "",
     .run = session_start},
    {.name = "stop",
     .summary = N_("It is not any more."),
     .usage = N_("[SESSION] [--at TIME [--again]]"),
     .max_args = 1,
     .json = true,
     .operand = "",
     .run = session_stop},
    {.name = "status",
     .summary = N_("How long it runs, what ran, and which gaps have no reason yet."),
     .usage = N_("[SESSION]"),
     .max_args = 1,
     .json = true,
     .operand = "",
     .run = session_status},
    {.name = "note",
     .summary = N_("Why nothing runs, or ran."),
     .usage = N_("--reason REASON [--gap N | --from TIME --to TIME] [--session SESSION] [TEXT]"),
     .max_args = 1,
     .json = true,
     .operand = "",
     .run = session_note},
    {.name = "watch",
     .summary = N_("Warn when the reserved machine idles; Ctrl-C ends it, the session goes on."),
     .usage = N_("[--after TIME] [--every TIME] [--exec COMMAND]"),
     .operand = "",
     .run = watch_run},
    {.name = "list",
     .summary = N_("All sessions, newest first."),
     .usage = N_("[--limit N] [--behind SESSION]"),
     .json = true,
     .operand = "",
     .run = session_list},
    {.name = NULL},
};

const struct command command_session = {
    .name = "session",
    .summary = N_("The reservation clock: how long a machine is reserved, and why it idles."),
    .details =
        N_("A session is nothing but records; no process stays behind, and a kill or a restart "
           "loses nothing. Runs on the same machine belong to it by their time; what lies between "
           "them is idle, with a reason only where somebody said one. It never stops a machine."),
    .examples =
        N_("probelauf session start --offer lambda-h100 --env rented  # the machine is there\n"
           "probelauf session status  # reserved, run, idle; gaps without a reason\n"
           "probelauf session note --reason waiting-for-authors \"asked about the seed\"\n"
           "probelauf session note --gap 2 --reason data-missing \"checkpoint was not there\"\n"
           "probelauf session watch --after 10m --exec 'notify-send idle'  # in another shell\n"
           "probelauf session stop --at 15m  # it was given back a quarter of an hour ago\n"),
    .options = session_options,
    .verbs = session_verbs,
    .operand = "",
    .traits = COMMAND_LEDGER | COMMAND_JSON | COMMAND_PLAN,
};
