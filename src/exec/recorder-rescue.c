/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A journal whose name was removed or moved while it was written would vanish with its writer: what
 * it holds is written again under a name. Must not touch what somebody else put there meanwhile. */
#include "exec/recorder-parts.h"

#include "base/fd.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_its_name(const struct journal_writer *writer) {
    struct stat open_file, named_file;
    return fstat(writer->fd, &open_file) == 0 && lstat(writer->path, &named_file) == 0 &&
           open_file.st_dev == named_file.st_dev && open_file.st_ino == named_file.st_ino;
}

static bool read_back(const struct journal_writer *writer, struct strbuf *bytes) {
    char piece[65536];
    while (bytes->length < writer->end) {
        ssize_t got = pread(writer->fd, piece, sizeof piece, (off_t)bytes->length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        strbuf_add(bytes, piece, (size_t)got);
    }
    return true;
}

/* The new file has a HEADER of its own already. */
static bool copy_records(struct journal_writer *to, const struct strbuf *bytes) {
    struct err err = ERR_INIT;
    struct journal_reader reader;
    struct journal_record record;
    if (journal_reader_init(&reader, bytes->data, bytes->length, &err) < 0)
        return false;
    while (journal_reader_next(&reader, &record) > 0) {
        if (record.kind == JOURNAL_HEADER)
            continue;
        if (journal_append(to, (enum journal_kind)record.kind, record.version, record.payload,
                           record.length, true, &err) < 0)
            return false;
    }
    return true;
}

bool recorder_keep_place(struct recorder *recorder) {
    if (recorder->writer.fd < 0 || has_its_name(&recorder->writer))
        return true;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    if (!read_back(&recorder->writer, &bytes))
        return false;
    struct journal_writer old = recorder->writer;
    recorder->writer = JOURNAL_WRITER_INIT;
    if (!recorder_find_place(recorder)) {
        recorder->writer = old;
        return false;
    }
    journal_close(&old);
    return copy_records(&recorder->writer, &bytes);
}
