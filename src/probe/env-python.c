/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which Python interpreters a run uses and what is installed for them (`interpreters`, `packages`).
 * First what the command itself says (its program, a script's first line, an active environment),
 * then the processes seen, then what a shell would find. Starts no Python, reads no package's code.
 */
#include "probe/probe.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"
#include "probe/host-text.h"
#include "probe/lines.h"
#include "probe/paths.h"
#include "probe/python-layout.h"
#include "probe/python-packages.h"
#include "probe/reason.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PACKAGES_MAX     5000
#define PYTHON_BUDGET_NS (2 * NS_PER_S)
#define FOUND_MAX        8
#define PROCESSES_MAX    256 /* looked at; more of one run are workers of the same program */
#define BLOCK_LIMIT      ((size_t)1 << 20)

struct found {
    struct python python;
    const char *source; /* "command", "script", "VIRTUAL_ENV", "CONDA_PREFIX", "process", "PATH" */
};

struct finder {
    const struct root *root;
    const char *cwd;
    const struct variables *variables;
    struct found *items; /* FOUND_MAX of them */
    size_t count;
};

static void found_add(struct finder *finder, const char *program, const char *source) {
    struct python python;
    if (finder->count == FOUND_MAX || !python_locate(finder->root, program, &python)) {
        return;
    }
    for (size_t i = 0; i < finder->count; i++) {
        if (strcmp(finder->items[i].python.prefix, python.prefix) == 0 &&
            strcmp(finder->items[i].python.library, python.library) == 0) {
            return;
        }
    }
    finder->items[finder->count].python = python;
    finder->items[finder->count].source = source;
    finder->count++;
}

/* ---- pyenv: its shims are scripts that choose a version when they run ---- */

static bool pyenv_version(const struct finder *finder, const char *pyenv, char ret_version[256]) {
    const char *set = variable_get(finder->variables, "PYENV_VERSION");
    if (set != NULL && set[0] != '\0') {
        (void)snprintf(ret_version, 256, "%.*s", (int)strcspn(set, ":"), set);
        return true;
    }
    char folder[PATH_MAX], path[PATH_MAX];
    if (finder->cwd != NULL && strlen(finder->cwd) < sizeof folder) {
        memcpy(folder, finder->cwd, strlen(finder->cwd) + 1);
        for (;;) {
            if (path_join(path, folder, ".python-version") &&
                host_first_line(finder->root, path, ret_version, 256)) {
                return true;
            }
            if (folder[0] != '/' || folder[1] == '\0') {
                break;
            }
            path_parent(folder, folder);
        }
    }
    return path_join(path, pyenv, "version") &&
           host_first_line(finder->root, path, ret_version, 256);
}

/* "3.11" stands for the newest 3.11.x that is installed. */
static bool pyenv_prefix_match(const struct finder *finder, const char *versions,
                               char ret_version[256]) {
    DIR *folder = path_open_folder(finder->root, versions);
    if (folder == NULL) {
        return false;
    }
    char best[256] = "";
    size_t length = strlen(ret_version);
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        if (strncmp(entry->d_name, ret_version, length) == 0 && entry->d_name[length] == '.' &&
            strlen(entry->d_name) < sizeof best && strverscmp(entry->d_name, best) > 0) {
            memcpy(best, entry->d_name, strlen(entry->d_name) + 1);
        }
    }
    (void)closedir(folder);
    if (best[0] == '\0') {
        return false;
    }
    memcpy(ret_version, best, sizeof best);
    return true;
}

/* path is .../shims/python3; replaced by .../versions/V/bin/python3. */
static bool pyenv_resolve(const struct finder *finder, char path[PATH_MAX]) {
    char pyenv[PATH_MAX], versions[PATH_MAX], target[PATH_MAX], version[256];
    path_parent(path, pyenv);
    if (strcmp(path_name(pyenv), "shims") != 0) {
        return true; /* no shim: the path stands */
    }
    path_parent(pyenv, pyenv);
    if (!pyenv_version(finder, pyenv, version) || strchr(version, '/') != NULL ||
        !path_join(versions, pyenv, "versions")) {
        return false;
    }
    version[strcspn(version, " \t")] = '\0';
    if (!path_join(target, versions, version)) {
        return false;
    }
    if (!path_is_folder(finder->root, target) &&
        (!pyenv_prefix_match(finder, versions, version) || !path_join(target, versions, version))) {
        return false; /* also "system" */
    }
    AUTO_FREE char *program = mem_printf("bin/%s", path_name(path));
    return path_join(path, target, program) && root_exists(finder->root, path);
}

static bool find_python(const struct finder *finder, const char *name, char ret_path[PATH_MAX]) {
    return path_find_program(finder->root, name, variable_get(finder->variables, "PATH"),
                             finder->cwd, ret_path) &&
           pyenv_resolve(finder, ret_path);
}

/* ---- what the command says ---- */

/* Programs that run another one in the same environment. */
static bool is_wrapper(const char *name) {
    static const char *const names[] = {"env",     "nice",     "nohup",   "time",    "taskset",
                                        "numactl", "stdbuf",   "timeout", "ionice",  "setsid",
                                        "chrt",    "xvfb-run", "mpirun",  "mpiexec", "srun"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_shell(const char *name) {
    static const char *const names[] = {"sh",  "bash", "dash",    "zsh",
                                        "ksh", "fish", "busybox", "make"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* "/usr/bin/env -S python3 -u" → "python3" */
static bool env_argument(char *words, char ret_name[PATH_MAX]) {
    char *rest = NULL;
    for (const char *word = strtok_r(words, " \t", &rest); word != NULL;
         word = strtok_r(NULL, " \t", &rest)) {
        if (word[0] != '-' && strchr(word, '=') == NULL) {
            return snprintf(ret_name, PATH_MAX, "%s", word) < PATH_MAX;
        }
    }
    return false;
}

/* pip's way round the kernel's limit on the first line: '''exec' /long/path/python "$0" "$@" */
static bool exec_line(const char *line, char ret_name[PATH_MAX]) {
    if (!str_starts_with(line, "'''exec' ")) {
        return false;
    }
    const char *at = line + strlen("'''exec' ");
    bool quoted = *at == '"';
    at += quoted ? 1 : 0;
    size_t length = strcspn(at, quoted ? "\"" : " ");
    return snprintf(ret_name, PATH_MAX, "%.*s", (int)length, at) < PATH_MAX;
}

/* The interpreter that a script's first line names; false for a binary. */
static bool script_interpreter(const struct finder *finder, const char *path,
                               char ret_name[PATH_MAX]) {
    struct lines lines AUTO_LINES;
    char *line;
    if (lines_open(finder->root, path, 8192, &lines) < 0 || lines_next(&lines, &line) != 1 ||
        line[0] != '#' || line[1] != '!') {
        return false;
    }
    char first[PATH_MAX];
    int length = snprintf(first, sizeof first, "%s", line + 2 + strspn(line + 2, " \t"));
    if (length <= 0 || length >= PATH_MAX) {
        return false;
    }
    size_t end = strcspn(first, " \t\r");
    char *words = first + end + (first[end] != '\0' ? 1 : 0);
    first[end] = '\0';
    if (strcmp(path_name(first), "env") == 0) {
        words[strcspn(words, "\r")] = '\0';
        return env_argument(words, ret_name);
    }
    if (strcmp(first, "/bin/sh") == 0 && lines_next(&lines, &line) == 1 &&
        exec_line(line, ret_name)) {
        return true;
    }
    memcpy(ret_name, first, sizeof first);
    return true;
}

/* Adds the interpreter that the argument is or names. True when it is a shell or a shell's script,
 * which may start any. */
static bool consider_argument(struct finder *finder, const char *argument) {
    char path[PATH_MAX], name[PATH_MAX];
    if (python_name_is(path_name(argument))) {
        if (find_python(finder, argument, path)) {
            found_add(finder, path, "command");
        }
        return false;
    }
    if (!path_find_program(finder->root, argument, variable_get(finder->variables, "PATH"),
                           finder->cwd, path)) {
        return is_shell(path_name(argument));
    }
    if (!script_interpreter(finder, path, name)) {
        return is_shell(path_name(argument));
    }
    char shims[PATH_MAX];
    path_parent(path, shims);
    if (strcmp(path_name(shims), "shims") == 0 && pyenv_resolve(finder, path)) {
        if (!script_interpreter(finder, path,
                                name)) { /* a tool that pip installed, behind a shim */
            return false;
        }
    }
    if (!python_name_is(path_name(name))) {
        return is_shell(path_name(name));
    }
    if (find_python(finder, name, path)) {
        found_add(finder, path, "script");
    }
    return false;
}

static bool by_command(struct finder *finder, const struct probe_context *context) {
    bool may_start_python = false;
    for (size_t i = 0; i < context->argc && context->argv != NULL; i++) {
        const char *argument = context->argv[i];
        if (is_wrapper(path_name(argument))) {
            continue;
        }
        if (i > 0 && (argument[0] == '-' || strchr(argument, '=') != NULL ||
                      strspn(argument, "0123456789.smhd") == strlen(argument))) {
            continue; /* a wrapper's option, assignment or figure */
        }
        may_start_python = consider_argument(finder, argument);
        break;
    }
    if (finder->count > 0) {
        return false;
    }
    static const char *const names[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        const char *folder = variable_get(finder->variables, names[i]);
        char path[PATH_MAX];
        if (folder != NULL && folder[0] == '/' && path_join(path, folder, "bin/python")) {
            found_add(finder, path, names[i]);
        }
    }
    return may_start_python;
}

/* ---- processes ---- */

static bool read_block(const struct root *root, pid_t pid, const char *name, struct strbuf *out) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int rc = root_read(root, path, BLOCK_LIMIT, out);
    return (rc == 0 || rc == -EFBIG) && out->length > 0;
}

static bool read_link(const struct root *root, pid_t pid, const char *name,
                      char ret_path[PATH_MAX]) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    ssize_t length = root_readlink(root, path, ret_path, PATH_MAX);
    return length > 0 && ret_path[0] == '/';
}

/* The kernel shows the program with its links followed, so a virtual environment shows its base
 * (FEASIBILITY 9). What the process was called by (argv[0], looked up with its own PATH) tells the
 * environment, if it leads to that program. */
static void by_process(struct finder *finder, pid_t pid) {
    char exe[PATH_MAX], cwd[PATH_MAX], path[PATH_MAX], real[PATH_MAX];
    if (!read_link(finder->root, pid, "exe", exe) || !python_name_is(path_name(exe))) {
        return;
    }
    AUTO_STRBUF struct strbuf words = STRBUF_INIT, block = STRBUF_INIT;
    bool has_cwd = read_link(finder->root, pid, "cwd", cwd);
    bool has_words = read_block(finder->root, pid, "cmdline", &words);
    bool has_block = read_block(finder->root, pid, "environ", &block);
    struct variables variables = {.block = has_block ? block.data : NULL,
                                  .block_length = has_block ? block.length : 0};
    const struct finder own = {
        .root = finder->root, .cwd = has_cwd ? cwd : NULL, .variables = &variables};
    if (has_words && find_python(&own, words.data, path) && path_follow(finder->root, path, real) &&
        strcmp(real, exe) == 0) {
        found_add(finder, path, "process");
        return;
    }
    const char *active = variable_get(&variables, "VIRTUAL_ENV");
    if (active != NULL && active[0] == '/' && path_join(path, active, "bin/python") &&
        path_follow(finder->root, path, real) && strcmp(real, exe) == 0) {
        found_add(finder, path, "process");
        return;
    }
    found_add(finder, exe, "process");
}

/* ---- the record ---- */

static void put_found(const struct probe_context *context, const struct finder *finder,
                      struct package_budget *budget, json_t *environment) {
    json_t *interpreters = json_array(), *packages = json_array();
    json_put(environment, "interpreters", interpreters);
    json_put(environment, "packages", packages);
    for (size_t i = 0; i < finder->count; i++) {
        const struct found *found = &finder->items[i];
        const struct python *python = &found->python;
        size_t count;
        char digest[SHA256_HEX_SIZE];
        json_t *entry = json_object();
        json_put_text(entry, "path", python->path);
        json_put_text(entry, "prefix", python->prefix);
        json_put_text(entry, "version", python->version);
        json_put_text(entry, "kind", python_kind_name(python->kind));
        json_put_text(entry, "source", found->source);
        python_packages(context->root, python, finder->variables, budget, packages, &count, digest);
        if (digest[0] != '\0') {
            json_put_int(entry, "package_count", (int64_t)count);
            json_put_text(entry, "packages_digest", digest);
        }
        json_array_append_new(interpreters, entry);
    }
}

static int collect(const struct probe_context *context, json_t *environment, json_t *reasons,
                   struct err *err) {
    (void)err;
    struct variables variables = {.list = context->environment};
    AUTO_FREE struct found *items = mem_alloc(FOUND_MAX * sizeof *items);
    struct finder finder = {
        .root = context->root, .cwd = context->cwd, .variables = &variables, .items = items};
    int64_t budget_ns = context->budget_ns > 0 ? context->budget_ns : PYTHON_BUDGET_NS;
    struct package_budget budget = {.left = PACKAGES_MAX,
                                    .deadline_mono_ns = clock_mono_ns() + budget_ns};
    bool may_start_python = by_command(&finder, context);
    for (size_t i = 0; i < context->pid_count && i < PROCESSES_MAX; i++) {
        by_process(&finder, context->pids[i]);
    }
    if (finder.count == 0 && may_start_python) {
        char path[PATH_MAX];
        if (find_python(&finder, "python3", path) || find_python(&finder, "python", path)) {
            found_add(&finder, path, "PATH");
        }
    }
    put_found(context, &finder, &budget, environment);
    if (finder.count == 0) {
        reason_put(reasons, "interpreters",
                   N_("no Python interpreter was found in the command, its environment or its "
                      "processes"));
    }
    if (budget.ended_by_count) {
        reason_put(reasons, "packages", N_("more than 5000 packages; the rest was left out"));
    } else if (budget.ended_by_time) {
        reason_put(reasons, "packages", N_("reading took longer than 2 s; the rest was left out"));
    }
    return 0;
}

const struct probe_ops probe_python = {"interpreters", collect};
