/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What people say about a run, as a record of its own (work/event.h). Never touches the run's
 * record.
 */
#include "work/annotate.h"

#include "base/clock.h"
#include "base/json.h"
#include "work/event.h"

#include <errno.h>

static json_t *make_event(const char *run, const struct annotation *annotation) {
    json_t *event = event_begin("annotate", clock_utc_ns());
    json_put_text(event, "about", run);
    if (annotation->invalid || annotation->valid)
        json_put_bool(event, "invalid", annotation->invalid);
    event_put_text(event, "why", annotation->why);
    event_put_text(event, "change", annotation->change);
    event_put_text(event, "disposition", annotation->disposition);
    event_put_text(event, "note", annotation->note);
    return event;
}

static bool is_said(const char *text) {
    return text && *text;
}

int annotate_run(const struct place *place, struct store *store, const char *run,
                 const struct annotation *annotation, char ret_event[UUID_TEXT_SIZE],
                 struct err *err) {
    if (annotation->invalid && annotation->valid)
        return err_set(err, -EINVAL, "annotation-contradiction",
                       "a run is declared either valid or invalid, not both");
    if (!annotation->invalid && !annotation->valid && !is_said(annotation->why) &&
        !is_said(annotation->change) && !is_said(annotation->disposition) &&
        !is_said(annotation->note))
        return err_set(err, -EINVAL, "annotation-empty",
                       "nothing to say about the run: give --invalid, --valid, --change, "
                       "--disposition or --note");
    AUTO_JSON json_t *event = make_event(run, annotation);
    return event_write(place, store, NULL, event, ret_event, err);
}
