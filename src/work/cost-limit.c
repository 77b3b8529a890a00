/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See cost-limit.h. Must not start anything, and must not convert one currency into another. */
#include "work/cost-limit.h"

#include "base/msg.h"
#include "rules/cost.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* "EUR", or what a service unit may be called: "NAIRR SU". Which of both an offer counts in is not
 * known here. */
static bool is_currency(const char *text) {
    size_t length = strlen(text);
    const unsigned char *at = (const unsigned char *)text;
    if (length == 0 || (!isalpha(at[0]) && at[0] < 0x80) || at[length - 1] == ' ' ||
        (toupper(at[0]) == 'E' && isdigit(at[1]))) /* 1e3EUR */
        return false;
    for (; *at != '\0'; at++)
        if (!isalnum(*at) && *at < 0x80 && strchr(" -_./()+", *at) == NULL)
            return false;
    return true;
}

/* "1.000EUR" is 1 to one reader and 1000 to another. */
static bool is_ambiguous(const char *amount) {
    size_t whole = strspn(amount, "0123456789");
    return whole <= 3 && amount[0] != '0' && amount[whole] == '.' &&
           strspn(amount + whole + 1, "0123456789") == 3;
}

/* "12.50 NAIRR SU": exact, above 0. */
static bool read_amount(const char *text, int64_t *ret_micros, const char **ret_currency) {
    const char *at = text;
    if (!money_take(&at, ret_micros) || is_ambiguous(text))
        return false;
    at += strspn(at, " ");
    *ret_currency = at;
    return *ret_micros > 0 && is_currency(at);
}

static int bad_amount(const char *amount, struct err *err) {
    return err_set(err, -EINVAL, "usage-bad-value",
                   "option '--max-cost' takes an amount above 0 with its currency, such as 20EUR "
                   "or 12.50USD, not '%s'",
                   amount);
}

int work_cost_limit_check(const char *amount, struct err *err) {
    int64_t micros = 0;
    const char *currency = NULL;
    return read_amount(amount, &micros, &currency) ? 0 : bad_amount(amount, err);
}

/* Three capitals, as ISO 4217 has them. */
static bool is_code(const char *text) {
    return strlen(text) == 3 && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
}

/* ---- which offer ---- */

static int no_offer(const char *why, struct err *err) {
    return err_set(err, -EINVAL, "max-cost-offer",
                   "'--max-cost' needs exactly one usable offer, and the command was not started: "
                   "%s",
                   why);
}

/* The environment of the only usable offer that the plan has; NULL: none, or several. */
static const struct plan_environment *environment_of_only(const struct cost_limit_request *request,
                                                          struct arena *arena) {
    const struct plan *plan = request->plan;
    const struct plan_environment *only = NULL;
    for (size_t i = 0; i < plan->environment_count; i++) {
        const char *why = NULL;
        if (cost_only_offer(plan, NULL, &plan->environments[i], NULL, request->now_utc_ns, arena,
                            &why) == NULL)
            continue;
        if (only != NULL)
            return NULL;
        only = &plan->environments[i];
    }
    return only;
}

static int find_offer(const struct cost_limit_request *request, struct arena *arena,
                      struct cost_offer *ret, struct err *err) {
    const struct plan *plan = request->plan;
    const char *why = NULL;
    if (!plan)
        return no_offer(_("there is no plan at hand that could hold one"), err);
    const char *id = request->offer ? request->offer : request->session_offer;
    const struct plan_offer *meant = id ? plan_offer_find(plan, id) : NULL;
    const char *name = request->environment           ? request->environment
                       : meant                        ? meant->environment
                       : plan->environment_count == 1 ? plan->environments[0].id
                                                      : NULL;
    const struct plan_environment *environment = name ? plan_environment_find(plan, name) : NULL;
    if (!environment && !id)
        environment = environment_of_only(request, arena);
    if (!environment && !id)
        return no_offer(_("which environment this is was not said: add --env or --offer"), err);
    const struct plan_offer *offer =
        cost_only_offer(plan, id, environment, NULL, request->now_utc_ns, arena, &why);
    if (!offer)
        return no_offer(why, err);
    cost_judge_offer(plan, offer, environment, NULL, request->now_utc_ns, arena, ret);
    return 0;
}

/* ---- the time ---- */

static const char *money(int64_t micros, const char *currency, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    money_add_text(&text, micros, currency);
    return arena_strdup(arena, strbuf_str(&text));
}

/* The bill of the shortest rental there is. */
static int too_short(const struct cost_offer *offer, const char *amount, struct arena *arena,
                     struct err *err) {
    const struct cost_use use = {.reserved_ns = 1, .units = offer->units};
    int64_t least = 0;
    (void)cost_bill(offer->offer, &use, NULL, &least, NULL, NULL);
    return err_set(err, -ERANGE, "max-cost-short",
                   "'--max-cost %s' buys no time under offer '%s', and the command was not "
                   "started: its shortest rental costs %s, and the grace period has to be paid, "
                   "too",
                   amount, offer->offer->id ? offer->offer->id : "",
                   money(least, cost_offer_currency(offer->offer), arena));
}

int work_cost_limit(const struct cost_limit_request *request, struct arena *arena,
                    struct cost_limit *ret, struct err *err) {
    struct cost_offer offer;
    const char *currency = NULL;
    int64_t micros = 0;
    if (!read_amount(request->amount, &micros, &currency))
        return work_cost_limit_check(request->amount, err);
    int rc = find_offer(request, arena, &offer, err);
    if (rc < 0)
        return rc;
    const char *own = cost_offer_currency(offer.offer);
    if (strcmp(own, currency) != 0 && is_code(own) && !is_code(currency))
        return bad_amount(request->amount, err);
    if (strcmp(own, currency) != 0)
        return err_set(err, -EINVAL, "max-cost-currency",
                       "'--max-cost %s' is not in the currency of offer '%s', which is %s: nothing "
                       "is converted, and the command was not started",
                       request->amount, offer.offer->id ? offer.offer->id : "", own);
    if (offer.offer->rate.micros == 0)
        return no_offer(_("its rate is 0, so that no time follows from an amount"), err);
    int64_t time_ns = cost_time_for(offer.offer, offer.units, micros) - request->grace_ns;
    if (time_ns <= 0)
        return too_short(&offer, request->amount, arena, err);
    const char *rate = cost_rate_text(offer.offer, arena);
    *ret = (struct cost_limit){
        .offer = offer.offer,
        .micros = micros,
        .max_time_ns = time_ns,
        .text = arena_printf(arena, _("%s under offer '%s' (%s)"), money(micros, own, arena),
                             offer.offer->id ? offer.offer->id : "", rate ? rate : "?"),
    };
    return 0;
}

json_t *work_cost_limit_json(const struct cost_limit *limit) {
    const struct plan_offer *offer = limit->offer;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_t *json = json_object();
    bool is_unit = offer->service_unit && offer->service_unit[0];
    money_add_exact(&text, limit->micros);
    json_put_int(json, "micros", limit->micros);
    json_put_text(json, "text", strbuf_str(&text));
    json_put_text(json, is_unit ? "service_unit" : "currency", cost_offer_currency(offer));
    json_put_text(json, "offer", offer->id);
    json_put_int(json, "max_time_ns", limit->max_time_ns);
    return json;
}
