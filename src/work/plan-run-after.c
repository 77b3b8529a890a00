/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a run has become, said right after it has ended. The ledger may be slow, locked or damaged,
 * and the record's last part is still being written: so a process of its own looks, and only for a
 * moment. Must not change what the command or `run` returns.
 */
#include "work/plan-run.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/msg.h"
#include "exec/helper.h"
#include "journal/journal.h"
#include "work/intake.h"
#include "work/runs.h"
#include "work/study.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_SECONDS 1
#define AGAIN_NS     (10 * NS_PER_MS)
#define SENTENCE_MAX 4096u

/* The environment of a short run is read when the run has ended: it is part of what is judged. */
static bool has_environment(const char *journal_path) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    struct journal_reader reader;
    struct journal_record record;
    struct err err = ERR_INIT;
    if (intake_read_file(journal_path, &bytes, &err) < 0 ||
        journal_reader_init(&reader, bytes.data, bytes.length, &err) < 0)
        return false;
    while (journal_reader_next(&reader, &record) > 0)
        if (record.kind == JOURNAL_ENVIRONMENT)
            return true;
    return false;
}

static const struct study_run *find(const struct study *study, const char *id) {
    for (size_t i = 0; i < study->run_count; i++)
        if (strcmp(study->runs[i].run->id, id) == 0)
            return &study->runs[i];
    return NULL;
}

/* In the looking process: nobody but it waits for any of this. */
static void look(const struct plan_run *run, const struct place *place, const char *run_id,
                 const char *journal_path, int out_fd) {
    while (!has_environment(journal_path))
        nanosleep(&(struct timespec){.tv_nsec = AGAIN_NS}, NULL);
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_WORK_STUDY struct work_study study = {0};
    struct err err = ERR_INIT;
    /* One that the plan does not have was warned of; the run itself tells what that means. */
    bool known =
        run->environment != NULL && plan_environment_find(run->plan, run->environment) != NULL;
    const struct work_study_options options = {.environment = known ? run->environment : NULL,
                                               .look_at_code = true};
    (void)unsetenv("PROBELAUF_ENV"); /* said already, as run->environment */
    if (runs_open(place, &runs, &err) < 0 ||
        work_study_open(run->plan, &options, runs, &study, &err) < 0)
        return;
    const struct study_run *found = find(&study.study, run_id);
    if (found == NULL)
        return;
    const char *sentence = study_run_sentence(&study.study, found, study.arena);
    (void)fd_write_full(out_fd, sentence, strlen(sentence));
}

static pid_t start(const struct plan_run *run, const struct place *place, const char *run_id,
                   const char *journal_path, int *ret_fd) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    pid_t pid = fork();
    if (pid == 0) {
        (void)alarm(LOOK_SECONDS + 1); /* also when nobody is there any more to end it */
        look(run, place, run_id, journal_path, ends[1]);
        helper_exit(0);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return pid;
    }
    *ret_fd = ends[0];
    return pid;
}

/* What comes within the time; the pipe ends when the sentence is complete. */
static bool wait_for(int fd, struct strbuf *sentence) {
    int64_t deadline_ns = clock_mono_ns() + LOOK_SECONDS * NS_PER_S;
    char piece[SENTENCE_MAX];
    for (;;) {
        int64_t rest_ms = (deadline_ns - clock_mono_ns()) / NS_PER_MS;
        struct pollfd watched = {fd, POLLIN, 0};
        int ready = rest_ms > 0 ? poll(&watched, 1, (int)rest_ms) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        ssize_t got = ready > 0 ? read(fd, piece, sizeof piece) : -1;
        if (got <= 0 || sentence->length + (size_t)got > SENTENCE_MAX)
            return got == 0 && sentence->length > 0;
        strbuf_add(sentence, piece, (size_t)got);
    }
}

void plan_run_sentence(const struct plan_run *run, const struct place *place, const char *run_id,
                       const char *journal_path, struct strbuf *out) {
    AUTO_STRBUF struct strbuf sentence = STRBUF_INIT;
    AUTO_CLOSE int fd = -1;
    if (run->plan == NULL || run->plan->study.id == NULL || journal_path[0] == '\0')
        return;
    pid_t pid = start(run, place, run_id, journal_path, &fd);
    bool told = pid > 0 && wait_for(fd, &sentence);
    if (pid > 0) { /* what hangs in a file system that is gone is not waited for */
        kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, told ? 0 : WNOHANG);
    }
    strbuf_add_str(out, told ? strbuf_str(&sentence)
                             : _("what it counts for: see 'probelauf block list'"));
}
