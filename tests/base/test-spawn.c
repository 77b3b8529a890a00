/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A helper program: output, limits, deadline, and that nothing of it or of us is left on the other
 * side. */
#include "testing.h"

#include "base/clock.h"
#include "base/spawn.h"
#include "base/str.h"

#include <errno.h>
#include <sys/prctl.h>

#define LONG_NS  (60 * NS_PER_S)
#define SHORT_NS (300 * NS_PER_MS)

struct outcome {
    int rc;
    struct spawn_result result;
    struct err err;
    char *text; /* owned */
};

static void outcome_done(struct outcome *outcome) {
    free(outcome->text);
}
#define AUTO_OUTCOME __attribute__((cleanup(outcome_done)))

static struct outcome run_shell(const char *script, int64_t timeout_ns, size_t limit) {
    const char *const argv[] = {"sh", "-c", script, NULL};
    struct outcome outcome = {0};
    struct strbuf out = STRBUF_INIT;
    outcome.rc =
        spawn_capture(argv, NULL, NULL, timeout_ns, limit, &out, &outcome.result, &outcome.err);
    outcome.text = strbuf_take(&out);
    return outcome;
}

static void assert_no_child_left(void) {
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void test_output_and_status(void **state) {
    (void)state;
    AUTO_OUTCOME struct outcome run = run_shell("echo out; echo err >&2; exit 3", LONG_NS, 100);
    assert_int_equal(run.rc, 0);
    assert_string_equal(run.text, "out\n");
    assert_int_equal(run.result.status, 3);
    assert_int_equal(run.result.timed_out, 0);
    assert_int_equal(run.result.truncated, 0);
    assert_no_child_left();
}

static void test_end_by_a_signal(void **state) {
    (void)state;
    AUTO_OUTCOME struct outcome run = run_shell("kill -9 $$", LONG_NS, 100);
    assert_int_equal(run.rc, 0);
    assert_int_equal(run.result.status, -1);
    assert_int_equal(run.result.timed_out, 0);
}

static void test_output_limit(void **state) {
    (void)state;
    AUTO_OUTCOME struct outcome run =
        run_shell("head -c 300000 /dev/zero | tr '\\0' x; exit 5", LONG_NS, 100000);
    assert_int_equal(strlen(run.text), 100000);
    assert_int_equal(run.result.truncated, 1);
    assert_int_equal(run.result.status, 5); /* it could write all of it */
    AUTO_OUTCOME struct outcome exact = run_shell("printf 12345", LONG_NS, 5);
    assert_string_equal(exact.text, "12345");
    assert_int_equal(exact.result.truncated, 0);
}

static void test_deadline_ends_the_whole_group(void **state) {
    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0); /* orphans come to us */
    AUTO_OUTCOME struct outcome run = run_shell("sleep 1000 & echo $!; wait", SHORT_NS, 100);
    assert_int_equal(run.rc, 0);
    assert_int_equal(run.result.timed_out, 1);
    assert_int_equal(run.result.status, -1);
    int status;
    int64_t pid;
    assert_true(str_ends_with(run.text, "\n"));
    run.text[strlen(run.text) - 1] = '\0';
    assert_int_equal(str_to_i64(run.text, &pid), 0);
    assert_int_equal(waitpid((pid_t)pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGKILL);
    assert_no_child_left();
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0), 0);
}

static void test_deadline_although_output_never_stops(void **state) {
    (void)state;
    AUTO_OUTCOME struct outcome run = run_shell("exec yes", SHORT_NS, 1000);
    assert_int_equal(run.result.timed_out, 1);
    assert_int_equal(run.result.truncated, 1);
    assert_int_equal(strlen(run.text), 1000);
    assert_no_child_left();
}

static void test_deadline_although_output_is_closed(void **state) {
    (void)state;
    AUTO_OUTCOME struct outcome run = run_shell("exec >&-; kill -STOP $$", SHORT_NS, 1000);
    assert_int_equal(run.result.timed_out, 1);
    assert_no_child_left();
}

static void test_a_grandchild_with_the_pipe_is_not_waited_for(void **state) {
    (void)state;
    int64_t before_ns = clock_mono_ns();
    AUTO_OUTCOME struct outcome run = run_shell("sleep 1000 & echo $!", LONG_NS, 100);
    assert_int_equal(run.result.status, 0);
    assert_int_equal(run.result.timed_out, 0);
    assert_true(clock_mono_ns() - before_ns < LONG_NS); /* it did not take the deadline */
    int64_t pid;
    run.text[strlen(run.text) - 1] = '\0';
    assert_int_equal(str_to_i64(run.text, &pid), 0);
    kill((pid_t)pid, SIGKILL);
}

static struct outcome run_program(const char *const argv[], const char *const env[],
                                  const char *cwd) {
    struct outcome outcome = {0};
    struct strbuf out = STRBUF_INIT;
    outcome.rc =
        spawn_capture(argv, env, cwd, LONG_NS, 100000, &out, &outcome.result, &outcome.err);
    outcome.text = strbuf_take(&out);
    return outcome;
}

/* Without a shell between: dash clears its signal mask by itself. */
static void test_signals_are_reset(void **state) {
    (void)state;
    sigset_t blocked, old;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGCHLD);
    assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, &old), 0);
    signal(SIGPIPE, SIG_IGN);
    const char *const argv[] = {"grep", "-E", "Sig(Blk|Ign)", "/proc/self/status", NULL};
    AUTO_OUTCOME struct outcome run = run_program(argv, NULL, NULL);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &old, NULL);
    unsigned long long mask, ignored;
    assert_int_equal(sscanf(run.text, "SigBlk: %llx SigIgn: %llx", &mask, &ignored), 2);
    assert_int_equal(mask, 0);
    /* signals 32 and 33 are the C library's own: nobody can set them */
    assert_int_equal(ignored & ~0x180000000ULL, 0);
}

static void test_descriptors_are_closed(void **state) {
    (void)state;
    int leak = fcntl(STDERR_FILENO, F_DUPFD, 40); /* not close-on-exec */
    assert_true(leak >= 40);
    AUTO_FREE char *script =
        mem_printf("[ -e /proc/self/fd/%d ] && echo leak; readlink /proc/self/fd/0", leak);
    AUTO_OUTCOME struct outcome run = run_shell(script, LONG_NS, 1000);
    close(leak);
    assert_string_equal(run.text, "/dev/null\n");
}

static size_t count_lines(const char *text, const char *line) {
    size_t count = 0, length = strlen(line);
    for (const char *at = text; (at = strstr(at, line)) != NULL; at += length)
        count += (at == text || at[-1] == '\n') && at[length] == '\n';
    return count;
}

static void test_environment_and_folder(void **state) {
    (void)state;
    setenv("PLTEST_KEPT", "kept", 1);
    setenv("PLTEST_REPLACED", "old", 1);
    setenv("PLTEST_REPLACED_NOT", "other", 1);
    const char *const extra[] = {"PLTEST_REPLACED=new", "PLTEST_ADDED=a=b", NULL};
    const char *const argv[] = {"env", NULL};
    AUTO_OUTCOME struct outcome run = run_program(argv, extra, NULL);
    assert_int_equal(run.result.status, 0);
    assert_int_equal(count_lines(run.text, "PLTEST_KEPT=kept"), 1);
    assert_int_equal(count_lines(run.text, "PLTEST_REPLACED=new"), 1);
    assert_int_equal(count_lines(run.text, "PLTEST_REPLACED=old"), 0);
    assert_int_equal(count_lines(run.text, "PLTEST_REPLACED_NOT=other"), 1);
    assert_int_equal(count_lines(run.text, "PLTEST_ADDED=a=b"), 1);
    const char *const pwd[] = {"pwd", "-P", NULL};
    AUTO_OUTCOME struct outcome there = run_program(pwd, NULL, "/proc");
    assert_string_equal(there.text, "/proc\n");
}

static void test_what_cannot_be_started(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    struct spawn_result result = {.status = 77};
    struct err err = ERR_INIT;
    const char *const missing[] = {"probelauf-no-such-program", NULL};
    assert_int_equal(spawn_capture(missing, NULL, NULL, LONG_NS, 10, &out, &result, &err), -ENOENT);
    assert_string_equal(err.id, "program-start");
    const char *const folder[] = {"/proc", NULL};
    assert_int_equal(spawn_capture(folder, NULL, NULL, LONG_NS, 10, &out, &result, &err), -EACCES);
    const char *const good[] = {"true", NULL};
    assert_int_equal(spawn_capture(good, NULL, "/no/such/folder", LONG_NS, 10, &out, &result, &err),
                     -ENOTDIR);
    assert_string_equal(err.id, "program-folder");
    assert_int_equal(result.status, 77); /* untouched */
    assert_no_child_left();
}

static void test_when_the_kernel_reaps_for_us(void **state) {
    (void)state;
    signal(SIGCHLD, SIG_IGN); /* inherited from a careless parent */
    AUTO_OUTCOME struct outcome run = run_shell("echo x; exit 3", LONG_NS, 100);
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(run.rc, 0);
    assert_string_equal(run.text, "x\n");
    assert_int_equal(run.result.status, -1); /* lost, and not said to be 0 */
}

static void without_standard_streams(const void *argument) {
    (void)argument;
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    close(STDERR_FILENO);
    const char *const argv[] = {"sh", "-c", "pwd; cat; pwd", NULL};
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    struct spawn_result result;
    struct err err = ERR_INIT;
    int rc = spawn_capture(argv, NULL, "/proc", LONG_NS, 100, &out, &result, &err);
    _exit(rc == 0 && strcmp(strbuf_str(&out), "/proc\n/proc\n") == 0 ? 42 : 1);
}

static void test_started_without_standard_streams(void **state) {
    (void)state;
    char said[256];
    int status = run_in_child(without_standard_streams, NULL, said);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_and_status),
        cmocka_unit_test(test_end_by_a_signal),
        cmocka_unit_test(test_output_limit),
        cmocka_unit_test(test_deadline_ends_the_whole_group),
        cmocka_unit_test(test_deadline_although_output_never_stops),
        cmocka_unit_test(test_deadline_although_output_is_closed),
        cmocka_unit_test(test_a_grandchild_with_the_pipe_is_not_waited_for),
        cmocka_unit_test(test_signals_are_reset),
        cmocka_unit_test(test_descriptors_are_closed),
        cmocka_unit_test(test_environment_and_folder),
        cmocka_unit_test(test_what_cannot_be_started),
        cmocka_unit_test(test_when_the_kernel_reaps_for_us),
        cmocka_unit_test(test_started_without_standard_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
