/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Settings: one table of keys; options, variables, file and built-in values in this order. A value
 * that cannot be used is refused with its place, whichever layer it stands in; it is never skipped
 * in silence.
 */
#include "settings.h"

#include "base/mem.h"
#include "base/msg-catalog.h"
#include "base/msg.h"
#include "base/str.h"
#include "cli/config-file.h"
#include "cli/opt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum setting_kind { KIND_TEXT, KIND_DURATION, KIND_COLOR, KIND_TEE, KIND_LANG };

static const struct {
    const char *key, *variable, *built_in;
    enum setting_kind kind;
} table[SETTING_COUNT_] = {
    [SETTING_LEDGER] = {"ledger", "PROBELAUF_LEDGER", NULL, KIND_TEXT},
    [SETTING_JOURNAL_DIR] = {"journal-dir", "PROBELAUF_JOURNAL_DIR", NULL, KIND_TEXT},
    [SETTING_LANG] = {"lang", "PROBELAUF_LANG", NULL, KIND_LANG},
    [SETTING_COLOR] = {"color", "PROBELAUF_COLOR", "auto", KIND_COLOR},
    [SETTING_LINGER] = {"linger", "PROBELAUF_LINGER", "10s", KIND_DURATION},
    [SETTING_GRACE] = {"grace", "PROBELAUF_GRACE", "30s", KIND_DURATION},
    [SETTING_RECORD_WAIT] = {"record-wait", "PROBELAUF_RECORD_WAIT", "5s", KIND_DURATION},
    [SETTING_TEE] = {"tee", "PROBELAUF_TEE", "auto", KIND_TEE},
    [SETTING_PLAN] = {"plan", "PROBELAUF_PLAN", NULL, KIND_TEXT},
    [SETTING_ENV] = {"env", "PROBELAUF_ENV", NULL, KIND_TEXT},
};

/* The program's one set of settings: option values of a kind, written by settings_load only. */
static struct arena *settings_arena;
static struct config_entry *file_entries;
static size_t file_count;
static const char *file_path = "";
static bool loaded;

const char *setting_key(enum setting setting) {
    return table[setting].key;
}

const char *setting_variable(enum setting setting) {
    return table[setting].variable;
}

const char *setting_built_in(enum setting setting) {
    return table[setting].built_in;
}

const char *settings_path(void) {
    return file_path;
}

static const char *variable_value(enum setting setting) {
    const char *value = getenv(table[setting].variable);
    return value != NULL && *value != '\0' ? value : NULL;
}

static const struct config_entry *file_entry(enum setting setting) {
    for (size_t i = 0; i < file_count; i++) {
        if (strcmp(file_entries[i].key, table[setting].key) == 0) {
            return &file_entries[i];
        }
    }
    return NULL;
}

const char *settings_from_file(enum setting setting) {
    const struct config_entry *entry = file_entry(setting);
    return entry != NULL ? entry->value : NULL;
}

static const char *option_value(enum setting setting) {
    switch (setting) {
    case SETTING_LEDGER:
        return opt_common.ledger;
    case SETTING_JOURNAL_DIR:
        return opt_common.journal_dir;
    case SETTING_LANG:
        return opt_common.lang;
    case SETTING_COLOR:
        return opt_common.color;
    case SETTING_PLAN:
        return opt_common.plan;
    case SETTING_LINGER: /* options of single commands, which look at them themselves */
    case SETTING_GRACE:
    case SETTING_RECORD_WAIT:
    case SETTING_TEE:
    case SETTING_ENV:
    case SETTING_COUNT_:
        break;
    }
    return NULL;
}

struct setting_value settings_get(enum setting setting) {
    const char *text = option_value(setting);
    if (text != NULL) {
        return (struct setting_value){.text = text, .origin = SETTING_OPTION};
    }
    text = variable_value(setting);
    if (text != NULL) {
        return (struct setting_value){.text = text, .origin = SETTING_VARIABLE};
    }
    const struct config_entry *entry = file_entry(setting);
    if (entry != NULL) {
        return (struct setting_value){
            .text = entry->value, .origin = SETTING_FILE, .line = entry->line};
    }
    return (struct setting_value){.text = table[setting].built_in, .origin = SETTING_BUILT_IN};
}

/* NULL if the value can be used, else what it should be. */
static const char *value_problem(enum setting setting, const char *value) {
    int64_t duration_ns = 0;
    struct err ignored = ERR_INIT;
    switch (table[setting].kind) {
    case KIND_TEXT:
        return NULL;
    case KIND_DURATION:
        return str_to_duration_ns(value, &duration_ns, &ignored) == 0
                   ? NULL
                   : _("takes a duration such as 90s or 1.5h");
    case KIND_COLOR:
        return opt_names_has("auto always never", value) ? NULL : _("takes auto, always or never");
    case KIND_TEE:
        return opt_names_has("auto none", value) ? NULL : _("takes auto or none");
    case KIND_LANG:
        return msg_catalog_of(value) != NULL ? NULL : _("takes en, de, fr or ko");
    }
    return NULL;
}

static int check_values(struct err *err) {
    for (int i = 0; i < SETTING_COUNT_; i++) {
        const char *value = variable_value((enum setting)i);
        const char *problem = value != NULL ? value_problem((enum setting)i, value) : NULL;
        if (problem != NULL) {
            return err_set(err, -EINVAL, "variable-bad-value", "the variable %s %s, not '%s'",
                           table[i].variable, problem, value);
        }
        const struct config_entry *entry = file_entry((enum setting)i);
        problem = entry != NULL ? value_problem((enum setting)i, entry->value) : NULL;
        if (problem != NULL) {
            return err_set(err, -EINVAL, "config-bad-value", "%s:%zu:%zu: '%s' %s, not '%s'",
                           file_path, entry->line, entry->column, entry->key, problem,
                           entry->value);
        }
    }
    return 0;
}

/* $XDG_CONFIG_HOME counts only as an absolute path (XDG Base Directory Specification). */
static const char *config_path(struct arena *arena) {
    const char *base = getenv("XDG_CONFIG_HOME");
    if (base != NULL && base[0] == '/') {
        return arena_printf(arena, "%s/probelauf/config.yaml", base);
    }
    const char *home = getenv("HOME");
    if (home != NULL && home[0] == '/') {
        return arena_printf(arena, "%s/.config/probelauf/config.yaml", home);
    }
    return "";
}

/* The first of the three variables of a locale's part that is set and not empty (POSIX, 8.2). */
static const char *locale_variable(const char *part) {
    const char *const names[] = {"LC_ALL", part, "LANG"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && *value != '\0') {
            return value;
        }
    }
    return "";
}

bool settings_says_utf8(void) {
    const char *value = locale_variable("LC_CTYPE"); /* "de_DE.UTF-8", "C.utf8" */
    return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL;
}

/* All our texts are UTF-8. Who asks for a language gets it; one that is only the locale's is not
 * spoken to a terminal that shows other characters. */
static const char *locale_language(void) {
    return settings_says_utf8() ? locale_variable("LC_MESSAGES") : "en";
}

void settings_language_early(void) {
    const char *value = variable_value(SETTING_LANG);
    msg_set_language(value != NULL ? value : locale_language());
}

/* Machine output holds sentences, too (reasons): they do not depend on who reads it. */
static void set_language(void) {
    if (opt_common.json) {
        msg_set_language("en");
        return;
    }
    struct setting_value lang = settings_get(SETTING_LANG);
    msg_set_language(lang.text != NULL ? lang.text : locale_language());
}

int settings_load(struct err *err) {
    if (loaded) {
        return 0;
    }
    if (settings_arena == NULL) {
        settings_arena = arena_new();
    }
    file_path = config_path(settings_arena);
    if (*file_path != '\0') {
        const char *keys[SETTING_COUNT_];
        size_t count = 0;
        for (int i = 0; i < SETTING_COUNT_; i++) {
            if (i != SETTING_PLAN && i != SETTING_ENV) {
                keys[count++] = table[i].key;
            }
        }
        int rc = config_file_read(file_path, keys, count, settings_arena, &file_entries,
                                  &file_count, err);
        if (rc < 0) {
            return rc;
        }
    }
    set_language();
    int rc = check_values(err);
    loaded = rc == 0;
    return rc;
}

static int64_t duration_of(enum setting setting) {
    struct setting_value value = settings_get(setting);
    int64_t duration_ns = 0;
    struct err ignored = ERR_INIT;
    (void)str_to_duration_ns(value.text, &duration_ns, &ignored); /* checked by settings_load */
    return duration_ns;
}

int64_t settings_linger_ns(void) {
    return duration_of(SETTING_LINGER);
}

int64_t settings_grace_ns(void) {
    return duration_of(SETTING_GRACE);
}

int64_t settings_record_wait_ns(void) {
    return duration_of(SETTING_RECORD_WAIT);
}

enum exec_tee settings_tee(void) {
    return strcmp(settings_get(SETTING_TEE).text, "none") == 0 ? EXEC_TEE_NONE : EXEC_TEE_AUTO;
}
