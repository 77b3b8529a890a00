/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settings of the plan against the options that the code defines, parameter by parameter: offered
 * (with file and line), not offered, or open. "Not offered" is said only of a script whose options
 * are all known; whatever a script reads beside them leaves it open.
 */
#include "doctor/parts.h"

#include "base/msg.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* One option of one script as the commands of blocks use it. */
struct use {
    size_t script;
    const char *flag, *name; /* name: the parameter; NULL: the option stands there as it is */
    const struct plan_block **blocks;
    size_t block_count;
};

struct settings {
    struct judging *judging;
    const json_t *scripts;
    struct use *uses;
    size_t count, room;
};

/* ---- the script of a command ---- */

static bool is_same_file(const char *word, const char *file) {
    while (str_starts_with(word, "../") || str_starts_with(word, "./"))
        word = strchr(word, '/') + 1;
    size_t word_length = strlen(word), length = strlen(file);
    if (word_length <= length)
        return strcmp(file + length - word_length, word) == 0 &&
               (length == word_length || file[length - word_length - 1] == '/');
    return strcmp(word + word_length - length, file) == 0 && word[word_length - length - 1] == '/';
}

/* The one file of the clone that the word means; count: none or several. */
static size_t find_file(const json_t *scripts, const char *folder, const char *word) {
    size_t count = json_array_size(scripts), found = count;
    AUTO_FREE char *path = folder != NULL ? mem_printf("%s/%s", folder, word) : mem_strdup(word);
    for (int pass = 0; pass < 2 && found == count; pass++)
        for (size_t i = 0; i < count; i++) {
            const char *file = json_get_text(json_array_get(scripts, i), "file", "");
            bool same = pass == 0 ? strcmp(file, path) == 0 : is_same_file(word, file);
            if (same && found < count)
                return count;
            if (same)
                found = i;
        }
    return found;
}

/* "prefill/eval.py" or, behind -m, "results.parse". */
static size_t find_script(const json_t *scripts, const struct plan_block *block, size_t *ret_next) {
    const struct plan_texts *words = &block->command;
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i].text;
        *ret_next = i + 1;
        if (str_ends_with(word, ".py") && word[0] != '-')
            return find_file(scripts, block->folder, word);
        if (strcmp(word, "-m") == 0 && i > 0 && i + 1 < words->count &&
            strstr(words->items[0].text, "python") != NULL) {
            AUTO_FREE char *path = mem_printf("%s.py", words->items[i + 1].text);
            for (char *at = path; at + 3 < path + strlen(path); at++)
                if (*at == '.')
                    *at = '/';
            *ret_next = i + 2;
            return find_file(scripts, block->folder, path);
        }
    }
    return json_array_size(scripts);
}

/* ---- its options ---- */

static const json_t *option_with(const json_t *script, const char *flag) {
    const json_t *options = json_get_array(script, "options");
    for (size_t i = 0; i < json_array_size(options); i++) {
        const json_t *flags = json_get_array(json_array_get(options, i), "flags");
        for (size_t k = 0; k < json_array_size(flags); k++) {
            const char *name = doctor_text_at(flags, k);
            size_t length = strcspn(name, "/"); /* click: "--shout/--no-shout" */
            if ((strncmp(name, flag, length) == 0 && flag[length] == '\0') ||
                (name[length] == '/' && strcmp(name + length + 1, flag) == 0))
                return json_array_get(options, i);
        }
    }
    return NULL;
}

static const json_t *find_option(const json_t *scripts, const bool *reached, const char *flag) {
    for (size_t i = 0; i < json_array_size(scripts); i++) {
        const json_t *option = reached[i] ? option_with(json_array_get(scripts, i), flag) : NULL;
        if (option != NULL)
            return option;
    }
    return NULL;
}

static bool has_all_options(const json_t *scripts, const bool *reached) {
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(scripts); i++) {
        const json_t *script = json_array_get(scripts, i);
        if (!reached[i])
            continue;
        if (json_get_bool(script, "open_options", 0))
            return false;
        count += json_array_size(json_get_array(script, "options"));
    }
    return count > 0;
}

/* ---- what commands use ---- */

static void add_use(struct settings *settings, const struct plan_block *block, size_t script,
                    const char *flag, const char *name) {
    struct arena *arena = settings->judging->arena;
    size_t blocks = settings->judging->input->plan->block_count;
    size_t i = 0;
    for (; i < settings->count; i++) {
        const struct use *use = &settings->uses[i];
        bool same_name =
            (name == NULL) == (use->name == NULL) && (name == NULL || strcmp(name, use->name) == 0);
        if (use->script == script && same_name && strcmp(use->flag, flag) == 0)
            break;
    }
    if (i == settings->room) {
        size_t room = 2 * settings->room + 16;
        struct use *uses = arena_alloc(arena, room * sizeof *uses);
        if (settings->count > 0)
            memcpy(uses, settings->uses, settings->count * sizeof *uses);
        settings->uses = uses;
        settings->room = room;
    }
    if (i == settings->count)
        settings->uses[settings->count++] =
            (struct use){.script = script,
                         .flag = flag,
                         .name = name,
                         .blocks = arena_alloc(arena, blocks * sizeof *settings->uses->blocks)};
    struct use *use = &settings->uses[i];
    if (use->block_count == 0 || use->blocks[use->block_count - 1] != block)
        use->blocks[use->block_count++] = block;
}

/* "{name}" and nothing else. */
static const char *name_of(struct settings *settings, const char *value) {
    size_t length = strlen(value);
    if (length < 3 || value[0] != '{' || strcspn(value, "}") != length - 1 || value[1] == '{')
        return NULL;
    return arena_strndup(settings->judging->arena, value + 1, length - 2);
}

static bool is_flag(const char *word) {
    return word[0] == '-' && word[1] != '\0' && !isdigit((unsigned char)word[1]) && word[1] != '.';
}

static void collect_words(struct settings *settings, const struct plan_block *block, size_t script,
                          size_t next) {
    const struct plan_texts *words = &block->command;
    for (size_t i = next; i < words->count; i++) {
        const char *word = words->items[i].text;
        if (!is_flag(word)) {
            const char *name = name_of(settings, word);
            if (name != NULL && (i == next || !is_flag(words->items[i - 1].text)))
                add_use(settings, block, script, "", name);
            continue;
        }
        size_t length = strcspn(word, "=");
        const char *value = word[length] == '='    ? word + length + 1
                            : i + 1 < words->count ? words->items[i + 1].text
                                                   : "";
        add_use(settings, block, script, arena_strndup(settings->judging->arena, word, length),
                name_of(settings, value));
    }
}

/* ---- findings ---- */

static const struct plan_axis *axis_of(const struct plan_block *block, const char *name) {
    for (size_t i = 0; name != NULL && i < block->axis_count; i++)
        if (strcmp(block->axes[i].name, name) == 0)
            return &block->axes[i];
    return NULL;
}

static void say(const struct settings *settings, const char *id, enum doctor_state state,
                const char *at, const char *text, const char *advice) {
    struct doctor_finding *finding =
        doctor_add(settings->judging, DOCTOR_SETTINGS, id, state, text, advice);
    doctor_add_source(settings->judging, finding, at);
}

static bool is_choice(const json_t *choices, const char *value) {
    for (size_t i = 0; i < json_array_size(choices); i++)
        if (strcmp(doctor_text_at(choices, i), value) == 0)
            return true;
    return false;
}

static void judge_values(const struct settings *settings, const struct plan_block *block,
                         const struct plan_axis *axis, const json_t *option) {
    struct judging *judging = settings->judging;
    const json_t *choices = json_get_array(option, "choices");
    for (size_t i = 0; choices != NULL && i < axis->value_count; i++)
        if (!is_choice(choices, axis->values[i].text))
            say(settings, "value-not-offered", DOCTOR_PROBLEM, json_get_text(option, "at", NULL),
                arena_printf(judging->arena,
                             _("block '%s': '%s' is none of the values that the code offers for "
                               "%s"),
                             block->id, doctor_plain(judging, axis->values[i].text), axis->name),
                _("correct the plan, or write 'supported: no' there"));
}

/* "supported" of axes: they stand within blocks, so the snippet has them as comments. */
static void add_supported(const struct settings *settings, const struct plan_block *block,
                          const struct plan_axis *axis, bool supported, const char *at) {
    struct strbuf *out = &settings->judging->supported;
    strbuf_printf(out, "# blocks.%s.matrix.%s: {supported: %s, supported_source: ", block->id,
                  axis->name, supported ? "yes" : "no");
    doctor_add_quoted(out, doctor_source_of(settings->judging, at));
    strbuf_add_str(out, "}\n");
}

static void judge_axis(const struct settings *settings, const struct plan_block *block,
                       const struct plan_axis *axis, const json_t *option, const char *file) {
    struct judging *judging = settings->judging;
    if (option != NULL)
        judge_values(settings, block, axis, option);
    if (axis->supported == PLAN_UNSAID)
        add_supported(settings, block, axis, option != NULL,
                      option != NULL ? json_get_text(option, "at", file) : file);
    if ((axis->supported == PLAN_YES && option == NULL) ||
        (axis->supported == PLAN_NO && option != NULL))
        say(settings, "plan-contradicts", DOCTOR_WARNING,
            option != NULL ? json_get_text(option, "at", file) : file,
            arena_printf(judging->arena,
                         option != NULL ? _("the plan (%s) says that the code does not support %s; "
                                            "the clone has an option for it")
                                        : _("the plan (%s) says that the code supports %s; the "
                                            "clone has no option for it"),
                         plan_source(judging->input->plan, axis->at, judging->arena), axis->name),
            _("find out which one holds, and correct the plan or take the right clone"));
}

static void judge_use(const struct settings *settings, const struct use *use) {
    struct judging *judging = settings->judging;
    size_t count = json_array_size(settings->scripts);
    bool *reached = arena_alloc(judging->arena, count * sizeof *reached);
    doctor_mark_reached(settings->scripts, use->script, reached);
    const json_t *option =
        use->flag[0] != '\0' ? find_option(settings->scripts, reached, use->flag) : NULL;
    bool closed = use->flag[0] != '\0' && has_all_options(settings->scripts, reached);
    const char *file = doctor_plain(
        judging, json_get_text(json_array_get(settings->scripts, use->script), "file", "?"));
    const char *what = use->name != NULL && use->flag[0] != '\0'
                           ? arena_printf(judging->arena, "%s (%s)", use->flag, use->name)
                       : use->name != NULL ? use->name
                                           : use->flag;
    AUTO_STRBUF struct strbuf blocks = STRBUF_INIT;
    for (size_t i = 0; i < use->block_count; i++)
        strbuf_add_next(&blocks, ", ", use->blocks[i]->id);
    const char *in = strbuf_str(&blocks);
    what = doctor_plain(judging, what);
    if (option != NULL)
        say(settings, "setting-offered", DOCTOR_KNOWN, json_get_text(option, "at", NULL),
            arena_printf(judging->arena, _("'%s' offers %s; used in: %s"), file, what, in), NULL);
    else if (closed)
        say(settings, "setting-not-offered", DOCTOR_PROBLEM, file,
            arena_printf(judging->arena, _("'%s' does not offer %s; used in: %s"), file, what, in),
            _("correct the command, or write 'supported: no' into the plan"));
    else
        say(settings, "setting-open", DOCTOR_OPEN, file,
            arena_printf(judging->arena, _("whether '%s' offers %s was not seen; used in: %s"),
                         file, what, in),
            _("its options are not all written down, or it is no option; look into it"));
    for (size_t i = 0; i < use->block_count && (option != NULL || closed); i++) {
        const struct plan_axis *axis = axis_of(use->blocks[i], use->name);
        if (axis != NULL)
            judge_axis(settings, use->blocks[i], axis, option, file);
    }
}

void doctor_judge_settings(struct judging *judging) {
    const struct plan *plan = judging->input->plan;
    const json_t *scripts = json_get_array(judging->input->repository, "python");
    struct settings settings = {.judging = judging, .scripts = scripts};
    size_t count = json_array_size(scripts);
    for (size_t i = 0; plan != NULL && count > 0 && i < plan->block_count; i++) {
        const struct plan_block *block = &plan->blocks[i];
        size_t next = 0;
        if (block->command.count == 0 || block->shell)
            continue;
        size_t script = find_script(scripts, block, &next);
        if (script < count)
            collect_words(&settings, block, script, next);
    }
    for (size_t i = 0; i < settings.count; i++)
        judge_use(&settings, &settings.uses[i]);
}
