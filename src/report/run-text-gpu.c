/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The GPU section of `show`, the row about weights, and the line about GPUs in the summary. Each
 * memory quantity keeps its name: nobody is to take one for another.
 */
#include "report/run-text-gpu.h"

#include "base/mem.h"
#include "base/msg.h"
#include "report/facts.h"
#include "report/run-text.h"

#include <string.h>

#define TABLE_FROM 3 /* as many GPUs are a table; --verbose shows each */
#define NAME_MOST  40

/* Names of idle causes for people. */
static const char *cause_label(enum gpu_idle cause) {
    static const char *const labels[GPU_IDLE_COUNT_] = {
        [GPU_IDLE_BEFORE_FIRST_USE] = N_("before first use"),
        [GPU_IDLE_AFTER_LAST_USE] = N_("after last use"),
        [GPU_IDLE_HOST_BUSY] = N_("host busy"),
        [GPU_IDLE_DISK_WAIT] = N_("waiting for the disk"),
        [GPU_IDLE_NETWORK] = N_("network"),
        [GPU_IDLE_UNKNOWN] = N_("cause unknown"),
    };
    return msg_get(labels[cause]);
}

static struct quantity percent(const struct quantity *ratio) {
    struct quantity q = *ratio;
    q.unit = "%";
    q.value *= 100;
    return q;
}

/* "host busy 5.0 s, waiting for the disk 4.9 s" */
static void add_causes(struct strbuf *out, const struct quantity *idle_by, bool ascii) {
    for (int i = 0; i < GPU_IDLE_COUNT_; i++) {
        struct quantity q = idle_by[i];
        if (!quantity_is_known(&q) || !(q.value > 0))
            continue;
        q.bound = QUANTITY_EXACT; /* that of the sum stands before it */
        strbuf_printf(out, "%s%s ", out->length > 0 ? ", " : "", cause_label((enum gpu_idle)i));
        layout_add_quantity(out, &q, ascii, false);
    }
}

static void cell(struct layout_table *table, const struct quantity *q, struct report_style style) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    if (quantity_is_known(q))
        layout_add_quantity(&text, q, style.ascii, true);
    else /* the row of the whole run says why */
        strbuf_printf(&text, "[?] %s", _("open"));
    layout_table_cell(table, strbuf_str(&text), layout_state_color(q->state));
}

static void phase_table(struct strbuf *out, struct report_style style, const struct run_gpu *gpu) {
    const struct layout_column columns[] = {
        {.title = _("phase")},
        {.title = _("device used")},
        {.title = _("process used"), .optional = 60},
        {.title = _("allocated"), .optional = 100},
        {.title = _("reserved"), .optional = 100},
        {.title = _("busy")},
        {.title = _("idle")},
    };
    bool any = false;
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    for (int i = 0; i < PHASE_COUNT_; i++) {
        const struct run_gpu_phase *by = &gpu->by_phase[i];
        if (!by->entered)
            continue;
        struct quantity busy = percent(&by->busy);
        layout_table_cell(table,
                          i == PHASE_UNATTRIBUTED ? _("no phase known") : phase_name((enum phase)i),
                          LAYOUT_PLAIN);
        cell(table, &by->memory.device_used, style);
        cell(table, &by->memory.process_used, style);
        cell(table, &by->memory.allocated, style);
        cell(table, &by->memory.reserved, style);
        cell(table, &busy, style);
        cell(table, &by->idle, style);
        any = true;
    }
    if (!any)
        return;
    layout_paragraph(out, style, _("peak memory, busy and idle by phase:"));
    layout_table_print(table, 4, out);
}

static void idle_rows(struct strbuf *out, struct report_style style, const struct run_gpu *gpu) {
    AUTO_STRBUF struct strbuf causes = STRBUF_INIT;
    layout_quantity(out, style, _("idle"), &gpu->idle);
    add_causes(&causes, gpu->idle_by, style.ascii);
    if (quantity_is_known(&gpu->idle) && causes.length > 0)
        layout_row(out, style, _("idle because"), strbuf_str(&causes), LAYOUT_PLAIN, NULL);
    for (int i = 0; i < PHASE_COUNT_ && style.verbose; i++) {
        const struct run_gpu_phase *by = &gpu->by_phase[i];
        if (!by->entered || !quantity_is_known(&by->idle))
            continue;
        strbuf_clear(&causes);
        add_causes(&causes, by->idle_by, style.ascii);
        AUTO_STRBUF struct strbuf label = STRBUF_INIT;
        strbuf_printf(&label, _("  in %s"),
                      i == PHASE_UNATTRIBUTED ? _("no phase known") : phase_name((enum phase)i));
        if (causes.length > 0)
            layout_row(out, style, strbuf_str(&label), strbuf_str(&causes), LAYOUT_PLAIN, NULL);
    }
}

static void whose(struct strbuf *out, struct report_style style, const struct run_gpu *gpu) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    bool known = gpu->mine == RUN_YES;
    if (!known && gpu->mine_by)
        strbuf_printf(&text, _("not known: %s names it not, or not it alone"), gpu->mine_by);
    else if (!known)
        strbuf_add_str(&text, _("not known: nothing says that the run used it"));
    else if (gpu->mine_by && strcmp(gpu->mine_by, "only one") == 0)
        strbuf_add_str(&text, _("the run's: it is the only one here"));
    else if (gpu->mine_by)
        strbuf_printf(&text, _("the run's, by %s"), gpu->mine_by);
    AUTO_STRBUF struct strbuf plain = STRBUF_INIT;
    layout_add_plain(&plain, strbuf_str(&text), style.ascii);
    if (text.length > 0)
        layout_row(out, style, _("whose"), strbuf_str(&plain), known ? LAYOUT_PLAIN : LAYOUT_WARN,
                   NULL);
}

static const char *held_label(const char *name) {
    static const struct {
        const char *name, *label;
    } labels[RUN_GPU_HELD_MAX] = {
        {"power-cap", N_("the power limit")},
        {"hardware", N_("the hardware")},
        {"thermal", N_("heat")},
        {"hardware-thermal", N_("heat, by the hardware")},
        {"hardware-power-brake", N_("the power supply")},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(labels); i++)
        if (strcmp(labels[i].name, name) == 0)
            return msg_get(labels[i].label);
    return name;
}

/* "the power limit in 80 % of the samples, heat in 12 %" */
static void condition(struct strbuf *out, struct report_style style, const struct run_gpu *gpu) {
    AUTO_STRBUF struct strbuf text = STRBUF_INIT;
    for (size_t i = 0; i < gpu->held_count; i++) {
        struct quantity share = percent(&gpu->held[i].share);
        strbuf_printf(&text, i == 0 ? _("by %s in ") : _(", by %s in "),
                      held_label(gpu->held[i].name));
        layout_add_quantity(&text, &share, style.ascii, false);
    }
    if (text.length > 0)
        layout_row(out, style, _("clocks held"), strbuf_str(&text), LAYOUT_WARN,
                   _("share of the samples of the driver's clock event reasons"));
    if (quantity_is_known(&gpu->ecc) && gpu->ecc.value > 0)
        layout_quantity(out, style, _("memory errors"), &gpu->ecc);
}

/* The capacity with what it is a part of. */
static void total(struct strbuf *out, struct report_style style, const struct run_gpu *gpu) {
    struct quantity q = gpu->total;
    if (quantity_is_known(&q) && gpu->unified == RUN_YES)
        q.detail = _("shared with the host");
    layout_quantity(out, style, _("total"), &q);
    const char *mode = gpu->virtual_mode;
    if (mode == NULL)
        return;
    layout_row(out, style, _("virtual"),
               strcmp(mode, "vgpu") == 0          ? _("a virtual GPU: the total is its share")
               : strcmp(mode, "wsl") == 0         ? _("through WSL")
               : strcmp(mode, "passthrough") == 0 ? _("a whole board in a virtual machine")
                                                  : mode,
               LAYOUT_PLAIN, NULL);
}

/* What a reader must know before he uses the figures. */
static void warnings(struct strbuf *out, struct report_style style, const struct run_gpu *gpu) {
    if (gpu->stand_in)
        layout_row(out, style, _("stand-in"), _("no real device: it never counts as evidence"),
                   LAYOUT_WARN, NULL);
    if (gpu->others == RUN_YES)
        layout_row(out, style, _("shared"),
                   _("other processes used it during the run: figures of the device are not the "
                     "run's alone"),
                   LAYOUT_WARN, NULL);
    if (gpu->preallocated == RUN_YES)
        layout_row(
            out, style, _("allowance"),
            _("its memory was taken from the start and kept: what the program allows itself, "
              "not what it needs"),
            LAYOUT_WARN, NULL);
}

static void add_name(struct strbuf *out, const struct run_gpu *gpu, bool ascii) {
    if (gpu->name)
        layout_cut(out, gpu->name, NAME_MOST, ascii);
    if (gpu->kind && strcmp(gpu->kind, "mig") == 0 && (!gpu->name || !strstr(gpu->name, "MIG")))
        strbuf_add_str(out, out->length > 0 ? _(", MIG slice") : _("MIG slice"));
    if (gpu->name == NULL && gpu->uuid)
        layout_add_plain(out, gpu->uuid, ascii);
}

static bool same_open(const struct run_gpu *gpu) {
    const struct quantity *fields[] = {&gpu->total,     &gpu->device_used, &gpu->process_used,
                                       &gpu->allocated, &gpu->reserved,    &gpu->busy,
                                       &gpu->idle,      &gpu->energy};
    for (size_t i = 0; i < ARRAY_LENGTH(fields); i++)
        if (quantity_is_known(fields[i]) || fields[i]->reason != gpu->total.reason)
            return false;
    return true;
}

static void one(struct strbuf *out, struct report_style style, const struct run_gpu *gpu,
                size_t number) {
    AUTO_STRBUF struct strbuf label = STRBUF_INIT;
    AUTO_STRBUF struct strbuf name = STRBUF_INIT;
    bool is_device = gpu->kind || gpu->uuid;
    strbuf_printf(&label, "GPU %zu", is_device && gpu->index >= 0 ? (size_t)gpu->index : number);
    if (same_open(gpu)) { /* one line says it all */
        layout_quantity(out, style, is_device ? strbuf_str(&label) : _("all figures"), &gpu->total);
        if (is_device)
            whose(out, style, gpu);
        if (is_device)
            warnings(out, style, gpu);
        return;
    }
    add_name(&name, gpu, style.ascii);
    layout_row(out, style, strbuf_str(&label), strbuf_str(&name), LAYOUT_BOLD, NULL);
    if (gpu->name)
        run_text_row(out, style, "", gpu->uuid);
    whose(out, style, gpu);
    warnings(out, style, gpu);
    struct quantity busy = percent(&gpu->busy);
    total(out, style, gpu);
    layout_quantity(out, style, _("device used"), &gpu->device_used);
    layout_quantity(out, style, _("process used"), &gpu->process_used);
    layout_quantity(out, style, _("allocated"), &gpu->allocated);
    layout_quantity(out, style, _("reserved"), &gpu->reserved);
    if (style.verbose || (quantity_is_known(&gpu->baseline) && gpu->baseline.value > 0))
        layout_quantity(out, style, _("before the run"), &gpu->baseline);
    if (style.verbose || (quantity_is_known(&gpu->left) && gpu->left.value > 0))
        layout_quantity(out, style, _("left behind"), &gpu->left);
    layout_quantity(out, style, _("busy"), &busy);
    idle_rows(out, style, gpu);
    layout_quantity(out, style, _("energy"), &gpu->energy);
    condition(out, style, gpu);
    phase_table(out, style, gpu);
}

static void table_of_all(struct strbuf *out, struct report_style style, const struct run *run) {
    const struct layout_column columns[] = {
        {.title = "GPU", .right = true},
        {.title = _("name"), .elastic = 8},
        {.title = _("device used")},
        {.title = _("process used"), .optional = 60},
        {.title = _("busy")},
        {.title = _("idle"), .optional = 50},
    };
    AUTO_TABLE struct layout_table *table = layout_table_new(style, columns, ARRAY_LENGTH(columns));
    for (size_t i = 0; i < run->gpu_count; i++) {
        const struct run_gpu *gpu = &run->gpus[i];
        AUTO_STRBUF struct strbuf number = STRBUF_INIT;
        AUTO_STRBUF struct strbuf name = STRBUF_INIT;
        struct quantity busy = percent(&gpu->busy);
        strbuf_printf(&number, "%zu", gpu->index >= 0 ? (size_t)gpu->index : i);
        add_name(&name, gpu, style.ascii);
        layout_table_cell(table, strbuf_str(&number), LAYOUT_PLAIN);
        layout_table_cell(table, strbuf_str(&name), LAYOUT_PLAIN);
        cell(table, &gpu->device_used, style);
        cell(table, &gpu->process_used, style);
        cell(table, &busy, style);
        cell(table, &gpu->idle, style);
    }
    layout_table_print(table, 2, out);
}

void run_text_gpus(struct strbuf *out, struct report_style style, const struct run *run) {
    layout_heading(out, style, "GPU");
    if (run->gpu_names_why) {
        AUTO_STRBUF struct strbuf names = STRBUF_INIT;
        layout_add_plain(&names, run->gpu_names_why, style.ascii);
        layout_row(out, style, _("asked for"), strbuf_str(&names), LAYOUT_WARN, NULL);
    }
    bool as_table = run->gpu_count >= TABLE_FROM && !style.verbose;
    if (as_table) {
        table_of_all(out, style, run);
        layout_paragraph(out, style, _("the first of them; --verbose shows each:"));
    }
    for (size_t i = 0; i < (as_table ? 1 : run->gpu_count); i++)
        one(out, style, &run->gpus[i], i);
    if (run->gpu_count == 0) {
        struct quantity none = quantity_open(UNIT_BYTE, QUANTITY_NOT_IN_RECORD, NULL);
        layout_quantity(out, style, _("all figures"), &none);
    }
    if (run->gpu_others > 0 && run->gpu_count > 0 && run->gpus[0].kind) {
        AUTO_STRBUF struct strbuf text = STRBUF_INIT;
        strbuf_printf(&text,
                      msg_plural((unsigned long)run->gpu_others,
                                 "%zu further GPU of the machine was not the run's",
                                 "%zu further GPUs of the machine were not the run's"),
                      run->gpu_others);
        layout_paragraph(out, style, strbuf_str(&text));
    }
}

void run_text_weights(struct strbuf *out, struct report_style style, const struct run *run) {
    const struct run_cache *cache = &run->cache;
    AUTO_STRBUF struct strbuf value = STRBUF_INIT;
    AUTO_STRBUF struct strbuf note = STRBUF_INIT;
    if (cache->file_count == 0)
        return;
    switch (cache->weights) {
    case RUN_WEIGHTS_COLD:
        strbuf_add_str(&value, _("cold: from storage"));
        break;
    case RUN_WEIGHTS_WARM:
        strbuf_add_str(&value, _("warm: from memory"));
        break;
    case RUN_WEIGHTS_UNKNOWN:
        strbuf_add_str(&value, _("cold or warm: open"));
        break;
    }
    strbuf_printf(&note, msg_plural((unsigned long)cache->file_count, "%zu file, ", "%zu files, "),
                  cache->file_count);
    layout_add_quantity(&note, &cache->bytes, style.ascii, false);
    if (cache->storage) {
        strbuf_add_str(&note, _(", on "));
        layout_add_plain(&note, cache->storage, style.ascii);
    }
    if (cache->why)
        strbuf_printf(&note, "; %s", cache->why);
    layout_row(out, style, _("weights"), strbuf_str(&value), LAYOUT_PLAIN, strbuf_str(&note));
}

/* The first device that is the run's; *ret_count: how many are. */
static const struct run_gpu *first_own(const struct run *run, size_t *ret_count) {
    const struct run_gpu *first = NULL;
    *ret_count = 0;
    for (size_t i = 0; i < run->gpu_count; i++)
        if (run_gpu_counts(run, &run->gpus[i])) {
            first = first != NULL ? first : &run->gpus[i];
            (*ret_count)++;
        }
    return first;
}

bool run_text_add_gpu_line(struct strbuf *out, struct report_style style, const struct run *run) {
    size_t own;
    const struct run_gpu *gpu = first_own(run, &own);
    if (run->gpu_names_why) { /* figures of a device that may not be meant would mislead */
        layout_add_plain(out, run->gpu_names_why, style.ascii);
        return true;
    }
    if (!gpu && run->gpu_count > 0) {
        strbuf_printf(out,
                      _("which of the %zu GPUs are the run's was not told; `probelauf show` lists "
                        "them, --gpu names one"),
                      run->gpu_count);
        return true;
    }
    if (!gpu || !gpu->kind || same_open(gpu))
        return false;
    bool by_process = quantity_is_known(&gpu->process_used);
    const struct quantity *peak = by_process ? &gpu->process_used : &gpu->device_used;
    struct quantity busy = percent(&gpu->busy);
    AUTO_STRBUF struct strbuf causes = STRBUF_INIT;
    if (gpu->stand_in)
        strbuf_add_str(out, _("a stand-in, no evidence: "));
    strbuf_add_str(out, by_process ? _("memory of the run's processes ")
                                   : _("memory of the device, all processes, "));
    layout_add_quantity(out, peak, style.ascii, false);
    if (quantity_is_known(&gpu->total)) {
        strbuf_add_str(out, _(" of "));
        layout_add_quantity(out, &gpu->total, style.ascii, false);
    }
    if (gpu->preallocated == RUN_YES)
        strbuf_add_str(out, _(" (an allowance, not a need)"));
    strbuf_add_str(out, _("; busy "));
    if (quantity_is_known(&busy))
        layout_add_quantity(out, &busy, style.ascii, false);
    else
        strbuf_add_str(out, _("open")); /* `show` says why */
    if (quantity_is_known(&gpu->idle)) {
        strbuf_add_str(out, _(", idle "));
        layout_add_quantity(out, &gpu->idle, style.ascii, false);
        add_causes(&causes, gpu->idle_by, style.ascii);
        if (causes.length > 0)
            strbuf_printf(out, " (%s)", strbuf_str(&causes));
    }
    if (gpu->others == RUN_YES)
        strbuf_add_str(out, _("; others used it as well"));
    if (own > 1)
        strbuf_printf(out, _("; %zu more in `probelauf show`"), own - 1);
    return true;
}
