/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of a run's quantities (measures.h). Reads the model; knows no output format. */
#include "report/measures.h"

#include "base/msg.h"

#include <assert.h>

enum measure_source { FROM_RUN, FROM_GPU };

struct measure_entry {
    struct measure measure;
    enum measure_source source;
    size_t offset; /* of the quantity in struct run or struct run_gpu */
};

#define RUN(field)   FROM_RUN, offsetof(struct run, field)
#define PHASE(index) FROM_RUN, offsetof(struct run, phase) + sizeof(struct quantity) * (index)
#define GPU(field)   FROM_GPU, offsetof(struct run_gpu, field)

static const struct measure_entry entries[] = {
    {{"wall", N_("wall")}, RUN(wall)},
    {{"command_time", N_("command")}, RUN(command)},
    {{"result_complete", N_("result complete")}, RUN(result_complete)},
    {{"phase.setup", N_("setup")}, PHASE(PHASE_SETUP)},
    {{"phase.transfer", N_("transfer")}, PHASE(PHASE_TRANSFER)},
    {{"phase.data", N_("data")}, PHASE(PHASE_DATA)},
    {{"phase.load", N_("load")}, PHASE(PHASE_LOAD)},
    {{"phase.preprocess", N_("preprocess")}, PHASE(PHASE_PREPROCESS)},
    {{"phase.compute", N_("compute")}, PHASE(PHASE_COMPUTE)},
    {{"phase.write", N_("write")}, PHASE(PHASE_WRITE)},
    {{"phase.evaluate", N_("evaluate")}, PHASE(PHASE_EVALUATE)},
    {{"phase.fix", N_("fix")}, PHASE(PHASE_FIX)},
    {{"phase.teardown", N_("teardown")}, PHASE(PHASE_TEARDOWN)},
    {{"phase.unattributed", N_("no phase known")}, PHASE(PHASE_UNATTRIBUTED)},
    {{"cpu", N_("CPU time")}, RUN(cpu)},
    {{"memory.largest_process_rss", N_("largest process")}, RUN(largest_process_rss)},
    {{"memory.tree_pss", N_("tree, PSS")}, RUN(tree_pss)},
    {{"memory.cgroup_charged", N_("cgroup charged")}, RUN(cgroup_charged)},
    {{"io.read", N_("read")}, RUN(io_read)},
    {{"io.written", N_("written")}, RUN(io_written)},
    {{"io.read_chars", N_("read, any source")}, RUN(io_read_chars)},
    {{"io.written_chars", N_("written, any")}, RUN(io_written_chars)},
    {{"processes", N_("processes")}, RUN(processes)},
    {{"gpu.device_used", N_("GPU, device used")}, GPU(device_used)},
    {{"gpu.process_used", N_("GPU, process used")}, GPU(process_used)},
    {{"gpu.allocated", N_("GPU, allocated")}, GPU(allocated)},
    {{"gpu.reserved", N_("GPU, reserved")}, GPU(reserved)},
    {{"gpu.busy", N_("GPU busy")}, GPU(busy)},
    {{"gpu.idle", N_("GPU idle")}, GPU(idle)},
    {{"gpu.energy", N_("GPU energy")}, GPU(energy)},
    {{"work.items", N_("items")}, RUN(work_items)},
    {{"work.length", N_("length")}, RUN(work_length)},
    {{"work.batch", N_("batch")}, RUN(work_batch)},
    {{"monitor.cpu", N_("own CPU time")}, RUN(monitor_cpu)},
};

size_t measures_count(void) {
    return ARRAY_LENGTH(entries);
}

const struct measure *measures_at(size_t index) {
    assert(index < ARRAY_LENGTH(entries));
    return &entries[index].measure;
}

struct quantity measures_get(const struct run *run, size_t index) {
    assert(index < ARRAY_LENGTH(entries));
    const struct measure_entry *entry = &entries[index];
    const char *base = (const char *)run;
    if (entry->source == FROM_GPU) {
        if (run->gpu_count == 0)
            return quantity_open(NULL, QUANTITY_NOT_IN_RECORD, NULL);
        base = (const char *)&run->gpus[0];
    }
    return *(const struct quantity *)(const void *)(base + entry->offset);
}
