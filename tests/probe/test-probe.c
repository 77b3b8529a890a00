/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole ENVIRONMENT record and its fingerprint: what decides is in, what does not is out. */
#include "probe/probe.h"

#include "tree.h"

static json_t *take(const char *base, const char *const *argv, size_t argc) {
    struct root root = {base};
    struct probe_context context = {.root = &root,
                                    .cwd = "/work",
                                    .argv = argv,
                                    .argc = argc,
                                    .budget_ns = INT64_C(120000000000)};
    char *variables[] = {(char[]){"PATH=/usr/bin"}, NULL};
    context.environment = variables;
    return probe_environment(&context);
}

static const char *const python[] = {"/usr/bin/python3"};

static json_t *take_python(const char *base) {
    return take(base, python, 1);
}

static const char *fingerprint(const json_t *environment) {
    return json_get_text(environment, "fingerprint", "");
}

static const char *part(const json_t *environment, const char *key) {
    return json_get_text(json_get_object(environment, "fingerprint_parts"), key, NULL);
}

static void machine(const char *base) {
    tree_write(base, "/proc/cpuinfo",
               "processor\t: 0\nmodel name\t: AMD EPYC 7543\nflags\t\t: sse\n\n");
    tree_write(base, "/proc/meminfo",
               "MemTotal: 131072000 kB\nMemAvailable: 100000 kB\nSwapTotal: 0 kB\n");
    tree_write(base, "/sys/devices/system/cpu/online", "0-31\n");
    tree_write(base, "/proc/self/status", "Pid:\t1\nCpus_allowed_list:\t0-7\n");
    tree_write(base, "/proc/self/cgroup", "0::/\n");
    tree_write(base, "/proc/self/mountinfo", "1 1 0:1 / /sys/fs/cgroup rw - cgroup2 c rw\n");
    tree_write(base, "/sys/fs/cgroup/cgroup.procs", "");
    tree_write(base, "/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
    tree_write(base, "/etc/os-release", "ID=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"Debian\"\n");
    tree_write(base, "/proc/sys/kernel/hostname", "a\n");
    tree_write(base, "/usr/bin/python3.11", "x");
    tree_link(base, "/usr/bin/python3", "python3.11");
    tree_write(base, "/usr/lib/python3.11/os.py", "");
    tree_write(base, "/usr/lib/python3/dist-packages/torch-2.0.dist-info/METADATA",
               "Name: torch\nVersion: 2.0\n");
}

static void test_parts(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    machine(base);
    AUTO_JSON json_t *environment = take_python(base);
    assert_int_equal(strlen(fingerprint(environment)), 64);
    assert_string_equal(part(environment, "cpu_model"), "AMD EPYC 7543");
    assert_string_equal(part(environment, "cpus"), "32");
    assert_string_equal(part(environment, "cpus_usable"), "8");
    assert_string_equal(part(environment, "cpu_limit"), "none");
    assert_string_equal(part(environment, "distribution"), "debian 12");
    assert_string_equal(part(environment, "interpreter"), "3.11");
    assert_int_equal(strlen(part(environment, "packages")), 64);
    static const char *const keys[] = {"machine",      "limits",   "totals", "code",
                                       "interpreters", "packages", "reasons"};
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        assert_non_null(json_object_get(environment, keys[i]));
    }
    AUTO_JSON json_t *again = take_python(base);
    assert_true(json_equal(environment, again)); /* nothing in it depends on when or how often */
}

static void test_what_does_not_decide(void **state) {
    (void)state;
    static const struct {
        const char *path, *text;
    } changes[] = {
        {"/proc/sys/kernel/hostname", "b\n"},
        {"/proc/sys/kernel/osrelease", "6.1.0-99\n"},
        {"/proc/meminfo", "MemTotal: 131071000 kB\nMemAvailable: 200000 kB\nSwapTotal: 0 kB\n"},
        {"/etc/os-release", "ID=debian\nVERSION_ID=\"12.7\"\nPRETTY_NAME=\"Debian\"\n"},
        {"/proc/self/status", "Pid:\t1\nCpus_allowed_list:\t8-15\n"}, /* others, as many */
        {"/.dockerenv", ""},
    };
    AUTO_TREE char *base = tree_new();
    machine(base);
    AUTO_JSON json_t *before = take_python(base);
    for (size_t i = 0; i < ARRAY_LENGTH(changes); i++) {
        tree_write(base, changes[i].path, changes[i].text);
        AUTO_JSON json_t *after = take_python(base);
        assert_string_equal(fingerprint(after), fingerprint(before));
    }
}

static void test_what_decides(void **state) {
    (void)state;
    static const struct {
        const char *path, *text, *part;
    } changes[] = {
        {"/proc/cpuinfo", "model name\t: Other\n", "cpu_model"},
        {"/proc/meminfo", "MemTotal: 65536000 kB\n", "memory"},
        {"/sys/devices/system/cpu/online", "0-15\n", "cpus"},
        {"/proc/self/status", "Pid:\t1\nCpus_allowed_list:\t0-3\n", "cpus_usable"},
        {"/etc/os-release", "ID=debian\nVERSION_ID=\"13\"\n", "distribution"},
        {"/usr/lib/python3/dist-packages/torch-2.0.dist-info/METADATA",
         "Name: torch\nVersion: 2.1\n", "packages"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(changes); i++) {
        AUTO_TREE char *base = tree_new();
        machine(base);
        AUTO_JSON json_t *before = take_python(base);
        tree_write(base, changes[i].path, changes[i].text);
        AUTO_JSON json_t *after = take_python(base);
        assert_string_not_equal(fingerprint(after), fingerprint(before));
        assert_string_not_equal(part(after, changes[i].part), part(before, changes[i].part));
        const char *key;
        json_t *value;
        json_object_foreach (json_get_object(before, "fingerprint_parts"), key, value) {
            if (strcmp(key, changes[i].part) != 0) {
                assert_string_equal(part(after, key), part(before, key));
            }
        }
    }
}

static void test_open_parts_are_null(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    static const char *const command[] = {"/work/a.out"};
    AUTO_JSON json_t *environment = take(base, command, 1);
    const json_t *parts = json_get_object(environment, "fingerprint_parts");
    assert_true(json_is_null(json_object_get(parts, "cpu_model")));
    assert_true(json_is_null(json_object_get(parts, "memory")));
    assert_true(json_is_null(json_object_get(parts, "cpu_limit")));
    assert_true(json_is_null(json_object_get(parts, "distribution")));
    assert_string_equal(part(environment, "interpreter"), "none"); /* looked, and there is none */
    assert_int_equal(strlen(fingerprint(environment)), 64);
}

static void test_this_machine(void **state) {
    (void)state;
    extern char **environ;
    AUTO_TREE char *here = tree_new();
    static const char *const command[] = {"sh", "-c", "true"};
    const pid_t pids[] = {getpid(), 1, 4194000};
    struct probe_context context = {.root = &root_real,
                                    .cwd = here,
                                    .argv = command,
                                    .argc = 3,
                                    .environment = environ,
                                    .pids = pids,
                                    .pid_count = ARRAY_LENGTH(pids)};
    AUTO_JSON json_t *environment = probe_environment(&context);
    assert_non_null(part(environment, "cpus"));
    assert_non_null(part(environment, "memory"));
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    json_add_compact(&out, environment);
    assert_true(out.length < (1u << 20));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),        cmocka_unit_test(test_what_does_not_decide),
        cmocka_unit_test(test_what_decides), cmocka_unit_test(test_open_parts_are_null),
        cmocka_unit_test(test_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
