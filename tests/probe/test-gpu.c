/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs as the kernel's drivers show them: recorded machines, and what must not become a 0. */
#include "probe/probe.h"

#include "tree.h"

struct found {
    json_t *environment, *reasons;
    const json_t *gpu; /* borrowed; NULL: not there */
};

static void found_done(struct found *found) {
    json_decref(found->environment);
    json_decref(found->reasons);
}
#define AUTO_FOUND __attribute__((cleanup(found_done)))

static struct found look(const char *prefix) {
    struct found found = {.environment = json_object(), .reasons = json_object()};
    struct root root = {prefix};
    struct probe_context context = {.root = &root, .cwd = "/"};
    struct err err = ERR_INIT;
    assert_int_equal(probe_gpu.collect(&context, found.environment, found.reasons, &err), 0);
    found.gpu = json_get_object(found.environment, "gpu");
    /* either it is there, or there is a reason */
    assert_true((found.gpu != NULL) == (json_object_get(found.reasons, "gpu") == NULL));
    return found;
}

static struct found look_at(const char *machine) {
    AUTO_FREE char *prefix = mem_printf("%s/gpus/%s", getenv("PROBELAUF_TEST_FIXTURES"), machine);
    return look(prefix);
}

static int64_t count_of(const struct found *found) {
    assert_non_null(found->gpu);
    int64_t count = json_get_int(found->gpu, "count", -1);
    assert_int_equal(count, json_array_size(json_get_array(found->gpu, "devices")));
    return count;
}

static const char *of_device(const struct found *found, size_t index, const char *key) {
    return json_get_text(json_array_get(json_get_array(found->gpu, "devices"), index), key, NULL);
}

static const char *text(const struct found *found, const char *key) {
    return json_get_text(found->gpu, key, NULL);
}

static void no_gpu_is_a_count_of_0(void **state) {
    (void)state;
    AUTO_FOUND struct found found = look_at("none");
    assert_int_equal(count_of(&found), 0);
    assert_null(text(&found, "driver"));
    assert_string_equal(text(&found, "method"), "/proc/driver/nvidia, /sys/class/kfd");
}

static void one(void **state) {
    (void)state;
    AUTO_FOUND struct found found = look_at("one");
    assert_int_equal(count_of(&found), 1);
    assert_string_equal(of_device(&found, 0, "name"), "NVIDIA GeForce RTX 4090");
    assert_string_equal(of_device(&found, 0, "uuid"), "GPU-11111111-2222-3333-4444-555555555555");
    assert_string_equal(text(&found, "driver"), "550.54.15");
    assert_string_equal(text(&found, "method"), "/proc/driver/nvidia");
}

static void eight_in_the_order_of_their_addresses(void **state) {
    (void)state;
    AUTO_FOUND struct found found = look_at("eight");
    assert_int_equal(count_of(&found), 8);
    for (size_t i = 0; i < 8; i++) {
        AUTO_FREE char *uuid = mem_printf("GPU-0000000%zu-aaaa-bbbb-cccc-dddddddddddd", i);
        assert_string_equal(of_device(&found, i, "uuid"), uuid);
        assert_string_equal(of_device(&found, i, "name"), "NVIDIA H100 80GB HBM3");
    }
    assert_string_equal(text(&found, "driver"),
                        "570.86.15"); /* the open module words it otherwise */
}

static void two_models(void **state) {
    (void)state;
    AUTO_FOUND struct found found = look_at("two-models");
    assert_int_equal(count_of(&found), 2);
    assert_string_equal(of_device(&found, 0, "name"), "NVIDIA A100-PCIE-40GB");
    assert_string_equal(of_device(&found, 1, "name"), "NVIDIA T400 4GB");
}

static void what_the_driver_does_not_know_is_open(void **state) {
    (void)state;
    AUTO_FOUND struct found found = look_at("unused");
    assert_int_equal(count_of(&found), 1);
    assert_null(of_device(&found, 0, "name"));
    assert_null(of_device(&found, 0, "uuid"));
    assert_string_equal(text(&found, "driver"), "470.256.02");
}

static void amd(void **state) {
    (void)state;
    AUTO_FOUND struct found found = look_at("amd");
    assert_int_equal(count_of(&found), 2); /* node 0 is the processor; node 10 comes last */
    assert_string_equal(of_device(&found, 0, "name"), "AMD Instinct MI210");
    assert_string_equal(of_device(&found, 0, "uuid"), "GPU-81b280569d62cc29");
    assert_string_equal(of_device(&found, 1, "name"), "AMD gfx1100 0x744c");
    assert_null(of_device(&found, 1, "uuid"));
    assert_string_equal(text(&found, "driver"), "6.7.0");
    assert_string_equal(text(&found, "method"), "/sys/class/kfd");
}

static void says(const char *prefix, const char *words) {
    AUTO_FOUND struct found found = look(prefix);
    assert_null(found.gpu);
    const char *reason = json_get_text(found.reasons, "gpu", "");
    if (strstr(reason, words) == NULL) {
        fail_msg("'%s' does not say '%s'", reason, words);
    }
}

/* Whatever keeps us from looking is a reason, never a 0. */
static void what_cannot_be_seen_is_no_0(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    says(base, "/proc is not mounted");
    tree_write(base, "/proc/stat", "cpu\n");
    says(base, "/sys is not mounted");
    tree_write(base, "/sys/class/x", "");
    {
        AUTO_FOUND struct found found = look(base);
        assert_int_equal(count_of(&found), 0);
    }
    tree_write(base, "/sys/bus/pci/devices/0000:00:1f.0/vendor", "0x10de\n");
    tree_write(base, "/sys/bus/pci/devices/0000:00:1f.0/class", "0x040300\n"); /* its sound */
    tree_write(base, "/sys/bus/pci/devices/0000:03:00.0/vendor", "0x1a03\n");
    tree_write(base, "/sys/bus/pci/devices/0000:03:00.0/class", "0x030000\n"); /* not theirs */
    {
        AUTO_FOUND struct found found = look(base);
        assert_int_equal(count_of(&found), 0);
    }
    tree_write(base, "/sys/bus/pci/devices/0000:41:00.0/vendor", "0x10de\n");
    tree_write(base, "/sys/bus/pci/devices/0000:41:00.0/class", "0x030200\n");
    says(base, "its driver is not loaded");
    assert_int_equal(gpu_devices_look(&(struct root){base}), GPU_DEVICES_MAYBE);
    tree_write(base, "/dev/kfd", "");
    says(base, "NVIDIA board");
    tree_write(base, "/sys/bus/pci/devices/0000:41:00.0/vendor", "0x1002\n");
    says(base, "AMD device file");
    tree_write(base, "/dev/nvidia0", "");
    says(base, "NVIDIA device file");
    tree_write(base, "/dev/dxg", "");
    says(base, "WSL");
    tree_write(base, "/proc/driver/nvidia/version", "");
    says(base, "to their end"); /* the driver is there, its list is not */
}

static void an_unreadable_node_is_no_smaller_count(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    tree_write(base, "/proc/stat", "cpu\n");
    tree_write(base, "/sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n");
    {
        AUTO_FOUND struct found found = look(base);
        assert_int_equal(count_of(&found), 0);
    }
    tree_write(base, "/sys/class/kfd/kfd/topology/nodes/1/name", "x\n");
    says(base, "to their end");
}

static void drivers_without_devices(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    tree_write(base, "/proc/stat", "cpu\n");
    tree_write(base, "/sys/class/x", "");
    tree_write(base, "/dev/nvidiactl", "");
    tree_write(base, "/proc/driver/nvidia/version", "no version here 12 x86_64 1.\n");
    tree_write(base, "/proc/driver/nvidia/gpus/.hidden", "");
    AUTO_FOUND struct found found = look(base);
    assert_int_equal(count_of(&found), 0); /* its files were read: they show none */
    assert_null(text(&found, "driver"));
}

/* A machine without GPU has the fingerprint that it had before GPUs were looked at. */
static void the_fingerprint_has_a_gpu_only_where_there_is_one(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    static const char *const argv[] = {"/work/a.out"};
    struct probe_context context = {.root = &root, .cwd = "/work", .argv = argv, .argc = 1};
    AUTO_JSON json_t *unknown = probe_environment(&context);
    tree_write(base, "/proc/stat", "cpu0 0 0 0 0\n");
    AUTO_JSON json_t *proc = probe_environment(&context);
    assert_null(json_object_get(proc, "gpu"));
    tree_write(base, "/sys/class/x", "");
    AUTO_JSON json_t *none = probe_environment(&context);
    assert_int_equal(json_get_int(json_get_object(none, "gpu"), "count", -1), 0);
    assert_string_equal(json_get_text(none, "fingerprint", "a"),
                        json_get_text(proc, "fingerprint", "b"));
    const json_t *parts = json_get_object(none, "fingerprint_parts");
    assert_null(json_object_get(parts, "gpu"));
    assert_null(json_object_get(parts, "gpu_driver"));
    assert_int_equal(json_object_size(parts),
                     json_object_size(json_get_object(unknown, "fingerprint_parts")));

    tree_write(base, "/proc/driver/nvidia/version", "NVRM version: x 550.54.15 y\n");
    tree_write(base, "/proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t A\n");
    tree_write(base, "/proc/driver/nvidia/gpus/0000:02:00.0/information", "Model: \t B\n");
    tree_write(base, "/proc/driver/nvidia/gpus/0000:03:00.0/information", "Model: \t A\n");
    AUTO_JSON json_t *three = probe_environment(&context);
    parts = json_get_object(three, "fingerprint_parts");
    assert_string_equal(json_get_text(parts, "gpu", ""), "2x A; 1x B");
    assert_string_equal(json_get_text(parts, "gpu_driver", ""), "550");
    assert_string_not_equal(json_get_text(three, "fingerprint", ""),
                            json_get_text(none, "fingerprint", ""));
}

static void what_is_shown_decides_whether_a_library_is_asked(void **state) {
    (void)state;
    static const struct {
        const char *machine;
        enum gpu_devices_shown shown;
    } rows[] = {{"none", GPU_DEVICES_NONE},
                {"one", GPU_DEVICES_MAYBE},
                {"unused", GPU_DEVICES_MAYBE},
                {"amd", GPU_DEVICES_AMD}};
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        AUTO_FREE char *prefix =
            mem_printf("%s/gpus/%s", getenv("PROBELAUF_TEST_FIXTURES"), rows[i].machine);
        assert_int_equal(gpu_devices_look(&(struct root){prefix}), rows[i].shown);
    }
    /* where nothing can be seen there may be one */
    assert_int_equal(gpu_devices_look(&(struct root){"/nonexistent"}), GPU_DEVICES_MAYBE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_gpu_is_a_count_of_0),
        cmocka_unit_test(one),
        cmocka_unit_test(eight_in_the_order_of_their_addresses),
        cmocka_unit_test(two_models),
        cmocka_unit_test(what_the_driver_does_not_know_is_open),
        cmocka_unit_test(amd),
        cmocka_unit_test(what_cannot_be_seen_is_no_0),
        cmocka_unit_test(an_unreadable_node_is_no_smaller_count),
        cmocka_unit_test(drivers_without_devices),
        cmocka_unit_test(what_is_shown_decides_whether_a_library_is_asked),
        cmocka_unit_test(the_fingerprint_has_a_gpu_only_where_there_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
