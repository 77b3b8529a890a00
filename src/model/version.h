/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Versions as Python packages write them, and whether one is among those that are wanted (Python's
 * version specifiers, packaging.python.org). What cannot be read is unknown, never "fits".
 */
#pragma once

enum version_fit { VERSION_UNKNOWN = 0, VERSION_FITS, VERSION_DIFFERS };

/*
 * wanted: ">=2.4,<3", "==2.7.*", "~=2.1"; without an operator ("2.7.0", "2.7") every version that
 * begins so. The local part ("+cu121") counts only where wanted names one. Unknown also where the
 * version says less than would be needed ("2" for "==2.7").
 */
enum version_fit version_fits(const char *wanted, const char *version)
    __attribute__((nonnull, pure));
