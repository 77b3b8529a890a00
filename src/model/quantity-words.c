/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a figure was obtained, its unit, its parts and what it rests on, in the words of the
 * language. Records and documents for programs keep the English text, so it is translated only
 * where a person reads it. The texts stand here once more, for extraction: they are made in many
 * places, some of them by older versions. One that is not listed is shown as it is.
 */
#include "model/quantity.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"

#include <string.h>

static const char *const methods[] = {
    N_("/proc/PID/status VmHWM, sampled"),
    N_("/proc/stat, cpuN lines"),
    N_("CPU time of all processes: wait4 and /proc/PID/stat"),
    N_("CPU time of our own processes"),
    N_("CPU time of our own processes, last checkpoint"),
    N_("UTC, start of its condition's first attempt to its end"),
    N_("a line of output that a known program prints, when it was read"),
    N_("a line of output that a known program prints, when it was read, and the length that it "
       "printed"),
    N_("a line of output, when it was read"),
    N_("actual - planned"),
    N_("an NVTX range that the plan maps"),
    N_("assumption"),
    N_("attempts since that failed"),
    N_("attempts since: each counts or failed"),
    N_("attempts since: none failed"),
    N_("boottime clock"),
    N_("boottime clock, UTC across a restart"),
    N_("boottime clock; start or end as given"),
    N_("calls that the Python hook saw"),
    N_("cap set by the team"),
    N_("difference of UTC clocks"),
    N_("difference of the driver's counter of uncorrected ECC errors"),
    N_("difference of the driver's energy counter, whole device"),
    N_("difference of the peaks seen"),
    N_("driver"),
    N_("driver, accounting, largest of the run's processes"),
    N_("driver, after the command's end"),
    N_("driver, all processes, sampled"),
    N_("driver, before the command"),
    N_("driver, clock event reasons, share of the samples"),
    N_("driver, sum over the run's processes, sampled"),
    N_("figure of the plan"),
    N_("files of one run x runs left"),
    N_("gaps of the sessions since"),
    N_("getrusage of all helpers"),
    N_("idle time / reserved time"),
    N_("integral of the driver's power readings, whole device"),
    N_("kept estimate, for as many runs as were made"),
    N_("larger of VmHWM and ru_maxrss"),
    N_("larger of wait4 ru_maxrss and VmHWM"),
    N_("mark"),
    N_("mean of the runs of the step since"),
    N_("mean of the runs since x runs left"),
    N_("mean of the runs that the estimate rests on"),
    N_("median of the failed attempts"),
    N_("median of the runs that count"),
    N_("median of the runs' results"),
    N_("medians of the runs that count, over the lanes"),
    N_("monotonic clock, start to end of the command"),
    N_("monotonic clock, start to end of the last process"),
    N_("monotonic clock, start to the end of the watching"),
    N_("monotonic clock, start to the last record"),
    N_("no phase is known"),
    N_("nothing left to run"),
    N_("observed wall time"),
    N_("output as it was read"),
    N_("peak of the control group around the run"),
    N_("peak of the run's own control group"),
    N_("processes reaped or seen in /proc"),
    N_("read_bytes of /proc/PID/io"),
    N_("reserved time"),
    N_("reserved time by the offer's increment and terms"),
    N_("reserved time x reserved GPUs"),
    N_("reserved time, rounded up to the offer's billing increment"),
    N_("runs of the plan less those done"),
    N_("rusage of reaped processes"),
    N_("seen by the sampler"),
    N_("start to the end mark of write"),
    N_("start to the last change of the declared outputs"),
    N_("stat st_size of the files of weights seen"),
    N_("stated in the plan"),
    N_("sum of /proc/PID/smaps_rollup Pss, sampled"),
    N_("sum of parts"),
    N_("sum over the records since"),
    N_("task of the plan"),
    N_("the block's share of its sessions"),
    N_("the offer's minimum term: the reserved time is below it"),
    N_("the plan's repeats"),
    N_("the whole run, by --phase"),
    N_("union of its runs"),
    N_("utilization windows of the driver, whole device"),
    N_("wait for block I/O, all processes"),
    N_("wall time that no phase explains"),
    N_("wall time that no window of the driver covers"),
    N_("what --ready waits for"),
    N_("windows without work, by what the host did meanwhile"),
};

/* "driver (nvmlDeviceGetMemoryInfo)": what stands in brackets is a name. */
void quantity_add_method(struct strbuf *out, const char *method) {
    for (size_t i = 0; i < ARRAY_LENGTH(methods); i++) {
        size_t length = strlen(methods[i]);
        if (strncmp(methods[i], method, length) == 0 &&
            (method[length] == '\0' || str_starts_with(method + length, " ("))) {
            strbuf_add_str(out, msg_get(methods[i]));
            method += length;
            break;
        }
    }
    str_add_printable(out, method, strlen(method));
}

static const char *find(const char *const *texts, size_t count, const char *text, size_t length) {
    for (size_t i = 0; i < count; i++)
        if (strlen(texts[i]) == length && strncmp(texts[i], text, length) == 0)
            return texts[i];
    return NULL;
}

static const char *const units[] = {
    N_("GPU-hours"),
    N_("wall hours"),
    N_("node-hours"),
    N_("core"),
};

void quantity_add_unit(struct strbuf *out, const char *unit) {
    const char *known = find(units, ARRAY_LENGTH(units), unit, strlen(unit));
    if (known)
        strbuf_add_str(out, msg_get(known));
    else
        str_add_printable(out, unit, strlen(unit)); /* may come from a mark */
}

static const char *const bases[] = {
    N_("own-runs"),      N_("borrowed-spread"), N_("borrowed-failures"),
    N_("assumed-class"), N_("sessions"),
};

void quantity_add_basis(struct strbuf *out, const char *basis) {
    const char *known = find(bases, ARRAY_LENGTH(bases), basis, strlen(basis));
    if (known)
        strbuf_add_str(out, msg_get(known));
    else
        str_add_printable(out, basis, strlen(basis));
}

/* Names of components, of phases and of what stands beside them. */
static const struct {
    const char *name, *words;
} parts[] = {
    {"prepare", N_("preparation")},
    {"data", N_("data")},
    {"transfer", N_("transfer")},
    {"runs", N_("runs")},
    {"retries", N_("retries")},
    {"fixing", N_("fixing")},
    {"checking", N_("checking")},
    {"teardown", N_("clean-up")},
    {"idle", N_("idle")},
    {"setup", N_("set-up")},
    {"load", N_("loading")},
    {"preprocess", N_("preprocessing")},
    {"compute", N_("computing")},
    {"write", N_("writing")},
    {"evaluate", N_("evaluation")},
    {"fix", N_("fixing")},
    {"unattributed", N_("no phase known")},
    {"sessions", N_("sessions")},
    {"memory", N_("memory")},
};

/* "retries/keep=1", "load": what is no known name is an id, and stays. */
void quantity_add_part(struct strbuf *out, const char *name) {
    for (const char *at = name;;) {
        size_t length = strcspn(at, "/"), i = 0;
        while (i < ARRAY_LENGTH(parts) &&
               (strlen(parts[i].name) != length || strncmp(parts[i].name, at, length) != 0))
            i++;
        if (i < ARRAY_LENGTH(parts))
            strbuf_add_str(out, msg_get(parts[i].words));
        else
            str_add_printable(out, at, length);
        if (at[length] == '\0')
            return;
        strbuf_add_char(out, '/');
        at += length + 1;
    }
}
