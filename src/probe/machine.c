/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the machine is: processor, system, virtualisation and container signs, the file systems that
 * matter. Names only; its sizes are totals and limits (limits.c). The host name is kept: runs of
 * one machine must be told from runs of another; the record stays with the user unless exported.
 * Serial numbers and addresses are never read.
 */
#include "probe/probe.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"
#include "probe/file-systems.h"
#include "probe/host-text.h"
#include "probe/lines.h"
#include "probe/mounts.h"
#include "probe/paths.h"
#include "probe/reason.h"
#include "text/secret.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define TEXT_SIZE 512

static bool is_real(const struct root *root) {
    return root->prefix[0] == '\0';
}

/* ---- processor ---- */

struct cpu_info {
    char model[TEXT_SIZE];
    char implementer[32], part[32];
    bool has_flags, has_hypervisor;
};

/* "model name\t: AMD EPYC" → value when the key is exactly this one. */
static const char *cpuinfo_value(const char *line, const char *key) {
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0) {
        return NULL;
    }
    const char *at = line + length;
    at += strspn(at, " \t");
    return *at == ':' ? at + 1 + strspn(at + 1, " \t") : NULL;
}

static bool has_word(const char *text, const char *word) {
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += length) {
        bool begins = at == text || at[-1] == ' ';
        if (begins && (at[length] == ' ' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

static void cpuinfo_line(const char *line, struct cpu_info *out) {
    /* x86 and s390 "model name", MIPS "cpu model", POWER "cpu" */
    static const char *const keys[] = {"model name", "cpu model", "cpu"};
    const char *value;
    for (size_t i = 0; i < ARRAY_LENGTH(keys) && out->model[0] == '\0'; i++) {
        value = cpuinfo_value(line, keys[i]);
        if (value != NULL) {
            (void)snprintf(out->model, sizeof out->model, "%s", value);
        }
    }
    value = cpuinfo_value(line, "CPU implementer");
    if (value != NULL && out->implementer[0] == '\0') {
        (void)snprintf(out->implementer, sizeof out->implementer, "%s", value);
    }
    value = cpuinfo_value(line, "CPU part");
    if (value != NULL && out->part[0] == '\0') {
        (void)snprintf(out->part, sizeof out->part, "%s", value);
    }
    value = cpuinfo_value(line, "flags");
    if (value != NULL) {
        out->has_flags = true;
        out->has_hypervisor = out->has_hypervisor || has_word(value, "hypervisor");
    }
}

/* The first processor stands for all; the rest of a 512-processor file is not read. */
static void read_cpuinfo(const struct root *root, struct cpu_info *ret) {
    *ret = (struct cpu_info){0};
    struct lines lines AUTO_LINES;
    char *line;
    if (lines_open(root, "/proc/cpuinfo", 65536, &lines) < 0) {
        return;
    }
    while (lines_next(&lines, &line) == 1 && (*line != '\0' || ret->model[0] == '\0')) {
        cpuinfo_line(line, ret);
    }
    if (ret->model[0] == '\0' && ret->implementer[0] != '\0' && ret->part[0] != '\0') {
        /* ARM names no model: two numbers that identify the core design */
        (void)snprintf(ret->model, sizeof ret->model, "ARM implementer %s part %s",
                       ret->implementer, ret->part);
    }
}

/* ---- system ---- */

static void put_distribution(const struct root *root, json_t *machine, json_t *reasons) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (root_read(root, "/etc/os-release", 65536, &text) < 0) {
        strbuf_clear(&text);
        if (root_read(root, "/usr/lib/os-release", 65536, &text) < 0) {
            reason_put(reasons, "machine.distribution", N_("no os-release file is readable"));
            return;
        }
    }
    static const struct {
        const char *key, *name;
    } values[] = {{"distribution", "PRETTY_NAME"},
                  {"distribution_id", "ID"},
                  {"distribution_version", "VERSION_ID"}};
    for (size_t i = 0; i < ARRAY_LENGTH(values); i++) {
        char value[TEXT_SIZE];
        if (os_release_value(strbuf_str(&text), values[i].name, value, sizeof value)) {
            json_put_text(machine, values[i].key, value);
        }
    }
}

static void put_line(const struct root *root, const char *path, json_t *machine, const char *key) {
    char text[TEXT_SIZE];
    if (host_first_line(root, path, text, sizeof text)) {
        json_put_text(machine, key, text);
    }
}

static void put_system(const struct root *root, json_t *machine, json_t *reasons) {
    put_line(root, "/proc/sys/kernel/hostname", machine, "host");
    put_line(root, "/proc/sys/kernel/osrelease", machine, "kernel");
    struct utsname names;
    if (is_real(root) && uname(&names) == 0) {
        json_put_text(machine, "architecture", names.machine);
    } else {
        put_line(root, "/proc/sys/kernel/arch", machine, "architecture"); /* Linux 6.1 and later */
    }
    if (json_object_get(machine, "architecture") == NULL) {
        reason_put(reasons, "machine.architecture", N_("the kernel does not tell it"));
    }
    put_distribution(root, machine, reasons);
}

/* ---- virtualisation ---- */

/* What the firmware calls itself. Order matters: clouds run on the hypervisors named below them. */
static const struct {
    const char *part, *name;
} dmi_names[] = {
    {"Amazon EC2", "amazon-ec2"},
    {"Google", "google"},
    {"VMware", "vmware"},
    {"VirtualBox", "virtualbox"},
    {"innotek", "virtualbox"},
    {"Microsoft", "hyper-v"},
    {"Xen", "xen"},
    {"OpenStack", "openstack"},
    {"Alibaba", "alibaba"},
    {"Hetzner", "hetzner"},
    {"DigitalOcean", "digitalocean"},
    {"QEMU", "qemu"},
    {"KVM", "kvm"},
    {"Bochs", "bochs"},
    {"Parallels", "parallels"},
};

static const char *name_in(const char *text) {
    for (size_t i = 0; i < ARRAY_LENGTH(dmi_names); i++) {
        if (strstr(text, dmi_names[i].part) != NULL) {
            return dmi_names[i].name;
        }
    }
    return NULL;
}

static void put_virtualization(const struct root *root, const struct cpu_info *cpu, json_t *machine,
                               json_t *reasons) {
    char kernel[TEXT_SIZE] = "", vendor[TEXT_SIZE] = "", product[TEXT_SIZE] = "", xen[TEXT_SIZE];
    if (host_first_line(root, "/sys/class/dmi/id/sys_vendor", vendor, sizeof vendor)) {
        json_put_text(machine, "vendor", vendor);
    }
    if (host_first_line(root, "/sys/class/dmi/id/product_name", product, sizeof product)) {
        json_put_text(machine, "product", product);
    }
    (void)host_first_line(root, "/proc/sys/kernel/osrelease", kernel, sizeof kernel);
    const char *found = name_in(vendor) != NULL ? name_in(vendor) : name_in(product);
    if (strcasestr(kernel, "microsoft") != NULL) {
        /* WSL 1 has no kernel of its own and calls itself "-Microsoft"; WSL 2
         * "-microsoft-standard-WSL2" */
        found = strcasestr(kernel, "standard") != NULL || strstr(kernel, "WSL2") != NULL ? "wsl2"
                                                                                         : "wsl1";
    } else if (cpu->has_flags && !cpu->has_hypervisor) {
        found = "none";
    } else if (host_first_line(root, "/sys/hypervisor/type", xen, sizeof xen)) {
        json_put_text(machine, "virtualization", xen);
        return;
    } else if (found == NULL && cpu->has_hypervisor) {
        found = "unnamed";
    }
    if (found == NULL) {
        reason_put(reasons, "machine.virtualization",
                   N_("neither processor nor firmware tells it"));
        return;
    }
    json_put_text(machine, "virtualization", found);
}

/* ---- container ---- */

enum container_kind {
    CONTAINER_NONE = 0,
    CONTAINER_UNNAMED,
    CONTAINER_LXC,
    CONTAINER_NSPAWN,
    CONTAINER_DOCKER,
    CONTAINER_PODMAN,
    CONTAINER_APPTAINER,
    CONTAINER_KUBERNETES, /* last wins: a pod is made by a runtime whose signs are there as well */
};

static const char *container_name(enum container_kind kind) {
    switch (kind) {
    case CONTAINER_NONE:
        return NULL;
    case CONTAINER_UNNAMED:
        return "unnamed";
    case CONTAINER_LXC:
        return "lxc";
    case CONTAINER_NSPAWN:
        return "systemd-nspawn";
    case CONTAINER_DOCKER:
        return "docker";
    case CONTAINER_PODMAN:
        return "podman";
    case CONTAINER_APPTAINER:
        return "apptainer";
    case CONTAINER_KUBERNETES:
        return "kubernetes";
    }
    return NULL;
}

struct container_signs {
    enum container_kind kind;
    json_t *signs; /* borrowed array */
};

static void add_sign(struct container_signs *found, enum container_kind kind, const char *sign) {
    json_array_append_new(found->signs, json_text(sign));
    if (kind > found->kind) {
        found->kind = kind;
    }
}

static void signs_by_files(const struct root *root, struct container_signs *found) {
    static const struct {
        const char *path;
        enum container_kind kind;
    } files[] = {
        {"/.dockerenv", CONTAINER_DOCKER},
        {"/run/.containerenv", CONTAINER_PODMAN},
        {"/.singularity.d", CONTAINER_APPTAINER},
        {"/var/run/secrets/kubernetes.io", CONTAINER_KUBERNETES},
        {"/run/secrets/kubernetes.io", CONTAINER_KUBERNETES},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        if (root_exists(root, files[i].path)) {
            add_sign(found, files[i].kind, files[i].path);
        }
    }
    char text[TEXT_SIZE]; /* systemd's and OCI hooks' own word: "systemd-nspawn", "lxc", "podman" */
    if (host_first_line(root, "/run/systemd/container", text, sizeof text)) {
        add_sign(found,
                 strcmp(text, "lxc") == 0              ? CONTAINER_LXC
                 : strcmp(text, "systemd-nspawn") == 0 ? CONTAINER_NSPAWN
                 : strcmp(text, "docker") == 0         ? CONTAINER_DOCKER
                 : strcmp(text, "podman") == 0         ? CONTAINER_PODMAN
                                                       : CONTAINER_UNNAMED,
                 "/run/systemd/container");
    }
}

static void signs_by_groups(const struct root *root, struct container_signs *found) {
    static const struct {
        const char *part;
        enum container_kind kind;
    } parts[] = {{"/kubepods", CONTAINER_KUBERNETES},
                 {"/docker/", CONTAINER_DOCKER},
                 {"docker-", CONTAINER_DOCKER},
                 {"libpod-", CONTAINER_PODMAN},
                 {"/lxc/", CONTAINER_LXC},
                 {"/lxc.payload", CONTAINER_LXC}};
    bool seen[ARRAY_LENGTH(parts)] = {false};
    struct lines lines AUTO_LINES;
    char *line;
    if (lines_open(root, "/proc/self/cgroup", 65536, &lines) < 0) {
        return;
    }
    while (lines_next(&lines, &line) == 1) {
        for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
            seen[i] = seen[i] || strstr(line, parts[i].part) != NULL;
        }
    }
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++) {
        if (seen[i]) {
            char sign[64];
            (void)snprintf(sign, sizeof sign, "cgroup path with %s", parts[i].part);
            add_sign(found, parts[i].kind, sign);
        }
    }
}

static void sign_by_mounts(const struct root *root, struct container_signs *found) {
    struct mounts mounts AUTO_MOUNTS;
    struct mount mount;
    int rc = mounts_open(root, &mounts);
    while (rc == 0 && mounts_next(&mounts, &mount) == 1) {
        if (strcmp(mount.point, "/") == 0 && strcmp(mount.type, "overlay") == 0) {
            add_sign(found, CONTAINER_UNNAMED, "overlay root file system");
            return;
        }
    }
}

static void put_container(const struct probe_context *context, json_t *environment) {
    const struct variables variables = {.list = context->environment};
    AUTO_JSON json_t *container = json_object();
    struct container_signs found = {.signs = json_array()};
    json_put(container, "kind", json_null()); /* stands first */
    json_put(container, "signs", found.signs);
    signs_by_files(context->root, &found);
    signs_by_groups(context->root, &found);
    sign_by_mounts(context->root, &found);
    if (variable_get(&variables, "KUBERNETES_SERVICE_HOST") != NULL) {
        add_sign(&found, CONTAINER_KUBERNETES, "KUBERNETES_SERVICE_HOST");
    }
    const char *image = variable_get(&variables, "APPTAINER_CONTAINER");
    if (image == NULL) {
        image = variable_get(&variables, "SINGULARITY_CONTAINER");
    }
    if (image != NULL) {
        AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
        secret_mask(image, strlen(image), &masked);
        add_sign(&found, CONTAINER_APPTAINER, "APPTAINER_CONTAINER");
        json_put(container, "image", json_text_n(strbuf_str(&masked), masked.length));
    }
    if (found.kind != CONTAINER_NONE) {
        json_put_text(container, "kind", container_name(found.kind));
        json_put(environment, "container", json_incref(container));
    }
}

/* ---- file systems and what can be seen ---- */

static void add_file_system(const struct root *root, const char *role, const char *path,
                            json_t *list) {
    struct file_system fs;
    file_system_read(root, path, &fs);
    json_t *entry = json_object();
    json_put_text(entry, "role", role);
    json_put_text(entry, "path", path);
    if (fs.type[0] != '\0') {
        json_put_text(entry, "mount", fs.point);
        json_put_text(entry, "type", fs.type);
        json_put_bool(entry, "network", fs.is_network);
    }
    quantity_put(entry, "size", fs.size);
    quantity_put(entry, "free", fs.free);
    quantity_put(entry, "inodes_free", fs.inodes_free);
    json_array_append_new(list, entry);
}

static void put_file_systems(const struct probe_context *context, json_t *machine) {
    const struct variables variables = {.list = context->environment};
    json_t *list = json_array();
    json_put(machine, "file_systems", list);
    if (context->cwd != NULL && context->cwd[0] == '/') {
        add_file_system(context->root, "working-folder", context->cwd, list);
    }
    add_file_system(context->root, "shared-memory", "/dev/shm", list);
    const char *temporary = variable_get(&variables, "TMPDIR");
    add_file_system(context->root, "temporary",
                    temporary != NULL && temporary[0] == '/' ? temporary : "/tmp", list);
}

/* A /proc mounted with hidepid= hides other users' processes (proc(5)); root sees them all the
 * same. */
static void note_hidden_processes(const struct root *root, json_t *machine, json_t *reasons) {
    struct mounts mounts AUTO_MOUNTS;
    struct mount mount;
    char value[32] = "";
    int rc = mounts_open(root, &mounts);
    while (rc == 0 && mounts_next(&mounts, &mount) == 1) {
        if (strcmp(mount.point, "/proc") != 0 || strcmp(mount.type, "proc") != 0) {
            continue;
        }
        const char *option = mount_option_value(mount.super, "hidepid=");
        size_t length = option != NULL ? strcspn(option, ",") : 0;
        if (length >= sizeof value) {
            length = sizeof value - 1;
        }
        (void)snprintf(value, sizeof value, "%.*s", (int)length, option != NULL ? option : "");
    }
    if (value[0] != '\0' && strcmp(value, "0") != 0 && strcmp(value, "off") != 0) {
        json_put_text(machine, "hidepid", value);
        reason_put(reasons, "machine.processes",
                   N_("other users' processes are not visible (/proc is mounted with hidepid)"));
    }
}

static int collect(const struct probe_context *context, json_t *environment, json_t *reasons,
                   struct err *err) {
    (void)err;
    const struct root *root = context->root;
    json_t *machine = json_object();
    json_put(environment, "machine", machine);
    put_system(root, machine, reasons);
    struct cpu_info cpu;
    read_cpuinfo(root, &cpu);
    if (cpu.model[0] != '\0') {
        json_put_text(machine, "cpu_model", cpu.model);
    } else {
        reason_put(reasons, "machine.cpu_model", N_("/proc/cpuinfo names no model"));
    }
    put_virtualization(root, &cpu, machine, reasons);
    put_container(context, environment);
    put_file_systems(context, machine);
    note_hidden_processes(root, machine, reasons);
    return 0;
}

const struct probe_ops probe_machine = {"machine", collect};
