/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tells machines of one name apart, and gives nothing away. */
#include "probe/machine-key.h"

#include "tree.h"

#define ID "0123456789abcdef0123456789abcdef"

static void test_key(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    const struct root root = {.prefix = base};
    char key[MACHINE_KEY_SIZE] = "x", again[MACHINE_KEY_SIZE], other[MACHINE_KEY_SIZE];
    assert_false(machine_key(&root, key)); /* none there */
    assert_string_equal(key, "");
    tree_write(base, "/etc/machine-id", ID "\n");
    assert_true(machine_key(&root, key));
    assert_int_equal(strlen(key), MACHINE_KEY_SIZE - 1);
    assert_int_equal(strspn(key, "0123456789abcdef"), MACHINE_KEY_SIZE - 1);
    assert_null(strstr(ID, key));
    tree_write(base, "/etc/machine-id", ID); /* without a line feed: the same */
    assert_true(machine_key(&root, again));
    assert_string_equal(key, again);
    tree_write(base, "/etc/machine-id", "1123456789abcdef0123456789abcdef\n");
    assert_true(machine_key(&root, other));
    assert_string_not_equal(key, other);
}

static void test_no_id(void **state) {
    (void)state;
    static const char *const texts[] = {"", "uninitialized\n", "00000000000000000000000000000000\n",
                                        "0123456789ABCDEF0123456789ABCDEF\n", "0123\n"};
    AUTO_TREE char *base = tree_new();
    const struct root root = {.prefix = base};
    char key[MACHINE_KEY_SIZE];
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        tree_write(base, "/etc/machine-id", texts[i]);
        assert_false(machine_key(&root, key));
        assert_string_equal(key, "");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_key), cmocka_unit_test(test_no_id)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
