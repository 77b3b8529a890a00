/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See probe.h. The table of collectors and the fingerprint over what they found. */
#include "probe/probe.h"

#include "base/digest.h"
#include "base/mem.h"
#include "base/msg.h"
#include "probe/reason.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const struct probe_ops *const probes[] = {&probe_machine, &probe_limits, &probe_git,
                                                 &probe_python, &probe_gpu};

/* ---- fingerprint ---- */

/* A quantity of the record as text; NULL when open. */
static char *known_value(const json_t *object, const char *key) {
    const json_t *q = json_get_object(object, key);
    if (q == NULL || strcmp(json_get_text(q, "state", "open"), "open") == 0) {
        return NULL;
    }
    return mem_printf("%.6g", json_get_real(q, "value", 0));
}

/* A quota slows a run down as fewer processors would; that there is none is known as well. */
static char *cpu_limit(const json_t *limits) {
    const json_t *q = json_get_object(limits, "cpu");
    const char *none = quantity_reason_name(QUANTITY_NOT_APPLICABLE);
    return strcmp(json_get_text(q, "reason", ""), none) == 0 ? mem_strdup("none")
                                                             : known_value(limits, "cpu");
}

/* What the kernel keeps of the same memory differs by some MiB between boots and versions: a
 * sixteenth of the power of two below is what a user would call another machine. */
static char *memory_class(const json_t *totals) {
    const json_t *q = json_get_object(totals, "memory");
    int64_t bytes = json_get_int(q, "value", 0);
    if (bytes <= 0) {
        return NULL;
    }
    int64_t step = 1;
    while (step <= bytes / 32) {
        step *= 2;
    }
    return mem_printf("%lld", (long long)((bytes + step / 2) / step * step));
}

/* "debian 12": the major version, so that security updates do not part runs. */
static char *distribution(const json_t *machine) {
    const char *id = json_get_text(machine, "distribution_id", NULL);
    const char *version = json_get_text(machine, "distribution_version", "");
    return id != NULL ? mem_printf("%s %.*s", id, (int)strcspn(version, "."), version) : NULL;
}

/* The first interpreter decides; "none" is an answer as well. */
static void interpreter(const json_t *environment, char **ret_version, char **ret_packages) {
    const json_t *list = json_get_array(environment, "interpreters");
    const json_t *first = json_array_get(list, 0);
    *ret_version = *ret_packages = NULL;
    if (list == NULL) {
        return;
    }
    if (first == NULL) {
        *ret_version = mem_strdup("none");
        *ret_packages = mem_strdup("none");
        return;
    }
    const char *version = json_get_text(first, "version", NULL);
    const char *packages = json_get_text(first, "packages_digest", NULL);
    *ret_version = version != NULL ? mem_strdup(version) : NULL;
    *ret_packages = packages != NULL ? mem_strdup(packages) : NULL;
}

/* "8x NVIDIA H200", the models of a mixed machine one behind the other in the order of the devices;
 * NULL where no GPU is known to be there: such machines have the fingerprint that they always had.
 */
static char *gpu_models(const json_t *environment) {
    const json_t *devices = json_get_array(json_get_object(environment, "gpu"), "devices");
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    size_t count = json_array_size(devices);
    for (size_t i = 0; i < count; i++) {
        const char *name = json_get_text(json_array_get(devices, i), "name", "?");
        size_t same = 0, before = 0;
        for (size_t j = 0; j < count; j++) {
            bool equal = strcmp(json_get_text(json_array_get(devices, j), "name", "?"), name) == 0;
            same += equal;
            before += equal && j < i;
        }
        if (before == 0) {
            strbuf_printf(&text, "%s%zux %s", text.length > 0 ? "; " : "", same, name);
        }
    }
    return count > 0 ? strbuf_take(&text) : NULL;
}

/* The major version, as evidence compares it. */
static char *gpu_driver(const json_t *environment) {
    const char *driver = json_get_text(json_get_object(environment, "gpu"), "driver", NULL);
    return driver != NULL ? mem_strndup(driver, strcspn(driver, ".")) : NULL;
}

/* Adds `fingerprint_parts` (text or null each) and `fingerprint`, SHA-256 over the lines
 * "key=value\n" in this order; an open part is the line "key?\n". The last two stand only where
 * there is a GPU. */
static void put_fingerprint(json_t *environment) {
    const json_t *machine = json_get_object(environment, "machine");
    const json_t *totals = json_get_object(environment, "totals");
    const json_t *limits = json_get_object(environment, "limits");
    const char *model = json_get_text(machine, "cpu_model", NULL);
    char *gpu = gpu_models(environment);
    struct {
        const char *key;
        char *value;
    } parts[] = {
        {"cpu_model", model != NULL ? mem_strdup(model) : NULL},
        {"cpus", known_value(totals, "cpu")},
        {"cpus_usable", known_value(limits, "cpu_affinity")},
        {"cpu_limit", cpu_limit(limits)},
        {"memory", memory_class(totals)},
        {"distribution", distribution(machine)},
        {"interpreter", NULL},
        {"packages", NULL},
        {"gpu", gpu},
        {"gpu_driver", gpu != NULL ? gpu_driver(environment) : NULL},
    };
    size_t count = ARRAY_LENGTH(parts) - (gpu != NULL ? 0 : 2);
    interpreter(environment, &parts[6].value, &parts[7].value);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_t *shown = json_object();
    for (size_t i = 0; i < count; i++) {
        strbuf_printf(&text, "%s%s%s\n", parts[i].key, parts[i].value != NULL ? "=" : "?",
                      parts[i].value != NULL ? parts[i].value : "");
        json_put_text(shown, parts[i].key, parts[i].value);
        mem_free_ptr(&parts[i].value);
    }
    char hex[SHA256_HEX_SIZE];
    digest_sha256(strbuf_str(&text), text.length, hex);
    json_put_text(environment, "fingerprint", hex);
    json_put(environment, "fingerprint_parts", shown);
}

json_t *probe_code(const struct probe_context *context) {
    AUTO_JSON json_t *environment = json_object();
    AUTO_JSON json_t *reasons = json_object();
    struct err err = ERR_INIT;
    int rc = probe_git.collect(context, environment, reasons, &err);
    json_t *code = json_get_object(environment, "code");
    code = code != NULL ? json_incref(code) : json_object();
    if (rc < 0) {
        json_put_text(code, "reason", err.text);
    }
    return code;
}

json_t *probe_environment(const struct probe_context *context) {
    json_t *environment = json_object(), *reasons = json_object();
    for (size_t i = 0; i < ARRAY_LENGTH(probes); i++) {
        assert(probes[i]->name != NULL && probes[i]->collect != NULL);
        struct err err = ERR_INIT;
        if (probes[i]->collect(context, environment, reasons, &err) < 0) {
            reason_put(reasons, probes[i]->name, err.text);
        }
    }
    put_fingerprint(environment);
    json_put(environment, "reasons", reasons);
    return environment;
}
