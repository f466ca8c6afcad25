// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/little_chunks.h"

#include "model/wire/chunk_writer.h"
#include "model/wire/events_codec.h"
#include "model/wire/state.h"
#include "model/wire/tables.h"

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace strata::test {

using namespace wire;

namespace {

/// What a device has to be told of.
struct Device {
    EventChunk events; // all of them
    std::vector<State> states; // end states, by when they were
    std::vector<State> base;
    std::size_t told = 0; // events

    [[nodiscard]] bool done() const { return told == events.rows.size() && states.empty() && base.empty(); }
};

class Rewriter {
public:
    explicit Rewriter(std::uint32_t seed)
        : m_random(seed)
    {
    }

    void read(std::span<const std::byte> session)
    {
        ChunkHead head;
        Bytes payload;
        while (!session.empty()) {
            if (readHead(session, head) != ChunkStatus::Ok
                || unpack(head, session.first(kHeadBytes), session.subspan(kHeadBytes), payload)
                    != ChunkStatus::Ok)
                throw std::invalid_argument("no whole session");
            take(head.type, payload);
            session = session.subspan(kHeadBytes + head.storedBytes);
        }
    }

    Bytes write()
    {
        for (const auto& [type, payload] : m_front)
            writeAs(type, payload);
        while (true) {
            std::vector<Device*> open;
            for (auto& [number, device] : m_devices)
                if (!device.done())
                    open.push_back(&device);
            if (open.empty())
                break;
            tell(*open[m_random() % open.size()]);
        }
        needStrings(m_strings.size());
        needStacks(m_stacks.ends.size());
        needFrames(m_frames.size());
        needStreams(m_streams.size());
        needPools(m_pools.size());
        for (const auto& [type, payload] : m_behind)
            if (type == ChunkType::Index)
                m_writer.index();
            else if (type != ChunkType::Digest) // they say how many chunks came before
                writeAs(type, payload);
        return m_sink.bytes();
    }

private:
    void take(ChunkType type, const Bytes& payload)
    {
        std::uint32_t first = 0;
        switch (type) {
        case ChunkType::Strings: {
            std::vector<std::string_view> rows;
            require(decodeStrings(payload, first, rows));
            m_strings.insert(m_strings.end(), rows.begin(), rows.end());
            break;
        }
        case ChunkType::Frames: {
            std::vector<FrameRow> rows;
            require(decodeFrames(payload, first, rows));
            m_frames.insert(m_frames.end(), rows.begin(), rows.end());
            break;
        }
        case ChunkType::Stacks: {
            StackRows rows;
            require(decodeStacks(payload, first, rows));
            for (std::size_t i = 0; i < rows.ends.size(); ++i)
                m_stacks.add(rows[i]);
            break;
        }
        case ChunkType::Streams: {
            std::vector<std::int64_t> rows;
            require(decodeStreams(payload, first, rows));
            m_streams.insert(m_streams.end(), rows.begin(), rows.end());
            break;
        }
        case ChunkType::Pools: {
            std::vector<PoolRow> rows;
            require(decodePools(payload, first, rows));
            m_pools.insert(m_pools.end(), rows.begin(), rows.end());
            break;
        }
        case ChunkType::Events: {
            EventChunk chunk;
            require(decodeEvents(payload, chunk));
            EventChunk& all = m_devices[chunk.device].events;
            all.device = chunk.device;
            all.hasTimes = chunk.hasTimes;
            for (std::size_t kind = 0; kind < kSparseKinds; ++kind)
                for (wire::SparseText text : chunk.sparse[kind]) {
                    text.row += static_cast<std::uint32_t>(all.rows.size());
                    all.sparse[kind].push_back(text);
                }
            all.rows.insert(all.rows.end(), chunk.rows.begin(), chunk.rows.end());
            break;
        }
        case ChunkType::BaseState:
        case ChunkType::EndState: {
            State state;
            require(decodeState(payload, state));
            Device& device = m_devices[state.device];
            device.events.device = state.device;
            (type == ChunkType::BaseState ? device.base : device.states).push_back(std::move(state));
            break;
        }
        default:
            (m_devices.empty() && m_strings.empty() ? m_front : m_behind).emplace_back(type, payload);
        }
    }

    /// The next few events of a device, or a state that is due.
    void tell(Device& device)
    {
        if (!device.base.empty() && m_random() % 3 != 0) {
            writeState(ChunkType::BaseState, device.base.front());
            device.base.clear();
            return;
        }
        const std::size_t all = device.events.rows.size();
        const std::size_t stop
            = device.states.empty() ? all : std::min<std::size_t>(all, device.states.front().events);
        if (device.told >= stop) {
            if (!device.states.empty()) {
                writeState(ChunkType::EndState, device.states.front());
                device.states.erase(device.states.begin());
            }
            return;
        }
        const std::size_t end = std::min(stop, device.told + 1 + m_random() % 60);
        EventChunk chunk;
        chunk.device = device.events.device;
        chunk.firstEvent = device.told;
        chunk.hasTimes = device.events.hasTimes;
        for (std::size_t row = device.told; row < end; ++row) {
            chunk.rows.push_back(device.events.rows[row]);
            need(chunk.rows.back().stack, chunk.rows.back().stream, chunk.rows.back().pool);
        }
        for (std::size_t kind = 0; kind < kSparseKinds; ++kind)
            for (wire::SparseText text : device.events.sparse[kind])
                if (text.row >= device.told && text.row < end) {
                    needStrings(text.string + std::size_t{ 1 });
                    text.row -= static_cast<std::uint32_t>(device.told);
                    chunk.sparse[kind].push_back(text);
                }
        device.told = end;
        m_writer.chunk(ChunkType::Events, [&](Bytes& out) { encodeEvents(chunk, out); });
    }

    void writeState(ChunkType type, const State& state)
    {
        for (const SegmentRow& segment : state.segments)
            need(segment.stack, segment.stream, segment.pool);
        for (const BlockRow& block : state.blocks)
            need(block.stack, kNone, kNone);
        m_writer.chunk(type, [&](Bytes& out) { encodeState(state, out); });
    }

    void need(std::uint32_t stack, std::uint32_t stream, std::uint32_t pool)
    {
        if (stack != kNone)
            needStacks(stack + std::size_t{ 1 });
        if (stream != kNone)
            needStreams(stream + std::size_t{ 1 });
        if (pool != kNone)
            needPools(pool + std::size_t{ 1 });
    }
    void needStrings(std::size_t count)
    {
        if (count <= m_stringsTold)
            return;
        const std::vector<std::string_view> rows(
            m_strings.begin() + static_cast<std::ptrdiff_t>(m_stringsTold),
            m_strings.begin() + static_cast<std::ptrdiff_t>(count));
        writeTable(ChunkType::Strings, m_stringsTold, count,
            [&](auto first, Bytes& out) { encodeStrings(first, rows, out); });
    }
    void needFrames(std::size_t count)
    {
        if (count <= m_framesTold)
            return;
        const auto rows = std::span(m_frames).subspan(m_framesTold, count - m_framesTold);
        for (const FrameRow& row : rows)
            for (const std::uint32_t text : { row.file, row.function, row.extras })
                if (text != kNone)
                    needStrings(text + std::size_t{ 1 });
        writeTable(ChunkType::Frames, m_framesTold, count,
            [&](auto first, Bytes& out) { encodeFrames(first, rows, out); });
    }
    void needStacks(std::size_t count)
    {
        if (count <= m_stacksTold)
            return;
        StackRows rows;
        for (std::size_t i = m_stacksTold; i < count; ++i) {
            for (const std::uint32_t frame : m_stacks[i])
                needFrames(frame + std::size_t{ 1 });
            rows.add(m_stacks[i]);
        }
        writeTable(ChunkType::Stacks, m_stacksTold, count,
            [&](auto first, Bytes& out) { encodeStacks(first, rows, out); });
    }
    void needStreams(std::size_t count)
    {
        if (count <= m_streamsTold)
            return;
        const auto rows = std::span(m_streams).subspan(m_streamsTold, count - m_streamsTold);
        writeTable(ChunkType::Streams, m_streamsTold, count,
            [&](auto first, Bytes& out) { encodeStreams(first, rows, out); });
    }
    void needPools(std::size_t count)
    {
        if (count <= m_poolsTold)
            return;
        const auto rows = std::span(m_pools).subspan(m_poolsTold, count - m_poolsTold);
        writeTable(ChunkType::Pools, m_poolsTold, count,
            [&](auto first, Bytes& out) { encodePools(first, rows, out); });
    }
    template <class Encode>
    void writeTable(ChunkType type, std::size_t& told, std::size_t count, Encode encode)
    {
        m_writer.chunk(type, [&](Bytes& out) { encode(static_cast<std::uint32_t>(told), out); });
        told = count;
    }
    void writeAs(ChunkType type, const Bytes& payload)
    {
        m_writer.chunk(type, [&](Bytes& out) { out = payload; });
    }
    static void require(bool decoded)
    {
        if (!decoded)
            throw std::invalid_argument("a payload cannot be read");
    }

    std::mt19937 m_random;
    MemorySink m_sink;
    ChunkWriter m_writer{ m_sink };
    std::vector<std::string> m_strings;
    std::vector<FrameRow> m_frames;
    StackRows m_stacks;
    std::vector<std::int64_t> m_streams;
    std::vector<PoolRow> m_pools;
    std::size_t m_stringsTold = 0, m_framesTold = 0, m_stacksTold = 0, m_streamsTold = 0, m_poolsTold = 0;
    std::map<int, Device> m_devices;
    std::vector<std::pair<ChunkType, Bytes>> m_front, m_behind;
};

} // namespace

Bytes inLittleChunks(std::span<const std::byte> session, std::uint32_t seed)
{
    Rewriter rewriter(seed);
    rewriter.read(session);
    return rewriter.write();
}

} // namespace strata::test
