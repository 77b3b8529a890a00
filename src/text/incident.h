/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text → incidents. One table holds every rule: the key that decides, the incident's name, its outcome class and
 * one sentence of advice; docs/incidents.md is generated from it. Pure. Unknown wording gives no incident.
 */
#pragma once

#include "base/json.h"
#include "model/outcome.h"

#include <stdbool.h>
#include <stddef.h>

struct incident {
    const char *name;         /* static: "disk_full", "host_oom", … (DESIGN section 3, Outcomes) */
    enum outcome_class outcome; /* class it stands for when it ended the run */
    char *line;               /* owned: the line that shows it, printable, at most 2 KiB, not yet masked */
    json_t *figures;          /* owned object; only figures that were read */
};

/* Scans text as it arrives: any pieces, any line endings (\r progress bars, \n, none), ANSI codes removed,
 * container / journald prefixes allowed. Constant memory: lines beyond 4 KiB are cut, at most 64 incidents are
 * kept (the same rule once per process line), then counted. */
struct incident_scanner;
struct incident_scanner *incident_scanner_new(void);
void incident_scanner_feed(struct incident_scanner *scanner, const void *bytes, size_t length);
void incident_scanner_finish(struct incident_scanner *scanner);
size_t incident_scanner_count(const struct incident_scanner *scanner);
const struct incident *incident_scanner_get(const struct incident_scanner *scanner, size_t index);
struct incident_scanner *incident_scanner_free(struct incident_scanner *scanner);

/* The table, for the class of an incident, advice (translated) and the generated document. NULL when unknown. */
struct incident_info {
    const char *name;
    enum outcome_class outcome;
    const char *meaning; /* English; look up with msg_get */
    const char *advice;
};
const struct incident_info *incident_info(const char *name);
size_t incident_info_count(void);
const struct incident_info *incident_info_at(size_t index);

/* The one place that decides a run's class from what the end record knows and from its incidents. */
struct outcome_facts {
    bool ended;          /* END was written by the monitor */
    bool start_failed;
    bool has_exit_code;
    int exit_code, signal; /* signal 0: none */
    bool budget, interrupted, monitor_lost, running;
};
enum outcome_class outcome_classify(const struct outcome_facts *facts, const char *const *incident_names, const bool *survived, size_t count);
