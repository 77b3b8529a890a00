/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does what is installed run on what is there? Machine code runs on devices of the same major
 * compute capability and at least its minor one; PTX is compiled for later ones when first used
 * (CUDA C++ Programming Guide, "Binary Compatibility", "PTX Compatibility"). A package fits when
 * one of its shared objects does: others may hold kernels for other devices only.
 */
#include "doctor/parts.h"

#include "base/msg.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum fit {
    FIT_MACHINE = 0, /* machine code for the device */
    FIT_PTX,         /* only through PTX */
    FIT_UNKNOWN,     /* not found, and not everything was looked at */
    FIT_NONE,
};

static enum fit fit_of(const json_t *wheel, unsigned major, unsigned minor) {
    const json_t *machine = json_object_get(wheel, "machine");
    const json_t *ptx = json_object_get(wheel, "ptx");
    json_int_t device = major * 10 + minor;
    for (size_t i = 0; i < json_array_size(machine); i++) {
        json_int_t arch = json_integer_value(json_array_get(machine, i));
        if (arch / 10 == (json_int_t)major && arch <= device)
            return FIT_MACHINE;
    }
    for (size_t i = 0; i < json_array_size(ptx); i++)
        if (json_integer_value(json_array_get(ptx, i)) <= device)
            return FIT_PTX;
    return json_is_true(json_object_get(wheel, "complete")) ? FIT_NONE : FIT_UNKNOWN;
}

static bool same_package(const json_t *a, const json_t *b) {
    return strcmp(json_get_text(a, "package", ""), json_get_text(b, "package", "")) == 0 &&
           strcmp(json_get_text(a, "interpreter", ""), json_get_text(b, "interpreter", "")) == 0;
}

/* "sm_80, sm_90, PTX 90" of all shared objects of the package. */
static const char *archs_of(struct judging *judging, const json_t *wheels, const json_t *first) {
    bool machine[1000] = {false}, ptx[1000] = {false};
    for (size_t i = 0; i < json_array_size(wheels); i++) {
        const json_t *wheel = json_array_get(wheels, i);
        if (!same_package(wheel, first))
            continue;
        const json_t *lists[] = {json_object_get(wheel, "machine"), json_object_get(wheel, "ptx")};
        for (size_t k = 0; k < ARRAY_LENGTH(lists); k++)
            for (size_t n = 0; n < json_array_size(lists[k]); n++) {
                json_int_t arch = json_integer_value(json_array_get(lists[k], n));
                if (arch > 0 && arch < 1000)
                    (k == 0 ? machine : ptx)[arch] = true;
            }
    }
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (unsigned arch = 0; arch < 1000; arch++)
        if (machine[arch])
            strbuf_printf(&text, "%ssm_%u", text.length > 0 ? ", " : "", arch);
    for (unsigned arch = 0; arch < 1000; arch++)
        if (ptx[arch])
            strbuf_printf(&text, "%sPTX %u", text.length > 0 ? ", " : "", arch);
    return arena_strdup(judging->arena, strbuf_str(&text));
}

static enum fit package_fit(const json_t *wheels, const json_t *first, unsigned major,
                            unsigned minor) {
    enum fit best = FIT_NONE;
    for (size_t i = 0; i < json_array_size(wheels); i++) {
        const json_t *wheel = json_array_get(wheels, i);
        enum fit fit = same_package(wheel, first) ? fit_of(wheel, major, minor) : FIT_NONE;
        best = fit < best ? fit : best;
    }
    return best;
}

static void judge_fit(struct judging *judging, const json_t *wheel, const json_t *device,
                      unsigned major, unsigned minor) {
    const json_t *wheels = judging->input->wheels;
    const char *package = arena_printf(judging->arena, "%s %s",
                                       doctor_plain(judging, json_get_text(wheel, "package", "?")),
                                       doctor_plain(judging, json_get_text(wheel, "version", "")));
    const char *name = doctor_device_name(judging, device);
    const char *archs = archs_of(judging, wheels, wheel);
    switch (package_fit(wheels, wheel, major, minor)) {
    case FIT_MACHINE:
        (void)doctor_add(judging, DOCTOR_CUDA, "cuda-kernels", DOCTOR_KNOWN,
                         arena_printf(judging->arena, _("%s has machine code for %s (%s)"), package,
                                      name, archs),
                         NULL);
        return;
    case FIT_PTX:
        (void)doctor_add(
            judging, DOCTOR_CUDA, "cuda-ptx", DOCTOR_WARNING,
            arena_printf(judging->arena,
                         _("%s runs on %s only through PTX that is compiled when first "
                           "used (%s)"),
                         package, name, archs),
            _("the first start takes minutes; install a build for this device, or count "
              "the compilation as set-up"));
        return;
    case FIT_UNKNOWN:
        (void)doctor_add(
            judging, DOCTOR_CUDA, "cuda-open", DOCTOR_OPEN,
            arena_printf(judging->arena,
                         _("%s: nothing for %s was found so far (%s), but not all of it "
                           "was looked at"),
                         package, name, archs),
            NULL);
        return;
    case FIT_NONE:
        (void)doctor_add(
            judging, DOCTOR_CUDA, "cuda-no-kernels", DOCTOR_PROBLEM,
            arena_printf(judging->arena,
                         _("%s holds nothing that runs on %s (compute capability %u.%u; "
                           "built for %s): \"no kernel image\" is what it will say"),
                         package, name, major, minor, archs),
            _("install a build for this device, or choose another GPU"));
        return;
    }
}

/* Device types, not devices: eight equal boards are one line. */
static bool is_first_of_kind(const json_t *devices, size_t index) {
    const json_t *device = json_array_get(devices, index);
    for (size_t i = 0; i < index; i++) {
        const json_t *other = json_array_get(devices, i);
        if (strcmp(json_get_text(other, "compute_capability", ""),
                   json_get_text(device, "compute_capability", "")) == 0 &&
            strcmp(json_get_text(other, "name", ""), json_get_text(device, "name", "")) == 0)
            return false;
    }
    return true;
}

/* One that holds code for devices, not only objects that cannot be read. */
static bool has_code(const json_t *wheel) {
    return json_array_size(json_object_get(wheel, "machine")) > 0 ||
           json_array_size(json_object_get(wheel, "ptx")) > 0;
}

static bool is_first_of_package(const json_t *wheels, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (same_package(json_array_get(wheels, i), json_array_get(wheels, index)) &&
            has_code(json_array_get(wheels, i)))
            return false;
    return has_code(json_array_get(wheels, index));
}

static void judge_wheels(struct judging *judging) {
    const json_t *wheels = judging->input->wheels, *devices = judging->input->devices;
    for (size_t w = 0; w < json_array_size(wheels); w++) {
        if (!is_first_of_package(wheels, w))
            continue;
        const json_t *wheel = json_array_get(wheels, w);
        size_t judged = 0;
        for (size_t d = 0; d < json_array_size(devices); d++) {
            unsigned major, minor;
            const json_t *device = json_array_get(devices, d);
            if (!is_first_of_kind(devices, d) || !doctor_capability(device, &major, &minor))
                continue;
            judge_fit(judging, wheel, device, major, minor);
            judged++;
        }
        if (judged == 0)
            (void)doctor_add(
                judging, DOCTOR_CUDA, "cuda-built-for", DOCTOR_KNOWN,
                arena_printf(judging->arena, _("%s %s is built for %s"),
                             doctor_plain(judging, json_get_text(wheel, "package", "?")),
                             doctor_plain(judging, json_get_text(wheel, "version", "")),
                             archs_of(judging, wheels, wheel)),
                NULL);
    }
}

/* "12.4" or "2.5.1+cu124" → 12, 4. */
static bool cuda_of_version(const char *version, unsigned *ret_major, unsigned *ret_minor) {
    const char *tag = strstr(version, "+cu");
    if (tag == NULL)
        return false;
    size_t digits = strspn(tag + 3, "0123456789");
    if (digits < 3 || digits > 4)
        return false;
    unsigned number = (unsigned)strtoul(tag + 3, NULL, 10);
    *ret_major = number / 10;
    *ret_minor = number % 10;
    return true;
}

/* Within one major version a newer toolkit runs on an older driver, but for PTX (CUDA Compatibility
 * guide, "Minor Version Compatibility"); across majors it does not. */
void doctor_judge_toolkit(struct judging *judging, const json_t *package, unsigned driver_major,
                          unsigned driver_minor) {
    unsigned major, minor;
    const char *version = json_get_text(package, "version", "");
    if (!cuda_of_version(version, &major, &minor))
        return;
    const char *what = arena_printf(judging->arena, "%s %s",
                                    doctor_plain(judging, json_get_text(package, "name", "?")),
                                    doctor_plain(judging, version));
    if (major > driver_major)
        (void)doctor_add(
            judging, DOCTOR_CUDA, "cuda-driver-too-old", DOCTOR_PROBLEM,
            arena_printf(judging->arena,
                         _("%s is built with CUDA %u.%u, the driver goes up to %u.%u: it "
                           "will not find a GPU"),
                         what, major, minor, driver_major, driver_minor),
            _("take a machine with a newer driver, or a build for an older CUDA"));
    else if (major == driver_major && minor > driver_minor)
        (void)doctor_add(judging, DOCTOR_CUDA, "cuda-newer-minor", DOCTOR_WARNING,
                         arena_printf(judging->arena,
                                      _("%s is built with CUDA %u.%u, the driver goes up to %u.%u: "
                                        "works within one major version, but not what is compiled "
                                        "from PTX"),
                                      what, major, minor, driver_major, driver_minor),
                         NULL);
    else
        (void)doctor_add(judging, DOCTOR_CUDA, "cuda-version", DOCTOR_KNOWN,
                         arena_printf(judging->arena,
                                      _("%s is built with CUDA %u.%u, the driver goes up to %u.%u"),
                                      what, major, minor, driver_major, driver_minor),
                         NULL);
}

void doctor_judge_cuda(struct judging *judging) {
    const struct doctor_input *input = judging->input;
    unsigned major, minor;
    const char *cuda = json_get_text(input->library, "cuda", "");
    if (doctor_has_library(input) && sscanf(cuda, "%3u.%3u", &major, &minor) == 2) {
        const json_t *packages = json_object_get(input->environment, "packages");
        for (size_t i = 0; i < json_array_size(packages); i++)
            doctor_judge_toolkit(judging, json_array_get(packages, i), major, minor);
    }
    judge_wheels(judging);
    if (!input->wheels_complete)
        (void)doctor_add(judging, DOCTOR_CUDA, "cuda-search-ended", DOCTOR_OPEN,
                         _("not all installed packages were searched for CUDA code: they are too "
                           "many, or it took too long"),
                         NULL);
}
