// SPDX-License-Identifier: Apache-2.0
// Products of cuBLAS and cuBLASLt: they compute nothing, and tell what work they are.
#include "capture/simgpu/entry/activity.h"

#include <cstdint>
#include <string>

namespace strata::simgpu {

STRATA_API api::Result cublasGetStream_v2(void* handle, void** stream);
STRATA_API api::Result cublasGetMathMode(void* handle, int* mode);

namespace {

using api::Result;

/// Of cudaDataType_t.
enum DataType {
    kFloat = 0,
    kDouble = 1,
    kHalf = 2,
    kByte = 3,
    kComplexFloat = 4,
    kComplexDouble = 5,
    kBFloat = 14,
    kFloat8 = 28,
    kFloat8Wide = 29
};

struct TypeFacts {
    const char* name;
    double bytes;
    double flopsOfProduct; ///< of a multiplication and an addition
    NumberType number;
};

TypeFacts factsOf(int type)
{
    switch (type) {
    case kFloat:
        return { "f32", 4, 2, NumberType::Float32 };
    case kDouble:
        return { "f64", 8, 2, NumberType::Float64 };
    case kHalf:
        return { "f16", 2, 2, NumberType::Float16 };
    case kBFloat:
        return { "bf16", 2, 2, NumberType::BFloat16 };
    case kByte:
        return { "i8", 1, 2, NumberType::Unknown };
    case kComplexFloat:
        return { "c32", 8, 8, NumberType::Float32 };
    case kComplexDouble:
        return { "c64", 16, 8, NumberType::Float64 };
    case kFloat8:
    case kFloat8Wide:
        return { "f8", 1, 2, NumberType::Float8 };
    default:
        return { "other", 1, 2, NumberType::Unknown };
    }
}

struct Product {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    std::int64_t batch = 1;
    int type = kFloat; ///< of the operands
    int resultType = kFloat;
    bool tensorFloat = false; ///< single precision may be rounded
};

/// The name says the call and its sizes: which kernel of the library would run, nobody knows here.
void product(const char* function, void* stream, const Product& of)
{
    if (!isWorkSeen())
        return;
    const TypeFacts type = factsOf(of.type);
    const auto m = static_cast<double>(of.m);
    const auto n = static_cast<double>(of.n);
    const auto k = static_cast<double>(of.k);
    const auto batch = static_cast<double>(of.batch);
    WorkSize size;
    size.flops = type.flopsOfProduct * m * n * k * batch;
    size.bytes = batch * ((m * k + k * n) * type.bytes + m * n * factsOf(of.resultType).bytes);
    size.type = of.type == kFloat && of.tensorFloat ? NumberType::TensorFloat32 : type.number;
    std::string name = std::string(function) + '_' + type.name + "_m" + std::to_string(of.m) + "_n"
        + std::to_string(of.n) + "_k" + std::to_string(of.k);
    if (of.batch != 1)
        name += "_b" + std::to_string(of.batch);
    performLibrary(keptName(name), stream, size);
}

void* streamOf(void* handle)
{
    void* stream = nullptr;
    cublasGetStream_v2(handle, &stream);
    return stream;
}

bool roundsFloats(void* handle)
{
    constexpr int kTensorFloatMath = 3;
    int mode = 0;
    cublasGetMathMode(handle, &mode);
    return (mode & 0xf) == kTensorFloatMath;
}

constexpr Result kInvalidValue = 7; ///< CUBLAS_STATUS_INVALID_VALUE
constexpr int kComputeTensorFloat = 77; ///< CUBLAS_COMPUTE_32F_FAST_TF32

/// What LibTorch sets of a matrix layout and of a product.
struct Layout {
    int type = 0;
    std::uint64_t rows = 0;
    std::uint64_t columns = 0;
    int batch = 1;
};

struct ProductDescriptor {
    int compute = 0;
    int transposeA = 0;
};

template <class T> void setInteger(T& to, const void* value, std::size_t bytes)
{
    if (bytes == sizeof to)
        std::memcpy(&to, value, sizeof to);
}

} // namespace

STRATA_API Result cublasGemmEx(void* handle, int, int, int m, int n, int k, const void*, const void*,
    int type, int, const void*, int, int, const void*, void*, int resultType, int, int compute, int)
{
    product(
        "cublasGemmEx", streamOf(handle), { m, n, k, 1, type, resultType, compute == kComputeTensorFloat });
    return 0;
}

STRATA_API Result cublasGemmStridedBatchedEx(void* handle, int, int, int m, int n, int k, const void*,
    const void*, int type, int, long long, const void*, int, int, long long, const void*, void*,
    int resultType, int, long long, int batch, int compute, int)
{
    product("cublasGemmStridedBatchedEx", streamOf(handle),
        { m, n, k, batch, type, resultType, compute == kComputeTensorFloat });
    return 0;
}

STRATA_API Result cublasSgemmEx(void* handle, int, int, int m, int n, int k, const float*, const void*,
    int type, int, const void*, int, int, const float*, void*, int resultType, int)
{
    product("cublasSgemmEx", streamOf(handle), { m, n, k, 1, type, resultType, roundsFloats(handle) });
    return 0;
}

#define STRATA_PRODUCTS(letter, type)                                                                        \
    STRATA_API Result cublas##letter##gemm_v2(void* handle, int, int, int m, int n, int k, const void*,      \
        const void*, int, const void*, int, const void*, void*, int)                                         \
    {                                                                                                        \
        product(                                                                                             \
            "cublas" #letter "gemm", streamOf(handle), { m, n, k, 1, type, type, roundsFloats(handle) });    \
        return 0;                                                                                            \
    }                                                                                                        \
    STRATA_API Result cublas##letter##gemmStridedBatched(void* handle, int, int, int m, int n, int k,        \
        const void*, const void*, int, long long, const void*, int, long long, const void*, void*, int,      \
        long long, int batch)                                                                                \
    {                                                                                                        \
        product("cublas" #letter "gemmStridedBatched", streamOf(handle),                                     \
            { m, n, k, batch, type, type, roundsFloats(handle) });                                           \
        return 0;                                                                                            \
    }                                                                                                        \
    STRATA_API Result cublas##letter##gemv_v2(void* handle, int, int m, int n, const void*, const void*,     \
        int, const void*, int, const void*, void*, int)                                                      \
    {                                                                                                        \
        product("cublas" #letter "gemv", streamOf(handle), { m, 1, n, 1, type, type, false });               \
        return 0;                                                                                            \
    }
STRATA_PRODUCTS(S, kFloat)
STRATA_PRODUCTS(D, kDouble)
STRATA_PRODUCTS(C, kComplexFloat)
STRATA_PRODUCTS(Z, kComplexDouble)
#undef STRATA_PRODUCTS

STRATA_API Result cublasLtMatrixLayoutCreate(
    void** out, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t)
{
    *out = new Layout{ type, rows, columns, 1 };
    return 0;
}

/// For a layout on the stack of the program, which has room for 64 bytes.
STRATA_API Result cublasLtMatrixLayoutInit_internal(
    void* layout, std::size_t bytes, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t)
{
    const Layout made{ type, rows, columns, 1 };
    if (bytes < sizeof made)
        return kInvalidValue;
    std::memcpy(layout, &made, sizeof made);
    return 0;
}

STRATA_API Result cublasLtMatrixLayoutDestroy(void* layout)
{
    delete static_cast<Layout*>(layout);
    return 0;
}

STRATA_API Result cublasLtMatrixLayoutSetAttribute(
    void* layout, int attribute, const void* value, std::size_t bytes)
{
    constexpr int kBatch = 5;
    if (attribute == kBatch)
        setInteger(static_cast<Layout*>(layout)->batch, value, bytes);
    return 0;
}

STRATA_API Result cublasLtMatmulDescCreate(void** out, int compute, int)
{
    *out = new ProductDescriptor{ compute, 0 };
    return 0;
}

STRATA_API Result cublasLtMatmulDescInit_internal(void* descriptor, std::size_t bytes, int compute, int)
{
    const ProductDescriptor made{ compute, 0 };
    if (bytes < sizeof made)
        return kInvalidValue;
    std::memcpy(descriptor, &made, sizeof made);
    return 0;
}

STRATA_API Result cublasLtMatmulDescDestroy(void* descriptor)
{
    delete static_cast<ProductDescriptor*>(descriptor);
    return 0;
}

STRATA_API Result cublasLtMatmulDescSetAttribute(
    void* descriptor, int attribute, const void* value, std::size_t bytes)
{
    constexpr int kTransposeA = 3;
    if (attribute == kTransposeA)
        setInteger(static_cast<ProductDescriptor*>(descriptor)->transposeA, value, bytes);
    return 0;
}

STRATA_API Result cublasLtMatmul(void*, void* descriptor, const void*, const void*, void* layoutA,
    const void*, void*, const void*, const void*, void*, void*, void* layoutD, const void*, void*,
    std::size_t, void* stream)
{
    const auto* a = static_cast<const Layout*>(layoutA);
    const auto* d = static_cast<const Layout*>(layoutD);
    const auto* how = static_cast<const ProductDescriptor*>(descriptor);
    if (!a || !d || !how)
        return kInvalidValue;
    product("cublasLtMatmul", stream,
        { static_cast<std::int64_t>(d->rows), static_cast<std::int64_t>(d->columns),
            static_cast<std::int64_t>(how->transposeA != 0 ? a->rows : a->columns), d->batch, a->type,
            d->type, how->compute == kComputeTensorFloat });
    return 0;
}

} // namespace strata::simgpu
