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
#include "text/incident.h"
#include "text/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PIECE (64u << 10)

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

/* The class of a process that failed with these incidents; without one that ended it the text does
 * not say. */
static void classify(struct report_explain *explain) {
    AUTO_FREE const char **names = mem_alloc((explain->count + 1) * sizeof(*names));
    AUTO_FREE bool *survived = mem_alloc(explain->count + 1);
    for (size_t i = 0; i < explain->count; i++) {
        names[i] = explain->items[i].name;
        survived[i] = explain->items[i].survived;
        explain->has_outcome = explain->has_outcome || !survived[i];
    }
    struct outcome_facts facts = {.ended = true, .has_exit_code = true, .exit_code = 1};
    explain->outcome = outcome_classify(&facts, names, survived, explain->count);
}

static void print(const struct report_explain *explain) {
    if (opt_common.json) {
        cli_print_json(report_explain_json(explain));
        return;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_explain_text(explain, cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
}

static void print_scanned(const struct incident_scanner *scanner) {
    AUTO_ARENA struct arena *arena = arena_new();
    size_t count = incident_scanner_count(scanner);
    struct report_explain_item *items = arena_alloc(arena, (count + 1) * sizeof(*items));
    for (size_t i = 0; i < count; i++) {
        const struct incident *incident = incident_scanner_get(scanner, i);
        items[i] = (struct report_explain_item){
            .name = incident->name,
            .text = incident->line != NULL ? masked(arena, incident->line) : NULL,
            .line_number = incident->line_number,
            .figures = incident->figures,
            .survived = incident->survived,
        };
    }
    struct report_explain explain = {.items = items, .count = count};
    classify(&explain);
    print(&explain);
    uint64_t dropped = incident_scanner_dropped(scanner);
    if (dropped > 0) {
        AUTO_FREE char *note = mem_printf(_("%llu further incidents in this text are not listed"),
                                          (unsigned long long)dropped);
        cli_note(note);
    }
}

static int explain_fd(int fd, const char *name, struct err *err) {
    struct incident_scanner *scanner = incident_scanner_new();
    int rc = read_text(fd, name, scanner, err);
    if (rc == 0) {
        print_scanned(scanner);
    }
    (void)incident_scanner_free(scanner);
    return rc;
}

static int explain_file(const char *path, struct err *err) {
    if (strcmp(path, "-") == 0) {
        return explain_fd(STDIN_FILENO, _("standard input"), err);
    }
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return err_set(err, -errno, "text-unreadable", "cannot open '%s': %s", path,
                       strerror(errno));
    }
    return explain_fd(fd, path, err);
}

static int explain_recorded(const char *ref, struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_RUN struct run *run = NULL;
    int rc = view_open(arena, &runs, err);
    rc = rc < 0 ? rc : runs_load(runs, ref, false, &run, err);
    if (rc < 0) {
        return rc;
    }
    if (opt_common.json) {
        cli_print_json(report_run_explain_json(run));
        return 0;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_run_explain_text(run, cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
    return 0;
}

/* "@1" is a run, "-" and what exists as a file is a text; anything else is part of a run's id. */
static int explain(const char *what, struct err *err) {
    bool is_text = strcmp(what, "-") == 0 || strchr(what, '/') != NULL ||
                   (what[0] != '@' && access(what, F_OK) == 0);
    return is_text ? explain_file(what, err) : explain_recorded(what, err);
}

static int explain_run(int argc, char **argv) {
    struct err err = ERR_INIT;
    return explain(argc > 0 ? argv[0] : "@1", &err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
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
