/* SPDX-License-Identifier: GPL-3.0-or-later */
/* UTC text against the C library's calendar, UUIDs, digests against published values. */
#include "testing.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/uuid.h"

#include <errno.h>
#include <time.h>

static void test_clocks_go_on(void **state) {
    (void)state;
    struct clock_stamp a = clock_now();
    struct clock_stamp b = clock_now();
    assert_true(b.mono_ns >= a.mono_ns);
    assert_true(b.boot_ns >= a.boot_ns);
    assert_true(a.utc_ns > INT64_C(1577836800) * NS_PER_S); /* after 2020 */
    assert_true(clock_process_cpu_ns() >= 0);
    assert_true(clock_mono_ns() >= b.mono_ns);
    assert_true(clock_utc_ns() > 0);
}

static void test_boot_id(void **state) {
    (void)state;
    char id[CLOCK_BOOT_ID_SIZE];
    if (clock_boot_id(id) < 0) {
        assert_string_equal(id, "");
        skip(); /* no /proc here */
    }
    assert_true(uuid_is_valid(id));
}

static void test_format_utc(void **state) {
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {INT64_C(1796042096789999999), "2026-11-30T12:34:56.789Z"},
        {INT64_C(951782400000000000), "2000-02-29T00:00:00.000Z"},
        {INT64_MAX, "2262-04-11T23:47:16.854Z"},
        {INT64_MIN, "1677-09-21T00:12:43.145Z"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        clock_format_utc(cases[i].ns, &out);
        assert_string_equal(strbuf_str(&out), cases[i].text);
    }
}

static void test_calendar_agrees_with_the_c_library(void **state) {
    (void)state;
    uint64_t random = 3;
    for (int i = 0; i < 20000; i++) {
        int64_t utc_ns = (int64_t)next_random(&random);
        utc_ns -= ((utc_ns % NS_PER_MS) + NS_PER_MS) % NS_PER_MS;
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        clock_format_utc(utc_ns, &out);
        time_t seconds = (time_t)(utc_ns / NS_PER_S - (utc_ns % NS_PER_S < 0));
        struct tm parts;
        char expected[32];
        assert_non_null(gmtime_r(&seconds, &parts));
        assert_true(strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S", &parts) > 0);
        assert_memory_equal(strbuf_str(&out), expected, strlen(expected));
        int64_t back;
        assert_int_equal(clock_parse_utc(strbuf_str(&out), &back), 0);
        assert_int_equal(back, utc_ns);
    }
}

static void test_parse_utc(void **state) {
    (void)state;
    int64_t ns;
    assert_int_equal(clock_parse_utc("2026-11-30T12:34:56Z", &ns), 0);
    assert_int_equal(ns, INT64_C(1796042096000000000));
    assert_int_equal(clock_parse_utc("2026-11-30T12:34:56.1Z", &ns), 0);
    assert_int_equal(ns, INT64_C(1796042096100000000));
    assert_int_equal(clock_parse_utc("2026-11-30T12:34:56.123456789Z", &ns), 0);
    assert_int_equal(ns, INT64_C(1796042096123456789));
    static const char *const bad[] = {"",
                                      "2026-11-30",
                                      "2026-11-30T12:34:56",
                                      "2026-11-30 12:34:56Z",
                                      "2026-11-30T12:34:56.Z",
                                      "2026-11-30T12:34:56.1234567890Z",
                                      "2026-11-30T12:34:56+01:00",
                                      "2026-13-01T00:00:00Z",
                                      "2026-00-01T00:00:00Z",
                                      "2026-02-29T00:00:00Z",
                                      "1900-02-29T00:00:00Z",
                                      "2026-04-31T00:00:00Z",
                                      "2026-01-00T00:00:00Z",
                                      "2026-01-01T24:00:00Z",
                                      "2026-01-01T00:60:00Z",
                                      "2026-01-01T00:00:60Z",
                                      "2026-1-01T00:00:00Z",
                                      "-026-01-01T00:00:00Z",
                                      "2026-01-01T00:00:00Zx",
                                      " 2026-01-01T00:00:00Z",
                                      "2026-01-01T00:00:00z"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        ns = 5;
        assert_int_equal(clock_parse_utc(bad[i], &ns), -EINVAL);
        assert_int_equal(ns, 5);
    }
    assert_int_equal(clock_parse_utc("9999-01-01T00:00:00Z", &ns), -ERANGE);
    assert_int_equal(clock_parse_utc("0000-01-01T00:00:00Z", &ns), -ERANGE);
    assert_int_equal(clock_parse_utc("2262-04-11T23:47:16.854775807Z", &ns), 0);
    assert_int_equal(clock_parse_utc("2262-04-11T23:47:16.854775808Z", &ns), -ERANGE);
    assert_int_equal(clock_parse_utc("2000-02-29T00:00:00Z", &ns), 0);
}

static void test_uuid(void **state) {
    (void)state;
    char a[UUID_TEXT_SIZE], b[UUID_TEXT_SIZE], later[UUID_TEXT_SIZE];
    /* RFC 9562 appendix A.6: 2022-02-22T19:22:22Z is 017f22e2-79b0-7… */
    uuid_new(INT64_C(1645557742000) * NS_PER_MS, a);
    uuid_new(INT64_C(1645557742000) * NS_PER_MS, b);
    uuid_new(INT64_C(1645557742001) * NS_PER_MS, later);
    assert_memory_equal(a, "017f22e2-79b0-7", 15);
    assert_true(uuid_is_valid(a) && uuid_is_valid(b) && uuid_is_valid(later));
    assert_string_not_equal(a, b);
    assert_true(strcmp(a, later) < 0 && strcmp(b, later) < 0);
    assert_non_null(strchr("89ab", a[19])); /* the variant */
    uuid_new(-5, a);
    assert_memory_equal(a, "00000000-0000-7", 15);
    static const char *const bad[] = {"",
                                      "017f22e2",
                                      "017F22E2-79b0-7000-8000-000000000000",
                                      "017f22e279b0-7000-8000-000000000000-",
                                      "017f22e2-79b0-7000-8000-0000000000000",
                                      "017f22e2-79b0-7000-8000-00000000000",
                                      "017f22e2-79b0-7000-8000-00000000000g"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        assert_false(uuid_is_valid(bad[i]));
}

static void test_sha256(void **state) {
    (void)state;
    char hex[SHA256_HEX_SIZE]; /* FIPS 180-2 appendix B */
    digest_sha256("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_sha256("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void test_crc32c(void **state) {
    (void)state;
    assert_int_equal(digest_crc32c(0, "123456789", 9), 0xE3069283u);
    unsigned char zeros[32] = {0}; /* RFC 3720 appendix B.4 */
    assert_int_equal(digest_crc32c(0, zeros, sizeof zeros), 0x8A9136AAu);
    assert_int_equal(digest_crc32c(0, "", 0), 0);
    for (size_t cut = 0; cut <= 9; cut++) /* pieces give the sum of the whole */
        assert_int_equal(
            digest_crc32c(digest_crc32c(0, "123456789", cut), &"123456789"[cut], 9 - cut),
            0xE3069283u);
    for (unsigned byte = 0; byte < 256; byte++) { /* the table, bit by bit from the polynomial */
        uint32_t crc = ~0u ^ byte;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0);
        unsigned char one = (unsigned char)byte;
        assert_int_equal(digest_crc32c(0, &one, 1), (uint32_t)~crc);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clocks_go_on),
        cmocka_unit_test(test_boot_id),
        cmocka_unit_test(test_format_utc),
        cmocka_unit_test(test_calendar_agrees_with_the_c_library),
        cmocka_unit_test(test_parse_utc),
        cmocka_unit_test(test_uuid),
        cmocka_unit_test(test_sha256),
        cmocka_unit_test(test_crc32c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
