/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each source narrows the list: what it excludes is excluded, what it names is the run's, and where
 * its numbers cannot be translated the device stays unknown. Sources: CUDA C++ programming guide,
 * "CUDA Environment Variables"; NVIDIA MIG user guide, "CUDA Device Enumeration"; ROCm, "GPU
 * isolation techniques"; sbatch(1), "OUTPUT ENVIRONMENT VARIABLES"; kernel
 * Documentation/admin-guide/cgroup-v1/devices.rst. Must not translate an index by a guess.
 */
#include "probe/gpu-visible.h"

#include "base/str.h"
#include "probe/cgroup.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NVIDIA_MAJOR     195
#define ENTRY_SIZE       128
#define DEVICES_MAX      256u
#define GROUP_LIST_LIMIT (64u << 10)

#define BY_OPTION  "--gpu"
#define BY_CUDA    "CUDA_VISIBLE_DEVICES"
#define BY_NVIDIA  "NVIDIA_VISIBLE_DEVICES"
#define BY_ROCR    "ROCR_VISIBLE_DEVICES"
#define BY_HIP     "HIP_VISIBLE_DEVICES"
#define BY_STEP    "SLURM_STEP_GPUS"
#define BY_JOB     "SLURM_JOB_GPUS"
#define BY_GROUP   "control group"
#define BY_DIVIDED "MIG"
#define BY_ONLY    "only one"

/* What one source says of one device. */
enum said { SAID_NOTHING = 0, SAID_YES, SAID_NO, SAID_UNCLEAR };

struct list {
    const struct gpu_visible_device *devices;
    size_t count;
};

static bool has_text(const char *text) {
    return text != NULL && text[0] != '\0';
}

static void say_all(const struct list *list, enum said what, enum said *said) {
    for (size_t i = 0; i < list->count; i++)
        said[i] = what;
}

/* ---- entries of a list ---- */

/* The next entry of a list with commas, blanks around it cut off. False: there is none. An entry
 * that is too long to be anything is "?" afterwards. */
static bool next_entry(const char **rest, char ret_entry[ENTRY_SIZE]) {
    if (*rest == NULL)
        return false;
    const char *end = strchrnul(*rest, ',');
    const char *from = *rest, *to = end;
    *rest = *end == ',' ? end + 1 : NULL;
    while (from < to && isspace((unsigned char)*from))
        from++;
    while (to > from && isspace((unsigned char)to[-1]))
        to--;
    size_t length = (size_t)(to - from);
    if (length >= ENTRY_SIZE) {
        from = "?";
        length = 1;
    }
    memcpy(ret_entry, from, length);
    ret_entry[length] = '\0';
    return true;
}

/* CUDA and HIP read a number as far as it goes: "1x" is 1, "x1" and "" are none. */
static bool leading_number(const char *text, int64_t *ret_number) {
    const char *digits = text + (*text == '+' || *text == '-');
    int64_t number = 0;
    if (!isdigit((unsigned char)*digits))
        return false;
    for (; isdigit((unsigned char)*digits); digits++) {
        if (number > INT32_MAX)
            return false;
        number = number * 10 + (*digits - '0');
    }
    *ret_number = *text == '-' ? -number : number;
    return *text != '-' || number == 0;
}

static bool whole_number(const char *text, int64_t *ret_number) {
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0' &&
           leading_number(text, ret_number);
}

/* The one device whose UUID begins with the text; -1: none, or several. */
static int by_uuid(const struct list *list, const char *text) {
    int found = -1;
    for (size_t i = 0; i < list->count; i++) {
        if (!has_text(list->devices[i].uuid) || !str_starts_with(list->devices[i].uuid, text))
            continue;
        if (strcmp(list->devices[i].uuid, text) == 0)
            return (int)i;
        if (found >= 0)
            return -1;
        found = (int)i;
    }
    return found;
}

/* MIG-GPU-…/3/0: a slice by its board and its instances, as drivers before 470 name them. */
static int by_instances(const struct list *list, const char *text) {
    const char *board = text + strlen("MIG-");
    const char *slash = strchr(board, '/');
    if (slash == NULL || slash == board)
        return -1;
    int64_t gpu_instance, compute_instance;
    char first[ENTRY_SIZE];
    const char *second = strchr(slash + 1, '/');
    if (second == NULL)
        return -1;
    snprintf(first, sizeof first, "%.*s", (int)(second - slash - 1), slash + 1);
    if (!whole_number(first, &gpu_instance) || !whole_number(second + 1, &compute_instance))
        return -1;
    for (size_t i = 0; i < list->count; i++) {
        const struct gpu_visible_device *slice = &list->devices[i];
        if (!slice->is_slice || slice->parent < 0 || (size_t)slice->parent >= list->count)
            continue;
        const char *uuid = list->devices[slice->parent].uuid;
        if (has_text(uuid) && strncmp(uuid, board, (size_t)(slash - board)) == 0 &&
            uuid[slash - board] == '\0' && slice->gpu_instance == gpu_instance &&
            slice->compute_instance == compute_instance)
            return (int)i;
    }
    return -1;
}

/* A device by any of its names; -1: none of them. "GPU-" alone names nothing. */
static int by_name(const struct list *list, const char *text) {
    if (str_starts_with(text, "MIG-GPU-"))
        return by_instances(list, text);
    if ((str_starts_with(text, "GPU-") || str_starts_with(text, "MIG-")) && text[4] != '\0')
        return by_uuid(list, text);
    return -1;
}

/* ---- boards by number ---- */

static bool is_candidate(const struct gpu_visible_device *device, bool amd) {
    return !device->is_slice && device->is_amd == amd && device->allowed != 0;
}

static size_t board_count(const struct list *list, bool amd) {
    size_t boards = 0;
    for (size_t i = 0; i < list->count; i++)
        boards += is_candidate(&list->devices[i], amd);
    return boards;
}

/* The number-th board that can be used at all, in the list's order (that of the PCI addresses). */
static int nth_board(const struct list *list, int64_t number, bool amd) {
    for (size_t i = 0; i < list->count; i++)
        if (is_candidate(&list->devices[i], amd) && number-- == 0)
            return (int)i;
    return -1;
}

static bool are_same_model(const struct list *list) {
    const char *name = NULL;
    for (size_t i = 0; i < list->count; i++) {
        if (!is_candidate(&list->devices[i], false))
            continue;
        if (!has_text(list->devices[i].name) ||
            (name != NULL && strcmp(name, list->devices[i].name) != 0))
            return false;
        name = list->devices[i].name;
    }
    return true;
}

/* CUDA counts the fastest first unless it is told otherwise, and which is the fastest only it
 * knows. */
static bool has_known_order(const struct list *list, const char *order) {
    return board_count(list, false) <= 1 || (order != NULL && strcmp(order, "PCI_BUS_ID") == 0) ||
           are_same_model(list);
}

/* ---- CUDA_VISIBLE_DEVICES and AMD's ---- */

struct visible_list {
    size_t count;        /* entries until the first one that is none */
    int at[DEVICES_MAX]; /* device, or the number of a board where that cannot be translated */
    bool is_number, is_repeated, is_mixed;
};

/* The list ends at the first entry that names nothing. */
static void read_visible(const struct list *list, const char *text, bool amd, bool translate,
                         struct visible_list *ret) {
    char entry[ENTRY_SIZE];
    *ret = (struct visible_list){0};
    while (ret->count < DEVICES_MAX && next_entry(&text, entry)) {
        int64_t number = -1;
        bool is_number = leading_number(entry, &number);
        int at = is_number ? nth_board(list, number, amd) : by_name(list, entry);
        if (at < 0 || list->devices[at].is_amd != amd)
            return;
        ret->is_mixed = ret->is_mixed || (ret->count > 0 && is_number != ret->is_number);
        ret->is_number = is_number;
        if (is_number && !translate)
            at = (int)number;
        for (size_t i = 0; i < ret->count; i++)
            ret->is_repeated = ret->is_repeated || ret->at[i] == at;
        ret->at[ret->count++] = at;
    }
}

/* A divided board is reached through its slices, and by number or as a board only one of them. */
static void say_board(const struct list *list, int at, enum said *said) {
    if (!list->devices[at].is_divided) {
        said[at] = SAID_YES;
        return;
    }
    size_t slices = 0;
    for (size_t i = 0; i < list->count; i++)
        slices += list->devices[i].is_slice && list->devices[i].parent == at;
    for (size_t i = 0; i < list->count; i++)
        if (list->devices[i].is_slice && list->devices[i].parent == at)
            said[i] = slices == 1 ? SAID_YES : SAID_UNCLEAR;
}

static void ask_visible(const struct list *list, const char *text, bool amd, bool translate,
                        enum said *said) {
    struct visible_list visible;
    if (text == NULL)
        return;
    read_visible(list, text, amd, translate, &visible);
    for (size_t i = 0; i < list->count; i++)
        if (list->devices[i].is_amd == amd)
            said[i] = SAID_NO;
    if (visible.is_repeated && !visible.is_mixed) /* a device named twice: CUDA takes none */
        return;
    bool all = visible.is_number && !visible.is_mixed && !visible.is_repeated &&
               visible.count == board_count(list, amd);
    bool unclear = visible.is_mixed || (visible.is_number && !translate && !all);
    for (size_t i = 0; i < list->count && unclear && visible.count > 0; i++)
        if (list->devices[i].is_amd == amd)
            said[i] = SAID_UNCLEAR;
    for (size_t i = 0; i < visible.count && !unclear; i++)
        say_board(list,
                  visible.is_number && !translate ? nth_board(list, visible.at[i], amd)
                                                  : visible.at[i],
                  said);
}

/* HIP counts what ROCR leaves. */
static void ask_amd(const struct list *list, const char *rocr, const char *hip, enum said *said,
                    const char **by) {
    struct gpu_visible_device left[DEVICES_MAX];
    size_t place[DEVICES_MAX], count = 0;
    ask_visible(list, rocr, true, true, said);
    for (size_t i = 0; i < list->count; i++)
        if (list->devices[i].is_amd)
            by[i] = BY_ROCR;
    if (hip == NULL)
        return;
    struct visible_list order = {0};
    if (rocr != NULL)
        read_visible(list, rocr, true, true, &order);
    for (size_t i = 0; i < (rocr != NULL ? order.count : list->count); i++) {
        size_t at = rocr != NULL ? (size_t)order.at[i] : i;
        if (!list->devices[at].is_amd || (rocr != NULL && said[at] != SAID_YES))
            continue;
        left[count] = list->devices[at];
        place[count++] = at;
    }
    enum said said_left[DEVICES_MAX] = {0};
    ask_visible(&(struct list){left, count}, hip, true, true, said_left);
    for (size_t i = 0; i < count; i++) {
        said[place[i]] = said_left[i];
        by[place[i]] = BY_HIP;
    }
}

/* ---- the others ---- */

/* Numbers of Slurm are those of the device files on the node, "0,2-3". */
static void ask_slurm(const struct list *list, const char *text, enum said *said) {
    char entry[ENTRY_SIZE];
    enum said named[DEVICES_MAX] = {0};
    size_t found = 0, wanted = 0;
    if (!has_text(text))
        return;
    while (next_entry(&text, entry)) {
        int64_t from, to;
        char *dash = strchr(entry, '-');
        if (dash != NULL)
            *dash = '\0';
        if (!whole_number(entry, &from) || !whole_number(dash != NULL ? dash + 1 : entry, &to) ||
            to < from || to - from >= (int64_t)DEVICES_MAX) {
            say_all(list, SAID_UNCLEAR, said);
            return;
        }
        wanted += (size_t)(to - from) + 1;
        for (size_t i = 0; i < list->count; i++) {
            const struct gpu_visible_device *device = &list->devices[i];
            if (device->is_slice || device->minor < from || device->minor > to)
                continue;
            named[i] = SAID_YES;
            found++;
        }
    }
    bool divided = false;
    for (size_t i = 0; i < list->count; i++)
        divided = divided || list->devices[i].is_divided || list->devices[i].is_slice;
    /* Where not every number is a device of ours, they were renumbered, or are other things. */
    for (size_t i = 0; i < list->count; i++)
        said[i] = divided || found != wanted ? SAID_UNCLEAR
                  : named[i] == SAID_YES     ? SAID_YES
                                             : SAID_NO;
    if (!divided && found != wanted && wanted == board_count(list, false))
        say_all(list, SAID_YES, said);
}

/* Read by the container runtime, outside: its numbers are the host's, and a container sees only
 * what it was given. */
static void ask_nvidia(const struct list *list, const char *text, enum said *said) {
    char entry[ENTRY_SIZE];
    enum said named[DEVICES_MAX] = {0};
    size_t wanted = 0, found = 0;
    if (!has_text(text) || strcmp(text, "all") == 0 || strcmp(text, "void") == 0)
        return;
    if (strcmp(text, "none") == 0) {
        say_all(list, SAID_NO, said);
        return;
    }
    while (next_entry(&text, entry)) {
        int at = by_name(list, entry);
        wanted++;
        if (at < 0 || named[at] == SAID_YES)
            continue;
        if (list->devices[at].is_divided)
            say_board(list, at, named);
        else
            named[at] = SAID_YES;
        found++;
    }
    size_t usable = 0;
    for (size_t i = 0; i < list->count; i++)
        usable += !list->devices[i].is_divided && !list->devices[i].is_amd;
    if (found == wanted)
        for (size_t i = 0; i < list->count; i++)
            said[i] = named[i] == SAID_NOTHING ? SAID_NO : named[i];
    else if (found == 0 && wanted == usable)
        say_all(list, SAID_YES, said);
    else
        say_all(list, SAID_UNCLEAR, said);
}

/* A board by the driver's index; -1: none. */
static int by_index(const struct list *list, const char *text) {
    int64_t number;
    for (size_t i = 0; i < list->count && whole_number(text, &number); i++)
        if (!list->devices[i].is_slice && list->devices[i].index == number)
            return (int)i;
    return -1;
}

static bool is_beginning(const struct gpu_visible_device *device, const char *text) {
    return has_text(device->uuid) && strlen(text) > 4 && str_starts_with(device->uuid, text);
}

enum gpu_named gpu_visible_named(const struct gpu_visible_device *devices, size_t count,
                                 const char *name) {
    const struct list list = {devices, count < DEVICES_MAX ? count : DEVICES_MAX};
    if (strcmp(name, "all") == 0 || strcmp(name, "none") == 0 || by_name(&list, name) >= 0 ||
        by_index(&list, name) >= 0)
        return GPU_NAMED_ONE;
    for (size_t i = 0; i < list.count; i++)
        if (is_beginning(&devices[i], name))
            return GPU_NAMED_SEVERAL;
    return GPU_NAMED_NONE;
}

/* Of a person: a UUID or its beginning, the driver's index, all, none. A name that nothing has may
 * mean any of the others; one that several have, any of these. */
static void ask_option(const struct list *list, const char *const *option, enum said *said) {
    bool has_unknown = false;
    say_all(list, SAID_NO, said);
    for (size_t i = 0; option[i] != NULL; i++) {
        enum gpu_named named = gpu_visible_named(list->devices, list->count, option[i]);
        has_unknown = has_unknown || named == GPU_NAMED_NONE;
        for (size_t d = 0; d < list->count && named == GPU_NAMED_SEVERAL; d++)
            if (said[d] == SAID_NO && is_beginning(&list->devices[d], option[i]))
                said[d] = SAID_UNCLEAR;
        if (strcmp(option[i], "all") == 0)
            say_all(list, SAID_YES, said);
        int at = by_name(list, option[i]);
        at = at >= 0 ? at : by_index(list, option[i]);
        if (at >= 0)
            said[at] = SAID_YES;
        for (size_t d = 0; d < list->count && at >= 0; d++)
            if (list->devices[d].is_slice && list->devices[d].parent == at)
                said[d] = SAID_YES;
    }
    for (size_t d = 0; d < list->count && has_unknown; d++)
        if (said[d] == SAID_NO)
            said[d] = SAID_UNCLEAR;
}

/* ---- together ---- */

static void take(const struct list *list, const enum said *said, const char *by, bool *unclear,
                 struct gpu_visible_verdict *verdicts) {
    for (size_t i = 0; i < list->count; i++) {
        struct gpu_visible_verdict *verdict = &verdicts[i];
        if (verdict->mine != GPU_MINE_UNKNOWN)
            continue;
        if (said[i] == SAID_NO)
            *verdict = (struct gpu_visible_verdict){GPU_MINE_NO, by};
        else if (said[i] == SAID_YES && !unclear[i])
            *verdict = (struct gpu_visible_verdict){GPU_MINE_YES, by};
        else if (said[i] == SAID_UNCLEAR)
            unclear[i] = true;
    }
}

static void exclude(const struct list *list, struct gpu_visible_verdict *verdicts) {
    for (size_t i = 0; i < list->count; i++) {
        const struct gpu_visible_device *device = &list->devices[i];
        if (device->is_divided)
            verdicts[i] = (struct gpu_visible_verdict){GPU_MINE_NO, BY_DIVIDED};
        else if (device->allowed == 0)
            verdicts[i] = (struct gpu_visible_verdict){GPU_MINE_NO, BY_GROUP};
    }
}

static void take_only_one(const struct list *list, struct gpu_visible_verdict *verdicts) {
    size_t left = 0, at = 0;
    for (size_t i = 0; i < list->count; i++)
        if (verdicts[i].mine != GPU_MINE_NO) {
            left++;
            at = i;
        }
    if (left == 1 && verdicts[at].mine == GPU_MINE_UNKNOWN)
        verdicts[at] = (struct gpu_visible_verdict){GPU_MINE_YES, BY_ONLY};
}

void gpu_visible(const struct gpu_visible_device *devices, size_t count,
                 const struct gpu_visible_variables *variables, const char *const *option,
                 struct gpu_visible_verdict *ret_verdicts) {
    const struct list list = {devices, count < DEVICES_MAX ? count : DEVICES_MAX};
    bool unclear[DEVICES_MAX] = {0};
    enum said said[DEVICES_MAX] = {0};
    const char *by[DEVICES_MAX] = {0};
    memset(ret_verdicts, 0, count * sizeof *ret_verdicts);
    exclude(&list, ret_verdicts);
    if (option != NULL) {
        ask_option(&list, option, said);
        take(&list, said, BY_OPTION, unclear, ret_verdicts);
        for (size_t i = 0; i < list.count; i++)
            if (ret_verdicts[i].mine == GPU_MINE_UNKNOWN)
                ret_verdicts[i].by = BY_OPTION;
        return;
    }
    memset(said, 0, sizeof said);
    ask_visible(&list, variables->cuda_visible, false,
                has_known_order(&list, variables->cuda_order), said);
    take(&list, said, BY_CUDA, unclear, ret_verdicts);

    const char *hip =
        variables->hip_visible != NULL ? variables->hip_visible : variables->cuda_visible;
    memset(said, 0, sizeof said);
    ask_amd(&list, variables->rocr_visible, hip, said, by);
    for (size_t i = 0; i < list.count; i++)
        if (devices[i].is_amd)
            take(&(struct list){&devices[i], 1}, &said[i],
                 variables->hip_visible == NULL && by[i] != NULL && strcmp(by[i], BY_HIP) == 0
                     ? BY_CUDA
                     : by[i],
                 &unclear[i], &ret_verdicts[i]);

    const char *slurm =
        has_text(variables->slurm_step) ? variables->slurm_step : variables->slurm_job;
    memset(said, 0, sizeof said);
    ask_slurm(&list, slurm, said);
    take(&list, said, has_text(variables->slurm_step) ? BY_STEP : BY_JOB, unclear, ret_verdicts);
    memset(said, 0, sizeof said);
    ask_nvidia(&list, variables->nvidia_visible, said);
    for (size_t i = 0; i < list.count; i++)
        if (devices[i].is_amd)
            said[i] = SAID_NOTHING;
    take(&list, said, BY_NVIDIA, unclear, ret_verdicts);
    take_only_one(&list, ret_verdicts);
}

/* ---- the control group ---- */

/* "c 195:0 rwm", "c 195:* rw", "a *:* rwm" */
bool gpu_visible_allows(const char *devices_list, int64_t minor) {
    for (const char *line = devices_list; line != NULL && *line != '\0';) {
        char type, major_text[16], minor_text[16], access[8];
        int64_t number;
        if (sscanf(line, " %c %15[0-9*]:%15[0-9*] %7s", &type, major_text, minor_text, access) ==
                4 &&
            (type == 'a' || type == 'c') && strchr(access, 'r') != NULL &&
            strchr(access, 'w') != NULL &&
            (strcmp(major_text, "*") == 0 ||
             (whole_number(major_text, &number) && number == NVIDIA_MAJOR)) &&
            (strcmp(minor_text, "*") == 0 ||
             (whole_number(minor_text, &number) && number == minor)))
            return true;
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return false;
}

int gpu_visible_read_group(const struct root *root, struct strbuf *out) {
    struct cgroup_place place;
    char path[sizeof place.path + sizeof "/devices.list"];
    int rc = cgroup_find_devices(root, 0, &place);
    if (rc < 0)
        return rc;
    if (place.version != 1)
        return -ENOENT;
    snprintf(path, sizeof path, "%s/devices.list", place.path);
    return root_read(root, path, GROUP_LIST_LIMIT, out);
}
