/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first messages of a helper: the library, its devices, and then a first sample, with which the
 * list of devices is whole. Must not wait for a driver that hangs beyond the time given. */
#include "exec/gpu-look.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/msg.h"
#include "exec/gpu-facts.h"
#include "exec/gpu-watch-parts.h"
#include "exec/shared.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_NS NS_PER_S /* for more devices, behind the first sample */

struct look {
    int fd;
    int64_t start_ns;
    struct gpu_stream stream;
    bool none_shown, has_library, is_ready, has_sample;
    bool is_over;    /* the helper has ended, or writes what is none of ours */
    size_t expected; /* boards */
    size_t boards;   /* that were told */
    struct gpu_library_message library;
    struct gpu_device_message *devices; /* by the helper's number */
    bool told[GPU_DEVICES_MAX];
};

static void take_device(struct look *look, const struct gpu_device_message *message) {
    if (message->device >= GPU_DEVICES_MAX)
        return;
    look->boards += !look->told[message->device] && message->kind == GPU_KIND_BOARD;
    look->told[message->device] = true;
    look->devices[message->device] = *message;
}

static void take(const union gpu_message *any, void *context) {
    struct look *look = context;
    if (any->head.kind == GPU_MESSAGE_LIBRARY) {
        look->library = any->library;
        look->has_library = true;
        look->is_ready = look->library.state == GPU_LIBRARY_READY;
        look->expected = look->library.device_count < GPU_DEVICES_MAX ? look->library.device_count
                                                                      : GPU_DEVICES_MAX;
    } else if (any->head.kind == GPU_MESSAGE_DEVICE) {
        take_device(look, &any->device);
    } else if (any->head.kind == GPU_MESSAGE_SAMPLE) {
        look->has_sample = true;
    }
}

static bool is_whole(const struct look *look) {
    return look->has_library &&
           (!look->is_ready || (look->has_sample && look->boards >= look->expected) ||
            look->expected == 0);
}

/* True: something came, or is still to come. */
static bool read_some(struct look *look, int64_t until_ns) {
    int64_t rest_ns = until_ns - clock_mono_ns();
    struct pollfd watched = {look->fd, POLLIN, 0};
    if (rest_ns <= 0 || poll(&watched, 1, (int)(rest_ns / NS_PER_MS) + 1) == 0)
        return false;
    ssize_t got = gpu_stream_read(&look->stream, look->fd);
    if (got == -EAGAIN)
        return true;
    look->is_over = got <= 0 || !gpu_stream_take(&look->stream, look->start_ns, take, look);
    return !look->is_over;
}

static void collect(struct look *look, int64_t timeout_ns) {
    int64_t until_ns = clock_mono_ns() + timeout_ns;
    bool hurried = false;
    while (!is_whole(look) && read_some(look, until_ns)) {
        /* A board that does not answer must not hide the others: what is there is enough. */
        if (look->has_sample && !hurried) {
            int64_t patience_ns = clock_mono_ns() + PATIENCE_NS;
            until_ns = patience_ns < until_ns ? patience_ns : until_ns;
            hurried = true;
        }
    }
}

static const char *parent_of(const struct look *look, const struct gpu_device_message *message) {
    bool has_parent = message->kind == GPU_KIND_MIG && message->parent >= 0 &&
                      message->parent < (int32_t)GPU_DEVICES_MAX && look->told[message->parent];
    return has_parent ? look->devices[message->parent].uuid : "";
}

static json_t *devices_json(const struct look *look) {
    json_t *list = json_array();
    for (size_t i = 0; i < GPU_DEVICES_MAX; i++) {
        const struct gpu_device_message *message = &look->devices[i];
        if (!look->told[i])
            continue;
        json_t *json = json_object();
        json_put_int(json, "device", (int64_t)i);
        gpu_facts_device(json, message, parent_of(look, message), message->used_bytes);
        gpu_facts_reasons(json, message->why, NULL);
        json_array_append_new(list, json);
    }
    return list;
}

/* It may hang in the driver: killed, and not waited for. */
static void stop(pid_t helper) {
    int status;
    kill(helper, SIGKILL);
    (void)waitpid(helper, &status, WNOHANG);
}

static const char *look_with(struct shared *shared, struct look *look, int64_t timeout_ns) {
    pid_t helper = gpu_start_helper(shared, "", &look->fd, NULL);
    if (helper < 0)
        return _("the GPU helper cannot be started here");
    collect(look, timeout_ns);
    stop(helper);
    fd_close_ptr(&look->fd);
    if (look->has_library)
        return NULL;
    return look->is_over
               ? _("the GPU helper ended without an answer: the GPU library may be broken")
               : _("the GPU driver did not answer in time");
}

const char *gpu_look(int64_t timeout_ns, json_t **ret_library, json_t **ret_devices) {
    enum gpu_devices_shown shown = gpu_devices_look(&root_real);
    *ret_library = NULL;
    *ret_devices = json_array();
    json_t *library = json_object();
    if (!gpu_start_is_worth_it(shown)) {
        json_put_text(library, "state", gpu_facts_state(GPU_LIBRARY_ABSENT));
        *ret_library = library;
        return NULL;
    }
    struct shared *shared = shared_new();
    AUTO_FREE struct look *look = mem_alloc(sizeof *look);
    AUTO_FREE struct gpu_device_message *devices = mem_alloc(GPU_DEVICES_MAX * sizeof *devices);
    look->fd = -1;
    look->start_ns = clock_mono_ns();
    look->none_shown = shown == GPU_DEVICES_NONE;
    look->devices = devices;
    const char *why =
        shared != NULL ? look_with(shared, look, timeout_ns) : _("there is no memory left");
    shared_free(shared);
    if (why != NULL) {
        json_decref(library);
        return why;
    }
    gpu_facts_library(library, &look->library, look->none_shown);
    *ret_library = library;
    json_decref(*ret_devices);
    *ret_devices = devices_json(look);
    return NULL;
}
