/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requirements against one another and against what the code imports. A contradiction is said only
 * where no version can meet both; what a later library brought is taken from the table below, whose
 * rows name where that was read.
 */
#include "doctor/parts.h"

#include "base/msg.h"
#include "base/str.h"
#include "model/version.h"

#include <string.h>
#include <strings.h>

struct pin {
    const char *package; /* as names are compared */
    const char *name, *specifier, *at, *file, *group;
    bool has_marker, has_url, is_lock;
};

struct pins {
    struct pin *items;
    size_t count;
};

static struct pins read_pins(struct judging *judging) {
    const json_t *list = json_get_array(judging->input->repository, "requirements");
    struct pins pins = {.count = json_array_size(list)};
    pins.items = arena_alloc(judging->arena, (pins.count + 1) * sizeof *pins.items);
    for (size_t i = 0; i < pins.count; i++) {
        const json_t *fact = json_array_get(list, i);
        pins.items[i] = (struct pin){
            .package = doctor_package_name(judging, json_get_text(fact, "name", "")),
            .name = doctor_plain(judging, json_get_text(fact, "name", "")),
            .specifier = doctor_plain(judging, json_get_text(fact, "specifier", "")),
            .at = doctor_plain(judging, json_get_text(fact, "at", "")),
            .file = json_get_text(fact, "file", ""),
            .group = json_get_text(fact, "group", NULL),
            .has_marker = json_get_text(fact, "marker", NULL) != NULL,
            .has_url = json_get_text(fact, "url", NULL) != NULL,
            .is_lock = strcmp(json_get_text(fact, "kind", ""), "lock") == 0,
        };
    }
    return pins;
}

/* Of those that are installed wherever the code runs. */
static bool counts(const struct pin *pin) {
    return !pin->has_marker && !pin->has_url && pin->group == NULL;
}

/* ---- against one another ---- */

static bool is_first(const struct pins *pins, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (strcmp(pins->items[i].package, pins->items[index].package) == 0)
            return false;
    return true;
}

static bool contradicts(const struct pins *pins, size_t index, bool *ret_same_file) {
    const struct pin *pin = &pins->items[index];
    bool found = false;
    for (size_t i = 0; i < pins->count; i++) {
        const struct pin *other = &pins->items[i];
        if (i == index || !counts(other) || strcmp(other->package, pin->package) != 0 ||
            doctor_agree(pin->specifier, other->specifier) != AGREE_NO)
            continue;
        found = true;
        *ret_same_file = *ret_same_file || strcmp(pin->file, other->file) == 0;
    }
    return found;
}

static void judge_package(struct judging *judging, const struct pins *pins, size_t first) {
    static const char *const ids[] = {"environment.pins-contradict", "code.pins-contradict"};
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    AUTO_STRBUF struct strbuf with_places = STRBUF_INIT;
    struct doctor_finding places = {.source_count = 0};
    bool same_file = false;
    const char *package = pins->items[first].package;
    for (size_t i = first; i < pins->count; i++) {
        const struct pin *pin = &pins->items[i];
        if (strcmp(pin->package, package) != 0 || !counts(pin) || !contradicts(pins, i, &same_file))
            continue;
        doctor_add_source(judging, &places, pin->at);
        if (with_places.length > 400)
            continue;
        AUTO_FREE char *one = mem_printf("%s (%s)", pin->specifier, pin->at);
        strbuf_add_next(&with_places, ", ", one);
        if (strstr(strbuf_str(&text), pin->specifier) == NULL)
            strbuf_add_next(&text, ", ", pin->specifier);
    }
    if (places.source_count == 0)
        return;
    struct doctor_finding *finding = doctor_add(
        judging, DOCTOR_REQUIREMENTS, "pins-contradict",
        same_file ? DOCTOR_PROBLEM : DOCTOR_WARNING,
        arena_printf(judging->arena, _("no one version of %s meets all of: %s"), package,
                     strbuf_str(&text)),
        same_file ? _("this file cannot be installed as it is: ask the authors which one holds")
                  : _("plan two environments, each with its own set-up, or ask the authors which "
                      "one holds"));
    finding->sources = places.sources;
    finding->source_count = places.source_count;
    doctor_suggest(judging, ids, ARRAY_LENGTH(ids),
                   (struct doctor_fact){
                       .about = "environment",
                       .known = true,
                       .value = arena_printf(judging->arena,
                                             "no one version of %s meets all of: %s; more than one "
                                             "environment is needed",
                                             package, strbuf_str(&with_places)),
                       .source = doctor_source_of(judging, places.sources[0])},
                   NULL);
}

/* ---- where they come from ---- */

static void judge_local(struct judging *judging, const struct pins *pins) {
    static const char *const ids[] = {"code.local-versions", "environment.local-versions"};
    const json_t *indexes = json_get_array(judging->input->repository, "indexes");
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    AUTO_STRBUF struct strbuf places = STRBUF_INIT;
    for (size_t i = 0; i < pins->count; i++) {
        const struct pin *pin = &pins->items[i];
        const char *tag = strchr(pin->specifier, '+');
        bool named = false;
        for (size_t k = 0; tag != NULL && k < json_array_size(indexes); k++)
            named = named ||
                    strstr(json_get_text(json_array_get(indexes, k), "url", ""), tag + 1) != NULL;
        if (tag == NULL || named || pin->is_lock)
            continue;
        struct doctor_finding *finding = doctor_add(
            judging, DOCTOR_REQUIREMENTS, "pin-local", DOCTOR_WARNING,
            arena_printf(judging->arena,
                         _("%s%s is a local version (+%s): a default index does not have it, and "
                           "no index is named for it"),
                         pin->name, pin->specifier, tag + 1),
            _("find the index or the wheel that is meant; a task that needs no rented machine"));
        doctor_add_source(judging, finding, pin->at);
        AUTO_FREE char *one = mem_printf("%s%s", pin->name, pin->specifier);
        strbuf_add_next(&names, ", ", one);
        strbuf_add_next(&places, ", ", pin->at);
    }
    if (names.length > 0)
        doctor_suggest(
            judging, ids, ARRAY_LENGTH(ids),
            (struct doctor_fact){.about = "environment",
                                 .question = arena_printf(judging->arena,
                                                          "which index or wheel holds these local "
                                                          "versions: %s?",
                                                          strbuf_str(&names)),
                                 .source = doctor_source_of(judging, strbuf_str(&places)),
                                 .stops = "validate"},
            NULL);
    if (json_array_size(indexes) > 0)
        doctor_add_sources(
            judging,
            doctor_add(judging, DOCTOR_REQUIREMENTS, "index-named", DOCTOR_KNOWN,
                       arena_printf(judging->arena, _("packages come from another index: %s"),
                                    doctor_plain(judging, json_get_text(json_array_get(indexes, 0),
                                                                        "url", "?"))),
                       NULL),
            indexes);
}

static bool is_pinned(const struct pins *pins, size_t index) {
    for (size_t i = 0; i < pins->count; i++)
        if (strcmp(pins->items[i].package, pins->items[index].package) == 0 &&
            (strncmp(pins->items[i].specifier, "==", 2) == 0 || pins->items[i].has_url))
            return true;
    return false;
}

static void judge_unpinned(struct judging *judging, const struct pins *pins) {
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    size_t count = 0;
    for (size_t i = 0; i < pins->count; i++)
        if (is_first(pins, i) && !is_pinned(pins, i) && counts(&pins->items[i]) && ++count <= 12)
            strbuf_add_next(&names, ", ", pins->items[i].name);
    if (count == 0)
        return;
    if (count > 12)
        strbuf_add_str(&names, ", …");
    struct doctor_finding *finding =
        doctor_add(judging, DOCTOR_REQUIREMENTS, "unpinned", DOCTOR_WARNING,
                   arena_printf(judging->arena,
                                msg_plural(count, "%zu package is required without a version: %s",
                                           "%zu packages are required without one version: %s"),
                                count, strbuf_str(&names)),
                   _("note the versions of the first run that works, and keep to them"));
    for (size_t i = 0; i < pins->count; i++)
        if (is_first(pins, i) && !is_pinned(pins, i) && counts(&pins->items[i]))
            doctor_add_source(judging, finding, pins->items[i].at);
}

/* ---- against what the code imports ---- */

/* Names that a library has only from a version on, or only before one. "from": the earliest version
 * that the source shows it in. */
static const struct {
    const char *package, *name;
    bool keyword; /* an argument, not an import */
    const char *from, *before;
    const char *source;
} names[] = {
    {"transformers", "AttentionInterface", false, "4.51.0", NULL,
     "huggingface/optimum-executorch "
     "pull request 47"},
    {"transformers", "logits_to_keep", true, "4.49.0", NULL,
     "huggingface/trl issue 2770: 4.48.0 "
     "does not take it"},
    {"transformers", "num_logits_to_keep", true, NULL, "4.52.0",
     "unslothai/unsloth pull request "
     "5538"},
    {"transformers", "LlamaFlashAttention2", false, NULL, "4.48.0",
     "axolotl-ai-cloud/axolotl issue 2266"},
    {"transformers", "LLAMA_ATTENTION_CLASSES", false, NULL, "4.48.0",
     "AnswerDotAI/fsdp_qlora pull request 77"},
    {"datasets", "load_metric", false, NULL, "3.0.0", "NVIDIA/TensorRT-LLM pull request 3741"},
};

/* The line where the code uses row `row`; NULL: it does not. */
static const char *find_use(const struct judging *judging, size_t row) {
    const json_t *scripts = json_get_array(judging->input->repository, "python");
    size_t length = strlen(names[row].package);
    for (size_t i = 0; i < json_array_size(scripts); i++) {
        const json_t *uses =
            json_get_array(json_array_get(scripts, i), names[row].keyword ? "keywords" : "modules");
        for (size_t k = 0; k < json_array_size(uses); k++) {
            const json_t *use = json_array_get(uses, k);
            const char *module = json_get_text(use, "module", names[row].package);
            bool is_of = strncmp(module, names[row].package, length) == 0 &&
                         (module[length] == '\0' || module[length] == '.');
            if (is_of && strcmp(json_get_text(use, "name", ""), names[row].name) == 0)
                return json_get_text(use, "at", NULL);
        }
    }
    return NULL;
}

static void judge_name(struct judging *judging, size_t row, const struct pin *pin, const char *at) {
    bool is_old = names[row].from != NULL;
    const char *version = is_old ? names[row].from : names[row].before;
    const char *id = arena_printf(judging->arena, "code.%s-version", names[row].package);
    struct doctor_finding *finding = doctor_add(
        judging, DOCTOR_REQUIREMENTS, is_old ? "api-too-new" : "api-gone", DOCTOR_WARNING,
        arena_printf(judging->arena,
                     is_old
                         ? _("%s%s is asked for, but the code uses %s, which was seen from %s on "
                             "(%s): very probably it fails; open until a trial run")
                         : _("%s%s is asked for, but the code uses %s, which was seen only "
                             "before %s (%s): very probably it fails; open until a trial run"),
                     pin->name, pin->specifier, names[row].name, version, names[row].source),
        _("try the import before booking; another version is a deviation, and another condition"));
    doctor_add_source(judging, finding, at);
    doctor_add_source(judging, finding, pin->at);
    AUTO_FREE char *places = mem_printf("%s, %s", at, pin->at);
    doctor_suggest(judging, &id, 1,
                   (struct doctor_fact){
                       .about = "code",
                       .question = arena_printf(
                           judging->arena,
                           "does the code start with %s%s? it uses %s, which was seen %s %s (%s); "
                           "a trial run tells",
                           pin->name, pin->specifier, names[row].name,
                           is_old ? "only from" : "only before", version, names[row].source),
                       .source = doctor_source_of(judging, places),
                       .stops = "compare, booking"},
                   NULL);
}

static void judge_names(struct judging *judging, const struct pins *pins) {
    for (size_t row = 0; row < ARRAY_LENGTH(names); row++) {
        const char *at = find_use(judging, row);
        for (size_t i = 0; at != NULL && i < pins->count; i++) {
            const struct pin *pin = &pins->items[i];
            if (strcmp(pin->package, names[row].package) != 0 || !counts(pin) || pin->is_lock)
                continue;
            AUTO_FREE char *needed = names[row].from != NULL ? mem_printf(">=%s", names[row].from)
                                                             : mem_printf("<%s", names[row].before);
            if (doctor_agree(pin->specifier, needed) == AGREE_NO) {
                judge_name(judging, row, pin, at);
                break;
            }
        }
    }
}

/* ---- Python ---- */

static void judge_python(struct judging *judging) {
    const json_t *pythons = json_get_array(judging->input->repository, "pythons");
    static const char *const ids[] = {"environment.python", "code.python"};
    AUTO_STRBUF struct strbuf all = STRBUF_INIT;
    bool differ = false;
    size_t count = json_array_size(pythons);
    for (size_t i = 0; i < count; i++) {
        const char *one = json_get_text(json_array_get(pythons, i), "specifier", "");
        for (size_t k = 0; k < i; k++)
            differ = differ || doctor_agree(one, json_get_text(json_array_get(pythons, k),
                                                               "specifier", "")) == AGREE_NO;
        if (strstr(strbuf_str(&all), one) == NULL)
            strbuf_add_next(&all, ", ", doctor_plain(judging, one));
    }
    if (count == 0) {
        if (json_array_size(json_get_array(judging->input->repository, "requirements")) == 0)
            return;
        (void)doctor_add(judging, DOCTOR_REQUIREMENTS, "python-open", DOCTOR_OPEN,
                         _("no version of Python is stated"), NULL);
        doctor_suggest(
            judging, ids, ARRAY_LENGTH(ids),
            (struct doctor_fact){.about = "environment",
                                 .question = "which version of Python? the repository states none"},
            NULL);
        return;
    }
    doctor_add_sources(judging,
                       doctor_add(judging, DOCTOR_REQUIREMENTS, "python",
                                  differ ? DOCTOR_WARNING : DOCTOR_KNOWN,
                                  arena_printf(judging->arena,
                                               differ ? _("versions of Python that contradict each "
                                                          "other are asked for: %s")
                                                      : _("Python %s is asked for"),
                                               strbuf_str(&all)),
                                  NULL),
                       pythons);
    const char *at = json_get_text(json_array_get(pythons, 0), "at", "");
    if (!differ)
        doctor_suggest(judging, ids, ARRAY_LENGTH(ids),
                       (struct doctor_fact){.about = "environment",
                                            .known = true,
                                            .value = arena_strdup(judging->arena, strbuf_str(&all)),
                                            .source = doctor_source_of(judging, at)},
                       NULL);
}

/* ---- against the plan ---- */

static void judge_plan_stack(struct judging *judging, const struct pins *pins) {
    const struct plan *plan = judging->input->plan;
    for (size_t i = 0; plan != NULL && i < plan->code.requires_stack.count; i++) {
        const struct plan_pair *pair = &plan->code.requires_stack.items[i];
        const char *package = doctor_package_name(judging, pair->name);
        const char *wanted = strpbrk(pair->value, "=<>~!") == pair->value
                                 ? pair->value
                                 : arena_printf(judging->arena, "==%s", pair->value);
        const struct pin *other = NULL;
        bool agrees = false;
        for (size_t k = 0; k < pins->count; k++) {
            const struct pin *pin = &pins->items[k];
            if (strcmp(pin->package, package) != 0 || !counts(pin))
                continue;
            bool differs = doctor_agree(wanted, pin->specifier) == AGREE_NO;
            agrees = agrees || !differs;
            other = differs && other == NULL ? pin : other;
        }
        if (other != NULL && !agrees)
            doctor_add_source(
                judging,
                doctor_add(judging, DOCTOR_REQUIREMENTS, "plan-contradicts", DOCTOR_WARNING,
                           arena_printf(judging->arena,
                                        _("the plan (%s) says that the code requires %s %s; the "
                                          "clone asks for %s"),
                                        plan_source(plan, pair->at, judging->arena), package,
                                        doctor_plain(judging, pair->value), other->specifier),
                           _("find out which one holds, and correct the plan or take the right "
                             "clone")),
                other->at);
    }
}

void doctor_judge_requirements(struct judging *judging) {
    struct pins pins = read_pins(judging);
    for (size_t i = 0; i < pins.count; i++)
        if (is_first(&pins, i))
            judge_package(judging, &pins, i);
    judge_names(judging, &pins);
    judge_local(judging, &pins);
    judge_unpinned(judging, &pins);
    judge_python(judging);
    judge_plan_stack(judging, &pins);
    if (pins.count > 0)
        (void)doctor_add(judging, DOCTOR_REQUIREMENTS, "requirements", DOCTOR_KNOWN,
                         arena_printf(judging->arena,
                                      msg_plural(pins.count, "%zu requirement was read",
                                                 "%zu requirements were read"),
                                      pins.count),
                         NULL);
}
