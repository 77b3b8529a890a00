# SPDX-License-Identifier: GPL-3.0-or-later
from .module import Module


class Linear(Module):
    def __init__(self, nbytes):
        super().__init__()
        import torch

        self.weight = torch.Tensor(nbytes)

    def forward(self, x):
        return x + 1


class ReLU(Module):
    def forward(self, x):
        return max(x, 0)
