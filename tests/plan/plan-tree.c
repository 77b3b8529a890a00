/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prints a YAML file as JSON, for check-plan-schema.py. Plain scalars come as editors take them
 * (numbers, truths, null; YAML 1.2 core), or with --texts as the texts that they are; nothing
 * written is null both ways. Exits 1 with line:column and the text when it is no YAML.
 */
#include "base/json.h"
#include "base/str.h"
#include "base/yaml.h"

#include <stdio.h>
#include <string.h>

static json_t *of_scalar(const struct yaml_node *node, bool texts) {
    int64_t whole;
    double number;
    if (node->plain && yaml_is_unsaid(node))
        return json_null();
    if (texts || !node->plain)
        return json_text(node->text);
    if (strcmp(node->text, "true") == 0 || strcmp(node->text, "false") == 0)
        return json_boolean(*node->text == 't');
    if (str_to_i64(node->text, &whole) == 0)
        return json_integer(whole);
    return str_to_double(node->text, &number) == 0 ? json_real(number) : json_text(node->text);
}

/* At most YAML_DEPTH_MAX deep. */
static json_t *of_node(const struct yaml_node *node, bool texts) {
    if (node->kind == YAML_SCALAR)
        return of_scalar(node, texts);
    json_t *json = node->kind == YAML_MAP ? json_object() : json_array();
    for (size_t i = 0; i < node->count; i++)
        if (node->kind == YAML_MAP)
            json_put(json, node->entries[i].key->text, of_node(node->entries[i].value, texts));
        else
            json_array_append_new(json, of_node(node->items[i], texts));
    return json;
}

int main(int argc, char **argv) {
    bool texts = argc == 3 && strcmp(argv[1], "--texts") == 0;
    if (argc != 2 && !texts)
        return 2;
    AUTO_ARENA struct arena *arena = arena_new();
    struct yaml_node *root = NULL;
    struct yaml_problem problem = {0};
    struct err err = ERR_INIT;
    if (yaml_read(argv[argc - 1], arena, &root, NULL, NULL, &problem, &err) < 0) {
        printf("%u:%u: %s%s\n", problem.line, problem.column,
               problem.text != NULL ? problem.text : "", err.text);
        return 1;
    }
    AUTO_JSON json_t *json = root != NULL ? of_node(root, texts) : json_null();
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    json_add_compact(&out, json);
    puts(strbuf_str(&out));
    return 0;
}
