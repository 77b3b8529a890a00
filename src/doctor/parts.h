/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of doctor share: adding findings, and each topic's judge. */
#pragma once

#include "doctor/doctor.h"

struct judging {
    const struct doctor_input *input;
    struct arena *arena;
    struct doctor_findings *findings;
    size_t room;
    struct doctor_fact *facts;
    size_t fact_room;
    struct strbuf supported; /* lines of the snippet on settings of blocks */
};

/* Text and advice are kept as they are (arena or static, translated). Returns the finding, to add a
 * quantity; valid until the next one. */
struct doctor_finding *doctor_add(struct judging *judging, enum doctor_topic topic, const char *id,
                                  enum doctor_state state, const char *text, const char *advice);
void doctor_add_quantity(struct doctor_finding *finding, struct quantity quantity);

/* "81.6 GiB" in the arena. */
const char *doctor_bytes(struct judging *judging, double bytes);
/* Foreign text, printable, in the arena. */
const char *doctor_plain(struct judging *judging, const char *text);
/* A quantity out of an object of the environment record. */
struct quantity doctor_quantity(struct judging *judging, const json_t *object, const char *key,
                                const char *unit);

void doctor_judge_machine(struct judging *judging);
void doctor_judge_gpu(struct judging *judging);
void doctor_judge_cuda(struct judging *judging);
void doctor_judge_places(struct judging *judging);
void doctor_judge_limits(struct judging *judging);
void doctor_judge_sight(struct judging *judging);
void doctor_judge_plan(struct judging *judging);
const char *doctor_snippet(struct judging *judging);

/* Name of a device, or "GPU 3" where it has none. */
const char *doctor_device_name(struct judging *judging, const json_t *device);
/* Compute capability "9.0" of a device; false: not known. */
bool doctor_capability(const json_t *device, unsigned *ret_major, unsigned *ret_minor);
/* The library answered and lists its devices. */
bool doctor_has_library(const struct doctor_input *input);

/* ---- a clone of the code: repository*.c ---- */

/* An element of an array of texts; "" for anything else. */
const char *doctor_text_at(const json_t *texts, size_t index);
/* Where a finding on the clone was seen: "at" of a fact; NULL adds nothing. */
void doctor_add_source(struct judging *judging, struct doctor_finding *finding, const char *at);
/* The same for each fact of an array, or those of it that the filter takes. */
void doctor_add_sources(struct judging *judging, struct doctor_finding *finding,
                        const json_t *facts);

/* A fact to suggest. ids: the names under which a plan may know it already, the first one is its
 * own. token: what a known one of the plan must hold to be the same; NULL: anything. Nothing where
 * the plan knows it; a contradiction becomes a finding. */
void doctor_suggest(struct judging *judging, const char *const *ids, size_t count,
                    struct doctor_fact fact, const char *token);
/* HEAD of the clone: suggested where no fact of the plan names a commit; another one than the plan
 * names becomes a finding. */
void doctor_suggest_commit(struct judging *judging, const char *commit, const char *repo);
/* "LICENSE:1 (7d78b34)": with the commit where there is one. */
const char *doctor_source_of(struct judging *judging, const char *at);
/* YAML of facts[] and code.requires. */
void doctor_add_repository_snippet(struct judging *judging, struct strbuf *out);
/* A comment that says what follows (translated, with its number) and where it belongs; the key only
 * where the plan does not have it. */
void doctor_add_section(struct strbuf *out, const char *key, const char *what, bool in_plan);
/* A YAML text in double quotes: whatever stands in a name stays a name. */
void doctor_add_quoted(struct strbuf *out, const char *text);

/* {name, version} of a package with "+cu124" in it against the driver's CUDA. */
void doctor_judge_toolkit(struct judging *judging, const json_t *package, unsigned driver_major,
                          unsigned driver_minor);
/* The script of the clone and all that it imports from it, directly or not; by index. */
void doctor_mark_reached(const json_t *scripts, size_t index, bool *reached);

void doctor_judge_repository(struct judging *judging);
void doctor_judge_files(struct judging *judging);        /* repository-files.c */
void doctor_judge_requirements(struct judging *judging); /* repository-pins.c */
void doctor_judge_stack(struct judging *judging);        /* repository-stack.c */
void doctor_judge_settings(struct judging *judging);     /* repository-settings.c */

/* What the clone asks of a machine. */
struct doctor_needs {
    const char *cuda; /* "flash-attn", "nvcc", "sm_90": why only CUDA; NULL: nothing */
    const char *cuda_at;
    const char *not_mac, *not_mac_at; /* a package that has no build for a Mac */
    struct plan_texts architectures;
    const char *toolkit, *toolkit_at; /* "12.8" of a local tag; NULL: none */
};
void doctor_find_needs(struct judging *judging, struct doctor_needs *ret_needs);

/* ---- requirements of packages: specifier.c ---- */

enum doctor_agreement { AGREE_UNKNOWN = 0, AGREE_YES, AGREE_NO };
/* Can one version meet both? NO only where it is certain. */
enum doctor_agreement doctor_agree(const char *specifiers_a, const char *specifiers_b);
/* The version that "==2.7.0" alone pins, in the arena; NULL: it pins none. */
const char *doctor_pin(struct judging *judging, const char *specifiers);
/* As names are compared (PEP 503): lower case, "-" for runs of "-", "_", "."; pytorch of conda is
 * torch. In the arena. */
const char *doctor_package_name(struct judging *judging, const char *name);
