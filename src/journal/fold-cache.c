/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether the weights came from storage or from memory: what was read from storage while the run
 * loaded, against the size of the files of weights that it used. Must not say cold or warm where
 * the reading does not settle it. Rules: docs/measurement.md, "Load state".
 */
#include "journal/fold-parts.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"
#include "model/weights.h"

#include <math.h>
#include <string.h>

#define FILES_MAX  4096u
#define COLD_SHARE 0.5 /* of the files, surely read from storage during load */
#define WARM_SHARE 0.1 /* of the files, at most read from storage during load */

struct cache {
    struct fold *fold;
    struct run_weight_file *files;
    size_t count;
};

/* ---- the files ---- */

static void add_file(struct cache *cache, const char *path, double bytes, const char *storage,
                     const char *source) {
    struct arena *arena = cache->fold->run->arena;
    for (size_t i = 0; i < cache->count; i++) {
        struct run_weight_file *file = &cache->files[i];
        if (strcmp(file->path, path) == 0 && strcmp(file->source, source) == 0) {
            file->bytes = fmax(file->bytes, bytes);
            file->storage = file->storage == NULL && storage != NULL ? arena_strdup(arena, storage)
                                                                     : file->storage;
            return;
        }
    }
    if (cache->count < FILES_MAX) {
        cache->files[cache->count++] = (struct run_weight_file){
            .path = arena_strdup(arena, path),
            .storage = storage != NULL ? arena_strdup(arena, storage) : NULL,
            .bytes = bytes,
            .source = source,
        };
    }
}

static double bytes_of(const json_t *object) {
    int64_t bytes;
    return fold_get_i64(object, "bytes", &bytes) ? (double)bytes : -1;
}

static void take_events(struct cache *cache, const char *source) {
    const json_t *marks = cache->fold->marks;
    for (size_t i = 0; i < json_array_size(marks); i++) {
        const json_t *mark = json_array_get(marks, i);
        const json_t *data = json_get_object(mark, "data");
        const char *path = json_get_text(data, "path", NULL);
        if (path != NULL && strcmp(json_get_text(mark, "verb", ""), "agent") == 0 &&
            strcmp(json_get_text(mark, "name", ""), source) == 0 &&
            strcmp(json_get_text(data, "event", ""), "file") == 0) {
            add_file(cache, path, bytes_of(data), json_get_text(data, "storage", NULL), source);
        }
    }
}

static void take_inputs(struct cache *cache) {
    const json_t *inputs = json_get_array(cache->fold->run->start, "inputs");
    for (size_t i = 0; i < json_array_size(inputs); i++) {
        const json_t *input = json_array_get(inputs, i);
        const char *path = json_get_text(input, "path", NULL);
        const char *at = json_get_text(input, "at", path);
        double bytes = bytes_of(input);
        if (path != NULL && weights_is_file(at, bytes < 0 ? -1 : (int64_t)bytes)) {
            add_file(cache, path, bytes, NULL, "input");
        }
    }
}

/* The storage that all of them lie on; NULL: not known, or several. */
static const char *common_storage(const struct cache *cache, size_t from, size_t to) {
    const char *storage = NULL;
    for (size_t i = from; i < to; i++) {
        const char *own = cache->files[i].storage;
        if (own == NULL || (storage != NULL && strcmp(storage, own) != 0)) {
            return NULL;
        }
        storage = own;
    }
    return storage;
}

/*
 * One source alone: the same file has other names in others (a link in the Hugging Face cache and
 * what it means). The hook knows what was loaded, the slow reader what is open, inputs what was
 * meant.
 */
static void find_files(struct cache *cache) {
    struct run_cache *ret = &cache->fold->run->cache;
    size_t most = json_array_size(cache->fold->marks) +
                  json_array_size(json_get_array(cache->fold->run->start, "inputs"));
    cache->files = arena_alloc(cache->fold->run->arena,
                               ((most < FILES_MAX ? most : FILES_MAX) + 1) * sizeof *cache->files);
    take_events(cache, "python-hook");
    size_t hook = cache->count;
    take_events(cache, "slow-reader");
    const char *seen_storage = common_storage(cache, hook, cache->count);
    if (hook > 0) {
        cache->count = hook;
        ret->storage = seen_storage != NULL ? seen_storage : common_storage(cache, 0, hook);
    } else if (cache->count > 0) {
        ret->storage = seen_storage;
    } else {
        take_inputs(cache);
    }
    ret->files = cache->files;
    ret->file_count = cache->count;
}

static void add_up(struct cache *cache) {
    struct run_cache *ret = &cache->fold->run->cache;
    double sum = 0;
    size_t unknown = 0;
    for (size_t i = 0; i < cache->count; i++) {
        unknown += cache->files[i].bytes < 0;
        sum += fmax(cache->files[i].bytes, 0);
    }
    if (cache->count == 0 || unknown == cache->count) {
        ret->bytes = quantity_open(UNIT_BYTE, QUANTITY_NOT_SAMPLED, NULL);
        return;
    }
    ret->bytes = quantity_bounded(UNIT_BYTE, sum, unknown > 0 ? QUANTITY_AT_LEAST : QUANTITY_EXACT,
                                  "stat st_size of the files of weights seen");
    ret->bytes.n = cache->count;
}

/* ---- what was read during load ---- */

static bool wants_reads(const char *name) {
    return strcmp(name, "io.read") == 0;
}

/* Of a counter between two moments: surely (ticks within) and at most (ticks around). */
static void growth(const struct fold_curve *curve, double from_s, double to_s, double *ret_least,
                   double *ret_most) {
    double before = 0, first = NAN, last = NAN, after = NAN; /* it begins with the run, at 0 */
    for (size_t i = 0; i < curve->count; i++) {
        double value = curve->value[i], time_s = curve->time_s[i];
        if (isnan(value)) {
            continue;
        }
        if (time_s <= from_s) {
            before = value;
        }
        if (time_s >= from_s && time_s <= to_s) {
            first = isnan(first) ? value : first;
            last = value;
        }
        if (time_s >= to_s && isnan(after)) {
            after = value;
        }
    }
    *ret_least += last > first ? last - first : 0;
    *ret_most += after >= before ? after - before : INFINITY; /* no tick behind it: not bounded */
}

static bool loads(const struct run *run) {
    return quantity_is_known(&run->phase[PHASE_LOAD]) && run->phase[PHASE_LOAD].value > 0;
}

struct reads {
    double least, most;
    bool known;
};

static struct reads read_during_load(struct fold *fold, const void *bytes, size_t length) {
    AUTO_CURVES struct fold_curves curves = {0};
    struct run *run = fold->run;
    struct reads reads = {0};
    fold_curves_read(fold, bytes, length, wants_reads, &curves);
    for (size_t i = 0; i < run->phase_count && curves.count > 0 && curves.items[0].count > 0; i++) {
        if (run->phases[i].phase == PHASE_LOAD) {
            growth(&curves.items[0], run->phases[i].start_s, run->phases[i].end_s, &reads.least,
                   &reads.most);
            reads.known = true;
        }
    }
    int64_t total; /* the end's own account closes what no tick lies behind */
    if (fold->ended && !fold->unreaped && !isfinite(reads.most) &&
        fold_get_i64(json_get_object(fold->counters, "io"), "read", &total)) {
        reads.most = (double)total;
    }
    reads.most = fold->unreaped ? INFINITY : reads.most;
    return reads;
}

/* File systems whose reads the kernel does not (or not always) put down to the reading process. */
static bool is_unaccounted(const char *storage) {
    static const char *const names[] = {"fuse", "9p", "virtiofs", "overlay on fuse"};
    for (size_t i = 0; storage != NULL && i < ARRAY_LENGTH(names); i++) {
        if (str_starts_with(storage, names[i])) {
            return true;
        }
    }
    return false;
}

static void judge(struct fold *fold, const struct reads *reads) {
    struct run_cache *ret = &fold->run->cache;
    double files = ret->bytes.value;
    if (ret->storage != NULL &&
        (str_starts_with(ret->storage, "tmpfs") || str_starts_with(ret->storage, "ramfs"))) {
        ret->weights = RUN_WEIGHTS_WARM;
        ret->why = _("the files of weights lie in memory (tmpfs)");
        return;
    }
    if (!reads->known) {
        ret->why = _("what was read from storage is not known");
        return;
    }
    double most = reads->most, least = reads->least;
    ret->loaded =
        least >= most || !isfinite(most)
            ? quantity_bounded(UNIT_BYTE, least, QUANTITY_AT_LEAST, "read_bytes of /proc/PID/io")
            : quantity_bounded(UNIT_BYTE, most, QUANTITY_AT_MOST, "read_bytes of /proc/PID/io");
    struct arena *arena = fold->run->arena;
    if (!(files > 0)) {
        ret->why = _("the files of weights are empty");
    } else if (least >= COLD_SHARE * files) {
        ret->weights = RUN_WEIGHTS_COLD;
        ret->loaded =
            quantity_bounded(UNIT_BYTE, least, QUANTITY_AT_LEAST, "read_bytes of /proc/PID/io");
        ret->why = arena_printf(
            arena,
            _("at least %.0f %% of the size of the weights were read from storage during load"),
            least / files * 100);
    } else if (is_unaccounted(ret->storage)) {
        ret->why =
            arena_printf(arena, _("reads from %s are not put down to the process"), ret->storage);
    } else if (most <= WARM_SHARE * files && ret->bytes.bound == QUANTITY_EXACT) {
        ret->weights = RUN_WEIGHTS_WARM;
        ret->why = arena_printf(
            arena,
            _("at most %.0f %% of the size of the weights were read from storage during load"),
            most / files * 100);
    } else if (isfinite(most)) {
        ret->why = arena_printf(arena,
                                _("between %.0f %% and %.0f %% of the size of the weights were "
                                  "read from storage during "
                                  "load: neither cold nor warm"),
                                least / files * 100, most / files * 100);
    } else {
        ret->why = _("how much was read from storage during load is not bounded");
    }
}

void fold_cache(struct fold *fold, const void *bytes, size_t length) {
    struct cache cache = {.fold = fold};
    struct run_cache *ret = &fold->run->cache;
    ret->loaded = quantity_open(UNIT_BYTE, QUANTITY_NOT_SEPARATED, NULL);
    find_files(&cache);
    add_up(&cache);
    if (cache.count == 0) {
        ret->why = _("no file of weights was seen or named (--input)");
        return;
    }
    if (!quantity_is_known(&ret->bytes)) {
        ret->why = _("the size of the files of weights is not known");
        return;
    }
    if (!loads(fold->run)) {
        ret->why = _("the load phase is not known");
        return;
    }
    struct reads reads = read_during_load(fold, bytes, length);
    ret->loaded.reason = QUANTITY_NOT_SAMPLED;
    judge(fold, &reads);
}
