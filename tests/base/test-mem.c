/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory, arena, strbuf: growth, ownership, alignment, and the end when there is no memory. */
#include "testing.h"

static void test_alloc_is_zeroed(void **state) {
    (void)state;
    AUTO_FREE unsigned char *memory = mem_alloc(1000);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(memory[i], 0);
    AUTO_FREE void *nothing = mem_alloc(0);
    assert_non_null(nothing);
}

static void test_copies(void **state) {
    (void)state;
    AUTO_FREE char *a = mem_strdup("abc");
    AUTO_FREE char *b = mem_strndup("abcdef", 3);
    AUTO_FREE char *c = mem_strndup("ab", 100);
    AUTO_FREE char *d = mem_printf("%s-%d", "x", 7);
    assert_string_equal(a, "abc");
    assert_string_equal(b, "abc");
    assert_string_equal(c, "ab");
    assert_string_equal(d, "x-7");
}

static void test_steal_leaves_null(void **state) {
    (void)state;
    char *kept;
    {
        AUTO_FREE char *text = mem_strdup("kept");
        kept = steal(text);
        assert_null(text);
    }
    assert_string_equal(kept, "kept"); /* a sanitizer sees it if the scope freed it */
    free(kept);
}

static void test_a_freed_pointer_is_null(void **state) {
    (void)state;
    char *text = mem_strdup("gone");
    mem_free_ptr(&text);
    assert_null(text);
    mem_free_ptr(&text); /* again does nothing */
}

static void test_an_array_has_room_for_one_more(void **state) {
    (void)state;
    size_t *items = NULL;
    size_t moved = 0;
    for (size_t count = 0; count < 5000; count++) {
        const size_t *before = items;
        items = mem_room(items, count, sizeof *items);
        moved += items != before ? count : 0;
        items[count] = count;
    }
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(items[i], i);
    assert_true(moved <= 2 * 5000);
    free(items);
}

static void overflow(const void *argument) {
    (void)argument;
    volatile size_t count = SIZE_MAX / 2 + 1; /* hidden from the compiler's own check */
    free(mem_realloc(NULL, count, 2));
}

static void test_overflow_ends_the_program_with_one_line(void **state) {
    (void)state;
    char said[256];
    int status = run_in_child(overflow, NULL, said);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    assert_string_equal(said, "probelauf: out of memory\n");
}

static void test_arena_keeps_pieces_apart_and_aligned(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    uint64_t random = 1;
    unsigned char *pieces[500];
    size_t sizes[500];
    for (size_t i = 0; i < 500; i++) {
        sizes[i] = (size_t)(next_random(&random) % (i % 50 == 0 ? 40000 : 300));
        pieces[i] = arena_alloc(arena, sizes[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], (int)(i & 0xFF), sizes[i]);
    }
    for (size_t i = 0; i < 500; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(pieces[i][k], i & 0xFF);
    assert_null(arena_free(NULL));
}

static void test_arena_texts(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    assert_string_equal(arena_strdup(arena, "text"), "text");
    assert_string_equal(arena_strndup(arena, "text", 2), "te");
    assert_string_equal(arena_strndup(arena, "text", 99), "text");
    assert_string_equal(arena_printf(arena, "%d of %s", 3, "four"), "3 of four");
    char long_text[20001];
    memset(long_text, 'y', 20000);
    long_text[20000] = '\0';
    assert_string_equal(arena_printf(arena, "%s", long_text), long_text);
}

static void test_strbuf(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf buf = STRBUF_INIT;
    assert_string_equal(strbuf_str(&buf), "");
    strbuf_add_str(&buf, "a");
    strbuf_add_char(&buf, 'b');
    strbuf_add(&buf, "c\0d", 3);
    strbuf_printf(&buf, "-%05d", 42);
    assert_int_equal(buf.length, 11);
    assert_memory_equal(buf.data, "abc\0d-00042", 12); /* with the final NUL */
    strbuf_clear(&buf);
    assert_string_equal(strbuf_str(&buf), "");
    for (int i = 0; i < 10000; i++)
        strbuf_printf(&buf, "%d,", i);
    assert_int_equal(buf.length, 48890);
    AUTO_FREE char *taken = strbuf_take(&buf);
    assert_int_equal(strlen(taken), 48890);
    assert_int_equal(buf.length, 0);
    AUTO_FREE char *nothing = strbuf_take(&buf);
    assert_string_equal(nothing, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alloc_is_zeroed),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_steal_leaves_null),
        cmocka_unit_test(test_a_freed_pointer_is_null),
        cmocka_unit_test(test_an_array_has_room_for_one_more),
        cmocka_unit_test(test_overflow_ends_the_program_with_one_line),
        cmocka_unit_test(test_arena_keeps_pieces_apart_and_aligned),
        cmocka_unit_test(test_arena_texts),
        cmocka_unit_test(test_strbuf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
