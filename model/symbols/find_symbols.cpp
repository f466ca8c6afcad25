// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/symbols/find_symbols.h"

#include "model/symbols/modules.h"
#include "model/trace/frames.h"
#include "model/wire/info.h"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>

namespace strata::model {

namespace {

using wire::extras::kBuildId;
using wire::extras::kOffset;

/// Where a frame of C++ lies.
struct CodePlace {
    std::string buildId;
    std::uint64_t offset = 0;
};

/// None for those that debug information has put there.
std::optional<CodePlace> codePlaceOf(std::string_view extras)
{
    const auto json = nlohmann::json::parse(extras, nullptr, false);
    if (!json.is_object() || !json.contains(kBuildId) || !json[kBuildId].is_string()
        || !json.contains(kOffset) || !json[kOffset].is_string() || json.contains(wire::extras::kInlined))
        return std::nullopt;
    const auto& offset = json[kOffset].get_ref<const std::string&>();
    char* end = nullptr;
    const CodePlace place{ json[kBuildId].get<std::string>(), std::strtoull(offset.c_str(), &end, 16) };
    return *end == '\0' ? std::optional(place) : std::nullopt;
}

} // namespace

FoundSymbols findSymbols(const Recording& recording, SymbolsOf of)
{
    Modules modules;
    FoundSymbols result;
    for (std::uint32_t i = 0; i < recording.stacks.frameCount(); ++i) {
        const Frame& frame = recording.stacks.frame(FrameId{ i });
        if (!frame.extras.valid() || frame.line != 0)
            continue;
        const std::string module(recording.strings[frame.file]);
        const std::string function(recording.strings[frame.function]);
        // Of other people's libraries the name is enough, which the loader knew for most.
        const bool own = originOf(module) == FrameOrigin::User || isOwnNative(module);
        if (!own && (of == SymbolsOf::Program || function != "??"))
            continue;
        const std::string extras(recording.strings[frame.extras]);
        const auto place = codePlaceOf(extras);
        if (!place)
            continue;
        result.places += own ? 1 : 0;
        std::vector<SourcePlace> found = modules.find(module, place->buildId, place->offset);
        if (found.empty())
            continue;
        if (!own)
            found = { { {}, found.back().function, 0 } };
        else if (found.back().line > 0)
            ++result.withLine;
        for (const SourcePlace& each : found | std::views::reverse)
            result.rows.push_back({ extras, each.file.empty() ? module : each.file,
                each.function.empty() ? function : each.function, static_cast<std::uint64_t>(each.line) });
    }
    return result;
}

} // namespace strata::model
