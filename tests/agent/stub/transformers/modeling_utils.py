# SPDX-License-Identifier: GPL-3.0-or-later
import importlib.util
import os
import time

import torch
from huggingface_hub.file_download import hf_hub_download
from safetensors.torch import load_file

HAVE_FLAX = importlib.util.find_spec("flax") is not None


class PreTrainedModel(torch.nn.Module):
    def __init__(self, nbytes):
        super().__init__()
        self.layer = torch.nn.Linear(nbytes)

    @classmethod
    def from_pretrained(cls, name, *, device_map=None, folder="."):
        """Loads the weights of NAME."""
        path = os.path.join(folder, name)
        if not os.path.exists(path):
            path = hf_hub_download("someone/model", name, folder)
        if os.path.getsize(path) == 0:
            raise ValueError("no weights in " + name)
        model = cls(load_file(path)["bytes"])
        time.sleep(0.05)
        return model.to(device_map) if device_map else model

    def forward(self, x):
        return self.layer(x)

    def generate(self, x, steps=3):
        for _ in range(steps):
            x = self(x)
        return x
