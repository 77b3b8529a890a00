/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Devices of a run and what the driver says of their memory and energy; and why there is none. */
#include "gpu-support.h"

#define END_10 "{'t_ns':10000000000,'command_t_ns':10000000000,'exit_code':0}"

/* ---- no device ---- */

static void says_why_there_is_none(void **state) {
    (void)state;
    static const struct {
        const char *start, *device, *environment, *reason, *detail;
    } cases[] = {
        {"", NULL, NULL, "open not-in-record byte",
         "the version that wrote the record did not look at GPUs"},
        {",'agents':{}", NULL, NULL, "open not-sampled byte", "the record says nothing of GPUs"},
        {",'agents':{}", NULL, "{'gpu':{'count':0,'devices':[]}}", "open not-sampled byte",
         "the record says nothing of GPUs"},
        {"", "{'probe':'nvml','state':'ready','count':0}", NULL, "open not-applicable byte",
         "no GPU was found on this machine"},
        {"", "{'probe':'nvml','state':'ready','count':0}", "{'gpu':{'count':1}}",
         "open not-visible byte", "the GPU driver shows none of the machine's GPUs here"},
        {"", "{'probe':'nvml','state':'no-driver','count':0}", "{'gpu':{'count':0}}",
         "open not-visible byte", "the GPU driver is not loaded, or cannot be reached from here"},
        {"", "{'probe':'nvml','state':'unusable'}", "{'gpu':{'count':0}}", "open failed byte",
         "the GPU driver's library could not be used"},
        {"", "{'probe':'nvml','state':'ready','count':2}", NULL, "open not-sampled byte",
         "the run ended before the driver was read"},
        {"", "{'probe':'nvml','state':'absent'}", "{'gpu':{'count':0}}", "open not-applicable byte",
         "no GPU was found on this machine"},
        {"", "{'probe':'nvml','state':'absent'}", "{'gpu':{'count':1}}", "open not-supported byte",
         "the driver's library (libnvidia-ml.so.1) was not found"},
        {"", "{'probe':'nvml','state':'absent'}", NULL, "open not-supported byte",
         "the driver's library (libnvidia-ml.so.1) was not found"},
        {"", "{'probe':'nvml','state':'mismatch','detail':'535 and 550'}", "{'gpu':{'count':0}}",
         "open failed byte",
         "the GPU driver's library and its kernel module are of different versions: the driver was "
         "exchanged (535 and 550)"},
        {"", "{'probe':'nvml','state':'no-permission'}", NULL, "open not-permitted byte",
         "the GPU's device files may not be opened here"},
        {"", "{'probe':'nvml','reason':'not-applicable','detail':'--gpu none'}",
         "{'gpu':{'count':1}}", "open not-applicable byte", "--gpu none"},
        {"", "{'probe':'nvml','reason':'not-sampled','detail':'too late'}", NULL,
         "open not-sampled byte", "too late"},
        {"", "{'probe':'nvml','state':'of the future'}", NULL, "open not-supported byte",
         "the GPUs could not be looked at"},
        {"", "{'device':0,'mine':'no','uuid':'" U0 "'}", NULL, "open not-applicable byte",
         "the run used none of the GPUs of this machine"},
    };
    static const struct {
        const char *probe, *reason;
    } watched[] = {
        {"{'probe':'nvml','state':'ready','count':1}", "open not-applicable byte"},
        {"{'probe':'nvml','state':'ready','count':1,'unwatched':3}", "open not-sampled byte"},
        {"{'probe':'nvml','state':'ready','count':2}", "open not-sampled byte"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(watched); i++) {
        AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
        begin(&bytes, "");
        add(&bytes, JOURNAL_DEVICE, watched[i].probe);
        add(&bytes, JOURNAL_DEVICE, "{'device':0,'kind':'gpu','mine':'no','uuid':'" U0 "'}");
        add(&bytes, JOURNAL_DEVICE, "{'device':1,'kind':'mig','mine':'no','uuid':'MIG-1'}");
        add(&bytes, JOURNAL_END, END_10);
        AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
        assert_quantity(run->gpus[0].process_used, watched[i].reason);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
        begin(&bytes, cases[i].start);
        if (cases[i].device != NULL) {
            add(&bytes, JOURNAL_DEVICE, cases[i].device);
        }
        if (cases[i].environment != NULL) {
            add(&bytes, JOURNAL_ENVIRONMENT, cases[i].environment);
        }
        add(&bytes, JOURNAL_END, END_10);
        AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
        assert_int_equal(run->gpu_count, 1);
        assert_null(run->gpus[0].uuid);
        assert_quantity(run->gpus[0].device_used, cases[i].reason);
        assert_string_equal(run->gpus[0].device_used.detail, cases[i].detail);
        assert_int_equal(run->gpu_others, i + 1 == ARRAY_LENGTH(cases) ? 1 : 0);
    }
}

/* ---- devices ---- */

static void lists_those_that_may_be_mine(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add(&bytes, JOURNAL_DEVICE, "{'probe':'nvml','state':'ready','count':3}");
    add_device(&bytes, 0, U0, ",'mine':'unknown'");
    add_device(&bytes, 1, U1, ",'mine':'no','mine_by':'CUDA_VISIBLE_DEVICES'");
    add_device(&bytes, 2, "MIG-3", ",'mine':'unknown','parent':'" U1 "'");
    add_device(&bytes, 0, U0, MINE); /* the last of a device holds */
    add(&bytes, JOURNAL_DEVICE, "{'device':-1,'mine':'yes'}");
    add(&bytes, JOURNAL_DEVICE, "{'uuid':'no number','mine':'yes'}");
    add(&bytes, JOURNAL_END, END_10);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_int_equal(run->gpu_count, 2);
    assert_int_equal(run->gpu_others, 1);
    assert_string_equal(run->gpus[0].uuid, U0);
    assert_string_equal(run->gpus[0].bus_id, "00000000:01:00.0");
    assert_string_equal(run->gpus[0].mine_by, "only one");
    assert_int_equal(run->gpus[0].mine, RUN_YES);
    assert_int_equal(run->gpus[0].index, 0);
    assert_false(run->gpus[0].stand_in);
    assert_int_equal(run->gpus[1].mine, RUN_NOT_KNOWN);
    assert_string_equal(run->gpus[1].parent, U1);
    assert_int_equal(run->gpus[0].others, RUN_NOT_KNOWN);
    assert_quantity(run->gpus[0].total, "= 107374182400 byte");
    assert_string_equal(run->gpus[0].total.method, "driver (v2)");
    assert_quantity(run->gpus[0].baseline, "= 1073741824 byte");
    assert_quantity(run->gpus[0].device_used, "open not-sampled byte");
    assert_quantity(run->gpus[0].left, "open not-sampled byte");
    assert_quantity(run->gpus[0].energy, "open not-sampled J");
    assert_quantity(run->gpus[0].busy, "open not-sampled 1");
}

static void knows_stand_ins(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add_device(&bytes, 0, U0, MINE ",'stand_in':true");
    add(&bytes, JOURNAL_DEVICE, "{'device':1,'mine':'yes','name':'NVIDIA H200 (Stand-In)'}");
    add_device(&bytes, 2, U1, MINE ",'stand_in':'yes'");
    add(&bytes, JOURNAL_END, END_10);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_true(run->gpus[0].stand_in);
    assert_true(run->gpus[1].stand_in);
    assert_false(run->gpus[2].stand_in);
}

/* ---- memory ---- */

static void peaks_are_those_of_samples(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add_device(&bytes, 0, U0, MINE);
    CURVE(&bytes, 10, GPU_SERIES_USED, U0, "gauge", 1, 500, 1000, GIB(1), GIB(2), GIB(5), GIB(4),
          GIB(30), GIB(20), ABSENT, GIB(20), GIB(20), GIB(1));
    CURVE(&bytes, 11, GPU_SERIES_PROCESS_USED, U0, "gauge", 1, 5000, 1000, GIB(20), ABSENT);
    CURVE(&bytes, 12, GPU_SERIES_USED, U1, "gauge", 1, 500, 1000, GIB(90));
    add(&bytes, JOURNAL_COUNTERS,
        "{'t_ns':10000000000,'gpu':[{'device':0,'used_peak_bytes':34359738368,'used_samples':100,"
        "'others':false,'left_bytes':0},{'device':1,'used_peak_bytes':1}]}");
    add_phases_and_end(&bytes);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    const struct run_gpu *gpu = &run->gpus[0];
    assert_int_equal(run->series_count, 0); /* not asked for */
    assert_quantity(gpu->device_used, ">= 34359738368 byte");
    assert_int_equal(gpu->device_used.n, 100);
    assert_string_equal(gpu->device_used.method, "driver, all processes, sampled (v2)");
    assert_quantity(gpu->process_used, ">= 21474836480 byte");
    assert_int_equal(gpu->process_used.n, 1);
    assert_quantity(gpu->left, "= 0 byte");
    assert_int_equal(gpu->others, RUN_NO);
    assert_true(gpu->by_phase[PHASE_LOAD].entered);
    assert_quantity(gpu->by_phase[PHASE_LOAD].memory.device_used, ">= 5368709120 byte");
    assert_int_equal(gpu->by_phase[PHASE_LOAD].memory.device_used.n, 4);
    assert_quantity(gpu->by_phase[PHASE_COMPUTE].memory.device_used, ">= 32212254720 byte");
    assert_quantity(gpu->by_phase[PHASE_UNATTRIBUTED].memory.device_used, ">= 1073741824 byte");
    assert_quantity(gpu->by_phase[PHASE_LOAD].memory.process_used, "open not-sampled byte");
    assert_false(gpu->by_phase[PHASE_WRITE].entered);
}

static void without_counters_the_series_tells(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add(&bytes, JOURNAL_DEVICE, "{'device':3,'mine':'yes'}"); /* no uuid: its number names it */
    CURVE(&bytes, 10, GPU_SERIES_USED, "3", "gauge", 1, 500, 1000, GIB(1), GIB(2));
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_quantity(run->gpus[0].device_used, ">= 2147483648 byte");
    assert_quantity(run->gpus[0].process_used, "open monitor-lost byte");
    assert_quantity(run->gpus[0].total, "open monitor-lost byte");
    assert_false(run->gpus[0].by_phase[PHASE_UNATTRIBUTED].entered); /* nothing is told apart */
    AUTO_RUN struct run *live = fold_bytes(&bytes, true, true);
    assert_quantity(live->gpus[0].process_used, "open running byte");
    assert_int_equal(live->series_count, 1);
}

/* Behind the tenth minute only the least and the most of each second are kept: a second that lies
 * in two phases says nothing of either. And the driver's own account of a process may know more. */
static void the_most_of_a_second_is_a_peak(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add_device(&bytes, 0, U0, MINE);
    CURVE(&bytes, 10, GPU_SERIES_USED_MAX, U0, "gauge", 1, 1000, 1500, GIB(1), GIB(2), GIB(3),
          GIB(9), GIB(5));
    CURVE(&bytes, 11, GPU_SERIES_PROCESS_USED, U0, "gauge", 1, 1000, 1000, GIB(4));
    add(&bytes, JOURNAL_COUNTERS,
        "{'t_ns':1,'gpu':[{'device':0,'accounted_peak_bytes':6442450944}]}");
    add_phases_and_end(&bytes);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_quantity(run->gpus[0].device_used, ">= 9663676416 byte");
    assert_quantity(run->gpus[0].by_phase[PHASE_LOAD].memory.device_used, ">= 2147483648 byte");
    assert_quantity(run->gpus[0].by_phase[PHASE_COMPUTE].memory.device_used, ">= 9663676416 byte");
    assert_int_equal(run->gpus[0].by_phase[PHASE_COMPUTE].memory.device_used.n, 2);
    assert_quantity(run->gpus[0].process_used, ">= 6442450944 byte");
    assert_string_equal(run->gpus[0].process_used.method,
                        "driver, accounting, largest of the run's processes");
}

static void keeps_the_drivers_reasons(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add_device(&bytes, 0, U0,
               MINE ",'reasons':{'processes':'not-visible','utilization':'not-supported',"
                    "'energy':'the driver blanks it'}");
    add(&bytes, JOURNAL_DEVICE,
        "{'device':1,'mine':'yes','unified':true,'reasons':{'memory':'not-applicable'}}");
    add(&bytes, JOURNAL_DEVICE, "{'device':2,'mine':'yes','lost':true}");
    add(&bytes, JOURNAL_COUNTERS,
        "{'t_ns':1,'gpu':[{'device':2,'reasons':{'process_peak_bytes':'not-permitted'}}]}");
    add(&bytes, JOURNAL_END, END_10);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_quantity(run->gpus[0].process_used, "open not-visible byte");
    assert_quantity(run->gpus[0].busy, "open not-supported 1");
    assert_quantity(run->gpus[0].idle_by[GPU_IDLE_UNKNOWN], "open not-supported s");
    assert_quantity(run->gpus[0].energy, "open not-supported J");
    assert_string_equal(run->gpus[0].energy.detail, "the driver blanks it");
    assert_quantity(run->gpus[1].total, "open not-applicable byte");
    assert_string_equal(run->gpus[1].device_used.detail,
                        "the GPU has no memory of its own: it shares the host's");
    assert_quantity(run->gpus[2].device_used, "open failed byte");
    assert_quantity(run->gpus[2].process_used, "open not-permitted byte");
}

/* Two boards with one UUID: the second's series bear its number. */
static void two_with_one_uuid_have_their_own_series(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add_device(&bytes, 0, U0, MINE);
    add_device(&bytes, 1, U0, MINE);
    CURVE(&bytes, 1, GPU_SERIES_USED, U0, "gauge", 1, 500, 500, GIB(1), GIB(2));
    CURVE(&bytes, 2, GPU_SERIES_USED, "1", "gauge", 1, 500, 500, GIB(5), GIB(3));
    add(&bytes, JOURNAL_COUNTERS, "{'t_ns':1,'gpu':[{'device':0,'list_cut':true}]}");
    add(&bytes, JOURNAL_END, END_10);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_true(run->gpus[0].device_used.value == (double)GIB(2));
    assert_true(run->gpus[1].device_used.value == (double)GIB(5));
    assert_string_equal(run->gpus[0].process_used.detail,
                        "the driver listed more processes than were read");
}

/* ---- energy ---- */

static void energy_is_a_difference_or_an_integral(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add_device(&bytes, 0, "a", MINE);
    add_device(&bytes, 1, "b", MINE);
    add_device(&bytes, 2, "c", MINE);
    add_device(&bytes, 3, "d", MINE);
    add_device(&bytes, 4, "e", MINE);
    add_device(&bytes, 5, "f", MINE);
    add_device(&bytes, 6, "g", MINE);
    add_device(&bytes, 7, "h", MINE);
    /* a counter that begins anew; a power that is 100 W; one with a hole; one that ends early */
    CURVE(&bytes, 1, GPU_SERIES_ENERGY, "b", "counter", 1000, 0, 1000, 5000000, 5400000, 100,
          600100);
    CURVE(&bytes, 2, GPU_SERIES_POWER, "c", "gauge", 1000, 0, 1000, 100000, 100000, 100000, 100000,
          100000, 100000, 100000, 100000, 100000, 100000, 100000);
    CURVE(&bytes, 3, GPU_SERIES_POWER, "d", "gauge", 1000, 0, 1000, 100000, 200000, ABSENT, ABSENT,
          ABSENT, 100000, 100000);
    CURVE(&bytes, 4, GPU_SERIES_POWER, "e", "gauge", 1000, 500, 1000, 100000, 100000, 100000,
          100000, 100000, 100000, 100000, 100000, 100000, 100000);
    /* counters that stand still: without a power, with one, and told as 0 by an older version */
    CURVE(&bytes, 5, GPU_SERIES_ENERGY, "f", "counter", 1000, 0, 1000, 7000, 7000, 7000);
    CURVE(&bytes, 6, GPU_SERIES_ENERGY, "g", "counter", 1000, 0, 1000, 7000, 7000, 7000);
    CURVE(&bytes, 7, GPU_SERIES_POWER, "g", "gauge", 1000, 0, 1000, 100000, 100000, 100000);
    add(&bytes, JOURNAL_COUNTERS,
        "{'t_ns':1,'gpu':[{'device':0,'energy_j':1234.5},{'device':7,'energy_j':0.0}]}");
    add(&bytes, JOURNAL_END, END_10);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_quantity(run->gpus[0].energy, ">= 1234.5 J");
    assert_quantity(run->gpus[1].energy, ">= 1000 J");
    assert_quantity(run->gpus[2].energy, "= 1000 J");
    assert_string_equal(run->gpus[2].energy.method,
                        "integral of the driver's power readings, whole device");
    assert_quantity(run->gpus[3].energy, ">= 250 J");
    assert_quantity(run->gpus[4].energy, ">= 900 J"); /* a second of ten is missing */
    assert_quantity(run->gpus[5].energy, "open failed J");
    assert_string_equal(run->gpus[5].energy.detail, "the driver's energy counter did not move");
    assert_quantity(run->gpus[6].energy, ">= 200 J");
    assert_quantity(run->gpus[7].energy, "open failed J");
}

/* ---- condition ---- */

static void tells_errors_and_what_held_the_clocks(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add_device(&bytes, 0, "a", MINE);
    add_device(&bytes, 1, "b", MINE ",'unified':true,'virtual':'vgpu'");
    add_device(&bytes, 2, "c", MINE ",'reasons':{'ecc':'not-supported'}");
    /* idle, set clocks and keeping step are no limits; one of eleven samples is not noticeable */
    CURVE(&bytes, 1, GPU_SERIES_EVENTS, "a", "gauge", 1, 0, 900, 0x1, 0x4, 0x24, 0x113, 0x2, 0x8c,
          0, 0, 0x4, 0x4, 0);
    CURVE(&bytes, 2, GPU_SERIES_ECC, "a", "counter", 1, 0, 1000, 2, 2, 5, 1);
    CURVE(&bytes, 3, GPU_SERIES_ECC, "b", "counter", 1, 0, 1000, 4);
    add(&bytes, JOURNAL_END, END_10);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_int_equal(run->gpus[0].held_count, 1);
    assert_string_equal(run->gpus[0].held[0].name, "power-cap");
    assert_true(run->gpus[0].held[0].share.value > 0.45 && run->gpus[0].held[0].share.value < 0.46);
    assert_quantity(run->gpus[0].ecc, ">= 4 count"); /* it began anew at 0 */
    assert_quantity(run->gpus[1].ecc, "open not-sampled count");
    assert_quantity(run->gpus[2].ecc, "open not-supported count");
    assert_int_equal(run->gpus[0].unified, RUN_NOT_KNOWN);
    assert_int_equal(run->gpus[1].unified, RUN_YES);
    assert_string_equal(run->gpus[1].virtual_mode, "vgpu");
    assert_null(run->gpus[0].virtual_mode);
    assert_int_equal(run->gpus[1].held_count, 0);
}

/* ---- preallocation ---- */

static enum run_known plateau(const int64_t *gib, size_t count, const char *start) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    AUTO_FREE int64_t *values = mem_alloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        values[i] = GIB(gib[i]);
    }
    begin(&bytes, start);
    add_device(&bytes, 0, U0, MINE); /* 100 GiB */
    add_curve(&bytes, 1, GPU_SERIES_USED, U0, "gauge", 1, 500, 500, values, count);
    add(&bytes, JOURNAL_END, END_10);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    return run->gpus[0].preallocated;
}

#define PLATEAU(start, ...)                 \
    plateau((const int64_t[]){__VA_ARGS__}, \
            sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), start)

static void tells_an_allowance_from_a_need(void **state) {
    (void)state;
    /* at once to three quarters, and it stays */
    assert_int_equal(PLATEAU("", 1, 1, 75, 75, 75, 76, 75, 75, 75, 75, 75, 1), RUN_YES);
    /* as high, but in small steps: it may have been needed */
    assert_int_equal(PLATEAU("", 1, 20, 35, 50, 60, 75, 75, 76, 75, 75, 75, 75, 75), RUN_NOT_KNOWN);
    /* what half fills a small slice may be needed, and come fast */
    assert_int_equal(PLATEAU("", 1, 1, 62, 62, 62, 62, 62, 62, 62, 62, 62, 62), RUN_NO);
    /* it moves, or it is little, or it is over too soon */
    assert_int_equal(PLATEAU("", 1, 1, 75, 50, 75, 76, 75, 75, 75, 75, 75), RUN_NO);
    assert_int_equal(PLATEAU("", 1, 1, 45, 45, 45, 45, 45, 45, 45, 45, 45), RUN_NO);
    assert_int_equal(PLATEAU("", 1, 1, 75, 75, 75, 76), RUN_NOT_KNOWN);
}

static void serving_engines_take_an_allowance(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add_device(&bytes, 0, U0, MINE);
    CURVE(&bytes, 1, GPU_SERIES_USED, U0, "gauge", 1, 500, 1000, GIB(20), GIB(50), GIB(70), GIB(90),
          GIB(90), GIB(90), GIB(90), GIB(90));
    add(&bytes, JOURNAL_MARK,
        "{'t_ns':5,'verb':'agent','name':'python-hook','pid':7,'file_offset':1,"
        "'data':{'event':'begin','phase':'load','what':'vllm.LLM'}}");
    add(&bytes, JOURNAL_END, END_10);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_int_equal(run->gpus[0].preallocated, RUN_YES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_why_there_is_none),
        cmocka_unit_test(lists_those_that_may_be_mine),
        cmocka_unit_test(knows_stand_ins),
        cmocka_unit_test(peaks_are_those_of_samples),
        cmocka_unit_test(without_counters_the_series_tells),
        cmocka_unit_test(the_most_of_a_second_is_a_peak),
        cmocka_unit_test(keeps_the_drivers_reasons),
        cmocka_unit_test(two_with_one_uuid_have_their_own_series),
        cmocka_unit_test(energy_is_a_difference_or_an_integral),
        cmocka_unit_test(tells_errors_and_what_held_the_clocks),
        cmocka_unit_test(tells_an_allowance_from_a_need),
        cmocka_unit_test(serving_engines_take_an_allowance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
