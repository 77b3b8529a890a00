/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files below a prefix: what a recorded tree holds and nothing else. */
#include "testing.h"

#include "base/fd.h"
#include "base/root.h"

#include <errno.h>

static int tree_setup(void **state) {
    if (folder_setup(state) != 0)
        return -1;
    AUTO_FREE char *folder = mem_printf("%s/proc/1", (const char *)*state);
    AUTO_FREE char *file = mem_printf("%s/stat", folder);
    AUTO_FREE char *link_path = mem_printf("%s/exe", folder);
    AUTO_FREE char *fifo = mem_printf("%s/fifo", folder);
    struct err err = ERR_INIT;
    return dir_make_private(folder, &err) < 0 ||
           file_write_atomic(file, "1 (init) S", 10, 0600, &err) < 0 ||
           symlink("/sbin/init", link_path) < 0 || mkfifo(fifo, 0600) < 0;
}

static void test_reads_below_the_prefix(void **state) {
    const struct root root = {*state};
    char buf[64];
    memset(buf, 'x', sizeof buf);
    assert_int_equal(root_read_buf(&root, "/proc/1/stat", buf, sizeof buf), 10);
    assert_string_equal(buf, "1 (init) S");
    char small[5] = "xxxx";
    assert_int_equal(root_read_buf(&root, "/proc/1/stat", small, sizeof small), 4);
    assert_string_equal(small, "1 (i"); /* cut, with its NUL */
    assert_int_equal(root_read_buf(&root, "/proc/2/stat", buf, sizeof buf), -ENOENT);
    assert_string_equal(buf, ""); /* nothing of the call before is left */
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    assert_int_equal(root_read(&root, "/proc/1/stat", 100, &out), 0);
    assert_string_equal(strbuf_str(&out), "1 (init) S");
    assert_int_equal(root_read(&root, "/proc/1/stat", 3, &out), -EFBIG);
    assert_int_equal(root_read(&root, "/proc/1", 3, &out), -EISDIR);
    assert_true(root_exists(&root, "/proc/1"));
    assert_false(root_exists(&root, "/proc/self"));
    assert_int_equal(root_readlink(&root, "/proc/1/exe", buf, sizeof buf), 10);
    assert_string_equal(buf, "/sbin/init");
    memset(small, 'x', sizeof small);
    assert_int_equal(root_readlink(&root, "/proc/1/exe", small, sizeof small), 4);
    assert_string_equal(small, "/sbi"); /* cut, with its NUL */
    assert_int_equal(root_readlink(&root, "/proc/1/stat", buf, sizeof buf), -EINVAL);
    assert_string_equal(buf, "");
}

static void test_open_is_close_on_exec(void **state) {
    const struct root root = {*state};
    AUTO_CLOSE int fd = root_open(&root, "/proc/1/stat", O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(root_open(&root, "/none", O_RDONLY), -ENOENT);
}

static void test_a_fifo_does_not_hang(void **state) {
    const struct root root = {*state};
    char buf[8];
    assert_int_equal(root_read_buf(&root, "/proc/1/fifo", buf, sizeof buf), 0);
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    assert_int_equal(root_read(&root, "/proc/1/fifo", 8, &out), 0);
}

static void test_a_path_too_long_is_an_error(void **state) {
    const struct root root = {*state};
    AUTO_FREE char *path = mem_alloc(5000);
    memset(path, '/', 4999);
    char buf[8];
    assert_int_equal(root_read_buf(&root, path, buf, sizeof buf), -ENAMETOOLONG);
    assert_int_equal(root_readlink(&root, path, buf, sizeof buf), -ENAMETOOLONG);
    assert_false(root_exists(&root, path));
}

static void read_relative(const void *argument) {
    root_exists(argument, "proc");
}

static void test_a_relative_path_is_a_programming_error(void **state) {
    (void)state;
    assert_aborts(read_relative, &root_real);
}

static void test_the_real_root(void **state) {
    (void)state;
    assert_true(root_exists(&root_real, "/"));
}

int main(void) {
#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, folder_teardown)
    const struct CMUnitTest tests[] = {
        IN_TREE(test_reads_below_the_prefix),
        IN_TREE(test_open_is_close_on_exec),
        IN_TREE(test_a_fifo_does_not_hang),
        IN_TREE(test_a_path_too_long_is_an_error),
        cmocka_unit_test(test_a_relative_path_is_a_programming_error),
        cmocka_unit_test(test_the_real_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
