/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program with NVTX ranges, for tests of the receiver. It plays NVTX's side itself: it loads the
 * library of NVTX_INJECTION64_PATH and gives it the two tables, as the header does; with REAL_NVTX
 * the header of NVIDIA does that. Without a library all calls do nothing. Its words are what it
 * does, in this order:
 *
 *   push=NAME pop start=NAME end mark=NAME          core, ASCII; `end` ends the newest `start`
 *   pushex=NAME pushw=NAME startex=NAME markex=NAME  the same with attributes, or wide
 *   domain=NAME dpush=NAME dpop dstart=NAME dend dmark=NAME   the same in the domain made last
 *   reg=NAME dpushreg dstartreg                     a registered string and ranges of it
 *   sleep=MS fork wait exec=N                       fork: the child goes on, the parent skips to
 * wait threads=N many=N quit                           N threads of load ranges; N ranges at once;
 * _exit cost=N                                          prints ns for each of N push and pop of
 * "other" loaded                                          prints whether a library is there
 *   closeall                                        closes each descriptor above 2, then opens a
 * file
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#ifdef REAL_NVTX

#include <nvtx3/nvToolsExt.h>

static nvtxDomainHandle_t domain;
static nvtxStringHandle_t registered;

static nvtxEventAttributes_t attributes_of(const char *name) {
    nvtxEventAttributes_t attributes = {0};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = name != NULL ? NVTX_MESSAGE_TYPE_ASCII : NVTX_MESSAGE_TYPE_REGISTERED;
    if (name != NULL)
        attributes.message.ascii = name;
    else
        attributes.message.registered = registered;
    return attributes;
}
static void load(void) {
    nvtxInitialize(NULL);
}
static int is_loaded(void) {
    return getenv("NVTX_INJECTION64_PATH") != NULL;
}
static int push_a(const char *name) {
    return nvtxRangePushA(name);
}
static void push_w(const wchar_t *name) {
    nvtxRangePushW(name);
}
static void push_ex(const char *name) {
    nvtxEventAttributes_t attributes = attributes_of(name);
    nvtxRangePushEx(&attributes);
}
static int pop(void) {
    return nvtxRangePop();
}
static uint64_t start_a(const char *name) {
    return nvtxRangeStartA(name);
}
static uint64_t start_ex(const char *name) {
    nvtxEventAttributes_t attributes = attributes_of(name);
    return nvtxRangeStartEx(&attributes);
}
static void end(uint64_t id) {
    nvtxRangeEnd(id);
}
static void mark_a(const char *name) {
    nvtxMarkA(name);
}
static void mark_ex(const char *name) {
    nvtxEventAttributes_t attributes = attributes_of(name);
    nvtxMarkEx(&attributes);
}
static void make_domain(const char *name) {
    domain = nvtxDomainCreateA(name);
}
static void domain_push(const char *name) {
    nvtxEventAttributes_t attributes = attributes_of(name);
    nvtxDomainRangePushEx(domain, &attributes);
}
static void domain_pop(void) {
    nvtxDomainRangePop(domain);
}
static uint64_t domain_start(const char *name) {
    nvtxEventAttributes_t attributes = attributes_of(name);
    return nvtxDomainRangeStartEx(domain, &attributes);
}
static void domain_end(uint64_t id) {
    nvtxDomainRangeEnd(domain, id);
}
static void domain_mark(const char *name) {
    nvtxEventAttributes_t attributes = attributes_of(name);
    nvtxDomainMarkEx(domain, &attributes);
}
static void do_register(const char *name) {
    registered = nvtxDomainRegisterStringA(domain, name);
}

#else

#include "agent/nvtx-abi.h"

static nvtx_function core[NVTX_SLOTS], domains[NVTX_SLOTS];
static nvtx_function *core_slots[NVTX_SLOTS], *domain_slots[NVTX_SLOTS];
static void *domain, *registered;
static int loaded;

static int module_slots(int module, nvtx_function ***ret_slots, unsigned *ret_count) {
    if (module != NVTX_MODULE_CORE && module != NVTX_MODULE_DOMAINS)
        return 0;
    *ret_slots = module == NVTX_MODULE_CORE ? core_slots : domain_slots;
    *ret_count = NVTX_SLOTS;
    return 1;
}

static const void *get_table(uint32_t table) {
    static const struct nvtx_callbacks callbacks = {sizeof callbacks, module_slots};
    return table == NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

static void load(void) {
    const char *path = getenv("NVTX_INJECTION64_PATH");
    for (size_t i = 1; i < NVTX_SLOTS; i++) { /* the first place of a table is none */
        core_slots[i] = &core[i];
        domain_slots[i] = &domains[i];
    }
    void *library = path != NULL ? dlopen(path, RTLD_LAZY) : NULL;
    void *symbol = library != NULL ? dlsym(library, NVTX_ENTRY) : NULL;
    int (*entry)(nvtx_get_table);
    memcpy(&entry, &symbol, sizeof entry);
    if (symbol != NULL)
        loaded = entry(get_table) == 1;
    if (symbol != NULL) /* another library of the process that has NVTX compiled in */
        loaded = loaded && entry(get_table) == 1;
}
static int is_loaded(void) {
    return loaded;
}

static struct nvtx_attributes attributes_of(const char *name) {
    struct nvtx_attributes attributes = {.version = 3, .size = sizeof attributes};
    attributes.message_type = name != NULL ? NVTX_MESSAGE_ASCII : NVTX_MESSAGE_REGISTERED;
    if (name != NULL)
        attributes.message.ascii = name;
    else
        attributes.message.registered = registered;
    return attributes;
}

#define CALL(table, slot, type, none, ...) \
    ((table)[slot] != NULL ? ((type)(table)[slot])(__VA_ARGS__) : (none))
#define CALL_VOID(table, slot, type, ...) \
    ((table)[slot] != NULL ? ((type)(table)[slot])(__VA_ARGS__) : (void)0)

static int push_a(const char *name) {
    return CALL(core, NVTX_PUSH_A, nvtx_push_a, -2, name);
}
static void push_w(const wchar_t *name) {
    (void)CALL(core, NVTX_PUSH_W, nvtx_push_w, -2, name);
}
static void push_ex(const char *name) {
    struct nvtx_attributes attributes = attributes_of(name);
    (void)CALL(core, NVTX_PUSH_EX, nvtx_push_ex, -2, &attributes);
}
static int pop(void) {
    return core[NVTX_POP] != NULL ? ((nvtx_pop)core[NVTX_POP])() : -2;
}
static uint64_t start_a(const char *name) {
    return CALL(core, NVTX_START_A, nvtx_start_a, 0, name);
}
static uint64_t start_ex(const char *name) {
    struct nvtx_attributes attributes = attributes_of(name);
    return CALL(core, NVTX_START_EX, nvtx_start_ex, 0, &attributes);
}
static void end(uint64_t id) {
    CALL_VOID(core, NVTX_END, nvtx_end, id);
}
static void mark_a(const char *name) {
    CALL_VOID(core, NVTX_MARK_A, nvtx_mark_a, name);
}
static void mark_ex(const char *name) {
    struct nvtx_attributes attributes = attributes_of(name);
    CALL_VOID(core, NVTX_MARK_EX, nvtx_mark_ex, &attributes);
}
static void make_domain(const char *name) {
    domain = CALL(domains, NVTX_DOMAIN_CREATE_A, nvtx_domain_create_a, NULL, name);
}
static void domain_push(const char *name) {
    struct nvtx_attributes attributes = attributes_of(name);
    (void)CALL(domains, NVTX_DOMAIN_PUSH_EX, nvtx_domain_push_ex, -2, domain, &attributes);
}
static void domain_pop(void) {
    (void)CALL(domains, NVTX_DOMAIN_POP, nvtx_domain_pop, -2, domain);
}
static uint64_t domain_start(const char *name) {
    struct nvtx_attributes attributes = attributes_of(name);
    return CALL(domains, NVTX_DOMAIN_START_EX, nvtx_domain_start_ex, 0, domain, &attributes);
}
static void domain_end(uint64_t id) {
    CALL_VOID(domains, NVTX_DOMAIN_END, nvtx_domain_end, domain, id);
}
static void domain_mark(const char *name) {
    struct nvtx_attributes attributes = attributes_of(name);
    CALL_VOID(domains, NVTX_DOMAIN_MARK_EX, nvtx_domain_mark_ex, domain, &attributes);
}
static void do_register(const char *name) {
    registered = CALL(domains, NVTX_DOMAIN_REGISTER_A, nvtx_domain_register_a, NULL, domain, name);
}

#endif

static void pause_ms(long ms) {
    struct timespec wait = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&wait, &wait) < 0 && errno == EINTR)
        continue;
}

static void *thread(void *context) {
    (void)context;
    push_a("load");
    pause_ms(50);
    for (int i = 0; i < 1000; i++) {
        push_a("other");
        pop();
    }
    pop();
    return NULL;
}

static void run_threads(long count) {
    pthread_t threads[64];
    if (count > 64)
        count = 64;
    for (long i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, thread, NULL) != 0)
            abort();
    for (long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void print_cost(long count) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (long i = 0; i < count; i++) {
        push_a("other");
        pop();
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    double ns = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
    printf("%.1f\n", ns / (double)count);
}

static pthread_t beside;
static int has_beside;

static void *be_beside(void *name) {
    push_a(name);
    pause_ms(200);
    pop();
    return NULL;
}

static void start_beside(char *name) {
    has_beside = pthread_create(&beside, NULL, be_beside, name) == 0;
    pause_ms(50);
}

/* A thread that ends with an open range, and the next one, which the system puts at its place. */
static void *leave_open(void *name) {
    push_a(name);
    return NULL;
}

static void *come_after(void *name) {
    pop();
    push_a(name);
    pop();
    pop();
    return NULL;
}

static void run_one_after_another(void) {
    static char first[] = "first", second[] = "second";
    pthread_t one;
    if (pthread_create(&one, NULL, leave_open, first) != 0 || pthread_join(one, NULL) != 0 ||
        pthread_create(&one, NULL, come_after, second) != 0 || pthread_join(one, NULL) != 0)
        abort();
}

/* A child that lives in our memory until it is gone. */
static void borrow(const char *name) {
    pid_t borrower = vfork();
    if (borrower < 0)
        abort();
    if (borrower == 0) {
        pop();
        push_a(name);
        end(start_a(name));
        mark_a(name);
        _exit(0);
    }
    waitpid(borrower, NULL, 0);
}

/* A program that tidies up, and opens a file of its own where somebody may have kept one open. */
static void close_all(void) {
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    for (int i = 0; i < 16; i++)
        if (open("mine", O_WRONLY | O_CREAT | O_APPEND, 0600) < 0)
            abort();
}

static int many(long count) {
    char name[32];
    for (long i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%s", i % 2 == 0 ? "load" : "work");
        if (push_a(name) < 0 || pop() < 0)
            return -1;
    }
    return 0;
}

static uint64_t ids[16];
static size_t id_count;

static void keep(uint64_t id) {
    if (id_count < 16)
        ids[id_count++] = id;
}
static uint64_t newest(void) {
    return id_count > 0 ? ids[--id_count] : 0;
}

static int is(const char *word, const char *name, const char **ret_value) {
    size_t length = strlen(name);
    if (strncmp(word, name, length) != 0 || (word[length] != '=' && word[length] != '\0'))
        return 0;
    *ret_value = word[length] == '=' ? word + length + 1 : "";
    return 1;
}

static void range_word(const char *word) {
    const char *value;
    if (is(word, "push", &value))
        push_a(value);
    else if (is(word, "pushex", &value))
        push_ex(value);
    else if (is(word, "pushw", &value)) {
        wchar_t wide[128] = {0};
        for (size_t i = 0; value[i] != '\0' && i < 127; i++)
            wide[i] = value[i] == '@' ? 0x1F600 : (wchar_t)value[i];
        push_w(wide);
    } else if (is(word, "pop", &value))
        pop();
    else if (is(word, "start", &value))
        keep(start_a(value));
    else if (is(word, "startex", &value))
        keep(start_ex(value));
    else if (is(word, "end", &value))
        end(newest());
    else if (is(word, "mark", &value))
        mark_a(value);
    else if (is(word, "markex", &value))
        mark_ex(value);
    else if (is(word, "domain", &value))
        make_domain(value);
    else if (is(word, "dpush", &value))
        domain_push(value);
    else if (is(word, "dpop", &value))
        domain_pop();
    else if (is(word, "dstart", &value))
        keep(domain_start(value));
    else if (is(word, "dend", &value))
        domain_end(newest());
    else if (is(word, "dmark", &value))
        domain_mark(value);
    else if (is(word, "reg", &value))
        do_register(value);
    else if (is(word, "dpushreg", &value))
        domain_push(NULL);
    else if (is(word, "dstartreg", &value))
        keep(domain_start(NULL));
    else {
        fprintf(stderr, "nvtx-client: what is '%s'?\n", word);
        exit(2);
    }
}

int main(int argc, char **argv) {
    load();
    pid_t child = 0;
    int is_parent = 0;
    for (int i = 1; i < argc; i++) {
        const char *value;
        if (is(argv[i], "fork", &value)) {
            fflush(stdout);
            child = fork();
            is_parent = child > 0;
        } else if (is(argv[i], "wait", &value)) {
            if (child > 0)
                waitpid(child, NULL, 0);
            else
                return 0;
            is_parent = 0;
        } else if (is_parent)
            continue;
        else if (is(argv[i], "sleep", &value))
            pause_ms(strtol(value, NULL, 10));
        else if (is(argv[i], "threads", &value))
            run_threads(strtol(value, NULL, 10));
        else if (is(argv[i], "many", &value)) {
            if (many(strtol(value, NULL, 10)) < 0)
                return 3;
        } else if (is(argv[i], "cost", &value))
            print_cost(strtol(value, NULL, 10));
        else if (is(argv[i], "loaded", &value))
            printf("%s\n", is_loaded() ? "yes" : "no");
        else if (is(argv[i], "beside", &value))
            start_beside(argv[i] + strlen("beside="));
        else if (is(argv[i], "vfork", &value))
            borrow(value);
        else if (is(argv[i], "after", &value))
            run_one_after_another();
        else if (is(argv[i], "closeall", &value))
            close_all();
        else if (is(argv[i], "quit", &value)) {
            fflush(stdout);
            _exit(0);
        } else
            range_word(argv[i]);
    }
    if (has_beside)
        pthread_join(beside, NULL);
    return 0;
}
