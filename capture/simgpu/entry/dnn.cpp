// SPDX-License-Identifier: Apache-2.0
// cuDNN's older interface: descriptors, sizes, the layout of recurrent weights. Computations do nothing.
#include "capture/simgpu/entry/process.h"
#include "capture/simgpu/machine/workspaces.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace strata::simgpu {

namespace {

using api::Result;

constexpr Result kBadParam = 2000;
constexpr int kDefaultVersion = STRATA_CUDA_MAJOR >= 13 ? 92600 : 90100;
constexpr std::size_t kOpaqueBytes = 1024;
constexpr int kMaxDims = 8;

/// Random states of a dropout descriptor: an assumption, 6,488,064 bytes on 108 multiprocessors.
constexpr std::size_t kDropoutBytesPerMultiprocessor = 60074;

struct DnnHandle {
    void* stream = nullptr;
};

struct TensorDescriptor {
    int type = 0;
    int dims = 0;
    int size[kMaxDims] = {};
    int stride[kMaxDims] = {};
};

struct DropoutDescriptor {
    float probability = 0;
};

struct RnnDataDescriptor {
    int length = 0; ///< of the longest sequence
    int batch = 0;
    int width = 0;
};

struct RnnDescriptor {
    int algorithm = 0;
    int mode = Recurrence::kTanh;
    int bias = 2;
    bool bidirectional = false;
    int type = 0;
    int inputSize = 0;
    int hiddenSize = 0;
    int projectedSize = 0;
    int layers = 1;
    bool dropout = false;

    int gates() const { return mode == Recurrence::kLstm ? 4 : mode == Recurrence::kGru ? 3 : 1; }
    int directions() const { return bidirectional ? 2 : 1; }
    int outputSize() const { return projectedSize > 0 ? projectedSize : hiddenSize; }
    bool projects() const { return projectedSize > 0 && projectedSize != hiddenSize; }
    int biases() const { return bias == 0 ? 0 : bias == 2 ? 2 * gates() : gates(); }
};

/// Matrices of all pseudo-layers first, then their biases:
///
///     | W_0 .. W_g-1  R_0 .. R_g-1 (P) | of layer 1 ... | b of layer 0 | b of layer 1 ... |
struct Matrix {
    std::size_t offset = 0; ///< in elements
    int rows = 0;
    int columns = 0;
};

Matrix matrixOf(const RnnDescriptor& rnn, int pseudoLayer, int linear)
{
    const int gates = rnn.gates();
    const int count = 2 * gates + (rnn.projects() ? 1 : 0);
    Matrix found;
    for (int layer = 0; layer <= pseudoLayer; ++layer) {
        const bool first = layer < rnn.directions();
        const int input = first ? rnn.inputSize : rnn.outputSize() * rnn.directions();
        for (int each = 0; each < count; ++each) {
            found.rows = each == 2 * gates ? rnn.projectedSize : rnn.hiddenSize;
            found.columns = each < gates ? input : each == 2 * gates ? rnn.hiddenSize : rnn.outputSize();
            if (layer == pseudoLayer && each == linear)
                return found;
            found.offset += static_cast<std::size_t>(found.rows) * static_cast<std::size_t>(found.columns);
        }
    }
    return found;
}

std::size_t matrixElements(const RnnDescriptor& rnn)
{
    return matrixOf(rnn, rnn.layers * rnn.directions(), 0).offset;
}

std::size_t biasOffset(const RnnDescriptor& rnn, int pseudoLayer, int linear)
{
    const auto index = static_cast<std::size_t>(pseudoLayer * rnn.biases() + linear);
    return matrixElements(rnn) + index * static_cast<std::size_t>(rnn.hiddenSize);
}

Result makeOpaque(void** out)
{
    *out = std::calloc(1, kOpaqueBytes);
    return *out ? 0 : kBadParam;
}

Result freeOpaque(void* descriptor)
{
    std::free(descriptor);
    return 0;
}

void describe(void* descriptor, int type, int rows, int columns)
{
    auto* tensor = static_cast<TensorDescriptor*>(descriptor);
    *tensor = { type, 3, { 1, rows, columns }, { rows * columns, columns, 1 } };
}

Result oneAlgorithm(int wanted, int* found, void* results, std::size_t resultBytes)
{
    *found = wanted > 0 ? 1 : 0;
    if (wanted > 0)
        std::memset(results, 0, resultBytes);
    return 0;
}

/// cudnnConvolution{Fwd,BwdData,BwdFilter}AlgoPerf_t: algorithm, status, time, memory (8 bytes), and five
/// integers.
constexpr std::size_t kPerformanceBytes = 48;

Result workspace(std::size_t* bytes)
{
    *bytes = machine().settings.cudnnWorkspaceBytes;
    return 0;
}

} // namespace

STRATA_API std::size_t cudnnGetVersion()
{
    const int wanted = machine().settings.cudnnVersion;
    return static_cast<std::size_t>(wanted > 0 ? wanted : kDefaultVersion);
}

STRATA_API std::size_t cudnnGetCudartVersion()
{
    return static_cast<std::size_t>(kCudaVersion);
}

STRATA_API Result cudnnGetProperty(int which, int* value)
{
    const auto version = static_cast<int>(cudnnGetVersion());
    *value = which == 0 ? version / 10000 : which == 1 ? version / 100 % 100 : version % 100;
    return 0;
}

STRATA_API const char* cudnnGetErrorString(Result status)
{
    return status == 0 ? "CUDNN_STATUS_SUCCESS" : "not supported by the simulated device";
}

STRATA_API void cudnnGetLastErrorString(char* text, std::size_t room)
{
    if (room > 0)
        std::snprintf(text, room, "simulated device");
}

STRATA_API Result cudnnCreate(void** handle)
{
    *handle = new DnnHandle;
    return 0;
}

STRATA_API Result cudnnDestroy(void* handle)
{
    delete static_cast<DnnHandle*>(handle);
    return 0;
}

STRATA_API Result cudnnSetStream(void* handle, void* stream)
{
    static_cast<DnnHandle*>(handle)->stream = stream;
    return 0;
}

STRATA_API Result cudnnGetStream(void* handle, void** stream)
{
    *stream = static_cast<DnnHandle*>(handle)->stream;
    return 0;
}

#define STRATA_DESCRIPTOR(kind)                                                                              \
    STRATA_API Result cudnnCreate##kind##Descriptor(void** out)                                              \
    {                                                                                                        \
        return makeOpaque(out);                                                                              \
    }                                                                                                        \
    STRATA_API Result cudnnDestroy##kind##Descriptor(void* descriptor)                                       \
    {                                                                                                        \
        return freeOpaque(descriptor);                                                                       \
    }
STRATA_DESCRIPTOR(Tensor)
STRATA_DESCRIPTOR(Filter)
STRATA_DESCRIPTOR(Convolution)
STRATA_DESCRIPTOR(Pooling)
STRATA_DESCRIPTOR(Activation)
STRATA_DESCRIPTOR(Dropout)
STRATA_DESCRIPTOR(RNNData)
STRATA_DESCRIPTOR(CTCLoss)
STRATA_DESCRIPTOR(SpatialTransformer)
STRATA_DESCRIPTOR(RNN)

STRATA_API Result cudnnSetTensorNdDescriptor(
    void* descriptor, int type, int dims, const int* size, const int* stride)
{
    if (dims > kMaxDims)
        return kBadParam;
    auto* tensor = static_cast<TensorDescriptor*>(descriptor);
    *tensor = { .type = type, .dims = dims };
    std::copy_n(size, dims, tensor->size);
    std::copy_n(stride, dims, tensor->stride);
    return 0;
}

STRATA_API Result cudnnGetTensorNdDescriptor(
    void* descriptor, int wanted, int* type, int* dims, int* size, int* stride)
{
    const auto* tensor = static_cast<const TensorDescriptor*>(descriptor);
    *type = tensor->type;
    *dims = tensor->dims;
    std::copy_n(tensor->size, std::clamp(wanted, 0, tensor->dims), size);
    std::copy_n(tensor->stride, std::clamp(wanted, 0, tensor->dims), stride);
    return 0;
}

STRATA_API Result cudnnSetFilterNdDescriptor(
    void* descriptor, int type, int format, int dims, const int* size)
{
    if (dims > kMaxDims)
        return kBadParam;
    auto* filter = static_cast<TensorDescriptor*>(descriptor);
    *filter = { .type = type, .dims = dims };
    std::copy_n(size, dims, filter->size);
    filter->stride[0] = format;
    return 0;
}

STRATA_API Result cudnnGetFilterNdDescriptor(
    void* descriptor, int wanted, int* type, int* format, int* dims, int* size)
{
    const auto* filter = static_cast<const TensorDescriptor*>(descriptor);
    *type = filter->type;
    if (format)
        *format = filter->stride[0];
    *dims = filter->dims;
    std::copy_n(filter->size, std::clamp(wanted, 0, filter->dims), size);
    return 0;
}

STRATA_API Result cudnnSetDropoutDescriptor(
    void* descriptor, void*, float probability, void*, std::size_t, unsigned long long)
{
    static_cast<DropoutDescriptor*>(descriptor)->probability = probability;
    return 0;
}

STRATA_API Result cudnnRestoreDropoutDescriptor(
    void* descriptor, void*, float probability, void*, std::size_t, unsigned long long)
{
    static_cast<DropoutDescriptor*>(descriptor)->probability = probability;
    return 0;
}

STRATA_API Result cudnnDropoutGetStatesSize(void*, std::size_t* bytes)
{
    *bytes = kDropoutBytesPerMultiprocessor * static_cast<std::size_t>(machine().settings.multiprocessors);
    *bytes = (*bytes + 511) / 512 * 512;
    return 0;
}

STRATA_API Result cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
    void*, int, int, void*, void*, void*, void*, void*, std::size_t* bytes)
{
    *bytes = 0;
    return 0;
}

STRATA_API Result cudnnGetBatchNormalizationBackwardExWorkspaceSize(
    void*, int, int, void*, void*, void*, void*, void*, void*, void*, std::size_t* bytes)
{
    *bytes = 0;
    return 0;
}

STRATA_API Result cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
    void*, int, int, void*, void*, std::size_t* bytes)
{
    *bytes = 0;
    return 0;
}

STRATA_API Result cudnnGetCTCLossWorkspaceSize(
    void*, void*, void*, const int*, const int*, const int*, int, void*, std::size_t* bytes)
{
    return workspace(bytes);
}

STRATA_API Result cudnnGetCTCLossWorkspaceSize_v8(void*, int, void*, void*, void*, std::size_t* bytes)
{
    return workspace(bytes);
}

#define STRATA_CONVOLUTION(kind)                                                                             \
    STRATA_API Result cudnnGetConvolution##kind##WorkspaceSize(                                              \
        void*, void*, void*, void*, void*, int, std::size_t* bytes)                                          \
    {                                                                                                        \
        return workspace(bytes);                                                                             \
    }                                                                                                        \
    STRATA_API Result cudnnGetConvolution##kind##Algorithm_v7(                                               \
        void*, void*, void*, void*, void*, int wanted, int* found, void* results)                            \
    {                                                                                                        \
        return oneAlgorithm(wanted, found, results, kPerformanceBytes);                                      \
    }                                                                                                        \
    STRATA_API Result cudnnFindConvolution##kind##AlgorithmEx(void*, void*, const void*, void*, const void*, \
        void*, void*, void*, int wanted, int* found, void* results, void*, std::size_t)                      \
    {                                                                                                        \
        return oneAlgorithm(wanted, found, results, kPerformanceBytes);                                      \
    }
STRATA_CONVOLUTION(Forward)
STRATA_CONVOLUTION(BackwardData)
STRATA_CONVOLUTION(BackwardFilter)

STRATA_API Result cudnnSetRNNDataDescriptor(
    void* descriptor, int, int, int length, int batch, int width, const int*, void*)
{
    *static_cast<RnnDataDescriptor*>(descriptor) = { length, batch, width };
    return 0;
}

STRATA_API Result cudnnSetRNNDescriptor_v8(void* descriptor, int algorithm, int mode, int bias, int direction,
    int, int type, int, int, int inputSize, int hiddenSize, int projectedSize, int layers, void* dropout,
    unsigned)
{
    static_assert(sizeof(RnnDescriptor) <= kOpaqueBytes);
    auto* rnn = static_cast<RnnDescriptor*>(descriptor);
    rnn->algorithm = algorithm;
    rnn->dropout = dropout && static_cast<const DropoutDescriptor*>(dropout)->probability > 0;
    rnn->mode = mode;
    rnn->bias = bias;
    rnn->bidirectional = direction == 1;
    rnn->type = type;
    rnn->inputSize = inputSize;
    rnn->hiddenSize = hiddenSize;
    rnn->projectedSize = projectedSize;
    rnn->layers = layers;
    return 0;
}

STRATA_API Result cudnnGetRNNWeightSpaceSize(void*, void* descriptor, std::size_t* bytes)
{
    const auto& rnn = *static_cast<const RnnDescriptor*>(descriptor);
    *bytes = biasOffset(rnn, rnn.layers * rnn.directions(), 0) * static_cast<std::size_t>(dnnElementBytes(rnn.type));
    return 0;
}

STRATA_API Result cudnnGetRNNTempSpaceSizes(
    void*, void* descriptor, int training, void* data, std::size_t* work, std::size_t* reserve)
{
    const auto& rnn = *static_cast<const RnnDescriptor*>(descriptor);
    const auto& x = *static_cast<const RnnDataDescriptor*>(data);
    const std::size_t weightElements = biasOffset(rnn, rnn.layers * rnn.directions(), 0);
    const int elementBytes = dnnElementBytes(rnn.type);
    const Recurrence recurrence{ .mode = rnn.mode,
        .persistent = rnn.algorithm != 0,
        .dropout = rnn.dropout,
        .elementBytes = elementBytes,
        .input = rnn.inputSize,
        .hidden = rnn.hiddenSize,
        .projected = rnn.outputSize(),
        .layers = rnn.layers,
        .directions = rnn.directions(),
        .length = x.length,
        .batch = x.batch,
        .weightBytes = static_cast<std::int64_t>(weightElements) * elementBytes };
    if (work) {
        const std::size_t wanted = machine().settings.cudnnWorkspaceBytes;
        *work = wanted > 0 ? wanted : recurrenceWorkspace(recurrence);
    }
    if (reserve)
        *reserve = training ? recurrenceReserve(recurrence) : 0;
    return 0;
}

// Either descriptor, and either address, may be null: LibTorch asks for one at a time.
STRATA_API Result cudnnGetRNNWeightParams(void*, void* descriptor, int pseudoLayer, std::size_t,
    const void* weights, int linear, void* matrixDescriptor, void** matrix, void* biasDescriptor, void** bias)
{
    const auto& rnn = *static_cast<const RnnDescriptor*>(descriptor);
    const auto element = static_cast<std::size_t>(dnnElementBytes(rnn.type));
    const auto place = [&](std::size_t offset) { return pointerTo(addressOf(weights) + offset * element); };
    const int matrices = 2 * rnn.gates() + (rnn.projects() ? 1 : 0);
    const bool hasMatrix = linear < matrices;
    const bool hasBias = linear < rnn.biases();
    const Matrix found = matrixOf(rnn, pseudoLayer, hasMatrix ? linear : 0);
    if (matrixDescriptor) {
        if (hasMatrix)
            describe(matrixDescriptor, rnn.type, found.rows, found.columns);
        else
            *static_cast<TensorDescriptor*>(matrixDescriptor) = {};
    }
    if (matrix)
        *matrix = hasMatrix ? place(found.offset) : nullptr;
    if (biasDescriptor) {
        if (hasBias)
            describe(biasDescriptor, rnn.type, rnn.hiddenSize, 1);
        else
            *static_cast<TensorDescriptor*>(biasDescriptor) = {};
    }
    if (bias)
        *bias = hasBias ? place(biasOffset(rnn, pseudoLayer, linear)) : nullptr;
    return 0;
}

} // namespace strata::simgpu
