/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cold or warm weights. */
#include "gpu-support.h"

#include "model/weights.h"

#define FILE_OF(agent, path, bytes, storage)                                           \
    "{'t_ns':1,'verb':'agent','name':'" agent "','data':{'event':'file','path':'" path \
    "','bytes':" bytes storage "}}"

/* read: io.read in MiB at 0.5, 1.5, 2.5 … s; the load phase is [0, 4). */
static struct run *cache_run(const char *start, const char *mark, const int64_t *read,
                             size_t count) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    AUTO_FREE int64_t *values = mem_alloc((count + 1) * sizeof *values);
    for (size_t i = 0; i < count; i++) {
        values[i] = read[i] << 20;
    }
    begin(&bytes, start);
    if (mark != NULL) {
        add(&bytes, JOURNAL_MARK, mark);
    }
    if (count > 0) {
        add_curve(&bytes, 1, "io.read", NULL, "counter", 1, 500, 1000, values, count);
    }
    add(&bytes, JOURNAL_COUNTERS, "{'t_ns':10000000000,'io':{'read':1073741824}}");
    add_phases_and_end(&bytes);
    return fold_bytes(&bytes, false, false);
}

#define READS(start, mark, ...)                            \
    cache_run(start, mark, (const int64_t[]){__VA_ARGS__}, \
              sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define HOOK_1000 FILE_OF("python-hook", "/w/model.safetensors", "1048576000", ",'storage':'ext4'")

static void cold_and_warm_and_neither(void **state) {
    (void)state;
    AUTO_RUN struct run *cold = READS("", HOOK_1000, 10, 400, 800, 990, 1000, 1000);
    assert_int_equal(cold->cache.weights, RUN_WEIGHTS_COLD);
    assert_quantity(cold->cache.loaded, ">= 1027604480 byte");
    assert_string_equal(cold->cache.why, "at least 98 % of the size of the weights were read from "
                                         "storage during load");
    assert_quantity(cold->cache.bytes, "= 1048576000 byte");
    assert_string_equal(cold->cache.storage, "ext4");
    AUTO_RUN struct run *warm = READS("", HOOK_1000, 1, 2, 3, 3, 3, 900);
    assert_int_equal(warm->cache.weights, RUN_WEIGHTS_WARM);
    assert_quantity(warm->cache.loaded, "<= 3145728 byte");
    AUTO_RUN struct run *part = READS("", HOOK_1000, 10, 100, 200, 290, 300, 900);
    assert_int_equal(part->cache.weights, RUN_WEIGHTS_UNKNOWN);
    assert_string_equal(part->cache.why,
                        "between 28 % and 30 % of the size of the weights were read from storage "
                        "during load: neither cold nor warm");
}

static void unknown_says_why(void **state) {
    (void)state;
    AUTO_RUN struct run *none = READS("", NULL, 1, 2, 3);
    assert_int_equal(none->cache.weights, RUN_WEIGHTS_UNKNOWN);
    assert_string_equal(none->cache.why, "no file of weights was seen or named (--input)");
    AUTO_RUN struct run *unread = cache_run("", HOOK_1000, (const int64_t[]){0}, 0);
    assert_string_equal(unread->cache.why, "what was read from storage is not known");
    AUTO_RUN struct run *fuse =
        READS("", FILE_OF("slow-reader", "/w/a.gguf", "1048576000", ",'storage':'fuse'"), 0, 0, 0,
              0, 0, 0);
    assert_string_equal(fuse->cache.why, "reads from fuse are not put down to the process");
    AUTO_RUN struct run *memory =
        READS("", FILE_OF("slow-reader", "/w/a.gguf", "1048576000", ",'storage':'tmpfs'"), 0);
    assert_int_equal(memory->cache.weights, RUN_WEIGHTS_WARM);
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    add(&bytes, JOURNAL_MARK, HOOK_1000);
    add(&bytes, JOURNAL_END, "{'t_ns':10000000000}");
    AUTO_RUN struct run *phaseless = fold_bytes(&bytes, false, false);
    assert_string_equal(phaseless->cache.why, "the load phase is not known");
}

/* The end's own account bounds what no tick lies behind. */
static void the_last_reading_closes_the_load(void **state) {
    (void)state;
    AUTO_RUN struct run *run = READS("", HOOK_1000, 1, 2, 3);
    assert_int_equal(run->cache.weights, RUN_WEIGHTS_UNKNOWN); /* at most 1024 MiB */
    assert_quantity(run->cache.loaded, "<= 1073741824 byte");
}

static void inputs_stand_in_for_what_nobody_saw(void **state) {
    (void)state;
    static const char inputs[] =
        ",'inputs':[{'path':'m.safetensors','bytes':1048576000,'kind':'file'},"
        "{'path':'data.csv','bytes':99999999999,'kind':'file'},"
        "{'path':'small.bin','bytes':100,'kind':'file'}]";
    AUTO_RUN struct run *run = READS(inputs, NULL, 10, 400, 800, 990, 1000);
    assert_int_equal(run->cache.weights, RUN_WEIGHTS_COLD);
    assert_int_equal(run->cache.file_count, 1);
    assert_string_equal(run->cache.files[0].source, "input");
    assert_null(run->cache.storage);
    AUTO_RUN struct run *seen = READS(inputs, HOOK_1000, 10, 400, 800, 990, 1000);
    assert_int_equal(seen->cache.file_count, 1); /* the hook knows what was loaded */
    assert_string_equal(seen->cache.files[0].source, "python-hook");
}

static void knows_weights_by_name(void **state) {
    (void)state;
    const int64_t large = INT64_C(16) << 20;
    assert_true(weights_is_file("/a/model-00001-of-00002.safetensors", 5));
    assert_true(weights_is_file("/a/MODEL.GGUF", -1));
    assert_true(weights_is_file("pytorch_model.bin", large));
    assert_false(weights_is_file("pytorch_model.bin", large - 1));
    assert_false(weights_is_file("pytorch_model.bin", -1));
    assert_false(weights_is_file(".pt", large));
    assert_false(weights_is_file("/a/data.csv", large));
    assert_true(weights_is_file(
        "/c/blobs/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", large));
    assert_false(weights_is_file(
        "/c/blobs/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 10));
    assert_false(weights_is_file(
        "/c/other/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", large));
    assert_false(weights_is_file(
        "/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", large));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cold_and_warm_and_neither),
        cmocka_unit_test(unknown_says_why),
        cmocka_unit_test(the_last_reading_closes_the_load),
        cmocka_unit_test(inputs_stand_in_for_what_nobody_saw),
        cmocka_unit_test(knows_weights_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
