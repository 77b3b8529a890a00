/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Secrets never enter a record. secret_mask is applied to every text before it is stored: argv,
 * variables, remotes, notes, kept output, diffs. Masks are "‹masked›"-like ASCII: "[masked]".
 * Rather too much than too little.
 *
 * Mask whole lines and cut afterwards: a secret whose name or beginning was cut off before cannot
 * be recognised.
 */
#pragma once

#include "base/json.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

#define SECRET_MASK "[masked]"

/* Adds text with every secret in it replaced by "[masked]". Keys known by name (password=, --token
 * X in one text, Authorization: …, https://user:pw@host) and by shape (hf_…, ghp_…, sk-…, AKIA…,
 * JWT, PEM blocks, long random …). Masking a masked text again does no harm. Linear in the length.
 */
void secret_mask(const char *text, size_t length, struct strbuf *out);

/* The value of a parameter of that name. "max_tokens=512" and "token=bos" are parameters, and "key"
 * is more often a column than a credential: behind a name that can mean nothing else ("password",
 * "api_key") all is masked but a switch or a count, behind "token" all but a word of a model; any
 * other value is masked by its own shape alone. */
void secret_mask_value(const char *name, const char *value, struct strbuf *out);

/* argv as a whole, since a secret may follow its option: ["--token","abc"] →
 * ["--token","[masked]"]. New array of texts. */
json_t *secret_mask_argv(const char *const *argv, size_t count);

/* True when a variable's *name* says its value is secret (TOKEN, KEY, SECRET, PASSWORD, CREDENTIAL,
 * …). */
bool secret_is_named(const char *name);

/* Allow-list: which environment variables may be recorded at all (CUDA_*, OMP_*, SLURM_*, HF_HOME,
 * LANG, …). A name that says secret is never allowed, whatever list it is on. PATH is not on the
 * list: it names private folders and says little that the interpreters of the ENVIRONMENT record do
 * not say. */
bool secret_variable_allowed(const char *name);
/* Object of all allowed variables of `environ`-like list, values masked, sorted by name. */
json_t *secret_allowed_variables(char *const *environment);
