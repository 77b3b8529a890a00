/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plan's environment against the machine, and the machine as an environment to paste. */
#include "doctor/parts.h"

#include "base/msg.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* ---- contradictions ---- */

/* "NVIDIA H200" in a plan means every device whose name holds it. */
static bool name_means(const char *planned, const char *found) {
    return strcasestr(found, planned) != NULL || strcasestr(planned, found) != NULL;
}

static const char *first_gpu(struct judging *judging) {
    const struct doctor_input *input = judging->input;
    const json_t *device = json_array_get(input->devices, 0);
    const json_t *kernel = json_get_object(input->environment, "gpu");
    const char *name = json_get_text(device, "name", NULL);
    if (name == NULL)
        name = json_get_text(json_array_get(json_object_get(kernel, "devices"), 0), "name", NULL);
    return name != NULL ? doctor_plain(judging, name) : NULL;
}

/* Boards; -1: not known. A library that is there but does not work knows more than the kernel's
 * files show: beside it a count of the kernel's, 0 above all, says nothing. */
static int64_t gpu_count(const struct judging *judging) {
    const struct doctor_input *input = judging->input;
    if (!doctor_has_library(input)) {
        bool is_absent = strcmp(json_get_text(input->library, "state", ""), "absent") == 0;
        const json_t *kernel = json_get_object(input->environment, "gpu");
        return is_absent ? json_get_int(kernel, "count", -1) : -1;
    }
    int64_t told = json_get_int(input->library, "count", -1), boards = 0;
    int64_t listed = (int64_t)json_array_size(input->devices);
    for (int64_t i = 0; i < listed; i++) {
        const json_t *device = json_array_get(input->devices, (size_t)i);
        boards += strcmp(json_get_text(device, "kind", "gpu"), "mig") != 0;
    }
    return told >= 0 ? told : boards > 0 ? boards : listed;
}

static const char *driver_of(const struct judging *judging) {
    const json_t *kernel = json_get_object(judging->input->environment, "gpu");
    return json_get_text(judging->input->library, "driver", json_get_text(kernel, "driver", NULL));
}

static void add_contradiction(struct judging *judging, const char *id, const char *text) {
    (void)doctor_add(judging, DOCTOR_PLAN, id, DOCTOR_PROBLEM, text,
                     _("this is another environment than the plan's: correct the plan, or name the "
                       "environment that is meant (--env)"));
}

static void judge_environment(struct judging *judging, const struct plan_environment *target) {
    size_t before = judging->findings->count;
    const char *id = doctor_plain(judging, target->id), *gpu = first_gpu(judging);
    int64_t count = gpu_count(judging);
    if (target->gpus.given && count >= 0 && count < target->gpus.value)
        add_contradiction(judging, "plan-gpu-count",
                          arena_printf(judging->arena,
                                       _("environment '%s' has %lld GPUs in the plan, %lld here"),
                                       id, (long long)target->gpus.value, (long long)count));
    if (target->gpu != NULL && gpu != NULL && !name_means(target->gpu, gpu))
        add_contradiction(judging, "plan-gpu",
                          arena_printf(judging->arena,
                                       _("environment '%s' has %s in the plan, %s here"), id,
                                       doctor_plain(judging, target->gpu), gpu));
    const char *driver = driver_of(judging);
    if (target->driver != NULL && driver != NULL &&
        strtol(target->driver, NULL, 10) != strtol(driver, NULL, 10))
        add_contradiction(
            judging, "plan-driver",
            arena_printf(judging->arena, _("environment '%s' has driver %s in the plan, %s here"),
                         id, doctor_plain(judging, target->driver), doctor_plain(judging, driver)));
    if (judging->findings->count > before)
        return;
    if (!target->gpus.given && target->gpu == NULL && target->driver == NULL) {
        (void)doctor_add(judging, DOCTOR_PLAN, "plan-silent", DOCTOR_OPEN,
                         arena_printf(judging->arena,
                                      _("the plan says nothing of environment '%s' that could be "
                                        "held against this machine"),
                                      id),
                         _("write its gpu, gpus and driver into the plan"));
        return;
    }
    bool is_open = (target->gpus.given && count < 0) || (target->gpu != NULL && gpu == NULL) ||
                   (target->driver != NULL && driver == NULL);
    (void)doctor_add(judging, DOCTOR_PLAN, is_open ? "plan-open" : "plan-agrees",
                     is_open ? DOCTOR_OPEN : DOCTOR_KNOWN,
                     arena_printf(judging->arena,
                                  is_open
                                      ? _("not everything that the plan says of environment '%s' "
                                          "could be seen here")
                                      : _("nothing contradicts what the plan says of environment "
                                          "'%s'"),
                                  id),
                     NULL);
}

void doctor_judge_plan(struct judging *judging) {
    const struct doctor_input *input = judging->input;
    if (input->plan == NULL)
        return;
    if (input->target != NULL)
        judge_environment(judging, input->target);
    else
        (void)doctor_add(judging, DOCTOR_PLAN, "plan-no-environment", DOCTOR_OPEN,
                         _("the plan names no environment to hold this machine against"),
                         _("paste the snippet below into it"));
}

/* ---- the snippet ---- */

void doctor_add_quoted(struct strbuf *out, const char *text) {
    strbuf_add_char(out, '"');
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, *at);
    }
    strbuf_add_char(out, '"');
}

static void add_capacity(struct judging *judging, struct strbuf *out) {
    const struct doctor_input *input = judging->input;
    int64_t gpu = json_get_int(json_array_get(input->devices, 0), "total_bytes", -1);
    const json_t *environment = input->environment;
    struct quantity memory =
        doctor_quantity(judging, json_get_object(environment, "limits"), "memory", UNIT_BYTE);
    if (!quantity_is_known(&memory))
        memory =
            doctor_quantity(judging, json_get_object(environment, "totals"), "memory", UNIT_BYTE);
    if (gpu < 0 && !quantity_is_known(&memory))
        return;
    strbuf_add_str(out, "    capacity: {");
    if (gpu >= 0)
        strbuf_printf(out, "gpu_memory: %lld B, ", (long long)gpu);
    if (quantity_is_known(&memory))
        strbuf_printf(out, "host_memory: %.0f B, ", memory.value);
    strbuf_add_str(out, "source: probelauf doctor}\n");
}

const char *doctor_snippet(struct judging *judging) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    const char *gpu = first_gpu(judging), *driver = driver_of(judging);
    int64_t count = gpu_count(judging);
    const struct plan *plan = judging->input->plan;
    doctor_add_section(&out, "environments:", _("1 environment"),
                       plan != NULL && plan->environment_count > 0);
    strbuf_add_str(&out, "  - id: here\n    kind: rented  # or own, institute, macos\n");
    if (gpu != NULL) {
        strbuf_add_str(&out, "    gpu: ");
        doctor_add_quoted(&out, gpu);
        strbuf_add_char(&out, '\n');
    }
    if (count >= 0)
        strbuf_printf(&out, "    gpus: %lld\n", (long long)count);
    if (driver != NULL) {
        strbuf_add_str(&out, "    driver: ");
        doctor_add_quoted(&out, doctor_plain(judging, driver));
        strbuf_add_char(&out, '\n');
    }
    add_capacity(judging, &out);
    return arena_strdup(judging->arena, strbuf_str(&out));
}
