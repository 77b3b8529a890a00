# SPDX-License-Identifier: GPL-3.0-or-later
import shutil


def download_url_to_file(url, dst):
    shutil.copyfile(url, dst)
