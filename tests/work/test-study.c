/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A study: which records belong to it, freezing of blocks, kept estimates and
 * when they are outdated. What counts as evidence is tested in tests/rules. */
#include "support.h"

#include "rules/estimate.h"
#include "work/content.h"
#include "work/event.h"
#include "work/intake.h"
#include "work/ledger.h"
#include "work/study.h"

#include <sys/wait.h>

#define STUDY "01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21"
#define OTHER "01936a5e-4f00-7c2a-9b1d-000000000000"

static const char plan_text[] = "probelauf: 1\n"
                                "study:\n"
                                "  id: " STUDY "\n"
                                "  title: seeds\n"
                                "  paper: {title: A paper, version: v1}\n"
                                "facts:\n"
                                "  - id: weights.access\n"
                                "    state: open\n"
                                "    question: who has them?\n"
                                "    stops: [scale]\n"
                                "environments:\n"
                                "  - {id: here, kind: own, gpus: 0}\n"
                                "  - {id: there, kind: rented, gpus: 2}\n"
                                "code:\n"
                                "  paths: [src]\n"
                                "blocks:\n"
                                "  - id: validate\n"
                                "    kind: validate\n"
                                "    state: chosen\n"
                                "    folder: src\n"
                                "    matrix:\n"
                                "      seed: {values: [1, 2], state: chosen}\n"
                                "    runs: 1\n"
                                "    command: python3 train.py --seed {seed}\n"
                                "    inputs: [\"../data/{seed}.txt\", ../weights]\n"
                                "  - id: scale\n"
                                "    kind: scale\n"
                                "    state: chosen\n"
                                "    matrix:\n"
                                "      seed: {values: [3], state: chosen}\n"
                                "    runs: 1\n"
                                "    command: python3 train.py --seed {seed}\n";

static void put(const struct home *home, const char *name, const char *text) {
    AUTO_FREE char *path = mem_printf("%s/study/%s", home->path, name);
    struct err err = ERR_INIT;
    must(file_write_atomic(path, text, strlen(text), 0600, &err), &err);
}

static void shell(const struct home *home, const char *command) {
    AUTO_FREE char *line = mem_printf(
        "cd '%s/study' && export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
        "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b && { %s; } >/dev/null 2>&1",
        home->path, command);
    assert_int_equal(system(line), 0);
}

/* A git repository with a plan, code and inputs; the test stands in it. */
static int study_setup(void **state) {
    if (home_setup(state) != 0)
        return -1;
    struct home *home = *state;
    AUTO_FREE char *folder = mem_printf("%s/study", home->path);
    unsetenv("PROBELAUF_PLAN");
    unsetenv("PROBELAUF_ENV");
    if (mkdir(folder, 0700) < 0 || chdir(folder) < 0)
        return -1;
    shell(home, "mkdir src data weights weights/part");
    put(home, "probelauf.yaml", plan_text);
    put(home, "README.md", "words\n");
    put(home, "src/train.py", "print(1)\n");
    put(home, "data/1.txt", "one\n");
    put(home, "data/2.txt", "two\n");
    put(home, "weights/a", "aaa\n");
    put(home, "weights/part/b", "bbb\n");
    shell(home, "git init -q && git add . && git commit -q -m first");
    return 0;
}

static int study_teardown(void **state) {
    assert_int_equal(chdir("/"), 0);
    return home_teardown(state);
}

#define STUDY_TEST(name) cmocka_unit_test_setup_teardown(name, study_setup, study_teardown)

static struct plan *read_plan(void) {
    struct err err = ERR_INIT;
    struct plan *plan = NULL;
    struct plan_complaints complaints;
    must(plan_read("probelauf.yaml", &plan, &complaints, &err), &err);
    return plan;
}

static struct runs *open_runs(const struct home *home) {
    struct err err = ERR_INIT;
    struct runs *runs = NULL;
    must(runs_open(&home->place, &runs, &err), &err);
    return runs;
}

static void open_study(struct runs *runs, const char *environment, struct work_study *ret) {
    struct err err = ERR_INIT;
    const struct work_study_options options = {.environment = environment, .look_at_code = true};
    must(work_study_open(read_plan(), &options, runs, ret, &err), &err);
}

/* ---- what belongs to the study ---- */

static void leave(const struct home *home, unsigned n, const char *study) {
    const struct made made = {.n = n, .study = study};
    AUTO_FREE char *path = leave_journal(home, &made);
    assert_true(is_there(path));
}

static void runs_of_the_study_and_no_others(void **state) {
    const struct home *home = *state;
    char id[ID_SIZE];
    leave(home, 1, STUDY);
    leave(home, 2, OTHER);
    leave(home, 3, NULL);
    leave(home, 4, STUDY);
    const struct made live = {.n = 5, .study = STUDY, .unfinished = true};
    AUTO_FREE char *path = leave_journal(home, &live);
    struct journal_writer writer = JOURNAL_WRITER_INIT;
    struct err err = ERR_INIT;
    must(journal_open_append(path, &writer, &err), &err);
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_WORK_STUDY struct work_study study;
    open_study(runs, NULL, &study);
    assert_int_equal(study.run_count, 3);
    assert_string_equal(study.runs[0]->id, run_id(5, id));
    assert_true(study.runs[0]->running);
    assert_string_equal(study.runs[1]->id, run_id(4, id));
    assert_string_equal(study.runs[2]->id, run_id(1, id));
    assert_string_equal(study.unreadable, "");
    assert_false(study.more);
    assert_int_equal(study.study.run_count, 3);
    assert_int_equal(study.study.block_count, 2);
    assert_string_equal(study.input.environment->id, "here");
    journal_close(&writer);
}

static void parts_of_a_run_are_one_run(void **state) {
    const struct home *home = *state;
    const struct made parts[] = {{.n = 1, .study = STUDY}, {.n = 1, .part = 7, .study = STUDY}};
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
        AUTO_FREE char *path = leave_journal(home, &parts[i]);
        assert_true(is_there(path));
    }
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_WORK_STUDY struct work_study study;
    open_study(runs, NULL, &study);
    assert_int_equal(study.run_count, 1);
}

static void without_a_ledger_the_journals_are_read(void **state) {
    const struct home *home = *state;
    leave(home, 1, STUDY);
    AUTO_FREE char *ledger = mem_printf("%s/ledger.db", home->path);
    struct err err = ERR_INIT;
    assert_int_equal(symlink("/proc/nowhere/ledger.db", ledger), 0); /* no place for one */
    AUTO_RUNS struct runs *runs = open_runs(home);
    assert_string_not_equal(runs_warning(runs), "");
    AUTO_WORK_STUDY struct work_study study;
    open_study(runs, NULL, &study);
    assert_int_equal(study.run_count, 1);
    struct work_freeze freeze;
    must(work_block_freeze(&study, &home->place, NULL, "validate", NULL, NULL, &freeze, &err),
         &err);
    AUTO_WORK_STUDY struct work_study again;
    AUTO_RUNS struct runs *later = open_runs(home);
    open_study(later, NULL, &again);
    assert_int_equal(again.input.freeze_count, 1); /* it waits in the journal folder */
}

/* What it holds is not known, so nothing is said to be still to do. */
static void a_damaged_ledger_says_nothing_of_a_study(void **state) {
    const struct home *home = *state;
    leave(home, 1, STUDY);
    AUTO_FREE char *ledger = mem_printf("%s/ledger.db", home->path);
    struct err err = ERR_INIT;
    must(file_write_atomic(ledger, "no database", 11, 0600, &err), &err);
    AUTO_RUNS struct runs *runs = open_runs(home);
    assert_true(runs_need_ledger(runs, &err) < 0);
    assert_string_equal(err.id, "ledger-damaged");
}

static void environments_by_option_variable_plan(void **state) {
    const struct home *home = *state;
    AUTO_RUNS struct runs *runs = open_runs(home);
    struct err err = ERR_INIT;
    setenv("PROBELAUF_ENV", "there", 1);
    AUTO_WORK_STUDY struct work_study by_variable;
    open_study(runs, NULL, &by_variable);
    assert_string_equal(by_variable.input.environment->id, "there");
    AUTO_WORK_STUDY struct work_study by_option;
    open_study(runs, "here", &by_option);
    assert_string_equal(by_option.input.environment->id, "here");
    AUTO_WORK_STUDY struct work_study wrong;
    const struct work_study_options options = {.environment = "ther"};
    assert_int_equal(work_study_open(read_plan(), &options, runs, &wrong, &err), -EINVAL);
    assert_string_equal(err.id, "environment-unknown");
    assert_non_null(strstr(err.text, "did you mean 'there'"));
}

/* ---- the code ---- */

static void only_code_under_the_paths_is_the_code(void **state) {
    const struct home *home = *state;
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_WORK_STUDY struct work_study before, after, changed;
    open_study(runs, NULL, &before);
    assert_non_null(before.input.code_digest);
    assert_string_equal(json_string_value(json_array_get(before.input.code_paths, 0)), "src");
    put(home, "README.md", "other words\n");
    AUTO_FREE char *edited = mem_printf("%s# edited\n", plan_text);
    put(home, "probelauf.yaml", edited);
    open_study(runs, NULL, &after);
    assert_string_equal(after.input.code_digest, before.input.code_digest);
    put(home, "src/train.py", "print(2)\n");
    open_study(runs, NULL, &changed);
    assert_string_not_equal(changed.input.code_digest, before.input.code_digest);
}

static void the_plan_is_no_code_wherever_it_lies(void **state) {
    const struct home *home = *state;
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_WORK_STUDY struct work_study before, after, words;
    AUTO_FREE char *all = mem_strdup(plan_text);
    memcpy(strstr(all, "[src]"), "[.]  ", 5);
    put(home, "probelauf.yaml", all);
    open_study(runs, NULL, &before);
    AUTO_FREE char *edited = mem_printf("%s# edited\n", all);
    put(home, "probelauf.yaml", edited);
    open_study(runs, NULL, &after);
    assert_string_equal(after.input.code_digest, before.input.code_digest);
    put(home, "README.md", "other words\n"); /* named by the paths: what runs may read it */
    open_study(runs, NULL, &words);
    assert_string_not_equal(words.input.code_digest, before.input.code_digest);
}

static void without_git_the_code_is_not_known(void **state) {
    const struct home *home = *state;
    shell(home, "rm -rf .git");
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_WORK_STUDY struct work_study study;
    struct work_freeze freeze;
    struct err err = ERR_INIT;
    open_study(runs, NULL, &study);
    assert_null(study.input.code_digest);
    assert_non_null(study.input.code_why);
    assert_int_equal(work_block_freeze(&study, &home->place, runs_store(runs), "validate", NULL,
                                       NULL, &freeze, &err),
                     -ENODATA);
    assert_string_equal(err.id, "code-unknown");
}

/* ---- freeze ---- */

static int freeze(const struct home *home, struct runs *runs, struct work_study *study,
                  const char *block, struct work_freeze *ret, struct err *err) {
    return work_block_freeze(study, &home->place, runs_store(runs), block, NULL, NULL, ret, err);
}

static const char *sha_of(const struct evidence_freeze *frozen, const char *path) {
    for (size_t i = 0; i < json_array_size(frozen->inputs); i++) {
        const json_t *input = json_array_get(frozen->inputs, i);
        if (strcmp(json_get_text(input, "path", ""), path) == 0)
            return json_get_text(input, "sha256", "");
    }
    return "";
}

static void a_freeze_holds_code_inputs_and_conditions(void **state) {
    const struct home *home = *state;
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_WORK_STUDY struct work_study study, again;
    struct work_freeze done = {0};
    struct err err = ERR_INIT;
    char hex[SHA256_HEX_SIZE];
    open_study(runs, NULL, &study);
    assert_int_equal(study.input.freeze_count, 0);
    must(freeze(home, runs, &study, "validate", &done, &err), &err);
    assert_int_equal(done.inputs, 3); /* two data files and one folder, named twice */
    assert_int_equal(done.files, 4);
    assert_int_equal(done.bytes, 16);
    assert_int_equal(study.input.freeze_count, 1); /* known without reading again */
    assert_non_null(study.study.blocks[0].freeze);
    assert_int_equal(count_files(home->dir), 0); /* taken in at once */

    open_study(runs, NULL, &again);
    assert_int_equal(again.input.freeze_count, 1);
    const struct evidence_freeze *frozen = &again.input.freezes[0];
    assert_string_equal(frozen->id, done.event);
    assert_string_equal(frozen->block, "validate");
    assert_string_equal(frozen->code_digest, study.input.code_digest);
    assert_string_equal(frozen->plan_digest, study.plan->digest);
    digest_sha256("one\n", 4, hex);
    assert_string_equal(sha_of(frozen, "../data/1.txt"), hex);
    assert_int_equal(json_array_size(frozen->conditions), 2);
    assert_string_equal(json_string_value(json_array_get(frozen->conditions, 0)),
                        again.plan->blocks[0].conditions[0].id);
    assert_null(again.study.blocks[1].freeze);
}

static void a_later_freeze_goes_before_an_earlier_one(void **state) {
    const struct home *home = *state;
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_WORK_STUDY struct work_study study, again;
    struct work_freeze first = {0}, second = {0};
    struct err err = ERR_INIT;
    open_study(runs, NULL, &study);
    must(freeze(home, runs, &study, "validate", &first, &err), &err);
    put(home, "data/1.txt", "other\n");
    must(freeze(home, runs, &study, "validate", &second, &err), &err);
    open_study(runs, NULL, &again);
    assert_int_equal(again.input.freeze_count, 2);
    assert_string_equal(again.input.freezes[0].id, second.event);
    assert_string_equal(again.study.blocks[0].freeze->id, second.event);
    assert_int_equal(json_array_size(again.input.freezes[0].replaces), 1);
    assert_string_equal(json_string_value(json_array_get(again.input.freezes[0].replaces, 0)),
                        first.event);
    assert_string_not_equal(sha_of(&again.input.freezes[0], "../data/1.txt"),
                            sha_of(&again.input.freezes[1], "../data/1.txt"));
}

static void expect_refusal(const struct home *home, const char *block, const char *id,
                           const char *text) {
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_WORK_STUDY struct work_study study;
    struct work_freeze done;
    struct err err = ERR_INIT;
    open_study(runs, NULL, &study);
    assert_true(freeze(home, runs, &study, block, &done, &err) < 0);
    assert_string_equal(err.id, id);
    assert_non_null(strstr(err.text, text));
    assert_int_equal(study.input.freeze_count, 0);
    assert_int_equal(count_files(home->dir), 0);
}

static void what_cannot_be_frozen(void **state) {
    const struct home *home = *state;
    expect_refusal(home, "validat", "block-unknown", "did you mean 'validate'");
    expect_refusal(home, "scale", "block-stopped", "scale");
    put(home, "README.md", "not committed\n");
    put(home, "src/train.py", "print(2)\n");
    expect_refusal(home, "validate", "code-dirty", "git status -- src");
    shell(home, "git add src/train.py");
    expect_refusal(home, "validate", "code-dirty", "git status -- src");
    shell(home, "git commit -q -m second src");
    shell(home, "mv data/2.txt data/3.txt");
    expect_refusal(home, "validate", "input-unreadable", "data/2.txt");
    shell(home, "mv data/3.txt data/2.txt && ln -s /nowhere weights/part/c");
    expect_refusal(home, "validate", "input-unreadable", "weights/part/c");
    shell(home, "rm weights/part/c && ln -s ../.. weights/part/c");
    expect_refusal(home, "validate", "input-unreadable", "weights/part/c' is neither");
    shell(home, "rm weights/part/c && mkfifo weights/part/c");
    expect_refusal(home, "validate", "input-unreadable", "weights/part/c' is neither");
}

static void count_calls(uint64_t bytes, void *context) {
    uint64_t *most = context;
    assert_true(bytes > *most);
    *most = bytes;
}

static void a_folder_s_digest_is_its_content(void **state) {
    const struct home *home = *state;
    char first[SHA256_HEX_SIZE], second[SHA256_HEX_SIZE], a[SHA256_HEX_SIZE], b[SHA256_HEX_SIZE];
    struct err err = ERR_INIT;
    uint64_t most = 0;
    struct content_progress progress = {.read = count_calls, .context = &most};
    must(content_digest("weights", &progress, first, &err), &err);
    assert_int_equal(most, 8);
    assert_int_equal(progress.files, 2);
    digest_sha256("aaa\n", 4, a);
    digest_sha256("bbb\n", 4, b);
    AUTO_STRBUF struct strbuf lines = STRBUF_INIT;
    strbuf_printf(&lines, "%s  a", a);
    strbuf_add_char(&lines, '\0');
    strbuf_printf(&lines, "%s  part/b", b);
    strbuf_add_char(&lines, '\0');
    digest_sha256(strbuf_str(&lines), lines.length, second);
    assert_string_equal(first, second);
    /* the same content behind a link, as in a cache of weights */
    shell(home, "mkdir blobs && mv weights/a blobs/x && ln -s ../blobs/x weights/a");
    must(content_digest("weights", &progress, second, &err), &err);
    assert_string_equal(first, second);
    shell(home, "mv weights/part/b weights/part/c");
    must(content_digest("weights", &progress, second, &err), &err);
    assert_string_not_equal(first, second);
}

/* ---- events as records ---- */

static char *export_all(struct store *store, size_t *ret_length) {
    struct err err = ERR_INIT;
    size_t journals = 0;
    FILE *file = tmpfile();
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    assert_non_null(file);
    must(ledger_export(store, fileno(file), &journals, &err), &err);
    assert_int_equal(lseek(fileno(file), 0, SEEK_SET), 0);
    assert_int_equal(fd_read_all(fileno(file), SIZE_MAX / 2, &bytes), 0);
    fclose(file);
    *ret_length = bytes.length;
    return strbuf_take(&bytes);
}

static void no_problem(const char *run, const char *part, const char *what, void *context) {
    (void)context;
    fail_msg("%s %s: %s", run ? run : "-", part ? part : "-", what);
}

static void events_travel_and_are_rebuilt(void **state) {
    const struct home *home = *state;
    struct err err = ERR_INIT;
    leave(home, 1, STUDY);
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_WORK_STUDY struct work_study study, again;
    struct work_freeze done;
    open_study(runs, NULL, &study);
    must(freeze(home, runs, &study, "validate", &done, &err), &err);
    size_t length = 0, twice = 0;
    AUTO_FREE char *stream = export_all(runs_store(runs), &length);

    struct home away = {0};
    snprintf(away.url, sizeof away.url, "sqlite:%s/away.db", home->path);
    snprintf(away.dir, sizeof away.dir, "%s/away", home->path);
    const char *dirs[] = {away.dir, NULL};
    away.place = (struct place){.ledger_url = away.url, .journal_dirs = dirs};
    for (int i = 0; i < 2; i++) {
        AUTO_STORE struct store *store = open_ledger(&away);
        struct ledger_imported imported;
        FILE *file = tmpfile();
        assert_int_equal(fwrite(stream, 1, length, file), length);
        rewind(file);
        must(ledger_import(store, fileno(file), &imported, &err), &err);
        assert_int_equal(imported.taken, i == 0 ? 2 : 0);
        assert_int_equal(imported.unchanged, i == 0 ? 0 : 2);
        fclose(file);
        size_t problems = 9, journals = 0;
        must(ledger_check(store, no_problem, NULL, &problems, &err), &err);
        assert_int_equal(problems, 0);
        must(ledger_rebuild_rows(store, &journals, &err), &err);
        assert_int_equal(journals, 2);
        AUTO_FREE char *back = export_all(store, &twice);
        assert_int_equal(twice, length);
        assert_memory_equal(back, stream, length);
    }
    AUTO_RUNS struct runs *there = open_runs(&away);
    open_study(there, NULL, &again);
    assert_int_equal(again.run_count, 1);
    assert_int_equal(again.input.freeze_count, 1);
    assert_string_equal(again.input.freezes[0].id, done.event);
}

static void purging_a_study_takes_its_events(void **state) {
    const struct home *home = *state;
    struct err err = ERR_INIT;
    leave(home, 1, STUDY);
    leave(home, 2, OTHER);
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_WORK_STUDY struct work_study study;
    struct work_freeze done;
    open_study(runs, NULL, &study);
    must(freeze(home, runs, &study, "validate", &done, &err), &err);
    AUTO_ARENA struct arena *arena = arena_new();
    const char *const *ids = NULL;
    size_t count = 0, deleted = 0;
    const struct ledger_purge other = {.study = OTHER}, this = {.study = STUDY},
                              old = {.study = STUDY, .older_than_utc_ns = UTC_BASE};
    must(ledger_purge_events(runs_store(runs), &other, arena, &ids, &count, &err), &err);
    assert_int_equal(count, 0);
    must(ledger_purge_events(runs_store(runs), &old, arena, &ids, &count, &err), &err);
    assert_int_equal(count, 0);
    must(ledger_purge_events(runs_store(runs), &this, arena, &ids, &count, &err), &err);
    assert_int_equal(count, 1);
    assert_string_equal(ids[0], done.event);
    must(store_purge(runs_store(runs), ids, count, &deleted, &err), &err);
    assert_int_equal(deleted, 1);
    assert_int_equal(count_entries(runs_store(runs)), 2); /* the runs are another question */
}

static void secrets_are_masked_and_ids_kept(void **state) {
    (void)state;
    AUTO_JSON json_t *document =
        parse("{'id':'" STUDY "','hex':"
              "'0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',"
              "'list':['password=hunter2hunter2'],'n':1.5,'none':null}");
    AUTO_JSON json_t *copy = event_masked_copy(document);
    assert_string_equal(json_get_text(copy, "id", ""), STUDY);
    assert_string_equal(json_get_text(copy, "hex", ""), json_get_text(document, "hex", ""));
    assert_null(
        strstr(json_string_value(json_array_get(json_get_array(copy, "list"), 0)), "hunter2"));
    assert_true(json_get_real(copy, "n", 0) == 1.5);
    assert_true(json_is_null(json_object_get(copy, "none")));
}

static void what_is_too_large_is_refused(void **state) {
    const struct home *home = *state;
    struct err err = ERR_INIT;
    char id[UUID_TEXT_SIZE];
    AUTO_FREE char *text = mem_alloc((17u << 20) + 1);
    memset(text, ' ', 17u << 20);
    AUTO_JSON json_t *event = event_begin("estimate", clock_utc_ns());
    json_put_text(event, "text", text);
    assert_int_equal(event_write(&home->place, NULL, STUDY, event, id, &err), -EFBIG);
    assert_string_equal(err.id, "event-too-large");
    assert_int_equal(count_files(home->dir), 0);
}

/* ---- kept estimates ---- */

static int keep(const struct home *home, struct runs *runs, struct work_study *study,
                const char *name, struct err *err) {
    AUTO_JSON json_t *estimate = parse("{'schema':'probelauf.estimate/1','total':{}}");
    return work_estimate_freeze(study, &home->place, runs, name, estimate, err);
}

static const char *outdated_now(struct runs *runs, const char *environment,
                                struct work_study *study) {
    struct work_frozen *frozen;
    open_study(runs, environment, study);
    assert_int_equal(work_estimate_frozen(study, &frozen), 1);
    return frozen[0].outdated;
}

static void kept_estimates_newest_first(void **state) {
    const struct home *home = *state;
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_WORK_STUDY struct work_study study, again;
    struct err err = ERR_INIT;
    struct work_frozen *frozen;
    open_study(runs, NULL, &study);
    must(keep(home, runs, &study, "first", &err), &err);
    must(keep(home, runs, &study, "second-2.0_x", &err), &err);
    open_study(runs, NULL, &again);
    assert_int_equal(work_estimate_frozen(&again, &frozen), 2);
    assert_string_equal(frozen[0].name, "second-2.0_x");
    assert_string_equal(frozen[1].name, "first");
    assert_string_equal(frozen[1].environment, "here");
    assert_string_equal(json_get_text(frozen[1].estimate, "schema", ""), "probelauf.estimate/1");
    assert_null(frozen[1].outdated);
    assert_true(frozen[1].utc_ns > UTC_BASE);
    assert_string_not_equal(frozen[1].who, "");
}

static void a_large_estimate_is_kept_packed(void **state) {
    const struct home *home = *state;
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_WORK_STUDY struct work_study study, again;
    struct err err = ERR_INIT;
    struct work_frozen *frozen;
    AUTO_JSON json_t *estimate = parse("{'schema':'probelauf.estimate/1'}");
    json_t *list = json_array();
    for (int i = 0; i < 400000; i++)
        json_array_append_new(list, json_text("the same words, many times over"));
    json_put(estimate, "list", list);
    open_study(runs, NULL, &study);
    must(work_estimate_freeze(&study, &home->place, runs, "large", estimate, &err), &err);
    open_study(runs, NULL, &again);
    assert_int_equal(work_estimate_frozen(&again, &frozen), 1);
    assert_true(json_equal(frozen[0].estimate, estimate));
}

/* Its figures would be taken for those of a format that it is not. */
static void an_estimate_of_another_format_is_not_read(void **state) {
    const struct home *home = *state;
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_WORK_STUDY struct work_study study, again;
    struct err err = ERR_INIT;
    struct work_frozen *frozen;
    AUTO_JSON json_t *newer = parse("{'schema':'probelauf.estimate/9','total':{}}");
    AUTO_JSON json_t *none = parse("{'total':{}}");
    open_study(runs, NULL, &study);
    must(work_estimate_freeze(&study, &home->place, runs, "newer", newer, &err), &err);
    must(work_estimate_freeze(&study, &home->place, runs, "none", none, &err), &err);
    open_study(runs, NULL, &again);
    assert_int_equal(work_estimate_frozen(&again, &frozen), 2);
    assert_null(frozen[0].estimate);
    assert_string_equal(frozen[0].outdated, "its record holds no estimate that can be read");
    assert_null(frozen[1].estimate);
    assert_string_equal(frozen[1].outdated,
                        "it is a 'probelauf.estimate/9', which this version does not read");
}

static void packed_documents_that_are_damaged(void **state) {
    (void)state;
    static const char *const bad[] = {"", "!", "AAAA", "KLUv/QBYAQAA", "bm90IHpzdGQ="};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        AUTO_JSON json_t *event = json_object();
        json_put_text(event, "estimate_zstd_base64", bad[i]);
        assert_null(event_get_document(event, "estimate"));
    }
}

static void names_of_kept_estimates(void **state) {
    const struct home *home = *state;
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_WORK_STUDY struct work_study study;
    open_study(runs, NULL, &study);
    const char *const bad[] = {
        "",    "a b",
        "a/b", "-a",
        ".a",  "ä",
        "a\n", "0123456789012345678901234567890123456789012345678901234567890123456789"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        struct err err = ERR_INIT;
        assert_int_equal(keep(home, runs, &study, bad[i], &err), -EINVAL);
        assert_string_equal(err.id, "estimate-name");
    }
    struct err err = ERR_INIT;
    must(keep(home, runs, &study, "a", &err), &err);
    assert_int_equal(keep(home, runs, &study, "a", &err), -EEXIST);
    assert_string_equal(err.id, "estimate-name");
}

/* Two processes that looked before either of them wrote. */
static void a_name_is_given_once_also_at_once(void **state) {
    const struct home *home = *state;
    AUTO_RUNS struct runs *first = open_runs(home);
    AUTO_RUNS struct runs *second = open_runs(home);
    AUTO_WORK_STUDY struct work_study a, b;
    struct err err = ERR_INIT;
    open_study(first, NULL, &a);
    open_study(second, NULL, &b);
    must(keep(home, first, &a, "same", &err), &err);
    assert_int_equal(count_files(home->dir), 0); /* taken in, none left behind */
    assert_int_equal(keep(home, second, &b, "same", &err), -EEXIST);
    assert_string_equal(err.id, "estimate-name");
    err_clear(&err);
    must(keep(home, second, &b, "other", &err), &err); /* the lock was given up */
    must(keep(home, first, &a, "third", &err), &err);
    AUTO_WORK_STUDY struct work_study again;
    struct work_frozen *frozen;
    open_study(first, NULL, &again);
    assert_int_equal(work_estimate_frozen(&again, &frozen), 3);
}

static void what_makes_an_estimate_outdated(void **state) {
    const struct home *home = *state;
    AUTO_RUNS struct runs *runs = open_runs(home);
    AUTO_WORK_STUDY struct work_study study, words, code, both, run, other, gone;
    struct err err = ERR_INIT;
    open_study(runs, NULL, &study);
    must(keep(home, runs, &study, "first", &err), &err);
    put(home, "README.md", "other words\n");
    assert_null(outdated_now(runs, NULL, &words));
    put(home, "src/train.py", "print(2)\n");
    assert_string_equal(outdated_now(runs, NULL, &code), "the code changed");
    AUTO_FREE char *edited = mem_printf("%s# edited\n", plan_text);
    put(home, "probelauf.yaml", edited);
    assert_string_equal(outdated_now(runs, NULL, &both), "the plan was edited; the code changed");
    put(home, "probelauf.yaml", plan_text);
    put(home, "src/train.py", "print(1)\n");

    /* a run that belongs to a block changes its state, in this environment only */
    AUTO_FREE char *more = mem_printf(",'condition_id':'%s','block':'validate','study':'" STUDY
                                      "','paper_version':'v1','environment_id':'here'",
                                      study.plan->blocks[0].conditions[0].id);
    const struct made made = {.n = 1, .study = STUDY, .start_more = more};
    AUTO_FREE char *path = leave_journal(home, &made);
    assert_true(is_there(path));
    AUTO_RUNS struct runs *later = open_runs(home);
    const char *why = outdated_now(later, NULL, &run);
    assert_non_null(why);
    assert_non_null(strstr(why, "block 'validate' was 'planned' and is '"));
    assert_null(outdated_now(later, "there", &other));

    AUTO_FREE char *renamed = mem_strdup(plan_text);
    memcpy(strstr(renamed, "id: here"), "id: hier", 8);
    put(home, "probelauf.yaml", renamed);
    why = outdated_now(later, NULL, &gone);
    assert_non_null(strstr(why, "the environment 'here' is not in the plan any more"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        STUDY_TEST(runs_of_the_study_and_no_others),
        STUDY_TEST(parts_of_a_run_are_one_run),
        STUDY_TEST(without_a_ledger_the_journals_are_read),
        STUDY_TEST(a_damaged_ledger_says_nothing_of_a_study),
        STUDY_TEST(environments_by_option_variable_plan),
        STUDY_TEST(only_code_under_the_paths_is_the_code),
        STUDY_TEST(the_plan_is_no_code_wherever_it_lies),
        STUDY_TEST(without_git_the_code_is_not_known),
        STUDY_TEST(a_freeze_holds_code_inputs_and_conditions),
        STUDY_TEST(a_later_freeze_goes_before_an_earlier_one),
        STUDY_TEST(what_cannot_be_frozen),
        STUDY_TEST(a_folder_s_digest_is_its_content),
        STUDY_TEST(events_travel_and_are_rebuilt),
        STUDY_TEST(purging_a_study_takes_its_events),
        STUDY_TEST(secrets_are_masked_and_ids_kept),
        STUDY_TEST(what_is_too_large_is_refused),
        STUDY_TEST(kept_estimates_newest_first),
        STUDY_TEST(a_large_estimate_is_kept_packed),
        STUDY_TEST(an_estimate_of_another_format_is_not_read),
        STUDY_TEST(packed_documents_that_are_damaged),
        STUDY_TEST(names_of_kept_estimates),
        STUDY_TEST(a_name_is_given_once_also_at_once),
        STUDY_TEST(what_makes_an_estimate_outdated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
