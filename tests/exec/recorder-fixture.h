/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recorder with a journal and shared memory of its own, without a monitor. */
#pragma once

#include "../base/testing.h"

#include "base/fd.h"
#include "base/uuid.h"
#include "exec/recorder-parts.h"
#include "journal/journal.h"

struct fixture {
    char *folder;
    struct recorder recorder;
    struct recorder_context context;
    struct exec_options options;
};

static inline int recorder_setup(void **state) {
    struct fixture *fixture = mem_alloc(sizeof *fixture);
    void *folder;
    if (folder_setup(&folder) != 0)
        return 1;
    fixture->folder = folder;
    fixture->context.shared = fixture->recorder.shared = shared_new();
    fixture->context.options = fixture->recorder.options = &fixture->options;
    fixture->context.monitor = getpid();
    fixture->recorder.context = &fixture->context;
    fixture->recorder.past.incidents = json_object();
    fixture->recorder.marks_fd = -1;
    uuid_new(1, fixture->options.run);
    uuid_new(1, fixture->options.part);
    AUTO_JSON json_t *header = start_header(&fixture->context);
    struct err err = ERR_INIT;
    if (journal_create(fixture->folder, "run", header, &fixture->recorder.writer, &err) < 0)
        return 1;
    *state = fixture;
    return 0;
}

static inline int recorder_teardown(void **state) {
    struct fixture *fixture = *state;
    chunk_coder_done(&fixture->recorder.coder);
    journal_close(&fixture->recorder.writer);
    json_decref(fixture->recorder.past.incidents);
    shared_free(fixture->recorder.shared);
    void *folder = fixture->folder;
    int rc = folder_teardown(&folder);
    free(fixture);
    return rc;
}
