# SPDX-License-Identifier: GPL-3.0-or-later
"""Greedy generation with a key-value cache that may be shortened after the prompt: the experiment.

    /usr/bin/python3 generate.py --policy full --reference reference.json
    /usr/bin/python3 generate.py --policy evict --keep 0.5 --reference reference.json
    /usr/bin/python3 generate.py --policy recent --keep 0.3 --reference reference.json

full    keeps every position: the reference, which it writes; the others are compared with it
evict   keeps, per layer, the positions that the end of the prompt paid most attention to
recent  keeps the first four positions and the most recent ones

It prints tokens per second, the bytes of the cache and how much of the text agrees with the reference, and
reports its phases and results by `probelauf mark` when it runs inside `probelauf run`.
"""
import argparse
import json
import os
import subprocess
import time

import torch

import tinyllama

HERE = os.path.dirname(os.path.abspath(__file__))
FIRST_KEPT = 4
OBSERVERS = 16


def mark(*words):
    """One mark for the run around us; outside `probelauf run` nothing happens."""
    if os.environ.get("PROBELAUF_MARKS"):
        subprocess.run([os.environ["PROBELAUF"], "mark", *words], check=False)


def kept_positions(policy, share, attention):
    """Indices of the prompt positions that stay in one layer's cache. attention: 1 x heads x new x total."""
    total = attention.shape[-1]
    count = max(FIRST_KEPT + 1, round(total * share))
    if policy == "full" or count >= total:
        return torch.arange(total)
    if policy == "recent":
        return torch.cat((torch.arange(FIRST_KEPT), torch.arange(total - (count - FIRST_KEPT), total)))
    # What the last positions of the prompt looked at is what the continuation will look at; they themselves stay.
    received = attention[:, :, -OBSERVERS:].sum(dim=(0, 1, 2))
    received[-OBSERVERS:] = float("inf")
    return received.topk(max(count, OBSERVERS)).indices.sort().values


def shorten(cache, attention, policy, share):
    return [
        tuple(part[:, :, kept_positions(policy, share, seen)] for part in past)
        for past, seen in zip(cache, attention)
    ]


def cache_bytes(cache):
    return sum(part.numel() * part.element_size() for past in cache for part in past)


@torch.no_grad()
def generate(model, prompt, count, options, device):
    """Returns (new tokens, cache bytes right after the prompt, seconds of prefill, seconds of decoding)."""
    begin = time.monotonic()
    logits, cache, attention = model.step(torch.tensor([prompt], device=device), 0, None)
    cache = shorten(cache, attention, options.policy, options.keep)
    held, middle = cache_bytes(cache), time.monotonic()
    tokens = [logits.argmax().item()]
    for position in range(len(prompt), len(prompt) + count - 1):
        logits, cache, _ = model.step(torch.tensor([[tokens[-1]]], device=device), position, cache)
        tokens.append(logits.argmax().item())
    return tokens, held, middle - begin, time.monotonic() - middle


def agreement(texts, reference):
    """Share of generated tokens before the first difference from the reference text."""
    same = total = 0
    for mine, theirs in zip(texts, reference):
        total += len(theirs)
        for ours, other in zip(mine, theirs):
            if ours != other:
                break
            same += 1
    return same / total


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--policy", choices=("full", "evict", "recent"), default="full")
    parser.add_argument("--keep", type=float, default=1.0, metavar="SHARE", help="share of the prompt's cache that stays")
    parser.add_argument("--tokens", type=int, default=96, help="new tokens per prompt")
    parser.add_argument("--prompts", default=os.path.join(HERE, "prompts.txt"))
    parser.add_argument("--model", default=os.path.join(HERE, "tiny.gguf"))
    parser.add_argument("--repeat", type=int, default=1, help="passes over the prompts")
    parser.add_argument("--context", type=int, default=tinyllama.CONTEXT, help="tokens of a prompt at most")
    parser.add_argument("--reference", metavar="FILE", help="written by --policy full, read by the others")
    options = parser.parse_args()
    if not 0 < options.keep <= 1:
        parser.error("--keep takes a share above 0 and up to 1")
    if options.policy == "full" and options.keep != 1:
        parser.error("--policy full keeps everything")
    return options


def main():
    options = parse()
    torch.manual_seed(1)
    torch.set_num_threads(1)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    mark("load")
    model = tinyllama.load(options.model, device)
    mark("preprocess")
    with open(options.prompts, "rb") as source:
        prompts = [tinyllama.encode(line.rstrip(b"\n")) for line in source if line.strip()]
    room = min(tinyllama.CONTEXT - options.tokens, options.context)
    prompts = [prompt[:room] for prompt in prompts]
    mark("compute")
    texts, held, prefill, decode = [], 0, 0.0, 0.0
    for _ in range(options.repeat):
        texts = []
        for prompt in prompts:
            tokens, size, before, after = generate(model, prompt, options.tokens, options, device)
            texts.append(tokens)
            held, prefill, decode = max(held, size), prefill + before, decode + after
    mark("evaluate")
    speed = options.repeat * len(texts) * (options.tokens - 1) / decode
    results = [("tokens_per_second", "%.1f" % speed, "token/s"), ("cache_bytes", str(held), "byte"),
               ("prefill_seconds", "%.4f" % prefill, "s")]
    if options.reference and options.policy != "full":
        with open(options.reference) as source:
            results.append(("agreement", "%.4f" % agreement(texts, json.load(source)), "1"))
    print("device %s, policy %s, keep %.2f, %d prompts" % (device, options.policy, options.keep, len(prompts)))
    for name, value, unit in results:
        print("%-18s %s %s" % (name, value, unit))
        mark("--result", "%s=%s %s" % (name, value, unit))
    print("first text:", tinyllama.decode(texts[0]).decode("utf-8", "replace").replace("\n", " ")[:70])
    mark("--items", str(options.repeat * len(prompts)))
    mark("--length", str(max(len(prompt) for prompt in prompts)))
    mark("--batch", "1")
    if options.reference and options.policy == "full":
        mark("write")
        os.makedirs(os.path.dirname(os.path.abspath(options.reference)), exist_ok=True)
        with open(options.reference, "w") as out:
            json.dump(texts, out)
        mark("--end")


if __name__ == "__main__":
    main()
