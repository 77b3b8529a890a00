/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the Python hook says of the framework's allocator. */
#include "gpu-support.h"

/* allocated and its peak in MiB; reserved is twice as much. */
static void memory(struct strbuf *bytes, int pid, double t_s, const char *moment, int64_t now,
                   int64_t peak, const char *more) {
    int64_t mib = INT64_C(1) << 20;
    AUTO_FREE char *json = mem_printf(
        "{'t_ns':%lld,'verb':'agent','name':'python-hook','pid':%d,'file_offset':1,'data':"
        "{'event':'memory','moment':'%s','allocated':%lld,'reserved':%lld,'allocated_peak':%lld,"
        "'reserved_peak':%lld%s}}",
        (long long)(t_s * 1e9), pid, moment, (long long)(now * mib), (long long)(2 * now * mib),
        (long long)(peak * mib), (long long)(2 * peak * mib), more);
    add(bytes, JOURNAL_MARK, json);
}

#define ON_0 ",'device':0,'uuid':'" U0 "'"

static void hello(struct strbuf *bytes, int pid) {
    AUTO_FREE char *json =
        mem_printf("{'t_ns':1,'verb':'agent','name':'python-hook','pid':%d,'file_offset':1,"
                   "'data':{'event':'hello','version':1}}",
                   pid);
    add(bytes, JOURNAL_MARK, json);
}

static void begin_with(struct strbuf *bytes) {
    begin(bytes, ",'agents':{'python-hook':{'on':true}}");
    hello(bytes, 7);
    hello(bytes, 8);
    hello(bytes, 9);
    add_device(bytes, 0, U0, MINE);
    add_device(bytes, 1, U1, MINE);
}

static void a_peak_that_grew_is_exact(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin_with(&bytes);
    memory(&bytes, 7, 4, "phase-end", 80, 100, ON_0); /* load */
    memory(&bytes, 7, 9, "phase-end", 80, 160, ON_0); /* compute */
    memory(&bytes, 7, 10, "exit", 0, 160, ON_0);
    add_phases_and_end(&bytes);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    const struct run_gpu *gpu = &run->gpus[0];
    assert_quantity(gpu->allocated, "= 167772160 byte");
    assert_quantity(gpu->reserved, "= 335544320 byte");
    assert_quantity(gpu->by_phase[PHASE_LOAD].memory.allocated, "= 104857600 byte");
    assert_quantity(gpu->by_phase[PHASE_COMPUTE].memory.allocated, "= 167772160 byte");
    /* nothing grew behind compute: its peak is hidden below the earlier one */
    assert_quantity(gpu->by_phase[PHASE_UNATTRIBUTED].memory.allocated, "<= 167772160 byte");
    assert_quantity(run->gpus[1].allocated, "open not-sampled byte");
}

static void a_peak_below_an_earlier_one_is_at_most(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin_with(&bytes);
    memory(&bytes, 7, 4, "phase-end", 80, 200, ON_0);
    memory(&bytes, 7, 9, "phase-end", 90, 200, ON_0);
    memory(&bytes, 7, 10, "exit", 0, 200, ON_0);
    add_phases_and_end(&bytes);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_quantity(run->gpus[0].by_phase[PHASE_LOAD].memory.allocated, "= 209715200 byte");
    assert_quantity(run->gpus[0].by_phase[PHASE_COMPUTE].memory.allocated, "<= 209715200 byte");
    assert_quantity(run->gpus[0].allocated, "= 209715200 byte");
}

/* The program resets the peak itself; the hook reads it just before. */
static void a_reset_of_the_program_begins_anew(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin_with(&bytes);
    memory(&bytes, 7, 4, "phase-end", 80, 200, ON_0);
    memory(&bytes, 7, 5, "reset", 80, 200, ON_0);
    memory(&bytes, 7, 9, "phase-end", 80, 120, ON_0);
    memory(&bytes, 7, 10, "exit", 0, 120, ON_0);
    add_phases_and_end(&bytes);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    /* one second of compute lies before the reset: at most what was before */
    assert_quantity(run->gpus[0].by_phase[PHASE_COMPUTE].memory.allocated, "<= 209715200 byte");
    assert_quantity(run->gpus[0].allocated, "= 209715200 byte");
    AUTO_STRBUF struct strbuf at_once = STRBUF_INIT;
    begin_with(&at_once);
    memory(&at_once, 7, 4, "reset", 80, 200, ON_0);
    memory(&at_once, 7, 9, "phase-end", 80, 120, ON_0);
    add_phases_and_end(&at_once);
    AUTO_RUN struct run *clean = fold_bytes(&at_once, false, false);
    assert_quantity(clean->gpus[0].by_phase[PHASE_COMPUTE].memory.allocated, "= 125829120 byte");
    assert_quantity(clean->gpus[0].by_phase[PHASE_LOAD].memory.allocated, "= 209715200 byte");
}

static void a_killed_worker_is_at_least(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin_with(&bytes);
    memory(&bytes, 7, 4, "phase-end", 80, 100, ON_0);
    add_phases_and_end(&bytes);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_quantity(run->gpus[0].allocated, ">= 104857600 byte");
    assert_quantity(run->gpus[0].by_phase[PHASE_LOAD].memory.allocated, "= 104857600 byte");
    assert_quantity(run->gpus[0].by_phase[PHASE_COMPUTE].memory.allocated, ">= 83886080 byte");
}

static void processes_are_not_added_up(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin_with(&bytes);
    memory(&bytes, 7, 4, "phase-end", 80, 100, ON_0);
    memory(&bytes, 8, 4, "phase-end", 80, 300, ON_0);
    memory(&bytes, 9, 4, "exit", 0, 0, ON_0);
    memory(&bytes, 7, 10, "exit", 0, 100, ON_0);
    memory(&bytes, 8, 10, "exit", 0, 300, ON_0);
    memory(&bytes, 7, 10, "exit", 0, 0, ",'device':1,'uuid':'" U1 "'");
    add_phases_and_end(&bytes);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_quantity(run->gpus[0].allocated, ">= 314572800 byte");
    assert_int_equal(run->gpus[0].allocated.n, 2);
    assert_string_equal(run->gpus[0].allocated.detail,
                        "the largest of 2 processes; their peaks may have come at different times "
                        "and are not added up");
    assert_quantity(run->gpus[1].allocated, "= 0 byte"); /* it was told so */
}

/* ---- which device ---- */

static const char *where(const char *more, const char *second_name) {
    static char text[8];
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add_device(&bytes, 0, U0, MINE);
    AUTO_FREE char *second =
        mem_printf("{'device':1,'kind':'gpu','uuid':'" U1 "','index':1,'name':'%s',"
                   "'bus_id':'00000000:02:00.0','mine':'yes'}",
                   second_name);
    add(&bytes, JOURNAL_DEVICE, second);
    memory(&bytes, 7, 10, "exit", 0, 100, more);
    add_phases_and_end(&bytes);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    snprintf(text, sizeof text, "%d%d", quantity_is_known(&run->gpus[0].allocated),
             quantity_is_known(&run->gpus[1].allocated));
    if (strcmp(text, "00") == 0) {
        assert_quantity(run->gpus[0].allocated, "open not-separated byte");
    }
    return text;
}

static void finds_the_device_or_says_so(void **state) {
    (void)state;
    static const char same[] = "Test H200", other[] = "Test L4";
    const struct {
        const char *more, *second, *where;
    } cases[] = {
        {",'device':0,'uuid':'" U1 "'", same, "01"},
        {",'device':0,'uuid':'00000000-0000-0000-0000-00000000000B'", other, "01"},
        {",'device':0,'uuid':'GPU-ffff'", same, "00"},
        {",'device':0,'bus_id':'0000:02:00.0'", other, "01"},
        {",'device':1,'visible':'1,0'", same, "10"},
        {",'device':0,'visible':'1'", other, "00"}, /* by speed, which nobody knows */
        {",'device':0,'visible':'1','order':'PCI_BUS_ID'", other, "01"},
        {",'device':2,'visible':'0,x,1'", same, "00"}, /* it stops at the bad one */
        {",'device':0,'visible':'GPU-00000000-0000-0000-0000-00000000000b'", other, "01"},
        {",'device':0,'visible':'GPU-0000'", same, "00"}, /* of both */
        {",'device':0,'visible':''", same, "00"},
        {",'device':1", same, "01"},
        {",'device':1", other, "00"},
        {",'device':2", same, "00"},
        {",'device':1,'order':'PCI_BUS_ID'", other, "01"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        if (strcmp(where(cases[i].more, cases[i].second), cases[i].where) != 0) {
            fail_msg("%s: %s", cases[i].more, where(cases[i].more, cases[i].second));
        }
    }
}

/* One report of pid 7 in bytes, with the total of 100 GiB. */
static struct quantity of_report(const char *facts, int pid, struct run **ret_run) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin_with(&bytes);
    AUTO_FREE char *json = mem_printf(
        "{'t_ns':4000000000,'verb':'agent','name':'python-hook','pid':%d,'file_offset':1,"
        "'data':{'event':'memory','moment':'exit'%s" ON_0 "}}",
        pid, facts);
    add(&bytes, JOURNAL_MARK, json);
    add_phases_and_end(&bytes);
    *ret_run = fold_bytes(&bytes, false, false);
    return (*ret_run)->gpus[0].allocated;
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *facts;
        const char *expected;
    } cases[] = {
        {",'allocated':5,'allocated_peak':107374182400", "= 107374182400 byte"},
        {",'allocated':5,'allocated_peak':107374182401", "open not-separated byte"},
        {",'allocated':5,'allocated_peak':9,'reserved_peak':107374182401",
         "open not-separated byte"},
        {",'allocated':5,'allocated_peak':10133099161583616", "open not-separated byte"},
        {",'allocated':6,'allocated_peak':5", "open not-separated byte"},
        {",'allocated':5,'allocated_peak':5,'reserved':7,'reserved_peak':6",
         "open not-separated byte"},
        {",'allocated':-5,'allocated_peak':-9", "open not-sampled byte"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_RUN struct run *run = NULL;
        struct quantity q = of_report(cases[i].facts, 7, &run);
        assert_quantity(q, cases[i].expected);
    }
    AUTO_RUN struct run *run = NULL;
    struct quantity q = of_report(",'allocated':6,'allocated_peak':5", 7, &run);
    assert_string_equal(q.detail, "what was reported cannot be: more than the device has, or a "
                                  "peak below what is held");
}

/* No hello, and nobody reaped a process of that number. */
static void a_process_that_nobody_knows_is_at_least(void **state) {
    (void)state;
    AUTO_RUN struct run *run = NULL;
    struct quantity q = of_report(",'allocated':5,'allocated_peak':9", 1, &run);
    assert_quantity(q, ">= 9 byte");
    assert_string_equal(q.detail, "reported by a process that the record does not know");
}

static void says_why_nothing_was_told(void **state) {
    (void)state;
    static const struct {
        const char *start, *mark, *detail;
    } cases[] = {
        {",'agents':{'python-hook':{'on':false,'reason':'switched off'}}", NULL,
         "the Python hook was off: switched off"},
        {",'agents':{'python-hook':{'on':true}}", NULL,
         "no Python process with the hook told of it"},
        {",'agents':{'python-hook':{'on':true}}",
         "{'t_ns':1,'verb':'agent','name':'python-hook','pid':7,'data':{'event':'hello'}}",
         "the Python hook saw no memory of torch on it"},
        {",'agents':{'python-hook':{'on':true}}", /* no pid, no time, no device: no report */
         "{'verb':'agent','name':'python-hook','data':{'event':'memory','allocated_peak':5}}",
         "no Python process with the hook told of it"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
        begin(&bytes, cases[i].start);
        add_device(&bytes, 0, U0, MINE);
        if (cases[i].mark != NULL) {
            add(&bytes, JOURNAL_MARK, cases[i].mark);
        }
        add_phases_and_end(&bytes);
        AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
        assert_quantity(run->gpus[0].allocated, "open not-sampled byte");
        assert_string_equal(run->gpus[0].reserved.detail, cases[i].detail);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peak_that_grew_is_exact),
        cmocka_unit_test(a_peak_below_an_earlier_one_is_at_most),
        cmocka_unit_test(a_reset_of_the_program_begins_anew),
        cmocka_unit_test(a_killed_worker_is_at_least),
        cmocka_unit_test(processes_are_not_added_up),
        cmocka_unit_test(finds_the_device_or_says_so),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_process_that_nobody_knows_is_at_least),
        cmocka_unit_test(says_why_nothing_was_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
