/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tells one machine from another of the same name, without giving away its machine id. */
#pragma once

#include "base/root.h"

#define MACHINE_KEY_SIZE 17

/* 16 hex digits of a digest of /etc/machine-id; the same for all boots of an installation. false:
 * there is none (containers, minimal images), then ret is "". */
bool machine_key(const struct root *root, char ret_key[MACHINE_KEY_SIZE]);
