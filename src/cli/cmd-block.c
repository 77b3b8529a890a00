/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf block list|freeze: what the blocks of the plan have come to, and settling what the runs
 * of one rest on; and the table of all its verbs. Never writes to the plan. */
#include "cli/block-verbs.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/view-study.h"

#include "base/clock.h"
#include "base/msg.h"
#include "base/str.h"
#include "report/study.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define RETRY_MAX    100
#define DURATION_MAX (INT64_C(10) * 365 * 24 * 3600 * NS_PER_S)

struct block_opts block_opts = {.retry = -1};

static const struct opt_spec block_options[] = {
    {.name = "env",
     .type = OPT_TEXT,
     .target = &block_opts.env,
     .argument = N_("ID"),
     .verbs = "list run gate",
     .help = N_("The environment of the plan that evidence is wanted for (without it the first; "
                "run: that of the session that runs here).")},
    {.name = "lanes",
     .type = OPT_COUNT,
     .target = &block_opts.lanes,
     .argument = N_("N"),
     .verbs = "run",
     .min = 1,
     .max = 64,
     .help = N_("How many runs go on side by side (without it as the plan says, else 1).")},
    {.name = "gpus",
     .type = OPT_TEXT,
     .target = &block_opts.gpus,
     .argument = N_("LIST"),
     .verbs = "run",
     .help = N_("GPUs as CUDA_VISIBLE_DEVICES takes them: 0,1 is shared evenly among the lanes, "
                "'0,1;2,3' are the sets of two lanes. Without it those that are visible.")},
    {.name = "retry",
     .type = OPT_COUNT,
     .target = &block_opts.retry,
     .argument = N_("N"),
     .verbs = "run",
     .max = RETRY_MAX,
     .help = N_("Repeats of an attempt that failed in a way that a repeat can cure (without it "
                "the plan's retry.max).")},
    {.name = "max-time",
     .type = OPT_DURATION,
     .target = &block_opts.max_time_ns,
     .argument = N_("DURATION"),
     .verbs = "run",
     .min = 1,
     .max = DURATION_MAX,
     .help = N_("Start nothing that would not fit into this time, and stop what goes beyond.")},
    {.name = "max-cost",
     .type = OPT_TEXT,
     .target = &block_opts.max_cost,
     .argument = N_("AMOUNT"),
     .verbs = "run",
     .help = N_("The same for what a rental of that time would cost, such as 20EUR; needs exactly "
                "one usable offer of the plan.")},
    {.name = "offer",
     .type = OPT_TEXT,
     .target = &block_opts.offer,
     .argument = N_("ID"),
     .needs = "max-cost",
     .verbs = "run",
     .help = N_("The offer that --max-cost is counted by (without it the session's, or the only "
                "usable one).")},
    {.name = "dry-run",
     .type = OPT_FLAG,
     .target = &block_opts.dry_run,
     .verbs = "run",
     .help = N_("Only show what would be run, in which order, and what stands in the way.")},
    {.name = "why",
     .type = OPT_TEXT,
     .target = &block_opts.why,
     .argument = N_("TEXT"),
     .verbs = "gate",
     .help = N_("The reason of the answer.")},
    {.name = NULL},
};

/* ---- list ---- */

static int block_list(int argc, char **argv) {
    (void)argc;
    (void)argv;
    AUTO_VIEW_STUDY struct view_study view = {0};
    struct err err = ERR_INIT;
    const struct work_study_options options = {.environment = block_opts.env, .look_at_code = true};
    if (view_study_open(&options, &view, &err) < 0) {
        return cli_error(&err);
    }
    if (opt_common.json) {
        cli_print_json(report_blocks_json(&view.work.study));
        return EXIT_CODE_DONE;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_blocks_text(&view.work.study, cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
    return EXIT_CODE_DONE;
}

/* ---- freeze ---- */

#define PROGRESS_FIRST_NS (NS_PER_S / 2) /* what is quick says nothing */
#define PROGRESS_STEP_NS  (NS_PER_S / 5)

struct progress {
    bool on;
    int64_t next_mono_ns;
    size_t width; /* of the line that stands on the terminal; 0: none */
};

static void say_progress(struct progress *progress, const char *text) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    strbuf_printf(&line, "\r%s", text);
    size_t width = str_width(text);
    for (size_t i = width; i < progress->width; i++) {
        strbuf_add_char(&line, ' ');
    }
    if (width == 0) {
        strbuf_add_char(&line, '\r');
    }
    progress->width = width;
    cli_say(&line);
}

static void show_progress(uint64_t bytes, void *context) {
    struct progress *progress = context;
    if (!progress->on || clock_mono_ns() < progress->next_mono_ns) {
        return;
    }
    AUTO_STRBUF struct strbuf amount = STRBUF_INIT;
    quantity_format_value((double)bytes, UNIT_BYTE, &amount);
    AUTO_FREE char *text = mem_printf(_("probelauf: reading inputs: %s"), strbuf_str(&amount));
    say_progress(progress, text);
    progress->next_mono_ns = clock_mono_ns() + PROGRESS_STEP_NS;
}

static void say_open_facts(const struct view_study *view, const char *id) {
    const struct study *study = &view->work.study;
    for (size_t i = 0; i < study->block_count; i++) {
        const struct study_block *block = &study->blocks[i];
        if (strcmp(block->block->id, id) != 0) {
            continue;
        }
        for (size_t k = 0; k < block->stopped_by_count; k++) {
            const struct plan_fact *fact = block->stopped_by[k];
            struct err err = ERR_INIT;
            (void)err_set(&err, -EBUSY, "fact-open", "%s:%u:%u: '%s' is open%s%s",
                          view->work.plan->path, fact->at.line, fact->at.column, fact->id,
                          fact->question ? ": " : "", fact->question ? fact->question : "");
            (void)cli_error(&err);
        }
    }
}

static void say_frozen(const struct view_study *view, const char *block,
                       const struct work_freeze *freeze) {
    const char *code = view->work.input.code_digest;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    quantity_format_value((double)freeze->bytes, UNIT_BYTE, &bytes);
    AUTO_FREE char *text = mem_printf(
        _("block '%s' is frozen: code %.12s, inputs: %zu (files: %zu, %s); runs that differ will "
          "not count"),
        block, code ? code : "", freeze->inputs, freeze->files, strbuf_str(&bytes));
    cli_note(text);
}

/* A new module that nobody added yet would be missed by whoever repeats the run. */
static void warn_untracked(const struct view_study *view) {
    int64_t count = json_get_int(view->work.code, "untracked", 0);
    if (count > 0) {
        AUTO_FREE char *text = mem_printf(
            msg_plural((unsigned long)count,
                       "%lld untracked file lies beside the code and is not part of what is frozen",
                       "%lld untracked files lie beside the code and are not part of what is "
                       "frozen"),
            (long long)count);
        cli_warning(text);
    }
}

static int block_freeze(int argc, char **argv) {
    (void)argc;
    AUTO_VIEW_STUDY struct view_study view = {0};
    struct err err = ERR_INIT;
    const struct work_study_options options = {.look_at_code = true};
    if (view_study_open(&options, &view, &err) < 0) {
        return cli_error(&err);
    }
    struct work_freeze freeze = {0};
    struct progress progress = {
        .on = isatty(STDERR_FILENO) == 1 && !opt_common.quiet,
        .next_mono_ns = clock_mono_ns() + PROGRESS_FIRST_NS,
    };
    int rc = work_block_freeze(&view.work, &view.place, runs_store(view.runs), argv[0],
                               show_progress, &progress, &freeze, &err);
    if (progress.width > 0) {
        say_progress(&progress, "");
    }
    if (rc == 0) {
        warn_untracked(&view);
        say_frozen(&view, argv[0], &freeze);
        return EXIT_CODE_DONE;
    }
    if (strcmp(err.id, "block-stopped") == 0) {
        say_open_facts(&view, argv[0]);
        (void)cli_error(&err);
        return EXIT_CODE_OPEN_FACTS;
    }
    return cli_error(&err);
}

static const struct command_verb block_verbs[] = {
    {.name = "list",
     .summary = N_("What is planned, done and valid in each block, and why a run does not count."),
     .usage = N_("[--env ID]"),
     .json = true,
     .operand = "",
     .run = block_list},
    {.name = "freeze",
     .summary = N_("Settle code and inputs of a block: runs that differ from now on do not count."),
     .usage = N_("BLOCK"),
     .min_args = 1,
     .max_args = 1,
     .operand = "block",
     .run = block_freeze},
    {.name = "run",
     .summary =
         N_("Run what is left of a block, steps first, in lanes; the same command again goes "
            "on where it was."),
     .usage = N_("BLOCK [--lanes N] [--gpus LIST] [--dry-run]"),
     .min_args = 1,
     .max_args = 1,
     .json = true,
     .operand = "block",
     .run = block_run},
    {.name = "gate",
     .summary = N_("The question at the end of a block, with its criteria; or the answer to it."),
     .usage = N_("BLOCK [go-on|change-environment|limit --why TEXT]"),
     .min_args = 1,
     .max_args = 2,
     .json = true,
     .operand = "block answer",
     .run = block_gate},
    {.name = NULL},
};

const struct command command_block = {
    .name = "block",
    .summary = N_("The blocks of the plan: what they have come to, freezing and running one."),
    .details =
        N_("Freezing keeps the digest of the code under code.paths and of all inputs that the "
           "block names. It needs code that is committed, and no open fact in the way.\n"
           "A block is run until every condition has its planned valid runs; what fails in a way "
           "that a repeat does not cure is left out and said. Nothing is run (status 3) while "
           "open facts or data protection stand in the way, or a block that this one needs has no "
           "answer 'go-on' at its gate. Status 1: not complete. The output of each run is a file "
           "beside the ledger. Ctrl-C reaches all runs; whether the runner is ended or killed, the "
           "same command goes on, and no run is made twice."),
    .examples = N_("probelauf block list  # every block and condition, with reasons\n"
                   "probelauf block list --json  # for programs\n"
                   "probelauf block freeze compare  # before the main experiment\n"
                   "probelauf block run compare --dry-run  # what would be run, and what stands in "
                   "the way\n"
                   "probelauf block run compare --lanes 2 --gpus 0,1  # two at a time, a GPU each\n"
                   "probelauf block run compare --max-time 8h  # what fits into this night\n"
                   "probelauf block gate validate  # what it has come to, and the criteria\n"
                   "probelauf block gate validate go-on --why 'result within 1%, code stable'\n"),
    .options = block_options,
    .verbs = block_verbs,
    .operand = "",
    .traits = COMMAND_LEDGER | COMMAND_JSON | COMMAND_PLAN,
};
