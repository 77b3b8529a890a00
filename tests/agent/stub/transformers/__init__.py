# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for transformers: a lazy module of lazy modules, as there."""
import importlib
import sys
import types


class _LazyModule(types.ModuleType):
    _places = {
        "PreTrainedModel": "modeling_utils",
        "AutoModelForCausalLM": "models.auto.modeling_auto",
        "pipeline": "pipelines",
    }

    def __getattr__(self, name):
        if name not in self._places:
            raise AttributeError(name)
        value = getattr(importlib.import_module("transformers." + self._places[name]), name)
        setattr(self, name, value)
        return value


_lazy = _LazyModule(__name__, __doc__)
_lazy.__file__, _lazy.__path__, _lazy.__spec__ = __file__, __path__, __spec__
sys.modules[__name__] = _lazy
