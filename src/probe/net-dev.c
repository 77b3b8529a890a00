/* SPDX-License-Identifier: GPL-3.0-or-later */
/* /proc/PID/net/dev (kernel net/core/net-procfs.c): two lines of titles, then an interface a line:
 * "name: bytes packets errs drop fifo frame compressed multicast bytes …". */
#include "probe/net-dev.h"

#include "probe/lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LIMIT    ((size_t)4 << 20) /* a machine full of containers has thousands of interfaces */
#define SENT_AT  8                 /* the ninth number is the bytes that were sent */
#define TITLES   2
#define LOOPBACK "lo"

static bool take_line(const char *line, struct net_bytes *sum) {
    const char *name = line + strspn(line, " "), *colon = strrchr(name, ':');
    uint64_t value = 0, received = 0;
    if (colon == NULL) {
        return false;
    }
    const char *at = colon + 1;
    for (int i = 0; i <= SENT_AT; i++) {
        if (!field_u64(&at, &value)) {
            return false;
        }
        received = i == 0 ? value : received;
    }
    if ((size_t)(colon - name) == strlen(LOOPBACK) &&
        strncmp(name, LOOPBACK, strlen(LOOPBACK)) == 0) {
        return true;
    }
    sum->received += received;
    sum->sent += value;
    return true;
}

int net_dev_read(const struct root *root, pid_t pid, struct net_bytes *ret) {
    char path[64], *line;
    AUTO_LINES struct lines lines = {.fd = -1};
    struct net_bytes sum = {0};
    (void)snprintf(path, sizeof path, "/proc/%d/net/dev", (int)pid);
    int rc = lines_open(root, path, LIMIT, &lines);
    if (rc < 0) {
        return rc;
    }
    int number = 0;
    while ((rc = lines_next(&lines, &line)) == 1) {
        if (number++ >= TITLES && line[0] != '\0' && !take_line(line, &sum)) {
            return -EBADMSG;
        }
    }
    if (rc < 0 || number < TITLES) {
        return rc < 0 ? rc : -EBADMSG;
    }
    *ret = sum;
    return 0;
}
