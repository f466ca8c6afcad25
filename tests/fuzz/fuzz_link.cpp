// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as what a process sends over a live link, and as what a viewer says. The input is a list of
// (type, length, payload), made into chunks with right hashes and the numbers that come next, unless the
// first byte is odd: then the bytes are taken as they are.
#include "model/live/link_reader.h"
#include "model/live/stream_copy.h"
#include "model/session/session_stream.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace {

using namespace strata;

wire::Bytes streamOf(std::span<const std::byte> in)
{
    wire::Bytes stream;
    wire::appendLinkChunk(wire::kGreeting, wire::encodeGreeting, wire::Greeting{}, stream);
    wire::ChunkPacker packer(1);
    while (in.size() >= 3) {
        const auto type = static_cast<wire::ChunkType>(in[0]);
        const std::size_t length = std::min<std::size_t>(
            static_cast<std::size_t>(in[1]) | static_cast<std::size_t>(in[2]) << 8, in.size() - 3);
        const auto payload = in.subspan(3, length);
        wire::ChunkPacker outside(1);
        if (!(wire::isLinkType(type) ? outside : packer).pack(type, payload, stream))
            __builtin_trap();
        in = in.subspan(3 + length);
    }
    return stream;
}

/// As a viewer does, in pieces of so many bytes.
void follow(std::span<const std::byte> stream, std::size_t piece)
{
    model::LinkReader reader;
    std::unique_ptr<model::StreamCopy> copy;
    std::unique_ptr<model::SessionStream> session;
    bool late = false;
    while (!stream.empty()) {
        const auto part = stream.first(std::min(piece, stream.size()));
        stream = stream.subspan(part.size());
        reader.feed(part);
        for (model::LinkReader::Item item; (item = reader.next()) != model::LinkReader::Item::None;) {
            if (item == model::LinkReader::Item::Broken) {
                if (reader.problem().empty())
                    __builtin_trap();
                return;
            }
            if (item == model::LinkReader::Item::Gap) {
                late = true;
                copy.reset();
            }
            if (item != model::LinkReader::Item::Chunk)
                continue;
            if (!copy) {
                copy = std::make_unique<model::StreamCopy>(late);
                session = std::make_unique<model::SessionStream>(
                    model::SessionStream::Options{ "fuzz", std::uint64_t{ 64 } << 20 });
            }
            if (!session->feed(copy->take(reader.head(), reader.chunk())))
                return;
        }
    }
    if (session && session->finish())
        (void)session->publish();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::span<const std::byte> in = std::as_bytes(std::span(data, size));
    if (in.empty())
        return 0;
    const std::size_t piece = in.size() * 37 % 4096 + 1;
    follow(in, piece);
    follow(streamOf(in), piece);
    // The recorder's end.
    strata::wire::Join join;
    (void)strata::wire::decodeJoin(in, join);
    return 0;
}
