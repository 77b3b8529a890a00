/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Machine and limits of each recorded machine, and of the one we run on. */
#include "probe/probe.h"

#include "base/err.h"
#include "model/quantity.h"
#include "probe/file-systems.h"
#include "probe/host-text.h"
#include "tree.h"

#include <sched.h>

struct record {
    char *base;
    struct root root;
    json_t *environment, *reasons;
};

static void record_done(struct record *record) {
    json_decref(record->environment);
    json_decref(record->reasons);
    mem_free_ptr(&record->base);
}
#define AUTO_RECORD __attribute__((cleanup(record_done)))

static struct record take(const char *machine, const char *cwd, char *const *variables) {
    struct record record = {.environment = json_object(), .reasons = json_object()};
    record.base = machine != NULL
                      ? mem_printf("%s/machines/%s", getenv("PROBELAUF_TEST_FIXTURES"), machine)
                      : mem_strdup("");
    record.root.prefix = record.base;
    struct probe_context context = {.root = &record.root, .cwd = cwd, .environment = variables};
    struct err err = ERR_INIT;
    assert_int_equal(probe_machine.collect(&context, record.environment, record.reasons, &err), 0);
    assert_int_equal(probe_limits.collect(&context, record.environment, record.reasons, &err), 0);
    return record;
}

static void check_text(const struct record *record, const char *key, const char *expected) {
    const json_t *machine = json_get_object(record->environment, "machine");
    const char *text = json_get_text(machine, key, NULL);
    if (expected == NULL) {
        assert_null(json_object_get(machine, key));
    } else {
        assert_non_null(text);
        assert_string_equal(text, expected);
    }
}

static const char *reason(const struct record *record, const char *key) {
    return json_get_text(record->reasons, key, NULL);
}

static void check_value(const struct record *record, const char *part, const char *key,
                        double expected) {
    const json_t *q = json_get_object(json_get_object(record->environment, part), key);
    assert_non_null(q);
    assert_string_equal(json_get_text(q, "state", ""), "measured");
    assert_true(json_get_real(q, "value", -1) == expected);
}

static void check_open(const struct record *record, const char *part, const char *key,
                       const char *expected) {
    const json_t *q = json_get_object(json_get_object(record->environment, part), key);
    assert_non_null(q);
    assert_string_equal(json_get_text(q, "state", ""), "open");
    assert_true(json_is_null(json_object_get(q, "value")));
    assert_string_equal(json_get_text(q, "reason", ""), expected);
}

static const char *container_kind(const struct record *record) {
    return json_get_text(json_get_object(record->environment, "container"), "kind", NULL);
}

static const json_t *file_system(const struct record *record, const char *role) {
    const json_t *list =
        json_get_array(json_get_object(record->environment, "machine"), "file_systems");
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (strcmp(json_get_text(json_array_get(list, i), "role", ""), role) == 0) {
            return json_array_get(list, i);
        }
    }
    return NULL;
}

static void test_v1_server(void **state) {
    (void)state;
    struct record record AUTO_RECORD = take("v1-server", "/home/alice/project", NULL);
    check_text(&record, "host", "gpu03.institute.example");
    check_text(&record, "kernel", "3.10.0-1160.el7.x86_64");
    check_text(&record, "architecture", NULL);
    assert_non_null(reason(&record, "machine.architecture"));
    check_text(&record, "distribution", "CentOS Linux 7 (Core)");
    check_text(&record, "distribution_id", "centos");
    check_text(&record, "distribution_version", "7");
    check_text(&record, "cpu_model", "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz");
    check_text(&record, "virtualization", "none");
    check_text(&record, "vendor", "Supermicro");
    check_text(&record, "product", "SYS-4029GP-TRT");
    assert_null(container_kind(&record));
    const json_t *home = file_system(&record, "working-folder");
    assert_string_equal(json_get_text(home, "type", ""), "nfs4");
    assert_string_equal(json_get_text(home, "mount", ""), "/home");
    assert_true(json_get_bool(home, "network", 0));
    check_value(&record, "limits", "memory", 34359738368.0);
    check_value(&record, "totals", "memory", 131072000.0 * 1024);
    check_value(&record, "totals", "memory_available", 100000000.0 * 1024);
    check_value(&record, "totals", "swap", 8388608.0 * 1024);
    check_value(&record, "totals", "cpu", 32);
    check_value(&record, "limits", "cpu_affinity", 8);
    check_value(&record, "limits", "cpu", 1.5);
    check_value(&record, "limits", "shm", 65536000.0 * 1024);
    check_value(&record, "limits", "open_files", 1024);
    check_value(&record, "limits", "processes", 63000);
    check_value(&record, "limits", "stack", 8388608);
    check_value(&record, "limits", "core_file", 0); /* read, and zero */
    check_open(&record, "limits", "address_space", "not-applicable");
    check_value(&record, "totals", "pids", 32768);
    check_value(&record, "totals", "processes", 256000);
    check_value(&record, "totals", "open_files", 800000);
    assert_non_null(reason(&record, "limits.swap"));
}

static void test_v2_laptop(void **state) {
    (void)state;
    struct record record AUTO_RECORD = take("v2-laptop", "/home/me/My Data/run 1", NULL);
    check_text(&record, "architecture", "x86_64");
    check_text(&record, "distribution_id", "ubuntu");
    check_text(&record, "distribution_version", "24.04");
    check_text(&record, "virtualization", "none");
    assert_null(container_kind(&record));
    check_value(&record, "totals", "cpu", 16);
    check_value(&record, "limits", "cpu_affinity", 16); /* of 32 that are possible, those online */
    check_open(&record, "limits", "memory", "not-applicable");
    check_open(&record, "limits", "shm", "not-in-record");
    const json_t *data = file_system(&record, "working-folder");
    assert_string_equal(json_get_text(data, "mount", ""), "/home/me/My Data");
    assert_string_equal(json_get_text(data, "type", ""), "fuse.sshfs");
    assert_true(json_get_bool(data, "network", 0));
    assert_string_equal(json_get_text(file_system(&record, "temporary"), "type", ""), "ext4");
    assert_false(json_get_bool(file_system(&record, "temporary"), "network", 1));
}

static void test_hybrid(void **state) {
    (void)state;
    struct record record AUTO_RECORD = take("hybrid-vm", "/", NULL);
    check_text(&record, "virtualization", "unnamed"); /* the processor says so, nobody says which */
    assert_string_equal(container_kind(&record), "docker");
    check_value(&record, "limits", "shm", 24684096.0 * 1024); /* of two mounts the later one */
    check_value(&record, "totals", "swap", 0);
}

static void test_docker(void **state) {
    (void)state;
    char *variables[] = {(char[]){"TMPDIR=/data/tmp"}, NULL};
    struct record record AUTO_RECORD = take("docker-v2", "/workspace", variables);
    assert_string_equal(container_kind(&record), "docker");
    const json_t *signs = json_get_array(json_get_object(record.environment, "container"), "signs");
    assert_int_equal(json_array_size(signs), 2);
    check_value(&record, "limits", "memory", 8589934592.0);
    check_value(&record, "totals", "memory", 263921000.0 * 1024);
    check_value(&record, "limits", "shm", 65536.0 * 1024);
    check_value(&record, "limits", "cpu", 2);
    check_value(&record, "limits", "pids", 4096);
    assert_string_equal(json_get_text(file_system(&record, "temporary"), "type", ""), "xfs");
    assert_string_equal(json_get_text(file_system(&record, "working-folder"), "type", ""),
                        "overlay");
}

static void test_docker_v1(void **state) {
    (void)state;
    struct record record AUTO_RECORD = take("docker-v1", "/", NULL);
    assert_string_equal(container_kind(&record), "docker");
    check_value(&record, "limits", "memory", 17179869184.0);
    check_open(&record, "limits", "cpu", "not-visible");
    assert_non_null(reason(&record, "limits.cpu"));
}

static void test_kubernetes(void **state) {
    (void)state;
    char *variables[] = {(char[]){"KUBERNETES_SERVICE_HOST=10.100.0.1"}, NULL};
    struct record record AUTO_RECORD = take("kubernetes-pod", "/scratch/run", variables);
    assert_string_equal(container_kind(&record), "kubernetes");
    check_text(&record, "virtualization", "amazon-ec2");
    check_text(&record, "product", "p5.48xlarge");
    check_value(&record, "limits", "memory", 34359738368.0);
    check_value(&record, "limits", "cpu", 4);
    check_value(&record, "totals", "cpu", 192);
    const json_t *scratch = file_system(&record, "working-folder");
    assert_string_equal(json_get_text(scratch, "type", ""), "lustre");
    assert_true(json_get_bool(scratch, "network", 0));
}

static void test_slurm(void **state) {
    (void)state;
    struct record record AUTO_RECORD = take("slurm-v2", "/home/bob", NULL);
    assert_null(container_kind(&record));
    check_value(&record, "limits", "memory", 68719476736.0);
    check_value(&record, "totals", "cpu", 128);
    check_value(&record, "limits", "cpu_affinity", 8);
    check_open(&record, "limits", "locked_memory", "not-applicable");
    assert_true(json_get_bool(file_system(&record, "working-folder"), "network", 0));
}

static void test_wsl(void **state) {
    (void)state;
    struct record record AUTO_RECORD = take("wsl2", "/mnt/c/Users/me", NULL);
    check_text(&record, "virtualization", "wsl2");
    assert_string_equal(json_get_text(file_system(&record, "working-folder"), "type", ""), "9p");
    assert_true(json_get_bool(file_system(&record, "working-folder"), "network", 0));
}

static void test_hidden_processes(void **state) {
    (void)state;
    struct record record AUTO_RECORD = take("hidepid", "/", NULL);
    check_text(&record, "hidepid", "2");
    assert_non_null(reason(&record, "machine.processes"));
    struct record other AUTO_RECORD = take("v2-laptop", "/", NULL);
    check_text(&other, "hidepid", NULL);
    assert_null(reason(&other, "machine.processes"));
}

static void test_next_to_nothing(void **state) {
    (void)state;
    struct record record AUTO_RECORD = take("no-sys", "/", NULL);
    check_text(&record, "host", NULL);
    check_text(&record, "distribution", NULL);
    check_text(&record, "vendor", NULL);
    check_text(&record, "virtualization", NULL);
    assert_non_null(reason(&record, "machine.distribution"));
    assert_non_null(reason(&record, "machine.virtualization"));
    check_text(&record, "cpu_model", "ARM implementer 0x41 part 0xd42");
    check_value(&record, "totals", "cpu", 4);          /* by /proc/stat */
    check_value(&record, "limits", "cpu_affinity", 4); /* of six, four are online */
    check_open(&record, "totals", "swap", "not-visible");
    check_open(&record, "totals", "memory_available", "not-visible");
    check_open(&record, "totals", "pids", "not-visible");
    check_open(&record, "limits", "memory", "not-visible");
    check_open(&record, "limits", "open_files", "not-visible");
}

static void test_an_empty_machine_has_no_figure(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    AUTO_JSON json_t *environment = json_object(), *reasons = json_object();
    struct probe_context context = {.root = &root};
    struct err err = ERR_INIT;
    assert_int_equal(probe_machine.collect(&context, environment, reasons, &err), 0);
    assert_int_equal(probe_limits.collect(&context, environment, reasons, &err), 0);
    static const char *const parts[] = {"limits", "totals"};
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
        const char *key;
        json_t *q;
        json_object_foreach (json_get_object(environment, parts[i]), key, q) {
            assert_string_equal(json_get_text(q, "state", ""), "open");
        }
        assert_true(json_object_size(json_get_object(environment, parts[i])) >= 7);
    }
}

static void test_hostile_texts(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    AUTO_FREE char *long_line = mem_alloc(300000);
    memset(long_line, 'f', 299999);
    tree_write(base, "/proc/cpuinfo", long_line);
    tree_write(base, "/proc/meminfo", long_line);
    tree_write(base, "/proc/self/mountinfo", long_line);
    tree_write(base, "/proc/self/limits", long_line);
    tree_write(base, "/proc/sys/kernel/hostname", "\xff\xfe\x1b[31m\n");
    tree_write(base, "/etc/os-release",
               "ID=\"unclosed\nVERSION_ID=\nPRETTY_NAME=\"a \\\"b\\\" \xc3(\"\n");
    tree_write(base, "/proc/self/status", "Cpus_allowed_list:\t0-99999999\n");
    tree_write(base, "/sys/devices/system/cpu/online", "3-1\n");
    AUTO_JSON json_t *environment = json_object(), *reasons = json_object();
    struct probe_context context = {.root = &root, .cwd = "/x"};
    struct err err = ERR_INIT;
    assert_int_equal(probe_machine.collect(&context, environment, reasons, &err), 0);
    assert_int_equal(probe_limits.collect(&context, environment, reasons, &err), 0);
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    json_add_compact(&out, environment); /* would fail an assertion for what is no UTF-8 */
    const json_t *machine = json_get_object(environment, "machine");
    assert_string_equal(json_get_text(machine, "distribution_id", ""), "unclosed");
    assert_null(json_object_get(machine, "distribution_version"));
    const json_t *affinity =
        json_get_object(json_get_object(environment, "limits"), "cpu_affinity");
    assert_string_equal(json_get_text(affinity, "reason", ""), "failed");
}

static void test_cpu_lists(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_list;
        size_t count;
    } lists[] = {
        {"0", true, 1},         {"0-3,8,10-11\n", true, 7}, {"", true, 0},     {"\n", true, 0},
        {"0-8191", true, 8192}, {"0-8192", false, 0},       {"3-1", false, 0}, {"a", false, 0},
        {"1-", false, 0},       {"1 2", false, 0},          {"-1", false, 0},  {"1,1,1", true, 1}};
    for (size_t i = 0; i < ARRAY_LENGTH(lists); i++) {
        struct cpu_list list;
        assert_int_equal(cpu_list_parse(lists[i].text, &list), lists[i].is_list);
        if (lists[i].is_list) {
            assert_int_equal(cpu_list_count(&list), lists[i].count);
        }
    }
}

static void test_os_release_values(void **state) {
    (void)state;
    static const char text[] =
        "# comment\nNAME=Plain\nVERSION_ID='1 2'\nPRETTY_NAME=\"a \\\"q\\\" \\$x\"\nEMPTY=\n"
        "XNAME=no\nLAST=end";
    char value[32];
    assert_true(os_release_value(text, "NAME", value, sizeof value));
    assert_string_equal(value, "Plain");
    assert_true(os_release_value(text, "VERSION_ID", value, sizeof value));
    assert_string_equal(value, "1 2");
    assert_true(os_release_value(text, "PRETTY_NAME", value, sizeof value));
    assert_string_equal(value, "a \"q\" $x");
    assert_false(os_release_value(text, "EMPTY", value, sizeof value));
    assert_false(os_release_value(text, "ABSENT", value, sizeof value));
    assert_true(os_release_value(text, "LAST", value, sizeof value));
    assert_false(
        os_release_value(text, "NAME", value, 3)); /* no room: nothing rather than a part */
}

static void test_this_machine(void **state) {
    (void)state;
    AUTO_TREE char *here = tree_new();
    struct record record AUTO_RECORD = take(NULL, here, NULL);
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    check_value(&record, "limits", "cpu_affinity", CPU_COUNT(&set));
    check_value(&record, "totals", "cpu", (double)sysconf(_SC_NPROCESSORS_ONLN));
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    check_value(&record, "totals", "memory", memory);
    const json_t *folder = file_system(&record, "working-folder");
    assert_string_equal(json_get_text(json_get_object(folder, "size"), "state", ""), "measured");
    assert_true(json_get_real(json_get_object(folder, "size"), "value", 0) >=
                json_get_real(json_get_object(folder, "free"), "value", 0));
    assert_non_null(json_object_get(folder, "type"));
    struct file_system fs;
    file_system_read(&root_real, "/nonexistent/folder", &fs);
    assert_int_equal(fs.size.state, QUANTITY_OPEN);
    assert_int_equal(fs.size.reason, QUANTITY_NOT_VISIBLE);
    file_system_read(&root_real, "/proc", &fs); /* reports no blocks */
    assert_int_equal(fs.size.state, QUANTITY_OPEN);
    assert_int_equal(fs.size.reason, QUANTITY_NOT_SUPPORTED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_v1_server),
        cmocka_unit_test(test_v2_laptop),
        cmocka_unit_test(test_hybrid),
        cmocka_unit_test(test_docker),
        cmocka_unit_test(test_docker_v1),
        cmocka_unit_test(test_kubernetes),
        cmocka_unit_test(test_slurm),
        cmocka_unit_test(test_wsl),
        cmocka_unit_test(test_hidden_processes),
        cmocka_unit_test(test_next_to_nothing),
        cmocka_unit_test(test_an_empty_machine_has_no_figure),
        cmocka_unit_test(test_hostile_texts),
        cmocka_unit_test(test_cpu_lists),
        cmocka_unit_test(test_os_release_values),
        cmocka_unit_test(test_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
