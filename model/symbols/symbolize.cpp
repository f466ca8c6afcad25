// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/symbols/symbolize.h"

#include "model/readers/reader.h"
#include "model/readers/session/chunk_stream.h"
#include "model/readers/source/byte_source.h"
#include "model/symbols/modules.h"
#include "model/trace/frames.h"
#include "model/wire/symbols.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

namespace strata::model {

namespace {

/// Where a frame of C++ lies.
struct CodePlace {
    std::string buildId;
    std::uint64_t offset = 0;
};

std::optional<CodePlace> codePlaceOf(std::string_view extras)
{
    const auto json = nlohmann::json::parse(extras, nullptr, false);
    if (!json.is_object() || !json.contains("build_id") || !json["build_id"].is_string()
        || !json.contains("offset") || !json["offset"].is_string())
        return std::nullopt;
    const auto& offset = json["offset"].get_ref<const std::string&>();
    char* end = nullptr;
    const CodePlace place{ json["build_id"].get<std::string>(), std::strtoull(offset.c_str(), &end, 16) };
    return *end == '\0' ? std::optional(place) : std::nullopt;
}

/// Behind the index of a finished session; nothing that is there changes.
Result<void> append(const std::filesystem::path& path, wire::ChunkType type, const wire::Bytes& payload)
{
    auto source = openFile(path);
    if (!source)
        return Failure(source.error());
    ChunkStream stream(**source);
    bool finished = false;
    ChunkStream::Step step = stream.next();
    for (; step == ChunkStream::Step::Chunk && stream.passOver(); step = stream.next())
        finished = finished || stream.head().type == wire::ChunkType::Index;
    wire::ChunkPacker packer;
    packer.continueAt(stream.sequence());
    wire::Bytes packed;
    if (!finished || step != ChunkStream::Step::End || !packer.pack(type, payload, packed))
        return fail(Error::Kind::Format, "the recording is not finished: what it says of C++ stays as it is",
            "convert it first: strata convert FILE -o FILE2.strata");
    std::ofstream file(path, std::ios::binary | std::ios::app);
    file.write(reinterpret_cast<const char*>(packed.data()), static_cast<std::streamsize>(packed.size()));
    file.close();
    if (!file) {
        std::error_code ignored;
        std::filesystem::resize_file(path, stream.offset(), ignored);
        return fail(Error::Kind::Unreadable, path.string() + ": cannot be written to",
            "copy it to a folder of your own");
    }
    return {};
}

} // namespace

Result<Symbolized> symbolize(const std::filesystem::path& path)
{
    std::unique_ptr<Recording> read;
    if (auto outline = readOutline(path, { .force = true })) {
        read = std::move(outline->recording);
    } else {
        auto whole = readRecording(path, { .force = true }, {});
        if (!whole)
            return Failure(whole.error());
        read = std::move(*whole);
    }
    const Recording& recording = *read;
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
    wire::Bytes payload;
    wire::encodeSymbols(rows, payload);
    if (const auto written = append(path, wire::ChunkType::Symbols, payload); !written)
        return Failure(written.error());
    return result;
}

} // namespace strata::model
