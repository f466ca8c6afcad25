// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/ledger/block_modules.h"

#include <algorithm>
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

/// By a tensor in it.
std::string_view moduleBy(
    const DeviceTrace& trace, const ListedTensors& tensors, std::span<const PlacedTensor> placed)
{
    const Recording& recording = trace.recording();
    for (const PlacedTensor& each : placed)
        if (const StringId name = tensors.listing(each).name; name.valid())
            if (const std::string_view module = moduleOfTensor(recording.strings[name]); !module.empty())
                return module;
    return {};
}

/// Its row in the recording; kNoIndex: no module was running.
ModuleIndex moduleAtBirth(const DeviceTrace& trace, BlockId block)
{
    const EventIndex birth = trace.blocks().birth(block);
    if (birth < 0)
        return kNoIndex;
    const ModuleIndex module = trace.events().moduleOf(static_cast<std::size_t>(birth));
    const auto& modules = trace.recording().modules;
    return module < modules.size() && modules[module].valid() ? module : kNoIndex;
}

/// Numbers modules in the order in which blocks have them; each of the recording is looked up once.
class ModuleNames {
public:
    explicit ModuleNames(const Recording& recording)
        : m_recording(recording)
        , m_ofIndex(recording.modules.size(), kNone)
    {
    }

    std::uint32_t numberOf(std::string_view module, std::vector<std::string>& names)
    {
        const auto [found, isNew] = m_known.try_emplace(module, static_cast<std::uint32_t>(names.size()));
        if (isNew)
            names.emplace_back(module.empty() ? kNoModuleLabel : module);
        return found->second;
    }
    std::uint32_t numberOf(ModuleIndex module, std::vector<std::string>& names)
    {
        std::uint32_t& number = module == kNoIndex ? m_ofNone : m_ofIndex[module];
        if (number == kNone)
            number = numberOf(module == kNoIndex
                    ? std::string_view()
                    : std::string_view(m_recording.strings[m_recording.modules[module]]),
                names);
        return number;
    }

private:
    static constexpr std::uint32_t kNone = 0xffffffffu;

    const Recording& m_recording;
    std::vector<std::uint32_t> m_ofIndex; // by ModuleIndex
    std::uint32_t m_ofNone = kNone;
    boost::unordered_flat_map<std::string_view, std::uint32_t> m_known; // in the strings of the recording
};

} // namespace

std::string_view moduleOf(const DeviceTrace& trace, const ListedTensors& tensors, BlockId block)
{
    if (const std::string_view module = moduleBy(trace, tensors, tensors.in(block)); !module.empty())
        return module;
    const ModuleIndex module = moduleAtBirth(trace, block);
    if (module == kNoIndex)
        return {};
    return trace.recording().strings[trace.recording().modules[module]];
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
    const ListedTensors& tensors = categories.tensors();
    ModuleNames modules(trace.recording());
    // Blocks come in order, as tensors do: those of the trace first.
    const std::span<const PlacedTensor> all = tensors.all();
    auto next = all.begin();
    return labelsOf(trace, [&](BlockId block, std::vector<std::string>& names) {
        std::string_view module;
        if (next != all.end() && next->block == block) {
            const auto first = next;
            next = std::ranges::find_if(
                next, all.end(), [&](const PlacedTensor& each) { return each.block != block; });
            module = moduleBy(trace, tensors, { first, next });
        }
        return module.empty() ? modules.numberOf(moduleAtBirth(trace, block), names)
                              : modules.numberOf(module, names);
    });
}

DeviceLabels deviceLabels(const DeviceTrace& trace, const Categories& categories)
{
    return { categoryLabels(trace, categories), moduleLabels(trace, categories) };
}

} // namespace strata::model
