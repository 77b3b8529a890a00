/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf export journal|json|csv: records for another machine, runs for other programs. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/view.h"

#include "base/msg.h"
#include "work/hand-out.h"
#include "work/ledger.h"

#include <errno.h>

static bool opt_all, opt_text;
static const char *opt_file;

static const struct opt_spec export_options[] = {
    {.name = "all",
     .type = OPT_FLAG,
     .target = &opt_all,
     .help = N_("Everything in the ledger; what is meant without RUN, too.")},
    {.name = "text",
     .type = OPT_FLAG,
     .target = &opt_text,
     .verbs = "journal",
     .help = N_("The records as lines of text, to be read and not to be imported.")},
    {.short_name = 'o',
     .name = "output",
     .type = OPT_PATH,
     .target = &opt_file,
     .argument = N_("FILE"),
     .help = N_("Write to this file instead of standard output; it appears when it is whole.")},
    {.name = NULL},
};

/* ---- journals ---- */

static int write_text(struct output *output, const void *bytes, size_t length, struct err *err) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    int rc = hand_out_text(bytes, length, &text, err);
    return rc < 0 ? rc : output_write(output, strbuf_str(&text), text.length, err);
}

static int write_each_text(const char *run, const char *part, const void *bytes, size_t length,
                           void *context, struct err *err) {
    (void)run;
    (void)part;
    return write_text(context, bytes, length, err);
}

static void note_written(size_t count) {
    AUTO_FREE char *note =
        mem_printf(msg_plural(count, "%zu record written", "%zu records written"), count);
    cli_note(note);
}

static int write_runs_text(struct runs *runs, int argc, char **argv, struct output *output,
                           struct err *err) {
    for (int i = 0; i < argc; i++) {
        AUTO_FREE void *bytes = NULL;
        size_t length = 0;
        int rc = runs_journal(runs, argv[i], &bytes, &length, err);
        rc = rc < 0 ? rc : write_text(output, bytes, length, err);
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int write_runs(struct runs *runs, int argc, char **argv, struct output *output,
                      struct err *err) {
    size_t count = 0;
    if (opt_text) {
        return write_runs_text(runs, argc, argv, output, err);
    }
    int rc = hand_out_runs(runs, (const char *const *)argv, (size_t)argc, output->fd, &count, err);
    if (rc == 0) {
        note_written(count);
    }
    return rc;
}

static int write_all(struct runs *runs, struct output *output, struct err *err) {
    struct store *store = runs_store(runs);
    size_t count = 0;
    if (store == NULL) {
        return err_set(err, -EIO, "ledger-unavailable",
                       "the ledger cannot be read; see the warning above");
    }
    int rc = opt_text ? store_each_journal(store, write_each_text, output, err)
                      : ledger_export(store, output->fd, &count, err);
    if (rc == 0 && !opt_text) {
        note_written(count);
    }
    return rc;
}

static int write_journals(int argc, char **argv, struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_OUTPUT struct output output = {.fd = -1};
    int rc = view_open(arena, &runs, err);
    rc = rc < 0 ? rc : output_open(opt_file, !opt_text, 0600, &output, err);
    if (rc == 0) {
        rc = argc > 0 ? write_runs(runs, argc, argv, &output, err) : write_all(runs, &output, err);
    }
    return rc < 0 ? rc : output_commit(&output, err);
}

/* ---- runs as values ---- */

/* The runs that were named, or all. */
struct choice {
    struct runs *runs;
    char **refs;
    struct store_entry *entries; /* without refs */
    size_t count;
};

static int choose(struct choice *choice, int argc, char **argv, struct arena *arena,
                  struct err *err) {
    if (argc > 0) {
        choice->refs = argv;
        choice->count = (size_t)argc;
        return 0;
    }
    struct store_query query = {.type = "run"};
    return runs_list(choice->runs, &query, arena, &choice->entries, &choice->count, err);
}

static int load(const struct choice *choice, size_t index, bool with_series, struct run **ret_run,
                struct err *err) {
    return choice->refs != NULL
               ? runs_load(choice->runs, choice->refs[index], with_series, ret_run, err)
               : runs_load_entry(choice->runs, &choice->entries[index], with_series, ret_run, err);
}

/* One object, written run by run: a ledger of any size is exported in the memory of one run. */
static int write_json(const struct choice *choice, struct output *output, struct err *err) {
    static const char head[] = "{\n\"schema\": \"probelauf.export/1\",\n\"runs\": [\n";
    int rc = output_write(output, head, sizeof(head) - 1, err);
    for (size_t i = 0; i < choice->count && rc == 0; i++) {
        AUTO_RUN struct run *run = NULL;
        rc = load(choice, i, false, &run, err);
        if (rc < 0) {
            return rc;
        }
        AUTO_JSON json_t *json = report_run_json(run);
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        json_add_compact(&text, json);
        strbuf_add_str(&text, i + 1 < choice->count ? ",\n" : "\n");
        rc = output_write(output, strbuf_str(&text), text.length, err);
    }
    return rc < 0 ? rc : output_write(output, "]\n}\n", 4, err);
}

static int write_csv(const struct choice *choice, struct output *output, struct err *err) {
    struct run **loaded = mem_alloc((choice->count + 1) * sizeof(*loaded));
    size_t count = 0;
    int rc = 0;
    while (count < choice->count && rc == 0) {
        rc = load(choice, count, false, &loaded[count], err);
        count += rc == 0;
    }
    if (rc == 0) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        report_run_csv((const struct run *const *)loaded, count, &text);
        rc = output_write(output, strbuf_str(&text), text.length, err);
    }
    while (count > 0) {
        (void)run_free(loaded[--count]);
    }
    mem_free_ptr(&loaded);
    return rc;
}

typedef int (*write_fn)(const struct choice *choice, struct output *output, struct err *err);

static int write_values(int argc, char **argv, write_fn write_choice, struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    AUTO_OUTPUT struct output output = {.fd = -1};
    struct choice choice = {0};
    int rc = view_open(arena, &runs, err);
    choice.runs = runs;
    rc = rc < 0 ? rc : choose(&choice, argc, argv, arena, err);
    rc = rc < 0 ? rc : output_open(opt_file, false, 0666, &output, err);
    rc = rc < 0 ? rc : write_choice(&choice, &output, err);
    return rc < 0 ? rc : output_commit(&output, err);
}

/* ---- verbs ---- */

static int check_choice(int argc, struct err *err) {
    if (opt_all && argc > 0) {
        return err_set(err, -EINVAL, "usage-conflict",
                       "'--all' and runs by name exclude each other");
    }
    return 0;
}

static int export_journal(int argc, char **argv) {
    struct err err = ERR_INIT;
    if (check_choice(argc, &err) < 0) {
        return cli_usage_error("export", &err);
    }
    return write_journals(argc, argv, &err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

static int export_values(int argc, char **argv, write_fn write_choice) {
    struct err err = ERR_INIT;
    if (check_choice(argc, &err) < 0) {
        return cli_usage_error("export", &err);
    }
    return write_values(argc, argv, write_choice, &err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

static int export_json(int argc, char **argv) {
    return export_values(argc, argv, write_json);
}

static int export_csv(int argc, char **argv) {
    return export_values(argc, argv, write_csv);
}

static const struct command_verb export_verbs[] = {
    {.name = "journal",
     .summary = N_("The records themselves, for 'probelauf import journal' on another machine."),
     .usage = N_("[--all | RUN...] [--text] [-o FILE]"),
     .max_args = -1,
     .operand = "run",
     .run = export_journal},
    {.name = "json",
     .summary = N_("Runs as 'show --json' prints them, in one list."),
     .usage = N_("[--all | RUN...] [-o FILE]"),
     .max_args = -1,
     .operand = "run",
     .run = export_json},
    {.name = "csv",
     .summary = N_(
         "One line a run, for spreadsheets; an empty cell is open, the cell beside it says why."),
     .usage = N_("[--all | RUN...] [-o FILE]"),
     .max_args = -1,
     .operand = "run",
     .run = export_csv},
    {.name = NULL},
};

const struct command command_export = {
    .name = "export",
    .summary = N_("Write records for another machine, or runs for other programs."),
    .examples = N_("ssh gpu probelauf export journal --all | probelauf import journal -"
                   "  # everything that was measured there\n"
                   "probelauf export csv -o runs.csv  # all runs for a spreadsheet\n"
                   "probelauf export journal @1 --text  # what the record of one run says\n"),
    .options = export_options,
    .verbs = export_verbs,
    .operand = "",
    .traits = COMMAND_LEDGER,
};
