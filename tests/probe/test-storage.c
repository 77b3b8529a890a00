/* SPDX-License-Identifier: GPL-3.0-or-later */
/* storage.h against written machines. */
#include "probe/storage.h"

#include "tree.h"

#include <sys/sysmacros.h>

static void assert_storage(const char *type, const char *disk, const char *rotational,
                           const char *expected) {
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    char name[STORAGE_SIZE];
    AUTO_FREE char *mounts = mem_printf("36 35 8:1 / / rw - ext4 /dev/sda1 rw\n"
                                        "37 36 8:2 / /data rw,noatime - %s /dev/x rw\n",
                                        type);
    tree_write(base, "/proc/self/mountinfo", mounts);
    if (disk != NULL) {
        AUTO_FREE char *target = mem_printf("../../devices/%s", disk);
        tree_link(base, "/sys/dev/block/8:2", target);
        AUTO_FREE char *file = mem_printf("/sys/devices/%s/queue/rotational", disk);
        tree_write(base, file, rotational);
    }
    storage_name(&root, "/data/model.gguf", makedev(8, 2), name);
    assert_string_equal(name, expected);
}

static void names_file_system_and_disk(void **state) {
    (void)state;
    assert_storage("xfs", "pci/nvme0n1", "0\n", "xfs on nvme");
    assert_storage("ext4", "pci/sda", "1\n", "ext4 on rotational disk");
    assert_storage("ext4", "pci/sda", "0\n", "ext4 on ssd");
    assert_storage("ext4", "virtio/vda", "1\n", "ext4 on virtual disk");
    assert_storage("ext4", "pci/sda", "who knows\n", "ext4");
    assert_storage("nfs4", NULL, NULL, "nfs4");
    assert_storage("fuse.gcsfuse", NULL, NULL, "fuse.gcsfuse");
}

/* A partition has no queue of its own. */
static void asks_the_disk_of_a_partition(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    char name[STORAGE_SIZE];
    tree_write(base, "/proc/self/mountinfo", "36 35 8:1 / / rw - ext4 /dev/sda1 rw\n");
    tree_write(base, "/sys/devices/sda/sda1/partition", "1\n");
    tree_write(base, "/sys/devices/sda/queue/rotational", "1\n");
    tree_link(base, "/sys/dev/block/8:1", "../../devices/sda/sda1");
    storage_name(&root, "/model.gguf", makedev(8, 1), name);
    assert_string_equal(name, "ext4 on rotational disk");
}

static void says_nothing_without_mounts(void **state) {
    (void)state;
    AUTO_TREE char *base = tree_new();
    struct root root = {base};
    char name[STORAGE_SIZE];
    storage_name(&root, "/model.gguf", makedev(8, 1), name);
    assert_string_equal(name, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_file_system_and_disk),
        cmocka_unit_test(asks_the_disk_of_a_partition),
        cmocka_unit_test(says_nothing_without_mounts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
