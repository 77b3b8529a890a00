/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records about a study: what was frozen for a block, estimates that were kept. Each is an event of
 * its own (work/event.h); whether it still holds is found out when it is read, never stored.
 */
#include "work/study.h"

#include "base/clock.h"
#include "base/msg.h"
#include "base/str.h"
#include "exec/paths.h"
#include "rules/comparable.h"
#include "rules/estimate.h"
#include "text/secret.h"
#include "work/content.h"
#include "work/event.h"

#include <errno.h>
#include <string.h>

static const char *environment_id(const struct work_study *study) {
    return study->input.environment ? study->input.environment->id : NULL;
}

void work_study_remember(struct work_study *study, const json_t *event, const char *id) {
    json_t *copy = json_copy((json_t *)(uintptr_t)event);
    json_put_text(copy, "id", id);
    json_array_append_new(study->events, copy);
}

/* ---- block freeze ---- */

const struct study_block *work_study_block(const struct work_study *study, const char *id,
                                           struct err *err) {
    const struct plan *plan = study->plan;
    AUTO_FREE const char **ids = mem_alloc((plan->block_count + 1) * sizeof(*ids));
    for (size_t i = 0; i < study->study.block_count; i++)
        if (strcmp(study->study.blocks[i].block->id, id) == 0)
            return &study->study.blocks[i];
    for (size_t i = 0; i < plan->block_count; i++)
        ids[i] = plan->blocks[i].id;
    const char *near = str_nearest(id, ids, plan->block_count);
    if (near)
        (void)err_set(err, -ENOENT, "block-unknown",
                      "the plan has no block '%s'; did you mean '%s'?", id, near);
    else
        (void)err_set(err, -ENOENT, "block-unknown",
                      "the plan has no block '%s'; 'probelauf block list' shows them", id);
    return NULL;
}

/* What stands under code.paths must be what a commit says, or nobody can have it again. */
static int check_code(const struct work_study *study, struct err *err) {
    if (!study->input.code_digest)
        return err_set(err, -ENODATA, "code-unknown",
                       "the code cannot be frozen, since it is not known: %s",
                       study->input.code_why ? study->input.code_why : "");
    if (json_get_bool(study->code, "code_dirty", 1) == 0)
        return 0;
    AUTO_STRBUF struct strbuf command = STRBUF_INIT;
    strbuf_add_str(&command, "git status");
    for (size_t i = 0; i < study->plan->code.paths.count; i++)
        strbuf_printf(&command, "%s %s", i == 0 ? " --" : "",
                      study->plan->code.paths.items[i].text);
    return err_set(err, -EBUSY, "code-dirty",
                   "the code has uncommitted changes: '%s' shows them; commit them, then freeze",
                   strbuf_str(&command));
}

static bool names_input(const json_t *inputs, const char *name) {
    for (size_t i = 0; i < json_array_size(inputs); i++)
        if (strcmp(json_get_text(json_array_get(inputs, i), "path", ""), name) == 0)
            return true;
    return false;
}

/* As the file system shows it (like an input of a run), with the digest of its content. */
static int add_input(json_t *inputs, const char *folder, const char *name,
                     struct content_progress *progress, struct err *err) {
    AUTO_FREE char *path = name[0] == '/' ? mem_strdup(name) : mem_printf("%s/%s", folder, name);
    struct path_facts facts;
    char hex[SHA256_HEX_SIZE];
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    secret_mask(name, strlen(name), &safe);
    if (names_input(inputs, strbuf_str(&safe)))
        return 0;
    AUTO_JSON json_t *input = path_describe(path, &facts);
    int rc = content_digest(path, progress, hex, err);
    if (rc < 0)
        return rc;
    json_put_text(input, "path", strbuf_str(&safe));
    json_put_text(input, "sha256", hex);
    json_array_append_new(inputs, steal(input));
    return 0;
}

static int add_inputs(const struct work_study *study, const struct plan_block *block,
                      json_t *inputs, struct content_progress *progress, struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    const char *folder =
        block->folder
            ? arena_printf(arena, "%s%s%s", block->folder[0] == '/' ? "" : study->plan->folder,
                           block->folder[0] == '/' ? "" : "/", block->folder)
            : study->plan->folder;
    for (size_t i = 0; i < block->condition_count; i++)
        for (size_t k = 0; k < block->inputs.count; k++) {
            const char *name = plan_fill(&block->conditions[i], block->inputs.items[k].text, arena);
            int rc = add_input(inputs, folder, name, progress, err);
            if (rc < 0)
                return rc;
        }
    return 0;
}

static json_t *condition_ids(const struct plan_block *block) {
    json_t *ids = json_array();
    for (size_t i = 0; i < block->condition_count; i++)
        json_array_append_new(ids, json_text(block->conditions[i].id));
    return ids;
}

static json_t *code_json(const struct work_study *study) {
    static const char *const keys[] = {"repo", "commit", "branch", "digest"};
    json_t *code = json_object();
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        json_t *value = json_object_get(study->code, keys[i]);
        if (value)
            json_put(code, keys[i], json_incref(value));
    }
    if (study->code_paths)
        json_put(code, "paths", json_incref(study->code_paths));
    return code;
}

/* The clock may have been wrong before, or may be now: what was there is named. */
static json_t *freezes_before(const struct work_study *study, const char *block) {
    json_t *ids = json_array();
    for (size_t i = 0; i < study->input.freeze_count; i++)
        if (strcmp(study->input.freezes[i].block, block) == 0)
            json_array_append_new(ids, json_text(study->input.freezes[i].id));
    return ids;
}

static json_t *freeze_event(const struct work_study *study, const struct plan_block *block,
                            json_t *inputs) {
    json_t *event = event_begin("freeze", clock_utc_ns());
    json_put_text(event, "study", study->plan->study.id);
    json_put_text(event, "block", block->id);
    if (study->plan->study.paper_version)
        json_put_text(event, "paper_version", study->plan->study.paper_version);
    json_put_text(event, "plan_digest", study->plan->digest);
    json_put(event, "code", code_json(study));
    if (block->inputs.count > 0)
        json_put(event, "inputs", json_incref(inputs));
    json_put(event, "conditions", condition_ids(block));
    json_put(event, "replaces", freezes_before(study, block->id));
    return event;
}

int work_block_freeze(struct work_study *study, const struct place *place, struct store *store,
                      const char *block, void (*progress)(uint64_t bytes, void *context),
                      void *context, struct work_freeze *ret, struct err *err) {
    const struct study_block *found = work_study_block(study, block, err);
    if (!found)
        return err->code;
    if (found->stopped_by_count > 0)
        return err_set(err, -EBUSY, "block-stopped",
                       "open facts stand in the way of block '%s': settle them in the plan", block);
    int rc = check_code(study, err);
    struct content_progress content = {.read = progress, .context = context};
    AUTO_JSON json_t *inputs = json_array();
    rc = rc < 0 ? rc : add_inputs(study, found->block, inputs, &content, err);
    if (rc < 0)
        return rc;
    AUTO_JSON json_t *event = freeze_event(study, found->block, inputs);
    rc = event_write(place, store, study->plan->study.id, event, ret->event, err);
    if (rc < 0)
        return rc;
    ret->inputs = json_array_size(inputs);
    ret->files = content.files;
    ret->bytes = content.bytes;
    work_study_remember(study, event, ret->event);
    study->input.now_utc_ns = clock_utc_ns();
    work_study_derive(study);
    return 0;
}

/* ---- frozen estimates ---- */

static bool is_type(const json_t *event, const char *type) {
    return strcmp(json_get_text(event, "type", ""), type) == 0;
}

bool work_is_name(const char *name) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strlen(name);
    return length > 0 && length <= WORK_FROZEN_NAME_MAX && name[strspn(name, allowed)] == '\0' &&
           name[0] != '-' && name[0] != '.';
}

static int check_name(const char *name, struct err *err) {
    if (!work_is_name(name))
        return err_set(err, -EINVAL, "estimate-name",
                       "'%s' cannot be the name of an estimate: use up to %u letters, digits, '.', "
                       "'_' and '-'",
                       name, WORK_FROZEN_NAME_MAX);
    return 0;
}

static int check_is_free(const json_t *events, const char *name, struct err *err) {
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        if (is_type(event, "estimate") && strcmp(json_get_text(event, "name", ""), name) == 0)
            return err_set(err, -EEXIST, "estimate-name",
                           "there is already a frozen estimate '%s'; a frozen one stays as it is: "
                           "choose another name",
                           name);
    }
    return 0;
}

static const char *fingerprint_of(const struct run *run) {
    return json_get_text(run->environment, "fingerprint", NULL);
}

/* What an estimate rests on is made of runs that count: a copy or a download has no interpreter and
 * says nothing about their environment. The newest of them in the target environment whose record
 * has a fingerprint; NULL: none has. */
static const struct run *newest_counting(const struct work_study *study) {
    for (size_t i = 0; i < study->study.run_count; i++) {
        const struct study_run *run = &study->study.runs[i];
        if (run->evidence.level == EVIDENCE_MEASURED &&
            run->environment == study->input.environment && fingerprint_of(run->run))
            return run->run;
    }
    return NULL;
}

static const struct run *find_fingerprint(const struct work_study *study, const char *fingerprint) {
    for (size_t i = 0; i < study->study.run_count; i++) {
        const char *other = fingerprint_of(study->study.runs[i].run);
        if (other && strcmp(other, fingerprint) == 0)
            return study->study.runs[i].run;
    }
    return NULL;
}

static json_t *block_states(const struct work_study *study) {
    json_t *blocks = json_array();
    for (size_t i = 0; i < study->study.block_count; i++) {
        const struct study_block *block = &study->study.blocks[i];
        json_t *item = json_object();
        json_put_text(item, "id", block->block->id);
        json_put_text(item, "state", study_state_name(block->state));
        if (block->freeze)
            json_put_text(item, "freeze", block->freeze->id);
        json_array_append_new(blocks, item);
    }
    return blocks;
}

static json_t *estimate_event(const struct work_study *study, const char *name,
                              const json_t *estimate) {
    json_t *event = event_begin("estimate", clock_utc_ns());
    json_put_text(event, "study", study->plan->study.id);
    json_put_text(event, "name", name);
    if (study->plan->study.title)
        event_put_text(event, "title", study->plan->study.title);
    if (environment_id(study))
        json_put_text(event, "environment", environment_id(study));
    json_put_text(event, "plan_digest", study->plan->digest);
    if (study->input.code_digest)
        json_put_text(event, "code_digest", study->input.code_digest);
    const struct run *newest = newest_counting(study);
    if (newest)
        json_put_text(event, "fingerprint", fingerprint_of(newest));
    json_put_text(event, "method", ESTIMATE_METHOD);
    json_put(event, "blocks", block_states(study));
    AUTO_JSON json_t *masked = event_masked_copy(estimate);
    event_put_document(event, "estimate", masked);
    return event;
}

struct name_check {
    struct runs *runs;
    const char *study, *name;
    int (*is_free)(const json_t *events, const char *name, struct err *err);
};

static int check_is_still_free(void *context, struct err *err) {
    const struct name_check *check = context;
    AUTO_JSON json_t *events = NULL;
    struct err ignored = ERR_INIT; /* of a ledger in trouble: what was read before has to do */
    if (runs_events(check->runs, &(struct store_query){.study = check->study}, &events, &ignored) <
        0)
        return 0;
    return check->is_free(events, check->name, err);
}

int work_study_keep(struct work_study *study, const struct place *place, struct runs *runs,
                    const json_t *event, const char *name,
                    int (*is_free)(const json_t *events, const char *name, struct err *err),
                    struct err *err) {
    char id[UUID_TEXT_SIZE];
    struct name_check check = {
        .runs = runs, .study = study->plan->study.id, .name = name, .is_free = is_free};
    int rc = is_free(study->events, name, err);
    rc = rc < 0 ? rc
                : event_write_if(place, runs_store(runs), study->plan->study.id, event,
                                 check_is_still_free, &check, id, err);
    if (rc == 0)
        work_study_remember(study, event, id);
    return rc;
}

int work_estimate_freeze(struct work_study *study, const struct place *place, struct runs *runs,
                         const char *name, const json_t *estimate, struct err *err) {
    int rc = check_name(name, err);
    if (rc < 0)
        return rc;
    AUTO_JSON json_t *event = estimate_event(study, name, estimate);
    return work_study_keep(study, place, runs, event, name, check_is_free, err);
}

/* ---- do they still hold? ---- */

static void add_change(struct strbuf *out, const char *text) {
    if (out->length > 0)
        strbuf_add_str(out, "; ");
    strbuf_add_str(out, text);
}

/* Both known and not the same. */
static bool differs(const char *before, const char *now) {
    return before && now && strcmp(before, now) != 0;
}

static void add_block_changes(const struct work_study *study, const json_t *event,
                              struct strbuf *out) {
    const json_t *blocks = json_get_array(event, "blocks");
    for (size_t i = 0; i < json_array_size(blocks); i++) {
        const json_t *item = json_array_get(blocks, i);
        const char *id = json_get_text(item, "id", ""), *was = json_get_text(item, "state", "");
        for (size_t k = 0; k < study->study.block_count; k++) {
            const struct study_block *block = &study->study.blocks[k];
            if (strcmp(block->block->id, id) != 0)
                continue;
            const char *is = study_state_name(block->state);
            AUTO_FREE char *text =
                mem_printf(_("block '%s' was '%s' and is '%s'"), id, msg_get(was), msg_get(is));
            if (strcmp(was, is) != 0)
                add_change(out, text);
            const char *freeze = json_get_text(item, "freeze", NULL);
            AUTO_FREE char *frozen = mem_printf(_("block '%s' was frozen since"), id);
            if (block->freeze && (!freeze || strcmp(freeze, block->freeze->id) != 0))
                add_change(out, frozen);
        }
    }
}

static bool environment_is_there(const struct plan *plan, const char *id) {
    for (size_t i = 0; i < plan->environment_count; i++)
        if (plan->environments[i].id && strcmp(plan->environments[i].id, id) == 0)
            return true;
    return false;
}

/* Says only what is known of both and differs. The runs of then may have been purged. */
static void add_environment_change(const struct work_study *study, const json_t *event,
                                   struct strbuf *out) {
    const char *before = json_get_text(event, "fingerprint", NULL), *why = NULL;
    const struct run *newest = newest_counting(study);
    if (!newest || !differs(before, fingerprint_of(newest)))
        return;
    const struct run *then = find_fingerprint(study, before);
    if (!then) {
        add_change(out, _("the environment changed (machine, driver or packages)"));
    } else if (comparable_environment_differs(newest, then, &why)) {
        AUTO_FREE char *text =
            mem_printf(_("the environment of the newest run that counts changed: %s"), why);
        add_change(out, text);
    }
}

/* NULL: nothing that is known has changed. */
static const char *changes_since(const struct work_study *study, const json_t *event) {
    const char *environment = json_get_text(event, "environment", NULL);
    const char *target = environment_id(study);
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    if (differs(json_get_text(event, "plan_digest", NULL), study->plan->digest))
        add_change(&out, _("the plan was edited"));
    if (differs(json_get_text(event, "code_digest", NULL), study->input.code_digest))
        add_change(&out, _("the code changed"));
    if (differs(json_get_text(event, "method", NULL), ESTIMATE_METHOD))
        add_change(&out, _("the method changed"));
    if (environment && !environment_is_there(study->plan, environment)) {
        AUTO_FREE char *text =
            mem_printf(_("the environment '%s' is not in the plan any more"), environment);
        add_change(&out, text);
    }
    /* What the runs of one environment say, they do not say of another. */
    if (environment ? target && strcmp(environment, target) == 0 : !target) {
        add_environment_change(study, event, &out);
        add_block_changes(study, event, &out);
    }
    return out.length > 0 ? arena_strdup(study->arena, strbuf_str(&out)) : NULL;
}

static const char *why_foreign(const struct work_study *study, const char *schema) {
    return schema ? arena_printf(study->arena, _("it is a '%s', which this version does not read"),
                                 schema)
                  : _("its record holds no estimate that can be read");
}

size_t work_estimate_frozen(const struct work_study *study, struct work_frozen **ret) {
    size_t count = json_array_size(study->events), found = 0;
    struct work_frozen *frozen = arena_alloc(study->arena, (count + 1) * sizeof(*frozen));
    for (size_t i = count; i > 0; i--) { /* events stand oldest first */
        json_t *event = json_array_get(study->events, i - 1);
        const char *schema = NULL;
        if (!is_type(event, "estimate"))
            continue;
        json_t *estimate = event_get_estimate(event, &schema);
        frozen[found++] = (struct work_frozen){
            .event = json_get_text(event, "id", ""),
            .name = json_get_text(event, "name", ""),
            .who = json_get_text(event, "who", ""),
            .environment = json_get_text(event, "environment", NULL),
            .utc_ns = json_get_int(event, "utc_ns", 0),
            .estimate = estimate,
            .outdated = estimate ? changes_since(study, event) : why_foreign(study, schema),
        };
    }
    *ret = frozen;
    return found;
}
