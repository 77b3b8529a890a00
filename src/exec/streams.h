/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the command's standard streams are, and what it gets instead of them: a pipe for a pipe, a
 * terminal for a terminal, the thing itself for everything else (DESIGN section 3, Streams). The
 * monitor holds every end that must outlive a copier.
 */
#pragma once

#include "exec/exec.h"
#include "exec/shared.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <termios.h>

/* One stream that a copier carries (stdout, stderr, or both). All descriptors are -1 where there is
 * none. */
struct channel {
    bool open;             /* a copier is needed until end of file */
    int source;            /* read end of the command's pipe, or master of its terminal */
    int target;            /* the user's stream: our own descriptor 1 or 2, not owned */
    int middle[2];         /* terminal: bytes taken from it and not yet delivered */
    int side[2];           /* copies on their way to the text ring */
    pid_t copier;          /* 0: none runs */
    int64_t retry_mono_ns; /* not before this time */
    unsigned failures;     /* abnormal ends in a row without a byte moved */
    uint64_t moved_before; /* bytes moved when the last copier began */
    bool has_modes;
    struct termios modes; /* of the terminal given to the command, as it began */
    struct winsize size;
};

/* A regular file that is read in place. */
struct in_place {
    int read_fd;     /* own descriptor, own offset; -1: none */
    int position_fd; /* the user's own open file: tells where its next byte goes; not owned */
    bool appends;    /* O_APPEND: the end of the file tells */
    uint64_t start;  /* where the stream stood */
};

struct streams {
    struct channel channel[SHARED_CHANNELS]; /* 0: stdout (or both), 1: stderr */
    struct in_place in_place[SHARED_CHANNELS];
    int child_fd[3];    /* what the command gets as 0, 1, 2; -1: inherited. Closed after the fork */
    int bell;           /* eventfd: copiers wake the recorder when a ring fills; -1: none */
    int placeholder[3]; /* descriptors that keep a closed 0, 1, 2 from being used by us; -1: none */
    int placeholders;
};

/* Looks at 0, 1, 2, fills facts, makes pipes and terminals. What cannot be made is inherited: never
 * an error. */
void streams_open(struct streams *streams, enum exec_tee tee, struct stream_facts facts[3]);
/* In the monitor, once the command has been forked: the command's ends go. */
void streams_close_child_ends(struct streams *streams);
void streams_close_channel(struct channel *channel);
void streams_done(struct streams *streams);

/* The real terminal's size → the command's. True: it really changed (a SIGWINCH is then due). Never
 * waits. */
bool streams_copy_size(struct streams *streams);
/* Did the command set terminal modes through a terminal of ours? Remembers it in the ring. */
void streams_check_modes(const struct streams *streams, struct shared *shared);
/* Nothing of the channel is on its way between command and target. */
bool streams_is_drained(const struct channel *channel);
