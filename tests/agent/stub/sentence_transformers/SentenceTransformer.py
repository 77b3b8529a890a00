# SPDX-License-Identifier: GPL-3.0-or-later
import torch


class SentenceTransformer(torch.nn.Module):
    def __init__(self, name):
        super().__init__()
        self.weight = torch.Tensor(500)

    def forward(self, x):
        return x

    def encode(self, texts):
        return [self(each) for each in texts]
