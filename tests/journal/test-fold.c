/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rest of the fold: identity, outcome, events, work, results, series; and what garbage may do:
 * nothing. */
#include "fold-support.h"

#include "journal/chunk.h"

#define FINAL_END "{'t_ns':9000000000,'command_t_ns':8000000000,'exit_code':0}"

/* ---- identity and outcome ---- */

static void knows_who_it_is(void **state) {
    (void)state;
    AUTO_RUN struct run *run = fold_lines(
        ",'note':'first try','changes':['pinned torch',7]",
        (const struct line[]){{JOURNAL_HEADER, "{'run':'another'}"}, /* the first holds */
                              {JOURNAL_START, "{'command':['false']}"},
                              {JOURNAL_ENVIRONMENT, "{'fingerprint':'x'}"},
                              {JOURNAL_ENVIRONMENT, "{'fingerprint':'y'}"},
                              {JOURNAL_END, FINAL_END},
                              {0, NULL}},
        false);
    assert_string_equal(run->id, RUN_ID);
    assert_string_equal(run->part, PART_ID);
    assert_null(run->study);
    assert_string_equal(json_string_value(json_array_get(json_get_array(run->start, "command"), 0)),
                        "true");
    assert_string_equal(json_get_text(run->environment, "fingerprint", ""), "y");
    assert_string_equal(run->note, "first try");
    assert_int_equal(json_array_size(run->changes), 1);
    assert_int_equal(run->gpu_count, 1);
    assert_quantity(run->gpus[0].total, "open not-in-record byte");
    assert_string_equal(run->gpus[0].total.detail,
                        "the version that wrote the record did not look at GPUs");
    assert_int_equal(run->validity, RUN_UNCHECKED);
    assert_string_equal(run->verified, "not-checked");
}

static void refuses_what_is_no_run(void **state) {
    (void)state;
    static const struct {
        const char *header, *id;
    } cases[] = {
        {"{'format':1,'type':'event','run':'e'}", "journal-no-run"},
        {"{'format':2,'type':'run','run':'r'}", "journal-newer"},
        {"{'format':1,'type':'run'}", "journal-damaged"},
        {"[]", "journal-damaged"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
        struct run *run = NULL;
        struct err err = ERR_INIT;
        strbuf_add_str(&bytes, JOURNAL_MAGIC);
        add(&bytes, JOURNAL_HEADER, cases[i].header);
        struct fold_input input = {.bytes = bytes.data, .length = bytes.length};
        assert_int_equal(fold_run(&input, false, &run, &err), -EBADMSG);
        assert_string_equal(err.id, cases[i].id);
        assert_null(run);
    }
}

static void classifies_by_incidents(void **state) {
    (void)state;
    AUTO_RUN struct run *run = fold_lines(
        "",
        (const struct line[]){
            {JOURNAL_INCIDENT, "{'name':'disk_full','line':'No space left','survived':true}"},
            {JOURNAL_INCIDENT,
             "{'name':'host_oom','figures':{'limit':1073741824},'source':'cgroup'}"},
            {JOURNAL_INCIDENT, "{'line':'no name'}"},
            {JOURNAL_END, "{'t_ns':9,'command_t_ns':8,'signal':9}"},
            {0, NULL}},
        false);
    assert_int_equal(run->outcome, OUTCOME_HOST_OOM);
    assert_int_equal(run->signal, 9);
    assert_false(run->has_exit_code);
    assert_int_equal(run->incident_count, 2);
    assert_string_equal(run->incidents[0].name, "disk_full");
    assert_string_equal(run->incidents[0].line, "No space left");
    assert_true(run->incidents[0].survived);
    assert_null(run->incidents[0].figures);
    assert_false(run->incidents[1].survived);
    assert_int_equal(json_get_int(run->incidents[1].figures, "limit", 0), 1073741824);
}

static void verifies_only_what_was_expected_and_met(void **state) {
    (void)state;
    static const struct {
        const char *expectations, *verified;
    } cases[] = {
        {"", "not-checked"},
        {",'expectations':[]", "not-checked"},
        {",'expectations':[{'met':'yes'},{'met':'yes'}]", "yes"},
        {",'expectations':[{'met':'yes'},{'met':'no'}]", "no"},
        {",'expectations':[{'met':'not-checked'},{'met':'no'}]", "no"},
        {",'expectations':[{'met':'yes'},{'met':'not-checked'}]", "not-checked"},
        {",'expectations':[{'met':'yes'},{}]", "not-checked"},
        {",'expectations':['yes',{'met':true}]", "not-checked"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_FREE char *end = mem_printf("{'t_ns':9,'exit_code':0%s}", cases[i].expectations);
        AUTO_RUN struct run *run =
            fold_lines("", (const struct line[]){{JOURNAL_END, end}, {0, NULL}}, false);
        assert_string_equal(run->verified, cases[i].verified);
    }
}

/* ---- events ---- */

static void the_latest_event_wins(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{'type':'annotate','about':'" RUN_ID "','who':'kim','invalid':true,'why':'wrong data',"
        "'change':'new split'}",
        "{'type':'annotate','about':'" RUN_ID "','who':'lea','disposition':'authors to ask'}",
        "{'type':'annotate','about':'" RUN_ID "','who':'lea','invalid':false,'why':'checked',"
        "'note':'fine','disposition':'fixed','change':'as before'}",
        "{'type':'annotate','about':'somebody else','invalid':true,'note':'no'}",
        "{'type':'annotate','about':'" RUN_ID "','invalid':'yes','note':5,'change':[]}",
        "['no event']",
    };
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, ",'note':'at first'");
    add(&bytes, JOURNAL_END, FINAL_END);
    json_t *payloads[ARRAY_LENGTH(texts)];
    struct fold_event events[ARRAY_LENGTH(texts)];
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        payloads[i] = parse(texts[i]);
        events[i].payload = payloads[i];
    }
    for (size_t count = 0; count <= ARRAY_LENGTH(texts); count++) {
        struct fold_input input = {
            .bytes = bytes.data, .length = bytes.length, .events = events, .event_count = count};
        struct run *folded = NULL;
        struct err err = ERR_INIT;
        must(fold_run(&input, false, &folded, &err), &err);
        AUTO_RUN struct run *run = folded;
        assert_int_equal(run->validity, count == 0  ? RUN_UNCHECKED
                                        : count < 3 ? RUN_INVALID
                                                    : RUN_VALID);
        assert_int_equal(json_array_size(run->changes), count == 0 ? 0 : count < 3 ? 1 : 2);
        assert_string_equal(run->note, count < 3 ? "at first" : "fine");
        if (count == 0) {
            assert_null(run->validity_who);
            continue;
        }
        assert_string_equal(run->validity_who, count < 3 ? "kim" : "lea");
        assert_string_equal(run->validity_why, count < 3 ? "wrong data" : "checked");
        if (count > 1) {
            assert_string_equal(run->disposition, count < 3 ? "authors to ask" : "fixed");
        }
    }
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        json_decref(payloads[i]);
    }
}

/* ---- work and results ---- */

static void counts_work(void **state) {
    (void)state;
    AUTO_RUN struct run *run = fold_lines(
        "",
        (const struct line[]){{JOURNAL_MARK, "{'verb':'items','value':10}"},
                              {JOURNAL_MARK, "{'verb':'items','value':5,'pid':7}"},
                              {JOURNAL_MARK, "{'verb':'items','value':30}"}, /* so far, not more */
                              {JOURNAL_MARK, "{'verb':'items','value':6,'pid':7}"},
                              {JOURNAL_MARK, "{'verb':'items','value':'many','pid':8}"},
                              {JOURNAL_MARK, "{'verb':'length','value':128}"},
                              {JOURNAL_MARK, "{'verb':'length','value':256}"},
                              {JOURNAL_MARK, "{'verb':'shape','text':'[8, 256]'}"},
                              {JOURNAL_END, FINAL_END},
                              {0, NULL}},
        false);
    assert_quantity(run->work_items, "= 36 count");
    assert_int_equal(run->work_items.n, 2);
    assert_quantity(run->work_length, "= 256 count");
    assert_quantity(run->work_batch, "open not-entered count");
    assert_string_equal(run->work_shape, "[8, 256]");
    AUTO_RUN struct run *lost = fold_lines(
        "", (const struct line[]){{JOURNAL_MARK, "{'verb':'items','value':10}"}, {0, NULL}}, false);
    assert_quantity(lost->work_items, ">= 10 count");
}

static void keeps_results(void **state) {
    (void)state;
    AUTO_RUN struct run *run = fold_lines(
        "",
        (const struct line[]){
            {JOURNAL_MARK, "{'verb':'result','name':'speed','value':10,'unit':'token/s'}"},
            {JOURNAL_MARK, "{'verb':'result','name':'loss','text':'nan'}"},
            {JOURNAL_MARK, "{'verb':'result','name':'speed','value':12.5,'unit':'token/s'}"},
            {JOURNAL_MARK, "{'verb':'result','value':1}"},
            {JOURNAL_MARK, "{'verb':'result','name':'zero','value':0}"},
            {JOURNAL_END, FINAL_END},
            {0, NULL}},
        false);
    assert_int_equal(run->result_count, 3);
    assert_string_equal(run->results[0].name, "speed");
    assert_quantity(run->results[0].quantity, "= 12.5 token/s");
    assert_string_equal(run->results[1].name, "loss");
    assert_quantity(run->results[1].quantity, "open failed 1");
    assert_quantity(run->results[2].quantity, "= 0 1");
}

/* Results out of files keep how they were read; those that are not there are open with the reason.
 */
static void results_out_of_files(void **state) {
    (void)state;
    AUTO_RUN struct run *run = fold_lines(
        "",
        (const struct line[]){
            {JOURNAL_MARK, "{'verb':'result','name':'said','value':1}"},
            {JOURNAL_MARK, "{'verb':'result','name':'both','value':1}"},
            {JOURNAL_MARK, "{'t_ns':5,'verb':'result','name':'loss','value':0.25,'unit':'nat',"
                           "'source':'file:out.json#/loss','method':'json /loss of out.json'}"},
            {JOURNAL_MARK, "{'verb':'result','name':'both','value':2,'method':'json /b of x'}"},
            {JOURNAL_MARK, "{'verb':'result','name':'word','text':'nan','method':'csv w of y'}"},
            {JOURNAL_END,
             "{'t_ns':10,'command_t_ns':9,'exit_code':0,'results_absent':["
             "{'name':'gone','unit':'byte','reason':'there is no such file'},"
             "{'name':'torn','reason':'the file cannot be understood','detail':'1:2: end'},"
             "{'name':'said','reason':'there is no such file'},"
             "{'reason':'nameless'},{'name':'no reason'},7]}"},
            {0, NULL}},
        false);
    assert_int_equal(run->result_count, 6);
    assert_string_equal(run->results[0].quantity.method, "mark");
    assert_quantity(run->results[1].quantity, "= 2 1"); /* the file's word is the last */
    assert_string_equal(run->results[1].quantity.method, "json /b of x");
    assert_quantity(run->results[2].quantity, "= 0.25 nat");
    assert_string_equal(run->results[2].quantity.method, "json /loss of out.json");
    assert_quantity(run->results[3].quantity, "open failed 1");
    assert_string_equal(run->results[3].quantity.detail, "the file says 'nan'");
    assert_string_equal(run->results[4].name, "gone");
    assert_quantity(run->results[4].quantity, "open failed byte");
    assert_string_equal(run->results[4].quantity.detail, "there is no such file");
    assert_string_equal(run->results[5].quantity.detail, "the file cannot be understood: 1:2: end");
}

static void tells_bad_marks_and_gaps(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add(&bytes, JOURNAL_GAP,
        "{'what':'samples','from_t_ns':1000000000,'to_t_ns':3000000000,'reason':'stopped'}");
    add(&bytes, JOURNAL_GAP, "{'what':'samples','from_t_ns':3,'to_t_ns':1}");
    for (int i = 0; i < 25; i++) {
        add(&bytes, JOURNAL_MARK, "{'bad':'the amount is not a number','line':3}");
    }
    add(&bytes, JOURNAL_END, FINAL_END);
    strbuf_add_str(&bytes, "torn");
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, false);
    assert_int_equal(run->gap_count, 1 + 1 + 20 + 1);
    assert_string_equal(run->gaps[0].what, "samples");
    assert_string_equal(run->gaps[0].reason, "stopped");
    assert_true(run->gaps[0].start_s == 1 && run->gaps[0].end_s == 3);
    assert_string_equal(run->gaps[1].what, "journal");
    assert_string_equal(run->gaps[2].reason,
                        "line 3 of the marks file: the amount is not a number");
    assert_string_equal(run->gaps[22].reason, "5 more lines of the marks file are no marks");
}

/* ---- series ---- */

static void reads_series(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    struct chunk_coder coder = {0};
    uint32_t ids[3] = {4, 9, 77};
    int64_t times[2] = {1000 * NS_PER_MS, 2000 * NS_PER_MS};
    int64_t values[6] = {500000000, 1500000000, CHUNK_ABSENT, 4096, 1, 2};
    struct chunk chunk = {ids, 3, times, 2, values};
    begin(&bytes, "");
    add(&bytes, JOURNAL_SERIES, "{'id':9,'name':'tree.pss','unit':'byte','kind':'gauge'}");
    add(&bytes, JOURNAL_SERIES,
        "{'id':4,'name':'tree.cpu','unit':'core.s','kind':'counter',"
        "'per_unit':1000000000}");
    add(&bytes, JOURNAL_SERIES, "{'id':9,'name':'again'}");
    add(&bytes, JOURNAL_SERIES, "{'id':10,'name':'never','device':'GPU-1'}");
    for (int i = 0; i < 3; i++) {
        AUTO_STRBUF struct strbuf payload = STRBUF_INIT;
        chunk_encode_next(&coder, &chunk, &payload);
        add_bytes(&bytes, JOURNAL_CHUNK, payload.data, payload.length);
        times[0] += 2000 * NS_PER_MS;
        times[1] += 2000 * NS_PER_MS;
        values[3] = 8192;
    }
    chunk_coder_done(&coder);
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, true);
    assert_int_equal(run->series_count, 3);
    assert_string_equal(run->series[0].name, "tree.pss");
    assert_string_equal(run->series[0].unit, "byte");
    assert_false(run->series[0].is_counter);
    assert_int_equal(run->series[0].count, 6);
    assert_true(isnan(run->series[0].value[0])); /* absent: not 0 */
    assert_true(run->series[0].value[1] == 4096);
    assert_true(run->series[0].value[5] == 8192);
    assert_true(run->series[0].time_s[5] == 6);
    assert_true(run->series[1].is_counter);
    assert_true(run->series[1].value[1] == 1.5); /* seconds, not ns */
    assert_int_equal(run->series[2].count, 0);
    assert_string_equal(run->series[2].device, "GPU-1");
    assert_quantity(run->wall, ">= 6 s"); /* the last tick of a lost run */
    AUTO_RUN struct run *without = fold_bytes(&bytes, false, false);
    assert_int_equal(without->series_count, 0);
    assert_quantity(without->wall, ">= 6 s");
}

/* ---- garbage ---- */

/* One record of every kind with every key that the fold reads. */
static void whole_journal(struct strbuf *bytes) {
    begin(bytes,
          ",'cgroup':{'memory':'own','path':'/g'},'phase':'setup','note':'n','changes':['c']");
    static const struct line lines[] = {
        {JOURNAL_ENVIRONMENT, "{'fingerprint':'x'}"},
        {JOURNAL_SERIES, "{'id':1,'name':'s','unit':'byte','kind':'gauge','per_unit':1}"},
        {JOURNAL_MARK, "{'t_ns':1000,'verb':'phase','name':'load','pid':4,'file_offset':1}"},
        {JOURNAL_MARK, "{'t_ns':2000,'verb':'end','name':'load','pid':4,'file_offset':2}"},
        {JOURNAL_MARK, "{'t_ns':2000,'verb':'items','value':3,'file_offset':2}"},
        {JOURNAL_MARK, "{'t_ns':2000,'verb':'result','name':'a','value':3,'unit':'b'}"},
        {JOURNAL_MARK, "{'bad':'x','line':3}"},
        {JOURNAL_PHASE, "{'t_ns':3000,'event':'begin','name':'compute','source':'pattern'}"},
        {JOURNAL_TEXT, "{'channel':'both','text':'x'}"},
        {JOURNAL_INCIDENT, "{'name':'disk_full','line':'x','figures':{},'survived':false}"},
        {JOURNAL_GAP, "{'what':'x','from_t_ns':1,'to_t_ns':2,'reason':'y'}"},
        {JOURNAL_CHILD, "{'t_ns':4000,'pid':4,'maxrss_bytes':9000000,'exit_code':0}"},
        {JOURNAL_COUNTERS,
         "{'t_ns':9000,'cpu_ns':5,'io':{'read':1,'written':2,'read_chars':3,'written_chars':4},"
         "'vmhwm_bytes':5,'maxrss_bytes':9000000,'pss_peak_bytes':6,'pss_samples':1,"
         "'processes_seen':2,'cgroup':{'peak_bytes':7,'peak_rose':true},'unreaped':false,"
         "'monitor_cpu_ns':{'monitor':1},'reasons':{}}"},
        {JOURNAL_END,
         "{'t_ns':9000,'command_t_ns':8000,'exit_code':0,'end_utc_ns':5,'budget':false,"
         "'survivors':[],'expectations':[{'what':'x','met':'yes'}],"
         "'result_complete_t_ns':7000}"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(lines); i++) {
        add(bytes, lines[i].kind, lines[i].json);
    }
}

static void assert_all_valid(const struct run *run) {
    const struct quantity *const all[] = {
        &run->wall,
        &run->command,
        &run->result_complete,
        &run->cpu,
        &run->tree_pss,
        &run->cgroup_charged,
        &run->io_read,
        &run->io_written,
        &run->io_read_chars,
        &run->io_written_chars,
        &run->processes,
        &run->work_items,
        &run->work_length,
        &run->work_batch,
        &run->monitor_cpu,
        &run->largest_process_rss,
    };
    for (size_t i = 0; i < ARRAY_LENGTH(all); i++) {
        assert_true(quantity_is_valid(all[i]));
    }
    for (enum phase phase = 0; phase < PHASE_COUNT_; phase++) {
        assert_true(quantity_is_valid(&run->phase[phase]));
    }
    assert_non_null(run->id);
    assert_non_null(run->verified);
    assert_adds_up(run);
}

static void try_fold(const void *bytes, size_t length, bool live) {
    struct fold_input input = {.bytes = bytes, .length = length, .live = live};
    struct run *folded = NULL;
    struct err err = ERR_INIT;
    if (fold_run(&input, true, &folded, &err) == 0) {
        AUTO_RUN struct run *run = folded;
        assert_all_valid(run);
    } else {
        assert_null(folded);
    }
}

static void folds_every_prefix(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    whole_journal(&bytes);
    for (size_t cut = 0; cut <= bytes.length; cut++) {
        try_fold(bytes.data, cut, cut % 2 == 0);
    }
}

/* The journal again with one value replaced. path counts the values of all records in order; false:
 * there is none. */
static json_t *garbage(int kind) {
    switch (kind) {
    case 0:
        return NULL; /* the key is not there */
    case 1:
        return json_null();
    case 2:
        return json_string("\x01garbage");
    case 3:
        return json_integer(-1);
    case 4:
        return json_integer(INT64_MAX);
    case 5:
        return json_integer(INT64_MIN);
    case 6:
        return json_real(1e300);
    case 7:
        return json_array();
    case 8:
        return json_object();
    default:
        return json_true();
    }
}

static bool replace(json_t *object, size_t *path, int kind) {
    const char *key;
    json_t *value;
    json_object_foreach (object, key, value) {
        if ((*path)-- == 0) {
            json_t *other = garbage(kind);
            if (other == NULL) {
                json_object_del(object, key);
            } else {
                json_object_set_new(object, key, other);
            }
            return true;
        }
        if (json_is_object(value) && replace(value, path, kind)) {
            return true;
        }
        for (size_t i = 0; i < json_array_size(value); i++) {
            if (json_is_object(json_array_get(value, i)) &&
                replace(json_array_get(value, i), path, kind)) {
                return true;
            }
        }
    }
    return false;
}

static bool with_garbage(const struct strbuf *bytes, size_t path, int kind, struct strbuf *out) {
    struct journal_reader reader;
    struct journal_record record;
    struct err err = ERR_INIT;
    bool replaced = false;
    must(journal_reader_init(&reader, bytes->data, bytes->length, &err), &err);
    strbuf_add_str(out, JOURNAL_MAGIC);
    while (journal_reader_next(&reader, &record)) {
        AUTO_JSON json_t *json = journal_record_json(&record);
        replaced = replaced || replace(json, &path, kind);
        add_json(out, record.kind, json);
    }
    return replaced;
}

static void survives_garbage_in_any_key(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    whole_journal(&bytes);
    size_t tried = 0;
    for (int kind = 0; kind < 10; kind++) {
        for (size_t path = 0;; path++) {
            AUTO_STRBUF struct strbuf garbled = STRBUF_INIT;
            if (!with_garbage(&bytes, path, kind, &garbled)) {
                break;
            }
            try_fold(garbled.data, garbled.length, path % 2 == 0);
            tried++;
        }
    }
    assert_true(tried > 900); /* all keys were reached */
}

/* The same record kinds with payloads that are no JSON objects, of later versions, or unknown. */
static void survives_garbage_records(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    static const char *const payloads[] = {"", "{", "[1]", "\"x\"", "\xff\xff", "{\"t_ns\":1e999}"};
    whole_journal(&bytes);
    for (uint32_t kind = 0; kind < 20; kind++) {
        for (size_t i = 0; i < ARRAY_LENGTH(payloads); i++) {
            add_bytes(&bytes, kind, payloads[i], strlen(payloads[i]));
        }
        /* a later version of a known kind may mean anything */
        uint8_t head[JOURNAL_RECORD_HEAD];
        static const char later[] = "{\"t_ns\":77777777777777,\"command_t_ns\":1}";
        record_head_put(head, kind, 2, later, sizeof later - 1);
        strbuf_add(&bytes, head, sizeof head);
        strbuf_add(&bytes, later, sizeof later - 1);
    }
    AUTO_RUN struct run *run = fold_bytes(&bytes, false, true);
    assert_all_valid(run);
    assert_quantity(run->wall, "= 9e-06 s"); /* nothing of it was read */
    assert_quantity(run->cpu, "= 5e-09 core.s");
}

/* The last lines of what was kept, standard error before standard output. */
static void keeps_the_last_lines(void **state) {
    (void)state;
    const struct line error = {JOURNAL_TEXT,
                               "{'channel':'stderr','offset':0,'why':'tail',"
                               "'text':'a\\n\\nb\\n3\\n4\\n5\\n6\\n7\\n8\\n9\\n10\\nKeyError\\n'}"};
    const struct line output = {JOURNAL_TEXT,
                                "{'channel':'stdout','offset':0,'why':'tail','text':'one line'}"};
    const struct line incident = {JOURNAL_TEXT,
                                  "{'channel':'stderr','offset':0,'why':'incident','text':'x'}"};
    const struct line end = {JOURNAL_END,
                             "{'t_ns':9000000000,'command_t_ns':9000000000,'exit_code':1}"};
    AUTO_RUN struct run *run =
        fold_lines("", (const struct line[]){error, output, incident, end, {0, NULL}}, false);
    assert_int_equal(run->tail_count, 10);
    assert_string_equal(run->tail[0], "b");
    assert_string_equal(run->tail[9], "KeyError");
    AUTO_RUN struct run *quiet =
        fold_lines("", (const struct line[]){output, incident, end, {0, NULL}}, false);
    assert_int_equal(quiet->tail_count, 1);
    assert_string_equal(quiet->tail[0], "one line");
}

/* Sharing saves time and memory and changes no value: the same as without, byte by byte. */
static void packages_are_shared_and_nothing_else_changes(void **state) {
    (void)state;
    static const char *const environments[] = {
        "{'a':1,'packages':[{'name':'x','version':'1'}],'z':[]}",
        "{'a':2,'packages':[{'name':'x','version':'1'}],'z':[]}",
        "{'a':3,'packages':[{'name':'y','version':'1'}]}",
        "{'a':4,'packages':[{'name':'y','version':'1'}]}",
        "{'packages':[]}",
        "{'packages':['] \\' }','\\\\'],'b':']'}",
        "{'in':{'packages':['n']},'packages':['o']}",
        "{'packages':['o'],'in':{'packages':['n']}}",
        "{'in':{'packages':['n']}}",
        "{'in':{'packages':['n']},'packages':null}",
        "{'in':{'packages':['n']},'packages':'packages of a neighbour'}",
        "{'text':'\\'packages\\':[1]'}",
        "{'packages':[1],'packages':[2]}", /* no JSON for us, with or without */
        "{'packages':[1}",
        "{'packages':[}]}",
        "{'packages':[{'a':1,'a':2}]}",
        "{'packages':[1,]}",
        "{'packages':['x",
        "{'packages':['x\\",
        "{'packages':",
        "{'packages':{'a':[1]}}",
        "{}",
    };
    struct fold_shared shared = {0};
    json_t *first = NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(environments); i++) {
        AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
        AUTO_STRBUF struct strbuf expected = STRBUF_INIT;
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        begin(&bytes, "");
        AUTO_FREE char *payload = mem_strdup(environments[i]);
        for (char *at = payload; *at != '\0'; at++)
            *at = *at == '\'' ? '"' : *at;
        add_bytes(&bytes, JOURNAL_ENVIRONMENT, payload, strlen(payload));
        AUTO_RUN struct run *alone = fold_bytes(&bytes, false, false);
        struct fold_input input = {.bytes = bytes.data, .length = bytes.length, .shared = &shared};
        AUTO_RUN struct run *run = NULL;
        struct err err = ERR_INIT;
        must(fold_run(&input, false, &run, &err), &err);
        json_add_compact(&expected, alone->environment);
        json_add_compact(&text, run->environment);
        assert_string_equal(strbuf_str(&text), strbuf_str(&expected));
        json_t *packages = json_object_get(run->environment, "packages");
        if (i == 0) {
            first = json_incref(packages);
            assert_non_null(first);
        }
        assert_int_equal(packages == first, i < 2);
    }
    fold_shared_done(&shared);
    assert_int_equal(json_array_size(first), 1); /* outlives what it came from */
    json_decref(first);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_last_lines),
        cmocka_unit_test(knows_who_it_is),
        cmocka_unit_test(refuses_what_is_no_run),
        cmocka_unit_test(classifies_by_incidents),
        cmocka_unit_test(verifies_only_what_was_expected_and_met),
        cmocka_unit_test(the_latest_event_wins),
        cmocka_unit_test(counts_work),
        cmocka_unit_test(keeps_results),
        cmocka_unit_test(results_out_of_files),
        cmocka_unit_test(tells_bad_marks_and_gaps),
        cmocka_unit_test(reads_series),
        cmocka_unit_test(folds_every_prefix),
        cmocka_unit_test(survives_garbage_in_any_key),
        cmocka_unit_test(survives_garbage_records),
        cmocka_unit_test(packages_are_shared_and_nothing_else_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
