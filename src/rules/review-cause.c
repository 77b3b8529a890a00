/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why something took longer or shorter than planned (F2). A cause is named only where the records
 * show it. That the work itself takes longer is said last, when data exclude another input, data
 * access, loading, storage and failures; whatever data cannot tell is asked.
 */
#include "rules/review-parts.h"

#include "base/mem.h"
#include "base/msg.h"

#include <math.h>
#include <string.h>

#define MOST 0.5 /* of the deviation: what carries it */
#define FEW  0.1 /* of it: what is excluded */

/* One figure on both sides, as it bears on a deviation. */
struct bearing {
    bool is_known;
    double difference; /* actual - planned */
    double planned, actual;
};

static struct bearing bearing_of(const struct review_work *work, review_metric get, int which,
                                 const char *unit) {
    struct quantity planned, actual;
    review_both(work, get, which, unit, &planned, &actual);
    struct bearing b = {.is_known = quantity_is_known(&planned) && quantity_is_known(&actual)};
    if (b.is_known) {
        b.planned = planned.value;
        b.actual = actual.value;
        b.difference = actual.value - planned.value;
    }
    return b;
}

/* The deviation has the same direction, and most of it lies there. */
static bool carries(const struct bearing *b, double deviation) {
    return b->is_known && b->difference * deviation > 0.0 &&
           fabs(b->difference) >= MOST * fabs(deviation);
}

/* It is known, and plays no part to speak of. */
static bool is_excluded(const struct bearing *b, double deviation) {
    return b->is_known &&
           (b->difference * deviation <= 0.0 || fabs(b->difference) <= FEW * fabs(deviation));
}

static void say(struct review_line *line, enum review_cause cause, const char *why,
                const char *question) {
    line->cause = cause;
    line->why = why;
    line->question = question;
}

/* What was not planned at all is longer than planned. */
static bool is_longer(const struct review_line *line) {
    return quantity_is_known(&line->difference) ? line->difference.value > 0.0
                                                : line->actual.value > 0.0;
}

static const char *seconds_text(const struct review_work *work, enum quantity_state state,
                                double seconds) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    const struct quantity q = {.state = state, .value = fabs(seconds), .unit = UNIT_SECOND};
    quantity_format(&q, (struct quantity_style){.mark = true}, &text);
    return arena_strdup(work->arena, strbuf_str(&text));
}

/* ---- what stands before all other causes ---- */

/* Another input or setting explains any difference: nothing else is looked for. */
static bool explain_by_input(const struct review_work *work, struct review_line *line) {
    const char *differs = review_what_differs(work, false);
    if (!differs)
        return false;
    say(line, REVIEW_OTHER_INPUT,
        arena_printf(work->arena, _("these runs had something else before them: %s"), differs),
        NULL);
    return true;
}

/* Shorter because something was not done is no gain. */
static bool explain_by_steps(const struct review_work *work, struct review_line *line) {
    const char *missing = is_longer(line) ? NULL : review_missing_steps(work);
    if (!missing)
        return false;
    say(line, REVIEW_FEWER_STEPS, missing, NULL);
    return true;
}

/* What is looked at before a part of the runs itself. */
static bool explain_first(const struct review_work *work, struct review_line *line) {
    return explain_by_input(work, line) || explain_by_steps(work, line);
}

/* ---- loading ---- */

static size_t count_weights(const struct review_work *work, bool since, enum run_weights weights) {
    size_t count = 0;
    for (size_t i = 0; i < work->pair_count; i++) {
        const struct review_pair *pair = &work->pairs[i];
        for (size_t r = 0;
             pair->since_count > 0 && r < (since ? pair->since_count : pair->source_count); r++)
            count += (since ? pair->since[r]->run : pair->sources[r])->cache.weights == weights;
    }
    return count;
}

static void explain_load(const struct review_work *work, struct review_line *line) {
    size_t cold_then = count_weights(work, false, RUN_WEIGHTS_COLD);
    size_t cold = count_weights(work, true, RUN_WEIGHTS_COLD);
    size_t warm_then = count_weights(work, false, RUN_WEIGHTS_WARM);
    size_t warm = count_weights(work, true, RUN_WEIGHTS_WARM);
    struct bearing read = bearing_of(work, review_metric_loaded, 0, UNIT_BYTE);
    if (explain_first(work, line))
        return;
    if (is_longer(line) && cold > 0 && cold_then == 0 && warm_then > 0)
        say(line, REVIEW_LOADING,
            arena_printf(work->arena,
                         _("loading itself: the weights came from storage in %zu of these runs, "
                           "and from memory in those that were planned from"),
                         cold),
            NULL);
    else if (!is_longer(line) && warm > 0 && warm_then == 0 && cold_then > 0)
        say(line, REVIEW_LOADING,
            arena_printf(work->arena,
                         _("loading itself: the weights came from memory in %zu of these runs, and "
                           "from storage in those that were planned from"),
                         warm),
            NULL);
    else if (read.is_known && read.difference * line->difference.value > 0.0)
        say(line, REVIEW_LOADING,
            _("loading itself, by its phase: another amount was read from storage during it"),
            NULL);
    else
        say(line, REVIEW_LOADING,
            _("loading itself, by its phase; whether the weights came from memory or storage was "
              "not told"),
            NULL);
}

/* ---- waiting for data ---- */

/* Seconds in which the accelerator waited for disk or network while it computed. */
static struct bearing waiting(const struct review_work *work) {
    struct bearing disk = bearing_of(work, review_metric_idle, GPU_IDLE_DISK_WAIT, UNIT_SECOND);
    struct bearing network = bearing_of(work, review_metric_idle, GPU_IDLE_NETWORK, UNIT_SECOND);
    return (struct bearing){.is_known = disk.is_known && network.is_known,
                            .difference = disk.difference + network.difference,
                            .planned = disk.planned + network.planned,
                            .actual = disk.actual + network.actual};
}

/* Without an accelerator: who waits does not use the processor. Share of the time that processors
 * were used, now over then; 0: not known. */
static double busy_ratio(const struct review_work *work) {
    struct bearing cpu = bearing_of(work, review_metric_cpu, 0, UNIT_CORE_SECOND);
    struct bearing wall = bearing_of(work, review_metric_wall, 0, UNIT_SECOND);
    if (!cpu.is_known || !wall.is_known || !(cpu.planned > 0.0) || !(wall.planned > 0.0) ||
        !(wall.actual > 0.0))
        return 0.0;
    return (cpu.actual / wall.actual) / (cpu.planned / wall.planned);
}

static bool is_as_busy(const struct review_work *work) {
    return busy_ratio(work) >= 1.0 - FEW;
}

static bool is_less_busy(const struct review_work *work) {
    double ratio = busy_ratio(work);
    return ratio > 0.0 && ratio < 1.0 - FEW;
}

static bool has_gpu(const struct review_work *work) {
    for (size_t i = 0; i < work->pair_count; i++)
        for (size_t r = 0; r < work->pairs[i].since_count; r++) {
            const struct run *run = work->pairs[i].since[r]->run;
            for (size_t g = 0; g < run->gpu_count; g++)
                if (run->gpus[g].uuid && run_gpu_counts(run, &run->gpus[g]))
                    return true;
        }
    return false;
}

/* ---- computing ---- */

static const struct run_incident *survived(const struct review_work *work) {
    for (size_t i = 0; i < work->pair_count; i++)
        for (size_t r = 0; r < work->pairs[i].since_count; r++) {
            const struct run *run = work->pairs[i].since[r]->run;
            if (run->incident_count > 0)
                return &run->incidents[0];
        }
    return NULL;
}

static bool has_others(const struct review_work *work) {
    for (size_t i = 0; i < work->pair_count; i++)
        for (size_t r = 0; r < work->pairs[i].since_count; r++) {
            const struct run *run = work->pairs[i].since[r]->run;
            for (size_t g = 0; g < run->gpu_count; g++)
                if (run_gpu_counts(run, &run->gpus[g]) && run->gpus[g].others == RUN_YES)
                    return true;
        }
    return false;
}

/* What keeps computing from being named; NULL: everything else is excluded by data. */
static const char *why_not_computing(const struct review_work *work, double deviation) {
    struct bearing load = bearing_of(work, review_metric_phase, PHASE_LOAD, UNIT_SECOND);
    struct bearing write = bearing_of(work, review_metric_phase, PHASE_WRITE, UNIT_SECOND);
    struct bearing wait = waiting(work);
    const struct run_incident *incident = survived(work);

    if (incident)
        return arena_printf(work->arena, _("failures are not excluded: a run survived '%s'"),
                            incident->name);
    if (!is_excluded(&load, deviation))
        return load.is_known
                   ? _("loading is not excluded: it differs, too")
                   : _("loading is not excluded: it is not told apart in all of these runs");
    if (wait.is_known && !is_excluded(&wait, deviation))
        return _("data access is not excluded: the wait for disk or network differs, too");
    if (!wait.is_known && (has_gpu(work) || !is_as_busy(work)))
        return has_gpu(work)
                   ? _("data access is not excluded: how long the GPU waited for disk or network "
                       "was not seen")
                   : _("data access is not excluded: the processors were used for another share of "
                       "the time, or it was not seen");
    if (write.is_known && !is_excluded(&write, deviation))
        return _("storage is not excluded: writing differs, too");
    if (!write.is_known && !wait.is_known)
        return _("storage is not excluded: writing is not told apart in all of these runs");
    return has_others(work) ? _("other processes used the GPU, too") : NULL;
}

/* More came from storage than in the runs that were planned from: a tenth and a megabyte. */
static bool read_more(const struct review_work *work) {
    struct bearing read = bearing_of(work, review_metric_read, 0, UNIT_BYTE);
    return read.is_known && read.difference > FEW * read.planned && read.difference > 1e6;
}

static void explain_compute(const struct review_work *work, struct review_line *line) {
    double deviation = line->difference.value;
    if (explain_first(work, line))
        return;
    struct bearing wait = waiting(work);
    if (carries(&wait, deviation)) {
        say(line, REVIEW_DATA_ACCESS,
            arena_printf(work->arena,
                         is_longer(line)
                             ? _("it waited %s more for disk or network while it computed")
                             : _("it waited %s less for disk or network while it computed"),
                         seconds_text(work, QUANTITY_ESTIMATED, wait.difference)),
            NULL);
        return;
    }
    if (is_longer(line) && !wait.is_known && !has_gpu(work) && read_more(work) &&
        is_less_busy(work)) {
        say(line, REVIEW_DATA_ACCESS,
            _("the processors were used for a smaller share of the time, and more was read from "
              "storage than in the runs that were planned from"),
            NULL);
        return;
    }
    const char *why = why_not_computing(work, deviation);
    if (why) {
        say(line, REVIEW_OPEN, why,
            _("What was different while these runs computed: the data, the storage, other users of "
              "the machine?"));
        return;
    }
    say(line, REVIEW_COMPUTING,
        is_longer(line) ? _("computing itself took longer: input, data access, loading, storage "
                            "and failures are excluded by the records")
                        : _("computing itself was shorter: input, data access, loading, storage "
                            "and failures are excluded by the records"),
        NULL);
}

/* ---- preprocessing, writing, the rest ---- */

static void explain_preprocess(const struct review_work *work, struct review_line *line) {
    if (explain_first(work, line))
        return;
    if (is_longer(line) && read_more(work))
        say(line, REVIEW_DATA_ACCESS,
            _("more was read from storage than in the runs that were planned from: the inputs were "
              "not in memory"),
            NULL);
    else
        say(line, REVIEW_OPEN, _("the inputs are the same, and no wait for them was seen"),
            _("What was different while the inputs were prepared: where they lay, how many "
              "processes prepared them?"));
}

static void explain_write(const struct review_work *work, struct review_line *line) {
    if (explain_first(work, line))
        return;
    say(line, REVIEW_STORAGE,
        is_longer(line) ? _("writing the results took longer, by its phase")
                        : _("writing the results was shorter, by its phase"),
        NULL);
}

static void explain_rest(const struct review_work *work, struct review_line *line) {
    (void)work;
    say(line, REVIEW_OPEN, _("it lies in time that no phase explains"),
        _("What did these runs do in that time? 'probelauf mark' names the phases of the next "
          "ones."));
}

/* ---- runs as a whole ---- */

static const struct review_line *carrying_phase(const struct review_work *work, double deviation) {
    const struct review_line *most = NULL;
    for (size_t i = 0; i < work->ret->line_count; i++) {
        const struct review_line *line = &work->ret->lines[i];
        struct bearing b = {.is_known = quantity_is_known(&line->difference),
                            .difference = line->difference.value};
        if (strncmp(line->name, "runs/", strlen("runs/")) != 0 || !carries(&b, deviation))
            continue;
        if (!most || fabs(line->difference.value) > fabs(most->difference.value))
            most = line;
    }
    return most;
}

static void explain_runs(const struct review_work *work, struct review_line *line) {
    if (explain_first(work, line))
        return;
    const struct review_line *phase = carrying_phase(work, line->difference.value);
    if (!phase) {
        say(line, REVIEW_OPEN,
            _("no phase of these runs holds most of the difference, as far as "
              "phases are told apart on both sides"),
            _("Which part of the runs took another time? 'probelauf mark' tells the phases "
              "apart."));
        return;
    }
    say(line, phase->cause,
        arena_printf(work->arena, _("it lies in '%s': %s"), phase->label,
                     phase->why ? phase->why : ""),
        phase->question);
}

/* ---- the other components ---- */

struct failures {
    size_t count, dependency, storage;
    size_t stopped;    /* by the user or the budget: no failures */
    const char *first; /* cause of the newest */
};

static struct failures find_failures(const struct review_work *work) {
    struct failures found = {0};
    for (size_t i = 0; i < work->attempt_count; i++) {
        const struct run *run = work->attempts[i]->run;
        if (outcome_is_stopped(run->outcome))
            found.stopped++;
        if (run->outcome == OUTCOME_OK || outcome_is_stopped(run->outcome))
            continue;
        if (!found.first)
            found.first =
                run->incident_count > 0 ? run->incidents[0].name : outcome_name(run->outcome);
        found.count++;
        found.dependency += run->outcome == OUTCOME_DEPENDENCY;
        found.storage += run->outcome == OUTCOME_DISK_FULL;
    }
    return found;
}

static void explain_retries(const struct review_work *work, struct review_line *line) {
    struct failures found = find_failures(work);
    if (!is_longer(line)) {
        say(line, REVIEW_NONE, _("fewer attempts failed than were reckoned with"), NULL);
        return;
    }
    if (found.count == 0 && found.stopped > 0) {
        say(line, REVIEW_NONE,
            _("the time is of attempts that the user or the budget stopped; nothing failed"), NULL);
        return;
    }
    if (found.count == 0) {
        say(line, REVIEW_OPEN, _("the time is of runs that were declared invalid"),
            _("Why were they taken out?"));
        return;
    }
    enum review_cause cause = 2 * found.dependency > found.count ? REVIEW_DEPENDENCY
                              : 2 * found.storage > found.count  ? REVIEW_STORAGE
                                                                 : REVIEW_FAILURES;
    say(line, cause,
        arena_printf(work->arena,
                     msg_plural((unsigned long)found.count,
                                "%zu attempt failed since; the newest: %s",
                                "%zu attempts failed since; the newest: %s"),
                     found.count, found.first),
        NULL);
}

static size_t count_steps(const struct review_work *work, enum component k) {
    size_t count = 0;
    for (size_t i = 0; i < work->attempt_count; i++)
        count += work->attempts[i]->step && work->attempts[i]->step->component == k &&
                 !review_is_lost(work->attempts[i]);
    return count;
}

static void explain_prepare(const struct review_work *work, struct review_line *line) {
    struct failures found = find_failures(work);
    size_t steps = count_steps(work, COMPONENT_PREPARE);
    if (!is_longer(line))
        say(line, REVIEW_OPEN, _("less of it was recorded than was planned"),
            _("Was something left out, or was the environment still prepared?"));
    else if (found.dependency > 0)
        say(line, REVIEW_DEPENDENCY,
            arena_printf(work->arena,
                         msg_plural((unsigned long)found.dependency,
                                    "%zu attempt since ended with a dependency error",
                                    "%zu attempts since ended with a dependency error"),
                         found.dependency),
            NULL);
    else if (steps > 1)
        say(line, REVIEW_PREPARATION,
            arena_printf(work->arena,
                         _("preparation was underestimated: steps of it were made %zu times"),
                         steps),
            NULL);
    else
        say(line, REVIEW_PREPARATION,
            _("preparation was underestimated: no dependency error was seen, and the recorded time "
              "is longer than planned"),
            NULL);
}

static void explain_data(const struct review_work *work, struct review_line *line) {
    if (explain_by_input(work, line))
        return;
    if (is_longer(line))
        say(line, REVIEW_DATA_ACCESS,
            _("data access: fetching and preparing the same data took longer"), NULL);
    else
        say(line, REVIEW_OPEN, _("less of it was recorded than was planned"),
            _("Was the data there already, or was something left out?"));
}

static void explain_idle(const struct review_work *work, struct review_line *line) {
    double by_reason[SESSION_REASON_COUNT_];
    int most = SESSION_UNKNOWN;
    review_idle_reasons(work, by_reason);
    if (!is_longer(line)) {
        say(line, REVIEW_NONE, _("the machine waited less than in the sessions before"), NULL);
        return;
    }
    for (int i = 0; i < SESSION_REASON_COUNT_; i++)
        if (by_reason[i] > by_reason[most])
            most = i;
    const char *why =
        arena_printf(work->arena, _("most of it, %s, was waited with the reason '%s'"),
                     seconds_text(work, QUANTITY_MEASURED, by_reason[most]),
                     session_reason_name((enum session_reason)most));
    switch ((enum session_reason)most) {
    case SESSION_APPROVAL:
    case SESSION_DECISION:
    case SESSION_WAITING_FOR_AUTHORS:
        say(line, REVIEW_WAITING, why, NULL);
        return;
    case SESSION_DATA_MISSING:
    case SESSION_FILE_MISSING:
        say(line, REVIEW_DATA_ACCESS, why, NULL);
        return;
    case SESSION_CORRECTION:
    case SESSION_FAILURE_HANDLING:
        say(line, REVIEW_FAILURES, why, NULL);
        return;
    case SESSION_MANUAL_ACTION:
    case SESSION_PREPARING_NEXT:
        say(line, REVIEW_PREPARATION, why, NULL);
        return;
    case SESSION_UNKNOWN:
    case SESSION_REASON_COUNT_:
        break;
    }
    say(line, REVIEW_OPEN, _("nobody said what most of it was waited for"),
        _("What was waited for? 'probelauf session note --reason REASON' says it."));
}

static void explain_fixing(const struct review_work *work, struct review_line *line) {
    struct failures found = find_failures(work);
    if (is_longer(line) && found.count > 0)
        say(line, REVIEW_FAILURES,
            arena_printf(work->arena, _("attempts failed since; the newest: %s"), found.first),
            NULL);
    else
        say(line, REVIEW_OPEN, _("no attempt failed since that it would go with"),
            _("What had to be fixed, or could be left out?"));
}

static void explain_asking(const struct review_work *work, struct review_line *line) {
    if (explain_by_input(work, line))
        return;
    say(line, REVIEW_OPEN, _("the records do not tell why"),
        is_longer(line) ? _("What took longer?") : _("Was something left out?"));
}

/* ---- memory ---- */

static void explain_memory(const struct review_work *work, struct review_line *line) {
    const char *differs = review_what_differs(work, false);
    if (differs)
        say(line, REVIEW_OTHER_INPUT,
            arena_printf(work->arena, _("inputs, batching or software differ: %s"), differs), NULL);
    else
        say(line, REVIEW_OPEN, _("inputs, batching and software are the same in the records"),
            _("Was anything else changed that needs memory: a setting of the program, of its "
              "allocator?"));
}

/* ---- which is for which ---- */

static const struct {
    const char *name;
    void (*explain)(const struct review_work *work, struct review_line *line);
    bool unplanned; /* also where nothing of it was planned: it happened, and has a cause */
} explainers[] = {
    {"runs/load", explain_load, false},
    {"runs/preprocess", explain_preprocess, false},
    {"runs/compute", explain_compute, false},
    {"runs/write", explain_write, false},
    {"runs/unattributed", explain_rest, false},
    {"runs", explain_runs, false}, /* after its phases */
    {"prepare", explain_prepare, true},
    {"data", explain_data, false},
    {"transfer", explain_data, false},
    {"retries", explain_retries, true},
    {"retries/count", explain_retries, true},
    {"fixing", explain_fixing, true},
    {"checking", explain_asking, false},
    {"teardown", explain_asking, false},
    {"idle", explain_idle, true},
    {"memory/host", explain_memory, false},
    {"memory/gpu", explain_memory, false},
};

const struct review_answer *review_answer_find(const struct review_input *input, const char *block,
                                               const char *part) {
    const struct review_answer *last = NULL;
    for (size_t i = 0; i < input->answer_count; i++) {
        const struct review_answer *answer = &input->answers[i];
        if (strcmp(answer->block, block) == 0 && strcmp(answer->part, part) == 0 &&
            (!last || answer->utc_ns >= last->utc_ns))
            last = answer;
    }
    return last;
}

/* What people say closes what data leave open; it never overrules them. */
static void take_answer(const struct review_work *work, struct review_line *line) {
    const struct review_answer *answer =
        review_answer_find(work->input, work->block->block->id, line->name);
    line->answer = answer && answer->utc_ns >= work->since_utc_ns ? answer : NULL;
    if (!line->answer || line->cause != REVIEW_OPEN)
        return;
    line->cause = line->answer->cause;
    line->question = NULL;
}

static void say_nothing_to_explain(struct review_line *line) {
    if (!quantity_is_known(&line->difference)) {
        say(line, REVIEW_OPEN, line->difference.detail, NULL);
        return;
    }
    say(line, REVIEW_NONE,
        line->hit == REVIEW_HIT ? _("within the planned interval")
                                : _("no deviation that would need a cause"),
        NULL);
}

static bool is_unplanned(const struct review_line *line) {
    return !quantity_is_known(&line->planned) && quantity_is_known(&line->actual) &&
           line->actual.value >= 1.0; /* a second, or one attempt */
}

/* The sum has the causes of its parts. */
static void explain_sum(struct review_line *line) {
    say(line, REVIEW_OPEN, _("it has the causes of the parts above"), NULL);
}

void review_causes(struct review_work *work) {
    for (size_t i = 0; i < ARRAY_LENGTH(explainers); i++) {
        struct review_line *line = review_line_find(work->ret, explainers[i].name);
        if (!line)
            continue;
        if (review_is_worth(line) || (explainers[i].unplanned && is_unplanned(line)))
            explainers[i].explain(work, line);
        else
            say_nothing_to_explain(line);
        take_answer(work, line);
    }
    for (size_t i = 0; i < work->ret->line_count; i++) {
        struct review_line *line = &work->ret->lines[i];
        if (strcmp(line->name, "reserved") == 0 && review_is_worth(line))
            explain_sum(line);
        else if (strcmp(line->name, "reserved") == 0 || strcmp(line->name, "uncounted") == 0)
            say_nothing_to_explain(line);
    }
}
