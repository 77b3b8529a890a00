/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looks at argv alone: the program, what stands behind wrappers (env, nice, timeout, …), and the
 * command words of `sh -c` texts. A name that is not there says nothing; a name that is there is a
 * hint, never an error.
 */
#include "exec/blind-spots.h"

#include "base/mem.h"
#include "base/msg.h"

#include <stdbool.h>
#include <string.h>

#define WORD_MAX  64
#define DEPTH_MAX 8

static const struct blind_spot {
    const char *program, *text;
} spots[] = {
    {"docker",
     N_("containers are children of the docker daemon, not of this command; measure inside: "
        "docker run ... probelauf run -- COMMAND; or, once it runs on this machine, from outside: "
        "probelauf run --attach $(docker inspect -f '{{.State.Pid}}' CONTAINER)")},
    {"podman",
     N_("a container may leave this process tree; measure inside: podman run ... probelauf run -- "
        "COMMAND; or, once it runs on this machine, from outside: probelauf run --attach $(podman "
        "inspect -f '{{.State.Pid}}' CONTAINER)")},
    {"nerdctl",
     N_("containers are children of containerd; measure inside: nerdctl run ... probelauf run -- "
        "COMMAND; or, once it runs on this machine, from outside: probelauf run --attach $(nerdctl "
        "inspect -f '{{.State.Pid}}' CONTAINER)")},
    {"kubectl",
     N_("the work runs in a pod; measure inside: kubectl exec POD -- probelauf run -- COMMAND")},
    {"srun", N_("tasks are children of slurmstepd, also on other nodes; measure inside: srun ... "
                "probelauf run -- COMMAND")},
    {"sbatch", N_("the job runs later and elsewhere; measure inside the job script: probelauf run "
                  "-- COMMAND")},
    {"salloc", N_("steps run outside of this process tree; measure inside: salloc ... srun "
                  "probelauf run -- COMMAND")},
    {"mpirun", N_("ranks on other nodes are not seen; measure each rank: mpirun ... probelauf run "
                  "-- COMMAND")},
    {"mpiexec", N_("ranks on other nodes are not seen; measure each rank: mpiexec ... probelauf "
                   "run -- COMMAND")},
    {"ssh",
     N_("the work runs on another machine; measure there: ssh HOST probelauf run -- COMMAND")},
    {"tmux", N_("windows are children of the tmux server; measure inside the window: probelauf run "
                "-- COMMAND; or from outside: probelauf run --attach PID")},
    {"screen", N_("windows are children of the screen server; measure inside the window: probelauf "
                  "run -- COMMAND; or from outside: probelauf run --attach PID")},
    {"sudo", N_("files of another user's processes cannot all be read; measure inside: sudo "
                "probelauf run -- COMMAND")},
    {"su", N_("files of another user's processes cannot all be read; measure inside: su USER -c "
              "'probelauf run -- COMMAND'")},
    {"ray",
     N_("workers are children of an already running raylet; start ray itself under probelauf run, "
        "or attach to it: probelauf run --attach PID of the raylet")},
    {"systemd-run", N_("the work runs in a unit of its own; measure inside: systemd-run ... "
                       "probelauf run -- COMMAND; or from outside: probelauf run --attach PID")},
    {"at", N_("the work runs later; measure inside the job: probelauf run -- COMMAND")},
    {"batch", N_("the work runs later; measure inside the job: probelauf run -- COMMAND")},
};

static const char *const wrappers[] = {"env",     "nice",   "ionice",  "nohup",   "time",
                                       "timeout", "stdbuf", "setsid",  "taskset", "numactl",
                                       "chrt",    "exec",   "command", "unbuffer"};
static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", "ash"};

static bool contains(const char *const *list, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void add_program(json_t *list, const char *path) {
    const char *name = base_name(path);
    for (size_t i = 0; i < ARRAY_LENGTH(spots); i++) {
        if (strcmp(spots[i].program, name) != 0)
            continue;
        for (size_t k = 0; k < json_array_size(list); k++)
            if (strcmp(json_get_text(json_array_get(list, k), "id", ""), name) == 0)
                return;
        json_t *spot = json_object();
        json_put_text(spot, "id", name);
        json_put_text(spot, "text", spots[i].text);
        json_array_append_new(list, spot);
    }
}

/* The words of a shell text that stand where a command stands. Quoting is not undone: a quoted
 * blank at worst hides a word. */
static void add_script(json_t *list, const char *text) {
    bool command_next = true;
    while (*text != '\0') {
        if (strchr(" \t", *text) != NULL) {
            text++;
            continue;
        }
        if (strchr(";|&()\n{}!", *text) != NULL) {
            command_next = true;
            text++;
            continue;
        }
        size_t length = strcspn(text, " \t;|&()\n{}");
        char word[WORD_MAX];
        if (command_next && length < sizeof word) {
            memcpy(word, text, length);
            word[length] = '\0';
            bool goes_on = strchr(word, '=') != NULL ||
                           contains(wrappers, ARRAY_LENGTH(wrappers), base_name(word)) ||
                           strcmp(word, "do") == 0 || strcmp(word, "then") == 0 ||
                           strcmp(word, "else") == 0;
            if (!goes_on)
                add_program(list, word);
            command_next = goes_on;
        } else {
            command_next = false;
        }
        text += length;
    }
}

/* "5", "1.5h": what wrappers take before their command. */
static bool is_amount(const char *word) {
    return *word >= '0' && *word <= '9' && strspn(word, "0123456789.smhd") == strlen(word);
}

/* Behind a wrapper: the first word that is no option, no assignment and no number (timeout 5, nice
 * -n 3). */
static const char *const *behind_wrapper(const char *const *argv) {
    for (argv++; *argv != NULL; argv++)
        if ((*argv)[0] != '-' && strchr(*argv, '=') == NULL && !is_amount(*argv))
            return argv;
    return NULL;
}

json_t *blind_spots_find(const char *const *argv) {
    json_t *list = json_array();
    for (int depth = 0; depth < DEPTH_MAX && argv != NULL && *argv != NULL; depth++) {
        const char *name = base_name(*argv);
        add_program(list, *argv);
        if (contains(shells, ARRAY_LENGTH(shells), name)) {
            for (const char *const *word = argv + 1; *word != NULL; word++)
                if ((*word)[0] == '-' && (*word)[1] != '-' && strchr(*word, 'c') != NULL &&
                    word[1] != NULL) {
                    add_script(list, word[1]);
                    break;
                }
            break;
        }
        if (!contains(wrappers, ARRAY_LENGTH(wrappers), name))
            break;
        argv = behind_wrapper(argv);
    }
    return list;
}
