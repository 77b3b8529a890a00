/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is done with a journal whose writer died: torn tail cut, marks file read in, END(lost) never
 * invented. */
#pragma once

#include "base/err.h"
#include "journal/marks.h"

/* Brings a dead writer's journal in order: appends the marks that are not yet in it, removes the
 * marks file, closes. Doing it twice changes nothing. -EBUSY ("journal-live") while somebody writes
 * it; -EBADMSG when there is no sound header; -ENOSPC leaves the marks file for the next time. */
int journal_recover(const char *path, struct err *err);
