/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probelauf explain [RUN|FILE|-]: why something failed, by what its text says. A text of any size
 * is read piece by piece; only its incidents are kept.
 */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/view.h"

#include "base/fd.h"
#include "base/msg.h"
#include "base/str.h"
#include "text/incident.h"
#include "text/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PIECE (64u << 10)

/* One incident as it is shown, from a text or from a run's record. */
struct finding {
    const char *name;
    uint64_t line_number; /* 1…; 0: not known */
    uint64_t lines;       /* that say the same; 0: not known */
    const char *text;     /* masked; NULL: none */
    json_t *figures;      /* owned; NULL: none */
    bool survived;
};

struct findings {
    struct arena *arena;
    struct finding *items;
    size_t count;
    uint64_t dropped;    /* incidents beyond those that are kept */
    const char *outcome; /* class; NULL: the text does not say */
    const char *run;     /* id; NULL: a text */
};

static struct finding *add_finding(struct findings *findings, const char *name) {
    findings->items = mem_realloc(findings->items, findings->count + 1, sizeof(*findings->items));
    struct finding *finding = &findings->items[findings->count++];
    *finding = (struct finding){.name = name};
    return finding;
}

/* ---- reading ---- */

static int read_text(int fd, const char *name, struct incident_scanner *scanner, struct err *err) {
    AUTO_FREE char *piece = mem_alloc(PIECE);
    for (;;) {
        ssize_t got = read(fd, piece, PIECE);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return err_set(err, -errno, "text-unreadable", "cannot read '%s': %s", name,
                           strerror(errno));
        }
        if (got == 0) {
            incident_scanner_finish(scanner);
            return 0;
        }
        incident_scanner_feed(scanner, piece, (size_t)got);
    }
}

static const char *masked(struct arena *arena, const char *text) {
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    secret_mask(text, strlen(text), &safe);
    return arena_strdup(arena, strbuf_str(&safe));
}

/* The class a process would have that ended with these incidents; NULL where none of them ended it.
 */
static const char *classify(const struct findings *findings) {
    AUTO_FREE const char **names = mem_alloc((findings->count + 1) * sizeof(*names));
    AUTO_FREE bool *survived = mem_alloc(findings->count + 1);
    bool any = false;
    for (size_t i = 0; i < findings->count; i++) {
        names[i] = findings->items[i].name;
        survived[i] = findings->items[i].survived;
        any = any || !survived[i];
    }
    struct outcome_facts facts = {.ended = true, .has_exit_code = true, .exit_code = 1};
    return any ? outcome_name(outcome_classify(&facts, names, survived, findings->count)) : NULL;
}

static int explain_fd(int fd, const char *name, struct findings *findings, struct err *err) {
    struct incident_scanner *scanner = incident_scanner_new();
    int rc = read_text(fd, name, scanner, err);
    for (size_t i = 0; rc == 0 && i < incident_scanner_count(scanner); i++) {
        const struct incident *incident = incident_scanner_get(scanner, i);
        struct finding *finding = add_finding(findings, incident->name);
        finding->line_number = incident->line_number;
        finding->lines = incident->count;
        finding->text = incident->line != NULL ? masked(findings->arena, incident->line) : NULL;
        finding->figures = json_incref(incident->figures);
        finding->survived = incident->survived;
    }
    if (rc == 0) {
        findings->outcome = classify(findings);
        findings->dropped = incident_scanner_dropped(scanner);
    }
    (void)incident_scanner_free(scanner);
    return rc;
}

static int explain_file(const char *path, struct findings *findings, struct err *err) {
    if (strcmp(path, "-") == 0) {
        return explain_fd(STDIN_FILENO, _("standard input"), findings, err);
    }
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return err_set(err, -errno, "text-unreadable", "cannot open '%s': %s", path,
                       strerror(errno));
    }
    return explain_fd(fd, path, findings, err);
}

static int explain_recorded(const char *ref, struct findings *findings, struct err *err) {
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_RUN struct run *run = NULL;
    int rc = view_open(findings->arena, &runs, err);
    rc = rc < 0 ? rc : runs_load(runs, ref, false, &run, err);
    if (rc < 0) {
        return rc;
    }
    findings->run = arena_strdup(findings->arena, run->id);
    findings->outcome = outcome_name(run->outcome);
    for (size_t i = 0; i < run->incident_count; i++) {
        const struct run_incident *incident = &run->incidents[i];
        struct finding *finding =
            add_finding(findings, arena_strdup(findings->arena, incident->name));
        finding->text =
            incident->line != NULL ? arena_strdup(findings->arena, incident->line) : NULL;
        finding->figures = json_incref(incident->figures);
        finding->survived = incident->survived;
    }
    return 0;
}

/* "@1" is a run, "-" and what exists as a file is a text; anything else is part of a run's id. */
static int explain(const char *what, struct findings *findings, struct err *err) {
    if (strcmp(what, "-") == 0 || strchr(what, '/') != NULL ||
        (what[0] != '@' && access(what, F_OK) == 0)) {
        return explain_file(what, findings, err);
    }
    return explain_recorded(what, findings, err);
}

/* ---- printing ---- */

/* Advice of each kind of incident, once, in order of appearance. Calls back with the index of its
 * first finding. */
static bool is_first_of_name(const struct findings *findings, size_t index) {
    for (size_t i = 0; i < index; i++) {
        if (strcmp(findings->items[i].name, findings->items[index].name) == 0) {
            return false;
        }
    }
    return true;
}

static const char *advice_of(const struct finding *finding) {
    const struct incident_info *info = incident_info(finding->name);
    return info != NULL ? info->advice : NULL;
}

static void print_json(const struct findings *findings) {
    json_t *out = json_object();
    json_put_text(out, "schema", "probelauf.explain/1");
    json_put_text(out, "run", findings->run);
    json_put_text(out, "class", findings->outcome);
    json_t *incidents = json_array(), *advice = json_array();
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];
        json_t *item = json_object();
        json_put_text(item, "name", finding->name);
        json_put(item, "line",
                 finding->line_number > 0 ? json_integer((json_int_t)finding->line_number)
                                          : json_null());
        json_put_text(item, "text", finding->text);
        if (finding->lines > 0) {
            json_put_int(item, "lines", (int64_t)finding->lines);
        }
        json_put_bool(item, "survived", finding->survived);
        if (finding->figures != NULL) {
            (void)json_object_update_missing(item, finding->figures);
        }
        (void)json_array_append_new(incidents, item);
        const char *text = advice_of(finding);
        if (text != NULL && is_first_of_name(findings, i)) {
            (void)json_array_append_new(advice, json_text(text)); /* English in every language */
        }
    }
    json_put(out, "incidents", incidents);
    json_put_int(out, "more_incidents", (int64_t)findings->dropped);
    json_put(out, "advice", advice);
    cli_print_json(out);
}

/* "requested 108.79 GiB, limit 64.00 GiB": numbers of bytes are named so by their key. */
static void add_figures(struct strbuf *out, json_t *figures) {
    const char *key;
    json_t *value;
    bool first = true;
    json_object_foreach (figures, key, value) {
        strbuf_printf(out, "%s%s ", first ? "      " : ", ", key);
        first = false;
        if (json_is_number(value)) {
            bool bytes = str_ends_with(key, "_bytes");
            quantity_format_value(json_number_value(value), bytes ? UNIT_BYTE : UNIT_COUNT, out);
        } else if (json_is_string(value)) {
            str_add_printable(out, json_string_value(value), json_string_length(value));
        } else {
            AUTO_STRBUF struct strbuf text = STRBUF_INIT;
            json_add_compact(&text, value);
            strbuf_add_str(out, strbuf_str(&text));
        }
    }
    if (!first) {
        strbuf_add_char(out, '\n');
    }
}

static void add_finding_text(struct strbuf *out, const struct finding *finding) {
    const struct incident_info *info = incident_info(finding->name);
    strbuf_printf(out, "  %s", finding->name);
    if (info != NULL) {
        strbuf_printf(out, ": %s", _(info->meaning));
    }
    if (finding->survived) {
        strbuf_add_str(out, _(" (the run survived it)"));
    }
    strbuf_add_char(out, '\n');
    if (finding->text != NULL) {
        strbuf_add_str(out, "      ");
        if (finding->line_number > 0) {
            strbuf_printf(out, _("line %llu: "), (unsigned long long)finding->line_number);
        }
        str_add_printable(out, finding->text, strlen(finding->text));
        strbuf_add_char(out, '\n');
    }
    if (finding->figures != NULL) {
        add_figures(out, finding->figures);
    }
}

static void print_text(const struct findings *findings) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    if (findings->run != NULL) {
        strbuf_printf(&out, _("run %s ended as: %s\n"), findings->run, findings->outcome);
    } else if (findings->outcome != NULL) {
        strbuf_printf(&out, _("what it looks like: %s\n"), findings->outcome);
    }
    if (findings->count == 0) {
        strbuf_add_str(&out,
                       findings->run != NULL
                           ? _("no cause is known: the record holds no incident\n")
                           : _("no cause is known: no line says what this program can read\n"));
    }
    for (size_t i = 0; i < findings->count; i++) {
        add_finding_text(&out, &findings->items[i]);
    }
    if (findings->dropped > 0) {
        strbuf_printf(&out, _("  and %llu more\n"), (unsigned long long)findings->dropped);
    }
    bool headed = false;
    for (size_t i = 0; i < findings->count; i++) {
        const char *advice = advice_of(&findings->items[i]);
        if (advice == NULL || !is_first_of_name(findings, i)) {
            continue;
        }
        if (!headed) {
            strbuf_printf(&out, "%s\n", _("what to check:"));
            headed = true;
        }
        strbuf_printf(&out, "  - %s\n", _(advice));
    }
    cli_print(&out);
}

static int explain_run(int argc, char **argv) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct findings findings = {.arena = arena};
    struct err err = ERR_INIT;
    int rc = explain(argc > 0 ? argv[0] : "@1", &findings, &err);
    if (rc == 0 && opt_common.json) {
        print_json(&findings);
    } else if (rc == 0) {
        print_text(&findings);
    }
    for (size_t i = 0; i < findings.count; i++) {
        json_decref(findings.items[i].figures);
    }
    mem_free_ptr(&findings.items);
    return rc < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

const struct command command_explain = {
    .name = "explain",
    .summary = N_("Say why a run failed, or what the text of any log says about it."),
    .usage = N_("[RUN | FILE | -]"),
    .examples = N_("probelauf explain  # the latest run\n"
                   "probelauf explain slurm-4711.out  # a log file of any program\n"
                   "dmesg | probelauf explain -  # a text from standard input\n"),
    .min_args = 0,
    .max_args = 1,
    .operand = "file",
    .traits = COMMAND_LEDGER | COMMAND_JSON,
    .run = explain_run,
};
