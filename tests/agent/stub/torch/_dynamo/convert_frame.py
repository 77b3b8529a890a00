# SPDX-License-Identifier: GPL-3.0-or-later
from ..nn.modules import module


def _compile(code, hooks):
    # what the compiler sees is part of the graph
    print("compiled", code.co_name, "with", len(module._global_forward_pre_hooks), "global hooks")
    return code


class Compiled(object):
    def __init__(self, function):
        self.function, self.code = function, None

    def __call__(self, *args):
        if self.code is None:
            self.code = _compile(self.function.__code__, None)
        return self.function(*args)
