/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Offering the agents: which of them, with which variables, and why not. Must not replace what the
 * user set; agents-files.c unpacks them.
 */
#include "exec/agents.h"

#include "base/mem.h"
#include "base/msg.h"
#include "exec/agents-files.h"
#include "exec/recorder-parts.h"
#include "probe/paths.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PYTHON_VARIABLE    "PYTHONPATH"
#define PYTHON_SWITCH      "PROBELAUF_PYTHON"
#define INJECTION_VARIABLE "NVTX_INJECTION64_PATH"
#define NVTX_SWITCH        "PROBELAUF_NVTX"
#define KNOWN_SWITCH       "PROBELAUF_PATTERNS" /* text-channel.c reads it */

static const char *const start_names[AGENT_COUNT_] = {"python-hook", "nvtx"};

static const char *variable(char *const *environment, const char *name) {
    return variable_get(&(struct variables){.list = environment}, name);
}

/* ---- which, and why not ---- */

/* Why an agent is not offered (N_), NULL: it is. */
static const char *why_not(enum agent agent, const struct exec_options *options,
                           const struct shared *shared, char *const *environment) {
    const char *python = variable(environment, PYTHON_SWITCH);
    const char *nvtx = variable(environment, NVTX_SWITCH);
    const char *injection = variable(environment, INJECTION_VARIABLE);
    if (options->attach > 0)
        return N_("the process was there before");
    if (agent == AGENT_PYTHON && python != NULL && strcmp(python, "0") == 0)
        return N_("PROBELAUF_PYTHON=0");
    if (agent == AGENT_NVTX && nvtx != NULL && strcmp(nvtx, "0") == 0)
        return N_("PROBELAUF_NVTX=0");
    if (agent == AGENT_NVTX && injection != NULL &&
        !agents_is_own_path(injection, strlen(injection), AGENT_NVTX))
        return N_("NVTX_INJECTION64_PATH is already set");
    if (atomic_load(&shared->recorder_state) < RECORDER_READY || shared->marks_path[0] == '\0')
        return N_("there was no place for the record when the command started");
    if (shared->agent_trouble[agent][0] != '\0')
        return shared->agent_trouble[agent];
    if (shared->agent_folder[0] == '\0')
        return N_("the files could not be unpacked");
    if (agent == AGENT_PYTHON && strchr(shared->agent_folder, ':') != NULL)
        return N_("a colon stands in the name of the journal's folder");
    return NULL;
}

void agents_prepare(struct recorder *recorder) {
    struct shared *shared = recorder->shared;
    if (recorder->options->attach > 0 || atomic_load(&shared->started))
        return;
    agents_unpack(shared);
}

json_t *agents_to_start(const struct recorder *recorder) {
    const struct shared *shared = recorder->shared;
    json_t *agents = json_object();
    for (size_t i = 0; i < AGENT_COUNT_; i++) {
        bool is_on = (atomic_load(&shared->agents_offered) >> i & 1) != 0;
        json_t *agent = json_object();
        json_put_bool(agent, "on", is_on);
        if (!is_on) {
            const char *why = why_not((enum agent)i, recorder->options, shared, environ);
            json_put_text(agent, "reason",
                          why != NULL
                              ? why
                              : N_("there was no place for the record when the command started"));
        }
        if (i == AGENT_NVTX)
            json_put_int(agent, "mapped", (int64_t)recorder->options->nvtx_count);
        json_put(agents, start_names[i], agent);
    }
    const char *known = variable(environ, KNOWN_SWITCH);
    if (known != NULL && strcmp(known, "0") == 0) {
        json_t *lines = json_object();
        json_put_bool(lines, "on", false);
        json_put_text(lines, "reason", KNOWN_SWITCH "=0");
        json_put(agents, "known-lines", lines);
    }
    return agents;
}

/* ---- variables ---- */

/* PYTHONPATH with our folder in front. Folders of runs around this one are left out: of two hooks
 * the inner one reports. An empty entry means the current folder and stays. */
static char *python_path(const char *folder, const char *given) {
    AUTO_STRBUF struct strbuf path = STRBUF_INIT;
    strbuf_printf(&path, PYTHON_VARIABLE "=%s/" AGENTS_PYTHON_FOLDER, folder);
    for (const char *at = given; at != NULL && *given != '\0';) {
        size_t length = strcspn(at, ":");
        if (!agents_is_own_path(at, length, AGENT_PYTHON)) {
            strbuf_add_char(&path, ':');
            strbuf_add(&path, at, length);
        }
        at = at[length] == ':' ? at + length + 1 : NULL;
    }
    return mem_strdup(strbuf_str(&path));
}

static void add_encoded(struct strbuf *out, const char *text) {
    for (const char *c = text; *c != '\0'; c++) {
        if (strchr("%=;", *c) != NULL || (unsigned char)*c < 0x20)
            strbuf_printf(out, "%%%02X", (unsigned)(unsigned char)*c);
        else
            strbuf_add_char(out, *c);
    }
}

/* The ranges that mean phases, as src/agent/nvtx-names.c reads them. */
static char *nvtx_map(const struct exec_options *options) {
    AUTO_STRBUF struct strbuf map = STRBUF_INIT;
    strbuf_add_str(&map, NVTX_SWITCH "=");
    for (size_t i = 0; i < options->nvtx_count; i++) {
        if (i > 0)
            strbuf_add_char(&map, ';');
        add_encoded(&map, options->nvtx[i].range);
        strbuf_add_char(&map, '=');
        add_encoded(&map, options->nvtx[i].phase);
    }
    return mem_strdup(strbuf_str(&map));
}

/* What a run around this one offered would report to this one's marks file, which says that nothing
 * is offered. */
static char *switched_off(enum agent agent, char *const *environment) {
    const char *injection = variable(environment, INJECTION_VARIABLE);
    const char *path = variable(environment, PYTHON_VARIABLE);
    if (agent == AGENT_NVTX)
        return injection != NULL && agents_is_own_path(injection, strlen(injection), AGENT_NVTX)
                   ? mem_strdup(NVTX_SWITCH "=0")
                   : NULL;
    for (const char *at = path; at != NULL;) {
        size_t length = strcspn(at, ":");
        if (agents_is_own_path(at, length, AGENT_PYTHON))
            return mem_strdup(PYTHON_SWITCH "=0");
        at = at[length] == ':' ? at + length + 1 : NULL;
    }
    return NULL;
}

char **agents_variables(const struct exec_options *options, struct shared *shared,
                        char *const *environment) {
    char **variables = mem_alloc((2 * AGENT_COUNT_ + 1) * sizeof *variables);
    size_t count = 0;
    unsigned offered = 0;
    for (size_t i = 0; i < AGENT_COUNT_; i++) {
        if (why_not((enum agent)i, options, shared, environment) != NULL) {
            variables[count] = switched_off((enum agent)i, environment);
            count += variables[count] != NULL;
            continue;
        }
        offered |= 1u << i;
        if (i == AGENT_PYTHON) {
            variables[count++] =
                python_path(shared->agent_folder, variable(environment, PYTHON_VARIABLE));
        } else {
            variables[count++] =
                mem_printf(INJECTION_VARIABLE "=%s/" AGENTS_NVTX_FILE, shared->agent_folder);
            variables[count++] = nvtx_map(options);
        }
    }
    atomic_store(&shared->agents_offered, offered);
    return variables;
}

void agents_variables_free(char **variables) {
    for (size_t i = 0; variables != NULL && variables[i] != NULL; i++)
        mem_free_ptr(&variables[i]);
    mem_free_ptr(&variables);
}

/* ---- what they say ---- */

/* At its exit a process does not know whether it ends by what it counted; until then it went on. */
void agents_take(struct recorder *recorder, const json_t *mark) {
    if (strcmp(json_get_text(mark, "verb", ""), "agent") != 0)
        return;
    const json_t *data = json_get_object(mark, "data");
    const char *moment = json_get_text(data, "moment", "");
    int64_t ooms = json_get_int(data, "ooms", 0);
    bool is_memory = strcmp(json_get_text(data, "event", ""), "memory") == 0;
    if (!is_memory || ooms <= 0 ||
        (strcmp(moment, "phase-end") != 0 && strcmp(moment, "reset") != 0))
        return;
    json_t *figures = json_object();
    json_t *device = json_object_get(data, "device");
    if (json_is_integer(device))
        json_put(figures, "device", json_incref(device));
    recorder_write_incident(recorder, "gpu_oom", "python-hook", NULL, figures, true);
}
