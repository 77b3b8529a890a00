/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first instruction of the helper. The start files of a newer C library would ask for the
 * newest
 * __libc_start_main and keep the program from starting on older systems; this asks for the oldest.
 * The helper has no constructors, so nothing else of those files is missed.
 */
#include "gpu/start.h"

#include <stddef.h>

#if defined(__x86_64__)
__asm__(".symver __libc_start_main, __libc_start_main@GLIBC_2.2.5");
/* At entry: the stack pointer at argc, rdx the loader's function for the end (psABI, 3.4.1). */
__asm__(".text\n"
        ".globl _start\n"
        ".type _start, @function\n"
        "_start:\n"
        "    xorl %ebp, %ebp\n"
        "    movq %rsp, %rdi\n"
        "    movq %rdx, %rsi\n"
        "    andq $-16, %rsp\n"
        "    call gpu_start\n"
        "    hlt\n"
        ".size _start, . - _start\n");
#elif defined(__aarch64__)
__asm__(".symver __libc_start_main, __libc_start_main@GLIBC_2.17");
/* At entry: the stack pointer at argc, x0 the loader's function for the end. */
__asm__(".text\n"
        ".globl _start\n"
        ".type _start, %function\n"
        "_start:\n"
        "    mov x29, #0\n"
        "    mov x30, #0\n"
        "    mov x1, x0\n"
        "    mov x0, sp\n"
        "    bl gpu_start\n"
        "    brk #1\n"
        ".size _start, . - _start\n");
#else
#error "write the first instructions of the GPU helper for this processor"
#endif

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*loader_end)(void), void *stack_end);

static int enter(int argc, char **argv, char **environment) {
    (void)environment;
    return gpu_main(argc, argv);
}

__attribute__((used, noreturn, visibility("hidden"))) void gpu_start(long *stack,
                                                                     void (*loader_end)(void)) {
    __libc_start_main(enter, (int)stack[0], (char **)(stack + 1), NULL, NULL, loader_end, stack);
    __builtin_trap();
}
