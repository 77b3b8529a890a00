/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of doctor share: adding findings, and each topic's judge. */
#pragma once

#include "doctor/doctor.h"

struct judging {
    const struct doctor_input *input;
    struct arena *arena;
    struct doctor_findings *findings;
    size_t room;
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
