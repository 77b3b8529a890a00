/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf estimate: what a plan still takes; with --repeat N what N further runs like the
 * measured ones would take. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/view-study.h"
#include "cli/view.h"

#include "base/msg.h"
#include "base/str.h"
#include "forecast/predict.h"
#include "report/classes.h"
#include "report/studies.h"
#include "report/study.h"
#include "view/document.h"
#include "work/calibration.h"
#include "work/estimate.h"
#include "work/find-plan.h"
#include "work/studies.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int64_t opt_repeat;
static int64_t opt_seed = (int64_t)PREDICT_SEED;
static const char *opt_env, *opt_offer, *opt_freeze, *opt_compare, *opt_class;
static bool opt_studies;
static struct opt_list opt_set;

#define CLASS_LIST "list"

/* What --assume-class takes: the names of the classes, and a word that lists them. */
static const char *class_word(size_t index) {
    size_t count = forecast_class_count();
    return index < count    ? forecast_class_name(forecast_class_at(index))
           : index == count ? CLASS_LIST
                            : NULL;
}

static const struct opt_spec estimate_options[] = {
    {.name = "repeat",
     .type = OPT_COUNT,
     .target = &opt_repeat,
     .argument = N_("N"),
     .conflicts = "env offer set freeze compare studies",
     .min = 1,
     .max = (int64_t)REPEAT_MAX,
     .help = N_("Without a plan: the number of further runs like the measured ones.")},
    {.name = "env",
     .type = OPT_TEXT,
     .target = &opt_env,
     .argument = N_("ID"),
     .help = N_("The environment of the plan that is estimated for (without it the first).")},
    {.name = "offer",
     .type = OPT_TEXT,
     .target = &opt_offer,
     .argument = N_("ID"),
     .help = N_("The offer that amounts are computed by (without it the cheapest usable one).")},
    {.name = "set",
     .type = OPT_LIST,
     .target = &opt_set,
     .argument = N_("KEY=VALUE"),
     .help =
         N_("Try one assumption, such as compare.runs=5: what it changes is shown; repeatable.")},
    {.name = "freeze",
     .type = OPT_TEXT,
     .target = &opt_freeze,
     .argument = N_("NAME"),
     .help = N_("Keep the estimate under a name, to hold what really happens against it.")},
    {.name = "compare",
     .type = OPT_TEXT,
     .target = &opt_compare,
     .argument = N_("NAME"),
     .conflicts = "freeze",
     .help = N_("What changed since the estimate of that name was kept, and why.")},
    {.name = "assume-class",
     .type = OPT_CHOICE,
     .target = &opt_class,
     .argument = N_("CLASS"),
     .conflicts = "repeat set freeze compare studies",
     .words = class_word,
     .help = N_("Show apart, in no total, what it would be if the work varied as this kind of work "
                "did elsewhere; 'list' describes the classes.")},
    {.name = "studies",
     .type = OPT_FLAG,
     .target = &opt_studies,
     .conflicts = "env offer set freeze compare seed",
     .help = N_("Add up the newest kept estimate of every study in the ledger, by extent and "
                "recurrence.")},
    {.name = "seed",
     .type = OPT_COUNT,
     .target = &opt_seed,
     .argument = N_("N"),
     .max = INT64_MAX,
     .help = N_("Seed of the simulation; the same seed gives the same figures.")},
    {.name = NULL},
};

/* ---- --repeat N [RUN...] ---- */

static void print_repeat(const struct work_estimate *estimate) {
    if (opt_common.json) {
        cli_print_json(report_repeat_json(&estimate->repeat));
        return;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_repeat_text(&estimate->repeat, cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
}

static int estimate_repeat(int argc, char **argv, struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_WORK_ESTIMATE struct work_estimate estimate = {0};
    int rc = view_open(arena, &runs, err);
    rc = rc < 0 ? rc
                : work_estimate_make(runs, (const char *const *)argv, (size_t)argc,
                                     (uint64_t)opt_repeat, (uint64_t)opt_seed, &estimate, err);
    if (rc < 0) {
        return rc;
    }
    cli_warning(estimate.unreadable);
    if (estimate.older) {
        AUTO_FREE char *note =
            mem_printf(_("only the %u newest runs were looked at; name RUNs to choose others"),
                       WORK_ESTIMATE_RUNS_MAX);
        cli_note(note);
    }
    print_repeat(&estimate);
    return 0;
}

/* ---- the whole plan ---- */

/* Whatever kind of value it takes. */
static bool is_key(const struct plan *plan, const char *key, struct arena *arena) {
    const char *why = NULL;
    return estimate_setting_check(plan, key, "1", arena, &why) ||
           estimate_setting_check(plan, key, "1s", arena, &why);
}

static int bad_setting(const struct plan *plan, const char *item, const char *key, const char *why,
                       struct arena *arena, struct err *err) {
    if (is_key(plan, key, arena)) {
        return err_set(err, -EINVAL, "estimate-setting", "--set %s: %s", item, why);
    }
    if (str_starts_with(key, "task.") && plan_block_find(plan, "task") == NULL) {
        return err_set(err, -EINVAL, "estimate-setting",
                       "--set %s: the time of a task cannot be tried: change it under 'tasks:' of "
                       "the plan",
                       item);
    }
    return err_set(err, -EINVAL, "estimate-setting",
                   "--set %s: %s; keys are BLOCK.runs, BLOCK.run-time, BLOCK.failure-rate, "
                   "BLOCK.lost-time, BLOCK.retry-max, BLOCK.lanes, BLOCK.COMPONENT, step.NAME",
                   item, why);
}

/* -EINVAL: a key or value that no estimate knows. */
static int read_settings(const struct plan *plan, struct arena *arena,
                         struct estimate_setting **ret_settings, struct err *err) {
    struct estimate_setting *settings = arena_alloc(arena, (opt_set.count + 1) * sizeof(*settings));
    for (size_t i = 0; i < opt_set.count; i++) {
        AUTO_FREE char *key = NULL;
        const char *value = NULL, *why = NULL;
        if (!opt_split(opt_set.items[i], &key, &value)) {
            return err_set(err, -EINVAL, "usage-bad-value",
                           "option '--set' takes KEY=VALUE, not '%s'", opt_set.items[i]);
        }
        if (!estimate_setting_check(plan, key, value, arena, &why)) {
            return bad_setting(plan, opt_set.items[i], key, why, arena, err);
        }
        settings[i] = (struct estimate_setting){
            .key = arena_strdup(arena, key), .value = value, .source = "--set", .is_set = true};
    }
    *ret_settings = settings;
    return 0;
}

/* What is left to do, and what it costs. */
struct made {
    struct estimate estimate;
    struct cost cost;
};

static int make(const struct view_study *view, const struct estimate_setting *settings,
                size_t count, struct made *ret, struct err *err) {
    const struct estimate_options options = {
        .settings = settings, .setting_count = count, .seed = (uint64_t)opt_seed};
    if (opt_offer != NULL && plan_offer_find(view->work.plan, opt_offer) == NULL) {
        return err_set(err, -EINVAL, "estimate-offer", "the plan has no offer '%s'", opt_offer);
    }
    int rc = estimate_make(&view->work.study, &options, view->arena, &ret->estimate, err);
    if (rc == 0)
        work_calibration_of_estimate(view->runs, &view->work, view->arena, &ret->estimate);
    if (rc == 0)
        cost_make(&ret->estimate, opt_offer, view->arena, &ret->cost);
    if (rc == 0 && opt_class != NULL)
        rc = estimate_class_make(&options, forecast_class_find(opt_class), view->arena,
                                 &ret->estimate, err);
    return rc;
}

static json_t *made_json(const struct made *made) {
    return report_estimate_json(&made->estimate, &made->cost);
}

static void print_estimate(const struct view_study *view, const struct made *made) {
    if (opt_common.json) {
        cli_print_json(made_json(made));
        return;
    }
    struct report_frozen *frozen;
    size_t count = view_study_frozen(&view->work, view->arena, &frozen);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_estimate_text(&made->estimate, &made->cost, frozen, count, cli_style(STDOUT_FILENO),
                         &text);
    cli_print(&text);
}

static void print_change(const struct view_study *view, const json_t *before, const json_t *after) {
    json_t *compare = report_estimate_compare_json(before, after, &view->work.study);
    if (opt_common.json) {
        cli_print_json(compare);
        return;
    }
    AUTO_JSON json_t *owned = compare;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_estimate_compare_text(owned, cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
}

/* A total is never shown without what is not in it. */
static void print_open(size_t count) {
    if (count == 0) {
        return;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text,
                  msg_plural((unsigned long)count,
                             "%zu part is open and in no total: 'probelauf estimate' names it\n",
                             "%zu parts are open and in no total: 'probelauf estimate' names "
                             "them\n"),
                  count);
    cli_print(&text);
}

/* What --set changes, and only that. */
static int print_what_if(const struct view_study *view, const struct made *made, struct err *err) {
    struct made plain;
    int rc = make(view, NULL, 0, &plain, err);
    if (rc < 0) {
        return rc;
    }
    AUTO_JSON json_t *before = made_json(&plain);
    AUTO_JSON json_t *after = made_json(made);
    print_change(view, before, after);
    if (!opt_common.json) {
        print_open(made->estimate.open_count);
    }
    return 0;
}

static int unknown_frozen(const struct work_frozen *frozen, size_t count, struct err *err) {
    AUTO_FREE const char **names = mem_alloc((count + 1) * sizeof(*names));
    if (count == 0) {
        return err_set(err, -ENOENT, "estimate-unknown",
                       "no estimate of this study was kept; 'probelauf estimate --freeze %s' keeps "
                       "the one of now",
                       opt_compare);
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = frozen[i].name;
    }
    const char *near = str_nearest(opt_compare, names, count);
    return near != NULL
               ? err_set(err, -ENOENT, "estimate-unknown",
                         "there is no frozen estimate '%s'; did you mean '%s'?", opt_compare, near)
               : err_set(err, -ENOENT, "estimate-unknown",
                         "there is no frozen estimate '%s'; 'probelauf estimate' lists them",
                         opt_compare);
}

/* What is kept, and what is held against it, in English whatever the language. */
static int make_document(const struct work_study_options *options, const struct made *here,
                         json_t **ret_document, struct err *err) {
    if (strcmp(msg_language(), "en") == 0) {
        *ret_document = made_json(here);
        return 0;
    }
    AUTO_VIEW_STUDY struct view_study view = {0};
    struct estimate_setting *settings = NULL;
    struct made made;
    const char *language = msg_language();
    int rc = view_study_open_again(options, &view, err);
    rc = rc < 0 ? rc : read_settings(view.work.plan, view.arena, &settings, err);
    rc = rc < 0 ? rc : make(&view, settings, opt_set.count, &made, err);
    if (rc == 0) {
        *ret_document = made_json(&made);
    }
    (void)msg_set_language(language);
    return rc;
}

static int compare(const struct view_study *view, const json_t *after, struct err *err) {
    struct work_frozen *frozen;
    size_t count = work_estimate_frozen(&view->work, &frozen);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(frozen[i].name, opt_compare) != 0) {
            continue;
        }
        if (frozen[i].estimate == NULL) {
            return err_set(err, -EPROTO, "estimate-foreign", "the frozen estimate '%s': %s",
                           opt_compare, frozen[i].outdated);
        }
        print_change(view, frozen[i].estimate, after);
        return 0;
    }
    return unknown_frozen(frozen, count, err);
}

static int freeze(struct view_study *view, const json_t *document, struct err *err) {
    int rc = work_estimate_freeze(&view->work, &view->place, view->runs, opt_freeze, document, err);
    if (rc == 0) {
        AUTO_FREE char *note = mem_printf(
            _("kept as '%s'; 'probelauf estimate --compare %s' shows what changes from now on"),
            opt_freeze, opt_freeze);
        cli_note(note);
    }
    return rc;
}

static int estimate_plan(struct err *err) {
    AUTO_VIEW_STUDY struct view_study view = {0};
    struct estimate_setting *settings = NULL;
    struct made made;
    const struct work_study_options options = {
        .environment = opt_env, .look_at_code = true, .look_at_past = true};
    int rc = view_study_open(&options, &view, err);
    rc = rc < 0 ? rc : read_settings(view.work.plan, view.arena, &settings, err);
    rc = rc < 0 ? rc : make(&view, settings, opt_set.count, &made, err);
    AUTO_JSON json_t *document = NULL;
    if (rc == 0 && (opt_freeze != NULL || opt_compare != NULL)) {
        rc = make_document(&options, &made, &document, err);
    }
    rc = rc < 0 || opt_freeze == NULL ? rc : freeze(&view, document, err);
    if (rc < 0) {
        return rc;
    }
    if (opt_compare != NULL) {
        return compare(&view, document, err);
    }
    if (opt_set.count > 0) {
        return print_what_if(&view, &made, err);
    }
    print_estimate(&view, &made);
    return 0;
}

/* ---- --studies ---- */

/* The plan of this folder, if there is one, says whether its estimate still holds. One that is
 * broken keeps nothing of the others back. */
static int find_at_hand(struct arena *arena, struct plan **ret_plan, struct err *err) {
    AUTO_PLAN struct plan *plan = NULL;
    struct plan_complaints complaints = {0};
    struct err broken = ERR_INIT;
    const char *path = NULL;
    *ret_plan = NULL;
    int rc = work_find_plan(opt_common.plan, arena, &path, err);
    if (rc < 0 || path == NULL) {
        return rc;
    }
    if (plan_read(path, &plan, &complaints, &broken) == 0) {
        *ret_plan = steal(plan);
        return 0;
    }
    AUTO_FREE char *text = mem_printf(
        _("whether the kept estimate of the plan here still holds is not checked: %s; 'probelauf "
          "check' lists all that is wrong"),
        broken.text);
    cli_warning(text);
    return 0;
}

static int open_at_hand(struct plan *take_plan, struct runs *runs, struct work_study *ret,
                        struct err *err) {
    const struct work_study_options options = {.look_at_code = true};
    return work_study_open(take_plan, &options, runs, ret, err);
}

static int estimate_studies(struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_PLAN struct plan *plan = NULL;
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_WORK_STUDY struct work_study at_hand = {0};
    AUTO_WORK_STUDIES struct work_studies studies = {0};
    int rc = find_at_hand(arena, &plan, err);
    rc = rc < 0 ? rc : view_open(arena, &runs, err);
    bool has_plan = plan != NULL;
    rc = rc < 0 || !has_plan ? rc : open_at_hand(steal(plan), runs, &at_hand, err);
    rc = rc < 0 ? rc : work_studies_open(runs, has_plan ? &at_hand : NULL, &studies, err);
    if (rc < 0) {
        return rc;
    }
    if (opt_common.json) {
        cli_print_json(report_studies_json(&studies.studies, studies.without));
        return 0;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_studies_text(&studies.studies, studies.without, cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
    return 0;
}

/* ---- --assume-class list ---- */

static void print_classes(void) {
    if (opt_common.json) {
        cli_print_json(report_classes_json());
        return;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_classes_text(cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
}

static bool is_usage(const struct err *err) {
    return str_starts_with(err->id, "usage-") || strcmp(err->id, "estimate-setting") == 0 ||
           strcmp(err->id, "estimate-offer") == 0 ||
           (strcmp(err->id, "estimate-name") == 0 && err->code == -EINVAL);
}

static int estimate_main(int argc, char **argv) {
    struct err err = ERR_INIT;
    if (opt_repeat > 0) {
        return estimate_repeat(argc, argv, &err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
    }
    if (argc == 0 && opt_studies) {
        return estimate_studies(&err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
    }
    if (argc == 0 && opt_class != NULL && strcmp(opt_class, CLASS_LIST) == 0) {
        print_classes();
        return EXIT_CODE_DONE;
    }
    if (argc > 0) {
        (void)err_set(
            &err, -EINVAL, "usage-needs",
            "an estimate from named runs needs '--repeat N'; without it the whole plan is "
            "estimated from all its runs");
        return cli_usage_error("estimate", &err);
    }
    if (estimate_plan(&err) == 0) {
        return EXIT_CODE_DONE;
    }
    if (strcmp(err.id, "plan-missing") == 0) {
        err_clear(&err);
        (void)err_set(
            &err, -ENOENT, "plan-missing",
            "an estimate of a whole plan needs a plan, and there is none in this folder or "
            "above it: 'probelauf init' writes one; add '--repeat N' for N further runs "
            "like the measured ones");
    }
    return is_usage(&err) ? cli_usage_error("estimate", &err) : cli_error(&err);
}

const struct command command_estimate = {
    .name = "estimate",
    .summary = N_("Estimate what the plan still takes, or further runs like the measured ones."),
    .details = N_(
        "What no run has shown is open and named beside every total. With --repeat no plan is "
        "needed: without RUN the latest finished run is the base, and all runs of the same "
        "command with the same parameters. An amount of money needs a usable offer of the plan.\n"
        "Keys of --set, and of assumptions in the plan; BLOCK may be * for every block:\n"
        "  BLOCK.runs: runs per condition\n"
        "  BLOCK.run-time: duration of one run\n"
        "  BLOCK.failure-rate: share of attempts that fail, 0 to 1\n"
        "  BLOCK.lost-time: duration lost by one failed attempt\n"
        "  BLOCK.retry-max: repeats of a failed run\n"
        "  BLOCK.lanes: runs side by side\n"
        "  BLOCK.COMPONENT: duration of prepare, data, transfer, fixing, ... as a whole\n"
        "  step.NAME: duration of one execution of a step"),
    .usage = N_("[--env ID] [--offer ID] [--set KEY=VALUE]... [--assume-class CLASS] | --studies | "
                "--repeat N [RUN...] [options]"),
    .examples =
        N_("probelauf estimate  # the whole plan, with everything that is open\n"
           "probelauf estimate --set compare.runs=5  # what two more runs each would change\n"
           "probelauf estimate --offer offer-a  # what it costs under this offer\n"
           "probelauf estimate --freeze first  # keep it, to compare with later\n"
           "probelauf estimate --compare first  # what changed since, and why\n"
           "probelauf estimate --assume-class list  # kinds of work whose spread can be assumed\n"
           "probelauf estimate --repeat 24  # no plan: 24 more runs like the latest one\n"
           "probelauf estimate --repeat 24 @1 @2 @5 --json  # from these runs alone\n"),
    .options = estimate_options,
    .min_args = 0,
    .max_args = -1,
    .operand = "run",
    .traits = COMMAND_LEDGER | COMMAND_JSON | COMMAND_PLAN,
    .run = estimate_main,
};
