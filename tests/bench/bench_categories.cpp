// SPDX-License-Identifier: GPL-3.0-or-later
// How long it takes to tell what the blocks of a recording are for, and what stands on that:
//
//     bench_categories FILE
#include "model/analysis/training/ledger/ledger.h"
#include "model/analysis/training/ledger/module_ledger.h"
#include "model/analysis/training/steps/spikes.h"
#include "model/base/words.h"
#include "model/digest/out_of_memory.h"
#include "model/session/opener.h"

#include <chrono>
#include <cstdio>

using namespace strata;

namespace {

template <class Work> auto timed(const char* what, Work&& work)
{
    const auto before = std::chrono::steady_clock::now();
    auto made = work();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - before;
    std::printf("%-20s %8.1f ms\n", what, took.count());
    return made;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: bench_categories FILE\n");
        return 2;
    }
    const auto session = model::Opener::openAll(argv[1]);
    if (!session) {
        std::fprintf(stderr, "%s\n", session.error().text().c_str());
        return 3;
    }
    for (const model::DeviceTrace& trace : (*session)->devices()) {
        std::printf("device %d: %lld events, %zu blocks, %zu listings\n", trace.device(),
            static_cast<long long>(trace.eventCount()), trace.blocks().size(),
            model::RoleListings::of(trace.recording(), trace.device()).size());
        const model::Clock clock(trace);
        const auto steps = timed("steps", [&] { return model::findTrainingSteps(trace, clock).value(); });
        (void)timed("listed tensors", [&] { return model::ListedTensors::of(trace).value(); });
        const auto categories = timed(
            "categories, all", [&] { return model::Categories::of(trace, clock, steps).value(); });
        std::printf("%-20s %8.1f B a block\n", "memory",
            static_cast<double>(categories.bytesResident())
                / static_cast<double>(std::max<std::size_t>(trace.blocks().size(), 1)));
        const model::EventIndex peak = trace.totals().requestedPeakEvent;
        const auto active = timed("active blocks", [&] { return model::activeBlocks(trace, peak); });
        (void)timed("ledger at the peak",
            [&] { return model::ledgerAt(trace, categories, peak, active, nullptr); });
        (void)timed("modules at the peak", [&] { return model::moduleLedger(trace, categories, active); });
        (void)timed("spikes", [&] { return model::findSpikes(trace, steps); });
    }
    return 0;
}
