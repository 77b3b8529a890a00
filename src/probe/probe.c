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
                                                 &probe_python};

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

/* Adds `fingerprint_parts` (text or null each) and `fingerprint`, SHA-256 over the lines
 * "key=value\n" in this order; an open part is the line "key?\n". */
static void put_fingerprint(json_t *environment) {
    const json_t *machine = json_get_object(environment, "machine");
    const json_t *totals = json_get_object(environment, "totals");
    const json_t *limits = json_get_object(environment, "limits");
    const char *model = json_get_text(machine, "cpu_model", NULL);
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
    };
    interpreter(environment, &parts[6].value, &parts[7].value);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_t *shown = json_object();
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
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
