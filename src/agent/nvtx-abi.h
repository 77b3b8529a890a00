/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What NVTX version 3 and a library that it loads agree on, in declarations of our own: the entry,
 * two tables of 16 slots, and the attributes of a range. Shared with the test that plays the other
 * side. Holds no code.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef void (*nvtx_function)(void);
typedef const void *(*nvtx_get_table)(uint32_t table);

/* The one name that NVTX looks for in the library of NVTX_INJECTION64_PATH; 1: it is taken. */
#define NVTX_ENTRY "InitializeInjectionNvtx2"
int InitializeInjectionNvtx2(nvtx_get_table get_table);

#define NVTX_TABLE_CALLBACKS 1u

struct nvtx_callbacks {
    size_t struct_size;
    /* 1: *ret_slots has *ret_count places, each of which says where a function's pointer is */
    int (*module_slots)(int module, nvtx_function ***ret_slots, unsigned *ret_count);
};

#define NVTX_MODULE_CORE    1
#define NVTX_MODULE_DOMAINS 5
#define NVTX_SLOTS          16u

enum nvtx_core_slot {
    NVTX_MARK_EX = 1,
    NVTX_MARK_A,
    NVTX_MARK_W,
    NVTX_START_EX,
    NVTX_START_A,
    NVTX_START_W,
    NVTX_END,
    NVTX_PUSH_EX,
    NVTX_PUSH_A,
    NVTX_PUSH_W,
    NVTX_POP,
};

enum nvtx_domain_slot {
    NVTX_DOMAIN_MARK_EX = 1,
    NVTX_DOMAIN_START_EX,
    NVTX_DOMAIN_END,
    NVTX_DOMAIN_PUSH_EX,
    NVTX_DOMAIN_POP,
    NVTX_DOMAIN_REGISTER_A = 10,
    NVTX_DOMAIN_REGISTER_W,
    NVTX_DOMAIN_CREATE_A,
    NVTX_DOMAIN_CREATE_W,
};

enum nvtx_message_type {
    NVTX_MESSAGE_NONE = 0,
    NVTX_MESSAGE_ASCII,
    NVTX_MESSAGE_WIDE,
    NVTX_MESSAGE_REGISTERED,
};

struct nvtx_attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *wide;
        const void *registered;
    } message;
};
#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(struct nvtx_attributes) == 48, "layout of NVTX version 3");
_Static_assert(offsetof(struct nvtx_attributes, message) == 40, "layout of NVTX version 3");
#endif

typedef int (*nvtx_push_ex)(const struct nvtx_attributes *attributes);
typedef int (*nvtx_push_a)(const char *message);
typedef int (*nvtx_push_w)(const wchar_t *message);
typedef int (*nvtx_pop)(void);
typedef uint64_t (*nvtx_start_ex)(const struct nvtx_attributes *attributes);
typedef uint64_t (*nvtx_start_a)(const char *message);
typedef uint64_t (*nvtx_start_w)(const wchar_t *message);
typedef void (*nvtx_end)(uint64_t id);
typedef void (*nvtx_mark_ex)(const struct nvtx_attributes *attributes);
typedef void (*nvtx_mark_a)(const char *message);
typedef void (*nvtx_mark_w)(const wchar_t *message);
typedef int (*nvtx_domain_push_ex)(void *domain, const struct nvtx_attributes *attributes);
typedef int (*nvtx_domain_pop)(void *domain);
typedef uint64_t (*nvtx_domain_start_ex)(void *domain, const struct nvtx_attributes *attributes);
typedef void (*nvtx_domain_end)(void *domain, uint64_t id);
typedef void (*nvtx_domain_mark_ex)(void *domain, const struct nvtx_attributes *attributes);
typedef void *(*nvtx_domain_register_a)(void *domain, const char *text);
typedef void *(*nvtx_domain_register_w)(void *domain, const wchar_t *text);
typedef void *(*nvtx_domain_create_a)(const char *name);
typedef void *(*nvtx_domain_create_w)(const wchar_t *name);
