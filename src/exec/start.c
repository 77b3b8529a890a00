/* SPDX-License-Identifier: GPL-3.0-or-later */
/* HEADER and START: what is known before the first second, cheaply. Secrets are masked before
 * anything leaves here. */
#include "exec/recorder-parts.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "exec/agents.h"
#include "exec/blind-spots.h"
#include "exec/paths.h"
#include "exec/process.h"
#include "probe/machine-key.h"
#include "probe/paths.h"
#include "probe/procfs.h"
#include "text/secret.h"

#include <string.h>
#include <unistd.h>

#ifndef HOST_NAME_MAX
#define HOST_NAME_MAX 64
#endif

json_t *start_header(const struct recorder_context *context) {
    const struct exec_options *options = context->options;
    char boot_id[CLOCK_BOOT_ID_SIZE];
    struct proc_stat stat;
    json_t *header = json_object();
    json_put_int(header, "format", 1);
    json_put_text(header, "type", "run");
    json_put_text(header, "run", options->run);
    json_put_text(header, "part", options->part);
    if (options->study != NULL)
        json_put_text(header, "study", options->study);
    if (clock_boot_id(boot_id) == 0)
        json_put_text(header, "boot_id", boot_id);
    json_put_int(header, "pid", context->monitor);
    if (procfs_stat(&root_real, context->monitor, &stat) == 0)
        json_put_int(header, "pid_start", (int64_t)stat.start);
    json_put_int(header, "utc_ns", clock_utc_ns());
    json_put_text(header, "program", PROBELAUF_VERSION);
    return header;
}

static json_t *masked(const char *text) {
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    secret_mask(text, strlen(text), &safe);
    return json_text(strbuf_str(&safe));
}

static size_t count_of(const char *const *list) {
    size_t count = 0;
    while (list != NULL && list[count] != NULL)
        count++;
    return count;
}

/* Arguments that are no UTF-8 stand in `command` with escapes; their bytes are kept beside it, at
 * the same places. */
static void put_command(json_t *start, const char *const *argv) {
    size_t count = count_of(argv);
    json_put(start, "command", secret_mask_argv(argv, count));
    bool all_utf8 = true;
    for (size_t i = 0; i < count; i++)
        all_utf8 = all_utf8 && str_is_utf8(argv[i], strlen(argv[i]));
    if (all_utf8)
        return;
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
        AUTO_STRBUF struct strbuf encoded = STRBUF_INIT;
        secret_mask(argv[i], strlen(argv[i]), &safe);
        bool is_plain =
            str_is_utf8(argv[i], strlen(argv[i])) || strcmp(strbuf_str(&safe), argv[i]) != 0;
        if (!is_plain)
            str_add_base64(&encoded, argv[i], strlen(argv[i]));
        json_array_append_new(list, is_plain ? json_null() : json_text(strbuf_str(&encoded)));
    }
    json_put(start, "command_base64", list);
}

static void put_inputs(json_t *start, const struct exec_options *options) {
    json_t *inputs = json_array();
    struct path_facts facts;
    for (size_t i = 0; i < count_of(options->inputs); i++) {
        json_t *input = path_describe(options->inputs[i], &facts);
        const char *name = options->input_names != NULL ? options->input_names[i] : NULL;
        if (name != NULL && strcmp(name, options->inputs[i]) != 0) {
            json_put(input, "path", masked(name));
            json_put(input, "at", masked(options->inputs[i]));
        }
        json_array_append_new(inputs, input);
    }
    json_put(start, "inputs", inputs);
    json_t *outputs = json_array();
    for (size_t i = 0; i < count_of(options->outputs); i++)
        json_array_append_new(outputs, masked(options->outputs[i]));
    json_put(start, "outputs", outputs);
}

static void put_patterns(json_t *start, const struct exec_options *options) {
    json_t *patterns = json_array();
    for (size_t i = 0; i < options->pattern_count; i++) {
        json_t *pattern = json_object();
        json_put_text(pattern, "phase", options->patterns[i].phase);
        json_put(pattern, "regex", masked(options->patterns[i].regex));
        json_array_append_new(patterns, pattern);
    }
    json_put(start, "patterns", patterns);
}

static void put_streams(json_t *start, const struct shared *shared) {
    static const char *const names[] = {"stdin", "stdout", "stderr"};
    static const char *const was[] = {
        [STREAM_CLOSED] = "closed",     [STREAM_FILE] = "file", [STREAM_PIPE] = "pipe",
        [STREAM_TERMINAL] = "terminal", [STREAM_NULL] = "null", [STREAM_SOCKET] = "socket",
        [STREAM_DEVICE] = "device"};
    static const char *const tee[] = {[TEE_INHERITED] = "inherited",
                                      [TEE_IN_PLACE] = "read-in-place",
                                      [TEE_SPLICE] = "splice",
                                      [TEE_PTY] = "pty",
                                      [TEE_COPY] = "copy"};
    json_t *streams = json_object();
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        const struct stream_facts *facts = &shared->streams[i];
        json_t *stream = json_object();
        json_put_text(stream, "was", was[facts->was]);
        json_put_text(stream, "tee", tee[facts->tee]);
        if (facts->shared_with >= 0)
            json_put_text(stream, "shared_with", names[facts->shared_with]);
        json_put(streams, names[i], stream);
    }
    json_put(start, "streams", streams);
}

const char *recorder_variable(const struct recorder *recorder, const char *name) {
    return variable_get(&(struct variables){.list = recorder->context->environment}, name);
}

/* What a scheduler or launcher says about this process. The first of the names that is set is
 * taken. */
static void put_variable(json_t *launch, const struct recorder *recorder, const char *key,
                         const char *const *names) {
    for (size_t i = 0; names[i] != NULL; i++) {
        const char *value = recorder_variable(recorder, names[i]);
        if (value != NULL && value[0] != '\0') {
            json_put(launch, key, masked(value));
            return;
        }
    }
}

static void put_launch(json_t *start, const struct recorder *recorder) {
    static const struct {
        const char *variable, *name;
    } schedulers[] = {
        {"SLURM_JOB_ID", "slurm"}, {"PBS_JOBID", "pbs"}, {"LSB_JOBID", "lsf"}, {"JOB_ID", "sge"}};
    static const struct {
        const char *key;
        const char *names[6];
    } facts[] = {
        {"job", {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", NULL}},
        {"step", {"SLURM_STEP_ID", NULL}},
        {"array", {"SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "LSB_JOBINDEX", "SGE_TASK_ID", NULL}},
        {"restart", {"SLURM_RESTART_COUNT", NULL}},
        {"node", {"SLURMD_NODENAME", NULL}},
        {"rank", {"SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "RANK", NULL}},
        {"ranks", {"SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "WORLD_SIZE", NULL}},
    };
    json_t *launch = json_object();
    for (size_t i = 0; i < ARRAY_LENGTH(schedulers); i++) {
        if (recorder_variable(recorder, schedulers[i].variable) == NULL)
            continue;
        json_put_text(launch, "scheduler", schedulers[i].name);
        break;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(facts); i++)
        put_variable(launch, recorder, facts[i].key, facts[i].names);
    json_put(start, "launch", launch);
}

static void put_clock(json_t *start, const struct shared *shared) {
    char boot_id[CLOCK_BOOT_ID_SIZE];
    json_t *clock = json_object();
    if (clock_boot_id(boot_id) == 0)
        json_put_text(clock, "boot_id", boot_id);
    json_put_int(clock, "start_mono_ns", shared->start.mono_ns);
    json_put_int(clock, "start_boottime_ns", shared->start.boot_ns);
    json_put_int(clock, "start_utc_ns", shared->start.utc_ns);
    json_put(start, "clock", clock);
}

static void put_limits(json_t *start, const struct exec_options *options) {
    json_t *budget = json_object();
    if (options->max_time_ns > 0)
        json_put_int(budget, "max_time_ns", options->max_time_ns);
    json_put_int(budget, "grace_ns", options->grace_ns);
    json_put(start, "budget", budget);
    json_put_int(start, "linger_ns", options->linger_ns);
}

/* What is watched, and waited for, other than a command. */
static void put_target(json_t *start, const struct exec_options *options) {
    if (options->process != NULL) {
        json_put_int(start, "attach", options->process->pid);
        json_put_int(start, "attach_start", (int64_t)options->process->start);
    }
    if (options->ready != NULL)
        json_put(start, "ready", masked(options->ready));
    if (options->gpus == NULL)
        return;
    json_t *gpus = json_array();
    for (size_t i = 0; options->gpus[i] != NULL; i++)
        json_array_append_new(gpus, json_text(options->gpus[i]));
    json_put(start, "gpus", gpus);
}

json_t *start_payload(const struct recorder *recorder) {
    const struct exec_options *options = recorder->options;
    const struct shared *shared = recorder->shared;
    json_t *start = json_object();
    put_command(start, options->argv);
    char *const *environment = recorder->context->environment;
    const char *place = recorder->context->cwd;
    AUTO_FREE char *cwd =
        options->attach != 0 ? (place != NULL ? mem_strdup(place) : NULL) : getcwd(NULL, 0);
    if (cwd != NULL)
        json_put(start, "cwd", masked(cwd));
    json_put_text(start, "purpose", "trial");
    json_put(start, "condition", json_object());
    json_put(start, "changes", json_array());
    json_put_int(start, "attempt", 1);
    if (options->phase != NULL)
        json_put_text(start, "phase", options->phase);
    json_object_update(start, options->start_extra); /* already masked by who knows what is in it */
    put_inputs(start, options);
    json_put(start, "expect", expectations_to_start(recorder->expectations));
    put_patterns(start, options);
    if (options->result_count > 0)
        json_put(start, "results", results_to_start(options));
    json_put(start, "agents", agents_to_start(recorder));
    put_limits(start, options);
    if (options->process == NULL || options->process->has_streams)
        put_streams(start, shared);
    put_target(start, options);
    put_launch(start, recorder);
    put_clock(start, shared);
    int64_t floor_bytes = atomic_load(&shared->rss_floor_bytes);
    if (floor_bytes != SHARED_ABSENT)
        json_put_int(start, "rss_floor_bytes", floor_bytes);
    if (environment != NULL)
        json_put(start, "variables", secret_allowed_variables(environment));
    json_put(start, "blind_spots", blind_spots_find(options->argv));
    json_put(start, "cgroup", evidence_cgroup_start(recorder));
    json_put_int(start, "uid", (int64_t)getuid());
    char host[HOST_NAME_MAX + 1] = "";
    if (gethostname(host, sizeof host - 1) == 0)
        json_put_text(start, "host", host);
    char machine[MACHINE_KEY_SIZE];
    if (machine_key(&root_real, machine))
        json_put_text(start, "machine", machine);
    return start;
}
