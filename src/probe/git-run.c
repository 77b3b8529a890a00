/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See git-run.h. Every switch below is there because a repository's own configuration can run
 * programs by it. */
#include "probe/git-run.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "base/str.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define CONFIG_LIMIT ((size_t)1 << 20)

/* env(1) takes variables away that would point git at another repository (git rev-parse
 * --local-env-vars) or change how it compares. */
static const char *const command[] = {
    "env",
    "-u",
    "GIT_DIR",
    "-u",
    "GIT_WORK_TREE",
    "-u",
    "GIT_INDEX_FILE",
    "-u",
    "GIT_COMMON_DIR",
    "-u",
    "GIT_OBJECT_DIRECTORY",
    "-u",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "-u",
    "GIT_PREFIX",
    "-u",
    "GIT_NAMESPACE",
    "-u",
    "GIT_CONFIG",
    "-u",
    "GIT_EXTERNAL_DIFF",
    "-u",
    "GIT_DIFF_OPTS",
    "-u",
    "GIT_ATTR_SOURCE",
    "-u",
    "GIT_LITERAL_PATHSPECS",
    "-u",
    "GIT_GLOB_PATHSPECS",
    "-u",
    "GIT_NOGLOB_PATHSPECS",
    "-u",
    "GIT_ICASE_PATHSPECS",
    "git",
    "--no-pager",
    "-c",
    "core.fsmonitor=false", /* a program, or a daemon that stays */
    "-c",
    "core.hooksPath=/dev/null", /* no hook can be found there */
    "-c",
    "core.sshCommand=false",
    "-c",
    "credential.helper=", /* empty: forget the helpers named so far */
    "-c",
    "diff.external=",
    "-c",
    "submodule.recurse=false",
    "-c",
    "status.renames=false", /* one line a path, whatever the user likes to see */
    "-c",
    "diff.renames=false",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
};

/* Over our environment. A partial clone would fetch what it lacks: GIT_NO_LAZY_FETCH (git 2.45)
 * and, for older ones, no transport is allowed at all. */
static const char *const variables[] = {"GIT_OPTIONAL_LOCKS=0",
                                        "GIT_TERMINAL_PROMPT=0",
                                        "GIT_NO_LAZY_FETCH=1",
                                        "GIT_ALLOW_PROTOCOL=none",
                                        "GIT_NO_REPLACE_OBJECTS=1",
                                        "LC_ALL=C",
                                        NULL};

void git_run_init(struct git_run *git, const char *folder, int64_t deadline_mono_ns) {
    *git = (struct git_run){.folder = folder, .deadline_mono_ns = deadline_mono_ns, .status = -1};
}

void git_run_done(struct git_run *git) {
    for (size_t i = 0; i < git->override_count; i++) {
        mem_free_ptr(&git->overrides[i]);
    }
    mem_free_ptr(&git->overrides);
    git->override_count = 0;
}

static const char **arguments(const struct git_run *git, const char *const args[]) {
    size_t extra = 0;
    while (args[extra] != NULL) {
        extra++;
    }
    const char **argv =
        mem_alloc((ARRAY_LENGTH(command) + 2 * git->override_count + extra + 1) * sizeof *argv);
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(command); i++) {
        argv[count++] = command[i];
    }
    for (size_t i = 0; i < git->override_count; i++) {
        argv[count++] = "-c";
        argv[count++] = git->overrides[i];
    }
    for (size_t i = 0; i < extra; i++) {
        argv[count++] = args[i];
    }
    return argv;
}

int git_run(struct git_run *git, const char *const args[], size_t limit, struct strbuf *out) {
    int64_t left_ns = git->deadline_mono_ns - clock_mono_ns();
    if (left_ns <= 0) {
        return -ETIME;
    }
    AUTO_FREE const char **argv = arguments(git, args);
    struct spawn_result result;
    struct err err = ERR_INIT;
    int rc = spawn_capture(argv, variables, git->folder, left_ns, limit, out, &result, &err);
    if (rc < 0) {
        return rc;
    }
    if (result.timed_out) {
        return -ETIME;
    }
    if (result.truncated) {
        return -EFBIG;
    }
    if (result.status == 127) { /* env's answer when there is no git (env(1)) */
        return -ENOENT;
    }
    git->status = result.status;
    return 0;
}

static void add_override(struct git_run *git, const char *key, size_t length, const char *value) {
    git->overrides = mem_room(git->overrides, git->override_count, sizeof *git->overrides);
    git->overrides[git->override_count++] = mem_printf("%.*s%s", (int)length, key, value);
}

int git_run_disarm(struct git_run *git) {
    static const char *const ask[] = {
        "config", "-z", "--name-only", "--get-regexp", "^filter\\..*\\.(clean|process|required)$",
        NULL};
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    int rc = git_run(git, ask, CONFIG_LIMIT, &out);
    if (rc < 0) {
        return rc;
    }
    if (git->status != 0 && git->status != 1) { /* 1: there is none */
        return -EPROTO;
    }
    for (size_t at = 0; at < out.length;) {
        const char *key = out.data + at;
        size_t length = strnlen(key, out.length - at);
        at += length + 1;
        if (memchr(key, '=', length) != NULL || length > 4096) {
            return -ENOTSUP; /* "-c a=b.clean=" would be read as the key "a" */
        }
        bool required = length > 9 && memcmp(key + length - 9, ".required", 9) == 0;
        add_override(git, key, length, required ? "=false" : "=");
    }
    return 0;
}
