/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ELF and fat binaries by a few reads at known places. Every offset and size in the file is checked
 * against the file; must not map or read payloads (libraries of 2 GB are common). */
#include "probe/cuda-archs.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FATBIN_MAGIC    0xba55ed50u
#define FATBIN_HEAD     16u
#define ENTRY_HEAD_MIN  32u /* up to the architecture */
#define ENTRY_ARCH_AT   28u
#define SECTIONS_MAX    4096u
#define NAMES_MAX       (1u << 20)
#define PADDING_STEP    8u
#define PADDING_MAX     (1u << 16) /* zeros between containers */
#define ARCH_MAX        999u
#define LOOKS_PER_CLOCK 64u

struct reader {
    int fd;
    uint64_t size;
    int64_t deadline_ns;
    unsigned looks;
    bool has_unknown;
    struct cuda_archs *archs;
};

static bool read_at(const struct reader *reader, uint64_t at, void *bytes, size_t length) {
    if (at > reader->size || length > reader->size - at)
        return false;
    size_t done = 0;
    while (done < length) {
        ssize_t got = pread(reader->fd, (char *)bytes + done, length - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static uint32_t get_u32(const unsigned char *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t get_u64(const unsigned char *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static bool is_late(struct reader *reader) {
    return ++reader->looks % LOOKS_PER_CLOCK == 0 && clock_mono_ns() > reader->deadline_ns;
}

/* Ascending, each once; what does not fit is dropped (there are some twenty in the world). */
static void add_arch(unsigned *list, size_t *count, unsigned arch) {
    size_t at = 0;
    while (at < *count && list[at] < arch)
        at++;
    if ((at < *count && list[at] == arch) || *count == CUDA_ARCHS_MAX)
        return;
    memmove(list + at + 1, list + at, (*count - at) * sizeof *list);
    list[at] = arch;
    (*count)++;
}

/* The entries of one container, [at, end). False: it is not what we know. */
static bool read_container(struct reader *reader, uint64_t at, uint64_t end) {
    while (at < end) {
        unsigned char head[ENTRY_HEAD_MIN];
        if (is_late(reader) || end - at < sizeof head || !read_at(reader, at, head, sizeof head))
            return false;
        unsigned kind = head[0] | (unsigned)head[1] << 8;
        uint64_t head_size = get_u32(head + 4), payload = get_u64(head + 8);
        unsigned arch = get_u32(head + ENTRY_ARCH_AT);
        if (head_size < ENTRY_HEAD_MIN || head_size > end - at || payload > end - at - head_size)
            return false;
        struct cuda_archs *archs = reader->archs;
        if (arch > 0 && arch <= ARCH_MAX && kind == 1)
            add_arch(archs->ptx, &archs->ptx_count, arch);
        if (arch > 0 && arch <= ARCH_MAX && kind == 2)
            add_arch(archs->machine, &archs->machine_count, arch);
        if (kind != 1 && kind != 2)
            reader->has_unknown = true; /* code of a kind that we do not know */
        at += head_size + payload;
    }
    return true;
}

/* The next container at or behind `at`: zeros in between are padding. */
static bool find_container(const struct reader *reader, uint64_t *at, uint64_t end,
                           uint64_t *ret_end) {
    for (uint64_t skipped = 0; skipped < PADDING_MAX && end - *at >= FATBIN_HEAD;
         skipped += PADDING_STEP, *at += PADDING_STEP) {
        unsigned char head[FATBIN_HEAD];
        if (!read_at(reader, *at, head, sizeof head))
            return false;
        if (get_u32(head) == FATBIN_MAGIC) {
            uint64_t head_size = head[6] | (uint64_t)head[7] << 8, size = get_u64(head + 8);
            if (head_size < FATBIN_HEAD || head_size > end - *at || size > end - *at - head_size)
                return false;
            *at += head_size;
            *ret_end = *at + size;
            return true;
        }
        if (get_u32(head) != 0)
            return false;
    }
    return false;
}

static void read_section(struct reader *reader, uint64_t at, uint64_t size) {
    uint64_t end = at + size, container_end;
    struct cuda_archs *archs = reader->archs;
    archs->complete = true;
    while (end - at >= FATBIN_HEAD) {
        uint64_t from = at;
        if (!find_container(reader, &at, end, &container_end)) {
            archs->complete = archs->complete && end - from < PADDING_MAX;
            return;
        }
        archs->containers++;
        if (!read_container(reader, at, container_end))
            archs->complete = false;
        if (clock_mono_ns() > reader->deadline_ns) {
            archs->complete = false;
            return;
        }
        at = container_end;
    }
}

/* The section headers and their names; NULL: not an ELF file that can hold CUDA code here. */
static Elf64_Shdr *read_sections(const struct reader *reader, size_t *ret_count, char **ret_names,
                                 size_t *ret_length) {
    Elf64_Ehdr elf;
    if (!read_at(reader, 0, &elf, sizeof elf) || memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 ||
        elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_ident[EI_DATA] != ELFDATA2LSB ||
        elf.e_shentsize != sizeof(Elf64_Shdr) || elf.e_shnum == 0 || elf.e_shnum > SECTIONS_MAX ||
        elf.e_shstrndx >= elf.e_shnum)
        return NULL;
    AUTO_FREE Elf64_Shdr *sections = mem_alloc(elf.e_shnum * sizeof *sections);
    if (!read_at(reader, elf.e_shoff, sections, elf.e_shnum * sizeof *sections))
        return NULL;
    const Elf64_Shdr *names = &sections[elf.e_shstrndx];
    if (names->sh_size == 0 || names->sh_size > NAMES_MAX)
        return NULL;
    AUTO_FREE char *text = mem_alloc(names->sh_size + 1);
    if (!read_at(reader, names->sh_offset, text, names->sh_size))
        return NULL;
    *ret_count = elf.e_shnum;
    *ret_length = names->sh_size;
    *ret_names = steal(text);
    return steal(sections);
}

static int read_elf(struct reader *reader) {
    AUTO_FREE char *names = NULL;
    size_t count = 0, length = 0;
    AUTO_FREE Elf64_Shdr *sections = read_sections(reader, &count, &names, &length);
    if (sections == NULL)
        return -ENOEXEC;
    for (size_t i = 0; i < count; i++) {
        const Elf64_Shdr *section = &sections[i];
        if (section->sh_name >= length || strcmp(names + section->sh_name, ".nv_fatbin") != 0)
            continue;
        if (section->sh_type == SHT_NOBITS || section->sh_offset > reader->size ||
            section->sh_size > reader->size - section->sh_offset)
            return -EBADMSG;
        read_section(reader, section->sh_offset, section->sh_size);
        struct cuda_archs *archs = reader->archs;
        archs->complete = archs->complete && !reader->has_unknown;
        return archs->machine_count + archs->ptx_count > 0 ? 0 : -EBADMSG;
    }
    return -ENODATA;
}

int cuda_archs_read(const struct root *root, const char *path, int64_t budget_ns,
                    struct cuda_archs *ret_archs) {
    *ret_archs = (struct cuda_archs){0};
    AUTO_CLOSE int fd = root_open(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    struct stat file;
    if (fd < 0)
        return fd;
    if (fstat(fd, &file) < 0 || !S_ISREG(file.st_mode) || file.st_size <= 0)
        return -EBADMSG;
    struct reader reader = {.fd = fd,
                            .size = (uint64_t)file.st_size,
                            .deadline_ns = clock_mono_ns() + budget_ns,
                            .archs = ret_archs};
    return read_elf(&reader);
}
