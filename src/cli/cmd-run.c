/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probelauf run: measures one command. Before the command starts nothing is opened but the
 * configuration file and the plan, if there are any; standard output is never written to.
 */
#include "cli/cli.h"
#include "cli/commands.h"

#include "base/clock.h"
#include "base/msg.h"
#include "base/str.h"
#include "cli/settings.h"
#include "cli/view.h"
#include "cli/words.h"
#include "model/run.h"
#include "report/words.h"
#include "store/store.h"
#include "text/pattern.h"
#include "text/secret.h"
#include "work/cost-limit.h"
#include "work/find-plan.h"
#include "work/measure.h"
#include "work/plan-run.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RETRY_MAX    100
#define PID_MAX      (INT64_C(1) << 22) /* PID_MAX_LIMIT of the kernel */
#define GPU_DIGITS   4
#define DURATION_MAX (INT64_C(10) * 365 * 24 * 3600 * NS_PER_S)

static struct opt_list opt_condition, opt_inputs, opt_outputs, opt_expect, opt_changes,
    opt_patterns, opt_gpus;
static const char *opt_block, *opt_env, *opt_max_cost, *opt_offer, *opt_step, *opt_purpose,
    *opt_phase, *opt_note, *opt_tee, *opt_ready;
static int64_t opt_max_time_ns, opt_grace_ns = -1, opt_linger_ns = -1, opt_retry, opt_attach;

static const char *const purpose_choices[] = {"trial", "function-test", "work", NULL};
static const char *const tee_choices[] = {"auto", "none", NULL};

static const struct opt_spec run_options[] = {
    {.name = "attach",
     .type = OPT_COUNT,
     .target = &opt_attach,
     .argument = N_("PID"),
     .min = 1,
     .max = PID_MAX,
     .conflicts = "pattern grace retry tee",
     .help = N_("Instead of a command: a process that runs already, and its descendants, from now "
                "on. Nothing is changed in it.")},
    {.short_name = 'c',
     .name = "condition",
     .type = OPT_LIST,
     .target = &opt_condition,
     .argument = N_("KEY=VALUE"),
     .help = N_("A parameter of this run, for example -c ratio=0.3; repeatable. With a plan: the "
                "condition.")},
    {.name = "block",
     .type = OPT_TEXT,
     .target = &opt_block,
     .argument = N_("BLOCK"),
     .help = N_("The block of the plan that this run belongs to.")},
    {.name = "env",
     .type = OPT_TEXT,
     .target = &opt_env,
     .argument = N_("ID"),
     .help = N_("The environment of the plan that this machine is.")},
    {.name = "step",
     .type = OPT_TEXT,
     .target = &opt_step,
     .argument = N_("NAME"),
     .help = N_("The set-up, data or transfer step (of the plan) that this command is.")},
    {.name = "purpose",
     .type = OPT_CHOICE,
     .target = &opt_purpose,
     .argument = N_("WHAT"),
     .choices = purpose_choices,
     .help = N_("trial: representative, a base for estimates; function-test: smaller, never a "
                "base; work: the "
                "real thing.")},
    {.name = "phase",
     .type = OPT_TEXT,
     .target = &opt_phase,
     .argument = N_("PHASE"),
     .words = words_phase,
     .help = N_("The whole command is this phase, for example setup.")},
    {.name = "pattern",
     .type = OPT_LIST,
     .target = &opt_patterns,
     .argument = N_("PHASE=REGEX"),
     .help = N_("A line of output that matches begins this phase; repeatable.")},
    {.name = "ready",
     .type = OPT_TEXT,
     .target = &opt_ready,
     .argument = N_("REGEX|URL"),
     .conflicts = "phase",
     .help = N_("For servers: a line of output that matches, or a first 2xx answer from "
                "http://HOST:PORT/PATH, ends loading and begins computing.")},
    {.name = "gpu",
     .type = OPT_LIST,
     .target = &opt_gpus,
     .argument = N_("GPU"),
     .help = N_("The GPU that the command uses: UUID, INDEX, all or none; repeatable. Without it "
                "found out.")},
    {.name = "max-time",
     .type = OPT_DURATION,
     .target = &opt_max_time_ns,
     .argument = N_("DURATION"),
     .min = 1,
     .max = DURATION_MAX,
     .help = N_("Stop the command after this time; the status is then 124. With --attach: stop "
                "watching.")},
    {.name = "max-cost",
     .type = OPT_TEXT,
     .target = &opt_max_cost,
     .argument = N_("AMOUNT"),
     .conflicts = "retry attach",
     .help = N_("Stop the command before a rental of its own would cost more, such as 20EUR; needs "
                "exactly one usable offer of the plan. The status is then 124.")},
    {.name = "offer",
     .type = OPT_TEXT,
     .target = &opt_offer,
     .argument = N_("ID"),
     .needs = "max-cost",
     .help = N_("The offer that --max-cost is counted by (without it the session's, or the only "
                "usable one).")},
    {.name = "grace",
     .type = OPT_DURATION,
     .target = &opt_grace_ns,
     .argument = N_("DURATION"),
     .max = DURATION_MAX,
     .help = N_("Time between SIGTERM and SIGKILL when it is stopped (30s).")},
    {.name = "linger",
     .type = OPT_DURATION,
     .target = &opt_linger_ns,
     .argument = N_("DURATION"),
     .max = DURATION_MAX,
     .help = N_("Watch what the command leaves behind at most this long (10s).")},
    {.name = "retry",
     .type = OPT_COUNT,
     .target = &opt_retry,
     .argument = N_("N"),
     .max = RETRY_MAX,
     .help = N_("Try again at most N times after a failure that a repeat can cure (see above).")},
    {.name = "input",
     .type = OPT_PATH_LIST,
     .target = &opt_inputs,
     .argument = N_("PATH"),
     .help = N_("A file or folder the command reads; it is not opened; repeatable.")},
    {.name = "output",
     .type = OPT_PATH_LIST,
     .target = &opt_outputs,
     .argument = N_("PATH"),
     .help = N_("A file or folder the command writes; repeatable.")},
    {.name = "expect",
     .type = OPT_LIST,
     .target = &opt_expect,
     .argument = N_("CHECK"),
     .help = N_(
         "What a correct run shows: marker=TEXT in the output, file=PATH or count=N marked items; "
         "repeatable.")},
    {.name = "note",
     .type = OPT_TEXT,
     .target = &opt_note,
     .argument = N_("TEXT"),
     .help = N_("A remark kept with the run.")},
    {.name = "change",
     .type = OPT_LIST,
     .target = &opt_changes,
     .argument = N_("TEXT"),
     .help = N_("What is different from the run before; repeatable.")},
    {.name = "tee",
     .type = OPT_CHOICE,
     .target = &opt_tee,
     .argument = N_("HOW"),
     .choices = tee_choices,
     .help =
         N_("auto: read the output as it passes; none: leave it alone, for full-screen programs.")},
    {.name = NULL},
};

static int check_condition(struct err *err) {
    for (size_t i = 0; i < opt_condition.count; i++) {
        AUTO_FREE char *key = NULL;
        const char *value = NULL;
        if (!opt_split(opt_condition.items[i], &key, &value)) {
            return err_set(err, -EINVAL, "usage-bad-value",
                           "option '--condition' takes KEY=VALUE, not '%s'",
                           opt_condition.items[i]);
        }
        for (size_t j = 0; j < i; j++) {
            AUTO_FREE char *other = NULL;
            (void)opt_split(opt_condition.items[j], &other, &value);
            if (strcmp(other, key) == 0) {
                return err_set(err, -EINVAL, "usage-bad-value",
                               "the condition '%s' is given twice: '%s' and '%s'", key,
                               opt_condition.items[j], opt_condition.items[i]);
            }
        }
    }
    return 0;
}

static int check_expect(struct err *err) {
    for (size_t i = 0; i < opt_expect.count; i++) {
        AUTO_FREE char *kind = NULL;
        const char *value = "";
        bool split = opt_split(opt_expect.items[i], &kind, &value);
        uint64_t count = 0;
        if (!split || !opt_names_has("marker file count", kind) || *value == '\0') {
            return err_set(err, -EINVAL, "usage-bad-value",
                           "option '--expect' takes marker=TEXT, file=PATH or count=N, not '%s'",
                           opt_expect.items[i]);
        }
        if (strcmp(kind, "count") == 0 && str_to_u64(value, &count) < 0) {
            return err_set(err, -EINVAL, "usage-bad-value",
                           "'--expect count=' takes a whole number, not '%s'", value);
        }
    }
    return 0;
}

/* Fills one exec_pattern per option; the regular expressions are tried here so that a typing error
 * stops us before the command runs for hours. */
static int make_patterns(struct exec_pattern *patterns, struct arena *arena, struct err *err) {
    struct pattern_set *trial = pattern_set_new();
    int rc = 0;
    for (size_t i = 0; i < opt_patterns.count && rc == 0; i++) {
        AUTO_FREE char *phase = NULL;
        const char *regex = NULL;
        enum phase known;
        if (!opt_split(opt_patterns.items[i], &phase, &regex) || *regex == '\0') {
            rc = err_set(err, -EINVAL, "usage-bad-value",
                         "option '--pattern' takes PHASE=REGEX, not '%s'", opt_patterns.items[i]);
        } else if (!phase_from_name(phase, &known)) {
            rc = words_complain_phase(phase, err);
        } else if (pattern_set_add(trial, phase, "begin", regex, err) < 0) {
            rc = err_add(err, -EINVAL, "option '--pattern'");
        } else {
            patterns[i] =
                (struct exec_pattern){.phase = arena_strdup(arena, phase), .regex = regex};
        }
    }
    (void)pattern_set_free(trial);
    return rc;
}

/* As nvidia-smi prints them; a UUID may be cut short, as CUDA_VISIBLE_DEVICES allows. */
static bool is_gpu(const char *text) {
    size_t length = strlen(text);
    if (length > 0 && strspn(text, "0123456789") == length)
        return length <= GPU_DIGITS;
    bool has_kind = strncmp(text, "GPU-", 4) == 0 || strncmp(text, "MIG-", 4) == 0;
    const char *id = has_kind ? text + 4 : text;
    id = strncmp(id, "GPU-", 4) == 0 ? id + 4 : id; /* MIG-GPU-UUID/1/0, as older drivers say */
    return has_kind && *id != '\0' && strspn(id, "0123456789abcdefABCDEF-/") == strlen(id);
}

static int check_gpus(struct err *err) {
    for (size_t i = 0; i < opt_gpus.count; i++) {
        const char *gpu = opt_gpus.items[i];
        bool is_word = opt_names_has("all none", gpu);
        if (!is_word && !is_gpu(gpu))
            return err_set(
                err, -EINVAL, "usage-bad-value",
                "option '--gpu' takes a UUID (GPU-... or MIG-...), an index, all or none, "
                "not '%s'",
                gpu);
        if (is_word && opt_gpus.count > 1)
            return err_set(err, -EINVAL, "usage-conflict", "'--gpu %s' stands alone", gpu);
        for (size_t k = 0; k < i; k++)
            if (strcmp(opt_gpus.items[k], gpu) == 0)
                return err_set(err, -EINVAL, "usage-bad-value", "the GPU '%s' is given twice", gpu);
    }
    return 0;
}

static int check_ready(struct err *err) {
    if (opt_ready == NULL)
        return 0;
    if (exec_check_ready(opt_ready, err) < 0)
        return err_add(err, -EINVAL, "option '--ready'");
    if (opt_attach != 0 && strncasecmp(opt_ready, "http://", 7) != 0)
        return err_set(err, -EINVAL, "usage-conflict",
                       "with '--attach' option '--ready' takes an http:// address: the output of "
                       "a process that runs already is not seen");
    return 0;
}

/* What is to be found in the output is never found where the output is left alone. */
static int check_tee(struct err *err) {
    bool is_none = opt_tee != NULL ? strcmp(opt_tee, "none") == 0
                                   : settings_tee() == EXEC_TEE_NONE && opt_attach == 0;
    if (!is_none)
        return 0;
    const char *reader = NULL;
    if (opt_patterns.count > 0)
        reader = "--pattern";
    else if (opt_ready != NULL && !exec_ready_is_address(opt_ready))
        reader = "--ready REGEX";
    for (size_t i = 0; i < opt_expect.count && reader == NULL; i++)
        if (strncmp(opt_expect.items[i], "marker=", 7) == 0)
            reader = "--expect marker=";
    if (reader == NULL)
        return 0;
    if (opt_tee == NULL)
        return err_set(err, -EINVAL, "usage-conflict",
                       "'%s' looks at the output, which the setting 'tee' leaves alone: add "
                       "'--tee auto'",
                       reader);
    return err_set(err, -EINVAL, "usage-conflict",
                   "'%s' looks at the output, which '--tee none' leaves alone: leave out one of "
                   "them",
                   reader);
}

static int check_options(struct exec_pattern *patterns, struct arena *arena, struct err *err) {
    enum phase phase;
    if (opt_phase != NULL && !phase_from_name(opt_phase, &phase)) {
        return words_complain_phase(opt_phase, err);
    }
    int rc = check_condition(err);
    rc = rc < 0 ? rc : check_expect(err);
    rc = rc < 0 ? rc : check_gpus(err);
    rc = rc < 0 ? rc : check_ready(err);
    rc = rc < 0 ? rc : check_tee(err);
    rc = rc < 0 || opt_max_cost == NULL ? rc : work_cost_limit_check(opt_max_cost, err);
    return rc < 0 ? rc : make_patterns(patterns, arena, err);
}

static json_t *masked(const char *text) {
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    secret_mask(text, strlen(text), &safe);
    return json_text(strbuf_str(&safe));
}

/* What only the command line knows; keys of the START record (docs/journal-format.md). */
static json_t *start_extra(const struct plan_run *plan, const struct cost_limit *limit) {
    json_t *extra = json_object();
    if (limit->offer != NULL) {
        json_put(extra, "max_cost", work_cost_limit_json(limit));
    }
    if (opt_purpose != NULL) {
        json_put_text(extra, "purpose", opt_purpose);
    }
    if (opt_step != NULL) {
        json_put(extra, "step", masked(opt_step));
    }
    if (opt_note != NULL) {
        json_put(extra, "note", masked(opt_note));
    }
    json_t *condition = json_object();
    for (size_t i = 0; i < opt_condition.count; i++) {
        AUTO_FREE char *key = NULL;
        const char *value = NULL;
        (void)opt_split(opt_condition.items[i], &key, &value);
        AUTO_STRBUF struct strbuf safe_key = STRBUF_INIT;
        str_add_printable(&safe_key, key, strlen(key));
        AUTO_STRBUF struct strbuf safe_value = STRBUF_INIT;
        secret_mask_value(key, value, &safe_value);
        json_put_text(condition, strbuf_str(&safe_key), strbuf_str(&safe_value));
    }
    json_put(extra, "condition", condition);
    json_t *changes = json_array();
    for (size_t i = 0; i < opt_changes.count; i++) {
        (void)json_array_append_new(changes, masked(opt_changes.items[i]));
    }
    json_put(extra, "changes", changes);
    plan_run_put_start(plan, extra);
    return extra;
}

/* What is said after an attempt. */
struct talk {
    bool warned;     /* at most one warning */
    int64_t attempt; /* the last one that ended */
    const struct plan_run *plan;
    const struct place *place;
};

/* What it counts for in the plan, in one sentence. */
static void tell_evidence(const struct talk *talk, const struct run *run,
                          const struct exec_result *result) {
    if (opt_common.quiet || result->raise_signal != 0)
        return;
    AUTO_STRBUF struct strbuf sentence = STRBUF_INIT;
    plan_run_sentence(talk->plan, talk->place, run->id, result->journal_path, &sentence);
    cli_note(strbuf_str(&sentence));
}

static void tell_retry(const struct run *run, int64_t attempt, bool will_retry) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (will_retry) {
        strbuf_printf(&text, _("trying again: attempt %lld of %lld"), (long long)attempt + 1,
                      (long long)opt_retry + 1);
    } else if (run != NULL && run->outcome != OUTCOME_OK && run->outcome != OUTCOME_INTERRUPTED &&
               !outcome_can_retry(run->outcome)) {
        strbuf_printf(&text, _("not repeated: %s is not cured by repeating"),
                      words_shown(outcome_name(run->outcome)));
    }
    cli_note(strbuf_str(&text));
}

/* A typing error in --input: the run is fine, but its record ties it to nothing. */
static void tell_absent_inputs(const struct run *run) {
    size_t index;
    json_t *input;
    json_array_foreach (json_get_array(run->start, "inputs"), index, input) {
        if (strcmp(json_get_text(input, "kind", ""), "absent") != 0)
            continue;
        AUTO_FREE char *warning = mem_printf(_("the input '%s' did not exist at the start"),
                                             json_get_text(input, "path", "?"));
        cli_warning(warning);
    }
}

static void attempt_done(const struct run *run, const struct exec_result *result, bool will_retry,
                         void *context) {
    struct talk *talk = context;
    if (run != NULL && !opt_common.quiet) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        report_run_summary(run, cli_style(STDERR_FILENO), &text);
        cli_say(&text);
    }
    if (*result->warning != '\0' && !talk->warned) {
        talk->warned = true;
        cli_warning(result->warning);
    }
    talk->attempt++;
    if (run != NULL && talk->attempt == 1) {
        tell_absent_inputs(run);
    }
    if (opt_retry > 0) {
        tell_retry(run, talk->attempt, will_retry);
    }
    if (run != NULL && !will_retry) {
        tell_evidence(talk, run, result);
    }
}

static void fill_exec(struct exec_options *exec, const struct exec_pattern *patterns) {
    exec->phase = opt_phase;
    exec->patterns = patterns;
    exec->pattern_count = opt_patterns.count;
    exec->inputs = opt_inputs.items;
    exec->outputs = opt_outputs.items;
    exec->expect = opt_expect.items;
    exec->ready = opt_ready;
    exec->gpus = opt_gpus.count > 0 ? opt_gpus.items : NULL;
    exec->max_time_ns = opt_max_time_ns;
    exec->grace_ns = opt_grace_ns >= 0 ? opt_grace_ns : settings_grace_ns();
    exec->linger_ns = opt_linger_ns >= 0 ? opt_linger_ns : settings_linger_ns();
    exec->record_wait_ns = settings_record_wait_ns();
    exec->tee = settings_tee();
    if (opt_tee != NULL) {
        exec->tee = strcmp(opt_tee, "none") == 0 ? EXEC_TEE_NONE : EXEC_TEE_AUTO;
    }
}

/* A shell loop stops at Ctrl-C only if we die of the signal as the command did. */
static void die_of(int number) {
    (void)signal(number, SIG_DFL);
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, number);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    (void)kill(getpid(), number);
}

/* The plan is looked for, and what it says about this command is taken; warnings are said at once,
 * since the command may run for days. */
static int find_plan(const char *const *argv, const char *cwd, const struct place *place,
                     struct plan_run *plan, struct session_here *ret_session, struct arena *arena,
                     struct err *err) {
    struct plan_pair *given = arena_alloc(arena, (opt_condition.count + 1) * sizeof *given);
    for (size_t i = 0; i < opt_condition.count; i++) {
        AUTO_FREE char *key = NULL;
        (void)opt_split(opt_condition.items[i], &key, &given[i].value);
        given[i].name = arena_strdup(arena, key);
    }
    const char *environment = opt_env != NULL ? opt_env : settings_get(SETTING_ENV).text;
    struct plan_run_request request = {
        .plan = opt_common.plan,
        .block = opt_block,
        .step = opt_step,
        .environment = environment != NULL && *environment != '\0' ? environment : NULL,
        .given = given,
        .given_count = opt_condition.count,
        .argv = argv[0] != NULL ? argv : NULL,
        .cwd = cwd,
    };
    (void)session_here_find(place, arena, &request.session);
    *ret_session = request.session;
    return plan_run_find(&request, plan, err);
}

/* A plan's own command runs where the plan says. */
static int enter_folder(const struct plan_run *plan, struct err *err) {
    if (plan->folder == NULL) {
        return 0;
    }
    if (chdir(plan->folder) < 0) {
        return err_set(err, -errno, "plan-folder", "cannot go to the folder '%s' of the plan: %s",
                       plan->folder, strerror(errno));
    }
    (void)setenv("PWD", plan->folder, 1);
    return 0;
}

/* --max-cost becomes a time, the shorter one of both; it is said at once what it is. */
static int limit_cost(const struct plan_run *plan, const struct session_here *session,
                      struct arena *arena, struct exec_options *exec, struct cost_limit *ret,
                      struct err *err) {
    const struct cost_limit_request request = {
        .plan = plan->plan,
        .amount = opt_max_cost,
        .offer = opt_offer,
        .session_offer = session->offer,
        .environment = plan->environment,
        .grace_ns = exec->grace_ns,
        .now_utc_ns = clock_utc_ns(),
    };
    *ret = (struct cost_limit){0};
    int rc = opt_max_cost == NULL ? 0 : work_cost_limit(&request, arena, ret, err);
    if (rc < 0 || opt_max_cost == NULL) {
        return rc;
    }
    if (exec->max_time_ns == 0 || ret->max_time_ns < exec->max_time_ns) {
        exec->max_time_ns = ret->max_time_ns;
    }
    AUTO_STRBUF struct strbuf time = STRBUF_INIT;
    quantity_format_value((double)ret->max_time_ns / 1e9, UNIT_SECOND, &time);
    AUTO_FREE char *note = mem_printf(
        _("%s: the command is stopped after %s; counted are rate, increment, terms, set-up fee and "
          "taxes of a rental of its own, not storage and transfer"),
        ret->text, strbuf_str(&time));
    cli_note(note);
    return 0;
}

static int prepare(char **argv, const struct place *place, struct arena *arena,
                   const struct exec_pattern *patterns, struct exec_process *process,
                   struct plan_run *plan, struct exec_options *exec, struct cost_limit *limit,
                   struct err *err) {
    bool attaches = process != NULL;
    struct session_here session;
    int rc =
        find_plan(attaches ? exec_process_argv(process) : (const char *const *)argv,
                  attaches ? exec_process_cwd(process) : NULL, place, plan, &session, arena, err);
    if (rc < 0) {
        return rc;
    }
    fill_exec(exec, patterns);
    rc = limit_cost(plan, &session, arena, exec, limit, err);
    if (rc < 0) {
        return rc;
    }
    plan_run_fill(plan, exec);
    exec->process = process;
    exec->attach = (pid_t)opt_attach;
    for (size_t i = 0; i < plan->warning_count; i++) {
        cli_warning(plan->warnings[i]);
    }
    return enter_folder(plan, err);
}

/* Without a command there must be something that names one in the plan, or a plan to say what there
 * is to name. */
static bool may_have_command(struct arena *arena) {
    const char *path = NULL;
    struct err later = ERR_INIT; /* said when the plan is looked for again */
    return opt_block != NULL || opt_step != NULL || opt_condition.count > 0 ||
           work_find_plan(opt_common.plan, arena, &path, &later) < 0 || path != NULL;
}

/* What the command line alone tells to be wrong. */
static int check_usage(int argc, struct exec_pattern *patterns, struct arena *arena,
                       struct err *err) {
    if (opt_attach != 0 && argc > 0) {
        return err_set(err, -EINVAL, "usage-conflict",
                       "'--attach' watches a process that runs already: it takes no command");
    }
    if (argc == 0 && opt_attach == 0 && !may_have_command(arena)) {
        return err_set(err, -EINVAL, "usage-operands", "something is missing: probelauf %s %s",
                       command_run.name, _(command_run.usage));
    }
    return check_options(patterns, arena, err);
}

static void free_process(struct exec_process **process) {
    *process = exec_process_free(*process);
}
#define AUTO_PROCESS __attribute__((cleanup(free_process)))

/* It may take hours until there is more to say. */
static void tell_attached(const struct exec_process *process) {
    const char *name = exec_process_argv(process)[0];
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    str_add_printable(&safe, name, strlen(name));
    strbuf_printf(&text, _("watching process %lld (%s); Ctrl-C ends the watching, not the process"),
                  (long long)opt_attach, strbuf_str(&safe));
    cli_note(strbuf_str(&text));
}

static int run_run(int argc, char **argv) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_PLAN_RUN struct plan_run plan = {0};
    AUTO_PROCESS struct exec_process *process = NULL;
    struct exec_pattern *patterns = NULL;
    if (opt_patterns.count > 0) {
        patterns = arena_alloc(arena, opt_patterns.count * sizeof(*patterns));
    }
    struct err err = ERR_INIT;
    struct place place;
    if (check_usage(argc, patterns, arena, &err) < 0) {
        return cli_usage_error("run", &err);
    }
    /* A misspelt ledger would take the record where nobody finds it: that is seen before anything
     * starts. */
    struct measure_options options = {.retries = opt_retry};
    struct cost_limit limit = {0};
    if ((opt_attach != 0 && exec_process_open((pid_t)opt_attach, &process, &err) < 0) ||
        cli_place(arena, &place, &err) < 0 || store_check_url(place.ledger_url, &err) < 0 ||
        prepare(argv, &place, arena, patterns, process, &plan, &options.exec, &limit, &err) < 0) {
        (void)cli_error(&err);
        return EXIT_CODE_OWN_FAILURE;
    }
    AUTO_JSON json_t *extra = start_extra(&plan, &limit);
    options.exec.start_extra = extra;
    struct talk talk = {.plan = &plan, .place = &place};
    struct exec_result result = {0};
    if (process != NULL) {
        tell_attached(process);
    }
    int rc = measure_run(&options, &place, attempt_done, &talk, &result, &err);
    if (rc < 0) {
        (void)cli_error(&err);
        return EXIT_CODE_OWN_FAILURE;
    }
    if (result.raise_signal > 0) {
        die_of(result.raise_signal);
    }
    return result.status;
}

const struct command command_run = {
    .name = "run",
    .summary = N_("Run a command, measure what it takes and keep the record."),
    .details = N_(
        "The exit status is the command's. 124: stopped by --max-time or --max-cost; 125: "
        "measuring could not "
        "start and "
        "neither did the command; 126: not executable; 127: not found. Standard output is the "
        "command's alone; what probelauf says comes on standard error after the command has "
        "ended.\n"
        "--retry repeats the outcomes failed, killed, gpu_fault, preempted and lost. It does not "
        "repeat what would meet the same again: out of memory, full disk, no access, missing "
        "dependency, used-up --max-time, interrupt, or a command that cannot be started.\n"
        "With a plan (probelauf.yaml here or above, --plan FILE; --plan none: without): -c finds "
        "the "
        "condition, and the plan's inputs, outputs, checks, results and patterns are added to "
        "those "
        "given here. Without COMMAND the plan's own runs, in its folder: that of the condition, or "
        "of "
        "--step. A plan that is broken, or does not know the condition, is a warning; the command "
        "is measured all the same. After the run one sentence says what it counts for.\n"
        "--attach PID measures a process that runs already: time, CPU, memory, I/O and GPU from "
        "now on, until it ends, --max-time is over, or Ctrl-C ends the watching; the process goes "
        "on. Its output and its exit status are not seen (outcome ended); the status is 0, after "
        "Ctrl-C 130. "
        "Containers: the pid on this machine."),
    .usage = N_("[options] [-- COMMAND [ARG...] | --attach PID]"),
    .examples = N_(
        "probelauf run -- python3 train.py --epochs 1  # measure one trial run\n"
        "probelauf run -c ratio=0.3 -c seed=1 -- ./bench.sh  # name the parameters it ran with\n"
        "probelauf run --block compare -c policy=evict -c keep=0.5  # the plan's command for this "
        "condition\n"
        "probelauf run --phase setup -- pip install -r requirements.txt  # the whole command is "
        "set-up\n"
        "probelauf run --max-time 2h --retry 2 -- ./job.sh  # stop after two hours; repeat what "
        "can be "
        "cured\n"
        "probelauf run --max-cost 20EUR -- ./job.sh  # stop before it costs more under the offer\n"
        "probelauf run --ready http://localhost:8000/health -- vllm serve MODEL  # load until it "
        "answers\n"
        "probelauf run --attach 4711 --max-time 10m  # look at a running process for ten minutes\n"
        "probelauf run --pattern 'load=^Loading' --pattern 'compute=^Step 1/' -- ./job.sh  # "
        "phases by "
        "lines of output\n"),
    .options = run_options,
    .min_args = 0,
    .max_args = -1,
    .stops_at_operand = true,
    .operand = "",
    .traits = COMMAND_LEDGER | COMMAND_RUNS | COMMAND_PLAN,
    .run = run_run,
};
