/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sender's side of marks: one line, one write(), to the private file of the run around us.
 * Never blocks the program. */
#include "exec/exec.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "journal/marks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The variable may hold anything: only a regular file of our own is written to. */
static int open_marks(int *ret_fd, struct err *err) {
    const char *path = getenv(EXEC_MARKS_VARIABLE);
    if (path == NULL || path[0] == '\0')
        return err_set(err, -ENXIO, "not-in-run",
                       "not inside a run that is recorded: %s is not set; start the command with "
                       "'probelauf run'",
                       EXEC_MARKS_VARIABLE);
    AUTO_CLOSE int fd =
        open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct stat status;
    if (fd < 0 && errno == ENOENT)
        return err_set(err, -ENXIO, "not-in-run", "the run that '%s' belongs to is over", path);
    if (fd < 0 || fstat(fd, &status) < 0)
        return err_set(err, -errno, "mark-file", "cannot open the marks file '%s': %s", path,
                       strerror(errno));
    if (!S_ISREG(status.st_mode))
        return err_set(err, -EINVAL, "mark-file", "the marks file '%s' is not a file", path);
    *ret_fd = fd;
    fd = -1;
    return 0;
}

/* "41.5 token/s": the number and its unit are two fields of the line. Any other text is one. */
static char *split_unit(const char *value, const char **ret_unit) {
    size_t length = strcspn(value, " ");
    AUTO_FREE char *number = mem_strndup(value, length);
    double ignored;
    const char *unit = value + length + strspn(value + length, " ");
    if (*unit == '\0' || str_to_double(number, &ignored) < 0)
        return mem_strdup(value);
    *ret_unit = unit;
    return steal(number);
}

int exec_mark(const char *verb, const char *name, const char *value, struct err *err) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    /* Amounts have no name, texts no value: their one field comes first. */
    const char *first = name != NULL ? name : value;
    const char *second = name != NULL ? value : NULL;
    const char *unit = NULL;
    AUTO_FREE char *number = NULL;
    if (second != NULL && strcmp(verb, "result") == 0)
        second = number = split_unit(second, &unit);
    int rc = marks_add_line(&line, clock_mono_ns(), 0, verb, first, second, unit, err);
    if (rc < 0)
        return rc;
    AUTO_CLOSE int fd = -1;
    rc = open_marks(&fd, err);
    if (rc < 0)
        return rc;
    ssize_t written = write(fd, line.data, line.length);
    if (written < 0 || (size_t)written != line.length)
        return err_set(err, written < 0 ? -errno : -ENOSPC, "mark-file",
                       "cannot write the mark: %s", strerror(written < 0 ? errno : ENOSPC));
    return 0;
}
