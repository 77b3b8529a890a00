/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files, folders and standard output: whole or an error, private, nothing left behind. */
#include "testing.h"

#include "base/fd.h"

#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>

static char *inside(void **state, const char *name) {
    return mem_printf("%s/%s", (const char *)*state, name);
}

static size_t count_entries(const char *folder) {
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    size_t count = 0;
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(entries);
    return count;
}

static void test_write_and_read_whole(void **state) {
    AUTO_FREE char *path = inside(state, "file");
    AUTO_CLOSE int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    AUTO_FREE char *bytes = mem_alloc(100000);
    memset(bytes, 'q', 100000);
    assert_int_equal(fd_write_full(fd, bytes, 100000), 0);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    AUTO_FREE char *back = mem_alloc(200000);
    assert_int_equal(fd_read_full(fd, back, 200000), 100000); /* short at the end of the file */
    assert_memory_equal(back, bytes, 100000);
    fd_close_ptr(&fd);
    assert_int_equal(fd, -1);
    assert_int_equal(fd_read_full(fd, back, 1), -EBADF);
    assert_int_equal(fd_write_full(fd, bytes, 1), -EBADF);
}

static void test_read_limit(void **state) {
    AUTO_FREE char *path = inside(state, "file");
    struct err err = ERR_INIT;
    AUTO_FREE char *bytes = mem_alloc(50000);
    memset(bytes, 'z', 50000);
    assert_int_equal(file_write_atomic(path, bytes, 50000, 0600, &err), 0);
    static const struct {
        size_t limit;
        int rc;
        size_t length;
    } cases[] = {{50000, 0, 50000},
                 {SIZE_MAX, 0, 50000},
                 {49999, -EFBIG, 49999},
                 {1, -EFBIG, 1},
                 {0, -EFBIG, 0}};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        strbuf_add_str(&out, "before "); /* appended, not counted */
        assert_int_equal(file_read(path, cases[i].limit, &out), cases[i].rc);
        assert_int_equal(out.length, cases[i].length + 7);
    }
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    assert_int_equal(file_read(*state, 100, &out), -EISDIR);
    AUTO_FREE char *missing = inside(state, "missing");
    assert_int_equal(file_read(missing, 100, &out), -ENOENT);
}

static void test_atomic_write(void **state) {
    AUTO_FREE char *path = inside(state, "target");
    struct err err = ERR_INIT;
    mode_t old = umask(0077); /* the mode is as given, whatever the mask */
    assert_int_equal(file_write_atomic(path, "one", 3, 0644, &err), 0);
    umask(old);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0644);
    assert_int_equal(file_write_atomic(path, "second", 6, 0600, &err), 0);
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    assert_int_equal(file_read(path, 100, &out), 0);
    assert_string_equal(strbuf_str(&out), "second");
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_int_equal(count_entries(*state), 1); /* no temporary file is left */
}

static void test_atomic_write_failing_leaves_nothing(void **state) {
    struct err err = ERR_INIT;
    AUTO_FREE char *missing = inside(state, "no/such/file");
    assert_int_equal(file_write_atomic(missing, "x", 1, 0600, &err), -ENOENT);
    assert_string_equal(err.id, "file-write");
    AUTO_FREE char *folder = inside(state, "folder");
    AUTO_FREE char *kept = inside(state, "folder/kept");
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(file_write_atomic(kept, "x", 1, 0600, &err), 0);
    assert_true(file_write_atomic(folder, "x", 1, 0600, &err) < 0); /* a folder is in the way */
    assert_int_equal(count_entries(*state), 1);
}

static void test_atomic_write_into_a_read_only_folder(void **state) {
    if (geteuid() == 0)
        skip(); /* root may write everywhere */
    struct err err = ERR_INIT;
    AUTO_FREE char *path = inside(state, "file");
    assert_int_equal(chmod(*state, 0500), 0);
    int rc = file_write_atomic(path, "x", 1, 0600, &err);
    assert_int_equal(chmod(*state, 0700), 0);
    assert_int_equal(rc, -EACCES);
    assert_int_equal(count_entries(*state), 0);
}

static void test_private_folder(void **state) {
    struct err err = ERR_INIT;
    AUTO_FREE char *deep = inside(state, "a/b//c/");
    mode_t old = umask(0);
    assert_int_equal(dir_make_private(deep, &err), 0);
    umask(old);
    assert_int_equal(dir_make_private(deep, &err), 0); /* again */
    struct stat status;
    AUTO_FREE char *above = inside(state, "a/b");
    assert_int_equal(stat(deep, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    assert_int_equal(stat(above, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0700);
    assert_int_equal(dir_make_private("/", &err), 0);
    assert_int_equal(dir_make_private(".", &err), 0);
    assert_int_equal(dir_make_private("", &err), -EINVAL);
}

static void test_folders_that_are_refused(void **state) {
    struct err err = ERR_INIT;
    AUTO_FREE char *link_path = inside(state, "link");
    assert_int_equal(symlink(*state, link_path), 0);
    assert_int_equal(dir_make_private(link_path, &err), -EPERM);
    assert_string_equal(err.id, "folder-link");
    AUTO_FREE char *slashed = inside(state, "link/");
    assert_int_equal(dir_make_private(slashed, &err), -EPERM); /* the slash hides nothing */
    AUTO_FREE char *below = inside(state, "link/below");       /* links on the way are fine */
    assert_int_equal(dir_make_private(below, &err), 0);
    AUTO_FREE char *file = inside(state, "file");
    assert_int_equal(file_write_atomic(file, "x", 1, 0600, &err), 0);
    assert_int_equal(dir_make_private(file, &err), -ENOTDIR);
    AUTO_FREE char *behind_file = inside(state, "file/folder");
    assert_int_equal(dir_make_private(behind_file, &err), -ENOTDIR);
    if (geteuid() != 0)
        return; /* only root can give a folder away */
    AUTO_FREE char *foreign = inside(state, "foreign");
    assert_int_equal(mkdir(foreign, 0777), 0);
    if (chown(foreign, 12345, (gid_t)-1) < 0)
        return; /* root of a user namespace without that id */
    assert_int_equal(dir_make_private(foreign, &err), -EPERM);
    assert_string_equal(err.id, "folder-foreign");
}

static void test_network_file_systems(void **state) {
    static const uint32_t network[] = {
        NFS_SUPER_MAGIC,  SMB2_SUPER_MAGIC, CIFS_SUPER_MAGIC, V9FS_MAGIC,  FUSE_SUPER_MAGIC,
        CEPH_SUPER_MAGIC, AFS_SUPER_MAGIC,  0x0BD00BD0u,      0x47504653u, 0x19830326u};
    for (size_t i = 0; i < ARRAY_LENGTH(network); i++)
        assert_true(fs_type_is_network(network[i]));
    static const uint32_t local[] = {EXT4_SUPER_MAGIC,
                                     XFS_SUPER_MAGIC,
                                     BTRFS_SUPER_MAGIC,
                                     TMPFS_MAGIC,
                                     OVERLAYFS_SUPER_MAGIC,
                                     PROC_SUPER_MAGIC,
                                     0};
    for (size_t i = 0; i < ARRAY_LENGTH(local); i++)
        assert_false(fs_type_is_network(local[i]));
    assert_false(path_is_on_network("/proc"));
    assert_false(path_is_on_network("/proc/nothing/here/yet"));
    assert_false(path_is_on_network(""));
    AUTO_FREE char *missing = inside(state, "x/y/z");
    assert_int_equal(path_is_on_network(missing), path_is_on_network(*state));
}

struct output_case {
    const char *path; /* what standard output is; NULL: closed */
    const char *text;
    int code;
};

static void finish_output(const void *argument) {
    const struct output_case *now = argument;
    close(STDOUT_FILENO);
    if (now->path != NULL && open(now->path, O_WRONLY) != STDOUT_FILENO)
        _exit(100);
    fputs(now->text, stdout);
    struct err err = ERR_INIT;
    int rc = stdout_finish(0, &err);
    _exit(rc == now->code && (rc == 0 || strcmp(err.id, "output-write") == 0) ? 42 : -rc);
}

static void test_standard_output(void **state) {
    (void)state;
    static const struct output_case cases[] = {
        {"/dev/null", "text", 0},
        {"/dev/full", "text", -ENOSPC},
        {"/dev/full", "", 0}, /* nothing was to be written */
        {NULL, "", 0},
        {NULL, "text", -EBADF},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        char said[256];
        int status = run_in_child(finish_output, &cases[i], said);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 42);
    }
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_write_and_read_whole),
        IN_FOLDER(test_read_limit),
        IN_FOLDER(test_atomic_write),
        IN_FOLDER(test_atomic_write_failing_leaves_nothing),
        IN_FOLDER(test_atomic_write_into_a_read_only_folder),
        IN_FOLDER(test_private_folder),
        IN_FOLDER(test_folders_that_are_refused),
        IN_FOLDER(test_network_file_systems),
        cmocka_unit_test(test_standard_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
