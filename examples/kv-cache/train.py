# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains the model of this example on the licence texts that every Debian machine has, and writes it as GGUF.

    /usr/bin/python3 train.py tiny.gguf --steps 1600
"""
import argparse
import glob
import os
import time

import torch
import torch.nn.functional as F

import tinyllama

SEQUENCE, BATCH, RATE = tinyllama.CONTEXT, 6, 2e-3


def corpus():
    paths = sorted(path for path in glob.glob("/usr/share/common-licenses/*") if os.path.isfile(path) and not os.path.islink(path))
    texts = []
    for path in paths:
        with open(path, "rb") as source:
            texts.append(source.read())
    return torch.tensor(tinyllama.encode(b"\n\n".join(texts)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("output")
    parser.add_argument("--steps", type=int, default=1600)
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    data, model = corpus(), tinyllama.TinyLlama()
    print("tokens", len(data), "parameters", sum(value.numel() for value in model.parameters()), flush=True)
    optimizer = torch.optim.AdamW(model.parameters(), RATE)
    begin = time.monotonic()
    for step in range(options.steps):
        for group in optimizer.param_groups:
            group["lr"] = RATE * max(0.05, 1 - step / options.steps)
        starts = torch.randint(0, len(data) - SEQUENCE - 1, (BATCH,))
        inputs = torch.stack([data[at : at + SEQUENCE] for at in starts])
        targets = torch.stack([data[at + 1 : at + SEQUENCE + 1] for at in starts])
        loss = F.cross_entropy(model(inputs).reshape(-1, tinyllama.VOCABULARY), targets.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 200 == 199:
            print("step %d loss %.3f after %.0f s" % (step + 1, loss.item(), time.monotonic() - begin), flush=True)
            tinyllama.save(model, options.output)
    tinyllama.save(model, options.output)


if __name__ == "__main__":
    main()
