/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf block list|freeze: what the blocks of the plan have come to, and settling what the runs
 * of one rest on. Never writes to the plan. */
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

static const char *opt_env;

static const struct opt_spec block_options[] = {
    {.name = "env",
     .type = OPT_TEXT,
     .target = &opt_env,
     .argument = N_("ID"),
     .verbs = "list",
     .help = N_("The environment of the plan that evidence is wanted for (without it the first).")},
    {.name = NULL},
};

/* ---- list ---- */

static int block_list(int argc, char **argv) {
    (void)argc;
    (void)argv;
    AUTO_VIEW_STUDY struct view_study view = {0};
    struct err err = ERR_INIT;
    const struct work_study_options options = {.environment = opt_env, .look_at_code = true};
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
     .operand = "",
     .run = block_freeze},
    {.name = NULL},
};

const struct command command_block = {
    .name = "block",
    .summary = N_("The blocks of the plan: what they have come to, and freezing one."),
    .details =
        N_("Freezing keeps the digest of the code under code.paths and of all inputs that the "
           "block names. It needs code that is committed, and no open fact in the way."),
    .examples = N_("probelauf block list  # every block and condition, with reasons\n"
                   "probelauf block list --json  # for programs\n"
                   "probelauf block freeze compare  # before the main experiment\n"),
    .options = block_options,
    .verbs = block_verbs,
    .operand = "",
    .traits = COMMAND_LEDGER | COMMAND_JSON | COMMAND_PLAN,
};
