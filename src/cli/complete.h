/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What may stand next on a command line: asked by the scripts for bash, zsh and fish, which know
 * nothing themselves. Reads the option tables, at most the plan and the ledger; takes nothing in,
 * writes nothing, complains of nothing.
 */
#pragma once

#include "base/mem.h"
#include "base/strbuf.h"

#include <stddef.h>

struct complete {
    struct arena *arena;
    const char *typed; /* what candidates begin with */
    const char *lead;  /* what stands before each: "--plan=" */
    struct strbuf *out;
};

/*
 * words: what stands behind the program's name, the last one being typed (maybe empty). Adds to out
 * one line that says how to go on, then a candidate a line, "WORD<tab>what it is": words these
 * candidates and nothing else files        files as well (what is typed may begin with "--option=")
 *   command N    words[N] and what follows are another program's command line
 */
void complete_line(char **words, size_t count, struct strbuf *out);

/* One candidate, if it begins with what is typed; description may be NULL. Whitespace in a word
 * leaves it out: no shell could take it apart. */
void complete_add(const struct complete *complete, const char *word, const char *description);

/* Candidates of a kind that stand in the plan or the ledger: "block", "env", "step", "offer",
 * "fact", "run", "session". Nothing where there is none, or where it cannot be read. */
void complete_add_stored(const struct complete *complete, const char *kind);
