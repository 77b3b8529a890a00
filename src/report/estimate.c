/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First version. */
#include "report/study.h"

#include "report/layout.h"
#include "report/study-words.h"

static void figures(const struct estimate_figures *of, struct report_style style,
                    struct strbuf *out) {
    struct study_figure rows[STUDY_FIGURES];
    study_words_figures(of, rows);
    for (size_t i = 0; i < STUDY_FIGURES; i++)
        layout_quantity(out, style, rows[i].label, rows[i].quantity);
}

void report_estimate_text(const struct estimate *estimate, const struct report_frozen *frozen,
                          size_t frozen_count, struct report_style style, struct strbuf *out) {
    (void)frozen;
    (void)frozen_count;
    for (size_t i = 0; i < estimate->block_count; i++) {
        const struct estimate_block *block = &estimate->blocks[i];
        layout_heading(out, style, block->block->block->id);
        for (int c = 0; c < COMPONENT_COUNT_; c++)
            layout_quantity(out, style, study_words_component((enum component)c),
                            &block->components[c].time);
        figures(&block->figures, style, out);
    }
    layout_heading(out, style, "total");
    figures(&estimate->total, style, out);
}
