/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paragraph after a run: short, with the figures, the gravest notes and the next step. */
#include "build-run.h"
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char *summary(const struct run *run) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    report_run_summary(run, (struct report_style){.width = 80}, &out);
    return strbuf_take(&out);
}

static size_t count_of(const char *text, const char *what) {
    size_t count = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what))
        count++;
    return count;
}

static void an_ordinary_run_fits_into_nine_lines(void **state) {
    (void)state;
    AUTO_RUN struct run *ok = build_ok();
    AUTO_RUN struct run *plain = build_plain();
    AUTO_FREE char *ok_text = summary(ok);
    AUTO_FREE char *plain_text = summary(plain);
    assert_true(count_of(ok_text, "\n") <= 9);
    assert_true(count_of(plain_text, "\n") <= 9);
    assert_non_null(strstr(ok_text, "wall 4 min 12 s"));
    assert_non_null(strstr(ok_text, "load 12.3 s"));
    assert_non_null(strstr(ok_text, "1.36 GiB (larger of VmHWM and ru_maxrss)"));
    assert_non_null(strstr(ok_text, "probelauf estimate --repeat 24"));
}

/* With a plan the next question is about the plan, not about 24 more of the same. */
static void a_run_of_a_study_leads_to_the_plan(void **state) {
    (void)state;
    AUTO_RUN struct run *ok = build_ok();
    json_object_set_new(ok->start, "study", json_string("01936a5e-4f00-7c2a-9b1d-5d0c3a7e8f21"));
    AUTO_FREE char *text = summary(ok);
    assert_non_null(strstr(text, ", probelauf block list, probelauf estimate\n"));
    assert_null(strstr(text, "--repeat"));
}

static void phases_that_are_not_separated_say_how_to(void **state) {
    (void)state;
    AUTO_RUN struct run *plain = build_plain();
    AUTO_FREE char *text = summary(plain);
    assert_non_null(strstr(text, "not separated"));
    assert_non_null(strstr(text, "probelauf mark load"));
    assert_non_null(strstr(text, "--pattern"));
    json_object_set_new(plain->start, "phase", json_string("setup")); /* the user said what it is */
    AUTO_FREE char *declared = summary(plain);
    assert_null(strstr(declared, "not separated"));
    json_object_del(plain->start, "phase");
    json_object_set_new(plain->start, "step", json_string("install")); /* and so does a step */
    AUTO_FREE char *step = summary(plain);
    assert_null(strstr(step, "not separated"));
}

static void buffered_output_says_how_to_get_lines(void **state) {
    (void)state;
    AUTO_RUN struct run *plain = build_plain();
    plain->lines_came_together = true;
    AUTO_FREE char *text = summary(plain);
    assert_non_null(strstr(text, "came together, because"));
    assert_non_null(strstr(text, "`stdbuf -oL`"));
    assert_null(strstr(text, "not separated"));
}

static void an_unmet_check_stands_beside_the_outcome(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_plain();
    json_object_set_new(run->end, "expectations",
                        build_json("[{\"what\":\"marker=done\",\"met\":\"no\",\"detail\":null},"
                                   "{\"what\":\"count=7\",\"met\":\"no\",\"detail\":\"6 items\"},"
                                   "{\"what\":\"file=x\",\"met\":\"yes\",\"detail\":null}]"));
    run->verified = "no";
    AUTO_FREE char *text = summary(run);
    assert_non_null(strstr(text, "ok, but 2 of 3 checks of the result were not met, wall"));
    assert_non_null(strstr(text, "marker=done; count=7: 6 items"));
    assert_null(strstr(text, "estimate --repeat"));
    AUTO_STRBUF struct strbuf show = STRBUF_INIT;
    report_run_text(run, (struct report_style){.width = 200}, &show);
    assert_non_null(strstr(strbuf_str(&show), "exit code 0, but 2 of 3 checks of the result"));
    assert_null(strstr(strbuf_str(&show), "not verified"));
}

/* Others quote them; wall times that look alike do not differ by "+0.0 %". */
static void results_stand_as_they_were_reported(void **state) {
    (void)state;
    AUTO_RUN struct run *a = build_plain();
    AUTO_RUN struct run *b = build_plain();
    struct run_result results[2][2] = {
        {{"total", quantity_measured("token/s", 14310.913, "mark")},
         {"loss", quantity_measured(UNIT_RATIO, 0.123456789, "mark")}},
        {{"total", quantity_measured("token/s", 14310.914, "mark")},
         {"loss", quantity_measured(UNIT_RATIO, 0.12, "mark")}}};
    a->results = results[0];
    b->results = results[1];
    a->result_count = b->result_count = 2;
    b->wall.value = a->wall.value + 1e-6;
    AUTO_STRBUF struct strbuf show = STRBUF_INIT;
    AUTO_STRBUF struct strbuf both = STRBUF_INIT;
    report_run_text(a, (struct report_style){.width = 200}, &show);
    assert_non_null(strstr(strbuf_str(&show), "[m] 14310.913 token/s"));
    assert_non_null(strstr(strbuf_str(&show), "[m] 0.123456789"));
    report_compare_text(a, b, (struct report_style){.width = 200}, &both);
    assert_non_null(strstr(strbuf_str(&both), "[m] 14310.914 token/s"));
    assert_non_null(strstr(strbuf_str(&both), "equal as far as shown"));
    assert_non_null(strstr(strbuf_str(&both), "(-2.8 %)"));
    assert_null(strstr(strbuf_str(&both), "0.0 %"));
}

static void results_stand_in_the_summary(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_plain();
    struct run_result results[8];
    for (size_t i = 0; i < ARRAY_LENGTH(results); i++)
        results[i] = (struct run_result){"r", quantity_measured(UNIT_RATIO, (double)i, "mark")};
    results[0] = (struct run_result){
        "speed\033[31m", quantity_measured("token/s", 14310.913, "json /a of {x}.json")};
    results[1] =
        (struct run_result){"loss", quantity_open("nat", QUANTITY_FAILED, "there is no such file")};
    AUTO_FREE char *without = summary(run);
    assert_null(strstr(without, "  results "));
    run->results = results;
    run->result_count = 2;
    AUTO_FREE char *two = summary(run);
    assert_non_null(strstr(two, "14310.913 token/s, loss open"));
    assert_null(strchr(two, '\033'));
    assert_null(strstr(two, "more in `probelauf show`\n  note"));
    run->result_count = ARRAY_LENGTH(results);
    AUTO_FREE char *all = summary(run);
    assert_non_null(strstr(all, "r 5; 2 more in"));
    assert_null(strstr(all, "r 6"));
}

/* `show` names the file of this run, not the plan's name for those of all runs. */
static void the_file_of_a_result_is_that_of_the_run(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_plain();
    struct run_result results[] = {
        {"loss", quantity_measured("nat", 0.5, "json /loss of out/{mode}.json")},
        {"speed", quantity_measured("token/s", 2, "csv speed (row last) of /else/{mode}.csv")},
        {"loss-2", quantity_measured("nat", 3, "mark of {mode}")}};
    run->results = results;
    run->result_count = ARRAY_LENGTH(results);
    json_put_text(run->start, "cwd", "/w");
    json_object_set_new(
        run->start, "results",
        build_json("[{\"name\":\"loss\",\"file\":\"/w/out/fast.json\",\"json\":\"/loss\"},"
                   "{\"name\":\"speed\",\"file\":\"/else/fast.csv\",\"csv\":\"speed\","
                   "\"row\":\"last\"},"
                   "{\"name\":\"loss-2\",\"file\":\"/w/a\",\"json\":\"/x\"},7,{}]"));
    AUTO_STRBUF struct strbuf show = STRBUF_INIT;
    report_run_text(run, (struct report_style){.width = 200}, &show);
    assert_non_null(strstr(strbuf_str(&show), "json /loss of out/fast.json"));
    assert_non_null(strstr(strbuf_str(&show), "csv speed (row last) of /else/fast.csv"));
    assert_non_null(strstr(strbuf_str(&show), "mark of {mode}")); /* said by the command itself */
}

static void explain_shows_the_best_witness(void **state) {
    (void)state;
    static const char *const tail[] = {"Traceback", "  KeyError: \033[31m'x'"};
    AUTO_RUN struct run *run = build_plain();
    run->outcome = OUTCOME_FAILED;
    run->tail = tail;
    run->tail_count = 2;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    report_run_explain_text(run, (struct report_style){.width = 80}, &text);
    assert_non_null(strstr(strbuf_str(&text), "Last output\n  Traceback\n    KeyError: "));
    assert_null(strchr(strbuf_str(&text), '\033'));
    AUTO_JSON json_t *json = report_run_explain_json(run);
    assert_int_equal(json_array_size(json_object_get(json, "tail")), 2);
    run->outcome = OUTCOME_START_FAILED;
    AUTO_JSON json_t *start = report_run_explain_json(run);
    assert_int_equal(json_array_size(json_object_get(start, "tail")), 0);
    assert_int_equal(json_array_size(json_object_get(start, "advice")), 1);
    strbuf_clear(&text);
    report_run_explain_text(run, (struct report_style){.width = 80}, &text);
    assert_non_null(strstr(strbuf_str(&text), "chmod +x"));
}

static void a_failed_run_gets_cause_and_advice(void **state) {
    (void)state;
    AUTO_RUN struct run *failed = build_failed();
    AUTO_FREE char *text = summary(failed);
    assert_non_null(strstr(text, "disk_full"));
    assert_non_null(strstr(text, "No space left on device"));
    assert_non_null(strstr(text, "probelauf explain "));
    assert_null(strstr(text, "estimate --repeat"));
    assert_null(strchr(text, '\033'));
    assert_int_equal(count_of(text, "  note "), 3);
    assert_non_null(strstr(text, "2 more in"));
}

/* Of several incidents the one that stands for the class is the cause. */
static void the_cause_fits_the_class(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_failed();
    run->incidents[0] = (struct run_incident){.name = "host_oom", .line = "oom-kill: x"};
    AUTO_FREE char *text = summary(run);
    assert_non_null(strstr(text, "cause   disk_full"));
    run->incident_count = 1; /* only the other one is known */
    AUTO_FREE char *other = summary(run);
    assert_non_null(strstr(other, "cause   host_oom"));
    run->incidents[0].survived = true;
    AUTO_FREE char *none = summary(run);
    assert_null(strstr(none, "cause"));
    run->outcome = OUTCOME_KILLED; /* a class that no incident explains is put into words */
    AUTO_FREE char *killed = summary(run);
    assert_non_null(strstr(killed, "cause   ended by a signal; who sent it and why is open"));
    run->outcome = OUTCOME_BUDGET;
    AUTO_FREE char *budget = summary(run);
    assert_non_null(strstr(budget, "--max-time"));
    assert_null(strstr(budget, "probelauf explain "));
}

static void a_function_test_is_no_base(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_ok();
    json_object_set_new(run->start, "purpose", json_string("function-test"));
    AUTO_FREE char *text = summary(run);
    assert_non_null(strstr(text, "never the base of an estimate"));
    assert_null(strstr(text, "estimate --repeat"));
}

static void what_was_not_read_is_open(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_empty();
    AUTO_FREE char *text = summary(run);
    assert_null(strstr(text, " 0 "));
    assert_null(strstr(text, "0 B"));
    assert_true(count_of(text, "open") >= 4);
}

static void a_start_that_failed_tells_why(void **state) {
    (void)state;
    AUTO_RUN struct run *run = build_empty();
    run->outcome = OUTCOME_START_FAILED;
    json_object_set_new(run->end, "start_errno", json_integer(2));
    json_object_set_new(run->end, "start_error", json_string("No such file or directory"));
    AUTO_FREE char *text = summary(run);
    assert_non_null(strstr(text, "cause   No such file or directory"));
    json_object_set_new(run->start, "command", json_pack("[s]", "python"));
    AUTO_FREE char *named = summary(run);
    assert_non_null(strstr(named, "cause   cannot run 'python': not found in PATH\n"));
    json_object_set_new(run->start, "command", json_pack("[s]", "./a"));
    AUTO_FREE char *path = summary(run);
    assert_non_null(strstr(path, "cause   cannot run './a': No such file or directory\n"));
    assert_non_null(strstr(text, "not started"));
    assert_null(strstr(text, "memory"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_ordinary_run_fits_into_nine_lines),
        cmocka_unit_test(a_run_of_a_study_leads_to_the_plan),
        cmocka_unit_test(phases_that_are_not_separated_say_how_to),
        cmocka_unit_test(buffered_output_says_how_to_get_lines),
        cmocka_unit_test(an_unmet_check_stands_beside_the_outcome),
        cmocka_unit_test(results_stand_as_they_were_reported),
        cmocka_unit_test(results_stand_in_the_summary),
        cmocka_unit_test(the_file_of_a_result_is_that_of_the_run),
        cmocka_unit_test(explain_shows_the_best_witness),
        cmocka_unit_test(a_failed_run_gets_cause_and_advice),
        cmocka_unit_test(the_cause_fits_the_class),
        cmocka_unit_test(a_function_test_is_no_base),
        cmocka_unit_test(what_was_not_read_is_open),
        cmocka_unit_test(a_start_that_failed_tells_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
