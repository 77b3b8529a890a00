/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf block gate: shows the question at the gate of a block, or records the answer. */
#include "cli/block-verbs.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/view-study.h"

#include "base/msg.h"
#include "forecast/predict.h"
#include "report/block-run.h"
#include "work/gate.h"

#include <errno.h>
#include <unistd.h>

static int show(struct view_study *view, const struct study_block *block) {
    struct estimate estimate;
    struct err err = ERR_INIT;
    const struct estimate_options options = {.seed = PREDICT_SEED};
    const struct study *study = &view->work.study;
    if (estimate_make(study, &options, view->arena, &estimate, &err) < 0) {
        return cli_error(&err);
    }
    if (opt_common.json) {
        cli_print_json(report_gate_json(study, block, &estimate));
        return EXIT_CODE_DONE;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_gate_text(study, block, &estimate, cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
    return EXIT_CODE_DONE;
}

static int answer(struct view_study *view, const char *block, const char *word) {
    enum gate_answer given;
    struct err err = ERR_INIT;
    char event[UUID_TEXT_SIZE];
    if (!gate_answer_from_name(word, &given)) {
        (void)err_set(&err, -EINVAL, "usage-bad-value",
                      "'%s' is no answer at a gate: write go-on, change-environment or limit",
                      word);
        return cli_usage_error("block", &err);
    }
    if (work_gate_answer(&view->work, &view->place, runs_store(view->runs), block, given,
                         block_opts.why, event, &err) < 0) {
        return cli_error(&err);
    }
    const struct study_block *of = work_study_block(&view->work, block, &err);
    if (opt_common.json && of != NULL) {
        cli_print_json(report_gate_json(&view->work.study, of, NULL));
        return EXIT_CODE_DONE;
    }
    AUTO_FREE char *text =
        mem_printf(_("at the gate of block '%s' the answer is kept: %s"), block, word);
    cli_note(text);
    return EXIT_CODE_DONE;
}

int block_gate(int argc, char **argv) {
    AUTO_VIEW_STUDY struct view_study view = {0};
    struct err err = ERR_INIT;
    const struct work_study_options options = {
        .environment = block_opts.env, .look_at_code = true, .look_at_past = true};
    if (argc < 2 && block_opts.why != NULL) {
        (void)err_set(&err, -EINVAL, "usage-operands",
                      "'--why' belongs to an answer: go-on, change-environment or limit");
        return cli_usage_error("block", &err);
    }
    if (view_study_open(&options, &view, &err) < 0) {
        return cli_error(&err);
    }
    const struct study_block *block = work_study_block(&view.work, argv[0], &err);
    if (block == NULL) {
        return cli_error(&err);
    }
    return argc > 1 ? answer(&view, argv[0], argv[1]) : show(&view, block);
}
