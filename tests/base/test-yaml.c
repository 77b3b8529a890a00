/* SPDX-License-Identifier: GPL-3.0-or-later */
/* YAML: the tree with its places, and everything that is refused, where. */
#include "testing.h"

#include "base/yaml.h"

#include <errno.h>
#include <sys/stat.h>

static struct yaml_node *parse(struct arena *arena, const char *text) {
    struct yaml_node *root = NULL;
    struct yaml_problem problem = {0};
    if (yaml_parse(text, strlen(text), arena, &root, &problem) < 0)
        fail_msg("%s: %u:%u: %s", text, problem.line, problem.column, problem.text);
    return root;
}

static void assert_scalar(const struct yaml_node *node, const char *text, uint32_t line,
                          uint32_t column) {
    assert_non_null(node);
    assert_int_equal(node->kind, YAML_SCALAR);
    assert_string_equal(node->text, text);
    assert_int_equal(node->line, line);
    assert_int_equal(node->column, column);
}

static void test_tree(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    const struct yaml_node *root = parse(arena, "a: 1\n"
                                                "b:\n"
                                                "  - x\n"
                                                "  - {c: 'd e', f: [\"g\\th\"]}\n"
                                                "결과: 끝 # so\n"
                                                "empty:\n");
    assert_int_equal(root->kind, YAML_MAP);
    assert_int_equal(root->count, 4);
    assert_int_equal(root->line, 1);
    assert_int_equal(root->column, 1);
    assert_scalar(yaml_get(root, "a"), "1", 1, 4);
    assert_true(yaml_get(root, "a")->plain);
    const struct yaml_node *list = yaml_get(root, "b");
    assert_int_equal(list->kind, YAML_LIST);
    assert_int_equal(list->count, 2);
    assert_int_equal(list->line, 3);
    assert_int_equal(list->column, 3);
    assert_scalar(list->items[0], "x", 3, 5);
    assert_int_equal(list->items[1]->kind, YAML_MAP);
    assert_scalar(yaml_get(list->items[1], "c"), "d e", 4, 9);
    assert_false(yaml_get(list->items[1], "c")->plain);
    assert_scalar(yaml_get(list->items[1], "f")->items[0], "g\th", 4, 20);
    assert_scalar(yaml_get(root, "결과"), "끝", 5, 5); /* characters, not bytes */
    assert_scalar(root->entries[3].key, "empty", 6, 1);
    assert_true(yaml_is_unsaid(yaml_get(root, "empty")));
    assert_null(yaml_get(root, "none"));
    assert_null(yaml_get(list, "a"));
    assert_null(yaml_get(NULL, "a"));
}

static void test_long_texts(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    const struct yaml_node *root = parse(arena, "a: |\n"
                                                "  one\n"
                                                "  \ttwo\n"
                                                "b: >-\n"
                                                "  one\n"
                                                "  two\n"
                                                "c: one\n"
                                                "  two\n");
    assert_string_equal(yaml_get(root, "a")->text, "one\n\ttwo\n");
    assert_string_equal(yaml_get(root, "b")->text, "one two");
    assert_string_equal(yaml_get(root, "c")->text, "one two");
}

static void test_nothing(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    static const char *const texts[] = {"",      "\n",         "# only this\n",
                                        "---\n", "---\n...\n", "\xEF\xBB\xBF"};
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
        assert_null(parse(arena, texts[i]));
    assert_int_equal(parse(arena, "{}\n")->count, 0);
    assert_int_equal(parse(arena, "[]\n")->kind, YAML_LIST);
    assert_int_equal(parse(arena, "\"\"\n")->kind, YAML_SCALAR);
    assert_true(yaml_is_unsaid(NULL));
    assert_true(yaml_is_unsaid(parse(arena, "a: ~\n")->entries[0].value));
    assert_true(yaml_is_unsaid(parse(arena, "a: null\n")->entries[0].value));
    assert_true(yaml_is_unsaid(parse(arena, "a: ''\n")->entries[0].value));
    assert_false(yaml_is_unsaid(parse(arena, "a: 'null'\n")->entries[0].value));
    assert_false(yaml_is_unsaid(parse(arena, "a: 0\n")->entries[0].value));
    assert_false(yaml_is_unsaid(parse(arena, "a: []\n")->entries[0].value));
}

static void test_what_is_taken(void **state) {
    (void)state;
    AUTO_ARENA struct arena *arena = arena_new();
    /* a mark of UTF-8 takes no column */
    assert_scalar(yaml_get(parse(arena, "\xEF\xBB\xBF"
                                        "a: b\n"),
                           "a"),
                  "b", 1, 4);
    assert_scalar(yaml_get(parse(arena, "a: b\r\nc: d\r\n"), "c"), "d", 2, 4);
    assert_scalar(yaml_get(parse(arena, "%YAML 1.2\n---\na: b\n...\n"), "a"), "b", 3, 4);
    assert_scalar(yaml_get(parse(arena, "'<<': b\n"), "<<"), "b", 1, 7);
    assert_scalar(yaml_get(parse(arena, "a:\tb\n"), "a"), "b", 1, 4); /* no indentation */
    /* 64 levels */
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (unsigned i = 0; i < YAML_DEPTH_MAX; i++)
        strbuf_add_char(&text, '[');
    for (unsigned i = 0; i < YAML_DEPTH_MAX; i++)
        strbuf_add_char(&text, ']');
    assert_int_equal(parse(arena, strbuf_str(&text))->kind, YAML_LIST);
}

struct refused {
    const char *bytes;
    size_t length; /* 0: to the NUL */
    uint32_t line, column;
    const char *text; /* what the message must hold */
};

static void assert_refused(const struct refused *refused) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct yaml_node *root = NULL;
    struct yaml_problem problem = {0};
    size_t length = refused->length > 0 ? refused->length : strlen(refused->bytes);
    if (yaml_parse(refused->bytes, length, arena, &root, &problem) != -EINVAL)
        fail_msg("taken: %s", refused->bytes);
    if (problem.line != refused->line || problem.column != refused->column ||
        strstr(problem.text, refused->text) == NULL)
        fail_msg("%s: %u:%u: %s; expected %u:%u: %s", refused->bytes, problem.line, problem.column,
                 problem.text, refused->line, refused->column, refused->text);
    assert_null(root);
}

static void test_refused_meanings(void **state) {
    (void)state;
    static const struct refused refused[] = {
        {"a: &x b\n", 0, 1, 4, "anchors"},
        {"&x a: b\n", 0, 1, 1, "anchors"},
        {"&x\na: b\n", 0, 1, 1, "anchors"},
        {"a: &x [b]\n", 0, 1, 4, "anchors"},
        {"a: &x\n  b: *x\n", 0, 1, 4, "anchors"},
        {"a: *x\n", 0, 1, 4, "aliases"},
        {"a: *.md\n", 0, 1, 5, "begins with '*' or '&' needs quotes"},
        {"a: !!str b\n", 0, 1, 4, "tags"},
        {"a: !x [b]\n", 0, 1, 4, "tags"},
        {"--- !!map\na: b\n", 0, 1, 5, "tags"},
        {"%TAG ! tag:x,2026:\n---\na: b\n", 0, 1, 1, "%TAG"},
        {"%YAML 9.9\n---\na: b\n", 0, 1, 1, "%YAML"},
        {"<<: {a: b}\n", 0, 1, 1, "merge keys"},
        {"a: {b: c, <<: {d: e}}\n", 0, 1, 11, "merge keys"},
        {"a: b\nc: d\na: e\n", 0, 3, 1, "'a' stands in line 1 already"},
        {"a: {b: c, \"b\": d}\n", 0, 1, 11, "'b' stands in line 1 already"},
        {"a: 1\nb: 1\nb: 2\na: 2\n", 0, 3, 1, "'b' stands in line 2"}, /* the first in the file */
        {"? {a: b}\n: c\n", 0, 1, 3, "a key must be a text"},
        {"[a]: b\n", 0, 1, 1, "a key must be a text"},
        {"? - a\n: b\n", 0, 1, 3, "a key must be a text"},
        {"a: b\n---\nc: d\n", 0, 2, 1, "a second document"},
        {"a: b\n...\nc: d\n", 0, 3, 1, "does not fit"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(refused); i++)
        assert_refused(&refused[i]);
}

static void test_refused_bytes(void **state) {
    (void)state;
    static const struct refused refused[] = {
        {"a: b\n\tc: d\n", 0, 2, 1, "a tab"},
        {"a:\n\tb: c\n", 0, 2, 1, "a tab"},
        {"a:\n  \t- b\n", 0, 2, 3, "a tab"},
        {"- a\n-\t- b\n", 0, 2, 2, "a tab"},
        {"a: b\nc: \0d\n", 11, 2, 4, "a zero byte"},
        {"a: \"b\\0c\"\n", 0, 1, 4, "a zero byte"},
        {"a: b\x01\n", 0, 1, 5, "a control character"},
        {"# \x1b[31m\na: b\n", 0, 1, 3, "a control character"},
        {"a: \x7f\n", 0, 1, 4, "a control character"},
        {"a: \xC2\x85\n", 0, 1, 4, "a control character"}, /* NEL: a line end for libyaml */
        {"a: \"\\e\"\n", 0, 1, 4, "a control character"},
        {"a: x\xE2\x80\xA8y\n", 0, 1, 5, "an invisible character"},
        {"a: \xEF\xBB\xBF\n", 0, 1, 4, "an invisible character"},
        {"a: b\n결: \xFF\n", 0, 2, 4, "0xFF is no UTF-8"},
        {"a: \xC0\x80\n", 0, 1, 4, "0xC0 is no UTF-8"},
        {"a: \xED\xA0\x80\n", 0, 1, 4, "0xED is no UTF-8"},
        {"a: b\r\nc: \xFF\n", 0, 2, 4, "0xFF"},
        {"a: b\rc: \xFF\n", 0, 2, 4, "0xFF"},
        {"\xFF\xFE"
         "a\0",
         4, 1, 1, "UTF-16"},
        {"\xFE\xFF\0a", 4, 1, 1, "UTF-16"},
        {"\xFF\xFE\0\0a\0\0\0", 8, 1, 1, "UTF-32"},
        {"\0\0\xFE\xFF\0\0\0a", 8, 1, 1, "UTF-32"},
        {"a\0:\0", 4, 1, 2, "a zero byte"}, /* UTF-16 without its mark */
    };
    for (size_t i = 0; i < ARRAY_LENGTH(refused); i++)
        assert_refused(&refused[i]);
}

static void test_refused_syntax(void **state) {
    (void)state;
    static const struct refused refused[] = {
        {"a: >= 0.9\n", 0, 1, 5, "put a text that begins with it in quotes"},
        {"a: b: c\n", 0, 1, 5, "a ': ' does not belong here"},
        {"a: \"b\n", 0, 1, 4, "never closed"},
        {"a: 'b\n", 0, 1, 4, "never closed"},
        {"a: [b, c\nd: e\n", 0, 1, 4, "the '['"},
        {"a: {b: c\nd: e\n", 0, 1, 4, "the '{'"},
        {"a: {b: c]\n", 0, 1, 4, "the '{'"},
        {"a:\n  b: c\n d: e\n", 0, 3, 2, "does not fit"},
        {"- a\nb: c\n", 0, 2, 1, "does not fit"},
        {"a: b\nc\nd: e\n", 0, 3, 1, "a key without"},
        {"a: \"\\q\"\n", 0, 1, 5, "unknown '\\'"},
        {"a: @b\n", 0, 1, 4, "cannot begin with this character"},
        {"a: `b`\n", 0, 1, 4, "cannot begin with this character"},
        {"a: - b\n", 0, 1, 4, "a list entry"},
        {"%\na: b\n", 0, 1, 1, "begins with '%'"},
        {"a: b\n  c: d\n", 0, 2, 4, "does not belong here"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(refused); i++)
        assert_refused(&refused[i]);
}

/* Whatever the bytes are, there is a tree or one place and sentence. */
static void test_any_bytes(void **state) {
    (void)state;
    static const char text[] = "a: {b: [c, 'd', \"e\\n\"], f: g}\nh:\n  - i: j\n    k: |\n      l\n"
                               "  - m # n\no: >\n  p\n  q\n";
    uint64_t random = 7;
    for (int i = 0; i < 20000; i++) {
        AUTO_ARENA struct arena *arena = arena_new();
        char changed[sizeof text];
        memcpy(changed, text, sizeof text);
        size_t length = sizeof text - 1;
        for (uint64_t n = next_random(&random) % 4; n > 0; n--)
            changed[next_random(&random) % length] =
                "\t\n :-[]{}'\"#&*!|>%@,?ab\\\x01\xff"[next_random(&random) % 26];
        if (next_random(&random) % 2 == 0)
            length = (size_t)(next_random(&random) % (length + 1));
        struct yaml_node *root = NULL;
        struct yaml_problem problem = {0};
        int rc = yaml_parse(changed, length, arena, &root, &problem);
        assert_true(rc == 0 || rc == -EINVAL);
        if (rc < 0) {
            assert_true(problem.line > 0 && problem.column > 0);
            assert_true(problem.text[0] != '\0');
        }
    }
}

static void test_depth_is_no_recursion(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_add_str(&text, "a: ");
    for (size_t i = 0; i < 1000000; i++)
        strbuf_add_char(&text, '[');
    assert_refused(&(struct refused){strbuf_str(&text), text.length, 1, 67, "more than 64 levels"});
}

static void test_files(void **state) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct yaml_node *root = NULL;
    struct yaml_problem problem = {0};
    struct err err = ERR_INIT;
    const char *bytes = NULL;
    size_t length = 0;
    AUTO_FREE char *path = mem_printf("%s/file.yaml", (const char *)*state);
    assert_int_equal(yaml_read(path, arena, &root, &bytes, &length, &problem, &err), -ENOENT);
    assert_string_equal(err.id, "file-unreadable");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("a: b\n", file);
    fclose(file);
    assert_int_equal(yaml_read(path, arena, &root, &bytes, &length, &problem, &err), 0);
    assert_string_equal(bytes, "a: b\n");
    assert_int_equal(length, 5);
    assert_scalar(yaml_get(root, "a"), "b", 1, 4);
    assert_int_equal(truncate(path, (off_t)YAML_FILE_MAX + 1), 0);
    assert_int_equal(yaml_read(path, arena, &root, NULL, NULL, &problem, &err), -EINVAL);
    assert_int_equal(problem.line, 2); /* behind "a: b" */
    assert_int_equal(problem.column, YAML_FILE_MAX - 4);
    assert_non_null(strstr(problem.text, "4 MiB"));
    assert_int_equal(truncate(path, (off_t)YAML_FILE_MAX), 0); /* small enough, and zero bytes */
    assert_int_equal(yaml_read(path, arena, &root, NULL, NULL, &problem, &err), -EINVAL);
    assert_int_equal(problem.line, 2);
    assert_int_equal(problem.column, 1);
    int rc = yaml_read(*state, arena, &root, NULL, NULL, &problem, &err);
    assert_true(rc < 0 && rc != -EINVAL);
    assert_non_null(strstr(err.text, "not a regular file"));
    AUTO_FREE char *fifo = mem_printf("%s/fifo", (const char *)*state);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    rc = yaml_read(fifo, arena, &root, NULL, NULL, &problem, &err); /* and does not wait */
    assert_true(rc < 0 && rc != -EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_what_is_taken),
        cmocka_unit_test(test_refused_meanings),
        cmocka_unit_test(test_refused_bytes),
        cmocka_unit_test(test_refused_syntax),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_depth_is_no_recursion),
        cmocka_unit_test_setup_teardown(test_files, folder_setup, folder_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
