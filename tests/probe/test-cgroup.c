/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Control groups: each recorded machine's figures one by one; odd paths and content; a real v1
 * group where one can be made. */
#include "probe/cgroup.h"

#include "base/err.h"
#include "tree.h"

#define GIB (1024.0 * 1024 * 1024)

static char *machine(const char *name) {
    return mem_printf("%s/machines/%s", getenv("PROBELAUF_TEST_FIXTURES"), name);
}

static void check_measured(const struct quantity *q, double value) {
    assert_true(quantity_is_valid(q));
    assert_int_equal(q->state, QUANTITY_MEASURED);
    assert_true(q->value == value);
    assert_non_null(q->method);
}

static void check_open(const struct quantity *q, enum quantity_reason reason) {
    assert_true(quantity_is_valid(q));
    assert_int_equal(q->state, QUANTITY_OPEN);
    assert_string_equal(quantity_reason_name(q->reason), quantity_reason_name(reason));
}

struct expected_place {
    const char *machine;
    int version;
    const char *path, *mount;
    bool is_top;
    enum quantity_reason reason;
};

static void test_places(void **state) {
    (void)state;
    static const struct expected_place places[] = {
        {"v1-server", 1, "/sys/fs/cgroup/memory/jobs/alice", "/sys/fs/cgroup/memory", true, 0},
        {"v2-laptop", 2,
         "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/"
         "app-org.gnome.Terminal.slice/vte-spawn-1.scope",
         "/sys/fs/cgroup", true, 0},
        {"hybrid-vm", 1, "/sys/fs/cgroup/memory/sandbox/f720ab3a", "/sys/fs/cgroup/memory", true,
         0},
        {"docker-v2", 2, "/sys/fs/cgroup", "/sys/fs/cgroup", false, 0},
        {"docker-v1", 1, "/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory", false, 0},
        {"kubernetes-pod", 2, "/sys/fs/cgroup", "/sys/fs/cgroup", false, 0},
        {"slurm-v2", 2, "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0",
         "/sys/fs/cgroup", true, 0},
        {"wsl2", 2, "/sys/fs/cgroup", "/sys/fs/cgroup", true, 0},
        /* the user's slice has no memory controller: the nearest group that has one */
        {"hidepid", 2, "/sys/fs/cgroup", "/sys/fs/cgroup", true, 0},
        {"no-sys", 0, "", "", false, QUANTITY_NOT_VISIBLE},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(places); i++) {
        AUTO_FREE char *base = machine(places[i].machine);
        struct root root = {base};
        struct cgroup_place place;
        assert_int_equal(cgroup_find_memory(&root, 0, &place), 0);
        assert_int_equal(place.version, places[i].version);
        assert_string_equal(place.path, places[i].path);
        assert_string_equal(place.mount, places[i].mount);
        assert_int_equal(place.is_top, places[i].is_top);
        if (place.version == 0) {
            assert_int_equal(place.reason, places[i].reason);
        }
    }
}

static void test_limits_of_v1(void **state) {
    (void)state;
    AUTO_FREE char *base = machine("v1-server");
    struct root root = {base};
    struct cgroup_limits limits;
    cgroup_limits(&root, 0, &limits);
    check_measured(&limits.memory_limit, 32 * GIB); /* the parent's, not the job's own "none" */
    check_measured(&limits.memory_and_swap_limit, 40 * GIB);
    check_open(&limits.swap_limit, QUANTITY_NOT_SEPARATED);
    check_measured(&limits.cpu_limit, 1.5); /* the smaller of 4 and 1.5 */
    check_open(&limits.pids_limit, QUANTITY_NOT_APPLICABLE);
}

static void test_limits_of_docker_v1(void **state) {
    (void)state;
    AUTO_FREE char *base = machine("docker-v1");
    struct root root = {base};
    struct cgroup_limits limits;
    cgroup_limits(&root, 0, &limits);
    /* set above what the container shows: only memory.stat tells */
    check_measured(&limits.memory_limit, 16 * GIB);
    check_measured(&limits.memory_and_swap_limit, 32 * GIB);
    check_open(&limits.cpu_limit, QUANTITY_NOT_VISIBLE);
    check_open(&limits.pids_limit, QUANTITY_NOT_VISIBLE); /* the hierarchy is not mounted */
}

static void test_limits_of_v2(void **state) {
    (void)state;
    struct cgroup_limits limits;
    AUTO_FREE char *laptop = machine("v2-laptop"), *docker = machine("docker-v2"),
                   *pod = machine("kubernetes-pod"), *slurm = machine("slurm-v2"),
                   *hidden = machine("hidepid");
    struct root root = {laptop};
    cgroup_limits(&root, 0, &limits);
    check_open(&limits.memory_limit, QUANTITY_NOT_APPLICABLE);
    check_open(&limits.swap_limit, QUANTITY_NOT_APPLICABLE);
    check_open(&limits.memory_and_swap_limit, QUANTITY_NOT_APPLICABLE);
    check_open(&limits.cpu_limit, QUANTITY_NOT_APPLICABLE);
    check_measured(&limits.pids_limit, 15000);
    root.prefix = docker;
    cgroup_limits(&root, 0, &limits);
    check_measured(&limits.memory_limit, 8 * GIB);
    check_open(&limits.swap_limit, QUANTITY_NOT_APPLICABLE); /* the machine has no swap */
    check_measured(&limits.cpu_limit, 2.0);
    check_measured(&limits.pids_limit, 4096);
    root.prefix = pod;
    cgroup_limits(&root, 0, &limits);
    check_measured(&limits.memory_limit, 32 * GIB);
    check_measured(&limits.cpu_limit, 4.0);
    check_open(&limits.pids_limit, QUANTITY_NOT_VISIBLE); /* the pod's group may have one */
    root.prefix = slurm;
    cgroup_limits(&root, 0, &limits);
    check_measured(&limits.memory_limit, 64 * GIB);
    check_open(&limits.cpu_limit, QUANTITY_NOT_APPLICABLE);
    root.prefix = hidden;
    cgroup_limits(&root, 0, &limits);
    check_open(&limits.memory_limit, QUANTITY_NOT_APPLICABLE);
    check_measured(&limits.cpu_limit, 8.0);
    check_measured(&limits.pids_limit, 500);
}

static void test_limits_of_hybrid_and_none(void **state) {
    (void)state;
    struct cgroup_limits limits;
    AUTO_FREE char *hybrid = machine("hybrid-vm"), *none = machine("no-sys");
    struct root root = {hybrid};
    cgroup_limits(&root, 0, &limits);
    check_open(&limits.memory_limit, QUANTITY_NOT_APPLICABLE); /* PAGE_COUNTER_MAX is no limit */
    check_open(&limits.memory_and_swap_limit, QUANTITY_NOT_APPLICABLE);
    check_open(&limits.cpu_limit, QUANTITY_NOT_APPLICABLE);
    root.prefix = none;
    cgroup_limits(&root, 0, &limits);
    check_open(&limits.memory_limit, QUANTITY_NOT_VISIBLE);
    check_open(&limits.cpu_limit, QUANTITY_NOT_VISIBLE);
}

static void test_a_limit_above_the_memory_is_none(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    tree_write(base, "/proc/self/cgroup", "0::/g\n");
    tree_write(base, "/proc/self/mountinfo", "1 1 0:1 / /sys/fs/cgroup rw - cgroup2 c rw\n");
    tree_write(base, "/proc/meminfo", "MemTotal: 1024 kB\nSwapTotal: 100 kB\n");
    tree_write(base, "/sys/fs/cgroup/cgroup.controllers", "memory\n");
    tree_write(base, "/sys/fs/cgroup/g/cgroup.procs", "");
    tree_write(base, "/sys/fs/cgroup/g/cgroup.controllers", "memory\n");
    tree_write(base, "/sys/fs/cgroup/g/memory.max", "1048576\n");
    tree_write(base, "/sys/fs/cgroup/g/memory.swap.max", "4096\n");
    struct cgroup_limits limits;
    cgroup_limits(&root, 0, &limits);
    check_open(&limits.memory_limit, QUANTITY_NOT_APPLICABLE);
    check_measured(&limits.swap_limit, 4096);
    tree_write(base, "/sys/fs/cgroup/g/memory.max", "1048575\n");
    cgroup_limits(&root, 0, &limits);
    check_measured(&limits.memory_limit, 1048575);
    tree_write(base, "/sys/fs/cgroup/g/memory.max", "0\n"); /* read, and zero */
    cgroup_limits(&root, 0, &limits);
    check_measured(&limits.memory_limit, 0);
    static const char *const bad[] = {"", "-1\n", "12 34\n", "many\n", "99999999999999999999999\n"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        tree_write(base, "/sys/fs/cgroup/g/memory.max", bad[i]);
        cgroup_limits(&root, 0, &limits);
        check_open(&limits.memory_limit, QUANTITY_FAILED);
    }
    tree_write(base, "/sys/fs/cgroup/g/cgroup.controllers", "memory cpu\n");
    tree_write(base, "/sys/fs/cgroup/g/cpu.max", "50000 0\n");
    cgroup_limits(&root, 0, &limits);
    check_open(&limits.cpu_limit, QUANTITY_FAILED);
}

static void test_counters(void **state) {
    (void)state;
    AUTO_FREE char *v1 = machine("v1-server"), *docker = machine("docker-v2"),
                   *pod = machine("kubernetes-pod"), *laptop = machine("v2-laptop"),
                   *wsl = machine("wsl2"), *v1_docker = machine("docker-v1");
    struct root root = {v1};
    struct cgroup_place place;
    struct cgroup_memory memory;
    assert_int_equal(cgroup_find_memory(&root, 0, &place), 0);
    assert_int_equal(cgroup_memory_read(&root, &place, &memory), 0);
    assert_true(memory.has_peak && memory.has_current && memory.has_failcnt && memory.has_file);
    assert_int_equal(memory.peak_bytes, 73400320);
    assert_int_equal(memory.current_bytes, 52428800);
    assert_int_equal(memory.failcnt, 3);
    assert_int_equal(memory.file_bytes, 10485760); /* total_cache, not cache */
    assert_int_equal(memory.anon_bytes, 41943040);
    assert_int_equal(memory.shmem_bytes, 4194304);
    assert_false(memory.has_oom_kill || memory.has_oom); /* Linux 3.10 does not count kills */
    root.prefix = v1_docker;
    assert_int_equal(cgroup_find_memory(&root, 0, &place), 0);
    assert_int_equal(cgroup_memory_read(&root, &place, &memory), 0);
    assert_true(memory.has_oom_kill && memory.oom_kill == 2);
    root.prefix = docker;
    assert_int_equal(cgroup_find_memory(&root, 0, &place), 0);
    assert_int_equal(cgroup_memory_read(&root, &place, &memory), 0);
    assert_true(memory.has_peak && memory.has_oom_kill && memory.has_oom && !memory.has_failcnt);
    assert_int_equal(memory.peak_bytes, 209715200);
    assert_int_equal(memory.current_bytes, 104857600);
    assert_int_equal(memory.oom, 2);
    assert_int_equal(memory.oom_kill, 1);
    assert_int_equal(memory.anon_bytes, 62914560);
    assert_int_equal(memory.file_bytes, 41943040);
    assert_int_equal(memory.shmem_bytes, 8388608);
    root.prefix = pod; /* Linux 5.10 has no memory.peak: no substitute */
    assert_int_equal(cgroup_find_memory(&root, 0, &place), 0);
    assert_int_equal(cgroup_memory_read(&root, &place, &memory), 0);
    assert_false(memory.has_peak);
    assert_true(memory.has_current);
    root.prefix = laptop;
    assert_int_equal(cgroup_find_memory(&root, 0, &place), 0);
    assert_int_equal(cgroup_memory_read(&root, &place, &memory), 0);
    assert_true(memory.has_peak);
    root.prefix = wsl; /* the root group has no figures at all */
    assert_int_equal(cgroup_find_memory(&root, 0, &place), 0);
    assert_int_equal(cgroup_memory_read(&root, &place, &memory), 0);
    assert_false(memory.has_peak || memory.has_current || memory.has_oom_kill || memory.has_anon);
    struct cgroup_place nowhere = {.version = 0};
    assert_int_equal(cgroup_memory_read(&root, &nowhere, &memory), -ENOENT);
    place.path[0] = 'x';
    (void)snprintf(place.path, sizeof place.path, "/sys/fs/cgroup/gone");
    assert_int_equal(cgroup_memory_read(&root, &place, &memory), -ENOENT);
}

static void test_odd_paths(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    struct cgroup_place place;
    assert_int_equal(cgroup_find_memory(&root, 0, &place), -ENOENT); /* no /proc */
    assert_int_equal(place.version, 0);
    tree_write(
        base, "/proc/self/mountinfo",
        "garbage\n1 1 0:1 / /sys/fs/cg\\040roup rw shared:1 master:2 - cgroup2 c rw\n1 2 3 4 5\n");
    tree_write(base, "/sys/fs/cg roup/a:b/cgroup.procs", "");
    tree_write(base, "/sys/fs/cg roup/a:b/cgroup.controllers", "cpu memory\n");
    tree_write(base, "/proc/7/cgroup", "0::/a:b\n");
    assert_int_equal(cgroup_find_memory(&root, 7, &place), 0);
    assert_int_equal(place.version, 2);
    assert_string_equal(place.path, "/sys/fs/cg roup/a:b");
    static const char *const unseen[] = {"0::/gone\n", "0::/../other\n", "0::/a:b (deleted)\n",
                                         "4:memory:/a:b\n"};
    for (size_t i = 0; i < ARRAY_LENGTH(unseen); i++) {
        tree_write(base, "/proc/7/cgroup", unseen[i]);
        assert_int_equal(cgroup_find_memory(&root, 7, &place), 0);
        assert_int_equal(place.version, 0);
        assert_int_equal(place.reason, QUANTITY_NOT_VISIBLE);
    }
    tree_write(base, "/proc/7/cgroup", "nothing\n\n:::\n0::relative\n");
    assert_int_equal(cgroup_find_memory(&root, 7, &place), 0);
    assert_int_equal(place.version, 0);
    assert_int_equal(place.reason, QUANTITY_NOT_SUPPORTED);
    AUTO_FREE char *huge = mem_alloc(5000);
    memset(huge, 'x', 4999);
    memcpy(huge, "0::/", 4);
    tree_write(base, "/proc/7/cgroup", huge);
    assert_int_equal(cgroup_find_memory(&root, 7, &place), 0);
    assert_int_equal(place.version, 0);
}

static void test_of_two_mounts_the_one_that_shows_more(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    struct cgroup_place place;
    tree_write(base, "/proc/self/cgroup", "4:memory:/pod/box\n");
    tree_write(base, "/proc/self/mountinfo",
               "1 1 0:1 /pod/box /part rw - cgroup c rw,memory\n"
               "2 1 0:1 / /whole rw - cgroup c rw,memory\n"
               "3 1 0:1 /other /else rw - cgroup c rw,memory\n");
    tree_write(base, "/part/cgroup.procs", "");
    assert_int_equal(cgroup_find_memory(&root, 0, &place), 0);
    assert_string_equal(place.path, "/part"); /* the other's folder is not there */
    tree_write(base, "/whole/pod/box/cgroup.procs", "");
    assert_int_equal(cgroup_find_memory(&root, 0, &place), 0);
    assert_string_equal(place.path, "/whole/pod/box");
    assert_string_equal(place.mount, "/whole");
    tree_write(base, "/proc/self/mountinfo",
               "2 1 0:1 / /whole rw - cgroup c rw,memory\n"
               "1 1 0:1 /pod/box /part rw - cgroup c rw,memory\n");
    assert_int_equal(cgroup_find_memory(&root, 0, &place), 0);
    assert_string_equal(place.path, "/whole/pod/box"); /* whatever their order */
}

/* ---- live ---- */

static struct cgroup_place own_v1_group(const char *name) {
    struct cgroup_place parent, own = {.version = 0};
    struct err err = ERR_INIT;
    assert_int_equal(cgroup_find_memory(&root_real, 0, &parent), 0);
    if (parent.version != 1 || cgroup_make_own(&parent, name, &own, &err) < 0) {
        skip();
    }
    return own;
}

static void use_memory(size_t bytes) {
    volatile char *memory = malloc(bytes);
    for (size_t i = 0; memory != NULL && i < bytes; i += 4096) {
        memory[i] = 1;
    }
}

static void test_live_v1_group_counts_a_child(void **state) {
    (void)state;
    AUTO_FREE char *name = mem_printf("test-%d", (int)getpid());
    struct cgroup_place own = own_v1_group(name);
    AUTO_FREE char *procs_path = mem_printf("%s/cgroup.procs", own.path);
    int procs = open(procs_path, O_WRONLY | O_CLOEXEC);
    assert_true(procs >= 0);
    int gate[2];
    assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        if (cgroup_join_fd(procs) < 0) {
            _exit(3);
        }
        use_memory((size_t)48 << 20);
        (void)close(gate[1]);
        _exit(read(gate[0], &byte, 1) == 0 ? 0 : 4);
    }
    (void)close(procs);
    (void)close(gate[0]);
    struct cgroup_memory memory = {0};
    for (int i = 0; i < 2000 && memory.peak_bytes < (48u << 20); i++) {
        assert_int_equal(cgroup_memory_read(&root_real, &own, &memory), 0);
        struct timespec pause = {0, 5000000};
        (void)nanosleep(&pause, NULL);
    }
    struct cgroup_place found;
    int rc_find = cgroup_find_memory(&root_real, pid, &found);
    int rc_busy = cgroup_remove(&own);
    (void)close(gate[1]);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    int rc_remove = cgroup_remove(&own);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(memory.has_peak && memory.peak_bytes >= (48u << 20));
    assert_true(memory.has_oom_kill && memory.oom_kill == 0);
    assert_int_equal(rc_find, 0);
    assert_string_equal(found.path, own.path);
    assert_int_equal(rc_busy, -EBUSY);
    assert_int_equal(rc_remove, 0);
}

static void test_no_group_where_none_can_be(void **state) {
    (void)state;
    struct err err = ERR_INIT;
    struct cgroup_place own, parent = {.version = 0};
    assert_int_equal(cgroup_make_own(&parent, "x", &own, &err), -ENOTSUP);
    assert_string_equal(err.id, "cgroup-not-delegated");
    /* a folder that is no control group: nothing is left behind */
    AUTO_TREE char *base = tree_new();
    parent.version = 1;
    (void)snprintf(parent.path, sizeof parent.path, "%s", base);
    assert_int_equal(cgroup_make_own(&parent, "x", &own, &err), -ENOTSUP);
    assert_non_null(strstr(err.text, "does not account"));
    AUTO_FREE char *left = mem_printf("%s/probelauf-x", base);
    assert_int_equal(access(left, F_OK), -1);
    /* v1 without hierarchy: the parent's limit would not bind the group */
    tree_write(base, "/memory.use_hierarchy", "0\n");
    assert_int_equal(cgroup_make_own(&parent, "x", &own, &err), -ENOTSUP);
    assert_non_null(strstr(err.text, "can be made below"));
    /* v2: the controller must be on for groups below */
    parent.version = 2;
    tree_write(base, "/cgroup.subtree_control", "cpu pids\n");
    assert_int_equal(cgroup_make_own(&parent, "x", &own, &err), -ENOTSUP);
    assert_non_null(strstr(err.text, "can be made below"));
    assert_int_equal(access(left, F_OK), -1);
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    assert_int_equal(cgroup_join_fd(fd), -ENOSPC);
    (void)close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_limits_of_v1),
        cmocka_unit_test(test_limits_of_docker_v1),
        cmocka_unit_test(test_limits_of_v2),
        cmocka_unit_test(test_limits_of_hybrid_and_none),
        cmocka_unit_test(test_a_limit_above_the_memory_is_none),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_odd_paths),
        cmocka_unit_test(test_of_two_mounts_the_one_that_shows_more),
        cmocka_unit_test(test_live_v1_group_counts_a_child),
        cmocka_unit_test(test_no_group_where_none_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
