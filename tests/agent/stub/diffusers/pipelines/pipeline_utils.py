# SPDX-License-Identifier: GPL-3.0-or-later
from ..models.modeling_utils import ModelMixin


class DiffusionPipeline(object):
    @classmethod
    def from_pretrained(cls, name):
        pipe = cls()
        pipe.unet, pipe.vae = ModelMixin.from_pretrained(name), ModelMixin.from_pretrained(name)
        return pipe

    def to(self, where):
        self.unet.to(where)
        self.vae.to(where)
        return self

    def __call__(self, prompt):
        return self.vae(self.unet(prompt))
