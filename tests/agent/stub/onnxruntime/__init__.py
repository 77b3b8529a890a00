# SPDX-License-Identifier: GPL-3.0-or-later
from .capi.onnxruntime_inference_collection import InferenceSession  # noqa: F401
