/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rules for the memory of GPUs: refused allocations, allocator statistics, what serving engines
 * reckon before they start, neighbours on the device. Wording: shared RECORDS A2.9; PyTorch's
 * allocators 0.4 to 2.9, XLA's and TensorFlow's BFC allocator, ggml, vLLM, SGLang,
 * text-generation-inference, TensorRT and TensorRT-LLM. A rule must not fire on a template
 * ("xxx MiB") or on a text that quotes the message.
 */
#include "text/incident-rules.h"

#include "base/mem.h"
#include "base/msg.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

/* ---- conditions beyond fixed words ---- */

/* A number, "more than 1EB", or nothing any more (the line was cut or wrapped there). */
static bool has_size(const char *line, const char *behind) {
    const char *at = strstr(line, behind);
    if (!at)
        return false;
    at += strlen(behind);
    at += strspn(at, " ");
    return isdigit((unsigned char)*at) || *at == '\0' || str_starts_with(at, "more than");
}

static bool tried_to_allocate(const char *line) {
    return has_size(line, "Tried to allocate");
}

/* "cached" in 1.0: without what is allocated; "reserved" since 1.4: with it. */
static const struct incident_figure torch_figures[] = {
    {"rank", INCIDENT_INTEGER, "[rank"},
    {"rank", INCIDENT_INTEGER, "[Rank "},
    {"requested_bytes", INCIDENT_SIZE, "Tried to allocate "},
    {"gpu", INCIDENT_INTEGER, "GPU "},
    {"gpu", INCIDENT_INTEGER, "XPU "},
    {"gpu", INCIDENT_INTEGER, "NPU "},
    {"capacity_bytes", INCIDENT_SIZE_BEFORE, " total capacity"},
    {"capacity_bytes", INCIDENT_SIZE, "total capacity of "},
    {"capacity_bytes", INCIDENT_SIZE, "total capacty of "},
    {"capacity_bytes", INCIDENT_SIZE, " total: "},
    {"free_bytes", INCIDENT_SIZE_BEFORE, " is free"},
    {"free_bytes", INCIDENT_SIZE_BEFORE, " free;"},
    {"free_bytes", INCIDENT_SIZE_BEFORE, " free)"},
    {"free_bytes", INCIDENT_SIZE, "Free: "},
    {"limit_bytes", INCIDENT_SIZE_BEFORE, " allowed"},
    {"allocated_bytes", INCIDENT_SIZE_BEFORE, " already allocated"},
    {"allocated_bytes", INCIDENT_SIZE_BEFORE, " is allocated by PyTorch"},
    {"allocated_bytes", INCIDENT_SIZE, "PyTorch allocated: "},
    {"reserved_bytes", INCIDENT_SIZE_BEFORE, " reserved in total"},
    {"reserved_unused_bytes", INCIDENT_SIZE_BEFORE, " cached)"},
    {"reserved_unused_bytes", INCIDENT_SIZE_BEFORE, " is reserved by PyTorch but unallocated"},
    {"private_pools_bytes", INCIDENT_SIZE_BEFORE, " allocated in private pools"},
    {"process_bytes", INCIDENT_SIZE, "this process has "},
    {"", INCIDENT_NEIGHBOURS, ""},
    {NULL, INCIDENT_FIGURE_END_, NULL},
};

static const struct incident_figure mps_figures[] = {
    {"requested_bytes", INCIDENT_SIZE, "Tried to allocate "},
    {"allocated_bytes", INCIDENT_SIZE, "MPS allocated: "},
    {"other_allocations_bytes", INCIDENT_SIZE, "other allocations: "},
    {"limit_bytes", INCIDENT_SIZE, "max allowed: "},
    {NULL, INCIDENT_FIGURE_END_, NULL},
};

static bool is_torch_oom_error(const char *line) {
    return incident_begins_with(line, "OutOfMemoryError") &&
           (strstr(line, "torch.") != NULL || strstr(line, "CUDA") != NULL ||
            strstr(line, "HIP") != NULL || strstr(line, "Allocation on device") != NULL) &&
           strstr(line, "Tried to allocate") == NULL;
}

static bool is_plain_oom(const char *line) {
    return incident_begins_with(line, "Error") && strstr(line, "Tried to allocate") == NULL;
}

static bool has_ooms(const char *line) {
    const char *at = strstr(line, "CUDA OOMs: ");
    return at && at[strlen("CUDA OOMs: ")] >= '1' && at[strlen("CUDA OOMs: ")] <= '9';
}

/* Words of an error, none of advice. */
static bool is_error_of_a_gpu(const char *line) {
    static const char *const signs[] = {"rror", "ailed", "FAIL", "ailure", "xception"};
    static const char *const advice[] = {"avoid",   "may ",       "might ", "could ", "prevent",
                                         "in case", "instead of", "Try ",   "try "};
    bool is_error = false;

    for (size_t i = 0; i < ARRAY_LENGTH(signs) && !is_error; i++)
        is_error = strstr(line, signs[i]) != NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(advice) && is_error; i++)
        is_error = strstr(line, advice[i]) == NULL;
    return is_error && strstr(line, "Tried to allocate") == NULL;
}

/* "OOM when allocating tensor … by allocator cpu" is host memory. */
static bool is_host_tensor(const char *line) {
    return strstr(line, "device:CPU") != NULL || strstr(line, "allocator cpu") != NULL ||
           strstr(line, "_host_bfc") != NULL;
}

static bool is_device_tensor(const char *line) {
    return !is_host_tensor(line);
}

static bool attempts_number(const char *line) {
    return incident_has_number(line, "ttempting to allocate ");
}

#define XLA \
    { "backend", INCIDENT_IS_TEXT, "xla" }
#define TENSORFLOW \
    { "backend", INCIDENT_IS_TEXT, "tensorflow" }
#define GGML \
    { "backend", INCIDENT_IS_TEXT, "ggml" }
/* What a loader says when a buffer of its device was refused. */
#define GGML_BUFFER(device)                                                            \
    {.name = "gpu_oom",                                                                \
     .all = {"ailed to allocate " device, "uffer of size "},                           \
     .figures = {GGML,                                                                 \
                 {"requested_bytes", INCIDENT_INTEGER, "uffer of size "},              \
                 {"gpu", INCIDENT_INTEGER, device}}},                                  \
    {                                                                                  \
        .name = "gpu_oom", .all = {"nable to allocate " device, "uffer"}, .figures = { \
            GGML,                                                                      \
            {"gpu", INCIDENT_INTEGER, device}                                          \
        }                                                                              \
    }
#define VLLM \
    { "engine", INCIDENT_IS_TEXT, "vllm" }
#define SGLANG \
    { "engine", INCIDENT_IS_TEXT, "sglang" }
#define TGI \
    { "engine", INCIDENT_IS_TEXT, "text-generation-inference" }
#define TENSORRT \
    { "engine", INCIDENT_IS_TEXT, "tensorrt" }
#define BACKEND(name) \
    { "backend", INCIDENT_IS_TEXT, name }

static const struct incident_rule rules[] = {
    /* PyTorch */
    {.name = "gpu_oom",
     .all = {"MPS backend out of memory"},
     .figures = {BACKEND("mps")},
     .more = mps_figures},
    {.name = "gpu_oom",
     .all = {"HIP out of memory. Tried to allocate"},
     .also = tried_to_allocate,
     .also_text = N_("followed by a number"),
     .figures = {BACKEND("hip")},
     .more = torch_figures,
     .wraps = true},
    {.name = "gpu_oom",
     .all = {"XPU out of memory. Tried to allocate"},
     .also = tried_to_allocate,
     .also_text = N_("followed by a number"),
     .figures = {BACKEND("xpu")},
     .more = torch_figures,
     .wraps = true},
    {.name = "gpu_oom",
     .all = {"NPU out of memory. Tried to allocate"},
     .also = tried_to_allocate,
     .also_text = N_("followed by a number"),
     .figures = {BACKEND("npu")},
     .more = torch_figures,
     .wraps = true},
    {.name = "gpu_oom",
     .all = {"out of memory. Tried to allocate"},
     .also = tried_to_allocate,
     .also_text = N_("followed by a number"),
     .figures = {BACKEND("cuda")},
     .more = torch_figures,
     .wraps = true},
    {.name = "gpu_oom",
     .all = {"out of memory (Tried to allocate "},
     .also = tried_to_allocate,
     .also_text = N_("followed by a number"),
     .figures = {BACKEND("cuda")},
     .more = torch_figures,
     .wraps = true},
    {.name = "gpu_oom",
     .all = {"Tried to allocate ", "GPU ", " total cap"}, /* its first words are on another line */
     .also = tried_to_allocate,
     .also_text = N_("followed by a number"),
     .figures = {BACKEND("cuda")},
     .more = torch_figures,
     .wraps = true},
    {.name = "gpu_oom",
     .all = {"llocation on device", "would exceed allowed memory"},
     .figures = {BACKEND("cuda"),
                 {"gpu", INCIDENT_INTEGER, "on device "},
                 {"requested_bytes", INCIDENT_SIZE, "Requested : "},
                 {"requested_bytes", INCIDENT_SIZE, "Requested               : "}}},
    {.name = "gpu_oom",
     .all = {"OutOfMemoryError"},
     .also = is_torch_oom_error,
     .also_text = N_("as the name at the start of the line, with torch, CUDA or HIP"),
     .figures = {{"rank", INCIDENT_INTEGER, "[rank"}, {"gpu", INCIDENT_INTEGER, "device "}}},
    {.name = "gpu_oom",
     .all = {"CUDA out of memory (tried "},
     .figures = {BACKEND("cuda"), {"requested_bytes", INCIDENT_SIZE, "(tried "}}},
    {.name = "gpu_oom",
     .all = {"CUDA out of memory"},
     .also = is_plain_oom,
     .also_text = N_("behind the name of an error at the start of the line"),
     .figures = {BACKEND("cuda"), {"rank", INCIDENT_INTEGER, "[rank"}}},
    {.name = "gpu_oom",
     .all = {"HIP out of memory"},
     .also = is_plain_oom,
     .also_text = N_("behind the name of an error at the start of the line"),
     .figures = {BACKEND("hip"), {"rank", INCIDENT_INTEGER, "[rank"}}},
    {.name = "gpu_oom",
     .all = {"Currently allocated", " : "},
     .none = {"peak"},
     .beside = true,
     .figures = {{"allocated_bytes", INCIDENT_SIZE, ": "}}},
    {.name = "gpu_oom",
     .all = {"Requested               : "},
     .beside = true,
     .figures = {{"requested_bytes", INCIDENT_SIZE, ": "}}},
    {.name = "gpu_oom",
     .all = {"Requested : "},
     .beside = true,
     .figures = {{"requested_bytes", INCIDENT_SIZE, ": "}}},
    {.name = "gpu_oom",
     .all = {"Device limit ", ": "},
     .beside = true,
     .figures = {{"capacity_bytes", INCIDENT_SIZE, ": "}}},
    {.name = "gpu_oom",
     .all = {"Free (according to CUDA): "},
     .beside = true,
     .figures = {{"free_bytes", INCIDENT_SIZE, "CUDA): "}}},
    {.name = "gpu_oom",
     .all = {"PyTorch limit (set by user-supplied memory fraction)"},
     .beside = true,
     .figures = {{"limit_bytes", INCIDENT_SIZE, ": "}}},

    /* the driver and its libraries */
    {.name = "gpu_oom",
     .all = {"CUDA error: out of memory"},
     .figures = {{"source", INCIDENT_IS_TEXT, "driver"}, {"rank", INCIDENT_INTEGER, "[rank"}}},
    {.name = "gpu_oom",
     .all = {"CUDA driver error: out of memory"},
     .figures = {{"source", INCIDENT_IS_TEXT, "driver"}, {"rank", INCIDENT_INTEGER, "[rank"}}},
    {.name = "gpu_oom",
     .all = {"HIP error: out of memory"},
     .figures = {{"source", INCIDENT_IS_TEXT, "driver"}, {"rank", INCIDENT_INTEGER, "[rank"}}},
    {.name = "gpu_oom",
     .all = {"uda failure", "'out of memory'"},
     .figures = {{"source", INCIDENT_IS_TEXT, "nccl"}, {"rank", INCIDENT_INTEGER, "[rank"}}},
    {.name = "gpu_oom",
     .all = {"CUDA_ERROR_OUT_OF_MEMORY"},
     .figures = {{"source", INCIDENT_IS_TEXT, "driver"},
                 {"requested_bytes", INCIDENT_INTEGER_BEFORE, " bytes) from device"},
                 {"requested_bytes", INCIDENT_SIZE, "failed to allocate "},
                 {"requested_bytes", INCIDENT_SIZE, "ailed to alloc "}}},
    {.name = "gpu_oom",
     .all = {"cudaErrorMemoryAllocation"},
     .figures = {{"source", INCIDENT_IS_TEXT, "driver"}}},
    {.name = "gpu_oom",
     .all = {"hipErrorOutOfMemory"},
     .figures = {{"source", INCIDENT_IS_TEXT, "driver"}}},
    {.name = "gpu_oom",
     .all = {"CUBLAS_STATUS_ALLOC_FAILED"},
     .figures = {{"source", INCIDENT_IS_TEXT, "cublas"}, {"rank", INCIDENT_INTEGER, "[rank"}}},
    {.name = "gpu_oom",
     .all = {"CUDNN_STATUS_ALLOC_FAILED"},
     .figures = {{"source", INCIDENT_IS_TEXT, "cudnn"}, {"rank", INCIDENT_INTEGER, "[rank"}}},
    {.name = "gpu_oom",
     .all = {"CUSOLVER_STATUS_ALLOC_FAILED"},
     .figures = {{"source", INCIDENT_IS_TEXT, "cusolver"}}},
    {.name = "gpu_oom",
     .all = {"CUSPARSE_STATUS_ALLOC_FAILED"},
     .figures = {{"source", INCIDENT_IS_TEXT, "cusparse"}}},
    {.name = "gpu_oom",
     .all = {"CUFFT_ALLOC_FAILED"},
     .figures = {{"source", INCIDENT_IS_TEXT, "cufft"}}},
    {.name = "gpu_oom",
     .all = {"HSA_STATUS_ERROR_OUT_OF_RESOURCES", "Available Free mem"},
     .figures = {BACKEND("hip"), {"free_bytes", INCIDENT_SIZE, "Free mem : "}}},
    {.name = "gpu_oom",
     .all = {"out_of_memory", "CUDA error at"},
     .figures = {{"source", INCIDENT_IS_TEXT, "rmm"}}},
    {.name = "gpu_oom",
     .all = {"rmm::out_of_memory"},
     .figures = {{"source", INCIDENT_IS_TEXT, "rmm"}}},
    {.name = "gpu_oom", .all = {"CUDARuntimeError: out of memory"}},
    {.name = "gpu_oom",
     .all = {"cupy", "OutOfMemoryError: Out of memory allocating "},
     .figures = {{"requested_bytes", INCIDENT_SIZE, "Out of memory allocating "},
                 {"allocated_bytes", INCIDENT_SIZE, "allocated so far: "},
                 {"limit_bytes", INCIDENT_SIZE, "limit set to: "}}},
    {.name = "gpu_oom", .all = {"VK_ERROR_OUT_OF_DEVICE_MEMORY"}, .figures = {BACKEND("vulkan")}},
    {.name = "gpu_oom", .all = {"ErrorOutOfDeviceMemory"}, .figures = {BACKEND("vulkan")}},
    {.name = "gpu_oom",
     .all = {"ggml_vulkan: Device memory allocation of size ", " failed"},
     .figures = {BACKEND("vulkan"), {"requested_bytes", INCIDENT_INTEGER, "of size "}}},
    {.name = "gpu_oom",
     .all = {"kIOGPUCommandBufferCallbackErrorOutOfMemory"},
     .figures = {BACKEND("metal")}},
    {.name = "gpu_oom",
     .all = {"UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"},
     .figures = {BACKEND("xpu")}},
    {.name = "gpu_oom",
     .all = {"ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY"},
     .figures = {BACKEND("xpu")}},
    {.name = "gpu_oom", .all = {"ERROR_OUT_OF_DEVICE_MEMORY"}},
    {.name = "gpu_oom", .all = {"_ERROR_OUT_OF_RESOURCES"}, .figures = {BACKEND("xpu")}},
    {.name = "gpu_oom",
     .all = {"RuntimeError: Invalid buffer size: "},
     .figures = {BACKEND("mps"), {"requested_bytes", INCIDENT_SIZE, "size: "}}},
    {.name = "gpu_oom",
     .all = {"[metal::malloc] Attempting to allocate "},
     .figures = {BACKEND("metal"),
                 {"requested_bytes", INCIDENT_INTEGER, "to allocate "},
                 {"limit_bytes", INCIDENT_INTEGER, "buffer size of "}}},
    {.name = "gpu_oom",
     .all = {"[malloc_or_wait] Unable to allocate "},
     .figures = {BACKEND("metal"), {"requested_bytes", INCIDENT_INTEGER, "to allocate "}}},
    {.name = "gpu_oom",
     .all = {"kIOGPUCommandBufferCallbackErrorOutOfMemory"},
     .figures = {BACKEND("metal")}},
    {.name = "gpu_oom",
     .all = {"ut of GPU memory trying to allocate "},
     .figures = {{"requested_bytes", INCIDENT_SIZE, "to allocate "}}},
    {.name = "gpu_oom", .all = {"CL_OUT_OF_RESOURCES"}, .figures = {BACKEND("opencl")}},
    {.name = "gpu_oom",
     .all = {"CL_MEM_OBJECT_ALLOCATION_FAILURE"},
     .figures = {BACKEND("opencl")}},

    /* ggml: llama.cpp, ollama, whisper.cpp */
    {.name = "gpu_oom",
     .all = {"cudaMalloc failed: out of memory"},
     .figures = {GGML,
                 {"requested_bytes", INCIDENT_SIZE, "allocating "},
                 {"gpu", INCIDENT_INTEGER, "on device "}}},
    GGML_BUFFER("CUDA"),
    GGML_BUFFER("ROCm"),
    GGML_BUFFER("Vulkan"),
    GGML_BUFFER("SYCL"),
    GGML_BUFFER("Metal"),
    GGML_BUFFER("MUSA"),
    GGML_BUFFER("CANN"),
    {.name = "gpu_oom", .all = {"cudaMalloc", "out of memory"}},
    {.name = "gpu_oom", .all = {"CUDA error 2 at ", "out of memory"}, .figures = {GGML}},
    {.name = "gpu_oom", .all = {"ggml_cuda", "out of memory"}, .figures = {GGML}},
    {.name = "gpu_oom",
     .all = {"_metal_", "failed to allocate buffer"},
     .figures = {BACKEND("metal"), {"requested_bytes", INCIDENT_SIZE, "size = "}}},
    {.name = "host_oom",
     .all = {"ailed to allocate CPU", "uffer of size "},
     .figures = {{"requested_bytes", INCIDENT_INTEGER, "uffer of size "}}},
    {.name = "host_oom",
     .all = {"ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size "},
     .figures = {{"requested_bytes", INCIDENT_INTEGER, "uffer of size "}}},
    {.name = "host_oom",
     .all = {"requires more system memory ("},
     .figures = {{"requested_bytes", INCIDENT_SIZE, "system memory ("},
                 {"free_bytes", INCIDENT_SIZE, "available ("}}},

    /* XLA */
    {.name = "gpu_oom",
     .all = {"an out of memory in memory space hbm"},
     .figures = {XLA,
                 {"needed_bytes", INCIDENT_SIZE, "Used "},
                 {"capacity_bytes", INCIDENT_SIZE, " of "},
                 {"exceeded_bytes", INCIDENT_SIZE, "capacity by "}}},
    {.name = "gpu_oom",
     .all = {"ttempting to allocate ", "not possible"},
     .also = attempts_number,
     .also_text = N_("followed by a number"),
     .figures = {XLA,
                 {"requested_bytes", INCIDENT_SIZE, "ttempting to allocate "},
                 {"free_bytes", INCIDENT_SIZE, "There are "}}},
    {.name = "gpu_oom",
     .all = {"ttempting to reserve ", "not possible"},
     .figures = {XLA,
                 {"requested_bytes", INCIDENT_SIZE, "ttempting to reserve "},
                 {"free_bytes", INCIDENT_SIZE, "There are "}}},
    {.name = "gpu_oom",
     .all = {"of memory while trying to allocate "},
     .figures = {XLA,
                 {"requested_bytes", INCIDENT_SIZE, "trying to allocate "},
                 {"replica", INCIDENT_INTEGER, "replica "}}},
    {.name = "gpu_oom",
     .all = {"Failed to allocate request for "},
     .figures = {XLA,
                 {"requested_bytes", INCIDENT_INTEGER_BEFORE, "B) on device"},
                 {"requested_bytes", INCIDENT_SIZE, "request for "},
                 {"gpu", INCIDENT_INTEGER, "device ordinal "}}},
    {.name = "gpu_oom",
     .all = {"Failed to allocate ", " bytes for new constant"},
     .figures = {XLA, {"requested_bytes", INCIDENT_SIZE, "Failed to allocate "}}},
    {.name = "gpu_oom",
     .all = {"RESOURCE_EXHAUSTED: ", "ut of memory"},
     .none = {"allocator cpu", "gRPC", "in memory space ", "device:CPU"},
     .figures = {XLA, {"requested_bytes", INCIDENT_SIZE, "allocating "}}},
    {.name = "gpu_oom",
     .all = {"esource exhausted: ", "ut of memory"},
     .none = {"allocator cpu", "gRPC", "device:CPU"},
     .figures = {XLA, {"requested_bytes", INCIDENT_SIZE, "allocating "}}},
    {.name = "gpu_oom_detail",
     .all = {"Reported by CUDA: Free memory/Total memory: "},
     .beside = true,
     .figures = {{"free_bytes", INCIDENT_INTEGER, "Total memory: "}}},
    {.name = "gpu_oom_detail", .all = {"BufferAssignment OOM Debugging"}, .figures = {XLA}},
    {.name = "gpu_oom_detail", .all = {"BufferAssignment stats:"}, .figures = {XLA}},
    {.name = "gpu_oom_detail",
     .all = {" total allocation: "},
     .beside = true,
     .figures = {{"planned_total_bytes", INCIDENT_SIZE, "allocation: "}}},
    {.name = "gpu_oom_detail",
     .all = {" total fragmentation: "},
     .beside = true,
     .figures = {{"fragmentation_bytes", INCIDENT_SIZE, "fragmentation: "}}},

    /* TensorFlow */
    {.name = "host_oom",
     .all = {"OOM when allocating tensor"},
     .also = is_host_tensor,
     .also_text = N_("by an allocator of the host"),
     .figures = {TENSORFLOW, {"requested_bytes", INCIDENT_TENSOR, "shape"}}},
    {.name = "gpu_oom",
     .all = {"OOM when allocating tensor"},
     .also = is_device_tensor,
     .also_text = N_("not by an allocator of the host"),
     .figures = {TENSORFLOW,
                 {"requested_bytes", INCIDENT_TENSOR, "shape"},
                 {"gpu", INCIDENT_INTEGER, "device:GPU:"}}},
    {.name = "gpu_oom",
     .all = {"ResourceExhaustedError", "failed to allocate memory"},
     .none = {"device:CPU"},
     .figures = {TENSORFLOW}},
    {.name = "gpu_oom_detail",
     .all = {"an out of memory trying to allocate ", "this is not a failure"},
     .figures = {TENSORFLOW,
                 {"requested_bytes", INCIDENT_SIZE, "trying to allocate "},
                 {"gpu", INCIDENT_INTEGER, "(GPU_"}}},
    {.name = "host_oom",
     .all = {"an out of memory trying to allocate ", "_host_bfc"},
     .figures = {TENSORFLOW, {"requested_bytes", INCIDENT_SIZE, "trying to allocate "}}},
    {.name = "gpu_oom",
     .all = {"an out of memory trying to allocate "},
     .none = {"Allocator (cpu)"},
     .figures = {TENSORFLOW,
                 {"requested_bytes", INCIDENT_SIZE, "trying to allocate "},
                 {"gpu", INCIDENT_INTEGER, "(GPU_"}}},
    {.name = "gpu_oom", .all = {"Dst tensor is not initialized"}, .figures = {TENSORFLOW}},
    {.name = "gpu_oom_detail",
     .all = {"Sum Total of in-use chunks: "},
     .figures = {TENSORFLOW, {"allocated_bytes", INCIDENT_SIZE, "chunks: "}}},
    {.name = "gpu_oom_detail",
     .all = {"total_region_allocated_bytes_: "},
     .figures = {TENSORFLOW, {"limit_bytes", INCIDENT_INTEGER, "memory_limit_: "}}},
    {.name = "gpu_oom_detail", .all = {"bfc_allocator.cc:", "Stats:"}, .figures = {TENSORFLOW}},
    {.name = "gpu_oom_detail",
     .all = {"MaxAllocSize: "},
     .figures = {TENSORFLOW, {"largest_bytes", INCIDENT_INTEGER, "MaxAllocSize: "}}},
    {.name = "gpu_oom_detail",
     .all = {"MaxInUse: "},
     .figures = {TENSORFLOW, {"peak_bytes", INCIDENT_INTEGER, "MaxInUse: "}}},
    {.name = "gpu_oom_detail",
     .all = {"InUse: "},
     .beside = true,
     .figures = {{"allocated_bytes", INCIDENT_INTEGER, "InUse: "}}},
    {.name = "gpu_oom_detail",
     .all = {"Limit: "},
     .none = {"Hardware limit"},
     .beside = true,
     .figures = {{"limit_bytes", INCIDENT_INTEGER, "Limit: "}}},

    /* PyTorch's statistics without the line that says what failed (cut, or wrapped) */
    {.name = "gpu_oom_detail",
     .all = {"CUDA OOMs: "},
     .also = has_ooms,
     .also_text = N_("followed by a number above 0"),
     .figures = {{"ooms", INCIDENT_INTEGER, "CUDA OOMs: "},
                 {"retries", INCIDENT_INTEGER, "retries: "}}},
    {.name = "gpu_oom_detail", .all = {" already allocated; "}, .more = torch_figures},
    {.name = "gpu_oom_detail", .all = {" reserved in total by PyTorch"}, .more = torch_figures},
    {.name = "gpu_oom_detail",
     .all = {" is reserved by PyTorch but unallocated"},
     .more = torch_figures},
    {.name = "gpu_oom_detail",
     .all = {"Of the allocated memory ", "allocated by PyTorch"},
     .more = torch_figures},
    {.name = "gpu_oom_detail", .all = {"GPU ", "has a total capacity of "}, .more = torch_figures},

    /* what serving engines reckon before they start */
    {.name = "gpu_busy",
     .all = {"ree memory on device", "is less than desired GPU memory utilization"},
     .figures = {VLLM,
                 {"free_bytes", INCIDENT_PAIR_FIRST, "("},
                 {"capacity_bytes", INCIDENT_PAIR_SECOND, "("},
                 {"wanted_bytes", INCIDENT_SIZE_BEFORE, "). Decrease"},
                 {"wanted_bytes", INCIDENT_SIZE_BEFORE, ")."}}},
    {.name = "gpu_busy",
     .all = {"Error in memory profiling. "},
     .figures = {VLLM,
                 {"free_before_bytes", INCIDENT_SIZE, "Initial free memory "},
                 {"free_bytes", INCIDENT_SIZE, "current free memory "}}},
    {.name = "gpu_busy", .all = {"memory capacity is unbalanced"}, .figures = {SGLANG}},
    {.name = "gpu_busy", .all = {"CUDA-capable device(s) is/are busy or unavailable"}},
    {.name = "gpu_busy", .all = {"all CUDA-capable devices are busy or unavailable"}},
    {.name = "gpu_busy", .all = {"CUDA_ERROR_DEVICE_UNAVAILABLE"}},
    {.name = "gpu_busy", .all = {"cudaErrorDevicesUnavailable"}},
    {.name = "gpu_budget", .all = {"No available memory for the cache blocks"}, .figures = {VLLM}},
    {.name = "gpu_budget",
     .all = {"# GPU blocks: 0,"},
     .figures = {VLLM, {"gpu_blocks", INCIDENT_IS_NUMBER, "0"}}},
    {.name = "gpu_budget",
     .all = {"# CUDA blocks: 0,"},
     .figures = {VLLM, {"gpu_blocks", INCIDENT_IS_NUMBER, "0"}}},
    {.name = "gpu_budget",
     .all = {"KV cache is needed"},
     .figures = {VLLM,
                 {"max_length", INCIDENT_INTEGER, "max seq len ("},
                 {"needed_bytes", INCIDENT_SIZE_BEFORE, " KV cache is needed"},
                 {"available_bytes", INCIDENT_SIZE, "available KV cache memory ("},
                 {"estimated_max_length", INCIDENT_INTEGER, "maximum model length is "}},
     .wraps = true},
    {.name = "gpu_budget",
     .all = {"To serve at least one request with the model", "max seq len ("},
     .beside = true,
     .figures = {{"max_length", INCIDENT_INTEGER, "max seq len ("}}},
    {.name = "gpu_budget",
     .all = {"max seq len", "larger than the maximum number of tokens that can be stored in KV"},
     .figures = {VLLM,
                 {"max_length", INCIDENT_INTEGER, "max seq len ("},
                 {"cache_tokens", INCIDENT_INTEGER, "KV cache ("}}},
    {.name = "gpu_budget",
     .all = {"larger than the available KV cache memory"},
     .figures = {VLLM,
                 {"max_length", INCIDENT_INTEGER, "max seq len ("},
                 {"available_bytes", INCIDENT_SIZE, "available KV cache memory ("}}},
    {.name = "gpu_budget",
     .all = {"Not enough memory. Please try to increase --mem-fraction-static"},
     .figures = {SGLANG}},
    {.name = "gpu_budget",
     .all = {"Not enough memory. Please try increasing --mem-fraction-static"},
     .figures = {SGLANG}},
    {.name = "gpu_budget", .all = {"KV cache pool is full. "}, .figures = {SGLANG}},
    {.name = "gpu_budget", .all = {"there is not enough KV cache space"}, .figures = {VLLM}},
    {.name = "gpu_budget", .all = {"Insufficient GPU memory error: "}},
    {.name = "gpu_budget", .all = {"leave no GPU memory for the KV cache"}, .figures = {SGLANG}},
    {.name = "gpu_budget",
     .all = {"Failed to allocate memory for ", "in AlignedAllocator"},
     .figures = {{"engine", INCIDENT_IS_TEXT, "flashinfer"},
                 {"requested_bytes", INCIDENT_INTEGER, "with size "}}},
    {.name = "gpu_budget",
     .all = {"refill out of memory. Try to lower your batch size"},
     .figures = {SGLANG}},
    {.name = "gpu_budget",
     .all = {"ecode out of memory. Try to lower your batch size"},
     .figures = {SGLANG}},
    {.name = "gpu_budget",
     .all = {"ut of memory. Please set a smaller number for `--max-running-requests`"},
     .figures = {SGLANG}},
    {.name = "gpu_budget",
     .all = {"larger than the profiled value -"},
     .figures = {SGLANG, {"max_length", INCIDENT_INTEGER, "max_total_tokens="}}},
    {.name = "gpu_budget",
     .all = {"Not enough memory to handle ", " tokens"},
     .figures = {TGI, {"tokens", INCIDENT_INTEGER, "to handle "}}},
    {.name = "gpu_budget",
     .all = {"Out of available cache blocks: asked "},
     .figures = {TGI,
                 {"blocks_asked", INCIDENT_INTEGER, "asked "},
                 {"blocks_free", INCIDENT_INTEGER, "only "}}},
    {.name = "gpu_budget",
     .all = {"mpossible to fit ", " sequence in kvCache"},
     .figures = {TENSORRT}},
    {.name = "gpu_budget",
     .all = {"maxTokensInPagedKvCache ", "must be large enough"},
     .figures = {TENSORRT}},
    {.name = "gpu_budget",
     .all = {"nsufficient GPU memory for KVCache"},
     .figures = {{"available_bytes", INCIDENT_SIZE, "Available: "},
                 {"needed_bytes", INCIDENT_SIZE, "Required: "}}},
    {.name = "gpu_budget", .all = {"Insufficient VRAM for model and cache"}},
    {.name = "gpu_budget", .all = {"Insufficient space in device allocation"}},
    {.name = "gpu_budget", .all = {"enough GPU RAM to fit the quantized model"}},
    {.name = "gpu_budget", .all = {"nsufficient memory for KV cache"}},
    {.name = "gpu_budget", .all = {"not enough memory for the KV cache"}},
    {.name = "gpu_budget", .all = {"Not enough memory for KV cache"}},

    /* TensorRT */
    {.name = "gpu_oom",
     .all = {"Requested amount of GPU memory ("},
     .figures = {TENSORRT, {"requested_bytes", INCIDENT_SIZE, "memory ("}}},
    {.name = "gpu_oom",
     .all = {"rror Code 2: OutOfMemory"},
     .figures = {TENSORRT, {"requested_bytes", INCIDENT_SIZE, "Requested size was "}}},
    {.name = "gpu_oom",
     .all = {"ut of Memory (Requested size was "},
     .figures = {TENSORRT, {"requested_bytes", INCIDENT_SIZE, "Requested size was "}}},
    {.name = "gpu_oom",
     .all = {"User allocator error allocating ", "-byte buffer"},
     .figures = {TENSORRT, {"requested_bytes", INCIDENT_INTEGER, "error allocating "}}},
    {.name = "gpu_oom", .all = {"GPU memory allocation error during "}, .figures = {TENSORRT}},
    {.name = "gpu_oom", .all = {"OutOfMemory Error in nvinfer1"}, .figures = {TENSORRT}},
    {.name = "gpu_oom", .all = {"llocate: 2 (out of memory)"}, .figures = {TENSORRT}},
    {.name = "gpu_oom", .all = {"uda Runtime (out of memory)"}, .figures = {TENSORRT}},
    {.name = "gpu_oom", .all = {"untime error in", "uda", "out of memory"}, .figures = {TENSORRT}},

    /* other libraries, in words of their own */
    {.name = "gpu_oom",
     .all = {"ut of memory error on GPU "},
     .figures = {{"gpu", INCIDENT_INTEGER, "error on GPU "},
                 {"requested_bytes", INCIDENT_SIZE, "annot allocate "},
                 {"allocated_bytes", INCIDENT_SIZE_BEFORE, " memory has been allocated"},
                 {"free_bytes", INCIDENT_SIZE, "available memory is only "}}},
    {.name = "gpu_oom",
     .all = {"Failed to allocate memory for requested buffer of size ", "CUDA"},
     .figures = {{"requested_bytes", INCIDENT_INTEGER, "of size "}}},
    {.name = "gpu_oom",
     .all = {"out of memory", "cuda"},
     .also = is_error_of_a_gpu,
     .also_text = N_("with a word of an error and none of advice")},
    {.name = "gpu_oom",
     .all = {"out of memory", "CUDA"},
     .also = is_error_of_a_gpu,
     .also_text = N_("with a word of an error and none of advice")},
    {.name = "gpu_oom",
     .all = {"out of memory", "Cuda"},
     .also = is_error_of_a_gpu,
     .also_text = N_("with a word of an error and none of advice")},
    {.name = "gpu_oom",
     .all = {"out of memory", "THC"},
     .also = is_error_of_a_gpu,
     .also_text = N_("with a word of an error and none of advice")},
    {.name = "gpu_oom",
     .all = {"out of memory", "GPU"},
     .also = is_error_of_a_gpu,
     .also_text = N_("with a word of an error and none of advice")},
};

const struct incident_rules incident_rules_memory = {rules, ARRAY_LENGTH(rules)};
