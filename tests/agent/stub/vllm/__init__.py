# SPDX-License-Identifier: GPL-3.0-or-later
from .entrypoints.llm import LLM  # noqa: F401
