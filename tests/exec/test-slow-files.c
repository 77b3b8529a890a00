/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of weights that a process has open or mapped. */
#include "../base/testing.h"

#include "base/fd.h"
#include "exec/slow-files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

struct told {
    char paths[8][SLOW_FILE_PATH_SIZE];
    int64_t bytes[8];
    size_t count;
};

static void note(const struct slow_file *file, void *context) {
    struct told *told = context;
    assert_true(told->count < 8);
    snprintf(told->paths[told->count], SLOW_FILE_PATH_SIZE, "%s", file->path);
    told->bytes[told->count++] = file->bytes;
}

static int open_new(const char *folder, const char *name, off_t bytes) {
    AUTO_FREE char *path = mem_printf("%s/%s", folder, name);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, bytes), 0);
    return fd;
}

static bool is_told(const struct told *told, const char *name, int64_t bytes) {
    for (size_t i = 0; i < told->count; i++)
        if (strstr(told->paths[i], name) != NULL && told->bytes[i] == bytes)
            return true;
    return false;
}

static void finds_each_once(void **state) {
    static struct slow_files files;
    static struct told told;
    _Atomic int pids[2] = {getpid(), 1 << 30}; /* the second one does not live */
    int open_files[] = {
        open_new(*state, "model.safetensors", 4096),
        open_new(*state, "small.bin", 4096),
        open_new(*state, "large.bin", INT64_C(17) << 20),
        open_new(*state, "data.csv", INT64_C(17) << 20),
        -1,
    };
    int mapped = open_new(*state, "a name.gguf", 8192);
    void *mapping = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, mapped, 0);
    close(mapped);
    slow_files_look(&files, pids, 2, note, &told);
    assert_int_equal(told.count, 3);
    assert_true(is_told(&told, "/model.safetensors", 4096));
    assert_true(is_told(&told, "/large.bin", INT64_C(17) << 20));
    assert_true(is_told(&told, "/a name.gguf", 8192));
    slow_files_look(&files, pids, 2, note, &told);
    assert_int_equal(told.count, 3);
    open_files[4] = open_new(*state, "later.pt", 10);
    slow_files_look(&files, pids, 2, note, &told);
    assert_int_equal(told.count, 4);
    munmap(mapping, 8192);
    for (size_t i = 0; i < sizeof open_files / sizeof open_files[0]; i++)
        close(open_files[i]);
}

static void needs_no_process(void **state) {
    static struct slow_files files;
    static struct told told;
    _Atomic int pids[1] = {0};
    (void)state;
    slow_files_look(&files, pids, 0, note, &told);
    assert_int_equal(told.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(finds_each_once, folder_setup, folder_teardown),
        cmocka_unit_test(needs_no_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
