/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What building the code names: GPU architectures, NVIDIA's compiler; and absolute paths of
 * somebody's own machine, line by line in every kind of text. Comments are left out.
 */
#include "probe/repository-parts.h"

#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Where the comment of a line begins; "#" is one in scripts, "//" in CUDA code. */
static void cut_comment(const struct repository_file *file, char *line) {
    bool is_c = str_ends_with(file->name, ".cu") || str_ends_with(file->name, ".cpp") ||
                str_ends_with(file->name, ".h") || str_ends_with(file->name, ".json");
    const char *mark = is_c ? "//" : "#";
    char *at = line;
    while ((at = strstr(at, mark)) != NULL) {
        if (at == line || at[-1] == ' ' || at[-1] == '\t') {
            *at = '\0';
            return;
        }
        at++;
    }
}

/* ---- architectures ---- */

static void add_arch(const struct repository_file *file, unsigned line, unsigned number,
                     bool only_there, bool ptx) {
    if (number < 10 || number > 999)
        return;
    json_t *fact = repository_fact(file, "architectures", line);
    if (fact == NULL)
        return;
    AUTO_FREE char *arch = mem_printf("%u.%u%s", number / 10, number % 10, only_there ? "a" : "");
    json_put_text(fact, "arch", arch);
    json_put_bool(fact, "ptx", ptx);
}

/* "sm_80", "sm_90a", "compute_90": in "arch=compute_80,code=sm_80" only the code is what is made.
 */
static void find_names(const struct repository_file *file, unsigned line, const char *text) {
    static const struct {
        const char *word;
        bool ptx;
    } names[] = {{"sm_", false}, {"compute_", true}};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        for (const char *at = text; (at = strstr(at, names[i].word)) != NULL; at++) {
            const char *number = at + strlen(names[i].word);
            bool is_arch =
                at >= text + 5 && strncmp(at - 5, "arch=", 5) == 0 && strstr(at, "code=") != NULL;
            if ((at > text && is_word(at[-1])) || !isdigit((unsigned char)*number) ||
                (names[i].ptx && is_arch))
                continue;
            char *end;
            unsigned long value = strtoul(number, &end, 10);
            add_arch(file, line, value < 1000 ? (unsigned)value : 0,
                     *end == 'a' && !is_word(end[1]), names[i].ptx);
        }
}

/* TORCH_CUDA_ARCH_LIST="8.0 9.0+PTX", CMAKE_CUDA_ARCHITECTURES 80;90 */
static void find_lists(const struct repository_file *file, unsigned line, const char *text) {
    static const char *const names[] = {"TORCH_CUDA_ARCH_LIST", "CMAKE_CUDA_ARCHITECTURES",
                                        "CUDA_ARCHITECTURES"};
    const char *at = NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(names) && at == NULL; i++)
        if ((at = strstr(text, names[i])) != NULL)
            at += strlen(names[i]);
    while (at != NULL && *at != '\0') {
        if (!isdigit((unsigned char)*at) || (at > text && is_word(at[-1]))) {
            at++;
            continue;
        }
        char *end;
        unsigned long number = strtoul(at, &end, 10);
        if (*end == '.' && isdigit((unsigned char)end[1])) {
            number = number * 10 + (unsigned long)(end[1] - '0');
            end += 2;
        }
        bool only_there = *end == 'a' && !is_word(end[1]);
        end += only_there;
        bool ptx = strncasecmp(end, "+ptx", 4) == 0;
        unsigned value = number < 1000 ? (unsigned)number : 0;
        add_arch(file, line, value, only_there, false);
        if (ptx)
            add_arch(file, line, value, only_there, true);
        at = end + (ptx ? 4 : 0);
    }
}

static void find_compilers(const struct repository_file *file, unsigned line, const char *text) {
    static const char *const names[] = {
        "nvcc", "CUDA_HOME", "CUDAExtension", "find_package(CUDA", "load_inline", "CUDA_PATH"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        const char *at = strstr(text, names[i]);
        if (at == NULL || (at > text && is_word(at[-1])) ||
            (is_word(names[i][strlen(names[i]) - 1]) && is_word(at[strlen(names[i])])))
            continue;
        json_t *fact = repository_fact(file, "compilers", line);
        if (fact != NULL)
            json_put_text(fact, "what", names[i]);
        return;
    }
}

void repository_read_build(const struct repository_file *file) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    const char *at = file->text;
    for (unsigned number = 1; repository_next_line(&at, &line); number++) {
        if (line.length == 0)
            continue;
        cut_comment(file, line.data);
        find_names(file, number, line.data);
        find_lists(file, number, line.data);
        find_compilers(file, number, line.data);
    }
}

/* ---- paths of somebody's machine ---- */

static bool begins_path(const char *text, const char *at) {
    return at == text || strchr(" \t\"'=(,:[`", at[-1]) != NULL;
}

static const char *next_path(const char *text, const char *from) {
    static const char *const places[] = {"/home/",   "/Users/",   "/mnt/",       "/data/",
                                         "/data1/",  "/data2/",   "/nfs/",       "/gpfs/",
                                         "/lustre/", "/scratch/", "/workspace/", "/root/"};
    const char *first = NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(places); i++)
        for (const char *at = from; (at = strstr(at, places[i])) != NULL; at++) {
            char next = at[strlen(places[i])];
            /* a URL has "//" before its host; "/home/$USER" belongs to nobody */
            bool is_place = begins_path(text, at) && (is_word(next) || next == '.');
            if (is_place && (first == NULL || at < first))
                first = at;
            if (is_place)
                break;
        }
    return first;
}

void repository_read_paths(const struct repository_file *file) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    const char *at = file->text;
    for (unsigned number = 1; repository_next_line(&at, &line); number++) {
        if (line.length == 0)
            continue;
        cut_comment(file, line.data);
        const char *path = next_path(line.data, line.data);
        if (path == NULL)
            continue;
        json_t *fact = repository_fact(file, "paths", number);
        if (fact == NULL)
            return;
        AUTO_FREE char *text = mem_strndup(path, strcspn(path, " \t\"'`,;:)]}$"));
        json_put_text(fact, "path", text);
    }
}
