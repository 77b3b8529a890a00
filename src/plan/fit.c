/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requirements of the code against candidate environments. A name of a device is no proof of what
 * runs on it: only what the plan says is compared. Must not know what usually fits.
 */
#include "plan/fit.h"

#include "base/str.h"
#include "base/strbuf.h"
#include "model/version.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

static const char *join(const struct plan_texts *texts, struct arena *arena) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    for (size_t i = 0; i < texts->count; i++)
        strbuf_add_next(&out, ", ", texts->items[i].text);
    return arena_strdup(arena, strbuf_str(&out));
}

/* ---- compute capabilities ---- */

struct capability {
    unsigned major, minor;
    bool only_there; /* "9.0a" */
    bool machine, ptx;
};

static bool take_unsigned(const char **at, unsigned *ret) {
    unsigned value = 0;
    size_t digits = 0;
    while (isdigit((unsigned char)**at) && digits < 4) {
        value = value * 10 + (unsigned)(*(*at)++ - '0');
        digits++;
    }
    *ret = value;
    return digits > 0;
}

/* "9.0", "90", "sm_90", "9.0a", "9.0+PTX", "compute_90", "90-virtual", "90-real". */
static bool read_capability(const char *text, struct capability *ret) {
    *ret = (struct capability){.machine = true};
    if (strncasecmp(text, "sm_", 3) == 0) {
        text += 3;
    } else if (strncasecmp(text, "compute_", 8) == 0) {
        text += 8;
        *ret = (struct capability){.ptx = true};
    }
    if (!take_unsigned(&text, &ret->major))
        return false;
    if (*text == '.') {
        text++;
        if (!take_unsigned(&text, &ret->minor))
            return false;
    } else {
        ret->minor = ret->major % 10;
        ret->major /= 10;
    }
    if (*text == 'a' || *text == 'A') {
        ret->only_there = true;
        text++;
    }
    if (strcasecmp(text, "+ptx") == 0) {
        ret->ptx = true;
        text += 4;
    } else if (strcasecmp(text, "-virtual") == 0) {
        ret->machine = false;
        ret->ptx = true;
        text += 8;
    } else if (strcasecmp(text, "-real") == 0) {
        text += 5;
    }
    return *text == '\0' && ret->major > 0;
}

static bool runs_on(const struct capability *code, const struct capability *device) {
    if (code->only_there)
        return code->major == device->major && code->minor == device->minor;
    if (code->machine && code->major == device->major && code->minor <= device->minor)
        return true;
    return code->ptx && (code->major < device->major ||
                         (code->major == device->major && code->minor <= device->minor));
}

enum fit_answer fit_architecture(const struct plan_texts *wanted, const char *capability) {
    struct capability device, code;
    enum fit_answer answer = FIT_NO;
    if (capability == NULL || wanted->count == 0 || !read_capability(capability, &device))
        return FIT_OPEN;
    for (size_t i = 0; i < wanted->count; i++) {
        if (!read_capability(wanted->items[i].text, &code))
            answer = FIT_OPEN;
        else if (runs_on(&code, &device))
            return FIT_YES;
    }
    return answer;
}

/* ---- packages ---- */

/* Names are equal whatever the case and with "-", "_" and "." alike, as pip has it. */
static bool same_package(const char *a, const char *b) {
    for (;; a++, b++) {
        bool mark_a = *a != '\0' && strchr("-_.", *a) != NULL;
        bool mark_b = *b != '\0' && strchr("-_.", *b) != NULL;
        if (mark_a != mark_b ||
            (!mark_a && tolower((unsigned char)*a) != tolower((unsigned char)*b)))
            return false;
        if (*a == '\0')
            return true;
    }
}

static const char *version_of(const struct plan_environment *environment, const char *package) {
    for (size_t i = 0; i < environment->stack.count; i++)
        if (same_package(environment->stack.items[i].name, package))
            return environment->stack.items[i].value;
    return NULL;
}

static enum fit_answer package_answer(const char *wanted, const char *has) {
    if (has == NULL)
        return FIT_OPEN;
    switch (version_fits(wanted, has)) {
    case VERSION_FITS:
        return FIT_YES;
    case VERSION_DIFFERS:
        return FIT_NO;
    case VERSION_UNKNOWN:
        break;
    }
    return FIT_OPEN;
}

/* ---- all of it ---- */

static struct fit_part accelerator_part(const struct plan_code *code,
                                        const struct plan_environment *environment,
                                        struct arena *arena) {
    struct fit_part part = {.what = FIT_ACCELERATOR, .has = plan_accelerator(environment)};
    if (code->accelerators.count == 0)
        return part;
    part.wanted = join(&code->accelerators, arena);
    part.at = code->accelerators.items[0].at;
    if (part.has == NULL)
        return part;
    part.answer = FIT_NO;
    for (size_t i = 0; i < code->accelerators.count; i++)
        if (strcasecmp(code->accelerators.items[i].text, part.has) == 0)
            part.answer = FIT_YES;
    return part;
}

size_t plan_fit(const struct plan *plan, const struct plan_environment *environment,
                struct arena *arena, struct fit_part **ret_parts) {
    const struct plan_code *code = &plan->code;
    struct fit_part *parts = arena_alloc(arena, (2 + code->requires_stack.count) * sizeof *parts);
    const char *accelerator = plan_accelerator(environment);
    size_t count = 0;
    parts[count++] = accelerator_part(code, environment, arena);
    /* elsewhere the accelerator has said it already */
    if (code->architectures.count > 0 && (accelerator == NULL || strcmp(accelerator, "cuda") == 0))
        parts[count++] = (struct fit_part){
            .what = FIT_ARCHITECTURE,
            .wanted = join(&code->architectures, arena),
            .has = environment->compute_capability,
            .answer = fit_architecture(&code->architectures, environment->compute_capability),
            .at = code->architectures.items[0].at};
    for (size_t i = 0; i < code->requires_stack.count; i++) {
        const struct plan_pair *pair = &code->requires_stack.items[i];
        const char *has = version_of(environment, pair->name);
        parts[count++] = (struct fit_part){.what = FIT_PACKAGE,
                                           .name = pair->name,
                                           .wanted = pair->value,
                                           .has = has,
                                           .answer = package_answer(pair->value, has),
                                           .at = pair->at};
    }
    *ret_parts = parts;
    return count;
}
