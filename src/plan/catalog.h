/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The worked plans of catalog/ as the program carries them: made by tools/embed, each with a NUL
 * behind it. Only for plan/starter.c. */
#pragma once

#include <stddef.h>

extern const unsigned char catalog_fast_kvzip[];
extern const unsigned char catalog_linearard[];
extern const unsigned char catalog_adkv[];

/* Stands in the files for the id that each plan gets of its own. */
#define CATALOG_STUDY_ID "00000000-0000-7000-8000-000000000000"
