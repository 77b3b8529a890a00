# SPDX-License-Identifier: GPL-3.0-or-later
import torch


class ModelMixin(torch.nn.Module):
    @classmethod
    def from_pretrained(cls, name):
        model = cls()
        model.weight = torch.Tensor(1000)
        return model

    def forward(self, x):
        return x
