# SPDX-License-Identifier: GPL-3.0-or-later
from .auto_factory import _BaseAutoModelClass


class AutoModelForCausalLM(_BaseAutoModelClass):
    pass
