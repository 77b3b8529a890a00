# SPDX-License-Identifier: GPL-3.0-or-later
from .SentenceTransformer import SentenceTransformer  # noqa: F401
