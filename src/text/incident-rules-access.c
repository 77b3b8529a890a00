/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules for what a run may not read and what it does not find: gated repositories, refused logins
 * and permissions, missing modules, libraries and programs. Wording: huggingface_hub, datasets,
 * git, git-lfs, boto3, curl, wget, docker, gdown, wandb; Python, glibc's loader, shells. Must not
 * take a page that does not exist (404) for a refused one.
 */
#include "text/incident-rules.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

static bool is_import_error(const char *line) {
    return incident_begins_with(line, "ImportError");
}

/* "bash: ", "-bash: ", "/bin/sh: ": the line is a shell's. */
static bool is_of_shell(const char *line) {
    const char *name = incident_skip_prefix(line);
    const char *colon = strchr(name, ':');
    return colon && colon - name >= 2 && strncmp(colon - 2, "sh", 2) == 0;
}

static bool is_shell_not_found(const char *line) {
    return is_of_shell(line) &&
           (str_ends_with(line, ": not found") || str_ends_with(line, ": command not found"));
}

static bool is_shell_denied(const char *line) {
    return is_of_shell(line) && str_ends_with(line, ": Permission denied");
}

#define HTTP(number) NUMBER("http", number)

static const struct incident_rule rules[] = {
    /* access */
    {.name = "access_gated",
     .any = WORDS("GatedRepoError", "annot access gated repo"),
     .figures = {{"http", INCIDENT_INTEGER_BEFORE, " Client Error"},
                 {"repo", INCIDENT_REPOSITORY, "huggingface.co/"}}},
    {.name = "access_gated",
     .all = {"Access to model ", "is restricted"},
     .figures = {{"repo", INCIDENT_WORD, "Access to model "}}},
    {.name = "access_gated",
     .all = {"Access to dataset ", "is restricted"},
     .figures = {{"repo", INCIDENT_WORD, "Access to dataset "}}},
    {.name = "access_gated",
     .all = {"Repo model ", " is gated"},
     .figures = {{"repo", INCIDENT_WORD, "Repo model "}}},
    {.name = "access_gated",
     .all = {"Repo dataset ", " is gated"},
     .figures = {{"repo", INCIDENT_WORD, "Repo dataset "}}},
    {.name = "access_gated",
     .all = {"Your request to access ", "is awaiting a review"},
     .figures = {{"repo", INCIDENT_WORD, "to access model "},
                 {"repo", INCIDENT_WORD, "to access dataset "}}},
    {.name = "access_gated",
     .all = {"Your request to access ", "has been rejected"},
     .figures = {{"repo", INCIDENT_WORD, "to access model "}}},
    {.name = "access_gated", .all = {"awaiting a review from the repo authors"}},
    {.name = "access_gated",
     .all = {"Make sure to have access to it at "},
     .figures = {{"repo", INCIDENT_REPOSITORY, "huggingface.co/"}},
     .beside = true},
    {.name = "access_gated",
     .all = {"enable access to public gated repositories"},
     .figures = {{"http", INCIDENT_INTEGER_BEFORE, " Forbidden"}}},
    {.name = "access_gated",
     .any = WORDS("is a gated repo", "is a gated model"),
     .figures = {{"repo", INCIDENT_QUOTED, ""}}},
    {.name = "access_gated",
     .all = {"You are trying to access a gated repo"},
     .figures = {{"repo", INCIDENT_REPOSITORY, "huggingface.co/"}}},
    {.name = "access_gated",
     .all = {"is a gated dataset on the Hub"},
     .figures = {{"repo", INCIDENT_QUOTED, "Dataset "}}},
    {.name = "access_unknown",
     .all = {"401 Client Error"},
     .figures = {HTTP("401"), {"repo", INCIDENT_REPOSITORY, "huggingface.co/"}}},
    {.name = "access_unknown",
     .all = {"403 Client Error"},
     .figures = {HTTP("403"), {"repo", INCIDENT_REPOSITORY, "huggingface.co/"}}},
    {.name = "access_unknown",
     .all = {"RepositoryNotFoundError"},
     .figures = {{"http", INCIDENT_INTEGER_BEFORE, " Client Error"},
                 {"repo", INCIDENT_REPOSITORY, "huggingface.co/"}}},
    {.name = "access_unknown",
     .all = {"Repository Not Found for url"},
     .figures = {{"repo", INCIDENT_REPOSITORY, "huggingface.co/"}}},
    {.name = "access_unknown",
     .all = {"is not a local folder and is not a valid model identifier"},
     .figures = {{"repo", INCIDENT_WORD, "OSError: "}}},
    {.name = "access_unknown",
     .any = WORDS("HTTP Error 401", "ERROR 401: ", "returned error: 401",
                  "Client error '401 Unauthorized'", "HfHubHTTPError: 401",
                  "HTTP status client error (401"),
     .figures = {HTTP("401")}},
    {.name = "access_unknown",
     .any = WORDS("HTTP Error 403", "An error occurred (AccessDenied)",
                  "AccessDeniedException: 403", "<Code>AccessDenied</Code>", "ERROR 403: ",
                  "returned error: 403", "Client error '403 Forbidden'", "HfHubHTTPError: 403",
                  "HTTP status client error (403", "An error occurred (403)"),
     .figures = {HTTP("403")}},
    {.name = "access_unknown",
     .all = {"fatal: Authentication failed for "},
     .figures = {{"url", INCIDENT_QUOTED, "failed for "}}},
    {.name = "access_unknown",
     .all = {"pull access denied for "},
     .figures = {{"repo", INCIDENT_WORD, "denied for "}}},
    {.name = "access_unknown",
     .all = {"An error occurred ("},
     .any = WORDS("InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken")},
    {.name = "access_unknown",
     .all = {"batch response: "},
     .any = WORDS("over its data quota", "exceeded its LFS budget")},
    {.name = "access_unknown",
     .all = {"fatal: could not read Username for "},
     .figures = {{"url", INCIDENT_QUOTED, "Username for "}}},
    {.name = "access_unknown", .all = {"403 Forbidden: ", "uthoriz"}, .figures = {HTTP("403")}},
    {.name = "access_unknown", .all = {"Token is required (", "no token found"}},
    {.name = "access_unknown",
     .any = WORDS("doesn't exist on the Hub or cannot be accessed",
                  "does not exist on the Hub or cannot be accessed"),
     .figures = {{"repo", INCIDENT_QUOTED, "Dataset "}}},
    {.name = "access_unknown",
     .all = {"api_key not configured (no-tty)"},
     .figures = {TEXT("service", "wandb")}},
    {.name = "access_unknown",
     .all = {"wandb", "permission denied"},
     .figures = {TEXT("service", "wandb")}},
    {.name = "access_unknown",
     .all = {"PermissionError: [Errno 1] "},
     .figures = {NUMBER("errno", "1"), {"path", INCIDENT_QUOTED, "permitted"}}},
    {.name = "access_unknown",
     .all = {"[Errno 13] Permission denied"},
     .figures = {ERRNO("13"), {"path", INCIDENT_QUOTED, "denied"}}},
    {.name = "access_unknown",
     .all = {": Permission denied"},
     .also = is_shell_denied,
     .also_text = N_("as a shell says it, at the end of the line"),
     .figures = {ERRNO("13"), {"path", INCIDENT_SEGMENT_BEFORE, ": Permission denied"}}},
    {.name = "access_unknown",
     .all = {"zsh: permission denied: "},
     .figures = {ERRNO("13"), {"path", INCIDENT_WORD, "denied: "}}},
    {.name = "access_unknown",
     .any = WORDS("remote: Repository not found", "Permission denied (publickey",
                  "Unable to locate credentials", "NoCredentialsError",
                  "batch response: Authentication required", "ccount responsible for LFS bandwidth",
                  "Repository or object not found: https://", "ERROR: Repository not found.",
                  "Support for password authentication was removed",
                  "Invalid credentials in Authorization header", "Invalid username or password.",
                  "LocalTokenNotFoundError", "Invalid user token",
                  "You may need to change the permission to 'Anyone with the link'",
                  "annot retrieve the public link of the file",
                  "unauthorized: authentication required",
                  "unauthorized: access to the requested resource",
                  "denied: requested access to the resource is denied")},

    /* what the program needs and does not find */
    {.name = "dependency_missing",
     .all = {"ModuleNotFoundError: No module named"},
     .figures = {{"module", INCIDENT_QUOTED, "named "}}},
    {.name = "dependency_missing",
     .any = WORDS("PackageNotFoundError: No package metadata was found for ",
                  "No matching distribution found for "),
     .figures = {{"module", INCIDENT_WORD, "found for "}}},
    {.name = "dependency_missing",
     .all = {"DistributionNotFound: The "},
     .figures = {{"module", INCIDENT_QUOTED, "The "}}},
    {.name = "dependency_missing",
     .all = {"annot open shared object file"},
     .figures = {{"library", INCIDENT_WORD, "loading shared libraries: "},
                 {"library", INCIDENT_WORD, "ImportError: "},
                 {"library", INCIDENT_WORD, "OSError: "}}},
    {.name = "dependency_missing",
     .all = {"version `", "' not found (required by "},
     .figures = {{"version", INCIDENT_QUOTED, "version "},
                 {"library", INCIDENT_WORD, "required by "}}},
    {.name = "dependency_missing",
     .all = {"symbol lookup error: "},
     .figures = {{"library", INCIDENT_WORD, "lookup error: "},
                 {"symbol", INCIDENT_WORD, "undefined symbol: "}}},
    {.name = "dependency_missing",
     .all = {"ImportError"},
     .also = is_import_error,
     .also_text = N_("as the name at the start of the line"),
     .figures = {{"module", INCIDENT_QUOTED, "from "},
                 {"symbol", INCIDENT_WORD, "undefined symbol: "}}},
    {.name = "dependency_missing",
     .all = {"command not found"},
     .also = is_shell_not_found,
     .also_text = N_("as a shell says it, at the end of the line"),
     .figures = {{"command", INCIDENT_SEGMENT_BEFORE, ": command not found"}}},
    {.name = "dependency_missing",
     .all = {": not found"},
     .also = is_shell_not_found,
     .also_text = N_("as a shell says it, at the end of the line"),
     .figures = {{"command", INCIDENT_SEGMENT_BEFORE, ": not found"}}},
    {.name = "dependency_missing",
     .all = {"zsh: command not found: "},
     .figures = {{"command", INCIDENT_WORD, "not found: "}}},
    {.name = "dependency_missing",
     .all = {"exec: ", "executable file not found in $PATH"},
     .figures = {{"command", INCIDENT_QUOTED, "exec: "}}},
    {.name = "dependency_missing",
     .all = {"/env: ", "No such file or directory"},
     .none = {"cannot"},
     .figures = {{"command", INCIDENT_QUOTED, "/env: "}, {"command", INCIDENT_WORD, "/env: "}}},
    {.name = "dependency_missing",
     .any = WORDS("ResolutionImpossible", "The following module(s) are unknown")},
    {.name = "dependency_missing",
     .all = {"there is no package called "},
     .figures = {{"module", INCIDENT_QUOTED, "called "}}},
    {.name = "dependency_missing",
     .all = {"Error: Cannot find module "},
     .figures = {{"module", INCIDENT_QUOTED, "module "}}},
    {.name = "dependency_missing", .all = {"module compiled against", "API version"}},
};

const struct incident_rules incident_rules_access = {rules, ARRAY_LENGTH(rules)};
