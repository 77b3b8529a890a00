/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of ranges: those that the plan maps to phases, and the first ones that it does not. Mapped
 * names are fixed once the library is loaded; the others are gathered without locks. Must be quick
 * where a name is not mapped.
 */
#include "agent/nvtx-parts.h"

#include <stdatomic.h>
#include <string.h>

#define NOTED_PLACES 128u /* of hashes; a power of two, thin enough for short probes */

/* Written once, before NVTX has our functions. */
static struct nvtx_mapping mappings[NVTX_MAPPINGS];
static size_t mapping_count;
static char phases[NVTX_MAPPINGS][NVTX_PHASE_BYTES];
static unsigned phase_count;
static bool first_bytes[256]; /* with which a mapped name begins */

static _Atomic uint64_t noted_hashes[NOTED_PLACES]; /* 0: free */
static char noted[NVTX_NAMES][NVTX_SHOWN_BYTES + 1];
static _Atomic bool noted_ready[NVTX_NAMES];
static _Atomic unsigned noted_count;

const struct nvtx_mapping *nvtx_mapping_at(size_t index) {
    return &mappings[index];
}

const char *nvtx_phase_name(unsigned phase) {
    return phases[phase];
}

unsigned nvtx_phase_count(void) {
    return phase_count;
}

/* ---- the map ---- */

static int hex_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes until one of `ends`; returns where that is. *ret_length SIZE_MAX: it does not fit. */
static const char *decode(const char *from, char end, char *to, size_t size, size_t *ret_length) {
    size_t length = 0;
    while (*from != '\0' && *from != end && *from != ';') {
        int high = *from == '%' ? hex_value(from[1]) : -1;
        int low = high >= 0 ? hex_value(from[2]) : -1;
        char c = low >= 0 ? (char)(high << 4 | low) : *from;
        if (length + 1 < size)
            to[length] = c;
        length++;
        from += low >= 0 ? 3 : 1;
    }
    bool fits = length > 0 && length < size;
    to[fits ? length : 0] = '\0';
    *ret_length = fits ? length : SIZE_MAX;
    return from;
}

static unsigned phase_place(const char *name) {
    for (unsigned i = 0; i < phase_count; i++)
        if (strcmp(phases[i], name) == 0)
            return i;
    memcpy(phases[phase_count], name, strlen(name) + 1);
    return phase_count++;
}

size_t nvtx_names_init(const char *map) {
    while (*map != '\0' && mapping_count < NVTX_MAPPINGS) {
        struct nvtx_mapping *mapping = &mappings[mapping_count];
        char phase[NVTX_PHASE_BYTES];
        size_t phase_length = SIZE_MAX;
        map = decode(map, '=', mapping->name, sizeof mapping->name, &mapping->length);
        if (*map == '=')
            map = decode(map + 1, ';', phase, sizeof phase, &phase_length);
        if (mapping->length != SIZE_MAX && phase_length != SIZE_MAX) {
            mapping->phase = phase_place(phase);
            first_bytes[(unsigned char)mapping->name[0]] = true;
            mapping_count++;
        }
        map += *map == ';';
    }
    return mapping_count;
}

static bool is_name(const struct nvtx_mapping *mapping, struct nvtx_text name) {
    return mapping->length == name.length && memcmp(mapping->name, name.bytes, name.length) == 0;
}

/* "DOMAIN:NAME" */
static bool is_name_in(const struct nvtx_mapping *mapping, struct nvtx_text domain,
                       struct nvtx_text name) {
    return mapping->length == domain.length + 1 + name.length &&
           mapping->name[domain.length] == ':' &&
           memcmp(mapping->name, domain.bytes, domain.length) == 0 &&
           memcmp(mapping->name + domain.length + 1, name.bytes, name.length) == 0;
}

int nvtx_find_mapping(struct nvtx_text domain, struct nvtx_text name) {
    if (name.length == 0)
        return -1;
    if (first_bytes[(unsigned char)name.bytes[0]])
        for (size_t i = 0; i < mapping_count; i++)
            if (is_name(&mappings[i], name))
                return (int)i;
    if (domain.length > 0 && first_bytes[(unsigned char)domain.bytes[0]])
        for (size_t i = 0; i < mapping_count; i++)
            if (is_name_in(&mappings[i], domain, name))
                return (int)i;
    return -1;
}

/* ---- the others ---- */

static uint64_t hash_of(struct nvtx_text name) {
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < name.length; i++)
        hash = (hash ^ (unsigned char)name.bytes[i]) * 1099511628211u;
    return hash != 0 ? hash : 1;
}

/* True: this call has put it in; false: it is there, or there is no place near. */
static bool claim(uint64_t hash) {
    for (size_t i = 0; i < NOTED_PLACES; i++) {
        _Atomic uint64_t *place = &noted_hashes[(hash + i) % NOTED_PLACES];
        uint64_t is = atomic_load_explicit(place, memory_order_relaxed);
        if (is == hash)
            return false;
        if (is == 0 && atomic_compare_exchange_strong(place, &is, hash))
            return true;
        if (is == hash)
            return false;
    }
    return false;
}

bool nvtx_note_name(struct nvtx_text name, unsigned *ret_count) {
    if (atomic_load_explicit(&noted_count, memory_order_relaxed) >= NVTX_NAMES ||
        !claim(hash_of(name)))
        return false;
    unsigned place = atomic_fetch_add(&noted_count, 1);
    if (place >= NVTX_NAMES) {
        atomic_store(&noted_count, NVTX_NAMES);
        return false;
    }
    size_t length = name.length < NVTX_SHOWN_BYTES ? name.length : NVTX_SHOWN_BYTES;
    /* not in the middle of a character */
    while (length > 0 && length < name.length && ((unsigned char)name.bytes[length] & 0xC0) == 0x80)
        length--;
    memcpy(noted[place], name.bytes, length);
    noted[place][length] = '\0';
    atomic_store_explicit(&noted_ready[place], true, memory_order_release);
    *ret_count = place + 1;
    return true;
}

const char *nvtx_noted_name(unsigned index) {
    return atomic_load_explicit(&noted_ready[index], memory_order_acquire) ? noted[index] : "";
}
