/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The loop of `session watch`. It runs in the foreground and knows only what the records say:
 * whether a run runs. What cannot be read is said, and looked for again: only a recorded stop ends
 * the watching. A command that it starts is never waited for, never ended, and runs once at a time.
 */
#include "cli/session-watch.h"

#include "base/clock.h"
#include "base/msg.h"
#include "base/strbuf.h"
#include "cli/cli.h"
#include "cli/view.h"
#include "model/quantity.h"
#include "work/session.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* One look at the records. */
struct look {
    char session[UUID_TEXT_SIZE];
    bool is_over;   /* its stop is recorded, or that it does not count */
    double idle_s;  /* since the last run; 0 while one runs */
    double since_s; /* where on the session's axis it began: names the stretch */
    int64_t since_utc_ns;
    char offer[160]; /* what it costs, for people; "": nothing can be said */
    bool is_paid, has_ledger;
};

static void say_offer(const struct session *session, int64_t now_utc_ns, struct look *look) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_PLAN struct plan *plan = NULL;
    struct err ignored = ERR_INIT;
    const char *why = NULL;
    look->is_paid = session->offer != NULL;
    if (session->offer == NULL || view_plan_quietly(arena, &plan, &ignored) < 0) {
        return;
    }
    const char *rate = session_rate(session, plan, now_utc_ns, arena, &why);
    if (rate != NULL) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        strbuf_printf(&text, _("; offer '%s' costs %s"), session->offer, rate);
        strncpy(look->offer, strbuf_str(&text), sizeof look->offer - 1);
    }
}

/* A ledger that was moved away is not begun anew by looking at it. */
static int check_there(const struct place *place, struct err *err) {
    AUTO_STORE struct store *store = NULL;
    return store_open(place->ledger_url, STORE_READ_ONLY, &store, err);
}

/* The watched one by its id, else the one that runs here. */
static int find_watched(const struct work_sessions *sessions, const char *id,
                        const struct session **ret_session, struct err *err) {
    if (id[0] == '\0') {
        return work_session_find_running(sessions, ret_session, err);
    }
    for (size_t i = 0; i < sessions->list.count; i++) {
        if (strcmp(sessions->list.items[i].id, id) == 0) {
            *ret_session = &sessions->list.items[i];
            return 0;
        }
    }
    return err_set(err, -ENOENT, "session-not-found",
                   "the ledger at hand knows nothing of the watched session");
}

/* id: of the session that was seen before; "": the first look. */
static int take_look(const char *id, bool had_ledger, struct look *ret, struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_WORK_SESSIONS struct work_sessions sessions = {0};
    struct place place;
    *ret = (struct look){0};
    const struct session *session = NULL;
    int rc = cli_place(arena, &place, err);
    rc = rc == 0 && had_ledger ? check_there(&place, err) : rc;
    rc = rc < 0 ? rc : runs_open(&place, &runs, err);
    if (rc == 0) {
        rc = id[0] != '\0' ? work_sessions_open_one(runs, id, &sessions, err)
                           : work_sessions_open(runs, WORK_SESSIONS_RUNNING, NULL, &sessions, err);
    }
    rc = rc < 0 ? rc : find_watched(&sessions, id, &session, err);
    if (rc < 0 || session == NULL) {
        return rc;
    }
    ret->has_ledger = runs_store(runs) != NULL;
    ret->is_over = session->state == SESSION_STOPPED || session->superseded_by != NULL;
    strncpy(ret->session, session->id, sizeof ret->session - 1);
    ret->idle_s = session_idle_since_run(session);
    ret->since_s = session->length_s - ret->idle_s;
    ret->since_utc_ns = session_utc(session, ret->since_s);
    say_offer(session, sessions.input.now.utc_ns, ret);
    return 0;
}

/* ---- speaking up ---- */

static void warn_idle(const struct look *look) {
    AUTO_STRBUF struct strbuf length = STRBUF_INIT;
    AUTO_STRBUF struct strbuf since = STRBUF_INIT;
    quantity_format_value(look->idle_s, UNIT_SECOND, &length);
    msg_add_time(&since, look->since_utc_ns);
    strbuf_add_str(&since, " UTC");
    AUTO_FREE char *text =
        mem_printf(look->is_paid ? _("a machine that is paid has been idle for %s, since %s%s")
                                 : _("a reserved machine has been idle for %s, since %s%s"),
                   strbuf_str(&length), strbuf_str(&since), look->offer);
    cli_warning(text);
}

/* Neither our signals nor their mask are the command's business. */
static void become_command(const char *command, const sigset_t *mask, const struct look *look) {
    AUTO_STRBUF struct strbuf seconds = STRBUF_INIT;
    strbuf_printf(&seconds, "%lld", (long long)llround(look->idle_s));
    (void)setenv("PROBELAUF_IDLE_SECONDS", strbuf_str(&seconds), 1);
    (void)setenv("PROBELAUF_SESSION", look->session, 1);
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    (void)execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

/* What lasts from look to look. */
struct watched {
    char session[UUID_TEXT_SIZE]; /* "": not seen yet */
    bool has_ledger;              /* it was there once */
    struct strbuf trouble;        /* what could not be read at the last look; "": all was */
    pid_t command;                /* that still runs; 0: none */
    bool told;                    /* about the stretch that began at since_s */
    double since_s;
};

static void start_command(const char *command, const sigset_t *mask, const struct look *look,
                          struct watched *watched) {
    if (watched->command != 0) {
        cli_warning(_("the command of --exec still runs since the idle time before: it is not "
                      "started a second time"));
        return;
    }
    pid_t pid = fork();
    if (pid == 0) {
        become_command(command, mask, look);
    }
    if (pid < 0) {
        AUTO_FREE char *text =
            mem_printf(_("the command of --exec could not be started: %s"), strerror(errno));
        cli_warning(text);
        return;
    }
    watched->command = pid;
}

static void reap(struct watched *watched) {
    int status = 0;
    if (watched->command == 0 || waitpid(watched->command, &status, WNOHANG) == 0) {
        return;
    }
    watched->command = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return;
    }
    AUTO_FREE char *text =
        WIFEXITED(status)
            ? mem_printf(_("the command of --exec ended with exit code %d"), WEXITSTATUS(status))
            : mem_printf(_("the command of --exec was ended by signal %d"), WTERMSIG(status));
    cli_warning(text);
}

static void say_left_behind(struct watched *watched) {
    reap(watched);
    if (watched->command != 0) {
        AUTO_FREE char *text = mem_printf(_("the command of --exec (process %ld) still runs: it "
                                            "goes on"),
                                          (long)watched->command);
        cli_note(text);
    }
}

/* ---- the loop ---- */

#define SAME_STRETCH_S 1.0

static void look_after(const struct session_watch *watch, const struct look *look,
                       struct watched *watched, const sigset_t *mask) {
    if (watched->told && fabs(watched->since_s - look->since_s) > SAME_STRETCH_S) {
        watched->told = false; /* a run ran since */
    }
    if (watched->told || look->idle_s < (double)watch->after_ns / (double)NS_PER_S) {
        return;
    }
    watched->told = true;
    watched->since_s = look->since_s;
    warn_idle(look);
    if (watch->command != NULL) {
        start_command(watch->command, mask, look, watched);
    }
}

/* Once for each trouble; the next look may go well. */
static void say_trouble(struct watched *watched, const char *text) {
    if (strcmp(strbuf_str(&watched->trouble), text) == 0) {
        return;
    }
    strbuf_clear(&watched->trouble);
    strbuf_add_str(&watched->trouble, text);
    AUTO_FREE char *warning =
        mem_printf(_("whether the session goes on cannot be read (%s); watching goes on"), text);
    cli_warning(warning);
}

/* True: a signal asks us to end. */
static bool wait_a_while(const sigset_t *ending, int64_t ns) {
    int64_t until_ns = clock_mono_ns() + ns;
    for (;;) {
        int64_t left_ns = until_ns - clock_mono_ns();
        if (left_ns <= 0) {
            return false;
        }
        struct timespec left = {.tv_sec = left_ns / NS_PER_S, .tv_nsec = left_ns % NS_PER_S};
        if (sigtimedwait(ending, NULL, &left) >= 0) {
            return true;
        }
        if (errno != EINTR) {
            return false;
        }
    }
}

/* 1: the session is over. */
static int look_once(const struct session_watch *watch, const sigset_t *mask,
                     struct watched *watched, struct err *err) {
    struct look look;
    struct err one = ERR_INIT;
    bool first = watched->session[0] == '\0';
    int rc = take_look(watched->session, watched->has_ledger, &look, first ? err : &one);
    if (rc < 0 && first) {
        return rc;
    }
    if (rc < 0) {
        say_trouble(watched, one.text);
        return 0;
    }
    strbuf_clear(&watched->trouble);
    if (look.is_over) {
        cli_note(_("the session is over: watching ends"));
        return 1;
    }
    memcpy(watched->session, look.session, sizeof watched->session);
    watched->has_ledger = look.has_ledger;
    look_after(watch, &look, watched, mask);
    return 0;
}

static int look_until(const struct session_watch *watch, const sigset_t *ending,
                      const sigset_t *mask, struct watched *watched, struct err *err) {
    for (;;) {
        int rc = look_once(watch, mask, watched, err);
        if (rc != 0) {
            return rc < 0 ? rc : 0;
        }
        reap(watched);
        if (wait_a_while(ending, watch->every_ns)) {
            cli_note(_("watching ends; the session goes on"));
            return 0;
        }
    }
}

int session_watch(const struct session_watch *watch, struct err *err) {
    sigset_t ending, mask;
    (void)sigemptyset(&ending);
    (void)sigaddset(&ending, SIGINT);
    (void)sigaddset(&ending, SIGTERM);
    (void)sigaddset(&ending, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &ending, &mask);
    struct watched watched = {.trouble = STRBUF_INIT};
    int rc = look_until(watch, &ending, &mask, &watched, err);
    say_left_behind(&watched);
    strbuf_done(&watched.trouble);
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    return rc;
}
