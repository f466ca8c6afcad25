// SPDX-License-Identifier: Apache-2.0
// cuDNN's graph interface: descriptors that keep what is set and give it back, and one engine that can do
// everything.
#include "capture/simgpu/entry/process.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

namespace strata::simgpu {

namespace {

using api::Result;

enum Attribute {
    kHeuristicResults = 202,
    kConfigEngine = 300,
    kConfigIntermediates = 301,
    kConfigKnobs = 302,
    kConfigWorkspace = 303,
    kConfigShared = 304,
    kPlanWorkspace = 402,
    kGraphEngineCount = 802,
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

struct Value {
    std::int64_t count = 0;
    std::vector<char> bytes;
};

struct Descriptor {
    std::map<int, Value> values;
};

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

STRATA_API Result cudnnBackendCreateDescriptor(int, void** out)
{
    *out = new Descriptor;
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

STRATA_API Result cudnnBackendExecute(void*, void*, void*)
{
    return 0;
}

STRATA_API Result cudnnBackendSetAttribute(
    void* descriptor, int attribute, int type, std::int64_t count, const void* elements)
{
    Value& value = static_cast<Descriptor*>(descriptor)->values[attribute];
    value.count = count;
    value.bytes.assign(static_cast<std::size_t>(count) * elementSize(type), 0);
    if (elements && count > 0)
        std::memcpy(value.bytes.data(), elements, value.bytes.size());
    return 0;
}

STRATA_API Result cudnnBackendGetAttribute(
    void* descriptor, int attribute, int type, std::int64_t wanted, std::int64_t* count, void* elements)
{
    switch (attribute) {
    case kHeuristicResults: // the caller made the descriptors that come back: they stand for the one engine
    case kConfigEngine:
        return giveCount(1, count);
    case kConfigWorkspace:
    case kPlanWorkspace:
        return giveInteger(
            static_cast<std::int64_t>(machine().settings.cudnnWorkspaceBytes), wanted, count, elements);
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
    const auto& values = static_cast<Descriptor*>(descriptor)->values;
    const auto found = values.find(attribute);
    if (found == values.end()) {
        if (elements && wanted > 0)
            std::memset(elements, 0, elementSize(type));
        return giveCount(0, count);
    }
    if (elements && wanted > 0) {
        const std::size_t room = static_cast<std::size_t>(wanted) * elementSize(type);
        std::memcpy(elements, found->second.bytes.data(), std::min(room, found->second.bytes.size()));
    }
    return giveCount(found->second.count, count);
}

} // namespace strata::simgpu
