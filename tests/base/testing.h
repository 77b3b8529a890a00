/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmocka's includes in the order it needs, a folder that goes away, and "this aborts". */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/strbuf.h"

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static inline int remove_entry(const char *path, const struct stat *status, int kind,
                               struct FTW *where) {
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

/* A new folder of this test's own; *state is its name. */
static inline int folder_setup(void **state) {
    const char *base = getenv("TMPDIR");
    char *folder = mem_printf("%s/probelauf-test-XXXXXX", base != NULL ? base : "/tmp");
    *state = folder;
    return mkdtemp(folder) == NULL;
}

static inline int folder_teardown(void **state) {
    char *folder = *state;
    int rc = nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(folder);
    return rc;
}

/* Runs action in a child process; returns its wait status and what it wrote to stderr (to 255
 * bytes). */
static inline int run_in_child(void (*action)(const void *), const void *argument,
                               char ret_stderr[256]) {
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL); /* cmocka catches it */
        dup2(fds[1], STDERR_FILENO);
        action(argument);
        _exit(0);
    }
    close(fds[1]);
    size_t length = 0;
    ssize_t got;
    while (length < 255 && (got = read(fds[0], ret_stderr + length, 255 - length)) > 0)
        length += (size_t)got;
    ret_stderr[length] = '\0';
    close(fds[0]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static inline void assert_aborts(void (*action)(const void *), const void *argument) {
    char said[256];
    int status = run_in_child(action, argument, said);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

/* A small generator of our own: the same sequence on every machine (xorshift64*). */
static inline uint64_t next_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}
