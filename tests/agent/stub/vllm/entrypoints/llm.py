# SPDX-License-Identifier: GPL-3.0-or-later
import torch


class LLM(object):
    def __init__(self, model):
        self.model = torch.nn.Linear(1000)
        self.model(1)  # a profiling run, part of loading

    def generate(self, prompts):
        return [self.model(each) for each in prompts]
