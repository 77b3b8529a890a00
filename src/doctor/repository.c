/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a clone of the code tells (probe/repository.h), judged topic by topic: here the clone
 * itself, its licence, and what documents and scripts name. Nothing is guessed: what the clone does
 * not say is open, and a name is never taken for more than a name.
 */
#include "doctor/parts.h"

#include "base/msg.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

#define EACH_MAX 20u /* findings of one kind; the rest is counted */

const char *doctor_text_at(const json_t *texts, size_t index) {
    const json_t *text = json_array_get(texts, index);
    return json_is_string(text) ? json_string_value(text) : "";
}

void doctor_add_source(struct judging *judging, struct doctor_finding *finding, const char *at) {
    size_t count = finding->source_count;
    if (at == NULL || (count > 0 && strcmp(finding->sources[count - 1], at) == 0))
        return;
    if ((count & (count - 1)) == 0) { /* 0, 1, 2, 4, …: full */
        const char **sources =
            arena_alloc(judging->arena, (count == 0 ? 1 : 2 * count) * sizeof *sources);
        if (count > 0)
            memcpy(sources, finding->sources, count * sizeof *sources);
        finding->sources = sources;
    }
    finding->sources[finding->source_count++] = doctor_plain(judging, at);
}

void doctor_add_sources(struct judging *judging, struct doctor_finding *finding,
                        const json_t *facts) {
    for (size_t i = 0; i < json_array_size(facts); i++)
        doctor_add_source(judging, finding, json_get_text(json_array_get(facts, i), "at", NULL));
}

/* ---- the clone ---- */

static void judge_reading(struct judging *judging, const json_t *clone) {
    const json_t *left = json_get_object(clone, "left_out");
    const json_t *outside = json_get_array(left, "links_outside");
    const json_t *special = json_get_array(left, "special");
    AUTO_STRBUF struct strbuf limits = STRBUF_INIT;
    const json_t *reached = json_get_array(clone, "limits");
    for (size_t i = 0; i < json_array_size(reached); i++)
        strbuf_add_next(&limits, ", ", msg_get(doctor_text_at(reached, i)));
    if (!json_get_bool(clone, "complete", 0))
        (void)doctor_add(judging, DOCTOR_REPOSITORY, "repository-incomplete", DOCTOR_OPEN,
                         arena_printf(judging->arena,
                                      _("not all of the clone was read; limits that were reached: "
                                        "%s"),
                                      strbuf_str(&limits)),
                         _("what is not named here may still be in there"));
    if (json_array_size(outside) > 0) {
        struct doctor_finding *finding =
            doctor_add(judging, DOCTOR_REPOSITORY, "links-outside", DOCTOR_WARNING,
                       _("links in the clone lead to places outside of it; they were not followed"),
                       _("what lies there is not part of the code that others get"));
        for (size_t i = 0; i < json_array_size(outside); i++)
            doctor_add_source(judging, finding, doctor_text_at(outside, i));
    }
    if (json_array_size(special) > 0) {
        struct doctor_finding *finding =
            doctor_add(judging, DOCTOR_REPOSITORY, "special-files", DOCTOR_WARNING,
                       _("the clone holds pipes, sockets or devices; they were not opened"), NULL);
        for (size_t i = 0; i < json_array_size(special); i++)
            doctor_add_source(judging, finding, doctor_text_at(special, i));
    }
}

static bool has_code(const json_t *clone) {
    static const char *const lists[] = {"python", "requirements", "commands", "architectures"};
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(lists); i++)
        count += json_array_size(json_get_array(clone, lists[i]));
    return count > 0;
}

static void judge_clone(struct judging *judging, const json_t *clone) {
    const json_t *code = json_get_object(clone, "code");
    const char *commit = json_get_text(code, "commit", NULL);
    const char *repo = json_get_text(code, "repo", NULL);
    const char *folder = doctor_plain(judging, json_get_text(clone, "folder", "?"));
    if (!has_code(clone))
        (void)doctor_add(judging, DOCTOR_REPOSITORY, "repository-no-code", DOCTOR_OPEN,
                         arena_printf(judging->arena,
                                      _("no code, no requirements and no commands were seen in "
                                        "'%s'"),
                                      folder),
                         _("name the clone of the paper's code with --repo DIR"));
    if (commit == NULL) {
        (void)doctor_add(judging, DOCTOR_REPOSITORY, "repository-no-commit", DOCTOR_OPEN,
                         arena_printf(judging->arena,
                                      _("which state of the code '%s' is, is not "
                                        "known: it is no git repository, or has no "
                                        "commit"),
                                      folder),
                         _("clone it with git, so that its commit goes into every record"));
    } else {
        (void)doctor_add(
            judging, DOCTOR_REPOSITORY, "repository", DOCTOR_KNOWN,
            arena_printf(judging->arena,
                         json_get_bool(code, "dirty", 0)
                             ? _("'%s' is at commit %.12s, with changes that are not committed")
                             : _("'%s' is at commit %.12s"),
                         folder, commit),
            NULL);
        if (has_code(clone))
            doctor_suggest_commit(judging, commit,
                                  repo != NULL ? doctor_plain(judging, repo) : NULL);
    }
    judge_reading(judging, clone);
}

/* ---- the licence ---- */

static const char *const licence_ids[] = {"code.licence", "code.license", "licence.code",
                                          "license.code"};

static void suggest_licence(struct judging *judging, const char *licence, const char *at) {
    doctor_suggest(judging, licence_ids, ARRAY_LENGTH(licence_ids),
                   (struct doctor_fact){.about = "licence",
                                        .known = true,
                                        .value = doctor_plain(judging, licence),
                                        .source = doctor_source_of(judging, at)},
                   licence);
}

static bool judge_top_licence(struct judging *judging, const json_t *fact, bool above) {
    const char *licence = json_get_text(fact, "licence", NULL), *at = json_get_text(fact, "at", "");
    struct doctor_finding *finding;
    if (licence == NULL)
        finding = doctor_add(judging, DOCTOR_LICENCE, "licence-unknown", DOCTOR_OPEN,
                             arena_printf(judging->arena,
                                          _("'%s' holds a licence text that is not known here"),
                                          doctor_plain(judging, json_get_text(fact, "file", "?"))),
                             _("read it, and write into the plan what it allows"));
    else
        finding = doctor_add(judging, DOCTOR_LICENCE, "licence", DOCTOR_KNOWN,
                             arena_printf(judging->arena,
                                          above ? _("the repository around this folder is under %s")
                                                : _("the code is under %s"),
                                          licence),
                             NULL);
    doctor_add_source(judging, finding, at);
    if (licence != NULL)
        suggest_licence(judging, licence, at);
    return licence != NULL;
}

static void judge_licence(struct judging *judging, const json_t *clone) {
    const json_t *licences = json_get_array(clone, "licences");
    const json_t *above = json_get_array(clone, "above");
    size_t top = 0, parts = 0;
    AUTO_STRBUF struct strbuf others = STRBUF_INIT;
    for (size_t i = 0; i < json_array_size(licences); i++) {
        const json_t *fact = json_array_get(licences, i);
        if (json_get_bool(fact, "top", 0)) {
            (void)judge_top_licence(judging, fact, false);
            top++;
        }
    }
    for (size_t i = 0; top == 0 && i < json_array_size(above); i++, top += 1)
        (void)judge_top_licence(judging, json_array_get(above, i), true);
    for (size_t i = 0; i < json_array_size(licences); i++) {
        const json_t *fact = json_array_get(licences, i);
        if (json_get_bool(fact, "top", 0) || parts++ >= EACH_MAX)
            continue;
        AUTO_FREE char *text =
            mem_printf("%s: %s", doctor_plain(judging, json_get_text(fact, "file", "?")),
                       json_get_text(fact, "licence", "?"));
        strbuf_add_next(&others, ", ", text);
    }
    if (parts > 0) {
        struct doctor_finding *finding =
            doctor_add(judging, DOCTOR_LICENCE, "licence-parts", DOCTOR_KNOWN,
                       arena_printf(judging->arena, _("parts have licence files of their own: %s"),
                                    strbuf_str(&others)),
                       NULL);
        for (size_t i = 0; i < json_array_size(licences); i++)
            if (!json_get_bool(json_array_get(licences, i), "top", 0))
                doctor_add_source(judging, finding,
                                  json_get_text(json_array_get(licences, i), "at", NULL));
    }
    if (top > 0 || !has_code(clone))
        return;
    (void)doctor_add(judging, DOCTOR_LICENCE, "licence-none", DOCTOR_OPEN,
                     _("there is no licence file at the top of the clone: what may be done with "
                       "the code is open"),
                     _("ask the authors"));
    doctor_suggest(
        judging, licence_ids, ARRAY_LENGTH(licence_ids),
        (struct doctor_fact){
            .about = "licence",
            .question =
                parts > 0 ? arena_printf(judging->arena,
                                         "under which licence may the code be used? no licence "
                                         "file at top level, only for parts (%s); ask the authors",
                                         strbuf_str(&others))
                          : "under which licence may the code be used? no licence file at top "
                            "level; ask the authors",
            .source = doctor_source_of(judging, "top level of the clone"),
            .stops = "booking"},
        NULL);
}

/* ---- commands ---- */

static bool is_named_before(const json_t *commands, size_t index) {
    const char *path = json_get_text(json_array_get(commands, index), "path", "");
    for (size_t i = 0; i < index; i++)
        if (!json_get_bool(json_array_get(commands, i), "found", 0) &&
            strcmp(json_get_text(json_array_get(commands, i), "path", ""), path) == 0)
            return true;
    return false;
}

static const char *absence(struct judging *judging, const json_t *fact) {
    const char *kind = json_get_text(fact, "kind", "");
    const char *path = doctor_plain(judging, json_get_text(fact, "path", "?"));
    if (strcmp(kind, "folder") == 0)
        return arena_printf(judging->arena, _("the folder '%s' is named but is not there"), path);
    if (strcmp(kind, "requirements") == 0)
        return arena_printf(judging->arena, _("the requirements '%s' are named but are not there"),
                            path);
    return arena_printf(judging->arena, _("the script '%s' is named but is not there"), path);
}

/* What a file of requirements includes by "-r", "-c". */
static void judge_includes(struct judging *judging, const json_t *clone) {
    const json_t *includes = json_get_array(clone, "includes");
    for (size_t i = 0; i < json_array_size(includes); i++) {
        const json_t *fact = json_array_get(includes, i);
        const char *path = doctor_plain(judging, json_get_text(fact, "path", "?"));
        struct doctor_finding *finding;
        if (json_get_bool(fact, "found", 0))
            continue;
        if (json_get_bool(fact, "outside", 0))
            finding = doctor_add(
                judging, DOCTOR_COMMANDS, "include-outside", DOCTOR_OPEN,
                arena_printf(judging->arena,
                             _("the requirements '%s' lie outside of the clone; they were not "
                               "looked at"),
                             path),
                _("find out what they hold: an installation needs it"));
        else if (json_get_bool(fact, "folder", 0))
            finding = doctor_add(
                judging, DOCTOR_COMMANDS, "include-absent", DOCTOR_PROBLEM,
                arena_printf(judging->arena,
                             _("'%s' is named as a file of requirements and is a folder"), path),
                NULL);
        else
            finding = doctor_add(
                judging, DOCTOR_COMMANDS, "include-absent", DOCTOR_PROBLEM,
                arena_printf(judging->arena, _("the requirements '%s' are named but are not there"),
                             path),
                NULL);
        doctor_add_source(judging, finding, json_get_text(fact, "at", NULL));
    }
}

static void judge_commands(struct judging *judging, const json_t *clone) {
    const json_t *commands = json_get_array(clone, "commands");
    size_t found = 0, absent = 0;
    AUTO_STRBUF struct strbuf names = STRBUF_INIT;
    AUTO_STRBUF struct strbuf places = STRBUF_INIT;
    for (size_t i = 0; i < json_array_size(commands); i++) {
        const json_t *fact = json_array_get(commands, i);
        found += json_get_bool(fact, "found", 0) != 0;
        if (json_get_bool(fact, "found", 0) || is_named_before(commands, i) || ++absent > EACH_MAX)
            continue;
        const char *path = json_get_text(fact, "path", "");
        struct doctor_finding *finding = doctor_add(
            judging, DOCTOR_COMMANDS, "command-absent", DOCTOR_PROBLEM, absence(judging, fact),
            _("ask the authors, or correct the command and list "
              "the change among the plan's deviations"));
        for (size_t k = i; k < json_array_size(commands); k++)
            if (strcmp(json_get_text(json_array_get(commands, k), "path", ""), path) == 0)
                doctor_add_source(judging, finding,
                                  json_get_text(json_array_get(commands, k), "at", NULL));
        strbuf_add_next(&names, ", ", doctor_plain(judging, path));
        if (finding->source_count > 0)
            strbuf_add_next(&places, ", ", finding->sources[0]);
    }
    judge_includes(judging, clone);
    if (found > 0)
        (void)doctor_add(judging, DOCTOR_COMMANDS, "commands-found", DOCTOR_KNOWN,
                         arena_printf(judging->arena,
                                      msg_plural(found, "%zu file that commands name is there",
                                                 "%zu files that commands name are there"),
                                      found),
                         NULL);
    static const char *const ids[] = {"code.commands-absent"};
    if (absent > 0)
        doctor_suggest(judging, ids, 1,
                       (struct doctor_fact){
                           .about = "code",
                           .question = arena_printf(judging->arena,
                                                    "what takes the place of what commands name "
                                                    "but the clone lacks: %s?",
                                                    strbuf_str(&names)),
                           .source = doctor_source_of(judging, strbuf_str(&places)),
                           .stops = "compare"},
                       NULL);
}

void doctor_judge_repository(struct judging *judging) {
    const json_t *clone = judging->input->repository;
    judge_clone(judging, clone);
    judge_licence(judging, clone);
    judge_commands(judging, clone);
    doctor_judge_requirements(judging);
    doctor_judge_stack(judging);
    doctor_judge_files(judging);
    doctor_judge_settings(judging);
}
