/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * See plan-run.h: which condition, block and step a command belongs to, and what of the plan goes
 * to the launcher. Decides nothing about evidence, and stores nothing about it.
 */
#include "work/plan-run.h"

#include "base/digest.h"
#include "base/msg.h"
#include "base/str.h"
#include "exec/expect.h"
#include "text/pattern.h"
#include "text/secret.h"
#include "work/find-plan.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void plan_run_done(struct plan_run *run) {
    run->plan = plan_free(run->plan);
    mem_free_ptr(&run->warnings);
    run->arena = arena_free(run->arena);
    *run = (struct plan_run){0};
}

static void warn(struct plan_run *run, const char *take_text) {
    run->warnings = mem_room(run->warnings, run->warning_count, sizeof *run->warnings);
    run->warnings[run->warning_count++] = take_text;
}

/* ---- the plan ---- */

/* A broken plan does not stop a run that has its command. */
static int read_plan(const char *path, bool needed, struct plan_run *run, struct err *err) {
    AUTO_PLAN struct plan *plan = NULL;
    struct plan_complaints complaints = {0};
    struct err why = ERR_INIT;
    if (plan_read(path, &plan, &complaints, &why) == 0) {
        run->plan = steal(plan);
        return 0;
    }
    if (needed)
        return err_set(err, why.code, why.id, "%s; 'probelauf check' lists all that is wrong",
                       why.text);
    warn(run, arena_printf(run->arena,
                           _("this run is recorded without its plan: %s; 'probelauf check' lists "
                             "all that is wrong"),
                           why.text));
    return 0;
}

static int find_plan(const struct plan_run_request *request, struct plan_run *run,
                     struct err *err) {
    const char *path = NULL;
    struct err why = ERR_INIT;
    bool needed = request->argv == NULL;
    int rc = work_find_plan(request->plan, run->arena, &path, &why);
    if (rc < 0 && (needed || request->plan != NULL)) {
        *err = why;
        return rc;
    }
    if (rc < 0)
        warn(run,
             arena_printf(run->arena, _("this run is recorded without its plan: %s"), why.text));
    if (path != NULL)
        return read_plan(path, needed, run, err);
    if (rc < 0 || (!needed && request->block == NULL))
        return 0;
    if (needed)
        return err_set(err, -ENOENT, "plan-missing",
                       "no command was given, and there is no plan here that could have one");
    warn(run, arena_printf(run->arena,
                           _("there is no plan here or above, so block '%s' is not recorded"),
                           request->block));
    return 0;
}

/* ---- step and environment ---- */

static const char *nearest(const char *word, const char *const *names, size_t count,
                           struct arena *arena) {
    const char *near = count > 0 ? str_nearest(word, names, count) : NULL;
    return near != NULL ? arena_printf(arena, _("; did you mean '%s'?"), near) : "";
}

static const char *unknown_step(const struct plan_run *run, const char *name) {
    const struct plan *plan = run->plan;
    const char **names = arena_alloc(run->arena, (plan->step_count + 1) * sizeof *names);
    for (size_t i = 0; i < plan->step_count; i++)
        names[i] = plan->steps[i].name;
    return arena_printf(run->arena, _("the plan has no step '%s'%s"), name,
                        nearest(name, names, plan->step_count, run->arena));
}

/* The record of a machine often fits more than one, and then counts for none. */
static const char *unsaid_environment(const struct plan_run *run) {
    AUTO_STRBUF struct strbuf ids = STRBUF_INIT;
    for (size_t i = 0; i < run->plan->environment_count; i++)
        if (run->plan->environments[i].id != NULL)
            strbuf_add_next(&ids, ", ", run->plan->environments[i].id);
    return arena_printf(run->arena,
                        _("which environment of the plan this is was not said: if the record fits "
                          "more than one it counts for none; say --env (the plan has: %s)"),
                        strbuf_str(&ids));
}

static const char *unknown_environment(const struct plan_run *run, const char *id) {
    const struct plan *plan = run->plan;
    const char **names = arena_alloc(run->arena, (plan->environment_count + 1) * sizeof *names);
    const char *list = "";
    if (plan->environment_count == 0)
        return arena_printf(run->arena,
                            _("the plan names no environments, so there is no '%s'; the run counts "
                              "for none"),
                            id);
    for (size_t i = 0; i < plan->environment_count; i++) {
        names[i] = plan->environments[i].id;
        list = arena_printf(run->arena, "%s%s%s", list, i > 0 ? ", " : "", names[i]);
    }
    return arena_printf(run->arena,
                        _("the plan has no environment '%s', so the run counts for none; it has: "
                          "%s%s"),
                        id, list, nearest(id, names, plan->environment_count, run->arena));
}

static int find_step(const struct plan_run_request *request, struct plan_run *run,
                     struct err *err) {
    if (request->step == NULL)
        return 0;
    run->step = plan_step_find(run->plan, request->step);
    if (run->step != NULL)
        return 0;
    const char *why = unknown_step(run, request->step);
    if (request->argv == NULL)
        return err_set(err, -EINVAL, "step-unknown", "%s", why);
    warn(run, why);
    return 0;
}

/* ---- the condition ---- */

/* The block is known without being said where no other has the condition. */
static const struct plan_block *only_block(const struct plan *plan,
                                           const struct plan_condition *condition) {
    for (size_t i = 0; i < plan->block_count; i++)
        for (size_t j = 0; j < plan->blocks[i].condition_count; j++)
            if (&plan->blocks[i] != condition->block &&
                strcmp(plan->blocks[i].conditions[j].id, condition->id) == 0)
                return NULL;
    return condition->block;
}

#define CHOICES_SHOWN 8u

/* " -c policy=full|evict -c keep=0.5|0.3": what has to be said within the block. */
static void add_axes(struct strbuf *out, const struct plan_block *block) {
    for (size_t i = 0; i < block->axis_count; i++) {
        const struct plan_axis *axis = &block->axes[i];
        if (axis->value_count < 2)
            continue;
        strbuf_printf(out, " -c %s=", axis->name);
        for (size_t k = 0; k < axis->value_count && k < CHOICES_SHOWN; k++)
            strbuf_printf(out, "%s%s", k > 0 ? "|" : "", axis->values[k].text);
        if (axis->value_count > CHOICES_SHOWN)
            strbuf_add_str(out, "|...");
    }
}

/* Nothing was said at all: what there is to choose from. */
static int say_choices(const struct plan *plan, struct err *err) {
    AUTO_STRBUF struct strbuf list = STRBUF_INIT;
    for (size_t i = 0; i < plan->block_count && i < CHOICES_SHOWN; i++) {
        strbuf_printf(&list, "%s--block %s", i > 0 ? "; " : "", plan->blocks[i].id);
        add_axes(&list, &plan->blocks[i]);
    }
    for (size_t i = 0; i < plan->step_count && i < CHOICES_SHOWN; i++)
        strbuf_printf(&list, "%s--step %s", list.length > 0 ? "; " : "", plan->steps[i].name);
    if (plan->block_count > CHOICES_SHOWN || plan->step_count > CHOICES_SHOWN)
        strbuf_add_str(&list, _("; 'probelauf block list' shows all"));
    if (list.length == 0)
        return err_set(err, -EINVAL, "plan-condition",
                       "no command was given, and the plan has neither blocks nor steps");
    return err_set(err, -EINVAL, "plan-condition",
                   "no command was given; say what of the plan is to run: %s", strbuf_str(&list));
}

static int find_condition(const struct plan_run_request *request, struct plan_run *run,
                          struct err *err) {
    const char *why = NULL;
    if (request->block != NULL)
        run->block = plan_block_find(run->plan, request->block);
    bool said = request->block != NULL || request->given_count > 0;
    bool needed = request->argv == NULL && run->step == NULL;
    if (!said)
        return needed ? say_choices(run->plan, err) : 0;
    (void)plan_match(run->plan, request->block, request->given, request->given_count, run->arena,
                     &run->condition, &why);
    if (run->condition != NULL) {
        if (run->block == NULL)
            run->block = only_block(run->plan, run->condition);
        return 0;
    }
    assert(why != NULL);
    if (needed)
        return err_set(err, -EINVAL, "plan-condition", "no command was given, and %s", why);
    /* a step may have parameters of its own */
    if (run->step == NULL || request->block != NULL)
        warn(run, arena_printf(run->arena, _("recorded without a condition of the plan: %s"), why));
    return 0;
}

/* ---- the command ---- */

static const char *block_folder(const struct plan *plan, const struct plan_block *block,
                                struct arena *arena) {
    if (block->folder == NULL)
        return plan->folder;
    return block->folder[0] == '/' ? block->folder
                                   : arena_printf(arena, "%s/%s", plan->folder, block->folder);
}

static const char *const *step_command(const struct plan_step *step, struct arena *arena) {
    const char **argv = arena_alloc(arena, (step->run.count + 3) * sizeof *argv);
    size_t count = 0;
    if (step->run.count == 0)
        return NULL;
    if (step->shell) {
        argv[count++] = "sh";
        argv[count++] = "-c";
    }
    for (size_t i = 0; i < step->run.count; i++)
        argv[count++] = step->run.items[i].text;
    return argv;
}

static int take_command(struct plan_run *run, struct err *err) {
    const struct plan *plan = run->plan;
    if (run->step != NULL) {
        run->argv = step_command(run->step, run->arena);
        run->folder = plan->folder;
        if (run->argv == NULL)
            return err_set(err, -EINVAL, "plan-command",
                           "no command was given, and step '%s' of the plan has none",
                           run->step->name);
        return 0;
    }
    run->argv = plan_command(run->condition, run->arena);
    run->folder = block_folder(plan, run->condition->block, run->arena);
    if (run->argv == NULL)
        return err_set(err, -EINVAL, "plan-command",
                       "no command was given, and block '%s' of the plan has none",
                       run->condition->block->id);
    return 0;
}

/* The first argument that is not as planned; NULL: none, or nothing is planned. */
static const char *difference(const struct plan_run *run, const char *const *planned) {
    size_t i = 0;
    while (planned != NULL && planned[i] != NULL && run->argv[i] != NULL &&
           strcmp(planned[i], run->argv[i]) == 0)
        i++;
    const char *is = run->argv[i], *wanted = planned != NULL ? planned[i] : NULL;
    if (planned == NULL || (is == NULL && wanted == NULL))
        return NULL;
    if (wanted == NULL)
        return arena_printf(run->arena, _("it goes on with '%s'"), is);
    return is == NULL ? arena_printf(run->arena, _("it ends before '%s'"), wanted)
                      : arena_printf(run->arena, _("'%s' instead of '%s'"), is, wanted);
}

static void compare_step(struct plan_run *run) {
    const char *what = difference(run, step_command(run->step, run->arena));
    if (what != NULL)
        warn(run, arena_printf(run->arena,
                               _("the command is not the plan's for step '%s': %s; its time counts "
                                 "for the step all the same"),
                               run->step->name, what));
}

/* What the record says of where the command runs: as the plan says it, if it is there. */
static const char *folder_now(const struct plan_run *run) {
    const struct plan *plan = run->plan;
    const struct plan_block *block = run->condition != NULL ? run->condition->block : NULL;
    struct stat here, planned;
    AUTO_FREE char *path = run->cwd != NULL ? mem_strdup(run->cwd) : getcwd(NULL, 0);
    if (stat(run->cwd != NULL ? run->cwd : ".", &here) < 0)
        return NULL;
    if (block != NULL && stat(block_folder(plan, block, run->arena), &planned) == 0 &&
        here.st_dev == planned.st_dev && here.st_ino == planned.st_ino)
        return plan_folder_text(plan, block->folder, run->arena);
    return path != NULL && path[0] == '/' ? plan_folder_of(plan, path, run->arena) : NULL;
}

/* Without a block that was said, any that has the condition will do. */
static bool is_folder_of_plan(const struct plan_run *run, const char *folder) {
    const struct plan *plan = run->plan;
    for (size_t i = 0; i < plan->block_count; i++)
        for (size_t k = 0; k < plan->blocks[i].condition_count; k++)
            if ((run->block == NULL || run->block == &plan->blocks[i]) &&
                strcmp(plan->blocks[i].conditions[k].id, run->condition->id) == 0 &&
                strcmp(plan_folder_text(plan, plan->blocks[i].folder, run->arena), folder) == 0)
                return true;
    return false;
}

/* The same words are another command where they find other files. */
static void compare_folder(struct plan_run *run) {
    const struct plan_block *block = run->condition != NULL ? run->condition->block : NULL;
    if (block == NULL || block->command.count == 0)
        return;
    const char *is = folder_now(run);
    const char *wanted = plan_folder_text(run->plan, block->folder, run->arena);
    if (is == NULL || !is_folder_of_plan(run, is))
        warn(run, arena_printf(run->arena,
                               _("the command does not run where the plan says for %s of block "
                                 "'%s': in folder '%s' instead of '%s'; the run is no evidence "
                                 "for it"),
                               run->condition->label, block->id, is != NULL ? is : "?", wanted));
}

static void compare_command(struct plan_run *run) {
    if (run->step != NULL) {
        compare_step(run);
        return;
    }
    const char *what =
        difference(run, run->condition != NULL ? plan_command(run->condition, run->arena) : NULL);
    if (what == NULL) {
        compare_folder(run);
        return;
    }
    warn(run, arena_printf(run->arena,
                           _("the command is not the plan's for %s of block '%s': %s; the run is "
                             "no evidence for it"),
                           run->condition->label, run->condition->block->id, what));
}

int plan_run_find(const struct plan_run_request *request, struct plan_run *ret, struct err *err) {
    *ret = (struct plan_run){
        .arena = arena_new(),
        .argv = request->argv,
        .cwd = request->cwd,
        .environment = request->environment,
        .session = request->session.id,
    };
    int rc = find_plan(request, ret, err);
    if (rc < 0 || ret->plan == NULL)
        return rc;
    /* A session of another study may be in an environment that this plan does not have. */
    const char *reserved = request->session.environment;
    if (ret->environment == NULL && reserved != NULL &&
        plan_environment_find(ret->plan, reserved) != NULL)
        ret->environment = reserved;
    if (ret->environment != NULL && plan_environment_find(ret->plan, ret->environment) == NULL)
        warn(ret, unknown_environment(ret, ret->environment));
    rc = find_step(request, ret, err);
    rc = rc < 0 ? rc : find_condition(request, ret, err);
    if (rc < 0)
        return rc;
    if (ret->environment == NULL && ret->plan->environment_count > 1 &&
        (ret->condition != NULL || ret->step != NULL))
        warn(ret, unsaid_environment(ret));
    if (request->argv == NULL)
        return take_command(ret, err);
    compare_command(ret);
    return 0;
}

/* ---- START ---- */

static json_t *masked(const char *text) {
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    secret_mask(text, strlen(text), &safe);
    return json_text(strbuf_str(&safe));
}

static json_t *masked_value(const struct plan_pair *pair) {
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    secret_mask_value(pair->name, pair->value, &safe);
    return json_text(strbuf_str(&safe));
}

/* A digest holds no secret, what somebody wrote may. */
static json_t *template_id(const char *id) {
    bool is_digest =
        strlen(id) == SHA256_HEX_SIZE - 1 && id[strspn(id, "0123456789abcdef")] == '\0';
    return is_digest ? json_text(id) : masked(id);
}

void plan_run_put_start(const struct plan_run *run, json_t *start) {
    if (run->environment != NULL)
        json_put(start, "environment_id", masked(run->environment));
    if (run->session != NULL)
        json_put_text(start, "session", run->session);
    if (run->plan == NULL)
        return;
    const struct plan_study *study = &run->plan->study;
    if (study->id != NULL)
        json_put_text(start, "study", study->id);
    if (study->paper_version != NULL)
        json_put(start, "paper_version", masked(study->paper_version));
    const char *folder = folder_now(run);
    if (folder != NULL)
        json_put(start, "plan_folder", masked(folder));
    if (run->block != NULL)
        json_put_text(start, "block", run->block->id);
    if (run->condition == NULL)
        return;
    json_put_text(start, "condition_id", run->condition->id);
    if (run->condition->block->template_id != NULL)
        json_put(start, "template_id", template_id(run->condition->block->template_id));
    json_t *parameters = json_object();
    for (size_t i = 0; i < run->condition->parameter_count; i++) {
        const struct plan_pair *pair = &run->condition->parameters[i];
        json_put(parameters, pair->name, masked_value(pair));
    }
    json_put(start, "parameters", parameters);
}

/* ---- what goes to the launcher ---- */

static size_t count_of(const char *const *list) {
    size_t count = 0;
    while (list != NULL && list[count] != NULL)
        count++;
    return count;
}

static const char *join(const char *folder, const char *path, struct arena *arena) {
    while (path[0] == '.' && path[1] == '/')
        path += 2;
    return path[0] == '/' || folder == NULL ? path : arena_printf(arena, "%s/%s", folder, path);
}

/* Lists of the launcher as they grow: what the user gave, then what the plan adds. */
struct filling {
    struct plan_run *run;
    const char *here;               /* the current folder; NULL: not known */
    const struct plan_block *block; /* of the condition, or an empty one without */
    const char *folder;             /* that the block's paths are relative to */
};

/* As the launcher must see a path that was given relative to here. */
static const char *given_path(const struct filling *f, const char *path) {
    return f->run->folder != NULL ? join(f->here, path, f->run->arena) : path;
}

static bool has_path(const struct filling *f, const char **list, size_t count, const char *path) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(join(f->here, list[i], f->run->arena), path) == 0)
            return true;
    return false;
}

static const char *filled(const struct filling *f, const char *text) {
    return plan_fill(f->run->condition, text, f->run->arena);
}

/* The record calls an input of the plan as the plan does, wherever it lies here. */
static void fill_inputs(const struct filling *f, struct exec_options *exec) {
    const struct plan_texts *texts = &f->block->inputs;
    size_t count = count_of(exec->inputs), kept = 0;
    const char **paths = arena_alloc(f->run->arena, (count + texts->count + 1) * sizeof *paths);
    const char **names = arena_alloc(f->run->arena, (count + texts->count + 1) * sizeof *names);
    for (size_t i = 0; i < texts->count; i++) {
        names[kept] = filled(f, texts->items[i].text);
        paths[kept] = join(f->folder, names[kept], f->run->arena);
        kept++;
    }
    size_t of_plan = kept;
    for (size_t i = 0; i < count; i++) {
        if (has_path(f, paths, of_plan, join(f->here, exec->inputs[i], f->run->arena)))
            continue;
        names[kept] = exec->inputs[i];
        paths[kept++] = given_path(f, exec->inputs[i]);
    }
    exec->inputs = paths;
    exec->input_names = names;
}

static void fill_outputs(const struct filling *f, struct exec_options *exec) {
    const struct plan_texts *texts = &f->block->outputs;
    size_t count = count_of(exec->outputs);
    const char **paths = arena_alloc(f->run->arena, (count + texts->count + 1) * sizeof *paths);
    for (size_t i = 0; i < count; i++)
        paths[i] = given_path(f, exec->outputs[i]);
    for (size_t i = 0; i < texts->count; i++) {
        const char *path = join(f->folder, filled(f, texts->items[i].text), f->run->arena);
        if (!has_path(f, paths, count, path))
            paths[count++] = path;
    }
    exec->outputs = paths;
}

/* "file=PATH" with the path from `folder`; other checks as they are. */
static const char *check_in(const char *check, const char *folder, struct arena *arena) {
    const char *path = check + strlen("file=");
    return str_starts_with(check, "file=") && *path != '\0' && path[0] != '/'
               ? arena_printf(arena, "file=%s", join(folder, path, arena))
               : check;
}

static bool is_check(struct plan_run *run, const char *check) {
    const char *const list[] = {check, NULL};
    struct expectations *trial = NULL;
    struct err err = ERR_INIT;
    int rc = expectations_new(list, &trial, &err);
    if (rc < 0)
        warn(run, arena_printf(run->arena, _("a check of the plan is ignored: %s"), err.text));
    else
        trial = expectations_free(trial);
    return rc == 0;
}

static void fill_checks(const struct filling *f, struct exec_options *exec) {
    const struct plan_texts *texts = &f->block->expect;
    size_t count = count_of(exec->expect);
    const char **checks = arena_alloc(f->run->arena, (count + texts->count + 1) * sizeof *checks);
    for (size_t i = 0; i < count; i++)
        checks[i] = f->run->folder != NULL ? check_in(exec->expect[i], f->here, f->run->arena)
                                           : exec->expect[i];
    for (size_t i = 0; i < texts->count; i++) {
        const char *check = check_in(filled(f, texts->items[i].text), f->folder, f->run->arena);
        if (is_check(f->run, check))
            checks[count++] = check;
    }
    exec->expect = checks;
}

static void fill_results(const struct filling *f, struct exec_options *exec) {
    const struct plan_block *block = f->block;
    struct exec_output_result *results =
        arena_alloc(f->run->arena, (block->result_count + 1) * sizeof *results);
    size_t count = 0;
    for (size_t i = 0; i < block->result_count; i++) {
        const struct plan_result *result = &block->results[i];
        struct err err = ERR_INIT;
        if (result->file == NULL || result->name == NULL)
            continue; /* the command reports it itself */
        struct extract_spec spec = {.kind = result->json != NULL  ? EXTRACT_JSON
                                            : result->csv != NULL ? EXTRACT_CSV
                                                                  : EXTRACT_REGEX,
                                    .what = result->json != NULL  ? result->json
                                            : result->csv != NULL ? result->csv
                                                                  : result->regex,
                                    .row = result->row};
        if (spec.what == NULL || extract_check(&spec, &err) < 0) {
            warn(f->run, arena_printf(f->run->arena, _("the plan's result '%s' is ignored: %s"),
                                      result->name,
                                      spec.what == NULL ? _("it does not say where") : err.text));
            continue;
        }
        results[count++] = (struct exec_output_result){
            .name = result->name,
            .unit = result->unit,
            .file = join(f->folder, filled(f, result->file), f->run->arena),
            .label = result->file,
            .spec = spec,
        };
    }
    exec->results = results;
    exec->result_count = count;
}

/* Those of the command line stand first: the first that matches holds. */
static void fill_patterns(struct plan_run *run, struct exec_options *exec) {
    const struct plan *plan = run->plan;
    struct pattern_set *trial = pattern_set_new();
    size_t count = exec->pattern_count;
    struct exec_pattern *patterns =
        arena_alloc(run->arena, (count + plan->pattern_count + 1) * sizeof *patterns);
    if (count > 0)
        memcpy(patterns, exec->patterns, count * sizeof *patterns);
    for (size_t i = 0; i < plan->pattern_count; i++) {
        const struct plan_pattern *pattern = &plan->patterns[i];
        struct err err = ERR_INIT;
        if (pattern->phase != NULL && pattern->regex != NULL &&
            pattern_set_add(trial, pattern->phase, "begin", pattern->regex, &err) == 0)
            patterns[count++] = (struct exec_pattern){pattern->phase, pattern->regex};
        else
            warn(run,
                 arena_printf(run->arena, _("a pattern of the plan is ignored: %s"), err.text));
    }
    (void)pattern_set_free(trial);
    exec->patterns = patterns;
    exec->pattern_count = count;
}

static void fill_nvtx(struct plan_run *run, struct exec_options *exec) {
    const struct plan_pairs *pairs = &run->plan->nvtx;
    struct exec_nvtx *ranges = arena_alloc(run->arena, (pairs->count + 1) * sizeof *ranges);
    for (size_t i = 0; i < pairs->count; i++)
        ranges[i] = (struct exec_nvtx){pairs->items[i].name, pairs->items[i].value};
    exec->nvtx = ranges;
    exec->nvtx_count = pairs->count;
}

static void fill_code(struct plan_run *run, struct exec_options *exec) {
    const struct plan *plan = run->plan;
    const char **paths = arena_alloc(run->arena, (plan->code.paths.count + 1) * sizeof *paths);
    for (size_t i = 0; i < plan->code.paths.count; i++)
        paths[i] = plan->code.paths.items[i].text;
    exec->code = (struct exec_code){.folder = plan->folder, .except = plan->name, .paths = paths};
}

void plan_run_fill(struct plan_run *run, struct exec_options *exec) {
    exec->argv = run->argv;
    if (run->plan == NULL)
        return;
    /* Without a condition nothing of a block can be filled in. */
    static const struct plan_block empty = {0};
    const struct plan_block *block = run->condition != NULL ? run->condition->block : &empty;
    AUTO_FREE char *here = getcwd(NULL, 0);
    struct filling f = {.run = run,
                        .here = here != NULL ? arena_strdup(run->arena, here) : NULL,
                        .block = block,
                        .folder = block_folder(run->plan, block, run->arena)};
    exec->study = run->plan->study.id;
    fill_code(run, exec);
    fill_patterns(run, exec);
    fill_nvtx(run, exec);
    fill_inputs(&f, exec);
    fill_outputs(&f, exec);
    fill_checks(&f, exec);
    fill_results(&f, exec);
}
