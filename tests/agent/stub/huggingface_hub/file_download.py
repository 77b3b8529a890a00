# SPDX-License-Identifier: GPL-3.0-or-later
import os
import time


def http_get(url, temp_file):
    time.sleep(0.02)
    temp_file.write(b"w" * 100)


def hf_hub_download(repo, filename, folder):
    path = os.path.join(folder, filename)
    if not os.path.exists(path):
        with open(path, "wb") as target:
            http_get("https://example.invalid/" + repo, target)
    return path
