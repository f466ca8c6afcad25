// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/producer.h"

#include "model/wire/info.h"

#include <algorithm>
#include <array>

namespace strata::model {

namespace {

struct Kind {
    Accelerator accelerator;
    std::string_view type; ///< PyTorch's torch.device type
    std::string_view variable;
};

// Names of variables: c10/core/AllocatorConfig.cpp and torch_npu's NPUAllocatorConfig.
constexpr std::array kKinds{
    Kind{ Accelerator::Cuda, "cuda", "PYTORCH_CUDA_ALLOC_CONF" },
    Kind{ Accelerator::Rocm, "hip", "PYTORCH_HIP_ALLOC_CONF" },
    Kind{ Accelerator::Xpu, "xpu", "PYTORCH_XPU_ALLOC_CONF" },
    Kind{ Accelerator::Npu, "npu", "PYTORCH_NPU_ALLOC_CONF" },
    Kind{ Accelerator::Mtia, "mtia", "PYTORCH_MTIA_ALLOC_CONF" },
};

bool isSettingsVariable(std::string_view key)
{
    return key.starts_with("PYTORCH_") && key.ends_with("ALLOC_CONF");
}

bool isOfAmd(std::string_view product)
{
    return product.starts_with("AMD ") || product.starts_with("Instinct ") || product.starts_with("Radeon ");
}

} // namespace

Accelerator acceleratorOf(const Recording& recording)
{
    namespace info = wire::info;
    if (const auto type = recording.facts.find(snapshot_facts::kDeviceType); type != recording.facts.end()) {
        const auto* const kind = std::ranges::find(kKinds, type->second, &Kind::type);
        if (kind == kKinds.end())
            return Accelerator::Other;
        if (kind->accelerator != Accelerator::Cuda) // which PyTorch for ROCm says, too
            return kind->accelerator;
    }
    for (const Setting& setting : recording.settings) {
        const auto* const kind = std::ranges::find(kKinds, setting.key, &Kind::variable);
        if (kind != kKinds.end() && kind->accelerator != Accelerator::Cuda)
            return kind->accelerator;
    }
    const auto first = recording.facts.lower_bound(info::kDevice);
    for (auto fact = first; fact != recording.facts.end() && fact->first.starts_with(info::kDevice); ++fact)
        if (const auto key = wire::deviceKeyOf(fact->first, info::kDevice);
            key && key->field == info::kDeviceName && isOfAmd(fact->second))
            return Accelerator::Rocm;
    return Accelerator::Cuda;
}

English acceleratorName(Accelerator accelerator)
{
    switch (accelerator) {
    case Accelerator::Cuda:
        return English("an NVIDIA GPU");
    case Accelerator::Rocm:
        return English("an AMD GPU (ROCm)");
    case Accelerator::Xpu:
        return English("an Intel GPU (XPU)");
    case Accelerator::Npu:
        return English("an Ascend NPU");
    case Accelerator::Mtia:
        return English("an MTIA accelerator");
    case Accelerator::Other:
        break;
    }
    return English("an accelerator that is no CUDA GPU");
}

std::string_view settingsVariable(Accelerator accelerator)
{
    const auto* const kind = std::ranges::find(kKinds, accelerator, &Kind::accelerator);
    return kind == kKinds.end() ? std::string_view() : kind->variable;
}

const std::string* recordedAllocConf(const std::vector<Setting>& settings)
{
    const auto found = std::ranges::find_if(
        settings, [](const Setting& setting) { return isSettingsVariable(setting.key); });
    return found == settings.end() ? nullptr : &found->json;
}

std::map<std::string, std::int64_t> lostKeys(const Recording& recording)
{
    std::map<std::string, std::int64_t> lost;
    for (const auto& [key, count] : recording.unknownKeys) {
        // Events and frames keep all that they come with.
        const bool isKept = key.starts_with("event.") || key.starts_with("frame.")
            || (key.starts_with(snapshot_facts::kMember) && recording.facts.contains(key));
        if (!isKept)
            lost.emplace(key, count);
    }
    return lost;
}

} // namespace strata::model
