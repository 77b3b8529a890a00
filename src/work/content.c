/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads files piece by piece; holds names of a folder in memory, never a file. Changes nothing. */
#include "work/content.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/strbuf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE ((size_t)256 << 10)

struct names {
    char **items; /* owned, relative to the folder */
    size_t count, room;
};

static void names_done(struct names *names) {
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}
#define AUTO_NAMES __attribute__((cleanup(names_done)))

static int unreadable(const char *path, int rc, struct err *err) {
    return err_set(err, rc, "input-unreadable", "cannot read the input '%s': %s", path,
                   strerror(-rc));
}

static void to_hex(SHA2_CTX *context, char ret_hex[SHA256_HEX_SIZE]) {
    uint8_t sum[SHA256_DIGEST_LENGTH];
    SHA256Final(sum, context);
    for (size_t i = 0; i < sizeof sum; i++) {
        ret_hex[2 * i] = "0123456789abcdef"[sum[i] >> 4];
        ret_hex[2 * i + 1] = "0123456789abcdef"[sum[i] & 0x0F];
    }
    ret_hex[SHA256_HEX_SIZE - 1] = '\0';
}

static int digest_file(const char *path, struct content_progress *progress,
                       char ret_hex[SHA256_HEX_SIZE], struct err *err) {
    /* A FIFO that came into the place of a file would block. */
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0)
        return unreadable(path, -errno, err);
    if (!S_ISREG(status.st_mode))
        return unreadable(path, -EINVAL, err);
    SHA2_CTX context;
    AUTO_FREE char *piece = mem_alloc(PIECE);
    SHA256Init(&context);
    for (;;) {
        ssize_t got = fd_read_full(fd, piece, PIECE);
        if (got < 0)
            return unreadable(path, (int)got, err);
        if (got == 0)
            break;
        SHA256Update(&context, (const uint8_t *)piece, (size_t)got);
        progress->bytes += (uint64_t)got;
        if (progress->read)
            progress->read(progress->bytes, progress->context);
    }
    progress->files++;
    to_hex(&context, ret_hex);
    return 0;
}

static int add_name(struct names *names, const char *top, char *take_name, struct err *err) {
    AUTO_FREE char *name = take_name;
    if (names->count >= CONTENT_FILES_MAX)
        return err_set(err, -E2BIG, "input-unreadable",
                       "the input '%s' holds more than %u files: name fewer, or an archive of them",
                       top, CONTENT_FILES_MAX);
    if (names->count == names->room) {
        names->room = names->room ? names->room * 2 : 64;
        names->items = mem_realloc(names->items, names->room, sizeof(*names->items));
    }
    names->items[names->count++] = steal(name);
    return 0;
}

static int list_folder(const char *top, const char *below, unsigned depth, struct names *names,
                       struct err *err);

static int list_item(const char *top, const char *name, unsigned depth, struct names *names,
                     struct err *err) {
    AUTO_FREE char *path = mem_printf("%s/%s", top, name);
    struct stat link, target;
    if (lstat(path, &link) < 0 || stat(path, &target) < 0)
        return unreadable(path, -errno, err);
    if (S_ISREG(target.st_mode))
        return add_name(names, top, mem_strdup(name), err);
    if (S_ISDIR(target.st_mode) && !S_ISLNK(link.st_mode))
        return list_folder(top, name, depth + 1, names, err);
    return err_set(err, -EINVAL, "input-unreadable",
                   "the input '%s' is neither a file nor a folder nor a link to a file", path);
}

static int list_folder(const char *top, const char *below, unsigned depth, struct names *names,
                       struct err *err) {
    AUTO_FREE char *path = *below ? mem_printf("%s/%s", top, below) : mem_strdup(top);
    if (depth > CONTENT_DEPTH_MAX)
        return unreadable(path, -ELOOP, err);
    DIR *folder = opendir(path);
    if (!folder)
        return unreadable(path, -errno, err);
    int rc = 0;
    for (struct dirent *item; rc == 0;) {
        errno = 0;
        item = readdir(folder);
        if (!item) {
            rc = errno ? unreadable(path, -errno, err) : 0;
            break;
        }
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
            continue;
        AUTO_FREE char *name =
            *below ? mem_printf("%s/%s", below, item->d_name) : mem_strdup(item->d_name);
        rc = list_item(top, name, depth, names, err);
    }
    closedir(folder);
    return rc;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int digest_folder(const char *path, struct content_progress *progress,
                         char ret_hex[SHA256_HEX_SIZE], struct err *err) {
    AUTO_NAMES struct names names = {0};
    int rc = list_folder(path, "", 0, &names, err);
    if (rc < 0)
        return rc;
    if (names.count > 1)
        qsort(names.items, names.count, sizeof(*names.items), by_text);
    SHA2_CTX context;
    SHA256Init(&context);
    for (size_t i = 0; i < names.count; i++) {
        AUTO_FREE char *file = mem_printf("%s/%s", path, names.items[i]);
        char hex[SHA256_HEX_SIZE];
        rc = digest_file(file, progress, hex, err);
        if (rc < 0)
            return rc;
        AUTO_FREE char *line = mem_printf("%s  %s", hex, names.items[i]);
        SHA256Update(&context, (const uint8_t *)line, strlen(line) + 1);
    }
    to_hex(&context, ret_hex);
    return 0;
}

int content_digest(const char *path, struct content_progress *progress,
                   char ret_hex[SHA256_HEX_SIZE], struct err *err) {
    struct stat status;
    if (stat(path, &status) < 0)
        return unreadable(path, -errno, err);
    return S_ISDIR(status.st_mode) ? digest_folder(path, progress, ret_hex, err)
                                   : digest_file(path, progress, ret_hex, err);
}
