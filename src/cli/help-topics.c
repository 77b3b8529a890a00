/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `help` tells of a file format: the essentials; the whole stands in a man page of section 5.
 */
#include "cli/help.h"

#include "cli/settings.h"

#include "base/msg.h"
#include "base/str.h"
#include "plan/schema.h"

#include <string.h>

static void add_plan(size_t width, struct strbuf *out) {
    help_add_lines(out,
                   _("The plan is the file probelauf.yaml: what is to be shown, with what, in "
                     "which blocks. People write it, in "
                     "git beside the code; the program reads it and never changes it once "
                     "'probelauf init' has written it. "
                     "It is looked for in this folder and in those above it; --plan and "
                     "PROBELAUF_PLAN name another.\n"
                     "What is not in it is open: there are no typical values. Keys of the first "
                     "level ('*': must be there):\n"),
                   width);
    AUTO_STRBUF struct strbuf keys = STRBUF_INIT;
    strbuf_add_str(&keys, "  ");
    for (size_t i = 0; i < schema_plan.key_count; i++) {
        const struct schema_key *key = &schema_plan.keys[i];
        strbuf_printf(&keys, "%s%s%s", i > 0 ? ", " : "", key->name, key->required ? "*" : "");
    }
    help_add_lines(out, strbuf_str(&keys), width);
    strbuf_add_char(out, '\n');
    help_add_lines(out,
                   _("'probelauf check' names everything that is wrong, each in one line with line "
                     "and column, and what is open "
                     "and stands in the way of what.\n"
                     "Every key with its values: man 5 probelauf-plan.\n"),
                   width);
}

static void add_journal(size_t width, struct strbuf *out) {
    help_add_lines(out,
                   _("A journal is the record of one run, or of one event about runs: one file, "
                     "only ever appended to, never "
                     "edited. All else (ledger, lists, estimates) is derived from journals and can "
                     "be derived again.\n"
                     "It is the text PLJOURN1, then records: kind, version, length, checksum, and "
                     "the payload, JSON but for "
                     "samples. What lies behind a record that does not fit is not read. A key that "
                     "is absent was not read; it is "
                     "never 0.\n"
                     "While a run goes on its journal lies beside the ledger (--journal-dir: "
                     "elsewhere); then the ledger takes it "
                     "in. 'probelauf export journal' hands it out, 'probelauf import journal' "
                     "takes it in elsewhere, any number "
                     "of times.\n"
                     "Every record with its keys: man 5 probelauf-journal.\n"),
                   width);
}

static void add_ledger(size_t width, struct strbuf *out) {
    help_add_lines(out,
                   _("The file: one SQLite database with every journal byte for byte, and an index "
                     "that 'probelauf ledger "
                     "rebuild' can make again. Without --ledger and PROBELAUF_LEDGER it is "
                     "probelauf/ledger.db below "
                     "XDG_DATA_HOME (~/.local/share).\n"
                     "Its tables: man 5 probelauf-ledger.\n"),
                   width);
}

static void add_config(size_t width, struct strbuf *out) {
    help_add_lines(out,
                   _("The file: probelauf/config.yaml below XDG_CONFIG_HOME (~/.config), lines of "
                     "'key: value'. Nothing has to be "
                     "in it. An option goes before a variable, a variable before the file.\n"),
                   width);
    size_t left_width = 0;
    for (int i = 0; i < SETTING_COUNT_; i++) {
        size_t wide = strlen(setting_key((enum setting)i));
        left_width = wide > left_width ? wide : left_width;
    }
    for (int i = 0; i < SETTING_COUNT_; i++) {
        enum setting setting = (enum setting)i;
        const char *built_in = setting_built_in(setting);
        AUTO_FREE char *text =
            setting == SETTING_PLAN || setting == SETTING_ENV
                ? mem_printf(_("%s; not in the file, which holds for every study"),
                             setting_variable(setting))
            : built_in != NULL
                ? mem_printf(_("%s, without it %s"), setting_variable(setting), built_in)
                : mem_strdup(setting_variable(setting));
        help_add_entry(out, setting_key(setting), text, left_width + 1, width);
    }
    strbuf_add_char(out, '\n');
    help_add_lines(out, _("What each of them does: man 5 probelauf-config.\n"), width);
}

static const struct {
    const char *name;
    bool is_command; /* its help comes first */
    void (*add)(size_t width, struct strbuf *out);
    const char *summary;
} topics[] = {
    {.name = "plan", .add = add_plan, .summary = N_("The file probelauf.yaml.")},
    {.name = "journal", .add = add_journal, .summary = N_("The record of a run.")},
    {.name = "ledger", .is_command = true, .add = add_ledger},
    {.name = "config", .is_command = true, .add = add_config},
};

bool help_topic(const char *name, size_t width, struct strbuf *out) {
    for (size_t i = 0; i < ARRAY_LENGTH(topics); i++) {
        if (strcmp(topics[i].name, name) == 0) {
            topics[i].add(width, out);
            return true;
        }
    }
    return false;
}

const char *help_topic_name(size_t index, const char **ret_summary) {
    for (size_t i = 0; i < ARRAY_LENGTH(topics); i++) {
        if (!topics[i].is_command && index-- == 0) {
            *ret_summary = topics[i].summary;
            return topics[i].name;
        }
    }
    return NULL;
}
