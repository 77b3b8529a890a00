/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names of files of weights (weights.h). Must not look at a file. */
#include "model/weights.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#define LARGE_BYTES  (INT64_C(16) << 20)
#define DIGEST_CHARS 64u /* of a file of the Hugging Face cache: its SHA-256 */

static const struct {
    const char *suffix;
    bool only_large; /* other files end so as well */
} names[] = {
    {".safetensors", false}, {".gguf", false},   {".ggml", false}, {".bin", true},
    {".pt", false},          {".pth", false},    {".ckpt", false}, {".onnx", false},
    {".npz", false},         {".engine", false}, {".h5", false},
};

/* The Hugging Face cache keeps files as blobs/DIGEST, which is what a descriptor shows. */
static bool is_blob(const char *path) {
    const char *slash = strrchr(path, '/');
    if (slash == NULL || strlen(slash + 1) != DIGEST_CHARS) {
        return false;
    }
    for (const char *at = slash + 1; *at != '\0'; at++) {
        if (!isxdigit((unsigned char)*at)) {
            return false;
        }
    }
    return slash - path >= 6 && strncmp(slash - 6, "/blobs", 6) == 0;
}

bool weights_is_file(const char *path, int64_t bytes) {
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t suffix = strlen(names[i].suffix);
        if (length > suffix && strcasecmp(path + length - suffix, names[i].suffix) == 0) {
            return !names[i].only_large || bytes >= LARGE_BYTES;
        }
    }
    return bytes >= LARGE_BYTES && is_blob(path);
}
