/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Unpacking the agents. What other processes will execute must be ours to the last byte: the folder
 * belongs to this user and nobody else can write it, and each file is compared with what this
 * program carries before it is offered. Must not write outside its folder.
 */
#include "exec/agents-files.h"

#include "base/digest.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Made by tools/embed (src/agent/meson.build). */
extern const unsigned char agent_nvtx[], agent_python_start[], agent_python_hook[];
extern const size_t agent_nvtx_size, agent_python_start_size, agent_python_hook_size;
extern const char agent_nvtx_sha256[], agent_python_start_sha256[], agent_python_hook_sha256[];

#define FOLDER_PREFIX "agents-"
#define DIGEST_DIGITS 16u

static const struct file {
    enum agent agent;
    const char *name;
    const unsigned char *bytes;
    const size_t *size;
    const char *sha256;
} files[] = {
    {AGENT_PYTHON, AGENTS_PYTHON_FOLDER "/sitecustomize.py", agent_python_start,
     &agent_python_start_size, agent_python_start_sha256},
    {AGENT_PYTHON, AGENTS_PYTHON_FOLDER "/probelauf_hook.py", agent_python_hook,
     &agent_python_hook_size, agent_python_hook_sha256},
    {AGENT_NVTX, AGENTS_NVTX_FILE, agent_nvtx, &agent_nvtx_size, agent_nvtx_sha256},
};

bool agents_is_own_path(const char *path, size_t length, enum agent agent) {
    const char *tail = agent == AGENT_PYTHON ? "/" AGENTS_PYTHON_FOLDER : "/" AGENTS_NVTX_FILE;
    const char *head = "/" FOLDER_PREFIX;
    size_t tail_length = strlen(tail), head_length = strlen(head);
    size_t own_length = head_length + DIGEST_DIGITS + tail_length;
    if (length < own_length || path[0] != '/')
        return false;
    const char *own = path + length - own_length;
    return strncmp(own, head, head_length) == 0 &&
           strspn(own + head_length, "0123456789abcdef") == DIGEST_DIGITS &&
           strncmp(own + head_length + DIGEST_DIGITS, tail, tail_length) == 0;
}

/* ---- the place ---- */

static int name_folder(const struct shared *shared, char *ret_path, size_t size) {
    char digests[ARRAY_LENGTH(files)][SHA256_HEX_SIZE], all[SHA256_HEX_SIZE];
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++)
        memcpy(digests[i], files[i].sha256, sizeof digests[i]);
    digest_sha256(digests, sizeof digests, all);
    const char *slash = strrchr(shared->journal_path, '/');
    if (slash == NULL)
        return -ENOENT;
    int length =
        snprintf(ret_path, size, "%.*s/" FOLDER_PREFIX "%.*s", (int)(slash - shared->journal_path),
                 shared->journal_path, (int)DIGEST_DIGITS, all);
    /* room for the longest file in it */
    return length > 0 && (size_t)length + 64 < size ? 0 : -ENAMETOOLONG;
}

/* A folder that is this user's alone; a descriptor or a negative errno. */
static int open_folder(int at_fd, const char *path) {
    if (mkdirat(at_fd, path, 0700) < 0 && errno != EEXIST)
        return -errno;
    AUTO_CLOSE int fd = openat(at_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0)
        return -errno;
    if (status.st_uid != geteuid() || (status.st_mode & 077) != 0)
        return -EPERM;
    int kept = fd;
    fd = -1;
    return kept;
}

/* ---- files ---- */

static bool is_whole(int folder_fd, const struct file *file) {
    AUTO_CLOSE int fd =
        openat(folder_fd, file->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != geteuid() || (status.st_mode & 022) != 0 ||
        (uint64_t)status.st_size != *file->size)
        return false;
    AUTO_FREE unsigned char *bytes = mem_alloc(*file->size + 1);
    return fd_read_full(fd, bytes, *file->size) == (ssize_t)*file->size &&
           memcmp(bytes, file->bytes, *file->size) == 0;
}

/* Whole under its name or not at all: another run may be about to load it. */
static int write_file(int folder_fd, const struct file *file) {
    AUTO_FREE char *temporary = mem_printf("%s.%ld.new", file->name, (long)getpid());
    unlinkat(folder_fd, temporary, 0);
    AUTO_CLOSE int fd =
        openat(folder_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int rc = fd < 0 ? -errno : fd_write_full(fd, file->bytes, *file->size);
    if (rc == 0 && fchmod(fd, 0600) < 0)
        rc = -errno;
    if (rc == 0 && renameat(folder_fd, temporary, folder_fd, file->name) < 0)
        rc = -errno;
    if (rc < 0)
        unlinkat(folder_fd, temporary, 0);
    return rc;
}

static int unpack(int folder_fd, enum agent agent) {
    if (agent == AGENT_PYTHON) {
        AUTO_CLOSE int python_fd = open_folder(folder_fd, AGENTS_PYTHON_FOLDER);
        if (python_fd < 0)
            return python_fd;
    }
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        if (files[i].agent != agent || is_whole(folder_fd, &files[i]))
            continue;
        int rc = write_file(folder_fd, &files[i]);
        if (rc < 0 || !is_whole(folder_fd, &files[i]))
            return rc < 0 ? rc : -EIO;
    }
    return 0;
}

/* Loading a library maps it executable. */
static bool is_noexec(int folder_fd) {
    struct statvfs place;
    return fstatvfs(folder_fd, &place) == 0 && (place.f_flag & ST_NOEXEC) != 0;
}

static void tell(struct shared *shared, enum agent agent, const char *what) {
    snprintf(shared->agent_trouble[agent], sizeof shared->agent_trouble[agent], "%s", what);
}

static const char *trouble_text(int code) {
    switch (-code) {
    case EPERM:
        return N_("the folder for the files beside the journal is not this user's alone");
    case ENOSPC:
    case EDQUOT:
        return N_("there is no room for the files beside the journal");
    case EROFS:
    case EACCES:
        return N_("the files cannot be written beside the journal");
    default:
        return N_("the files could not be unpacked beside the journal");
    }
}

void agents_unpack(struct shared *shared) {
    char path[sizeof shared->agent_folder];
    shared->agent_folder[0] = '\0';
    int rc = name_folder(shared, path, sizeof path);
    AUTO_CLOSE int fd = rc < 0 ? -1 : open_folder(AT_FDCWD, path);
    rc = rc < 0 ? rc : fd < 0 ? fd : 0;
    for (size_t i = 0; i < AGENT_COUNT_; i++) {
        int unpacked = rc < 0 ? rc : unpack(fd, (enum agent)i);
        tell(shared, (enum agent)i, unpacked < 0 ? trouble_text(unpacked) : "");
    }
    if (rc < 0)
        return;
    if (shared->agent_trouble[AGENT_NVTX][0] == '\0' && is_noexec(fd))
        tell(shared, AGENT_NVTX,
             N_("the file system of the journal's folder does not let programs be executed"));
    memcpy(shared->agent_folder, path, sizeof path);
}
