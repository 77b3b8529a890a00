/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Phases of the sources that nobody wrote into the program: NVTX ranges, the Python hook, --ready,
 * lines of known programs; which of them is taken; why there are none. */
#include "fold-support.h"

#define S(n) #n "000000000"
#define AGENT(t, agent, more) \
    { JOURNAL_MARK, "{'t_ns':" S(t) ",'verb':'agent','name':'" agent "'," more "}" }
#define TELLS(t, agent, pid, event, phase) \
    AGENT(t, agent, "'pid':" #pid ",'data':{'event':'" event "','phase':'" phase "','what':'x'}")
#define NVTX(t, pid, event, phase) TELLS(t, "nvtx", pid, event, phase)
#define HOOK(t, pid, event, phase) TELLS(t, "python-hook", pid, event, phase)
#define HELLO(agent)               AGENT(1, agent, "'pid':11,'data':{'event':'hello','version':1}")
#define LINE(t, event, name, more)                                               \
    {                                                                            \
        JOURNAL_PHASE, "{'t_ns':" S(t) ",'event':'" event "','name':'" name "'," \
                                       "'source':'pattern'" more "}"             \
    }
#define OF(stack)         ",'stack':'" stack "'"
#define RANK(stack, rank) OF(stack) ",'rank':'" rank "'"
#define READY(t, event, name)                                                    \
    {                                                                            \
        JOURNAL_PHASE, "{'t_ns':" S(t) ",'event':'" event "','name':'" name "'," \
                                       "'source':'ready'}"                       \
    }
#define MARK(t, name) \
    { JOURNAL_MARK, "{'t_ns':" S(t) ",'verb':'phase','name':'" name "'}" }
#define GONE(t, pid) \
    { JOURNAL_CHILD, "{'t_ns':" S(t) ",'pid':" #pid "}" }
#define END(t) \
    { JOURNAL_END, "{'t_ns':" S(t) ",'command_t_ns':" S(t) ",'exit_code':0}" }
#define DONE \
    { 0, NULL }
#define FOLD(...) fold_lines("", (const struct line[]){__VA_ARGS__, DONE}, false)

#define assert_source(run, place, expected) \
    assert_string_equal((run)->phases[place].source, expected)

/* ---- agents ---- */

static void takes_the_innermost_range(void **state) {
    (void)state;
    AUTO_RUN struct run *run =
        FOLD(HELLO("nvtx"), NVTX(1, 11, "begin", "load"), NVTX(3, 11, "begin", "compute"),
             NVTX(5, 11, "end", "compute"), NVTX(7, 11, "end", "load"), END(9));
    assert_phases(run, "0-1 unattributed, 1-3 load, 3-5 compute, 5-7 load, 7-9 unattributed");
    assert_quantity(run->phase[PHASE_LOAD], "= 4 s");
    assert_source(run, 1, "nvtx");
    assert_adds_up(run);
    /* they end in any order, and what was never begun does not end */
    AUTO_RUN struct run *crossed = FOLD(
        NVTX(1, 11, "begin", "load"), NVTX(2, 11, "begin", "compute"), NVTX(3, 11, "end", "load"),
        NVTX(4, 11, "end", "write"), NVTX(6, 11, "end", "compute"), END(9));
    assert_phases(crossed, "0-1 unattributed, 1-2 load, 2-6 compute, 6-9 unattributed");
    /* two of one phase */
    AUTO_RUN struct run *twice =
        FOLD(HOOK(1, 11, "begin", "load"), HOOK(2, 11, "begin", "load"), HOOK(3, 11, "end", "load"),
             HOOK(5, 11, "end", "load"), HOOK(6, 11, "begin", "compute"), END(9));
    assert_phases(twice, "0-1 unattributed, 1-5 load, 5-6 unattributed, 6-9 compute");
    assert_source(twice, 1, "python-hook");
    assert_string_equal(twice->phase[PHASE_LOAD].method, "calls that the Python hook saw");
}

static void load_ends_with_the_last_process(void **state) {
    (void)state;
    AUTO_RUN struct run *run =
        FOLD(HOOK(1, 11, "begin", "load"), HOOK(2, 12, "begin", "load"), HOOK(3, 11, "end", "load"),
             HOOK(3, 11, "begin", "compute"), HOOK(6, 12, "end", "load"), END(9));
    assert_phases(run, "0-1 unattributed, 1-6 load, 6-9 compute");
    AUTO_RUN struct run *gone =
        FOLD(HOOK(1, 11, "begin", "load"), HOOK(2, 12, "begin", "compute"), GONE(4, 11), END(9));
    assert_phases(gone, "0-1 unattributed, 1-4 load, 4-9 compute");
}

static void knows_less_behind_a_limit(void **state) {
    (void)state;
    AUTO_RUN struct run *run = FOLD(
        NVTX(1, 11, "begin", "load"), NVTX(3, 11, "end", "load"), NVTX(3, 11, "begin", "compute"),
        AGENT(5, "nvtx", "'pid':11,'data':{'event':'limit','reason':'too fast'}"), END(9));
    assert_phases(run, "0-1 unattributed, 1-3 load, 3-5 compute, 5-9 unattributed");
    assert_quantity(run->phase[PHASE_LOAD], ">= 2 s");
    assert_quantity(run->phase[PHASE_COMPUTE], ">= 2 s");
    assert_quantity(run->phase[PHASE_UNATTRIBUTED], "<= 5 s");
    /* of another source it says nothing */
    AUTO_RUN struct run *marked =
        FOLD(MARK(1, "load"), NVTX(1, 11, "begin", "load"),
             AGENT(5, "nvtx", "'pid':11,'data':{'event':'limit','reason':'too fast'}"), END(9));
    assert_quantity(marked->phase[PHASE_LOAD], "= 8 s");
}

static void does_not_trust_an_agent(void **state) {
    (void)state;
    AUTO_RUN struct run *run = FOLD(
        NVTX(1, 11, "begin", "lode"), NVTX(1, 11, "begin", "unattributed"),
        AGENT(1, "nvtx", "'data':{'event':'begin'}"), AGENT(1, "nvtx", "'data':7"),
        AGENT(1, "nvtx", "'x':1"), AGENT(1, "other", "'data':{'event':'begin','phase':'load'}"),
        NVTX(2, 11, "end", "load"), NVTX(4, 11, "begin", "load"), NVTX(3, 11, "end", "load"),
        END(9));
    assert_phases(run, "0-4 unattributed, 4-9 load");
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    begin(&bytes, "");
    for (int i = 0; i < 60000; i++)
        add(&bytes, JOURNAL_MARK,
            i < 30000 ? "{'t_ns':5,'verb':'agent','name':'nvtx','pid':1,'data':{'event':'begin',"
                        "'phase':'load'}}"
                      : "{'t_ns':6,'verb':'agent','name':'nvtx','pid':1,'data':{'event':'end',"
                        "'phase':'write'}}");
    AUTO_RUN struct run *deep = fold_bytes(&bytes, false, false);
    assert_true(deep->phase_count > 0);
}

/* ---- the order of the sources ---- */

static void takes_the_highest_source(void **state) {
    (void)state;
    const struct line all[] = {
        LINE(1, "begin", "setup", OF("vllm")),
        LINE(1, "begin", "transfer", ""),
        HOOK(1, 11, "begin", "data"),
        NVTX(1, 11, "begin", "load"),
        READY(1, "begin", "preprocess"),
        MARK(1, "compute"),
        END(9),
        DONE,
    };
    static const char *const phases[] = {"setup", "transfer",   "data",
                                         "load",  "preprocess", "compute"};
    static const char *const sources[] = {"pattern", "pattern", "python-hook",
                                          "nvtx",    "ready",   "mark"};
    struct line some[ARRAY_LENGTH(all)];
    for (size_t i = 0; i < ARRAY_LENGTH(phases); i++) {
        memcpy(some, all, (i + 1) * sizeof *some);
        some[i + 1] = (struct line)END(9);
        some[i + 2] = (struct line)DONE;
        AUTO_RUN struct run *run = fold_lines(",'phase':'write'", some, false);
        AUTO_FREE char *expected = mem_printf("0-1 unattributed, 1-9 %s", phases[i]);
        assert_phases(run, expected);
        assert_source(run, 1, sources[i]);
    }
    AUTO_RUN struct run *optional = fold_lines(",'phase':'write'", all + 6, false);
    assert_phases(optional, "0-9 write");
}

static void takes_what_ready_waits_for(void **state) {
    (void)state;
    AUTO_RUN struct run *run =
        FOLD(READY(1, "begin", "load"), READY(4, "begin", "compute"), END(9));
    assert_phases(run, "0-1 unattributed, 1-4 load, 4-9 compute");
    assert_string_equal(run->phase[PHASE_LOAD].method, "what --ready waits for");
}

/* ---- lines of known programs ---- */

static void follows_bars_and_ranks(void **state) {
    (void)state;
    /* one within the other; the outermost is the load */
    AUTO_RUN struct run *nested = FOLD(LINE(1, "begin", "load", OF("diffusers")),
                                       LINE(2, "begin", "load", OF("transformers")),
                                       LINE(4, "end", "load", OF("transformers")),
                                       LINE(6, "end", "load", OF("diffusers")), END(9));
    assert_phases(nested, "0-1 unattributed, 1-6 load, 6-9 unattributed");
    /* two models, one after the other */
    AUTO_RUN struct run *two = FOLD(LINE(1, "begin", "load", OF("transformers")),
                                    LINE(2, "end", "load", OF("transformers")),
                                    LINE(4, "begin", "load", OF("transformers")),
                                    LINE(5, "end", "load", OF("transformers")), END(9));
    assert_phases(two, "0-1 unattributed, 1-2 load, 2-4 unattributed, 4-5 load, 5-9 unattributed");
    /* two ranks without a name: the one was done, the other goes on */
    AUTO_RUN struct run *ranks = FOLD(
        LINE(1, "begin", "load", OF("transformers")), LINE(2, "end", "load", OF("transformers")),
        LINE(4, "begin", "load", OF("transformers") ",'goes_on':true"),
        LINE(5, "end", "load", OF("transformers")), LINE(6, "end", "load", OF("transformers")),
        END(9));
    assert_phases(ranks, "0-1 unattributed, 1-6 load, 6-9 unattributed");
    /* ranks with names, and a bar that is theirs, the lines of two streams in any order */
    AUTO_RUN struct run *named =
        FOLD(LINE(2, "begin", "load", OF("vllm")), LINE(1, "begin", "load", RANK("vllm", "pid=1")),
             LINE(3, "begin", "load", RANK("vllm", "pid=2")),
             LINE(4, "end", "load", RANK("vllm", "pid=1")),
             LINE(6, "end", "load", RANK("vllm", "pid=2")), LINE(7, "begin", "compute", OF("vllm")),
             LINE(8, "end", "compute", OF("vllm")), END(9));
    assert_phases(named,
                  "0-1 unattributed, 1-6 load, 6-7 unattributed, 7-8 compute, 8-9 unattributed");
    /* the bar came first: it ends with the last that has a name */
    AUTO_RUN struct run *bar =
        FOLD(LINE(1, "begin", "load", OF("vllm")), LINE(2, "begin", "load", RANK("vllm", "pid=1")),
             LINE(5, "end", "load", RANK("vllm", "pid=1")), LINE(7, "begin", "compute", OF("vllm")),
             END(9));
    assert_phases(bar, "0-1 unattributed, 1-5 load, 5-7 unattributed, 7-9 compute");
}

static void takes_lengths_that_were_told(void **state) {
    (void)state;
    static const char method[] = "a line of output that a known program prints, when it was read, "
                                 "and the length that it printed";
    /* at the end, with no begin seen */
    AUTO_RUN struct run *end = FOLD(LINE(6, "end", "load", OF("vllm") ",'seconds':2.5"), END(9));
    assert_phases(end, "0-3.5 unattributed, 3.5-6 load, 6-9 unattributed");
    assert_string_equal(end->phase[PHASE_LOAD].method, method);
    /* with its begin seen the length is a detail: the outermost holds */
    AUTO_RUN struct run *both = FOLD(LINE(1, "begin", "load", OF("vllm")),
                                     LINE(6, "end", "load", OF("vllm") ",'seconds':2.5"), END(9));
    assert_phases(both, "0-1 unattributed, 1-6 load, 6-9 unattributed");
    assert_string_not_equal(both->phase[PHASE_LOAD].method, method);
    /* longer than the run: somebody else's */
    AUTO_RUN struct run *longer = FOLD(LINE(6, "end", "load", OF("vllm") ",'seconds':7"), END(9));
    assert_quantity(longer->phase[PHASE_LOAD], "open not-separated s");
    /* afterwards: the end follows from the begin */
    AUTO_RUN struct run *told =
        FOLD(LINE(1, "begin", "load", OF("llama.cpp") ",'tentative':true"),
             LINE(2, "begin", "load", OF("llama.cpp") ",'tentative':true"),
             LINE(8, "told", "load", OF("llama.cpp") ",'seconds':3"), END(9));
    assert_phases(told, "0-1 unattributed, 1-4 load, 4-9 unattributed");
    assert_string_equal(told->phase[PHASE_LOAD].method, method);
    /* a begin of such a program alone is nothing, and so is a length without one */
    AUTO_RUN struct run *alone =
        FOLD(LINE(1, "begin", "load", OF("llama.cpp") ",'tentative':true"), END(9));
    assert_quantity(alone->phase[PHASE_LOAD], "open not-separated s");
    AUTO_RUN struct run *without =
        FOLD(LINE(8, "told", "load", OF("llama.cpp") ",'seconds':3"), END(9));
    assert_quantity(without->phase[PHASE_LOAD], "open not-separated s");
    AUTO_RUN struct run *beyond =
        FOLD(LINE(1, "begin", "load", OF("llama.cpp") ",'tentative':true"),
             LINE(3, "told", "load", OF("llama.cpp") ",'seconds':3"), END(9));
    assert_quantity(beyond->phase[PHASE_LOAD], "open not-separated s");
}

static void lines_of_users_come_first(void **state) {
    (void)state;
    AUTO_RUN struct run *run =
        FOLD(LINE(1, "begin", "load", OF("vllm")), LINE(2, "begin", "preprocess", ""),
             LINE(4, "end", "load", OF("vllm")), END(9));
    assert_phases(run, "0-1 unattributed, 1-2 load, 2-9 preprocess");
    assert_string_equal(run->phase[PHASE_LOAD].method,
                        "a line of output that a known program prints, when it was read");
    assert_string_equal(run->phase[PHASE_PREPROCESS].method, "a line of output, when it was read");
    assert_adds_up(run);
    /* what the one tells and the other does not */
    AUTO_RUN struct run *both =
        FOLD(LINE(1, "begin", "load", OF("transformers")),
             LINE(3, "end", "load", OF("transformers")), LINE(5, "begin", "compute", ""), END(9));
    assert_phases(both, "0-1 unattributed, 1-3 load, 3-5 unattributed, 5-9 compute");
    /* the bar's end and the user's line came in one piece: they say the same */
    AUTO_RUN struct run *at_once =
        FOLD(LINE(1, "begin", "load", OF("transformers")),
             LINE(3, "end", "load", OF("transformers")), LINE(3, "begin", "compute", ""), END(9));
    assert_phases(at_once, "0-1 unattributed, 1-3 load, 3-9 compute");
    /* of a phase that the user's lines begin those alone tell */
    AUTO_RUN struct run *users =
        FOLD(LINE(1, "begin", "load", OF("vllm")), LINE(2, "begin", "load", ""),
             LINE(4, "end", "load", OF("vllm")), LINE(6, "begin", "compute", OF("vllm")),
             LINE(7, "end", "compute", OF("vllm")), END(9));
    assert_phases(users, "0-2 unattributed, 2-6 load, 6-7 compute, 7-9 unattributed");
    /* a begin ends what was begun, also of ranks */
    AUTO_RUN struct run *ranks = FOLD(
        LINE(1, "begin", "setup", ""), LINE(2, "begin", "load", RANK("vllm", "pid=1")),
        LINE(3, "begin", "load", RANK("vllm", "pid=2")), LINE(5, "begin", "compute", ""), END(9));
    assert_phases(ranks, "0-1 unattributed, 1-2 setup, 2-5 load, 5-9 compute");
    /* two begins at one time: the user's counts; two of the user's: nobody knows */
    AUTO_RUN struct run *same =
        FOLD(LINE(2, "begin", "compute", ""), LINE(2, "begin", "load", OF("transformers")), END(9));
    assert_phases(same, "0-2 unattributed, 2-9 compute");
    AUTO_RUN struct run *buffered =
        FOLD(LINE(1, "begin", "load", OF("transformers")), LINE(2, "begin", "compute", ""),
             LINE(2, "end", "load", OF("transformers")), LINE(2, "begin", "write", ""), END(9));
    assert_true(buffered->lines_came_together);
    AUTO_RUN struct run *together =
        FOLD(LINE(4, "begin", "load", OF("vllm")), LINE(4, "end", "load", OF("vllm")), END(9));
    assert_quantity(together->phase[PHASE_LOAD], "open not-separated s");
    assert_true(together->lines_came_together);
}

/* ---- why there are none ---- */

static struct run *fold_command(const char *command, const char *agents, const struct line *lines) {
    AUTO_STRBUF struct strbuf bytes = STRBUF_INIT;
    strbuf_add_str(&bytes, JOURNAL_MAGIC);
    add(&bytes, JOURNAL_HEADER,
        "{'format':1,'type':'run','run':'" RUN_ID "','part':'" PART_ID
        "','boot_id':'00000000-0000-0000-0000-000000000000','pid':1,'pid_start':1,"
        "'utc_ns':1764500000000000000,'program':'0.1.0'}");
    AUTO_FREE char *start = mem_printf("{'command':[%s],'cwd':'/','purpose':'trial','attempt':1,"
                                       "'agents':{%s},'clock':{'start_mono_ns':1000000000}}",
                                       command, agents);
    add(&bytes, JOURNAL_START, start);
    for (; lines->kind != 0; lines++)
        add(&bytes, lines->kind, lines->json);
    add(&bytes, JOURNAL_END, "{'t_ns':9000000000,'command_t_ns':9000000000,'exit_code':0}");
    return fold_bytes(&bytes, false, false);
}

#define ON  "'python-hook':{'on':true},'nvtx':{'on':true,'mapped':1}"
#define ON0 "'python-hook':{'on':true},'nvtx':{'on':true,'mapped':0}"

static void says_why_there_are_none(void **state) {
    (void)state;
    static const struct line nothing[] = {DONE};
    static const struct line hello[] = {HELLO("python-hook"), HELLO("nvtx"), DONE};
    static const struct line off[] = {
        HELLO("python-hook"), AGENT(1, "python-hook", "'data':{'event':'off','reason':'too old'}"),
        DONE};
    static const struct line names[] = {
        HELLO("nvtx"),
        AGENT(1, "nvtx", "'data':{'event':'ranges','seen':9,'names':['a\\u001b','b']}"),
        AGENT(2, "nvtx", "'data':{'event':'ranges','seen':0,'names':[]}"), DONE};
#define INTERPRETER(source) \
    { JOURNAL_ENVIRONMENT, "{'interpreters':[{'path':'/usr/bin/python3','source':'" source "'}]}" }
    static const struct line command[] = {INTERPRETER("command"), DONE};
    static const struct line script[] = {INTERPRETER("script"), DONE};
    static const struct line process[] = {INTERPRETER("process"), DONE};
    static const struct line path[] = {INTERPRETER("PATH"), DONE};
    static const struct line variable[] = {INTERPRETER("VIRTUAL_ENV"), DONE};
    const struct {
        const char *command, *agents;
        const struct line *lines;
        const char *wanted, *unwanted;
    } cases[] = {
        {"'true'", ON0, nothing, "nothing tells the phases apart", "hook"},
        {"'python3','x.py'", ON0, nothing, "did not report: python -I, -S or -E", "NVTX"},
        {"'/usr/bin/python3.11','-I','x.py'", ON0, nothing, "python -I keeps it out", NULL},
        {"'env','A=1','python3','-uS','x.py'", ON0, command, "python -S keeps it out", NULL},
        {"'python3','-W','ignore','-sEm','x'", ON0, nothing, "python -E keeps it out", NULL},
        {"'python3','-c','-I'", ON0, nothing, "-I, -S or -E, or another", "keeps it out"},
        {"'python3','x.py','-I'", ON0, nothing, "-I, -S or -E, or another", "keeps it out"},
        {"'python3','-mI'", ON0, nothing, "-I, -S or -E, or another", "keeps it out"},
        {"'pythonic','-I'", ON0, nothing, "nothing tells", "hook"},
        {"'./train.sh'", ON0, process, "-I, -S or -E, or another", NULL},
        {"'./train.py'", ON0, script, "-I, -S or -E, or another", NULL},
        /* no Python of this run */
        {"'sh','-c','sleep 1'", ON0, path, "nothing tells", "hook"},
        {"'sh','-c','sleep 1'", ON0, variable, "nothing tells", "hook"},
        {"'echo','python3'", ON0, nothing, "nothing tells", "hook"},
        {"'python3','x.py'", ON0, hello, "saw no call", "did not report"},
        {"'python3','x.py'", ON0, off, "told nothing: too old", NULL},
        {"'python3'", "'python-hook':{'on':false,'reason':'PROBELAUF_PYTHON=0'}", nothing,
         "was off: PROBELAUF_PYTHON=0", NULL},
        {"'true'", ON, nothing, "no NVTX markers", "python"},
        {"'true'", ON, hello, "no NVTX range came", NULL},
        {"'true'", ON0, names, "mean no phase: a\\x1b, b; map them in phases.nvtx", NULL},
        {"'true'", "'nvtx':{'on':false,'mapped':1,'reason':'it is set'}", nothing,
         "were not received: it is set", NULL},
        {"'python3'", "", nothing, "nothing tells", "hook"}, /* before there were agents */
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        AUTO_RUN struct run *run = fold_command(cases[i].command, cases[i].agents, cases[i].lines);
        assert_quantity(run->phase[PHASE_LOAD], "open not-separated s");
        const char *detail = run->phase[PHASE_LOAD].detail;
        if (strstr(detail, cases[i].wanted) == NULL ||
            (cases[i].unwanted != NULL && strstr(detail, cases[i].unwanted) != NULL))
            fail_msg("%s: %s", cases[i].command, detail);
    }
    AUTO_RUN struct run *silenced = fold_command("'python3','-I','x.py'", ON0, nothing);
    assert_string_equal(silenced->apart_why,
                        "the Python hook did not report: python -I keeps it out");
    assert_string_equal(silenced->apart_remedy, "leave -I out, or mark the phases");
    AUTO_RUN struct run *named = fold_command("'python3','x.py'", ON0, names);
    assert_non_null(strstr(named->apart_why, "NVTX ranges came that mean no phase: a\\x1b, b"));
    assert_string_equal(named->apart_remedy, "map them in phases.nvtx of the plan");
    AUTO_RUN struct run *unknown = fold_command("'true'", ON0, nothing);
    assert_null(unknown->apart_why);
    assert_null(unknown->apart_remedy);
}

/* ---- --ready ---- */

#define READY_END(t, ready) \
    { JOURNAL_END, "{'t_ns':" S(t) ",'command_t_ns':" S(t) ",'exit_code':0,'ready':" ready "}" }
#define UNSEEN "{'reason':'standard output was not read','unseen':true}"

static void knows_ready_only_where_it_looked(void **state) {
    (void)state;
    AUTO_RUN struct run *never =
        FOLD(READY(1, "begin", "load"), READY_END(9, "{'reason':'no line of the output matched'}"));
    assert_quantity(never->phase[PHASE_LOAD], ">= 8 s");
    assert_non_null(strstr(never->phase[PHASE_LOAD].detail, "never ready: no line"));
    AUTO_RUN struct run *unseen = FOLD(READY(1, "begin", "load"), READY_END(9, UNSEEN));
    assert_quantity(unseen->phase[PHASE_LOAD], "open not-separated s");
    assert_non_null(strstr(unseen->phase[PHASE_LOAD].detail, "standard output was not read"));
    assert_null(strstr(unseen->phase[PHASE_LOAD].detail, "never ready"));
    assert_quantity(unseen->phase[PHASE_UNATTRIBUTED], "= 9 s");
    /* then others may tell */
    AUTO_RUN struct run *hook = FOLD(READY(1, "begin", "load"), HOOK(1, 11, "begin", "load"),
                                     HOOK(4, 11, "end", "load"), READY_END(9, UNSEEN));
    assert_phases(hook, "0-1 unattributed, 1-4 load, 4-9 unattributed");
    /* the line came, but what was not read may have held it before */
    AUTO_RUN struct run *late =
        FOLD(READY(1, "begin", "load"),
             {JOURNAL_PHASE, "{'t_ns':" S(4) ",'event':'begin','name':'compute','source':'ready',"
                                             "'unseen':true}"},
             READY_END(9, "{'t_ns':4000000000,'unseen':true}"));
    assert_quantity(late->phase[PHASE_LOAD], "<= 3 s");
    assert_quantity(late->phase[PHASE_COMPUTE], ">= 5 s");
}

/* ---- --attach ---- */

static void began_before_it_was_attached_to(void **state) {
    (void)state;
    static const char since[] = "since it was attached to: it had run before";
    const struct line ready[] = {READY(1, "begin", "load"), READY(4, "begin", "compute"), END(9),
                                 DONE};
    AUTO_RUN struct run *loaded = fold_lines(",'attach':7", ready, false);
    assert_quantity(loaded->phase[PHASE_LOAD], ">= 3 s");
    assert_string_equal(loaded->phase[PHASE_LOAD].detail, since);
    assert_quantity(loaded->phase[PHASE_COMPUTE], "= 5 s"); /* begin and end were seen */
    const struct line before[] = {READY(1, "begin", "compute"), END(9), DONE};
    AUTO_RUN struct run *computed = fold_lines(",'attach':7", before, false);
    assert_quantity(computed->phase[PHASE_COMPUTE], ">= 8 s");
    const struct line marks[] = {MARK(2, "load"), MARK(4, "compute"), END(9), DONE};
    AUTO_RUN struct run *marked = fold_lines(",'attach':7", marks, false);
    assert_quantity(marked->phase[PHASE_LOAD], ">= 2 s");
    assert_quantity(marked->phase[PHASE_COMPUTE], ">= 5 s");
    const struct line cut[] = {READY(1, "begin", "load"),
                               READY(4, "begin", "compute"),
                               {JOURNAL_END,
                                "{'t_ns':" S(9) ",'watching':'max-time','survivors':[{'pid':7}],"
                                                "'wall_is_at_least':true}"},
                               DONE};
    AUTO_RUN struct run *goes_on = fold_lines(",'attach':7", cut, false);
    assert_quantity(goes_on->phase[PHASE_LOAD], ">= 3 s");
    assert_quantity(goes_on->phase[PHASE_COMPUTE], ">= 5 s");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_innermost_range),
        cmocka_unit_test(load_ends_with_the_last_process),
        cmocka_unit_test(knows_less_behind_a_limit),
        cmocka_unit_test(does_not_trust_an_agent),
        cmocka_unit_test(takes_the_highest_source),
        cmocka_unit_test(takes_what_ready_waits_for),
        cmocka_unit_test(follows_bars_and_ranks),
        cmocka_unit_test(takes_lengths_that_were_told),
        cmocka_unit_test(lines_of_users_come_first),
        cmocka_unit_test(says_why_there_are_none),
        cmocka_unit_test(knows_ready_only_where_it_looked),
        cmocka_unit_test(began_before_it_was_attached_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
