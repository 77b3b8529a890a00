/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Moves bytes. Order of one round: tee (a copy into the side pipe), splice (delivery), then the
 * copy into the text ring. A kill between any two of them loses no byte of the stream; at worst the
 * recorder sees a block twice or not at all. Sources: splice(2), tee(2), pipe(7), ioctl_tty(2);
 * Linux fs/splice.c.
 */
#include "exec/copier.h"

#include "base/clock.h"
#include "base/fd.h"
#include "exec/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#define BLOCK_BYTES (64u << 10)

struct copier {
    struct shared *shared;
    struct text_ring *ring;
    const struct channel *channel;
    size_t index;
    int target; /* our own descriptor of the user's stream */
    int bell;
    int64_t arrival_ns; /* when the bytes being moved were there */
    uint64_t rung_at;   /* how far the recorder had read when it was last woken */
    bool copies;        /* splice to the target was refused: read and write */
    bool tap_copies;    /* splice from the terminal was refused */
    char block[BLOCK_BYTES];
};

/* -EPIPE, also for a terminal that hung up (EIO): the user's stream takes no more. */
static int target_error(int error) {
    return error == EIO || error == ENXIO ? -EPIPE : -error;
}

static void wait_for(int fd, short events) {
    struct pollfd watched = {fd, events, 0};
    while (poll(&watched, 1, -1) < 0 && errno == EINTR)
        ;
}

static int write_target(struct copier *copier, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t written = write(copier->target, bytes, length);
        if (written < 0) {
            if (errno == EAGAIN)
                wait_for(copier->target, POLLOUT);
            else if (errno != EINTR)
                return target_error(errno);
            continue;
        }
        bytes += written;
        length -= (size_t)written;
        atomic_fetch_add(&copier->ring->moved, (uint64_t)written);
    }
    return 0;
}

/* ---- text ring ---- */

/* Once for each time that it has read something: a recorder that is busy or stopped is not rung at
 * again and again. */
static void wake_recorder(struct copier *copier) {
    uint64_t read = atomic_load(&copier->ring->read);
    uint64_t unread = atomic_load(&copier->ring->written) - read;
    if (copier->bell < 0 || unread < SHARED_TEXT_BYTES / 2 || copier->rung_at == read + 1)
        return;
    copier->rung_at = read + 1; /* 0: never */
    eventfd_write(copier->bell, 1);
}

/* Empties the side pipe straight into the ring: no bytes pass through this process's own memory. */
static void drain_side(struct copier *copier) {
    for (;;) {
        struct text_pieces pieces = text_ring_reserve(copier->ring, BLOCK_BYTES);
        struct iovec parts[2] = {{pieces.at[0], pieces.length[0]},
                                 {pieces.at[1], pieces.length[1]}};
        ssize_t got = readv(copier->channel->side[0], parts, 2);
        if (got < 0 && errno == EINTR)
            continue;
        text_ring_publish(copier->ring, got > 0 ? (size_t)got : 0, copier->arrival_ns);
        if (got <= 0)
            break;
        wake_recorder(copier);
        if ((size_t)got < BLOCK_BYTES)
            break;
    }
}

/* ---- moving ---- */

/* read(2) from the pipe and write(2): for targets that refuse splice. */
static int copy_block(struct copier *copier, int from, size_t limit) {
    ssize_t got = read(from, copier->block, limit < BLOCK_BYTES ? limit : BLOCK_BYTES);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN ? 0 : -errno;
    return write_target(copier, copier->block, (size_t)got);
}

/* Delivers exactly `length` bytes that are known to wait in `from`. */
static int deliver(struct copier *copier, int from, size_t length) {
    while (length > 0) {
        if (copier->copies) {
            uint64_t before = atomic_load(&copier->ring->moved);
            int rc = copy_block(copier, from, length);
            if (rc < 0)
                return rc;
            length -= (size_t)(atomic_load(&copier->ring->moved) - before);
            continue;
        }
        ssize_t moved = splice(from, NULL, copier->target, NULL, length, 0);
        if (moved > 0) {
            length -= (size_t)moved;
            atomic_fetch_add(&copier->ring->moved, (uint64_t)moved);
        } else if (moved < 0 && errno == EAGAIN) { /* the target is O_NONBLOCK and full */
            wait_for(copier->target, POLLOUT);
        } else if (moved < 0 && errno == EINTR) {
            continue;
        } else if (moved < 0 && (errno == EINVAL || errno == ENOSYS)) {
            /* O_APPEND, or a kernel whose terminals cannot splice (5.10) */
            copier->copies = true;
            atomic_store(&copier->ring->copied, true);
        } else {
            return moved == 0 ? -EPIPE : target_error(errno);
        }
    }
    return 0;
}

/* One round over a pipe. 1: end of file. */
static int move_pipe(struct copier *copier, int from) {
    ssize_t teed = tee(from, copier->channel->side[1], BLOCK_BYTES, SPLICE_F_NONBLOCK);
    if (teed == 0)
        return 1;
    if (teed > 0) {
        int rc = deliver(copier, from, (size_t)teed);
        drain_side(copier);
        return rc;
    }
    int refused = errno;
    int waiting = 0;
    if (refused == EINTR)
        return 0;
    if (ioctl(from, FIONREAD, &waiting) < 0)
        return -errno;
    if (refused == EAGAIN && waiting <= 0)
        return 0;
    /* The side pipe is full (what another copier left) or tee is refused: delivery goes on, the
     * recorder misses a block. */
    drain_side(copier);
    return deliver(copier, from, waiting > 0 ? (size_t)waiting : 0);
}

/* Takes what the command's terminal holds into the middle pipe. 1: end of file (the last slave was
 * closed: EIO). */
static int take_terminal(struct copier *copier) {
    const struct channel *channel = copier->channel;
    if (!copier->tap_copies) {
        ssize_t taken = splice(channel->source, NULL, channel->middle[1], NULL, BLOCK_BYTES / 4, 0);
        if (taken > 0)
            return 0;
        if (taken == 0 || errno == EIO)
            return 1;
        if (errno == EAGAIN || errno == EINTR)
            return 0;
        if (errno != EINVAL && errno != ENOSYS)
            return -errno;
        copier->tap_copies = true;
        atomic_store(&copier->ring->copied, true);
    }
    ssize_t got = read(channel->source, copier->block, BLOCK_BYTES / 4);
    if (got == 0 || (got < 0 && errno == EIO))
        return 1;
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    /* The middle pipe is empty and holds four times as much: one write takes it all, and from then
     * on it is safe. */
    return write(channel->middle[1], copier->block, (size_t)got) == got ? 0 : -EIO;
}

static int empty_middle(struct copier *copier) {
    for (;;) {
        int waiting = 0;
        if (ioctl(copier->channel->middle[0], FIONREAD, &waiting) < 0)
            return -errno;
        if (waiting <= 0)
            return 0;
        int rc = move_pipe(copier, copier->channel->middle[0]);
        if (rc != 0)
            return rc < 0 ? rc : 0;
    }
}

static int move_once(struct copier *copier) {
    if (copier->channel->middle[0] < 0)
        return move_pipe(copier, copier->channel->source);
    int rc = take_terminal(copier);
    int delivered = empty_middle(copier);
    return delivered < 0 ? delivered : rc;
}

/* A command may look for its reader without writing (tail -f polls for POLLERR), so we do, too. A
 * named FIFO can get another reader: there only a write tells. */
static bool can_watch_target(const struct copier *copier) {
    struct statfs system;
    return copier->channel->middle[0] >= 0 ||
           (fstatfs(copier->target, &system) == 0 && system.f_type == PIPEFS_MAGIC);
}

/* Waits for bytes of the command; false: nobody is there to take them any more. */
static bool wait_for_source(const struct copier *copier, bool watch_target) {
    struct pollfd watched[] = {{copier->channel->source, POLLIN, 0},
                               {watch_target ? copier->target : -1, 0, 0}};
    while (poll(watched, 2, -1) < 0 && errno == EINTR)
        ;
    return (watched[1].revents & (POLLERR | POLLHUP)) == 0;
}

static int copier_main(void *context) {
    struct copier *copier = context;
    const struct channel *channel = copier->channel;
    bool watch_target = can_watch_target(copier);
    /* What a killed predecessor left on the way. */
    copier->arrival_ns = clock_mono_ns();
    drain_side(copier);
    int rc = channel->middle[0] >= 0 ? empty_middle(copier) : 0;
    while (rc == 0) {
        bool has_reader = wait_for_source(copier, watch_target);
        copier->arrival_ns = clock_mono_ns();
        rc = has_reader ? move_once(copier) : -EPIPE;
        atomic_store(&copier->shared->cpu_live_ns[ROLE_COPIER][copier->index],
                     clock_process_cpu_ns());
    }
    if (rc == -EPIPE)
        return COPIER_READER_GONE;
    return rc == 1 ? COPIER_END_OF_FILE : COPIER_FAILED;
}

pid_t copier_start(struct shared *shared, const struct streams *streams, size_t index) {
    const struct channel *channel = &streams->channel[index];
    /* The target is descriptor 1 or 2, which every helper gives up. */
    AUTO_CLOSE int target = fcntl(channel->target, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (target < 0)
        return -errno;
    struct copier copier = {.shared = shared,
                            .ring = &shared->text[index],
                            .channel = channel,
                            .index = index,
                            .target = target,
                            .bell = streams->bell,
                            .copies = atomic_load(&shared->text[index].copied)};
    int keep[] = {channel->source,  target,           channel->middle[0], channel->middle[1],
                  channel->side[0], channel->side[1], streams->bell};
    struct helper_spec spec = {.name = "pl-copier",
                               .keep = keep,
                               .keep_count = sizeof keep / sizeof keep[0],
                               .own_session = true,
                               .main = copier_main,
                               .context = &copier};
    return helper_start(shared, &spec);
}
