/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The review of a study: for each block the kept estimate that it is held against, then lines,
 * causes, checks, repeats and consequences. Estimates of other environments are never looked at.
 */
#include "rules/review.h"

#include "base/mem.h"
#include "base/msg.h"
#include "rules/calibration.h"
#include "rules/review-parts.h"

#include <string.h>

static const char *const cause_names[REVIEW_CAUSE_COUNT_] = {
    [REVIEW_OPEN] = "open",
    [REVIEW_NONE] = "none",
    [REVIEW_PREPARATION] = "preparation",
    [REVIEW_DEPENDENCY] = "dependency",
    [REVIEW_DATA_ACCESS] = "data-access",
    [REVIEW_LOADING] = "loading",
    [REVIEW_STORAGE] = "storage",
    [REVIEW_OTHER_INPUT] = "other-input",
    [REVIEW_WAITING] = "waiting",
    [REVIEW_FAILURES] = "failures",
    [REVIEW_COMPUTING] = "computing",
    [REVIEW_FEWER_STEPS] = "fewer-steps",
};

const char *review_cause_name(enum review_cause cause) {
    return cause_names[cause];
}

bool review_cause_from_name(const char *name, enum review_cause *ret_cause) {
    for (int i = 0; i < REVIEW_CAUSE_COUNT_; i++)
        if (strcmp(cause_names[i], name) == 0) {
            *ret_cause = (enum review_cause)i;
            return true;
        }
    return false;
}

const char *review_hit_name(enum review_hit hit) {
    static const char *const names[REVIEW_HIT_COUNT_] = {
        [REVIEW_CANNOT_TELL] = "cannot-tell",
        [REVIEW_HIT] = "hit",
        [REVIEW_MISS] = "miss",
        [REVIEW_NO_INTERVAL] = "no-interval",
    };
    return names[hit];
}

/* ---- which kept estimate ---- */

/* Start of the first run of the block that counts, of the purpose work alone or of any. */
static int64_t first_counting(const struct study *study, const struct study_block *block,
                              bool only_work) {
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < study->run_count; i++) {
        const struct study_run *seen = &study->runs[i];
        const char *purpose = json_get_text(seen->run->start, "purpose", "trial");
        if (seen->block != block->block || seen->evidence.level != EVIDENCE_MEASURED ||
            (only_work && strcmp(purpose, "work") != 0) || seen->run->started_utc_ns >= first)
            continue;
        first = seen->run->started_utc_ns;
    }
    return first;
}

static bool knows_runs(const struct kept_block *kept) {
    return quantity_is_known(&kept->components[COMPONENT_RUNS].time);
}

struct choice {
    const struct review_input *input;
    const struct study_block *block;
    struct arena *arena;
    const char *environment;
};

static bool read_usable(const struct choice *choice, size_t i, struct kept_block *ret) {
    const struct review_kept *kept = &choice->input->kept[i];
    return kept->estimate && review_kept_is_of(kept, choice->environment) &&
           review_kept_read(kept, choice->block->block->id, choice->arena, ret);
}

/* The newest kept before then. Kept ones stand oldest first. */
static bool newest_before(const struct choice *choice, int64_t before_utc_ns,
                          struct kept_block *ret) {
    for (size_t i = choice->input->kept_count; i-- > 0;)
        if (choice->input->kept[i].utc_ns < before_utc_ns && read_usable(choice, i, ret))
            return true;
    return false;
}

/* The first that knew how long the block's runs take. */
static bool oldest_that_knows(const struct choice *choice, struct kept_block *ret) {
    for (size_t i = 0; i < choice->input->kept_count; i++)
        if (read_usable(choice, i, ret) && knows_runs(ret))
            return true;
    return false;
}

static bool by_name(const struct choice *choice, struct kept_block *ret) {
    for (size_t i = 0; i < choice->input->kept_count; i++)
        if (strcmp(choice->input->kept[i].name, choice->input->name) == 0)
            return read_usable(choice, i, ret);
    return false;
}

/* A trial counts, too: before it no estimate knows the block's runs. So what was kept before the
 * first run of the purpose work is meant, else the first that rests on the trial. */
static bool choose(const struct choice *choice, struct kept_block *ret, const char **ret_why) {
    const struct study *study = choice->input->study;
    if (choice->input->name) {
        *ret_why = _("it was named");
        return by_name(choice, ret);
    }
    int64_t work = first_counting(study, choice->block, true);
    *ret_why = _("the newest that was kept before its work began");
    if (work != INT64_MAX && newest_before(choice, work, ret))
        return true;
    *ret_why = _("the first that knew how long its runs take");
    if (oldest_that_knows(choice, ret))
        return true;
    *ret_why = _("the newest that was kept before its first run");
    return newest_before(choice, first_counting(study, choice->block, false), ret);
}

static const char *why_skipped(const struct review_input *input, const struct study_block *block,
                               struct arena *arena) {
    if (input->name)
        return arena_printf(arena,
                            _("the kept estimate '%s' holds nothing of it that was still to do"),
                            input->name);
    return block->state == STUDY_PLANNED
               ? _("no run of it was made, and no estimate of it was kept")
               : _("no estimate of it was kept before its work: 'probelauf estimate --freeze NAME' "
                   "keeps the one of now for what is still to come");
}

bool review_choose(const struct review_input *input, const struct study_block *block,
                   struct arena *arena, struct kept_block *ret, const char **ret_why) {
    const struct plan_environment *environment = input->study->input->environment;
    const struct choice choice = {.input = input,
                                  .block = block,
                                  .arena = arena,
                                  .environment = environment ? environment->id : NULL};
    return choose(&choice, ret, ret_why);
}

/* ---- a block ---- */

static bool is_finished(const struct study_block *block) {
    return block->state == STUDY_DONE;
}

static void make_block(const struct review_input *input, const struct study_block *block,
                       struct arena *arena, struct review_block *ret) {
    struct review_work work = {
        .input = input, .study = input->study, .arena = arena, .block = block, .ret = ret};
    *ret = (struct review_block){.block = block,
                                 .finished = is_finished(block),
                                 .repeated_preparation =
                                     quantity_open(UNIT_SECOND, QUANTITY_NO_EVIDENCE, NULL)};
    if (!review_choose(input, block, arena, &work.kept, &ret->kept_why)) {
        ret->kept_why = NULL;
        ret->skipped = why_skipped(input, block, arena);
        return;
    }
    ret->kept = work.kept.kept->name;
    ret->kept_utc_ns = work.kept.kept->utc_ns;
    ret->outdated = work.kept.kept->outdated;
    work.since_utc_ns = work.kept.kept->utc_ns;
    review_find_pairs(&work);
    ret->made = work.made;
    ret->planned = work.kept.has_remaining ? work.kept.remaining : work.planned;
    if (work.attempt_count == 0) {
        ret->skipped =
            arena_printf(arena, _("no run of it was made since '%s' was kept"), ret->kept);
        return;
    }
    review_lines(&work);
    review_causes(&work);
    review_checks(&work);
    review_repeats(&work);
    review_consequences(&work);
}

/* Components alone: phases and sums would count the same time again. */
static void count_hits(const struct review_block *block, struct review_hits *hits) {
    enum component k;
    for (size_t i = 0; i < block->line_count && block->finished; i++) {
        const struct review_line *line = &block->lines[i];
        if (!component_from_name(line->name, &k))
            continue;
        switch (line->hit) {
        case REVIEW_HIT:
            hits->hit++;
            break;
        case REVIEW_MISS:
            hits->missed++;
            break;
        case REVIEW_NO_INTERVAL:
            hits->without++;
            break;
        case REVIEW_CANNOT_TELL:
        case REVIEW_HIT_COUNT_:
            break;
        }
    }
}

static const struct review_kept *find_kept(const struct review_input *input,
                                           const struct review_block *block) {
    for (size_t i = 0; i < input->kept_count && block->kept; i++)
        if (strcmp(input->kept[i].name, block->kept) == 0)
            return &input->kept[i];
    return NULL;
}

/* Held against another estimate than its own the same work would be an outcome a second time. */
static void add_outcome(const struct review_input *input, const struct review_block *block,
                        struct arena *arena, struct review *ret) {
    if (!input->name && calibration_of_block(input->study, block, find_kept(input, block), arena,
                                             &ret->outcomes[ret->outcome_count]))
        ret->outcome_count++;
}

void review_make(const struct review_input *input, struct arena *arena, struct review *ret) {
    const struct study *study = input->study;
    *ret = (struct review){
        .study = study,
        .blocks = arena_alloc(arena, (study->block_count + 1) * sizeof(struct review_block)),
        .outcomes =
            arena_alloc(arena, (study->block_count + 1) * sizeof(struct calibration_record))};
    for (size_t i = 0; i < input->kept_count && input->name; i++)
        if (strcmp(input->kept[i].name, input->name) == 0) {
            ret->name = input->kept[i].name;
            ret->utc_ns = input->kept[i].utc_ns;
            ret->outdated = input->kept[i].outdated;
        }
    for (size_t i = 0; i < study->block_count; i++) {
        struct review_block block;
        make_block(input, &study->blocks[i], arena, &block);
        count_hits(&block, &ret->hits); /* over all blocks, whichever is shown */
        add_outcome(input, &block, arena, ret);
        if (!input->block || strcmp(study->blocks[i].block->id, input->block) == 0)
            ret->blocks[ret->block_count++] = block;
    }
    review_attempts(input, arena, ret);
}
