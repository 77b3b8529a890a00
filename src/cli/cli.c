/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The only place that prints: complaints to standard error, results to standard output (buffered;
 * main folds the outcome of the write into the exit status), and what the terminal can show.
 */
#include "cli/cli.h"

#include "base/fd.h"
#include "base/msg.h"
#include "base/str.h"
#include "cli/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Was standard error open when we started? If not, its number may by now belong to something of
 * ours. */
static bool can_speak = true;

void cli_start(void) {
    can_speak = fcntl(STDERR_FILENO, F_GETFD) >= 0;
}

static bool hushed;

void cli_hush(bool hush) {
    hushed = hush;
}

/* One write, so that lines of several processes do not mix. What cannot be said is not said: a
 * reader that has gone must not change how `run` ends. */
void cli_say(const struct strbuf *text) {
    if (!can_speak || hushed) {
        return;
    }
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    (void)fflush(stdout);
    (void)sigaction(SIGPIPE, &ignore, &before);
    (void)fd_write_full(STDERR_FILENO, strbuf_str(text), text->length);
    (void)sigaction(SIGPIPE, &before, NULL);
}

static void say(struct strbuf *line) {
    strbuf_add_char(line, '\n');
    cli_say(line);
}

static void add_printable(struct strbuf *out, const char *text) {
    str_add_printable(out, text, strlen(text));
}

int cli_error(const struct err *err) {
    if (err->text[0] == '\0') {
        return EXIT_CODE_ERROR;
    }
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    strbuf_printf(&line, "probelauf: %s[%s]: ", _("error"), err->id);
    add_printable(&line, err->text);
    say(&line);
    return EXIT_CODE_ERROR;
}

int cli_usage_error(const char *command, const struct err *err) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    strbuf_printf(&line, "probelauf: %s[%s]: ", _("error"), err->id);
    add_printable(&line, err->text);
    strbuf_add_char(&line, ' ');
    if (command != NULL) {
        strbuf_printf(&line, _("(see 'probelauf help %s')"), command);
    } else {
        strbuf_add_str(&line, _("(see 'probelauf help')"));
    }
    say(&line);
    /* What `run` returns below 125 is the command's own status: it must not be taken for that. */
    bool is_run = command != NULL && strcmp(command, "run") == 0;
    return is_run ? EXIT_CODE_OWN_FAILURE : EXIT_CODE_USAGE;
}

void cli_warning(const char *text) {
    if (*text == '\0') {
        return;
    }
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    strbuf_printf(&line, "probelauf: %s: ", _("warning"));
    add_printable(&line, text);
    say(&line);
}

void cli_note(const char *text) {
    if (opt_common.quiet || *text == '\0') {
        return;
    }
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    strbuf_add_str(&line, "probelauf: ");
    add_printable(&line, text);
    say(&line);
}

static int print_errno; /* of the first failed write; stdio keeps only a flag */

void cli_print(const struct strbuf *text) {
    if (fwrite(strbuf_str(text), 1, text->length, stdout) < text->length && print_errno == 0)
        print_errno = errno;
}

int cli_print_errno(void) {
    return print_errno;
}

void cli_print_json(json_t *take_json) {
    AUTO_JSON json_t *json = take_json;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_add_pretty(&text, json);
    if (text.length == 0 || text.data[text.length - 1] != '\n') {
        strbuf_add_char(&text, '\n');
    }
    cli_print(&text);
}

/* ---- what the terminal can show ---- */

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value != NULL && *value != '\0' ? value : NULL;
}

static bool is_dumb(void) {
    const char *term = variable("TERM");
    return term != NULL && strcmp(term, "dumb") == 0;
}

/* Texts in English need no other characters; those of the other languages cannot do without. */
static bool wants_ascii(void) {
    return strcmp(msg_language(), "en") == 0 && (is_dumb() || !settings_says_utf8());
}

/* no-color.org: the variable asks for none unless an option or the configuration says so;
 * bixense.com/clicolors: CLICOLOR_FORCE other than 0 asks for colour without a terminal. */
static bool wants_color(int fd) {
    const char *when = settings_get(SETTING_COLOR).text;
    if (strcmp(when, "auto") != 0) {
        return strcmp(when, "always") == 0;
    }
    if (variable("NO_COLOR") != NULL) {
        return false;
    }
    const char *force = variable("CLICOLOR_FORCE");
    if (force != NULL && strcmp(force, "0") != 0) {
        return true;
    }
    const char *wanted = variable("CLICOLOR");
    bool unwanted = wanted != NULL && strcmp(wanted, "0") == 0;
    return !unwanted && isatty(fd) && variable("TERM") != NULL && !is_dumb();
}

static int terminal_width(int fd) {
    struct winsize size;
    if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    const char *columns = variable("COLUMNS");
    int64_t width = 0;
    if (columns != NULL && str_to_i64(columns, &width) == 0 && width > 0 && width <= 10000) {
        return (int)width;
    }
    return 0;
}

struct report_style cli_style(int fd) {
    return (struct report_style){
        .ascii = wants_ascii(),
        .color = wants_color(fd),
        .width = terminal_width(fd),
        .verbose = opt_common.verbose,
    };
}
