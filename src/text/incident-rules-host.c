/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules for the host: shared memory, memory, disks and storage. Wording: shared RECORDS,
 * "Incidents" and A2.11; the kernel's mm/oom_kill.c (dump_oom_summary, __oom_kill_process) and
 * mm/memcontrol.c; errno texts of glibc and musl; systemd-oomd, earlyoom, Ray. Must not take a bare
 * kill for a lack of memory.
 */
#include "text/incident-rules.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

static bool is_memory_error(const char *line) {
    return incident_begins_with(line, "MemoryError");
}

static bool is_go_out_of_memory(const char *line) {
    const char *text = incident_skip_prefix(line);
    return str_starts_with(text, "fatal error: ") || str_starts_with(text, "runtime: ");
}

/* docker inspect prints the word of every container: "OOMKilled": false */
static bool is_oom_killed(const char *line) {
    const char *at = strstr(line, "OOMKilled") + strlen("OOMKilled");
    return !str_starts_with(at + strspn(at, "\": ="), "false");
}

static bool is_memory_row(const char *line) {
    return incident_is_job_row(line, "OUT_OF_MEMORY") || incident_is_job_row(line, "OUT_OF_MEM") ||
           incident_is_job_row(line, "OUT_OF_ME");
}

static bool is_oomd_kill(const char *line) {
    return strstr(line, "Killed /") != NULL;
}

/* "cat: /mnt/x: Input/output error", "error reading '…': Input/output error": a terminal that was
 * lost has no path. */
static bool names_path_before(const char *line, const char *words) {
    const char *slash = strchr(line, '/');
    return slash && slash < strstr(line, words);
}

static bool names_path_before_eio(const char *line) {
    return names_path_before(line, ": Input/output error");
}

static bool names_path_before_enotconn(const char *line) {
    return names_path_before(line, ": Transport endpoint is not connected");
}

#define KERNEL_VICTIM                                                                         \
    {"task", INCIDENT_PARENTHESES, "rocess "}, {"anon_rss_bytes", INCIDENT_KIB, "anon-rss:"}, \
        {"file_rss_bytes", INCIDENT_KIB, "file-rss:"},                                        \
        {"shmem_rss_bytes", INCIDENT_KIB, "shmem-rss:"}, {                                    \
        "total_vm_bytes", INCIDENT_KIB, "total-vm:"                                           \
    }

#define KERNEL_SUMMARY                                                     \
    {"pid", INCIDENT_INTEGER, ",pid="}, {"task", INCIDENT_NAME, ",task="}, \
        {"limit_cgroup", INCIDENT_NAME, ",oom_memcg="}, {                  \
        "task_cgroup", INCIDENT_NAME, ",task_memcg="                       \
    }

#define SHM_PATH \
    { "path", INCIDENT_QUOTED, "" }
#define SCOPE(what) \
    { "scope", INCIDENT_IS_TEXT, what }
#define ERRNO(number) \
    { "errno", INCIDENT_IS_NUMBER, number }

static const struct incident_rule rules[] = {
    /* shared memory first: its messages also speak of a full device or of a bus error */
    {.name = "shm_full",
     .all = {"insufficient shared memory (shm)"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "7"}}},
    {.name = "shm_full",
     .all = {"workers are out of shared memory"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "7"}, {"pid", INCIDENT_INTEGER, "(pid "}}},
    {.name = "shm_full",
     .all = {"o space left on device", "/dev/shm"},
     .figures = {{"errno", INCIDENT_IS_NUMBER, "28"}, SHM_PATH}},
    {.name = "shm_full",
     .all = {"o space left on device", "shared memory"},
     .figures = {{"errno", INCIDENT_IS_NUMBER, "28"}}},
    {.name = "shm_full",
     .all = {"o space left on device", "torch_"},
     .none = {"torch_extensions", "torch_compile"},
     .figures = {{"errno", INCIDENT_IS_NUMBER, "28"}}},
    {.name = "shm_full", .all = {"unable to write to file </torch_"}},
    {.name = "shm_full",
     .all = {"unable to allocate shared memory(shm)"},
     .figures = {{"errno", INCIDENT_INTEGER, "unavailable ("}}},
    {.name = "shm_full",
     .all = {"Call to posix_fallocate failed", "o space left on device"},
     .figures = {ERRNO("28")}},
    {.name = "shm_full",
     .all = {"posix_fallocate", "shm", "o space left on device"},
     .figures = {ERRNO("28")}},
    {.name = "shm_full",
     .all = {"DataLoader worker", "killed by signal: Bus error"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "7"}, {"pid", INCIDENT_INTEGER, "(pid "}}},
    {.name = "shm_full",
     .all = {"Error while creating shared memory segment"},
     .figures = {{"path", INCIDENT_WORD, "segment "},
                 {"requested_bytes", INCIDENT_BYTES, "size "}}},

    /* host memory: the kernel log */
    {.name = "host_oom",
     .all = {"oom-kill:", "constraint=CONSTRAINT_NONE"},
     .figures = {{"scope", INCIDENT_IS_TEXT, "machine"}, KERNEL_SUMMARY}},
    {.name = "host_oom",
     .all = {"oom-kill:", "constraint=CONSTRAINT_MEMCG"},
     .figures = {{"scope", INCIDENT_IS_TEXT, "cgroup"}, KERNEL_SUMMARY}},
    {.name = "host_oom",
     .all = {"oom-kill:", "constraint=CONSTRAINT_"},
     .figures = {{"constraint", INCIDENT_WORD, "constraint="}, KERNEL_SUMMARY}},
    {.name = "host_oom",
     .all = {"Memory cgroup out of memory: Kill"},
     .figures = {{"scope", INCIDENT_IS_TEXT, "cgroup"},
                 {"pid", INCIDENT_INTEGER, "rocess "},
                 KERNEL_VICTIM}},
    {.name = "host_oom",
     .all = {"Out of memory: Kill"},
     .figures = {{"scope", INCIDENT_IS_TEXT, "machine"},
                 {"pid", INCIDENT_INTEGER, "rocess "},
                 KERNEL_VICTIM}},
    {.name = "host_oom",
     .all = {"Killed process ", "total-vm:"},
     .figures = {{"pid", INCIDENT_INTEGER, "rocess "}, KERNEL_VICTIM}},
    {.name = "host_oom",
     .all = {"oom_reaper: reaped process "},
     .figures = {{"pid", INCIDENT_INTEGER, "rocess "}, {"task", INCIDENT_PARENTHESES, "rocess "}}},

    {.name = "host_oom",
     .all = {"Out of memory and no killable processes"},
     .figures = {SCOPE("machine")}},
    {.name = "host_oom",
     .all = {"Memory cgroup out of memory and no killable"},
     .figures = {SCOPE("cgroup")}},
    {.name = "host_oom",
     .all = {" invoked oom-killer: "},
     .figures = {{"invoked_by", INCIDENT_SEGMENT_BEFORE, " invoked oom-killer"}}},
    {.name = "host_oom",
     .all = {"killed as a result of limit of "},
     .figures = {SCOPE("cgroup"), {"limit_cgroup", INCIDENT_WORD, "limit of "}}},
    {.name = "host_oom",
     .all = {"going to be killed due to memory.oom.group set"},
     .figures = {SCOPE("cgroup"), {"limit_cgroup", INCIDENT_WORD, "Tasks in "}}},
    {.name = "host_oom",
     .all = {"memory: usage ", ", limit ", "failcnt"},
     .beside = true,
     .figures = {{"used_bytes", INCIDENT_KIB, "usage "}, {"limit_bytes", INCIDENT_KIB, "limit "}}},
    {.name = "host_oom",
     .all = {"due to memory "},
     .also = is_oomd_kill,
     .also_text = N_("with the control group that was killed"),
     .figures = {SCOPE("cgroup"), {"limit_cgroup", INCIDENT_WORD, "Killed "}}},
    {.name = "host_oom",
     .all = {"systemd-oomd killed "},
     .figures = {SCOPE("cgroup"), {"processes", INCIDENT_INTEGER, "oomd killed "}}},
    {.name = "host_oom", .all = {"killed by the OOM killer"}, .figures = {SCOPE("cgroup")}},
    {.name = "host_oom", .all = {"Failed with result 'oom-kill'"}, .figures = {SCOPE("cgroup")}},
    {.name = "host_oom",
     .all = {"low memory! at or below SIG"},
     .figures = {SCOPE("machine"), {"by", INCIDENT_IS_TEXT, "earlyoom"}}},
    {.name = "host_oom",
     .all = {"sending SIG", " to process ", "VmRSS "},
     .figures = {SCOPE("machine"),
                 {"pid", INCIDENT_INTEGER, "to process "},
                 {"task", INCIDENT_QUOTED, ""},
                 {"rss_bytes", INCIDENT_SIZE, "VmRSS "}}},
    {.name = "host_oom",
     .all = {"killing process ", "with signal ", "VmRSS "},
     .figures = {SCOPE("machine"),
                 {"pid", INCIDENT_INTEGER, "killing process "},
                 {"task", INCIDENT_QUOTED, ""},
                 {"rss_bytes", INCIDENT_SIZE, "VmRSS "}}},

    /* host memory: schedulers and containers */
    {.name = "host_oom",
     .all = {"oom_kill event"},
     .figures = {{"scope", INCIDENT_IS_TEXT, "cgroup"},
                 {"events", INCIDENT_INTEGER, "Detected "},
                 {"step", INCIDENT_WORD, "StepId="},
                 {"step", INCIDENT_WORD, " step "}}},
    {.name = "host_oom",
     .all = {"oom-kill event"},
     .figures = {{"scope", INCIDENT_IS_TEXT, "cgroup"},
                 {"events", INCIDENT_INTEGER, "Detected "},
                 {"step", INCIDENT_WORD, "StepId="},
                 {"step", INCIDENT_WORD, " step "}}},
    {.name = "host_oom",
     .all = {"killed by the cgroup out-of-memory handler"},
     .figures = {{"scope", INCIDENT_IS_TEXT, "cgroup"}}},
    {.name = "host_oom",
     .all = {"srun: error:", ": Out Of Memory"},
     .figures = {{"scope", INCIDENT_IS_TEXT, "cgroup"}, {"rank", INCIDENT_INTEGER, "task "}}},
    {.name = "host_oom",
     .all = {"slurmstepd", "xceeded", "memory limit"},
     .figures = {{"scope", INCIDENT_IS_TEXT, "cgroup"}}},
    {.name = "host_oom",
     .all = {"OOMKilled"},
     .also = is_oom_killed,
     .also_text = N_("not followed by false"),
     .figures = {{"scope", INCIDENT_IS_TEXT, "cgroup"}}},
    {.name = "host_oom", .all = {"\"OOM Killed\""}, .figures = {SCOPE("cgroup")}},
    {.name = "host_oom",
     .all = {"TERM_MEMLIMIT"},
     .figures = {{"scope", INCIDENT_IS_TEXT, "cgroup"}}},
    {.name = "host_oom",
     .all = {"PBS: job killed: ", "mem "},
     .figures = {{"scope", INCIDENT_IS_TEXT, "cgroup"},
                 {"used_bytes", INCIDENT_KIB, "mem "},
                 {"limit_bytes", INCIDENT_KIB, "limit "}}},
    {.name = "host_oom",
     .all = {"ue to the node running low on memory"},
     .figures = {SCOPE("machine"),
                 {"used_bytes", INCIDENT_PAIR_FIRST, "was running was "},
                 {"capacity_bytes", INCIDENT_PAIR_SECOND, "was running was "}}},
    {.name = "host_oom",
     .all = {"Memory on the node (", "where the task", " was "},
     .figures = {SCOPE("machine"),
                 {"used_bytes", INCIDENT_PAIR_FIRST, "was running was "},
                 {"capacity_bytes", INCIDENT_PAIR_SECOND, "was running was "}}},
    {.name = "host_oom",
     .all = {"killed due to memory pressure (OOM)"},
     .none = {" 0 Workers (tasks / actors) killed"},
     .figures = {SCOPE("machine"), {"processes", INCIDENT_INTEGER_BEFORE, " Workers (tasks"}}},
    {.name = "host_oom",
     .all = {"System memory low at node"},
     .figures = {SCOPE("machine"),
                 {"used_bytes", INCIDENT_SIZE, "Used memory ("},
                 {"capacity_bytes", INCIDENT_SIZE, "total capacity ("}}},
    {.name = "host_oom",
     .all = {"The node was low on resource: memory"},
     .figures = {SCOPE("machine")}},
    {.name = "host_oom",
     .all = {"The node had condition: [MemoryPressure]"},
     .figures = {SCOPE("machine")}},
    {.name = "host_oom", .all = {"OOMKilling"}},
    {.name = "host_oom", .all = {"System OOM encountered"}, .figures = {SCOPE("machine")}},
    {.name = "host_oom",
     .all = {" exceeded ", "% memory budget"},
     .figures = {{"by", INCIDENT_IS_TEXT, "dask"}, {"pid", INCIDENT_INTEGER, "(pid="}}},
    {.name = "host_oom", .all = {"xceeded step memory limit"}, .figures = {SCOPE("cgroup")}},
    {.name = "host_oom", .all = {"xceeded job memory limit"}, .figures = {SCOPE("cgroup")}},
    {.name = "host_oom", .all = {"JobState=OUT_OF_MEMORY"}, .figures = {SCOPE("cgroup")}},
    {.name = "host_oom", .all = {"State: OUT_OF_MEMORY"}, .figures = {SCOPE("cgroup")}},
    {.name = "host_oom",
     .all = {"Slurm", "Job_id=", ", OUT_OF_MEMORY"},
     .figures = {SCOPE("cgroup")}},
    {.name = "host_oom",
     .all = {"OUT_OF_ME"},
     .also = is_memory_row,
     .also_text = N_("in a row of sacct's table"),
     .figures = {SCOPE("cgroup")}},
    {.name = "host_oom",
     .all = {"crashed after using all available RAM"},
     .figures = {SCOPE("machine")}},
    {.name = "host_oom", .all = {"Job step killed by memory limit"}, .figures = {SCOPE("cgroup")}},

    /* host memory: what allocators say */
    {.name = "host_oom",
     .all = {"DefaultCPUAllocator: can't allocate memory"},
     .figures = {{"requested_bytes", INCIDENT_BYTES, "tried to allocate "},
                 {"errno", INCIDENT_INTEGER, "Error code "}}},
    {.name = "host_oom",
     .all = {"DefaultCPUAllocator: not enough memory"},
     .figures = {{"requested_bytes", INCIDENT_BYTES, "tried to allocate "}}},
    {.name = "host_oom",
     .all = {"CPUAllocator.cpp", "posix_memalign(", "12 vs 0"},
     .figures = {ERRNO("12")}},
    {.name = "host_oom",
     .all = {"Unable to allocate ", "for an array with shape"},
     .figures = {{"requested_bytes", INCIDENT_BYTES, "Unable to allocate "}}},
    {.name = "host_oom",
     .all = {"not enough memory: you tried to allocate "},
     .figures = {{"requested_bytes", INCIDENT_BYTES_BINARY, "tried to allocate "}}},
    {.name = "host_oom",
     .all = {"ArrowMemoryError: ", "of size ", " failed"},
     .figures = {{"requested_bytes", INCIDENT_INTEGER, "of size "}}},
    {.name = "host_oom",
     .all = {"memory allocation of ", " bytes failed"},
     .figures = {{"requested_bytes", INCIDENT_INTEGER, "allocation of "}}},
    {.name = "host_oom",
     .all = {"Out of Memory Error: "},
     .figures = {{"by", INCIDENT_IS_TEXT, "duckdb"}}},
    {.name = "host_oom",
     .all = {"java.lang.OutOfMemoryError"},
     .figures = {{"scope", INCIDENT_IS_TEXT, "java heap"}}},
    {.name = "host_oom",
     .all = {"JavaScript heap out of memory"},
     .figures = {{"scope", INCIDENT_IS_TEXT, "javascript heap"}}},
    {.name = "host_oom",
     .all = {"out of memory"},
     .none = {"CUDA", "cuda", "GPU", "Cuda"},
     .also = is_go_out_of_memory,
     .also_text = N_("behind \"fatal error:\" or \"runtime:\" at the start of the line")},
    {.name = "host_oom", .all = {"fatal error: out of memory"}, .none = {"CUDA", "cuda", "GPU"}},
    {.name = "host_oom", .all = {"ERROR: OutOfMemoryError()"}},
    {.name = "host_oom",
     .all = {"paging file is too small for this operation"},
     .figures = {{"errno", INCIDENT_INTEGER, "os error "},
                 {"errno", INCIDENT_INTEGER, "WinError "}}},
    {.name = "host_oom", .all = {"[WinError 1455]"}, .figures = {ERRNO("1455")}},
    {.name = "host_oom", .all = {"Not enough memory resources are available to process"}},
    {.name = "host_oom",
     .all = {"nable to mmap ", "annot allocate memory"},
     .figures = {{"requested_bytes", INCIDENT_INTEGER, "nable to mmap "}, ERRNO("12")}},
    {.name = "host_oom",
     .all = {"Unable to allocate ", "MemoryError"},
     .figures = {{"requested_bytes", INCIDENT_BYTES, "Unable to allocate "}}},
    {.name = "host_oom",
     .all = {"cannot allocate vector of size "},
     .figures = {{"requested_bytes", INCIDENT_BYTES_BINARY, "of size "}}},
    {.name = "host_oom",
     .all = {"std::bad_alloc"},
     .none = {"CUDA", "cuda"}}, /* not RMM's, of a GPU */
    {.name = "host_oom",
     .all = {"annot allocate memory"},
     .none = {"mlock", "ibv_", "reg_mr"}, /* limits on locked memory, not a lack of it */
     .figures = {{"errno", INCIDENT_IS_NUMBER, "12"}}},
    {.name = "host_oom", .all = {"ENOMEM"}, .figures = {{"errno", INCIDENT_IS_NUMBER, "12"}}},
    {.name = "host_oom", .all = {"LoadError: OutOfMemoryError()"}},
    {.name = "host_oom",
     .all = {"MemoryError"},
     .none = {"OutOfMemoryError"},
     .also = is_memory_error,
     .also_text = N_("as the name at the start of the line")},

    /* a worker killed without kernel evidence */
    {.name = "host_oom_suspected",
     .all = {"DataLoader worker (pid", "killed by signal: Killed"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "9"},
                 {"pid", INCIDENT_INTEGER, "(pid "},
                 {"pid", INCIDENT_INTEGER, "(pid(s) "}}},
    {.name = "host_oom_suspected",
     .all = {"DataLoader worker (pid", "exited unexpectedly"},
     .figures = {{"pid", INCIDENT_INTEGER, "(pid "}, {"pid", INCIDENT_INTEGER, "(pid(s) "}}},
    {.name = "host_oom_suspected", .all = {"potential root causes", "SIGKILL by OOM killer"}},
    {.name = "host_oom_suspected",
     .all = {"excessive memory usage causing the Operating System to kill"}},
    {.name = "host_oom_suspected",
     .all = {"The exit codes of the workers are {SIGKILL(-9)}"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "9"}}},
    {.name = "host_oom_suspected",
     .all = {"fatal error: Killed signal terminated program"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "9"}, {"task", INCIDENT_WORD, "program "}}},
    {.name = "host_oom_suspected",
     .all = {"died due to signal 9 (Kill signal)"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "9"}, {"task", INCIDENT_QUOTED, ""}}},

    /* disk */
    {.name = "disk_full",
     .all = {"Not enough disk space. Needed: "},
     .figures = {{"needed_bytes", INCIDENT_BYTES, "Needed: "}}},
    {.name = "disk_full",
     .all = {"The node was low on resource: ephemeral-storage"},
     .figures = {{"kind", INCIDENT_IS_TEXT, "ephemeral storage"}}},
    {.name = "disk_full",
     .all = {"phemeral local storage usage exceeds"},
     .figures = {{"kind", INCIDENT_IS_TEXT, "ephemeral storage"}}},
    {.name = "disk_full", .all = {"write error (disk full?)"}},
    {.name = "disk_full", .all = {"not enough space on device"}},
    {.name = "disk_full", .all = {"tar: ", "Wrote only "}},
    {.name = "disk_full", .all = {"Insufficient disk space"}},
    {.name = "disk_low",
     .all = {"Not enough free disk space"},
     .figures = {{"needed_bytes", INCIDENT_BYTES, "expected file size is: "},
                 {"free_bytes", INCIDENT_BYTES, "only has "},
                 {"path", INCIDENT_WORD, "target location "}}},
    {.name = "disk_full",
     .all = {"isk quota exceeded"},
     .figures = {{"kind", INCIDENT_IS_TEXT, "quota"},
                 {"errno", INCIDENT_IS_NUMBER, "122"},
                 {"path", INCIDENT_QUOTED, ""}}},
    {.name = "disk_full",
     .all = {"[Errno 122]"},
     .figures = {{"kind", INCIDENT_IS_TEXT, "quota"},
                 {"errno", INCIDENT_IS_NUMBER, "122"},
                 {"path", INCIDENT_QUOTED, "]"}}},
    {.name = "disk_full",
     .all = {"EDQUOT"},
     .figures = {{"kind", INCIDENT_IS_TEXT, "quota"}, {"errno", INCIDENT_IS_NUMBER, "122"}}},
    {.name = "disk_full",
     .all = {"o space left on device"},
     .none = {"file watchers"}, /* inotify's limit answers ENOSPC too */
     .figures = {{"errno", INCIDENT_IS_NUMBER, "28"}, {"path", INCIDENT_QUOTED, ""}}},
    {.name = "disk_full",
     .all = {"[Errno 28]"},
     .figures = {{"errno", INCIDENT_IS_NUMBER, "28"}, {"path", INCIDENT_QUOTED, "]"}}},
    {.name = "disk_full",
     .all = {"ENOSPC"},
     .none = {"file watchers"},
     .figures = {{"errno", INCIDENT_IS_NUMBER, "28"}}},
    {.name = "disk_full", .all = {"database or disk is full"}},
    {.name = "disk_full", .all = {"There is not enough space on the disk"}},

    /* storage that went away */
    {.name = "storage_lost",
     .all = {"Stale file handle"},
     .figures = {{"errno", INCIDENT_IS_NUMBER, "116"}, {"path", INCIDENT_QUOTED, ""}}},
    {.name = "storage_lost",
     .all = {"Stale NFS file handle"},
     .figures = {{"errno", INCIDENT_IS_NUMBER, "116"}, {"path", INCIDENT_QUOTED, ""}}},
    {.name = "storage_lost",
     .all = {"[Errno 116]"},
     .figures = {{"errno", INCIDENT_IS_NUMBER, "116"}, {"path", INCIDENT_QUOTED, "]"}}},
    {.name = "storage_lost",
     .all = {"Transport endpoint is not connected: '"}, /* without a path it is a socket's */
     .figures = {{"errno", INCIDENT_IS_NUMBER, "107"}, {"path", INCIDENT_QUOTED, "connected: "}}},
    {.name = "storage_lost",
     .all = {": Transport endpoint is not connected"},
     .also = names_path_before_enotconn,
     .also_text = N_("with a path before it"),
     .figures = {{"errno", INCIDENT_IS_NUMBER, "107"}, {"path", INCIDENT_QUOTED, ""}}},
    {.name = "storage_lost",
     .all = {"Communication error on send"},
     .figures = {ERRNO("70"), {"path", INCIDENT_QUOTED, "send: "}}},
    {.name = "storage_lost",
     .all = {"nfs: server ", "not responding"},
     .figures = {{"server", INCIDENT_WORD, "nfs: server "}}},
    {.name = "storage_lost",
     .all = {"Cannot send after transport endpoint shutdown"},
     .figures = {ERRNO("108"), {"path", INCIDENT_QUOTED, "shutdown: "}}},
    {.name = "storage_lost",
     .all = {"Remote I/O error"},
     .figures = {ERRNO("121"), {"path", INCIDENT_QUOTED, "error: "}}},
    {.name = "storage_lost",
     .all = {"Buffer I/O error on dev"},
     .figures = {{"device", INCIDENT_WORD, "on dev "}, {"device", INCIDENT_WORD, "on device "}}},
    {.name = "storage_lost",
     .all = {"I/O error, dev "},
     .figures = {{"device", INCIDENT_WORD, ", dev "}}},
    {.name = "storage_lost",
     .all = {"EXT4-fs error (device "},
     .figures = {{"device", INCIDENT_WORD, "(device "}}},
    {.name = "storage_lost",
     .all = {"Lustre", ": Connection to ", " was lost"},
     .figures = {{"server", INCIDENT_WORD, "Connection to "}}},
    {.name = "storage_lost",
     .all = {"Host is down: '"},
     .figures = {ERRNO("112"), {"path", INCIDENT_QUOTED, "down: "}}},
    {.name = "storage_lost",
     .all = {"[Errno 5] Input/output error"},
     .figures = {ERRNO("5"), {"path", INCIDENT_QUOTED, "error: "}}},
    {.name = "storage_lost", .all = {"failed with Input/output error"}, .figures = {ERRNO("5")}},
    {.name = "storage_lost",
     .all = {": Input/output error"},
     .also = names_path_before_eio,
     .also_text = N_("with a path before it"),
     .figures = {ERRNO("5"), {"path", INCIDENT_QUOTED, ""}, {"path", INCIDENT_QUOTED, "error: "}}},
    {.name = "storage_lost", .all = {"Input/output error (os error 5)"}, .figures = {ERRNO("5")}},
    {.name = "storage_lost",
     .all = {"Input/output error: '"}, /* without a path it may be a lost terminal */
     .figures = {ERRNO("5"), {"path", INCIDENT_QUOTED, "error: "}}},
};

const struct incident_rules incident_rules_host = {rules, ARRAY_LENGTH(rules)};
