// SPDX-License-Identifier: Apache-2.0
// cuDNN's graph interface: descriptors that keep what is set and give it back, and one engine that can do
// everything. What it asks LibTorch to lay aside follows from the operations: machine/workspaces.h.
#include "capture/simgpu/entry/activity.h"
#include "capture/simgpu/machine/workspaces.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace strata::simgpu {

STRATA_API api::Result cudnnGetStream(void* handle, void** stream);

namespace {

using api::Result;

enum Kind {
    kForward = 10,
    kFilterGradient = 11,
    kDataGradient = 12,
    kMatmul = 19,
    kAttention = 41,
};

enum Attribute {
    kConvolutionStrides = 103,
    kConvolutionPadding = 104,
    kHeuristicGraph = 201,
    kHeuristicResults = 202,
    kConfigEngine = 300,
    kConfigIntermediates = 301,
    kConfigKnobs = 302,
    kConfigWorkspace = 303,
    kConfigShared = 304,
    kPlanConfig = 401,
    kPlanWorkspace = 402,
    kForwardConvolution = 702, ///< then filters, input, output
    kDataGradientConvolution = 708,
    kFilterGradientConvolution = 714,
    kGraphOperations = 801,
    kGraphEngineCount = 802,
    kTensorType = 901,
    kTensorSize = 902,
    kTensorStride = 903,
    kEngineGraph = 1300,
    kEngineIndex = 1301,
    kEngineKnobs = 1302,
    kEngineNumericalNotes = 1303,
    kEngineLayouts = 1304,
    kEngineBehaviorNotes = 1305,
};

/// Bytes of one element of cudnnBackendAttributeType_t.
std::size_t elementSize(int type)
{
    switch (type) {
    case 0: // handle, int64, double, pointers, descriptors
    case 3:
    case 5:
    case 6:
    case 15:
        return 8;
    case 2:
    case 24:
        return 1;
    case 26:
        return 16;
    default:
        return 4;
    }
}

struct Contents;

struct Value {
    std::int64_t count = 0;
    std::vector<char> bytes;
    std::vector<std::shared_ptr<const Contents>>
        descriptors; ///< where the value is some: they may go before who names them

    std::vector<std::int64_t> integers() const
    {
        std::vector<std::int64_t> out(bytes.size() / sizeof(std::int64_t));
        std::memcpy(out.data(), bytes.data(), out.size() * sizeof(std::int64_t));
        return out;
    }
};

struct Contents {
    int kind = 0;
    std::map<int, Value> values;
    std::shared_ptr<const Contents> graph; ///< that a result of a heuristic is for

    const Value* find(int attribute) const
    {
        const auto found = values.find(attribute);
        return found == values.end() ? nullptr : &found->second;
    }
    /// The first descriptor of a value.
    std::shared_ptr<const Contents> descriptor(int attribute) const
    {
        const Value* value = find(attribute);
        return value && !value->descriptors.empty() ? value->descriptors.front() : nullptr;
    }
};

struct Descriptor {
    std::shared_ptr<Contents> contents = std::make_shared<Contents>();
};

constexpr int kDescriptorType = 15; ///< of cudnnBackendAttributeType_t

DnnTensor tensorOf(const std::shared_ptr<const Contents>& contents)
{
    const auto integers = [&](int attribute) {
        const Value* value = contents ? contents->find(attribute) : nullptr;
        return value ? value->integers() : std::vector<std::int64_t>();
    };
    return { integers(kTensorSize), integers(kTensorStride) };
}

/// Bytes of an element of a tensor, 0 for types that are no floating point.
int elementBytesOf(const std::shared_ptr<const Contents>& tensor)
{
    const Value* value = tensor ? tensor->find(kTensorType) : nullptr;
    int type = -1;
    if (value && value->bytes.size() >= sizeof type)
        std::memcpy(&type, value->bytes.data(), sizeof type);
    return dnnElementBytes(type);
}

/// `first` is the attribute of the convolution; filters, input and output follow it.
std::uint64_t workspaceOf(const Contents& operation, Convolution::Pass pass, int first)
{
    const auto shape = operation.descriptor(first);
    if (!shape)
        return 0;
    Convolution convolution;
    convolution.pass = pass;
    convolution.elementBytes = elementBytesOf(operation.descriptor(first + 2));
    convolution.w = tensorOf(operation.descriptor(first + 1));
    convolution.x = tensorOf(operation.descriptor(first + 2));
    convolution.y = tensorOf(operation.descriptor(first + 3));
    if (const Value* stride = shape->find(kConvolutionStrides))
        convolution.stride = stride->integers();
    if (const Value* padding = shape->find(kConvolutionPadding))
        convolution.padding = padding->integers();
    const Settings& settings = machine().settings;
    return convolutionWorkspace(convolution, settings.computeMajor * 10 + settings.computeMinor);
}

std::uint64_t workspaceOf(const std::shared_ptr<const Contents>& graph)
{
    const Value* operations = graph ? graph->find(kGraphOperations) : nullptr;
    std::uint64_t most = machine().settings.cudnnWorkspaceBytes;
    if (!operations || most > 0)
        return most;
    for (const auto& operation : operations->descriptors) {
        using Pass = Convolution::Pass;
        std::uint64_t bytes = 0;
        switch (operation->kind) {
        case kForward:
            bytes = workspaceOf(*operation, Pass::Forward, kForwardConvolution);
            break;
        case kDataGradient:
            bytes = workspaceOf(*operation, Pass::DataGradient, kDataGradientConvolution);
            break;
        case kFilterGradient:
            bytes = workspaceOf(*operation, Pass::FilterGradient, kFilterGradientConvolution);
            break;
        case kMatmul:
        case kAttention:
            bytes = kAttentionWorkspace;
            break;
        default:
            break;
        }
        most = std::max(most, bytes);
    }
    return most;
}

/// The graph that a plan, a configuration, an engine or a heuristic is for.
std::shared_ptr<const Contents> graphOf(std::shared_ptr<const Contents> contents)
{
    while (contents && !contents->graph) {
        std::shared_ptr<const Contents> next;
        for (const int attribute : { kPlanConfig, kConfigEngine, kEngineGraph, kHeuristicGraph }) {
            if (!next)
                next = contents->descriptor(attribute);
        }
        if (!next)
            return contents->find(kGraphOperations) ? contents : nullptr;
        contents = next;
    }
    return contents ? contents->graph : nullptr;
}

double elements(const std::vector<std::int64_t>& size, std::size_t from = 0)
{
    double count = size.size() > from ? 1 : 0;
    for (std::size_t i = from; i < size.size(); ++i)
        count *= static_cast<double>(size[i]);
    return count;
}

NumberType numberTypeOf(const std::shared_ptr<const Contents>& tensor)
{
    switch (elementBytesOf(tensor)) {
    case 2:
        return NumberType::Float16;
    case 4:
        return NumberType::TensorFloat32; // what LibTorch lets cuDNN do unless told otherwise
    case 8:
        return NumberType::Float64;
    default:
        return NumberType::Unknown;
    }
}

struct NamedWork {
    std::string name;
    WorkSize size;
};

/// `first` is the attribute of the convolution; filters, input and output follow it.
NamedWork convolutionWork(const char* name, const Contents& operation, int first)
{
    const auto input = operation.descriptor(first + 2);
    const DnnTensor w = tensorOf(operation.descriptor(first + 1));
    const DnnTensor x = tensorOf(input);
    const DnnTensor y = tensorOf(operation.descriptor(first + 3));
    NamedWork work{ name, {} };
    work.size.type = numberTypeOf(input);
    work.size.flops = 2 * elements(y.size) * elements(w.size, 1);
    work.size.bytes = (elements(x.size) + elements(w.size) + elements(y.size)) * elementBytesOf(input);
    for (const auto* tensor : { &x, &w }) {
        char separator = '_';
        for (const std::int64_t size : tensor->size) {
            work.name += separator + std::to_string(size);
            separator = 'x';
        }
    }
    return work;
}

/// What a graph is, by the operation of it that computes most; its name alone where none of them is
/// understood.
NamedWork workOf(const std::shared_ptr<const Contents>& graph)
{
    NamedWork most{ "cudnn_graph", {} };
    const Value* operations = graph ? graph->find(kGraphOperations) : nullptr;
    if (!operations)
        return most;
    for (const auto& operation : operations->descriptors) {
        NamedWork work;
        switch (operation->kind) {
        case kForward:
            work = convolutionWork("cudnn_convolution_fprop", *operation, kForwardConvolution);
            break;
        case kDataGradient:
            work = convolutionWork("cudnn_convolution_dgrad", *operation, kDataGradientConvolution);
            break;
        case kFilterGradient:
            work = convolutionWork("cudnn_convolution_wgrad", *operation, kFilterGradientConvolution);
            break;
        case kMatmul:
            work.name = "cudnn_attention_matmul";
            break;
        case kAttention:
            work.name = "cudnn_attention";
            break;
        default:
            continue;
        }
        if (most.size.flops <= work.size.flops)
            most = std::move(work);
    }
    return most;
}

/// The caller made the descriptors that come back: the first stands for the one engine.
void giveResults(const Contents& from, int attribute, std::int64_t wanted, void* elements)
{
    if (!elements || wanted < 1)
        return;
    void* given = nullptr;
    std::memcpy(&given, elements, sizeof given);
    if (!given)
        return;
    const std::shared_ptr<const Contents> graph = attribute == kHeuristicResults
        ? graphOf(from.descriptor(kHeuristicGraph))
        : from.graph ? from.graph
                     : graphOf(from.descriptor(kConfigEngine));
    static_cast<Descriptor*>(given)->contents->graph = graph;
}

Result giveCount(std::int64_t count, std::int64_t* out)
{
    if (out)
        *out = count;
    return 0;
}

Result giveInteger(std::int64_t value, std::int64_t wanted, std::int64_t* count, void* out)
{
    if (out && wanted > 0)
        std::memcpy(out, &value, sizeof value);
    return giveCount(1, count);
}

} // namespace

STRATA_API Result cudnnBackendCreateDescriptor(int kind, void** out)
{
    auto* made = new Descriptor;
    made->contents->kind = kind;
    *out = made;
    return 0;
}

STRATA_API Result cudnnBackendDestroyDescriptor(void* descriptor)
{
    delete static_cast<Descriptor*>(descriptor);
    return 0;
}

STRATA_API Result cudnnBackendInitialize(void*)
{
    return 0;
}

STRATA_API Result cudnnBackendFinalize(void*)
{
    return 0;
}

STRATA_API Result cudnnBackendExecute(void* handle, void* plan, void*)
{
    if (!isWorkSeen())
        return 0;
    void* stream = nullptr;
    cudnnGetStream(handle, &stream);
    const NamedWork work = workOf(graphOf(static_cast<Descriptor*>(plan)->contents));
    performLibrary(keptName(work.name), stream, work.size);
    return 0;
}

STRATA_API Result cudnnBackendSetAttribute(
    void* descriptor, int attribute, int type, std::int64_t count, const void* elements)
{
    Value& value = static_cast<Descriptor*>(descriptor)->contents->values[attribute];
    value.count = count;
    value.bytes.assign(static_cast<std::size_t>(count) * elementSize(type), 0);
    value.descriptors.clear();
    if (!elements || count <= 0)
        return 0;
    std::memcpy(value.bytes.data(), elements, value.bytes.size());
    if (type != kDescriptorType)
        return 0;
    for (std::int64_t i = 0; i < count; ++i) {
        if (const auto* named = static_cast<Descriptor* const*>(elements)[i])
            value.descriptors.push_back(named->contents);
    }
    return 0;
}

STRATA_API Result cudnnBackendGetAttribute(
    void* descriptor, int attribute, int type, std::int64_t wanted, std::int64_t* count, void* elements)
{
    const std::shared_ptr<const Contents> contents = static_cast<Descriptor*>(descriptor)->contents;
    switch (attribute) {
    case kHeuristicResults:
    case kConfigEngine:
        giveResults(*contents, attribute, wanted, elements);
        return giveCount(1, count);
    case kConfigWorkspace:
    case kPlanWorkspace:
        return giveInteger(
            static_cast<std::int64_t>(workspaceOf(graphOf(contents))), wanted, count, elements);
    case kConfigShared:
    case kEngineIndex:
        return giveInteger(0, wanted, count, elements);
    case kGraphEngineCount:
        return giveInteger(1, wanted, count, elements);
    case kConfigIntermediates:
    case kConfigKnobs:
    case kEngineKnobs:
    case kEngineNumericalNotes:
    case kEngineLayouts:
    case kEngineBehaviorNotes:
        return giveCount(0, count);
    default:
        break;
    }
    const Value* found = contents->find(attribute);
    if (!found) {
        if (elements && wanted > 0)
            std::memset(elements, 0, elementSize(type));
        return giveCount(0, count);
    }
    if (elements && wanted > 0) {
        const std::size_t room = static_cast<std::size_t>(wanted) * elementSize(type);
        std::memcpy(elements, found->bytes.data(), std::min(room, found->bytes.size()));
    }
    return giveCount(found->count, count);
}

} // namespace strata::simgpu
