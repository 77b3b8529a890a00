/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wall time, command time and phases: one golden case a rule of docs/measurement.md, "Time" and
 * "Phases". */
#include "fold-support.h"

#define S(n) #n "000000000"
#define MARK(t, rest) \
    { JOURNAL_MARK, "{'t_ns':" S(t) "," rest "}" }
#define PHASE(t, name) MARK(t, "'verb':'phase','name':'" name "'")
#define PHASE_AT_0(name) \
    { JOURNAL_MARK, "{'t_ns':0,'verb':'phase','name':'" name "'}" }
#define PHASE_OF(t, pid, name) MARK(t, "'verb':'phase','name':'" name "','pid':" #pid)
#define STOP(t)                MARK(t, "'verb':'end'")
#define PATTERN(t, event, name)                                                  \
    {                                                                            \
        JOURNAL_PHASE, "{'t_ns':" S(t) ",'event':'" event "','name':'" name "'," \
                                       "'source':'pattern'}"                     \
    }
#define END(t) \
    { JOURNAL_END, "{'t_ns':" S(t) ",'command_t_ns':" S(t) ",'exit_code':0}" }
#define DONE \
    { 0, NULL }

/* ---- time ---- */

static void times_a_run_that_ended(void **state) {
    (void)state;
    AUTO_RUN struct run *run = fold_lines(
        "",
        (const struct line[]){{JOURNAL_END, "{'t_ns':5250000000,'command_t_ns':3000000000,"
                                            "'exit_code':0,'end_utc_ns':1764500006000000000}"},
                              DONE},
        false);
    assert_quantity(run->wall, "= 5.25 s");
    assert_quantity(run->command, "= 3 s");
    assert_false(run->running);
    assert_true(run->has_exit_code);
    assert_int_equal(run->outcome, OUTCOME_OK);
    assert_true(run->started_utc_ns == INT64_C(1764500000500000000));
    assert_true(run->ended_utc_ns == INT64_C(1764500006000000000));
}

static void times_what_was_cut_off(void **state) {
    (void)state;
    static const struct {
        const char *end, *wall, *command;
    } cases[] = {
        {"'budget':true,'exit_code':0", ">= 9 s", ">= 8 s"}, /* it took TERM well */
        {"'interrupted':true,'exit_code':1", ">= 9 s", ">= 8 s"},
        {"'signal':9", ">= 9 s", ">= 8 s"},
        {"'signal':15", ">= 9 s", ">= 8 s"},
        {"'signal':11", "= 9 s", "= 8 s"}, /* a crash is an end */
        {"'signal':6", "= 9 s", "= 8 s"},
        {"'exit_code':1", "= 9 s", "= 8 s"},
        {"'exit_code':0,'survivors':[]", "= 9 s", "= 8 s"},
        {"'exit_code':0,'survivors':[{'pid':7}]", ">= 9 s", "= 8 s"},
        {"'exit_code':0,'wall_is_at_least':true", ">= 9 s", "= 8 s"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_FREE char *end =
            mem_printf("{'t_ns':9000000000,'command_t_ns':8000000000,%s}", cases[i].end);
        AUTO_RUN struct run *run =
            fold_lines("", (const struct line[]){{JOURNAL_END, end}, DONE}, false);
        assert_quantity(run->wall, cases[i].wall);
        assert_quantity(run->command, cases[i].command);
        assert_adds_up(run);
    }
}

static void times_a_run_whose_monitor_was_lost(void **state) {
    (void)state;
    /* no END, nobody alive: until the last record */
    AUTO_RUN struct run *lost = fold_lines(
        "", (const struct line[]){{JOURNAL_COUNTERS, "{'t_ns':20000000000}"}, DONE}, false);
    assert_quantity(lost->wall, ">= 20 s");
    assert_quantity(lost->command, "open monitor-lost s");
    assert_int_equal(lost->outcome, OUTCOME_LOST);
    assert_false(lost->running);
    AUTO_RUN struct run *gap = fold_lines(
        "",
        (const struct line[]){
            {JOURNAL_GAP, "{'what':'x','from_t_ns':1,'to_t_ns':7000000000,'reason':'y'}"}, DONE},
        false);
    assert_quantity(gap->wall, ">= 7 s");
    /* no run takes 200 years */
    AUTO_RUN struct run *garbled =
        fold_lines("",
                   (const struct line[]){{JOURNAL_COUNTERS, "{'t_ns':20000000000}"},
                                         {JOURNAL_COUNTERS, "{'t_ns':9000000000000000000}"},
                                         DONE},
                   false);
    assert_quantity(garbled->wall, ">= 20 s");
    /* the recorder's END says when the monitor was last seen, not when the run ended */
    AUTO_RUN struct run *told = fold_lines(
        "", (const struct line[]){{JOURNAL_END, "{'t_ns':30000000000,'monitor_lost':true}"}, DONE},
        false);
    assert_quantity(told->wall, ">= 30 s");
    assert_quantity(told->command, "open monitor-lost s");
    assert_int_equal(told->outcome, OUTCOME_LOST);
    /* nothing but the beginning */
    AUTO_RUN struct run *empty = fold_lines("", (const struct line[]){DONE}, false);
    assert_quantity(empty->wall, "open monitor-lost s");
    assert_quantity(empty->phase[PHASE_UNATTRIBUTED], "open monitor-lost s");
    assert_int_equal(empty->phase_count, 0);
}

static void times_a_run_that_goes_on(void **state) {
    (void)state;
    AUTO_RUN struct run *run =
        fold_lines("", (const struct line[]){PHASE(1, "load"), PHASE(4, "compute"), DONE}, true);
    assert_true(run->running);
    assert_int_equal(run->outcome, OUTCOME_RUNNING);
    assert_quantity(run->wall, "open running s");
    assert_quantity(run->command, "open running s");
    assert_quantity(run->result_complete, "open running s");
    assert_quantity(run->phase[PHASE_LOAD], ">= 3 s"); /* may come again */
    assert_quantity(run->phase[PHASE_WRITE], "open running s");
    assert_quantity(run->phase[PHASE_UNATTRIBUTED], "open running s");
    assert_phases(run, "0-1 unattributed, 1-4 load");
}

static void times_a_command_that_did_not_start(void **state) {
    (void)state;
    AUTO_RUN struct run *run = fold_lines(
        "", (const struct line[]){{JOURNAL_END, "{'t_ns':0,'start_errno':2}"}, DONE}, false);
    assert_int_equal(run->outcome, OUTCOME_START_FAILED);
    assert_quantity(run->command, "open not-applicable s");
    assert_quantity(run->wall, "= 0 s"); /* measured as 0 */
}

static void believes_the_monitor_before_the_recorder(void **state) {
    (void)state;
    static const char own[] = "{'t_ns':5000000000,'command_t_ns':5000000000,'exit_code':3}";
    static const char other[] = "{'t_ns':9000000000,'monitor_lost':true}";
    for (int i = 0; i < 2; i++) {
        AUTO_RUN struct run *run = fold_lines(
            "",
            (const struct line[]){
                {JOURNAL_END, i == 0 ? own : other}, {JOURNAL_END, i == 0 ? other : own}, DONE},
            false);
        assert_quantity(run->wall, "= 5 s");
        assert_int_equal(run->exit_code, 3);
        assert_int_equal(run->outcome, OUTCOME_FAILED);
    }
}

/* ---- sources ---- */

static void has_no_phases_without_a_rule(void **state) {
    (void)state;
    AUTO_RUN struct run *run = fold_lines("", (const struct line[]){END(10), DONE}, false);
    for (enum phase phase = 0; phase < PHASE_UNATTRIBUTED; phase++) {
        assert_quantity(run->phase[phase], "open not-separated s");
        assert_non_null(run->phase[phase].detail); /* how to separate them */
    }
    assert_quantity(run->phase[PHASE_UNATTRIBUTED], "= 10 s");
    assert_phases(run, "0-10 unattributed");
    assert_string_equal(run->phases[0].source, "none");
}

static void takes_marks(void **state) {
    (void)state;
    AUTO_RUN struct run *run =
        fold_lines("",
                   (const struct line[]){PHASE(1, "load"), PHASE(4, "compute/prefill"),
                                         PHASE(5, "compute/decode"), STOP(8), END(10), DONE},
                   false);
    assert_phases(run, "0-1 unattributed, 1-4 load, 4-5 compute/prefill, 5-8 compute/decode, "
                       "8-10 unattributed");
    assert_quantity(run->phase[PHASE_LOAD], "= 3 s");
    assert_quantity(run->phase[PHASE_COMPUTE], "= 4 s");
    assert_quantity(run->phase[PHASE_UNATTRIBUTED], "= 3 s");
    assert_quantity(run->phase[PHASE_WRITE], "open not-separated s"); /* never begun: not 0 */
    assert_string_equal(run->phase[PHASE_LOAD].method, "mark");
    assert_string_equal(run->phases[1].source, "mark");
    assert_adds_up(run);
}

static void measures_zero_where_it_was_zero(void **state) {
    (void)state;
    AUTO_RUN struct run *run =
        fold_lines("",
                   (const struct line[]){PHASE_AT_0("data"), PHASE_AT_0("load"),
                                         PHASE(3, "compute"), END(3), DONE},
                   false);
    assert_quantity(run->phase[PHASE_DATA], "= 0 s");
    assert_quantity(run->phase[PHASE_COMPUTE], "= 0 s");
    assert_quantity(run->phase[PHASE_UNATTRIBUTED], "= 0 s");
    assert_phases(run, "0-3 load");
}

/* What buffered output says of times was read by nobody. */
static void opens_phases_of_lines_that_came_together(void **state) {
    (void)state;
    const struct line cases[][6] = {
        {PATTERN(3, "begin", "load"), PATTERN(3, "begin", "compute"), END(4), DONE},
        {PATTERN(1, "begin", "load"), PATTERN(3, "end", "load"), PATTERN(3, "begin", "compute"),
         END(4), DONE},
        {PATTERN(1, "begin", "compute"), PATTERN(3, "begin", "load"), PATTERN(3, "end", "load"),
         END(4), DONE},
        {PATTERN(1, "begin", "compute/prefill"), PATTERN(2, "begin", "compute/decode"),
         PATTERN(2, "begin", "compute/prefill"), END(4), DONE},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_RUN struct run *run = fold_lines(",'phase':'compute'", cases[i], false);
        for (enum phase phase = 0; phase < PHASE_UNATTRIBUTED; phase++) {
            assert_quantity(run->phase[phase], "open not-separated s");
            assert_non_null(strstr(run->phase[phase].detail, "stdbuf -oL"));
        }
        assert_quantity(run->phase[PHASE_UNATTRIBUTED], "= 4 s");
        assert_phases(run, "0-4 unattributed");
        assert_true(run->lines_came_together);
    }
    /* the same line again says nothing new; marks have times of their own */
    AUTO_RUN struct run *again = fold_lines(
        "",
        (const struct line[]){PATTERN(1, "begin", "load"), PATTERN(3, "begin", "compute"),
                              PATTERN(3, "begin", "compute"), END(4), DONE},
        false);
    assert_phases(again, "0-1 unattributed, 1-3 load, 3-4 compute");
    assert_false(again->lines_came_together);
    AUTO_RUN struct run *marks = fold_lines(
        "", (const struct line[]){PHASE(1, "load"), PHASE(1, "compute"), END(4), DONE}, false);
    assert_quantity(marks->phase[PHASE_LOAD], "= 0 s");
    /* a line that was read when the run was over */
    AUTO_RUN struct run *late =
        fold_lines("", (const struct line[]){PATTERN(4, "begin", "load"), END(4), DONE}, false);
    assert_quantity(late->phase[PHASE_LOAD], "open not-separated s");
    assert_quantity(late->phase[PHASE_UNATTRIBUTED], "= 4 s");
}

static void prefers_marks_to_patterns_to_the_option(void **state) {
    (void)state;
    static const char option[] = ",'phase':'setup'";
    AUTO_RUN struct run *all = fold_lines(
        option,
        (const struct line[]){PATTERN(1, "begin", "load"), PHASE(2, "compute"), END(4), DONE},
        false);
    assert_phases(all, "0-2 unattributed, 2-4 compute");
    AUTO_RUN struct run *patterns =
        fold_lines(option,
                   (const struct line[]){{JOURNAL_PHASE, "{'t_ns':0,'event':'begin','name':'setup',"
                                                         "'source':'option'}"},
                                         PATTERN(1, "begin", "load"),
                                         PATTERN(3, "end", "load"),
                                         MARK(3, "'verb':'items','value':3"),
                                         STOP(3),
                                         END(4),
                                         DONE},
                   false);
    assert_phases(patterns, "0-1 unattributed, 1-3 load, 3-4 unattributed");
    assert_string_equal(patterns->phases[1].source, "pattern");
    AUTO_RUN struct run *optional = fold_lines(option, (const struct line[]){END(4), DONE}, false);
    assert_phases(optional, "0-4 setup");
    assert_string_equal(optional->phases[0].source, "option");
    assert_quantity(optional->phase[PHASE_SETUP], "= 4 s");
    assert_quantity(optional->phase[PHASE_UNATTRIBUTED], "= 0 s");
    assert_quantity(optional->phase[PHASE_LOAD], "open not-separated s");
}

static void ends_by_name_only_what_holds(void **state) {
    (void)state;
    AUTO_RUN struct run *run = fold_lines(
        "",
        (const struct line[]){PHASE_AT_0("load/weights"), MARK(1, "'verb':'end','name':'compute'"),
                              MARK(2, "'verb':'end','name':'load/tokenizer'"),
                              MARK(3, "'verb':'end','name':'load'"), END(4), DONE},
        false);
    assert_phases(run, "0-3 load/weights, 3-4 unattributed");
}

/* Order of arrival is not order of time: a slow sender's line comes late. */
static void sorts_by_time(void **state) {
    (void)state;
    AUTO_RUN struct run *run = fold_lines(
        "", (const struct line[]){PHASE(5, "compute"), PHASE(2, "load"), STOP(7), END(9), DONE},
        false);
    assert_phases(run, "0-2 unattributed, 2-5 load, 5-7 compute, 7-9 unattributed");
}

static void cuts_at_the_wall(void **state) {
    (void)state;
    AUTO_RUN struct run *run = fold_lines(
        "", (const struct line[]){PHASE(1, "load"), PHASE(20, "compute"), STOP(30), END(10), DONE},
        false);
    assert_phases(run, "0-1 unattributed, 1-10 load");
    assert_adds_up(run);
}

static void leaves_marks_without_time_out(void **state) {
    (void)state;
    AUTO_RUN struct run *run =
        fold_lines("",
                   (const struct line[]){PHASE(1, "load"),
                                         {JOURNAL_MARK, "{'verb':'phase','name':'compute'}"},
                                         {JOURNAL_COUNTERS, "{'t_ns':4000000000}"},
                                         DONE},
                   false);
    assert_phases(run, "0-1 unattributed, 1-4 load");
    assert_quantity(run->phase[PHASE_LOAD], ">= 3 s"); /* it held when the monitor was lost */
    assert_quantity(run->phase[PHASE_COMPUTE], "open not-separated s");
    assert_quantity(run->phase[PHASE_UNATTRIBUTED], "= 1 s");
    assert_int_equal(run->gap_count, 1);
    assert_string_equal(run->gaps[0].what, "marks");
}

/* ---- several processes ---- */

static void load_ends_with_the_last_loader(void **state) {
    (void)state;
    AUTO_RUN struct run *run = fold_lines(
        "",
        (const struct line[]){PHASE_OF(1, 11, "load"), PHASE_OF(2, 12, "load"),
                              PHASE_OF(4, 12, "compute"), PHASE_OF(6, 11, "compute"),
                              PHASE_OF(8, 12, "write"), PHASE_OF(9, 11, "write"), END(10), DONE},
        false);
    assert_phases(run, "0-1 unattributed, 1-6 load, 6-9 compute, 9-10 write");
    assert_adds_up(run);
}

static void forgets_a_process_that_ended(void **state) {
    (void)state;
    AUTO_RUN struct run *run =
        fold_lines("",
                   (const struct line[]){PHASE_OF(1, 11, "load"),
                                         PHASE_OF(1, 12, "compute"),
                                         {JOURNAL_CHILD, "{'t_ns':3000000000,'pid':11}"},
                                         PHASE_OF(5, 11, "load"), /* the number came back */
                                         {JOURNAL_CHILD, "{'t_ns':6000000000,'pid':11}"},
                                         END(8),
                                         DONE},
                   false);
    assert_phases(run, "0-1 unattributed, 1-3 load, 3-5 compute, 5-6 load, 6-8 compute");
    /* what somebody says for it later moves nothing */
    AUTO_RUN struct run *late =
        fold_lines("",
                   (const struct line[]){PHASE_OF(1, 11, "load"),
                                         {JOURNAL_CHILD, "{'t_ns':3000000000,'pid':11}"},
                                         MARK(5, "'verb':'end','name':'load','pid':11"),
                                         END(8),
                                         DONE},
                   false);
    assert_phases(late, "0-1 unattributed, 1-3 load, 3-8 unattributed");
}

/* Without pids one sequence: begins follow one another, but of several ends the last counts. */
static void takes_the_last_of_several_ends(void **state) {
    (void)state;
    AUTO_RUN struct run *run =
        fold_lines("",
                   (const struct line[]){PHASE_AT_0("load"), PHASE(1, "load"),
                                         MARK(4, "'verb':'end','name':'load'"),
                                         MARK(6, "'verb':'end','name':'load'"), PHASE(7, "compute"),
                                         MARK(8, "'verb':'end','name':'load'"), END(9), DONE},
                   false);
    assert_phases(run, "0-6 load, 6-7 unattributed, 7-9 compute");
}

/* ---- result complete ---- */

static void knows_when_the_result_was_complete(void **state) {
    (void)state;
    AUTO_RUN struct run *declared =
        fold_lines("",
                   (const struct line[]){
                       PHASE(1, "write"),
                       STOP(2),
                       {JOURNAL_END, "{'t_ns':9000000000,'command_t_ns':9000000000,'exit_code':0,"
                                     "'result_complete_t_ns':4000000000}"},
                       DONE},
                   false);
    assert_quantity(declared->result_complete, "= 4 s");
    AUTO_RUN struct run *marked =
        fold_lines("",
                   (const struct line[]){PHASE(1, "write"), PHASE(2, "compute"),
                                         PHASE(5, "write/table"), STOP(6), END(9), DONE},
                   false);
    assert_quantity(marked->result_complete, "= 6 s");
    AUTO_RUN struct run *several =
        fold_lines("",
                   (const struct line[]){PHASE_OF(1, 11, "write"), PHASE_OF(1, 12, "write"),
                                         MARK(6, "'verb':'end','pid':11"),
                                         MARK(5, "'verb':'end','pid':12"), END(9), DONE},
                   false);
    assert_quantity(several->result_complete, "= 6 s");
    AUTO_RUN struct run *open_end =
        fold_lines("", (const struct line[]){PHASE(1, "write"), END(9), DONE}, false);
    assert_quantity(open_end->result_complete, "open not-entered s");
    /* half a result is none */
    AUTO_RUN struct run *failed = fold_lines(
        "",
        (const struct line[]){PHASE(1, "write"),
                              STOP(2),
                              {JOURNAL_END, "{'t_ns':9000000000,'command_t_ns':9000000000,"
                                            "'exit_code':1,'result_complete_t_ns':4000000000}"},
                              DONE},
        false);
    assert_quantity(failed->result_complete, "open failed s");
    assert_non_null(failed->result_complete.detail);
    AUTO_RUN struct run *lost =
        fold_lines("", (const struct line[]){PHASE(1, "write"), STOP(2), DONE}, false);
    assert_quantity(lost->result_complete, "open monitor-lost s");
}

/* ---- any marks at all ---- */

static void random_mark(uint64_t *random, struct strbuf *bytes) {
    static const char *const names[] = {"load", "load/a", "load/b", "compute", "write", "fix", "x"};
    uint64_t r = next_random(random);
    AUTO_JSON json_t *mark = json_object();
    json_put_int(mark, "t_ns", (int64_t)(r % 1000) * 10000000);
    json_put_text(mark, "verb", r >> 20 & 3 ? "phase" : "end");
    if (r >> 22 & 3) {
        json_put_text(mark, "name", names[(r >> 30) % ARRAY_LENGTH(names)]);
    }
    if (r >> 40 & 1) {
        json_put_int(mark, "pid", (int64_t)(r >> 41 & 3));
    }
    add_json(bytes, JOURNAL_MARK, mark);
}

static void always_adds_up(void **state) {
    (void)state;
    uint64_t random = 17;
    for (int i = 0; i < 3000; i++) {
        AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
        begin(&bytes, "");
        for (uint64_t k = next_random(&random) % 30; k > 0; k--) {
            random_mark(&random, &bytes);
        }
        add(&bytes, JOURNAL_CHILD, "{'t_ns':5000000000,'pid':1}");
        if (i % 3 != 0) {
            add(&bytes, JOURNAL_END,
                i % 3 == 1 ? "{'t_ns':8000000001,'exit_code':0}"
                           : "{'t_ns':8000000001,'signal':9}");
        }
        AUTO_RUN struct run *run = fold_bytes(&bytes, i % 6 == 0, false);
        assert_adds_up(run);
        for (enum phase phase = 0; phase < PHASE_COUNT_; phase++) {
            assert_true(quantity_is_valid(&run->phase[phase]));
        }
    }
}

/* Many marks of many processes must not take quadratic time (and the phases must still be right).
 */
static void stands_many_marks(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    for (int i = 0; i < 50000; i++) {
        AUTO_JSON json_t *mark = json_object();
        json_put_int(mark, "t_ns", (int64_t)i * 1000000);
        json_put_text(mark, "verb", "phase");
        json_put_text(mark, "name", i < 25000 ? "load" : "compute");
        json_put_int(mark, "pid", 1 + i % 25000);
        add_json(&bytes, JOURNAL_MARK, mark);
    }
    add(&bytes, JOURNAL_END, "{'t_ns':60000000000,'exit_code':0}");
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_phases(run, "0-49.999 load, 49.999-60 compute");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_a_run_that_ended),
        cmocka_unit_test(times_what_was_cut_off),
        cmocka_unit_test(times_a_run_whose_monitor_was_lost),
        cmocka_unit_test(times_a_run_that_goes_on),
        cmocka_unit_test(times_a_command_that_did_not_start),
        cmocka_unit_test(believes_the_monitor_before_the_recorder),
        cmocka_unit_test(has_no_phases_without_a_rule),
        cmocka_unit_test(takes_marks),
        cmocka_unit_test(measures_zero_where_it_was_zero),
        cmocka_unit_test(opens_phases_of_lines_that_came_together),
        cmocka_unit_test(prefers_marks_to_patterns_to_the_option),
        cmocka_unit_test(ends_by_name_only_what_holds),
        cmocka_unit_test(sorts_by_time),
        cmocka_unit_test(cuts_at_the_wall),
        cmocka_unit_test(leaves_marks_without_time_out),
        cmocka_unit_test(load_ends_with_the_last_loader),
        cmocka_unit_test(forgets_a_process_that_ended),
        cmocka_unit_test(takes_the_last_of_several_ends),
        cmocka_unit_test(knows_when_the_result_was_complete),
        cmocka_unit_test(always_adds_up),
        cmocka_unit_test(stands_many_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
