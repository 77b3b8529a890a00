/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of help that the text, the JSON and the completion share; internal to cli/. */
#pragma once

#include "cli/cli.h"
#include "cli/complete.h"

#include "base/json.h"

struct help_example {
    char *command, *text; /* owned; text "" without one */
};

/* Takes the first of some lines "command  # what it does"; returns where the next one begins. Free
 * it by help_example_done. */
const char *help_next_example(const char *lines, struct help_example *ret_example);
void help_example_done(struct help_example *example);

extern const char *const help_first_examples; /* of the overview, to be translated */

/* Where on the journey from a paper to a decision a command belongs: a title, to be translated. */
const char *help_group_of(const struct command *command);

/* All tables as JSON, texts in the language. */
json_t *help_json(void);

/* Adds what `help NAME` tells of a file format: "plan", "journal", "ledger", "config"; false: there
 * is no such topic. */
bool help_topic(const char *name, size_t width, struct strbuf *out);

/* The index-th topic that is no command; NULL behind the last. Its sentence is to be translated. */
const char *help_topic_name(size_t index, const char **ret_summary);

/* How wide texts are where the terminal has this width (0: not known). */
size_t help_text_width(int width);
/* Every line a paragraph; one that begins with two blanks is an entry of a list. */
void help_add_lines(struct strbuf *out, const char *text, size_t width);
/* "  left      text", the text in a column of its own. */
void help_add_entry(struct strbuf *out, const char *left, const char *text, size_t left_width,
                    size_t width);
