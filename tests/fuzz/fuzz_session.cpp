// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as the payloads of a session's chunks. Their hashes would keep a fuzzer out, so they are made
// here: the input is a list of (type, length, payload).
#include "model/readers/reader.h"
#include "model/session/session.h"
#include "model/wire/chunk.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace strata;
    std::span<const std::byte> in = std::as_bytes(std::span(data, size));
    wire::ChunkPacker packer(1);
    wire::Bytes stream;
    while (in.size() >= 3) {
        const auto type = static_cast<wire::ChunkType>(in[0]);
        const std::size_t length = std::min<std::size_t>(
            static_cast<std::size_t>(in[1]) | static_cast<std::size_t>(in[2]) << 8, in.size() - 3);
        if (!packer.pack(type, in.subspan(3, length), stream))
            __builtin_trap();
        in = in.subspan(3 + length);
    }
    const model::ReadLimits limits{ .unpackedBytes = 64u << 20, .force = false };
    auto recording = model::readRecording(std::span<const std::byte>(stream), limits, {});
    if (!recording) {
        if (recording.error().text().empty())
            __builtin_trap();
        return 0;
    }
    (void)model::Session::fromRecording(std::move(*recording));
    return 0;
}
