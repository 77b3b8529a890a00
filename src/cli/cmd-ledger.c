/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf ledger info|check|rebuild|purge: keeping the place where all records are. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/view.h"
#include "cli/words.h"

#include "base/clock.h"
#include "base/msg.h"
#include "base/str.h"
#include "work/hand-out.h"
#include "work/ledger.h"

#include <errno.h>
#include <string.h>

static bool opt_yes;
static const char *opt_older_than, *opt_study;

static const struct opt_spec ledger_options[] = {
    {.name = "older-than",
     .type = OPT_TEXT,
     .target = &opt_older_than,
     .argument = N_("WHEN"),
     .verbs = "purge",
     .help = N_("Only runs that started before: 90d, 2026-11-30 or a time in UTC.")},
    {.name = "study",
     .type = OPT_TEXT,
     .target = &opt_study,
     .argument = N_("ID"),
     .verbs = "purge",
     .help = N_("Only runs of this study (study.id of its plan), with what was settled for it.")},
    {.name = "yes",
     .type = OPT_FLAG,
     .target = &opt_yes,
     .verbs = "purge",
     .help = N_("Delete for good; without it purge only says what it would delete.")},
    {.name = NULL},
};

/* The ledger, with what waits in the journal folders taken in first. */
static int open_ledger(struct arena *arena, struct runs **ret_runs, struct store **ret_store,
                       struct err *err) {
    struct place place;
    int rc = cli_place(arena, &place, err);
    rc = rc < 0 ? rc : hand_out_open(&place, ret_runs, err);
    if (rc < 0) {
        return rc;
    }
    *ret_store = runs_store(*ret_runs);
    if (*ret_store != NULL) {
        cli_warning(runs_warning(*ret_runs));
        return 0;
    }
    AUTO_STORE struct store *store = NULL; /* only to hear what is wrong with it */
    rc = store_open(place.ledger_url, STORE_READ_WRITE, &store, err);
    return rc < 0 ? rc
                  : err_set(err, -EIO, "ledger-unavailable", "the ledger cannot be used: %s",
                            runs_warning(*ret_runs));
}

/* ---- info ---- */

static void print_info_json(const struct store_info *info) {
    json_t *out = json_object();
    json_put_text(out, "schema", "probelauf.ledger/1");
    json_put_text(out, "backend", info->backend);
    json_put_text(out, "place", info->place);
    json_put_int(out, "schema_version", info->schema_version);
    json_put_int(out, "runs", (int64_t)info->runs);
    json_put_int(out, "events", (int64_t)info->events);
    json_put_int(out, "journal_bytes", (int64_t)info->journal_bytes);
    json_put_int(out, "stored_bytes", (int64_t)info->stored_bytes);
    json_put_int(out, "file_bytes", (int64_t)info->file_bytes);
    json_put_text(out, "journal_mode", info->journal_mode);
    json_put_bool(out, "network_file_system", info->network_file_system);
    cli_print_json(out);
}

static void add_bytes(struct strbuf *out, const char *label, uint64_t bytes) {
    strbuf_printf(out, "%s: ", label);
    quantity_format_value((double)bytes, UNIT_BYTE, out);
    strbuf_add_char(out, '\n');
}

static void print_info_text(const struct store_info *info) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT, place = STRBUF_INIT;
    str_add_printable(&place, info->place, strlen(info->place));
    strbuf_printf(&out, _("ledger: %s (%s, schema %d)\n"), strbuf_str(&place), info->backend,
                  info->schema_version);
    strbuf_printf(&out, _("runs: %llu\n"), (unsigned long long)info->runs);
    strbuf_printf(&out, _("annotations and other events: %llu\n"),
                  (unsigned long long)info->events);
    add_bytes(&out, _("journals"), info->journal_bytes);
    add_bytes(&out, _("stored in"), info->stored_bytes);
    add_bytes(&out, _("file"), info->file_bytes);
    strbuf_printf(&out, _("write mode: %s%s\n"), info->journal_mode,
                  info->network_file_system ? _(", on a network file system") : "");
    cli_print(&out);
}

static int ledger_info(int argc, char **argv) {
    (void)argc;
    (void)argv;
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    struct store *store = NULL;
    struct store_info info;
    struct err err = ERR_INIT;
    if (open_ledger(arena, &runs, &store, &err) < 0 || store_info(store, arena, &info, &err) < 0) {
        return cli_error(&err);
    }
    if (opt_common.json) {
        print_info_json(&info);
    } else {
        print_info_text(&info);
    }
    return EXIT_CODE_DONE;
}

/* ---- check ---- */

struct check {
    json_t *problems;
    struct strbuf text;
};

static void add_problem(const char *run, const char *part, const char *what, void *context) {
    struct check *check = context;
    json_t *problem = json_object();
    json_put_text(problem, "run", run);
    json_put_text(problem, "part", part);
    json_put_text(problem, "what", what);
    (void)json_array_append_new(check->problems, problem);
    if (run != NULL) {
        str_add_printable(&check->text, run, strlen(run));
        strbuf_add_str(&check->text, ": ");
    }
    str_add_printable(&check->text, what, strlen(what));
    strbuf_add_char(&check->text, '\n');
}

static void print_check(struct check *check, size_t count) {
    if (opt_common.json) {
        json_t *out = json_object();
        json_put_text(out, "schema", "probelauf.ledger-check/1");
        json_put_bool(out, "sound", count == 0);
        json_put(out, "problems", json_incref(check->problems));
        cli_print_json(out);
        return;
    }
    if (count == 0) {
        strbuf_add_str(&check->text, _("the ledger is sound\n"));
    }
    cli_print(&check->text);
}

static int ledger_check_run(int argc, char **argv) {
    (void)argc;
    (void)argv;
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    struct store *store = NULL;
    struct check check = {.problems = json_array()};
    size_t count = 0;
    struct err err = ERR_INIT;
    int rc = open_ledger(arena, &runs, &store, &err);
    rc = rc < 0 ? rc : ledger_check(store, add_problem, &check, &count, &err);
    if (rc == 0) {
        print_check(&check, count);
    }
    if (rc == 0 && count > 0) {
        rc = err_set(
            &err, -EBADMSG, "ledger-problems",
            "problems in the ledger: %zu; 'probelauf ledger rebuild' saves what can be saved",
            count);
    }
    json_decref(check.problems);
    strbuf_done(&check.text);
    return rc < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

/* ---- rebuild ---- */

static int ledger_rebuild_run(int argc, char **argv) {
    (void)argc;
    (void)argv;
    AUTO_ARENA struct arena *arena = arena_new();
    struct ledger_rebuilt rebuilt = {0};
    struct place place;
    struct err err = ERR_INIT;
    if (cli_place(arena, &place, &err) < 0 ||
        ledger_rebuild(place.ledger_url, &rebuilt, &err) < 0) {
        return cli_error(&err);
    }
    AUTO_FREE char *note = mem_printf(_("rebuilt; journals read: %zu"), rebuilt.journals);
    cli_note(note);
    if (rebuilt.aside != NULL) {
        AUTO_FREE char *aside = mem_printf(_("the damaged file is kept as '%s'"), rebuilt.aside);
        cli_note(aside);
    }
    mem_free_ptr(&rebuilt.aside);
    if (rebuilt.unreadable == STORE_UNKNOWN_COUNT) {
        (void)err_set(&err, -EBADMSG, "ledger-lost",
                      "journals could not be read any more, and how many is not known; import them "
                      "again where "
                      "they came from");
        return cli_error(&err);
    }
    if (rebuilt.unreadable > 0) {
        (void)err_set(
            &err, -EBADMSG, "ledger-lost",
            "journals that could not be read any more: %zu; import them again where they came from",
            rebuilt.unreadable);
        return cli_error(&err);
    }
    return EXIT_CODE_DONE;
}

/* ---- purge ---- */

/* Full ids of the runs that were named. */
static int find_runs(struct runs *runs, int argc, char **argv, struct arena *arena,
                     const char ***ret_ids, struct err *err) {
    const char **ids = arena_alloc(arena, ((size_t)argc + 1) * sizeof(*ids));
    for (int i = 0; i < argc; i++) {
        AUTO_RUN struct run *run = NULL;
        int rc = runs_load(runs, argv[i], false, &run, err);
        if (rc < 0) {
            return rc;
        }
        ids[i] = arena_strdup(arena, run->id);
    }
    *ret_ids = ids;
    return 0;
}

static void print_chosen(const char *const *ids, size_t count) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    for (size_t i = 0; i < count; i++) {
        strbuf_printf(&out, "%s\n", ids[i]);
    }
    cli_print(&out);
}

static int delete_all(struct store *store, const char *const *runs, size_t run_count,
                      const char *const *events, size_t event_count, struct err *err) {
    size_t deleted = 0;
    int rc = run_count > 0 ? store_purge(store, runs, run_count, &deleted, err) : 0;
    if (rc == 0 && event_count > 0) {
        rc = store_purge(store, events, event_count, &deleted, err);
    }
    if (rc == 0) {
        AUTO_FREE char *note = mem_printf(_("runs deleted: %zu"), run_count);
        cli_note(note);
    }
    return rc;
}

static int purge(int argc, char **argv, int64_t older_than_utc_ns, struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    struct store *store = NULL;
    const char **named = NULL;
    const char *const *chosen = NULL, *const *events = NULL;
    size_t count = 0, event_count = 0;
    int rc = open_ledger(arena, &runs, &store, err);
    rc = rc < 0 ? rc : find_runs(runs, argc, argv, arena, &named, err);
    if (rc < 0) {
        return rc;
    }
    struct ledger_purge what = {
        .runs = argc > 0 ? named : NULL,
        .run_count = (size_t)argc,
        .study = opt_study,
        .older_than_utc_ns = older_than_utc_ns,
    };
    rc = ledger_purge_choose(store, &what, arena, &chosen, &count, err);
    rc = rc < 0 ? rc : ledger_purge_events(store, &what, arena, &events, &event_count, err);
    if (rc < 0) {
        return rc;
    }
    print_chosen(chosen, count);
    print_chosen(events, event_count);
    if (opt_yes) {
        return delete_all(store, chosen, count, events, event_count, err);
    }
    AUTO_FREE char *note =
        mem_printf(_("runs that would be deleted: %zu; nothing was: add '--yes'"), count);
    cli_note(note);
    return 0;
}

static int ledger_purge_run(int argc, char **argv) {
    struct err err = ERR_INIT;
    int64_t older_than_utc_ns = 0;
    if (argc == 0 && opt_older_than == NULL && opt_study == NULL) {
        (void)err_set(&err, -EINVAL, "usage-operands",
                      "'ledger purge' needs to know which runs: RUN..., '--study ID' or "
                      "'--older-than WHEN'");
        return cli_usage_error("ledger", &err);
    }
    if (opt_older_than != NULL && words_to_moment("older-than", opt_older_than, clock_utc_ns(),
                                                  &older_than_utc_ns, &err) < 0) {
        return cli_usage_error("ledger", &err);
    }
    return purge(argc, argv, older_than_utc_ns, &err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

static const struct command_verb ledger_verbs[] = {
    {.name = "info",
     .summary = N_("Where it is, how many runs it holds, how large it is."),
     .usage = "",
     .json = true,
     .operand = "",
     .run = ledger_info},
    {.name = "check",
     .summary = N_("Read every record and say what is damaged."),
     .usage = "",
     .json = true,
     .operand = "",
     .run = ledger_check_run},
    {.name = "rebuild",
     .summary =
         N_("Derive the index anew from the records; save what can be saved of a damaged file."),
     .usage = "",
     .operand = "",
     .run = ledger_rebuild_run},
    {.name = "purge",
     .summary = N_("Delete runs and what was noted about them."),
     .usage = N_("[RUN...] [--study ID] [--older-than WHEN] [--yes]"),
     .max_args = -1,
     .operand = "run",
     .run = ledger_purge_run},
    {.name = NULL},
};

const struct command command_ledger = {
    .name = "ledger",
    .summary = N_("Look after the place where all records are kept."),
    .examples =
        N_("probelauf ledger info  # where it is and how large\n"
           "probelauf ledger check  # is every record sound?\n"
           "probelauf ledger purge --older-than 365d  # what would go; with --yes it goes\n"),
    .options = ledger_options,
    .verbs = ledger_verbs,
    .operand = "",
    .traits = COMMAND_LEDGER | COMMAND_JSON,
};
