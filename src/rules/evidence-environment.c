/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The environment of a run beside one of the plan: GPU model and count, driver, and what the plan
 * names in `match`. What the plan states must be known of the run and equal; what it leaves open
 * must be as in the reference run. Must not guess which environment a run was made in.
 */
#include "rules/comparable-parts.h"
#include "rules/evidence-parts.h"

#include "base/msg.h"
#include "base/str.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define MACHINE_PREFIX "machine."

/* One fact held against what the plan states or, where it leaves the fact open, what the reference
 * run shows. Texts, NULL: not known. */
struct fact {
    const char *subject; /* translated: "torch", "its GPU model" */
    const char *unknown; /* translated subject of "… is not known" */
    const char *run, *plan, *reference;
    bool has_reference; /* a run to look at, whether it knows the fact or not */
    bool (*is_same)(const char *run, const char *target);
};

static bool is_same_text(const char *run, const char *target) {
    return strcmp(run, target) == 0;
}

static const char *why_fact_differs(const struct fact *fact, bool strict, struct arena *arena) {
    const char *run = evidence_shown(fact->run, arena);

    if (fact->plan) {
        const char *plan = evidence_shown(fact->plan, arena);
        if (!fact->run)
            return strict ? arena_printf(arena, _("%s is not known, the plan says %s"),
                                         fact->unknown, plan)
                          : NULL;
        return fact->is_same(fact->run, fact->plan)
                   ? NULL
                   : arena_printf(arena, _("%s was %s, the plan says %s"), fact->subject, run,
                                  plan);
    }
    if (!strict || !fact->has_reference || (!fact->run && !fact->reference))
        return NULL;
    const char *reference = evidence_shown(fact->reference, arena);
    if (!fact->run)
        return arena_printf(arena, _("%s is not known, in the newest run that fits it is %s"),
                            fact->unknown, reference);
    if (!fact->reference)
        return arena_printf(arena, _("%s was %s, in the newest run that fits it is not known"),
                            fact->subject, run);
    return fact->is_same(fact->run, fact->reference)
               ? NULL
               : arena_printf(arena, _("%s was %s, in the newest run that fits it is %s"),
                              fact->subject, run, reference);
}

/* ---- GPU ---- */

static const json_t *gpu_of(const struct run *run) {
    return json_get_object(run->environment, "gpu");
}

/* -1: not known. */
static int64_t gpu_count(const struct run *run) {
    int64_t count = json_get_int(gpu_of(run), "count", -1);
    return count >= 0 ? count : -1;
}

static const char *without_vendor(const char *model) {
    static const char *const vendors[] = {"nvidia ", "amd "};

    model += strspn(model, " ");
    for (size_t i = 0; i < ARRAY_LENGTH(vendors); i++)
        if (strncasecmp(model, vendors[i], strlen(vendors[i])) == 0)
            return model + strlen(vendors[i]);
    return model;
}

/* Blanks are not counted: "H100  80GB" is the same model. */
bool evidence_is_same_gpu(const char *run, const char *target) {
    const char *a = without_vendor(run);
    const char *b = without_vendor(target);

    for (;;) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (*a == '\0')
            return true;
        a++;
        b++;
    }
}

/* The model of all its devices; where they differ, all of them in one text, which no single model
 * equals. NULL: not known of every device. */
const char *evidence_gpu_model(const struct run *run, struct arena *arena) {
    const json_t *devices = json_get_array(gpu_of(run), "devices");
    const char *first = NULL;
    const char *all = NULL;
    bool mixed = false;

    for (size_t i = 0; i < json_array_size(devices); i++) {
        const char *name = json_get_text(json_array_get(devices, i), "name", NULL);
        if (!name || !*name)
            return NULL;
        mixed = mixed || (first && !evidence_is_same_gpu(name, first));
        all = first ? arena_printf(arena, "%s + %s", all, name) : name;
        first = first ? first : name;
    }
    return mixed ? all : first;
}

/* "550.54.15" → "550"; NULL without a number in front. */
static const char *major(const char *version, struct arena *arena) {
    size_t digits = version ? strspn(version, "0123456789") : 0;
    return digits > 0 ? arena_strndup(arena, version, digits) : NULL;
}

static const char *why_gpu_count(const struct run *run, const struct plan_environment *environment,
                                 const struct run *reference, bool strict, struct arena *arena) {
    int64_t count = gpu_count(run);
    int64_t other = reference ? gpu_count(reference) : -1;

    if (environment->gpus.given) {
        if (count < 0)
            return strict ? arena_printf(arena, _("its GPU count is not known, the plan says %lld"),
                                         (long long)environment->gpus.value)
                          : NULL;
        if (count == environment->gpus.value)
            return NULL;
        return count == 0 ? arena_printf(arena, _("it ran without a GPU, the plan says %lld"),
                                         (long long)environment->gpus.value)
                          : arena_printf(arena,
                                         msg_plural((unsigned long)count,
                                                    "it ran on %lld GPU, the plan says %lld",
                                                    "it ran on %lld GPUs, the plan says %lld"),
                                         (long long)count, (long long)environment->gpus.value);
    }
    if (!strict || !reference || count == other)
        return NULL;
    if (count < 0)
        return arena_printf(arena,
                            _("its GPU count is not known, the newest run that fits ran on %lld"),
                            (long long)other);
    if (other < 0)
        return arena_printf(
            arena, _("its GPU count was %lld, in the newest run that fits it is not known"),
            (long long)count);
    return arena_printf(arena,
                        msg_plural((unsigned long)count,
                                   "it ran on %lld GPU, the newest run that fits on %lld",
                                   "it ran on %lld GPUs, the newest run that fits on %lld"),
                        (long long)count, (long long)other);
}

static const char *why_gpu(const struct run *run, const struct plan_environment *environment,
                           const struct run *reference, bool strict, struct arena *arena) {
    const char *why = why_gpu_count(run, environment, reference, strict, arena);

    /* Where there is none, there is no model and no driver to compare. */
    if (why || (environment->gpus.given ? environment->gpus.value == 0 : gpu_count(run) == 0))
        return why;
    struct fact model = {
        .subject = _("its GPU model"),
        .unknown = _("its GPU model"),
        .run = evidence_gpu_model(run, arena),
        .plan = environment->gpu,
        .reference = reference ? evidence_gpu_model(reference, arena) : NULL,
        .has_reference = reference != NULL,
        .is_same = evidence_is_same_gpu,
    };
    why = why_fact_differs(&model, strict, arena);
    if (why)
        return why;
    struct fact driver = {
        .subject = _("the major version of its GPU driver"),
        .unknown = _("the version of its GPU driver"),
        .run = major(json_get_text(gpu_of(run), "driver", NULL), arena),
        .plan = major(environment->driver, arena),
        .reference =
            reference ? major(json_get_text(gpu_of(reference), "driver", NULL), arena) : NULL,
        .has_reference = reference != NULL,
        .is_same = is_same_text,
    };
    return why_fact_differs(&driver, strict, arena);
}

/* ---- packages ---- */

/* Names of packages as PEP 503 compares them: without case, and any of "-_." is one dash. */
static bool is_same_package(const char *a, const char *b) {
    for (;;) {
        size_t dashes_a = strspn(a, "-_.");
        size_t dashes_b = strspn(b, "-_.");
        if ((dashes_a > 0) != (dashes_b > 0))
            return false;
        a += dashes_a;
        b += dashes_b;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (*a == '\0')
            return true;
        a++;
        b++;
    }
}

/* A version without a local part means any build of it (PEP 440): 2.3.1 fits 2.3.1+cu121. */
static bool is_same_version(const char *run, const char *target) {
    size_t length = strlen(target);

    return strncmp(run, target, length) == 0 && (run[length] == '\0' || run[length] == '+');
}

/* The version in the run's interpreter (the first), else in another of them; a sentence's part
 * where all packages are known and it is none of them; NULL: not known. */
static const char *package_version(const struct run *run, const char *name) {
    const json_t *packages = json_get_array(run->environment, "packages");
    const json_t *interpreter = json_array_get(json_get_array(run->environment, "interpreters"), 0);
    const char *prefix = json_get_text(interpreter, "prefix", "");
    const char *found = NULL;

    for (size_t i = 0; i < json_array_size(packages); i++) {
        const json_t *package = json_array_get(packages, i);
        if (!is_same_package(json_get_text(package, "name", ""), name))
            continue;
        const char *version = json_get_text(package, "version", NULL);
        if (!version)
            continue;
        if (strcmp(json_get_text(package, "interpreter", ""), prefix) == 0)
            return version;
        found = found ? found : version;
    }
    if (found)
        return found;
    if (strcasecmp(name, "python") == 0)
        return json_get_text(interpreter, "version", NULL);
    bool complete = interpreter && packages &&
                    !json_get_text(json_get_object(run->environment, "reasons"), "packages", NULL);
    return complete ? _("not among its packages") : NULL;
}

static const char *stack_version(const struct plan_environment *environment, const char *name) {
    for (size_t i = 0; i < environment->stack.count; i++)
        if (is_same_package(environment->stack.items[i].name, name))
            return environment->stack.items[i].value;
    return NULL;
}

static const char *why_package(const struct run *run, const struct plan_environment *environment,
                               const char *name, const struct run *reference, bool strict,
                               struct arena *arena) {
    const char *shown = evidence_shown(name, arena);
    struct fact fact = {
        .subject = shown,
        .unknown = arena_printf(arena, _("its version of %s"), shown),
        .run = package_version(run, name),
        .plan = stack_version(environment, name),
        .reference = reference ? package_version(reference, name) : NULL,
        .has_reference = reference != NULL,
        .is_same = is_same_version,
    };

    /* Between two runs the build counts as well. */
    if (!fact.plan)
        fact.is_same = is_same_text;
    return why_fact_differs(&fact, strict, arena);
}

/* ---- parts of the machine ---- */

static const char *machine_part(const struct run *run, const char *key, struct arena *arena) {
    const char *text =
        json_get_text(json_get_object(run->environment, "fingerprint_parts"), key, NULL);
    double bytes;

    if (!text || !*text)
        return NULL;
    if (strcmp(key, "memory") != 0 || str_to_double(text, &bytes) != 0)
        return text;
    AUTO_STRBUF struct strbuf shown = STRBUF_INIT;
    quantity_format_value(bytes, UNIT_BYTE, &shown);
    return arena_strdup(arena, strbuf_str(&shown));
}

static const char *why_machine(const struct run *run, const char *name, const struct run *reference,
                               struct arena *arena) {
    const char *key = name + strlen(MACHINE_PREFIX);
    const char *shown = evidence_shown(name, arena);
    struct fact fact = {
        .subject = shown,
        .unknown = shown,
        .run = machine_part(run, key, arena),
        .reference = machine_part(reference, key, arena),
        .has_reference = true,
        .is_same = is_same_text,
    };
    return why_fact_differs(&fact, true, arena);
}

/* A record says the system that it was made on; a Mac is not Linux, whatever else agrees. */
static const char *why_system(const struct run *run, const struct plan_environment *environment,
                              struct arena *arena) {
    const json_t *machine = json_get_object(run->environment, "machine");
    const char *kernel = json_get_text(machine, "kernel", NULL); /* of Linux's /proc */
    if (!kernel || environment->kind != PLAN_MACOS)
        return NULL;
    return arena_printf(arena, _("it ran on Linux %s, and the environment is a Mac"),
                        evidence_shown(kernel, arena));
}

/* ---- all of it ---- */

const char *evidence_why_not_environment(const struct run *run,
                                         const struct plan_environment *environment,
                                         const struct run *reference, bool strict,
                                         struct arena *arena) {
    const char *why = why_system(run, environment, arena);
    if (!why)
        why = why_gpu(run, environment, reference, strict, arena);

    for (size_t i = 0; !why && i < environment->match.count; i++) {
        const char *name = environment->match.items[i].text;
        if (!str_starts_with(name, MACHINE_PREFIX))
            why = why_package(run, environment, name, reference, strict, arena);
        else if (strict && reference)
            why = why_machine(run, name, reference, arena);
    }
    return why;
}

static const char *ids_of(const struct plan_environment *const *environments, size_t count,
                          struct arena *arena) {
    const char *ids = "";

    for (size_t i = 0; i < count; i++)
        ids = arena_printf(arena, "%s%s'%s'", ids, i > 0 ? ", " : "",
                           evidence_shown(environments[i]->id, arena));
    return ids;
}

static const struct plan_environment *only_one_that_fits(const struct plan *plan,
                                                         const struct run *run, struct arena *arena,
                                                         const char **ret_why) {
    const struct plan_environment **fit =
        arena_alloc(arena, plan->environment_count * sizeof(const struct plan_environment *));
    const char *first_why = NULL;
    size_t count = 0;

    for (size_t i = 0; i < plan->environment_count; i++) {
        const struct plan_environment *environment = &plan->environments[i];
        const char *why = evidence_why_not_environment(run, environment, NULL, false, arena);
        if (!why)
            fit[count++] = environment;
        else if (!first_why)
            first_why =
                arena_printf(arena, "'%s': %s", evidence_shown(environment->id, arena), why);
    }
    if (count == 1)
        return fit[0];
    *ret_why =
        count == 0
            ? arena_printf(arena, _("it fits none of the plan's environments (%s)"), first_why)
            : arena_printf(arena,
                           _("its record does not say in which environment it was made, and fits "
                             "%s; say --env ENVIRONMENT with 'run'"),
                           ids_of(fit, count, arena));
    return NULL;
}

const struct plan_environment *evidence_environment(const struct plan *plan, const struct run *run,
                                                    struct arena *arena, const char **ret_why) {
    const char *id = json_get_text(run->start, "environment_id", NULL);

    *ret_why = NULL;
    if (id && *id) {
        const struct plan_environment *named = plan_environment_find(plan, id);
        if (!named)
            *ret_why = arena_printf(
                arena, _("it was made in environment '%s', which the plan does not have"),
                evidence_shown(id, arena));
        return named;
    }
    if (plan->environment_count == 0) {
        *ret_why = _("the plan names no environment");
        return NULL;
    }
    return plan->environment_count == 1 ? &plan->environments[0]
                                        : only_one_that_fits(plan, run, arena, ret_why);
}
