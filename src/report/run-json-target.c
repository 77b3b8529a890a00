/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was watched other than a command of its own (--attach), and what was waited for (--ready).
 * Keys that are there only where the run was so. */
#include "report/run-json.h"

#include "base/msg.h"
#include "report/facts.h"

#include <string.h>

/* Enums are closed: what a record holds beyond them is not passed on. */
static json_t *ended_by(const struct run *run) {
    static const char *const ways[] = {"process-ended", "max-time", "stopped"};
    const char *watching = json_get_text(run->end, "watching", "");
    for (size_t i = 0; i < ARRAY_LENGTH(ways); i++)
        if (strcmp(watching, ways[i]) == 0)
            return json_text(ways[i]);
    return json_null();
}

void run_json_put_target(json_t *json, const struct run *run) {
    if (json_is_integer(json_object_get(run->start, "attach"))) {
        json_t *attached = json_object();
        json_put(attached, "pid", run_json_plain_int(run->start, "attach"));
        json_put(attached, "start", run_json_plain_int(run->start, "attach_start"));
        json_put(attached, "ended_by", ended_by(run));
        json_put(json, "attached", attached);
    }
    if (!json_is_string(json_object_get(run->start, "ready")))
        return;
    struct quantity after = facts_ready_after(run);
    json_t *ready = json_object();
    json_put(ready, "waits_for", run_json_plain_text(run->start, "ready"));
    run_json_put_quantity(ready, "after", &after);
    const json_t *end = json_get_object(run->end, "ready");
    json_put(ready, "reason", run_json_plain_text(end, "reason"));
    json_put(ready, "status", run_json_plain_int(end, "status"));
    json_put(json, "ready", ready);
}
