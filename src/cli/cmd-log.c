/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf log: the runs, newest first, those that still run included. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/view.h"
#include "cli/words.h"

#include "base/clock.h"
#include "base/msg.h"
#include "work/session.h"

#include <string.h>
#include <unistd.h>

#define PAGE 100

static int64_t opt_limit = PAGE;
static const char *opt_outcome, *opt_purpose, *opt_since, *opt_text, *opt_after, *opt_session;

static const char *const purpose_choices[] = {"trial", "function-test", "work", NULL};

static const struct opt_spec log_options[] = {
    {.name = "limit",
     .type = OPT_COUNT,
     .target = &opt_limit,
     .argument = N_("N"),
     .max = INT64_C(1000000000),
     .help = N_("At most N runs (100); 0: all.")},
    {.name = "after",
     .type = OPT_TEXT,
     .target = &opt_after,
     .argument = N_("RUN"),
     .help = N_("Go on behind this run: the \"next\" of the page before.")},
    {.name = "outcome",
     .type = OPT_CHOICE,
     .target = &opt_outcome,
     .argument = N_("CLASS"),
     .words = words_outcome,
     .help = N_("Only runs that ended so, for example ok, failed or running.")},
    {.name = "purpose",
     .type = OPT_CHOICE,
     .target = &opt_purpose,
     .argument = N_("WHAT"),
     .choices = purpose_choices,
     .help = N_("Only runs with this purpose: trial, function-test or work.")},
    {.name = "since",
     .type = OPT_TEXT,
     .target = &opt_since,
     .argument = N_("WHEN"),
     .help = N_("Only runs that started then or later: 2h, 3d, 2026-11-30 or a time in UTC.")},
    {.name = "text",
     .type = OPT_TEXT,
     .target = &opt_text,
     .argument = N_("TEXT"),
     .help = N_("Only runs whose command contains this text.")},
    {.name = "session",
     .type = OPT_TEXT,
     .target = &opt_session,
     .argument = N_("SESSION"),
     .help = N_("Only runs of this session, as 'session list' shows it.")},
    {.name = NULL},
};

static bool is_filtered(const struct store_query *query) {
    return query->outcome != NULL || query->purpose != NULL || query->text != NULL ||
           query->after != NULL || query->since_utc_ns != 0 || opt_session != NULL;
}

/* Which run is in a session is found out when it is read, so the index cannot choose: what it lists
 * is gone through. */
static int keep_session(struct runs *runs, struct store_entry *entries, size_t *count,
                        struct err *err) {
    AUTO_WORK_SESSIONS struct work_sessions sessions = {0};
    const struct session *session = NULL;
    int rc = work_sessions_open(runs, WORK_SESSIONS_ALL, NULL, &sessions, err);
    rc = rc < 0 ? rc : work_session_find(&sessions, opt_session, &session, err);
    if (rc < 0) {
        return rc;
    }
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        for (size_t k = 0; k < session->run_count; k++) {
            if (strcmp(session->runs[k].run, entries[i].run) == 0) {
                entries[kept++] = entries[i];
                break;
            }
        }
    }
    *count = kept;
    return 0;
}

static int list(const struct store_query *query, struct err *err) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_RUNS struct runs *runs = NULL;
    int rc = view_open(arena, &runs, err);
    if (rc < 0) {
        return rc;
    }
    struct store_entry *entries = NULL;
    size_t count = 0;
    rc = runs_list(runs, query, arena, &entries, &count, err);
    if (rc == 0 && opt_session != NULL) {
        rc = keep_session(runs, entries, &count, err);
    }
    if (rc < 0) {
        return rc;
    }
    size_t page = (size_t)opt_limit;
    bool more = page > 0 && count > page;
    count = more ? page : count;
    const char *next = more ? entries[count - 1].run : NULL;
    if (opt_common.json) {
        cli_print_json(report_log_json(entries, count, next));
        return 0;
    }
    if (count == 0 && is_filtered(query)) {
        AUTO_STRBUF struct strbuf none = STRBUF_INIT;
        strbuf_printf(&none, "%s\n", _("no run matches; 'probelauf log' lists all"));
        cli_print(&none);
        return 0;
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_log_text(entries, count, cli_style(STDOUT_FILENO), &text);
    cli_print(&text);
    if (more && !opt_common.quiet) {
        AUTO_FREE char *hint =
            mem_printf(_("there are older runs: add '--after %s', or '--limit 0' for all"), next);
        cli_note(hint);
    }
    return 0;
}

static int log_run(int argc, char **argv) {
    (void)argc;
    (void)argv;
    struct err err = ERR_INIT;
    /* One more than shown tells whether there is a next page. */
    struct store_query query = {
        .type = "run",
        .outcome = opt_outcome,
        .purpose = opt_purpose,
        .text = opt_text,
        .after = opt_after,
        .limit = opt_limit > 0 && opt_session == NULL ? (size_t)opt_limit + 1 : 0,
    };
    if (opt_since != NULL &&
        words_to_moment("since", opt_since, clock_utc_ns(), &query.since_utc_ns, &err) < 0) {
        return cli_usage_error("log", &err);
    }
    return list(&query, &err) < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

const struct command command_log = {
    .name = "log",
    .summary = N_("List runs, newest first."),
    .usage = N_("[options]"),
    .examples = N_(
        "probelauf log  # the latest 100 runs\n"
        "probelauf log --since 2d --outcome failed  # what failed in the last two days\n"
        "probelauf log --text train.py --limit 0 --json  # all runs of one script, for programs\n"),
    .options = log_options,
    .min_args = 0,
    .max_args = 0,
    .operand = "",
    .traits = COMMAND_LEDGER | COMMAND_JSON,
    .run = log_run,
};
