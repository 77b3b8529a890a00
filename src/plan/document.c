/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * docs/plan-format.md: the table in words, with what stands around it. English, as all documents.
 * The example in it is read by a test; nothing here may say what the table says otherwise.
 */
#include "plan/plan.h"

#include "base/yaml.h"
#include "plan/reading.h"
#include "plan/schema.h"

#include <ctype.h>
#include <string.h>

static const char head[] =
    "# The plan: `probelauf.yaml`\n"
    "\n"
    "<!-- Written by tests/plan/test-documents.c from src/plan/schema.c; do not edit. To renew it, "
    "run that test with\n"
    "     PROBELAUF_WRITE_DOC=docs/plan-format.md in its environment. -->\n"
    "\n"
    "The plan says what is to be shown, with what, in which blocks. People write it, in git beside "
    "the code; the program\n"
    "reads it and never changes it once `probelauf init` has written the first one. What is not "
    "in it is **open**: there are\n"
    "no defaults but those that a table below names, and no typical values.\n"
    "\n"
    "`probelauf check` reads it and names everything that is wrong, each in one line with line "
    "and column, and lists what\n"
    "is open and what that stands in the way of. `schema/plan.schema.json` says the same to "
    "editors that complete YAML; most\n"
    "take it by a first line `# yaml-language-server: $schema=PATH/plan.schema.json`.\n"
    "\n"
    "## A short plan\n"
    "\n"
    "```yaml\n";

static const char example[] =
    "probelauf: 1\n"
    "study:\n"
    "  id: 01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21\n"
    "  title: Does half of the cache do?\n"
    "  paper: {title: A paper, version: \"arXiv v2\"}\n"
    "claims:\n"
    "  - id: half-is-enough\n"
    "    text: with half of the cache the text stays as it was\n"
    "    result: agreement\n"
    "    where: {keep: \"0.5\"}\n"
    "    threshold: \">= 0.9\"\n"
    "    source: \"paper, table 2\"\n"
    "facts:\n"
    "  - id: weights.licence\n"
    "    about: weights\n"
    "    state: open\n"
    "    question: may the weights be used here?\n"
    "    stops: [booking]\n"
    "environments:\n"
    "  - {id: rented-a, kind: rented, gpu: NVIDIA A100-SXM4-80GB, gpus: 1, match: [torch]}\n"
    "steps:\n"
    "  - name: install\n"
    "    component: prepare\n"
    "    run: pip install -r requirements.txt\n"
    "    needs_machine: yes\n"
    "    repeats: per-rental\n"
    "blocks:\n"
    "  - id: validate\n"
    "    kind: validate\n"
    "    extent: validation\n"
    "    recurrence: one-off\n"
    "    question: do code, weights and inputs work together?\n"
    "    state: chosen\n"
    "    steps: [install]\n"
    "    matrix: {keep: {values: [1], state: chosen}}\n"
    "    runs: 1\n"
    "    command: python3 generate.py --keep {keep}\n"
    "  - id: compare\n"
    "    kind: compare\n"
    "    extent: full\n"
    "    recurrence: one-off\n"
    "    question: how much of the text survives?\n"
    "    state: confirmed\n"
    "    source: \"paper, section 4\"\n"
    "    claims: [half-is-enough]\n"
    "    needs: [validate]\n"
    "    steps: [install]\n"
    "    matrix:\n"
    "      keep: {values: [1, 0.5], state: confirmed, source: \"paper, table 2\"}\n"
    "    runs: 3\n"
    "    command: python3 generate.py --keep {keep} --out out-{keep}.json\n"
    "    outputs: [\"out-{keep}.json\"]\n"
    "    results:\n"
    "      - {name: agreement, unit: \"1\", file: \"out-{keep}.json\", json: /agreement}\n"
    "    retry: {max: 1}\n";

static const char rules[] =
    "```\n"
    "\n"
    "## How it is read\n"
    "\n"
    "- Texts are texts: `1`, `1.0` and `\"1\"` are the text that stands there, and values of "
    "parameters are compared as\n"
    "  written. `check` warns of two spellings of one number. The line end that `|` and `>` leave "
    "is no "
    "part of a text.\n"
    "- A key with nothing behind it (or `~`, or `null`) is as if it were not there: not said, so "
    "open.\n"
    "- Where a list is expected, one text may stand alone.\n"
    "- Ids: at most 64 of `a-z`, `0-9`, `.`, `_`, `-`, a letter or digit first.\n"
    "- Durations: `90s`, `90 min`, `2h`, `1d 4h`, `1.5h`; a plain number is seconds. Sizes: `80 "
    "GiB` (1024), `24 GB`\n"
    "  (1000), a plain number is bytes; `80G` is refused, since it is neither. Amounts are exact, "
    "with at most six decimals.\n"
    "  Dates: `2026-11-30`. Decimals have a point.\n"
    "- A command is started without a shell. One text is cut into words at blanks; `'...'`, "
    "`\"...\"` and `\\` quote as in a\n"
    "  shell, and nothing is expanded: outside of quotes `` | > < & ; $ ` * ? ( ) `` are refused, "
    "inside `\"...\"` `` $ ` ``. With "
    "`shell: true` the text\n"
    "  goes to `sh -c` as it is. `{name}` is replaced by the parameter's value, `{{` and `}}` are "
    "braces.\n"
    "- All complaints of a file come in one pass (at most ";

static const char refusals[] =
    "What would make a file mean something else than it seems to is refused, with the place: "
    "anchors (`&`), aliases (`*`),\n"
    "tags (`!`), merge keys (`<<`), a key twice in one mapping, keys that are no text, a second "
    "document, tabs as indentation,\n"
    "zero bytes and other control characters, invisible line separators, bytes that are no UTF-8, "
    "UTF-16 and UTF-32 (a UTF-8\n"
    "byte order mark is taken), ";

/* Short names of what a key holds. */
static const char *const forms[SCHEMA_TYPE_COUNT_] = {
    [SCHEMA_VERSION] = "number",
    [SCHEMA_TEXT] = "text",
    [SCHEMA_ID] = "id",
    [SCHEMA_UUID] = "UUID",
    [SCHEMA_PHASE] = "phase",
    [SCHEMA_REGEX] = "expression",
    [SCHEMA_PATTERN] = "expression",
    [SCHEMA_POINTER] = "JSON pointer",
    [SCHEMA_ROW] = "`first`, `last`, number",
    [SCHEMA_CURRENCY] = "three letters",
    [SCHEMA_FLAG] = "`true`, `false`",
    [SCHEMA_NUMBER] = "number",
    [SCHEMA_DURATION] = "duration",
    [SCHEMA_BYTES] = "size",
    [SCHEMA_AMOUNT] = "amount",
    [SCHEMA_DATE] = "date",
    [SCHEMA_TOLERANCE] = "deviation",
    [SCHEMA_THRESHOLD] = "relation",
    [SCHEMA_TEXTS] = "texts",
    [SCHEMA_IDS] = "ids",
    [SCHEMA_MATCH] = "texts",
    [SCHEMA_COMMAND] = "command",
    [SCHEMA_PAIRS] = "names: texts",
    [SCHEMA_PHASES] = "names: phases",
    [SCHEMA_PARAMETERS] = "parameters: values",
    [SCHEMA_CONDITIONS] = "list of parameters: values",
};

/* "blocks[].verify" as the anchor of its heading. */
static void add_link(struct strbuf *out, const struct schema_part *part) {
    strbuf_printf(out, "[%s](#", part->name);
    for (const char *at = part->name; *at != '\0'; at++)
        if (isalnum((unsigned char)*at) || *at == '_' || *at == '-')
            strbuf_add_char(out, (char)tolower((unsigned char)*at));
        else if (*at == ' ')
            strbuf_add_char(out, '-');
    strbuf_add_char(out, ')');
}

static void add_words(struct strbuf *out, const struct schema_words *words) {
    for (size_t i = 0; i < words->count; i++)
        if (!schema_is_spelling(&words->items[i]))
            strbuf_printf(out, "%s`%s`", i > 0 ? ", " : "", words->items[i].name);
}

static void add_form(struct strbuf *out, const struct schema_key *key) {
    switch (key->type) {
    case SCHEMA_CHOICE:
    case SCHEMA_WORD:
    case SCHEMA_WORDS:
        add_words(out, key->words);
        return;
    case SCHEMA_WHOLE:
        strbuf_printf(out, "whole number from %lld", (long long)key->minimum);
        return;
    case SCHEMA_PART:
        add_link(out, key->part);
        return;
    case SCHEMA_PARTS:
    case SCHEMA_VALUES:
        strbuf_add_str(out, "list of ");
        add_link(out, key->part);
        return;
    case SCHEMA_NAMED_PARTS:
        strbuf_add_str(out, "names: ");
        add_link(out, key->part);
        return;
    case SCHEMA_SOURCED:
        add_link(out, key->part);
        return;
    case SCHEMA_VERSION:
    case SCHEMA_TEXT:
    case SCHEMA_ID:
    case SCHEMA_UUID:
    case SCHEMA_PHASE:
    case SCHEMA_REGEX:
    case SCHEMA_PATTERN:
    case SCHEMA_POINTER:
    case SCHEMA_ROW:
    case SCHEMA_CURRENCY:
    case SCHEMA_FLAG:
    case SCHEMA_NUMBER:
    case SCHEMA_DURATION:
    case SCHEMA_BYTES:
    case SCHEMA_AMOUNT:
    case SCHEMA_DATE:
    case SCHEMA_TOLERANCE:
    case SCHEMA_THRESHOLD:
    case SCHEMA_TEXTS:
    case SCHEMA_IDS:
    case SCHEMA_MATCH:
    case SCHEMA_COMMAND:
    case SCHEMA_PAIRS:
    case SCHEMA_PHASES:
    case SCHEMA_PARAMETERS:
    case SCHEMA_CONDITIONS:
    case SCHEMA_TYPE_COUNT_:
        strbuf_add_str(out, forms[key->type]);
        return;
    }
}

/* A '|' would end a cell. */
static void add_cell(struct strbuf *out, const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '|')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, *text);
    }
}

static void add_key(struct strbuf *out, const struct schema_key *key) {
    strbuf_printf(out, "| `%s` | ", key->name);
    add_form(out, key);
    strbuf_printf(out, " | %s | ",
                  key->required         ? "**needed**"
                  : key->unsaid != NULL ? key->unsaid
                                        : "open");
    add_cell(out, key->help);
    strbuf_add_str(out, " | ");
    if (key->example != NULL) {
        strbuf_add_char(out, '`');
        add_cell(out, key->example);
        strbuf_add_char(out, '`');
    }
    strbuf_add_str(out, " |\n");
}

static bool has_meanings(const struct schema_words *words) {
    for (size_t i = 0; words != NULL && i < words->count; i++)
        if (words->items[i].help != NULL)
            return true;
    return false;
}

static void add_meanings(struct strbuf *out, const struct schema_key *key) {
    strbuf_printf(out, "- `%s`: ", key->name);
    for (size_t i = 0; i < key->words->count; i++) {
        const struct schema_word *word = &key->words->items[i];
        strbuf_printf(out, "%s`%s`", i > 0 ? ", " : "", word->name);
        if (word->help != NULL)
            strbuf_printf(out, " (%s)", word->help);
    }
    strbuf_add_char(out, '\n');
}

static void add_part(struct strbuf *out, const struct schema_part *part) {
    strbuf_printf(out, "\n### %s\n\n%s\n\n", part->name, part->help);
    strbuf_add_str(out,
                   "| key | holds | without it | meaning | example |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < part->key_count; i++)
        add_key(out, &part->keys[i]);
    bool first = true;
    for (size_t i = 0; i < part->key_count; i++) {
        if (!has_meanings(part->keys[i].words))
            continue;
        strbuf_add_str(out, first ? "\n" : "");
        first = false;
        add_meanings(out, &part->keys[i]);
    }
}

void plan_format_document(struct strbuf *out) {
    strbuf_add_str(out, head);
    strbuf_add_str(out, example);
    strbuf_add_str(out, rules);
    strbuf_printf(out, "%u), in the order of the file.\n\n## What is refused\n\n",
                  PLAN_COMPLAINTS_MAX);
    strbuf_add_str(out, refusals);
    strbuf_printf(out,
                  "more than %u levels, files over %zu MiB, and more than %u conditions.\n"
                  "\n## Parts\n",
                  YAML_DEPTH_MAX, YAML_FILE_MAX >> 20, PLAN_CONDITIONS_MAX);
    const struct schema_part *part;
    for (size_t i = 0; (part = schema_part_at(i)) != NULL; i++)
        add_part(out, part);
}
