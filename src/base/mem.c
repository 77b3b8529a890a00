/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory that is there or the program ends: one line by write(2), then abort(). Must not print by
 * stdio (that may allocate) and must not return NULL.
 */
#include "base/mem.h"

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void __attribute__((noreturn)) out_of_memory(void) {
    static const char line[] = "probelauf: out of memory\n";
    ssize_t ignored = write(STDERR_FILENO, line, sizeof line - 1);
    (void)ignored;
    abort();
}

void *mem_alloc(size_t bytes) {
    void *memory = calloc(1, bytes > 0 ? bytes : 1);
    if (memory == NULL)
        out_of_memory();
    return memory;
}

void *mem_realloc(void *old, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        out_of_memory();
    void *memory = realloc(old, bytes > 0 ? bytes : 1);
    if (memory == NULL)
        out_of_memory();
    return memory;
}

void *mem_room(void *items, size_t count, size_t size) {
    bool has_room = (count & (count - 1)) != 0;
    if (has_room)
        return items;
    if (count > SIZE_MAX / 2)
        out_of_memory();
    return mem_realloc(items, count > 0 ? 2 * count : 1, size);
}

char *mem_strndup(const char *text, size_t length) {
    length = strnlen(text, length);
    if (length == SIZE_MAX)
        out_of_memory();
    char *copy = mem_alloc(length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *mem_strdup(const char *text) {
    return mem_strndup(text, strlen(text));
}

char *mem_vprintf(const char *fmt, va_list args) {
    char *text = NULL;
    if (vasprintf(&text, fmt, args) < 0)
        out_of_memory();
    return text;
}

char *mem_printf(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    char *text = mem_vprintf(fmt, args);
    va_end(args);
    return text;
}

void mem_free_ptr(void *pointer_to_pointer) {
    /* By memcpy: the object may be a pointer of any type, and void ** must not alias it. */
    void *memory;
    memcpy(&memory, pointer_to_pointer, sizeof memory);
    free(memory);
    memory = NULL;
    memcpy(pointer_to_pointer, &memory, sizeof memory);
}

/* ---- arena ---- */

#define ARENA_ALIGNMENT ((size_t)16)
/* Small arenas stay small; of large ones the chunks grow, so that the heap's end does not move at
 * every turn (giving memory back to the system costs more than what is done with it). */
#define ARENA_CHUNK_SIZE ((size_t)8192)
#define ARENA_CHUNK_MOST ((size_t)262144)

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, size;
    alignas(16) unsigned char data[];
};

struct arena {
    struct arena_chunk *chunks; /* the first one is being filled */
    size_t chunk_size;          /* of the next one */
};

struct arena *arena_new(void) {
    struct arena *arena = mem_alloc(sizeof *arena);
    arena->chunk_size = ARENA_CHUNK_SIZE;
    return arena;
}

struct arena *arena_free(struct arena *arena) {
    if (arena == NULL)
        return NULL;
    struct arena_chunk *chunk = arena->chunks;
    while (chunk != NULL) {
        struct arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    free(arena);
    return NULL;
}

void arena_free_ptr(struct arena **arena) {
    *arena = arena_free(*arena);
}

static struct arena_chunk *arena_add_chunk(struct arena *arena, size_t size) {
    size_t bytes;
    if (__builtin_add_overflow(sizeof(struct arena_chunk), size, &bytes))
        out_of_memory();
    struct arena_chunk *chunk = mem_alloc(bytes);
    chunk->size = size;
    /* A large piece gets a chunk of its own behind the one being filled, whose rest stays usable.
     */
    if (size > arena->chunk_size && arena->chunks != NULL) {
        chunk->next = arena->chunks->next;
        arena->chunks->next = chunk;
    } else {
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    return chunk;
}

void *arena_alloc(struct arena *arena, size_t bytes) {
    size_t rounded;
    if (__builtin_add_overflow(bytes > 0 ? bytes : 1, ARENA_ALIGNMENT - 1, &rounded))
        out_of_memory();
    rounded &= ~(ARENA_ALIGNMENT - 1);
    struct arena_chunk *chunk = arena->chunks;
    if (rounded > arena->chunk_size)
        chunk = arena_add_chunk(arena, rounded);
    else if (chunk == NULL || chunk->size - chunk->used < rounded) {
        chunk = arena_add_chunk(arena, arena->chunk_size);
        if (arena->chunk_size < ARENA_CHUNK_MOST)
            arena->chunk_size *= 2;
    }
    void *memory = chunk->data + chunk->used;
    chunk->used += rounded;
    return memory;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length) {
    length = strnlen(text, length);
    if (length == SIZE_MAX)
        out_of_memory();
    char *copy = arena_alloc(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text) {
    return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *fmt, ...) {
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    assert(length >= 0);
    char *text = arena_alloc(arena, (size_t)length + 1);
    int written = vsnprintf(text, (size_t)length + 1, fmt, again);
    va_end(again);
    assert(written == length);
    return text;
}
