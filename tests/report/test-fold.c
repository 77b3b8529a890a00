/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole way from records to what is shown: journal bytes, folded, rendered; golden texts and
 * the schema. */
#include "checks.h"

#include "../journal/gpu-support.h"

#include "journal/chunk.h"
#include "journal/fold.h"
#include "report/report.h"

#include <math.h>

#define S INT64_C(1000000000)

static void add_curves(struct strbuf *journal) {
    add(journal, JOURNAL_SERIES,
        "{'id':0,'name':'tree.cpu','unit':'core.s','kind':'counter','interval_ns':1000000000,"
        "'per_unit':1000000000,'method':'test'}");
    add(journal, JOURNAL_SERIES,
        "{'id':1,'name':'tree.rss_max','unit':'byte','kind':'gauge','interval_ns':1000000000,"
        "'method':'test'}");
    enum { TICKS = 30 };
    uint32_t ids[] = {0, 1};
    int64_t time_ns[TICKS], value[2 * TICKS];
    for (int64_t i = 0; i < TICKS; i++) {
        time_ns[i] = i * S;
        value[i] = i < 10 ? i * S : 10 * S + (i - 10) * 2 * S;
        value[TICKS + i] = i >= 20 && i < 23 ? CHUNK_ABSENT : (i < 10 ? i + 1 : 16) * 1048576;
    }
    struct chunk chunk = {
        .series = ids, .series_count = 2, .time_ns = time_ns, .tick_count = TICKS, .value = value};
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    chunk_encode(&chunk, &bytes);
    add_bytes(journal, JOURNAL_CHUNK, bytes.data, bytes.length);
}

static void add_work(struct strbuf *journal) {
    add(journal, JOURNAL_ENVIRONMENT,
        "{'code':{'reason':'the working folder is in no git repository'},"
        "'machine':{'kernel':'6.1.0','architecture':'x86_64'},"
        "'limits':{'memory':{'state':'open','value':null,'unit':'byte','reason':'not-applicable'}},"
        "'totals':{'memory':{'state':'measured','value':25769803776,'unit':'byte',"
        "'method':'/proc/meminfo MemTotal'}},'interpreters':[],'packages':[],'reasons':{}}");
    add(journal, JOURNAL_MARK, "{'t_ns':500000000,'verb':'phase','name':'load','file_offset':9}");
    add(journal, JOURNAL_MARK,
        "{'t_ns':10000000000,'verb':'phase','name':'compute/decode','file_offset':18}");
    add(journal, JOURNAL_MARK, "{'t_ns':29000000000,'verb':'items','value':64,'file_offset':27}");
    add(journal, JOURNAL_MARK,
        "{'t_ns':29000000000,'verb':'result','name':'tokens','value':812.5,'unit':'token/s',"
        "'file_offset':36}");
    add_curves(journal);
    add(journal, JOURNAL_GAP,
        "{'what':'samples','from_t_ns':20000000000,'to_t_ns':23000000000,"
        "'reason':'the slow reader was late'}");
    add(journal, JOURNAL_CHILD,
        "{'pid':10,'start':5,'role':'command','exit_code':0,'maxrss_bytes':16777216,"
        "'utime_ns':48000000000,'stime_ns':0,'t_ns':29900000000}");
    add(journal, JOURNAL_COUNTERS,
        "{'t_ns':30000000000,'cpu_ns':48000000000,'io':{'read':4096,'written':8192,"
        "'read_chars':100000,'written_chars':9000},'vmhwm_bytes':16000000,'maxrss_bytes':16777216,"
        "'processes_seen':1,'monitor_cpu_ns':{'monitor':30000000,'recorder':20000000}}");
}

static void add_end(struct strbuf *journal) {
    add(journal, JOURNAL_END,
        "{'t_ns':30000000000,'command_t_ns':29900000000,'end_boottime_ns':32000000000,"
        "'end_utc_ns':1764500030500000000,'exit_code':0,'survivors':[],'wall_is_at_least':false,"
        "'outputs':[],'expectations':[],'streams':{},'stopped_ns':0}");
}

static struct run *fold(const struct strbuf *journal, bool live) {
    struct fold_input input = {.bytes = journal->data, .length = journal->length, .live = live};
    struct run *run = NULL;
    struct err err = ERR_INIT;
    must(fold_run(&input, true, &run, &err), &err);
    return run;
}

static struct run *whole_run(void) {
    AUTO_STRBUF struct strbuf journal = STRBUF_INIT;
    begin(&journal, ",'condition':{'cache':'full'},'host':'gpu-3'");
    add_work(&journal);
    add_end(&journal);
    return fold(&journal, false);
}

static struct run *bare_run(bool live) {
    AUTO_STRBUF struct strbuf journal = STRBUF_INIT;
    begin(&journal, "");
    return fold(&journal, live);
}

/* A device whose memory is taken at once, used from 12 s on but for a stretch in which the host
 * computes; told of by the hook, and its weights came from storage. more: of its DEVICE. */
static void add_gpu(struct strbuf *journal, int number, const char *uuid, const char *more) {
    int64_t used[60], process[30], busy[60];
    for (size_t i = 0; i < 60; i++) {
        used[i] = GIB(i < 10 ? 1 : 72);
        busy[i] = i < 24 || (i >= 40 && i < 46) ? 0 : 90;
    }
    for (size_t i = 0; i < 30; i++)
        process[i] = GIB(i < 5 ? 0 : 71);
    AUTO_FREE char *facts = mem_printf("%s,'power_limit_w':700", more);
    uint32_t id = 100 + 10 * (uint32_t)number;
    add_device(journal, number, uuid, facts);
    add_curve(journal, id, GPU_SERIES_USED, uuid, "gauge", 1, 250, 500, used, 60);
    add_curve(journal, id + 1, GPU_SERIES_PROCESS_USED, uuid, "gauge", 1, 500, 1000, process, 30);
    add_curve(journal, id + 2, GPU_SERIES_BUSY, uuid, "gauge", 100, 500, 500, busy, 60);
}

static void add_told(struct strbuf *journal) {
    add(journal, JOURNAL_MARK,
        "{'t_ns':3000000000,'verb':'agent','name':'slow-reader','data':{'event':'file',"
        "'path':'/models/a.safetensors','bytes':15000000000,'storage':'ext4 on nvme'}}");
    for (int i = 0; i < 2; i++) {
        AUTO_FREE char *memory = mem_printf(
            "{'t_ns':%lld,'verb':'agent','name':'python-hook','pid':10,'file_offset':36,'data':"
            "{'event':'memory','moment':'%s','device':0,'uuid':'" U0 "',"
            "'allocated':15000000000,'reserved':70000000000,"
            "'allocated_peak':%lld,'reserved_peak':70000000000}}",
            (long long)(i == 0 ? 10 * S : 29 * S), i == 0 ? "phase-end" : "exit",
            i == 0 ? 15000000000LL : 42000000000LL);
        add(journal, JOURNAL_MARK, memory);
    }
    int64_t read[30];
    for (int64_t i = 0; i < 30; i++)
        read[i] = (i < 9 ? i * 1800 : 15000) * 1000000;
    add_curve(journal, 90, "io.read", NULL, "counter", 1, 1000, 1000, read, 30);
}

static struct run *gpu_run(void) {
    AUTO_STRBUF struct strbuf journal = STRBUF_INIT;
    begin(&journal, ",'agents':{'python-hook':{'on':true}}");
    add_work(&journal);
    add_gpu(&journal, 0, U0, ",'mine':'yes','mine_by':'CUDA_VISIBLE_DEVICES'");
    add_device(&journal, 1, U1, ",'mine':'no'");
    add_told(&journal);
    add(&journal, JOURNAL_COUNTERS,
        "{'t_ns':30000000000,'gpu':[{'device':0,'used_peak_bytes':77309411328,'used_samples':300,"
        "'energy_j':15432.5,'others':false,'left_bytes':1073741824}]}");
    add_end(&journal);
    return fold(&journal, false);
}

/* Three stand-ins: a board that others use as well, one of an old driver, and one that nobody knows
 * whose it is. */
static struct run *stand_in_run(void) {
    AUTO_STRBUF struct strbuf journal = STRBUF_INIT;
    begin(&journal, "");
    add_work(&journal);
    add_gpu(&journal, 0, U0, ",'mine':'yes','mine_by':'processes','stand_in':true");
    add(&journal, JOURNAL_DEVICE,
        "{'device':1,'t_ns':1,'kind':'mig','uuid':'MIG-1','name':'NVIDIA A100 stand-in',"
        "'index':0,'parent':'" U0 "','mine':'unknown','total_bytes':10737418240,"
        "'reasons':{'utilization':'not-supported','processes':'not-visible'}}");
    add(&journal, JOURNAL_DEVICE, "{'device':2,'t_ns':1,'kind':'gpu','mine':'yes','lost':true}");
    add(&journal, JOURNAL_COUNTERS,
        "{'t_ns':30000000000,'gpu':[{'device':0,'others':true,'reasons':{'energy_j':"
        "'not-supported'}},{'device':1,'used_peak_bytes':5368709120,'used_samples':290}]}");
    add_end(&journal);
    return fold(&journal, false);
}

static struct run *lost_run(void) {
    AUTO_STRBUF struct strbuf journal = STRBUF_INIT;
    begin(&journal, "");
    add_work(&journal);
    return fold(&journal, false);
}

static struct run *not_started_run(void) {
    AUTO_STRBUF struct strbuf journal = STRBUF_INIT;
    begin(&journal, "");
    add(&journal, JOURNAL_END,
        "{'t_ns':2000000,'start_errno':2,'start_error':'No such file or directory','survivors':[],"
        "'end_utc_ns':1764500000502000000}");
    return fold(&journal, false);
}

static void check_run(const char *name, const struct run *run) {
    AUTO_STRBUF struct strbuf show = STRBUF_INIT;
    AUTO_STRBUF struct strbuf summary = STRBUF_INIT;
    AUTO_FREE char *show_name = mem_printf("fold-%s-show.txt", name);
    AUTO_FREE char *summary_name = mem_printf("fold-%s-summary.txt", name);
    report_run_text(run, (struct report_style){.width = 80}, &show);
    report_run_summary(run, (struct report_style){.width = 80}, &summary);
    check_golden(show_name, &show);
    check_golden(summary_name, &summary);
    schema_put(name, report_run_json(run));
}

static void pages(void **state) {
    (void)state;
    AUTO_RUN struct run *whole = whole_run();
    AUTO_RUN struct run *lost = lost_run();
    AUTO_RUN struct run *running = bare_run(true);
    AUTO_RUN struct run *bare = bare_run(false);
    AUTO_RUN struct run *not_started = not_started_run();
    AUTO_RUN struct run *gpu = gpu_run();
    AUTO_RUN struct run *stand_in = stand_in_run();
    check_run("whole", whole);
    check_run("gpu", gpu);
    check_run("stand-in", stand_in);
    check_run("lost", lost);
    check_run("running", running);
    check_run("bare", bare);
    check_run("not-started", not_started);
    int status = schema_check();
    assert_true(status == 0 || status == 77); /* test-schema skips where there is no jsonschema */
}

static void phases_add_up_to_wall(void **state) {
    (void)state;
    AUTO_RUN struct run *run = whole_run();
    AUTO_JSON json_t *json = report_run_json(run);
    json_t *time = json_object_get(json, "time");
    double sum = 0;
    const char *key;
    json_t *phase;
    json_object_foreach (json_object_get(time, "phases"), key, phase)
        sum += json_get_real(phase, "value", 0);
    assert_float_equal(sum, json_get_real(json_object_get(time, "wall"), "value", (double)NAN),
                       1e-9);
    double end_s = 0;
    size_t index;
    json_array_foreach (json_object_get(time, "phase_list"), index, phase) {
        assert_float_equal(json_get_real(phase, "start_s", -1), end_s, 1e-9);
        end_s = json_get_real(phase, "end_s", -1);
    }
    assert_float_equal(end_s, 30.0, 1e-9);
}

/* A record of START alone: no number in any quantity that only the run's end or a reading could
 * give. */
static void a_bare_record_claims_nothing(void **state) {
    (void)state;
    AUTO_RUN struct run *run = bare_run(true);
    AUTO_JSON json_t *json = report_run_json(run);
    json_t *host = json_object_get(json, "host");
    static const char *const parts[] = {"memory", "io", "limits", "totals"};
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
        const char *key;
        json_t *quantity;
        json_object_foreach (json_object_get(host, parts[i]), key, quantity) {
            assert_string_equal(json_get_text(quantity, "state", ""), "open");
            assert_true(json_is_null(json_object_get(quantity, "value")));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages),
        cmocka_unit_test(phases_add_up_to_wall),
        cmocka_unit_test(a_bare_record_claims_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
