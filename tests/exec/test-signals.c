/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which signals are passed on, and that the command starts with the signal state we were given. */
#include "../base/testing.h"

#include "exec/command.h"
#include "exec/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>

static bool forwards(int number, int code, bool ours) {
    struct signalfd_siginfo info = {
        .ssi_signo = (uint32_t)number, .ssi_code = code, .ssi_pid = 4711};
    return signals_must_forward(&info, ours);
}

static void the_table(void **state) {
    (void)state;
    static const int from_people[] = {SIGTERM, SIGHUP,  SIGINT,  SIGQUIT, SIGUSR1,
                                      SIGUSR2, SIGCONT, SIGTSTP, SIGALRM};
    for (size_t i = 0; i < ARRAY_LENGTH(from_people); i++) {
        assert_true(forwards(from_people[i], SI_USER, false));
        assert_false(forwards(from_people[i], SI_USER, true));
    }
    /* The terminal sends these to the whole foreground group. */
    assert_false(forwards(SIGINT, SI_KERNEL, false));
    assert_false(forwards(SIGQUIT, SI_KERNEL, false));
    assert_false(forwards(SIGTSTP, SI_KERNEL, false));
    /* A timer set before our start is ours alone. */
    assert_true(forwards(SIGALRM, SI_KERNEL, false));
    assert_int_equal(forwards(SIGHUP, SI_KERNEL, false), getsid(0) == getpid());
    assert_false(forwards(SIGCHLD, SI_USER, false));
    assert_false(forwards(SIGWINCH, SI_USER, false));
}

static void taken_and_given_back(void **state) {
    (void)state;
    sigset_t before, after;
    struct sigaction chld = {.sa_handler = SIG_IGN}, now;
    sigaction(SIGCHLD, &chld, NULL);
    sigprocmask(SIG_SETMASK, NULL, &before);
    struct signals signals;
    assert_int_equal(signals_take_over(&signals), 0);
    assert_true(signals.chld_changed);
    sigaction(SIGCHLD, NULL, &now);
    assert_ptr_equal(now.sa_handler, SIG_DFL);
    raise(SIGTERM); /* would end us */
    struct signalfd_siginfo info;
    assert_int_equal(signals_next(&signals, &info), 1);
    assert_int_equal(info.ssi_signo, SIGTERM);
    assert_int_equal(signals_next(&signals, &info), 0);
    signals_give_back(&signals);
    sigprocmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(sigismember(&after, SIGTERM), sigismember(&before, SIGTERM));
    sigaction(SIGCHLD, NULL, &now);
    assert_ptr_equal(now.sa_handler, SIG_IGN);
    chld.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &chld, NULL);
}

/* Starts `argv` and returns its wait status; *ret_errno is what exec reported. */
static int launch(const char *const *argv, int group_fd, int *ret_errno, int64_t *ret_floor) {
    static const int inherited[] = {-1, -1, -1};
    _Atomic int64_t *told =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(told != MAP_FAILED);
    struct signals signals = {.fd = -1};
    sigprocmask(SIG_SETMASK, NULL, &signals.original_mask);
    struct command_spec spec = {.argv = argv,
                                .environment = environ,
                                .child_fd = inherited,
                                .join_fd = -1,
                                .group_fd = group_fd,
                                .signals = &signals,
                                .rss_floor_bytes = &told[0],
                                .setup_chars = &told[1]};
    int exec_fd = -1, status = 0;
    pid_t pid = command_fork(&spec, &exec_fd);
    assert_true(pid > 0);
    *ret_errno = 0;
    assert_true(read(exec_fd, ret_errno, sizeof *ret_errno) >= 0);
    close(exec_fd);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    *ret_floor = atomic_load(&told[0]);
    munmap(told, 4096);
    return status;
}

static void exec_reports_what_went_wrong(void **state) {
    const char *folder = *state;
    int error;
    int64_t floor;
    const char *missing[] = {"/nonexistent/x", NULL};
    int status = launch(missing, -1, &error, &floor);
    assert_int_equal(error, ENOENT);
    assert_int_equal(WEXITSTATUS(status), 127);
    const char *is_folder[] = {folder, NULL};
    status = launch(is_folder, -1, &error, &floor);
    assert_int_equal(error, EACCES);
    assert_int_equal(WEXITSTATUS(status), 126);
    const char *fine[] = {"sh", "-c", "exit 5", NULL};
    status = launch(fine, -1, &error, &floor);
    assert_int_equal(error, 0);
    assert_int_equal(WEXITSTATUS(status), 5);
}

/* ru_maxrss of the command begins with its size before exec: a large parent must show in the floor,
 * or `true` would show the parent. */
static void the_floor_grows_with_us(void **state) {
    (void)state;
    const char *fine[] = {"true", NULL};
    int error;
    int64_t small, large;
    launch(fine, -1, &error, &small);
    size_t bytes = 64u << 20;
    volatile char *memory = malloc(bytes); /* volatile: or the compiler leaves it out */
    for (size_t i = 0; i < bytes; i += 4096)
        memory[i] = 1;
    launch(fine, -1, &error, &large);
    assert_true(small > 0);
    assert_true(large - small > (int64_t)bytes / 2);
    free((void *)(uintptr_t)memory);
}

/* A group of the v2 hierarchy, where one can be made (no controller is needed to be inside). */
static void born_into_a_group(void **state) {
    (void)state;
    static const char *const mounts[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
    char path[256] = "", procs[300];
    for (size_t i = 0; i < ARRAY_LENGTH(mounts) && path[0] == '\0'; i++) {
        snprintf(procs, sizeof procs, "%s/cgroup.controllers", mounts[i]);
        snprintf(path, sizeof path, "%s/probelauf-unit-%d", mounts[i], (int)getpid());
        if (access(procs, F_OK) < 0 || mkdir(path, 0755) < 0)
            path[0] = '\0';
    }
    if (path[0] == '\0')
        skip();
    int group_fd = open(path, O_PATH | O_DIRECTORY);
    char script[512];
    snprintf(script, sizeof script, "grep -q '^0::.*/%s$' /proc/self/cgroup",
             strrchr(path, '/') + 1);
    const char *argv[] = {"sh", "-c", script, NULL};
    int error;
    int64_t floor;
    int status = launch(argv, group_fd, &error, &floor);
    close(group_fd);
    rmdir(path);
    assert_int_equal(status, 0);
}

static void environment_of_the_command(void **state) {
    (void)state;
    char *given[] = {(char[]){"A=1"},
                     (char[]){"PROBELAUF=other"},
                     (char[]){"PROBELAUF_MARKS=/outer"},
                     (char[]){"PROBELAUF_RUN=outer"},
                     (char[]){"PROBELAUF_RUNNER=kept"},
                     NULL};
    char **made = command_environment(given, "inner", "/inner.marks", NULL);
    assert_string_equal(made[0], "PROBELAUF_RUN=inner");
    assert_string_equal(made[1], "PROBELAUF_MARKS=/inner.marks");
    char path[PATH_MAX] = "PROBELAUF=";
    size_t head = strlen(path);
    assert_true(readlink("/proc/self/exe", path + head, sizeof path - head - 1) > 0);
    assert_string_equal(made[2], path);
    assert_string_equal(made[3], "A=1");
    assert_string_equal(made[4], "PROBELAUF_RUNNER=kept");
    assert_null(made[5]);
    command_environment_free(made);
    made = command_environment(given, "inner", NULL, NULL);
    assert_string_equal(made[1], "PROBELAUF_MARKS="); /* nothing goes to the outer run */
    command_environment_free(made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table),
        cmocka_unit_test(taken_and_given_back),
        cmocka_unit_test_setup_teardown(exec_reports_what_went_wrong, folder_setup,
                                        folder_teardown),
        cmocka_unit_test(the_floor_grows_with_us),
        cmocka_unit_test(born_into_a_group),
        cmocka_unit_test(environment_of_the_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
