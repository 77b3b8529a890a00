/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why phases are not told apart, from what was offered to the command and what came of it: an agent
 * that never reported, ranges that no rule maps, a switch. Must not guess: what cannot be seen in
 * the record is not a reason.
 */
#include "journal/fold-phases.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"

#include <string.h>

#define NAMES_SHOWN 6u
#define HOOK_SWITCH "PROBELAUF_PYTHON"

/* What an agent said, by its last words. */
struct said {
    bool hello;
    const json_t *names;       /* of ranges that no rule maps */
    const char *off, *trouble; /* reasons; NULL: none */
};

static struct said find_said(const struct fold *fold, const char *agent) {
    struct said said = {0};
    for (size_t i = 0; i < json_array_size(fold->marks); i++) {
        const json_t *mark = json_array_get(fold->marks, i);
        if (strcmp(json_get_text(mark, "verb", ""), "agent") != 0 ||
            strcmp(json_get_text(mark, "name", ""), agent) != 0) {
            continue;
        }
        const json_t *data = json_get_object(mark, "data");
        const char *event = json_get_text(data, "event", "");
        const json_t *names = json_get_array(data, "names");
        said.hello = said.hello || strcmp(event, "hello") == 0;
        if (json_array_size(names) >= json_array_size(said.names)) {
            said.names = json_array_size(names) > 0 ? names : said.names;
        }
        if (strcmp(event, "off") == 0) {
            said.off = json_get_text(data, "reason", said.off);
        } else if (strcmp(event, "trouble") == 0) {
            said.trouble = json_get_text(data, "reason", said.trouble);
        }
    }
    return said;
}

/* ---- Python ---- */

static bool is_python(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return str_starts_with(name, "python") && name[strspn(name + 6, "0123456789.") + 6] == '\0';
}

/* The option among those of a Python command that keeps the hook out: -I, -E or -S; '\0': none. */
static char silencing_option(const json_t *command, size_t python) {
    for (size_t i = python + 1; i < json_array_size(command); i++) {
        const char *option = json_string_value(json_array_get(command, i));
        if (option == NULL || option[0] != '-' || option[1] == '\0' || strcmp(option, "--") == 0) {
            return '\0'; /* the program and its own options follow */
        }
        if (option[1] == '-') {
            i += strcmp(option, "--check-hash-based-pycs") == 0;
            continue;
        }
        for (const char *c = option + 1; *c != '\0'; c++) {
            if (*c == 'I' || *c == 'E' || *c == 'S') {
                return *c;
            }
            if (*c == 'c' || *c == 'm') {
                return '\0';
            }
            if (*c == 'W' || *c == 'X') {
                i += c[1] == '\0'; /* its value is the next word */
                break;
            }
        }
    }
    return '\0';
}

/* The command's Python: its place among the words, as it is or behind `env`, `uv run` and others;
 * -1: none. */
static long find_python(const json_t *command) {
    for (size_t i = 0; i < json_array_size(command); i++) {
        const char *word = json_string_value(json_array_get(command, i));
        if (word != NULL && is_python(word)) {
            return (long)i;
        }
    }
    return -1;
}

/* A Python process belonged to the run: the command, the script that it is, or a process that was
 * seen; one that merely lies in PATH did not. */
static bool had_python(const struct fold *fold, const json_t *command) {
    static const char *const sources[] = {"command", "script", "process"};
    const json_t *interpreters = json_get_array(fold->run->environment, "interpreters");
    const char *program = json_string_value(json_array_get(command, 0));
    if (program != NULL && is_python(program)) {
        return true;
    }
    for (size_t i = 0; i < json_array_size(interpreters); i++) {
        const char *source = json_get_text(json_array_get(interpreters, i), "source", "");
        for (size_t k = 0; k < ARRAY_LENGTH(sources); k++) {
            if (strcmp(source, sources[k]) == 0) {
                return true;
            }
        }
    }
    return false;
}

/* Why, and what to do about it where that is not what is always to be done; NULL: none. */
struct reason {
    const char *why, *remedy;
};

static struct reason why_hook(const struct fold *fold, const json_t *agents) {
    const json_t *hook = json_get_object(agents, "python-hook");
    const json_t *command = json_get_array(fold->run->start, "command");
    struct arena *arena = fold->run->arena;
    struct said said = find_said(fold, "python-hook");
    bool is_on = json_get_bool(hook, "on", false) == 1;
    if (hook == NULL || (!said.hello && !had_python(fold, command))) {
        return (struct reason){NULL, NULL};
    }
    const char *off = !is_on ? msg_get(json_get_text(hook, "reason", N_("no reason was recorded")))
                      : said.off != NULL ? said.off
                                         : said.trouble;
    if (off != NULL) {
        bool is_switch = strcmp(off, HOOK_SWITCH "=0") == 0;
        return (struct reason){
            is_on ? arena_printf(arena, _("the Python hook told nothing: %s"), off)
                  : arena_printf(arena, _("the Python hook was off: %s"), off),
            is_switch ? arena_printf(arena, _("leave %s out, or mark the phases"), HOOK_SWITCH)
                      : NULL};
    }
    if (said.hello) {
        return (struct reason){_("the Python hook saw no call that it knows to load or to compute"),
                               NULL};
    }
    long python = find_python(command);
    char option = python >= 0 ? silencing_option(command, (size_t)python) : '\0';
    if (option != '\0') {
        return (struct reason){
            arena_printf(arena, _("the Python hook did not report: python -%c keeps it out"),
                         option),
            arena_printf(arena, _("leave -%c out, or mark the phases"), option)};
    }
    return (struct reason){
        _("the Python hook did not report: python -I, -S or -E, or another interpreter"), NULL};
}

/* ---- NVTX ---- */

static const char *names_seen(const struct fold *fold, const json_t *names) {
    AUTO_STRBUF struct strbuf list = STRBUF_INIT;
    size_t count = json_array_size(names);
    for (size_t i = 0; i < count && i < NAMES_SHOWN; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        strbuf_add_str(&list, i > 0 ? ", " : "");
        str_add_printable(&list, name != NULL ? name : "", name != NULL ? strlen(name) : 0);
    }
    if (count > NAMES_SHOWN) {
        strbuf_add_str(&list, ", ...");
    }
    return arena_strdup(fold->run->arena, strbuf_str(&list));
}

static struct reason why_nvtx(const struct fold *fold, const json_t *agents) {
    const json_t *nvtx = json_get_object(agents, "nvtx");
    struct said said = find_said(fold, "nvtx");
    struct arena *arena = fold->run->arena;
    if (json_array_size(said.names) > 0) {
        return (struct reason){arena_printf(arena, _("NVTX ranges came that mean no phase: %s"),
                                            names_seen(fold, said.names)),
                               _("map them in phases.nvtx of the plan")};
    }
    if (json_get_int(nvtx, "mapped", 0) == 0) {
        return (struct reason){NULL, NULL};
    }
    if (json_get_bool(nvtx, "on", false) != 1) {
        return (struct reason){
            arena_printf(arena, _("NVTX ranges were not received: %s"),
                         msg_get(json_get_text(nvtx, "reason", N_("no reason was recorded")))),
            NULL};
    }
    return (struct reason){said.hello ? _("no NVTX range came")
                                      : _("no NVTX markers: no program of the run asked for their "
                                          "receiver"),
                           NULL};
}

/* ---- --ready ---- */

bool fold_phases_ready_is_unseen(const struct fold *fold) {
    const json_t *ready = json_get_object(fold->run->end, "ready");
    return json_get_text(ready, "reason", NULL) != NULL &&
           json_get_bool(ready, "unseen", false) == 1;
}

static struct reason why_ready(const struct fold *fold) {
    const char *why = json_get_text(json_get_object(fold->run->end, "ready"), "reason", NULL);
    if (why == NULL) {
        return (struct reason){NULL, NULL};
    }
    return (struct reason){
        arena_printf(fold->run->arena, _("when it was ready was not seen: %s"), msg_get(why)),
        fold_phases_ready_is_unseen(fold)
            ? _("let all of its output be read (no /dev/null, no --tee none), or give --ready an "
                "http:// address")
            : NULL};
}

/* ---- all of it ---- */

const char *fold_phases_why(const struct fold *fold, enum phases_source source) {
    static const char *const why[PHASES_SOURCE_COUNT_] = {
        [PHASES_NONE] =
            N_("nothing tells the phases apart; use 'probelauf mark', an output pattern or "
               "--phase"),
        [PHASES_OPTION] = N_("the whole run was declared to be another phase"),
        [PHASES_STACK] = N_("no line of output began this phase"),
        [PHASES_PATTERN] = N_("no line of output began this phase"),
        [PHASES_PYTHON_HOOK] = N_("the Python hook saw no call that began this phase"),
        [PHASES_NVTX] = N_("no NVTX range began this phase"),
        [PHASES_READY] = N_("what --ready waits for tells nothing of this phase"),
        [PHASES_MARK] = N_("no mark began this phase"),
    };
    if (source != PHASES_NONE) {
        return msg_get(why[source]);
    }
    const struct run *run = fold->run;
    bool is_attached = json_object_get(run->start, "attach") != NULL;
    const char *text = is_attached ? _("nothing in a process that ran already tells its phases "
                                       "apart; --phase names what all of it is")
                                   : msg_get(why[source]);
    if (run->apart_why == NULL) {
        return text;
    }
    return arena_printf(run->arena, "%s; %s%s%s", text, run->apart_why,
                        run->apart_remedy != NULL ? "; " : "",
                        run->apart_remedy != NULL ? run->apart_remedy : "");
}

void fold_phases_find_why(struct fold *fold) {
    const json_t *agents = json_get_object(fold->run->start, "agents");
    struct run *run = fold->run;
    const struct reason all[] = {why_ready(fold), why_hook(fold, agents), why_nvtx(fold, agents)};
    for (size_t i = 0; i < ARRAY_LENGTH(all); i++) {
        if (all[i].why != NULL) {
            run->apart_why = run->apart_why == NULL
                                 ? all[i].why
                                 : arena_printf(run->arena, "%s; %s", run->apart_why, all[i].why);
        }
        if (run->apart_remedy == NULL) {
            run->apart_remedy = all[i].remedy;
        }
    }
}
