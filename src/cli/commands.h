/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One command = one file cmd-NAME.c = one entry of cli_commands (main.c). */
#pragma once

#include "cli/opt.h"

extern const struct command command_run, command_mark, command_log, command_show, command_compare,
    command_annotate, command_explain, command_estimate, command_next, command_decide,
    command_import, command_export, command_ledger, command_session, command_init, command_doctor,
    command_check, command_block, command_report, command_serve, command_review, command_config,
    command_help, command_completion;
