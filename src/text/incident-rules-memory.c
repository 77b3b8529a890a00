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
    RANK,
    INTEGER("rank", "[Rank "),
    REQUESTED("Tried to allocate "),
    INTEGER("gpu", "GPU "),
    INTEGER("gpu", "XPU "),
    INTEGER("gpu", "NPU "),
    {"capacity_bytes", INCIDENT_SIZE_BEFORE, " total capacity"},
    SIZE("capacity_bytes", "total capacity of "),
    SIZE("capacity_bytes", "total capacty of "),
    SIZE("capacity_bytes", " total: "),
    {"free_bytes", INCIDENT_SIZE_BEFORE, " is free"},
    {"free_bytes", INCIDENT_SIZE_BEFORE, " free;"},
    {"free_bytes", INCIDENT_SIZE_BEFORE, " free)"},
    SIZE("free_bytes", "Free: "),
    {"limit_bytes", INCIDENT_SIZE_BEFORE, " allowed"},
    {"allocated_bytes", INCIDENT_SIZE_BEFORE, " already allocated"},
    {"allocated_bytes", INCIDENT_SIZE_BEFORE, " is allocated by PyTorch"},
    SIZE("allocated_bytes", "PyTorch allocated: "),
    {"reserved_bytes", INCIDENT_SIZE_BEFORE, " reserved in total"},
    {"reserved_unused_bytes", INCIDENT_SIZE_BEFORE, " cached)"},
    {"reserved_unused_bytes", INCIDENT_SIZE_BEFORE, " is reserved by PyTorch but unallocated"},
    {"private_pools_bytes", INCIDENT_SIZE_BEFORE, " allocated in private pools"},
    SIZE("process_bytes", "this process has "),
    {"", INCIDENT_NEIGHBOURS, ""},
    {NULL, INCIDENT_FIGURE_END_, NULL},
};

static const struct incident_figure mps_figures[] = {
    REQUESTED("Tried to allocate "),
    SIZE("allocated_bytes", "MPS allocated: "),
    SIZE("other_allocations_bytes", "other allocations: "),
    SIZE("limit_bytes", "max allowed: "),
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

/* "Ran out of memory in", the name of a chip's memory on the next line: often not that of tensors.
 */
static bool names_no_space(const char *line) {
    return !str_ends_with(line, "memory in") && !str_ends_with(line, "memory in memory space");
}

static bool attempts_number(const char *line) {
    return incident_has_number(line, "ttempting to allocate ");
}

#define XLA          BACKEND("xla")
#define TENSORFLOW   BACKEND("tensorflow")
#define GGML         BACKEND("ggml")
#define VLLM         TEXT("engine", "vllm")
#define SGLANG       TEXT("engine", "sglang")
#define TGI          TEXT("engine", "text-generation-inference")
#define TENSORRT     TEXT("engine", "tensorrt")
#define SOURCE(name) TEXT("source", name)

/* A refused allocation as PyTorch words it, of this kind of device. */
#define TORCH(backend)                                                  \
    .also = tried_to_allocate, .also_text = N_("followed by a number"), \
    .figures = {BACKEND(backend)}, .more = torch_figures, .wraps = true

/* What a loader says when a buffer of its device was refused. */
#define GGML_DEVICES(before)                                                            \
    WORDS(before "CUDA", before "ROCm", before "Vulkan", before "SYCL", before "Metal", \
          before "MUSA", before "CANN")
static const struct incident_figure ggml_device_figures[] = {
    INTEGER("gpu", "CUDA"),   INTEGER("gpu", "ROCm"),
    INTEGER("gpu", "Vulkan"), INTEGER("gpu", "SYCL"),
    INTEGER("gpu", "Metal"),  INTEGER("gpu", "MUSA"),
    INTEGER("gpu", "CANN"),   {NULL, INCIDENT_FIGURE_END_, NULL},
};

static const struct incident_rule rules[] = {
    /* PyTorch */
    {.name = "gpu_oom",
     .all = {"MPS backend out of memory"},
     .figures = {BACKEND("mps")},
     .more = mps_figures},
    {.name = "gpu_oom", .all = {"HIP out of memory. Tried to allocate"}, TORCH("hip")},
    {.name = "gpu_oom", .all = {"XPU out of memory. Tried to allocate"}, TORCH("xpu")},
    {.name = "gpu_oom", .all = {"NPU out of memory. Tried to allocate"}, TORCH("npu")},
    {.name = "gpu_oom",
     .any = WORDS("out of memory. Tried to allocate", "out of memory (Tried to allocate "),
     TORCH("cuda")},
    {.name = "gpu_oom",
     .all = {"Tried to allocate ", "GPU ", " total cap"}, /* its first words are on another line */
     TORCH("cuda")},
    {.name = "gpu_oom",
     .all = {"llocation on device", "would exceed allowed memory"},
     .figures = {BACKEND("cuda"), INTEGER("gpu", "on device "), REQUESTED("Requested : "),
                 REQUESTED("Requested               : ")}},
    {.name = "gpu_oom", .all = {"Exception Type:", "OutOfMemoryError"}},
    {.name = "gpu_oom",
     .all = {"OutOfMemoryError"},
     .also = is_torch_oom_error,
     .also_text = N_("as the name at the start of the line, with torch, CUDA or HIP"),
     .figures = {RANK, INTEGER("gpu", "device ")}},
    {.name = "gpu_oom",
     .all = {"CUDA out of memory (tried "},
     .figures = {BACKEND("cuda"), REQUESTED("(tried ")}},
    {.name = "gpu_oom",
     .all = {"CUDA out of memory"},
     .also = is_plain_oom,
     .also_text = N_("behind the name of an error at the start of the line"),
     .figures = {BACKEND("cuda"), RANK}},
    {.name = "gpu_oom",
     .all = {"HIP out of memory"},
     .also = is_plain_oom,
     .also_text = N_("behind the name of an error at the start of the line"),
     .figures = {BACKEND("hip"), RANK}},
    {.name = "gpu_oom",
     .all = {"Currently allocated", " : "},
     .none = {"peak"},
     .beside = true,
     .figures = {SIZE("allocated_bytes", ": ")}},
    {.name = "gpu_oom",
     .any = WORDS("Requested               : ", "Requested : "),
     .beside = true,
     .figures = {REQUESTED(": ")}},
    {.name = "gpu_oom",
     .all = {"Device limit ", ": "},
     .beside = true,
     .figures = {SIZE("capacity_bytes", ": ")}},
    {.name = "gpu_oom",
     .all = {"Free (according to CUDA): "},
     .beside = true,
     .figures = {SIZE("free_bytes", "CUDA): ")}},
    {.name = "gpu_oom",
     .all = {"PyTorch limit (set by user-supplied memory fraction)"},
     .beside = true,
     .figures = {SIZE("limit_bytes", ": ")}},

    /* the driver and its libraries */
    {.name = "gpu_oom",
     .any = WORDS("CUDA error: out of memory", "CUDA driver error: out of memory",
                  "HIP error: out of memory"),
     .figures = {SOURCE("driver"), RANK}},
    {.name = "gpu_oom",
     .all = {"uda failure", "'out of memory'"},
     .figures = {SOURCE("nccl"), RANK}},
    {.name = "gpu_oom",
     .all = {"CUDA_ERROR_OUT_OF_MEMORY"},
     .figures = {SOURCE("driver"),
                 {"requested_bytes", INCIDENT_INTEGER_BEFORE, " bytes) from device"},
                 REQUESTED("failed to allocate "),
                 REQUESTED("ailed to alloc ")}},
    {.name = "gpu_oom",
     .any = WORDS("cudaErrorMemoryAllocation", "hipErrorOutOfMemory"),
     .figures = {SOURCE("driver")}},
    {.name = "gpu_oom", .all = {"CUBLAS_STATUS_ALLOC_FAILED"}, .figures = {SOURCE("cublas"), RANK}},
    {.name = "gpu_oom", .all = {"CUDNN_STATUS_ALLOC_FAILED"}, .figures = {SOURCE("cudnn"), RANK}},
    {.name = "gpu_oom", .all = {"CUSOLVER_STATUS_ALLOC_FAILED"}, .figures = {SOURCE("cusolver")}},
    {.name = "gpu_oom", .all = {"CUSPARSE_STATUS_ALLOC_FAILED"}, .figures = {SOURCE("cusparse")}},
    {.name = "gpu_oom", .all = {"CUFFT_ALLOC_FAILED"}, .figures = {SOURCE("cufft")}},
    {.name = "gpu_oom",
     .all = {"HSA_STATUS_ERROR_OUT_OF_RESOURCES", "Available Free mem"},
     .figures = {BACKEND("hip"), SIZE("free_bytes", "Free mem : ")}},
    {.name = "gpu_oom", .all = {"out_of_memory", "CUDA error at"}, .figures = {SOURCE("rmm")}},
    {.name = "gpu_oom", .all = {"rmm::out_of_memory"}, .figures = {SOURCE("rmm")}},
    {.name = "gpu_oom", .all = {"CUDARuntimeError: out of memory"}},
    {.name = "gpu_oom",
     .all = {"cupy", "OutOfMemoryError: Out of memory allocating "},
     .figures = {REQUESTED("Out of memory allocating "),
                 SIZE("allocated_bytes", "allocated so far: "),
                 SIZE("limit_bytes", "limit set to: ")}},
    {.name = "gpu_oom",
     .any = WORDS("VK_ERROR_OUT_OF_DEVICE_MEMORY", "ErrorOutOfDeviceMemory"),
     .figures = {BACKEND("vulkan")}},
    {.name = "gpu_oom",
     .all = {"ggml_vulkan: Device memory allocation of size ", " failed"},
     .figures = {BACKEND("vulkan"), INTEGER("requested_bytes", "of size ")}},
    {.name = "gpu_oom",
     .any = WORDS("kIOGPUCommandBufferCallbackErrorOutOfMemory",
                  "kIOGPUCommandBufferCallbackErrorOutOfMemory"),
     .figures = {BACKEND("metal")}},
    {.name = "gpu_oom",
     .any = WORDS("UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY",
                  "_ERROR_OUT_OF_RESOURCES"),
     .figures = {BACKEND("xpu")}},
    {.name = "gpu_oom",
     .all = {"RuntimeError: Invalid buffer size: "},
     .figures = {BACKEND("mps"), REQUESTED("size: ")}},
    {.name = "gpu_oom",
     .all = {"[metal::malloc] Attempting to allocate "},
     .figures = {BACKEND("metal"), INTEGER("requested_bytes", "to allocate "),
                 INTEGER("limit_bytes", "buffer size of ")}},
    {.name = "gpu_oom",
     .all = {"[malloc_or_wait] Unable to allocate "},
     .figures = {BACKEND("metal"), INTEGER("requested_bytes", "to allocate ")}},
    {.name = "gpu_oom",
     .all = {"ut of GPU memory trying to allocate "},
     .figures = {REQUESTED("to allocate ")}},
    {.name = "gpu_oom",
     .any = WORDS("CL_OUT_OF_RESOURCES", "CL_MEM_OBJECT_ALLOCATION_FAILURE"),
     .figures = {BACKEND("opencl")}},
    {.name = "gpu_oom", .all = {"ERROR_OUT_OF_DEVICE_MEMORY"}},

    /* ggml: llama.cpp, ollama, whisper.cpp */
    {.name = "host_oom",
     .all = {"failed to allocate ", " of pinned memory"},
     .warns = true,
     .figures = {GGML, REQUESTED("allocate ")}},
    {.name = "gpu_oom",
     .all = {"cudaMalloc failed: out of memory"},
     .figures = {GGML, REQUESTED("allocating "), INTEGER("gpu", "on device ")}},
    {.name = "gpu_oom",
     .all = {"uffer of size "},
     .any = GGML_DEVICES("ailed to allocate "),
     .figures = {GGML, INTEGER("requested_bytes", "uffer of size ")},
     .more = ggml_device_figures},
    {.name = "gpu_oom",
     .all = {"uffer"},
     .any = GGML_DEVICES("nable to allocate "),
     .figures = {GGML},
     .more = ggml_device_figures},
    {.name = "gpu_oom", .all = {"cudaMalloc", "out of memory"}},
    {.name = "gpu_oom",
     .all = {"out of memory"},
     .any = WORDS("CUDA error 2 at ", "ggml_cuda"),
     .figures = {GGML}},
    {.name = "gpu_oom",
     .all = {"_metal_", "failed to allocate buffer"},
     .figures = {BACKEND("metal"), REQUESTED("size = ")}},
    {.name = "host_oom",
     .all = {"ailed to allocate CPU", "uffer of size "},
     .figures = {INTEGER("requested_bytes", "uffer of size ")}},
    {.name = "host_oom",
     .all = {"ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size "},
     .figures = {INTEGER("requested_bytes", "uffer of size ")}},
    {.name = "host_oom",
     .all = {"requires more system memory ("},
     .figures = {REQUESTED("system memory ("), SIZE("free_bytes", "available (")}},
    {.name = "gpu_oom",
     .all = {"ggml_backend_", "_buffer_type_alloc_buffer: failed to allocate "},
     .none = {"ggml_backend_cpu"},
     .figures = {GGML, REQUESTED("failed to allocate ")}},

    /* XLA */
    {.name = "gpu_oom",
     .any = WORDS("an out of memory in memory space hbm", "memory space hbm. Used "),
     .figures = {XLA, SIZE("needed_bytes", "Used "), SIZE("capacity_bytes", " of "),
                 SIZE("exceeded_bytes", "capacity by ")}},
    {.name = "gpu_oom",
     .all = {"ttempting to allocate ", "not possible"},
     .also = attempts_number,
     .also_text = N_("followed by a number"),
     .figures = {XLA, REQUESTED("ttempting to allocate "), SIZE("free_bytes", "There are ")}},
    {.name = "gpu_oom",
     .all = {"ttempting to reserve ", "not possible"},
     .figures = {XLA, REQUESTED("ttempting to reserve "), SIZE("free_bytes", "There are ")}},
    {.name = "gpu_oom",
     .all = {"of memory while trying to allocate "},
     .figures = {XLA, REQUESTED("trying to allocate "), INTEGER("replica", "replica ")}},
    {.name = "gpu_oom",
     .all = {"Failed to allocate request for "},
     .figures = {XLA,
                 {"requested_bytes", INCIDENT_INTEGER_BEFORE, "B) on device"},
                 REQUESTED("request for "),
                 INTEGER("gpu", "device ordinal ")}},
    {.name = "gpu_oom",
     .all = {"Failed to allocate ", " bytes for new constant"},
     .figures = {XLA, REQUESTED("Failed to allocate ")}},
    {.name = "gpu_oom",
     .all = {"RESOURCE_EXHAUSTED: ", "ut of memory"},
     .none = {"allocator cpu", "gRPC", "in memory space ", "device:CPU"},
     .also = names_no_space,
     .also_text = N_("where the line does not end before the memory's name"),
     .figures = {XLA, REQUESTED("allocating ")}},
    {.name = "gpu_oom",
     .all = {"esource exhausted: ", "ut of memory"},
     .none = {"allocator cpu", "gRPC", "device:CPU"},
     .figures = {XLA, REQUESTED("allocating ")}},
    {.name = "gpu_oom_detail",
     .all = {"Reported by CUDA: Free memory/Total memory: "},
     .beside = true,
     .figures = {INTEGER("free_bytes", "Total memory: ")}},
    {.name = "gpu_oom_detail",
     .any = WORDS("BufferAssignment OOM Debugging", "BufferAssignment stats:"),
     .figures = {XLA}},
    {.name = "gpu_oom_detail",
     .all = {" total allocation: "},
     .beside = true,
     .figures = {SIZE("planned_total_bytes", "allocation: ")}},
    {.name = "gpu_oom_detail",
     .all = {" total fragmentation: "},
     .beside = true,
     .figures = {SIZE("fragmentation_bytes", "fragmentation: ")}},

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
                 INTEGER("gpu", "device:GPU:")}},
    {.name = "gpu_oom",
     .all = {"ResourceExhaustedError", "failed to allocate memory"},
     .none = {"device:CPU"},
     .figures = {TENSORFLOW}},
    {.name = "gpu_oom_detail",
     .all = {"an out of memory trying to allocate ", "this is not a failure"},
     .warns = true,
     .figures = {TENSORFLOW, REQUESTED("trying to allocate "), INTEGER("gpu", "(GPU_")}},
    {.name = "host_oom",
     .all = {"an out of memory trying to allocate ", "_host_bfc"},
     .figures = {TENSORFLOW, REQUESTED("trying to allocate ")}},
    {.name = "gpu_oom",
     .all = {"an out of memory trying to allocate "},
     .none = {"Allocator (cpu)"},
     .figures = {TENSORFLOW, REQUESTED("trying to allocate "), INTEGER("gpu", "(GPU_")}},
    {.name = "gpu_oom", .all = {"Dst tensor is not initialized"}, .figures = {TENSORFLOW}},
    {.name = "gpu_oom_detail",
     .all = {"Sum Total of in-use chunks: "},
     .figures = {TENSORFLOW, SIZE("allocated_bytes", "chunks: ")}},
    {.name = "gpu_oom_detail",
     .all = {"total_region_allocated_bytes_: "},
     .figures = {TENSORFLOW, INTEGER("limit_bytes", "memory_limit_: ")}},
    {.name = "gpu_oom_detail", .all = {"bfc_allocator.cc:", "Stats:"}, .figures = {TENSORFLOW}},
    {.name = "gpu_oom_detail",
     .all = {"MaxAllocSize: "},
     .figures = {TENSORFLOW, INTEGER("largest_bytes", "MaxAllocSize: ")}},
    {.name = "gpu_oom_detail",
     .all = {"MaxInUse: "},
     .figures = {TENSORFLOW, INTEGER("peak_bytes", "MaxInUse: ")}},
    {.name = "gpu_oom_detail",
     .all = {"InUse: "},
     .beside = true,
     .figures = {INTEGER("allocated_bytes", "InUse: ")}},
    {.name = "gpu_oom_detail",
     .all = {"Limit: "},
     .none = {"Hardware limit"},
     .beside = true,
     .figures = {INTEGER("limit_bytes", "Limit: ")}},

    /* PyTorch's statistics without the line that says what failed (cut, or wrapped) */
    {.name = "gpu_oom_detail",
     .all = {"CUDA OOMs: "},
     .also = has_ooms,
     .also_text = N_("followed by a number above 0"),
     .figures = {INTEGER("ooms", "CUDA OOMs: "), INTEGER("retries", "retries: ")}},
    {.name = "gpu_oom_detail",
     .any = WORDS(" already allocated; ", " reserved in total by PyTorch",
                  " is reserved by PyTorch but unallocated"),
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
     .figures = {VLLM, SIZE("free_before_bytes", "Initial free memory "),
                 SIZE("free_bytes", "current free memory ")}},
    {.name = "gpu_busy", .all = {"memory capacity is unbalanced"}, .figures = {SGLANG}},
    {.name = "gpu_busy",
     .any =
         WORDS("CUDA-capable device(s) is/are busy or unavailable",
               "all CUDA-capable devices are busy or unavailable", "CUDA_ERROR_DEVICE_UNAVAILABLE",
               "cudaErrorDevicesUnavailable", "The TPU is already in use by ",
               "libtpu.so is already in use", "libtpu.so already in use")},
    {.name = "gpu_budget", /* requests wait or are done anew; the server goes on */
     .all = {"KV cache pool is full. "},
     .warns = true,
     .figures = {SGLANG}},
    {.name = "gpu_budget",
     .all = {"there is not enough KV cache space"},
     .warns = true,
     .figures = {VLLM}},
    {.name = "gpu_budget",
     .any = WORDS("No available memory for the cache blocks"),
     .figures = {VLLM}},
    {.name = "gpu_budget",
     .any = WORDS("# GPU blocks: 0,", "# CUDA blocks: 0,"),
     .figures = {VLLM, NUMBER("gpu_blocks", "0")}},
    {.name = "gpu_budget",
     .all = {"KV cache is needed"},
     .figures = {VLLM,
                 INTEGER("max_length", "max seq len ("),
                 {"needed_bytes", INCIDENT_SIZE_BEFORE, " KV cache is needed"},
                 SIZE("available_bytes", "available KV cache memory ("),
                 INTEGER("estimated_max_length", "maximum model length is ")},
     .wraps = true},
    {.name = "gpu_budget",
     .all = {"To serve at least one request with the model", "max seq len ("},
     .beside = true,
     .figures = {INTEGER("max_length", "max seq len (")}},
    {.name = "gpu_budget",
     .all = {"max seq len", "larger than the maximum number of tokens that can be stored in KV"},
     .figures = {VLLM, INTEGER("max_length", "max seq len ("),
                 INTEGER("cache_tokens", "KV cache (")}},
    {.name = "gpu_budget",
     .all = {"larger than the available KV cache memory"},
     .figures = {VLLM, INTEGER("max_length", "max seq len ("),
                 SIZE("available_bytes", "available KV cache memory (")}},
    {.name = "gpu_budget",
     .any = WORDS("Not enough memory. Please try to increase --mem-fraction-static",
                  "Not enough memory. Please try increasing --mem-fraction-static",
                  "leave no GPU memory for the KV cache",
                  "refill out of memory. Try to lower your batch size",
                  "ecode out of memory. Try to lower your batch size",
                  "ut of memory. Please set a smaller number for `--max-running-requests`"),
     .figures = {SGLANG}},
    {.name = "gpu_budget",
     .any = WORDS("Insufficient GPU memory error: ", "Insufficient VRAM for model and cache",
                  "Insufficient space in device allocation",
                  "enough GPU RAM to fit the quantized model", "nsufficient memory for KV cache",
                  "not enough memory for the KV cache", "Not enough memory for KV cache")},
    {.name = "gpu_budget",
     .all = {"Failed to allocate memory for ", "in AlignedAllocator"},
     .figures = {TEXT("engine", "flashinfer"), INTEGER("requested_bytes", "with size ")}},
    {.name = "gpu_budget",
     .all = {"larger than the profiled value -"},
     .figures = {SGLANG, INTEGER("max_length", "max_total_tokens=")}},
    {.name = "gpu_budget",
     .all = {"Not enough memory to handle ", " tokens"},
     .figures = {TGI, INTEGER("tokens", "to handle ")}},
    {.name = "gpu_budget",
     .all = {"Out of available cache blocks: asked "},
     .figures = {TGI, INTEGER("blocks_asked", "asked "), INTEGER("blocks_free", "only ")}},
    {.name = "gpu_budget",
     .all = {"mpossible to fit ", " sequence in kvCache"},
     .figures = {TENSORRT}},
    {.name = "gpu_budget",
     .all = {"maxTokensInPagedKvCache ", "must be large enough"},
     .figures = {TENSORRT}},
    {.name = "gpu_budget",
     .all = {"nsufficient GPU memory for KVCache"},
     .figures = {SIZE("available_bytes", "Available: "), SIZE("needed_bytes", "Required: ")}},

    /* TensorRT */
    {.name = "gpu_oom",
     .all = {"Requested amount of GPU memory ("},
     .figures = {TENSORRT, REQUESTED("memory (")}},
    {.name = "gpu_oom",
     .any = WORDS("rror Code 2: OutOfMemory", "ut of Memory (Requested size was "),
     .figures = {TENSORRT, REQUESTED("Requested size was ")}},
    {.name = "gpu_oom",
     .all = {"User allocator error allocating ", "-byte buffer"},
     .figures = {TENSORRT, INTEGER("requested_bytes", "error allocating ")}},
    {.name = "gpu_oom",
     .any = WORDS("GPU memory allocation error during ", "OutOfMemory Error in nvinfer1",
                  "llocate: 2 (out of memory)", "uda Runtime (out of memory)"),
     .figures = {TENSORRT}},
    {.name = "gpu_oom", .all = {"untime error in", "uda", "out of memory"}, .figures = {TENSORRT}},

    /* other libraries, in words of their own */
    {.name = "gpu_oom",
     .all = {"ut of memory error on GPU "},
     .figures = {INTEGER("gpu", "error on GPU "),
                 REQUESTED("annot allocate "),
                 {"allocated_bytes", INCIDENT_SIZE_BEFORE, " memory has been allocated"},
                 SIZE("free_bytes", "available memory is only ")}},
    {.name = "gpu_oom",
     .all = {"annot malloc ", " GPU memory"},
     .figures = {REQUESTED("annot malloc ")}},
    {.name = "gpu_oom",
     .all = {"annot allocate ", " in GPU ", ", available "},
     .figures = {REQUESTED("annot allocate "), INTEGER("gpu", " in GPU "),
                 SIZE("free_bytes", "available ")}},
    {.name = "gpu_oom", .all = {"pooled_storage_manager", "emory allocation failed"}},
    {.name = "gpu_oom",
     .all = {"Failed to allocate memory for requested buffer of size ", "CUDA"},
     .figures = {INTEGER("requested_bytes", "of size ")}},
    {.name = "gpu_oom",
     .all = {"out of memory"},
     .any = WORDS("cuda", "CUDA", "Cuda", "THC", "GPU"),
     .also = is_error_of_a_gpu,
     .also_text = N_("with a word of an error and none of advice")},
};

const struct incident_rules incident_rules_memory = {rules, ARRAY_LENGTH(rules)};
