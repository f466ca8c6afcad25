// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/session/symbol_rows.h"

#include "model/wire/info.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <unordered_map>
#include <vector>

namespace strata::model {

namespace {

// Real programs have some tens; rows may be anybody's.
constexpr std::size_t kDeepest = 256;

void setSource(Frame& frame, const wire::SymbolRow& row, StringTable& strings)
{
    frame.file = strings.intern(row.file);
    frame.function = strings.intern(row.function);
    frame.line = static_cast<std::int64_t>(std::min<std::uint64_t>(row.line, INT32_MAX));
}

/// They are frames of C++ as those that were recorded, and told apart from them.
std::string extrasOfInlined(const std::string& place, std::size_t depth)
{
    return place.ends_with('}')
        ? fmt::format("{}, \"{}\": {}}}", place.substr(0, place.size() - 1), wire::extras::kInlined, depth)
        : std::string();
}

} // namespace

void applySymbols(std::span<const wire::SymbolRow> rows, Recording& recording)
{
    std::unordered_map<std::uint32_t, std::vector<const wire::SymbolRow*>> byPlace;
    for (const wire::SymbolRow& row : rows)
        if (const StringId place = recording.strings.find(row.place); place.valid())
            if (auto& ofPlace = byPlace[place.value]; ofPlace.size() < kDeepest)
                ofPlace.push_back(&row);
    StackTable::Inlined inlined;
    const auto recorded = static_cast<std::uint32_t>(recording.stacks.frameCount());
    for (std::uint32_t i = 0; i < recorded; ++i) {
        Frame frame = recording.stacks.frame(FrameId{ i });
        const auto found = frame.extras.valid() ? byPlace.find(frame.extras.value) : byPlace.end();
        if (found == byPlace.end())
            continue;
        const auto& outermostFirst = found->second;
        setSource(frame, *outermostFirst.front(), recording.strings);
        recording.stacks.replaceFrame(FrameId{ i }, frame);
        if (outermostFirst.size() == 1)
            continue;
        std::vector<FrameId>& inner = inlined[FrameId{ i }.value];
        for (std::size_t depth = outermostFirst.size(); --depth > 0;) {
            const wire::SymbolRow& row = *outermostFirst[depth];
            Frame one;
            setSource(one, row, recording.strings);
            one.extras = recording.strings.intern(extrasOfInlined(row.place, depth));
            inner.push_back(recording.stacks.internFrame(one));
        }
    }
    if (!inlined.empty())
        recording.stacks.showInlined(std::move(inlined));
}

} // namespace strata::model
