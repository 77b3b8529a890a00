/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Driver and devices: what is there, what does not answer, what is in use already. */
#include "doctor/parts.h"

#include "base/msg.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* More than a context of the driver itself takes: somebody computes there. */
#define IDLE_BOARD_BYTES 1e9

const char *doctor_device_name(struct judging *judging, const json_t *device) {
    const char *name = json_get_text(device, "name", NULL);
    int64_t index = json_get_int(device, "index", -1);
    if (name == NULL)
        return arena_printf(judging->arena, _("GPU %lld"), (long long)index);
    if (index < 0)
        return doctor_plain(judging, name);
    return arena_printf(judging->arena, "%s (GPU %lld)", doctor_plain(judging, name),
                        (long long)index);
}

bool doctor_capability(const json_t *device, unsigned *ret_major, unsigned *ret_minor) {
    const char *text = json_get_text(device, "compute_capability", "");
    return sscanf(text, "%3u.%3u", ret_major, ret_minor) == 2;
}

bool doctor_has_library(const struct doctor_input *input) {
    return input->library != NULL &&
           strcmp(json_get_text(input->library, "state", ""), "ready") == 0;
}

static bool is_slice(const json_t *device) {
    return strcmp(json_get_text(device, "kind", "gpu"), "mig") == 0;
}

/* The library does not answer: what the kernel's own files say stands beside it. */
static void judge_no_library(struct judging *judging) {
    static const struct {
        const char *state, *id, *text, *advice;
        enum doctor_state level;
    } answers[] = {
        {"no-driver", "gpu-no-driver",
         N_("NVIDIA's library is there, but its driver is not loaded"),
         N_("load the kernel module (modprobe nvidia), or start the container with the GPUs "
            "(--gpus all)"),
         DOCTOR_PROBLEM},
        {"mismatch", "gpu-driver-mismatch",
         N_("driver and library are of different versions: the driver was exchanged since the "
            "machine started"),
         N_("restart the machine, or load the new kernel module"), DOCTOR_PROBLEM},
        {"no-permission", "gpu-no-permission",
         N_("the GPUs' device files may not be opened by this user"),
         N_("ask for access to /dev/nvidia* (often the group 'video' or 'render')"),
         DOCTOR_PROBLEM},
        {"unusable", "gpu-library-unusable", N_("NVIDIA's library was found but does not work"),
         N_("look at what 'nvidia-smi' says"), DOCTOR_PROBLEM},
    };
    const struct doctor_input *input = judging->input;
    const json_t *kernel = json_get_object(input->environment, "gpu");
    int64_t count = json_get_int(kernel, "count", -1);
    const char *state = json_get_text(input->library, "state", "");
    for (size_t i = 0; i < ARRAY_LENGTH(answers); i++)
        if (strcmp(state, answers[i].state) == 0) {
            (void)doctor_add(judging, DOCTOR_GPU, answers[i].id, answers[i].level,
                             msg_get(answers[i].text), msg_get(answers[i].advice));
            return;
        }
    if (count == 0 && strcmp(state, "absent") == 0)
        (void)doctor_add(judging, DOCTOR_GPU, "gpu-none", DOCTOR_KNOWN,
                         _("no GPU: the kernel shows none and there is no NVIDIA library"), NULL);
    else if (count > 0)
        (void)doctor_add(
            judging, DOCTOR_GPU, "gpu-no-library", DOCTOR_WARNING,
            arena_printf(judging->arena,
                         msg_plural((unsigned long)count,
                                    "the kernel shows %lld GPU, but no library tells its memory",
                                    "the kernel shows %lld GPUs, but no library tells their "
                                    "memory"),
                         (long long)count),
            _("for NVIDIA: make libnvidia-ml.so.1 visible (in containers: "
              "NVIDIA_DRIVER_CAPABILITIES with 'utility')"));
    else
        (void)doctor_add(judging, DOCTOR_GPU, "gpu-open", DOCTOR_OPEN,
                         input->no_gpu_answer != NULL ? input->no_gpu_answer
                                                      : _("whether there is a GPU was not told"),
                         NULL);
}

static void judge_driver(struct judging *judging) {
    const json_t *library = judging->input->library;
    const char *driver = json_get_text(library, "driver", NULL);
    const char *cuda = json_get_text(library, "cuda", NULL);
    if (driver == NULL) {
        (void)doctor_add(judging, DOCTOR_GPU, "gpu-driver", DOCTOR_OPEN,
                         _("the driver does not tell its version"), NULL);
        return;
    }
    const char *text =
        cuda != NULL ? arena_printf(judging->arena, _("driver %s, for CUDA up to %s"),
                                    doctor_plain(judging, driver), doctor_plain(judging, cuda))
                     : arena_printf(judging->arena, _("driver %s; up to which CUDA is not told"),
                                    doctor_plain(judging, driver));
    (void)doctor_add(judging, DOCTOR_GPU, "gpu-driver", DOCTOR_KNOWN, text, NULL);
}

static void judge_memory(struct judging *judging, const json_t *device, const char *name) {
    double total = (double)json_get_int(device, "total_bytes", -1);
    double used = (double)json_get_int(device, "baseline_bytes", -1);
    if (total < 0) {
        const char *why =
            json_get_text(json_get_object(device, "reasons"), "memory", "not-supported");
        bool unified = json_is_true(json_object_get(device, "unified"));
        (void)doctor_add(
            judging, DOCTOR_GPU, "gpu-memory", DOCTOR_OPEN,
            unified ? arena_printf(judging->arena,
                                   _("%s shares its memory with the host and has no figure of its "
                                     "own"),
                                   name)
                    : arena_printf(judging->arena, _("%s does not tell its memory (%s)"), name,
                                   doctor_plain(judging, why)),
            NULL);
        return;
    }
    struct quantity quantity = quantity_measured(UNIT_BYTE, total, "NVML");
    if (used > IDLE_BOARD_BYTES) {
        doctor_add_quantity(
            doctor_add(judging, DOCTOR_GPU, "gpu-in-use", DOCTOR_WARNING,
                       arena_printf(judging->arena, _("%s: %s of %s are in use already"), name,
                                    doctor_bytes(judging, used), doctor_bytes(judging, total)),
                       _("see who computes there ('nvidia-smi'); what they hold is missing from "
                         "your run, and their work makes times differ")),
            quantity);
        return;
    }
    doctor_add_quantity(
        doctor_add(judging, DOCTOR_GPU, is_slice(device) ? "gpu-slice" : "gpu-device", DOCTOR_KNOWN,
                   arena_printf(judging->arena, "%s, %s", name, doctor_bytes(judging, total)),
                   NULL),
        quantity);
}

static void judge_device(struct judging *judging, const json_t *device) {
    const char *name = doctor_device_name(judging, device);
    if (json_is_true(json_object_get(device, "lost"))) {
        (void)doctor_add(judging, DOCTOR_GPU, "gpu-lost", DOCTOR_PROBLEM,
                         arena_printf(judging->arena, _("%s does not answer any more"), name),
                         _("look for 'Xid' in the kernel log; the machine or the board needs a "
                           "restart: rent another one"));
        return;
    }
    judge_memory(judging, device, name);
    if (json_is_true(json_object_get(device, "stand_in")))
        (void)doctor_add(judging, DOCTOR_GPU, "gpu-stand-in", DOCTOR_WARNING,
                         arena_printf(judging->arena, _("%s is a stand-in, no real device"), name),
                         _("nothing that is measured on it counts as evidence"));
    if (json_is_true(json_object_get(device, "mig")) && !is_slice(device))
        (void)doctor_add(judging, DOCTOR_GPU, "gpu-mig", DOCTOR_WARNING,
                         arena_printf(judging->arena,
                                      _("%s is divided into slices (MIG): utilisation is not told "
                                        "for them"),
                                      name),
                         NULL);
    if (strcmp(json_get_text(device, "virtual", ""), "vgpu") == 0)
        (void)doctor_add(judging, DOCTOR_GPU, "gpu-virtual", DOCTOR_WARNING,
                         arena_printf(judging->arena,
                                      _("%s is a virtual GPU: its memory is a share, and who else "
                                        "computes on the board is hidden"),
                                      name),
                         NULL);
    json_t *persistence = json_object_get(device, "persistence");
    if (json_is_false(persistence))
        (void)doctor_add(judging, DOCTOR_GPU, "gpu-persistence", DOCTOR_WARNING,
                         arena_printf(judging->arena,
                                      _("%s: persistence mode is off, so each first use of the GPU "
                                        "takes seconds"),
                                      name),
                         _("as root: nvidia-smi -pm 1"));
}

void doctor_judge_gpu(struct judging *judging) {
    const struct doctor_input *input = judging->input;
    if (!doctor_has_library(input)) {
        judge_no_library(judging);
        return;
    }
    judge_driver(judging);
    if (json_array_size(input->devices) == 0)
        (void)doctor_add(judging, DOCTOR_GPU, "gpu-none", DOCTOR_PROBLEM,
                         _("the driver works, but shows no GPU"),
                         _("check NVIDIA_VISIBLE_DEVICES, and that the GPUs were handed to the "
                           "container or job"));
    for (size_t i = 0; i < json_array_size(input->devices); i++)
        judge_device(judging, json_array_get(input->devices, i));
}
