/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of lines, and how they are read. Texts as the programs print them (shared RECORDS,
 * A2.8). Literal texts only, since every line of every run comes by here; must not take a word in
 * somebody's prose for a begin, so each text is long, or followed by what only the program writes.
 */
#include "text/phase-patterns.h"

#include "base/mem.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* "bar": begins below 100 %, ends there; the number stands directly behind the text. `more` of an
 * "end" or "told": behind it stands how long it took. */
const struct phase_pattern phase_patterns[] = {
    {"transformers", "load", "bar", "Loading checkpoint shards:", NULL},
    {"transformers", "load", "bar", "Loading weights:", NULL},
    {"diffusers", "load", "bar", "Loading pipeline components...:", NULL},
    {"vllm", "load", "begin", "Loading safetensors checkpoint shards:", "% Completed"},
    {"vllm", "load", "begin", "Loading pt checkpoint shards:", "% Completed"},
    {"vllm", "load", "begin", "Starting to load model ", NULL},
    {"vllm", "load", "end", "Model loading took ", " and "},
    {"vllm", "load", "end", "Loading model weights took ", NULL},
    {"vllm", "compute", "bar", "Processed prompts:", NULL},
    {"sglang", "load", "begin", "Load weight begin.", NULL},
    {"sglang", "load", "end", "Load weight end.", NULL},
    {"llama.cpp", "load", "tentative", "llama_model_loader: loaded meta data with ", NULL},
    {"llama.cpp", "load", "tentative", "llama_model_load_from_file_impl: ", NULL},
    {"llama.cpp", "load", "tentative", "llama_load_model_from_file: ", NULL},
    {"llama.cpp", "load", "told", "load time =", "load time ="},
};
const size_t phase_pattern_count = ARRAY_LENGTH(phase_patterns);

#define STATES_MAX 256u  /* of ranks and stacks */
#define EVENTS_MAX 2000u /* of one stream; then nothing more is told */

struct state {
    const char *stack, *phase;
    char rank[sizeof((struct phase_line *)NULL)->rank];
    enum phase_line_event last;
};

struct phase_lines {
    struct state states[STATES_MAX];
    size_t count, events;
};

struct phase_lines *phase_lines_new(void) {
    return mem_alloc(sizeof(struct phase_lines));
}

struct phase_lines *phase_lines_free(struct phase_lines *lines) {
    mem_free_ptr(&lines);
    return NULL;
}

/* ---- cheap refusals ---- */

bool phase_lines_may_have(const char *bytes, size_t length) {
    return memmem(bytes, length, "oad", 3) != NULL ||
           memmem(bytes, length, "rocessed prompts:", 17) != NULL;
}

/* ---- what stands in a line ---- */

/* "pid=77" in a word in brackets, "rank3" of torchrun, "TP0" or "DP0 TP1" of SGLang. */
static void read_rank(const char *line, const char *until, char *ret, size_t size) {
    static const char *const starts[] = {"pid=", "[rank", " DP", " TP", "_DP", "_TP"};
    ret[0] = '\0';
    for (size_t i = 0; i < ARRAY_LENGTH(starts); i++) {
        size_t length = strlen(starts[i]);
        const char *at = memmem(line, (size_t)(until - line), starts[i], length);
        if (at == NULL || !isdigit((unsigned char)at[length])) {
            continue;
        }
        const char *from = strchr("[ _", *at) != NULL ? at + 1 : at;
        size_t taken = 0;
        while (taken + 1 < size && from + taken < until &&
               (isalnum((unsigned char)from[taken]) || strchr("=_ ", from[taken]) != NULL)) {
            ret[taken] = from[taken];
            taken++;
        }
        while (taken > 0 && ret[taken - 1] == ' ') {
            taken--;
        }
        ret[taken] = '\0';
        return;
    }
}

/* "  50%|": the percentage of a bar; -1: no bar. */
static int read_percent(const char *text) {
    text += strspn(text, " ");
    int percent = 0, digits = 0;
    for (; isdigit((unsigned char)*text) && digits < 4; text++, digits++) {
        percent = 10 * percent + (*text - '0');
    }
    return digits > 0 && *text == '%' && percent <= 100 ? percent : -1;
}

/* "7.64 GiB and 32.969258 seconds", "1234.56 ms": -1 where no length stands there. */
static double read_seconds(const char *text) {
    text += strspn(text, " ");
    char number[32];
    size_t length = strspn(text, "0123456789.");
    double value;
    if (length == 0 || length >= sizeof number) {
        return -1;
    }
    memcpy(number, text, length);
    number[length] = '\0';
    if (str_to_double(number, &value) < 0) {
        return -1;
    }
    text += length + strspn(text + length, " ");
    if (str_starts_with(text, "ms")) {
        return value / 1000;
    }
    return *text == 's' && (text[1] == '\0' || text[1] == ' ' || str_starts_with(text, "sec"))
               ? value
               : -1;
}

/* What the text of `pattern` at `behind` (the byte behind it) says; false: it is somebody else's.
 */
static bool read_event(const struct phase_pattern *pattern, const char *behind,
                       struct phase_line *ret) {
    ret->stack = pattern->stack;
    ret->phase = pattern->phase;
    ret->seconds = -1;
    if (strcmp(pattern->event, "bar") == 0) {
        int percent = read_percent(behind);
        ret->event = percent == 100 ? PHASE_LINE_END : PHASE_LINE_BEGIN;
        ret->goes_on = percent > 0 && percent < 100;
        return percent >= 0;
    }
    if (strcmp(pattern->event, "told") == 0) {
        ret->event = PHASE_LINE_TOLD;
        ret->seconds = read_seconds(behind);
        return ret->seconds >= 0;
    }
    if (strcmp(pattern->event, "end") == 0) {
        const char *more = pattern->more != NULL ? strstr(behind, pattern->more) : NULL;
        ret->event = PHASE_LINE_END;
        ret->seconds = more != NULL ? read_seconds(more + strlen(pattern->more)) : -1;
        return true;
    }
    ret->event = PHASE_LINE_BEGIN;
    ret->tentative = strcmp(pattern->event, "tentative") == 0;
    return pattern->more == NULL || strstr(behind, pattern->more) != NULL;
}

/* The first text of the table in the line from `from` on; NULL: none. */
static const char *find_first(const char *from, const struct phase_pattern **ret_pattern) {
    const char *first = NULL;
    for (size_t i = 0; i < phase_pattern_count; i++) {
        const char *at = strstr(from, phase_patterns[i].text);
        if (at != NULL && (first == NULL || at < first)) {
            first = at;
            *ret_pattern = &phase_patterns[i];
        }
    }
    return first;
}

/* ---- what of it is new ---- */

static struct state *state_of(struct phase_lines *lines, const struct phase_line *found) {
    for (size_t i = 0; i < lines->count; i++) {
        struct state *state = &lines->states[i];
        if (state->stack == found->stack && strcmp(state->phase, found->phase) == 0 &&
            strcmp(state->rank, found->rank) == 0) {
            return state;
        }
    }
    if (lines->count == STATES_MAX) {
        return NULL;
    }
    struct state *state = &lines->states[lines->count++];
    state->stack = found->stack;
    state->phase = found->phase;
    memcpy(state->rank, found->rank, sizeof state->rank);
    state->last = PHASE_LINE_TOLD; /* nothing yet */
    return state;
}

/* Of a bar only begin and end are news; an end may come again, from another rank without a name. */
static bool is_news(struct phase_lines *lines, const struct phase_line *found) {
    struct state *state = state_of(lines, found);
    if (state == NULL || lines->events >= EVENTS_MAX) {
        return false;
    }
    bool is_old = found->event == PHASE_LINE_BEGIN && state->last == PHASE_LINE_BEGIN;
    state->last = found->event;
    lines->events += !is_old;
    return !is_old;
}

void phase_lines_take(struct phase_lines *lines, const char *line, phase_line_fn each,
                      void *context) {
    const struct phase_pattern *pattern = NULL;
    if (!phase_lines_may_have(line, strlen(line))) {
        return;
    }
    for (const char *at = line; (at = find_first(at, &pattern)) != NULL;) {
        struct phase_line found = {.at = (size_t)(at - line)};
        const char *behind = at + strlen(pattern->text);
        read_rank(line, at, found.rank, sizeof found.rank);
        if (read_event(pattern, behind, &found) && is_news(lines, &found)) {
            each(&found, context);
        }
        at = behind;
    }
}
