// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a recording as an input of fuzz_session: the payloads of its session's chunks, unpacked.
//
// usage: session_seeds RECORDING OUT
#include "model/analysis/summary.h"
#include "model/readers/reader.h"
#include "model/session/save.h"
#include "model/wire/chunk.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

int main(int argc, char** argv)
{
    using namespace strata;
    if (argc != 3)
        return 2;
    auto recording = model::readRecording(std::filesystem::path(argv[1]), {}, {});
    if (!recording)
        return 1;
    (*recording)->user.set({ model::UserItem::Kind::Note, 1, 2, 0, 3, 4, 0x7000, "a note", {} });
    (*recording)->user.set({ model::UserItem::Kind::Filter, 5, 6, 0, -1, -1, 0, "big", "{\"min_bytes\":1}" });
    const auto opened = model::Session::fromRecording(std::move(*recording));
    if (!opened)
        return 1;
    const std::string session = std::string(argv[2]) + ".strata";
    if (!model::saveSession((*opened)->recording(), session, model::digestsOf((*opened)->devices())))
        return 1;
    std::ifstream in(session, std::ios::binary);
    const std::string content{ std::istreambuf_iterator<char>(in), {} };
    std::filesystem::remove(session);

    std::ofstream out(argv[2], std::ios::binary);
    std::span<const std::byte> rest = std::as_bytes(std::span(content));
    wire::ChunkHead head;
    wire::Bytes payload;
    while (!rest.empty() && wire::readHead(rest, head) == wire::ChunkStatus::Ok
        && wire::unpack(head, rest.first(wire::kHeadBytes), rest.subspan(wire::kHeadBytes), payload)
            == wire::ChunkStatus::Ok) {
        rest = rest.subspan(wire::kHeadBytes + head.storedBytes);
        if (payload.size() > 0xffff)
            continue;
        out.put(static_cast<char>(head.type));
        out.put(static_cast<char>(payload.size()));
        out.put(static_cast<char>(payload.size() >> 8));
        out.write(
            reinterpret_cast<const char*>(payload.data()), static_cast<std::streamsize>(payload.size()));
    }
    return rest.empty() && out.flush() ? 0 : 1;
}
