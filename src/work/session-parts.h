/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two halves of work/session.h share; internal to work/. */
#pragma once

#include "work/session.h"

/* This machine, now; texts in arena. */
struct session_moment work_session_now(struct arena *arena);
