/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of the marks file. Whoever is inside the run may write anything there, so every byte is
 * taken for hostile: bounded lines, bounded memory, no state but the offset. Must not block and
 * must not stop at a bad line.
 */
#include "journal/marks.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"
#include "model/run.h"
#include "text/secret.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE 65536

/* What stands behind a verb. */
enum mark_shape {
    MARK_PHASE,  /* NAME of a phase */
    MARK_END,    /* [NAME] of a phase */
    MARK_AMOUNT, /* N */
    MARK_TEXT,   /* the rest of the line */
    MARK_RESULT, /* NAME VALUE [UNIT] */
    MARK_AGENT,  /* NAME {json} */
};

static const struct mark_verb {
    const char *name;
    enum mark_shape shape;
} verbs[] = {
    {"phase", MARK_PHASE},   {"end", MARK_END},      {"items", MARK_AMOUNT},
    {"length", MARK_AMOUNT}, {"batch", MARK_AMOUNT}, {"shape", MARK_TEXT},
    {"result", MARK_RESULT}, {"note", MARK_TEXT},    {"agent", MARK_AGENT},
};

/* Who may report through the file; what the recorder finds by itself never comes that way. */
static const char *const agents[] = {"python-hook", "nvtx"};

static const struct mark_verb *find_verb(const char *name) {
    for (size_t i = 0; i < ARRAY_LENGTH(verbs); i++) {
        if (strcmp(verbs[i].name, name) == 0) {
            return &verbs[i];
        }
    }
    return NULL;
}

/* ---- one line ---- */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "%20" → blank, in place; any other percent sign stands for itself. False: %00, which no text can
 * hold. */
static bool decode(char *text) {
    char *to = text;
    for (const char *from = text; *from != '\0';) {
        int high = *from == '%' ? hex_digit(from[1]) : -1;
        int low = high >= 0 ? hex_digit(from[2]) : -1;
        if (low < 0) {
            *to++ = *from++;
            continue;
        }
        if (high == 0 && low == 0) {
            return false;
        }
        *to++ = (char)(high << 4 | low);
        from += 3;
    }
    *to = '\0';
    return true;
}

static void put_masked(json_t *mark, const char *key, const char *text) {
    AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
    secret_mask(text, strlen(text), &masked);
    json_put_text(mark, key, strbuf_str(&masked));
}

static void put_number(json_t *mark, const char *key, double value) {
    if (value == floor(value) && fabs(value) < 9e15) {
        json_put_int(mark, key, (int64_t)value);
    } else {
        json_put_real(mark, key, value);
    }
}

/* The next field, decoded; NULL when there is none (or it cannot be decoded: then *ret_ok is
 * false). */
static char *next_field(char **at, bool *ret_ok) {
    char *field = *at + strspn(*at, " \t");
    if (*field == '\0') {
        *at = field;
        return NULL;
    }
    char *end = field + strcspn(field, " \t");
    *at = *end == '\0' ? end : end + 1;
    *end = '\0';
    if (!decode(field)) {
        *ret_ok = false;
        return NULL;
    }
    return field;
}

/* TIME[@PID] */
static const char *put_time(json_t *mark, char *field) {
    char *at = strchr(field, '@');
    int64_t pid, time_ns;
    if (at != NULL) {
        *at++ = '\0';
        if (str_to_i64(at, &pid) < 0 || pid <= 0 || pid > INT32_MAX) {
            return N_("the process id behind '@' is not a number");
        }
        json_put_int(mark, "pid", pid);
    }
    if (strcmp(field, "-") == 0) {
        return NULL;
    }
    if (str_to_i64(field, &time_ns) < 0 || time_ns < 0) {
        return N_("the line does not begin with a time in nanoseconds or '-'");
    }
    json_put_int(mark, "mono_ns", time_ns);
    return NULL;
}

static const char *put_amount(json_t *mark, const char *field) {
    double value;
    if (str_to_double(field, &value) < 0) {
        return N_("the amount is not a number");
    }
    if (value < 0) {
        return N_("the amount is negative");
    }
    put_number(mark, "value", value);
    return NULL;
}

/* nan and inf are reports too, only no numbers. */
static bool is_no_number(const char *field) {
    static const char *const words[] = {"nan", "inf", "infinity"};
    const char *bare = field + (*field == '-' || *field == '+');
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
        if (strcasecmp(bare, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

static const char *put_result(json_t *mark, const char *name, const char *field, const char *unit) {
    double value;
    put_masked(mark, "name", name);
    bool is_number = str_to_double(field, &value) == 0;
    if (is_number && str_is_kept_whole(field)) {
        put_number(mark, "value", value);
    } else if (is_number || is_no_number(field)) {
        json_put_text(mark, "text", field);
    } else {
        return N_("the value of the result is not a number");
    }
    if (unit != NULL) {
        put_masked(mark, "unit", unit);
    }
    return NULL;
}

static const char *put_phase(json_t *mark, const char *name) {
    enum phase phase;
    if (!phase_from_name(name, &phase)) {
        return N_("no such phase; the phases are setup, transfer, data, load, preprocess, compute, "
                  "write, evaluate, fix, teardown");
    }
    json_put_text(mark, "name", name);
    return NULL;
}

/* ---- agents ---- */

/* A copy in which every text is masked; what stands behind a name that says secret, too. */
static json_t *masked_copy(const char *key, json_t *value) {
    if (json_is_string(value)) {
        AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
        if (key != NULL) {
            secret_mask_value(key, json_string_value(value), &masked);
        } else {
            secret_mask(json_string_value(value), json_string_length(value), &masked);
        }
        return json_text_n(strbuf_str(&masked), masked.length);
    }
    if (json_is_array(value)) {
        json_t *copy = json_array();
        for (size_t i = 0; i < json_array_size(value); i++) {
            json_array_append_new(copy, masked_copy(key, json_array_get(value, i)));
        }
        return copy;
    }
    if (!json_is_object(value)) {
        return json_deep_copy(value);
    }
    json_t *copy = json_object();
    const char *name;
    json_t *item;
    json_object_foreach (value, name, item) {
        json_put(copy, name, masked_copy(name, item));
    }
    return copy;
}

/* Percent signs and blanks stand for themselves: JSON has its own escapes. */
static const char *put_agent(json_t *mark, char *rest) {
    bool ok = true, is_known = false;
    const char *name = next_field(&rest, &ok);
    for (size_t i = 0; name != NULL && i < ARRAY_LENGTH(agents); i++) {
        is_known = is_known || strcmp(name, agents[i]) == 0;
    }
    if (!is_known) {
        return N_("no such agent; the agents are python-hook, nvtx");
    }
    char why[160];
    AUTO_JSON json_t *data = json_parse(rest, strlen(rest), why);
    if (!json_is_object(data)) {
        return N_("no JSON object stands behind the name of the agent");
    }
    if (json_get_text(data, "event", NULL) == NULL) {
        return N_("the object of the agent has no 'event'");
    }
    json_put_text(mark, "name", name);
    json_put(mark, "data", masked_copy(NULL, data));
    return NULL;
}

/* The rest of a line behind its verb. Returns what is wrong (English) or NULL. */
static const char *put_rest(json_t *mark, const struct mark_verb *verb, char *rest) {
    static const char *const no_name = N_("a name or a number is missing");
    if (verb->shape == MARK_TEXT) {
        rest += strspn(rest, " \t");
        if (!decode(rest)) {
            return N_("'%00' stands in the line");
        }
        if (*rest == '\0') {
            return N_("the text is missing");
        }
        put_masked(mark, "text", rest);
        return NULL;
    }
    if (verb->shape == MARK_AGENT) {
        return put_agent(mark, rest);
    }
    bool ok = true;
    char *fields[4];
    for (size_t i = 0; i < ARRAY_LENGTH(fields); i++) {
        fields[i] = next_field(&rest, &ok);
    }
    size_t allowed = verb->shape == MARK_RESULT ? 3 : 1;
    if (!ok) {
        return N_("'%00' stands in the line");
    }
    if (fields[allowed] != NULL) {
        return N_("there are too many fields; a blank inside of one is written %20");
    }
    if (fields[0] == NULL && verb->shape != MARK_END) {
        return no_name;
    }
    switch (verb->shape) {
    case MARK_END:
        return fields[0] == NULL ? NULL : put_phase(mark, fields[0]);
    case MARK_PHASE:
        return put_phase(mark, fields[0]);
    case MARK_AMOUNT:
        return put_amount(mark, fields[0]);
    case MARK_RESULT:
        return fields[1] == NULL ? no_name : put_result(mark, fields[0], fields[1], fields[2]);
    case MARK_TEXT:
    case MARK_AGENT:
        break;
    }
    assert(false);
    return no_name;
}

/* line is changed. Fills mark; returns what is wrong (English) or NULL. */
static const char *parse_line(char *line, json_t *mark) {
    bool ok = true;
    char *time = next_field(&line, &ok);
    const char *wrong = time == NULL ? N_("the time is missing") : put_time(mark, time);
    if (wrong != NULL) {
        return wrong;
    }
    const char *name = next_field(&line, &ok);
    const struct mark_verb *verb = name == NULL ? NULL : find_verb(name);
    if (verb == NULL) {
        return N_(
            "no such verb; the verbs are phase, end, items, length, batch, shape, result, note, "
            "agent");
    }
    json_put_text(mark, "verb", verb->name);
    return put_rest(mark, verb, line);
}

/* ---- the file ---- */

struct marks_input {
    int fd;
    long line;        /* number of the line that begins at line_offset; 0: not counted yet */
    long line_offset; /* where that count stands */
    marks_fn each;
    void *context;
    size_t agent_lines;
};

/* So many lines of agents are taken at one reading, a second's worth; the hooks bound themselves
 * far below. */
#define AGENT_LINES_MAX 20000

/* TIME[@PID] agent … */
static bool is_of_agent(const char *line) {
    line += strspn(line, " \t");
    line += strcspn(line, " \t");
    line += strspn(line, " \t");
    return strncmp(line, "agent ", 6) == 0;
}

/* Counting lines means reading what lies before; only bad lines need it, and beyond this size they
 * do without. */
#define COUNT_LINES_UNTIL (64L << 20)

static void count_lines(struct marks_input *input, long until) {
    char piece[4096];
    if (until > COUNT_LINES_UNTIL) {
        return;
    }
    if (input->line == 0) {
        input->line = 1;
    }
    while (input->line_offset < until) {
        long want = until - input->line_offset;
        ssize_t got =
            pread(input->fd, piece, want < (long)sizeof piece ? (size_t)want : sizeof piece,
                  input->line_offset);
        if (got <= 0) {
            return;
        }
        for (ssize_t i = 0; i < got; i++) {
            input->line += piece[i] == '\n';
        }
        input->line_offset += got;
    }
}

static void report_bad(struct marks_input *input, const char *wrong, const char *text,
                       size_t length, long begin, long end) {
    json_t *mark = json_object();
    json_put_text(mark, "bad", wrong);
    count_lines(input, begin);
    if (input->line_offset == begin) {
        json_put_int(mark, "line", input->line);
    }
    AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
    secret_mask(text, length < 200 ? length : 200, &masked);
    json_put(mark, "text", json_text_n(strbuf_str(&masked), masked.length));
    json_put_int(mark, "file_offset", end);
    input->each(mark, input->context);
}

/* One whole line without its line feed, [begin, end) with it. */
static void report_line(struct marks_input *input, const char *text, size_t length, long begin,
                        long end) {
    if (length > 0 && text[length - 1] == '\r') {
        length--;
    }
    if (length > MARKS_LINE_MAX) {
        report_bad(input, N_("the line is longer than 4096 bytes"), text, length, begin, end);
        return;
    }
    if (memchr(text, '\0', length) != NULL) {
        report_bad(input, N_("a NUL byte stands in the line"), text, length, begin, end);
        return;
    }
    char line[MARKS_LINE_MAX + 1];
    memcpy(line, text, length);
    line[length] = '\0';
    if (line[strspn(line, " \t")] == '\0') {
        return;
    }
    if (is_of_agent(line) && ++input->agent_lines > AGENT_LINES_MAX) {
        if (input->agent_lines == AGENT_LINES_MAX + 1) {
            report_bad(input,
                       N_("too many lines of agents at once; those from here on are left out"),
                       text, length, begin, end);
        }
        return;
    }
    AUTO_JSON json_t *mark = json_object();
    const char *wrong = parse_line(line, mark);
    if (wrong != NULL) {
        report_bad(input, wrong, text, length, begin, end);
        return;
    }
    json_put_int(mark, "file_offset", end);
    input->each(steal(mark), input->context);
}

static bool byte_is_line_feed(int fd, long at) {
    char c;
    return pread(fd, &c, 1, at) == 1 && c == '\n';
}

/* The whole lines of one piece that begins at `from`. Returns how many bytes of it are done. An
 * over-long line is reported as soon as it is known to be one; what is left of it is skipped as the
 * line that nobody began. */
static long read_piece(struct marks_input *input, const char *piece, long length, long from,
                       bool in_the_middle, bool final) {
    long done = 0;
    while (done < length) {
        const char *begin = piece + done;
        const char *feed = memchr(begin, '\n', (size_t)(length - done));
        long end = feed != NULL ? (long)(feed - piece) + 1 : length;
        size_t text_length = (size_t)(end - done) - (feed != NULL ? 1 : 0);
        if (in_the_middle) {
            in_the_middle = false; /* was reported with its beginning */
        } else if (feed != NULL || text_length > MARKS_LINE_MAX + 1) {
            report_line(input, begin, text_length, from + done, from + end);
        } else if (final) {
            report_bad(input, N_("the last line is cut off"), begin, text_length, from + done,
                       from + end);
        } else {
            return done; /* its rest is still to come */
        }
        done = end;
    }
    return done;
}

static long read_marks(int fd, long from, marks_fn each, void *context, bool final) {
    struct marks_input input = {.fd = fd, .each = each, .context = context};
    struct stat status;
    if (fstat(fd, &status) < 0) {
        return -errno;
    }
    if (from < 0 || status.st_size < from) {
        report_bad(&input, N_("the file was shortened; append to it, never write it anew"), "", 0,
                   0, 0);
        from = 0;
    }
    AUTO_FREE char *piece = mem_alloc(PIECE);
    for (;;) {
        ssize_t got = pread(fd, piece, PIECE, from);
        if (got < 0 && errno != EINTR) {
            return -errno;
        }
        if (got == 0) {
            return from;
        }
        if (got > 0) {
            bool in_the_middle = from > 0 && !byte_is_line_feed(fd, from - 1);
            bool is_rest = final && got < PIECE;
            long done = read_piece(&input, piece, got, from, in_the_middle, is_rest);
            if (done == 0) {
                return from;
            }
            from += done;
        }
    }
}

long marks_read(int fd, long from, marks_fn each, void *context) {
    return read_marks(fd, from, each, context, false);
}

long marks_read_rest(int fd, long from, marks_fn each, void *context) {
    return read_marks(fd, from, each, context, true);
}

void marks_place(json_t *mark, int64_t start_mono_ns, int64_t now_mono_ns) {
    if (json_object_get(mark, "verb") == NULL) {
        return;
    }
    int64_t mono_ns = json_get_int(mark, "mono_ns", -1);
    json_object_del(mark, "mono_ns");
    if (mono_ns >= start_mono_ns && mono_ns >= 0 && (now_mono_ns < 0 || mono_ns <= now_mono_ns)) {
        json_put_int(mark, "t_ns", mono_ns - start_mono_ns);
    } else if (now_mono_ns >= start_mono_ns) {
        json_put_int(mark, "t_ns", now_mono_ns - start_mono_ns);
        json_put_text(mark, "clock", "reading");
    }
}

/* ---- a sender's line ---- */

/* In the TEXT of a line blanks stay blanks. */
static void add_encoded(struct strbuf *out, const char *field, bool is_text) {
    for (const char *at = field; *at != '\0'; at++) {
        unsigned char c = (unsigned char)*at;
        bool is_code = c == '%' && hex_digit(at[1]) >= 0 && hex_digit(at[2]) >= 0;
        bool is_blank = c == ' ' && (!is_text || at == field);
        if (c < 0x20 || c == 0x7f || is_code || is_blank) {
            strbuf_printf(out, "%%%02X", (unsigned)c);
        } else {
            strbuf_add_char(out, *at);
        }
    }
}

int marks_add_line(struct strbuf *out, int64_t mono_ns, pid_t pid, const char *verb,
                   const char *name, const char *value, const char *unit, struct err *err) {
    AUTO_STRBUF struct strbuf line = STRBUF_INIT;
    const struct mark_verb *known = find_verb(verb);
    if (mono_ns >= 0) {
        strbuf_printf(&line, "%lld", (long long)mono_ns);
    } else {
        strbuf_add_char(&line, '-');
    }
    if (pid > 0) {
        strbuf_printf(&line, "@%ld", (long)pid);
    }
    strbuf_printf(&line, " %s", verb);
    const char *const fields[] = {name, value, unit};
    for (size_t i = 0; i < ARRAY_LENGTH(fields) && fields[i] != NULL; i++) {
        strbuf_add_char(&line, ' ');
        add_encoded(&line, fields[i], known != NULL && known->shape == MARK_TEXT);
    }
    if (line.length > MARKS_LINE_MAX) {
        return err_set(err, -EINVAL, "mark-invalid", "the mark is longer than 4096 bytes");
    }
    AUTO_FREE char *copy = mem_strdup(strbuf_str(&line));
    AUTO_JSON json_t *mark = json_object();
    const char *wrong = parse_line(copy, mark);
    if (wrong != NULL) {
        return err_set(err, -EINVAL, "mark-invalid", "%s", msg_get(wrong));
    }
    strbuf_add(out, line.data, line.length);
    strbuf_add_char(out, '\n');
    return 0;
}
