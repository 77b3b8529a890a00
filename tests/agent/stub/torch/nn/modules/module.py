# SPDX-License-Identifier: GPL-3.0-or-later
from collections import OrderedDict

_global_forward_pre_hooks = OrderedDict()


class RemovableHandle(object):
    next_id = 0

    def __init__(self, hooks):
        self.hooks, self.id = hooks, RemovableHandle.next_id
        RemovableHandle.next_id += 1

    def remove(self):
        self.hooks.pop(self.id, None)


def register_module_forward_pre_hook(hook):
    handle = RemovableHandle(_global_forward_pre_hooks)
    _global_forward_pre_hooks[handle.id] = hook
    return handle


class Module(object):
    def __init__(self):
        self.training = True

    def children(self):
        return [each for each in vars(self).values() if isinstance(each, Module)]

    def parameters(self, recurse=True):
        import torch

        for each in vars(self).values():
            if isinstance(each, torch.Tensor):
                yield each
        for child in self.children():
            for each in child.parameters():
                yield each

    def to(self, where):
        """Moves the parameters."""
        import torch

        for name, each in list(vars(self).items()):
            if isinstance(each, torch.Tensor):
                setattr(self, name, each.to(where))
        for child in self.children():
            child.to(where)
        return self

    def cuda(self, device=0):
        return self.to("cuda:%d" % device)

    def load_state_dict(self, state):
        vars(self).update(state)

    def _call_impl(self, *args):
        for hook in tuple(_global_forward_pre_hooks.values()):
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        return self.forward(*args)

    __call__ = _call_impl
