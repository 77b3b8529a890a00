/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What web/ holds for pages, embedded by tools/embed-web when the program is built. */
#pragma once

#include <stddef.h>

struct web_asset {
    const char *name; /* "style.css" */
    const char *type; /* "text/css" */
    const char *text; /* holds no "</" */
    size_t length;
    const char *sha256; /* of the text, base64: what a Content-Security-Policy names */
};
/* NULL: not in this build. */
const struct web_asset *web_asset(const char *name);
