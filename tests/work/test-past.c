/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What other studies of the ledger lend: which runs are one condition, in which order, and which
 * are none at all. */
#include "support.h"

#include "work/annotate.h"
#include "work/event.h"
#include "work/past.h"

#include <math.h>

#define MINE  "01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21"
#define OTHER "01936a5e-4f00-7c2a-9b1d-0000000000aa"
#define THIRD "01936a5e-4f00-7c2a-9b1d-0000000000bb"

/* Zeroed but for n: a good run of OTHER, block compare, size=1, 2 s; later with a larger n. */
struct past_run {
    unsigned n, part;
    double seconds;
    const char *study, *block, *size, *environment, *fingerprint, *code, *purpose, *end_more;
    bool no_condition;
    int exit_code;
};

static const char *or_usual(const char *text, const char *usual) {
    return text ? text : usual;
}

static void make_start(const struct past_run *made, struct strbuf *out) {
    const char *size = or_usual(made->size, "1"), *block = or_usual(made->block, "compare");
    AUTO_FREE char *condition = mem_printf(",'condition_id':'%s-%s'", block, size);
    AUTO_FREE char *environment =
        made->environment ? mem_printf(",'environment_id':'%s'", made->environment) : NULL;
    AUTO_FREE char *start = mem_printf(
        "{'command':['work','%s'],'cwd':'/w','purpose':'%s','attempt':1,'block':'%s',"
        "'condition':{'size':'%s'},'parameters':{'size':'%s','fixed':'x'},'clock':"
        "{'start_mono_ns':1000000000,'start_utc_ns':%lld},'rss_floor_bytes':2097152%s%s}",
        size, or_usual(made->purpose, "trial"), block, size, size,
        (long long)(UTC_BASE + made->n * NS_PER_S), made->no_condition ? "" : condition,
        environment ? environment : "");
    add(out, JOURNAL_START, start);
}

static void leave(const struct home *home, const struct past_run *made) {
    char run[ID_SIZE], part[ID_SIZE];
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    long long wall_ns = llround((made->seconds > 0.0 ? made->seconds : 2.0) * 1e9);
    AUTO_FREE char *header = mem_printf(
        "{'format':1,'type':'run','run':'%s','part':'%s','boot_id':'none','pid':1,'pid_start':1,"
        "'utc_ns':%lld,'program':'0.1.0','study':'%s'}",
        run_id(made->n, run), part_id(made->part ? made->part : made->n, part),
        (long long)(UTC_BASE + made->n * NS_PER_S), or_usual(made->study, OTHER));
    AUTO_FREE char *environment =
        mem_printf("{'code':{'digest':'%s'},'machine':{},'fingerprint':'%s'}",
                   or_usual(made->code, "d0"), or_usual(made->fingerprint, "f0"));
    AUTO_FREE char *end = mem_printf(
        "{'t_ns':%lld,'command_t_ns':%lld,'end_utc_ns':%lld,'exit_code':%d,'survivors':[]%s}",
        wall_ns, wall_ns, (long long)(UTC_BASE + made->n * NS_PER_S + wall_ns), made->exit_code,
        or_usual(made->end_more, ",'wall_is_at_least':false"));
    strbuf_add_str(&bytes, JOURNAL_MAGIC);
    add(&bytes, JOURNAL_HEADER, header);
    make_start(made, &bytes);
    add(&bytes, JOURNAL_ENVIRONMENT, environment);
    add(&bytes, JOURNAL_END, end);
    AUTO_FREE char *path = journal_path(home, &(struct made){.n = made->n, .part = made->part});
    write_bytes_to(path, &bytes);
}

#define LEAVE(...) leave(home, &(struct past_run){__VA_ARGS__})

static struct work_past find(const struct home *home, const char *study) {
    struct err err = ERR_INIT;
    AUTO_RUNS struct runs *runs = NULL;
    struct work_past past;
    must(runs_open(&home->place, &runs, &err), &err);
    must(work_past_find(runs, study, home->arena, &past, &err), &err);
    return past;
}

/* Index of the condition, or SIZE_MAX. */
static size_t at(const struct work_past *past, const char *study, const char *condition) {
    for (size_t i = 0; i < past->count; i++)
        if (strcmp(past->of[i].study, study) == 0 && strcmp(past->of[i].condition, condition) == 0)
            return i;
    return SIZE_MAX;
}

static void nothing_there_is_nothing_to_borrow(void **state) {
    const struct home *home = *state;
    assert_int_equal(find(home, MINE).count, 0);
    LEAVE(.n = 1);
    LEAVE(.n = 2, .size = "2");
    assert_int_equal(find(home, MINE).count, 0); /* one run each */
}

static void conditions_of_other_studies_oldest_run_first(void **state) {
    const struct home *home = *state;
    LEAVE(.n = 3, .seconds = 3.5);
    LEAVE(.n = 1, .seconds = 1.5);
    LEAVE(.n = 2, .seconds = 2.5);
    LEAVE(.n = 4, .size = "2", .seconds = 20);
    LEAVE(.n = 5, .size = "2", .seconds = 21);
    LEAVE(.n = 6, .study = THIRD, .block = "scale", .seconds = 7);
    LEAVE(.n = 7, .study = THIRD, .block = "scale", .seconds = 8);
    LEAVE(.n = 8, .study = MINE, .seconds = 9);
    LEAVE(.n = 9, .study = MINE, .seconds = 10);
    struct work_past past = find(home, MINE);
    assert_int_equal(past.count, 3);
    assert_int_equal(at(&past, MINE, "size=1"), SIZE_MAX);
    assert_int_equal(at(&past, THIRD, "size=1"), 0); /* that of the newest run first */
    size_t i = at(&past, OTHER, "size=1");
    assert_int_not_equal(i, SIZE_MAX);
    const struct history_condition *condition = &past.conditions[i];
    assert_int_equal(condition->count, 3);
    assert_float_equal(condition->seconds[0], 1.5, 1e-6);
    assert_float_equal(condition->seconds[1], 2.5, 1e-6);
    assert_float_equal(condition->seconds[2], 3.5, 1e-6);
    assert_string_equal(condition->family, OTHER "/compare");
    assert_string_equal(past.conditions[0].family, THIRD "/scale");
    assert_string_equal(past.of[i].block, "compare");
    assert_null(past.of[i].environment);
    for (size_t a = 0; a < past.count; a++)
        for (size_t b = 0; b < a; b++)
            assert_string_not_equal(past.conditions[a].name, past.conditions[b].name);
    assert_int_equal(find(home, NULL).count, 4); /* a plan without an id: every study is another */
}

static void only_observations_are_taken(void **state) {
    const struct home *home = *state;
    char id[ID_SIZE], event[UUID_TEXT_SIZE];
    struct err err = ERR_INIT;
    LEAVE(.n = 1, .seconds = 1);
    LEAVE(.n = 2, .seconds = 2);
    LEAVE(.n = 3, .seconds = 3);
    LEAVE(.n = 4, .end_more = ",'wall_is_at_least':true");
    LEAVE(.n = 5, .end_more = ",'wall_is_at_least':false,'expectations':[{'what':'x','met':'no'}]");
    LEAVE(.n = 6, .no_condition = true);
    LEAVE(.n = 7, .size = "7");
    LEAVE(.n = 8, .size = "7", .end_more = ",'wall_is_at_least':false,'stopped_ns':1900000000");
    struct work_past before = find(home, MINE);
    assert_int_equal(before.count, 1);
    assert_int_equal(before.conditions[0].count, 3);
    const struct annotation invalid = {.invalid = true, .why = "another job"};
    must(annotate_run(&home->place, NULL, run_id(2, id), &invalid, event, &err), &err);
    struct work_past past = find(home, MINE);
    assert_int_equal(past.count, 1);
    assert_int_equal(past.conditions[0].count, 2);
    assert_float_equal(past.conditions[0].seconds[0], 1.0, 1e-6);
    assert_float_equal(past.conditions[0].seconds[1], 3.0, 1e-6);
}

static void function_tests_and_failures_lend_nothing(void **state) {
    const struct home *home = *state;
    for (unsigned n = 1; n < 4; n++) {
        LEAVE(.n = n, .purpose = "function-test");
        LEAVE(.n = 10 + n, .size = "2", .exit_code = 1);
    }
    assert_int_equal(find(home, MINE).count, 0);
}

static void machines_are_kept_apart_and_old_code_is_left_out(void **state) {
    const struct home *home = *state;
    LEAVE(.n = 1, .environment = "here");
    LEAVE(.n = 2, .environment = "here");
    LEAVE(.n = 3, .environment = "there");
    LEAVE(.n = 4, .environment = "there");
    LEAVE(.n = 5, .environment = "there", .fingerprint = "f1");
    struct work_past past = find(home, MINE);
    assert_int_equal(past.count, 2);
    assert_string_equal(past.of[0].environment, "there");
    assert_string_equal(past.of[1].environment, "here");
    assert_int_equal(past.conditions[0].count, 2);
    LEAVE(.n = 6, .environment = "there", .code = "d1"); /* alone, and the others are older */
    past = find(home, MINE);
    assert_int_equal(past.count, 1);
    assert_string_equal(past.of[0].environment, "here");
}

static void parts_of_one_run_are_one_observation(void **state) {
    const struct home *home = *state;
    LEAVE(.n = 1);
    LEAVE(.n = 1, .part = 9);
    assert_int_equal(find(home, MINE).count, 0);
    LEAVE(.n = 2);
    struct work_past past = find(home, MINE);
    assert_int_equal(past.count, 1);
    assert_int_equal(past.conditions[0].count, 2);
}

static void a_study_is_known_by_its_title_else_by_its_id(void **state) {
    const struct home *home = *state;
    char id[UUID_TEXT_SIZE];
    struct err err = ERR_INIT;
    for (unsigned n = 1; n < 3; n++) {
        LEAVE(.n = n);
        LEAVE(.n = 10 + n, .study = THIRD);
        LEAVE(.n = 20 + n, .size = "2");
    }
    AUTO_JSON json_t *event = event_begin("estimate", UTC_BASE);
    json_put_text(event, "study", OTHER);
    json_put_text(event, "title", "the first\nof all");
    must(event_write(&home->place, NULL, OTHER, event, id, &err), &err);
    struct work_past past = find(home, MINE);
    assert_int_equal(past.count, 3);
    assert_string_equal(past.conditions[1].label, "study '000000bb': size=1");
    assert_string_equal(past.conditions[2].label, "study 'the first\\nof all': size=1");
    assert_string_equal(past.conditions[0].label, "study 'the first\\nof all': size=2");
}

static void what_cannot_be_read_is_passed_over(void **state) {
    const struct home *home = *state;
    for (unsigned n = 1; n < 4; n++)
        LEAVE(.n = n);
    assert_int_equal(find(home, MINE).conditions[0].count, 3);
    AUTO_FREE char *command = mem_printf(
        "python3 -c \"import sqlite3; c = sqlite3.connect('%s/ledger.db'); "
        "c.execute('UPDATE journal SET content = zeroblob(length(content)) WHERE id = 2'); "
        "c.commit()\"",
        home->path);
    assert_int_equal(system(command), 0);
    struct work_past past = find(home, MINE);
    assert_int_equal(past.count, 1);
    assert_int_equal(past.conditions[0].count, 2);
}

/* Its first runs tell whether it starts cold. */
static void of_a_long_condition_its_first_runs(void **state) {
    const struct home *home = *state;
    for (unsigned n = 1; n <= WORK_PAST_EACH_MAX + 5; n++)
        LEAVE(.n = n, .seconds = n);
    struct work_past past = find(home, MINE);
    assert_int_equal(past.count, 1);
    assert_int_equal(past.conditions[0].count, WORK_PAST_EACH_MAX);
    assert_float_equal(past.conditions[0].seconds[0], 1.0, 1e-6);
    assert_float_equal(past.conditions[0].seconds[1], 2.0, 1e-6);
}

static void of_many_conditions_the_newest_whole(void **state) {
    const struct home *home = *state;
    char size[16];
    for (unsigned n = 1; n <= WORK_PAST_RUNS_MAX + 2; n++) {
        snprintf(size, sizeof(size), "%u", n / 3);
        LEAVE(.n = n, .size = size, .seconds = n);
    }
    struct work_past past = find(home, MINE);
    size_t runs = 0;
    for (size_t i = 0; i < past.count; i++)
        runs += past.conditions[i].count;
    assert_in_range(runs, WORK_PAST_RUNS_MAX - 2, WORK_PAST_RUNS_MAX);
    for (size_t i = 1; i < past.count; i++) /* the newest may not be complete yet */
        assert_int_equal(past.conditions[i].count, 3);
    snprintf(size, sizeof(size), "size=%u", (WORK_PAST_RUNS_MAX + 2) / 3);
    assert_string_equal(past.of[0].condition, size);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        HOME_TEST(nothing_there_is_nothing_to_borrow),
        HOME_TEST(conditions_of_other_studies_oldest_run_first),
        HOME_TEST(only_observations_are_taken),
        HOME_TEST(function_tests_and_failures_lend_nothing),
        HOME_TEST(machines_are_kept_apart_and_old_code_is_left_out),
        HOME_TEST(parts_of_one_run_are_one_observation),
        HOME_TEST(a_study_is_known_by_its_title_else_by_its_id),
        HOME_TEST(what_cannot_be_read_is_passed_over),
        HOME_TEST(of_a_long_condition_its_first_runs),
        HOME_TEST(of_many_conditions_the_newest_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
