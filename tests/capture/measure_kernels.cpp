// SPDX-License-Identifier: GPL-3.0-or-later
// What recording kernels costs: on the thread that launches (our part of it: buffers that are asked for and
// handed back, as CUPTI does from there at worst), on the recorder's own, and in the file. For the file,
// traces of real GPUs may be named: their rows, written as a recording would be.
//
//   measure_kernels [TRACE...]
#include "capture/agent/program/work_rows.h"
#include "model/chunks/chunk_kinds.h"
#include "model/session/opener.h"
#include "model/trace/work.h"
#include "tests/capture/fake_cupti.h"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

namespace {

using namespace strata;
using namespace strata::cupti;
using strata::test::nextRecord;
using Steady = std::chrono::steady_clock;

RequestBuffer g_request = nullptr;
CompleteBuffer g_complete = nullptr;

std::uint64_t ticks()
{
    return static_cast<std::uint64_t>(agent::nowNs());
}
std::uint64_t ticksSafe() noexcept
{
    return ticks();
}

Library fakeLibrary()
{
    Library library;
    library.registerCallbacks = [](RequestBuffer request, CompleteBuffer complete) {
        g_request = request;
        g_complete = complete;
        return 0;
    };
    library.registerClock = [](Clock) { return 0; };
    library.enable = library.disable = [](RecordKind) { return 0; };
    library.flush = [](std::uint32_t) { return 0; };
    library.next = nextRecord;
    library.callName = [](CallDomain, std::uint32_t, const char** name) {
        *name = "cudaLaunchKernel_v7000";
        return 0;
    };
    return library;
}

double nsSince(Steady::time_point began)
{
    return std::chrono::duration<double, std::nano>(Steady::now() - began).count();
}

/// A launch is a record of the kernel and one of the call.
constexpr std::size_t kLaunchBytes = sizeof(KernelRecord) + sizeof(ApiRecord);

std::size_t fill(std::uint8_t* buffer, std::size_t bytes, std::uint32_t& number, std::uint64_t now)
{
    static const char* const kNames[] = { "gemm", "relu", "softmax", "copy_kernel", "layer_norm" };
    std::size_t used = 0;
    for (; used + kLaunchBytes <= bytes; used += kLaunchBytes) {
        KernelRecord kernel;
        kernel.name = kNames[number % 5];
        kernel.start = now + 5'000ULL * number;
        kernel.end = kernel.start + 1'000 + number * 7919 % 2'000; // no two alike, as on a device
        kernel.stream = 7;
        kernel.grid[0] = 1 + static_cast<std::int32_t>(number % 5);
        kernel.correlation = ++number;
        std::memcpy(buffer + used, &kernel, sizeof kernel);
        ApiRecord call;
        call.start = kernel.start - 4'000 - number * 104729 % 900;
        call.end = call.start + 2'000 + number * 1299709 % 500;
        call.correlation = number;
        std::memcpy(buffer + used + sizeof kernel, &call, sizeof call);
    }
    return used;
}

void measureThreads()
{
    const Library library = fakeLibrary();
    Activity& activity = Activity::one();
    if (const std::string why = activity.begin(library, { ticks }); !why.empty())
        std::printf("%s\n", why.c_str());
    agent::Numbers numbers;
    agent::WorkRows rows(numbers, library, activity, [](std::uint32_t) { return 1U; });
    agent::CounterClock clock(ticksSafe);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    clock.read();
    wire::MemorySink sink;
    wire::ChunkWriter writer(sink);
    std::uint32_t launches = 0;
    double lending = 0, turning = 0;
    const std::uint64_t now = ticks();
    for (int round = 0; round < 50; ++round) {
        std::uint8_t* buffer = nullptr;
        std::size_t bytes = 0, most = 0;
        auto began = Steady::now();
        g_request(&buffer, &bytes, &most);
        lending += nsSince(began);
        const std::size_t used = fill(buffer, bytes, launches, now);
        began = Steady::now();
        g_complete(nullptr, 0, buffer, bytes, used);
        lending += nsSince(began);
        began = Steady::now();
        rows.write(clock, writer);
        turning += nsSince(began);
    }
    activity.end();
    std::printf("%u launches, of a record for the kernel and one for the call each:\n"
                "  ours on the thread that launches: %.2f ns a launch\n"
                "  the recorder's thread:            %.0f ns a launch\n"
                "  in the file:                      %.1f B a launch\n",
        launches, lending / launches, turning / launches, double(sink.bytes().size()) / launches);
}

void measureFile(const char* path)
{
    const auto session = model::Opener::openAll(path);
    const model::Work* const work = session ? (*session)->recording().parts.find<model::Work>() : nullptr;
    if (!work)
        return static_cast<void>(std::printf("%s: no trace\n", path));
    model::Recording recording((*session)->recording());
    model::Work& own = recording.parts.get<model::Work>();
    own.ownRecording = true;
    std::size_t kernels = 0;
    for (std::size_t i = 0; i < own.spans.size(); ++i) {
        model::WorkSpan& span = own.spans.edit(i);
        kernels += span.kind == model::WorkKind::Kernel;
        if (span.kind == model::WorkKind::Kernel && span.detail == model::WorkSpan::kNoWorkDetail) {
            span.detail = static_cast<std::uint32_t>(own.kernels.size());
            own.kernels.emplace_back();
        }
        if (span.kind == model::WorkKind::Set && span.detail == model::WorkSpan::kNoWorkDetail) {
            span.detail = static_cast<std::uint32_t>(own.copies.size());
            own.copies.emplace_back();
        }
    }
    wire::MemorySink sink;
    wire::ChunkWriter writer(sink);
    for (const wire::ChunkType type :
        { wire::ChunkType::DeviceWork, wire::ChunkType::WorkCalls, wire::ChunkType::WorkWaits })
        model::chunkKindOf(type)->write(recording, writer);
    std::printf("%s: %zu kernels, %.1f B a kernel with its call, copies, waits and configurations\n", path,
        kernels, kernels == 0 ? 0.0 : double(sink.bytes().size()) / double(kernels));
}

} // namespace

int main(int count, char** words)
{
    measureThreads();
    for (int i = 1; i < count; ++i)
        measureFile(words[i]);
    return 0;
}
