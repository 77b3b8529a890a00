/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf init: a plan to begin with, every fact open, or a worked one of the catalogue. Never
 * replaces anything. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output.h"

#include "base/clock.h"
#include "base/msg.h"
#include "base/str.h"
#include "base/uuid.h"
#include "plan/plan.h"
#include "work/find-plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PAPERS_MAX 16u

static const char *opt_title, *opt_file, *opt_paper;

/* The worked plans, then the word that lists them. */
static const char *paper_at(size_t index) {
    size_t count = 0;
    while (plan_catalog_name(count) != NULL) {
        count++;
    }
    return index < count ? plan_catalog_name(index) : index == count ? "list" : NULL;
}

static const struct opt_spec init_options[] = {
    {.name = "title",
     .type = OPT_TEXT,
     .target = &opt_title,
     .argument = N_("TEXT"),
     .help = N_("What the study is called in reports.")},
    {.name = "paper",
     .type = OPT_TEXT,
     .target = &opt_paper,
     .argument = N_("NAME"),
     .words = paper_at,
     .help = N_("Write the worked plan of this paper: what is known of it with its sources, the "
                "rest open. 'list' names the papers there are.")},
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

static int list_papers(void) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; plan_catalog_name(i) != NULL; i++) {
        strbuf_printf(&text, "%-12s  %s\n", plan_catalog_name(i), plan_catalog_about(i));
    }
    cli_print(&text);
    return EXIT_CODE_DONE;
}

static int no_such_paper(const char *name, struct err *err) {
    AUTO_STRBUF struct strbuf all = STRBUF_INIT;
    const char *names[PAPERS_MAX];
    size_t count = 0;
    while (count < PAPERS_MAX && plan_catalog_name(count) != NULL) {
        names[count] = plan_catalog_name(count);
        strbuf_add_next(&all, ", ", names[count++]);
    }
    const char *near = str_nearest(name, names, count);
    if (near != NULL) {
        return err_set(err, -EINVAL, "paper-unknown",
                       "there is no worked plan '%s'; did you mean '%s'? There are: %s", name, near,
                       strbuf_str(&all));
    }
    return err_set(err, -EINVAL, "paper-unknown",
                   "there is no worked plan '%s'; there are: %s; without --paper 'probelauf init' "
                   "writes a plan with every fact open",
                   name, strbuf_str(&all));
}

static void say_done(const char *path) {
    AUTO_FREE char *done =
        opt_paper == NULL
            ? mem_printf(_("wrote '%s', with every fact open"), path)
            : mem_printf(_("wrote '%s', the worked plan '%s': what is known has its source and the "
                           "day on which somebody looked there"),
                         path, opt_paper);
    cli_note(done);
    if (opt_paper != NULL) {
        cli_note(_("next: 'probelauf check' lists what is open and what that stops; put the plan "
                   "beside the authors' code"));
        return;
    }
    cli_note(_("next: fill in what is known, with its source; 'probelauf check' says what is "
               "wrong and what is open"));
    cli_note(_("then: write the block 'validate' and measure its first run, 'probelauf run "
               "--block validate -- COMMAND'"));
}

static int init_run(int argc, char **argv) {
    (void)argc;
    (void)argv;
    struct err err = ERR_INIT;
    const char *path = target();
    char id[UUID_TEXT_SIZE];
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (opt_paper != NULL && strcmp(opt_paper, "list") == 0) {
        return list_papers();
    }
    uuid_new(clock_utc_ns(), id);
    if (opt_paper == NULL) {
        plan_starter(id, opt_title, &text);
    } else if (!plan_catalog(opt_paper, id, opt_title, &text)) {
        (void)no_such_paper(opt_paper, &err);
        return cli_usage_error("init", &err);
    }
    if (strcmp(path, "-") == 0) {
        cli_print(&text);
        return EXIT_CODE_DONE;
    }
    if (create(path, &text, &err) < 0) {
        return cli_error(&err);
    }
    say_done(path);
    return EXIT_CODE_DONE;
}

const struct command command_init = {
    .name = "init",
    .summary = N_("Write a plan with every fact open, or a worked one."),
    .details = N_("The plan says what is to be shown, what is known and what is run. It is yours: "
                  "the program writes it once and only reads it from then on. Keep it beside the "
                  "code, under version control. What the program itself writes into it is in the "
                  "language of --lang; the facts of a worked plan are in English, as their sources "
                  "are."),
    .usage = N_("[options]"),
    .examples = N_("probelauf init  # probelauf.yaml in this folder\n"
                   "probelauf init --title \"Fast KVzip, table 2\"  # the same with a title\n"
                   "probelauf init --paper fast-kvzip  # a worked plan; --paper list names them\n"
                   "probelauf init -o -  # only show what would be written\n"),
    .options = init_options,
    .min_args = 0,
    .max_args = 0,
    .operand = "",
    .traits = COMMAND_PLAN,
    .run = init_run,
};
