/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probelauf explain [RUN|FILE|-]: why something failed, by what its text says. A text of any size
 * is read piece by piece; only its incidents and its end are kept.
 */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/view.h"

#include "base/fd.h"
#include "base/msg.h"
#include "base/str.h"
#include "text/incident.h"
#include "text/pattern.h"
#include "text/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PIECE      (64u << 10)
#define TAIL_BYTES (16u << 10)
#define TAIL_LINES 10u
#define TAIL_LINE  400u

/* What is kept of a text beside its incidents. */
struct text_end {
    char bytes[TAIL_BYTES]; /* the last ones */
    size_t length;
    uint64_t total;
    bool is_utf16; /* a byte order mark says so */
    uint64_t line; /* line feeds so far */
    size_t line_length;
    uint64_t long_count, first_long; /* lines of which only the beginning is compared */
};

static void count_line(struct text_end *end) {
    if (end->line_length > LINE_MAX_BYTES && end->long_count++ == 0) {
        end->first_long = end->line + 1;
    }
    end->line_length = 0;
}

/* As lines are split for the rules: a carriage return ends one as well. */
static void measure_lines(struct text_end *end, const char *piece, size_t length) {
    const char *from = piece, *const stop = piece + length;
    while (from < stop) {
        const char *at = memchr(from, '\n', (size_t)(stop - from));
        const char *line_end = at != NULL ? at : stop;
        const char *back;
        while ((back = memchr(from, '\r', (size_t)(line_end - from))) != NULL) {
            end->line_length += (size_t)(back - from);
            count_line(end);
            from = back + 1;
        }
        end->line_length += (size_t)(line_end - from);
        if (at != NULL) {
            count_line(end);
            end->line++;
        }
        from = line_end + 1;
    }
}

static void keep_end(struct text_end *end, const char *piece, size_t length) {
    if (end->total == 0 && length >= 2) {
        end->is_utf16 = memcmp(piece, "\xff\xfe", 2) == 0 || memcmp(piece, "\xfe\xff", 2) == 0;
    }
    end->total += length;
    if (length >= TAIL_BYTES) {
        memcpy(end->bytes, piece + length - TAIL_BYTES, TAIL_BYTES);
        end->length = TAIL_BYTES;
        return;
    }
    size_t kept = end->length + length > TAIL_BYTES ? TAIL_BYTES - length : end->length;
    memmove(end->bytes, end->bytes + end->length - kept, kept);
    memcpy(end->bytes + kept, piece, length);
    end->length = kept + length;
}

static int read_text(int fd, const char *name, struct incident_scanner *scanner,
                     struct text_end *end, struct err *err) {
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
            count_line(end);
            return 0;
        }
        incident_scanner_feed(scanner, piece, (size_t)got);
        keep_end(end, piece, (size_t)got);
        measure_lines(end, piece, (size_t)got);
    }
}

/* The last lines, a ring. */
struct tail {
    struct arena *arena;
    const char *lines[TAIL_LINES];
    size_t count;
};

static const char *masked(struct arena *arena, const char *text) {
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    secret_mask(text, strlen(text), &safe);
    return arena_strdup(arena, strbuf_str(&safe));
}

static void take_tail_line(const char *line, size_t length, uint64_t offset, void *context) {
    struct tail *tail = context;
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    AUTO_STRBUF struct strbuf shown = STRBUF_INIT;

    (void)offset;
    secret_mask(line, length, &safe); /* the whole line first: a cut secret is not recognised */
    str_add_printable(&shown, strbuf_str(&safe), safe.length);
    size_t kept = shown.length < TAIL_LINE ? shown.length : TAIL_LINE;
    while (kept < shown.length && kept > 0 && ((unsigned char)shown.data[kept] & 0xc0u) == 0x80u) {
        kept--; /* not inside a character */
    }
    AUTO_FREE char *text = mem_strndup(strbuf_str(&shown), kept);
    tail->lines[tail->count++ % TAIL_LINES] = arena_strdup(tail->arena, text);
}

static size_t tail_lines(struct arena *arena, const struct text_end *end,
                         const char *const **ret_lines) {
    struct tail tail = {.arena = arena};
    struct line_splitter *splitter = line_splitter_new(take_tail_line, &tail);
    if (end->total > end->length) {
        line_splitter_skip(splitter, end->total - end->length); /* its first line is no whole one */
    }
    line_splitter_feed(splitter, end->bytes, end->length);
    line_splitter_finish(splitter);
    (void)line_splitter_free(splitter);

    size_t count = tail.count < TAIL_LINES ? tail.count : TAIL_LINES;
    const char **lines = arena_alloc(arena, (count + 1) * sizeof(*lines));
    for (size_t i = 0; i < count; i++) {
        lines[i] = tail.lines[(tail.count - count + i) % TAIL_LINES];
    }
    *ret_lines = lines;
    return count;
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

static void tell_long_lines(const struct text_end *end) {
    AUTO_STRBUF struct strbuf note = STRBUF_INIT;
    if (end->long_count == 0) {
        return;
    }
    strbuf_printf(&note, _("line %llu is longer than %u bytes; only its beginning was compared"),
                  (unsigned long long)end->first_long, LINE_MAX_BYTES);
    if (end->long_count > 1) {
        strbuf_printf(&note, _("; %llu more"), (unsigned long long)end->long_count - 1);
    }
    cli_note(strbuf_str(&note));
}

static void print_scanned(const struct incident_scanner *scanner, const struct text_end *end) {
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
            .lines = incident->count,
        };
    }
    struct report_explain explain = {.items = items, .count = count, .is_empty = end->total == 0};
    explain.tail_count = tail_lines(arena, end, &explain.tail);
    classify(&explain);
    print(&explain);
    if (end->is_utf16) {
        cli_note(_("this text is UTF-16: only what is ASCII in it was compared"));
    }
    tell_long_lines(end);
    uint64_t dropped = incident_scanner_dropped(scanner);
    if (dropped > 0) {
        AUTO_FREE char *note = mem_printf(_("%llu further incidents in this text are not listed"),
                                          (unsigned long long)dropped);
        cli_note(note);
    }
}

static int explain_fd(int fd, const char *name, struct err *err) {
    struct incident_scanner *scanner = incident_scanner_new();
    AUTO_FREE struct text_end *end = mem_alloc(sizeof(*end));
    int rc = read_text(fd, name, scanner, end, err);
    if (rc == 0) {
        print_scanned(scanner, end);
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
    if (rc < 0 && ref[0] != '@' && strcmp(err->id, "run-not-found") == 0) {
        return err_set(err, rc, "run-not-found",
                       "'%s' is neither a run nor a file here: write a run's id, its last "
                       "characters, @1 for the latest, or the path of a text",
                       ref);
    }
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
    .details = N_("Without an operand: the latest run. What exists as a file is read as a text, "
                  "even where it is named like a run's id; @1 is always a run. The exit status is "
                  "0 also where no cause was found, 1 if there is no such run or file."),
    .usage = N_("[RUN | FILE | -]"),
    .examples = N_("probelauf explain  # the latest run\n"
                   "probelauf explain slurm-4711.out  # a log file of any program\n"
                   "dmesg | probelauf explain -  # a text from standard input\n"),
    .min_args = 0,
    .max_args = 1,
    .operand = "run|file",
    .traits = COMMAND_LEDGER | COMMAND_JSON,
    .run = explain_run,
};
