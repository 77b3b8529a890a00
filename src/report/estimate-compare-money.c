/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The money of two estimates side by side: the amount, and each offer as it was kept against what
 * the plan says of it now (REQUIREMENTS D5). Reads documents that may be old or damaged, trusts
 * neither, and never subtracts two currencies.
 */
#include "report/estimate-compare-money.h"

#include "base/msg.h"
#include "model/money.h"
#include "report/layout.h"

#include <string.h>

/* ---- for programs ---- */

static const json_t *offers_of(const json_t *estimate) {
    return json_get_array(json_get_object(estimate, "cost"), "offers");
}

static const json_t *find_offer(const json_t *offers, const char *id) {
    for (size_t i = 0; i < json_array_size(offers); i++)
        if (strcmp(json_get_text(json_array_get(offers, i), "id", ""), id) == 0)
            return json_array_get(offers, i);
    return NULL;
}

static bool is_same(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void add_term(json_t *list, const char *term, const char *before, const char *after) {
    json_t *json = json_object();
    if (is_same(before, after)) {
        json_decref(json);
        return;
    }
    json_put_text(json, "term", term);
    json_put_text(json, "before", before);
    json_put_text(json, "after", after);
    json_array_append_new(list, json);
}

/* Terms in the order of the offer of now, then those that only the old one has. */
static json_t *terms_json(const json_t *before, const json_t *after) {
    const json_t *was = json_get_object(before, "terms"), *is = json_get_object(after, "terms");
    json_t *list = json_array(), *value = NULL;
    const char *term = NULL;
    json_object_foreach ((json_t *)(uintptr_t)is, term, value)
        add_term(list, term, json_get_text(was, term, NULL), json_string_value(value));
    json_object_foreach ((json_t *)(uintptr_t)was, term, value)
        if (!json_object_get(is, term))
            add_term(list, term, json_string_value(value), NULL);
    const char *words[] = {"no", "yes"};
    add_term(list, "usable", words[json_get_bool(before, "usable", 0) != 0],
             words[json_get_bool(after, "usable", 0) != 0]);
    return list;
}

static void add_offer(json_t *list, const char *id, const char *state, json_t *take_terms) {
    json_t *json = json_object();
    json_put_text(json, "id", id);
    json_put_text(json, "state", state);
    json_put(json, "terms", take_terms);
    json_array_append_new(list, json);
}

static json_t *offers_json(const json_t *before, const json_t *after) {
    const json_t *was = offers_of(before), *is = offers_of(after);
    json_t *list = json_array();
    for (size_t i = 0; i < json_array_size(is); i++) {
        const json_t *offer = json_array_get(is, i);
        const char *id = json_get_text(offer, "id", "");
        const json_t *old = find_offer(was, id);
        if (!old) {
            add_offer(list, id, "new", json_array());
            continue;
        }
        json_t *terms = terms_json(old, offer);
        if (json_array_size(terms) > 0)
            add_offer(list, id, "changed", terms);
        else
            json_decref(terms);
    }
    for (size_t i = 0; i < json_array_size(was); i++) {
        const char *id = json_get_text(json_array_get(was, i), "id", "");
        if (!find_offer(is, id))
            add_offer(list, id, "gone", json_array());
    }
    return list;
}

static json_t *amount_json(const json_t *estimate) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct amount amount = amount_from_json(json_get_object(estimate, "amount"), arena);
    return amount_to_json(&amount);
}

json_t *compare_money_json(const json_t *before, const json_t *after) {
    json_t *json = json_object();
    json_put(json, "before", amount_json(before));
    json_put(json, "after", amount_json(after));
    json_put(json, "offers", offers_json(before, after));
    return json;
}

/* ---- for people ---- */

static void offer_text(const json_t *offer, struct report_style style, struct strbuf *out) {
    const char *id = json_get_text(offer, "id", ""), *state = json_get_text(offer, "state", "");
    const json_t *terms = json_get_array(offer, "terms");
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    if (strcmp(state, "new") == 0)
        strbuf_printf(&line, _("offer '%s' is new"), id);
    else if (strcmp(state, "gone") == 0)
        strbuf_printf(&line, _("offer '%s' is not there any more"), id);
    if (line.length > 0)
        layout_bullet(out, style, strbuf_str(&line));
    for (size_t i = 0; i < json_array_size(terms); i++) {
        const json_t *term = json_array_get(terms, i);
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        strbuf_printf(&text, _("offer '%s', %s: %s, before: %s"), id,
                      json_get_text(term, "term", ""), json_get_text(term, "after", _("not said")),
                      json_get_text(term, "before", _("not said")));
        layout_bullet(out, style, strbuf_str(&text));
    }
}

static bool is_same_amount(const json_t *a, const json_t *b) {
    return strcmp(json_get_text(a, "state", ""), json_get_text(b, "state", "")) == 0 &&
           json_get_int(a, "micros", 0) == json_get_int(b, "micros", 0) &&
           strcmp(json_get_text(a, "currency", ""), json_get_text(b, "currency", "")) == 0 &&
           strcmp(json_get_text(a, "service_unit", ""), json_get_text(b, "service_unit", "")) == 0;
}

void compare_money_text(const json_t *money, struct report_style style, struct strbuf *out) {
    AUTO_ARENA struct arena *arena = arena_new();
    const json_t *before = json_get_object(money, "before");
    const json_t *after = json_get_object(money, "after");
    const json_t *offers = json_get_array(money, "offers");
    bool changed = !is_same_amount(before, after);
    if (!changed && json_array_size(offers) == 0)
        return;
    layout_heading(out, style, _("Money"));
    if (changed) {
        struct amount was = amount_from_json(before, arena), is = amount_from_json(after, arena);
        struct quantity_style how = {.ascii = style.ascii, .mark = true};
        AUTO_STRBUF struct strbuf old = STRBUF_INIT, new = STRBUF_INIT, line = STRBUF_INIT;
        amount_format_exact(&was, how, &old);
        amount_format_exact(&is, how, &new);
        strbuf_printf(&line, _("amount: %s, before: %s"), strbuf_str(&new), strbuf_str(&old));
        layout_bullet(out, style, strbuf_str(&line));
        for (size_t i = 0; i < is.lack_count; i++) {
            AUTO_STRBUF struct strbuf lack = STRBUF_INIT;
            strbuf_printf(&lack, _("not in it: %s"), msg_get(is.lacks[i]));
            layout_bullet(out, style, strbuf_str(&lack));
        }
    }
    for (size_t i = 0; i < json_array_size(offers); i++)
        offer_text(json_array_get(offers, i), style, out);
}
