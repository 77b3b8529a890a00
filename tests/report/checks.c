/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "checks.h"

#include "base/fd.h"
#include "base/mem.h"
#include "base/spawn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PYTHON   "/usr/bin/python3"
#define FILE_MAX 64

static char folder[] = "/tmp/probelauf-schema-XXXXXX"; /* made for the first file */
static bool has_folder;
static char *files[FILE_MAX];
static size_t file_count;

/* PROBELAUF_TEST_FIXTURES names tests/fixtures. */
static char *golden_path(const char *name) {
    const char *fixtures = getenv("PROBELAUF_TEST_FIXTURES");
    assert_non_null(fixtures);
    const char *slash = strrchr(fixtures, '/');
    assert_non_null(slash);
    return mem_printf("%.*s/report/golden/%s", (int)(slash - fixtures), fixtures, name);
}

void check_golden(const char *name, const struct strbuf *text) {
    AUTO_FREE char *path = golden_path(name);
    if (getenv("PROBELAUF_GOLDEN_WRITE")) {
        struct err err = ERR_INIT;
        assert_int_equal(file_write_atomic(path, strbuf_str(text), text->length, 0644, &err), 0);
        return;
    }
    AUTO_STRBUF struct strbuf golden = STRBUF_INIT;
    if (file_read(path, 1 << 20, &golden) != 0)
        fail_msg("no golden file '%s'", path);
    if (strcmp(strbuf_str(&golden), strbuf_str(text)) != 0)
        fail_msg("differs from '%s':\n%s", path, strbuf_str(text));
}

void schema_put(const char *name, json_t *take_json) {
    AUTO_JSON json_t *json = take_json;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_add_pretty(&text, json);
    assert_true(file_count < FILE_MAX);
    if (!has_folder)
        assert_non_null(mkdtemp(folder));
    has_folder = true;
    char *path = mem_printf("%s/%s.json", folder, name);
    struct err err = ERR_INIT;
    assert_int_equal(file_write_atomic(path, strbuf_str(&text), text.length, 0600, &err), 0);
    files[file_count++] = path;
}

int schema_check(void) {
    const char *fixtures = getenv("PROBELAUF_TEST_FIXTURES");
    assert_non_null(fixtures);
    int length = (int)(strrchr(fixtures, '/') - fixtures);
    AUTO_FREE char *script = mem_printf("%.*s/validate.py", length, fixtures);
    AUTO_FREE char *schemas = mem_printf("%.*s/../schema", length, fixtures);
    const char *argv[FILE_MAX + 4] = {PYTHON, script, schemas};
    for (size_t i = 0; i < file_count; i++)
        argv[3 + i] = files[i];
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    struct spawn_result result = {0};
    struct err err = ERR_INIT;
    int rc = spawn_capture(argv, NULL, NULL, INT64_C(120000000000), 1 << 20, &out, &result, &err);
    printf("%s", strbuf_str(&out));
    for (size_t i = 0; i < file_count; i++) {
        (void)unlink(files[i]);
        mem_free_ptr(&files[i]);
    }
    file_count = 0;
    if (has_folder)
        (void)rmdir(folder);
    has_folder = false;
    memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
    return rc != 0 ? 77 : result.status;
}

bool schema_can_check(void) {
    return schema_check() != 77;
}
