/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Suggestions for the plan out of what a clone shows, and where plan and clone contradict each
 * other. What the plan knows is not suggested again; its ids are never taken. Texts are English:
 * they are to be pasted.
 */
#include "doctor/parts.h"

#include "base/clock.h"
#include "base/msg.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

const char *doctor_source_of(struct judging *judging, const char *at) {
    const json_t *code = json_get_object(judging->input->repository, "code");
    const char *commit = json_get_text(code, "commit", NULL);
    const char *plain = doctor_plain(judging, at != NULL ? at : "the clone");
    return commit != NULL ? arena_printf(judging->arena, "%s (%.7s)", plain, commit) : plain;
}

/* ---- what the plan knows ---- */

static const struct plan_fact *fact_of(const struct plan *plan, const char *id) {
    for (size_t i = 0; plan != NULL && i < plan->fact_count; i++)
        if (strcmp(plan->facts[i].id, id) == 0)
            return &plan->facts[i];
    return NULL;
}

static bool is_taken(const struct judging *judging, const char *id) {
    for (size_t i = 0; i < judging->findings->fact_count; i++)
        if (strcmp(judging->facts[i].id, id) == 0)
            return true;
    return fact_of(judging->input->plan, id) != NULL;
}

static const char *free_id(struct judging *judging, const char *wanted) {
    const char *id = wanted;
    for (unsigned number = 2; is_taken(judging, id); number++)
        id = arena_printf(judging->arena, "%s-%u", wanted, number);
    return id;
}

static void contradict(struct judging *judging, const struct plan_fact *fact, const char *said,
                       const char *seen, const char *source) {
    const struct plan *plan = judging->input->plan;
    struct doctor_finding *finding = doctor_add(
        judging, DOCTOR_REPOSITORY, "plan-contradicts", DOCTOR_WARNING,
        arena_printf(judging->arena, _("the plan (%s) says of %s: '%s'; the clone shows: '%s'"),
                     plan_source(plan, fact->at, judging->arena), doctor_plain(judging, fact->id),
                     doctor_plain(judging, said != NULL ? said : ""), seen),
        _("find out which one holds, and correct the plan or take the right clone"));
    doctor_add_source(judging, finding, source);
}

static void keep_fact(struct judging *judging, struct doctor_fact fact) {
    size_t count = judging->findings->fact_count;
    if (count == judging->fact_room) {
        size_t room = 2 * judging->fact_room + 16;
        struct doctor_fact *facts = arena_alloc(judging->arena, room * sizeof *facts);
        if (count > 0)
            memcpy(facts, judging->facts, count * sizeof *facts);
        judging->facts = facts;
        judging->fact_room = room;
    }
    judging->facts[judging->findings->fact_count++] = fact;
}

/* Whether what was seen under this id is the answer to what a plan asks under it. A list of pins is
 * no answer to "with which version does it start", and HEAD's hash none to "does it match the
 * paper": such a fact stays open beside what was seen. */
static bool answers_question(const char *id) {
    static const char *const answered[] = {"code.licence", "code.license",       "licence.code",
                                           "license.code", "environment.python", "code.python",
                                           "code.commit"};
    for (size_t i = 0; i < ARRAY_LENGTH(answered); i++)
        if (strcmp(answered[i], id) == 0)
            return true;
    return false;
}

void doctor_suggest(struct judging *judging, const char *const *ids, size_t count,
                    struct doctor_fact fact, const char *token) {
    const struct plan *plan = judging->input->plan;
    const struct plan_fact *open = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct plan_fact *known = fact_of(plan, ids[i]);
        if (known == NULL)
            continue;
        switch (known->state) {
        case PLAN_FACT_KNOWN:
            if (fact.known && token != NULL &&
                (known->value == NULL || strcasestr(known->value, token) == NULL))
                contradict(judging, known, known->value, fact.value, fact.source);
            return;
        case PLAN_FACT_NOT_APPLICABLE:
            return;
        case PLAN_FACT_OPEN:
            open = known;
            break;
        }
    }
    if (open != NULL && !fact.known)
        return; /* the plan asks already */
    if (open != NULL && answers_question(open->id))
        fact.answers = plan_source(plan, open->at, judging->arena);
    fact.id = free_id(judging, ids[0]);
    keep_fact(judging, fact);
}

/* ---- the commit ---- */

/* A commit within a text: 7 to 40 hexadecimal digits, with letters or behind "commit". NULL: none
 * from there on. */
static const char *find_hash(const char *text, size_t *ret_length) {
    static const char hex[] = "0123456789abcdef", before[] = "commit ";
    for (const char *at = text; *at != '\0';) {
        size_t length = strspn(at, hex);
        bool begins = at == text || !isalnum((unsigned char)at[-1]);
        bool ends = !isalnum((unsigned char)at[length]);
        bool mixed = strcspn(at, "0123456789") < length && strcspn(at, "abcdef") < length;
        bool named = (size_t)(at - text) >= sizeof before - 1 &&
                     strncmp(at - (sizeof before - 1), before, sizeof before - 1) == 0;
        if (length >= 7 && length <= 40 && begins && ends && (mixed || named)) {
            *ret_length = length;
            return at;
        }
        at += length > 0 ? length : 1;
    }
    return NULL;
}

enum naming { NAMES_NONE, NAMES_IT, NAMES_ANOTHER };

static enum naming naming_of(const char *text, const char *commit) {
    enum naming naming = NAMES_NONE;
    size_t length = 0;
    for (const char *at = text; at != NULL && (at = find_hash(at, &length)) != NULL; at += length) {
        if (strncmp(at, commit, length) == 0)
            return NAMES_IT;
        naming = NAMES_ANOTHER;
    }
    return naming;
}

void doctor_suggest_commit(struct judging *judging, const char *commit, const char *repo) {
    static const char *const ids[] = {"code.commit"};
    static const char *const naming_ids[] = {"code.commit", "code.version", "code.state",
                                             "code.exists"};
    const char *value = arena_printf(judging->arena, "commit %s", commit);
    const char *source = repo != NULL ? arena_printf(judging->arena, "HEAD of a clone of %s", repo)
                                      : "HEAD of the clone";
    bool is_named = false;
    for (size_t i = 0; i < ARRAY_LENGTH(naming_ids); i++) {
        const struct plan_fact *fact = fact_of(judging->input->plan, naming_ids[i]);
        if (fact == NULL || fact->state == PLAN_FACT_NOT_APPLICABLE)
            continue;
        const char *said = fact->state == PLAN_FACT_KNOWN ? fact->value : fact->question;
        enum naming naming = naming_of(said, commit);
        if (naming == NAMES_ANOTHER)
            contradict(judging, fact, said, value, source);
        is_named = is_named || naming != NAMES_NONE;
    }
    if (!is_named)
        doctor_suggest(
            judging, ids, ARRAY_LENGTH(ids),
            (struct doctor_fact){.about = "code", .known = true, .value = value, .source = source},
            NULL);
}

/* ---- the snippet ---- */

static void add_key(struct strbuf *out, const char *key, const char *text) {
    if (text == NULL)
        return;
    strbuf_printf(out, "    %s: ", key);
    doctor_add_quoted(out, text);
    strbuf_add_char(out, '\n');
}

static void add_fact(const struct judging *judging, const struct doctor_fact *fact,
                     struct strbuf *out) {
    AUTO_STRBUF struct strbuf day = STRBUF_INIT;
    clock_format_utc(judging->input->clock.utc_ns, &day);
    strbuf_printf(out, "  - id: %s", fact->id);
    if (fact->answers != NULL)
        strbuf_printf(out, "  # answers the open fact of %s, which can go", fact->answers);
    strbuf_printf(out, "\n    about: %s\n    state: %s\n", fact->about,
                  fact->known ? "known" : "open");
    add_key(out, "value", fact->value);
    add_key(out, "question", fact->question);
    add_key(out, "source", fact->source);
    if (fact->known)
        strbuf_add_str(out, "    source_kind: repository\n");
    strbuf_printf(out, "    seen: %.10s\n", strbuf_str(&day));
    if (fact->stops != NULL)
        strbuf_printf(out, "    stops: [%s]\n", fact->stops);
}

/* "accelerators: [cuda]" and the like, where the plan does not say it yet. */
static void add_requires(struct judging *judging, struct strbuf *out) {
    const struct plan *plan = judging->input->plan;
    struct doctor_needs needs;
    doctor_find_needs(judging, &needs);
    bool accelerators = needs.cuda != NULL && (plan == NULL || plan->code.accelerators.count == 0);
    bool architectures =
        needs.architectures.count > 0 && (plan == NULL || plan->code.architectures.count == 0);
    if (!accelerators && !architectures)
        return;
    const struct plan_code *code = plan != NULL ? &plan->code : NULL;
    bool has_source = code != NULL && code->requires_source != NULL;
    bool has_requires =
        code != NULL && (code->accelerators.count > 0 || code->architectures.count > 0 ||
                         code->requires_stack.count > 0 || has_source);
    bool has_code = has_requires || (code != NULL && (code->repo != NULL || code->paths.count > 0));
    if (has_requires)
        doctor_add_section(out, "code: requires:", _("what the code needs"), true);
    else
        doctor_add_section(out, "code:", _("what the code needs"), has_code);
    if (!has_requires)
        strbuf_add_str(out, "  requires:\n");
    if (accelerators)
        strbuf_add_str(out, "    accelerators: [cuda]\n");
    if (architectures) {
        strbuf_add_str(out, "    architectures: [");
        for (size_t i = 0; i < needs.architectures.count; i++) {
            strbuf_add_str(out, i > 0 ? ", " : "");
            doctor_add_quoted(out, needs.architectures.items[i].text);
        }
        strbuf_add_str(out, "]\n");
    }
    strbuf_add_str(out, has_source ? "    # source: " : "    source: ");
    doctor_add_quoted(out, needs.cuda_at != NULL ? doctor_source_of(judging, needs.cuda_at) : "");
    strbuf_add_char(out, '\n');
}

void doctor_add_section(struct strbuf *out, const char *key, const char *what, bool in_plan) {
    strbuf_add_str(out, "# ");
    if (in_plan)
        strbuf_printf(out, _("%s: below the plan's own '%s'"), what, key);
    else
        strbuf_printf(out, "%s:\n%s", what, key);
    strbuf_add_char(out, '\n');
}

void doctor_add_repository_snippet(struct judging *judging, struct strbuf *out) {
    const struct plan *plan = judging->input->plan;
    size_t count = judging->findings->fact_count;
    AUTO_FREE char *what =
        mem_printf(msg_plural((unsigned long)count, "%zu fact", "%zu facts"), count);
    if (count > 0)
        doctor_add_section(out, "facts:", what, plan != NULL && plan->fact_count > 0);
    for (size_t i = 0; i < count; i++)
        add_fact(judging, &judging->facts[i], out);
    add_requires(judging, out);
    strbuf_add_str(out, strbuf_str(&judging->supported));
}
