/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Times several commands by turns, so that whatever else the machine does falls on all of them
 * alike.
 *
 *     interleave ROUNDS NAME COMMAND [ARG…] ::: NAME COMMAND [ARG…] …
 *
 * Standard output, one JSON line per command:
 * {"name":…,"rounds":…,"median_ns":…,"p10_ns":…,"p90_ns":…}. Output of the commands is dropped. A
 * command that does not exit with 0 ends the comparison.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { COMMANDS_MAX = 32 };

/* What a command leaves running behind (our intake) is not to fall on the next one. */
#define PAUSE_NS 50000000

extern char **environ;

struct contender {
    const char *name;
    char **argv;
    int64_t *ns;
};

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t time_once(const struct contender *contender, posix_spawn_file_actions_t *quiet) {
    pid_t pid;
    int status;
    int64_t begin = now_ns();
    if (posix_spawnp(&pid, contender->argv[0], quiet, NULL, contender->argv, environ) != 0 ||
        waitpid(pid, &status, 0) != pid) {
        fprintf(stderr, "interleave: cannot run %s\n", contender->argv[0]);
        exit(1);
    }
    int64_t end = now_ns();
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        fprintf(stderr, "interleave: '%s' ended with status %d\n", contender->name, status);
        exit(1);
    }
    return end - begin;
}

static int compare_ns(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static size_t read_contenders(int argc, char **argv, size_t rounds, struct contender *list) {
    size_t count = 0;
    for (int i = 2; i + 1 < argc && count < COMMANDS_MAX; i++) {
        list[count] = (struct contender){argv[i], argv + i + 1, calloc(rounds, sizeof(int64_t))};
        count++;
        while (i < argc && strcmp(argv[i], ":::") != 0) {
            i++;
        }
        if (i < argc) {
            argv[i] = NULL;
        }
    }
    return count;
}

int main(int argc, char **argv) {
    size_t rounds = argc > 3 ? (size_t)strtoul(argv[1], NULL, 10) : 0;
    if (rounds == 0) {
        fprintf(stderr,
                "usage: interleave ROUNDS NAME COMMAND [ARG...] ::: NAME COMMAND [ARG...] ...\n");
        return 2;
    }
    struct contender list[COMMANDS_MAX];
    size_t count = read_contenders(argc, argv, rounds, list);
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < count; i++) {
            list[i].ns[round] = time_once(&list[i], &quiet);
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        }
    }
    for (size_t i = 0; i < count; i++) {
        qsort(list[i].ns, rounds, sizeof(int64_t), compare_ns);
        printf(
            "{\"name\":\"%s\",\"rounds\":%zu,\"median_ns\":%lld,\"p10_ns\":%lld,\"p90_ns\":%lld}\n",
            list[i].name, rounds, (long long)list[i].ns[rounds / 2],
            (long long)list[i].ns[rounds / 10], (long long)list[i].ns[rounds * 9 / 10]);
        free(list[i].ns);
    }
    return 0;
}
