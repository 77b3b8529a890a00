/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The NVTX receiver: a library that NVTX loads when NVTX_INJECTION64_PATH names it, and whose
 * functions it then calls at each range. Tells the marks file when ranges that the plan maps to
 * phases begin and end. Must never print, allocate, block or end the program, and must cost next to
 * nothing for ranges that mean nothing here.
 */
#include "agent/nvtx-abi.h"
#include "agent/nvtx-parts.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACKS     1024u /* of threads, one for each domain they use; a power of two */
#define LEVELS     64u
#define DOMAINS    255u
#define REGISTERED 4096u /* a power of two */
#define PROBES     32u
#define IGNORED    ((uint64_t)1 << 8) /* id of a range that no rule maps */

/* Thread-local storage is not for a library that is loaded late: it can be lacking, and the loader
 * then ends the program. So the stacks of pushed ranges lie in a table, found by what is different
 * for any two living threads. */
struct stack {
    _Atomic uint64_t key; /* 0: free */
    _Atomic uint64_t seen;
    uint32_t depth;
    uint32_t mapped;        /* how many of its levels have a mapping */
    int thread;             /* that pushed the first of them: a later thread may lie at its place */
    int8_t mapping[LEVELS]; /* -1: none */
};

struct domain {
    _Atomic int state; /* 0 free, 1 being written, 2 there */
    uint32_t length;
    char name[NVTX_NAME_BYTES];
};

struct registered {
    _Atomic uint64_t hash; /* 0: free */
    _Atomic int state;     /* 2: there */
    int mapping;
    _Atomic bool is_noted;
    uint32_t length;
    char text[NVTX_SHOWN_BYTES];
};

static struct stack stacks[STACKS];
static struct domain domains[DOMAINS]; /* the first stands for the default domain, and for more */
static struct registered strings[REGISTERED];
static _Atomic int was_begun; /* 0; 1: no; 2: yes */
static _Atomic bool is_crowded;

/* ---- threads ---- */

static uint64_t thread_key(void) {
#if defined(__x86_64__)
    uint64_t pointer;
    __asm__("movq %%fs:0, %0" : "=r"(pointer));
    return pointer;
#elif defined(__aarch64__)
    uint64_t pointer;
    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
    return pointer;
#else
    return (uint64_t)syscall(SYS_gettid);
#endif
}

static struct stack *find_stack(unsigned domain) {
    uint64_t key = thread_key() << 8 | domain;
    uint64_t start = (key * 11400714819323198485u) >> 40;
    for (size_t i = 0; i < PROBES; i++) {
        struct stack *stack = &stacks[(start + i) % STACKS];
        uint64_t is = atomic_load_explicit(&stack->key, memory_order_relaxed);
        if (is == key)
            return stack;
        if (is == 0 && atomic_compare_exchange_strong(&stack->key, &is, key))
            return stack;
        if (is == key)
            return stack;
    }
    if (!atomic_exchange(&is_crowded, true))
        nvtx_report_trouble("ranges of more threads than can be kept apart are not seen");
    return NULL;
}

static void count_seen(struct stack *stack) {
    uint64_t seen = atomic_load_explicit(&stack->seen, memory_order_relaxed);
    atomic_store_explicit(&stack->seen, seen + 1, memory_order_relaxed);
}

static uint64_t all_seen(void) {
    uint64_t seen = 0;
    for (size_t i = 0; i < STACKS; i++)
        seen += atomic_load_explicit(&stacks[i].seen, memory_order_relaxed);
    return seen;
}

/* ---- texts ---- */

static struct nvtx_text text_of(const char *text) {
    return (struct nvtx_text){text, text != NULL ? strnlen(text, NVTX_NAME_BYTES) : 0};
}

/* UTF-8 of what fits into NVTX_NAME_BYTES. */
static struct nvtx_text text_of_wide(const wchar_t *wide, char *buffer) {
    size_t length = 0;
    for (; wide != NULL && *wide != 0 && length + 4 <= NVTX_NAME_BYTES; wide++) {
        uint32_t code = (uint32_t)*wide;
        if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
            code = 0xFFFD;
        if (code < 0x80) {
            buffer[length++] = (char)code;
            continue;
        }
        int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        static const unsigned char leads[] = {0, 0xC0, 0xE0, 0xF0};
        buffer[length++] = (char)(leads[more] | (code >> (6 * more)));
        while (more-- > 0)
            buffer[length++] = (char)(0x80 | ((code >> (6 * more)) & 0x3F));
    }
    return (struct nvtx_text){buffer, length};
}

static void note(struct nvtx_text name) {
    unsigned count = 0;
    /* A process that is killed says nothing at its end. */
    if (name.length > 0 && nvtx_note_name(name, &count) &&
        (count == 1 || count == 8 || count == NVTX_NAMES))
        nvtx_report_ranges(all_seen());
}

static unsigned domain_place(const void *handle) {
    const struct domain *domain = handle;
    return domain >= domains && domain < domains + DOMAINS ? (unsigned)(domain - domains) : 0;
}

static struct nvtx_text domain_name(unsigned place) {
    return (struct nvtx_text){domains[place].name, domains[place].length};
}

/* The mapping of a range of that name, which counts as seen; -1: none. */
static int look_up(unsigned domain, struct nvtx_text name) {
    int mapping = name.length < NVTX_NAME_BYTES ? nvtx_find_mapping(domain_name(domain), name) : -1;
    if (mapping < 0)
        note(name);
    return mapping;
}

static int look_up_registered(const void *handle) {
    uintptr_t offset = (uintptr_t)handle - (uintptr_t)strings;
    if (offset >= sizeof strings || offset % sizeof strings[0] != 0)
        return -1;
    struct registered *string = &strings[offset / sizeof strings[0]];
    if (atomic_load_explicit(&string->state, memory_order_acquire) != 2)
        return -1;
    if (string->mapping < 0 && !atomic_load_explicit(&string->is_noted, memory_order_relaxed)) {
        atomic_store(&string->is_noted, true);
        note((struct nvtx_text){string->text, string->length});
    }
    return string->mapping;
}

static int look_up_attributes(unsigned domain, const struct nvtx_attributes *attributes) {
    char buffer[NVTX_NAME_BYTES];
    if (attributes == NULL || attributes->size < sizeof *attributes)
        return -1;
    if (attributes->message_type == NVTX_MESSAGE_ASCII)
        return look_up(domain, text_of(attributes->message.ascii));
    if (attributes->message_type == NVTX_MESSAGE_WIDE)
        return look_up(domain, text_of_wide(attributes->message.wide, buffer));
    if (attributes->message_type == NVTX_MESSAGE_REGISTERED)
        return look_up_registered(attributes->message.registered);
    return -1;
}

/* ---- ranges ---- */

/* What a thread left open that has ended is not the next one's that the system puts at its place.
 */
static void be_of_thread(struct stack *stack) {
    int thread = (int)syscall(SYS_gettid);
    if (stack->mapped > 0 && stack->thread != thread) {
        stack->depth = 0;
        stack->mapped = 0;
    }
    stack->thread = thread;
}

/* Both return the level, as NVTX wants it; negative: there is none. */
static int push(unsigned domain, int mapping) {
    struct stack *stack = find_stack(domain);
    if (stack == NULL || (mapping >= 0 && !nvtx_report_is_here()))
        return -1;
    count_seen(stack);
    if (mapping >= 0)
        be_of_thread(stack);
    uint32_t level = stack->depth++;
    if (level < LEVELS) {
        stack->mapping[level] = (int8_t)mapping;
        if (mapping >= 0) {
            stack->mapped++;
            nvtx_report_begin(mapping);
        }
    }
    return (int)level;
}

static int pop(unsigned domain) {
    struct stack *stack = find_stack(domain);
    if (stack == NULL || stack->depth == 0)
        return -1;
    uint32_t level = stack->depth - 1;
    if (level < LEVELS && stack->mapping[level] >= 0) {
        if (!nvtx_report_is_here())
            return -1;
        be_of_thread(stack);
        if (stack->depth == 0)
            return -1;
        stack->mapped--;
        nvtx_report_end(stack->mapping[level]);
    }
    stack->depth = level;
    return (int)level;
}

/* The id says which mapping it is: a range may end in another thread. */
static uint64_t start(unsigned domain, int mapping) {
    struct stack *stack = find_stack(domain);
    if (stack != NULL)
        count_seen(stack);
    if (mapping < 0 || !nvtx_report_is_here())
        return IGNORED;
    nvtx_report_begin(mapping);
    return IGNORED | (uint64_t)(mapping + 1);
}

static void end(uint64_t id) {
    if (id > IGNORED && id <= IGNORED + NVTX_MAPPINGS && nvtx_report_is_here())
        nvtx_report_end((int)(id - IGNORED) - 1);
}

static void mark(unsigned domain, int mapping) {
    struct stack *stack = find_stack(domain);
    if (stack != NULL)
        count_seen(stack);
    if (mapping >= 0 && nvtx_report_is_here())
        nvtx_report_mark(mapping);
}

/* ---- what NVTX calls ---- */

static void on_mark_ex(const struct nvtx_attributes *attributes) {
    mark(0, look_up_attributes(0, attributes));
}
static void on_mark_a(const char *message) {
    mark(0, look_up(0, text_of(message)));
}
static void on_mark_w(const wchar_t *message) {
    char buffer[NVTX_NAME_BYTES];
    mark(0, look_up(0, text_of_wide(message, buffer)));
}
static uint64_t on_start_ex(const struct nvtx_attributes *attributes) {
    return start(0, look_up_attributes(0, attributes));
}
static uint64_t on_start_a(const char *message) {
    return start(0, look_up(0, text_of(message)));
}
static uint64_t on_start_w(const wchar_t *message) {
    char buffer[NVTX_NAME_BYTES];
    return start(0, look_up(0, text_of_wide(message, buffer)));
}
static void on_end(uint64_t id) {
    end(id);
}
static int on_push_ex(const struct nvtx_attributes *attributes) {
    return push(0, look_up_attributes(0, attributes));
}
static int on_push_a(const char *message) {
    return push(0, look_up(0, text_of(message)));
}
static int on_push_w(const wchar_t *message) {
    char buffer[NVTX_NAME_BYTES];
    return push(0, look_up(0, text_of_wide(message, buffer)));
}
static int on_pop(void) {
    return pop(0);
}

static void on_domain_mark_ex(void *domain, const struct nvtx_attributes *attributes) {
    unsigned place = domain_place(domain);
    mark(place, look_up_attributes(place, attributes));
}
static uint64_t on_domain_start_ex(void *domain, const struct nvtx_attributes *attributes) {
    unsigned place = domain_place(domain);
    return start(place, look_up_attributes(place, attributes));
}
static void on_domain_end(void *domain, uint64_t id) {
    (void)domain;
    end(id);
}
static int on_domain_push_ex(void *domain, const struct nvtx_attributes *attributes) {
    unsigned place = domain_place(domain);
    return push(place, look_up_attributes(place, attributes));
}
static int on_domain_pop(void *domain) {
    return pop(domain_place(domain));
}

static void *create_domain(struct nvtx_text name) {
    for (size_t i = 1; i < DOMAINS; i++) {
        struct domain *domain = &domains[i];
        int free_state = 0;
        if (atomic_compare_exchange_strong(&domain->state, &free_state, 1)) {
            domain->length = (uint32_t)(name.length < sizeof domain->name ? name.length : 0);
            memcpy(domain->name, name.bytes, domain->length);
            atomic_store_explicit(&domain->state, 2, memory_order_release);
            return domain;
        }
        if (free_state == 2 && domain->length == name.length &&
            memcmp(domain->name, name.bytes, name.length) == 0)
            return domain;
    }
    return &domains[0];
}
static void *on_domain_create_a(const char *name) {
    struct nvtx_text text = text_of(name);
    return create_domain(text.bytes != NULL ? text : text_of(""));
}
static void *on_domain_create_w(const wchar_t *name) {
    char buffer[NVTX_NAME_BYTES];
    return create_domain(text_of_wide(name, buffer));
}

/* A text that is registered again, perhaps for each range, gets the place that it has. */
static void *register_text(unsigned domain, struct nvtx_text text) {
    uint64_t hash = 14695981039346656037u ^ domain;
    for (size_t i = 0; i < text.length; i++)
        hash = (hash ^ (unsigned char)text.bytes[i]) * 1099511628211u;
    hash += hash == 0;
    for (size_t i = 0; i < PROBES; i++) {
        struct registered *string = &strings[(hash + i) % REGISTERED];
        uint64_t is = atomic_load_explicit(&string->hash, memory_order_relaxed);
        if (is == 0 && atomic_compare_exchange_strong(&string->hash, &is, hash)) {
            size_t length = text.length < sizeof string->text ? text.length : sizeof string->text;
            string->mapping =
                text.length < NVTX_NAME_BYTES ? nvtx_find_mapping(domain_name(domain), text) : -1;
            string->length = (uint32_t)length;
            memcpy(string->text, text.bytes, length);
            atomic_store_explicit(&string->state, 2, memory_order_release);
            return string;
        }
        if (is == hash)
            return string;
    }
    return &domains[0]; /* no registered string: a range of it has no name */
}
static void *on_domain_register_a(void *domain, const char *text) {
    struct nvtx_text given = text_of(text);
    return register_text(domain_place(domain), given.bytes != NULL ? given : text_of(""));
}
static void *on_domain_register_w(void *domain, const wchar_t *text) {
    char buffer[NVTX_NAME_BYTES];
    return register_text(domain_place(domain), text_of_wide(text, buffer));
}

/* ---- being loaded ---- */

static void finish(void) {
    nvtx_report_finish(all_seen());
}

/* NVTX is compiled into each library that uses it, so this happens several times in a process. */
static bool begin_once(void) {
    int state = 0;
    if (!atomic_compare_exchange_strong(&was_begun, &state, 1))
        return state == 2;
    const char *map = getenv("PROBELAUF_NVTX");
    if ((map != NULL && strcmp(map, "0") == 0) || !nvtx_report_init())
        return false;
    nvtx_names_init(map != NULL ? map : "");
    nvtx_report_hello();
    (void)atexit(finish);
    atomic_store(&was_begun, 2);
    return true;
}

struct offer {
    unsigned slot;
    nvtx_function function;
};

#define OFFER(slot, function) \
    { slot, (nvtx_function)(function) }

static const struct offer core_offers[] = {
    OFFER(NVTX_MARK_EX, on_mark_ex), OFFER(NVTX_MARK_A, on_mark_a),
    OFFER(NVTX_MARK_W, on_mark_w),   OFFER(NVTX_START_EX, on_start_ex),
    OFFER(NVTX_START_A, on_start_a), OFFER(NVTX_START_W, on_start_w),
    OFFER(NVTX_END, on_end),         OFFER(NVTX_PUSH_EX, on_push_ex),
    OFFER(NVTX_PUSH_A, on_push_a),   OFFER(NVTX_PUSH_W, on_push_w),
    OFFER(NVTX_POP, on_pop),
};

static const struct offer domain_offers[] = {
    OFFER(NVTX_DOMAIN_MARK_EX, on_domain_mark_ex),
    OFFER(NVTX_DOMAIN_START_EX, on_domain_start_ex),
    OFFER(NVTX_DOMAIN_END, on_domain_end),
    OFFER(NVTX_DOMAIN_PUSH_EX, on_domain_push_ex),
    OFFER(NVTX_DOMAIN_POP, on_domain_pop),
    OFFER(NVTX_DOMAIN_REGISTER_A, on_domain_register_a),
    OFFER(NVTX_DOMAIN_REGISTER_W, on_domain_register_w),
    OFFER(NVTX_DOMAIN_CREATE_A, on_domain_create_a),
    OFFER(NVTX_DOMAIN_CREATE_W, on_domain_create_w),
};

static bool fill(const struct nvtx_callbacks *callbacks, int module, const struct offer *offers,
                 size_t count) {
    nvtx_function **slots = NULL;
    unsigned slot_count = 0;
    if (callbacks->module_slots(module, &slots, &slot_count) != 1 || slots == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        if (offers[i].slot < slot_count && slots[offers[i].slot] != NULL)
            *slots[offers[i].slot] = offers[i].function;
    return true;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(nvtx_get_table get_table) {
    const struct nvtx_callbacks *callbacks =
        get_table != NULL ? get_table(NVTX_TABLE_CALLBACKS) : NULL;
    if (callbacks == NULL || callbacks->struct_size < sizeof *callbacks ||
        callbacks->module_slots == NULL || !begin_once())
        return 0;
    bool has_core =
        fill(callbacks, NVTX_MODULE_CORE, core_offers, sizeof core_offers / sizeof core_offers[0]);
    bool has_domains = fill(callbacks, NVTX_MODULE_DOMAINS, domain_offers,
                            sizeof domain_offers / sizeof domain_offers[0]);
    return has_core || has_domains;
}
