/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where things are, for every combination of flag, variable, configuration and XDG folder. */
#include "support.h"

struct given {
    const char *ledger_flag, *journal_flag, *ledger_config, *journal_config;
    const char *ledger_env, *journal_env, *data, *state, *home;
};

static void set(const char *name, const char *value) {
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void resolve(const struct given *given, struct arena *arena, struct place *ret_place) {
    set("PROBELAUF_LEDGER", given->ledger_env);
    set("PROBELAUF_JOURNAL_DIR", given->journal_env);
    set("XDG_DATA_HOME", given->data);
    set("XDG_STATE_HOME", given->state);
    set("HOME", given->home);
    place_resolve(given->ledger_flag, given->journal_flag, given->ledger_config,
                  given->journal_config, arena, ret_place);
}

/* Joined by blanks; @ stands for /var/tmp/probelauf-UID. */
static void expect(const struct given *given, const char *url, const char *dirs) {
    AUTO_ARENA struct arena *arena = arena_new();
    struct place place;
    resolve(given, arena, &place);
    AUTO_STRBUF struct strbuf got = STRBUF_INIT, want = STRBUF_INIT;
    strbuf_printf(&got, "%s", place.ledger_url);
    for (size_t i = 0; place.journal_dirs[i]; i++)
        strbuf_printf(&got, " %s", place.journal_dirs[i]);
    AUTO_FREE char *all = mem_printf("%s %s", url, dirs);
    for (const char *c = all; *c; c++)
        if (*c == '@')
            strbuf_printf(&want, "/var/tmp/probelauf-%lu", (unsigned long)geteuid());
        else
            strbuf_add_char(&want, *c);
    assert_string_equal(strbuf_str(&got), strbuf_str(&want));
}

/* "$" at the end of a folder stands for the part of the ledger. */
static void expect_parts(const struct given *given, const char *url, const char *dirs) {
    char digest[SHA256_HEX_SIZE];
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT, all = STRBUF_INIT;
    for (const char *c = url; *c; c++)
        if (*c == '@')
            strbuf_printf(&plain, "/var/tmp/probelauf-%lu", (unsigned long)geteuid());
        else
            strbuf_add_char(&plain, *c);
    digest_sha256(strbuf_str(&plain), plain.length, digest);
    for (const char *c = dirs; *c; c++)
        if (*c == '$')
            strbuf_printf(&all, "/%.16s", digest);
        else
            strbuf_add_char(&all, *c);
    expect(given, url, strbuf_str(&all));
}

static void defaults(void **state) {
    (void)state;
    expect_parts(&(struct given){.home = "/h"}, "sqlite:/h/.local/share/probelauf/ledger.db",
                 "/h/.local/share/probelauf/journals /h/.local/state/probelauf/journals @$");
    expect_parts(&(struct given){.home = "/"}, "sqlite:/.local/share/probelauf/ledger.db",
                 "/.local/share/probelauf/journals /.local/state/probelauf/journals @$");
    expect_parts(&(struct given){.home = "/h", .data = "/d", .state = "/s"},
                 "sqlite:/d/probelauf/ledger.db",
                 "/d/probelauf/journals /s/probelauf/journals$ @$");
    /* relative and empty ones do not count */
    expect_parts(&(struct given){.home = "/h", .data = "d", .state = ""},
                 "sqlite:/h/.local/share/probelauf/ledger.db",
                 "/h/.local/share/probelauf/journals /h/.local/state/probelauf/journals @$");
    expect(&(struct given){0}, "sqlite:@/ledger.db", "@/journals @");
    expect(&(struct given){.home = "relative"}, "sqlite:@/ledger.db", "@/journals @");
    expect_parts(&(struct given){.state = "/s"}, "sqlite:@/ledger.db",
                 "@/journals /s/probelauf/journals$ @");
}

static void precedence(void **state) {
    (void)state;
    struct given given = {.home = "/h", .journal_config = "/jc"};
    const char *rest = "/h/.local/share/probelauf/journals /h/.local/state/probelauf/journals @$";
    const char *url = "sqlite:/h/.local/share/probelauf/ledger.db";
    AUTO_FREE char *config = mem_printf("/jc %s", rest);
    expect_parts(&given, url, config);
    given.journal_env = "/je";
    AUTO_FREE char *env = mem_printf("/je %s", rest);
    expect_parts(&given, url, env);
    given.journal_flag = "/jf";
    AUTO_FREE char *flag = mem_printf("/jf %s", rest);
    expect_parts(&given, url, flag);
    given.journal_flag = "/h/.local/share/probelauf/journals"; /* not twice */
    expect_parts(&given, url, rest);
}

static void expect_own_part(const struct given *given, const char *url, const char *beside) {
    AUTO_FREE char *dirs = mem_printf("%s /h/.local/state/probelauf/journals$ @$", beside);
    expect_parts(given, url, dirs);
}

/* What waits for one ledger must not be taken into another: the folders they share have a part for
 * each. */
static void other_ledgers(void **state) {
    (void)state;
    struct given given = {.home = "/h", .ledger_config = "sqlite:/c/l.db"};
    expect_own_part(&given, "sqlite:/c/l.db", "/c/l.db-journals");
    given.ledger_env = "sqlite:/e/l.db";
    expect_own_part(&given, "sqlite:/e/l.db", "/e/l.db-journals");
    given.ledger_flag = "/f/l.db";
    expect_own_part(&given, "sqlite:/f/l.db", "/f/l.db-journals");
    given.ledger_flag = "sqlite:/h/.local/share/probelauf/ledger.db"; /* the default, named */
    expect_parts(&given, "sqlite:/h/.local/share/probelauf/ledger.db",
                 "/h/.local/share/probelauf/journals /h/.local/state/probelauf/journals @$");
}

static size_t count_shared(const struct place *a, const struct place *b) {
    size_t shared = 0;
    for (size_t i = 0; a->journal_dirs[i]; i++)
        for (size_t k = 0; b->journal_dirs[k]; k++)
            shared += strcmp(a->journal_dirs[i], b->journal_dirs[k]) == 0;
    return shared;
}

/* Two ledgers of a user never have a folder in common, however each of them came to be. */
static void no_folder_is_shared(void **state) {
    (void)state;
    static const struct given all[] = {
        {.home = "/a"},
        {.home = "/b"},
        {.home = "/c", .state = "/s"},
        {.home = "/d", .state = "/s"},
        {.home = "/a", .data = "/e"},
        {.home = "/a", .data = "/f"},
        {.home = "/a", .ledger_env = "sqlite:/g/ledger.db"},
        {.home = "/a", .ledger_flag = "/g/other.db"},
        {.home = NULL},
        {.data = "/i", .state = "/s"},
    };
    AUTO_ARENA struct arena *arena = arena_new();
    struct place places[ARRAY_LENGTH(all)];
    for (size_t i = 0; i < ARRAY_LENGTH(all); i++) {
        resolve(&all[i], arena, &places[i]);
        for (size_t k = 0; k < i; k++)
            assert_int_equal(count_shared(&places[k], &places[i]), 0);
    }
}

static void relative_paths_hold(void **state) {
    struct home *home = *state;
    assert_int_equal(chdir(home->path), 0);
    AUTO_ARENA struct arena *arena = arena_new();
    struct place place;
    resolve(&(struct given){.home = "/h", .ledger_flag = "sqlite:l.db", .journal_flag = "j"}, arena,
            &place);
    assert_int_equal(chdir("/"), 0);
    assert_string_equal(place.ledger_url, arena_printf(arena, "sqlite:%s/l.db", home->path));
    assert_string_equal(place.journal_dirs[0], arena_printf(arena, "%s/j", home->path));
    assert_string_equal(place.journal_dirs[1], arena_printf(arena, "%s/l.db-journals", home->path));
}

/* What store_open will refuse is handed on as it is, for it to say so. */
static void unusable_urls_are_kept(void **state) {
    (void)state;
    const char *const urls[] = {"postgresql://h/d", "nonsense", "sqlite:", "sqlite:~/l.db",
                                "sqlite://l.db"};
    for (size_t i = 0; i < ARRAY_LENGTH(urls); i++) {
        AUTO_ARENA struct arena *arena = arena_new();
        struct place place;
        resolve(&(struct given){.home = "/h", .ledger_flag = urls[i]}, arena, &place);
        assert_string_equal(place.ledger_url, urls[i]);
        assert_non_null(strstr(place.journal_dirs[0], "/h/.local/state/probelauf/journals/"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults),      cmocka_unit_test(precedence),
        cmocka_unit_test(other_ledgers), cmocka_unit_test(no_folder_is_shared),
        HOME_TEST(relative_paths_hold),  cmocka_unit_test(unusable_urls_are_kept),
    };
    return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
