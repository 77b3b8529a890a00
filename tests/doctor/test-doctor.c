/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Judgements on machines that are written down here: what is said of each, and what is not. */
#include "doctor/doctor.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct machine {
    struct doctor_input input;
    struct arena *arena;
    struct doctor_findings findings;
};

static void machine_done(struct machine *machine) {
    json_decref(machine->input.environment);
    json_decref(machine->input.library);
    json_decref(machine->input.devices);
    json_decref(machine->input.wheels);
    machine->arena = arena_free(machine->arena);
}
#define AUTO_MACHINE __attribute__((cleanup(machine_done)))

static json_t *parsed(const char *text) {
    if (text == NULL)
        return NULL;
    char why[160];
    json_t *json = json_parse(text, strlen(text), why);
    assert_non_null(json);
    return json;
}

static struct machine machine_of(const char *environment, const char *library, const char *devices,
                                 const char *wheels) {
    struct machine machine = {.arena = arena_new(),
                              .input = {.environment = parsed(environment),
                                        .library = parsed(library),
                                        .devices = parsed(devices),
                                        .wheels = parsed(wheels),
                                        .wheels_complete = true,
                                        .clock.synchronized = 1}};
    return machine;
}

static const struct doctor_finding *find(struct machine *machine, const char *id) {
    if (machine->findings.count == 0)
        doctor_judge(&machine->input, machine->arena, &machine->findings);
    for (size_t i = 0; i < machine->findings.count; i++)
        if (strcmp(machine->findings.items[i].id, id) == 0)
            return &machine->findings.items[i];
    return NULL;
}

static void assert_found(struct machine *machine, const char *id, enum doctor_state state,
                         const char *part) {
    const struct doctor_finding *finding = find(machine, id);
    if (finding == NULL || finding->state != state || strstr(finding->text, part) == NULL) {
        for (size_t i = 0; i < machine->findings.count; i++)
            print_message("%s %s: %s\n", machine->findings.items[i].id,
                          doctor_state_name(machine->findings.items[i].state),
                          machine->findings.items[i].text);
        fail_msg("no finding '%s' %s with '%s'", id, doctor_state_name(state), part);
    }
}

#define H200                                                                                \
    "[{\"device\":0,\"kind\":\"gpu\",\"index\":0,\"name\":\"NVIDIA H200\",\"total_bytes\":" \
    "150754820096,\"compute_capability\":\"9.0\"}]"
#define READY "{\"state\":\"ready\",\"driver\":\"550.54.15\",\"cuda\":\"12.4\"}"
#define WHEEL(machine_archs, ptx, complete)                                   \
    "[{\"package\":\"torch\",\"version\":\"2.5.1+cu124\",\"interpreter\":\"/" \
    "v\",\"file\":\"x.so\","                                                  \
    "\"machine\":" machine_archs ",\"ptx\":" ptx ",\"complete\":" complete "}]"

static void kernels_for_the_device(void **state) {
    (void)state;
    static const struct {
        const char *wheel, *id;
        enum doctor_state state;
    } cases[] = {
        {WHEEL("[80,90]", "[]", "true"), "cuda-kernels", DOCTOR_KNOWN},
        {WHEEL("[75,80,86]", "[]", "true"), "cuda-no-kernels", DOCTOR_PROBLEM},
        {WHEEL("[75,80]", "[80]", "true"), "cuda-ptx", DOCTOR_WARNING},
        {WHEEL("[75,80]", "[]", "false"), "cuda-open", DOCTOR_OPEN},
        {WHEEL("[100,120]", "[100]", "true"), "cuda-no-kernels", DOCTOR_PROBLEM},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_MACHINE struct machine machine = machine_of("{}", READY, H200, cases[i].wheel);
        assert_found(&machine, cases[i].id, cases[i].state, "torch 2.5.1+cu124");
    }
}

/* One shared object of a package is enough: others may be for other devices. */
static void several_objects_of_a_package(void **state) {
    (void)state;
    AUTO_MACHINE struct machine machine = machine_of(
        "{}", READY, H200,
        "[{\"package\":\"vllm\",\"version\":\"0.8\",\"interpreter\":\"/v\",\"machine\":[80],"
        "\"ptx\":[],\"complete\":true},{\"package\":\"vllm\",\"version\":\"0.8\",\"interpreter\":"
        "\"/v\",\"machine\":[90],\"ptx\":[],\"complete\":true}]");
    assert_found(&machine, "cuda-kernels", DOCTOR_KNOWN, "sm_80, sm_90");
    assert_null(find(&machine, "cuda-no-kernels"));
}

/* An object that could not be read may hold what is missing; a package of such objects alone is
 * none with CUDA code. */
static void objects_that_cannot_be_read(void **state) {
    (void)state;
    AUTO_MACHINE struct machine machine = machine_of(
        "{}", READY, H200,
        "[{\"package\":\"numpy\",\"interpreter\":\"/v\",\"machine\":[],\"ptx\":[],"
        "\"complete\":false},{\"package\":\"torch\",\"interpreter\":\"/v\",\"machine\":[],\"ptx\":"
        "[],\"complete\":false},{\"package\":\"torch\",\"interpreter\":\"/v\",\"machine\":[50],"
        "\"ptx\":[],\"complete\":true}]");
    assert_found(&machine, "cuda-open", DOCTOR_OPEN, "torch");
    assert_null(find(&machine, "cuda-no-kernels"));
    size_t count = 0;
    for (size_t i = 0; i < machine.findings.count; i++)
        count += machine.findings.items[i].topic == DOCTOR_CUDA;
    assert_int_equal(count, 1);
}

static void toolkit_and_driver(void **state) {
    (void)state;
    static const struct {
        const char *version, *id;
        enum doctor_state state;
    } cases[] = {
        {"2.5.1+cu124", "cuda-version", DOCTOR_KNOWN},
        {"2.0.1+cu118", "cuda-version", DOCTOR_KNOWN},
        {"2.7.0+cu128", "cuda-newer-minor", DOCTOR_WARNING},
        {"2.9.0+cu130", "cuda-driver-too-old", DOCTOR_PROBLEM},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        char environment[128];
        (void)snprintf(environment, sizeof environment,
                       "{\"packages\":[{\"name\":\"torch\",\"version\":\"%s\"}]}",
                       cases[i].version);
        AUTO_MACHINE struct machine machine = machine_of(environment, READY, H200, "[]");
        assert_found(&machine, cases[i].id, cases[i].state, cases[i].version);
    }
    AUTO_MACHINE struct machine machine =
        machine_of("{\"packages\":[{\"name\":\"x\",\"version\":\"1.0+cu\"},{\"name\":\"y\","
                   "\"version\":\"1.0\"}]}",
                   READY, H200, "[]");
    assert_null(find(&machine, "cuda-version"));
}

static void library_states(void **state) {
    (void)state;
    static const struct {
        const char *library, *environment, *id;
        enum doctor_state state;
    } cases[] = {
        {"{\"state\":\"no-driver\"}", "{}", "gpu-no-driver", DOCTOR_PROBLEM},
        {"{\"state\":\"mismatch\"}", "{}", "gpu-driver-mismatch", DOCTOR_PROBLEM},
        {"{\"state\":\"no-permission\"}", "{}", "gpu-no-permission", DOCTOR_PROBLEM},
        {"{\"state\":\"unusable\"}", "{}", "gpu-library-unusable", DOCTOR_PROBLEM},
        {"{\"state\":\"absent\"}", "{\"gpu\":{\"count\":0}}", "gpu-none", DOCTOR_KNOWN},
        {"{\"state\":\"absent\"}", "{\"gpu\":{\"count\":2}}", "gpu-no-library", DOCTOR_WARNING},
        {"{\"state\":\"absent\"}", "{}", "gpu-open", DOCTOR_OPEN},
        {NULL, "{\"gpu\":{\"count\":0}}", "gpu-open", DOCTOR_OPEN},
        {READY, "{}", "gpu-none", DOCTOR_PROBLEM},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_MACHINE struct machine machine =
            machine_of(cases[i].environment, cases[i].library, "[]", "[]");
        assert_found(&machine, cases[i].id, cases[i].state, "");
    }
}

/* How many GPUs there are is known from a library that works, or from the kernel where there is
 * none: everything else is open, never 0. */
static void gpus_are_counted_where_they_were_seen(void **state) {
    (void)state;
    static const struct {
        const char *library, *environment, *devices;
        const char *id;      /* of a plan with 8 GPUs */
        const char *snippet; /* NULL: no line about their number */
    } cases[] = {
        {"{\"state\":\"no-driver\"}", "{\"gpu\":{\"count\":0}}", "[]", "plan-open", NULL},
        {"{\"state\":\"mismatch\"}", "{\"gpu\":{\"count\":0}}", "[]", "plan-open", NULL},
        {"{\"state\":\"no-permission\"}", "{\"gpu\":{\"count\":0}}", "[]", "plan-open", NULL},
        {"{\"state\":\"unusable\"}", "{\"gpu\":{\"count\":0}}", "[]", "plan-open", NULL},
        {NULL, "{\"gpu\":{\"count\":0}}", "[]", "plan-open", NULL},
        {"{}", "{\"gpu\":{\"count\":0}}", "[]", "plan-open", NULL},
        {"{\"state\":\"absent\"}", "{}", "[]", "plan-open", NULL},
        {"{\"state\":\"absent\"}", "{\"gpu\":{\"count\":0}}", "[]", "plan-gpu-count", "gpus: 0\n"},
        {"{\"state\":\"absent\"}", "{\"gpu\":{\"count\":8}}", "[]", "plan-agrees", "gpus: 8\n"},
        {READY, "{\"gpu\":{\"count\":0}}", H200, "plan-gpu-count", "gpus: 1\n"},
        {READY, "{}", "[{\"kind\":\"gpu\"},{\"kind\":\"mig\"}]", "plan-gpu-count", "gpus: 1\n"},
        {"{\"state\":\"ready\",\"count\":8}", "{}", H200, "plan-agrees", "gpus: 8\n"},
        {READY, "{}", "[]", "plan-gpu-count", "gpus: 0\n"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_MACHINE struct machine machine =
            machine_of(cases[i].environment, cases[i].library, cases[i].devices, "[]");
        const struct plan_environment target = {.id = "hpc", .gpus = {.given = true, .value = 8}};
        const struct plan plan = {0};
        machine.input.plan = &plan;
        machine.input.target = &target;
        if (find(&machine, cases[i].id) == NULL)
            fail_msg("case %zu: no %s", i, cases[i].id);
        const char *line = strstr(machine.findings.snippet, "gpus:");
        if (cases[i].snippet == NULL
                ? line != NULL
                : line == NULL || strncmp(line, cases[i].snippet, strlen(cases[i].snippet)) != 0)
            fail_msg("case %zu: %s", i, machine.findings.snippet);
    }
}

static void devices(void **state) {
    (void)state;
    AUTO_MACHINE struct machine machine = machine_of(
        "{}", READY,
        "[{\"index\":0,\"name\":\"A\",\"total_bytes\":80000000000,\"baseline_bytes\":40000000000},"
        "{\"index\":1,\"name\":\"B\",\"lost\":true},"
        "{\"index\":2,\"name\":\"C stand-in\",\"stand_in\":true,\"unified\":true},"
        "{\"index\":3,\"name\":\"D\",\"reasons\":{\"memory\":\"not-permitted\"}},"
        "{\"name\":\"E\",\"kind\":\"mig\",\"total_bytes\":10000000000},"
        "{\"index\":4,\"name\":\"F\",\"virtual\":\"vgpu\",\"total_bytes\":1,\"persistence\":false}"
        "]",
        "[]");
    assert_found(&machine, "gpu-in-use", DOCTOR_WARNING, "A (GPU 0)");
    assert_found(&machine, "gpu-lost", DOCTOR_PROBLEM, "B (GPU 1)");
    assert_found(&machine, "gpu-stand-in", DOCTOR_WARNING, "C stand-in (GPU 2)");
    assert_found(&machine, "gpu-memory", DOCTOR_OPEN, "shares its memory");
    assert_found(&machine, "gpu-slice", DOCTOR_KNOWN, "E, ");
    assert_found(&machine, "gpu-virtual", DOCTOR_WARNING, "F");
    assert_found(&machine, "gpu-persistence", DOCTOR_WARNING, "F");
}

static void room_for_weights(void **state) {
    (void)state;
    static const struct {
        double free, need;
        bool has_need;
        const char *id;
        enum doctor_state state;
    } cases[] = {
        {200e9, 140e9, true, "disk-weights", DOCTOR_KNOWN},
        {100e9, 140e9, true, "disk-too-small", DOCTOR_PROBLEM},
        {100e9, 0, false, "disk-free", DOCTOR_OPEN},
        {1e9, 0, false, "disk-low", DOCTOR_WARNING},
        {-1, 140e9, true, "disk-open", DOCTOR_OPEN},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_MACHINE struct machine machine = machine_of("{}", NULL, NULL, "[]");
        const struct doctor_place place = {
            .role = "weights",
            .path = "/cache",
            .variable = "HF_HOME",
            .type = "ext4",
            .free = cases[i].free < 0 ? quantity_open(UNIT_BYTE, QUANTITY_NOT_SUPPORTED, NULL)
                                      : quantity_measured(UNIT_BYTE, cases[i].free, "statfs"),
        };
        machine.input.places = &place;
        machine.input.place_count = 1;
        machine.input.has_weights = cases[i].has_need;
        machine.input.weights_bytes = cases[i].need;
        assert_found(&machine, cases[i].id, cases[i].state, "/cache");
    }
}

static void folders(void **state) {
    (void)state;
    const struct doctor_place places[] = {
        {.role = "working-folder", .path = "/ro", .write_error = EROFS},
        {.role = "records",
         .path = "/full",
         .variable = "PROBELAUF_JOURNAL_DIR",
         .write_error = ENOSPC},
        {.role = "temporary", .path = "/noexec", .no_exec = true},
        {.role = "shared-memory",
         .path = "/dev/shm",
         .size = {.state = QUANTITY_MEASURED, .value = 67108864, .unit = UNIT_BYTE}},
        {.role = "home", .path = "/home/a"},
    };
    AUTO_MACHINE struct machine machine = machine_of("{}", NULL, NULL, "[]");
    machine.input.places = places;
    machine.input.place_count = ARRAY_LENGTH(places);
    assert_found(&machine, "place-not-writable", DOCTOR_PROBLEM, "/ro");
    assert_found(&machine, "place-full", DOCTOR_PROBLEM, "/full");
    assert_non_null(strstr(find(&machine, "place-full")->advice, "PROBELAUF_JOURNAL_DIR"));
    assert_found(&machine, "place-no-exec", DOCTOR_WARNING, "/noexec");
    assert_found(&machine, "place-shm-small", DOCTOR_WARNING, "64 MiB");
}

#define MEASURED(value, unit) "{\"state\":\"measured\",\"value\":" value ",\"unit\":\"" unit "\"}"

static void limits(void **state) {
    (void)state;
    AUTO_MACHINE struct machine machine = machine_of(
        "{\"limits\":{\"memory\":" MEASURED("8589934592", "byte") ",\"open_files\":" MEASURED(
            "1024",
            "count") ",\"address_space\":" MEASURED("1073741824",
                                                    "byte") "},\"totals\":{"
                                                            "\"memory\":" MEASURED(
                                                                "68719476736",
                                                                "byte") ",\"cpu\":" MEASURED("64",
                                                                                             "core") "}}",
        NULL, NULL, "[]");
    machine.input.clock = (struct doctor_clock){
        .utc_ns = 1, .build_ns = 2, .synchronized = -1, .suspended_ns = INT64_C(3600000000000)};
    machine.input.sight = (struct doctor_sight){.is_namespace = true, .cgroup = "none"};
    assert_found(&machine, "limit-memory", DOCTOR_WARNING, "8 GiB of the machine's 64 GiB");
    assert_found(&machine, "limit-cpu", DOCTOR_KNOWN, "all 64 cores");
    assert_found(&machine, "limit-open-files", DOCTOR_WARNING, "1024");
    assert_found(&machine, "limit-address-space", DOCTOR_WARNING, "1 GiB");
    assert_null(find(&machine, "limit-file-size"));
    assert_found(&machine, "clock-behind", DOCTOR_PROBLEM, "clock");
    assert_found(&machine, "clock-suspended", DOCTOR_WARNING, "suspended");
    assert_found(&machine, "proc-namespace", DOCTOR_WARNING, "PID namespace");
    assert_found(&machine, "cgroup-none", DOCTOR_WARNING, "control group");
}

/* Nothing was read: everything is open or said to be missing, and nothing is a 0. */
static void an_empty_machine(void **state) {
    (void)state;
    AUTO_MACHINE struct machine machine = machine_of("{}", NULL, NULL, NULL);
    assert_found(&machine, "machine", DOCTOR_OPEN, "");
    assert_found(&machine, "gpu-open", DOCTOR_OPEN, "");
    assert_found(&machine, "limit-memory", DOCTOR_OPEN, "not told");
    assert_null(strstr(machine.findings.snippet, "gpus:"));
    assert_null(strstr(machine.findings.snippet, "capacity"));
}

static void against_the_plan(void **state) {
    (void)state;
    const struct plan plan = {0};
    const struct plan_environment target = {.id = "rented-a",
                                            .gpu = "NVIDIA A100-SXM4-80GB",
                                            .gpus = {.given = true, .value = 8},
                                            .driver = "535"};
    AUTO_MACHINE struct machine machine = machine_of("{}", READY, H200, "[]");
    machine.input.plan = &plan;
    machine.input.target = &target;
    assert_found(&machine, "plan-gpu", DOCTOR_PROBLEM, "A100");
    assert_found(&machine, "plan-gpu-count", DOCTOR_PROBLEM, "8 GPUs in the plan, 1 here");
    assert_found(&machine, "plan-driver", DOCTOR_PROBLEM, "535");
    assert_non_null(strstr(machine.findings.snippet, "gpu: \"NVIDIA H200\""));
    assert_non_null(strstr(machine.findings.snippet, "gpus: 1"));
    const struct plan_environment same = {
        .id = "b", .gpu = "H200", .gpus = {.given = true, .value = 1}, .driver = "550.54.15"};
    AUTO_MACHINE struct machine agrees = machine_of("{}", READY, H200, "[]");
    agrees.input.plan = &plan;
    agrees.input.target = &same;
    assert_found(&agrees, "plan-agrees", DOCTOR_KNOWN, "'b'");
    AUTO_MACHINE struct machine unseen = machine_of("{}", NULL, NULL, "[]");
    unseen.input.plan = &plan;
    unseen.input.target = &same;
    assert_found(&unseen, "plan-open", DOCTOR_OPEN, "'b'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_for_the_device),
        cmocka_unit_test(several_objects_of_a_package),
        cmocka_unit_test(objects_that_cannot_be_read),
        cmocka_unit_test(toolkit_and_driver),
        cmocka_unit_test(library_states),
        cmocka_unit_test(gpus_are_counted_where_they_were_seen),
        cmocka_unit_test(devices),
        cmocka_unit_test(room_for_weights),
        cmocka_unit_test(folders),
        cmocka_unit_test(limits),
        cmocka_unit_test(an_empty_machine),
        cmocka_unit_test(against_the_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
