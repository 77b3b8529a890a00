# SPDX-License-Identifier: GPL-3.0-or-later
from .llama import Llama  # noqa: F401
