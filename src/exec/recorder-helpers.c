/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recorder's own helpers: the slow reader, and the one that collects the environment. They die
 * with it. */
#include "exec/recorder-parts.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/msg.h"
#include "exec/cpu-time.h"
#include "exec/gpu-watch.h"
#include "exec/helper.h"
#include "probe/probe.h"
#include "text/secret.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLOW_STARTS_MAX   5u
#define ENVIRONMENT_BYTES (12u << 20) /* below the largest record */
#define PIDS_MAX          256u

/* ---- slow reader ---- */

static void find_places(const struct recorder *recorder, struct slow_context *context) {
    size_t count = 0;
    const char *temporary = getenv("TMPDIR");
    context->places[count++] = ".";
    context->places[count++] = temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp";
    context->places[count++] = "/dev/shm";
    context->places[count++] = recorder->shared->journal_path;
    for (size_t i = 0; recorder->options->outputs != NULL &&
                       recorder->options->outputs[i] != NULL && count < SLOW_PLACES_MAX;
         i++)
        context->places[count++] = recorder->options->outputs[i];
    context->places[count] = NULL;
}

void recorder_start_slow_reader(struct recorder *recorder) {
    if (recorder->slow_reader != 0 || recorder->slow_starts >= SLOW_STARTS_MAX)
        return;
    struct slow_context context = {.shared = recorder->shared, .group = recorder->group};
    find_places(recorder, &context);
    recorder->slow_starts++;
    pid_t pid = slow_reader_start(&context, &recorder->slow_fd);
    if (pid > 0)
        recorder->slow_reader = pid;
    if (recorder->samples == NULL)
        recorder->samples = mem_alloc(sizeof *recorder->samples);
}

/* A file of weights that is in use. */
static void take_file(struct recorder *recorder, const struct slow_sample *sample) {
    AUTO_STRBUF struct strbuf path = STRBUF_INIT;
    const struct slow_file *file = &sample->file;
    secret_mask(file->path, strnlen(file->path, sizeof file->path), &path);
    json_t *data = json_object();
    json_put_text(data, "event", "file");
    json_put(data, "path", json_text_n(strbuf_str(&path), path.length));
    json_put_int(data, "bytes", file->bytes);
    if (file->storage[0] != '\0')
        json_put(data, "storage",
                 json_text_n(file->storage, strnlen(file->storage, sizeof file->storage)));
    json_t *json = json_object();
    json_put_int(json, "t_ns", sample->t_ns);
    json_put_text(json, "verb", "agent");
    json_put_text(json, "name", "slow-reader");
    json_put(json, "data", data);
    recorder_write(recorder, JOURNAL_MARK, json, false);
}

static bool has_value(const struct slow_sample *sample) {
    for (size_t i = 0; i < SLOW_COUNT_; i++)
        if (sample->value[i] != SHARED_ABSENT)
            return true;
    return false;
}

static void take_sample(struct recorder *recorder, const struct slow_sample *sample) {
    struct shared *shared = recorder->shared;
    struct slow_samples *samples = recorder->samples;
    recorder->slow_last_ns = sample->t_ns;
    if (sample->value[SLOW_PSS] != SHARED_ABSENT) {
        atomic_fetch_add(&shared->pss_samples, 1);
        if (sample->value[SLOW_PSS] > atomic_load(&shared->pss_peak_bytes))
            atomic_store(&shared->pss_peak_bytes, sample->value[SLOW_PSS]);
    } else if (sample->denied > 0) {
        recorder->pss_denied = true;
    }
    if (sample->file.path[0] != '\0')
        take_file(recorder, sample);
    if (sample->looked || has_value(sample)) {
        for (size_t i = 0; i < SLOW_COUNT_; i++)
            samples->value[i][samples->count] = sample->value[i];
        samples->looked[samples->count] = sample->looked;
        samples->time_ns[samples->count++] = sample->t_ns;
    }
    if (samples->count == SLOW_SAMPLES_MAX) {
        recorder_write_samples(recorder, samples);
        samples->count = 0;
    }
    if (sample->low_path[0] == '\0')
        return;
    json_t *figures = json_object();
    json_put(figures, "path",
             json_text_n(sample->low_path, strnlen(sample->low_path, SLOW_PATH_SIZE)));
    json_put_int(figures, "free_bytes", sample->low_free_bytes);
    json_put_int(figures, "capacity_bytes", sample->low_total_bytes);
    recorder_write_incident(recorder, "disk_low", "statfs", NULL, figures, true);
}

void recorder_read_samples(struct recorder *recorder, bool all) {
    struct slow_sample sample;
    while (recorder->slow_fd >= 0) {
        /* Samples are smaller than PIPE_BUF: whole or not at all (pipe(7)). */
        ssize_t got = read(recorder->slow_fd, &sample, sizeof sample);
        if (got == (ssize_t)sizeof sample) {
            take_sample(recorder, &sample);
            continue;
        }
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0)
            fd_close_ptr(&recorder->slow_fd);
        break;
    }
    if (all && recorder->samples != NULL) {
        recorder_write_samples(recorder, recorder->samples);
        recorder->samples->count = 0;
    }
}

static void slow_reader_gone(struct recorder *recorder, int64_t cpu_ns) {
    atomic_fetch_add(&recorder->shared->cpu_reaped_ns[ROLE_SLOW_READER], cpu_ns);
    atomic_store(&recorder->shared->cpu_live_ns[ROLE_SLOW_READER][0], 0);
    shared_remove_helper(recorder->shared, recorder->slow_reader);
    recorder->slow_reader = 0;
}

void recorder_stop_slow_reader(struct recorder *recorder) {
    if (recorder->slow_reader == 0)
        return;
    /* It may hang in a file system that is gone: it is not waited for. */
    kill(recorder->slow_reader, SIGKILL);
    recorder->slow_starts = SLOW_STARTS_MAX;
    recorder_reap(recorder);
}

/* ---- environment ---- */

struct environment_context {
    struct recorder *recorder;
    int out_fd;
};

static int environment_main(void *argument) {
    const struct environment_context *context = argument;
    const struct recorder *recorder = context->recorder;
    const struct shared *shared = recorder->shared;
    pid_t pids[PIDS_MAX];
    size_t pid_count = 0, argc = 0;
    uint32_t known = atomic_load(&shared->pid_count);
    for (uint32_t i = 0; i < known && i < PIDS_MAX; i++)
        pids[pid_count++] = atomic_load(&shared->pids[i]);
    while (recorder->options->argv[argc] != NULL)
        argc++;
    const char *place = recorder->context->cwd;
    AUTO_FREE char *cwd = place != NULL ? mem_strdup(place) : getcwd(NULL, 0);
    static char *const no_variables[] = {NULL};
    char *const *variables = recorder->context->environment;
    struct probe_context probe = {.root = &root_real,
                                  .cwd = cwd != NULL ? cwd : "/",
                                  .argv = recorder->options->argv,
                                  .argc = argc,
                                  .environment = variables != NULL ? variables : no_variables,
                                  .process = recorder->options->attach,
                                  .pids = pids,
                                  .pid_count = pid_count,
                                  .code_folder = recorder->options->code.folder,
                                  .code_paths = recorder->options->code.paths,
                                  .code_except = recorder->options->code.except};
    int64_t taken_t_ns = recorder_t_ns(recorder);
    AUTO_JSON json_t *environment = probe_environment(&probe);
    json_put_int(environment, "taken_t_ns", taken_t_ns);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_add_compact(&text, environment);
    return fd_write_full(context->out_fd, text.data, text.length) < 0;
}

void recorder_start_environment(struct recorder *recorder) {
    if (recorder->past.has_environment || recorder->environment_reader != 0)
        return;
    struct environment_context context = {.recorder = recorder};
    struct helper_spec spec = {.name = "pl-environment",
                               .dies_with_parent = true,
                               .main = environment_main,
                               .context = &context};
    pid_t pid =
        helper_start_writing(recorder->shared, &spec, &context.out_fd, &recorder->environment_fd);
    if (pid > 0)
        recorder->environment_reader = pid;
}

static void write_environment(struct recorder *recorder) {
    char why[160];
    json_t *json = json_parse(recorder->environment.data, recorder->environment.length, why);
    if (!json_is_object(json)) {
        json_decref(json);
        int64_t t_ns = recorder_t_ns(recorder);
        recorder_write_gap(recorder, "environment", 0, t_ns, N_("its collector ended early"), 0);
        return;
    }
    /* The diff is kept here and does not leave with the record: it goes to the end, where exports
     * cut it off. */
    json_t *code = json_get_object(json, "code");
    json_t *diff = json_object_get(code, "diff_zstd_base64");
    if (json_is_string(diff) && recorder->diff == NULL) {
        recorder->diff = json_object();
        json_put(recorder->diff, "diff_zstd_base64", json_incref(diff));
    }
    json_object_del(code, "diff_zstd_base64");
    recorder_write(recorder, JOURNAL_ENVIRONMENT, json, false);
}

bool recorder_read_environment(struct recorder *recorder) {
    char piece[16384];
    while (recorder->environment_fd >= 0) {
        ssize_t got = read(recorder->environment_fd, piece, sizeof piece);
        if (got > 0 && recorder->environment.length + (size_t)got <= ENVIRONMENT_BYTES) {
            strbuf_add(&recorder->environment, piece, (size_t)got);
            continue;
        }
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return false;
        fd_close_ptr(&recorder->environment_fd);
        write_environment(recorder);
        recorder->past.has_environment = true;
        strbuf_done(&recorder->environment);
    }
    return true;
}

/* ---- both ---- */

void recorder_reap(struct recorder *recorder) {
    struct rusage usage;
    int status;
    pid_t pid;
    while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
        if (pid == recorder->slow_reader) {
            recorder_read_samples(recorder, false);
            slow_reader_gone(recorder, cpu_time_usage_ns(&usage));
        } else if (!gpu_watch_ended(recorder->gpu, pid, status, cpu_time_usage_ns(&usage))) {
            recorder->children_cpu_ns += cpu_time_usage_ns(&usage);
            shared_remove_helper(recorder->shared, pid);
        }
    }
}
