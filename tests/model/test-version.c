/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Versions of packages against those that are wanted: each pair with the answer of Python's rules,
 * or "unknown" where the text says too little. */
#include "model/version.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct {
    const char *wanted, *version;
    enum version_fit fit;
} pairs[] = {
    {"2.7.0", "2.7.0", VERSION_FITS},
    {"2.7.0", "2.7.0+cu126", VERSION_FITS},
    {"2.7.0+cu118", "2.7.0+cu126", VERSION_DIFFERS},
    {"2.7", "2.7.1", VERSION_FITS},
    {"2.7", "2.70.1", VERSION_DIFFERS},
    {"2.7.0", "2.7", VERSION_FITS},
    {"2.7.1", "2.7", VERSION_UNKNOWN},
    {"2.7.1", "2.6", VERSION_DIFFERS},
    {"==2.7.0", "2.7.0", VERSION_FITS},
    {"==2.7.0", "2.7.0rc1", VERSION_DIFFERS},
    {"==2.7", "2.7.1", VERSION_DIFFERS},
    {"== 2.7.*", "2.7.1", VERSION_FITS},
    {"==2.7.*", "2.8", VERSION_DIFFERS},
    {"=2.7", "2.7.3", VERSION_FITS},
    {"!=2.7.0", "2.7.0", VERSION_DIFFERS},
    {"!=2.7.0", "2.7.1", VERSION_FITS},
    {">=2.4,<3", "2.7.1", VERSION_FITS},
    {">=2.4,<3", "3.0", VERSION_DIFFERS},
    {">=2.4, <3", "2.3.9", VERSION_DIFFERS},
    {">=2.4", "2", VERSION_UNKNOWN},
    {">2.4", "2.4", VERSION_DIFFERS},
    {"<=2.4", "2.4.0", VERSION_FITS},
    {"<2.4", "2.4.dev1", VERSION_FITS},
    {"~=2.1", "2.9", VERSION_FITS},
    {"~=2.1", "3.0", VERSION_DIFFERS},
    {"~=2.1.3", "2.1.9", VERSION_FITS},
    {"~=2.1.3", "2.2", VERSION_DIFFERS},
    {"~=2", "2.2", VERSION_UNKNOWN},
    {"1!2.0", "2.0", VERSION_DIFFERS},
    {"2.7.0.post1", "2.7.0", VERSION_FITS},
    {"==2.7.0.post1", "2.7.0", VERSION_DIFFERS},
    {">=2.7.0", "2.7.0rc1", VERSION_DIFFERS},
    {">=2.7.0", "2.7.0.post1", VERSION_FITS},
    {"main", "2.7.0", VERSION_UNKNOWN},
    {"2.7.0", "nightly", VERSION_UNKNOWN},
    {"", "2.7.0", VERSION_UNKNOWN},
    {"2.7.0", "", VERSION_UNKNOWN},
    {">=2.4,something", "2.3", VERSION_DIFFERS},
    {">=2.4,something", "2.5", VERSION_UNKNOWN},
    {"9999999999", "1", VERSION_UNKNOWN},
    {"1.2.3.4.5.6.7.8.9", "1", VERSION_UNKNOWN},
    {"2.7.0 ; python_version > '3.8'", "2.7.0", VERSION_UNKNOWN},
};

static void pair_by_pair(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(pairs); i++)
        if (version_fits(pairs[i].wanted, pairs[i].version) != pairs[i].fit)
            fail_msg("'%s' for '%s': %d", pairs[i].version, pairs[i].wanted,
                     (int)version_fits(pairs[i].wanted, pairs[i].version));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(pair_by_pair)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
