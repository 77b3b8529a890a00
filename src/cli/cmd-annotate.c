/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf annotate RUN...: what people say about runs afterwards; the records themselves stay as
 * they are. Where a plan of their study is at hand, what they count for now is said, too. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/view.h"

#include "base/msg.h"
#include "work/annotate.h"
#include "work/find-plan.h"
#include "work/study.h"

#include <errno.h>
#include <string.h>

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

#define SHORT_ID 8u /* characters at the end of an id, which name a run to people */

struct annotated {
    struct run **runs; /* owned, each once */
    size_t count;
};

static void annotated_done(struct annotated *annotated) {
    for (size_t i = 0; i < annotated->count; i++) {
        annotated->runs[i] = run_free(annotated->runs[i]);
    }
    mem_free_ptr(&annotated->runs);
}
#define AUTO_ANNOTATED __attribute__((cleanup(annotated_done)))

static bool has(const struct annotated *annotated, const char *id) {
    for (size_t i = 0; i < annotated->count; i++) {
        if (strcmp(annotated->runs[i]->id, id) == 0) {
            return true;
        }
    }
    return false;
}

/* All of them before anything is noted about one. */
static int find_all(struct runs *runs, char **refs, size_t count, struct annotated *ret,
                    struct err *err) {
    ret->runs = mem_alloc((count + 1) * sizeof(*ret->runs));
    for (size_t i = 0; i < count; i++) {
        AUTO_RUN struct run *run = NULL;
        int rc = runs_load(runs, refs[i], false, &run, err);
        if (rc < 0) {
            return rc;
        }
        if (!has(ret, run->id)) {
            ret->runs[ret->count++] = steal(run);
        }
    }
    return 0;
}

static void warn_failed(const struct run *run) {
    if (!opt_valid || run->running || run->outcome == OUTCOME_OK ||
        run->outcome == OUTCOME_RUNNING) {
        return;
    }
    AUTO_FREE char *text = mem_printf(
        _("run %s ended with '%s': a run that did not end well is never evidence, also declared "
          "valid"),
        run->id, outcome_name(run->outcome));
    cli_warning(text);
}

static int note_all(const struct place *place, struct runs *runs, const struct annotated *annotated,
                    struct err *err) {
    const struct annotation annotation = {
        .invalid = opt_invalid,
        .valid = opt_valid,
        .why = opt_why,
        .change = opt_change,
        .disposition = opt_disposition,
        .note = opt_note,
    };
    for (size_t i = 0; i < annotated->count; i++) {
        char event[UUID_TEXT_SIZE];
        const struct run *run = annotated->runs[i];
        int rc = annotate_run(place, runs_store(runs), run->id, &annotation, event, err);
        if (rc < 0) {
            return rc;
        }
        AUTO_FREE char *note = mem_printf(_("noted about run %s"), run->id);
        cli_note(note);
        warn_failed(run);
    }
    return 0;
}

/* ---- what they count for now ---- */

static const char *study_of(const struct run *run) {
    return json_get_text(run->start, "study", "");
}

static bool is_same_environment(const char *a, const char *b) {
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* That the run names, if the plan has it. */
static const char *environment_of(const struct run *run, const struct plan *plan) {
    const char *id = json_get_text(run->start, "environment_id", NULL);
    return id != NULL && plan_environment_find(plan, id) != NULL ? id : NULL;
}

static void say_one(const struct work_study *work, const struct run *run) {
    for (size_t i = 0; i < work->study.run_count; i++) {
        const struct study_run *seen = &work->study.runs[i];
        if (strcmp(seen->run->id, run->id) != 0) {
            continue;
        }
        size_t length = strlen(run->id);
        AUTO_FREE char *note =
            mem_printf(_("run %s is now %s"), run->id + (length > SHORT_ID ? length - SHORT_ID : 0),
                       study_run_sentence(&work->study, seen, work->arena));
        cli_note(note);
        return;
    }
}

/* All runs of one environment of the study; what is done depends on all annotations. */
static void say_environment(const struct place *place, const char *path,
                            const struct annotated *annotated, const char *environment) {
    AUTO_PLAN struct plan *plan = NULL;
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_WORK_STUDY struct work_study work = {0};
    struct plan_complaints complaints = {0};
    struct err err = ERR_INIT;
    const struct work_study_options options = {.environment = environment, .look_at_code = true};
    if (plan_read(path, &plan, &complaints, &err) < 0 || runs_open(place, &runs, &err) < 0 ||
        work_study_open(steal(plan), &options, runs, &work, &err) < 0) {
        return;
    }
    for (size_t i = 0; i < annotated->count; i++) {
        if (is_same_environment(environment_of(annotated->runs[i], work.plan), environment)) {
            say_one(&work, annotated->runs[i]);
        }
    }
}

/* Noting is done: a plan that is broken or of another study only means that nothing is said. */
static void say_all(const struct place *place, const struct annotated *annotated) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_PLAN struct plan *plan = NULL;
    struct plan_complaints complaints = {0};
    struct err err = ERR_INIT;
    const char *path = NULL;
    if (opt_common.quiet || work_find_plan(opt_common.plan, arena, &path, &err) < 0 ||
        path == NULL || plan_read(path, &plan, &complaints, &err) < 0 || plan->study.id == NULL) {
        return;
    }
    struct annotated of_study = {
        .runs = arena_alloc(arena, (annotated->count + 1) * sizeof(*of_study.runs))};
    for (size_t i = 0; i < annotated->count; i++) {
        if (strcmp(study_of(annotated->runs[i]), plan->study.id) == 0) {
            of_study.runs[of_study.count++] = annotated->runs[i];
        }
    }
    for (size_t i = 0; i < of_study.count; i++) {
        const char *environment = environment_of(of_study.runs[i], plan);
        bool is_said = false;
        for (size_t k = 0; k < i; k++) {
            is_said |= is_same_environment(environment_of(of_study.runs[k], plan), environment);
        }
        if (!is_said) {
            say_environment(place, path, &of_study, environment);
        }
    }
}

/* ---- the command ---- */

static int annotate(char **refs, size_t count, struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_ANNOTATED struct annotated annotated = {0};
    struct place place;
    int rc = cli_place(arena, &place, err);
    rc = rc < 0 ? rc : view_open(arena, &runs, err);
    rc = rc < 0 ? rc : find_all(runs, refs, count, &annotated, err);
    rc = rc < 0 ? rc : note_all(&place, runs, &annotated, err);
    if (rc == 0) {
        runs = runs_close(runs);
        say_all(&place, &annotated);
    }
    return rc;
}

static int annotate_main(int argc, char **argv) {
    struct err err = ERR_INIT;
    if (!opt_invalid && !opt_valid && opt_change == NULL && opt_disposition == NULL &&
        opt_note == NULL) {
        (void)err_set(&err, -EINVAL, "usage-operands",
                      "nothing to note: give an option such as '--note TEXT'");
        return cli_usage_error("annotate", &err);
    }
    return annotate(argv, (size_t)argc, &err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

const struct command command_annotate = {
    .name = "annotate",
    .summary = N_("Say something about runs afterwards: invalid and why, a change, a note."),
    .details = N_("All runs are found before anything is noted. In the folder of their plan it is "
                  "said what they count for now; a run that did not end well is never evidence, "
                  "whatever is said about it."),
    .usage = N_("RUN... [options]"),
    .examples = N_(
        "probelauf annotate @1 --invalid --why \"wrong checkpoint\"  # no evidence any more\n"
        "probelauf annotate @1 @2 --valid  # both were looked at, and their values hold\n"
        "probelauf annotate @1 --change \"batch size 8 instead of 4\"  # what was different\n"
        "probelauf annotate @2 --disposition \"fixed: pinned torch\"  # what was done about it\n"),
    .options = annotate_options,
    .min_args = 1,
    .max_args = -1,
    .operand = "run",
    .traits = COMMAND_LEDGER | COMMAND_PLAN,
    .run = annotate_main,
};
