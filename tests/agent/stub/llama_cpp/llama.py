# SPDX-License-Identifier: GPL-3.0-or-later


class Llama(object):
    def __init__(self, model_path):
        with open(model_path, "rb") as source:
            self.size = len(source.read())

    def generate(self, tokens):
        for each in tokens:
            yield each + 1

    def __call__(self, prompt):
        return list(self.generate(prompt))
