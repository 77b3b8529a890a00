/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The review as JSON, probelauf.review/1: everything of struct review, names never translated. */
#include "report/review.h"

#include "report/calibration.h"
#include "report/run-json.h"
#include "report/study-json.h"

static json_t *answer_json(const struct review_answer *answer) {
    if (!answer)
        return json_null();
    json_t *json = json_object();
    json_put_text(json, "cause", review_cause_name(answer->cause));
    json_put_text(json, "why", answer->why);
    json_put_text(json, "who", answer->who);
    run_json_put_utc(json, "when_utc", answer->utc_ns);
    return json;
}

static json_t *line_json(const struct review_line *line) {
    json_t *json = json_object();
    json_put_text(json, "part", line->name);
    json_put_text(json, "quantity", line->quantity);
    run_json_put_quantity(json, "planned", &line->planned);
    run_json_put_quantity(json, "actual", &line->actual);
    run_json_put_quantity(json, "difference", &line->difference);
    json_put_text(json, "interval", review_hit_name(line->hit));
    json_put_bool(json, "deviates", review_is_worth(line));
    json_put_text(json, "cause", review_cause_name(line->cause));
    json_put_text(json, "why", line->why);
    json_put_text(json, "question", line->question);
    json_put(json, "answer", answer_json(line->answer));
    return json;
}

static json_t *repeats_json(const struct review_block *block) {
    json_t *list = json_array();
    for (size_t i = 0; i < block->repeat_count; i++) {
        json_t *json = json_object();
        json_put_text(json, "run", block->repeats[i].run->run->id);
        json_put_text(json, "why", block->repeats[i].why);
        json_put_text(json, "command", block->repeats[i].command);
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *next_json(const struct review_block *block) {
    json_t *list = json_array();
    for (size_t i = 0; i < block->next_count; i++) {
        const struct review_next *next = &block->next[i];
        json_t *json = json_object();
        json_put_text(json, "block", next->block->id);
        json_put_text(json, "part", next->part);
        json_put_bool(json, "changed", next->changed);
        run_json_put_quantity(json, "before", &next->before);
        run_json_put_quantity(json, "after", &next->after);
        json_put_text(json, "why", next->why);
        json_array_append_new(list, json);
    }
    return list;
}

static json_t *block_json(const struct review_block *block) {
    json_t *json = json_object(), *lines = json_array();
    json_put_text(json, "id", block->block->block->id);
    json_put_bool(json, "finished", block->finished);
    json_put_text(json, "estimate", block->kept);
    json_put_text(json, "estimate_why", block->kept_why);
    run_json_put_utc(json, "estimate_utc", block->kept_utc_ns);
    json_put_text(json, "outdated", block->outdated);
    json_put_text(json, "skipped", block->skipped);
    json_put(json, "made", study_json_count(block->kept != NULL, block->made));
    json_put(json, "planned", study_json_count(block->kept != NULL, block->planned));
    for (size_t i = 0; i < block->line_count; i++)
        json_array_append_new(lines, line_json(&block->lines[i]));
    json_put(json, "lines", lines);
    json_put(json, "checks", study_json_texts(block->checks, block->check_count));
    run_json_put_quantity(json, "repeated_preparation", &block->repeated_preparation);
    json_put(json, "repeated_count",
             study_json_count(block->skipped == NULL, block->repeated_count));
    json_put(json, "repeats", repeats_json(block));
    json_put(json, "next", next_json(block));
    return json;
}

json_t *report_review_json(const struct review *review) {
    json_t *json = json_object(), *blocks = json_array(), *hits = json_object();
    json_put_text(json, "schema", "probelauf.review/1");
    json_put(json, "study", study_json_study(review->study));
    json_put_text(json, "estimate", review->name);
    for (size_t i = 0; i < review->block_count; i++)
        json_array_append_new(blocks, block_json(&review->blocks[i]));
    json_put(json, "blocks", blocks);
    json_put(hits, "hit", study_json_count(true, review->hits.hit));
    json_put(hits, "missed", study_json_count(true, review->hits.missed));
    json_put(hits, "without_interval", study_json_count(true, review->hits.without));
    json_put(json, "intervals", hits);
    json_put(json, "calibration", report_calibration_json(review->calibration));
    return json;
}
