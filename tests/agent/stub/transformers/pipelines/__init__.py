# SPDX-License-Identifier: GPL-3.0-or-later
from ..models.auto.modeling_auto import AutoModelForCausalLM


def pipeline(task, model=None, **others):
    return AutoModelForCausalLM.from_pretrained(model, **others).generate
