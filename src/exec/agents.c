/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unpacking and offering the agents. Must not write outside the journal's folder. */
#include "exec/agents.h"

#include "base/mem.h"

void agents_prepare(struct recorder *recorder) {
    (void)recorder;
}

json_t *agents_to_start(const struct recorder *recorder) {
    (void)recorder;
    return json_object();
}

char **agents_variables(const struct exec_options *options, const struct shared *shared,
                        char *const *environment) {
    (void)options;
    (void)shared;
    (void)environment;
    return mem_alloc(sizeof(char *));
}

void agents_variables_free(char **variables) {
    mem_free_ptr(&variables);
}

void agents_take(struct recorder *recorder, const json_t *mark) {
    (void)recorder;
    (void)mark;
}
