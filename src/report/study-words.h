/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words and small figures of a study that several renderers share: one place says how a component,
 * a state or a verdict is called. Internal to report/. Knows no form of output.
 */
#pragma once

#include "base/mem.h"
#include "base/strbuf.h"
#include "report/layout.h"
#include "rules/estimate.h"
#include "rules/study.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Translated: "preparation", "retries", "clean-up". */
const char *study_words_component(enum component component);
const char *study_words_state(enum study_state state);
const char *study_words_level(enum evidence_level level);
const char *study_words_verdict(enum study_verdict verdict);
const char *study_words_fact(enum plan_fact_state state);
const char *study_words_included(enum plan_answer answer);  /* of a part of the paper */
const char *study_words_backing(enum plan_backing backing); /* "chosen by the team" */
const char *study_words_environment(enum plan_environment_kind kind);
/* The name of an item of an estimate: "step install" and "sessions" in the language, else as it
 * is. */
void study_words_add_item(struct strbuf *out, const char *name);
const char *study_words_subtotal(const char *name); /* "one-off" … as people read it */
enum layout_color study_words_state_color(enum study_state state);
enum layout_color study_words_level_color(enum evidence_level level);

/* "compare, full, one-off", as far as it is said. */
void study_words_add_nature(struct strbuf *out, const struct plan_block *block);
/* "12", or "open" where the plan leaves the number open. */
void study_words_add_count(struct strbuf *out, bool known, uint64_t count);
/* "policy=evict, keep=0.5". */
void study_words_add_pairs(struct strbuf *out, const struct plan_pairs *pairs);
/* ">= 0.9". */
void study_words_add_threshold(struct strbuf *out, const struct plan_threshold *threshold);
/* The claim that a block answers, or NULL. */
const struct study_claim *study_words_claim(const struct study *study, const char *id);
/* The plan's own line about an assumption ("probelauf.yaml:80"), or NULL. */
const struct plan_assumption *study_words_assumption(const struct plan *plan,
                                                     const struct estimate_setting *setting);
/* "keep = 2h has no effect: why (probelauf.yaml:80)". */
void study_words_add_no_effect(struct strbuf *out, const struct estimate_setting *setting);

/* "keep: 2h by name, 2026-11-30: why (probelauf.yaml:80)". */
void study_words_add_setting(struct strbuf *out, const struct plan *plan,
                             const struct estimate_setting *setting);

/* A task's time is assumed as well: while it counts, that is until it is done. */
bool study_words_is_assumed(const struct plan_task *task);
/* "task read-the-texts = 1 h, by name, 2026-11-30: why (probelauf.yaml:80)". */
void study_words_add_task(struct strbuf *out, const struct plan *plan,
                          const struct plan_task *task);

/* Is one of the figures a lower bound and shown with an interval? It needs words, then. */
bool study_words_has_partial_interval(const struct estimate *estimate);
/* Does the time spent hold that of runs of another environment than the one it is about? */
bool study_words_is_of_several(const struct study *study);

/* "from 6 runs, spread borrowed"; the method of what rests on no runs. */
void study_words_add_rests(struct strbuf *out, const struct quantity *q);
/* The sum over no run at all: 0 was not measured, there was nothing to measure. */
bool study_words_is_nothing(const struct quantity *q);

/* Without the names of its open parts: for where they stand beside it in a list of their own. */
struct quantity study_words_alone(const struct quantity *q);
/* Seconds as GPU-hours or wall hours, so that nobody reads bare "hours"; as two decimals of them
 * show, what is less than that as seconds. */
struct quantity study_words_hours(const struct quantity *seconds, bool of_gpus);

/* The five figures of an estimate, in the order of every output. */
#define STUDY_FIGURES 5u
struct study_figure {
    const char *name;  /* as in JSON */
    const char *label; /* translated; says that reserved time is paid */
    const char *unit;
    const struct quantity *quantity;
};
void study_words_figures(const struct estimate_figures *figures,
                         struct study_figure ret_figures[STUDY_FIGURES]);
