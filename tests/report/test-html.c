/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages: texts from outside stay text, Markdown becomes sections and tables, the policy fits. */
#include "base/str.h"
#include "report/html/assets.h"
#include "report/html/html.h"
#include "report/markdown.h"

#include <setjmp.h>
#include <sha2.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void texts_stay_text(void **state) {
    (void)state;
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    html_add_text(&out, "<script>\"x\" & 'y'</script>\033[31m\xe2\x80\xae\x01\xff");
    assert_null(strpbrk(strbuf_str(&out), "<>\"'\033\001\xff"));
    assert_null(strstr(strbuf_str(&out), "\xe2\x80\xae"));
    assert_non_null(strstr(strbuf_str(&out), "&lt;script&gt;&quot;x&quot; &amp; &#39;y&#39;"));
    strbuf_clear(&out);
    html_add_text(&out, NULL);
    assert_int_equal(out.length, 0);
}

static void long_ones_say_what_is_missing(void **state) {
    (void)state;
    char text[30001];
    for (size_t i = 0; i < 10000; i++)
        memcpy(text + 3 * i, "\xea\xb0\x80", 3); /* Hangul, three bytes each */
    text[30000] = '\0';
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    html_add_text_most(&out, text, 10);
    assert_memory_equal(strbuf_str(&out), text, 30);
    assert_string_equal(strbuf_str(&out) + 30, " … (9990 characters more)");
}

static void long_ones_are_cut_wherever_they_stand(void **state) {
    (void)state;
    char text[10001];
    memset(text, 'x', 10000);
    text[10000] = '\0';
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    html_add_marked(&out, text);
    assert_true(out.length < 2100);
    assert_non_null(strstr(strbuf_str(&out), " … (8000 characters more)"));
    memcpy(text + 1998, "[m]", 3); /* a mark at the edge stays whole */
    strbuf_clear(&out);
    html_add_marked(&out, text);
    assert_non_null(strstr(strbuf_str(&out), "[m]</span> … (7999 characters more)"));
    memcpy(text, "[?]", 4);
    strbuf_clear(&out);
    html_add_marked(&out, text);
    assert_string_equal(strbuf_str(&out), "<span class=\"mark open\">[?]</span>");
}

static void json_ends_no_element(void **state) {
    (void)state;
    AUTO_JSON json_t *json = json_pack("{s:s}", "a", "</script><!--&");
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    html_add_json(&out, json);
    assert_string_equal(strbuf_str(&out), "{\"a\":\"\\u003c/script\\u003e\\u003c!--\\u0026\"}");
}

static char *as_html(const char *markdown) {
    AUTO_ARENA struct arena *arena = arena_new();
    AUTO_STRBUF struct strbuf out = STRBUF_INIT;
    html_add_markdown(html_contents_new(arena), markdown, strlen(markdown), "<figure></figure>",
                      &out);
    return strbuf_take(&out);
}

static void markdown_becomes_sections(void **state) {
    (void)state;
    AUTO_FREE char *html = as_html("# T\n\n**v**\n\n## A\n\n- **x:** [m] 1 s\n- `c`\n\n### B\n\n| "
                                   "a | b |\n|---|---|\n| [?] open | 2 |\n\n## C\n\ntext\n");
    assert_string_equal(
        html,
        "<h1>T</h1>\n<p><strong>v</strong></p>\n"
        "<section aria-labelledby=\"part-1\">\n<h2 id=\"part-1\">A</h2>\n"
        "<ul>\n<li><strong>x:</strong> <span class=\"mark measured\">[m]</span> 1 s</li>\n"
        "<li><code>c</code></li>\n</ul>\n<h3 id=\"part-2\">B</h3>\n"
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-labelledby=\"part-2\">\n<table>\n"
        "<thead>\n<tr><th scope=\"col\">a</th><th scope=\"col\">b</th></tr>\n</thead>\n<tbody>\n"
        "<tr><td><span class=\"mark open\">[?]</span> open</td><td>2</td></tr>\n</tbody>\n"
        "</table>\n</div>\n<figure></figure></section>\n"
        "<section aria-labelledby=\"part-3\">\n<h2 "
        "id=\"part-3\">C</h2>\n<p>text</p>\n</section>\n");
}

/* Not even what markdown.c would never write. */
static void nothing_becomes_a_link_or_raw(void **state) {
    (void)state;
    AUTO_FREE char *html = as_html(
        "[a](javascript:x) <b onclick=x>h</b> ![i](http://h/i.png) <http://h/> http://h2/\n\n"
        "<script>x</script>\n\n<!-- c -->\n");
    assert_null(strstr(html, "<a"));
    assert_null(strstr(html, "<b"));
    assert_null(strstr(html, "<img"));
    assert_null(strstr(html, "<script"));
    assert_null(strstr(html, "href"));
    assert_non_null(strstr(html, "&lt;script&gt;"));
}

/* Whatever text: written by markdown.c and read again it is the same text. */
static void texts_come_through_markdown(void **state) {
    (void)state;
    static const char *const texts[] = {"a@b.cd",
                                        "x_y_z *s* `t` [m](u) | ~a~ #1 \\",
                                        "1. no list",
                                        "- no list",
                                        "http://h/?a=1&b=2",
                                        "www.h.org",
                                        "<i>",
                                        "$x$"};
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        AUTO_STRBUF struct strbuf markdown = STRBUF_INIT, expected = STRBUF_INIT;
        markdown_paragraph(&markdown, texts[i]);
        AUTO_FREE char *html = as_html(strbuf_str(&markdown));
        strbuf_add_str(&expected, "<p>");
        html_add_marked(&expected, texts[i]);
        strbuf_add_str(&expected, "</p>\n");
        assert_string_equal(html, strbuf_str(&expected));
    }
}

static void the_policy_allows_what_is_in_it_alone(void **state) {
    (void)state;
    const struct web_asset *style = web_asset("style.css");
    assert_non_null(style);
    assert_null(web_asset("no.css"));
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA2_CTX context;
    SHA256Init(&context);
    SHA256Update(&context, (const uint8_t *)style->text, style->length);
    SHA256Final(digest, &context);
    AUTO_STRBUF struct strbuf expected = STRBUF_INIT, page = STRBUF_INIT;
    strbuf_add_str(&expected,
                   "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
                   "style-src 'sha256-");
    str_add_base64(&expected, digest, sizeof digest);
    html_begin_page("<t>", NULL, &page);
    html_end_page(&page);
    assert_non_null(strstr(strbuf_str(&page), strbuf_str(&expected)));
    assert_non_null(strstr(strbuf_str(&page), "<title>&lt;t&gt;</title>"));
    assert_null(strstr(strbuf_str(&page), " style=\""));
    assert_true(style->length < 100000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_stay_text),
        cmocka_unit_test(long_ones_say_what_is_missing),
        cmocka_unit_test(long_ones_are_cut_wherever_they_stand),
        cmocka_unit_test(json_ends_no_element),
        cmocka_unit_test(markdown_becomes_sections),
        cmocka_unit_test(nothing_becomes_a_link_or_raw),
        cmocka_unit_test(texts_come_through_markdown),
        cmocka_unit_test(the_policy_allows_what_is_in_it_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
