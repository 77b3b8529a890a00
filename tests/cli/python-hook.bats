#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-3.0-or-later
# The Python hook through the shipped program: embedded, unpacked, loaded by Python, read back. What it does to the program
# itself is tested in tests/agent, in every interpreter.
load run-common

python=/usr/bin/python3

setup() {
    common_setup
    : "${CHILD:?set CHILD to the built child program}"
    [ -x "$python" ] || skip "$python is not there"
    cp -r "$SOURCE/tests/agent/stub" "$BATS_TEST_TMPDIR/stub"
    export PYTHONPATH=$BATS_TEST_TMPDIR/stub PYTHONDONTWRITEBYTECODE=1
    cat >work.py <<'END'
import time
from transformers import AutoModelForCausalLM
time.sleep(0.1)
model = AutoModelForCausalLM.from_pretrained("model.safetensors")
time.sleep(0.1)
for step in range(5):
    print(step, model.generate(step))
    time.sleep(0.05)
END
    head -c 5000 /dev/zero >model.safetensors
}

# What the hook said, by its own key: said event, said phase …
said() {
    record MARK | python -c 'import json, sys
for line in sys.stdin:
    mark = json.loads(line.split(" MARK ", 1)[1])
    if mark.get("verb") == "agent" and mark.get("name") == "python-hook" and sys.argv[1] in mark["data"]:
        print(mark["data"][sys.argv[1]])' "$1"
}

phase() {
    shown "[d['time']['phases']['$1'][k] for k in ('state', 'method')]"
}

# An unedited script prints and returns the same, and load and compute are apart.
apart() {
    "$python" "$@" >bare.out 2>bare.err
    probelauf run -q -- "$python" "$@" >run.out 2>run.err
    cmp bare.out run.out
    cmp bare.err run.err
    [ "$(shown "sorted({p['source'] for p in d['time']['phase_list'] if p['name'] in ('load', 'compute')})")" = '["python-hook"]' ]
    [ "$(shown "d['time']['phases']['load']['state'] + ' ' + d['time']['phases']['compute']['state']")" = "measured measured" ]
}

@test "an unedited script has its load and its compute apart" {
    apart work.py
    # from_pretrained sleeps for 50 ms, the five steps for 250 ms
    [ "$(shown "0.04 < d['time']['phases']['load']['value'] < 10")" = true ]
    [ "$(shown "0.2 < d['time']['phases']['compute']['value'] < 10")" = true ]
    [ "$(said event | tr '\n' ' ')" = "hello begin file end begin " ]
    [ "$(shown "[(f['path'].rpartition('/')[2], f['bytes']) for f in d['cache']['files']]")" = '[["model.safetensors", 5000]]' ]
}

@test "the same from standard input, as a module and in a child" {
    probelauf run -q -- "$python" - <work.py
    [ "$(shown "d['time']['phases']['load']['state']")" = measured ]
    PYTHONPATH=$PYTHONPATH:. apart -m work
    apart -c "import subprocess, sys; subprocess.run([sys.executable, 'work.py'], check=True)"
    [ "$(said event | grep -c hello)" -eq 2 ]
}

@test "what the script prints of its own peaks is unchanged, and ours agree" {
    cat >peaks.py <<'END'
import torch
from transformers import AutoModelForCausalLM
model = AutoModelForCausalLM.from_pretrained("model.safetensors", device_map="cuda:0")
print("load peak", torch.cuda.max_memory_allocated())
torch.cuda.reset_peak_memory_stats()
model(1)
torch.Tensor(70000, "cuda:0")
print("compute peak", torch.cuda.max_memory_allocated())
END
    export STUB_GPUS=1
    apart peaks.py
    [ "$(cat run.out)" = "CUDA begins
load peak 5000
compute peak 75000" ]
    [ "$(said allocated_peak | tr '\n' ' ')" = "5000 5000 5000 75000 " ]
    [ "$(said moment | tr '\n' ' ')" = "phase-end reset phase-end exit " ]
}

@test "PyTorch itself" {
    PYTHONPATH='' "$python" -c 'import torch' 2>/dev/null || skip "python3-torch is not installed"
    unset PYTHONPATH
    cat >net.py <<'END'
import sys, torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = torch.nn.Linear(300, 300), torch.nn.Linear(300, 3)

    def forward(self, x):
        return self.last(torch.relu(self.first(x)))

    @classmethod
    def from_pretrained(cls, path):
        net = cls()
        net.load_state_dict(torch.load(path, map_location="cpu"))
        return net.to("cpu").eval()

torch.manual_seed(1)
torch.set_num_threads(1)
if sys.argv[1:]:
    torch.save(Net().state_dict(), "net.pt")
    sys.exit()
net = Net.from_pretrained("net.pt")
with torch.no_grad():
    for step in range(20):
        print(step, net(torch.full((2, 300), float(step))).tolist())
print(torch.cuda.is_initialized(), torch.cuda.max_memory_allocated())
try:
    torch.load("absent.pt")
except FileNotFoundError:
    import traceback
    traceback.print_exc()
END
    "$python" net.py save
    apart net.py
    [ "$(said what | sort -u | tr '\n' ' ')" = "Net.load_state_dict Net.to forward of Net torch.load " ]
    [ "$(shown "d['cache']['files'][0]['bytes']")" = "$(stat -c %s net.pt)" ]
}

@test "what keeps the hook out is said" {
    probelauf run -q -- "$python" -I -c 'print(1)'
    [ "$(phase load)" = '["open", null]' ] || [ "$(shown "d['time']['phases']['load']['state']")" = open ]
    [ -z "$(said event)" ]
    run probelauf show @1
    has "-I"
    PROBELAUF_PYTHON=0 probelauf run -q -- "$python" work.py
    [ "$(shown "d['time']['phases']['load']['state']")" = open ]
    [ -z "$(said event)" ]
    run -0 record START
    has '"python-hook":{"on":false'
    # switched off within the run
    probelauf run -q -- env PROBELAUF_PYTHON=0 "$python" work.py
    [ "$(said event)" = off ]
    [ "$(shown "d['time']['phases']['load']['state']")" = open ]
}

@test "sys.path and an existing sitecustomize are as without" {
    mkdir site
    echo 'print("theirs"); import sys; print(sys.path)' >site/sitecustomize.py
    for given in "$PWD/site" "$PWD/site:$PYTHONPATH" ""; do
        PYTHONPATH=$given "$python" -c 'import sys; print(sys.path, "sitecustomize" in sys.modules)' >bare.out
        PYTHONPATH=$given probelauf run -q -- "$python" -c 'import sys; print(sys.path, "sitecustomize" in sys.modules)' >run.out
        cmp bare.out run.out
        [ "$(said event)" = hello ]
    done
}

@test "a mark of the user wins over the hook" {
    sed -i '1i import os\ndef mark(name): open(os.environ["PROBELAUF_MARKS"], "a").write("- phase %s\\n" % name)' work.py
    sed -i 's/^model = /mark("data")\nmodel = /' work.py
    probelauf run -q -- "$python" work.py
    [ "$(shown "sorted({p['source'] for p in d['time']['phase_list']})")" != '["python-hook"]' ]
    [ "$(shown "d['time']['phases']['data']['state']")" = measured ]
}

@test "a worker that is killed leaves what it had loaded" {
    export STUB_GPUS=1
    cat >killed.py <<'END'
import multiprocessing, os, signal
def work():
    from transformers import AutoModelForCausalLM
    model = AutoModelForCausalLM.from_pretrained("model.safetensors", device_map="cuda:0")
    model(1)
    os.kill(os.getpid(), signal.SIGKILL)
if __name__ == "__main__":
    worker = multiprocessing.get_context("fork").Process(target=work)
    worker.start()
    worker.join()
    print(worker.exitcode)
END
    apart killed.py
    [ "$(tail -1 run.out)" = -9 ]
    [ "$(said allocated_peak | tr '\n' ' ')" = "5000 5000 " ]
}
