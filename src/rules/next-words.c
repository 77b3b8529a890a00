/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the advisor says: why a trial stands where it stands, and what the verdict means. Says only
 * what the figures hold; decides nothing. */
#include "rules/next-parts.h"

#include "base/msg.h"
#include "base/strbuf.h"

#include <math.h>

static const char *time_text(const struct quantity *q, struct arena *arena) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    quantity_format_value(q->value, q->unit, &out);
    return arena_strdup(arena, strbuf_str(&out));
}

static const char *first_reason(const struct next_trial *trial, const struct next_part *part,
                                struct arena *arena) {
    if (trial->step)
        return arena_printf(arena,
                            _("runs `%s` for the first time: how long it takes was never seen "
                              "here, and nothing else can tell"),
                            trial->name);
    return arena_printf(arena,
                        _("runs `%s`, of which no run counts yet (%s): nothing else gives it an "
                          "interval"),
                        trial->name, part->why ? part->why : _("no run of it was made"));
}

static const char *repeat_reason(const struct next_trial *trial, size_t gives,
                                 struct arena *arena) {
    if (gives == 1)
        return arena_printf(arena,
                            _("repeats `%s` (%s): it was run once, and without a second run its "
                              "time has no interval"),
                            trial->name, time_text(&trial->time, arena));
    return arena_printf(arena,
                        msg_plural((unsigned long)gives,
                                   "repeats `%s` (%s): the first repeat shows how much runs "
                                   "differ, which gives %zu part of the total an interval",
                                   "repeats `%s` (%s): the first repeat shows how much runs "
                                   "differ, which gives %zu parts of the total an interval"),
                        trial->name, time_text(&trial->time, arena), gives);
}

static const char *spread_text(const struct next_trial *trial, bool borrowed, struct arena *arena) {
    if (borrowed)
        return _("its spread is borrowed");
    return arena_printf(arena,
                        msg_plural((unsigned long)trial->seen, "its spread rests on %llu run",
                                   "its spread rests on %llu runs"),
                        (unsigned long long)trial->seen);
}

static const char *narrow_reason(const struct next_trial *trial, bool borrowed,
                                 struct arena *arena) {
    const char *time = time_text(&trial->time, arena);
    if (!quantity_is_known(&trial->narrowing) || !isfinite(trial->share))
        return arena_printf(arena,
                            _("repeats `%s` (%s): what it would narrow cannot be told while "
                              "another part of the total has no interval"),
                            trial->name, time);
    const char *spread = spread_text(trial, borrowed, arena);
    int percent = (int)lround(100.0 * trial->share);
    if (trial->narrowing.value <= 0.0 && !(trial->rate > 0.0))
        return arena_printf(arena,
                            _("repeats `%s` (%s): %s, it makes up %d %% of the total's "
                              "uncertainty, and a further run is not expected to narrow that"),
                            trial->name, time, spread, percent);
    if (trial->rate_runs > 1)
        return arena_printf(arena,
                            msg_plural((unsigned long)trial->rate_runs,
                                       "repeats `%s` (%s): %s, it makes up %d %% of the total's "
                                       "uncertainty; one run teaches little, all %llu left do",
                                       "repeats `%s` (%s): %s, it makes up %d %% of the total's "
                                       "uncertainty; one run teaches little, all %llu left do"),
                            trial->name, time, spread, percent,
                            (unsigned long long)trial->rate_runs);
    return arena_printf(arena,
                        _("repeats `%s` (%s): %s, it makes up %d %% of the total's uncertainty"),
                        trial->name, time, spread, percent);
}

const char *next_reason(const struct next_trial *trial, const struct next_part *part, bool borrowed,
                        size_t gives, struct arena *arena) {
    switch (trial->kind) {
    case NEXT_FIRST:
        return first_reason(trial, part, arena);
    case NEXT_REPEAT:
        return repeat_reason(trial, gives, arena);
    case NEXT_NARROW:
    case NEXT_KIND_COUNT_:
        break;
    }
    return narrow_reason(trial, borrowed, arena);
}

const char *next_verdict_text(const struct next_advice *advice, struct arena *arena) {
    switch (advice->verdict) {
    case NEXT_RUN:
        return advice->trials[0].reason;
    case NEXT_WITHIN_TARGET:
        return arena_printf(arena,
                            _("the interval is %.0f %% of its median wide, and %.0f %% was asked "
                              "for: no further trial is needed"),
                            100.0 * advice->width_ratio, 100.0 * advice->within);
    case NEXT_NOT_WORTH:
        return _("each trial that could be run takes longer than what it is expected to take off "
                 "the reserve between the median and the upper end: book the upper end instead");
    case NEXT_BLOCKED:
        return advice->refused_count > 0 ? _("nothing of what is left can be run now")
                                         : _("the plan does not say how many runs are left to do");
    case NEXT_NOTHING_LEFT:
    case NEXT_VERDICT_COUNT_:
        break;
    }
    return _("nothing is left to run");
}
