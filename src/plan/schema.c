/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of every key (schema.h). A new key of the plan is one row here and one field in
 * model/plan.h; reading, schema and document follow. Must hold no code that reads.
 */
#include "plan/schema.h"

#include "base/mem.h"

#include <string.h>

#define WORDS(name, ...)                                            \
    static const struct schema_word name##_items[] = {__VA_ARGS__}; \
    static const struct schema_words name = {name##_items, ARRAY_LENGTH(name##_items)}

/* clang-format off */
WORDS(answer_words,
    {"yes", PLAN_YES, NULL}, {"no", PLAN_NO, NULL}, {"open", PLAN_UNSAID, NULL},
    {"true", PLAN_YES, NULL}, {"false", PLAN_NO, NULL});
WORDS(backing_words,
    {"confirmed", PLAN_CONFIRMED, "by the protocol; needs a source"},
    {"chosen", PLAN_CHOSEN, "by the team"},
    {"undetermined", PLAN_UNDETERMINED, "not settled yet"});
WORDS(fact_words,
    {"open", PLAN_FACT_OPEN, "nobody has found out yet"},
    {"known", PLAN_FACT_KNOWN, "with value, source and date"},
    {"not-applicable", PLAN_FACT_NOT_APPLICABLE, "this study does not need it"});
WORDS(about_words,
    {"paper", 0, NULL}, {"code", 0, NULL}, {"weights", 0, NULL}, {"data", 0, NULL},
    {"environment", 0, "compatibility of code and dependencies"}, {"resource", 0, "memory, time, accelerators"},
    {"privacy", 0, NULL}, {"licence", 0, NULL}, {"offer", 0, NULL}, {"other", 0, NULL});
WORDS(source_words,
    {"paper", 0, "its body, with a table or section"}, {"repository", 0, "file and line of the authors' code"},
    {"own-trial", 0, "a run of this study"}, {"authors", 0, "an answer of theirs, with its date"},
    {"provider", 0, "a statement or offer, with its date"}, {"third-party", 0, "figures of others: a fact, never evidence"},
    {"own-choice", 0, "a decision of the team"}, {"title", 0, "no source for a resource"},
    {"abstract", 0, "no source for a resource"}, {"listing", 0, "a page that lists papers; no source for a resource"},
    {"policy", 0, "a submission policy; no source for a resource"},
    {"device-documentation", 0, "no source for a resource"},
    {"similar-work", 0, "a similarly named work; no source for a resource"}, {"other", 0, NULL});
WORDS(scope_words,
    {"open", PLAN_SCOPE_OPEN, NULL},
    {"function-test", PLAN_SCOPE_FUNCTION_TEST, "it runs on small inputs"},
    {"main-result", PLAN_SCOPE_MAIN_RESULT, "the central claim is checked"},
    {"full-benchmark", PLAN_SCOPE_FULL_BENCHMARK, "the whole matrix of the paper"});
WORDS(role_words,
    {"central", 0, NULL}, {"additional", 0, NULL}, {"ablation", 0, NULL}, {"scaling", 0, NULL});
WORDS(better_words, {"higher", PLAN_HIGHER, NULL}, {"lower", PLAN_LOWER, NULL});
WORDS(stop_words,
    {"validate", PLAN_STOPS_VALIDATE, "blocks of this kind"}, {"compare", PLAN_STOPS_COMPARE, NULL},
    {"scale", PLAN_STOPS_SCALE, NULL}, {"verify", PLAN_STOPS_VERIFY, NULL},
    {"booking", PLAN_STOPS_BOOKING, "renting anything beyond a validation"});
WORDS(environment_words,
    {"rented", PLAN_RENTED, NULL}, {"own", PLAN_OWN, NULL}, {"institute", PLAN_INSTITUTE, NULL},
    {"macos", PLAN_MACOS, "for limited development; proves nothing for other machines"});
WORDS(component_words,
    {"prepare", COMPONENT_PREPARE, "installation, environment, packages"},
    {"data", COMPONENT_DATA, "preparing data"}, {"transfer", COMPONENT_TRANSFER, "fetching weights and data"},
    {"fixing", COMPONENT_FIXING, "manual work on failures"},
    {"checking", COMPONENT_CHECKING, "looking at results"}, {"teardown", COMPONENT_TEARDOWN, "clean-up"});
WORDS(repeats_words,
    {"once", PLAN_ONCE, "for the whole study"}, {"per-rental", PLAN_PER_RENTAL, "each time a machine is rented"},
    {"per-run", PLAN_PER_RUN, "before or after each run"});
WORDS(kind_words,
    {"validate", PLAN_VALIDATE, "the smallest sensible run: code, weights and inputs work together"},
    {"compare", PLAN_COMPARE, "a reference and the setting that changes the result"},
    {"scale", PLAN_SCALE, "time, memory and result over a dimension"},
    {"verify", PLAN_VERIFY, "results are checked and repeated"});
WORDS(extent_words, {"validation", PLAN_VALIDATION, NULL}, {"full", PLAN_FULL, NULL});
WORDS(recurrence_words, {"one-off", PLAN_ONE_OFF, NULL}, {"recurring", PLAN_RECURRING, NULL});
WORDS(per_words,
    {"second", 0, NULL}, {"minute", 0, NULL}, {"hour", 0, NULL}, {"day", 0, NULL}, {"week", 0, NULL},
    {"month", 0, NULL});
WORDS(pattern_words,
    {"campaign", 0, "once, for a limited time"}, {"peaks", 0, "now and then, nothing between"},
    {"continuous", 0, "all the time, predictably"});
WORDS(accelerator_words,
    {"cuda", 0, "NVIDIA GPUs"}, {"rocm", 0, "AMD GPUs"}, {"metal", 0, "Apple GPUs"}, {"cpu", 0, "no GPU is needed"});
WORDS(between_words, {"stopped", 0, "its disks stay and may cost"}, {"deleted", 0, "everything is set up again"});
WORDS(class_words,
    {"none", 0, "no personal and no otherwise sensitive data"}, {"personal", 0, NULL}, {"sensitive", 0, NULL});

#define PART(name_, items, type, ...)                                                              \
    static const struct schema_part name_ = {.keys = items, .key_count = ARRAY_LENGTH(items),     \
                                             .size = sizeof(struct type), __VA_ARGS__}
#define RULES(items) .rules = items, .rule_count = ARRAY_LENGTH(items)
#define AT(type, field) .offset = offsetof(struct type, field)
#define COUNT(type, field) .count = offsetof(struct type, field)

/* ---- study ---- */

static const struct schema_key paper_keys[] = {
    {"title", SCHEMA_TEXT, AT(plan_study, paper_title), .help = "the paper's title",
     .example = "title: \"Fast KVzip\""},
    {"version", SCHEMA_TEXT, AT(plan_study, paper_version),
     .help = "the exact version that is reproduced; results of different versions are never mixed",
     .example = "version: arXiv v2, 2026-05-01"},
    {"url", SCHEMA_TEXT, AT(plan_study, paper_url), .help = "where that version is",
     .example = "url: https://arxiv.org/abs/2601.00000v2"},
};
PART(paper_part, paper_keys, plan_study, .name = "study.paper", .help = "The paper, by version.");

static const struct schema_key study_keys[] = {
    {"id", SCHEMA_UUID, true, AT(plan_study, id),
     .help = "ties the records of runs to this study; written once by 'probelauf init'",
     .example = "id: 01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21"},
    {"title", SCHEMA_TEXT, AT(plan_study, title), .help = "what the study is called in reports",
     .example = "title: How much of a cache can go?"},
    {"paper", SCHEMA_PART, AT(plan_study, at), .part = &paper_part, .help = "the paper, by version"},
    {"scope", SCHEMA_WORD, AT(plan_study, scope), .words = &scope_words,
     .help = "how much of the paper is meant", .example = "scope: main-result"},
    {"scope_note", SCHEMA_TEXT, AT(plan_study, scope_note), .help = "the scope in words",
     .example = "scope_note: one model, eight prompts"},
};
PART(study_part, study_keys, plan_study, .name = "study", .has_at = true,
     .help = "What is reproduced. One plan is one study of one paper version.");

/* ---- claims, matrix of the paper, deviations, facts ---- */

static const struct schema_key claim_keys[] = {
    {"id", SCHEMA_ID, true, AT(plan_claim, id), .help = "the name that blocks refer to",
     .example = "id: half-is-enough"},
    {"text", SCHEMA_TEXT, true, AT(plan_claim, text), .help = "the claim in one sentence",
     .example = "text: with half of the cache the text stays as it was"},
    {"result", SCHEMA_TEXT, AT(plan_claim, result), .help = "the result metric that decides it",
     .example = "result: agreement"},
    {"where", SCHEMA_PARAMETERS, AT(plan_claim, where), .unsaid = "all conditions",
     .help = "the conditions it speaks of: those that have all these values",
     .example = "where: {policy: evict, keep: \"0.5\"}"},
    {"paper_value", SCHEMA_NUMBER, AT(plan_claim, paper_value), .help = "the value in the paper",
     .example = "paper_value: 0.93"},
    {"threshold", SCHEMA_THRESHOLD, AT(plan_claim, threshold),
     .help = "<, <=, >= or > and a number: what the result must reach", .example = "threshold: \">= 0.9\""},
    {"ordering", SCHEMA_CONDITIONS, AT(plan_claim, ordering), COUNT(plan_claim, ordering_count),
     .help = "conditions, the one that should be best first; needs 'better'",
     .example = "ordering: [{policy: evict}, {policy: recent}]"},
    {"better", SCHEMA_WORD, AT(plan_claim, better), .words = &better_words,
     .help = "which direction of the result is good", .example = "better: higher"},
    {"tolerance", SCHEMA_TOLERANCE, AT(plan_claim, tolerance),
     .help = "the deviation from the paper's value that the team accepts, absolute or in percent",
     .example = "tolerance: 2%"},
    {"source", SCHEMA_TEXT, AT(plan_claim, source), .help = "where the claim stands",
     .example = "source: \"paper, table 2\""},
};
static const struct schema_rule claim_rules[] = {
    {"ordering", false, {"better", "result"}}, {"threshold", false, {"result"}}, {"paper_value", false, {"result"}}};
PART(claim_part, claim_keys, plan_claim, RULES(claim_rules), .name = "claims[]", .has_at = true,
     .help = "What is to be shown. A claim has the paper's value, a threshold or an ordering; else its verdict stays open.");

static const struct schema_key matrix_keys[] = {
    {"part", SCHEMA_TEXT, true, AT(plan_paper_part, part), .help = "a part of the paper's experiments",
     .example = "part: \"table 2, prompts of 64 to 160 tokens\""},
    {"role", SCHEMA_CHOICE, AT(plan_paper_part, role), .words = &role_words, .help = "what the part is in the paper",
     .example = "role: central"},
    {"included", SCHEMA_WORD, AT(plan_paper_part, included), .words = &answer_words,
     .help = "is it part of this study", .example = "included: yes"},
    {"why", SCHEMA_TEXT, AT(plan_paper_part, why), .help = "why it is included or left out",
     .example = "why: greedy decoding is enough for the claim"},
    {"source", SCHEMA_TEXT, AT(plan_paper_part, source), .help = "the paper's table, or: own choice",
     .example = "source: \"table 2\""},
};
PART(matrix_part, matrix_keys, plan_paper_part, .name = "matrix_of_paper[]", .has_at = true,
     .help = "The paper's experiments, each included or left out with a reason. The report prints what is left out.");

static const struct schema_key deviation_keys[] = {
    {"what", SCHEMA_TEXT, true, AT(plan_deviation, what), .help = "what is done otherwise than the paper describes",
     .example = "what: transformers 4.46 instead of 4.40"},
    {"why", SCHEMA_TEXT, AT(plan_deviation, why), .help = "the reason", .example = "why: 4.40 does not load the weights"},
    {"source", SCHEMA_TEXT, AT(plan_deviation, source), .help = "where the original stands",
     .example = "source: requirements.txt"},
};
PART(deviation_part, deviation_keys, plan_deviation, .name = "deviations[]", .has_at = true,
     .help = "Differences between the described protocol and the own goal, and changes that were needed to get it started.");

static const struct schema_key fact_keys[] = {
    {"id", SCHEMA_ID, true, AT(plan_fact, id), .help = "free, best grouped by dots", .example = "id: weights.licence"},
    {"state", SCHEMA_WORD, true, AT(plan_fact, state), .words = &fact_words, .help = "is it known", .example = "state: open"},
    {"about", SCHEMA_CHOICE, AT(plan_fact, about), .words = &about_words,
     .help = "what it is about; an open one about weights, data or code makes the whole estimate provisional",
     .example = "about: weights"},
    {"environment", SCHEMA_ID, AT(plan_fact, environment), .unsaid = "holds everywhere",
     .help = "the environment that it holds for", .example = "environment: rented-a"},
    {"value", SCHEMA_TEXT, AT(plan_fact, value), .help = "what is known", .example = "value: Apache-2.0"},
    {"source", SCHEMA_TEXT, AT(plan_fact, source), .help = "where that stands", .example = "source: \"model card, section Licence\""},
    {"source_kind", SCHEMA_CHOICE, AT(plan_fact, source_kind), .words = &source_words, .help = "what kind of source that is",
     .example = "source_kind: repository"},
    {"seen", SCHEMA_DATE, AT(plan_fact, seen), .help = "the day on which somebody looked there", .example = "seen: 2026-11-30"},
    {"question", SCHEMA_TEXT, AT(plan_fact, question), .help = "what has to be found out", .example = "question: may the weights be used here?"},
    {"stops", SCHEMA_WORDS, AT(plan_fact, stops), .words = &stop_words, .unsaid = "nothing",
     .help = "what the fact stands in the way of while it is open", .example = "stops: [validate, booking]"},
};
PART(fact_part, fact_keys, plan_fact, .name = "facts[]", .has_at = true,
     .help = "The inventory: what is known, open, or not applicable. A typical value, a default or a guess is no fact.");

/* ---- environments, code, phases, tasks, steps ---- */

static const struct schema_key capacity_keys[] = {
    {"gpu_memory", SCHEMA_BYTES, AT(plan_environment, gpu_memory), .help = "of one GPU, really available", .example = "gpu_memory: 80 GiB"},
    {"host_memory", SCHEMA_BYTES, AT(plan_environment, host_memory), .help = "of the machine", .example = "host_memory: 256 GiB"},
    {"source", SCHEMA_TEXT, AT(plan_environment, capacity_source), .help = "where that stands", .example = "source: nvidia-smi there, 2026-11-30"},
};
PART(capacity_part, capacity_keys, plan_environment, .name = "environments[].capacity",
     .help = "What a measured need is compared with.");

static const struct schema_key environment_keys[] = {
    {"id", SCHEMA_ID, true, AT(plan_environment, id), .help = "the name for --env, facts and offers", .example = "id: rented-a"},
    {"kind", SCHEMA_WORD, AT(plan_environment, kind), .words = &environment_words, .help = "whose machine it is", .example = "kind: rented"},
    {"accelerator", SCHEMA_CHOICE, AT(plan_environment, accelerator), .words = &accelerator_words, .unsaid = "told by kind, gpus: 0 and the vendor that gpu begins with", .help = "what code runs on there", .example = "accelerator: cuda"},
    {"compute_capability", SCHEMA_TEXT, AT(plan_environment, compute_capability), .help = "of the GPU, as its vendor states it", .example = "compute_capability: \"9.0\""},
    {"gpu", SCHEMA_TEXT, AT(plan_environment, gpu), .help = "the GPU's model as its vendor names it", .example = "gpu: NVIDIA A100-SXM4-80GB"},
    {"gpus", SCHEMA_WHOLE, AT(plan_environment, gpus), .minimum = 0, .maximum = 100000, .help = "how many GPUs are reserved; 0: none", .example = "gpus: 1"},
    {"driver", SCHEMA_TEXT, AT(plan_environment, driver), .help = "the GPU driver's version; its major number is compared", .example = "driver: \"550.54\""},
    {"stack", SCHEMA_PAIRS, AT(plan_environment, stack), .help = "packages and their versions", .example = "stack: {torch: 2.5.1}"},
    {"match", SCHEMA_MATCH, AT(plan_environment, match), .unsaid = "only GPU and driver are compared",
     .help = "what must be equal for a run to count: packages, and parts of the machine as machine.cpu_model, machine.cpus, "
             "machine.memory, machine.distribution, machine.interpreter", .example = "match: [torch, machine.cpu_model]"},
    {"physical_access", SCHEMA_WORD, AT(plan_environment, physical_access), .words = &answer_words, .help = "can somebody touch the machine", .example = "physical_access: no"},
    {"capacity", SCHEMA_PART, AT(plan_environment, at), .part = &capacity_part, .help = "memory that is really there"},
};
PART(environment_part, environment_keys, plan_environment, .name = "environments[]", .has_at = true,
     .help = "Candidate machines, side by side. Facts, runs, estimates and offers belong to one of them and never cross. The first one is meant where nothing else is said.");

static const struct schema_key requires_keys[] = {
    {"accelerators", SCHEMA_TEXTS, AT(plan_code, accelerators), .help = "what the code runs on, one of them is needed: cuda, rocm, metal, cpu; CUDA-only code never counts as runnable elsewhere", .example = "accelerators: [cuda]"},
    {"architectures", SCHEMA_TEXTS, AT(plan_code, architectures), .help = "compute capabilities that its build files name", .example = "architectures: [\"8.0\", \"9.0\"]"},
    {"stack", SCHEMA_PAIRS, AT(plan_code, requires_stack), .help = "packages and the versions that it needs, as its requirement files write them", .example = "stack: {torch: \"2.7.0\"}"},
    {"source", SCHEMA_TEXT, AT(plan_code, requires_source), .help = "file and line that show it; 'probelauf doctor' finds them", .example = "source: \"csrc/build.py:12\""},
};
PART(requires_part, requires_keys, plan_code, .name = "code.requires", .help = "What the code needs of an environment; each of 'environments' is held against it.");

static const struct schema_key code_keys[] = {
    {"repo", SCHEMA_TEXT, AT(plan_code, repo), .help = "where the code is from", .example = "repo: https://example.org/code.git"},
    {"paths", SCHEMA_TEXTS, AT(plan_code, paths), .unsaid = "all tracked files but the plan, *.md, docs/ and LICENSE*",
     .help = "git path specs of the files whose change makes earlier runs count no more; name them where data are tracked, too, or these count as code", .example = "paths: [src, \"*.py\"]"},
    {"requires", SCHEMA_PART, AT(plan_code, at), .part = &requires_part, .help = "what it needs of an environment"},
};
PART(code_part, code_keys, plan_code, .name = "code", .has_at = true, .help = "Which code a run is evidence for.");

static const struct schema_key pattern_keys[] = {
    {"phase", SCHEMA_PHASE, true, AT(plan_pattern, phase), .help = "the phase that begins", .example = "phase: load"},
    {"regex", SCHEMA_PATTERN, true, AT(plan_pattern, regex), .help = "POSIX extended regular expression on a line of output", .example = "regex: \"^Loading weights\""},
};
PART(pattern_part, pattern_keys, plan_pattern, .name = "phases.patterns[]", .has_at = true, .help = "Lines of output that begin a phase.");

static const struct schema_key phases_keys[] = {
    {"nvtx", SCHEMA_PHASES, AT(plan, nvtx), .help = "NVTX range names and the phases they stand for", .example = "nvtx: {prefill: compute/prefill}"},
    {"patterns", SCHEMA_PARTS, AT(plan, patterns), COUNT(plan, pattern_count), .part = &pattern_part, .help = "lines of output that begin a phase"},
};
PART(phases_part, phases_keys, plan, .name = "phases", .help = "How phases are seen where the code does not mark them.");

static const struct schema_key task_keys[] = {
    {"id", SCHEMA_ID, true, AT(plan_task, id), .help = "its name in the estimate", .example = "id: read-the-texts"},
    {"what", SCHEMA_TEXT, true, AT(plan_task, what), .help = "the work in one sentence", .example = "what: look at the texts that differ"},
    {"component", SCHEMA_WORD, AT(plan_task, component), .flag = offsetof(struct plan_task, has_component), .words = &component_words,
     .help = "the component of the estimate that it belongs to", .example = "component: checking"},
    {"needs_machine", SCHEMA_WORD, AT(plan_task, needs_machine), .words = &answer_words, .help = "is the rented machine needed for it", .example = "needs_machine: no"},
    {"done", SCHEMA_WORD, AT(plan_task, done), .words = &answer_words, .help = "is it done", .example = "done: no"},
    {"time", SCHEMA_DURATION, AT(plan_task, time), .help = "how long it is assumed to take; needs who, when and why", .example = "time: 2h"},
    {"who", SCHEMA_TEXT, AT(plan_task, who), .help = "who assumes that", .example = "who: Kim"},
    {"when", SCHEMA_DATE, AT(plan_task, when), .help = "the day of the assumption", .example = "when: 2026-11-30"},
    {"why", SCHEMA_TEXT, AT(plan_task, why), .help = "what it rests on", .example = "why: eight texts, a quarter of an hour each"},
};
static const struct schema_rule task_rules[] = {{"time", false, {"who", "when", "why"}}};
PART(task_part, task_keys, plan_task, RULES(task_rules), .name = "tasks[]", .has_at = true, .help = "Work by people, before, between and after the runs.");

static const struct schema_key step_keys[] = {
    {"name", SCHEMA_ID, true, AT(plan_step, name), .help = "the name for 'run --step' and for blocks", .example = "name: install"},
    {"component", SCHEMA_WORD, true, AT(plan_step, component), .words = &component_words, .help = "the component of the estimate that its time belongs to", .example = "component: prepare"},
    {"run", SCHEMA_COMMAND, AT(plan_step, run), .help = "its command, as one text or a list of words", .example = "run: [script/bootstrap, demo]"},
    {"shell", SCHEMA_FLAG, AT(plan_step, shell), .unsaid = "no shell", .help = "the command is one text for sh -c", .example = "shell: true"},
    {"needs_machine", SCHEMA_WORD, AT(plan_step, needs_machine), .words = &answer_words, .help = "is the rented machine needed for it", .example = "needs_machine: yes"},
    {"repeats", SCHEMA_WORD, AT(plan_step, repeats), .words = &repeats_words, .help = "how often it recurs", .example = "repeats: per-rental"},
};
PART(step_part, step_keys, plan_step, .name = "steps[]", .has_at = true, .help = "Set-up, data and transfer by commands. Measured with 'probelauf run --step NAME'.");

/* ---- blocks ---- */

static const struct schema_key value_keys[] = {
    {"value", SCHEMA_TEXT, true, AT(plan_value, text), .help = "the value, as written into the command", .example = "value: 0.5"},
    {"state", SCHEMA_WORD, AT(plan_value, state), .flag = offsetof(struct plan_value, has_state), .words = &backing_words, .unsaid = "as its axis", .help = "how the value is backed", .example = "state: chosen"},
    {"source", SCHEMA_TEXT, AT(plan_value, source), .unsaid = "as its axis", .help = "where the value stands", .example = "source: \"table 2\""},
    {"supported", SCHEMA_WORD, AT(plan_value, supported), .flag = offsetof(struct plan_value, has_supported), .words = &answer_words, .unsaid = "as its axis", .help = "does the code support it", .example = "supported: yes"},
    {"supported_source", SCHEMA_TEXT, AT(plan_value, supported_source), .unsaid = "as its axis", .help = "file and line that show it", .example = "supported_source: generate.py:120"},
};
PART(value_part, value_keys, plan_value, .name = "blocks[].matrix.AXIS.values[]", .has_at = true, .short_key = "value",
     .help = "A value with a state of its own; otherwise only the text.");

static const struct schema_key axis_keys[] = {
    {"values", SCHEMA_VALUES, true, AT(plan_axis, values), COUNT(plan_axis, value_count), .part = &value_part, .help = "the values, each a text or a mapping", .example = "values: [full, evict]"},
    {"state", SCHEMA_WORD, AT(plan_axis, state), .words = &backing_words, .help = "how the values are backed", .example = "state: confirmed"},
    {"source", SCHEMA_TEXT, AT(plan_axis, source), .help = "where they stand", .example = "source: \"table 2\""},
    {"supported", SCHEMA_WORD, AT(plan_axis, supported), .words = &answer_words, .help = "does the code support them", .example = "supported: yes"},
    {"supported_source", SCHEMA_TEXT, AT(plan_axis, supported_source), .help = "file and line that show it", .example = "supported_source: generate.py:120"},
};
PART(axis_part, axis_keys, plan_axis, .name = "blocks[].matrix.AXIS", .has_at = true, .short_key = "values", .name_is_parameter = true, .name_offset = offsetof(struct plan_axis, name),
     .help = "One axis of the matrix. Short form: only its values, AXIS: [a, b].");

static const struct schema_key result_keys[] = {
    {"name", SCHEMA_TEXT, true, AT(plan_result, name), .help = "the result metric's name", .example = "name: agreement"},
    {"unit", SCHEMA_TEXT, AT(plan_result, unit), .help = "its unit; 1 for a plain number", .example = "unit: \"1\""},
    {"file", SCHEMA_TEXT, AT(plan_result, file), .unsaid = "reported by 'probelauf mark --result'", .help = "the file it is read from after the run; may hold {name}", .example = "file: out/{policy}.json"},
    {"json", SCHEMA_POINTER, AT(plan_result, json), .help = "JSON pointer into the file", .example = "json: /metrics/agreement"},
    {"csv", SCHEMA_TEXT, AT(plan_result, csv), .help = "column of the CSV file", .example = "csv: agreement"},
    {"row", SCHEMA_ROW, AT(plan_result, row), .unsaid = "last", .help = "the CSV file's row: first, last or a number from 1", .example = "row: last"},
    {"regex", SCHEMA_REGEX, AT(plan_result, regex), .help = "extended regular expression; its first group, in the last line that matches", .example = "regex: \"agreement: ([0-9.]+)\""},
};
static const struct schema_rule result_rules[] = {
    {"file", true, {"json", "csv", "regex"}}, {"json", false, {"file"}}, {"csv", false, {"file"}},
    {"regex", false, {"file"}}, {"row", false, {"csv"}}};
PART(result_part, result_keys, plan_result, RULES(result_rules), .name = "blocks[].results[]", .has_at = true, .help = "What a run yields. With a file exactly one of json, csv and regex says where in it.");

static const struct schema_key verify_keys[] = {
    {"of", SCHEMA_ID, true, AT(plan_block, verify_of), .help = "the block whose runs are repeated", .example = "of: compare"},
    {"result", SCHEMA_TEXT, true, AT(plan_block, verify_result), .help = "the result metric that is compared", .example = "result: agreement"},
    {"tolerance", SCHEMA_TOLERANCE, AT(plan_block, verify_tolerance), .help = "the accepted difference, absolute or in percent", .example = "tolerance: 1%"},
};
PART(verify_part, verify_keys, plan_block, .name = "blocks[].verify", .help = "Compares the block's runs with those of another block.");

static const struct schema_key retry_keys[] = {
    {"max", SCHEMA_WHOLE, true, AT(plan_block, retry_max), .minimum = 0, .maximum = 1000, .help = "attempts after the first one, per run", .example = "max: 1"},
};
PART(retry_part, retry_keys, plan_block, .name = "blocks[].retry", .help = "How often a failed run is repeated.");

static const struct schema_key block_keys[] = {
    {"id", SCHEMA_ID, true, AT(plan_block, id), .help = "the name for --block, other blocks and the report", .example = "id: compare"},
    {"title", SCHEMA_TEXT, AT(plan_block, title), .help = "a longer name", .example = "title: Cache policies side by side"},
    {"kind", SCHEMA_WORD, true, AT(plan_block, kind), .words = &kind_words, .help = "what the block is for", .example = "kind: compare"},
    {"extent", SCHEMA_WORD, AT(plan_block, extent), .words = &extent_words, .help = "validation or full experiment: a subtotal of each is shown", .example = "extent: full"},
    {"recurrence", SCHEMA_WORD, AT(plan_block, recurrence), .words = &recurrence_words, .help = "once or again and again: a subtotal of each is shown", .example = "recurrence: one-off"},
    {"state", SCHEMA_WORD, AT(plan_block, state), .words = &backing_words, .help = "how the block is backed", .example = "state: confirmed"},
    {"source", SCHEMA_TEXT, AT(plan_block, source), .help = "where the protocol describes it", .example = "source: \"paper, section 4.2\""},
    {"question", SCHEMA_TEXT, AT(plan_block, question), .help = "what its runs answer", .example = "question: does the text survive a shorter cache?"},
    {"claims", SCHEMA_IDS, AT(plan_block, claims), .help = "the claims that its runs decide", .example = "claims: [half-is-enough]"},
    {"needs", SCHEMA_IDS, AT(plan_block, needs), .unsaid = "none", .help = "blocks that come before it", .example = "needs: [validate]"},
    {"steps", SCHEMA_IDS, AT(plan_block, steps), .unsaid = "none", .help = "steps that it needs", .example = "steps: [install]"},
    {"fixed", SCHEMA_PARAMETERS, AT(plan_block, fixed), .unsaid = "none", .help = "parameters that are the same in each of its conditions", .example = "fixed: {tokens: 96}"},
    {"matrix", SCHEMA_NAMED_PARTS, AT(plan_block, axes), COUNT(plan_block, axis_count), .part = &axis_part, .unsaid = "one condition", .help = "the axes; each combination of their values is a condition", .example = "matrix: {policy: [full, evict]}"},
    {"include", SCHEMA_CONDITIONS, AT(plan_block, include), COUNT(plan_block, include_count), .unsaid = "none", .help = "further conditions, with a value for each axis", .example = "include: [{policy: none}]"},
    {"exclude", SCHEMA_CONDITIONS, AT(plan_block, exclude), COUNT(plan_block, exclude_count), .unsaid = "none", .help = "conditions that are left out: those that have all these values", .example = "exclude: [{policy: full, keep: 0.5}]"},
    {"runs", SCHEMA_WHOLE, AT(plan_block, runs), .minimum = 1, .maximum = 1000000, .help = "runs of each condition", .example = "runs: 3"},
    {"command", SCHEMA_COMMAND, AT(plan_block, command), .help = "what is run, as one text or a list of words; {name} stands for a parameter's value, {{ for {", .example = "command: python3 generate.py --keep {keep}"},
    {"shell", SCHEMA_FLAG, AT(plan_block, shell), .unsaid = "no shell", .help = "the command is one text for sh -c", .example = "shell: true"},
    {"template_id", SCHEMA_TEXT, AT(plan_block, template_id), .unsaid = "derived from the command", .help = "keeps conditions the same when only the wording of the command changes", .example = "template_id: generate-1"},
    {"folder", SCHEMA_TEXT, AT(plan_block, folder), .unsaid = "the plan's folder", .help = "where it runs, relative to the plan's folder", .example = "folder: experiments"},
    {"inputs", SCHEMA_TEXTS, AT(plan_block, inputs), .help = "files it reads; may hold {name}", .example = "inputs: [tiny.gguf]"},
    {"outputs", SCHEMA_TEXTS, AT(plan_block, outputs), .help = "files it writes; may hold {name}", .example = "outputs: [\"out/{policy}.json\"]"},
    {"expect", SCHEMA_TEXTS, AT(plan_block, expect), .help = "what a checked run must show, as 'run --expect' takes it; without it a run is never done unless somebody declares it valid", .example = "expect: [\"marker=done\"]"},
    {"verify", SCHEMA_PART, AT(plan_block, at), .part = &verify_part, .help = "compares its runs with those of another block"},
    {"results", SCHEMA_PARTS, AT(plan_block, results), COUNT(plan_block, result_count), .part = &result_part, .help = "the result metrics of its runs"},
    {"gate", SCHEMA_TEXT, AT(plan_block, gate), .help = "the criteria by which one goes on after it", .example = "gate: a second run writes the same text"},
    {"lanes", SCHEMA_WHOLE, AT(plan_block, lanes), .minimum = 1, .maximum = 10000, .unsaid = "one after the other", .help = "how many runs go side by side", .example = "lanes: 2"},
    {"retry", SCHEMA_PART, AT(plan_block, at), .part = &retry_part, .help = "how often a failed run is repeated"},
};
PART(block_part, block_keys, plan_block, .name = "blocks[]", .has_at = true, .help = "The work, cut into parts with a result that can be checked.");

/* ---- what a decision needs ---- */

static const struct schema_key calendar_keys[] = {
    {"start", SCHEMA_DATE, AT(plan_planned_date, start), .help = "planned first day", .example = "start: 2027-01-11"},
    {"end", SCHEMA_DATE, AT(plan_planned_date, end), .help = "planned last day", .example = "end: 2027-01-22"},
};
PART(calendar_part, calendar_keys, plan_planned_date, .name = "calendar.BLOCK", .has_at = true, .name_offset = offsetof(struct plan_planned_date, block),
     .help = "Planned dates by block; an offer must be valid then.");

static const struct schema_key offer_keys[] = {
    {"id", SCHEMA_ID, true, AT(plan_offer, id), .help = "its name in reports", .example = "id: offer-a"},
    {"environment", SCHEMA_ID, AT(plan_offer, environment), .help = "the environment that it offers", .example = "environment: rented-a"},
    {"device", SCHEMA_TEXT, AT(plan_offer, device), .help = "the device it names; must be the measured one", .example = "device: NVIDIA A100-SXM4-80GB"},
    {"provider", SCHEMA_TEXT, AT(plan_offer, provider), .help = "who offers", .example = "provider: Example Cloud"},
    {"gpus_per_unit", SCHEMA_WHOLE, AT(plan_offer, gpus_per_unit), .minimum = 1, .maximum = 100000, .help = "GPUs in one billed unit", .example = "gpus_per_unit: 1"},
    {"rate", SCHEMA_AMOUNT, AT(plan_offer, rate), .help = "price of one unit for one 'per'", .example = "rate: 2.49"},
    {"currency", SCHEMA_CURRENCY, AT(plan_offer, currency), .help = "ISO 4217", .example = "currency: EUR"},
    {"service_unit", SCHEMA_TEXT, AT(plan_offer, service_unit), .help = "a unit of account in place of a currency; never added to money", .example = "service_unit: NAIRR SU"},
    {"per", SCHEMA_CHOICE, AT(plan_offer, per), .words = &per_words, .help = "the time that the rate is for", .example = "per: hour"},
    {"increment", SCHEMA_DURATION, AT(plan_offer, increment), .help = "what billing rounds up to", .example = "increment: 1min"},
    {"minimum", SCHEMA_DURATION, AT(plan_offer, minimum), .help = "shortest term that is billed", .example = "minimum: 1h"},
    {"maximum", SCHEMA_DURATION, AT(plan_offer, maximum), .help = "longest term", .example = "maximum: 14d"},
    {"units_available", SCHEMA_WHOLE, AT(plan_offer, units_available), .minimum = 0, .maximum = 100000, .help = "units that can be had", .example = "units_available: 2"},
    {"provisioning", SCHEMA_DURATION, AT(plan_offer, provisioning), .help = "from the order to the first login", .example = "provisioning: 10min"},
    {"setup_fee", SCHEMA_AMOUNT, AT(plan_offer, setup_fee), .help = "once per rental", .example = "setup_fee: 0"},
    {"storage_running", SCHEMA_AMOUNT, AT(plan_offer, storage_running), .help = "per GB and month while the machine runs", .example = "storage_running: 0.08"},
    {"storage_stopped", SCHEMA_AMOUNT, AT(plan_offer, storage_stopped), .help = "per GB and month while it does not", .example = "storage_stopped: 0.04"},
    {"transfer_in", SCHEMA_AMOUNT, AT(plan_offer, transfer_in), .help = "per GB", .example = "transfer_in: 0"},
    {"transfer_out", SCHEMA_AMOUNT, AT(plan_offer, transfer_out), .help = "per GB", .example = "transfer_out: 0.09"},
    {"interruptible", SCHEMA_WORD, AT(plan_offer, interruptible), .words = &answer_words, .help = "may the provider take the machine away", .example = "interruptible: no"},
    {"interruption_terms", SCHEMA_TEXT, AT(plan_offer, interruption_terms), .help = "how, with what notice", .example = "interruption_terms: two minutes of notice"},
    {"taxes", SCHEMA_TEXT, AT(plan_offer, taxes), .help = "what the quote says of taxes", .example = "taxes: VAT is added"},
    {"tax_included", SCHEMA_WORD, AT(plan_offer, tax_included), .words = &answer_words, .help = "are they in the prices", .example = "tax_included: no"},
    {"tax_percent", SCHEMA_AMOUNT, AT(plan_offer, tax_percent), .help = "their rate in percent, where they are not", .example = "tax_percent: 19"},
    {"region", SCHEMA_TEXT, AT(plan_offer, region), .help = "where the machine stands", .example = "region: eu-central"},
    {"data_terms", SCHEMA_TEXT, AT(plan_offer, data_terms), .help = "terms of data processing", .example = "data_terms: \"DPA of 2026-05\""},
    {"availability", SCHEMA_TEXT, AT(plan_offer, availability), .help = "how many, when", .example = "availability: 2 units in January"},
    {"source", SCHEMA_TEXT, AT(plan_offer, source), .help = "the quote; without it there is no amount", .example = "source: \"quote 4711\""},
    {"seen", SCHEMA_DATE, AT(plan_offer, seen), .help = "the day of the quote", .example = "seen: 2026-11-30"},
    {"valid_until", SCHEMA_DATE, AT(plan_offer, valid_until), .help = "its last day", .example = "valid_until: 2027-01-31"},
    {"replaces", SCHEMA_ID, AT(plan_offer, replaces), .help = "the earlier offer that it is a new version of: both are shown side by side", .example = "replaces: offer-old"},
};
PART(offer_part, offer_keys, plan_offer, .name = "offers[]", .has_at = true, .help = "Quotes as they were given. No price list ships with the program, and amounts are exact: up to six decimals, never rounded.");

static const struct schema_key sourced_keys[] = {
    {"value", SCHEMA_TEXT, AT(plan_sourced, value), .help = "the figure or statement, with its unit", .example = "value: 0.31 per kWh"},
    {"source", SCHEMA_TEXT, AT(plan_sourced, source), .help = "where it is from", .example = "source: contract of 2026"},
    {"seen", SCHEMA_DATE, AT(plan_sourced, seen), .help = "the day on which somebody looked there", .example = "seen: 2026-11-30"},
};
PART(sourced_part, sourced_keys, plan_sourced, .name = "a value with its source", .has_at = true, .short_key = "value",
     .help = "Short form: only the value.");

static const struct schema_key demand_keys[] = {
    {"pattern", SCHEMA_CHOICE, AT(plan_demand, pattern), .words = &pattern_words, .help = "how steady the need is", .example = "pattern: campaign"},
    {"lasts", SCHEMA_DURATION, AT(plan_demand, lasts), .help = "how long it lasts", .example = "lasts: 60d"},
    {"needs", SCHEMA_TEXTS, AT(plan_demand, needs), .help = "what only a machine of one's own may give: local-interface, attached-device, full-control and so on", .example = "needs: [full-control]"},
    {"source", SCHEMA_TEXT, AT(plan_demand, source), .help = "who says so", .example = "source: group meeting, 2026-11-30"},
    {"own", SCHEMA_SOURCED, AT(plan_demand, own), .part = &sourced_part, .help = "what the team has already", .example = "own: {value: 2 GPUs of the group, source: inventory of 2026}"},
    {"exceeds_own", SCHEMA_WORD, AT(plan_demand, exceeds_own), .words = &answer_words, .help = "is that too little, for a limited time", .example = "exceeds_own: yes"},
};
PART(demand_part, demand_keys, plan_demand, .name = "demand", .has_at = true, .help = "How steady and how long computing is needed.");

static const struct schema_key validation_keys[] = {
    {"max_time", SCHEMA_DURATION, AT(plan_validation, max_time), .help = "how long it may take at most", .example = "max_time: 4h"},
    {"max_cost", SCHEMA_AMOUNT, AT(plan_validation, max_cost), .help = "how much it may cost at most", .example = "max_cost: 20"},
    {"currency", SCHEMA_CURRENCY, AT(plan_validation, currency), .help = "ISO 4217, of max_cost", .example = "currency: EUR"},
    {"stop_condition", SCHEMA_TEXT, AT(plan_validation, stop_condition), .help = "when it is given up", .example = "stop_condition: flash-attn does not import after two attempts"},
    {"result", SCHEMA_TEXT, AT(plan_validation, result), .help = "what it has to show", .example = "result: one example of squad answered with full cache and with 0.3"},
};
static const struct schema_rule validation_rules[] = {{"max_cost", false, {"currency"}}};
PART(validation_part, validation_keys, plan_validation, RULES(validation_rules), .name = "validation", .has_at = true,
     .help = "The software validation before anything is estimated: a short rental with a cap that the team sets, a stop condition and the result that it has to show. It is never an estimate.");

static const struct schema_key rental_keys[] = {
    {"storage", SCHEMA_BYTES, AT(plan_rental, storage), .help = "what is kept on the machine's disks", .example = "storage: 200 GB"},
    {"between", SCHEMA_CHOICE, AT(plan_rental, between), .words = &between_words, .help = "what becomes of the machine between two rentals", .example = "between: deleted"},
    {"wait_between", SCHEMA_DURATION, AT(plan_rental, wait_between), .help = "how long the machine waits for people between two blocks, where 'calendar' does not say it; needs who, when and why", .example = "wait_between: 1d"},
    {"who", SCHEMA_TEXT, AT(plan_rental, who), .help = "who assumes that", .example = "who: Kim"},
    {"when", SCHEMA_DATE, AT(plan_rental, when), .help = "the day of the assumption", .example = "when: 2026-11-30"},
    {"why", SCHEMA_TEXT, AT(plan_rental, why), .help = "what it rests on", .example = "why: the gate is discussed in the weekly meeting"},
};
static const struct schema_rule rental_rules[] = {{"wait_between", false, {"who", "when", "why"}}};
PART(rental_part, rental_keys, plan_rental, RULES(rental_rules), .name = "rental", .has_at = true,
     .help = "How machines are rented: what storage costs rest on, and what is between two blocks. One rental that waits is compared with separate ones.");

#define SOURCED(struct_, field, help_, example_) \
    {#field, SCHEMA_SOURCED, AT(struct_, field), .part = &sourced_part, .help = help_, .example = example_}

static const struct schema_key owning_keys[] = {
    {"currency", SCHEMA_CURRENCY, AT(plan_owning, currency), .help = "ISO 4217", .example = "currency: EUR"},
    {"device", SCHEMA_TEXT, AT(plan_owning, device), .help = "what would be bought", .example = "device: NVIDIA RTX 6000 Ada"},
    {"gpus", SCHEMA_WHOLE, AT(plan_owning, gpus), .minimum = 0, .maximum = 100000, .help = "how many GPUs", .example = "gpus: 2"},
    SOURCED(plan_owning, purchase, "purchase price", "purchase: {value: 18000, source: \"quote 12\", seen: 2026-11-30}"),
    SOURCED(plan_owning, lifetime, "years of use", "lifetime: {value: 4 years, source: institute rule}"),
    SOURCED(plan_owning, residual, "value after that", "residual: {value: 2000, source: own choice}"),
    SOURCED(plan_owning, power, "power drawn", "power: {value: 900 W, source: own measurement}"),
    SOURCED(plan_owning, electricity, "price of electricity", "electricity: {value: 0.31 per kWh, source: contract}"),
    SOURCED(plan_owning, administration, "work of administration", "administration: {value: 2 h a week, source: IT}"),
    SOURCED(plan_owning, lead_time, "time until it can be used", "lead_time: {value: 10 weeks, source: \"quote 12\"}"),
    SOURCED(plan_owning, maintenance, "cost of maintenance", "maintenance: {value: 900 a year, source: \"quote 12\"}"),
    {"can_administer", SCHEMA_WORD, AT(plan_owning, can_administer), .words = &answer_words, .help = "can the team take administration and maintenance on", .example = "can_administer: open"},
    SOURCED(plan_owning, utilisation, "share of the time in use", "utilisation: {value: 30%, source: last year's log}"),
};
PART(owning_part, owning_keys, plan_owning, .name = "owning", .has_at = true, .help = "The true cost of a machine of one's own, each figure with its source.");

static const struct schema_key privacy_keys[] = {
    {"class", SCHEMA_CHOICE, AT(plan_privacy, data_class), .words = &class_words, .help = "the class of the data", .example = "class: none"},
    {"may_transfer", SCHEMA_WORD, AT(plan_privacy, may_transfer), .words = &answer_words, .help = "may data and models be moved to the rented machine", .example = "may_transfer: yes"},
    SOURCED(plan_privacy, provider_statement, "what the provider states, with source and date", "provider_statement: {value: data stay in the EU, source: \"DPA 4.1\", seen: 2026-11-30}"),
    {"assessment", SCHEMA_TEXT, AT(plan_privacy, assessment), .help = "the team's own assessment", .example = "assessment: no personal data in the prompts"},
    {"retention", SCHEMA_TEXT, AT(plan_privacy, retention), .help = "how long data and logs are kept", .example = "retention: deleted with the machine"},
    {"readers", SCHEMA_TEXT, AT(plan_privacy, readers), .help = "who can read data and logs", .example = "readers: the team"},
    {"storage", SCHEMA_TEXT, AT(plan_privacy, storage), .help = "where they lie", .example = "storage: eu-central"},
};
PART(privacy_part, privacy_keys, plan_privacy, .name = "privacy", .has_at = true, .help = "Data protection. Unsettled, it stands in the way of booking: class, may_transfer and assessment must be said, of personal or sensitive data storage, readers and retention, too, and where such data may be moved the provider's statement with source and date.");

static const struct schema_key assumption_keys[] = {
    {"key", SCHEMA_TEXT, true, AT(plan_assumption, key), .help = "what is assumed, as 'estimate --set' names it", .example = "key: compare.failure-rate"},
    {"value", SCHEMA_TEXT, true, AT(plan_assumption, value), .help = "the value", .example = "value: 0.1"},
    {"who", SCHEMA_TEXT, true, AT(plan_assumption, who), .help = "who assumes it", .example = "who: Kim"},
    {"when", SCHEMA_DATE, true, AT(plan_assumption, when), .help = "the day", .example = "when: 2026-11-30"},
    {"why", SCHEMA_TEXT, true, AT(plan_assumption, why), .help = "what it rests on", .example = "why: one of ten runs failed last month"},
};
PART(assumption_part, assumption_keys, plan_assumption, .name = "assumptions[]", .has_at = true, .help = "What is assumed on purpose. Every figure that rests on it is marked.");

/* ---- the file ---- */

static const struct schema_key plan_keys[] = {
    {"probelauf", SCHEMA_VERSION, true, .minimum = 1, .maximum = 1, .help = "version of this format", .example = "probelauf: 1"},
    {"study", SCHEMA_PART, true, AT(plan, study), .part = &study_part, .help = "what is reproduced", .example = "study: {id: 01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21}"},
    {"claims", SCHEMA_PARTS, AT(plan, claims), COUNT(plan, claim_count), .part = &claim_part, .help = "what is to be shown"},
    {"matrix_of_paper", SCHEMA_PARTS, AT(plan, paper_parts), COUNT(plan, paper_part_count), .part = &matrix_part, .help = "the paper's experiments, included or left out"},
    {"deviations", SCHEMA_PARTS, AT(plan, deviations), COUNT(plan, deviation_count), .part = &deviation_part, .help = "what is done otherwise than described"},
    {"facts", SCHEMA_PARTS, AT(plan, facts), COUNT(plan, fact_count), .part = &fact_part, .help = "what is known, open or not applicable"},
    {"environments", SCHEMA_PARTS, AT(plan, environments), COUNT(plan, environment_count), .part = &environment_part, .help = "candidate machines"},
    {"code", SCHEMA_PART, AT(plan, code), .part = &code_part, .help = "which code a run is evidence for"},
    {"phases", SCHEMA_PART, AT(plan, arena), .part = &phases_part, .help = "how phases are seen"},
    {"tasks", SCHEMA_PARTS, AT(plan, tasks), COUNT(plan, task_count), .part = &task_part, .help = "work by people"},
    {"steps", SCHEMA_PARTS, AT(plan, steps), COUNT(plan, step_count), .part = &step_part, .help = "set-up, data and transfer by commands"},
    {"blocks", SCHEMA_PARTS, AT(plan, blocks), COUNT(plan, block_count), .part = &block_part, .help = "the work, in parts with a checkable result"},
    {"demand", SCHEMA_PART, AT(plan, demand), .part = &demand_part, .help = "how steady and how long computing is needed"},
    {"validation", SCHEMA_PART, AT(plan, validation), .part = &validation_part, .help = "the software validation before anything is estimated"},
    {"rental", SCHEMA_PART, AT(plan, rental), .part = &rental_part, .help = "how machines are rented"},
    {"calendar", SCHEMA_NAMED_PARTS, AT(plan, calendar), COUNT(plan, calendar_count), .part = &calendar_part, .help = "planned dates by block", .example = "calendar: {compare: {start: 2027-01-11}}"},
    {"offers", SCHEMA_PARTS, AT(plan, offers), COUNT(plan, offer_count), .part = &offer_part, .help = "quotes"},
    {"owning", SCHEMA_PART, AT(plan, owning), .part = &owning_part, .help = "the cost of a machine of one's own"},
    {"privacy", SCHEMA_PART, AT(plan, privacy), .part = &privacy_part, .help = "data protection"},
    {"assumptions", SCHEMA_PARTS, AT(plan, assumptions), COUNT(plan, assumption_count), .part = &assumption_part, .help = "what is assumed on purpose"},
    {"slurm", SCHEMA_PAIRS, AT(plan, slurm), .help = "partition, account and so on as Slurm names them", .example = "slurm: {partition: gpu}"},
};
const struct schema_part schema_plan = {.keys = plan_keys, .key_count = ARRAY_LENGTH(plan_keys), .size = sizeof(struct plan),
    .name = "the plan", .help = "The parts of a plan."};
/* clang-format on */

static const struct schema_part *const parts[] = {
    &schema_plan,    &study_part,  &paper_part,       &claim_part,    &matrix_part,
    &deviation_part, &fact_part,   &environment_part, &capacity_part, &code_part,
    &requires_part,  &phases_part, &pattern_part,     &task_part,     &step_part,
    &block_part,     &axis_part,   &value_part,       &result_part,   &verify_part,
    &retry_part,     &demand_part, &validation_part,  &rental_part,   &calendar_part,
    &offer_part,     &owning_part, &sourced_part,     &privacy_part,  &assumption_part,
};

bool schema_is_spelling(const struct schema_word *word) {
    return strcmp(word->name, "true") == 0 || strcmp(word->name, "false") == 0;
}

const struct schema_part *schema_part_at(size_t index) {
    return index < ARRAY_LENGTH(parts) ? parts[index] : NULL;
}
