/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * See block-lanes.h. The lock (OFD) belongs to the open file that a child inherits: it is held for
 * as long as that child, or what it measures, lives, whoever started it is gone or not. Nothing in
 * a file is trusted.
 */
#include "work/block-lanes.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER          "lanes"
#define FILE_MAX        ((size_t)65536)
#define LOCK_PATIENCE   (3 * NS_PER_S)
#define LOCK_PAUSE_US   20000
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
#define NAME_MAX_KEPT   80

void lane_folder_done(struct lane_folder *folder) {
    mem_free_ptr(&folder->path);
    mem_free_ptr(&folder->prefix);
}

static char *beside_ledger(const struct place *place) {
    const char *path = place->ledger_url;
    if (str_starts_with(path, "sqlite:"))
        path += strlen("sqlite:");
    const char *slash = path[0] == '/' ? strrchr(path, '/') : NULL;
    return slash ? mem_printf("%.*s/%s", (int)(slash - path), path, FOLDER) : NULL;
}

/* A name that a file can have; what had to be changed gets a digest, so that no two are one. */
static char *file_name(const char *text) {
    size_t length = strlen(text);
    if (length > 0 && length <= NAME_MAX_KEPT && text[0] != '.' &&
        text[strspn(text, NAME_CHARACTERS)] == '\0')
        return mem_strdup(text);
    char hex[SHA256_HEX_SIZE];
    digest_sha256(text, length, hex);
    char *kept = mem_strndup(text, length < NAME_MAX_KEPT ? length : NAME_MAX_KEPT);
    for (char *at = kept; *at; at++)
        *at = strchr(NAME_CHARACTERS, *at) ? *at : '_';
    char *name = mem_printf("_%s-%.12s", kept, hex);
    mem_free_ptr(&kept);
    return name;
}

int lane_folder_open(const struct place *place, const char *study, const char *block,
                     struct lane_folder *ret, struct err *err) {
    AUTO_FREE char *name = file_name(block);
    AUTO_FREE char *path = beside_ledger(place);
    struct err why = ERR_INIT;
    int rc = path ? dir_make_private(path, &why) : -ENOENT;
    for (const char *const *dir = place->journal_dirs; rc < 0 && *dir; dir++) {
        mem_free_ptr(&path);
        path = mem_printf("%s/%s", *dir, FOLDER);
        why = ERR_INIT;
        rc = dir_make_private(path, &why);
    }
    if (rc < 0)
        return err_set(err, rc, "block-lanes", "no folder for the lanes can be made: %s", why.text);
    ret->path = steal(path);
    ret->prefix = mem_printf("%s-%s", study ? study : "no-study", name);
    return 0;
}

static char *lane_path(const struct lane_folder *folder, size_t number) {
    return mem_printf("%s/%s-%zu.lane", folder->path, folder->prefix, number);
}

/* ---- locks ---- */

static struct flock whole_file(void) {
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

/* 1: by somebody; 0: by nobody; else a negative errno. */
static int is_locked(int fd) {
    struct flock lock = whole_file();
    if (fcntl(fd, F_OFD_GETLK, &lock) < 0)
        return -errno;
    return lock.l_type != F_UNLCK;
}

static int no_locks(const struct lane_folder *folder, int code, struct err *err) {
    return err_set(err, code, "block-lanes",
                   "files in '%s' cannot be locked (%s), and without that a run could be made "
                   "twice: put the ledger on a local disk (--ledger)",
                   folder->path, strerror(-code));
}

static int open_own(const char *path, bool create) {
    struct stat status;
    int fd =
        open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (create ? O_CREAT : 0), 0600);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
        close(fd);
        return -EINVAL;
    }
    return fd;
}

/* ---- what is locked ---- */

static int64_t read_pid(const char *line) {
    int64_t pid = 0;
    if (!line || !str_starts_with(line, "pid "))
        return 0;
    AUTO_FREE char *digits = mem_strndup(line + 4, strcspn(line + 4, "\n"));
    return str_to_i64(digits, &pid) == 0 && pid > 0 ? pid : 0;
}

static const char *kept_text(const json_t *json, const char *key, struct arena *arena) {
    const char *text = json_get_text(json, key, NULL);
    return text ? arena_strdup(arena, text) : NULL;
}

static struct lane_content read_content(int fd, struct arena *arena) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    struct lane_content content = {.what = ""};
    char why[160];
    if (fd_read_all(fd, FILE_MAX, &text) < 0)
        return content;
    const char *line = strbuf_str(&text);
    const char *end = strchr(line, '\n');
    AUTO_JSON json_t *json = json_parse(line, end ? (size_t)(end - line) : text.length, why);
    content.condition = kept_text(json, "condition", arena);
    content.step = kept_text(json, "step", arena);
    content.what = arena_strdup(arena, json_get_text(json, "what", ""));
    content.gpus = kept_text(json, "gpus", arena);
    content.output = kept_text(json, "output", arena);
    content.utc_ns = json_get_int(json, "utc_ns", 0);
    content.pid = read_pid(end ? end + 1 : NULL);
    return content;
}

int lanes_find_locked(const struct lane_folder *folder, struct arena *arena,
                      struct lane_locked **ret_lanes, size_t *ret_count, struct err *err) {
    struct lane_locked *lanes = arena_alloc(arena, BLOCK_LANES_MAX * sizeof *lanes);
    size_t count = 0;
    for (size_t number = 1; number <= BLOCK_LANES_MAX; number++) {
        AUTO_FREE char *path = lane_path(folder, number);
        AUTO_CLOSE int fd = open_own(path, false);
        if (fd < 0)
            continue;
        int locked = is_locked(fd);
        if (locked < 0)
            return no_locks(folder, locked, err);
        if (locked)
            lanes[count++] =
                (struct lane_locked){.number = number, .content = read_content(fd, arena)};
    }
    *ret_lanes = lanes;
    *ret_count = count;
    return 0;
}

/* ---- taking one ---- */

static int write_content(int fd, const struct lane_content *content) {
    AUTO_JSON json_t *json = json_object();
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (content->condition)
        json_put_text(json, "condition", content->condition);
    if (content->step)
        json_put_text(json, "step", content->step);
    json_put_text(json, "what", content->what);
    if (content->gpus)
        json_put_text(json, "gpus", content->gpus);
    if (content->output)
        json_put_text(json, "output", content->output);
    json_put_int(json, "utc_ns", content->utc_ns);
    json_add_compact(&text, json);
    strbuf_add_char(&text, '\n');
    if (ftruncate(fd, 0) < 0)
        return -errno;
    return fd_write_full(fd, strbuf_str(&text), text.length);
}

int lane_take(const struct lane_folder *folder, size_t number, const struct lane_content *content,
              int *ret_fd, struct err *err) {
    AUTO_FREE char *path = lane_path(folder, number);
    AUTO_CLOSE int fd = open_own(path, true);
    struct flock lock = whole_file();
    if (fd < 0)
        return err_set(err, fd, "block-lanes", "the lane file '%s' cannot be made: %s", path,
                       strerror(-fd));
    if (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
        if (errno == EAGAIN || errno == EACCES)
            return err_set(err, -EAGAIN, "block-lanes", "lane %zu is in use", number);
        return no_locks(folder, -errno, err);
    }
    int rc = write_content(fd, content);
    if (rc < 0)
        return err_set(err, rc, "block-lanes", "the lane file '%s' cannot be written: %s", path,
                       strerror(-rc));
    *ret_fd = fd;
    fd = -1;
    return 0;
}

void lane_drop(const struct lane_folder *folder, size_t number) {
    AUTO_FREE char *path = lane_path(folder, number);
    (void)unlink(path);
}

/* A runner that was just killed may have a child that has not become a `run` yet. */
int lanes_lock_block(const struct lane_folder *folder, int *ret_fd, struct err *err) {
    AUTO_FREE char *path = mem_printf("%s/%s.lock", folder->path, folder->prefix);
    AUTO_CLOSE int fd = open_own(path, true);
    int64_t until_ns = clock_mono_ns() + LOCK_PATIENCE;
    if (fd < 0)
        return err_set(err, fd, "block-lanes", "the file '%s' cannot be made: %s", path,
                       strerror(-fd));
    for (;;) {
        struct flock lock = whole_file();
        if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
            break;
        if (errno != EAGAIN && errno != EACCES)
            return no_locks(folder, -errno, err);
        if (clock_mono_ns() >= until_ns)
            return err_set(err, -EBUSY, "block-running",
                           "another 'probelauf block run' of this block is at work: its lanes do "
                           "what is left; end it first to begin another one");
        (void)usleep(LOCK_PAUSE_US);
    }
    *ret_fd = fd;
    fd = -1;
    return 0;
}
