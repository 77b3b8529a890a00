/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The loop of `session watch`. It runs in the foreground and knows only what the records say:
 * whether a run runs. A command that it starts is never waited for, and never ended.
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
    char session[UUID_TEXT_SIZE]; /* "": none runs */
    double idle_s;                /* since the last run; 0 while one runs */
    double since_s;               /* where on the session's axis it began: names the stretch */
    int64_t since_utc_ns;
    char offer[160]; /* what it costs, for people; "": nothing can be said */
    bool is_paid;
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

static int take_look(struct look *ret, struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_WORK_SESSIONS struct work_sessions sessions = {0};
    struct place place;
    *ret = (struct look){0};
    int rc = cli_place(arena, &place, err);
    rc = rc < 0 ? rc : runs_open(&place, &runs, err);
    rc = rc < 0 ? rc : work_sessions_open(runs, WORK_SESSIONS_RUNNING, NULL, &sessions, err);
    if (rc < 0) {
        return rc;
    }
    const struct session *session = session_running(&sessions.list);
    if (session == NULL) {
        return 0;
    }
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
    clock_format_utc(look->since_utc_ns, &since);
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

static void start_command(const char *command, const sigset_t *mask, const struct look *look) {
    pid_t pid = fork();
    if (pid == 0) {
        become_command(command, mask, look);
    }
    if (pid < 0) {
        AUTO_FREE char *text =
            mem_printf(_("the command of --exec could not be started: %s"), strerror(errno));
        cli_warning(text);
    }
}

static void reap(void) {
    int status = 0;
    while (waitpid(-1, &status, WNOHANG) > 0) {
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            cli_warning(_("the command of --exec failed"));
        }
    }
}

/* ---- the loop ---- */

struct stretch { /* that was spoken about last */
    bool told;
    double since_s;
};

#define SAME_STRETCH_S 1.0

static void look_after(const struct session_watch *watch, const struct look *look,
                       struct stretch *stretch, const sigset_t *mask) {
    if (stretch->told && fabs(stretch->since_s - look->since_s) > SAME_STRETCH_S) {
        stretch->told = false; /* a run ran since */
    }
    if (stretch->told || look->idle_s < (double)watch->after_ns / (double)NS_PER_S) {
        return;
    }
    *stretch = (struct stretch){.told = true, .since_s = look->since_s};
    warn_idle(look);
    if (watch->command != NULL) {
        start_command(watch->command, mask, look);
    }
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

static int look_until(const struct session_watch *watch, const sigset_t *ending,
                      const sigset_t *mask, struct err *err) {
    struct stretch stretch = {0};
    char session[UUID_TEXT_SIZE] = "";
    for (bool first = true;; first = false) {
        struct look look;
        struct err one = ERR_INIT;
        int rc = take_look(&look, first ? err : &one);
        if (rc < 0 && first) {
            return rc;
        }
        if (rc < 0) {
            cli_warning(one.text); /* the next look may go well */
        } else if (look.session[0] == '\0' && first) {
            return err_set(err, -ENOENT, "session-none",
                           "no session runs on this machine: 'probelauf session start' begins one");
        } else if (look.session[0] == '\0' || (session[0] && strcmp(session, look.session) != 0)) {
            cli_note(_("the session is over: watching ends"));
            return 0;
        } else {
            memcpy(session, look.session, sizeof session);
            look_after(watch, &look, &stretch, mask);
        }
        reap();
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
    int rc = look_until(watch, &ending, &mask, err);
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    return rc;
}
