/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records what the GPU helper sees on this machine as a script of the stand-in (tests/stand-in), so
 * that a machine that nobody has at hand can be a test. It runs the helper that travels in
 * probelauf; nothing is asked that a run would not ask. Device names get "stand-in" appended: a
 * script must not be taken for the machine.
 *
 *     nvml-record [--mask] SECONDS > FILE.trace
 *
 * --mask: UUIDs and pids are replaced by made-up ones. Serial numbers are never read.
 */
#include "gpu/image.h"
#include "gpu/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES_MAX = 4096, MASKED_PID = 4000000, WINDOW_MIN_NS = 1000000 };

struct process {
    int64_t pid, bytes, gpu_instance;
    bool seen;
};

/* What was last written of a device, so that only changes are. */
struct seen {
    struct gpu_device_message facts;
    bool known, lost, listed;
    int64_t used, power, clock_sm, clock_memory, reasons, ecc, percent;
    int64_t energy_first, energy_last, energy_from_ns, energy_to_ns;
    int64_t window_end_ns, window_ns;
    bool rates;
    int64_t lost_ns;
    struct process process[GPU_PROCESSES_MAX];
    int processes;
};

struct record {
    FILE *lines; /* what happens, in its order; the facts stand before it in the end */
    struct gpu_library_message library;
    bool has_library, mask;
    int64_t begin_ns, end_ns;
    struct seen device[GPU_DEVICES_MAX];
    int64_t pid[PROCESSES_MAX];
    int pids;
};

static double seconds(const struct record *record, int64_t ns) {
    return ns <= record->begin_ns ? 0 : (double)(ns - record->begin_ns) / 1e9;
}

/* A board's NVML index, a slice's "board.number among its slices". */
static const char *device_name(const struct record *record, uint32_t device, char name[32]) {
    const struct gpu_device_message *facts = &record->device[device].facts;
    int slice = 0;
    for (uint32_t i = 0; i < device; i++) {
        slice += record->device[i].known && record->device[i].facts.parent == facts->parent;
    }
    if (facts->parent < 0) {
        snprintf(name, 32, "%" PRId64, facts->index == GPU_ABSENT ? (int64_t)device : facts->index);
    } else {
        snprintf(name, 32, "%" PRId64 ".%d", record->device[facts->parent].facts.index, slice);
    }
    return name;
}

static int64_t pid_shown(struct record *record, int64_t pid) {
    int i = 0;
    if (!record->mask || pid == 0) {
        return pid;
    }
    while (i < record->pids && record->pid[i] != pid) {
        i++;
    }
    if (i == record->pids && record->pids < PROCESSES_MAX) {
        record->pid[record->pids++] = pid;
    }
    return MASKED_PID + i;
}

static const char *code_of(int32_t why) {
    switch ((enum gpu_why)why) {
    case GPU_NOT_PERMITTED:
        return "NO_PERMISSION";
    case GPU_LOST:
        return "GPU_IS_LOST";
    case GPU_FAILED:
        return "UNKNOWN";
    case GPU_READ:
    case GPU_NOT_SUPPORTED:  /* what the script does not have is not supported */
    case GPU_NOT_IN_LIBRARY: /* the generation's business */
    case GPU_NOT_VISIBLE:
    case GPU_SENTINEL: /* written as a value */
    case GPU_UNIFIED:
    case GPU_DRIVER_MISMATCH:
    case GPU_WHY_COUNT_:
        return NULL;
    }
    return NULL;
}

static void value(struct record *record, int64_t t_ns, uint32_t device, const char *item,
                  int64_t now, int32_t why, int64_t *last) {
    char name[32];
    /* What is seen first was so from the start: an item that comes later is not supported before.
     */
    t_ns = *last == GPU_ABSENT ? record->begin_ns : t_ns;
    if (why == GPU_SENTINEL && *last != -1) {
        fprintf(record->lines, "%.2f %s %s blank\n", seconds(record, t_ns),
                device_name(record, device, name), item);
        *last = -1;
    } else if (now != GPU_ABSENT && now != *last) {
        fprintf(record->lines, "%.2f %s %s %" PRId64 "\n", seconds(record, t_ns),
                device_name(record, device, name), item, now);
        *last = now;
    }
}

static void take_device(struct record *record, const struct gpu_device_message *facts) {
    struct seen *seen = &record->device[facts->device];
    char name[32];
    if (!seen->known) {
        *seen = (struct seen){.known = true,
                              .used = GPU_ABSENT,
                              .power = GPU_ABSENT,
                              .clock_sm = GPU_ABSENT,
                              .clock_memory = GPU_ABSENT,
                              .reasons = GPU_ABSENT,
                              .ecc = GPU_ABSENT,
                              .percent = GPU_ABSENT};
        seen->facts = *facts;
        static const struct {
            enum gpu_device_item item;
            const char *function;
        } functions[] = {
            {GPU_ITEM_UUID, "nvmlDeviceGetHandleByIndex"},
            {GPU_ITEM_MEMORY, "nvmlDeviceGetMemoryInfo"},
            {GPU_ITEM_PROCESSES, "nvmlDeviceGetComputeRunningProcesses"},
            {GPU_ITEM_UTILIZATION, "nvmlDeviceGetSamples"},
            {GPU_ITEM_POWER, "nvmlDeviceGetPowerUsage"},
        };
        for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
            const char *code = code_of(facts->why[functions[i].item]);
            if (code != NULL) {
                fprintf(record->lines, "error %s %s device=%s\n", functions[i].function, code,
                        device_name(record, facts->device, name));
            }
        }
        if (facts->why[GPU_ITEM_PROCESSES] == GPU_NOT_SUPPORTED ||
            facts->why[GPU_ITEM_PROCESSES] == GPU_NOT_VISIBLE) {
            fprintf(record->lines,
                    "error nvmlDeviceGetComputeRunningProcesses NOT_SUPPORTED device=%s\n",
                    device_name(record, facts->device, name));
        }
    }
    if (seen->lost && facts->lost != 1) {
        fprintf(record->lines, "error nvmlDevice GPU_IS_LOST device=%s from=%.2f to=%.2f\n",
                device_name(record, facts->device, name), seconds(record, seen->lost_ns),
                seconds(record, facts->t_ns));
    }
    if (!seen->lost && facts->lost == 1) {
        seen->lost_ns = facts->t_ns;
    }
    seen->lost = facts->lost == 1;
    if (facts->lost != 1) { /* a board that was lost first has its facts now */
        seen->facts = *facts;
    }
}

static void take_sample(struct record *record, const struct gpu_sample_message *sample) {
    struct seen *seen = &record->device[sample->device];
    int64_t t_ns = sample->asked_ns;
    uint32_t device = sample->device;
    int64_t used = sample->used_bytes;
    /* The old call counts the reserve as used; a script has it apart, and no figure of it. */
    value(record, t_ns, device, "used", used, sample->memory_why, &seen->used);
    value(record, t_ns, device, "power", sample->power_mw, sample->power_why, &seen->power);
    value(record, t_ns, device, "sm-clock", sample->clock_sm_mhz, sample->clock_why,
          &seen->clock_sm);
    value(record, t_ns, device, "memory-clock", sample->clock_memory_mhz, sample->clock_why,
          &seen->clock_memory);
    value(record, t_ns, device, "reasons", sample->event_reasons, sample->events_why,
          &seen->reasons);
    value(record, t_ns, device, "ecc-errors", sample->ecc_uncorrected, sample->ecc_why, &seen->ecc);
    if (sample->energy_mj != GPU_ABSENT) {
        if (seen->energy_from_ns == 0) {
            seen->energy_first = sample->energy_mj;
            seen->energy_from_ns = record->begin_ns;
        }
        seen->energy_last = sample->energy_mj;
        seen->energy_to_ns = t_ns;
    }
}

static void write_process(struct record *record, int64_t t_ns, uint32_t device,
                          const struct process *process, bool gone) {
    char name[32];
    fprintf(record->lines, "%.2f %s %s pid=%" PRId64, seconds(record, t_ns),
            device_name(record, device, name), gone ? "gone" : "process",
            pid_shown(record, process->pid));
    if (!gone && process->bytes == GPU_ABSENT) {
        fprintf(record->lines, " used=none");
    } else if (!gone) {
        fprintf(record->lines, " used=%" PRId64, process->bytes);
    }
    if (!gone && process->gpu_instance != GPU_ABSENT) {
        fprintf(record->lines, " gi=%" PRId64, process->gpu_instance);
    }
    fprintf(record->lines, "\n");
}

static void take_processes(struct record *record, const struct gpu_processes_message *message) {
    struct seen *seen = &record->device[message->device];
    if (message->why != GPU_READ) {
        return;
    }
    for (int i = 0; i < seen->processes; i++) {
        seen->process[i].seen = false;
    }
    for (uint32_t i = 0; i < message->count; i++) {
        struct process now = {message->process[i].pid, message->process[i].bytes,
                              message->process[i].gpu_instance, true};
        int at = 0;
        while (at < seen->processes && (seen->process[at].pid != now.pid ||
                                        seen->process[at].gpu_instance != now.gpu_instance)) {
            at++;
        }
        bool news = at == seen->processes || seen->process[at].bytes != now.bytes;
        if (at == GPU_PROCESSES_MAX) {
            continue;
        }
        seen->processes += at == seen->processes;
        seen->process[at] = now;
        if (news) {
            write_process(record, seen->listed ? message->t_ns : record->begin_ns, message->device,
                          &now, false);
        }
    }
    seen->listed = true;
    for (int i = seen->processes - 1; i >= 0; i--) {
        if (!seen->process[i].seen) {
            write_process(record, message->t_ns, message->device, &seen->process[i], true);
            seen->process[i] = seen->process[--seen->processes];
        }
    }
}

static void take_windows(struct record *record, const struct gpu_windows_message *message) {
    struct seen *seen = &record->device[message->device];
    seen->rates = message->from_rates == 1 && message->count > 0;
    value(record, message->asked_ns, message->device, "util", GPU_ABSENT, message->why,
          &seen->percent);
    for (uint32_t i = 0; i < message->count; i++) {
        int64_t end_ns = message->window[i].end_ns;
        int64_t long_ns = end_ns - seen->window_end_ns;
        if (seen->window_end_ns != 0 && long_ns >= WINDOW_MIN_NS &&
            (seen->window_ns == 0 || long_ns < seen->window_ns)) {
            seen->window_ns = long_ns;
        }
        /* The value is of the time since the window before. */
        int64_t from_ns = seen->window_end_ns;
        value(record, from_ns, message->device, "util", message->window[i].percent, GPU_READ,
              &seen->percent);
        seen->window_end_ns = end_ns;
    }
}

static void take_rest(struct record *record, const struct gpu_head *head) {
    char name[32];
    if (head->kind == GPU_MESSAGE_EVENT) {
        const struct gpu_event_message *event = (const void *)head;
        bool xid = event->event == GPU_EVENT_XID;
        if (xid || event->event == GPU_EVENT_ECC_DOUBLE) {
            fprintf(record->lines, "%.2f %s %s %" PRId64 "\n", seconds(record, event->t_ns),
                    device_name(record, event->device, name), xid ? "xid" : "ecc-double",
                    event->data);
        }
    } else if (head->kind == GPU_MESSAGE_ACCOUNTING) {
        const struct gpu_accounting_message *peak = (const void *)head;
        fprintf(record->lines, "%.2f %s accounting pid=%" PRId64, seconds(record, record->end_ns),
                device_name(record, peak->device, name), pid_shown(record, peak->pid));
        if (peak->peak_bytes != GPU_ABSENT) {
            fprintf(record->lines, " peak=%" PRId64, peak->peak_bytes);
        }
        if (peak->gpu_percent != GPU_ABSENT) {
            fprintf(record->lines, " percent=%" PRId64, peak->gpu_percent);
        }
        if (peak->time_ms != GPU_ABSENT) {
            fprintf(record->lines, " ms=%" PRId64, peak->time_ms);
        }
        fprintf(record->lines, " running=%s\n", peak->time_ms == GPU_ABSENT ? "on" : "off");
    } else if (head->kind == GPU_MESSAGE_LATE) {
        const struct gpu_late_message *late = (const void *)head;
        double from = seconds(record, late->from_ns);
        fprintf(record->lines, "delay %s %.2f from=%.2f to=%.2f", late->what,
                (double)(late->to_ns - late->from_ns) / 1e9, from > 0.05 ? from - 0.05 : 0,
                from + 0.15);
        if (late->device >= 0) {
            fprintf(record->lines, " device=%s", device_name(record, (uint32_t)late->device, name));
        }
        fprintf(record->lines, "\n");
    }
}

static void take(struct record *record, const struct gpu_head *head) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    record->end_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    if (head->kind == GPU_MESSAGE_LIBRARY) {
        if (!record->has_library) {
            record->library = *(const struct gpu_library_message *)(const void *)head;
            record->has_library = true;
        }
        return;
    }
    /* The device of every other message stands behind its head. */
    uint32_t device = ((const struct gpu_sample_message *)(const void *)head)->device;
    if (head->kind == GPU_MESSAGE_LATE && device == UINT32_MAX) {
        take_rest(record, head);
        return;
    }
    if (device >= GPU_DEVICES_MAX ||
        (head->kind != GPU_MESSAGE_DEVICE && !record->device[device].known)) {
        return;
    }
    switch (head->kind) {
    case GPU_MESSAGE_DEVICE:
        take_device(record, (const void *)head);
        break;
    case GPU_MESSAGE_SAMPLE:
        take_sample(record, (const void *)head);
        break;
    case GPU_MESSAGE_PROCESSES:
        take_processes(record, (const void *)head);
        break;
    case GPU_MESSAGE_WINDOWS:
        take_windows(record, (const void *)head);
        break;
    default:
        take_rest(record, head);
        break;
    }
}

static void write_switch(const char *key, int64_t mode) {
    if (mode == 0 || mode == 1) {
        printf(" %s=%s", key, mode == 1 ? "on" : "off");
    }
}

static void write_size(const char *key, int64_t bytes) {
    if (bytes != GPU_ABSENT) {
        printf(" %s=%" PRId64, key, bytes);
    }
}

static void write_device(struct record *record, uint32_t device) {
    const struct seen *seen = &record->device[device];
    const struct gpu_device_message *facts = &seen->facts;
    bool slice = facts->kind == GPU_KIND_MIG;
    char name[32];
    const char *called = facts->name[0] != '\0' ? facts->name : "a board without a name";
    printf("%s %s name=\"%s%s\"", slice ? "slice" : "device", device_name(record, device, name),
           called, strstr(called, "stand-in") != NULL ? "" : " stand-in");
    if (record->mask || facts->uuid[0] == '\0') {
        printf(" uuid=%s-00000000-0000-0000-0000-%012" PRIu32, slice ? "MIG" : "GPU", device);
    } else {
        printf(" uuid=%s", facts->uuid);
    }
    write_size("total", facts->total_bytes);
    write_size("reserved", facts->reserved_bytes);
    if (facts->capability_major != GPU_ABSENT) {
        printf(" capability=%" PRId64 ".%" PRId64, facts->capability_major,
               facts->capability_minor);
    }
    if (slice) {
        write_size("gi", facts->gpu_instance);
        write_size("ci", facts->compute_instance);
    } else {
        static const char *const modes[] = {NULL, "none", "passthrough", "vgpu", NULL};
        if (facts->virtual_mode >= 0 && facts->virtual_mode <= GPU_VIRTUAL_WSL &&
            modes[facts->virtual_mode] != NULL) {
            printf(" virtual=%s", modes[facts->virtual_mode]);
        }
        if (facts->bus_id[0] != '\0') {
            printf(" bus=%s", facts->bus_id);
        }
        write_size("minor", facts->minor);
        write_switch("mig", facts->mig_mode);
        write_switch("persistence", facts->persistence);
        write_switch("ecc", facts->ecc_enabled);
        write_size("power-limit", facts->power_limit_mw);
        if (facts->why[GPU_ITEM_ACCOUNTING] == GPU_READ) {
            printf(" accounting=on");
        }
        if (seen->window_ns > 0) {
            printf(" window=%.3f", (double)seen->window_ns / 1e9);
        }
        if (seen->rates) {
            printf(" utilization=rates");
        }
    }
    printf("\n");
}

static void write_all(struct record *record, const char *lines) {
    static const char *const codes[GPU_LIBRARY_COUNT_] = {
        [GPU_LIBRARY_NO_DRIVER] = "DRIVER_NOT_LOADED",
        [GPU_LIBRARY_MISMATCH] = "LIB_RM_VERSION_MISMATCH",
        [GPU_LIBRARY_NO_PERMISSION] = "NO_PERMISSION",
        [GPU_LIBRARY_UNUSABLE] = "UNKNOWN",
    };
    const struct gpu_library_message *library = &record->library;
    printf("# Recorded by nvml-record in %.0f s.\n", seconds(record, record->end_ns));
    if (library->driver[0] != '\0') {
        printf("driver %s\n", library->driver);
    }
    if (library->library[0] != '\0') {
        printf("nvml %s\n", library->library);
    }
    if (library->cuda != GPU_ABSENT) {
        printf("cuda %" PRId64 ".%" PRId64 "\n", library->cuda / 1000, library->cuda % 1000 / 10);
    }
    if (library->state > 0 && library->state < GPU_LIBRARY_COUNT_ &&
        codes[library->state] != NULL) {
        printf("error nvmlInit %s\n", codes[library->state]);
    }
    for (uint32_t i = 0; i < GPU_DEVICES_MAX; i++) {
        if (record->device[i].known) {
            write_device(record, i);
        }
    }
    printf("%s", lines);
    for (uint32_t i = 0; i < GPU_DEVICES_MAX; i++) {
        const struct seen *seen = &record->device[i];
        char name[32];
        if (seen->known && seen->lost) {
            printf("error nvmlDevice GPU_IS_LOST device=%s from=%.2f\n",
                   device_name(record, i, name), seconds(record, seen->lost_ns));
        }
        if (seen->energy_to_ns > seen->energy_from_ns) { /* a straight line stands for the rest */
            printf("%.2f-%.2f %s energy %" PRId64 " %" PRId64 "\n",
                   seconds(record, seen->energy_from_ns), seconds(record, seen->energy_to_ns),
                   device_name(record, i, name), seen->energy_first, seen->energy_last);
        }
    }
}

/* Runs the helper; its pipe's end. The child is killed by the caller. */
static pid_t start(int *ret_fd) {
    int ends[2], image = memfd_create("pl-gpu", 0);
    if (image < 0 || pipe(ends) != 0) {
        return -1;
    }
    for (size_t done = 0; done < gpu_helper_image_size;) {
        ssize_t written = write(image, gpu_helper_image + done, gpu_helper_image_size - done);
        if (written <= 0) {
            return -1;
        }
        done += (size_t)written;
    }
    pid_t pid = fork();
    if (pid == 0) {
        char path[64], fd[16];
        close(ends[0]);
        snprintf(path, sizeof path, "/proc/self/fd/%d", image);
        snprintf(fd, sizeof fd, "%d", ends[1]);
        execl(path, "pl-gpu", fd, "100", (char *)NULL);
        _exit(127);
    }
    close(image);
    close(ends[1]);
    *ret_fd = ends[0];
    return pid;
}

static bool read_whole(int fd, void *to, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t got = read(fd, (char *)to + done, size - done);
        if (got <= 0) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

/* Takes messages until the time is over or the helper ends. */
static void listen_to(struct record *record, int fd, double duration_s) {
    union {
        struct gpu_head head;
        char bytes[GPU_MESSAGE_MAX];
        int64_t aligned;
    } message;
    int64_t until_ns = record->begin_ns + (int64_t)(duration_s * 1e9);
    record->end_ns = record->begin_ns;
    while (record->end_ns < until_ns) {
        struct pollfd waiting = {.fd = fd, .events = POLLIN};
        struct timespec now;
        int ready = poll(&waiting, 1, 100);
        clock_gettime(CLOCK_MONOTONIC, &now);
        record->end_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
        if (ready <= 0) {
            continue;
        }
        if (!read_whole(fd, &message.head, sizeof message.head) ||
            message.head.size < sizeof message.head || message.head.size > sizeof message ||
            !read_whole(fd, message.bytes + sizeof message.head,
                        message.head.size - sizeof message.head)) {
            return;
        }
        take(record, &message.head);
    }
}

int main(int argc, char **argv) {
    bool mask = argc > 1 && strcmp(argv[1], "--mask") == 0;
    double duration_s = argc == 2 + mask ? strtod(argv[1 + mask], NULL) : 0;
    if (duration_s <= 0) {
        fprintf(stderr, "usage: nvml-record [--mask] SECONDS > FILE.trace\n");
        return 2;
    }
    struct record *record = calloc(1, sizeof *record);
    char *lines = NULL;
    size_t size = 0;
    int fd = -1;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (record == NULL || (record->lines = open_memstream(&lines, &size)) == NULL) {
        fprintf(stderr, "nvml-record: %s\n", strerror(errno));
        return 1;
    }
    record->mask = mask;
    record->begin_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    pid_t helper = start(&fd);
    if (helper < 0) {
        fprintf(stderr, "nvml-record: the helper does not start: %s\n", strerror(errno));
        return 1;
    }
    listen_to(record, fd, duration_s);
    kill(helper, SIGKILL);
    waitpid(helper, NULL, 0);
    fclose(record->lines);
    if (!record->has_library || record->library.state == GPU_LIBRARY_ABSENT) {
        fprintf(stderr, "nvml-record: %s\n",
                record->has_library ? record->library.detail : "the helper said nothing");
    } else {
        write_all(record, lines);
    }
    bool done = record->has_library && record->library.state != GPU_LIBRARY_ABSENT;
    free(lines);
    free(record);
    return done && fflush(stdout) == 0 ? 0 : 1;
}
