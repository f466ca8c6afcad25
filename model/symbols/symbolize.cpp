// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/symbols/symbolize.h"

#include "model/readers/reader.h"
#include "model/session/chunk_file.h"
#include "model/symbols/modules.h"
#include "model/trace/frames.h"
#include "model/wire/info.h"
#include "model/wire/symbols.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <vector>

namespace strata::model {

namespace {

using wire::extras::kBuildId;
using wire::extras::kOffset;

/// Where a frame of C++ lies.
struct CodePlace {
    std::string buildId;
    std::uint64_t offset = 0;
};

std::optional<CodePlace> codePlaceOf(std::string_view extras)
{
    const auto json = nlohmann::json::parse(extras, nullptr, false);
    if (!json.is_object() || !json.contains(kBuildId) || !json[kBuildId].is_string()
        || !json.contains(kOffset) || !json[kOffset].is_string())
        return std::nullopt;
    const auto& offset = json[kOffset].get_ref<const std::string&>();
    char* end = nullptr;
    const CodePlace place{ json[kBuildId].get<std::string>(), std::strtoull(offset.c_str(), &end, 16) };
    return *end == '\0' ? std::optional(place) : std::nullopt;
}

/// Behind all that a recorder wrote; nothing that is there changes.
Result<void> append(const std::filesystem::path& path, std::span<const wire::SymbolRow> rows)
{
    const ChunkFile file(path, O_RDWR);
    if (file.isOpen() && file.lock()) {
        const ChunkWalk at = file.walk();
        if (!at.hasIndex && file.isBeingRecorded())
            return fail(Error::Kind::Format,
                say("the recording is not finished: what it says of C++ stays as it is"),
                say("wait until the program that is recorded has ended"));
        const auto write = [&](wire::ChunkWriter& writer) {
            writer.chunk(wire::ChunkType::Symbols, [&](wire::Bytes& out) { wire::encodeSymbols(rows, out); });
        };
        if (file.append(at, write))
            return {};
    }
    return fail(Error::Kind::Unreadable, say("%1: cannot be written: %2", path, std::strerror(errno)),
        say("copy it to a folder of your own, or free some space"));
}

} // namespace

Result<Symbolized> symbolize(const std::filesystem::path& path)
{
    auto file = RecordingFile::open(path, { .force = true });
    if (!file)
        return Failure(file.error());
    auto outline = file->outline();
    auto read = outline ? std::move(outline->recording) : file->all();
    if (!read)
        return Failure(read.error());
    const Recording& recording = **read;
    Modules modules;
    Symbolized result;
    std::vector<wire::SymbolRow> rows;
    for (std::uint32_t i = 0; i < recording.stacks.frameCount(); ++i) {
        const Frame& frame = recording.stacks.frame(FrameId{ i });
        if (!frame.extras.valid() || frame.line != 0)
            continue;
        const std::string extras(recording.strings[frame.extras]);
        const auto place = codePlaceOf(extras);
        if (!place)
            continue;
        const std::string module(recording.strings[frame.file]);
        // Of other people's libraries the name is enough, which the loader knew for most.
        const bool own = originOf(module) == FrameOrigin::User || isOwnNative(module);
        if (!own && recording.strings[frame.function] != "??")
            continue;
        result.places += own ? 1 : 0;
        auto found = modules.find(module, place->buildId, place->offset);
        if (!found)
            continue;
        if (!own) {
            found->file.clear();
            found->line = 0;
        }
        if (found->line > 0)
            ++result.withLine;
        if (found->function.empty())
            found->function = recording.strings[frame.function];
        rows.push_back({ extras, found->file.empty() ? module : found->file, found->function,
            static_cast<std::uint64_t>(found->line) });
    }
    if (rows.empty())
        return result;
    if (const auto written = append(path, rows); !written)
        return Failure(written.error());
    return result;
}

} // namespace strata::model
