/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of languages. Their entries come from po/ (generated); a language without entries
 * speaks English. */
#include "base/msg-catalog.h"

const struct msg_catalog msg_catalogs[] = {
    {"en", MSG_PLURAL_NOT_ONE, NULL, 0},
    {"de", MSG_PLURAL_NOT_ONE, NULL, 0},
    {"fr", MSG_PLURAL_ABOVE_ONE, NULL, 0},
    {"ko", MSG_PLURAL_NONE, NULL, 0},
};
const size_t msg_catalog_count = sizeof msg_catalogs / sizeof msg_catalogs[0];
