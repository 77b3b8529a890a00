/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stat of files, a bounded walk of folders. What the walk did not reach is open, never a smaller
 * sum. */
#include "exec/paths.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/msg.h"
#include "text/secret.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WALK_ENTRIES 20000
#define WALK_NS      (300 * NS_PER_MS)
#define WALK_DEPTH   16

struct walk {
    int64_t bytes, items, newest_mtime_ns, deadline_ns;
    int entries;
    bool complete;
};

static int64_t mtime_ns(const struct stat *status) {
    return (int64_t)status->st_mtim.tv_sec * NS_PER_S + status->st_mtim.tv_nsec;
}

static void walk_folder(struct walk *walk, int parent_fd, const char *name, int depth);

static void walk_entry(struct walk *walk, int folder_fd, const char *name, int depth) {
    struct stat status;
    /* Links are followed: a snapshot of model weights is a folder of links to its blobs. */
    if (fstatat(folder_fd, name, &status, 0) < 0) {
        walk->complete = walk->complete && errno == ENOENT;
        return;
    }
    if (mtime_ns(&status) > walk->newest_mtime_ns)
        walk->newest_mtime_ns = mtime_ns(&status);
    if (S_ISDIR(status.st_mode)) {
        walk_folder(walk, folder_fd, name, depth + 1);
    } else if (S_ISREG(status.st_mode)) {
        walk->items++;
        walk->bytes += status.st_size;
    }
}

static void walk_folder(struct walk *walk, int parent_fd, const char *name, int depth) {
    int fd =
        depth < WALK_DEPTH
            ? openat(parent_fd, name,
                     O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | (depth > 0 ? O_NOFOLLOW : 0))
            : -1;
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (folder == NULL) {
        /* A link to a folder below is not followed (it may lead anywhere, or back): its content is
         * not in the sum. */
        walk->complete = false;
        fd_close_ptr(&fd);
        return;
    }
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (++walk->entries > WALK_ENTRIES || clock_mono_ns() > walk->deadline_ns) {
            walk->complete = false;
            break;
        }
        walk_entry(walk, fd, entry->d_name, depth);
    }
    closedir(folder);
}

/* In a Hugging Face cache the file is a link to blobs/NAME, and NAME is the digest of the content.
 */
static void put_identity(json_t *json, const char *path) {
    char target[PATH_MAX];
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length <= 0)
        return;
    target[length] = '\0';
    char *name = strrchr(target, '/');
    if (name == NULL)
        return;
    *name = '\0';
    const char *folder = strrchr(target, '/');
    folder = folder != NULL ? folder + 1 : target;
    if (strcmp(folder, "blobs") == 0 && name[1] != '\0')
        json_put_text(json, "identity", name + 1);
}

static void describe_folder(json_t *json, const char *path, struct path_facts *facts) {
    struct walk walk = {.deadline_ns = clock_mono_ns() + WALK_NS, .complete = true};
    walk_folder(&walk, AT_FDCWD, path, 0);
    json_put_text(json, "kind", "folder");
    facts->complete = walk.complete;
    if (walk.newest_mtime_ns > facts->newest_mtime_ns)
        facts->newest_mtime_ns = walk.newest_mtime_ns;
    if (!walk.complete) {
        json_put_text(json, "reason", N_("the folder was not read to its end"));
        return;
    }
    json_put_int(json, "bytes", walk.bytes);
    json_put_int(json, "items", walk.items);
}

json_t *path_describe(const char *path, struct path_facts *ret_facts) {
    json_t *json = json_object();
    struct path_facts facts = {.complete = true};
    struct stat status;
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    secret_mask(path, strlen(path), &safe);
    json_put_text(json, "path", strbuf_str(&safe));
    if (stat(path, &status) < 0) {
        int error = errno;
        facts.complete = error == ENOENT || error == ENOTDIR;
        json_put_text(json, "kind", "absent");
        if (!facts.complete)
            json_put_text(json, "reason", strerrordesc_np(error));
        *ret_facts = facts;
        return json;
    }
    facts.exists = true;
    facts.newest_mtime_ns = mtime_ns(&status);
    if (S_ISDIR(status.st_mode)) {
        describe_folder(json, path, &facts);
    } else {
        json_put_text(json, "kind", "file");
        if (S_ISREG(status.st_mode))
            json_put_int(json, "bytes", (int64_t)status.st_size);
        else
            json_put_text(json, "reason", N_("it is neither a file nor a folder"));
        put_identity(json, path);
    }
    json_put_int(json, "mtime_ns", mtime_ns(&status));
    json_put_int(json, "inode", (int64_t)status.st_ino);
    *ret_facts = facts;
    return json;
}
