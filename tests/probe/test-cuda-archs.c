/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Architectures out of fat binaries that are made here, byte by byte: sound ones, cut ones, lies.
 */
#include "tree.h"

#include "probe/cuda-archs.h"

#include "base/clock.h"

#include <elf.h>
#include <limits.h>

#define SECOND (INT64_C(1000) * NS_PER_MS)

struct bytes {
    unsigned char at[8192];
    size_t length;
};

static void put(struct bytes *bytes, const void *from, size_t length) {
    assert_true(bytes->length + length <= sizeof bytes->at);
    memcpy(bytes->at + bytes->length, from, length);
    bytes->length += length;
}

static void put_u16(struct bytes *bytes, unsigned value) {
    unsigned char two[2] = {(unsigned char)value, (unsigned char)(value >> 8)};
    put(bytes, two, sizeof two);
}

static void put_u32(struct bytes *bytes, uint32_t value) {
    put(bytes, &value, sizeof value);
}

static void put_u64(struct bytes *bytes, uint64_t value) {
    put(bytes, &value, sizeof value);
}

static void put_entry(struct bytes *bytes, unsigned kind, unsigned arch, uint64_t payload) {
    put_u16(bytes, kind);
    put_u16(bytes, 0x101);
    put_u32(bytes, 64);
    put_u64(bytes, payload);
    put_u32(bytes, 0);
    put_u32(bytes, 0);
    put_u16(bytes, 7);
    put_u16(bytes, 1);
    put_u32(bytes, arch);
    static const unsigned char rest[32];
    put(bytes, rest, sizeof rest);
    for (uint64_t i = 0; i < payload; i++)
        put(bytes, "x", 1);
}

static void put_container_head(struct bytes *bytes, uint64_t size) {
    put_u32(bytes, 0xba55ed50);
    put_u16(bytes, 1);
    put_u16(bytes, 16);
    put_u64(bytes, size);
}

/* An ELF file with the section and nothing else that matters. */
static char *write_elf(const char *folder, const char *name, const char *section,
                       const struct bytes *content) {
    struct bytes file = {0};
    static const char names_head[] = "\0.shstrtab\0";
    char names[128];
    size_t names_length = sizeof names_head - 1;
    memcpy(names, names_head, names_length);
    memcpy(names + names_length, section, strlen(section) + 1);
    size_t section_name = names_length;
    names_length += strlen(section) + 1;
    size_t content_at = sizeof(Elf64_Ehdr), names_at = content_at + content->length;
    Elf64_Ehdr elf = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                      .e_shoff = names_at + names_length,
                      .e_shentsize = sizeof(Elf64_Shdr),
                      .e_shnum = 3,
                      .e_shstrndx = 1};
    Elf64_Shdr sections[3] = {
        {.sh_type = SHT_NULL},
        {.sh_type = SHT_STRTAB, .sh_name = 1, .sh_offset = names_at, .sh_size = names_length},
        {.sh_type = SHT_PROGBITS,
         .sh_name = (Elf64_Word)section_name,
         .sh_offset = content_at,
         .sh_size = content->length}};
    put(&file, &elf, sizeof elf);
    put(&file, content->at, content->length);
    put(&file, names, names_length);
    put(&file, sections, sizeof sections);
    char *path = mem_printf("%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(file.at, 1, file.length, out), file.length);
    assert_int_equal(fclose(out), 0);
    return path;
}

static void two_containers(void **state) {
    (void)state;
    AUTO_TREE char *folder = tree_new();
    struct bytes content = {0};
    put_container_head(&content, 3 * 64 + 8 + 16 + 24);
    put_entry(&content, 2, 90, 8);
    put_entry(&content, 2, 80, 16);
    put_entry(&content, 1, 90, 24);
    put_u64(&content, 0); /* padding */
    put_container_head(&content, 2 * 64);
    put_entry(&content, 2, 80, 0);
    put_entry(&content, 2, 75, 0);
    AUTO_FREE char *path = write_elf(folder, "lib.so", ".nv_fatbin", &content);
    struct cuda_archs archs;
    assert_int_equal(cuda_archs_read(&root_real, path, SECOND, &archs), 0);
    assert_int_equal(archs.machine_count, 3);
    assert_int_equal(archs.machine[0], 75);
    assert_int_equal(archs.machine[1], 80);
    assert_int_equal(archs.machine[2], 90);
    assert_int_equal(archs.ptx_count, 1);
    assert_int_equal(archs.ptx[0], 90);
    assert_int_equal(archs.containers, 2);
    assert_true(archs.complete);
}

/* Sizes that lead out of the container, or round the 64 bits, end the look and say so. */
static void lies(void **state) {
    (void)state;
    static const uint64_t payloads[] = {1 << 20, UINT64_MAX - 100, UINT64_MAX};
    AUTO_TREE char *folder = tree_new();
    for (size_t i = 0; i < ARRAY_LENGTH(payloads); i++) {
        struct bytes content = {0};
        put_container_head(&content, 2 * 64);
        put_entry(&content, 2, 80, 0);
        size_t second = content.length;
        put_entry(&content, 2, 90, 0);
        memcpy(content.at + second + 8, &payloads[i], sizeof payloads[i]);
        AUTO_FREE char *path = write_elf(folder, "lie.so", ".nv_fatbin", &content);
        struct cuda_archs archs;
        assert_int_equal(cuda_archs_read(&root_real, path, SECOND, &archs), 0);
        assert_int_equal(archs.machine_count, 1);
        assert_false(archs.complete);
    }
    struct bytes content = {0};
    put_container_head(&content, UINT64_MAX - 8);
    put_entry(&content, 2, 80, 0);
    AUTO_FREE char *path = write_elf(folder, "lie.so", ".nv_fatbin", &content);
    struct cuda_archs archs;
    assert_int_equal(cuda_archs_read(&root_real, path, SECOND, &archs), -EBADMSG);
}

static void others(void **state) {
    (void)state;
    AUTO_TREE char *folder = tree_new();
    struct bytes content = {0};
    put_container_head(&content, 64);
    put_entry(&content, 2, 80, 0);
    AUTO_FREE char *plain = write_elf(folder, "plain.so", ".rodata", &content);
    AUTO_FREE char *text = mem_printf("%s/text.so", folder);
    AUTO_FREE char *none = mem_printf("%s/none.so", folder);
    FILE *out = fopen(text, "w");
    assert_non_null(out);
    fputs("INPUT(libfoo.so)\n", out);
    assert_int_equal(fclose(out), 0);
    struct cuda_archs archs;
    assert_int_equal(cuda_archs_read(&root_real, plain, SECOND, &archs), -ENODATA);
    assert_int_equal(cuda_archs_read(&root_real, text, SECOND, &archs), -ENOEXEC);
    assert_int_equal(cuda_archs_read(&root_real, none, SECOND, &archs), -ENOENT);
    assert_int_equal(cuda_archs_read(&root_real, folder, SECOND, &archs), -EBADMSG);
}

/* Code of a kind that nobody knows is no proof that there is none for a device. */
static void unknown_kind(void **state) {
    (void)state;
    AUTO_TREE char *folder = tree_new();
    struct bytes content = {0};
    put_container_head(&content, 2 * 64);
    put_entry(&content, 2, 50, 0);
    put_entry(&content, 77, 90, 0);
    AUTO_FREE char *path = write_elf(folder, "new.so", ".nv_fatbin", &content);
    struct cuda_archs archs;
    assert_int_equal(cuda_archs_read(&root_real, path, SECOND, &archs), 0);
    assert_int_equal(archs.machine_count, 1);
    assert_false(archs.complete);
}

/* Every prefix of a sound file is read without a crash and claims nothing that is not there. */
static void cut_files(void **state) {
    (void)state;
    AUTO_TREE char *folder = tree_new();
    struct bytes content = {0};
    put_container_head(&content, 64 + 8);
    put_entry(&content, 2, 80, 8);
    AUTO_FREE char *path = write_elf(folder, "cut.so", ".nv_fatbin", &content);
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    for (off_t length = file.st_size - 1; length >= 0; length--) {
        struct cuda_archs archs;
        assert_int_equal(truncate(path, length), 0);
        assert_true(cuda_archs_read(&root_real, path, SECOND, &archs) < 0);
        assert_int_equal(archs.machine_count, 0);
    }
}

/* What an installer lists, with commas and quotes in names; small objects and other files are left
 * out. */
static void wheels_of_an_interpreter(void **state) {
    (void)state;
    AUTO_TREE char *root_folder = tree_new();
    AUTO_FREE char *packages = mem_printf("%s/opt/v/lib/python3.11/site-packages", root_folder);
    AUTO_FREE char *info = mem_printf("%s/torch-2.5.1+cu124.dist-info", packages);
    AUTO_FREE char *library = mem_printf("%s/torch/lib", packages);
    AUTO_FREE char *bin = mem_printf("%s/opt/v/bin", root_folder);
    tree_make_folder(info);
    tree_make_folder(library);
    tree_make_folder(bin);
    struct bytes content = {0};
    put_container_head(&content, 64);
    put_entry(&content, 2, 90, 0);
    free(write_elf(library, "libtorch_cuda.so", ".nv_fatbin", &content));
    free(write_elf(library, "odd, name.so.12", ".nv_fatbin", &content));
    AUTO_FREE char *record = mem_printf("%s/RECORD", info);
    FILE *out = fopen(record, "w");
    assert_non_null(out);
    fputs("torch/__init__.py,sha256=x,70000\n"
          "torch/lib/libtorch_cuda.so,sha256=x,1000000\n"
          "torch/lib/small.so,sha256=x,10\n"
          "\"torch/lib/odd, name.so.12\",sha256=x,\n"
          "torch/lib/gone.so,sha256=x,1000000\n"
          "/etc/passwd.so,,900000\n",
          out);
    assert_int_equal(fclose(out), 0);
    const struct root root = {.prefix = root_folder};
    struct python python = {.library = "python3.11"};
    (void)snprintf(python.prefix, sizeof python.prefix, "/opt/v");
    (void)snprintf(python.base, sizeof python.base, "/opt/v");
    const struct variables none = {0};
    bool complete = false;
    AUTO_JSON json_t *wheels = cuda_wheels(&root, &python, &none, 5 * SECOND, &complete);
    assert_true(complete);
    /* what is listed but not there stands beside what was read */
    assert_int_equal(json_array_size(wheels), 3);
    const json_t *first = json_array_get(wheels, 0);
    assert_string_equal(json_get_text(first, "package", ""), "torch");
    assert_string_equal(json_get_text(first, "version", ""), "2.5.1+cu124");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(first, "machine"), 0)), 90);
    AUTO_JSON json_t *late = cuda_wheels(&root, &python, &none, -1, &complete);
    assert_false(complete);
    assert_int_equal(json_array_size(late), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_containers), cmocka_unit_test(lies),
        cmocka_unit_test(unknown_kind),   cmocka_unit_test(others),
        cmocka_unit_test(cut_files),      cmocka_unit_test(wheels_of_an_interpreter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
