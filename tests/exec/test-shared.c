/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shared memory of a run: rings, counters, text that is overwritten while it is read, helpers.
 */
#include "../base/testing.h"

#include "exec/shared.h"

#include <unistd.h>

static int setup(void **state) {
    *state = shared_new();
    return *state == NULL;
}

static int teardown(void **state) {
    shared_free(*state);
    return 0;
}

static void ticks_until_full(void **state) {
    struct shared *shared = *state;
    struct shared_tick tick = {.t_ns = 0};
    for (unsigned i = 0; i < SHARED_TICKS; i++) {
        tick.t_ns = i;
        assert_true(shared_push_tick(shared, &tick));
    }
    assert_false(shared_push_tick(shared, &tick));
    assert_int_equal(shared->ticks[0].t_ns, 0); /* the oldest one was not overwritten */
    atomic_store(&shared->tick_recorded, 1);
    tick.t_ns = 999;
    assert_true(shared_push_tick(shared, &tick));
    assert_int_equal(shared->ticks[0].t_ns, 999);
}

static void messages_until_full(void **state) {
    struct shared *shared = *state;
    struct shared_message message = {.kind = MESSAGE_GAP};
    for (unsigned i = 0; i < SHARED_MESSAGES; i++)
        assert_true(shared_push_message(shared, &message));
    assert_false(shared_push_message(shared, &message));
}

static void counters_are_none_then_the_last(void **state) {
    struct shared *shared = *state;
    struct shared_counters counters = {0}, read;
    assert_false(shared_get_counters(shared, &read));
    for (int64_t i = 1; i <= 5; i++) {
        counters.cpu_ns = i;
        shared_set_counters(shared, &counters);
        assert_true(shared_get_counters(shared, &read));
        assert_int_equal(read.cpu_ns, i);
    }
    /* "none" is never said again, also when the number wraps around. */
    atomic_store(&shared->counters_at, UINT32_MAX);
    shared_set_counters(shared, &counters);
    assert_true(shared_get_counters(shared, &read));
}

static void add(struct text_ring *ring, const char *text, size_t length, int64_t mono_ns) {
    struct text_pieces pieces = text_ring_reserve(ring, length);
    memcpy(pieces.at[0], text, pieces.length[0]);
    memcpy(pieces.at[1], text + pieces.length[0], pieces.length[1]);
    text_ring_publish(ring, length, mono_ns);
}

static void text_comes_through_across_the_edge(void **state) {
    struct text_ring *ring = &((struct shared *)*state)->text[0];
    static char block[100000], read[100000];
    uint64_t offset = 0, missed;
    for (int round = 0; round < 30; round++) { /* 3 MB through a ring of 1 MiB */
        memset(block, 'a' + round % 26, sizeof block);
        add(ring, block, sizeof block, round);
        assert_int_equal(text_ring_read(ring, &offset, read, sizeof read, &missed), sizeof read);
        assert_int_equal(missed, 0);
        assert_memory_equal(read, block, sizeof read);
        assert_int_equal(text_ring_read(ring, &offset, read, sizeof read, &missed), 0);
    }
    assert_int_equal(offset, 3000000);
}

static void overwritten_text_is_counted(void **state) {
    struct text_ring *ring = &((struct shared *)*state)->text[0];
    static char block[SHARED_TEXT_BYTES / 2], read[SHARED_TEXT_BYTES];
    uint64_t offset = 0, missed;
    for (int round = 0; round < 5; round++) {
        memset(block, '0' + round, sizeof block);
        add(ring, block, sizeof block, 0);
    }
    assert_int_equal(text_ring_read(ring, &offset, read, sizeof read, &missed), SHARED_TEXT_BYTES);
    assert_int_equal(missed, 3 * sizeof block);
    assert_int_equal(read[0], '3');
    assert_int_equal(read[SHARED_TEXT_BYTES - 1], '4');
    assert_int_equal(offset, 5 * sizeof block);
}

/* A copier that was killed between reserving and publishing may have written into what it had
 * reserved. */
static void reserved_and_never_published(void **state) {
    struct text_ring *ring = &((struct shared *)*state)->text[0];
    static char block[SHARED_TEXT_BYTES / 2], read[SHARED_TEXT_BYTES];
    uint64_t offset = 0, missed;
    memset(block, 'x', sizeof block);
    add(ring, block, sizeof block, 0);
    add(ring, block, sizeof block, 0);
    (void)text_ring_reserve(ring, 1000);
    size_t length = text_ring_read(ring, &offset, read, sizeof read, &missed);
    assert_int_equal(missed, 1000);
    assert_int_equal(length, SHARED_TEXT_BYTES - 1000);
}

static void lines_have_the_time_of_their_block(void **state) {
    struct text_ring *ring = &((struct shared *)*state)->text[0];
    add(ring, "first\n", 6, 10 * NS_PER_MS);
    add(ring, "second\n", 7, 20 * NS_PER_MS);
    add(ring, "soon\n", 5, 20 * NS_PER_MS + 1); /* within a millisecond: no stamp of its own */
    assert_int_equal(text_ring_time(ring, 0, 7), 10 * NS_PER_MS);
    assert_int_equal(text_ring_time(ring, 5, 7), 10 * NS_PER_MS);
    assert_int_equal(text_ring_time(ring, 6, 7), 20 * NS_PER_MS);
    assert_int_equal(text_ring_time(ring, 13, 7), 20 * NS_PER_MS);
    struct text_ring *empty = &((struct shared *)*state)->text[1];
    assert_int_equal(text_ring_time(empty, 0, 7), 7);
}

static void helpers_by_pid_and_session(void **state) {
    struct shared *shared = *state;
    assert_false(shared_is_helper(shared, getpid()));
    assert_true(shared_add_helper(shared, getpid()));
    assert_true(shared_is_helper(shared, getpid()));
    shared_remove_helper(shared, getpid());
    assert_false(shared_is_helper(shared, getpid()));
    shared_add_session(shared, getsid(0));
    assert_true(shared_is_helper(shared, getpid()));
    assert_false(shared_is_helper_session(shared, 0));
    for (int i = 0; i < (int)SHARED_SESSIONS; i++)
        shared_add_session(shared, 1000000 + i);
    assert_false(shared_is_helper_session(shared, getsid(0))); /* the last ones are kept */
    for (int i = 0; i < (int)SHARED_HELPER_PIDS; i++)
        assert_true(shared_add_helper(shared, 100 + i));
    assert_false(shared_add_helper(shared, 200));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ticks_until_full, setup, teardown),
        cmocka_unit_test_setup_teardown(messages_until_full, setup, teardown),
        cmocka_unit_test_setup_teardown(counters_are_none_then_the_last, setup, teardown),
        cmocka_unit_test_setup_teardown(text_comes_through_across_the_edge, setup, teardown),
        cmocka_unit_test_setup_teardown(overwritten_text_is_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(reserved_and_never_published, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_have_the_time_of_their_block, setup, teardown),
        cmocka_unit_test_setup_teardown(helpers_by_pid_and_session, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
