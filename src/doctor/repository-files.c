/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What runs would miss or could not repeat: files that are named but absent, paths of somebody
 * else's machine, models without a revision, missing seeds. A name of a model says nothing about
 * its licence or its access: those are questions.
 */
#include "doctor/parts.h"

#include "base/msg.h"

#include <stdio.h>
#include <string.h>

#define EACH_MAX 12u

/* ---- files ---- */

static void judge_data(struct judging *judging) {
    const json_t *data = json_get_array(judging->input->repository, "data");
    static const char *const ids[] = {"data.files-absent"};
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    AUTO_STRBUF struct strbuf places = STRBUF_INIT;
    size_t count = json_array_size(data);
    for (size_t i = 0; i < count && i < EACH_MAX; i++) {
        const json_t *fact = json_array_get(data, i);
        const char *path = doctor_plain(judging, json_get_text(fact, "path", "?"));
        const char *rule = json_get_text(fact, "ignored", NULL);
        const char *at = json_get_text(fact, "at", NULL);
        struct doctor_finding *finding = doctor_add(
            judging, DOCTOR_FILES, "data-absent", DOCTOR_OPEN,
            rule != NULL
                ? arena_printf(judging->arena,
                               _("'%s' is named but is not there; %s keeps it out of the clone"),
                               path, doctor_plain(judging, rule))
                : arena_printf(judging->arena, _("'%s' is named but is not there"), path),
            _("find out where it comes from: a run that needs it stops there"));
        doctor_add_source(judging, finding, at);
        strbuf_add_next(&names, ", ", path);
        if (at != NULL)
            strbuf_add_next(&places, ", ", doctor_plain(judging, at));
    }
    if (count > EACH_MAX)
        (void)doctor_add(
            judging, DOCTOR_FILES, "data-absent-more", DOCTOR_OPEN,
            arena_printf(judging->arena,
                         msg_plural(count - EACH_MAX, "%zu more file is named but is not there",
                                    "%zu more files are named but are not there"),
                         count - EACH_MAX),
            NULL);
    if (count > 0)
        doctor_suggest(judging, ids, 1,
                       (struct doctor_fact){
                           .about = "data",
                           .question = arena_printf(judging->arena,
                                                    "where do these files come from, which the "
                                                    "code names but the clone lacks: %s?",
                                                    strbuf_str(&names)),
                           .source = doctor_source_of(judging, strbuf_str(&places)),
                           .stops = "compare, booking"},
                       NULL);
}

static void judge_paths(struct judging *judging) {
    const json_t *paths = json_get_array(judging->input->repository, "paths");
    static const char *const ids[] = {"code.absolute-paths"};
    size_t count = json_array_size(paths);
    if (count == 0)
        return;
    const char *first = doctor_plain(judging, json_get_text(json_array_get(paths, 0), "path", "?"));
    struct doctor_finding *finding = doctor_add(
        judging, DOCTOR_FILES, "absolute-paths", DOCTOR_WARNING,
        arena_printf(judging->arena,
                     msg_plural(count, "%zu line holds a path of another machine: '%s'",
                                "%zu lines hold paths of another machine, the first one '%s'"),
                     count, first),
        _("change them, and list the change among the plan's deviations"));
    doctor_add_sources(judging, finding, paths);
    AUTO_STRBUF struct strbuf places = STRBUF_INIT;
    for (size_t i = 0; i < finding->source_count && i < EACH_MAX; i++)
        strbuf_add_next(&places, ", ", finding->sources[i]);
    doctor_suggest(
        judging, ids, 1,
        (struct doctor_fact){
            .about = "code",
            .known = true,
            .value = arena_printf(judging->arena,
                                  count == 1 ? "%zu line holds a path of another machine, "
                                               "which has to be changed: %s"
                                             : "%zu lines hold paths of another machine, "
                                               "which have to be changed; the first one is %s",
                                  count, first),
            .source = doctor_source_of(judging, strbuf_str(&places))},
        NULL);
}

/* ---- models and data sets ---- */

/* Owners whose models are known to lie behind a form; a reason to ask, no fact. (meta-llama/llama
 * issues 394 and 448; the model cards of google/gemma.) */
static bool asks_for_access(const char *id) {
    static const char *const begins[] = {"meta-llama/", "google/gemma"};
    for (size_t i = 0; i < ARRAY_LENGTH(begins); i++)
        if (strncmp(id, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* Weights in the format of their owner, without config.json: from_pretrained does not load them
 * (reported in meta-llama/llama issues 394, 448, 1189). */
static bool lacks_config(const char *id) {
    static const char *const ids[] = {"meta-llama/Llama-2-7b",       "meta-llama/Llama-2-13b",
                                      "meta-llama/Llama-2-70b",      "meta-llama/Llama-2-7b-chat",
                                      "meta-llama/Llama-2-13b-chat", "meta-llama/Llama-2-70b-chat"};
    for (size_t i = 0; i < ARRAY_LENGTH(ids); i++)
        if (strcmp(id, ids[i]) == 0)
            return true;
    return false;
}

static bool is_first(const json_t *models, size_t index) {
    const char *id = json_get_text(json_array_get(models, index), "id", NULL);
    for (size_t i = 0; id != NULL && i < index; i++)
        if (strcmp(json_get_text(json_array_get(models, i), "id", ""), id) == 0)
            return false;
    return id != NULL;
}

static struct doctor_finding *add_model(struct judging *judging, const json_t *models, size_t index,
                                        const char *finding_id, enum doctor_state state,
                                        const char *text, const char *advice) {
    const char *id = json_get_text(json_array_get(models, index), "id", "");
    struct doctor_finding *finding =
        doctor_add(judging, DOCTOR_MODELS, finding_id, state, text, advice);
    for (size_t i = 0; i < json_array_size(models); i++)
        if (strcmp(json_get_text(json_array_get(models, i), "id", ""), id) == 0)
            doctor_add_source(judging, finding,
                              json_get_text(json_array_get(models, i), "at", NULL));
    return finding;
}

static void suggest_access(struct judging *judging, bool dataset, const char *names,
                           const char *gated, const char *places) {
    static const char *const weights[] = {"weights.access", "weights.licence", "weights.license"};
    static const char *const data[] = {"data.access", "data.licence", "data.license"};
    doctor_suggest(
        judging, dataset ? data : weights, ARRAY_LENGTH(weights),
        (struct doctor_fact){.about = dataset ? "data" : "weights",
                             .question = arena_printf(
                                 judging->arena,
                                 "is access given to, and which licence holds "
                                 "for: %s?%s%s",
                                 names, gated[0] != '\0' ? " Perhaps behind a form: " : "", gated),
                             .source = doctor_source_of(judging, places),
                             .stops = "validate, booking"},
        NULL);
}

static void judge_kind(struct judging *judging, const json_t *models, bool dataset) {
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    AUTO_STRBUF struct strbuf gated = STRBUF_INIT;
    AUTO_STRBUF struct strbuf places = STRBUF_INIT;
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(models); i++) {
        const json_t *fact = json_array_get(models, i);
        if (!is_first(models, i) || (json_get_bool(fact, "dataset", 0) != 0) != dataset ||
            ++count > EACH_MAX)
            continue;
        const char *id = doctor_plain(judging, json_get_text(fact, "id", "?"));
        (void)add_model(
            judging, models, i, dataset ? "data-set" : "model", DOCTOR_KNOWN,
            arena_printf(judging->arena,
                         dataset ? _("the data set '%s' is named") : _("the model '%s' is named"),
                         id),
            NULL);
        strbuf_add_next(&names, ", ", id);
        strbuf_add_next(&places, ", ", doctor_plain(judging, json_get_text(fact, "at", "")));
        if (asks_for_access(id))
            strbuf_add_next(&gated, ", ", id);
        if (lacks_config(id))
            (void)add_model(
                judging, models, i, "model-format", DOCTOR_OPEN,
                arena_printf(judging->arena,
                             _("'%s' is said to hold no config.json (meta-llama/llama issues 394, "
                               "448, 1189): from_pretrained very probably does not load it"),
                             id),
                _("try it before booking; '-hf' weights are another condition"));
    }
    if (count == 0)
        return;
    (void)doctor_add(judging, DOCTOR_MODELS, dataset ? "data-access" : "model-access", DOCTOR_OPEN,
                     arena_printf(judging->arena,
                                  _("are these open to you, and under which licence: %s?"),
                                  strbuf_str(&names)),
                     _("a name tells neither; look at each card, and write into the plan what it "
                       "says"));
    suggest_access(judging, dataset, strbuf_str(&names), strbuf_str(&gated), strbuf_str(&places));
}

static void judge_revisions(struct judging *judging, const json_t *models) {
    static const char *const ids[] = {"weights.revision", "weights.revisions"};
    size_t unpinned = 0;
    struct doctor_finding *finding = NULL;
    for (size_t i = 0; i < json_array_size(models); i++) {
        const json_t *fact = json_array_get(models, i);
        const char *call = json_get_text(fact, "call", "");
        if (strcmp(call, "command") == 0 || strcmp(call, "default") == 0)
            continue;
        unpinned += !json_get_bool(fact, "revision", 0);
    }
    if (unpinned == 0)
        return;
    finding = doctor_add(
        judging, DOCTOR_MODELS, "revision-open", DOCTOR_WARNING,
        arena_printf(judging->arena,
                     msg_plural(unpinned,
                                "%zu place loads from a hub and names no revision: what lies there "
                                "may change between runs",
                                "%zu places load from a hub and name no revision: what lies there "
                                "may change between runs"),
                     unpinned),
        _("note the commit of each repository, and fetch that one"));
    AUTO_STRBUF struct strbuf places = STRBUF_INIT;
    for (size_t i = 0; i < json_array_size(models); i++) {
        const json_t *fact = json_array_get(models, i);
        const char *call = json_get_text(fact, "call", ""), *at = json_get_text(fact, "at", "");
        if (strcmp(call, "command") == 0 || strcmp(call, "default") == 0 ||
            json_get_bool(fact, "revision", 0))
            continue;
        doctor_add_source(judging, finding, at);
    }
    for (size_t i = 0; i < finding->source_count && i < EACH_MAX; i++)
        strbuf_add_next(&places, ", ", finding->sources[i]);
    doctor_suggest(judging, ids, ARRAY_LENGTH(ids),
                   (struct doctor_fact){
                       .about = "weights",
                       .question = "which revision of each model and data set is meant? the code "
                                   "names none",
                       .source = doctor_source_of(judging, strbuf_str(&places)),
                       .stops = "compare"},
                   NULL);
}

/* ---- seeds ---- */

struct reach {
    const json_t *scripts;
    bool *seen; /* by index */
};

static size_t find_script(const json_t *scripts, const char *file) {
    size_t i = 0;
    while (i < json_array_size(scripts) &&
           strcmp(json_get_text(json_array_get(scripts, i), "file", ""), file) != 0)
        i++;
    return i;
}

/* Each script is entered once, so that circles end. */
void doctor_mark_reached(const json_t *scripts, size_t index, bool *reached) {
    if (index >= json_array_size(scripts) || reached[index])
        return;
    reached[index] = true;
    const json_t *imports = json_get_array(json_array_get(scripts, index), "imports");
    for (size_t i = 0; i < json_array_size(imports); i++)
        doctor_mark_reached(scripts, find_script(scripts, doctor_text_at(imports, i)), reached);
}

static const json_t *first_of(const struct reach *reach, const char *key) {
    for (size_t i = 0; i < json_array_size(reach->scripts); i++) {
        const json_t *list = json_get_array(json_array_get(reach->scripts, i), key);
        if (reach->seen[i] && json_array_size(list) > 0)
            return json_array_get(list, 0);
    }
    return NULL;
}

static bool has_seed_option(const struct reach *reach) {
    for (size_t i = 0; i < json_array_size(reach->scripts); i++) {
        const json_t *options = json_get_array(json_array_get(reach->scripts, i), "options");
        for (size_t k = 0; reach->seen[i] && k < json_array_size(options); k++) {
            const json_t *flags = json_get_array(json_array_get(options, k), "flags");
            for (size_t n = 0; n < json_array_size(flags); n++)
                if (strstr(doctor_text_at(flags, n), "seed") != NULL)
                    return true;
        }
    }
    return false;
}

static void judge_seeds(struct judging *judging) {
    const json_t *scripts = json_get_array(judging->input->repository, "python");
    static const char *const ids[] = {"code.seeds", "data.seeds", "code.no-seed", "paper.seeds"};
    size_t count = json_array_size(scripts);
    struct doctor_finding *finding = NULL;
    const char *first = NULL, *seed = NULL;
    for (size_t i = 0; i < count; i++) {
        const json_t *script = json_array_get(scripts, i);
        bool *seen = arena_alloc(judging->arena, count * sizeof *seen);
        struct reach reach = {.scripts = scripts, .seen = seen};
        doctor_mark_reached(scripts, i, seen);
        const json_t *work = first_of(&reach, "works"), *set = first_of(&reach, "seeds");
        bool is_entry = json_get_bool(script, "main", 0) ||
                        json_array_size(json_get_array(script, "works")) > 0;
        if (set != NULL && seed == NULL)
            seed = json_get_text(set, "at", NULL);
        if (!is_entry || work == NULL || set != NULL || has_seed_option(&reach))
            continue;
        if (finding == NULL) {
            finding = doctor_add(judging, DOCTOR_SEEDS, "seed-missing", DOCTOR_WARNING,
                                 _("code that trains or samples sets no seed"),
                                 _("ask which seeds the paper used; a repeat will differ"));
            first = json_get_text(work, "at", "");
        }
        doctor_add_source(judging, finding, json_get_text(work, "at", NULL));
    }
    if (finding != NULL)
        doctor_suggest(judging, ids, ARRAY_LENGTH(ids),
                       (struct doctor_fact){
                           .about = "code",
                           .question = "which seeds does the paper use? the code that trains or "
                                       "samples sets none",
                           .source = doctor_source_of(judging, first),
                           .stops = "verify"},
                       NULL);
    else if (seed != NULL)
        doctor_add_source(
            judging,
            doctor_add(judging, DOCTOR_SEEDS, "seeds", DOCTOR_KNOWN, _("seeds are set"), NULL),
            seed);
}

void doctor_judge_files(struct judging *judging) {
    const json_t *models = json_get_array(judging->input->repository, "models");
    judge_data(judging);
    judge_paths(judging);
    judge_kind(judging, models, false);
    judge_kind(judging, models, true);
    judge_revisions(judging, models);
    judge_seeds(judging);
}
