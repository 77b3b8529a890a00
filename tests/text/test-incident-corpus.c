/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The corpus of incidents: our own texts in tests/text/incidents/ (each case: names in order,
 * figures that must be there or, with "-", must not), and the samples of the field against their
 * sidecars, with the sizes these name. Prints both counts. Every case is fed in pieces, with CRLF,
 * inside container prefixes and cut anywhere: the names stay, or nothing breaks.
 */
#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"
#include "text/incident.h"

#include <ctype.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct incident_scanner *scan(const char *text, size_t length, size_t step) {
    struct incident_scanner *scanner = incident_scanner_new();
    for (size_t at = 0; at < length; at += step)
        incident_scanner_feed(scanner, text + at, length - at < step ? length - at : step);
    incident_scanner_finish(scanner);
    return scanner;
}

static void add_names(const struct incident_scanner *scanner, struct strbuf *out) {
    for (size_t i = 0; i < incident_scanner_count(scanner); i++)
        strbuf_printf(out, "%s%s", i > 0 ? " " : "", incident_scanner_get(scanner, i)->name);
    if (incident_scanner_count(scanner) == 0)
        strbuf_add_str(out, "none");
}

/* ---- our own cases ---- */

struct corpus_case {
    char *names, *figures; /* owned */
    const char *text;
    size_t length;
    const char *file;
    int line;
};

static void fail_case(const struct corpus_case *c, const char *what, const char *got) {
    fail_msg("%s:%d: %s: expected '%s %s', got '%s'\n%.*s", c->file, c->line, what, c->names,
             c->figures, got, (int)c->length, c->text);
}

/* One figure "name=value" must hold for some incident, "-name" for all; "survived" and "-survived"
 * for some. */
static bool figure_holds(const struct incident_scanner *scanner, const char *figure) {
    bool is_absent = *figure == '-';
    const char *name = figure + is_absent;
    size_t length = strcspn(name, "=");
    AUTO_FREE char *key = mem_strndup(name, length);

    for (size_t i = 0; i < incident_scanner_count(scanner); i++) {
        const struct incident *incident = incident_scanner_get(scanner, i);
        if (strcmp(key, "survived") == 0 && incident->survived != is_absent)
            return true;
        const json_t *value = json_object_get(incident->figures, key);
        if (is_absent && value)
            return false;
        if (is_absent || !value)
            continue;
        if (json_is_string(value) && strcmp(json_string_value(value), name + length + 1) == 0)
            return true;
        double expected;
        if (json_is_number(value) && str_to_double(name + length + 1, &expected) == 0 &&
            json_number_value(value) - expected < 0.0005 &&
            expected - json_number_value(value) < 0.0005)
            return true;
    }
    return is_absent && strcmp(key, "survived") != 0;
}

static void check_figures(const struct corpus_case *c, const struct incident_scanner *scanner) {
    const char *at = c->figures + strspn(c->figures, " ");
    while (*at) {
        size_t length = strcspn(at, " ");
        AUTO_FREE char *figure = mem_strndup(at, length);
        AUTO_STRBUF struct strbuf got = STRBUF_INIT;
        for (size_t i = 0; i < incident_scanner_count(scanner); i++)
            json_add_compact(&got, incident_scanner_get(scanner, i)->figures);
        if (!figure_holds(scanner, figure))
            fail_case(c, figure, strbuf_str(&got));
        at += length;
        at += strspn(at, " ");
    }
}

static void check_names(const struct corpus_case *c, const char *text, size_t length, size_t step,
                        const char *how) {
    AUTO_STRBUF struct strbuf got = STRBUF_INIT;
    struct incident_scanner *scanner = scan(text, length, step);
    add_names(scanner, &got);
    bool same = strcmp(strbuf_str(&got), c->names) == 0;
    if (same && step == 7)
        check_figures(c, scanner);
    incident_scanner_free(scanner);
    if (!same)
        fail_case(c, how, strbuf_str(&got));
}

/* Each line of the text with something before and behind it. */
static void decorate(const struct corpus_case *c, const char *before, const char *behind,
                     struct strbuf *out) {
    for (size_t at = 0; at < c->length;) {
        const char *end = memchr(c->text + at, '\n', c->length - at);
        size_t length = end ? (size_t)(end - c->text) - at : c->length - at;
        strbuf_add_str(out, before);
        strbuf_add(out, c->text + at, length);
        strbuf_add_str(out, behind);
        at += length + 1;
    }
}

static void check_decorated(const struct corpus_case *c, const char *before, const char *behind,
                            const char *how) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    decorate(c, before, behind, &text);
    check_names(c, text.data, text.length, 31, how);
}

static void check_case(const struct corpus_case *c) {
    check_names(c, c->text, c->length, 7, "as it is");
    check_names(c, c->text, c->length, 4096, "in one piece");
    check_decorated(c, "", "\r\n", "with CRLF");
    check_decorated(c, "\x1b[31m", "\x1b[0m\n", "in colour");
    check_decorated(c, "2025-10-28T14:35:36.123456789Z stderr F ", "\n", "from a container");
    check_decorated(c, "\xff\xfe\x01\n", "\n", "among bytes that are no text");
    for (size_t cut = 0; cut < c->length; cut += c->length / 5 + 1) /* a cut text must do no harm */
        incident_scanner_free(scan(c->text, cut, 4096));
}

static size_t read_cases(const char *text, const char *file,
                         void (*each)(const struct corpus_case *)) {
    size_t count = 0;
    int line = 1;

    for (const char *at = text; at && *at;) {
        const char *end = strchr(at, '\n');
        const char *next = end ? end + 1 : NULL;
        if (strncmp(at, "== ", 3) != 0) {
            assert_int_equal(*at, '#'); /* only comments before the first case */
            at = next;
            line++;
            continue;
        }
        AUTO_FREE char *head = mem_strndup(at + 3, (size_t)(end - at) - 3);
        char *bar = strstr(head, " | ");
        if (bar)
            *bar = '\0';
        const char *stop = strstr(next, "\n== ");
        size_t length = stop ? (size_t)(stop - next) + 1 : strlen(next);
        const struct corpus_case found = {.names = head,
                                          .figures = bar ? bar + 3 : head + strlen(head),
                                          .text = next,
                                          .length = length,
                                          .file = file,
                                          .line = line};
        each(&found);
        count++;
        for (const char *c = at; c < next + length; c++)
            line += *c == '\n';
        at = next + length;
    }
    return count;
}

static void test_own_corpus(void **state) {
    static const char *const files[] = {"gpu-memory", "gpu-devices", "host", "access-and-ends",
                                        "negatives"};
    const char *fixtures = getenv("PROBELAUF_TEST_FIXTURES");
    size_t count = 0;

    (void)state;
    if (!fixtures)
        skip();
    for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        AUTO_FREE char *path = mem_printf("%s/../text/incidents/%s.txt", fixtures, files[i]);
        assert_int_equal(file_read(path, 1 << 20, &text), 0);
        count += read_cases(strbuf_str(&text), files[i], check_case);
    }
    print_message("incidents: %zu of %zu own cases\n", count, count);
    assert_true(count >= 150);
}

/* ---- the samples of the field ---- */

/* Bytes of "6.37GiB", "1024.00KiB", "131072B", "3945.44MB" (binary but for disks), "256bytes"; 0:
 * no size. */
static double size_of(const char *text, bool is_disk) {
    static const char letters[] = "KMGT";
    char number[32];
    size_t length = strspn(text, "0123456789.");
    double value;

    if (length == 0 || length >= sizeof number)
        return 0;
    memcpy(number, text, length);
    number[length] = '\0';
    if (str_to_double(number, &value) != 0)
        return 0;
    const char *unit = text + length;
    if (str_starts_with(unit, "bytes") || (*unit == 'B' && !isalpha((unsigned char)unit[1])))
        return value;
    const char *letter = *unit ? strchr(letters, toupper((unsigned char)*unit)) : NULL;
    if (!letter || (unit[1] != 'i' && toupper((unsigned char)unit[1]) != 'B'))
        return 0;
    for (const char *l = letters; l <= letter; l++)
        value *= is_disk && unit[1] != 'i' ? 1000.0 : 1024.0;
    return value;
}

static bool has_size(const struct incident_scanner *scanner, double bytes) {
    for (size_t i = 0; i < incident_scanner_count(scanner); i++) {
        const char *key;
        json_t *value;
        json_object_foreach (incident_scanner_get(scanner, i)->figures, key, value) {
            double difference = json_is_number(value) ? json_number_value(value) - bytes : bytes;
            if (difference <= bytes / 1000 && difference >= -bytes / 1000)
                return true;
        }
    }
    return false;
}

/* Sizes the sidecar names as NAME=SIZE that are among the figures; "reserved" may be a sum. */
static void check_sizes(const char *path, const char *source,
                        const struct incident_scanner *scanner, size_t *named, size_t *found) {
    static const char *const names[] = {"requested",       "free",
                                        "capacity",        "allocated",
                                        "limit",           "process",
                                        "wanted",          "required",
                                        "needed",          "kv_needed",
                                        "kv_available",    "private_pools",
                                        "reserved_unused", "reserved_unallocated",
                                        "other_processes", "anon_rss",
                                        "planned_total",   "fragmentation"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        AUTO_FREE char *key = mem_printf(" %s=", names[i]);
        const char *at = strstr(source, key);
        double bytes = at ? size_of(at + strlen(key), strstr(path, "-disk-") != NULL) : 0;
        if (bytes <= 0)
            continue;
        ++*named;
        if (!has_size(scanner, bytes))
            fail_msg("%s: %s is not among the figures", path, names[i]);
        ++*found;
    }
}

static void check_sample(const char *folder, const char *name, size_t *named, size_t *found) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    AUTO_STRBUF struct strbuf source = STRBUF_INIT;
    AUTO_STRBUF struct strbuf got = STRBUF_INIT;
    AUTO_FREE char *path = mem_printf("%s/%s", folder, name);
    AUTO_FREE char *source_path = mem_printf("%s/%s.src", folder, name);

    assert_int_equal(file_read(path, 1 << 20, &text), 0);
    assert_int_equal(file_read(source_path, 1 << 20, &source), 0);
    const char *at = strstr(strbuf_str(&source), "class=");
    assert_non_null(at);
    AUTO_FREE char *class = mem_strndup(at + 6, strspn(at + 6, "abcdefghijklmnopqrstuvwxyz_"));
    struct incident_scanner *scanner = scan(strbuf_str(&text), text.length, 17);
    bool is_named = false;
    for (size_t i = 0; i < incident_scanner_count(scanner); i++)
        is_named |= strcmp(incident_scanner_get(scanner, i)->name, class) == 0;
    add_names(scanner, &got);
    if (!is_named)
        fail_msg("%s: expected %s, got '%s'", path, class, strbuf_str(&got));
    check_sizes(path, strbuf_str(&source), scanner, named, found);
    incident_scanner_free(scanner);
}

static void test_samples(void **state) {
    static const char *const folders[] = {"torch-oom",
                                          "xla-tf-oom",
                                          "serving-memory-errors",
                                          "kernel-resource-errors",
                                          "nccl-errors",
                                          "host-memory-errors",
                                          "kernel-log",
                                          "access-and-disk-errors",
                                          "exit-and-killed",
                                          "nvml-errors",
                                          "slurm-messages"};
    const char *shared = getenv("PROBELAUF_TEST_SHARED");
    size_t checked = 0, named = 0, found = 0;

    (void)state;
    for (size_t i = 0; shared && i < ARRAY_LENGTH(folders); i++) {
        AUTO_FREE char *folder = mem_printf("%s/samples/%s", shared, folders[i]);
        DIR *dir = opendir(folder);
        if (!dir)
            continue;
        for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
            if (entry->d_name[0] == '.' || str_ends_with(entry->d_name, ".src"))
                continue;
            check_sample(folder, entry->d_name, &named, &found);
            checked++;
        }
        closedir(dir);
    }
    if (checked == 0)
        skip();
    print_message("incidents: %zu of %zu samples named, %zu of %zu sizes read\n", checked, checked,
                  found, named);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_corpus),
        cmocka_unit_test(test_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
