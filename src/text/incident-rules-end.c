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
    {"exit_code", INCIDENT_STATUS, ""},         {"signal", INCIDENT_STATUS_SIGNAL, ""},
    {"rank", INCIDENT_INTEGER, "local_rank: "}, {"pid", INCIDENT_INTEGER, "(pid: "},
    {NULL, INCIDENT_FIGURE_END_, NULL},
};

static bool is_timeout_row(const char *line) {
    return incident_is_job_row(line, "TIMEOUT");
}

static bool is_preempted_row(const char *line) {
    return incident_is_job_row(line, "PREEMPTED");
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

#define SIGNAL(number) \
    { "signal", INCIDENT_IS_NUMBER, number }
#define JOB                                 \
    {"step", INCIDENT_WORD, "*** STEP "}, { \
        "job", INCIDENT_WORD, "*** JOB "    \
    }
#define EXIT(number) \
    { "exit_code", INCIDENT_IS_NUMBER, number }

/* A status behind each of the words that incident_find_status knows. */
#define STATUS(incident, word, tells, text) \
    { .name = incident, .all = {word}, .also = tells, .also_text = text, .more = status_figures }
#define STATUSES(incident, tells, text)                                                            \
    STATUS(incident, "xit code", tells, text), STATUS(incident, "xitcode", tells, text),           \
        STATUS(incident, "xitCode", tells, text), STATUS(incident, "xit Code", tells, text),       \
        STATUS(incident, "xit_code", tells, text), STATUS(incident, "xit status", tells, text),    \
        STATUS(incident, "xit value", tells, text), STATUS(incident, "xited (", tells, text),      \
        STATUS(incident, "xited with ", tells, text), STATUS(incident, "eturn code", tells, text), \
        STATUS(incident, "eturncode", tells, text), STATUS(incident, "with code ", tells, text),   \
        STATUS(incident, "status ", tells, text), STATUS(incident, "status=", tells, text)

static const struct incident_rule rules[] = {
    /* Slurm */
    {.name = "slurm_timeout",
     .all = {"DUE TO TIME LIMIT"},
     .figures = {{"step", INCIDENT_WORD, "*** STEP "}, {"job", INCIDENT_WORD, "*** JOB "}}},
    {.name = "slurm_timeout", .all = {"JobState=TIMEOUT"}},
    {.name = "slurm_timeout", .all = {"State: TIMEOUT"}},
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
    {.name = "slurm_timeout", .all = {"TERM_RUNLIMIT"}},
    {.name = "slurm_timeout", .all = {"ob ", "exceeded its time limit"}},
    {.name = "slurm_preempted", .all = {"JobState=PREEMPTED"}},
    {.name = "slurm_preempted", .all = {"State: PREEMPTED"}},
    {.name = "slurm_preempted",
     .all = {"Slurm", "Job_id=", ", PREEMPTED"},
     .figures = {{"job", INCIDENT_WORD, "Job_id="}}},
    {.name = "slurm_preempted",
     .all = {"DUE TO PREEMPTION"},
     .figures = {{"step", INCIDENT_WORD, "*** STEP "}, {"job", INCIDENT_WORD, "*** JOB "}}},
    {.name = "slurm_node_fail",
     .all = {"DUE TO NODE FAILURE"},
     .figures = {{"step", INCIDENT_WORD, "*** STEP "}, {"job", INCIDENT_WORD, "*** JOB "}}},
    {.name = "slurm_node_fail", .all = {"JobState=NODE_FAIL"}},
    {.name = "slurm_node_fail", .all = {"JobState=BOOT_FAIL"}},
    {.name = "slurm_node_fail", .all = {"State: NODE_FAIL"}},
    {.name = "slurm_node_fail",
     .all = {"Slurm", "Job_id=", ", NODE_FAIL"},
     .figures = {{"job", INCIDENT_WORD, "Job_id="}}},
    {.name = "slurm_node_fail",
     .all = {"error: Node failure on "},
     .figures = {{"node", INCIDENT_WORD, "failure on "}}},
    {.name = "slurm_node_fail", .all = {"CANCELLED DUE TO NODE FAILURE"}, .figures = {JOB}},
    {.name = "slurm_unkillable", .all = {"NOT ENDING WITH SIGNALS"}, .figures = {JOB}},
    {.name = "slurm_unkillable", .all = {"Kill task failed"}},
    {.name = "slurm_unkillable",
     .all = {"DUE TO JOB NOT ENDING WITH SIGNALS"},
     .figures = {{"step", INCIDENT_WORD, "*** STEP "}, {"job", INCIDENT_WORD, "*** JOB "}}},
    {.name = "slurm_abort", .all = {"ob step aborted: Waiting up to "}},
    {.name = "slurm_abort", .all = {"srun: ", "ob step aborted"}},
    {.name = "slurm_abort", .all = {"srun: Terminating "}},
    {.name = "slurm_abort", .all = {"srun: ", "_step_signal: Terminating "}},
    {.name = "slurm_abort", .all = {"srun: First task exited"}},
    {.name = "slurm_abort", .all = {" CANCELLED AT ", "DUE TO TASK FAILURE"}, .figures = {JOB}},
    {.name = "slurm_preempted", .all = {"this job is preempted"}},
    {.name = "slurm_timeout", .all = {"this job is timed-out"}},
    {.name = "slurm_abort",
     .all = {"FAILED (non-zero exit code or other failure mode)"},
     .figures = {JOB}},
    {.name = "terminated",
     .all = {"srun: Force Terminated "},
     .figures = {{"step", INCIDENT_WORD, "StepId="}, {"job", INCIDENT_WORD, "erminated job "}}},
    {.name = "terminated",
     .all = {"srun: error: ", ": Terminated"},
     .figures = {SIGNAL("15"), {"rank", INCIDENT_INTEGER, "task "}}},
    {.name = "terminated", .all = {"*** ", " CANCELLED AT ", " ***"}, .figures = {JOB}},
    {.name = "terminated",
     .all = {"error: *** ", " CANCELLED AT "},
     .figures = {{"step", INCIDENT_WORD, "*** STEP "}, {"job", INCIDENT_WORD, "*** JOB "}}},

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
     .all = {"Signals.SIGSEGV: 11"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "11"}}},
    {.name = "crash",
     .all = {"Signals.SIGABRT: 6"},
     .figures = {{"signal", INCIDENT_IS_NUMBER, "6"}}},
    {.name = "crash", .all = {"Speicherzugriffsfehler"}, .figures = {SIGNAL("11")}},
    {.name = "crash", .all = {"Erreur de segmentation"}, .figures = {SIGNAL("11")}},
    {.name = "crash",
     .all = {"\xec\x84\xb8\xea\xb7\xb8\xeb\xa9\x98\xed\x85\x8c\xec\x9d\xb4\xec\x85\x98 "
             "\xec\x98\xa4\xeb\xa5\x98"},
     .figures = {SIGNAL("11")}},
    {.name = "crash", .all = {"(Speicherabzug geschrieben)"}},
    {.name = "crash",
     .all = {"]: segfault at "},
     .figures = {SIGNAL("11"), {"library", INCIDENT_WORD, " in "}}},
    {.name = "crash", .all = {"by signal SIGABRT"}, .figures = {SIGNAL("6")}},
    {.name = "crash", .all = {"by signal SIGBUS"}, .figures = {SIGNAL("7")}},
    {.name = "crash", .all = {"by signal SIGILL"}, .figures = {SIGNAL("4")}},
    {.name = "crash", .all = {"by signal SIGFPE"}, .figures = {SIGNAL("8")}},
    {.name = "crash", .all = {"traps: ", " trap "}},
    {.name = "crash", .all = {"traps: ", "general protection"}},
    {.name = "crash",
     .all = {"SIGSEGV"},
     .none = {"SIGKILL by OOM", "SIGABRT", "SIGBUS",
              "andler"}, /* a list of signals, or a catcher */
     .figures = {SIGNAL("11")}},
    STATUSES("crash", tells_fault,
             N_("with a number that tells of a fault: 132, 134, 135, 136, 139, -4, -6, -7, -8 or "
                "-11")),
    {.name = "crash",
     .all = {"DataLoader worker", "killed by signal: Aborted"},
     .figures = {SIGNAL("6"), {"pid", INCIDENT_INTEGER, "(pid "}}},
    {.name = "crash", .all = {"munmap_chunk(): invalid pointer"}},
    {.name = "crash", .all = {"corrupted double-linked list"}},
    {.name = "crash", .all = {"realloc(): invalid "}},
    {.name = "crash", .all = {"free(): double free detected"}},
    {.name = "crash", .all = {"buffer overflow detected ***"}},
    {.name = "crash", .all = {"libc++abi: terminating due to uncaught exception"}},
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
     .all = {"Get\xc3\xb6tet"},
     .also = is_killed,
     .also_text = N_("the whole line, or behind a progress bar"),
     .figures = {SIGNAL("9")}},
    {.name = "killed",
     .all = {"Processus arr\xc3\xaat\xc3\xa9"},
     .also = is_killed,
     .also_text = N_("the whole line, or behind a progress bar"),
     .figures = {SIGNAL("9")}},
    {.name = "killed",
     .all = {"\xec\xa3\xbd\xec\x97\x88\xec\x9d\x8c"},
     .also = is_killed,
     .also_text = N_("the whole line, or behind a progress bar"),
     .figures = {SIGNAL("9")}},
    {.name = "killed",
     .all = {"srun: error: ", ": Killed"},
     .also = ends_with_task_killed,
     .also_text = N_("at the end of the line"),
     .figures = {{"signal", INCIDENT_IS_NUMBER, "9"}, {"rank", INCIDENT_INTEGER, "task "}}},
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
    {.name = "killed", .all = {"terminated with signal SIGKILL"}, .figures = {SIGNAL("9")}},
    {.name = "killed", .all = {"erminated with signal 9"}, .figures = {SIGNAL("9")}},
    {.name = "killed", .all = {"erminated by signal 9"}, .figures = {SIGNAL("9")}},
    {.name = "killed", .all = {"illed by signal 9"}, .figures = {SIGNAL("9")}},
    {.name = "killed", .all = {"illed by signal: Killed"}, .figures = {SIGNAL("9")}},
    {.name = "killed",
     .all = {"exited on signal 9"},
     .figures = {SIGNAL("9"),
                 {"rank", INCIDENT_INTEGER, "process rank "},
                 {"pid", INCIDENT_INTEGER, "with PID "}}},
    {.name = "killed", .all = {"KILLED BY SIGNAL: 9"}, .figures = {SIGNAL("9")}},
    {.name = "killed",
     .all = {"=   EXIT CODE: 9"},
     .also = ends_with_nine,
     .also_text = N_("at the end of the line, as MPICH says it"),
     .figures = {SIGNAL("9")}},
    {.name = "killed", .all = {"(signal 9)"}, .figures = {SIGNAL("9")}},
    {.name = "killed", .all = {"timeout: sending signal KILL"}, .figures = {SIGNAL("9")}},
    {.name = "terminated", .all = {"(signal 15)"}, .figures = {SIGNAL("15")}},
    {.name = "terminated", .all = {"timeout: sending signal TERM"}, .figures = {SIGNAL("15")}},
    {.name = "killed", .all = {"status=9/KILL"}, .figures = {SIGNAL("9")}},
    {.name = "killed", .all = {"signal: 9, SIGKILL"}, .figures = {SIGNAL("9")}},
    {.name = "killed", .all = {"signal 9:SIGKILL"}, .figures = {SIGNAL("9")}},
    {.name = "killed", .all = {"signal: killed"}, .figures = {SIGNAL("9")}},
    STATUSES("killed", tells_kill, N_("with the number 137 or -9")),
    {.name = "killed", .all = {"make: ", "Error 137"}, .figures = {EXIT("137")}},
    {.name = "killed", .all = {"make", "*** ", " Killed"}, .figures = {SIGNAL("9")}},
    {.name = "killed", .all = {"WTERMSIG 9"}, .figures = {SIGNAL("9")}},
    {.name = "terminated", .all = {"WTERMSIG 15"}, .figures = {SIGNAL("15")}},
    {.name = "terminated",
     .all = {"erminated"},
     .also = is_terminated,
     .also_text = N_("the whole line, behind a progress bar, or as a shell reports a job"),
     .figures = {{"signal", INCIDENT_IS_NUMBER, "15"}}},
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
    {.name = "terminated", .all = {"terminated with signal SIGTERM"}, .figures = {SIGNAL("15")}},
    {.name = "terminated", .all = {"erminated with signal 15"}, .figures = {SIGNAL("15")}},
    {.name = "terminated", .all = {"erminated by signal 15"}, .figures = {SIGNAL("15")}},
    {.name = "terminated", .all = {"illed by signal 15"}, .figures = {SIGNAL("15")}},
    {.name = "terminated", .all = {"illed by signal: Terminated"}, .figures = {SIGNAL("15")}},
    {.name = "terminated",
     .all = {"exited on signal 15"},
     .figures = {SIGNAL("15"), {"pid", INCIDENT_INTEGER, "with PID "}}},
    {.name = "terminated", .all = {"KILLED BY SIGNAL: 15"}, .figures = {SIGNAL("15")}},
    {.name = "terminated", .all = {"status=15/TERM"}, .figures = {SIGNAL("15")}},
    {.name = "terminated", .all = {"signal: terminated"}, .figures = {SIGNAL("15")}},
    {.name = "terminated", .all = {"signal 15:SIGTERM"}, .figures = {SIGNAL("15")}},
    STATUSES("terminated", tells_termination, N_("with the number 143 or -15")),
    {.name = "terminated", .all = {"make: ", "Error 143"}, .figures = {EXIT("143")}},
    {.name = "terminated", .all = {"got signal: 15"}, .figures = {SIGNAL("15")}},
    {.name = "terminated", .all = {"eceived SIGTERM"}, .figures = {SIGNAL("15")}},
    {.name = "terminated",
     .all = {"ignal SIGTERM"},
     .none = {"closing signal", "Closing process"},
     .figures = {SIGNAL("15")}},
};

const struct incident_rules incident_rules_end = {rules, ARRAY_LENGTH(rules)};
