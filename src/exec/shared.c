/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shared memory of one run: rings with one writer and one reader each. Must not block, allocate
 * or wait. */
#include "exec/shared.h"

#include <assert.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct shared *shared_new(void) {
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return shared == MAP_FAILED ? NULL : shared;
}

void shared_free(struct shared *shared) {
    if (shared != NULL)
        munmap(shared, sizeof *shared);
}

bool shared_push_tick(struct shared *shared, const struct shared_tick *tick) {
    uint64_t at = atomic_load(&shared->tick_written);
    if (at - atomic_load(&shared->tick_recorded) >= SHARED_TICKS)
        return false;
    shared->ticks[at % SHARED_TICKS] = *tick;
    atomic_store(&shared->tick_written, at + 1);
    return true;
}

bool shared_push_message(struct shared *shared, const struct shared_message *message) {
    uint64_t at = atomic_load(&shared->message_written);
    if (at - atomic_load(&shared->message_recorded) >= SHARED_MESSAGES)
        return false;
    shared->messages[at % SHARED_MESSAGES] = *message;
    atomic_store(&shared->message_written, at + 1);
    return true;
}

void shared_set_counters(struct shared *shared, const struct shared_counters *counters) {
    unsigned next = atomic_load(&shared->counters_at) + 1;
    if (next < 2)
        next = 2; /* 0 means "none", also after the number has wrapped around */
    shared->counters[next & 1u] = *counters;
    atomic_store(&shared->counters_at, next);
}

bool shared_get_counters(const struct shared *shared, struct shared_counters *ret_counters) {
    /* A second look makes sure that the writer has not come around to this slot meanwhile. */
    for (int tries = 0; tries < 100; tries++) {
        unsigned at = atomic_load(&shared->counters_at);
        if (at == 0)
            return false;
        *ret_counters = shared->counters[at & 1u];
        if (atomic_load(&shared->counters_at) == at)
            return true;
    }
    return false;
}

void shared_add_session(struct shared *shared, pid_t session) {
    uint32_t at = atomic_fetch_add(&shared->session_count, 1);
    atomic_store(&shared->sessions[at % SHARED_SESSIONS], session);
}

bool shared_is_helper_session(const struct shared *shared, pid_t session) {
    if (session <= 0)
        return false;
    uint32_t count = atomic_load(&shared->session_count);
    for (uint32_t i = 0; i < count && i < SHARED_SESSIONS; i++)
        if (atomic_load(&shared->sessions[i]) == session)
            return true;
    return false;
}

bool shared_add_helper(struct shared *shared, pid_t pid) {
    for (size_t i = 0; i < SHARED_HELPER_PIDS; i++) {
        int none = 0;
        if (atomic_compare_exchange_strong(&shared->helper_pids[i], &none, pid))
            return true;
    }
    return false;
}

void shared_remove_helper(struct shared *shared, pid_t pid) {
    for (size_t i = 0; i < SHARED_HELPER_PIDS; i++) {
        int expected = pid;
        atomic_compare_exchange_strong(&shared->helper_pids[i], &expected, 0);
    }
}

bool shared_is_helper(const struct shared *shared, pid_t pid) {
    for (size_t i = 0; i < SHARED_HELPER_PIDS; i++)
        if (atomic_load(&shared->helper_pids[i]) == pid)
            return true;
    return shared_is_helper_session(shared, getsid(pid));
}

int64_t shared_cpu_ns(const struct shared *shared, enum shared_role role) {
    int64_t sum = atomic_load(&shared->cpu_reaped_ns[role]);
    for (size_t i = 0; i < SHARED_CHANNELS; i++)
        sum += atomic_load(&shared->cpu_live_ns[role][i]);
    return sum;
}

/* ---- text ---- */

static_assert((SHARED_TEXT_BYTES & (SHARED_TEXT_BYTES - 1)) == 0, "ring size must be a power of 2");

struct text_pieces text_ring_reserve(struct text_ring *ring, size_t length) {
    assert(length <= SHARED_TEXT_BYTES / 2);
    uint64_t from = atomic_load(&ring->written);
    atomic_store(&ring->reserved, from + length);
    /* A reader that sees none of the new bytes must see the reservation: both are sequentially
     * consistent. */
    atomic_thread_fence(memory_order_seq_cst);
    size_t at = (size_t)(from % SHARED_TEXT_BYTES);
    size_t first = SHARED_TEXT_BYTES - at < length ? SHARED_TEXT_BYTES - at : length;
    return (struct text_pieces){.at = {ring->bytes + at, ring->bytes},
                                .length = {first, length - first}};
}

void text_ring_publish(struct text_ring *ring, size_t length, int64_t mono_ns) {
    uint64_t from = atomic_load(&ring->written);
    uint32_t count = atomic_load(&ring->stamp_count);
    const struct text_stamp *last = &ring->stamps[(count - 1) % SHARED_STAMPS];
    /* At most one stamp a millisecond, so that the ring of stamps covers a second of the busiest
     * stream. */
    if (length > 0 && (count == 0 || mono_ns - last->mono_ns >= NS_PER_MS)) {
        ring->stamps[count % SHARED_STAMPS] = (struct text_stamp){from, mono_ns};
        atomic_store(&ring->stamp_count, count + 1);
    }
    atomic_store(&ring->written, from + length);
    atomic_store(&ring->reserved, from + length);
}

size_t text_ring_read(const struct text_ring *ring, uint64_t *offset, char *bytes, size_t size,
                      uint64_t *ret_missed) {
    *ret_missed = 0;
    for (;;) {
        uint64_t written = atomic_load(&ring->written);
        if (*offset > written)
            *offset = written; /* cannot be: the writer only moves on */
        uint64_t oldest = written > SHARED_TEXT_BYTES ? written - SHARED_TEXT_BYTES : 0;
        if (*offset < oldest) {
            *ret_missed += oldest - *offset;
            *offset = oldest;
        }
        size_t length = written - *offset < size ? (size_t)(written - *offset) : size;
        if (length == 0)
            return 0;
        size_t at = (size_t)(*offset % SHARED_TEXT_BYTES);
        size_t first = SHARED_TEXT_BYTES - at < length ? SHARED_TEXT_BYTES - at : length;
        memcpy(bytes, ring->bytes + at, first);
        memcpy(bytes + first, ring->bytes, length - first);
        atomic_thread_fence(memory_order_seq_cst);
        uint64_t reserved = atomic_load(&ring->reserved);
        if (reserved <= *offset + SHARED_TEXT_BYTES) {
            *offset += length;
            return length;
        }
        /* The writer came around while we copied. A writer that was killed with bytes reserved
         * leaves the same picture: what it may have touched is skipped. */
        uint64_t safe = reserved - SHARED_TEXT_BYTES;
        if (safe > written)
            safe = written;
        *ret_missed += safe - *offset;
        *offset = safe;
    }
}

int64_t text_ring_time(const struct text_ring *ring, uint64_t offset, int64_t fallback_ns) {
    uint32_t count = atomic_load(&ring->stamp_count);
    int64_t earliest_ns = fallback_ns;
    for (uint32_t back = 1; back <= count && back < SHARED_STAMPS; back++) {
        const struct text_stamp *stamp = &ring->stamps[(count - back) % SHARED_STAMPS];
        if (stamp->offset <= offset)
            return stamp->mono_ns;
        earliest_ns = stamp->mono_ns;
    }
    return earliest_ns;
}
