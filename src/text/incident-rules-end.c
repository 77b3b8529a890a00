/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules for how processes and jobs end: what Slurm did to a job, crashes, kills and requests to
 * stop. They stand last, so that a line that also names a cause is told by it. Wording: shared
 * RECORDS A2.3 and A2.4; Slurm, bash, zsh and dash (also in German, French and Korean), glibc,
 * Python, torchrun, MPI, Kubernetes. A number or the word "Killed" names no cause.
 */
#include "text/incident-rules.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What a shell says about a job: "run.sh: line 3: 123 Killed  python x", "[1]+  Killed  x", "[1]
 * 123 killed  x", "zsh: killed     x". `word` is in lower case, its first letter may be upper case
 * in the line. */
static bool is_shell_report(const char *line, const char *word) {
    line = incident_skip_prefix(line);
    size_t length = strlen(word);
    if (tolower((unsigned char)*line) == word[0] && strncmp(line + 1, word + 1, length - 1) == 0 &&
        strncmp(line + length, "        ", 8) == 0)
        return true; /* in its column, the command behind it */
    for (const char *at = line; (at = strstr(at, word + 1)) != NULL; at += length) {
        if (at == line || tolower((unsigned char)at[-1]) != word[0] || at - 1 == line)
            continue;
        const char *before = at - 1; /* the word's first letter */
        const char *behind = before + length;
        if (strncmp(behind, ": 9", 3) == 0) /* macOS adds the number */
            behind += 3;
        if (before[-1] != ' ' ||
            (strncmp(behind, "  ", 2) != 0 && behind[strspn(behind, " ")] != '\0'))
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
    return incident_is_word(line, "Killed") || incident_is_word(line, "Killed: 9") ||
           is_shell_report(line, "killed") || incident_is_word(line, "Get\xc3\xb6tet") ||
           incident_is_word(line, "Processus arr\xc3\xaat\xc3\xa9") ||
           incident_is_word(line, "\xec\xa3\xbd\xec\x97\x88\xec\x9d\x8c");
}

static bool is_terminated(const char *line) {
    return incident_is_word(line, "Terminated") || incident_is_word(line, "Terminated: 15") ||
           is_shell_report(line, "terminated");
}

static bool is_aborted(const char *line) {
    return incident_is_word(line, "Aborted") || is_shell_report(line, "aborted");
}

static bool is_fault(const char *line) {
    static const char *const words[] = {"segmentation fault", "bus error", "abort",
                                        "illegal hardware instruction", "floating point exception"};
    bool is = false;
    for (size_t i = 0; i < ARRAY_LENGTH(words) && !is; i++)
        is = is_shell_report(line, words[i]);
    return is;
}

/* "srun: error: node: task 0: Killed" */
static bool ends_with_task_killed(const char *line) {
    return str_ends_with(line, ": Killed");
}

/* The statuses that tell of a signal: of a shell (128 and its number) and of Python (minus it). */
static bool has_status_of(const char *line, const int *statuses, size_t count) {
    for (const char *at = line; (at = incident_find_status(at)) != NULL;) {
        char *end = NULL;
        long status = strtol(at, &end, 10);
        for (size_t i = 0; i < count; i++)
            if (status == statuses[i])
                return true;
        at = end;
    }
    return false;
}

static bool tells_kill(const char *line) {
    static const int statuses[] = {137, -9};
    return has_status_of(line, statuses, ARRAY_LENGTH(statuses));
}

static bool tells_termination(const char *line) {
    static const int statuses[] = {143, -15};
    return has_status_of(line, statuses, ARRAY_LENGTH(statuses));
}

static bool tells_fault(const char *line) { /* SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV */
    static const int statuses[] = {132, 134, 135, 136, 139, -4, -6, -7, -8, -11};
    return has_status_of(line, statuses, ARRAY_LENGTH(statuses));
}

static const struct incident_figure status_figures[] = {
    {"exit_code", INCIDENT_STATUS, ""}, {"signal", INCIDENT_STATUS_SIGNAL, ""},
    INTEGER("rank", "local_rank: "),    INTEGER("pid", "(pid: "),
    {NULL, INCIDENT_FIGURE_END_, NULL},
};

static bool is_timeout_row(const char *line) {
    return incident_is_job_row(line, "TIMEOUT");
}

static bool is_preempted_row(const char *line) {
    return incident_is_job_row(line, "PREEMPTED");
}

static bool ends_with_one(const char *line) {
    return str_ends_with(line, ": 1");
}

static bool ends_with_nine(const char *line) {
    return str_ends_with(line, ": 9");
}

static bool is_cancelled_row(const char *line) {
    return incident_is_job_row(line, "CANCELLED");
}

static bool is_node_fail_row(const char *line) {
    return incident_is_job_row(line, "NODE_FAIL");
}

#define EXIT(number) NUMBER("exit_code", number)

static const struct incident_figure job_figures[] = {
    {"step", INCIDENT_WORD, "*** STEP "},
    {"job", INCIDENT_WORD, "*** JOB "},
    {NULL, INCIDENT_FIGURE_END_, NULL},
};

/* The words that incident_find_status knows: a status stands behind each. */
#define STATUS_WORDS                                                                           \
    WORDS("xit code", "xitcode", "xitCode", "xit Code", "xit_code", "xit status", "xit value", \
          "xited (", "xited with ", "eturn code", "eturncode", "with code ", "status ", "status=")

static const struct incident_rule rules[] = {
    /* Slurm */
    {.name = "slurm_timeout", .all = {"tatus"}, .any = WORDS("'TIMEOUT'", "\"TIMEOUT\"")},
    {.name = "slurm_node_fail", .all = {"tatus"}, .any = WORDS("'NODE_FAIL'", "'BOOT_FAIL'")},
    {.name = "slurm_preempted", .all = {"tatus", "'PREEMPTED'"}},
    {.name = "host_oom", .all = {"tatus", "'OUT_OF_MEMORY'"}, .figures = {SCOPE("cgroup")}},
    {.name = "slurm_node_fail",
     .all = {"Prolog failure on node "},
     .figures = {{"node", INCIDENT_WORD, "on node "}}},
    {.name = "slurm_timeout", .all = {"DUE TO TIME LIMIT"}, .more = job_figures},
    {.name = "slurm_timeout",
     .any = WORDS("JobState=TIMEOUT", "State: TIMEOUT", "TERM_RUNLIMIT", "this job is timed-out")},
    {.name = "slurm_timeout",
     .all = {"Slurm", "Job_id=", ", TIMEOUT"},
     .figures = {{"job", INCIDENT_WORD, "Job_id="}}},
    {.name = "slurm_timeout",
     .all = {"TIMEOUT"},
     .also = is_timeout_row,
     .also_text = N_("in a row of sacct's table")},
    {.name = "slurm_preempted",
     .all = {"PREEMPTED"},
     .also = is_preempted_row,
     .also_text = N_("in a row of sacct's table")},
    {.name = "terminated",
     .all = {"CANCELLED"},
     .also = is_cancelled_row,
     .also_text = N_("in a row of sacct's table")},
    {.name = "slurm_node_fail",
     .all = {"NODE_FAIL"},
     .also = is_node_fail_row,
     .also_text = N_("in a row of sacct's table")},
    {.name = "slurm_timeout", .all = {"ob ", "exceeded its time limit"}},
    {.name = "slurm_preempted",
     .any = WORDS("JobState=PREEMPTED", "State: PREEMPTED", "this job is preempted")},
    {.name = "slurm_preempted",
     .all = {"Slurm", "Job_id=", ", PREEMPTED"},
     .figures = {{"job", INCIDENT_WORD, "Job_id="}}},
    {.name = "slurm_preempted", .all = {"DUE TO PREEMPTION"}, .more = job_figures},
    {.name = "slurm_node_fail",
     .any = WORDS("DUE TO NODE FAILURE", "CANCELLED DUE TO NODE FAILURE"),
     .more = job_figures},
    {.name = "slurm_node_fail",
     .any = WORDS("JobState=NODE_FAIL", "JobState=BOOT_FAIL", "State: NODE_FAIL")},
    {.name = "slurm_node_fail",
     .all = {"Slurm", "Job_id=", ", NODE_FAIL"},
     .figures = {{"job", INCIDENT_WORD, "Job_id="}}},
    {.name = "slurm_node_fail",
     .all = {"error: Node failure on "},
     .figures = {{"node", INCIDENT_WORD, "failure on "}}},
    {.name = "slurm_unkillable",
     .any = WORDS("NOT ENDING WITH SIGNALS", "DUE TO JOB NOT ENDING WITH SIGNALS"),
     .more = job_figures},
    {.name = "slurm_unkillable", .all = {"Kill task failed"}},
    {.name = "slurm_abort",
     .any =
         WORDS("ob step aborted: Waiting up to ", "srun: Terminating ", "srun: First task exited")},
    {.name = "slurm_abort",
     .all = {"srun: "},
     .any = WORDS("ob step aborted", "_step_signal: Terminating ")},
    {.name = "slurm_abort", .all = {" CANCELLED AT ", "DUE TO TASK FAILURE"}, .more = job_figures},
    {.name = "slurm_abort",
     .all = {"FAILED (non-zero exit code or other failure mode)"},
     .more = job_figures},
    {.name = "terminated",
     .all = {"srun: Force Terminated "},
     .figures = {{"step", INCIDENT_WORD, "StepId="}, {"job", INCIDENT_WORD, "erminated job "}}},
    {.name = "terminated",
     .all = {"srun: error: ", ": Terminated"},
     .figures = {SIGNAL("15"), INTEGER("rank", "task ")}},
    {.name = "terminated", .all = {"*** ", " CANCELLED AT ", " ***"}, .more = job_figures},
    {.name = "terminated", .all = {"error: *** ", " CANCELLED AT "}, .more = job_figures},

    /* crashes */
    {.name = "crash",
     .all = {"Segmentation fault"},
     .figures = {SIGNAL("11"), INTEGER("pid", "(pid ")}},
    {.name = "crash", .any = WORDS("Bus error", "by signal SIGBUS"), .figures = {SIGNAL("7")}},
    {.name = "crash",
     .any = WORDS("Illegal instruction", "by signal SIGILL"),
     .figures = {SIGNAL("4")}},
    {.name = "crash",
     .any = WORDS("Floating point exception", "by signal SIGFPE"),
     .figures = {SIGNAL("8")}},
    {.name = "crash",
     .all = {"segmentation fault"},
     .also = is_fault,
     .also_text = N_("as a shell reports a job"),
     .figures = {SIGNAL("11")}},
    {.name = "crash",
     .all = {"bus error"},
     .also = is_fault,
     .also_text = N_("as a shell reports a job"),
     .figures = {SIGNAL("7")}},
    {.name = "crash",
     .all = {"abort"},
     .also = is_fault,
     .also_text = N_("as a shell reports a job"),
     .figures = {SIGNAL("6")}},
    {.name = "crash",
     .all = {"illegal hardware instruction"},
     .also = is_fault,
     .also_text = N_("as a shell reports a job"),
     .figures = {SIGNAL("4")}},
    {.name = "crash",
     .all = {"floating point exception"},
     .also = is_fault,
     .also_text = N_("as a shell reports a job"),
     .figures = {SIGNAL("8")}},
    {.name = "crash",
     .all = {"ignal 11 (SIGSEGV)"},
     .figures = {SIGNAL("11"), INTEGER("pid", "PID ")}},
    {.name = "crash",
     .all = {"ignal 7 (SIGBUS)"},
     .figures = {SIGNAL("7"), INTEGER("pid", "PID ")}},
    {.name = "crash",
     .all = {"ignal 6 (SIGABRT)"},
     .figures = {SIGNAL("6"), INTEGER("pid", "PID ")}},
    {.name = "crash",
     .any = WORDS("Signals.SIGSEGV: 11", "Speicherzugriffsfehler", "Erreur de segmentation",
                  "\xec\x84\xb8\xea\xb7\xb8\xeb\xa9\x98\xed\x85\x8c\xec\x9d\xb4\xec\x85\x98 "
                  "\xec\x98\xa4\xeb\xa5\x98"),
     .figures = {SIGNAL("11")}},
    {.name = "crash",
     .any = WORDS("Signals.SIGABRT: 6", "by signal SIGABRT"),
     .figures = {SIGNAL("6")}},
    {.name = "crash",
     .all = {"]: segfault at "},
     .figures = {SIGNAL("11"), {"library", INCIDENT_WORD, " in "}}},
    {.name = "crash", .all = {"traps: "}, .any = WORDS(" trap ", "general protection")},
    {.name = "crash",
     .all = {"SIGSEGV"},
     .none = {"SIGKILL by OOM", "SIGABRT", "SIGBUS",
              "andler"}, /* a list of signals, or a catcher */
     .figures = {SIGNAL("11")}},
    {.name = "crash",
     .any = STATUS_WORDS,
     .also = tells_fault,
     .also_text =
         N_("with a number that tells of a fault: 132, 134, 135, 136, 139, -4, -6, -7, -8 or "
            "-11"),
     .more = status_figures},
    {.name = "crash",
     .all = {"DataLoader worker", "killed by signal: Aborted"},
     .figures = {SIGNAL("6"), INTEGER("pid", "(pid ")}},
    {.name = "crash",
     .all = {"borted"},
     .also = is_aborted,
     .also_text = N_("the whole line, behind a progress bar, or as a shell reports a job"),
     .figures = {SIGNAL("6")}},
    {.name = "crash",
     .any = WORDS("(core dumped)", "(Speicherabzug geschrieben)", "munmap_chunk(): invalid pointer",
                  "corrupted double-linked list", "realloc(): invalid ",
                  "free(): double free detected", "buffer overflow detected ***",
                  "libc++abi: terminating due to uncaught exception",
                  "Fatal Python error: ", "*** Process received signal ***",
                  "double free or corruption", "stack smashing detected", "free(): invalid ",
                  "malloc(): ", "malloc_consolidate(): ", "corrupted size vs. prev_size",
                  "terminate called after throwing an instance of",
                  "terminate called without an active exception")},

    /* killed and terminated: the signal is known, the cause is not */
    {.name = "killed",
     .all = {"illed"},
     .also = is_killed,
     .also_text = N_("the whole line, behind a progress bar, or as a shell reports a job"),
     .figures = {SIGNAL("9"),
                 {"pid", INCIDENT_INTEGER_BEFORE, " killed"},
                 {"pid", INCIDENT_INTEGER_BEFORE, " Killed"}}},
    {.name = "killed",
     .any = WORDS("Get\xc3\xb6tet", "Processus arr\xc3\xaat\xc3\xa9",
                  "\xec\xa3\xbd\xec\x97\x88\xec\x9d\x8c"),
     .also = is_killed,
     .also_text = N_("the whole line, or behind a progress bar"),
     .figures = {SIGNAL("9")}},
    {.name = "killed",
     .all = {"srun: error: ", ": Killed"},
     .also = ends_with_task_killed,
     .also_text = N_("at the end of the line"),
     .figures = {SIGNAL("9"), INTEGER("rank", "task ")}},
    {.name = "killed",
     .all = {"ignal 9 (SIGKILL)"},
     .figures = {SIGNAL("9"), INTEGER("pid", "PID ")}},
    {.name = "killed",
     .any = WORDS("Signals.SIGKILL: 9", "Command terminated by signal 9",
                  "terminated by signal SIGKILL", "terminated with signal SIGKILL",
                  "erminated with signal 9", "erminated by signal 9", "illed by signal 9",
                  "illed by signal: Killed", "KILLED BY SIGNAL: 9", "(signal 9)",
                  "timeout: sending signal KILL", "status=9/KILL", "signal: 9, SIGKILL",
                  "signal 9:SIGKILL", "signal: killed", "WTERMSIG 9"),
     .figures = {SIGNAL("9")}},
    {.name = "killed",
     .all = {"exited on signal 9"},
     .figures = {SIGNAL("9"), INTEGER("rank", "process rank "), INTEGER("pid", "with PID ")}},
    {.name = "killed",
     .all = {"=   EXIT CODE: 9"},
     .also = ends_with_nine,
     .also_text = N_("at the end of the line, as MPICH says it"),
     .figures = {SIGNAL("9")}},
    {.name = "terminated",
     .any = WORDS("(signal 15)", "timeout: sending signal TERM", "WTERMSIG 15",
                  "Received Signals.SIGTERM death signal", "Received 15 death signal",
                  "Signals.SIGTERM: 15", "Command terminated by signal 15",
                  "terminated by signal SIGTERM", "terminated with signal SIGTERM",
                  "erminated with signal 15", "erminated by signal 15", "illed by signal 15",
                  "illed by signal: Terminated", "KILLED BY SIGNAL: 15", "status=15/TERM",
                  "signal: terminated", "signal \"terminated\"", "signal 15:SIGTERM",
                  "got signal: 15", "eceived SIGTERM"),
     .figures = {SIGNAL("15")}},
    {.name = "killed",
     .any = STATUS_WORDS,
     .also = tells_kill,
     .also_text = N_("with the number 137 or -9"),
     .more = status_figures},
    {.name = "killed", .all = {"make: ", "Error 137"}, .figures = {EXIT("137")}},
    {.name = "killed", .all = {"make", "*** ", " Killed"}, .figures = {SIGNAL("9")}},
    {.name = "terminated",
     .all = {"erminated"},
     .also = is_terminated,
     .also_text = N_("the whole line, behind a progress bar, or as a shell reports a job"),
     .figures = {SIGNAL("15")}},
    {.name = "terminated",
     .all = {"ignal 15 (SIGTERM)"},
     .figures = {SIGNAL("15"), INTEGER("pid", "PID ")}},
    {.name = "terminated",
     .all = {"exited on signal 15"},
     .figures = {SIGNAL("15"), INTEGER("pid", "with PID ")}},
    {.name = "terminated",
     .any = STATUS_WORDS,
     .also = tells_termination,
     .also_text = N_("with the number 143 or -15"),
     .more = status_figures},
    {.name = "terminated", .all = {"make: ", "Error 143"}, .figures = {EXIT("143")}},
    {.name = "terminated",
     .all = {"ignal SIGTERM"},
     .none = {"closing signal", "Closing process"},
     .figures = {SIGNAL("15")}},
    {.name = "terminated",
     .all = {"got signal: 1"},
     .also = ends_with_one,
     .also_text = N_("at the end of the line"),
     .figures = {SIGNAL("1")}},
    {.name = "terminated",
     .any = WORDS("Received 1 death signal", "Received Signals.SIGHUP death"),
     .figures = {SIGNAL("1")}},
};

const struct incident_rules incident_rules_end = {rules, ARRAY_LENGTH(rules)};
