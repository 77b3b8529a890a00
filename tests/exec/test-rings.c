/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each message and tick becomes a record exactly once, also when a recorder dies between writing
 * and saying so. */
#include "recorder-fixture.h"

static size_t count(const struct fixture *fixture, uint32_t kind) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    struct journal_reader reader;
    struct journal_record record;
    struct err err = ERR_INIT;
    assert_int_equal(file_read(fixture->recorder.writer.path, SIZE_MAX, &bytes), 0);
    assert_int_equal(journal_reader_init(&reader, bytes.data, bytes.length, &err), 0);
    size_t found = 0;
    while (journal_reader_next(&reader, &record) > 0)
        found += record.kind == kind;
    assert_string_equal(reader.damage, "");
    return found;
}

static void push_child(struct fixture *fixture, int signal) {
    struct shared_message message = {.kind = MESSAGE_CHILD,
                                     .of.child = {.pid = 5, .signal = signal}};
    assert_true(shared_push_message(fixture->recorder.shared, &message));
}

static void messages_once(void **state) {
    struct fixture *fixture = *state;
    struct shared *shared = fixture->recorder.shared;
    push_child(fixture, 0);
    push_child(fixture, 9);
    recorder_take_messages(&fixture->recorder);
    recorder_take_messages(&fixture->recorder);
    assert_int_equal(count(fixture, JOURNAL_CHILD), 2);
    assert_int_equal(fixture->recorder.killed_workers, 1);

    /* Died after the write, before it could say so: the journal has grown. */
    push_child(fixture, 0);
    uint64_t before = fixture->recorder.writer.end;
    recorder_take_messages(&fixture->recorder);
    atomic_store(&shared->message_recorded, 2);
    atomic_store(&shared->pending_message, 3);
    atomic_store(&shared->pending_end, before);
    recorder_take_messages(&fixture->recorder);
    assert_int_equal(count(fixture, JOURNAL_CHILD), 3);
    assert_int_equal(atomic_load(&shared->message_recorded), 3);

    /* Died before the write: it has not. */
    push_child(fixture, 0);
    atomic_store(&shared->pending_message, 4);
    atomic_store(&shared->pending_end, fixture->recorder.writer.end);
    recorder_take_messages(&fixture->recorder);
    assert_int_equal(count(fixture, JOURNAL_CHILD), 4);
}

static void ticks_in_tens_and_the_rest_at_the_end(void **state) {
    struct fixture *fixture = *state;
    struct shared_tick tick = {0};
    for (size_t i = 0; i < TICK_COUNT_; i++)
        tick.value[i] = i == TICK_DISK_WAIT_NS ? SHARED_ABSENT : (int64_t)i;
    for (int i = 0; i < 25; i++) {
        tick.t_ns = i * NS_PER_S;
        assert_true(shared_push_tick(fixture->recorder.shared, &tick));
    }
    recorder_take_ticks(&fixture->recorder, false);
    assert_int_equal(count(fixture, JOURNAL_CHUNK), 2);
    recorder_take_ticks(&fixture->recorder, true);
    assert_int_equal(count(fixture, JOURNAL_CHUNK), 3);
    assert_int_equal(count(fixture, JOURNAL_SERIES), TICK_COUNT_);
    recorder_take_ticks(&fixture->recorder, true);
    assert_int_equal(count(fixture, JOURNAL_CHUNK), 3);
}

static void samples_have_series_of_their_own(void **state) {
    struct fixture *fixture = *state;
    struct slow_samples samples = {.count = 2, .time_ns = {1, 2}, .looked = {true, true}};
    recorder_write_samples(&fixture->recorder, &(struct slow_samples){0});
    assert_int_equal(count(fixture, JOURNAL_CHUNK), 0);
    for (size_t i = 0; i < SLOW_COUNT_; i++)
        samples.value[i][0] = samples.value[i][1] = i == SLOW_PSS ? 100 : SHARED_ABSENT;
    recorder_write_samples(&fixture->recorder, &samples);
    assert_int_equal(count(fixture, JOURNAL_SERIES), SLOW_COUNT_);
    assert_int_equal(count(fixture, JOURNAL_CHUNK), 1);
    recorder_write_samples(&fixture->recorder, &samples);
    assert_int_equal(count(fixture, JOURNAL_SERIES), SLOW_COUNT_);
    assert_int_equal(count(fixture, JOURNAL_CHUNK), 2);
    /* the network has ticks of its own, and a sample without a look at memory is no hole there */
    samples.looked[0] = samples.looked[1] = false;
    for (size_t i = 0; i < SLOW_COUNT_; i++)
        samples.value[i][0] = samples.value[i][1] = i == SLOW_SENT ? 7 : SHARED_ABSENT;
    recorder_write_samples(&fixture->recorder, &samples);
    assert_int_equal(count(fixture, JOURNAL_CHUNK), 3);
    samples.looked[1] = true;
    samples.value[SLOW_PSS][1] = 100;
    recorder_write_samples(&fixture->recorder, &samples);
    assert_int_equal(count(fixture, JOURNAL_CHUNK), 5);
}

static void an_incident_is_written_once(void **state) {
    struct fixture *fixture = *state;
    recorder_write_incident(&fixture->recorder, "disk_full", "text", "a line", NULL, false);
    recorder_write_incident(&fixture->recorder, "disk_full", "text", "a line", NULL, false);
    recorder_write_incident(&fixture->recorder, "disk_full", "text", "another line", NULL, false);
    recorder_write_incident(&fixture->recorder, "disk_full", "statfs", NULL, NULL, false);
    assert_int_equal(count(fixture, JOURNAL_INCIDENT), 3);
}

static void what_was_not_written_becomes_a_gap(void **state) {
    struct fixture *fixture = *state;
    int good = fixture->recorder.writer.fd;
    int full = open("/dev/full", O_RDWR);
    if (full < 0)
        skip();
    fixture->recorder.writer.fd = full;
    assert_false(recorder_write(&fixture->recorder, JOURNAL_MARK, json_object(), false));
    assert_false(recorder_write(&fixture->recorder, JOURNAL_MARK, json_object(), false));
    fixture->recorder.writer.fd = good;
    close(full);
    assert_int_equal(fixture->recorder.lost_records, 2);
    assert_true(recorder_write(&fixture->recorder, JOURNAL_MARK, json_object(), false));
    assert_int_equal(fixture->recorder.lost_records, 0);
    assert_int_equal(count(fixture, JOURNAL_GAP), 1);
    assert_int_equal(count(fixture, JOURNAL_MARK), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(messages_once, recorder_setup, recorder_teardown),
        cmocka_unit_test_setup_teardown(ticks_in_tens_and_the_rest_at_the_end, recorder_setup,
                                        recorder_teardown),
        cmocka_unit_test_setup_teardown(samples_have_series_of_their_own, recorder_setup,
                                        recorder_teardown),
        cmocka_unit_test_setup_teardown(an_incident_is_written_once, recorder_setup,
                                        recorder_teardown),
        cmocka_unit_test_setup_teardown(what_was_not_written_becomes_a_gap, recorder_setup,
                                        recorder_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
