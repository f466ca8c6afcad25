// SPDX-License-Identifier: GPL-3.0-or-later
// Writes recordings as inputs of fuzz_session: the payloads of their sessions' chunks, unpacked.
//
// usage: session_seeds RECORDING OUT     of a file
//        session_seeds OUT               of programs that train, OUT-0 and so on
#include "model/analysis/summary/summary.h"
#include "model/readers/reader.h"
#include "model/session/save.h"
#include "model/wire/chunk.h"
#include "tests/unit/analysis/training/training_script.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

namespace {

using namespace strata;

bool write(std::unique_ptr<model::Recording> recording, const std::string& path)
{
    recording->user.set({ model::UserItem::Kind::Note, 1, 2, 0, 3, 4, 0x7000, "a note", {} });
    recording->user.set({ model::UserItem::Kind::Filter, 5, 6, 0, -1, -1, 0, "big", "{\"min_bytes\":1}" });
    recording->user.setRules(R"({"rules":[{"category":"input","min_bytes":1}]})", 7);
    const auto opened = model::Session::fromRecording(std::move(recording));
    if (!opened)
        return false;
    const std::string session = path + ".strata";
    if (!model::saveSession((*opened)->recording(), session, model::digestsOf((*opened)->devices())))
        return false;
    std::ifstream in(session, std::ios::binary);
    const std::string content{ std::istreambuf_iterator<char>(in), {} };
    std::filesystem::remove(session);

    std::ofstream out(path, std::ios::binary);
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
    return rest.empty() && out.flush();
}

/// By each evidence: accumulation, an evaluation, two optimizers, a closure, a leak of copies.
bool writeTrainings(const std::string& path)
{
    static constexpr test::Told kTold[]{ { .bits = true, .ranges = true, .listings = true, .modules = true },
        { .bits = true, .frames = true }, { .marks = true }, {},
        { .bits = true, .ranges = true, .listings = true, .marks = true, .frames = true, .modules = true } };
    const std::string script
        = "pp {xffllbbbxffbb(so)@}z {xffbb[o]&} z eeee {xffbrbk(o)@}z ccC"
          "{xffbb(o)@}zc {xffbb(o)@}zc {xffbb(o)@}zc {xffbb(o)@}zc {xffbb(o)@}zc x(ffbbo)@ xf!";
    int number = 0;
    for (const test::Told told : kTold)
        if (!write(test::TrainingScript(script, told).recording(), path + "-" + std::to_string(number++)))
            return false;
    return true;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc == 2)
        return writeTrainings(argv[1]) ? 0 : 1;
    if (argc != 3)
        return 2;
    auto recording = model::readRecording(std::filesystem::path(argv[1]), {}, {});
    return recording && write(std::move(*recording), argv[2]) ? 0 : 1;
}
