// SPDX-License-Identifier: Apache-2.0
// CUPTI: the activity interface, over what the calls of the runtime, the driver and the libraries tell
// (activity.h), and one subscriber, whose callbacks are never called: what they would tell of happens before
// anybody can subscribe.
#include "capture/simgpu/entry/activity.h"
#include "capture/simgpu/entry/driver.h"

#include <algorithm>
#include <map>
#include <vector>

namespace strata::simgpu {

namespace {

using api::Result;
using cupti::RecordKind;

enum CuptiStatus : Result {
    kSuccess = 0,
    kInvalidParameter = 1,
    kInvalidOperation = 7,
    kTooSmall = 10,
    kMaxLimitReached = 12,
    kQueueEmpty = 18,
    kInvalidKind = 21,
    kNotSupported = 27,
    kInsufficientPrivileges = 35,
    kLegacyNotSupported = 38,
    kMultipleSubscribers = 39,
};

struct Text {
    Result status;
    const char* text;
};

constexpr Text kTexts[] = {
    { kSuccess, "CUPTI_SUCCESS" },
    { kInvalidParameter, "CUPTI_ERROR_INVALID_PARAMETER" },
    { kInvalidOperation, "CUPTI_ERROR_INVALID_OPERATION" },
    { kTooSmall, "CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT" },
    { kMaxLimitReached, "CUPTI_ERROR_MAX_LIMIT_REACHED" },
    { kQueueEmpty, "CUPTI_ERROR_QUEUE_EMPTY" },
    { kInvalidKind, "CUPTI_ERROR_INVALID_KIND" },
    { kNotSupported, "CUPTI_ERROR_NOT_SUPPORTED" },
    { kInsufficientPrivileges, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES" },
    { kLegacyNotSupported, "CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED" },
    { kMultipleSubscribers, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" },
};

struct Subscriber {
    void* callback;
    void* data;
};
std::atomic<Subscriber*> g_subscriber{ nullptr };

enum Domain {
    kDriverDomain = 1,
    kRuntimeDomain = 2,
    kResourceDomain = 3,
    kSynchronizeDomain = 4,
    kNvtxDomain = 5
};

/// Attributes are kept and given back: none of them changes what a simulated device tells.
struct Attributes {
    std::mutex mutex;
    std::map<int, std::vector<unsigned char>> values;
};

Attributes& attributes()
{
    static auto* const all = new Attributes;
    return *all;
}

bool isKnown(std::uint32_t domain)
{
    return domain >= kDriverDomain && domain <= kNvtxDomain;
}

} // namespace

STRATA_API Result cuptiGetVersion(std::uint32_t* version)
{
    if (!version)
        return kInvalidParameter;
    *version = STRATA_CUDA_MAJOR >= 13 ? 130500 : 28; // whose records layout/records.h has
    return kSuccess;
}

STRATA_API Result cuptiGetResultString(Result status, const char** text)
{
    if (!text)
        return kInvalidParameter;
    const auto* found = std::find_if(
        std::begin(kTexts), std::end(kTexts), [=](const Text& each) { return each.status == status; });
    *text = found == std::end(kTexts) ? "CUPTI_ERROR_UNKNOWN" : found->text;
    return found == std::end(kTexts) ? kInvalidParameter : kSuccess;
}

STRATA_API Result cuptiGetTimestamp(std::uint64_t* time)
{
    if (!time)
        return kInvalidParameter;
    *time = activityLog().now();
    return kSuccess;
}

STRATA_API Result cuptiGetDeviceId(void* context, std::uint32_t* device)
{
    if (!device)
        return kInvalidParameter;
    *device = context ? static_cast<std::uint32_t>(addressOf(context) - addressOf(contextOf(0)))
                      : static_cast<std::uint32_t>(currentDevice());
    return kSuccess;
}

STRATA_API Result cuptiActivityRegisterCallbacks(
    ActivityLog::RequestBuffer request, ActivityLog::CompleteBuffer complete)
{
    if (!request || !complete)
        return kInvalidParameter;
    activityLog().lend(request, complete);
    return kSuccess;
}

STRATA_API Result cuptiActivityRegisterTimestampCallback(ActivityLog::Clock clock)
{
    setActivityClock(clock);
    return kSuccess;
}

STRATA_API Result cuptiActivityEnable(RecordKind kind)
{
    if (machine().settings.profilersDenied)
        return kInsufficientPrivileges;
    return activityLog().want(kind, true) ? kSuccess : kInvalidKind;
}

STRATA_API Result cuptiActivityDisable(RecordKind kind)
{
    return activityLog().want(kind, false) ? kSuccess : kInvalidKind;
}

STRATA_API Result cuptiActivityEnableRuntimeApi(std::uint32_t call, std::uint8_t enable)
{
    activityLog().wantCall(false, call, enable != 0);
    return kSuccess;
}

STRATA_API Result cuptiActivityEnableDriverApi(std::uint32_t call, std::uint8_t enable)
{
    activityLog().wantCall(true, call, enable != 0);
    return kSuccess;
}

STRATA_API Result cuptiActivityEnableCudaEventDeviceTimestamps(std::uint8_t)
{
    return kSuccess; // always told
}

STRATA_API Result cuptiActivityFlushAll(std::uint32_t)
{
    activityLog().flush();
    return kSuccess;
}

STRATA_API Result cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, std::uint8_t** record)
{
    if (!buffer || !record)
        return kInvalidParameter;
    std::uint8_t* next = buffer;
    if (*record) {
        RecordKind kind{};
        std::memcpy(&kind, *record, sizeof kind);
        const std::size_t bytes = cupti::recordBytes(kind);
        if (bytes == 0)
            return kInvalidKind;
        next = *record + bytes;
    }
    if (next >= buffer + valid)
        return kMaxLimitReached;
    *record = next;
    return kSuccess;
}

STRATA_API Result cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped)
{
    if (!dropped)
        return kInvalidParameter;
    *dropped = activityLog().takeDropped();
    return kSuccess;
}

STRATA_API Result cuptiActivityPushExternalCorrelationId(std::uint32_t kind, std::uint64_t id)
{
    pushExternal(kind, id);
    return kSuccess;
}

STRATA_API Result cuptiActivityPopExternalCorrelationId(std::uint32_t kind, std::uint64_t* last)
{
    std::uint64_t id = 0;
    if (!popExternal(kind, id))
        return kQueueEmpty;
    if (last)
        *last = id;
    return kSuccess;
}

STRATA_API Result cuptiActivitySetAttribute(int attribute, std::size_t* bytes, void* value)
{
    if (!bytes || !value)
        return kInvalidParameter;
    const auto* from = static_cast<const unsigned char*>(value);
    const std::lock_guard lock(attributes().mutex);
    attributes().values[attribute].assign(from, from + *bytes);
    return kSuccess;
}

STRATA_API Result cuptiActivityGetAttribute(int attribute, std::size_t* bytes, void* value)
{
    if (!bytes || !value)
        return kInvalidParameter;
    const std::lock_guard lock(attributes().mutex);
    const auto found = attributes().values.find(attribute);
    if (found == attributes().values.end())
        return kInvalidParameter;
    if (*bytes < found->second.size())
        return kTooSmall;
    *bytes = found->second.size();
    std::copy(found->second.begin(), found->second.end(), static_cast<unsigned char*>(value));
    return kSuccess;
}

STRATA_API Result cuptiSubscribe(void** subscriber, void* callback, void* data)
{
    if (!subscriber)
        return kInvalidParameter;
    auto* made = new Subscriber{ callback, data };
    Subscriber* none = nullptr;
    if (!g_subscriber.compare_exchange_strong(none, made)) {
        delete made;
        return kMultipleSubscribers;
    }
    *subscriber = made;
    return kSuccess;
}

STRATA_API Result cuptiUnsubscribe(void* subscriber)
{
    auto* expected = static_cast<Subscriber*>(subscriber);
    if (!expected || !g_subscriber.compare_exchange_strong(expected, nullptr))
        return kInvalidParameter;
    delete static_cast<Subscriber*>(subscriber);
    return kSuccess;
}

STRATA_API Result cuptiEnableDomain(std::uint32_t, void* subscriber, std::uint32_t domain)
{
    return subscriber == g_subscriber.load() && isKnown(domain) ? kSuccess : kInvalidParameter;
}

STRATA_API Result cuptiEnableCallback(std::uint32_t, void* subscriber, std::uint32_t domain, std::uint32_t)
{
    return subscriber == g_subscriber.load() && isKnown(domain) ? kSuccess : kInvalidParameter;
}

STRATA_API Result cuptiGetCallbackName(std::uint32_t domain, std::uint32_t call, const char** name)
{
    if (!name || (domain != kDriverDomain && domain != kRuntimeDomain) || call == 0 || call >= kDriverCalls)
        return kInvalidParameter;
    *name = nameOf(static_cast<Api>(domain == kDriverDomain ? kDriverCalls + call : call));
    return *name ? kSuccess : kInvalidParameter;
}

STRATA_API Result cuptiFinalize()
{
    for (std::uint32_t kind = 1; kind < cupti::kKinds; ++kind)
        activityLog().want(static_cast<RecordKind>(kind), false);
    activityLog().flush();
    delete g_subscriber.exchange(nullptr);
    return kSuccess;
}

/// Not of CUPTI: how many records of each kind were made, for tests of its clients.
STRATA_API void strata_simgpu_activity_counts(std::uint64_t* counts, std::uint32_t kinds)
{
    for (std::uint32_t kind = 0; kind < std::min(kinds, cupti::kKinds); ++kind)
        counts[kind] = activityLog().made(kind);
}

} // namespace strata::simgpu
