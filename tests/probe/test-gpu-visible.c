/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which GPUs a command may use: forms of the variables that crash or mislead other tools, and that
 * what cannot be translated stays unknown. */
#include "../base/testing.h"

#include "probe/gpu-visible.h"

#include "base/mem.h"

#define BOARD(i, m, u, n)                                                                     \
    {                                                                                         \
        .parent = -1, .index = (i), .minor = (m), .gpu_instance = -1, .compute_instance = -1, \
        .uuid = (u), .name = (n), .allowed = -1                                               \
    }
#define DIVIDED(i, m, u, n)                                                               \
    {                                                                                     \
        .is_divided = true, .parent = -1, .index = (i), .minor = (m), .gpu_instance = -1, \
        .compute_instance = -1, .uuid = (u), .name = (n), .allowed = -1                   \
    }
#define SLICE(p, g, u)                                                                  \
    {                                                                                   \
        .is_slice = true, .parent = (p), .index = -1, .minor = -1, .gpu_instance = (g), \
        .compute_instance = 0, .uuid = (u), .name = "A100 1g.5gb", .allowed = -1        \
    }
#define AMD(i, u)                                                                    \
    {                                                                                \
        .is_amd = true, .parent = -1, .index = (i), .minor = -1, .gpu_instance = -1, \
        .compute_instance = -1, .uuid = (u), .name = "MI300X", .allowed = -1         \
    }

/* minor != index */
static const struct gpu_visible_device same[] = {
    BOARD(0, 3, "GPU-aaaa1111-0", "H200"), BOARD(1, 2, "GPU-aaaa2222-0", "H200"),
    BOARD(2, 1, "GPU-bbbb3333-0", "H200"), BOARD(3, 0, "GPU-cccc4444-0", "H200")};
static const struct gpu_visible_device mixed[] = {
    BOARD(0, 0, "GPU-1111", "T4"), BOARD(1, 1, "GPU-2222", "H100"), BOARD(2, 2, "GPU-3333", "T4")};
static const struct gpu_visible_device nameless[] = {BOARD(0, 0, "GPU-1111", NULL),
                                                     BOARD(1, 1, "GPU-2222", "")};
static const struct gpu_visible_device sliced[] = {DIVIDED(0, 0, "GPU-1111", "A100"),
                                                   SLICE(0, 3, "MIG-aaaa"), SLICE(0, 5, "MIG-abbb"),
                                                   BOARD(1, 1, "GPU-2222", "A100")};
static const struct gpu_visible_device one_slice[] = {DIVIDED(0, 0, "GPU-1111", "A100"),
                                                      SLICE(0, 3, "MIG-aaaa")};
static const struct gpu_visible_device single[] = {BOARD(0, 0, "GPU-1111", "GB10")};
static const struct gpu_visible_device amd[] = {AMD(0, "GPU-a1"), AMD(1, "GPU-b2"),
                                                AMD(2, "GPU-c3")};

#define SET(devices) (devices), ARRAY_LENGTH(devices)
struct row {
    const char *expected; /* a letter a device: y, n, ? */
    const char *by;       /* of the first device that is y, else of the first n; NULL: not looked */
    const struct gpu_visible_device *devices;
    size_t count;
    struct gpu_visible_variables variables;
    const char *option[4];
};

static const struct row rows[] = {
    /* nothing set */
    {"????", NULL, SET(same), {0}, {0}},
    {"y", "only one", SET(single), {0}, {0}},
    {"n???", NULL, SET(sliced), {0}, {0}},
    {"ny", "only one", SET(one_slice), {0}, {0}},
    /* CUDA_VISIBLE_DEVICES: numbers */
    {"ynnn", "CUDA_VISIBLE_DEVICES", SET(same), {.cuda_visible = "0"}, {0}},
    {"nyny", "CUDA_VISIBLE_DEVICES", SET(same), {.cuda_visible = "3,1"}, {0}},
    {"nyny", NULL, SET(same), {.cuda_visible = " 1 , 3"}, {0}},
    {"yyyy", NULL, SET(same), {.cuda_visible = "0,1,2,3"}, {0}},
    {"nnnn", "CUDA_VISIBLE_DEVICES", SET(same), {.cuda_visible = ""}, {0}},
    {"nnnn", NULL, SET(same), {.cuda_visible = "-1"}, {0}},
    {"nnnn", NULL, SET(same), {.cuda_visible = "NoDevFiles"}, {0}},
    {"nnnn", NULL, SET(same), {.cuda_visible = "none"}, {0}},
    {"nnnn", NULL, SET(same), {.cuda_visible = "4"}, {0}},
    {"nnnn", NULL, SET(same), {.cuda_visible = "99999999999999999999"}, {0}},
    {"nnnn", NULL, SET(same), {.cuda_visible = ",0"}, {0}},
    {"ynnn", NULL, SET(same), {.cuda_visible = "0,-1,2"}, {0}},
    {"ynnn", NULL, SET(same), {.cuda_visible = "0,9,2"}, {0}},
    {"ynnn", NULL, SET(same), {.cuda_visible = "0,x,2"}, {0}},
    {"ynnn", NULL, SET(same), {.cuda_visible = "0,,2"}, {0}},
    {"ynnn", NULL, SET(same), {.cuda_visible = "0,"}, {0}},
    {"nyyn", NULL, SET(same), {.cuda_visible = "1gpu,2"}, {0}},
    {"nnnn", "CUDA_VISIBLE_DEVICES", SET(same), {.cuda_visible = "1,1"}, {0}},
    {"n", NULL, SET(single), {.cuda_visible = "1"}, {0}},
    {"y", NULL, SET(single), {.cuda_visible = "0"}, {0}},
    /* CUDA_DEVICE_ORDER: which is the fastest only CUDA knows */
    {"???", NULL, SET(mixed), {.cuda_visible = "0"}, {0}},
    {"???", NULL, SET(mixed), {.cuda_visible = "0", .cuda_order = "FASTEST_FIRST"}, {0}},
    {"nyn", NULL, SET(mixed), {.cuda_visible = "1", .cuda_order = "PCI_BUS_ID"}, {0}},
    {"yyy", NULL, SET(mixed), {.cuda_visible = "2,0,1"}, {0}},
    {"nnn", NULL, SET(mixed), {.cuda_visible = "-1"}, {0}},
    {"nnn", NULL, SET(mixed), {.cuda_visible = "7"}, {0}},
    {"nnn", NULL, SET(mixed), {.cuda_visible = "0,0"}, {0}},
    {"??", NULL, SET(nameless), {.cuda_visible = "0"}, {0}},
    {"yn", NULL, SET(nameless), {.cuda_visible = "0", .cuda_order = "PCI_BUS_ID"}, {0}},
    /* CUDA_VISIBLE_DEVICES: names */
    {"nnyn", NULL, SET(same), {.cuda_visible = "GPU-bbbb3333-0"}, {0}},
    {"nnyn", NULL, SET(same), {.cuda_visible = "GPU-b"}, {0}},
    {"nnnn", NULL, SET(same), {.cuda_visible = "GPU-aaaa"}, {0}},
    {"ynnn", NULL, SET(same), {.cuda_visible = "GPU-aaaa1"}, {0}},
    {"nnnn", NULL, SET(same), {.cuda_visible = "GPU-"}, {0}},
    {"nnnn", NULL, SET(same), {.cuda_visible = "gpu-bbbb3333-0"}, {0}},
    {"ynny", NULL, SET(same), {.cuda_visible = "GPU-c,GPU-aaaa1"}, {0}},
    {"nnny", NULL, SET(same), {.cuda_visible = "GPU-c,GPU-zzzz,GPU-b"}, {0}},
    {"nnnn", NULL, SET(same), {.cuda_visible = "GPU-c,GPU-c"}, {0}},
    {"????", NULL, SET(same), {.cuda_visible = "0,GPU-c"}, {0}},
    {"nyn", NULL, SET(mixed), {.cuda_visible = "GPU-2222"}, {0}},
    /* MIG */
    {"nynn", "CUDA_VISIBLE_DEVICES", SET(sliced), {.cuda_visible = "MIG-aaaa"}, {0}},
    {"nnnn", NULL, SET(sliced), {.cuda_visible = "MIG-a"}, {0}},
    {"nnyn", NULL, SET(sliced), {.cuda_visible = "MIG-GPU-1111/5/0"}, {0}},
    {"nnnn", NULL, SET(sliced), {.cuda_visible = "MIG-GPU-1111/5/1"}, {0}},
    {"nnnn", NULL, SET(sliced), {.cuda_visible = "MIG-GPU-1111/5"}, {0}},
    {"nnnn", NULL, SET(sliced), {.cuda_visible = "MIG-GPU-9999/5/0"}, {0}},
    {"nnnn", NULL, SET(sliced), {.cuda_visible = "MIG-GPU-1111/x/0"}, {0}},
    {"n??n", NULL, SET(sliced), {.cuda_visible = "0"}, {0}},
    {"n??n", NULL, SET(sliced), {.cuda_visible = "GPU-1111"}, {0}},
    {"nnny", NULL, SET(sliced), {.cuda_visible = "1"}, {0}},
    {"ny", NULL, SET(one_slice), {.cuda_visible = "0"}, {0}},
    /* the container runtime's */
    {"????", NULL, SET(same), {.nvidia_visible = "all"}, {0}},
    {"????", NULL, SET(same), {.nvidia_visible = "void"}, {0}},
    {"????", NULL, SET(same), {.nvidia_visible = ""}, {0}},
    {"nnnn", "NVIDIA_VISIBLE_DEVICES", SET(same), {.nvidia_visible = "none"}, {0}},
    {"nnyn", "NVIDIA_VISIBLE_DEVICES", SET(same), {.nvidia_visible = "GPU-bbbb3333-0"}, {0}},
    {"yyyy", NULL, SET(same), {.nvidia_visible = "4,5,6,7"}, {0}},
    {"????", NULL, SET(same), {.nvidia_visible = "1,2"}, {0}},
    {"nynn", NULL, SET(sliced), {.nvidia_visible = "MIG-aaaa"}, {0}},
    {"ynnn",
     "CUDA_VISIBLE_DEVICES",
     SET(same),
     {.cuda_visible = "0", .nvidia_visible = "0,1,2,3"},
     {0}},
    /* Slurm's numbers are minor numbers */
    {"nnny", "SLURM_JOB_GPUS", SET(same), {.slurm_job = "0"}, {0}},
    {"nyyy", NULL, SET(same), {.slurm_job = "0-2"}, {0}},
    {"ynny", NULL, SET(same), {.slurm_job = "0,3"}, {0}},
    {"nnyn", "SLURM_STEP_GPUS", SET(same), {.slurm_step = "1", .slurm_job = "0-3"}, {0}},
    {"????", NULL, SET(same), {.slurm_job = "5"}, {0}},
    {"yyyy", NULL, SET(same), {.slurm_job = "4-7"}, {0}},
    {"????", NULL, SET(same), {.slurm_job = "gpu:a100:2"}, {0}},
    {"????", NULL, SET(same), {.slurm_job = "3-0"}, {0}},
    {"n???", NULL, SET(sliced), {.slurm_job = "1"}, {0}},
    {"??n", NULL, SET(mixed), {.cuda_visible = "0", .slurm_job = "0,1"}, {0}},
    /* AMD: HIP counts what ROCR leaves; NVIDIA's container variable says nothing */
    {"nyn", "ROCR_VISIBLE_DEVICES", SET(amd), {.rocr_visible = "1"}, {0}},
    {"nny", NULL, SET(amd), {.rocr_visible = "GPU-c3"}, {0}},
    {"nyn", "HIP_VISIBLE_DEVICES", SET(amd), {.hip_visible = "1"}, {0}},
    {"nny", "HIP_VISIBLE_DEVICES", SET(amd), {.rocr_visible = "1,2", .hip_visible = "1"}, {0}},
    {"nyn", NULL, SET(amd), {.rocr_visible = "2,1", .hip_visible = "1"}, {0}},
    {"ynn", "CUDA_VISIBLE_DEVICES", SET(amd), {.cuda_visible = "0"}, {0}},
    {"nny", NULL, SET(amd), {.cuda_visible = "0", .hip_visible = "2"}, {0}},
    {"???", NULL, SET(amd), {.nvidia_visible = "none"}, {0}},
    {"nnn", NULL, SET(amd), {.hip_visible = "-1"}, {0}},
    /* the option goes before all variables */
    {"yyyy", "--gpu", SET(same), {.cuda_visible = "0"}, {"all"}},
    {"nnnn", "--gpu", SET(same), {.cuda_visible = "0"}, {"none"}},
    {"nynn", "--gpu", SET(same), {.cuda_visible = "0"}, {"1"}},
    {"ynyn", "--gpu", SET(same), {0}, {"GPU-b", "0"}},
    {"????", NULL, SET(same), {0}, {"GPU-zz"}},
    {"????", NULL, SET(same), {0}, {"99"}},
    {"y???", "--gpu", SET(same), {0}, {"0", "99"}},
    {"nyyn", "--gpu", SET(sliced), {0}, {"0"}},
    {"nnyn", "--gpu", SET(sliced), {0}, {"MIG-abbb"}},
    {"nyn", "--gpu", SET(mixed), {0}, {"1"}},
};

static void every_form(void **state) {
    (void)state;
    for (size_t r = 0; r < ARRAY_LENGTH(rows); r++) {
        const struct row *row = &rows[r];
        struct gpu_visible_verdict verdicts[8];
        char found[9] = "";
        const char *by = NULL;
        gpu_visible(row->devices, row->count, &row->variables,
                    row->option[0] != NULL ? row->option : NULL, verdicts);
        for (size_t i = 0; i < row->count; i++)
            found[i] = "?yn"[verdicts[i].mine];
        const char *first = strchr(found, 'y') != NULL ? strchr(found, 'y') : strchr(found, 'n');
        if (first != NULL)
            by = verdicts[first - found].by;
        if (strcmp(found, row->expected) != 0 ||
            (row->by != NULL && (by == NULL || strcmp(by, row->by) != 0)))
            fail_msg("row %zu (%s): %s by %s, not %s by %s", r,
                     row->variables.cuda_visible != NULL ? row->variables.cuda_visible : "-", found,
                     by != NULL ? by : "nothing", row->expected,
                     row->by != NULL ? row->by : "anything");
        for (size_t i = 0; i < row->count; i++)
            assert_true((verdicts[i].mine == GPU_MINE_UNKNOWN && row->option[0] == NULL) ==
                        (verdicts[i].by == NULL));
    }
}

static void names_stand_for_one_or_none_or_several(void **state) {
    (void)state;
    static const struct gpu_visible_device boards[] = {
        {.parent = -1, .index = 0, .uuid = "GPU-ab00", .allowed = -1},
        {.parent = -1, .index = 1, .uuid = "GPU-ab01", .allowed = -1},
        {.is_slice = true, .parent = 1, .index = 0, .uuid = "MIG-c", .allowed = -1},
    };
    assert_int_equal(gpu_visible_named(boards, 3, "1"), GPU_NAMED_ONE);
    assert_int_equal(gpu_visible_named(boards, 3, "GPU-ab01"), GPU_NAMED_ONE);
    assert_int_equal(gpu_visible_named(boards, 3, "MIG-"), GPU_NAMED_NONE);
    assert_int_equal(gpu_visible_named(boards, 3, "MIG-c"), GPU_NAMED_ONE);
    assert_int_equal(gpu_visible_named(boards, 3, "GPU-ab"), GPU_NAMED_SEVERAL);
    assert_int_equal(gpu_visible_named(boards, 3, "GPU-ab02"), GPU_NAMED_NONE);
    assert_int_equal(gpu_visible_named(boards, 3, "2"), GPU_NAMED_NONE);
    assert_int_equal(gpu_visible_named(boards, 0, "0"), GPU_NAMED_NONE);
    assert_int_equal(gpu_visible_named(boards, 3, "all"), GPU_NAMED_ONE);
    /* of an ambiguous name only those that have it are in question */
    static const char *const option[] = {"GPU-ab", NULL};
    struct gpu_visible_verdict verdicts[3];
    gpu_visible(boards, 3, &(struct gpu_visible_variables){0}, option, verdicts);
    assert_int_equal(verdicts[0].mine, GPU_MINE_UNKNOWN);
    assert_string_equal(verdicts[0].by, "--gpu");
    assert_int_equal(verdicts[1].mine, GPU_MINE_UNKNOWN);
    assert_int_equal(verdicts[2].mine, GPU_MINE_NO);
}

static void what_the_group_forbids_is_not_counted(void **state) {
    (void)state;
    struct gpu_visible_device devices[4];
    struct gpu_visible_verdict verdicts[4];
    struct gpu_visible_variables variables = {.cuda_visible = "0"};
    memcpy(devices, same, sizeof devices);
    devices[0].allowed = devices[3].allowed = 0;
    devices[1].allowed = devices[2].allowed = 1;
    gpu_visible(devices, 4, &variables, NULL, verdicts);
    assert_int_equal(verdicts[0].mine, GPU_MINE_NO);
    assert_string_equal(verdicts[0].by, "control group");
    assert_int_equal(verdicts[1].mine, GPU_MINE_YES); /* CUDA's 0 */
    assert_int_equal(verdicts[2].mine, GPU_MINE_NO);
    devices[2].allowed = 0;
    variables.cuda_visible = NULL;
    gpu_visible(devices, 4, &variables, NULL, verdicts);
    assert_int_equal(verdicts[1].mine, GPU_MINE_YES);
    assert_string_equal(verdicts[1].by, "only one");
}

static void lists_of_the_group(void **state) {
    (void)state;
    static const char list[] = "c 1:3 rwm\nc 195:2 rw\nb 195:1 rwm\nc 195:0 m\nc 226:0 rwm\n";
    assert_true(gpu_visible_allows(list, 2));
    assert_false(gpu_visible_allows(list, 0));
    assert_false(gpu_visible_allows(list, 1));
    assert_false(gpu_visible_allows(list, 3));
    assert_true(gpu_visible_allows("a *:* rwm\n", 7));
    assert_true(gpu_visible_allows("c 195:* rwm", 7));
    assert_true(gpu_visible_allows("c *:* rwm", 7));
    assert_false(gpu_visible_allows("c *:* m\nc 136:* rwm\n", 7));
    assert_false(gpu_visible_allows("", 0));
    assert_false(gpu_visible_allows("c 195\ngarbage\n\n", 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form),
        cmocka_unit_test(names_stand_for_one_or_none_or_several),
        cmocka_unit_test(what_the_group_forbids_is_not_counted),
        cmocka_unit_test(lists_of_the_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
