/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CPU, memory, I/O and processes: one golden case a rule of docs/measurement.md, "Host". */
#include "fold-support.h"

/* COUNTERS that were read after the end, and an END that nothing weakens. */
#define FINAL_END "{'t_ns':9000000000,'command_t_ns':8000000000,'exit_code':0}"

static struct run *fold_final(const char *start_more, const char *counters, const char *end) {
    AUTO_FREE char *text = mem_printf("{'t_ns':9000000000%s}", counters);
    return fold_lines(
        start_more, (const struct line[]){{JOURNAL_COUNTERS, text}, {JOURNAL_END, end}, {0, NULL}},
        false);
}

static struct run *fold_end(const char *start_more, const char *counters) {
    return fold_final(start_more, counters, FINAL_END);
}

/* ---- sums ---- */

#define SUMS                                                                             \
    ",'cpu_ns':2500000000,'io':{'read':1,'written':2,'read_chars':3,'written_chars':0}," \
    "'processes_seen':4"

static void sums_are_exact_after_the_end(void **state) {
    (void)state;
    AUTO_RUN struct run *run = fold_end("", SUMS);
    assert_quantity(run->cpu, "= 2.5 core.s");
    assert_quantity(run->io_read, "= 1 byte");
    assert_quantity(run->io_written, "= 2 byte");
    assert_quantity(run->io_read_chars, "= 3 byte");
    assert_quantity(run->io_written_chars, "= 0 byte"); /* read as 0 */
    assert_quantity(run->processes, ">= 4 count");
}

static void sums_are_at_least_where_something_is_missing(void **state) {
    (void)state;
    static const struct {
        const char *why, *counters, *end;
    } cases[] = {
        {"a process vanished", SUMS ",'unreaped':true", FINAL_END},
        {"survivors", SUMS,
         "{'t_ns':9000000000,'command_t_ns':8000000000,'exit_code':0,"
         "'survivors':[{'pid':3}]}"},
        {"the monitor was lost", SUMS, "{'t_ns':9000000000,'monitor_lost':true}"},
        {"a checkpoint from before the end", SUMS,
         "{'t_ns':19000000000,'command_t_ns':18000000000,'exit_code':0}"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_RUN struct run *run = fold_final("", cases[i].counters, cases[i].end);
        assert_quantity(run->cpu, ">= 2.5 core.s");
        assert_quantity(run->io_read, ">= 1 byte");
    }
    AUTO_RUN struct run *late_child =
        fold_lines("",
                   (const struct line[]){{JOURNAL_COUNTERS, "{'t_ns':8500000000" SUMS "}"},
                                         {JOURNAL_CHILD, "{'t_ns':8600000000,'pid':9}"},
                                         {JOURNAL_END, FINAL_END},
                                         {0, NULL}},
                   false);
    assert_quantity(late_child->cpu, ">= 2.5 core.s");
    /* the last checkpoint could not read io any more */
    AUTO_RUN struct run *older =
        fold_lines("",
                   (const struct line[]){{JOURNAL_COUNTERS, "{'t_ns':1000000000" SUMS "}"},
                                         {JOURNAL_COUNTERS, "{'t_ns':9000000000,'cpu_ns':7}"},
                                         {JOURNAL_END, FINAL_END},
                                         {0, NULL}},
                   false);
    assert_quantity(older->cpu, "= 7e-09 core.s");
    assert_quantity(older->io_read, ">= 1 byte");
    /* once unreaped, always */
    AUTO_RUN struct run *forgotten = fold_lines(
        "",
        (const struct line[]){{JOURNAL_COUNTERS, "{'t_ns':1,'unreaped':true}"},
                              {JOURNAL_COUNTERS, "{'t_ns':9000000000,'unreaped':false" SUMS "}"},
                              {JOURNAL_END, FINAL_END},
                              {0, NULL}},
        false);
    assert_quantity(forgotten->cpu, ">= 2.5 core.s");
}

static void absent_counters_are_open(void **state) {
    (void)state;
    static const char *const reasons[] = {"not-in-record", "monitor-lost", "running"};
    for (int i = 0; i < 3; i++) {
        AUTO_RUN struct run *run = fold_lines(
            "",
            (const struct line[]){
                i == 0 ? (struct line){JOURNAL_END, FINAL_END} : (struct line){0, NULL}, {0, NULL}},
            i == 2);
        AUTO_FREE char *cpu = mem_printf("open %s core.s", reasons[i]);
        AUTO_FREE char *bytes = mem_printf("open %s byte", reasons[i]);
        AUTO_FREE char *count = mem_printf("open %s count", reasons[i]);
        assert_quantity(run->cpu, cpu);
        assert_quantity(run->monitor_cpu, cpu);
        assert_quantity(run->io_read, bytes);
        assert_quantity(run->largest_process_rss, bytes);
        assert_quantity(run->processes, count);
        assert_quantity(run->tree_pss, i == 0 ? "open not-sampled byte" : bytes);
        assert_quantity(run->cgroup_charged, "open not-in-record byte");
    }
    /* the recorder has written END and still holds the file */
    AUTO_RUN struct run *closing = fold_lines(
        "", (const struct line[]){{JOURNAL_END, "{'t_ns':9,'monitor_lost':true}"}, {0, NULL}},
        true);
    assert_quantity(closing->cpu, "open monitor-lost core.s");
    assert_false(closing->running);
    AUTO_RUN struct run *told = fold_end(
        "", ",'reasons':{'io':'not-permitted','cpu_ns':'garbage','pss_peak_bytes':'not-visible'}");
    assert_quantity(told->io_written, "open not-permitted byte");
    assert_quantity(told->cpu, "open not-in-record core.s");
    assert_quantity(told->tree_pss, "open not-visible byte");
}

/* ---- memory ---- */

static void finds_the_largest_process(void **state) {
    (void)state;
    static const struct {
        const char *counters, *end, *expected, *method;
    } cases[] = {
        /* our own size at fork is 2 MiB (2097152) */
        {",'maxrss_bytes':629145600,'vmhwm_bytes':500000000", FINAL_END, "= 629145600 byte",
         "larger of wait4 ru_maxrss and VmHWM"},
        {",'maxrss_bytes':629145600,'vmhwm_bytes':635437056", FINAL_END, "= 635437056 byte",
         "larger of wait4 ru_maxrss and VmHWM"}, /* 1 % more */
        {",'maxrss_bytes':629145600,'vmhwm_bytes':635437057", FINAL_END, ">= 635437057 byte",
         "/proc/PID/status VmHWM, sampled"},
        {",'maxrss_bytes':9000000,'vmhwm_bytes':10048576", FINAL_END, "= 10048576 byte",
         "larger of wait4 ru_maxrss and VmHWM"}, /* 1 MiB more */
        {",'maxrss_bytes':629145600", FINAL_END, "= 629145600 byte",
         "larger of wait4 ru_maxrss and VmHWM"},
        {",'maxrss_bytes':629145600,'unreaped':true", FINAL_END, ">= 629145600 byte",
         "larger of wait4 ru_maxrss and VmHWM"},
        {",'maxrss_bytes':3000000,'vmhwm_bytes':9000000", FINAL_END, ">= 9000000 byte",
         "/proc/PID/status VmHWM, sampled"},
        /* `true` started from something larger */
        {",'maxrss_bytes':2097152,'vmhwm_bytes':1500000", FINAL_END, ">= 1500000 byte",
         "/proc/PID/status VmHWM, sampled"},
        {",'maxrss_bytes':2097152", FINAL_END, "<= 2097152 byte", "wait4 ru_maxrss"},
        {",'maxrss_bytes':2097152,'unreaped':true", FINAL_END, "open not-visible byte", NULL},
        {",'maxrss_bytes':2097152", "{'t_ns':9000000000,'monitor_lost':true}",
         "open not-visible byte", NULL},
        {",'vmhwm_bytes':77", FINAL_END, ">= 77 byte", "/proc/PID/status VmHWM, sampled"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_RUN struct run *run = fold_final("", cases[i].counters, cases[i].end);
        assert_quantity(run->largest_process_rss, cases[i].expected);
        if (cases[i].method != NULL) {
            assert_string_equal(run->largest_process_rss.method, cases[i].method);
        }
    }
}

static void takes_maxrss_of_single_children_too(void **state) {
    (void)state;
    AUTO_RUN struct run *run = fold_lines(
        "",
        (const struct line[]){{JOURNAL_CHILD, "{'t_ns':1,'pid':5,'maxrss_bytes':700000000}"},
                              {JOURNAL_COUNTERS, "{'t_ns':9000000000,'maxrss_bytes':600000000}"},
                              {JOURNAL_END, FINAL_END},
                              {0, NULL}},
        false);
    assert_quantity(run->largest_process_rss, "= 700000000 byte");
}

/* Without the floor nobody can tell whether the mark was inherited. */
static void does_not_trust_maxrss_without_the_floor(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    strbuf_add_str(&bytes, JOURNAL_MAGIC);
    add(&bytes, JOURNAL_HEADER, "{'format':1,'type':'run','run':'r','part':'p'}");
    add(&bytes, JOURNAL_START, "{'command':['true']}");
    add(&bytes, JOURNAL_COUNTERS, "{'t_ns':9000000000,'maxrss_bytes':600000000}");
    add(&bytes, JOURNAL_END, FINAL_END);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_quantity(run->largest_process_rss, "<= 600000000 byte");
}

static void knows_the_tree(void **state) {
    (void)state;
    AUTO_RUN struct run *sampled = fold_end("", ",'pss_peak_bytes':123456,'pss_samples':42");
    assert_quantity(sampled->tree_pss, ">= 123456 byte");
    assert_int_equal(sampled->tree_pss.n, 42);
    assert_null(sampled->tree_pss.detail);
    AUTO_RUN struct run *once = fold_end("", ",'pss_peak_bytes':123456,'pss_samples':1");
    assert_string_equal(once->tree_pss.detail, "1 sample only");
    AUTO_RUN struct run *none = fold_end("", ",'pss_samples':0");
    assert_quantity(none->tree_pss, "open not-sampled byte");
}

static void knows_what_was_charged(void **state) {
    (void)state;
    static const struct {
        const char *start, *counters, *end, *expected;
    } cases[] = {
        {",'cgroup':{'memory':'own','path':'/g'}", ",'cgroup':{'peak_bytes':500}", FINAL_END,
         "= 500 byte"},
        {",'cgroup':{'memory':'own','path':'/g'}", ",'cgroup':{'peak_bytes':500},'unreaped':true",
         FINAL_END, ">= 500 byte"},
        {",'cgroup':{'memory':'own'}", "", FINAL_END, "open not-in-record byte"},
        {",'cgroup':{'memory':'enclosing','path':'/g'}",
         ",'cgroup':{'peak_bytes':500,'peak_rose':true}", FINAL_END, "<= 500 byte"},
        {",'cgroup':{'memory':'enclosing','path':'/g'}",
         ",'cgroup':{'peak_bytes':500,'peak_rose':false}", FINAL_END, "open not-separated byte"},
        {",'cgroup':{'memory':'enclosing','path':'/g'}", ",'cgroup':{'peak_bytes':500}", FINAL_END,
         "open not-separated byte"},
        /* it may have risen further after the last checkpoint */
        {",'cgroup':{'memory':'enclosing','path':'/g'}",
         ",'cgroup':{'peak_bytes':500,'peak_rose':true}", "{'t_ns':9000000000,'monitor_lost':true}",
         "open monitor-lost byte"},
        {",'cgroup':{'memory':'none'}", "", FINAL_END, "open not-supported byte"},
        {",'cgroup':{'memory':'none','reason':'not-permitted'}", "", FINAL_END,
         "open not-permitted byte"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_RUN struct run *run = fold_final(cases[i].start, cases[i].counters, cases[i].end);
        assert_quantity(run->cgroup_charged, cases[i].expected);
    }
}

static void sums_our_own_time(void **state) {
    (void)state;
    AUTO_RUN struct run *run = fold_end(
        "", ",'monitor_cpu_ns':{'monitor':1000000000,'recorder':2000000000,'copier':500000000}");
    assert_quantity(run->monitor_cpu, ">= 3.5 core.s");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact_after_the_end),
        cmocka_unit_test(sums_are_at_least_where_something_is_missing),
        cmocka_unit_test(absent_counters_are_open),
        cmocka_unit_test(finds_the_largest_process),
        cmocka_unit_test(takes_maxrss_of_single_children_too),
        cmocka_unit_test(does_not_trust_maxrss_without_the_floor),
        cmocka_unit_test(knows_the_tree),
        cmocka_unit_test(knows_what_was_charged),
        cmocka_unit_test(sums_our_own_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
