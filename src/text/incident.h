/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text → incidents. One table holds every rule: the key that decides, the incident's name, its
 * outcome class and one sentence of advice; docs/incidents.md is generated from it. Pure. Unknown
 * wording gives no incident.
 */
#pragma once

#include "base/json.h"
#include "model/outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INCIDENT_LINE_MAX  2048u
#define INCIDENT_COUNT_MAX 64u
/* An incident that so many further lines follow did not end the run: it counts as survived. */
#define INCIDENT_AFTERMATH_LINES 1000u

struct incident {
    const char *name; /* static: "disk_full", "host_oom", … (DESIGN section 3, Outcomes) */
    enum outcome_class outcome; /* class it stands for when it ended the run */
    char *line;      /* owned: the line that shows it, printable, at most 2 KiB, not yet masked */
    json_t *figures; /* owned object; only figures that were read (docs/incidents.md names them),
                        masked */
    uint64_t count;  /* lines that show it: several lines about one event are one incident */
    uint64_t line_number;      /* of `line`, from 1 */
    uint64_t last_line_number; /* of the last line that shows it */
    bool survived; /* set by finish: more than INCIDENT_AFTERMATH_LINES lines came after it, or it
                      was a mere warning. False also where the text ends sooner: unknown */
};

/* Scans text as it arrives: any pieces, any line endings (\r progress bars, \n, none), ANSI codes
 * removed, container / journald prefixes allowed. Constant memory: lines beyond 4 KiB are cut, at
 * most 64 incidents are kept (lines about the same event are one), the ones beyond are only
 * counted. */
struct incident_scanner;
struct incident_scanner *incident_scanner_new(void);
void incident_scanner_feed(struct incident_scanner *scanner, const void *bytes, size_t length);
void incident_scanner_skip(struct incident_scanner *scanner,
                           uint64_t bytes); /* a hole in the text */
void incident_scanner_finish(struct incident_scanner *scanner);
size_t incident_scanner_count(const struct incident_scanner *scanner);
const struct incident *incident_scanner_get(const struct incident_scanner *scanner, size_t index);
uint64_t
incident_scanner_dropped(const struct incident_scanner *scanner); /* incidents beyond the 64 */
uint64_t incident_scanner_lines(const struct incident_scanner *scanner);
struct incident_scanner *incident_scanner_free(struct incident_scanner *scanner);

/* The table, for the class of an incident, advice (translated) and the generated document. NULL
 * when unknown. */
struct incident_info {
    const char *name;
    enum outcome_class outcome;
    const char *meaning; /* English; look up with msg_get */
    const char *advice;
    const char *refines; /* name of a vaguer incident that this one replaces when it follows
                            closely; or NULL */
};
const struct incident_info *incident_info(const char *name);
size_t incident_info_count(void);
const struct incident_info *incident_info_at(size_t index);

/* The one place that decides a run's class from what the end record knows and from its incidents.
 * In this order: running; lost (no END, or its monitor died); start_failed; budget; interrupted
 * (Ctrl-C, also exit code 130 as a shell tells it); ok (exit code 0, whatever was said on the way);
 * ended (neither exit code nor signal known); else the first in the list preempted, host_oom,
 * gpu_oom, gpu_fault, shm_exhausted, disk_full, access_denied, dependency, lost, killed, failed
 * that an incident which was not survived, or the status, stands for. The status alone stands for
 * failed, or for killed (signals from outside, and 137 and 143 as a shell tells them): a cause is
 * never guessed from a number. Unknown incident names are left out. */
struct outcome_facts {
    bool ended; /* END was written by the monitor */
    bool start_failed;
    bool has_exit_code;
    int exit_code, signal; /* signal 0: none */
    bool budget, interrupted, monitor_lost, running;
};
enum outcome_class outcome_classify(const struct outcome_facts *facts,
                                    const char *const *incident_names, const bool *survived,
                                    size_t count);
