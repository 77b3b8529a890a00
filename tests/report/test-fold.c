/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The whole way from records to what is shown: journal bytes, folded, rendered; golden texts and
 * the schema. */
#include "checks.h"

#include "../journal/support.h"

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
    check_run("whole", whole);
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
