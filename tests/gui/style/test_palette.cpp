// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/style/palette.h"

#include "model/analysis/training/roles/category.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

using strata::views::Palette;
using Role = Palette::Role;

namespace {

using Triple = std::array<double, 3>;

Triple linear(const QColor& colour)
{
    const auto decode
        = [](double c) { return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4); };
    return { decode(colour.redF()), decode(colour.greenF()), decode(colour.blueF()) };
}

/// WCAG 2.1 contrast ratio, 1 to 21.
double contrast(const QColor& a, const QColor& b)
{
    const auto luminance = [](const QColor& c) {
        const Triple rgb = linear(c);
        return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
    };
    const double first = luminance(a), second = luminance(b);
    return (std::max(first, second) + 0.05) / (std::min(first, second) + 0.05);
}

using Matrix = std::array<Triple, 3>;

/// Dichromats as Machado, Oliveira and Fernandes (2009) simulate them, on linear RGB; the first is normal
/// sight.
constexpr std::array<Matrix, 4> kSights{ {
    { { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } } },
    { { { 0.152286, 1.052583, -0.204868 }, { 0.114503, 0.786281, 0.099216 },
        { -0.003882, -0.048116, 1.051998 } } },
    { { { 0.367322, 0.860646, -0.227968 }, { 0.280085, 0.672501, 0.047413 },
        { -0.011820, 0.042940, 0.968881 } } },
    { { { 1.255528, -0.076749, -0.178779 }, { -0.078411, 0.930809, 0.147602 },
        { 0.004733, 0.691367, 0.303900 } } },
} };

Triple seen(const QColor& colour, const Matrix& sight)
{
    const Triple rgb = linear(colour);
    Triple out{};
    for (std::size_t i = 0; i < 3; ++i)
        out[i] = std::clamp(sight[i][0] * rgb[0] + sight[i][1] * rgb[1] + sight[i][2] * rgb[2], 0.0, 1.0);
    return out;
}

Triple oklab(const Triple& rgb)
{
    const double l = std::cbrt(0.4122214708 * rgb[0] + 0.5363325363 * rgb[1] + 0.0514459929 * rgb[2]);
    const double m = std::cbrt(0.2119034982 * rgb[0] + 0.6806995451 * rgb[1] + 0.1073969566 * rgb[2]);
    const double s = std::cbrt(0.0883024619 * rgb[0] + 0.2817188376 * rgb[1] + 0.6299787005 * rgb[2]);
    return { 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s };
}

/// How far apart the eye that tells them apart worst sees two colours: 100 times the distance in Oklab, where
/// about 2 is just noticeable.
double worstDistance(const QColor& a, const QColor& b)
{
    double worst = 1e9;
    for (const Matrix& sight : kSights) {
        const Triple x = oklab(seen(a, sight)), y = oklab(seen(b, sight));
        worst = std::min(worst, 100 * std::hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]));
    }
    return worst;
}

class PaletteTest : public testing::TestWithParam<bool> {
protected:
    Palette palette = GetParam() ? Palette::dark() : Palette::light();
};
INSTANTIATE_TEST_SUITE_P(
    Themes, PaletteTest, testing::Bool(), [](const auto& theme) { return theme.param ? "dark" : "light"; });

TEST_P(PaletteTest, KnowsItsTheme)
{
    EXPECT_EQ(palette.isDark(), GetParam());
}

TEST_P(PaletteTest, TextIsReadableOnEverythingItStandsOn)
{
    for (const Role text :
        { Role::Text, Role::TextMuted, Role::Good, Role::Warning, Role::Bad, Role::Accent })
        for (const Role behind : { Role::Surface, Role::Frame })
            EXPECT_GE(contrast(palette[text], palette[behind]), 4.5)
                << palette[text].name().toStdString() << " on " << palette[behind].name().toStdString();
    EXPECT_GE(contrast(palette[Role::Text], palette[Role::Hover]), 4.5);
    EXPECT_GE(contrast(palette[Role::AccentText], palette[Role::Accent]), 4.5);
    EXPECT_GE(contrast(palette[Role::TooltipText], palette[Role::Tooltip]), 4.5);
}

TEST_P(PaletteTest, DataStandsOutFromTheSurface)
{
    for (int rank = 0; rank <= palette.groupCount(); ++rank)
        EXPECT_GE(contrast(palette.group(rank), palette[Role::Surface]), 3.0) << "rank " << rank;
    for (int phase = 0; phase < palette.phaseCount(); ++phase)
        EXPECT_GE(contrast(palette.phase(phase), palette[Role::Surface]), 3.0) << "phase " << phase;
    for (const Role role :
        { Role::Reserved, Role::Requested, Role::PendingFree, Role::BeforeTrace, Role::Other })
        EXPECT_GE(contrast(palette[role], palette[Role::Surface]), 3.0) << palette[role].name().toStdString();
}

TEST_P(PaletteTest, NeighboursAreToldApartByEveryEye)
{
    for (int rank = 0; rank + 1 < palette.groupCount(); ++rank)
        EXPECT_GE(worstDistance(palette.group(rank), palette.group(rank + 1)), 10)
            << "ranks " << rank << " and next";
}

TEST_P(PaletteTest, AnyTwoOfTheTopGroupsAreToldApart)
{
    for (int a = 0; a < palette.groupCount(); ++a)
        for (int b = 0; b < a; ++b)
            EXPECT_GE(worstDistance(palette.group(a), palette.group(b)), 5) << "ranks " << b << " and " << a;
}

TEST_P(PaletteTest, AnyTwoPhasesAreToldApart)
{
    ASSERT_EQ(palette.phaseCount(), 5);
    for (int a = 0; a < palette.phaseCount(); ++a)
        for (int b = 0; b < a; ++b)
            EXPECT_GE(worstDistance(palette.phase(a), palette.phase(b)), 8) << "phases " << b << " and " << a;
    EXPECT_EQ(palette.phase(palette.phaseCount()), palette[Role::Other]);
}

TEST_P(PaletteTest, GroupsBeyondTheLastOneAreOther)
{
    EXPECT_EQ(palette.group(palette.groupCount()), palette[Role::Other]);
    EXPECT_EQ(palette.group(-1), palette[Role::Other]);
    EXPECT_EQ(palette.group(std::numeric_limits<int>::max()), palette[Role::Other]);
}

TEST_P(PaletteTest, EveryCategoryHasItsColour)
{
    ASSERT_EQ(palette.categoryCount(), static_cast<int>(strata::model::kCategories));
    for (int a = 0; a < palette.categoryCount(); ++a) {
        const QColor colour = palette.group(Palette::ofCategory(a));
        EXPECT_GE(contrast(colour, palette[Role::Surface]), 3.0) << "category " << a;
        for (int b = 0; b < a; ++b) // the ones below and above each other further apart
            EXPECT_GE(worstDistance(colour, palette.group(Palette::ofCategory(b))), b + 1 == a ? 10 : 7)
                << "categories " << b << " and " << a;
    }
    const int unknown = Palette::ofCategory(static_cast<int>(strata::model::Category::Unknown));
    EXPECT_TRUE(palette.isHatched(unknown));
    EXPECT_EQ(palette.group(unknown), palette[Role::Other]);
    EXPECT_EQ(palette.groupFill(unknown).style(), Qt::TexturePattern);
    EXPECT_FALSE(palette.isHatched(Palette::ofCategory(0)));
    EXPECT_EQ(palette.group(Palette::ofCategory(palette.categoryCount())), palette[Role::Other]);
}

} // namespace
