// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/json/foreign_json.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace strata::model {

namespace {

struct Foreign {
    std::array<std::string_view, 2> texts; ///< both stand in it
    English what;
};

// The more special ones first.
constexpr std::array kForeign{
    Foreign{ { "\"ctrl_deps\"", "\"nodes\"" }, English("an execution trace of PyTorch") },
    Foreign{ { "\"allocated_bytes.all.", "" }, English("what torch.cuda.memory_stats() returns") },
    Foreign{ { "speedscope", "\"$schema\"" }, English("a profile of speedscope") },
    Foreign{ { "\"cell_type\"", "\"cells\"" }, English("a Jupyter notebook") },
    Foreign{ { "\"weight_map\"", "" }, English("the list of a model's weights") },
    Foreign{ { "\"log_history\"", "" }, English("the state of a trainer") },
    Foreign{ { "\"zero_optimization\"", "" }, English("a configuration of DeepSpeed") },
    Foreign{ { "\"model_type\"", "" }, English("the configuration of a model") },
    Foreign{ { "\"architectures\"", "" }, English("the configuration of a model") },
    Foreign{ { "\"added_tokens\"", "" }, English("a tokenizer") },
};

} // namespace

std::optional<Sentence> foreignJson(std::span<const std::byte> head)
{
    const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    const auto* const found = std::ranges::find_if(kForeign, [text](const Foreign& foreign) {
        return std::ranges::all_of(foreign.texts,
            [text](std::string_view part) { return text.find(part) != std::string_view::npos; });
    });
    return found == kForeign.end() ? std::nullopt : std::optional(Sentence(found->what));
}

Sentence whatOpens()
{
    return say("Strata opens memory snapshots (torch.cuda.memory._dump_snapshot(FILE)), traces and memory "
               "timelines of "
               "torch.profiler, and its own sessions");
}

} // namespace strata::model
