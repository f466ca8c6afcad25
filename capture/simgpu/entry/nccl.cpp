// SPDX-License-Identifier: Apache-2.0
// NCCL, in which every other rank is taken to hold the same values as this one. Small collectives move bytes.
#include "capture/simgpu/entry/activity.h"

#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace strata::simgpu {

namespace {

using api::Result;

constexpr Result kInvalidUsage = 5;

struct Communicator {
    int ranks = 1;
    int rank = 0;
    int device = 0;
};

/// ncclUniqueId travels by value.
struct UniqueId {
    char bytes[128];
};

Communicator& of(void* handle)
{
    return *static_cast<Communicator*>(handle);
}

Result create(void** out, int ranks, int rank)
{
    if (ranks < 1 || rank < 0 || rank >= ranks)
        return 4;
    *out = new Communicator{ ranks, rank, currentDevice() };
    return 0;
}

std::size_t sizeOf(int type)
{
    constexpr unsigned char kSizes[] = { 1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1 };
    return type >= 0 && type < static_cast<int>(sizeof kSizes) ? kSizes[type] : 1;
}

char* at(void* base, std::size_t index, std::size_t bytes)
{
    return static_cast<char*>(base) + index * bytes;
}

const char* at(const void* base, std::size_t index, std::size_t bytes)
{
    return static_cast<const char*>(base) + index * bytes;
}

/// One kernel for a collective, named as NCCL names its own, without the algorithm and protocol that it would
/// choose. A communicator of one rank launches none.
void tellKernel(const char* what, std::size_t bytes, void* communicator, void* stream)
{
    if (!isWorkSeen() || of(communicator).ranks < 2)
        return;
    WorkSize size;
    size.bytes = static_cast<double>(bytes);
    const CountedCollective counted(what, bytes);
    performLibrary(keptName(std::string("ncclDevKernel_") + what), stream, size);
}

void tellReduction(
    const char* what, std::size_t count, int type, int operation, void* communicator, void* stream)
{
    if (!isWorkSeen())
        return;
    constexpr const char* kOperations[] = { "Sum", "Prod", "MinMax", "MinMax", "SumPostDiv" };
    constexpr const char* kTypes[]
        = { "i8", "u8", "i32", "u32", "i64", "u64", "f16", "f32", "f64", "bf16", "f8e4m3", "f8e5m2" };
    const bool isKnown = operation >= 0 && operation < static_cast<int>(std::size(kOperations));
    std::string name = std::string(what) + '_' + (isKnown ? kOperations[operation] : "PreMulSum");
    if (type >= 0 && type < static_cast<int>(std::size(kTypes)))
        name += std::string("_") + kTypes[type];
    tellKernel(name.c_str(), count * sizeOf(type), communicator, stream);
}

/// A broadcast waiting for the end of its group: one from another root gets what this rank sends as root in
/// the same group, since the other rank does the same with the same values.
struct Broadcast {
    const void* from;
    void* to;
    std::size_t bytes;
    int root;
    void* communicator;
    void* stream;
};

/// Sends and receives of a group share one kernel.
struct Exchange {
    std::size_t bytes = 0;
    void* communicator = nullptr;
    void* stream = nullptr;
};

thread_local int t_groupDepth = 0;
thread_local std::vector<Broadcast> t_broadcasts;
thread_local Exchange t_exchange;

void runExchange()
{
    if (t_exchange.communicator)
        tellKernel("SendRecv", t_exchange.bytes, t_exchange.communicator, t_exchange.stream);
    t_exchange = {};
}

void exchange(std::size_t bytes, void* communicator, void* stream)
{
    t_exchange = { t_exchange.bytes + bytes, communicator, stream };
    if (t_groupDepth == 0)
        runExchange();
}

void runBroadcasts()
{
    for (const Broadcast& wanted : t_broadcasts) {
        tellKernel("Broadcast", wanted.bytes, wanted.communicator, wanted.stream);
        const int me = of(wanted.communicator).rank;
        if (wanted.root == me) {
            machine().copy(wanted.to, wanted.from, wanted.bytes);
            continue;
        }
        for (const Broadcast& mine : t_broadcasts) {
            if (mine.communicator != wanted.communicator || mine.bytes != wanted.bytes || mine.root != me)
                continue;
            machine().copy(wanted.to, mine.from ? mine.from : mine.to, wanted.bytes);
            break;
        }
    }
    t_broadcasts.clear();
}

constexpr int kNextSplit = -1;

/// How many ranks share a colour, where somebody knows; colours need not differ between splits.
std::map<int, int>& splitSizes()
{
    static auto* const sizes = new std::map<int, int>;
    return *sizes;
}

} // namespace

/// For whoever knows how a program groups its ranks: `size` of them share `color`, or the colour of the next
/// split when it is -1.
STRATA_API void strata_simgpu_split_size(int color, int size)
{
    const auto lock = locked();
    splitSizes().erase(kNextSplit);
    splitSizes()[color] = size;
}

STRATA_API Result ncclGetVersion(int* version)
{
    *version = 23007;
    return 0;
}

STRATA_API const char* ncclGetErrorString(Result status)
{
    return status == 0 ? "no error" : "not supported by the simulated device";
}

STRATA_API const char* ncclGetLastError(void*)
{
    return "";
}

STRATA_API Result ncclGetUniqueId(UniqueId* id)
{
    std::memset(id, 7, sizeof *id);
    return 0;
}

STRATA_API Result ncclCommInitRank(void** out, int ranks, UniqueId, int rank)
{
    return create(out, ranks, rank);
}

STRATA_API Result ncclCommInitRankConfig(void** out, int ranks, UniqueId, int rank, void*)
{
    return create(out, ranks, rank);
}

STRATA_API Result ncclCommInitRankScalable(void** out, int ranks, int rank, int, UniqueId*, void*)
{
    return create(out, ranks, rank);
}

STRATA_API Result ncclCommInitAll(void** out, int count, const int*)
{
    for (int i = 0; i < count; ++i)
        create(out + i, count, i);
    return 0;
}

// Which ranks share a colour is known to the other ranks alone: all of them are taken to, unless it was told.
// PyTorch passes the rank within the new group as the key.
STRATA_API Result ncclCommSplit(void* parent, int color, int key, void** out, void*)
{
    *out = nullptr;
    if (color < 0)
        return 0;
    const auto lock = locked();
    auto& sizes = splitSizes();
    auto told = sizes.find(kNextSplit);
    if (told != sizes.end()) {
        sizes[color] = told->second;
        sizes.erase(told);
    }
    told = sizes.find(color);
    if (told != sizes.end() && key >= 0 && key < told->second)
        return create(out, told->second, key);
    return create(out, of(parent).ranks, of(parent).rank);
}

STRATA_API Result ncclCommDestroy(void* communicator)
{
    delete static_cast<Communicator*>(communicator);
    return 0;
}

STRATA_API Result ncclCommAbort(void* communicator)
{
    return ncclCommDestroy(communicator);
}

STRATA_API Result ncclCommFinalize(void*)
{
    return 0;
}

STRATA_API Result ncclCommCount(void* communicator, int* count)
{
    *count = of(communicator).ranks;
    return 0;
}

STRATA_API Result ncclCommUserRank(void* communicator, int* rank)
{
    *rank = of(communicator).rank;
    return 0;
}

STRATA_API Result ncclCommCuDevice(void* communicator, int* device)
{
    *device = of(communicator).device;
    return 0;
}

STRATA_API Result ncclCommGetAsyncError(void*, Result* status)
{
    *status = 0;
    return 0;
}

STRATA_API Result ncclCommRegister(void*, void* buffer, std::size_t, void** handle)
{
    *handle = buffer;
    return 0;
}

STRATA_API Result ncclCommDeregister(void*, void*)
{
    return 0;
}

STRATA_API Result ncclCommMemStats(void*, int, std::uint64_t* value)
{
    *value = 0;
    return 0;
}

STRATA_API Result ncclMemAlloc(void** out, std::size_t bytes)
{
    const auto lock = locked();
    Address address = 0;
    const Status status = machine().memory.allocate(currentDevice(), bytes, address);
    *out = pointerTo(address);
    return status == Status::Ok ? 0 : 1;
}

STRATA_API Result ncclMemFree(void* pointer)
{
    const auto lock = locked();
    return machine().memory.release(addressOf(pointer)) == Status::Ok ? 0 : kInvalidUsage;
}

STRATA_API Result ncclRedOpCreatePreMulSum(int* operation, void*, int, int, void*)
{
    constexpr int kFirstOwn = 5;
    *operation = kFirstOwn;
    return 0;
}

STRATA_API Result ncclRedOpDestroy(int, void*)
{
    return 0;
}

STRATA_API Result ncclGroupStart()
{
    ++t_groupDepth;
    return 0;
}

STRATA_API Result ncclGroupEnd()
{
    if (t_groupDepth == 0)
        return kInvalidUsage;
    if (--t_groupDepth == 0) {
        runBroadcasts();
        runExchange();
    }
    return 0;
}

STRATA_API Result ncclAllGather(
    const void* from, void* to, std::size_t count, int type, void* communicator, void* stream)
{
    const std::size_t bytes = count * sizeOf(type);
    tellKernel("AllGather", bytes, communicator, stream);
    if (bytes > Machine::kRealBytes)
        return 0;
    for (int rank = 0; rank < of(communicator).ranks; ++rank)
        machine().copy(at(to, static_cast<std::size_t>(rank), bytes), from, bytes);
    return 0;
}

STRATA_API Result ncclAllReduce(
    const void* from, void* to, std::size_t count, int type, int operation, void* communicator, void* stream)
{
    tellReduction("AllReduce", count, type, operation, communicator, stream);
    machine().copy(to, from, count * sizeOf(type));
    return 0;
}

STRATA_API Result ncclReduce(const void* from, void* to, std::size_t count, int type, int operation, int,
    void* communicator, void* stream)
{
    tellReduction("Reduce", count, type, operation, communicator, stream);
    machine().copy(to, from, count * sizeOf(type));
    return 0;
}

STRATA_API Result ncclReduceScatter(
    const void* from, void* to, std::size_t count, int type, int operation, void* communicator, void* stream)
{
    tellReduction("ReduceScatter", count, type, operation, communicator, stream);
    const std::size_t bytes = count * sizeOf(type);
    machine().copy(to, at(from, static_cast<std::size_t>(of(communicator).rank), bytes), bytes);
    return 0;
}

STRATA_API Result ncclBroadcast(
    const void* from, void* to, std::size_t count, int type, int root, void* communicator, void* stream)
{
    t_broadcasts.push_back({ from, to, count * sizeOf(type), root, communicator, stream });
    if (t_groupDepth == 0)
        runBroadcasts();
    return 0;
}

STRATA_API Result ncclBcast(
    void* buffer, std::size_t count, int type, int root, void* communicator, void* stream)
{
    return ncclBroadcast(buffer, buffer, count, type, root, communicator, stream);
}

STRATA_API Result ncclSend(const void*, std::size_t count, int type, int, void* communicator, void* stream)
{
    exchange(count * sizeOf(type), communicator, stream);
    return 0;
}

STRATA_API Result ncclRecv(void*, std::size_t count, int type, int, void* communicator, void* stream)
{
    exchange(count * sizeOf(type), communicator, stream);
    return 0;
}

STRATA_API Result ncclAlltoAll(
    const void* from, void* to, std::size_t count, int type, void* communicator, void* stream)
{
    const std::size_t bytes = count * sizeOf(type);
    tellKernel("SendRecv", bytes * static_cast<std::size_t>(of(communicator).ranks), communicator, stream);
    const auto mine = static_cast<std::size_t>(of(communicator).rank);
    for (int rank = 0; rank < of(communicator).ranks; ++rank)
        machine().copy(at(to, static_cast<std::size_t>(rank), bytes), at(from, mine, bytes), bytes);
    return 0;
}

STRATA_API Result ncclGather(
    const void* from, void* to, std::size_t count, int type, int root, void* communicator, void* stream)
{
    const std::size_t bytes = count * sizeOf(type);
    tellKernel("SendRecv", bytes, communicator, stream);
    for (int rank = 0; root == of(communicator).rank && rank < of(communicator).ranks; ++rank)
        machine().copy(at(to, static_cast<std::size_t>(rank), bytes), from, bytes);
    return 0;
}

} // namespace strata::simgpu
