/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Incidents: the line and what must come of it; lines about one event; look-alikes that are none;
 * the class of a run. The corpus and the samples of the field: test-incident-corpus.c.
 */
#include "base/mem.h"
#include "base/str.h"
#include "text/incident-rules.h"
#include "text/incident.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct incident_scanner *scan(const char *text, size_t step) {
    struct incident_scanner *scanner = incident_scanner_new();
    size_t length = strlen(text);
    for (size_t at = 0; at < length; at += step)
        incident_scanner_feed(scanner, text + at, length - at < step ? length - at : step);
    incident_scanner_finish(scanner);
    return scanner;
}

/* "name{figures}" of each incident. */
static void describe(const struct incident_scanner *scanner, struct strbuf *out) {
    for (size_t i = 0; i < incident_scanner_count(scanner); i++) {
        const struct incident *incident = incident_scanner_get(scanner, i);
        strbuf_printf(out, "%s%s", i > 0 ? " " : "", incident->name);
        json_add_compact(out, incident->figures);
        assert_int_equal(incident->outcome, incident_info(incident->name)->outcome);
        assert_true(str_is_utf8(incident->line, strlen(incident->line)));
    }
    assert_null(incident_scanner_get(scanner, incident_scanner_count(scanner)));
}

static void assert_incidents(const char *text, const char *expected) {
    for (size_t step = 1; step < 200; step += 66) {
        AUTO_STRBUF struct strbuf got = STRBUF_INIT;
        struct incident_scanner *scanner = scan(text, step);
        describe(scanner, &got);
        incident_scanner_free(scanner);
        assert_string_equal(strbuf_str(&got), expected);
    }
}

static const struct {
    const char *text, *expected;
} cases[] = {
    /* kernel log */
    {"[2059991.491436] "
     "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,"
     "task_memcg=/user.slice,task=python3,pid=25315,uid=0\n"
     "[2059991.491542] Out of memory: Killed process 25315 (python3) total-vm:53312244kB, "
     "anon-rss:31451456kB, "
     "file-rss:74816kB, shmem-rss:12296kB, UID:0 pgtables:69068kB oom_score_adj:0\n"
     "[2059992.056260] oom_reaper: reaped process 25315 (python3), now anon-rss:0kB, "
     "file-rss:74732kB\n",
     "host_oom{\"scope\":\"machine\",\"pid\":25315,\"task\":\"python3\",\"task_cgroup\":\"/"
     "user.slice\","
     "\"anon_rss_bytes\":32206290944,\"file_rss_bytes\":76611584,\"shmem_rss_bytes\":12591104,"
     "\"total_vm_bytes\":54591737856}"},
    {"6,1234,5678,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/"
     ",mems_allowed=0,oom_memcg=/x/y,"
     "task_memcg=/x/y/z,task=my, prog,pid=7,uid=1000",
     "host_oom{\"scope\":\"cgroup\",\"pid\":7,\"task\":\"my, "
     "prog\",\"limit_cgroup\":\"/x/y\",\"task_cgroup\":\"/x/y/z\"}"},
    {"oom-kill:constraint=CONSTRAINT_CPUSET,task=a,pid=8,uid=0",
     "host_oom{\"constraint\":\"CONSTRAINT_CPUSET\",\"pid\":8,\"task\":\"a\"}"},
    {"Memory cgroup out of memory: Killed process 9 (a b) total-vm:10kB, anon-rss:0kB",
     "host_oom{\"scope\":\"cgroup\",\"pid\":9,\"task\":\"a b\",\"total_vm_bytes\":10240}"},
    {"Killed process 11499 (badsysprogram) total-vm:1641384kB, anon-rss:524092kB, file-rss:192kB",
     "host_oom{\"pid\":11499,\"task\":\"badsysprogram\",\"anon_rss_bytes\":536670208,\"file_rss_"
     "bytes\":196608,"
     "\"total_vm_bytes\":1680777216}"},
    /* two kills are two incidents, however close */
    {"Out of memory: Killed process 1 (a) total-vm:4kB\nOut of memory: Killed process 2 (b) "
     "total-vm:4kB\n",
     "host_oom{\"scope\":\"machine\",\"pid\":1,\"task\":\"a\",\"total_vm_bytes\":4096} "
     "host_oom{\"scope\":\"machine\",\"pid\":2,\"task\":\"b\",\"total_vm_bytes\":4096}"},
    /* schedulers */
    {"slurmstepd: error: Detected 1 oom_kill event in StepId=11300781.0. Some of the step tasks "
     "have been OOM Killed.\n"
     "srun: error: node-e: task 3: Out Of Memory\n",
     "host_oom{\"scope\":\"cgroup\",\"events\":1,\"step\":\"11300781.0\",\"rank\":3}"},
    {"slurmstepd: error: Detected 2 oom-kill event(s) in step 55.batch cgroup. Some of your "
     "processes may have been "
     "killed by the cgroup out-of-memory handler.",
     "host_oom{\"scope\":\"cgroup\",\"events\":2,\"step\":\"55.batch\"}"},
    {"slurmstepd: error: Job 7 exceeded memory limit (2059124 > 2048000), being killed",
     "host_oom{\"scope\":\"cgroup\"}"},
    {"      Reason:       OOMKilled\n      Exit Code:    137\n",
     "host_oom{\"scope\":\"cgroup\"} killed{\"exit_code\":137}"},
    {"=>> PBS: job killed: mem 4204592kb exceeded limit 4194304kb",
     "host_oom{\"scope\":\"cgroup\",\"used_bytes\":4305502208,\"limit_bytes\":4294967296}"},
    {"slurmstepd: error: *** JOB 13055114 ON compute-a CANCELLED AT 2020-07-11T22:48:26 DUE TO "
     "TIME LIMIT ***",
     "slurm_timeout{\"job\":\"13055114\"}"},
    {"slurmstepd: error: *** STEP 8.1 ON n CANCELLED AT 2020-07-11T22:48:26 DUE TO NODE FAILURE "
     "***",
     "slurm_node_fail{\"step\":\"8.1\"}"},
    {"slurmstepd: error: *** JOB 9 ON n CANCELLED AT 2020-07-11T22:48:26 ***",
     "terminated{\"job\":\"9\"}"},
    {"srun: Job step aborted: Waiting up to 32 seconds for job step to finish.", "slurm_abort{}"},
    /* allocators */
    {"RuntimeError: [enforce fail at alloc_cpu.cpp:73] . DefaultCPUAllocator: can't allocate "
     "memory: you tried to "
     "allocate 116813856768 bytes. Error code 12 (Cannot allocate memory)",
     "host_oom{\"requested_bytes\":116813856768,\"errno\":12}"},
    {"numpy.core._exceptions._ArrayMemoryError: Unable to allocate 14.9 GiB for an array with "
     "shape (2000000000,)",
     "host_oom{\"requested_bytes\":15998753178}"},
    {"Error: cannot allocate vector of size 3.7 Gb", "host_oom{\"requested_bytes\":3972844749}"},
    {"    x = bytearray(10**15)\nMemoryError", "host_oom{}"},
    {"[rank3]: MemoryError: std::bad_alloc", "host_oom{}"},
    {"MemoryError\n", "host_oom{}"},
    {"OSError: [Errno 12] Cannot allocate memory", "host_oom{\"errno\":12}"},
    {"terminate called after throwing an instance of 'std::bad_alloc'\n  what():  "
     "std::bad_alloc\nAborted (core dumped)\n",
     "host_oom{} crash{}"},
    {"bash: fork: Cannot allocate memory", "host_oom{\"errno\":12}"},
    /* a worker killed by nobody knows whom */
    {"RuntimeError: DataLoader worker (pid 17) is killed by signal: Killed. ",
     "host_oom_suspected{\"signal\":9,\"pid\":17}"},
    {"c++: fatal error: Killed signal terminated program cc1plus",
     "host_oom_suspected{\"signal\":9,\"task\":\"cc1plus\"}"},
    /* shared memory */
    {"ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient "
     "shared memory (shm).\n"
     "RuntimeError: DataLoader worker (pid 742) is killed by signal: Bus error. It is possible "
     "that dataloader's workers "
     "are out of shared memory. Please try to raise your shared memory limit.",
     "shm_full{\"signal\":7,\"pid\":742}"},
    {"Bus error (core dumped)\nThis might be caused by insufficient shared memory (shm).",
     "shm_full{\"signal\":7}"},
    {"OSError: [Errno 28] No space left on device: '/dev/shm/psm_1'",
     "shm_full{\"errno\":28,\"path\":\"/dev/shm/psm_1\"}"},
    {"RuntimeError: unable to open shared memory object </torch_1_2> in read-write mode: No space "
     "left on device (28)",
     "shm_full{\"errno\":28}"},
    {"NCCL WARN Error while creating shared memory segment /dev/shm/nccl-x (size 9637888)",
     "shm_full{\"path\":\"/dev/shm/nccl-x\",\"requested_bytes\":9637888}"},
    /* disk */
    {"OSError: [Errno 122] Disk quota exceeded: 'out/x'",
     "disk_full{\"kind\":\"quota\",\"errno\":122,\"path\":\"out/x\"}"},
    {"cp: error writing '/mnt/a b': No space left on device",
     "disk_full{\"errno\":28,\"path\":\"/mnt/a b\"}"},
    {"write /var/lib/x: no space left on device", "disk_full{\"errno\":28}"},
    {"Error: ENOSPC: System limit for number of file watchers reached, watch '/x'", ""},
    {"UserWarning: Not enough free disk space to download the file. The expected file size is: "
     "3945.44 MB. The target "
     "location /cache only has 3421.60 MB free disk space.",
     "disk_low{\"needed_bytes\":3945440000,\"free_bytes\":3421600000,\"path\":\"/cache\"}"},
    {"OSError: [Errno 116] Stale file handle: '/nfs/x'",
     "storage_lost{\"errno\":116,\"path\":\"/nfs/x\"}"},
    {"ls: cannot access '/mnt/s': Transport endpoint is not connected",
     "storage_lost{\"errno\":107,\"path\":\"/mnt/s\"}"},
    {"OSError: [Errno 107] Transport endpoint is not connected", ""}, /* a socket's */
    /* access */
    {"huggingface_hub.errors.GatedRepoError: 401 Client Error. (Request ID: Root=1-0)\n\nCannot "
     "access gated repo for url "
     "https://huggingface.co/a/B.1-x/resolve/main/f.\nAccess to model a/B.1-x is restricted.\n",
     "access_gated{\"http\":401,\"repo\":\"a/B.1-x\"}"},
    {"403 Client Error. (Request ID: Root=1-0)\n\nCannot access gated repo for url "
     "https://huggingface.co/a/b/resolve/main/config.json.\n",
     "access_gated{\"http\":403,\"repo\":\"a/b\"}"},
    {"requests.exceptions.HTTPError: 404 Client Error: Not Found for url: "
     "https://huggingface.co/api/models/a/b",
     ""},
    {"RepositoryNotFoundError: 401 Client Error. (Request ID: x)\n\nRepository Not Found for url: "
     "https://huggingface.co/api/models/a/b.\nIf you are trying to access a private or gated repo, "
     "make sure you are "
     "authenticated.\n",
     "access_unknown{\"http\":401,\"repo\":\"a/b\"}"},
    {"OSError: a/b is not a local folder and is not a valid model identifier listed on "
     "'https://huggingface.co/models'",
     "access_unknown{\"repo\":\"a/b\"}"},
    {"fatal: Authentication failed for 'https://joe:pw@github.com/a/b.git/'",
     "access_unknown{\"url\":\"https://[masked]@github.com/a/b.git/\"}"},
    {"fatal: Authentication failed for 'https://github.com/a/b.git/'",
     "access_unknown{\"url\":\"https://github.com/a/b.git/\"}"},
    /* dependencies */
    {"ModuleNotFoundError: No module named 'flash_attn'",
     "dependency_missing{\"module\":\"flash_attn\"}"},
    {"ImportError: libcudart.so.11.0: cannot open shared object file: No such file or directory",
     "dependency_missing{\"library\":\"libcudart.so.11.0\"}"},
    {"./a.out: error while loading shared libraries: libx.so.1: cannot open shared object file: No "
     "such file or directory",
     "dependency_missing{\"library\":\"libx.so.1\"}"},
    {"ImportError: cannot import name 'x' from 'y.z' (/a/b.py)",
     "dependency_missing{\"module\":\"y.z\"}"},
    {"python3: /lib/libm.so.6: version `GLIBC_2.34' not found (required by ./x)",
     "dependency_missing{\"version\":\"GLIBC_2.34\",\"library\":\"./x\"}"},
    {"bash: line 1: nvcc: command not found", "dependency_missing{\"command\":\"nvcc\"}"},
    {"sh: 1: nvcc: not found", "dependency_missing{\"command\":\"nvcc\"}"},
    {"/usr/bin/env: \xe2\x80\x98python\xe2\x80\x99: No such file or directory",
     "dependency_missing{\"command\":\"python\"}"},
    {"key 'x': not found", ""},
    {"try: import x\nexcept ImportError: pass", ""},
    {"except MemoryError:", ""},
    {"torch.cuda.OutOfMemoryError: CUDA out of memory.", "gpu_oom{}"},
    {"llama: warning: failed to mlock 12345-byte buffer: Cannot allocate memory", ""},
    /* crashes, kills */
    {"Segmentation fault (core dumped)", "crash{\"signal\":11}"},
    {"Fatal Python error: Segmentation fault", "crash{\"signal\":11}"},
    {"ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 0 "
     "(pid: 178) of binary: x",
     "killed{\"signal\":9,\"rank\":0,\"pid\":178}"},
    {" 62%|######2   | 620/1000 [00:44<00:27, 13.82it/s]Killed", "killed{\"signal\":9}"},
    {" 62%|######2   | 620/1000 [00:44<00:27, 13.82it/s]\rKilled\n", "killed{\"signal\":9}"},
    {"\x1b[31mKilled\x1b[0m", "killed{\"signal\":9}"},
    {"trainer-1  | Killed", "killed{\"signal\":9}"},
    {"2025-10-28T14:35:36.123456789Z stderr F Killed", "killed{\"signal\":9}"},
    {"Oct 28 14:35:36 host python[12]: Killed", "killed{\"signal\":9}"},
    {"[1]    55263 killed     sudo python run.py", "killed{\"signal\":9,\"pid\":55263}"},
    {"[1]+  Killed                  python run.py", "killed{\"signal\":9}"},
    {"./run.sh: line 3:  1234 Killed                  python x",
     "killed{\"signal\":9,\"pid\":1234}"},
    {"zsh: killed     python run.py", "killed{\"signal\":9}"},
    {"srun: error: node-a: task 2: Killed", "killed{\"signal\":9,\"rank\":2}"},
    {"subprocess.CalledProcessError: Command 'x' died with <Signals.SIGKILL: 9>.",
     "killed{\"signal\":9}"},
    {"    State:          Terminated\n      Reason:       Error\n      Exit Code:    137\n",
     "killed{\"exit_code\":137}"},
    {"Exit Code:    1370", ""},
    {"Terminated", "terminated{\"signal\":15}"},
    {"We killed the bug", ""},
    {"Player 1 Killed", ""},
    {"The process was Terminated by the user", ""},
    {"everything is fine", ""},
    {"", ""},
};

static void test_lines(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        assert_incidents(cases[i].text, cases[i].expected);
}

/* ---- bounds, counting, survival ---- */

static void test_counting(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (int i = 0; i < 200; i++)
        strbuf_printf(&text, "OSError: [Errno 28] No space left on device: '/x/%d'\n", i);
    for (int i = 0; i < 1500; i++)
        strbuf_add_str(&text, "No space left on device: '/x/3'\nstill going\n");
    struct incident_scanner *scanner = scan(strbuf_str(&text), 4000);
    assert_int_equal(incident_scanner_count(scanner), INCIDENT_COUNT_MAX);
    assert_int_equal(incident_scanner_dropped(scanner), 200 - INCIDENT_COUNT_MAX);
    assert_int_equal(incident_scanner_lines(scanner), 3200);
    assert_int_equal(incident_scanner_get(scanner, 3)->count, 1501);
    assert_int_equal(incident_scanner_get(scanner, 3)->line_number, 4);
    assert_false(incident_scanner_get(scanner, 3)->survived);
    assert_true(incident_scanner_get(scanner, 4)->survived); /* 3195 lines came after it */
    incident_scanner_free(scanner);
    assert_null(incident_scanner_free(NULL));
}

static void test_long_and_odd_lines(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, "No space left on device \xff\xfe ");
    for (int i = 0; i < 3000; i++)
        strbuf_add_str(&text, "\xed\x95\x9c");
    struct incident_scanner *scanner = scan(strbuf_str(&text), 100);
    assert_int_equal(incident_scanner_count(scanner), 1);
    const char *line = incident_scanner_get(scanner, 0)->line;
    assert_true(strlen(line) <= INCIDENT_LINE_MAX && strlen(line) > INCIDENT_LINE_MAX - 4);
    assert_true(str_is_utf8(line, strlen(line)));
    incident_scanner_free(scanner);
}

/* A traceback may lie between two lines about one event, a page of output does not. */
static void test_distance(void **state) {
    (void)state;
    for (int lines = 1; lines <= 30; lines++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        strbuf_add_str(&text, "401 Client Error: x\n");
        for (int i = 1; i < lines; i++)
            strbuf_add_str(&text, "  File \"x.py\"\n");
        strbuf_add_str(&text, "Access to model a/b is restricted.\n");
        struct incident_scanner *scanner = scan(strbuf_str(&text), 100);
        assert_int_equal(incident_scanner_count(scanner), lines <= 12 ? 1 : 2);
        incident_scanner_free(scanner);
    }
}

static void test_hole(void **state) {
    (void)state;
    struct incident_scanner *scanner = incident_scanner_new();
    incident_scanner_feed(scanner, "Kil", 3);
    incident_scanner_skip(scanner, 100);
    incident_scanner_feed(scanner, "Killed\nTerminated\n", 18);
    incident_scanner_finish(scanner);
    assert_int_equal(incident_scanner_count(scanner), 1);
    assert_string_equal(incident_scanner_get(scanner, 0)->name, "terminated");
    incident_scanner_free(scanner);
}

/* Random lines made of the table's own words: nothing breaks, all that comes out is bounded and
 * whole. */
static void test_any_text(void **state) {
    static const char *const pieces[] = {
        " ",
        "'",
        "(",
        ")",
        ":",
        ",",
        "=",
        "\n",
        "pid=1,",
        "Killed",
        "Exit Code:",
        "137",
        " 99999999999999999999 GiB",
        "1.2.3 MB",
        "https://huggingface.co/",
        "/",
        "[rank",
        "0]: ",
        "2025-10-28T14:35:36Z stderr F ",
        "Oct 28 14:35:36 host x[1]: ",
        "\x1b[",
        "\xff",
        "\xe2\x80\x98",
        "x-1  | ",
        "zsh: ",
        "[1]+  ",
        ": line 3: ",
        "error",
        "MemoryError",
        "sh: 1: ",
        "-",
    };
    uint64_t seed = 5;
    (void)state;
    for (int round = 0; round < 200; round++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        for (int i = 0; i < 300; i++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            size_t pick = (size_t)(seed >> 33);
            const struct incident_rule *rule = incident_rule_at(pick % incident_rule_count());
            const char *key = rule->all[(pick >> 16) % INCIDENT_KEYS_MAX];
            key = !key && rule->any ? rule->any[0] : key;
            strbuf_add_str(&text, pick % 3 == 0 && key ? key : pieces[pick % ARRAY_LENGTH(pieces)]);
        }
        struct incident_scanner *scanner = scan(strbuf_str(&text), 7);
        for (size_t i = 0; i < incident_scanner_count(scanner); i++) {
            const struct incident *incident = incident_scanner_get(scanner, i);
            assert_true(strlen(incident->line) <= INCIDENT_LINE_MAX);
            assert_true(incident->count >= 1 &&
                        incident->line_number <= incident->last_line_number);
            AUTO_STRBUF struct strbuf figures = STRBUF_INIT;
            json_add_compact(&figures, incident->figures);
            assert_true(str_is_utf8(strbuf_str(&figures), figures.length));
        }
        incident_scanner_free(scanner);
    }
}

/* ---- the tables ---- */

static void test_tables(void **state) {
    (void)state;
    for (size_t i = 0; i < incident_rule_count(); i++) {
        const struct incident_rule *rule = incident_rule_at(i);
        assert_non_null(incident_info(rule->name));
        assert_true((rule->also == NULL) == (rule->also_text == NULL));
        assert_true(rule->all[0] || (rule->any && rule->any[0]));
        for (size_t f = 0; f < INCIDENT_FIGURES_MAX && rule->figures[f].kind; f++)
            assert_non_null(rule->figures[f].at);
    }
    for (size_t i = 0; i < incident_info_count(); i++) {
        const struct incident_info *info = incident_info_at(i);
        bool has_rule = false;
        for (size_t r = 0; r < incident_rule_count(); r++)
            has_rule |= strcmp(incident_rule_at(r)->name, info->name) == 0;
        assert_true(has_rule);
        assert_true(!info->refines || incident_info(info->refines));
        assert_ptr_equal(incident_info(info->name), info);
        assert_true(strlen(info->meaning) > 20 && strlen(info->advice) > 20);
    }
    assert_null(incident_info("gpu_nothing"));
    assert_null(incident_info_at(incident_info_count()));
    assert_null(incident_rule_at(incident_rule_count()));
}

/* ---- the class of a run ---- */

static enum outcome_class classify(struct outcome_facts facts, const char *a, bool a_survived,
                                   const char *b) {
    const char *const names[] = {a ? a : "", b ? b : ""};
    const bool survived[] = {a_survived, false};
    return outcome_classify(&facts, names, survived, b ? 2 : a ? 1 : 0);
}

static void test_classes(void **state) {
    const struct outcome_facts failed = {.ended = true, .has_exit_code = true, .exit_code = 1};
    struct outcome_facts facts;

    (void)state;
    assert_int_equal(classify(failed, NULL, false, NULL), OUTCOME_FAILED);
    assert_int_equal(classify(failed, "disk_full", false, NULL), OUTCOME_DISK_FULL);
    assert_int_equal(classify(failed, "disk_full", true, NULL), OUTCOME_FAILED); /* survived */
    assert_int_equal(classify(failed, "crash", false, "host_oom"), OUTCOME_HOST_OOM);
    assert_int_equal(classify(failed, "dependency_missing", false, "disk_full"), OUTCOME_DISK_FULL);
    assert_int_equal(classify(failed, "killed", false, NULL), OUTCOME_KILLED);
    assert_int_equal(classify(failed, "host_oom_suspected", false, NULL),
                     OUTCOME_KILLED); /* no guess */
    assert_int_equal(classify(failed, "slurm_preempted", false, "host_oom"), OUTCOME_PREEMPTED);
    assert_int_equal(classify(failed, "no_such_incident", false, NULL), OUTCOME_FAILED);
    assert_int_equal(classify(failed, "disk_low", false, NULL), OUTCOME_FAILED);
    assert_int_equal(classify(failed, "dependency_missing", false, NULL), OUTCOME_DEPENDENCY);
    assert_int_equal(classify(failed, "access_gated", false, NULL), OUTCOME_ACCESS_DENIED);
    assert_int_equal(classify(failed, "shm_full", false, NULL), OUTCOME_SHM_EXHAUSTED);

    facts = (struct outcome_facts){.ended = true, .has_exit_code = true};
    assert_int_equal(classify(facts, "host_oom", false, NULL), OUTCOME_OK);
    facts = (struct outcome_facts){.ended = true, .has_exit_code = true, .exit_code = 137};
    assert_int_equal(classify(facts, NULL, false, NULL), OUTCOME_KILLED);
    assert_int_equal(classify(facts, "host_oom", false, NULL), OUTCOME_HOST_OOM);
    facts.exit_code = 143;
    assert_int_equal(classify(facts, NULL, false, NULL), OUTCOME_KILLED);
    facts.exit_code = 139;
    assert_int_equal(classify(facts, NULL, false, NULL), OUTCOME_FAILED);
    facts.exit_code = 130;
    assert_int_equal(classify(facts, "host_oom", false, NULL), OUTCOME_INTERRUPTED);
    facts = (struct outcome_facts){.ended = true, .signal = SIGKILL};
    assert_int_equal(classify(facts, NULL, false, NULL), OUTCOME_KILLED);
    facts.signal = SIGSEGV;
    assert_int_equal(classify(facts, NULL, false, NULL), OUTCOME_FAILED);
    facts.signal = SIGINT;
    assert_int_equal(classify(facts, NULL, false, NULL), OUTCOME_INTERRUPTED);
    facts.signal = SIGPIPE;
    assert_int_equal(classify(facts, NULL, false, NULL), OUTCOME_KILLED);
    facts = (struct outcome_facts){.ended = true, .signal = SIGTERM, .budget = true};
    assert_int_equal(classify(facts, "host_oom", false, NULL), OUTCOME_BUDGET);
    facts = (struct outcome_facts){.ended = true, .start_failed = true};
    assert_int_equal(classify(facts, NULL, false, NULL), OUTCOME_START_FAILED);
    facts = (struct outcome_facts){.ended = true, .monitor_lost = true, .has_exit_code = true};
    assert_int_equal(classify(facts, NULL, false, NULL), OUTCOME_LOST);
    facts = (struct outcome_facts){.ended = true};
    assert_int_equal(classify(facts, NULL, false, NULL), OUTCOME_ENDED);
    facts = (struct outcome_facts){0};
    assert_int_equal(classify(facts, NULL, false, NULL), OUTCOME_LOST);
    facts.running = true;
    assert_int_equal(classify(facts, NULL, false, NULL), OUTCOME_RUNNING);
    assert_int_equal(outcome_classify(&failed, NULL, NULL, 0), OUTCOME_FAILED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_counting),
        cmocka_unit_test(test_long_and_odd_lines),
        cmocka_unit_test(test_hole),
        cmocka_unit_test(test_any_text),
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
