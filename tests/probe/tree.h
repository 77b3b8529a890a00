/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders for tests: made in a temporary place, written in one line each, taken away afterwards. */
#pragma once

#include "base/fd.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* A new folder; its name is the caller's. */
static inline char *tree_new(void) {
    const char *place = getenv("TMPDIR");
    char *path = mem_printf("%s/probelauf-test-XXXXXX", place != NULL ? place : "/tmp");
    assert_non_null(mkdtemp(path));
    return path;
}

static inline void tree_make_folder(const char *path) {
    char part[4096];
    for (const char *at = path + 1;; at++) {
        if (*at == '/' || *at == '\0') {
            (void)snprintf(part, sizeof part, "%.*s", (int)(at - path), path);
            assert_true(mkdir(part, 0755) == 0 || errno == EEXIST);
        }
        if (*at == '\0') {
            return;
        }
    }
}

static inline void tree_write_bytes(const char *base, const char *path, const void *bytes,
                                    size_t length) {
    AUTO_FREE char *full = mem_printf("%s%s", base, path);
    AUTO_FREE char *folder = mem_strndup(full, (size_t)(strrchr(full, '/') - full));
    tree_make_folder(folder);
    AUTO_CLOSE int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(fd_write_full(fd, bytes, length), 0);
}

static inline void tree_write(const char *base, const char *path, const char *text) {
    tree_write_bytes(base, path, text, strlen(text));
}

static inline void tree_link(const char *base, const char *path, const char *target) {
    AUTO_FREE char *full = mem_printf("%s%s", base, path);
    AUTO_FREE char *folder = mem_strndup(full, (size_t)(strrchr(full, '/') - full));
    tree_make_folder(folder);
    assert_int_equal(symlink(target, full), 0);
}

static inline void tree_remove_at(int parent, const char *name) {
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder == NULL) {
        (void)unlinkat(parent, name, 0);
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            tree_remove_at(dirfd(folder), entry->d_name);
        }
    }
    (void)closedir(folder);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

static inline void tree_free(char **path) {
    if (*path != NULL) {
        tree_remove_at(AT_FDCWD, *path);
    }
    mem_free_ptr(path);
}
#define AUTO_TREE __attribute__((cleanup(tree_free)))

/* Runs a program the test needs; fails the test when it fails. */
static inline void tree_run(const char *cwd, const char *const argv[]) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (chdir(cwd) == 0 && null >= 0 && dup2(null, 1) >= 0) {
            execvp(argv[0], (char *const *)(uintptr_t)argv);
        }
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fail_msg("'%s %s' failed with status %d", argv[0], argv[1] != NULL ? argv[1] : "", status);
    }
}

/* git with everything that it would ask a user for. */
#define GIT(folder, ...)                                                                         \
    tree_run(folder,                                                                             \
             (const char *const[]){"git", "-c", "user.name=T", "-c", "user.email=t@example.org", \
                                   "-c", "commit.gpgsign=false", "-c",                           \
                                   "protocol.file.allow=always", __VA_ARGS__, NULL})
