/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What makes a condition, and {name} places in the texts of a block; internal to plan/. Must not
 * know where a plan comes from.
 */
#pragma once

#include "base/mem.h"
#include "model/plan.h"

#include <stddef.h>

/*
 * The id of a condition: SHA-256 over "probelauf.condition/1" and, each with its length in front,
 * the number of its parameters, their names and values (sorted by name, text as written), the
 * paper's version and the id of the command template. A part that is absent differs from an empty
 * one. The block is not in it: the same condition in two blocks is one condition.
 */
void plan_condition_id(const struct plan_pair *parameters, size_t count, const char *paper_version,
                       const char *template_id, char ret_id[SHA256_HEX_SIZE]);
/* The id of a command that was given none: SHA-256 over "probelauf.template/1", "shell" or "argv",
 * and the arguments, each with its length in front. NULL without a command. */
const char *plan_template_id(const struct plan_block *block, struct arena *arena);

/* Pieces of a text with places: plain text ("{{" and "}}" give one brace each), {name}, or a brace
 * that is neither. A name is anything but braces. */
enum plan_piece { PLAN_PIECE_END = 0, PLAN_PIECE_TEXT, PLAN_PIECE_NAME, PLAN_PIECE_BRACE };
/* The piece that begins at *text, which moves on behind it. *ret_start, *ret_length: the text, or
 * the name without its braces. */
enum plan_piece plan_piece_next(const char **text, const char **ret_start, size_t *ret_length);
