// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/allocator/part_legend.h"

#include <utility>
#include <vector>

namespace strata::views {

namespace {

std::vector<Legend::Entry> entriesOf(PartLegend::Of of, const Palette& palette)
{
    std::vector<Legend::Entry> all;
    const auto add = [&](const QString& name, const FillStyle& style) {
        all.push_back({ name, [style](int scale) { return style.brush(scale); } });
    };
    if (of == PartLegend::Of::Chart) {
        for (int p = 0; p < kReservedParts; ++p) {
            const auto part = static_cast<ReservedPart>(p);
            add(partName(part), partStyle(palette, part));
        }
        return all;
    }
    const auto ofRole = [&](Palette::Role role, Pattern pattern) {
        return FillStyle{ palette[role].rgb(), palette[Palette::Role::Surface].rgb(), pattern };
    };
    add(PartLegend::tr("in use: a colour for each line of code"),
        { palette.group(0).rgb(), 0, Pattern::Plain });
    add(PartLegend::tr("free"), ofRole(Palette::Role::Free, Pattern::Plain));
    add(PartLegend::tr("rounding and tails not split off"), ofRole(Palette::Role::Other, Pattern::Crossed));
    add(PartLegend::tr("pending free"),
        { palette[Palette::Role::Surface].rgb(), palette[Palette::Role::PendingFree].rgb(),
            Pattern::Dotted });
    add(PartLegend::tr("older than the trace"), ofRole(Palette::Role::BeforeTrace, Pattern::Banded));
    return all;
}

} // namespace

PartLegend::PartLegend(Of of, QWidget* parent)
    : Legend(parent)
    , m_of(of)
{
    setColours(Palette::light());
}

void PartLegend::setColours(const Palette& palette)
{
    setEntries(entriesOf(m_of, palette), palette);
}

} // namespace strata::views
