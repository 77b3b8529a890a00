/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names of the series of a GPU, for who writes them (exec/gpu-watch) and who reads them
 * (journal/fold-gpu). `device` of SERIES is the device's uuid, or where it has none its number
 * within the run as text ("0"). Each series may have ticks of its own.
 */
#pragma once

/* byte, gauge, 10 Hz: memory in use, all processes */
#define GPU_SERIES_USED "gpu.used"
/* The same after the first ten minutes of a run: of the samples of each second; the time of a tick
 * is that of the second's last sample. */
#define GPU_SERIES_USED_MIN  "gpu.used.min"
#define GPU_SERIES_USED_MEAN "gpu.used.mean"
#define GPU_SERIES_USED_MAX  "gpu.used.max"
/* byte, gauge, 1 Hz: sum over the run's processes; no value where one of them is not told */
#define GPU_SERIES_PROCESS_USED "gpu.process_used"
/* byte, gauge, 1 Hz: sum over processes that are not the run's; likewise */
#define GPU_SERIES_OTHERS_USED "gpu.others_used"
/* "1", gauge, per_unit 100: share of a window of the driver in which at least one kernel ran; the
 * time of a tick is the END of the window. `method` says whether it is the driver's buffer or one
 * reading of the rates. */
#define GPU_SERIES_BUSY "gpu.busy"
/* W, gauge, per_unit 1000, 1 Hz */
#define GPU_SERIES_POWER "gpu.power"
/* J, counter, per_unit 1000, 1 Hz */
#define GPU_SERIES_ENERGY "gpu.energy"
/* MHz, gauge, 1 Hz */
#define GPU_SERIES_CLOCK_SM     "gpu.clock_sm"
#define GPU_SERIES_CLOCK_MEMORY "gpu.clock_memory"
/* "1", gauge, 1 Hz: bits of the driver's clock event reasons */
#define GPU_SERIES_EVENTS "gpu.event_reasons"
/* count, counter, 1 Hz: uncorrected ECC errors since the driver was loaded */
#define GPU_SERIES_ECC "gpu.ecc_uncorrected"

/* byte, counter, 1 Hz: of the command's network namespace, all interfaces but lo */
#define NET_SERIES_RECEIVED "net.received"
#define NET_SERIES_SENT     "net.sent"
