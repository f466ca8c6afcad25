// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/session/session_reader.h"

#include "model/readers/session/chunk_stream.h"
#include "model/readers/session/session_builder.h"
#include "model/readers/session/session_reading.h"
#include "model/wire/user_data_codec.h"

#include <algorithm>

namespace strata::model {

Result<void> readSessionFile(Recording& recording, std::unique_ptr<ByteSource> source,
    std::uint64_t memoryLimit, const Progress& progress)
{
    SessionReading reading(recording, *source, memoryLimit);
    while (true) {
        if (progress.cancelled())
            return fail(Error::Kind::Cancelled, say("cancelled"));
        const Result<bool> more = reading.next();
        if (!more)
            return Failure(more.error());
        if (!*more)
            return reading.finish();
        progress({ Stage::Reading, static_cast<std::int64_t>(source->fileBytesDone()),
            static_cast<std::int64_t>(source->fileBytesTotal()), reading.eventCount() });
    }
}

std::optional<std::vector<DeviceDigest>> readSessionOutline(
    Recording& recording, std::unique_ptr<ByteSource> source, std::uint64_t memoryLimit)
{
    using wire::ChunkType;
    SessionBuilder builder(recording);
    ChunkStream stream(*source);
    std::vector<wire::Digest> found;
    std::uint64_t unpacked = 0;
    bool hasEvents = false;
    while (true) {
        const ChunkStream::Step step = stream.next();
        if (step == ChunkStream::Step::End)
            break;
        if (step == ChunkStream::Step::Stopped) {
            if (builder.hasIndex()) {
                recording.user.unreadFrom = stream.offset();
                break;
            }
            return std::nullopt;
        }
        const ChunkType type = stream.head().type;
        const std::uint64_t sequence = stream.sequence() - 1, chain = stream.chain();
        if (type == ChunkType::Events) {
            hasEvents = true;
            if (!found.empty() || !stream.passOver())
                return std::nullopt;
            continue;
        }
        unpacked += stream.head().unpackedBytes;
        const wire::Bytes* const payload = unpacked > memoryLimit / 8 ? nullptr : stream.payload();
        if (!payload) {
            if (!builder.hasIndex() || unpacked > memoryLimit / 8)
                return std::nullopt;
            recording.user.unreadFrom = stream.offset();
            break;
        }
        // Only names, user data and the index may follow a digest: it knows nothing of what is recorded
        // later.
        if (!found.empty() && type != ChunkType::Digest && type != ChunkType::Index
            && type != ChunkType::Symbols && !wire::isUserData(type))
            return std::nullopt;
        if (type != ChunkType::Digest) {
            if (!builder.take(type, *payload))
                return std::nullopt;
            continue;
        }
        wire::Digest digest;
        if (builder.hasIndex() || !wire::decodeDigest(*payload, digest) || digest.chunks != sequence
            || digest.chain != chain)
            return std::nullopt;
        found.push_back(std::move(digest));
    }
    builder.finish();
    std::vector<DeviceDigest> digests;
    for (const DeviceRecording& device : recording.devices) {
        const auto own = std::ranges::find(found, device.device, &wire::Digest::device);
        auto digest = own == found.end() ? std::nullopt : builder.digestOf(*own);
        if (!digest || builder.endsAt(device.device) != own->events)
            return std::nullopt;
        digests.push_back(std::move(*digest));
    }
    const bool whole = builder.hasIndex() && found.size() == digests.size() && !recording.truncation
        && recording.lost.empty() && (!hasEvents || !digests.empty())
        && (!digests.empty() || !recording.format.empty());
    return whole ? std::optional(std::move(digests)) : std::nullopt;
}

} // namespace strata::model
