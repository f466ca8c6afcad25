// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/replay/made_recording.h"

#include "model/wire/info.h"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <vector>

namespace strata::test {

using namespace model;

namespace {

constexpr std::int64_t kMiB = std::int64_t{ 1 } << 20;

/// Writes down what the allocator asks of a device.
class WritingDriver final : public AllocatorDriver {
public:
    WritingDriver(Recording& recording, const MadeProgram& program)
        : m_recording(recording)
        , m_device(program.addresses, program.capacityBytes, std::int64_t{ 1 } << 34)
    {
    }

    void write(Action action, std::uint64_t address, std::int64_t bytes, std::uint64_t stream)
    {
        EventColumns& events = m_recording.devices.front().events;
        events.action.push_back(action);
        events.address.push_back(address);
        events.bytes.push_back(bytes);
        events.stack.push_back(StackId{});
        events.block.push_back(BlockId{});
        events.stream.push_back(m_recording.internStream(static_cast<std::int64_t>(stream)));
        events.pool.push_back(kNoIndex);
    }

    std::optional<std::uint64_t> makeSegment(std::int64_t bytes, std::uint64_t stream) override
    {
        const auto address = m_device.makeSegment(bytes, stream);
        if (address)
            write(Action::SegmentAlloc, *address, bytes, stream);
        return address;
    }
    void freeSegment(const ReplayBlock& segment) override
    {
        write(Action::SegmentFree, segment.address, segment.bytes, segment.stream);
        m_device.freeSegment(segment);
    }
    AddressRange reserveRange(std::int64_t pageBytes, std::uint64_t stream) override
    {
        return m_device.reserveRange(pageBytes, stream);
    }
    void releaseRange(const AddressRange& range) override { m_device.releaseRange(range); }
    bool map(std::uint64_t address, std::int64_t bytes, std::uint64_t stream) override
    {
        const bool mapped = m_device.map(address, bytes, stream);
        if (mapped)
            write(Action::SegmentMap, address, bytes, stream);
        return mapped;
    }
    void unmap(std::uint64_t address, std::int64_t bytes, std::uint64_t stream) override
    {
        write(Action::SegmentUnmap, address, bytes, stream);
        m_device.unmap(address, bytes, stream);
    }
    void synchronize(CachingAllocator& allocator, PoolOwner) override
    {
        for (ReplayBlock* block : pending) {
            write(Action::FreeCompleted, block->address, requestedOf(*block), block->stream);
            allocator.completeFree(*block);
        }
        pending.clear();
    }
    [[nodiscard]] std::int64_t requestedOf(const ReplayBlock& block) const
    {
        return requested[static_cast<std::size_t>(block.tag)];
    }

    std::vector<ReplayBlock*> pending; // in order
    std::vector<std::int64_t> requested; // by tag

private:
    Recording& m_recording;
    SimulatedDriver m_device;
};

std::int64_t drawSize(std::mt19937_64& random)
{
    const auto upTo = [&](std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least));
    };
    switch (random() % 5) {
    case 0:
    case 1:
        return upTo(1, kMiB);
    case 2:
        return (std::int64_t{ 1 } << (20 + random() % 5));
    case 3:
        return upTo(kMiB, 10 * kMiB);
    default:
        return upTo(10 * kMiB, 40 * kMiB);
    }
}

void writeEnd(Recording& recording, CachingAllocator& allocator, const WritingDriver& driver)
{
    std::vector<const ReplayBlock*> blocks;
    allocator.forEachBlock([&](ReplayBlock& block) {
        if (block.mapped)
            blocks.push_back(&block);
    });
    std::ranges::sort(blocks, {}, &ReplayBlock::address);
    std::vector<FinalSegment> segments;
    std::vector<FinalBlock> final;
    for (const ReplayBlock* block : blocks) {
        const bool continues = block->previous != nullptr && block->previous->mapped;
        if (!continues) {
            FinalSegment segment;
            segment.address = block->address;
            segment.firstBlock = static_cast<std::uint32_t>(final.size());
            segment.stream = recording.internStream(static_cast<std::int64_t>(block->stream));
            segment.pool = recording.internPool(
                { 0, 0, block->pool->small ? SegmentKind::Small : SegmentKind::Large });
            segment.expandable = block->range != nullptr;
            segments.push_back(segment);
        }
        segments.back().bytes += block->bytes;
        ++segments.back().blockCount;
        FinalBlock row;
        row.address = block->address;
        row.bytes = block->bytes;
        row.state = block->allocated ? BlockState::Allocated
            : block->pending         ? BlockState::PendingFree
                                     : BlockState::Inactive;
        row.requestedBytes = block->isFree() ? 0 : driver.requestedOf(*block);
        final.push_back(row);
    }
    recording.devices.front().finalSegments.edit() = segments;
    recording.devices.front().finalBlocks.edit() = final;
}

} // namespace

MadeRecording makeRun(const MadeProgram& program)
{
    auto recording = std::make_unique<Recording>();
    recording->devices.emplace_back();
    recording->settings.push_back({ "PYTORCH_CUDA_ALLOC_CONF", '"' + program.settings + '"' });
    recording->facts[wire::info::kTorch]
        = std::to_string(program.version.major) + "." + std::to_string(program.version.minor) + ".0";
    const auto settings = AllocatorSettings::parse(program.settings, program.version);
    if (!settings)
        throw std::invalid_argument(settings.error().text());

    WritingDriver driver(*recording, program);
    CachingAllocator allocator(*settings, driver, std::int64_t{ 1 } << 34);
    std::mt19937_64 random(program.seed);
    const auto chance = [&](double share) { return static_cast<double>(random() % 10'000) < share * 10'000; };
    std::vector<ReplayBlock*> live;
    std::int64_t liveBytes = 0;
    Counted counted;
    const auto complete = [&](ReplayBlock& block) {
        driver.write(Action::FreeCompleted, block.address, driver.requestedOf(block), block.stream);
        allocator.completeFree(block);
    };
    const auto freeOne = [&] {
        const std::size_t at = random() % live.size();
        ReplayBlock& block = *live[at];
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
        liveBytes -= driver.requestedOf(block);
        driver.write(Action::FreeRequested, block.address, driver.requestedOf(block), block.stream);
        allocator.requestFree(block);
        if (chance(program.lateFrees))
            driver.pending.push_back(&block);
        else
            complete(block);
    };
    for (int turn = 0; turn < program.turns; ++turn) {
        if (chance(program.emptyCaches))
            allocator.emptyCache();
        if (!live.empty() && chance(0.45)) {
            freeOne();
            continue;
        }
        // As process_events() does at the start of malloc().
        while (driver.pending.size() > 6) {
            complete(*driver.pending.front());
            driver.pending.erase(driver.pending.begin());
        }
        const std::int64_t bytes = drawSize(random);
        const std::uint64_t stream = 4096 * (random() % static_cast<std::uint64_t>(program.streams));
        while (liveBytes + bytes > program.liveBytes)
            freeOne();
        ReplayBlock* block = allocator.allocate(bytes, stream);
        if (block == nullptr)
            throw std::logic_error("the device is too small for the program");
        block->tag = static_cast<std::int32_t>(driver.requested.size());
        driver.requested.push_back(bytes);
        driver.write(Action::Alloc, block->address, bytes, stream);
        live.push_back(block);
        liveBytes += bytes;
        counted.allocatedPeak = std::max(counted.allocatedPeak, allocator.allocatedBytes());
        counted.activePeak = std::max(counted.activePeak, allocator.activeBytes());
    }
    counted.reservedPeak = allocator.reservedBytesPeak();
    counted.deviceMallocs = allocator.deviceMallocs();
    counted.deviceFrees = allocator.deviceFrees();
    writeEnd(*recording, allocator, driver);
    auto session = Session::fromRecording(std::move(recording));
    if (!session)
        throw std::logic_error(session.error().text());
    return { *session, counted };
}

} // namespace strata::test
