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
    return names_path_before(line, " Input/output error");
}

static bool names_path_before_enotconn(const char *line) {
    return names_path_before(line, ": Transport endpoint is not connected");
}

static const struct incident_figure victim_figures[] = {
    INTEGER("pid", "rocess "),
    {"task", INCIDENT_PARENTHESES, "rocess "},
    {"anon_rss_bytes", INCIDENT_KIB, "anon-rss:"},
    {"file_rss_bytes", INCIDENT_KIB, "file-rss:"},
    {"shmem_rss_bytes", INCIDENT_KIB, "shmem-rss:"},
    {"total_vm_bytes", INCIDENT_KIB, "total-vm:"},
    {NULL, INCIDENT_FIGURE_END_, NULL},
};

static const struct incident_figure kill_figures[] = {
    INTEGER("pid", ",pid="),
    {"task", INCIDENT_NAME, ",task="},
    {"limit_cgroup", INCIDENT_NAME, ",oom_memcg="},
    {"task_cgroup", INCIDENT_NAME, ",task_memcg="},
    {NULL, INCIDENT_FIGURE_END_, NULL},
};

#define SHM_PATH \
    { "path", INCIDENT_QUOTED, "" }

static const struct incident_rule rules[] = {
    /* shared memory first: its messages also speak of a full device or of a bus error */
    {.name = "shm_full", .all = {"insufficient shared memory (shm)"}, .figures = {SIGNAL("7")}},
    {.name = "shm_full",
     .all = {"workers are out of shared memory"},
     .figures = {SIGNAL("7"), INTEGER("pid", "(pid ")}},
    {.name = "shm_full",
     .all = {"o space left on device", "/dev/shm"},
     .figures = {ERRNO("28"), SHM_PATH}},
    {.name = "shm_full",
     .all = {"o space left on device"},
     .any = WORDS("shared memory", "Call to posix_fallocate failed"),
     .figures = {ERRNO("28")}},
    {.name = "shm_full",
     .all = {"o space left on device", "torch_"},
     .none = {"torch_extensions", "torch_compile"},
     .figures = {ERRNO("28")}},
    {.name = "shm_full", .all = {"unable to write to file </torch_"}},
    {.name = "shm_full",
     .all = {"unable to allocate shared memory(shm)"},
     .figures = {INTEGER("errno", "unavailable (")}},
    {.name = "shm_full",
     .all = {"posix_fallocate", "shm", "o space left on device"},
     .figures = {ERRNO("28")}},
    {.name = "shm_full",
     .all = {"DataLoader worker", "killed by signal: Bus error"},
     .figures = {SIGNAL("7"), INTEGER("pid", "(pid ")}},
    {.name = "shm_full",
     .all = {"Error while creating shared memory segment"},
     .figures = {{"path", INCIDENT_WORD, "segment "},
                 {"requested_bytes", INCIDENT_BYTES, "size "}}},

    /* host memory: the kernel log */
    {.name = "host_oom",
     .all = {"oom-kill:", "constraint=CONSTRAINT_NONE"},
     .figures = {SCOPE("machine")},
     .more = kill_figures},
    {.name = "host_oom",
     .all = {"oom-kill:", "constraint=CONSTRAINT_MEMCG"},
     .figures = {SCOPE("cgroup")},
     .more = kill_figures},
    {.name = "host_oom",
     .all = {"oom-kill:", "constraint=CONSTRAINT_"},
     .figures = {{"constraint", INCIDENT_WORD, "constraint="}},
     .more = kill_figures},
    {.name = "host_oom",
     .all = {"Memory cgroup out of memory: Kill"},
     .figures = {SCOPE("cgroup")},
     .more = victim_figures},
    {.name = "host_oom",
     .all = {"Out of memory: Kill"},
     .figures = {SCOPE("machine")},
     .more = victim_figures},
    {.name = "host_oom", .all = {"Killed process ", "total-vm:"}, .more = victim_figures},
    {.name = "host_oom",
     .all = {"oom_reaper: reaped process "},
     .figures = {INTEGER("pid", "rocess "), {"task", INCIDENT_PARENTHESES, "rocess "}}},
    {.name = "host_oom",
     .all = {"Out of memory and no killable processes"},
     .figures = {SCOPE("machine")}},
    {.name = "host_oom",
     .any = WORDS("Memory cgroup out of memory and no killable", "killed by the OOM killer",
                  "Failed with result 'oom-kill'"),
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
     .figures = {SCOPE("cgroup"), INTEGER("processes", "oomd killed ")}},
    {.name = "host_oom",
     .all = {"low memory! at or below SIG"},
     .figures = {SCOPE("machine"), TEXT("by", "earlyoom")}},
    {.name = "host_oom",
     .all = {"sending SIG", " to process ", "VmRSS "},
     .figures = {SCOPE("machine"),
                 INTEGER("pid", "to process "),
                 {"task", INCIDENT_QUOTED, ""},
                 SIZE("rss_bytes", "VmRSS ")}},
    {.name = "host_oom",
     .all = {"killing process ", "with signal ", "VmRSS "},
     .figures = {SCOPE("machine"),
                 INTEGER("pid", "killing process "),
                 {"task", INCIDENT_QUOTED, ""},
                 SIZE("rss_bytes", "VmRSS ")}},

    /* host memory: schedulers and containers */
    {.name = "host_oom",
     .any = WORDS("oom_kill event", "oom-kill event"),
     .figures = {SCOPE("cgroup"),
                 INTEGER("events", "Detected "),
                 {"step", INCIDENT_WORD, "StepId="},
                 {"step", INCIDENT_WORD, " step "}}},
    {.name = "host_oom",
     .any = WORDS("killed by the cgroup out-of-memory handler", "\"OOM Killed\"", "TERM_MEMLIMIT",
                  "xceeded step memory limit", "xceeded job memory limit", "JobState=OUT_OF_MEMORY",
                  "State: OUT_OF_MEMORY", "Job step killed by memory limit"),
     .figures = {SCOPE("cgroup")}},
    {.name = "host_oom",
     .all = {"srun: error:", ": Out Of Memory"},
     .figures = {SCOPE("cgroup"), INTEGER("rank", "task ")}},
    {.name = "host_oom",
     .all = {"slurmstepd", "xceeded", "memory limit"},
     .figures = {SCOPE("cgroup")}},
    {.name = "host_oom",
     .all = {"OOMKilled"},
     .also = is_oom_killed,
     .also_text = N_("not followed by false"),
     .figures = {SCOPE("cgroup")}},
    {.name = "host_oom",
     .all = {"PBS: job killed: ", "mem "},
     .figures = {SCOPE("cgroup"),
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
     .figures = {SCOPE("machine"), SIZE("used_bytes", "Used memory ("),
                 SIZE("capacity_bytes", "total capacity (")}},
    {.name = "host_oom",
     .any =
         WORDS("The node was low on resource: memory", "The node had condition: [MemoryPressure]",
               "System OOM encountered", "crashed after using all available RAM"),
     .figures = {SCOPE("machine")}},
    {.name = "host_oom", .all = {"OOMKilling"}},
    {.name = "host_oom",
     .all = {" exceeded ", "% memory budget"},
     .figures = {TEXT("by", "dask"), INTEGER("pid", "(pid=")}},
    {.name = "host_oom",
     .all = {"Slurm", "Job_id=", ", OUT_OF_MEMORY"},
     .figures = {SCOPE("cgroup")}},
    {.name = "host_oom",
     .all = {"OUT_OF_ME"},
     .also = is_memory_row,
     .also_text = N_("in a row of sacct's table"),
     .figures = {SCOPE("cgroup")}},

    /* host memory: what allocators say */
    {.name = "host_oom",
     .all = {"DefaultCPUAllocator: can't allocate memory"},
     .figures = {{"requested_bytes", INCIDENT_BYTES, "tried to allocate "},
                 INTEGER("errno", "Error code ")}},
    {.name = "host_oom",
     .all = {"DefaultCPUAllocator: not enough memory"},
     .figures = {{"requested_bytes", INCIDENT_BYTES, "tried to allocate "}}},
    {.name = "host_oom",
     .all = {"CPUAllocator.cpp", "posix_memalign(", "12 vs 0"},
     .figures = {ERRNO("12")}},
    {.name = "host_oom",
     .all = {"Unable to allocate "},
     .any = WORDS("for an array with shape", "MemoryError"),
     .figures = {{"requested_bytes", INCIDENT_BYTES, "Unable to allocate "}}},
    {.name = "host_oom",
     .all = {"not enough memory: you tried to allocate "},
     .figures = {{"requested_bytes", INCIDENT_BYTES_BINARY, "tried to allocate "}}},
    {.name = "host_oom",
     .all = {"ArrowMemoryError: ", "of size ", " failed"},
     .figures = {INTEGER("requested_bytes", "of size ")}},
    {.name = "host_oom",
     .all = {"memory allocation of ", " bytes failed"},
     .figures = {INTEGER("requested_bytes", "allocation of ")}},
    {.name = "host_oom", .all = {"Out of Memory Error: "}, .figures = {TEXT("by", "duckdb")}},
    {.name = "host_oom", .all = {"java.lang.OutOfMemoryError"}, .figures = {SCOPE("java heap")}},
    {.name = "host_oom",
     .all = {"JavaScript heap out of memory"},
     .figures = {SCOPE("javascript heap")}},
    {.name = "host_oom",
     .all = {"out of memory"},
     .none = {"CUDA", "cuda", "GPU", "Cuda"},
     .also = is_go_out_of_memory,
     .also_text = N_("behind \"fatal error:\" or \"runtime:\" at the start of the line")},
    {.name = "host_oom", .all = {"fatal error: out of memory"}, .none = {"CUDA", "cuda", "GPU"}},
    {.name = "host_oom",
     .any = WORDS("ERROR: OutOfMemoryError()",
                  "Not enough memory resources are available to process")},
    {.name = "host_oom",
     .all = {"paging file is too small for this operation"},
     .figures = {INTEGER("errno", "os error "), INTEGER("errno", "WinError ")}},
    {.name = "host_oom", .all = {"[WinError 1455]"}, .figures = {ERRNO("1455")}},
    {.name = "host_oom",
     .all = {"nable to mmap ", "annot allocate memory"},
     .figures = {INTEGER("requested_bytes", "nable to mmap "), ERRNO("12")}},
    {.name = "host_oom",
     .all = {"cannot allocate vector of size "},
     .figures = {{"requested_bytes", INCIDENT_BYTES_BINARY, "of size "}}},
    {.name = "host_oom", .all = {"std::bad_alloc"}, .none = {"CUDA", "cuda"}},

    /* not RMM's, of a GPU */
    {.name = "host_oom",
     .all = {"annot allocate memory"},
     .none = {"mlock", "ibv_", "reg_mr"}, /* limits on locked memory, not a lack of it */
     .figures = {ERRNO("12")}},
    {.name = "host_oom", .all = {"ENOMEM"}, .figures = {ERRNO("12")}},
    {.name = "host_oom", .all = {"LoadError: OutOfMemoryError()"}},
    {.name = "host_oom",
     .all = {"MemoryError"},
     .none = {"OutOfMemoryError"},
     .also = is_memory_error,
     .also_text = N_("as the name at the start of the line")},

    /* a worker killed without kernel evidence */
    {.name = "host_oom_suspected",
     .all = {"DataLoader worker (pid", "killed by signal: Killed"},
     .figures = {SIGNAL("9"), INTEGER("pid", "(pid "), INTEGER("pid", "(pid(s) ")}},
    {.name = "host_oom_suspected",
     .all = {"DataLoader worker (pid", "exited unexpectedly"},
     .figures = {INTEGER("pid", "(pid "), INTEGER("pid", "(pid(s) ")}},
    {.name = "host_oom_suspected", .all = {"potential root causes", "SIGKILL by OOM killer"}},
    {.name = "host_oom_suspected",
     .all = {"A worker died or was killed while executing a task by an unexpected system error"},
     .figures = {INTEGER("pid", "orker PID: ")}},
    {.name = "host_oom_suspected",
     .all = {"excessive memory usage causing the Operating System to kill"}},
    {.name = "host_oom_suspected",
     .all = {"The exit codes of the workers are {SIGKILL(-9)}"},
     .figures = {SIGNAL("9")}},
    {.name = "host_oom_suspected",
     .all = {"fatal error: Killed signal terminated program"},
     .figures = {SIGNAL("9"), {"task", INCIDENT_WORD, "program "}}},
    {.name = "host_oom_suspected",
     .all = {"died due to signal 9 (Kill signal)"},
     .figures = {SIGNAL("9"), {"task", INCIDENT_QUOTED, ""}}},

    /* disk */
    {.name = "disk_full",
     .all = {"Not enough disk space. Needed: "},
     .figures = {{"needed_bytes", INCIDENT_BYTES, "Needed: "}}},
    {.name = "disk_full",
     .any = WORDS("The node was low on resource: ephemeral-storage",
                  "phemeral local storage usage exceeds"),
     .figures = {TEXT("kind", "ephemeral storage")}},
    {.name = "disk_full",
     .any =
         WORDS("write error (disk full?)", "not enough space on device", "Insufficient disk space",
               "database or disk is full", "There is not enough space on the disk")},
    {.name = "disk_full", .all = {"tar: ", "Wrote only "}},
    {.name = "disk_full", .all = {"write error: wrote ", " instead of "}},
    {.name = "disk_full", .all = {"FileStream.Write incomplete"}},
    {.name = "disk_low",
     .all = {"Not enough free disk space"},
     .warns = true,
     .figures = {{"needed_bytes", INCIDENT_BYTES, "expected file size is: "},
                 {"free_bytes", INCIDENT_BYTES, "only has "},
                 {"path", INCIDENT_WORD, "target location "}}},
    {.name = "disk_full",
     .all = {"isk quota exceeded"},
     .figures = {TEXT("kind", "quota"), ERRNO("122"), {"path", INCIDENT_QUOTED, ""}}},
    {.name = "disk_full",
     .all = {"[Errno 122]"},
     .figures = {TEXT("kind", "quota"), ERRNO("122"), {"path", INCIDENT_QUOTED, "]"}}},
    {.name = "disk_full", .all = {"EDQUOT"}, .figures = {TEXT("kind", "quota"), ERRNO("122")}},
    {.name = "disk_full",
     .all = {"o space left on device"},
     .none = {"file watchers"}, /* inotify's limit answers ENOSPC too */
     .figures = {ERRNO("28"), {"path", INCIDENT_QUOTED, ""}}},
    {.name = "disk_full",
     .all = {"[Errno 28]"},
     .figures = {ERRNO("28"), {"path", INCIDENT_QUOTED, "]"}}},
    {.name = "disk_full", .all = {"ENOSPC"}, .none = {"file watchers"}, .figures = {ERRNO("28")}},

    /* storage that went away */
    {.name = "storage_lost",
     .any = WORDS("Stale file handle", "Stale NFS file handle"),
     .figures = {ERRNO("116"), {"path", INCIDENT_QUOTED, ""}}},
    {.name = "storage_lost",
     .all = {"[Errno 116]"},
     .figures = {ERRNO("116"), {"path", INCIDENT_QUOTED, "]"}}},
    {.name = "storage_lost",
     .all = {"Transport endpoint is not connected: '"}, /* without a path it is a socket's */
     .figures = {ERRNO("107"), {"path", INCIDENT_QUOTED, "connected: "}}},
    {.name = "storage_lost",
     .all = {": Transport endpoint is not connected"},
     .also = names_path_before_enotconn,
     .also_text = N_("with a path before it"),
     .figures = {ERRNO("107"), {"path", INCIDENT_QUOTED, ""}}},
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
    {.name = "storage_lost",
     .any = WORDS("failed with Input/output error", "Input/output error (os error 5)"),
     .figures = {ERRNO("5")}},
    {.name = "storage_lost",
     .any = WORDS(": Input/output error", "; Input/output error"),
     .also = names_path_before_eio,
     .also_text = N_("with a path before it"),
     .figures = {ERRNO("5"), {"path", INCIDENT_QUOTED, ""}, {"path", INCIDENT_QUOTED, "error: "}}},
    {.name = "storage_lost",
     .all = {"Input/output error: '"}, /* without a path it may be a lost terminal */
     .figures = {ERRNO("5"), {"path", INCIDENT_QUOTED, "error: "}}},
};

const struct incident_rules incident_rules_host = {rules, ARRAY_LENGTH(rules)};
