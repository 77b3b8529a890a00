/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * docs/incidents.md is the table of src/text/incident-rules*.c in words. This test writes the
 * document anew and compares; with PROBELAUF_WRITE_DOC=docs/incidents.md in its environment it
 * replaces the file instead.
 */
#include "base/fd.h"
#include "base/mem.h"
#include "text/incident-rules.h"
#include "text/incident.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char head[] =
    "# Incidents\n"
    "\n"
    "<!-- Written by tests/text/test-incident-doc.c from src/text/incident-rules*.c; do not edit. "
    "To renew it, run that test with\n"
    "     PROBELAUF_WRITE_DOC=docs/incidents.md in its environment. -->\n"
    "\n"
    "An incident is something that a line of output, of the kernel log or of the scheduler shows "
    "without doubt. The first rule\n"
    "whose words all occur in the line decides; wording that no rule knows is no incident. Several "
    "lines about one event (the\n"
    "same process id, or the same kind within 12 lines without a contradiction) are one incident "
    "with the figures of all. An\n"
    "incident that more than 1000 further lines follow was survived and does not decide the run's "
    "class; so was one whose lines\n"
    "are mere warnings, of which a text alone has no class. Where a text ends sooner after an "
    "error it is not survived, even\n"
    "if its last lines look like a normal end: whether the program caught the error is not "
    "guessed; the class of a run whose exit\n"
    "status is known does not depend on it. A figure that one line rounds and another counts is "
    "the counted one.\n"
    "\n"
    "The class of a run is decided in this order: running; lost (no end record, or its monitor "
    "died); start_failed; budget;\n"
    "interrupted; ok (exit code 0, whatever was said on the way); ended (the status is not "
    "visible); then the first of\n"
    "preempted, host_oom, gpu_oom, gpu_fault, shm_exhausted, disk_full, access_denied, dependency, "
    "lost, killed, failed that an\n"
    "incident that was not survived, or the status, stands for. The status alone stands for "
    "failed, or for killed where a signal\n"
    "from outside ended the command (137 and 143 when a shell reports them): a cause is never "
    "guessed from a number.\n"
    "\n"
    "A line that stands in a text about an error (behind \"If you\", in backquotes, under a "
    "heading) or in the source line of a\n"
    "traceback is no incident. Sizes of GPU memory are binary (MB is MiB); 2^50 bytes and above is "
    "how drivers print \"not\n"
    "available\" and is left out. Memory that other processes hold is a figure of its own; on a "
    "MIG slice the capacity is the\n"
    "slice's, and processes of the whole board are not added up.\n"
    "\n";

static const char *figure_words(enum incident_figure_kind kind) {
    switch (kind) {
    case INCIDENT_INTEGER:
        return "the number behind";
    case INCIDENT_INTEGER_BEFORE:
        return "the number before";
    case INCIDENT_BYTES:
    case INCIDENT_BYTES_BINARY:
    case INCIDENT_SIZE:
        return "the size behind";
    case INCIDENT_SIZE_BEFORE:
        return "the size before";
    case INCIDENT_PAIR_FIRST:
        return "the first of two sizes behind";
    case INCIDENT_PAIR_SECOND:
        return "the second of two sizes behind";
    case INCIDENT_HEX:
        return "the hexadecimal number behind";
    case INCIDENT_MILLISECONDS:
        return "the milliseconds, as seconds, behind";
    case INCIDENT_TENSOR:
        return "the product of shape and type behind";
    case INCIDENT_NEIGHBOURS:
        return "";
    case INCIDENT_BUS:
        return "the PCI address behind";
    case INCIDENT_PHRASE:
        return "the words behind";
    case INCIDENT_WORD_WITH:
        return "the word that begins with";
    case INCIDENT_KIB:
        return "the kB behind";
    case INCIDENT_WORD:
        return "the word behind";
    case INCIDENT_NAME:
        return "the name behind";
    case INCIDENT_QUOTED:
        return "the quoted text behind";
    case INCIDENT_PARENTHESES:
        return "what is in parentheses behind";
    case INCIDENT_SEGMENT_BEFORE:
        return "what stands before";
    case INCIDENT_REPOSITORY:
        return "owner/name behind";
    case INCIDENT_STATUS:
        return "the exit status";
    case INCIDENT_STATUS_SIGNAL:
        return "the negative exit status, without its sign";
    case INCIDENT_IS_TEXT:
    case INCIDENT_IS_NUMBER:
        return "always";
    case INCIDENT_FIGURE_END_:
        return "";
    }
    return "";
}

static void add_code(struct strbuf *out, const char *text) {
    const char *ticks = strchr(text, '`') ? "``" : "`";
    strbuf_printf(out, "%s%s%s", ticks, text, ticks);
}

static void add_figure(struct strbuf *out, const struct incident_figure *figure, bool *any) {
    strbuf_add_str(out, *any ? "; " : "\n  (");
    *any = true;
    if (figure->kind == INCIDENT_NEIGHBOURS) {
        strbuf_add_str(out, "other_pids, other_processes_bytes: each `Process N has`; without "
                            "`this process has` it is open whose they are: listed_pids, "
                            "listed_processes_bytes");
        return;
    }
    bool is_quoted = figure->kind == INCIDENT_QUOTED && !*figure->at;
    strbuf_printf(out, "%s: %s", figure->name,
                  is_quoted ? "the first quoted text" : figure_words(figure->kind));
    if (*figure->at) {
        strbuf_add_char(out, ' ');
        add_code(out, figure->at);
    }
}

static void add_rule(struct strbuf *out, const struct incident_rule *rule) {
    strbuf_add_str(out, "- ");
    for (size_t i = 0; i < INCIDENT_KEYS_MAX && rule->all[i]; i++) {
        strbuf_add_str(out, i > 0 ? " and " : "");
        add_code(out, rule->all[i]);
    }
    if (rule->any && rule->all[0])
        strbuf_add_str(out, " and one of ");
    for (size_t i = 0; rule->any && rule->any[i]; i++) {
        strbuf_add_str(out, i > 0 ? (rule->all[0] ? ", " : " or ") : "");
        add_code(out, rule->any[i]);
    }
    if (rule->warns)
        strbuf_add_str(out, ", a mere warning: the run goes on");
    if (rule->beside)
        strbuf_printf(out, ", only within %u lines of such an incident", INCIDENT_BESIDE_LINES);
    if (rule->also_text)
        strbuf_printf(out, ", %s", rule->also_text);
    for (size_t i = 0; i < INCIDENT_KEYS_MAX && rule->none[i]; i++) {
        strbuf_add_str(out, i > 0 ? " or " : ", but not with ");
        add_code(out, rule->none[i]);
    }
    bool any = false;
    for (size_t i = 0; i < INCIDENT_FIGURES_MAX && rule->figures[i].kind; i++)
        add_figure(out, &rule->figures[i], &any);
    for (size_t i = 0; rule->more && rule->more[i].kind; i++)
        add_figure(out, &rule->more[i], &any);
    strbuf_add_str(out, any ? ")\n" : "\n");
}

static void write_document(struct strbuf *out) {
    strbuf_add_str(out, head);
    strbuf_add_str(out, "| incident | class | meaning | what to do |\n|---|---|---|---|\n");
    for (size_t i = 0; i < incident_info_count(); i++) {
        const struct incident_info *info = incident_info_at(i);
        strbuf_printf(out, "| `%s` | %s | %s | %s |\n", info->name, outcome_name(info->outcome),
                      info->meaning, info->advice);
    }
    for (size_t i = 0; i < incident_info_count(); i++) {
        const struct incident_info *info = incident_info_at(i);
        strbuf_printf(out, "\n## %s\n\n", info->name);
        if (info->refines)
            strbuf_printf(out, "Takes the place of `%s` when both are shown about one event.\n\n",
                          info->refines);
        for (size_t r = 0; r < incident_rule_count(); r++)
            if (strcmp(incident_rule_at(r)->name, info->name) == 0)
                add_rule(out, incident_rule_at(r));
    }
}

static void test_document_is_up_to_date(void **state) {
    AUTO_STRBUF struct strbuf expected = STRBUF_INIT;
    AUTO_STRBUF struct strbuf found = STRBUF_INIT;
    struct err err = ERR_INIT;
    const char *to = getenv("PROBELAUF_WRITE_DOC");
    const char *fixtures = getenv("PROBELAUF_TEST_FIXTURES");

    (void)state;
    write_document(&expected);
    if (to) {
        assert_int_equal(file_write_atomic(to, expected.data, expected.length, 0644, &err), 0);
        return;
    }
    if (!fixtures)
        skip();
    AUTO_FREE char *path = mem_printf("%s/../../docs/incidents.md", fixtures);
    assert_int_equal(file_read(path, 1 << 20, &found), 0);
    if (strcmp(strbuf_str(&expected), strbuf_str(&found)) != 0)
        fail_msg("%s is not what the table says; renew it as its first lines tell", path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_document_is_up_to_date),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
