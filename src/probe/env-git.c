/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code of a run (`code` in the ENVIRONMENT record): commit, branch, remote, digest of the
 * tracked files, the diff kept with its secrets masked. Two seconds in all; what is not done by
 * then is open with its reason. Without the git program, or where git refuses the repository, the
 * commit is read from its files. Must not run what the repository names.
 */
#include "probe/probe.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"
#include "probe/git-files.h"
#include "probe/git-run.h"
#include "probe/git-tree.h"
#include "probe/reason.h"
#include "text/secret.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define GIT_BUDGET_NS   (2 * NS_PER_S)
#define DIFF_LIMIT      ((size_t)8 << 20) /* as git prints it */
#define DIFF_KEPT_LIMIT ((size_t)1 << 20) /* compressed */
#define UNTRACKED_LIMIT ((size_t)16 << 20)
#define ZSTD_LEVEL      6

static const char *why(int code) {
    switch (code) {
    case -ETIME:
        return N_("git took longer than 2 s");
    case -ENOTSUP:
        return N_("a configured filter cannot be switched off, so files were not compared");
    case -EFBIG:
        return N_("the list of tracked files is too long");
    case -EIO:
        return N_("a changed file could not be read");
    case -EPROTO:
        return N_("git reported an error");
    case -ENOENT:
        return N_("the git program is not installed");
    case -EINVAL:
        return N_("git does not take the paths that the plan names as the code (code.paths)");
    case -ENODATA:
        return N_(
            "no tracked file lies under the paths that the plan names as the code (code.paths)");
    default:
        return N_("the git program could not be started");
    }
}

static void put_remote(json_t *code, const char *url, size_t length) {
    AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
    secret_mask(url, length, &masked);
    json_put(code, "repo", json_text_n(strbuf_str(&masked), masked.length));
}

/* ---- without the git program ---- */

static void by_files(const struct root *root, const struct git_files *files, json_t *code,
                     const char *reason) {
    char commit[GIT_COMMIT_SIZE], branch[GIT_BRANCH_SIZE];
    AUTO_STRBUF struct strbuf url = STRBUF_INIT;
    json_put_text(code, "root", files->top);
    if (git_files_remote(root, files, &url)) {
        put_remote(code, strbuf_str(&url), url.length);
    }
    if (git_files_head(root, files, commit, branch)) {
        json_put_text(code, "commit", commit);
    }
    if (branch[0] != '\0') {
        json_put_text(code, "branch", branch);
    }
    json_put_text(code, "reason", reason);
}

/* git refuses repositories of other users (safe.directory in git-config(1)); its own words went to
 * stderr. */
static const char *why_refused(const struct git_files *files) {
    struct stat top, dir;
    uid_t me = geteuid();
    if (stat(files->top, &top) == 0 && stat(files->git_dir, &dir) == 0 &&
        (top.st_uid != me || dir.st_uid != me)) {
        return N_("dubious ownership: the repository belongs to another user, so git does not read "
                  "it; if you trust it, add it with 'git config --global --add safe.directory'");
    }
    return N_("git does not accept the repository; only its commit was read");
}

/* ---- with it ---- */

static void strip_newline(struct strbuf *text) {
    if (text->length > 0 && text->data[text->length - 1] == '\n') {
        text->data[--text->length] = '\0';
    }
}

/* One line of output of a command that succeeded. */
static int ask_line(struct git_run *git, const char *const args[], struct strbuf *ret_line,
                    bool *ret_found) {
    int rc = git_run(git, args, 65536, ret_line);
    strip_newline(ret_line);
    *ret_found = rc == 0 && git->status == 0 && ret_line->length > 0;
    return rc;
}

static int put_commit(struct git_run *git, json_t *code, bool *ret_has_commit) {
    static const char *const head[] = {"rev-parse", "--verify", "-q", "HEAD^{commit}", NULL};
    static const char *const name[] = {"symbolic-ref", "-q", "--short", "HEAD", NULL};
    AUTO_STRBUF struct strbuf commit = STRBUF_INIT, branch = STRBUF_INIT;
    bool has_branch = false;
    int rc = ask_line(git, head, &commit, ret_has_commit);
    if (rc == 0 && *ret_has_commit && git_is_commit(strbuf_str(&commit))) {
        json_put_text(code, "commit", strbuf_str(&commit));
    }
    if (rc == 0) {
        rc = ask_line(git, name, &branch, &has_branch);
    }
    if (has_branch) {
        json_put(code, "branch", json_text_n(strbuf_str(&branch), branch.length));
    }
    return rc;
}

/* "remote.NAME.url\nVALUE\0" each; origin before others. */
static int put_repo(struct git_run *git, json_t *code) {
    static const char *const ask[] = {"config", "-z", "--get-regexp", "^remote\\..*\\.url$", NULL};
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    int rc = git_run(git, ask, 1 << 20, &out);
    bool found = false;
    for (size_t at = 0; rc == 0 && at < out.length;) {
        const char *line = out.data + at;
        const char *newline = strchr(line, '\n');
        at += strlen(line) + 1;
        if (newline == NULL) {
            continue;
        }
        bool origin = str_starts_with(line, "remote.origin.url\n");
        if (!found || origin) {
            put_remote(code, newline + 1, strlen(newline + 1));
            found = true;
        }
        if (origin) {
            break;
        }
    }
    return rc;
}

static void keep_diff(const struct strbuf *diff, json_t *code, json_t *reasons) {
    char hex[SHA256_HEX_SIZE];
    digest_sha256(strbuf_str(diff), diff->length, hex);
    json_put_text(code, "diff_digest", hex);
    AUTO_STRBUF struct strbuf masked = STRBUF_INIT, text = STRBUF_INIT;
    secret_mask(strbuf_str(diff), diff->length, &masked);
    size_t bound = ZSTD_compressBound(masked.length);
    AUTO_FREE char *packed = mem_alloc(bound);
    size_t length = ZSTD_compress(packed, bound, strbuf_str(&masked), masked.length, ZSTD_LEVEL);
    if (ZSTD_isError(length) || length > DIFF_KEPT_LIMIT) {
        reason_put(reasons, "code.diff", N_("the diff is larger than 1 MiB compressed"));
        return;
    }
    str_add_base64(&text, packed, length);
    json_put_text(code, "diff_zstd_base64", strbuf_str(&text));
    if (masked.length != diff->length ||
        memcmp(strbuf_str(&masked), strbuf_str(diff), diff->length) != 0) {
        json_put_bool(code, "diff_masked", 1); /* the kept text cannot be applied as it is */
    }
}

static int put_diff(struct git_run *git, const struct git_scope *scope, json_t *code,
                    json_t *reasons) {
    /* Everything that a configuration could change about the text is said here. */
    static const char *const ask[] = {"-c",
                                      "diff.noprefix=false",
                                      "-c",
                                      "diff.mnemonicPrefix=false",
                                      "-c",
                                      "diff.interHunkContext=0",
                                      "-c",
                                      "diff.relative=false",
                                      "-c",
                                      "diff.suppressBlankEmpty=false",
                                      "-c",
                                      "diff.wsErrorHighlight=none",
                                      "diff",
                                      "--no-ext-diff",
                                      "--no-textconv",
                                      "--no-color",
                                      "--no-color-moved",
                                      "--no-renames",
                                      "--full-index",
                                      "-U3",
                                      "--diff-algorithm=myers",
                                      "-O/dev/null",
                                      "--submodule=short",
                                      "--ignore-submodules=all",
                                      "HEAD",
                                      NULL};
    AUTO_STRBUF struct strbuf diff = STRBUF_INIT;
    int rc = git_scope_run(git, scope, ask, DIFF_LIMIT, &diff);
    if (rc == -EFBIG) {
        reason_put(reasons, "code.diff", N_("the diff is larger than 8 MiB"));
        return 0;
    }
    if (rc < 0) {
        return rc;
    }
    if (git->status != 0) {
        return -EPROTO;
    }
    if (diff.length == 0) {
        reason_put(reasons, "code.diff",
                   N_("flags in git's index hide the change (assume-unchanged, skip-worktree)"));
        return 0;
    }
    keep_diff(&diff, code, reasons);
    return 0;
}

/* How many files git neither tracks nor ignores; a folder of only such files counts once. Names are
 * not kept. */
static int put_untracked(struct git_run *git, const struct git_scope *scope, json_t *code) {
    static const char *const ask[] = {
        "ls-files", "-o", "-z", "--exclude-standard", "--directory", "--no-empty-directory", NULL};
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    int rc = git_scope_run(git, scope, ask, UNTRACKED_LIMIT, &out);
    if (rc < 0) {
        return rc;
    }
    if (git->status != 0) {
        return -EPROTO;
    }
    int64_t count = 0;
    for (size_t i = 0; i < out.length; i++) {
        count += out.data[i] == '\0';
    }
    json_put_int(code, "untracked", count);
    return 0;
}

/* Each step adds what it found; the first that fails ends the rest, and the record says at which it
 * was. */
static void by_git(struct git_run *git, const struct git_scope *scope, json_t *code,
                   json_t *reasons) {
    bool has_commit = false;
    struct git_tree tree;
    int rc = put_commit(git, code, &has_commit);
    if (rc == 0) {
        rc = put_repo(git, code);
    }
    if (rc == 0) {
        rc = git_run_disarm(git);
    }
    if (rc == 0) {
        rc = git_tree_read(git, scope, &tree);
    }
    if (rc < 0) {
        reason_put(reasons, "code.digest", why(rc));
        json_put_text(code, "reason", why(rc));
        return;
    }
    json_put_bool(code, "dirty", tree.dirty);
    json_put_bool(code, "code_dirty", tree.code_dirty);
    json_put_text(code, "digest", tree.digest);
    if (tree.submodule_count > 0) {
        json_put_int(code, "submodules", (int64_t)tree.submodule_count);
        reason_put(reasons, "code.submodules", N_("changes inside submodules are not looked at"));
    }
    if (tree.dirty && has_commit) {
        rc = put_diff(git, scope, code, reasons);
        if (rc < 0) {
            reason_put(reasons, "code.diff", why(rc));
        }
    } else if (!has_commit) {
        reason_put(reasons, "code.commit", N_("the repository has no commit yet"));
    }
    rc = put_untracked(git, scope, code);
    if (rc < 0) {
        reason_put(reasons, "code.untracked", why(rc));
    }
}

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Where the code is: the plan's folder, else that of the command. */
static const char *base_folder(const struct probe_context *context) {
    return context->code_folder != NULL ? context->code_folder : context->cwd;
}

static bool has_paths(const struct probe_context *context) {
    return context->code_paths != NULL && context->code_paths[0] != NULL;
}

static void read_tree(const struct probe_context *context, struct git_run *git, const char *top,
                      json_t *code, json_t *reasons) {
    static const char *const ask_prefix[] = {"rev-parse", "--show-prefix", NULL};
    struct git_scope scope = {0};
    AUTO_STRBUF struct strbuf except = STRBUF_INIT;
    if (has_paths(context)) {
        scope.folder = base_folder(context);
        scope.paths = context->code_paths;
    }
    if (context->code_except != NULL) { /* "" at the top, else with a slash at its end */
        bool below = false;
        if (ask_line(git, ask_prefix, &except, &below) == 0 && git->status == 0) {
            strbuf_add_str(&except, context->code_except);
            scope.except = strbuf_str(&except);
        }
    }
    git->folder = top;
    by_git(git, &scope, code, reasons);
}

static void read_real(const struct probe_context *context, json_t *code, json_t *reasons) {
    static const char *const ask_top[] = {"rev-parse", "--show-toplevel", NULL};
    const char *base = base_folder(context);
    struct git_files files;
    bool has_files = git_files_find(context->root, base, &files);
    AUTO_STRBUF struct strbuf top = STRBUF_INIT;
    AUTO_GIT_RUN struct git_run git;
    int64_t budget_ns = context->budget_ns > 0 ? context->budget_ns : GIT_BUDGET_NS;
    git_run_init(&git, base, clock_mono_ns() + budget_ns);
    bool accepted = false;
    int rc = is_folder(base) ? ask_line(&git, ask_top, &top, &accepted) : -ENOTDIR;
    if (rc == 0 && accepted) {
        json_put(code, "root", json_text_n(strbuf_str(&top), top.length));
        read_tree(context, &git, strbuf_str(&top), code, reasons);
    } else if (has_files) {
        by_files(context->root, &files, code, rc < 0 ? why(rc) : why_refused(&files));
    } else {
        json_put_text(code, "reason", N_("the working folder is in no git repository"));
    }
}

static void put_paths(const struct probe_context *context, json_t *code) {
    json_t *paths = json_array();
    for (size_t i = 0; context->code_paths[i] != NULL; i++) {
        AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
        secret_mask(context->code_paths[i], strlen(context->code_paths[i]), &safe);
        (void)json_array_append_new(paths, json_text_n(strbuf_str(&safe), safe.length));
    }
    json_put(code, "paths", paths);
}

static int collect(const struct probe_context *context, json_t *environment, json_t *reasons,
                   struct err *err) {
    (void)err;
    json_t *code = json_object();
    json_put(environment, "code", code);
    const char *base = base_folder(context);
    if (has_paths(context)) {
        put_paths(context, code);
    }
    if (base == NULL || base[0] != '/') {
        json_put_text(code, "reason", N_("the working folder is not known"));
    } else if (context->root->prefix[0] == '\0') {
        read_real(context, code, reasons);
    } else {
        struct git_files files; /* a recorded machine: git would look at this one */
        if (git_files_find(context->root, base, &files)) {
            by_files(context->root, &files, code, N_("only the commit was read"));
        } else {
            json_put_text(code, "reason", N_("the working folder is in no git repository"));
        }
    }
    if (json_object_get(code, "reason") != NULL) {
        reason_put(reasons, "code", json_get_text(code, "reason", ""));
    }
    return 0;
}

const struct probe_ops probe_git = {"code", collect};
