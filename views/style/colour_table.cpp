// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/style/colour_table.h"

#include <algorithm>
#include <array>

namespace strata::views {

namespace {

constexpr int kNone = -1;

int colourIn(const NamedColours& picture, std::string_view name)
{
    const auto found = picture.byName.find(name);
    return found == picture.byName.end() ? kNone : found->second;
}

} // namespace

std::shared_ptr<const NamedColours> ColourTable::assign(
    std::string_view kind, std::span<const std::string_view> largestFirst, const NamedColours* before)
{
    auto made = std::make_shared<NamedColours>();
    made->kind = kind;
    const std::size_t coloured = std::min<std::size_t>(largestFirst.size(), kGroupColours);
    std::vector<int>& colours = made->colours;
    colours.assign(largestFirst.size(), kNone);
    std::array<bool, kGroupColours> taken{};
    const auto take = [&](std::size_t place, int colour) {
        if (colour == kNone || colours[place] != kNone || taken[static_cast<std::size_t>(colour)])
            return;
        colours[place] = colour;
        taken[static_cast<std::size_t>(colour)] = true;
    };

    const std::scoped_lock lock(m_mutex);
    if (before)
        for (std::size_t place = 0; place < coloured; ++place)
            take(place, colourIn(*before, largestFirst[place]));
    std::erase_if(m_open, [](const auto& picture) { return picture.expired(); });
    std::vector<std::shared_ptr<const NamedColours>> others;
    for (const auto& picture : m_open)
        if (auto held = picture.lock(); held && held->kind == kind)
            others.push_back(std::move(held));
    for (std::size_t place = 0; place < coloured; ++place)
        for (const auto& other : others)
            take(place, colourIn(*other, largestFirst[place]));
    for (std::size_t place = 0; place < coloured; ++place)
        take(place, static_cast<int>(std::ranges::find(taken, false) - taken.begin()) % kGroupColours);
    for (std::size_t place = 0; place < coloured; ++place)
        made->byName.emplace(largestFirst[place], colours[place]);
    for (std::size_t place = coloured; place < colours.size(); ++place)
        colours[place] = static_cast<int>(place);
    m_open.push_back(made);
    return made;
}

void ColourTable::add(const std::shared_ptr<const NamedColours>& picture)
{
    const std::scoped_lock lock(m_mutex);
    m_open.push_back(picture);
}

DocumentColours::DocumentColours(std::shared_ptr<ColourTable> window)
    : m_window(window ? std::move(window) : std::make_shared<ColourTable>())
{
}

std::vector<int> DocumentColours::assign(
    std::string_view kind, int device, std::span<const std::string_view> largestFirst)
{
    const std::scoped_lock lock(m_mutex);
    std::shared_ptr<const NamedColours>& kept = m_kept[{ std::string(kind), device }];
    auto made = std::make_shared<NamedColours>(*m_window->assign(kind, largestFirst, kept.get()));
    if (kept) // names that are not among the largest now; one of them may have given its colour to another
        made->byName.insert(kept->byName.begin(), kept->byName.end());
    kept = made;
    m_window->add(kept);
    return kept->colours;
}

} // namespace strata::views
