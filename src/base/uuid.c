/* SPDX-License-Identifier: GPL-3.0-or-later */
/* UUIDv7, RFC 9562 section 5.7. Must not fall back to a guessable source: without randomness the
 * program ends. */
#include "base/uuid.h"

#include "base/clock.h"
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* getrandom(2) returns up to 256 bytes in one piece; ENOSYS before Linux 3.17 or below a seccomp
 * filter. */
static void fill_random(unsigned char *bytes, size_t length) {
    ssize_t got;
    do
        got = getrandom(bytes, length, 0);
    while (got < 0 && errno == EINTR);
    if (got == (ssize_t)length)
        return;
    AUTO_CLOSE int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fd_read_full(fd, bytes, length) != (ssize_t)length)
        abort();
}

void uuid_new(int64_t utc_ns, char ret_text[UUID_TEXT_SIZE]) {
    unsigned char bytes[16];
    uint64_t millis = utc_ns > 0 ? (uint64_t)(utc_ns / NS_PER_MS) : 0;
    fill_random(bytes + 6, sizeof bytes - 6);
    for (int i = 0; i < 6; i++)
        bytes[i] = (unsigned char)(millis >> (40 - 8 * i));
    bytes[6] = (unsigned char)(0x70 | (bytes[6] & 0x0F)); /* version 7 */
    bytes[8] = (unsigned char)(0x80 | (bytes[8] & 0x3F)); /* variant 10 */
    static const char digits[] = "0123456789abcdef";
    char *out = ret_text;
    for (size_t i = 0; i < sizeof bytes; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *out++ = '-';
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 0x0F];
    }
    *out = '\0';
}

bool uuid_is_valid(const char *text) {
    for (size_t i = 0; i < UUID_TEXT_SIZE - 1; i++) {
        char c = text[i];
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        if (dash ? c != '-' : !hex) /* a NUL is neither: the loop never runs past the text */
            return false;
    }
    return text[UUID_TEXT_SIZE - 1] == '\0';
}

const char *uuid_tail(const char *text) {
    if (text == NULL)
        return "";
    size_t length = strlen(text);
    return length > UUID_TAIL ? text + length - UUID_TAIL : text;
}
