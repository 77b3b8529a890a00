/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf init: a plan to begin with, every fact open. Never replaces anything. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output.h"

#include "base/clock.h"
#include "base/msg.h"
#include "base/uuid.h"
#include "plan/plan.h"
#include "work/find-plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *opt_title, *opt_file;

static const struct opt_spec init_options[] = {
    {.name = "title",
     .type = OPT_TEXT,
     .target = &opt_title,
     .argument = N_("TEXT"),
     .help = N_("What the study is called in reports.")},
    {.short_name = 'o',
     .name = "output",
     .type = OPT_PATH,
     .target = &opt_file,
     .argument = N_("FILE"),
     .conflicts = "plan",
     .help = N_("Write to this file instead of probelauf.yaml here; - is standard output.")},
    {.name = NULL},
};

/* -o, else where every other command would look by --plan or PROBELAUF_PLAN, else here. */
static const char *target(void) {
    const char *variable = getenv("PROBELAUF_PLAN");
    if (opt_file != NULL) {
        return opt_file;
    }
    if (opt_common.plan != NULL) {
        return opt_common.plan;
    }
    return variable != NULL && *variable != '\0' ? variable : PLAN_FILE_NAME;
}

static int refuse(const char *path, struct err *err) {
    return err_set(err, -EEXIST, "plan-exists",
                   "'%s' is there already, and a plan is never replaced; see 'probelauf check', or "
                   "name another file by -o FILE",
                   path);
}

/* A plan of a folder above that the new one hides. */
static void note_hidden(const char *path) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct err err = ERR_INIT;
    const char *above = NULL;
    if (strcmp(path, PLAN_FILE_NAME) != 0 || work_find_plan(NULL, arena, &above, &err) < 0 ||
        above == NULL) {
        return;
    }
    AUTO_FREE char *text =
        mem_printf(_("the plan '%s' no longer holds in this folder and below"), above);
    cli_note(text);
}

static int create(const char *path, const struct strbuf *text, struct err *err) {
    AUTO_OUTPUT struct output output = {.fd = -1};
    struct stat status;
    if (lstat(path, &status) == 0) {
        return refuse(path, err);
    }
    int rc = output_open(path, false, 0666, &output, err);
    rc = rc < 0 ? rc : output_write(&output, text->data, text->length, err);
    if (rc < 0) {
        return rc;
    }
    note_hidden(path);
    rc = output_commit_new(&output, err);
    return rc == -EEXIST ? refuse(path, err) : rc;
}

static int init_run(int argc, char **argv) {
    (void)argc;
    (void)argv;
    struct err err = ERR_INIT;
    const char *path = target();
    char id[UUID_TEXT_SIZE];
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    uuid_new(clock_utc_ns(), id);
    plan_starter(id, opt_title, &text);
    if (strcmp(path, "-") == 0) {
        cli_print(&text);
        return EXIT_CODE_DONE;
    }
    if (create(path, &text, &err) < 0) {
        return cli_error(&err);
    }
    AUTO_FREE char *done = mem_printf(_("wrote '%s', with every fact open"), path);
    cli_note(done);
    cli_note(_("next: fill in what is known, with its source; 'probelauf check' says what is "
               "wrong and what is open"));
    cli_note(_("then: write the block 'validate' and measure its first run, 'probelauf run "
               "--block validate -- COMMAND'"));
    return EXIT_CODE_DONE;
}

const struct command command_init = {
    .name = "init",
    .summary = N_("Write a plan with every fact open."),
    .details = N_("The plan says what is to be shown, what is known and what is run. It is yours: "
                  "the program writes it once and only reads it from then on. Keep it beside the "
                  "code, under version control."),
    .usage = N_("[options]"),
    .examples = N_("probelauf init  # probelauf.yaml in this folder\n"
                   "probelauf init --title \"Fast KVzip, table 2\"  # the same with a title\n"
                   "probelauf init -o -  # only show what would be written\n"),
    .options = init_options,
    .min_args = 0,
    .max_args = 0,
    .operand = "",
    .traits = COMMAND_PLAN,
    .run = init_run,
};
