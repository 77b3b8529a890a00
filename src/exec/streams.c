/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Classifies the standard streams and makes what the command gets instead. Must not change what the
 * user's streams are. */
#include "exec/streams.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* <asm-generic/ioctls.h>: the device number of the terminal behind /dev/tty and /dev/console. */
#ifndef TIOCGDEV
#define TIOCGDEV _IOR('T', 0x32, unsigned int)
#endif

/* Descriptors that the user closed are filled, or our own would get their numbers and the command
 * would write into our pipes. O_PATH can neither be read nor written, and close-on-exec gives the
 * command its closed descriptor back. */
static void fill_closed(struct streams *streams) {
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
            continue;
        int made = open("/", O_PATH | O_CLOEXEC); /* the lowest free number: fd */
        if (made >= 0)
            streams->placeholder[streams->placeholders++] = made;
    }
}

static bool is_placeholder(const struct streams *streams, int fd) {
    for (int i = 0; i < streams->placeholders; i++)
        if (streams->placeholder[i] == fd)
            return true;
    return false;
}

static enum stream_was classify(const struct streams *streams, int fd, struct stat *ret_status) {
    /* Close-on-exec: somebody's placeholder; the command will find the descriptor closed. */
    int flags = fcntl(fd, F_GETFD);
    if (is_placeholder(streams, fd) || flags < 0 || (flags & FD_CLOEXEC) != 0 ||
        fstat(fd, ret_status) < 0)
        return STREAM_CLOSED;
    switch (ret_status->st_mode & S_IFMT) {
    case S_IFREG:
        return STREAM_FILE;
    case S_IFIFO:
        return STREAM_PIPE;
    case S_IFSOCK:
        return STREAM_SOCKET;
    case S_IFCHR:
        if (isatty(fd))
            return STREAM_TERMINAL;
        /* Documentation/admin-guide/devices.txt: 1,3 is /dev/null */
        return ret_status->st_rdev == makedev(1, 3) ? STREAM_NULL : STREAM_DEVICE;
    default:
        return STREAM_DEVICE;
    }
}

static bool is_same(int a, const struct stat *sa, enum stream_was wa, int b, const struct stat *sb,
                    enum stream_was wb) {
    if (wa != wb || wa == STREAM_CLOSED)
        return false;
    if (wa == STREAM_TERMINAL) { /* /dev/tty and /dev/pts/N may be one terminal */
        unsigned da = 0, db = 0;
        if (ioctl(a, TIOCGDEV, &da) == 0 && ioctl(b, TIOCGDEV, &db) == 0)
            return da == db;
        return sa->st_rdev == sb->st_rdev;
    }
    return sa->st_dev == sb->st_dev && sa->st_ino == sb->st_ino;
}

static void channel_init(struct channel *channel) {
    *channel = (struct channel){.source = -1, .target = -1, .middle = {-1, -1}, .side = {-1, -1}};
}

/* The pipe that the copies go through: emptied by the copier right after it was filled, never
 * waited for. */
static bool make_side(struct channel *channel) {
    return pipe2(channel->side, O_CLOEXEC | O_NONBLOCK) == 0;
}

static bool make_pipe(struct channel *channel, int target, int *ret_child_fd) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    channel->source = ends[0];
    if (!make_side(channel)) {
        close(ends[1]);
        streams_close_channel(channel);
        return false;
    }
    channel->target = target;
    channel->open = true;
    *ret_child_fd = ends[1];
    return true;
}

/* The slave by the master's own descriptor (ioctl_tty(2), TIOCGPTPEER): right also where /dev/pts
 * is not the instance that the master belongs to. Before Linux 4.13 by name. */
static int open_slave(int master) {
#ifdef TIOCGPTPEER
    int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave >= 0)
        return slave;
#endif
    char name[128];
    if (ptsname_r(master, name, sizeof name) != 0)
        return -1;
    return open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

/* The command's terminal looks like the user's, but changes no byte: what a line feed becomes is
 * left to the real one. */
static bool copy_modes(struct channel *channel, int target, int slave) {
    if (tcgetattr(target, &channel->modes) < 0)
        return false;
    channel->modes.c_oflag &= ~(tcflag_t)OPOST;
    if (tcsetattr(slave, TCSANOW, &channel->modes) < 0)
        return false;
    /* As the kernel keeps it: compared later. */
    channel->has_modes = tcgetattr(slave, &channel->modes) == 0;
    if (ioctl(target, TIOCGWINSZ, &channel->size) == 0)
        ioctl(slave, TIOCSWINSZ, &channel->size);
    return true;
}

static bool make_terminal(struct channel *channel, int target, int *ret_child_fd) {
    AUTO_CLOSE int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
        return false;
    AUTO_CLOSE int slave = open_slave(master);
    if (slave < 0 || !copy_modes(channel, target, slave))
        return false;
    if (pipe2(channel->middle, O_CLOEXEC) < 0 || !make_side(channel)) {
        streams_close_channel(channel);
        return false;
    }
    channel->source = master;
    channel->target = target;
    channel->open = true;
    *ret_child_fd = slave;
    master = slave = -1;
    return true;
}

/* A second descriptor on the same file, with an offset of its own. Refused for files we may write
 * but not read. */
static bool open_in_place(struct in_place *place, int fd, const struct stat *status) {
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int flags = fcntl(fd, F_GETFL);
    off_t position = lseek(fd, 0, SEEK_CUR);
    if (flags < 0 || position < 0)
        return false;
    int read_fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (read_fd < 0)
        return false;
    place->read_fd = read_fd;
    place->position_fd = fd;
    place->appends = (flags & O_APPEND) != 0;
    place->start = place->appends ? (uint64_t)status->st_size : (uint64_t)position;
    return true;
}

static void open_stream(struct streams *streams, int fd, size_t channel, const struct stat *status,
                        struct stream_facts *facts) {
    switch (facts->was) {
    case STREAM_FILE:
        if (open_in_place(&streams->in_place[channel], fd, status))
            facts->tee = TEE_IN_PLACE;
        break;
    case STREAM_PIPE:
        if (make_pipe(&streams->channel[channel], fd, &streams->child_fd[fd]))
            facts->tee = TEE_SPLICE;
        break;
    case STREAM_TERMINAL:
        if (make_terminal(&streams->channel[channel], fd, &streams->child_fd[fd]))
            facts->tee = TEE_PTY;
        break;
    case STREAM_CLOSED:
    case STREAM_NULL:
    case STREAM_SOCKET:
    case STREAM_DEVICE:
        break;
    }
}

void streams_open(struct streams *streams, enum exec_tee tee, struct stream_facts facts[3]) {
    *streams = (struct streams){.child_fd = {-1, -1, -1}, .bell = -1, .placeholder = {-1, -1, -1}};
    for (size_t i = 0; i < SHARED_CHANNELS; i++) {
        channel_init(&streams->channel[i]);
        streams->in_place[i] = (struct in_place){.read_fd = -1, .position_fd = -1};
    }
    fill_closed(streams);
    struct stat status[3];
    memset(status, 0, sizeof status);
    for (int fd = 0; fd <= STDERR_FILENO; fd++) {
        facts[fd] =
            (struct stream_facts){.was = classify(streams, fd, &status[fd]), .shared_with = -1};
        for (int other = 0; other < fd && facts[fd].shared_with < 0; other++)
            if (is_same(fd, &status[fd], facts[fd].was, other, &status[other], facts[other].was))
                facts[fd].shared_with = other;
    }
    if (tee == EXEC_TEE_NONE)
        return;
    open_stream(streams, STDOUT_FILENO, 0, &status[1], &facts[1]);
    bool both = is_same(2, &status[2], facts[2].was, 1, &status[1], facts[1].was);
    if (both) { /* one file stays one channel: the order of its bytes is kept */
        facts[2].shared_with = 1;
        facts[2].tee = facts[1].tee;
        streams->child_fd[2] = streams->child_fd[1];
    } else {
        open_stream(streams, STDERR_FILENO, 1, &status[2], &facts[2]);
    }
    if (streams->channel[0].open || streams->channel[1].open)
        streams->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void streams_close_child_ends(struct streams *streams) {
    if (streams->child_fd[2] == streams->child_fd[1])
        streams->child_fd[2] = -1;
    fd_close_ptr(&streams->child_fd[1]);
    fd_close_ptr(&streams->child_fd[2]);
}

void streams_close_channel(struct channel *channel) {
    fd_close_ptr(&channel->source);
    for (size_t i = 0; i < 2; i++) {
        fd_close_ptr(&channel->middle[i]);
        fd_close_ptr(&channel->side[i]);
    }
    channel->open = false;
}

void streams_done(struct streams *streams) {
    streams_close_child_ends(streams);
    for (size_t i = 0; i < SHARED_CHANNELS; i++) {
        streams_close_channel(&streams->channel[i]);
        fd_close_ptr(&streams->in_place[i].read_fd);
    }
    fd_close_ptr(&streams->bell);
    for (int i = 0; i < streams->placeholders; i++)
        fd_close_ptr(&streams->placeholder[i]);
    streams->placeholders = 0;
}

bool streams_copy_size(struct streams *streams) {
    bool changed = false;
    for (size_t i = 0; i < SHARED_CHANNELS; i++) {
        struct channel *channel = &streams->channel[i];
        struct winsize now;
        if (!channel->open || channel->middle[0] < 0 ||
            ioctl(channel->target, TIOCGWINSZ, &now) < 0)
            continue;
        if (memcmp(&now, &channel->size, sizeof now) == 0)
            continue;
        channel->size = now;
        if (ioctl(channel->source, TIOCSWINSZ, &now) == 0)
            changed = true;
    }
    return changed;
}

static bool modes_equal(const struct termios *a, const struct termios *b) {
    return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
           a->c_lflag == b->c_lflag && memcmp(a->c_cc, b->c_cc, sizeof a->c_cc) == 0;
}

void streams_check_modes(const struct streams *streams, struct shared *shared) {
    for (size_t i = 0; i < SHARED_CHANNELS; i++) {
        const struct channel *channel = &streams->channel[i];
        struct termios now;
        /* On a master, TCGETS tells about its slave (drivers/tty/tty_ioctl.c, tty_mode_ioctl). */
        if (channel->open && channel->has_modes && tcgetattr(channel->source, &now) == 0 &&
            !modes_equal(&now, &channel->modes))
            atomic_store(&shared->text[i].modes_changed, true);
    }
}

bool streams_is_drained(const struct channel *channel) {
    int waiting = 0;
    if (channel->source >= 0 && ioctl(channel->source, FIONREAD, &waiting) == 0 && waiting > 0)
        return false;
    waiting = 0;
    return channel->middle[0] < 0 || ioctl(channel->middle[0], FIONREAD, &waiting) < 0 ||
           waiting == 0;
}
