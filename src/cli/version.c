/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What this program is: version, how it was built, the libraries it runs with. Schema
 * probelauf.version/1. */
#include "cli/cli.h"

#include "base/msg-catalog.h"

#include <gsl/gsl_version.h>
#include <jansson.h>
#include <sqlite3.h>
#include <yaml.h>
#include <zstd.h>

#ifdef PROBELAUF_PORTABLE
#define BUILD_KIND "portable"
#else
#define BUILD_KIND "dynamic"
#endif

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

void version_text(struct strbuf *out) {
    strbuf_printf(out, "probelauf %s\n", PROBELAUF_VERSION);
}

json_t *version_json(void) {
    json_t *version = json_object();
    json_put_text(version, "schema", "probelauf.version/1");
    json_put_text(version, "version", PROBELAUF_VERSION);
    json_t *build = json_object();
    json_put_text(build, "kind", BUILD_KIND);
    json_put_text(build, "compiler", COMPILER);
    json_put(version, "build", build);
    json_t *libraries = json_object(); /* the versions found at run time */
    json_put_text(libraries, "gsl", gsl_version);
    json_put_text(libraries, "jansson", jansson_version_str());
    json_put_text(libraries, "libyaml", yaml_get_version_string());
    json_put_text(libraries, "sqlite", sqlite3_libversion());
    json_put_text(libraries, "zstd", ZSTD_versionString());
    json_put(version, "libraries", libraries);
    json_t *features = json_object();
    json_put_bool(features, "gpu", 0);
    json_put_bool(features, "sqlite", 1);
    json_put_bool(features, "postgresql", 0);
    json_put(version, "features", features);
    json_t *languages = json_array(); /* English is the source text; others need a catalogue */
    for (size_t i = 0; i < msg_catalog_count; i++) {
        if (i == 0 || msg_catalogs[i].count > 0) {
            (void)json_array_append_new(languages, json_text(msg_catalogs[i].language));
        }
    }
    json_put(version, "languages", languages);
    return version;
}
