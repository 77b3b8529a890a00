/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf serve: the report as a live local page. */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/view.h"

#include "base/msg.h"
#include "serve/serve.h"

#include <stdio.h>

static int64_t opt_port;
static const char *opt_env;

static const struct opt_spec serve_options_table[] = {
    {.name = "port",
     .type = OPT_COUNT,
     .target = &opt_port,
     .argument = N_("PORT"),
     .max = 65535,
     .help = N_("Listen on this port of 127.0.0.1 (without it on any that is free).")},
    {.name = "env",
     .type = OPT_TEXT,
     .target = &opt_env,
     .argument = N_("ID"),
     .help = N_("The environment of the plan that it is about (without it the first).")},
    {.name = NULL},
};

/* The address goes to standard output, where a script can take it from. */
static void ready(const char *url, unsigned port) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text, "%s\n", url);
    cli_print(&text);
    (void)fflush(stdout); /* a script waits for it */
    AUTO_FREE char *hint =
        mem_printf(_("Ctrl-C ends it; from another machine: ssh -L %u:127.0.0.1:%u HOST, then open "
                     "the same address there"),
                   port, port);
    cli_note(hint);
}

static int serve_main(int argc, char **argv) {
    (void)argc;
    (void)argv;
    struct err err = ERR_INIT;
    AUTO_ARENA struct arena *arena = arena_new();
    struct place place;
    int rc = cli_place(arena, &place, &err);
    const struct serve_options options = {.place = &place,
                                          .plan = opt_common.plan,
                                          .environment = opt_env,
                                          .port = (uint16_t)opt_port,
                                          .ready = ready};
    rc = rc < 0 ? rc : serve_run(&options, &err);
    return rc < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

const struct command command_serve = {
    .name = "serve",
    .summary = N_("Show the report, the runs and what goes on as a live local page."),
    .details =
        N_("A web server on this machine's loopback address, for you alone: the address that it "
           "prints holds a token. It only reads. /runs lists the runs, a run that goes on is shown "
           "as it is now, /api/NAME.json is what 'probelauf NAME --json' prints, /metrics is for "
           "Prometheus."),
    .usage = N_("[--port PORT] [--env ID] [options]"),
    .examples = N_("probelauf serve  # then open the address that it prints\n"
                   "probelauf serve --port 8080  # always the same port\n"),
    .options = serve_options_table,
    .min_args = 0,
    .max_args = 0,
    .operand = "",
    .traits = COMMAND_LEDGER | COMMAND_PLAN,
    .run = serve_main,
};
