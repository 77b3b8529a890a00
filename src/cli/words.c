/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Phases, outcomes and moments as they are written on the command line. Pure. */
#include "cli/words.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "model/outcome.h"
#include "model/run.h"

#include <errno.h>
#include <string.h>

const char *words_phase(size_t index) {
    return index < PHASE_UNATTRIBUTED ? phase_name((enum phase)index) : NULL;
}

const char *words_outcome(size_t index) {
    return index < OUTCOME_COUNT_ ? outcome_name((enum outcome_class)index) : NULL;
}

int words_complain_phase(const char *word, struct err *err) {
    const char *names[PHASE_COUNT_];
    AUTO_STRBUF struct strbuf all = STRBUF_INIT;
    size_t count = 0;
    for (; (names[count] = words_phase(count)) != NULL; count++) {
        strbuf_printf(&all, "%s%s", count > 0 ? ", " : "", names[count]);
    }
    const char *near = str_nearest(word, names, count);
    if (near != NULL) {
        return err_set(err, -EINVAL, "usage-phase", "there is no phase '%s'; did you mean '%s'?",
                       word, near);
    }
    return err_set(err, -EINVAL, "usage-phase",
                   "there is no phase '%s', but: %s; a detail follows a slash (compute/decode)",
                   word, strbuf_str(&all));
}

int words_to_moment(const char *option, const char *text, int64_t now_utc_ns, int64_t *ret_utc_ns,
                    struct err *err) {
    int64_t ns = 0;
    struct err ignored = ERR_INIT;
    if (strlen(text) == 10 && text[4] == '-') {
        AUTO_FREE char *midnight = mem_printf("%sT00:00:00Z", text);
        if (clock_parse_utc(midnight, &ns) == 0) {
            *ret_utc_ns = ns;
            return 0;
        }
    } else if (strchr(text, 'T') != NULL) {
        if (clock_parse_utc(text, &ns) == 0) {
            *ret_utc_ns = ns;
            return 0;
        }
    } else if (str_to_duration_ns(text, &ns, &ignored) == 0 && ns <= now_utc_ns) {
        *ret_utc_ns = now_utc_ns - ns;
        return 0;
    }
    return err_set(
        err, -EINVAL, "usage-bad-value",
        "option '--%s' takes a date (2026-11-30), a time in UTC (2026-11-30T12:00:00Z) or an "
        "age (2h, 3d), not '%s'",
        option, text);
}
