#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# doctor on a clone of the code: synthetic clones in the shapes that PAPERS.md describes, hostile ones, and the example
# of this repository. What is said of which facts is tested in tests/doctor, what is read in tests/probe.
# shellcheck disable=SC2016 # "$MODEL" is for the clone's own script

load common

# findings ID: state, text and places of each, one a line.
findings() {
    json "'\n'.join(f['state'] + ': ' + f['text'] + ' @ ' + ', '.join(f['sources']) for f in d['findings'] if f['id'] == '$1')"
}

# fact ID: one suggestion as JSON, or null.
fact() {
    json "next((f for f in d['facts'] if f['id'] == '$1'), None)"
}

doctor() {
    run --separate-stderr probelauf doctor --only repo --json "$@"
    [ "$status" -eq 0 ]
}

# git, with nothing of the user's.
commit() {
    git -C "$1" init -q
    git -C "$1" add -A
    git -C "$1" -c user.name=T -c user.email=t@example.org -c commit.gpgsign=false commit -q -m state
}

linearard() {
    mkdir -p LinearARD/scripts
    cat >LinearARD/requirement.txt <<'TXT'
torch==2.9.0+cu128
transformers==4.45.2
peft==0.18.1
datasets==3.6.0
accelerate==1.12.0
numpy==2.2.6
tokenizers==0.20.3
triton==3.5.0
flash-attn==2.8.3+cu128torch2.9
tensorboard==2.20.0
TXT
    cat >LinearARD/train.py <<'PY'
import argparse

import torch
from transformers import AttentionInterface, AutoModelForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("--model-path", required=True)
parser.add_argument("--ctx-len", type=int, required=True)
parser.add_argument("--rope-type", choices=["linear", "yarn"])


def step(model, batch):
    loss = model(batch, logits_to_keep=1).loss
    loss.backward()


if __name__ == "__main__":
    args = parser.parse_args()
    AutoModelForCausalLM.from_pretrained(args.model_path)
PY
    printf 'python train.py --model-path meta-llama/Llama-2-7b \\\n    --ctx-len 4096\n' >LinearARD/scripts/train_linearard_llama2.sh
    cat >LinearARD/LICENSE <<'TXT'
MIT License

Permission is hereby granted, free of charge, to any person obtaining a copy
(...) shall be included in all copies (...)
THE SOFTWARE IS PROVIDED "AS IS"
TXT
}

fast_kvzip() {
    mkdir -p clone/prefill/utils/head_score clone/math clone/csrc
    printf 'transformers==4.51.3\nnumpy==1.26.4\n' >clone/prefill/requirements.txt
    printf 'transformers==4.51.3\nnumpy>=2.2.2\n' >clone/math/requirements.txt
    printf '*.jsonl\n' >clone/.gitignore
    printf 'MODEL=$1\ncd kvzip\npython feature.py -m $MODEL\n' >clone/prefill/train_gate.sh
    printf 'OUT = "/home/someone/gates"\n' >clone/prefill/feature.py
    printf 'files = {"aime24": "data/aime24.jsonl"}\n' >clone/math/run_math.py
    cat >clone/prefill/eval_chunk.py <<'PY'
import argparse

import torch
from transformers import AutoModelForCausalLM


def scores(model, name):
    return torch.load(f"utils/head_score/{model}-{name}.pt")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-m", "--model", default="Qwen/Qwen2.5-7B-Instruct-1M")
    parser.add_argument("-g", "--gate", choices=["fastkvzip", "head"])
    args = parser.parse_args()
    AutoModelForCausalLM.from_pretrained(args.model)
PY
    printf 'flags = ["-gencode", "arch=compute_80,code=sm_80", "arch=compute_90,code=sm_90"]\n' >clone/csrc/build.py
    printf 'all:\n\tnvcc -o kernel kernel.cu\n' >clone/csrc/Makefile
    printf 'Permission is hereby granted, free of charge, shall be included in all copies, the software is provided "as is"\n' >clone/csrc/LICENSE
    cat >clone/README.md <<'MD'
```bash
pip install torch==2.7.0 --index-url https://download.pytorch.org/whl/cu128
pip install flash-attn==2.7.3 --no-build-isolation
cd prefill
pip install -r requirements.txt
python -B eval_chunk.py -g fastkvzip -m Qwen/Qwen2.5-7B-Instruct-1M
python -B gone.py
```
MD
}

# A plan with these environments and one block.
plan_with() {
    probelauf init -q
    python - "$1" <<'PY'
import re, sys
text = open("probelauf.yaml").read()
for key in ("environments", "blocks", "code"):
    text = re.sub(r"(?m)^" + key + r":.*\n(?:[ #].*\n|\n)*", "", text)
open("probelauf.yaml", "w").write(text.rstrip() + "\n" + sys.argv[1] + "\n")
PY
    run probelauf check
    [ "$status" -ne 1 ]
}

@test "LinearARD's requirement lines: what it imports is newer than what it pins" {
    linearard
    doctor --repo LinearARD
    valid_schema doctor
    local found
    found=$(findings api-too-new)
    [[ "$found" == "warning: transformers==4.45.2 "*AttentionInterface*"4.51.0"*"open until a trial run"*"@ train.py:4, requirement.txt:2"* ]]
    [[ "$found" == *logits_to_keep*"@ train.py:13, requirement.txt:2" ]]
    [ "$(fact code.transformers-version | json_of '["state"]')" = open ]
}

# json_of EXPR: of the JSON that comes in.
json_of() {
    python -c 'import json, sys
print(eval("json.load(sys.stdin)" + sys.argv[1]))' "$1"
}

@test "LinearARD: local versions, licence, a model without config.json, no seed" {
    linearard
    doctor --repo LinearARD
    [[ "$(findings pin-local)" == *"torch==2.9.0+cu128"*"@ requirement.txt:1"* ]]
    [[ "$(findings pin-local)" == *"flash-attn==2.8.3+cu128torch2.9"*"@ requirement.txt:9"* ]]
    [ "$(fact code.licence | json_of '["value"]')" = MIT ]
    [ "$(fact code.licence | json_of '["source"]')" = LICENSE:1 ]
    [[ "$(findings model-format)" == open:*meta-llama/Llama-2-7b*"@ scripts/train_linearard_llama2.sh:1" ]]
    [[ "$(findings seed-missing)" == warning:*"train.py:14"* ]]
    [ "$(findings licence-none)$(findings pins-contradict)$(findings data-absent)" = "" ]
    # never a fact about access, only a question
    [ "$(fact weights.access | json_of '["state"]')" = open ]
}

@test "Fast KVzip's shape: two pins, a folder and files that are not there, no licence at the top" {
    fast_kvzip
    commit clone
    doctor --repo clone
    valid_schema doctor
    [[ "$(findings pins-contradict)" == "warning: "*numpy*">=2.2.2, ==1.26.4 @ math/requirements.txt:2, prefill/requirements.txt:2" ]]
    [[ "$(findings command-absent)" == *"the folder 'prefill/kvzip'"*"@ prefill/train_gate.sh:2"* ]]
    [[ "$(findings command-absent)" == *"the script 'prefill/gone.py'"*"@ README.md:7"* ]]
    [[ "$(findings data-absent)" == *"'math/data/aime24.jsonl'"*".gitignore:1 keeps it out"*"@ math/run_math.py:1"* ]]
    [[ "$(findings data-absent)" == *"'prefill/utils/head_score/*-*.pt'"*"@ prefill/eval_chunk.py:8"* ]]
    [[ "$(findings licence-none)" == open:* ]]
    [[ "$(findings licence-parts)" == known:*"csrc/LICENSE: MIT"* ]]
    [[ "$(findings absolute-paths)" == warning:*"/home/someone/gates"*"@ prefill/feature.py:1" ]]
    [[ "$(findings architectures)" == known:*"8.0, 9.0"* ]]
    [[ "$(findings compiler-needed)" == warning:*"@ csrc/Makefile:2" ]]
    [[ "$(findings revision-open)" == warning:*"@ prefill/eval_chunk.py:16" ]]
    # what is there is no finding
    [ "$(findings command-absent | grep -c eval_chunk)" -eq 0 ]
    [[ "$(fact code.commit | json_of '["value"]')" == "commit $(git -C clone rev-parse HEAD)" ]]
}

@test "each environment of the plan: CUDA-only code never fits a Mac or another accelerator" {
    fast_kvzip
    plan_with 'environments:
  - {id: mac, kind: macos}
  - {id: amd, kind: rented, gpu: AMD Instinct MI300X, accelerator: rocm}
  - {id: old, kind: own, accelerator: cuda, compute_capability: "7.5", driver: "470.82"}
  - {id: good, kind: rented, accelerator: cuda, compute_capability: "9.0", driver: "550.54", stack: {numpy: 1.26.4}}
  - {id: other, kind: rented, accelerator: cuda, stack: {numpy: 1.24.0}}'
    doctor --repo clone
    [ "$(json 'sorted({f["environment"] for f in d["findings"] if f["id"] == "environment-unfit"})')" = '["amd", "mac"]' ]
    [ "$(json 'sorted((f["environment"], f["state"]) for f in d["findings"] if f["id"] == "environment-architecture")')" = '[["good", "known"], ["old", "problem"], ["other", "open"]]' ]
    [ "$(json 'sorted((f["environment"], f["state"]) for f in d["findings"] if f["id"] == "environment-driver")')" = '[["good", "known"], ["old", "problem"], ["other", "open"]]' ]
    [ "$(json '[f["environment"] for f in d["findings"] if f["id"] == "environment-agrees"]')" = '["good"]' ]
    [ "$(json '[f["environment"] for f in d["findings"] if f["id"] == "environment-package"]')" = '["other"]' ]
}

@test "settings of the plan against the options of the code" {
    fast_kvzip
    plan_with 'blocks:
  - id: one
    kind: compare
    folder: clone/prefill
    command: python3 eval_chunk.py -m {model} -g {gate} --ratio {ratio}
    matrix:
      model: {values: [a/b], state: chosen}
      gate: {values: [head, snap], state: chosen}
      ratio: {values: [0.3], state: chosen, supported: yes}'
    doctor --repo .
    [[ "$(findings setting-offered)" == *"-m (model); used in: one @ clone/prefill/eval_chunk.py:13"* ]]
    [[ "$(findings setting-not-offered)" == "problem: "*"--ratio (ratio)"* ]]
    [[ "$(findings value-not-offered)" == *"'snap' is none of the values"*"@ clone/prefill/eval_chunk.py:14" ]]
    [[ "$(findings plan-contradicts)" == *"supports ratio"* ]]
    [[ "$(json 'd["snippet"]')" == *'# blocks.one.matrix.model: {supported: yes, supported_source: "clone/prefill/eval_chunk.py:13"}'* ]]
    # a script that takes what it does not know is left open
    sed -i 's/parse_args()/parse_known_args()/' clone/prefill/eval_chunk.py
    doctor --repo .
    [ "$(findings setting-not-offered)" = "" ]
    [[ "$(findings setting-open)" == open:*"--ratio"* ]]
}

@test "the snippet can be pasted, and is not suggested again" {
    fast_kvzip
    commit clone
    plan_with ''
    sed -i '/^facts:/,/^[a-z]/{/^facts:/d;/^[ #]/d}' probelauf.yaml
    run --separate-stderr probelauf doctor --only repo --repo clone --snippet
    [ "$status" -eq 0 ]
    has 'source_kind: repository'
    has 'accelerators: [cuda]'
    printf '%s\n' "$output" >>probelauf.yaml
    run probelauf check
    [ "$status" -eq 3 ]
    has code.licence
    doctor --repo clone
    [ "$(json 'd["facts"]')" = '[]' ]
    [ "$(json 'd["snippet"]')" = '' ]
}

@test "a plan that says otherwise is shown, an open fact is answered under another id" {
    linearard
    commit LinearARD
    plan_with ''
    sed -i '/^facts:/,/^[a-z]/{/^facts:/d;/^[ #]/d}' probelauf.yaml
    cat >>probelauf.yaml <<'YAML'
facts:
  - {id: code.licence, about: licence, state: known, value: Apache-2.0, source: "LICENSE", source_kind: repository, seen: 2026-11-30}
  - {id: code.commit, about: code, state: open, question: which commit?}
YAML
    doctor --repo LinearARD
    [[ "$(findings plan-contradicts)" == *"'Apache-2.0'; the clone shows: 'MIT'"* ]]
    [ "$(fact code.licence)" = null ]
    [[ "$(fact code.commit-2 | json_of '["answers"]')" == probelauf.yaml:* ]]
}

@test "a commit does not answer whether it matches the paper; another one contradicts" {
    linearard
    commit LinearARD
    head=$(git -C LinearARD rev-parse HEAD)
    plan_with ''
    sed -i '/^facts:/,/^[a-z]/{/^facts:/d;/^[ #]/d}' probelauf.yaml
    plan=$(<probelauf.yaml)
    ask() {
        printf '%s\nfacts:\n  - {id: code.version, about: code, state: open, question: "does commit %s match the paper?"}\n' \
            "$plan" "$1" >probelauf.yaml
        doctor --repo LinearARD
    }
    ask "$head"
    [ "$(findings plan-contradicts)" = "" ]
    [ "$(json '[f["id"] for f in d["facts"] if f["id"].startswith(("code.version", "code.commit-", "code.commit"))
          and f["id"] != "code.commands-absent"]')" = '[]' ]
    [ "$(json '[f["id"] for f in d["facts"] if f.get("answers")]')" = '[]' ]
    ask 7d78b34
    [[ "$(findings plan-contradicts)" == *"says of code.version: 'does commit 7d78b34 match"*"the clone shows: 'commit $head'"* ]]
    [ "$(json '[f["id"] for f in d["facts"] if f["id"] == "code.commit"]')" = '[]' ]
    # no commit is named: HEAD is a fact of its own, and the question stays
    ask "of the clone"
    [ "$(findings plan-contradicts)" = "" ]
    [ "$(fact code.commit | json_of '["value"]')" = "commit $head" ]
    [ "$(json '[f["id"] for f in d["facts"] if f.get("answers")]')" = '[]' ]
}

@test "entries go below the keys that the plan has: no key comes twice" {
    fast_kvzip
    commit clone
    plan_with ''
    sed -i '/^facts:/,/^[a-z]/{/^facts:/d;/^[ #]/d}' probelauf.yaml
    cat >>probelauf.yaml <<'YAML'
facts:
  - {id: other.one, about: other, state: open, question: what?}
YAML
    run --separate-stderr probelauf doctor --only repo --repo clone --snippet
    [ "$status" -eq 0 ]
    [[ "$output" =~ '# '[1-9][0-9]*" facts: below the plan's own 'facts:'" ]]
    [[ "$output" != *$'\nfacts:'* ]]
    count=$(grep -c '^  - id:' <<<"$output")
    [[ "${lines[0]}" == "# $count facts: "* ]]
    sed '/^# what the code needs/,$d' <<<"$output" >>probelauf.yaml
    run probelauf check
    [ "$status" -eq 3 ]
    has code.licence
}

@test "the example of this repository" {
    run --separate-stderr probelauf doctor --only repo --json --plan "$SOURCE/examples/kv-cache/probelauf.yaml"
    [ "$status" -eq 0 ]
    [ "$(json 'd["counts"]["problem"]')" -eq 0 ]
    [[ "$(findings setting-offered)" == *"--keep (keep)"*"generate.py:"* ]]
    [[ "$(findings seeds)" == *"generate.py:"* ]]
    [ "$(findings pins-contradict)$(findings absolute-paths)$(findings command-absent)" = "" ]
}

@test "a hostile clone: pipes, links, devices, huge and binary files, names that are commands" {
    mkdir -p hostile/sub
    mkfifo hostile/requirements.txt hostile/sub/train.py
    ln -s /etc/passwd hostile/README.md
    ln -s .. hostile/sub/up
    ln -s / hostile/root
    ln -s loop hostile/loop
    head -c 300000 /dev/zero >hostile/setup.py
    head -c 9000000 /dev/zero | tr '\0' 'x' >hostile/pyproject.toml
    printf 'a: &x [*x, *x]\n' >hostile/environment.yml
    touch "hostile/\$(touch pwned).py" $'hostile/new\nline.py' $'hostile/\033[31mred.sh'
    printf 'python \033]0;title\007evil.py\ncd ../../../../etc\npython -m x; touch pwned\n' >hostile/run.sh
    mkdir hostile/.git
    printf '[core]\n\tfsmonitor = "touch %s/pwned"\n\trepositoryformatversion = 0\n' "$PWD" >hostile/.git/config
    SECONDS=0
    doctor --repo hostile
    [ "$SECONDS" -lt 30 ]
    valid_schema doctor
    [ ! -e pwned ]
    [[ "$(findings special-files)" == warning:*"requirements.txt"* ]]
    [[ "$(findings links-outside)" == warning:*"README.md"*"root"* ]]
    [[ "$(findings repository-incomplete)" == open:*"size of a file"* ]]
    run probelauf doctor --only repo -v --repo hostile
    [ "$status" -eq 0 ]
    lacks $'\033]0'
}

@test "what is looked at: --repo, --only, and what is no clone" {
    run probelauf doctor --only both
    fails 2 usage-value
    run probelauf doctor --only machine --repo .
    fails 2 usage-value
    run probelauf doctor --repo nowhere
    fails 1 repository-unreadable
    printf x >file
    run probelauf doctor --repo file
    fails 1 repository-unreadable
    mkdir empty
    doctor --repo empty
    [[ "$(findings repository-no-code)" == open:* ]]
    [ "$(json 'd["facts"]')" = '[]' ]
    [ "$(json '{f["topic"] for f in d["findings"]} <= {"repository"}')" = true ]
    # without a plan and --repo the machine alone, as ever
    run --separate-stderr probelauf doctor --json --only machine
    [ "$(json '"repository" not in {f["topic"] for f in d["findings"]}')" = true ]
    [ "$(json 'd["findings"][0]["topic"]')" = machine ]
}

@test "findings and suggestions are the same in every language" {
    fast_kvzip
    doctor --repo clone
    local english=$output
    run --separate-stderr env PROBELAUF_LANG=ko "$PROBELAUF" doctor --only repo --json --repo clone
    [ "$output" = "$english" ]
}

@test "for people: a screen of it, and all with -v" {
    fast_kvzip
    run probelauf doctor --only repo --repo clone
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -le 50 ]
    has "with -v"
    has "probelauf doctor --snippet"
    run probelauf doctor --only repo --repo clone -v
    has "facts:"
    lacks "with -v"
}

@test "requirements outside of the clone are open; a folder is no file of requirements" {
    mkdir -p clone
    printf -- '-r ../outside.txt\n-r /etc/shadow\n-r .\n-r gone.txt\n' >clone/requirements.txt
    touch outside.txt
    doctor --repo clone
    [[ "$(findings include-outside)" == *"open"*"'../outside.txt' lie outside"*"'/etc/shadow' lie outside"* ]]
    [[ "$(findings include-absent)" == *"problem"*"'.' is named as a file of requirements and is a folder"* ]]
    [ "$(findings include-absent | grep -c outside)" -eq 0 ]
}
