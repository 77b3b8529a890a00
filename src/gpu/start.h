/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the helper's own first instructions reach its C code. */
#pragma once

/* The helper as a whole; defined in pl-gpu.c. Returns the exit code. */
int gpu_main(int argc, char **argv);
void gpu_start(long *stack, void (*loader_end)(void));
