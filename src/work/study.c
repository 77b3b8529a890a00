/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A study as a command works with it. Reads the plan's runs and events and looks at the code as it
 * is now; what they mean is decided in rules/study.h, not here. Changes nothing.
 */
#include "work/study.h"

#include "base/clock.h"
#include "base/msg.h"
#include "base/root.h"
#include "base/str.h"
#include "probe/probe.h"
#include "work/gate.h"
#include "work/past.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void work_study_done(struct work_study *study) {
    for (size_t i = 0; i < study->run_count; i++)
        study->runs[i] = run_free(study->runs[i]);
    mem_free_ptr(&study->runs);
    work_sessions_done(&study->sessions);
    json_decref_ptr(&study->code);
    json_decref_ptr(&study->events);
    json_decref_ptr(&study->code_paths);
    study->plan = plan_free(study->plan);
    study->arena = arena_free(study->arena);
    *study = (struct work_study){0};
}

/* ---- the target ---- */

static int unknown_environment(const struct plan *plan, const char *id, struct err *err) {
    AUTO_FREE const char **ids = mem_alloc((plan->environment_count + 1) * sizeof(*ids));
    if (plan->environment_count == 0)
        return err_set(err, -EINVAL, "environment-unknown",
                       "the plan names no environments, so there is no '%s': add it under "
                       "'environments:'",
                       id);
    for (size_t i = 0; i < plan->environment_count; i++)
        ids[i] = plan->environments[i].id;
    const char *near = str_nearest(id, ids, plan->environment_count);
    if (near)
        return err_set(err, -EINVAL, "environment-unknown",
                       "the plan has no environment '%s'; did you mean '%s'?", id, near);
    return err_set(err, -EINVAL, "environment-unknown",
                   "the plan has no environment '%s'; its first one is '%s'", id, ids[0]);
}

static int find_environment(const struct plan *plan, const char *id,
                            const struct plan_environment **ret_environment, struct err *err) {
    const char *variable = getenv("PROBELAUF_ENV");
    if (!id && variable && *variable)
        id = variable;
    *ret_environment = !id && plan->environment_count > 0 ? &plan->environments[0] : NULL;
    if (!id)
        return 0;
    for (size_t i = 0; i < plan->environment_count; i++)
        if (plan->environments[i].id && strcmp(plan->environments[i].id, id) == 0) {
            *ret_environment = &plan->environments[i];
            return 0;
        }
    return unknown_environment(plan, id, err);
}

/* ---- the runs ---- */

/* Rows come newest first; of the parts of one run the one that began first stands last. */
static int load_runs(struct work_study *study, struct runs *runs, struct err *err) {
    struct store_query query = {
        .type = "run", .study = study->plan->study.id, .limit = WORK_STUDY_RUNS_MAX + 1};
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_JSON json_t *loaded = json_object(); /* ids */
    struct store_entry *entries = NULL;
    size_t count = 0, unreadable = 0;
    int rc = runs_list(runs, &query, arena, &entries, &count, err);
    if (rc < 0)
        return rc;
    if (count > WORK_STUDY_RUNS_MAX) {
        study->more = true;
        count = WORK_STUDY_RUNS_MAX;
    }
    study->runs = mem_alloc((count + 1) * sizeof(*study->runs));
    for (size_t i = 0; i < count; i++) {
        struct err one = ERR_INIT;
        if (json_object_get(loaded, entries[i].run))
            continue;
        if (runs_load_entry(runs, &entries[i], false, &study->runs[study->run_count], &one) < 0) {
            unreadable++;
            continue;
        }
        json_put(loaded, entries[i].run, json_true());
        study->run_count++;
    }
    if (unreadable > 0)
        study->unreadable = arena_printf(
            study->arena,
            msg_plural((unsigned long)unreadable,
                       "%zu record of this study cannot be read; see 'probelauf ledger check'",
                       "%zu records of this study cannot be read; see 'probelauf ledger check'"),
            unreadable);
    return 0;
}

/* ---- the code as it is now ---- */

static json_t *paths_json(const struct plan_code *code) {
    if (code->paths.count == 0)
        return NULL;
    json_t *paths = json_array();
    for (size_t i = 0; i < code->paths.count; i++)
        json_array_append_new(paths, json_text(code->paths.items[i].text));
    return paths;
}

static void look_at_code(struct work_study *study) {
    const struct plan *plan = study->plan;
    size_t count = plan->code.paths.count;
    AUTO_FREE const char **paths = mem_alloc((count + 1) * sizeof(*paths));
    for (size_t i = 0; i < count; i++)
        paths[i] = plan->code.paths.items[i].text;
    const struct probe_context context = {
        .root = &root_real,
        .cwd = plan->folder,
        .code_folder = plan->folder,
        .code_paths = paths,
        .code_except = plan->name,
    };
    study->code = probe_code(&context);
    study->input.code_digest = json_get_text(study->code, "digest", NULL);
    if (json_get_array(study->code, "paths"))
        study->input.code_paths = json_get_array(study->code, "paths"); /* as a run records them */
    if (study->input.code_digest)
        return;
    const char *why = json_get_text(study->code, "reason", NULL);
    study->input.code_why =
        why ? arena_strdup(study->arena, msg_get(why)) : _("git did not tell it");
}

/* ---- what was settled ---- */

static void find_freezes(struct work_study *study) {
    size_t count = json_array_size(study->events), found = 0;
    struct evidence_freeze *freezes = arena_alloc(study->arena, (count + 1) * sizeof(*freezes));
    for (size_t i = count; i > 0; i--) { /* events stand oldest first */
        const json_t *event = json_array_get(study->events, i - 1);
        const char *block = json_get_text(event, "block", NULL);
        if (!block || strcmp(json_get_text(event, "type", ""), "freeze") != 0)
            continue;
        freezes[found++] = (struct evidence_freeze){
            .id = json_get_text(event, "id", ""),
            .block = block,
            .utc_ns = json_get_int(event, "utc_ns", 0),
            .code_digest = json_get_text(json_get_object(event, "code"), "digest", NULL),
            .plan_digest = json_get_text(event, "plan_digest", NULL),
            .inputs = json_get_array(event, "inputs"),
            .conditions = json_get_array(event, "conditions"),
            .replaces = json_get_array(event, "replaces"),
        };
    }
    study->input.freezes = freezes;
    study->input.freeze_count = found;
}

/* A run says which session it was in, where reports look for it. */
static void tell_runs(struct work_study *study) {
    for (size_t i = 0; i < study->run_count; i++) {
        const struct session *session = session_of_run(&study->sessions.list, study->runs[i]->id);
        if (session)
            json_put_text(study->runs[i]->start, "session", session->id);
    }
}

/* Without one nothing more is read. What else ran on the machine meanwhile was no idle time, and so
 * runs of other studies are looked at, too. */
static int load_sessions(struct work_study *study, struct runs *runs, struct err *err) {
    bool any = false;
    for (size_t i = 0; i < json_array_size(study->events) && !any; i++)
        any = strcmp(json_get_text(json_array_get(study->events, i), "type", ""),
                     "session-start") == 0;
    if (!any)
        return 0;
    int rc = work_sessions_of_events(runs, study->events, &study->sessions, err);
    if (rc < 0)
        return rc;
    session_find_paid(&study->sessions.list, study->plan, study->sessions.arena);
    study->input.sessions = study->sessions.list.items;
    study->input.session_count = study->sessions.list.count;
    tell_runs(study);
    return 0;
}

static int look_at_past(struct work_study *study, struct runs *runs, struct err *err) {
    struct work_past past;
    int rc = work_past_find(runs, study->plan->study.id, study->arena, &past, err);
    if (rc < 0)
        return rc;
    study->input.past = past.conditions;
    study->input.past_of = past.of;
    study->input.past_count = past.count;
    return 0;
}

void work_study_derive(struct work_study *study) {
    struct gate *gates;
    find_freezes(study);
    study->input.gate_count = work_gates(study, &gates);
    study->input.gates = gates;
    study_derive(&study->input, study->arena, &study->study);
}

int work_study_open(struct plan *take_plan, const struct work_study_options *options,
                    struct runs *runs, struct work_study *ret, struct err *err) {
    *ret = (struct work_study){.arena = arena_new(), .plan = take_plan, .unreadable = ""};
    ret->input.plan = take_plan;
    int rc = find_environment(take_plan, options->environment, &ret->input.environment, err);
    if (rc == 0)
        rc = runs_need_ledger(runs, err);
    if (rc == 0)
        rc = load_runs(ret, runs, err);
    if (rc == 0)
        rc = runs_events(runs, &(struct store_query){.study = take_plan->study.id}, &ret->events,
                         err);
    if (rc == 0)
        rc = load_sessions(ret, runs, err);
    if (rc == 0 && options->look_at_past)
        rc = look_at_past(ret, runs, err);
    if (rc < 0)
        return rc;
    ret->input.now_utc_ns = clock_utc_ns(); /* after all that was read */
    const struct run **looked_at =
        arena_alloc(ret->arena, (ret->run_count + 1) * sizeof *looked_at);
    for (size_t i = 0; i < ret->run_count; i++)
        looked_at[i] = ret->runs[i];
    ret->input.runs = looked_at;
    ret->input.run_count = ret->run_count;
    ret->code_paths = paths_json(&take_plan->code);
    ret->input.code_paths = ret->code_paths;
    if (options->look_at_code)
        look_at_code(ret);
    else
        ret->input.code_why = _("it was not looked at");
    work_study_derive(ret);
    return 0;
}
