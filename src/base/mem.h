/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory: allocation that aborts when there is none (the command line tool has nothing better to
 * do; the monitor allocates what it needs before the command starts), scope cleanup, and an arena.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

void *mem_alloc(size_t bytes) __attribute__((malloc, alloc_size(1), returns_nonnull)); /* zeroed */
void *mem_realloc(void *old, size_t count, size_t size)
    __attribute__((returns_nonnull)); /* checks overflow */
/* Room for one item behind the first `count` of an array that grows only so: it is allocated anew
 * only where `count` is 0 or a power of two, so n items are moved O(n) times. */
void *mem_room(void *items, size_t count, size_t size) __attribute__((returns_nonnull));
char *mem_strdup(const char *text) __attribute__((malloc, returns_nonnull, nonnull));
char *mem_strndup(const char *text, size_t length)
    __attribute__((malloc, returns_nonnull, nonnull));
char *mem_printf(const char *fmt, ...)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));
char *mem_vprintf(const char *fmt, va_list args)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 0)));

void mem_free_ptr(void *pointer_to_pointer);
#define AUTO_FREE __attribute__((cleanup(mem_free_ptr)))

/* Hands an owned pointer over: returns it and leaves NULL behind. */
#define steal(ptr)                        \
    __extension__({                       \
        __auto_type steal_value_ = (ptr); \
        (ptr) = NULL;                     \
        steal_value_;                     \
    })

#define ARRAY_LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* An arena owns everything allocated from it and frees all at once. */
struct arena;
struct arena *arena_new(void) __attribute__((returns_nonnull));
struct arena *arena_free(struct arena *arena); /* accepts NULL, returns NULL */
void *arena_alloc(struct arena *arena, size_t bytes)
    __attribute__((nonnull, returns_nonnull)); /* zeroed */
char *arena_strdup(struct arena *arena, const char *text) __attribute__((nonnull, returns_nonnull));
char *arena_strndup(struct arena *arena, const char *text, size_t length)
    __attribute__((nonnull, returns_nonnull));
char *arena_printf(struct arena *arena, const char *fmt, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull));
void arena_free_ptr(struct arena **arena);
#define AUTO_ARENA __attribute__((cleanup(arena_free_ptr)))
