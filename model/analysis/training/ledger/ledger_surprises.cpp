// SPDX-License-Identifier: GPL-3.0-or-later
// What is surprising in a ledger: more than the textbook says, by type or by number, and what nobody knows.
#include "model/analysis/training/ledger/ledger.h"
#include "model/base/nearest.h"
#include "model/base/units.h"

#include <algorithm>
#include <utility>

namespace strata::model {

namespace {

using Kind = wire::RoleKind;

constexpr double kMuch = 1.1; // times what is expected
constexpr std::int64_t kUnknownShare = 10; // one part in so many of what was requested

std::string perParameter(double bytes)
{
    return formatFigure(bytes) + " B";
}

/// A type that is wider than that of the parameters; none.
std::string_view widerType(
    const Recording& recording, const TensorSums::Elements& of, const TensorSums::Elements& parameters)
{
    const StringId type = of.mostly(), own = parameters.mostly();
    if (!type.valid() || !own.valid())
        return {};
    const std::string_view name = recording.strings[type];
    return elementBytes(name) > elementBytes(recording.strings[own]) ? name : std::string_view();
}

Sentence surpriseOf(const Recording& recording, const TensorSums& sums, const LedgerRow& row)
{
    if (!row.bytesPerParameter || !row.expectedBytesPerParameter
        || *row.bytesPerParameter <= *row.expectedBytesPerParameter * kMuch)
        return {};
    const TensorSums::Elements& parameters = sums.of(Kind::Parameter);
    const StringId type = parameters.mostly();
    const std::string_view own = type.valid() ? recording.strings[type] : std::string_view();
    const std::string is = perParameter(*row.bytesPerParameter);
    const std::string expected = perParameter(*row.expectedBytesPerParameter);
    switch (row.category) {
    case Category::OptimizerState: {
        const std::string_view wider = widerType(recording, sums.of(Kind::OptimizerState), parameters);
        return wider.empty()
            ? say("Optimizer state takes %1 a parameter; the optimizer needs %2", is, expected)
            : say("Optimizer state is in %1 although parameters are in %2: %3 a parameter", wider, own, is);
    }
    case Category::Gradient: {
        const std::string_view wider = widerType(recording, sums.of(Kind::Gradient), parameters);
        return wider.empty()
            ? say("Gradients take %1 a parameter although %2 would hold them", is, expected)
            : say("Gradients are in %1 although parameters are in %2: %3 a parameter", wider, own, is);
    }
    case Category::Parameter:
        return say("The blocks of parameters take %1 a parameter although %2 would hold them", is, expected);
    default:
        return {};
    }
}

} // namespace

void tellSurprises(const Recording& recording, const TensorSums& sums, Ledger& ledger)
{
        for (LedgerRow& row : ledger.rows) {
        if (Sentence sentence = surpriseOf(recording, sums, row); !sentence.empty()) {
            const double more = *row.bytesPerParameter - *row.expectedBytesPerParameter;
            row.note = sentence;
            ledger.surprises.push_back({ row.category,
                nearestWhole(more * static_cast<double>(*ledger.parameters)), std::move(sentence) });
        }
        if (row.category == Category::Unknown && row.bytes > ledger.requestedBytes / kUnknownShare) {
            row.note = say("What %1 are for is not known", asBytes(row.bytes));
            ledger.surprises.push_back({ row.category, row.bytes, row.note });
        }
    }
    std::ranges::stable_sort(ledger.surprises, std::greater<>{}, &LedgerSurprise::bytes);
}

} // namespace strata::model
