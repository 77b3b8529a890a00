/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writer and reader on real files: what was acknowledged is read back, what was not leaves no
 * trace; every prefix and every flipped bit; locks that are refused, disks that are full. System
 * calls fail on purpose through the functions of the same name below.
 */
#include "support.h"

#include "base/json.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>

/* ---- system calls that fail on purpose ---- */

static ssize_t write_limit = -1; /* bytes that the next writev takes; -1: all */
static int write_errno;          /* what it answers when the limit is 0 */
static int reserve_errno;        /* what fallocate answers; 0: it works */
static int lock_errno;           /* what OFD locks answer; 0: they work */
static int link_errno;           /* what link answers; 0: it works */
static const char *link_winner;  /* a file that gets the name just before link does; NULL: none */

ssize_t writev(int fd, const struct iovec *pieces, int count) {
    if (write_limit < 0) {
        return syscall(SYS_writev, fd, pieces, count);
    }
    if (write_limit == 0) {
        errno = write_errno;
        return -1;
    }
    size_t limit = (size_t)write_limit;
    size_t first = limit < pieces[0].iov_len ? limit : pieces[0].iov_len;
    ssize_t done = write(fd, pieces[0].iov_base, first);
    if (limit > first && count > 1) {
        done += write(fd, pieces[1].iov_base, limit - first);
    }
    return done;
}

int fallocate(int fd, int mode, off_t offset, off_t length) {
    if (reserve_errno != 0) {
        errno = reserve_errno;
        return -1;
    }
    return (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

int fcntl(int fd, int command, ...) {
    va_list args;
    va_start(args, command);
    void *argument = va_arg(args, void *);
    va_end(args);
    if (lock_errno != 0 && (command == F_OFD_SETLK || command == F_OFD_GETLK)) {
        errno = lock_errno;
        return -1;
    }
    return (int)syscall(SYS_fcntl, fd, command, argument);
}

int link(const char *from, const char *to) {
    if (link_errno != 0) {
        errno = link_errno;
        return -1;
    }
    if (link_winner != NULL) {
        rename(link_winner, to);
        link_winner = NULL;
    }
    return (int)syscall(SYS_link, from, to);
}

static int all_well(void **state) {
    write_limit = -1;
    reserve_errno = lock_errno = link_errno = 0;
    return folder_setup(state);
}

/* ---- helpers ---- */

/* boot NULL: this boot; start -1: the pid's own. */
static json_t *make_header(const char *boot, int64_t pid, int64_t start) {
    char this_boot[CLOCK_BOOT_ID_SIZE];
    clock_boot_id(this_boot);
    json_t *header = parse("{'format':1,'type':'run','run':'" RUN_ID "','part':'" PART_ID "'}");
    json_put_text(header, "boot_id", boot != NULL ? boot : this_boot);
    json_put_int(header, "pid", pid);
    json_put_int(header, "pid_start", start < 0 ? start_ticks((pid_t)pid) : start);
    return header;
}

static const char no_boot[] = "00000000-0000-0000-0000-000000000000";

static void create(const char *folder, struct journal_writer *writer) {
    struct err err = ERR_INIT;
    AUTO_JSON json_t *header = make_header(no_boot, 1, 1);
    must(journal_create(folder, "a", header, writer, &err), &err);
}

static void append_text(struct journal_writer *writer, const char *text) {
    struct err err = ERR_INIT;
    AUTO_JSON json_t *json = json_object();
    json_put_text(json, "text", text);
    must(journal_append_json(writer, JOURNAL_TEXT, json, false, &err), &err);
}

static void read_file(const char *path, struct strbuf *bytes) {
    assert_int_equal(file_read(path, SIZE_MAX, bytes), 0);
}

static size_t count_records(const char *path, char ret_damage[160]) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    struct journal_reader reader;
    struct journal_record record;
    struct err err = ERR_INIT;
    size_t count = 0;
    read_file(path, &bytes);
    must(journal_reader_init(&reader, bytes.data, bytes.length, &err), &err);
    while (journal_reader_next(&reader, &record)) {
        count++;
    }
    memcpy(ret_damage, reader.damage, sizeof reader.damage);
    return count;
}

static void assert_records(const char *path, size_t expected) {
    char damage[160];
    assert_int_equal(count_records(path, damage), expected);
    assert_string_equal(damage, "");
}

static bool exists(const char *path, const char *suffix) {
    AUTO_FREE char *name = mem_printf("%s%s", path, suffix);
    return access(name, F_OK) == 0;
}

/* ---- create and append ---- */

static void writes_and_reads(void **state) {
    struct journal_writer writer;
    struct err err = ERR_INIT;
    create(*state, &writer);
    assert_true(writer.locked);
    const uint8_t binary[3] = {0, 255, 7};
    must(journal_append(&writer, JOURNAL_CHUNK, 1, binary, sizeof binary, false, &err), &err);
    must(journal_append(&writer, (enum journal_kind)4711, 9, NULL, 0, false, &err), &err);
    append_text(&writer, "end");
    must(journal_sync(&writer, &err), &err);

    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    struct journal_reader reader;
    struct journal_record record;
    read_file(writer.path, &bytes);
    assert_int_equal(bytes.length, writer.end);
    must(journal_reader_init(&reader, bytes.data, bytes.length, &err), &err);
    assert_int_equal(journal_reader_next(&reader, &record), 1);
    assert_int_equal(record.kind, JOURNAL_HEADER);
    assert_int_equal(record.offset, 8);
    AUTO_JSON json_t *header = journal_record_json(&record);
    assert_string_equal(json_get_text(header, "run", ""), RUN_ID);
    assert_int_equal(journal_reader_next(&reader, &record), 1);
    assert_int_equal(record.kind, JOURNAL_CHUNK);
    assert_int_equal(record.length, 3);
    assert_memory_equal(record.payload, binary, 3);
    assert_null(journal_record_json(&record));
    assert_int_equal(journal_reader_next(&reader, &record), 1);
    assert_int_equal(record.kind, 4711);
    assert_int_equal(record.version, 9);
    assert_string_equal(journal_kind_name(record.kind), "UNKNOWN");
    assert_null(journal_record_json(&record));
    assert_int_equal(journal_reader_next(&reader, &record), 1);
    assert_int_equal(journal_reader_next(&reader, &record), 0);
    assert_int_equal(journal_reader_next(&reader, &record), 0);
    assert_string_equal(reader.damage, "");
    journal_close(&writer);
    journal_close(&writer);
}

static void is_private_whatever_the_umask(void **state) {
    const mode_t masks[] = {0, 022, 0777};
    for (size_t i = 0; i < ARRAY_LENGTH(masks); i++) {
        struct journal_writer writer;
        struct stat status;
        mode_t before = umask(masks[i]);
        create(*state, &writer);
        umask(before);
        assert_int_equal(stat(writer.path, &status), 0);
        assert_int_equal(status.st_mode & 07777, 0600);
        journal_close(&writer);
        unlink(writer.path);
    }
}

/* The name appears with the header in it, never before. */
static void has_its_name_only_when_it_is_whole(void **state) {
    struct journal_writer writer = JOURNAL_WRITER_INIT;
    struct err err = ERR_INIT;
    AUTO_JSON json_t *header = make_header(no_boot, 1, 1);
    write_limit = 20;
    assert_int_equal(journal_create(*state, "a", header, &writer, &err), -ENOSPC);
    assert_string_equal(err.id, "journal-full");
    AUTO_FREE char *path = mem_printf("%s/a.journal", (char *)*state);
    assert_false(exists(path, ""));
    assert_false(exists(path, ".new"));
    /* the left-over of a creator that was killed is replaced */
    AUTO_FREE char *left = mem_printf("%s.new", path);
    AUTO_CLOSE int fd = open(left, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    write_limit = -1;
    must(journal_create(*state, "a", header, &writer, &err), &err);
    assert_false(exists(path, ".new"));
    journal_close(&writer);
    assert_records(path, 1);
}

static void works_without_hard_links(void **state) {
    struct journal_writer writer;
    link_errno = EPERM;
    create(*state, &writer);
    assert_false(exists(writer.path, ".new"));
    append_text(&writer, "x");
    journal_close(&writer);
    create(*state, &writer);
    journal_close(&writer);
    assert_records(writer.path, 2); /* the second create went on, it did not replace */
}

static void goes_on_with_a_file_that_exists(void **state) {
    struct journal_writer writer;
    create(*state, &writer);
    append_text(&writer, "one");
    journal_close(&writer);
    reserve_errno = ENOSPC; /* no room for a second file */
    create(*state, &writer);
    reserve_errno = 0;
    append_text(&writer, "two");
    journal_close(&writer);
    assert_records(writer.path, 3);
    /* somebody else was faster by a moment: his file stays */
    AUTO_FREE char *winner = mem_printf("%s/winner", (char *)*state);
    rename(writer.path, winner);
    link_winner = winner;
    create(*state, &writer);
    assert_false(exists(writer.path, ".new"));
    journal_close(&writer);
    assert_records(writer.path, 3);
}

static void refuses_what_is_too_large(void **state) {
    struct journal_writer writer;
    struct err err = ERR_INIT;
    create(*state, &writer);
    AUTO_FREE char *large = mem_alloc(JOURNAL_PAYLOAD_MAX + 1);
    assert_int_equal(
        journal_append(&writer, JOURNAL_TEXT, 1, large, JOURNAL_PAYLOAD_MAX + 1, false, &err),
        -EMSGSIZE);
    must(journal_append(&writer, JOURNAL_TEXT, 1, large, JOURNAL_PAYLOAD_MAX, false, &err), &err);
    journal_close(&writer);
    assert_records(writer.path, 2);
}

static void refuses_what_is_no_journal(void **state) {
    struct journal_writer writer = JOURNAL_WRITER_INIT;
    struct err err = ERR_INIT;
    AUTO_FREE char *path = mem_printf("%s/a.journal", (char *)*state);
    assert_int_equal(journal_open_append(path, &writer, &err), -ENOENT);
    must(file_write_atomic(path, "PLJOURN1", 8, 0600, &err), &err);
    assert_int_equal(journal_open_append(path, &writer, &err), -EBADMSG); /* no header */
    AUTO_STRBUF struct strbuf headless = STRBUF_INIT;
    strbuf_add_str(&headless, JOURNAL_MAGIC);
    add(&headless, JOURNAL_TEXT, "{'text':'x'}");
    must(file_write_atomic(path, headless.data, headless.length, 0600, &err), &err);
    assert_int_equal(journal_open_append(path, &writer, &err), -EBADMSG);
    must(file_write_atomic(path, "PLJOURN2xxxxxxxx", 16, 0600, &err), &err);
    assert_int_equal(journal_open_append(path, &writer, &err), -EBADMSG);
    assert_string_equal(err.id, "journal-newer");
    must(file_write_atomic(path, "SQLite format 3", 15, 0600, &err), &err);
    assert_int_equal(journal_open_append(path, &writer, &err), -EBADMSG);
    assert_string_equal(err.id, "journal-foreign");
    unlink(path);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_int_equal(journal_open_append(path, &writer, &err), -ELOOP);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(journal_open_append(path, &writer, &err), -EINVAL); /* and does not wait */
    assert_false(journal_is_live(path));
}

/* ---- failing writes ---- */

static void leaves_nothing_half_written(void **state) {
    struct journal_writer writer;
    struct err err = ERR_INIT;
    AUTO_STRBUF struct strbuf before = STRBUF_INIT;
    AUTO_JSON json_t *json = parse("{'text':'a record that is long enough to be cut anywhere'}");
    create(*state, &writer);
    append_text(&writer, "kept");
    read_file(writer.path, &before);
    for (ssize_t cut = 0; cut < 60; cut++) {
        AUTO_STRBUF struct strbuf after = STRBUF_INIT;
        write_limit = cut;
        write_errno = ENOSPC;
        assert_int_equal(journal_append_json(&writer, JOURNAL_TEXT, json, cut % 2, &err), -ENOSPC);
        assert_string_equal(err.id, "journal-full");
        write_limit = -1;
        read_file(writer.path, &after);
        assert_int_equal(after.length, before.length);
        assert_memory_equal(after.data, before.data, before.length);
        /* truncating gave it back, so it was asked for again */
        struct stat status;
        assert_int_equal(stat(writer.path, &status), 0);
        assert_true(!writer.can_reserve ||
                    (writer.reserved >= writer.end + JOURNAL_RESERVE &&
                     (uint64_t)status.st_blocks * 512 >= writer.end + JOURNAL_RESERVE));
    }
    write_limit = 0;
    write_errno = EIO;
    assert_int_equal(journal_append_json(&writer, JOURNAL_TEXT, json, false, &err), -EIO);
    assert_string_equal(err.id, "journal-write");
    write_limit = -1;
    append_text(&writer, "and on");
    journal_close(&writer);
    assert_records(writer.path, 3);
}

static void works_without_a_reserve(void **state) {
    struct journal_writer writer;
    reserve_errno = EOPNOTSUPP;
    create(*state, &writer);
    assert_int_equal(writer.reserved, 0);
    append_text(&writer, "x");
    journal_close(&writer);
    assert_records(writer.path, 2);
}

static void keeps_the_reserve_up(void **state) {
    struct journal_writer writer;
    struct err err = ERR_INIT;
    struct stat status;
    create(*state, &writer);
    if (!writer.can_reserve) {
        print_message("this file system cannot promise blocks\n");
        journal_close(&writer);
        skip();
    }
    AUTO_FREE char *payload = mem_alloc(50000);
    for (int i = 0; i < 40; i++) {
        must(journal_append(&writer, JOURNAL_TEXT, 1, payload, 50000, false, &err), &err);
        assert_true(writer.reserved >= writer.end + JOURNAL_RESERVE);
    }
    assert_int_equal(stat(writer.path, &status), 0);
    assert_int_equal(status.st_size, writer.end); /* beyond the end, not in the file */
    assert_true((uint64_t)status.st_blocks * 512 >= writer.end + JOURNAL_RESERVE);
    uint64_t end = writer.end;
    journal_close(&writer);
    assert_int_equal(stat(writer.path, &status), 0);
    assert_true((uint64_t)status.st_blocks * 512 < end + JOURNAL_RESERVE);
}

static void refuses_ordinary_records_when_no_reserve_is_left(void **state) {
    struct journal_writer writer;
    struct err err = ERR_INIT;
    create(*state, &writer);
    reserve_errno = ENOSPC;
    AUTO_FREE char *payload = mem_alloc(1000);
    int rc = 0, written = 0;
    while (rc == 0 && written < 1000) {
        rc = journal_append(&writer, JOURNAL_TEXT, 1, payload, 1000, false, &err);
        written += rc == 0;
    }
    assert_int_equal(rc, -ENOSPC);
    assert_true(written > 0);
    for (int i = 0; i < 60; i++) {
        must(journal_append(&writer, JOURNAL_INCIDENT, 1, payload, 1000, true, &err), &err);
    }
    journal_close(&writer);
    assert_records(writer.path, 1 + (size_t)written + 60);
}

/* A real full disk: a tmpfs in a mount namespace of its own. Runs in a child; exit status 77: not
 * permitted. */
static void fill_a_disk(const void *folder) {
    struct journal_writer writer;
    struct err err = ERR_INIT;
    if (unshare(CLONE_NEWNS) < 0 || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", folder, "tmpfs", 0, "size=512k") < 0) {
        _exit(77);
    }
    create(folder, &writer);
    AUTO_FREE char *payload = mem_alloc(3000);
    int rc = 0;
    size_t written = 0;
    while ((rc = journal_append(&writer, JOURNAL_TEXT, 1, payload, 3000, false, &err)) == 0) {
        written++;
    }
    /* and somebody else takes the last byte */
    AUTO_FREE char *other = mem_printf("%s/other", (const char *)folder);
    AUTO_CLOSE int fd = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    while (write(fd, payload, 3000) > 0) {
    }
    struct statvfs space;
    statvfs(folder, &space);
    AUTO_JSON json_t *end = parse("{'t_ns':1}");
    bool ok =
        rc == -ENOSPC && strcmp(err.id, "journal-full") == 0 && written > 50 && space.f_bavail == 0;
    for (int i = 0; i < 20; i++) { /* 60 KB of last records */
        ok = ok && journal_append(&writer, JOURNAL_INCIDENT, 1, payload, 3000, true, &err) == 0;
    }
    ok = ok && journal_append_json(&writer, JOURNAL_END, end, true, &err) == 0;
    ok = ok && journal_sync(&writer, &err) == 0;
    journal_close(&writer);
    char damage[160];
    ok = ok && count_records(writer.path, damage) == 1 + written + 21 && damage[0] == '\0';
    _exit(ok ? 0 : 1);
}

static void has_room_for_the_end_on_a_full_disk(void **state) {
    char said[256];
    int status = run_in_child(fill_a_disk, *state, said);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) {
        print_message("needs the right to mount a tmpfs\n");
        skip();
    }
    if (WEXITSTATUS(status) != 0) {
        fail_msg("%s", said);
    }
}

/* ---- damage ---- */

/* Ten records of several kinds; offsets[i] is where record i begins, offsets[10] the end. */
#define RECORDS 10
static void sample(struct strbuf *bytes, size_t offsets[RECORDS + 1]) {
    strbuf_add_str(bytes, JOURNAL_MAGIC);
    for (size_t i = 0; i < RECORDS; i++) {
        AUTO_FREE char *text = mem_printf("{'run':'r','n':%zu,'text':'%.*s'}", i, (int)i * 3,
                                          "abcdefghijklmnopqrstuvwxyz0123456789");
        offsets[i] = bytes->length;
        if (i == 5) {
            add_bytes(bytes, JOURNAL_CHUNK, "\0\1\2", 3);
        } else {
            add(bytes, i == 0 ? JOURNAL_HEADER : JOURNAL_TEXT, text);
        }
    }
    offsets[RECORDS] = bytes->length;
}

/* Every record that is read stands in the original at the same place. Returns how many were read.
 */
static size_t assert_sound(const struct strbuf *original, const void *bytes, size_t length) {
    struct journal_reader reader;
    struct journal_record record;
    struct err err = ERR_INIT;
    size_t count = 0;
    if (journal_reader_init(&reader, bytes, length, &err) < 0) {
        return 0;
    }
    while (journal_reader_next(&reader, &record)) {
        size_t whole = JOURNAL_RECORD_HEAD + record.length;
        assert_true(record.offset + whole <= length);
        assert_true(record.offset + whole <= original->length);
        assert_memory_equal((const char *)bytes + record.offset, original->data + record.offset,
                            whole);
        count++;
    }
    assert_true(reader.good <= length);
    assert_true((reader.damage[0] == '\0') == (reader.good == length));
    return count;
}

static void reads_every_prefix(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    size_t offsets[RECORDS + 1];
    sample(&bytes, offsets);
    for (size_t cut = 0; cut <= bytes.length; cut++) {
        AUTO_FREE char *copy = mem_alloc(cut + 1);
        memcpy(copy, bytes.data, cut);
        copy = mem_realloc(copy, cut > 0 ? cut : 1, 1); /* the sanitizer sees what is read beyond */
        size_t whole = 0;
        while (whole < RECORDS && offsets[whole + 1] <= cut) {
            whole++;
        }
        assert_int_equal(assert_sound(&bytes, copy, cut), whole);
    }
}

static void never_shows_a_changed_record(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    size_t offsets[RECORDS + 1];
    sample(&bytes, offsets);
    AUTO_FREE char *copy = mem_alloc(bytes.length);
    for (size_t bit = 0; bit < bytes.length * 8; bit++) {
        memcpy(copy, bytes.data, bytes.length);
        copy[bit / 8] ^= (char)(1 << bit % 8);
        size_t hit = 0;
        while (hit < RECORDS && offsets[hit + 1] <= bit / 8) {
            hit++;
        }
        /* all in front of the damage, nothing from it on */
        assert_int_equal(assert_sound(&bytes, copy, bytes.length), bit / 8 < 8 ? 0 : hit);
    }
    uint64_t random = 3;
    for (int i = 0; i < 20000; i++) {
        memcpy(copy, bytes.data, bytes.length);
        size_t from = next_random(&random) % bytes.length;
        for (size_t k = from; k < bytes.length && k < from + 1 + next_random(&random) % 40; k++) {
            copy[k] = (char)next_random(&random);
        }
        assert_sound(&bytes, copy, bytes.length);
    }
}

static void says_what_is_damaged(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    size_t offsets[RECORDS + 1];
    struct journal_reader reader;
    struct journal_record record;
    struct err err = ERR_INIT;
    sample(&bytes, offsets);
    bytes.data[offsets[3] + JOURNAL_RECORD_HEAD] ^= 1;
    must(journal_reader_init(&reader, bytes.data, bytes.length, &err), &err);
    while (journal_reader_next(&reader, &record)) {
    }
    AUTO_FREE char *expected =
        mem_printf("the checksum of the record at byte %zu (length %zu) does not fit", offsets[3],
                   offsets[4] - offsets[3] - JOURNAL_RECORD_HEAD);
    assert_string_equal(reader.damage, expected);
    assert_false(reader.torn);
    assert_int_equal(reader.good, offsets[3]);

    char zeros[300] = {0}; /* what a file system may leave after a power cut */
    AUTO_STRBUF struct strbuf cut = STRBUF_INIT;
    strbuf_add(&cut, bytes.data, offsets[3]);
    strbuf_add(&cut, zeros, sizeof zeros);
    must(journal_reader_init(&reader, cut.data, cut.length, &err), &err);
    while (journal_reader_next(&reader, &record)) {
    }
    assert_true(reader.torn);
    assert_non_null(strstr(reader.damage, "only zeros, 300"));

    AUTO_FREE char *large = mem_alloc(JOURNAL_PAYLOAD_MAX + 100); /* all of it is there */
    memcpy(large, bytes.data, offsets[1]);
    record_head_put((uint8_t *)large + offsets[1], JOURNAL_TEXT, 1, large, JOURNAL_PAYLOAD_MAX + 1);
    must(journal_reader_init(&reader, large, JOURNAL_PAYLOAD_MAX + 100 - offsets[1], &err), &err);
    while (journal_reader_next(&reader, &record)) {
    }
    assert_non_null(strstr(reader.damage, "impossible length 16777217"));
    assert_false(reader.torn);
}

static void opens_after_a_cut_anywhere(void **state) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    size_t offsets[RECORDS + 1];
    struct err err = ERR_INIT;
    sample(&bytes, offsets);
    AUTO_FREE char *path = mem_printf("%s/a.journal", (char *)*state);
    for (size_t cut = 0; cut <= bytes.length; cut++) {
        struct journal_writer writer = JOURNAL_WRITER_INIT;
        must(file_write_atomic(path, bytes.data, cut, 0600, &err), &err);
        size_t whole = 0;
        while (whole < RECORDS && offsets[whole + 1] <= cut) {
            whole++;
        }
        int rc = journal_open_append(path, &writer, &err);
        if (whole == 0) {
            assert_int_equal(rc, -EBADMSG);
            continue;
        }
        must(rc, &err);
        append_text(&writer, "more");
        journal_close(&writer);
        assert_records(path, whole + 1);
    }
}

/* Bytes in the middle are damaged, sound records stand behind them: those are kept beside. */
static void keeps_what_it_cuts(void **state) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    AUTO_STRBUF struct strbuf kept = STRBUF_INIT;
    size_t offsets[RECORDS + 1];
    struct err err = ERR_INIT;
    struct journal_writer writer;
    sample(&bytes, offsets);
    bytes.data[offsets[4] + 20] ^= 4;
    AUTO_FREE char *path = mem_printf("%s/a.journal", (char *)*state);
    AUTO_FREE char *beside = mem_printf("%s.damaged", path);
    must(file_write_atomic(path, bytes.data, bytes.length, 0600, &err), &err);
    must(journal_open_append(path, &writer, &err), &err);
    journal_close(&writer);
    assert_records(path, 4);
    read_file(beside, &kept);
    assert_int_equal(kept.length, bytes.length - offsets[4]);
    assert_memory_equal(kept.data, bytes.data + offsets[4], kept.length);
    /* where they cannot be kept nothing is cut */
    unlink(beside);
    assert_int_equal(mkdir(beside, 0700), 0);
    must(file_write_atomic(path, bytes.data, bytes.length, 0600, &err), &err);
    assert_true(journal_open_append(path, &writer, &err) < 0);
    assert_string_equal(err.id, "journal-damaged");
    strbuf_clear(&kept);
    read_file(path, &kept);
    assert_int_equal(kept.length, bytes.length);
}

/* ---- who is alive ---- */

static void is_live_while_it_is_locked(void **state) {
    struct journal_writer writer, second = JOURNAL_WRITER_INIT;
    struct err err = ERR_INIT;
    create(*state, &writer);
    assert_true(journal_is_live(writer.path));
    assert_int_equal(journal_open_append(writer.path, &second, &err), -EWOULDBLOCK);
    assert_string_equal(err.id, "journal-locked");
    AUTO_JSON json_t *header = make_header(no_boot, 1, 1);
    assert_int_equal(journal_create(*state, "a", header, &second, &err), -EWOULDBLOCK);

    /* the lock lives as long as any copy of the open file: a helper that was forked must let go of
     * it */
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid_t helper = fork();
    if (helper == 0) {
        close(fds[1]);
        char byte;
        ssize_t got = read(fds[0], &byte, 1);
        journal_forget(&writer);
        got = read(fds[0], &byte, 1);
        _exit((int)got);
    }
    close(fds[0]);
    journal_close(&writer);
    assert_true(journal_is_live(writer.path));
    assert_int_equal(write(fds[1], "x", 1), 1);
    for (int i = 0; i < 2000 && journal_is_live(writer.path); i++) {
        usleep(1000);
    }
    assert_false(journal_is_live(writer.path));
    close(fds[1]);
    int status;
    assert_int_equal(waitpid(helper, &status, 0), helper);
    assert_false(journal_is_live("/nowhere"));
}

/* A recorder died, its monitor (the pid of HEADER) did not: still live. */
static void is_live_while_its_process_is(void **state) {
    static const struct { int lock_errno; } systems[] = {{0}, {ENOLCK}, {EOPNOTSUPP}};
    for (size_t i = 0; i < ARRAY_LENGTH(systems); i++) {
        struct journal_writer writer = JOURNAL_WRITER_INIT;
        struct err err = ERR_INIT;
        lock_errno = systems[i].lock_errno;
        AUTO_JSON json_t *header = make_header(NULL, getpid(), -1);
        must(journal_create(*state, "b", header, &writer, &err), &err);
        assert_int_equal(writer.locked, lock_errno == 0);
        journal_close(&writer);
        assert_true(journal_is_live(writer.path));
        must(journal_open_append(writer.path, &writer, &err), &err); /* ours */
        AUTO_JSON json_t *end = parse("{'t_ns':1}");
        must(journal_append_json(&writer, JOURNAL_END, end, true, &err), &err);
        journal_close(&writer);
        assert_false(journal_is_live(writer.path)); /* with END there is nothing left to write */
        unlink(writer.path);
    }
}

static void is_dead_when_its_process_is_another(void **state) {
    struct journal_writer writer = JOURNAL_WRITER_INIT;
    struct err err = ERR_INIT;
    for (int i = 0; i < 3; i++) {
        AUTO_JSON json_t *header = i == 0   ? make_header(NULL, getpid(), 12345) /* pid reused */
                                   : i == 1 ? make_header(no_boot, getpid(), -1) /* rebooted */
                                            : make_header(NULL, getpid(), -1);   /* event */
        if (i == 2) {
            json_put_text(header, "type", "event");
        }
        must(journal_create(*state, "c", header, &writer, &err), &err);
        journal_close(&writer);
        assert_false(journal_is_live(writer.path));
        unlink(writer.path);
    }
    /* a zombie is dead */
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    AUTO_JSON json_t *header = make_header(NULL, child, -1);
    must(journal_create(*state, "d", header, &writer, &err), &err);
    journal_close(&writer);
    assert_true(journal_is_live(writer.path));
    kill(child, SIGKILL);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    assert_false(journal_is_live(writer.path));
    waitpid(child, NULL, 0);
}

/* Where locks are refused, a living writer that is neither we nor our parent is respected by its
 * pid. */
static void respects_a_pid_without_locks(void **state) {
    struct journal_writer writer = JOURNAL_WRITER_INIT;
    struct err err = ERR_INIT;
    lock_errno = ENOLCK;
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    AUTO_JSON json_t *header = make_header(NULL, child, -1);
    must(journal_create(*state, "e", header, &writer, &err), &err);
    journal_close(&writer);
    assert_int_equal(journal_open_append(writer.path, &writer, &err), -EWOULDBLOCK);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    must(journal_open_append(writer.path, &writer, &err), &err);
    journal_close(&writer);
}

int main(void) {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, all_well, folder_teardown)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(writes_and_reads),
        IN_FOLDER(is_private_whatever_the_umask),
        IN_FOLDER(has_its_name_only_when_it_is_whole),
        IN_FOLDER(works_without_hard_links),
        IN_FOLDER(goes_on_with_a_file_that_exists),
        IN_FOLDER(refuses_what_is_too_large),
        IN_FOLDER(refuses_what_is_no_journal),
        IN_FOLDER(leaves_nothing_half_written),
        IN_FOLDER(works_without_a_reserve),
        IN_FOLDER(keeps_the_reserve_up),
        IN_FOLDER(refuses_ordinary_records_when_no_reserve_is_left),
        IN_FOLDER(has_room_for_the_end_on_a_full_disk),
        cmocka_unit_test(reads_every_prefix),
        cmocka_unit_test(never_shows_a_changed_record),
        cmocka_unit_test(says_what_is_damaged),
        IN_FOLDER(opens_after_a_cut_anywhere),
        IN_FOLDER(keeps_what_it_cuts),
        IN_FOLDER(is_live_while_it_is_locked),
        IN_FOLDER(is_live_while_its_process_is),
        IN_FOLDER(is_dead_when_its_process_is_another),
        IN_FOLDER(respects_a_pid_without_locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
