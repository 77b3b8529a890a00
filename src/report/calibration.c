/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words and JSON for what reviews taught (calibration.h). Judges nothing. */
#include "report/calibration.h"

#include "base/msg.h"
#include "base/strbuf.h"
#include "forecast/conformal.h"
#include "model/quantity.h"

#include <math.h>

#define LINES_MOST 8u /* beside an estimate */

struct lines {
    const char **items;
    size_t count;
};

static void add(struct lines *lines, const char *text) {
    lines->items[lines->count++] = text;
}

/* ---- how many held ---- */

const char *report_calibration_share(const struct calibration_share *share, struct arena *arena) {
    if (share->count == 0)
        return _("no stated interval of a finished block was held against what happened yet");
    if (!share->is_told)
        return arena_printf(arena,
                            msg_plural((unsigned long)share->count,
                                       "%zu of %zu stated 90 %% interval held: too few to tell (%u "
                                       "are needed)",
                                       "%zu of %zu stated 90 %% intervals held: too few to tell "
                                       "(%u are needed)"),
                            share->held, share->count, CALIBRATION_SHARE_LEAST);
    return arena_printf(
        arena, _("%zu of %zu stated 90 %% intervals held (%.0f %%, %.0f to %.0f %%)"), share->held,
        share->count, 100.0 * share->share, 100.0 * share->low, 100.0 * share->high);
}

static const char *basis_text(const struct calibration_basis *of, struct arena *arena) {
    AUTO_STRBUF struct strbuf basis = STRBUF_INIT;
    if (*of->basis)
        quantity_add_basis(&basis, of->basis);
    else
        strbuf_add_str(&basis, _("not said"));
    return arena_printf(arena, _("of those that rest on %s: %s"), strbuf_str(&basis),
                        report_calibration_share(&of->share, arena));
}

size_t report_calibration_lines(const struct calibration *calibration, struct arena *arena,
                                const char *const **ret_lines) {
    struct lines lines = {
        .items = arena_alloc(arena, (calibration->basis_count + 3) * sizeof *lines.items)};
    bool is_told = calibration->study.is_told || calibration->ledger.is_told;
    if (calibration->ledger.count != calibration->study.count)
        add(&lines, arena_printf(arena,
                                 msg_plural((unsigned long)calibration->studies,
                                            "%zu study of the ledger: %s",
                                            "all %zu studies of the ledger: %s"),
                                 calibration->studies,
                                 report_calibration_share(&calibration->ledger, arena)));
    for (size_t i = 0; i < calibration->basis_count && calibration->basis_count > 1; i++)
        if (calibration->bases[i].share.is_told)
            add(&lines, basis_text(&calibration->bases[i], arena));
    if (is_told)
        add(&lines, arena_printf(arena,
                                 _("the range behind a share is where the true one lies, with "
                                   "%.0f %% (Jeffreys interval)"),
                                 100.0 * CALIBRATION_SHARE_LEVEL));
    *ret_lines = lines.items;
    return lines.count;
}

/* ---- beside an estimate ---- */

static const char *range(double low, double high, struct arena *arena) {
    AUTO_STRBUF struct strbuf from = STRBUF_INIT, to = STRBUF_INIT;
    quantity_format_value(low, UNIT_SECOND, &from);
    quantity_format_value(high, UNIT_SECOND, &to);
    return arena_printf(arena, _("%s to %s"), strbuf_str(&from), strbuf_str(&to));
}

static const char *bounds(const struct calibrated_figure *figure, struct arena *arena) {
    AUTO_STRBUF struct strbuf low = STRBUF_INIT, high = STRBUF_INIT;
    quantity_format_value(figure->low, UNIT_SECOND, &low);
    quantity_format_value(figure->high, UNIT_SECOND, &high);
    return arena_printf(arena, _("; at least %s, or at most %s, each with %u %%"), strbuf_str(&low),
                        strbuf_str(&high), CONFORMAL_ONE_SIDED);
}

static const char *corrected(const char *label, const struct calibrated_figure *figure,
                             struct arena *arena) {
    char factor[MSG_DECIMAL_SIZE];
    return arena_printf(
        arena,
        msg_plural((unsigned long)figure->outcomes,
                   "%s, with what %zu reviewed block taught: %s (%u %%; %s times as wide%s)",
                   "%s, with what %zu reviewed blocks taught: %s (%u %%; %s times as wide%s)"),
        label, figure->outcomes, range(figure->p05, figure->p95, arena), CONFORMAL_TWO_SIDED,
        msg_decimal(factor, "%.2f", figure->factor),
        figure->has_bounds ? bounds(figure, arena) : "");
}

static const char *outside(const char *label, const struct calibrated_ratio *ratio,
                           struct arena *arena) {
    char median[MSG_DECIMAL_SIZE], least[MSG_DECIMAL_SIZE], most[MSG_DECIMAL_SIZE];
    return arena_printf(arena,
                        msg_plural((unsigned long)ratio->count,
                                   "%s, outside view: %zu closed block took %s times what was "
                                   "planned (median; %s to %s)",
                                   "%s, outside view: %zu closed blocks took %s times what was "
                                   "planned (median; %s to %s)"),
                        label, ratio->count, msg_decimal(median, "%.2f", ratio->median),
                        msg_decimal(least, "%.2f", ratio->least),
                        msg_decimal(most, "%.2f", ratio->most));
}

/* The block's own lines hold what is corrected: all else is the same for all of them. */
static void add_figure(struct lines *lines, const char *label,
                       const struct calibrated_figure *figure, bool is_block, bool verbose,
                       struct arena *arena) {
    bool is_said = !is_block && (verbose || figure->outcomes > 0 || figure->ratio.is_told);
    if (!figure->why)
        add(lines, corrected(label, figure, arena));
    else if (is_said && figure->ratio.is_told)
        add(lines, arena_printf(arena, _("%s, not corrected: %s"), label, figure->why));
    else if (is_said)
        add(lines,
            arena_printf(arena, _("%s, not corrected: %s; no reference class for an outside view"),
                         label, figure->why));
    if (!is_block && figure->ratio.is_told)
        add(lines, outside(label, &figure->ratio, arena));
}

size_t report_calibrated_lines(const struct calibrated *calibrated, bool is_block, bool verbose,
                               struct arena *arena, const char *const **ret_lines) {
    struct lines lines = {.items = arena_alloc(arena, LINES_MOST * sizeof *lines.items)};
    if (calibrated) {
        add_figure(&lines, _("computing"), &calibrated->computing, is_block, verbose, arena);
        add_figure(&lines, _("reserved"), &calibrated->reserved, is_block, verbose, arena);
    }
    *ret_lines = lines.items;
    return lines.count;
}

/* ---- JSON ---- */

static void put_known(json_t *json, const char *key, bool known, double value) {
    if (known)
        json_put_real(json, key, value);
    else
        json_put(json, key, json_null());
}

static json_t *share_json(const struct calibration_share *share) {
    json_t *json = json_object();
    json_put_int(json, "held", (int64_t)share->held);
    json_put_int(json, "stated", (int64_t)share->count);
    json_put_int(json, "needed", CALIBRATION_SHARE_LEAST);
    put_known(json, "share", share->is_told, share->share);
    put_known(json, "low", share->is_told, share->low);
    put_known(json, "high", share->is_told, share->high);
    return json;
}

json_t *report_calibration_json(const struct calibration *calibration) {
    if (!calibration)
        return json_null();
    json_t *json = json_object(), *bases = json_array();
    json_put_text(json, "method", "jeffreys");
    json_put_real(json, "level", CALIBRATION_SHARE_LEVEL);
    json_put(json, "study", share_json(&calibration->study));
    json_put(json, "ledger", share_json(&calibration->ledger));
    json_put_int(json, "studies", (int64_t)calibration->studies);
    for (size_t i = 0; i < calibration->basis_count; i++) {
        json_t *basis = share_json(&calibration->bases[i].share);
        json_put_text(basis, "basis",
                      *calibration->bases[i].basis ? calibration->bases[i].basis : NULL);
        json_array_append_new(bases, basis);
    }
    json_put(json, "by_basis", bases);
    return json;
}

static json_t *ratio_json(const struct calibrated_ratio *ratio) {
    json_t *json = json_object();
    json_put_int(json, "n", (int64_t)ratio->count);
    json_put_int(json, "needed", CALIBRATION_RATIO_LEAST);
    put_known(json, "median", ratio->is_told, ratio->median);
    put_known(json, "least", ratio->is_told, ratio->least);
    put_known(json, "most", ratio->is_told, ratio->most);
    return json;
}

static json_t *figure_json(const struct calibrated_figure *figure) {
    json_t *json = json_object();
    bool known = figure->why == NULL;
    json_put_int(json, "n", (int64_t)figure->outcomes);
    json_put_int(json, "needed", CONFORMAL_TWO_SIDED_LEAST);
    json_put_int(json, "needed_one_sided", CONFORMAL_ONE_SIDED_LEAST);
    put_known(json, "factor", known, figure->factor);
    put_known(json, "p05", known, figure->p05);
    put_known(json, "p95", known, figure->p95);
    put_known(json, "low", known && figure->has_bounds, figure->low);
    put_known(json, "high", known && figure->has_bounds, figure->high);
    json_put_text(json, "why", figure->why);
    json_put(json, "outside_view", ratio_json(&figure->ratio));
    return json;
}

json_t *report_calibrated_json(const struct calibrated *calibrated) {
    if (!calibrated)
        return json_null();
    json_t *json = json_object();
    json_put_text(json, "method", CONFORMAL_METHOD);
    json_put_real(json, "level", CONFORMAL_TWO_SIDED / 100.0);
    json_put_real(json, "one_sided_level", CONFORMAL_ONE_SIDED / 100.0);
    json_put(json, "computing", figure_json(&calibrated->computing));
    json_put(json, "reserved", figure_json(&calibrated->reserved));
    return json;
}
