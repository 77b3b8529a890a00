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

#define XID_FIGURES                                                   \
    {"bus", INCIDENT_BUS, "Xid"}, {"xid", INCIDENT_INTEGER, "): "}, { \
        "xid_pid", INCIDENT_INTEGER, "pid="                           \
    }
#define RANK \
    { "rank", INCIDENT_INTEGER, "[rank" }
#define STATUS(name) \
    { "library", INCIDENT_IS_TEXT, name }

static const struct incident_figure watchdog_figures[] = {
    {"rank", INCIDENT_INTEGER, "[Rank "},
    {"rank", INCIDENT_INTEGER, " Rank "},
    {"rank", INCIDENT_INTEGER, "[rank"},
    {"operation", INCIDENT_WORD, "OpType="},
    {"sequence", INCIDENT_INTEGER, "SeqNum="},
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
     .all = {" ran for ", "milliseconds before timing out"},
     .more = watchdog_figures},
    {.name = "nccl_timeout",
     .all = {"watchdog got stuck for ", " without making progress"},
     .figures = {{"rank", INCIDENT_INTEGER, " Rank "},
                 {"waited_s", INCIDENT_INTEGER, "stuck for "}}},
    {.name = "nccl_timeout",
     .all = {"ProcessGroupNCCL", "Heartbeat monitor timed out"},
     .figures = {{"rank", INCIDENT_INTEGER, " Rank "}}},
    {.name = "nccl_timeout",
     .all = {"due to ProcessGroupNCCL watchdog hang"},
     .figures = {{"rank", INCIDENT_INTEGER, " Rank "}}},
    {.name = "nccl_timeout",
     .all = {"Timeout at NCCL work: "},
     .figures = {{"rank", INCIDENT_INTEGER, " Rank "}}},
    {.name = "nccl_timeout",
     .all = {"is setting up NCCL communicator", "imeout"},
     .figures = {{"rank", INCIDENT_INTEGER, "["}}},
    {.name = "nccl_timeout",
     .all = {"Timed out waiting ", "ms for ", " operation to complete"},
     .figures = {{"backend", INCIDENT_IS_TEXT, "gloo"},
                 {"waited_s", INCIDENT_MILLISECONDS, "out waiting "}}},
    {.name = "nccl_timeout",
     .all = {"HCCL", "timeout", "ran for "},
     .figures = {{"backend", INCIDENT_IS_TEXT, "hccl"}}},

    /* the driver's lines in the kernel log */
    {.name = "gpu_lost",
     .all = {"NVRM: Xid"},
     .also = is_lost_xid,
     .also_text = N_("with number 79"),
     .figures = {XID_FIGURES}},
    {.name = "gpu_xid",
     .all = {"NVRM: Xid"},
     .also = has_xid,
     .also_text = N_("with a number"),
     .figures = {XID_FIGURES}},
    {.name = "gpu_lost",
     .all = {"allen off the bus"},
     .figures = {{"bus", INCIDENT_WORD, "GPU at PCI:"}, {"bus", INCIDENT_BUS, "GPU"}}},
    {.name = "gpu_lost",
     .all = {"NVRM: The NVIDIA GPU "},
     .beside = true,
     .figures = {{"bus", INCIDENT_BUS, "GPU"}}},
    {.name = "gpu_lost", .all = {"GPU is lost"}, .figures = {{"bus", INCIDENT_BUS, "PU"}}},
    {.name = "gpu_lost", .all = {"GPU_IS_LOST"}},
    {.name = "gpu_lost", .all = {"GpuIsLost"}},
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
     .figures = {{"bus", INCIDENT_BUS, "SXid"}, {"sxid", INCIDENT_INTEGER, "): "}}},
    {.name = "gpu_error", .all = {"ncorrectable ECC error"}, .figures = {RANK}},
    {.name = "gpu_error", .all = {"ncorrectable NVLink error"}, .figures = {RANK}},
    {.name = "gpu_lost", .all = {"amdgpu", "GPU reset(", " failed"}},
    {.name = "gpu_error",
     .all = {"Memory access fault by GPU node-"},
     .figures = {{"gpu", INCIDENT_INTEGER, "GPU node-"}}},

    /* what one kernel may use */
    {.name = "kernel_resource",
     .all = {"out of resource: "},
     .figures = {{"resource", INCIDENT_PHRASE, "out of resource: "},
                 {"requested", INCIDENT_INTEGER, "Required: "},
                 {"limit", INCIDENT_INTEGER, "Hardware limit: "},
                 {"limit", INCIDENT_INTEGER, "Hardware limit:"}}},
    {.name = "kernel_resource",
     .all = {"too many resources requested for launch"},
     .figures = {RANK}},
    {.name = "kernel_resource", .all = {"LAUNCH_OUT_OF_RESOURCES"}},
    {.name = "kernel_resource", .all = {"LaunchOutOfResources"}},
    {.name = "kernel_resource",
     .all = {"Shared memory size limit exceeded"},
     .figures = {{"resource", INCIDENT_IS_TEXT, "shared memory"},
                 {"requested", INCIDENT_INTEGER, "requested "},
                 {"limit", INCIDENT_INTEGER, "available: "},
                 {"limit", INCIDENT_INTEGER, "available "}}},
    {.name = "kernel_resource",
     .all = {"uses too much shared data ("},
     .figures = {{"resource", INCIDENT_IS_TEXT, "shared memory"},
                 {"requested", INCIDENT_HEX, "data ("},
                 {"limit", INCIDENT_HEX, "bytes, "}}},
    {.name = "kernel_resource",
     .all = {"ailed to set", "dynamic shared memory size to "},
     .figures = {{"resource", INCIDENT_IS_TEXT, "shared memory"},
                 {"requested", INCIDENT_INTEGER, "size to "}}},
    {.name = "kernel_resource",
     .all = {"exceeded scoped vmem limit"},
     .figures = {{"resource", INCIDENT_IS_TEXT, "vmem"},
                 {"requested", INCIDENT_SIZE, "with size "},
                 {"limit", INCIDENT_SIZE, "limit "}}},
    {.name = "kernel_resource", .all = {"an out of memory in memory space vmem"}},
    {.name = "kernel_resource", .all = {"an out of memory in memory space smem"}},

    /* a driver or a device that cannot be seen */
    {.name = "nvml_mismatch", .all = {"river/library version mismatch"}},
    {.name = "nvml_mismatch", .all = {"NVML/RM version mismatch"}},
    {.name = "nvml_mismatch", .all = {"LibRmVersionMismatch"}},
    {.name = "nvml_mismatch", .all = {"LIB_RM_VERSION_MISMATCH"}},
    {.name = "nvml_mismatch",
     .all = {"NVRM: API mismatch"},
     .figures = {{"client", INCIDENT_WORD, "has the version "},
                 {"kernel_module", INCIDENT_WORD, "module has the version "}}},
    {.name = "nvml_mismatch",
     .all = {"NVRM: this kernel module has the version "},
     .figures = {{"kernel_module", INCIDENT_WORD, "module has the version "}},
     .beside = true},
    {.name = "nvml_mismatch", .all = {"system has unsupported display driver"}},
    {.name = "nvml_mismatch", .all = {"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"}},
    {.name = "nvml_mismatch",
     .all = {"NVML library version: "},
     .beside = true,
     .figures = {{"library_version", INCIDENT_WORD, "version: "}}},
    {.name = "nvml_permission", .all = {"NVML", "nsufficient Permissions"}},
    {.name = "nvml_permission", .all = {"nvml error: insufficient permissions"}},
    {.name = "nvml_permission", .all = {"Failed to initialize NVML: Unknown Error"}},
    {.name = "nvml_permission", .all = {"GPU access blocked by the operating system"}},
    {.name = "nvml_permission", .all = {"NVML_ERROR_NO_PERMISSION"}},
    {.name = "nvml_permission", .all = {"NVMLError_NoPermission"}},
    {.name = "no_driver", .all = {"couldn't communicate with the NVIDIA driver"}},
    {.name = "no_driver", .all = {"NVIDIA Driver was not detected"}},
    {.name = "no_driver", .all = {"couldn't find libnvidia-ml.so"}},
    {.name = "no_driver", .all = {"Found no NVIDIA driver on your system"}},
    {.name = "no_driver", .all = {"NVML Shared Library Not Found"}},
    {.name = "no_driver", .all = {"NVML shared library not found"}},
    {.name = "no_driver", .all = {"NVML", "Driver Not Loaded"}},
    {.name = "no_driver", .all = {"NVML", "ERROR_LIBRARY_NOT_FOUND"}},
    {.name = "no_driver", .all = {"NVMLError_LibraryNotFound"}},
    {.name = "no_driver", .all = {"NVMLError_DriverNotLoaded"}},
    {.name = "no_driver", .all = {"nvml error: driver not loaded"}},
    {.name = "no_driver", .all = {"CUDA driver version is insufficient for CUDA runtime version"}},
    {.name = "no_driver",
     .all = {"NVIDIA driver on your system is too old"},
     .figures = {{"found_version", INCIDENT_INTEGER, "found version "}}},
    {.name = "no_driver", .all = {"CUDA driver is a stub library"}},
    {.name = "no_driver", .all = {"could not select device driver", "gpu"}},
    {.name = "no_driver", .all = {"nvidia-container-cli: ", "libnvidia-ml.so.1"}},
    {.name = "no_driver", .all = {"nvidia-container-cli: ", "driver error"}},
    {.name = "no_driver", .all = {"driver does not appear to be running on this host"}},
    {.name = "no_driver", .all = {"libcuda.so.1: cannot open shared object file"}},
    {.name = "no_driver", .all = {"modprobe", "nvidia", "not found in directory"}},
    {.name = "no_gpu", .all = {"No devices were found"}},
    {.name = "no_gpu", .all = {"no CUDA-capable device is detected"}},
    {.name = "no_gpu", .all = {"no ROCm-capable device is detected"}},
    {.name = "no_gpu", .all = {"CUDA_ERROR_NO_DEVICE"}},
    {.name = "no_gpu", .all = {"cudaErrorNoDevice"}},
    {.name = "no_gpu", .all = {"No CUDA GPUs are available"}},
    {.name = "no_gpu", .all = {"No HIP GPUs are available"}},
    {.name = "no_gpu", .all = {"No XPU devices are available"}},
    {.name = "no_gpu", .all = {"no NVIDIA GPU device is present"}},
    {.name = "no_gpu", .all = {"object on a CUDA device but torch.cuda.is_available() is False"}},
    {.name = "no_gpu", .all = {"No GPU/TPU found, falling back to CPU"}},
    {.name = "no_gpu", .all = {"no usable GPU found"}},
    {.name = "no_gpu", .all = {"No GPU found. A GPU is needed"}},
    {.name = "dependency_missing",
     .all = {"not compiled with CUDA enabled"},
     .figures = {{"module", INCIDENT_IS_TEXT, "torch"}}},

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
     .figures = {{"code", INCIDENT_INTEGER, "CUDA error "}}},
    {.name = "gpu_error",
     .all = {"CUDA kernel errors might be asynchronously reported"},
     .beside = true},
    {.name = "gpu_error",
     .all = {"CUDA_ERROR_"},
     .none = {"SUCCESS", "CUDA_ERROR_LEVEL"},
     .figures = {{"error", INCIDENT_WORD_WITH, "CUDA_ERROR_"}}},
    {.name = "gpu_error", .all = {"cuSolver internal error"}, .figures = {STATUS("cusolver")}},
    {.name = "gpu_error",
     .all = {"cuSolver has not been initialized"},
     .figures = {STATUS("cusolver")}},
    {.name = "gpu_error",
     .all = {"cuBLAS has not been initialized"},
     .figures = {STATUS("cublas")}},
    {.name = "gpu_error", .all = {"CUDA unknown error"}},
    {.name = "gpu_error", .all = {"cudaErrorIllegalAddress"}},
    {.name = "gpu_error", .all = {"cudaErrorLaunchFailure"}},
    {.name = "gpu_error", .all = {"cudaErrorAssert"}},
    {.name = "gpu_error", .all = {"hipErrorNoBinaryForGpu"}},
    {.name = "gpu_error", .all = {"hipErrorIllegalAddress"}},
    {.name = "gpu_error", .all = {"an illegal memory access was encountered"}, .figures = {RANK}},
    {.name = "gpu_error", .all = {"device-side assert triggered"}, .figures = {RANK}},
    {.name = "gpu_error", .all = {"unspecified launch failure"}},
    {.name = "gpu_error", .all = {"no kernel image is available for execution on the device"}},
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
    {.name = "gpu_error", .all = {"CUFFT_INTERNAL_ERROR"}, .figures = {STATUS("cufft")}},
    {.name = "gpu_error", .all = {"CUFFT_EXEC_FAILED"}, .figures = {STATUS("cufft")}},
    {.name = "gpu_error", .all = {"rocBLAS error"}, .figures = {STATUS("rocblas")}},
    {.name = "gpu_error",
     .all = {"miopenStatus"},
     .none = {"Success"},
     .figures = {STATUS("miopen")}},
    {.name = "gpu_error", .all = {"HSA_STATUS_ERROR"}},
    {.name = "gpu_error", .all = {"ncclUnhandledCudaError"}, .figures = {STATUS("nccl"), RANK}},
    {.name = "gpu_error", .all = {"ncclSystemError"}, .figures = {STATUS("nccl"), RANK}},
    {.name = "gpu_error", .all = {"ncclInternalError"}, .figures = {STATUS("nccl"), RANK}},
    {.name = "gpu_error", .all = {"ncclRemoteError"}, .figures = {STATUS("nccl"), RANK}},
    {.name = "gpu_error", .all = {"ncclInvalidUsage"}, .figures = {STATUS("nccl"), RANK}},
    {.name = "gpu_error", .all = {"NCCL error", "unhandled "}, .figures = {STATUS("nccl"), RANK}},
    {.name = "gpu_error", .all = {"NCCL Error "}, .figures = {STATUS("nccl"), RANK}},
    {.name = "gpu_error",
     .all = {"NCCL WARN Cuda failure"},
     .figures = {STATUS("nccl"), {"error", INCIDENT_QUOTED, "failure"}}},
};

const struct incident_rules incident_rules_device = {rules, ARRAY_LENGTH(rules)};
