/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of the topics, and what all judges use. See doctor.h. */
#include "doctor/doctor.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"
#include "doctor/parts.h"
#include "model/quantity-read.h"

#include <string.h>

const char *doctor_state_name(enum doctor_state state) {
    static const char *const names[DOCTOR_STATE_COUNT_] = {"known", "open", "warning", "problem"};
    return names[state];
}

const char *doctor_topic_name(enum doctor_topic topic) {
    static const char *const names[DOCTOR_TOPIC_COUNT_] = {
        "machine",      "gpu",        "cuda",  "disk",       "places",  "limits",
        "clock",        "visibility", "plan",  "repository", "licence", "commands",
        "requirements", "stack",      "files", "models",     "seeds",   "settings"};
    return names[topic];
}

struct doctor_finding *doctor_add(struct judging *judging, enum doctor_topic topic, const char *id,
                                  enum doctor_state state, const char *text, const char *advice) {
    struct doctor_findings *findings = judging->findings;
    if (findings->count == judging->room) {
        size_t room = 2 * judging->room + 32;
        struct doctor_finding *items = arena_alloc(judging->arena, room * sizeof *items);
        if (findings->count > 0)
            memcpy(items, findings->items, findings->count * sizeof *items);
        findings->items = items;
        judging->room = room;
    }
    struct doctor_finding *finding = &findings->items[findings->count++];
    *finding = (struct doctor_finding){
        .topic = topic, .id = id, .state = state, .text = text, .advice = advice};
    return finding;
}

void doctor_add_quantity(struct doctor_finding *finding, struct quantity quantity) {
    finding->has_quantity = true;
    finding->quantity = quantity;
}

const char *doctor_bytes(struct judging *judging, double bytes) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    quantity_format_value(bytes, UNIT_BYTE, &text);
    return arena_strdup(judging->arena, strbuf_str(&text));
}

const char *doctor_plain(struct judging *judging, const char *text) {
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    str_add_printable(&plain, text, strlen(text));
    return arena_strdup(judging->arena, strbuf_str(&plain));
}

struct quantity doctor_quantity(struct judging *judging, const json_t *object, const char *key,
                                const char *unit) {
    return quantity_from_json(json_object_get(object, key), unit, judging->arena);
}

void doctor_judge_machine(struct judging *judging) {
    const json_t *environment = judging->input->environment;
    const json_t *machine = json_get_object(environment, "machine");
    const json_t *totals = json_get_object(environment, "totals");
    struct quantity cpus = doctor_quantity(judging, totals, "cpu", NULL);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    const char *const parts[] = {
        json_get_text(machine, "distribution", NULL), json_get_text(machine, "kernel", NULL),
        json_get_text(machine, "architecture", NULL), json_get_text(machine, "cpu_model", NULL)};
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++)
        if (parts[i] != NULL)
            strbuf_add_next(&text, ", ", doctor_plain(judging, parts[i]));
    const char *what = text.length > 0 ? arena_strdup(judging->arena, strbuf_str(&text))
                                       : _("the machine does not say what it is");
    struct doctor_finding *finding =
        doctor_add(judging, DOCTOR_MACHINE, "machine", text.length > 0 ? DOCTOR_KNOWN : DOCTOR_OPEN,
                   what, NULL);
    if (quantity_is_known(&cpus))
        doctor_add_quantity(finding, cpus);
}

void doctor_judge(const struct doctor_input *input, struct arena *arena,
                  struct doctor_findings *ret_findings) {
    *ret_findings = (struct doctor_findings){.snippet = ""};
    struct judging judging = {.input = input, .arena = arena, .findings = ret_findings};
    AUTO_STRBUF struct strbuf snippet = STRBUF_INIT;
    if (!input->without_machine) {
        doctor_judge_machine(&judging);
        doctor_judge_gpu(&judging);
        doctor_judge_cuda(&judging);
        doctor_judge_places(&judging);
        doctor_judge_limits(&judging);
        doctor_judge_sight(&judging);
        doctor_judge_plan(&judging);
        strbuf_add_str(&snippet, doctor_snippet(&judging));
    }
    if (input->repository != NULL) {
        doctor_judge_repository(&judging);
        doctor_add_repository_snippet(&judging, &snippet);
    }
    strbuf_done(&judging.supported);
    ret_findings->facts = judging.facts;
    ret_findings->snippet = arena_strdup(arena, strbuf_str(&snippet));
}
