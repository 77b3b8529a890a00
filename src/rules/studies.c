/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds kept estimates up. Takes figures as they were kept and estimates nothing anew. */
#include "rules/studies.h"

#include "model/quantity-read.h"

#include <string.h>

const char *studies_state_name(enum studies_state state) {
    switch (state) {
    case STUDIES_NOT_CHECKED:
        return "not-checked";
    case STUDIES_CURRENT:
        return "current";
    case STUDIES_OUTDATED:
        return "outdated";
    case STUDIES_STATE_COUNT_:
        break;
    }
    return "";
}

const char *studies_figure_name(enum studies_figure figure) {
    switch (figure) {
    case STUDIES_COMPUTING:
        return "computing";
    case STUDIES_RESERVED:
        return "reserved";
    case STUDIES_EFFORT:
        return "effort";
    case STUDIES_GPU:
        return "gpu";
    case STUDIES_FIGURE_COUNT_:
        break;
    }
    return "";
}

static void read_figures(const json_t *figures, struct arena *arena,
                         struct quantity ret_figures[STUDIES_FIGURE_COUNT_]) {
    for (int i = 0; i < STUDIES_FIGURE_COUNT_; i++)
        ret_figures[i] = quantity_from_json(
            json_get_object(figures, studies_figure_name((enum studies_figure)i)), UNIT_SECOND,
            arena);
}

static const char *label_of(const struct studies_input *input) {
    size_t length = strlen(input->study);
    if (input->title && *input->title)
        return input->title;
    return length > 12 ? input->study + length - 12 : input->study;
}

/* One figure of several studies; what is not applicable in one (no GPU there) adds nothing. */
static struct quantity add(const struct quantity_part *parts, size_t count, struct arena *arena) {
    struct quantity_part *counting = arena_alloc(arena, (count + 1) * sizeof(*counting));
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (quantity_is_known(&parts[i].quantity) ||
            parts[i].quantity.reason != QUANTITY_NOT_APPLICABLE)
            counting[kept++] = parts[i];
    if (kept == 0 && count > 0)
        return quantity_open(UNIT_SECOND, QUANTITY_NOT_APPLICABLE, NULL);
    return quantity_sum(arena, UNIT_SECOND, counting, kept);
}

/* ---- money: a sum per currency ---- */

static bool is_of(const struct amount *amount, const struct amount *other) {
    return amount->is_service_unit == other->is_service_unit &&
           strcmp(amount->currency, other->currency) == 0;
}

/* Currencies in the order in which they first appear. */
static size_t sum_money(const struct amount *amounts, const char *const *labels, size_t count,
                        struct arena *arena, struct studies_money **ret_money,
                        size_t *ret_without) {
    struct studies_money *money = arena_alloc(arena, (count + 1) * sizeof(*money));
    const struct amount **parts = arena_alloc(arena, (count + 1) * sizeof(*parts));
    const char **names = arena_alloc(arena, (count + 1) * sizeof(*names));
    size_t found = 0;
    *ret_without = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_known = amount_is_known(&amounts[i]), is_first = true;
        *ret_without += !is_known;
        for (size_t k = 0; k < i && is_known && is_first; k++)
            is_first = !amount_is_known(&amounts[k]) || !is_of(&amounts[k], &amounts[i]);
        if (!is_known || !is_first)
            continue;
        size_t used = 0;
        for (size_t k = i; k < count; k++)
            if (amount_is_known(&amounts[k]) && is_of(&amounts[k], &amounts[i])) {
                names[used] = labels[k];
                parts[used++] = &amounts[k];
            }
        money[found++] = (struct studies_money){.currency = amounts[i].currency,
                                                .is_service_unit = amounts[i].is_service_unit,
                                                .amount = amount_sum(parts, names, used, arena)};
    }
    *ret_money = money;
    return found;
}

/* ---- subtotals ---- */

/* What one study says under a name. */
struct entry {
    const char *name;
    uint64_t block_count;
    const struct studies_row *row;
    struct amount amount;
    struct quantity figures[STUDIES_FIGURE_COUNT_];
};

static size_t read_entries(const struct studies *studies, const char *key, struct arena *arena,
                           struct entry **ret_entries) {
    size_t room = 0, count = 0;
    for (size_t i = 0; i < studies->row_count; i++)
        room += json_array_size(json_get_array(studies->rows[i].input->estimate, key));
    struct entry *entries = arena_alloc(arena, (room + 1) * sizeof(*entries));
    for (size_t i = 0; i < studies->row_count; i++) {
        const json_t *list = json_get_array(studies->rows[i].input->estimate, key);
        for (size_t k = 0; k < json_array_size(list); k++) {
            const json_t *item = json_array_get(list, k);
            const char *name = json_get_text(item, "name", NULL);
            int64_t blocks = json_get_int(item, "blocks", 0);
            if (!name || blocks <= 0)
                continue;
            struct entry *entry = &entries[count++];
            entry->name = arena_strdup(arena, name);
            entry->block_count = (uint64_t)blocks;
            entry->row = &studies->rows[i];
            entry->amount = amount_from_json(json_get_object(item, "amount"), arena);
            read_figures(json_get_object(item, "figures"), arena, entry->figures);
        }
    }
    *ret_entries = entries;
    return count;
}

static void sum_named(const struct entry *entries, size_t count, const char *name,
                      struct arena *arena, struct studies_subtotal *ret) {
    struct quantity_part *parts = arena_alloc(arena, (count + 1) * sizeof(*parts));
    *ret = (struct studies_subtotal){.name = name};
    for (int figure = 0; figure < STUDIES_FIGURE_COUNT_; figure++) {
        size_t found = 0;
        for (size_t i = 0; i < count; i++)
            if (strcmp(entries[i].name, name) == 0)
                parts[found++] = (struct quantity_part){.name = entries[i].row->label,
                                                        .quantity = entries[i].figures[figure]};
        ret->figures[figure] = add(parts, found, arena);
        ret->study_count = found;
    }
    struct amount *amounts = arena_alloc(arena, (count + 1) * sizeof(*amounts));
    const char **labels = arena_alloc(arena, (count + 1) * sizeof(*labels));
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(entries[i].name, name) != 0)
            continue;
        ret->block_count += entries[i].block_count;
        labels[used] = entries[i].row->label;
        amounts[used++] = entries[i].amount;
    }
    ret->money_count = sum_money(amounts, labels, used, arena, &ret->money, &ret->without_amount);
}

/* Names in the order in which they first appear. */
static size_t subtotals(const struct studies *studies, const char *key, struct arena *arena,
                        struct studies_subtotal **ret) {
    struct entry *entries;
    size_t count = read_entries(studies, key, arena, &entries), found = 0;
    struct studies_subtotal *list = arena_alloc(arena, (count + 1) * sizeof(*list));
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < found && strcmp(list[k].name, entries[i].name) != 0)
            k++;
        if (k == found)
            sum_named(entries, count, entries[i].name, arena, &list[found++]);
    }
    *ret = list;
    return found;
}

void studies_sum(const struct studies_input *inputs, size_t count, struct arena *arena,
                 struct studies *ret_studies) {
    struct studies studies = {.row_count = count};
    studies.rows = arena_alloc(arena, (count + 1) * sizeof(*studies.rows));
    struct quantity_part *parts = arena_alloc(arena, (count + 1) * sizeof(*parts));
    struct amount *amounts = arena_alloc(arena, (count + 1) * sizeof(*amounts));
    const char **labels = arena_alloc(arena, (count + 1) * sizeof(*labels));
    for (size_t i = 0; i < count; i++) {
        studies.rows[i].input = &inputs[i];
        studies.rows[i].label = label_of(&inputs[i]);
        studies.not_current += inputs[i].state != STUDIES_CURRENT;
        studies.rows[i].amount =
            amount_from_json(json_get_object(inputs[i].estimate, "amount"), arena);
        amounts[i] = studies.rows[i].amount;
        labels[i] = studies.rows[i].label;
        read_figures(json_get_object(inputs[i].estimate, "total"), arena, studies.rows[i].figures);
    }
    studies.money_count =
        sum_money(amounts, labels, count, arena, &studies.money, &studies.without_amount);
    for (int figure = 0; figure < STUDIES_FIGURE_COUNT_; figure++) {
        for (size_t i = 0; i < count; i++)
            parts[i] = (struct quantity_part){.name = studies.rows[i].label,
                                              .quantity = studies.rows[i].figures[figure]};
        studies.total[figure] = add(parts, count, arena);
    }
    studies.by_extent_count = subtotals(&studies, "by_extent", arena, &studies.by_extent);
    studies.by_recurrence_count =
        subtotals(&studies, "by_recurrence", arena, &studies.by_recurrence);
    *ret_studies = studies;
}
