/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Asks an http:// address until it answers with a 2xx status (libevent's client). Runs in a helper
 * of its own, may hang there, and never reads what the answer says.
 */
#include "exec/ready.h"

#include "base/clock.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/http.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define PAUSE_OFTEN_NS   (250 * NS_PER_MS)
#define OFTEN_NS         (60 * NS_PER_S) /* after that a second more or less does not matter */
#define PAUSE_SELDOM_NS  NS_PER_S
#define ANSWER_SECONDS   5
#define BODY_BYTES_MAX   4096
#define HEADER_BYTES_MAX (1 << 20) /* ready.c names it */
#define PORT_DEFAULT     80

static void uri_free_ptr(struct evhttp_uri **uri) {
    if (*uri != NULL)
        evhttp_uri_free(*uri);
}
#define AUTO_URI __attribute__((cleanup(uri_free_ptr)))

int ready_address_check(const char *address, struct err *err) {
    AUTO_URI struct evhttp_uri *uri = evhttp_uri_parse(address);
    const char *scheme = uri != NULL ? evhttp_uri_get_scheme(uri) : NULL;
    if (scheme == NULL || evhttp_uri_get_host(uri) == NULL || evhttp_uri_get_host(uri)[0] == '\0' ||
        evhttp_uri_get_port(uri) == 0)
        return err_set(err, -EINVAL, "ready-address",
                       "'%s' is no address of the form http://HOST:PORT/PATH", address);
    if (strcasecmp(scheme, "http") != 0)
        return err_set(err, -EINVAL, "ready-scheme",
                       "only http:// addresses can be asked, not %s:// (there are no keys or "
                       "certificates in here); name the server's own port, or a line of its output",
                       scheme);
    if (evhttp_uri_get_userinfo(uri) != NULL)
        return err_set(err, -EINVAL, "ready-credentials",
                       "an address with a name and password in it would be kept with the run; name "
                       "one that needs none");
    return 0;
}

/* ---- one question ---- */

struct question {
    struct event_base *base;
    int status; /* HTTP status; 0: none yet; -ENOTCONN, -ETIMEDOUT, -EPROTO (no HTTP), … */
};

/* The head of the answer is all that is wanted. */
static int take_head(struct evhttp_request *request, void *context) {
    struct question *question = context;
    question->status = evhttp_request_get_response_code(request);
    event_base_loopbreak(question->base);
    return 0;
}

static void take_error(enum evhttp_request_error error, void *context) {
    struct question *question = context;
    if (question->status != 0)
        return;
    if (error == EVREQ_HTTP_TIMEOUT)
        question->status = -ETIMEDOUT;
    else if (error == EVREQ_HTTP_INVALID_HEADER)
        question->status = -EPROTO;
    else /* closed without an answer, or a name that nobody knows: libevent calls both the end */
        question->status = -ENOTCONN;
}

static void take_end(struct evhttp_request *request, void *context) {
    struct question *question = context;
    int code = request != NULL ? evhttp_request_get_response_code(request) : 0;
    if (question->status == 0 && code != 0)
        question->status = code;
    if (question->status == 0) /* refused, not reachable, …: libevent does not tell */
        question->status = -ENOTCONN;
    event_base_loopbreak(question->base);
}

static const char *path_of(const struct evhttp_uri *uri, char *path, size_t size) {
    const char *own = evhttp_uri_get_path(uri), *query = evhttp_uri_get_query(uri);
    int length = snprintf(path, size, "%s%s%s", own != NULL && own[0] != '\0' ? own : "/",
                          query != NULL ? "?" : "", query != NULL ? query : "");
    return length > 0 && (size_t)length < size ? path : "/";
}

static void ask_from(struct question *question, const struct evhttp_uri *uri, const char *host,
                     struct evdns_base *names) {
    char path[8192];
    int port = evhttp_uri_get_port(uri);
    struct timeval limit = {.tv_sec = ANSWER_SECONDS};
    struct evhttp_connection *connection = evhttp_connection_base_new(
        question->base, names, host, (ev_uint16_t)(port > 0 ? port : PORT_DEFAULT));
    struct evhttp_request *request = evhttp_request_new(take_end, question);
    if (connection == NULL || request == NULL) {
        question->status = -ENOMEM;
        return;
    }
    evhttp_connection_set_timeout_tv(connection, &limit);
    evhttp_connection_set_max_body_size(connection, BODY_BYTES_MAX);
    evhttp_connection_set_max_headers_size(connection, HEADER_BYTES_MAX);
    evhttp_request_set_header_cb(request, take_head);
    evhttp_request_set_error_cb(request, take_error);
    struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
    evhttp_add_header(headers, "Host", evhttp_uri_get_host(uri));
    evhttp_add_header(headers, "Connection", "close");
    evhttp_add_header(headers, "User-Agent", "probelauf/" PROBELAUF_VERSION);
    if (evhttp_make_request(connection, request, EVHTTP_REQ_GET, path_of(uri, path, sizeof path)) <
        0)
        question->status = -EIO;
    else if (question->status == 0)
        event_base_dispatch(question->base);
    evhttp_connection_free(connection); /* with the request */
}

/* The loopback interface has two addresses, and a server may listen on one of them alone; it needs
 * no resolver, which an empty root would not have. */
static int ask(const struct evhttp_uri *uri) {
    static const char *const loopback[] = {"127.0.0.1", "::1"};
    struct question question = {.base = event_base_new()};
    if (question.base == NULL)
        return -ENOMEM;
    const char *host = evhttp_uri_get_host(uri);
    char plain[256];
    if (host[0] == '[' && strlen(host) < sizeof plain) { /* [::1] */
        snprintf(plain, sizeof plain, "%.*s", (int)strcspn(host + 1, "]"), host + 1);
        host = plain;
    }
    struct in_addr four;
    struct in6_addr six;
    bool is_number = inet_pton(AF_INET, host, &four) == 1 || inet_pton(AF_INET6, host, &six) == 1;
    if (strcasecmp(host, "localhost") == 0) {
        for (size_t i = 0; i < ARRAY_LENGTH(loopback) && question.status <= 0; i++) {
            int before = question.status;
            question.status = 0;
            ask_from(&question, uri, loopback[i], NULL);
            question.status = question.status <= 0 && before != 0 ? before : question.status;
        }
    } else if (is_number) {
        ask_from(&question, uri, host, NULL);
    } else {
        struct evdns_base *names = evdns_base_new(question.base, EVDNS_BASE_INITIALIZE_NAMESERVERS);
        ask_from(&question, uri, host, names);
        if (names != NULL)
            evdns_base_free(names, 0);
    }
    event_base_free(question.base);
    return question.status;
}

/* ---- again and again ---- */

static bool is_good(int status) {
    return status >= 200 && status < 300;
}

int ready_address_main(void *argument) {
    const struct ready_context *context = argument;
    struct shared *shared = context->shared;
    AUTO_URI struct evhttp_uri *uri = evhttp_uri_parse(context->address);
    if (uri == NULL)
        return 1;
    int64_t begun_ns = clock_mono_ns();
    for (;;) {
        bool is_first = !atomic_load(&shared->ready_asked);
        bool before = is_first && (context->is_attached || !atomic_load(&shared->started));
        int status = ask(uri);
        int64_t now_ns = clock_mono_ns();
        atomic_store(&shared->ready_status, status);
        if (is_good(status) && before)
            atomic_store(&shared->ready_before, true);
        else if (is_good(status))
            atomic_store(&shared->ready_t_ns, now_ns - shared->start.mono_ns);
        atomic_store(&shared->ready_asked, true);
        if (is_good(status))
            return 0;
        int64_t pause_ns = now_ns - begun_ns < OFTEN_NS ? PAUSE_OFTEN_NS : PAUSE_SELDOM_NS;
        nanosleep(&(struct timespec){.tv_sec = pause_ns / NS_PER_S, .tv_nsec = pause_ns % NS_PER_S},
                  NULL);
    }
}
