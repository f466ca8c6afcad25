// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/ledger/tensor_sums.h"

#include "model/base/wrap.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <set>

namespace strata::model {

namespace {

using Kind = wire::RoleKind;

struct Textbook {
    std::string_view optimizer;
    int states; // without options
};

constexpr std::array kTextbook{ Textbook{ "Adam", 2 }, Textbook{ "AdamW", 2 }, Textbook{ "NAdam", 2 },
    Textbook{ "RAdam", 2 }, Textbook{ "Adamax", 2 }, Textbook{ "SparseAdam", 2 }, Textbook{ "SGD", 0 },
    Textbook{ "RMSprop", 1 }, Textbook{ "Adagrad", 1 }, Textbook{ "Adadelta", 2 }, Textbook{ "ASGD", 1 },
    Textbook{ "Rprop", 2 }, Textbook{ "Muon", 1 }, Textbook{ "Lion", 1 } };

// States that are there with an option alone: momentum, amsgrad, centered.
constexpr std::array<std::string_view, 3> kOptional{ "momentum_buffer", "max_exp_avg_sq", "grad_avg" };

std::optional<int> statesOf(std::string_view optimizer, const std::set<std::string_view>& parts)
{
    const auto found = std::ranges::find(kTextbook, optimizer, &Textbook::optimizer);
    if (found == kTextbook.end())
        return std::nullopt;
    const bool isMuon = optimizer == "Muon"; // whose momentum is no option
    return found->states + static_cast<int>(std::ranges::count_if(kOptional, [&](std::string_view part) {
        return !isMuon && parts.contains(part);
    }));
}

void addTensor(TensorSums::Elements& to, StringId type, std::int64_t elements, const Recording& recording)
{
    const std::int64_t each = elementBytes(type.valid() ? recording.strings[type] : std::string_view());
    to.count = wrapAdd(to.count, elements);
    std::int64_t& ofType = to.byType[type];
    ofType = wrapAdd(ofType, elements);
    to.typesKnown = to.typesKnown && (each > 0 || elements == 0);
    for (std::int64_t i = 0; i < each; ++i)
        to.bytes = wrapAdd(to.bytes, elements);
    if (!to.typesKnown)
        to.bytes = 0;
}

} // namespace

StringId TensorSums::Elements::mostly() const
{
    const auto most = std::ranges::max_element(byType, {}, [](const auto& each) { return each.second; });
    return most == byType.end() ? StringId{} : most->first;
}

std::int64_t elementBytes(std::string_view type)
{
    struct Type {
        std::string_view name;
        std::int64_t bytes;
    };
    static constexpr std::array kTypes{ Type{ "float32", 4 }, Type{ "bfloat16", 2 }, Type{ "float16", 2 },
        Type{ "float64", 8 }, Type{ "int64", 8 }, Type{ "int32", 4 }, Type{ "int16", 2 }, Type{ "int8", 1 },
        Type{ "uint8", 1 }, Type{ "uint16", 2 }, Type{ "uint32", 4 }, Type{ "uint64", 8 }, Type{ "bool", 1 },
        Type{ "complex32", 4 }, Type{ "complex64", 8 }, Type{ "complex128", 16 } };
    if (type.starts_with("float8_") || type.starts_with("float4_"))
        return 1;
    const auto found = std::ranges::find(kTypes, type, &Type::name);
    return found == kTypes.end() ? 0 : found->bytes;
}

TensorSums tensorSums(const DeviceTrace& trace, const ListedTensors& tensors, std::span<const BlockId> active)
{
    TensorSums sums;
    for (const BlockId block : active) {
        const auto placedIn = tensors.in(block);
        if (placedIn.empty())
            continue;
        // A parameter is told of by its optimizer and by its module; tied ones have several names.
        boost::unordered_flat_set<std::uint64_t> met; // to clear it would cost what it once held
        const auto count = [&](bool ofOptimizers) {
            for (const ListedTensors::Placed& placed : placedIn) {
                const RoleListing& listing = tensors.listing(placed);
                if ((listing.optimizer != RoleListing::kNoOptimizer) != ofOptimizers)
                    continue;
                const std::uint64_t key
                    = listing.address * wire::kRoleKinds + static_cast<std::uint64_t>(listing.kind);
                if (!met.insert(key).second)
                    continue;
                addTensor(sums.ofKind[static_cast<std::size_t>(listing.kind)], listing.dtype,
                    listing.elements, trace.recording());
                if (ofOptimizers && listing.kind == Kind::Parameter) {
                    addTensor(sums.trained, listing.dtype, listing.elements, trace.recording());
                    addTensor(sums.trainedBy[listing.optimizer], listing.dtype, listing.elements,
                        trace.recording());
                }
            }
        };
        count(true);
        count(false);
    }
    return sums;
}

std::optional<double> stateBytesExpected(
    const DeviceTrace& trace, const ListedTensors& tensors, const TensorSums& sums)
{
    const Recording& recording = trace.recording();
    std::map<std::uint32_t, std::string_view> classes;
    std::map<std::uint32_t, std::set<std::string_view>> parts;
    for (const RoleListing& listing : tensors.listings()) {
        if (listing.kind == Kind::Stepped && listing.name.valid())
            classes.try_emplace(listing.optimizer, recording.strings[listing.name]);
        if (listing.kind == Kind::OptimizerState && listing.part.valid())
            parts[listing.optimizer].insert(recording.strings[listing.part]);
    }
    if (sums.trainedBy.empty())
        return std::nullopt;
    double bytes = 0;
    for (const auto& [optimizer, elements] : sums.trainedBy) {
        const auto name = classes.find(optimizer);
        const auto states = name == classes.end() ? std::nullopt : statesOf(name->second, parts[optimizer]);
        if (!states || !elements.typesKnown)
            return std::nullopt;
        bytes += static_cast<double>(elements.bytes) * *states;
    }
    return bytes;
}

} // namespace strata::model
