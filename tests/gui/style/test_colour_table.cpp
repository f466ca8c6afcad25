// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/style/colour_table.h"

#include "views/style/palette.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

using namespace strata::views;

namespace {

constexpr int kColours = ColourTable::kGroupColours;
using Names = std::vector<std::string>;
using Picture = std::shared_ptr<const NamedColours>;

Picture assign(
    ColourTable& table, const Names& names, const Picture& before = {}, std::string_view kind = "line")
{
    const std::vector<std::string_view> views(names.begin(), names.end());
    return table.assign(kind, views, before.get());
}

Names letters(char first, int count)
{
    Names names;
    for (int i = 0; i < count; ++i)
        names.emplace_back(1, static_cast<char>(first + i));
    return names;
}

void expectDifferent(const Picture& picture)
{
    std::set<int> seen;
    for (std::size_t i = 0; i < std::min<std::size_t>(picture->colours.size(), kColours); ++i) {
        EXPECT_TRUE(picture->colours[i] >= 0 && picture->colours[i] < kColours) << i;
        EXPECT_TRUE(seen.insert(picture->colours[i]).second) << i;
    }
    for (std::size_t i = kColours; i < picture->colours.size(); ++i)
        EXPECT_GE(picture->colours[i], kColours);
}

TEST(ColourTable, HasAsManyColoursAsThePalette)
{
    EXPECT_EQ(Palette::light().groupCount(), kColours);
    EXPECT_EQ(Palette::dark().groupCount(), kColours);
}

TEST(ColourTable, GivesAFirstDocumentItsColoursBySize)
{
    ColourTable table;
    const Picture picture = assign(table, letters('a', 15));
    for (int i = 0; i < 15; ++i)
        EXPECT_EQ(picture->colours[static_cast<std::size_t>(i)], i);
    EXPECT_TRUE(assign(table, {})->colours.empty());
}

TEST(ColourTable, ANameLooksTheSameInAllDocuments)
{
    ColourTable table;
    const Picture first = assign(table, { "a", "b", "c" });
    const Picture second = assign(table, { "x", "c", "y", "a" });
    EXPECT_EQ(second->colours, (std::vector{ 1, 2, 3, 0 }));
    // Lines and pools have nothing in common but their names.
    EXPECT_EQ(assign(table, { "c" }, {}, "pool")->colours, std::vector{ 0 });
}

TEST(ColourTable, TheLargestOfADocumentDifferEvenWhereOthersGaveThemOneColour)
{
    ColourTable table;
    const Picture first = assign(table, letters('a', 12)), second = assign(table, letters('A', 12));
    const Picture both = assign(table, { "B", "b", "a", "x" });
    EXPECT_EQ(both->colours[0], 1); // the larger one keeps it
    EXPECT_NE(both->colours[1], 1);
    EXPECT_EQ(both->colours[2], 0);
    expectDifferent(both);
    const Picture twice = assign(table, { "a", "a", "a" });
    expectDifferent(twice);
}

TEST(ColourTable, KeepsColoursWhileADocumentGrows)
{
    ColourTable table;
    const Picture small = assign(table, letters('a', 12));
    Names names = letters('a', 12);
    std::ranges::reverse(names);
    const Picture turned = assign(table, names, small);
    for (const std::string& name : names)
        EXPECT_EQ(turned->byName.at(name), small->byName.at(name)) << name;
    names.front() = "z"; // in place of l, which is none of the largest any more
    const Picture grown = assign(table, names, turned);
    EXPECT_EQ(grown->byName.at("z"), small->byName.at("l"));
    EXPECT_EQ(grown->byName.at("a"), small->byName.at("a"));
}

TEST(ColourTable, ForgetsWhatIsClosed)
{
    ColourTable table;
    Picture first = assign(table, { "a", "b" });
    first.reset();
    EXPECT_EQ(assign(table, { "b", "a" })->colours, (std::vector{ 0, 1 }));
}

std::vector<int> assign(DocumentColours& document, int device, const Names& names)
{
    const std::vector<std::string_view> views(names.begin(), names.end());
    return document.assign("line", device, views);
}

TEST(DocumentColours, NamesComeBackAsTheyWere)
{
    const auto window = std::make_shared<ColourTable>();
    auto one = std::make_unique<DocumentColours>(window);
    DocumentColours two(window);
    EXPECT_EQ(assign(*one, 0, { "a", "b" }), (std::vector{ 0, 1 }));
    EXPECT_EQ(assign(two, 0, { "x", "b", "z" }), (std::vector{ 0, 1, 2 }));
    one.reset();
    EXPECT_EQ(assign(two, 0, { "z", "b" }), (std::vector{ 2, 1 }));
    EXPECT_EQ(assign(two, 0, { "b" }), std::vector{ 1 });
    EXPECT_EQ(assign(two, 0, { "z", "x" }), (std::vector{ 2, 0 }));
    DocumentColours third(window);
    EXPECT_EQ(assign(third, 0, { "q", "z", "b" }), (std::vector{ 0, 2, 1 }))
        << "as in a document that does not show them now";
}

TEST(DocumentColours, AreThoseOfAnotherDeviceWhereTheyCanBe)
{
    DocumentColours document(nullptr);
    EXPECT_EQ(assign(document, 0, { "a", "b" }), (std::vector{ 0, 1 }));
    EXPECT_EQ(assign(document, 1, { "c", "b" }), (std::vector{ 0, 1 }));
    // Both stand in one picture now: the larger keeps it. The other device has nothing to do with that.
    EXPECT_EQ(assign(document, 0, { "a", "b", "c" }), (std::vector{ 0, 1, 2 }));
    EXPECT_EQ(assign(document, 1, { "d", "c", "b" }), (std::vector{ 2, 0, 1 }));
}

TEST(DocumentColours, WithoutAWindowBeginAnew)
{
    for (int i = 0; i < 2; ++i) {
        DocumentColours document(nullptr);
        EXPECT_EQ(assign(document, 0, i == 0 ? Names{ "a", "b" } : Names{ "b", "a" }), (std::vector{ 0, 1 }));
    }
}

/// Any documents, opened, grown and closed in any order.
TEST(ColourTable, HoldsWhateverOpensAndCloses)
{
    std::mt19937 random(7);
    ColourTable table;
    std::vector<Picture> open;
    for (int step = 0; step < 2000; ++step) {
        Names names = letters('a', 26);
        std::ranges::shuffle(names, random);
        names.resize(random() % 20);
        const std::size_t which = random() % 6;
        if (which >= open.size()) {
            open.push_back(assign(table, names));
        } else if (random() % 3 == 0) {
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
            continue;
        } else {
            const Picture before = open[which];
            open[which] = assign(table, names, before);
            for (const auto& [name, colour] : open[which]->byName) {
                if (const auto old = before->byName.find(name); old != before->byName.end()) {
                    ASSERT_EQ(colour, old->second);
                }
            }
        }
        ASSERT_NO_FATAL_FAILURE(expectDifferent(which < open.size() ? open[which] : open.back()));
    }
}

} // namespace
