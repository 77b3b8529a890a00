/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forks and executes the command. Between fork and exec only async-signal-safe calls. */
#pragma once

#include "exec/signals.h"

#include <stdint.h>
#include <sys/types.h>

struct command_spec {
    const char *const *argv;
    char *const *environment;
    const int *child_fd; /* three: what it gets as 0, 1, 2; -1: inherited */
    int join_fd;         /* v1: `tasks` of its own group, opened for writing; -1: none */
    int group_fd;        /* v2: the folder of its own group; -1: none */
    const struct signals *signals;
    /* Written by the child. */
    _Atomic int64_t *rss_floor_bytes;
    _Atomic int64_t *setup_chars;
};

/* Returns the pid or a negative errno. *ret_exec_fd becomes readable: end of file = the command
 * runs; an int = errno of exec. */
pid_t command_fork(const struct command_spec *spec, int *ret_exec_fd);

/* environ with marks file and run id of this run and with `more` (NAME=VALUE, NULL-terminated, may
 * be NULL; each replaces the variable of its name, texts borrowed); only the list and the texts of
 * our own are allocated. NULL marks: without. */
char **command_environment(char *const *environment, const char *run, const char *marks_path,
                           char *const *more);
void command_environment_free(char **environment);
