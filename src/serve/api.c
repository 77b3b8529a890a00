/* SPDX-License-Identifier: GPL-3.0-or-later */
/* "/api/NAME.json" (answer.h): the program asks itself, so that both say the same. */
#include "serve/answer.h"

#include "base/json.h"
#include "base/spawn.h"
#include "base/str.h"

#include <string.h>

#define PATIENCE_NS   INT64_C(50000000000) /* less than the server has with us */
#define DOCUMENT_MOST ((size_t)256 << 20)

/* What may be asked for, each with whether it has a ledger and a plan, and which parameters it
 * takes. */
static const struct name {
    const char *name;
    const char *words[2]; /* of the command line */
    bool has_ledger, has_plan;
    const char *operand, *options[3]; /* parameters */
} names[] = {
    {"log", {"log"}, true, false, NULL, {"outcome", "text", "after"}},
    {"show", {"show"}, true, false, "run", {NULL}},
    {"blocks", {"block", "list"}, true, true, NULL, {NULL}},
    {"check", {"check"}, false, true, NULL, {NULL}},
    {"estimate", {"estimate"}, true, true, NULL, {NULL}},
    {"decide", {"decide"}, true, true, NULL, {NULL}},
    {"review", {"review"}, true, true, NULL, {NULL}},
    {"next", {"next"}, true, true, NULL, {NULL}},
    {"report", {"report"}, true, true, NULL, {NULL}},
    {"session", {"session", "status"}, true, false, NULL, {NULL}},
    {"ledger", {"ledger", "info"}, true, false, NULL, {NULL}},
};

static const struct name *find(const char *path) {
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        AUTO_FREE char *whole = mem_printf("/api/%s.json", names[i].name);
        if (strcmp(path, whole) == 0)
            return &names[i];
    }
    return NULL;
}

#define WORDS_MAX 24u

/* Every value stands behind '=' or "--": none becomes an option. */
static void fill(const struct serve_options *options, const struct serve_request *request,
                 const struct name *name, struct arena *arena, const char *argv[WORDS_MAX]) {
    size_t count = 0;
    argv[count++] = "/proc/self/exe";
    for (size_t i = 0; i < ARRAY_LENGTH(name->words) && name->words[i]; i++)
        argv[count++] = name->words[i];
    argv[count++] = "--json";
    if (name->has_ledger)
        argv[count++] = arena_printf(arena, "--ledger=%s", options->place->ledger_url);
    if (name->has_ledger && options->place->journal_dirs[0])
        argv[count++] = arena_printf(arena, "--journal-dir=%s", options->place->journal_dirs[0]);
    if (name->has_plan && options->plan)
        argv[count++] = arena_printf(arena, "--plan=%s", options->plan);
    for (size_t i = 0; i < ARRAY_LENGTH(name->options) && name->options[i]; i++)
        if (serve_parameter(request, name->options[i]))
            argv[count++] = arena_printf(arena, "--%s=%s", name->options[i],
                                         serve_parameter(request, name->options[i]));
    if (name->operand) {
        argv[count++] = "--";
        argv[count++] = serve_parameter(request, name->operand);
    }
    argv[count] = NULL;
}

static void refuse(int status, const char *why, struct serve_answer *ret) {
    AUTO_JSON json_t *json = json_object();
    json_put_text(json, "error", why);
    strbuf_clear(&ret->body);
    json_add_pretty(&ret->body, json);
    ret->status = status;
}

void serve_api(const struct serve_options *options, const struct serve_request *request,
               struct serve_answer *ret) {
    AUTO_ARENA struct arena *arena = arena_new();
    const struct name *name = find(request->path);
    const char *argv[WORDS_MAX];
    struct spawn_result result;
    struct err err = ERR_INIT;
    ret->type = SERVE_JSON;
    if (!name) {
        refuse(404, "there is no such document", ret);
        return;
    }
    if (name->operand && !serve_parameter(request, name->operand)) {
        refuse(400, arena_printf(arena, "the parameter '%s' is needed", name->operand), ret);
        return;
    }
    fill(options, request, name, arena, argv);
    int rc = spawn_capture(argv, NULL, NULL, PATIENCE_NS, DOCUMENT_MOST, &ret->body, &result, &err);
    if (rc < 0)
        refuse(500, err.text, ret);
    else if (result.timed_out || result.truncated)
        refuse(503, "the document takes too long, or is too large", ret);
    else if (ret->body.length == 0)
        refuse(500,
               arena_printf(arena, "there is no document (status %d); 'probelauf %s' says why",
                            result.status, name->name),
               ret);
    err_clear(&err);
}
