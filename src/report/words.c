/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The closed words (words.h). In English they are shown as options take them and JSON has them; in
 * another language they are explained by a translation. Must not be used for output for programs.
 */
#include "report/words.h"

#include "base/mem.h"
#include "base/msg.h"

#include <string.h>

static const char *const words[] = {
    /* outcomes */
    N_("running"),
    N_("ok"),
    N_("failed"),
    N_("start_failed"),
    N_("gpu_oom"),
    N_("host_oom"),
    N_("shm_exhausted"),
    N_("disk_full"),
    N_("access_denied"),
    N_("dependency"),
    N_("gpu_fault"),
    N_("budget"),
    N_("interrupted"),
    N_("killed"),
    N_("preempted"),
    N_("ended"),
    N_("lost"),
    /* purposes */
    N_("trial"),
    N_("function-test"),
    N_("work"),
    /* streams */
    N_("pipe"),
    N_("terminal"),
    N_("file"),
    N_("closed"),
    N_("null"),
    N_("socket"),
    N_("device"),
    N_("read-in-place"),
    N_("inherited"),
    N_("splice"),
    N_("copy"),
    /* what the record says of the machine */
    N_("host"),
    N_("kernel"),
    N_("architecture"),
    N_("distribution"),
    N_("distribution_id"),
    N_("distribution_version"),
    N_("cpu_model"),
    N_("virtualization"),
    N_("interpreters"),
    N_("packages"),
    N_("system"),
    /* where a fact of a phase comes from, scopes */
    N_("none"),
    N_("open"),
    N_("valid"),
    N_("invalid"),
    N_("chosen"),
    N_("confirmed"),
    N_("undetermined"),
    N_("unchecked"),
    N_("not-checked"),
    N_("unknown"),
    N_("cold"),
    N_("warm"),
    N_("measured"),
    N_("yes"),
    N_("no"),
    N_("swap"),
    N_("unattributed"),
    N_("option"),
    N_("pattern"),
    N_("mark"),
};

const char *words_shown(const char *word) {
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (strcmp(words[i], word) == 0)
            return msg_get(words[i]);
    return word;
}
