/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probelauf mark: tells the run around us what begins, ends, was done or came out. One line
 * appended to a file, no ledger, no configuration: it must cost a measured program nothing worth
 * naming.
 */
#include "cli/cli.h"
#include "cli/commands.h"

#include "base/msg.h"
#include "cli/words.h"
#include "exec/exec.h"
#include "model/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static bool opt_end;
static int64_t opt_items = -1, opt_length = -1, opt_batch = -1;
static const char *opt_shape;
static struct opt_list opt_results, opt_notes;

static const struct opt_spec mark_options[] = {
    {.name = "end",
     .type = OPT_FLAG,
     .target = &opt_end,
     .help = N_("The phase ends and no other begins; with PHASE only if that one holds.")},
    {.name = "items",
     .type = OPT_COUNT,
     .target = &opt_items,
     .argument = N_("N"),
     .help = N_("Units of work done so far, for example samples or prompts."),
     .max = INT64_MAX},
    {.name = "length",
     .type = OPT_COUNT,
     .target = &opt_length,
     .argument = N_("N"),
     .help = N_("Length of the input, for example in tokens."),
     .max = INT64_MAX},
    {.name = "batch",
     .type = OPT_COUNT,
     .target = &opt_batch,
     .argument = N_("N"),
     .help = N_("Batch size."),
     .max = INT64_MAX},
    {.name = "shape",
     .type = OPT_TEXT,
     .target = &opt_shape,
     .argument = N_("TEXT"),
     .help = N_("Shape of the output, in your words.")},
    {.name = "result",
     .type = OPT_LIST,
     .target = &opt_results,
     .argument = N_("NAME=VALUE[ UNIT]"),
     .help = N_("A result of the run, for example \"speed=41.5 token/s\"; repeatable.")},
    {.name = "note",
     .type = OPT_LIST,
     .target = &opt_notes,
     .argument = N_("TEXT"),
     .help = N_("A remark kept with the run; repeatable.")},
    {.name = NULL},
};

/* Everything is checked before anything is written: a wrong call leaves no mark. */
static int check(int argc, char **argv, struct err *err) {
    enum phase phase;
    if (argc == 1 && !phase_from_name(argv[0], &phase)) {
        return words_complain_phase(argv[0], err);
    }
    for (size_t i = 0; i < opt_results.count; i++) {
        AUTO_FREE char *name = NULL;
        const char *value = NULL;
        if (!opt_split(opt_results.items[i], &name, &value) || *value == '\0') {
            return err_set(err, -EINVAL, "usage-bad-value",
                           "option '--result' takes NAME=VALUE, not '%s'", opt_results.items[i]);
        }
    }
    if (argc == 0 && !opt_end && opt_items < 0 && opt_length < 0 && opt_batch < 0 &&
        opt_shape == NULL && opt_results.count == 0 && opt_notes.count == 0) {
        return err_set(err, -EINVAL, "usage-operands",
                       "nothing to mark: give a phase or an option such as '--end'");
    }
    return 0;
}

static int mark_count(const char *verb, int64_t count, struct err *err) {
    if (count < 0) {
        return 0;
    }
    char digits[24];
    (void)snprintf(digits, sizeof(digits), "%lld", (long long)count);
    return exec_mark(verb, NULL, digits, err);
}

static int mark_result(const char *text, struct err *err) {
    AUTO_FREE char *name = NULL;
    const char *value = NULL;
    (void)opt_split(text, &name, &value); /* checked */
    return exec_mark("result", name, value, err);
}

static int mark_all(int argc, char **argv, struct err *err) {
    int rc = 0;
    if (argc == 1 || opt_end) {
        rc = exec_mark(opt_end ? "end" : "phase", argc == 1 ? argv[0] : NULL, NULL, err);
    }
    rc = rc < 0 ? rc : mark_count("items", opt_items, err);
    rc = rc < 0 ? rc : mark_count("length", opt_length, err);
    rc = rc < 0 ? rc : mark_count("batch", opt_batch, err);
    if (rc == 0 && opt_shape != NULL) {
        rc = exec_mark("shape", NULL, opt_shape, err);
    }
    for (size_t i = 0; rc == 0 && i < opt_results.count; i++) {
        rc = mark_result(opt_results.items[i], err);
    }
    for (size_t i = 0; rc == 0 && i < opt_notes.count; i++) {
        rc = exec_mark("note", NULL, opt_notes.items[i], err);
    }
    return rc;
}

static int mark_run(int argc, char **argv) {
    struct err err = ERR_INIT;
    if (check(argc, argv, &err) < 0) {
        return cli_usage_error("mark", &err);
    }
    if (mark_all(argc, argv, &err) == 0)
        return EXIT_CODE_DONE;
    /* Inside a run a mark that cannot be kept must not end the script (`set -e`): measuring never
     * harms. */
    const char *run = getenv(EXEC_RUN_VARIABLE);
    if (run == NULL || run[0] == '\0')
        return cli_error(&err);
    AUTO_FREE char *warning = mem_printf(_("the mark is lost: %s"), err.text);
    cli_warning(warning);
    return EXIT_CODE_DONE;
}

const struct command command_mark = {
    .name = "mark",
    .summary = N_("Say inside a run that a phase begins, or report work done and results."),
    .usage = N_("[PHASE] [options]"),
    .examples =
        N_("probelauf mark load  # loading begins; what held before ends\n"
           "probelauf mark compute  # computing begins\n"
           "probelauf mark --end  # the phase ends, nothing begins\n"
           "probelauf mark --items 500 --result \"accuracy=0.81\"  # what was done and came out\n"),
    .options = mark_options,
    .min_args = 0,
    .max_args = 1,
    .operand = "phase",
    .traits = COMMAND_TINY,
    .run = mark_run,
};
