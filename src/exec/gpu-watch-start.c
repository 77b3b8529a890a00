/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starting the GPU helper: a program of its own that travels inside this one. It runs from an
 * anonymous file; where the system forbids that, from a file beside the journal that is gone again
 * at once. The loader's variables stay as they are: they decide which library is the machine's.
 */
#include "exec/gpu-watch-parts.h"

#include "base/clock.h"
#include "base/fd.h"
#include "exec/helper.h"
#include "gpu/image.h"
#include "probe/procfs.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define INTERVAL_MS  "100"
#define LIBRARY      "libnvidia-ml.so"
#define LIBRARY_1    "libnvidia-ml.so.1"
#define LOADER_CACHE "/etc/ld.so.cache"
#define PIPE_BYTES   (1 << 20) /* what an unprivileged process may have (pipe(7)) */

/* ---- is it worth a process? ---- */

static bool has_library(const char *folder, size_t length) {
    char path[SHARED_PATH_SIZE];
    int used = snprintf(path, sizeof path, "%.*s/" LIBRARY_1, (int)length, folder);
    return used > 0 && (size_t)used < sizeof path && access(path, F_OK) == 0;
}

static bool is_in_search_path(void) {
    const char *rest = getenv("LD_LIBRARY_PATH");
    while (rest != NULL && *rest != '\0') {
        size_t length = strcspn(rest, ":;");
        if (has_library(length > 0 ? rest : ".", length > 0 ? length : 1))
            return true;
        rest += length + (rest[length] != '\0');
    }
    return false;
}

/* The loader's own list; the names in it stand as they are. */
static bool is_in_cache(void) {
    AUTO_CLOSE int fd = open(LOADER_CACHE, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0 || status.st_size <= 0)
        return false;
    size_t length = (size_t)status.st_size;
    void *bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return false;
    bool found = memmem(bytes, length, LIBRARY, strlen(LIBRARY)) != NULL;
    munmap(bytes, length);
    return found;
}

/* Where the helper looks beside the loader (gpu/library.c), and where a loader without a cache
 * does. */
static bool is_in_usual_folder(void) {
    static const char *const folders[] = {
        "/usr/lib/wsl/lib",
        "/run/opengl-driver/lib",
        "/usr/local/nvidia/lib64",
        "/lib64",
        "/usr/lib64",
        "/lib",
        "/usr/lib",
    };
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (has_library(folders[i], strlen(folders[i])))
            return true;
    return false;
}

bool gpu_start_is_worth_it(enum gpu_devices_shown shown) {
    return shown == GPU_DEVICES_MAYBE || is_in_search_path() || is_in_cache() ||
           is_in_usual_folder();
}

/* ---- the helper's process before it is the helper ---- */

struct start {
    const char *beside;
    int out_fd, hurry_fd;
};

static void execute(int program, const struct start *start) {
    char out[16], hurry[16];
    char name[] = "pl-gpu", interval[] = INTERVAL_MS;
    snprintf(out, sizeof out, "%d", start->out_fd);
    snprintf(hurry, sizeof hurry, "%d", start->hurry_fd);
    char *arguments[] = {name, out, interval, start->hurry_fd >= 0 ? hurry : NULL, NULL};
    fexecve(program, arguments, environ);
}

static void run_from_memory(const struct start *start) {
    int fd = memfd_create("pl-gpu", MFD_CLOEXEC);
    if (fd < 0)
        return;
    if (fd_write_full(fd, gpu_helper_image, gpu_helper_image_size) == 0)
        execute(fd, start);
    close(fd);
}

/* A program that is open for writing cannot be executed (ETXTBSY): it is opened a second time. */
static void run_from_file(const struct start *start) {
    char path[SHARED_PATH_SIZE];
    int used = snprintf(path, sizeof path, "%s.gpu", start->beside);
    if (start->beside[0] == '\0' || used <= 0 || (size_t)used >= sizeof path)
        return;
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0700);
    if (fd < 0)
        return;
    bool written = fd_write_full(fd, gpu_helper_image, gpu_helper_image_size) == 0;
    close(fd);
    int program = written ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    unlink(path);
    if (program >= 0)
        execute(program, start);
}

static void keep_over_exec(int fd) {
    int flags = fcntl(fd, F_GETFD);
    if (flags >= 0)
        fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC);
}

static int start_main(void *argument) {
    const struct start *start = argument;
    keep_over_exec(start->out_fd);
    keep_over_exec(start->hurry_fd);
    run_from_memory(start);
    run_from_file(start);
    return GPU_EXIT_NOT_STARTED;
}

pid_t gpu_start_helper(struct shared *shared, const char *beside, int *ret_fd, int *ret_hurry) {
    int hurry[2] = {-1, -1};
    if (ret_hurry != NULL && pipe2(hurry, O_CLOEXEC | O_NONBLOCK) < 0)
        hurry[0] = hurry[1] = -1;
    struct start start = {.beside = beside, .hurry_fd = hurry[0]};
    struct helper_spec spec = {.name = "pl-gpu",
                               .keep_too = hurry[0],
                               .dies_with_parent = true,
                               .main = start_main,
                               .context = &start};
    pid_t pid = helper_start_writing(shared, &spec, &start.out_fd, ret_fd);
    fd_close_ptr(&hurry[0]);
    if (pid > 0)
        fcntl(*ret_fd, F_SETPIPE_SZ, PIPE_BYTES); /* a refusal leaves 64 KiB, which will do */
    else
        fd_close_ptr(&hurry[1]);
    if (ret_hurry != NULL)
        *ret_hurry = hurry[1];
    return pid;
}

/* ---- what a library leaves behind ---- */

void gpu_orphans_adopt(void) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static bool is_registered(const struct shared *shared, pid_t pid) {
    for (size_t i = 0; i < SHARED_HELPER_PIDS; i++)
        if (atomic_load(&shared->helper_pids[i]) == pid)
            return true;
    return false;
}

/* Each child of ours that we have not started. Their own children come to us with their death. */
static bool end_some(const struct shared *shared) {
    pid_t children[64];
    size_t total = 0;
    bool any = false;
    if (procfs_children(&root_real, getpid(), children, 64, &total) < 0)
        return false;
    for (size_t i = 0; i < total && i < 64; i++)
        if (!is_registered(shared, children[i])) {
            kill(children[i], SIGKILL);
            any = true;
        }
    return any;
}

void gpu_orphans_end(struct gpu_watch *watch, int64_t patience_ns) {
    int64_t deadline_ns = clock_mono_ns() + patience_ns;
    if (watch->starts == 0)
        return;
    for (;;) {
        recorder_reap(watch->recorder);
        bool any = end_some(watch->shared);
        if ((!any && watch->helper == 0) || clock_mono_ns() >= deadline_ns)
            return;
        usleep(2000);
    }
}
