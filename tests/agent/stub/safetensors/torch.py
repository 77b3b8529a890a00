# SPDX-License-Identifier: GPL-3.0-or-later
from safetensors import safe_open


def load_file(filename, device="cpu"):
    with safe_open(filename) as source:
        return {"bytes": len(source.read())}
