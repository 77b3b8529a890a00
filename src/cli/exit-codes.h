/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exit codes of every command (DESIGN section 3). `run` passes the command's status through. */
#pragma once

enum exit_code {
    EXIT_CODE_DONE = 0,
    EXIT_CODE_ERROR = 1,
    EXIT_CODE_USAGE = 2,
    EXIT_CODE_OPEN_FACTS = 3,
    EXIT_CODE_NOT_YET = 4,
    EXIT_CODE_BUDGET = 124,
    EXIT_CODE_OWN_FAILURE = 125,
    EXIT_CODE_NOT_EXECUTABLE = 126,
    EXIT_CODE_NOT_FOUND = 127,
};
