# SPDX-License-Identifier: GPL-3.0-or-later
from .pipelines.pipeline_utils import DiffusionPipeline  # noqa: F401
