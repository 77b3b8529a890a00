/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words and JSON for how well a total is known (precision.h). Must not hide a figure's interval
 * behind it: the simulation error is the smallest of what is uncertain. */
#include "report/precision.h"

#include "base/msg.h"
#include "report/study-json.h"

#include <math.h>

#define FIGURES 4u
/* Two standard errors: 95 of 100 other seeds lie as near. */
#define ERRORS_SAID 2.0

struct known_figure {
    const char *label;
    const struct quantity *quantity;
    const struct estimate_error *error;
};

static size_t list_figures(const struct estimate *estimate, struct known_figure *figures) {
    const struct known_figure all[FIGURES] = {
        {_("computing"), &estimate->total.computing, &estimate->total_errors.computing},
        {_("reserved (paid)"), &estimate->total.reserved, &estimate->total_errors.reserved},
        {_("calendar"), &estimate->total.calendar, &estimate->total_errors.calendar},
        {_("effort"), &estimate->total.effort, &estimate->total_errors.effort},
    };
    size_t count = 0;
    for (size_t i = 0; i < FIGURES; i++)
        if (all[i].error->known && all[i].quantity->p05 > 0.0) /* 0 has no percent */
            figures[count++] = all[i];
    return count;
}

/* Percent of the value. */
static double relative(double error, double value) {
    return value > 0.0 ? 100.0 * ERRORS_SAID * error / value : 0.0;
}

static double relative_of_ends(const struct known_figure *figure) {
    return fmax(relative(figure->error->p05, figure->quantity->p05),
                relative(figure->error->p95, figure->quantity->p95));
}

const char *report_precision_words(const struct estimate *estimate, bool ascii,
                                   struct arena *arena) {
    struct known_figure figures[FIGURES];
    size_t count = list_figures(estimate, figures);
    const struct known_figure *of = NULL;
    for (size_t i = 0; i < count; i++)
        if (figures[i].quantity == &estimate->total.reserved ||
            (!of && figures[i].quantity == &estimate->total.computing))
            of = &figures[i];
    if (!of)
        return NULL;
    char percent[MSG_DECIMAL_SIZE];
    return arena_printf(arena, _("the ends of the interval are known to %s%s %%"),
                        ascii ? "+-" : "±", msg_decimal(percent, "%.2g", relative_of_ends(of)));
}

size_t report_precision_lines(const struct estimate *estimate, bool ascii, struct arena *arena,
                              const char *const **ret_lines) {
    struct known_figure figures[FIGURES];
    size_t count = list_figures(estimate, figures);
    const char **lines = arena_alloc(arena, FIGURES * sizeof *lines);
    const char *sign = ascii ? "+-" : "±";
    for (size_t i = 0; i < count; i++) {
        const struct quantity *q = figures[i].quantity;
        const struct estimate_error *error = figures[i].error;
        char low[MSG_DECIMAL_SIZE], middle[MSG_DECIMAL_SIZE], high[MSG_DECIMAL_SIZE];
        lines[i] = arena_printf(
            arena,
            _("%s: by simulation the lower end is known to %s%s %%, the median to %s%s %%, "
              "the upper end to %s%s %%"),
            figures[i].label, sign, msg_decimal(low, "%.2g", relative(error->p05, q->p05)), sign,
            msg_decimal(middle, "%.2g", relative(error->p50, q->value)), sign,
            msg_decimal(high, "%.2g", relative(error->p95, q->p95)));
    }
    *ret_lines = lines;
    return count;
}

const char *report_dominating_words(const struct estimate *estimate, struct arena *arena) {
    const struct estimate_dominating *of = &estimate->dominating;
    char percent[MSG_DECIMAL_SIZE];
    if (!of->item)
        return NULL;
    const char *block = of->block->id;
    msg_decimal(percent, "%.0f", 100.0 * of->share);
    if (of->component == COMPONENT_RETRIES)
        return arena_printf(arena,
                            _("failed attempts of '%s' (block %s) make up %s %% of the uncertainty "
                              "of the total"),
                            of->item, block, percent);
    if (of->component == COMPONENT_IDLE)
        return arena_printf(
            arena, _("idle time of block %s makes up %s %% of the uncertainty of the total"), block,
            percent);
    return arena_printf(arena, _("'%s' (block %s) makes up %s %% of the uncertainty of the total"),
                        of->item, block, percent);
}

static json_t *error_json(const struct estimate_error *error) {
    if (!error->known)
        return json_null();
    json_t *json = json_object();
    json_put(json, "p05", json_real(error->p05));
    json_put(json, "p50", json_real(error->p50));
    json_put(json, "p95", json_real(error->p95));
    return json;
}

json_t *report_precision_json(const struct estimate *estimate) {
    const struct estimate_errors *errors = &estimate->total_errors;
    json_t *json = json_object();
    json_put(json, "computing", error_json(&errors->computing));
    json_put(json, "reserved", error_json(&errors->reserved));
    json_put(json, "calendar", error_json(&errors->calendar));
    json_put(json, "effort", error_json(&errors->effort));
    return json;
}

json_t *report_dominating_json(const struct estimate *estimate) {
    const struct estimate_dominating *of = &estimate->dominating;
    if (!of->item)
        return json_null();
    json_t *json = json_object();
    json_put_text(json, "block", of->block->id);
    json_put_text(json, "component", component_name(of->component));
    json_put_text(json, "item", of->item);
    json_put(json, "share", json_real(of->share));
    return json;
}
