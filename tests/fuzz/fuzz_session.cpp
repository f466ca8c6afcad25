// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as the payloads of a session's chunks. Their hashes would keep a fuzzer out, so they are made
// here, and so is what binds digests to the chunks before them: the input is a list of (type, length,
// payload).
#include "model/analysis/summary.h"
#include "model/readers/reader.h"
#include "model/session/session.h"
#include "model/wire/chunk.h"
#include "model/wire/digest.h"
#include "model/wire/follower.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

namespace {

using namespace strata;

/// What a recorder does with its own events, done with any.
class Followers {
public:
    void operator()(wire::ChunkType type, const wire::Bytes& payload)
    {
        wire::State state;
        wire::EventChunk events;
        if (type == wire::ChunkType::BaseState && wire::decodeState(payload, state))
            m_followers[state.device].begin(state);
        else if (type == wire::ChunkType::Events && wire::decodeEvents(payload, events))
            for (const wire::EventRow& row : events.rows)
                m_followers[events.device].add(row);
        else if (type == wire::ChunkType::EndState && wire::decodeState(payload, state))
            (void)m_followers[state.device].finish(state);
    }

private:
    std::map<int, wire::Follower> m_followers;
};

void summarizeOutline(std::span<const std::byte> stream, const model::ReadLimits& limits)
{
    const auto outline = model::RecordingFile(stream, limits).outline();
    if (!outline)
        return;
    const auto& devices = outline->recording->devices;
    if (devices.size() != outline->devices.size())
        __builtin_trap();
    for (std::size_t i = 0; i < devices.size(); ++i) {
        const model::DeviceOutline& device = outline->devices[i];
        const model::GroupTable lines = model::linesOf(*outline->recording, device);
        if (model::summarize(*outline->recording, devices[i], device, lines).verdict.empty())
            __builtin_trap();
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    std::span<const std::byte> in = std::as_bytes(std::span(data, size));
    wire::ChunkPacker packer(1);
    Followers follow;
    wire::Bytes stream;
    while (in.size() >= 3) {
        const auto type = static_cast<wire::ChunkType>(in[0]);
        const std::size_t length = std::min<std::size_t>(
            static_cast<std::size_t>(in[1]) | static_cast<std::size_t>(in[2]) << 8, in.size() - 3);
        const auto given = in.subspan(3, length);
        wire::Bytes payload(given.begin(), given.end());
        wire::Digest digest;
        if (type == wire::ChunkType::Digest && wire::decodeDigest(payload, digest)) {
            digest.chunks = packer.sequence();
            digest.chain = packer.chain();
            payload.clear();
            wire::encodeDigest(digest, payload);
        }
        follow(type, payload);
        if (!packer.pack(type, payload, stream))
            __builtin_trap();
        in = in.subspan(3 + length);
    }
    const model::ReadLimits limits{ .unpackedBytes = 64u << 20, .force = false };
    summarizeOutline(stream, limits);
    auto recording = model::readRecording(std::span<const std::byte>(stream), limits, {});
    if (!recording) {
        if (recording.error().text().empty())
            __builtin_trap();
        return 0;
    }
    (void)model::Session::fromRecording(std::move(*recording));
    return 0;
}
