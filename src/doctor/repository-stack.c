/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the code needs of a machine, and each environment of the plan against it. Code that only
 * CUDA runs never fits a Mac or another accelerator; where the clone contradicts nothing that is
 * said, and not that it runs.
 */
#include "doctor/parts.h"

#include "base/msg.h"
#include "base/str.h"
#include "model/version.h"
#include "plan/fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Packages with GPU code. cuda: for NVIDIA's GPUs only, or the build that this name means is;
 * otherwise there are builds for others, apart from it. None of them has kernels for a Mac's GPU.
 */
static const struct {
    const char *package; /* "x*": what begins so */
    const char *module;  /* as it is imported; NULL: only the package is looked for */
    bool cuda;
    const char *why;
} packages[] = {
    {"flash-attn", "flash_attn", false, N_("attention kernels, built for NVIDIA's GPUs")},
    {"flash-attn-3", "flash_attn_interface", true, N_("attention kernels for NVIDIA's Hopper")},
    {"flashinfer*", "flashinfer", true, N_("attention kernels for NVIDIA's GPUs")},
    {"triton", "triton", false, N_("compiles kernels for a GPU when it runs")},
    {"xformers", "xformers", false, N_("attention kernels, built for NVIDIA's GPUs")},
    {"bitsandbytes", "bitsandbytes", false, N_("quantised kernels, built for NVIDIA's GPUs")},
    {"vllm", "vllm", false, N_("an engine whose usual build is for NVIDIA's GPUs")},
    {"deepspeed", "deepspeed", false, N_("kernels that are compiled for the GPU that is there")},
    {"apex", "apex", true, N_("extensions for NVIDIA's GPUs")},
    {"transformer-engine*", "transformer_engine", true, N_("kernels for NVIDIA's GPUs")},
    {"tensorrt*", "tensorrt", true, N_("NVIDIA's own engine")},
    {"cupy-cuda*", "cupy", true, N_("arrays on NVIDIA's GPUs")},
    {"pycuda", "pycuda", true, N_("NVIDIA's interface")},
    {"nvidia-*", NULL, true, N_("a library of NVIDIA's")},
    {"mamba-ssm", "mamba_ssm", false, N_("kernels, built for NVIDIA's GPUs")},
    {"causal-conv1d", "causal_conv1d", false, N_("kernels, built for NVIDIA's GPUs")},
    {"auto-gptq", "auto_gptq", false, N_("quantised kernels, built for NVIDIA's GPUs")},
    {"autoawq", "awq", false, N_("quantised kernels, built for NVIDIA's GPUs")},
};

static bool is_package(const char *pattern, const char *name) {
    size_t length = strlen(pattern);
    return pattern[length - 1] == '*' ? strncmp(pattern, name, length - 1) == 0
                                      : strcmp(pattern, name) == 0;
}

/* ---- what is needed ---- */

static const char *find_required(struct judging *judging, const char *pattern,
                                 const char **ret_name) {
    const json_t *list = json_get_array(judging->input->repository, "requirements");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *fact = json_array_get(list, i);
        const char *name = doctor_package_name(judging, json_get_text(fact, "name", ""));
        bool is_lock = strcmp(json_get_text(fact, "kind", ""), "lock") == 0;
        if (is_package(pattern, name) && !is_lock) {
            *ret_name = doctor_plain(judging, json_get_text(fact, "name", ""));
            return json_get_text(fact, "at", NULL);
        }
    }
    return NULL;
}

/* The first import of the module, or of a part of it; NULL module: the first ".cuda()". */
static const char *find_import(const struct judging *judging, const char *module) {
    const json_t *scripts = json_get_array(judging->input->repository, "python");
    size_t length = module != NULL ? strlen(module) : 0;
    for (size_t i = 0; i < json_array_size(scripts); i++) {
        const json_t *list =
            json_get_array(json_array_get(scripts, i), module != NULL ? "modules" : "cuda");
        for (size_t k = 0; k < json_array_size(list); k++) {
            const json_t *use = json_array_get(list, k);
            const char *name = json_get_text(use, "module", "");
            if (module == NULL || (strncmp(name, module, length) == 0 &&
                                   (name[length] == '\0' || name[length] == '.')))
                return json_get_text(use, "at", NULL);
        }
    }
    return NULL;
}

static const char *find_package(struct judging *judging, size_t row, const char **ret_name) {
    const char *at = find_required(judging, packages[row].package, ret_name);
    if (at == NULL && packages[row].module != NULL) {
        *ret_name = packages[row].module;
        at = find_import(judging, packages[row].module);
    }
    return at;
}

static void find_architectures(struct judging *judging, struct plan_texts *ret) {
    const json_t *list = json_get_array(judging->input->repository, "architectures");
    size_t count = json_array_size(list);
    *ret =
        (struct plan_texts){.items = arena_alloc(judging->arena, (count + 1) * sizeof *ret->items)};
    for (size_t i = 0; i < count; i++) {
        const json_t *fact = json_array_get(list, i);
        const char *arch = json_get_text(fact, "arch", "");
        unsigned major = 0, minor = 0;
        if (sscanf(arch, "%3u.%1u", &major, &minor) != 2)
            continue;
        const char *text = json_get_bool(fact, "ptx", 0)
                               ? arena_printf(judging->arena, "compute_%u%u", major, minor)
                               : doctor_plain(judging, arch);
        bool known = false;
        for (size_t k = 0; k < ret->count; k++)
            known = known || strcmp(ret->items[k].text, text) == 0;
        if (!known)
            ret->items[ret->count++].text = text;
    }
}

/* "cu128" within a local version or the address of an index: 12.8. */
static const char *toolkit_of(struct judging *judging, const char *text) {
    for (const char *at = text; (at = strstr(at, "cu")) != NULL; at++) {
        size_t digits = strspn(at + 2, "0123456789");
        bool begins = at > text && (at[-1] == '+' || at[-1] == '/');
        if (begins && digits == 3)
            return arena_printf(judging->arena, "%.2s.%c", at + 2, at[4]);
    }
    return NULL;
}

static void find_toolkit(struct judging *judging, struct doctor_needs *needs) {
    static const char *const lists[][2] = {{"requirements", "specifier"}, {"indexes", "url"}};
    for (size_t n = 0; n < ARRAY_LENGTH(lists) && needs->toolkit == NULL; n++) {
        const json_t *list = json_get_array(judging->input->repository, lists[n][0]);
        for (size_t i = 0; i < json_array_size(list) && needs->toolkit == NULL; i++) {
            const json_t *fact = json_array_get(list, i);
            needs->toolkit = toolkit_of(judging, json_get_text(fact, lists[n][1], ""));
            needs->toolkit_at = json_get_text(fact, "at", NULL);
        }
    }
}

void doctor_find_needs(struct judging *judging, struct doctor_needs *ret_needs) {
    const json_t *clone = judging->input->repository;
    const json_t *archs = json_get_array(clone, "architectures");
    const json_t *compilers = json_get_array(clone, "compilers");
    *ret_needs = (struct doctor_needs){0};
    find_architectures(judging, &ret_needs->architectures);
    find_toolkit(judging, ret_needs);
    for (size_t i = 0; i < ARRAY_LENGTH(packages); i++) {
        const char *name = NULL, *at = find_package(judging, i, &name);
        if (at != NULL && packages[i].cuda && ret_needs->cuda == NULL) {
            ret_needs->cuda = name;
            ret_needs->cuda_at = at;
        }
        if (at != NULL && ret_needs->not_mac == NULL) {
            ret_needs->not_mac = name;
            ret_needs->not_mac_at = at;
        }
    }
    if (ret_needs->cuda == NULL && ret_needs->toolkit != NULL) {
        ret_needs->cuda = arena_printf(judging->arena, "CUDA %s", ret_needs->toolkit);
        ret_needs->cuda_at = ret_needs->toolkit_at;
    }
    if (json_array_size(compilers) > 0) {
        ret_needs->cuda = json_get_text(json_array_get(compilers, 0), "what", NULL);
        ret_needs->cuda_at = json_get_text(json_array_get(compilers, 0), "at", NULL);
    }
    if (ret_needs->architectures.count > 0) {
        ret_needs->cuda = arena_printf(judging->arena, "compute capability %s",
                                       ret_needs->architectures.items[0].text);
        ret_needs->cuda_at = json_get_text(json_array_get(archs, 0), "at", NULL);
    }
    if (ret_needs->not_mac == NULL && find_import(judging, NULL) != NULL) {
        ret_needs->not_mac = ".cuda()";
        ret_needs->not_mac_at = find_import(judging, NULL);
    }
}

static const char *list_architectures(struct judging *judging, const struct plan_texts *texts) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    for (size_t i = 0; i < texts->count; i++)
        strbuf_add_next(&out, ", ", texts->items[i].text);
    return arena_strdup(judging->arena, strbuf_str(&out));
}

static void judge_needs(struct judging *judging, const struct doctor_needs *needs) {
    const json_t *clone = judging->input->repository;
    const json_t *compilers = json_get_array(clone, "compilers");
    for (size_t i = 0; i < ARRAY_LENGTH(packages); i++) {
        const char *name = NULL, *at = find_package(judging, i, &name);
        if (at == NULL)
            continue;
        struct doctor_finding *finding =
            doctor_add(judging, DOCTOR_STACK, "gpu-package", DOCTOR_KNOWN,
                       arena_printf(judging->arena,
                                    packages[i].cuda
                                        ? _("%s runs only on NVIDIA's GPUs: %s")
                                        : _("%s needs a GPU: %s; for others only by other builds"),
                                    name, _(packages[i].why)),
                       NULL);
        doctor_add_source(judging, finding, at);
    }
    if (needs->architectures.count > 0)
        doctor_add_sources(
            judging,
            doctor_add(judging, DOCTOR_STACK, "architectures", DOCTOR_KNOWN,
                       arena_printf(judging->arena,
                                    _("build files name the compute capabilities %s"),
                                    list_architectures(judging, &needs->architectures)),
                       NULL),
            json_get_array(clone, "architectures"));
    if (json_array_size(compilers) > 0)
        doctor_add_sources(
            judging,
            doctor_add(judging, DOCTOR_STACK, "compiler-needed", DOCTOR_WARNING,
                       _("building needs NVIDIA's compiler (nvcc, CUDA_HOME)"),
                       _("a machine with the runtime only cannot build it; look for nvcc before "
                         "booking, and count the build as set-up")),
            compilers);
    static const char *const ids[] = {"environment.gpus-supported", "environment.architectures",
                                      "code.architectures"};
    if (needs->architectures.count > 0)
        doctor_suggest(
            judging, ids, ARRAY_LENGTH(ids),
            (struct doctor_fact){.about = "environment",
                                 .known = true,
                                 .value = arena_printf(
                                     judging->arena, "build files name the compute capabilities %s",
                                     list_architectures(judging, &needs->architectures)),
                                 .source = doctor_source_of(judging, needs->cuda_at)},
            NULL);
}

/* ---- one environment ---- */

static struct doctor_finding *say(struct judging *judging,
                                  const struct plan_environment *environment, const char *id,
                                  enum doctor_state state, const char *at, const char *text,
                                  const char *advice) {
    struct doctor_finding *finding = doctor_add(judging, DOCTOR_STACK, id, state, text, advice);
    finding->environment = doctor_plain(judging, environment->id);
    doctor_add_source(judging, finding, at);
    return finding;
}

static bool judge_accelerator(struct judging *judging, const struct plan_environment *environment,
                              const struct doctor_needs *needs) {
    const char *accelerator = plan_accelerator(environment);
    const char *id = doctor_plain(judging, environment->id);
    bool elsewhere = accelerator != NULL && strcmp(accelerator, "cuda") != 0;
    bool is_rocm = elsewhere && strcmp(accelerator, "rocm") == 0;
    const char *why = needs->cuda != NULL ? needs->cuda : is_rocm ? NULL : needs->not_mac;
    const char *at = needs->cuda != NULL ? needs->cuda_at : needs->not_mac_at;
    if (accelerator == NULL)
        (void)say(judging, environment, "environment-open", DOCTOR_OPEN, NULL,
                  arena_printf(judging->arena,
                               _("environment '%s' does not say what code runs on there"), id),
                  _("write its 'accelerator' into the plan"));
    else if (elsewhere && why != NULL)
        (void)say(judging, environment, "environment-unfit", DOCTOR_PROBLEM, at,
                  arena_printf(judging->arena,
                               _("environment '%s' (%s): the code needs CUDA (%s) and does not "
                                 "count as runnable there"),
                               id, doctor_plain(judging, accelerator), doctor_plain(judging, why)),
                  _("take an environment with CUDA, or show by a validation that it runs there"));
    else if (elsewhere)
        (void)say(judging, environment, "environment-open", DOCTOR_OPEN, needs->not_mac_at,
                  arena_printf(judging->arena,
                               _("environment '%s' (%s): nothing in the clone shows that the code "
                                 "runs there"),
                               id, doctor_plain(judging, accelerator)),
                  _("only a trial run there tells"));
    return accelerator != NULL && !elsewhere;
}

static void judge_architecture(struct judging *judging, const struct plan_environment *environment,
                               const struct doctor_needs *needs) {
    const json_t *archs = json_get_array(judging->input->repository, "architectures");
    const char *id = doctor_plain(judging, environment->id);
    const char *at = json_get_text(json_array_get(archs, 0), "at", NULL);
    const char *list = list_architectures(judging, &needs->architectures);
    if (needs->architectures.count == 0)
        return;
    switch (fit_architecture(&needs->architectures, environment->compute_capability)) {
    case FIT_YES:
        (void)say(judging, environment, "environment-architecture", DOCTOR_KNOWN, at,
                  arena_printf(judging->arena,
                               _("environment '%s': its compute capability %s is among those that "
                                 "build files name (%s)"),
                               id, doctor_plain(judging, environment->compute_capability), list),
                  NULL);
        return;
    case FIT_NO:
        (void)say(judging, environment, "environment-architecture", DOCTOR_PROBLEM, at,
                  arena_printf(judging->arena,
                               _("environment '%s' has compute capability %s, the code is built "
                                 "for %s"),
                               id, doctor_plain(judging, environment->compute_capability), list),
                  _("take another GPU, or change the build files: a deviation"));
        return;
    case FIT_OPEN:
        (void)say(judging, environment, "environment-architecture", DOCTOR_OPEN, at,
                  arena_printf(judging->arena,
                               _("environment '%s': whether the code, built for compute "
                                 "capability %s, runs on its GPU is open"),
                               id, list),
                  _("write its 'compute_capability' into the plan"));
        return;
    }
}

/* The oldest driver that runs programs of a toolkit's major version (NVIDIA, "CUDA Compatibility",
 * Minor Version Compatibility, table 1). 0: not known here. */
static long oldest_driver(long toolkit_major) {
    return toolkit_major == 11 ? 450 : toolkit_major == 12 ? 525 : toolkit_major == 13 ? 580 : 0;
}

static void judge_driver(struct judging *judging, const struct plan_environment *environment,
                         const struct doctor_needs *needs) {
    const char *id = doctor_plain(judging, environment->id);
    if (needs->toolkit == NULL)
        return;
    long oldest = oldest_driver(strtol(needs->toolkit, NULL, 10));
    long driver = environment->driver != NULL ? strtol(environment->driver, NULL, 10) : 0;
    if (oldest == 0 || driver <= 0)
        (void)say(judging, environment, "environment-driver", DOCTOR_OPEN, needs->toolkit_at,
                  arena_printf(judging->arena,
                               _("environment '%s': whether its driver runs CUDA %s is open"), id,
                               needs->toolkit),
                  _("ask for the driver's version"));
    else if (driver < oldest)
        (void)say(judging, environment, "environment-driver", DOCTOR_PROBLEM, needs->toolkit_at,
                  arena_printf(judging->arena,
                               _("environment '%s' has driver %s; CUDA %s needs %ld or later"), id,
                               doctor_plain(judging, environment->driver), needs->toolkit, oldest),
                  _("take a machine with a newer driver, or a build for an older CUDA"));
    else
        (void)say(judging, environment, "environment-driver", DOCTOR_KNOWN, needs->toolkit_at,
                  arena_printf(judging->arena,
                               _("environment '%s': driver %s runs CUDA %s, within one major "
                                 "version"),
                               id, doctor_plain(judging, environment->driver), needs->toolkit),
                  NULL);
}

/* A version of the environment that none of the code's requirements takes. */
static void judge_packages(struct judging *judging, const struct plan_environment *environment) {
    const json_t *list = json_get_array(judging->input->repository, "requirements");
    for (size_t i = 0; i < environment->stack.count; i++) {
        const struct plan_pair *pair = &environment->stack.items[i];
        const char *package = doctor_package_name(judging, pair->name), *at = NULL, *asked = NULL;
        bool fits = false;
        for (size_t k = 0; k < json_array_size(list); k++) {
            const json_t *fact = json_array_get(list, k);
            const char *specifier = json_get_text(fact, "specifier", "");
            if (strcmp(doctor_package_name(judging, json_get_text(fact, "name", "")), package) != 0)
                continue;
            bool differs =
                specifier[0] != '\0' && version_fits(specifier, pair->value) == VERSION_DIFFERS;
            fits = fits || !differs;
            if (differs && at == NULL) {
                at = json_get_text(fact, "at", NULL);
                asked = doctor_plain(judging, specifier);
            }
        }
        if (at != NULL && !fits)
            (void)say(judging, environment, "environment-package", DOCTOR_PROBLEM, at,
                      arena_printf(judging->arena,
                                   _("environment '%s' has %s %s; the code asks for %s"),
                                   doctor_plain(judging, environment->id), package,
                                   doctor_plain(judging, pair->value), asked),
                      _("correct the environment, or list the change among the plan's deviations"));
    }
}

static void judge_environment(struct judging *judging, const struct plan_environment *environment,
                              const struct doctor_needs *needs) {
    size_t before = judging->findings->count;
    if (judge_accelerator(judging, environment, needs)) {
        judge_architecture(judging, environment, needs);
        judge_driver(judging, environment, needs);
    }
    judge_packages(judging, environment);
    for (size_t i = before; i < judging->findings->count; i++)
        if (judging->findings->items[i].state != DOCTOR_KNOWN)
            return;
    (void)say(judging, environment, "environment-agrees", DOCTOR_KNOWN, NULL,
              arena_printf(judging->arena,
                           _("nothing in the clone contradicts environment '%s'; that the code "
                             "runs there is shown by a trial run only"),
                           doctor_plain(judging, environment->id)),
              NULL);
}

/* What the plan says that the code needs, against what the clone shows. */
static void judge_plan(struct judging *judging, const struct doctor_needs *needs) {
    const struct plan *plan = judging->input->plan;
    bool has_cuda = false;
    for (size_t i = 0; i < plan->code.accelerators.count; i++)
        has_cuda = has_cuda || strcasecmp(plan->code.accelerators.items[i].text, "cuda") == 0;
    bool differs = plan->code.accelerators.count > 0 && needs->cuda != NULL &&
                   (!has_cuda || plan->code.accelerators.count > 1);
    if (!differs)
        return;
    struct doctor_finding *finding = doctor_add(
        judging, DOCTOR_STACK, "plan-contradicts", DOCTOR_WARNING,
        arena_printf(judging->arena,
                     _("the plan (%s) names other accelerators than CUDA; the clone needs CUDA "
                       "(%s)"),
                     plan_source(plan, plan->code.accelerators.items[0].at, judging->arena),
                     doctor_plain(judging, needs->cuda)),
        _("say in the plan where it was shown that the code runs there"));
    doctor_add_source(judging, finding, needs->cuda_at);
}

/* Local versions of CUDA against the driver of this machine, where it is one that is meant. */
static void judge_here(struct judging *judging) {
    const json_t *list = json_get_array(judging->input->repository, "requirements");
    unsigned major, minor;
    const char *cuda = json_get_text(judging->input->library, "cuda", "");
    if (judging->input->without_machine || !doctor_has_library(judging->input) ||
        sscanf(cuda, "%3u.%3u", &major, &minor) != 2)
        return;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *fact = json_array_get(list, i);
        const char *pin = doctor_pin(judging, json_get_text(fact, "specifier", ""));
        if (pin == NULL || strchr(pin, '+') == NULL)
            continue;
        size_t before = judging->findings->count;
        AUTO_JSON json_t *package = json_object();
        json_put_text(package, "name", json_get_text(fact, "name", "?"));
        json_put_text(package, "version", pin);
        doctor_judge_toolkit(judging, package, major, minor);
        if (judging->findings->count > before)
            doctor_add_source(judging, &judging->findings->items[before],
                              json_get_text(fact, "at", NULL));
    }
}

void doctor_judge_stack(struct judging *judging) {
    const struct plan *plan = judging->input->plan;
    struct doctor_needs needs;
    doctor_find_needs(judging, &needs);
    judge_needs(judging, &needs);
    judge_here(judging);
    if (plan == NULL)
        return;
    judge_plan(judging, &needs);
    for (size_t i = 0; i < plan->environment_count; i++)
        judge_environment(judging, &plan->environments[i], &needs);
}
