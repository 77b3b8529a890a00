/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the command files share: the table of commands, printing, complaints, places. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "cli/exit-codes.h"
#include "cli/opt.h"
#include "report/report.h"

#include <stdbool.h>
#include <stddef.h>

/* One entry per file cmd-NAME.c, in the order of the overview; ends with NULL. */
extern const struct command *const cli_commands[];
const struct command *cli_command(const char *name); /* NULL: unknown */
/* Complains that there is no such command, with the one that may have been meant. */
int cli_no_command(const char *word);

/* Call first: looks at what standard error is. */
void cli_start(void);
/* As it is, on standard error. */
void cli_say(const struct strbuf *text);
/* "probelauf: error[ID]: text" on standard error, nothing for an empty text (view_plan has said it
 * all); returns EXIT_CODE_ERROR. */
int cli_error(const struct err *err);
/* The same with "(see 'probelauf help NAME')"; command NULL: "(see 'probelauf help')". Returns
 * EXIT_CODE_USAGE. */
int cli_usage_error(const char *command, const struct err *err);
/* While true, cli_say and what goes through it say nothing: what is done a second time has been
 * complained of before. */
void cli_hush(bool hush);
/* "probelauf: warning: text"; nothing for "". */
void cli_warning(const char *text);
/* "probelauf: text", not with --quiet: a line about what was done, on standard error. */
void cli_note(const char *text);

/* To standard output, buffered; a failed write shows when main calls stdout_finish. */
void cli_print(const struct strbuf *text);
void cli_print_json(json_t *take_json);
int cli_print_errno(void); /* 0: no write to standard output has failed yet */

/* How to draw on standard output (fd 1) or error (fd 2): colour, width, characters. */
struct report_style cli_style(int fd);

/* The text of `probelauf help` and of `probelauf help COMMAND`. */
void help_overview(int width, struct strbuf *out);
void help_command(const struct command *command, int width, struct strbuf *out);

/* --version, --version --json */
void version_text(struct strbuf *out);
json_t *version_json(void);
