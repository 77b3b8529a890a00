/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf annotate RUN: what people say about a run afterwards; the record itself stays as it is.
 */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/view.h"

#include "base/msg.h"
#include "work/annotate.h"

#include <errno.h>

static bool opt_invalid, opt_valid;
static const char *opt_why, *opt_change, *opt_disposition, *opt_note;

static const struct opt_spec annotate_options[] = {
    {.name = "invalid",
     .type = OPT_FLAG,
     .target = &opt_invalid,
     .conflicts = "valid",
     .needs = "why",
     .help = N_("The run's values are no evidence; its time stays effort. Needs --why.")},
    {.name = "valid",
     .type = OPT_FLAG,
     .target = &opt_valid,
     .help = N_("The run was looked at and its values hold.")},
    {.name = "why",
     .type = OPT_TEXT,
     .target = &opt_why,
     .argument = N_("TEXT"),
     .needs = "invalid valid",
     .help = N_("The reason.")},
    {.name = "change",
     .type = OPT_TEXT,
     .target = &opt_change,
     .argument = N_("TEXT"),
     .help = N_("What was different in this run from the one before.")},
    {.name = "disposition",
     .type = OPT_TEXT,
     .target = &opt_disposition,
     .argument = N_("TEXT"),
     .help = N_("What is done about it, for example \"fixed: pinned torch 2.4\" or \"reported "
                "upstream\".")},
    {.name = "note",
     .type = OPT_TEXT,
     .target = &opt_note,
     .argument = N_("TEXT"),
     .help = N_("A remark.")},
    {.name = NULL},
};

static int annotate(const char *ref, struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_RUN struct run *run = NULL;
    struct place place;
    int rc = cli_place(arena, &place, err);
    rc = rc < 0 ? rc : view_open(arena, &runs, err);
    rc = rc < 0 ? rc : runs_load(runs, ref, false, &run, err);
    if (rc < 0) {
        return rc;
    }
    struct annotation annotation = {
        .invalid = opt_invalid,
        .valid = opt_valid,
        .why = opt_why,
        .change = opt_change,
        .disposition = opt_disposition,
        .note = opt_note,
    };
    char event[UUID_TEXT_SIZE];
    rc = annotate_run(&place, runs_store(runs), run->id, &annotation, event, err);
    if (rc == 0) {
        AUTO_FREE char *note = mem_printf(_("noted about run %s"), run->id);
        cli_note(note);
    }
    return rc;
}

static int annotate_main(int argc, char **argv) {
    (void)argc;
    struct err err = ERR_INIT;
    if (!opt_invalid && !opt_valid && opt_change == NULL && opt_disposition == NULL &&
        opt_note == NULL) {
        (void)err_set(&err, -EINVAL, "usage-operands",
                      "nothing to note: give an option such as '--note TEXT'");
        return cli_usage_error("annotate", &err);
    }
    return annotate(argv[0], &err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

const struct command command_annotate = {
    .name = "annotate",
    .summary = N_("Say something about a run afterwards: invalid and why, a change, a note."),
    .usage = N_("RUN [options]"),
    .examples = N_(
        "probelauf annotate @1 --invalid --why \"wrong checkpoint\"  # no evidence any more\n"
        "probelauf annotate @1 --change \"batch size 8 instead of 4\"  # what was different\n"
        "probelauf annotate @2 --disposition \"fixed: pinned torch\"  # what was done about it\n"),
    .options = annotate_options,
    .min_args = 1,
    .max_args = 1,
    .operand = "run",
    .traits = COMMAND_LEDGER,
    .run = annotate_main,
};
