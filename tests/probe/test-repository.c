/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is read of clones that are written here: requirements in all their files, commands, data,
 * limits; and that no text, whatever its bytes, makes the readers fail. */
#include "probe/repository.h"

#include "probe/python-tokens.h"
#include "probe/repository-toml.h"
#include "tree.h"

/* The clone's JSON; the tree goes with it. */
struct clone {
    char *path;
    json_t *json;
};

static void clone_done(struct clone *clone) {
    tree_free(&clone->path);
    json_decref(clone->json);
}
#define AUTO_CLONE __attribute__((cleanup(clone_done)))

static void read_with(struct clone *clone, const struct repository_limits *limits) {
    struct err err = ERR_INIT;
    json_decref(clone->json);
    clone->json = NULL;
    if (repository_read(clone->path, limits, &clone->json, &err) < 0)
        fail_msg("%s", err.text);
}

/* Entries of a list as "key=value" texts of these keys, one a line. */
static const char *list(struct clone *clone, const char *name, const char *const keys[]) {
    static char text[8192];
    size_t length = 0;
    text[0] = '\0';
    const json_t *items = json_get_array(clone->json, name);
    for (size_t i = 0; i < json_array_size(items); i++)
        for (size_t k = 0; keys[k] != NULL; k++) {
            const json_t *value = json_object_get(json_array_get(items, i), keys[k]);
            const char *word = json_is_string(value) ? json_string_value(value)
                               : json_is_true(value) ? "yes"
                                                     : "-";
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", word,
                                       keys[k + 1] != NULL ? " " : "\n");
            assert_true(length < sizeof text);
        }
    return text;
}
#define LIST(clone, name, ...) list(clone, name, (const char *const[]){__VA_ARGS__, NULL})

static void requirement_lines(void **state) {
    (void)state;
    AUTO_CLONE struct clone clone = {.path = tree_new()};
    tree_write(
        clone.path, "/requirements.txt",
        "\xEF\xBB\xBFtorch == 2.9.0+cu128  # the GPU one\n"
        "-r sub/more.txt\n--requirement=gone.txt\n-c ../outside.txt\n-r /etc/shadow\n-r .\n-r sub\n"
        "--extra-index-url https://user:hunter2hunter2@example.org/cu128\n"
        "Flash_Attn[extra] >=2.7, <3 ; python_version < '3.12'\n"
        "numpy \\\n  ==1.26.4 \\\n  --hash=sha256:00\n"
        "pkg @ https://example.org/pkg-1.0-py3-none-any.whl\n"
        "git+https://example.org/owner/tool.git@v1#egg=tool\n"
        "https://example.org/x/wheel_name-2.0-cp310-none-any.whl\n"
        "-e .\n./local\n=broken\n[also]\nname with words\n\n# nothing\n");
    tree_write(clone.path, "/sub/more.txt", "left out: its name says nothing\n");
    read_with(&clone, NULL);
    assert_string_equal(LIST(&clone, "requirements", "name", "specifier", "marker", "at"),
                        "torch ==2.9.0+cu128 - requirements.txt:1\n"
                        "Flash_Attn >=2.7,<3 python_version < '3.12' requirements.txt:9\n"
                        "numpy ==1.26.4 - requirements.txt:10\n"
                        "pkg  - requirements.txt:13\n"
                        "tool  - requirements.txt:14\n"
                        "wheel_name  - requirements.txt:15\n");
    assert_string_equal(LIST(&clone, "includes", "path", "found", "outside", "folder"),
                        "sub/more.txt yes - -\ngone.txt - - -\n../outside.txt - yes -\n"
                        "/etc/shadow - yes -\n. - - yes\nsub - - yes\n");
    assert_null(strstr(LIST(&clone, "indexes", "url"), "hunter2hunter2"));
}

static void requirements_in_tables(void **state) {
    (void)state;
    AUTO_CLONE struct clone clone = {.path = tree_new()};
    tree_write(clone.path, "/pyproject.toml",
               "[build-system]\nrequires = [\"setuptools>=61\"]\n[project]\n"
               "requires-python = \">=3.10\"\ndependencies = [\n  \"numpy>=2.2.2\", # why\n"
               "  'torch==2.7.0',\n]\n[project.optional-dependencies]\ndev = [\"pytest\"]\n"
               "[tool.poetry.dependencies]\npython = \"^3.9\"\npandas = \"^2.0.3\"\n"
               "scipy = {version = \"~1.14\", extras = [\"a\"]}\nzero = \"^0.2.3\"\nany = \"*\"\n"
               "[[tool.uv.index]]\nurl = \"https://example.org/cu128\"\n");
    tree_write(clone.path, "/uv.lock",
               "version = 1\n[[package]]\nname = \"numpy\"\nversion = \"2.3.0\"\n"
               "[[package]]\nversion = \"9\"\n");
    tree_write(clone.path, "/environment.yml",
               "name: x\ndependencies:\n  - python=3.10\n  - conda-forge::pytorch=2.1=py3\n"
               "  - numpy=1.26\n  - pip:\n    - transformers==4.51.3\n");
    tree_write(clone.path, "/setup.cfg",
               "[options]\npython_requires = >=3.8\ninstall_requires =\n  einops\n  peft==0.18.1\n"
               "[options.extras_require]\ngpu = triton\n");
    tree_write(clone.path, "/setup.py",
               "from setuptools import setup\nsetup(python_requires='>=3.7',\n"
               "      install_requires=['tqdm==4.0',\n                        \"rich\"])\n");
    tree_write(clone.path, "/Pipfile",
               "[packages]\nflask = \"==2.0\"\n[requires]\npython_version = \"3.11\"\n");
    read_with(&clone, NULL);
    assert_string_equal(LIST(&clone, "requirements", "name", "specifier", "group", "at"),
                        "flask ==2.0 - Pipfile:2\n"
                        "pytorch ==2.1 - environment.yml:4\n"
                        "numpy ==1.26.* - environment.yml:5\n"
                        "transformers ==4.51.3 - environment.yml:7\n"
                        "setuptools >=61 build pyproject.toml:2\n"
                        "numpy >=2.2.2 - pyproject.toml:6\n"
                        "torch ==2.7.0 - pyproject.toml:7\n"
                        "pytest  dev pyproject.toml:10\n"
                        "pandas >=2.0.3,<3 - pyproject.toml:13\n"
                        "scipy >=1.14,<1.15 - pyproject.toml:14\n"
                        "zero >=0.2.3,<0.3 - pyproject.toml:15\n"
                        "any  - pyproject.toml:16\n"
                        "einops  - setup.cfg:4\n"
                        "peft ==0.18.1 - setup.cfg:5\n"
                        "triton  gpu setup.cfg:7\n"
                        "tqdm ==4.0 - setup.py:3\n"
                        "rich  - setup.py:4\n"
                        "numpy ==2.3.0 - uv.lock:4\n");
    assert_string_equal(LIST(&clone, "pythons", "specifier"),
                        "==3.11.*\n==3.10.*\n>=3.10\n>=3.9,<4\n>=3.8\n>=3.7\n");
    assert_string_equal(LIST(&clone, "indexes", "url"), "https://example.org/cu128\n");
}

static void commands_and_where_they_run(void **state) {
    (void)state;
    AUTO_CLONE struct clone clone = {.path = tree_new()};
    tree_write(clone.path, "/a/run.py", "");
    tree_write(clone.path, "/a/results/parse.py", "");
    tree_write(clone.path, "/tools/go.sh", "cd ../a && python run.py; ./nothing.sh\n");
    tree_write(clone.path, "/Dockerfile",
               "FROM nvidia/cuda:12.1 AS x\nRUN apt-get update && \\\n  pip install vllm==0.8.1\n");
    tree_write(clone.path, "/README.md",
               "Text: cd gone; python no.py\n\n    git clone https://example.org/o/Code.git\n"
               "    cd Code\n    CUDA_VISIBLE_DEVICES=0 nohup python -u a/run.py --x 1 > log &\n\n"
               "```sh\n$ cd a\npython -m results.parse -m TAG\npython -m results.gone\n"
               "python -m pip install 'numpy>=2'\nbash ../tools/go.sh $HERE/x.sh\n"
               "torchrun --nproc 2 absent.py\ncd $DIR\npython whatever.py\n```\n"
               "```\npython results/parse.py\n```\nThen `python a/lost.py` runs.\n");
    read_with(&clone, NULL);
    assert_string_equal(LIST(&clone, "commands", "kind", "path", "found", "at"),
                        "script a/run.py yes README.md:5\n"
                        "module a/results/parse.py yes README.md:9\n"
                        "module a/results/gone.py - README.md:10\n"
                        "script tools/go.sh yes README.md:12\n"
                        "script a/absent.py - README.md:13\n"
                        "script a/results/parse.py yes README.md:18\n"
                        "script a/lost.py - README.md:20\n"
                        "script a/run.py yes tools/go.sh:1\n"
                        "script a/nothing.sh - tools/go.sh:1\n");
    assert_string_equal(LIST(&clone, "requirements", "name", "specifier", "at"),
                        "vllm ==0.8.1 Dockerfile:2\nnumpy >=2 README.md:11\n");
    assert_string_equal(LIST(&clone, "images", "image"), "nvidia/cuda:12.1\n");
}

static void files_that_code_names(void **state) {
    (void)state;
    AUTO_CLONE struct clone clone = {.path = tree_new()};
    tree_write(clone.path, "/.gitignore", "*.jsonl\n!kept.jsonl\n/out/\n");
    tree_write(clone.path, "/data/there.json", "{}");
    tree_write(clone.path, "/sub/x.py",
               "\"\"\"reads data/doc.json\"\"\"\n# open('data/comment.json')\n"
               "a = open('data/there.json')\nb = load(f'scores/{m}-x.pt')\n"
               "c = open('data/kept.jsonl')\nd = open('data/no.jsonl')\n"
               "with open('made/by.csv', 'w') as f: pass\ne = open('made/by.csv')\n"
               "print('see notes.txt')\ng = 'https://example.org/a.json'\n"
               "h = hf_hub_download('o/n', 'w/of-hub.pt')\n");
    read_with(&clone, NULL);
    assert_string_equal(LIST(&clone, "data", "path", "ignored", "at"),
                        "sub/scores/*-x.pt - sub/x.py:4\n"
                        "sub/data/kept.jsonl - sub/x.py:5\n"
                        "sub/data/no.jsonl .gitignore:1 sub/x.py:6\n");
}

static void python_files(void **state) {
    (void)state;
    AUTO_CLONE struct clone clone = {.path = tree_new()};
    tree_write(clone.path, "/pkg/__init__.py", "");
    tree_write(clone.path, "/pkg/seed.py", "import torch\ntorch.manual_seed(1)\n");
    tree_write(clone.path, "/main.py",
               "import os, numpy as np\nfrom pkg import seed\nfrom transformers import (\n"
               "    AutoModel,\n    AttentionInterface as A,\n)\n"
               "p.add_argument('-k', '--keep', choices=['a', 'b'])\n"
               "p.add_argument('--model', default='owner/name')\n"
               "m = AutoModel.from_pretrained(\n    'o/model', revision='abc')\n"
               "n = AutoModel.from_pretrained(path)\no = AutoModel.from_pretrained('./folder')\n"
               "snapshot_download(repo_id='o/data', repo_type='dataset')\nloss.backward()\n"
               "model(x, logits_to_keep=1)\nif __name__ == '__main__': pass\n");
    read_with(&clone, NULL);
    const json_t *main = json_array_get(json_get_array(clone.json, "python"), 0);
    struct clone script = {.json = json_incref((json_t *)(uintptr_t)main)};
    assert_string_equal(LIST(&script, "modules", "module", "name"),
                        "os -\nnumpy -\ntransformers AutoModel\ntransformers AttentionInterface\n");
    assert_string_equal(LIST(&script, "keywords", "name", "at"), "logits_to_keep main.py:15\n");
    assert_string_equal(LIST(&script, "works", "what", "at"), "backward main.py:14\n");
    assert_true(json_get_bool(main, "main", 0));
    const json_t *imports = json_get_array(main, "imports");
    assert_int_equal(json_array_size(imports), 2);
    assert_string_equal(json_string_value(json_array_get(imports, 1)), "pkg/seed.py");
    const json_t *option = json_array_get(json_get_array(main, "options"), 0);
    assert_string_equal(json_string_value(json_array_get(json_get_array(option, "flags"), 1)),
                        "--keep");
    assert_int_equal(json_array_size(json_get_array(option, "choices")), 2);
    assert_string_equal(LIST(&clone, "models", "id", "call", "revision", "dataset", "at"),
                        "owner/name default - - main.py:8\n"
                        "o/model from_pretrained yes - main.py:9\n"
                        "- from_pretrained - - main.py:11\n"
                        "o/data snapshot_download - yes main.py:13\n");
    json_decref(script.json);
}

static void builds_and_paths(void **state) {
    (void)state;
    AUTO_CLONE struct clone clone = {.path = tree_new()};
    tree_write(clone.path, "/setup.py",
               "x = ['-gencode', 'arch=compute_80,code=sm_80', "
               "'arch=compute_90,code=compute_90'] # sm_70\n"
               "os.environ['TORCH_CUDA_ARCH_LIST'] = '8.6 9.0a+PTX'\n"
               "prism_80 = 1\n");
    tree_write(clone.path, "/run.sh",
               "A=/home/someone/x B=$HOME/y /mnt/disk1/z # /home/comment\n"
               "curl https://example.org/home/page\ncd /data/sets\n"
               "ls /home/$USER/x\n");
    read_with(&clone, NULL);
    assert_string_equal(LIST(&clone, "architectures", "arch", "ptx"),
                        "8.0 -\n9.0 yes\n8.6 -\n9.0a -\n9.0a yes\n");
    assert_string_equal(LIST(&clone, "paths", "path", "at"),
                        "/home/someone/x run.sh:1\n/data/sets run.sh:3\n");
}

static void licences(void **state) {
    (void)state;
    static const struct {
        const char *text, *licence;
    } cases[] = {
        {"GNU GENERAL PUBLIC LICENSE\nVersion 3\n13. GNU Affero General Public License", "GPL-3.0"},
        {"GNU AFFERO GENERAL\n PUBLIC LICENSE Version 3, GNU General Public License", "AGPL-3.0"},
        {"Apache License\n  Version 2.0, January 2004", "Apache-2.0"},
        {"Redistribution and use in source and binary forms ... Neither the name of X ... endorse",
         "BSD-3-Clause"},
        {"All rights reserved.", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        AUTO_CLONE struct clone clone = {.path = tree_new()};
        tree_write(clone.path, "/part/LICENSE.txt", cases[i].text);
        tree_write(clone.path, "/license.py", "GNU GENERAL PUBLIC LICENSE version 3");
        read_with(&clone, NULL);
        const json_t *found = json_array_get(json_get_array(clone.json, "licences"), 0);
        const char *licence = json_get_text(found, "licence", NULL);
        assert_int_equal(json_array_size(json_get_array(clone.json, "licences")), 1);
        assert_false(json_get_bool(found, "top", 1));
        if (cases[i].licence == NULL)
            assert_null(licence);
        else
            assert_string_equal(licence, cases[i].licence);
    }
}

static bool has_limit(const struct clone *clone, const char *limit) {
    const json_t *limits = json_get_array(clone->json, "limits");
    for (size_t i = 0; i < json_array_size(limits); i++)
        if (strcmp(json_string_value(json_array_get(limits, i)), limit) == 0)
            return true;
    return false;
}

static void each_limit_is_said(void **state) {
    (void)state;
    AUTO_CLONE struct clone clone = {.path = tree_new()};
    for (int i = 0; i < 20; i++) {
        AUTO_FREE char *name = mem_printf("/f%02d.py", i);
        tree_write(clone.path, name, "import torch, flash_attn, numpy, scipy, transformers\n");
    }
    read_with(&clone, NULL);
    assert_true(json_get_bool(clone.json, "complete", 0));
    read_with(&clone, &(struct repository_limits){.entries = 10});
    assert_true(has_limit(&clone, "number of files"));
    assert_int_equal(json_get_int(clone.json, "files", -1), 10);
    read_with(&clone, &(struct repository_limits){.bytes = 200});
    assert_true(has_limit(&clone, "bytes in all"));
    assert_true(json_get_int(clone.json, "bytes", -1) <= 200);
    read_with(&clone, &(struct repository_limits){.file_bytes = 10});
    assert_true(has_limit(&clone, "size of a file"));
    read_with(&clone, &(struct repository_limits){.budget_ns = 1});
    assert_true(has_limit(&clone, "time"));
    assert_false(json_get_bool(clone.json, "complete", 1));
}

static void what_is_never_opened(void **state) {
    (void)state;
    AUTO_CLONE struct clone clone = {.path = tree_new()};
    AUTO_FREE char *fifo = mem_printf("%s/requirements.txt", clone.path);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    tree_link(clone.path, "/README.md", "/etc/passwd");
    tree_link(clone.path, "/sub/up", "..");
    tree_link(clone.path, "/sub/in.py", "real.py");
    tree_write(clone.path, "/sub/real.py", "");
    tree_write_bytes(clone.path, "/binary.py", "import a\0import b\n", 18);
    alarm(60); /* a pipe that is opened holds us up */
    read_with(&clone, NULL);
    alarm(0);
    const json_t *left = json_get_object(clone.json, "left_out");
    assert_int_equal(json_array_size(json_get_array(left, "special")), 1);
    assert_int_equal(json_array_size(json_get_array(left, "links_outside")), 1);
    assert_int_equal(json_get_int(left, "binary", -1), 1);
    assert_int_equal(json_array_size(json_get_array(clone.json, "python")), 1);
    struct err err = ERR_INIT;
    json_t *none = NULL;
    assert_int_equal(repository_read(fifo, NULL, &none, &err), -ENOTDIR);
    assert_string_equal(err.id, "repository-unreadable");
    assert_null(none);
}

/* Texts of each reader, with their bytes changed, cut and doubled: nothing is expected of them but
 * that reading ends. The same changes in every run. */
static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void change(uint32_t *random, const char *text, size_t length, struct strbuf *out) {
    static const char bytes[] = "\n\\\"'`[]{}()#;=<>,.*$- \t\r\xff~@+|&";
    strbuf_clear(out);
    strbuf_add(out, text, length);
    for (unsigned i = 0; i < 1 + next_random(random) % 8; i++) {
        size_t at = next_random(random) % (out->length + 1);
        unsigned kind = next_random(random) % 3;
        if (kind == 0 && at < out->length)
            out->data[at] = bytes[next_random(random) % (sizeof bytes - 1)];
        else if (kind == 1 && out->length > 0) {
            out->length = at;
            strbuf_add_char(out, bytes[next_random(random) % (sizeof bytes - 1)]);
        } else {
            AUTO_FREE char *copy = mem_strndup(strbuf_str(out) + at, out->length - at);
            strbuf_add_str(out, copy);
        }
        if (out->length > 4096)
            out->length = 4096;
    }
}

static void any_bytes(void **state) {
    (void)state;
    static const char *const names[] = {"/requirements.txt", "/pyproject.toml", "/environment.yml",
                                        "/run.sh",           "/README.md",      "/train.py",
                                        "/setup.cfg",        "/Dockerfile",     "/.gitignore"};
    AUTO_CLONE struct clone clone = {.path = tree_new()};
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    AUTO_STRBUF struct strbuf corpus = STRBUF_INIT;
    AUTO_FREE char *path =
        mem_printf("%s/requirements/corpus.txt", getenv("PROBELAUF_TEST_FIXTURES"));
    assert_int_equal(file_read(path, 1 << 20, &corpus), 0);
    uint32_t random = 20261130;
    for (unsigned round = 0; round < 120; round++) {
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            change(&random, strbuf_str(&corpus), corpus.length, &text);
            tree_write_bytes(clone.path, names[i], strbuf_str(&text), text.length);
        }
        read_with(&clone, NULL);
        assert_true(json_is_array(json_object_get(clone.json, "requirements")));
        AUTO_STRBUF struct strbuf out = STRBUF_INIT;
        json_add_compact(&out, clone.json); /* all of it is UTF-8 */
        assert_true(out.length > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requirement_lines),
        cmocka_unit_test(requirements_in_tables),
        cmocka_unit_test(commands_and_where_they_run),
        cmocka_unit_test(files_that_code_names),
        cmocka_unit_test(python_files),
        cmocka_unit_test(builds_and_paths),
        cmocka_unit_test(licences),
        cmocka_unit_test(each_limit_is_said),
        cmocka_unit_test(what_is_never_opened),
        cmocka_unit_test(any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
