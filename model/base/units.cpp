// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/units.h"

#include "model/base/ascii.h"

#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace strata::model {

namespace {

constexpr std::array<std::string_view, 7> kBinaryUnits{ "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };

/// Three significant figures of a value in [1, 1024).
std::string threeFigures(double value)
{
    if (value < 9.995)
        return fmt::format("{:.2f}", value);
    if (value < 99.95)
        return fmt::format("{:.1f}", value);
    return fmt::format("{:.0f}", value);
}

} // namespace

std::string formatBytes(std::int64_t bytes)
{
    const double magnitude = std::abs(static_cast<double>(bytes));
    if (magnitude < 1024)
        return fmt::format("{} B", bytes);
    std::size_t unit = 0;
    double value = magnitude;
    while (value >= 1023.5 && unit + 1 < kBinaryUnits.size()) {
        value /= 1024;
        ++unit;
    }
    // 1023.6 B would round to "1024 B": such values take the next unit and read as 1.00.
    return fmt::format("{}{} {}", bytes < 0 ? "-" : "", threeFigures(value), kBinaryUnits[unit]);
}

std::string formatCount(std::int64_t count)
{
    std::string digits = fmt::format("{}", count);
    const std::size_t first = digits.front() == '-' ? 1 : 0;
    for (std::size_t i = digits.size(); i > first + 3; i -= 3)
        digits.insert(i - 3, 1, ',');
    return digits;
}

std::string formatFigure(double value)
{
    constexpr double kMost = 9e18; // that a count holds
    if (std::abs(value) < 999.5 || !(std::abs(value) < kMost))
        return fmt::format("{:.3g}", value);
    return formatCount(std::llround(value));
}

std::string formatExactBytes(std::int64_t bytes)
{
    return formatCount(bytes) + " B";
}

std::string formatShare(std::int64_t part, std::int64_t whole)
{
    if (whole <= 0)
        return "-";
    const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    return part > 0 && percent < 0.05 ? "< 0.1 %" : fmt::format("{:.1f} %", percent);
}

std::string formatFlops(double flops)
{
    constexpr std::array<std::string_view, 7> kUnits{ "", "k", "M", "G", "T", "P", "E" };
    std::size_t unit = 0;
    double value = flops > 0 ? flops : 0;
    for (; value >= 999.5 && unit + 1 < kUnits.size(); ++unit)
        value /= 1000;
    return unit == 0 ? fmt::format("{:.0f} FLOP", value)
                     : fmt::format("{} {}FLOP", threeFigures(value), kUnits[unit]);
}

std::string formatDuration(std::int64_t nanoseconds)
{
    const double ns = static_cast<double>(nanoseconds);
    const double magnitude = std::abs(ns);
    if (magnitude < 1e3)
        return fmt::format("{} ns", nanoseconds);
    if (magnitude < 1e6)
        return fmt::format("{:.3g} us", ns / 1e3);
    if (magnitude < 1e9)
        return fmt::format("{:.1f} ms", ns / 1e6);
    return fmt::format("{:.3f} s", ns / 1e9);
}

std::string formatAddress(std::uint64_t address)
{
    return fmt::format("{:#x}", address);
}

std::optional<std::uint64_t> parseAddress(std::string_view text)
{
    if (!text.starts_with("0x") && !text.starts_with("0X"))
        return std::nullopt;
    std::uint64_t address = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + 2, last, address, 16);
    return error == std::errc{} && end == last ? std::optional(address) : std::nullopt;
}

std::optional<std::int64_t> parseBytes(std::string_view text)
{
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || !std::isfinite(number) || number < 0)
        return std::nullopt;
    std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    while (!unit.empty() && unit.front() == ' ')
        unit.remove_prefix(1);

    const std::string lower = lowered(std::string(unit));
    double factor = 0;
    constexpr std::string_view kPrefixes = "kmgtp";
    if (lower.empty() || lower == "b")
        factor = 1;
    else if (const std::size_t power = kPrefixes.find(lower[0]); power != std::string_view::npos) {
        const std::string_view rest = std::string_view(lower).substr(1);
        if (rest == "ib" || rest == "i" || rest.empty())
            factor = std::pow(1024.0, static_cast<double>(power + 1));
        else if (rest == "b")
            factor = std::pow(1000.0, static_cast<double>(power + 1));
    }
    const double bytes = number * factor;
    if (factor == 0 || bytes >= static_cast<double>(std::numeric_limits<std::int64_t>::max()))
        return std::nullopt;
    return static_cast<std::int64_t>(bytes);
}

} // namespace strata::model
