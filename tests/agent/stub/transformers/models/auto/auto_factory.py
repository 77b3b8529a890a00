# SPDX-License-Identifier: GPL-3.0-or-later
from ...modeling_utils import PreTrainedModel


class _BaseAutoModelClass(object):
    @classmethod
    def from_pretrained(cls, name, *arguments, **others):
        return PreTrainedModel.from_pretrained(name, *arguments, **others)
