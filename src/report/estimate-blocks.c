/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sections of an estimate for people: each block's nine components with what they rest on, its
 * memory need, and with -v every item with its sources. What is open is named in one row here and
 * explained once, in the list of the whole estimate.
 */
#include "report/estimate-text.h"

#include "base/msg.h"
#include "base/str.h"
#include "base/uuid.h"
#include "report/calibration.h"
#include "report/facts.h"
#include "report/study-words.h"

#include <string.h>

#define SOURCES_SHOWN 4u

/* A run by the tail that people type, anything else as it is. */
static void add_source(struct strbuf *out, const char *source) {
    bool is_id = strlen(source) == 36 && source[8] == '-' && source[23] == '-';
    strbuf_add_str(out, is_id ? uuid_tail(source) : source);
}

static void add_sources(struct strbuf *out, const struct quantity *q) {
    for (size_t i = 0; i < q->source_count && i < SOURCES_SHOWN; i++) {
        strbuf_add_str(out, i > 0 ? ", " : "");
        add_source(out, q->sources[i]);
    }
    if (q->source_count > SOURCES_SHOWN)
        strbuf_printf(out, _(" and %zu more"), q->source_count - SOURCES_SHOWN);
}

static void add_piece(struct strbuf *out, const char *text) {
    if (text && *text)
        strbuf_add_next(out, "; ", text);
}

/* What a figure rests on, in words; why it has no interval and what was assumed with -v alone. */
static void add_basis(struct strbuf *note, const struct quantity *q, struct report_style style) {
    study_words_add_rests(note, q);
    if (style.verbose || !quantity_is_known(q))
        add_piece(note, q->detail);
}

void estimate_text_quantity(const char *label, const struct quantity *q, const char *more,
                            struct report_style style, struct strbuf *out) {
    AUTO_STRBUF struct strbuf value = STRBUF_INIT;
    AUTO_STRBUF struct strbuf note = STRBUF_INIT;
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    struct quantity alone = study_words_alone(q);
    layout_add_quantity(&value, &alone, style.ascii, true);
    add_basis(&note, q, style);
    add_piece(&note, more);
    layout_add_plain(&plain, strbuf_str(&note), style.ascii);
    layout_row(out, style, label, strbuf_str(&value), layout_state_color(q->state),
               strbuf_str(&plain));
}

static void indented(struct strbuf *out, struct report_style style, size_t indent,
                     const char *text) {
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    layout_add_plain(&plain, text, style.ascii);
    layout_add_blanks(out, indent);
    layout_wrap(out, strbuf_str(&plain), indent, indent + 2, layout_columns(style));
    strbuf_add_char(out, '\n');
}

/* "policy=evict keep=0.5: 2 x 12.3 s = 24.6 s, from a1b2c3d4, probelauf.yaml:31" */
static void item(const struct estimate_item *of, struct report_style style, struct strbuf *out) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    struct quantity unit = study_words_alone(&of->unit), time = study_words_alone(&of->time);
    study_words_add_item(&text, of->name);
    strbuf_add_str(&text, ": ");
    if (quantity_is_known(&of->time)) {
        layout_add_quantity(&text, &of->count, style.ascii, false);
        strbuf_add_str(&text, style.ascii ? " x " : " × ");
        layout_add_quantity(&text, &unit, style.ascii, true);
        strbuf_add_str(&text, " = ");
    }
    layout_add_quantity(&text, &time, style.ascii, true);
    if (of->needs_machine == PLAN_NO)
        strbuf_printf(&text, ", %s", _("needs no rented machine"));
    if (of->needs_machine == PLAN_UNSAID)
        strbuf_printf(&text, ", %s", _("whether it needs the rented machine is open"));
    AUTO_STRBUF struct strbuf why = STRBUF_INIT;
    add_basis(&why, &of->time, style);
    if (why.length > 0)
        strbuf_printf(&text, " (%s)", strbuf_str(&why));
    if (of->time.source_count > 0) {
        strbuf_add_str(&text, _("; from "));
        add_sources(&text, &of->time);
    }
    indented(out, style, 4, strbuf_str(&text));
}

/* With its items below it the row need not give their reasons. */
static void component_row(enum component which, const struct estimate_component *component,
                          struct report_style style, struct strbuf *out) {
    AUTO_STRBUF struct strbuf sources = STRBUF_INIT;
    if (style.verbose && component->item_count == 0 && component->time.source_count > 0) {
        strbuf_add_str(&sources, _("from "));
        add_sources(&sources, &component->time);
    }
    struct quantity time = component->time;
    if (component->item_count > 0)
        time.detail = NULL;
    estimate_text_quantity(study_words_component(which), &time, strbuf_str(&sources), style, out);
    for (size_t i = 0; style.verbose && i < component->item_count; i++)
        item(&component->items[i], style, out);
}

void estimate_text_components(const struct estimate_component components[COMPONENT_COUNT_],
                              struct report_style style, struct strbuf *out) {
    AUTO_STRBUF struct strbuf open = STRBUF_INIT, nothing = STRBUF_INIT;
    size_t open_count = 0, nothing_count = 0;
    for (int i = 0; i < COMPONENT_COUNT_; i++) {
        const struct estimate_component *component = &components[i];
        bool is_open = !quantity_is_known(&component->time);
        bool is_nothing = estimate_is_nothing_left(component);
        open_count += is_open;
        nothing_count += is_nothing;
        if (style.verbose || (!is_open && !is_nothing))
            component_row((enum component)i, component, style, out);
        else
            strbuf_add_next(is_open ? &open : &nothing, ", ",
                            study_words_component((enum component)i));
    }
    if (nothing.length > 0) {
        AUTO_STRBUF struct strbuf value = STRBUF_INIT;
        strbuf_printf(&value, "[m] %s",
                      nothing_count == COMPONENT_COUNT_ ? _("of all nine parts")
                                                        : strbuf_str(&nothing));
        layout_row(out, style, _("nothing left"), strbuf_str(&value), LAYOUT_PLAIN, NULL);
    }
    if (open.length > 0) {
        AUTO_STRBUF struct strbuf value = STRBUF_INIT;
        strbuf_printf(&value, "[?] %s",
                      open_count == COMPONENT_COUNT_ ? _("all nine parts") : strbuf_str(&open));
        layout_row(out, style, _("open"), strbuf_str(&value), LAYOUT_BAD, NULL);
    }
}

/* "[m] ≥ 1.36 GiB of 64 GiB", with what it is and whether it fits. */
void estimate_text_memory(const char *label, const struct estimate_memory *memory, bool is_named,
                          struct report_style style, struct strbuf *out) {
    bool known = quantity_is_known(&memory->need) || quantity_is_known(&memory->capacity);
    if (!known && memory->need.reason == QUANTITY_NOT_APPLICABLE)
        return;
    AUTO_STRBUF struct strbuf value = STRBUF_INIT;
    AUTO_STRBUF struct strbuf note = STRBUF_INIT;
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    layout_add_quantity(&value, &memory->need, style.ascii, true);
    if (quantity_is_known(&memory->need) || quantity_is_known(&memory->capacity)) {
        strbuf_add_str(&value, _(" of "));
        layout_add_quantity(&value, &memory->capacity, style.ascii, true);
    }
    add_piece(&note, memory->verdict);
    if (style.verbose || (is_named && quantity_is_known(&memory->need)))
        add_piece(&note, memory->quantity_name);
    if (!quantity_is_known(&memory->need) && style.verbose)
        add_piece(&note, memory->need.detail);
    if (!quantity_is_known(&memory->capacity) && (known || style.verbose))
        add_piece(&note, memory->capacity.detail);
    if (style.verbose && memory->need.source_count > 0) {
        add_piece(&note, _("from "));
        add_sources(&note, &memory->need);
    }
    layout_add_plain(&plain, strbuf_str(&note), style.ascii);
    layout_row(out, style, label, strbuf_str(&value), layout_state_color(memory->need.state),
               strbuf_str(&plain));
}

static void volume(const struct estimate_block *block, struct report_style style,
                   struct strbuf *out) {
    if (!style.verbose && !quantity_is_known(&block->bytes_in) &&
        !quantity_is_known(&block->bytes_out))
        return;
    AUTO_STRBUF struct strbuf value = STRBUF_INIT;
    struct quantity in = study_words_alone(&block->bytes_in);
    struct quantity out_bytes = study_words_alone(&block->bytes_out);
    strbuf_add_str(&value, _("in "));
    layout_add_quantity(&value, &in, style.ascii, true);
    strbuf_add_str(&value, _(", out "));
    layout_add_quantity(&value, &out_bytes, style.ascii, true);
    layout_row(out, style, _("transferred"), strbuf_str(&value), LAYOUT_PLAIN, NULL);
}

static void calibrated(const struct estimate_block *block, struct report_style style,
                       struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    const char *const *lines = NULL;
    size_t count = report_calibrated_lines(block->calibrated, true, style.verbose, arena, &lines);
    for (size_t i = 0; i < count; i++)
        layout_bullet(out, style, lines[i]);
}

void estimate_text_block(const struct estimate_block *block, struct report_style style,
                         struct strbuf *out) {
    AUTO_STRBUF struct strbuf title = STRBUF_INIT;
    AUTO_STRBUF struct strbuf heading = STRBUF_INIT;
    strbuf_printf(&title, "%s: ", block->block->block->id);
    if (block->has_remaining)
        strbuf_printf(
            &title,
            msg_plural((unsigned long)block->remaining, "%llu run to do", "%llu runs to do"),
            (unsigned long long)block->remaining);
    else
        strbuf_add_str(&title, _("the number of runs is open"));
    strbuf_printf(&title, _(", evidence: %s"), study_words_level(block->block->level));
    layout_cut(&heading, strbuf_str(&title), layout_columns(style), style.ascii);
    layout_heading(out, style, strbuf_str(&heading));
    estimate_text_components(block->components, style, out);
    calibrated(block, style, out);
    estimate_text_memory(_("memory, resident"), &block->host_memory, false, style, out);
    estimate_text_memory(_("GPU memory"), &block->gpu_memory, true, style, out);
    volume(block, style, out);
    /* without any evidence the heading says it */
    if (block->weakness && (style.verbose || block->block->level != EVIDENCE_NONE ||
                            quantity_is_known(&block->figures.computing))) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        layout_add_plain(&text, block->weakness, style.ascii);
        layout_row(out, style, _("weak base"), strbuf_str(&text), LAYOUT_WARN, NULL);
    }
}
