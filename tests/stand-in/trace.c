/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the script of the stand-in (README.md). A line that it does not understand is an error: a
 * test must not run on half a script. */
#include "trace.h"

#include "gpu/nvml-abi.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 32, LINE_BYTES = 4096 };

struct words {
    char *word[WORDS_MAX];
    int count;
};

#define GROW(array, count) \
    (((array) = realloc((array), ((size_t)(count) + 1) * sizeof *(array))), &(array)[(count)++])

static const struct {
    const char *name;
    int code;
} codes[] = {
    {"NOT_SUPPORTED", NVML_NOT_SUPPORTED},
    {"NO_PERMISSION", NVML_NO_PERMISSION},
    {"NOT_FOUND", NVML_NOT_FOUND},
    {"INSUFFICIENT_SIZE", NVML_INSUFFICIENT_SIZE},
    {"DRIVER_NOT_LOADED", NVML_DRIVER_NOT_LOADED},
    {"TIMEOUT", NVML_TIMEOUT},
    {"FUNCTION_NOT_FOUND", NVML_FUNCTION_NOT_FOUND},
    {"GPU_IS_LOST", NVML_GPU_IS_LOST},
    {"RESET_REQUIRED", NVML_RESET_REQUIRED},
    {"LIB_RM_VERSION_MISMATCH", NVML_LIB_RM_VERSION_MISMATCH},
    {"INVALID_ARGUMENT", NVML_INVALID_ARGUMENT},
    {"NO_DATA", NVML_NO_DATA},
    {"UNKNOWN", NVML_UNKNOWN},
};

/* Words at blanks; quotes hold blanks together and are dropped. */
static void split(char *line, struct words *ret) {
    ret->count = 0;
    char *in = line, *out = line;
    while (*in != '\0' && *in != '#' && ret->count < WORDS_MAX) {
        if (strchr(" \t\r\n", *in) != NULL) {
            in++;
            continue;
        }
        ret->word[ret->count++] = out;
        bool quoted = false;
        while (*in != '\0' && (quoted || strchr(" \t\r\n", *in) == NULL)) {
            if (*in == '"') {
                quoted = !quoted;
            } else {
                *out++ = *in;
            }
            in++;
        }
        in += *in != '\0';
        *out++ = '\0';
    }
}

/* The value of key=value among the words from the given one on; NULL: not there. */
static const char *find(const struct words *words, int from, const char *key) {
    size_t length = strlen(key);
    for (int i = from; i < words->count; i++) {
        if (strncmp(words->word[i], key, length) == 0 && words->word[i][length] == '=') {
            return words->word[i] + length + 1;
        }
    }
    return NULL;
}

/* A number with an optional unit; 0x… as it stands; "blank": all ones. */
static bool number(const char *text, uint64_t *ret) {
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"", 1}, {"B", 1}, {"KiB", 1024}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
    char *end = NULL;
    if (strcmp(text, "blank") == 0 || strcmp(text, "none") == 0) {
        *ret = UINT64_MAX;
        return true;
    }
    if (strncmp(text, "0x", 2) == 0 || strpbrk(text, ".") == NULL) {
        *ret = strtoull(text, &end, 0);
        if (end != text && *end == '\0') {
            return true;
        }
    }
    double value = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof units[0] && end != text && value >= 0; i++) {
        if (strcmp(end, units[i].unit) == 0) {
            *ret = (uint64_t)(value * units[i].factor);
            return true;
        }
    }
    return false;
}

static uint64_t number_or(const char *text, uint64_t otherwise) {
    uint64_t value = 0;
    return text != NULL && number(text, &value) ? value : otherwise;
}

static double seconds_or(const char *text, double otherwise) {
    return text == NULL ? otherwise : strtod(text, NULL);
}

static void copy(char *to, size_t size, const char *text) {
    snprintf(to, size, "%s", text == NULL ? "" : text);
}

/* on, off; absent: not supported. */
static int switch_of(const char *text) {
    return text == NULL ? -1 : strcmp(text, "on") == 0 ? 1 : 0;
}

static int device_of(const struct trace *trace, const char *text) {
    if (text == NULL || strcmp(text, "*") == 0) {
        return -1;
    }
    char *end = NULL;
    long board = strtol(text, &end, 10), slice = *end == '.' ? strtol(end + 1, &end, 10) : -1;
    for (int i = 0; i < trace->devices && *end == '\0'; i++) {
        const struct trace_device *device = &trace->device[i];
        if (slice < 0 ? device->parent < 0 && device->position == board
                      : device->parent >= 0 && device->position == slice &&
                            trace->device[device->parent].position == board) {
            return i;
        }
    }
    return -2;
}

static bool read_device(struct trace *trace, const struct words *words, bool slice) {
    int parent = -1, position = -1;
    const char *name = find(words, 2, "name"), *uuid = find(words, 2, "uuid");
    if (words->count < 2 || name == NULL || uuid == NULL || strstr(name, "stand-in") == NULL) {
        return false; /* it must never be taken for a real one */
    }
    char *end = NULL;
    position = (int)strtol(words->word[1], &end, 10);
    if (slice) {
        char board[16];
        snprintf(board, sizeof board, "%d", position);
        parent = device_of(trace, board);
        position = *end == '.' ? (int)strtol(end + 1, &end, 10) : -1;
    }
    if (*end != '\0' || position < 0 || (slice && parent < 0) || trace->devices >= DEVICES_MAX) {
        return false;
    }
    struct trace_device *device = GROW(trace->device, trace->devices);
    *device = (struct trace_device){.parent = parent, .position = position};
    copy(device->name, sizeof device->name, name);
    copy(device->uuid, sizeof device->uuid, uuid);
    copy(device->bus, sizeof device->bus, find(words, 2, "bus"));
    device->total = number_or(find(words, 2, "total"), 0);
    device->reserved = number_or(find(words, 2, "reserved"), 0);
    device->minor = (int)number_or(find(words, 2, "minor"), (uint64_t)-1);
    const char *capability = find(words, 2, "capability");
    if (capability != NULL) {
        sscanf(capability, "%d.%d", &device->major_capability, &device->minor_capability);
    }
    const char *mode = find(words, 2, "virtual");
    device->virtual_mode = mode == NULL                       ? -1
                           : strcmp(mode, "passthrough") == 0 ? 1
                           : strcmp(mode, "vgpu") == 0        ? 2
                                                              : 0;
    device->persistence = switch_of(find(words, 2, "persistence"));
    device->ecc = switch_of(find(words, 2, "ecc"));
    device->mig = switch_of(find(words, 2, "mig"));
    device->accounting = switch_of(find(words, 2, "accounting"));
    device->power_limit_mw = (unsigned)number_or(find(words, 2, "power-limit"), 0);
    device->gpu_instance = (uint32_t)number_or(find(words, 2, "gi"), NVML_INSTANCE_NONE);
    device->compute_instance = (uint32_t)number_or(find(words, 2, "ci"), NVML_INSTANCE_NONE);
    device->window_s = seconds_or(find(words, 2, "window"), 1.0 / 6);
    const char *utilization = find(words, 2, "utilization");
    device->rates_only = utilization != NULL && strcmp(utilization, "rates") == 0;
    device->dry = utilization != NULL && strcmp(utilization, "dry") == 0;
    const char *stamps = find(words, 2, "stamps");
    device->boot_stamps = stamps != NULL && strcmp(stamps, "boot") == 0;
    return device->window_s > 0;
}

static bool read_fault(struct trace *trace, const struct words *words, bool delay) {
    if (words->count < 3) {
        return false;
    }
    struct trace_fault fault = {
        .device = device_of(trace, find(words, 3, "device")),
        .from = seconds_or(find(words, 3, "from"), 0),
        .to = seconds_or(find(words, 3, "to"), HUGE_VAL),
    };
    copy(fault.function, sizeof fault.function,
         strcmp(words->word[1], "*") == 0 ? "nvml" : words->word[1]);
    if (delay) {
        fault.delay_s = strtod(words->word[2], NULL);
    }
    for (size_t i = 0; i < sizeof codes / sizeof codes[0] && !delay; i++) {
        fault.code = strcmp(codes[i].name, words->word[2]) == 0 ? codes[i].code : fault.code;
    }
    *GROW(trace->fault, trace->faults) = fault;
    return fault.device != -2 && (delay ? fault.delay_s > 0 : fault.code != 0);
}

/* A number; "tree" and "tree:N" are line 1 and N of the file of pids, kept as negative numbers. */
static int64_t pid_of(const char *text) {
    if (text != NULL && strncmp(text, "tree", 4) == 0) {
        return text[4] == ':' ? -strtol(text + 5, NULL, 10) : -1;
    }
    return text == NULL ? 0 : strtoll(text, NULL, 10);
}

static bool read_process(struct trace *trace, const struct words *words, int device, double t) {
    const char *kind = find(words, 3, "kind");
    struct trace_process process = {
        .device = device,
        .from = t,
        .to = HUGE_VAL,
        .pid = pid_of(find(words, 3, "pid")),
        .used = number_or(find(words, 3, "used"), UINT64_MAX),
        .kind = kind == NULL                    ? PROCESS_COMPUTE
                : strcmp(kind, "graphics") == 0 ? PROCESS_GRAPHICS
                : strcmp(kind, "mps") == 0      ? PROCESS_MPS
                                                : PROCESS_COMPUTE,
        .gpu_instance = (uint32_t)number_or(find(words, 3, "gi"), NVML_INSTANCE_NONE),
    };
    bool gone = strcmp(words->word[2], "gone") == 0;
    for (int i = 0; i < trace->processes; i++) { /* the next word about a process ends the last */
        struct trace_process *known = &trace->process[i];
        if (known->device == device && known->pid == process.pid && known->to > t &&
            (gone || known->kind == process.kind)) {
            known->to = t;
        }
    }
    if (!gone) {
        *GROW(trace->process, trace->processes) = process;
    }
    return process.pid != 0 || find(words, 3, "pid") != NULL;
}

static bool read_value(struct trace *trace, const struct words *words, int device, double from,
                       double to) {
    static const char *const items[ITEM_COUNT_] = {
        [ITEM_USED] = "used",         [ITEM_UTIL] = "util",
        [ITEM_POWER] = "power",       [ITEM_ENERGY] = "energy",
        [ITEM_SM_CLOCK] = "sm-clock", [ITEM_MEMORY_CLOCK] = "memory-clock",
        [ITEM_REASONS] = "reasons",   [ITEM_ECC] = "ecc-errors",
    };
    static const char plus[] = "processes+";
    for (int i = 0; i < ITEM_COUNT_; i++) {
        if (strcmp(words->word[2], items[i]) != 0 || words->count < 4) {
            continue;
        }
        struct trace_point point = {
            .device = device, .item = (enum trace_item)i, .from = from, .to = to};
        const char *a = words->word[3];
        point.plus_processes = strncmp(a, plus, sizeof plus - 1) == 0;
        a += point.plus_processes ? sizeof plus - 1 : 0;
        const char *b = words->count > 4 ? words->word[4] : a;
        *GROW(trace->point, trace->points) = point;
        struct trace_point *kept = &trace->point[trace->points - 1];
        return number(a, &kept->a) && number(b, &kept->b);
    }
    return false;
}

/* TIME[-TIME] DEVICE ITEM … */
static bool read_moment(struct trace *trace, const struct words *words) {
    char *end = NULL;
    double from = strtod(words->word[0], &end);
    double to = *end == '-' ? strtod(end + 1, &end) : from;
    int device = words->count > 2 ? device_of(trace, words->word[1]) : -2;
    if (*end != '\0' || end == words->word[0] || device < 0 || to < from) {
        return false;
    }
    const char *item = words->word[2];
    bool xid = strcmp(item, "xid") == 0;
    if (strcmp(item, "process") == 0 || strcmp(item, "gone") == 0) {
        return read_process(trace, words, device, from);
    }
    if (xid || strcmp(item, "ecc-double") == 0) {
        *GROW(trace->event, trace->events) =
            (struct trace_event){.device = device,
                                 .at = from,
                                 .type = xid ? NVML_EVENT_XID : NVML_EVENT_DOUBLE_BIT_ECC,
                                 .data = words->count > 3 ? strtoull(words->word[3], NULL, 10) : 0};
        return words->count > 3;
    }
    if (strcmp(item, "accounting") == 0) {
        *GROW(trace->accounted, trace->accounteds) = (struct trace_accounted){
            .device = device,
            .from = from,
            .pid = pid_of(find(words, 3, "pid")),
            .peak = number_or(find(words, 3, "peak"), UINT64_MAX),
            .percent = (uint32_t)number_or(find(words, 3, "percent"), UINT32_MAX),
            .time_ms = number_or(find(words, 3, "ms"), 0),
            .running = switch_of(find(words, 3, "running")) == 1,
        };
        return find(words, 3, "pid") != NULL;
    }
    return read_value(trace, words, device, from, to);
}

static bool read_line(struct trace *trace, const struct words *words) {
    const char *first = words->word[0];
    const char *second = words->count > 1 ? words->word[1] : NULL;
    if (strcmp(first, "driver") == 0 && second != NULL) {
        copy(trace->driver, sizeof trace->driver, second);
        return true;
    }
    if (strcmp(first, "nvml") == 0 && second != NULL) {
        copy(trace->nvml, sizeof trace->nvml, second);
        return true;
    }
    if (strcmp(first, "cuda") == 0 && second != NULL) {
        int major = 0, minor = 0;
        bool read = sscanf(second, "%d.%d", &major, &minor) == 2;
        trace->cuda = major * 1000 + minor * 10;
        return read;
    }
    if (strcmp(first, "entry") == 0 && second != NULL) {
        trace->entry_bytes = (int)strtol(second, NULL, 10);
        return trace->entry_bytes == 16 || trace->entry_bytes == 24 || trace->entry_bytes == 32;
    }
    if (strcmp(first, "exchange") == 0 && words->count == 4) {
        trace->exchange_from = strtod(second, NULL);
        trace->exchange_to = strtod(words->word[2], NULL);
        copy(trace->exchanged, sizeof trace->exchanged, words->word[3]);
        return true;
    }
    if (strcmp(first, "device") == 0 || strcmp(first, "slice") == 0) {
        return read_device(trace, words, first[0] == 's');
    }
    if (strcmp(first, "error") == 0 || strcmp(first, "delay") == 0) {
        return read_fault(trace, words, first[0] == 'd');
    }
    return read_moment(trace, words);
}

struct trace *trace_read(const char *path) {
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        fprintf(stderr, "stand-in: %s: cannot be opened\n", path);
        return NULL;
    }
    struct trace *trace = calloc(1, sizeof *trace);
    trace->exchange_from = trace->exchange_to = HUGE_VAL;
    char line[LINE_BYTES];
    bool good = true;
    for (int number_of_line = 1; fgets(line, sizeof line, file) != NULL; number_of_line++) {
        struct words words;
        split(line, &words);
        if (words.count > 0 && !read_line(trace, &words)) {
            fprintf(stderr, "stand-in: %s:%d: not understood\n", path, number_of_line);
            good = false;
        }
    }
    fclose(file);
    return good ? trace : trace_free(trace);
}

struct trace *trace_free(struct trace *trace) {
    if (trace != NULL) {
        free(trace->device);
        free(trace->point);
        free(trace->process);
        free(trace->event);
        free(trace->accounted);
        free(trace->fault);
        free(trace);
    }
    return NULL;
}

bool trace_value(const struct trace *trace, int device, enum trace_item item, double t,
                 uint64_t *ret_value, bool *ret_plus_processes) {
    bool found = false;
    for (int i = 0; i < trace->points; i++) {
        const struct trace_point *point = &trace->point[i];
        if (point->device != device || point->item != item || point->from > t) {
            continue;
        }
        found = true;
        *ret_plus_processes = point->plus_processes;
        *ret_value = point->b;
        if (t < point->to) {
            double part = (t - point->from) / (point->to - point->from);
            *ret_value =
                (uint64_t)((double)point->a + part * ((double)point->b - (double)point->a));
        }
    }
    return found;
}
