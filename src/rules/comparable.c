/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Comparability without a plan (DESIGN section 6, as far as records alone can tell). It never
 * repairs a record: what differs or is known of one run only keeps two runs apart, and the reason
 * is said.
 */
#include "rules/comparable.h"
#include "rules/comparable-parts.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

#define STOPPED_SHARE 0.01 /* of the wall time; below, a stop does not show in it */

/* ---- the group ---- */

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The condition's pairs in the order of their names, so that the order on the command line does not
 * matter. */
static json_t *sorted_object(const json_t *object) {
    json_t *sorted = json_object();
    size_t count = json_object_size(object);
    AUTO_FREE const char **names = mem_alloc((count + 1) * sizeof *names);
    size_t i = 0;
    const char *name;
    json_t *value;

    /* json_object_foreach only reads, but its parameter is not const. */
    union {
        const json_t *in;
        json_t *out;
    } cast = {.in = object};
    json_object_foreach (cast.out, name, value) {
        names[i++] = name;
    }
    qsort(names, count, sizeof *names, compare_names);
    for (i = 0; i < count; i++)
        json_put(sorted, names[i], json_incref(json_object_get(object, names[i])));
    return sorted;
}

static void put_copy(json_t *to, const char *name, const json_t *from) {
    json_t *value = json_object_get(from, name);
    json_put(to, name, value ? json_incref(value) : json_null());
}

void comparable_group_key(const struct run *run, char ret_hex[SHA256_HEX_SIZE]) {
    AUTO_JSON json_t *group = json_object();
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;

    put_copy(group, "command", run->start);
    put_copy(group, "command_base64", run->start); /* arguments that are no UTF-8 */
    json_put(group, "condition", sorted_object(json_get_object(run->start, "condition")));
    put_copy(group, "cwd", run->start);
    put_copy(group, "step", run->start);
    json_add_compact(&text, group);
    digest_sha256(strbuf_str(&text), text.length, ret_hex);
}

bool comparable_same_group(const struct run *a, const struct run *b) {
    char key_a[SHA256_HEX_SIZE];
    char key_b[SHA256_HEX_SIZE];

    comparable_group_key(a, key_a);
    comparable_group_key(b, key_b);
    return strcmp(key_a, key_b) == 0;
}

/* ---- one run ---- */

static const char *why_not_ok(enum outcome_class outcome) {
    switch (outcome) {
    case OUTCOME_OK:
        return NULL;
    case OUTCOME_RUNNING:
        return N_("it is still running");
    case OUTCOME_FAILED:
        return N_("it failed");
    case OUTCOME_START_FAILED:
        return N_("its command could not be started");
    case OUTCOME_GPU_OOM:
        return N_("it ran out of GPU memory");
    case OUTCOME_HOST_OOM:
        return N_("it ran out of host memory");
    case OUTCOME_SHM_EXHAUSTED:
        return N_("it ran out of shared memory");
    case OUTCOME_DISK_FULL:
        return N_("its disk was full");
    case OUTCOME_ACCESS_DENIED:
        return N_("its access was refused");
    case OUTCOME_DEPENDENCY:
        return N_("a dependency was missing");
    case OUTCOME_GPU_FAULT:
        return N_("its GPU failed");
    case OUTCOME_BUDGET:
        return N_("it was stopped by its budget: its time is a lower bound, never averaged with "
                  "finished runs");
    case OUTCOME_INTERRUPTED:
        return N_(
            "it was interrupted: its time is a lower bound, never averaged with finished runs");
    case OUTCOME_KILLED:
        return N_("it was killed: its time is a lower bound, never averaged with finished runs");
    case OUTCOME_PREEMPTED:
        return N_("it was preempted: its time is a lower bound, never averaged with finished runs");
    case OUTCOME_ENDED:
        return N_("how it ended is not visible");
    case OUTCOME_LOST:
        return N_("its end was not recorded");
    case OUTCOME_COUNT_:
        break;
    }
    return N_("its outcome is not known");
}

bool comparable_is_function_test(const struct run *run) {
    return strcmp(json_get_text(run->start, "purpose", ""), "function-test") == 0;
}

/* Time in job-control stop is inside the wall time. */
static bool was_stopped(const struct run *run) {
    double stopped_s = json_get_real(run->end, "stopped_ns", 0.0) / 1e9;
    return stopped_s > STOPPED_SHARE * run->wall.value;
}

/* A device that only plays back a trace tells nothing of the machine that a study needs. */
static bool has_stand_in(const struct run *run) {
    for (size_t i = 0; i < run->gpu_count; i++)
        if (run->gpus[i].stand_in)
            return true;
    return false;
}

const char *comparable_why_unusable(const struct run *run, bool for_estimate) {
    const char *why = run->running ? N_("it is still running") : why_not_ok(run->outcome);

    if (!why && has_stand_in(run))
        why = N_("the GPU was a stand-in");

    if (!why && run->validity == RUN_INVALID)
        why = N_("it was declared invalid");
    if (!why && for_estimate && comparable_is_function_test(run))
        why = N_("it is a function test, never the base of an estimate");
    if (!why && (!quantity_is_known(&run->wall) || !(run->wall.value > 0.0)))
        why = N_("its wall time is not known");
    if (!why && run->wall.state != QUANTITY_MEASURED)
        why = N_("its wall time was not measured");
    if (!why && run->wall.bound != QUANTITY_EXACT)
        why = N_("its wall time is cut off (a lower bound), never averaged with finished runs");
    if (!why && run->verified && strcmp(run->verified, "no") == 0)
        why = N_("a check of its result was not met");
    if (!why && was_stopped(run))
        why = N_("it was stopped for a while (Ctrl-Z)");
    return why;
}

bool comparable_is_usable(const struct run *run, const char **ret_reason) {
    const char *why = comparable_why_unusable(run, true);

    *ret_reason = why ? _(why) : NULL;
    return !why;
}

bool comparable_is_attempt(const struct run *run) {
    bool on_purpose = outcome_is_stopped(run->outcome);
    bool unfinished =
        run->running || run->outcome == OUTCOME_RUNNING || run->outcome == OUTCOME_ENDED;

    return !on_purpose && !unfinished;
}

/* ---- two runs ---- */

enum comparable_sameness comparable_values(const json_t *a, const json_t *b) {
    if (!a && !b)
        return COMPARABLE_SAME;
    if (!a || !b)
        return COMPARABLE_ONE_UNKNOWN;
    return json_equal(a, b) ? COMPARABLE_SAME : COMPARABLE_DIFFERENT;
}

const json_t *comparable_known_text(const json_t *object, const char *key) {
    const char *text = json_get_text(object, key, NULL);
    return text && *text ? json_object_get(object, key) : NULL;
}

enum comparable_sameness comparable_code(const struct run *a, const struct run *b) {
    const json_t *code_a = json_get_object(a->environment, "code");
    const json_t *code_b = json_get_object(b->environment, "code");
    const json_t *digest_a = comparable_known_text(code_a, "digest");
    const json_t *digest_b = comparable_known_text(code_b, "digest");

    if (digest_a && digest_b)
        return comparable_values(digest_a, digest_b);
    enum comparable_sameness commit = comparable_values(comparable_known_text(code_a, "commit"),
                                                        comparable_known_text(code_b, "commit"));
    if (commit != COMPARABLE_SAME)
        return commit;
    if (!comparable_known_text(code_a, "commit"))
        return comparable_values(digest_a, digest_b);
    enum comparable_sameness dirty =
        comparable_values(json_object_get(code_a, "dirty"), json_object_get(code_b, "dirty"));
    return dirty != COMPARABLE_SAME
               ? dirty
               : comparable_values(comparable_known_text(code_a, "diff_digest"),
                                   comparable_known_text(code_b, "diff_digest"));
}

static bool has_same_fact(const json_t *a, const json_t *b, const char *key) {
    return comparable_values(json_object_get(a, key), json_object_get(b, key)) == COMPARABLE_SAME;
}

bool comparable_input_mtime_is_same(const json_t *a, const json_t *b) {
    return strcmp(json_get_text(a, "kind", ""), "file") != 0 || has_same_fact(a, b, "mtime_ns");
}

/* One --input: an identity (blob name) decides, else size and time of change. A folder changes its
 * time whenever something is written beside, so only its size and number of items count. */
enum comparable_input comparable_input(const json_t *a, const json_t *b) {
    static const struct {
        const char *key;
        enum comparable_input part;
    } facts[] = {
        {"path", COMPARABLE_INPUT_PATH},
        {"kind", COMPARABLE_INPUT_KIND},
        {"bytes", COMPARABLE_INPUT_BYTES},
        {"items", COMPARABLE_INPUT_ITEMS},
    };

    for (size_t i = 0; i < ARRAY_LENGTH(facts); i++)
        if (!has_same_fact(a, b, facts[i].key))
            return facts[i].part;
    switch (comparable_values(comparable_known_text(a, "identity"),
                              comparable_known_text(b, "identity"))) {
    case COMPARABLE_SAME:
        break;
    case COMPARABLE_DIFFERENT:
        return COMPARABLE_INPUT_IDENTITY;
    case COMPARABLE_ONE_UNKNOWN:
        return COMPARABLE_INPUT_IDENTITY_OF_ONE;
    }
    return comparable_known_text(a, "identity") || comparable_input_mtime_is_same(a, b)
               ? COMPARABLE_INPUT_SAME
               : COMPARABLE_INPUT_MTIME;
}

static bool has_same_inputs(const struct run *a, const struct run *b) {
    const json_t *inputs_a = json_get_array(a->start, "inputs");
    const json_t *inputs_b = json_get_array(b->start, "inputs");

    if (json_array_size(inputs_a) != json_array_size(inputs_b))
        return false;
    for (size_t i = 0; i < json_array_size(inputs_a); i++)
        if (comparable_input(json_array_get(inputs_a, i), json_array_get(inputs_b, i)) !=
            COMPARABLE_INPUT_SAME)
            return false;
    return true;
}

/* What is known of both environments and differs, by the parts of the fingerprint (probe/probe.c);
 * NULL: nothing. */
static const char *why_part_differs(const struct run *run, const struct run *reference) {
    static const struct {
        const char *part, *why;
    } parts[] = {
        {"cpu_model", N_("it ran on another kind of processor")},
        {"cpus", N_("it ran on a machine with another number of processors")},
        {"cpus_usable", N_("it could use another number of processors")},
        {"cpu_limit", N_("its CPU limit differs")},
        {"memory", N_("it ran on a machine with another amount of memory")},
        {"distribution", N_("it ran on another distribution of Linux")},
        {"interpreter", N_("its Python interpreter differs")},
        {"packages", N_("its Python packages differ")},
        {"gpu", N_("it ran on other GPUs")},
        {"gpu_driver", N_("its GPU driver differs")},
    };
    const json_t *a = json_get_object(run->environment, "fingerprint_parts");
    const json_t *b = json_get_object(reference->environment, "fingerprint_parts");

    for (size_t i = 0; a && b && i < ARRAY_LENGTH(parts); i++)
        if (comparable_values(comparable_known_text(a, parts[i].part),
                              comparable_known_text(b, parts[i].part)) == COMPARABLE_DIFFERENT)
            return parts[i].why;
    return NULL;
}

const char *comparable_why_environment(const struct run *run, const struct run *reference) {
    const char *why = why_part_differs(run, reference);
    return why ? why : N_("the environment changed");
}

bool comparable_environment_differs(const struct run *run, const struct run *reference,
                                    const char **ret_reason) {
    const char *why = comparable_environment(run, reference) == COMPARABLE_DIFFERENT
                          ? why_part_differs(run, reference)
                          : NULL;
    *ret_reason = why ? _(why) : NULL;
    return why != NULL;
}

enum comparable_sameness comparable_environment(const struct run *a, const struct run *b) {
    return comparable_values(comparable_known_text(a->environment, "fingerprint"),
                             comparable_known_text(b->environment, "fingerprint"));
}

static bool has_same(const struct run *a, const struct run *b, const char *key) {
    return has_same_fact(a->start, b->start, key);
}

static const char *why_not_same(const struct run *run, const struct run *reference) {
    if (!has_same(run, reference, "command") || !has_same(run, reference, "command_base64"))
        return N_("its command differs");
    if (!comparable_same_group(run, reference)) {
        if (!has_same(run, reference, "cwd"))
            return N_("it ran in another folder");
        return N_("its condition differs");
    }
    if (!has_same(run, reference, "phase"))
        return N_("another phase was declared with --phase");
    switch (comparable_code(run, reference)) {
    case COMPARABLE_SAME:
        break;
    case COMPARABLE_DIFFERENT:
        return N_("the code changed");
    case COMPARABLE_ONE_UNKNOWN:
        return N_("the code state of only one of them is known");
    }
    if (!has_same_inputs(run, reference))
        return N_("an input changed");
    switch (comparable_environment(run, reference)) {
    case COMPARABLE_SAME:
        break;
    case COMPARABLE_DIFFERENT:
        return comparable_why_environment(run, reference);
    case COMPARABLE_ONE_UNKNOWN:
        return N_("the environment of only one of them is known");
    }
    return NULL;
}

bool comparable_counts(const struct run *run, const struct run *reference,
                       const char **ret_reason) {
    if (!comparable_is_usable(run, ret_reason))
        return false;
    const char *why = run == reference ? NULL : why_not_same(run, reference);
    *ret_reason = why ? _(why) : NULL;
    return !why;
}
