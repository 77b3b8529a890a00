/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading output beside its way. Constant memory, bounded CPU time, exact times of lines where a
 * copier stamped them. */
#include "exec/text-channel.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/msg.h"
#include "exec/cpu-time.h"
#include "exec/ready.h"
#include "exec/recorder-parts.h"
#include "text/incident.h"
#include "text/pattern.h"
#include "text/phase-patterns.h"
#include "text/secret.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PIECE_BYTES  (64u << 10)
#define TAIL_BYTES   (16u << 10) /* kept, so that masking sees whole lines ... */
#define TAIL_WRITTEN (8u << 10)  /* ... of which so much is written */
/* CPU time for looking at text: 5 % of a core, and a start-up allowance that covers tens of
 * megabytes. */
#define SHARE_PER_S_NS (50 * NS_PER_MS)
#define SHARE_FIRST_NS (500 * NS_PER_MS)
#define SHARE_LAST_NS  (300 * NS_PER_MS) /* at the end, when somebody waits */
#define CATCH_UP_BYTES                                                        \
    (64u << 10) /* what is looked at when the rest is passed over: the newest \
                 */
#define FILE_LOOK_MS 100
/* Lines of known programs (text/phase-patterns.h) are not looked for where this is 0. */
#define KNOWN_SWITCH "PROBELAUF_PATTERNS"

struct text_channel {
    const struct recorder_context *context;
    const struct expectations *expectations;
    struct text_ring *ring; /* counters, also of a file */
    size_t index;
    bool is_file, is_both;
    bool wants_lines;
    struct in_place place;
    uint64_t offset; /* bytes looked at or passed over */
    uint64_t hole_from, hole_bytes;
    int64_t hole_from_t_ns, hole_to_t_ns;
    int64_t share_ns, share_time_ns; /* CPU time left, and when that was */
    int64_t read_mono_ns;            /* of the piece being looked at */
    struct incident_scanner *scanner;
    struct line_splitter *splitter; /* NULL: nobody wants lines */
    struct phase_lines *known;      /* NULL: switched off */
    bool wants_known_only;          /* so pieces without any of their words are passed over */
    struct recorder *recorder;      /* while reading */
    char tail[TAIL_BYTES];
    uint64_t tail_end; /* stream offset behind the tail's newest byte */
    size_t tail_length;
};

/* ---- lines ---- */

/* A line in which a known program may say something. */
struct known_line {
    struct text_channel *channel;
    const char *line;
    uint64_t offset;
};

static json_t *phase_record(const char *phase, const char *event, const char *line, int64_t t_ns) {
    json_t *record = json_object();
    json_put_int(record, "t_ns", t_ns < 0 ? 0 : t_ns);
    json_put_text(record, "event", event);
    json_put_text(record, "name", phase);
    json_put_text(record, "source", "pattern");
    AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
    secret_mask(line, strlen(line), &masked);
    json_put_text(record, "line", strbuf_str(&masked));
    return record;
}

static void write_phase(struct text_channel *channel, json_t *take_record, uint64_t offset) {
    recorder_write(channel->recorder, JOURNAL_PHASE, take_record, false);
    atomic_store(&channel->ring->phased, offset + 1);
}

static int64_t line_t_ns(const struct text_channel *channel, uint64_t offset) {
    int64_t mono_ns = channel->is_file
                          ? channel->read_mono_ns
                          : text_ring_time(channel->ring, offset, channel->read_mono_ns);
    return mono_ns - channel->context->shared->start.mono_ns;
}

static bool waits_for_line(const struct recorder_context *context) {
    return context->options->ready != NULL && !ready_is_address(context->options->ready);
}

static void take_known(const struct phase_line *found, void *context) {
    static const char *const events[] = {"begin", "end", "told"};
    const struct known_line *known = context;
    json_t *record = phase_record(found->phase, events[found->event], known->line,
                                  line_t_ns(known->channel, known->offset + found->at));
    json_put_text(record, "stack", found->stack);
    if (found->rank[0] != '\0')
        json_put_text(record, "rank", found->rank);
    if (found->seconds >= 0)
        json_put_real(record, "seconds", found->seconds);
    if (found->goes_on)
        json_put_bool(record, "goes_on", true);
    if (found->tentative)
        json_put_bool(record, "tentative", true);
    write_phase(known->channel, record, known->offset);
}

static void take_line(const char *line, size_t length, uint64_t offset, void *context) {
    struct text_channel *channel = context;
    struct shared *shared = channel->context->shared;
    atomic_fetch_or(&shared->markers_seen, expectations_match(channel->expectations, line));
    bool is_ready = ready_is_line(channel->recorder, channel->recorder->ready, line);
    const char *phase, *event;
    if (is_ready)
        ready_take_line(channel->recorder, channel->recorder->ready, line,
                        line_t_ns(channel, offset));
    if (offset < atomic_load(&channel->ring->phased))
        return; /* a recorder before us has it */
    /* What the user says of a line is what it means. */
    if (channel->context->patterns != NULL &&
        pattern_set_match(channel->context->patterns, line, &phase, &event)) {
        write_phase(channel, phase_record(phase, event, line, line_t_ns(channel, offset)), offset);
    } else if (channel->known != NULL && phase_lines_may_have(line, length)) {
        struct known_line known = {channel, line, offset};
        phase_lines_take(channel->known, line, take_known, &known);
    }
}

/* ---- setting up ---- */

static bool is_both(const struct shared *shared) {
    return shared->streams[2].shared_with == 1 && shared->streams[2].tee != TEE_INHERITED;
}

/* After a recorder that died: what it had looked at is looked at once more, as far as it is still
 * there, for the incidents that it had found went with it. */
static uint64_t first_offset(const struct text_channel *channel) {
    uint64_t seen = atomic_load(&channel->ring->read);
    uint64_t end = channel->is_file ? seen : atomic_load(&channel->ring->written);
    uint64_t oldest = end > SHARED_TEXT_BYTES ? end - SHARED_TEXT_BYTES : 0;
    return oldest < seen ? oldest : seen;
}

struct text_channel *text_channel_new(const struct recorder_context *context, size_t index,
                                      const struct expectations *expectations) {
    const struct in_place *place = &context->streams->in_place[index];
    const struct stream_facts *facts = &context->shared->streams[index + 1];
    bool is_file = place->read_fd >= 0;
    bool has_ring = facts->tee == TEE_SPLICE || facts->tee == TEE_PTY || facts->tee == TEE_COPY;
    if ((!is_file && !has_ring) || (index == 1 && is_both(context->shared)))
        return NULL;
    struct text_channel *channel = mem_alloc(sizeof *channel);
    channel->context = context;
    channel->expectations = expectations;
    channel->ring = &context->shared->text[index];
    channel->index = index;
    channel->is_file = is_file;
    channel->is_both = index == 0 && is_both(context->shared);
    channel->place = *place;
    channel->share_ns = SHARE_FIRST_NS;
    channel->share_time_ns = clock_mono_ns();
    channel->wants_lines = context->patterns != NULL || waits_for_line(context) ||
                           expectations_has_markers(expectations);
    const char *known = getenv(KNOWN_SWITCH);
    if (known == NULL || strcmp(known, "0") != 0)
        channel->known = phase_lines_new();
    channel->wants_known_only = channel->known != NULL && !channel->wants_lines;
    if (channel->wants_lines || channel->known != NULL)
        channel->splitter = line_splitter_new(take_line, channel);
    channel->offset = first_offset(channel);
    return channel;
}

const char *text_channel_name(const struct text_channel *channel) {
    if (channel->is_both)
        return "both";
    return channel->index == 0 ? "stdout" : "stderr";
}

/* ---- reading ---- */

/* How far the stream has come. A file that was shortened, or that is written elsewhere as well,
 * tells what it can. */
static uint64_t file_bytes(const struct text_channel *channel) {
    const struct in_place *place = &channel->place;
    struct stat status;
    if (fstat(place->read_fd, &status) < 0 || status.st_size < 0)
        return channel->offset;
    uint64_t end = (uint64_t)status.st_size;
    off_t position = place->appends ? -1 : lseek(place->position_fd, 0, SEEK_CUR);
    if (position >= 0 && (uint64_t)position < end)
        end = (uint64_t)position; /* opened without truncation: what lies behind is older */
    return end > place->start ? end - place->start : 0;
}

uint64_t text_channel_bytes(const struct text_channel *channel) {
    return channel->is_file ? file_bytes(channel) : atomic_load(&channel->ring->moved);
}

uint64_t text_channel_unseen(const struct text_channel *channel) {
    return atomic_load(&channel->ring->unseen);
}

bool text_channel_has_all(const struct text_channel *channel, bool last) {
    return text_channel_unseen(channel) == 0 &&
           (channel->splitter == NULL || !line_splitter_has_cut(channel->splitter)) &&
           (!last || channel->offset >= text_channel_bytes(channel));
}

static size_t read_piece(struct text_channel *channel, char *piece, uint64_t *ret_missed) {
    *ret_missed = 0;
    if (!channel->is_file)
        return text_ring_read(channel->ring, &channel->offset, piece, PIECE_BYTES, ret_missed);
    uint64_t end = file_bytes(channel);
    if (end <= channel->offset)
        return 0;
    size_t want =
        end - channel->offset < PIECE_BYTES ? (size_t)(end - channel->offset) : PIECE_BYTES;
    ssize_t got =
        pread(channel->place.read_fd, piece, want, (off_t)(channel->place.start + channel->offset));
    if (got <= 0)
        return 0;
    channel->offset += (uint64_t)got;
    return (size_t)got;
}

static void add_tail(struct text_channel *channel, const char *bytes, size_t length, uint64_t end) {
    if (length >= TAIL_BYTES) {
        memcpy(channel->tail, bytes + length - TAIL_BYTES, TAIL_BYTES);
        channel->tail_length = TAIL_BYTES;
    } else {
        size_t keep =
            channel->tail_length + length > TAIL_BYTES ? TAIL_BYTES - length : channel->tail_length;
        memmove(channel->tail, channel->tail + channel->tail_length - keep, keep);
        memcpy(channel->tail + keep, bytes, length);
        channel->tail_length = keep + length;
    }
    channel->tail_end = end;
}

/* Bytes that nobody looks at: the lines on both sides of the hole are not whole. */
static void skip(struct text_channel *channel, uint64_t bytes) {
    int64_t now_t_ns = clock_mono_ns() - channel->context->shared->start.mono_ns;
    if (channel->hole_bytes == 0) {
        channel->hole_from = channel->offset;
        channel->hole_from_t_ns = now_t_ns;
    }
    channel->hole_bytes += bytes;
    channel->hole_to_t_ns = now_t_ns;
    channel->tail_length = 0;
    atomic_fetch_add(&channel->ring->unseen, bytes);
    if (channel->scanner != NULL)
        incident_scanner_skip(channel->scanner, bytes);
    if (channel->splitter != NULL)
        line_splitter_skip(channel->splitter, bytes);
}

static void earn_share(struct text_channel *channel) {
    int64_t now_ns = clock_mono_ns();
    double earned =
        (double)(now_ns - channel->share_time_ns) * ((double)SHARE_PER_S_NS / (double)NS_PER_S);
    channel->share_time_ns = now_ns;
    channel->share_ns += (int64_t)earned;
    if (channel->share_ns > SHARE_FIRST_NS)
        channel->share_ns = SHARE_FIRST_NS;
}

/* Over the share: on to the newest bytes. */
static void catch_up(struct text_channel *channel) {
    uint64_t end = channel->is_file ? file_bytes(channel) : atomic_load(&channel->ring->written);
    if (end <= channel->offset + CATCH_UP_BYTES)
        return;
    uint64_t passed = end - CATCH_UP_BYTES - channel->offset;
    channel->offset += passed;
    skip(channel, passed);
}

/* It takes half a megabyte: many commands say nothing on most of their streams. */
static struct incident_scanner *scanner_of(struct text_channel *channel) {
    if (channel->scanner == NULL)
        channel->scanner = incident_scanner_new();
    return channel->scanner;
}

/* Where only lines of known programs are wanted, nearly all output holds none: then only what may
 * go on in the pieces before and behind is looked at, for a word may be cut. */
static void split(struct text_channel *channel, const char *piece, size_t length) {
    const char *first = memchr(piece, '\n', length), *last = memrchr(piece, '\n', length);
    if (!channel->wants_known_only || first == last || phase_lines_may_have(piece, length)) {
        line_splitter_feed(channel->splitter, piece, length);
        return;
    }
    line_splitter_feed(channel->splitter, piece, (size_t)(first - piece) + 1);
    line_splitter_skip(channel->splitter, (uint64_t)(last - first - 1));
    line_splitter_feed(channel->splitter, last, (size_t)(piece + length - last));
}

static void look_at(struct text_channel *channel, const char *piece, size_t length) {
    incident_scanner_feed(scanner_of(channel), piece, length);
    if (channel->splitter != NULL)
        split(channel, piece, length);
    add_tail(channel, piece, length, channel->offset);
    atomic_store(&channel->ring->read, channel->offset);
}

void text_channel_read(struct text_channel *channel, struct recorder *recorder, bool last) {
    char piece[PIECE_BYTES];
    channel->recorder = recorder;
    earn_share(channel);
    if (last && channel->share_ns < SHARE_LAST_NS)
        channel->share_ns = SHARE_LAST_NS;
    bool caught_up = false;
    for (;;) {
        if (channel->share_ns <= 0) {
            if (caught_up)
                break; /* a stream that is faster than we are, even now */
            catch_up(channel);
            caught_up = true;
        }
        uint64_t missed;
        int64_t before_ns = cpu_time_thread_ns();
        channel->read_mono_ns = clock_mono_ns();
        size_t length = read_piece(channel, piece, &missed);
        if (missed > 0)
            skip(channel, missed);
        if (length == 0)
            break;
        look_at(channel, piece, length);
        channel->share_ns -= cpu_time_thread_ns() - before_ns;
    }
}

bool text_channels_are_busy(struct text_channel *const *channels, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (channels[i] != NULL && channels[i]->share_ns <= 0)
            return true;
    return false;
}

int text_channels_wait_ms(struct text_channel *const *channels, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (channels[i] != NULL && channels[i]->is_file &&
            (channels[i]->known != NULL || channels[i]->context->patterns != NULL ||
             waits_for_line(channels[i]->context)))
            return FILE_LOOK_MS;
    return -1;
}

/* ---- the end ---- */

static void write_tail(struct text_channel *channel, struct recorder *recorder) {
    const char *from = channel->tail;
    size_t length = channel->tail_length;
    /* Where the beginning is cut the first line is not whole, and a secret in it could not be
     * recognised. */
    if (channel->tail_end > channel->tail_length) {
        const char *line_end = memchr(from, '\n', length);
        if (line_end != NULL && (size_t)(line_end + 1 - from) < length) {
            length -= (size_t)(line_end + 1 - from);
            from = line_end + 1;
        }
    }
    if (length == 0)
        return;
    AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
    secret_mask(from, length, &masked);
    const char *text = strbuf_str(&masked);
    size_t cut = masked.length > TAIL_WRITTEN ? masked.length - TAIL_WRITTEN : 0;
    const char *next = cut > 0 ? memchr(text + cut, '\n', masked.length - cut) : NULL;
    if (next != NULL)
        cut = (size_t)(next + 1 - text);
    json_t *record = json_object();
    json_put_text(record, "channel", text_channel_name(channel));
    json_put_int(record, "offset", (int64_t)(channel->tail_end - length));
    json_put(record, "text", json_text_n(text + cut, masked.length - cut));
    json_put_text(record, "why", "tail");
    recorder_write(recorder, JOURNAL_TEXT, record, true);
}

static void write_incidents(struct text_channel *channel, struct recorder *recorder,
                            bool ended_ok) {
    for (size_t i = 0; i < incident_scanner_count(channel->scanner); i++) {
        const struct incident *incident = incident_scanner_get(channel->scanner, i);
        json_t *figures = incident->figures != NULL ? json_deep_copy(incident->figures) : NULL;
        recorder_write_incident(recorder, incident->name, "text", incident->line, figures,
                                ended_ok || incident->survived);
    }
    uint64_t dropped = incident_scanner_dropped(channel->scanner);
    if (dropped > 0) {
        recorder_write_gap(recorder, "incidents", 0, recorder_t_ns(recorder),
                           N_("further incidents in the output were only counted"), dropped);
    }
}

void text_channel_finish(struct text_channel *channel, struct recorder *recorder, bool ended_ok) {
    channel->recorder = recorder;
    if (channel->splitter != NULL)
        line_splitter_finish(channel->splitter);
    if (channel->scanner != NULL) {
        incident_scanner_finish(channel->scanner);
        write_incidents(channel, recorder, ended_ok);
    }
    if (channel->hole_bytes > 0) {
        recorder_write_gap(recorder, "text", channel->hole_from_t_ns, channel->hole_to_t_ns,
                           N_("bytes of the output passed faster than they could be looked at"),
                           channel->hole_bytes);
    }
    if (!ended_ok)
        write_tail(channel, recorder);
}
