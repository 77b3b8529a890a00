/* SPDX-License-Identifier: GPL-3.0-or-later */
/* net-dev.h against written tables. */
#include "probe/net-dev.h"

#include "tree.h"

#define TITLES                                                                                 \
    "Inter-|   Receive                                                |  Transmit\n"           \
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs " \
    "drop fifo colls carrier compressed\n"

static int read_table(const char *text, struct net_bytes *ret) {
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    if (text != NULL)
        tree_write(base, "/proc/7/net/dev", text);
    return net_dev_read(&root, 7, ret);
}

static void adds_up_all_but_the_loopback(void **state) {
    (void)state;
    struct net_bytes bytes;
    assert_int_equal(read_table(TITLES "    lo: 900 1 0 0 0 0 0 0 900 1 0 0 0 0 0 0\n"
                                       "  eth0: 1000 5 0 0 0 0 0 0 200 6 0 0 0 0 0 0\n"
                                       "eth0:1:70 1 0 0 0 0 0 0 8 1 0 0 0 0 0 0\n"
                                       "   lo2: 5 1 0 0 0 0 0 0 3 1 0 0 0 0 0 0\n",
                                &bytes),
                     0);
    assert_int_equal(bytes.received, 1075);
    assert_int_equal(bytes.sent, 211);
    assert_int_equal(read_table(TITLES, &bytes), 0); /* a namespace without interfaces */
    assert_int_equal(bytes.received, 0);
}

static void refuses_what_is_no_table(void **state) {
    (void)state;
    struct net_bytes bytes;
    assert_int_equal(read_table(NULL, &bytes), -ENOENT);
    assert_int_equal(read_table("", &bytes), -EBADMSG);
    assert_int_equal(read_table(TITLES "eth0 1000\n", &bytes), -EBADMSG);
    assert_int_equal(read_table(TITLES "eth0: 1000 5 0 0\n", &bytes), -EBADMSG);
    assert_int_equal(read_table(TITLES "eth0: -5 5 0 0 0 0 0 0 1 1\n", &bytes), -EBADMSG);
}

static void reads_the_real_one(void **state) {
    (void)state;
    struct net_bytes bytes;
    assert_int_equal(net_dev_read(&root_real, getpid(), &bytes), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_up_all_but_the_loopback),
        cmocka_unit_test(refuses_what_is_no_table),
        cmocka_unit_test(reads_the_real_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
