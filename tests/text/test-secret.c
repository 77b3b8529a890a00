/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Masking of secrets: shapes of real tokens, each in the places where it is met, and texts that
 * must stay as they are. The random parts are made at run time, so that nothing in this file looks
 * like a secret to a scanner.
 */
#include "base/mem.h"
#include "text/secret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char ALNUM[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
static const char UPPER[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
static const char HEX[] = "0123456789abcdef";
static const char WORD[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
static const char BASE64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char DIGIT[] = "0123456789";

#define SEEDS 20u

static uint64_t next_random(uint64_t *state) { /* xorshift64 */
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void add_random(struct strbuf *out, uint64_t *state, const char *letters, size_t count) {
    for (size_t i = 0; i < count; i++)
        strbuf_add_char(out, letters[next_random(state) % strlen(letters)]);
}

/* One secret: head, then a random tail, then perhaps more of both. `head` is split so that it is no
 * prefix in the source. */
struct secret_case {
    const char *what;
    const char *before; /* context that stays; NULL: bare, and in every place below */
    const char *head[2];
    const char *letters;
    size_t count;
    const char *middle; /* NULL: nothing more */
    size_t more;
    const char *after;
};

/* clang-format off */
static const struct secret_case cases[] = {
    /* known by their form, wherever they stand */
    {"AWS access key id", NULL, {"AK", "IA"}, UPPER, 16, NULL, 0, ""},
    {"AWS temporary key id", NULL, {"AS", "IA"}, UPPER, 16, NULL, 0, ""},
    {"GitHub classic", NULL, {"gh", "p_"}, ALNUM, 36, NULL, 0, ""},
    {"GitHub OAuth", NULL, {"gh", "o_"}, ALNUM, 36, NULL, 0, ""},
    {"GitHub user", NULL, {"gh", "u_"}, ALNUM, 36, NULL, 0, ""},
    {"GitHub server", NULL, {"gh", "s_"}, ALNUM, 36, NULL, 0, ""},
    {"GitHub refresh", NULL, {"gh", "r_"}, ALNUM, 36, NULL, 0, ""},
    {"GitHub fine-grained", NULL, {"github", "_pat_"}, ALNUM, 22, "_", 59, ""},
    {"GitLab", NULL, {"gl", "pat-"}, WORD, 20, NULL, 0, ""},
    {"Hugging Face", NULL, {"h", "f_"}, ALNUM, 34, NULL, 0, ""},
    {"OpenAI", NULL, {"s", "k-"}, ALNUM, 48, NULL, 0, ""},
    {"OpenAI project", NULL, {"s", "k-proj-"}, WORD, 80, NULL, 0, ""},
    {"Anthropic", NULL, {"s", "k-ant-api03-"}, WORD, 93, NULL, 0, ""},
    {"OpenRouter", NULL, {"s", "k-or-v1-"}, HEX, 64, NULL, 0, ""},
    {"Google API", NULL, {"AI", "za"}, WORD, 35, NULL, 0, ""},
    {"Google OAuth", NULL, {"ya", "29."}, WORD, 60, NULL, 0, ""},
    {"Slack bot", NULL, {"xo", "xb-"}, DIGIT, 12, "-", 24, ""},
    {"Slack user", NULL, {"xo", "xp-"}, DIGIT, 12, "-", 24, ""},
    {"Slack refresh", NULL, {"xo", "xr-"}, DIGIT, 12, "-", 24, ""},
    {"Slack app", NULL, {"xo", "xa-"}, DIGIT, 12, "-", 24, ""},
    {"Stripe", NULL, {"sk", "_live_"}, ALNUM, 24, NULL, 0, ""},
    {"Stripe restricted", NULL, {"rk", "_live_"}, ALNUM, 24, NULL, 0, ""},
    {"npm", NULL, {"np", "m_"}, ALNUM, 36, NULL, 0, ""},
    {"PyPI", NULL, {"py", "pi-AgE"}, WORD, 150, NULL, 0, ""},
    {"Docker", NULL, {"dckr", "_pat_"}, WORD, 27, NULL, 0, ""},
    {"SendGrid", NULL, {"S", "G."}, WORD, 22, ".", 43, ""},
    {"Twilio", NULL, {"S", "K"}, HEX, 32, NULL, 0, ""},
    {"Telegram", NULL, {"12345", "67890:AA"}, WORD, 33, NULL, 0, ""},
    {"Discord", NULL, {"M", "T"}, ALNUM, 22, ".Gh1j2k.", 38, ""},
    {"DigitalOcean", NULL, {"dop", "_v1_"}, HEX, 64, NULL, 0, ""},
    {"Databricks", NULL, {"da", "pi"}, HEX, 32, NULL, 0, ""},
    {"Heroku", NULL, {"HR", "KU-AA"}, WORD, 58, NULL, 0, ""},
    {"Mailgun", NULL, {"ke", "y-"}, HEX, 32, NULL, 0, ""},
    {"Vault", NULL, {"hv", "s."}, ALNUM, 24, NULL, 0, ""},
    {"Vault, old", NULL, {"s", ".a1B2"}, ALNUM, 20, NULL, 0, ""},
    {"Terraform cloud", NULL, {"", ""}, ALNUM, 14, ".atlasv1.", 67, ""},
    {"age", NULL, {"AGE-SECRET", "-KEY-1"}, UPPER, 58, NULL, 0, ""},
    {"Doppler", NULL, {"dp", ".pt."}, ALNUM, 43, NULL, 0, ""},
    {"Linear", NULL, {"lin", "_api_"}, ALNUM, 40, NULL, 0, ""},
    {"Notion", NULL, {"secret", "_"}, ALNUM, 43, NULL, 0, ""},
    {"Notion, new", NULL, {"nt", "n_"}, ALNUM, 46, NULL, 0, ""},
    {"Replicate", NULL, {"r", "8_"}, ALNUM, 37, NULL, 0, ""},
    {"Groq", NULL, {"gs", "k_"}, ALNUM, 52, NULL, 0, ""},
    {"Perplexity", NULL, {"pp", "lx-"}, ALNUM, 48, NULL, 0, ""},
    {"RunPod", NULL, {"rp", "a_"}, UPPER, 40, NULL, 0, ""},
    {"Lambda", NULL, {"secret", "_lab_"}, HEX, 32, ".", 32, ""},
    {"NVIDIA NGC", NULL, {"nv", "api-"}, WORD, 64, NULL, 0, ""},
    {"W&B, new", NULL, {"wandb", "_v1_"}, ALNUM, 60, NULL, 0, ""},
    {"JSON web token", NULL, {"ey", "J"}, ALNUM, 33, ".eyJ", 60, ""},
    {"AWS secret key without a name", NULL, {"", ""}, ALNUM, 40, NULL, 0, ""},
    {"base64 of a netrc", NULL, {"bWFja", "GluZS"}, BASE64, 40, NULL, 0, ""},
    /* addresses */
    {"Slack webhook", "curl -d x https://hooks.sl" "ack.com/", {"serv", "ices/T"}, UPPER, 9, "/B024BE7LD/", 24, " -v"},
    {"Discord webhook", "post https://", {"discord.com/api/", "webhooks/"}, DIGIT, 18, "/", 60, " done"},
    {"web address", "origin\thttps://", {"jo", "e:"}, ALNUM, 10, NULL, 0, "@example.org/x.git (fetch)"},
    {"web address, token alone", "origin https://", {"", ""}, ALNUM, 30, NULL, 0, "@example.org/x.git"},
    {"token with its user behind", "https://", {"", ""}, ALNUM, 40, NULL, 0, ":x-oauth-basic@example.org/x.git"},
    {"GitLab deploy", "url = https://oauth2:", {"", ""}, ALNUM, 12, NULL, 0, "@gitlab.example/x.git"},
    {"PostgreSQL", "DSN postgres://joe:", {"", ""}, ALNUM, 9, NULL, 0, "@db.example:5432/x?sslmode=require"},
    {"PostgreSQL, slash in it", "postgresql://joe:a", {"", ""}, ALNUM, 9, "/", 8, "@db.example:5432/x"},
    {"MongoDB", "mongodb+srv://joe:", {"", ""}, ALNUM, 9, NULL, 0, "@cluster0.example/test"},
    {"Redis", "redis://:", {"", ""}, ALNUM, 9, NULL, 0, "@localhost:6379/0"},
    {"query: token", "GET https://example.org/f?a=1&token=", {"", ""}, ALNUM, 9, NULL, 0, "&b=2 HTTP/1.1"},
    {"query: key", "GET https://example.org/f?key=", {"", ""}, ALNUM, 9, NULL, 0, "&b=2"},
    {"presigned S3", "https://b.s3.amazonaws.com/w?X-Amz-Date=20261130T000000Z&X-Amz-Signature=", {"", ""}, HEX, 64, NULL, 0, "&x-id=GetObject"},
    {"presigned S3, credential", "https://b.example/w?X-Amz-Credential=", {"AK", "IA"}, UPPER, 16, NULL, 0, "%2F20261130&x=1"},
    {"presigned GCS", "https://storage.example/w?Expires=1&Signature=", {"", ""}, ALNUM, 30, "%2B", 20, ""},
    {"Azure SAS", "https://x.blob.core.windows.net/c?sv=2022-11-02&sig=", {"", ""}, ALNUM, 40, "%3D", 0, "&sp=r"},
    /* headers */
    {"bearer", "curl -H \"Authorization: Bearer ", {"", ""}, ALNUM, 20, NULL, 0, "\" https://example.org"},
    {"basic", "Authorization: Basic ", {"", ""}, BASE64, 14, "=", 0, "\nHost: example.org"},
    {"any scheme", "authorization: ", {"", ""}, ALNUM, 9, NULL, 0, "\nHost: example.org"},
    {"proxy", "Proxy-Authorization: Basic ", {"", ""}, BASE64, 14, NULL, 0, "\n"},
    {"cookie", "> Cookie: session=", {"", ""}, ALNUM, 12, "; csrf=", 12, "\n> Accept: */*"},
    {"set-cookie", "< Set-Cookie: sid=", {"", ""}, ALNUM, 12, "; Path=/; x=", 12, "\n"},
    {"header of an API", "-H 'X-Api-Key: ", {"", ""}, ALNUM, 9, NULL, 0, "' --verbose"},
    {"header of GitLab", "PRIVATE-TOKEN: ", {"", ""}, ALNUM, 9, NULL, 0, "\nx"},
    {"bearer alone", "sent bearer ", {"x1", "y2"}, ALNUM, 20, NULL, 0, " and got 200"},
    {"headers in Python", "{'Authorization': 'Bearer ", {"", ""}, ALNUM, 9, NULL, 0, "', 'Accept': '*/*'}"},
    /* options in a text */
    {"--password X", "tool --password ", {"", ""}, ALNUM, 8, NULL, 0, " --verbose"},
    {"--password=X", "tool --password=", {"", ""}, ALNUM, 8, NULL, 0, " --verbose"},
    {"--password 'X Y'", "tool --password '", {"", ""}, ALNUM, 8, " ", 8, "' --verbose"},
    {"--api-key", "tool --api-key ", {"", ""}, ALNUM, 8, NULL, 0, " --verbose"},
    {"--token", "tool --token ", {"", ""}, ALNUM, 8, NULL, 0, " --verbose"},
    {"-token", "tool -token=", {"", ""}, ALNUM, 8, NULL, 0, " --verbose"},
    {"--hf_token", "python x.py --hf_token ", {"", ""}, ALNUM, 8, NULL, 0, " --n 3"},
    {"mysql -p", "ssh db 'mysql -u joe -p", {"", ""}, ALNUM, 8, NULL, 0, " test'"},
    {"sshpass -p", "sshpass -p ", {"", ""}, ALNUM, 8, NULL, 0, " ssh host"},
    {"docker login -p", "docker login -u joe -p ", {"", ""}, ALNUM, 8, NULL, 0, " registry.example"},
    {"curl -u", "curl -s -u joe:", {"", ""}, ALNUM, 8, NULL, 0, " https://example.org"},
    {"redis-cli -a", "redis-cli -h x -a ", {"", ""}, ALNUM, 8, NULL, 0, " ping"},
    {"wandb login", "wandb login --relogin ", {"", ""}, HEX, 40, NULL, 0, "\nok"},
    /* names and values */
    {"shell variable", "export MY_PASSWORD=", {"", ""}, ALNUM, 8, NULL, 0, "\necho ok"},
    {"W&B", "WANDB_API_KEY=", {"", ""}, HEX, 40, NULL, 0, " python train.py"},
    {"Kaggle, variable", "KAGGLE_KEY=", {"", ""}, HEX, 32, NULL, 0, ""},
    {"Kaggle, file", "{\"username\":\"joe\",\"key\":\"", {"", ""}, HEX, 32, NULL, 0, "\"}"},
    {"AWS secret, file", "aws_secret_access_key = ", {"", ""}, BASE64, 40, NULL, 0, "\nregion = eu-central-1"},
    {"AWS secret, command", "aws configure set aws_secret_access_key 1", {"", ""}, BASE64, 39, NULL, 0, "\n"},
    {"AWS session", "AWS_SESSION_TOKEN=", {"", ""}, BASE64, 100, "==", 0, ""},
    {"Heroku, old", "HEROKU_API_KEY=", {"", ""}, HEX, 8, "-aaaa-bbbb-cccc-", 12, ""},
    {"vast.ai", "VAST_API_KEY='", {"", ""}, HEX, 64, NULL, 0, "'"},
    {"Mistral", "MISTRAL_API_KEY=\"", {"", ""}, ALNUM, 32, NULL, 0, "\""},
    {"Cohere", "os.environ['COHERE_API_KEY'] = '", {"", ""}, ALNUM, 40, NULL, 0, "'"},
    {"Comet", "comet_ml.init(api_key=\"", {"", ""}, ALNUM, 25, NULL, 0, "\")"},
    {"JSON", "{\"api_key\": \"", {"", ""}, ALNUM, 9, NULL, 0, "\", \"n\": 1}"},
    {"JSON in a shell", "curl -d \"{\\\"password\\\": \\\"", {"", ""}, ALNUM, 9, NULL, 0, "\\\"}\" x"},
    {"JSON with an escaped quote", "{\"password\": \"ab\\\"", {"", ""}, ALNUM, 9, NULL, 0, "\", \"n\": 1}"},
    {"YAML", "auth:\n  token: ", {"", ""}, ALNUM, 9, NULL, 0, "\n  user: joe"},
    {"YAML, words", "password: ", {"", ""}, ALNUM, 9, " ", 9, "\nuser: joe"},
    {"INI", "[db]\npassword = ", {"", ""}, ALNUM, 9, " ", 9, "\nuser = joe"},
    {"TOML", "secret = \"", {"", ""}, ALNUM, 9, NULL, 0, "\"\n"},
    {"Python dict", "{'clientSecret': '", {"", ""}, ALNUM, 9, NULL, 0, "'}"},
    {"Ruby", ":password => '", {"", ""}, ALNUM, 9, NULL, 0, "'"},
    {"XML", "<password>", {"", ""}, ALNUM, 9, NULL, 0, "</password>"},
    {"comparison", "if password == '", {"", ""}, ALNUM, 9, NULL, 0, "': pass"},
    {"setenv", "os.environ.setdefault('HF_TOKEN', '", {"", ""}, ALNUM, 9, NULL, 0, "')"},
    {"argv as JSON", "[\"tool\", \"--token\", \"", {"", ""}, ALNUM, 9, NULL, 0, "\"]"},
    {"Azure storage", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=", {"", ""}, BASE64, 86, "==", 0, ""},
    {"Azure AD", "client ", {"", "aB4"}, DIGIT, 1, "Q~", 34, " end"},
    {"npmrc", "//registry.example/:_authToken=", {"", ""}, ALNUM, 9, NULL, 0, "\n"},
    {"npmrc, old", "_auth=", {"", ""}, BASE64, 12, NULL, 0, "\n"},
    {"docker config", "{\"auths\":{\"x\":{\"auth\":\"1", {"", ""}, BASE64, 30, NULL, 0, "\"}}}"},
    {"netrc", "machine github.com login joe password ", {"", ""}, ALNUM, 9, NULL, 0, "\n"},
    {"netrc, lines", "machine github.com\n  login joe\n  password ", {"", ""}, ALNUM, 9, NULL, 0, "\n"},
    {"removed line of a diff", "-DB_PASSWORD=", {"", ""}, ALNUM, 9, NULL, 0, "\n+x"},
    {"added line of a diff", "+  api_key: ", {"", ""}, ALNUM, 9, NULL, 0, "\n"},
    {"systemd", "Environment=\"DB_PASS=", {"", ""}, ALNUM, 9, NULL, 0, "\"\n"},
    /* keys */
    {"PEM", NULL, {"-----BEGIN RSA PRIV", "ATE KEY-----\n"}, BASE64, 64, "\n", 64, "\n-----END RSA PRIV" "ATE KEY-----"},
    {"OpenSSH", NULL, {"-----BEGIN OPENSSH PRIV", "ATE KEY-----\n"}, BASE64, 70, "\n", 70, "\n-----END OPENSSH PRIV" "ATE KEY-----"},
    {"PGP", NULL, {"-----BEGIN PGP PRIV", "ATE KEY BLOCK-----\n\n"}, BASE64, 64, "\n", 64, "\n-----END PGP PRIV" "ATE KEY BLOCK-----"},
    {"PEM in JSON", "{\"type\": \"service_account\", \"private_key\": \"", {"-----BEGIN PRIV", "ATE KEY-----\\n"}, BASE64, 64, "\\n", 64, "\\n-----END PRIV" "ATE KEY-----\\n\", \"n\": 1}"},
    {"PEM cut off", "x\n", {"-----BEGIN PRIV", "ATE KEY-----\n"}, BASE64, 64, "\n", 64, ""},
    {"PEM without its beginning", "", {"a1B2", ""}, BASE64, 64, "\n", 64, "\n-----END PRIV" "ATE KEY-----\nx"},
};
/* clang-format on */

/* Where a token known by its form is met. */
static const char *const places[][2] = {
    {"", ""},
    {"see ", " there"},
    {"x=", ""},
    {"\"", "\""},
    {"{\"a\":\"", "\"}"},
    {"(", ")"},
    {"https://example.org/", "/x"},
    {"first line\n", "\nlast line"},
    {"user:", ","},
    {"\t", "\r\n"},
    {"--x=", " --y"},
};

/* No piece of 8 characters of the secret's random parts may be left. */
static void assert_gone(const char *what, const char *masked, const char *secret, size_t length) {
    size_t piece = length < 8 ? length : 8;
    for (size_t i = 0; i + piece <= length; i++)
        if (memmem(masked, strlen(masked), secret + i, piece))
            fail_msg("%s: '%.*s' is left in: %s", what, (int)piece, secret + i, masked);
}

static void mask_text(const char *text, struct strbuf *out) {
    secret_mask(text, strlen(text), out);
}

/* The case as text, and its random parts: what must be gone afterwards. */
struct built_case {
    struct strbuf text, first, second;
};

static void build_case(const struct secret_case *c, const char *before, const char *after,
                       uint64_t seed, struct built_case *built) {
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    *built = (struct built_case){0};
    add_random(&built->first, &state, c->letters, c->count);
    add_random(&built->second, &state, c->letters == DIGIT ? ALNUM : c->letters, c->more);
    strbuf_printf(&built->text, "%s%s%s%s%s%s%s%s", before, c->head[0], c->head[1],
                  strbuf_str(&built->first), c->middle ? c->middle : "", strbuf_str(&built->second),
                  c->after, after);
}

static void built_case_done(struct built_case *built) {
    strbuf_done(&built->text);
    strbuf_done(&built->first);
    strbuf_done(&built->second);
}

static void check_case(const struct secret_case *c, const char *before, const char *after,
                       uint64_t seed) {
    AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
    AUTO_STRBUF struct strbuf again = STRBUF_INIT;
    struct built_case built;
    build_case(c, before, after, seed, &built);
    mask_text(strbuf_str(&built.text), &masked);

    if (c->count > 1)
        assert_gone(c->what, strbuf_str(&masked), strbuf_str(&built.first), built.first.length);
    if (c->more > 0)
        assert_gone(c->what, strbuf_str(&masked), strbuf_str(&built.second), built.second.length);
    if (!strstr(strbuf_str(&masked), SECRET_MASK))
        fail_msg("%s: nothing masked in: %s", c->what, strbuf_str(&masked));
    mask_text(strbuf_str(&masked), &again);
    assert_string_equal(strbuf_str(&masked), strbuf_str(&again));
    built_case_done(&built);
}

/* For tests of the whole program (tests/cli/secrets.py): name, text and random part of every case,
 * each ended by NUL. */
static int print_cases(uint64_t seed) {
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct built_case built;
        build_case(&cases[i], cases[i].before ? cases[i].before : "", "", seed, &built);
        const struct strbuf *secret = cases[i].count > 1 ? &built.first : &built.second;
        printf("%s%c%s%c%s%c", cases[i].what, 0, strbuf_str(&built.text), 0, strbuf_str(secret), 0);
        built_case_done(&built);
    }
    return 0;
}

static void test_shapes(void **state) {
    (void)state;
    assert_true(ARRAY_LENGTH(cases) >= 60);
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            if (cases[i].before) {
                check_case(&cases[i], cases[i].before, "", seed);
                continue;
            }
            for (size_t p = 0; p < ARRAY_LENGTH(places); p++)
                check_case(&cases[i], places[p][0], places[p][1], seed);
        }
    }
}

/* What a record is for must stay readable. */
static void test_harmless(void **state) {
    static const char *const texts[] = {
        "meta-llama/Llama-3-8B",
        "python run.py --model Qwen/Qwen2.5-7B-Instruct-1M --max-tokens 512 --key-frames 8",
        "commit 1961248b6d1f6f6c1a2f0f3f8d0d5b2a7c9e4f10",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "\"integrity\": "
        "\"sha512-oRjTw/97aTBN0RHbYCdtF1MQfvusSIBQM0IZEgzl6426+8jSC0nF1a/"
        "GmnVLpfB9yyr6g6FTqWqiZVbxrtaCIg==\"",
        "0192f0c8-7b2e-7cc3-98c4-dc0c0c07398f",
        "GPU-8f5c0d1e-2b3a-4c5d-6e7f-8a9b0c1d2e3f",
        "tokenizer=meta-llama/Llama-2-7b-hf tokenizer_mode=auto",
        "num_key_value_heads: 8, key_states.shape=(1, 8, 512, 128), past_key_values=None",
        "print_info: EOS token        = 2 '</s>'",
        "pad_token: <pad> eos_token_id=2 max_new_tokens=128",
        "time per output token: 12.3 ms",
        "special_tokens_map.json: 100%|##########| 414/414 [00:00<00:00, 3.1MB/s]",
        "llama_perf_context_print: eval time = 12.5 ms / 5 runs (2.50 ms per token, 400.00 tokens "
        "per second)",
        "KeyError: 'layers'",
        "sort_key=name primary_key=id cache_key=a",
        "/usr/lib/python3/dist-packages/torch/nn/modules/module.py",
        "/nix/store/q3wx1gab2ysnk5nyvyyg56ana2v4r2ar-glibc-2.24/lib",
        "/root/.cache/huggingface/hub/models--meta-llama--Llama-3.1-8B/blobs/"
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "git@github.com:Janghyun1230/FastKVzip.git",
        "https://github.com/ggml-org/llama.cpp/pull/123#issuecomment-987654321",
        "https://registry.example/@babel/core/-/core-7.24.0.tgz",
        "ssh://git@example.org:2222/x.git",
        "https://joe@example.org/x.git",
        "http://localhost:8080/metrics",
        "_ZN2at6native28vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEENS_"
        "6detail5ArrayIPcLi3EEEEEviT0_T1_",
        "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn",
        "Qwen2_5_VLForConditionalGenerationWithFlashAttention2AndSDPA",
        "void "
        "cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8>("
        "Params)",
        "PWD=/home/joe/x OLDPWD=/home/joe",
        "password=None, token: null",
        "--password-stdin registry.example",
        "POSTGRES_PASSWORD_FILE=/run/secrets/db",
        "token: 512",
        "PASS=12 FAIL=0",
        "the secret of good measurement; basic training; bearer of news",
        "tests: pass: 12, fail: 3, auth: none",
        "docker run -p 8080:80 -u 1000:1000 image",
        "key: value",
        "usage: tool [--token] [--api-key] FILE",
        "tool --token --verbose",
        "WARNING: sk-learn-contrib and task-force-one and disk-usage-analyser",
        "events.out.tfevents.1700000000.node-7.12345.0",
        "CUDA_VISIBLE_DEVICES=GPU-8f5c0d1e HF_HOME=/data/hf OMP_NUM_THREADS=8",
        "libcudart-d0da41ae.so.11.0",
        "ghp_ hf_ sk- AKIA npm_config_cache hf_hub_download",
        "-----BEGIN CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----",
        "[2059991.491436] "
        "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0",
        "",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
        mask_text(texts[i], &masked);
        assert_string_equal(strbuf_str(&masked), texts[i]);
    }
}

/* The text around a secret stays. */
static void test_context(void **state) {
    static const char *const texts[][2] = {
        {"a --password hunter2 --b", "a --password [masked] --b"},
        {"https://joe:pw@example.org/x", "https://[masked]@example.org/x"},
        {"postgres://joe:pw@db/x", "postgres://joe:[masked]@db/x"},
        {"Authorization: Bearer abc", "Authorization: Bearer [masked]"},
        {"{\"api_key\": \"abc\", \"n\": 1}", "{\"api_key\": \"[masked]\", \"n\": 1}"},
        {"PASSWORD=abc python x", "PASSWORD=[masked] python x"},
        {"f?token=abc&x=1#y", "f?token=[masked]&x=1#y"},
        {"mysql -pabc db", "mysql -p[masked] db"},
        {"curl -u joe:abc host", "curl -u joe:[masked] host"},
        {"curl -u joe:abc host | mysql -pdef", "curl -u joe:[masked] host | mysql -p[masked]"},
        {"login joe password abc\nnext", "login joe password [masked]\nnext"},
        {"<token>abc</token>", "<token>[masked]</token>"},
        {"see below:\nabcd\nQUJD\n-----END PRIV"
         "ATE KEY-----\nx",
         "see below:[masked]\nx"},
        {"token: a\ntoken: b\n", "token: [masked]\ntoken: [masked]\n"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
        AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
        mask_text(texts[i][0], &masked);
        assert_string_equal(strbuf_str(&masked), texts[i][1]);
    }
}

static void assert_argv(const char *const *argv, size_t count, const char *expected) {
    AUTO_JSON json_t *masked = secret_mask_argv(argv, count);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_add_compact(&text, masked);
    assert_string_equal(strbuf_str(&text), expected);
}
#define ASSERT_ARGV(expected, ...)                         \
    do {                                                   \
        static const char *const argv_[] = {__VA_ARGS__};  \
        assert_argv(argv_, ARRAY_LENGTH(argv_), expected); \
    } while (0)

static void test_argv(void **state) {
    (void)state;
    ASSERT_ARGV("[\"tool\",\"--token\",\"[masked]\",\"x\"]", "tool", "--token", "abc", "x");
    ASSERT_ARGV("[\"tool\",\"--token=[masked]\"]", "tool", "--token=abc");
    ASSERT_ARGV("[\"tool\",\"--password\",\"[masked]\"]", "tool", "--password", "-dashes first");
    ASSERT_ARGV("[\"tool\",\"--max-tokens\",\"512\",\"--key\",\"8\"]", "tool", "--max-tokens",
                "512", "--key", "8");
    ASSERT_ARGV("[\"sudo\",\"mysql\",\"-p[masked]\",\"-u\",\"joe\"]", "sudo", "mysql", "-pabc",
                "-u", "joe");
    ASSERT_ARGV("[\"mysql\",\"-p\",\"db\"]", "mysql", "-p", "db");
    ASSERT_ARGV("[\"/usr/bin/sshpass\",\"-p\",\"[masked]\",\"ssh\",\"x\"]", "/usr/bin/sshpass",
                "-p", "abc", "ssh", "x");
    ASSERT_ARGV("[\"sshpass\",\"-p[masked]\"]", "sshpass", "-pabc");
    ASSERT_ARGV("[\"docker\",\"run\",\"-p\",\"80:80\"]", "docker", "run", "-p", "80:80");
    ASSERT_ARGV("[\"docker\",\"login\",\"-p\",\"[masked]\"]", "docker", "login", "-p", "abc");
    ASSERT_ARGV("[\"curl\",\"--user=joe:[masked]\",\"x\"]", "curl", "--user=joe:abc", "x");
    ASSERT_ARGV("[\"sh\",\"-c\",\"HF_TOKEN=[masked] python x.py\"]", "sh", "-c",
                "HF_TOKEN=abc python x.py");
    ASSERT_ARGV("[\"sh\",\"-c\",\"mysql -p[masked] < x\"]", "sh", "-c", "mysql -pabc < x");
    ASSERT_ARGV("[\"wandb\",\"login\",\"[masked]\"]", "wandb", "login", "abc");
    ASSERT_ARGV("[\"tool\",\"--token\",\"\"]", "tool", "--token", "");
    ASSERT_ARGV("[\"tool\",\"--token\"]", "tool", "--token");
    ASSERT_ARGV("[\"tool\",\"caf\\\\xe9\"]", "tool", "caf\xe9");
    assert_argv(NULL, 0, "[]");
}

static void test_names(void **state) {
    static const char *const secret[] = {
        "HF_TOKEN",
        "GITHUB_TOKEN",
        "TOKEN",
        "API_KEY",
        "KEY",
        "WANDB_API_KEY",
        "KAGGLE_KEY",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_SESSION_TOKEN",
        "PASSWORD",
        "PGPASSWORD",
        "MYSQL_PWD",
        "DB_PASS",
        "DB_PASSWD",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "SECRET",
        "CLIENT_SECRET",
        "SLURM_JWT",
        "VLLM_API_KEY",
        "GH_PAT",
        "HTTP_AUTH",
        "SSH_PRIVATE_KEY",
        "TOKEN2",
        "OPENAI_APIKEY",
        "hf_token",
        "DATABASE_DSN",
        "SLACK_WEBHOOK",
        "NETRC",
        "clientSecret",
        "VAULT_TOKEN",
        "AZURE_STORAGE_CONNECTION_STRING",
    };
    static const char *const plain[] = {
        "PATH",
        "PWD",
        "OLDPWD",
        "HOME",
        "TOKENIZERS_PARALLELISM",
        "CUDA_VISIBLE_DEVICES",
        "KEYBOARD",
        "SSH_AUTH_SOCK",
        "MAX_TOKENS",
        "TOKEN_COUNT",
        "PYTHONHASHSEED",
        "XAUTHORITY",
        "SORT_KEYS_BY",
        "PAD_TOKEN",
        "",
        "_",
        "POSTGRES_PASSWORD_FILE",
        "MONKEY",
        "COMPASS",
        "AUTHOR",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(secret); i++)
        if (!secret_is_named(secret[i]))
            fail_msg("%s is not taken for a secret", secret[i]);
    for (size_t i = 0; i < ARRAY_LENGTH(plain); i++)
        if (secret_is_named(plain[i]))
            fail_msg("%s is taken for a secret", plain[i]);
}

static void test_variables(void **state) {
    char *environment[] = {
        (char[]){"OMP_NUM_THREADS=8"},
        (char[]){"CUDA_VISIBLE_DEVICES=0,1"},
        (char[]){"HF_TOKEN=abc"},
        (char[]){"VLLM_API_KEY=abc"},
        (char[]){"SLURM_JWT=abc"},
        (char[]){"SLURM_JOB_ID=12"},
        (char[]){"PATH=/bin"},
        (char[]){"MY_OWN=1"},
        (char[]){"PYTHONPATH=/x"},
        (char[]){"NCCL_X=https://joe:pw@host/"},
        (char[]){"TOKENIZERS_PARALLELISM=false"},
        (char[]){"LC_ALL="},
        (char[]){"broken"},
        (char[]){"=broken"},
        NULL,
    };
    (void)state;
    AUTO_JSON json_t *variables = secret_allowed_variables(environment);
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    json_add_compact(&text, variables);
    assert_string_equal(
        strbuf_str(&text),
        "{\"CUDA_VISIBLE_DEVICES\":\"0,1\",\"LC_ALL\":\"\",\"NCCL_X\":\"https://[masked]@host/\","
        "\"OMP_NUM_THREADS\":\"8\",\"PYTHONPATH\":\"/x\",\"SLURM_JOB_ID\":\"12\","
        "\"TOKENIZERS_PARALLELISM\":\"false\"}");
    AUTO_JSON json_t *none = secret_allowed_variables(NULL);
    assert_int_equal(json_object_size(none), 0);
}

/* Any bytes around it: a token known by its form goes, and the time does not explode. */
static void test_any_text(void **state) {
    static const char *const pieces[] = {
        "token",
        "=",
        ": ",
        "\"",
        "'",
        "\n",
        "password",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "://",
        "@",
        "a:b",
        " ",
        "\\",
        "--",
        "mysql -p",
        "curl -u ",
        "x",
        "\xff",
        "1",
        "key",
        "&",
        "?",
        "Authorization",
        "Bearer ",
        ";",
        "[masked]",
        "eyJ",
        "abcdefghijklmnopqrstuvwxyz",
        "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6",
        "/",
        "``",
        "<",
        ">",
        "\r",
        "\t",
        "login ",
        "===",
        "0x",
    };
    uint64_t seed = 42;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        AUTO_STRBUF struct strbuf tail = STRBUF_INIT;
        AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
        size_t count = 1 + next_random(&seed) % 40;
        size_t place = next_random(&seed) % count;
        add_random(&tail, &seed, ALNUM, 36);
        for (size_t i = 0; i < count; i++) {
            strbuf_add_str(&text, pieces[next_random(&seed) % ARRAY_LENGTH(pieces)]);
            if (i == place)
                strbuf_printf(&text, " %s%s%s ", "gh", "p_", strbuf_str(&tail));
        }
        secret_mask(strbuf_str(&text), text.length, &masked);
        assert_gone(strbuf_str(&text), strbuf_str(&masked), strbuf_str(&tail), tail.length);
    }
    for (size_t p = 0; p < ARRAY_LENGTH(pieces); p++) { /* plenty of each */
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
        while (text.length < 200000)
            strbuf_add_str(&text, pieces[p]);
        secret_mask(strbuf_str(&text), text.length, &masked);
    }
}

static void assert_masks(const char *name, const char *value, const char *want) {
    AUTO_STRBUF struct strbuf got = STRBUF_INIT;
    AUTO_STRBUF struct strbuf twice = STRBUF_INIT;
    secret_mask_value(name, value, &got);
    if (strcmp(strbuf_str(&got), want) != 0)
        fail_msg("%s=%s became '%s', not '%s'", name, value, strbuf_str(&got), want);
    secret_mask_value(name, strbuf_str(&got), &twice);
    assert_string_equal(strbuf_str(&twice), want);
}

/* Parameters of an experiment are named like secrets, too. */
static void test_values(void **state) {
    static const char *const secret[][2] = {
        {"password", "hunter2"},   {"password", "swordfish"}, {"Passwd", "x"},
        {"password", "12345"},     {"secret", "low entropy"}, {"api_key", "abcdef"},
        {"apikey", "abcdef"},      {"access_key", "abcdef"},  {"private-key", "abc def"},
        {"access_token", "first"}, {"token", "abc123def456"}, {"token", "correct-horse"},
        {"hf_token", "abc1"},      {"token", "swordfishes"},  {"db.password", "none of it"},
    };
    static const char *const plain[][2] = {
        {"max_tokens", "512"},
        {"token", "bos"},
        {"token", "512"},
        {"token", "<pad>"},
        {"token", "last"},
        {"tokens", "96"},
        {"pad_token", "[PAD]"},
        {"key", "name"},
        {"sort_key", "date"},
        {"password", "false"},
        {"password", "0"},
        {"secret", "16"},
        {"password", ""},
        {"tokenizer", "bpe-32k-v2"},
        {"num_key_value_heads", "8"},
        {"password_file", "/run/p"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LENGTH(secret); i++)
        assert_masks(secret[i][0], secret[i][1], SECRET_MASK);
    for (size_t i = 0; i < ARRAY_LENGTH(plain); i++)
        assert_masks(plain[i][0], plain[i][1], plain[i][1]);
    uint64_t seed = 3;
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    strbuf_printf(&text, "%s%s", "gh", "p_");
    add_random(&text, &seed, ALNUM, 36);
    assert_masks("max_tokens", strbuf_str(&text), SECRET_MASK); /* by its shape */
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--print") == 0)
        return print_cases(strtoull(argv[2], NULL, 10));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),   cmocka_unit_test(test_harmless),
        cmocka_unit_test(test_context),  cmocka_unit_test(test_argv),
        cmocka_unit_test(test_names),    cmocka_unit_test(test_variables),
        cmocka_unit_test(test_any_text), cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
