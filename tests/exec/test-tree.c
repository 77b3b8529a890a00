/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree on real processes: what is accounted, what vanished unaccounted, whom a signal reaches.
 */
#include "../base/testing.h"

#include "exec/tree.h"

#include <errno.h>
#include <sys/prctl.h>
#include <time.h>

struct fixture {
    struct shared *shared;
    struct tree *tree;
};

static int setup(void **state) {
    struct fixture *fixture = mem_alloc(sizeof *fixture);
    *state = fixture;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fixture->shared = shared_new();
    fixture->tree = tree_new(fixture->shared);
    atomic_store(&fixture->shared->launched, true);
    tree_begin(fixture->tree, 0);
    return 0;
}

static int teardown(void **state) {
    struct fixture *fixture = *state;
    while (waitpid(-1, NULL, 0) > 0)
        ; /* orphans come to us */
    tree_free(fixture->tree);
    shared_free(fixture->shared);
    free(fixture);
    return 0;
}

static void pause_ms(long ms) {
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        ;
}

static void busy_ms(int64_t ms) {
    int64_t end_ns = clock_process_cpu_ns() + ms * NS_PER_MS;
    while (clock_process_cpu_ns() < end_ns)
        ;
}

/* Reaps one child as the monitor does. */
static int reap(struct fixture *fixture, pid_t pid) {
    struct tree_zombie zombie;
    struct rusage usage;
    siginfo_t info;
    int status;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    tree_zombie(fixture->tree, pid, &zombie);
    assert_int_equal(wait4(pid, &status, 0, &usage), pid);
    tree_reaped(fixture->tree, &zombie, &usage);
    return status;
}

static struct shared_counters look(struct fixture *fixture, struct shared_tick *ret_tick) {
    struct shared_tick tick;
    struct shared_counters counters;
    tree_look(fixture->tree, 1, ret_tick != NULL ? ret_tick : &tick);
    assert_true(shared_get_counters(fixture->shared, &counters));
    return counters;
}

static void io_and_time_of_a_reaped_child(void **state) {
    struct fixture *fixture = *state;
    assert_true(tree_is_empty(fixture->tree));
    int null = open("/dev/null", O_WRONLY);
    pid_t pid = fork();
    if (pid == 0) {
        static char block[100000];
        busy_ms(50);
        _exit(write(null, block, sizeof block) != sizeof block);
    }
    close(null);
    assert_false(tree_is_empty(fixture->tree));
    assert_int_equal(reap(fixture, pid), 0);
    assert_true(tree_is_empty(fixture->tree));
    struct shared_tick tick;
    struct shared_counters counters = look(fixture, &tick);
    assert_int_equal(counters.io.written_chars, 100000);
    assert_true(counters.cpu_ns >= 50 * NS_PER_MS);
    assert_int_equal(tick.value[TICK_PROCESSES], 0);
    assert_int_equal(tick.value[TICK_RSS_MAX_BYTES], SHARED_ABSENT); /* nobody there: open, not 0 */
    assert_int_equal(counters.processes_seen, 1);
    assert_false(counters.unreaped);
}

static void our_own_io_is_not_counted(void **state) {
    struct fixture *fixture = *state;
    static char block[50000];
    int null = open("/dev/null", O_WRONLY);
    assert_int_equal(write(null, block, sizeof block), sizeof block);
    close(null);
    struct shared_counters counters = look(fixture, NULL);
    assert_int_equal(counters.io.written_chars, 0);
}

/* A recorder of the attempt before that still works, and what it leaves behind. */
static void nothing_of_an_earlier_attempt_is_counted(void **state) {
    struct fixture *fixture = *state;
    int go[2], made[2], leave[2];
    assert_int_equal(pipe(go), 0);
    assert_int_equal(pipe(leave), 0);
    assert_int_equal(pipe(made), 0);
    pid_t earlier = fork();
    if (earlier == 0) {
        setsid();
        pid_t child = fork();
        char end;
        close(go[1]);
        close(leave[1]);
        if (child == 0) {
            static char block[60000];
            int null = open("/dev/null", O_WRONLY);
            ssize_t got = read(go[0], &end, 1); /* until the test lets it */
            busy_ms(30);
            _exit(got != 0 || write(null, block, sizeof block) != sizeof block);
        }
        ssize_t told = write(made[1], &child, sizeof child);
        _exit(told != sizeof child || read(leave[0], &end, 1) != 0);
    }
    pid_t orphan = 0;
    assert_int_equal(read(made[0], &orphan, sizeof orphan), sizeof orphan);
    tree_begin(fixture->tree, earlier);
    close(leave[1]);
    assert_int_equal(reap(fixture, earlier), 0);
    bool is_empty = tree_is_empty(fixture->tree); /* the orphan is there, and is not of the run */
    struct shared_tick tick;
    look(fixture, &tick);
    close(go[1]);
    assert_true(is_empty);
    assert_int_equal(tick.value[TICK_PROCESSES], 0);
    assert_int_equal(reap(fixture, orphan), 0);
    struct shared_counters counters = look(fixture, NULL);
    assert_int_equal(counters.processes_seen, 0);
    assert_int_equal(counters.cpu_ns, 0);
    assert_int_equal(counters.io.written_chars, 0);
    close(go[0]);
    close(leave[0]);
    close(made[0]);
    close(made[1]);
}

static void helpers_do_not_belong(void **state) {
    struct fixture *fixture = *state;
    int null = open("/dev/null", O_WRONLY);
    pid_t pid = fork();
    if (pid == 0) {
        static char block[70000];
        _exit(write(null, block, sizeof block) != sizeof block);
    }
    close(null);
    shared_add_helper(fixture->shared, pid);
    assert_true(tree_is_empty(fixture->tree));
    assert_int_equal(reap(fixture, pid), 0);
    struct shared_counters counters = look(fixture, NULL);
    assert_int_equal(counters.io.written_chars, 0);
    assert_int_equal(counters.cpu_ns, 0);
    assert_int_equal(counters.processes_seen, 0);
}

/* A parent and its child that nobody reaps: `prepare` says how. The child says when it has used its
 * time; each ends when its own end of `go` is closed. */
struct pair {
    pid_t parent;
    int go_parent, go_child, done;
};

static struct pair start_pair(void (*prepare)(void), int64_t busy) {
    int parent[2], child[2], done[2];
    char byte;
    assert_int_equal(pipe2(parent, O_CLOEXEC) | pipe2(child, O_CLOEXEC) | pipe2(done, O_CLOEXEC),
                     0);
    pid_t pid = fork();
    if (pid == 0) {
        close(parent[1]);
        prepare();
        if (fork() == 0) {
            close(child[1]);
            busy_ms(busy);
            (void)!write(done[1], "x", 1);
            (void)!read(child[0], &byte, 1);
            _exit(0);
        }
        close(child[1]);
        (void)!read(parent[0], &byte, 1);
        _exit(0);
    }
    close(parent[0]);
    close(child[0]);
    close(done[1]);
    struct pair pair = {pid, parent[1], child[1], done[0]};
    assert_int_equal(read(pair.done, &byte, 1), 1);
    return pair;
}

static void ignore_child_signals(void) {
    signal(SIGCHLD, SIG_IGN);
}

static void forget_children(void) {
    struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT};
    sigaction(SIGCHLD, &action, NULL);
}

static void ignored_sigchld_is_seen(void **state) {
    struct fixture *fixture = *state;
    struct pair pair = start_pair(ignore_child_signals, 0);
    assert_true(look(fixture, NULL).unreaped);
    close(pair.go_child);
    close(pair.go_parent);
    close(pair.done);
    reap(fixture, pair.parent);
}

/* SA_NOCLDWAIT does not show in /proc: the child's time is missing at its parent once it is gone.
 */
static void vanished_time_is_noticed(void **state) {
    struct fixture *fixture = *state;
    struct pair pair = start_pair(forget_children, 300);
    assert_false(look(fixture, NULL).unreaped);
    assert_int_equal(tree_count(fixture->tree), 2);
    close(pair.go_child);
    while (look(fixture, NULL).unreaped == false && tree_count(fixture->tree) == 2)
        pause_ms(10);
    assert_true(look(fixture, NULL).unreaped);
    assert_int_equal(tree_count(fixture->tree), 1);
    close(pair.go_parent);
    close(pair.done);
    reap(fixture, pair.parent);
}

static void time_that_was_waited_for_is_not_missed(void **state) {
    struct fixture *fixture = *state;
    int ready[2], go[2];
    assert_int_equal(pipe(ready) | pipe(go), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        close(go[1]);
        pid_t child = fork();
        if (child == 0) {
            busy_ms(300);
            (void)!write(ready[1], "x", 1);
            pause_ms(200);
            _exit(0);
        }
        waitpid(child, NULL, 0);
        (void)!write(ready[1], "y", 1);
        (void)!read(go[0], &byte, 1);
        _exit(0);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    look(fixture, NULL);
    assert_int_equal(tree_count(fixture->tree), 2);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    look(fixture, NULL);
    struct shared_counters counters = look(fixture, NULL);
    assert_false(counters.unreaped);
    assert_true(counters.cpu_ns >= 250 * NS_PER_MS);
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(go[i]);
    }
    reap(fixture, pid);
}

static void children_from_before_are_not_ours(void **state) {
    struct fixture *fixture = *state;
    pid_t before = fork();
    if (before == 0) {
        pause();
        _exit(0);
    }
    tree_begin(fixture->tree, 0);
    assert_true(tree_is_empty(fixture->tree));
    assert_int_equal(tree_signal(fixture->tree, SIGKILL), 0);
    look(fixture, NULL);
    assert_int_equal(tree_count(fixture->tree), 0);
    assert_int_equal(kill(before, 0), 0);
    kill(before, SIGKILL);
    reap(fixture, before);
    assert_int_equal(look(fixture, NULL).processes_seen, 0);
}

static void signals_reach_the_whole_tree(void **state) {
    struct fixture *fixture = *state;
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        if (fork() == 0) {
            setpgid(0, 0);
            (void)!write(ready[1], "x", 1);
            pause();
            _exit(0);
        }
        (void)!write(ready[1], "x", 1);
        pause();
        _exit(0);
    }
    char bytes[2];
    for (size_t got = 0; got < 2;)
        got += (size_t)read(ready[0], bytes, 2);
    assert_int_equal(tree_signal(fixture->tree, SIGKILL), 2);
    assert_int_equal(WTERMSIG(reap(fixture, pid)), SIGKILL);
    int status; /* the orphan has come to us */
    assert_true(waitpid(-1, &status, 0) > 0);
    assert_int_equal(WTERMSIG(status), SIGKILL);
    close(ready[0]);
    close(ready[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(io_and_time_of_a_reaped_child, setup, teardown),
        cmocka_unit_test_setup_teardown(our_own_io_is_not_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(helpers_do_not_belong, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_of_an_earlier_attempt_is_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(ignored_sigchld_is_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(vanished_time_is_noticed, setup, teardown),
        cmocka_unit_test_setup_teardown(time_that_was_waited_for_is_not_missed, setup, teardown),
        cmocka_unit_test_setup_teardown(children_from_before_are_not_ours, setup, teardown),
        cmocka_unit_test_setup_teardown(signals_reach_the_whole_tree, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
