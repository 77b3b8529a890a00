/* SPDX-License-Identifier: GPL-3.0-or-later */
/* probelauf config: the settings in force and where each comes from. Writes nothing. */
#include "cli/cli.h"
#include "cli/commands.h"

#include "base/msg.h"
#include "base/str.h"
#include "cli/settings.h"
#include "cli/view.h"

#include <errno.h>
#include <string.h>

static bool opt_show_origin;

static const struct opt_spec config_options[] = {
    {.name = "show-origin",
     .type = OPT_FLAG,
     .target = &opt_show_origin,
     .help = N_("Say for each value whether an option, a variable, the file or nothing set it.")},
    {.name = NULL},
};

/* The text in force; what places and messages work out themselves is asked there. */
static const char *effective(enum setting setting, const struct place *place) {
    if (setting == SETTING_LEDGER) {
        return place->ledger_url;
    }
    if (setting == SETTING_JOURNAL_DIR) {
        return place->journal_dirs[0] != NULL ? place->journal_dirs[0] : "";
    }
    struct setting_value value = settings_get(setting);
    if (value.text != NULL) {
        return value.text;
    }
    return ""; /* the language: by the locale */
}

static const char *origin_name(enum setting_origin origin) {
    switch (origin) {
    case SETTING_BUILT_IN:
        return "built-in";
    case SETTING_FILE:
        return "file";
    case SETTING_VARIABLE:
        return "variable";
    case SETTING_OPTION:
        return "option";
    }
    return "";
}

/* "config.yaml:3", "PROBELAUF_LEDGER", "--ledger", "built in" */
static char *origin_text(enum setting setting, const struct setting_value *value) {
    switch (value->origin) {
    case SETTING_FILE:
        return mem_printf("%s:%zu", settings_path(), value->line);
    case SETTING_VARIABLE:
        return mem_strdup(setting_variable(setting));
    case SETTING_OPTION:
        return mem_printf("--%s", setting_key(setting));
    case SETTING_BUILT_IN:
        break;
    }
    if (setting == SETTING_LANG) {
        return mem_strdup(_("by the locale"));
    }
    return mem_strdup(_("built in"));
}

static void print_json(const struct place *place) {
    json_t *config = json_object();
    json_put_text(config, "schema", "probelauf.config/1");
    json_put_text(config, "file", *settings_path() != '\0' ? settings_path() : NULL);
    json_t *list = json_array();
    for (int i = 0; i < SETTING_COUNT_; i++) {
        enum setting setting = (enum setting)i;
        struct setting_value value = settings_get(setting);
        const char *text = effective(setting, place);
        json_t *item = json_object();
        json_put_text(item, "key", setting_key(setting));
        json_put_text(item, "value", *text != '\0' ? text : NULL);
        json_put_text(item, "origin", origin_name(value.origin));
        if (value.origin == SETTING_FILE) {
            json_put_int(item, "line", (int64_t)value.line);
        }
        if (value.origin == SETTING_VARIABLE) {
            json_put_text(item, "variable", setting_variable(setting));
        }
        (void)json_array_append_new(list, item);
    }
    json_put(config, "settings", list);
    json_t *dirs = json_array();
    for (size_t i = 0; place->journal_dirs[i] != NULL; i++) {
        (void)json_array_append_new(dirs, json_text(place->journal_dirs[i]));
    }
    json_put(config, "journal_dirs", dirs);
    cli_print_json(config);
}

static void add_line(struct strbuf *out, enum setting setting, const struct place *place) {
    const char *text = effective(setting, place);
    struct setting_value value = settings_get(setting);
    AUTO_STRBUF struct strbuf shown = STRBUF_INIT;
    if (*text != '\0') {
        str_add_printable(&shown, text, strlen(text));
    } else {
        strbuf_add_str(&shown, "-");
    }
    if (!opt_show_origin) {
        strbuf_printf(out, "%s: %s\n", setting_key(setting), strbuf_str(&shown));
        return;
    }
    AUTO_FREE char *origin = origin_text(setting, &value);
    AUTO_STRBUF struct strbuf safe = STRBUF_INIT;
    str_add_printable(&safe, origin, strlen(origin));
    strbuf_printf(out, "%s: %s  (%s)\n", setting_key(setting), strbuf_str(&shown),
                  strbuf_str(&safe));
}

static void print_text(const struct place *place) {
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    for (int i = 0; i < SETTING_COUNT_; i++) {
        add_line(&out, (enum setting)i, place);
    }
    if (opt_show_origin) {
        AUTO_STRBUF struct strbuf path = STRBUF_INIT;
        str_add_printable(&path, settings_path(), strlen(settings_path()));
        if (path.length > 0) {
            strbuf_printf(&out, _("# file: %s\n"), strbuf_str(&path));
        } else {
            strbuf_add_str(&out, _("# no file: neither HOME nor XDG_CONFIG_HOME is set\n"));
        }
        strbuf_add_str(
            &out, _("# records of runs are kept in the first of these that can be written:\n"));
        for (size_t i = 0; place->journal_dirs[i] != NULL; i++) {
            strbuf_add_str(&out, "#   ");
            str_add_printable(&out, place->journal_dirs[i], strlen(place->journal_dirs[i]));
            strbuf_add_char(&out, '\n');
        }
    }
    cli_print(&out);
}

static int config_run(int argc, char **argv) {
    (void)argc;
    (void)argv;
    AUTO_ARENA struct arena *arena = arena_new();
    struct place place;
    struct err err = ERR_INIT;
    if (cli_place(arena, &place, &err) < 0) {
        return cli_error(&err);
    }
    if (opt_common.json) {
        print_json(&place);
    } else {
        print_text(&place);
    }
    return EXIT_CODE_DONE;
}

const struct command command_config = {
    .name = "config",
    .summary =
        N_("Show the settings in force; they are set in config.yaml, by PROBELAUF_ variables or "
           "by options."),
    .usage = N_("[options]"),
    .examples = N_("probelauf config  # the settings in force\n"
                   "probelauf config --show-origin  # and where each comes from\n"),
    .options = config_options,
    .min_args = 0,
    .max_args = 0,
    .operand = "",
    .traits = COMMAND_LEDGER | COMMAND_JSON,
    .run = config_run,
};
