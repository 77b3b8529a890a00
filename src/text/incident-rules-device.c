/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules for GPUs as devices: what the kernel's driver reports, boards that are lost, kernels that
 * ask for too much, errors of CUDA and its libraries without a sign of memory, collectives that did
 * not end, and a driver or device that cannot be seen. Stands behind the rules for GPU memory. Must
 * not take an error for a lack of memory.
 */
#include "text/incident-rules.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* Xid 79: the board fell off the bus; the number stands behind "): " or "Xid: ". */
static long xid_of(const char *line) {
    const char *at = strstr(line, "NVRM: Xid");
    at = at ? strchr(at, ')') : NULL;
    at = at ? strpbrk(at, "0123456789") : NULL;
    long number = 0;
    for (; at && isdigit((unsigned char)*at) && number < 100000; at++)
        number = number * 10 + (*at - '0');
    return number;
}

static bool is_lost_xid(const char *line) {
    return xid_of(line) == 79;
}

static bool has_xid(const char *line) {
    return xid_of(line) > 0;
}

static bool is_cuda_code(const char *line) {
    return incident_has_number(line, "CUDA error ") || incident_has_number(line, "CUDA error: ");
}

#define STATUS(name) TEXT("library", name)

static const struct incident_figure xid_figures[] = {
    {"bus", INCIDENT_BUS, "Xid"},
    INTEGER("xid", "): "),
    INTEGER("xid_pid", "pid="),
    {NULL, INCIDENT_FIGURE_END_, NULL},
};

static const struct incident_figure watchdog_figures[] = {
    INTEGER("rank", "[Rank "),
    INTEGER("rank", " Rank "),
    RANK,
    {"operation", INCIDENT_WORD, "OpType="},
    INTEGER("sequence", "SeqNum="),
    {"limit_s", INCIDENT_MILLISECONDS, "Timeout(ms)="},
    {"waited_s", INCIDENT_MILLISECONDS, " ran for "},
    {NULL, INCIDENT_FIGURE_END_, NULL},
};

static const struct incident_rule rules[] = {
    /* collectives */
    {.name = "nccl_timeout",
     .all = {"atchdog caught collective operation timeout"},
     .more = watchdog_figures},
    {.name = "nccl_timeout",
     .all = {"Timeout(ms)=", ") ran for "}, /* what is behind may be on the next line */
     .more = watchdog_figures},
    {.name = "nccl_timeout",
     .all = {" ran for ", "milliseconds before timing out"},
     .more = watchdog_figures},
    {.name = "nccl_timeout",
     .all = {"watchdog got stuck for ", " without making progress"},
     .figures = {INTEGER("rank", " Rank "), INTEGER("waited_s", "stuck for ")}},
    {.name = "nccl_timeout",
     .all = {"ProcessGroupNCCL", "Heartbeat monitor timed out"},
     .figures = {INTEGER("rank", " Rank ")}},
    {.name = "nccl_timeout",
     .any = WORDS("due to ProcessGroupNCCL watchdog hang", "detected no heartbeat of its watchdog",
                  "dump signal due to a collective timeout", "Timeout at NCCL work: "),
     .figures = {INTEGER("rank", " Rank ")}},
    {.name = "nccl_timeout",
     .all = {"imed out after ", " seconds waiting for clients"},
     .figures = {INTEGER("waited_s", "imed out after ")}},
    {.name = "nccl_timeout",
     .all = {"is setting up NCCL communicator", "imeout"},
     .figures = {INTEGER("rank", "[")}},
    {.name = "nccl_timeout",
     .all = {"Timed out waiting ", "ms for ", " operation to complete"},
     .figures = {BACKEND("gloo"), {"waited_s", INCIDENT_MILLISECONDS, "out waiting "}}},
    {.name = "nccl_timeout",
     .all = {"client socket has timed out after ", "trying to connect"},
     .figures = {{"waited_s", INCIDENT_MILLISECONDS, "timed out after "}}},
    {.name = "nccl_timeout", .all = {"RuntimeError: Socket Timeout"}},
    {.name = "nccl_timeout",
     .all = {"Gloo connectFullMesh failed", "imeout"},
     .figures = {BACKEND("gloo")}},
    {.name = "nccl_timeout", .all = {"HCCL", "timeout", "ran for "}, .figures = {BACKEND("hccl")}},

    /* the driver's lines in the kernel log */
    {.name = "gpu_lost",
     .all = {"NVRM: Xid"},
     .also = is_lost_xid,
     .also_text = N_("with number 79"),
     .more = xid_figures},
    {.name = "gpu_xid",
     .all = {"NVRM: Xid"},
     .also = has_xid,
     .also_text = N_("with a number"),
     .more = xid_figures},
    {.name = "gpu_lost",
     .all = {"allen off the bus"},
     .figures = {{"bus", INCIDENT_WORD, "GPU at PCI:"}, {"bus", INCIDENT_BUS, "GPU"}}},
    {.name = "gpu_lost",
     .all = {"NVRM: The NVIDIA GPU "},
     .beside = true,
     .figures = {{"bus", INCIDENT_BUS, "GPU"}}},
    {.name = "gpu_lost", .all = {"GPU is lost"}, .figures = {{"bus", INCIDENT_BUS, "PU"}}},
    {.name = "gpu_lost", .any = WORDS("GPU_IS_LOST", "GpuIsLost")},
    {.name = "gpu_lost",
     .all = {"NVRM: GPU ", "RmInitAdapter failed"},
     .figures = {{"bus", INCIDENT_BUS, "GPU"}}},
    {.name = "gpu_lost",
     .all = {"GPU ", "GPU has been lost"},
     .figures = {{"bus", INCIDENT_BUS, "GPU"}}},
    {.name = "nvml_permission",
     .all = {"Unable to determine the device handle for ", "Insufficient Permissions"}},
    {.name = "gpu_lost",
     .all = {"Unable to determine the device handle for "},
     .figures = {{"bus", INCIDENT_BUS, "PU"}, {"bus", INCIDENT_BUS, "pu"}}},
    {.name = "gpu_xid",
     .all = {"nvidia-nvswitch", "SXid (PCI:"},
     .figures = {{"bus", INCIDENT_BUS, "SXid"}, INTEGER("sxid", "): ")}},
    {.name = "gpu_error",
     .any = WORDS("ncorrectable ECC error", "ncorrectable NVLink error"),
     .figures = {RANK}},
    {.name = "gpu_lost", .all = {"amdgpu", "GPU reset(", " failed"}},
    {.name = "gpu_error",
     .all = {"amdgpu"},
     .any = WORDS("GPU fault detected", "page fault (src_id", "GPU reset begin!")},
    {.name = "gpu_error", .all = {"amdgpu", "ring ", " timeout, "}},
    {.name = "gpu_error",
     .all = {"Memory access fault by GPU node-"},
     .figures = {INTEGER("gpu", "GPU node-")}},

    /* what one kernel may use */
    {.name = "kernel_resource",
     .all = {"out of resource: "},
     .figures = {{"resource", INCIDENT_PHRASE, "out of resource: "},
                 INTEGER("requested", "Required: "),
                 INTEGER("limit", "Hardware limit: "),
                 INTEGER("limit", "Hardware limit:")}},
    {.name = "kernel_resource",
     .all = {"oo many resources requested for launch"},
     .figures = {RANK}},
    {.name = "kernel_resource",
     .any =
         WORDS("LAUNCH_OUT_OF_RESOURCES", "LaunchOutOfResources",
               "an out of memory in memory space vmem", "an out of memory in memory space smem")},
    {.name = "kernel_resource",
     .all = {"Register allocation failed with register count of "},
     .figures = {TEXT("resource", "registers")}},
    {.name = "kernel_resource",
     .all = {"Shared memory size limit exceeded"},
     .figures = {TEXT("resource", "shared memory"), INTEGER("requested", "requested "),
                 INTEGER("limit", "available: "), INTEGER("limit", "available ")}},
    {.name = "kernel_resource",
     .all = {"uses too much shared data ("},
     .figures = {TEXT("resource", "shared memory"),
                 {"requested", INCIDENT_HEX, "data ("},
                 {"limit", INCIDENT_HEX, "bytes, "}}},
    {.name = "kernel_resource",
     .all = {"ailed to set", "dynamic shared memory size to "},
     .figures = {TEXT("resource", "shared memory"), INTEGER("requested", "size to ")}},
    {.name = "kernel_resource",
     .all = {"exceeded scoped vmem limit"},
     .figures = {TEXT("resource", "vmem"), SIZE("requested", "with size "),
                 SIZE("limit", "limit ")}},

    /* a driver or a device that cannot be seen */
    {.name = "nvml_mismatch",
     .any = WORDS("river/library version mismatch", "river/Library version mismatch",
                  "ismatch in versions between nvidia-smi and NVML", "NVML/RM version mismatch",
                  "LibRmVersionMismatch", "LIB_RM_VERSION_MISMATCH",
                  "system has unsupported display driver",
                  "forward compatibility was attempted on non supported HW",
                  "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH")},
    {.name = "nvml_mismatch",
     .all = {"NVRM: API mismatch"},
     .figures = {{"client", INCIDENT_WORD, "has the version "},
                 {"kernel_module", INCIDENT_WORD, "module has the version "}}},
    {.name = "nvml_mismatch",
     .all = {"NVRM: this kernel module has the version "},
     .figures = {{"kernel_module", INCIDENT_WORD, "module has the version "}},
     .beside = true},
    {.name = "nvml_mismatch",
     .all = {"NVML library version: "},
     .beside = true,
     .figures = {{"library_version", INCIDENT_WORD, "version: "}}},
    {.name = "nvml_permission", .all = {"NVML", "nsufficient Permissions"}},
    {.name = "nvml_permission",
     .any =
         WORDS("nvml error: insufficient permissions", "Failed to initialize NVML: Unknown Error",
               "GPU access blocked by the operating system", "NVML_ERROR_NO_PERMISSION",
               "NVMLError_NoPermission", "NVMLError_Unknown", "initialize NVML: ERROR_UNKNOWN")},
    {.name = "no_driver",
     .any = WORDS(
         "communicate with the NVIDIA driver", "NVIDIA-SMI has failed because it could",
         "NVIDIA Driver was not detected", "couldn't find libnvidia-ml.so",
         "Found no NVIDIA driver on your system", "could not load NVML library",
         "NVML Shared Library Not Found", "NVML shared library not found",
         "NVMLError_LibraryNotFound", "NVMLError_DriverNotLoaded", "nvml error: driver not loaded",
         "CUDA driver version is insufficient for CUDA runtime version",
         "CUDA driver is a stub library", "driver does not appear to be running on this host",
         "libcuda.so.1: cannot open shared object file")},
    {.name = "no_driver",
     .all = {"NVML"},
     .any = WORDS("Driver Not Loaded", "ERROR_LIBRARY_NOT_FOUND")},
    {.name = "no_driver",
     .all = {"NVIDIA driver on your system is too old"},
     .figures = {INTEGER("found_version", "found version ")}},
    {.name = "no_driver", .all = {"could not select device driver", "gpu"}},
    {.name = "no_driver",
     .all = {"nvidia-container-cli: "},
     .any = WORDS("libnvidia-ml.so.1", "driver error")},
    {.name = "no_driver", .all = {"modprobe", "nvidia", "not found in directory"}},
    {.name = "no_gpu",
     .any = WORDS("No devices were found", "no CUDA-capable device is detected",
                  "no ROCm-capable device is detected", "CUDA_ERROR_NO_DEVICE", "cudaErrorNoDevice",
                  "No CUDA GPUs are available", "No HIP GPUs are available",
                  "No XPU devices are available", "no NVIDIA GPU device is present",
                  "object on a CUDA device but torch.cuda.is_available() is False",
                  "No GPU/TPU found, falling back to CPU", "no usable GPU found",
                  "No GPU found. A GPU is needed")},
    {.name = "dependency_missing",
     .all = {"not compiled with CUDA enabled"},
     .figures = {TEXT("module", "torch")}},

    /* errors of CUDA and its libraries without a sign of memory */
    {.name = "gpu_error",
     .all = {"CUDA error: "},
     .figures = {{"error", INCIDENT_PHRASE, "CUDA error: "}, RANK}},
    {.name = "gpu_error",
     .all = {"CUDA driver error: "},
     .figures = {{"error", INCIDENT_PHRASE, "CUDA driver error: "}, RANK}},
    {.name = "gpu_error",
     .all = {"HIP error: "},
     .figures = {{"error", INCIDENT_PHRASE, "HIP error: "}, RANK}},
    {.name = "gpu_error",
     .all = {"CUDA error "},
     .also = is_cuda_code,
     .also_text = N_("followed by its number"),
     .figures = {INTEGER("code", "CUDA error ")}},
    {.name = "gpu_error",
     .all = {"CUDA kernel errors might be asynchronously reported"},
     .beside = true},
    {.name = "gpu_error",
     .all = {"CUDA_ERROR_"},
     .none = {"SUCCESS", "CUDA_ERROR_LEVEL"},
     .figures = {{"error", INCIDENT_WORD_WITH, "CUDA_ERROR_"}}},
    {.name = "gpu_error",
     .any = WORDS("cuSolver internal error", "cuSolver has not been initialized"),
     .figures = {STATUS("cusolver")}},
    {.name = "gpu_error",
     .all = {"cuBLAS has not been initialized"},
     .figures = {STATUS("cublas")}},
    {.name = "gpu_error",
     .any = WORDS("Error 802: system not yet initialized", "CUDA unknown error",
                  "cudaErrorIllegalAddress", "cudaErrorLaunchFailure", "cudaErrorAssert",
                  "hipErrorNoBinaryForGpu", "hipErrorIllegalAddress", "unspecified launch failure",
                  "no kernel image is available for execution on the device", "HSA_STATUS_ERROR")},
    {.name = "gpu_error",
     .any = WORDS("an illegal memory access was encountered", "device-side assert triggered"),
     .figures = {RANK}},
    {.name = "gpu_error", .all = {"block: [", "thread: [", "ssertion "}},
    {.name = "gpu_error",
     .all = {"CUBLAS_STATUS_"},
     .none = {"SUCCESS"},
     .figures = {STATUS("cublas"), {"error", INCIDENT_WORD_WITH, "CUBLAS_STATUS_"}, RANK}},
    {.name = "gpu_error",
     .all = {"CUDNN_STATUS_"},
     .none = {"SUCCESS"},
     .figures = {STATUS("cudnn"), {"error", INCIDENT_WORD_WITH, "CUDNN_STATUS_"}, RANK}},
    {.name = "gpu_error",
     .all = {"CUSOLVER_STATUS_"},
     .none = {"SUCCESS"},
     .figures = {STATUS("cusolver"), {"error", INCIDENT_WORD_WITH, "CUSOLVER_STATUS_"}}},
    {.name = "gpu_error",
     .all = {"CUSPARSE_STATUS_"},
     .none = {"SUCCESS"},
     .figures = {STATUS("cusparse"), {"error", INCIDENT_WORD_WITH, "CUSPARSE_STATUS_"}}},
    {.name = "gpu_error",
     .all = {"CURAND_STATUS_"},
     .none = {"SUCCESS"},
     .figures = {STATUS("curand"), {"error", INCIDENT_WORD_WITH, "CURAND_STATUS_"}}},
    {.name = "gpu_error",
     .any = WORDS("CUFFT_INTERNAL_ERROR", "CUFFT_EXEC_FAILED"),
     .figures = {STATUS("cufft")}},
    {.name = "gpu_error", .all = {"rocBLAS error"}, .figures = {STATUS("rocblas")}},
    {.name = "gpu_error",
     .all = {"miopenStatus"},
     .none = {"Success"},
     .figures = {STATUS("miopen")}},
    {.name = "gpu_error",
     .any = WORDS("ncclUnhandledCudaError", "ncclSystemError", "ncclInternalError",
                  "ncclRemoteError", "ncclInvalidUsage", "NCCL Error "),
     .figures = {STATUS("nccl"), RANK}},
    {.name = "gpu_error", .all = {"NCCL error", "unhandled "}, .figures = {STATUS("nccl"), RANK}},
    {.name = "gpu_error",
     .all = {"NCCL WARN Cuda failure"},
     .figures = {STATUS("nccl"), {"error", INCIDENT_QUOTED, "failure"}}},
};

const struct incident_rules incident_rules_device = {rules, ARRAY_LENGTH(rules)};
