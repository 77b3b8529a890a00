/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The code of a run: real repositories, hostile configurations (nothing of theirs may run),
 * repositories without git. */
#include "probe/probe.h"

#include "base/err.h"
#include "probe/git-files.h"
#include "probe/git-tree.h"
#include "tree.h"

#include <zstd.h>

struct code {
    json_t *environment, *reasons;
    json_t *code; /* borrowed */
};

static void code_done(struct code *code) {
    json_decref(code->environment);
    json_decref(code->reasons);
}
#define AUTO_CODE __attribute__((cleanup(code_done)))

static struct code take_within(const struct root *root, const char *cwd, int64_t budget_ns) {
    struct code code = {.environment = json_object(), .reasons = json_object()};
    struct probe_context context = {.root = root, .cwd = cwd, .budget_ns = budget_ns};
    struct err err = ERR_INIT;
    assert_int_equal(probe_git.collect(&context, code.environment, code.reasons, &err), 0);
    code.code = json_get_object(code.environment, "code");
    assert_non_null(code.code);
    return code;
}

/* A busy test machine must not end the reading. */
static struct code take_at(const struct root *root, const char *cwd) {
    return take_within(root, cwd, INT64_C(120000000000));
}

static struct code take(const char *cwd) {
    return take_at(&root_real, cwd);
}

static const char *text(const struct code *code, const char *key) {
    return json_get_text(code->code, key, NULL);
}

/* A repository with two files and one commit. */
static char *repository(void) {
    char *base = tree_new();
    GIT(base, "init", "-q", "-b", "main");
    tree_write(base, "/train.py", "print('one')\n");
    tree_write(base, "/lib/model.py", "x = 1\n");
    tree_write(base, "/README.md", "words\n");
    GIT(base, "add", ".");
    GIT(base, "commit", "-q", "-m", "first");
    return base;
}

static bool touched(const char *base) {
    AUTO_FREE char *path = mem_printf("%s/TOUCHED", base);
    return access(path, F_OK) == 0;
}

/* A program that leaves a mark when it runs; its path. */
static char *trap(const char *base) {
    AUTO_FREE char *script = mem_printf("#!/bin/sh\ntouch '%s/TOUCHED'\ncat\n", base);
    tree_write(base, "/trap.sh", script);
    char *path = mem_printf("%s/trap.sh", base);
    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

/* ---- what is read ---- */

static void test_clean_repository(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    AUTO_FREE char *sub = mem_printf("%s/lib", base);
    struct code code AUTO_CODE = take(sub); /* from a folder inside */
    assert_null(text(&code, "reason"));
    assert_true(git_is_commit(text(&code, "commit")));
    assert_string_equal(text(&code, "branch"), "main");
    assert_string_equal(text(&code, "root"), base);
    assert_false(json_get_bool(code.code, "dirty", 1));
    assert_int_equal(strlen(text(&code, "digest")), 64);
    assert_null(json_object_get(code.code, "diff_digest"));
    assert_null(json_object_get(code.code, "repo"));
    assert_int_equal(json_get_int(code.code, "untracked", -1), 0);
}

static void test_same_content_same_digest(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    AUTO_TREE char *mark = tree_new();
    struct code clean AUTO_CODE = take(base);
    tree_write(base, "/train.py", "print('two')\n");
    AUTO_FREE char *link = mem_printf("%s/link", base);
    assert_int_equal(symlink("train.py", link), 0);
    AUTO_FREE char *program = mem_printf("%s/lib/model.py", base);
    assert_int_equal(chmod(program, 0755), 0);
    GIT(base, "add", "link");
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("lib/model.py", link), 0); /* changed after it was added */
    struct code dirty AUTO_CODE = take(base);
    assert_true(json_get_bool(dirty.code, "dirty", 0));
    assert_true(json_get_bool(dirty.code, "code_dirty", 0));
    assert_string_not_equal(text(&dirty, "digest"), text(&clean, "digest"));
    assert_string_equal(text(&dirty, "commit"), text(&clean, "commit"));
    GIT(base, "add", ".");
    struct code staged AUTO_CODE = take(base);
    assert_true(json_get_bool(staged.code, "dirty", 0));
    assert_string_equal(text(&staged, "digest"), text(&dirty, "digest"));
    GIT(base, "commit", "-q", "-m", "second");
    struct code committed AUTO_CODE = take(base);
    assert_false(json_get_bool(committed.code, "dirty", 1));
    assert_string_equal(text(&committed, "digest"), text(&dirty, "digest"));
    assert_string_not_equal(text(&committed, "commit"), text(&dirty, "commit"));
    /* another clone, another branch, the same content */
    AUTO_FREE char *clone = mem_printf("%s/clone", mark);
    GIT(base, "clone", "-q", base, clone);
    GIT(clone, "checkout", "-q", "-b", "other");
    struct code cloned AUTO_CODE = take(clone);
    assert_string_equal(text(&cloned, "digest"), text(&dirty, "digest"));
    assert_string_equal(text(&cloned, "branch"), "other");
    assert_string_equal(text(&cloned, "repo"), base);
}

static void test_what_is_no_code_does_not_count(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    struct code before AUTO_CODE = take(base);
    tree_write(base, "/README.md", "other words\n");
    tree_write(base, "/notes.txt", "untracked\n");
    tree_write(base, "/data/a", "1");
    tree_write(base, "/data/b", "2");
    struct code after AUTO_CODE = take(base);
    assert_true(json_get_bool(after.code, "dirty", 0)); /* a tracked file differs all the same */
    assert_false(json_get_bool(after.code, "code_dirty", 1));
    assert_string_equal(text(&after, "digest"), text(&before, "digest"));
    assert_int_equal(json_get_int(after.code, "untracked", -1), 2); /* notes.txt, data/ */
    assert_true(git_path_is_code("src/a.c") && git_path_is_code("docs.py") &&
                git_path_is_code("x/docs/a.py"));
    assert_false(git_path_is_code("README.md") || git_path_is_code("a/b.md") ||
                 git_path_is_code("docs/x.py") || git_path_is_code("LICENSE") ||
                 git_path_is_code("a/LICENSE.txt") || git_path_is_code("probelauf.yaml"));
    /* deleted is a change */
    AUTO_FREE char *model = mem_printf("%s/lib/model.py", base);
    assert_int_equal(unlink(model), 0);
    struct code deleted AUTO_CODE = take(base);
    assert_string_not_equal(text(&deleted, "digest"), text(&before, "digest"));
}

static char *kept_diff(const struct code *code) {
    /* base64 by the shell's own tool, so that our encoder is not tested against itself */
    AUTO_TREE char *place = tree_new();
    const char *encoded = text(code, "diff_zstd_base64");
    assert_non_null(encoded);
    tree_write(place, "/in", encoded);
    tree_run(place, (const char *const[]){"sh", "-c", "base64 -d < in > out", NULL});
    AUTO_FREE char *path = mem_printf("%s/out", place);
    AUTO_STRBUF struct strbuf packed = STRBUF_INIT;
    assert_int_equal(file_read(path, 4u << 20, &packed), 0);
    unsigned long long size = ZSTD_getFrameContentSize(packed.data, packed.length);
    assert_true(size < (64u << 20));
    char *diff = mem_alloc(size + 1);
    assert_int_equal(ZSTD_decompress(diff, size, packed.data, packed.length), size);
    return diff;
}

static void test_diff_is_kept_without_its_secrets(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    tree_write(base, "/train.py", "print('two')\n");
    struct code plain AUTO_CODE = take(base);
    AUTO_FREE char *diff = kept_diff(&plain);
    assert_non_null(strstr(diff, "-print('one')\n+print('two')\n"));
    assert_null(json_object_get(plain.code, "diff_masked"));
    AUTO_FREE char *token = mem_printf("hf_%s", "AbCdEfGhIjKlMnOpQrStUvWxYz01234567");
    AUTO_FREE char *line = mem_printf("token = \"%s\"\n", token);
    tree_write(base, "/train.py", line);
    struct code secret AUTO_CODE = take(base);
    AUTO_FREE char *masked = kept_diff(&secret);
    assert_null(strstr(masked, token));
    assert_non_null(strstr(masked, "train.py"));
    assert_true(json_get_bool(secret.code, "diff_masked", 0));
    assert_string_not_equal(text(&secret, "diff_digest"), text(&plain, "diff_digest"));
}

static void test_a_huge_diff_is_named_not_kept(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    AUTO_STRBUF struct strbuf noise = STRBUF_INIT;
    uint64_t seed = 88172645463325252u;
    while (noise.length < (3u << 20)) { /* does not compress below 1 MiB */
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        strbuf_printf(&noise, "%016llx%s", (unsigned long long)seed, seed % 5 == 0 ? "\n" : " ");
    }
    tree_write_bytes(base, "/train.py", noise.data, noise.length);
    struct code code AUTO_CODE = take(base);
    assert_non_null(text(&code, "digest"));
    assert_non_null(json_get_text(code.reasons, "code.diff", NULL));
    assert_null(text(&code, "diff_zstd_base64"));
}

static void test_remotes_are_masked(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    GIT(base, "remote", "add", "backup", "https://example.org/b.git");
    GIT(base, "remote", "add", "origin", "https://me:hunter2secret@example.org/a.git");
    struct code code AUTO_CODE = take(base);
    assert_non_null(strstr(text(&code, "repo"), "example.org/a.git"));
    assert_null(strstr(text(&code, "repo"), "hunter2secret"));
}

static void test_changes_that_the_index_hides(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    struct code before AUTO_CODE = take(base);
    GIT(base, "update-index", "--assume-unchanged", "train.py");
    GIT(base, "update-index", "--skip-worktree", "lib/model.py");
    struct code same AUTO_CODE = take(base);
    assert_string_equal(text(&same, "digest"), text(&before, "digest"));
    assert_false(json_get_bool(same.code, "dirty", 1));
    tree_write(base, "/train.py", "print('hidden')\n");
    struct code hidden AUTO_CODE = take(base);
    assert_string_not_equal(text(&hidden, "digest"), text(&before, "digest"));
    assert_true(json_get_bool(hidden.code, "dirty", 0));
    assert_non_null(json_get_text(hidden.reasons, "code.diff", NULL));
    AUTO_FREE char *model = mem_printf("%s/lib/model.py", base);
    tree_write(base, "/train.py", "print('one')\n");
    assert_int_equal(unlink(model), 0); /* as in a sparse checkout */
    struct code sparse AUTO_CODE = take(base);
    assert_string_equal(text(&sparse, "digest"), text(&before, "digest"));
}

static void test_odd_names(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    tree_write(base, "/-n", "1\n");
    tree_write(base, "/a\nb", "2\n");
    tree_write(base, "/:(top)x", "3\n");
    tree_write(base, "/\xff\xfe", "4\n");
    tree_write(base, "/sp ace\t", "5\n");
    GIT(base, "add", "--", ".");
    GIT(base, "commit", "-q", "-m", "odd");
    struct code clean AUTO_CODE = take(base);
    tree_write(base, "/-n", "x\n");
    tree_write(base, "/a\nb", "x\n");
    tree_write(base, "/:(top)x", "x\n");
    tree_write(base, "/\xff\xfe", "x\n");
    tree_write(base, "/sp ace\t", "x\n");
    struct code dirty AUTO_CODE = take(base);
    assert_null(text(&dirty, "reason"));
    assert_string_not_equal(text(&dirty, "digest"), text(&clean, "digest"));
    GIT(base, "commit", "-q", "-a", "-m", "odder");
    struct code committed AUTO_CODE = take(base);
    assert_string_equal(text(&committed, "digest"), text(&dirty, "digest"));
}

static void test_many_changed_files(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    for (int i = 0; i < 900; i++) { /* more than one batch */
        AUTO_FREE char *path = mem_printf("/many/%d.py", i);
        tree_write(base, path, "a\n");
    }
    GIT(base, "add", ".");
    GIT(base, "commit", "-q", "-m", "many");
    for (int i = 0; i < 900; i++) {
        AUTO_FREE char *path = mem_printf("/many/%d.py", i);
        AUTO_FREE char *content = mem_printf("b%d\n", i);
        tree_write(base, path, content);
    }
    struct code dirty AUTO_CODE = take(base);
    GIT(base, "commit", "-q", "-a", "-m", "more");
    struct code committed AUTO_CODE = take(base);
    assert_non_null(text(&dirty, "digest"));
    assert_string_equal(text(&committed, "digest"), text(&dirty, "digest"));
}

static void test_no_commit_yet(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    GIT(base, "init", "-q", "-b", "main");
    tree_write(base, "/a", "1\n");
    GIT(base, "add", "a");
    struct code code AUTO_CODE = take(base);
    assert_null(json_object_get(code.code, "commit"));
    assert_non_null(json_get_text(code.reasons, "code.commit", NULL));
    assert_non_null(text(&code, "digest"));
    assert_true(json_get_bool(code.code, "dirty", 0));
}

static void test_detached_conflict_and_submodule(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    AUTO_TREE char *module = repository();
    GIT(base, "submodule", "--quiet", "add", module, "sub");
    GIT(base, "commit", "-q", "-m", "sub");
    struct code before AUTO_CODE = take(base);
    assert_int_equal(json_get_int(before.code, "submodules", 0), 1);
    assert_non_null(json_get_text(before.reasons, "code.submodules", NULL));
    tree_write(base, "/sub/train.py", "changed\n");
    struct code after AUTO_CODE = take(base);
    assert_string_equal(text(&after, "digest"), text(&before, "digest"));
    assert_false(json_get_bool(after.code, "dirty", 1));
    GIT(base, "checkout", "-q", "--detach");
    struct code detached AUTO_CODE = take(base);
    assert_null(text(&detached, "branch"));
    assert_non_null(text(&detached, "commit"));
    /* a conflict: what is on disk counts */
    GIT(base, "checkout", "-q", "-b", "left");
    tree_write(base, "/train.py", "left\n");
    GIT(base, "commit", "-q", "-a", "-m", "left");
    GIT(base, "checkout", "-q", "-b", "right", "main");
    tree_write(base, "/train.py", "right\n");
    GIT(base, "commit", "-q", "-a", "-m", "right");
    tree_run(base, (const char *const[]){
                       "sh", "-c", "! git -c user.name=T -c user.email=t@e merge -q left", NULL});
    struct code conflict AUTO_CODE = take(base);
    assert_true(json_get_bool(conflict.code, "dirty", 0));
    assert_non_null(text(&conflict, "digest"));
    tree_write(base, "/train.py", "right\n");
    GIT(base, "checkout", "-q", "-f", "right");
    struct code right AUTO_CODE = take(base);
    assert_string_not_equal(text(&conflict, "digest"), text(&right, "digest"));
}

static void test_sha256_repository(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    GIT(base, "init", "-q", "--object-format=sha256");
    tree_write(base, "/a", "1\n");
    tree_link(base, "/l", "a");
    GIT(base, "add", ".");
    GIT(base, "commit", "-q", "-m", "a");
    AUTO_FREE char *link = mem_printf("%s/l", base);
    assert_int_equal(unlink(link), 0);
    tree_link(base, "/l", "b");
    struct code dirty AUTO_CODE = take(base);
    assert_int_equal(strlen(text(&dirty, "commit")), 64);
    GIT(base, "commit", "-q", "-a", "-m", "b");
    struct code committed AUTO_CODE = take(base);
    assert_string_equal(text(&committed, "digest"), text(&dirty, "digest"));
}

static void test_line_ends_as_git_stores_them(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    tree_write(base, "/.gitattributes", "*.py text eol=lf\n");
    GIT(base, "add", ".");
    GIT(base, "commit", "-q", "-m", "attributes");
    tree_write(base, "/train.py", "print('crlf')\r\n");
    struct code dirty AUTO_CODE = take(base);
    GIT(base, "commit", "-q", "-a", "-m", "crlf");
    struct code committed AUTO_CODE = take(base);
    assert_string_equal(text(&committed, "digest"), text(&dirty, "digest"));
}

/* ---- hostile repositories ---- */

static void test_nothing_of_the_repository_runs(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    AUTO_TREE char *outside = tree_new();
    AUTO_FREE char *program = trap(outside);
    tree_write(base, "/.gitattributes",
               "*.py filter=evil diff=evil\nlib/* filter=long\nREADME.md filter=a.b\n");
    GIT(base, "add", ".");
    GIT(base, "commit", "-q", "-m", "attributes");
    AUTO_FREE char *hooks = mem_printf("%s/hooks", outside);
    static const char *const hook_names[] = {"post-index-change", "fsmonitor-watchman",
                                             "pre-commit", "post-checkout"};
    for (size_t i = 0; i < ARRAY_LENGTH(hook_names); i++) {
        AUTO_FREE char *path = mem_printf("/hooks/%s", hook_names[i]);
        tree_link(outside, path, "../trap.sh");
        AUTO_FREE char *own = mem_printf("/.git/hooks/%s", hook_names[i]);
        tree_link(base, own, program);
    }
    static const char *const keys[] = {
        "core.fsmonitor",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "filter.long.process",
        "filter.a.b.clean",
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "core.pager",
        "core.editor",
        "core.sshCommand",
        "credential.helper",
        "core.gitProxy",
        "gpg.program",
        "interactive.diffFilter",
        "core.alternateRefsCommand",
        "sequence.editor",
        "core.askPass",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        GIT(base, "config", keys[i], program);
    }
    GIT(base, "config", "filter.evil.required", "true");
    GIT(base, "config", "core.hooksPath", hooks);
    GIT(base, "config", "core.untrackedCache", "true");
    GIT(base, "config", "status.submoduleSummary", "true");
    GIT(base, "config", "alias.status", "!touch TOUCHED");
    tree_write(base, "/train.py", "print('changed')\n");
    tree_write(base, "/lib/model.py", "x = 2\n");
    AUTO_FREE char *mark = mem_printf("%s/TOUCHED", outside);
    (void)unlink(mark); /* what the lines above may have run */
    assert_int_equal(setenv("GIT_EXTERNAL_DIFF", program, 1), 0);
    struct code code AUTO_CODE = take(base);
    assert_int_equal(unsetenv("GIT_EXTERNAL_DIFF"), 0);
    assert_false(touched(outside));
    assert_false(touched(base));
    assert_null(text(&code, "reason"));
    assert_true(json_get_bool(code.code, "dirty", 0));
    assert_non_null(text(&code, "digest"));
    AUTO_FREE char *diff = kept_diff(&code);
    assert_non_null(strstr(diff, "+print('changed')\n"));
    /* and the traps work: the same commands without our switches run them */
    tree_run(base, (const char *const[]){
                       "sh", "-c",
                       "git status >/dev/null 2>&1; git diff HEAD >/dev/null 2>&1; true", NULL});
    assert_true(touched(outside));
}

static void test_a_filter_that_cannot_be_switched_off(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    AUTO_TREE char *outside = tree_new();
    AUTO_FREE char *program = trap(outside);
    tree_write(base, "/.gitattributes", "*.py filter=a=b\n");
    AUTO_FREE char *config = mem_printf("[filter \"a=b\"]\n\tclean = %s\n", program);
    tree_write(base, "/extra", config);
    GIT(base, "config", "include.path", "../extra");
    tree_write(base, "/train.py", "print('changed')\n");
    struct code code AUTO_CODE = take(base);
    assert_false(touched(outside));
    assert_non_null(text(&code, "commit"));
    assert_null(text(&code, "digest"));
    assert_non_null(json_get_text(code.reasons, "code.digest", NULL));
    assert_null(json_object_get(code.code, "dirty")); /* open, not "clean" */
}

static void test_nothing_is_fetched(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    AUTO_TREE char *outside = tree_new();
    AUTO_FREE char *program = trap(outside);
    AUTO_FREE char *clone = mem_printf("%s/clone", outside);
    AUTO_FREE char *url = mem_printf("file://%s", base);
    GIT(base, "config", "uploadpack.allowFilter", "true");
    GIT(outside, "clone", "-q", "--no-checkout", "--filter=blob:none", url, clone);
    GIT(clone, "config", "remote.origin.uploadpack", program);
    GIT(clone, "config", "protocol.file.allow", "always");
    tree_run(clone, (const char *const[]){"git", "read-tree", "HEAD", NULL});
    tree_write(clone, "/train.py", "print('changed')\n");
    struct code code AUTO_CODE = take(clone);
    assert_false(touched(outside));
    assert_non_null(text(&code, "commit"));
    assert_non_null(text(&code, "digest"));
    assert_non_null(
        json_get_text(code.reasons, "code.diff", NULL)); /* the old content is not here */
}

static void test_the_index_is_not_written(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    AUTO_FREE char *index = mem_printf("%s/.git/index", base);
    struct timespec old[2] = {{1000000000, 0}, {1000000000, 0}};
    AUTO_FREE char *file = mem_printf("%s/train.py", base);
    assert_int_equal(utimensat(AT_FDCWD, file, old, 0), 0); /* git would refresh the index for it */
    struct stat before, after;
    assert_int_equal(stat(index, &before), 0);
    struct code code AUTO_CODE = take(base);
    assert_int_equal(stat(index, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
    assert_false(json_get_bool(code.code, "dirty", 1));
}

static void test_variables_do_not_lead_elsewhere(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    AUTO_TREE char *other = repository();
    AUTO_FREE char *other_git = mem_printf("%s/.git", other);
    AUTO_FREE char *other_index = mem_printf("%s/.git/index", other);
    assert_int_equal(setenv("GIT_DIR", other_git, 1), 0);
    assert_int_equal(setenv("GIT_WORK_TREE", other, 1), 0);
    assert_int_equal(setenv("GIT_INDEX_FILE", other_index, 1), 0);
    struct code code AUTO_CODE = take(base);
    assert_int_equal(unsetenv("GIT_DIR"), 0);
    assert_int_equal(unsetenv("GIT_WORK_TREE"), 0);
    assert_int_equal(unsetenv("GIT_INDEX_FILE"), 0);
    assert_string_equal(text(&code, "root"), base);
}

static void test_a_slow_git_is_left(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    AUTO_TREE char *bin = tree_new();
    tree_write(bin, "/git", "#!/bin/sh\nexec sleep 60\n");
    AUTO_FREE char *program = mem_printf("%s/git", bin);
    assert_int_equal(chmod(program, 0755), 0);
    AUTO_FREE char *old = mem_strdup(getenv("PATH"));
    AUTO_FREE char *path = mem_printf("%s:%s", bin, old);
    assert_int_equal(setenv("PATH", path, 1), 0);
    struct code code AUTO_CODE = take_within(&root_real, base, 0);
    assert_int_equal(setenv("PATH", old, 1), 0);
    assert_non_null(strstr(text(&code, "reason"), "2 s"));
    assert_true(git_is_commit(text(&code, "commit"))); /* read from the files */
    assert_null(json_object_get(code.code, "dirty"));
    assert_null(json_object_get(code.code, "digest"));
}

/* ---- without git, or refused by it ---- */

static void test_without_the_git_program(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    AUTO_TREE char *bin = tree_new();
    GIT(base, "remote", "add", "origin", "https://me:hunter2secret@example.org/a.git");
    struct code with AUTO_CODE = take(base);
    AUTO_FREE char *old = mem_strdup(getenv("PATH"));
    assert_int_equal(setenv("PATH", bin, 1), 0);
    struct code nothing AUTO_CODE = take(base);
    tree_link(bin, "/env", "/usr/bin/env"); /* now env is there and git is not */
    struct code no_git AUTO_CODE = take(base);
    assert_int_equal(setenv("PATH", old, 1), 0);
    const struct code *both[] = {&nothing, &no_git};
    for (size_t i = 0; i < ARRAY_LENGTH(both); i++) {
        assert_non_null(strstr(text(both[i], "reason"), "not installed"));
        assert_string_equal(text(both[i], "commit"), text(&with, "commit"));
        assert_string_equal(text(both[i], "branch"), "main");
        assert_null(strstr(text(both[i], "repo"), "hunter2secret"));
        assert_non_null(strstr(text(both[i], "repo"), "example.org/a.git"));
        assert_null(json_object_get(both[i]->code, "dirty"));
        assert_null(json_object_get(both[i]->code, "digest"));
    }
}

static void test_files_of_every_kind_of_checkout(void **state) {
    (void)state;
    AUTO_TREE char *base = repository();
    struct code code AUTO_CODE = take(base);
    struct git_files files;
    char commit[GIT_COMMIT_SIZE], branch[GIT_BRANCH_SIZE];
    GIT(base, "pack-refs", "--all");
    assert_true(git_files_find(&root_real, base, &files));
    assert_true(git_files_head(&root_real, &files, commit, branch));
    assert_string_equal(commit, text(&code, "commit"));
    assert_string_equal(branch, "main");
    AUTO_FREE char *work = mem_printf("%s/work", base);
    GIT(base, "worktree", "add", "-q", "-b", "linked", work);
    assert_true(git_files_find(&root_real, work, &files));
    assert_string_equal(files.top, work);
    assert_true(git_files_head(&root_real, &files, commit, branch));
    assert_string_equal(commit, text(&code, "commit"));
    assert_string_equal(branch, "linked");
    GIT(base, "checkout", "-q", "--detach");
    assert_true(git_files_find(&root_real, base, &files));
    assert_true(git_files_head(&root_real, &files, commit, branch));
    assert_string_equal(branch, "");
    assert_false(git_files_find(&root_real, "/proc/self", &files));
    assert_false(git_files_find(&root_real, "relative", &files));
}

static void test_hostile_files(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    struct git_files files;
    char commit[GIT_COMMIT_SIZE], branch[GIT_BRANCH_SIZE];
    tree_write(base, "/w/secret", "0123456789012345678901234567890123456789\n");
    static const char *const heads[] = {"ref: ../secret\n",
                                        "ref: refs/../../secret\n",
                                        "ref: secret\n",
                                        "ref: refs/heads/none\n",
                                        "",
                                        "\xff\xff\n",
                                        "ref: refs/heads/loop\n",
                                        "0123\n",
                                        "01234567890123456789012345678901234567zz\n"};
    tree_write(base, "/w/.git/refs/heads/loop", "ref: refs/heads/loop\n");
    for (size_t i = 0; i < ARRAY_LENGTH(heads); i++) {
        tree_write(base, "/w/.git/HEAD", heads[i]);
        assert_true(git_files_find(&root, "/w", &files));
        assert_false(git_files_head(&root, &files, commit, branch));
    }
    tree_write(base, "/w/.git/HEAD", "ref: refs/heads/x\n");
    tree_write(base, "/w/.git/packed-refs",
               "# pack-refs with: peeled\n^abc\nzz refs/heads/x\n"
               "89abcdef0123456789abcdef0123456789abcdef refs/heads/x\n");
    assert_true(git_files_head(&root, &files, commit, branch));
    assert_string_equal(commit, "89abcdef0123456789abcdef0123456789abcdef");
    struct code code AUTO_CODE =
        take_at(&root, "/w/deep/er"); /* a recorded machine: by files only */
    assert_string_equal(text(&code, "commit"), commit);
    assert_string_equal(text(&code, "root"), "/w");
    struct code none AUTO_CODE = take_at(&root, "/elsewhere");
    assert_non_null(text(&none, "reason"));
    assert_null(text(&none, "commit"));
}

static void test_somebody_elses_repository(void **state) {
    (void)state;
    if (geteuid() != 0) {
        skip(); /* only root can give folders away */
    }
    AUTO_TREE char *base = repository();
    AUTO_TREE char *home = tree_new();
    tree_run(base, (const char *const[]){"chown", "-R", "65534:65534", base, NULL});
    AUTO_FREE char *old = mem_strdup(getenv("HOME") != NULL ? getenv("HOME") : "/");
    assert_int_equal(setenv("HOME", home, 1), 0); /* no safe.directory of ours */
    assert_int_equal(setenv("GIT_CONFIG_NOSYSTEM", "1", 1), 0);
    struct code code AUTO_CODE = take(base);
    AUTO_FREE char *config = mem_printf("[safe]\n\tdirectory = %s\n", base);
    tree_write(home, "/.gitconfig", config);
    struct code trusted AUTO_CODE = take(base);
    assert_int_equal(unsetenv("GIT_CONFIG_NOSYSTEM"), 0);
    assert_int_equal(setenv("HOME", old, 1), 0);
    assert_non_null(strstr(text(&code, "reason"), "dubious ownership"));
    assert_true(git_is_commit(text(&code, "commit")));
    assert_null(text(&code, "digest"));
    assert_null(text(&trusted, "reason")); /* the user's own word counts */
    assert_non_null(text(&trusted, "digest"));
}

static void test_no_repository(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct code code AUTO_CODE = take(base);
    assert_non_null(strstr(text(&code, "reason"), "no git repository"));
    assert_int_equal(json_object_size(code.code), 1); /* nothing else: no false "clean" */
    assert_non_null(json_get_text(code.reasons, "code", NULL));
    struct code gone AUTO_CODE = take("/nonexistent/folder");
    assert_non_null(text(&gone, "reason"));
    struct code unknown AUTO_CODE = take(NULL);
    assert_non_null(text(&unknown, "reason"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean_repository),
        cmocka_unit_test(test_same_content_same_digest),
        cmocka_unit_test(test_what_is_no_code_does_not_count),
        cmocka_unit_test(test_diff_is_kept_without_its_secrets),
        cmocka_unit_test(test_a_huge_diff_is_named_not_kept),
        cmocka_unit_test(test_remotes_are_masked),
        cmocka_unit_test(test_changes_that_the_index_hides),
        cmocka_unit_test(test_odd_names),
        cmocka_unit_test(test_many_changed_files),
        cmocka_unit_test(test_no_commit_yet),
        cmocka_unit_test(test_detached_conflict_and_submodule),
        cmocka_unit_test(test_sha256_repository),
        cmocka_unit_test(test_line_ends_as_git_stores_them),
        cmocka_unit_test(test_nothing_of_the_repository_runs),
        cmocka_unit_test(test_a_filter_that_cannot_be_switched_off),
        cmocka_unit_test(test_nothing_is_fetched),
        cmocka_unit_test(test_the_index_is_not_written),
        cmocka_unit_test(test_variables_do_not_lead_elsewhere),
        cmocka_unit_test(test_a_slow_git_is_left),
        cmocka_unit_test(test_without_the_git_program),
        cmocka_unit_test(test_files_of_every_kind_of_checkout),
        cmocka_unit_test(test_hostile_files),
        cmocka_unit_test(test_somebody_elses_repository),
        cmocka_unit_test(test_no_repository),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
