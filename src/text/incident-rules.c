/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of incidents: which words in a line of output, of the kernel log or of a scheduler
 * decide which incident. The first matching rule wins, so the narrower ones stand first. Wording:
 * shared RECORDS, "Incidents" and A2.11; the kernel's mm/oom_kill.c (dump_oom_summary,
 * __oom_kill_process); errno texts of glibc and musl.
 */
#include "text/incident-rules.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* ---- what stands before a line ---- */

static size_t
prefix_rank(const char *line) { /* "[rank0]: ", "12: " (srun -l), "(train pid=12) " (ray) */
    if (str_starts_with(line, "[rank")) {
        size_t length = 5 + strspn(line + 5, "0123456789");
        return length > 5 && strncmp(line + length, "]: ", 3) == 0 ? length + 3 : 0;
    }
    if (*line == '(') {
        const char *close = strchr(line, ')');
        const char *pid = strstr(line, "pid=");
        return close && pid && pid < close && close[1] == ' ' ? (size_t)(close - line) + 2 : 0;
    }
    size_t digits = strspn(line, "0123456789");
    return digits > 0 && digits < 7 && line[digits] == ':' && line[digits + 1] == ' ' ? digits + 2
                                                                                      : 0;
}

static size_t prefix_compose(const char *line) { /* "trainer-1  | " */
    size_t name = 0;
    while (isalnum((unsigned char)line[name]) ||
           (name > 0 && line[name] && strchr("-_.", line[name])))
        name++;
    size_t blanks = strspn(line + name, " ");
    if (name == 0 || blanks == 0 || line[name + blanks] != '|' || line[name + blanks + 1] != ' ')
        return 0;
    return name + blanks + 2;
}

static size_t prefix_time(const char *line) { /* "2025-10-28T14:35:36.1Z stderr F " (docker, CRI) */
    size_t length = strspn(line, "0123456789-:.,TZ+");
    if (length < 19 || line[4] != '-' || line[10] != 'T' || line[length] != ' ')
        return 0;
    length++;
    if (str_starts_with(line + length, "stdout ") || str_starts_with(line + length, "stderr "))
        length += 7;
    if ((line[length] == 'F' || line[length] == 'P') && line[length + 1] == ' ')
        length += 2;
    return length;
}

static size_t prefix_syslog(const char *line) { /* "Oct 28 14:35:36 host python[12]: " */
    if (!isupper((unsigned char)line[0]) || !isalpha((unsigned char)line[1]) ||
        !isalpha((unsigned char)line[2]) || line[3] != ' ')
        return 0;
    size_t length = 4 + strspn(line + 4, " 0123456789:");
    if (length < 16)
        return 0;
    length += strcspn(line + length, " ");
    const char *end = strstr(line + length, ": ");
    return end && !memchr(line + length + 1, ' ', (size_t)(end - line) - length - 1)
               ? (size_t)(end - line) + 2
               : 0;
}

const char *incident_skip_prefix(const char *line) {
    static size_t (*const prefixes[])(const char *) = {prefix_time, prefix_syslog, prefix_compose,
                                                       prefix_rank};

    line += strspn(line, " \t");
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < ARRAY_LENGTH(prefixes); i++)
            line += prefixes[i](line);
    return line + strspn(line, " \t");
}

/* ---- conditions beyond fixed words ---- */

/* The line is the word alone, or the word glued to a progress bar ("… 13.82it/s]Killed"). */
static bool is_word_or_behind_bar(const char *line, const char *word) {
    size_t length = strlen(line);
    while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
        length--;
    size_t word_length = strlen(word);
    if (length < word_length || strncmp(line + length - word_length, word, word_length) != 0)
        return false;
    const char *at = line + length - word_length;
    return at == incident_skip_prefix(line) || (at > line && at[-1] == ']' && strstr(line, "%|"));
}

/* What a shell says about a job: "run.sh: line 3: 123 Killed  python x", "[1]+  Killed  x", "[1]
 * 123 killed  x", "zsh: killed     x". `word` is in lower case, its first letter may be upper case
 * in the line. */
static bool is_shell_report(const char *line, const char *word) {
    line = incident_skip_prefix(line);
    size_t length = strlen(word);
    for (const char *at = line; (at = strstr(at, word + 1)) != NULL; at += length) {
        if (at == line || tolower((unsigned char)at[-1]) != word[0] || at - 1 == line)
            continue;
        const char *before = at - 1; /* the word's first letter */
        const char *behind = before + length;
        if (before[-1] != ' ' || strncmp(behind, "  ", 2) != 0)
            continue;
        if (*line == '[' && isdigit((unsigned char)line[1]))
            return true;
        if (str_starts_with(line, "zsh: ") && before == line + 5)
            return true;
        if (strstr(line, ": line ") && isdigit((unsigned char)before[-2]))
            return true;
    }
    return false;
}

static bool is_killed(const char *line) {
    return is_word_or_behind_bar(line, "Killed") || is_shell_report(line, "killed");
}

static bool is_terminated(const char *line) {
    return is_word_or_behind_bar(line, "Terminated") || is_shell_report(line, "terminated");
}

static bool is_aborted(const char *line) {
    return is_word_or_behind_bar(line, "Aborted") || is_shell_report(line, "aborted");
}

/* "srun: error: node: task 0: Killed" */
static bool ends_with_task_killed(const char *line) {
    return str_ends_with(line, ": Killed");
}

static bool is_kubernetes_code(const char *line, const char *code) {
    const char *at = strstr(line, "Exit Code:") + strlen("Exit Code:");
    at += strspn(at, " \t");
    return str_starts_with(at, code) && !isdigit((unsigned char)at[strlen(code)]);
}

static bool is_exit_code_137(const char *line) {
    return is_kubernetes_code(line, "137");
}

static bool is_exit_code_143(const char *line) {
    return is_kubernetes_code(line, "143");
}

/* The line begins with the (dotted) name of an exception of Python:
 * "numpy.core._exceptions._ArrayMemoryError: …". */
static bool begins_with_exception(const char *line, const char *ending) {
    const char *name = incident_skip_prefix(line);
    size_t length = 0;
    while (isalnum((unsigned char)name[length]) || name[length] == '_' || name[length] == '.')
        length++;
    size_t ending_length = strlen(ending);
    return length >= ending_length &&
           strncmp(name + length - ending_length, ending, ending_length) == 0 &&
           (name[length] == '\0' || name[length] == ':');
}

static bool is_memory_error(const char *line) {
    return begins_with_exception(line, "MemoryError");
}

static bool is_import_error(const char *line) {
    return begins_with_exception(line, "ImportError");
}

static bool is_shell_not_found(const char *line) {
    const char *name = incident_skip_prefix(line);
    const char *colon = strchr(name, ':');
    return colon && colon - name >= 2 && strncmp(colon - 2, "sh", 2) == 0 &&
           (str_ends_with(line, ": not found") || str_ends_with(line, ": command not found"));
}

/* ---- the rules ---- */

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
    {.name = "shm_full",
     .all = {"unable to allocate shared memory(shm)"},
     .figures = {{"errno", INCIDENT_INTEGER, "unavailable ("}}},
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
     .all = {"slurmstepd: error:", "xceeded", "memory limit"},
     .figures = {{"scope", INCIDENT_IS_TEXT, "cgroup"}}},
    {.name = "host_oom",
     .all = {"OOMKilled"},
     .none = {"\"OOMKilled\": false", "\"OOMKilled\":false", "OOMKilled=false"},
     .figures = {{"scope", INCIDENT_IS_TEXT, "cgroup"}}},
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
     .figures = {{"scope", INCIDENT_IS_TEXT, "machine"}}},

    /* host memory: what allocators say */
    {.name = "host_oom",
     .all = {"DefaultCPUAllocator: can't allocate memory"},
     .figures = {{"requested_bytes", INCIDENT_BYTES, "tried to allocate "},
                 {"errno", INCIDENT_INTEGER, "Error code "}}},
    {.name = "host_oom",
     .all = {"DefaultCPUAllocator: not enough memory"},
     .figures = {{"requested_bytes", INCIDENT_BYTES, "tried to allocate "}}},
    {.name = "host_oom",
     .all = {"Unable to allocate ", "for an array with shape"},
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
     .all = {"cannot access ", "Transport endpoint is not connected"},
     .figures = {{"errno", INCIDENT_IS_NUMBER, "107"}, {"path", INCIDENT_QUOTED, "access "}}},
    {.name = "storage_lost",
     .all = {"Input/output error: '"}, /* without a path it may be a lost terminal */
     .figures = {{"errno", INCIDENT_IS_NUMBER, "5"}, {"path", INCIDENT_QUOTED, "error: "}}},

    /* access */
    {.name = "access_gated",
     .all = {"GatedRepoError"},
     .figures = {{"http", INCIDENT_INTEGER_BEFORE, " Client Error"},
                 {"repo", INCIDENT_REPOSITORY, "huggingface.co/"}}},
    {.name = "access_gated",
     .all = {"annot access gated repo"},
     .figures = {{"http", INCIDENT_INTEGER_BEFORE, " Client Error"},
                 {"repo", INCIDENT_REPOSITORY, "huggingface.co/"}}},
    {.name = "access_gated",
     .all = {"Access to model ", "is restricted"},
     .figures = {{"repo", INCIDENT_WORD, "Access to model "}}},
    {.name = "access_gated",
     .all = {"Access to dataset ", "is restricted"},
     .figures = {{"repo", INCIDENT_WORD, "Access to dataset "}}},
    {.name = "access_gated",
     .all = {"You are trying to access a gated repo"},
     .figures = {{"repo", INCIDENT_REPOSITORY, "huggingface.co/"}}},
    {.name = "access_gated",
     .all = {"is a gated dataset on the Hub"},
     .figures = {{"repo", INCIDENT_QUOTED, "Dataset "}}},
    {.name = "access_unknown",
     .all = {"401 Client Error"},
     .figures = {{"http", INCIDENT_IS_NUMBER, "401"},
                 {"repo", INCIDENT_REPOSITORY, "huggingface.co/"}}},
    {.name = "access_unknown",
     .all = {"403 Client Error"},
     .figures = {{"http", INCIDENT_IS_NUMBER, "403"},
                 {"repo", INCIDENT_REPOSITORY, "huggingface.co/"}}},
    {.name = "access_unknown",
     .all = {"RepositoryNotFoundError"},
     .figures = {{"http", INCIDENT_INTEGER_BEFORE, " Client Error"},
                 {"repo", INCIDENT_REPOSITORY, "huggingface.co/"}}},
    {.name = "access_unknown",
     .all = {"Repository Not Found for url"},
     .figures = {{"repo", INCIDENT_REPOSITORY, "huggingface.co/"}}},
    {.name = "access_unknown",
     .all = {"is not a local folder and is not a valid model identifier"},
     .figures = {{"repo", INCIDENT_WORD, "OSError: "}}},
    {.name = "access_unknown",
     .all = {"HTTP Error 401"},
     .figures = {{"http", INCIDENT_IS_NUMBER, "401"}}},
    {.name = "access_unknown",
     .all = {"HTTP Error 403"},
     .figures = {{"http", INCIDENT_IS_NUMBER, "403"}}},
    {.name = "access_unknown",
     .all = {"fatal: Authentication failed for "},
     .figures = {{"url", INCIDENT_QUOTED, "failed for "}}},
    {.name = "access_unknown", .all = {"remote: Repository not found"}},
    {.name = "access_unknown", .all = {"Permission denied (publickey"}},
    {.name = "access_unknown",
     .all = {"pull access denied for "},
     .figures = {{"repo", INCIDENT_WORD, "denied for "}}},
    {.name = "access_unknown",
     .all = {"An error occurred (AccessDenied)"},
     .figures = {{"http", INCIDENT_IS_NUMBER, "403"}}},
    {.name = "access_unknown",
     .all = {"An error occurred (403)"},
     .figures = {{"http", INCIDENT_IS_NUMBER, "403"}}},

    /* what the program needs and does not find */
    {.name = "dependency_missing",
     .all = {"ModuleNotFoundError: No module named"},
     .figures = {{"module", INCIDENT_QUOTED, "named "}}},
    {.name = "dependency_missing",
     .all = {"PackageNotFoundError: No package metadata was found for "},
     .figures = {{"module", INCIDENT_WORD, "found for "}}},
    {.name = "dependency_missing",
     .all = {"DistributionNotFound: The "},
     .figures = {{"module", INCIDENT_QUOTED, "The "}}},
    {.name = "dependency_missing",
     .all = {"annot open shared object file"},
     .figures = {{"library", INCIDENT_WORD, "loading shared libraries: "},
                 {"library", INCIDENT_WORD, "ImportError: "},
                 {"library", INCIDENT_WORD, "OSError: "}}},
    {.name = "dependency_missing",
     .all = {"version `", "' not found (required by "},
     .figures = {{"version", INCIDENT_QUOTED, "version "},
                 {"library", INCIDENT_WORD, "required by "}}},
    {.name = "dependency_missing",
     .all = {"symbol lookup error: "},
     .figures = {{"library", INCIDENT_WORD, "lookup error: "},
                 {"symbol", INCIDENT_WORD, "undefined symbol: "}}},
    {.name = "dependency_missing",
     .all = {"ImportError"},
     .also = is_import_error,
     .also_text = N_("as the name at the start of the line"),
     .figures = {{"module", INCIDENT_QUOTED, "from "},
                 {"symbol", INCIDENT_WORD, "undefined symbol: "}}},
    {.name = "dependency_missing",
     .all = {"command not found"},
     .also = is_shell_not_found,
     .also_text = N_("as a shell says it, at the end of the line"),
     .figures = {{"command", INCIDENT_SEGMENT_BEFORE, ": command not found"}}},
    {.name = "dependency_missing",
     .all = {": not found"},
     .also = is_shell_not_found,
     .also_text = N_("as a shell says it, at the end of the line"),
     .figures = {{"command", INCIDENT_SEGMENT_BEFORE, ": not found"}}},
    {.name = "dependency_missing",
     .all = {"zsh: command not found: "},
     .figures = {{"command", INCIDENT_WORD, "not found: "}}},
    {.name = "dependency_missing",
     .all = {"/env: ", "No such file or directory"},
     .none = {"cannot"},
     .figures = {{"command", INCIDENT_QUOTED, "/env: "}, {"command", INCIDENT_WORD, "/env: "}}},
    {.name = "dependency_missing",
     .all = {"No matching distribution found for "},
     .figures = {{"module", INCIDENT_WORD, "found for "}}},
    {.name = "dependency_missing", .all = {"ResolutionImpossible"}},
    {.name = "dependency_missing",
     .all = {"there is no package called "},
     .figures = {{"module", INCIDENT_QUOTED, "called "}}},
    {.name = "dependency_missing",
     .all = {"Error: Cannot find module "},
     .figures = {{"module", INCIDENT_QUOTED, "module "}}},
    {.name = "dependency_missing", .all = {"The following module(s) are unknown"}},
    {.name = "dependency_missing", .all = {"module compiled against", "API version"}},

    /* Slurm */
    {.name = "slurm_timeout",
     .all = {"DUE TO TIME LIMIT"},
     .figures = {{"step", INCIDENT_WORD, "STEP "}, {"job", INCIDENT_WORD, "JOB "}}},
    {.name = "slurm_preempted",
     .all = {"DUE TO PREEMPTION"},
     .figures = {{"step", INCIDENT_WORD, "STEP "}, {"job", INCIDENT_WORD, "JOB "}}},
    {.name = "slurm_node_fail",
     .all = {"DUE TO NODE FAILURE"},
     .figures = {{"step", INCIDENT_WORD, "STEP "}, {"job", INCIDENT_WORD, "JOB "}}},
    {.name = "slurm_unkillable",
     .all = {"DUE TO JOB NOT ENDING WITH SIGNALS"},
     .figures = {{"step", INCIDENT_WORD, "STEP "}, {"job", INCIDENT_WORD, "JOB "}}},
    {.name = "slurm_abort", .all = {"srun: Job step aborted: Waiting up to "}},
    {.name = "terminated",
     .all = {"error: *** ", " CANCELLED AT "},
     .figures = {{"step", INCIDENT_WORD, "STEP "}, {"job", INCIDENT_WORD, "JOB "}}},

    /* crashes */
    {.name = "crash",
     .all = {"Segmentation fault"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "11"}, {"pid", INCIDENT_INTEGER, "(pid "}}},
    {.name = "crash", .all = {"Bus error"}, .figures = {{"signal", INCIDENT_IS_NUMBER, "7"}}},
    {.name = "crash",
     .all = {"Illegal instruction"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "4"}}},
    {.name = "crash",
     .all = {"Floating point exception"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "8"}}},
    {.name = "crash", .all = {"(core dumped)"}},
    {.name = "crash",
     .all = {"ignal 11 (SIGSEGV)"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "11"}, {"pid", INCIDENT_INTEGER, "PID "}}},
    {.name = "crash",
     .all = {"ignal 7 (SIGBUS)"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "7"}, {"pid", INCIDENT_INTEGER, "PID "}}},
    {.name = "crash",
     .all = {"ignal 6 (SIGABRT)"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "6"}, {"pid", INCIDENT_INTEGER, "PID "}}},
    {.name = "crash",
     .all = {"(exitcode: -11)"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "11"},
                 {"rank", INCIDENT_INTEGER, "local_rank: "},
                 {"pid", INCIDENT_INTEGER, "(pid: "}}},
    {.name = "crash",
     .all = {"(exitcode: -6)"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "6"},
                 {"rank", INCIDENT_INTEGER, "local_rank: "},
                 {"pid", INCIDENT_INTEGER, "(pid: "}}},
    {.name = "crash",
     .all = {"Signals.SIGSEGV: 11"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "11"}}},
    {.name = "crash",
     .all = {"Signals.SIGABRT: 6"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "6"}}},
    {.name = "crash", .all = {"Fatal Python error: "}},
    {.name = "crash", .all = {"*** Process received signal ***"}},
    {.name = "crash", .all = {"double free or corruption"}},
    {.name = "crash", .all = {"stack smashing detected"}},
    {.name = "crash", .all = {"free(): invalid "}},
    {.name = "crash", .all = {"malloc(): "}},
    {.name = "crash", .all = {"corrupted size vs. prev_size"}},
    {.name = "crash", .all = {"terminate called after throwing an instance of"}},
    {.name = "crash", .all = {"terminate called without an active exception"}},
    {.name = "crash",
     .all = {"borted"},
     .also = is_aborted,
     .also_text = N_("the whole line, behind a progress bar, or as a shell reports a job"),
     .figures = {{"signal", INCIDENT_IS_NUMBER, "6"}}},

    /* killed and terminated: the signal is known, the cause is not */
    {.name = "killed",
     .all = {"illed"},
     .also = is_killed,
     .also_text = N_("the whole line, behind a progress bar, or as a shell reports a job"),
     .figures = {{"signal", INCIDENT_IS_NUMBER, "9"},
                 {"pid", INCIDENT_INTEGER_BEFORE, " killed"},
                 {"pid", INCIDENT_INTEGER_BEFORE, " Killed"}}},
    {.name = "killed",
     .all = {"srun: error: ", ": Killed"},
     .also = ends_with_task_killed,
     .also_text = N_("at the end of the line"),
     .figures = {{"signal", INCIDENT_IS_NUMBER, "9"}, {"rank", INCIDENT_INTEGER, "task "}}},
    {.name = "killed",
     .all = {"(exitcode: -9)"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "9"},
                 {"rank", INCIDENT_INTEGER, "local_rank: "},
                 {"pid", INCIDENT_INTEGER, "(pid: "}}},
    {.name = "killed",
     .all = {"ignal 9 (SIGKILL)"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "9"}, {"pid", INCIDENT_INTEGER, "PID "}}},
    {.name = "killed",
     .all = {"Signals.SIGKILL: 9"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "9"}}},
    {.name = "killed",
     .all = {"Command terminated by signal 9"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "9"}}},
    {.name = "killed",
     .all = {"terminated by signal SIGKILL"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "9"}}},
    {.name = "killed",
     .all = {"exited with code 137"},
     .figures = {{"exit_code", INCIDENT_IS_NUMBER, "137"}}},
    {.name = "killed",
     .all = {"non-zero exit status 137"},
     .figures = {{"exit_code", INCIDENT_IS_NUMBER, "137"}}},
    {.name = "killed",
     .all = {"Exit Code:"},
     .also = is_exit_code_137,
     .also_text = N_("followed by 137"),
     .figures = {{"exit_code", INCIDENT_IS_NUMBER, "137"}}},
    {.name = "terminated",
     .all = {"erminated"},
     .also = is_terminated,
     .also_text = N_("the whole line, behind a progress bar, or as a shell reports a job"),
     .figures = {{"signal", INCIDENT_IS_NUMBER, "15"}}},
    {.name = "terminated",
     .all = {"(exitcode: -15)"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "15"},
                 {"rank", INCIDENT_INTEGER, "local_rank: "},
                 {"pid", INCIDENT_INTEGER, "(pid: "}}},
    {.name = "terminated",
     .all = {"ignal 15 (SIGTERM)"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "15"}, {"pid", INCIDENT_INTEGER, "PID "}}},
    {.name = "terminated",
     .all = {"Received Signals.SIGTERM death signal"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "15"}}},
    {.name = "terminated",
     .all = {"Received 15 death signal"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "15"}}},
    {.name = "terminated",
     .all = {"Signals.SIGTERM: 15"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "15"}}},
    {.name = "terminated",
     .all = {"Command terminated by signal 15"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "15"}}},
    {.name = "terminated",
     .all = {"terminated by signal SIGTERM"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "15"}}},
    {.name = "terminated",
     .all = {"exited with code 143"},
     .figures = {{"exit_code", INCIDENT_IS_NUMBER, "143"}}},
    {.name = "terminated",
     .all = {"non-zero exit status 143"},
     .figures = {{"exit_code", INCIDENT_IS_NUMBER, "143"}}},
    {.name = "terminated",
     .all = {"Exit Code:"},
     .also = is_exit_code_143,
     .also_text = N_("followed by 143"),
     .figures = {{"exit_code", INCIDENT_IS_NUMBER, "143"}}},
};

size_t incident_rule_count(void) {
    return ARRAY_LENGTH(rules);
}

const struct incident_rule *incident_rule_at(size_t index) {
    return index < ARRAY_LENGTH(rules) ? &rules[index] : NULL;
}

/* ---- the names ---- */

static const struct incident_info infos[] = {
    {"host_oom", OUTCOME_HOST_OOM,
     N_("The memory of the machine, or what the container or job may use of it, was used up: the "
        "kernel or the scheduler "
        "says so, or an allocation of the program was refused."),
     N_("Compare the largest process and the tree's memory with the limit; load less at once, or "
        "rent more host memory. "
        "A refused size is a lower bound of the need."),
     NULL},
    {"host_oom_suspected", OUTCOME_KILLED,
     N_("A worker of the program was killed, and nobody who would know says why. Host memory is "
        "the usual cause, but it "
        "is not shown."),
     N_("Look for an oom-kill line in the kernel log, the oom_kill counter of the cgroup or the "
        "scheduler's record; "
        "compare the memory curve with the limit."),
     NULL},
    {"shm_full", OUTCOME_SHM_EXHAUSTED,
     N_("Shared memory (/dev/shm) was full. Host and GPU memory may still have been free."),
     N_("Check the size of /dev/shm with 'df -h /dev/shm'; give the container more with --shm-size "
        "or --ipc=host, or use "
        "fewer data loader workers."),
     "crash"},
    {"disk_full", OUTCOME_DISK_FULL,
     N_("A file system had no space or no inodes left, or a quota was used up."),
     N_("Check the mount that holds the path, its inodes and the quota ('df -h', 'df -i', "
        "'quota'): a full small mount "
        "beside a large empty disk is usual."),
     NULL},
    {"disk_low", OUTCOME_FAILED,
     N_("A warning that a file will not fit on the disk; the run may fail later."),
     N_("Free space or point the cache to a larger mount before the run."), NULL},
    {"storage_lost", OUTCOME_FAILED,
     N_("A file system that the run used went away or answered with an error."),
     N_("Check whether the mount is there again; network storage that went away once can do so "
        "again: keep results on a "
        "local disk until the end."),
     NULL},
    {"access_gated", OUTCOME_ACCESS_DENIED,
     N_("Weights or data are gated: an account must be logged in (401) or approved by their owners "
        "(403)."),
     N_("401: log in on this machine; 403: ask for access on the page of the repository and wait "
        "for a person. Both are "
        "time to plan for."),
     "access_unknown"},
    {"access_unknown", OUTCOME_ACCESS_DENIED,
     N_("Access was refused; whether the address is wrong, a login is missing or a permission, "
        "cannot be told from the "
        "message."),
     N_("Check the name first, then the login on this machine, then whether the account was given "
        "access."),
     NULL},
    {"dependency_missing", OUTCOME_DEPENDENCY,
     N_("A module, library, symbol or program that the run needs is not there or does not fit the "
        "others."),
     N_("Install what is named, in the environment that ran; compare versions with the lock file "
        "of the repository. "
        "A repeat without a change fails again."),
     NULL},
    {"slurm_timeout", OUTCOME_KILLED,
     N_("Slurm ended the job at its time limit; the elapsed time is a lower bound of the need."),
     N_("Ask for more time, or cut the work; the run is no measurement of the full duration."),
     NULL},
    {"slurm_preempted", OUTCOME_PREEMPTED,
     N_("Slurm gave the resources to another job. The time is lost effort unless a checkpoint was "
        "written."),
     N_("Repeat it, or use a partition without preemption; count the lost time."), NULL},
    {"slurm_node_fail", OUTCOME_LOST,
     N_("The node failed under the job: not a failure of the program."),
     N_("Repeat it on another node; the time is lost effort."), NULL},
    {"slurm_unkillable", OUTCOME_KILLED,
     N_("A process of the job did not end on SIGKILL, usually because of a stuck file system or "
        "GPU."),
     N_("Have the node checked before using it again."), NULL},
    {"slurm_abort", OUTCOME_FAILED,
     N_("Slurm ended the other tasks because one had ended badly: a consequence, the cause stands "
        "elsewhere."),
     N_("Look for the first error before this line, in the output of each rank."), NULL},
    {"crash", OUTCOME_FAILED,
     N_("The program died of a fault of its own (invalid memory access, failed check, unsupported "
        "instruction)."),
     N_("Repeat once; if it recurs, suspect native libraries that do not fit each other or the "
        "processor."),
     NULL},
    {"killed", OUTCOME_KILLED,
     N_("SIGKILL ended a process; who sent it is not shown by this line. It is not necessarily a "
        "lack of memory."),
     N_("Look in the kernel log, the cgroup's oom_kill counter or the scheduler's record before "
        "blaming memory."),
     NULL},
    {"terminated", OUTCOME_KILLED,
     N_("SIGTERM ended a process: somebody or something outside asked it to stop (scheduler, "
        "container stop, time limit)."),
     N_("Ask who ended it: the scheduler's record, a time limit, a container stop."), NULL},
};

const struct incident_info *incident_info(const char *name) {
    for (size_t i = 0; i < ARRAY_LENGTH(infos); i++)
        if (strcmp(infos[i].name, name) == 0)
            return &infos[i];
    return NULL;
}

size_t incident_info_count(void) {
    return ARRAY_LENGTH(infos);
}

const struct incident_info *incident_info_at(size_t index) {
    return index < ARRAY_LENGTH(infos) ? &infos[index] : NULL;
}
