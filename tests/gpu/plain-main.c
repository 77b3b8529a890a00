/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The helper with ordinary start files, so that sanitizers can be linked into it. For tests only.
 */
#include "gpu/start.h"

int main(int argc, char **argv) {
    return gpu_main(argc, argv);
}
