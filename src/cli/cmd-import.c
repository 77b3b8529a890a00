/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf import journal FILE…|-: records from another machine; doing it twice changes nothing.
 */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/view.h"

#include "base/fd.h"
#include "base/msg.h"
#include "store/store.h"
#include "work/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int import_one(struct store *store, const char *path, struct ledger_imported *ret_imported,
                      struct err *err) {
    if (strcmp(path, "-") == 0) {
        return ledger_import(store, STDIN_FILENO, ret_imported, err);
    }
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        return err_set(err, -errno, "import-unreadable", "cannot open '%s': %s", path,
                       strerror(errno));
    }
    int rc = ledger_import(store, fd, ret_imported, err);
    return rc < 0 ? err_add(err, rc, "importing '%s'", path) : 0;
}

/* All files are tried; the first error is the one that counts. */
static int import_all(struct store *store, int argc, char **argv, struct ledger_imported *total,
                      struct err *err) {
    int rc = 0;
    for (int i = 0; i < argc; i++) {
        struct ledger_imported one = {0};
        struct err why = ERR_INIT;
        int failed = import_one(store, argv[i], &one, &why);
        total->taken += one.taken;
        total->unchanged += one.unchanged;
        total->damaged += one.damaged;
        if (one.damaged > 0 && rc == 0) {
            rc = err_set(err, -EBADMSG, "import-damaged", "not taken in from '%s': %s", argv[i],
                         one.first_problem);
        }
        if (failed < 0 && rc == 0) {
            *err = why;
            rc = failed;
        }
    }
    return rc;
}

static int import_journal(int argc, char **argv) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_STORE struct store *store = NULL;
    struct err err = ERR_INIT;
    struct place place;
    if (cli_place(arena, &place, &err) < 0 ||
        store_open(place.ledger_url, STORE_READ_WRITE, &store, &err) < 0) {
        return cli_error(&err);
    }
    struct ledger_imported total = {0};
    int rc = import_all(store, argc, argv, &total, &err);
    AUTO_FREE char *note = mem_printf(_("taken in: %zu, there already: %zu, damaged: %zu"),
                                      total.taken, total.unchanged, total.damaged);
    cli_note(note);
    return rc < 0 ? cli_error(&err) : EXIT_CODE_DONE;
}

static const struct command_verb import_verbs[] = {
    {.name = "journal",
     .summary = N_("Records of this program, from files or from standard input (-)."),
     .usage = N_("FILE... | -"),
     .min_args = 1,
     .max_args = -1,
     .operand = "file",
     .run = import_journal},
    {.name = NULL},
};

const struct command command_import = {
    .name = "import",
    .summary = N_("Take in records from another machine; doing it again changes nothing."),
    .examples = N_("ssh gpu probelauf export journal --all | probelauf import journal -"
                   "  # everything that was measured there\n"
                   "probelauf import journal runs.journals  # from a file\n"),
    .verbs = import_verbs,
    .operand = "",
    .traits = COMMAND_LEDGER,
};
