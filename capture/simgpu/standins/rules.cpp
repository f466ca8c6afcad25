// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/standins/rules.h"

#include <algorithm>
#include <cctype>

namespace strata::simgpu {

namespace {

using Kind = Behaviour::Kind;
using Output = Behaviour::Output;

/// '?' stands for one character, '*' for any number.
bool matches(std::string_view text, std::string_view pattern)
{
    std::size_t t = 0;
    std::size_t p = 0;
    std::size_t star = pattern.npos;
    std::size_t retry = 0;
    while (t < text.size()) {
        if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++t;
            ++p;
        } else if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            retry = t;
        } else if (star != pattern.npos) {
            p = star + 1;
            t = ++retry;
        } else
            return false;
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

struct SizeQuery {
    const char* pattern;
    std::vector<Output> outputs;
};

/// Positions of what a query writes, from the signatures of CUDA 12 and 13. Sizes are known to the real
/// libraries alone: 0 is an assumption.
const std::vector<SizeQuery>& sizeQueries()
{
    static const std::vector<SizeQuery> queries{
        { "cusolverDnXgeqrf_bufferSize", { { 10, 8 }, { 11, 8 } } },
        { "cusolverDnXgetrf_bufferSize", { { 8, 8 }, { 9, 8 } } },
        { "cusolverDnXpotrf_bufferSize", { { 8, 8 }, { 9, 8 } } },
        { "cusolverDnXsyev*_bufferSize", { { 11, 8 }, { 12, 8 } } },
        { "cusolverDnXsytrs_bufferSize", { { 11, 8 }, { 12, 8 } } },
        { "cusolverDnXgeev_bufferSize", { { 17, 8 }, { 18, 8 } } },
        { "cusolverDn?geqrf_bufferSize", { { 5, 4 } } },
        { "cusolverDn?gesvd_bufferSize", { { 3, 4 } } },
        { "cusolverDn?gesvdaStridedBatched_bufferSize", { { 16, 4 } } },
        { "cusolverDn?gesvdjBatched_bufferSize", { { 11, 4 } } },
        { "cusolverDn?gesvdj_bufferSize", { { 12, 4 } } },
        { "cusolverDn?getrf_bufferSize", { { 5, 4 } } },
        { "cusolverDn???gqr_bufferSize", { { 7, 4 } } },
        { "cusolverDn???mqr_bufferSize", { { 11, 4 } } },
        { "cusolverDn?potrf_bufferSize", { { 5, 4 } } },
        { "cusolverDn???ev*_bufferSize", { { 7, 4 } } },
        { "cusolverDn?sytrf_bufferSize", { { 4, 4 } } },
        { "cusparse?bsrsm2_bufferSize", { { 13, 4 } } },
        { "cusparse?bsrsv2_bufferSize", { { 11, 4 } } },
        { "cusparse?csrgeam2_bufferSizeExt", { { 19, 8 } } },
        { "cusparseXcsrgeam2Nnz", { { 13, 4 } } },
        { "cusparseSDDMM_bufferSize", { { 10, 8 } } },
        { "cusparseSpMM_bufferSize", { { 10, 8 } } },
        { "cusparseSpMV_bufferSize", { { 9, 8 } } },
        { "cusparseSpSM_bufferSize", { { 10, 8 } } },
        { "cusparseSpSV_bufferSize", { { 9, 8 } } },
        { "cusparseSpGEMM_workEstimation", { { 11, 8 } } },
        { "cusparseSpGEMM_compute", { { 11, 8 } } },
        { "cusparseX???sort_bufferSizeExt", { { 6, 8 } } },
        { "cusparseSpMatGetSize", { { 1, 8 }, { 2, 8 }, { 3, 8 } } },
        { "cusparseLtMatmulGetWorkspace", { { 2, 8 } } },
        { "cusparseLtMatmulAlgGetAttribute", { { 3, 4 } } },
        { "cusparseLtSpMMACompressedSize2", { { 2, 8 }, { 3, 8 } } },
        { "cufftCreate", { { 0, 4 } } },
        { "cufftXtMakePlanMany", { { 12, 8 } } },
        { "curandGetVersion", { { 0, 4 } } },
    };
    return queries;
}

struct Pattern {
    const char* pattern;
    Behaviour behaviour;
};

const std::vector<Pattern>& patterns()
{
    const Behaviour nothing{ Kind::Return, 0, {} };
    const Behaviour object{ Kind::Object, 0, {} };
    const Behaviour unserved{ Kind::Unserved, 0, {} };
    const Behaviour work{ Kind::Work, 0, {} };
    const Behaviour refuse{ Kind::Return, 27, {} }; // CUPTI_ERROR_NOT_SUPPORTED
    const Behaviour refuseLegacy{ Kind::Return, 38, {} }; // CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED
    static const std::vector<Pattern> list{
        { "cublasLt*Create", object },
        { "cusparseCreateIdentityPermutation", nothing },
        { "cusparseCreate*", object },
        { "cusparse*_createDescr", object },
        { "cusolver*Create*", object },
        { "curandCreateGenerator*", object },
        { "cuptiEvent*", refuseLegacy },
        { "cuptiMetric*", refuseLegacy },
        { "cuptiSetEventCollectionMode", refuseLegacy },
        { "cupti*", refuse },
        { "cu*Get*", unserved },
        { "cu*Create*", unserved },
        { "cudnnFind*", unserved },
        { "cu*Size*", unserved },
        { "cublasLt*", nothing },
        { "cublasSet*", nothing },
        { "cublasDestroy*", nothing },
        { "cublas*rotg_v2", nothing },
        { "cublas*rotmg_v2", nothing },
        // Others of cuBLAS are of its first interface, which has no handle.
        { "cublas*_v2", work },
        { "cublas*Ex", work },
        { "cublas*Batched", work },
        { "cublas*_64", work },
        { "cublas*", nothing },
        { "cudnn*Forward*", work },
        { "cudnn*Backward*", work },
        { "cudnnCTCLoss*", work },
        { "cudnnSpatialTf*", work },
        { "cudnnAddTensor", work },
        { "cudnnOpTensor", work },
        { "cudnnReduceTensor", work },
        { "cudnnScaleTensor", work },
        { "cudnnTransformTensor", work },
        { "cudnn*", nothing },
        { "cusparse*Set*", nothing },
        { "cusparse*Destroy*", nothing },
        { "cusparse*_destroyDescr", nothing },
        { "cusparse*_zeroPivot", nothing },
        { "cusparse*_preprocess", nothing },
        { "cusparseLt*Init", nothing },
        { "cusparse*", work },
        { "cusolver*Set*", nothing },
        { "cusolver*Destroy*", nothing },
        { "cusolver*", work },
        { "cufft*Exec*", work },
        { "cufft*", nothing },
        { "curand*", nothing },
        { "nvtx*", nothing },
    };
    return list;
}

struct Library {
    std::string_view stem;
    std::string_view function; ///< how its functions begin
};

constexpr Library kLibraries[] = {
    { "libcudart", "cuda" },
    { "libcublasLt", "cublasLt" },
    { "libcublas", "cublas" },
    { "libcudnn", "cudnn" },
    { "libcufft", "cufft" },
    { "libcufile", "cuFile" },
    { "libcupti", "cupti" },
    { "libcurand", "curand" },
    { "libcusolver", "cusolver" },
    { "libcusparseLt", "cusparseLt" },
    { "libcusparse", "cusparse" },
    { "libnccl", "nccl" },
    { "libnvToolsExt", "nvtx" },
    { "libnvrtc", "nvrtc" },
    { "libnvshmem_host", "nvshmem" },
    { "libnvidia-ml", "nvml" },
    { "libcuda", "cu" },
};

const Library* libraryOf(std::string_view soname)
{
    for (const Library& library : kLibraries) {
        if (!soname.starts_with(library.stem))
            continue;
        const std::string_view rest = soname.substr(library.stem.size());
        if (rest.starts_with(".so") || rest.starts_with("-"))
            return &library;
    }
    return nullptr;
}

} // namespace

Behaviour behaviourOf(std::string_view function)
{
    for (const SizeQuery& query : sizeQueries()) {
        if (matches(function, query.pattern))
            return { Kind::Zero, 0, query.outputs };
    }
    for (const Pattern& pattern : patterns()) {
        if (matches(function, pattern.pattern))
            return pattern.behaviour;
    }
    return {};
}

bool isStoodIn(std::string_view soname)
{
    return libraryOf(soname) != nullptr;
}

bool belongsTo(std::string_view function, std::string_view soname)
{
    const Library* library = libraryOf(soname);
    if (!library || !function.starts_with(library->function) || function.size() == library->function.size())
        return false;
    // The driver's functions begin like everybody's: "cu" and a capital letter, and cuFile has a library of
    // its own.
    if (library->function == "cu")
        return std::isupper(static_cast<unsigned char>(function[2])) && !function.starts_with("cuFile");
    if (library->function == "cublas" || library->function == "cusparse")
        return !function.substr(library->function.size()).starts_with("Lt");
    return true;
}

} // namespace strata::simgpu
