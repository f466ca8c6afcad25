// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/block_modules.h"

#include <boost/unordered/unordered_flat_map.hpp>

namespace strata::model {

namespace {

/// Nothing for the parameters of the outermost module, and for names that are made up of numbers.
std::string_view moduleOfTensor(std::string_view name)
{
    const std::size_t dot = name.rfind('.');
    return dot == name.npos ? std::string_view() : name.substr(0, dot);
}

template <class LabelOf>
std::shared_ptr<const BlockLabels> labelsOf(const DeviceTrace& trace, LabelOf&& labelOf)
{
    auto labels = std::make_shared<BlockLabels>();
    const BlockColumns& blocks = trace.blocks();
    for (std::size_t row = 0; row < blocks.bornCount(); ++row)
        labels->rows.born.push_back(labelOf(BlockId::born(row), labels->names));
    for (std::size_t row = 0; row < blocks.olderCount(); ++row)
        labels->rows.older.push_back(labelOf(BlockId::older(row), labels->names));
    return labels;
}

} // namespace

std::string_view moduleOf(const DeviceTrace& trace, const ListedTensors& tensors, BlockId block)
{
    const Recording& recording = trace.recording();
    for (const ListedTensors::Placed& placed : tensors.in(block))
        if (const StringId name = tensors.listing(placed).name; name.valid())
            if (const std::string_view module = moduleOfTensor(recording.strings[name]); !module.empty())
                return module;
    const EventIndex birth = trace.blocks().birth(block);
    if (birth < 0)
        return {};
    const ModuleIndex module = trace.events().moduleOf(static_cast<std::size_t>(birth));
    if (module >= recording.modules.size() || !recording.modules[module].valid())
        return {};
    return recording.strings[recording.modules[module]];
}

std::shared_ptr<const BlockLabels> categoryLabels(const DeviceTrace& trace, const Categories& categories)
{
    return labelsOf(trace, [&](BlockId block, std::vector<std::string>& names) {
        if (names.empty())
            for (std::size_t i = 0; i < kCategories; ++i)
                names.emplace_back(categoryWord(static_cast<Category>(i)));
        return static_cast<std::uint32_t>(categories.of(block).category);
    });
}

std::shared_ptr<const BlockLabels> moduleLabels(const DeviceTrace& trace, const Categories& categories)
{
    boost::unordered_flat_map<std::string_view, std::uint32_t> known; // in the strings of the recording
    return labelsOf(trace, [&](BlockId block, std::vector<std::string>& names) {
        const std::string_view module = moduleOf(trace, categories.tensors(), block);
        const auto [found, isNew] = known.try_emplace(module, static_cast<std::uint32_t>(names.size()));
        if (isNew)
            names.emplace_back(module.empty() ? kNoModuleLabel : module);
        return found->second;
    });
}

DeviceLabels deviceLabels(const DeviceTrace& trace, const Categories& categories)
{
    return { categoryLabels(trace, categories), moduleLabels(trace, categories) };
}

} // namespace strata::model
