/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding and reading the plan for every command that works with one, and saying what is wrong with
 * it. Never writes to it. */
#include "cli/view.h"

#include "base/msg.h"
#include "base/str.h"
#include "cli/cli.h"
#include "work/find-plan.h"

#include <errno.h>
#include <string.h>

static void complain(const char *path, const struct plan_complaint *complaint) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    strbuf_printf(&line, "probelauf: %s[%s]: ", complaint->warning ? _("warning") : _("error"),
                  complaint->id);
    str_add_printable(&line, path, strlen(path));
    if (complaint->at.line > 0) {
        strbuf_printf(&line, ":%u:%u", complaint->at.line, complaint->at.column);
    }
    strbuf_add_str(&line, ": ");
    str_add_printable(&line, complaint->text, strlen(complaint->text));
    strbuf_add_char(&line, '\n');
    cli_say(&line);
}

void view_complain(const char *path, const struct plan_complaints *complaints, bool with_warnings) {
    for (size_t i = 0; i < complaints->count; i++) {
        if (with_warnings || !complaints->items[i].warning) {
            complain(path, &complaints->items[i]);
        }
    }
}

int view_plan(struct arena *arena, bool required, struct plan **ret_plan,
              struct plan_complaints *ret_warnings, struct err *err) {
    AUTO_PLAN struct plan *plan = NULL;
    struct plan_complaints complaints = {0};
    const char *path = NULL;
    *ret_plan = NULL;
    if (ret_warnings != NULL) {
        *ret_warnings = complaints;
    }
    int rc = work_find_plan(opt_common.plan, arena, &path, err);
    if (rc < 0) {
        return rc;
    }
    if (path == NULL && !required) {
        return 0;
    }
    if (path == NULL) {
        return err_set(err, -ENOENT, "plan-missing",
                       "there is no plan in this folder or above it; 'probelauf init' writes one, "
                       "'--plan FILE' names one");
    }
    rc = plan_read(path, &plan, &complaints, err);
    view_complain(path, &complaints, opt_common.verbose);
    if (rc < 0 && complaints.errors > 0) {
        err_clear(err); /* said already, with all the others */
        return err_set(err, rc, "plan-broken", "%s", "");
    }
    if (rc == 0) {
        *ret_plan = steal(plan);
        if (ret_warnings != NULL) {
            *ret_warnings = complaints;
        }
    }
    return rc;
}

int view_plan_quietly(struct arena *arena, struct plan **ret_plan, struct err *err) {
    struct plan_complaints complaints = {0};
    const char *path = NULL;
    int rc = work_find_plan(opt_common.plan, arena, &path, err);
    if (rc == 0 && path == NULL) {
        rc = err_set(err, -ENOENT, "plan-missing", "there is no plan here");
    }
    return rc < 0 ? rc : plan_read(path, ret_plan, &complaints, err);
}
