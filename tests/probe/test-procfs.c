/* SPDX-License-Identifier: GPL-3.0-or-later */
/* procfs.h against written /proc trees: odd names, huge and hostile content, vanished processes,
 * kernels without files. */
#include "probe/procfs.h"

#include "base/strbuf.h"
#include "tree.h"

/* Fields 4 to 52 of a stat line; parent, times and start are given, the rest is filler. */
static void write_stat(const char *base, int pid, const char *comm, int ppid, int start) {
    AUTO_FREE char *path = mem_printf("/proc/%d/stat", pid);
    AUTO_FREE char *text = mem_printf(
        "%d (%s) S %d 7 7 34816 -1 4194304 500 9000 0 3 120 4 20 7 20 -5 3 0 %d 9000000 1200 "
        "18446744073709551615 1 1 0 0 0 0 0 0 65536 0 0 0 17 2 0 0 55 0 0 0 0 0 0 0 0 0 0\n",
        pid, comm, ppid, start);
    tree_write(base, path, text);
}

static void write_children(const char *base, int pid, int tid, const char *text) {
    AUTO_FREE char *path = mem_printf("/proc/%d/task/%d/children", pid, tid);
    tree_write(base, path, text);
}

static void test_stat_reads_each_figure(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    write_stat(base, 42, "python3", 7, 987654);
    struct proc_stat stat;
    assert_int_equal(procfs_stat(&root, 42, &stat), 0);
    uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    assert_int_equal(stat.pid, 42);
    assert_int_equal(stat.ppid, 7);
    assert_string_equal(stat.comm, "python3");
    assert_int_equal(stat.state, 'S');
    assert_int_equal(stat.start, 987654);
    assert_int_equal(stat.utime_ns, 120 * tick_ns);
    assert_int_equal(stat.stime_ns, 4 * tick_ns);
    assert_int_equal(stat.cutime_ns, 20 * tick_ns);
    assert_int_equal(stat.cstime_ns, 7 * tick_ns);
    assert_int_equal(stat.rss_bytes, 1200 * (uint64_t)sysconf(_SC_PAGESIZE));
    assert_int_equal(stat.blkio_ticks, 55);
}

static void test_stat_takes_any_name(void **state) {
    (void)state;
    static const char *const names[] = {
        "a b",       ") R 1 2", "(",    ")",        "))((",
        "x) S 1 (y", "",        "\n\t", "\xff\xfe", "kworker/u8:2-events_unbound-and-more"};
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        write_stat(base, 5, names[i], 4711, 99);
        struct proc_stat stat;
        assert_int_equal(procfs_stat(&root, 5, &stat), 0);
        assert_string_equal(stat.comm, names[i]);
        assert_int_equal(stat.ppid, 4711);
        assert_int_equal(stat.start, 99);
    }
    char longer[200];
    memset(longer, 'n', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    write_stat(base, 5, longer, 4711, 99);
    struct proc_stat stat;
    assert_int_equal(procfs_stat(&root, 5, &stat), 0);
    assert_int_equal(strlen(stat.comm), sizeof stat.comm - 1);
}

static void test_stat_refuses_what_is_no_stat(void **state) {
    (void)state;
    static const char *const texts[] = {
        "garbage",
        "\n",
        "42",
        "42 (x",
        "42 (x)",
        "42 (x) ",
        "42 (x) S",
        "42 (x) S 1 2 3",
        "43 (x) S 1 7 7 0 -1 0 0 0 0 0 1 1 1 1 20 0 1 0 5 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
        "0",
        /* a figure that does not fit, and one that is none */
        "42 (x) S 1 7 7 0 -1 0 0 0 0 0 99999999999999999999 1 1 1 20 0 1 0 5 0 5 0 0 0 0 0 0 0 0 0 "
        "0 0 0 0 0 0 0 0 0 0",
        "42 (x) S 1 7 7 0 -1 0 0 0 0 0 18446744073709551615 1 1 1 20 0 1 0 5 0 5 0 0 0 0 0 0 0 0 0 "
        "0 0 0 0 0 0 0 0 0 0",
        "42 (x) S 1 7 7 0 -1 0 0 0 0 0 x 1 1 1 20 0 1 0 5 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
        "0",
        "42 (x) S -1 7 7 0 -1 0 0 0 0 0 1 1 1 1 20 0 1 0 5 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
        "0",
        "42 (x) S 1 7 7 0 -1 0 0 0 0 0 1 1 1 1 20 0 1 0 5 0 -5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
        "0",
        "42 (x) S 1  7 7 0 -1 0 0 0 0 0 1 1 1 1 20 0 1 0 5 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
        "0",
    };
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        tree_write(base, "/proc/42/stat", texts[i]);
        struct proc_stat stat = {.pid = -7};
        assert_int_equal(procfs_stat(&root, 42, &stat), -EBADMSG);
        assert_int_equal(stat.pid, -7); /* untouched */
    }
    tree_write(base, "/proc/42/stat", "");
    struct proc_stat stat;
    assert_int_equal(procfs_stat(&root, 42, &stat), -ESRCH);
    assert_int_equal(procfs_stat(&root, 43, &stat), -ENOENT);
}

static void test_stat_survives_any_change_of_a_byte(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    static const char line[] = "42 (a) b) S 1 7 7 0 -1 0 0 0 0 0 1 1 1 1 20 0 1 0 5 0 5 0 0 0 0 0 "
                               "0 0 0 0 0 0 0 0 0 0 0 0 8\n";
    for (size_t i = 0; i < sizeof line - 1; i++) {
        for (int byte = 0; byte < 256; byte += 3) {
            char text[sizeof line];
            memcpy(text, line, sizeof line);
            text[i] = (char)byte;
            tree_write_bytes(base, "/proc/42/stat", text, sizeof line - 1);
            struct proc_stat stat;
            int rc = procfs_stat(&root, 42, &stat);
            assert_true(rc == 0 || rc == -EBADMSG);
        }
    }
    for (size_t length = 1; length + 3 < sizeof line;
         length++) { /* cut short: never a figure less */
        tree_write_bytes(base, "/proc/42/stat", line, length);
        struct proc_stat stat;
        assert_int_equal(procfs_stat(&root, 42, &stat), -EBADMSG);
    }
}

static void test_status_reads_behind_a_huge_line(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, "Name:\tx\nPid:\t9\nGroups:\t");
    for (int i = 0; i < 40000; i++) {
        strbuf_printf(&text, "%d ", 100000 + i);
    }
    strbuf_add_str(&text, "\nVmPeak:\t 900 kB\nVmHWM:\t   700 kB\nVmRSS:\t     600 kB\n"
                          "SigBlk:\t0000000000000000\nSigIgn:\t0000000001011000\n");
    tree_write_bytes(base, "/proc/9/status", text.data, text.length);
    struct proc_status status;
    assert_int_equal(procfs_status(&root, 9, &status), 0);
    assert_true(status.has_hwm && status.has_rss && status.has_sigign);
    assert_int_equal(status.hwm_bytes, 700 * 1024);
    assert_int_equal(status.rss_bytes, 600 * 1024);
    assert_int_equal(status.sigign, 0x1011000);
    assert_true((status.sigign >> (17 - 1) & 1) == 1); /* SIGCHLD */
}

static void test_status_says_what_is_missing(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    struct proc_status status;
    tree_write(base, "/proc/9/status",
               "Name:\tkthreadd\nState:\tZ (zombie)\nPid:\t9\nThreads:\t1\n");
    assert_int_equal(procfs_status(&root, 9, &status), 0);
    assert_false(status.has_hwm || status.has_rss || status.has_sigign);
    tree_write(base, "/proc/9/status", "Pid:\t9\nVmHWM:\t-5 kB\nVmRSS:\t5 MB\nSigIgn:\tzz\n");
    assert_int_equal(procfs_status(&root, 9, &status), 0);
    assert_false(status.has_hwm || status.has_rss || status.has_sigign);
    tree_write(base, "/proc/9/status", "Pid:\t10\nVmHWM:\t5 kB\n"); /* somebody else's */
    assert_int_equal(procfs_status(&root, 9, &status), -EBADMSG);
    tree_write(base, "/proc/9/status", "nonsense");
    assert_int_equal(procfs_status(&root, 9, &status), -EBADMSG);
    assert_int_equal(procfs_status(&root, 8, &status), -ENOENT);
}

static void test_io_needs_all_four_figures(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    struct proc_io io = {.read_chars = 1};
    tree_write(base, "/proc/9/io",
               "rchar: 5000000\nwchar: 70000\nsyscr: 900\nsyscw: 30\nread_bytes: 4096\n"
               "write_bytes: 65536\ncancelled_write_bytes: 60000\n");
    assert_int_equal(procfs_io(&root, 9, &io), 0);
    assert_int_equal(io.read_chars, 5000000);
    assert_int_equal(io.written_chars, 70000);
    assert_int_equal(io.read_bytes, 4096);
    assert_int_equal(io.written_bytes, 65536);
    tree_write(base, "/proc/9/io", "rchar: 5000000\nwchar: 70000\nread_bytes: 4096\n");
    assert_int_equal(procfs_io(&root, 9, &io), -EBADMSG);
    tree_write(base, "/proc/9/task/11/io", "rchar: 1\nwchar: 2\nread_bytes: 3\nwrite_bytes: 4\n");
    assert_int_equal(procfs_thread_io(&root, 9, 11, &io), 0);
    assert_int_equal(io.written_bytes, 4);
    assert_int_equal(procfs_thread_io(&root, 9, 12, &io), -ENOENT);
}

static void test_pss_with_and_without_parts_and_rollup(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    struct proc_pss pss;
    tree_write(
        base, "/proc/9/smaps_rollup",
        "00400000-7ffd0000 ---p 00000000 00:00 0  [rollup]\nRss:     884 kB\nPss:     385 kB\n"
        "Pss_Dirty: 1 kB\nPss_Anon: 301 kB\nPss_File:  80 kB\nPss_Shmem:  4 kB\n");
    assert_int_equal(procfs_pss(&root, 9, &pss), 0);
    assert_true(pss.has_parts);
    assert_int_equal(pss.pss_bytes, 385 * 1024);
    assert_int_equal(pss.anon_bytes, 301 * 1024);
    assert_int_equal(pss.file_bytes, 80 * 1024);
    assert_int_equal(pss.shmem_bytes, 4 * 1024);
    tree_write(base, "/proc/10/smaps_rollup",
               "0-1 ---p 0 00:00 0 [rollup]\nRss: 8 kB\nPss: 5 kB\n");
    assert_int_equal(procfs_pss(&root, 10, &pss), 0);
    assert_false(pss.has_parts);
    tree_write(
        base, "/proc/11/smaps",
        "00400000-00452000 r-xp 00000000 08:02 17 /usr/bin/Pss: 9 kB\nRss: 300 kB\nPss: 200 kB\n"
        "7f00-7f01 rw-p 00000000 00:00 0\nRss: 20 kB\nPss: 20 kB\n");
    assert_int_equal(procfs_pss(&root, 11, &pss), 0);
    assert_int_equal(pss.pss_bytes, 220 * 1024);
    tree_write(base, "/proc/12/smaps_rollup", ""); /* a zombie */
    assert_int_equal(procfs_pss(&root, 12, &pss), -ESRCH);
    assert_int_equal(procfs_pss(&root, 13, &pss), -ENOENT);
}

static void test_children_of_all_threads(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    write_children(base, 9, 9, "10 11 ");
    write_children(base, 9, 20, "12\n");
    write_children(base, 9, 21, "");
    pid_t pids[8];
    size_t total = 0;
    assert_int_equal(procfs_children(&root, 9, pids, 8, &total), 0);
    assert_int_equal(total, 3);
    int sum = pids[0] + pids[1] + pids[2];
    assert_int_equal(sum, 33);
    assert_int_equal(procfs_children(&root, 9, pids, 1, &total), 0);
    assert_int_equal(total, 3); /* more than there was room for */
    write_children(base, 9, 21, "12 x");
    assert_int_equal(procfs_children(&root, 9, pids, 8, &total), -EBADMSG);
    write_children(base, 9, 21, "99999999999 ");
    assert_int_equal(procfs_children(&root, 9, pids, 8, &total), -EBADMSG);
    write_children(base, 9, 21, "0 ");
    assert_int_equal(procfs_children(&root, 9, pids, 8, &total), -EBADMSG);
    assert_int_equal(procfs_children(&root, 77, pids, 8, &total), -ENOENT);
}

static void test_children_in_a_long_list(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    uint64_t expected = 0;
    for (int i = 0; i < 5000; i++) { /* numbers lie across the reader's buffer ends */
        strbuf_printf(&text, "%d ", 1000000 + i);
        expected += 1000000u + (unsigned)i;
    }
    tree_write_bytes(base, "/proc/9/task/9/children", text.data, text.length);
    AUTO_FREE pid_t *pids = mem_alloc(6000 * sizeof *pids);
    size_t total = 0;
    assert_int_equal(procfs_children(&root, 9, pids, 6000, &total), 0);
    assert_int_equal(total, 5000);
    uint64_t sum = 0;
    for (size_t i = 0; i < total; i++) {
        sum += (uint64_t)pids[i];
    }
    assert_int_equal(sum, expected);
}

static bool has(const pid_t *pids, size_t count, pid_t pid) {
    for (size_t i = 0; i < count; i++) {
        if (pids[i] == pid) {
            return true;
        }
    }
    return false;
}

/* 1 → 2, 3; 2 → 4 → 5; 3 → 6 (to be skipped) → 7 */
static void write_family(const char *base, bool with_children_files) {
    static const struct {
        int pid, ppid;
        const char *children;
    } family[] = {{1, 0, "2 3 "}, {2, 1, "4 "}, {3, 1, "6 "}, {4, 2, "5 "},
                  {5, 4, ""},     {6, 3, "7 "}, {7, 6, ""},   {90, 89, ""}};
    for (size_t i = 0; i < ARRAY_LENGTH(family); i++) {
        write_stat(base, family[i].pid, "p", family[i].ppid, 1);
        AUTO_FREE char *task = mem_printf("%s/proc/%d/task/%d", base, family[i].pid, family[i].pid);
        tree_make_folder(task);
        if (with_children_files) {
            write_children(base, family[i].pid, family[i].pid, family[i].children);
        }
    }
}

static void check_family(const struct root *root) {
    pid_t pids[16];
    bool truncated;
    const pid_t skip[] = {6};
    size_t count = procfs_tree(root, 1, NULL, 0, pids, 16, &truncated);
    assert_int_equal(count, 6);
    assert_false(truncated);
    assert_false(has(pids, count, 1) || has(pids, count, 90));
    count = procfs_tree(root, 1, skip, 1, pids, 16, &truncated);
    assert_int_equal(count, 4);
    assert_true(has(pids, count, 5) && has(pids, count, 3));
    assert_false(has(pids, count, 6) || has(pids, count, 7));
    count = procfs_tree(root, 1, NULL, 0, pids, 3, &truncated);
    assert_int_equal(count, 3);
    assert_true(truncated);
    count = procfs_tree(root, 5, NULL, 0, pids, 16, &truncated);
    assert_int_equal(count, 0);
    assert_false(truncated);
    count = procfs_tree(root, 4444, NULL, 0, pids, 16, &truncated); /* gone */
    assert_int_equal(count, 0);
}

static void test_tree_by_children_files(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    write_family(base, true);
    check_family(&root);
}

static void test_tree_without_children_files(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    write_family(base, false);
    check_family(&root);
    pid_t pids[8];
    size_t total = 0;
    assert_int_equal(procfs_children(&root, 1, pids, 8, &total), 0);
    assert_int_equal(total, 2);
}

static void test_tree_ends_in_a_circle(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    write_children(base, 1, 1, "2 2 3 ");
    write_children(base, 2, 2, "3 1 ");
    write_children(base, 3, 3, "2 3 ");
    pid_t pids[16];
    bool truncated;
    assert_int_equal(procfs_tree(&root, 1, NULL, 0, pids, 16, &truncated), 2);
    assert_false(truncated);
}

static void test_recorded_machine_with_hidden_processes(void **state) {
    (void)state;
    AUTO_FREE char *base = mem_printf("%s/machines/hidepid", getenv("PROBELAUF_TEST_FIXTURES"));
    struct root root = {base};
    struct proc_stat stat;
    struct proc_status status;
    struct proc_io io;
    pid_t pids[4];
    bool truncated;
    assert_int_equal(procfs_stat(&root, 4300, &stat), 0);
    assert_string_equal(stat.comm, "python train.py) ) R");
    assert_int_equal(stat.ppid, 4242);
    assert_int_equal(stat.start, 987700);
    assert_int_equal(procfs_status(&root, 4300, &status), 0);
    assert_int_equal(status.hwm_bytes, 1048576ull * 1024);
    assert_int_equal(procfs_io(&root, 4300, &io), 0);
    assert_int_equal(io.written_bytes, 65536);
    assert_int_equal(procfs_io(&root, 4242, &io), -ENOENT);
    assert_int_equal(procfs_tree(&root, 4242, NULL, 0, pids, 4, &truncated), 1);
    assert_int_equal(procfs_stat(&root, 1, &stat), -ENOENT); /* hidden looks like gone */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stat_reads_each_figure),
        cmocka_unit_test(test_stat_takes_any_name),
        cmocka_unit_test(test_stat_refuses_what_is_no_stat),
        cmocka_unit_test(test_stat_survives_any_change_of_a_byte),
        cmocka_unit_test(test_status_reads_behind_a_huge_line),
        cmocka_unit_test(test_status_says_what_is_missing),
        cmocka_unit_test(test_io_needs_all_four_figures),
        cmocka_unit_test(test_pss_with_and_without_parts_and_rollup),
        cmocka_unit_test(test_children_of_all_threads),
        cmocka_unit_test(test_children_in_a_long_list),
        cmocka_unit_test(test_tree_by_children_files),
        cmocka_unit_test(test_tree_without_children_files),
        cmocka_unit_test(test_tree_ends_in_a_circle),
        cmocka_unit_test(test_recorded_machine_with_hidden_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
