# SPDX-License-Identifier: GPL-3.0-or-later
import os
import pickle
import warnings


def save(thing, f):
    with open(f, "wb") as target:
        pickle.dump(thing, target)


def load(f, map_location=None, *, weights_only=None):
    """Loads what save() wrote."""
    if weights_only is None:
        warnings.warn("torch.load with weights_only=False", FutureWarning, stacklevel=2)
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as source:
            return pickle.load(source)
    return pickle.load(f)
