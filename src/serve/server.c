/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The server (serve.h): who may ask, and the processes that answer. Must not read a record itself,
 * nor answer anybody without the token.
 */
#include "serve/answer.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/msg.h"
#include "base/strbuf.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/util.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOKEN_BYTES  24u
#define TOKEN_SIZE   (2 * TOKEN_BYTES + 1)
#define HEADERS_MOST (16 * 1024)
#define BODY_MOST    1024
#define IDLE_S       30
#define PATIENCE_S   60 /* with the process of a request */
#define AT_ONCE      4u
#define ANSWER_MOST  ((size_t)512 << 20)
#define FIRST_LINE   128u /* "200 text/html; …\n" in front of a body */

struct server {
    const struct serve_options *options;
    struct event_base *base;
    char token[TOKEN_SIZE];
    char cookie[32]; /* its name; one for each port, since cookies know none */
    size_t at_work;
};

/* A request whose answer is being made. */
struct job {
    struct server *server;
    struct evhttp_request *request; /* NULL: whoever asked has gone */
    pid_t pid;
    int fd;
    struct event *readable;
    struct evbuffer *answer;
    bool headers_only;
};

/* ---- answers ---- */

static void add_headers(struct evhttp_request *request, const char *type) {
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    evhttp_add_header(headers, "Content-Type", type);
    evhttp_add_header(headers, "Cache-Control", "no-store");
    evhttp_add_header(headers, "X-Content-Type-Options", "nosniff");
    evhttp_add_header(headers, "Referrer-Policy", "no-referrer");
    evhttp_add_header(headers, "X-Frame-Options", "DENY");
    evhttp_add_header(headers, "Cross-Origin-Opener-Policy", "same-origin");
    evhttp_add_header(headers, "Cross-Origin-Resource-Policy", "same-origin");
    /* beside the page's own, which names its style */
    evhttp_add_header(headers, "Content-Security-Policy", "frame-ancestors 'none'");
}

static void reply(struct evhttp_request *request, int status, const char *type,
                  struct evbuffer *body) {
    add_headers(request, type);
    evhttp_send_reply(request, status, NULL, body);
}

static void reply_text(struct evhttp_request *request, int status, const char *text) {
    struct evbuffer *body = evbuffer_new();
    if (body)
        evbuffer_add_printf(body, "%s\n", text);
    reply(request, status, SERVE_TEXT, body);
    if (body)
        evbuffer_free(body);
}

/* ---- who may ask ---- */

/* Takes as long for every guess. */
static bool is_token(const struct server *server, const char *text, size_t length) {
    unsigned differs = length != TOKEN_SIZE - 1;
    for (size_t i = 0; i < TOKEN_SIZE - 1; i++)
        differs |= (unsigned)(unsigned char)server->token[i] ^
                   (unsigned)(i < length ? (unsigned char)text[i] : 0);
    return differs == 0;
}

static bool has_cookie(const struct server *server, struct evhttp_request *request) {
    const char *cookies = evhttp_find_header(evhttp_request_get_input_headers(request), "Cookie");
    size_t name = strlen(server->cookie);
    while (cookies && *cookies) {
        cookies += strspn(cookies, " ;");
        size_t length = strcspn(cookies, ";");
        if (length > name + 1 && strncmp(cookies, server->cookie, name) == 0 &&
            cookies[name] == '=' && is_token(server, cookies + name + 1, length - name - 1))
            return true;
        cookies += length;
    }
    return false;
}

/* This machine by a name of its own, whatever the port: it may be another one at the end of ssh -L.
 * A name of somebody else that leads here is refused. */
static bool is_here(const char *host) {
    static const char *const names[] = {"127.0.0.1", "localhost"};
    for (size_t i = 0; host && i < ARRAY_LENGTH(names); i++) {
        size_t length = strlen(names[i]);
        if (strncmp(host, names[i], length) == 0 && (host[length] == '\0' || host[length] == ':'))
            return true;
    }
    return false;
}

static bool comes_from_here(struct evhttp_request *request) {
    const struct evkeyvalq *headers = evhttp_request_get_input_headers(request);
    const char *origin = evhttp_find_header(headers, "Origin");
    const char *host = evhttp_find_header(headers, "Host");
    if (!is_here(host))
        return false;
    return !origin || (strncmp(origin, "http://", 7) == 0 && strcmp(origin + 7, host) == 0);
}

/* The address that holds the token becomes a cookie and an address without it. */
static bool takes_token(struct server *server, struct evhttp_request *request,
                        const struct evkeyvalq *query) {
    const char *token = evhttp_find_header(query, "token");
    if (!token || !is_token(server, token, strlen(token)))
        return false;
    AUTO_FREE char *cookie =
        mem_printf("%s=%s; Path=/; HttpOnly; SameSite=Strict", server->cookie, server->token);
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    evhttp_add_header(headers, "Set-Cookie", cookie);
    evhttp_add_header(headers, "Location", "/");
    reply_text(request, 303, "/");
    return true;
}

/* ---- the process of a request ---- */

static void write_all(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t done = write(fd, bytes, length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return;
        bytes += done;
        length -= (size_t)done;
    }
}

static void answer_in_child(const struct serve_options *options,
                            const struct serve_request *request, int fd) {
    static const int handled[] = {SIGINT, SIGTERM, SIGPIPE};
    for (size_t i = 0; i < ARRAY_LENGTH(handled); i++)
        signal(handled[i], SIG_DFL);
    /* neither the connections of others nor the socket we listen on */
    if (dup2(fd, STDERR_FILENO + 1) < 0)
        _exit(1);
    (void)close_range(STDERR_FILENO + 2, ~0U, 0);
    struct serve_answer answer;
    char first[FIRST_LINE];
    serve_answer(options, request, &answer);
    int length = snprintf(first, sizeof first, "%d %s\n", answer.status, answer.type);
    write_all(STDERR_FILENO + 1, first, (size_t)length);
    write_all(STDERR_FILENO + 1, strbuf_str(&answer.body), answer.body.length);
    _exit(0);
}

static void job_free(struct job *job) {
    if (job->request)
        evhttp_connection_set_closecb(evhttp_request_get_connection(job->request), NULL, NULL);
    if (job->readable)
        event_free(job->readable);
    if (job->pid > 0) {
        kill(job->pid, SIGKILL); /* it has ended, or nobody waits for it any more */
        while (waitpid(job->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    if (job->answer)
        evbuffer_free(job->answer);
    if (job->fd >= 0)
        close(job->fd);
    job->server->at_work--;
    mem_free_ptr(&job);
}

static void job_fail(struct job *job) {
    if (job->request)
        reply_text(job->request, 503, _("The answer could not be made, or takes too long."));
    job_free(job);
}

/* Whole: the first line says what it is. */
static void job_finish(struct job *job) {
    size_t length = 0;
    AUTO_FREE char *first = evbuffer_readln(job->answer, &length, EVBUFFER_EOL_LF);
    char *type = first ? strchr(first, ' ') : NULL;
    int status = first ? atoi(first) : 0;
    if (!type || status < 100 || status > 599) {
        job_fail(job);
        return;
    }
    if (job->request)
        reply(job->request, status, type + 1, job->answer);
    job_free(job);
}

static void on_readable(evutil_socket_t fd, short what, void *context) {
    struct job *job = context;
    if ((what & EV_TIMEOUT) != 0 || evbuffer_get_length(job->answer) > ANSWER_MOST) {
        job_fail(job);
        return;
    }
    int got = evbuffer_read(job->answer, fd, 1 << 16);
    if (got == 0)
        job_finish(job);
    else if (got < 0 && errno != EAGAIN && errno != EINTR)
        job_fail(job);
}

static void on_gone(struct evhttp_connection *connection, void *context) {
    (void)connection;
    struct job *job = context;
    job->request = NULL; /* freed with its connection */
    job_free(job);
}

static bool job_start(struct server *server, struct evhttp_request *request,
                      const struct serve_request *asked) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    struct job *job = mem_alloc(sizeof *job);
    *job = (struct job){.server = server, .request = request, .fd = ends[0]};
    server->at_work++;
    job->pid = fork();
    if (job->pid == 0)
        answer_in_child(server->options, asked, ends[1]);
    close(ends[1]);
    job->answer = evbuffer_new();
    job->readable = event_new(server->base, job->fd, EV_READ | EV_PERSIST, on_readable, job);
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    bool starts = job->pid > 0 && job->answer && job->readable &&
                  evutil_make_socket_nonblocking(job->fd) == 0 &&
                  event_add(job->readable, &patience) == 0;
    if (starts) {
        evhttp_connection_set_closecb(evhttp_request_get_connection(request), on_gone, job);
    } else {
        job->request = NULL; /* the caller answers */
        job_free(job);
    }
    return starts;
}

/* ---- requests ---- */

static void ask(struct server *server, struct evhttp_request *request, const char *path,
                const struct evkeyvalq *query) {
    struct serve_request asked = {.path = path};
    const struct evkeyval *pair;
    for (pair = query->tqh_first; pair; pair = pair->next.tqe_next)
        if (asked.parameter_count < SERVE_PARAMETERS_MAX)
            asked.parameters[asked.parameter_count++] =
                (struct serve_parameter){pair->key, pair->value};
    if (server->at_work >= AT_ONCE) {
        evhttp_add_header(evhttp_request_get_output_headers(request), "Retry-After", "1");
        reply_text(request, 503, _("Too much is asked for at once."));
    } else if (!job_start(server, request, &asked)) {
        reply_text(request, 503, _("The answer could not be made, or takes too long."));
    }
}

static void on_request(struct evhttp_request *request, void *context) {
    struct server *server = context;
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
    const char *text = uri ? evhttp_uri_get_query(uri) : NULL;
    const char *raw = uri ? evhttp_uri_get_path(uri) : NULL;
    struct evkeyvalq query = {0};
    AUTO_FREE char *path = raw ? evhttp_uridecode(raw, 0, NULL) : NULL;
    if (!path || evhttp_parse_query_str(text ? text : "", &query) < 0)
        reply_text(request, 400, _("This is no address."));
    else if (!comes_from_here(request))
        reply_text(request, 403, _("Only this machine may ask, by its own name."));
    else if (takes_token(server, request, &query)) {
        /* answered, also for one who has the cookie: the token goes out of the address */
    } else if (has_cookie(server, request))
        ask(server, request, path, &query);
    else
        reply_text(request, 403,
                   _("Open the address that 'probelauf serve' has printed: it holds the token."));
    evhttp_clear_headers(&query);
}

/* ---- the server ---- */

static int make_token(struct server *server, struct err *err) {
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return err_set(err, -EIO, "serve-start", "no random numbers can be had: %s",
                       strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(server->token + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static unsigned port_of(struct evhttp_bound_socket *bound) {
    struct sockaddr_in address = {0};
    socklen_t length = sizeof address;
    if (getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&address, &length) < 0)
        return 0;
    return ntohs(address.sin_port);
}

static void on_signal(evutil_socket_t number, short what, void *context) {
    (void)number;
    (void)what;
    event_base_loopbreak(context);
}

static void limit(struct evhttp *http) {
    evhttp_set_max_headers_size(http, HEADERS_MOST);
    evhttp_set_max_body_size(http, BODY_MOST);
    evhttp_set_timeout(http, IDLE_S);
    evhttp_set_allowed_methods(http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
}

static int listen_here(struct server *server, struct evhttp *http, struct err *err) {
    struct evhttp_bound_socket *bound =
        evhttp_bind_socket_with_handle(http, "127.0.0.1", server->options->port);
    unsigned port = bound ? port_of(bound) : 0;
    if (port == 0)
        return err_set(
            err, errno > 0 ? -errno : -EADDRINUSE, "serve-port",
            "port %u of 127.0.0.1 cannot be had: %s; without --port any free one is taken",
            server->options->port, strerror(errno > 0 ? errno : EADDRINUSE));
    snprintf(server->cookie, sizeof server->cookie, "probelauf-%u", port);
    AUTO_FREE char *url = mem_printf("http://127.0.0.1:%u/?token=%s", port, server->token);
    server->options->ready(url, port);
    return 0;
}

static int serve_with(struct server *server, struct evhttp *http, struct err *err) {
    struct event *interrupt = evsignal_new(server->base, SIGINT, on_signal, server->base);
    struct event *end = evsignal_new(server->base, SIGTERM, on_signal, server->base);
    int rc = 0;
    signal(SIGPIPE, SIG_IGN);
    if (!interrupt || !end || event_add(interrupt, NULL) < 0 || event_add(end, NULL) < 0)
        rc = err_set(err, -ENOMEM, "serve-start", "the server cannot be started");
    limit(http);
    evhttp_set_gencb(http, on_request, server);
    rc = rc < 0 ? rc : listen_here(server, http, err);
    if (rc == 0)
        event_base_dispatch(server->base);
    if (interrupt)
        event_free(interrupt);
    if (end)
        event_free(end);
    return rc;
}

int serve_run(const struct serve_options *options, struct err *err) {
    struct server server = {.options = options};
    int rc = make_token(&server, err);
    if (rc < 0)
        return rc;
    server.base = event_base_new();
    struct evhttp *http = server.base ? evhttp_new(server.base) : NULL;
    rc = http ? serve_with(&server, http, err)
              : err_set(err, -ENOMEM, "serve-start", "the server cannot be started");
    if (http)
        evhttp_free(http); /* connections with their jobs, too */
    if (server.base)
        event_base_free(server.base);
    return rc;
}
