/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of what an amount needs, one for every estimate. It must not hold a price. */
#include "rules/amount.h"

#include "base/mem.h"
#include "base/msg.h"

static const char *const what_an_amount_needs[] = {
    N_("a rate and its currency"),
    N_("the billing unit and its increment (per second, per started hour …)"),
    N_("the minimum term"),
    N_("the source of the offer and the date on which it was seen"),
    N_("the date until which it is valid, and the planned date of the runs"),
    N_("the offered device, which must be the one that the runs were measured on"),
    N_("the set-up fee"),
    N_("the price of storage while running and while stopped, and how much is needed"),
    N_("the price of transfer in and out, and the volume"),
    N_("taxes"),
    N_("whether the machine may be interrupted, and on what terms"),
};

size_t amount_need_count(void) {
    return ARRAY_LENGTH(what_an_amount_needs);
}

const char *amount_need(size_t index) {
    return _(what_an_amount_needs[index]);
}
