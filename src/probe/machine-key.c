/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine id must not leave the machine as it is (machine-id(5)): it is digested with a name of
 * our own. */
#include "probe/machine-key.h"

#include "base/digest.h"
#include "base/mem.h"

#include <string.h>

#define ID_LENGTH 32u

bool machine_key(const struct root *root, char ret_key[MACHINE_KEY_SIZE]) {
    char text[ID_LENGTH + 2] = "";
    char hex[SHA256_HEX_SIZE];
    ret_key[0] = '\0';
    if (root_read_buf(root, "/etc/machine-id", text, sizeof text) < (ssize_t)ID_LENGTH)
        return false;
    text[ID_LENGTH] = '\0';
    if (strspn(text, "0123456789abcdef") != ID_LENGTH || strspn(text, "0") == ID_LENGTH)
        return false; /* "uninitialized", or a file of something else */
    AUTO_FREE char *salted = mem_printf("probelauf machine %s", text);
    digest_sha256(salted, strlen(salted), hex);
    memcpy(ret_key, hex, MACHINE_KEY_SIZE - 1);
    ret_key[MACHINE_KEY_SIZE - 1] = '\0';
    return true;
}
