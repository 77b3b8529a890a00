/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tree that was there before: what counts from now on, whom a number names, what is lost when one
 * ends whom nobody of the tree waited for. */
#include "../base/testing.h"

#include "base/clock.h"
#include "exec/process.h"
#include "exec/tree.h"
#include "probe/procfs.h"

#include <sys/prctl.h>

/* The process that is attached to, with one child; each does a piece of work for every byte it gets
 * and ends at the end of its pipe. */
struct fixture {
    struct shared *shared;
    struct tree *tree;
    pid_t root, child;
    uint64_t start;
    int to_root, to_child, done;
};

#define WORK_MS    100
#define WORK_BYTES 50000

static void work(void) {
    static char block[WORK_BYTES];
    int64_t end_ns = clock_process_cpu_ns() + WORK_MS * NS_PER_MS;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    (void)!write(null, block, sizeof block);
    close(null);
    while (clock_process_cpu_ns() < end_ns)
        ;
}

static void obey(int in, int done) {
    char byte;
    while (read(in, &byte, 1) == 1) {
        work();
        (void)!write(done, "x", 1);
    }
}

static void run_root(int root[2], int child[2], int done) {
    close(root[1]);
    pid_t pid = fork();
    if (pid == 0) {
        close(child[1]);
        obey(child[0], done);
        _exit(0);
    }
    close(child[1]);
    (void)!write(done, &pid, sizeof pid);
    obey(root[0], done);
    _exit(0); /* does not wait for the child */
}

static int setup(void **state) {
    struct fixture *fixture = mem_alloc(sizeof *fixture);
    int root[2], child[2], done[2];
    struct proc_stat stat;
    *state = fixture;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    assert_int_equal(pipe2(root, O_CLOEXEC) | pipe2(child, O_CLOEXEC) | pipe2(done, O_CLOEXEC), 0);
    fixture->root = fork();
    if (fixture->root == 0)
        run_root(root, child, done[1]);
    close(root[0]);
    close(child[0]);
    fixture->to_root = root[1];
    fixture->to_child = child[1];
    fixture->done = done[0];
    assert_int_equal(read(done[0], &fixture->child, sizeof fixture->child), sizeof fixture->child);
    close(done[1]);
    assert_int_equal(procfs_stat(&root_real, fixture->root, &stat), 0);
    fixture->start = stat.start;
    fixture->shared = shared_new();
    fixture->tree = tree_new(fixture->shared);
    atomic_store(&fixture->shared->launched, true);
    return 0;
}

static int teardown(void **state) {
    struct fixture *fixture = *state;
    close(fixture->to_root);
    close(fixture->to_child);
    while (waitpid(-1, NULL, 0) > 0)
        ;
    close(fixture->done);
    tree_free(fixture->tree);
    shared_free(fixture->shared);
    free(fixture);
    return 0;
}

static void let_work(const struct fixture *fixture, int fd) {
    char byte;
    assert_int_equal(write(fd, "w", 1), 1);
    assert_int_equal(read(fixture->done, &byte, 1), 1);
}

static void attach(struct fixture *fixture) {
    tree_attach(fixture->tree, fixture->root, fixture->start, clock_now().boot_ns);
}

static struct shared_counters look(struct fixture *fixture) {
    struct shared_tick tick;
    struct shared_counters counters;
    tree_look(fixture->tree, 1, &tick);
    assert_true(shared_get_counters(fixture->shared, &counters));
    return counters;
}

/* We are the parent of the one, and of orphans: both times nobody of the tree. */
static void end(struct fixture *fixture, int *fd, pid_t pid) {
    close(*fd);
    *fd = -1;
    (void)fixture;
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void assert_work(const struct shared_counters *counters, int64_t pieces) {
    assert_true(counters->cpu_ns >= pieces * WORK_MS * NS_PER_MS - 30 * NS_PER_MS);
    assert_true(counters->cpu_ns < (pieces + 1) * WORK_MS * NS_PER_MS);
    assert_int_equal(counters->io.written_chars - counters->io.written_chars % WORK_BYTES,
                     pieces * WORK_BYTES);
}

static void what_was_before_does_not_count(void **state) {
    struct fixture *fixture = *state;
    for (int i = 0; i < 3; i++)
        let_work(fixture, i < 2 ? fixture->to_root : fixture->to_child);
    attach(fixture);
    struct shared_counters counters = look(fixture);
    assert_int_equal(counters.cpu_ns, 0);
    assert_int_equal(counters.io.written_chars, 0);
    assert_int_equal(tree_count(fixture->tree), 2);
    let_work(fixture, fixture->to_root);
    let_work(fixture, fixture->to_child);
    counters = look(fixture);
    assert_work(&counters, 2);
    assert_int_equal(counters.processes_seen, 2);
    assert_false(counters.unreaped);
    assert_false(tree_is_empty(fixture->tree));
}

static void a_number_is_not_a_process(void **state) {
    struct fixture *fixture = *state;
    tree_attach(fixture->tree, fixture->root, fixture->start + 1, clock_now().boot_ns);
    look(fixture);
    assert_int_equal(tree_count(fixture->tree), 0);
    assert_true(tree_is_empty(fixture->tree));
    struct exec_process process = {.pid = fixture->root, .start = fixture->start, .pidfd = -1};
    assert_false(exec_process_has_ended(&process));
    process.start++;
    assert_true(exec_process_has_ended(&process));
}

static void whoever_was_seen_stays(void **state) {
    struct fixture *fixture = *state;
    attach(fixture);
    look(fixture);
    let_work(fixture, fixture->to_root);
    look(fixture);
    end(fixture, &fixture->to_root, fixture->root);
    assert_false(tree_is_empty(fixture->tree));
    let_work(fixture, fixture->to_child);
    struct shared_counters counters = look(fixture);
    assert_true(tree_contains(fixture->tree, fixture->child));
    assert_false(tree_contains(fixture->tree, fixture->root));
    assert_work(&counters, 2); /* what the one had done is kept, what the other does is added */
    assert_true(counters.unreaped);
    end(fixture, &fixture->to_child, fixture->child);
    assert_true(tree_is_empty(fixture->tree));
    counters = look(fixture);
    assert_work(&counters, 2);
    assert_int_equal(tree_count(fixture->tree), 0);
}

/* Nobody was there at the last look whom the new ones could be children of. */
static void later_children_count_in_full(void **state) {
    struct fixture *fixture = *state;
    let_work(fixture, fixture->to_child);
    attach(fixture);
    look(fixture);
    pid_t stranger = fork(); /* a sibling is not of the tree */
    if (stranger == 0) {
        work();
        pause();
    }
    let_work(fixture, fixture->to_child);
    struct shared_counters counters = look(fixture);
    assert_work(&counters, 1);
    assert_false(tree_contains(fixture->tree, stranger));
    kill(stranger, SIGKILL);
}

static void a_zombie_is_nobody(void **state) {
    struct fixture *fixture = *state;
    attach(fixture);
    look(fixture);
    close(fixture->to_child);
    close(fixture->to_root);
    fixture->to_child = fixture->to_root = -1;
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)fixture->root, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(waitid(P_PID, (id_t)fixture->child, &info, WEXITED | WNOWAIT), 0);
    assert_true(tree_is_empty(fixture->tree));
    look(fixture);
    pid_t pid;
    uint64_t start;
    for (size_t i = 0; i < tree_count(fixture->tree); i++)
        assert_null(tree_process(fixture->tree, i, &pid, &start));
    struct err err = ERR_INIT;
    struct exec_process *process = NULL;
    assert_true(exec_process_open(fixture->root, &process, &err) < 0);
    assert_string_equal(err.id, "attach-ended");
}

static void what_is_told_of_a_process(void **state) {
    struct fixture *fixture = *state;
    struct err err = ERR_INIT;
    struct exec_process *process = NULL;
    assert_int_equal(exec_process_open(fixture->root, &process, &err), 0);
    assert_int_equal(process->start, fixture->start);
    assert_non_null(exec_process_argv(process)[0]);
    char *cwd = getcwd(NULL, 0);
    assert_string_equal(exec_process_cwd(process), cwd);
    free(cwd);
    assert_non_null(process->environment);
    assert_false(exec_process_has_ended(process));
    end(fixture, &fixture->to_root, fixture->root);
    assert_true(exec_process_has_ended(process));
    exec_process_free(process);
    err_clear(&err);
    assert_true(exec_process_open(getpid(), &process, &err) < 0);
    assert_string_equal(err.id, "attach-ancestor");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_before_does_not_count, setup, teardown),
        cmocka_unit_test_setup_teardown(a_number_is_not_a_process, setup, teardown),
        cmocka_unit_test_setup_teardown(whoever_was_seen_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(later_children_count_in_full, setup, teardown),
        cmocka_unit_test_setup_teardown(a_zombie_is_nobody, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_told_of_a_process, setup, teardown),
    };
    alarm(120); /* the processes of a test that failed may wait for each other */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
