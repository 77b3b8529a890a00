/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a Python file says of itself: imports, options, models it loads, seeds, files it names. By
 * the words of the well-known calls; nothing is run, and a value that only a run would know is
 * left out.
 */
#include "probe/repository-parts.h"

#include "base/msg.h"
#include "base/str.h"
#include "probe/python-tokens.h"

#include <string.h>

#define TOKENS_MAX       200000u
#define SCRIPT_FACTS_MAX 200u

struct script {
    const struct repository_file *file;
    struct tokens tokens;
    json_t *json;
};

static json_t *add(const struct script *script, const char *key, unsigned line) {
    json_t *list = json_get_array(script->json, key);
    if (json_array_size(list) >= SCRIPT_FACTS_MAX)
        return NULL;
    json_t *fact = json_object();
    json_array_append_new(list, fact);
    AUTO_FREE char *at = mem_printf("%s:%u", script->file->path, line);
    json_put_text(fact, "at", at);
    return fact;
}

static void add_what(const struct script *script, const char *key, const struct token *token,
                     const char *what) {
    json_t *fact = add(script, key, token->line);
    if (fact != NULL)
        json_put_text(fact, "what", what);
}

static const struct token *at(const struct script *script, size_t index) {
    return token_at(&script->tokens, index);
}

static bool is(const struct script *script, size_t index, const char *text) {
    return token_is(&script->tokens, index, text);
}

/* ---- imports ---- */

/* "a.b.c" at *index, which is moved behind it; leading dots are counted. */
static char *take_module(const struct script *script, size_t *index, size_t *ret_dots) {
    AUTO_STRBUF struct strbuf name = STRBUF_INIT;
    *ret_dots = 0;
    while (is(script, *index, ".")) {
        ++*ret_dots;
        ++*index;
    }
    while (at(script, *index)->kind == TOKEN_NAME && !is(script, *index, "import") &&
           !is(script, *index, "as")) {
        if (name.length > 0)
            strbuf_add_char(&name, '.');
        strbuf_add_str(&name, at(script, *index)->text);
        ++*index;
        if (!is(script, *index, "."))
            break;
        ++*index;
    }
    return strbuf_take(&name);
}

static void add_local(const struct script *script, const char *path) {
    json_t *list = json_get_array(script->json, "imports");
    if (json_array_size(list) < SCRIPT_FACTS_MAX)
        json_array_append_new(list, json_text(path));
}

/* The clone's own file of a module, below the folder of the file or at the top. */
static bool find_local(const struct script *script, const char *module, size_t dots) {
    struct repository *repository = script->file->repository;
    const char *own = repository_folder_of(repository, script->file->path);
    for (size_t i = 1; i < dots; i++)
        own = repository_folder_of(repository, own);
    const char *const folders[] = {own, repository_folder_of(repository, own), "", "src"};
    AUTO_FREE char *path = mem_strdup(module);
    for (char *dot = path; *dot != '\0'; dot++)
        if (*dot == '.')
            *dot = '/';
    AUTO_FREE char *file = mem_printf("%s.py", path), *package = mem_printf("%s/__init__.py", path);
    AUTO_FREE char *folder = mem_printf("%s", path);
    const char *const names[] = {file, package, folder};
    for (size_t i = 0; i < (dots > 0 ? 1 : ARRAY_LENGTH(folders)); i++)
        for (size_t k = 0; k < ARRAY_LENGTH(names); k++) {
            const char *place = repository_normal(repository, folders[i], names[k]);
            if (place == NULL || place[0] == '\0' || repository_find(repository, place) == NULL)
                continue;
            add_local(script, place);
            return true;
        }
    return false;
}

static void add_import(const struct script *script, const struct token *token, const char *module,
                       const char *name) {
    json_t *fact = add(script, "modules", token->line);
    if (fact == NULL)
        return;
    json_put_text(fact, "module", module);
    json_put_text(fact, "name", name);
}

static size_t read_from(const struct script *script, size_t index) {
    const struct token *begin = at(script, index);
    size_t dots;
    index++;
    AUTO_FREE char *module = take_module(script, &index, &dots);
    if (!is(script, index, "import"))
        return index;
    index++;
    bool is_local = module[0] != '\0' && find_local(script, module, dots);
    for (; at(script, index)->kind != TOKEN_END && at(script, index)->kind != TOKEN_NEWLINE;
         index++) {
        const struct token *name = at(script, index);
        if (is(script, index, ")"))
            return index + 1;
        if (name->kind != TOKEN_NAME)
            continue;
        AUTO_FREE char *whole =
            mem_printf("%s%s%s", module, module[0] != '\0' ? "." : "", name->text);
        if (dots > 0 || is_local)
            (void)find_local(script, whole, dots);
        else
            add_import(script, name->line > 0 ? name : begin, module, name->text);
        if (is(script, index + 1, "as"))
            index += 2;
    }
    return index;
}

static size_t read_import(const struct script *script, size_t index) {
    const struct token *begin = at(script, index++);
    for (;;) {
        size_t dots, before = index;
        AUTO_FREE char *module = take_module(script, &index, &dots);
        if (index == before)
            return index;
        if (module[0] != '\0' && !find_local(script, module, 0))
            add_import(script, begin, module, NULL);
        if (is(script, index, "as"))
            index += 2;
        if (!is(script, index, ","))
            return index;
        index++;
    }
}

/* ---- options ---- */

/* Index of the value of keyword `name` within the call whose bracket is at `open`; 0: none. */
static size_t find_keyword(const struct script *script, size_t open, const char *name) {
    size_t end = token_behind_bracket(&script->tokens, open);
    for (size_t i = open + 1; i + 2 < end; i++) {
        if (is(script, i, name) && is(script, i + 1, "=") && !is(script, i + 2, "="))
            return i + 2;
        if (at(script, i)->kind == TOKEN_SIGN && strchr("([{", at(script, i)->text[0]) != NULL)
            i = token_behind_bracket(&script->tokens, i) - 1;
    }
    return 0;
}

static void add_option(const struct script *script, size_t open, const char *prefix) {
    size_t end = token_behind_bracket(&script->tokens, open);
    json_t *fact = NULL;
    for (size_t i = open + 1; i < end && at(script, i)->kind == TOKEN_STRING; i += 2) {
        if (fact == NULL && (fact = add(script, "options", at(script, i)->line)) == NULL)
            return;
        AUTO_FREE char *flag = mem_printf("%s%s", prefix, at(script, i)->text);
        json_t *flags = json_get_array(fact, "flags");
        if (flags == NULL)
            json_put(fact, "flags", flags = json_array());
        json_array_append_new(flags, json_text(flag));
    }
    if (fact == NULL)
        return;
    size_t list = find_keyword(script, open, "choices");
    json_t *choices = NULL;
    if (list > 0 && (is(script, list, "[") || is(script, list, "(") || is(script, list, "{"))) {
        choices = json_array();
        size_t last = token_behind_bracket(&script->tokens, list) - 1;
        for (size_t i = list + 1; i < last; i++)
            if (at(script, i)->kind != TOKEN_SIGN || !is(script, i, ","))
                json_array_append_new(choices, json_text(at(script, i)->text));
    }
    json_put(fact, "choices", choices != NULL ? choices : json_null());
}

/* fire.Fire(f): the parameters of f are options. */
static void add_fire(const struct script *script, const char *function) {
    for (size_t i = 0; i < script->tokens.count; i++) {
        if (!is(script, i, "def") || !is(script, i + 1, function) || !is(script, i + 2, "("))
            continue;
        size_t end = token_behind_bracket(&script->tokens, i + 2);
        for (size_t k = i + 3; k < end; k++) {
            bool begins = is(script, k - 1, "(") || is(script, k - 1, ",");
            json_t *fact = begins && at(script, k)->kind == TOKEN_NAME
                               ? add(script, "options", at(script, k)->line)
                               : NULL;
            if (fact != NULL) {
                AUTO_FREE char *flag = mem_printf("--%s", at(script, k)->text);
                json_t *flags = json_array();
                json_array_append_new(flags, json_text(flag));
                json_put(fact, "flags", flags);
                json_put(fact, "choices", json_null());
            }
            if (at(script, k)->kind == TOKEN_SIGN && strchr("([{", at(script, k)->text[0]) != NULL)
                k = token_behind_bracket(&script->tokens, k) - 1;
        }
    }
}

static void read_options(const struct script *script, size_t index) {
    static const char *const open_words[] = {"parse_known_args", "HfArgumentParser", "hydra",
                                             "OmegaConf"};
    const struct token *token = at(script, index);
    if (strcmp(token->text, "add_argument") == 0 && is(script, index + 1, "("))
        add_option(script, index + 1, "");
    else if (strcmp(token->text, "option") == 0 && is(script, index + 1, "("))
        add_option(script, index + 1, "");
    else if (str_starts_with(token->text, "DEFINE_") && is(script, index + 1, "("))
        add_option(script, index + 1, "--");
    else if (strcmp(token->text, "Fire") == 0 && is(script, index + 1, "(") &&
             at(script, index + 2)->kind == TOKEN_NAME)
        add_fire(script, at(script, index + 2)->text);
    for (size_t i = 0; i < ARRAY_LENGTH(open_words); i++)
        if (strcmp(token->text, open_words[i]) == 0)
            json_put_bool(script->json, "open_options", 1);
}

/* ---- models and data sets ---- */

static void add_model(const struct script *script, const struct token *token, const char *id,
                      const char *call, bool revision, bool dataset) {
    json_t *fact = repository_fact(script->file, "models", token->line);
    if (fact == NULL)
        return;
    json_put_text(fact, "id", id);
    json_put_text(fact, "call", call);
    json_put_bool(fact, "revision", revision);
    json_put_bool(fact, "dataset", dataset);
}

static void read_loads(const struct script *script, size_t index) {
    static const struct {
        const char *call, *keyword;
        bool dataset;
    } calls[] = {{"from_pretrained", "pretrained_model_name_or_path", false},
                 {"snapshot_download", "repo_id", false},
                 {"hf_hub_download", "repo_id", false},
                 {"load_dataset", "path", true},
                 {"SentenceTransformer", "model_name_or_path", false},
                 {"LLM", "model", false}};
    for (size_t i = 0; i < ARRAY_LENGTH(calls); i++) {
        if (!is(script, index, calls[i].call) || !is(script, index + 1, "(") ||
            is(script, index - (index > 0), "def"))
            continue;
        size_t open = index + 1, keyword = find_keyword(script, open, calls[i].keyword);
        size_t type = find_keyword(script, open, "repo_type");
        const struct token *value = at(script, keyword > 0 ? keyword : open + 1);
        bool revision = find_keyword(script, open, "revision") > 0;
        bool dataset =
            calls[i].dataset || (type > 0 && strcmp(at(script, type)->text, "dataset") == 0);
        bool is_id = value->kind == TOKEN_STRING && repository_is_model_id(value->text);
        if (value->kind == TOKEN_STRING && !is_id)
            return; /* a folder, or "json" */
        add_model(script, at(script, index), is_id ? value->text : NULL, calls[i].call, revision,
                  dataset);
    }
}

/* parser.add_argument("--model", default="owner/name") */
static void read_default_model(const struct script *script, size_t index) {
    if (!is(script, index, "add_argument") || !is(script, index + 1, "("))
        return;
    size_t value = find_keyword(script, index + 1, "default");
    const char *flag = at(script, index + 2)->text;
    if (value == 0 || at(script, value)->kind != TOKEN_STRING)
        return;
    const struct token *token = at(script, value);
    bool dataset = strcasestr(flag, "data") != NULL;
    if (repository_is_model_id(token->text) &&
        (dataset || strcasestr(flag, "model") != NULL || strcasestr(flag, "token") != NULL))
        add_model(script, token, token->text, "default", false, dataset);
}

/* ---- seeds, work, CUDA ---- */

static void read_calls(const struct script *script, size_t index) {
    static const char *const seeds[] = {"manual_seed", "manual_seed_all", "seed_everything",
                                        "set_seed",    "set_random_seed", "PRNGKey",
                                        "seed_all",    "fix_seed",        "setup_seed"};
    static const char *const works[] = {"backward", "Trainer", "SFTTrainer", "multinomial"};
    const struct token *token = at(script, index);
    bool is_call = is(script, index + 1, "(");
    for (size_t i = 0; i < ARRAY_LENGTH(seeds); i++)
        if (is_call && strcmp(token->text, seeds[i]) == 0)
            add_what(script, "seeds", token, seeds[i]);
    bool random_seed = is_call && strcmp(token->text, "seed") == 0 && index > 1 &&
                       is(script, index - 1, ".") && is(script, index - 2, "random");
    if (random_seed)
        add_what(script, "seeds", token, "random.seed");
    for (size_t i = 0; i < ARRAY_LENGTH(works); i++)
        if (is_call && strcmp(token->text, works[i]) == 0)
            add_what(script, "works", token, works[i]);
    if (strcmp(token->text, "do_sample") == 0 && is(script, index + 1, "=") &&
        is(script, index + 2, "True"))
        add_what(script, "works", token, "do_sample=True");
    if (strcmp(token->text, "cuda") == 0 && is_call && index > 0 && is(script, index - 1, "."))
        add_what(script, "cuda", token, ".cuda()");
    if ((strcmp(token->text, "logits_to_keep") == 0 ||
         strcmp(token->text, "num_logits_to_keep") == 0) &&
        is(script, index + 1, "=") && !is(script, index + 2, "=")) {
        json_t *fact = add(script, "keywords", token->line);
        if (fact != NULL)
            json_put_text(fact, "name", token->text);
    }
    if (strcmp(token->text, "__main__") == 0)
        json_put_bool(script->json, "main", 1);
}

/* ---- files ---- */

/* Does the statement around a string write, and not read? */
static bool is_written(const struct script *script, size_t index) {
    static const char *const words[] = {"w",       "wb",        "a",          "wt",
                                        "to_csv",  "dump",      "save",       "to_json",
                                        "write",   "save_file", "savez",      "to_parquet",
                                        "savefig", "makedirs",  "write_text", "save_pretrained"};
    size_t begin = index, end = index;
    while (begin > 0 && at(script, begin - 1)->kind != TOKEN_NEWLINE && index - begin < 40)
        begin--;
    while (at(script, end)->kind != TOKEN_NEWLINE && at(script, end)->kind != TOKEN_END &&
           end - index < 40)
        end++;
    for (size_t i = begin; i < end; i++)
        for (size_t k = 0; k < ARRAY_LENGTH(words); k++)
            if (at(script, i)->kind != TOKEN_SIGN && strcmp(at(script, i)->text, words[k]) == 0)
                return true;
    for (size_t i = begin; i < index; i++) { /* args that say so: "--output", save_path = … */
        const char *text = at(script, i)->text;
        if (at(script, i)->kind != TOKEN_SIGN &&
            (strcasestr(text, "out") != NULL || strcasestr(text, "save") != NULL ||
             strcasestr(text, "result") != NULL || strcasestr(text, "log") != NULL))
            return true;
    }
    return false;
}

/* open(…), load(…), read_…(…) or a default: a plain file name in a message is none. */
static bool is_read(const struct script *script, size_t index) {
    static const char *const parts[] = {"open", "load", "read", "path", "file", "data", "Path"};
    for (size_t back = 1; back < 12 && back <= index; back++) {
        const struct token *token = at(script, index - back);
        if (token->kind == TOKEN_NEWLINE)
            return false;
        for (size_t i = 0; i < ARRAY_LENGTH(parts); i++)
            if (token->kind == TOKEN_NAME && strcasestr(token->text, parts[i]) != NULL)
                return true;
    }
    return false;
}

/* A name within a hub's repository, not within the clone. */
static bool is_of_hub(const struct script *script, size_t index) {
    for (size_t back = 1; back < 24 && back <= index; back++) {
        if (at(script, index - back)->kind == TOKEN_NEWLINE)
            return false;
        if (is(script, index - back, "hf_hub_download") ||
            is(script, index - back, "load_dataset") || is(script, index - back, "from_pretrained"))
            return true;
    }
    return false;
}

static void read_string(const struct script *script, size_t index) {
    const struct token *token = at(script, index);
    if (token->documents || is_of_hub(script, index) || !repository_is_data_name(token->text))
        return;
    bool writes = is_written(script, index);
    if (writes || strchr(token->text, '/') != NULL || is_read(script, index))
        repository_add_data(script->file, token->line, token->text, writes);
}

/* ---- setup.py ---- */

static void read_setup(const struct script *script, size_t index) {
    const struct token *token = at(script, index);
    if (strcmp(script->file->name, "setup.py") != 0 || !is(script, index + 1, "="))
        return;
    if (strcmp(token->text, "python_requires") == 0 &&
        at(script, index + 2)->kind == TOKEN_STRING) {
        json_t *fact = repository_fact(script->file, "pythons", token->line);
        if (fact != NULL)
            json_put_text(fact, "specifier", at(script, index + 2)->text);
    }
    if (strcmp(token->text, "install_requires") != 0 || !is(script, index + 2, "["))
        return;
    size_t end = token_behind_bracket(&script->tokens, index + 2);
    for (size_t i = index + 3; i < end; i++)
        if (at(script, i)->kind == TOKEN_STRING)
            (void)repository_add_requirement(script->file, at(script, i)->line, at(script, i)->text,
                                             "setup", NULL);
}

static json_t *new_script(const struct repository_file *file) {
    static const char *const lists[] = {"imports", "modules", "keywords", "options",
                                        "seeds",   "works",   "cuda"};
    json_t *list = json_get_array(file->repository->json, "python");
    if (json_array_size(list) >= REPOSITORY_FACTS_MAX) {
        repository_note_limit(file->repository, N_("number of findings of one kind"));
        return NULL;
    }
    json_t *json = json_object();
    json_array_append_new(list, json);
    json_put_text(json, "file", file->path);
    json_put_bool(json, "main", 0);
    json_put_bool(json, "open_options", 0);
    for (size_t i = 0; i < ARRAY_LENGTH(lists); i++)
        json_put(json, lists[i], json_array());
    return json;
}

void repository_read_python(const struct repository_file *file) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct script script = {.file = file, .json = new_script(file)};
    if (script.json == NULL)
        return;
    tokens_read(file->text, TOKENS_MAX, arena, &script.tokens);
    if (!script.tokens.complete)
        repository_note_limit(file->repository, N_("length of a Python file"));
    for (size_t i = 0; i < script.tokens.count; i++) {
        const struct token *token = at(&script, i);
        bool begins =
            i == 0 || at(&script, i - 1)->kind == TOKEN_NEWLINE || is(&script, i - 1, ":");
        if (token->kind == TOKEN_STRING) {
            read_string(&script, i);
            if (strcmp(token->text, "__main__") == 0)
                json_put_bool(script.json, "main", 1);
        }
        if (token->kind != TOKEN_NAME)
            continue;
        if (begins && strcmp(token->text, "from") == 0)
            (void)read_from(&script, i);
        else if (begins && strcmp(token->text, "import") == 0)
            (void)read_import(&script, i);
        read_options(&script, i);
        read_loads(&script, i);
        read_default_model(&script, i);
        read_calls(&script, i);
        read_setup(&script, i);
    }
}
