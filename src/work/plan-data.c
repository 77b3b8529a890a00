/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See plan-data.h: the paths are the plan's, filled in; whether they are tracked is git's. */
#include "work/plan-data.h"

#include "base/json.h"
#include "base/root.h"
#include "base/str.h"
#include "plan/plan.h"
#include "probe/git-tree.h"
#include "probe/probe.h"

#include <string.h>

struct data {
    const struct plan *plan;
    struct arena *arena;
    struct plan_data *items;
    size_t count;
};

/* What lies elsewhere is not in the repository of the plan. */
static bool is_inside(const char *path) {
    return path[0] != '\0' && path[0] != '/' && strcmp(path, "..") != 0 &&
           !str_starts_with(path, "../");
}

/* Below the block's folder; ".." in front leads out of it again, so that a file has one name. */
static const char *in_folder(const char *folder, const char *path, struct arena *arena) {
    size_t length = folder != NULL ? strlen(folder) : 0;
    while (str_starts_with(path, "./"))
        path += 2;
    while (length > 0 && folder[length - 1] == '/')
        length--;
    while (length > 0 && str_starts_with(path, "../")) {
        path += 3;
        while (length > 0 && folder[length - 1] != '/')
            length--;
        while (length > 0 && folder[length - 1] == '/')
            length--;
    }
    return length > 0 && path[0] != '/' ? arena_printf(arena, "%.*s/%s", (int)length, folder, path)
                                        : path;
}

static void add(struct data *data, const struct plan_block *block, const char *path,
                struct plan_at at, bool is_output) {
    path = in_folder(block->folder, path, data->arena);
    if (data->count == WORK_PLAN_DATA_MAX || !is_inside(path) || !git_path_is_code(path))
        return;
    for (size_t i = 0; i < data->count; i++)
        if (strcmp(data->items[i].path, path) == 0)
            return;
    data->items[data->count++] =
        (struct plan_data){.path = path, .block = block, .at = at, .is_output = is_output};
}

/* A path with places is one in each condition. */
static void add_texts(struct data *data, const struct plan_block *block,
                      const struct plan_texts *texts, bool is_output) {
    for (size_t i = 0; i < texts->count; i++)
        for (size_t c = 0; c < block->condition_count && data->count < WORK_PLAN_DATA_MAX; c++) {
            const char *text = texts->items[i].text;
            add(data, block, plan_fill(&block->conditions[c], text, data->arena),
                texts->items[i].at, is_output);
            if (strpbrk(text, "{}") == NULL)
                break;
        }
}

/* Is any of the paths tracked? */
static bool is_tracked(const struct data *data, const char *const *paths) {
    const struct probe_context context = {
        .root = &root_real,
        .cwd = data->plan->folder,
        .code_folder = data->plan->folder,
        .code_paths = paths,
        .code_except = data->plan->name,
    };
    AUTO_JSON json_t *code = probe_code(&context);
    return json_get_text(code, "digest", NULL) != NULL;
}

size_t work_plan_data(const struct plan *plan, struct arena *arena, struct plan_data **ret_data) {
    struct data data = {.plan = plan,
                        .arena = arena,
                        .items = arena_alloc(arena, WORK_PLAN_DATA_MAX * sizeof *data.items)};
    const char *specs[WORK_PLAN_DATA_MAX + 1] = {NULL};
    size_t count = 0;
    *ret_data = data.items;
    for (size_t b = 0; b < plan->block_count && plan->code.paths.count == 0; b++) {
        add_texts(&data, &plan->blocks[b], &plan->blocks[b].inputs, false);
        add_texts(&data, &plan->blocks[b], &plan->blocks[b].outputs, true);
    }
    for (size_t i = 0; i < data.count; i++)
        specs[i] = arena_printf(arena, ":(literal)%s", data.items[i].path);
    if (data.count == 0 || !is_tracked(&data, specs)) /* mostly none is: one question */
        return 0;
    for (size_t i = 0; i < data.count; i++) {
        const char *const one[] = {specs[i], NULL};
        if (is_tracked(&data, one))
            data.items[count++] = data.items[i];
    }
    return count;
}
