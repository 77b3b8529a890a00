/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exec_run: the order of steps of one measured attempt. What fails before the command starts is our
 * own failure (125); what fails afterwards never reaches the command. */
#include "exec/exec.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/msg.h"
#include "exec/expect.h"
#include "exec/helper.h"
#include "exec/monitor.h"
#include "exec/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_OWN_FAILURE 125
#define STATUS_BUDGET      124
#define LAST_WORK_MS       10000 /* as process 1, whose end ends all others; and between attempts */
#define LOOK_AGAIN_MS      5     /* where the kernel cannot tell of an end */

struct run_parts {
    struct shared *shared;
    struct tree *tree;
    struct expectations *expectations;
    struct pattern_set *patterns;
    struct streams streams;
    struct signals signals;
    int was_subreaper;
    bool made_subreaper;
};

static int make_patterns(const struct exec_options *options, struct pattern_set **ret,
                         struct err *err) {
    if (options->pattern_count == 0)
        return 0;
    struct pattern_set *set = pattern_set_new();
    for (size_t i = 0; i < options->pattern_count; i++) {
        int rc = pattern_set_add(set, options->patterns[i].phase, "begin",
                                 options->patterns[i].regex, err);
        if (rc < 0) {
            pattern_set_free(set);
            return rc;
        }
    }
    *ret = set;
    return 0;
}

/* A spec that can never give a value is a mistake of the caller's, like a pattern. */
static int check_results(const struct exec_options *options, struct err *err) {
    for (size_t i = 0; i < options->result_count; i++) {
        int rc = extract_check(&options->results[i].spec, err);
        if (rc < 0)
            return err_add(err, rc, "result '%s'", options->results[i].name);
    }
    return 0;
}

/* Everything that can be refused, and all memory the loop needs, before anything is started. */
static int prepare(const struct exec_options *options, struct run_parts *parts, struct err *err) {
    int rc = expectations_new(options->expect, &parts->expectations, err);
    if (rc == 0)
        rc = make_patterns(options, &parts->patterns, err);
    if (rc == 0)
        rc = check_results(options, err);
    if (rc == 0 && options->ready != NULL)
        rc = exec_check_ready(options->ready, err);
    if (rc < 0)
        return rc;
    parts->shared = shared_new();
    if (parts->shared == NULL)
        return err_set(err, -ENOMEM, "run-memory", "not enough memory to measure");
    parts->tree = tree_new(parts->shared);
    rc = signals_take_over(&parts->signals);
    if (rc < 0)
        return err_set(err, rc, "run-signals", "cannot take over signals: %s", strerror(-rc));
    if (options->process != NULL) {
        streams_open(&parts->streams, EXEC_TEE_NONE, parts->shared->streams);
        exec_process_streams(options->process, parts->shared->streams);
        return 0;
    }
    prctl(PR_GET_CHILD_SUBREAPER, &parts->was_subreaper);
    parts->made_subreaper = prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
    streams_open(&parts->streams, options->tee, parts->shared->streams);
    tree_begin(parts->tree, options->earlier_recorder);
    return 0;
}

static void give_back(struct run_parts *parts) {
    if (parts->made_subreaper)
        prctl(PR_SET_CHILD_SUBREAPER, parts->was_subreaper);
    streams_done(&parts->streams);
    signals_give_back(&parts->signals);
    tree_free(parts->tree);
    pattern_set_free(parts->patterns);
    expectations_free(parts->expectations);
    shared_free(parts->shared);
}

static int status_of(const struct monitor *monitor) {
    if (monitor->options->attach != 0)
        return 0; /* watched as asked; how it ended is not visible */
    if (monitor->start_errno != 0)
        return monitor->start_errno == ENOENT ? 127 : 126;
    if (monitor->budget_hit)
        return STATUS_BUDGET;
    return monitor->has_exit_code ? monitor->exit_code : 128 + monitor->signal;
}

static void say(struct exec_result *result, const char *text) {
    size_t used = strlen(result->warning);
    snprintf(result->warning + used, sizeof result->warning - used, "%s%s", used > 0 ? "; " : "",
             text);
}

static void fill_warning(const struct monitor *monitor, struct exec_result *result) {
    const struct shared *shared = monitor->shared;
    char text[sizeof result->warning];
    if (monitor->start_errno != 0) {
        snprintf(text, sizeof text, _("cannot run '%s': %s"), monitor->options->argv[0],
                 strerror(monitor->start_errno));
        say(result, text);
    }
    int state = atomic_load(&shared->recorder_state);
    if (state == RECORDER_NO_PLACE) {
        snprintf(text, sizeof text, _("this run was not recorded: %s"), shared->trouble);
        say(result, text);
    } else if (state == RECORDER_UNSYNCED) {
        snprintf(text, sizeof text, _("the record of this run is not complete: %s"),
                 shared->trouble);
        say(result, text);
    } else if (state != RECORDER_ENDED) {
        say(result, _("the record of this run is still being written and follows"));
    } else if (atomic_load(&shared->second_place)) {
        snprintf(text, sizeof text, _("the record is kept in '%s' until it can be taken in: %s"),
                 shared->journal_path, shared->trouble);
        say(result, text);
    }
    for (size_t i = 0; i < SHARED_CHANNELS; i++)
        if (atomic_load(&shared->text[i].modes_changed)) {
            say(result,
                _("the command changes terminal modes; full-screen programs need '--tee none'"));
            break;
        }
}

static void fill_result(const struct monitor *monitor, bool recorded, struct exec_result *result) {
    result->status = status_of(monitor);
    bool stopped_by_user = monitor->stop_watching && monitor->interrupt_seen;
    if (monitor->signal == SIGINT || stopped_by_user ||
        (monitor->command_ended && monitor->leave_now && monitor->interrupt_seen))
        result->raise_signal = SIGINT;
    if (monitor->budget_hit)
        result->raise_signal = 0;
    result->recorded = recorded;
    snprintf(result->journal_path, sizeof result->journal_path, "%s",
             monitor->shared->journal_path);
    fill_warning(monitor, result);
}

static int start(struct monitor *monitor, struct err *err) {
    const struct shared *shared = monitor->shared;
    /* A command is run all the same; watching without a record would be for nothing. */
    if (monitor->options->attach != 0 && atomic_load(&shared->recorder_state) == RECORDER_NO_PLACE)
        return err_set(err, -EROFS, "attach-no-place", "nothing can be recorded: %s",
                       shared->trouble);
    int rc = monitor_start_target(monitor);
    if (rc < 0)
        return err_set(err, rc, "run-fork", "cannot start a process for the command: %s",
                       strerror(-rc));
    return 0;
}

int exec_run(const struct exec_options *options, struct exec_result *ret_result, struct err *err) {
    *ret_result = (struct exec_result){.status = STATUS_OWN_FAILURE, .release_fd = -1};
    struct run_parts parts = {.signals.fd = -1, .streams.bell = -1};
    int rc = prepare(options, &parts, err);
    if (rc < 0) {
        give_back(&parts);
        return rc;
    }
    const struct exec_process *process = options->process;
    struct recorder_context context = {.options = options,
                                       .streams = &parts.streams,
                                       .patterns = parts.patterns,
                                       .expectations = parts.expectations,
                                       .shared = parts.shared,
                                       .monitor = getpid(),
                                       .environment =
                                           process != NULL ? process->environment : environ,
                                       .cwd = process != NULL ? process->cwd : NULL,
                                       .bell = -1};
    struct monitor monitor = {.options = options,
                              .target = process != NULL ? &monitor_target_attached
                                                        : &monitor_target_command,
                              .shared = parts.shared,
                              .streams = &parts.streams,
                              .signals = &parts.signals,
                              .tree = parts.tree,
                              .recorder_context = &context};
    monitor_init(&monitor);
    monitor_start_helpers(&monitor);
    rc = start(&monitor, err);
    if (rc < 0) {
        fd_close_ptr(&monitor.recorder_bell); /* it takes its journal away again */
        give_back(&parts);
        return rc;
    }
    monitor_watch(&monitor);
    bool recorded = monitor_finish(&monitor);
    fill_result(&monitor, recorded, ret_result);
    ret_result->release_fd = monitor.recorder_bell;
    ret_result->recorder_pid = monitor.recorder;
    give_back(&parts);
    return 0;
}

void exec_release(struct exec_result *result) {
    if (result->release_fd <= STDERR_FILENO) /* zeroed, or closed */
        return;
    if (getpid() != 1) {
        fd_close_ptr(&result->release_fd);
        return;
    }
    /* In a container we may be process 1: when it ends the kernel ends the recorder too. It gets
     * the time to hand over. */
    shutdown(result->release_fd, SHUT_WR);
    struct pollfd watched = {result->release_fd, POLLIN, 0};
    int64_t deadline_ns = clock_mono_ns() + LAST_WORK_MS * NS_PER_MS;
    while (clock_mono_ns() < deadline_ns && helper_take_bells(result->release_fd))
        poll(&watched, 1, 100);
    fd_close_ptr(&result->release_fd);
}

pid_t exec_release_and_wait(struct exec_result *result) {
    exec_release(result);
    pid_t pid = result->recorder_pid;
    if (pid <= 0)
        return 0;
    AUTO_CLOSE int pidfd = pidfd_open(pid, 0);
    int64_t deadline_ns = clock_mono_ns() + LAST_WORK_MS * NS_PER_MS;
    for (;;) {
        pid_t reaped = waitpid(pid, NULL, WNOHANG);
        if (reaped == pid || (reaped < 0 && errno != EINTR)) {
            result->recorder_pid = 0;
            return 0;
        }
        int64_t rest_ms = (deadline_ns - clock_mono_ns()) / NS_PER_MS;
        if (rest_ms <= 0)
            return pid;
        struct pollfd watched = {pidfd, POLLIN, 0}; /* a negative one is skipped: only a pause */
        poll(&watched, 1, pidfd >= 0 ? (int)rest_ms : LOOK_AGAIN_MS);
    }
}
