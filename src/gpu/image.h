/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The GPU helper as it travels inside probelauf: an ELF file, to be written into a memfd and run.
 */
#pragma once

#include <stddef.h>

extern const unsigned char gpu_helper_image[];
extern const size_t gpu_helper_image_size;
