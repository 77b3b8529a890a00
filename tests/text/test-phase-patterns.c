/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of common programs: what each says of loading and computing, however the stream was cut,
 * and that prose about them says nothing. */
#include "base/fd.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "text/pattern.h"
#include "text/phase-patterns.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct reading {
    struct phase_lines *lines;
    struct strbuf *out;
};

/* "vllm:load begin pid=77 32.5s@12 " with what is there of it. */
static void note(const struct phase_line *found, void *context) {
    static const char *const events[] = {"begin", "end", "told"};
    struct reading *reading = context;
    strbuf_printf(reading->out, "%s%s:%s %s%s%s", reading->out->length > 0 ? ", " : "",
                  found->stack, found->phase, events[found->event], found->goes_on ? "+" : "",
                  found->tentative ? "?" : "");
    if (found->rank[0] != '\0')
        strbuf_printf(reading->out, " %s", found->rank);
    if (found->seconds >= 0)
        strbuf_printf(reading->out, " %.9gs", found->seconds);
}

static void take(const char *line, size_t length, uint64_t offset, void *context) {
    struct reading *reading = context;
    (void)offset;
    assert_int_equal(strlen(line), length);
    phase_lines_take(reading->lines, line, note, reading);
}

static void read_in_steps(const char *bytes, size_t length, size_t step, struct strbuf *out) {
    struct reading reading = {phase_lines_new(), out};
    struct line_splitter *splitter = line_splitter_new(take, &reading);
    for (size_t at = 0; at < length; at += step)
        line_splitter_feed(splitter, bytes + at, length - at < step ? length - at : step);
    line_splitter_finish(splitter);
    line_splitter_free(splitter);
    phase_lines_free(reading.lines);
}

static void assert_says(const char *text, size_t length, const char *expected) {
    static const size_t steps[] = {1, 7, 4096};
    for (size_t i = 0; i < ARRAY_LENGTH(steps); i++) {
        AUTO_STRBUF struct strbuf got = STRBUF_INIT;
        read_in_steps(text, length, steps[i], &got);
        assert_string_equal(strbuf_str(&got), expected);
    }
}

static void reads_what_programs_print(void **state) {
    (void)state;
    static const struct {
        const char *text, *expected;
    } cases[] = {
        /* a bar of many states is two events; as carriage returns, as lines, and glued together */
        {"\rLoading checkpoint shards:   0%|          | 0/4 [00:00<?, ?it/s]"
         "\rLoading checkpoint shards:  25%|##5       | 1/4 [00:05<00:15,  5.0s/it]"
         "\rLoading checkpoint shards:  50%|#####     | 2/4 [00:11<00:11,  5.7s/it]"
         "\rLoading checkpoint shards: 100%|##########| 4/4 [00:20<00:00,  5.1s/it]\n",
         "transformers:load begin, transformers:load end"},
        {"Loading checkpoint shards:   0%|  | 0/2 [00:00<?, ?it/s]"
         "Loading checkpoint shards:  50%|# | 1/2 [00:00<?, ?it/s]"
         "Loading checkpoint shards: 100%|##| 2/2 [00:00<?, ?it/s]\n",
         "transformers:load begin, transformers:load end"},
        /* only its middle was seen; colours; a prefix of journald */
        {"\x1b[32mNov 18 14:15:02 host python3[28145]: Loading checkpoint shards:\x1b[0m  33%|#\n",
         "transformers:load begin+"},
        /* two models, one after the other; two ranks at once without names */
        {"Loading checkpoint shards: 0%|\nLoading checkpoint shards: 100%|\n"
         "Loading checkpoint shards: 0%|\nLoading checkpoint shards: 100%|\n",
         "transformers:load begin, transformers:load end, transformers:load begin, "
         "transformers:load end"},
        {"Loading checkpoint shards: 0%|\nLoading checkpoint shards: 100%|\n"
         "Loading checkpoint shards: 75%|\nLoading checkpoint shards: 100%|\n",
         "transformers:load begin, transformers:load end, transformers:load begin+, "
         "transformers:load end"},
        {"Loading pipeline components...:   0%|          | 0/7 [00:00<?, ?it/s]\n"
         "Loading checkpoint shards:   0%|  | 0/2 [00:00<?, ?it/s]\n"
         "Loading checkpoint shards: 100%|##| 2/2 [00:00<?, ?it/s]\n"
         "Loading pipeline components...: 100%|##########| 7/7 [00:09<00:00,  1.3s/it]\n",
         "diffusers:load begin, transformers:load begin, transformers:load end, "
         "diffusers:load end"},
        {"INFO 03-10 08:07:18 [gpu_model_runner.py:1060] Starting to load model org/m...\n"
         "Loading safetensors checkpoint shards:   0% Completed | 0/2 [00:00<?, ?it/s]\n"
         "Loading safetensors checkpoint shards: 100% Completed | 2/2 [00:01<00:00, 1it/s]\n"
         "INFO 03-10 08:07:20 [loader.py:429] Loading weights took 0.81 seconds\n"
         "INFO 03-10 08:07:20 [gpu_model_runner.py:1067] Model loading took 0.2389 GB and "
         "0.977005 seconds\n",
         "vllm:load begin, vllm:load end 0.977005s"},
        {"(Worker_TP0 pid=77) INFO 07-01 Model loading took 7.64 GiB and 32.969258 seconds\n"
         "(Worker_TP1 pid=78) INFO 07-01 Model loading took 7.64 GiB and 33.1 seconds\n",
         "vllm:load end pid=77 32.969258s, vllm:load end pid=78 33.1s"},
        {"INFO 01-02 Loading model weights took 14.9888 GB\n", "vllm:load end"},
        {"Processed prompts:   0%|  | 0/8 [00:00<?, ?it/s]\rProcessed prompts: 100%|##| 8/8\n",
         "vllm:compute begin, vllm:compute end"},
        {"[2025-06-01 10:00:00 TP1] Load weight begin. avail mem=78.58 GB\n"
         "[2025-06-01 10:00:00 DP0 TP0] Load weight begin. avail mem=78.58 GB\n"
         "[2025-06-01 10:00:09 TP1] Load weight end. type=LlamaForCausalLM, avail mem=63 GB\n"
         "[2025-06-01 10:00:10] Load weight end. type=LlamaForCausalLM\n",
         "sglang:load begin TP1, sglang:load begin DP0 TP0, sglang:load end TP1, sglang:load end"},
        {"[rank3]: Loading checkpoint shards: 0%|\n", "transformers:load begin rank3"},
        {"llama_model_loader: loaded meta data with 29 key-value pairs and 291 tensors\n"
         "llama_perf_context_print:        load time =    1234.56 ms\n",
         "llama.cpp:load begin?, llama.cpp:load told 1.23456s"},
        /* neither of these says anything */
        {"Loading checkpoint shards: done\nLoading checkpoint shards\n", ""},
        {"Loading checkpoint shards: 1000%|\nLoading checkpoint shards: -3%|\n", ""},
        {"Loading safetensors checkpoint shards: see the manual\n", ""},
        {"print(\"load time =\", t)\nload time = fast\nload time = 3 monkeys\n", ""},
        {"downloading the load of loads\n", ""},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++)
        assert_says(cases[i].text, strlen(cases[i].text), cases[i].expected);
}

/* Each row is reached, and only by a line that phase_lines_may_have lets pass. */
static void passes_each_row(void **state) {
    (void)state;
    for (size_t i = 0; i < phase_pattern_count; i++) {
        const struct phase_pattern *row = &phase_patterns[i];
        const char *value = strcmp(row->event, "bar") == 0 ? " 0%|" : " 5 s";
        AUTO_FREE char *line =
            mem_printf("%s%s%s%s", row->text, value, row->more != NULL ? row->more : "", " 5 s");
        AUTO_STRBUF struct strbuf got = STRBUF_INIT;
        assert_true(phase_lines_may_have(line, strlen(line)));
        read_in_steps(line, strlen(line), 4096, &got);
        AUTO_FREE char *expected = mem_printf("%s:%s ", row->stack, row->phase);
        assert_true(strncmp(strbuf_str(&got), expected, strlen(expected)) == 0);
    }
    assert_false(phase_lines_may_have("step 3, loss 0.5", 16));
}

static void is_bounded(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT, got = STRBUF_INIT;
    for (int i = 0; i < 20000; i++)
        strbuf_printf(&text, "(W pid=%d) Loading checkpoint shards: %d%%|\n", i % 3000,
                      i % 2 == 0 ? 0 : 100);
    read_in_steps(strbuf_str(&text), text.length, 65536, &got);
    size_t events = 0;
    for (const char *at = strbuf_str(&got); (at = strstr(at, "load ")) != NULL; at++)
        events++;
    assert_true(events > 0 && events <= 2000);
}

/* The samples of the field, each with what its .src says of it. */
static void reads_the_samples(void **state) {
    (void)state;
    static const struct {
        const char *name, *expected;
    } samples[] = {
        {"hf-shards.txt", "transformers:load begin, transformers:load end"},
        {"llamacpp-buffers.txt", ""},
        {"vllm-journald-russian.txt", ""},
        {"vllm-no-memory-word.txt", "vllm:load end 32.969258s"},
        {"vllm-v0-2025-03.txt", "vllm:load end 0.977005s"},
    };
    const char *shared = getenv("PROBELAUF_TEST_SHARED");
    size_t read = 0;
    for (size_t i = 0; shared != NULL && i < ARRAY_LENGTH(samples); i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        AUTO_FREE char *path = mem_printf("%s/samples/load-progress/%s", shared, samples[i].name);
        if (file_read(path, 1u << 20, &text) < 0)
            continue;
        assert_says(strbuf_str(&text), text.length, samples[i].expected);
        read++;
    }
    if (read == 0)
        skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_programs_print),
        cmocka_unit_test(passes_each_row),
        cmocka_unit_test(is_bounded),
        cmocka_unit_test(reads_the_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
