// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/settings.h"

#include <charconv>
#include <cstdio>

namespace strata::simgpu {

namespace {

template <class T> bool readNumber(std::string_view text, T& out, int base = 10)
{
    if (base == 16 && text.starts_with("0x"))
        text.remove_prefix(2);
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size())
        return false;
    out = value;
    return true;
}

template <class T> bool readAtLeast(std::string_view text, T lowest, T highest, T& out)
{
    T value{};
    if (!readNumber(text, value) || value < lowest || value > highest)
        return false;
    out = value;
    return true;
}

bool readCapability(std::string_view text, Settings& settings)
{
    const auto dot = text.find('.');
    int major = 0;
    int minor = 0;
    if (dot == text.npos || !readAtLeast(text.substr(0, dot), 3, 99, major)
        || !readAtLeast(text.substr(dot + 1), 0, 9, minor))
        return false;
    settings.computeMajor = major;
    settings.computeMinor = minor;
    return true;
}

bool readRanges(std::string_view text, Settings& settings)
{
    decltype(settings.ranges) ranges;
    while (!text.empty()) {
        const auto comma = text.find(',');
        const auto item = text.substr(0, comma);
        text = comma == text.npos ? std::string_view{} : text.substr(comma + 1);
        const auto dash = item.find('-');
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        if (dash == item.npos || !readNumber(item.substr(0, dash), begin, 16)
            || !readNumber(item.substr(dash + 1), end, 16) || begin >= end)
            return false;
        ranges.emplace_back(begin, end);
    }
    if (ranges.empty())
        return false;
    settings.ranges = std::move(ranges);
    settings.order = AddressOrder::Recorded;
    return true;
}

bool readOrder(std::string_view text, Settings& settings)
{
    if (text == "top-down")
        settings.order = AddressOrder::TopDown;
    else if (text == "ascending")
        settings.order = AddressOrder::Ascending;
    else if (text.starts_with("random:")) {
        if (!readNumber(text.substr(7), settings.seed))
            return false;
        settings.order = AddressOrder::Random;
    } else if (text.starts_with("ranges:"))
        return readRanges(text.substr(7), settings);
    else
        return false;
    return true;
}

bool readEntry(std::string_view key, std::string_view value, Settings& settings)
{
    if (key == "devices")
        return readAtLeast(value, 0, 64, settings.devices);
    if (key == "name") {
        settings.name = value.substr(0, 255);
        return true;
    }
    if (key == "capacity")
        return readNumber(value, settings.capacityBytes);
    if (key == "others")
        return readNumber(value, settings.otherBytes);
    if (key == "cc")
        return readCapability(value, settings);
    if (key == "code")
        return readAtLeast(value, 0, 999, settings.codeCapability);
    if (key == "sms")
        return readAtLeast(value, 1, 4096, settings.multiprocessors);
    if (key == "l2")
        return readNumber(value, settings.l2Bytes);
    if (key == "bus")
        return readAtLeast(value, 1, 1 << 16, settings.memoryBusBits);
    if (key == "addresses")
        return readOrder(value, settings);
    if (key == "event-lag")
        return readAtLeast(value, 0, 1 << 20, settings.eventLag);
    if (key == "cudnn-workspace")
        return readNumber(value, settings.cudnnWorkspaceBytes);
    if (key == "cudnn-version")
        return readAtLeast(value, 0, 999999, settings.cudnnVersion);
    if (key == "cupti") {
        settings.profilersDenied = value == "denied";
        return value == "denied" || value == "on";
    }
    return false;
}

std::string formatOrder(const Settings& settings)
{
    switch (settings.order) {
    case AddressOrder::TopDown:
        return "top-down";
    case AddressOrder::Ascending:
        return "ascending";
    case AddressOrder::Random:
        return "random:" + std::to_string(settings.seed);
    case AddressOrder::Recorded:
        break;
    }
    std::string text = "ranges:";
    for (const auto& [begin, end] : settings.ranges) {
        char item[48];
        std::snprintf(item, sizeof item, "%s0x%llx-0x%llx", text.size() > 7 ? "," : "",
            static_cast<unsigned long long>(begin), static_cast<unsigned long long>(end));
        text += item;
    }
    return text;
}

} // namespace

Settings parseSettings(std::string_view text, std::vector<std::string>& problems)
{
    Settings settings;
    while (!text.empty()) {
        const auto semicolon = text.find(';');
        const auto entry = text.substr(0, semicolon);
        text = semicolon == text.npos ? std::string_view{} : text.substr(semicolon + 1);
        if (entry.empty())
            continue;
        const auto equals = entry.find('=');
        if (equals == entry.npos || !readEntry(entry.substr(0, equals), entry.substr(equals + 1), settings))
            problems.emplace_back(entry);
    }
    return settings;
}

std::string formatSettings(const Settings& settings)
{
    std::string text = "devices=" + std::to_string(settings.devices);
    text += ";name=" + settings.name;
    text += ";capacity=" + std::to_string(settings.capacityBytes);
    text += ";others=" + std::to_string(settings.otherBytes);
    text += ";cc=" + std::to_string(settings.computeMajor) + "." + std::to_string(settings.computeMinor);
    text += ";code=" + std::to_string(settings.codeCapability);
    text += ";sms=" + std::to_string(settings.multiprocessors);
    text += ";l2=" + std::to_string(settings.l2Bytes);
    text += ";bus=" + std::to_string(settings.memoryBusBits);
    text += ";addresses=" + formatOrder(settings);
    text += ";event-lag=" + std::to_string(settings.eventLag);
    text += ";cudnn-workspace=" + std::to_string(settings.cudnnWorkspaceBytes);
    text += ";cudnn-version=" + std::to_string(settings.cudnnVersion);
    text += settings.profilersDenied ? ";cupti=denied" : ";cupti=on";
    return text;
}

} // namespace strata::simgpu
