/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interpreters and packages from made-up installations below a prefix: venv, conda, Debian, pyenv,
 * scripts, processes. */
#include "probe/probe.h"

#include "base/err.h"
#include "probe/python-layout.h"
#include "probe/python-packages.h"
#include "tree.h"

struct found {
    json_t *environment, *reasons;
};

static void found_done(struct found *found) {
    json_decref(found->environment);
    json_decref(found->reasons);
}
#define AUTO_FOUND __attribute__((cleanup(found_done)))

/* Bytes of a literal, NULs and all. */
#define TREE_BYTES(base, path, literal) tree_write_bytes(base, path, literal, sizeof(literal) - 1)

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct found take_with(const char *base, const char *const *argv, char *const *variables,
                              const pid_t *pids, size_t pid_count) {
    struct root root = {base};
    struct found found = {json_object(), json_object()};
    size_t argc = 0;
    while (argv[argc] != NULL) {
        argc++;
    }
    struct probe_context context = {.root = &root,
                                    .cwd = "/work",
                                    .argv = argv,
                                    .argc = argc,
                                    .environment = variables,
                                    .pids = pids,
                                    .pid_count = pid_count,
                                    .budget_ns = INT64_C(120000000000)};
    struct err err = ERR_INIT;
    assert_int_equal(probe_python.collect(&context, found.environment, found.reasons, &err), 0);
    return found;
}

/* PATH and further variables in one text, blank between them. */
static struct found take(const char *base, const char *const *argv, const char *variables) {
    AUTO_FREE char *copy = mem_strdup(variables);
    char *list[16];
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL && count < 15;
         word = strtok_r(NULL, " ", &rest)) {
        list[count++] = word;
    }
    list[count] = NULL;
    return take_with(base, argv, list, NULL, 0);
}

static size_t interpreter_count(const struct found *found) {
    return json_array_size(json_get_array(found->environment, "interpreters"));
}

static const char *interpreter(const struct found *found, size_t index, const char *key) {
    return json_get_text(json_array_get(json_get_array(found->environment, "interpreters"), index),
                         key, NULL);
}

static const json_t *package_entry(const struct found *found, const char *name) {
    const json_t *list = json_get_array(found->environment, "packages");
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (strcmp(json_get_text(json_array_get(list, i), "name", ""), name) == 0) {
            return json_array_get(list, i);
        }
    }
    return NULL;
}

static const char *version(const struct found *found, const char *name) {
    return json_get_text(package_entry(found, name), "version", NULL);
}

static size_t package_count(const struct found *found) {
    return json_array_size(json_get_array(found->environment, "packages"));
}

/* ---- made-up installations ---- */

static void dist_info(const char *base, const char *folder, const char *entry, const char *name,
                      const char *ver) {
    AUTO_FREE char *path = mem_printf("%s/%s.dist-info/METADATA", folder, entry);
    AUTO_FREE char *content = mem_printf(
        "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: x\n\nName: not this\n", name, ver);
    tree_write(base, path, content);
}

static void program(const char *base, const char *path) {
    tree_write(base, path, "\177ELF not really\n");
}

/* Debian's Python 3.11 in /usr with one package of apt's, one of pip's, one of the user's. */
static void debian(const char *base) {
    program(base, "/usr/bin/python3.11");
    tree_link(base, "/usr/bin/python3", "python3.11");
    tree_write(base, "/usr/lib/python3.11/os.py", "");
    tree_write(base, "/usr/lib/python3/dist-packages/six-1.16.0.egg-info",
               "Metadata-Version: 1.2\nName: six\nVersion: 1.16.0\n");
    dist_info(base, "/usr/lib/python3/dist-packages", "numpy-1.24.2", "numpy", "1.24.2");
    dist_info(base, "/usr/local/lib/python3.11/dist-packages", "requests-2.31.0", "requests",
              "2.31.0");
    dist_info(base, "/home/me/.local/lib/python3.11/site-packages", "numpy-1.26.0", "numpy",
              "1.26.0");
}

static void venv(const char *base, const char *system_site) {
    tree_link(base, "/work/venv/bin/python3", "/usr/bin/python3");
    tree_link(base, "/work/venv/bin/python", "python3");
    AUTO_FREE char *config =
        mem_printf("home = /usr/bin\ninclude-system-site-packages = %s\nversion = 3.11.2\n"
                   "executable = /usr/bin/python3.11\n",
                   system_site);
    tree_write(base, "/work/venv/pyvenv.cfg", config);
    dist_info(base, "/work/venv/lib/python3.11/site-packages", "torch-2.1.0+cu121", "torch",
              "2.1.0+cu121");
    dist_info(base, "/work/venv/lib/python3.11/site-packages", "Flash_Attn-2.5", "flash-attn",
              "2.5");
}

/* Links with absolute targets leave the prefix when the kernel follows them, so the made-up venv's
 * python is followed by us alone; that is what is tested. */

static void test_venv_by_path(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    debian(base);
    venv(base, "false");
    struct found found AUTO_FOUND =
        take(base, WORDS("venv/bin/python3", "train.py"), "PATH=/usr/bin HOME=/home/me");
    assert_int_equal(interpreter_count(&found), 1);
    assert_string_equal(interpreter(&found, 0, "path"), "/work/venv/bin/python3");
    assert_string_equal(interpreter(&found, 0, "prefix"), "/work/venv");
    assert_string_equal(interpreter(&found, 0, "version"), "3.11.2");
    assert_string_equal(interpreter(&found, 0, "kind"), "venv");
    assert_string_equal(interpreter(&found, 0, "source"), "command");
    assert_int_equal(package_count(&found), 2);
    assert_string_equal(version(&found, "torch"), "2.1.0+cu121");
    assert_string_equal(version(&found, "flash-attn"), "2.5");
    assert_string_equal(json_get_text(package_entry(&found, "torch"), "interpreter", ""),
                        "/work/venv");
    assert_null(json_get_text(found.reasons, "interpreters", NULL));
}

static void test_venv_that_shows_the_system(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    debian(base);
    venv(base, "True");
    dist_info(base, "/work/venv/lib/python3.11/site-packages", "six-9", "six", "9");
    struct found found AUTO_FOUND =
        take(base, WORDS("/work/venv/bin/python"), "PATH=/usr/bin HOME=/home/me");
    assert_string_equal(version(&found, "torch"), "2.1.0+cu121");
    assert_string_equal(version(&found, "six"), "9");        /* the environment's own first */
    assert_string_equal(version(&found, "numpy"), "1.26.0"); /* the user's before the system's */
    assert_string_equal(version(&found, "requests"), "2.31.0");
    assert_int_equal(package_count(&found), 5);
    struct found no_user AUTO_FOUND = take(base, WORDS("/work/venv/bin/python"),
                                           "PATH=/usr/bin HOME=/home/me PYTHONNOUSERSITE=1");
    assert_string_equal(version(&no_user, "numpy"), "1.24.2");
}

static void test_debian_through_path(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    debian(base);
    struct found found AUTO_FOUND =
        take(base, WORDS("env", "X=1", "nice", "-n", "5", "python3", "x.py"),
             "PATH=/bin:/usr/bin HOME=/home/me");
    assert_int_equal(interpreter_count(&found), 1);
    assert_string_equal(interpreter(&found, 0, "path"), "/usr/bin/python3");
    assert_string_equal(interpreter(&found, 0, "prefix"), "/usr");
    assert_string_equal(interpreter(&found, 0, "version"), "3.11");
    assert_string_equal(interpreter(&found, 0, "kind"), "system");
    assert_string_equal(version(&found, "six"), "1.16.0");
    assert_string_equal(version(&found, "numpy"), "1.26.0");
    assert_string_equal(version(&found, "requests"), "2.31.0");
    assert_int_equal(package_count(&found), 3);
    struct found base_dir AUTO_FOUND =
        take(base, WORDS("python3"), "PATH=/usr/bin HOME=/root PYTHONUSERBASE=/home/me/.local");
    assert_string_equal(version(&base_dir, "numpy"), "1.26.0");
}

static void conda(const char *base) {
    program(base, "/opt/conda/envs/kv/bin/python3.10");
    tree_link(base, "/opt/conda/envs/kv/bin/python", "python3.10");
    tree_make_folder(base);
    dist_info(base, "/opt/conda/envs/kv/lib/python3.10/site-packages", "torch-2.0.1", "torch",
              "2.0.1");
    tree_write(base, "/opt/conda/envs/kv/conda-meta/python-3.10.13-h955ad1f_0.json", "{}");
    tree_write(base, "/opt/conda/envs/kv/conda-meta/cudatoolkit-11.8.0-h6a678d5_0.json",
               "not even JSON");
    tree_write(base, "/opt/conda/envs/kv/conda-meta/torch-2.0.1-py310_0.json", "{}");
    tree_write(base, "/opt/conda/envs/kv/conda-meta/lib-with-dashes-1.2-0.json", "{}");
    tree_write(base, "/opt/conda/envs/kv/conda-meta/history", "x");
    tree_write(base, "/opt/conda/envs/kv/conda-meta/odd.json", "{}");
}

static void test_conda(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    conda(base);
    debian(base);
    struct found found AUTO_FOUND =
        take(base, WORDS("bash", "run.sh"), "PATH=/usr/bin CONDA_PREFIX=/opt/conda/envs/kv");
    assert_int_equal(interpreter_count(&found), 1);
    assert_string_equal(interpreter(&found, 0, "kind"), "conda");
    assert_string_equal(interpreter(&found, 0, "version"), "3.10.13");
    assert_string_equal(interpreter(&found, 0, "source"), "CONDA_PREFIX");
    assert_string_equal(version(&found, "cudatoolkit"), "11.8.0");
    assert_string_equal(version(&found, "lib-with-dashes"), "1.2");
    assert_string_equal(json_get_text(package_entry(&found, "cudatoolkit"), "manager", ""),
                        "conda");
    assert_null(json_get_text(package_entry(&found, "torch"), "manager",
                              NULL)); /* once, from its dist-info */
    assert_int_equal(package_count(&found), 4);
}

static void test_active_environment(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    debian(base);
    venv(base, "false");
    struct found found AUTO_FOUND =
        take(base, WORDS("./run.sh"), "PATH=/usr/bin VIRTUAL_ENV=/work/venv");
    assert_string_equal(interpreter(&found, 0, "source"), "VIRTUAL_ENV");
    assert_string_equal(interpreter(&found, 0, "prefix"), "/work/venv");
    /* what the command says wins over what is active */
    struct found other AUTO_FOUND =
        take(base, WORDS("/usr/bin/python3"), "PATH=/usr/bin VIRTUAL_ENV=/work/venv");
    assert_int_equal(interpreter_count(&other), 1);
    assert_string_equal(interpreter(&other, 0, "prefix"), "/usr");
}

static void test_scripts(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    debian(base);
    venv(base, "false");
    static const char *const lines[] = {
        "#!/work/venv/bin/python\nimport torch\n",
        "#! /work/venv/bin/python3 -u\n",
        "#!/bin/sh\n'''exec' /work/venv/bin/python \"$0\" \"$@\"\n' '''\n",
        "#!/bin/sh\n'''exec' \"/work/venv/bin/python\" \"$0\" \"$@\"\n' '''\n",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(lines); i++) {
        tree_write(base, "/work/tools/torchrun", lines[i]);
        struct found found AUTO_FOUND =
            take(base, WORDS("torchrun", "x.py"), "PATH=/usr/bin:tools");
        assert_int_equal(interpreter_count(&found), 1);
        assert_string_equal(interpreter(&found, 0, "source"), "script");
        assert_string_equal(interpreter(&found, 0, "prefix"), "/work/venv");
    }
    tree_write(base, "/work/tools/torchrun", "#!/usr/bin/env -S python3 -u\n");
    struct found by_env AUTO_FOUND =
        take(base, WORDS("tools/torchrun"), "PATH=/work/venv/bin:/usr/bin");
    assert_string_equal(interpreter(&by_env, 0, "prefix"), "/work/venv");
    tree_write(base, "/work/tools/shell", "#!/bin/bash\npython3 x.py\n");
    struct found by_shell AUTO_FOUND = take(base, WORDS("tools/shell"), "PATH=/usr/bin");
    assert_string_equal(interpreter(&by_shell, 0, "source"), "PATH");
    static const char *const others[] = {"\177ELF", "#!/usr/bin/env node\n", "#!",
                                         "",        "#!/usr/bin/env\n",      "#!/usr/bin/env -S\n"};
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++) {
        tree_write(base, "/work/tools/other", others[i]);
        struct found found AUTO_FOUND = take(base, WORDS("tools/other"), "PATH=/usr/bin");
        assert_int_equal(interpreter_count(&found), 0);
        assert_int_equal(package_count(&found), 0);
        assert_non_null(json_get_text(found.reasons, "interpreters", NULL));
    }
}

static void test_pyenv(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    debian(base);
    tree_write(base, "/home/me/.pyenv/shims/python",
               "#!/usr/bin/env bash\nexec pyenv exec python \"$@\"\n");
    tree_write(base, "/home/me/.pyenv/version", "3.9.18\n");
    static const char *const versions[] = {"3.9.18", "3.11.4", "3.11.10"};
    for (size_t i = 0; i < ARRAY_LENGTH(versions); i++) {
        AUTO_FREE char *path = mem_printf("/home/me/.pyenv/versions/%s/bin/python", versions[i]);
        AUTO_FREE char *site =
            mem_printf("/home/me/.pyenv/versions/%s/lib/python%.*s/site-packages", versions[i],
                       (int)(strrchr(versions[i], '.') - versions[i]), versions[i]);
        program(base, path);
        dist_info(base, site, "marker-1", "marker", versions[i]);
    }
    const char *path = "PATH=/home/me/.pyenv/shims:/usr/bin";
    struct found global AUTO_FOUND = take(base, WORDS("python", "x.py"), path);
    assert_string_equal(interpreter(&global, 0, "version"), "3.9.18");
    assert_string_equal(version(&global, "marker"), "3.9.18");
    tree_write(base, "/work/.python-version", "3.11\n"); /* the newest of that series */
    struct found local AUTO_FOUND = take(base, WORDS("python", "x.py"), path);
    assert_string_equal(version(&local, "marker"), "3.11.10");
    struct found set AUTO_FOUND =
        take(base, WORDS("python"), "PATH=/home/me/.pyenv/shims PYENV_VERSION=3.11.4");
    assert_string_equal(version(&set, "marker"), "3.11.4");
    tree_write(base, "/home/me/.pyenv/shims/python3", "#!/usr/bin/env bash\n");
    struct found hostile AUTO_FOUND =
        take(base, WORDS("python3"), "PATH=/home/me/.pyenv/shims PYENV_VERSION=../../../../usr");
    assert_int_equal(interpreter_count(&hostile), 0);
}

static void test_processes(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    debian(base);
    venv(base, "false");
    conda(base);
    /* 10: the venv's python by a relative name; the kernel shows the base */
    tree_link(base, "/proc/10/exe", "/usr/bin/python3.11");
    tree_link(base, "/proc/10/cwd", "/work");
    TREE_BYTES(base, "/proc/10/cmdline", "venv/bin/python\0train.py\0");
    TREE_BYTES(base, "/proc/10/environ", "PATH=/usr/bin\0HOME=/home/me\0");
    /* 11: found by its own PATH */
    tree_link(base, "/proc/11/exe", "/opt/conda/envs/kv/bin/python3.10");
    TREE_BYTES(base, "/proc/11/cmdline", "python\0-c\0pass\0");
    TREE_BYTES(base, "/proc/11/environ", "A=1\0PATH=/nowhere:/opt/conda/envs/kv/bin\0");
    /* 12: calls itself something else; only exe is left */
    tree_link(base, "/proc/12/exe", "/usr/bin/python3.11");
    TREE_BYTES(base, "/proc/12/cmdline", "worker [3]\0");
    /* 13: no Python; 14: nothing readable; 15: deleted program */
    tree_link(base, "/proc/13/exe", "/bin/bash");
    tree_link(base, "/proc/15/exe", "/usr/bin/python3.9 (deleted)");
    const pid_t pids[] = {10, 11, 12, 13, 14, 15, 10};
    char *variables[] = {(char[]){"PATH=/usr/bin"}, NULL};
    struct found found AUTO_FOUND =
        take_with(base, WORDS("bash", "run.sh"), variables, pids, ARRAY_LENGTH(pids));
    assert_int_equal(interpreter_count(&found), 3);
    assert_string_equal(interpreter(&found, 0, "prefix"), "/work/venv");
    assert_string_equal(interpreter(&found, 0, "source"), "process");
    assert_string_equal(interpreter(&found, 1, "prefix"), "/opt/conda/envs/kv");
    assert_string_equal(interpreter(&found, 2, "prefix"), "/usr");
    /* two interpreters may hold the same package: both are kept */
    size_t torches = 0;
    const json_t *list = json_get_array(found.environment, "packages");
    for (size_t i = 0; i < json_array_size(list); i++) {
        torches += strcmp(json_get_text(json_array_get(list, i), "name", ""), "torch") == 0;
    }
    assert_int_equal(torches, 2);
    /* the command's own interpreter stays the first */
    struct found first AUTO_FOUND =
        take_with(base, WORDS("/usr/bin/python3"), variables, pids, ARRAY_LENGTH(pids));
    assert_string_equal(interpreter(&first, 0, "prefix"), "/usr");
    assert_string_equal(interpreter(&first, 0, "source"), "command");
}

static void test_every_kind_of_package(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    debian(base);
    const char *site = "/usr/local/lib/python3.11/dist-packages";
    tree_write(base, "/usr/local/lib/python3.11/dist-packages/no_metadata-1.5.dist-info/RECORD",
               "");
    tree_write(base,
               "/usr/local/lib/python3.11/dist-packages/Egg_Folder-2.0-py3.11.egg-info/PKG-INFO",
               "Name: Egg-Folder\nVersion: 2.0\n");
    tree_write(
        base, "/usr/local/lib/python3.11/dist-packages/bare-3.0-py3.11.egg-info/top_level.txt", "");
    tree_write(base, "/usr/local/lib/python3.11/dist-packages/old-4.0-py3.11.egg/EGG-INFO/PKG-INFO",
               "Name: old\nVersion: 4.0\n");
    tree_write(base, "/usr/local/lib/python3.11/dist-packages/dev.egg-link", "/home/me/src\n../\n");
    tree_write(base, "/home/me/src/dev.egg-info/PKG-INFO", "Name: dev\nVersion: 0.1\n");
    dist_info(base, site, "pinned-0.3", "pinned", "0.3");
    tree_write(base, "/usr/local/lib/python3.11/dist-packages/pinned-0.3.dist-info/direct_url.json",
               "{\"url\": \"https://example.org/x.git\", \"vcs_info\": {\"vcs\": \"git\", "
               "\"commit_id\": \"0123456789abcdef0123456789abcdef01234567\"}}");
    dist_info(base, site, "here-0.4", "here", "0.4");
    tree_write(base, "/usr/local/lib/python3.11/dist-packages/here-0.4.dist-info/direct_url.json",
               "{\"url\": \"file:///x\", \"dir_info\": {\"editable\": true}}");
    dist_info(base, site, "broken_url-0.5", "broken-url", "0.5");
    tree_write(base,
               "/usr/local/lib/python3.11/dist-packages/broken_url-0.5.dist-info/direct_url.json",
               "[[[");
    dist_info(base, site, "~umpy-1.0", "numpy", "0.0"); /* what pip left behind */
    tree_write(base, "/usr/local/lib/python3.11/dist-packages/body-6.0.dist-info/METADATA",
               "Name: body\n\nVersion: 9\n");
    struct found found AUTO_FOUND = take(base, WORDS("python3"), "PATH=/usr/bin");
    assert_string_equal(version(&found, "body"), "6.0"); /* the description is no header */
    assert_string_equal(version(&found, "no_metadata"), "1.5");
    assert_string_equal(version(&found, "Egg-Folder"), "2.0");
    assert_string_equal(version(&found, "bare"), "3.0");
    assert_string_equal(version(&found, "old"), "4.0");
    assert_string_equal(version(&found, "dev"), "0.1");
    assert_true(json_get_bool(package_entry(&found, "dev"), "editable", 0));
    assert_string_equal(json_get_text(package_entry(&found, "pinned"), "commit", ""),
                        "0123456789abcdef0123456789abcdef01234567");
    assert_true(json_get_bool(package_entry(&found, "here"), "editable", 0));
    assert_null(json_object_get(package_entry(&found, "broken-url"), "editable"));
    assert_string_equal(version(&found, "numpy"), "1.24.2");
}

static void test_hostile_packages(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    debian(base);
    const char *site = "/usr/local/lib/python3.11/dist-packages";
    AUTO_FREE char *huge = mem_alloc(100001);
    memset(huge, 'N', 100000);
    static const char *const entries[] = {".dist-info",      "-.dist-info",
                                          "-1.dist-info",    "x-.dist-info",
                                          "x.dist-info",     "\xff\xfe-1.0.dist-info",
                                          "a\nb-1.dist-info"};
    for (size_t i = 0; i < ARRAY_LENGTH(entries); i++) {
        AUTO_FREE char *path = mem_printf("%s/%s/METADATA", site, entries[i]);
        tree_write(base, path, huge);
    }
    dist_info(base, site, "evil-1", "e\x1b[31mvil\xff", "1\t2");
    AUTO_FREE char *binary = mem_printf("%s/bin-1.0.dist-info/METADATA", site);
    TREE_BYTES(base, binary, "Name: a\0b\nVersion: \xff\x00\n");
    struct found found AUTO_FOUND = take(base, WORDS("python3"), "PATH=/usr/bin");
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    json_add_compact(&out, found.environment);
    assert_non_null(version(&found, "\\xff\\xfe"));
    assert_int_equal(json_array_size(json_get_array(found.environment, "interpreters")), 1);
}

static void test_digest_and_names(void **state) {
    (void)state;
    AUTO_FREE char *a = package_normalize("Flash__Attn.-x"), *b = package_normalize("flash-attn-x"),
                   *c = package_normalize("-");
    assert_string_equal(a, b);
    assert_string_equal(c, "");
    AUTO_TREE char *one = tree_new();
    AUTO_TREE char *two = tree_new();
    debian(one);
    debian(two);
    dist_info(one, "/usr/local/lib/python3.11/dist-packages", "Flash_Attn-2.5", "Flash_Attn",
              "2.5");
    dist_info(two, "/usr/local/lib/python3.11/dist-packages", "flash_attn-2.5", "flash-attn",
              "2.5");
    struct found first AUTO_FOUND = take(one, WORDS("python3"), "PATH=/usr/bin");
    struct found second AUTO_FOUND = take(two, WORDS("python3"), "PATH=/usr/bin");
    assert_string_equal(interpreter(&first, 0, "packages_digest"),
                        interpreter(&second, 0, "packages_digest"));
    dist_info(two, "/usr/local/lib/python3.11/dist-packages", "more-1", "more", "1");
    struct found third AUTO_FOUND = take(two, WORDS("python3"), "PATH=/usr/bin");
    assert_string_not_equal(interpreter(&first, 0, "packages_digest"),
                            interpreter(&third, 0, "packages_digest"));
}

static void test_bounds(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    debian(base);
    for (int i = 0; i < 5010; i++) {
        AUTO_FREE char *path =
            mem_printf("/usr/local/lib/python3.11/dist-packages/p%d-1.dist-info", i);
        AUTO_FREE char *full = mem_printf("%s%s", base, path);
        if (i == 0) {
            tree_make_folder(full);
        }
        assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
    }
    struct found found AUTO_FOUND = take(base, WORDS("python3"), "PATH=/usr/bin");
    assert_int_equal(package_count(&found), 5000);
    assert_non_null(strstr(json_get_text(found.reasons, "packages", ""), "5000"));
    assert_null(interpreter(&found, 0, "packages_digest")); /* a part has no digest */
    struct root root = {base};
    struct python python;
    assert_true(python_locate(&root, "/usr/bin/python3", &python));
    struct variables variables = {0};
    struct package_budget budget = {.left = 100, .deadline_mono_ns = 1}; /* long ago */
    AUTO_JSON json_t *packages = json_array();
    size_t count;
    char digest[SHA256_HEX_SIZE];
    python_packages(&root, &python, &variables, &budget, packages, &count, digest);
    assert_true(budget.ended_by_time && !budget.ended_by_count);
    assert_int_equal(count, 0);
    assert_string_equal(digest, "");
}

static void test_what_is_no_interpreter(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    struct python python;
    program(base, "/opt/x/bin/python3"); /* without a library */
    assert_false(python_locate(&root, "/opt/x/bin/python3", &python));
    assert_false(python_locate(&root, "/nowhere/python3", &python));
    assert_false(python_locate(&root, "python3", &python));
    tree_link(base, "/opt/loop/bin/python3", "python3");
    assert_false(python_locate(&root, "/opt/loop/bin/python3", &python));
    tree_write(
        base, "/opt/y/pyvenv.cfg",
        "home\n=\nhome = relative\nversion = x\nversion_info = 3.12.1.final.0\n\xff = \xff\n");
    program(base, "/opt/y/bin/python");
    tree_make_folder(base);
    AUTO_FREE char *site = mem_printf("%s/opt/y/lib/python3.12/site-packages", base);
    tree_make_folder(site);
    assert_true(python_locate(&root, "/opt/y/bin/python", &python));
    assert_string_equal(python.version, "3.12.1");
    assert_string_equal(python.base, "");
    assert_true(python_name_is("python") && python_name_is("python3.13t") &&
                python_name_is("pypy3.10"));
    assert_false(python_name_is("python-config") || python_name_is("pythonw") ||
                 python_name_is("ipython") || python_name_is(""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_venv_by_path),
        cmocka_unit_test(test_venv_that_shows_the_system),
        cmocka_unit_test(test_debian_through_path),
        cmocka_unit_test(test_conda),
        cmocka_unit_test(test_active_environment),
        cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_pyenv),
        cmocka_unit_test(test_processes),
        cmocka_unit_test(test_every_kind_of_package),
        cmocka_unit_test(test_hostile_packages),
        cmocka_unit_test(test_digest_and_names),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_what_is_no_interpreter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
