/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the GPU helper's messages from standard input and prints each as one line of JSON; what was
 * not read is null. Ends at the end of the input; 1: something was no message. For tests only.
 */
#include "gpu/wire.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void number(const char *key, int64_t value) {
    if (value == GPU_ABSENT) {
        printf(", \"%s\": null", key);
    } else {
        printf(", \"%s\": %" PRId64, key, value);
    }
}

static void text(const char *key, const char *value) {
    printf(", \"%s\": \"", key);
    for (const char *c = value; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            putchar('\\');
        }
        putchar(*c);
    }
    putchar('"');
}

static const char *why_name(int32_t why) {
    static const char *const names[GPU_WHY_COUNT_] = {
        [GPU_READ] = "read",
        [GPU_NOT_SUPPORTED] = "not-supported",
        [GPU_NOT_PERMITTED] = "not-permitted",
        [GPU_NOT_VISIBLE] = "not-visible",
        [GPU_NOT_IN_LIBRARY] = "not-in-library",
        [GPU_SENTINEL] = "sentinel",
        [GPU_UNIFIED] = "unified",
        [GPU_LOST] = "lost",
        [GPU_DRIVER_MISMATCH] = "driver-mismatch",
        [GPU_FAILED] = "failed",
    };
    return why >= 0 && why < GPU_WHY_COUNT_ ? names[why] : "?";
}

static void print_library(const struct gpu_library_message *m) {
    static const char *const states[GPU_LIBRARY_COUNT_] = {"ready",    "absent",        "no-driver",
                                                           "mismatch", "no-permission", "unusable"};
    text("state", m->state >= 0 && m->state < GPU_LIBRARY_COUNT_ ? states[m->state] : "?");
    number("version", m->version);
    number("code", m->code);
    number("device_count", m->device_count);
    number("t_ns", m->t_ns);
    number("cuda", m->cuda);
    text("driver", m->driver);
    text("library", m->library);
    text("path", m->path);
    text("detail", m->detail);
}

static void print_device(const struct gpu_device_message *m) {
    static const char *const items[GPU_ITEM_COUNT_] = {
        "memory", "processes", "utilization", "power", "energy", "clocks",
        "events", "ecc",       "accounting",  "name",  "uuid"};
    number("device", m->device);
    number("t_ns", m->t_ns);
    number("kind", m->kind);
    number("parent", m->parent);
    number("virtual", m->virtual_mode);
    number("unified", m->unified);
    number("mig", m->mig_mode);
    number("memory_api", m->memory_api);
    number("persistence", m->persistence);
    number("lost", m->lost);
    number("index", m->index);
    number("minor", m->minor);
    number("gpu_instance", m->gpu_instance);
    number("compute_instance", m->compute_instance);
    number("total_bytes", m->total_bytes);
    number("reserved_bytes", m->reserved_bytes);
    number("used_bytes", m->used_bytes);
    number("power_limit_mw", m->power_limit_mw);
    number("capability_major", m->capability_major);
    number("capability_minor", m->capability_minor);
    number("ecc", m->ecc_enabled);
    text("uuid", m->uuid);
    text("name", m->name);
    text("bus_id", m->bus_id);
    text("detail", m->detail);
    printf(", \"why\": {");
    for (int i = 0; i < GPU_ITEM_COUNT_; i++) {
        printf("%s\"%s\": \"%s\"", i > 0 ? ", " : "", items[i], why_name(m->why[i]));
    }
    printf("}");
}

static void print_sample(const struct gpu_sample_message *m) {
    number("device", m->device);
    number("asked_ns", m->asked_ns);
    number("answered_ns", m->answered_ns);
    number("used_bytes", m->used_bytes);
    number("total_bytes", m->total_bytes);
    number("power_mw", m->power_mw);
    number("energy_mj", m->energy_mj);
    number("clock_sm_mhz", m->clock_sm_mhz);
    number("clock_memory_mhz", m->clock_memory_mhz);
    number("event_reasons", m->event_reasons);
    number("ecc_uncorrected", m->ecc_uncorrected);
    text("memory_why", why_name(m->memory_why));
    text("power_why", why_name(m->power_why));
    text("energy_why", why_name(m->energy_why));
    text("clock_why", why_name(m->clock_why));
    text("events_why", why_name(m->events_why));
    text("ecc_why", why_name(m->ecc_why));
}

static void print_processes(const struct gpu_processes_message *m) {
    number("device", m->device);
    number("first", m->first);
    number("total", m->total);
    number("api", m->api);
    number("t_ns", m->t_ns);
    text("why", why_name(m->why));
    printf(", \"processes\": [");
    for (uint32_t i = 0; i < m->count && i < GPU_PROCESSES_MAX; i++) {
        printf("%s{\"pid\": %" PRId64, i > 0 ? ", " : "", m->process[i].pid);
        number("bytes", m->process[i].bytes);
        number("gpu_instance", m->process[i].gpu_instance);
        printf("}");
    }
    printf("]");
}

static void print_windows(const struct gpu_windows_message *m) {
    number("device", m->device);
    number("from_rates", m->from_rates);
    number("asked_ns", m->asked_ns);
    text("why", why_name(m->why));
    printf(", \"windows\": [");
    for (uint32_t i = 0; i < m->count && i < GPU_WINDOWS_MAX; i++) {
        printf("%s{\"end_ns\": %" PRId64 ", \"percent\": %d}", i > 0 ? ", " : "",
               m->window[i].end_ns, m->window[i].percent);
    }
    printf("]");
}

static void print_event(const struct gpu_event_message *m) {
    static const char *const events[] = {"?", "xid", "ecc-double", "lost", "back"};
    number("device", m->device);
    text("event", m->event > 0 && m->event <= GPU_EVENT_BACK ? events[m->event] : "?");
    number("t_ns", m->t_ns);
    number("data", m->data);
    text("detail", m->detail);
}

static void print_accounting(const struct gpu_accounting_message *m) {
    number("device", m->device);
    number("pid", m->pid);
    number("peak_bytes", m->peak_bytes);
    number("gpu_percent", m->gpu_percent);
    number("time_ms", m->time_ms);
}

static void print_late(const struct gpu_late_message *m) {
    number("device", m->device);
    number("from_ns", m->from_ns);
    number("to_ns", m->to_ns);
    text("what", m->what);
}

/* False: the size is not that of its kind. */
static int print(const struct gpu_head *head) {
    static const char *const kinds[] = {"?",       "library", "device",     "sample", "processes",
                                        "windows", "event",   "accounting", "late",   "done"};
    static const uint32_t sizes[] = {0,
                                     sizeof(struct gpu_library_message),
                                     sizeof(struct gpu_device_message),
                                     sizeof(struct gpu_sample_message),
                                     sizeof(struct gpu_processes_message),
                                     sizeof(struct gpu_windows_message),
                                     sizeof(struct gpu_event_message),
                                     sizeof(struct gpu_accounting_message),
                                     sizeof(struct gpu_late_message),
                                     sizeof(struct gpu_done_message)};
    if (head->kind == 0 || head->kind > GPU_MESSAGE_DONE) {
        return 0;
    }
    uint32_t size = sizes[head->kind];
    if (head->kind == GPU_MESSAGE_PROCESSES) { /* as long as its list */
        const struct gpu_processes_message *m = (const void *)head;
        size = (uint32_t)(offsetof(struct gpu_processes_message, process) +
                          m->count * sizeof m->process[0]);
    }
    if (head->size != size) {
        return 0;
    }
    printf("{\"message\": \"%s\"", kinds[head->kind]);
    switch (head->kind) {
    case GPU_MESSAGE_LIBRARY:
        print_library((const void *)head);
        break;
    case GPU_MESSAGE_DEVICE:
        print_device((const void *)head);
        break;
    case GPU_MESSAGE_SAMPLE:
        print_sample((const void *)head);
        break;
    case GPU_MESSAGE_PROCESSES:
        print_processes((const void *)head);
        break;
    case GPU_MESSAGE_WINDOWS:
        print_windows((const void *)head);
        break;
    case GPU_MESSAGE_EVENT:
        print_event((const void *)head);
        break;
    case GPU_MESSAGE_ACCOUNTING:
        print_accounting((const void *)head);
        break;
    case GPU_MESSAGE_LATE:
        print_late((const void *)head);
        break;
    default:
        break;
    }
    printf("}\n");
    fflush(stdout);
    return 1;
}

/* A read of a pipe may end within a message. */
static int take(void *to, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t got = read(STDIN_FILENO, (char *)to + done, size - done);
        if (got <= 0) {
            return done == 0 && got == 0 ? 0 : -1;
        }
        done += (size_t)got;
    }
    return 1;
}

int main(void) {
    union {
        struct gpu_head head;
        char bytes[GPU_MESSAGE_MAX];
        int64_t aligned;
    } message;
    for (;;) {
        int got = take(&message.head, sizeof message.head);
        if (got == 0) {
            return 0;
        }
        uint32_t size = message.head.size;
        if (got < 0 || size < sizeof message.head || size > sizeof message ||
            take(message.bytes + sizeof message.head, size - sizeof message.head) <= 0 ||
            !print(&message.head)) {
            fprintf(stderr, "read-messages: not a message\n");
            return 1;
        }
    }
}
