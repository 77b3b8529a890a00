/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory that monitor, recorder, copiers and slow reader of one run share (anonymous, mapped
 * before the first fork). Whoever is killed leaves here what it had found, so that nothing measured
 * goes with it; writing here never blocks and never allocates. Each field has one writer, named
 * beside it. Must not hold pointers: processes may be replaced.
 */
#pragma once

#include "base/clock.h"
#include "probe/cgroup.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SHARED_TICKS       256u /* at 1 Hz: a recorder may stand still for four minutes */
#define SHARED_MESSAGES    512u
#define SHARED_TEXT_BYTES  (1u << 20)
#define SHARED_STAMPS      1024u
#define SHARED_PIDS        4096u
#define SHARED_SURVIVORS   32u
#define SHARED_SESSIONS    64u
#define SHARED_COMM_SIZE   64u
#define SHARED_PATH_SIZE   4096u
#define SHARED_CHANNELS    2u
#define SHARED_HELPER_PIDS 16u
#define SHARED_GPUS        64u
#define SHARED_UUID_SIZE   96u
#define SHARED_LEFT_PIDS   16u
#define SHARED_ABSENT      INT64_MIN /* a value that was not read */

enum stream_was {
    STREAM_CLOSED = 0,
    STREAM_FILE,
    STREAM_PIPE,
    STREAM_TERMINAL,
    STREAM_NULL,
    STREAM_SOCKET,
    STREAM_DEVICE,
};
enum stream_tee {
    TEE_INHERITED = 0,
    TEE_IN_PLACE, /* regular file: read through a second descriptor */
    TEE_SPLICE,   /* pipe */
    TEE_PTY,      /* terminal */
    TEE_COPY,     /* as splice or pty, but by read and write */
};

/* What one of the descriptors 0, 1, 2 was. Written by the monitor before the command starts. */
struct stream_facts {
    enum stream_was was;
    enum stream_tee tee;
    int shared_with; /* an earlier descriptor that is the same file; -1: none */
};

/* The bytes of one channel (stdout, stderr, or both where they are one file) as the recorder sees
 * them. The copier writes; it never waits: old bytes are overwritten, and the reader sees from the
 * positions that it missed some. */
struct text_stamp {
    uint64_t offset; /* bytes from here on ... */
    int64_t mono_ns; /* ... came at this time */
};
struct text_ring {
    _Atomic uint64_t reserved; /* copier: bytes up to here are being written */
    _Atomic uint64_t written;  /* copier: bytes up to here are valid */
    _Atomic uint64_t moved;    /* copier: bytes delivered to the real stream */
    _Atomic uint64_t read;     /* recorder: bytes up to here were looked at */
    _Atomic uint64_t
        phased; /* recorder: lines that begin before here have given their PHASE records */
    _Atomic uint64_t unseen;      /* recorder: bytes that were never looked at */
    _Atomic bool copied;          /* copier: splice was refused, the bytes go through its memory */
    _Atomic uint32_t restarts;    /* monitor */
    _Atomic bool modes_changed;   /* monitor: the program set terminal modes through it */
    _Atomic uint32_t stamp_count; /* copier: stamps ever written; the last SHARED_STAMPS are kept */
    struct text_stamp stamps[SHARED_STAMPS];
    char bytes[SHARED_TEXT_BYTES];
};

/* One look at the tree. Written by the monitor into a ring, CHUNKed by the recorder. */
enum tick_value {
    TICK_CPU_NS = 0,
    TICK_RSS_MAX_BYTES,
    TICK_PROCESSES,
    TICK_DISK_SLEEP,
    TICK_IO_READ,
    TICK_IO_WRITTEN,
    TICK_IO_READ_CHARS,
    TICK_IO_WRITTEN_CHARS,
    TICK_DISK_WAIT_NS,
    TICK_COUNT_
};
struct shared_tick {
    int64_t t_ns;
    int64_t value[TICK_COUNT_]; /* SHARED_ABSENT: not read */
};

struct shared_io { /* SHARED_ABSENT where not read */
    int64_t read, written, read_chars, written_chars;
};

/* Totals of the tree up to a moment: two slots, the valid one is named by counters_at. Written by
 * the monitor. */
struct shared_counters {
    int64_t t_ns;
    int64_t cpu_ns;
    struct shared_io io;
    int64_t vmhwm_bytes;
    pid_t vmhwm_pid;
    int64_t maxrss_bytes; /* largest ru_maxrss of reaped processes */
    uint64_t processes_seen;
    bool unreaped;   /* a process vanished without being accounted */
    bool io_partial; /* a process's io could not be read */
    bool io_denied;  /* ... because it is not ours */
    bool truncated;  /* more processes than the table holds */
};

enum shared_message_kind { MESSAGE_CHILD = 1, MESSAGE_GAP };
enum gap_what { GAP_SAMPLES = 0, GAP_CHILDREN, GAP_RECORDER, GAP_STREAM, GAP_STOPPED };
struct shared_message {
    enum shared_message_kind kind;
    union {
        struct shared_child {
            pid_t pid;
            uint64_t start;
            bool is_command, has_start, has_exit_code, ignored_sigchld, ended_by_us;
            int exit_code, signal;
            int64_t maxrss_bytes, utime_ns, stime_ns, t_ns;
            char comm[SHARED_COMM_SIZE];
        } child;
        struct shared_gap {
            enum gap_what what;
            int64_t from_t_ns, to_t_ns;
            uint64_t count;
        } gap;
    } of;
};

struct shared_survivor {
    pid_t pid;
    uint64_t start;
    char comm[SHARED_COMM_SIZE];
};

/* Attached: what ended the watching. */
enum shared_watching {
    WATCHING_NONE = 0, /* a command of our own */
    WATCHING_PROCESS_ENDED,
    WATCHING_OUT_OF_TIME,
    WATCHING_STOPPED, /* by a signal to us */
};

/* What the monitor knows at the end. Written by the monitor, valid once `ended` is set. */
struct shared_end {
    int64_t t_ns, command_t_ns; /* command_t_ns SHARED_ABSENT: its end was not seen */
    int64_t boot_ns, utc_ns;
    bool has_exit_code;
    int exit_code, signal; /* signal 0: none */
    int start_errno;       /* 0: it started */
    bool budget, interrupted;
    bool wall_is_at_least;
    int64_t stopped_ns;
    enum shared_watching watching;
    uint32_t survivor_count; /* all of them; the first SHARED_SURVIVORS are listed */
    struct shared_survivor survivors[SHARED_SURVIVORS];
};

/* What goes into the measured process (agents.h). */
enum agent { AGENT_PYTHON = 0, AGENT_NVTX, AGENT_COUNT_ };

enum shared_role {
    ROLE_MONITOR = 0,
    ROLE_RECORDER,
    ROLE_COPIER,
    ROLE_SLOW_READER,
    ROLE_GPU,
    ROLE_COUNT_
};

/* What the GPU helper has told of one device so far. Written by the recorder (gpu-watch), for
 * itself and for the one after it. SHARED_ABSENT where nothing was read. */
enum shared_others { OTHERS_NOT_SEEN = 0, OTHERS_NONE, OTHERS_PRESENT };
struct shared_gpu {
    bool known;
    char uuid[SHARED_UUID_SIZE]; /* "" : not told */
    int64_t baseline_bytes;      /* in use before the run used it */
    int64_t used_peak_bytes, used_samples;
    int64_t process_peak_bytes, process_samples; /* sum over the run's processes */
    int64_t accounted_peak_bytes;                /* of one of them, as the driver accounts it */
    int64_t energy_mj, energy_last_mj;
    enum shared_others others;
    bool used_by_run; /* the driver has shown a process of the run on it */
    bool list_cut;    /* it has listed more processes than were read */
    int64_t left_bytes;
    uint32_t left_count;
    int left_pids[SHARED_LEFT_PIDS];
};

/* The recorder's way, in this order. */
enum recorder_state {
    RECORDER_STARTING = 0,
    RECORDER_NO_PLACE, /* no folder was writable: gone for good */
    RECORDER_READY,    /* journal_path (and marks_path) are valid */
    RECORDER_STARTED,  /* START is written */
    RECORDER_ENDED,    /* END is written and synced */
    RECORDER_UNSYNCED, /* END could not be written (disk full, file system gone) */
};

struct shared {
    /* recorder */
    _Atomic int recorder_state;
    char journal_path[SHARED_PATH_SIZE];
    char marks_path[SHARED_PATH_SIZE];     /* "" : none */
    char agent_folder[SHARED_PATH_SIZE];   /* of what agents.h offers; "" : none */
    char agent_trouble[AGENT_COUNT_][160]; /* why one cannot be offered (N_); "" : it can */
    _Atomic unsigned agents_offered;       /* monitor: bit by enum agent: the command has it */
    _Atomic bool own_group; /* group_place is a group made for this run: the command joins it */
    struct cgroup_place group_place;   /* memory group that is watched: version 0: none */
    struct cgroup_memory group_before; /* as it was before the command */
    _Atomic bool second_place;         /* not the first folder: `trouble` says why */
    char trouble[1024];                /* why there is no place or no END, translated */
    _Atomic uint64_t tick_recorded;    /* ticks before this one are in the journal */
    _Atomic uint64_t message_recorded;
    _Atomic uint64_t
        pending_message; /* message_recorded + 1 while that message is being appended ... */
    _Atomic uint64_t pending_end;   /* ... to a journal that ended here */
    _Atomic int64_t pss_peak_bytes; /* 0: none */
    _Atomic uint64_t pss_samples;
    _Atomic uint64_t markers_seen; /* bit per expected marker */

    /* --ready: recorder (a line) or its helper (an address) */
    _Atomic int64_t ready_t_ns; /* since the start; 0: not yet */
    _Atomic int ready_status;   /* the last answer: HTTP status, or negative errno; 0: none */
    _Atomic bool ready_asked;   /* a first question was answered, or not */
    _Atomic bool ready_before;  /* ready already when nothing was started, or watched, yet */
    _Atomic bool ready_unseen;  /* the line came, but may have come before where nobody looked */
    _Atomic uint32_t gpu_count; /* entries of gpu that are in use */
    struct shared_gpu gpu[SHARED_GPUS];
    int64_t gpu_recorded_t_ns; /* samples of GPUs up to here are in the journal; 0: none */

    /* monitor, before the command */
    struct stream_facts streams[3];
    struct clock_stamp start; /* valid once `started` */
    _Atomic bool started;     /* the command is about to be forked */
    _Atomic bool launched;    /* its exec succeeded or failed */
    /* What ru_maxrss of the command begins with, whatever it is: its size just before exec.
     * SHARED_ABSENT: not read. The command's own process writes it. */
    _Atomic int64_t rss_floor_bytes;
    _Atomic int64_t
        setup_chars; /* wchar of its process that is our doing: joining the control group */

    /* monitor, while it runs */
    _Atomic int command_pid;
    _Atomic unsigned counters_at; /* 0: none yet; else slot (counters_at & 1) */
    struct shared_counters counters[2];
    _Atomic uint64_t tick_written;
    struct shared_tick ticks[SHARED_TICKS];
    _Atomic uint64_t message_written;
    struct shared_message messages[SHARED_MESSAGES];
    _Atomic uint32_t pid_count; /* processes of the last look at the tree, at most SHARED_PIDS */
    _Atomic int pids[SHARED_PIDS];
    _Atomic uint32_t seen_count; /* processes ever seen; the last SHARED_PIDS are kept */
    _Atomic int seen[SHARED_PIDS];
    struct shared_end end;
    _Atomic bool ended;

    /* helpers: who they are (written by the forking process) and what they cost (each writes its
     * own figure; what ended ones had used is added by the monitor that reaps them) */
    _Atomic int helper_pids[SHARED_HELPER_PIDS];
    _Atomic uint32_t session_count;
    _Atomic int
        sessions[SHARED_SESSIONS]; /* session ids of all helpers ever started, the last ones kept */
    _Atomic int64_t cpu_live_ns[ROLE_COUNT_][SHARED_CHANNELS];
    _Atomic int64_t cpu_reaped_ns[ROLE_COUNT_];

    struct text_ring text[SHARED_CHANNELS];
};

/* Maps a zeroed one; NULL without memory. */
struct shared *shared_new(void);
void shared_free(struct shared *shared); /* accepts NULL; only unmaps it here */

/* Monitor. A full ring drops the new entry and returns false; the caller counts and reports a gap
 * later. */
bool shared_push_tick(struct shared *shared, const struct shared_tick *tick);
bool shared_push_message(struct shared *shared, const struct shared_message *message);
void shared_set_counters(struct shared *shared, const struct shared_counters *counters);
/* Recorder. False: there is none. */
bool shared_get_counters(const struct shared *shared, struct shared_counters *ret_counters);

/* Helpers. */
void shared_add_session(struct shared *shared, pid_t session);
bool shared_is_helper_session(const struct shared *shared, pid_t session);
bool shared_add_helper(struct shared *shared, pid_t pid);
void shared_remove_helper(struct shared *shared, pid_t pid);
bool shared_is_helper(const struct shared *shared,
                      pid_t pid); /* by pid, or by the session that it belongs to */
int64_t shared_cpu_ns(const struct shared *shared, enum shared_role role);

/* Text ring. Copier: room for `length` bytes (at most half the ring) in up to two pieces; then
 * publish. */
struct text_pieces {
    char *at[2];
    size_t length[2];
};
struct text_pieces text_ring_reserve(struct text_ring *ring, size_t length);
void text_ring_publish(struct text_ring *ring, size_t length, int64_t mono_ns);
/* Recorder: copies bytes from `*offset` on. Bytes that were overwritten are skipped: *offset is
 * then moved and *ret_missed says by how much. Returns the bytes copied (0: nothing new). */
size_t text_ring_read(const struct text_ring *ring, uint64_t *offset, char *bytes, size_t size,
                      uint64_t *ret_missed);
/* When the byte at `offset` came; fallback_ns when no stamp is left for it. */
int64_t text_ring_time(const struct text_ring *ring, uint64_t offset, int64_t fallback_ns);
