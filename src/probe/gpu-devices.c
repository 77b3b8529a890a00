/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which GPUs the kernel's drivers show (`gpu` in the ENVIRONMENT record), without any vendor
 * library: NVIDIA's files below /proc/driver/nvidia, AMD's compute nodes below /sys/class/kfd. A
 * count of 0 is written only where both places could have been seen. What a run uses of them is
 * not said here.
 */
#include "probe/probe.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"
#include "probe/host-text.h"
#include "probe/lines.h"
#include "probe/paths.h"
#include "probe/reason.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NVIDIA      "/proc/driver/nvidia"
#define KFD_NODES   "/sys/class/kfd/kfd/topology/nodes"
#define DEVICES_MAX 256u
#define FILE_LIMIT  65536u

struct names {
    size_t count;
    char of[DEVICES_MAX][64];
};

static int by_name(const void *left, const void *right) {
    const char *a = left, *b = right;
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length != b_length) { /* "10" behind "9"; PCI addresses are equally long */
        return a_length < b_length ? -1 : 1;
    }
    return strcmp(a, b);
}

/* The entries of a folder in an order that does not depend on the file system. False: it cannot be
 * read. */
static bool list_folder(const struct root *root, const char *path, struct names *ret) {
    DIR *folder = path_open_folder(root, path);
    if (folder == NULL) {
        return false;
    }
    const struct dirent *entry;
    ret->count = 0;
    while ((entry = readdir(folder)) != NULL && ret->count < DEVICES_MAX) {
        size_t length = strlen(entry->d_name);
        if (entry->d_name[0] != '.' && length < sizeof ret->of[0]) {
            memcpy(ret->of[ret->count++], entry->d_name, length + 1);
        }
    }
    (void)closedir(folder);
    qsort(ret->of, ret->count, sizeof ret->of[0], by_name);
    return true;
}

static void add_device(json_t *devices, const char *name, const char *uuid) {
    json_t *device = json_object();
    json_put_text(device, "name", name); /* null: the driver does not say it */
    if (uuid != NULL) {
        json_put_text(device, "uuid", uuid);
    }
    (void)json_array_append_new(devices, device);
}

/* ---- NVIDIA ---- */

/* "GPU UUID: \t GPU-…": the text behind the key without blanks around it; NULL for another line. */
static char *labelled(char *line, const char *label) {
    size_t length = strlen(label);
    if (strncmp(line, label, length) != 0) {
        return NULL;
    }
    char *text = line + length + strspn(line + length, " \t");
    for (size_t end = strlen(text); end > 0 && strchr(" \t\r", text[end - 1]) != NULL; end--) {
        text[end - 1] = '\0';
    }
    return text;
}

/* Before a device's first use the driver does not know its model ("Unknown") nor its UUID
 * (question marks). */
static void add_nvidia(const struct root *root, const char *address, json_t *devices) {
    AUTO_FREE char *path = mem_printf(NVIDIA "/gpus/%s/information", address);
    AUTO_FREE char *name = NULL;
    AUTO_FREE char *uuid = NULL;
    AUTO_LINES struct lines lines = {.fd = -1};
    char *line;
    if (lines_open(root, path, FILE_LIMIT, &lines) == 0) {
        while (lines_next(&lines, &line) > 0) {
            const char *text;
            if (name == NULL && (text = labelled(line, "Model:")) != NULL) {
                name = *text != '\0' && strcmp(text, "Unknown") != 0 ? mem_strdup(text) : NULL;
            } else if (uuid == NULL && (text = labelled(line, "GPU UUID:")) != NULL) {
                bool known = str_starts_with(text, "GPU-") && strchr(text, '?') == NULL;
                uuid = known ? mem_strdup(text) : NULL;
            }
        }
    }
    add_device(devices, name, uuid);
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue …": the first word of digits and
 * points that has a point. */
static char *nvidia_driver(const struct root *root) {
    char line[512];
    if (!host_first_line(root, NVIDIA "/version", line, sizeof line)) {
        return NULL;
    }
    char *rest = line, *word;
    while ((word = strsep(&rest, " \t")) != NULL) {
        size_t length = strspn(word, "0123456789.");
        bool is_version = length == strlen(word) && word[0] != '.' && strchr(word, '.') != NULL;
        if (is_version && length > 2) {
            return mem_strdup(word);
        }
    }
    return NULL;
}

/* True: the driver is there (whatever it shows). */
static bool read_nvidia(const struct root *root, json_t *devices, json_t *gpu, bool *ret_unread) {
    struct names names;
    if (!root_exists(root, NVIDIA)) {
        return false;
    }
    AUTO_FREE char *driver = nvidia_driver(root);
    if (driver != NULL) {
        json_put_text(gpu, "driver", driver);
    }
    if (!list_folder(root, NVIDIA "/gpus", &names)) {
        *ret_unread = true;
        return true;
    }
    for (size_t i = 0; i < names.count; i++) {
        add_nvidia(root, names.of[i], devices);
    }
    return true;
}

/* ---- AMD ---- */

static uint64_t property(const struct root *root, const char *path, const char *key) {
    AUTO_LINES struct lines lines = {.fd = -1};
    uint64_t value = 0;
    char *line;
    if (lines_open(root, path, FILE_LIMIT, &lines) == 0) {
        while (lines_next(&lines, &line) > 0) {
            if (line_value(line, key, &value)) {
                return value;
            }
        }
    }
    return 0;
}

/* The name that the card's firmware gives; else the chip: 90010 is gfx90a, 110002 gfx1102. */
static char *amd_name(const struct root *root, const char *properties) {
    char name[128];
    uint64_t minor = property(root, properties, "drm_render_minor");
    AUTO_FREE char *product =
        mem_printf("/sys/class/drm/renderD%" PRIu64 "/device/product_name", minor);
    if (minor != 0 && host_first_line(root, product, name, sizeof name)) {
        return mem_strdup(name);
    }
    uint64_t version = property(root, properties, "gfx_target_version");
    uint64_t device = property(root, properties, "device_id");
    if (version == 0 || device == 0) {
        return NULL;
    }
    return mem_printf("AMD gfx%" PRIu64 "%" PRIx64 "%" PRIx64 " 0x%04" PRIx64, version / 10000,
                      version / 100 % 100, version % 100, device);
}

/* A node without a GPU id is a processor. False: the node is there and cannot be read (a container
 * that was not given the device). */
static bool add_amd(const struct root *root, const char *node, json_t *devices) {
    AUTO_FREE char *id_path = mem_printf(KFD_NODES "/%s/gpu_id", node);
    AUTO_FREE char *path = mem_printf(KFD_NODES "/%s/properties", node);
    uint64_t id;
    if (file_value(root, id_path, &id) < 0) {
        return false;
    }
    if (id == 0 || property(root, path, "simd_count") == 0) {
        return true;
    }
    uint64_t unique = property(root, path, "unique_id");
    AUTO_FREE char *uuid = unique != 0 ? mem_printf("GPU-%016" PRIx64, unique) : NULL;
    AUTO_FREE char *name = amd_name(root, path);
    add_device(devices, name, uuid);
    return true;
}

static bool read_amd(const struct root *root, json_t *devices, json_t *gpu, bool *ret_unread) {
    struct names names;
    char version[128];
    if (!root_exists(root, KFD_NODES)) {
        return false;
    }
    if (!list_folder(root, KFD_NODES, &names)) {
        *ret_unread = true;
        return true;
    }
    size_t before = json_array_size(devices);
    for (size_t i = 0; i < names.count; i++) {
        *ret_unread = !add_amd(root, names.of[i], devices) || *ret_unread;
    }
    bool any = json_array_size(devices) > before;
    /* only the driver of its own packages has a version; the kernel's is the kernel's */
    if (any && json_object_get(gpu, "driver") == NULL &&
        host_first_line(root, "/sys/module/amdgpu/version", version, sizeof version)) {
        json_put_text(gpu, "driver", version);
    }
    return true;
}

/* ---- both ---- */

#define PCI_DEVICES   "/sys/bus/pci/devices"
#define VENDOR_NVIDIA "0x10de"
#define CLASS_DISPLAY "0x03" /* PCI Code and ID Assignment: display controllers, 3D among them */

static bool is_nvidia_board(const struct root *root, const char *name) {
    AUTO_FREE char *vendor = mem_printf(PCI_DEVICES "/%s/vendor", name);
    AUTO_FREE char *class = mem_printf(PCI_DEVICES "/%s/class", name);
    char text[32];
    return host_first_line(root, vendor, text, sizeof text) && strcmp(text, VENDOR_NVIDIA) == 0 &&
           host_first_line(root, class, text, sizeof text) && str_starts_with(text, CLASS_DISPLAY);
}

/* The board is in the machine, whatever became of its driver. */
static bool has_nvidia_board(const struct root *root) {
    DIR *folder = path_open_folder(root, PCI_DEVICES);
    const struct dirent *entry;
    bool found = false;
    while (folder != NULL && !found && (entry = readdir(folder)) != NULL) {
        found = entry->d_name[0] != '.' && is_nvidia_board(root, entry->d_name);
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return found;
}

/* Where looking at the drivers' files cannot tell that there is no GPU. NULL: it can. */
static const char *why_not_none(const struct root *root) {
    if (!root_exists(root, "/proc/self") && !root_exists(root, "/proc/stat")) {
        return N_("/proc is not mounted");
    }
    if (!root_exists(root, "/sys/devices") && !root_exists(root, "/sys/class")) {
        return N_("/sys is not mounted");
    }
    if (root_exists(root, "/dev/dxg")) {
        return N_("WSL hands GPUs on in a way that the kernel's files do not show");
    }
    if (root_exists(root, "/dev/nvidiactl") || root_exists(root, "/dev/nvidia0")) {
        return N_("there is an NVIDIA device file, but not the files of its driver");
    }
    if (has_nvidia_board(root)) {
        return N_("there is an NVIDIA board, but its driver is not loaded");
    }
    return root_exists(root, "/dev/kfd")
               ? N_("there is an AMD device file, but not the files of its driver")
               : NULL;
}

struct shown {
    bool nvidia, amd; /* the driver is there, whatever it shows */
    const char *why;  /* they cannot tell; NULL: what they show is all there is */
};

static struct shown look(const struct root *root, json_t *gpu, json_t *devices) {
    struct shown shown = {0};
    bool unread = false;
    shown.nvidia = read_nvidia(root, devices, gpu, &unread);
    shown.amd = read_amd(root, devices, gpu, &unread);
    if (unread) {
        shown.why = N_("the files of the GPU driver could not be read to their end");
    } else if (json_array_size(devices) == 0) {
        const char *why = why_not_none(root);
        why = why != NULL && shown.nvidia && strstr(why, "NVIDIA") != NULL ? NULL : why;
        shown.why = why != NULL && shown.amd && strstr(why, "AMD") != NULL ? NULL : why;
    }
    return shown;
}

enum gpu_devices_shown gpu_devices_look(const struct root *root) {
    AUTO_JSON json_t *gpu = json_object();
    AUTO_JSON json_t *devices = json_array();
    struct shown shown = look(root, gpu, devices);
    if (shown.nvidia || (shown.why != NULL && !shown.amd)) {
        return GPU_DEVICES_MAYBE;
    }
    if (shown.why != NULL || json_array_size(devices) > 0) {
        return GPU_DEVICES_AMD;
    }
    return GPU_DEVICES_NONE;
}

static int collect(const struct probe_context *context, json_t *environment, json_t *reasons,
                   struct err *err) {
    (void)err;
    const struct root *root = context->root;
    AUTO_JSON json_t *gpu = json_object();
    AUTO_JSON json_t *devices = json_array();
    struct shown shown = look(root, gpu, devices);
    bool has_nvidia = shown.nvidia, has_amd = shown.amd;
    size_t count = json_array_size(devices);
    if (shown.why != NULL) {
        reason_put(reasons, "gpu", shown.why);
        return 0;
    }
    json_put_int(gpu, "count", (int64_t)count);
    json_put(gpu, "devices", json_incref(devices));
    json_put_text(gpu, "method",
                  has_nvidia && has_amd ? NVIDIA ", /sys/class/kfd"
                  : has_nvidia          ? NVIDIA
                  : has_amd             ? "/sys/class/kfd"
                                        : NVIDIA ", /sys/class/kfd");
    json_put(environment, "gpu", json_incref(gpu));
    return 0;
}

const struct probe_ops probe_gpu = {"gpu", collect};
