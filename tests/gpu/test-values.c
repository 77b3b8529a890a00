/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which answers of a driver become numbers, and which reasons. */
#include "gpu/nvml-abi.h"
#include "gpu/values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void codes_become_reasons(void **state) {
    (void)state;
    assert_int_equal(gpu_why_of_code(NVML_SUCCESS), GPU_READ);
    assert_int_equal(gpu_why_of_code(NVML_NOT_SUPPORTED), GPU_NOT_SUPPORTED);
    assert_int_equal(gpu_why_of_code(NVML_NO_PERMISSION), GPU_NOT_PERMITTED);
    assert_int_equal(gpu_why_of_code(NVML_FUNCTION_NOT_FOUND), GPU_NOT_IN_LIBRARY);
    assert_int_equal(gpu_why_of_code(NVML_GPU_IS_LOST), GPU_LOST);
    assert_int_equal(gpu_why_of_code(NVML_RESET_REQUIRED), GPU_LOST);
    assert_int_equal(gpu_why_of_code(NVML_LIB_RM_VERSION_MISMATCH), GPU_DRIVER_MISMATCH);
    assert_int_equal(gpu_why_of_code(NVML_UNKNOWN), GPU_FAILED);
    /* a code of a later driver, or none at all */
    assert_int_equal(gpu_why_of_code(4711), GPU_FAILED);
    assert_int_equal(gpu_why_of_code(-1), GPU_FAILED);
}

static void blanks_are_no_values(void **state) {
    (void)state;
    const uint64_t blanks[] = {UINT64_MAX,  UINT64_MAX - 15, UINT32_MAX, 0xfffffff0u,
                               0x7fffffffu, 0x7ffffff0u,     INT64_MAX,  INT64_MAX - 1};
    for (size_t i = 0; i < sizeof blanks / sizeof blanks[0]; i++) {
        assert_true(gpu_is_blank(blanks[i]));
    }
    const uint64_t values[] = {0, 1, 0x7fffffef, 0xffffffef, 0x80000000u, (uint64_t)1 << 40};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        assert_false(gpu_is_blank(values[i]));
    }
}

static void what_is_too_much_is_absent(void **state) {
    (void)state;
    enum gpu_why why = GPU_READ;
    assert_int_equal(gpu_checked(3000000, GPU_POWER_BELIEVED, &why), 3000000);
    assert_int_equal(why, GPU_READ);
    assert_int_equal(gpu_checked(3000001, GPU_POWER_BELIEVED, &why), GPU_ABSENT);
    assert_int_equal(why, GPU_SENTINEL);
    /* a reason stays, whatever stands in the variable */
    why = GPU_NOT_SUPPORTED;
    assert_int_equal(gpu_checked(0, GPU_POWER_BELIEVED, &why), GPU_ABSENT);
    assert_int_equal(why, GPU_NOT_SUPPORTED);
}

static void memory_that_cannot_be(void **state) {
    (void)state;
    const uint64_t gib = (uint64_t)1 << 30;
    assert_int_equal(gpu_memory_check(80 * gib, 0), GPU_READ);
    assert_int_equal(gpu_memory_check(80 * gib, 80 * gib), GPU_READ);
    assert_int_equal(gpu_memory_check(80 * gib, 80 * gib + 1), GPU_SENTINEL);
    assert_int_equal(gpu_memory_check(0, 0), GPU_SENTINEL);
    /* what WSL shows as 17179869184 GiB */
    assert_int_equal(gpu_memory_check(UINT64_MAX, 5 * gib), GPU_SENTINEL);
    assert_int_equal(gpu_memory_check(80 * gib, UINT64_MAX), GPU_SENTINEL);
}

static void integrated_by_name(void **state) {
    (void)state;
    assert_true(gpu_name_is_integrated("NVIDIA GB10"));
    assert_true(gpu_name_is_integrated("Orin (nvgpu)"));
    assert_true(gpu_name_is_integrated("NVIDIA Thor"));
    assert_false(gpu_name_is_integrated("NVIDIA GB100"));
    assert_false(gpu_name_is_integrated("NVIDIA GH200 480GB"));
    assert_false(gpu_name_is_integrated("NVIDIA H200"));
    assert_false(gpu_name_is_integrated(""));
}

static void lengths_of_entries(void **state) {
    (void)state;
    unsigned char room[256];
    const unsigned lengths[] = {16, 24, 32};
    for (size_t i = 0; i < 3; i++) {
        for (unsigned count = 1; count <= 4; count++) {
            memset(room, GPU_ROOM_FILL, sizeof room);
            memset(room, 0, (size_t)count * lengths[i]);
            assert_int_equal(gpu_entry_bytes(room, sizeof room, count), lengths[i]);
        }
    }
    memset(room, GPU_ROOM_FILL, sizeof room);
    assert_int_equal(gpu_entry_bytes(room, sizeof room, 2), 0);
    memset(room, 0, 40);
    assert_int_equal(gpu_entry_bytes(room, sizeof room, 2), 0);
    memset(room, 0, sizeof room);
    assert_int_equal(gpu_entry_bytes(room, sizeof room, 2), 0);
}

static void time_stamps(void **state) {
    (void)state;
    /* up for 5000 s, of them 1000 suspended */
    const struct gpu_now now = {
        .real_ns = 1700000000000000000, .boot_ns = 5000000000000, .mono_ns = 4000000000000};
    const uint64_t real_us = 1700000000000000, boot_us = 5000000000, mono_us = 4000000000;
    const uint64_t clocks[] = {real_us, boot_us, mono_us};
    int64_t end = -1;
    for (size_t i = 0; i < 3; i++) {
        assert_true(gpu_window_end(clocks[i] - 250000, &now, &end));
        assert_int_equal(end, now.mono_ns - 250000000);
        assert_true(gpu_window_end(clocks[i] + 1000, &now, &end));
        assert_int_equal(end, now.mono_ns + 1000000);
    }
    end = -1;
    assert_false(gpu_window_end(0, &now, &end));
    assert_false(gpu_window_end(1, &now, &end));
    assert_false(gpu_window_end(UINT64_MAX, &now, &end));
    assert_false(gpu_window_end(real_us - 3601000000, &now, &end));
    assert_false(gpu_window_end(real_us + 6000000, &now, &end));
    assert_false(gpu_window_end(boot_us + 6000000, &now, &end));
    assert_int_equal(end, -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_become_reasons),       cmocka_unit_test(blanks_are_no_values),
        cmocka_unit_test(what_is_too_much_is_absent), cmocka_unit_test(memory_that_cannot_be),
        cmocka_unit_test(integrated_by_name),         cmocka_unit_test(time_stamps),
        cmocka_unit_test(lengths_of_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
