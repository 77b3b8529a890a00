/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plans that `init` writes: one with every fact of the inventory open, with its question and
 * what it stops, and room for the rest; or a worked one of catalog/, carried inside, with an id of
 * its own. They must hold nothing that nobody found out: no typical GPU, no default number of runs.
 */
#include "plan/plan.h"

#include "base/msg.h"
#include "base/str.h"
#include "plan/catalog.h"

#include <assert.h>
#include <string.h>

#define LINE_WIDTH 98u

struct starter_fact {
    const char *id, *about, *question;
    unsigned stops;
};

#define RUNS   (PLAN_STOPS_COMPARE | PLAN_STOPS_SCALE | PLAN_STOPS_VERIFY)
#define ALL    (PLAN_STOPS_VALIDATE | RUNS | PLAN_STOPS_BOOKING)
#define BEGIN  (PLAN_STOPS_VALIDATE | PLAN_STOPS_BOOKING)
#define RENTAL PLAN_STOPS_BOOKING

/* REQUIREMENTS A1 to A8, in that order. */
static const struct starter_fact facts[] = {
    {"paper.version", "paper", N_("which exact version of the paper is reproduced?"), RUNS},
    {"paper.scope", "paper",
     N_("which of the paper's experiments belong to this study, and why not the others?"), RENTAL},
    {"code.exists", "code", N_("is there a repository of the authors, and which commit is used?"),
     BEGIN},
    {"code.version", "code", N_("does that commit match the version of the paper?"), RUNS},
    {"code.install", "code", N_("are install steps and versions given, and do they work?"),
     PLAN_STOPS_VALIDATE},
    {"code.command", "code",
     N_("which script runs the central experiment, with which command and framework?"),
     PLAN_STOPS_VALIDATE},
    {"code.settings", "code",
     N_("which settings of the paper does the code support (file and line)?"), RUNS | RENTAL},
    {"weights.access", "weights", N_("where are the weights from, and can they be had (gated)?"),
     BEGIN},
    {"weights.licence", "weights", N_("under which licence are they, and is this use permitted?"),
     RENTAL},
    {"data.access", "data", N_("which data sets are used, where are they from, can they be had?"),
     BEGIN},
    {"data.licence", "data", N_("under which licence are they, and is this use permitted?"),
     RENTAL},
    {"data.sizes", "data",
     N_("how many items, which input lengths, which batch sizes, which preprocessing?"), RUNS},
    {"data.generation", "data",
     N_("which generation parameters are used, and which methods are compared?"), RUNS},
    {"environment.dependencies", "environment",
     N_("which libraries in which versions does the code need?"), PLAN_STOPS_VALIDATE},
    {"environment.accelerator", "environment",
     N_("which accelerators and which stack (CUDA, ROCm, ...) does the repository support?"),
     BEGIN},
    {"environment.changes", "environment",
     N_("what must be changed to get it started (pins, patches, paths)? see 'deviations'"), RUNS},
    {"resource.gpu-memory", "resource",
     N_("how much GPU memory does the largest condition take, and which quantity is that?"),
     RENTAL},
    {"privacy.class", "privacy", N_("do the data hold personal or otherwise sensitive content?"),
     ALL},
    {"privacy.transfer", "privacy",
     N_("may data and models be moved there, who reads them and the logs, how long do they stay?"),
     ALL},
    {"privacy.provider", "privacy",
     N_("what does the provider state, where and when, and what does the team make of it?"),
     RENTAL},
};

/* A text as one YAML scalar in double quotes; what would end or bend it is escaped. */
static void add_quoted(struct strbuf *out, const char *text) {
    AUTO_STRBUF struct strbuf sound = STRBUF_INIT;
    str_add_printable(&sound, text, strlen(text));
    strbuf_add_char(out, '"');
    for (const char *p = strbuf_str(&sound); *p != '\0'; p++) {
        if (*p == '"' || *p == '\\')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, *p);
    }
    strbuf_add_char(out, '"');
}

/* Wrapped at blanks, "# " in front of each line. */
static void add_comment_in(struct strbuf *out, const char *indent, const char *text) {
    while (*text != '\0') {
        size_t end = 0, width = strlen(indent) + 2;
        for (size_t i = 0;; i++) {
            bool is_end = text[i] == '\0';
            if ((is_end || text[i] == ' ') && (width <= LINE_WIDTH || end == 0))
                end = i;
            if (is_end || width > LINE_WIDTH)
                break;
            width += ((unsigned char)text[i] & 0xc0) != 0x80; /* characters, not bytes */
        }
        if (end == 0) /* one word longer than a line */
            end = strcspn(text, " ");
        strbuf_printf(out, "%s# ", indent);
        strbuf_add(out, text, end);
        strbuf_add_char(out, '\n');
        text += end;
        text += strspn(text, " ");
    }
}

static void add_comment(struct strbuf *out, const char *text) {
    add_comment_in(out, "", text);
}

static void add_section(struct strbuf *out, const char *text) {
    strbuf_add_char(out, '\n');
    add_comment(out, text);
}

static void add_study(struct strbuf *out, const char *study_id, const char *title) {
    add_comment(out, _("The plan of a reproduction: what is to be shown, what is known, what is "
                       "run. People write it; probelauf only reads it. Keep it beside the code. "
                       "'probelauf check' says what is wrong and what is still open; every key "
                       "stands in docs/plan-format.md."));
    strbuf_add_str(out, "probelauf: 1\n");
    add_section(out, _("One study is one version of one paper. The id ties runs to it: leave it as "
                       "it is. scope: function-test, main-result or full-benchmark."));
    strbuf_printf(out, "study:\n  id: %s\n", study_id);
    if (title != NULL) {
        strbuf_add_str(out, "  title: ");
        add_quoted(out, title);
        strbuf_add_char(out, '\n');
    } else {
        strbuf_add_str(out, "  # title: ...\n");
    }
    strbuf_add_str(out, "  # paper: {title: ..., version: ..., url: ...}\n  scope: open\n");
    add_section(out, _("What is to be shown. A claim is held against the paper's value (with a "
                       "tolerance), a threshold or an ordering."));
    strbuf_add_str(out, "# claims:\n"
                        "#   - id: central\n"
                        "#     text: ...\n"
                        "#     result: accuracy\n"
                        "#     threshold: \">= 0.9\"\n"
                        "#     source: table 2\n");
    add_section(out, _("The paper's experiments, each included or left out with a reason; role: "
                       "central, additional, ablation or scaling."));
    strbuf_add_str(out, "# matrix_of_paper:\n"
                        "#   - {part: ..., role: central, included: yes, why: ..., source: table 2}"
                        "\n");
}

static void add_facts(struct strbuf *out) {
    add_section(out, _("What must be known. A fact is known only with value, source, source_kind "
                       "and seen; a typical value or a guess is no fact. While a fact is open, it "
                       "stands in the way of what 'stops' names; one that does not matter here is "
                       "'state: not-applicable'. For example:"));
    strbuf_add_str(out, "#     state: known\n"
                        "#     value: commit 1a2b3c4 of https://example.org/code.git\n"
                        "#     source: README, section Install\n"
                        "#     source_kind: repository\n"
                        "#     seen: 2026-11-30\n"
                        "facts:\n");
    for (size_t i = 0; i < ARRAY_LENGTH(facts); i++) {
        strbuf_printf(out,
                      "  - id: %s\n    about: %s\n    state: open\n    question: ", facts[i].id,
                      facts[i].about);
        add_quoted(out, _(facts[i].question));
        strbuf_add_str(out, "\n    stops: [");
        plan_stops_text(facts[i].stops, out);
        strbuf_add_str(out, "]\n");
    }
}

static void add_environment(struct strbuf *out) {
    add_section(out, _("Machines that come into question, the one that is meant first. What is not "
                       "said is open; gpus: 0 says that there is none. match: packages that must "
                       "be the same for a run to count."));
    strbuf_add_str(out, "environments:\n"
                        "  - id: target\n"
                        "    # kind: rented, own, institute or macos\n"
                        "    # gpu: ...\n"
                        "    # gpus: ...\n"
                        "    # driver: ...\n"
                        "    # match: [torch]\n");
    add_section(out, _("The code: files whose change makes earlier runs count no more. Name them "
                       "where data lie in the repository, too; without this it is all tracked "
                       "files but the plan, *.md, docs/ and LICENSE*."));
    strbuf_add_str(out, "# code: {paths: [src]}\n");
    add_section(out, _("Preparation by commands ('probelauf run --step install -- ...') and work "
                       "by people, each with what it belongs to: prepare, data, transfer, fixing, "
                       "checking or teardown."));
    strbuf_add_str(out, "# steps:\n"
                        "#   - name: install\n"
                        "#     component: prepare\n"
                        "#     run: pip install -r requirements.txt\n"
                        "#     needs_machine: yes\n"
                        "#     repeats: per-rental\n"
                        "# tasks:\n"
                        "#   - {id: look-at-results, what: ..., component: checking, "
                        "needs_machine: no}\n");
}

static void add_blocks(struct strbuf *out) {
    add_section(out, _("The work, cut into parts with a result that can be checked. Every "
                       "combination of the matrix' values is a condition; {name} in a command is "
                       "replaced by its value. state: confirmed (by the paper, with source), "
                       "chosen (by the team) or undetermined."));
    strbuf_add_str(out, "blocks:\n  - id: validate\n    kind: validate\n    extent: validation\n"
                        "    recurrence: one-off\n    question: ");
    add_quoted(out, _("do code, weights and inputs work together?"));
    strbuf_add_str(out, "\n    state: undetermined\n"
                        "    # command: python3 main.py --setting {setting}\n"
                        "    # matrix:\n"
                        "    #   setting: {values: [reference], state: undetermined}\n"
                        "    # inputs: [weights.safetensors]\n"
                        "    # runs: 1\n");
    add_comment_in(out, "    ",
                   _("What proves that a run did its work, such as words that it prints or a file "
                     "that it writes. Without it a run counts for time but is never done, unless "
                     "somebody looks at it and says 'probelauf annotate RUN --valid'."));
    strbuf_add_str(out, "    # expect: [\"marker=done\", file=out/result.json]\n"
                        "    # gate: ...\n"
                        "\n"
                        "  # - id: compare\n"
                        "  #   kind: compare\n"
                        "  #   extent: full\n"
                        "  #   recurrence: one-off\n"
                        "  #   question: ...\n"
                        "  #   claims: [central]\n"
                        "  #   needs: [validate]\n"
                        "  #   state: undetermined\n"
                        "  #   command: python3 main.py --setting {setting}\n"
                        "  #   matrix:\n"
                        "  #     setting: {values: [reference, changed], state: undetermined}\n"
                        "  #   results: [{name: accuracy, unit: \"1\"}]\n"
                        "  #   expect: [\"marker=done\"]\n"
                        "  #   runs: 3\n"
                        "  # - id: scale\n"
                        "  #   kind: scale\n"
                        "  #   needs: [compare]\n"
                        "  # - id: verify\n"
                        "  #   kind: verify\n"
                        "  #   needs: [compare]\n"
                        "  #   verify: {of: compare, result: accuracy, tolerance: 1%}\n");
}

void plan_starter(const char *study_id, const char *title, struct strbuf *out) {
    add_study(out, study_id, title);
    add_facts(out);
    add_environment(out);
    add_blocks(out);
    add_section(out, _("Data protection: unsettled, it stands in the way of booking. class: none, "
                       "personal or sensitive; may_transfer: may data and models be moved there; "
                       "what the provider states counts with its source and date; assessment: what "
                       "the team makes of it."));
    strbuf_add_str(out, "# privacy:\n"
                        "#   class: ...\n"
                        "#   may_transfer: open\n"
                        "#   provider_statement: {value: ..., source: ..., seen: ...}\n"
                        "#   assessment: ...\n"
                        "#   storage: ...\n"
                        "#   readers: ...\n"
                        "#   retention: ...\n");
}

/* ---- worked plans ---- */

/* The files of catalog/; their texts name no program, so they stay as they are in every language.
 */
static const struct {
    const char *name, *text, *about;
} catalog[] = {
    {"fast-kvzip", (const char *)catalog_fast_kvzip,
     N_("arXiv 2601.17668v1; the code is there, licence, head scores and data are open")},
    {"linearard", (const char *)catalog_linearard,
     N_("arXiv 2604.00004v1; the training is there, the evaluation is open")},
    {"adkv", (const char *)catalog_adkv, N_("no paper and no code found: all of it is open")},
};

const char *plan_catalog_name(size_t index) {
    return index < ARRAY_LENGTH(catalog) ? catalog[index].name : NULL;
}

const char *plan_catalog_about(size_t index) {
    return index < ARRAY_LENGTH(catalog) ? _(catalog[index].about) : NULL;
}

/* The text up to the next place of `mark`, which is taken, and where it goes on; NULL: there is
 * none. */
static const char *add_until(struct strbuf *out, const char *text, const char *mark) {
    const char *at = strstr(text, mark);
    if (at == NULL)
        return NULL;
    strbuf_add(out, text, (size_t)(at - text));
    return at + strlen(mark);
}

bool plan_catalog(const char *name, const char *study_id, const char *title, struct strbuf *out) {
    const char *rest = NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(catalog); i++)
        if (strcmp(catalog[i].name, name) == 0)
            rest = catalog[i].text;
    if (rest == NULL)
        return false;
    add_comment(out, _("A worked plan of probelauf's catalogue, yours from now on: what somebody "
                       "found out stands with its source and the day, the rest is open with its "
                       "question. It says things as of those days: look again. Facts are in "
                       "English, as their sources are. 'probelauf check' lists what is open; "
                       "every key stands in docs/plan-format.md."));
    strbuf_add_str(out, "#\n");
    rest = add_until(out, rest, CATALOG_STUDY_ID);
    assert(rest != NULL); /* a test reads every plan of the catalogue */
    strbuf_add_str(out, study_id);
    if (title != NULL) {
        rest = add_until(out, rest, "\n  title: ");
        assert(rest != NULL);
        strbuf_add_str(out, "\n  title: ");
        add_quoted(out, title);
        rest += strcspn(rest, "\n");
    }
    strbuf_add_str(out, rest);
    return true;
}
