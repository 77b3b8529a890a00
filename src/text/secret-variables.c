/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which variables of the environment may be recorded: those that change what a run does or how long
 * it takes. A list of what is allowed, never of what is forbidden: an unknown variable stays out.
 */
#include "text/secret.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* A trailing '*' stands for any ending, the empty one too. */
static const char *const allowed[] = {
    /* accelerators */
    "CUDA_*",
    "CUBLAS_WORKSPACE_CONFIG",
    "CUBLASLT_*",
    "CUDNN_*",
    "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
    "NVIDIA_TF32_OVERRIDE",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "HSA_*",
    "GPU_DEVICE_ORDINAL",
    "GPU_MAX_HW_QUEUES",
    "MIOPEN_*",
    "ZE_AFFINITY_MASK",
    "ONEAPI_DEVICE_SELECTOR",
    "SYCL_*",
    "NCCL_*",
    "RCCL_*",
    "UCX_*",
    "GLOO_*",
    "FI_PROVIDER",
    /* threads and numerical libraries */
    "OMP_*",
    "GOMP_*",
    "KMP_*",
    "MKL_*",
    "OPENBLAS_*",
    "BLIS_*",
    "GOTO_NUM_THREADS",
    "NUMEXPR_*",
    "VECLIB_MAXIMUM_THREADS",
    "TBB_*",
    "RAYON_NUM_THREADS",
    "NUMBA_*",
    "POLARS_MAX_THREADS",
    "MALLOC_*",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    /* frameworks */
    "PYTORCH_*",
    "TORCH_*",
    "TORCHINDUCTOR_*",
    "TORCHDYNAMO_*",
    "TF_*",
    "XLA_*",
    "JAX_*",
    "VLLM_*",
    "SGLANG_*",
    "TRITON_*",
    "FLASH_ATTENTION_*",
    "ACCELERATE_*",
    "DEEPSPEED_*",
    "BITSANDBYTES_*",
    "GGML_*",
    "LLAMA_*",
    "TOKENIZERS_PARALLELISM",
    "RAY_*",
    "HF_HOME",
    "HF_HUB_CACHE",
    "HF_DATASETS_CACHE",
    "HF_HUB_OFFLINE",
    "HF_DATASETS_OFFLINE",
    "HF_HUB_ENABLE_HF_TRANSFER",
    "HF_HUB_DISABLE_XET",
    "HF_XET_*",
    "HF_HUB_DOWNLOAD_TIMEOUT",
    "HUGGINGFACE_HUB_CACHE",
    "TRANSFORMERS_*",
    "DIFFUSERS_*",
    "XDG_CACHE_HOME",
    "TMPDIR",
    /* places in a distributed run */
    "RANK",
    "LOCAL_RANK",
    "GROUP_RANK",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
    "OMPI_COMM_WORLD_*",
    "PMI_RANK",
    "PMI_SIZE",
    "MPI_LOCALRANKID",
    /* schedulers */
    "SLURM_*",
    "SLURMD_NODENAME",
    "PBS_*",
    "LSB_*",
    "LSF_*",
    "SGE_TASK_ID",
    "NSLOTS",
    "JOB_ID",
    /* interpreters and language */
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CONDA_DEFAULT_ENV",
    "PYTHONPATH",
    "PYTHONHASHSEED",
    "PYTHONHOME",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONOPTIMIZE",
    "PYTHONMALLOC",
    "PYTHONNOUSERSITE",
    "R_LIBS*",
    "JULIA_NUM_THREADS",
    "JULIA_PROJECT",
    "JULIA_DEPOT_PATH",
    "GOMAXPROCS",
    "GOMEMLIMIT",
    "NODE_OPTIONS",
    "JAVA_TOOL_OPTIONS",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TZ",
    "SOURCE_DATE_EPOCH",
};

bool secret_variable_allowed(const char *name) {
    if (secret_is_named(name))
        return false;
    for (size_t i = 0; i < ARRAY_LENGTH(allowed); i++) {
        size_t length = strlen(allowed[i]);
        if (allowed[i][length - 1] == '*' ? strncmp(name, allowed[i], length - 1) == 0
                                          : strcmp(name, allowed[i]) == 0)
            return true;
    }
    return false;
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

json_t *secret_allowed_variables(char *const *environment) {
    json_t *variables = json_object();
    size_t count = 0;

    while (environment && environment[count])
        count++;
    AUTO_FREE const char **sorted = mem_alloc((count + 1) * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = environment[i];
    qsort(sorted, count, sizeof *sorted, compare_texts);
    for (size_t i = 0; i < count; i++) {
        const char *equals = strchr(sorted[i], '=');
        if (!equals || equals == sorted[i])
            continue;
        AUTO_FREE char *name = mem_strndup(sorted[i], (size_t)(equals - sorted[i]));
        if (!str_is_utf8(name, strlen(name)) || !secret_variable_allowed(name))
            continue;
        AUTO_STRBUF struct strbuf masked = STRBUF_INIT;
        secret_mask(equals + 1, strlen(equals + 1), &masked);
        json_put_text(variables, name, strbuf_str(&masked));
    }
    return variables;
}
