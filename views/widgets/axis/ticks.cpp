// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/axis/ticks.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace strata::views {

namespace {

struct Unit {
    double size;
    const char* name;
};

constexpr std::array kByteUnits = { Unit{ 1, "B" }, Unit{ 1024, "KiB" }, Unit{ 1048576, "MiB" },
    Unit{ 1073741824, "GiB" }, Unit{ 1099511627776, "TiB" } };
constexpr std::array kTimeUnits = { Unit{ 1, "ns" }, Unit{ 1e3, "us" }, Unit{ 1e6, "ms" }, Unit{ 1e9, "s" } };

/// The smallest of 1, 2, 5 times a power of ten that is at least `step`, and the decimals it needs.
struct RoundStep {
    double value = 1;
    int decimals = 0;
};

RoundStep roundStep(double step)
{
    int power = static_cast<int>(std::floor(std::log10(step) + 1e-9));
    const double mantissa = step / std::pow(10.0, power);
    const double round = mantissa <= 1 + 1e-9 ? 1 : mantissa <= 2 + 1e-9 ? 2 : mantissa <= 5 + 1e-9 ? 5 : 10;
    if (round == 10)
        ++power;
    const double factor = round == 10 ? 1 : round;
    return { power >= 0 ? factor * std::pow(10.0, power) : factor / std::pow(10.0, -power),
        std::max(0, -power) };
}

/// A plain number with thousands separators.
QString numberText(double value, int decimals)
{
    QString text = QString::number(value, 'f', decimals);
    const qsizetype point = text.indexOf(QLatin1Char('.'));
    const qsizetype first = text.startsWith(QLatin1Char('-')) ? 1 : 0;
    for (qsizetype i = (point < 0 ? text.size() : point) - 3; i > first; i -= 3)
        text.insert(i, QLatin1Char(','));
    return text;
}

std::vector<Tick> ticksOf(Span span, int most, Unit unit, double smallestStep)
{
    std::vector<Tick> ticks;
    if (!(span.width() > 0) || most < 1)
        return ticks;
    const RoundStep step = roundStep(std::max(span.width() / unit.size / most, smallestStep));
    const double first = std::ceil(span.begin / unit.size / step.value - 1e-9);
    const double last = std::floor(span.end / unit.size / step.value + 1e-9);
    const QString suffix = *unit.name == '\0' ? QString() : QLatin1Char(' ') + QLatin1String(unit.name);
    for (double k = first; k <= last && ticks.size() < 1000; ++k) {
        const double value = k * step.value;
        ticks.push_back({ value * unit.size,
            value == 0 ? QStringLiteral("0") + suffix : numberText(value, step.decimals) + suffix });
    }
    return ticks;
}

/// The largest unit in which the upper end is at least one; finer where the step would need more than two
/// decimals.
template <std::size_t N> Unit unitFor(const std::array<Unit, N>& units, Span span, int most)
{
    std::size_t i = 0;
    while (i + 1 < N && units[i + 1].size <= span.end)
        ++i;
    while (i > 0 && roundStep(span.width() / units[i].size / std::max(most, 1)).decimals > 2)
        --i;
    return units[i];
}

} // namespace

std::vector<Tick> byteTicks(Span span, int most)
{
    const Unit unit = unitFor(kByteUnits, span, most);
    return ticksOf(span, most, unit, 1 / unit.size);
}

std::vector<Tick> scaleTicks(Span span, int most)
{
    constexpr int kEnough = 3; // a third of the span, rounded up, is less than all of it
    std::vector<Tick> ticks = byteTicks(span, most);
    return ticks.size() < 2 ? byteTicks(span, std::max(most, kEnough)) : ticks;
}

std::vector<Tick> eventTicks(Span span, int most)
{
    std::vector<Tick> ticks = ticksOf({ std::max(span.begin, 0.0), span.end }, most, Unit{ 1, "" }, 1);
    std::erase_if(ticks, [&](const Tick& t) { return t.value >= span.end; });
    return ticks;
}

std::vector<Tick> timeTicks(Span span, int most)
{
    // Seconds stay seconds however far one zooms in: 12.384 s and 12.384517 s are read as neighbours.
    if (span.end >= 1e9)
        return ticksOf(span, most, kTimeUnits.back(), 1e-9);
    return ticksOf(span, most, unitFor(kTimeUnits, span, most), 1);
}

} // namespace strata::views
