/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Commands that scripts and documents name: the files and folders they need, what they install, the
 * models they pass. Reads words as a shell would write them and runs nothing; a word that only a
 * shell could work out ("$DIR/x") is left alone.
 */
#include "probe/repository-parts.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define WORDS_MAX 128u

struct shell {
    const struct repository_file *file;
    const char *folder; /* where the next command would run; NULL: not known any more */
    char cloned[128];   /* the folder that a "git clone" before it made */
    unsigned line;
};

struct words {
    const char *items[WORDS_MAX + 1];
    size_t count;
};

/* ---- words ---- */

/* A redirection ends a word, too; its target is taken for one, which does no harm. */
static const char separators[] = ";|&()", between[] = " \t<>";

/* Cuts one simple command off *at; its words are cut in place. False: none is left. */
static bool next_command(char **at, struct words *ret) {
    char *read = *at;
    ret->count = 0;
    for (;;) {
        read += strspn(read, between);
        if (*read == '#' || *read == '\0') {
            *at = read + strlen(read);
            return ret->count > 0;
        }
        if (strchr(separators, *read) != NULL) {
            *read++ = '\0';
            if (ret->count > 0) {
                *at = read;
                return true;
            }
            continue;
        }
        char *begin = read, *write = read, quote = '\0';
        while (*read != '\0' && (quote != '\0' || strchr(between, *read) == NULL) &&
               (quote != '\0' || strchr(separators, *read) == NULL)) {
            if (*read == quote)
                quote = '\0';
            else if (quote == '\0' && (*read == '"' || *read == '\''))
                quote = *read;
            else
                *write++ = *read;
            read++;
        }
        bool ends = *read != '\0' && strchr(separators, *read) != NULL;
        bool at_end = *read == '\0';
        *write = '\0';
        if (ret->count < WORDS_MAX)
            ret->items[ret->count++] = begin;
        ret->items[ret->count] = NULL;
        *at = at_end ? read : read + 1;
        if (ends || at_end)
            return true;
        read++;
    }
}

/* Nothing that is filled in when it runs. */
static bool is_literal(const char *word) {
    return word[0] != '\0' && strpbrk(word, "$*?{}~`!") == NULL && strchr(word, '\n') == NULL;
}

static bool is_one_of(const char *word, const char *const *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, list[i]) == 0)
            return true;
    return false;
}

/* ---- what a command needs ---- */

/* Where the path may lie: the folder of the moment, the file's own, those above, the top. */
static bool is_found(struct shell *shell, const char *path, const char **ret_place) {
    struct repository *repository = shell->file->repository;
    const char *own = repository_folder_of(repository, shell->file->path);
    const char *const folders[] = {shell->folder, own, repository_folder_of(repository, own), ""};
    *ret_place = NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(folders); i++) {
        const char *place =
            folders[i] != NULL ? repository_normal(repository, folders[i], path) : NULL;
        if (place != NULL && *ret_place == NULL)
            *ret_place = place;
        if (place != NULL && (place[0] == '\0' || repository_find(repository, place) != NULL)) {
            *ret_place = place;
            return true;
        }
    }
    return false;
}

/* It is there, somewhere: an earlier block of the document may have gone to that folder. */
static const char *find_elsewhere(const struct shell *shell, const char *path) {
    const struct repository *repository = shell->file->repository;
    while (str_starts_with(path, "./") || str_starts_with(path, "../"))
        path = strchr(path, '/') + 1;
    AUTO_FREE char *end = mem_printf("/%s", path);
    for (size_t i = 0; i < repository->count; i++)
        if (str_ends_with(repository->entries[i].path, end))
            return repository->entries[i].path;
    return NULL;
}

static void add_command(struct shell *shell, const char *kind, const char *path) {
    const char *place;
    if (!is_literal(path) || path[0] == '/' || path[0] == '-')
        return;
    bool found = is_found(shell, path, &place);
    const char *elsewhere = found ? NULL : find_elsewhere(shell, path);
    if (!found && elsewhere == NULL && (shell->folder == NULL || place == NULL))
        return; /* it runs where nobody knows */
    found = found || elsewhere != NULL;
    place = elsewhere != NULL ? elsewhere : place;
    json_t *fact = repository_fact(shell->file, "commands", shell->line);
    if (fact == NULL)
        return;
    json_put_text(fact, "kind", kind);
    json_put_text(fact, "file", shell->file->path);
    json_put_text(fact, "path", place);
    json_put_bool(fact, "found", found);
}

/* A module of the clone: its first part is there. */
static void add_module(struct shell *shell, const char *module) {
    if (!is_literal(module) || shell->folder == NULL)
        return;
    AUTO_FREE char *path = mem_strdup(module);
    for (char *at = path; *at != '\0'; at++)
        if (*at == '.')
            *at = '/';
    const char *place;
    AUTO_FREE char *first = mem_strndup(path, strcspn(path, "/"));
    AUTO_FREE char *file = mem_printf("%s.py", path), *main = mem_printf("%s/__main__.py", path);
    AUTO_FREE char *one = mem_printf("%s.py", first);
    bool is_own = is_found(shell, first, &place) || is_found(shell, one, &place);
    if (!is_own)
        return; /* an installed one */
    add_command(shell, "module", is_found(shell, main, &place) ? main : file);
}

static void add_model(struct shell *shell, const char *id, bool dataset) {
    const char *place;
    if (!repository_is_model_id(id) || is_found(shell, id, &place))
        return;
    json_t *fact = repository_fact(shell->file, "models", shell->line);
    if (fact == NULL)
        return;
    json_put_text(fact, "id", id);
    json_put_text(fact, "call", "command");
    json_put_bool(fact, "revision", 0);
    json_put_bool(fact, "dataset", dataset);
}

bool repository_is_model_id(const char *text) {
    const char *slash = strchr(text, '/');
    if (slash == NULL || slash == text || slash[1] == '\0' || strchr(slash + 1, '/') != NULL)
        return false;
    for (const char *at = text; *at != '\0'; at++)
        if (!isalnum((unsigned char)*at) && strchr("-_./", *at) == NULL)
            return false;
    return isalnum((unsigned char)text[0]) && isalnum((unsigned char)slash[1]) &&
           !repository_is_data_name(text) && !str_ends_with(text, ".py") &&
           !str_ends_with(text, ".sh") && !str_ends_with(text, ".yaml");
}

/* "--model", "-m", "MODEL_PATH": names of what holds a model. */
static bool names_model(const char *name) {
    static const char *const parts[] = {"model",   "llm",        "teacher",
                                        "student", "checkpoint", "tokenizer"};
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++)
        if (strcasestr(name, parts[i]) != NULL)
            return true;
    return strcmp(name, "-m") == 0;
}

/* "--data-path", "--prompts", but not "--output-file". */
static bool names_input(const char *name) {
    static const char *const inputs[] = {"data",   "input", "file",       "path",
                                         "prompt", "ckpt",  "checkpoint", "weights"};
    static const char *const outputs[] = {"out", "save", "log", "result"};
    bool is_input = false;
    for (size_t i = 0; i < ARRAY_LENGTH(inputs); i++)
        is_input = is_input || strcasestr(name, inputs[i]) != NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(outputs); i++)
        is_input = is_input && strcasestr(name, outputs[i]) == NULL;
    return is_input;
}

static void look_at_options(struct shell *shell, const struct words *words) {
    for (size_t i = 1; i < words->count; i++) {
        const char *word = words->items[i], *next = words->items[i + 1];
        const char *equals = strchr(word, '=');
        AUTO_FREE char *name = mem_strndup(word, strcspn(word, "="));
        if (word[0] != '-')
            continue;
        const char *value = equals != NULL ? equals + 1 : next;
        if (value == NULL)
            continue;
        if (names_model(name))
            add_model(shell, value, false);
        else if (strcasestr(name, "dataset") != NULL)
            add_model(shell, value, true);
        if (repository_is_data_name(value) && is_literal(value) && names_input(name))
            repository_add_data(shell->file, shell->line, value, false);
    }
}

/* ---- programs ---- */

static bool is_python(const char *program) {
    const char *slash = strrchr(program, '/');
    program = slash != NULL ? slash + 1 : program;
    return str_starts_with(program, "python");
}

static void look_at_python(struct shell *shell, const struct words *words) {
    static const char *const with_word[] = {"-W", "-X"};
    for (size_t i = 1; i < words->count; i++) {
        const char *word = words->items[i];
        if (strcmp(word, "-c") == 0)
            return;
        if (strcmp(word, "-m") == 0) {
            const char *module = words->items[i + 1];
            if (module != NULL && (strcmp(module, "pip") == 0 || strcmp(module, "uv") == 0) &&
                words->items[i + 2] != NULL && strcmp(words->items[i + 2], "install") == 0)
                repository_read_install(shell->file, shell->line, words->items + i + 3,
                                        words->count - i - 3);
            else if (module != NULL)
                add_module(shell, module);
            return;
        }
        if (is_one_of(word, with_word, ARRAY_LENGTH(with_word)))
            i++;
        else if (word[0] != '-') {
            if (str_ends_with(word, ".py"))
                add_command(shell, "script", word);
            return;
        }
    }
}

/* torchrun, accelerate launch, deepspeed: the first word that is a script. */
static void look_at_launcher(struct shell *shell, const struct words *words) {
    for (size_t i = 1; i < words->count; i++)
        if (str_ends_with(words->items[i], ".py") && words->items[i][0] != '-') {
            add_command(shell, "script", words->items[i]);
            return;
        }
}

static void look_at_paths_of_pip(struct shell *shell, const struct words *words) {
    for (size_t i = 1; i + 1 < words->count; i++)
        if (strcmp(words->items[i], "-r") == 0 || strcmp(words->items[i], "-c") == 0 ||
            strcmp(words->items[i], "--requirement") == 0)
            add_command(shell, "requirements", words->items[i + 1]);
        else if (strcmp(words->items[i], "-e") == 0 && words->items[i + 1][0] != 'g')
            add_command(shell, "folder", words->items[i + 1]);
}

static size_t behind(const struct words *words, const char *verb) {
    for (size_t i = 1; i < words->count && i < 4; i++)
        if (strcmp(words->items[i], verb) == 0)
            return i + 1;
    return 0;
}

static void look_at_conda(struct shell *shell, const struct words *words) {
    for (size_t i = 1; i + 1 < words->count; i++)
        if (strcmp(words->items[i], "-f") == 0 || strcmp(words->items[i], "--file") == 0)
            add_command(shell, "requirements", words->items[i + 1]);
    size_t first = behind(words, "install");
    if (first == 0)
        first = behind(words, "create");
    for (size_t i = first; first > 0 && i < words->count; i++) {
        const char *word = words->items[i];
        static const char *const with_word[] = {"-c",     "-n",       "-p", "--channel",
                                                "--name", "--prefix", "-f", "--file"};
        if (is_one_of(word, with_word, ARRAY_LENGTH(with_word))) {
            i++;
            continue;
        }
        if (word[0] == '-' || !is_literal(word))
            continue;
        size_t length = strcspn(word, "=<>");
        AUTO_FREE char *name = mem_strndup(word, length);
        const char *version = word + length;
        bool plain = version[0] == '=' && version[1] != '=';
        AUTO_FREE char *specifier = plain ? mem_printf("==%s.*", version + 1) : mem_strdup(version);
        if (strcmp(name, "python") == 0) {
            json_t *fact = repository_fact(shell->file, "pythons", shell->line);
            if (fact != NULL)
                json_put_text(fact, "specifier", specifier);
        } else if (length > 0)
            repository_add_pin(shell->file, shell->line, name, specifier, "command", NULL);
    }
}

static void change_folder(struct shell *shell, const char *path) {
    struct repository *repository = shell->file->repository;
    const char *place;
    if (path == NULL || !is_literal(path) || path[0] == '/') {
        shell->folder = NULL;
        return;
    }
    const char *own = strrchr(repository->folder, '/');
    const char *url = json_get_text(json_get_object(repository->json, "code"), "repo", "");
    const char *name = strrchr(url, '/');
    AUTO_FREE char *remote = mem_strdup(name != NULL ? name + 1 : "");
    if (str_ends_with(remote, ".git"))
        remote[strlen(remote) - 4] = '\0';
    AUTO_FREE char *plain = mem_strndup(path, strlen(path) - (str_ends_with(path, "/") ? 1 : 0));
    bool is_clone = (shell->cloned[0] != '\0' && strcmp(plain, shell->cloned) == 0) ||
                    (own != NULL && strcasecmp(plain, own + 1) == 0) ||
                    (remote[0] != '\0' && strcasecmp(plain, remote) == 0);
    bool was_known = shell->folder != NULL;
    if (is_found(shell, path, &place))
        shell->folder = place;
    else if (is_clone)
        shell->folder = "";
    else if (was_known && place != NULL) {
        add_command(shell, "folder", path);
        shell->folder = NULL;
    } else
        shell->folder = NULL;
}

/* The folder that "git clone URL [DIR]" makes: what follows is in there, and that is this clone. */
static void look_at_git(struct shell *shell, const struct words *words) {
    const char *url = NULL, *folder = NULL;
    if (words->count < 3 || strcmp(words->items[1], "clone") != 0)
        return;
    for (size_t i = 2; i < words->count; i++)
        if (words->items[i][0] != '-' && strpbrk(words->items[i], "/:") != NULL && url == NULL)
            url = words->items[i];
        else if (words->items[i][0] != '-' && url != NULL)
            folder = words->items[i];
    if (folder == NULL && url != NULL) {
        const char *slash = strrchr(url, '/');
        folder = slash != NULL ? slash + 1 : url;
    }
    if (folder == NULL || strlen(folder) >= sizeof shell->cloned)
        return;
    memcpy(shell->cloned, folder, strlen(folder) + 1);
    if (str_ends_with(shell->cloned, ".git"))
        shell->cloned[strlen(shell->cloned) - 4] = '\0';
    shell->folder = "";
}

static size_t skip_prefixes(const struct words *words) {
    static const char *const plain[] = {"sudo", "nohup", "time", "exec", "$",  "%",   "then",
                                        "do",   "else",  "RUN",  "!",    "uv", "run", "poetry"};
    size_t i = 0;
    for (; i < words->count; i++) {
        const char *word = words->items[i];
        size_t name =
            strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
        bool assigns = name > 0 && word[name] == '=';
        if (!assigns && !is_one_of(word, plain, ARRAY_LENGTH(plain)))
            break;
        if (strcmp(word, "uv") == 0 && i + 1 < words->count &&
            strcmp(words->items[i + 1], "run") != 0)
            break;
    }
    return i;
}

static void look_at_assignments(struct shell *shell, const struct words *words) {
    for (size_t i = 0; i < words->count; i++) {
        const char *equals = strchr(words->items[i], '=');
        if (equals == NULL || words->items[i][0] == '-')
            return;
        AUTO_FREE char *name = mem_strndup(words->items[i], (size_t)(equals - words->items[i]));
        if (names_model(name))
            add_model(shell, equals + 1, false);
    }
}

static void look_at_command(struct shell *shell, const struct words *all) {
    struct words words = {.count = 0};
    static const char *const launchers[] = {"torchrun", "accelerate", "deepspeed",
                                            "srun",     "mpirun",     "sbatch"};
    static const char *const shells[] = {"bash", "sh", "source", ".", "zsh"};
    look_at_assignments(shell, all);
    for (size_t i = skip_prefixes(all); i < all->count; i++)
        words.items[words.count++] = all->items[i];
    if (words.count == 0)
        return;
    const char *program = words.items[0], *first = words.items[1];
    size_t install = behind(&words, "install");
    if (is_python(program))
        look_at_python(shell, &words);
    else if (is_one_of(program, launchers, ARRAY_LENGTH(launchers)))
        look_at_launcher(shell, &words);
    else if (is_one_of(program, shells, ARRAY_LENGTH(shells))) {
        if (first != NULL && first[0] != '-' && str_ends_with(first, ".sh"))
            add_command(shell, "script", first);
    } else if (strcmp(program, "cd") == 0 || strcmp(program, "pushd") == 0)
        change_folder(shell, first);
    else if (strcmp(program, "git") == 0)
        look_at_git(shell, &words);
    else if (str_starts_with(program, "pip") || strcmp(program, "uv") == 0) {
        if (install > 0)
            repository_read_install(shell->file, shell->line, words.items + install,
                                    words.count - install);
        look_at_paths_of_pip(shell, &words);
    } else if (strcmp(program, "conda") == 0 || strcmp(program, "mamba") == 0 ||
               strcmp(program, "micromamba") == 0)
        look_at_conda(shell, &words);
    else if (strcmp(program, "make") == 0 && first != NULL && strcmp(first, "-C") == 0 &&
             words.count > 2)
        add_command(shell, "folder", words.items[2]);
    else if (str_starts_with(program, "./") &&
             (str_ends_with(program, ".sh") || str_ends_with(program, ".py")))
        add_command(shell, "script", program);
    if (is_python(program) || is_one_of(program, launchers, ARRAY_LENGTH(launchers)) ||
        is_one_of(program, shells, ARRAY_LENGTH(shells)) || program[0] == '.')
        look_at_options(shell, &words);
}

static void look_at_line(struct shell *shell, char *text) {
    struct words words;
    for (char *at = text; next_command(&at, &words);)
        look_at_command(shell, &words);
}

/* ---- files ---- */

struct joined { /* a line with those that follow a backslash */
    struct strbuf text;
    unsigned begin;
};

/* True: a whole line is in joined->text. */
static bool join_line(struct joined *joined, const struct strbuf *line, unsigned number,
                      bool at_end) {
    const char *text = strbuf_str(line);
    if (joined->text.length == 0)
        joined->begin = number;
    bool goes_on = str_ends_with(text, "\\") && joined->text.length < REPOSITORY_LINE_MAX;
    strbuf_add(&joined->text, text, line->length - (goes_on ? 1 : 0));
    if (goes_on)
        strbuf_add_char(&joined->text, ' ');
    return !goes_on || at_end;
}

static void end_line(struct shell *shell, struct joined *joined) {
    shell->line = joined->begin;
    if (joined->text.length > 0)
        look_at_line(shell, joined->text.data);
    strbuf_clear(&joined->text);
}

void repository_read_shell(const struct repository_file *file) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    struct joined joined = {.text = STRBUF_INIT};
    struct shell shell = {.file = file,
                          .folder = repository_folder_of(file->repository, file->path)};
    const char *at = file->text;
    for (unsigned number = 1; repository_next_line(&at, &line); number++)
        if (join_line(&joined, &line, number, *at == '\0'))
            end_line(&shell, &joined);
    strbuf_done(&joined.text);
}

/* Is this a line of code of a document? Fenced, or indented by four behind an empty line. */
struct fence {
    bool inside, was_empty, indented;
};

static bool is_code(struct fence *fence, const char *text, bool *ret_edge) {
    size_t blanks = strspn(text, " \t");
    const char *first = text + blanks;
    bool mark = str_starts_with(first, "```") || str_starts_with(first, "~~~");
    *ret_edge = mark;
    if (mark) {
        fence->inside = !fence->inside;
        return false;
    }
    bool deep = blanks >= 4 || text[0] == '\t';
    fence->indented =
        *first == '\0' ? fence->indented : deep && (fence->indented || fence->was_empty);
    fence->was_empty = *first == '\0';
    return fence->inside || fence->indented;
}

/* `python x.py` within a sentence. */
static void look_at_inline(struct shell *shell, const char *text) {
    for (const char *at = strchr(text, '`'); at != NULL; at = strchr(at, '`')) {
        const char *end = strchr(at + 1, '`');
        if (end == NULL)
            return;
        AUTO_FREE char *code = mem_strndup(at + 1, (size_t)(end - at - 1));
        if (str_starts_with(code, "python") || str_starts_with(code, "bash ") ||
            str_starts_with(code, "sh ") || str_starts_with(code, "source ") ||
            str_starts_with(code, "pip install"))
            look_at_line(shell, code);
        at = end + 1;
    }
}

void repository_read_document(const struct repository_file *file) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    struct joined joined = {.text = STRBUF_INIT};
    struct fence fence = {.was_empty = true};
    const char *own = repository_folder_of(file->repository, file->path);
    struct shell shell = {.file = file, .folder = own};
    const char *at = file->text;
    for (unsigned number = 1; repository_next_line(&at, &line); number++) {
        bool edge;
        const char *text = strbuf_str(&line);
        bool code = is_code(&fence, text, &edge);
        if (edge && joined.text.length > 0)
            end_line(&shell, &joined);
        if (edge)
            shell.folder = own; /* a block of its own */
        shell.line = number;
        if (code && join_line(&joined, &line, number, *at == '\0'))
            end_line(&shell, &joined);
        else if (!code && !edge)
            look_at_inline(&shell, text);
    }
    strbuf_done(&joined.text);
}

void repository_read_docker(const struct repository_file *file) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    struct joined joined = {.text = STRBUF_INIT};
    struct shell shell = {.file = file}; /* a folder of the image */
    const char *at = file->text;
    for (unsigned number = 1; repository_next_line(&at, &line); number++) {
        if (!join_line(&joined, &line, number, *at == '\0'))
            continue;
        const char *text = strbuf_str(&joined.text);
        if (strncasecmp(text, "FROM ", 5) == 0) {
            json_t *fact = repository_fact(file, "images", number);
            AUTO_FREE char *image = mem_strndup(text + 5, strcspn(text + 5, " \t"));
            if (fact != NULL)
                json_put_text(fact, "image", image);
            strbuf_clear(&joined.text);
        } else
            end_line(&shell, &joined);
    }
    strbuf_done(&joined.text);
}
