#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python hook in a real PyTorch 2 on a real GPU: the script's own output is equal without and with it, and what the
hook read of the allocator is what the script read itself.

    python-hook.py FOLDER [PYTHON]     FOLDER: the hook's files

77: no GPU, or no Python with a PyTorch 2 that was built for it."""

import json
import os
import subprocess
import sys
import tempfile

SCRIPT = r"""
import json, os, sys, torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(8)])

    def forward(self, x):
        return self.layers(x)

    @classmethod
    def from_pretrained(cls, path):
        net = cls()
        net.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        return net.to("cuda").eval()

def counts():
    stats = torch.cuda.memory_stats()
    return [stats[name + "_bytes.all." + kind] for name in ("allocated", "reserved") for kind in ("current", "peak")]

def worker(*_):
    net = Net().to("cuda")
    net(torch.ones(4, 1024, device="cuda"))

if __name__ == "__main__":
    torch.manual_seed(1)
    torch.save(Net().state_dict(), "net.pt")
    print(torch.cuda.is_initialized())
    net = Net.from_pretrained("net.pt")
    loaded = counts()
    torch.cuda.reset_peak_memory_stats()
    with torch.no_grad():
        x = torch.ones(4096, 1024, device="cuda")
        y = net(x)
        fast = torch.compile(net) if sys.argv[1] == "compile" else net
        y = fast(x)
    print(y.float().sum().item() > -1e30, torch.cuda.max_memory_allocated() > loaded[1])
    print(json.dumps({"loaded": loaded, "end": counts()}))
    try:
        torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError:
        print("caught", torch.cuda.memory_stats()["num_ooms"])
    if sys.argv[1] == "spawn":
        import torch.multiprocessing
        torch.multiprocessing.spawn(worker, nprocs=2)
"""


def start(python, folder, mode, hook):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PROBELAUF_")}
    marks = os.path.join(folder, "marks")
    with open(marks, "w", encoding="ascii"):
        pass
    if hook is not None:
        given = environment.get("PYTHONPATH")
        environment.update(PROBELAUF_MARKS=marks, PYTHONPATH=hook + (":" + given if given else ""))
    done = subprocess.run([python, os.path.join(folder, "work.py"), mode], cwd=folder, env=environment, check=False,
                          capture_output=True, text=True, timeout=500)
    with open(marks, encoding="ascii") as source:
        said = [(int(line.split(" ")[0].split("@")[1]), json.loads(line.split(" ", 3)[3])) for line in source]
    return done, said


def check(python, folder, hook, mode):
    bare, _ = start(python, folder, mode, None)
    done, said = start(python, folder, mode, hook)
    assert bare.returncode == 0, bare.stderr
    assert (bare.stdout, bare.returncode) == (done.stdout, done.returncode), (bare, done)
    # compilers warn of what they find in their caches; a traceback or a warning of ours would be new
    assert len(done.stderr.splitlines()) <= len(bare.stderr.splitlines()), done.stderr
    own = json.loads(done.stdout.splitlines()[2])
    main = said[0][0]
    events = [data for pid, data in said if pid == main]
    print(mode, "\n".join(json.dumps(each) for each in events), sep="\n")
    assert [each for each in events if each["event"] in ("trouble", "limit")] == []
    phases = ["%s %s" % (each["event"], each["phase"]) for each in events if each["event"] in ("begin", "end")]
    assert phases[-1] == "begin compute" and set(phases[:-1]) == {"begin load", "end load"}, phases
    memory = [each for each in events if each["event"] == "memory" and each["device"] == 0]
    four = [[each[key] for key in ("allocated", "allocated_peak", "reserved", "reserved_peak")] for each in memory]
    load = [one for each, one in zip(memory, four) if each.get("phase") == "load"][-1]
    assert load == own["loaded"], (load, own)
    reset = [one for each, one in zip(memory, four) if each["moment"] == "reset"]
    assert reset == [own["loaded"]], (reset, own)
    last = memory[-1]
    assert last["moment"] == "exit" and last["ooms"] == 1 and four[-1][1] >= own["end"][1], last
    assert last.get("uuid") or "uuid" not in last
    if mode == "spawn":
        exits = {pid for pid, data in said if data.get("moment") == "exit" and pid != main}
        assert len(exits) == 2, said


def main():
    hook = os.path.abspath(sys.argv[1])
    python = sys.argv[2] if len(sys.argv) > 2 else "python3"
    asked = subprocess.run([python, "-c", "import torch; assert int(torch.__version__.split('.')[0]) >= 2;"
                            "assert torch.cuda.is_available(); print(torch.__version__, torch.cuda.get_device_name(0))"],
                           capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        print("no PyTorch 2 with a GPU:", (asked.stderr.strip().splitlines() or ["?"])[-1])
        return 77
    print(asked.stdout.strip())
    for mode in ("plain", "spawn", "compile"):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "work.py"), "w", encoding="ascii") as target:
                target.write(SCRIPT)
            check(python, folder, hook, mode)
    return 0


if __name__ == "__main__":
    sys.exit(main())
