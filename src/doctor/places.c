/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Room for weights, and whether the folders that runs write to take files. */
#include "doctor/parts.h"

#include "base/msg.h"

#include <errno.h>
#include <string.h>

/* Below these a run is likely to meet the end of the disk; PyTorch's workers fill /dev/shm (docker
 * gives 64 MiB unless told otherwise). */
#define LITTLE_BYTES     5e9
#define LITTLE_SHM_BYTES 1e9
#define LITTLE_INODES    10000.0

static const char *role_text(const char *role) {
    static const struct {
        const char *role, *text;
    } roles[] = {
        {"weights", N_("the folder for weights")},
        {"working-folder", N_("the working folder")},
        {"temporary", N_("the temporary folder")},
        {"shared-memory", N_("shared memory")},
        {"home", N_("the home folder")},
        {"records", N_("the folder for records")},
        {"kernels", N_("the cache of compiled kernels")},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(roles); i++)
        if (strcmp(roles[i].role, role) == 0)
            return msg_get(roles[i].text);
    return role;
}

static const char *place_text(struct judging *judging, const struct doctor_place *place) {
    return arena_printf(judging->arena, "%s (%s)", role_text(place->role),
                        doctor_plain(judging, place->path));
}

static void judge_weights(struct judging *judging, const struct doctor_place *place) {
    const struct doctor_input *input = judging->input;
    const char *where = place_text(judging, place);
    if (!quantity_is_known(&place->free)) {
        doctor_add_quantity(
            doctor_add(judging, DOCTOR_DISK, "disk-open", DOCTOR_OPEN,
                       arena_printf(judging->arena, _("%s does not tell its free space"), where),
                       NULL),
            place->free);
        return;
    }
    const char *bytes = doctor_bytes(judging, place->free.value);
    struct doctor_finding *finding;
    if (input->has_weights && place->free.value < input->weights_bytes)
        finding =
            doctor_add(judging, DOCTOR_DISK, "disk-too-small", DOCTOR_PROBLEM,
                       arena_printf(judging->arena, _("%s has %s free; the weights need %s"), where,
                                    bytes, doctor_bytes(judging, input->weights_bytes)),
                       _("take a larger disk, or put HF_HOME on one that is"));
    else if (input->has_weights)
        finding = doctor_add(judging, DOCTOR_DISK, "disk-weights", DOCTOR_KNOWN,
                             arena_printf(judging->arena, _("%s has %s free, enough for %s"), where,
                                          bytes, doctor_bytes(judging, input->weights_bytes)),
                             NULL);
    else if (place->free.value < LITTLE_BYTES)
        finding = doctor_add(judging, DOCTOR_DISK, "disk-low", DOCTOR_WARNING,
                             arena_printf(judging->arena, _("%s has only %s free"), where, bytes),
                             _("say what must fit: --weights 16GB"));
    else
        finding = doctor_add(judging, DOCTOR_DISK, "disk-free", DOCTOR_OPEN,
                             arena_printf(judging->arena,
                                          _("%s has %s free; whether the weights fit is open"),
                                          where, bytes),
                             _("say what must fit: --weights 16GB"));
    doctor_add_quantity(finding, place->free);
    if (place->is_network)
        (void)doctor_add(judging, DOCTOR_DISK, "disk-network", DOCTOR_WARNING,
                         arena_printf(judging->arena,
                                      _("%s lies on a network file system (%s): loading depends on "
                                        "who else uses it"),
                                      where, doctor_plain(judging, place->type)),
                         _("copy the weights to a local disk before the paid hours begin"));
}

static void judge_writing(struct judging *judging, const struct doctor_place *place) {
    const char *where = place_text(judging, place);
    if (place->write_error != 0) {
        bool full = place->write_error == ENOSPC || place->write_error == EDQUOT;
        (void)doctor_add(
            judging, DOCTOR_PLACES, full ? "place-full" : "place-not-writable", DOCTOR_PROBLEM,
            arena_printf(judging->arena, _("%s takes no files: %s"), where,
                         strerror(place->write_error)),
            place->variable != NULL
                ? arena_printf(judging->arena, _("name another one in %s"), place->variable)
                : NULL);
        return;
    }
    bool is_cache = strcmp(place->role, "temporary") == 0 || strcmp(place->role, "kernels") == 0;
    if (is_cache && place->no_exec)
        (void)doctor_add(
            judging, DOCTOR_PLACES, "place-no-exec", DOCTOR_WARNING,
            arena_printf(judging->arena,
                         _("%s is mounted noexec: kernels that are compiled when first "
                           "used (Triton, torch.compile) cannot be loaded from it"),
                         where),
            _("name another one in TMPDIR and TRITON_CACHE_DIR"));
    if (strcmp(place->role, "shared-memory") == 0 && quantity_is_known(&place->size) &&
        place->size.value < LITTLE_SHM_BYTES) {
        doctor_add_quantity(
            doctor_add(
                judging, DOCTOR_PLACES, "place-shm-small", DOCTOR_WARNING,
                arena_printf(judging->arena,
                             _("%s holds only %s: data loaders with workers end in bus errors"),
                             where, doctor_bytes(judging, place->size.value)),
                _("start the container with --shm-size 8g or --ipc host")),
            place->size);
        return;
    }
    if (quantity_is_known(&place->inodes_free) && place->inodes_free.value < LITTLE_INODES)
        doctor_add_quantity(
            doctor_add(judging, DOCTOR_PLACES, "place-few-inodes", DOCTOR_WARNING,
                       arena_printf(judging->arena, _("%s has room for %.0f files only"), where,
                                    place->inodes_free.value),
                       NULL),
            place->inodes_free);
    struct doctor_finding *finding =
        doctor_add(judging, DOCTOR_PLACES, "place-writable", DOCTOR_KNOWN,
                   arena_printf(judging->arena, _("%s takes files"), where), NULL);
    finding->place = where;
    doctor_add_quantity(finding, place->free);
}

void doctor_judge_places(struct judging *judging) {
    const struct doctor_input *input = judging->input;
    for (size_t i = 0; i < input->place_count; i++)
        if (strcmp(input->places[i].role, "weights") == 0)
            judge_weights(judging, &input->places[i]);
    for (size_t i = 0; i < input->place_count; i++)
        judge_writing(judging, &input->places[i]);
}
