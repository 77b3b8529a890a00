/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The real /proc: our own children, the high-water mark of one that allocated, the I/O of one that
 * wrote. */
#include "probe/procfs.h"

#include "probe/file-systems.h"
#include "tree.h"

struct child {
    pid_t pid;
    int ready, go; /* read one byte when it is ready; close to let it end */
};

/* Starts a child that runs `work`, says so and waits. */
static struct child child_start(void (*work)(const char *), const char *argument) {
    int ready[2], go[2];
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    assert_int_equal(pipe2(go, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char byte = 1;
        (void)close(go[1]);
        work(argument);
        _exit(write(ready[1], &byte, 1) == 1 && read(go[0], &byte, 1) == 0 ? 0 : 1);
    }
    (void)close(ready[1]);
    (void)close(go[0]);
    struct child child = {.pid = pid, .ready = ready[0], .go = go[1]};
    char byte;
    assert_int_equal(read(child.ready, &byte, 1), 1);
    return child;
}

static int child_end(struct child *child) {
    int status = -1;
    (void)close(child->go);
    (void)close(child->ready);
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    return status;
}

static void work_nothing(const char *argument) {
    (void)argument;
}

static void work_allocate(const char *argument) {
    (void)argument;
    size_t bytes = (size_t)64 << 20;
    volatile char *memory = malloc(bytes);
    for (size_t i = 0; memory != NULL && i < bytes; i += 4096) {
        memory[i] = 1;
    }
    free((char *)(uintptr_t)memory);
}

static void work_write(const char *path) {
    static char block[1 << 20];
    memset(block, 'x', sizeof block);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (int i = 0; i < 3 && fd >= 0; i++) {
        (void)fd_write_full(fd, block, sizeof block);
    }
    (void)fsync(fd);
    (void)close(fd);
}

static void work_fork(const char *argument) {
    (void)argument;
    if (fork() == 0) {
        (void)pause();
        _exit(0);
    }
}

static void test_self(void **state) {
    (void)state;
    struct proc_stat stat;
    struct proc_status status;
    assert_int_equal(procfs_stat(&root_real, getpid(), &stat), 0);
    assert_int_equal(stat.pid, getpid());
    assert_int_equal(stat.ppid, getppid());
    assert_true(stat.start > 0 && stat.rss_bytes > 0);
    assert_int_equal(procfs_status(&root_real, getpid(), &status), 0);
    assert_true(status.has_hwm && status.has_rss && status.has_sigign);
    assert_true(status.hwm_bytes >= status.rss_bytes);
}

static void test_children_and_their_children(void **state) {
    (void)state;
    struct child first = child_start(work_nothing, NULL), second = child_start(work_fork, NULL);
    pid_t pids[16];
    size_t total = 0;
    assert_int_equal(procfs_children(&root_real, getpid(), pids, 16, &total), 0);
    assert_int_equal(total, 2);
    bool truncated;
    size_t count = procfs_tree(&root_real, getpid(), NULL, 0, pids, 16, &truncated);
    assert_int_equal(count, 3);
    size_t without = procfs_tree(&root_real, getpid(), &second.pid, 1, pids, 16, &truncated);
    assert_int_equal(without, 1);
    assert_int_equal(pids[0], first.pid);
    assert_int_equal(procfs_children(&root_real, second.pid, pids, 16, &total), 0);
    assert_int_equal(total, 1);
    assert_int_equal(kill(pids[0], SIGKILL), 0);
    assert_int_equal(child_end(&second), 0); /* before the first, whose pipe it has inherited */
    assert_int_equal(child_end(&first), 0);
}

static void test_high_water_mark_outlives_the_memory(void **state) {
    (void)state;
    struct child child = child_start(work_allocate, NULL);
    struct proc_status status;
    assert_int_equal(procfs_status(&root_real, child.pid, &status), 0);
    assert_true(status.has_hwm);
    assert_true(status.hwm_bytes >= (64u << 20));
    assert_int_equal(child_end(&child), 0);
    struct proc_stat stat;
    assert_int_equal(procfs_stat(&root_real, child.pid, &stat), -ENOENT); /* reaped: gone */
}

static void test_io_of_a_writer(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    AUTO_FREE char *path = mem_printf("%s/out", base);
    struct child child = child_start(work_write, path);
    struct proc_io io, thread;
    int rc = procfs_io(&root_real, child.pid, &io);
    int rc_thread = procfs_thread_io(&root_real, child.pid, child.pid, &thread);
    assert_int_equal(child_end(&child), 0);
    if (rc == -ENOENT || rc == -EACCES) {
        skip(); /* a kernel without task I/O accounting, or a container that hides it */
    }
    assert_int_equal(rc, 0);
    assert_int_equal(rc_thread, 0);
    assert_true(io.written_chars >= (3u << 20) && io.written_chars < (4u << 20));
    assert_int_equal(thread.written_chars, io.written_chars);
    struct file_system fs;
    file_system_read(&root_real, base, &fs);
    if (strcmp(fs.type, "ext4") == 0 ||
        strcmp(fs.type, "xfs") == 0) { /* tmpfs writes to no storage */
        assert_true(io.written_bytes >= (3u << 20));
    }
}

static void test_pss_of_a_child(void **state) {
    (void)state;
    struct child child = child_start(work_allocate, NULL);
    struct proc_pss pss;
    int rc = procfs_pss(&root_real, child.pid, &pss);
    assert_int_equal(child_end(&child), 0);
    assert_int_equal(rc, 0);
    assert_true(pss.pss_bytes > 0);
    if (pss.has_parts) {
        assert_true(pss.anon_bytes + pss.file_bytes + pss.shmem_bytes <= pss.pss_bytes + 3 * 1024);
    }
}

static void test_zombie(void **state) {
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        _exit(0);
    }
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    struct proc_stat stat;
    struct proc_status status;
    struct proc_pss pss;
    assert_int_equal(procfs_stat(&root_real, pid, &stat), 0);
    assert_int_equal(stat.state, 'Z');
    assert_int_equal(procfs_status(&root_real, pid, &status), 0);
    assert_false(status.has_hwm || status.has_rss); /* absent, not zero */
    int rc = procfs_pss(&root_real, pid, &pss);
    assert_true(rc == -ESRCH || rc == -ENOENT || rc == -EACCES);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_self),
        cmocka_unit_test(test_children_and_their_children),
        cmocka_unit_test(test_high_water_mark_outlives_the_memory),
        cmocka_unit_test(test_io_of_a_writer),
        cmocka_unit_test(test_pss_of_a_child),
        cmocka_unit_test(test_zombie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
