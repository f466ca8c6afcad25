// SPDX-License-Identifier: GPL-3.0-or-later
// Time of the analyses of a training over sessions that are made to be slow for them, at one size and at four
// times that: each grows about fourfold, or somebody can have a small file keep a window busy for ever.
//
//     bench_crafted [CASE [SIZE]]
#include "model/analysis/training/leaks/leaks.h"
#include "model/analysis/training/ledger/ledger.h"
#include "model/analysis/training/ledger/module_ledger.h"
#include "model/analysis/training/steps/spikes.h"
#include "model/digest/out_of_memory.h"
#include "model/session/session.h"
#include "model/trace/program/roles.h"
#include "tests/bench/cpu_time.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

using namespace strata;
using namespace strata::model;

namespace {

/// A recording, written event by event.
class Maker {
public:
    Maker()
        : m_recording(std::make_unique<Recording>())
    {
        m_recording->format = "crafted";
        m_recording->devices.emplace_back();
        m_recording->devices.back().device = 0;
    }

    std::uint64_t alloc(std::int64_t bytes, EventPhase phase = EventPhase::Grad, StackId stack = {},
        ModuleIndex module = kNoIndex)
    {
        const std::uint64_t address = m_next += 1 << 21;
        allocAt(address, bytes, phase, stack, module);
        return address;
    }
    void allocAt(std::uint64_t address, std::int64_t bytes, EventPhase phase = EventPhase::Grad,
        StackId stack = {}, ModuleIndex module = kNoIndex)
    {
        add(Action::Alloc, address, bytes, phase, stack, module);
    }
    void free(std::uint64_t address, std::int64_t bytes, EventPhase phase = EventPhase::Grad)
    {
        add(Action::FreeRequested, address, bytes, phase, {}, kNoIndex);
        add(Action::FreeCompleted, address, bytes, phase, {}, kNoIndex);
    }
    void pass(std::int64_t bytes, EventPhase phase, StackId stack = {}, ModuleIndex module = kNoIndex)
    {
        free(alloc(bytes, phase, stack, module), bytes, phase);
    }
    /// Behind the event before.
    void annotate(Annotation::Kind kind, std::string_view name, std::uint32_t thread = 0)
    {
        Annotation row;
        row.kind = kind;
        row.name = m_recording->strings.intern(name);
        row.timeNs = 1000 * count() + 1 + m_behind++;
        row.thread = thread;
        m_recording->annotations.push_back(row);
    }
    void list(wire::RoleKind kind, std::uint64_t address, std::string_view name, std::uint32_t optimizer = 0)
    {
        RoleListing row;
        row.event = count();
        row.kind = kind;
        row.address = address;
        row.name = m_recording->strings.intern(name);
        row.optimizer = optimizer;
        row.elements = 1;
        m_recording->parts.get<RoleListings>().byDevice[0].push_back(row);
    }
    /// A step of a training; `last` is done before its optimizer ends.
    void step(std::string_view optimizer = "Optimizer.step#A.step", const std::function<void()>& last = {})
    {
        const std::uint64_t activation = alloc(1000);
        pass(2000, EventPhase::Backward);
        free(activation, 1000, EventPhase::Backward);
        annotate(Annotation::Kind::Start, optimizer);
        pass(500, EventPhase::NoGrad);
        if (last)
            last();
        annotate(Annotation::Kind::End, optimizer);
    }
    StackId stack(std::string_view file, std::string_view function, std::int64_t line)
    {
        Frame frame;
        frame.file = m_recording->strings.intern(file);
        frame.function = m_recording->strings.intern(function);
        frame.line = line;
        const FrameId id = m_recording->stacks.internFrame(frame);
        return m_recording->stacks.internStack(std::span(&id, 1));
    }
    ModuleIndex module(std::string_view path)
    {
        m_recording->modules.push_back(m_recording->strings.intern(path));
        return static_cast<ModuleIndex>(m_recording->modules.size() - 1);
    }
    [[nodiscard]] EventIndex count() const
    {
        return static_cast<EventIndex>(m_recording->devices.front().events.size());
    }
    std::unique_ptr<Recording> take() { return std::move(m_recording); }

private:
    void add(Action action, std::uint64_t address, std::int64_t bytes, EventPhase phase, StackId stack,
        ModuleIndex module)
    {
        EventColumns& events = m_recording->devices.front().events;
        events.action.push_back(action);
        events.address.push_back(address);
        events.bytes.push_back(bytes);
        events.timeNs.push_back(1000 * (count() + 1));
        events.stack.push_back(stack);
        events.stream.push_back(0);
        events.pool.push_back(kNoIndex);
        events.tell(phase, 0, module);
        m_behind = 0;
    }

    std::unique_ptr<Recording> m_recording;
    std::uint64_t m_next = std::uint64_t{ 1 } << 44;
    std::int64_t m_behind = 0;
};

using Making = void (*)(Maker&, int);

/// Tensors in one block, which is made again before each step.
void listedInOneBlock(Maker& maker, int size)
{
    constexpr std::uint64_t kAddress = 1 << 20;
    maker.allocAt(kAddress, 1 << 20);
    for (int i = 0; i < size; ++i)
        maker.list(
            wire::RoleKind::Gradient, kAddress + static_cast<std::uint64_t>(i), "p" + std::to_string(i));
    for (int i = 0; i < size; ++i)
        maker.step("Optimizer.step#A.step", [&] {
            maker.free(kAddress, 1 << 20, EventPhase::NoGrad);
            maker.allocAt(kAddress, 1 << 20, EventPhase::Backward);
            maker.list(wire::RoleKind::Stepped, 0, "A");
        });
}

/// The same, and one of them is replaced each time.
void listedAndReplaced(Maker& maker, int size)
{
    constexpr std::uint64_t kAddress = 1 << 20;
    maker.allocAt(kAddress, 1 << 20);
    for (int i = 0; i < size; ++i)
        maker.list(
            wire::RoleKind::Gradient, kAddress + static_cast<std::uint64_t>(i), "p" + std::to_string(i));
    for (int i = 0; i < size; ++i) {
        maker.free(kAddress, 1 << 20);
        maker.allocAt(kAddress, 1 << 20);
        maker.list(
            wire::RoleKind::Gradient, kAddress + static_cast<std::uint64_t>(i), "p" + std::to_string(i));
        maker.list(wire::RoleKind::Stepped, 0, "A");
    }
}

/// The same in a block that stays, beside many in which nothing is.
void listedBesideOthers(Maker& maker, int size)
{
    constexpr std::uint64_t kAddress = 1 << 20;
    maker.allocAt(kAddress, 1 << 20);
    for (int i = 0; i < 10 * size; ++i)
        maker.list(
            wire::RoleKind::Gradient, kAddress + static_cast<std::uint64_t>(i), "p" + std::to_string(i));
    for (int i = 0; i < 10 * size; ++i)
        maker.alloc(512);
}

/// Sites that leak in a few of many steps.
void leakingSites(Maker& maker, int size)
{
    std::vector<StackId> sites;
    for (int i = 0; i < size; ++i)
        sites.push_back(maker.stack("train.py", "keep", i));
    for (int i = 0; i < size; ++i) {
        for (int k = 0; k < 8; ++k)
            maker.alloc(512, EventPhase::Grad, sites[static_cast<std::size_t>((i + k * (size / 8)) % size)]);
        maker.step();
    }
}

/// The same without stacks, by size.
void leakingSizes(Maker& maker, int size)
{
    for (int i = 0; i < size; ++i) {
        for (int k = 0; k < 8; ++k)
            maker.alloc(512 * (1 + (i + k * (size / 8)) % size));
        maker.step();
    }
}

/// Sites each of which has one block, that a later step frees and makes larger.
void growingSites(Maker& maker, int size)
{
    const auto count = static_cast<std::size_t>(2 * size);
    constexpr std::size_t kSteps = 240, kTimes = 12; // steps, and times that each site grows
    std::vector<StackId> sites;
    for (std::size_t i = 0; i < count; ++i)
        sites.push_back(maker.stack("train.py", "keep", static_cast<std::int64_t>(i)));
    std::vector<std::pair<std::uint64_t, std::int64_t>> last(count);
    for (std::size_t step = 0; step < kSteps; ++step) {
        for (std::size_t i = step % (kSteps / kTimes); i < count; i += kSteps / kTimes) {
            auto& [address, bytes] = last[i];
            if (bytes > 0)
                maker.free(address, bytes);
            bytes += 512;
            address = maker.alloc(bytes, EventPhase::Grad, sites[i]);
        }
        maker.step();
    }
}

/// Parameters of one size, and as many gradients of it in every backward.
void parametersOfOneSize(Maker& maker, int size)
{
    std::vector<std::uint64_t> parameters, gradients;
    for (int i = 0; i < size; ++i)
        parameters.push_back(maker.alloc(4096));
    for (int i = 0; i < 4; ++i) {
        const std::uint64_t activation = maker.alloc(1000);
        for (int k = 0; k < size; ++k)
            gradients.push_back(maker.alloc(4096, EventPhase::Backward));
        maker.free(activation, 1000, EventPhase::Backward);
        maker.annotate(Annotation::Kind::Start, "Optimizer.step#A.step");
        maker.pass(500, EventPhase::NoGrad);
        maker.annotate(Annotation::Kind::End, "Optimizer.step#A.step");
        for (const std::uint64_t gradient : gradients)
            maker.free(gradient, 4096);
        gradients.clear();
    }
}

/// What may be a batch waits while an evaluation runs.
void waitingBatches(Maker& maker, int size)
{
    const ModuleIndex module = maker.module("net");
    std::vector<std::uint64_t> batches;
    maker.pass(10, EventPhase::Grad, {}, module);
    for (int i = 0; i < 900; ++i)
        batches.push_back(maker.alloc(100));
    for (int i = 0; i < 10 * size; ++i)
        maker.pass(700, EventPhase::NoGrad, {}, module);
    maker.step();
    for (const std::uint64_t batch : batches)
        maker.free(batch, 100);
    maker.step();
}

void deepModules(Maker& maker, int size)
{
    std::string path = "a";
    for (int i = 0; i < size / 4; ++i) {
        maker.alloc(512, EventPhase::Grad, {}, maker.module(path));
        path += ".a";
    }
}

void longModules(Maker& maker, int size)
{
    const std::string deep = std::string(static_cast<std::size_t>(size), 'x');
    std::string path = deep;
    for (int i = 0; i < 120; ++i)
        path += ".a" + std::to_string(i);
    for (int i = 0; i < 100; ++i)
        maker.alloc(512, EventPhase::Grad, {}, maker.module(path + std::to_string(i)));
}

/// Each as deep as a path is looked at.
void manyDeepModules(Maker& maker, int size)
{
    std::string deep;
    for (int i = 0; i < 99; ++i)
        deep += ".a";
    for (int i = 0; i < std::min(10 * size, 60'000); ++i)
        maker.alloc(512, EventPhase::Grad, {}, maker.module("m" + std::to_string(i) + deep));
}

void aModuleEach(Maker& maker, int size)
{
    for (int i = 0; i < std::min(10 * size, 60'000); ++i)
        maker.alloc(512, EventPhase::Grad, {}, maker.module("m" + std::to_string(i) + ".w"));
}

void aPhaseEach(Maker& maker, int size)
{
    for (int i = 0; i < 20 * size; ++i)
        maker.alloc(512 + i % 7, static_cast<EventPhase>(i * 5 % 7));
}

void aStepEach(Maker& maker, int size)
{
    for (int i = 0; i < 10 * size; ++i)
        maker.step();
}

void anOptimizerEach(Maker& maker, int size)
{
    for (int i = 0; i < 4 * size; ++i)
        maker.step("Optimizer.step#" + std::to_string(i) + ".step",
            [&] { maker.list(wire::RoleKind::Stepped, 0, "A", static_cast<std::uint32_t>(i % (2 * size))); });
}

/// Ranges that begin and do not end, below those that do.
void openRanges(Maker& maker, int size)
{
    for (int i = 0; i < 20 * size; ++i)
        maker.annotate(Annotation::Kind::Start, "never");
    for (int i = 0; i < 20 * size; ++i) {
        maker.annotate(Annotation::Kind::End, "no such");
        maker.step();
    }
}

/// Ranges that end in the order in which they began.
void crossedRanges(Maker& maker, int size)
{
    maker.step();
    for (int i = 0; i < 20 * size; ++i)
        maker.annotate(Annotation::Kind::Start, "r" + std::to_string(i));
    for (int i = 0; i < 20 * size; ++i)
        maker.annotate(Annotation::Kind::End, "r" + std::to_string(i));
    maker.step();
}

void aThreadEach(Maker& maker, int size)
{
    maker.step();
    for (int i = 0; i < 20 * size; ++i)
        maker.annotate(Annotation::Kind::Mark, "step 1", static_cast<std::uint32_t>(i));
    maker.step();
}

/// Steps that the program names, in which only backwards that keep their graph ran.
void graphsKept(Maker& maker, int size)
{
    for (int i = 0; i < 10 * size; ++i) {
        maker.annotate(Annotation::Kind::Start, "Optimizer.step#A.step");
        maker.pass(100, EventPhase::Grad);
        maker.pass(100, EventPhase::BackwardGradKeep);
        maker.annotate(Annotation::Kind::End, "Optimizer.step#A.step");
    }
}

/// A file with a long name, of which many frames are.
void longFile(Maker& maker, int size)
{
    const std::string file = std::string(static_cast<std::size_t>(20 * size), 'x') + ".py";
    for (int i = 0; i < 4 * size; ++i)
        maker.alloc(512, EventPhase::Unknown, maker.stack(file, "f", i));
}

void rhythm(Maker& maker, int size)
{
    for (int i = 0; i < 4 * size; ++i) {
        std::vector<std::pair<std::uint64_t, std::int64_t>> all;
        for (int k = 0; k < 8; ++k) {
            const std::int64_t bytes = 1000 + 37 * k + (i % 97) * (i % 89) * 100;
            all.emplace_back(maker.alloc(bytes, EventPhase::Unknown), bytes);
        }
        for (; !all.empty(); all.pop_back())
            maker.free(all.back().first, all.back().second, EventPhase::Unknown);
    }
}

struct Case {
    std::string_view name;
    Making make;
};

constexpr Case kCases[] = { { "listed", listedInOneBlock }, { "replaced", listedAndReplaced },
    { "listed-beside", listedBesideOthers }, { "leaks", leakingSites }, { "leak-sizes", leakingSizes },
    { "growing", growingSites }, { "parameters", parametersOfOneSize }, { "waiting", waitingBatches },
    { "deep-modules", deepModules }, { "long-modules", longModules },
    { "many-deep-modules", manyDeepModules }, { "modules", aModuleEach }, { "phases", aPhaseEach },
    { "steps", aStepEach }, { "optimizers", anOptimizerEach }, { "open-ranges", openRanges },
    { "crossed-ranges", crossedRanges }, { "threads", aThreadEach }, { "graphs-kept", graphsKept },
    { "long-file", longFile }, { "rhythm", rhythm } };

void measure(const Case& each, int size)
{
    Maker maker;
    each.make(maker, size);
    const auto session = Session::fromRecording(maker.take()).value();
    const DeviceTrace& trace = session->devices().at(0);
    const Clock clock(trace);
    std::printf(
        "%-15s %8d %9lld", std::string(each.name).c_str(), size, static_cast<long long>(trace.eventCount()));
    double start = bench::cpuMilliseconds();
    const auto lap = [&](const char* name) {
        const double now = bench::cpuMilliseconds();
        std::printf("  %s %.0f", name, now - start);
        std::fflush(stdout);
        start = bench::cpuMilliseconds();
    };
    const TrainingSteps steps = findTrainingSteps(trace, clock).value();
    lap("steps");
    const Categories categories = Categories::of(trace, clock, steps).value();
    lap("categories");
    const EventIndex last = trace.eventCount() - 1;
    const std::vector<BlockId> active = activeBlocks(trace, last);
    start = bench::cpuMilliseconds();
    (void)ledgerAt(trace, categories, last, active, nullptr);
    lap("ledger");
    (void)moduleLedger(trace, categories, active);
    lap("modules");
    (void)findLeaks(trace, steps).value();
    lap("leaks");
    (void)findSpikes(trace, steps);
    lap("spikes");
    std::printf("  ms; by %s\n", std::string(evidenceWord(steps.evidence)).c_str());
}

} // namespace

int main(int argc, char** argv)
{
    const std::string_view wanted = argc > 1 ? argv[1] : "";
    const int size = argc > 2 ? std::atoi(argv[2]) : 1500;
    for (const Case& each : kCases) {
        if (!wanted.empty() && wanted != each.name)
            continue;
        measure(each, size);
        measure(each, 4 * size);
    }
    return 0;
}
