// SPDX-License-Identifier: GPL-3.0-or-later
// The replay's allocator held against what requests.cpp writes: the same requests, over a simulated device of
// its own, must lead to the same events at the same addresses, the same sums and the same blocks.
//
// usage: follow_requests < LINES            prints a line of figures; exit 1 and the difference, if there is
// one
//        follow_requests --settings VERSION < SETTINGS     what the replay makes of each line of settings
//
// From the lines are taken: requests, their pools, and when an event was ready (free_completed).
#include "capture/simgpu/machine/device_memory.h"
#include "model/base/words.h"
#include "model/replay/caching_allocator.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

using namespace strata;
using model::AllocatorSettings;
using model::ReplayBlock;
using model::TorchVersion;

namespace {

struct Event {
    std::string action;
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::uint64_t stream = 0;

    friend auto operator<=>(const Event&, const Event&) = default;
    [[nodiscard]] std::string text() const
    {
        std::ostringstream out;
        out << action << " 0x" << std::hex << address << std::dec << " " << bytes << " B, stream " << stream;
        return out.str();
    }
};

/// A request and what came of it.
struct Request {
    std::size_t line = 0;
    std::string text;
    std::vector<Event> events;
    std::size_t completedBeforeSync = 0; ///< of free_completed, where it waited; else all
    bool synced = false, failed = false;
    std::vector<std::string> state; ///< lines "segment" and "block"
};

/// The device that the real allocator had, once more.
class Device final : public model::AllocatorDriver {
public:
    explicit Device(const simgpu::Settings& machine)
        : m_memory(machine)
        , m_capacity(static_cast<std::int64_t>(machine.capacityBytes))
    {
    }

    std::vector<Event> events;
    std::deque<std::uint64_t> completed; ///< while it waits, by address
    std::unordered_map<std::uint64_t, std::pair<ReplayBlock*, std::int64_t>>* pending = nullptr;
    std::unordered_map<std::uint64_t, model::PoolOwner> ownerOf; ///< of what was given back
    model::PoolOwner requestPool;
    const AllocatorSettings* settings = nullptr;
    std::int64_t reserved = 0, reservedPeak = 0;
    std::map<std::string, std::int64_t> figures;

    std::optional<std::uint64_t> makeSegment(std::int64_t bytes, std::uint64_t stream) override
    {
        simgpu::Address address = 0;
        if (m_memory.allocate(0, static_cast<std::size_t>(bytes), address) != simgpu::Status::Ok)
            return std::nullopt;
        grow({ "segment_alloc", address, bytes, stream });
        return address;
    }
    void freeSegment(const ReplayBlock& segment) override
    {
        grow({ "segment_free", segment.address, -segment.bytes, segment.stream });
        if (segment.pool->owner != nullptr)
            ownerOf[segment.address] = segment.pool->owner->name;
        (void)m_memory.release(segment.address);
    }
    model::AddressRange reserveRange(std::int64_t pageBytes, std::uint64_t) override
    {
        const std::int64_t bytes = settings->rangeBytes(pageBytes, m_capacity);
        simgpu::Address address = 0;
        // Of the pool of the request.
        if (m_memory.reserve(static_cast<std::size_t>(bytes), address) != simgpu::Status::Ok)
            ++figures["ranges without room"];
        m_ownerOfRange[address] = requestPool;
        return { address, bytes, pageBytes };
    }
    void releaseRange(const model::AddressRange& range) override
    {
        ++figures["ranges released"];
        (void)m_memory.unreserve(range.address, static_cast<std::size_t>(range.bytes));
    }
    bool map(std::uint64_t address, std::int64_t bytes, std::uint64_t stream) override
    {
        if (m_memory.charge(0, static_cast<std::size_t>(bytes)) != simgpu::Status::Ok)
            return ++figures["maps failed"], false;
        grow({ "segment_map", address, bytes, stream });
        return true;
    }
    void unmap(std::uint64_t address, std::int64_t bytes, std::uint64_t stream) override
    {
        m_memory.discharge(0, static_cast<std::size_t>(bytes));
        ownerOf[address] = std::prev(m_ownerOfRange.upper_bound(address))->second;
        grow({ "segment_unmap", address, -bytes, stream });
    }
    void synchronize(model::CachingAllocator& allocator, model::PoolOwner) override
    {
        while (!completed.empty()) {
            const std::uint64_t address = completed.front();
            completed.pop_front();
            complete(allocator, address);
        }
    }

    /// False where nothing of that address is pending.
    bool complete(model::CachingAllocator& allocator, std::uint64_t address)
    {
        const auto found = pending->find(address);
        if (found == pending->end())
            return false;
        ReplayBlock& block = *found->second.first;
        events.push_back({ "free_completed", address, found->second.second, block.stream });
        pending->erase(found);
        allocator.completeFree(block);
        return true;
    }

    [[nodiscard]] std::int64_t freeBytes() const
    {
        return m_capacity - static_cast<std::int64_t>(m_memory.used(0));
    }
    [[nodiscard]] std::int64_t capacity() const { return m_capacity; }

private:
    void grow(Event event)
    {
        reserved += event.bytes;
        reservedPeak = std::max(reservedPeak, reserved);
        event.bytes = std::abs(event.bytes);
        events.push_back(std::move(event));
    }

    simgpu::DeviceMemory m_memory;
    std::int64_t m_capacity;
    std::map<std::uint64_t, model::PoolOwner> m_ownerOfRange;
};

class Follower {
public:
    int run(std::istream& in)
    {
        std::string line;
        Request request;
        for (std::size_t number = 1; std::getline(in, line); ++number) {
            if (line.starts_with("= ")) {
                Event event;
                std::istringstream(line.substr(2)) >> event.action >> event.address >> event.bytes
                    >> event.stream;
                if (event.action == "free_completed" && !request.synced)
                    ++request.completedBeforeSync;
                request.events.push_back(std::move(event));
            } else if (line == "sync") {
                request.synced = true;
            } else if (line == "failed") {
                request.failed = true;
            } else if (line.starts_with("segment ") || line.starts_with("block ")) {
                request.state.push_back(line);
            } else {
                if (!follow(request))
                    return 1;
                request = {};
                request.line = number;
                request.text = line;
            }
        }
        if (!follow(request))
            return 1;
        if (!m_done)
            return differ(request, "the lines end early");
        for (const auto& [name, count] : m_device->figures)
            m_counts[name] += count;
        std::printf("events %lld", static_cast<long long>(m_events));
        if (m_allocator->rejections() > 0)
            m_counts["rejections"] += m_allocator->rejections();
        for (const auto& [name, count] : m_counts)
            std::printf(", %s %lld", name.c_str(), static_cast<long long>(count));
        std::printf("\n");
        return 0;
    }

private:
    using Live = std::pair<ReplayBlock*, std::int64_t>; ///< and the bytes that were requested

    int differ(const Request& request, const std::string& what)
    {
        std::printf("DIFFERS in line %zu, \"%s\": %s\n", request.line, request.text.c_str(), what.c_str());
        return 1;
    }

    bool follow(Request& request)
    {
        std::istringstream words(request.text);
        std::string kind;
        words >> kind;
        if (kind.empty())
            return true;
        if (kind == "device" || kind == "version" || kind == "done" || kind == "broken")
            return begin(request, kind, words);
        if (kind == "settings" && !m_allocator)
            return start(request);
        if (!m_allocator)
            return differ(request, "comes before settings"), false;
        m_device->events.clear();
        m_device->ownerOf.clear();
        if (kind == "alloc")
            allocate(request, words);
        else if (kind == "free")
            free(words);
        else if (kind == "use")
            use(words);
        else if (kind == "empty")
            empty(request);
        else if (kind == "settings")
            return change(request);
        else if (kind == "fraction")
            setFraction(words);
        else if (kind == "begin" || kind == "end" || kind == "release")
            pools(kind, words);
        else if (kind == "sums")
            return sums(request, words);
        else if (kind == "blocks")
            return blocks(request);
        else
            return differ(request, "is no request"), false;
        return compare(request);
    }

    bool begin(Request& request, const std::string& kind, std::istringstream& words)
    {
        if (kind == "device") {
            std::vector<std::string> problems;
            std::string text;
            std::getline(words >> std::ws, text);
            m_machine = simgpu::parseSettings(text, problems);
            return problems.empty() || (differ(request, problems.front()), false);
        }
        if (kind == "version") {
            std::string text;
            words >> text;
            m_version = TorchVersion::parse(text).value_or(TorchVersion{});
            return true;
        }
        m_done = kind == "done";
        return m_done || (differ(request, "PyTorch gave up"), false);
    }

    bool start(const Request& request)
    {
        const auto settings = AllocatorSettings::parse(textBehind(request.text), m_version);
        if (!settings)
            return differ(request, "these settings are refused"), false;
        m_settings = *settings;
        m_device = std::make_unique<Device>(m_machine);
        m_device->pending = &m_pending;
        m_device->settings = &m_settings;
        m_allocator.emplace(m_settings, *m_device, m_device->capacity());
        return true;
    }

    static std::string textBehind(const std::string& line)
    {
        const std::size_t blank = line.find(' ');
        return blank == std::string::npos ? "" : line.substr(blank + 1);
    }

    void allocate(const Request& request, std::istringstream& words)
    {
        std::int64_t id = 0, bytes = 0;
        std::uint64_t stream = 0;
        model::PoolOwner pool;
        words >> id >> bytes >> stream >> pool.owner >> pool.id;
        m_device->requestPool = pool;
        takeCompleted(request, request.completedBeforeSync);
        const std::int64_t mallocs = m_allocator->deviceMallocs();
        const std::int64_t rejections = m_allocator->rejections();
        ReplayBlock* const block = m_allocator->allocate(bytes, stream, pool);
        m_refused = block == nullptr;
        m_counts["from the driver"] += m_allocator->deviceMallocs() - mallocs > 0 ? 1 : 0;
        if (block == nullptr) {
            // What is rejected ahead of all retries leaves no event.
            if (m_allocator->rejections() != rejections)
                return;
            ++m_counts["out of memory"];
            m_device->events.push_back({ "oom", static_cast<std::uint64_t>(m_device->freeBytes()),
                m_settings.roundedBytes(bytes), stream });
            return;
        }
        m_device->events.push_back({ "alloc", block->address, bytes, stream });
        m_live[id] = { block, bytes };
        m_requested += bytes;
        m_allocatedPeak = std::max(m_allocatedPeak, m_allocator->allocatedBytes());
        m_activePeak = std::max(m_activePeak, m_allocator->activeBytes());
    }

    /// The first `count` of the request's free_completed before it, the others when the allocator waits.
    void takeCompleted(const Request& request, std::size_t count)
    {
        m_device->completed.clear();
        for (const Event& event : request.events) {
            if (event.action != "free_completed")
                continue;
            if (count > 0) {
                --count;
                ++m_counts["completed late"];
                if (const auto found = m_pending.find(event.address); found != m_pending.end())
                    m_requested -= found->second.second;
                m_device->complete(*m_allocator, event.address);
            } else {
                ++m_counts["completed by waiting"];
                if (const auto found = m_pending.find(event.address); found != m_pending.end())
                    m_requested -= found->second.second;
                m_device->completed.push_back(event.address);
            }
        }
    }

    void free(std::istringstream& words)
    {
        std::int64_t id = 0;
        words >> id;
        const auto found = m_live.find(id);
        if (found == m_live.end())
            return;
        const auto [block, bytes] = found->second;
        m_live.erase(found);
        m_device->events.push_back({ "free_requested", block->address, bytes, block->stream });
        m_allocator->requestFree(*block);
        m_pending[block->address] = { block, bytes };
        // What no other stream uses is free at once.
        if (m_used.erase(id) == 0) {
            m_requested -= bytes;
            m_device->complete(*m_allocator, block->address);
        }
    }

    void use(std::istringstream& words)
    {
        std::int64_t id = 0;
        std::uint64_t stream = 0;
        words >> id >> stream;
        if (const auto found = m_live.find(id);
            found != m_live.end() && found->second.first->stream != stream)
            ++m_used[id];
    }

    void empty(const Request& request)
    {
        takeCompleted(request, 0);
        m_allocator->emptyCache();
    }

    bool change(const Request& request)
    {
        const auto settings = AllocatorSettings::parse(textBehind(request.text), m_version, &m_settings);
        if (!settings)
            return differ(request, "these settings are refused"), false;
        ++m_counts["settings changed"];
        m_settings = *settings;
        m_allocator->setSettings(m_settings);
        return compare(request);
    }

    void setFraction(std::istringstream& words)
    {
        double fraction = 0;
        words >> fraction;
        ++m_counts["fractions"];
        m_allocator->setMemoryFraction(fraction);
    }

    void pools(const std::string& kind, std::istringstream& words)
    {
        model::PoolOwner pool;
        words >> pool.owner >> pool.id;
        ++m_counts["pools " + kind];
        int captures = 0;
        words >> captures;
        if (kind == "begin") // from 2.13 on a pool alone is no capture
            m_allocator->setCapturing(captures != 0 || m_settings.version < model::TorchVersion{ 2, 13 });
        else if (kind == "end")
            m_allocator->setCapturing(false);
        else
            m_allocator->releasePool(pool);
    }

    /// Pools that were released are gone through in the order of a hash table: each one's events are
    /// together, and in order.
    bool compare(const Request& request)
    {
        std::vector<Event> wanted = request.events, got = m_device->events;
        const auto poolOf = [&](const Event& event) {
            const auto found = m_device->ownerOf.find(event.address);
            return found == m_device->ownerOf.end() ? model::PoolOwner{} : found->second;
        };
        for (auto* events : { &wanted, &got }) {
            const auto isOfPool = [&](const Event& event) { return !poolOf(event).isDefault(); };
            for (auto first = std::ranges::find_if(*events, isOfPool); first != events->end();) {
                const auto last = std::find_if_not(first, events->end(), isOfPool);
                std::stable_sort(
                    first, last, [&](const Event& a, const Event& b) { return poolOf(a) < poolOf(b); });
                first = std::find_if(last, events->end(), isOfPool);
            }
        }
        for (std::size_t i = 0; i < std::max(wanted.size(), got.size()); ++i) {
            if (i < wanted.size() && i < got.size() && wanted[i] == got[i])
                continue;
            std::string text = "event " + std::to_string(i) + ":";
            for (std::size_t k = i > 2 ? i - 2 : 0; k < std::min(i + 4, std::max(wanted.size(), got.size()));
                 ++k)
                text += "\n  PyTorch " + (k < wanted.size() ? wanted[k].text() : "-") + "\n  replay  "
                    + (k < got.size() ? got[k].text() : "-");
            return differ(request, text), false;
        }
        m_events += static_cast<std::int64_t>(wanted.size());
        for (const Event& event : wanted)
            ++m_counts[event.action];
        if (request.failed != std::exchange(m_refused, false))
            return differ(request, "one of both fails"), false;
        if (m_device->reserved != m_allocator->reservedBytes())
            return differ(request, "reserved is not what the driver gave"), false;
        return true;
    }

    bool sums(const Request& request, std::istringstream& words)
    {
        const std::pair<const char*, std::int64_t> figures[]
            = { { "allocated", m_allocator->allocatedBytes() }, { "allocated peak", m_allocatedPeak },
                  { "active", m_allocator->activeBytes() }, { "active peak", m_activePeak },
                  { "reserved", m_allocator->reservedBytes() }, { "reserved peak", m_device->reservedPeak },
                  { "requested", m_requested }, { "calls that give memory", m_allocator->deviceMallocs() },
                  { "calls that take it back", m_allocator->deviceFrees() },
                  { "rejections", m_allocator->rejections() } };
        for (const auto& [name, figure] : figures) {
            std::int64_t wanted = 0;
            words >> wanted;
            if (wanted != figure && wanted != -1)
                return differ(request,
                           std::string(name) + ": PyTorch " + std::to_string(wanted) + ", replay "
                               + std::to_string(figure)),
                       false;
        }
        ++m_counts["sums"];
        return true;
    }

    /// As lines of the same form, sorted by address.
    bool blocks(const Request& request)
    {
        std::vector<ReplayBlock*> heads;
        m_allocator->forEachBlock([&](ReplayBlock& block) {
            if (block.mapped && (block.previous == nullptr || !block.previous->mapped))
                heads.push_back(&block);
        });
        std::ranges::sort(heads, {}, &ReplayBlock::address);
        std::vector<std::string> got;
        for (const ReplayBlock* head : heads) {
            std::int64_t bytes = 0;
            std::vector<std::string> inside;
            for (const ReplayBlock* block = head; block != nullptr && block->mapped; block = block->next) {
                bytes += block->bytes;
                inside.push_back("block " + std::to_string(block->bytes) + (block->allocated ? " 1" : " 0")
                    + (block->isFree() ? " 0" : " 1"));
            }
            const model::PrivatePool* const owner = head->pool->owner;
            std::ostringstream line;
            line << "segment " << head->address << " " << bytes << " " << head->stream << " "
                 << (head->pool->small ? 0 : 1) << " " << (head->range != nullptr ? 1 : 0) << " "
                 << (owner != nullptr ? owner->name.owner : 0) << " "
                 << (owner != nullptr ? owner->name.id : 0);
            got.push_back(line.str());
            got.insert(got.end(), inside.begin(), inside.end());
        }
        for (std::size_t i = 0; i < std::max(got.size(), request.state.size()); ++i) {
            // What was requested of a block that is free is of an earlier one.
            std::string wanted = i < request.state.size() ? request.state[i] : "-";
            if (wanted.starts_with("block "))
                wanted.resize(wanted.rfind(' '));
            if (i >= got.size() || wanted != got[i])
                return differ(
                           request, "PyTorch has " + wanted + ", replay " + (i < got.size() ? got[i] : "-")),
                       false;
        }
        m_counts["blocks"] += static_cast<std::int64_t>(got.size());
        return true;
    }

    simgpu::Settings m_machine;
    TorchVersion m_version;
    AllocatorSettings m_settings;
    std::unique_ptr<Device> m_device;
    std::optional<model::CachingAllocator> m_allocator;
    std::unordered_map<std::int64_t, Live> m_live;
    std::unordered_map<std::uint64_t, Live> m_pending;
    std::unordered_map<std::int64_t, int> m_used;
    std::int64_t m_requested = 0, m_allocatedPeak = 0, m_activePeak = 0, m_events = 0;
    bool m_refused = false; // by the replay, the request at hand
    std::map<std::string, std::int64_t> m_counts;
    bool m_done = false;
};

/// As settings.cpp writes them; `line` as it reads it.
std::string valuesOf(const std::string& line, TorchVersion version)
{
    const std::size_t tab = line.find('\t');
    auto settings = AllocatorSettings::parse(line.substr(0, tab), version);
    if (settings && tab != std::string::npos)
        settings = AllocatorSettings::parse(line.substr(tab + 1), version, &*settings);
    if (!settings)
        return "refused";
    const auto bytes = [](std::int64_t value) {
        return value == AllocatorSettings::kUnlimited ? std::string("18446744073709551615")
                                                      : std::to_string(value);
    };
    std::ostringstream out;
    out.precision(9);
    out << "expandable " << settings->expandableSegments << ", max split " << bytes(settings->maxSplitBytes);
    if (version >= TorchVersion{ 2, 6 })
        out << ", non-split " << bytes(settings->maxNonSplitRoundingBytes);
    if (version >= TorchVersion{ 2, 11 })
        out << ", large " << bytes(settings->largeSegmentBytes);
    out << ", threshold " << settings->garbageCollectionThreshold;
    if (version >= TorchVersion{ 2, 10 })
        out << ", fraction " << settings->memoryFraction.value_or(1);
    if (version >= TorchVersion{ 2, 12 })
        out << ", rejects " << settings->rejectsAboveFraction;
    out << ", divisions";
    for (const std::int64_t divisions : settings->roundupDivisions)
        out << " " << divisions;
    return out.str();
}

} // namespace

int main(int argc, char** argv)
{
    std::ios::sync_with_stdio(false);
    if (argc == 3 && std::string(argv[1]) == "--settings") {
        const auto version = TorchVersion::parse(argv[2]);
        for (std::string line; version && std::getline(std::cin, line);)
            std::cout << valuesOf(line, *version) << "\n";
        return version ? 0 : 2;
    }
    if (argc != 1) {
        std::fputs("usage: follow_requests [--settings VERSION] < LINES\n", stderr);
        return 2;
    }
    return Follower().run(std::cin);
}
